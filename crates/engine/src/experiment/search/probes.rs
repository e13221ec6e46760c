//! Closed probes, and the first rate that a model of them foretells.
//!
//! A probe is some users without think time, on either backend, for a second or so. The model is a station of as many servers as capacity and
//! service time say, with the response times of one user alone, under the plan's own arrivals, in virtual time. It places trials and proves nothing.

use super::judge::{Asked, LIMITED, Telling};
use super::trials::{at_rate, in_virtual_time_with, requests_per_arrival};
use crate::collect::Observer;
use crate::simulate::Play;
use crate::simulate::order::How;
use crate::{Backend, Control, Error, RunSpec, Snapshot};
use headway_base::dist;
use headway_base::random::{Stream, streams};
use headway_base::{Batch, Kind, Nanos, Record, RecordSink, ResponseEvent, Start as Started};
use headway_stats::search::{Bounds, ProbeRow, Probed, SECONDS, Side, Start, alone};
use headway_workload::Plan;
use headway_workload::model::{Model, Station};
use headway_workload::plan::Source;
use headway_workload::users::Level;
use std::sync::Arc;

/// Response times of one user alone that are kept.
const KEPT: usize = 2_000;
/// Requests of the model at each rate, and how often its bracket is halved.
const PLAYED: u64 = 40_000;
const HALVED: u32 = 12;
/// Of the model's requests, those left out at the beginning.
const WARM_UP: u64 = 2_000;
/// Bounds of the first rate, as a share of the capacity, and the one where the model says nothing (failures).
const OF_CAPACITY: [f64; 2] = [0.5, 0.95];
const UNKNOWN: f64 = 0.85;
/// Bounds of the first slope, and the one where the model says nothing.
const SLOPES: [f64; 2] = [3.0, 60.0];
const SLOPE: f64 = 10.0;
/// Standard deviation of the logarithm of the first rate.
const SPREAD: f64 = 0.15;
/// The same where `--to` ended the probes before throughput stopped growing.
const NO_CAPACITY: f64 = 0.7;

/// Plays the probes.
///
/// # Errors
/// What keeps one from taking place.
pub fn probe(
    base: &RunSpec,
    backend: &Backend,
    asked: &[Asked],
    bounds: &Bounds,
    control: &Control,
    mut told: impl FnMut(&Probed),
) -> Result<Probed, Error> {
    let mut probed = Probed::default();
    let mut times = Vec::new();
    let most = bounds.to.map(|to| to * requests_per_arrival(&base.plan));
    while let Some((users, least)) = probed.next(most) {
        if control.asked() > 0 {
            break;
        }
        let seen = play(base, backend, asked, bounds.to, (users, least), control)?;
        if users == 1 {
            (probed.alone, probed.broken) = seen.of_one(asked);
            times = seen.times.clone();
        }
        let empty = seen.ended == 0;
        probed.take(seen.row(users));
        told(&probed);
        if empty {
            break;
        }
    }
    if probed.broken.is_none() && !times.is_empty() {
        probed.expected = expected(&base.plan, base, asked, &probed, times, bounds);
    }
    Ok(probed)
}

/// What a search expects of them; nothing where they tell too little.
pub fn start_of(probed: &Probed) -> Option<Start> {
    let [rate, slope] = probed.expected?;
    let spread = if probed.capacity.is_some() { SPREAD } else { NO_CAPACITY };
    Some(Start { rate, spread, slope, alone: probed.alone })
}

fn play(
    base: &RunSpec,
    backend: &Backend,
    asked: &[Asked],
    to: Option<f64>,
    (users, least): (u32, u64),
    control: &Control,
) -> Result<Seen, Error> {
    let seed = Stream::new(base.plan.seed, streams::DERIVED).bits(0, u64::from(users)) >> 11;
    let length = Nanos::from_secs_f64(SECONDS[1]);
    let plan = closed(&base.plan, users, to, seed, length).map_err(Error::usage)?;
    let mut seen = Seen::new(asked, least, control);
    match backend {
        Backend::Sim(sim) => {
            let play = sim.of(plan, base.limits);
            seen = in_virtual_time_with(&play, || Seen::new(asked, least, control)).map_err(Error::usage)?;
        }
        Backend::Live(_) => {
            let spec = RunSpec { plan, keep: None, thresholds: Vec::new(), ..base.clone() };
            let own = Control::default();
            let mut watch = Watch { seen, own: own.clone() };
            backend.play(&spec, &own, &mut [&mut watch])?;
            seen = watch.seen;
        }
    }
    Ok(seen)
}

/// That plan with so many users without think time, of groups by their shares; `to`: their sessions per second at most.
fn closed(plan: &Plan, users: u32, to: Option<f64>, seed: u64, length: Nanos) -> anyhow::Result<Plan> {
    let mut plan = Plan { seed, measured_from: Nanos::ZERO, end: length, ..plan.clone() };
    let pace =
        to.map(|to| dist::parse(&format!("{}ms", 1e3 * f64::from(users) / to), &|_| Err(String::new())));
    let pace = pace.transpose()?;
    let rates: Vec<f64> = plan.groups.iter().map(super::trials::peak).collect();
    let all: f64 = rates.iter().sum();
    let parts: Vec<f64> = rates.iter().map(|rate| f64::from(users) * rate / all.max(1e-9)).collect();
    for (group, own) in plan.groups.iter_mut().zip(super::trials::whole(&parts)) {
        group.pace.clone_from(&pace);
        group.source = Source::Users { level: Arc::new(Level::hold(own as u32, length)), requests: None };
    }
    plan.groups.retain(|group| matches!(&group.source, Source::Users { level, .. } if level.most() > 0));
    Ok(plan)
}

/// What was seen of a probe.
struct Seen {
    asked: Vec<Asked>,
    telling: Telling,
    least: u64,
    control: Control,
    began: Option<Nanos>,
    last: Nanos,
    ended: u64,
    failed: u64,
    limited: u64,
    well: u64,
    responses_s: f64,
    times: Vec<f64>,
    beyond: Vec<[u64; 2]>,
}

impl Seen {
    fn new(asked: &[Asked], least: u64, control: &Control) -> Seen {
        Seen {
            asked: asked.to_vec(),
            telling: Telling::of(asked),
            least,
            control: control.clone(),
            began: None,
            last: Nanos::ZERO,
            ended: 0,
            failed: 0,
            limited: 0,
            well: 0,
            responses_s: 0.0,
            times: Vec::new(),
            beyond: vec![[0, 0]; asked.len()],
        }
    }

    fn take(&mut self, record: &Record) {
        let Some(started) = record.started.get().filter(|_| record.kind == Kind::Request) else { return };
        if self.is_enough() {
            return;
        }
        let begun = self.began.get_or_insert(started);
        *begun = started.min(*begun);
        self.last = self.last.max(record.done);
        self.ended += 1;
        let told = self.telling.record(record);
        let ended = told.ended;
        if ended.how == How::Well {
            self.well += 1;
            self.responses_s += ended.response.as_secs_f64();
            if self.times.len() < KEPT {
                self.times.push(ended.response.as_secs_f64());
            }
        } else {
            self.failed += 1;
            self.limited += u64::from(record.status == LIMITED);
        }
        for (asked, [beyond, n]) in self.asked.iter().zip(&mut self.beyond) {
            for seen in asked.seen(&told) {
                let counts = asked.criterion.limit.map_or(seen.failed, |limit| seen.time > limit);
                *beyond += u64::from(counts);
                *n += 1;
            }
        }
    }

    fn took_s(&self) -> f64 {
        self.began.map_or(0.0, |began| (self.last - began).as_secs_f64())
    }

    fn is_enough(&self) -> bool {
        (self.ended >= self.least && self.took_s() >= SECONDS[0]) || self.took_s() >= SECONDS[1]
    }

    fn row(&self, users: u32) -> ProbeRow {
        let took_s = self.took_s();
        ProbeRow {
            users,
            per_second: if took_s > 0.0 { self.well as f64 / took_s } else { 0.0 },
            response_s: self.responses_s / (self.well as f64).max(1.0),
            requests: self.ended,
            failed: self.failed,
            limited: self.limited,
            took_s,
        }
    }

    /// Of one user alone: what is beyond the limit that is met least, and which threshold it breaks.
    fn of_one(&self, asked: &[Asked]) -> ([f64; 2], Option<usize>) {
        let each = || asked.iter().zip(&self.beyond);
        let breaks =
            |(asked, [k, n]): (&Asked, &[u64; 2])| alone(*k, *n, asked.criterion.share) == Some(Side::Above);
        // Nothing follows of the thresholds where nothing was answered: a trial tells why.
        let broken = each().position(breaks).filter(|_| self.well > 0);
        // Failures of a full queue are none of one user: that says nothing of where they begin.
        let of = each().filter(|(asked, _)| asked.criterion.limit.is_some());
        let worst = of
            .map(|(asked, [k, n])| [*k as f64, *n as f64 * asked.criterion.share])
            .max_by(|a, b| (a[0] / a[1].max(1e-9)).total_cmp(&(b[0] / b[1].max(1e-9))));
        (worst.unwrap_or([0.0; 2]), broken)
    }
}

impl RecordSink for Seen {
    fn start(&mut self, _: Started) {}
    fn record(&mut self, record: Record) {
        self.take(&record);
    }
    fn event(&mut self, event: ResponseEvent) {
        self.telling.event(&event);
    }
    fn tick(&mut self, _: Nanos) {}
    fn has_enough(&self) -> bool {
        self.is_enough() || self.control.asked() > 0
    }
    fn finish(&mut self, _: Nanos) {}
}

/// Ends a live probe.
struct Watch {
    seen: Seen,
    own: Control,
}

impl Watch {
    fn stop(&self) {
        while self.own.asked() < self.seen.control.asked() {
            self.own.stop();
        }
        if self.seen.is_enough() && self.own.asked() == 0 {
            self.own.stop();
        }
    }
}

impl Observer for Watch {
    fn batch(&mut self, batch: &Batch) {
        batch.events.iter().for_each(|event| self.seen.telling.event(event));
        batch.records.iter().for_each(|record| self.seen.take(record));
        self.stop();
    }
    fn snapshot(&mut self, _: &Snapshot) {
        self.stop();
    }
}

/// The knee by the model, arrivals per second, and its slope there; none where no model can be made. Without a capacity it is `--to`, where
/// that ended the probes.
fn expected(
    plan: &Plan,
    base: &RunSpec,
    asked: &[Asked],
    probed: &Probed,
    times: Vec<f64>,
    bounds: &Bounds,
) -> Option<[f64; 2]> {
    let Some(capacity) = probed.capacity else {
        let well = probed.rows.iter().all(|row| !row.fails());
        return bounds.to.filter(|_| well).map(|to| [to, SLOPE]);
    };
    let capacity = capacity / requests_per_arrival(plan);
    let within = |rate: f64| rate.clamp(bounds.lowest, bounds.to.unwrap_or(f64::INFINITY).max(bounds.lowest));
    if asked.iter().all(|asked| asked.criterion.limit.is_none()) {
        return Some([within(UNKNOWN * capacity), SLOPE]);
    }
    let service = dist::parse("empirical(probe)", &|_| Ok(times.clone())).ok()?;
    let model = Model::station(Station::new(probed.servers, service));
    let own = f64::from(probed.servers) / (probed.service_s * requests_per_arrival(plan));
    let ratio = |rate: f64| -> Option<f64> {
        let seed = Stream::new(plan.seed, streams::DERIVED).bits(0, 0) >> 11;
        let plan = at_rate(plan, rate, seed, Nanos::from_secs(24 * 3600)).ok()?;
        let play = Play { plan, limits: base.limits, model: model.clone(), streamed: Vec::new() };
        let new = || Count { asked: asked.to_vec(), n: 0, beyond: vec![0; asked.len()] };
        let count = in_virtual_time_with(&play, new).ok()?;
        let n = (count.n - WARM_UP.min(count.n)).max(1) as f64;
        let each = asked.iter().zip(&count.beyond).filter(|(asked, _)| asked.criterion.limit.is_some());
        each.map(|(asked, k)| (*k as f64 + 0.5) / (n * asked.criterion.share)).reduce(f64::max)
    };
    let (mut low, mut high) = (0.0, own);
    for _ in 0..HALVED {
        let middle = 0.5 * (low + high);
        if ratio(middle)? > 1.0 { high = middle } else { low = middle }
    }
    let knee = 0.5 * (low + high);
    let slope = (ratio(1.05 * knee)? / ratio(0.95 * knee)?).ln() / (1.05f64 / 0.95).ln();
    let [least, most] = OF_CAPACITY.map(|share| share * capacity);
    Some([within((knee / own * capacity).clamp(least, most)), slope.clamp(SLOPES[0], SLOPES[1])])
}

/// Counts what is beyond the limits.
struct Count {
    asked: Vec<Asked>,
    n: u64,
    beyond: Vec<u64>,
}

impl RecordSink for Count {
    fn start(&mut self, _: Started) {}
    fn record(&mut self, record: Record) {
        if record.kind != Kind::Request || self.n >= PLAYED {
            return;
        }
        self.n += 1;
        if self.n > WARM_UP {
            for (asked, beyond) in self.asked.iter().zip(&mut self.beyond) {
                *beyond += u64::from(asked.criterion.limit.is_some_and(|limit| record.response() > limit));
            }
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn has_enough(&self) -> bool {
        self.n >= PLAYED
    }
    fn finish(&mut self, _: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many servers as there are users: throughput grows until `--to` ends the probes. What it was then is no capacity.
    #[test]
    fn probes_that_to_ends_do_not_tell_a_capacity() {
        use headway_base::{Phase, Profile, Rate};
        use headway_workload::journey::Journey;
        use headway_workload::plan::{Connections, Group};
        let length = Nanos::from_secs(5);
        let profile = Arc::new(Profile::new(&[Phase::hold(length, Rate(50.0))]));
        let source = Source::Arrivals { process: headway_workload::Process::Poisson, profile };
        let plan =
            Plan::of(3, Group::of(source, Journey::single(), Connections::Shared), Nanos::ZERO, length);
        let service = dist::parse("exp(8ms)", &|_| Err(String::new())).unwrap();
        let model = Model::station(Station::new(64, service));
        let base = RunSpec::new("wide", plan, 1_000);
        let backend = Backend::Sim(Box::new(crate::Sim::new(model)));
        let asked = [Asked::of(&"p(99)<60".parse().unwrap()).unwrap()];
        let bounds = Bounds { from: 10.0, lowest: 0.1, to: Some(300.0), precision: 0.1 };
        let probed = probe(&base, &backend, &asked, &bounds, &Control::default(), |_| ()).unwrap();
        assert!(probed.rows.iter().all(|row| row.per_second <= 305.0), "{probed:?}");
        assert_eq!((probed.capacity, probed.expected), (None, Some([300.0, SLOPE])));
        let free = Bounds { to: None, ..bounds };
        let probed = probe(&base, &backend, &asked, &free, &Control::default(), |_| ()).unwrap();
        assert!(probed.capacity.is_some_and(|most| (6_000.0..9_000.0).contains(&most)), "{probed:?}");
    }
}
