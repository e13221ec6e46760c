//! The live view of a run: an observer, and a site that shows what it has seen.
//!
//! A summary of what has ended so far is made only while somebody asks for it, once a second at most, on a thread that gives way to the
//! load; the collector hands over a copy of its analysis and goes on. Page and metrics are the report's and its OpenMetrics output, of
//! that summary. Deliberately absent: what they say (`report`), and who may read them (`live::site`).

use crate::collect::{Observer, SoFar};
use crate::handover::{self, Handover};
use crate::snapshot::{Goal, Snapshot};
use crate::spec::render;
use headway_base::Nanos;
use headway_live::Control;
use headway_live::site::{Page, Pages, Place, Site, Token};
use headway_report::Style;
use headway_report::html::live;
use headway_stats::Summary;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A reader who knows the latest snapshot waits this long for another.
const PATIENCE: Duration = Duration::from_secs(10);
/// A reader who knows none waits this long.
const FIRST: Duration = Duration::from_secs(3);
/// A summary is fresh for this long.
const FRESH: Duration = Duration::from_millis(1_500);
/// After the end the site stays this long at most, for readers who were there to get the report.
const STAYS: Duration = Duration::from_secs(3);
/// A reader who got the last snapshot this long ago would have asked again.
const AGAIN: Duration = Duration::from_millis(700);

/// Media type of the metrics.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A view of one run, open until it is [closed](Watch::close).
pub struct Watch {
    shared: Arc<Shared>,
    site: Site,
    making: Option<JoinHandle<()>>,
}

struct Shared {
    goal: Goal,
    /// What steers the run.
    control: Control,
    /// What a summary is to be made of.
    handed: Handover<(SoFar, Snapshot)>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    latest: Option<Arc<Made>>,
    /// Readers who wait for another summary.
    waiting: usize,
    /// When somebody last got a page's snapshot, and the last one.
    asked: Option<Instant>,
    told: Option<Instant>,
    over: bool,
}

/// A summary, and when it was made.
struct Made {
    number: u64,
    when: Instant,
    at: Nanos,
    reached: Option<(u64, u64)>,
    ended: bool,
    summary: Summary,
}

impl Watch {
    /// Opens a view at `place` of a run on its way to that goal, which its readers may stop by `control`.
    ///
    /// # Errors
    /// Nothing can listen there.
    pub fn open(place: &Place, goal: Goal, control: &Control) -> io::Result<Watch> {
        let (handed, state, changed) = (Handover::new(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { goal, control: control.clone(), handed, state, changed });
        let site = Site::open(place, shared.clone())?;
        let of_thread = shared.clone();
        let making = handover::thread("watch", move || of_thread.make())?;
        Ok(Watch { shared, site, making: Some(making) })
    }

    /// Where a browser finds it, without the token.
    pub fn url(&self) -> String {
        self.site.url()
    }

    /// The token that its readers need; none on loopback.
    pub fn token(&self) -> Option<&Token> {
        self.site.token()
    }

    /// Waits until somebody asks for it, or `control` is asked to stop.
    pub fn wait_for_reader(&self, control: &Control) {
        let mut state = self.shared.lock();
        while state.waiting == 0 && state.asked.is_none() && control.asked() == 0 {
            state = self.shared.wait(state, STAYS / 10);
        }
    }

    /// The run has ended, and this is its summary: from now on the view is its report.
    pub fn ended(&self, summary: &Summary) {
        let mut state = self.shared.lock();
        let at = Nanos::from_secs_f64(summary.measured.to_s);
        self.shared.publish(&mut state, at, None, true, summary.clone());
    }

    /// Closes the view. Readers who were there get the last snapshot before, which takes a second or so; without any it takes no time.
    pub fn close(mut self) {
        let until = Instant::now() + STAYS;
        let mut state = self.shared.lock();
        let ended = state.latest.as_ref().is_some_and(|made| made.ended);
        // Who asked within the time that an answer may take is still there.
        if ended && (state.waiting > 0 || state.asked.is_some_and(|at| at.elapsed() < FRESH)) {
            loop {
                let now = Instant::now();
                let quiet = state.told.map_or(until, |at| at + AGAIN).min(until);
                if now >= quiet && state.waiting == 0 || now >= until {
                    break;
                }
                let left = if now < quiet { quiet - now } else { until - now };
                state = self.shared.wait(state, left);
            }
        }
        drop(state);
        self.end();
        self.site.close(STAYS);
    }

    /// Lets the thread that makes summaries come to its end, and readers who wait.
    fn end(&mut self) {
        self.shared.handed.end();
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        if let Some(making) = self.making.take() {
            // Its panic has been printed, and costs the view alone.
            let _ = making.join();
        }
    }
}

impl Observer for Watch {
    fn wants_so_far(&mut self) -> bool {
        // One that takes longer than a second is waited for.
        self.shared.lock().waiting > 0 && self.shared.handed.is_idle()
    }

    fn so_far(&mut self, so_far: SoFar, snapshot: &Snapshot) {
        self.shared.handed.hand((so_far, snapshot.clone()));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, left: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Makes summaries of what is handed over.
    fn make(&self) {
        while let Some((so_far, snapshot)) = self.handed.take() {
            let (at, reached) = (so_far.at(), self.goal.reached(&snapshot.now));
            let summary = so_far.summary();
            let mut state = self.lock();
            if !state.latest.as_ref().is_some_and(|made| made.ended) {
                self.publish(&mut state, at, reached, false, summary);
            }
        }
    }

    fn publish(
        &self,
        state: &mut State,
        at: Nanos,
        reached: Option<(u64, u64)>,
        ended: bool,
        summary: Summary,
    ) {
        let number = state.latest.as_ref().map_or(1, |made| made.number + 1);
        state.latest = Some(Arc::new(Made { number, when: Instant::now(), at, reached, ended, summary }));
        self.changed.notify_all();
    }

    /// The first summary after that number, or one that is fresh; waits for it.
    fn latest(&self, after: Option<u64>) -> Option<Arc<Made>> {
        let until = Instant::now() + if after.is_some() { PATIENCE } else { FIRST };
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        let found = loop {
            let made = state.latest.as_ref().filter(|made| match after {
                Some(number) => made.number > number,
                None => made.ended || made.when.elapsed() < FRESH,
            });
            let left = until.checked_duration_since(Instant::now());
            match (made, left) {
                (Some(made), _) => break Some(made.clone()),
                // What is old is better than nothing, to one who knows nothing.
                (None, None) => break state.latest.clone().filter(|_| after.is_none()),
                (None, Some(_)) if state.over => break None,
                (None, Some(left)) => state = self.wait(state, left),
            }
        };
        state.waiting -= 1;
        found
    }

    fn snapshot(&self, query: &str) -> Page {
        let after = match query.strip_prefix("after=").map(str::parse) {
            Some(Ok(number)) => Some(number),
            None if query.is_empty() => None,
            _ => return Page::text(400, "the query is not after=NUMBER, the number of a snapshot"),
        };
        self.lock().asked = Some(Instant::now());
        let Some(made) = self.latest(after.filter(|&number| number > 0)) else {
            return match after {
                Some(_) => Page::text(204, ""),
                None => nothing_yet(),
            };
        };
        let Made { number, at, reached, ended, ref summary, .. } = *made;
        let at_s = at.as_secs_f64();
        let body = live::snapshot(live::Standing { number, summary, at_s, reached, ended });
        let now = Instant::now();
        let mut state = self.lock();
        state.asked = Some(now);
        if ended {
            state.told = Some(now);
        }
        Page { status: 200, kind: "application/json", body: body.into() }
    }

    fn metrics(&self) -> Page {
        let Some(made) = self.latest(None) else { return nothing_yet() };
        let body = render("openmetrics", &made.summary, &Style::default());
        Page { status: 200, kind: OPENMETRICS, body: body.into() }
    }
}

fn nothing_yet() -> Page {
    Page::text(503, "the run has not begun, or nothing of it has ended yet: try again later")
}

impl Pages for Shared {
    fn is_public(&self, path: &str) -> bool {
        live::file(path).is_some()
    }

    fn acts(&self, path: &str) -> bool {
        path == "/stop"
    }

    /// As the first Ctrl-C: sending stops, and what is in flight is waited for. Asked again it does no more.
    fn act(&self, _: &str) -> Page {
        if self.control.asked() == 0 {
            self.control.stop();
        }
        Page::text(202, "sending stops; the run ends when the responses in flight have come")
    }

    fn page(&self, path: &str, query: &str) -> Page {
        match path {
            "/snapshot.json" => self.snapshot(query),
            "/metrics" => self.metrics(),
            path => match live::file(path) {
                Some(live::File { kind, text }) => Page { status: 200, kind, body: text.into_bytes().into() },
                None => Page::text(404, "there are / (a page), /snapshot.json and /metrics"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis_setup;
    use crate::collect::Collector;
    use headway_base::{Batch, Outcome, Phase, Profile, Rate, Record, Stamp, Start};
    use headway_stats::{Analysis, Facts};
    use headway_workload::plan::Group;
    use headway_workload::{Plan, Process};
    use serde_json::Value;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::thread;

    const LABEL: &str = "<b>list</b>";

    /// The batch of the second that ends then: a hundred requests, one in ten of them failed.
    fn batch(second: i64) -> Batch {
        let mut batch = Batch { watermark: Nanos::from_secs(second), ..Batch::default() };
        for i in 0..100 {
            let due = Nanos::from_secs(second - 1) + Nanos::from_millis(10 * i);
            let outcome = if i % 10 == 0 { Outcome::Status } else { Outcome::Ok };
            batch.starts.push(Start::arrival(due, due, 0));
            let k = (100 * second + i) as u64;
            let row = Record::never_started(k, due, due + Nanos::from_millis(2), outcome);
            batch.records.push(Record { started: Stamp::from(due), sent: Stamp::from(due), ..row });
        }
        batch
    }

    fn plan(seconds: i64) -> Plan {
        let length = Nanos::from_secs(seconds);
        let profile = Profile::new(&[Phase::hold(length, Rate(100.0))]);
        Plan::of(1, Group::open(Process::Constant, profile), Nanos::ZERO, length)
    }

    /// Status and body of a page.
    fn get(at: &str, path: &str) -> (u16, String) {
        let authority = at.trim_start_matches("http://").trim_end_matches('/');
        let mut socket = TcpStream::connect(authority).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n").unwrap();
        let mut all = String::new();
        socket.read_to_string(&mut all).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn read(body: &str) -> Value {
        serde_json::from_str(body).unwrap()
    }

    #[test]
    fn readers_see_what_has_ended_so_far_and_at_last_the_report() {
        let labels = [LABEL.into()];
        let mut watch =
            Watch::open(&Place::default(), Goal::Until(Nanos::from_secs(30)), &Control::default()).unwrap();
        let (url, shared) = (watch.url(), watch.shared.clone());
        let analysis = Analysis::new(analysis_setup(&plan(30), &labels, 1));
        let facts = Facts { name: "<i>shop</i>".into(), ..Facts::default() };
        let mut observers: [&mut dyn Observer; 1] = [&mut watch];
        let mut collector = Collector::new(analysis, None, &labels, facts, &mut observers);
        // Nobody asks: nothing is made.
        collector.take(&batch(1));
        collector.show(Nanos::from_secs(1));
        assert!(shared.lock().latest.is_none() && shared.handed.is_idle());
        let reader = {
            let url = url.clone();
            thread::spawn(move || {
                [
                    get(&url, "/snapshot.json?after=0"),
                    get(&url, "/snapshot.json?after=1"),
                    get(&url, "/metrics"),
                ]
            })
        };
        let mut second = 1;
        while !reader.is_finished() && second < 30 {
            while shared.lock().waiting == 0 && !reader.is_finished() {
                thread::sleep(Duration::from_millis(2));
            }
            second += 1;
            collector.take(&batch(second));
            collector.show(Nanos::from_secs(second));
            assert_eq!(shared.handed.settle(PATIENCE), 0);
            // The reader takes its answer and asks again.
            thread::sleep(Duration::from_millis(20));
        }
        let [first, next, metrics] = reader.join().unwrap();
        let (one, two) = (read(&first.1), read(&next.1));
        assert_eq!((first.0, next.0, metrics.0), (200, 200, 200));
        assert_eq!(
            (&one["schema"], &one["number"], &two["number"]),
            (&live::SCHEMA.into(), &1.into(), &2.into())
        );
        let ended = |of: &Value| {
            of["summary"]["outcomes"]["ok"].as_u64().unwrap()
                + of["summary"]["outcomes"]["status"].as_u64().unwrap()
        };
        // Two seconds were told before the first.
        assert_eq!((ended(&one), ended(&one) < ended(&two)), (200, true), "{one} {two}");
        assert_eq!((&one["ended"], &one["reached"]), (&false.into(), &serde_json::json!([2_000, 30_000])));
        assert!(
            one["state"].as_str().unwrap().contains("of the 200 requests that fell due so far"),
            "{}",
            one["state"]
        );
        let markup = two["markup"].as_str().unwrap();
        assert!(
            markup.contains("&lt;i&gt;shop") && !markup.contains("<i>") && !markup.contains("<b>"),
            "{markup}"
        );
        assert!(
            metrics.1.contains("headway_requests_total{step=\"<b>list</b>\",outcome=\"status\"}")
                && metrics.1.ends_with("# EOF\n"),
            "{}",
            metrics.1
        );

        let whole = collector.finish(Nanos::from_secs(30), None).analysis.finish(Facts::default());
        let waiting = {
            let url = url.clone();
            thread::spawn(move || get(&url, "/snapshot.json?after=999"))
        };
        while shared.lock().waiting == 0 {
            thread::sleep(Duration::from_millis(2));
        }
        // Who knows a later number than there is waits in vain; who knows the last one gets the report.
        let number = shared.lock().latest.as_ref().unwrap().number;
        let last = {
            let url = url.clone();
            thread::spawn(move || get(&url, &format!("/snapshot.json?after={number}")))
        };
        while shared.lock().waiting < 2 {
            thread::sleep(Duration::from_millis(2));
        }
        watch.ended(&whole);
        watch.close();
        let last = read(&last.join().unwrap().1);
        assert_eq!((&last["ended"], &last["reached"]), (&true.into(), &Value::Null));
        assert!(last["markup"].as_str().unwrap().contains("id=\"settings\""), "the report is whole");
        assert_eq!(waiting.join().unwrap().0, 204);
        assert!(
            TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/')).is_err(),
            "it is closed"
        );
    }

    #[test]
    fn without_readers_the_end_takes_no_time_and_nothing_is_made() {
        let watch = Watch::open(&Place::default(), Goal::Done, &Control::default()).unwrap();
        let begun = Instant::now();
        watch.ended(&Summary::default());
        watch.close();
        assert!(begun.elapsed() < AGAIN, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_page_of_the_run_stops_it_and_no_other_does() {
        let control = Control::default();
        let watch = Watch::open(&Place::default(), Goal::Done, &control).unwrap();
        let authority = watch.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let post = |path: &str, headers: &str| {
            let mut socket = TcpStream::connect(&authority).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: 0\r\n{headers}Connection: close\r\n\r\n"
            );
            socket.write_all(head.as_bytes()).unwrap();
            let mut all = String::new();
            let _ = socket.read_to_string(&mut all);
            (all.get(9..12).unwrap_or_default().to_owned(), control.asked())
        };
        let status = |status: &str, asked| (status.to_owned(), asked);
        assert_eq!(post("/stop", ""), status("403", 0));
        assert_eq!(post("/stop", "X-Headway: page\r\nOrigin: http://evil.example\r\n"), status("403", 0));
        assert_eq!(post("/metrics", "X-Headway: page\r\n"), status("405", 0));
        assert_eq!(get(&watch.url(), "/stop").0, 404);
        let own = format!("X-Headway: page\r\nOrigin: http://{authority}\r\n");
        assert_eq!(post("/stop", &own), status("202", 1));
        assert_eq!(post("/stop", &own), status("202", 1));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let watch = Watch::open(&Place::default(), Goal::Done, &Control::default()).unwrap();
        let url = watch.url();
        for (path, status, part) in [
            ("/none", 404, "there are / (a page), /snapshot.json and /metrics"),
            ("/snapshot.json?after=x", 400, "after=NUMBER"),
            ("/snapshot.json?before=1", 400, "after=NUMBER"),
            ("/metrics", 503, "nothing of it has ended yet"),
            ("/snapshot.json", 503, "nothing of it has ended yet"),
            ("/snapshot.json?after=0", 204, ""),
            ("/", 200, "<script src=\"/watch.js\">"),
            ("/watch.js", 200, "uPlot"),
            ("/watch.css", 200, ".uplot"),
        ] {
            let (seen, body) = get(&url, path);
            assert!(seen == status && body.contains(part), "{path}: {seen} {body}");
        }
        watch.close();
    }
}
