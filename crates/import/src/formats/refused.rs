//! Files that are known and of no use: summaries, percentiles and counts without the start of any single request. Each
//! is refused with the reason and with what the same tool offers instead, which is worth more than "unknown format".

use crate::error::Error;
use crate::format::{Format, Reader};
use crate::numbers::{int, places};
use crate::options::Options;
use crate::stamps::{Shape, Unit};
use memchr::memmem;
use std::path::Path;

/// A format that holds no starts.
pub struct Refused {
    name: &'static str,
    /// What it is, as the subject of a sentence.
    what: &'static str,
    /// What it holds instead of starts; empty where it holds some, and something else reads it.
    why: &'static str,
    /// Where the starts are to be had.
    instead: &'static str,
    marks: Marks,
}

/// By what a file is recognised.
enum Marks {
    /// It begins with one of these, blanks aside.
    Begins(&'static [&'static str]),
    /// A JSON document (not lines of them) that holds all of these within its first 64 KiB.
    Json(&'static [&'static str]),
    /// A text that holds all of these within its first 64 KiB.
    Holds(&'static [&'static str]),
    /// It begins with one of these bytes.
    Magic(&'static [[u8; 4]]),
    /// By its first line.
    Line(fn(&[u8]) -> bool),
}

/// The refused, the pickiest first.
pub static ALL: &[Refused] = &[
    Refused {
        name: "artillery-json",
        what: "an Artillery report",
        why: "counts and percentiles over 10 s",
        instead: "Artillery writes no file of single requests: audit the access log of the server it was sent to.",
        marks: Marks::Json(&["\"aggregate\"", "\"counters\"", "\"intermediate\"|\"firstCounterAt\""]),
    },
    Refused {
        name: "hyperfoil-json",
        what: "a Hyperfoil report",
        why: "percentiles and counts over 1 s",
        instead: "Hyperfoil writes no file of single requests: audit the access log of the server it was sent to.",
        marks: Marks::Holds(&["hyperfoil.io/run-schema"]),
    },
    Refused {
        name: "hyperfoil-csv",
        what: "a Hyperfoil statistics file",
        why: "percentiles and counts over 1 s",
        instead: "Hyperfoil writes no file of single requests: audit the access log of the server it was sent to.",
        marks: Marks::Begins(&["Phase,Metric,", "Phase,Name,", "Timestamp,Address,MinSessions,MaxSessions"]),
    },
    Refused {
        name: "locust-stats",
        what: "a file of Locust's --csv",
        why: "statistics by name or by second",
        instead: "Register locust.contrib.csv_request_logger.CsvRequestLogger (Locust 2.44) in the locustfile and audit its file.",
        marks: Marks::Begins(&[
            "Type,Name,Request Count,",
            "Timestamp,User Count,Type,Name,",
            "Method,Name,Error,Occurrences",
            "Count,Message,Traceback,Nodes",
        ]),
    },
    Refused {
        name: "fortio-json",
        what: "a fortio result",
        why: "a histogram of latencies",
        instead: "Run fortio load with -access-log-file FILE and audit that file.",
        marks: Marks::Json(&["\"RunType\"", "\"RequestedQPS\"", "\"DurationHistogram\""]),
    },
    Refused {
        name: "oha-json",
        what: "an oha summary",
        why: "percentiles and histograms",
        instead: "Run oha with --output-format csv or --db-url FILE and audit that file.",
        marks: Marks::Json(&["\"successRate\"", "\"requestsPerSec\""]),
    },
    Refused {
        name: "k6-summary",
        what: "a k6 summary",
        why: "percentiles and counts",
        instead: "Run k6 with --out csv=FILE and K6_CSV_TIME_FORMAT=unix_nano (or --out json=FILE) and audit that file.",
        marks: Marks::Json(&[
            "\"metrics\"",
            "\"iteration_duration\"|\"http_req_duration\"",
            "\"p(95)\"|\"root_group\"|\"thresholds\"",
        ]),
    },
    Refused {
        name: "wrk-text",
        what: "the output of wrk or wrk2",
        why: "percentiles",
        instead: "wrk writes no file of single requests: audit the access log of the server it was sent to.",
        marks: Marks::Holds(&["Running ", " test @ ", " threads and "]),
    },
    Refused {
        name: "hdr-log",
        what: "an HdrHistogram interval log",
        why: "a histogram for each interval",
        instead: "Audit a log of single requests, such as the server's access log.",
        marks: Marks::Holds(&["\"StartTimestamp\",\"Interval_Length\""]),
    },
    Refused {
        name: "hdr-percentiles",
        what: "an HdrHistogram percentile table",
        why: "percentiles",
        instead: "Audit a log of single requests, such as the server's access log.",
        marks: Marks::Holds(&["TotalCount", "1/(1-Percentile)"]),
    },
    Refused {
        name: "hey-text",
        what: "the summary of hey or oha",
        why: "percentiles and a histogram",
        instead: "Run hey with -o csv or oha with --output-format csv and audit that file.",
        marks: Marks::Holds(&["Summary:", "Slowest:", "Requests/sec:"]),
    },
    Refused {
        name: "h2load-text",
        what: "the output of h2load",
        why: "means and extremes",
        instead: "Run h2load with --log-file=FILE and audit that file.",
        marks: Marks::Holds(&["finished in ", "time for request:", "time for connect:"]),
    },
    Refused {
        name: "vegeta-report",
        what: "a vegeta report",
        why: "percentiles and counts",
        instead: "Audit the results file that the report was made from, through vegeta encode --to csv.",
        marks: Marks::Begins(&[
            "Requests      [total, rate",
            "{\"latencies\":{\"total\":",
            "Bucket         #",
        ]),
    },
    Refused {
        name: "jmeter-report",
        what: "a table of JMeter's Aggregate Report or Summary Report",
        why: "statistics by label",
        instead: "Run jmeter -n -l FILE and audit that file.",
        marks: Marks::Begins(&["Label,# Samples,Average", "sampler_label,aggregate_report_count"]),
    },
    Refused {
        name: "ab-text",
        what: "the output of ApacheBench",
        why: "percentiles",
        instead: "ab keeps starts to the second only (-g): audit the access log of the server it was sent to.",
        marks: Marks::Begins(&["This is ApacheBench", "Percentage served,Time in ms"]),
    },
    Refused {
        name: "ab-gnuplot",
        what: "the table of ApacheBench's -g",
        why: "starts to the second, in the order of the times they took",
        instead: "ab writes no finer ones: audit the access log of the server it was sent to.",
        marks: Marks::Begins(&["starttime\tseconds\tctime\tdtime\tttime\twait"]),
    },
    Refused {
        name: "har",
        what: "a HAR recording of one client",
        why: "",
        instead: "headway from-har FILE makes a scenario of it.",
        marks: Marks::Json(&["\"log\"", "\"entries\"", "\"creator\"|\"startedDateTime\""]),
    },
    Refused {
        name: "pcap",
        what: "a packet capture",
        why: "",
        instead: "tshark -r FILE -Y http.response -T fields -E header=y -e frame.time_epoch -e http.time -e http.response.code writes a \
                  table of its responses; audit that with --columns end=frame.time_epoch,elapsed:s=http.time,status=http.response.code.",
        marks: Marks::Magic(&[
            [0xd4, 0xc3, 0xb2, 0xa1],
            [0xa1, 0xb2, 0xc3, 0xd4],
            [0x4d, 0x3c, 0xb2, 0xa1],
            [0xa1, 0xb2, 0x3c, 0x4d],
            [0x0a, 0x0d, 0x0d, 0x0a],
        ]),
    },
    Refused {
        name: "phout",
        what: "a phout file of Yandex.Tank",
        why: "",
        instead: "Name its columns: --columns start:s=1,label=2,elapsed:us=3,bytes=10,status=12.",
        marks: Marks::Line(is_phout),
    },
];

/// A line of phout: a stamp to the millisecond, a tag, and ten numbers, of which the first is the time taken.
fn is_phout(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').collect();
    let stamp = Shape::guess(fields[0]) == Some(Shape::Number(Unit::S)) && places(fields[0]) == 3;
    fields.len() == 12 && stamp && fields[2..].iter().all(|field| int(field.trim_ascii_end()).is_some())
}

/// The refused format of a file that begins with `head`.
pub(crate) fn find(head: &[u8]) -> Option<&'static dyn Format> {
    ALL.iter().find(|refused| refused.recognise(head)).map(|refused| refused as &dyn Format)
}

impl Format for Refused {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.what
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let head = if matches!(self.marks, Marks::Magic(_)) { head } else { head.trim_ascii_start() };
        // Spellings divided by | are those of different versions.
        let holds = |mark: &str| mark.split('|').any(|mark| memmem::find(head, mark.as_bytes()).is_some());
        match self.marks {
            Marks::Begins(marks) => marks.iter().any(|mark| head.starts_with(mark.as_bytes())),
            Marks::Json(marks) => {
                head.starts_with(b"{") && !is_lines(head) && marks.iter().all(|mark| holds(mark))
            }
            Marks::Holds(marks) => marks.iter().all(|mark| holds(mark)),
            Marks::Magic(marks) => marks.iter().any(|mark| head.starts_with(mark)),
            Marks::Line(fits) => head.split(|&b| b == b'\n').next().is_some_and(fits),
        }
    }

    fn reader(&self, path: &Path, _options: &Options) -> Result<Box<dyn Reader>, Error> {
        let &Refused { what, why, instead, .. } = self;
        let path = path.to_path_buf();
        match why {
            "" => Err(Error::Elsewhere { path, what, instead }),
            why => Err(Error::NoStarts { path, what, why, instead }),
        }
    }
}

/// Whether the second line begins another JSON document.
fn is_lines(head: &[u8]) -> bool {
    memmem::find(head, b"\n{").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_and_refused() {
        for (name, head) in [
            (
                "artillery-json",
                "{\n  \"aggregate\": {\n    \"counters\": {\"vusers.created\": 1}, \"firstCounterAt\": 1 } }",
            ),
            ("hyperfoil-json", "{ \"info\": {}, \"$schema\": \"http://hyperfoil.io/run-schema/v3.0\" }"),
            ("hyperfoil-csv", "Phase,Metric,Start,End,Requests,Responses,Mean,StdDev,Min,p50.0,Max\n"),
            ("locust-stats", "Type,Name,Request Count,Failure Count\n"),
            ("locust-stats", "Timestamp,User Count,Type,Name,Requests/s\n"),
            (
                "fortio-json",
                "{\n  \"RunType\": \"HTTP\",\n \"RequestedQPS\": \"20\",\n \"DurationHistogram\": {} }",
            ),
            ("oha-json", "{\n \"summary\": { \"successRate\": 1.0, \"requestsPerSec\": 8.5 } }"),
            ("k6-summary", "{ \"root_group\": {}, \"metrics\": { \"iteration_duration\": {} } }"),
            ("wrk-text", "Running 1s test @ http://127.0.0.1:18080/\n  1 threads and 2 connections\n"),
            (
                "hdr-log",
                "#[Histogram log format version 1.3]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\"\n",
            ),
            ("hdr-percentiles", "       Value     Percentile TotalCount 1/(1-Percentile)\n"),
            (
                "hey-text",
                "\nSummary:\n  Total:\t0.0026 secs\n  Slowest:\t0.0013 secs\n  Requests/sec:\t7692.8551\n",
            ),
            (
                "h2load-text",
                "starting benchmark...\nfinished in 2ms\ntime for request: 1us\ntime for connect: 1us\n",
            ),
            ("vegeta-report", "Requests      [total, rate, throughput]         500, 100.20, 100.19\n"),
            ("jmeter-report", "Label,# Samples,Average,Min,Max,Std. Dev.\n"),
            ("ab-text", "This is ApacheBench, Version 2.3\n"),
            ("ab-gnuplot", "starttime\tseconds\tctime\tdtime\tttime\twait\n"),
        ] {
            let found = find(head.as_bytes()).unwrap_or_else(|| panic!("{name} is not recognised"));
            assert_eq!(found.name(), name, "{head}");
            let Err(error) = found.reader(Path::new("results"), &Options::default()) else {
                panic!("{name} is read")
            };
            let text = error.to_string();
            assert!(text.starts_with("results: a") || text.starts_with("results: the"), "{text}");
            assert!(text.contains("nothing can be said about how requests were launched. "), "{text}");
        }
    }

    #[test]
    fn what_something_else_reads_is_named_with_it() {
        const PHOUT: &[u8] = b"1326453006.582\t\t1510\t934\t52\t384\t140\t1249\t37\t478\t0\t404\n";
        for (name, head, instead) in [
            (
                "har",
                &b"{\n \"log\": {\n  \"creator\": {}, \"entries\": [\n   {} ] } }"[..],
                "headway from-har",
            ),
            ("pcap", b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", "tshark -r FILE"),
            ("pcap", b"\n\r\r\n\x1c\x00\x00\x00", "tshark -r FILE"),
            ("phout", PHOUT, "--columns start:s=1,label=2,elapsed:us=3,bytes=10,status=12"),
        ] {
            let found = find(head).unwrap_or_else(|| panic!("{name} is not recognised"));
            assert_eq!(found.name(), name);
            let error = found.reader(Path::new("results"), &Options::default()).err().map(|e| e.to_string());
            assert!(
                error.is_some_and(|text| text.starts_with("results: a ") && text.contains(instead)),
                "{name}"
            );
        }
        // And that reads it.
        let options = Options {
            columns: Some("start:s=1,label=2,elapsed:us=3,bytes=10,status=12".to_owned()),
            ..Options::default()
        };
        let columns = crate::formats::find(PHOUT, &options).expect("--columns decides");
        let (rows, _) = crate::testing::read_with(columns, &options, PHOUT, &[]).unwrap();
        let [row] = rows.records[..] else { panic!("{rows:?}") };
        assert_eq!((row.intended.0, row.response().0), (1_326_453_006_582_000_000, 1_510_000));
        assert_eq!((row.bytes_received, row.status), (478, 404));
    }

    #[test]
    fn other_files_are_not_refused() {
        for head in [
            "",
            "{}",
            "Label,start,elapsed\n",
            "{\"type\":\"Metric\",\"data\":{\"thresholds\":[]},\"metric\":\"http_req_duration\"}\n{\"metrics\":1}\n",
            "{\"attack\":\"\",\"seq\":0,\"code\":200}\n",
            "timeStamp,elapsed,label\n1,2,Summary: Slowest:\n",
        ] {
            assert!(find(head.as_bytes()).is_none(), "{head}");
        }
    }
}
