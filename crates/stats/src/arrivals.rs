//! What is kept of every arrival that started, from the merged stream of `started`.
//!
//! Headways are between neighbours of the judged stream whose intended times both lie in the measured phase, so one that
//! straddles the end of warm-up is left out. The judged stream is that of all requests; where sessions arrive, of their
//! first ones, which alone follow the plan. Lateness is that of all requests, beyond what is forgiven. Deliberately absent: the streams that
//! the load rules compare (`streams`), verdicts (`rules`, `pattern`), and the numbers of the document, which `arrivals_summary` makes of what is
//! kept here.

use crate::cells::{Fine, Labelled};
use crate::dither::Dither;
use crate::intervals::SEGMENTS;
use crate::moments::{Gathered, Lag1};
use crate::phase::{Measured, Ranges};
use crate::scales::Scales;
use crate::setup::{Foreign, PlanLaw, Setup, Workload};
use crate::streams::Streams;
use crate::windows::{Expected, Windows, lengths};
use headway_base::{Lateness, Nanos, Start, Trigger};

/// One unit of the rescaled-gap histogram is this share of a mean headway: cells are then at most 1/1000 of a gap
/// wide, as those of the plain one.
pub(crate) const RESCALED_UNIT: f64 = 1.0 / (1u64 << 24) as f64;

#[derive(Clone, Debug)]
pub(crate) struct ArrivalsKept {
    pub measured: Measured,
    /// Whether intended times are known apart from the starts: everywhere but in most other tools' logs.
    pub compares: bool,
    /// Whether only what is due by the plan is judged: sessions that arrive, and not the requests within.
    only_arrivals: bool,
    /// Whether there is a stream of intended times that follows a plan, and not the answers.
    pub planned: bool,
    /// Step of the grid that the stamps lie on.
    pub grid: Nanos,
    /// The neighbour before in the stream of starts: when it started, and whether it is in the measured phase.
    before: Option<(i64, bool)>,
    pub segments: [StartSegment; SEGMENTS],
    pub gaps: Fine,
    pub min: u64,
    pub max: u64,
    pub lag1: Lag1,
    pub rescaled: Option<Rescaled>,
    /// Of another tool's log with a grid.
    pub dither: Option<Dither>,
    pub windows: Vec<Windows>,
    /// Counts for the pattern.
    pub scales: Scales,
    /// The longest headways, the longest first.
    pub longest: [LongGap; LONGEST],
    pub labels: Vec<LabelGaps>,
    pub lag: Fine,
    /// The longest lateness that is forgiven.
    pub lateness: Lateness,
    /// When requests were later.
    pub late: Ranges,
    pub waited: Ranges,
    pub wait_max: i64,
    /// Starts that came in the wrong order, which a source never produces.
    pub disordered: u64,
}

/// One twentieth of the measured phase, by `intended` of the (later) arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartSegment {
    /// Starts of the judged stream.
    pub started: u64,
    /// Starts of all requests.
    pub all: u64,
    /// Of those, the ones that were later than is forgiven,
    pub late: u64,
    /// the ones which had waited for a connection, and those of them that were late as well.
    waited: u64,
    late_after_wait: u64,
    /// Of those that waited, the ones that waited for longer than 1 ms.
    pub capped: u64,
    pub gaps: Gathered,
    /// The same on the scale of the plan's rate, where it varies.
    pub rescaled: Gathered,
    /// Of the headways on the scale of the plan's rate.
    pub lag1: Lag1,
}

impl StartSegment {
    /// Requests that were not late, and had waited for a connection.
    pub fn waited(&self) -> u64 {
        self.waited - self.late_after_wait
    }

    /// Requests that found a connection, or were late.
    pub fn found(&self) -> u64 {
        self.all - self.waited()
    }
}

/// A wait at the connection cap that is worth telling is longer.
const CAPPED: Nanos = Nanos::from_millis(1);

/// So many of the longest headways are kept.
pub(crate) const LONGEST: usize = 3;

/// A headway and its place in the time of the counts, all in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LongGap {
    /// On the scale of the plan's rate.
    pub length: i64,
    pub counted: [i64; 2],
    pub from: i64,
    pub to: i64,
}

/// Headways on the scale on which the plan's rate is 1; kept only where the rate varies over the measured phase, else
/// the plain ones differ by a factor.
#[derive(Clone, Debug)]
pub(crate) struct Rescaled {
    before: f64,
    /// The cumulative rate at the start of the measured phase, and nanoseconds of it per expected arrival.
    zero: f64,
    pub unit: f64,
    pub gaps: Fine,
    pub moments: Gathered,
}

#[derive(Clone, Debug)]
pub(crate) struct LabelGaps {
    before: Option<i64>,
    pub moments: Gathered,
    pub lag1: Lag1,
    pub cells: Labelled,
}

impl LabelGaps {
    fn new(labels: usize) -> LabelGaps {
        LabelGaps {
            before: None,
            moments: Gathered::default(),
            lag1: Lag1::default(),
            cells: Labelled::new(labels),
        }
    }

    fn push(&mut self, at: i64) {
        if let Some(before) = self.before {
            let gap = (at - before).max(0) as u64;
            self.moments.push(gap as f64);
            self.lag1.push(gap as f64);
            self.cells.push(gap, 1);
        }
        self.before = Some(at);
    }
}

impl ArrivalsKept {
    pub fn new(measured: Measured, setup: &Setup, foreign: Option<Foreign>) -> ArrivalsKept {
        let plan = setup.plan.as_ref();
        let rate = plan.and_then(|p| measured.mean_rate(&p.profile)).or(setup.rate);
        let judged = foreign.as_ref().and_then(|f| f.judged.clone()).unwrap_or(measured.start..measured.end);
        let lengths = lengths(setup.resolution, foreign.is_some());
        let windows: Vec<_> = lengths.iter().map(|&w| Windows::new(w, judged.start, judged.end)).collect();
        let varies = plan.is_some_and(|p| !measured.has_constant_rate(&p.profile));
        let labels = setup.labels.len();
        ArrivalsKept {
            measured,
            compares: foreign.as_ref().is_none_or(|f| f.intended),
            only_arrivals: setup.workload == Workload::Sessions,
            planned: !matches!(setup.workload, Workload::Closed | Workload::FixedWork | Workload::Connecting),
            grid: setup.resolution.max(Nanos(1)),
            before: None,
            segments: [StartSegment::default(); SEGMENTS],
            gaps: Fine::new(),
            min: u64::MAX,
            max: 0,
            lag1: Lag1::default(),
            rescaled: plan.filter(|_| varies).map(|p| Rescaled {
                before: 0.0,
                zero: p.profile.cumulative(measured.start),
                unit: rate.map_or(1.0, |rate| 1e9 / rate),
                gaps: Fine::new(),
                moments: Gathered::default(),
            }),
            dither: foreign.and_then(|f| Dither::new(setup.resolution, f.dither_seed)),
            windows,
            // Where the rate varies, from the start of the phase: the cumulative rate has no other zero.
            scales: match varies {
                true => Scales::new(measured.start, measured.end, Nanos(1), rate),
                false => Scales::new(judged.start, judged.end, setup.resolution, rate),
            },
            longest: [LongGap::default(); LONGEST],
            labels: if labels > 1 { vec![LabelGaps::new(labels); labels] } else { Vec::new() },
            lag: Fine::new(),
            lateness: setup.lateness(),
            late: Ranges::default(),
            waited: Ranges::default(),
            wait_max: 0,
            disordered: 0,
        }
    }

    /// The streams that are compared with each other, of that number of sources.
    pub fn streams(&self, sources: usize) -> Streams {
        let grids = self.windows.iter().map(|windows| windows.grid).collect();
        Streams::new(self.measured, sources, grids, (self.compares, self.rescaled.is_some()), self.lateness)
    }

    /// The law by which windows expect their counts.
    pub fn expected<'a>(&self, plan: Option<&'a PlanLaw>) -> Expected<'a> {
        match plan {
            Some(plan) if self.rescaled.is_some() => Expected::Varying(&plan.profile),
            _ => Expected::Constant,
        }
    }

    /// Whether a start belongs to the judged stream.
    #[inline]
    pub fn judges(&self, due: Trigger) -> bool {
        !self.only_arrivals || due == Trigger::Arrival
    }

    /// Whether it has its place among the instants that the plan intended.
    #[inline]
    pub fn intends(&self, due: Trigger) -> bool {
        self.planned && self.judges(due)
    }

    /// A start, in the order of `started`.
    #[inline]
    pub fn started(&mut self, start: &Start, plan: Option<&PlanLaw>) {
        let mut at = start.started.0;
        let segment = self.measured.place(start.arrived, start.intended);
        if let Some(segment) = segment {
            self.count(start, segment);
        }
        if !self.judges(start.due) {
            return;
        }
        let before = self.before.replace((at, segment.is_some()));
        let follows = segment.filter(|_| before.is_some_and(|b| b.1));
        let mut length = None;
        if let (Some(segment), Some((before, _))) = (follows, before) {
            let gap = at - before;
            self.disordered += u64::from(gap < 0);
            let gap = gap.max(0) as u64;
            self.segments[segment].gaps.push(gap as f64);
            self.gaps.push(gap, 1);
            self.lag1.push(gap as f64);
            self.min = self.min.min(gap);
            self.max = self.max.max(gap);
            length = Some((segment, before, gap as f64));
        } else {
            self.lag1.interrupt();
            if let Some(dither) = &mut self.dither {
                dither.interrupt();
            }
        }
        if segment.is_none() {
            return;
        }
        if let Some(dither) = &mut self.dither {
            dither.push(at);
        }
        let expected = self.expected(plan);
        let mut counted = at;
        if let Some((rescaled, plan)) = self.rescaled.as_mut().zip(plan) {
            let cumulative = plan.profile.cumulative(start.started);
            if let Some((segment, _, gap)) = &mut length {
                let units = (cumulative - rescaled.before).max(0.0);
                rescaled.gaps.push((units / RESCALED_UNIT) as u64, 1);
                rescaled.moments.push(units);
                self.segments[*segment].rescaled.push(units);
                *gap = units * rescaled.unit;
            }
            counted = self.measured.start.0 + ((cumulative - rescaled.zero) * rescaled.unit) as i64;
            rescaled.before = cumulative;
            // A start inside a pause belongs to its beginning: the last instant at which one could be due. (The
            // cumulative rate stands still in a pause, so for the gap there is nothing to do.)
            if let Some(pause) = plan.profile.pause_around(start.started) {
                self.measured.in_pause += 1;
                at = pause.0 - 1;
            }
        } else {
            self.scales.seconds.push(at);
        }
        if let Some((segment, before, gap)) = length {
            self.segments[segment].lag1.push(gap);
            if gap as i64 > self.longest[LONGEST - 1].length {
                let length = gap as i64;
                let gap = LongGap {
                    length,
                    counted: [counted - length, counted],
                    from: before,
                    to: start.started.0,
                };
                let place = self.longest.partition_point(|g| g.length >= length);
                self.longest[place..].rotate_right(1);
                self.longest[place] = gap;
            }
        }
        self.scales.push(counted);
        for windows in &mut self.windows {
            windows.started(at, &expected);
        }
        if let Some(label) = self.labels.get_mut(usize::from(start.step)) {
            label.push(start.started.0);
        }
    }

    fn count(&mut self, start: &Start, segment: usize) {
        let judged = self.judges(start.due);
        let kept = &mut self.segments[segment];
        kept.all += 1;
        kept.started += u64::from(judged);
        if !self.compares {
            return;
        }
        let (due, started, wait) = (start.intended.0, start.started.0, start.wait.0);
        let lag = (started - due - wait).max(0);
        if wait > 0 {
            kept.waited += 1;
            kept.capped += u64::from(wait > CAPPED.0);
            self.wait_max = self.wait_max.max(wait);
            self.waited.push(due, started);
        }
        if lag > self.lateness.length().0 {
            kept.late += 1;
            kept.late_after_wait += u64::from(wait > 0);
            self.late.push(due, started);
        } else if wait > 0 {
            return;
        }
        self.lag.push(lag as u64, 1);
    }

    /// To be called after the last arrival; `until` is when the measured phase ended.
    pub fn settle(&mut self, until: Nanos, plan: Option<&PlanLaw>) {
        if let Some(dither) = &mut self.dither {
            dither.settle();
        }
        let counted = match self.rescaled.as_ref().zip(plan) {
            Some((r, plan)) => {
                self.measured.start.0 + ((plan.profile.cumulative(until) - r.zero) * r.unit) as i64
            }
            None => until.0,
        };
        self.scales.settle(counted);
    }

    /// The twentieth of the measured phase that an instant lies in.
    pub fn segment(&self, at: Nanos) -> Option<usize> {
        self.measured.segment(at)
    }

    /// Starts that lay inside a pause of the plan.
    pub fn in_pause(&self) -> u64 {
        self.measured.in_pause
    }
}

impl ArrivalsKept {
    /// Arrivals that the plan leads one to expect over the measured phase.
    pub fn expected_count(&self, plan: &PlanLaw) -> f64 {
        plan.profile.cumulative(self.measured.end) - plan.profile.cumulative(self.measured.start)
    }

    /// The plan's mean rate over the measured phase.
    pub fn mean_rate(&self, plan: &PlanLaw) -> Option<f64> {
        self.measured.mean_rate(&plan.profile)
    }
}
