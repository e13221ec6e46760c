//! Sources of datagrams at a rate: evenly spaced, Poisson, and released by the ticks of a clock.

use super::published::{PATTERN_RATE, RELEASED, SLEPT_RATE, TICKS_PER_S, YIELDED_RATE};
use crate::arrivals;
use headway_base::{Nanos, Rate};
use headway_workload::Process;

/// When datagrams are sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    Even,
    Poisson,
    /// By so many ticks a second, each datagram of a tick so much after the one before.
    Ticks(f64, Nanos),
}

/// A source at its rate, in datagrams a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At {
    pub source: Source,
    pub rate: f64,
}

/// Those of the independent simulation, in its order.
pub const MODELLED: [At; 6] = [
    At { source: Source::Even, rate: YIELDED_RATE },
    At { source: Source::Even, rate: SLEPT_RATE },
    At { source: Source::Poisson, rate: SLEPT_RATE },
    At { source: Source::Poisson, rate: YIELDED_RATE },
    At { source: Source::Ticks(TICKS_PER_S, Nanos::ZERO), rate: TICKS_PER_S * RELEASED },
    At { source: Source::Ticks(TICKS_PER_S, Nanos::from_micros(5)), rate: TICKS_PER_S * RELEASED },
];

/// Those that are played on this machine, at one rate: with the ticks of its author's systems (10, 4 and 1 ms).
pub const PLAYED: [At; 5] = [
    At { source: Source::Even, rate: PATTERN_RATE },
    At { source: Source::Poisson, rate: PATTERN_RATE },
    At { source: Source::Ticks(1_000.0, Nanos::ZERO), rate: PATTERN_RATE },
    At { source: Source::Ticks(250.0, Nanos::ZERO), rate: PATTERN_RATE },
    At { source: Source::Ticks(100.0, Nanos::ZERO), rate: PATTERN_RATE },
];

/// Their places: those whose pattern needs no room to speak of, and the one that needs most.
pub const EVEN: usize = 0;
pub const POISSON: usize = 1;
pub const SLOWEST: usize = PLAYED.len() - 1;

impl At {
    /// `Poisson`, `ticks of 10 ms`; without its rate.
    pub fn name(&self) -> String {
        match self.source {
            Source::Even => "even".to_owned(),
            Source::Poisson => "Poisson".to_owned(),
            Source::Ticks(per_s, apart) => {
                let length = headway_report::format::chosen(1e3 / per_s);
                let apart = if apart > Nanos::ZERO { ", 5 us apart" } else { "" };
                format!("ticks of {length} ms{apart}")
            }
        }
    }

    /// CoV of headways. Of b gaps, b - 1 are zero and one is the tick: CoV^2 = b - 1. None of datagrams spread over a part of it.
    pub fn cov(&self) -> Option<f64> {
        match self.source {
            Source::Even => Some(0.0),
            Source::Poisson => Some(1.0),
            Source::Ticks(per_s, Nanos::ZERO) => Some((self.rate / per_s - 1.0).sqrt()),
            Source::Ticks(..) => None,
        }
    }

    /// Its instants before `end`, in order.
    pub fn instants(&self, end: Nanos, seed: u64) -> Vec<Nanos> {
        let of = |process| {
            let plan = arrivals::until(process, Rate(self.rate), end, seed);
            plan.arrivals().map(|arrival| arrival.intended).collect()
        };
        match self.source {
            Source::Even => of(Process::Constant),
            Source::Poisson => of(Process::Poisson),
            Source::Ticks(per_s, apart) => {
                let until = |tick: u64| (tick as f64 * self.rate / per_s).floor() as u64;
                let at = |tick: u64| Nanos::from_secs_f64(tick as f64 / per_s);
                let ticks = (1..).map(|tick| (at(tick), until(tick) - until(tick - 1)));
                let ticks = ticks.take_while(|(at, _)| *at < end);
                ticks.flat_map(|(at, n)| (0..n).map(move |i| at + Nanos(apart.0 * i as i64))).collect()
            }
        }
    }
}
