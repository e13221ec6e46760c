//! Every kind of evidence has its sentence, and every sentence reads as one. All of them stand in `golden/sentences.txt`, which
//! is written anew as the head of `report.rs` says.

#[path = "samples/sentences.rs"]
mod sentences;

use headway_report::Style;
use headway_report::words::findings::{sentence, text};
use headway_report::words::{ReasonId, brief};
use headway_stats::rules::RULES;
use headway_stats::{Summary, Workload};

use headway_stats::summary::evidence::{Cause, Load, Loop, Model, Remark, Run, Starts};
use headway_stats::summary::{
    Audit, Evidence, Finding, FindingId, LoadVerdict, Pattern, RuleOutcome, RuleResult, Severity, Source,
    Text, Why,
};
use sentences::all;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_finding_has_a_sentence_that_reads_as_one() {
    for (id, samples) in all() {
        assert!(!samples.is_empty(), "{id}");
        for evidence in samples {
            let text = sentence(&evidence);
            let place = format!("{id}: {text}");
            assert!(text.ends_with('.') && text.len() > 20, "{place}");
            for odd in ["  ", "..", " .", " ,", ";.", ": .", "()", "NaN", "inf ", "Some(", "{", "}"] {
                // The advice on retries is a piece of a scenario.
                assert!(!text.contains(odd) || (odd.len() == 1 && id == "turned-away"), "{odd}: {place}");
            }
        }
    }
}

#[test]
fn sentences_are_as_they_were() {
    let seen: String = all().into_iter().flat_map(|(id, samples)| lines(id, samples)).collect();
    let golden = include_str!("golden/sentences.txt");
    assert_eq!(seen, golden, "not as in tests/golden; the head of report.rs says how to renew it\n{seen}");
}

fn lines(id: String, samples: Vec<Evidence>) -> Vec<String> {
    samples.iter().map(|evidence| format!("{id}: {}\n", sentence(evidence))).collect()
}

/// The tags that a group of evidence may have, as serde names them where it meets another.
fn kinds<T: DeserializeOwned + std::fmt::Debug>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(r#"{"kind":"?"}"#).unwrap_err().to_string();
    let (_, names) = error.split_once("expected one of ").unwrap_or_else(|| panic!("{error}"));
    let (names, _) = names.split_once(" at line").unwrap_or((names, ""));
    names.split(", ").map(|name| name.trim_matches('`').to_owned()).collect()
}

#[test]
fn every_kind_of_evidence_has_a_sample_and_a_tag_of_its_own() {
    let groups = [
        kinds::<Load>(),
        kinds::<Loop>(),
        kinds::<Starts>(),
        kinds::<Model>(),
        kinds::<Cause>(),
        kinds::<Run>(),
        kinds::<Remark>(),
    ];
    let known: BTreeSet<String> = groups.iter().flatten().cloned().collect();
    assert_eq!(known.len(), groups.iter().map(BTreeSet::len).sum::<usize>(), "a tag stands in two groups");
    let kind = |evidence: &Evidence| -> String {
        let written = serde_json::to_value(evidence).unwrap();
        written["kind"].as_str().unwrap().to_owned()
    };
    let sampled: BTreeSet<String> = all().iter().flat_map(|(_, samples)| samples).map(kind).collect();
    assert_eq!(sampled, known);
}

#[test]
fn evidence_is_read_back_as_it_was_written() {
    for (id, samples) in all() {
        let finding = Finding { id: id.as_str().into(), evidence: samples, ..Finding::default() };
        let written = serde_json::to_string(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&written).unwrap(), finding, "{written}");
    }
}

#[test]
fn where_some_evidence_is_of_another_version_its_text_is_shown() {
    let written = r#"{ "id": "errors", "text": "As it was written.",
        "evidence": [ { "kind": "in-pause", "n": 3 }, { "kind": "of-a-later-version", "n": 4 } ] }"#;
    let finding: Finding = serde_json::from_str(written).unwrap();
    assert_eq!((text(&finding).as_str(), finding.evidence.len()), ("As it was written.", 0));
    let both = Finding {
        evidence: vec![Run::InPause { n: 3 }.into(), Run::SameHost.into()],
        text: Text::by_report("As it was written."),
        ..Finding::default()
    };
    assert!(text(&both).starts_with("3 arrivals started within a pause") && text(&both).ends_with("that."));
}

/// The kinds of run whose first screens differ in what to do next.
fn runs() -> Vec<Summary> {
    let kinds =
        [Workload::Open, Workload::Sessions, Workload::Closed, Workload::FixedWork, Workload::Connecting]
            .map(Some);
    let of = |source| kinds.map(|workload| Summary { source, workload, ..Summary::default() });
    let audit = Summary { source: Source::Import, audit: Some(Audit::default()), ..Summary::default() };
    of(Source::Live).into_iter().chain(of(Source::Sim)).chain([audit]).collect()
}

/// The lines on the first screen from one with those words on, up to the next empty one or fact.
fn on_the_first_screen(summary: &Summary, words: &str) -> Vec<String> {
    let output = headway_report::find("terminal").unwrap();
    let page = String::from_utf8(output.summary(summary, &Style::default()).unwrap()).unwrap();
    let from = page.lines().skip_while(|line| !line.contains(words));
    from.enumerate()
        .take_while(|(i, line)| *i == 0 || line.starts_with("     "))
        .map(|(_, line)| line.to_owned())
        .collect()
}

const NAME: &str = "https://shop.example/a/name/of-40-columns";

/// Numbers that are at most 1.
const SHARES: [&str; 6] = ["/share", "/chance", "/failed", "/busiest", "/stretched", "/wasted"];

/// The same with names of 40 columns, and counts and numbers of 12 digits, wherever they may stand.
fn extreme(evidence: &Evidence) -> Evidence {
    let mut written = serde_json::to_value(evidence).unwrap();
    let read = |value: &Value| serde_json::from_value::<Evidence>(value.clone());
    for path in leaves(&written, "") {
        let kept = written.pointer(&path).unwrap().clone();
        let new: &[Value] = match &kept {
            Value::String(_) => &[NAME.into(), kept.clone()],
            Value::Number(_) if SHARES.iter().any(|name| path.ends_with(name)) => &[0.999_99.into()],
            Value::Number(_) => {
                &[999_999_999_999_u64.into(), 123_456_789_012.0.into(), 12.into(), 0.1.into()]
            }
            _ => continue,
        };
        // What is a tag stays as it is.
        let allowed = new.iter().find(|&value| {
            *written.pointer_mut(&path).unwrap() = value.clone();
            read(&written).is_ok_and(|read| serde_json::to_value(read).unwrap() == written)
        });
        *written.pointer_mut(&path).unwrap() = allowed.unwrap_or(&kept).clone();
    }
    read(&written).unwrap()
}

/// The pointers to all values that hold no others.
fn leaves(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| leaves(value, &format!("{at}/{key}"))).collect()
        }
        Value::Array(all) => {
            all.iter().enumerate().flat_map(|(i, value)| leaves(value, &format!("{at}/{i}"))).collect()
        }
        _ => vec![at.to_owned()],
    }
}

#[test]
fn the_cause_of_every_finding_fits_on_two_lines_and_what_to_do_on_one() {
    let mut wrong = Vec::new();
    for (id, samples) in all() {
        // The outcomes and the marks of lower bounds say the same as the first two.
        if ["errors", "censored", "remarks"].contains(&id.as_str()) {
            continue;
        }
        for evidence in samples.iter().flat_map(|of| [of.clone(), extreme(of)]) {
            let whole = sentence(&evidence);
            let named = whole.contains(NAME);
            for (mut summary, at) in
                runs().into_iter().flat_map(|run| [(run.clone(), vec![]), (run, vec![[1.0, 2.0]])])
            {
                let (id, evidence) = (id.as_str().into(), vec![evidence.clone()]);
                let finding = Finding { severity: Severity::Warning, id, evidence, at, ..Finding::default() };
                let reason = ReasonId::Finding(finding.id.clone());
                // The pattern has a line of its own; that of the load tells in three lines at most what made it so.
                if summary.audit.is_none() && brief::is_of_pattern(&reason) {
                    continue;
                }
                let of_load = summary.audit.is_none() && brief::is_of_load(&reason);
                let (words, most) = match of_load {
                    true => (format!("  LOAD     {:14}", "INVALID"), 3),
                    false => (format!("{}: ", finding.id), 2),
                };
                summary.verdict.findings = vec![finding];
                summary.verdict.load = of_load.then_some(LoadVerdict::Invalid);
                let lines = on_the_first_screen(&summary, &words);
                let next =
                    lines.iter().position(|line| line.starts_with("     next: ")).unwrap_or(lines.len());
                let first = lines[..next].join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                let text = first.split_once(&words).map_or("", |(_, text)| text.trim_start());
                // Only a name may be shortened.
                let is_whole = whole.starts_with(text) || named && text.contains("...");
                let is_cut =
                    lines.iter().any(|line| line.contains("...") && (!named || line.contains("next: ")));
                // Lines of 80 columns.
                let is_wide = lines.iter().any(|line| line.chars().count() > 80);
                if !(1..=most).contains(&next)
                    || is_wide
                    || lines.len() > next + 1
                    || is_cut
                    || !is_whole
                    || !text.ends_with('.')
                {
                    wrong.push(lines.join("\n"));
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn so_do_rules_without_a_finding() {
    for rule in &RULES {
        for (mut summary, outcome) in runs()
            .into_iter()
            .flat_map(|run| [RuleOutcome::Fail, RuleOutcome::Undecided].map(|of| (run.clone(), of)))
        {
            let reason = Some(Why::AstrideLimit { n: 999_999_999_999 }.into());
            let (rule, window) = (rule.id.clone(), Some(0.1));
            summary.verdict.rules =
                vec![RuleResult { rule, window, outcome, reason, ..RuleResult::default() }];
            let lines = on_the_first_screen(&summary, "The rule on");
            let shown = lines.join("\n");
            // Three lines, and one of what helps.
            assert!((1..=4).contains(&lines.len()) && !shown.contains("..."), "{shown}");
        }
    }
}

#[test]
fn so_does_the_cause_of_an_audited_pattern_with_its_cure() {
    for (id, samples) in all() {
        for evidence in samples.iter().flat_map(|of| [of.clone(), extreme(of)]) {
            let Evidence::Cause(_) = evidence else { continue };
            let whole = sentence(&evidence);
            let (id, cause) = (id.as_str().into(), Some(id.as_str().into()));
            if cause == Some(FindingId::UnknownCause) {
                continue;
            }
            let audit = Some(Audit { cause, ..Audit::default() });
            let mut summary = Summary { source: Source::Import, audit, ..Summary::default() };
            summary.verdict.pattern = Pattern::Bunched;
            summary.verdict.findings = vec![Finding { id, evidence: vec![evidence], ..Finding::default() }];
            let lines = on_the_first_screen(&summary, "  cause       ");
            let cure = on_the_first_screen(&summary, "  cure        ");
            let shown = lines.iter().chain(&cure).map(String::as_str).collect::<Vec<_>>().join("\n");
            assert!((1..=2).contains(&lines.len()) && cure.len() <= 1, "{shown}");
            assert!(!shown.contains("...") || whole.contains(NAME) && !shown.contains(" ..."), "{shown}");
        }
    }
}
