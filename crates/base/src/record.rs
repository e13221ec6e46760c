//! The one record that live runs, simulations and imported logs all become.
//!
//! A [`Record`] is a row. Columns exist only on disk (crate `records`): a row of fixed size is what a worker can
//! write in two cache lines without allocating.

use crate::sink::Start;
use crate::time::Nanos;

/// How a request that fell due ended. Each one ends in exactly one of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Outcome {
    /// Answered as expected.
    Ok = 0,
    /// Answered with a status that counts as failure (400 and above unless the scenario says otherwise).
    Status,
    /// Answered, but a check of the scenario did not hold.
    Check,
    /// The answer broke the protocol.
    Protocol,
    /// The answer (head or body) was larger than the bound set for it.
    TooLarge,
    /// No complete answer within `--timeout` of being sent.
    Timeout,
    /// No connection within `--connect-timeout` of being started.
    ConnectTimeout,
    /// The target, or the proxy before it, refused the connection, or no route led to it.
    Refused,
    /// The connection was closed or reset before the answer was complete.
    Reset,
    /// The target's name did not resolve.
    Dns,
    /// The TLS handshake failed: certificate, name, or protocol.
    Tls,
    /// The generator itself had no descriptor, local port or memory left: nothing was sent.
    LocalLimit,
    /// Waited `--max-wait` for a connection and was given up, never started.
    Shed,
    /// Given up because the user stopped the run a second time.
    Cancelled,
    /// Sent, but the run ended before the answer.
    Unfinished,
    /// Fell due and was not sent: a value that it needs was missing, or the run ended before it could start.
    Unsent,
    /// Sent, and given back by the target without a look at it: HTTP/2's REFUSED_STREAM, or a GOAWAY that leaves it out.
    RefusedStream,
    /// An answer began and then stood still for `--idle-timeout`.
    IdleTimeout,
}

impl Outcome {
    /// Every outcome, in the order of their codes.
    pub const ALL: [Outcome; 18] = [
        Outcome::Ok,
        Outcome::Status,
        Outcome::Check,
        Outcome::Protocol,
        Outcome::TooLarge,
        Outcome::Timeout,
        Outcome::ConnectTimeout,
        Outcome::Refused,
        Outcome::Reset,
        Outcome::Dns,
        Outcome::Tls,
        Outcome::LocalLimit,
        Outcome::Shed,
        Outcome::Cancelled,
        Outcome::Unfinished,
        Outcome::Unsent,
        Outcome::RefusedStream,
        Outcome::IdleTimeout,
    ];

    /// The word used in logs, JSON and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Status => "status",
            Outcome::Check => "check",
            Outcome::Protocol => "protocol",
            Outcome::TooLarge => "too-large",
            Outcome::Timeout => "timeout",
            Outcome::ConnectTimeout => "connect-timeout",
            Outcome::Refused => "refused",
            Outcome::Reset => "reset",
            Outcome::Dns => "dns",
            Outcome::Tls => "tls",
            Outcome::LocalLimit => "local-limit",
            Outcome::Shed => "shed",
            Outcome::Cancelled => "cancelled",
            Outcome::Unfinished => "unfinished",
            Outcome::Unsent => "unsent",
            Outcome::RefusedStream => "refused-stream",
            Outcome::IdleTimeout => "idle-timeout",
        }
    }

    /// The outcome of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|o| o.name() == name)
    }

    /// The outcome of that code, if there is one.
    pub fn from_code(code: u8) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(code)).copied()
    }

    /// Whether a complete answer came back, good or bad: its response time is an observation. All other outcomes
    /// censor it: the user had waited that long without an answer.
    pub const fn answered(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::Status | Outcome::Check)
    }
}

/// What a row stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// One request, from due to done.
    #[default]
    Request = 0,
    /// One session: all the steps of a user's journey.
    Session,
    /// One attempt of a request that was retried.
    Attempt,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Kind; 3] = [Kind::Request, Kind::Session, Kind::Attempt];

    /// The word used in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Session => "session",
            Kind::Attempt => "attempt",
        }
    }

    /// The kind of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// How a request came to be due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Trigger {
    /// By the plan: an arrival, or the first request of a session that arrived. Its response time is open: no response
    /// decided when it began.
    #[default]
    Arrival = 0,
    /// Within a session that arrived: the end of the request before it plus think time.
    Step,
    /// In the loop of a closed workload's user: the end of the request before it plus think time.
    User,
}

impl Trigger {
    /// Every way, in the order of their codes.
    pub const ALL: [Trigger; 3] = [Trigger::Arrival, Trigger::Step, Trigger::User];

    /// The word used in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Arrival => "arrival",
            Trigger::Step => "step",
            Trigger::User => "user",
        }
    }

    /// The way of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Trigger> {
        Trigger::ALL.into_iter().find(|d| d.name() == name)
    }
}

/// An instant or span that may be missing, in eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp(i64);

impl Stamp {
    /// Nothing was stamped.
    pub const NONE: Stamp = Stamp(i64::MIN);

    /// The stamp, if there is one.
    pub const fn get(self) -> Option<Nanos> {
        if self.0 == i64::MIN { None } else { Some(Nanos(self.0)) }
    }

    /// Whether something was stamped.
    pub const fn is_some(self) -> bool {
        self.0 != i64::MIN
    }
}

impl From<Nanos> for Stamp {
    fn from(at: Nanos) -> Stamp {
        Stamp(at.0)
    }
}

impl From<Option<Nanos>> for Stamp {
    fn from(at: Option<Nanos>) -> Stamp {
        at.map_or(Stamp::NONE, Stamp::from)
    }
}

impl Default for Stamp {
    fn default() -> Stamp {
        Stamp::NONE
    }
}

impl std::fmt::Debug for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.get() {
            Some(at) => write!(f, "{at}"),
            None => f.write_str("-"),
        }
    }
}

/// A span of time in two bytes, rounded up: to whole microseconds up to 1,023 us, to 0.2 % beyond; or not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Short(u16);

impl Short {
    /// No time at all.
    pub const ZERO: Short = Short(0);
    /// It is not known how long.
    pub const UNKNOWN: Short = Short(u16::MAX);

    /// Its two bytes, for stores.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The span of these two bytes.
    pub const fn from_bits(bits: u16) -> Short {
        Short(bits)
    }

    /// Bits of the mantissa; the rest is the exponent of 2 by which it is multiplied.
    const BITS: u32 = 10;

    /// The span, which is never less than the one it was made of; none if it is not known.
    pub const fn get(self) -> Option<Nanos> {
        if self.0 == u16::MAX {
            return None;
        }
        let (mantissa, exponent) = (self.0 as i64 & ((1 << Short::BITS) - 1), self.0 >> Short::BITS);
        Some(Nanos((mantissa << exponent).saturating_mul(1_000)))
    }
}

/// Negative spans are none.
impl From<Nanos> for Short {
    #[inline]
    fn from(span: Nanos) -> Short {
        if span.0 <= 0 {
            return Short::ZERO;
        }
        // The longest span that there is needs 54 bits of microseconds, and so an exponent of 45.
        let us = (span.0 as u64).div_ceil(1_000);
        let exponent = (u64::BITS - us.leading_zeros()).saturating_sub(Short::BITS);
        let mantissa = us.div_ceil(1 << exponent);
        let (mantissa, exponent) =
            if mantissa >> Short::BITS == 0 { (mantissa, exponent) } else { (mantissa >> 1, exponent + 1) };
        Short((exponent << Short::BITS) as u16 | mantissa as u16)
    }
}

impl std::fmt::Debug for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.get() {
            Some(span) => write!(f, "{span}"),
            None => f.write_str("-"),
        }
    }
}

/// A span of time in one byte, rounded down: by up to 1/17, to whole 1/16 ms below 2 ms; none below 1 ms, at most 59 s; or not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rough(u8);

impl Rough {
    /// Less than a millisecond, or no time at all.
    pub const ZERO: Rough = Rough(0);
    /// It is not known how long.
    pub const UNKNOWN: Rough = Rough(u8::MAX);

    /// Parts into which a power of two is divided.
    const PARTS: i64 = 16;
    /// The shortest span, in parts.
    const PART: i64 = 1_000_000 / Rough::PARTS;

    /// Its byte, for stores.
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// The span of that byte.
    pub const fn from_bits(bits: u8) -> Rough {
        Rough(bits)
    }

    /// The span, which is never more than the one it was made of; none if it is not known.
    pub const fn get(self) -> Option<Nanos> {
        match self.0 {
            0 => Some(Nanos::ZERO),
            u8::MAX => None,
            code => {
                let code = code as i64 - 1;
                Some(Nanos(((Rough::PARTS + code % Rough::PARTS) * Rough::PART) << (code / Rough::PARTS)))
            }
        }
    }
}

/// Negative spans are none.
impl From<Nanos> for Rough {
    fn from(span: Nanos) -> Rough {
        let parts = span.0 / Rough::PART;
        if parts < Rough::PARTS {
            return Rough::ZERO;
        }
        let exponent = i64::from((parts / Rough::PARTS).ilog2());
        let code = 1 + exponent * Rough::PARTS + (parts >> exponent) - Rough::PARTS;
        Rough(code.min(i64::from(u8::MAX - 1)) as u8)
    }
}

impl std::fmt::Debug for Rough {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.get() {
            Some(span) => write!(f, "{span}"),
            None => f.write_str("-"),
        }
    }
}

/// One request that fell due (or session, or attempt): keys, the five stamps, and how it ended.
///
/// All instants are nanoseconds since the plan's zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Number of the arrival (open) or session, from 0, over the whole plan and not one shard.
    pub k: u64,
    /// When the request was due.
    pub intended: Nanos,
    /// By which it is counted to a phase: when its session was due, for sessions that arrive; otherwise its own `intended`.
    pub arrived: Nanos,
    /// The clock just before its first system call (connect or write); none if it never started.
    pub started: Stamp,
    /// The clock just before the write that carried its first byte.
    pub sent: Stamp,
    /// The clock after the read that brought the first byte of the answer.
    pub first_byte: Stamp,
    /// The clock when it ended, whatever the outcome; for one never started, when it was given up.
    pub done: Nanos,
    /// How long it was due but held back by the connection cap, before it started or was given up; part of `blocked`, never
    /// of lag.
    pub wait: Nanos,
    /// Span of name-to-established for a connection opened for this request; none on a reused one.
    pub connect: Stamp,
    /// Span of the TLS handshake for a connection opened for this request; none on a reused one or without TLS.
    pub tls: Stamp,
    /// Bytes of the answer received: head, framing and body, before TLS.
    pub bytes_received: u64,
    /// Bytes of the request handed to the connection, before TLS.
    pub bytes_sent: u64,
    /// Number of contiguous arrivals that this row stands for: 1, or more for a run of never-started arrivals.
    pub count: u32,
    /// User (closed workloads) that sent it; 0 in open ones.
    pub user: u32,
    /// Which repeat of the step, from 0.
    pub repeat: u32,
    /// Number of the connection within its shard; `u32::MAX` if it never had one.
    pub connection: u32,
    /// Index of the group of users; k and user count within it.
    pub group: u16,
    /// Index of the step (its label stands in the log's metadata).
    pub step: u16,
    /// Which attempt, from 0; 255 for all later ones.
    pub attempt: u8,
    /// Which shard of the plan sent it.
    pub shard: u16,
    /// Status code of the answer, 0 without one.
    pub status: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// What the row stands for.
    pub kind: Kind,
    /// How it came to be due.
    pub due: Trigger,
    /// Whether it went over a connection that an earlier request had used.
    pub reused: bool,
    /// How long the last bytes of the answer lay in the socket before the generator read them: part of the response time, and
    /// the generator's own delay. Zero without an answer; not known where the system does not tell.
    pub unread: Short,
    /// Of sockets that are kept connecting: the longest span for which their generator stood still and which no earlier row tells. Not known
    /// in a log that does not say so.
    pub stood_still: Rough,
}

impl Record {
    /// A request that fell due at `intended` and was given up at `done` without ever starting.
    pub const fn never_started(k: u64, intended: Nanos, done: Nanos, outcome: Outcome) -> Record {
        Record {
            k,
            intended,
            arrived: intended,
            started: Stamp::NONE,
            sent: Stamp::NONE,
            first_byte: Stamp::NONE,
            done,
            wait: Nanos::ZERO,
            connect: Stamp::NONE,
            tls: Stamp::NONE,
            bytes_received: 0,
            bytes_sent: 0,
            count: 1,
            user: 0,
            repeat: 0,
            connection: u32::MAX,
            group: 0,
            step: 0,
            attempt: 0,
            shard: 0,
            status: 0,
            outcome,
            kind: Kind::Request,
            due: Trigger::Arrival,
            reused: false,
            unread: Short::ZERO,
            stood_still: Rough::ZERO,
        }
    }

    /// Its start, as a sink gets it; none if it never started.
    pub fn start(&self) -> Option<Start> {
        let Record { intended, wait, arrived, step, due, .. } = *self;
        Some(Start { intended, started: self.started.get()?, wait, arrived, step, due })
    }

    /// Response time: done - intended, what the user waited.
    pub fn response(&self) -> Nanos {
        self.done - self.intended
    }

    /// Service time: done - sent; none if nothing was sent.
    pub fn service(&self) -> Option<Nanos> {
        self.sent.get().map(|sent| self.done - sent)
    }

    /// Whether the generator is why nothing of it was sent: it had no descriptor or port left, a value was missing, or the run
    /// ended before the request could start. Such a request is not sent, has no response time, and has not failed. A request
    /// which waited at the connection cap until it was given up is none of these: its wait is part of its response time.
    #[inline]
    pub fn is_not_sent(&self) -> bool {
        let held_back = self.wait > Nanos::ZERO && !self.started.is_some();
        match self.outcome {
            Outcome::LocalLimit => !self.sent.is_some(),
            Outcome::Unsent => !self.sent.is_some() && !held_back,
            _ => false,
        }
    }

    /// Whether it waited at the connection cap until it was given up.
    #[inline]
    pub fn is_given_up_at_cap(&self) -> bool {
        let held_back = self.outcome == Outcome::Unsent && self.wait > Nanos::ZERO;
        !self.started.is_some() && (self.outcome == Outcome::Shed || held_back)
    }

    /// Release lag: started - intended, less the wait for a connection; the generator's own lateness. None if it
    /// never started.
    pub fn lag(&self) -> Option<Nanos> {
        self.started.get().map(|started| started - self.intended - self.wait)
    }

    /// Blocked time: the wait for a connection plus its set-up; the target's doing or the user's settings. For one
    /// never started, all the time until it was given up.
    pub fn blocked(&self) -> Nanos {
        match (self.started.get(), self.sent.get()) {
            (Some(started), Some(sent)) => self.wait + (sent - started),
            (Some(started), None) => self.wait + (self.done - started),
            _ => self.done - self.intended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_found_by_name_and_code() {
        for (code, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, code);
            assert_eq!(Outcome::from_code(code as u8), Some(outcome));
            assert_eq!(Outcome::from_name(outcome.name()), Some(outcome));
        }
        assert_eq!(Outcome::from_code(Outcome::ALL.len() as u8), None);
        assert_eq!(Outcome::from_name("fine"), None);
    }

    #[test]
    fn short_spans_round_up_by_two_thousandths_at_most() {
        for span in [0, 1, 999, 1_000, 1_001, 1_023_000, 1_023_001, 18_000_001, 7_123_456_789, i64::MAX] {
            let told = Short::from(Nanos(span)).get().unwrap();
            let most = (span as f64 * 1.002 + 1_000.0) as i64;
            assert!((span..=most).contains(&told.0), "{span} {told:?}");
            assert_eq!(Short::from(told).get(), Some(told));
        }
        assert_eq!((Short::from(Nanos(-5)), Short::UNKNOWN.get()), (Short::ZERO, None));
    }

    #[test]
    fn rough_spans_round_down_by_a_seventeenth_at_most() {
        for us in (0..60_000).map(|i| i * 7).chain([999, 1_000, 20_000, 20_001, 500_000, 59_000_000]) {
            let told = Rough::from(Nanos::from_micros(us));
            let (span, least) = (us * 1_000, if us < 1_000 { 0 } else { us * 1_000 * 16 / 17 });
            assert!((least..=span).contains(&told.get().unwrap().0), "{us} us: {told:?}");
            assert_eq!((Rough::from(told.get().unwrap()), Rough::from_bits(told.to_bits())), (told, told));
        }
        let most = Rough::from(Nanos::MAX);
        assert!(most.get() > Some(Nanos::from_secs(59)) && most != Rough::UNKNOWN, "{most:?}");
        assert_eq!((Rough::from(Nanos(-5)), Rough::UNKNOWN.get()), (Rough::ZERO, None));
    }

    #[test]
    fn a_row_fits_two_cache_lines() {
        assert!(size_of::<Record>() <= 128, "{}", size_of::<Record>());
    }

    #[test]
    fn what_waited_at_the_cap_is_not_the_generators_to_answer_for() {
        let row = |outcome, wait: i64, started: Option<i64>, sent: Option<i64>| Record {
            wait: Nanos(wait),
            started: started.map(Nanos).into(),
            sent: sent.map(Nanos).into(),
            ..Record::never_started(0, Nanos(0), Nanos(50), outcome)
        };
        let not_sent = [
            row(Outcome::Unsent, 0, None, None),
            row(Outcome::LocalLimit, 0, None, None),
            // A connection was opened for it, and then a value was missing; a log of version 1 with a start.
            row(Outcome::Unsent, 7, Some(7), None),
            row(Outcome::LocalLimit, 7, Some(7), None),
        ];
        let held_back = [row(Outcome::Unsent, 50, None, None), row(Outcome::Shed, 50, None, None)];
        let sent = [row(Outcome::Refused, 0, Some(0), None), row(Outcome::Reset, 0, Some(0), Some(1))];
        let both = |r: &Record| (r.is_not_sent(), r.is_given_up_at_cap());
        assert!(not_sent.iter().all(|r| both(r) == (true, false)));
        assert!(held_back.iter().all(|r| both(r) == (false, true)));
        assert!(sent.iter().all(|r| both(r) == (false, false)));
    }

    #[test]
    fn lag_and_blocked_never_overlap() {
        let mut row = Record::never_started(0, Nanos(100), Nanos(900), Outcome::Ok);
        assert_eq!((row.lag(), row.blocked()), (None, Nanos(800)));
        // Due at 100, a connection came free at 250 (wait 150), started 20 later, connected in 130.
        row.wait = Nanos(150);
        row.started = Nanos(270).into();
        row.sent = Nanos(400).into();
        assert_eq!(row.lag(), Some(Nanos(20)));
        assert_eq!(row.blocked(), Nanos(150 + 130));
        assert_eq!(row.service(), Some(Nanos(500)));
        assert_eq!(row.response(), row.lag().unwrap() + row.blocked() + row.service().unwrap());
    }
}
