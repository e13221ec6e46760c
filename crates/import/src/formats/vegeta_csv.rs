//! vegeta CSV, without a header: timestamp, code, latency, bytes out, bytes in, error, body, attack, seq, method, URL,
//! headers; the body and the headers in base64. Older files end with `seq`. What the stamps are is in `vegeta_gob::hits`.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use headway_base::Nanos;

/// vegeta CSV.
pub static VEGETA_CSV: Tabular = Tabular {
    name: "vegeta-csv",
    about: "vegeta encode --to csv",
    layouts: &[Layout {
        title: "vegeta CSV",
        rows: Cut::Bare { delimiter: b',', digits: &[18, 19], widths: &[12, 9], more: false },
        columns: "start:ns=1,status=2,elapsed:ns=3,sent=4,bytes=5,error=6,number=9,label=10+11",
        resolution: Some(Nanos(1)),
        unlabelled: "",
        ..PLAIN
    }],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::request;
    use crate::{Format, Options, Rows};
    use headway_base::{Outcome, Record};
    use std::path::Path;

    const GOOD: &str =
        "1795252060129097711,200,845297,17,100,,MDEy,demo,0,GET,http://127.0.0.1:19300/,Q29ubmVjdGlvbg==\n";

    fn read(text: &str) -> Rows {
        let mut rows = Rows { generator: 2, ..Rows::default() };
        let mut reader = VEGETA_CSV.reader(Path::new("v.csv"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_become_records() {
        let failed = "1795252060139148192,0,30000100,0,0,\"Get \"\"http://h/\"\": dial tcp 127.0.0.1:1: connect: connection refused\",,demo,1,GET,http://127.0.0.1:19300/,\n";
        let old = "1795252060149148192,503,5,0,0,503 Service Unavailable,,demo,2\n";
        let rows = read(&[GOOD, failed, old].concat());
        let at = Nanos(1_795_252_060_129_097_711);
        let first = Record {
            status: 200,
            bytes_sent: 17,
            bytes_received: 100,
            ..request::between(2, at, at + Nanos(845_297))
        };
        let at = Nanos(1_795_252_060_139_148_192);
        let second = Record {
            k: 1,
            outcome: Outcome::Refused,
            repeat: 1,
            ..request::between(2, at, at + Nanos(30_000_100))
        };
        let at = Nanos(1_795_252_060_149_148_192);
        let third = Record {
            k: 2,
            step: 1,
            status: 503,
            outcome: Outcome::Status,
            repeat: 2,
            ..request::between(2, at, at + Nanos(5))
        };
        assert_eq!(rows.records, [first, second, third]);
        assert_eq!(rows.tables.labels.as_slice(), ["GET http://127.0.0.1:19300/", ""]);
        assert_eq!(rows.unreadable, 0);
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let negative = GOOD.replacen("845297", "-1", 1);
        let seconds = GOOD.replacen("1795252060129097711", "1795252060", 1);
        let rows = read(&[GOOD, &negative, &seconds, "1795252060129097711,200,84"].concat());
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (1, vec![2, 3, 4]));
    }

    #[test]
    fn other_files_without_headers_are_not_taken_for_it() {
        assert!(VEGETA_CSV.recognise(GOOD.as_bytes()));
        assert!(
            !VEGETA_CSV
                .recognise(b"1331859604094,71,012_Home_jpg,200,OK,Thread Group 1-2,bin,true,141994,25\n")
        );
        assert!(!VEGETA_CSV.recognise(&GOOD.as_bytes()[3..]));
    }
}
