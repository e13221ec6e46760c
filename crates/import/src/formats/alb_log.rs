//! Access logs of AWS's Application Load Balancers: words with blanks between them, texts in quotes.
//!
//! The 22nd field is when the request came, the second when its answer was generated. Logs from before 2018, which end earlier, are not
//! read. Deliberately absent: the times of the parts, and which target answered.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::Outcomes;

/// Access logs of load balancers.
pub static ALB_LOG: Tabular = Tabular {
    name: "alb-log",
    about: "access logs of Application Load Balancers (AWS)",
    layouts: &[Layout {
        title: "access log of an Application Load Balancer",
        rows: Cut::Words(22),
        columns: "start:iso=22,end:iso=2,status=9,sent=11,bytes=12,request=13",
        outcomes: Outcomes::Some("what never reached the load balancer is not in its log"),
        missing: &["What never reached the load balancer is not in its log."],
        ..PLAIN
    }],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Format, Options, Stamps};
    use headway_base::{Nanos, Outcome};

    #[test]
    fn rows_have_both_ends() {
        let row = |end: &str, status: &str, request: &str, start: &str| {
            format!(
                "https {end} app/a/50 192.0.2.1:2817 10.0.0.1:80 0.000 0.001 -1 {status} - 34 366 {request} \"curl/7.46.0 (x)\" - - \
                 arn:aws:x \"Root=1-5\" \"-\" \"-\" 0 {start} \"forward\" \"-\" \"-\"\n"
            )
        };
        let text = row(
            "2018-07-02T22:23:00.186641Z",
            "200",
            "\"GET http://a:80/x?y=1 HTTP/1.1\"",
            "2018-07-02T22:22:58.364000Z",
        ) + &row(
            "2018-07-02T22:23:01.000001Z",
            "460",
            "\"- http://a:80- -\"",
            "2018-07-02T22:23:01.000000Z",
        ) + &row(
            "2018-07-02T22:23:01.000001Z",
            "-",
            "\"GET http://a:80/ HTTP/1.1\"",
            "2018-07-02T22:23:01.000000Z",
        ) + &row(
            "2018-07-02T22:23:00.000001Z",
            "200",
            "\"GET http://a:80/ HTTP/1.1\"",
            "2018-07-02T22:23:01.000000Z",
        ) + "https 2018-07-02T22:23:00.186641Z app/a/50\n";
        assert!(ALB_LOG.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&ALB_LOG, text.as_bytes(), &Options::default());
        let label = |step: u16| rows.tables.labels.as_slice()[usize::from(step)].clone();
        let shown: Vec<_> = rows
            .records
            .iter()
            .map(|r| {
                (r.response().0 / 1_000, r.status, r.outcome, r.bytes_received, r.bytes_sent, label(r.step))
            })
            .collect();
        assert_eq!(
            shown,
            [
                (1_822_641, 200, Outcome::Ok, 366, 34, "GET http://a:80/x".to_owned()),
                (1, 460, Outcome::Status, 366, 34, "- http://a:80-".to_owned()),
                (1, 0, Outcome::Reset, 366, 34, "GET http://a:80/".to_owned()),
            ]
        );
        assert_eq!(rows.examples.iter().map(|e| e.line).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((facts.stamps, facts.resolution), (Stamps::Start, Nanos(1000)));
    }
}
