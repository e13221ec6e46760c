//! h2load's `--log-file`: start in microseconds since the epoch, status (-1 for a failed stream), microseconds until the
//! end of the answer, separated by tabs; more columns may come and are not read (tried with nghttp2 1.52.0: requests
//! whose connection could not be opened, or broke before the answer, are not in the file).

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::Outcomes;
use headway_base::Nanos;

/// h2load's log file.
pub static H2LOAD: Tabular = Tabular {
    name: "h2load",
    about: "h2load --log-file=FILE",
    layouts: &[Layout {
        title: "h2load log",
        tool: Some("h2load"),
        rows: Cut::Bare { delimiter: b'\t', digits: &[16], widths: &[3], more: true },
        columns: "start:us=1,status=2,elapsed:us=3",
        resolution: Some(Nanos::from_micros(1)),
        outcomes: Outcomes::Some(
            "requests whose connection could not be opened, or broke, are not in the file",
        ),
        missing: &["Requests whose connection could not be opened, or broke, are not in it."],
        ..PLAIN
    }],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Format, Options};
    use headway_base::Outcome;

    #[test]
    fn rows_are_read() {
        let text = b"1795265914787679\t200\t139\n1795265914787682\t404\t154\tmore\n1795265914787000\t-1\t0";
        assert!(H2LOAD.recognise(text));
        let (rows, facts) = read_all(&H2LOAD, text, &Options::default());
        let read: Vec<_> =
            rows.records.iter().map(|r| (r.k, r.intended.0, r.response().0, r.status, r.outcome)).collect();
        assert_eq!(
            read,
            [
                (0, 1_795_265_914_787_679_000, 139_000, 200, Outcome::Ok),
                (1, 1_795_265_914_787_682_000, 154_000, 404, Outcome::Status),
                (2, 1_795_265_914_787_000_000, 0, 0, Outcome::Reset),
            ]
        );
        assert_eq!(rows.tables.labels.as_slice(), ["request"]);
        assert_eq!((facts.resolution, facts.ends, facts.users), (Nanos(1000), true, false));
    }

    #[test]
    fn what_is_no_row_is_said() {
        let text = b"1795265914787679\t200\t139\n1795265914787679\t200\n1795265914787679\t7\t1\n-1795265914787679\t200\t1\n\
                     1795265914787679\t200\t-5\n1795265914787679\t200\t99999999999999\n99999999999999999\t200\t1\n";
        let (rows, _) = read_all(&H2LOAD, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable), (1, 6));
        assert_eq!(rows.examples[0].line, 2);
        for other in ["", "1795265914787679 200 139", "1795265914787\t200\t139", "a\tb\tc"] {
            assert!(!H2LOAD.recognise(other.as_bytes()), "{other}");
        }
    }
}
