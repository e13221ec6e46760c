//! Folders and documents which released versions wrote, `folders/<version>/`: later versions read them, for good.

use headway_stats::summary::{FindingId, PlanKind, Why};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Rows in the log of the run that was killed, as pyarrow counts them.
const KILLED_ROWS: u64 = 171;

fn written_by_0_1_0(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/folders/0.1.0").join(name)
}

/// `headway` with these words and `--json FILE`: its exit code, and the document if it wrote one.
fn headway(words: &[&str], paths: &[&Path]) -> (u8, serde_json::Value) {
    let out = TempDir::new().unwrap();
    let document = out.path().join("out.json");
    let argv = ["headway"].iter().chain(words).map(OsString::from);
    let argv = argv.chain(paths.iter().map(|path| path.as_os_str().to_owned()));
    let code = headway_cli::main(argv.chain(["--json".into(), document.clone().into_os_string()]));
    let text = fs::read_to_string(document).unwrap_or_else(|_| "null".to_owned());
    (code, serde_json::from_str(&text).unwrap())
}

fn stored(folder: &str, file: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(written_by_0_1_0(folder).join(file)).unwrap()).unwrap()
}

#[test]
fn report_reads_a_run_and_a_simulation_as_they_were_stored() {
    for folder in ["run", "simulation"] {
        let (code, seen) = headway(&["report"], &[&written_by_0_1_0(folder)]);
        let was = stored(folder, "summary.json");
        assert_eq!(code, 0, "{folder}");
        for block in ["response", "service", "outcomes", "measured", "arrivals"] {
            assert_eq!(seen[block], was[block], "{folder}: {block}");
        }
        assert_eq!(seen["verdict"]["load"], was["verdict"]["load"], "{folder}");
    }
}

#[test]
fn report_computes_them_again_from_their_records() {
    for folder in ["run", "simulation"] {
        let (code, seen) = headway(&["report", "--recompute"], &[&written_by_0_1_0(folder)]);
        let was = stored(folder, "summary.json");
        assert_eq!(code, 0, "{folder}");
        for number in ["n", "p50", "p95", "max"] {
            assert_eq!(seen["response"][number], was["response"][number], "{folder}: {number}");
        }
        assert_eq!(seen["measured"]["n"], was["measured"]["n"], "{folder}");
    }
}

#[test]
fn report_reads_a_killed_run_to_its_last_batch() {
    let (code, seen) = headway(&["report"], &[&written_by_0_1_0("killed")]);
    assert_eq!((code, &seen["measured"]["n"]), (130, &KILLED_ROWS.into()));
    let ids: Vec<_> = seen["verdict"]["findings"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert!(ids.iter().any(|id| *id == "log-cut-short"), "{ids:?}");
}

#[test]
fn report_judges_them_by_other_thresholds() {
    for folder in ["run", "simulation"] {
        let (code, seen) = headway(&["report", "--threshold", "p(90)<1us"], &[&written_by_0_1_0(folder)]);
        let n = &stored(folder, "summary.json")["measured"]["n"];
        assert_eq!((code, &seen["thresholds"][0]["n"]), (99, n), "{folder}");
    }
}

/// A copy of the stored simulation with a summary, as 0.1.0 wrote them, of a run without a steady state.
fn unsteady_simulation(why_not: &str) -> TempDir {
    let copy = TempDir::new().unwrap();
    for file in fs::read_dir(written_by_0_1_0("simulation")).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let mut document = stored("simulation", "summary.json");
    document["simulation"]["steady"]["found"] = false.into();
    document["simulation"]["steady"]["why_not"] = why_not.into();
    document["not_computed"]["response.ci95.mean"] = "no steady state was found".into();
    fs::write(copy.path().join("summary.json"), document.to_string()).unwrap();
    copy
}

#[test]
fn a_threshold_on_an_old_simulation_without_a_steady_state_is_decided_by_its_value() {
    let why = "the rate of the plan varies within the measured phase";
    let folder = unsteady_simulation(why);
    let thresholds = ["report", "--threshold", "p(90)<1us"];
    let (code, seen) = headway(&thresholds, &[folder.path()]);
    let time = &seen["thresholds"][0];
    assert_eq!((code, &time["outcome"], &time["open"]), (99, &"crossed".into(), &"data".into()));
    assert!(time["value"].is_number(), "{time}");
    assert_eq!(time["reason"]["why"], "not-steady");
    assert_eq!(time["reason"]["text"], format!("no steady state: {why}"));
    assert_eq!(seen["not_computed"]["response.ci95.mean"]["why"], "not-steady");
    // A share of failures is another one in a longer run, as where a queue grows; their number is of this run.
    let failures = ["report", "--threshold", "failed: rate<1%", "--threshold", "failed: count<1"];
    let (code, seen) = headway(&failures, &[folder.path()]);
    let [rate, count] = [0, 1].map(|i| &seen["thresholds"][i]);
    assert_eq!((code, &rate["outcome"], &rate["value"]), (0, &"passed".into(), &0.0.into()));
    assert_eq!(rate["open"], "data");
    assert_eq!(rate["reason"]["why"], "not-steady");
    assert_eq!((&count["outcome"], &count["value"]), (&"passed".into(), &0.0.into()));
    // The folder as it was stored has one, and the same threshold is crossed.
    let (code, seen) = headway(&thresholds, &[&written_by_0_1_0("simulation")]);
    assert_eq!((code, &seen["thresholds"][0]["outcome"]), (99, &"crossed".into()));
    let (_, seen) = headway(&failures, &[&written_by_0_1_0("simulation")]);
    assert_eq!(seen["thresholds"][0]["outcome"], "passed");
}

/// Findings of 0.1.0 have no evidence: they are shown as they were written.
#[test]
fn old_findings_keep_their_sentences() {
    let read = |path: PathBuf| headway_report::parse(&fs::read(path).unwrap()).unwrap();
    for (folder, file) in [("", "audit.json"), ("run", "summary.json"), ("simulation", "summary.json")] {
        let summary = read(written_by_0_1_0(folder).join(file));
        let was = stored(folder, file);
        let reasons = headway_report::words::reasons(&summary);
        for finding in was["verdict"]["findings"].as_array().unwrap() {
            let same = |reason: &&headway_report::words::Reason| finding["id"] == reason.id.as_str();
            let reason = reasons.iter().find(same).unwrap_or_else(|| panic!("{file}: no {}", finding["id"]));
            assert_eq!(finding["text"], reason.text, "{folder}/{file}");
        }
        let json = headway_report::find("json").unwrap().summary(&summary, &Default::default()).unwrap();
        let again: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let texts = |of: &serde_json::Value| -> Vec<serde_json::Value> {
            of["verdict"]["findings"].as_array().unwrap().iter().map(|f| f["text"].clone()).collect()
        };
        assert_eq!(texts(&again), texts(&was), "{folder}/{file}");
        if let Some(waiting) = was["generator"]["waiting"].as_str() {
            assert_eq!(again["generator"]["waiting"], waiting);
        }
    }
    let audit = read(written_by_0_1_0("audit.json"));
    assert_eq!(audit.audit.unwrap().cause, Some(FindingId::ConstantRate));
    assert_eq!(audit.not_computed["blocked"].why, Why::DueNotTold);
    assert_eq!(audit.plan, None);
    let run = read(written_by_0_1_0("run").join("summary.json"));
    assert_eq!(run.plan.unwrap().kind, Some(PlanKind::Arrivals));
}

#[test]
fn a_study_and_an_audit_are_read_as_documents() {
    let study = fs::read(written_by_0_1_0("study").join("study.json")).unwrap();
    let study = headway_report::study::parse(&study).unwrap();
    assert_eq!((study.points.len(), study.replications), (2, 4));
    let audit = headway_report::parse(&fs::read(written_by_0_1_0("audit.json")).unwrap()).unwrap();
    assert_eq!(audit.measured.n, 1_000);
    // Its folder is shown again, as a document of the current schema.
    let (code, seen) = headway(&["report"], &[&written_by_0_1_0("study")]);
    assert_eq!((code, &seen["schema"]), (0, &headway_stats::study::SCHEMA.into()));
    assert!(seen["points"][0]["goodput"]["mean"].is_number(), "{seen}");
}

#[test]
fn audits_read_the_requests_of_a_run_and_of_a_killed_one() {
    for folder in ["run", "simulation"] {
        let (code, seen) = headway(&["audit"], &[&written_by_0_1_0(folder)]);
        let measured = &stored(folder, "summary.json")["measured"];
        let all = measured["n"].as_u64().unwrap() + measured["warmup"].as_u64().unwrap();
        assert_eq!((code, &seen["measured"]["n"]), (0, &all.into()), "{folder}");
    }
    let (code, seen) = headway(&["audit"], &[&written_by_0_1_0("killed")]);
    assert_eq!((code, &seen["measured"]["n"]), (0, &KILLED_ROWS.into()));
}
