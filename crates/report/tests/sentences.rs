//! Every kind of evidence has its sentence, and every sentence reads as one. All of them stand in `golden/sentences.txt`, which
//! is written anew as the head of `report.rs` says.

#[path = "samples/sentences.rs"]
mod sentences;

use headway_report::words::findings::{sentence, text};
use headway_stats::summary::evidence::{Cause, Load, Loop, Model, Remark, Run, Starts};
use headway_stats::summary::{Evidence, Finding, Text};
use sentences::all;
use serde::de::DeserializeOwned;
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
