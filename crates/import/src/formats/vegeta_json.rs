//! vegeta JSON: a result per line.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use headway_base::Nanos;

/// vegeta JSON.
pub static VEGETA_JSON: Tabular = Tabular {
    name: "vegeta-json",
    about: "vegeta encode --to json",
    layouts: &[Layout {
        title: "vegeta JSON",
        rows: Cut::Json {
            marks: &["seq", "code", "timestamp", "latency", "bytes_out", "bytes_in"],
            // A body may be longer than what is looked at.
            begins: "{\"attack\":",
        },
        columns: "start:iso=timestamp,status=code,elapsed:ns=latency,sent=bytes_out,bytes=bytes_in,error=error,number=seq,label=method+url",
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

    const GOOD: &str = r#"{"attack":"demo","seq":7,"code":200,"timestamp":"2026-11-21T09:07:40.129097711Z","latency":845297,"bytes_out":0,"bytes_in":100,"error":"","body":"MDEy","method":"GET","url":"http://127.0.0.1:19300/","headers":{"Content-Length":["100"]}}"#;

    fn read(text: &str) -> Rows {
        let mut rows = Rows::default();
        let mut reader = VEGETA_JSON.reader(Path::new("v.json"), &Options::default()).unwrap();
        assert_eq!(reader.read(text.as_bytes(), true, &mut rows).unwrap(), text.len());
        rows
    }

    #[test]
    fn rows_become_records() {
        let failed = r#"{"attack":"","seq":8,"code":0,"timestamp":"2026-11-21T10:07:40.2+01:00","latency":30000000000,"bytes_out":0,"bytes_in":0,"error":"Get \"http://h/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)","body":null,"method":"POST","url":"http://127.0.0.1:19300/","headers":null}"#;
        let rows = read(&format!("{GOOD}\n{failed}\n"));
        let at = Nanos(1_795_252_060_129_097_711);
        let first =
            Record { k: 7, status: 200, bytes_received: 100, ..request::between(0, at, at + Nanos(845_297)) };
        let at = Nanos(1_795_252_060_200_000_000);
        let second = Record {
            k: 8,
            step: 1,
            outcome: Outcome::Timeout,
            repeat: 1,
            ..request::between(0, at, at + Nanos::from_secs(30))
        };
        assert_eq!(rows.records, [first, second]);
        assert_eq!(
            rows.tables.labels.as_slice(),
            ["GET http://127.0.0.1:19300/", "POST http://127.0.0.1:19300/"]
        );
        assert_eq!(rows.unreadable, 0);
        let said = &rows.tables.messages.as_slice()[0];
        assert!(said.starts_with("Get \"http://h/\": context deadline exceeded"), "{said}");
    }

    #[test]
    fn what_cannot_be_read_is_counted_with_its_line() {
        let rows = read(&format!("{GOOD}\n{}\n{}\n", GOOD.replace("2026", "1026"), &GOOD[..90]));
        let at: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!((rows.records.len(), at), (1, vec![2, 3]));
    }

    #[test]
    fn other_json_is_not_taken_for_it() {
        assert!(VEGETA_JSON.recognise(GOOD.as_bytes()));
        assert!(VEGETA_JSON.recognise(&GOOD.as_bytes()[..100]));
        assert!(!VEGETA_JSON.recognise(b"{\"seq\":1,\"timestamp\":\"2026-11-21T09:07:40Z\"}\n"));
    }
}
