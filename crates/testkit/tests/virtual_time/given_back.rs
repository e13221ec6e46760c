//! Requests that the target gives back without a look at them are sent again on another connection, and count once.

use crate::common::{LIMITS, answers, count, plan, requests};
use crate::laws;
use crate::rig::{Reply, Rig};
use headway_base::sink::Kept;
use headway_base::{Kind, Nanos, Outcome, Record};
use headway_testkit::{Answer, Connect, Generator, Simulation};
use headway_workload::client::MOST_TIMES_AGAIN;
use headway_workload::{Client, Limits, Process, RequestKey, SessionControl, Shard};
use std::collections::BTreeMap;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

fn refused(after: Nanos) -> Reply {
    Reply::ends(after, Outcome::RefusedStream, SessionControl::Continue)
}

fn attempts(kept: &Kept) -> impl Iterator<Item = &Record> {
    kept.records.iter().filter(|r| r.kind == Kind::Attempt)
}

/// The rows of those that were given back before they ended, and of how they ended.
fn last_attempts(kept: &Kept) -> impl Iterator<Item = &Record> {
    attempts(kept).filter(|r| requests(kept).any(|request| request.k == r.k && request.done == r.done))
}

/// The first request of each ten is given back after 2 ms; the second time it is answered after 5 ms.
#[test]
fn what_is_given_back_once_is_answered_on_another_connection() {
    let plan = plan(Process::Constant, 100.0, 1, 1);
    let mut before = None;
    let connect = |_: Nanos| Connect::After(MS(3));
    let request = |_: Nanos, _: usize, key: &RequestKey| {
        let again = before.replace(key.k) == Some(key.k);
        if key.k.is_multiple_of(10) && !again { refused(MS(2)) } else { Reply::ok(MS(5)) }
    };
    let limits = LIMITS;
    let played = Rig::new(&plan, limits, connect, request).carrying(100).run();
    laws::check(&plan, &limits, &played);
    assert_eq!((count(&played.kept, Outcome::Ok), requests(&played.kept).count()), (100, 100));
    assert_eq!(
        (attempts(&played.kept).count(), played.kept.starts.len(), played.sends.len()),
        (20, 100, 110)
    );
    // The time at which it ended has a row of its own, from when it was sent again.
    for last in last_attempts(&played.kept) {
        let row = requests(&played.kept).find(|r| r.k == last.k).unwrap();
        assert_eq!((last.outcome, last.attempt, last.connection), (Outcome::Ok, 1, row.connection));
        assert_eq!((last.done, last.first_byte), (row.done, row.first_byte));
        assert_eq!(last.done - last.sent.get().unwrap(), MS(5), "{last:?}");
    }
    assert_eq!(last_attempts(&played.kept).count(), 10);
    for attempt in attempts(&played.kept).filter(|r| r.attempt == 0) {
        let row = requests(&played.kept).find(|r| r.k == attempt.k).unwrap();
        assert_eq!((attempt.outcome, attempt.attempt), (Outcome::RefusedStream, 0));
        // Time counts from the first time that it was sent.
        assert_eq!((attempt.started, attempt.sent), (row.started, row.sent));
        assert_ne!(attempt.connection, row.connection);
        let opened = if row.k == 0 || row.k == 10 { MS(3) } else { Nanos::ZERO };
        let first = if row.k == 0 { MS(3) } else { Nanos::ZERO };
        assert!(row.response() == MS(2) + MS(5) + first + opened || row.response() == MS(7), "{row:?}");
        let sends: Vec<_> = played.sends.iter().filter(|(_, _, key)| key.k == row.k).collect();
        assert_eq!((sends.len(), sends[0].2), (2, sends[1].2), "the same once more");
        assert_ne!(sends[0].1, sends[1].1);
    }
}

/// However often it is given back: three times in all.
#[test]
fn a_request_is_sent_again_at_most_twice() {
    let plan = plan(Process::Constant, 50.0, 1, 1);
    let request = |_: Nanos, _: usize, _: &RequestKey| refused(MS(1));
    let played = Rig::new(&plan, LIMITS, |_| Connect::After(MS(1)), request).carrying(100).run();
    laws::check(&plan, &LIMITS, &played);
    assert_eq!(count(&played.kept, Outcome::RefusedStream), 50);
    let mut numbers: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    attempts(&played.kept).for_each(|row| numbers.entry(row.k).or_default().push(row.attempt));
    let all: Vec<u8> = (0..=MOST_TIMES_AGAIN).collect();
    assert!(numbers.len() == 50 && numbers.values().all(|n| *n == all));
    assert_eq!(played.sends.len(), 150);
    // Each row is of one time: it was sent when the one before had come back, or later.
    for k in 0..50 {
        let rows: Vec<&Record> = attempts(&played.kept).filter(|r| r.k == k).collect();
        assert!(rows.windows(2).all(|two| two[1].sent.get() >= Some(two[0].done)), "{rows:?}");
    }
}

/// All that there is of the only connection is gone: they wait for the next one, and for no more than one.
#[test]
fn a_connection_that_ends_gives_all_back_to_one_other() {
    let plan = plan(Process::Constant, 1_000.0, 1, 1);
    let request = |now: Nanos, _: usize, key: &RequestKey| match key.k {
        300..320 if now < MS(325) => Reply::Comes {
            first: MS(330) - now,
            done: MS(330) - now,
            outcome: Outcome::RefusedStream,
            then: SessionControl::Continue,
            reusable: false,
            hangs_up: None,
        },
        _ => Reply::ok(MS(1)),
    };
    // The next connection has the place of the one that ended, and is another.
    let limits = Limits { connections: 4, ..LIMITS };
    let played = Rig::new(&plan, limits, |_| Connect::After(MS(4)), request).carrying(100).run();
    laws::check(&plan, &limits, &played);
    assert_eq!((count(&played.kept, Outcome::Ok), attempts(&played.kept).count()), (1_000, 40));
    assert_eq!(played.lives.len(), 2);
}

/// One that waits in vain for another connection is given up a timeout after it was first sent.
#[test]
fn the_time_of_all_attempts_is_that_of_the_request() {
    let plan = plan(Process::Constant, 10.0, 1, 1);
    let mut opened = 0;
    let connect = |_: Nanos| {
        opened += 1;
        if opened == 1 { Connect::After(MS(1)) } else { Connect::Silence }
    };
    let gone = Reply::Comes {
        first: MS(10),
        done: MS(10),
        outcome: Outcome::RefusedStream,
        then: SessionControl::Continue,
        reusable: false,
        hangs_up: None,
    };
    let request = |_: Nanos, _: usize, _: &RequestKey| gone;
    let limits = Limits { timeout: MS(50), connect_timeout: MS(500), ..LIMITS };
    let played = Rig::new(&plan, limits, connect, request).carrying(100).run();
    laws::check(&plan, &limits, &played);
    let first = requests(&played.kept).find(|r| r.k == 0).unwrap();
    assert_eq!((first.outcome, first.service()), (Outcome::Timeout, Some(MS(50))), "{first:?}");
    // It was not sent again: there is the first time alone.
    assert_eq!(attempts(&played.kept).filter(|r| r.k == 0).count(), 1);
}

/// A client that keeps notes alone of plain requests tells the same.
#[test]
fn notes_tell_the_same_of_what_is_given_back() {
    let plan = plan(Process::Poisson, 300.0, 2, 5);
    let play = |client: Client<Kept>| {
        let target = answers(|_, n| match n % 7 {
            0 | 1 => Answer::Comes {
                first_byte: MS(1),
                done: MS(1),
                outcome: Outcome::RefusedStream,
                status: 0,
                reusable: n % 2 == 0,
            },
            _ => Answer::ok(MS(4)),
        });
        let mut world = Simulation::new(client, target, Generator::default());
        world.run();
        std::mem::take(world.finish())
    };
    let client = || Client::new(&plan, Shard::WHOLE, LIMITS, Kept::default());
    let (kept, noted) = (play(client()), play(client().keeping_notes()));
    assert_eq!(noted, kept);
    assert!(attempts(&kept).count() > 100);
    assert_eq!(requests(&kept).count() as u64, plan.arrivals().count() as u64);
}
