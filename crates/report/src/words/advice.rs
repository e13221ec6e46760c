//! What cures a cause in the tool that sent the load: its own flag or setting, by the format of its results.
//!
//! Each names what that tool has, also where that is not what independent users do; nothing where it is not known to have anything.
//! Absent: what formats there are (`import`), and causes (`stats`).

use crate::format::number;
use headway_stats::Summary;
use headway_stats::summary::evidence::Cause;
use headway_stats::summary::{Audit, Evidence, FindingId, Pattern, Stream};

/// The beginning of the names of a tool's formats, what it is cured of, and how.
type Row = (&'static str, &'static [FindingId], &'static str);

/// Users who wait for their responses set the pace.
const LOOP: &[FindingId] = &[FindingId::Saturation, FindingId::FeedbackLoop, FindingId::FewUsers];
/// Users, or the whole, keep to a pace.
const PACED: &[FindingId] = &[FindingId::ConstantRate, FindingId::FixedPacing];
/// Connections of one pace send together.
const TOGETHER: &[FindingId] = &[FindingId::InStep, FindingId::TimerTicks];
const THINK: &[FindingId] = &[FindingId::FixedThink];
const PAUSES: &[FindingId] = &[FindingId::GeneratorPauses];

const ALL: &[Row] = &[
    (
        "fortio",
        TOGETHER,
        "fortio -uniform spreads the connections over a period (evenly: fortio draws no random headways)",
    ),
    (
        "fortio",
        PACED,
        "none in fortio: each connection keeps its share of -qps; -jitter varies its pauses by 10 % only",
    ),
    (
        "fortio",
        LOOP,
        "fortio -qps with a rate that its -c connections reach: beyond it, and with -qps 0, they are a closed loop",
    ),
    (
        "k6",
        LOOP,
        "k6's executor constant-arrival-rate starts iterations at a rate, whatever the responses (evenly spaced)",
    ),
    ("k6", PACED, "none in k6: its arrival-rate executors space the starts of iterations evenly"),
    ("k6", THINK, "k6: sleep(-MEAN * Math.log(1 - Math.random())) in place of sleep(MEAN)"),
    (
        "jmeter",
        PACED,
        "JMeter's Precise Throughput Timer makes Poisson arrivals; so does random_arrivals() of an Open Model Thread Group",
    ),
    (
        "jmeter",
        LOOP,
        "JMeter's Open Model Thread Group with random_arrivals() starts users at a rate, whatever the responses",
    ),
    (
        "jmeter",
        THINK,
        "JMeter's Uniform Random Timer in place of a Constant Timer, or the Precise Throughput Timer (Poisson arrivals)",
    ),
    (
        "jmeter",
        PAUSES,
        "JMeter: a larger heap (HEAP=-Xmx4g), fewer listeners, no GUI (-n): a full garbage collection stops all its threads",
    ),
    (
        "jmeter",
        TOGETHER,
        "JMeter's Precise Throughput Timer makes Poisson arrivals; a Synchronizing Timer releases threads together",
    ),
    ("oha", LOOP, "oha -q RATE: without it oha is a closed loop of -c connections"),
    ("oha", PACED, "none in oha: -q spaces requests evenly"),
    ("hey", LOOP, "hey -q RATE paces each of its -c workers; without it hey is a closed loop of them"),
    ("hey", PACED, "none in hey: -q gives each of its -c workers one even pace"),
    ("hey", TOGETHER, "none in hey: with -q its -c workers keep one pace and begin together"),
    ("vegeta", PACED, "none in vegeta: its attack is of constant rate by design, without random pacing"),
    ("vegeta", LOOP, "vegeta -rate above 0: -rate 0 is a closed loop of -max-workers"),
    ("locust", THINK, "Locust: wait_time = between(MIN, MAX) in place of constant(SECONDS)"),
    (
        "locust",
        PACED,
        "Locust: wait_time = between(MIN, MAX) in place of constant_pacing or constant_throughput",
    ),
    ("locust", TOGETHER, "Locust: wait_time = between(MIN, MAX), which keeps users from sending in step"),
    ("locust", LOOP, "Locust: more users (-u) and a longer wait_time = between(MIN, MAX)"),
    (
        "locust",
        PAUSES,
        "Locust: FastHttpUser in place of HttpUser takes less CPU time; --processes uses more cores",
    ),
    (
        "gatling",
        PACED,
        "Gatling: constantUsersPerSec(RATE).during(TIME).randomized draws the starts of users at random",
    ),
    ("gatling", THINK, "Gatling: exponentialPauses in setUp draws the pauses at random"),
    (
        "gatling",
        LOOP,
        "Gatling: constantUsersPerSec(RATE), an open load, in place of constantConcurrentUsers(N)",
    ),
    (
        "h2load",
        LOOP,
        "h2load --rps RATE paces each client; without it h2load is a closed loop of -c clients with -m streams each",
    ),
    (
        "h2load",
        TOGETHER,
        "none in h2load: --rps releases the requests of all its clients on the ticks of one timer",
    ),
    ("h2load", PACED, "none in h2load: --rps spaces the requests of each client evenly"),
];

/// What to set in the tool that wrote the files, if one tool wrote all of them and something is to be cured.
pub fn cure(audit: &Audit, pattern: Pattern) -> Option<&'static str> {
    let off = matches!(pattern, Pattern::Bunched | Pattern::Even | Pattern::Periodic);
    let cause = audit.cause.as_ref().filter(|cause| off || **cause == FindingId::GeneratorPauses)?;
    let wrote_all = |tool: &str| audit.files.iter().all(|file| file.format.starts_with(tool));
    let fits = |(tool, causes, _): &&Row| causes.contains(cause) && wrote_all(tool);
    ALL.iter().find(fits).filter(|_| !audit.files.is_empty()).map(|(_, _, text)| *text)
}

/// How Headway sends as many requests as independent users would; none where the rate is unknown, or the load Headway's own.
pub fn instead(summary: &Summary) -> Option<String> {
    let audit = summary.audit.as_ref()?;
    let rate = summary.arrivals.rate.filter(|rate| *rate >= 0.01)?;
    let own = !audit.files.is_empty() && audit.files.iter().all(|file| file.format.starts_with("headway"));
    let shown = |rate: f64| if rate < 1000.0 { number(rate) } else { format!("{rate:.0}") };
    let evidence = summary.verdict.findings.iter().flat_map(|finding| &finding.evidence);
    // Of a load whose rate changes, that of the steady part.
    let steady = evidence.clone().find_map(|evidence| match evidence {
        Evidence::Cause(
            Cause::ChangingRate { rate, .. } | Cause::Ramp { rate, .. } | Cause::OtherRate { rate, .. },
        ) => Some(*rate),
        _ => None,
    });
    let rate = steady.unwrap_or(rate);
    let each = evidence.clone().find_map(|evidence| match evidence {
        Evidence::Cause(Cause::SessionsJudged { sessions, requests }) if *sessions > 0 => {
            Some(*requests as f64 / *sessions as f64)
        }
        _ => None,
    });
    (!own).then(|| match (audit.stream, each) {
        // Of a URL -R counts requests; a scenario's rate is that of its sessions.
        (Stream::Sessions, Some(each)) => format!(
            "headway run -R {} SCENARIO (sessions of {} requests), or -R {} URL for requests alone",
            shown(rate),
            number(each),
            shown(rate * each)
        ),
        (Stream::Sessions, None) => format!("headway run -R {} SCENARIO", shown(rate)),
        (Stream::Requests, _) => format!("headway run -R {} URL sends like independent users", shown(rate)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::AuditFile;

    fn of(formats: &[&str], cause: FindingId) -> Audit {
        let file = |format: &&str| AuditFile { format: (*format).into(), ..AuditFile::default() };
        Audit { files: formats.iter().map(file).collect(), cause: Some(cause), ..Audit::default() }
    }

    #[test]
    fn the_advice_is_that_of_the_tool_which_wrote_all_files() {
        let at = |formats: &[&str], cause| cure(&of(formats, cause), Pattern::Bunched);
        assert!(
            at(&["fortio-log"], FindingId::InStep).is_some_and(|text| text.starts_with("fortio -uniform"))
        );
        assert!(
            at(&["k6-csv", "k6-json"], FindingId::Saturation)
                .is_some_and(|text| text.contains("constant-arrival-rate"))
        );
        assert_eq!(at(&["k6-csv", "fortio-log"], FindingId::Saturation), None);
        assert_eq!(at(&["access-log"], FindingId::InStep), None);
        assert_eq!(at(&["k6-csv"], FindingId::Interruption), None);
        assert_eq!(at(&[], FindingId::InStep), None);
        assert_eq!(cure(&of(&["fortio-log"], FindingId::InStep), Pattern::Independent), None);
    }

    #[test]
    fn the_load_to_send_instead_is_in_the_unit_that_was_judged() {
        let mut summary = Summary { audit: Some(Audit::default()), ..Summary::default() };
        summary.arrivals.rate = Some(25.0);
        assert_eq!(instead(&summary).unwrap(), "headway run -R 25.0 URL sends like independent users");
        let finding = |cause: Cause| headway_stats::summary::Finding {
            evidence: vec![cause.into()],
            ..Default::default()
        };
        let ramp =
            Cause::Ramp { at_end: false, ramp_s: 8.0, rate: 26.5, judge_from_s: 8.0, judge_for_s: 99.0 };
        summary.verdict.findings = vec![finding(ramp)];
        assert_eq!(instead(&summary).unwrap(), "headway run -R 26.5 URL sends like independent users");
        summary.verdict.findings = vec![finding(Cause::SessionsJudged { sessions: 1_500, requests: 7_500 })];
        summary.audit = Some(Audit { stream: Stream::Sessions, ..Audit::default() });
        assert_eq!(
            instead(&summary).unwrap(),
            "headway run -R 25.0 SCENARIO (sessions of 5.00 requests), or -R 125 URL for requests alone"
        );
    }

    #[test]
    fn no_cause_of_a_tool_has_two_pieces_of_advice_and_each_fits_three_lines() {
        for (i, (tool, causes, text)) in ALL.iter().enumerate() {
            assert!(text.len() <= 3 * 60, "{text}");
            for (other, others, _) in &ALL[..i] {
                assert!(tool != other || causes.iter().all(|cause| !others.contains(cause)), "{text}");
            }
        }
    }
}
