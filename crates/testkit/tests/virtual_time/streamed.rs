//! Responses that come in pieces: what is told of them, whatever becomes of their requests.

use crate::common::{LIMITS, count, plan, requests};
use crate::laws;
use crate::rig::{Played, Reply, Rig};
use headway_base::sink::Kept;
use headway_base::{EventKind, Nanos, Outcome, ResponseEvent, Short};
use headway_testkit::Connect;
use headway_workload::client::Streamed;
use headway_workload::{Limits, Plan, Process, RequestKey};
use std::collections::BTreeMap;

#[expect(non_snake_case, reason = "as a unit")]
const fn MS(ms: i64) -> Nanos {
    Nanos::from_millis(ms)
}

/// Five pieces: 30 ms after the request, then after gaps of 10, 40, 5 and 5 ms.
const FIVE: &[Nanos] = &[MS(30), MS(40), MS(80), MS(85), MS(90)];

const EVENTS: Streamed = Streamed { events: true, idle: Nanos::MAX };

fn play(
    plan: &Plan,
    limits: Limits,
    steps: &[Streamed],
    request: impl FnMut(Nanos, usize, &RequestKey) -> Reply,
) -> Played {
    let played = Rig::new(plan, limits, |_| Connect::After(MS(2)), request).streaming(steps).run();
    laws::check(plan, &limits, &played);
    played
}

/// The events of each request, by `k`; in order of time.
fn by_request(kept: &Kept) -> BTreeMap<u64, Vec<ResponseEvent>> {
    let mut all: BTreeMap<u64, Vec<ResponseEvent>> = BTreeMap::new();
    for event in &kept.events {
        all.entry(event.k).or_default().push(*event);
    }
    all
}

#[test]
fn five_pieces_with_known_gaps_are_five_events_with_these_gaps() {
    let plan = plan(Process::Poisson, 50.0, 4, 3);
    let played = play(&plan, LIMITS, &[EVENTS], |_, _, _| Reply::Pieces(FIVE, Some(MS(100))));
    let events = by_request(&played.kept);
    assert!(events.len() > 150 && count(&played.kept, Outcome::Ok) == events.len() as u64);
    for record in requests(&played.kept) {
        let [pieces @ .., end] = &events[&record.k][..] else { panic!("no events of {record:?}") };
        let sent = record.sent.get().unwrap();
        assert_eq!(pieces.iter().map(|e| e.at - sent).collect::<Vec<_>>(), FIVE, "{pieces:?}");
        // From when it was due: a connection had to be opened for some.
        assert_eq!(pieces[0].first(), Some(sent - record.intended + MS(30)));
        let gaps: Vec<_> = pieces[1..].iter().map(|e| e.gap().unwrap()).collect();
        assert_eq!(gaps, [MS(10), MS(40), MS(5), MS(5)]);
        let expected = ResponseEvent {
            before: (sent + MS(90)).into(),
            bytes: 50,
            count: 5,
            ..ResponseEvent::end_of(record)
        };
        assert_eq!(*end, expected);
        assert!(
            pieces
                .iter()
                .all(|e| (e.kind, e.bytes, e.count, e.unread) == (EventKind::Chunk, 10, 1, Short::ZERO))
        );
        assert!(pieces.iter().all(|e| (e.intended, e.arrived) == (record.intended, record.arrived)));
    }
}

#[test]
fn without_a_wish_for_them_there_are_no_events_and_the_records_are_the_same() {
    let plan = plan(Process::Poisson, 50.0, 4, 3);
    let reply = |_: Nanos, _: usize, _: &RequestKey| Reply::Pieces(FIVE, Some(MS(100)));
    let with = play(&plan, LIMITS, &[EVENTS], reply);
    for steps in [&[][..], &[Streamed::NOT]] {
        let without = play(&plan, LIMITS, steps, reply);
        assert_eq!(without.kept.events, []);
        assert_eq!(without.kept.records, with.kept.records);
        assert_eq!(without.kept.starts, with.kept.starts);
    }
}

/// Every other response stands still after its second piece.
#[test]
fn a_response_that_stands_still_is_given_up_with_what_had_come() {
    const TWO: &[Nanos] = &[MS(30), MS(40)];
    let plan = plan(Process::Constant, 20.0, 2, 3);
    let idle = Streamed { events: true, idle: MS(60) };
    let reply = |_: Nanos, n: usize, _: &RequestKey| match n % 2 {
        0 => Reply::Pieces(FIVE, Some(MS(100))),
        _ => Reply::Pieces(TWO, None),
    };
    let played = play(&plan, LIMITS, &[idle], reply);
    assert_eq!((count(&played.kept, Outcome::Ok), count(&played.kept, Outcome::IdleTimeout)), (20, 20));
    let events = by_request(&played.kept);
    for record in requests(&played.kept).filter(|r| r.outcome == Outcome::IdleTimeout) {
        let sent = record.sent.get().unwrap();
        assert_eq!(record.first_byte.get(), Some(sent + MS(30)));
        assert_eq!(record.done, sent + MS(40) + MS(60), "60 ms after the last piece");
        let of = &events[&record.k];
        assert_eq!(
            of.iter().map(|e| e.kind).collect::<Vec<_>>(),
            [EventKind::Chunk, EventKind::Chunk, EventKind::End]
        );
        assert_eq!((of[2].count, of[2].bytes, of[2].at), (2, 20, record.done));
    }
}

#[test]
fn the_time_of_the_whole_goes_on_and_one_that_has_not_begun_does_not_stand_still() {
    const SLOW: &[Nanos] = &[MS(300), MS(350), MS(400), MS(450), MS(500), MS(550)];
    let plan = plan(Process::Constant, 20.0, 1, 3);
    let limits = Limits { timeout: MS(480), ..LIMITS };
    let idle = Streamed { events: true, idle: MS(60) };
    let played = play(&plan, limits, &[idle], |_, n, _| match n % 2 {
        0 => Reply::Pieces(SLOW, Some(MS(600))),
        _ => Reply::Silence,
    });
    assert_eq!(count(&played.kept, Outcome::Timeout), 20);
    for record in requests(&played.kept) {
        assert_eq!(record.done - record.sent.get().unwrap(), MS(480));
    }
    let ends = played.kept.events.iter().filter(|e| e.kind == EventKind::End);
    let counts: Vec<u32> = ends.map(|e| e.count).collect();
    assert_eq!(
        (counts.iter().filter(|n| **n == 4).count(), counts.iter().filter(|n| **n == 0).count()),
        (10, 10)
    );
}

/// A slot whose request stood still is used again: the next one has all its time.
#[test]
fn nothing_is_left_of_a_request_in_its_slot() {
    const ONE: &[Nanos] = &[MS(5)];
    let plan = plan(Process::Constant, 10.0, 3, 3);
    let idle = Streamed { events: true, idle: MS(20) };
    let played = play(&plan, LIMITS, &[idle], |_, n, _| match n % 2 {
        0 => Reply::Pieces(ONE, None),
        _ => Reply::ok(MS(90)),
    });
    assert_eq!((count(&played.kept, Outcome::Ok), count(&played.kept, Outcome::IdleTimeout)), (15, 15));
    let events = by_request(&played.kept);
    assert!(
        requests(&played.kept)
            .filter(|r| r.outcome == Outcome::Ok)
            .all(|r| { events[&r.k] == [ResponseEvent::end_of(r)] })
    );
}

/// Whatever becomes of requests, each that has a response time has one end.
#[test]
fn every_request_with_a_response_time_has_one_end() {
    let plan = plan(Process::Poisson, 400.0, 2, 5);
    let limits = Limits { connections: 20, max_wait: MS(80), timeout: MS(200), ..LIMITS };
    let idle = Streamed { events: true, idle: MS(30) };
    let played = play(&plan, limits, &[idle], |_, n, _| match n % 5 {
        0 => Reply::Pieces(FIVE, Some(MS(100))),
        1 => Reply::Silence,
        2 => Reply::Breaks(MS(20)),
        3 => Reply::NotSent(Outcome::Unsent, Default::default()),
        _ => Reply::ok(MS(7)),
    });
    assert!(count(&played.kept, Outcome::Shed) > 50 && count(&played.kept, Outcome::Unsent) > 10);
    let due: u64 = requests(&played.kept).filter(|r| !r.is_not_sent()).map(|r| u64::from(r.count)).sum();
    let ends: Vec<u64> =
        played.kept.events.iter().filter(|e| e.kind == EventKind::End).map(|e| e.k).collect();
    let distinct: std::collections::BTreeSet<u64> = ends.iter().copied().collect();
    assert_eq!((ends.len() as u64, distinct.len() as u64), (due, due));
    // The events of a request come before its end.
    for events in by_request(&played.kept).values() {
        let last = events.last().unwrap();
        assert!(last.kind != EventKind::End || last.count as usize == events.len() - 1, "{events:?}");
    }
}
