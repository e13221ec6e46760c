//! Runs that are stopped, and runs that begin later.

use crate::harness::{Load, Ran, Watch, guarded};
use crate::scripted::{Scripted, read_to_end};
use crate::served::{Serving, settings};
use headway_base::{Nanos, Outcome};
use headway_live::Control;
use headway_live::serve::Settings;
use std::sync::Arc;
use std::time::Instant;

/// A run of ten seconds that is asked to stop, so many times, as soon as so many have started.
fn stopped(after: usize, times: u8) -> Load {
    let control = Control::default();
    let asked = control.clone();
    let watch: Watch = Arc::new(move |kept| {
        if kept.starts.len() >= after {
            while control.asked() < times {
                control.stop();
            }
        }
    });
    Load { length: Nanos::from_secs(10), control: asked, watch: Some(watch), ..Load::default() }
}

/// Of a run that was stopped: the arrivals from the first to the last that fell due have one record each.
fn check(ran: &Ran) {
    ran.check();
    assert_eq!(ran.keys(), (0..ran.keys().len() as u64).collect::<Vec<_>>());
    assert!(ran.keys().len() < 500, "it was stopped early on");
    assert!(ran.report.ended < Nanos::from_secs(8));
}

#[test]
fn a_stopped_run_awaits_its_answers() {
    guarded(|| {
        let server = Serving::new(Settings { servers: 50, ..settings("const(100ms)") });
        let ran = stopped(12, 1).play(&server.address);
        check(&ran);
        let outcomes = ran.outcomes();
        assert_eq!(outcomes[&Outcome::Ok], ran.starts.len(), "{outcomes:?}");
        let unsent = outcomes.get(&Outcome::Unsent).copied().unwrap_or(0);
        assert_eq!(unsent + ran.starts.len(), ran.keys().len());
        assert_eq!(server.stop().ok, ran.starts.len() as u64);
    });
}

#[test]
fn stopped_threads_stop_all() {
    guarded(|| {
        let server = Serving::new(Settings { servers: 50, ..settings("const(50ms)") });
        let ran = Load { threads: 3, ..stopped(5, 1) }.play(&server.address);
        ran.check();
        assert_eq!(ran.report.workers.len(), 3);
        assert!(ran.records.iter().all(|r| matches!(r.outcome, Outcome::Ok | Outcome::Unsent)));
        assert!(ran.report.ended < Nanos::from_secs(8));
    });
}

#[test]
fn stopped_twice_nothing_is_awaited() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let ran = stopped(12, 2).play(&target.address);
        check(&ran);
        assert_eq!(ran.outcomes()[&Outcome::Cancelled], ran.starts.len(), "{:?}", ran.outcomes());
    });
}

#[test]
fn a_run_that_hangs_stops_within_its_timeout() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let ran = stopped(12, 1).patience(300).play(&target.address);
        check(&ran);
        let given_up = [Outcome::Timeout, Outcome::Unfinished, Outcome::Unsent];
        assert!(ran.records.iter().all(|r| given_up.contains(&r.outcome)), "{:?}", ran.outcomes());
    });
}

#[test]
fn what_waited_at_the_cap_when_it_was_stopped_is_unsent() {
    guarded(|| {
        let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
        let began = Instant::now();
        let control = Control::default();
        // The second arrival is due 10 ms after the first, and waits from then on.
        let (stopping, asked) = (control.clone(), control.clone());
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(150));
            stopping.stop();
        });
        let load = Load { length: Nanos::from_secs(10), control: asked, ..Load::default() };
        let ran = load.connections(1).patience(300).play(&target.address);
        stopper.join().unwrap();
        check(&ran);
        assert!(control.asked_at().is_some_and(|at| at > began));
        let outcomes = ran.outcomes();
        assert!(outcomes[&Outcome::Unsent] >= 5, "{outcomes:?}");
        assert_eq!(ran.starts.len(), 1);
    });
}

#[test]
fn a_stop_before_the_beginning_leaves_nothing() {
    guarded(|| {
        let control = Control::default();
        control.stop();
        let target = Scripted::new(|_, _| {});
        let ran = Load { control, ahead: Nanos::from_secs(60), ..Load::default() }.play(&target.address);
        assert!(ran.records.is_empty() && ran.starts.is_empty());
        assert_eq!(target.accepted(), 0);
    });
}

#[test]
fn nothing_starts_before_the_zero() {
    guarded(|| {
        let server = Serving::new(settings("const(0s)"));
        let ran =
            Load { ahead: Nanos::from_millis(300), ..Load::of(10) }.run(&server.address).all(Outcome::Ok);
        assert!(ran.starts.iter().all(|s| s.started >= s.intended && s.intended >= Nanos::ZERO));
    });
}
