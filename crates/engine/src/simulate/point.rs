//! A point of a study: its replications come in, in whatever order, and become numbers when it is known what is to be left
//! out of them.
//!
//! All replications are cut at one place, found in the average of the first twenty: a place of its own for each would
//! leave out a busy beginning and keep a calm one (see `headway_stats::steady::mser_of_runs`). Only those that end before these
//! twenty have are held.

use super::Play;
use super::course::OutputSeries;
use super::demands::{Runs, judged};
use super::estimates::{adds, curve, estimate, largest, of_shares, of_values};
use super::inside::Seen;
use super::loads::Loads;
use super::notes::{About, refused, remarks};
use super::period::Period;
use super::pooled::{Percentile, PooledSample};
use super::replication::{MAX, NUMBERS, Number, Numbers, OF_WELL, Replication, numbers, warm_up};
use super::steady_state::{SteadyEvidence, fastest, once, why_not};
use crate::analysis_setup;
use headway_stats::intervals::contributions;
use headway_stats::steady::{Cut, Length, Prefix};
use headway_stats::study::{Estimate, Point, WarmUp};
use headway_stats::summary::{Evidence, Finding, Infinite, NotComputed, Unsteady, Why};
use headway_stats::{Growth, Refusals, Threshold, Workload};
use headway_workload::redact::Cleared;
use std::collections::BTreeMap;

/// Replications in whose average the end of the warm-up is looked for.
const LOOKED_AT: u64 = 20;

/// How many times as long as for the interval of a percentile replications must last together for that of its difference from another model's: of
/// M/M/1 at 80 % and services 1 % longer that of p99 held in 84 % of studies of 10 x 30 relaxation times, 92 % of 20 x 50 and 95 % of 20 x 100.
const COMPARED: f64 = 5.0;

/// A point while its replications come in.
#[derive(Debug)]
pub struct PointBuilder {
    /// By number.
    replications: Vec<Option<(Replication, Option<Numbers>)>>,
    missing: u64,
    warm_up: WarmUp,
    /// What is planned to happen once, if anything; nothing is left out then.
    planned: Option<Unsteady>,
    /// What the model repeats, if it does.
    period: Option<Period>,
    /// What is left out of each, once that is known.
    cut: Option<Cut>,
    /// Those for which it is not known yet.
    waiting: Vec<(u64, OutputSeries)>,
    /// Of the ones that are looked at, how many are still to come.
    unseen: u64,
    together: PooledSample,
    loads: Loads,
    thresholds: Vec<Threshold>,
}

/// A point with its numbers run by run.
#[derive(Debug)]
pub struct PointResult {
    /// The point.
    pub point: Point,
    /// In the order of [`NUMBERS`], by replication; empty where one of them has none.
    pub values: [Vec<Number>; NUMBERS.len()],
    /// The same of the requests that ended well, in the order of [`OF_WELL`].
    pub well: [Vec<Number>; OF_WELL.len()],
    /// What leaves the mean response time without an interval, if anything does.
    pub no_mean: Option<Infinite>,
    /// By the names of percentiles, of all requests and of those that ended well: how many times as wide as the replications tell a difference's
    /// interval must be ([`headway_stats::steady::ByRuns::allowance`]).
    allowances: [BTreeMap<&'static str, f64>; 2],
    /// Percentiles for whose difference from another model's all replications together are too short.
    few_to_compare: Vec<&'static str>,
}

impl PointBuilder {
    /// None yet of so many, which are held to these thresholds.
    pub fn new(replications: u64, play: &Play, thresholds: &[Threshold]) -> PointBuilder {
        let warm_up = warm_up(&play.plan);
        let nothing = Cut::Found(Prefix { batches: 0, observations: 0, share: 0.0 });
        let planned = once(&play.plan, &play.model).filter(|_| warm_up != WarmUp::Nothing);
        PointBuilder {
            replications: (0..replications).map(|_| None).collect(),
            missing: replications,
            warm_up,
            cut: (warm_up == WarmUp::Phases || planned.is_some()).then_some(nothing),
            planned,
            period: Period::of(&play.plan, &play.model),
            waiting: Vec::new(),
            unseen: replications.min(LOOKED_AT),
            together: PooledSample::default(),
            loads: Loads::of(&play.plan, &play.model),
            thresholds: thresholds.to_vec(),
        }
    }

    /// Takes replication number `r`.
    pub fn take(&mut self, r: u64, replication: Replication, course: OutputSeries) {
        self.missing -= 1;
        self.replications[r as usize] = Some((replication, None));
        if r < LOOKED_AT {
            self.unseen -= 1;
        }
        self.waiting.push((r, course));
        if self.cut.is_none() && self.unseen == 0 {
            let looked_at = self.waiting.iter().filter(|(r, _)| *r < LOOKED_AT);
            self.cut = Some(match self.warm_up {
                WarmUp::Nothing => Cut::TooFew,
                _ => OutputSeries::cut_of(looked_at.map(|(_, course)| course), self.period),
            });
        }
        let Some(cut) = self.cut else { return };
        let n = self.replications.len() as u64;
        for (r, course) in self.waiting.drain(..) {
            let Some((run, own_numbers)) = &mut self.replications[r as usize] else { continue };
            if let Some((of, after, counted)) = numbers(&course, &cut, self.period, n, &self.thresholds, run)
            {
                self.together.take(r, n, &after, counted);
                *own_numbers = Some(of);
            }
        }
    }

    /// Whether all have come.
    pub fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// The point of these values, at which that was played.
    pub fn finish(self, values: &[Cleared], play: &Play) -> PointResult {
        let left_out = match self.cut {
            Some(Cut::Found(prefix)) => prefix.observations,
            _ => 0,
        };
        let all: Vec<(Replication, Option<Numbers>)> = self.replications.into_iter().flatten().collect();
        let runs = || all.iter().map(|(replication, _)| replication);
        let seen: Vec<&Seen> = runs().map(|r| &r.seen).collect();
        let busiest = self.loads.busiest().map(|(part, _)| part).or_else(|| most_used(&seen));
        let utilisation = |part: usize| seen.iter().filter_map(move |s| s.parts.get(part)?.utilisation);
        let numbers = || all.iter().filter_map(|(_, numbers)| numbers.as_ref());
        let by_number: [Vec<Number>; NUMBERS.len()] =
            std::array::from_fn(|i| numbers().map(|of| of.all[i]).collect());
        let well: [Vec<Number>; OF_WELL.len()] =
            std::array::from_fn(|i| numbers().filter_map(|of| Some(of.well?[i])).collect());
        let requests: Vec<u64> = numbers().map(|of| of.n).collect();
        let ended_well: Vec<u64> = numbers().filter(|of| of.well.is_some()).map(|of| of.n_well).collect();
        let over = |of: &[(&str, Option<f64>)], of_well: bool| -> Vec<Option<Percentile>> {
            let percentile = |p: f64| self.together.percentile(p, of_well);
            of.iter().map(|(_, p)| p.and_then(percentile)).collect()
        };
        let (mut percentiles, mut of_well) = (over(&NUMBERS, false), over(&OF_WELL, true));
        let lag1 = of_values(numbers().filter_map(|of| Some(of.lag1?.0)).collect());
        let segments = numbers().filter_map(|of| Some(of.lag1?.1)).min();
        let rate =
            |of: fn(&Replication) -> u64| of_values(runs().filter_map(|r| r.per_second(of(r))).collect());
        let (n, censored) =
            runs().fold((0, 0), |(n, censored), r| (n + r.counts.n, censored + r.counts.censored));
        let cut = self.cut.unwrap_or(Cut::TooFew);
        let cut_share = runs().map(|r| r.cut_share(left_out)).sum::<f64>() / all.len() as f64;
        let measured_s = (play.plan.end() - play.plan.measured_from).as_secs_f64();
        let kept_s = match self.warm_up {
            WarmUp::Mser => measured_s * (1.0 - cut_share),
            WarmUp::Phases | WarmUp::Nothing => measured_s,
        };
        let looked = SteadyEvidence {
            plan: &play.plan,
            model: &play.model,
            loads: &self.loads,
            n,
            censored,
            cut,
            kept_s,
            period: self.period.map(|period| period.length),
            lag1: lag1.zip(segments).map(|(lag1, segments)| (lag1.mean, segments)),
            growing: fastest((0..play.model.parts.len()).map(|part| growth(runs(), part))),
        };
        let grows = looked.growing.is_some();
        // Where what is too much is turned away, the rest may be steady.
        let speaks_against = match refused(&self.loads, &seen, grows) {
            Some(_) => why_not(&SteadyEvidence { loads: &Loads::default(), ..looked }),
            None => why_not(&looked),
        };
        let worth = match speaks_against {
            Some(_) => 0.0,
            None => self.loads.trusted_s.map_or(f64::INFINITY, |trusted| kept_s / trusted),
        };
        let is_judged = self.warm_up != WarmUp::Nothing && !matches!(cut, Cut::TooFew);
        let no_mean = self.loads.no_mean();
        let failures: Vec<(u64, u64)> = runs().map(Replication::failed).collect();
        // What the replications are worth together; several that are short as well as one that is long.
        // What begins and ends, and what is a beginning, is told of runs of that length.
        let of_this_length = self.planned.is_some()
            || play.plan.is_fixed_work()
            || matches!(speaks_against, Some(Unsteady::Beginning { .. }));
        let together = if of_this_length { f64::INFINITY } else { all.len() as f64 * kept_s };
        let short = |p: Option<f64>| -> Option<Why> {
            let several = all.len() > 1;
            let needed_s = self.loads.needed_together(p).filter(|needed| several && together < *needed)?;
            Some(Why::ShortRuns { length_s: together, needed_s })
        };
        let mut too_short = NotComputed::new();
        for (block, names, of) in
            [("response", &NUMBERS[..], &mut percentiles), ("response_ok", &OF_WELL[..], &mut of_well)]
        {
            for ((name, p), percentile) in names.iter().zip(of) {
                let Some((why, percentile)) = short(*p).filter(|_| p.is_some()).zip(percentile.as_mut())
                else {
                    continue;
                };
                if percentile.by_runs.take().is_some() {
                    too_short.insert(format!("{block}.{name}.ci95"), why.into());
                }
            }
        }
        let mut point = Point {
            not_computed: too_short,
            values: values.to_vec(),
            n,
            censored,
            response: estimates(&NUMBERS, &by_number, &requests, &percentiles, worth),
            response_ok: estimates(&OF_WELL, &well, &ended_well, &of_well, worth),
            offered: rate(|r| r.counts.n),
            goodput: rate(|r| r.counts.completed),
            failed: of_shares(&failures).unwrap_or_default(),
            utilisation: busiest.and_then(|part| of_values(utilisation(part).collect())),
            load: self.loads.busiest().map(|(_, load)| load),
            busiest: busiest.and_then(|part| Some(play.model.parts.get(part)?.name.clone())),
            found: is_judged.then_some(speaks_against.is_none()),
            why_not: speaks_against.map(Unsteady::into),
            steady: runs().filter(|r| r.steady == Some(true)).count() as u64,
            little_holds: seen.iter().filter(|seen| seen.little).count() as u64,
            cut_share,
            curve: curve(self.together.times()),
            ..Point::default()
        };
        if self.together.times().censored() > 0
            && let Some(mean) = point.response.get_mut("mean")
        {
            mean.lower_bound = true;
        }
        if no_mean.is_some_and(|(_, what)| what != Infinite::WaitVariance) {
            // Work has no variance either, and so its share of the time.
            point.utilisation = point.utilisation.map(|of| Estimate { ci95: None, ..of });
        }
        let too_skewed = (self.loads.skewed && runs().count() == 1).then_some(Why::TooSkewed);
        if let Some(why) =
            no_mean.map(|(_, what)| what.against_the_mean()).or(too_skewed).or_else(|| short(None))
        {
            for (block, of) in [("response", &mut point.response), ("response_ok", &mut point.response_ok)] {
                let Some(mean) = of.get_mut("mean") else { continue };
                mean.ci95 = None;
                point.not_computed.insert(format!("{block}.mean.ci95"), why.clone().into());
            }
        }
        let against = point.why_not.as_ref().map(|stated| &stated.why);
        let is_short = |p: Option<f64>| short(p).is_some();
        let planned = against.is_some() && against == self.planned.as_ref();
        let about = About {
            point: &point,
            loads: &self.loads,
            seen: &seen,
            grows,
            replications: all.len() as u64,
            unjudged: runs().filter(|r| r.steady.is_none()).count() as u64,
            planned,
            no_mean: no_mean.and_then(|(part, what)| Some((&play.model.parts.get(part)?.name, what))),
            warm_up: self.warm_up,
            cut,
            kept_s,
        };
        let remarks = remarks(&about);
        let refusals = refusals(play, runs(), &seen).into_iter().flat_map(|finding| finding.evidence);
        point.remarks = refusals.chain(remarks.into_iter().map(Evidence::from)).collect();
        // What begins and ends is the same in all replications, and no longer run would tell of it.
        let judged_as_it_is = play.plan.is_fixed_work() || (planned && all.len() > 1);
        point.thresholds = judged(
            &self.thresholds,
            &Runs {
                runs: &runs().collect::<Vec<_>>(),
                numbers: &numbers().collect::<Vec<_>>(),
                unsteady: point.why_not.clone().filter(|_| !judged_as_it_is),
                together: &self.together,
                short: &is_short,
                skewed: self.loads.skewed,
                no_mean: no_mean.map(|(_, what)| what),
            },
        );
        let runs = all.len();
        let whole =
            |name: &str, of: &Vec<Number>, n: &[u64], percentile: &Option<Percentile>| match percentile {
                _ if of.len() != runs => Vec::new(),
                Some(percentile) => percentile.as_numbers(of),
                None if name == MAX => of.clone(),
                None => adds(of, n),
            };
        let values: [Vec<Number>; NUMBERS.len()] =
            std::array::from_fn(|i| whole(NUMBERS[i].0, &by_number[i], &requests, &percentiles[i]));
        if runs > 1 {
            let of_times =
                NUMBERS.iter().zip(&values).filter(|((name, _), of)| *name != MAX && of.len() == runs);
            let of_times = of_times.map(|((name, _), of)| (*name, of.iter().map(|one| one.value).collect()));
            let rates: Vec<f64> = all.iter().filter_map(|(r, _)| r.per_second(r.counts.completed)).collect();
            let shares = failures.iter().map(|&(bad, n)| if n == 0 { 0.0 } else { bad as f64 / n as f64 });
            let weights: Vec<f64> = failures.iter().map(|&(_, n)| n as f64).collect();
            let failed = contributions(&shares.collect::<Vec<f64>>(), &weights);
            let others = [("rate", rates), ("failed", failed)].into_iter().filter(|(_, of)| of.len() == runs);
            point.by_replication = of_times.chain(others).map(|(name, of)| (name.to_owned(), of)).collect();
        }
        let allowed = |names: &[(&'static str, Option<f64>)], of: &[Option<Percentile>]| {
            let one = |((name, _), of): (&(&'static str, _), &Option<Percentile>)| {
                Some((*name, of.as_ref()?.by_runs.as_ref()?.allowance))
            };
            names.iter().zip(of).filter_map(one).collect()
        };
        let is_few =
            |p: f64| self.loads.needed_together(Some(p)).is_some_and(|needed| together < COMPARED * needed);
        let few = NUMBERS.iter().filter(|(_, p)| runs > 1 && p.is_some_and(is_few));
        let few_to_compare = few.map(|(name, _)| *name).collect();
        let allowances = [allowed(&NUMBERS, &percentiles), allowed(&OF_WELL, &of_well)];
        PointResult {
            point,
            values,
            allowances,
            few_to_compare,
            well: std::array::from_fn(|i| whole(OF_WELL[i].0, &well[i], &ended_well, &of_well[i])),
            no_mean: no_mean.map(|(_, what)| what),
        }
    }
}

impl PointResult {
    /// Whether the replications are too short for the interval of a difference in that number.
    pub fn is_short_for(&self, of: &str) -> bool {
        self.few_to_compare.contains(&of)
    }

    /// By what factor the interval of a difference in that number is to be wider than the replications tell.
    pub fn allowance(&self, of: &str, of_well: bool) -> f64 {
        self.allowances[usize::from(of_well)].get(of).copied().unwrap_or(1.0)
    }

    /// A number of the response time, of the requests that ended well alone if `of_well` is set.
    pub fn estimate(&self, of: &str, of_well: bool) -> Option<&Estimate> {
        if of_well { self.point.response_ok.get(of) } else { self.point.response.get(of) }
    }
}

/// The estimates by name, each over so many requests of each replication: means and percentiles are those of all requests together, the
/// maximum is the largest of all. A single run
/// has intervals of means if it is `worth` 1: as long as it should be for them. Without a steady state it is worth 0.
fn estimates(
    names: &[(&str, Option<f64>)],
    values: &[Vec<Number>],
    requests: &[u64],
    together: &[Option<Percentile>],
    worth: f64,
) -> BTreeMap<String, Estimate> {
    let of = |name: &str, p: Option<f64>, numbers: &Vec<Number>, together: &Option<Percentile>| {
        let of = estimate(numbers, requests)?;
        let of = match together {
            Some(Percentile { value, lower_bound: true, .. }) => {
                Estimate { mean: *value, lower_bound: true, ..Estimate::default() }
            }
            Some(Percentile { value, by_runs, .. }) => {
                let values = of_values(numbers.iter().map(|number| number.value).collect())?;
                let ci95 = by_runs.as_ref().map(|of| of.interval);
                let stepped = by_runs.as_ref().is_some_and(|of| of.stepped);
                Estimate { mean: *value, lower_bound: false, ci95, stepped, ..values }
            }
            None if name == MAX => largest(numbers)?,
            None => of,
        };
        let short = numbers.len() == 1 && worth < Length::longer_for(p.unwrap_or(0.0));
        let of = if short { Estimate { ci95: None, stepped: false, ..of } } else { of };
        // No response time is negative, whatever the spread of a few runs says.
        Some(Estimate { ci95: of.ci95.map(|[low, high]| [low.max(0.0), high]), ..of })
    };
    let named = names.iter().zip(values).zip(together);
    named
        .filter_map(|(((name, p), numbers), t)| Some(((*name).to_owned(), of(name, *p, numbers, t)?)))
        .collect()
}

/// Whether closed users were mostly turned away, and at once.
fn refusals<'a>(play: &Play, runs: impl Iterator<Item = &'a Replication>, seen: &[&Seen]) -> Option<Finding> {
    let setup = analysis_setup(&play.plan, &[], 1);
    let users = setup.users.as_ref().filter(|_| setup.workload == Workload::Closed)?;
    let each = users.user_seconds(&(play.plan.measured_from..play.plan.end()));
    let all = runs.fold(Refusals::default(), |all, run| Refusals {
        n: all.n + run.counts.refused,
        of: all.of + run.counts.n,
        sum_s: all.sum_s + run.counts.refused_ns as f64 / 1e9,
        user_seconds: all.user_seconds + each,
    });
    let failed = |part: usize| seen.iter().filter_map(|seen| Some(seen.parts.get(part)?.failed)).sum::<f64>();
    let parts = play.model.parts.iter().enumerate().map(|(i, part)| (failed(i), part));
    let most = parts.filter(|(failed, _)| *failed > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
    all.finding(most.map(|(_, part)| &part.name))
}

/// By how much the number in a part grows: over the replications, of a single one by its own stretches.
fn growth<'a>(runs: impl Iterator<Item = &'a Replication>, part: usize) -> Option<Growth> {
    let all: Vec<Growth> = runs.map(|r| *r.growth.get(part)?).collect::<Option<_>>()?;
    if let [one] = all[..] {
        return Some(one);
    }
    let of = of_values(all.iter().map(|growth| growth.per_second).collect())?;
    Some(Growth { per_second: of.mean, interval: of.ci95? }).filter(beyond_doubt)
}

/// Whether zero lies as far below the 95 % interval as its middle lies above its lower end. A study has many points and parts,
/// and of one in forty that do not grow the interval alone would say that it does; this is said of one in 80 over two
/// replications, 500 over six, 4,000 over twenty (Student's t). A single run's interval is wider where nothing grows, since
/// what rises in one stretch falls in the next.
fn beyond_doubt(growth: &Growth) -> bool {
    growth.per_second > 2.0 * (growth.per_second - growth.interval[0])
}

/// The part whose servers were busy the longest.
fn most_used(seen: &[&Seen]) -> Option<usize> {
    let parts = seen.first()?.parts.len();
    let mean = |part: usize| -> Option<(usize, f64)> {
        let all: Vec<f64> = seen.iter().filter_map(|seen| seen.parts.get(part)?.utilisation).collect();
        Some((part, of_values(all)?.mean))
    };
    let most = (0..parts).filter_map(mean).reduce(|most, other| if other.1 > most.1 { other } else { most });
    most.map(|(part, _)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_beyond_doubt_or_not_told() {
        let growth = |low: f64| Growth { per_second: 3.0, interval: [low, 6.0 - low] };
        assert_eq!(
            [2.0, 1.6, 1.4, 0.1, -0.1].map(|low| beyond_doubt(&growth(low))),
            [true, true, false, false, false]
        );
        let falls = Growth { per_second: -3.0, interval: [-3.1, -2.9] };
        assert!(!beyond_doubt(&falls));
    }
}
