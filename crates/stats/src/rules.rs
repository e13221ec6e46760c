//! The load rules: an effect size, its 95 % interval, a tolerance, and what follows.
//!
//! One table ([`RULES`]); the tolerances stand in [`crate::Tolerances`]. Interval inside the limits = pass, outside =
//! fail, astride = undecided. p-values are shown elsewhere and decide nothing. Deliberately absent: texts for people
//! (`findings`).

mod law;

use crate::arrivals::{ArrivalsKept, StartSegment};
use crate::arrivals_summary::ArrivalsResult;
use crate::connects::ConnectsKept;
use crate::departures;
use crate::effect::Found;
use crate::intervals::{FEWEST_SEGMENTS, difference_interval, ratio_half_width, share};
use crate::requests::Requests;
use crate::setup::{DepartureBin, PlanLaw, Tolerances, Workload};
use crate::streams::Streams;
use crate::summary::{Interval, Limits, LoadVerdict, RuleOutcome, RuleResult, Why, tags};
use crate::users::Loops;
use crate::windows::WindowsResult;
use headway_base::Nanos;

tags! {
    /// Which rule: of the load, or of the arrival pattern.
    RuleId {
        "sent-share" SentShare "Sent / planned arrivals.",
        "requests-sent" RequestsSent "Sent / due, of requests that are due after a response.",
        "effect" Effect "By how much the generator's delays moved the numbers.",
        "late-share" LateShare "Share that started late.",
        "departed-late" DepartedLate "Share that left the machine late.",
        "bunching" Bunching "Squared CoV of headways, started less intended.",
        "dispersion" Dispersion "Index of dispersion of counts, per window.",
        "users-held" UsersHeld "Live users / specified.",
        "sockets-held" SocketsHeld "Sockets kept connecting / specified.",
        "stood-still" StoodStill "Time in which the generator stood still / all of it.",
        "all-issued" AllIssued "Requests sent / specified, of fixed work.",
        "shards-together" ShardsTogether "Time for which all shards had begun / time taken, of fixed work.",
        "cov" Cov "CoV of the headways.",
        "ks" Ks "Distance of the headways from an exponential law.",
        "lag1" Lag1 "Correlation of successive headways.",
        "line" Line "Amplitude of the strongest period.",
    }
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name in the document.
    pub id: RuleId,
    /// The statistic, over the measured phase.
    pub statistic: &'static str,
    /// The workloads that it is for.
    pub workloads: &'static [Workload],
    /// What is tolerated.
    pub limits: fn(&Tolerances) -> Limits,
    measure: fn(&Evidence) -> Vec<Measurement>,
}

/// Rules on when requests left, whatever that did to the numbers.
const LATENESS: [RuleId; 3] = [RuleId::LateShare, RuleId::Bunching, RuleId::Dispersion];

const ARRIVING: &[Workload] = &[Workload::Open, Workload::Sessions];

const fn at_most(high: f64) -> Limits {
    Limits { low: None, high: Some(high) }
}

const fn at_least(low: f64) -> Limits {
    Limits { low: Some(low), high: None }
}

const fn within(distance: f64) -> Limits {
    Limits { low: Some(-distance), high: Some(distance) }
}

/// Every rule, in the order of the report.
pub static RULES: [Rule; 12] = [
    Rule {
        id: RuleId::SentShare,
        statistic: "sent / planned arrivals",
        workloads: ARRIVING,
        limits: |t| at_least(1.0 - t.unsent),
        measure: sent_share,
    },
    Rule {
        id: RuleId::RequestsSent,
        statistic: "sent / due, of requests that are due after a response or after an attempt to connect",
        workloads: &[Workload::Sessions, Workload::Closed, Workload::Connecting],
        limits: |t| at_least(1.0 - t.unsent),
        measure: requests_sent,
    },
    Rule {
        id: RuleId::Effect,
        statistic: "abs(measured / undisturbed - 1), of mean, p50, p90, p95, p99 of the response time and the share that failed the furthest off",
        workloads: &[Workload::Open, Workload::Sessions, Workload::Closed],
        limits: |t| at_most(t.effect),
        measure: effect,
    },
    Rule {
        id: RuleId::LateShare,
        statistic: "share released later after intended than is forgiven, of those that found a connection",
        workloads: &[Workload::Open, Workload::Sessions, Workload::Closed, Workload::Connecting],
        limits: |t| at_most(t.late),
        measure: late_share,
    },
    Rule {
        id: RuleId::DepartedLate,
        statistic: "share that left this machine later after they were written than can matter to the target, of those watched",
        workloads: &[Workload::Open, Workload::Sessions, Workload::Closed],
        limits: |t| at_most(t.late),
        measure: departed_late,
    },
    Rule {
        id: RuleId::Bunching,
        statistic: "CoV^2(started) - CoV^2(intended) of the same arrivals, less waits at the connection cap and lateness that is forgiven",
        workloads: ARRIVING,
        limits: |t| within(t.bunching),
        measure: bunching,
    },
    Rule {
        id: RuleId::Dispersion,
        statistic: "index of dispersion of counts, started - intended, less waits at the connection cap and lateness that is forgiven",
        workloads: ARRIVING,
        limits: |t| within(t.dispersion),
        measure: dispersion,
    },
    Rule {
        id: RuleId::UsersHeld,
        statistic: "time average of live users / specified",
        workloads: &[Workload::Sessions, Workload::Closed],
        limits: |t| at_least(1.0 - t.users),
        measure: |e| vec![users_held(e)],
    },
    Rule {
        id: RuleId::SocketsHeld,
        statistic: "time in which sockets kept connecting / specified: less the time in which one was due to connect and had not",
        workloads: &[Workload::Connecting],
        limits: |t| at_least(1.0 - t.users),
        measure: |e| vec![sockets_held(e)],
    },
    Rule {
        id: RuleId::StoodStill,
        statistic: "share of the workers' time in which they stood still for longer than is forgiven at a stretch",
        workloads: &[Workload::Connecting],
        limits: |t| at_most(t.stood_still),
        measure: |e| vec![stood_still(e)],
    },
    Rule {
        id: RuleId::AllIssued,
        statistic: "requests sent / specified",
        workloads: &[Workload::FixedWork],
        limits: |_| Limits { low: Some(1.0), high: Some(1.0) },
        measure: |e| vec![all_issued(e)],
    },
    Rule {
        id: RuleId::ShardsTogether,
        statistic: "share of the time taken for which the last shard had begun, where shards began further apart than is forgiven",
        workloads: &[Workload::FixedWork],
        limits: |t| at_least(1.0 - t.users),
        measure: |e| vec![shards_together(e)],
    },
];

/// What the rules are applied to.
pub(crate) struct Evidence<'a> {
    pub workload: Workload,
    pub tolerances: &'a Tolerances,
    pub plan: Option<&'a PlanLaw>,
    pub kept: &'a ArrivalsKept,
    /// The streams that are compared.
    pub streams: &'a Streams,
    /// How long a request may stay in this machine.
    pub stay: Nanos,
    /// What the generator's delays did to the numbers, where that is told.
    pub effect: Option<&'a Found>,
    /// Why it is not, where it is not.
    pub no_effect: Why,
    pub arrivals: &'a ArrivalsResult,
    /// Requests that ended.
    pub requests: &'a Requests,
    /// Users, sessions and requests in flight; none of another tool's rows.
    pub loops: Option<&'a Loops>,
    /// Attempts to connect, where each request makes one.
    pub connects: Option<&'a ConnectsKept>,
    /// Requests of fixed work.
    pub requests_asked: Option<u64>,
    /// Segments that were complete when the run ended.
    pub filled: usize,
    /// Planned arrivals of the measured phase that have no records in it, since shards began apart.
    pub outside: u64,
    /// How far apart the shards of a merged run began; none of a run that is not merged, or whose shards began together.
    pub apart: Option<Nanos>,
    /// How long fixed work took.
    pub took: Nanos,
    pub send_cost: Option<Nanos>,
    /// Workers whose records were analysed.
    pub sources: usize,
    /// Threads that send, where that is known.
    pub workers: u32,
    /// How long watched requests stayed in the generator's machine.
    pub departures: &'a [DepartureBin],
    /// Whether the target is known to run on that machine, which no request leaves then.
    pub target_here: bool,
    /// In virtual time: what was not late there was not late at all.
    pub simulated: bool,
}

impl Evidence<'_> {
    fn segments(&self) -> &[StartSegment] {
        &self.kept.segments[..]
    }

    /// The law that another tool's load is expected to follow, where its rows do not tell when requests were due.
    pub fn expectation(&self) -> Option<&PlanLaw> {
        self.plan.filter(|_| self.workload == Workload::Foreign && !self.kept.compares)
    }

    /// Whether each arrival is known to have started at the very instant at which it was due: then starts and plan are one
    /// stream, and differences between them are 0 without an error, however few there are. Clocks are never so exact.
    fn is_exact(&self) -> bool {
        let started: u64 = self.segments().iter().map(|s| s.started).sum();
        let waited = || self.segments().iter().any(|s| s.waited() > 0);
        let never = || self.requests.never.iter().any(|&never| never > 0);
        self.simulated
            && self.kept.compares
            && started > 0
            && self.kept.lag.max == 0
            && !waited()
            && !never()
            && self.outside == 0
    }

    /// When requests were late, as ranges of seconds.
    pub fn late_at(&self) -> Vec<[f64; 2]> {
        self.kept.late.seconds()
    }

    /// Another tool's load that is held to a plan is held to it as an open one.
    fn workload(&self) -> Workload {
        match self.workload {
            Workload::Foreign if self.plan.is_some() => Workload::Open,
            workload => workload,
        }
    }

    /// Whether the generator could have sent at the plan's rate if no cap had held it back: else the cap is no excuse.
    fn could_send(&self) -> bool {
        let mean = self.arrivals.intended.mean();
        let cost = self.send_cost.map(|cost| cost.0 as f64 / f64::from(self.workers.max(1)));
        mean.zip(cost).is_none_or(|(mean, cost)| mean >= cost)
    }

    /// Whether one thread's sends, which cannot overlap, make the starts even at this rate.
    pub fn is_serialised(&self) -> bool {
        let mean = self.arrivals.gaps.mean();
        let cost = self.send_cost.map(|c| c.0 as f64 * self.tolerances.serialised_sends);
        mean.zip(cost).is_some_and(|(mean, cost)| mean < cost)
    }
}

#[derive(Clone, Debug, Default)]
struct Measurement {
    window: Option<f64>,
    value: Option<f64>,
    interval: Option<Interval>,
    n: u64,
    reason: Option<Why>,
    /// The statistic cannot be had from this run at all.
    absent: bool,
    /// What follows, where that is more than where the interval lies.
    outcome: Option<RuleOutcome>,
}

impl Measurement {
    fn absent(reason: Why) -> Measurement {
        Measurement { reason: Some(reason), absent: true, ..Measurement::default() }
    }

    /// What is known without an error.
    fn exactly(value: f64, n: u64) -> Measurement {
        Measurement { value: Some(value), interval: Some([value, value]), n, ..Measurement::default() }
    }

    fn of_share(segments: &[(u64, u64)], nothing: Why) -> Measurement {
        let n = segments.iter().map(|s| s.1).sum();
        let hits: u64 = segments.iter().map(|s| s.0).sum();
        let Some((value, interval)) = share(segments) else {
            let value = (n > 0).then(|| hits as f64 / n as f64);
            let reason = if n == 0 { nothing } else { Why::FewArrivals { n: Some(n) } };
            return Measurement { value, n, reason: Some(reason), ..Measurement::default() };
        };
        Measurement { value: Some(value), interval: Some(interval), n, ..Measurement::default() }
    }
}

/// Whether the value is shown to lie inside the limits, outside, or neither.
pub fn judge(interval: Interval, limits: Limits) -> RuleOutcome {
    let (low, high) = (limits.low.unwrap_or(f64::NEG_INFINITY), limits.high.unwrap_or(f64::INFINITY));
    if interval[0] >= low && interval[1] <= high {
        RuleOutcome::Pass
    } else if interval[1] < low || interval[0] > high {
        RuleOutcome::Fail
    } else {
        RuleOutcome::Undecided
    }
}

/// Applies the whole table; what only shards that began apart can break, to those.
pub(crate) fn apply(evidence: &Evidence) -> Vec<RuleResult> {
    let applies = |rule: &&Rule| rule.id != RuleId::ShardsTogether || evidence.apart.is_some();
    RULES.iter().filter(applies).flat_map(|rule| apply_one(rule, evidence)).collect()
}

fn apply_one(rule: &Rule, evidence: &Evidence) -> Vec<RuleResult> {
    let mut limits = (rule.limits)(evidence.tolerances);
    if !rule.workloads.contains(&evidence.workload()) {
        let reason = match evidence.workload() {
            Workload::Foreign => Why::NoPlan,
            _ => Why::OtherWorkload,
        };
        return vec![RuleResult {
            rule: rule.id.clone(),
            limits,
            reason: Some(reason.into()),
            ..RuleResult::default()
        }];
    }
    // Where sends cannot overlap, evenness is physics and only bunching is held against the generator.
    if matches!(rule.id, RuleId::Bunching | RuleId::Dispersion) && evidence.is_serialised() {
        limits.low = None;
    }
    // What they did to the numbers is judged, unless the user asks for lateness.
    let is_evidence =
        evidence.effect.is_some() && evidence.tolerances.lateness.is_none() && LATENESS.contains(&rule.id);
    let law = evidence.expectation();
    if law.is_some() {
        limits = law::limits(&rule.id, limits);
    }
    let measured = match law {
        Some(law) => law::measure(&rule.id, evidence, law),
        None if evidence.is_exact() => exactly(rule, evidence),
        None => (rule.measure)(evidence),
    };
    let results = measured.into_iter().map(|m| RuleResult {
        rule: rule.id.clone(),
        window: m.window,
        value: m.value,
        interval: m.interval,
        limits,
        outcome: match m.interval {
            _ if m.absent || is_evidence => RuleOutcome::NotApplicable,
            _ if m.outcome.is_some() => m.outcome.unwrap_or_default(),
            Some(interval) => judge(interval, limits),
            None => RuleOutcome::Undecided,
        },
        n: m.n,
        reason: is_evidence.then(|| Why::Evidence.into()).or(m.reason.map(Why::into)).or_else(|| {
            let interval = m.interval.filter(|_| m.outcome.is_none())?;
            let astride = judge(interval, limits) == RuleOutcome::Undecided;
            astride.then(|| Why::AstrideLimit { n: m.n }.into())
        }),
    });
    results.collect()
}

/// INVALID if a rule fails, else INCONCLUSIVE if one is undecided, else VALID; none where no rule applies.
pub fn verdict(rules: &[RuleResult]) -> Option<LoadVerdict> {
    let any = |outcome| rules.iter().any(|r| r.outcome == outcome);
    if any(RuleOutcome::Fail) {
        Some(LoadVerdict::Invalid)
    } else if any(RuleOutcome::Undecided) {
        Some(LoadVerdict::Inconclusive)
    } else {
        any(RuleOutcome::Pass).then_some(LoadVerdict::Valid)
    }
}

/// Of a load that is the plan to the nanosecond.
fn exactly(rule: &Rule, e: &Evidence) -> Vec<Measurement> {
    let n: u64 = e.segments().iter().map(|s| s.started).sum();
    let released = e.segments().iter().map(|s| s.all).sum();
    match rule.id {
        RuleId::SentShare => vec![Measurement::exactly(1.0, n)],
        RuleId::LateShare => vec![Measurement::exactly(0.0, released)],
        RuleId::Bunching => vec![Measurement::exactly(0.0, e.arrivals.gaps.n)],
        RuleId::Dispersion if e.arrivals.forgiven_windows.is_empty() => vec![Measurement::exactly(0.0, n)],
        RuleId::Dispersion => {
            let row = |w: &WindowsResult| Measurement {
                window: Some(w.row.window),
                ..Measurement::exactly(0.0, w.row.windows)
            };
            e.arrivals.forgiven_windows.iter().map(row).collect()
        }
        _ => (rule.measure)(e),
    }
}

/// Of the number that is the furthest from what is tolerated.
fn effect(e: &Evidence) -> Vec<Measurement> {
    let Some(found) = e.effect else { return vec![Measurement::absent(e.no_effect.clone())] };
    let Some(worst) = found.worst() else { return vec![Measurement::absent(Why::NoObservations)] };
    let known = worst.effect[1].is_finite();
    vec![Measurement {
        value: known.then_some(worst.effect[1]),
        interval: known.then_some(worst.effect),
        outcome: Some(found.outcome()),
        n: found.n,
        ..Measurement::default()
    }]
}

fn sent_share(e: &Evidence) -> Vec<Measurement> {
    let segments = e.segments().iter().zip(&e.requests.not_sent);
    let mut shares: Vec<_> = segments.map(|(s, not_sent)| not_sent.share_of(s.started)).collect();
    // A number that is known, and no sample: every segment bears its part.
    let parts = shares.len() as u64;
    for (part, (_, all)) in (0..).zip(&mut shares) {
        *all += e.outside / parts + u64::from(part < e.outside % parts);
    }
    vec![at_cap(e, &shares, &e.requests.arrivals_given_up, Why::NothingDue)]
}

/// Of the requests that `sent_share` does not speak of.
fn requests_sent(e: &Evidence) -> Vec<Measurement> {
    let judged = |s: &StartSegment| if e.workload == Workload::Sessions { s.started } else { 0 };
    let segments = e.segments().iter().zip(&e.requests.others_not_sent);
    let shares: Vec<_> = segments.map(|(s, not_sent)| not_sent.share_of(s.all - judged(s))).collect();
    let given_up = &e.requests.others_given_up;
    if shares.iter().zip(given_up).all(|(share, given_up)| share.1 + given_up == 0) {
        return vec![Measurement::absent(Why::NothingDueAfter)];
    }
    vec![at_cap(e, &shares, given_up, Why::NothingDueAfter)]
}

/// What was sent of what was due, with what never left for want of a connection; whether that alone breaks the rule, where the generator
/// could have sent it.
fn at_cap(e: &Evidence, shares: &[(u64, u64)], given_up: &[u64], nothing: Why) -> Measurement {
    let whole: Vec<_> = shares.iter().zip(given_up).map(|(&(sent, all), kept)| (sent, all + kept)).collect();
    let kept: u64 = given_up.iter().sum();
    let mut measured = Measurement::of_share(&whole, nothing.clone());
    if kept > 0 && e.could_send() {
        let limits = at_least(1.0 - e.tolerances.unsent);
        let holds = |of: &Measurement| of.interval.is_some_and(|of| judge(of, limits) == RuleOutcome::Pass);
        let without = Measurement::of_share(shares, nothing);
        let all: u64 = whole.iter().map(|share| share.1).sum();
        // Where nothing was sent at all there is nothing else to hold against it.
        let others_hold = holds(&without) || without.n == 0;
        if others_hold && measured.interval.is_some() && !holds(&measured) {
            measured.reason = Some(Why::HeldAtCap { share: kept as f64 / all as f64 });
        }
    }
    measured
}

/// Requests that found a connection, below which their lateness tells nothing of those that waited for one.
const FEWEST_FOUND: u64 = 100;

fn late_share(e: &Evidence) -> Vec<Measurement> {
    let segments: Vec<_> = e.segments().iter().map(|s| (s.late, s.found())).collect();
    let (found, waited) = e.segments().iter().fold((0, 0), |sum, s| (sum.0 + s.found(), sum.1 + s.waited()));
    if found < FEWEST_FOUND && waited > found {
        return vec![Measurement::absent(Why::AllWaited)];
    }
    vec![Measurement::of_share(&segments, Why::NoneFound)]
}

fn departed_late(e: &Evidence) -> Vec<Measurement> {
    if e.target_here {
        return vec![Measurement::absent(Why::NothingLeaves)];
    }
    let segments = departures::by_segment(e.departures, &e.kept.measured, e.stay);
    if segments.iter().all(|segment| segment.1 == 0) {
        return vec![Measurement::absent(Why::DeparturesNotTold)];
    }
    vec![Measurement::of_share(&segments, Why::NoneWatched)]
}

/// Fewest headways per segment whose CoV is worth comparing.
const FEWEST_PER_SEGMENT: u64 = 10;

fn bunching(e: &Evidence) -> Vec<Measurement> {
    let n = e.arrivals.forgiven.n;
    let cov2 = e.arrivals.forgiven.cov2();
    let value = cov2.zip(e.arrivals.intended.cov2()).map(|(s, i)| s - i);
    let segments = e.streams.forgiven().gaps.iter().zip(&e.streams.intended().gaps);
    let differences: Vec<f64> = segments
        .take(e.filled)
        .filter_map(|(started, intended)| Some(started.cov2()? - intended.cov2()?))
        .collect();
    let needed = FEWEST_PER_SEGMENT * e.filled.max(FEWEST_SEGMENTS) as u64;
    let interval = value.filter(|_| n >= needed).and_then(|value| difference_interval(value, &differences));
    let (Some(value), Some(interval)) = (value, interval) else {
        let reason = Why::FewHeadways { n, needed: Some(needed) };
        return vec![Measurement { value, n, reason: Some(reason), ..Measurement::default() }];
    };
    vec![Measurement { value: Some(value), interval: Some(interval), n, ..Measurement::default() }]
}

/// One row per window length, from what is forgiven up, that fits 30 times.
fn dispersion(e: &Evidence) -> Vec<Measurement> {
    let mut rows = Vec::new();
    for result in &e.arrivals.forgiven_windows {
        let (value, n) = (result.difference(), result.row.windows);
        let interval = result.difference_interval;
        let window = Some(result.row.window);
        let reason = interval.is_none().then_some(Why::FewSegments { windows: Some(n), filled: None });
        rows.push(Measurement { window, value: Some(value), interval, n, reason, ..Measurement::default() });
    }
    or_no_window(rows, e)
}

fn or_no_window(mut rows: Vec<Measurement>, e: &Evidence) -> Vec<Measurement> {
    if rows.is_empty() {
        let reason = Why::NoWindow;
        rows.push(Measurement {
            reason: Some(reason),
            n: e.arrivals.block.started,
            ..Measurement::default()
        });
    }
    rows
}

fn users_held(e: &Evidence) -> Measurement {
    let Some(held) = e.loops.and_then(Loops::users_held) else {
        return Measurement::absent(Why::UsersNotAsked);
    };
    held_share(&held, e)
}

fn sockets_held(e: &Evidence) -> Measurement {
    let Some(held) = e.connects.and_then(ConnectsKept::held) else {
        return Measurement::absent(Why::UsersNotAsked);
    };
    held_share(&held, e)
}

fn stood_still(e: &Evidence) -> Measurement {
    match e.connects.and_then(|connects| connects.stood_still(e.sources)) {
        Some(stood) => held_share(&stood, e),
        None => Measurement { reason: Some(Why::StallsNotTold), ..Measurement::default() },
    }
}

/// What was there of all there could be, by segment.
fn held_share(held: &[(f64, f64)], e: &Evidence) -> Measurement {
    // Segments are equally long.
    let filled = &held[..e.filled];
    let (there, asked) = filled.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
    let n = e.arrivals.block.started;
    if asked <= 0.0 {
        let reason = Why::NoUsersAsked;
        return Measurement { n, reason: Some(reason), ..Measurement::default() };
    }
    let value = there / asked;
    let interval = ratio_half_width(filled).map(|half| [value - half, value + half]);
    let reason = interval.is_none().then_some(Why::FewSegments { windows: None, filled: Some(e.filled) });
    Measurement { value: Some(value), interval, n, reason, ..Measurement::default() }
}

fn all_issued(e: &Evidence) -> Measurement {
    let Some((asked, loops)) = e.requests_asked.zip(e.loops) else {
        return Measurement::absent(Why::WorkNotKnown);
    };
    let n = loops.issued;
    let value = if asked == n { 1.0 } else { n as f64 / asked as f64 };
    Measurement { value: Some(value), interval: Some([value, value]), n, ..Measurement::default() }
}

/// Work has no plan that would miss what a late shard did not do in time. Starts no further apart than is forgiven are one start, as of
/// requests.
fn shards_together(e: &Evidence) -> Measurement {
    let apart = e.apart.filter(|apart| *apart > e.kept.lateness.length()).unwrap_or(Nanos::ZERO);
    let took = e.took.max(Nanos(1));
    let value = 1.0 - apart.min(took).0 as f64 / took.0 as f64;
    Measurement::exactly(value, e.arrivals.block.started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_passes_outside_fails_astride_is_undecided() {
        let cases = [
            ([0.0, 0.005], at_most(0.01), RuleOutcome::Pass),
            ([0.02, 0.03], at_most(0.01), RuleOutcome::Fail),
            ([0.005, 0.03], at_most(0.01), RuleOutcome::Undecided),
            ([0.95, 0.98], at_least(0.99), RuleOutcome::Fail),
            ([1.0, 1.0], at_least(0.99), RuleOutcome::Pass),
            ([-0.3, 0.3], within(0.1), RuleOutcome::Undecided),
            ([-0.3, -0.2], within(0.1), RuleOutcome::Fail),
            ([-0.3, -0.2], at_most(0.1), RuleOutcome::Pass),
        ];
        for (interval, limits, outcome) in cases {
            assert_eq!(judge(interval, limits), outcome, "{interval:?} {limits:?}");
        }
    }

    #[test]
    fn one_failure_outweighs_all_and_nothing_applicable_is_no_verdict() {
        let result = |outcome| RuleResult { outcome, ..RuleResult::default() };
        let (pass, fail) = (result(RuleOutcome::Pass), result(RuleOutcome::Fail));
        let (undecided, not) = (result(RuleOutcome::Undecided), result(RuleOutcome::NotApplicable));
        assert_eq!(verdict(&[pass.clone(), not.clone()]), Some(LoadVerdict::Valid));
        assert_eq!(verdict(&[pass.clone(), undecided.clone()]), Some(LoadVerdict::Inconclusive));
        assert_eq!(verdict(&[pass, undecided, fail]), Some(LoadVerdict::Invalid));
        assert_eq!(verdict(&[not]), None);
    }
}
