//! A run and what it left behind, checked for what holds of every run.

use headway_base::sink::Kept;
use headway_base::{
    Answer, Kind, KnownFailure, Nanos, Outcome, Phase, Profile, Rate, Record, RecordSink, ResponseEvent,
    Start,
};
use headway_live::names::Refresh;
use headway_live::tls::TlsSetup;
use headway_live::wait::{Held, Settings};
use headway_live::{Address, Clock, Config, Control, Origin, Protocols, Requests, RunReport, Via};
use headway_workload::connect::Proxy;
use headway_workload::content::{Body, Names, Script, Step, StreamKind};
use headway_workload::plan::Group;
use headway_workload::target::{HttpVersion, Scheme};
use headway_workload::{Limits, Plan, Process, Request, Shard, Target};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Far beyond what any of these tests takes: who needs this long hangs.
pub const HANG: Duration = Duration::from_secs(20);

/// Runs the body, and fails if it hangs.
pub fn guarded<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = channel();
    let thread = thread::spawn(move || {
        let _ = tell.send(body());
    });
    match told.recv_timeout(HANG) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("hangs"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => unreachable!("it tells before it ends"),
        },
    }
}

/// What happens after each start and each record: who watches may stop the run.
pub type Watch = Arc<dyn Fn(&Kept) + Send + Sync>;

struct Shared(Arc<Mutex<Kept>>, Option<Watch>);

impl Shared {
    fn tell(&self, what: impl FnOnce(&mut Kept)) {
        let mut kept = self.0.lock().unwrap();
        what(&mut kept);
        if let Some(watch) = &self.1 {
            watch(&kept);
        }
    }
}

impl RecordSink for Shared {
    fn start(&mut self, start: Start) {
        self.tell(|kept| kept.start(start));
    }
    fn record(&mut self, record: Record) {
        self.tell(|kept| kept.record(record));
    }
    fn event(&mut self, event: ResponseEvent) {
        self.tell(|kept| kept.event(event));
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, now: Nanos) {
        self.tell(|kept| kept.finish(now));
    }
}

/// A request without headers.
pub fn request(method: &str, path: &str, body: impl Into<Vec<u8>>) -> Request {
    Request { method: method.to_owned(), body: body.into(), ..Request::get(path) }
}

/// A short run: evenly spaced arrivals, 30 in 0.3 s unless said otherwise.
pub struct Load {
    pub rate: f64,
    pub length: Nanos,
    pub shard: Shard,
    pub threads: u32,
    pub limits: Limits,
    pub request: Request,
    /// Whether responses are looked at in pieces, and how long one may stand still.
    pub stream: Option<StreamKind>,
    pub idle: Option<Nanos>,
    /// Plain bytes to send in place of the request, and the scheme of their target.
    pub bytes: Option<(Scheme, Vec<u8>)>,
    pub one_way: bool,
    pub answer_limits: headway_wire::Limits,
    pub tls: Option<TlsSetup>,
    /// Goes through it, in that version of HTTP; the address is the proxy's then.
    pub proxy: Option<(Proxy, HttpVersion)>,
    /// Further addresses that connections go to in turn, and how their name is read again.
    pub others: Vec<Address>,
    pub refresh: Option<Refresh>,
    pub protocols: Protocols,
    pub spread: bool,
    pub ahead: Nanos,
    pub control: Control,
    pub watch: Option<Watch>,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            rate: 100.0,
            length: Nanos::from_millis(300),
            shard: Shard::WHOLE,
            threads: 1,
            limits: Limits {
                connections: 50,
                max_wait: Nanos::from_secs(10),
                timeout: Nanos::from_secs(10),
                connect_timeout: Nanos::from_secs(10),
                drain: Nanos::from_secs(10),
            },
            request: Request::get("/"),
            stream: None,
            idle: None,
            bytes: None,
            one_way: false,
            answer_limits: headway_wire::Limits::DEFAULT,
            tls: None,
            proxy: None,
            others: Vec::new(),
            refresh: None,
            protocols: Protocols::new(Scheme::Http, HttpVersion::Any, Some(100), None),
            spread: false,
            ahead: Nanos::from_millis(5),
            control: Control::default(),
            watch: None,
        }
    }
}

impl Load {
    /// So many arrivals, ten milliseconds apart.
    pub fn of(arrivals: u32) -> Load {
        Load { length: Nanos::from_millis(i64::from(arrivals) * 10), ..Load::default() }
    }

    pub fn connections(mut self, connections: u32) -> Load {
        self.limits.connections = connections;
        self
    }

    /// Patience with answers, milliseconds.
    pub fn patience(mut self, ms: i64) -> Load {
        self.limits.timeout = Nanos::from_millis(ms);
        self
    }

    /// Patience with connections until they can carry a request, milliseconds.
    pub fn patience_to_connect(mut self, ms: i64) -> Load {
        self.limits.connect_timeout = Nanos::from_millis(ms);
        self
    }

    /// Sends these bytes instead, over TCP or as datagrams.
    pub fn of_bytes(mut self, scheme: Scheme, bytes: &[u8], answer: Option<&str>) -> Load {
        let ends = answer.map(|answer| Answer::parse(answer).unwrap());
        self.protocols = Protocols::new(scheme, HttpVersion::Any, None, ends);
        self.one_way = answer == Some("none");
        self.bytes = Some((scheme, bytes.to_vec()));
        self
    }

    pub fn plan(&self) -> Plan {
        // A pause at the end costs no time, and leaves those that come last all the patience that there is.
        let half_a_gap = Nanos::from_secs_f64(0.5 / self.rate);
        let phases = [
            Phase::hold(self.length + half_a_gap, Rate(self.rate)),
            Phase::hold(Nanos::from_secs(5), Rate(0.0)),
        ];
        let profile = Profile::new(&phases);
        let end = profile.end();
        let plan = Plan::of(7, Group::open(Process::Constant, profile), Nanos::ZERO, end);
        Plan { shard: self.shard, ..plan }
    }

    /// Plays it, unchecked.
    pub fn play(self, address: &Address) -> Ran {
        let plan = self.plan();
        let one_way = self.one_way;
        let (scheme, script) = match &self.bytes {
            None if self.tls.is_some() => (Scheme::Https, Script::single(&self.request)),
            None => (Scheme::Http, Script::single(&self.request)),
            Some((scheme, bytes)) => {
                let step = Step::bytes("send", Body::raw(bytes));
                (*scheme, Script::new(vec![step], Vec::new(), Names::default(), &[1]))
            }
        };
        let script =
            self.stream.map_or(script.clone(), |kind| script.streaming(kind)).with_idle_timeout(self.idle);
        let target = Target::parse(&format!("{}://localhost:1", scheme.name())).unwrap();
        let mut requests = Requests::new(&target, Arc::new(script)).unwrap();
        let via = self.proxy.map(|(proxy, http)| {
            let via = Via::of(&proxy, &target, http).unwrap();
            if via == Via::Requests {
                requests = requests.clone().forwarded(0, &target, &proxy).unwrap();
            }
            via
        });
        let config = Config {
            plan: plan.clone(),
            origins: vec![Origin {
                name: "target".to_owned(),
                addresses: [address.clone()].into_iter().chain(self.others).collect(),
                refresh: self.refresh,
                via,
                tls: self.tls,
                protocols: self.protocols,
            }],
            sources: Vec::new(),
            spread: self.spread,
            requests,
            answer_limits: self.answer_limits,
            limits: self.limits,
            threads: self.threads,
            clock: Clock::starting_in(self.ahead),
            joins: false,
            control: self.control,
            wait: Held::begin(&Settings::sleeping()).unwrap(),
        };
        let sinks = Mutex::new(Vec::new());
        let report = headway_live::run(&config, |_| {
            let kept = Arc::new(Mutex::new(Kept::default()));
            sinks.lock().unwrap().push(kept.clone());
            Shared(kept, self.watch.clone())
        });
        let mut ran = Ran {
            plan,
            records: Vec::new(),
            attempts: Vec::new(),
            events: Vec::new(),
            starts: Vec::new(),
            report: report.unwrap(),
            clock: config.clock,
            one_way,
        };
        for kept in sinks.into_inner().unwrap() {
            let kept = kept.lock().unwrap();
            assert!(kept.finished.is_some(), "a worker that does not finish its sink");
            assert!(kept.starts.is_sorted_by_key(|s| (s.intended, s.started)), "starts in order");
            assert!(kept.records.is_sorted_by_key(|r| r.done), "records in order of completion");
            ran.starts.extend_from_slice(&kept.starts);
            ran.events.extend_from_slice(&kept.events);
            let (requests, attempts): (Vec<Record>, _) =
                kept.records.iter().partition(|r| r.kind != Kind::Attempt);
            ran.records.extend(requests);
            ran.attempts.extend(attempts);
        }
        ran.records.sort_by_key(|r| r.k);
        ran
    }

    /// Plays it to its end: every arrival of the plan ends as one record.
    pub fn run(self, address: &Address) -> Ran {
        let ran = self.play(address);
        ran.check();
        let planned: Vec<u64> = ran.plan.arrivals().map(|a| a.k).collect();
        assert_eq!(ran.keys(), planned);
        ran
    }
}

/// What a run left behind.
pub struct Ran {
    pub plan: Plan,
    /// By arrival.
    pub records: Vec<Record>,
    /// Each time that one was sent that was given back.
    pub attempts: Vec<Record>,
    /// Of responses, in the order in which each worker told them.
    pub events: Vec<ResponseEvent>,
    pub starts: Vec<Start>,
    pub report: RunReport,
    pub clock: Clock,
    /// Whether nothing was to come back.
    pub one_way: bool,
}

impl Ran {
    /// The arrivals that have a record, as often as they have one.
    pub fn keys(&self) -> Vec<u64> {
        self.records.iter().flat_map(|r| r.k..r.k + u64::from(r.count)).collect()
    }

    /// What holds of every run, also one that was stopped.
    pub fn check(&self) {
        assert!(self.keys().is_sorted_by(|a, b| a < b), "an arrival with two records");
        let started = self.records.iter().filter(|r| r.started.is_some()).count();
        assert_eq!(self.starts.len(), started, "every start was told, once");
        for r in &self.records {
            let stamps = [Some(r.intended), r.started.get(), r.sent.get(), r.first_byte.get(), Some(r.done)];
            assert!(stamps.into_iter().flatten().is_sorted(), "stamps out of order: {r:?}");
            assert!(!r.sent.is_some() || r.started.is_some(), "sent, never started: {r:?}");
            let one_way = r.outcome == Outcome::Ok && self.one_way;
            assert!(
                !r.outcome.answered() || one_way || (r.first_byte.is_some() && r.bytes_received > 0),
                "{r:?}"
            );
            assert!(!r.reused || !r.connect.is_some(), "a used connection needs no opening: {r:?}");
            assert_eq!(r.bytes_sent > 0, r.sent.is_some(), "{r:?}");
            // Codes of DNS lie below those of HTTP.
            assert!(r.status < 16 || r.status >= 100, "{r:?}");
        }
    }

    /// How many ended how.
    pub fn outcomes(&self) -> BTreeMap<Outcome, usize> {
        let mut outcomes = BTreeMap::new();
        for r in &self.records {
            *outcomes.entry(r.outcome).or_insert(0) += r.count as usize;
        }
        outcomes
    }

    /// Fails unless all ended like that.
    pub fn all(self, outcome: Outcome) -> Ran {
        let expected = BTreeMap::from([(outcome, self.records.iter().map(|r| r.count as usize).sum())]);
        let other = self.records.iter().find(|r| r.outcome != outcome);
        assert_eq!(self.outcomes(), expected, "{} {other:?}", self.messages());
        assert!(!self.records.is_empty());
        self
    }

    /// The kinds of failures, with counts, of all workers.
    pub fn kinds(&self) -> Vec<(Option<KnownFailure>, u64)> {
        let mut kinds = BTreeMap::new();
        let rows = self.report.workers.iter().flat_map(|w| w.reasons.rows()).flat_map(|(_, rows)| rows);
        rows.for_each(|row| *kinds.entry(row.kind).or_insert(0) += row.n);
        kinds.into_iter().collect()
    }

    /// The messages behind the failures, of all workers.
    pub fn messages(&self) -> String {
        format!("{:?}", self.report.workers.iter().map(|w| &w.reasons).collect::<Vec<_>>())
    }

    /// Fails unless a message says that.
    pub fn says(self, text: &str) -> Ran {
        let messages = self.messages();
        assert!(messages.to_lowercase().contains(&text.to_lowercase()), "{text:?} is not in {messages}");
        self
    }
}
