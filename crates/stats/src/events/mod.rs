//! Numbers of the events of responses: how long after a request was due its first one came, and the gaps between them.
//!
//! Each is taken from one row alone ([`ResponseEvent::first`], [`ResponseEvent::gap`]), and counted to the segment in which its request was due,
//! so that rows may come in any order and from any number of sources: a log read again gives the same numbers. A request that ended
//! without an event had waited that long for its first one, and is censored as one without an answer is. A gap that was never closed
//! is none; its request has failed, which the outcomes say. Events that one read brought have one stamp: between them is no gap.
//!
//! Deliberately absent: anything for a run without events, which allocates nothing here; records.

use crate::metric::EventTime;
use crate::phase::Measured;
use crate::responses::{Sample, Strata};
use crate::summary::{EventNumbers, Events, NotComputed};
use headway_base::ResponseEvent;
use headway_redact::Cleared;
use std::collections::BTreeMap;

/// What is kept of the events of one label.
#[derive(Clone, Debug, Default)]
struct Kept {
    first: Strata,
    /// Of requests that ended without one.
    given_up: Strata,
    gaps: Strata,
    events: u64,
    coalesced: u64,
    bytes: u64,
    requests: u64,
}

/// What is kept of the events of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventsKept {
    /// By step; empty before the first event.
    steps: Vec<Kept>,
}

impl EventsKept {
    /// Takes an event, or the end of a request that could have had some; those of requests outside of the measured phase are left out.
    pub fn push(&mut self, event: &ResponseEvent, measured: &Measured) {
        let Some(segment) = measured.place(event.arrived, event.intended) else { return };
        let step = usize::from(event.step);
        if self.steps.len() <= step {
            self.steps.resize_with(step + 1, Kept::default);
        }
        let kept = &mut self.steps[step];
        if let Some(first) = event.first() {
            kept.first.push(segment, first.0, 1);
        } else if let Some(gap) = event.gap() {
            kept.gaps.push(segment, gap.0, 1);
        } else if event.is_coalesced() {
            kept.coalesced += 1;
        } else {
            kept.requests += 1;
            if let Some(waited) = event.without() {
                kept.given_up.push(segment, waited.0, 1);
            }
            return;
        }
        kept.events += 1;
        kept.bytes += event.bytes;
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn of(&self, step: Option<usize>) -> impl Iterator<Item = &Kept> + Clone {
        self.steps
            .iter()
            .enumerate()
            .filter(move |(at, _)| step.is_none_or(|step| step == *at))
            .map(|(_, kept)| kept)
    }

    /// That time, of that step or of all; nanoseconds, of `filled` complete segments.
    pub fn sample(&self, time: EventTime, step: Option<usize>, filled: usize) -> Sample {
        match time {
            EventTime::First => self.first(step, filled),
            EventTime::Gap => self.gap(step, filled),
        }
    }

    /// From when a request was due to its first event: of that step, or of all; nanoseconds, of `filled` complete segments.
    fn first(&self, step: Option<usize>, filled: usize) -> Sample {
        let observed: Vec<&Strata> = self.of(step).map(|kept| &kept.first).collect();
        let given_up: Vec<&Strata> = self.of(step).map(|kept| &kept.given_up).collect();
        Sample::new(&observed, &given_up, filled)
    }

    /// From an event to the next of the same request: of that step, or of all; nanoseconds, of `filled` complete segments.
    fn gap(&self, step: Option<usize>, filled: usize) -> Sample {
        let observed: Vec<&Strata> = self.of(step).map(|kept| &kept.gaps).collect();
        Sample::new(&observed, &[], filled)
    }

    fn numbers(
        &self,
        step: Option<usize>,
        filled: usize,
        path: &str,
        missing: &mut NotComputed,
    ) -> EventNumbers {
        let sum = |of: fn(&Kept) -> u64| self.of(step).map(of).sum();
        EventNumbers {
            requests: sum(|kept| kept.requests),
            n: sum(|kept| kept.events),
            coalesced: sum(|kept| kept.coalesced),
            bytes: sum(|kept| kept.bytes),
            first: self.first(step, filled).spread(1e9, &format!("{path}.first"), missing),
            gap: self.gap(step, filled).spread(1e9, &format!("{path}.gap"), missing),
        }
    }

    /// The block of the document; none where there was no event. What cannot be computed is noted under `events`.
    pub fn summary(&self, labels: &[Cleared], filled: usize, missing: &mut NotComputed) -> Option<Events> {
        if self.is_empty() {
            return None;
        }
        let all = self.numbers(None, filled, "events", missing);
        let mut by_label = BTreeMap::new();
        for (step, kept) in self.steps.iter().enumerate().filter(|(_, kept)| kept.requests + kept.events > 0)
        {
            let label = labels.get(step).cloned().unwrap_or_else(|| Cleared::from(step));
            // The only one has the numbers of all.
            let alone = kept.requests == all.requests && kept.events == all.n;
            let numbers = match alone {
                true => all.clone(),
                false => self.numbers(Some(step), filled, &format!("events.by_label.{label}"), missing),
            };
            by_label.insert(label, numbers);
        }
        Some(Events { all, by_label })
    }
}

#[cfg(test)]
mod tests;
