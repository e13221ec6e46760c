//! The rows of the registry.

use super::{Block, Definition, Delays, EventTime, Observation, Of, Shown, Taken};
use crate::summary::ThresholdUnit::{Bytes, PerSecond, Seconds, Share};
use crate::summary::Why;
use headway_base::{Outcome, Record};

/// Every row, in the order in which they are shown.
pub(super) static ALL: [&Definition; 13] = [
    &RESPONSE,
    &RESPONSE_OK,
    &SERVICE,
    &FIRST_BYTE,
    &CONNECT,
    &FIRST_EVENT,
    &EVENT_GAP,
    &LAG,
    &BLOCKED,
    &BYTES,
    &FAILED,
    &STARTED,
    &THROUGHPUT,
];

/// A time of requests, which most rows are.
pub(super) const TIME: Definition = Definition {
    name: "",
    aliases: &[],
    about: "",
    unit: Seconds,
    of: Of::Request,
    taken: Taken::Row(|_| Observation::Nothing),
    block: Block::More,
    delays: Delays::NotTold,
    hangs_on_length: true,
    not_simulated: None,
    needs_ends: false,
    looked_for: true,
    by_step: true,
    judged: true,
    compared: true,
    shown: NOWHERE,
};

/// A count of requests.
const COUNT: Definition = Definition { block: Block::Counts, ..TIME };

const NOWHERE: Shown = Shown { column: None, reasons: false, family: None };

pub(super) static RESPONSE: Definition = Definition {
    name: "response",
    about: "Response time (done - intended)",
    taken: Taken::Response { successes: false },
    block: Block::Field(|s| &mut s.response, |s| &s.response),
    delays: Delays::Within,
    shown: Shown { column: Some(("response", 12, 21)), reasons: true, family: Some("response_time") },
    needs_ends: true,
    ..TIME
};

pub(super) static RESPONSE_OK: Definition = Definition {
    name: "response_ok",
    about: "Response time of successes",
    taken: Taken::Response { successes: true },
    block: Block::Field(|s| &mut s.response_ok, |s| &s.response_ok),
    delays: Delays::Within,
    shown: Shown { column: Some(("successes alone", 0, 0)), ..NOWHERE },
    needs_ends: true,
    looked_for: false,
    ..TIME
};

pub(super) static SERVICE: Definition = Definition {
    name: "service",
    about: "Service time (done - sent)",
    taken: Taken::Row(service),
    block: Block::Field(|s| &mut s.service, |s| &s.service),
    delays: Delays::Apart,
    shown: Shown { column: Some(("service", 14, 21)), reasons: true, family: Some("service_time") },
    needs_ends: true,
    looked_for: false,
    ..TIME
};

static FIRST_BYTE: Definition = Definition {
    name: "first_byte",
    about: "Time from the first byte sent to the first received",
    taken: Taken::Row(first_byte),
    block: Block::Field(|s| &mut s.first_byte, |s| &s.first_byte),
    shown: Shown { column: Some(("first byte", 0, 0)), ..NOWHERE },
    ..TIME
};

static CONNECT: Definition = Definition {
    name: "connect",
    about: "Time to a new connection, TLS handshake included",
    of: Of::Connection,
    taken: Taken::Row(connect),
    not_simulated: Some(|| Why::NoConnecting),
    shown: Shown { column: Some(("connect", 0, 0)), reasons: false, family: Some("connect_time") },
    looked_for: false,
    ..TIME
};

static FIRST_EVENT: Definition = Definition {
    name: "first_event",
    about: "Time from when a request was due to the first event of its response",
    of: Of::Event,
    taken: Taken::Event(EventTime::First),
    block: Block::Part(
        "events.first",
        |s| s.events.as_mut().map(|events| &mut events.all.first),
        |s| s.events.as_ref().map(|events| &events.all.first),
    ),
    not_simulated: Some(|| Why::NoEvents),
    shown: Shown { family: Some("first_event_time"), ..NOWHERE },
    ..TIME
};

static EVENT_GAP: Definition = Definition {
    name: "event_gap",
    about: "Time from an event of a response to its next",
    taken: Taken::Event(EventTime::Gap),
    block: Block::Part(
        "events.gap",
        |s| s.events.as_mut().map(|events| &mut events.all.gap),
        |s| s.events.as_ref().map(|events| &events.all.gap),
    ),
    shown: Shown { family: Some("event_gap_time"), ..NOWHERE },
    ..FIRST_EVENT
};

static LAG: Definition = Definition {
    name: "lag",
    about: "Send lag: how late the generator itself started requests",
    taken: Taken::Lag,
    block: Block::Tail(|s| &s.lag),
    delays: Delays::Fact,
    hangs_on_length: false,
    by_step: false,
    compared: false,
    shown: Shown { family: Some("send_lag"), ..NOWHERE },
    looked_for: false,
    ..TIME
};

static BLOCKED: Definition = Definition {
    name: "blocked",
    about: "Time that requests were held back by the cap, the pool or connection set-up",
    taken: Taken::Blocked,
    block: Block::Tail(|s| &s.blocked),
    delays: Delays::Fact,
    compared: false,
    shown: Shown { family: Some("blocked"), ..NOWHERE },
    looked_for: false,
    ..TIME
};

static BYTES: Definition = Definition {
    name: "bytes",
    about: "Size of responses",
    unit: Bytes,
    taken: Taken::Row(bytes),
    block: Block::Field(|s| &mut s.bytes, |s| &s.bytes),
    delays: Delays::Free,
    hangs_on_length: false,
    not_simulated: Some(|| Why::NoSizes),
    shown: Shown { column: Some(("response size", 0, 0)), ..NOWHERE },
    ..TIME
};

pub(super) static FAILED: Definition = Definition {
    name: "failed",
    about: "Requests that did not end ok",
    unit: Share,
    taken: Taken::Failures,
    ..COUNT
};

static STARTED: Definition = Definition {
    name: "started",
    aliases: &["rate"],
    about: "Requests that started",
    unit: PerSecond,
    taken: Taken::Starts,
    delays: Delays::Fact,
    hangs_on_length: false,
    compared: false,
    ..COUNT
};

pub(super) static THROUGHPUT: Definition = Definition {
    name: "throughput",
    about: "Responses per second",
    unit: PerSecond,
    taken: Taken::Responses,
    judged: false,
    ..COUNT
};

/// Over requests with a first byte; of those without a complete response it is censored.
fn service(record: &Record) -> Observation {
    let (Some(sent), true) = (record.sent.get(), record.first_byte.is_some()) else {
        return Observation::Nothing;
    };
    let span = (record.done - sent).0;
    if record.outcome.answered() { Observation::Seen(span) } else { Observation::Censored(span) }
}

fn first_byte(record: &Record) -> Observation {
    match (record.sent.get(), record.first_byte.get()) {
        (Some(sent), Some(first_byte)) => Observation::Seen((first_byte - sent).0),
        _ => Observation::Nothing,
    }
}

/// Over connections that were opened for a request; censored where the request was given up before anything could be sent. Attempts that were
/// refused or failed in another way took no time to a connection: they have failed.
fn connect(record: &Record) -> Observation {
    use Outcome::{Cancelled, ConnectTimeout, Timeout, Tls, Unfinished};
    let given_up = matches!(record.outcome, ConnectTimeout | Timeout | Unfinished | Cancelled);
    match (record.started.get(), record.connect.get()) {
        (Some(started), _) if given_up && !record.sent.is_some() && !record.reused => {
            Observation::Censored((record.done - started).0)
        }
        (_, Some(connect)) if record.outcome != Tls => {
            Observation::Seen(connect.0 + record.tls.get().map_or(0, |tls| tls.0))
        }
        _ => Observation::Nothing,
    }
}

fn bytes(record: &Record) -> Observation {
    match record.outcome.answered() {
        true => Observation::Seen(record.bytes_received.min(i64::MAX as u64) as i64),
        false => Observation::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Nanos;

    #[test]
    fn a_connection_takes_its_handshake_too_and_is_censored_where_it_was_given_up() {
        let row = |outcome| Record {
            started: Nanos(10).into(),
            ..Record::never_started(0, Nanos(0), Nanos(100), outcome)
        };
        let opened = Record { sent: Nanos(60).into(), connect: Nanos(20).into(), ..row(Outcome::Ok) };
        assert_eq!(connect(&opened), Observation::Seen(20));
        assert_eq!(connect(&Record { tls: Nanos(30).into(), ..opened }), Observation::Seen(50));
        assert_eq!(connect(&row(Outcome::ConnectTimeout)), Observation::Censored(90));
        // The handshake did not end in time.
        let half = Record { connect: Nanos(20).into(), ..row(Outcome::ConnectTimeout) };
        assert_eq!(connect(&half), Observation::Censored(90));
        let nothing = [
            row(Outcome::Refused),
            Record { connect: Nanos(20).into(), ..row(Outcome::Tls) },
            // On a connection that was there.
            Record { reused: true, ..row(Outcome::Timeout) },
            Record { started: None.into(), ..row(Outcome::Timeout) },
        ];
        nothing.iter().for_each(|row| assert_eq!(connect(row), Observation::Nothing, "{row:?}"));
    }

    #[test]
    fn a_service_time_is_censored_without_a_complete_response() {
        let row = |outcome, first: Option<i64>| Record {
            sent: Nanos(10).into(),
            first_byte: first.map(Nanos).into(),
            ..Record::never_started(0, Nanos(0), Nanos(100), outcome)
        };
        assert_eq!(service(&row(Outcome::Status, Some(50))), Observation::Seen(90));
        assert_eq!(service(&row(Outcome::Timeout, Some(50))), Observation::Censored(90));
        assert_eq!(service(&row(Outcome::Timeout, None)), Observation::Nothing);
        assert_eq!(first_byte(&row(Outcome::Timeout, Some(50))), Observation::Seen(40));
    }
}
