//! The analysis of one run: batches in, a [`Summary`](crate::Summary) out (`finish`).
//!
//! Starts are merged over the sources by `started`, and once more for the streams that the load rules compare, each up to the
//! instant that all sources have passed; everything else is sums and counts, which need no order. Memory: histograms per segment,
//! rows per second (both bounded), and what waits between the watermarks.
//!
//! Deliberately absent: clocks and threads. The owner of an analysis feeds it from one thread.

mod finish;

use crate::arrivals::ArrivalsKept;
use crate::connects::ConnectsKept;
use crate::delays::{Delays, Ended, from_start};
use crate::effect::Joined;
use crate::events::EventsKept;
use crate::merge::Merge;
use crate::pauses::Pauses;
use crate::phase::Measured;
use crate::requests::Requests;
use crate::series::{Level, Recent, Series};
use crate::setup::{Facts, Foreign, Setup, Workload};
use crate::streams::{PATIENCE, Streams};
use crate::summary::{FindingId, Stall, Summary, ThresholdResult};
use crate::thresholds::measure::{MetricsView, Thresholds};
use crate::thresholds::{Known, Threshold, Vouch};
use crate::users::Loops;
use headway_base::{Batch, Kind, Nanos, Outcome, Record, ResponseEvent, Snapshot, Start, Trigger};

/// Rows of another tool after which what needs not wait any more is taken.
const ROWS: u64 = 1_024;

/// Takes the batches of one run and sums it up.
#[derive(Clone, Debug)]
pub struct Analysis {
    setup: Setup,
    measured: Measured,
    starts: Merge<Start>,
    arrivals: ArrivalsKept,
    /// Of another tool's rows.
    pauses: Option<Pauses>,
    streams: Streams,
    /// How much later than another tool's request was due one that was due before it may start.
    behind: Nanos,
    requests: Requests,
    /// Events of responses.
    events: EventsKept,
    series: Series,
    recent: Recent,
    thresholds: Thresholds,
    /// Users, sessions and requests in flight; none of another tool's rows.
    loops: Option<Loops>,
    /// Attempts to connect, where each request makes one.
    connects: Option<ConnectsKept>,
    /// What the generator's delays can have added; none where no bound on it is known.
    delays: Option<Delays>,
    /// What is known of those delays for each request.
    known: Known,
    /// What those delays did to the numbers; none where that cannot be told.
    effect: Option<Joined>,
    started_all: u64,
    ended_of_started: u64,
    /// Requests that were given up at a limit, over the whole run.
    given_up: [u64; GIVEN_UP.len()],
}

/// How requests end that are given up at a limit.
const GIVEN_UP: [Outcome; 4] =
    [Outcome::Timeout, Outcome::IdleTimeout, Outcome::ConnectTimeout, Outcome::Shed];

impl Analysis {
    /// An analysis that expects batches of `setup.sources` sources.
    pub fn new(setup: Setup) -> Analysis {
        let foreign = (setup.workload == Workload::Foreign).then(Foreign::default);
        Analysis::with(setup, foreign)
    }

    /// An analysis of another tool's rows if `foreign`.
    pub(crate) fn with(setup: Setup, foreign: Option<Foreign>) -> Analysis {
        let measured = Measured::new(&setup.measured);
        let loops = foreign.is_none().then(|| Loops::new(&setup, measured));
        let known = match setup.workload {
            Workload::Open if !setup.sharded => Known::Bound,
            Workload::Sessions | Workload::Closed if !setup.sharded => Known::FromStart,
            _ => Known::Nothing,
        };
        let known = if foreign.is_some() { Known::Nothing } else { known };
        let ours = foreign.is_none();
        let behind = foreign.as_ref().map_or(Nanos::ZERO, |foreign| foreign.behind.min(PATIENCE));
        let judged = foreign.as_ref().map(|f| f.judged.clone().unwrap_or_else(|| setup.measured.clone()));
        let pauses = judged.zip(setup.rate).filter(|(_, rate)| *rate > 0.0);
        let pauses = pauses.map(|(judged, rate)| Pauses::new(judged, rate, setup.resolution));
        let arrivals = ArrivalsKept::new(measured, &setup, foreign);
        let sources = setup.sources.max(1);
        let streams = arrivals.streams(sources);
        let requests = Requests::new(setup.labels.len(), arrivals.compares)
            .following_redirects(setup.redirected_from.is_some())
            .expecting_redirects(setup.redirects_expected.clone());
        let requests = match setup.workload {
            Workload::Sessions | Workload::FixedWork => requests.splitting(),
            _ => requests,
        };
        Analysis {
            measured,
            starts: Merge::new(sources),
            requests,
            events: EventsKept::default(),
            arrivals,
            pauses,
            streams,
            behind,
            connects: setup.connects.then(|| ConnectsKept::new(&setup, measured)),
            loops,
            delays: (known == Known::Bound).then(Delays::default),
            known,
            effect: ours.then(|| Joined::of_load(&setup)).flatten(),
            series: Series::new(setup.labels.len()),
            recent: Recent::new(),
            thresholds: Thresholds::default(),
            started_all: 0,
            ended_of_started: 0,
            given_up: [0; GIVEN_UP.len()],
            setup,
        }
    }

    /// Judges these thresholds too. Call it before the first batch: what a step's thresholds need is kept from then on.
    pub fn judging(mut self, thresholds: Vec<Threshold>) -> Analysis {
        let sessions = !matches!(self.setup.workload, Workload::Open | Workload::Foreign);
        self.thresholds = Thresholds::new(thresholds, &self.setup.labels, self.arrivals.compares, sessions);
        self
    }

    /// Takes a batch of any source; batches of one source come in their order, those of different sources in any. Starts
    /// are those of requests, also where the batch is made of a log: a session's row is none.
    pub fn batch(&mut self, batch: &Batch) {
        for record in &batch.records {
            self.take_record(record);
        }
        batch.events.iter().for_each(|event| self.event(event));
        if let Some(effect) = &mut self.effect {
            batch.hold_ups.iter().for_each(|&(from, to)| effect.stood_still(from, to));
        }
        self.take_starts(batch);
        if let Some(effect) = &mut self.effect {
            for record in batch.records.iter().filter(|record| record.kind == Kind::Request) {
                let counted = self.measured.place(record.arrived, record.intended).is_some();
                effect.ended(record, counted);
            }
        }
        if let Some(loops) = &mut self.loops {
            for &(at, change) in &batch.users {
                loops.told.change(at, i64::from(change));
                self.series.change(Level::Told, at, i64::from(change));
            }
        }
    }

    /// The generator whose records will come stood still then. Call it before the first batch of records that were stored: such batches do
    /// not tell.
    pub fn held_up(&mut self, stalls: &[Stall]) {
        let Some(effect) = &mut self.effect else { return };
        for stall in stalls {
            let from = Nanos::from_secs_f64(stall.at_s);
            effect.stood_still(from, from + Nanos::from_secs_f64(stall.length_s));
        }
    }

    /// Takes an event of a response, or the end of a request that could have had some; in any order, also apart from the batches: that of
    /// rows that were stored does not tell when they were told.
    pub fn event(&mut self, event: &ResponseEvent) {
        self.events.push(event, &self.measured);
    }

    /// Takes a start of the only source, in the order of time. Batches are for many sources, and for those who watch.
    #[inline]
    pub(crate) fn start(&mut self, start: &Start) {
        let plan = self.setup.plan.as_ref();
        self.series.started(start.started);
        if let Some(pauses) = &mut self.pauses {
            pauses.start(start, &self.arrivals);
        }
        self.arrivals.started(start, plan);
        self.streams.push(0, start, false, plan);
        self.started_all += 1;
        if self.started_all.is_multiple_of(ROWS) {
            self.streams.advance(0, start.started.0.saturating_sub(self.behind.0));
            self.streams.drain(plan);
        }
    }

    /// Takes a request of the only source.
    #[inline]
    pub(crate) fn request(&mut self, record: &Record) {
        self.series.record(record);
        self.count_request(record);
    }

    fn take_starts(&mut self, batch: &Batch) {
        let source = usize::from(batch.source);
        let Analysis { setup, starts, arrivals, streams, series, recent, loops, pauses, .. } = self;
        let plan = setup.plan.as_ref();
        let (mut delays, mut effect) = (self.delays.as_mut(), self.effect.as_mut());
        let (requests, thresholds) = (&mut self.requests, &mut self.thresholds);
        let mut started = |start: &Start, arrivals: &mut ArrivalsKept| {
            if let Some(delays) = &mut delays {
                delays.started(start, |ended, least| push_least(requests, thresholds, ended, least));
            }
            if let Some(effect) = &mut effect {
                effect.started(start);
            }
            if let Some(pauses) = pauses {
                pauses.start(start, arrivals);
            }
            arrivals.started(start, plan);
        };
        let direct = source == 0 && starts.is_trivial();
        for start in &batch.starts {
            let found = start.wait == Nanos::ZERO;
            recent.started(start.started, found.then_some((start.started - start.intended).0));
            series.started(start.started);
            if let Some(loops) = loops {
                loops.started(start.started);
            }
            // Only what the plan intended has an order by that.
            let intends = arrivals.intends(start.due);
            if direct {
                started(start, arrivals);
            } else {
                starts.push(source, *start);
            }
            if intends {
                streams.push(source, start, direct, plan);
            }
        }
        self.started_all += batch.starts.len() as u64;
        if batch.last {
            starts.advance(source, i64::MAX);
            streams.advance(source, i64::MAX);
        } else {
            starts.advance(source, batch.watermark.0);
            streams.advance(source, batch.watermark.0.saturating_sub(PATIENCE.0));
            if let Some(last) = batch.starts.iter().rfind(|start| arrivals.intends(start.due)) {
                streams.reached(source, last);
            }
        }
        starts.drain(|start| started(&start, arrivals));
        streams.drain(plan);
    }

    fn take_record(&mut self, record: &Record) {
        // Sessions are made of requests, and these of attempts: each is counted as what it is.
        match record.kind {
            Kind::Request => {}
            Kind::Session => return self.take_session(record),
            Kind::Attempt => return self.take_attempt(record),
        }
        if let Some(loops) = &mut self.loops {
            loops.request(record);
        }
        if let Some(connects) = &mut self.connects {
            connects.request(record);
        }
        self.thresholds.of_session(record);
        self.recent.record(record);
        self.series.record(record);
        self.count_request(record);
    }

    /// One time that a request was sent that was given back unread: the first, or one after it.
    fn take_attempt(&mut self, record: &Record) {
        if self.measured.place(record.arrived, record.intended).is_some() {
            let (requests, times) = &mut self.requests.given_back;
            *requests += u64::from(record.attempt == 0);
            *times += u64::from(record.attempt > 0);
        }
    }

    fn take_session(&mut self, record: &Record) {
        self.thresholds.session(record, self.measured.segment(record.arrived).is_some());
        // A round of a closed user's journey is no session that arrived.
        let arrived = self.loops.as_mut().filter(|_| record.due != Trigger::User);
        if let Some(loops) = arrived {
            loops.sessions.session(record);
            if let Some(from) = record.sent.get().or(record.started.get()) {
                self.series.stay(Level::Sessions, from, record.done, 1);
            }
        }
    }

    #[inline]
    fn count_request(&mut self, record: &Record) {
        self.ended_of_started += u64::from(record.started.is_some());
        let count = u64::from(record.count);
        if let Some(at) = GIVEN_UP.iter().position(|&outcome| outcome == record.outcome) {
            self.given_up[at] += count;
        }
        let place = self.measured.place(record.arrived, record.intended);
        if let Some(delays) = &mut self.delays {
            // What was not sent has no response time.
            delays.ended(record, place.is_some() && !record.is_not_sent());
        } else if self.known == Known::FromStart && place.is_some() && !record.is_not_sent() {
            let ended = Ended::new(record, true);
            push_least(&mut self.requests, &mut self.thresholds, &ended, from_start(record));
        }
        match place {
            Some(segment) => {
                self.requests.push(record, segment);
                self.thresholds.push(record, segment);
            }
            None if record.arrived < self.measured.start => self.requests.warmup += count,
            None => self.requests.after += count,
        }
    }

    /// How the run stands; cheap enough for once a second.
    pub fn snapshot(&mut self, now: Nanos) -> Snapshot {
        let reported = self.starts.watermark().clamp(i64::MIN / 2, i64::MAX / 2);
        self.recent.snapshot(now, Nanos(reported))
    }

    /// The summary of what has ended so far, of a run that goes on: up to the instant which every source has passed, or `now` if that
    /// is earlier. Nothing in it says that the run was cut short, and no request that is still under way counts as lost. It is laid out as
    /// at the end, which takes milliseconds: meant for a copy of the analysis, on a thread that nobody waits for.
    pub fn so_far(self, now: Nanos, facts: Facts) -> Summary {
        let reported = Nanos(self.starts.watermark()).min(now).max(Nanos::ZERO);
        let mut summary = self.finish(Facts { interrupted_at: Some(reported), ..facts });
        (summary.measured.interrupted, summary.measured.aborted) = (false, false);
        let of_an_end = |id: &FindingId| {
            matches!(id, FindingId::Interrupted | FindingId::Aborted | FindingId::Unaccounted)
        };
        summary.verdict.findings.retain(|finding| !of_an_end(&finding.id));
        summary
    }

    /// The first threshold that may end the run and is crossed at `now` by the requests that have ended so far, judged
    /// as at the end. From then on it counts as what ended the run, if the run turns out to have been cut short. Lays
    /// out the histograms anew where there is such a threshold: meant for once a second.
    pub fn crossed(&mut self, now: Nanos) -> Option<ThresholdResult> {
        if now >= self.measured.end {
            return None;
        }
        // No interval decides here, and none is computed: they cost the most.
        let sight = MetricsView::new(&self.requests, &self.arrivals, 0, 0.0).with_ends(
            self.known,
            Vouch::default(),
            self.setup.tolerances.unsent,
        );
        let sight = sight.with_events(&self.events);
        self.thresholds.crossed(&sight, now, now - self.measured.start)
    }
}

/// A counted request's least response time goes to all that is kept of it.
fn push_least(requests: &mut Requests, thresholds: &mut Thresholds, ended: &Ended, least: Nanos) {
    if ended.counted {
        requests.push_least(ended, least);
        thresholds.push_least(ended, least);
    }
}
