//! What may stand around any part, as it is written: cable, faults, retries, timeouts, hedging, breakers.

use crate::model::{Cancel, Jitter, UnderWay};
use crate::scenario::leaves::{Count, Flag, Law, Plain, Positive, Time, WordOf, word};
use crate::scenario::read::{OrFull, mapping};

mapping! {
    /// The way to a part and back.
    Cable, "cable", "{ out: 2ms, back: exp(2ms) }", requires [out, back] {
        /// How long a request takes to it: a time or a distribution.
        out: Law,
        /// How long an answer takes back.
        back: Law,
    }
}

mapping! {
    /// When a part is down: up and down by turns, or once (at).
    Faults, "faults", "{ up: exp(20s), down: exp(1s) }", requires [] {
        /// How long it is up: a time or a distribution.
        up: Law,
        /// How long it is down then.
        down: Law,
        /// When it goes down, once.
        at: Time,
        /// How long it is down then.
        r#for: Time,
        /// What comes to it while it is down: error (503), silence, or { slow: 10 }. Default: error.
        answer: Answer,
        /// Whether all copies are down together. Default: false.
        together: Flag,
        /// What becomes of what is in it when it goes down: finish or lost (503). Default: finish.
        under_way: WordOf<UnderWay>,
        /// Whether it changes only when a request comes, and draws how long from then. Default: false.
        lazy: Flag,
    }
    schema { "oneOf": [{ "required": ["up", "down"] }, { "required": ["at", "for"] }] }
}

word! {
    /// What becomes of what comes to a part that is down.
    AnswerWord { Error = "error", Silence = "silence", }
}

mapping! {
    /// A part that is slow while it is down.
    Slow, "answer", "{ slow: 10 }", requires [slow] {
        /// How many times slower it serves while it is down; stations alone.
        slow: Positive,
    }
}

/// What comes to a part while it is down.
pub(in crate::scenario) type Answer = OrFull<AnswerWord, Slow>;

mapping! {
    /// Requests that fail are made again.
    Retries, "retries", "{ attempts: 3, backoff: { base: 100ms } }", requires [attempts] {
        /// How often a request is made in all.
        attempts: Count,
        /// How long it waits before another attempt. Default: not at all.
        backoff: Backoff,
        /// How many retries there may be. Default: as many as attempts allow.
        budget: Budget,
    }
}

mapping! {
    /// Wait number n, from 0, is base x factor^n, at most `most`.
    Backoff, "backoff", "{ base: 100ms, factor: 2, most: 10s }", requires [base] {
        /// The first wait.
        base: Time,
        /// How many times longer each is than the one before. Default: 2.
        factor: Plain,
        /// The longest. Default: 100 times the first.
        most: Time,
        /// What of it is left to chance: full, half or none. Default: full.
        jitter: WordOf<Jitter>,
    }
}

mapping! {
    /// Retries are made only as far as requests have paid for them.
    Budget, "budget", "{ share: 0.1, reserve: 10 }", requires [share] {
        /// What each request adds: retries per request in the long run.
        share: Plain,
        /// How many retries can be saved up, and are there at first. Default: 10.
        reserve: Plain,
    }
}

mapping! {
    /// Requests that take too long are given up (504).
    Timeout, "timeout", "{ after: 1s, cancel: queued }", requires [after] {
        /// How long is too long.
        after: Time,
        /// What becomes of it then: queued (withdrawn where it waits; a service that has begun goes on), always (its service
        /// stops too), or false (it is served all the same). `true` is queued. Default: false.
        cancel: WordOf<Cancel>,
    }
}

mapping! {
    /// Requests that take long are made once more while the first goes on; the first answer counts.
    Hedge, "hedge", "{ after: 50ms, cancel: queued }", requires [after] {
        /// After how long, and after that time again for each further one.
        after: Time,
        /// How many more at most. Default: 1.
        most: Count,
        /// What becomes of the others with the first answer: queued (withdrawn where they wait; a service that has begun goes
        /// on), always (their service stops too), or false (they are served all the same). `true` is queued. Default: false.
        cancel: WordOf<Cancel>,
    }
}

mapping! {
    /// After failures requests fail at once, until some are let through to see.
    Breaker, "breaker", "{ failures: 5, open: 5s }", requires [open] {
        /// The number of failures in a row that open it.
        failures: Count,
        /// More than this share of failures opens it, from 0 to 1.
        share: Plain,
        /// The number of last requests that the share is of.
        of: Count,
        /// How long it is open.
        open: Time,
        /// The number of requests at once that are let through then, and of successes that close it. Default: 1.
        probes: Count,
    }
    schema { "oneOf": [{ "required": ["failures"] }, { "required": ["share", "of"] }] }
}
