//! Findings on the run around the load: cut short, stalled, saturated, failed, unanswered.

use super::simulated::too_short;
use super::{FindingContext, longest};
use crate::intervals::SEGMENTS;
use crate::phase::Ranges;
use crate::summary::{Finding, RuleId, RuleOutcome, RuleResult, Severity};
use headway_base::Outcome;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

rows! {
    $ cut_short {
        "aborted" Aborted "A threshold ended the run.", of Run, by run::aborted;
        "interrupted" Interrupted "The run was cut short.", of Run, by run::interrupted;
    }
}

rows! {
    $ generator {
        "stall" Stall "The generator's threads stood still.", of Load, by run::stall;
        "saturated" Saturated "Workers of the generator were saturated.", of Load, by run::saturated;
        "local-limit" LocalLimit "The generator's machine lacked something.", of Load, by run::local_limit;
        "unaccounted" Unaccounted "Requests started of which no record tells the end.", of Run, by run::unaccounted;
        "disordered" Disordered "Starts were reported out of order.", of Run, by run::disordered;
    }
}

rows! {
    $ responses {
        "short-run" ShortRun "The run is too short to decide.", of Load, by run::short_run;
        "censored" Censored "Requests without a response make percentiles lower bounds.", of Run, by run::censored;
        "errors" Errors "Requests failed.", of Run, by run::errors;
        "unreachable" Unreachable "The system said that datagrams do not arrive.", of Run, by run::unreachable;
        "surplus" Surplus "Connections were replaced, since bytes came on them that no request had asked for.", of Run, by run::surplus;
        "sent-again" SentAgain "The target gave requests back unread, and they were sent again.", of Run, by run::sent_again;
        "redirects" Redirects "Responses were redirects, which were not followed.", of Run, by run::redirects;
        "names-not-read" NamesNotRead "The name that connections go to could not be read again.", of Run, by run::names_not_read;
    }
}

rows! {
    $ around {
        "in-pause" InPause "Arrivals started within a pause of the plan.", of Run, by run::in_pause;
        "same-host" SameHost "Generator and target share a machine.", of Run, by run::same_host;
        "ports" Ports "Local ports may run out.", of Run;
        "proxy-not-used" ProxyNotUsed "The environment names a proxy, which the run did not use.", of Run;
        "log-lost" LogLost "The log could not be written to its end.", of Run;
        "log-cut-short" LogCutShort "The log has no end mark.", of Run;
        "joined-late" JoinedLate "The run joined a plan that had begun.", of Load;
        "clock-off" ClockOff "The clocks of the machines of a run differ.", of Load;
        "clock-free" ClockFree "Nothing keeps the machine's clock right.", of Run;
        "store-failed" StoreFailed "The destination of the shards failed for a while.", of Run;
        "shards-apart" ShardsApart "The shards of a run did not start together.", of Load;
        "records-missing" RecordsMissing "Records of some shards are missing.", of Run;
    }
}

/// The run around the load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Run {
    /// A threshold ended the run; the number of complete segments of the measured phase.
    Aborted { threshold: Cleared, at_s: f64, complete: usize, of: usize },
    /// The run was cut short.
    Interrupted { at_s: f64, complete: usize, of: usize },
    /// The generator's threads stood still `n` times for more than `over_s`; and the longest of these times.
    Stall { n: u64, over_s: f64, total_s: f64, longest_s: f64, at_s: f64, cause: Option<String> },
    /// `n` of `of` workers were saturated, and the share of the busiest one's time.
    Saturated { n: u64, of: u64, busiest: f64 },
    /// Requests were not sent because the machine lacked something (`descriptors`, `ports` ...; empty: not known what).
    LocalLimit { n: u64, lacked: Vec<String> },
    /// Requests started of which no record tells the end.
    Unaccounted { n: u64 },
    /// Starts were reported out of order.
    Disordered { n: u64 },
    /// Rules that could not be decided.
    Undecided { rules: Vec<OpenRule> },
    /// `n` of `of` requests got no complete response, so these numbers are lower bounds.
    Censored { n: u64, of: u64, bounds: Vec<String> },
    /// `n` of `of` requests failed: outcomes with their counts, the most frequent first; `many`: more than is tolerated.
    Errors { n: u64, of: u64, outcomes: Vec<(String, u64)>, many: bool },
    /// The system said `n` times that a datagram met a port at which nothing listens.
    Unreachable { n: u64 },
    /// `n` of `of` connections that were opened had bytes that no request had asked for, and others took their place.
    Surplus { n: u64, of: u64 },
    /// The name that connections go to was to be read again `of` times, and that failed `n` times; why, the last time.
    NamesNotRead { n: u64, of: u64, why: Cleared },
    /// The target gave `n` of `of` requests back unread, and they were sent again, `times` times in all.
    SentAgain { n: u64, of: u64, times: u64 },
    /// `n` of `of` requests were answered with a redirect, and redirects were not followed.
    Redirects { n: u64, of: u64 },
    /// Arrivals started within a pause of the plan.
    InPause { n: u64 },
    /// Generator and target share a machine.
    SameHost,
    /// A load may need more local ports than there are: `needed` at once at most, with so many attempts per second, or connections held (`sockets`), and
    /// each port held for up to `held_s`. There are `ports` on each of `addresses`, of which `time_wait` were taken by ended connections before
    /// the run (of any target), and `time_wait_after` after it.
    Ports {
        needed: u64,
        attempts_per_s: Option<f64>,
        sockets: Option<u64>,
        held_s: f64,
        ports: u64,
        addresses: u64,
        time_wait: u64,
        time_wait_after: Option<u64>,
    },
    /// A variable of the environment names a proxy for that target, and the run did not use it.
    ProxyNotUsed { variable: String, target: Cleared },
    /// The run joined a plan that had begun so long before, and passed over the arrivals that had fallen due.
    JoinedLate { late_s: f64, missed: u64 },
    /// This machine's clock minus that of the destination of a shard, or of another shard's machine, is between these.
    ClockOff { from: Cleared, least_s: f64, most_s: f64 },
    /// Nothing keeps this machine's clock right, as the system says.
    ClockFree,
    /// So many requests to the destination of the shards failed and were tried again.
    StoreFailed { place: Cleared, failures: u64, last: Cleared },
    /// The log lacks rows, for that error of the system.
    LogLost { lost: u64, written: u64, error: Cleared },
    /// The log in that folder has no end mark.
    LogCutShort { folder: Cleared },
    /// The shards of a run began so far apart. Of so many requests in the measured phases of their shards these are not in that of the
    /// merged run.
    ShardsApart {
        apart_s: f64,
        #[serde(default)]
        outside: u64,
        #[serde(default)]
        of: u64,
    },
    /// Planned arrivals are in shards that are missing.
    MissingShards { n: u64, shards: Vec<LostShard> },
    /// Planned arrivals left no record: those of these shards.
    MissingRecords {
        n: u64,
        #[serde(default)]
        shards: Vec<ShortShard>,
    },
}

/// A rule that could not be decided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OpenRule {
    /// Which.
    pub rule: RuleId,
    /// Its window in seconds, of those that have one.
    pub window_s: Option<f64>,
    /// Number of observations behind it.
    pub n: u64,
}

/// A shard of which records are missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShortShard {
    /// Its name: `2/4`.
    pub shard: String,
    /// Planned arrivals that left no record.
    pub n: u64,
    /// Arrivals that it had planned.
    pub planned: u64,
}

/// A shard that is missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostShard {
    /// Its name: `2/4`.
    pub shard: String,
    /// Arrivals that it had planned, where that is known.
    pub planned: Option<u64>,
}

pub(super) fn aborted(case: &FindingContext) -> Option<Finding> {
    let threshold = case.summary.thresholds.iter().find(|t| t.ended_run_at.is_some())?;
    let at = threshold.ended_run_at?;
    let evidence = Run::Aborted {
        threshold: threshold.text.clone(),
        at_s: at,
        complete: case.evidence.filled,
        of: SEGMENTS,
    };
    Some(Finding {
        severity: Severity::Error,
        evidence: vec![evidence.into()],
        value: threshold.value,
        interval: threshold.interval,
        limit: Some(threshold.limit),
        at: vec![[at, at]],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn interrupted(case: &FindingContext) -> Option<Finding> {
    if case.summary.measured.aborted {
        return None;
    }
    let at = case.facts.interrupted_at?.as_secs_f64();
    let evidence = Run::Interrupted { at_s: at, complete: case.evidence.filled, of: SEGMENTS };
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(at),
        at: vec![[at, at]],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn stall(case: &FindingContext) -> Option<Finding> {
    let stalls = case.stalls();
    let worst = longest(&stalls)?;
    let mut at = Ranges::default();
    for s in &stalls {
        at.push((s.at_s * 1e9) as i64, ((s.at_s + s.length_s) * 1e9) as i64);
    }
    let over = case.evidence.tolerances.stall.as_secs_f64();
    let evidence = Run::Stall {
        n: stalls.len() as u64,
        over_s: over,
        total_s: stalls.iter().map(|s| s.length_s).sum(),
        longest_s: worst.length_s,
        at_s: worst.at_s,
        cause: worst.cause.clone(),
    };
    Some(Finding {
        severity: Severity::Info,
        evidence: vec![evidence.into()],
        value: Some(worst.length_s),
        limit: Some(over),
        at: at.seconds(),
        n: stalls.len() as u64,
        ..Finding::default()
    })
}

pub(super) fn saturated(case: &FindingContext) -> Option<Finding> {
    let (workers, most) = case.saturated_workers();
    let all = case.generator()?.workers.len() as u64;
    let evidence = Run::Saturated { n: workers, of: all, busiest: most };
    (workers > 0).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![evidence.into()],
        value: Some(most),
        limit: Some(case.evidence.tolerances.saturated),
        n: all,
        ..Finding::default()
    })
}

pub(super) fn local_limit(case: &FindingContext) -> Option<Finding> {
    let hits = case.count(Outcome::LocalLimit);
    let lacked = case.generator().map(|generator| generator.lacked.keys().cloned().collect());
    let evidence = Run::LocalLimit { n: hits, lacked: lacked.unwrap_or_default() };
    (hits > 0).then(|| Finding {
        severity: Severity::Error,
        evidence: vec![evidence.into()],
        value: Some(hits as f64),
        limit: Some(0.0),
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn unaccounted(case: &FindingContext) -> Option<Finding> {
    let missing = case.unaccounted;
    (missing > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Unaccounted { n: missing }.into()],
        value: Some(missing as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn disordered(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.disordered;
    (n > 0).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Disordered { n }.into()],
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

/// Too short to decide the rules, or, simulated, to say much about a steady state.
pub(super) fn short_run(case: &FindingContext) -> Option<Finding> {
    match (undecided(case), too_short(case)) {
        (Some(rules), Some(model)) => {
            Some(Finding { evidence: [rules.evidence, model.evidence].concat(), ..model })
        }
        (rules, model) => rules.or(model),
    }
}

fn undecided(case: &FindingContext) -> Option<Finding> {
    // What models disagree about is not decided by a longer run.
    let open = |rule: &&RuleResult| {
        rule.outcome == RuleOutcome::Undecided && rule.rule != crate::summary::RuleId::Effect
    };
    let undecided = case.summary.verdict.rules.iter().filter(open);
    let rules: Vec<OpenRule> = undecided
        .map(|rule| OpenRule { rule: rule.rule.clone(), window_s: rule.window, n: rule.n })
        .collect();
    (!rules.is_empty()).then(|| Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Undecided { rules }.into()],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}

pub(super) fn censored(case: &FindingContext) -> Option<Finding> {
    let response = &case.summary.response;
    if response.censored == 0 {
        return None;
    }
    let share = response.censored as f64 / response.n as f64;
    let evidence = Run::Censored {
        n: response.censored,
        of: response.n,
        bounds: response.lower_bound.keys().cloned().collect(),
    };
    Some(Finding {
        severity: if share > case.evidence.tolerances.errors { Severity::Warning } else { Severity::Info },
        evidence: vec![evidence.into()],
        value: Some(share),
        n: response.n,
        ..Finding::default()
    })
}

pub(super) fn errors(case: &FindingContext) -> Option<Finding> {
    // What was not sent has findings of its own.
    let not_sent = |outcome: Outcome| match outcome {
        Outcome::Unsent => case.count(outcome),
        Outcome::LocalLimit => case.evidence.requests.lacked,
        _ => 0,
    };
    let failures = |outcome: Outcome| case.count(outcome) - not_sent(outcome).min(case.count(outcome));
    let n: u64 = Outcome::ALL.into_iter().map(failures).sum();
    let failed = n - case.count(Outcome::Ok);
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / n as f64;
    let bad = Outcome::ALL.into_iter().filter(|&outcome| outcome != Outcome::Ok && failures(outcome) > 0);
    let mut outcomes: Vec<(String, u64)> =
        bad.map(|outcome| (outcome.name().to_owned(), failures(outcome))).collect();
    outcomes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let many = share > case.evidence.tolerances.errors;
    Some(Finding {
        severity: if many { Severity::Warning } else { Severity::Info },
        evidence: vec![Run::Errors { n: failed, of: n, outcomes, many }.into()],
        value: Some(share),
        limit: Some(case.evidence.tolerances.errors),
        at: case.failed_at.seconds(),
        n,
        ..Finding::default()
    })
}

pub(super) fn unreachable(case: &FindingContext) -> Option<Finding> {
    let n = case.generator()?.datagrams.as_ref()?.unreachable;
    (n > 0).then(|| Finding {
        severity: Severity::Error,
        evidence: vec![Run::Unreachable { n }.into()],
        value: Some(n as f64),
        ..Finding::default()
    })
}

pub(super) fn surplus(case: &FindingContext) -> Option<Finding> {
    let generator = case.generator()?;
    let n = generator.surplus.filter(|&n| n > 0)?;
    let of = generator.connections_opened.unwrap_or(n);
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![Run::Surplus { n, of }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn names_not_read(case: &FindingContext) -> Option<Finding> {
    let names = case.generator()?.names.as_ref().filter(|names| names.failed > 0)?;
    let (n, of, why) = (names.failed, names.readings, names.why.clone().unwrap_or_default());
    Some(Finding {
        severity: Severity::Warning,
        evidence: vec![Run::NamesNotRead { n, of, why }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

/// Redirects are worth a warning where they are more than that share of the responses: the report is then one of redirects.
const MOSTLY_REDIRECTS: f64 = 0.5;

pub(super) fn redirects(case: &FindingContext) -> Option<Finding> {
    let (n, of) = (case.evidence.requests.redirects, case.summary.measured.n);
    let share = n as f64 / of as f64;
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: if share > MOSTLY_REDIRECTS { Severity::Warning } else { Severity::Info },
        evidence: vec![Run::Redirects { n, of }.into()],
        value: Some(share),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn sent_again(case: &FindingContext) -> Option<Finding> {
    let ((n, times), of) = (case.evidence.requests.given_back, case.summary.measured.n);
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Info,
        evidence: vec![Run::SentAgain { n, of, times }.into()],
        value: Some(n as f64),
        n: of,
        ..Finding::default()
    })
}

pub(super) fn in_pause(case: &FindingContext) -> Option<Finding> {
    let n = case.evidence.kept.in_pause();
    (n > 0 && !case.is_foreign()).then(|| Finding {
        severity: Severity::Info,
        evidence: vec![Run::InPause { n }.into()],
        value: Some(n as f64),
        n: case.released(),
        ..Finding::default()
    })
}

pub(super) fn same_host(case: &FindingContext) -> Option<Finding> {
    case.generator()?.same_host_as_target.filter(|&same| same).map(|_| Finding {
        severity: Severity::Info,
        evidence: vec![Run::SameHost.into()],
        n: case.summary.measured.n,
        ..Finding::default()
    })
}
