//! Simulated runs beside a recorded one.

use super::{args, play, resolved};
use headway_cli::settings::{SimCommand, asked};
use headway_engine::experiment::study;
use headway_engine::simulate::RecordedRun;
use headway_stats::Summary;
use headway_stats::summary::{Against, Beside, Differs};
use std::fs;
use std::path::Path;

const TEXT: &str = "name: shop\nseed: 7\nusers: { arrive: { rate: 60/s }, phases: [ { hold: 20s } ] }\n\
    journey: [ { get: / } ]\nmodel: { servers: 2, service: exp(10ms) }\n";

/// A simulation of that text, its results in a folder of that name, beside another if there is one.
fn run(folder: &Path, name: &str, text: &str, beside: Option<RecordedRun>) -> Summary {
    let (file, out) = (folder.join(format!("{name}.yaml")), folder.join(name));
    fs::write(&file, text).unwrap();
    let words = ["headway", "sim", file.to_str().unwrap(), "--no-log", "--out", out.to_str().unwrap()];
    let mut settings = resolved(&words);
    settings.sim.beside = beside;
    let summary = play(&settings);
    let stored =
        headway_report::parse(&fs::read(out.join(headway_records::folder::SUMMARY)).unwrap()).unwrap();
    // The document has the sentences, too.
    let mut plain = stored;
    plain.beside.iter_mut().for_each(|beside| beside.run.notes.clear());
    assert_eq!(plain, summary);
    summary
}

fn told(beside: &Beside) -> Vec<String> {
    let one = |d: &Differs| format!("{}: {} | {}", d.what, d.recorded, d.simulated);
    beside.against.differs.iter().map(one).collect()
}

#[test]
fn the_same_run_agrees_and_another_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), "first", TEXT, None);
    let other = || RecordedRun::new(&folder.path().join("first"), &first);
    let same = run(folder.path(), "same", &TEXT.replace("seed: 7", "seed: 8"), Some(other())).beside.unwrap();
    assert_eq!(told(&same), Vec::<String>::new());
    assert_eq!(same.run.name, "first");
    // Twelve of 1,200 requests lie beyond p99, which has no interval.
    let agree = same.against.compared.iter().map(|of| of.agree).collect::<Vec<_>>();
    assert_eq!(agree, [Some(true), Some(true), Some(true), None], "{:?}", same.against.compared);
    let text = TEXT.replace("60/s", "70/s").replace("hold: 20s", "hold: 200s").replace("shop", "kiosk");
    let text = format!("{}timeout: 2s\n", text.replace("exp(10ms)", "exp(20ms)"));
    let apart = run(folder.path(), "apart", &text, Some(other())).beside.unwrap();
    let named = [
        "scenario: shop | kiosk",
        "rate: 60.0/s | 70.0/s",
        "duration: 20 s | 3.33 min",
        "timeout: 30 s | 2 s",
        "longest wait: 30 s | 2 s",
    ];
    assert_eq!(told(&apart), named);
    let p50 = &apart.against.compared[1];
    assert_eq!((p50.of.as_str(), p50.agree), ("p50", Some(false)), "twice the service time: {p50:?}");
    assert!(p50.ratio.unwrap() < 0.7);
    // Of a summary alone less is known, and what is known is compared.
    let file = folder.path().join("kept.json");
    fs::copy(folder.path().join("first").join(headway_records::folder::SUMMARY), &file).unwrap();
    let less = run(folder.path(), "less", &text, Some(RecordedRun::new(&file, &first))).beside.unwrap();
    assert_eq!(told(&less), named[1..]);
}

#[test]
fn each_point_of_a_study_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), "first", TEXT, None);
    let file = folder.path().join("first.yaml");
    let words = ["headway", "sim", file.to_str().unwrap(), "--sweep", "rate=60,90", "--replications", "5"];
    let Ok(SimCommand::Study(mut settings)) = asked(&args(&words), &[]) else { unreachable!() };
    settings.spec.beside = Some(RecordedRun::new(&folder.path().join("first"), &first));
    let study = study(&settings.spec, &|| false, || {}).unwrap().study;
    assert_eq!(study.beside.as_ref().map(|run| run.name.as_str()), Some("first"));
    let against: Vec<&Against> = study.points.iter().filter_map(|point| point.beside.as_ref()).collect();
    assert_eq!((against.len(), against[0].differs.len()), (2, 0));
    assert_eq!(against[1].differs[0].what, "rate");
    assert_eq!(against.iter().map(|a| a.compared[1].agree).collect::<Vec<_>>(), [Some(true), Some(false)]);
}

#[test]
fn what_is_not_known_of_the_other_run_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = Summary { name: "results.jtl".into(), ..Summary::default() };
    let other = RecordedRun::new(&folder.path().join("audit.json"), &foreign);
    let beside = run(folder.path(), "sim", TEXT, Some(other)).beside.unwrap();
    let notes = headway_report::words::findings::remarks(&beside.run.remarks, &beside.run.notes);
    assert!(notes[0].contains("The plan of audit.json is not known"), "{notes:?}");
    assert!(beside.against.compared.iter().all(|of| of.agree.is_none() && of.why_not.is_some()));
    // A plan that cannot be read is no reason to do without what the summary tells.
    fs::write(folder.path().join(headway_records::folder::PLAN), "{}").unwrap();
    let asked = run(folder.path(), "again", TEXT, None);
    let beside =
        run(folder.path(), "third", TEXT, Some(RecordedRun::new(folder.path(), &asked))).beside.unwrap();
    let notes = headway_report::words::findings::remarks(&beside.run.remarks, &beside.run.notes);
    assert!(notes[0].contains("Its plan cannot be read"), "{notes:?}");
    assert_eq!(told(&beside), Vec::<String>::new());
}
