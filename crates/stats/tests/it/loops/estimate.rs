//! What a closed loop hid: the estimate against the open truth, in virtual time.

use super::play::{BASE, Target, closed};
use crate::world::evidence;
use headway_base::Nanos;
use headway_stats::summary::Evidence;
use headway_stats::summary::evidence::{Loop, OpenLoad};
use headway_stats::{Setup, UsersAsked, Workload};

fn setup(users: u32, until: Nanos) -> Setup {
    Setup {
        labels: vec!["only".into()],
        measured: Nanos::ZERO..until,
        workload: Workload::Closed,
        users: Some(UsersAsked::hold(f64::from(users), until)),
        ..Setup::default()
    }
}

fn p99(mut responses: Vec<f64>) -> f64 {
    responses.sort_by(f64::total_cmp);
    responses[(responses.len() as f64 * 0.99).ceil() as usize - 1]
}

/// Mean p99 over the seeds: in the closed run, as estimated from it, and of the open truth at the same mean rate.
fn compare(users: u32, think_s: f64, target: Target, requests: usize, seeds: u64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for seed in 0..seeds {
        let told = closed(users, think_s, target, requests, seed);
        let until = told.records.iter().map(|r| r.intended).max().unwrap() + Nanos(1);
        let summary = told.live(setup(users, until), &[]);
        let estimated = summary.closed.unwrap().estimated.unwrap();
        let truth = p99(target.open(estimated.rate, until, seed));
        for (sum, x) in sums.iter_mut().zip([summary.response.p99.unwrap(), estimated.p99.unwrap(), truth]) {
            *sum += x / seeds as f64;
        }
    }
    sums
}

fn stopping(at_s: i64) -> Target {
    Target { stop: Some((Nanos::from_secs(at_s), Nanos::from_secs(2))), ..BASE }
}

#[test]
fn four_looping_users_hid_a_stop_of_two_seconds() {
    let [seen, estimated, truth] = compare(4, 0.0, stopping(10), 18_000, 20);
    assert!(seen < 0.05 && truth > 1.5, "{seen} {truth}");
    assert!((estimated / truth - 1.0).abs() < 0.15, "{estimated} against {truth}");
}

#[test]
fn thinking_users_more_than_servers_hid_it_too() {
    let [seen, estimated, truth] = compare(20, 0.05, stopping(10), 18_000, 20);
    assert!(seen < 0.06 && truth > 1.5, "{seen} {truth}");
    assert!((estimated / truth - 1.0).abs() < 0.15, "{estimated} against {truth}");
}

#[test]
fn where_nothing_was_hidden_nothing_is_made_up() {
    let [seen, estimated, truth] = compare(20, 0.05, BASE, 18_000, 20);
    assert!((estimated / truth - 1.0).abs() < 0.15, "{estimated} against {truth}, closed {seen}");
}

#[test]
fn nor_where_the_servers_are_busy() {
    // 400 requests a second of 500, by many users and by few.
    for (users, think_s) in [(400, 1.0), (8, 0.01)] {
        let [seen, estimated, truth] = compare(users, think_s, BASE, 40_000, 8);
        assert!(
            (estimated / truth - 1.0).abs() < 0.15,
            "{users}: {estimated} against {truth}, closed {seen}"
        );
    }
}

#[test]
fn an_estimate_is_a_function_of_the_run_and_its_seed() {
    let told = closed(4, 0.0, stopping(1), 2_000, 7);
    let until = Nanos::from_secs(6);
    let (a, b) = (told.live(setup(4, until), &[]), told.logged(setup(4, until), &[]));
    assert_eq!(a.closed.unwrap().estimated, b.closed.unwrap().estimated);
    let few = closed(4, 0.0, BASE, 50, 7).live(setup(4, until), &[]);
    assert!(few.closed.unwrap().estimated.is_none());
    assert!(
        matches!(
            few.not_computed["closed.estimated"].why,
            headway_stats::summary::Why::FewRequests { n: 50, .. }
        ),
        "{:?}",
        few.not_computed
    );
}

/// Twenty users who hardly think keep four servers busy all the time: nobody could come to them at that rate by himself.
#[test]
fn of_a_target_that_was_busy_all_the_time_no_open_percentile_is_made_up() {
    let told = closed(20, 0.005, BASE, 6_000, 1);
    let until = told.records.iter().map(|r| r.intended).max().unwrap() + Nanos(1);
    let summary = told.live(setup(20, until), &[]);
    assert_eq!(summary.closed.as_ref().unwrap().estimated, None);
    let reason = &summary.not_computed["closed.estimated"];
    assert!(matches!(reason.why, headway_stats::summary::Why::WouldPileUp { .. }), "{reason:?}");
    let note = evidence(&summary, "closed-loop");
    assert!(
        matches!(note, Evidence::Loop(Loop::ClosedLoop { open: OpenLoad::Unsustainable { .. } })),
        "{note:?}"
    );
}
