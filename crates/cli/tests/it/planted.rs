//! Markers where labels, thresholds, paths and messages can have secrets: none is in any file that is written, nor on the terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SCENARIO: &str = r#"
variables: { api_key: pl4nted-1 }
users:
  - { name: pl4nted-1, arrive: { rate: 20/s }, phases: [{ hold: 10s }] }
journey:
  - { get: "/a?token=pl4nted-2", name: "see https://pl4nted-3:pl4nted-4@h/?token=pl4nted-2" }
  - { get: /b, name: plain, headers: { X-Own: "{{vars.api_key}}" } }
thresholds:
  - "response{step:see https://pl4nted-3:pl4nted-4@h/?token=pl4nted-2}: p(99)<100"
  - "response{step:plain}: p(99)<100"
model:
  service: 1ms
  steps: { "see https://pl4nted-3:pl4nted-4@h/?token=pl4nted-2": { service: 2ms } }
"#;

fn headway(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headway"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// Nothing that was planted is in what was printed, nor in any file below that folder but these.
fn nowhere(folder: &Path, ended: &Output, but: &[&str]) {
    for said in [&ended.stdout, &ended.stderr] {
        let said = String::from_utf8_lossy(said);
        assert!(!said.contains("pl4nted"), "{said}");
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => nowhere(&path, ended, but),
            false if but.iter().any(|name| path.ends_with(name)) => {}
            false => {
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(7).position(|part| part == b"pl4nted");
                let around = found.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at + 20]));
                assert!(found.is_none(), "{}: ...{}", path.display(), around.unwrap_or_default());
            }
        }
    }
}

#[test]
fn labels_and_thresholds_are_written_without_secrets_and_match_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.yaml"), SCENARIO).unwrap();
    let (exported, threshold) = (
        "rows?token=pl4nted-5.parquet",
        "response{step:see https://pl4nted-3:pl4nted-4@h/?token=pl4nted-2}: p(90)<100",
    );
    let words = ["sim", "s.yaml", "--seed", "1", "--out", "run", "--threshold", threshold, "--log"];
    let reports = ["--json", "s.json", "--html", "s.html", "--junit", "s.xml", "--output", "csv=s.csv"];
    let more = ["--output", "s.md", "--output", "openmetrics=s.txt", "--parquet", exported, "--details"];
    let ended = headway(folder.path(), &[&words[..], &reports, &more].concat());
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("rows to rows?token=<redacted>"), "{said}");
    nowhere(folder.path(), &ended, &["s.yaml"]);
    // What is no secret is written as it is, and thresholds have found their steps.
    let summary = headway_report::parse(&fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    let label = "see https://<redacted>@h/?token=<redacted>";
    assert_eq!(summary.by_label.keys().map(|label| label.as_str()).collect::<Vec<_>>(), ["plain", label]);
    let steps: Vec<&str> = summary.thresholds.iter().filter_map(|t| t.step.as_deref()).collect();
    assert_eq!(steps, [label, "plain", label]);
    assert!(summary.thresholds.iter().all(|threshold| threshold.n > 100), "{:?}", summary.thresholds);
    assert!(summary.by_label[label].response.mean > summary.by_label["plain"].response.mean);
    // Read back, and compared by that step.
    let again = headway(folder.path(), &["report", "run", "--recompute", "--threshold", threshold]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    nowhere(folder.path(), &again, &["s.yaml"]);
    let slower = format!("response{{step:{label}}}: p(90) slower by 50%");
    let typed = "response{step:see https://pl4nted-3:pl4nted-4@h/?token=pl4nted-2}: p(90) slower by 50%";
    fs::rename(folder.path().join("s.json"), folder.path().join("other.json")).unwrap();
    for condition in [slower.as_str(), typed] {
        let compared = headway(folder.path(), &["compare", "run", "other.json", "--fail-if", condition]);
        let said = String::from_utf8_lossy(&compared.stderr).into_owned();
        assert!(!said.contains("no step") && !said.contains("pl4nted"), "{said}");
    }
}

#[test]
fn audited_paths_and_labels_are_written_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let name = "results?token=pl4nted-6.jtl";
    let mut text = "timeStamp,elapsed,label,responseCode,success\n".to_owned();
    for i in 0..500 {
        let label = if i % 2 == 0 { "GET https://me:pl4nted-7@h/?token=pl4nted-8" } else { "plain" };
        text += &format!("{},{},{label},200,true\n", 1_700_000_000_000u64 + i * 37 + i * i % 31, 10 + i % 7);
    }
    fs::write(folder.path().join(name), text).unwrap();
    let outputs = ["--json", "a.json", "--html", "a.html", "--csv", "csv", "--output", "a.md"];
    let ended = headway(folder.path(), &[&["audit", name, "--details"][..], &outputs].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    nowhere(folder.path(), &ended, &[name]);
    let summary = headway_report::parse(&fs::read(folder.path().join("a.json")).unwrap()).unwrap();
    let audit = summary.audit.unwrap();
    assert_eq!(audit.files[0].path, "results?token=<redacted>");
    let labels: Vec<&str> = audit.tables.response.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["GET https://<redacted>@h/?token=<redacted>", "plain", "Total"]);
}

/// Errors quote paths and values: they pass the gate too.
#[test]
fn errors_are_said_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.yaml"), SCENARIO).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for words in [
        &["sim", "s.yaml", "--json", "file/x?token=pl4nted-9"][..],
        &["sim", "s.yaml", "--threshold", "response{step:no?token=pl4nted-9}: p(90)<100"],
        &["audit", "gone?token=pl4nted-9"],
        &["report", "gone?token=pl4nted-9"],
        &["merge", "gone?token=pl4nted-9"],
        &["compare", "gone?token=pl4nted-9", "file"],
        &["run", "http://127.0.0.1:1/?token=pl4nted-9", "--nonsense"],
    ] {
        let ended = headway(folder.path(), words);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.code().is_some_and(|code| code > 0), "{words:?}: {said}");
        assert!(said.starts_with("headway: ") && !said.contains("pl4nted-9"), "{words:?}: {said}");
    }
}
