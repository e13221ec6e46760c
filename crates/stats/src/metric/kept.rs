//! What is kept of a metric that is taken from each row, of requests or of events: its values by segment of the run, those that were given
//! up apart.

use super::{EventTime, Metric, Observation, Taken};
use crate::responses::{Sample, Strata};
use headway_base::{Record, ResponseEvent};

/// The values of one metric.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    metric: Metric,
    /// From a record.
    take: fn(&Record) -> Observation,
    /// From an event, in place of records.
    event: Option<EventTime>,
    seen: Strata,
    censored: Strata,
}

impl Kept {
    /// Nothing yet; none of a metric that is taken otherwise.
    pub fn new(metric: Metric) -> Option<Kept> {
        let (take, event): (fn(&Record) -> Observation, _) = match metric.taken {
            Taken::Row(take) => (take, None),
            Taken::Event(time) => (|_| Observation::Nothing, Some(time)),
            _ => return None,
        };
        Some(Kept { metric, take, event, seen: Strata::default(), censored: Strata::default() })
    }

    /// All metrics that are taken from the row of each request.
    pub fn all() -> Vec<Kept> {
        Metric::all().filter_map(Kept::new).filter(|kept| kept.event.is_none()).collect()
    }

    /// Its metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    #[inline]
    pub fn push(&mut self, record: &Record, segment: usize) {
        match (self.take)(record) {
            Observation::Nothing => {}
            Observation::Seen(x) => self.seen.push(segment, x, record.count),
            Observation::Censored(x) => self.censored.push(segment, x, record.count),
        }
    }

    /// Takes an event of a response, or its end.
    pub fn event(&mut self, event: &ResponseEvent, segment: usize) {
        let (seen, censored) = match self.event {
            Some(EventTime::First) => (event.first(), event.without()),
            Some(EventTime::Gap) => (event.gap(), None),
            None => (None, None),
        };
        if let Some(x) = seen {
            self.seen.push(segment, x.0, 1);
        }
        if let Some(x) = censored {
            self.censored.push(segment, x.0, 1);
        }
    }

    /// Count and mean of what was observed within a segment.
    pub fn mean(&self, segment: usize) -> Option<(u64, f64)> {
        self.seen.mean(segment)
    }

    /// Laid out for quantiles, with so many complete segments.
    pub fn sample(&self, filled: usize) -> Sample {
        Sample::new(&[&self.seen], &[&self.censored], filled)
    }
}
