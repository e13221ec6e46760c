//! An export: an observer, and a thread that sends what the observer is shown.

use super::{Collector, PATIENCE};
use crate::collect::{Observer, SoFar};
use crate::handover::{self, Handover};
use crate::snapshot::Snapshot;
use crate::{Error, RunSpec};
use headway_live::service::{NotPosted, Poster};
use headway_report::otlp::{self, Stretch};
use headway_report::words::export::{Exports, NotExported, Rejected, not_exported};
use headway_stats::Summary;
use headway_workload::Shard;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Characters of an answer that are shown where it is not of OTLP.
const SHOWN: usize = 40;

/// The end waits for the export that goes on, and then for the last one.
const LONGEST_END: Duration = Duration::from_secs(2 * PATIENCE.as_secs() + 1);

/// The export of one run, until it is [closed](Export::close).
pub struct Export {
    shared: Arc<Shared>,
    /// Snapshots since the last one that was exported, and how many there are to be.
    seen: u32,
    every: u32,
    /// When the run began, nanoseconds since the Unix epoch.
    from: Option<u64>,
}

struct Shared {
    collector: Collector,
    poster: Poster,
    resource: Vec<(String, String)>,
    /// To be sent, with when the run began.
    numbers: Handover<(Numbers, Option<u64>)>,
    exports: Mutex<Exports>,
}

enum Numbers {
    SoFar(Box<SoFar>),
    Final(Box<Summary>),
}

impl Export {
    /// Opens an export of that run; `instance` tells this process from others. Nothing is sent yet.
    ///
    /// # Errors
    /// A collector with HTTPS, and no roots to verify its certificate against.
    pub fn open(collector: Collector, spec: &RunSpec, instance: u64) -> Result<Export, Error> {
        let poster = Poster::new(&collector.url, collector.headers.clone())
            .map_err(|error| Error::usage(anyhow::anyhow!(error).context("--otlp")))?;
        let every = collector.every.max(1);
        let resource = resource(spec, instance);
        let (numbers, exports) = (Handover::new(), Mutex::default());
        let shared = Arc::new(Shared { collector, poster, resource, numbers, exports });
        let of_thread = shared.clone();
        handover::thread("otlp", move || of_thread.send())
            .map_err(|error| Error::failed(anyhow::anyhow!(error).context("--otlp")))?;
        Ok(Export { shared, seen: 0, every, from: None })
    }

    /// The run has ended, and these are its final numbers.
    pub fn ended(&self, summary: &Summary) {
        self.shared.numbers.hand((Numbers::Final(Box::new(summary.clone())), self.from));
        self.shared.numbers.end();
    }

    /// Waits for the last export, for eleven seconds at most, and says what did not arrive, if anything.
    pub fn close(self) -> Option<String> {
        let unsent = self.shared.numbers.settle(LONGEST_END);
        let mut exports = self.shared.exports().clone();
        if unsent > 0 {
            exports.begun += unsent;
            exports.failed += unsent;
            exports.last_failed = true;
            exports.why = Some(NotExported::NoAnswer(LONGEST_END.as_secs_f64()));
        }
        let redactor = &self.shared.collector.redactor;
        not_exported(&exports, &self.shared.collector.place).map(|text| redactor.hide(&text).into_owned())
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.shared.numbers.end();
    }
}

impl Observer for Export {
    fn wants_so_far(&mut self) -> bool {
        self.seen += 1;
        if self.seen < self.every {
            return false;
        }
        self.seen = 0;
        let idle = self.shared.numbers.is_idle();
        self.shared.exports().skipped += u64::from(!idle);
        idle
    }

    fn so_far(&mut self, so_far: SoFar, _: &Snapshot) {
        self.from.get_or_insert_with(|| unix_now().saturating_sub(so_far.at().0.max(0) as u64));
        self.shared.numbers.hand((Numbers::SoFar(Box::new(so_far)), self.from));
    }
}

impl Shared {
    fn exports(&self) -> MutexGuard<'_, Exports> {
        self.exports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what is handed over, until the run has ended and all is sent.
    fn send(&self) {
        while let Some((numbers, from)) = self.numbers.take() {
            let is_last = matches!(numbers, Numbers::Final(_));
            let outcome = self.export(numbers, from);
            let mut exports = self.exports();
            exports.begun += 1;
            match outcome {
                Ok(Rejected { numbers: 0, .. }) => {}
                Ok(Rejected { numbers, why }) => {
                    exports.last_rejected = if is_last { numbers } else { 0 };
                    exports.rejected = Rejected { numbers: exports.rejected.numbers + numbers, why };
                }
                Err(why) => {
                    exports.failed += 1;
                    exports.last_failed = is_last;
                    exports.why = Some(why);
                }
            }
        }
    }

    /// Sends numbers; what the collector rejected of them.
    fn export(&self, numbers: Numbers, from: Option<u64>) -> Result<Rejected, NotExported> {
        let to = unix_now();
        let summary = match numbers {
            Numbers::SoFar(so_far) => so_far.summary(),
            Numbers::Final(summary) => *summary,
        };
        let length = (summary.measured.to_s.max(0.0) * 1e9) as u64;
        let from = from.unwrap_or_else(|| to.saturating_sub(length));
        let body = otlp::request(&summary, &self.resource, Stretch { from, to });
        let answer = self.poster.post(otlp::MEDIA_TYPE, &body, PATIENCE).map_err(|error| match error {
            NotPosted::Status(status) => NotExported::Status(status),
            NotPosted::TimedOut => NotExported::NoAnswer(PATIENCE.as_secs_f64()),
            NotPosted::Failed(error) => NotExported::Failed(error),
        })?;
        let hidden =
            |text: &str| without_query(&self.collector.redactor.hide_foreign(text), &self.collector.url);
        match otlp::rejected(&answer) {
            Some(Rejected { numbers, why }) => Ok(Rejected { numbers, why: hidden(&why) }),
            None => {
                let body = hidden(&String::from_utf8_lossy(&answer));
                Err(NotExported::NotOtlp(body.trim().chars().take(SHOWN).collect()))
            }
        }
    }
}

/// That text without what it repeats of the query of that URL, also where it was cut within it.
fn without_query(text: &str, url: &str) -> String {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = path.find('/').map_or("", |at| &path[at..]);
    let Some((path, _)) = path.split_once('?') else { return text.to_owned() };
    let begin = format!("{path}?");
    let mut parts = text.split(&begin);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| !c.is_whitespace() && !"\"'<>".contains(c));
        kept += &format!("{begin}<redacted>{rest}");
    }
    kept
}

fn unix_now() -> u64 {
    headway_live::clock::unix_now().max(0) as u64
}

/// Of whom the numbers are, by the semantic conventions of OpenTelemetry where they have a name for it.
fn resource(spec: &RunSpec, instance: u64) -> Vec<(String, String)> {
    let (plan, shown) = (&spec.plan, &spec.shown);
    let own = [
        ("service.name", "headway".to_owned()),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", format!("{instance:016x}")),
        ("headway.run.name", spec.name.to_string()),
        ("headway.run.seed", plan.seed.to_string()),
    ];
    let shard = (plan.shard != Shard::WHOLE).then(|| ("headway.run.shard", plan.shard.to_string()));
    let notes = shown.notes.iter().map(|(key, value)| (format!("headway.note.{key}"), value.to_string()));
    own.into_iter().chain(shard).map(|(key, value)| (key.to_owned(), value)).chain(notes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_workload::redact::Redactor;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    /// Answers each request with the next of these; the bodies that came.
    fn collector(answers: Vec<&'static str>) -> (String, thread::JoinHandle<Vec<Vec<u8>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            answers.into_iter().map(|answer| serve(&mut listener.accept().unwrap().0, answer)).collect()
        });
        (url, served)
    }

    fn serve(socket: &mut TcpStream, answer: &str) -> Vec<u8> {
        let (mut all, mut block) = (Vec::new(), [0; 4_096]);
        loop {
            let n = socket.read(&mut block).unwrap();
            all.extend_from_slice(&block[..n]);
            let head = all.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
            let Some(head) = head else { continue };
            let text = String::from_utf8_lossy(&all[..head]).to_lowercase();
            assert!(text.contains("api-key: s3cr3t-value") && text.contains(otlp::MEDIA_TYPE), "{text}");
            let length = text.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
            let length: usize = length.parse().unwrap();
            if all.len() == head + length {
                // Of a long one the exporter reads the beginning.
                let _ = socket.write_all(answer.as_bytes());
                return all.split_off(head);
            }
        }
    }

    fn open(url: String) -> Export {
        let headers = vec![("api-key".to_owned(), "s3cr3t-value".to_owned())];
        let mut redactor = Redactor::default();
        redactor.know("s3cr3t-value");
        let collector = Collector { place: url.clone(), url, headers, every: 2, redactor };
        let profile = headway_base::Profile::new(&[headway_base::Phase::hold(
            headway_base::Nanos::from_secs(1),
            headway_base::Rate(10.0),
        )]);
        let group = headway_workload::plan::Group::open(headway_workload::Process::Poisson, profile);
        let plan = headway_workload::Plan::of(
            7,
            group,
            headway_base::Nanos::ZERO,
            headway_base::Nanos::from_secs(1),
        );
        Export::open(collector, &RunSpec::new("shop", plan, 1), 5).unwrap()
    }

    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    #[test]
    fn the_final_numbers_are_sent_with_the_run_that_they_are_of() {
        let (url, served) = collector(vec![OK]);
        let export = open(url);
        export.ended(&Summary::default());
        assert_eq!(export.close(), None);
        let body = &served.join().unwrap()[0];
        for part in [
            "headway_measured_seconds",
            "headway.run.seed",
            "service.instance.id",
            "0000000000000005",
            "shop",
        ] {
            assert!(body.windows(part.len()).any(|seen| seen == part.as_bytes()), "{part}");
        }
    }

    /// An answer of success with that body.
    fn ok(body: &str) -> &'static str {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        Box::leak((head + body).into_boxed_str())
    }

    #[test]
    fn what_a_collector_refuses_is_said_without_secrets() {
        let refusing = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let page = ok("\n<!DOCTYPE html><title>Log in</title> s3cr3t-value");
        // More than is read of an answer.
        let long = ok(&format!("<html>{}", " ".repeat(100_000)));
        let failed = "1 of 1 export failed, the final numbers among them: ";
        let other = "it is not an OpenTelemetry collector: its answer begins with '";
        for (answer, parts) in [
            (refusing, [failed, "the collector answered with status 503"]),
            (page, [failed, &format!("{other}<!DOCTYPE html><title>Log in</title>")]),
            (long, [failed, &format!("{other}<html>'")]),
        ] {
            let (url, served) = collector(vec![answer]);
            let export = open(url);
            export.ended(&Summary::default());
            let said = export.close().unwrap();
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
            assert!(!said.contains("s3cr3t"), "{said}");
            served.join().unwrap();
        }
    }

    #[test]
    fn a_key_in_the_query_is_hidden_where_a_collector_cut_its_message() {
        let url = "http://127.0.0.1:4318/v1/metrics?k=URLSECRET";
        for (text, shown) in [
            ("refused /v1/metrics?k=URLSEC", "refused /v1/metrics?<redacted>"),
            (
                "'http://127.0.0.1:4318/v1/metrics?k=U' is no tenant",
                "'http://127.0.0.1:4318/v1/metrics?<redacted>' is no tenant",
            ),
            ("/v1/metrics is not here", "/v1/metrics is not here"),
        ] {
            assert_eq!(without_query(text, url), shown);
        }
        assert_eq!(without_query("/v1/metrics?k=1", "http://127.0.0.1:4318/v1/metrics"), "/v1/metrics?k=1");
    }

    #[test]
    fn numbers_that_a_collector_rejects_are_counted_over_all_exports() {
        // Field 1, a message of 20 bytes: 3 numbers rejected, "got s3cr3t-value".
        let three = ok("\u{a}\u{14}\u{8}\u{3}\u{12}\u{10}got s3cr3t-value");
        let (url, served) = collector(vec![three, OK, three]);
        let export = open(url);
        for _ in 0..2 {
            export.shared.numbers.hand((Numbers::Final(Box::default()), None));
            assert_eq!(export.shared.numbers.settle(LONGEST_END), 0);
        }
        export.ended(&Summary::default());
        let said = export.close().unwrap();
        assert!(said.contains(": the collector rejected 6 numbers, 3 of them final: got "), "{said}");
        assert!(!said.contains("s3cr3t") && !said.contains("failed"), "{said}");
        served.join().unwrap();
    }

    #[test]
    fn a_collector_that_is_down_is_said_at_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let export = open(url);
        export.ended(&Summary::default());
        let said = export.close().unwrap();
        assert!(
            said.contains("1 of 1 export failed, the final numbers among them: ") && said.contains("refused"),
            "{said}"
        );
    }

    /// Every second snapshot is exported; one that would come before the last has ended is left out and counted.
    #[test]
    fn an_export_that_goes_on_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut export = open(format!("http://{}/", listener.local_addr().unwrap()));
        assert_eq!(
            [export.wants_so_far(), export.wants_so_far(), export.wants_so_far()],
            [false, true, false]
        );
        export.shared.numbers.hand((Numbers::Final(Box::default()), None));
        let mut going_on = listener.accept().unwrap().0;
        assert!(!export.wants_so_far());
        let served = thread::spawn(move || {
            serve(&mut going_on, OK);
            serve(&mut listener.accept().unwrap().0, OK);
        });
        export.ended(&Summary::default());
        assert!(
            export
                .close()
                .unwrap()
                .ends_with("1 export skipped, since the collector had not answered the one before")
        );
        served.join().unwrap();
    }
}
