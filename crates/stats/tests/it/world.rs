//! Makes runs: what a source would have told, without one.

use headway_base::random::{Draws, Stream};
use headway_base::{Batch, Kind, Lateness, Nanos, Outcome, Phase, Profile, Rate, Record};
use headway_redact::{Cleared, Redactor};
use headway_stats::summary::{Evidence, Finding, FindingId, RuleId, RuleOutcome, RuleResult};
use headway_stats::{Analysis, Facts, PlanLaw, Setup, Summary, Tolerances, Workload};
use std::sync::Arc;

pub const MS: i64 = 1_000_000;

/// A run in the making: requests in order of `started`.
#[derive(Clone)]
pub struct World {
    pub measured: std::ops::Range<Nanos>,
    pub workload: Workload,
    pub phases: Vec<Phase>,
    pub poisson: bool,
    pub labels: Vec<Cleared>,
    pub records: Vec<Record>,
    /// Step of the grid that stamps lie on.
    pub resolution: Nanos,
    pub facts: Facts,
    /// The lateness that is forgiven, where lateness itself is judged.
    pub lateness: Option<Lateness>,
}

pub fn draws(seed: u64) -> Draws {
    Stream::new(seed, "test").item(0)
}

pub fn exponential(draws: &mut Draws) -> f64 {
    -draws.open01().ln()
}

/// An answered request.
pub fn answered(k: u64, intended: i64, started: i64, response: i64) -> Record {
    Record {
        started: Nanos(started).into(),
        sent: Nanos(started).into(),
        first_byte: Nanos(intended + response).into(),
        bytes_received: 100,
        ..Record::never_started(k, Nanos(intended), Nanos(intended + response), Outcome::Ok)
    }
}

impl World {
    /// No requests yet; a hold of `seconds` at `rate`, all of it measured.
    pub fn empty(rate: f64, seconds: i64) -> World {
        World {
            measured: Nanos::ZERO..Nanos::from_secs(seconds),
            workload: Workload::Open,
            phases: vec![Phase::hold(Nanos::from_secs(seconds), Rate(rate))],
            poisson: true,
            labels: vec!["only".into()],
            records: Vec::new(),
            resolution: Nanos(1),
            facts: Facts::default(),
            lateness: None,
        }
    }

    /// Judged by lateness itself too, of which 1 ms is forgiven.
    pub fn by_lateness(self) -> World {
        World { lateness: Some(Lateness::DEFAULT), ..self }
    }

    /// Poisson arrivals that start 2 us late and are answered in an exponential 3 ms.
    pub fn poisson(rate: f64, seconds: i64, seed: u64) -> World {
        let mut world = World::empty(rate, seconds);
        let (mut at, mut k) = (0.0, 0);
        let mut draws = draws(seed);
        loop {
            at += exponential(&mut draws) / rate * 1e9;
            let due = at as i64;
            if due >= world.measured.end.0 {
                return world;
            }
            let response = 100_000 + (exponential(&mut draws) * 3e6) as i64;
            world.records.push(answered(k, due, due + 2_000, response));
            k += 1;
        }
    }

    /// Evenly spaced arrivals, started on time.
    pub fn constant(rate: f64, seconds: i64) -> World {
        let mut world = World::empty(rate, seconds);
        world.poisson = false;
        let n = (rate * seconds as f64) as i64;
        world.records = (0..n)
            .map(|k| answered(k as u64, (k as f64 * 1e9 / rate) as i64, (k as f64 * 1e9 / rate) as i64, MS))
            .collect();
        world
    }

    /// Changes each request; starts are put into order again.
    pub fn with(mut self, change: impl FnMut(&mut Record)) -> World {
        self.records.iter_mut().for_each(change);
        self
    }

    pub fn setup(&self, sources: usize) -> Setup {
        let poisson = self.poisson;
        let plan = (self.workload != Workload::Foreign).then(|| PlanLaw {
            profile: Profile::new(&self.phases),
            gap_cdf: poisson.then(|| -> headway_stats::GapCdf { Arc::new(|x: f64| -(-x).exp_m1()) }),
            gap_cov: if poisson { 1.0 } else { 0.0 },
            dispersion: if poisson { 1.0 } else { 0.0 },
            poisson,
        });
        Setup {
            labels: self.labels.clone(),
            sources,
            measured: self.measured.clone(),
            workload: self.workload,
            plan,
            resolution: self.resolution,
            tolerances: Tolerances { lateness: self.lateness, ..Tolerances::default() },
            rate: (self.workload == Workload::Foreign)
                .then(|| self.records.len() as f64 / (self.measured.end - self.measured.start).as_secs_f64()),
            ..Setup::default()
        }
    }

    pub fn analyse(&self) -> Summary {
        self.analyse_over(1)
    }

    /// Splits the run over sources and hands batches over in an order that no clock would.
    pub fn analyse_over(&self, sources: usize) -> Summary {
        let mut analysis = Analysis::new(self.setup(sources));
        self.feed(&mut analysis, sources);
        analysis.finish(self.facts.clone())
    }

    pub fn feed(&self, analysis: &mut Analysis, sources: usize) {
        let of = |s: usize| self.records.iter().filter(move |r| r.k as usize % sources == s);
        let mut queues: Vec<_> = (0..sources)
            .map(|s| {
                let mut started: Vec<&Record> =
                    of(s).filter(|r| r.kind != Kind::Attempt && r.started.is_some()).collect();
                started.sort_by_key(|r| r.started.get());
                let mut ended: Vec<&Record> = of(s).collect();
                ended.sort_by_key(|r| r.done);
                (started.into_iter().peekable(), ended.into_iter().peekable())
            })
            .collect();
        let mut watermarks = vec![0i64; sources];
        let mut draws = draws(7);
        let mut live: Vec<usize> = (0..sources).collect();
        while !live.is_empty() {
            let pick = (draws.bits() % live.len() as u64) as usize;
            let s = live[pick];
            watermarks[s] += (draws.open01() * 500.0) as i64 * MS;
            let until = Nanos(watermarks[s]);
            let (started, ended) = &mut queues[s];
            let mut batch = Batch { source: s as u16, watermark: until, ..Batch::default() };
            while let Some(r) = started.next_if(|r| r.started.get() < Some(until)) {
                batch.starts.extend(r.start());
            }
            while let Some(r) = ended.next_if(|r| r.done < until) {
                batch.records.push(*r);
            }
            if started.peek().is_none() && ended.peek().is_none() {
                batch.last = true;
                live.swap_remove(pick);
            }
            analysis.batch(&batch);
        }
    }
}

pub fn rule<'a>(summary: &'a Summary, id: &str) -> &'a RuleResult {
    let id = RuleId::from(id);
    summary.verdict.rules.iter().find(|r| r.rule == id).unwrap()
}

pub fn outcome(summary: &Summary, id: &str) -> RuleOutcome {
    rule(summary, id).outcome
}

pub fn finding<'a>(summary: &'a Summary, id: &str) -> Option<&'a Finding> {
    let id = FindingId::from(id);
    assert!(FindingId::ALL.contains(&id), "{id} is no finding");
    summary.verdict.findings.iter().find(|f| f.id == id)
}

/// The first evidence of a finding that must be there.
pub fn evidence<'a>(summary: &'a Summary, id: &str) -> &'a Evidence {
    &finding(summary, id).unwrap_or_else(|| panic!("no {id}: {:#?}", summary.verdict.findings)).evidence[0]
}

/// A text of a test, past the gate.
pub fn cleared(text: &str) -> Cleared {
    Redactor::default().clear(text)
}
