//! Why a load has the pattern it has: the causes that can be told from its rows, and `unknown-cause` where the rows do not
//! say.
//!
//! One function per cause, all listed in [`ALL`]; the first that is sure of itself is the cause. Some matter whatever the
//! pattern (one seed twice, generators in step, users who only wait); the others explain a pattern that is bunched or even.
//! Thresholds are in one place, and docs/causes.md shows how often each cause is taken for another.
//!
//! Deliberately absent: the pattern itself, which is decided before and without any of this.

mod evidence;
mod lattice;
mod pairs;

pub(crate) use evidence::Evidence;

use super::threads::Think;
use crate::findings::{percent, span};
use crate::little::LITTLE;
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
    pub evidence: &'a Evidence,
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
        let q = self.evidence.resolution / 1e9;
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

fn found(case: &Case, text: String, value: f64, limit: f64) -> Finding {
    Finding {
        severity: Severity::Warning,
        text,
        value: Some(value),
        limit: Some(limit),
        n: case.n(),
        ..Finding::default()
    }
}

fn kin(case: &Case) -> Option<(usize, usize, Kin)> {
    pairs::kinship(&case.evidence.firsts, case.evidence.resolution)
}

fn same_seed(case: &Case) -> Option<Finding> {
    const REMEDY: &str = "Together they are not two independent loads but one, sent twice; give each a seed, or a shard, of its \
                          own.";
    let (i, j, kin) = kin(case)?;
    let (one, other) = (case.generator(i), case.generator(j));
    match kin {
        Kin::SameSeed(r) => {
            let text = format!(
                "{one} and {other} sent the same headways in the same order (correlation {r:.2}): the same seed on both. \
                 {REMEDY}"
            );
            Some(found(case, text, r, pairs::SAME))
        }
        Kin::Shifted { share, chance, later } => {
            let shift = match later {
                0 => String::new(),
                _ => format!(
                    " {} {}",
                    span(later.unsigned_abs() as f64 / 1e9),
                    if later > 0 { "later" } else { "earlier" }
                ),
            };
            let text = format!(
                "{} of the starts of {one} come again from {other}{shift} ({} would by chance): the same seed on both, of which \
                 some requests were lost or begin elsewhere. {REMEDY}",
                percent(share),
                percent(chance)
            );
            Some(found(case, text, share, pairs::beyond(chance)))
        }
        Kin::InStep(..) => None,
    }
}

fn in_step(case: &Case) -> Option<Finding> {
    let Some((i, j, Kin::InStep(share, chance))) = kin(case) else { return users_in_step(case) };
    let text = format!(
        "{} of the starts of {} fall together with one of {} ({} would by chance): generators with regular headways that \
         were started in step. Random headways, or starts spread over a headway, undo it.",
        percent(share),
        case.generator(i),
        case.generator(j),
        percent(chance)
    );
    Some(found(case, text, share, pairs::beyond(chance)))
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
        lattice::concentration(case.evidence.stretches(), period * 1e9).filter(|&l| l >= lattice::CLEAR)?;
    let text = format!(
        "Each of the {users} users sends once in {} and all send together (mean vector {length:.2}, 0 if they did not): \
         users of constant rate that were started in step. Random headways, or starts spread over a headway, undo it.",
        span(period)
    );
    Some(found(case, text, length, lattice::CLEAR))
}

fn saturation(case: &Case) -> Option<Finding> {
    let closed = case.summary.closed.as_ref()?;
    let users = closed.users?;
    let waiting = closed.all_waiting.filter(|&s| s > ALL_WAITING);
    // However coarse the stamps, the mean of many think times is known well: what rounding takes from one it gives to the
    // next of the same user.
    let q = case.evidence.resolution / 1e9;
    let pause = LOOP.min(2.0 * q).max(closed.response.unwrap_or(0.0) * (1.0 - WAITS) / WAITS);
    let thoughtless = case.think.filter(|think| think.n >= FEWEST_THINKS).and_then(|think| {
        let (n, rounding) = (think.n as f64, q * q / 6.0);
        let own = (think.sd?.powi(2) - rounding).max(0.0);
        let error = (own / n + users * rounding / (n * n)).sqrt();
        think.mean.filter(|mean| mean + 1.96 * error <= pause)
    });
    let (effect, value, limit) = match (waiting, thoughtless) {
        (Some(share), _) => (
            format!("In {} of the time nearly all of the {users:.0} users were waiting", percent(share)),
            share,
            ALL_WAITING,
        ),
        (None, Some(think)) => (
            format!(
                "The {users:.0} users do not think ({} on average): they are always waiting",
                span(think)
            ),
            think,
            pause,
        ),
        (None, None) => return None,
    };
    let text = format!(
        "{effect} for an answer: the rate is what the target can do and not what users would send, and a slower target would \
         have met fewer requests. Add users or think time."
    );
    Some(found(case, text, value, limit))
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
    let text = format!(
        "Requests leave on a schedule of constant rate (CoV {cov:.2}{}). Real users do not take turns: such a load meets \
         shorter queues than they would.",
        one.filter(|_| case.users().is_some_and(|u| u > 1.0))
            .map_or(String::new(), |one| format!(", while that of a single user is {one:.2}"))
    );
    Some(found(case, text, cov, limit))
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
    let effect = match case.pattern() {
        Pattern::Bunched => {
            "users that a slow answer brings together stay together, and come back as a bunch each time"
        }
        Pattern::Even => "each user comes back like a clock",
        _ => {
            "each user comes back like a clock: longer than that the users are not independent, and those that one slow answer \
             brings together stay together"
        }
    };
    let text = format!(
        "The think time is fixed at {} (CoV at most {cov:.2}), so {effect}. Draw it from a distribution; an exponential one is \
         like independent users.",
        span(mean)
    );
    Some(noted(case, found(case, text, cov, FIXED_THINK)))
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
    let text = format!(
        "Each of the {users:.0} users sends once in {}, whatever its answers take (CoV of the first user's headways {cov:.2}): \
         longer than that the users take turns and are not independent. Draw the pacing from a distribution.",
        span(mean)
    );
    Some(noted(case, found(case, text, cov, REGULAR_USER)))
}

fn timer_ticks(case: &Case) -> Option<Finding> {
    if !case.is_off() && case.pattern() != Pattern::Undecided {
        return None;
    }
    let evidence = case.evidence;
    let (period, length) = lattice::ticks(evidence.stretches(), evidence.resolution, evidence.mean)?;
    let per_tick = period / case.evidence.mean;
    let text = format!(
        "Starts keep to the ticks of a timer of {} (mean vector {length:.2}, 0 without ticks): {per_tick:.1} requests a tick \
         on average leave together. A generator that sleeps until each request is due would not do that.",
        span(period / 1e9)
    );
    Some(noted(case, found(case, text, length, lattice::CLEAR)))
}

/// Excess of the squared CoV, and the share of it that gaps too long for chance account for.
fn long_gaps(case: &Case) -> Option<f64> {
    let excess = case.cov().powi(2) - 1.0;
    if case.pattern() != Pattern::Bunched || case.evidence.long_gaps == 0 || case.n() == 0 || excess <= 0.0 {
        return None;
    }
    let share = case.evidence.long_squares / case.n() as f64 / excess;
    (share >= EXPLAINS).then_some(share.min(1.0))
}

/// Squared length of the long gaps that the predicate picks, over that of all, and the longest of those.
fn weight(case: &Case, pick: impl Fn(&evidence::Gap) -> bool) -> (f64, Vec<evidence::Gap>) {
    let all = case.evidence.gaps();
    let squares = |gaps: &[evidence::Gap]| gaps.iter().map(|g| g.length() * g.length()).sum::<f64>();
    let picked: Vec<_> = all.iter().copied().filter(pick).collect();
    (squares(&picked) / squares(&all).max(1.0), picked)
}

/// When the longest of these were, at most 64, in the order of time.
fn times(gaps: &[evidence::Gap]) -> Vec<[f64; 2]> {
    let mut longest = gaps.to_vec();
    longest.sort_by(|a, b| b.length().total_cmp(&a.length()));
    longest.truncate(64);
    longest.sort_by_key(|g| g.from);
    longest.iter().map(|g| [g.from as f64 / 1e9, g.to as f64 / 1e9]).collect()
}

fn longest(gaps: &[evidence::Gap]) -> f64 {
    gaps.iter().map(evidence::Gap::length).fold(0.0, f64::max) / 1e9
}

/// Whether the users were waiting for the target when the gap began, and until it ended.
fn awaited(case: &Case, gap: &evidence::Gap) -> bool {
    let average = case.summary.arrivals.rate.zip(case.summary.response.p50).map_or(1.0, |(rate, r)| rate * r);
    let n = f64::from(gap.in_flight);
    let many = n >= 2.0
        && (n >= ALL_IN_FLIGHT * average.max(1.0) || case.users().is_some_and(|users| n >= 0.8 * users));
    many && f64::from(gap.waited_through) >= 0.5 * n
}

/// Whether what would have started in the gap left at once after it, and nobody had waited for the target.
fn held_up(case: &Case, gap: &evidence::Gap) -> bool {
    let missing = gap.length() / case.evidence.mean_outside();
    f64::from(gap.burst) >= (HELD_UP * missing).max(3.0) && !awaited(case, gap)
}

fn generator_pauses(case: &Case) -> Option<Finding> {
    let share = long_gaps(case)?;
    let (weight, gaps) = weight(case, |gap| held_up(case, gap));
    if weight < 0.5 {
        return None;
    }
    let text = format!(
        "The generator stood still {} times, the longest for {}: no request left, then those held up left at once, while \
         few were waiting for an answer. Such pauses (garbage collection, a busy machine) make {} of the excess; the times \
         are listed.",
        gaps.len(),
        span(longest(&gaps)),
        percent(share)
    );
    Some(Finding { at: times(&gaps), ..found(case, text, share, EXPLAINS) })
}

fn feedback_loop(case: &Case) -> Option<Finding> {
    let share = long_gaps(case)?;
    let (weight, gaps) = weight(case, |gap| awaited(case, gap));
    if weight < 0.5 {
        return None;
    }
    let text = format!(
        "{} times, the longest for {}, no request left because those in flight were waiting for an answer; the users came \
         back when it came. The target's stalls shape the load (closed-loop feedback) and make {} of the excess. Independent \
         users would have gone on coming.",
        gaps.len(),
        span(longest(&gaps)),
        percent(share)
    );
    Some(Finding { at: times(&gaps), ..found(case, text, share, EXPLAINS) })
}

/// Gaps that nothing was held up in: two tests in one file, a stopped generator, a clock that was set.
fn interruption(case: &Case) -> Option<Finding> {
    long_gaps(case)?;
    let (_, mut gaps) = weight(case, |gap| !held_up(case, gap) && !awaited(case, gap));
    gaps.sort_by(|a, b| b.length().total_cmp(&a.length()));
    gaps.truncate(FEW_GAPS);
    let squares: f64 = gaps.iter().map(|g| (g.length() / case.evidence.mean).powi(2)).sum();
    let share = squares / case.n() as f64 / (case.cov().powi(2) - 1.0);
    if share < NEARLY_ALL {
        return None;
    }
    let text = format!(
        "No request left for {}, and nothing was made up for afterwards: an interrupted test, several tests in one file, or a \
         clock that was set. The {} longest such gaps make {} of the excess; the times are listed. Judge one part with --from \
         and --for.",
        span(longest(&gaps)),
        gaps.len(),
        percent(share.min(1.0))
    );
    Some(Finding { at: times(&gaps), ..found(case, text, share.min(1.0), NEARLY_ALL) })
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
    let parts = &case.evidence.parts;
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
    let (from, to) = (case.evidence.part(range.start)[0], case.evidence.part(range.end - 1)[1]);
    let rate = mean / (to - from) * range.len() as f64;
    let other = |i: usize| {
        let [a, b] = case.evidence.part(i);
        parts[i] as f64 / (b - a)
    };
    let (low, high) =
        outside.iter().map(|&i| other(i)).fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
    let first = case.evidence.part(0)[0];
    let text = format!(
        "The rate is not the same throughout: {rate:.1}/s from {} to {} after the first start, and {low:.1} to {high:.1}/s \
         outside of that (a ramp, or generators that begin and end at different times). A changing rate looks bunched by \
         itself. Judge the steady part: --from {:.0}s --for {:.0}s.",
        span(from - first),
        span(to - first),
        (from - first).ceil(),
        (to - from - 1.0).floor().max(1.0)
    );
    let severity = if case.pattern() == Pattern::Bunched { Severity::Warning } else { Severity::Info };
    let at = vec![[from, to]];
    Some(Finding { severity, at, ..found(case, text, rate, OTHER_RATE) })
}

/// Whether independent users of the same rates by part would be about as bunched: by their CoV, or, where that is near 1,
/// by the counts over 100 mean headways.
fn explained(case: &Case) -> bool {
    let parts = &case.evidence.parts;
    let (n, k) = (parts.iter().sum::<u64>() as f64, parts.len() as f64);
    let mean = n / k;
    let excess = case.cov().powi(2) - 1.0;
    if excess > 0.1 {
        // Of each part's headways the second moment is 2/rate^2.
        let second: f64 = parts.iter().filter(|&&c| c > 0).map(|&c| 2.0 * mean * mean / c as f64).sum();
        return second / n - 1.0 >= EXPLAINS * excess;
    }
    let long = 100.0 * case.evidence.mean / 1e9;
    let rows = case.summary.arrivals.dispersion.iter();
    let Some(row) = rows.min_by(|a, b| (a.window / long).ln().abs().total_cmp(&(b.window / long).ln().abs()))
    else {
        return false;
    };
    let variance = parts.iter().map(|&c| (c as f64 - mean).powi(2)).sum::<f64>() / k;
    let per_window = row.window * 1e9 / case.evidence.mean;
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
    let text = format!(
        "Only {users:.0} users: each cannot come again before it is answered and has thought, so their starts are more even \
         than those of many independent users (CoV {:.2}; the groups of users below show how it grows with their number). \
         Use more users with a longer think time.",
        case.cov()
    );
    let severity = if case.pattern() == Pattern::Even { Severity::Warning } else { Severity::Info };
    Some(Finding { severity, ..found(case, text, users, FEW) })
}

fn unknown(case: &Case) -> Option<Finding> {
    let what = match case.pattern() {
        Pattern::Bunched => "bunched",
        Pattern::Even => "more even than independent users",
        _ => return None,
    };
    // Another finding says why.
    if case.summary.verdict.findings.iter().any(|finding| SAY_WHY.contains(&finding.id)) {
        return None;
    }
    let waiting = case.summary.closed.as_ref().and_then(|c| c.rort).filter(|&r| r > LITTLE);
    let more = match (case.users(), waiting) {
        (None, _) => {
            "; they name no users that wait for their answers, whose think times would tell more".to_owned()
        }
        (_, Some(rort)) => format!(
            ". Users spend {} of their cycle waiting for answers (RoRT; up to 3 % leaves starts alone), so the target's \
             pace may be in it",
            percent(rort)
        ),
        _ => String::new(),
    };
    let text = format!("The starts are {what}, and these rows do not say why{more}.");
    Some(Finding {
        severity: Severity::Info,
        text,
        value: case.summary.arrivals.cov,
        n: case.n(),
        ..Finding::default()
    })
}
