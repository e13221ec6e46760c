//! Locust's `CsvRequestLogger` (`locust.contrib.csv_request_logger`, since 2.44): one row a request, in the order of the
//! ends; the stamp is the start, in seconds. A request failed if there is an exception: protocols without status codes have 0 there in any
//! case. Locust's own `--csv` holds no requests: see `refused`.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use headway_base::Nanos;

/// Locust's request log.
pub static LOCUST_REQUESTS: Tabular = Tabular {
    name: "locust-requests",
    about: "Locust with locust.contrib.csv_request_logger.CsvRequestLogger",
    layouts: &[Layout {
        title: "Locust request log (CsvRequestLogger)",
        tool: Some("Locust"),
        rows: Cut::Headed(&[
            "timestamp,request_type,name,response_time_ms,response_length,status_code,exception",
        ]),
        columns: "start:s=timestamp,label=request_type+name,elapsed:ms=response_time_ms,bytes=response_length,status=status_code,\
                  exception=exception",
        resolution: Some(Nanos::from_micros(1)),
        missing: &[
            "Which user sent a request is not in it.",
            "A client of one's own that reports no start_time is stamped with the end; such rows look like the others.",
        ],
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
        let text = "timestamp,request_type,name,response_time_ms,response_length,status_code,exception\r\n\
                    1795265544.2,GET,/,3.25,3,200,\r\n\
                    1795265544.123456,POST,\"/a,b\",12.0,153,404,HTTPError('404')\r\n\
                    1795265545.5,GET,/,0.5,0,0,\"ConnectionRefusedError(111, 'Connection refused')\"\r\n\
                    1795265546.0,GET,/,0,9,200,\"too \"\"slow\"\"\r\nfor me\"\r\n\
                    1795265546.25,WS,chat,1e-05,0,0,";
        assert!(LOCUST_REQUESTS.recognise(text.as_bytes()));
        let (rows, facts) = read_all(&LOCUST_REQUESTS, text.as_bytes(), &Options::default());
        let read: Vec<_> = rows
            .records
            .iter()
            .map(|r| (r.intended.0, r.response().0, r.bytes_received, r.status, r.outcome, r.step))
            .collect();
        assert_eq!(
            read,
            [
                (1_795_265_544_200_000_000, 3_250_000, 3, 200, Outcome::Ok, 0),
                (1_795_265_544_123_456_000, 12_000_000, 153, 404, Outcome::Status, 1),
                (1_795_265_545_500_000_000, 500_000, 0, 0, Outcome::Refused, 0),
                (1_795_265_546_000_000_000, 0, 9, 200, Outcome::Check, 0),
                (1_795_265_546_250_000_000, 10, 0, 0, Outcome::Ok, 2),
            ]
        );
        assert_eq!(rows.tables.labels.as_slice(), ["GET /", "POST /a,b", "WS chat"]);
        assert_eq!((facts.resolution, facts.users), (Nanos(1000), false));
    }

    #[test]
    fn what_is_no_row_is_said() {
        let text = b"timestamp,request_type,name,response_time_ms,response_length,status_code,exception\n\
                     1795265544.2,GET,/,3.25,3,200,\n\
                     1795265544.2,GET,/,,3,200,\n\
                     1795265544.2,GET,/,3.25,-3,200,\n\
                     44.2,GET,/,3.25,3,200,\n\
                     1795265544.2,GET,/,3.25,3,99999,\n\
                     1795265544.2,GET";
        let (rows, _) = read_all(&LOCUST_REQUESTS, text, &Options::default());
        assert_eq!((rows.records.len(), rows.unreadable, rows.examples[0].line), (1, 5, 3));
    }
}
