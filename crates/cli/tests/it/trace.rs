//! `--arrivals trace(FILE)`: what a log of arrivals comes to, from the file to the plan, the run folder and the merge.
//!
//! The logs are a simulated run which 0.1.0 recorded, and texts.

use clap::Parser as _;
use headway_base::Nanos;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::RunSettings;
use headway_engine::Manifest;
use headway_records::{LogReader, LogWriter};
use headway_workload::journey::{Cursor, Next};
use headway_workload::{Plan, Shard};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/folders/0.1.0/simulation")
}

fn resolve(words: &[&str]) -> anyhow::Result<RunSettings> {
    let args = Args::try_parse_from(["headway", "run"].iter().chain(words))?;
    let Command::Run(run) = args.command else { anyhow::bail!("not a run") };
    RunSettings::resolve(
        &run,
        &Typed { words: vec!["headway".to_owned(), "run".to_owned()], ..Typed::default() },
    )
}

fn plan(trace: &str) -> Plan {
    resolve(&["http://127.0.0.1:1/", "--arrivals", trace]).unwrap_or_else(|e| panic!("{e:#}")).load.plan
}

fn instants(plan: &Plan) -> Vec<Nanos> {
    plan.arrivals_of(Shard::WHOLE).map(|arrival| arrival.intended).collect()
}

fn main(words: &[&str], paths: &[&Path]) -> u8 {
    let words = ["headway"].iter().chain(words).map(OsString::from);
    headway_cli::main(words.chain(paths.iter().map(|path| path.as_os_str().to_owned())))
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A log of Headway's own run gives the instants that were intended, to the nanosecond.
#[test]
fn a_recorded_run_gives_its_intended_instants() {
    let planned = Manifest::read(&recorded().join("plan.json")).unwrap().plan.plan().unwrap();
    let intended = instants(&planned);
    let first = intended[0];
    let expected: Vec<Nanos> = intended.iter().map(|&at| at - first).collect();
    let trace = format!("trace({})", recorded().display());
    assert!(expected.len() > 100);
    assert_eq!(instants(&plan(&trace)), expected);
    // Divided by the speed, and the same of every seed.
    let twice = plan(&format!("trace({},speed=2)", recorded().display()));
    assert!(instants(&twice).iter().zip(&expected).all(|(a, b)| (2 * a.0 - b.0).abs() <= 1));
    assert_eq!(twice.end(), *instants(&twice).last().unwrap());
    let seeded = resolve(&["h", "--arrivals", &trace, "--seed", "5"]).unwrap().load;
    assert_eq!(instants(&seeded.plan), expected);
    let shown = seeded.summary();
    assert_eq!(shown.log.as_ref().map(|log| log.arrivals), Some(expected.len() as u64));
    assert!(
        shown.process.starts_with("trace(") && seeded.headline.contains("requests as in trace("),
        "{}",
        seeded.headline
    );
}

/// An access log: rows in any order, one that is none, stamps of whole seconds.
#[test]
fn an_access_log_is_spread_over_its_seconds_and_says_so() {
    let at = TempDir::new().unwrap();
    let log = at.path().join("access.log");
    let row = |i: usize| {
        format!(
            "127.0.0.1 - - [10/Oct/2025:13:55:{:02} +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n",
            (i * 7) % 50
        )
    };
    fs::write(&log, (0..200).map(row).collect::<String>() + "oops\n").unwrap();
    let trace = format!("trace({})", log.display());
    let load = resolve(&["h", "--arrivals", &trace]).unwrap().load;
    let words = load.remarks();
    assert!(words.contains("stamps of 1 s, each arrival at a random place within its step"), "{words}");
    assert!(words.contains("1 row could not be read"), "{words}");
    let all = instants(&load.plan);
    assert_eq!(all.len(), 200);
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    let kept = instants(&plan(&format!("trace({},spread=no)", log.display())));
    let expected: Vec<Nanos> = (0..50).flat_map(|second| [Nanos::from_secs(second); 4]).collect();
    assert_eq!(kept, expected);
}

/// With requests=own each arrival is the request that its row names; what names none is left out, and counted.
#[test]
fn an_access_log_gives_its_own_requests() {
    let at = TempDir::new().unwrap();
    let log = at.path().join("access.log");
    let row = |second: usize, request: &str| {
        format!("127.0.0.1 - - [10/Oct/2025:13:55:{second:02} +0000] \"{request}\" 200 5 \"-\" \"x\"\n")
    };
    let requests = [
        "GET /a?x=1 HTTP/1.1",
        "POST /b HTTP/1.1",
        "GET /a HTTP/1.1",
        "GET /a#b HTTP/1.1",
        "PURGE /c HTTP/1.1",
    ];
    fs::write(&log, (0..50).map(|i| row(i, requests[i % 5])).collect::<String>()).unwrap();
    let trace = format!("trace({},requests=own)", log.display());
    let settings = resolve(&["http://127.0.0.1:1", "--arrivals", &trace, "-H", "x-a: b"]).unwrap();
    let plan = &settings.load.plan;
    assert_eq!(settings.spec.labels, ["GET /a", "POST /b", "PURGE /c"]);
    assert!(plan.is_open());
    assert_eq!((instants(plan).len(), plan.trace().unwrap().no_step), (40, 10));
    assert!(
        settings.load.remarks().contains("10 arrivals left out, which no step can send as they are logged")
    );
    // Of the part that is played, one row in five is left out.
    let part = format!("trace({},from=10s,to=20s,requests=own)", log.display());
    let part = resolve(&["http://127.0.0.1:1", "--arrivals", &part]).unwrap().load;
    assert_eq!(part.plan.trace().unwrap().no_step, 2);
    // A scanner's line: to a step it is a URL without its scheme.
    let scanned = at.path().join("scanned.log");
    let paths = ["/a", "//example.com/x", "//a"];
    let rows: String = (0..30).map(|i| row(i, &format!("GET {} HTTP/1.1", paths[i % 3]))).collect();
    fs::write(&scanned, rows).unwrap();
    let scanned = format!("trace({},requests=own)", scanned.display());
    let scanned = resolve(&["http://127.0.0.1:1", "--arrivals", &scanned]).unwrap();
    assert_eq!(scanned.spec.labels, ["GET /a", "GET //a"]);
    assert_eq!(scanned.load.plan.trace().unwrap().no_step, 10);
    // What differs in a secret alone is one step, and no row of it is lost.
    let secret = at.path().join("secret.log");
    let paths = ["/a", "/a;jsessionid=AB12", "/a;jsessionid=CD34", "/a;sid=7"];
    let rows: String = (0..40).map(|i| row(i, &format!("GET {} HTTP/1.1", paths[i % 4]))).collect();
    fs::write(&secret, rows).unwrap();
    let secret = format!("trace({},requests=own)", secret.display());
    let secret = resolve(&["http://127.0.0.1:1", "--arrivals", &secret]).unwrap();
    assert_eq!(secret.load.plan.trace().unwrap().no_step, 0, "{:?}", secret.spec.labels);
    assert_eq!(instants(&secret.load.plan).len(), 40);
    assert!(!secret.spec.labels.concat().contains("AB12"), "{:?}", secret.spec.labels);
    let step = |k: u64| match plan.groups[0].journey.next(&mut Cursor::default(), plan.draws(0), k) {
        Next::Ask(ask) => ask.step,
        Next::Over(_) => panic!("{k} has no request"),
    };
    let steps: Vec<u16> = (0..40).map(step).collect();
    assert_eq!(steps, [0, 1, 0, 2].repeat(10));
    for (words, part) in [(&["-m", "GET"][..], "leave -m out"), (&["-b", "x"], "leave a body out")] {
        let words = [&["http://127.0.0.1:1", "--arrivals", &trace][..], words].concat();
        let error = format!("{:#}", resolve(&words).unwrap_err());
        assert!(error.contains(part), "{error}");
    }
    let error = format!("{:#}", resolve(&["http://127.0.0.1:1/x", "--arrivals", &trace]).unwrap_err());
    assert!(error.contains("leave the path of the URL out"), "{error}");
    // The run names its one step otherwise.
    let of_run = format!("trace({},requests=own)", recorded().display());
    let error = format!("{:#}", resolve(&["http://127.0.0.1:1", "--arrivals", &of_run]).unwrap_err());
    assert!(error.contains("write a scenario with a step of each name"), "{error}");
}

/// -d ends a trace early, at its speed, and --warmup makes its beginning warm-up; a scenario's trace takes them as one that is typed.
#[test]
fn a_part_of_a_trace_is_played_and_its_beginning_is_warm_up() {
    let trace = format!("trace({},speed=2)", recorded().display());
    let whole = plan(&trace);
    let half = Nanos(whole.end().0 / 2);
    let time = half.to_string();
    let at = TempDir::new().unwrap();
    let file = scenario(at.path());
    for first in
        [&["h", "--arrivals", &trace][..], &[file.to_str().unwrap(), "--set", "target=http://127.0.0.1:1"]]
    {
        let load = resolve(&[first, &["-d", &time, "--warmup", "100ms"]].concat()).unwrap().load;
        let expected: Vec<Nanos> = instants(&whole).into_iter().filter(|at| *at < half).collect();
        let seen = instants(&load.plan);
        assert!(
            seen.len().abs_diff(expected.len()) <= 1
                && seen[..expected.len() - 1] == expected[..expected.len() - 1]
        );
        assert_eq!(load.plan.measured_from, Nanos::from_millis(100));
        assert!(load.plan.trace().unwrap().of.to_string().contains("warmup=100ms"));
    }
    let error =
        |words: &[&str]| format!("{:#}", resolve(&[&["h", "--arrivals"], words].concat()).unwrap_err());
    let late = format!("trace({},from=1h)", recorded().display());
    assert!(error(&[&late]).contains("the part that is repeated has 0 arrivals"), "{}", error(&[&late]));
    assert!(error(&[&trace, "--warmup", "1h"]).contains("nothing would be measured"));
}

#[test]
fn what_does_not_go_with_a_trace_says_why() {
    let trace = format!("trace({})", recorded().display());
    for (flag, value) in [
        ("-R", "5"),
        ("-n", "5"),
        ("-u", "5"),
        ("--phases", "5s@5"),
        ("--ramp", "5s"),
        ("--at-once", "5"),
        ("--think", "5s"),
    ] {
        let error = format!("{:#}", resolve(&["h", "--arrivals", &trace, flag, value]).unwrap_err());
        assert!(error.contains(&format!("{flag} does not go with --arrivals trace(...): ")), "{error}");
    }
    let error = format!("{:#}", resolve(&["h", "--arrivals", "trace(/no/such/log)"]).unwrap_err());
    assert!(error.contains("this log gives no arrivals: ") && error.contains("/no/such/log"), "{error}");
}

/// A scenario that replays the recorded run, in a folder.
fn scenario(at: &Path) -> PathBuf {
    let path = at.join("s.yaml");
    let text = format!(
        "seed: 7\nusers: {{ arrive: {{ process: \"trace({},speed=2)\" }} }}\njourney: [ {{ get: / }} ]\nmodel: {{ servers: 4, service: exp(2ms) }}\n",
        recorded().display()
    );
    fs::write(&path, text).unwrap();
    path
}

/// A simulated run of the trace keeps its instants beside the plan; its shards merge to the run, and others are refused.
#[test]
fn shards_of_a_trace_merge_to_the_run() {
    let at = TempDir::new().unwrap();
    let whole = at.path().join("whole");
    assert_eq!(main(&["sim", "--quiet", "--log", "--out"], &[&whole, &scenario(at.path())]), 0);
    let own = Manifest::read(&whole.join("plan.json")).unwrap();
    let bare = own.plan.plan().unwrap();
    assert_eq!(bare.arrivals().count(), 0);
    let plan = own.plan_beside(&whole.join("plan.json")).unwrap();
    let trace = plan.trace().unwrap();
    assert_eq!(fs::metadata(whole.join("arrivals.bin")).unwrap().len(), 8 * trace.arrivals);
    let mut rows: Vec<headway_base::Record> = Vec::new();
    let mut log = LogReader::open(&whole.join("records.arrow")).unwrap();
    while let Some(batch) = log.next_batch().unwrap() {
        rows.extend(batch.iter());
    }
    assert_eq!(rows.len() as u64, trace.arrivals);
    assert!(rows.iter().all(|row| row.intended == trace.instants()[row.k as usize]));
    let shard = |index: u32| {
        let mut own = own.clone();
        own.plan.shard = format!("{index}/3");
        let mine: Vec<u64> = plan.arrivals_of(Shard::new(index, 3).unwrap()).map(|a| a.k).collect();
        let folder = at.path().join(format!("shard-{index}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("plan.json"), own.json().unwrap()).unwrap();
        fs::copy(whole.join("arrivals.bin"), folder.join("arrivals.bin")).unwrap();
        let mut writer =
            LogWriter::create(&folder.join("records.arrow"), &own.log_metadata().unwrap()).unwrap();
        let rows: Vec<_> = rows.iter().filter(|row| mine.contains(&row.k)).copied().collect();
        writer.append(&rows).unwrap();
        writer.finish().unwrap();
        folder
    };
    let shards = [shard(0), shard(1), shard(2)];
    let paths: Vec<&Path> = shards.iter().map(PathBuf::as_path).collect();
    let (out, again) = (at.path().join("merged"), at.path().join("again"));
    let merge =
        |out: &Path, paths: &[&Path]| main(&["merge", "--quiet", "--out"], &[&[out][..], paths].concat());
    assert_eq!(merge(&out, &paths), 0);
    let again_computed = at.path().join("recomputed.json");
    assert_eq!(main(&["report", "--recompute", "--json"], &[&again_computed, &whole]), 0);
    let (merged, recomputed) = (json(&out.join("summary.json")), json(&again_computed));
    for block in ["arrivals", "rate", "response", "outcomes", "verdict"] {
        assert_eq!(merged[block], recomputed[block], "{block}");
    }
    let run = json(&whole.join("summary.json"));
    assert_eq!(run["not_computed"]["arrivals.ks.plan"]["why"], "no-common-law");
    assert_eq!(run["plan"]["log"]["arrivals"], trace.arrivals);
    assert_eq!(run["verdict"]["load"], "VALID", "{}", run["verdict"]["rules"]);
    // The merged folder is one too: its instants are those of the shards.
    assert_eq!(fs::read(out.join("arrivals.bin")).unwrap(), fs::read(whole.join("arrivals.bin")).unwrap());
    // Two of three: what the third was to send is counted.
    assert_eq!(merge(&again, &paths[..2]), 3);
    let lost = plan.arrivals_of(Shard::new(2, 3).unwrap()).count();
    let finding = json(&again.join("summary.json"))["verdict"]["findings"][0].clone();
    assert_eq!(
        (finding["id"].as_str(), finding["value"].as_f64()),
        (Some("records-missing"), Some(lost as f64))
    );
    // Instants that are not the plan's.
    let mut bytes = fs::read(shards[0].join("arrivals.bin")).unwrap();
    bytes[8] ^= 1;
    fs::write(shards[0].join("arrivals.bin"), bytes).unwrap();
    assert_ne!(merge(&at.path().join("bad"), &paths), 0);
}

/// What counts is when requests are due: not how the log is named, and not the seed.
#[test]
fn runs_of_one_log_compare_under_other_names_and_seeds() {
    let at = TempDir::new().unwrap();
    let file = scenario(at.path());
    let copy = at.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["plan.json", "records.arrow"] {
        fs::copy(recorded().join(name), copy.join(name)).unwrap();
    }
    let renamed = at.path().join("renamed.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&renamed, text.replace(recorded().to_str().unwrap(), copy.to_str().unwrap())).unwrap();
    let play = |file: &Path, name: &str, more: &[&str]| {
        let out = at.path().join(name);
        assert_eq!(main(&[&["sim", "--quiet"], more, &["--out"]].concat(), &[&out, file]), 0);
        out
    };
    let one = play(&file, "one", &[]);
    let other = play(&renamed, "other", &["--seed", "8"]);
    let part = play(&renamed, "part", &["--set", "warmup=100ms"]);
    let compared = |other: &Path| {
        let shown = at.path().join("comparison.json");
        let code = main(&["compare", "--json"], &[&shown, &one, other]);
        (code, json(&shown)["pairs"][0].clone())
    };
    let (code, pair) = compared(&other);
    assert_eq!((code, pair["same_arrivals"].as_bool()), (0, Some(true)), "{pair}");
    let (code, pair) = compared(&part);
    assert!(code == 2 && pair["verdict"].to_string().contains("warm-up"), "{code} {pair}");
}
