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
/// Bytes of the smaller buffer, as asked for; Linux doubles it.
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
    /// Datagrams per ten seconds.
    pub fn per_run(&self, n: u64) -> f64 {
        n as f64 * RUN_S / self.seconds
    }

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
    /// Worked on, with each of the [`Lived::rooms`].
    pub worked: [Traffic; 2],
}

/// All of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Lived {
    pub extent: Extent,
    /// Those that yield, and those that sleep.
    pub clients: [Clients; 2],
    /// How many datagrams the system's usual buffer takes, and a smaller one.
    pub rooms: [usize; 2],
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
    modelled: u64,
}

impl Times {
    fn of(extent: Extent) -> Times {
        match extent {
            Extent::Full => Times { run_s: RUN_S, runs: RUNS, kept_s: 2.0, source_s: 5.0, modelled: 20 },
            Extent::Short => Times { run_s: 0.2, runs: 2, kept_s: 0.2, source_s: 0.1, modelled: 2 },
        }
    }
}

/// Plays all of it.
///
/// # Errors
/// The system gives no process, socket or stamp.
pub fn play(seed: u64, extent: Extent) -> io::Result<Lived> {
    let times = Times::of(extent);
    let rooms = [room(None)? as usize, room(Some(SMALL))? as usize];
    let clients = [clients(Kind::Yielding, seed, &times)?, clients(Kind::Sleeping, seed, &times)?];
    let end = Nanos::from_secs_f64(times.source_s);
    let mut sources = Vec::new();
    for source in PLAYED {
        let instants = source.instants(end, seed);
        let through = |buffer, work| -> io::Result<Traffic> {
            let receiver = Receiver { buffer, work, keep: true, first: true };
            let (released, seen) = receive_while(receiver, |to| release(to, instants.iter().copied()))?;
            Ok(Traffic::of(&seen, work, released.zero_unix))
        };
        let worked = [through(None, SERVICE)?, through(Some(SMALL), SERVICE)?];
        sources.push(Sourced { fast: through(None, Nanos::ZERO)?, worked });
    }
    let modelled = replayed(seed, times.modelled, end, rooms);
    Ok(Lived { extent, clients, rooms, sources, modelled })
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
