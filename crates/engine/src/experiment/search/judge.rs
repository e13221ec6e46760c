//! What a trial has to see of a run: its requests, in the order in which they started, put before a [`Trial`].
//!
//! It is fed by an observer of a run of either backend, or as the sink of a play in virtual time without anything else.

use crate::collect::Observer;
use crate::simulate::order::{Ended, How, InOrder};
use crate::{Control, Snapshot};
use headway_base::{Batch, Kind, Nanos, Outcome, Record, RecordSink, ResponseEvent, Start};
use headway_stats::metric::{EventTime, Metric, Observation, Taken};
use headway_stats::search::{Criterion, NoCriterion, Seen, Trial, is_limited};
use headway_stats::thresholds::Threshold;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

/// A criterion, and of which requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Asked {
    /// The share and its limit.
    pub criterion: Criterion,
    /// The metric that it is of.
    pub(super) metric: Metric,
}

/// A request that ended, and what it tells of the metric that is asked for beside response times.
#[derive(Clone)]
pub(super) struct Told {
    pub ended: Ended,
    value: Observation,
    /// Of gaps between events, of which a response has several.
    gaps: Option<Box<[i64]>>,
}

impl Default for Told {
    fn default() -> Told {
        Told { ended: Ended::default(), value: Observation::Nothing, gaps: None }
    }
}

/// How the values of a metric come about.
#[derive(Clone, Copy)]
pub(super) enum Take {
    /// From the record of a request.
    Row(fn(&Record) -> Observation),
    /// From the events of its response.
    Event(EventTime),
}

/// Which request: its group, `k`, step and repeat.
type Key = (u16, u64, u16, u32);

/// What the events of a request have told so far.
#[derive(Clone, Debug, Default)]
struct Parts {
    first: Option<i64>,
    gaps: Vec<i64>,
}

/// What requests tell, of which the events come before the record.
#[derive(Default)]
pub(super) struct Telling {
    take: Option<Take>,
    /// Of requests whose record has not come yet; nothing where no events are asked for.
    under_way: HashMap<Key, Parts>,
}

impl Telling {
    /// Of what is asked for beside response times.
    pub fn of(asked: &[Asked]) -> Telling {
        Telling { take: asked.iter().find_map(Asked::taken), under_way: HashMap::new() }
    }

    /// An event of a response, or its end, which comes for each request that could have had some.
    pub fn event(&mut self, event: &ResponseEvent) {
        if !matches!(self.take, Some(Take::Event(_))) {
            return;
        }
        let parts = self.under_way.entry((event.group, event.k, event.step, event.repeat)).or_default();
        if let Some(first) = event.first() {
            parts.first = Some(first.0);
        } else if let Some(gap) = event.gap() {
            parts.gaps.push(gap.0);
        }
    }

    /// What a request has told when its record comes.
    #[inline]
    pub fn record(&mut self, record: &Record) -> Told {
        let ended = Ended::from(record);
        match self.take {
            None => Told { ended, ..Told::default() },
            Some(Take::Row(take)) => Told { ended, value: take(record), gaps: None },
            Some(Take::Event(time)) => {
                let key = (record.group, record.k, record.step, record.repeat);
                match (self.under_way.remove(&key), time) {
                    // Of a step without events.
                    (None, _) => Told { ended, ..Told::default() },
                    (Some(Parts { first, .. }), EventTime::First) => {
                        let waited = Observation::Censored(record.response().0);
                        Told { ended, value: first.map_or(waited, Observation::Seen), gaps: None }
                    }
                    (Some(Parts { gaps, .. }), EventTime::Gap) => {
                        Told { ended, gaps: Some(gaps.into()), ..Told::default() }
                    }
                }
            }
        }
    }
}

impl Asked {
    /// What a threshold asks.
    ///
    /// # Errors
    /// A search cannot look for it.
    pub fn of(threshold: &Threshold) -> Result<Asked, NoCriterion> {
        if threshold.step.is_some() {
            return Err(NoCriterion::Kind);
        }
        Ok(Asked { criterion: Criterion::of(threshold)?, metric: threshold.metric })
    }

    /// Whether it is of some of the requests alone, of which the rest may fail at any rate.
    pub(super) fn is_of_some(&self) -> bool {
        self.metric != Metric::RESPONSE && self.metric != Metric::FAILED
    }

    /// How its values are taken, where it is of no response times.
    pub(super) fn taken(&self) -> Option<Take> {
        match self.metric.taken {
            Taken::Row(take) => Some(Take::Row(take)),
            Taken::Event(time) => Some(Take::Event(time)),
            _ => None,
        }
    }

    /// Whether it is of the events of responses.
    pub(super) fn is_of_events(&self) -> bool {
        matches!(self.metric.taken, Taken::Event(_))
    }

    /// What it sees of a request: of the gaps within its response several.
    #[inline]
    pub(super) fn seen<'a>(&self, told: &'a Told) -> impl Iterator<Item = Seen> + use<'a> {
        let failed = told.ended.how != How::Well;
        let gaps = match self.metric.taken {
            Taken::Event(EventTime::Gap) => told.gaps.as_deref().unwrap_or_default(),
            _ => &[],
        };
        let gaps = gaps.iter().map(move |&gap| Seen { time: Nanos(gap), failed });
        self.seen_once(told).into_iter().chain(gaps)
    }

    #[inline]
    fn seen_once(&self, Told { ended, value, .. }: &Told) -> Option<Seen> {
        let failed = ended.how != How::Well;
        if self.taken().is_some() {
            let time = match *value {
                Observation::Nothing => return None,
                Observation::Seen(span) => Nanos(span),
                Observation::Censored(_) => Nanos::MAX,
            };
            return Some(Seen { time, failed });
        }
        if failed && self.metric == Metric::RESPONSE_OK {
            return None;
        }
        // A request without a response would have taken longer than any limit.
        let time = if ended.how == How::Censored { Nanos::MAX } else { ended.response };
        Some(Seen { time, failed })
    }
}

/// Puts requests before a trial.
pub struct Judge {
    trial: Trial,
    asked: Vec<Asked>,
    /// One for each source of records.
    orders: Vec<InOrder<Told>>,
    /// Of the metric that is asked for beside response times.
    telling: Telling,
    measured: Range<Nanos>,
    started: u64,
    ended: u64,
    /// Requests without a connection, of those that started before the first one with a connection.
    unconnected: u64,
    connected: bool,
    /// Requests in a row whose connection was refused, in the order in which they ended.
    refused: u64,
    /// Responses with status 429.
    limited: u64,
    reached: Nanos,
    /// Ends a play in virtual time.
    control: Option<Control>,
}

/// A target that was never reached cannot be when this many requests had no connection, before any that had one. They are counted in the
/// order in which they started: those that wait for a response have a connection.
const UNREACHED: u64 = 20;
/// The status of a response that a target gives which limits rates.
pub(super) const LIMITED: u16 = 429;
/// Nobody listens any more when so many in a row were refused: one that is overloaded lets connections wait.
const GONE: u64 = 100;

impl Judge {
    /// Of what is due from `from` on, and of a target that an earlier trial has `reached`.
    pub fn new(trial: Trial, asked: &[Asked], from: Nanos, reached: bool) -> Judge {
        let measured = from..Nanos::MAX;
        Judge {
            trial,
            asked: asked.to_vec(),
            orders: Vec::new(),
            telling: Telling::of(asked),
            measured,
            started: 0,
            ended: 0,
            unconnected: 0,
            connected: reached,
            refused: 0,
            limited: 0,
            reached: Nanos::ZERO,
            control: None,
        }
    }

    /// As the sink of a play in virtual time, which `control` ends.
    pub fn stopped_by(self, control: &Control) -> Judge {
        Judge { control: Some(control.clone()), ..self }
    }

    /// The trial.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// The last instant at which a request was due that it took.
    pub fn reached(&self) -> Nanos {
        self.reached
    }

    /// Requests that started.
    pub fn started(&self) -> u64 {
        self.started
    }

    fn order(&mut self, source: usize) -> &mut InOrder<Told> {
        if source >= self.orders.len() {
            self.orders.resize(source + 1, InOrder::default());
        }
        &mut self.orders[source]
    }

    #[inline]
    fn start(&mut self, source: usize, start: &Start) {
        self.started += 1;
        self.order(source).start(start);
    }

    #[inline]
    fn record(&mut self, source: usize, record: &Record) {
        if record.kind != Kind::Request {
            return;
        }
        let started = record.started.is_some();
        self.ended += u64::from(started);
        self.limited += u64::from(record.status == LIMITED);
        self.refused = if record.outcome == Outcome::Refused { self.refused + 1 } else { 0 };
        if source >= self.orders.len() {
            self.orders.resize(source + 1, InOrder::default());
        }
        let told = self.telling.record(record);
        let Judge { trial, asked, orders, measured, reached, connected, unconnected, .. } = self;
        orders[source].put(record, told, |told| {
            let ended = told.ended;
            let told = &told;
            if started && !*connected {
                *connected = ended.connected;
                *unconnected += u64::from(!ended.connected);
            }
            // What comes after the decision changes it no more.
            if measured.contains(&ended.arrived) && trial.decided().is_none() {
                *reached = ended.due.max(*reached);
                trial.take(ended.due, |which| {
                    asked.get(which).map(|asked| asked.seen(told)).into_iter().flatten()
                });
            }
        });
    }

    fn is_decided(&self) -> bool {
        self.trial.decided().is_some()
    }

    /// Whether no connection to the target can be opened.
    pub fn is_unreachable(&self) -> bool {
        !self.connected && self.unconnected >= UNREACHED
    }

    /// Whether nobody listens there any more.
    pub fn is_gone(&self) -> bool {
        self.refused >= GONE
    }
}

impl RecordSink for Judge {
    #[inline]
    fn start(&mut self, start: Start) {
        Judge::start(self, 0, &start);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        Judge::record(self, 0, &record);
    }

    #[inline]
    fn event(&mut self, event: ResponseEvent) {
        self.telling.event(&event);
    }

    fn tick(&mut self, _: Nanos) {}

    #[inline]
    fn has_enough(&self) -> bool {
        self.is_decided() || self.control.as_ref().is_some_and(|control| control.asked() > 0)
    }

    fn finish(&mut self, _: Nanos) {}
}

/// Ends a run when its trial is decided, or when the search is stopped.
pub struct Watch<'a> {
    /// What it sees.
    pub judge: Judge,
    /// Of the run.
    pub control: Control,
    /// Of the search.
    pub search: &'a Control,
    /// Is called once a second, and told whether the target limits rates.
    pub told: &'a mut (dyn FnMut(bool) + Send),
    /// Shortly after the end of the budget: then what is in flight is waited for no more.
    pub until: Option<Instant>,
}

impl Watch<'_> {
    fn stop(&self) {
        // A search that is stopped twice ends its run at once.
        while self.control.asked() < self.search.asked() {
            self.control.stop();
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            while self.control.asked() < 2 {
                self.control.stop();
            }
        }
        let judge = &self.judge;
        if (judge.is_decided() || judge.is_unreachable() || judge.is_gone()) && self.control.asked() == 0 {
            self.control.stop();
        }
    }
}

impl Observer for Watch<'_> {
    fn batch(&mut self, batch: &Batch) {
        let source = usize::from(batch.source);
        batch.events.iter().for_each(|event| self.judge.telling.event(event));
        batch.starts.iter().for_each(|start| self.judge.start(source, start));
        batch.records.iter().for_each(|record| self.judge.record(source, record));
        self.stop();
    }

    fn snapshot(&mut self, _: &Snapshot) {
        let Judge { started, ended, limited, .. } = self.judge;
        (self.told)(is_limited(limited, ended));
        if !self.judge.is_decided() {
            self.judge.trial.backlog(started.saturating_sub(ended));
        }
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Stamp;

    fn judge(reached: bool) -> Judge {
        let asked = Asked::of(&"p(90)<100".parse().unwrap()).unwrap();
        Judge::new(
            Trial::new(&[asked.criterion], 1_000.0, Nanos::from_secs(100)),
            &[asked],
            Nanos::ZERO,
            reached,
        )
    }

    fn start(judge: &mut Judge, k: i64) {
        judge.start(0, &Start::arrival(Nanos(k), Nanos(k), 0));
    }

    fn end(judge: &mut Judge, k: i64, outcome: Outcome) {
        let record = Record::never_started(k as u64, Nanos(k), Nanos(k + 100), outcome);
        judge.record(0, &Record { started: Stamp::from(Nanos(k)), ..record });
    }

    #[test]
    fn a_target_cannot_be_reached_if_the_first_requests_had_no_connection() {
        let mut closed = judge(false);
        (0..19).for_each(|k| {
            start(&mut closed, k);
            end(&mut closed, k, Outcome::Refused);
        });
        assert!(!closed.is_unreachable());
        start(&mut closed, 19);
        end(&mut closed, 19, Outcome::ConnectTimeout);
        assert!(closed.is_unreachable());
    }

    #[test]
    fn a_target_that_dies_is_gone_at_once_and_one_that_refuses_some_is_not() {
        let mut judge = judge(true);
        let mut play = |k: i64, outcome| {
            start(&mut judge, k);
            end(&mut judge, k, outcome);
            judge.is_gone()
        };
        assert!(!(0..400).any(|k| play(k, if k % 50 == 0 { Outcome::Ok } else { Outcome::Refused })));
        assert_eq!((400..600).find(|&k| play(k, Outcome::Refused)), Some(450));
    }

    #[test]
    fn a_target_is_reached_by_a_request_that_waits_for_its_response() {
        let (mut slow, mut before) = (judge(false), judge(true));
        (0..40).for_each(|k| start(&mut slow, k));
        // The first one waits, and the queue of the target is full.
        (1..40).for_each(|k| end(&mut slow, k, Outcome::ConnectTimeout));
        assert!(!slow.is_unreachable());
        end(&mut slow, 0, Outcome::Ok);
        assert!(!slow.is_unreachable());
        // One that an earlier trial has reached is overloaded now.
        (0..40).for_each(|k| {
            start(&mut before, k);
            end(&mut before, k, Outcome::ConnectTimeout);
        });
        assert!(!before.is_unreachable());
    }
}
