//! What was asked of two runs, item by item, and what of it differs: what comes when, what it does, how long it is waited for.
//!
//! A plan is taken apart into pairs of a name and words; two runs differ in the pairs that are not the same. The seed is none
//! of them. Deliberately absent: what the requests hold, and the model, which only one of the two has.

use headway_base::Nanos;
use headway_report::format::{chosen, chosen_time, plural, rate, time};
use headway_stats::comparison::Difference;
use headway_stats::summary::PlanSummary;
use headway_workload::journey::Node;
use headway_workload::plan::{Connections, Group, LONGEST, OnFailure, Source};
use headway_workload::redact::{Cleared, clear};
use headway_workload::{Plan, Shard};

/// Longest text on either side; of two longer ones the beginning that they share is left out.
const WIDTH: usize = 60;
/// So much of what they share is kept.
const KEPT: usize = 16;

/// Name and words of one thing that was asked for.
type Item = (String, String);

/// What differs between two plans, the recorded one first; `steps` are the labels of their steps.
pub fn of_plans(plans: [&Plan; 2], steps: [&[Cleared]; 2]) -> Vec<Difference> {
    // A single step is called differently by a command line and a scenario.
    let single = steps.iter().all(|labels| labels.len() < 2);
    let name = |side: usize, step: u16| match single {
        true => "request".to_owned(),
        false => {
            steps[side].get(usize::from(step)).map_or_else(|| format!("step {step}"), Cleared::to_string)
        }
    };
    let mut all = Vec::new();
    let names = plans.map(|plan| plan.groups.iter().map(|g| g.name.as_str()).collect::<Vec<_>>());
    let alone = plans.iter().all(|plan| plan.groups.len() == 1);
    if !alone && names[0] != names[1] {
        all.push(differ("groups".into(), names.map(|names| names.join(", "))));
    }
    for own in &plans[1].groups {
        let same = |other: &&Group| alone || other.name == own.name;
        let Some(other) = plans[0].groups.iter().find(same) else { continue };
        let of = |what: &str| if alone { what.to_owned() } else { format!("{what} of {}", own.name) };
        if kind(other) != kind(own) {
            all.push(differ(of("kind of load"), [kind(other), kind(own)].map(str::to_owned)));
            continue;
        }
        let items = [(0, other), (1, own)].map(|(side, group)| items(group, &|step| name(side, step)));
        all.extend(different(items).into_iter().map(|d| Difference { what: clear(&of(&d.what)), ..d }));
    }
    all.extend(different(plans.map(whole)));
    if !single {
        all.extend(different(steps.map(|labels| vec![("steps".into(), joined(labels))])));
    }
    all
}

/// What differs between the summaries of two plans, which tell less than the plans.
pub fn of_summaries(plans: [&PlanSummary; 2]) -> Vec<Difference> {
    let items = plans.map(|plan| {
        let users = plan.users.map_or("none".into(), |n| n.to_string());
        let phases: Vec<Level> = plan.phases.iter().map(|p| (p.length_s, p.from, p.to)).collect();
        let warmup: f64 = plan.phases.iter().filter(|p| p.warmup).map(|p| p.length_s).sum();
        let arrive = plan.rate.is_some();
        let (levels, lengths) = levels(&phases, &|x| if arrive { rate(x) } else { chosen(x) });
        vec![
            ("kind of load or arrival process".into(), plan.process.clone()),
            (if arrive { "rate" } else { "users" }.into(), if phases.is_empty() { users } else { levels }),
            ("duration".into(), lengths),
            ("warm-up".into(), chosen_time(warmup)),
            ("think time".into(), plan.think.clone().unwrap_or_else(|| "none".into())),
            ("part of the plan".into(), plan.shard.clone().unwrap_or_else(|| "the whole".into())),
        ]
    });
    let mut all = different(items);
    let several = plans.iter().any(|plan| plan.steps.len() > 1);
    if several {
        all.extend(different(plans.map(|plan| vec![("steps".into(), joined(&plan.steps))])));
    }
    all
}

/// How long a request, and before it a connection, is waited for: as far as both are known.
pub fn of_patience(recorded: &PlanSummary, simulated: &PlanSummary) -> Vec<Difference> {
    let spans = |plan: &PlanSummary| {
        [
            ("timeout", plan.timeout_s),
            ("connect timeout", plan.connect_timeout_s),
            ("longest wait", plan.max_wait_s),
        ]
    };
    let pairs = spans(recorded).into_iter().zip(spans(simulated));
    let known = pairs.filter_map(|((what, a), (_, b))| Some((what, [a?, b?])));
    let apart = known.filter(|(_, [a, b])| a != b);
    apart.map(|(what, both)| differ(what.into(), both.map(chosen_time))).collect()
}

fn joined(labels: &[Cleared]) -> String {
    labels.iter().map(Cleared::as_str).collect::<Vec<_>>().join(", ")
}

fn differ(what: String, [base, other]: [String; 2]) -> Difference {
    let (base, other) = shortened(&base, &other);
    // Of plans, whose names have passed the gate.
    Difference { what: clear(&what), base: clear(&base), other: clear(&other) }
}

/// The items that both have and that are not the same.
fn different([recorded, simulated]: [Vec<Item>; 2]) -> Vec<Difference> {
    let other = |what: &str| recorded.iter().find(|(name, _)| name == what).map(|(_, words)| words.clone());
    let pairs = simulated.into_iter().filter_map(|(what, own)| Some((other(&what)?, what, own)));
    let apart = pairs.filter(|(other, _, own)| other != own);
    apart.map(|(other, what, own)| differ(what, [other, own])).collect()
}

fn kind(group: &Group) -> &'static str {
    match group.source {
        Source::Arrivals { .. } | Source::Trace(_) => "users who arrive",
        Source::AtOnce { .. } => "users who come at once",
        Source::Users { requests: None, .. } => "users who stay",
        Source::Users { requests: Some(_), .. } => "fixed work",
        Source::Connecting { .. } => "sockets that are kept connecting",
    }
}

/// Numbers of users over time, and how long each lasts.
fn users(level: &headway_workload::users::Level) -> (String, String) {
    let phase = |p: &headway_workload::users::UserPhase| (p.length.as_secs_f64(), p.from_users, p.to_users);
    levels(&level.phases().iter().map(phase).collect::<Vec<Level>>(), &chosen)
}

/// What is asked of a group; two of one kind have the same items.
fn items(group: &Group, name: &dyn Fn(u16) -> String) -> Vec<Item> {
    let mut all: Vec<(&str, String)> = Vec::new();
    match &group.source {
        Source::Arrivals { process, profile } => {
            let phases: Vec<Level> =
                profile.phases().map(|p| (p.length.as_secs_f64(), p.from.0, p.to.0)).collect();
            let (levels, lengths) = levels(&phases, &rate);
            all.extend([("arrival process", process.to_string()), ("rate", levels), ("duration", lengths)]);
        }
        Source::Trace(trace) => {
            // The same log may have another name on another machine.
            let (n, length) = (plural(trace.arrivals, "arrival"), trace.end.as_secs_f64());
            let is = format!("a log of {n} in {}, fingerprint {:016x}", time(length), trace.fingerprint);
            all.push(("arrival process", is));
        }
        Source::AtOnce { sessions } => all.push(("users at once", sessions.to_string())),
        Source::Users { level, requests } => {
            let (levels, lengths) = users(level);
            all.push(("users", levels));
            all.push(match requests {
                Some(requests) => ("requests", requests.to_string()),
                None => ("duration", lengths),
            });
        }
        Source::Connecting { level } => {
            let (levels, lengths) = users(level);
            all.extend([("sockets", levels), ("duration", lengths)]);
        }
    }
    let journey = &group.journey;
    let connections = match group.connections {
        Connections::Shared => "shared",
        Connections::PerUser => "each user's own",
        Connections::PerRequest => "a new one for each request",
    };
    let failure = match group.on_failure {
        OnFailure::Continue => "the user goes on",
        OnFailure::EndSession => "the session is over",
    };
    all.extend([
        ("journey", nodes(journey.nodes(), name)),
        ("think time", journey.think().to_string()),
        ("connections", connections.to_owned()),
        ("after a failure", failure.to_owned()),
        ("pace", group.pace.as_ref().map_or("none".into(), ToString::to_string)),
    ]);
    all.into_iter().map(|(what, words)| (what.to_owned(), words)).collect()
}

/// What is asked of all groups together.
fn whole(plan: &Plan) -> Vec<Item> {
    let shard = if plan.shard == Shard::WHOLE { "the whole".into() } else { plan.shard.to_string() };
    let end = if plan.end == LONGEST { Nanos::ZERO } else { plan.measured_from };
    vec![("warm-up".into(), chosen_time(end.as_secs_f64())), ("part of the plan".into(), shard)]
}

/// Length of a phase in seconds, and its rate or users at the beginning and the end.
type Level = (f64, f64, f64);

/// Levels and lengths of phases, in words. Phases of one level that follow each other are one.
fn levels(phases: &[Level], show: &dyn Fn(f64) -> String) -> (String, String) {
    let mut merged: Vec<Level> = Vec::new();
    for &(length, from, to) in phases.iter().filter(|(length, ..)| *length > 0.0) {
        match merged.last_mut().filter(|last| last.1 == last.2 && last.2 == from && from == to) {
            Some(last) => last.0 += length,
            None => merged.push((length, from, to)),
        }
    }
    let level = |(_, from, to): &Level| match from == to {
        true => show(*from),
        false => format!("{} to {}", show(*from), show(*to)),
    };
    let levels: Vec<String> = merged.iter().map(level).collect();
    let lengths: Vec<String> = merged.iter().map(|(length, ..)| chosen_time(*length)).collect();
    (levels.join(", "), lengths.join(", "))
}

fn nodes(of: &[Node], name: &dyn Fn(u16) -> String) -> String {
    let one = |node: &Node| match node {
        Node::Ask { step, repeat, think } => {
            let times = if *repeat == 1 { String::new() } else { format!(" x {repeat}") };
            let think = think.as_ref().map_or(String::new(), |think| format!(" after {think}"));
            format!("{}{times}{think}", name(*step))
        }
        Node::Repeat(times, inside) => format!("{times} x ({})", nodes(inside, name)),
        Node::Choose(ways) => {
            let ways: Vec<String> = ways
                .iter()
                .map(|(weight, way)| format!("{}: {}", chosen(*weight), nodes(way, name)))
                .collect();
            format!("one of ({})", ways.join("; "))
        }
        Node::Pause(think) => format!("pause {think}"),
        Node::Logged(_) => "what the log names".to_owned(),
    };
    of.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Both texts, cut where they are long to where they begin to differ.
fn shortened(a: &str, b: &str) -> (String, String) {
    if a.chars().count() <= WIDTH && b.chars().count() <= WIDTH {
        return (a.to_owned(), b.to_owned());
    }
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(KEPT);
    let cut = |text: &str| {
        let left = text.chars().count().saturating_sub(from);
        let shown: String = text.chars().skip(from).take(WIDTH).collect();
        let (before, after) = (if from > 0 { "..." } else { "" }, if left > WIDTH { "..." } else { "" });
        format!("{before}{shown}{after}")
    };
    (cut(a), cut(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_summary;
    use headway_base::{Phase, Profile, Rate, dist};
    use headway_workload::Process;
    use headway_workload::journey::{Journey, no_think};

    fn plan(process: Process, per_second: f64, phases: &[i64]) -> Plan {
        let phases: Vec<Phase> =
            phases.iter().map(|&s| Phase::hold(Nanos::from_secs(s), Rate(per_second))).collect();
        let profile = Profile::new(&phases);
        let length = profile.end();
        Plan::of(7, Group::open(process, profile), Nanos::ZERO, length)
    }

    fn differing(recorded: &Plan, simulated: &Plan) -> Vec<String> {
        let steps = ["request".into()];
        let all = of_plans([recorded, simulated], [&steps, &[]]);
        let in_words = |d: &Difference| format!("{}: {} | {}", d.what, d.base, d.other);
        all.iter().map(in_words).collect()
    }

    #[test]
    fn plans_differ_in_what_is_asked_and_not_in_the_seed() {
        let one = plan(Process::Poisson, 100.0, &[2, 15]);
        let other_seed = Plan { seed: 8, ..one.clone() };
        assert_eq!(differing(&one, &other_seed), Vec::<String>::new());
        assert_eq!(
            differing(&one, &plan(Process::Poisson, 100.0, &[17])),
            Vec::<String>::new(),
            "one phase or two"
        );
        assert_eq!(differing(&one, &plan(Process::Poisson, 90.0, &[17])), ["rate: 100/s | 90.0/s"]);
        assert_eq!(
            differing(&one, &plan(Process::Constant, 100.0, &[20])),
            ["arrival process: poisson | constant", "duration: 17 s | 20 s"]
        );
        let warm = Plan { measured_from: Nanos::from_secs(2), ..one.clone() };
        assert_eq!(differing(&one, &warm), ["warm-up: 0 s | 2 s"]);
        let part = Plan { shard: Shard::new(0, 2).unwrap(), ..one.clone() };
        assert_eq!(differing(&part, &one), ["part of the plan: 0/2 | the whole"]);
        let closed = Plan {
            groups: vec![Group::closed(
                headway_workload::users::Level::hold(5, Nanos::from_secs(17)),
                Journey::single(),
            )],
            ..one.clone()
        };
        assert_eq!(differing(&one, &closed), ["kind of load: users who arrive | users who stay"]);
        let summaries = [&one, &plan(Process::Poisson, 90.0, &[17])].map(plan_summary);
        let all = of_summaries([&summaries[0], &summaries[1]]);
        assert_eq!((all.len(), all[0].what.as_str(), all[0].other.as_str()), (1, "rate", "90.0/s"));
        assert_eq!(of_summaries([&summaries[0], &summaries[0]]), []);
    }

    #[test]
    fn groups_and_journeys_are_named() {
        let journey = |repeat: u32| {
            let asks = [
                Node::Ask { step: 0, repeat, think: None },
                Node::Pause(dist::parse("exp(1s)", &|_| Err(String::new())).unwrap()),
            ];
            Journey::new(&asks, no_think()).unwrap()
        };
        let one = plan(Process::Poisson, 100.0, &[10]);
        let mut two = one.clone();
        two.groups[0].journey = journey(3).into();
        assert_eq!(differing(&one, &two), ["journey: request | request x 3, pause exp(1s)"]);
        let mut both = two.clone();
        both.groups.push(Group { name: "clerks".into(), ..one.groups[0].clone() });
        let all = differing(&two, &both);
        assert_eq!(all, ["groups: users | users, clerks"]);
        let mut other = both.clone();
        other.groups[1].on_failure = OnFailure::EndSession;
        assert_eq!(
            differing(&both, &other),
            ["after a failure of clerks: the user goes on | the session is over"]
        );
        let labels = |names: &[&'static str]| names.iter().map(|&name| name.into()).collect::<Vec<_>>();
        let renamed = of_plans([&two, &two], [&labels(&["a", "b"]), &labels(&["a", "c"])]);
        assert_eq!(renamed.len(), 1);
        assert_eq!(renamed[0].what, "steps");
    }

    #[test]
    fn long_texts_are_cut_to_where_they_differ() {
        let long = |end: &str| format!("{}{end}", "list, ".repeat(40));
        let (a, b) = shortened(&long("a"), &long("b"));
        assert!(a != b && a.starts_with("...") && a.ends_with('a') && a.chars().count() < 30, "{a}");
        assert_eq!(shortened("a", "b"), ("a".into(), "b".into()));
        let patience = |s: f64| PlanSummary { timeout_s: Some(s), ..PlanSummary::default() };
        let all = of_patience(&patience(30.0), &patience(2.0));
        assert_eq!(
            (all[0].what.as_str(), all[0].base.as_str(), all[0].other.as_str()),
            ("timeout", "30 s", "2 s")
        );
        assert_eq!(of_patience(&patience(30.0), &PlanSummary::default()), []);
    }
}
