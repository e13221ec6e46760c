//! What is kept of a run's records in order to compare it: response times and failures by segment of the measured phase, of all
//! requests together and by label.

use super::condition::Condition;
use super::document::MOST_LABELS;
use super::numbers::Numbers;
use crate::intervals::SEGMENTS;
use crate::metric::{self, Metric, NumberOf, Taken};
use crate::phase::Measured;
use crate::responses::{Sample, Strata};
use crate::summary::{self, LoadVerdict, NumberEffect};
use headway_base::{Kind, Nanos, Outcome, Record, ResponseEvent};
use headway_redact::Cleared;
use std::collections::BTreeMap;
use std::ops::Range;

/// Takes the requests of one run, in any order.
#[derive(Debug)]
pub struct Observing {
    measured: Measured,
    all: Kept,
    labels: Vec<Cleared>,
    /// By the number of their label, those that are kept apart.
    by_label: BTreeMap<u16, Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    ok: Strata,
    failed: Strata,
    unanswered: Strata,
    /// Of those without an answer: given up at the cap when the run ended, which is no failure.
    unsent: [u64; SEGMENTS],
    /// Other metrics than response times.
    metrics: Vec<metric::Kept>,
    /// Whether response times of successes are asked for too.
    successes: bool,
}

/// What is kept of the metrics that these conditions speak of.
fn metrics(conditions: &[Condition]) -> Vec<metric::Kept> {
    let mut all: Vec<metric::Kept> = Vec::new();
    for Condition { number, .. } in conditions {
        if !all.iter().any(|kept| kept.metric() == number.metric) {
            all.extend(metric::Kept::new(number.metric));
        }
    }
    all
}

impl Observing {
    /// Nothing yet, of a run with that measured phase and these labels of steps; `wanted` are the labels to keep apart, at most
    /// [`MOST_LABELS`] of them. Where there is one label it is all there is.
    pub fn new(measured: &Range<Nanos>, labels: &[Cleared], wanted: &[Cleared]) -> Observing {
        let kept = wanted.iter().take(if labels.len() > 1 { MOST_LABELS } else { 0 });
        let place = |label: &Cleared| labels.iter().position(|own| own == label);
        let by_label = kept.filter_map(place).map(|step| (step as u16, Kept::default()));
        Observing {
            measured: Measured::new(measured),
            all: Kept::default(),
            labels: labels.to_vec(),
            by_label: by_label.collect(),
        }
    }

    /// Keeps what these conditions speak of too, where it is of other metrics than the response time.
    pub fn asked(mut self, conditions: &[Condition]) -> Observing {
        let successes = conditions.iter().any(|of| of.number.metric == Metric::RESPONSE_OK);
        for kept in self.by_label.values_mut().chain([&mut self.all]) {
            (kept.metrics, kept.successes) = (metrics(conditions), successes);
        }
        self
    }

    /// Takes a row; what is no request, was not sent or was due outside of the measured phase is left out.
    pub fn push(&mut self, record: &Record) {
        if record.kind != Kind::Request || record.is_not_sent() {
            return;
        }
        let Some(segment) = self.measured.place(record.arrived, record.intended) else { return };
        self.all.push(record, segment);
        if let Some(kept) = self.by_label.get_mut(&record.step) {
            kept.push(record, segment);
        }
    }

    /// Takes an event of a response, of a request that was due within the measured phase.
    pub fn event(&mut self, event: &ResponseEvent) {
        let Some(segment) = self.measured.place(event.arrived, event.intended) else { return };
        let of_step = self.by_label.get_mut(&event.step);
        for kept in std::iter::once(&mut self.all).chain(of_step).flat_map(|kept| &mut kept.metrics) {
            kept.event(event, segment);
        }
    }

    /// Whether any number is of the events of responses.
    pub fn asks_for_events(&self) -> bool {
        self.all.metrics.iter().any(|kept| matches!(kept.metric().taken, Taken::Event(_)))
    }

    /// The numbers, of a run whose measured phase ended at `until`.
    pub fn finish(self, until: Nanos) -> Observed {
        let filled = self.measured.filled(until);
        let seconds = (until - self.measured.start).as_secs_f64();
        let lay = |kept: &Kept| kept.lay_out(filled, seconds);
        let label = |(step, kept): (&u16, &Kept)| (self.labels[usize::from(*step)].clone(), lay(kept));
        let by_label = self.by_label.iter().map(label).collect();
        let only = if let [only] = &self.labels[..] { Some(only.clone()) } else { None };
        Observed { all: lay(&self.all), by_label, only, off: Vec::new(), is_moved: false }
    }
}

impl Kept {
    fn push(&mut self, record: &Record, segment: usize) {
        let strata = match record.outcome {
            Outcome::Ok => &mut self.ok,
            outcome if outcome.answered() => &mut self.failed,
            _ => &mut self.unanswered,
        };
        strata.push(segment, record.response().0, record.count);
        self.metrics.iter_mut().for_each(|kept| kept.push(record, segment));
        if record.outcome == Outcome::Unsent {
            self.unsent[segment] += u64::from(record.count);
        }
    }

    fn lay_out(&self, filled: usize, seconds: f64) -> Numbers {
        let mut times =
            vec![(Metric::RESPONSE, Sample::new(&[&self.ok, &self.failed], &[&self.unanswered], filled))];
        times.extend(self.metrics.iter().map(|kept| (kept.metric(), kept.sample(filled))));
        if self.successes {
            times.push((Metric::RESPONSE_OK, Sample::new(&[&self.ok], &[], filled)));
        }
        let segments = |i: usize| {
            let bad = self.failed.count(i) + self.unanswered.count(i) - self.unsent[i];
            (bad, bad + self.ok.count(i))
        };
        let failures = (0..SEGMENTS).map(segments).collect();
        let answered = (0..SEGMENTS).map(|i| self.ok.count(i) + self.failed.count(i)).collect();
        Numbers::observed(times, failures, answered, filled, seconds)
    }
}

/// The numbers of a run, of all requests together and by label.
#[derive(Debug)]
pub struct Observed {
    pub(super) all: Numbers,
    pub(super) by_label: BTreeMap<Cleared, Numbers>,
    /// The only step, whose numbers are those of all requests.
    only: Option<Cleared>,
    /// By the names of numbers of all requests: how far below and above what was measured that lies which an undisturbed generator would
    /// have measured.
    off: Vec<(NumberOf, [f64; 2])>,
    /// Whether the load is INVALID, so that numbers of its steps are off by what is not told.
    is_moved: bool,
}

impl Observed {
    /// Numbers that are known from a document, without records.
    pub fn told(all: Numbers) -> Observed {
        Observed { all, by_label: BTreeMap::new(), only: None, off: Vec::new(), is_moved: false }
    }

    /// The same of a run with a single step of that label.
    #[must_use]
    pub fn of_only(self, label: Option<Cleared>) -> Observed {
        Observed { only: label, ..self }
    }

    /// Whether that step is all there is.
    pub(super) fn is_only(&self, label: &str) -> bool {
        self.only.as_deref() == Some(label)
    }

    /// With what the generator's delays did to its numbers, where that is told. Not for numbers whose intervals hold it already.
    pub fn with_effect(mut self, verdict: &summary::Verdict) -> Observed {
        let numbers = verdict.effect.iter().flat_map(|effect| &effect.numbers);
        let off = |number: &NumberEffect| {
            let [low, high] = number.undisturbed.map(|end| end - number.measured);
            (number.number, [low.min(0.0), high.max(0.0)])
        };
        self.off = numbers.map(off).collect();
        self.is_moved = verdict.load == Some(LoadVerdict::Invalid);
        self
    }

    /// Whether the generator's delays moved a number of that step by what is not told.
    pub(super) fn is_moved(&self, label: Option<&str>) -> bool {
        self.is_moved && label.is_some_and(|label| !self.is_only(label))
    }

    /// How far below and above it that number of all requests would lie without the generator's delays, at most.
    pub(super) fn off(&self, number: NumberOf, label: Option<&str>) -> [f64; 2] {
        let of_all = label.is_none_or(|label| self.is_only(label));
        let known = self.off.iter().find(|(of, _)| *of == number && of_all);
        known.map_or_else(Default::default, |(_, off)| *off)
    }

    /// Whether any request failed.
    pub fn has_failures(&self) -> bool {
        self.all.number(NumberOf::FAILED).value.is_some_and(|share| share > 0.0)
    }

    /// Requests that are compared.
    pub fn n(&self) -> u64 {
        self.all.n()
    }

    /// The percentile curve of the response times, to draw.
    pub fn curve(&self) -> Vec<crate::summary::CurvePoint> {
        self.all.curve()
    }

    /// The numbers of that step, or of all.
    pub(super) fn of(&self, label: Option<&str>) -> Option<&Numbers> {
        match label {
            Some(label) if !self.is_only(label) => self.by_label.get(label),
            _ => Some(&self.all),
        }
    }
}
