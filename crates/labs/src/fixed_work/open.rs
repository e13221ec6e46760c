//! The open test: users arrive at a rate that rises over 30 s and is held for 120 s, whatever the system does.
//!
//! Counted are the requests of users that arrive in the hold. The numbers that are compared are those of requests answered
//! within the hold, as a tool has them that stops there; beside them stand those of all, each session to its end.

use super::system::{REQUESTS, Times, session, system};
use crate::bounds;
use headway_base::{Kind, Nanos, Phase, Profile, Rate, Record, RecordSink, Start};
use headway_sim::Generator;
use headway_workload::model::Station;
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::{Plan, Process, Shard};
use std::sync::Arc;

const RAMP: Nanos = Nanos::from_secs(30);
const HOLD_S: f64 = 120.0;
const HALF: Nanos = Nanos::from_secs(90);
const END: Nanos = Nanos::from_secs(150);

/// What one replication gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Completed/s within the hold of those counted, sent/s within the hold of all, sent/requested, mean, p50, p99, p99.99 of
    /// those answered within the hold, users active at its end.
    pub numbers: [f64; 8],
    /// Mean and p99 of all, however late the answer.
    pub to_the_end: [f64; 2],
    /// How many users more were active at the end of the hold than at its middle, per second.
    pub growth: f64,
}

impl Open {
    /// 99th percentile in milliseconds.
    pub fn p99(&self) -> f64 {
        self.numbers[5]
    }

    /// 99.99th percentile.
    pub fn p9999(&self) -> f64 {
        self.numbers[6]
    }
}

/// Plays that rate of users, per second, once, against those workers.
///
/// # Errors
/// None: the system is sound.
pub fn play(process: Process, rate: f64, station: Station, seed: u64) -> anyhow::Result<Open> {
    let rate = Rate(rate);
    let profile =
        Arc::new(Profile::new(&[Phase::ramp(RAMP, Rate(0.0), rate), Phase::hold(END - RAMP, rate)]));
    let group = Group::of(Source::Arrivals { process, profile }, session()?, Connections::Shared);
    let plan = Plan::of(seed, group, RAMP, END);
    let mut hold = Hold::default();
    let target = system(&plan, None, station)?;
    headway_sim::play(&plan, Shard::WHOLE, bounds::NONE, target, Generator::default(), &mut hold);
    Ok(hold.numbers())
}

/// The sink.
#[derive(Default)]
struct Hold {
    /// Of requests answered within the hold, and of those answered later.
    responses: Vec<Nanos>,
    late: Vec<Nanos>,
    users: u64,
    sent: u64,
    at_half: i64,
    at_end: i64,
}

impl RecordSink for Hold {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        let counted = RAMP <= record.arrived && record.arrived < END;
        match record.kind {
            Kind::Session => self.users += u64::from(RAMP <= record.intended && record.intended < END),
            _ => {
                let Some(sent) = record.sent.get() else { return };
                self.sent += u64::from(RAMP <= sent && sent < END);
                if counted {
                    let of = if record.done < END { &mut self.responses } else { &mut self.late };
                    of.push(record.done - sent);
                }
            }
        }
    }
    fn users(&mut self, at: Nanos, change: i32) {
        if at < HALF {
            self.at_half += i64::from(change);
        }
        if at < END {
            self.at_end += i64::from(change);
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

impl Hold {
    fn numbers(self) -> Open {
        let all = Times::new([self.responses.as_slice(), &self.late].concat());
        let times = Times::new(self.responses);
        let requested = self.users as f64 * f64::from(REQUESTS) / HOLD_S;
        let sent = self.sent as f64 / HOLD_S;
        Open {
            numbers: [
                times.count() as f64 / HOLD_S,
                sent,
                sent / requested,
                times.mean(),
                times.quantile(0.5),
                times.quantile(0.99),
                times.quantile(0.9999),
                self.at_end as f64,
            ],
            to_the_end: [all.mean(), all.quantile(0.99)],
            growth: (self.at_end - self.at_half) as f64 / (END - HALF).as_secs_f64(),
        }
    }
}

/// The highest rates with p99, and p99.99, of at most `bound`; see [`knee`].
pub fn knees(points: &[(f64, Open)], bound: f64) -> [Option<f64>; 2] {
    [Open::p99 as fn(&Open) -> f64, Open::p9999].map(|of| {
        let points: Vec<_> = points.iter().map(|(rate, open)| (*rate, of(open))).collect();
        knee(&points, bound)
    })
}

/// The highest rate with a quantile of at most `bound`, from points by rate: linear in the logarithm between the last point
/// within the bound and the next. None if the first is beyond it or none is.
pub fn knee(points: &[(f64, f64)], bound: f64) -> Option<f64> {
    let beyond = points.iter().position(|(_, quantile)| *quantile > bound).filter(|at| *at > 0)?;
    let ((rate, low), (next, high)) = (points[beyond - 1], points[beyond]);
    let share = libm::log(bound / low) / libm::log(high / low);
    Some(rate + share * (next - rate))
}

/// The least squares slope of these points.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let products: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    products / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knee_lies_between_the_points() {
        let points = [(10.0, 25.0), (20.0, 50.0), (30.0, 200.0), (40.0, 90.0)];
        assert!((knee(&points, 100.0).unwrap() - 25.0).abs() < 1e-9);
        assert_eq!((knee(&points, 10.0), knee(&points, 300.0)), (None, None));
    }

    #[test]
    fn a_slope() {
        assert!((slope(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]) - 2.0).abs() < 1e-12);
    }
}
