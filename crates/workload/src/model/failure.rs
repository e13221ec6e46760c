//! What goes wrong, and what is done about it.

use headway_base::Nanos;
use headway_base::dist::Dist;

/// The way to a part, and back.
#[derive(Clone, PartialEq, Debug)]
pub struct Cable {
    /// How long a request takes to it.
    pub out: Dist,
    /// How long an answer takes back.
    pub back: Dist,
}

/// A part is up, and then down, and so on.
#[derive(Clone, PartialEq, Debug)]
pub struct Faults {
    /// When it is down.
    pub when: When,
    /// Whether all copies are down together; else each by itself.
    pub together: bool,
    /// What comes to it while it is down.
    pub while_down: WhileDown,
    /// What is in it when it goes down.
    pub under_way: UnderWay,
}

/// When a part is down.
#[derive(Clone, PartialEq, Debug)]
pub enum When {
    /// Up and down by turns, up at first; each has a mean above zero.
    Alternating {
        /// How long it is up.
        up: Dist,
        /// How long it is down.
        down: Dist,
        /// Whether it looks at the time only when a request comes, changes at most once for each, and draws the length of
        /// the new state from then (as timelike's faulty node does).
        lazy: bool,
    },
    /// Once.
    Once {
        /// When it goes down.
        at: Nanos,
        /// How long it stays so; above zero.
        length: Nanos,
    },
}

/// What comes to a part while it is down.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum WhileDown {
    /// Fails at once (503).
    #[default]
    Error,
    /// Is never answered.
    Silence,
    /// Is served this many times slower (stations alone): all that is in service while it is down, as long as it is down.
    Slow(f64),
}

/// What is in a part when it goes down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnderWay {
    /// Goes on as if nothing had happened.
    #[default]
    Finish,
    /// Fails then and there (503).
    Lost,
}

/// Requests that fail are made again.
#[derive(Clone, PartialEq, Debug)]
pub struct Retry {
    /// How often a request is made in all; at least 2.
    pub attempts: u32,
    /// How long it waits before another attempt; none: no time.
    pub backoff: Option<Backoff>,
    /// How many retries there may be; none: no limit.
    pub budget: Option<Budget>,
}

/// Wait number n (from 0) is base x factor^n, at most `most`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backoff {
    /// The first; above zero.
    pub base: Nanos,
    /// At least 1.
    pub factor: f64,
    /// The longest.
    pub most: Nanos,
    /// What of it is left to chance.
    pub jitter: Jitter,
}

/// What of a wait is left to chance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Jitter {
    /// Nothing.
    None,
    /// All: uniform on (0, wait) ("full jitter").
    #[default]
    Full,
    /// Half: uniform on (wait/2, wait) ("equal jitter").
    Half,
}

/// Every request adds `share` of a retry to what may be spent, up to `reserve`, with which it begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// Retries per request in the long run; from 0 on.
    pub share: f64,
    /// Retries that may come at once; at least 1.
    pub reserve: f64,
}

/// What becomes of a request whose answer is no longer awaited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cancel {
    /// It is served all the same.
    #[default]
    Never,
    /// It is withdrawn where it waits; once its service has begun it is served to the end.
    Queued,
    /// It is withdrawn where it waits, and its service stops.
    Always,
}

/// Requests that take long are made again while the first is still under way; the first answer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hedge {
    /// After so long, and so long again for each further one.
    pub after: Nanos,
    /// How many more at most; at least 1.
    pub most: u32,
    /// What becomes of the others as the first answer comes.
    pub cancel: Cancel,
}

/// Requests that take too long are given up (504).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout {
    /// After so long; above zero.
    pub after: Nanos,
    /// What becomes of them then.
    pub cancel: Cancel,
}

/// After failures requests fail at once (503), until after a time some are let through to see.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Breaker {
    /// What trips it.
    pub trip: Trip,
    /// How long it is open then; above zero.
    pub open: Nanos,
    /// Number of concurrent probe requests afterwards, and of successes that close it; at least 1.
    pub probes: u32,
}

/// What trips a breaker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trip {
    /// So many failures one after the other; at least 1.
    InARow(u32),
    /// More than `share` of the last `of` requests.
    Share {
        /// Above 0, at most 1.
        share: f64,
        /// At least 1.
        of: u32,
    },
}
