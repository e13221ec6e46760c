//! The plan: who comes when, and which part of it is measured. One plan serves a live run, a simulation and a listing.

use crate::arrivals::{Arrivals, Process};
use crate::shard::Shard;
use base::{Nanos, Phase, Profile, Rate};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the hash, the samplers and the order of draws make of a seed. Changes whenever any of them does.
pub const VERSION: u32 = 1;

/// An open workload: arrivals of one process at a rate that may change, of which the part from the end of warm-up on
/// is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Every random draw is a function of this.
    pub seed: u64,
    /// The arrival process.
    pub process: Process,
    /// The rate over time.
    pub profile: Arc<Profile>,
    /// Where the measured phase begins: what is due earlier is sent, but not counted.
    pub measured_from: Nanos,
    /// Which part of the plan this process sends.
    pub shard: Shard,
}

impl Plan {
    /// A ramp from zero (not measured), a warm-up at the full rate (not measured), then the hold.
    pub fn ramp_and_hold(
        seed: u64,
        process: Process,
        rate: Rate,
        ramp: Nanos,
        warmup: Nanos,
        hold: Nanos,
    ) -> Plan {
        let phases = [Phase::ramp(ramp, Rate(0.0), rate), Phase::hold(warmup, rate), Phase::hold(hold, rate)];
        Plan {
            seed,
            process,
            profile: Arc::new(Profile::new(&phases)),
            measured_from: ramp + warmup,
            shard: Shard::WHOLE,
        }
    }

    /// When the last phase ends.
    pub fn end(&self) -> Nanos {
        self.profile.end()
    }

    /// The arrivals of this process's shard, in order.
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals_of(self.shard)
    }

    /// The arrivals of any shard, in order.
    pub fn arrivals_of(&self, shard: Shard) -> Arrivals {
        Arrivals::new(self.seed, self.process, self.profile.clone(), shard)
    }

    /// The rate over time of the part that this process sends.
    pub fn own_profile(&self) -> Profile {
        let share = 1.0 / f64::from(self.shard.count());
        let scaled = |rate: Rate| Rate(rate.0 * share);
        let phases: Vec<Phase> =
            self.profile.phases().map(|p| Phase { from: scaled(p.from), to: scaled(p.to), ..p }).collect();
        Profile::new(&phases)
    }

    /// The plan as it is written down.
    pub fn document(&self) -> Document {
        let phases = self.profile.phases().map(|p| PhaseDocument {
            length_ns: p.length.0,
            from_per_second: p.from.0,
            to_per_second: p.to.0,
        });
        Document {
            version: VERSION,
            seed: self.seed,
            arrivals: self.process.to_string(),
            phases: phases.collect(),
            measured_from_ns: self.measured_from.0,
            shard: self.shard.to_string(),
        }
    }
}

/// A plan as it is written down in the run folder: enough to print every intended instant again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// [`VERSION`] of the program that made it.
    pub version: u32,
    /// The seed.
    pub seed: u64,
    /// The arrival process, as on the command line.
    pub arrivals: String,
    /// The rate over time.
    pub phases: Vec<PhaseDocument>,
    /// Where the measured phase begins, nanoseconds.
    pub measured_from_ns: i64,
    /// Which part of it was sent: i/N.
    pub shard: String,
}

/// A phase as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseDocument {
    /// Its length, nanoseconds.
    pub length_ns: i64,
    /// Rate at its beginning, per second.
    pub from_per_second: f64,
    /// Rate at its end, per second.
    pub to_per_second: f64,
}

impl Document {
    /// The plan that was written down.
    ///
    /// # Errors
    /// A version this program does not know, or a value out of range, in words.
    pub fn plan(&self) -> Result<Plan, String> {
        if self.version != VERSION {
            return Err(format!(
                "plan version {} is not {VERSION}, the one this program makes",
                self.version
            ));
        }
        let phases: Vec<Phase> = self
            .phases
            .iter()
            .map(|p| Phase::ramp(Nanos(p.length_ns), Rate(p.from_per_second), Rate(p.to_per_second)))
            .collect();
        let sane = |r: Rate| r.0.is_finite() && r.0 >= 0.0;
        if phases.iter().any(|p| p.length < Nanos::ZERO || !sane(p.from) || !sane(p.to)) {
            return Err("a phase has a negative length or rate".to_owned());
        }
        Ok(Plan {
            seed: self.seed,
            process: Process::parse(&self.arrivals).map_err(|e| e.to_string())?,
            profile: Arc::new(Profile::new(&phases)),
            measured_from: Nanos(self.measured_from_ns),
            shard: Shard::parse(&self.shard).map_err(|e| e.to_string())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_the_plan() {
        let mut plan = Plan::ramp_and_hold(
            7,
            Process::Gamma { cov: 2.5 },
            Rate(123.4),
            Nanos::from_secs(3),
            Nanos::ZERO,
            Nanos::from_secs(5),
        );
        plan.shard = Shard::new(1, 3).unwrap();
        assert_eq!(plan.measured_from, Nanos::from_secs(3));
        assert_eq!(plan.end(), Nanos::from_secs(8));
        assert_eq!(plan.document().plan().unwrap(), plan);
        assert!((plan.own_profile().total() * 3.0 - plan.profile.total()).abs() < 1e-9);
        let newer = Document { version: VERSION + 1, ..plan.document() };
        assert!(newer.plan().unwrap_err().contains("version"));
    }
}
