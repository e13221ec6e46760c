use super::*;
use crate::journey::{Node, no_think};
use crate::users::UserPhase;

fn law(text: &str) -> Dist {
    headway_base::dist::parse(text, &|_| Err("no files".to_owned())).unwrap()
}

#[test]
fn what_is_written_down_is_the_plan() {
    let (ramp, hold) = (Nanos::from_secs(3), Nanos::from_secs(5));
    let mut plan = Plan::ramp_and_hold(7, Process::Gamma { cov: 2.5 }, Rate(123.4), ramp, Nanos::ZERO, hold);
    plan.shard = Shard::new(1, 3).unwrap();
    assert_eq!(plan.measured_from, Nanos::from_secs(3));
    assert_eq!(plan.end(), Nanos::from_secs(8));
    assert_eq!(plan.document().plan().unwrap(), plan);
    assert!((plan.own_profile().unwrap().total() * 3.0 - plan.profile().unwrap().total()).abs() < 1e-9);
    let newer = Document { version: VERSION + 1, ..plan.document() };
    assert!(newer.plan().unwrap_err().contains("version"));
}

#[test]
fn groups_of_every_kind_are_written_down() {
    let ask = |step, think| Node::Ask { step, repeat: 3, think };
    let nodes = [
        ask(0, Some(law("exp(1s)"))),
        Node::Choose(vec![(2.0, vec![ask(1, None)]), (1.0, vec![Node::Repeat(2, vec![ask(2, None)])])]),
        Node::Pause(law("const(2s)")),
    ];
    let journey = Journey::new(&nodes, law("uniform(0s,2s)")).unwrap();
    let ramp = UserPhase { length: Nanos::from_secs(9), from_users: 0.0, to_users: 9.0 };
    let mut closed = Group::closed(Level::new(&[ramp]), journey.clone());
    closed.pace = Some(law("const(10s)"));
    closed.on_failure = OnFailure::EndSession;
    let once = Group::of(Source::AtOnce { sessions: 12 }, journey, Connections::Shared);
    let plan = Plan {
        groups: vec![closed, once],
        ..Plan::of(1, Group::open(Process::Poisson, Profile::new(&[])), Nanos::ZERO, ramp.length)
    };
    let json = serde_json::to_string(&plan.document()).unwrap();
    let read: Document = serde_json::from_str(&json).unwrap();
    assert_eq!(read.plan().unwrap(), plan);
    assert!(!plan.is_fixed_work() && !plan.is_open() && plan.process().is_none() && plan.profile().is_none());
}

#[test]
fn sessions_of_several_groups_are_one_sequence_and_the_first_draws_as_if_alone() {
    let hold = |rate| Profile::new(&[Phase::hold(Nanos::from_secs(20), Rate(rate))]);
    let alone = Plan::of(3, Group::open(Process::Poisson, hold(5.0)), Nanos::ZERO, Nanos::from_secs(20));
    let mut both = alone.clone();
    both.groups.push(Group::open(Process::Poisson, hold(15.0)));
    assert_eq!(both.arrivals().collect::<Vec<_>>(), alone.arrivals().collect::<Vec<_>>());
    let merged: Vec<_> = both.sessions().collect();
    assert!(merged.is_sorted_by_key(|(_, a)| a.intended));
    assert_eq!(merged.iter().filter(|s| s.0 == 0).count(), alone.arrivals().count());
    let of = |i| Shard::new(i, 3).unwrap();
    let of_each = |i| (0..2).map(|group| both.sessions_of(group, of(i)).count() as u64).sum::<u64>();
    assert_eq!(both.arrivals_of_each(3), [0, 1, 2].map(of_each));
    // 400 expected, Poisson: within 4 standard errors of 20.
    assert!((merged.len() as f64 - 400.0).abs() < 80.0, "{}", merged.len());
    assert_eq!((both.process(), both.profile().unwrap().total()), (Some(Process::Poisson), 400.0));
    both.groups.push(Group::open(Process::Constant, hold(1.0)));
    assert_eq!(both.process(), None);
}

#[test]
fn all_at_once_are_all_due_at_zero_and_split_over_shards() {
    let group = Group::of(Source::AtOnce { sessions: 50 }, Journey::single(), Connections::Shared);
    let plan = Plan::of(3, group, Nanos::ZERO, LONGEST);
    let of = |i| plan.sessions_of(0, Shard::new(i, 3).unwrap()).map(|a| a.k).collect::<Vec<_>>();
    let mut all: Vec<u64> = (0..3).flat_map(of).collect();
    all.sort_unstable();
    assert_eq!(all, (0..50).collect::<Vec<_>>());
    assert!(plan.arrivals().all(|a| a.intended == Nanos::ZERO) && plan.is_fixed_work());
    assert_eq!(Journey::new(&[], no_think()).unwrap_err(), crate::journey::JourneyError::Empty);
}
