//! A search for the knee: trials at rates that depend on those before, one after the other, on either backend; of several targets one
//! trial of each in turn, so that what the hour does hits all alike.
//!
//! What a trial shows and which rate is next is decided in [`headway_stats::search`]; here trials are played, one after the other:
//! each ends when nothing of its requests is left in flight. What is known is in the folder of the search after each trial
//! ([`Folder`]), so that a search that was cut off goes on from there.

mod baseline;
mod folder;
mod judge;
mod probes;
mod sweep;
mod trials;

pub use baseline::beside;
pub use folder::{Folder, SEARCH_FILE, is_trial, seed_of};
pub use judge::Asked;
pub use probes::{probe, start_of};
pub use sweep::sweep;
pub use trials::{InVirtualTime, at_rate, in_virtual_time, rate_of_what, requests_per_arrival};

use crate::{Backend, Control, Error, RunSpec};
use anyhow::anyhow;
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_stats::Threshold;
use headway_stats::metric::Metric;
use headway_stats::search::{
    Bounds, DriftFound, Earlier, Found, Next, NoCriterion, Outcome, Probed, RateOf, SCHEMA, Search, Searched,
    TrialEnd, TrialRow, length, other_limit,
};
use headway_stats::summary::Units;
use headway_workload::client::Streamed;
use headway_workload::redact::{Cleared, clear};
use std::path::PathBuf;
use trials::{Trials, most_per_second};

/// What is searched.
#[derive(Clone, Debug)]
pub struct SearchSpec {
    /// A run of the scenario, at any rate; its thresholds are those of the search.
    pub base: RunSpec,
    /// What plays its trials.
    pub backend: Backend,
    /// The target as it is shown, secrets replaced, or which model it is.
    pub target: Cleared,
    /// The rates, and how precisely.
    pub bounds: Bounds,
    /// Longest time that all trials together may take: of a simulation, virtual time.
    pub budget: Nanos,
    /// The folder, which exists, for the run folders of the trials; none: they are not kept.
    pub folder: Option<PathBuf>,
    /// Whether closed probes tell where its trials begin. Of closed users none do.
    pub probe: bool,
    /// The earlier search whose knee is shown beside this one ([`beside`]).
    pub baseline: Option<Earlier>,
}

/// What a search tells while it goes on.
pub trait SearchObserver: Send {
    /// A probe has ended.
    fn probed(&mut self, search: &Found, probed: &Probed) {
        let _ = (search, probed);
    }
    /// A trial of that search begins at that rate.
    fn trial(&mut self, search: &Found, number: usize, rate: f64) {
        let _ = (search, number, rate);
    }
    /// A live trial at that rate goes on: called once a second, with the best estimate so far, and whether the target limits rates.
    fn goes_on(&mut self, search: &Found, rate: f64, estimate: Option<f64>, is_limited: bool) {
        let _ = (search, rate, estimate, is_limited);
    }
    /// It has ended; `estimate` and `interval` are what is known of the knee now.
    fn ended(&mut self, search: &Found, row: &TrialRow, estimate: Option<f64>, interval: [Option<f64>; 2]) {
        let _ = (search, row, estimate, interval);
    }
}

/// No observer.
impl SearchObserver for () {}

impl SearchSpec {
    /// What the thresholds ask for.
    ///
    /// # Errors
    /// There is none, or one that a search cannot look for.
    pub fn asked(&self) -> Result<Vec<Asked>, Error> {
        let asked = asked(&self.base.thresholds)?;
        let streams = |steps: &[Streamed]| steps.iter().any(|step| step.events);
        let (simulated, pieces, streams) = match &self.backend {
            Backend::Sim(sim) => (true, sim.model.events.is_some(), streams(&sim.streamed)),
            Backend::Live(live) => (false, true, streams(&live.script.streamed())),
        };
        for Asked { metric, .. } in asked.iter().filter(|asked| asked.is_of_events()) {
            if !streams {
                return Err(Error::usage(anyhow!(
                    "a search for {metric}: no step has events; write `stream: chunks` on a step, or --stream chunks"
                )));
            }
            if !pieces {
                return Err(Error::usage(anyhow!(
                    "a search in virtual time for {metric}: the responses of this model come whole; write for example `events: {{ gap: \
                     exp(20ms), count: 5 }}` in the model"
                )));
            }
        }
        match asked.iter().find(|asked| simulated && asked.metric.not_in_simulation(pieces).is_some()) {
            Some(Asked { metric, .. }) => Err(Error::usage(anyhow!(
                "a search in virtual time cannot look for {metric}: a simulation does not have it; leave that threshold out"
            ))),
            None => Ok(asked),
        }
    }

    /// How long its first trial lasts at the first rate, and what comes before it: the shortest budget.
    ///
    /// # Errors
    /// As [`SearchSpec::asked`].
    pub fn shortest(&self) -> Result<Nanos, Error> {
        let criteria: Vec<_> = self.asked()?.iter().map(|asked| asked.criterion).collect();
        Ok(length(&criteria, most_per_second(&self.base.plan, self.bounds.from)))
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
                "threshold '{text}': a search looks for a percentile of a time (response, connect, first_event) of all steps below a limit, or the share \
                 of failures below a limit; write 'p(99)<100ms', 'med<20ms' or 'failed: rate<0.1%'"
            ),
            NoCriterion::Limit => anyhow!(
                "threshold '{text}': no rate meets this, or every rate does; write a time above zero, and a share above 0 and below 100 %"
            ),
        })
    });
    let all: Vec<Asked> = each.collect::<Result<_, _>>().map_err(Error::usage)?;
    let mut others = all.iter().filter(|asked| asked.taken().is_some()).map(|asked| asked.metric);
    if let Some(first) = others.next()
        && let Some(second) = others.find(|second| *second != first)
    {
        return Err(Error::usage(anyhow!(
            "a search looks for one metric beside response times and failures; these thresholds name {first} and {second}: leave one out"
        )));
    }
    // A target that refuses fast meets any limit of its successes, at any rate.
    if let Some(i) = all.iter().position(Asked::is_of_some)
        && all.iter().all(|asked| asked.criterion.limit.is_some())
    {
        let of = match all[i].metric == Metric::RESPONSE_OK {
            true => "of successes alone",
            false => "of some of the requests alone",
        };
        return Err(Error::usage(anyhow!(
            "threshold '{}': {of} it holds at any rate at which the rest fails: write response in place of {}, or add \
             --threshold 'failed: rate<1%'",
            thresholds[i].text,
            all[i].metric
        )));
    }
    Ok(all)
}

/// Plays searches to their ends, or until `control` stops them: one trial of each in turn. `folder` keeps what is known, and may know
/// trials from before. A target that cannot be reached does not end the searches of the others.
///
/// # Errors
/// Settings that cannot be, before anything is sent; what keeps a trial of the only target from taking place; a full disk.
pub fn search(
    specs: &[SearchSpec],
    folder: Option<&Folder>,
    control: &Control,
    observer: &mut dyn SearchObserver,
) -> Result<Searched, Error> {
    let before = folder.map(Folder::before).unwrap_or_default();
    let begin = |(i, spec)| Going::begin(spec, before.get(i));
    let mut all: Vec<Going<'_>> = specs.iter().enumerate().map(begin).collect::<Result<_, Error>>()?;
    let mut elapsed: f64 = all.iter().map(|going| going.found.took_s).sum();
    let save = |all: &[Going<'_>]| match folder {
        Some(folder) => folder.save(&Searched::of(all.iter().map(Going::known).collect())),
        None => Ok(()),
    };
    save(&all)?;
    while all.iter().any(|going| !going.over) {
        for i in 0..all.len() {
            let going = &mut all[i];
            if going.over {
                continue;
            }
            match going.step(control, observer, elapsed) {
                Ok(took) => elapsed += took,
                Err(error) if specs.len() == 1 => return Err(error),
                Err(error) => going.failed(&error),
            }
            save(&all)?;
        }
    }
    Ok(Searched::of(all.into_iter().map(|going| going.known()).collect()))
}

/// A search that goes on.
struct Going<'a> {
    spec: &'a SearchSpec,
    asked: Vec<Asked>,
    search: Search,
    found: Found,
    left: Nanos,
    over: bool,
}

impl<'a> Going<'a> {
    /// Begins it, with what was found before.
    fn begin(spec: &'a SearchSpec, before: Option<&Found>) -> Result<Going<'a>, Error> {
        let mut going = Going {
            asked: spec.asked()?,
            search: Search::new(spec.bounds),
            found: blank(spec)?,
            left: spec.budget,
            over: false,
            spec,
        };
        if let Some(probed) = before.and_then(|before| before.probed.clone()) {
            going.take_probes(probed);
        }
        going.found.cut_off = before.map(|before| before.cut_off.clone()).unwrap_or_default();
        for row in before.iter().flat_map(|before| &before.trials) {
            if !row.cut_off {
                going.take(row.clone());
            } else if let Some(folder) = &row.folder
                && !going.found.cut_off.contains(folder)
            {
                // It is played again.
                going.found.cut_off.push(folder.clone());
            }
        }
        Ok(going)
    }

    fn take_probes(&mut self, probed: Probed) {
        self.left -= Nanos::from_secs_f64(probed.took_s());
        self.found.requests += probed.rows.iter().map(|row| row.requests).sum::<u64>();
        self.found.took_s += probed.took_s();
        if let Some(start) = start_of(&probed) {
            self.search.expect(start);
        }
        self.found.probed = Some(probed);
    }

    /// Plays the closed probes; the seconds that they took.
    fn probe(&mut self, control: &Control, observer: &mut dyn SearchObserver) -> Result<f64, Error> {
        let SearchSpec { base, backend, bounds, .. } = self.spec;
        let found = &self.found;
        let probed =
            probe(base, backend, &self.asked, bounds, control, |probed| observer.probed(found, probed))?;
        let took = probed.took_s();
        let broken = probed.broken.is_some();
        self.take_probes(probed);
        if control.asked() > 0 {
            self.end_as(Outcome::Interrupted);
        } else if broken {
            self.end_as(Outcome::Never);
        }
        Ok(took)
    }

    fn take(&mut self, row: TrialRow) {
        self.left -= Nanos::from_secs_f64(row.took_s);
        self.found.requests += row.requests;
        self.found.took_s += row.took_s;
        if row.ended != TrialEnd::Unreachable {
            self.search.take(row.tried());
        }
        self.found.trials.push(row);
    }

    /// Plays the next trial, or ends the search; the seconds that it took.
    fn step(
        &mut self,
        control: &Control,
        observer: &mut dyn SearchObserver,
        elapsed: f64,
    ) -> Result<f64, Error> {
        if self.spec.probe && self.found.probed.is_none() && self.found.rate_of != RateOf::Users {
            return self.probe(control, observer);
        }
        let rate = match self.search.next() {
            Next::Over(knee) => {
                self.over = true;
                self.found.conclude(knee);
                return Ok(0.0);
            }
            Next::Trial { .. } if self.is_exact() => {
                self.end_as(Outcome::Found);
                return Ok(0.0);
            }
            Next::Trial { rate } if self.found.rate_of == RateOf::Users => rate.round().max(1.0),
            Next::Trial { rate } => rate,
        };
        if control.asked() > 0 {
            self.end_as(Outcome::Interrupted);
            return Ok(0.0);
        }
        let criteria: Vec<_> = self.asked.iter().map(|asked| asked.criterion).collect();
        if self.left < length(&criteria, most_per_second(&self.spec.base.plan, rate)) {
            self.end_as(Outcome::Budget);
            return Ok(0.0);
        }
        let number = self.found.trials.len() + 1;
        observer.trial(&self.found, number, rate);
        // Seeds stay below 2^53, so that each trial can be repeated alone.
        let seeds = Stream::new(self.spec.base.plan.seed, streams::DERIVED);
        let seed = seeds.bits(number as u64, 0) >> 11;
        let name = self.free_name(number);
        let trials = Trials {
            base: &self.spec.base,
            backend: &self.spec.backend,
            asked: &self.asked,
            folder: self.spec.folder.as_deref(),
            control,
            reached: self.found.trials.iter().any(|row| row.ended != TrialEnd::Unreachable),
        };
        let (found, estimate) = (&self.found, self.search.estimate());
        let mut told = |is_limited| observer.goes_on(found, rate, estimate, is_limited);
        let row = trials.play(&name, rate, seed, self.left, &mut told)?;
        let row = TrialRow { begun_s: elapsed, ..row };
        let (took, unreachable) = (row.took_s, row.ended == TrialEnd::Unreachable);
        self.take(row);
        if let Some(row) = self.found.trials.last() {
            let interval = self.found.rate_of.of_knee(self.search.interval());
            observer.ended(&self.found, row, self.search.estimate(), interval);
        }
        if unreachable {
            self.end_as(Outcome::Unreachable);
        } else if control.asked() > 0 && !matches!(self.search.next(), Next::Over(_)) {
            self.end_as(Outcome::Interrupted);
        }
        Ok(took)
    }

    /// Whether the largest number of users that holds is known.
    fn is_exact(&self) -> bool {
        let users = self.found.rate_of == RateOf::Users;
        users
            && matches!(self.found.rate_of.of_knee(self.search.interval()), [Some(low), Some(high)] if low == high)
    }

    /// The first name for the folder of a trial that is not taken: a trial that was cut off has one already.
    fn free_name(&mut self, number: usize) -> String {
        let mut name = format!("trial-{number:02}");
        let Some(folder) = &self.spec.folder else { return name };
        for n in 2.. {
            let path = folder.join(&name);
            if !path.exists() {
                break;
            }
            let taken = clear(&path.display().to_string());
            if !self.found.cut_off.contains(&taken) {
                self.found.cut_off.push(taken);
            }
            name = format!("trial-{number:02}-{n}");
        }
        name
    }

    fn end_as(&mut self, outcome: Outcome) {
        self.over = true;
        self.found.outcome = outcome;
    }

    fn failed(&mut self, error: &Error) {
        self.end_as(Outcome::Failed);
        let text = format!("{error:#}");
        self.found.error = Some(match &self.spec.backend {
            Backend::Live(live) => live.redactor.clear(&text),
            Backend::Sim(_) => clear(&text),
        });
    }

    /// The document, as far as it is known.
    fn known(&self) -> Found {
        let mut found = self.found.clone();
        let precision = self.spec.bounds.precision;
        found.drift = self.search.drift().map(|drift| DriftFound::of(&drift, precision));
        if !matches!(found.outcome, Outcome::NotMonotone | Outcome::Drifts) {
            found.estimate = self.search.estimate();
            found.interval = found.rate_of.of_knee(self.search.interval());
            if found.outcome == Outcome::Always {
                // What lies beyond was not tried.
                found.interval[0] = found.interval[0].zip(self.spec.bounds.to).map(|(low, to)| low.min(to));
            }
            found.reached = match found.interval {
                [Some(low), Some(high)] => Some((high - low) / (high + low)),
                _ => None,
            };
        }
        found.baseline = self.spec.baseline.as_ref().map(|earlier| earlier.beside(found.interval));
        if self.asked.iter().any(|asked| asked.criterion.limit.is_some()) {
            found.other_limits = vec![other_limit(0.5, 0, &found.trials), other_limit(2.0, 1, &found.trials)];
        }
        found
    }
}

fn blank(spec: &SearchSpec) -> Result<Found, Error> {
    Ok(Found {
        schema: SCHEMA.to_owned(),
        units: Units::default(),
        name: spec.base.name.clone(),
        target: spec.target.clone(),
        notes: spec.base.shown.notes.clone(),
        outcome: Outcome::Unfinished,
        command: Some(spec.base.command.clone()).filter(|command| !command.is_empty()),
        seed: spec.base.plan.seed,
        simulated: matches!(spec.backend, Backend::Sim(_)),
        rate_of: rate_of_what(&spec.base.plan)?,
        requests_per_arrival: requests_per_arrival(&spec.base.plan),
        thresholds: spec.base.thresholds.iter().map(|threshold| threshold.text.clone()).collect(),
        precision: spec.bounds.precision,
        from: spec.bounds.from,
        to: spec.bounds.to,
        budget_s: spec.budget.as_secs_f64(),
        ..Found::default()
    })
}
