//! Whole audits of small files.

use clap::Parser as _;
use headway_cli::args::{Args, Command};
use headway_cli::exit;
use headway_cli::repeat::Typed;
use headway_cli::settings::{AuditSettings, simulated};
use headway_engine::{Backend, Control, Error, audit, render};
use headway_stats::Summary;
use headway_stats::summary::StampsHow;
use std::path::Path;

fn audited(arguments: &[&str]) -> Summary {
    let words: Vec<String> =
        ["headway", "audit", "--quiet"].iter().chain(arguments).map(|&word| word.to_owned()).collect();
    let Command::Audit(args) = Args::try_parse_from(&words).expect("they are right").command else {
        panic!("it is an audit")
    };
    let settings =
        AuditSettings::resolve(&args, &Typed { words, ..Typed::default() }).expect("they are right");
    audit::audit(&settings.spec, &mut ()).expect("it can be audited")
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
    let said =
        |path: &str| headway_report::words::why::missing(&summary.not_computed, path).unwrap_or_default();
    assert!(
        said("thread_groups").starts_with("--by-threads 70: there are 3 users"),
        "{}",
        said("thread_groups")
    );
    assert!(said("audit.counts").starts_with("--counts-per 60 min: not one"), "{}", said("audit.counts"));
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
    assert_eq!(summary.not_computed["outcomes"].why, headway_stats::summary::Why::OutcomesNotTold);
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
    let settings = simulated(&args, &Typed::default()).expect("they are right");
    let backend = Backend::Sim(Box::new(settings.sim.clone()));
    backend.play(&settings.spec, &Control::default(), &mut []).expect("it can be played");
    let of = |path: &str| {
        let summary = audited(&[path]);
        let audit = summary.audit.expect("it is an audit");
        let file = audit.files[0].clone();
        assert_eq!((summary.started_at, audit.first_start), (None, None), "{path}");
        assert_eq!(file.description, "simulated run of Headway");
        assert_eq!(file.stamps_how, Some(StampsHow::Simulated { seed: "5".into() }.into()));
        assert!(audit.tables.bytes.is_empty() && audit.tables.bandwidth.is_empty(), "{path}");
        assert!(!audit.tables.response.is_empty(), "{path}");
    };
    of(out);
    // The log alone tells as much as its folder.
    let moved = folder.path().join("moved.arrow");
    std::fs::copy(Path::new(out).join(headway_records::folder::RECORDS), &moved).expect("there is room");
    of(moved.to_str().expect("it is text"));
}

#[test]
fn folders_without_requests_say_what_they_are() {
    let folder = tempfile::tempdir().expect("there is room");
    let refused = || {
        let words = ["headway", "audit", folder.path().to_str().expect("it is text")];
        let Command::Audit(args) = Args::parse_from(words).command else { panic!("it is an audit") };
        let settings = AuditSettings::resolve(&args, &Typed::default()).expect("they are right");
        let failure: exit::Failure = audit::audit(&settings.spec, &mut ()).expect_err("none").into();
        assert_eq!(failure.code, exit::USAGE);
        failure.said().to_string()
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

/// Rows of JMeter's with two labels: 900 requests in 30 s, every seventh of `b` failed, every fourth of `a` in no time.
fn two_labels(folder: &Path) -> String {
    let row = |i: i64| {
        let at = 1_331_861_403_100 + 33 * i + (i * i) % 17;
        let (label, took) = if i % 3 == 0 {
            ("a", if i % 4 == 0 { 0 } else { 1 + i % 37 })
        } else {
            ("b", 100 + (i * 7) % 411)
        };
        let (code, message, ok) = if label == "b" && i % 7 == 0 {
            ("503", "Service Unavailable", false)
        } else {
            ("200", "OK", true)
        };
        format!("{at},{took},{label},{code},{message},t 1-{},{ok},1000\n", 1 + i % 3)
    };
    let rows: String = (0..900).map(row).collect();
    written(
        folder,
        "two.csv",
        &format!("timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes\n{rows}"),
    )
}

#[test]
fn percentiles_by_label_are_those_of_the_tables() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let summary = audited(&[&file, "--percentiles", "90,95,99"]);
    let tables = &summary.audit.as_ref().expect("it is an audit").tables;
    for label in ["a", "b"] {
        let of = |columns: &[headway_stats::summary::Column]| {
            columns.iter().find(|c| c.label == label).expect("it came").clone()
        };
        let (exact, told) = (of(&tables.response), &summary.by_label[label].response);
        assert_eq!(
            [told.p50, told.p90, told.p95, told.p99],
            [exact.median, exact.percentiles[0], exact.percentiles[1], exact.percentiles[2]]
        );
        let (exact, told) = (of(&tables.headways), &summary.arrivals.by_label[label]);
        assert_eq!(
            [told.p50, told.p90, told.p95, told.p99],
            [exact.median, exact.percentiles[0], exact.percentiles[1], exact.percentiles[2]]
        );
    }
    // Of the rows themselves.
    let mut took: Vec<i64> = (0..900).filter(|i| i % 3 != 0).map(|i| 100 + (i * 7) % 411).collect();
    took.sort_unstable();
    let p99 = took[(took.len() * 99).div_ceil(100) - 1];
    assert_eq!(summary.by_label["b"].response.p99, Some(p99 as f64 / 1e3));
}

#[test]
fn requests_without_elapsed_time_are_counted_where_they_have_no_bandwidth() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let summary = audited(&[&file]);
    let bandwidth = &summary.audit.as_ref().expect("it is an audit").tables.bandwidth;
    let counted: Vec<_> = bandwidth.iter().map(|c| (c.label.as_str(), c.n, c.left_out)).collect();
    assert_eq!(counted, [("a", 225, 75), ("b", 600, 0), ("Total", 825, 75)]);
    let style = headway_report::Style { details: true, ..Default::default() };
    let text = String::from_utf8(render("terminal", &summary, &style)).expect("text");
    assert!(text.contains("75 requests took no time by the stamps and have no bandwidth"), "{text}");
}

#[test]
fn failures_have_times_and_messages() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let out = folder.path().join("failed.csv").display().to_string();
    let summary = audited(&[&file, "--stamps", "start", "--failures", &out, "--zone", "America/Los_Angeles"]);
    let audit = summary.audit.expect("it is an audit");
    let [kind] = &audit.failures[..] else { panic!("{:?}", audit.failures) };
    let n = (0..900).filter(|i| i % 3 != 0 && i % 7 == 0).count() as u64;
    assert_eq!(
        (kind.outcome.as_str(), kind.status, kind.message.as_str(), kind.n),
        ("status", 503, "Service Unavailable", n)
    );
    // Rows 7 and 896, by their stamps.
    assert_eq!((kind.first_s, kind.last_s), (0.246, 29.576));
    let text = std::fs::read_to_string(out).expect("it was written");
    let second = text.lines().nth(1).expect("a row");
    assert!(
        second.starts_with("2012-03-15T18:30:03.346-07:00,0.246000000,0.149000000,b,503,status,t 1-2,"),
        "{second}"
    );
    assert!(second.ends_with(",Service Unavailable,,1000,0"), "{second}");
    assert_eq!(text.lines().count() as u64, 1 + n);
}

#[test]
fn exported_rows_are_the_judged_ones_and_can_be_audited_again() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let again = |name: &str, flags: &[&str]| {
        let out = folder.path().join(name).display().to_string();
        let mut words = vec![file.as_str(), "--stamps", "start", "--rows", &out];
        words.extend(flags);
        let first = audited(&words).audit.expect("it is an audit").tables;
        let columns =
            "start=time,elapsed:s=elapsed_s,label=label,status=status,thread=thread,bytes=bytes_received";
        let second = audited(&[&out, "--columns", columns]).audit.expect("it is an audit").tables;
        assert_eq!((&second.headways, &second.response), (&first.headways, &first.response), "{name}");
        std::fs::read_to_string(out).expect("it was written")
    };
    let cut = again("cut.csv", &["--from", "5s", "--for", "10s", "--success-only"]);
    assert!(cut.lines().nth(1).expect("a row").starts_with("2012-03-16T01:30:08.1"), "{cut}");
    let moved = again("moved.csv", &["--shift-by-response", "add"]);
    // The row that ends first is the first: that of no time.
    assert!(
        moved
            .lines()
            .nth(1)
            .expect("a row")
            .starts_with("2012-03-16T01:30:03.1Z,0.000000000,0.000000000,a,200,ok"),
        "{moved}"
    );
    assert_eq!(moved.lines().count(), 901);
}

#[test]
fn all_unreadable_rows_are_written_even_of_a_file_that_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let long = "x".repeat(500);
    let text: String =
        (0..40).map(|i: i64| format!("{},5,a\n{long},=1+1\n", 1_331_861_403_100 + 37 * i)).collect();
    let file = written(folder.path(), "bad.csv", &format!("timeStamp,elapsed,label\n{text}"));
    let out = folder.path().join("unreadable.csv").display().to_string();
    let words = ["headway", "audit", "--quiet", &file, "--unreadable", &out].map(str::to_owned);
    let Command::Audit(args) = Args::try_parse_from(&words).expect("they are right").command else {
        panic!()
    };
    let settings = AuditSettings::resolve(&args, &Typed { words: words.to_vec(), ..Typed::default() })
        .expect("they are right");
    let failure = audit::audit(&settings.spec, &mut ()).expect_err("too many");
    assert!(matches!(failure, Error::Usage(_)), "{failure:?}");
    let rows = std::fs::read_to_string(out).expect("it was written");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!((lines.len(), lines[0]), (41, "file,line,found,expected"));
    assert!(
        lines[1].starts_with(&format!("{file},3,\"{long},=1+1\",\"3 columns as in the header")),
        "{}",
        lines[1]
    );
    assert!(lines[40].contains(",81,"), "{}", lines[40]);
}

#[test]
fn all_ok_is_said_only_where_failures_are_recorded() {
    let folder = tempfile::tempdir().expect("there is room");
    let word = |summary: &Summary| headway_report::words::answers(summary).word;
    let oha: String = (0..60).map(|i: i64| format!("{}.5,,0.0,0.001,0.002,17,200\n", 13 * i)).collect();
    let oha = format!(
        "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n{}",
        oha.replace(",,", ",0.0,")
    );
    let summary = audited(&[&written(folder.path(), "oha.csv", &oha)]);
    assert_eq!(word(&summary), "no failures");
    assert!(summary.audit.expect("it is").unrecorded.expect("a clause").contains("got no answer"));
    // Ends are known, outcomes are not.
    let rows: String = (0..60).map(|i: i64| format!("{}.5,7\n", 13 * i)).collect();
    let plain = written(folder.path(), "plain.csv", &format!("at,took\n{rows}"));
    assert_eq!(word(&audited(&[&plain, "--columns", "start:s=at,elapsed:ms=took"])), "n/a");
    let jmeter: String = (0..60).map(|i: i64| format!("{},5,a\n", 1_331_861_403_100 + 37 * i)).collect();
    let bare = written(folder.path(), "bare.csv", &format!("timeStamp,elapsed,label\n{jmeter}"));
    assert_eq!(word(&audited(&[&bare])), "n/a");
    let whole = written(
        folder.path(),
        "whole.csv",
        &format!("timeStamp,elapsed,label,success\n{}", jmeter.replace(",a\n", ",a,true\n")),
    );
    assert_eq!(word(&audited(&[&whole])), "all ok");
}

#[test]
fn pages_are_labels_of_the_files() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let summary = audited(&[&file, "--pages", "b"]);
    let (closed, tables) =
        (summary.closed.expect("it has ends"), summary.audit.expect("it is an audit").tables);
    let pages = closed.pages.expect("they were named");
    assert_eq!((pages.n, pages.labels.as_slice()), (600, &["b".into()][..]));
    let all = tables.response.last().and_then(|total| total.rate).expect("it is known");
    assert!((pages.rate / all - 2.0 / 3.0).abs() < 1e-12);
    assert!((pages.supported[0].users - pages.rate * (10.0 + pages.response)).abs() < 1e-9);
    let words = ["headway", "audit", "--quiet", &file, "--pages", "b,c"].map(str::to_owned);
    let Command::Audit(args) = Args::try_parse_from(&words).expect("they are right").command else {
        panic!()
    };
    let settings = AuditSettings::resolve(&args, &Typed { words: words.to_vec(), ..Typed::default() })
        .expect("they are right");
    let failure = audit::audit(&settings.spec, &mut ()).expect_err("no c").to_string();
    assert!(failure.contains("no request has the label 'c'; labels are a, b"), "{failure}");
}

#[test]
fn cells_beyond_the_cap_are_one_row() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = two_labels(folder.path());
    let out = folder.path().join("cells").display().to_string();
    audited(&[&file, "--histograms", &out, "--cells", "100ms", "--max-cells", "3"]);
    let text = std::fs::read_to_string(Path::new(&out).join("response-100 ms.csv"))
        .or_else(|_| std::fs::read_to_string(Path::new(&out).join("response-100ms.csv")));
    let text = text.expect("it was written");
    let beyond = (0..900).filter(|i| i % 3 != 0 && 100 + (i * 7) % 411 > 300).count();
    assert!(text.contains(&format!("b,0.300000000,,{beyond}\n")), "{text}");
    assert!(!text.contains("0.400000000"), "{text}");
}

/// Numbers spread evenly over 0 to 1, each unlike the last.
fn spread(i: i64) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract()
}

/// JMeter's rows (stamp, elapsed, thread), stamps in ms since the test began.
fn jmeter(rows: &[(i64, i64, String)]) -> String {
    let head = "timeStamp,elapsed,label,responseCode,threadName,success\n";
    let row = |(stamp, elapsed, thread): &(i64, i64, String)| {
        format!("{},{elapsed},a,200,{thread},true\n", 1_331_861_403_100 + stamp)
    };
    rows.iter().map(row).fold(head.to_owned(), |text, row| text + &row)
}

fn finding<'a>(summary: &'a Summary, id: &str) -> Option<&'a headway_stats::summary::Finding> {
    summary.verdict.findings.iter().find(|f| f.id == id.into())
}

/// A constant load, each request by a thread of its own, sorted by its stamps: nothing tells what those are.
#[test]
fn where_start_or_end_is_open_both_patterns_are_told() {
    use headway_stats::summary::{Pattern, Severity};
    let folder = tempfile::tempdir().expect("there is room");
    let rows: Vec<_> =
        (0..4_000).map(|i| (i * 20, (-2_000.0 * spread(i).ln()) as i64, format!("T 1-{i}"))).collect();
    let file = written(folder.path(), "sorted.csv", &jmeter(&rows));
    let summary = audited(&[&file]);
    let audit = summary.audit.clone().expect("it is an audit");
    assert_eq!((summary.verdict.pattern, &*audit.files[0].stamps), (Pattern::Even, "start"));
    let other = audit.other_reading.expect("it is open");
    assert!(other.pattern != Pattern::Even && &*other.stamps == "end" && other.cov > Some(0.8), "{other:?}");
    let open = finding(&summary, "start-or-end").expect("it is said");
    assert_eq!(open.severity, Severity::Warning);
    let text = headway_report::words::findings::text(open);
    assert!(text.contains("Read as starts the load is even (CoV 0"), "{text}");
    assert!(text.contains("), read as ends ") && text.contains("one of the two is true"), "{text}");
    // Said by the user, or shown by threads that are used again, it is open no more.
    for word in ["start", "end"] {
        let said = audited(&[&file, "--stamps", word]);
        assert!(
            finding(&said, "start-or-end").is_none() && said.audit.is_some_and(|a| a.other_reading.is_none())
        );
    }
    let pool: Vec<_> =
        rows.iter().enumerate().map(|(i, r)| (r.0, r.1, format!("T 1-{}", i % 1_000))).collect();
    let shown = audited(&[&written(folder.path(), "pool.csv", &jmeter(&pool))]);
    assert!(finding(&shown, "start-or-end").is_none());
    let how = shown.audit.and_then(|audit| audit.files[0].stamps_how.clone());
    assert!(how.is_some_and(|how| matches!(how.why, StampsHow::Slope { ends: false, .. })));
}

#[test]
fn a_row_of_the_year_2100_is_left_out_and_counted() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows: Vec<_> = (0..1_000)
        .map(|i| (i * 20 + (15.0 * spread(i)) as i64, 3 + i % 5, format!("T 1-{}", i % 7)))
        .collect();
    let text = jmeter(&rows);
    let plain = audited(&[&written(folder.path(), "plain.csv", &text)]);
    let far = text + "4102444800000,5,a,200,T 1-1,true\n";
    let far = audited(&[&written(folder.path(), "far.csv", &far)]);
    assert_eq!(far.arrivals, plain.arrivals);
    let found = finding(&far, "far-stamps").expect("it is said");
    let text = headway_report::words::findings::text(found);
    assert!(
        text.contains("1 row of ") && text.contains("It is 2100-01-01T00:00:00Z, more than a day"),
        "{text}"
    );
    assert_eq!(
        (found.value, found.n, far.audit.expect("it is one").files[0].rows),
        (Some(1.0), 1_001, 1_000)
    );
    assert!(finding(&plain, "far-stamps").is_none());
}

/// Distributed JMeter: one plan, one seed, two machines, of which one lost some rows.
#[test]
fn hosts_before_the_names_of_threads_are_generators() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut at = 0;
    let mut rows = Vec::new();
    for i in 0..1_500 {
        at += (-500.0 * spread(i).max(1e-9).ln()) as i64;
        for (host, late) in [("north", 0), ("south", 7)] {
            if host == "north" || i % 17 != 0 {
                rows.push((at + late, 5, format!("{host}-Thread Group 1-{}", 1 + i % 3)));
            }
        }
    }
    let file = written(folder.path(), "hosts.csv", &jmeter(&rows));
    let audit = audited(&[&file]).audit.expect("it is an audit");
    assert_eq!((audit.generators, audit.users), (vec!["north".into(), "south".into()], Some(6)));
    assert_eq!(audit.cause, Some(headway_stats::summary::FindingId::SameSeed));
}

/// Whole seconds in the digits of milliseconds are no ticks of a timer.
#[test]
fn stamps_in_whole_seconds_resolve_a_second_however_they_are_written() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut at = 0.0;
    let mut rows = Vec::new();
    for i in 0..4_000 {
        at -= 50.0 * spread(i).max(1e-9).ln();
        rows.push((at as i64 / 1_000 * 1_000 - 100, 5 * (i % 9), format!("T 1-{}", i % 50)));
    }
    let audit = audited(&[&written(folder.path(), "seconds.csv", &jmeter(&rows))]).audit.expect("it is one");
    assert_eq!((audit.resolution.grid_s, audit.resolution.digit_s, audit.cause), (1.0, 1.0, None));
    assert!(audit.files[0].missing.iter().any(|m| m.starts_with("All stamps are whole seconds")));
}
