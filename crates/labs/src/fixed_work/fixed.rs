//! Fixed work: a thousand users come at once, each for a session, and the run is over when all are served.

use super::published::{Feed, SECONDS};
use super::system::{POST, Times, ms, session, system};
use crate::bounds::{self, ENDLESS, UNLIMITED};
use headway_base::{Kind, Nanos, Record, RecordSink, Start, Trigger};
use headway_sim::Generator;
use headway_workload::model::Station;
use headway_workload::plan::{Connections, Group, LONGEST, Source};
use headway_workload::{Plan, Shard};

/// Users of fixed work.
pub const USERS: u64 = 1_000;

/// What one replication gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// In the order of [`Feed::numbers`].
    pub numbers: [f64; 8],
    /// Users active at each of [`SECONDS`].
    pub active: [f64; 7],
}

/// Plays it once, against those workers. A user is active from the first byte that it sends to the last response.
///
/// # Errors
/// A rate of zero.
pub fn play(feed: &Feed, station: Station, seed: u64) -> anyhow::Result<Fixed> {
    let source = Source::AtOnce { sessions: USERS };
    let group = Group::of(source, session()?, Connections::PerUser);
    let plan = Plan::of(seed, group, Nanos::ZERO, LONGEST);
    let target = system(&plan, feed.accept, station)?;
    let mut work = Work::default();
    let limits = bounds::limits(feed.connections.unwrap_or(UNLIMITED), ENDLESS);
    headway_sim::play(&plan, Shard::WHOLE, limits, target, Generator::default(), &mut work);
    Ok(work.numbers())
}

/// The sink.
#[derive(Default)]
struct Work {
    responses: Vec<Nanos>,
    /// Of each user, until the first byte.
    blocked: Vec<Nanos>,
    /// First byte sent and last answer of each user.
    stays: Vec<(Nanos, Nanos)>,
    first_post: Option<Nanos>,
    drained: Nanos,
}

impl RecordSink for Work {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        let Some(sent) = record.sent.get().filter(|_| record.kind == Kind::Request) else { return };
        self.responses.push(record.done - sent);
        self.drained = self.drained.max(record.done);
        let user = record.k as usize;
        if user >= self.stays.len() {
            self.stays.resize(user + 1, (Nanos::MAX, Nanos::ZERO));
        }
        let stay = &mut self.stays[user];
        *stay = (stay.0.min(sent), stay.1.max(record.done));
        if record.due == Trigger::Arrival {
            self.blocked.push(record.blocked());
        }
        if record.step == POST {
            self.first_post = Some(self.first_post.map_or(sent, |first| first.min(sent)));
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

impl Work {
    fn numbers(self) -> Fixed {
        let (responses, blocked) = (Times::new(self.responses), Times::new(self.blocked));
        let drain = self.drained.as_secs_f64();
        let active = SECONDS.map(|s| {
            let at = Nanos::from_secs(s);
            self.stays.iter().filter(|(from, to)| *from <= at && at < *to).count() as f64
        });
        Fixed {
            numbers: [
                drain,
                responses.count() as f64 / drain,
                responses.mean(),
                responses.quantile(0.5),
                responses.quantile(0.99),
                blocked.mean(),
                blocked.max(),
                self.first_post.map_or(f64::NAN, |at| ms(at) / 1e3),
            ],
            active,
        }
    }
}
