use super::*;
use crate::testing::read_with;
use crate::{Clock, Facts, Rows, Stamps};
use headway_base::{Kind, Nanos, Outcome, Stamp};
use proptest::prelude::*;

fn options(columns: &str) -> Options {
    Options { columns: Some(columns.to_owned()), ..Options::default() }
}

fn read(columns: &str, text: &str) -> Result<(Rows, Facts), Error> {
    read_with(&Columns, &options(columns), text.as_bytes(), &[])
}

/// (started, done), ns after 1331861403 s.
fn times(columns: &str, text: &str) -> Vec<(i64, i64)> {
    const ZERO: i64 = 1_331_861_403_000_000_000;
    let (rows, _) = read(columns, text).unwrap();
    assert_eq!(rows.unreadable, 0, "{:?}", rows.examples);
    rows.records.iter().map(|r| (r.started.get().unwrap().0 - ZERO, r.done.0 - ZERO)).collect()
}

#[test]
fn every_column() {
    let text = "at;due;took;ttfb;name;vu;code;fine;size;host\n\
                1331861403.5;1331861403.25;12.5;10;home;u1;503;no;99;b\n\
                1331861404;1331861404;1;;\"a;b\";u2;;ok;;\n";
    let columns = "start=at,intended=due,elapsed=took,first-byte=ttfb,label=name,thread=vu,status=code,success=fine,\
                   bytes=size,generator=host";
    let (rows, facts) = read(columns, text).unwrap();
    let [a, b] = rows.records[..] else { panic!("{rows:?}") };
    let at = Nanos(1_331_861_403_500_000_000);
    assert_eq!((a.k, a.started, a.sent), (0, at.into(), at.into()));
    assert_eq!((a.intended, a.done), (at - Nanos::from_millis(250), at + Nanos::from_micros(12_500)));
    assert_eq!(a.first_byte, (at + Nanos::from_millis(10)).into());
    assert_eq!((a.status, a.outcome, a.bytes_received, a.kind), (503, Outcome::Status, 99, Kind::Request));
    assert_eq!(
        (b.k, b.first_byte, b.status, b.outcome, b.shard),
        (1, Stamp::NONE, 0, Outcome::Ok, rows.generator)
    );
    assert_eq!(rows.tables.labels.as_slice(), ["home", "a;b"]);
    assert_eq!(rows.tables.users.as_slice(), ["u1", "u2"]);
    assert_eq!(rows.tables.generators.as_slice(), ["b"]);
    let expected = Facts {
        format: "CSV by --columns, start in s since 1970, intended in s since 1970, elapsed in ms".to_owned(),
        resolution: Nanos::from_millis(100),
        users: true,
        intended: true,
        ends: true,
        bytes: true,
        ..Facts::default()
    };
    assert_eq!(facts, expected);
}

#[test]
fn starts_ends_and_units() {
    const MS: i64 = 1_000_000;
    for (columns, text, expected) in [
        ("start=1", "1331861403100\n1331861403101\n", vec![(100 * MS, 100 * MS), (101 * MS, 101 * MS)]),
        ("start=2,end=3", "x|1331861403100|1331861403103", vec![(100 * MS, 103 * MS)]),
        ("end=1,elapsed:us=2", "1331861403100\t3000", vec![(97 * MS, 100 * MS)]),
        ("start:ns=1,elapsed:ns=2", "1331861403000000007 5", vec![(7, 12)]),
        ("start=1,elapsed:s=2", "2012-03-16 01:30:03.1,0.002", vec![(100 * MS, 102 * MS)]),
        ("start:iso=when", "when\n2012-03-15T18:30:03.100-07:00", vec![(100 * MS, 100 * MS)]),
        // A line of words is a header even if nothing is asked for by name.
        ("start=1,elapsed=2", "start time,duration\n1331861403100,1\n", vec![(100 * MS, 101 * MS)]),
        ("start=b", "\u{ff}, b \n\n1,1331861403100\n", vec![(100 * MS, 100 * MS)]),
    ] {
        assert_eq!(times(columns, text), expected, "{columns}");
    }
}

#[test]
fn facts_follow_what_is_there() {
    let (_, facts) = read("end=1,elapsed=2", "1331861403.123456,7\n1331861403.1,8\n").unwrap();
    assert_eq!((facts.stamps, facts.resolution), (Stamps::End, Nanos::from_millis(1)));
    assert_eq!(facts.missing, ["Which requests failed is not said."]);
    let (_, facts) = read("end=1,elapsed=2", "1331861403.12,7.5\n").unwrap();
    assert_eq!(facts.resolution, Nanos::from_millis(10));
    let (rows, facts) = read("start:s=1,status=2", "0.001,200\n3.5,404\n0.002,\n").unwrap();
    assert_eq!((facts.clock, facts.resolution, facts.ends), (Clock::Relative, Nanos::from_millis(1), false));
    assert_eq!(rows.records[1].done, Nanos::from_millis(3500));
    assert_eq!(
        rows.records.iter().map(|r| r.outcome).collect::<Vec<_>>(),
        [Outcome::Ok, Outcome::Status, Outcome::Reset]
    );
}

#[test]
fn what_does_not_fit_the_file_is_an_error() {
    for (columns, text, expected) in [
        (
            "start=ts",
            "a,b\n1,2\n",
            "--columns \"start=ts\": a column of the header of test, which is \"a,b\"",
        ),
        (
            "start=1,label=4",
            "1331861403100,x\n",
            "\"label=4\": a column from 1 to 2; test begins with \"1331861403100,x\"",
        ),
        (
            "start=1",
            "0.5\n",
            "\"start=1\": the unit too, as in start:s=...: 0.5 is no time between 1990 and 2200",
        ),
    ] {
        let message = read(columns, text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = read_with(&Columns, &Options::default(), b"1", &[]).unwrap_err().to_string();
    assert!(message.contains("KEY=COLUMN"), "{message}");
}

#[test]
fn rows_that_cannot_be_read() {
    let columns = "start=ts,elapsed=t,status=s,success=ok,bytes=b";
    let text = "ts,t,s,ok,b\n\
                nothing,1,200,true,1\n\
                1331861403100,1,200,true\n\
                1331861403100,-1,200,true,1\n\
                1331861403100,1,abc,true,1\n\
                1331861403100,1,200,maybe,1\n\
                1331861403100,1,200,true,1.5\n\
                1331861403101,1,200,false,1\n";
    let (rows, _) = read(columns, text).unwrap();
    assert_eq!((rows.records.len(), rows.unreadable), (1, 6));
    assert_eq!(rows.records[0].outcome, Outcome::Check);
    let expected: Vec<_> = rows.examples.iter().map(|e| format!("{}: {}", e.line, e.expected)).collect();
    assert_eq!(
        expected,
        [
            "2: a time between 1990 and 2200 as start=ts",
            "3: 5 columns as in the first line, not 4",
            "4: milliseconds from 0 to a day as elapsed",
            "5: a status code, or nothing as status",
            "6: true or false, 1 or 0, ok or ko, yes or no as success",
        ]
    );
    let (rows, _) = read("start=1,end=2", "1331861403100,1331861403099\n").unwrap();
    assert_eq!(rows.examples[0].expected, "an instant after the start as end");
}

#[test]
fn a_date_and_a_time_may_be_two_columns() {
    let expected = [(100_000_000, 103_000_000), (1_000_000_000, 1_005_000_000)];
    for (columns, header) in [
        ("start=day+at,elapsed=took", "day,took,at\n"),
        ("start=1+3,elapsed=2", ""),
        ("start=1+3,elapsed=2", "day,took,at\n"),
        ("start=day+3,elapsed=took", "day,took,at\n"),
    ] {
        let text = format!("{header}2012-03-16,3,01:30:03.100\n2012-03-16,5,01:30:04\n");
        assert_eq!(times(columns, &text), expected, "{columns} {header:?}");
    }
    // A column whose name has a + in it comes first.
    assert_eq!(times("start=a+b", "a,b,a+b\n1,2,1331861403.5\n"), [(500_000_000, 500_000_000)]);
    for wrong in ["start=day+nothing", "start=at,bytes=day+took"] {
        let message = read(wrong, "day,took,at\n2012-03-16,3,01:30:03\n").unwrap_err().to_string();
        assert!(message.contains("a column of the header of test"), "{wrong}: {message}");
    }
}

#[test]
fn the_order_of_a_date_may_be_said() {
    const TEXT: &str = "04/03/2023 23:59:59.5,a\n05/03/2023 00:00:00.5,a\n";
    let at = |columns: &str| {
        let (rows, _) = read(columns, TEXT).unwrap();
        let first = rows.records.first().map_or(0, |r| r.intended.0);
        (rows.records.iter().map(|r| (r.intended.0 - first) / 1_000_000).collect::<Vec<_>>(), rows)
    };
    assert_eq!(at("start:dmy=1").0, [0, 1_000]);
    assert_eq!(at("start:mdy=1").0, [0, 2_505_601_000]);
    let (guessed, rows) = at("start=1");
    assert_eq!((guessed, rows.unreadable), (vec![0], 1));
    assert!(
        rows.examples[0].expected.contains("KEY:dmy=COLUMN reads dates day first"),
        "{:?}",
        rows.examples
    );
}

#[test]
fn keys_of_json_are_columns() {
    let text = "{\"at\":1331861403.25,\"http\":{\"ms\":12.5,\"code\":503},\"a.b\":\"x\"}\n\
                {\"a.b\":null,\"http\":{\"code\":200,\"ms\":3},\"at\":1331861404.5,\"more\":[1]}\nno\n{\"at\":1331861404.5}\n";
    let (rows, facts) = read("start=at,elapsed=http.ms,status=http.code,label=a.b", text).unwrap();
    let shown: Vec<_> =
        rows.records.iter().map(|r| (r.intended.0 % 10_000_000_000, r.response().0, r.status)).collect();
    assert_eq!(shown, [(3_250_000_000, 12_500_000, 503), (4_500_000_000, 3_000_000, 200)]);
    assert_eq!(rows.tables.labels.as_slice(), ["x", ""]);
    let lines: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
    assert_eq!(
        (lines, facts.format.as_str()),
        (vec![3, 4], "JSON by --columns, start in s since 1970, elapsed in ms")
    );
    let message = read("start=1", text).unwrap_err().to_string();
    assert!(message.contains("a key: the file has JSON objects"), "{message}");
}

/// Spreadsheets write decimal commas where a comma parts no fields.
#[test]
fn numbers_may_have_decimal_commas() {
    let (rows, facts) = read(
        "start=Zeit,elapsed=Dauer,label=Name",
        "Zeit;Dauer;Name\n1331861403,012;86,5;a,b\n1331861403,015;3;a\n",
    )
    .unwrap();
    let shown: Vec<_> = rows.records.iter().map(|r| (r.intended.0 % 1_000_000_000, r.response().0)).collect();
    assert_eq!(shown, [(12_000_000, 86_500_000), (15_000_000, 3_000_000)]);
    assert_eq!((rows.unreadable, facts.resolution), (0, Nanos::from_millis(1)));
    assert_eq!(rows.tables.labels.as_slice(), ["a,b", "a"]);
    // Where commas part fields, one in quotes may part thousands.
    let (rows, _) = read("start=ts,elapsed=ms", "ts,ms\n1331861403.1,\"1,234\"\n").unwrap();
    assert_eq!((rows.records.len(), rows.unreadable), (0, 1));
}

proptest! {
    #[test]
    fn cuts_do_not_matter(mut cuts in proptest::collection::vec(0usize..120, 0..6), numbers: bool) {
        cuts.sort_unstable();
        let columns = if numbers { "start=1,label=3" } else { "start=ts,label=name" };
        let text = b"\nts,x,name\r\n1331861403100,,\"a,\r\nb\"\r\njunk\r\n1331861403.5,1,c\r\n";
        let (whole, facts) = read_with(&Columns, &options(columns), text, &[]).unwrap();
        let (cut, cut_facts) = read_with(&Columns, &options(columns), text, &cuts).unwrap();
        prop_assert_eq!((cut.records, cut.examples), (whole.records, whole.examples));
        prop_assert_eq!(cut_facts, facts);
    }

    #[test]
    fn nothing_panics(text in "([0-9]{10}|[0-9]{13}|[0-9:T -]{0,20}|ts|[\",\n;. ]){0,30}", cut in 0usize..100) {
        for columns in ["start=ts", "start:s=1,end=2", "end=1,elapsed=2"] {
            let whole = read_with(&Columns, &options(columns), text.as_bytes(), &[]).map(|(rows, _)| rows.records);
            let cut = read_with(&Columns, &options(columns), text.as_bytes(), &[cut]).map(|(rows, _)| rows.records);
            prop_assert_eq!(whole.map_err(|e| e.to_string()), cut.map_err(|e| e.to_string()));
        }
    }
}

/// A label may be two columns as well, or the method and the path.
#[test]
fn labels_of_two_columns() {
    let text = "at,method,path,why\n1331861403.5,GET,/a?b=1,\n1331861404.5,,/a,x\n";
    for (columns, expected) in [
        ("start=at,label=method+path", ["GET /a?b=1", "/a"]),
        ("start=at,method=method,path=path", ["GET /a", "/a"]),
        ("start=at,path=path", ["/a", "/a"]),
    ] {
        let (rows, _) = read(columns, text).unwrap();
        let labels = rows.tables.labels.as_slice();
        let shown: Vec<&str> = rows.records.iter().map(|r| labels[usize::from(r.step)].as_str()).collect();
        assert_eq!(shown, expected, "{columns}");
    }
    let message = read("start=at,number=why", text).unwrap_err().to_string();
    assert!(message.contains("one of start, end, "), "{message}");
}
