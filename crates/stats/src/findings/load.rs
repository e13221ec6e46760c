//! Findings on how the load left: what was not sent, what was late, bunched or smoothed, and why.

use super::{FindingContext, of_rule};
use crate::metric::NumberOf;
use crate::setup::Workload;
use crate::summary::{EffectBasis, Finding, RuleId, RuleOutcome, RuleResult, Severity};
use headway_base::Outcome;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

rows! {
    $ load {
        "unsent-steps" UnsentSteps "Requests were not sent because a step before them had failed.", of Load [SentShare RequestsSent AllIssued], by load::unsent_steps;
        "unsent" Unsent "Requests were not sent.", of Load [SentShare RequestsSent AllIssued], by load::unsent;
        "off-rate" OffRate "More or fewer requests started than expected.", of Load, by load::off_rate;
        "late" Late "Requests started late.", of Load [LateShare Effect], by load::late;
        "uplink" Uplink "Requests stayed in the send queues of the generator's machine.", of Load [DepartedLate], by load::uplink;
        "target-window" TargetWindow "Requests waited until the target read.", of Run, by load::target_window;
        "bunched" Bunched "Starts are more bunched than planned.", of Load [Bunching Dispersion], by load::bunched;
        "smoothed" Smoothed "Starts are more even than planned.", of Load [Bunching Dispersion], by load::smoothed;
        "serialised" Serialised "One thread's sends cannot overlap.", of Load [Bunching Dispersion], by load::serialised;
    }
}

/// How the load left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Load {
    /// `n` of `of` requests were not sent because a step before them in their session had failed: after which steps, the most
    /// frequent first, and how many after others.
    UnsentSteps { n: u64, of: u64, after: Vec<FailedStep>, others: u64 },
    /// `n` of `of` requests were not sent: gave up waiting for a connection, still waited at the end, lacked something on the
    /// generator's machine, or any other reason; and the rates, of a workload that has one.
    Unsent {
        n: u64,
        of: u64,
        gave_up: u64,
        waiting_at_end: u64,
        lacked: u64,
        others: u64,
        started_per_s: Option<f64>,
        offered_per_s: Option<f64>,
    },
    /// `n` requests started within `within_s`, more or fewer than expected by `share` (below zero: fewer).
    OffRate { n: u64, within_s: f64, share: f64, expected: f64 },
    /// A share of the arrivals that found a free connection started more than `after_s` late.
    Late { share: f64, after_s: f64, p99_s: f64, max_s: f64, cause: GeneratorCause },
    /// The generator's delays moved these numbers by more than is tolerated (`sure`), or may have; `basis`: what says so.
    Moved {
        sure: bool,
        numbers: Vec<MovedNumber>,
        basis: EffectBasis,
        p99_s: f64,
        max_s: f64,
        cause: GeneratorCause,
    },
    /// `late` of `n` watched requests left the machine more than `after_s` after they were written.
    Uplink { late: u64, n: u64, after_s: f64, bytes_per_s: Option<f64> },
    /// The same because the target did not read.
    TargetWindow { late: u64, n: u64, after_s: f64 },
    /// Requests left in bunches.
    Bunched { off: Off, cause: GeneratorCause },
    /// Requests left more evenly than planned.
    Smoothed { off: Off },
    /// Requests of a simulation left more evenly than planned.
    SmoothedByModel { off: Off },
    /// One thread's sends, each of `send_s`, cannot overlap, which stretches that share of the headways.
    Serialised { send_s: f64, headway_s: f64, stretched: f64 },
}

/// Requests of one step that were not sent after another had failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedStep {
    /// How many.
    pub n: u64,
    /// Label of the step that was not sent.
    pub step: Cleared,
    /// Label of the step that had failed.
    pub failed: Cleared,
}

/// How far the starts are from a reference.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Off {
    /// What they are compared with.
    pub from: Reference,
    /// Window of the counts, in seconds, whose index of dispersion differs; none: the squared CoV of the headways does.
    pub window_s: Option<f64>,
    /// By how much.
    pub by: f64,
}

/// What starts are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The plan of the run.
    Plan,
    /// What an audit was told to expect.
    Expectation,
}

/// A number that the generator's delays moved, or may have moved, by more than is tolerated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MovedNumber {
    /// Of the response time (`mean`, `p50`, `p90`, `p95`, `p99`), or `failed`.
    pub number: NumberOf,
    /// By how much of the undisturbed number the measured one is off, from and to; negative where it is too low. The end is none where the
    /// undisturbed number may be 0.
    pub off: [Option<f64>; 2],
}

/// Why the generator may have been late.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum GeneratorCause {
    /// The model of a simulation has pauses.
    ModelPauses,
    /// A worker spent that share of its time handling requests.
    Saturated { share: f64 },
    /// Its threads stood still.
    Stalls { n: u64, longest_s: f64 },
    /// Its threads waited for a processor.
    NoProcessor,
    /// Another finding names it, where the rows of the file do.
    InPattern,
    /// Nothing recorded it.
    NotRecorded,
}

/// Which rules say whether all was sent, by how much they tell.
const SENT: [RuleId; 3] = [RuleId::SentShare, RuleId::RequestsSent, RuleId::AllIssued];

/// The worst of the rules on what was sent.
fn sent_rule<'a>(case: &'a FindingContext<'a>) -> Option<&'a RuleResult> {
    let rank = |rule: &RuleResult| match rule.outcome {
        RuleOutcome::Fail => 0,
        RuleOutcome::Undecided => 1,
        RuleOutcome::Pass => 2,
        RuleOutcome::NotApplicable => 3,
    };
    let rules = SENT.iter().flat_map(|id| case.rules(id));
    rules.filter(|rule| rule.outcome != RuleOutcome::NotApplicable).min_by_key(|rule| rank(rule))
}

/// Steps named one by one, of which requests were not sent.
const STEPS: usize = 3;

/// Requests that were not sent because a step before them in their session had failed.
pub(super) fn unsent_steps(case: &FindingContext) -> Option<Finding> {
    let missing = &case.evidence.loops?.missing;
    let rule = sent_rule(case).filter(|_| missing.n() > 0)?;
    let mut pairs: Vec<_> = missing.after.iter().collect();
    pairs.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let label = |step: u16| case.labels.get(usize::from(step)).cloned().unwrap_or_else(|| "?".into());
    let step = |&(&(failed, own), &n): &(&(u16, u16), &u64)| FailedStep {
        n,
        step: label(own),
        failed: label(failed),
    };
    let (n, of) = (missing.n(), case.summary.measured.n);
    let evidence = Load::UnsentSteps {
        n,
        of,
        after: pairs.iter().take(STEPS).map(step).collect(),
        others: pairs.iter().skip(STEPS).map(|(_, n)| **n).sum(),
    };
    Some(Finding {
        value: Some(n as f64),
        interval: None,
        limit: None,
        n: of,
        rule: None,
        ..of_rule(rule, evidence)
    })
}

pub(super) fn unsent(case: &FindingContext) -> Option<Finding> {
    let rule = sent_rule(case)?;
    let requests = case.evidence.requests;
    let after_failures = case.evidence.loops.map_or(0, |loops| loops.missing.n());
    let own = requests.all_not_sent().n.saturating_sub(after_failures);
    let shed = case.count(Outcome::Shed);
    let waiting_at_end = requests.given_up - shed.min(requests.given_up);
    let others = own.saturating_sub(requests.lacked);
    let planned = case.summary.measured.n;
    if shed + waiting_at_end + requests.lacked + others == 0 || case.is_foreign() {
        return None;
    }
    let rates = case.summary.rate.started.zip(case.summary.rate.offered);
    let rates = rates.filter(|_| case.evidence.workload != Workload::Closed);
    let evidence = Load::Unsent {
        n: own + requests.given_up,
        of: planned,
        gave_up: shed,
        waiting_at_end,
        lacked: requests.lacked,
        others,
        started_per_s: rates.map(|(started, _)| started),
        offered_per_s: rates.map(|(_, offered)| offered),
    };
    // What the cap held back is not held against the load.
    let finding = if own == 0 && rule.outcome != RuleOutcome::Fail {
        Finding {
            severity: Severity::Warning,
            evidence: vec![evidence.into()],
            n: planned,
            ..Finding::default()
        }
    } else {
        of_rule(rule, evidence)
    };
    Some(Finding { at: case.unsent_at.seconds(), ..finding })
}

/// Of a load of which only the starts are known: more or fewer than expected.
pub(super) fn off_rate(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::SentShare).next()?;
    let law = case.evidence.expectation()?;
    let share = rule.value.filter(|_| rule.outcome == RuleOutcome::Fail)? - 1.0;
    let measured = &case.summary.measured;
    let limit = if share > 0.0 { rule.limits.high } else { rule.limits.low };
    let evidence = Load::OffRate {
        n: rule.n,
        within_s: measured.to_s - measured.from_s,
        share,
        expected: case.evidence.kept.expected_count(law),
    };
    Some(Finding { limit, ..of_rule(rule, evidence) })
}

pub(super) fn late(case: &FindingContext) -> Option<Finding> {
    moved(case).or_else(|| started_late(case))
}

/// What the generator's delays did to the numbers, or may have done.
fn moved(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::Effect).next()?;
    let open = matches!(rule.outcome, RuleOutcome::Fail | RuleOutcome::Undecided);
    let effect = case.summary.verdict.effect.as_ref().filter(|_| open)?;
    let deciding = || effect.numbers.iter().filter(|number| number.outcome == Some(rule.outcome));
    let numbers = deciding().map(|number| MovedNumber { number: number.number, off: number.off() });
    let evidence = Load::Moved {
        sure: rule.outcome == RuleOutcome::Fail,
        numbers: numbers.collect(),
        basis: deciding().next()?.basis,
        p99_s: case.summary.lag.p99.unwrap_or(0.0),
        max_s: case.summary.lag.max.unwrap_or(0.0),
        cause: case.generator_cause(),
    };
    Some(Finding { at: case.evidence.late_at(), ..of_rule(rule, evidence) })
}

/// Of a load whose lateness itself is judged.
fn started_late(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::LateShare).next()?;
    let late: u64 = case.evidence.kept.segments.iter().map(|s| s.late).sum();
    if late == 0 || matches!(rule.outcome, RuleOutcome::Pass | RuleOutcome::NotApplicable) {
        return None;
    }
    let lag = &case.summary.lag;
    let evidence = Load::Late {
        share: rule.value.unwrap_or(0.0),
        after_s: case.evidence.kept.lateness.length().as_secs_f64(),
        p99_s: lag.p99.unwrap_or(0.0),
        max_s: lag.max.unwrap_or(0.0),
        cause: case.generator_cause(),
    };
    Some(Finding { at: case.evidence.late_at(), ..of_rule(rule, evidence) })
}

/// Requests stayed in the queues of the generator's machine.
pub(super) fn uplink(case: &FindingContext) -> Option<Finding> {
    let rule = case.rules(&RuleId::DepartedLate).next()?;
    let departures = case.generator()?.departures.as_ref()?;
    if departures.late == 0 || matches!(rule.outcome, RuleOutcome::Pass | RuleOutcome::NotApplicable) {
        return None;
    }
    let evidence = Load::Uplink {
        late: departures.late,
        n: departures.n,
        after_s: departures.after_s,
        bytes_per_s: departures.bytes_per_s,
    };
    Some(Finding { at: departures.at.clone(), ..of_rule(rule, evidence) })
}

/// Requests waited until the target had room for them.
pub(super) fn target_window(case: &FindingContext) -> Option<Finding> {
    let departures = case.generator()?.departures.as_ref()?;
    let share = departures.by_target as f64 / departures.n as f64;
    let evidence =
        Load::TargetWindow { late: departures.by_target, n: departures.n, after_s: departures.after_s };
    (share > case.evidence.tolerances.late).then(|| Finding {
        severity: Severity::Info,
        evidence: vec![evidence.into()],
        value: Some(share),
        n: departures.n,
        ..Finding::default()
    })
}

/// The worse of the two rules on the pattern of starts, on one side.
fn worst<'a>(case: &'a FindingContext, above: bool) -> Option<&'a RuleResult> {
    let sign = if above { 1.0 } else { -1.0 };
    let beyond = |r: &&RuleResult| {
        let limit = if above { r.limits.high } else { r.limits.low.map(|l| -l) };
        limit.is_some_and(|limit| sign * r.value.unwrap_or(0.0) > limit)
            && matches!(r.outcome, RuleOutcome::Fail | RuleOutcome::Undecided)
    };
    let failed = |r: &RuleResult| r.outcome == RuleOutcome::Fail;
    case.rules(&RuleId::Bunching).chain(case.rules(&RuleId::Dispersion)).filter(beyond).max_by(|a, b| {
        let size = |r: &RuleResult| r.value.unwrap_or(0.0).abs();
        failed(a).cmp(&failed(b)).then(size(a).total_cmp(&size(b)))
    })
}

fn off(case: &FindingContext, rule: &RuleResult) -> Off {
    let from = if case.is_foreign() { Reference::Expectation } else { Reference::Plan };
    Off { from, window_s: rule.window, by: rule.value.unwrap_or(0.0) }
}

pub(super) fn bunched(case: &FindingContext) -> Option<Finding> {
    let rule = worst(case, true)?;
    let evidence = Load::Bunched { off: off(case, rule), cause: case.generator_cause() };
    Some(Finding { at: case.evidence.late_at(), ..of_rule(rule, evidence) })
}

pub(super) fn smoothed(case: &FindingContext) -> Option<Finding> {
    let rule = worst(case, false)?;
    let off = off(case, rule);
    let evidence = if case.is_simulated() { Load::SmoothedByModel { off } } else { Load::Smoothed { off } };
    Some(of_rule(rule, evidence))
}

pub(super) fn serialised(case: &FindingContext) -> Option<Finding> {
    let (evidence, arrivals) = (case.evidence, &case.evidence.arrivals);
    let cost = evidence.send_cost.filter(|_| evidence.is_serialised())?.as_secs_f64();
    let rule = case.rules(&RuleId::Bunching).next()?;
    // Of the starts as they were: the rule may forgive it.
    let stretched =
        arrivals.gaps.cov().zip(arrivals.intended.cov2()).map(|(started, due)| started * started - due);
    let value = stretched.filter(|&v| v < 0.0)?;
    let mean = arrivals.gaps.mean()? / 1e9;
    let evidence = Load::Serialised { send_s: cost, headway_s: mean, stretched: -(-cost / mean).exp_m1() };
    let found = Finding { limit: None, interval: None, rule: None, ..of_rule(rule, evidence) };
    Some(Finding { severity: Severity::Info, value: Some(value), ..found })
}
