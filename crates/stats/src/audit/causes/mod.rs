//! Why a load has the pattern it has: the causes that can be told from its rows, and `unknown-cause` where the rows do not
//! say.
//!
//! One function per cause, all listed in [`ALL`]; the first that is sure of itself is the cause. Some matter whatever the
//! pattern (one seed twice, generators in step, users who only wait); the others explain a pattern that is bunched or even.
//! Thresholds are in one place, and docs/causes.md shows how often each cause is taken for another.
//!
//! Deliberately absent: the pattern itself, which is decided before and without any of this; and the sentences, which the report makes.

mod lattice;
mod pairs;
mod traces;

pub(crate) use traces::Traces;

use super::threads::Think;
use crate::little::LITTLE;
use crate::summary::evidence::Cause;
use crate::summary::{Finding, FindingId, Pattern, Severity, Summary, ThreadGroup};
use pairs::Kin;

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
const OTHER_RATE: f64 = 0.2;
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
/// Share of a long gap's missing starts that must follow it at once if a pause of the generator held them up.
const HELD_UP: f64 = 0.5;
/// So many times the average in flight when a gap begins: the users wait for the target.
const ALL_IN_FLIGHT: f64 = 3.0;
/// A whole that is so much more even than each of its users follows a schedule.
const SCHEDULED: f64 = 0.8;
/// A user whose headways vary less than this (CoV) keeps a rate.
const REGULAR_USER: f64 = 0.2;
/// Below this CoV a load without known users is one of constant rate.
const CONSTANT: f64 = 0.5;

/// Findings on the pattern that say why it is so.
const SAY_WHY: [FindingId; 3] = [FindingId::Periodic, FindingId::LongestGaps, FindingId::FixedPopulation];

/// What causes are told from.
pub(crate) struct Case<'a> {
    pub traces: &'a Traces,
    /// The document so far: everything but the cause.
    pub summary: &'a Summary,
    /// Think times, where users are named and wait for their answers.
    pub think: Option<Think>,
}

type Find = fn(&Case) -> Option<Finding>;

/// Every cause, the most specific first.
pub(crate) static ALL: [(FindingId, Find); 13] = [
    (FindingId::SameSeed, same_seed),
    (FindingId::InStep, in_step),
    (FindingId::ChangingRate, changing_rate),
    (FindingId::Saturation, saturation),
    (FindingId::ConstantRate, constant_rate),
    (FindingId::FixedThink, fixed_think),
    (FindingId::FixedPacing, fixed_pacing),
    (FindingId::TimerTicks, timer_ticks),
    (FindingId::GeneratorPauses, generator_pauses),
    (FindingId::FeedbackLoop, feedback_loop),
    (FindingId::Interruption, interruption),
    (FindingId::FewUsers, few_users),
    (FindingId::UnknownCause, unknown),
];

/// The cause, as a finding; none where nothing needs one.
pub(crate) fn name(case: &Case) -> Option<Finding> {
    ALL.iter().find_map(|(id, find)| find(case).map(|finding| Finding { id: id.clone(), ..finding }))
}

impl Case<'_> {
    fn pattern(&self) -> Pattern {
        self.summary.verdict.pattern
    }

    fn is_off(&self) -> bool {
        matches!(self.pattern(), Pattern::Bunched | Pattern::Even)
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

    fn generator(&self, number: usize) -> &str {
        let names = self.summary.audit.as_ref().map_or(&[][..], |a| &a.generators);
        names.get(number).map_or("?", String::as_str)
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
    let (one, other) = (case.generator(i).to_owned(), case.generator(j).to_owned());
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
    let Some((i, j, Kin::InStep(share, chance))) = kin(case) else { return users_in_step(case) };
    let (one, other) = (case.generator(i).to_owned(), case.generator(j).to_owned());
    Some(found(case, Cause::InStep { one, other, share, chance }, share, pairs::beyond(chance)))
}

/// Users (threads, connections) of one generator, each of which keeps a rate of its own, and all the same.
fn users_in_step(case: &Case) -> Option<Finding> {
    if case.pattern() != Pattern::Bunched {
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
    let (cov, one) = (case.cov(), case.cov_of_one());
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
    let (mean, cov) = case.think().filter(|&(_, cov)| cov < FIXED_THINK)?;
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
    let users = case.users().filter(|&users| users > 1.0)?;
    let one = case.one_user()?;
    let (mean, cov) = (one.headway_mean?, one.cov.filter(|&cov| cov < REGULAR_USER)?);
    let cause = Cause::FixedPacing { users, period_s: mean, cov };
    Some(noted(case, found(case, cause, cov, REGULAR_USER)))
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

/// Excess of the squared CoV, and the share of it that gaps too long for chance account for.
fn long_gaps(case: &Case) -> Option<f64> {
    let excess = case.cov().powi(2) - 1.0;
    if case.pattern() != Pattern::Bunched || case.traces.long_gaps == 0 || case.n() == 0 || excess <= 0.0 {
        return None;
    }
    let share = case.traces.long_squares / case.n() as f64 / excess;
    (share >= EXPLAINS).then_some(share.min(1.0))
}

/// Squared length of the long gaps that the predicate picks, over that of all, and the longest of those.
fn weight(case: &Case, pick: impl Fn(&traces::Gap) -> bool) -> (f64, Vec<traces::Gap>) {
    let all = case.traces.gaps();
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
    if weight < 0.5 || gaps.len() <= FEW_GAPS || !brief || otherwise > AS_INDEPENDENT {
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
    let share = squares / case.n() as f64 / (case.cov().powi(2) - 1.0);
    if share < NEARLY_ALL {
        return None;
    }
    let share = share.min(1.0);
    let cause = Cause::Interruption { n: gaps.len() as u64, longest_s: longest(&gaps), share };
    Some(Finding { at: times(&gaps), ..found(case, cause, share, NEARLY_ALL) })
}

/// How far from a mean count a part must be to have another rate.
fn far(mean: f64) -> f64 {
    (OTHER_RATE * mean).max(OTHER_RATE_ERRORS * mean.sqrt())
}

/// The longest stretch of neighbouring parts whose rates agree, as a range of parts; and its mean count.
fn steady(parts: &[u64]) -> Option<(std::ops::Range<usize>, f64)> {
    let mut best: Option<(std::ops::Range<usize>, f64)> = None;
    for from in 0..parts.len() {
        for to in from + STEADY_PARTS..=parts.len() {
            let within = &parts[from..to];
            let mean = within.iter().sum::<u64>() as f64 / within.len() as f64;
            let agree = within.iter().all(|&n| (n as f64 - mean).abs() <= far(mean));
            if agree && best.as_ref().is_none_or(|(range, _)| range.len() < to - from) {
                best = Some((from..to, mean));
            }
        }
    }
    best
}

/// A rate that is not the same throughout: a ramp, or generators that begin and end at different times.
fn changing_rate(case: &Case) -> Option<Finding> {
    let parts = &case.traces.parts;
    if !matches!(case.pattern(), Pattern::Bunched | Pattern::Undecided) {
        return None;
    }
    let (range, mean) = steady(parts)?;
    // What lies outside must all be of another rate: a stall here and there is no change.
    let outside: Vec<usize> = (0..parts.len()).filter(|i| !range.contains(i)).collect();
    if outside.is_empty()
        || !outside.iter().all(|&i| (parts[i] as f64 - mean).abs() > far(mean))
        || !explained(case)
    {
        return None;
    }
    let (from, to) = (case.traces.part(range.start)[0], case.traces.part(range.end - 1)[1]);
    let rate = mean / (to - from) * range.len() as f64;
    let other = |i: usize| {
        let [a, b] = case.traces.part(i);
        parts[i] as f64 / (b - a)
    };
    let (low, high) =
        outside.iter().map(|&i| other(i)).fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
    let first = case.traces.part(0)[0];
    let cause = Cause::ChangingRate {
        rate,
        from_s: from - first,
        to_s: to - first,
        least: low,
        most: high,
        judge_from_s: (from - first).ceil(),
        judge_for_s: (to - from - 1.0).floor().max(1.0),
    };
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    let at = vec![[from, to]];
    Some(Finding { severity, at, ..found(case, cause, rate, OTHER_RATE) })
}

/// Whether independent users of the same rates by part would be about as bunched: by their CoV, or, where that is near 1,
/// by the counts over 100 mean headways.
fn explained(case: &Case) -> bool {
    let parts = &case.traces.parts;
    let (n, k) = (parts.iter().sum::<u64>() as f64, parts.len() as f64);
    let mean = n / k;
    let excess = case.cov().powi(2) - 1.0;
    if excess > 0.1 {
        // Of each part's headways the second moment is 2/rate^2.
        let second: f64 = parts.iter().filter(|&&c| c > 0).map(|&c| 2.0 * mean * mean / c as f64).sum();
        return second / n - 1.0 >= EXPLAINS * excess;
    }
    let long = 100.0 * case.traces.mean / 1e9;
    let rows = case.summary.arrivals.dispersion.iter();
    let Some(row) = rows.min_by(|a, b| (a.window / long).ln().abs().total_cmp(&(b.window / long).ln().abs()))
    else {
        return false;
    };
    let variance = parts.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / k;
    let per_window = row.window * 1e9 / case.traces.mean;
    per_window * variance / (mean * mean) >= EXPLAINS * (row.index - 1.0)
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
    // Another finding says why.
    if case.summary.verdict.findings.iter().any(|finding| SAY_WHY.contains(&finding.id)) {
        return None;
    }
    let waiting = case.summary.closed.as_ref().and_then(|c| c.rort).filter(|&r| r > LITTLE);
    let users_named = case.users().is_some();
    let cause = Cause::UnknownCause { pattern: case.pattern(), users_named, waiting };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![cause.into()],
        value: case.summary.arrivals.cov,
        n: case.n(),
        ..Finding::default()
    })
}
