//! `headway run --sweep`, resolved and checked: short runs, one at each rate or number of closed users.

use super::{RunSettings, is_named};
use crate::args::{Beside, Given, OutputArgs, RunArgs, Sweep};
use crate::repeat::Typed;
use anyhow::{Context as _, Result, bail};
use headway_base::units::{echoed, parse_count, parse_rate};
use headway_base::{Nanos, Rate};
use headway_engine::experiment::search::{SearchSpec, rate_of_what};
use headway_engine::{Backend, RunSpec};
use headway_stats::search::{Bounds, RateOf};
use headway_workload::redact::Redactor;

/// How long each run is measured where nothing is said.
const EACH: Nanos = Nanos::from_secs(10);

/// A sweep, resolved.
#[derive(Clone, Debug)]
pub struct SweepSettings {
    /// What is played.
    pub spec: SearchSpec,
    /// Arrival rates, or numbers of closed users.
    pub rates: Vec<f64>,
    /// For how long each is measured.
    pub each: Nanos,
    /// What becomes of the results.
    pub output: OutputArgs,
    /// Hides secrets.
    pub redactor: Redactor,
}

impl SweepSettings {
    /// Resolves what `headway run --sweep` was given.
    ///
    /// # Errors
    /// Whatever the user can mend, in words.
    pub fn resolve(args: &RunArgs, sweep: &Sweep, words: &Typed) -> Result<SweepSettings> {
        if let Some((flag, why)) = args.out_of_place(Beside::Sweep) {
            bail!("{flag}: {why}");
        }
        if args.against.baseline.is_some() || !args.against.demands.across.is_empty() {
            bail!(
                "--baseline and --across are for a single run, and --sweep plays several: headway compare DIR/point-01 ... compares them"
            );
        }
        let rates = levels(sweep)?;
        let of_users = sweep.name == "users";
        if args.load.users.is_some() {
            bail!("-u says how many users there are, and a sweep does: write --sweep users=1,2,4 alone");
        }
        let mut run = args.clone();
        run.sweep = None;
        run.load.duration = None;
        if !is_named(&run.target) {
            let text = sweep.values[0].clone();
            match of_users {
                true => run.load.users = Some(Given { text, value: rates[0] as u64 }),
                false => run.load.rate = Some(Given { text, value: Rate(rates[0]) }),
            }
        }
        let RunSettings { spec, live, output, .. } = RunSettings::resolve(&run, words)?;
        let of = rate_of_what(&spec.plan).context("--sweep")?;
        if of_users != (of == RateOf::Users) {
            bail!(
                "--sweep {}: {}",
                sweep.name,
                if of_users {
                    "users of this load arrive: write --sweep rate=100..1000/100"
                } else {
                    "this load has closed users: write --sweep users=1,2,4"
                }
            );
        }
        let each = args.load.duration.as_ref().map_or(EACH, |given| given.value);
        if each <= Nanos::ZERO {
            bail!("-d {each}: write a time above zero, such as 10s");
        }
        let (target, redactor) = (live.shown_target.clone(), live.redactor.clone());
        let bounds = Bounds { from: rates[0], lowest: rates[0], to: rates.last().copied(), precision: 0.0 };
        let spec = SearchSpec {
            base: RunSpec { keep: None, ..spec },
            backend: Backend::Live(Box::new(live)),
            target,
            bounds,
            budget: Nanos::from_secs_f64(each.as_secs_f64() * rates.len() as f64),
            folder: None,
            probe: false,
            baseline: None,
        };
        Ok(SweepSettings { spec, rates, each, output, redactor })
    }
}

/// The rates, or numbers of users.
fn levels(sweep: &Sweep) -> Result<Vec<f64>> {
    let one = |text: &String| -> Result<f64> {
        let wrong = || format!("--sweep {}={}", sweep.name, echoed(text));
        let value = match sweep.name.as_str() {
            "rate" => parse_rate(text).with_context(wrong)?.0,
            "users" => parse_count(text).with_context(wrong)? as f64,
            other => bail!(
                "--sweep {}: of a live target the rate is swept, or the number of closed users: write rate=100..1000/100 or users=1,2,4 (headway \
                 sim sweeps any value of a scenario)",
                echoed(other)
            ),
        };
        if value <= 0.0 {
            bail!("{}: write a value above zero", wrong());
        }
        Ok(value)
    };
    sweep.values.iter().map(one).collect()
}
