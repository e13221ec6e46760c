//! A search for the knee: trials at rates that depend on those before, one after the other, on either backend.
//!
//! What a trial shows and which rate is next is decided in [`headway_stats::search`]; here trials are played, one after the other:
//! each ends when nothing of its requests is left in flight.

mod judge;
mod trials;

pub use judge::Asked;
pub use trials::{InVirtualTime, at_rate, in_virtual_time, requests_per_arrival};

use crate::{Backend, Control, Error, RunSpec};
use anyhow::anyhow;
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_stats::Threshold;
use headway_stats::search::{
    Bounds, Found, Next, NoCriterion, Outcome, RateOf, SCHEMA, Search, TrialRow, other_limit,
};
use headway_stats::summary::Units;
use std::path::PathBuf;
use trials::Trials;

/// What is searched.
#[derive(Clone, Debug)]
pub struct SearchSpec {
    /// A run of the scenario, at any rate; its thresholds are those of the search.
    pub base: RunSpec,
    /// What plays its trials.
    pub backend: Backend,
    /// The rates, and how precisely.
    pub bounds: Bounds,
    /// Longest time that all trials together may take: of a simulation, virtual time.
    pub budget: Nanos,
    /// The folder, which exists, for the run folders of the trials; none: they are not kept.
    pub folder: Option<PathBuf>,
}

/// What a search tells while it goes on.
pub trait SearchObserver {
    /// A trial begins at that rate.
    fn trial(&mut self, number: usize, rate: f64) {
        let _ = (number, rate);
    }
    /// It has ended; `interval` is what is known of the knee now.
    fn ended(&mut self, row: &TrialRow, interval: [Option<f64>; 2]) {
        let _ = (row, interval);
    }
}

impl SearchSpec {
    /// What the thresholds ask for.
    ///
    /// # Errors
    /// There is none, or one that a search cannot look for.
    pub fn asked(&self) -> Result<Vec<Asked>, Error> {
        asked(&self.base.thresholds)
    }

    /// Fewest requests of a trial in which the thresholds are shown to hold.
    ///
    /// # Errors
    /// As [`SearchSpec::asked`].
    pub fn fewest_requests(&self) -> Result<u64, Error> {
        Ok(self.asked()?.iter().map(|asked| asked.criterion.fewest()).max().unwrap_or(0))
    }

    /// The shortest time that such a trial takes at the first rate.
    ///
    /// # Errors
    /// As [`SearchSpec::asked`].
    pub fn shortest_trial(&self) -> Result<Nanos, Error> {
        let per_second = self.bounds.from * requests_per_arrival(&self.base.plan);
        Ok(Nanos::from_secs_f64(self.fewest_requests()? as f64 / per_second))
    }
}

/// What thresholds ask of a trial.
///
/// # Errors
/// There is none, or one that a search cannot look for.
pub fn asked(thresholds: &[Threshold]) -> Result<Vec<Asked>, Error> {
    if thresholds.is_empty() {
        return Err(Error::usage(anyhow!(
            "a search needs a threshold to search for: --threshold 'p(99)<100ms', --threshold 'failed: rate<0.1%'"
        )));
    }
    let each = thresholds.iter().map(|threshold| {
        let text = &threshold.text;
        Asked::of(threshold).map_err(|why| match why {
            NoCriterion::Kind => anyhow!(
                "threshold '{text}': a search looks for a percentile of response or response_ok of all steps below a time, or the share \
                 of failures below a limit; write 'p(99)<100ms', 'med<20ms' or 'failed: rate<0.1%'"
            ),
            NoCriterion::Limit => anyhow!(
                "threshold '{text}': no rate meets this, or every rate does; write a time above zero, and a share above 0 and below 100 %"
            ),
        })
    });
    each.collect::<Result<_, _>>().map_err(Error::usage)
}

/// Plays a search to its end, or until `control` stops it.
///
/// # Errors
/// Settings that cannot be, before anything is sent; what keeps a trial from taking place.
pub fn search(
    spec: &SearchSpec,
    control: &Control,
    observer: &mut dyn SearchObserver,
) -> Result<Found, Error> {
    let asked = spec.asked()?;
    let trials = Trials {
        base: &spec.base,
        backend: &spec.backend,
        asked: &asked,
        folder: spec.folder.clone(),
        control,
    };
    let seeds = Stream::new(spec.base.plan.seed, streams::DERIVED);
    let mut search = Search::new(spec.bounds);
    let mut found = blank(spec);
    let mut left = spec.budget;
    let knee = loop {
        let (rate, ask) = match search.next() {
            Next::Over(knee) => break Some(knee),
            Next::Trial { rate, ask } => (rate, ask),
        };
        if control.asked() > 0 {
            found.outcome = Outcome::Interrupted;
            break None;
        }
        let per_second = rate * found.requests_per_arrival;
        if left.as_secs_f64() * per_second < least(&asked) {
            found.outcome = Outcome::Budget;
            break None;
        }
        let number = found.trials.len() + 1;
        observer.trial(number, rate);
        // Seeds stay below 2^53, so that each trial can be repeated alone.
        let seed = seeds.bits(number as u64, 0) >> 11;
        let played = trials.play(number, rate, ask, seed, left)?;
        left -= Nanos::from_secs_f64(played.row.took_s);
        found.requests += played.row.requests;
        found.took_s += played.row.took_s;
        search.take(played.tried);
        observer.ended(&played.row, search.interval());
        found.trials.push(played.row);
    };
    found.interval = search.interval();
    found.reached = search.precision();
    if let Some(knee) = knee {
        found.conclude(knee);
    } else if control.asked() > 0 {
        found.outcome = Outcome::Interrupted;
    }
    if asked.iter().any(|asked| asked.criterion.limit.is_some()) {
        found.other_limits = vec![other_limit(0.5, 0, &found.trials), other_limit(2.0, 1, &found.trials)];
    }
    Ok(found)
}

/// Requests below which no trial shows anything.
fn least(asked: &[Asked]) -> f64 {
    asked.iter().map(|asked| asked.criterion.fewest()).max().unwrap_or(0) as f64
}

fn blank(spec: &SearchSpec) -> Found {
    let per_arrival = requests_per_arrival(&spec.base.plan);
    Found {
        schema: SCHEMA.to_owned(),
        units: Units::default(),
        name: spec.base.name.clone(),
        command: Some(spec.base.command.clone()).filter(|command| !command.is_empty()),
        seed: spec.base.plan.seed,
        simulated: matches!(spec.backend, Backend::Sim(_)),
        rate_of: if per_arrival > 1.0 { RateOf::Sessions } else { RateOf::Requests },
        requests_per_arrival: per_arrival,
        thresholds: spec.base.thresholds.iter().map(|threshold| threshold.text.clone()).collect(),
        precision: spec.bounds.precision,
        from: spec.bounds.from,
        to: spec.bounds.to,
        budget_s: spec.budget.as_secs_f64(),
        ..Found::default()
    }
}
