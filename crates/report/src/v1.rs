//! Documents of `headway.summary/1` and `headway.study/1`, which versions up to 0.1 wrote, as documents of the current schemas.
//!
//! Their reasons are sentences alone. Those that code looks at, and those without numbers, are given their tags here, once; the
//! others keep their sentences, and so do findings, notes and remarks, which have no evidence. Deliberately absent: numbers, which are
//! the same.

use headway_stats::summary::PlanKind;
use serde_json::{Map, Value, json};

/// The schema of summaries that is read here.
pub(crate) const SUMMARY: &str = "headway.summary/1";
/// The schema of studies that is read here.
pub(crate) const STUDY: &str = "headway.study/1";

/// Sentences of the old documents, and the tags of the same reasons.
const REASONS: [(&str, &str); 33] = [
    ("there is no steady state: a part of the model is asked for more than it can do", "overloaded"),
    ("there is no steady state: requests pile up throughout the measured phase", "piles-up"),
    ("no steady state was found", "not-steady"),
    ("the mean that it should hold is infinite", "mean-infinite"),
    ("the mean is infinite: that of a run depends on its longest services", "mean-infinite"),
    ("the service times have too heavy a tail for an interval of the mean", "heavy-tail"),
    (
        "the service times are too skewed for an interval of the mean of a single run; several runs (--replications) have one",
        "too-skewed",
    ),
    ("nothing is sent in a simulation, and so nothing has a size", "no-sizes"),
    ("no observations", "no-observations"),
    ("there was nothing to judge: no observations", "no-observations"),
    ("one observation", "one-observation"),
    ("too few segments hold observations", "empty-segments"),
    ("lies among requests that were given up", "given-up"),
    ("its upper end lies among requests that were given up", "end-given-up"),
    ("no window length fits 30 times", "no-window"),
    ("no window length fits 30 times into the measured phase", "no-window"),
    ("there is no plan", "no-plan"),
    ("there is no plan to compare with", "nothing-to-compare"),
    ("the plan's gaps are all equal", "equal-headways"),
    ("the plan's gaps have no common law", "no-common-law"),
    ("fewer than 2 headways", "one-headway"),
    ("the file does not tell when requests were due", "due-not-told"),
    ("the file does not tell when requests ended", "ends-not-told"),
    ("the file does not tell how requests ended", "outcomes-not-told"),
    ("the file does not name users", "users-not-named"),
    ("no number of users was asked for", "users-not-asked"),
    ("the records do not tell when users came and went", "users-not-told"),
    ("no think time is known", "no-think-time"),
    ("only of closed workloads: what arrives is not kept away by a loop", "only-closed"),
    ("fixed work is one transient", "fixed-work"),
    ("not for this kind of workload", "other-workload"),
    ("the load was INVALID: the value belongs to another load", "invalid-load"),
    ("the interval lies astride the limit: another run may come out the other way", "astride"),
];

/// Keys of the old summaries by their blocks, and what they are called now.
const RENAMED: [(&str, &str, &str); 5] = [
    ("/rate", "completed", "throughput"),
    ("/rate", "good_within", "goodput"),
    ("/sessions", "requests_asked", "requests_offered"),
    ("/closed", "think_asked", "think_specified"),
    ("/not_computed", "sessions.requests_asked", "sessions.requests_offered"),
];

/// How the reason of a study's threshold begins that has no steady state to be judged in.
const NOT_STEADY: &str = "no steady state: ";

/// Rules that a finding of the old documents may speak of.
const RULES: [(&str, &[&str]); 6] = [
    ("unsent", &["sent-share", "requests-sent", "all-issued"]),
    ("late", &["late-share"]),
    ("uplink", &["departed-late"]),
    ("bunched", &["bunching", "dispersion"]),
    ("smoothed", &["bunching", "dispersion"]),
    ("serialised", &["bunching"]),
];

/// Makes a summary one of the current schema.
pub(crate) fn summary(document: &mut Value) {
    document["schema"] = json!(headway_stats::summary::SCHEMA);
    for (block, old, new) in RENAMED {
        rename(document.pointer_mut(block), old, new);
    }
    let unsteady = document.pointer("/simulation/steady/why_not").and_then(Value::as_str).map(str::to_owned);
    reasons(document.pointer_mut("/not_computed"), unsteady.as_deref());
    reason(document.pointer_mut("/simulation/steady/why_not"), None);
    for list in ["/verdict/rules", "/verdict/pattern_rules", "/thresholds"] {
        for row in rows(document.pointer_mut(list)) {
            reason(row.get_mut("reason"), unsteady.as_deref());
        }
    }
    if document.pointer("/audit/cause").is_some_and(|cause| cause == "unknown") {
        document["audit"]["cause"] = json!("unknown-cause");
    }
    if let Some(plan) = document.pointer_mut("/plan").filter(|plan| plan.is_object()) {
        let process = plan.get("process").and_then(Value::as_str).unwrap_or_default();
        plan["kind"] = json!(PlanKind::of_process(process));
    }
    let rules = document.pointer("/verdict/rules").and_then(Value::as_array).cloned().unwrap_or_default();
    for finding in rows(document.pointer_mut("/verdict/findings")) {
        name_rule(finding, &rules);
    }
}

/// Makes a study one of the current schema.
pub(crate) fn study(document: &mut Value) {
    document["schema"] = json!(headway_stats::study::SCHEMA);
    for point in rows(document.pointer_mut("/points")) {
        rename(Some(point), "completed", "goodput");
        reasons(point.pointer_mut("/not_computed"), None);
        reason(point.get_mut("why_not"), None);
        for threshold in rows(point.pointer_mut("/thresholds")) {
            reason(threshold.get_mut("reason"), None);
        }
    }
}

fn rename(block: Option<&mut Value>, old: &str, new: &str) {
    let Some(block) = block.and_then(Value::as_object_mut) else { return };
    if let Some(value) = block.remove(old) {
        block.insert(new.to_owned(), value);
    }
}

fn rows(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

fn reasons(map: Option<&mut Value>, unsteady: Option<&str>) {
    let entries = map.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
    entries.for_each(|entry| reason(Some(entry), unsteady));
}

/// Gives a sentence its tag; `unsteady` is what speaks against a steady state, where that is known.
fn reason(entry: Option<&mut Value>, unsteady: Option<&str>) {
    let Some(entry) = entry else { return };
    let Some(text) = entry.as_str().map(str::to_owned) else { return };
    let tag = REASONS.iter().find(|(sentence, _)| *sentence == text).map(|(_, tag)| *tag);
    let because = |why: &str| json!({ "why": "other", "text": why });
    *entry = match (tag, text.strip_prefix(NOT_STEADY)) {
        (Some("not-steady"), _) => json!({ "why": "not-steady", "because": unsteady.map(because) }),
        (Some(tag), _) => json!({ "why": tag }),
        (None, Some(why)) => json!({ "why": "not-steady", "because": because(why) }),
        (None, None) => json!({ "why": "other", "text": text }),
    };
}

/// Names the rule of a finding: of those that it may speak of the one of as many observations that did not pass.
fn name_rule(finding: &mut Value, rules: &[Value]) {
    let id = finding["id"].as_str().unwrap_or_default();
    let Some((_, names)) = RULES.iter().find(|(of, _)| *of == id) else { return };
    let fits = |rule: &&Value| {
        names.iter().any(|name| rule["rule"] == *name)
            && rule["n"] == finding["n"]
            && (rule["outcome"] == "fail" || rule["outcome"] == "undecided")
    };
    if let Some(rule) = rules.iter().find(fits) {
        let limits = rule.get("limits").cloned().unwrap_or_else(|| json!({}));
        finding["rule"] = json!({ "id": rule["rule"], "window": rule["window"], "limits": limits });
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse, study};
    use headway_stats::summary::{FindingId, PlanKind, RuleId, Stated, Unsteady, Why};

    #[test]
    fn known_sentences_get_their_tags_and_others_stay_as_they_are() {
        let text = r#"{ "schema": "headway.summary/1",
            "rate": { "completed": 3.0, "good_within": 2.0 },
            "not_computed": { "response.ci95.mean": "no steady state was found", "lag": "no observations", "x": "it rained" },
            "simulation": { "steady": { "why_not": "it drifts" } },
            "verdict": {
                "rules": [ { "rule": "late-share", "value": 0.5, "n": 9, "outcome": "fail", "reason": "a cloud" } ],
                "findings": [ { "id": "late", "text": "Late.", "value": 0.5, "n": 9 }, { "id": "of-old", "text": "Old." } ] } }"#;
        let summary = parse(text.as_bytes()).unwrap();
        assert_eq!((summary.rate.throughput, summary.rate.goodput), (Some(3.0), Some(2.0)));
        let other = |text: &str| Stated { why: Why::Other, text: text.into() };
        let drifts = Stated { why: Unsteady::Other, text: "it drifts".into() };
        assert_eq!(summary.not_computed["lag"], Why::NoObservations.into());
        assert_eq!(summary.not_computed["x"], other("it rained"));
        let unsteady = Why::NotSteady { because: Some(Box::new(drifts.clone())) };
        assert_eq!(summary.not_computed["response.ci95.mean"], unsteady.into());
        assert_eq!(summary.simulation.unwrap().steady.why_not, Some(drifts));
        assert_eq!(summary.verdict.rules[0].reason, Some(other("a cloud")));
        let [late, old] = &summary.verdict.findings[..] else { unreachable!() };
        assert_eq!(late.rule.as_ref().map(|rule| &rule.id), Some(&RuleId::LateShare));
        assert_eq!((old.id.as_str(), &*old.text), ("of-old", "Old."));
    }

    /// Merged runs were documents like others; no committed fixture is one.
    #[test]
    fn a_merged_run_keeps_what_it_lacks() {
        let missing = "The run is incomplete: 12 planned arrivals left no record. The numbers are of the records that are there.";
        let text = format!(
            r#"{{ "schema": "headway.summary/1", "plan": {{ "process": "at once" }}, "workload": "fixed-work",
            "verdict": {{ "load": "INCONCLUSIVE", "findings": [
                {{ "id": "records-missing", "severity": "error", "text": "{missing}", "value": 12.0, "n": 500 }} ] }},
            "closed": {{ "estimated": {{ "n": 5, "lanes": 2, "method": "estimated: by hand" }} }} }}"#
        );
        let summary = parse(text.as_bytes()).unwrap();
        let finding = &summary.verdict.findings[0];
        assert_eq!((&finding.id, &finding.evidence[..]), (&FindingId::RecordsMissing, &[][..]));
        assert_eq!(crate::words::reasons(&summary)[0].text, missing);
        assert_eq!(summary.plan.as_ref().unwrap().kind, Some(PlanKind::AtOnce));
        let written = crate::texts::of_summary(&summary);
        assert_eq!(&*written.verdict.findings[0].text, missing);
        assert_eq!(&*written.closed.unwrap().estimated.unwrap().method, "estimated: by hand");
    }

    /// That a few pauses change the pattern is said from the numbers of the finding, and not from its text.
    #[test]
    fn pauses_of_an_old_document_are_told_from_its_numbers() {
        let text = r#"{ "schema": "headway.summary/1", "verdict": { "pattern": "even", "pattern_otherwise": "bunched", "findings": [
            { "id": "longest-gaps", "text": "Some text.", "value": 0.155, "n": 1 } ] } }"#;
        let answer = crate::words::pattern(&parse(text.as_bytes()).unwrap());
        let pauses = "The pattern is judged without one pause of 155 ms: even. With it, it would be bunched";
        assert!(answer.meaning.ends_with(pauses), "{}", answer.meaning);
    }

    #[test]
    fn every_known_sentence_has_a_tag_of_this_version() {
        for (sentence, tag) in super::REASONS {
            let read: Stated<Why> = serde_json::from_value(serde_json::json!({ "why": tag })).unwrap();
            assert_ne!(read.why, Why::Other, "{sentence}");
        }
    }

    #[test]
    fn a_study_without_a_steady_state_is_read_as_one() {
        let text = r#"{ "schema": "headway.study/1", "points": [ { "why_not": "it drifts",
            "thresholds": [ { "reason": "no steady state: it drifts" } ] } ] }"#;
        let study = study::parse(text.as_bytes()).unwrap();
        let reason = study.points[0].thresholds[0].reason.as_ref().unwrap();
        assert!(matches!(reason.why, Why::NotSteady { because: Some(_) }), "{reason:?}");
    }
}
