//! Logs in the W3C extended format: their `#Fields` line names every column (IIS, CloudFront, Amazon's other caches).
//!
//! Date and time are two columns, in UTC, of when the answer was sent; without the first the `#Date` line has it. `time-taken` is in
//! milliseconds as IIS writes it and in seconds where it has a point, or where the file is CloudFront's. Deliberately absent: what stands
//! behind an address; columns of a server's own.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::Outcomes;

const LOG: Layout = Layout {
    title: "W3C extended log",
    rows: Cut::W3c { marks: &["time"] },
    columns: "end:iso=date+time,elapsed:pointed=time-taken,method=cs-method,path=cs-uri-stem|cs-uri,status=sc-status,bytes=sc-bytes,\
              sent=cs-bytes",
    outcomes: Outcomes::Some("what never reached the server is not in its log"),
    missing: &["What never reached the server is not in its log."],
    ..PLAIN
};

/// W3C logs.
pub static W3C: Tabular = Tabular {
    name: "w3c-log",
    about: "W3C extended logs with a #Fields line: IIS, CloudFront",
    layouts: &[
        Layout {
            title: "W3C extended log of CloudFront",
            rows: Cut::W3c { marks: &["time", "x-edge-location"] },
            columns: "end:iso=date+time,elapsed:s=time-taken,method=cs-method,path=cs-uri-stem|cs-uri,status=sc-status,bytes=sc-bytes,\
                      sent=cs-bytes",
            ..LOG
        },
        LOG,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Format, Options, Stamps};
    use headway_base::{Nanos, Outcome};

    /// 2023-11-14T22:13:20Z.
    const AT: i64 = 1_700_000_000_000_000_000;
    const MS: i64 = 1_000_000;

    #[test]
    fn rows_of_iis_are_ends_in_whole_seconds() {
        let text = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2023-11-14 22:13:20\r\n\
                    #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes cs-bytes time-taken\r\n\
                    2023-11-14 22:13:20 192.0.2.1 GET /cart - 200 510 90 3\r\n\
                    2023-11-14 22:13:20 192.0.2.1 GET /cart x=1 500 - 91 86\r\n\
                    broken\r\n\
                    #Fields: time date cs-uri-stem sc-status time-taken\r\n\
                    22:13:21 2023-11-14 /home 404 7\r\n";
        assert!(W3C.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&W3C, text.as_bytes(), &Options::default());
        let shown: Vec<_> = rows
            .records
            .iter()
            .map(|r| {
                let label = &rows.tables.labels.as_slice()[usize::from(r.step)];
                (r.done.0 - AT, r.response().0, r.status, r.outcome, r.bytes_received, label.as_str())
            })
            .collect();
        assert_eq!(
            shown,
            [
                (0, 3 * MS, 200, Outcome::Ok, 510, "GET /cart"),
                (0, 86 * MS, 500, Outcome::Status, 0, "GET /cart"),
                (1_000 * MS, 7 * MS, 404, Outcome::Status, 0, "/home"),
            ]
        );
        assert_eq!((rows.unreadable, rows.examples[0].line), (1, 7));
        assert!(rows.examples[0].expected.starts_with("10 columns as in the #Fields line, not 1"));
        assert_eq!((facts.stamps, facts.resolution, facts.ends), (Stamps::End, Nanos::from_secs(1), true));
        assert_eq!(facts.tool.as_deref(), Some("Microsoft Internet Information Services 10.0"));
    }

    #[test]
    fn times_taken_of_cloud_front_are_in_seconds() {
        let text = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes cs-method cs-uri-stem sc-status time-taken\n\
                    2023-11-14\t22:13:20\tFRA2\t1045\tGET\t/a\t200\t0.214\n2023-11-14\t22:13:20\tFRA2\t0\tGET\t/a\t000\t1\n";
        let (rows, facts) = read_all(&W3C, text.as_bytes(), &Options::default());
        let took: Vec<_> = rows.records.iter().map(|r| r.response().0 / MS).collect();
        assert_eq!(took, [214, 1_000]);
        assert_eq!(
            (rows.records[1].outcome, facts.format.as_str()),
            (Outcome::Reset, "W3C extended log of CloudFront")
        );
    }

    #[test]
    fn the_date_may_stand_above_the_rows_and_texts_in_quotes() {
        let text = "#Date: 2023-11-14 22:13:20 \n#Fields: time cs-uri-stem cs(User-Agent) sc-status\n22:13:20 /a \"two words\" 200\n\
                    #Date: 2023-11-15 00:00:00\n00:00:01 /b \"-\" 200\n";
        assert!(W3C.recognise(text.as_bytes()));
        let (rows, _) = read_all(&W3C, text.as_bytes(), &Options::default());
        let at: Vec<_> = rows.records.iter().map(|r| (r.done.0 - AT) / (1_000 * MS)).collect();
        assert_eq!((at, rows.unreadable), (vec![0, 6_401], 0));
    }

    #[test]
    fn a_log_without_times_is_none() {
        assert!(!W3C.recognise(b"#Version: 1.0\n#Fields: cs-method cs-uri-stem\nGET /\n"));
        assert!(!W3C.recognise(b"# Fields: date time\n2023-11-14 22:13:20\n"));
        let (rows, facts) = read_all(
            &W3C,
            b"#Fields: date time\n2023-11-14 22:13:20\n2200-11-14 22:13:20\n",
            &Options::default(),
        );
        assert_eq!((rows.records.len(), rows.unreadable, facts.ends), (1, 1, false));
        assert!(facts.missing[1].contains("no time-taken"), "{:?}", facts.missing);
    }
}
