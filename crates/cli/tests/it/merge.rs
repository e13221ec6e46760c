//! `headway merge`: the shards of a run give the numbers of the run, and what is no part of one run is refused.
//!
//! The shards are made of a run which 0.1.0 recorded: its records are dealt out as its plan does.

use headway_records::{LogReader, LogWriter};
use headway_workload::Shard;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const COUNT: u32 = 3;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/folders/0.1.0/simulation")
}

fn manifest(folder: &Path) -> headway_engine::Manifest {
    headway_engine::Manifest::read(&folder.join("plan.json")).unwrap()
}

/// Numbers of the arrivals of shard `index`.
fn planned(index: u32) -> HashSet<u64> {
    let plan = manifest(&recorded()).plan.plan().unwrap();
    plan.arrivals_of(Shard::new(index, COUNT).unwrap()).map(|arrival| arrival.k).collect()
}

/// The folder of shard `index`, with its records as `change` leaves them.
fn shard(at: &Path, index: u32, change: impl Fn(&mut Vec<headway_base::Record>)) -> PathBuf {
    let mut own = manifest(&recorded());
    own.plan.shard = format!("{index}/{COUNT}");
    let mine = planned(index);
    let mut rows = rows();
    rows.retain(|row| mine.contains(&row.k));
    change(&mut rows);
    folder(&at.join(format!("shard-{index}")), &own, &rows)
}

/// The records of the run.
fn rows() -> Vec<headway_base::Record> {
    let mut rows = Vec::new();
    let mut log = LogReader::open(&recorded().join("records.arrow")).unwrap();
    while let Some(batch) = log.next_batch().unwrap() {
        rows.extend(batch.iter());
    }
    rows
}

/// A run folder with these records.
fn folder(at: &Path, own: &headway_engine::Manifest, rows: &[headway_base::Record]) -> PathBuf {
    let folder = at.to_owned();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("plan.json"), own.json().unwrap()).unwrap();
    let mut writer = LogWriter::create(&folder.join("records.arrow"), &own.log_metadata().unwrap()).unwrap();
    writer.append(rows).unwrap();
    writer.finish().unwrap();
    folder
}

fn headway(words: &[&str], paths: &[PathBuf], out: &Path) -> u8 {
    let argv = ["headway"].iter().chain(words).map(OsString::from);
    let argv = argv.chain(paths.iter().map(|path| path.clone().into_os_string()));
    headway_cli::main(argv.chain(["--out".into(), out.as_os_str().to_owned()]))
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The summary of the run that was not sharded, computed from its records.
fn unsharded(at: &Path) -> serde_json::Value {
    recomputed(at, &recorded()).1
}

/// The summary of a run, computed from its records, and the exit code.
fn recomputed(at: &Path, run: &Path) -> (u8, serde_json::Value) {
    let document = at.join("unsharded.json");
    let argv = ["headway", "report", "--recompute", "--json"].map(OsString::from);
    let argv = argv.into_iter().chain([document.clone().into_os_string(), run.as_os_str().to_owned()]);
    (headway_cli::main(argv), json(&document))
}

/// Holds the generator of shard `index` up, each at other times: what was due meanwhile starts later by up to 40 ms.
fn hold_up(rows: &mut [headway_base::Record], index: u32) {
    use headway_base::{Nanos, Stamp};
    let (every, most) = (700_000_000 + 90_000_000 * i64::from(index), 40_000_000);
    for row in rows {
        let into = row.intended.0 % every;
        let late = Nanos(if into < most { most - into } else { 0 });
        let shifted = |stamp: Stamp| stamp.get().map(|at| at + late).into();
        row.shard = index as u16;
        (row.started, row.sent, row.first_byte) =
            (shifted(row.started), shifted(row.sent), shifted(row.first_byte));
        row.done += late;
    }
}

fn ids(summary: &serde_json::Value) -> Vec<String> {
    let findings = summary["verdict"]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn shards_give_the_numbers_of_the_run_to_the_bit() {
    let at = TempDir::new().unwrap();
    let mut shards: Vec<PathBuf> = (0..COUNT).map(|i| shard(at.path(), i, |_| {})).collect();
    // Their order says nothing.
    shards.rotate_left(1);
    let out = at.path().join("merged");
    assert_eq!(headway(&["merge", "--quiet"], &shards, &out), 0);
    let (merged, whole) = (json(&out.join("summary.json")), unsharded(at.path()));
    for block in [
        "measured", "arrivals", "rate", "lag", "response", "service", "outcomes", "by_label", "series",
        "curves", "verdict",
    ] {
        assert_eq!(merged[block], whole[block], "{block}");
    }
    // The folder is a run like any other.
    let own = manifest(&out);
    assert_eq!((own.plan.shard.as_str(), own.shards.len()), ("0/1", 0));
    assert_eq!(headway(&["merge"], &[out], &at.path().join("again")), 2);
}

/// Where generators are late, each at other times, the order of starts is not that of the plan.
#[test]
fn late_shards_give_the_verdict_of_the_run_to_the_bit() {
    let at = TempDir::new().unwrap();
    let shards: Vec<PathBuf> = (0..COUNT).map(|i| shard(at.path(), i, |rows| hold_up(rows, i))).collect();
    let mut whole = rows();
    for index in 0..COUNT {
        let mine = planned(index);
        let mut own: Vec<_> = whole.extract_if(.., |row| mine.contains(&row.k)).collect();
        hold_up(&mut own, index);
        whole.extend(own);
    }
    let run = folder(&at.path().join("whole"), &manifest(&recorded()), &whole);
    let out = at.path().join("merged");
    headway(&["merge", "--quiet"], &shards, &out);
    let (merged, whole) = (json(&out.join("summary.json")), recomputed(at.path(), &run).1);
    for block in ["measured", "arrivals", "rate", "lag", "response", "service", "verdict"] {
        assert_eq!(merged[block], whole[block], "{block}");
    }
    assert!(whole["lag"]["max"].as_f64().unwrap() > 0.03);
    // Each arrival is compared with itself: the intended ones are those of the run that was not held up.
    assert_eq!(whole["arrivals"]["intended"], unsharded(at.path())["arrivals"]["intended"]);
    let bunching = |rule: &&serde_json::Value| rule["rule"] == "bunching";
    let rule = whole["verdict"]["rules"].as_array().unwrap().iter().find(bunching).unwrap();
    assert_ne!(rule["value"], 0.0);
}

#[test]
fn a_shard_that_is_missing_is_named_with_what_it_had_planned() {
    let at = TempDir::new().unwrap();
    let shards = [0, 2].map(|i| shard(at.path(), i, |_| {}));
    let out = at.path().join("merged");
    assert_eq!(headway(&["merge", "--quiet"], &shards, &out), 3);
    let named = format!("1/3 ({} planned arrivals)", planned(1).len());
    let check = |summary: &serde_json::Value| {
        let finding = &summary["verdict"]["findings"][0];
        assert_eq!(
            (finding["id"].as_str(), finding["value"].as_f64()),
            (Some("records-missing"), Some(planned(1).len() as f64))
        );
        assert!(finding["text"].as_str().unwrap().contains(&named), "{finding}");
        assert_ne!(summary["verdict"]["load"], "VALID");
    };
    check(&json(&out.join("summary.json")));
    // Computed again from the merged records, it still says so.
    let again = at.path().join("again.json");
    let argv = ["headway", "report", "--recompute", "--json"].map(OsString::from);
    headway_cli::main(argv.into_iter().chain([again.clone().into_os_string(), out.into_os_string()]));
    check(&json(&again));
}

#[test]
fn arrivals_without_a_record_are_counted() {
    let at = TempDir::new().unwrap();
    let shards = [0, 1, 2].map(|i| {
        shard(at.path(), i, |rows| {
            if i == 1 {
                rows.truncate(rows.len() - 7);
                rows.remove(3);
            }
        })
    });
    let out = at.path().join("merged");
    assert_eq!(headway(&["merge", "--quiet"], &shards, &out), 3);
    let summary = json(&out.join("summary.json"));
    assert_eq!(
        (ids(&summary)[0].as_str(), &summary["verdict"]["findings"][0]["value"]),
        ("records-missing", &8.0.into())
    );
}

#[test]
fn what_is_no_part_of_one_run_is_refused() {
    let at = TempDir::new().unwrap();
    let out = at.path().join("merged");
    let one = shard(at.path(), 0, |_| {});
    let refused = |folders: &[PathBuf]| {
        assert_eq!(headway(&["merge", "--quiet"], folders, &out), 2);
        assert!(!out.exists(), "a refusal leaves nothing behind");
        headway_engine::merge::Shards::open(folders).unwrap_err().to_string()
    };
    assert!(refused(&[one.clone(), one.clone()]).contains("both are shard 0/3"));
    assert!(refused(&[recorded()]).contains("a whole run, not a shard"));
    let other_seed = shard(at.path(), 1, |_| {});
    let plan =
        fs::read_to_string(other_seed.join("plan.json")).unwrap().replace("\"seed\": 3", "\"seed\": 4");
    fs::write(other_seed.join("plan.json"), plan).unwrap();
    let why = refused(&[one.clone(), other_seed]);
    assert!(why.contains("the seed differs (3 and 4)"), "{why}");
    // A record a nanosecond off is none of the plan's.
    let shifted = shard(at.path(), 2, |rows| rows[5].intended.0 += 1);
    let folders = [one, shifted];
    assert_eq!(headway(&["merge", "--quiet"], &folders, &out), 2);
    assert!(!out.exists(), "a refusal leaves nothing behind");
    let folder = headway_records::RunFolder::create_exact(&out).unwrap();
    let why = headway_engine::merge::Shards::open(&folders).unwrap().merge(&folder).unwrap_err().to_string();
    assert!(why.contains("this log is not of this plan"), "{why}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}
