//! What the load of a scenario is: its plan, in words and in numbers.

use super::scenario::File;
use super::shard;
use crate::args::LoadArgs;
use crate::repeat;
use crate::repeat::Typed;
use anyhow::{Result, bail};
use headway_base::{Lateness, Nanos};
use headway_engine::plan_words::{Lengths, headline, lengths, of_logs, requests_of_work};
use headway_engine::{RunSpec, plan_summary};
use headway_report::format::time;
use headway_stats::summary::PlanSummary;
use headway_workload::plan::{Group, Source};
use headway_workload::redact::Cleared;
use headway_workload::scenario::{Override, Scenario};
use headway_workload::{Plan, Process, Shard};

/// The load, resolved.
#[derive(Clone, Debug)]
pub struct Load {
    /// The plan: when each group of users sends what.
    pub plan: Plan,
    /// What it is, in words: `50/s for 10s, poisson`.
    pub headline: String,
    /// The variables of the environment that named its shard, if they did: `JOB_COMPLETION_INDEX=3, SHARDS=8`.
    pub shard_by: Option<String>,
    /// The number of requests of work, or for which the hold lasts.
    pub requests: Option<u64>,
    /// Flags that were left at their defaults.
    pub assumed: Vec<String>,
    /// Flags that take the place of values of a file, secrets replaced.
    pub overridden: Vec<Cleared>,
    /// Whether a rate and a connection cap are given, so that it has to be said what the rate is of.
    pub in_total: bool,
    /// Lengths of ramp, warm-up and hold, where the load is these.
    pub lengths: Option<Lengths>,
    /// The longest lateness that is forgiven, where the user set one.
    pub lateness: Option<Lateness>,
    /// By how much the generator's own delays may move a number.
    pub effect: Option<f64>,
    /// Share of the plan that may stay unsent, where the user set one.
    pub unsent: Option<f64>,
}

impl Load {
    /// Resolves the load of a scenario with `-n` and `--shard` applied; returns the scenario as it then is.
    ///
    /// # Errors
    /// A shard without a seed, one that the environment does not name, or a number of requests that the scenario cannot have; in words for the user.
    pub(super) fn resolve(file: &mut File, args: &LoadArgs) -> Result<(Load, Scenario)> {
        let mut scenario = file.scenario(&[])?;
        let (shard, shard_by) = shard::asked(args.shard, scenario.seed)?;
        let seed = scenario.seed.unwrap_or_else(super::new_seed);
        let mut requests = None;
        if let Some(n) = &args.requests {
            let arrives = scenario.groups.iter().any(Group::arrives);
            let said = match arrives {
                true => hold_for(n.value, file, &scenario, seed, args.duration.as_ref().map(|d| d.value))?,
                false => vec![Override::flag("-n", "requests", &n.text)],
            };
            requests = arrives.then_some(n.value);
            file.push(said);
            scenario = file.scenario(&[])?;
        }
        let load =
            Load { overridden: file.overridden(&scenario), ..Load::of(&scenario, seed, shard, requests) };
        Ok((Load { assumed: file.assumed().to_vec(), shard_by, ..load }, scenario))
    }

    /// The load of a scenario with that seed; `requests` is how many its hold lasts for, if that was asked for.
    pub(super) fn of(scenario: &Scenario, seed: u64, shard: Shard, requests: Option<u64>) -> Load {
        let plan = scenario.plan(seed, shard);
        let lengths = lengths(&plan);
        Load {
            headline: headline(&plan, lengths, requests),
            shard_by: None,
            requests: requests.or_else(|| requests_of_work(&plan)),
            assumed: Vec::new(),
            overridden: Vec::new(),
            lateness: scenario.settings.lateness,
            effect: scenario.settings.effect,
            unsent: scenario.settings.unsent,
            in_total: false,
            lengths,
            plan,
        }
    }

    /// Refuses a load of which no request is due while it is measured, by any shard.
    ///
    /// # Errors
    /// There is none: how many there are on average, and what would have some.
    pub(super) fn sends(&self) -> Result<()> {
        // Plans of more arrivals have some for certain.
        const MOST: f64 = 1e5;
        let (plan, from) = (&self.plan, self.plan.measured_from);
        let mut expected = 0.0;
        for (number, group) in plan.groups.iter().enumerate() {
            let Source::Arrivals { profile, .. } = &group.source else { return Ok(()) };
            if profile.total() > MOST
                || plan.sessions_of(number, Shard::WHOLE).any(|arrival| arrival.intended >= from)
            {
                return Ok(());
            }
            expected += profile.total() - profile.cumulative(from);
        }
        let longer = (plan.end() - from).as_secs_f64() / expected;
        let one = match longer.is_finite() {
            true => format!(" (one arrives in {} on average)", time(longer)),
            false => String::new(),
        };
        bail!(
            "{}: sends nothing: no request is due in the measured phase with seed {}; write a higher rate (-R) or a longer time (-d){one}",
            self.headline,
            plan.seed
        )
    }

    /// What the first line says of the part that this process plays: `, shard 3/8 (JOB_COMPLETION_INDEX=3, SHARDS=8)`.
    pub fn part(&self) -> String {
        match (self.plan.shard, &self.shard_by) {
            (shard, Some(by)) => format!(", shard {shard} ({by})"),
            (Shard::WHOLE, None) => String::new(),
            (shard, None) => format!(", shard {shard}"),
        }
    }

    /// What the first line says behind it: defaults that were taken, and what flags changed of the file.
    pub fn remarks(&self) -> String {
        let list = |lead: &str, items: String| match items.as_str() {
            "" => String::new(),
            some => format!(" ({lead} {some})"),
        };
        let total = if self.in_total { " (the rate is in total, over all connections)" } else { "" };
        let logs = of_logs(&self.plan).iter().map(|words| format!(" ({words})")).collect::<String>();
        total.to_owned()
            + &logs
            + &list("defaults:", self.assumed.join(", "))
            + &list("in place of the file's values:", self.overridden.join(", "))
    }

    /// A run of this load by that scenario, in memory only and without bounds of its own.
    pub(super) fn spec(&self, scenario: &Scenario, words: &Typed) -> RunSpec {
        RunSpec {
            command: repeat::command(
                &repeat::with_shard(&super::hidden(words, &scenario.redactor), self.plan.shard),
                self.plan.seed,
            ),
            shown: PlanSummary { redirects_expected: scenario.script.taking_redirects(), ..self.summary() },
            labels: scenario.labels.clone(),
            name: scenario.redactor.clear(&scenario.name),
            ..RunSpec::new(&scenario.name, self.plan.clone(), 1)
        }
    }

    /// The plan as the summary shows it, without what only a run knows.
    pub fn summary(&self) -> PlanSummary {
        let lengths = self.lengths;
        let seconds = |pick: fn(Lengths) -> Nanos| lengths.map(|l| pick(l).as_secs_f64());
        PlanSummary {
            requests: self.requests,
            duration_s: seconds(|l| l.hold),
            warmup_s: seconds(|l| l.warmup),
            ramp_s: seconds(|l| l.ramp),
            overridden: self.overridden.clone(),
            tolerated_unsent: self.unsent,
            tolerated_effect: self.effect,
            time_scale_s: self.lateness.map(|lateness| lateness.length().as_secs_f64()),
            ..plan_summary(&self.plan)
        }
    }
}

/// Most requests for which a hold can be made to last.
const MOST_REQUESTS: u64 = 1_000_000_000;

/// The flags that make the hold last for exactly `n` requests of the whole plan, or for a shorter time if that is given.
fn hold_for(
    n: u64,
    file: &File,
    scenario: &Scenario,
    seed: u64,
    most: Option<Nanos>,
) -> Result<Vec<Override>> {
    if scenario.groups.iter().any(|group| matches!(group.source, Source::Trace(_))) {
        bail!(
            "-n {n}: a log says when each arrives, and has no hold that could end after {n} requests: leave -n out"
        );
    }
    let [Group { source: Source::Arrivals { process, profile }, journey, .. }] = &scenario.groups[..] else {
        bail!(
            "-n {n} is for one group of users, and the scenario has several: write how long each comes, or how much work it does"
        );
    };
    // What redirects lead to comes on top.
    if journey.longest() != 1 {
        bail!("-n {n} counts requests, and the sessions of this scenario make several: write -d TIME");
    }
    if n == 0 {
        bail!("-n 0 asks for nothing: write a number from 1 up");
    }
    if n > MOST_REQUESTS {
        bail!("-n {n} is more than a billion: give -d TIME instead");
    }
    let rate = profile.phases().last().map_or(0.0, |phase| phase.to.0);
    if rate <= 0.0 {
        bail!("-n {n} needs a rate at the end of the phases: it is 0 there");
    }
    let said = |hold: Nanos| Override {
        lead: format!("-n {n}: -d "),
        ..Override::flag("-n", "duration", &hold.to_string())
    };
    let lasts = |hold: Nanos| Ok(file.scenario(&[said(hold)])?.plan(seed, Shard::WHOLE));
    let expected = n as f64 / rate;
    let hold = match process {
        Process::PoissonFixedN => Nanos::from_secs_f64(expected),
        _ => hold_of_requests(n, expected, rate, lasts)?,
    };
    let hold = most.map_or(hold, |most| most.min(hold));
    let seed = scenario.seed.is_none().then(|| Override::flag("--seed", "seed", &seed.to_string()));
    Ok(seed.into_iter().chain([said(hold)]).collect())
}

/// How long the hold must be for exactly `n` requests of the whole plan to be due in it; an error where none has exactly that many.
fn hold_of_requests(
    n: u64,
    expected: f64,
    rate: f64,
    lasts: impl Fn(Nanos) -> Result<Plan>,
) -> Result<Nanos> {
    // Far enough that the n-th arrival is within it; gaps may be bursty, hence the doubling.
    let mut reach = 1.5 * expected + 100.0 / rate;
    loop {
        let plan = lasts(Nanos::from_secs_f64(reach))?;
        let from = plan.measured_from;
        let mut due = plan.arrivals_of(Shard::WHOLE).filter(|a| a.intended >= from);
        if let Some(last) = due.nth(n as usize - 1) {
            if due.next().is_some_and(|next| next.intended == last.intended) {
                bail!(
                    "-n {n} ends within a batch: several requests are due at the instant of the last; write -d TIME"
                );
            }
            // Instants are rounded to the nanosecond, so the hold ends one after the last of them.
            return Ok(last.intended - from + Nanos(1));
        }
        reach *= 2.0;
    }
}
