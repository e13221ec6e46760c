//! Folders and documents which released versions wrote, `folders/<version>/`: later versions read them, for good.

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
