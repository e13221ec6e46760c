//! Whether two runs are comparable: the same plan and VALID loads; and in what else they differ, notes among it.

use super::invalid;
use super::load::{Loaded, Recorded};
use crate::Error;
use crate::simulate::{of_patience, of_plans, of_summaries};
use anyhow::anyhow;
use headway_base::units::nearest;
use headway_report::format::{chosen_time, count};
use headway_stats::comparison::{Difference, Incomparable};
use headway_stats::summary::PlanSummary;
use headway_stats::summary::Source;
use headway_workload::redact::{Cleared, clear};
use std::collections::{BTreeMap, BTreeSet};

/// What users noted, by key.
type Notes = BTreeMap<Cleared, Cleared>;

/// In what two runs may differ: parts of a plan.
#[derive(Clone, Debug, Default)]
pub struct Across(pub Vec<String>);

/// Parts of a plan in which runs may differ.
const PARTS: [&str; 15] = [
    "rate",
    "arrival process",
    "duration",
    "warm-up",
    "users",
    "requests",
    "kind of load",
    "journey",
    "think time",
    "steps",
    "connections",
    "groups",
    "HTTP",
    "proxy",
    "scenario",
];

impl Across {
    pub(crate) fn allows(&self, what: &str) -> bool {
        self.0.iter().any(|own| own == what)
    }

    /// Refuses what is neither part of a plan nor one of `more`; a note of the runs needs no permission.
    pub(crate) fn is_known(&self, notes: &BTreeSet<&str>, more: &[&str]) -> Result<(), Error> {
        for own in &self.0 {
            let known = || PARTS.into_iter().chain(more.iter().copied());
            // What a plan is taken apart into has names of groups behind `of`.
            let part = own.split(" of ").next().unwrap_or(own);
            if known().any(|name| name == own || name == part) || part.ends_with("timeout") {
                continue;
            }
            let near =
                nearest(own, known()).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            return Err(Error::usage(match notes.contains(own.as_str()) {
                true => {
                    anyhow!("--across {own}: notes may differ in any comparison; leave --across {own} out")
                }
                false => anyhow!(
                    "--across {own}: it is no part of a plan{near} (parts: {})",
                    [&PARTS[..], more].concat().join(", "),
                ),
            }));
        }
        Ok(())
    }
}

/// What was found.
pub(super) struct Found {
    pub obstacles: Vec<Incomparable>,
    pub differs: Vec<Difference>,
    pub same_arrivals: bool,
    pub same_records: bool,
}

/// Looks at two runs.
pub(super) fn look(
    runs: [usize; 2],
    pair: [&Loaded; 2],
    recorded: [Option<&Recorded>; 2],
    across: &Across,
) -> Found {
    let mut obstacles = invalid(runs, pair.map(|one| &one.run));
    let mut differs = Vec::new();
    let [a, b] = pair;
    if (a.run.source == Source::Sim) != (b.run.source == Source::Sim) {
        obstacles.push(Incomparable::Source);
    }
    // A simulation that is repeated under its seed comes out the same where nothing that matters was changed; a live run never does.
    let same_records = a.digest.is_some() && a.digest == b.digest;
    if same_records && a.run.source != Source::Sim {
        obstacles.push(Incomparable::Copies);
    }
    let plans = match recorded {
        [Some(base), Some(other)] => differences(base, other),
        _ => Vec::new(),
    };
    let same_plan = plans.is_empty();
    for difference in plans {
        match across.allows(&difference.what) {
            true => differs.push(difference),
            false => obstacles.push(Incomparable::Plan(difference)),
        }
    }
    differs.extend(of_notes(&a.run.notes, &b.run.notes));
    let several = |one: &Loaded| one.labels.len() > 1;
    if several(a) && several(b) && !a.labels.iter().any(|label| b.labels.contains(label)) {
        obstacles.push(Incomparable::Labels);
    }
    if let (Some(base), Some(other)) = (&a.run.target, &b.run.target)
        && base != other
    {
        let (base, other) = (base.clone(), other.clone());
        differs.push(Difference { what: "target".into(), base, other });
    }
    // The arrivals of a log do not depend on the seed.
    let plans = recorded.map(|one| one.and_then(|recorded| recorded.plan.as_ref()));
    let logged = plans.iter().all(|plan| plan.is_some_and(|plan| plan.trace().is_some()));
    let seeds = logged || a.run.seed.is_some() && a.run.seed == b.run.seed;
    let planned = plans.iter().all(Option::is_some);
    let same_arrivals = seeds && planned && same_plan && a.run.source == b.run.source;
    Found { obstacles, differs, same_arrivals, same_records }
}

/// In what the specifications of two runs differ; the seed and the target do not count.
pub fn differences(base: &Recorded, other: &Recorded) -> Vec<Difference> {
    let asked = [base.asked.as_ref(), other.asked.as_ref()];
    let steps = asked.map(|asked| asked.map_or(&[][..], |asked| &asked.steps));
    let mut all: Vec<Difference> = match (&base.plan, &other.plan) {
        (Some(a), Some(b)) => of_plans([a, b], steps),
        _ => match asked {
            [Some(a), Some(b)] => of_summaries([a, b]),
            _ => Vec::new(),
        },
    };
    let [Some(a), Some(b)] = asked else { return all };
    all.extend(of_patience(a, b));
    let mut differ = |what: &str, both: [String; 2]| {
        let [base, other] = both;
        if base != other {
            all.push(Difference { what: clear(what), base: clear(&base), other: clear(&other) });
        }
    };
    let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "as the target prefers".into());
    differ("HTTP", [word(&a.http), word(&b.http)]);
    let proxy = |asked: &PlanSummary| asked.proxy.as_deref().unwrap_or("none").to_owned();
    differ("proxy", [proxy(a), proxy(b)]);
    if let (Some(x), Some(y)) = (a.warmup_s, b.warmup_s)
        && (base.plan.is_none() || other.plan.is_none())
    {
        differ("warm-up", [chosen_time(x), chosen_time(y)]);
    }
    // A cap that neither reached changed nothing.
    if base.held || other.held {
        let cap = |n: Option<u64>| n.map_or("no cap".to_owned(), |n| format!("at most {}", count(n)));
        differ("connections", [cap(a.connections), cap(b.connections)]);
    }
    all.dedup_by(|x, y| x.what == y.what);
    all
}

/// Notes that only one has, or that differ.
pub(crate) fn of_notes(a: &Notes, b: &Notes) -> Vec<Difference> {
    let keys: BTreeSet<&Cleared> = a.keys().chain(b.keys()).collect();
    let of = |one: &Notes, key: &Cleared| one.get(key).map_or_else(|| "none".into(), Cleared::clone);
    let all =
        keys.into_iter().map(|key| Difference { what: key.clone(), base: of(a, key), other: of(b, key) });
    all.filter(|difference| difference.base != difference.other).collect()
}
