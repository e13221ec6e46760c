//! Sentences about sessions that arrive, about which response times follow from answers, and about who saw slow ones.
//!
//! Absent: how many were asked for and started (`asked`), and the feedback that findings speak of.

use super::Tone;
use super::asked::{Kind, is_at_once, kind};
use super::audit::{Fact, dash, fact};
use crate::format::{chosen_time, count, number, plural, share, time};
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::summary::{Finding, FindingId, Held, ResponseKind, Sessions, Spread};

/// Steps that are named in a sentence before the rest is left to the other outputs.
const MOST_STEPS: usize = 8;

/// What stands beside the heading of the response times; nothing where all of them are open.
pub fn conditional(summary: &Summary) -> &'static str {
    match summary.response_kind {
        None | Some(ResponseKind::Open) => "",
        Some(ResponseKind::Mixed) => " (in part closed: slow responses lower the load)",
        Some(ResponseKind::Loop) => " (closed workload: slow responses lower the load)",
    }
}

/// What that means, where no finding says it.
pub fn conditional_meaning(summary: &Summary) -> Option<&'static str> {
    let tells = |finding: &Finding| matches!(finding.id, FindingId::ClosedLoop | FindingId::FixedWork);
    match summary.response_kind? {
        ResponseKind::Mixed => Some(
            "Open: due by the plan, whatever the target does. The others: due at the response before them plus think time, and \
             so a slow target is asked less.",
        ),
        ResponseKind::Loop if !summary.verdict.findings.iter().any(tells) => Some(
            "Each request was due at its user's response before plus think time, so a slow target was asked less.",
        ),
        ResponseKind::Open | ResponseKind::Loop => None,
    }
}

/// The open response times and those within sessions, each with its name; none where all are of one kind.
pub fn split(summary: &Summary) -> Option<[(&'static str, &Spread); 2]> {
    let users = summary.closed.as_ref().is_some_and(|closed| closed.users.is_some());
    let within = if users { "in sessions and loops" } else { "within sessions" };
    Some([
        ("open (from the plan)", summary.response_open.as_ref()?),
        (within, summary.response_session.as_ref()?),
    ])
}

/// A time that may be a lower bound: `> 30.0 s`.
fn bounded(spread: &Spread, name: &str, value: Option<f64>) -> String {
    let bound = if spread.lower_bound.contains_key(name) { "> " } else { "" };
    value.map_or("-".into(), |value| format!("{bound}{}", time(value)))
}

/// How the sessions fared; nothing where none arrive.
pub fn sessions(summary: &Summary) -> Vec<Fact> {
    let Some(block) = &summary.sessions else { return Vec::new() };
    let mut facts = vec![ended(block)];
    facts.extend(duration(&block.duration));
    facts.extend(blocked(&block.blocked));
    facts.extend(active(summary, block));
    facts.extend(drain(summary, block));
    facts.extend(over_limits(summary));
    facts.extend(first_answers(summary, block));
    facts
}

fn ended(block: &Sessions) -> Fact {
    let mut text = format!("{} due, {} started", count(block.n), count(block.started));
    if block.ok + block.failed + block.unfinished > 0 {
        text.push_str(&format!("; ended: {} ok, {} failed", count(block.ok), count(block.failed)));
    }
    if block.unfinished > 0 {
        text.push_str(&format!("; {} unfinished when the run ended", count(block.unfinished)));
    }
    let tone = if block.failed + block.unfinished > 0 { Tone::Warn } else { Tone::Plain };
    Fact { tone, ..fact("sessions", text) }
}

fn duration(spread: &Spread) -> Option<Fact> {
    (spread.n > 0).then(|| {
        let at = |name, value| bounded(spread, name, value);
        let text = format!(
            "mean {}, p50 {}, p99 {}, max {} from due to end (n = {})",
            at("mean", spread.mean),
            at("p50", spread.p50),
            at("p99", spread.p99),
            at("max", spread.max),
            count(spread.n)
        );
        fact("duration", text)
    })
}

fn blocked(held: &Held) -> Option<Fact> {
    (held.n > 0).then(|| {
        let n = count(held.n);
        let text = if held.max == Some(0.0) {
            format!("none was held back before it could start (n = {n})")
        } else {
            format!(
                "before they could start: mean {}, p99 {}, max {} (n = {n})",
                dash(held.mean, time),
                dash(held.p99, time),
                dash(held.max, time)
            )
        };
        fact("blocked", text)
    })
}

fn active(summary: &Summary, block: &Sessions) -> Option<Fact> {
    let mut parts = Vec::new();
    parts.extend(block.active_mean.map(|mean| format!("{} on average", number(mean))));
    parts.extend(block.active_max.map(|most| format!("{} at most", count(most))));
    let at_end = block.active_at_end.filter(|_| kind(summary) == Kind::Sessions);
    parts.extend(at_end.map(|left| format!("{} at the end of the measured phase", count(left))));
    (!parts.is_empty()).then(|| fact("active", parts.join(", ")))
}

fn drain(summary: &Summary, block: &Sessions) -> Option<Fact> {
    let text = match (block.drain?, kind(summary)) {
        (drain, Kind::FixedWork) => {
            format!("{} from when the last session was due to the last response", time(drain))
        }
        (0.0, _) => "none: the last response came before the measured phase ended".into(),
        (drain, _) => format!("{} from the end of the measured phase to the last response", time(drain)),
    };
    Some(fact("drain", text))
}

/// How many sessions saw at least one response beyond each limit that a threshold sets.
pub fn over_limits(summary: &Summary) -> Vec<Fact> {
    let mut bounds: Vec<(u64, &str, &Option<Cleared>)> = Vec::new();
    let mut facts = Vec::new();
    for threshold in &summary.thresholds {
        let Some(over) = threshold.sessions_over.filter(|over| over.n > 0) else { continue };
        let bound = (threshold.limit.to_bits(), threshold.metric.as_str(), &threshold.step);
        if bounds.contains(&bound) {
            continue;
        }
        bounds.push(bound);
        let step = threshold.step.as_ref().map_or(String::new(), |step| format!(" of {step}"));
        let text = format!(
            "{}: {} of the sessions ({} of {}) saw at least one response{step} beyond it",
            chosen_time(threshold.limit),
            dash(over.share, share),
            count(over.over),
            count(over.n)
        );
        facts.push(fact("over limit", text));
    }
    facts
}

fn first_answers(summary: &Summary, block: &Sessions) -> Option<Fact> {
    let mut steps: Vec<(&Cleared, f64)> = block.first_response.iter().map(|(step, &at)| (step, at)).collect();
    steps.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut parts: Vec<String> =
        steps.iter().take(MOST_STEPS).map(|(step, at)| format!("{step} {}", time(*at))).collect();
    if steps.len() > MOST_STEPS {
        parts.push(plural((steps.len() - MOST_STEPS) as u64, "more step"));
    }
    let known = summary.plan.as_ref().map_or(&[][..], |plan| &plan.steps);
    let never: Vec<&str> = known
        .iter()
        .filter(|step| !block.first_response.contains_key(*step))
        .take(MOST_STEPS)
        .map(Cleared::as_str)
        .collect();
    if !never.is_empty() {
        parts.push(format!("none of {}", never.join(", ")));
    }
    let since = if is_at_once(summary) { "after all came" } else { "after the plan's zero" };
    (!parts.is_empty()).then(|| fact("1st answers", format!("{} ({since})", parts.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::Workload;
    use headway_stats::summary::{PlanSummary, SessionsOver, ThresholdResult};

    fn text(facts: &[Fact], name: &str) -> Option<String> {
        facts.iter().find(|fact| fact.name == name).map(|fact| fact.text.clone())
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut summary = Summary::default();
        assert!(sessions(&summary).is_empty());
        summary.sessions = Some(Sessions { n: 7, started: 6, ..Sessions::default() });
        let facts = sessions(&summary);
        assert_eq!(facts.len(), 1, "{facts:?}");
        assert_eq!(facts[0].text, "7 due, 6 started");
        assert!(split(&summary).is_none());
    }

    #[test]
    fn a_step_without_an_answer_is_named() {
        let block = Sessions {
            n: 1,
            first_response: [("b".into(), 0.25), ("c".into(), 0.1)].into(),
            ..Sessions::default()
        };
        let plan = PlanSummary { steps: ["a", "b", "c"].map(Cleared::from).into(), ..PlanSummary::default() };
        let mut summary = Summary { sessions: Some(block), plan: Some(plan), ..Summary::default() };
        let first = |summary: &Summary| text(&sessions(summary), "1st answers");
        assert_eq!(first(&summary).as_deref(), Some("c 100 ms, b 250 ms, none of a (after the plan's zero)"));
        summary.workload = Some(Workload::FixedWork);
        summary.plan.as_mut().unwrap().kind = Some(headway_stats::summary::PlanKind::AtOnce);
        assert!(first(&summary).unwrap().ends_with("(after all came)"));
    }

    #[test]
    fn a_limit_is_told_once_and_only_where_sessions_were_followed() {
        let over = Some(SessionsOver { n: 200, over: 50, share: Some(0.25) });
        let limit = |limit, step: Option<&str>, sessions_over| ThresholdResult {
            limit,
            step: step.map(headway_redact::clear),
            sessions_over,
            ..ThresholdResult::default()
        };
        let thresholds = vec![
            limit(0.1, None, over),
            limit(0.1, None, over),
            limit(0.1, Some("add"), over),
            limit(1.0, None, None),
        ];
        let summary = Summary { thresholds, ..Summary::default() };
        let texts: Vec<String> = over_limits(&summary).into_iter().map(|fact| fact.text).collect();
        assert_eq!(
            texts,
            [
                "100 ms: 25.0 % of the sessions (50 of 200) saw at least one response beyond it",
                "100 ms: 25.0 % of the sessions (50 of 200) saw at least one response of add beyond it"
            ]
        );
    }
}
