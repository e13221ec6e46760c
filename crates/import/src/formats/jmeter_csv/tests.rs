use super::*;
use crate::testing::{read, read_with};
use headway_base::{Outcome, Stamp};
use proptest::prelude::*;

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
                      sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";
const ROW: &str = "1795265793558,93,home,200,OK,Users 1-3,text,true,,81,118,5,5,http://127.0.0.1/,84,0,38";

fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// `line: expected` of the unreadable rows.
fn bad(rows: &Rows) -> Vec<String> {
    assert_eq!(rows.unreadable, rows.examples.len() as u64);
    rows.examples.iter().map(|e| format!("{}: {}", e.line, e.expected)).collect()
}

#[test]
fn a_row_becomes_a_record() {
    let (rows, facts) = read(&JmeterCsv, &text(&[HEADER, ROW]));
    let [r] = rows.records[..] else { panic!("{rows:?}") };
    let start = Nanos::from_millis(1_795_265_793_558);
    let after = |ms| start + Nanos::from_millis(ms);
    assert_eq!((r.k, r.intended, r.started, r.sent), (0, start, start.into(), start.into()));
    assert_eq!((r.first_byte, r.done), (after(84).into(), after(93)));
    assert_eq!((r.connect, r.tls), (Nanos::from_millis(38).into(), Stamp::NONE));
    assert_eq!((r.bytes_received, r.bytes_sent, r.status, r.outcome), (81, 118, 200, Outcome::Ok));
    assert_eq!(rows.tables.labels.as_slice(), ["home"]);
    assert_eq!(rows.tables.users.as_slice(), ["Users 1-3"]);
    assert!(facts.users && facts.bytes && facts.ends && facts.missing.is_empty() && facts.finer.is_none());
    assert_eq!(facts.stamps, Stamps::Ambiguous);
    assert_eq!((facts.resolution, facts.format.as_str()), (Nanos::from_millis(1), "JMeter CSV"));
}

#[test]
fn any_columns_in_any_order() {
    let rows = "success;elapsed;Hostname;timeStamp\nfalse;5;b;1331861403100\ntrue;6;;1331861403101\n";
    let (rows, facts) = read(&JmeterCsv, rows);
    let [a, b] = rows.records[..] else { panic!("{rows:?}") };
    assert_eq!((a.k, a.done - a.intended, a.outcome), (0, Nanos::from_millis(5), Outcome::Check));
    assert_eq!((b.k, b.first_byte, b.connect, b.outcome), (1, Stamp::NONE, Stamp::NONE, Outcome::Ok));
    assert_eq!(rows.tables.generators.as_slice(), ["b"]);
    assert!(!facts.users && !facts.bytes);
}

#[test]
fn the_aggregate_report() {
    let rows = text(&[
        "1331861403100,18,010_Home,200,OK,Thread Group 1-6,text,true,18078,13",
        "1331861405554,16,010_Home,200,OK,Thread Group 1-2,text,true,18078,11",
        "1331861407598,132,012_Home_jpg,200,OK,Thread Group 1-8,bin,true,141994,0",
    ]);
    let (rows, facts) = read(&JmeterCsv, &rows);
    assert_eq!(rows.records.len(), 3);
    assert_eq!(rows.records[1].first_byte, Nanos::from_millis(1_331_861_405_565).into());
    assert_eq!(rows.records[2].first_byte, Stamp::NONE);
    assert_eq!(rows.records.iter().map(|r| (r.step, r.user)).collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2)]);
    assert_eq!(facts.format, "JMeter CSV without a header");
}

#[test]
fn dates_instead_of_milliseconds() {
    let options = Options { zone: TimeZone::get("America/Los_Angeles").unwrap(), ..Options::default() };
    for (stamp, ms, resolution) in [
        ("2012/03/15 18:30:03.100", 1_331_861_403_100, 1),
        ("2012-03-15 18:30:03", 1_331_861_403_000, 1000),
        ("2012-03-16T01:30:03.1Z", 1_331_861_403_100, 100),
    ] {
        let rows = format!("timeStamp\telapsed\n{stamp}\t7\n");
        let (rows, facts) = read_with(&JmeterCsv, &options, rows.as_bytes(), &[]).unwrap();
        assert_eq!(rows.records[0].intended, Nanos::from_millis(ms), "{stamp}");
        assert_eq!(facts.resolution, Nanos::from_millis(resolution), "{stamp}");
        assert!(
            facts.format.starts_with("JMeter CSV, dates, year first, in America/Los_Angeles"),
            "{facts:?}"
        );
    }
}

#[test]
fn rows_that_cannot_be_read() {
    const SHORT: &str = "1331861403100,18,Home,200,OK,Group 1-6,text,true,18078,13";
    let (rows, _) = read(&JmeterCsv, &text(&[SHORT, ROW, SHORT, HEADER, "", "x\0", "1331861403100,18,Ho"]));
    assert_eq!(rows.records.len(), 2);
    assert_eq!(rows.records[1].k, 1);
    assert_eq!(
        bad(&rows),
        [
            "2: 10 columns as in the first row, not 17",
            "4: 10 columns as in the first row, not 17",
            "6: 10 columns as in the first row, not 1",
            "7: 10 columns as in the first row, not 3",
        ]
    );
    let (rows, _) = read(
        &JmeterCsv,
        &text(&[
            "label,elapsed,timeStamp,success",
            "a,1,1331861403100,true",
            "a,-1,1331861403100,true",
            "a,86400001,1331861403100,true",
            "a,1,,true",
            "a,1,1331861403100,TRUE",
            "\"a\n\",1,7258118400000,true",
        ]),
    );
    assert_eq!(rows.records.len(), 1);
    assert_eq!(
        bad(&rows),
        [
            "3: whole milliseconds from 0 to a day as elapsed",
            "4: whole milliseconds from 0 to a day as elapsed",
            "5: a time between 1990 and 2200 as timeStamp (column 3)",
            "6: true or false as success",
            "7: a time between 1990 and 2200 as timeStamp (column 3)",
        ]
    );
}

#[test]
fn a_header_that_comes_again_is_left_out() {
    let again = format!("\u{feff}{HEADER}");
    let (rows, _) = read(&JmeterCsv, &text(&[HEADER, ROW, HEADER, ROW, &again, ROW, "timeStamp,elapsed"]));
    assert_eq!(rows.records.len(), 3);
    assert_eq!(rows.left_out, [("headers repeated further down", 2)]);
    assert_eq!(bad(&rows), ["7: 17 columns as in the header, not 2"]);
}

#[test]
fn transactions_are_left_out_if_their_samples_are_there() {
    let row = |stamp: u64, label: &str, thread: u64| {
        let message =
            if label == "visit" { "\"Number of samples in transaction : 2, failing : 0\"" } else { "OK" };
        format!("{stamp},9,{label},200,{message},T {thread},text,true,1,1")
    };
    let at = 1_331_861_403_000;
    let lines = [
        row(at + 1, "home", 1),
        row(at + 2, "home", 2),
        row(at + 20, "search", 1),
        row(at, "visit", 1),
        // This thread's only sample was before its transaction began.
        row(at + 30, "visit", 2),
        // Here transactions are all there is.
        row(at + 40, "visit", 3),
    ];
    let (rows, _) = read(&JmeterCsv, &text(&lines.each_ref().map(String::as_str)));
    let kept: Vec<_> = rows.records.iter().map(|r| (r.k, r.step)).collect();
    assert_eq!(kept, [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2)]);
    assert_eq!(rows.left_out, [("transactions whose samples are rows too", 1)]);
}

/// Sorted by stamp a transaction comes before its samples, the first of which may follow a pause that is not counted.
#[test]
fn transactions_are_left_out_in_any_order_of_rows() {
    const HEAD: &str = "timeStamp,elapsed,label,responseMessage,threadName,success,IdleTime";
    const MESSAGE: &str = "\"Number of samples in transaction : 2, number of failing samples : 0\"";
    let at = 1_331_861_403_000_u64;
    let visit = |after: u64, thread: u64, idle: u64| {
        format!("{},20,visit,{MESSAGE},T {thread},true,{idle}", at + after)
    };
    let home = |after: u64, thread: u64| format!("{},9,home,OK,T {thread},true,0", at + after);
    let lines = [
        HEAD.to_owned(),
        visit(0, 1, 0),
        home(0, 1),
        visit(1, 2, 500),
        home(12, 1),
        // Within the pauses of its transaction.
        home(401, 2),
        // Of another thread, which has only transactions.
        visit(402, 3, 0),
        visit(500, 3, 0),
        home(600, 2),
        visit(700, 1, 0),
    ];
    let text = text(&lines.each_ref().map(String::as_str));
    let (whole, _) = read(&JmeterCsv, &text);
    let labels = whole.tables.labels.as_slice();
    let kept: Vec<_> = whole
        .records
        .iter()
        .map(|r| (r.k, r.intended.0 / 1_000_000 - at as i64, labels[usize::from(r.step)].as_str()))
        .collect();
    assert_eq!(
        kept,
        [
            (0, 0, "home"),
            (1, 12, "home"),
            (2, 401, "home"),
            (3, 402, "visit"),
            (4, 500, "visit"),
            (5, 600, "home"),
            (6, 700, "visit")
        ]
    );
    assert_eq!(whole.left_out, [("transactions whose samples are rows too", 2)]);
    for cut in (0..text.len()).step_by(7) {
        let (rows, _) = read_with(&JmeterCsv, &Options::default(), text.as_bytes(), &[cut]).unwrap();
        assert_eq!((rows.records, rows.left_out), (whole.records.clone(), whole.left_out.clone()), "{cut}");
    }
}

/// Case by case what `jmeter.save.saveservice.timestamp_format` may be, with the option that gives finer stamps.
#[test]
fn stamps_may_be_times_of_day_or_seconds() {
    const FINER: &str = "jmeter -Jjmeter.save.saveservice.timestamp_format=ms";
    for (stamp, clock, resolution, words) in [
        ("22:13:20", crate::Clock::Relative, 1_000_000_000, "times of day without a date"),
        ("22:13:20.015", crate::Clock::Relative, 1_000_000, "times of day without a date"),
        ("1700000000", crate::Clock::Unix, 1_000_000_000, "s since 1970"),
        ("1700000000.015", crate::Clock::Unix, 1_000_000, "s since 1970"),
        ("1700000000015", crate::Clock::Unix, 1_000_000, "JMeter CSV"),
        ("2023/11/14 22:13:20", crate::Clock::Unix, 1_000_000_000, "dates, year first"),
    ] {
        let text = format!("timeStamp,elapsed,label\n{stamp},7,a\n{stamp},9,a\n");
        let (rows, facts) = read(&JmeterCsv, &text);
        assert_eq!((rows.records.len(), rows.unreadable), (2, 0), "{stamp}");
        assert_eq!((facts.clock, facts.resolution.0), (clock, resolution), "{stamp}");
        assert!(facts.format.contains(words), "{stamp}: {}", facts.format);
        assert_eq!(facts.finer, (resolution > 1_000_000).then_some(FINER), "{stamp}");
    }
}

proptest! {
    #[test]
    fn cuts_do_not_matter(cuts in proptest::collection::vec(0usize..400, 0..8), crlf: bool) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let quoted = ROW.replace("OK", "\"wanted \"\"200\"\",\ngot something else\"");
        let mut text = text(&[HEADER, &quoted, "junk", ROW, HEADER]);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let (whole, facts) = read(&JmeterCsv, &text);
        prop_assert_eq!((whole.records.len(), whole.unreadable), (2, 1));
        let (cut, cut_facts) = read_with(&JmeterCsv, &Options::default(), text.as_bytes(), &cuts).unwrap();
        prop_assert_eq!((cut.records, cut.examples, cut.left_out), (whole.records, whole.examples, whole.left_out));
        prop_assert_eq!(cut_facts, facts);
    }

    #[test]
    fn nothing_panics(text in "((timeStamp|elapsed|success|[0-9]{13}|[0-9]{0,3}|true|[\",\n|;])){0,40}") {
        read(&JmeterCsv, &text);
    }
}

/// `cargo test --release -p headway-import -- --ignored speed --nocapture`
#[test]
#[ignore = "a measurement"]
fn speed() {
    use std::io::Write;
    const ROWS: u64 = 2_000_000;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut text = Vec::new();
    for i in 0..ROWS {
        let (at, label, thread, bytes) = (1_331_861_403_100 + i * 7, i * 31 % 11, i * 97 % 200, i % 997);
        let took = i % 150;
        writeln!(
            text,
            "{at},{took},0{label}0_Home_jpg,200,OK,Thread Group 1-{thread},text,true,18{bytes:03},13"
        )
        .unwrap();
    }
    file.write_all(&text).unwrap();
    for _ in 0..3 {
        let begun = std::time::Instant::now();
        let mut file = crate::File::open(file.path(), &Options::default(), Default::default()).unwrap();
        let (mut rows, mut n) = (Rows::default(), 0);
        while file.next(&mut rows).unwrap() {
            n += rows.records.len() as u64;
        }
        let mb_per_s = text.len() as f64 / 1e6 / begun.elapsed().as_secs_f64();
        println!("{n} rows of {} bytes, from disk to records: {mb_per_s:.0} MB/s", text.len() as u64 / n);
        assert_eq!(n, ROWS);
    }
}

/// A file without a header that has more columns than usual: all of them, some of them, and variables behind.
#[test]
fn rows_without_a_header_can_have_more_columns() {
    for (tail, columns) in [
        ("84,0,38", 17),
        ("84,0,38,null,7", 19),
        ("84,0,38,7,3", 19),
        (",84,UTF-8,1,0,vm,0,38", 22),
        ("page.html,84,,1,0,vm,0,38,alice,1", 24),
        ("84,1,0,0,38", 19),
        ("84,UTF-8,0,38", 18),
        ("84,vm,0,38", 18),
        ("84,UTF-8,vm,0,38", 19),
    ] {
        let text = format!(
            "1795265793558,93,home,200,OK,Users 1-3,text,true,,81,118,5,5,http://127.0.0.1/,{tail}\n"
        )
        .repeat(2);
        assert_eq!(text.lines().next().unwrap().split(',').count(), columns, "{tail}");
        assert!(JmeterCsv.recognise(text.as_bytes()), "{tail}");
        let (rows, _) = read(&JmeterCsv, &text);
        let [record, _] = rows.records[..] else { panic!("{tail}: {:?}", rows.examples) };
        let since = |stamp: headway_base::Stamp| stamp.get().map(|at| (at - record.intended).0 / 1_000_000);
        assert_eq!(since(record.first_byte), Some(84), "{tail}");
        assert_eq!(record.connect.get(), Some(Nanos::from_millis(38)), "{tail}");
        assert_eq!((record.bytes_received, record.bytes_sent), (81, 118), "{tail}");
    }
}
