//! `headway merge`: the shards of a run give the numbers of the run, and what is no part of one run is refused.
//!
//! The shards are made of a run which 0.1.0 recorded: its records are dealt out as its plan does.

use headway_engine::destination::layout::{
    Claim, Done, Progress, RunDocument, SCHEMA, StartAt, Timing, Whole, json as document,
};
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
    shard_of(at, index, manifest(&recorded()).zero_unix_ns, change)
}

/// The same of a run that began at that instant.
fn shard_of(at: &Path, index: u32, zero: i64, change: impl Fn(&mut Vec<headway_base::Record>)) -> PathBuf {
    let mut own = headway_engine::Manifest { zero_unix_ns: zero, ..manifest(&recorded()) };
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

/// A destination of the recorded run: the shards that `ended` names have ended, and `start` is when they began.
fn destination(at: &Path, ended: &[u32], start: i128) -> PathBuf {
    let dest = at.join("dest");
    fs::create_dir(&dest).unwrap();
    let own = manifest(&recorded());
    let zero = i64::try_from(start).unwrap();
    let run = RunDocument {
        schema: SCHEMA.to_owned(),
        version: own.headway.clone(),
        shards: COUNT,
        seed: own.plan.seed,
        fingerprint: own.fingerprint(),
        of: Whole::Run(Timing {
            start_at: Some(StartAt::Unix(start)),
            plan_end_ns: own.plan.end_ns,
            timeout_s: 1.0,
        }),
    };
    fs::write(dest.join("run.json"), document(&run)).unwrap();
    for &index in ended {
        let folder = dest.join(index.to_string());
        fs::rename(shard_of(at, index, zero, |_| {}), &folder).unwrap();
        let claim = Claim { host: format!("node-{index}"), pid: 1, at_unix_ns: start };
        fs::write(folder.join("claim.json"), document(&claim)).unwrap();
        let bytes = fs::metadata(folder.join("records.arrow")).unwrap().len();
        let records = planned(index).len() as u64;
        let done = Done { records, bytes, parts: None, exit_code: 0 };
        fs::write(folder.join("done.json"), document(&done)).unwrap();
    }
    dest
}

const LONG_AGO: i128 = 1_700_000_000_000_000_000;

#[test]
fn a_destination_is_merged_as_its_shards_are() {
    let at = TempDir::new().unwrap();
    let dest = [destination(at.path(), &[0, 1, 2], LONG_AGO)];
    let out = at.path().join("merged");
    assert_eq!(headway(&["merge", "--quiet", "--wait", "--expect", "3"], &dest, &out), 0);
    let (merged, whole) = (json(&out.join("summary.json")), unsharded(at.path()));
    for block in ["measured", "arrivals", "rate", "lag", "response", "outcomes", "series", "verdict"] {
        assert_eq!(merged[block], whole[block], "{block}");
    }
    assert_eq!(
        (&merged["shards"][1]["host"], &merged["shards"][1]["done"]),
        (&"node-1".into(), &true.into())
    );
    // Computed again, the run still says what there was of its shards.
    assert_eq!(recomputed(at.path(), &out).1["shards"], merged["shards"]);
    let refused = |words: &[&str], paths: &[PathBuf]| {
        let out = at.path().join("refused");
        assert_eq!(headway(&[&["merge", "--quiet"], words].concat(), paths, &out), 2, "{words:?}");
        assert!(!out.exists(), "a refusal leaves nothing behind");
    };
    refused(&["--expect", "0"], &dest);
    refused(&["--expect", "4"], &dest);
    refused(&["--allow-missing", "3"], &dest);
    refused(&["--grace", "1s"], &dest);
    refused(&[], &[dest[0].clone(), dest[0].clone()]);
    refused(&[], &[dest[0].clone(), dest[0].join("0")]);
    refused(&[], &[at.path().join("none")]);
    refused(&["--wait", "--grace", "0s"], &[at.path().join("none")]);
    let folders = [0, 1, 2].map(|i| dest[0].join(i.to_string()));
    refused(&["--expect", "8"], &folders);
    assert_eq!(headway(&["merge", "--quiet", "--expect", "3"], &folders, &at.path().join("named")), 0);
}

#[test]
fn shards_may_be_missing_only_where_that_is_allowed() {
    let at = TempDir::new().unwrap();
    let dest = [destination(at.path(), &[0, 2], LONG_AGO)];
    let merge = |words: &[&str], out: &str| {
        let out = at.path().join(out);
        let code = headway(&[&["merge", "--quiet"], words].concat(), &dest, &out);
        (code, json(&out.join("summary.json")))
    };
    // What should have come has had its time.
    let (code, summary) = merge(&["--wait", "--expect", "3"], "one");
    assert_eq!(code, 3);
    assert_eq!(summary["shards"][1]["log"], "missing");
    assert_eq!(summary["shards"][1]["planned"], planned(1).len() as u64);
    let (code, allowed) = merge(&["--allow-missing", "1"], "two");
    assert_eq!(code, 0);
    assert_eq!(allowed["verdict"], summary["verdict"], "it is said all the same");
    assert_eq!(allowed["verdict"]["load"], "INCONCLUSIVE");
    fs::remove_dir_all(dest[0].join("2")).unwrap();
    assert_eq!(merge(&["--allow-missing", "1"], "three").0, 3);
    fs::remove_dir_all(dest[0].join("0")).unwrap();
    assert_eq!(headway(&["merge", "--quiet"], &dest, &at.path().join("four")), 3, "nothing is there");
    assert!(!at.path().join("four").exists());
}

/// `headway merge --wait` as a process of its own, and what it said.
fn waiting(dest: &Path, out: &Path) -> std::process::Child {
    std::process::Command::new(env!("CARGO_BIN_EXE_headway"))
        .args(["merge", "--wait", "--grace", "1s"])
        .arg(dest)
        .arg("--out")
        .arg(out)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_merge_waits_for_shards_and_shows_them() {
    let now = headway_live::clock::unix_now();
    let at = TempDir::new().unwrap();
    let dest = destination(at.path(), &[0, 1], now + 3_600_000_000_000);
    let late = TempDir::new().unwrap();
    let last = destination(late.path(), &[2], now + 3_600_000_000_000).join("2");
    let progress = Progress { at_unix_ns: now, offered: 12_345, sent: 12_344, ended: 9, failed: 7 };
    fs::create_dir(dest.join("2")).unwrap();
    fs::write(dest.join("2/progress.json"), document(&progress)).unwrap();
    let out = at.path().join("merged");
    let child = waiting(&dest, &out);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    for name in ["plan.json", "records.arrow", "done.json"] {
        fs::copy(last.join(name), dest.join("2").join(name)).unwrap();
    }
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.starts_with("2/3 done  1 alive  offered 12,345  sent 12,344  failed 7\n"), "{said}");
    assert_eq!(json(&out.join("summary.json"))["shards"][2]["log"], "complete");
}

#[test]
fn an_interrupt_ends_the_wait_and_what_is_there_is_merged() {
    let at = TempDir::new().unwrap();
    let start = headway_live::clock::unix_now() + 3_600_000_000_000;
    let dest = destination(at.path(), &[0, 2], start);
    let out = at.path().join("merged");
    let mut child = waiting(&dest, &out);
    // Its first line says that it waits, and so that it takes signals.
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert_eq!(line, "2/3 done  0 alive  offered 0  sent 0  failed 0\n");
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("waiting no longer; what is there is merged"), "{rest}");
    let summary = json(&out.join("summary.json"));
    assert_eq!(summary["shards"][1]["log"], "missing");
    assert_eq!(summary["verdict"]["load"], "INCONCLUSIVE");
}

/// What the program ended with in that folder, and what it said.
fn ran(at: &Path, words: &[&str]) -> (Option<i32>, String) {
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_headway"))
        .args(words)
        .current_dir(at)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8(said).unwrap())
}

/// A study of one point, which crosses its threshold, of which shard 0 alone was played.
fn half_a_study(at: &Path) {
    let text = "name: one\nseed: 7\nusers: { arrive: { rate: 50/s }, phases: [ { hold: 2s } ] }\n\
                data: { people: { csv: people.csv } }\njourney: [ { get: \"/{{data.people.name}}\" } ]\n\
                model: { servers: 1, service: exp(10ms) }\n";
    fs::write(at.join("f.yaml"), text).unwrap();
    fs::write(at.join("people.csv"), "name\nann\nbob\n").unwrap();
    let played = ran(at, &PLAY);
    assert_eq!(played.0, Some(0), "{}", played.1);
}

const PLAY: [&str; 10] =
    ["sim", "f.yaml", "--replications", "4", "--threshold", "p(99)<1ms", "--shard", "0/2", "--out", "dest"];

#[test]
fn a_study_of_which_nothing_is_left_does_not_end_well() {
    let at = TempDir::new().unwrap();
    half_a_study(at.path());
    let (code, said) = ran(at.path(), &["merge", "dest", "--allow-missing", "1", "--out", "merged"]);
    assert_eq!(code, Some(3), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("no point has all its plays"), "{said}");
    assert!(said.contains("no threshold was judged") && !said.contains("INTERRUPTED"), "{said}");
    assert!(said.contains("shard 1/2 is missing, and its 2 plays with it"), "{said}");
}

#[test]
fn a_shard_of_a_study_says_how_to_play_it_again_and_so_it_goes() {
    let at = TempDir::new().unwrap();
    half_a_study(at.path());
    let plays = at.path().join("dest/0/plays.jsonl");
    let before = fs::read(&plays).unwrap();
    let (code, said) = ran(at.path(), &PLAY);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("if that process has died, remove dest/0, and start the shard again"), "{said}");
    // A line that is no play: its place is named once, and what to do.
    fs::remove_file(at.path().join("dest/0/done.json")).unwrap();
    let lines = String::from_utf8(before.clone()).unwrap();
    fs::write(&plays, lines.replacen("\n{", "\n[", 1)).unwrap();
    let (code, said) = ran(at.path(), &["merge", "dest", "--out", "merged"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("dest/0/plays.jsonl: line 2: no play") && said.contains("play it again"), "{said}");
    assert_eq!(said.matches("line").count(), 1, "{said}");
    fs::remove_dir_all(at.path().join("dest/0")).unwrap();
    assert_eq!(ran(at.path(), &PLAY).0, Some(0));
    let sorted = |bytes: &[u8]| {
        let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&fs::read(&plays).unwrap()), sorted(&before));
}

#[test]
fn a_merge_says_where_files_of_the_scenario_are_looked_for_and_that_it_waited() {
    let at = TempDir::new().unwrap();
    half_a_study(at.path());
    let elsewhere = at.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let (code, said) = ran(&elsewhere, &["merge", "../dest", "--out", "merged"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("merge from the folder in which the shards were started"), "{said}");
    assert_eq!(ran(at.path(), &["merge", "dest", "--out", "merged"]).0, Some(3));
    let (code, said) = ran(at.path(), &["merge", "none", "--wait", "--grace", "0s", "--out", "merged2"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("It was waited for as long as --grace says"), "{said}");
}
