//! Plays one trial, on either backend: its plan, the play that ends when the trial is decided, and what it came to.

use super::judge::{Asked, Judge, Watch};
use crate::recompute::{Told, recompute};
use crate::simulate::Play;
use crate::{Backend, Control, Error, Keep, Manifest, Place, RunSpec, plan_summary};
use headway_base::{Nanos, Outcome, Phase, Profile, Rate, RecordSink};
use headway_sim::{Network, lindley};
use headway_stats::Summary;
use headway_stats::metric::Metric;
use headway_stats::search::{
    Decision, Ended, Moved, Percentile, RateOf, Share, Side, StoppedBy, Trial, TrialEnd, TrialRow, length,
};
use headway_stats::summary::{
    Ends, Failure, LimitedBy, LoadVerdict, ThresholdOutcome, ThresholdResult, percentile_key,
};
use headway_workload::plan::{Group, Source};
use headway_workload::redact::clear;
use headway_workload::users::{Level, UserPhase};
use headway_workload::{Plan, Shard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Requests that the warm-up of each trial's plan has at least: connections are opened in it. The trial leaves out more.
const WARM_UP_REQUESTS: f64 = 50.0;
/// Bounds of the length of that warm-up, in seconds.
const WARM_UP: [f64; 2] = [0.5, 10.0];
/// Users come over the first half of a warm-up of so many mean rounds of thinking, so that they are spread over their rounds when it ends.
const ROUNDS: f64 = 2.0;
/// Bounds of its length.
const WARM_UP_OF_USERS: [f64; 2] = [0.5, 60.0];

/// What the rate of a plan counts.
///
/// # Errors
/// Neither do users of all groups arrive, nor are those of all closed.
pub fn rate_of_what(plan: &Plan) -> Result<RateOf, Error> {
    let closed = |group: &Group| matches!(group.source, Source::Users { requests: None, .. });
    match () {
        () if plan.groups.iter().all(closed) => Ok(RateOf::Users),
        () if plan.groups.iter().any(|group| matches!(group.source, Source::Trace(_))) => {
            Err(Error::usage(anyhow::anyhow!(
                "a search changes the rate at which users arrive, and a log has its own: write a process, such as poisson"
            )))
        }
        () if !plan.groups.iter().all(Group::arrives) => Err(Error::usage(anyhow::anyhow!(
            "a search changes the rate at which users arrive, or the number of closed users, and this scenario has groups of other kinds or of \
             both: write `arrive:` for every group, or `closed:`"
        ))),
        () if requests_per_arrival(plan) > 1.0 => Ok(RateOf::Sessions),
        () => Ok(RateOf::Requests),
    }
}

/// That plan at a rate of arrivals in all, or with so many closed users (a whole number), held from the beginning; groups keep their shares.
///
/// # Errors
/// See [`rate_of_what`].
pub fn at_rate(plan: &Plan, rate: f64, seed: u64, length: Nanos) -> Result<Plan, Error> {
    let users = rate_of_what(plan)? == RateOf::Users;
    let rates: Vec<f64> = plan.groups.iter().map(peak).collect();
    let all: f64 = rates.iter().sum();
    let own = |own: &f64| rate * if all > 0.0 { own / all } else { 1.0 / rates.len() as f64 };
    let own: Vec<f64> = rates.iter().map(own).collect();
    let own = if users { whole(&own) } else { own };
    let measured_from = if users { warm_up_of_users(plan) } else { warm_up(rate) };
    let mut plan = Plan { seed, measured_from, end: length, ..plan.clone() };
    for (group, own) in plan.groups.iter_mut().zip(own) {
        match &mut group.source {
            Source::Arrivals { profile, .. } => {
                *profile = Arc::new(Profile::new(&[Phase::hold(length, Rate(own))]));
            }
            Source::Users { level, .. } => {
                let ramp = Nanos(measured_from.0 / 2);
                let phase = |length, from_users| UserPhase { length, from_users, to_users: own };
                *level = Arc::new(Level::new(&[phase(ramp, 0.0), phase(length - ramp, own)]));
            }
            _ => {}
        }
    }
    Ok(plan)
}

/// Whole numbers with the same sum, which is one: the largest remainders are rounded up.
pub(super) fn whole(parts: &[f64]) -> Vec<f64> {
    let mut all: Vec<f64> = parts.iter().map(|part| part.floor()).collect();
    let missing = (parts.iter().sum::<f64>() - all.iter().sum::<f64>()).round() as usize;
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| parts[b].fract().total_cmp(&parts[a].fract()));
    order.into_iter().take(missing).for_each(|i| all[i] += 1.0);
    all
}

/// The most requests per second that a plan has at that rate: of closed users without the time that they wait for responses.
pub fn most_per_second(plan: &Plan, rate: f64) -> f64 {
    let per_round = requests_per_arrival(plan);
    if rate_of_what(plan).is_ok_and(|of| of == RateOf::Users) {
        rate * per_round / round_s(plan)
    } else {
        rate * per_round
    }
}

/// The shortest mean round of any group's users, in seconds: the time for which they think, or their pace.
fn round_s(plan: &Plan) -> f64 {
    let of = |group: &Group| {
        group.journey.mean_think_s().max(group.pace.as_ref().map_or(0.0, headway_base::dist::Law::mean))
    };
    plan.groups.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// The warm-up of closed users.
fn warm_up_of_users(plan: &Plan) -> Nanos {
    let [least, most] = WARM_UP_OF_USERS;
    Nanos::from_secs_f64((ROUNDS * round_s(plan)).clamp(least, most))
}

/// The rate of a plan that [`at_rate`] made.
fn rate_of(plan: &Plan) -> f64 {
    plan.groups.iter().map(peak).sum()
}

/// The highest rate at which users of that group arrive, or most closed ones.
pub(super) fn peak(group: &Group) -> f64 {
    match &group.source {
        Source::Arrivals { profile, .. } => {
            profile.phases().map(|phase| phase.from.0.max(phase.to.0)).fold(0.0, f64::max)
        }
        Source::Users { level, .. } => f64::from(level.most()),
        _ => 0.0,
    }
}

/// The warm-up of a plan.
fn warm_up(rate: f64) -> Nanos {
    Nanos::from_secs_f64((WARM_UP_REQUESTS / rate).clamp(WARM_UP[0], WARM_UP[1]))
}

/// Mean number of requests of an arrival.
pub fn requests_per_arrival(plan: &Plan) -> f64 {
    let asks = plan.groups.iter().map(|group| group.journey.mean_asks());
    asks.sum::<f64>() / plan.groups.len() as f64
}

/// A trial of a model in virtual time, without statistics of its own.
#[derive(Debug)]
pub struct InVirtualTime {
    /// What it came to.
    pub trial: Trial,
    /// Requests that were sent.
    pub requests: u64,
    /// The last instant at which a request was due that was looked at.
    pub reached: Nanos,
}

/// Plays a trial in virtual time at full speed: by recursion where that can be had. `control` ends it in the middle.
///
/// # Errors
/// A model that cannot be.
pub fn in_virtual_time(
    play: &Play,
    asked: &[Asked],
    trial: &Trial,
    control: &Control,
) -> anyhow::Result<InVirtualTime> {
    let new = || Judge::new(trial.clone(), asked, play.plan.measured_from, true).stopped_by(control);
    let judge = in_virtual_time_with(play, new)?;
    Ok(InVirtualTime { requests: judge.started(), reached: judge.reached(), trial: judge.trial().clone() })
}

/// Plays it into a sink, by recursion where that can be had; `new` makes one, and another where the recursion ends early.
///
/// # Errors
/// A model that cannot be.
pub fn in_virtual_time_with<S: RecordSink>(play: &Play, new: impl Fn() -> S) -> anyhow::Result<S> {
    let Play { plan, limits, model, .. } = play;
    let generator = play.generator()?;
    let mut sink = new();
    let suits = generator.is_ideal() && plan.shard == Shard::WHOLE && lindley::supports(plan, model);
    let played = suits.then(|| lindley::play(plan, model, *limits, &mut sink));
    if !matches!(played, Some(Ok(_))) {
        sink = new();
        let mut network = Network::new(model, plan)?;
        play.play_to(&mut network, generator, &mut sink);
    }
    Ok(sink)
}

/// How long after the end of the budget responses are still waited for.
const AFTER: Duration = Duration::from_secs(1);
/// Of more requests that were due until then, those that were not sent take long to write down: that is waited for.
const MOST_CUT: f64 = 500_000.0;
/// Seconds by which a plan is longer than the trial, and requests: it ends when the trial does.
const LONGER: f64 = 1.0;
const REQUESTS: f64 = 30.0;

/// What each trial is played with.
pub struct Trials<'a> {
    /// A run of the scenario.
    pub base: &'a RunSpec,
    /// What plays it.
    pub backend: &'a Backend,
    /// What is asked of it.
    pub asked: &'a [Asked],
    /// Where the run folders go; none: nothing is kept.
    pub folder: Option<&'a Path>,
    /// Stops the search.
    pub control: &'a Control,
    /// Whether an earlier trial has reached the target.
    pub reached: bool,
}

impl Trials<'_> {
    /// Plays a trial at that rate, with so much of the budget left; its run folder is called `name`. `told` is called once a second of a live one.
    ///
    /// # Errors
    /// What keeps it from taking place.
    pub fn play(
        &self,
        name: &str,
        rate: f64,
        seed: u64,
        left: Nanos,
        told: &mut (dyn FnMut(bool) + Send),
    ) -> Result<TrialRow, Error> {
        let criteria: Vec<_> = self.asked.iter().map(|asked| asked.criterion).collect();
        let offered = most_per_second(&self.base.plan, rate);
        let length = length(&criteria, offered);
        let after = Nanos::from_secs_f64(1.2 * length.as_secs_f64() + LONGER + REQUESTS / offered);
        let warm_up = at_rate(&self.base.plan, rate, seed, left)?.measured_from;
        let longest = left.min(warm_up + after);
        let plan = at_rate(&self.base.plan, rate, seed, longest)?;
        // No more than its users wait in a closed load, whatever the target does: there the backlog says nothing.
        let users = rate_of_what(&plan)? == RateOf::Users;
        let per_second = if users { f64::INFINITY } else { rate * requests_per_arrival(&plan) };
        let trial = Trial::new(&criteria, per_second, length);
        let folder = self.folder.map(|folder| folder.join(name));
        match self.backend {
            Backend::Live(_) => self.live(plan, trial, folder, left, told),
            Backend::Sim(sim) => {
                let play = sim.of(plan.clone(), self.base.limits);
                let seen = in_virtual_time(&play, self.asked, &trial, self.control).map_err(Error::usage)?;
                // What was seen is played once more, to that end, for its report.
                let end = if seen.trial.decided().is_some() { seen.reached + Nanos(1) } else { longest };
                let plan =
                    at_rate(&self.base.plan, rate, seed, end.max(plan.measured_from + Nanos::from_secs(1)))?;
                let spec = self.spec(plan, folder, false);
                let result = self.backend.play(&spec, self.control, &mut [])?;
                let interrupted = result.interrupted;
                let folder = result.folder.map(|folder| folder.path().display().to_string());
                let row = self.ended(&spec, &seen.trial, &result.summary, folder, seen.requests, interrupted);
                // The report of one that was interrupted is not whole.
                Ok(TrialRow { cut_off: row.cut_off || interrupted, ..row })
            }
        }
    }

    /// Plays a short run at that rate, measured for `each` and judged as any run; its folder is called `name`.
    ///
    /// # Errors
    /// What keeps it from taking place.
    pub fn point(&self, name: &str, rate: f64, seed: u64, each: Nanos) -> Result<TrialRow, Error> {
        let warm_up = at_rate(&self.base.plan, rate, seed, each)?.measured_from;
        let plan = at_rate(&self.base.plan, rate, seed, warm_up + each)?;
        let spec = self.spec(plan, self.folder.map(|folder| folder.join(name)), true);
        let begun = Instant::now();
        let result = self.backend.play(&spec, self.control, &mut [])?;
        let took_s = begun.elapsed().as_secs_f64();
        let folder = result.folder.map(|folder| folder.path().display().to_string());
        let summary = &result.summary;
        let unsent = summary.outcomes.get(Outcome::Unsent.name()).copied().unwrap_or(0);
        let requests = summary.outcomes.values().sum::<u64>() - unsent;
        let row = TrialRow { took_s, ..row(&spec, summary, folder, requests) };
        if summary.is_unreachable() || is_gone(summary) {
            return Ok(TrialRow { ended: TrialEnd::Unreachable, cut_off: true, ..row });
        }
        if result.interrupted {
            return Ok(TrialRow { cut_off: true, stopped_by: Some(StoppedBy::Interrupt), ..row });
        }
        let (ended, threshold) = judged(summary);
        Ok(TrialRow { ended, threshold, ..row })
    }

    fn spec(&self, plan: Plan, folder: Option<PathBuf>, log: bool) -> RunSpec {
        let (from, end) = (plan.measured_from.as_secs_f64(), plan.end().as_secs_f64());
        let shown = headway_stats::summary::PlanSummary {
            duration_s: Some(end - from),
            warmup_s: Some(from),
            time_scale_s: self.base.shown.time_scale_s,
            tolerated_unsent: self.base.shown.tolerated_unsent,
            notes: self.base.shown.notes.clone(),
            overridden: self.base.shown.overridden.clone(),
            ..plan_summary(&plan)
        };
        RunSpec {
            plan,
            shown,
            keep: folder.map(|folder| Keep { place: Place::Folder(folder), log }),
            ..self.base.clone()
        }
    }

    fn live(
        &self,
        plan: Plan,
        trial: Trial,
        folder: Option<PathBuf>,
        left: Nanos,
        told: &mut (dyn FnMut(bool) + Send),
    ) -> Result<TrialRow, Error> {
        let control = Control::default();
        let judge = Judge::new(trial, self.asked, plan.measured_from, self.reached);
        let spec = self.spec(plan, folder, true);
        let begun = Instant::now();
        let left_s = left.max(Nanos::ZERO).as_secs_f64();
        let few = most_per_second(&spec.plan, rate_of(&spec.plan)) * left_s <= MOST_CUT;
        let until = few.then(|| begun + Duration::from_secs_f64(left_s) + AFTER);
        let mut watch = Watch { judge, control: control.clone(), search: self.control, told, until };
        let result = self.backend.play(&spec, &control, &mut [&mut watch])?;
        let took = begun.elapsed();
        let judge = watch.judge;
        let mut summary = result.summary;
        let never = !self.reached && (judge.is_unreachable() || summary.is_unreachable());
        let unreachable = never || judge.is_gone() || is_gone(&summary);
        let folder = result.folder.map(|folder| folder.path().to_owned());
        if let Some(folder) = folder.as_ref().filter(|_| judge.trial().decided().is_some()) {
            // The run was planned for longer: its numbers are computed again as of one that ends where the trial did.
            let mut manifest = Manifest::read(&folder.join(headway_records::folder::PLAN))?;
            manifest.plan =
                at_rate(&self.base.plan, rate_of(&spec.plan), spec.plan.seed, judge.reached())?.document();
            let told = Told {
                generator: summary.generator.clone(),
                reasons: vec![summary.failure_reasons.clone()],
                ..Told::default()
            };
            let records = folder.join(headway_records::folder::RECORDS);
            let again = recompute(&records, manifest, spec.thresholds.clone(), told)?;
            let outcomes = std::mem::take(&mut summary.outcomes);
            summary = Summary { outcomes, ..again };
        }
        let folder = folder.map(|folder| folder.display().to_string());
        let stopped = self.control.asked() > 0;
        let mut row = self.ended(&spec, judge.trial(), &summary, folder, judge.started(), stopped);
        row.took_s = took.as_secs_f64();
        if unreachable {
            row = TrialRow {
                ended: TrialEnd::Unreachable,
                cut_off: true,
                stopped_by: None,
                threshold: None,
                block: None,
                pace: None,
                ..row
            };
        }
        Ok(row)
    }

    fn ended(
        &self,
        spec: &RunSpec,
        trial: &Trial,
        summary: &Summary,
        folder: Option<String>,
        requests: u64,
        stopped: bool,
    ) -> TrialRow {
        let moved = moved(summary);
        let ended = conclude(trial, summary, moved.as_deref(), stopped);
        let counts = !matches!(ended, Ended::NotSent | Ended::Nothing);
        let evidence = trial.evidence();
        let share = |(evidence, asked): (&Option<headway_stats::search::Evidence>, &Asked)| {
            let evidence = evidence.unwrap_or_default();
            let value = if evidence.n > 0 { evidence.share() } else { 0.0 };
            Share { value, limit: asked.criterion.share, n: evidence.n, effective: evidence.effective }
        };
        let at = |exact: usize| {
            let counts = matches!(ended, Ended::Decided(_) | Ended::HeldBack);
            let sides: Vec<Option<Side>> =
                (0..self.asked.len()).map(|which| trial.side_at(which, exact)).collect();
            match () {
                () if !counts => None,
                // The generator may have moved responses across a limit that its rules do not speak of.
                () if moved.iter().flatten().any(Option::is_some) => None,
                () if sides.contains(&Some(Side::Above)) => Some(false),
                () if sides.iter().all(|side| *side == Some(Side::Below)) => Some(true),
                () => None,
            }
        };
        TrialRow {
            ended: ended.into(),
            // Only the budget, an interrupt or a target that cannot be reached ends a trial before it is decided.
            cut_off: trial.decided().is_none(),
            stopped_by: match trial.decided() {
                None if stopped => Some(StoppedBy::Interrupt),
                None => Some(StoppedBy::Budget),
                Some(_) => None,
            },
            threshold: match ended {
                Ended::Decided(Decision::Fails { criterion }) => Some(criterion),
                _ => None,
            },
            block: trial.block(moved.as_deref().unwrap_or_default()).filter(|_| counts),
            // Its own delays are no drift of the target.
            pace: trial.pace().filter(|_| counts && summary.vouch().load != Some(LoadVerdict::Invalid)),
            shares: evidence.iter().zip(self.asked).map(share).collect(),
            other_limits: [at(0), at(2)],
            ..row(spec, summary, folder, requests)
        }
    }
}

/// What the summary of a run tells of it; nothing yet of what it came to.
fn row(spec: &RunSpec, summary: &Summary, folder: Option<String>, requests: u64) -> TrialRow {
    let of = |outcome: Outcome| summary.outcomes.get(outcome.name()).copied().unwrap_or(0);
    let unfinished = of(Outcome::Unfinished) + of(Outcome::Cancelled);
    // What was not sent, or not waited for, is no failure of the target.
    let all = summary.outcomes.values().sum::<u64>() - OWN.map(of).iter().sum::<u64>();
    let failed = all - of(Outcome::Ok);
    let busy = |generator: &headway_stats::summary::Generator| {
        let shares =
            generator.workers.iter().map(|w| w.handling / (w.handling + w.polling + w.sleeping).max(1e-9));
        shares.reduce(f64::max)
    };
    TrialRow {
        rate: rate_of(&spec.plan),
        seed: spec.plan.seed,
        requests,
        took_s: summary.series.last().map_or(0.0, |row| row.to_s),
        drained: unfinished == 0,
        verdict: summary.verdict.load,
        offered: summary.rate.offered,
        sent: summary.rate.started,
        goodput: summary.rate.goodput,
        response: percentiles(summary),
        failed: (all > 0).then(|| failed as f64 / all as f64),
        failed_by: most_failed(summary),
        generator_busy: summary.generator.as_ref().and_then(busy),
        folder: folder.as_deref().map(clear),
        ..TrialRow::default()
    }
}

/// What the thresholds of a whole run come to, and which is crossed.
fn judged(summary: &Summary) -> (TrialEnd, Option<usize>) {
    let all = &summary.thresholds;
    let crossed = all.iter().position(|threshold| threshold.outcome == ThresholdOutcome::Crossed);
    let passed = all.iter().all(|threshold| threshold.outcome == ThresholdOutcome::Passed);
    match () {
        () if crossed.is_some() => (TrialEnd::Fails, crossed),
        () if passed && !all.is_empty() => (TrialEnd::Holds, None),
        () if summary.verdict.load == Some(LoadVerdict::Invalid) => (TrialEnd::NotSent, None),
        () => (TrialEnd::Played, None),
    }
}

/// Share of refused connections beyond which nobody listens any more: one that is overloaded lets connections wait.
const GONE: f64 = 0.9;

/// How requests end that the generator did not send, or did not wait for.
const OWN: [Outcome; 2] = [Outcome::Unsent, Outcome::Cancelled];

/// How most requests failed; of one that ended in its warm-up, the reasons of the whole run tell.
fn most_failed(summary: &Summary) -> Option<Failure> {
    let targets = |outcome: &str| OWN.iter().all(|own| own.name() != outcome);
    let kinds = summary.failures.iter().filter(|kind| targets(&kind.outcome));
    let kind = kinds.max_by_key(|kind| kind.n).cloned();
    let reason = || {
        let rows = summary.failure_reasons.rows.iter().filter(|row| targets(&row.outcome));
        let most = rows.max_by_key(|row| row.n)?;
        Some(Failure { outcome: most.outcome.clone(), status: most.status, step: None, n: most.n })
    };
    kind.or_else(reason)
}

/// Whether the target is gone.
fn is_gone(summary: &Summary) -> bool {
    let all: u64 = summary.outcomes.values().sum();
    let refused = summary.outcomes.get(Outcome::Refused.name()).copied().unwrap_or(0);
    all > 0 && refused as f64 > GONE * all as f64
}

/// By how much the generator may have moved the number of each threshold: this is the one place that asks. None where that is not known, or more
/// was not sent than the load rules tolerate: then nothing follows of the target.
fn moved(summary: &Summary) -> Option<Vec<Moved>> {
    let vouch = summary.vouch();
    let of = |threshold: &ThresholdResult| match (threshold.ends, threshold.value) {
        (Some(Ends { low, high: Some(high) }), Some(value)) => {
            let by = [(low - value).min(0.0), (high - value).max(0.0)];
            Some(Some(by).filter(|by| *by != [0.0; 2]))
        }
        (Some(Ends { high: None, .. }), Some(_)) => None,
        _ => vouch.is_valid().then_some(None),
    };
    summary.thresholds.iter().map(of).collect()
}

/// What a trial comes to, given by how much the generator may have moved its numbers.
fn conclude(trial: &Trial, summary: &Summary, moved: Option<&[Moved]>, stopped: bool) -> Ended {
    let limited = summary.verdict.limited_by.as_ref().is_some_and(LimitedBy::matters);
    // One that was cut off may have shown something all the same.
    let decided = trial.decided().or_else(|| trial.shown().filter(|_| !limited || stopped));
    let own = summary.vouch().load == Some(LoadVerdict::Invalid);
    match (moved, decided) {
        // What the cap kept is no fault of the generator's.
        (None, _) | (_, None) if limited && !own && !stopped => Ended::HeldBack,
        (None, _) => Ended::NotSent,
        (_, None) => Ended::Nothing,
        // Beyond the limit as it was measured, and not without the generator's delays: the counts tell how far.
        (_, Some(Decision::Fails { criterion })) if is_open(summary, criterion) => {
            Ended::Decided(Decision::Enough)
        }
        (_, Some(Decision::Backlog))
            if (0..summary.thresholds.len()).any(|which| is_open(summary, which)) =>
        {
            Ended::Decided(Decision::Enough)
        }
        (_, Some(decision)) => Ended::Decided(decision),
    }
}

/// Whether the generator's own delays may decide on which side of its limit the number of a threshold lies.
fn is_open(summary: &Summary, which: usize) -> bool {
    let Some(threshold) = summary.thresholds.get(which) else { return false };
    threshold
        .ends
        .map(Ends::range)
        .is_some_and(|[low, high]| low <= threshold.limit && threshold.limit < high)
}

fn percentiles(summary: &Summary) -> Vec<Percentile> {
    let response = &summary.response;
    let of = |percent: f64| {
        let found = response.percentile(percent)?;
        let lower_bound = response.lower_bound.contains_key(&percentile_key(percent));
        Some(Percentile { percent, value: found.value?, ci95: found.ci95, lower_bound })
    };
    let mut all: Vec<Percentile> = [50.0, 90.0, 95.0, 99.0, 99.9].into_iter().filter_map(of).collect();
    // Another one that was asked for is known by its threshold alone.
    for threshold in &summary.thresholds {
        let percent = threshold.aggregate.strip_prefix("p(").and_then(|text| text.strip_suffix(')'));
        let percent = percent.and_then(|text| text.parse().ok());
        let whole = threshold.step.is_none() && threshold.metric == Metric::RESPONSE.name;
        if let (Some(percent), Some(value), true) = (percent, threshold.value, whole)
            && all.iter().all(|of| of.percent != percent)
        {
            let (ci95, lower_bound) = (threshold.interval, threshold.lower_bound);
            all.push(Percentile { percent, value, ci95, lower_bound });
        }
    }
    all.sort_by(|a, b| a.percent.total_cmp(&b.percent));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::search::{Criterion, Seen};

    /// A trial of one threshold of 60 ms, a tenth of whose responses took 80 ms; it has lasted its length.
    fn trial() -> Trial {
        let criterion = Criterion { limit: Some(Nanos::from_millis(60)), share: 0.01 };
        let mut trial = Trial::new(&[criterion], 500.0, Nanos::from_secs(6));
        (0..4_000i64).for_each(|k| {
            let time = Nanos::from_millis(if k * 7_919 % 10 == 0 { 80 } else { 40 });
            trial.take(Nanos::from_millis(2 * k), |_| Some(Seen { time, failed: false }));
        });
        trial
    }

    /// A late load whose p99 of 80 ms lies between these without and with what the generator did.
    fn late(ends: Option<Ends>) -> Summary {
        let threshold =
            ThresholdResult { limit: 0.06, value: Some(0.08), ends, ..ThresholdResult::default() };
        let mut summary = Summary { thresholds: vec![threshold], ..Summary::default() };
        summary.verdict.load = Some(LoadVerdict::Invalid);
        summary
    }

    fn ended(ends: Option<Ends>) -> (Ended, Option<Vec<Moved>>) {
        let (trial, summary) = (trial(), late(ends));
        let moved = moved(&summary);
        (conclude(&trial, &summary, moved.as_deref(), false), moved)
    }

    #[test]
    fn a_late_load_counts_where_both_ends_of_its_number_are_known() {
        assert!(matches!(trial().decided(), Some(Decision::Fails { .. })), "{:?}", trial().decided());
        let (beyond, moved) = ended(Some(Ends { low: 0.075, high: Some(0.08) }));
        assert_eq!(beyond, Ended::Decided(Decision::Fails { criterion: 0 }));
        let by = moved.unwrap()[0].unwrap();
        assert!((by[0] + 0.005).abs() < 1e-9 && by[1] == 0.0, "{by:?}");
        // The generator may have moved it across the limit: the trial fails no more, and its counts tell how far.
        let (open, moved) = ended(Some(Ends { low: 0.05, high: Some(0.08) }));
        assert_eq!(open, Ended::Decided(Decision::Enough));
        let block = trial().block(&moved.unwrap()).unwrap();
        let [low, high] = block.ends.unwrap();
        assert!(low < 0.5 * high && high == block.events, "{block:?}");
        // Too much was not sent, or nothing bounds what the generator did.
        assert_eq!(ended(Some(Ends { low: 0.075, high: None })), (Ended::NotSent, None));
        assert_eq!(ended(None), (Ended::NotSent, None));
        // Of a load that is as planned nothing was moved.
        let mut valid = late(None);
        valid.verdict.load = Some(LoadVerdict::Valid);
        assert_eq!(super::moved(&valid), Some(vec![None]));
    }
}
