//! The rules of the verdict in words: a row for each, and how its numbers read.
//!
//! Absent: what a rule is held against (`headway_stats::rules`), and which of them become reasons (`reasons`).

use super::Tone;
use super::around::{CORRECT_WHAT_IS_SENT, Next, START_TOGETHER};
use super::findings::LIGHTEN;
use crate::format::{chosen, number, share, time};
use headway_stats::summary::{Limits, RuleId, RuleOutcome, RuleResult};

/// What is said of a rule.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name in words.
    title: String,
    /// What its statistic is, shorter; of rules of the pattern. The tag of others.
    pub(super) measure: String,
    /// Whether the statistic is a share: the others have no unit.
    is_share: bool,
    /// That it was broken, where that is said in other words than of most rules.
    pub(super) broken: Option<fn(f64) -> String>,
    /// What to do where it is broken.
    pub(super) next: Next,
}

/// The row of a rule.
pub(super) fn row(rule: &RuleResult) -> Row {
    use Next::{By, Nothing};
    let row = |is_share: bool, title: &str, next: Next| {
        let measure = rule.rule.as_str().to_owned();
        Row { title: title.to_owned(), measure, is_share, broken: None, next }
    };
    let of_share = |title: &str, next: Next| row(true, title, next);
    let of_pattern =
        |title: &str, measure: &str| Row { measure: measure.to_owned(), ..row(false, title, Nothing) };
    match &rule.rule {
        RuleId::SentShare => of_share(
            "the share of arrivals that were sent",
            By(|around| around.after_unsent(Some(&RuleId::SentShare))),
        ),
        RuleId::RequestsSent => {
            of_share("the share of later requests that were sent", By(|around| around.after_unsent(None)))
        }
        RuleId::Effect => {
            of_share("what the generator's delays did to the numbers", By(|around| around.after_lateness()))
        }
        RuleId::LateShare => of_share("the share released late", By(|around| around.after_lateness())),
        RuleId::DepartedLate => {
            of_share("the share that left this machine late", By(|around| around.of_own(LIGHTEN)))
        }
        RuleId::Bunching => {
            row(false, "bunching (CoV^2 started - intended)", By(|around| around.after_bunches()))
        }
        RuleId::Dispersion => {
            let title = rule.window.map(|window| format!("dispersion in windows of {}", time(window)));
            let over = rule.window.map_or(String::new(), |window| format!(" {}", time(window)));
            Row {
                measure: format!("index of dispersion over{over}"),
                ..row(false, &title.unwrap_or("'dispersion'".into()), By(|around| around.after_bunches()))
            }
        }
        RuleId::UsersHeld => of_share(
            "the share of users held",
            By(|around| {
                match around.is_live() && around.began_apart(&RuleId::UsersHeld) {
                true => Some(START_TOGETHER),
                false => around.of_own(
                    "Check why users stopped. Failures early in their journey do that, or a cap below the users specified.",
                ),
            }
            }),
        ),
        RuleId::SocketsHeld => of_share(
            "the share of time in which sockets kept connecting",
            By(|around| around.after_sockets()),
        ),
        RuleId::StoodStill => Row {
            broken: Some(|of| format!("The generator stood still for {} of the time.", share(of))),
            ..of_share(
                "the share of time for which the generator stood still",
                By(|around| {
                    around.of_own(
                        "Give the generator idle cores, or another machine. What stops its process (SIGSTOP, a CPU quota) stops the load.",
                    )
                }),
            )
        },
        RuleId::AllIssued => of_share(
            "the share of requests sent",
            By(|around| match around.is_live() && around.is_mostly_unfit() {
                true => Some(CORRECT_WHAT_IS_SENT),
                false => around.of_own("Let the run finish, or ask for fewer requests."),
            }),
        ),
        RuleId::ShardsTogether => Row {
            broken: Some(|of| {
                format!("Some shards began late: the others were alone for {} of the time.", share(1.0 - of))
            }),
            ..of_share("the share of time with all shards", By(|around| around.of_own(START_TOGETHER)))
        },
        RuleId::Cov => of_pattern("CoV of the headways", "CoV"),
        RuleId::Ks => {
            of_pattern("distance of the headways from an exponential law", "distance from an exponential law")
        }
        RuleId::Lag1 => {
            of_pattern("correlation of successive headways", "correlation of successive headways")
        }
        RuleId::Line => {
            let of = rule.window.map_or(String::new(), |period| format!(" ({})", time(period)));
            let over = rule.window.map_or(String::new(), |period| format!(" {}", time(period)));
            of_pattern(
                &format!("amplitude of the strongest period{of}"),
                &format!("amplitude of the period of{over}"),
            )
        }
        RuleId::Other(tag) => row(false, &format!("'{tag}'"), Nothing),
    }
}

/// The name of a rule in words.
pub fn rule_title(rule: &RuleResult) -> String {
    row(rule).title
}

/// Shares read better as percentages; the other statistics have no unit.
pub(super) fn rule_number(rule: &RuleResult, x: f64) -> String {
    if row(rule).is_share { share(x) } else { number(x) }
}

/// The statistic with its interval: `0.0123, 95 % interval 0.01 to 0.02`.
pub fn rule_value(rule: &RuleResult) -> String {
    match (rule.value, rule.interval) {
        (None, _) => "no value".into(),
        (Some(value), None) => rule_number(rule, value),
        (Some(_), Some(_)) if rule.rule == RuleId::Effect => format!("range {}", rule_interval(rule)),
        (Some(value), Some(_)) => {
            format!("{}, 95 % interval {}", rule_number(rule, value), rule_interval(rule))
        }
    }
}

/// The interval of a rule alone, or `-`.
pub fn rule_interval(rule: &RuleResult) -> String {
    rule.interval.map_or("-".into(), |[low, high]| {
        format!("{} to {}", rule_number(rule, low), rule_number(rule, high))
    })
}

/// The statistic of a rule alone, or `-`.
pub fn rule_statistic(rule: &RuleResult) -> String {
    rule.value.map_or("-".into(), |value| rule_number(rule, value))
}

/// What a rule tolerates: `at most 1 %`, `-0.1 to 0.1`.
pub fn rule_limits(rule: &RuleResult) -> String {
    let is_share = row(rule).is_share;
    let shown = |x: f64| if is_share { format!("{} %", chosen(x * 100.0)) } else { chosen(x) };
    let Limits { low, high } = rule.limits;
    match (low, high) {
        (None, None) => "anything".into(),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (Some(low), Some(high)) if low == high => format!("exactly {}", shown(low)),
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
    }
}

/// The word for what a rule says, and its tone.
pub fn rule_outcome(outcome: RuleOutcome) -> (&'static str, Tone) {
    match outcome {
        RuleOutcome::Pass => ("pass", Tone::Good),
        RuleOutcome::Fail => ("FAIL", Tone::Bad),
        RuleOutcome::Undecided => ("undecided", Tone::Warn),
        RuleOutcome::NotApplicable => ("n/a", Tone::Faint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::around::Around;
    use crate::words::asked::Kind;
    use headway_stats::rules::RULES;
    use headway_stats::summary::Source;
    use headway_stats::{Summary, Workload};

    /// A live run and a simulation of each kind.
    fn runs(source: Source) -> impl Iterator<Item = Summary> {
        use Workload::{Closed, Connecting, FixedWork, Open, Sessions};
        let kinds = [Open, Sessions, Closed, FixedWork, Connecting].into_iter();
        kinds.map(move |kind| Summary { source, workload: Some(kind), ..Summary::default() })
    }

    #[test]
    fn every_rule_has_a_name_and_once_broken_a_next_step() {
        for id in RuleId::ALL {
            let rule = RuleResult { rule: id.clone(), window: Some(0.1), ..RuleResult::default() };
            let (Row { title, measure, next, .. }, name) = (row(&rule), id.as_str());
            assert!(
                !measure.is_empty() && (!title.contains(name) || ["bunching", "dispersion"].contains(&name)),
                "{id}"
            );
            let is_of_load = RULES.iter().any(|rule| rule.id == *id);
            for run in runs(Source::Live) {
                assert_eq!(next.shown(&Around::new(&run)).is_some(), is_of_load, "{id}");
            }
        }
        let other = RuleResult { rule: "of-a-later-version".into(), ..RuleResult::default() };
        assert_eq!(rule_title(&other), "'of-a-later-version'");
    }

    /// A simulation has no `-c`, no `-R`, no cores to free and no proxy on the way.
    #[test]
    fn a_simulation_is_never_told_to_look_beyond_its_scenario() {
        // No bytes leave a simulation, it keeps no sockets connecting, and its shards share one clock.
        let foreign = [RuleId::DepartedLate, RuleId::SocketsHeld, RuleId::StoodStill, RuleId::ShardsTogether];
        for id in RULES.iter().map(|rule| &rule.id).filter(|id| !foreign.contains(id)) {
            let rule = RuleResult { rule: id.clone(), ..RuleResult::default() };
            for run in runs(Source::Sim) {
                let next = row(&rule).next.shown(&Around::new(&run)).unwrap();
                for foreign in ["-c", "-R", "--threads", "cores", "machine", "proxy", "--max-wait"] {
                    assert!(!next.contains(foreign), "{id}: {next}");
                }
            }
        }
        assert_eq!(Around::new(&runs(Source::Sim).next().unwrap()).kind, Kind::Open);
    }

    #[test]
    fn shares_and_counts_read_as_such() {
        let limits = |low| Limits { low: Some(low), high: None };
        let held = RuleResult {
            rule: "users-held".into(),
            value: Some(0.85),
            limits: limits(0.99),
            ..RuleResult::default()
        };
        assert_eq!((rule_statistic(&held), rule_limits(&held)), ("85.0 %".into(), "at least 99 %".into()));
        let all = Limits { low: Some(1.0), high: Some(1.0) };
        let issued =
            RuleResult { rule: "all-issued".into(), value: Some(0.4), limits: all, ..RuleResult::default() };
        assert_eq!(
            (rule_statistic(&issued), rule_limits(&issued)),
            ("40.0 %".into(), "exactly 100 %".into())
        );
    }
}
