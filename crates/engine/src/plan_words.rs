//! A plan in words, as the first line of a run has it, and the lengths of its phases.

use headway_base::{Nanos, Rate};
use headway_report::format::{plural, time};
use headway_workload::Plan;
use headway_workload::arrivals::Trace;
use headway_workload::plan::{Connections, Group, LONGEST, Source};
use headway_workload::users::Level;

/// Lengths of the phases that flags can make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// The ramp.
    pub ramp: Nanos,
    /// The warm-up after it.
    pub warmup: Nanos,
    /// The hold.
    pub hold: Nanos,
}

/// The lengths of a plan of one group that rises from zero, if at all, and then stays at one level.
pub fn lengths(plan: &Plan) -> Option<Lengths> {
    let [group] = &plan.groups[..] else { return None };
    let phases: Vec<(Nanos, f64, f64)> = match &group.source {
        Source::Arrivals { profile, .. } => {
            profile.phases().map(|phase| (phase.length, phase.from.0, phase.to.0)).collect()
        }
        Source::Users { level, requests: None } | Source::Connecting { level } => {
            level.phases().iter().map(|phase| (phase.length, phase.from_users, phase.to_users)).collect()
        }
        Source::Users { .. } | Source::AtOnce { .. } | Source::Trace(_) => return None,
    };
    let ramp = phases.first().filter(|(_, from, to)| *from == 0.0 && to > from).map_or(Nanos::ZERO, |p| p.0);
    let holds = &phases[usize::from(ramp > Nanos::ZERO)..];
    let (_, level, _) = holds.first()?;
    let kept = holds.iter().all(|(_, from, to)| from == level && to == level);
    let reached = ramp == Nanos::ZERO || phases[0].2 == *level;
    (kept && reached && plan.measured_from >= ramp).then(|| Lengths {
        ramp,
        warmup: plan.measured_from - ramp,
        hold: plan.end() - plan.measured_from,
    })
}

/// What a plan is, in words: `50/s for 10s, poisson`. `asked` is the number of requests for which its hold lasts, if that was asked for.
pub fn headline(plan: &Plan, lengths: Option<Lengths>, asked: Option<u64>) -> String {
    if let [group] = &plan.groups[..]
        && let Some(words) = simple(group, plan.end(), lengths, asked)
    {
        return words;
    }
    let group = |g: &Group| {
        let what = match &g.source {
            Source::Arrivals { process, profile } => {
                let peak = profile.phases().map(|p| p.from.0.max(p.to.0)).fold(0.0, f64::max);
                let who = if g.journey.is_single() { "requests" } else { "sessions" };
                format!("{who} at up to {}, {process}", Rate(peak))
            }
            Source::Trace(trace) => logged(trace, if g.journey.is_single() { "request" } else { "session" }),
            Source::AtOnce { sessions } => format!("{} at once", plural(*sessions, "session")),
            Source::Users { level, requests: Some(n) } => {
                format!("{} by {}", plural(*n, "request"), plural(u64::from(level.most()), "user"))
            }
            Source::Users { level, requests: None } => {
                format!("up to {}", plural(u64::from(level.most()), "user"))
            }
            Source::Connecting { level } => {
                format!("up to {} kept connecting", plural(u64::from(level.most()), "socket"))
            }
        };
        let what = format!("{what}{}", opening(g));
        if plan.groups.len() > 1 { format!("{}: {what}", g.name) } else { what }
    };
    let groups: Vec<String> = plan.groups.iter().map(group).collect();
    let length = if plan.is_fixed_work() { String::new() } else { format!(" for {}", plan.end()) };
    format!("{}{length}", groups.join("; "))
}

/// What arrives by a log.
fn logged(trace: &Trace, what: &str) -> String {
    format!("{} as in {}", plural(trace.arrivals, what), trace.of)
}

/// What is to be said of the logs by which sessions arrive: `access.log: stamps of 1 s, each arrival moved to a random place within`.
pub fn of_logs(plan: &Plan) -> Vec<String> {
    let of = |group: &Group| match &group.source {
        Source::Trace(trace) => Some(headway_report::words::plan::log(&crate::plan_summary::log(trace))),
        _ => None,
    };
    plan.groups.iter().filter_map(of).collect()
}

/// That each request opens a connection, where that is not plain.
fn opening(group: &Group) -> &'static str {
    let says = group.connections == Connections::PerRequest && !group.is_connecting();
    if says { ", a new connection each" } else { "" }
}

/// The words for the only group of a plan that flags could have said.
fn simple(group: &Group, end: Nanos, lengths: Option<Lengths>, asked: Option<u64>) -> Option<String> {
    if group.journey.longest() != 1 {
        return None;
    }
    let think = match group.journey.mean_think_s() > 0.0 {
        true => format!(", think {}", group.journey.think()),
        false => String::new(),
    };
    let users = |level: &Level| plural(u64::from(level.most()), "user");
    let opening = opening(group);
    Some(match &group.source {
        Source::Arrivals { process, profile } => {
            let (rate, hold) = (profile.phases().last()?.to, lengths?.hold);
            let length = asked.map_or_else(|| hold.to_string(), |n| plural(n, "request"));
            format!("{rate} for {length}, {process}{opening}")
        }
        Source::Trace(trace) => {
            format!("{} for {}{opening}", logged(trace, "request"), time(trace.end.as_secs_f64()))
        }
        Source::Users { level, requests: None } => {
            format!("{} for {}{think}{opening}", users(level), lengths?.hold)
        }
        Source::Connecting { level } => {
            format!("{} kept connecting for {}", plural(u64::from(level.most()), "socket"), lengths?.hold)
        }
        Source::Users { level, requests: Some(n) } => {
            let most = if end < LONGEST { format!(", {end} at most") } else { String::new() };
            format!("{} by {}{think}{most}{opening}", plural(*n, "request"), users(level))
        }
        Source::AtOnce { sessions } => format!("{} at once{opening}", plural(*sessions, "request")),
    })
}

/// Requests of fixed work, if the plan is that and nothing else.
pub fn requests_of_work(plan: &Plan) -> Option<u64> {
    let of = |g: &Group| match &g.source {
        Source::AtOnce { sessions } => Some((*sessions as f64 * g.journey.mean_asks()).round() as u64),
        Source::Users { requests, .. } => *requests,
        Source::Arrivals { .. } | Source::Trace(_) | Source::Connecting { .. } => None,
    };
    plan.groups.iter().map(of).sum()
}
