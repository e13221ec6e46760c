//! The live part: the post's clients as processes, and sources at one rate, all on this machine's loopback.

use super::published::{EACH, RUN_S, SLEEPING, YIELDING};
use super::source::PLAYED;
use super::traffic::Traffic;
use super::{SERVICE, replayed};
use crate::{Extent, Range};
use headway_base::Nanos;
use headway_live::senders::{Crowd, Pace, Receiver, Reception, receive_while, release, room};
use std::io;

/// Runs of each kind of clients, as in the post.
const RUNS: u64 = 5;
/// Bytes of the sources' receiver's buffer, as asked for; Linux doubles it, and has room for 59 datagrams in it.
const SMALL: usize = 24 << 10;

/// A kind of the post's clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Yielding,
    Sleeping,
}

impl Kind {
    pub fn clients(self) -> u32 {
        match self {
            Kind::Yielding => YIELDING,
            Kind::Sleeping => SLEEPING,
        }
    }

    fn pace(self) -> Pace {
        match self {
            Kind::Yielding => Pace::Yields,
            Kind::Sleeping => Pace::Sleeps(Nanos::from_secs_f64(1.0 / EACH)),
        }
    }

    /// Which kind they are: `yield`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Yielding => "yield",
            Kind::Sleeping => "sleep",
        }
    }
}

/// A run of clients.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ran {
    pub seconds: f64,
    pub sent: u64,
    pub lost: u64,
    /// Share of its time for which the receiver was ready and had no processor; none where the system does not say.
    pub waited: Option<f64>,
}

impl Ran {
    pub fn lost_share(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }
}

/// The runs of a kind of clients.
#[derive(Clone, PartialEq, Debug)]
pub struct Clients {
    pub kind: Kind,
    pub runs: Vec<Ran>,
    /// With the receiver before all others; none where that is not permitted.
    pub first: Option<Ran>,
    /// What came in a further run, whose arrivals were kept.
    pub traffic: Traffic,
}

impl Clients {
    pub fn over(&self, of: impl Fn(&Ran) -> f64) -> Option<Range> {
        Range::over(&self.runs, of)
    }

    /// Mean of what each client sent, per second.
    pub fn each(&self) -> f64 {
        let rate = self.over(|ran| ran.sent as f64 / ran.seconds).map_or(0.0, |rate| rate.mean);
        rate / f64::from(self.kind.clients())
    }
}

/// A source at the rate, before receivers.
#[derive(Clone, PartialEq, Debug)]
pub struct Sourced {
    /// Read as fast as can be.
    pub fast: Traffic,
    /// Worked on, with [`Lived::room`], run by run.
    pub worked: Vec<Traffic>,
}

impl Sourced {
    /// Shares lost, run by run, from the smallest to the largest.
    pub fn lost(&self) -> Vec<f64> {
        let mut lost: Vec<f64> = self.worked.iter().map(Traffic::lost).collect();
        lost.sort_by(f64::total_cmp);
        lost
    }

    /// The share lost of the run in the middle: what a host that stood still in some of them did not do.
    pub fn usual_loss(&self) -> f64 {
        let lost = self.lost();
        lost.get(lost.len() / 2).copied().unwrap_or(0.0)
    }

    /// The longest that the receiver stood still, in seconds.
    pub fn stalled_s(&self) -> f64 {
        self.worked.iter().map(|traffic| traffic.stalled_s).fold(0.0, f64::max)
    }
}

/// All of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Lived {
    /// Those that yield, and those that sleep.
    pub clients: [Clients; 2],
    /// How many datagrams the receiver's buffer takes.
    pub room: usize,
    /// How long each run of a source lasted, in seconds.
    pub source_s: f64,
    /// Of [`PLAYED`].
    pub sources: Vec<Sourced>,
    /// The same, modelled.
    pub modelled: Vec<Vec<Sourced>>,
}

/// How long a run of each part takes.
struct Times {
    run_s: f64,
    runs: u64,
    kept_s: f64,
    source_s: f64,
    source_runs: u64,
    modelled: u64,
}

impl Times {
    fn of(extent: Extent) -> Times {
        match extent {
            Extent::Full => {
                Times { run_s: RUN_S, runs: RUNS, kept_s: 2.0, source_s: 1.0, source_runs: 11, modelled: 20 }
            }
            Extent::Short => {
                Times { run_s: 0.2, runs: 2, kept_s: 0.2, source_s: 0.2, source_runs: 3, modelled: 2 }
            }
        }
    }
}

/// Plays all of it.
///
/// # Errors
/// The system gives no process, socket or stamp.
pub fn play(seed: u64, extent: Extent) -> io::Result<Lived> {
    let times = Times::of(extent);
    let room = room(Some(SMALL))? as usize;
    // The sources first: what a hundred processes did to the machine is not over when they are.
    let sources = sourced(seed, times.source_s, times.source_runs)?;
    let clients = [clients(Kind::Yielding, seed, &times)?, clients(Kind::Sleeping, seed, &times)?];
    let modelled = replayed(seed, times.modelled, Nanos::from_secs_f64(times.source_s), room);
    Ok(Lived { clients, room, source_s: times.source_s, sources, modelled })
}

/// [`PLAYED`] on this machine: so many runs of each, of so many seconds.
///
/// # Errors
/// The system gives no socket or stamp.
pub fn sourced(seed: u64, seconds: f64, runs: u64) -> io::Result<Vec<Sourced>> {
    let end = Nanos::from_secs_f64(seconds);
    let through = |instants: &[Nanos], buffer, work| -> io::Result<Traffic> {
        let receiver = Receiver { buffer, work, keep: true, first: true };
        let (released, seen) = receive_while(receiver, |to| release(to, instants.iter().copied()))?;
        Ok(Traffic::of(&seen, work, released.zero_unix))
    };
    let mut sources = Vec::new();
    for source in PLAYED {
        let fast = through(&source.instants(end, seed), None, Nanos::ZERO)?;
        sources.push(Sourced { fast, worked: Vec::new() });
    }
    // In turns: a host that stands still for a while meets all of them.
    for run in 0..runs {
        for (source, sourced) in PLAYED.iter().zip(&mut sources) {
            let instants = source.instants(end, seed.wrapping_add(run));
            sourced.worked.push(through(&instants, Some(SMALL), SERVICE)?);
        }
    }
    Ok(sources)
}

fn clients(kind: Kind, seed: u64, times: &Times) -> io::Result<Clients> {
    let run = |receiver: Receiver, seconds: f64, r: u64| -> io::Result<(Ran, Reception)> {
        let (sent, seen) = receive_while(receiver, |to| {
            let crowd = Crowd::start(kind.clients(), to, kind.pace(), seed.wrapping_add(r))?;
            crowd.send_for(Nanos::from_secs_f64(seconds))
        })?;
        let lost = sent.sent.saturating_sub(seen.received);
        Ok((Ran { seconds, sent: sent.sent, lost, waited: seen.waited }, seen))
    };
    let runs = (0..times.runs).map(|r| Ok(run(Receiver::default(), times.run_s, r)?.0));
    let runs = runs.collect::<io::Result<Vec<Ran>>>()?;
    let (first, seen) = run(Receiver { first: true, ..Receiver::default() }, times.run_s, times.runs)?;
    let (_, kept) = run(Receiver { keep: true, ..Receiver::default() }, times.kept_s, times.runs + 1)?;
    let zero = kept.arrivals.first().map_or(Nanos::ZERO, |first| first.at);
    Ok(Clients {
        kind,
        runs,
        first: seen.first.then_some(first),
        traffic: Traffic::of(&kept, Nanos::ZERO, zero),
    })
}
