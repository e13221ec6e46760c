//! Whole audits of small files.

use super::*;
use crate::args::{Args, Command};
use clap::Parser as _;
use std::path::Path;

fn audited(arguments: &[&str]) -> Summary {
    let words: Vec<String> =
        ["headway", "audit", "--quiet"].iter().chain(arguments).map(|&word| word.to_owned()).collect();
    let Command::Audit(args) = Args::try_parse_from(&words).expect("they are right").command else {
        panic!("it is an audit")
    };
    audit(&AuditSettings::resolve(&args, &words).expect("they are right")).expect("it can be audited")
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("there is room");
    path.display().to_string()
}

#[test]
fn only_generators_with_rows_are_listed() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows = |host: &str| -> String {
        let row = |i: i64| format!("{},5,a,200,t 1-1,true,{host}\n", 1_331_861_403_100 + 37 * i * i);
        (0..40).map(row).collect()
    };
    let head = "timeStamp,elapsed,label,responseCode,threadName,success,Hostname\n";
    let hosts = written(folder.path(), "hosts.csv", &format!("{head}{}{}", rows("north"), rows("south")));
    let generators = |files: &[&str]| audited(files).audit.expect("it is an audit").generators;
    assert_eq!(generators(&[&hosts]), ["north", "south"]);
    let bare = head.replace(",Hostname", "") + &rows("x").replace(",x\n", "\n");
    let bare = written(folder.path(), "bare.csv", &bare);
    assert_eq!(generators(&[&bare]), [&*bare]);
    assert_eq!(generators(&[&hosts, &bare]), ["north", "south", &bare]);
}

#[test]
fn what_was_asked_for_in_vain_is_said() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows: String = (0..60)
        .map(|i: i64| format!("{},5,a,200,t 1-{},true\n", 1_331_861_403_100 + 53 * i, 1 + i % 3))
        .collect();
    let text = format!("timeStamp,elapsed,label,responseCode,threadName,success\n{rows}");
    let file = written(folder.path(), "a.csv", &text);
    let summary = audited(&[&file, "--by-threads", "1,3,70", "--counts-per", "1h"]);
    let said = |path: &str| summary.not_computed.get(path).cloned().unwrap_or_default();
    assert!(
        said("thread_groups").starts_with("--by-threads 70: there are 3 users"),
        "{}",
        said("thread_groups")
    );
    assert!(said("audit.counts").starts_with("--counts-per 3600s: not one"), "{}", said("audit.counts"));
    assert!(!summary.not_computed.contains_key("outcomes"));
    let summary = audited(&[&file]);
    assert!(!summary.not_computed.contains_key("thread_groups"));
}

#[test]
fn starts_alone_tell_nothing_of_how_requests_ended() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows = |rest: &str| -> String { (0..60).map(|i: i64| format!("{}.5{rest}\n", 13 * i)).collect() };
    let starts = written(folder.path(), "starts.csv", &format!("at\n{}", rows("")));
    let summary = audited(&[&starts, "--columns", "start:s=at"]);
    assert_eq!(summary.not_computed["outcomes"], "the file does not tell how requests ended");
    let statuses = written(folder.path(), "statuses.csv", &format!("at,code\n{}", rows(",200")));
    let summary = audited(&[&statuses, "--columns", "start:s=at,status=code"]);
    assert!(!summary.not_computed.contains_key("outcomes"));
}

/// A simulation took place at no time, and sent nothing.
#[test]
fn a_simulated_run_has_neither_dates_nor_bytes() {
    let folder = tempfile::tempdir().expect("there is room");
    let text = "users: { arrive: { rate: 50/s }, phases: [ { hold: 4s } ] }\njourney: [ { get: / } ]\n\
                model: { servers: 2, service: exp(1ms) }\n";
    let (scenario, out) = (written(folder.path(), "s.yaml", text), folder.path().join("run"));
    let out = out.to_str().expect("it is text");
    let Command::Sim(args) =
        Args::parse_from(["headway", "sim", &scenario, "--seed", "5", "--out", out]).command
    else {
        panic!("it is a simulation")
    };
    let settings = crate::settings::simulated(&args, &[]).expect("they are right");
    crate::simulate::simulate(&settings, &|| false).expect("it can be played");
    let of = |path: &str| {
        let summary = audited(&[path]);
        let audit = summary.audit.expect("it is an audit");
        let file = audit.files[0].clone();
        assert_eq!((summary.started_at, audit.first_start), (None, None), "{path}");
        assert_eq!(file.description, "simulated run of Headway");
        assert_eq!(file.stamps_how, "simulated, seed 5: virtual time, which began at no date");
        assert!(audit.tables.bytes.is_empty() && audit.tables.bandwidth.is_empty(), "{path}");
        assert!(!audit.tables.response.is_empty(), "{path}");
    };
    of(out);
    // The log alone tells as much as its folder.
    let moved = folder.path().join("moved.arrow");
    std::fs::copy(Path::new(out).join(records::folder::RECORDS), &moved).expect("there is room");
    of(moved.to_str().expect("it is text"));
}

#[test]
fn folders_without_requests_say_what_they_are() {
    let folder = tempfile::tempdir().expect("there is room");
    let refused = || {
        let words = ["headway", "audit", folder.path().to_str().expect("it is text")];
        let Command::Audit(args) = Args::parse_from(words).command else { panic!("it is an audit") };
        let failure = audit(&AuditSettings::resolve(&args, &[]).expect("they are right")).expect_err("none");
        assert_eq!(failure.code, crate::exit::USAGE);
        crate::exit::in_words(&failure.error)
    };
    assert!(refused().contains("name the files in it"));
    written(folder.path(), "plan.json", "{}");
    written(folder.path(), "summary.json", "{}");
    assert!(refused().contains("kept no records (--no-log)"));
    written(folder.path(), "study.json", "{}");
    assert!(
        refused()
            .contains("the folder of a study, of several simulated runs, and holds no requests to audit")
    );
}
