//! What of a run counts: requests that come in the plan's measured phase, what was in the parts and busy during it, and the
//! server time that those requests took.
//!
//! Deliberately absent: Little's law and the series, which are of the whole run.

use super::Network;
use super::job::NONE;
use super::part::Tally;
use headway_base::Nanos;
use headway_workload::Plan;
use std::ops::Range;

/// The measured phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    from: Nanos,
    end: Nanos,
}

impl Measured {
    pub(super) fn new(plan: &Plan) -> Measured {
        Measured { from: plan.measured_from, end: plan.end().max(plan.measured_from) }
    }

    /// The whole run.
    #[cfg(test)]
    pub(super) fn all() -> Measured {
        Measured { from: Nanos::ZERO, end: Nanos::MAX }
    }

    /// Whether a request that comes then counts. One may be due at the very end, as the last of evenly spaced ones is.
    #[inline]
    pub(super) fn counts(&self, came: Nanos) -> bool {
        self.from <= came && came <= self.end
    }

    /// How much of a spell lies within, in ns.
    #[inline]
    pub(super) fn of(&self, from: Nanos, to: Nanos) -> i128 {
        i128::from((to.0.min(self.end.0) - from.0.max(self.from.0)).max(0))
    }

    /// As much of it as there has been by `until`.
    pub(super) fn by(&self, until: Nanos) -> Range<Nanos> {
        self.from.min(until)..self.end.min(until)
    }
}

impl Tally {
    /// One was in it from `from` to `to`.
    #[inline]
    pub(super) fn number(&mut self, measured: Measured, from: Nanos, to: Nanos) {
        self.area += measured.of(from, to);
    }

    /// One was in it from `at` to `departs`, and served from `begins` on.
    #[inline]
    pub(super) fn served(&mut self, measured: Measured, at: Nanos, begins: Nanos, departs: Nanos) {
        if measured.from <= at && departs <= measured.end {
            self.area += i128::from(departs.0 - at.0);
            self.busy += i128::from(departs.0 - begins.0);
        } else {
            self.number(measured, at, departs);
            self.busy(measured, begins, departs, 1);
        }
    }

    /// So many servers were busy from `from` to `to`.
    #[inline]
    pub(super) fn busy(&mut self, measured: Measured, from: Nanos, to: Nanos, servers: u32) {
        self.busy += measured.of(from, to) * i128::from(servers);
    }
}

/// Server time that requests took which came in the measured phase, whenever they were served, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Spent {
    /// All of it.
    pub all: i128,
    /// On requests that were abandoned at the end.
    pub for_nobody: i128,
}

impl Spent {
    #[inline]
    pub(super) fn add(&mut self, busy: i64, for_nobody: bool) {
        self.all += i128::from(busy);
        if for_nobody {
            self.for_nobody += i128::from(busy);
        }
    }
}

impl Network {
    /// 1 if the request that the job is of counts, else 0.
    #[inline]
    pub(super) fn counted(&self, f: u32) -> u64 {
        u64::from(self.measured.counts(self.jobs.asked(f).came))
    }

    /// The server time that a job took is known, and whether anybody waited for it.
    #[inline]
    pub(super) fn is_spent(&mut self, f: u32, for_nobody: bool) {
        if self.measured.counts(self.jobs.asked(f).came) {
            self.spent.add(self.jobs.get(f).busy, for_nobody);
        }
    }

    /// Whether a job was abandoned.
    pub(super) fn is_for_nobody(&self, mut f: u32) -> bool {
        while self.jobs.get(f).parent != NONE {
            f = self.jobs.get(f).parent;
        }
        !self.jobs.get(f).root || self.jobs.asked(f).slot == NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_are_clipped_to_the_measured_phase() {
        let measured = Measured { from: Nanos(100), end: Nanos(200) };
        let spells = [(0, 50), (0, 100), (0, 150), (0, 300), (120, 130), (150, 300), (200, 300), (250, 300)];
        let within = spells.map(|(from, to)| measured.of(Nanos(from), Nanos(to)));
        assert_eq!(within, [0, 0, 50, 100, 10, 50, 0, 0]);
        assert_eq!([99, 100, 200, 201].map(|at| measured.counts(Nanos(at))), [false, true, true, false]);
        assert_eq!(
            [50, 150, 300].map(|at| measured.by(Nanos(at))),
            [Nanos(50)..Nanos(50), Nanos(100)..Nanos(150), Nanos(100)..Nanos(200)]
        );
        assert_eq!(measured.of(Nanos(0), Nanos::MAX), 100);
    }
}
