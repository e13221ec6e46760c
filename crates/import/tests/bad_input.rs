//! Files as they come in real life: cut off, put together, edited, compressed, or not results at all. Each is read as the
//! audit reads it, from disk, and what is said of it names the file, the line, what stands there and what was expected.

use headway_base::{Kind, Nanos, Record};
use headway_import::source::Progress;
use headway_import::{Error, File, Finished, Options, Rows, Stamps, StampsHow};
use std::fs;
use std::io::Write as _;
use std::path::Path;

const FIRST_MS: i64 = 1_331_861_403_100;
const HEADER_17: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                         bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";
const ROW_17: &str =
    "1331861403100,93,home,200,OK,Users 1-3,text,true,,81,118,5,5,http://127.0.0.1/,84,0,38\n";
const TIMES: &str = "start=start,elapsed=elapsed";

/// Rows of an Aggregate Report, a tenth of a second apart.
fn rows(range: std::ops::Range<i64>) -> String {
    range.map(|i| row(FIRST_MS + 100 * i, 18)).collect()
}

fn row(stamp: i64, elapsed: i64) -> String {
    format!("{stamp},{elapsed},Home,200,OK,Group 1-6,text,true,18078,13\n")
}

fn read_path(path: &Path, options: &Options, lenient: bool) -> Result<(Vec<Record>, Finished), Error> {
    let mut file = File::open(path, options, Progress::default())?;
    let (mut rows, mut records) = (Rows::default(), Vec::new());
    while file.next(&mut rows)? {
        records.append(&mut rows.records);
    }
    Ok((records, file.finish(&mut rows, lenient)?))
}

/// Reads these bytes from a file; messages call it FILE.
fn read_with(bytes: &[u8], options: &Options, lenient: bool) -> Result<(Vec<Record>, Finished), String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let name = file.path().display().to_string();
    read_path(file.path(), options, lenient).map_err(|e| e.to_string().replace(&name, "FILE"))
}

fn read(bytes: impl AsRef<[u8]>) -> Result<(Vec<Record>, Finished), String> {
    read_with(bytes.as_ref(), &Options::default(), false)
}

fn refusal(bytes: impl AsRef<[u8]>) -> String {
    read(bytes).expect_err("it is refused")
}

/// Line, what stands there, and what was expected.
fn examples(finished: &Finished) -> Vec<(u64, &str, &str)> {
    assert!(finished.unreadable >= finished.examples.len() as u64);
    finished.examples.iter().map(|e| (e.line, &*e.found, &*e.expected)).collect()
}

fn columns(spec: &str) -> Options {
    Options { columns: Some(spec.to_owned()), ..Options::default() }
}

#[test]
fn a_last_line_that_breaks_off_is_one_unreadable_row() {
    let whole = rows(0..201);
    let cut = &whole[..whole.len() - 40];
    let (records, finished) = read(cut).unwrap();
    assert_eq!((records.len(), finished.rows, finished.unreadable), (200, 200, 1));
    assert_eq!(examples(&finished), [(201, "1331861423100,18,H", "10 columns as in the first row, not 3")]);
    // Without a line feed at its end it is whole all the same.
    let (records, finished) = read(whole.trim_end()).unwrap();
    assert_eq!((records.len(), finished.unreadable), (201, 0));
}

#[test]
fn files_put_together_keep_the_rows_that_fit_the_first() {
    let body = ROW_17.repeat(120);
    let (records, finished) = read(format!("{HEADER_17}{body}{HEADER_17}{body}")).unwrap();
    assert_eq!((records.len(), finished.unreadable), (240, 0));
    let other = "timeStamp,elapsed,label\n";
    let message = refusal(format!("{HEADER_17}{body}{other}1331861403100,5,home\n1331861403101,5,home\n"));
    assert_eq!(
        message,
        "FILE: 3 of 123 rows cannot be read, more than 1 %; --lenient goes on without them\
         \n  FILE:122: \"timeStamp,elapsed,label\": expected 17 columns as in the header, not 3\
         \n  FILE:123: \"1331861403100,5,home\": expected 17 columns as in the header, not 3\
         \n  FILE:124: \"1331861403101,5,home\": expected 17 columns as in the header, not 3"
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_row() {
    let plain = format!("{HEADER_17}{}", ROW_17.repeat(3));
    let (expected, _) = read(&plain).unwrap();
    assert_eq!(expected.len(), 3);
    for text in [
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
    ] {
        let (records, finished) = read(text).unwrap();
        assert_eq!((finished.format, finished.unreadable), ("jmeter-csv", 0));
        assert_eq!(records, expected);
    }
}

#[test]
fn lines_are_counted_through_quoted_line_ends() {
    let quoted = ROW_17.replace(",true,,", ",false,\"expected \"\"ok\"\",\r\ngot\n\nnothing\",");
    let text = format!("{HEADER_17}{}oops\n{}", quoted.repeat(100), quoted.repeat(20));
    let (records, finished) = read(text).unwrap();
    assert_eq!((records.len(), finished.unreadable), (120, 1));
    // The header, and four lines for each row.
    assert_eq!(examples(&finished), [(402, "oops", "17 columns as in the header, not 1")]);
}

#[test]
fn rows_of_17_columns_among_those_of_10() {
    let (records, finished) = read(rows(0..150) + ROW_17 + &rows(150..200)).unwrap();
    assert_eq!((records.len(), finished.unreadable), (200, 1));
    let expected = "10 columns as in the first row, not 17";
    assert_eq!(examples(&finished)[0].0, 151);
    assert_eq!(examples(&finished)[0].2, expected);
    let half = rows(0..50) + &ROW_17.repeat(50);
    let message = refusal(&half);
    assert!(
        message.starts_with("FILE: 50 of 100 rows cannot be read, more than 1 %; --lenient"),
        "{message}"
    );
    assert!(message.contains("\n  FILE:51: \"1331861403100,93,home,"), "{message}");
    assert_eq!(message.matches(expected).count(), 5, "{message}");
    assert_eq!(read_with(half.as_bytes(), &Options::default(), true).unwrap().1.rows, 50);
}

#[test]
fn times_that_cannot_be_are_named() {
    const STAMP: &str = "a time between 1990 and 2200 as timeStamp (column 1)";
    const ELAPSED: &str = "whole milliseconds from 0 to a day as elapsed";
    for (bad, expected) in [
        (row(-1, 18), STAMP),
        (row(0, 18), STAMP),
        (row(FIRST_MS / 1000, 18), STAMP),
        (row(FIRST_MS * 1000, 18), STAMP),
        (row(i64::MAX, 18), STAMP),
        (row(FIRST_MS, 18).replace("1331861403100", "99999999999999999999"), STAMP),
        (row(FIRST_MS, -18), ELAPSED),
        (row(FIRST_MS, 86_400_001), ELAPSED),
        (row(FIRST_MS, i64::MAX), ELAPSED),
        (row(FIRST_MS, 18).replace(",18,", ",NaN,"), ELAPSED),
        (row(FIRST_MS, 18).replace(",18,", ",,"), ELAPSED),
    ] {
        let (records, finished) = read(rows(0..120) + &bad + &rows(120..130)).unwrap();
        assert_eq!(records.len(), 130, "{bad}");
        assert_eq!(examples(&finished), [(121, bad.trim_end(), expected)]);
    }
}

#[test]
fn times_that_cannot_be_are_named_in_columns_too() {
    for (bad, expected) in [
        ("inf,1", "a time between 1990 and 2200, s since 1970, as start=start"),
        ("-5,1", "a time between 1990 and 2200, s since 1970, as start=start"),
        ("1331861404.0,-1", "milliseconds from 0 to a day as elapsed"),
        ("1331861404.0,1e99", "milliseconds from 0 to a day as elapsed"),
        ("1331861404.0", "2 columns as in the first line, not 1"),
    ] {
        let good = "1331861403.5,20\n".repeat(100);
        let text = format!("start,elapsed\n{good}{bad}\n");
        let (records, finished) = read_with(text.as_bytes(), &columns(TIMES), false).unwrap();
        assert_eq!(records.len(), 100, "{bad}");
        assert_eq!(examples(&finished), [(102, bad, expected)]);
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_row_unreadable() {
    const HOUR_MS: i64 = 3_600_000;
    for step in [-HOUR_MS, HOUR_MS, -300 * 24 * HOUR_MS] {
        let stamps: Vec<i64> =
            (0..400).map(|i| FIRST_MS + 100 * i + if i < 200 { 0 } else { step }).collect();
        let text: String = stamps.iter().map(|&at| row(at, 18)).collect();
        let (records, finished) = read(text).unwrap();
        assert_eq!((finished.rows, finished.unreadable, finished.facts.stamps), (400, 0, Stamps::Start));
        assert!(records.iter().map(|r| r.started).eq(stamps.iter().map(|&at| Nanos::from_millis(at).into())));
    }
}

#[test]
fn what_holds_nothing_is_said_to() {
    assert_eq!(refusal(""), "FILE is empty: there is nothing to audit; name a file with results");
    let folder = tempfile::tempdir().unwrap();
    let message = read_path(folder.path(), &Options::default(), true).unwrap_err().to_string();
    assert_eq!(message, format!("{} is a directory: name the files in it", folder.path().display()));
    let absent = folder.path().join("absent.csv");
    let message = read_path(&absent, &Options::default(), true).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: No such file", absent.display())), "{message}");
    for header in [HEADER_17, HEADER_17.trim_end()] {
        let (records, finished) = read(header).unwrap();
        assert_eq!((records.len(), finished.rows, finished.unreadable), (0, 0, 0));
        assert_eq!(finished.format, "jmeter-csv");
    }
}

#[test]
fn junk_is_of_no_format() {
    let junk: Vec<u8> =
        (0..100_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    for bytes in [&junk[..], b"\x7fELF\x02\x01\x01\0", b"\0\0\0\0", b"\n\n\n", b"hello\n"] {
        let message = refusal(bytes);
        let told = "FILE: not a results file that Headway knows; it begins with \"";
        assert!(message.starts_with(told), "{message}");
        assert!(message.contains(".\nKnown are: gatling-binary, "), "{message}");
        assert!(message.contains("--columns start=...,elapsed=..."), "{message}");
        assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message:?}");
    }
    // Where the user says what it is, no row can be read, and --lenient would not help.
    let message = read_with(&junk, &columns("start=1"), true).unwrap_err();
    assert!(message.starts_with("FILE: none of its "), "{message}");
    assert!(message.contains(" rows can be read as columns\n  FILE:2: \""), "{message}");
    assert!(!message.contains("--lenient"), "{message}");
}

#[test]
fn compressed_files_that_break_off_are_damaged() {
    let text = rows(0..20_000);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    // With a checksum, as the zstd command writes it.
    let mut zst = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zst.include_checksum(true).unwrap();
    zst.write_all(text.as_bytes()).unwrap();
    for (kind, whole) in [("gz", gz.finish().unwrap()), ("zst", zst.finish().unwrap())] {
        assert_eq!(read(&whole).unwrap().0.len(), 20_000);
        let message = refusal(&whole[..whole.len() / 2]);
        let told = format!("FILE: its {kind} data break off or are damaged (");
        assert!(message.starts_with(&told), "{message}");
        let mut damaged = whole.clone();
        let middle = whole.len() / 2;
        damaged[middle..middle + 64].fill(0xff);
        assert!(refusal(damaged).starts_with(&told), "{kind}");
    }
}

#[test]
fn two_bad_rows_in_a_hundred_are_too_many_unless_lenient() {
    let text = rows(0..49) + "one\n" + &rows(49..98) + "two,\u{1}\n";
    assert_eq!(
        refusal(&text),
        "FILE: 2 of 100 rows cannot be read, more than 1 %; --lenient goes on without them\
         \n  FILE:50: \"one\": expected 10 columns as in the first row, not 1\
         \n  FILE:100: \"two,?\": expected 10 columns as in the first row, not 2"
    );
    let (records, finished) = read_with(text.as_bytes(), &Options::default(), true).unwrap();
    assert_eq!((records.len(), finished.rows, finished.unreadable), (98, 98, 2));
    assert_eq!(examples(&finished).len(), 2);
}

#[test]
fn too_many_labels_are_put_together_and_said_to_be() {
    const EXTRA: usize = 1000;
    let labels = usize::from(headway_import::rows::MOST_LABELS) + EXTRA;
    let lines = (0..labels).map(|i| format!("1331861403.5,/item?id={i}\n"));
    let text: String = std::iter::once("start,label\n".to_owned()).chain(lines).collect();
    let (records, finished) = read_with(text.as_bytes(), &columns("start=start,label=label"), false).unwrap();
    let last = headway_import::rows::MOST_LABELS;
    assert_eq!((records.len(), records.iter().filter(|r| r.step == last).count()), (labels, EXTRA));
    let said = finished.facts.missing.iter().filter(|m| m.starts_with("More than 65535 labels are named"));
    assert_eq!(said.count(), 1, "{:?}", finished.facts.missing);
}

#[test]
fn a_log_of_ends_without_times_taken_subtracts_nothing() {
    let line = "127.0.0.1 [1331861403.100] \"GET /a HTTP/1.1\" 200\n";
    let with = |format: &str| Options { log_format: Some(format.to_owned()), ..Options::default() };
    let format = "$remote_addr [$msec] \"$request\" $status";
    let (records, finished) = read_with(line.as_bytes(), &with(format), false).unwrap();
    assert_eq!((records[0].started, records[0].done), (records[0].done.into(), Nanos::from_millis(FIRST_MS)));
    assert_eq!(finished.facts.stamps, Stamps::End);
    assert_eq!(finished.stamps_how, StampsHow::NoTimes);
    let timed = line.replace(" 200\n", " 200 0.018\n");
    let (records, finished) =
        read_with(timed.as_bytes(), &with(&format!("{format} $request_time")), false).unwrap();
    assert_eq!(records[0].started, Nanos::from_millis(FIRST_MS - 18).into());
    assert_eq!(finished.stamps_how, StampsHow::Subtracted);
}

/// Sessions are rows too: what is said of a file without any readable row does not hold.
#[test]
fn a_file_of_sessions_alone_is_not_one_without_rows() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/k6-csv/seconds.csv");
    let sample = fs::read_to_string(sample).unwrap();
    let header = sample.lines().next().unwrap();
    let sessions: Vec<&str> = sample.lines().filter(|line| line.starts_with("iteration_duration,")).collect();
    let text = format!("{header}\n{}\nhttp_reqs,oops\n", sessions.join("\n"));
    let message = refusal(&text);
    let told = format!("FILE: 1 of {} rows cannot be read, more than 1 %; --lenient", sessions.len() + 1);
    assert!(message.starts_with(&told), "{message}");
    let (records, finished) = read_with(text.as_bytes(), &Options::default(), true).unwrap();
    assert_eq!((records.len(), finished.rows, finished.unreadable), (sessions.len(), 0, 1));
    assert!(records.iter().all(|r| r.kind == Kind::Session) && !records.is_empty());
}
