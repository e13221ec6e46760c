//! A recorded run beside the replications of a model.

use super::{ask, play, resolved, settings};
use headway_engine::compare::Loaded;
use headway_engine::experiment::study;
use headway_stats::Summary;
use headway_stats::comparison::{Comparison, Difference, Incomparable, Pair, Shown, Verdict};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const TEXT: &str = "name: shop\nseed: 7\nusers: { arrive: { rate: 60/s }, phases: [ { hold: 20s } ] }\n\
    journey: [ { get: / } ]\nmodel: { servers: 2, service: exp(10ms) }\n";

/// A simulated run of that text, recorded in a folder of that name.
fn run(folder: &Path, name: &str, text: &str) -> Loaded {
    let (file, out) = (folder.join(format!("{name}.yaml")), folder.join(name));
    fs::write(&file, text).unwrap();
    play(&resolved(&["headway", "sim", file.to_str().unwrap(), "--out", out.to_str().unwrap()]));
    Loaded::named(&out, &mut ()).unwrap()
}

/// The study of that text beside that run; its document tells the same.
fn beside(run: Loaded, text: &str, flags: &[&str]) -> Comparison {
    let mut spec = settings(text, flags);
    spec.beside = Some(Arc::new(run));
    let study = study(&spec, &|| false, || {}).unwrap().study;
    let read = headway_report::study::parse(&headway_report::json::document(&study)).unwrap();
    assert_eq!(read, study);
    study.beside.unwrap()
}

fn differs(pair: &Pair) -> bool {
    matches!(pair.verdict, Verdict::Differs { .. })
}

fn obstacles(pair: &Pair) -> Vec<String> {
    let Verdict::NotComparable { reasons } = &pair.verdict else { return Vec::new() };
    let one = |reason: &Incomparable| match reason {
        Incomparable::Plan(Difference { what, base, other }) => format!("{what}: {base} | {other}"),
        other => format!("{other:?}"),
    };
    reasons.iter().map(one).collect()
}

const TEN: [&str; 2] = ["--replications", "10"];

/// Forty runs of the model beside its replications, of loads of 20 s at which nothing is known of p99: all numbers together differ in one of
/// twenty, so in 6 of 40 at most (3 standard errors above 2). One in twenty is taken for unsteady, and tells nothing.
#[test]
fn a_run_of_the_model_itself_differs_no_more_often_than_chance_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut different, mut told) = (0, 0);
    for i in 0..40 {
        let text = TEXT.replace("seed: 7", &format!("seed: {}", 100 + i));
        let found = beside(run(folder.path(), &format!("r{i}"), &text), TEXT, &TEN);
        assert_eq!(obstacles(&found.pairs[0]), Vec::<String>::new());
        told += u32::from(found.pairs[0].verdict != Verdict::NotTold);
        different += u32::from(differs(&found.pairs[0]));
    }
    println!("{different} of {told} differ");
    assert!(told >= 33 && different <= 6, "{different} of {told}");
}

#[test]
fn a_faster_model_differs_and_another_plan_is_not_comparable() {
    let folder = tempfile::tempdir().unwrap();
    let first = || run(tempfile::tempdir().unwrap().path(), "first", TEXT);
    let faster = beside(first(), &TEXT.replace("exp(10ms)", "exp(8ms)"), &TEN);
    assert_eq!((faster.base(), faster.runs[1].name.as_str()), ("first", "simulated"));
    let row = faster.pairs[0].rows.iter().find(|row| row.of.key() == "mean").unwrap();
    assert!(differs(&faster.pairs[0]) && row.shown == Shown::Lower, "{row:?}");
    // Longer is no other load where the model has a steady state.
    let longer = beside(first(), &TEXT.replace("hold: 20s", "hold: 200s"), &TEN);
    assert_eq!(obstacles(&longer.pairs[0]), Vec::<String>::new());
    assert_eq!(longer.pairs[0].differs.iter().map(|d| d.what.as_str()).collect::<Vec<_>>(), ["duration"]);
    let text =
        TEXT.replace("60/s", "70/s").replace("hold: 20s", "hold: 200s").replace("exp(10ms)", "exp(40ms)");
    let apart = beside(first(), &format!("{text}timeout: 2s\n"), &TEN);
    let named = [
        "rate: 60.0/s | 70.0/s",
        "duration: 20 s | 3.33 min",
        "timeout: 30 s | 2 s",
        "longest wait: 30 s | 2 s",
    ];
    assert_eq!(obstacles(&apart.pairs[0]), named);
    // Of a summary alone the same is known here.
    run(folder.path(), "first", TEXT);
    let file = folder.path().join("kept.json");
    fs::copy(folder.path().join("first").join(headway_records::folder::SUMMARY), &file).unwrap();
    let less = beside(Loaded::named(&file, &mut ()).unwrap(), &format!("{text}timeout: 2s\n"), &TEN);
    assert_eq!((less.base(), obstacles(&less.pairs[0])), ("kept.json", named.map(str::to_owned).to_vec()));
}

#[test]
fn each_point_of_a_study_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let found =
        beside(run(folder.path(), "first", TEXT), TEXT, &["--sweep", "rate=60,90", "--replications", "5"]);
    let points: Vec<_> = found.pairs.iter().map(|pair| (pair.point.as_str(), obstacles(pair))).collect();
    assert_eq!(points, [("rate=60", Vec::new()), ("rate=90", vec!["rate: 60.0/s | 90.0/s".to_owned()])]);
    assert!(found.pairs[1].rows.iter().all(|row| row.shown == Shown::NotTold));
}

/// A recorded run of which next to nothing is known, and too few replications to compare anything with.
#[test]
fn what_cannot_be_compared_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.json");
    let foreign = Summary {
        schema: headway_stats::summary::SCHEMA.into(),
        name: "results.jtl".into(),
        ..Summary::default()
    };
    fs::write(&path, headway_report::json::document(&foreign)).unwrap();
    let found = beside(Loaded::named(&path, &mut ()).unwrap(), TEXT, &TEN);
    assert!(found.pairs[0].rows.iter().all(|row| row.shown == Shown::NotTold && !row.why_not.is_empty()));
    assert_eq!(found.pairs[0].verdict, Verdict::NotTold);
    let few = ask(TEXT, &["--beside", "x", "--replications", "4"]).unwrap_err().to_string();
    assert!(few.contains("4 replications tell too little of chance"), "{few}");
    assert_eq!(settings(TEXT, &["--beside", "x"]).replications, 10);
}
