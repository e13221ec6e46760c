//! What `headway search` is given: every flag that it takes is obeyed, or refused with what to do instead.

use anyhow::{Result, bail};
use clap::{CommandFactory, Parser};
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::SearchSettings;

const SCENARIO: &str = "name: one\nseed: 7\nusers: { arrive: { rate: 50/s } }\njourney: [ { get: / } ]\n\
    model: { servers: 1, service: exp(10ms) }\n";

fn resolve(words: &[&str]) -> Result<SearchSettings> {
    let line = ["headway", "search"].iter().chain(words);
    let Command::Search(search) = Args::try_parse_from(line)?.command else { bail!("not a search") };
    SearchSettings::resolve(
        &search,
        &Typed { words: vec!["headway".to_owned(), "search".to_owned()], ..Typed::default() },
    )
}

fn error(words: &[&str]) -> String {
    format!("{:#}", resolve(words).expect_err(&words.join(" ")))
}

/// What becomes of a flag.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    /// The settings differ by it.
    Obeyed,
    /// The message says what to do instead.
    Refused,
}
use Fate::{Obeyed, Refused};

/// Every flag but `help`: its name in the program, an example, and what becomes of it live and with `--sim`.
const FLAGS: &[(&str, &[&str], Fate, Fate)] = &[
    ("rate", &["-R", "5"], Refused, Refused),
    ("duration", &["-d", "5s"], Refused, Refused),
    ("requests", &["-n", "5"], Refused, Refused),
    ("sweep", &["--sweep", "rate=5,10"], Refused, Refused),
    ("phases", &["--phases", "5s@50"], Refused, Refused),
    // Beside --from, which says the same.
    ("users", &["-u", "5"], Refused, Refused),
    ("think", &["--think", "exp(1s)"], Refused, Refused),
    ("at_once", &["--at-once", "5"], Refused, Refused),
    ("connecting", &["--connecting", "5"], Refused, Refused),
    ("new_connections", &["--new-connections"], Obeyed, Refused),
    ("pool", &["--pool", "shared"], Refused, Refused),
    ("arrivals", &["--arrivals", "constant"], Obeyed, Refused),
    ("seed", &["--seed", "9"], Obeyed, Obeyed),
    ("ramp", &["--ramp", "1s"], Refused, Refused),
    ("warmup", &["--warmup", "1s"], Refused, Refused),
    ("shard", &["--shard", "0/2"], Refused, Refused),
    ("connections", &["-c", "17"], Obeyed, Refused),
    ("http2", &["--http2"], Obeyed, Refused),
    ("http1", &["--http1.1"], Obeyed, Refused),
    ("streams", &["--streams", "7"], Obeyed, Refused),
    ("answer", &["--answer", "next"], Obeyed, Refused),
    ("interval", &["--interval", "1s"], Refused, Refused),
    ("one_way", &["--one-way"], Obeyed, Refused),
    ("spread", &["--spread"], Obeyed, Refused),
    ("target_is_mine", &["--target-is-mine", "127.0.0.1"], Obeyed, Refused),
    ("local_addr", &["--local-addr", "127.0.0.2"], Obeyed, Refused),
    ("threads", &["--threads", "3"], Obeyed, Refused),
    ("wait", &["--wait", "sleep"], Obeyed, Refused),
    ("realtime", &["--realtime"], Obeyed, Refused),
    ("start_at", &["--start-at", "+5s"], Refused, Refused),
    ("late", &["--late", "2s"], Refused, Refused),
    ("headers", &["-H", "X-A: b"], Obeyed, Refused),
    ("method", &["-m", "PUT"], Obeyed, Refused),
    ("user", &["--user", "me:pw"], Obeyed, Refused),
    ("body", &["-b", "text"], Obeyed, Refused),
    ("body_file", &["--body-file", "/proc/self/comm"], Obeyed, Refused),
    ("stream", &["--stream", "chunks"], Obeyed, Refused),
    ("location", &["-L"], Obeyed, Refused),
    ("traceparent", &["--traceparent"], Obeyed, Refused),
    ("insecure", &["-k"], Obeyed, Refused),
    // The target here is of http://, without TLS.
    ("cert", &["--cert", "/proc/self/comm"], Refused, Refused),
    ("key", &["--key", "/proc/self/comm"], Refused, Refused),
    ("cacert", &["--cacert", "/proc/self/comm"], Refused, Refused),
    ("sni", &["--sni", "a.test"], Refused, Refused),
    ("tls_resumption", &["--tls-resumption"], Refused, Refused),
    ("dns_refresh", &["--dns-refresh", "7s"], Obeyed, Refused),
    ("proxy", &["--proxy", "http://127.0.0.1:9"], Obeyed, Refused),
    ("connect_to", &["--connect-to", ":::9"], Obeyed, Refused),
    ("origin", &["-L", "--origin", "http://127.0.0.2:80"], Obeyed, Refused),
    ("resolve", &["--resolve", "*:9:127.0.0.1"], Obeyed, Refused),
    ("timeout", &["--timeout", "7s"], Obeyed, Refused),
    ("idle_timeout", &["--idle-timeout", "7s"], Obeyed, Refused),
    ("connect_timeout", &["--connect-timeout", "7s"], Obeyed, Refused),
    ("max_wait", &["--max-wait", "7s"], Obeyed, Refused),
    ("drain", &["--drain", "7s"], Obeyed, Refused),
    ("max_body", &["--max-body", "7KiB"], Obeyed, Refused),
    ("dry_run", &["--dry-run"], Refused, Refused),
    ("sets", &["--set", "timeout=6s"], Obeyed, Obeyed),
    ("print_scenario", &["--print-scenario"], Refused, Refused),
    ("thresholds", &["--threshold", "p(50)<7ms"], Obeyed, Obeyed),
    ("abort_on_crossed", &["--abort-on-crossed"], Refused, Refused),
    ("tolerances", &["--tolerance", "lateness=5ms"], Obeyed, Obeyed),
    ("baseline", &["--baseline", "/tmp"], Refused, Refused),
    ("fail_if", &["--fail-if", "p(99) slower by 5%"], Refused, Refused),
    ("across", &["--across", "rate"], Refused, Refused),
    ("notes", &["--note", "commit=1"], Obeyed, Obeyed),
    ("redact", &["--redact", "X-Own"], Obeyed, Obeyed),
    ("no_redact", &["--no-redact"], Obeyed, Obeyed),
    ("out", &["--out", "somewhere"], Obeyed, Obeyed),
    ("output", &["--output", "json=x.json"], Obeyed, Obeyed),
    ("json", &["--json", "x.json"], Obeyed, Obeyed),
    ("html", &["--html", "x.html"], Obeyed, Obeyed),
    // These are refused where reports are checked, with those of other verbs: `.ci/e2e/check_search.py`.
    ("junit", &["--junit", "x.xml"], Obeyed, Obeyed),
    ("parquet", &["--parquet", "x.parquet"], Obeyed, Obeyed),
    ("details", &["--details"], Refused, Refused),
    ("percentiles", &["--percentiles", "42"], Refused, Refused),
    ("histogram", &["--histogram"], Refused, Refused),
    ("open", &["--open"], Obeyed, Obeyed),
    ("quiet", &["--quiet"], Obeyed, Obeyed),
    ("no_log", &["--no-log"], Refused, Refused),
    ("strict", &["--strict"], Refused, Refused),
    ("watch", &["--watch"], Refused, Refused),
    ("otlp_every", &["--otlp-every", "9s", "--otlp", "http://127.0.0.1:4318"], Refused, Refused),
    ("otlp", &["--otlp", "http://127.0.0.1:4318"], Refused, Refused),
    ("watch_addr", &["--watch-addr", "127.0.0.1:0"], Refused, Refused),
    ("from", &["--from", "7/s"], Obeyed, Obeyed),
    ("to", &["--to", "70/s"], Obeyed, Obeyed),
    ("precision", &["--precision", "7%"], Obeyed, Obeyed),
    ("no_probe", &["--no-probe"], Obeyed, Obeyed),
    ("budget", &["--budget", "700m"], Obeyed, Obeyed),
    // There is a URL beside it.
    ("targets", &["--target", "a=http://127.0.0.1:9/"], Refused, Refused),
    // The folder is read when the search begins: `.ci/e2e/check_search.py`.
    ("resume", &["--resume", "no-such-folder"], Obeyed, Obeyed),
];

/// Settings with that flag differ from those without, or it is refused and the message names it, and what to do.
fn fate(flag: &[&str], base: &[&str]) -> Result<Fate, String> {
    let with: Vec<&str> = base.iter().chain(flag).copied().collect();
    let without = resolve(base).map_err(|error| format!("refused without it: {error:#}"))?;
    match resolve(&with) {
        Ok(settings) if format!("{settings:?}") == format!("{without:?}") => {
            Err("taken and ignored".to_owned())
        }
        Ok(_) => Ok(Obeyed),
        Err(told) => {
            let told = format!("{told:#}");
            let remedies = ["leave", "write", "headway ", "give ", "share the connections"];
            match told.contains(flag[0]) && remedies.iter().any(|word| told.contains(word)) {
                true => Ok(Refused),
                false => Err(told),
            }
        }
    }
}

#[test]
fn no_flag_is_taken_and_ignored() {
    let command = Args::command();
    let search = command.find_subcommand("search").unwrap();
    // What is no flag of a run, or says what is searched.
    let others = ["help", "target", "sim", "model"];
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("one.yaml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let scenario = scenario.to_str().unwrap();
    let mut wrong = Vec::new();
    for argument in search.get_arguments().map(|argument| argument.get_id().as_str()) {
        if others.contains(&argument) {
            continue;
        }
        let row = FLAGS.iter().find(|row| row.0 == argument);
        let (_, flag, live, simulated) = row.unwrap_or_else(|| panic!("{argument}: no row in FLAGS"));
        let udp = ["answer", "one_way"].contains(&argument);
        let (url, bytes): (&str, &[&str]) =
            if udp { ("udp://127.0.0.1:9", &["-b", "x"]) } else { ("http://127.0.0.1:9/", &[]) };
        let common = ["--threshold", "p(99)<100ms", "--budget", "600m", "--from", "10/s", "--seed", "5"];
        // Most flags may be given once.
        let common = common.chunks(2).filter(|pair| pair[0] != flag[0] || pair[0] == "--threshold");
        let common: Vec<&str> = common.flatten().copied().collect();
        let live_base: Vec<&str> = bytes.iter().chain(&[url]).chain(&common).copied().collect();
        let model_base: Vec<&str> = ["--sim", scenario].iter().chain(&common).copied().collect();
        for (base, wanted) in [(live_base, live), (model_base, simulated)] {
            match fate(flag, &base) {
                Ok(fate) if fate == *wanted => {}
                other => wrong.push(format!("{flag:?} with {base:?}: {other:?}, and not {wanted:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_compares_is_refused_with_what_does() {
    for (flag, value, instead) in [
        ("--baseline", "x", "name the folder of an earlier search"),
        ("--fail-if", "p(99) slower by 5%", "a search has no conditions"),
        ("--across", "rate", "by --baseline DIR"),
    ] {
        let told = error(&["h", "--threshold", "p(99)<100ms", flag, value]);
        assert!(told.contains(flag) && told.contains(instead), "{told}");
    }
}

#[test]
fn the_number_of_closed_users_is_searched() {
    let closed = ["http://127.0.0.1:9/", "--threshold", "p(99)<100ms", "--think", "exp(1s)"];
    let of = |more: &[&'static str]| resolve(&closed.iter().chain(more).copied().collect::<Vec<_>>());
    let bounds = of(&["-u", "5", "-c", "400"]).unwrap().specs[0].bounds;
    assert_eq!(
        (bounds.from, bounds.lowest, bounds.to),
        (5.0, 5.0, Some(400.0)),
        "the cap: each has a connection"
    );
    let bounds = of(&["--pool", "shared", "--to", "40"]).unwrap().specs[0].bounds;
    assert_eq!((bounds.from, bounds.lowest, bounds.to), (10.0, 1.0, Some(40.0)));
    let told = |more: &[&'static str]| format!("{:#}", of(more).unwrap_err());
    assert!(told(&["--from", "10/s"]).contains("--from 10/s: closed users are searched"));
    assert!(told(&["--from", "0.5"]).contains("write a whole number from 1"));
    assert!(told(&["-u", "5", "--from", "10"]).contains("give one of the two"));
    assert!(told(&["--to", "40", "-c", "30"]).contains("at most 30 may be open"));
    assert!(told(&["--from", "40", "--to", "30"]).contains("nothing lies between them"));
    assert!(told(&["--budget", "500ms"]).contains("at 10 users"));
}

#[test]
fn several_targets_have_names_and_one_load() {
    let both = ["--target", "a=http://127.0.0.1:9/x=y", "--target", "b=127.0.0.1:8/"];
    let rest = ["--threshold", "p(99)<100ms", "-H", "X-A: b"];
    let of = |first: &[&'static str]| {
        let words: Vec<&str> = first.iter().chain(&rest).copied().collect();
        resolve(&words)
    };
    let settings = of(&both).unwrap();
    let names: Vec<&str> = settings.specs.iter().map(|spec| spec.base.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(settings.specs[0].target, "http://127.0.0.1:9/x=y");
    assert_eq!(settings.specs[0].base.plan.seed, settings.specs[1].base.plan.seed);
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("one.yaml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let file = scenario.to_str().unwrap().to_owned();
    let words: Vec<&str> = [file.as_str()].into_iter().chain(both).chain(rest).collect();
    let settings = resolve(&words).unwrap();
    assert_eq!(settings.specs[1].target, "http://127.0.0.1:8/");
    assert_eq!(settings.specs[1].base.plan.seed, 7);
    let told = |words: &[&'static str]| format!("{:#}", of(words).unwrap_err());
    assert!(told(&["--target", "a=h", "--target", "a=g"]).contains("a name of its own"));
    assert!(told(&["http://127.0.0.1/", "--target", "a=h"]).contains("give every URL as --target NAME=URL"));
    for bad in ["http://127.0.0.1/", "=h", "a b=h", "../a=h", "a="] {
        assert!(told(&["--target", bad]).contains("write NAME=URL"), "{bad}");
    }
    assert!(told(&[]).contains("URL|SCENARIO"), "{}", told(&[]));
}
