//! CSV with a row per answered request, times in seconds since the tool's own start, which hey and oha write.
//!
//! Only requests that were answered are in these files, of hey the first million (`maxRes`).

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::{Clock, Outcomes};
use headway_base::Nanos;

/// What oha's files do not tell, in either format.
pub(super) const SUCCESSES_ONLY: &str = "Requests that got no answer are not in it.";
pub(super) const OUTCOMES: Outcomes = Outcomes::Some("requests that got no answer are not in the file");
/// The label where rows name no target.
#[cfg(feature = "sqlite")]
pub(super) const LABEL: &[u8] = PLAIN.unlabelled.as_bytes();

/// hey `-o csv`: four decimals, in the order of the ends. The parts of a time are not read: their sums are off by several steps of the
/// clock.
pub static HEY: Tabular = Tabular {
    name: "hey-csv",
    about: "hey -o csv",
    layouts: &[Layout {
        title: "hey CSV",
        rows: Cut::Headed(&[
            "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset",
        ]),
        columns: "start:s=offset,elapsed:s=response-time,status=status-code",
        clock: Clock::Relative,
        resolution: Some(Nanos::from_micros(100)),
        outcomes: OUTCOMES,
        missing: &[SUCCESSES_ONLY, "Of more than a million requests only the first million are in it."],
        ..PLAIN
    }],
};

/// oha `--output-format csv`, in the order of the starts. Times to the first byte count from the actual start, durations too unless
/// oha ran with `--latency-correction`: then they count from when the request was due, which the file does not tell.
pub static OHA: Tabular = Tabular {
    name: "oha-csv",
    about: "oha --output-format csv -o FILE",
    layouts: &[Layout {
        title: "oha CSV",
        rows: Cut::Headed(&["request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"]),
        columns: "start:s=request-start,connect:s=3,delay:s=Response-delay,elapsed:s=request-duration,bytes=bytes,status=status",
        clock: Clock::Relative,
        resolution: Some(Nanos(1)),
        outcomes: OUTCOMES,
        missing: &[
            SUCCESSES_ONLY,
            "With --latency-correction its durations count from when requests were due; it does not say which.",
        ],
        ..PLAIN
    }],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::formats::request;
    use crate::{Format, Options, Rows};
    use headway_base::{Outcome, Record};
    use std::path::Path;

    fn read(rest: &str) -> Rows {
        let text =
            [b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n", rest.as_bytes()]
                .concat();
        assert!(OHA.recognise(&text));
        let mut rows = Rows { generator: 1, ..Rows::default() };
        let mut reader = OHA.reader(Path::new("o.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(&text, true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_of_oha_become_records() {
        let rows = read(
            "0.000552177,0.000053338,0.000251581,0.000403909,0.000404805,11,200\n1.00109481,0,0,0.00002,0.00001,3,500\n",
        );
        let at = Nanos(552_177);
        let first = Record {
            status: 200,
            bytes_received: 11,
            connect: Nanos(251_581).into(),
            first_byte: (at + Nanos(403_909)).into(),
            ..request::between(1, at, at + Nanos(404_805))
        };
        let at = Nanos(1_001_094_810);
        let second = Record {
            k: 1,
            status: 500,
            outcome: Outcome::Status,
            bytes_received: 3,
            reused: true,
            ..request::between(1, at, at + Nanos(10_000))
        };
        assert_eq!(rows.records, [first, second]);
        assert_eq!(rows.tables.labels.as_slice(), ["request"]);
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let rows =
            read("0.1,0,0,0.1,-0.1,11,200\n0.1,0,0,0.1,0.1,11,200,7\n1795265493,0,0,0,0,1,200\n0.1,0,0,0.1");
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (0, vec![2, 3, 4, 5]));
    }

    #[test]
    fn rows_of_hey_become_records_and_others_are_counted_with_their_line() {
        let text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
                    0.0016,0.0002,0.0000,0.0001,0.0011,0.0002,200,0.0001\n\
                    0.0004,0.0000,0.0000,0.0000,0.0003,0.0000,500,1.0026\n\
                    0.0004,0,0,0,0,0,200\n\
                    -0.1,0,0,0,0,0,200,0.1\n";
        assert!(HEY.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&HEY, text.as_bytes(), &Options::default());
        let at = |us: i64, took: i64, status: u16, outcome: Outcome| {
            let (start, end) = (Nanos::from_micros(us), Nanos::from_micros(us + took));
            (start, end, status, outcome)
        };
        let seen: Vec<_> = rows.records.iter().map(|r| (r.intended, r.done, r.status, r.outcome)).collect();
        assert_eq!(seen, [at(100, 1_600, 200, Outcome::Ok), at(1_002_600, 400, 500, Outcome::Status)]);
        assert_eq!(rows.examples.iter().map(|e| e.line).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(facts.resolution, Nanos(100_000));
    }
}
