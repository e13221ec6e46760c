//! Access logs with one JSON object a line, whose keys are known by server: Caddy, Traefik, Cloudflare.
//!
//! Keys may stand in any order, and others among them. Deliberately absent: JSON that a format string spells (`access_log` has that), and
//! headers.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::Outcomes;

const LOG: Layout = Layout {
    outcomes: Outcomes::Some("what never reached the server is not in its log"),
    missing: &["What never reached the server is not in its log."],
    ..PLAIN
};

/// JSON access logs.
pub static JSON_LOG: Tabular = Tabular {
    name: "json-log",
    about: "JSON access logs of Caddy, Traefik and Cloudflare, one object a line",
    layouts: &[
        Layout {
            title: "Caddy access log",
            rows: Cut::Json {
                marks: &["ts", "duration", "request.method", "request.uri", "status"],
                begins: "",
            },
            columns: "end=ts,elapsed:s=duration,method=request.method,path=request.uri,status=status,bytes=size",
            ..LOG
        },
        Layout {
            title: "Traefik access log",
            rows: Cut::Json { marks: &["StartUTC", "Duration", "RequestMethod", "RequestPath"], begins: "" },
            columns: "start=StartUTC,elapsed:ns=Duration,method=RequestMethod,path=RequestPath,status=DownstreamStatus,\
                      bytes=DownstreamContentSize",
            ..LOG
        },
        Layout {
            title: "Cloudflare HTTP log",
            rows: Cut::Json { marks: &["EdgeStartTimestamp", "EdgeEndTimestamp"], begins: "" },
            columns: "start=EdgeStartTimestamp,end=EdgeEndTimestamp,method=ClientRequestMethod,\
                      path=ClientRequestPath|ClientRequestURI,status=EdgeResponseStatus,bytes=EdgeResponseBytes",
            ..LOG
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Facts, Format, Options, Rows, Stamps};
    use headway_base::{Nanos, Outcome};

    /// 2023-11-14T22:13:20Z.
    const AT: i64 = 1_700_000_000_000_000_000;
    const MS: i64 = 1_000_000;

    /// Start since [`AT`] and response time in milliseconds, status, label.
    type Row = (i64, i64, u16, String);

    fn shown(text: &str) -> (Vec<Row>, Rows, Facts) {
        assert!(JSON_LOG.recognise(text.as_bytes()), "{text}");
        let (rows, facts) = read_all(&JSON_LOG, text.as_bytes(), &Options::default());
        let label = |step: u16| rows.tables.labels.as_slice()[usize::from(step)].clone();
        let shown = rows
            .records
            .iter()
            .map(|r| ((r.intended.0 - AT) / MS, r.response().0 / MS, r.status, label(r.step)))
            .collect();
        (shown, rows, facts)
    }

    #[test]
    fn caddy_stamps_ends_in_seconds() {
        let text = r#"{"level":"info","ts":1700000000.018,"logger":"http.log.access.log0","msg":"handled request","request":{"proto":"HTTP/2.0","method":"GET","uri":"/cart?a=b"},"duration":0.003,"size":12,"status":200}
{"status":502,"duration":1.5e-05,"request":{"uri":"/x","method":"POST"},"ts":1700000001.5,"size":0}
{"level":"error","ts":1700000001.6,"msg":"no row"}
"#;
        let (shown, rows, facts) = shown(text);
        let row = |at, took, status, label: &str| (at, took, status, label.to_owned());
        assert_eq!(shown, [row(15, 3, 200, "GET /cart"), row(1_499, 0, 502, "POST /x")]);
        assert_eq!((rows.unreadable, rows.records[1].outcome), (1, Outcome::Status));
        assert_eq!((facts.format.as_str(), facts.stamps), ("Caddy access log", Stamps::End));
        assert_eq!(facts.resolution, Nanos::from_millis(1));
    }

    #[test]
    fn traefik_stamps_starts_to_the_nanosecond() {
        let text = r#"{"ClientAddr":"10.0.0.1:1","DownstreamContentSize":13,"DownstreamStatus":200,"Duration":2500000,"RequestMethod":"GET","RequestPath":"/","StartLocal":"2023-11-14T23:13:20.007000001+01:00","StartUTC":"2023-11-14T22:13:20.007000001Z","time":"2023-11-14T22:13:20Z"}"#;
        let (shown, _, facts) = shown(text);
        assert_eq!(shown, [(7, 2, 200, "GET /".to_owned())]);
        assert_eq!((facts.stamps, facts.resolution), (Stamps::Start, Nanos(1)));
    }

    #[test]
    fn cloudflare_has_both_ends_in_any_notation() {
        for (start, end) in [
            ("1700000000007000000", "1700000000009000000"),
            ("\"2023-11-14T22:13:20.007Z\"", "\"2023-11-14T22:13:20.009Z\""),
        ] {
            let text = format!(
                "{{\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/a?b\",\"EdgeEndTimestamp\":{end},\"EdgeResponseBytes\":9,\
                 \"EdgeResponseStatus\":200,\"EdgeStartTimestamp\":{start}}}"
            );
            assert_eq!(shown(&text).0, [(7, 2, 200, "GET /a".to_owned())], "{start}");
        }
    }

    #[test]
    fn other_json_is_none() {
        for text in
            ["{}", "{\"ts\":1700000000,\"duration\":1}", "[1]", "{\"metrics\":{}}\n{\"type\":\"Point\"}"]
        {
            assert!(!JSON_LOG.recognise(text.as_bytes()), "{text}");
        }
    }
}
