//! Connections that go to several addresses in turn, and names that are read again.

use crate::harness::{Load, guarded};
use crate::scripted::Scripted;
use crate::tls::OK;
use headway_base::{Nanos, Outcome};
use headway_live::Address;
use headway_live::names::{Refresh, Resolver};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers one request of each connection.
fn once() -> Scripted {
    Scripted::answering_once(
        [OK[..15].to_vec(), b"\r\nConnection: close".to_vec(), OK[15..].to_vec()].concat(),
    )
}

/// Gives what it is told, one after the other, the last of them for ever.
fn scripted(answers: Vec<Result<Vec<Address>, String>>) -> Resolver {
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    Resolver::new(move || {
        let mut answers = answers.lock().unwrap();
        let next = answers.pop_front().unwrap();
        if answers.is_empty() {
            answers.push_back(next.clone());
        }
        next
    })
}

#[test]
fn connections_go_to_the_addresses_of_a_name_in_turn() {
    guarded(|| {
        let targets = [once(), once(), once()];
        let [first, others @ ..] = targets.each_ref().map(|target| target.address.clone());
        let load = Load { others: others.into(), ..Load::of(12) };
        load.run(&first).all(Outcome::Ok);
        assert_eq!(targets.each_ref().map(Scripted::accepted), [4, 4, 4]);
    });
}

#[test]
fn new_addresses_count_for_connections_opened_after_they_are_read() {
    guarded(|| {
        let (old, new) = (once(), once());
        let answers = vec![Err("no answer".to_owned()), Ok(vec![new.address.clone()])];
        let refresh = Refresh { every: Nanos::from_millis(100), resolver: scripted(answers) };
        let ran = Load { refresh: Some(refresh), ..Load::of(60) }.run(&old.address).all(Outcome::Ok);
        let readings = ran.report.readings.clone().unwrap();
        assert!(readings.n >= 2 && readings.changed == 1, "{readings:?}");
        assert_eq!((readings.failed, readings.why.as_deref()), (1, Some("no answer")));
        let went = &ran.report.workers[0].places;
        let n = |target: &Scripted| went.get(&target.address).copied().unwrap_or(0) as usize;
        assert_eq!((n(&old), n(&new)), (old.accepted(), new.accepted()));
        assert!(n(&old) > 0 && n(&new) > 0 && n(&old) + n(&new) == 60, "{went:?}");
    });
}

/// A resolver that answers nothing holds no worker up, and not the end of the run either.
#[test]
fn a_resolver_that_hangs_holds_nothing_up() {
    guarded(|| {
        let target = once();
        let resolver = Resolver::new(|| {
            std::thread::sleep(Duration::from_secs(600));
            Err("too late".to_owned())
        });
        let refresh = Refresh { every: Nanos::from_millis(20), resolver };
        let ran = Load { refresh: Some(refresh), ..Load::of(30) }.run(&target.address).all(Outcome::Ok);
        assert_eq!(ran.report.readings.unwrap().n, 0);
    });
}
