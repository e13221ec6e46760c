//! Why a load has the pattern it has: the causes that can be told from its rows, and `unknown-cause` where the rows do not
//! say.
//!
//! One function per cause, all listed in [`ALL`]; the first that is sure of itself is the cause. Some matter whatever the
//! pattern (one seed twice, generators in step, users who only wait); the others explain a pattern that is bunched or even.
//! Thresholds are in one place, and docs/causes.md shows how often each cause is taken for another.
//!
//! Deliberately absent: the pattern itself, which is decided before and without any of this; and the sentences, which the report makes.

mod fold;
mod lattice;
mod pairs;
mod rate;
mod traces;

pub(crate) use traces::Traces;

use super::threads::Think;
use crate::findings::{Starts, rows};
use crate::little::LITTLE;
use crate::summary::{
    Evidence, Finding, FindingId, LoadVerdict, Pattern, RuleId, Severity, Summary, ThreadGroup,
};
use headway_redact::Cleared;
use pairs::Kin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

rows! {
    $ causes {
        "same-seed" SameSeed "the same seed on two generators", of Run;
        "in-step" InStep "generators started in step", of Run;
        "changing-rate" ChangingRate "a rate that changes", of Run;
        "saturation" Saturation "saturation: nearly all users wait all the time", of Run;
        "constant-rate" ConstantRate "a schedule of constant rate", of Run;
        "fixed-think" FixedThink "a fixed think time", of Run;
        "fixed-pacing" FixedPacing "users that each keep a constant rate", of Run;
        "timer-ticks" TimerTicks "the ticks of a timer", of Run;
        "generator-pauses" GeneratorPauses "pauses of the generator", of Run;
        "feedback-loop" FeedbackLoop "closed-loop feedback of the target", of Run;
        "interruption" Interruption "an interruption", of Run;
        "few-users" FewUsers "too few users", of Run;
        "unknown-cause" UnknownCause "The rows do not tell the cause.", of Run;
        "sessions-judged" SessionsJudged "An audit judged starts of sessions.", of Run;
        "start-or-end" StartOrEnd "A file does not tell whether its stamps are starts or ends.", of Run;
        "far-stamps" FarStamps "Rows with stamps far from all others were left out.", of Run;
    }
}

/// The cause of an arrival pattern, and what else only an audit tells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Cause {
    /// Two generators sent the same headways in the same order.
    SameSeed { one: Cleared, other: Cleared, correlation: f64 },
    /// A share of the starts of one come again from the other, so much later (below zero: earlier).
    SameSeedShifted { one: Cleared, other: Cleared, share: f64, chance: f64, later_s: f64 },
    /// A share of the starts of one fall together with those of the other.
    InStep { one: Cleared, other: Cleared, share: f64, chance: f64 },
    /// Each user keeps the same rate, and all send together.
    UsersInStep { users: u64, period_s: f64, mean_vector: f64 },
    /// In that share of the time nearly all users were waiting.
    AllWaiting { users: f64, share: f64 },
    /// Users hardly think.
    NoThinkTime { users: f64, think_s: f64 },
    /// Requests leave on a schedule of constant rate; the CoV of a single user's headways, where there are several users.
    ConstantRate { cov: f64, cov_of_one: Option<f64> },
    /// The think time is fixed.
    FixedThink { think_s: f64, cov: f64, pattern: Pattern },
    /// Each user keeps a rate.
    FixedPacing { users: f64, period_s: f64, cov: f64 },
    /// Starts keep to the ticks of a timer.
    TimerTicks { period_s: f64, mean_vector: f64, per_tick: f64 },
    /// The generator stood still `n` times, which makes that share of the excess.
    GeneratorPauses { n: u64, longest_s: f64, share: f64 },
    /// The generator stood still `n` times and made up for nothing, which makes that share of the excess.
    LostTime { n: u64, longest_s: f64, share: f64 },
    /// The target did, and the users waited.
    FeedbackLoop { n: u64, longest_s: f64, share: f64 },
    /// Nothing was made up for after so few gaps.
    Interruption { n: u64, longest_s: f64, share: f64 },
    /// A rate that holds from one time after the first start to another, and the range of the rates outside; which part to judge.
    ChangingRate {
        rate: f64,
        from_s: f64,
        to_s: f64,
        least: f64,
        most: f64,
        judge_from_s: f64,
        judge_for_s: f64,
    },
    /// A rate that changes slowly: at the beginning and at the end by a straight line through its twentieths, or the least and the
    /// most of them where no line fits; the index of dispersion over some window.
    Drift { from: f64, to: f64, straight: bool, window_s: f64, index: f64 },
    /// Gaps lie together at the beginning or the end: a ramp, and which part to judge.
    Ramp { at_end: bool, ramp_s: f64, rate: f64, judge_from_s: f64, judge_for_s: f64 },
    /// The rate is another for a part of the time, counted from the first start, and the same before and after it.
    OtherRate { rate: f64, other: f64, from_s: f64, to_s: f64 },
    /// Requests leave for some time, and then none do: how long each lasts, in each period or on average.
    OnOff { on_s: f64, off_s: f64, regular: bool },
    /// So many of the requests per second come one each period.
    RegularPart { part: f64, of: f64, period_s: f64 },
    /// So many leave together each period, among others.
    TicksAmongOthers { period_s: f64, per_tick: f64, share: f64 },
    /// The generator stands still once each period.
    RegularPauses { period_s: f64, length_s: f64 },
    /// Users are released so many at a time.
    ReleasedTogether { users: u64, together: u64, share: f64 },
    /// Few users make an even load.
    FewUsers { users: f64, cov: f64 },
    /// The rows do not tell the cause; whether users who wait are named, and what share of their cycle they wait for.
    UnknownCause { pattern: Pattern, users_named: bool, waiting: Option<f64> },
    /// The starts of sessions are judged, and not those of the requests within.
    SessionsJudged { sessions: u64, requests: u64 },
    /// These files do not show whether stamps are starts or ends: the verdict of both readings; null where nothing is selected of
    /// the second.
    StartOrEnd { file: Cleared, more_files: u64, as_starts: Reading, as_ends: Option<Reading> },
    /// Rows of a file were left out for their stamps.
    FarStamps { n: u64, file: Cleared, first: FirstStamp },
}

/// The verdict of one reading of the stamps.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// Was the load sent as expected? Null without an expectation.
    pub load: Option<LoadVerdict>,
    /// The pattern of the starts.
    pub pattern: Pattern,
    /// CoV of the headways.
    pub cov: Option<f64>,
}

/// When something was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "clock", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence")]
pub enum FirstStamp {
    /// At that instant (RFC 3339).
    At { instant: String },
    /// So many nanoseconds after 1970, which is no date of the calendar.
    SinceEpoch { ns: i64 },
    /// So many seconds after the tool's zero.
    SinceZero { seconds: f64 },
}

/// A recovered think time that varies less than this (CoV) is fixed.
const FIXED_THINK: f64 = 0.1;
/// Fewest recovered think times that count.
const FEWEST_THINKS: u64 = 30;
/// All users wait for more than this share of the time: the target sets the pace.
const ALL_WAITING: f64 = 0.5;
/// So does it where each user waits for so much of its cycle.
const WAITS: f64 = 0.95;
/// What a tool itself takes between a response and the next request, and what cutting off takes from the response time, at
/// most, in seconds.
const LOOP: f64 = 0.002;
/// A part of the time whose starts differ by more than this share from those of the steady parts has another rate; or
/// by this many standard errors of a Poisson count, if that is more.
const OTHER_RATE: f64 = 0.1;
const OTHER_RATE_ERRORS: f64 = 5.0;
/// Fewest twentieths of the time in a row that make a steady stretch.
const STEADY_PARTS: usize = 6;
/// Up to so many users make an even load for being few.
const FEW: f64 = 50.0;
/// Long gaps must account for this share of the excess of the squared CoV to be its cause.
const EXPLAINS: f64 = 0.5;
/// So few gaps that make nearly all of the excess are an interruption, and not what the load is like.
const FEW_GAPS: usize = 3;
const NEARLY_ALL: f64 = 0.8;
/// A pause of a generator is shorter than this share of the load: a longer gap is an end and a new beginning.
const BRIEF: f64 = 0.05;
/// Outside of the gaps headways vary no more (CoV^2) where the gaps are what is wrong with the load.
const AS_INDEPENDENT: f64 = 1.2;
/// Gaps that take more than this share of the time are times in which a load is off; it is otherwise about that of independent users if
/// headways outside of them vary no more (CoV^2) than this: gaps that are not too long for chance are among them.
const MUCH: f64 = 0.25;
const ABOUT_AS_INDEPENDENT: f64 = 2.0;
/// Share of a long gap's missing starts that must follow it at once if a pause of the generator held them up.
const HELD_UP: f64 = 0.5;
/// So many times the average in flight when a gap begins: the users wait for the target.
const ALL_IN_FLIGHT: f64 = 3.0;
/// A whole that is so much more even than each of its users follows a schedule.
const SCHEDULED: f64 = 0.8;
/// So near to one request a period is a schedule of constant rate among others; more leave together.
const ABOUT_ONE: f64 = 0.25;
/// A user whose headways vary less than this (CoV) keeps a rate.
const REGULAR_USER: f64 = 0.2;
/// Below this CoV a load without known users is one of constant rate.
const CONSTANT: f64 = 0.5;

/// Users come in rotation if the number of starts from one of a user to its next varies by less than this share of how much the time
/// between them does: that varies with the schedule too. Users of their own pace count more of the others the longer they take.
const IN_ROTATION: f64 = 0.8;
/// and that time by no less than this share of what a sum of so many headways does: a pacing of its own would vary less.
const AS_A_SUM: f64 = 0.5;
/// Users are released together if this share of the batches has one size.
const ONE_SIZE: f64 = 0.8;
/// Neighbours closer than this share of the mean headway are of one batch.
const OF_A_BATCH: f64 = 0.25;

/// What causes are told from.
pub(crate) struct Case<'a> {
    pub traces: &'a Traces,
    /// The document so far: everything but the cause.
    pub summary: &'a Summary,
    /// Think times, where users are named and wait for their answers.
    pub think: Option<Think>,
    /// How many starts come from one of a user to its next, and the standard deviation.
    pub turns: Option<(f64, f64)>,
}

type Find = fn(&Case) -> Option<Finding>;

/// Every cause, the most specific first.
pub(crate) static ALL: [(FindingId, Find); 17] = [
    (FindingId::SameSeed, same_seed),
    (FindingId::InStep, in_step),
    (FindingId::ChangingRate, rate::changing_rate),
    (FindingId::Saturation, saturation),
    (FindingId::ConstantRate, constant_rate),
    (FindingId::FixedThink, fixed_think),
    (FindingId::FixedPacing, fixed_pacing),
    (FindingId::ChangingRate, on_off),
    (FindingId::TimerTicks, timer_ticks),
    (FindingId::ConstantRate, regular_part),
    (FindingId::GeneratorPauses, generator_pauses),
    (FindingId::FeedbackLoop, feedback_loop),
    (FindingId::Interruption, interruption),
    (FindingId::FewUsers, few_users),
    (FindingId::ChangingRate, rate::beyond_scale),
    (FindingId::ChangingRate, rate::at_ends),
    (FindingId::UnknownCause, unknown),
];

/// The cause, as a finding; none where nothing needs one.
pub(crate) fn name(case: &Case) -> Option<Finding> {
    ALL.iter().find_map(|(id, find)| {
        let finding = find(case)?;
        // One function may tell two causes apart.
        let own = finding.id != FindingId::default();
        Some(if own { finding } else { Finding { id: id.clone(), ..finding } })
    })
}

impl Case<'_> {
    fn pattern(&self) -> Pattern {
        self.summary.verdict.pattern
    }

    fn is_off(&self) -> bool {
        matches!(self.pattern(), Pattern::Bunched | Pattern::Even | Pattern::Periodic)
    }

    /// The finding on pauses, if independent users make none so long.
    fn pauses(&self) -> Option<&Finding> {
        self.finding(&FindingId::LongestGaps)
    }

    fn finding(&self, id: &FindingId) -> Option<&Finding> {
        self.summary.verdict.findings.iter().find(|finding| finding.id == *id)
    }

    /// CoV of the headways that the pattern is judged by, which may be without pauses.
    fn cov_judged(&self) -> f64 {
        let rules = &self.summary.verdict.pattern_rules;
        let judged = rules.iter().find(|rule| rule.rule == RuleId::Cov).and_then(|rule| rule.value);
        judged.unwrap_or_else(|| self.cov())
    }

    /// Whether users take the requests of one common schedule in turn: what each of them seems to keep is then the schedule's.
    fn in_rotation(&self) -> bool {
        let Some((mean, sd)) = self.turns.filter(|turns| turns.0 > 1.0) else { return false };
        let Some(one) = self.one_user().and_then(|one| one.cov) else { return false };
        sd / mean <= IN_ROTATION * one && one >= AS_A_SUM * self.cov() / mean.sqrt()
    }

    fn cov(&self) -> f64 {
        self.summary.arrivals.cov.unwrap_or(f64::NAN)
    }

    fn n(&self) -> u64 {
        self.summary.arrivals.n
    }

    fn users(&self) -> Option<f64> {
        self.summary.closed.as_ref().and_then(|c| c.users)
    }

    /// Mean think time and the most that its CoV may be, if enough were recovered and stamps resolve them. Two stamps
    /// that are cut off to a grid q add q^2/6 to the variance (Sheppard 1898).
    fn think(&self) -> Option<(f64, f64)> {
        let think = self.think.filter(|think| think.n >= FEWEST_THINKS)?;
        let q = self.traces.resolution / 1e9;
        let mean = think.mean.filter(|&z| z > 0.0 && z >= 2.0 * q)?;
        let variance = think.sd_alike?.powi(2);
        let error = 1.96 * variance * (2.0 / think.n as f64).sqrt();
        Some((mean, ((variance - q * q / 6.0).max(0.0) + error).sqrt() / mean))
    }

    fn generator(&self, number: usize) -> Cleared {
        let names = self.summary.audit.as_ref().map_or(&[][..], |a| &a.generators);
        names.get(number).cloned().unwrap_or_else(|| "?".into())
    }

    /// The first user alone, if it sent enough.
    fn one_user(&self) -> Option<&ThreadGroup> {
        self.summary.thread_groups.iter().find(|g| g.users == 1 && g.n >= FEWEST_THINKS)
    }

    /// CoV of a single user's headways.
    fn cov_of_one(&self) -> Option<f64> {
        self.summary.thread_groups.iter().find(|g| g.users == 1).and_then(|g| g.cov)
    }
}

fn found(case: &Case, evidence: Cause, value: f64, limit: f64) -> Finding {
    Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(value),
        limit: Some(limit),
        n: case.n(),
        ..Finding::default()
    }
}

fn kin(case: &Case) -> Option<(usize, usize, Kin)> {
    pairs::kinship(&case.traces.firsts, case.traces.resolution)
}

fn same_seed(case: &Case) -> Option<Finding> {
    let (i, j, kin) = kin(case)?;
    let (one, other) = (case.generator(i), case.generator(j));
    match kin {
        Kin::SameSeed(correlation) => {
            let cause = Cause::SameSeed { one, other, correlation };
            Some(found(case, cause, correlation, pairs::SAME))
        }
        Kin::Shifted { share, chance, later } => {
            let cause = Cause::SameSeedShifted { one, other, share, chance, later_s: later as f64 / 1e9 };
            Some(found(case, cause, share, pairs::beyond(chance)))
        }
        Kin::InStep(..) => None,
    }
}

fn in_step(case: &Case) -> Option<Finding> {
    let Some((i, j, Kin::InStep(share, chance))) = kin(case) else {
        return users_in_step(case).or_else(|| released_together(case));
    };
    let (one, other) = (case.generator(i), case.generator(j));
    Some(found(case, Cause::InStep { one, other, share, chance }, share, pairs::beyond(chance)))
}

/// Users that a rendezvous releases together: nearly all batches are of one size.
fn released_together(case: &Case) -> Option<Finding> {
    let users = case.summary.audit.as_ref()?.users.filter(|&users| users > 1)?;
    if case.pattern() != Pattern::Bunched {
        return None;
    }
    let near = (OF_A_BATCH * case.traces.mean).max(case.traces.resolution) as i64;
    let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
    for stretch in case.traces.stretches() {
        // The first and the last batch of a stretch may be cut.
        let batches = stretch.chunk_by(|a, b| b - a <= near).map(<[i64]>::len);
        batches.for_each(|size| *sizes.entry(size).or_default() += 1);
    }
    let all: u64 = sizes.values().sum();
    let (&together, &n) = sizes.iter().max_by_key(|(_, n)| **n)?;
    let share = n as f64 / all as f64;
    let cause = Cause::ReleasedTogether { users, together: together as u64, share };
    (together > 1 && share >= ONE_SIZE && all >= FEWEST_THINKS).then(|| found(case, cause, share, ONE_SIZE))
}

/// Users (threads, connections) of one generator, each of which keeps a rate of its own, and all the same.
fn users_in_step(case: &Case) -> Option<Finding> {
    if case.pattern() != Pattern::Bunched || case.in_rotation() {
        return None;
    }
    let users = case.summary.audit.as_ref()?.users.filter(|&users| users > 1)?;
    let one = case
        .summary
        .thread_groups
        .iter()
        .find(|g| g.users == 1 && g.cov.is_some_and(|cov| cov < REGULAR_USER))?;
    let period = one.headway_mean.filter(|&m| m > 0.0)?;
    let length =
        lattice::concentration(case.traces.stretches(), period * 1e9).filter(|&l| l >= lattice::CLEAR)?;
    let cause = Cause::UsersInStep { users, period_s: period, mean_vector: length };
    Some(found(case, cause, length, lattice::CLEAR))
}

fn saturation(case: &Case) -> Option<Finding> {
    let closed = case.summary.closed.as_ref()?;
    let users = closed.users?;
    let waiting = closed.all_waiting.filter(|&s| s > ALL_WAITING);
    // However coarse the stamps, the mean of many think times is known well: what rounding takes from one it gives to the
    // next of the same user.
    let q = case.traces.resolution / 1e9;
    let pause = LOOP.min(2.0 * q).max(closed.response.unwrap_or(0.0) * (1.0 - WAITS) / WAITS);
    let thoughtless = case.think.filter(|think| think.n >= FEWEST_THINKS).and_then(|think| {
        let (n, rounding) = (think.n as f64, q * q / 6.0);
        let own = (think.sd?.powi(2) - rounding).max(0.0);
        let error = (own / n + users * rounding / (n * n)).sqrt();
        think.mean.filter(|mean| mean + 1.96 * error <= pause)
    });
    match (waiting, thoughtless) {
        (Some(share), _) => Some(found(case, Cause::AllWaiting { users, share }, share, ALL_WAITING)),
        (None, Some(think_s)) => Some(found(case, Cause::NoThinkTime { users, think_s }, think_s, pause)),
        (None, None) => None,
    }
}

fn constant_rate(case: &Case) -> Option<Finding> {
    if case.pattern() != Pattern::Even {
        return None;
    }
    let (cov, one) = (case.cov_judged(), case.cov_of_one());
    let limit = match (one, case.users()) {
        (Some(one), Some(users)) if users > 1.0 => (SCHEDULED * one).max(REGULAR_USER),
        (_, Some(users)) if users > 1.0 => return None,
        _ => CONSTANT,
    };
    if cov.is_nan() || cov >= limit || (case.users().is_none_or(|u| u <= 1.0) && fixed_think(case).is_some())
    {
        return None;
    }
    let cov_of_one = one.filter(|_| case.users().is_some_and(|u| u > 1.0));
    Some(found(case, Cause::ConstantRate { cov, cov_of_one }, cov, limit))
}

fn fixed_think(case: &Case) -> Option<Finding> {
    let (mean, cov) = case.think().filter(|&(_, cov)| cov < FIXED_THINK && !case.in_rotation())?;
    // A user that keeps a rate thinks for what its answers leave it.
    if case
        .one_user()
        .and_then(|one| one.headway_sd)
        .zip(case.think)
        .is_some_and(|(sd, think)| think.sd_alike > Some(2.0 * sd))
    {
        return None;
    }
    let cause = Cause::FixedThink { think_s: mean, cov, pattern: case.pattern() };
    Some(noted(case, found(case, cause, cov, FIXED_THINK)))
}

/// The same, of less weight where the pattern is not off.
fn noted(case: &Case, finding: Finding) -> Finding {
    let severity = if case.is_off() { Severity::Warning } else { Severity::Info };
    Finding { severity, ..finding }
}

/// Users each of which keeps a rate, whatever its answers take, and not all the same instant.
fn fixed_pacing(case: &Case) -> Option<Finding> {
    let users = case.users().filter(|&users| users > 1.0 && !case.in_rotation())?;
    let one = case.one_user()?;
    let (mean, cov) = (one.headway_mean?, one.cov.filter(|&cov| cov < REGULAR_USER)?);
    let cause = Cause::FixedPacing { users, period_s: mean, cov };
    Some(noted(case, found(case, cause, cov, REGULAR_USER)))
}

/// A load that is switched on and off: at the same instants of each period, or at random for much of the time.
fn on_off(case: &Case) -> Option<Finding> {
    if case.pattern() != Pattern::Bunched {
        return None;
    }
    if let Some((fold::Shape::Hole { length, caught_up: false }, period)) = folded(case) {
        let cause = Cause::OnOff { on_s: (period - length) / 1e9, off_s: length / 1e9, regular: true };
        return Some(found(case, cause, length / period, EXPLAINS));
    }
    let (share, n) = (case.traces.gap_share(), case.traces.long_gaps as f64);
    let (weight, gaps) = weight(case, |gap| !held_up(case, gap) && !awaited(case, gap));
    let otherwise = case.traces.variation_outside(case.cov());
    if share < MUCH || weight < 0.5 || gaps.len() <= FEW_GAPS || otherwise > ABOUT_AS_INDEPENDENT {
        return None;
    }
    let each = case.traces.mean * case.traces.seen() as f64 / n / 1e9;
    let cause = Cause::OnOff { on_s: (1.0 - share) * each, off_s: share * each, regular: false };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, MUCH) })
}

fn timer_ticks(case: &Case) -> Option<Finding> {
    if !case.is_off() && case.pattern() != Pattern::Undecided {
        return None;
    }
    let traces = case.traces;
    let (period, length) = lattice::ticks(traces.stretches(), traces.resolution, traces.mean)?;
    let cause =
        Cause::TimerTicks { period_s: period / 1e9, mean_vector: length, per_tick: period / traces.mean };
    Some(noted(case, found(case, cause, length, lattice::CLEAR)))
}

/// What comes back in the period that the spectrum has, and that period in nanoseconds.
fn folded(case: &Case) -> Option<(fold::Shape, f64)> {
    let [Evidence::Starts(Starts::Period { period_s, .. })] =
        case.finding(&FindingId::Periodic)?.evidence[..]
    else {
        return None;
    };
    fold::shape(case.traces.stretches(), period_s * 1e9)
}

/// Some of the requests come on a schedule, among others that do not.
fn regular_part(case: &Case) -> Option<Finding> {
    let (fold::Shape::Spike { per_period }, period) = folded(case)? else { return None };
    let (rate, period_s) = (case.summary.arrivals.rate?, period / 1e9);
    let part = per_period / period_s;
    let one = (per_period - 1.0).abs() < ABOUT_ONE;
    let cause = match one {
        true => Cause::RegularPart { part: 1.0 / period_s, of: rate, period_s },
        false => Cause::TicksAmongOthers { period_s, per_tick: per_period, share: (part / rate).min(1.0) },
    };
    let id = if one { FindingId::ConstantRate } else { FindingId::TimerTicks };
    Some(Finding { id, ..found(case, cause, per_period, ABOUT_ONE) })
}

/// Excess of the squared CoV, and the share of it that gaps too long for chance account for.
fn long_gaps(case: &Case) -> Option<f64> {
    if case.traces.long_gaps == 0 || case.n() == 0 || rate::at_the_ends(case).is_some() {
        return None;
    }
    // Pauses in a load that is not bunched by them need no excess to be told.
    if case.pattern() != Pattern::Bunched {
        return case.pauses().map(|_| 0.0);
    }
    let excess = case.cov().powi(2) - 1.0;
    if excess <= 0.0 {
        return None;
    }
    let share = case.traces.long_squares / case.n() as f64 / excess;
    (share >= EXPLAINS).then_some(share.min(1.0))
}

/// Squared length of the long gaps that the predicate picks, over that of all, and the longest of those.
fn weight(case: &Case, pick: impl Fn(&traces::Gap) -> bool) -> (f64, Vec<traces::Gap>) {
    let mut all = case.traces.gaps();
    if case.pattern() != Pattern::Bunched {
        // Of those that come by chance now and then too, the ones that do not.
        let pauses = case.pauses().map_or(&[][..], |pauses| &pauses.at);
        let of_a_pause = |gap: &traces::Gap| {
            pauses.iter().any(|[from, to]| {
                let near = |a: f64, b: i64| (a - b as f64 / 1e9).abs() < 1e-6;
                near(*from, gap.from) && near(*to, gap.to)
            })
        };
        all.retain(of_a_pause);
    }
    let squares = |gaps: &[traces::Gap]| gaps.iter().map(|g| g.length() * g.length()).sum::<f64>();
    let picked: Vec<_> = all.iter().copied().filter(pick).collect();
    (squares(&picked) / squares(&all).max(1.0), picked)
}

/// When the longest of these were, at most 64, in the order of time.
fn times(gaps: &[traces::Gap]) -> Vec<[f64; 2]> {
    let mut longest = gaps.to_vec();
    longest.sort_by(|a, b| b.length().total_cmp(&a.length()));
    longest.truncate(64);
    longest.sort_by_key(|g| g.from);
    longest.iter().map(|g| [g.from as f64 / 1e9, g.to as f64 / 1e9]).collect()
}

fn longest(gaps: &[traces::Gap]) -> f64 {
    gaps.iter().map(traces::Gap::length).fold(0.0, f64::max) / 1e9
}

/// Whether the users were waiting for the target when the gap began, and until it ended.
fn awaited(case: &Case, gap: &traces::Gap) -> bool {
    let average = case.summary.arrivals.rate.zip(case.summary.response.p50).map_or(1.0, |(rate, r)| rate * r);
    let n = f64::from(gap.in_flight);
    let many = n >= 2.0
        && (n >= ALL_IN_FLIGHT * average.max(1.0) || case.users().is_some_and(|users| n >= 0.8 * users));
    many && f64::from(gap.waited_through) >= 0.5 * n
}

/// Whether what would have started in the gap left at once after it, and nobody had waited for the target.
fn held_up(case: &Case, gap: &traces::Gap) -> bool {
    let missing = gap.length() / case.traces.mean_outside();
    f64::from(gap.burst) >= (HELD_UP * missing).max(3.0) && !awaited(case, gap)
}

fn generator_pauses(case: &Case) -> Option<Finding> {
    if let Some((fold::Shape::Hole { length, caught_up: true }, period)) = folded(case) {
        let cause = Cause::RegularPauses { period_s: period / 1e9, length_s: length / 1e9 };
        return Some(found(case, cause, length / 1e9, period / 1e9));
    }
    let share = long_gaps(case)?;
    let (weight, gaps) = weight(case, |gap| held_up(case, gap));
    if weight < 0.5 {
        return lost_time(case, share);
    }
    let cause = Cause::GeneratorPauses { n: gaps.len() as u64, longest_s: longest(&gaps), share };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, EXPLAINS) })
}

/// Several brief gaps that nothing was held up in, in a load that is otherwise like that of independent users: its clients stopped
/// together, and went on where they were.
fn lost_time(case: &Case, share: f64) -> Option<Finding> {
    let (weight, gaps) = weight(case, |gap| !held_up(case, gap) && !awaited(case, gap));
    let brief = longest(&gaps) * 1e9 < BRIEF * case.traces.mean * case.n() as f64;
    let otherwise = case.traces.variation_outside(case.cov());
    let few = gaps.len() <= FEW_GAPS && case.pattern() == Pattern::Bunched;
    if weight < 0.5 || few || gaps.is_empty() || !brief || otherwise > AS_INDEPENDENT {
        return None;
    }
    let cause = Cause::LostTime { n: gaps.len() as u64, longest_s: longest(&gaps), share };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, EXPLAINS) })
}

fn feedback_loop(case: &Case) -> Option<Finding> {
    let share = long_gaps(case)?;
    let (weight, gaps) = weight(case, |gap| awaited(case, gap));
    if weight < 0.5 {
        return None;
    }
    let cause = Cause::FeedbackLoop { n: gaps.len() as u64, longest_s: longest(&gaps), share };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, EXPLAINS) })
}

/// Gaps that nothing was held up in: two tests in one file, a stopped generator, a clock that was set.
fn interruption(case: &Case) -> Option<Finding> {
    long_gaps(case)?;
    let (_, mut gaps) = weight(case, |gap| !held_up(case, gap) && !awaited(case, gap));
    gaps.sort_by(|a, b| b.length().total_cmp(&a.length()));
    gaps.truncate(FEW_GAPS);
    let squares: f64 = gaps.iter().map(|g| (g.length() / case.traces.mean).powi(2)).sum();
    let excess = case.cov().powi(2) - 1.0;
    let share = squares / case.n() as f64 / excess;
    if case.pattern() != Pattern::Bunched || share < NEARLY_ALL {
        return None;
    }
    let share = share.min(1.0);
    let cause = Cause::Interruption { n: gaps.len() as u64, longest_s: longest(&gaps), share };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, NEARLY_ALL) })
}

fn few_users(case: &Case) -> Option<Finding> {
    let users = case.users().filter(|&u| u <= FEW)?;
    let even = match case.pattern() {
        Pattern::Even => true,
        Pattern::Undecided => users <= FEW / 5.0,
        _ => false,
    };
    let less = case.cov() < 1.0 - 1.0 / (case.n() as f64).sqrt();
    if !even || !less || case.think().is_none() {
        return None;
    }
    let cause = Cause::FewUsers { users, cov: case.cov() };
    let severity = if case.pattern() == Pattern::Even { Severity::Warning } else { Severity::Info };
    Some(Finding { severity, ..found(case, cause, users, FEW) })
}

fn unknown(case: &Case) -> Option<Finding> {
    if !case.is_off() {
        return None;
    }
    // Pauses say why where the load is independent between them.
    let independent = matches!(case.summary.verdict.pattern_otherwise, Some(Pattern::Independent));
    if case.pauses().is_some() && independent {
        return None;
    }
    let waiting = case.summary.closed.as_ref().and_then(|c| c.rort).filter(|&r| r > LITTLE);
    let users_named = case.summary.audit.as_ref().is_some_and(|audit| audit.users.is_some_and(|n| n > 0));
    let cause = Cause::UnknownCause { pattern: case.pattern(), users_named, waiting };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![cause.into()],
        value: case.summary.arrivals.cov,
        n: case.n(),
        ..Finding::default()
    })
}
