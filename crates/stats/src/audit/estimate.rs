//! By how much a p99 is off that was measured with starts which are not independent, estimated: the same target under independent starts
//! at the same rate, beside it under the starts of the file.
//!
//! The target is the station of [`super::fifo`]. Both loads meet the same services (common random numbers), drawn from those of the
//! file; each replication draws the services of a load of that size anew first (Efron 1979), so that the interval holds what
//! the file leaves open of them, and takes its turn among the numbers of servers between which nothing decides. There is an estimate
//! only where the model gives back the p50 and p99 of the file. What it misses of the p99 widens the interval.
//!
//! Deliberately absent: loads of sessions, whose requests are not independent by design; rates that change.

use super::fifo::{Fitted, Rows};
use crate::summary::{P99Off, Why};
use headway_base::random::{Draws, Stream, streams};
use headway_base::special::exponential;
use headway_base::station::{Admission, Station};
use headway_base::{Nanos, Record};

/// Requests that are kept, from the first on: 1.6 MB.
const MOST: usize = 100_000;
/// Replications, and the quantile of Student's t for 95 % with one fewer degree.
const REPLICATIONS: usize = 60;
const T59: f64 = 2.001;
/// Fewest requests of a replication: so that what is drawn adds little to what services leave open.
const DRAWN: usize = 60_000;
/// By how much the p50 and the p99 of the replayed starts may miss those of the file.
const MISSES: f64 = 0.20;
/// Share of the servers' time above which independent starts would pile up for longer than any file shows.
const BUSY: f64 = 0.97;
/// Share of requests that may have failed.
const FAILED: f64 = 0.01;

/// The requests of a load as they come.
#[derive(Debug, Default)]
pub(super) struct Estimator {
    rows: Rows,
    n: u64,
    failed: u64,
}

impl Estimator {
    /// Takes a request, in the order of starts.
    #[inline]
    pub fn push(&mut self, started: Nanos, record: &Record) {
        self.n += 1;
        self.failed += u64::from(record.outcome != headway_base::Outcome::Ok);
        if self.rows.started.len() < MOST {
            self.rows.started.push(started.0);
            self.rows.done.push(record.done.0.max(started.0));
        }
    }

    /// The estimate, or why there is none. `grid` is what the stamps resolve.
    pub fn finish(mut self, grid: Nanos, seed: u64) -> Result<P99Off, Why> {
        if self.failed as f64 > FAILED * self.n as f64 {
            return Err(Why::RequestsFailed { failed: self.failed, n: self.n });
        }
        let fitted = self.rows.fit(grid.0.max(1))?;
        Model::new(&self.rows, &fitted)?.estimate(seed)
    }
}

/// What is replayed.
struct Model<'a> {
    rows: &'a Rows,
    fitted: &'a Fitted,
    /// Arrivals per nanosecond.
    rate: f64,
    busy: f64,
    mean: f64,
}

/// The p50 and the p99 of a load, in nanoseconds.
struct Percentiles {
    p50: f64,
    p99: f64,
}

impl Percentiles {
    /// Smallest x with F(x) >= p.
    fn of(values: &mut [i64]) -> Percentiles {
        let mut at = |p: f64| {
            let place = ((values.len() as f64 * p).ceil() as usize).clamp(1, values.len()) - 1;
            *values.select_nth_unstable(place).1 as f64
        };
        Percentiles { p50: at(0.5), p99: at(0.99) }
    }
}

impl<'a> Model<'a> {
    fn new(rows: &'a Rows, fitted: &'a Fitted) -> Result<Model<'a>, Why> {
        let n = rows.started.len();
        let length = (rows.started[n - 1] - rows.started[0]).max(1) as f64;
        let rate = (n - 1) as f64 / length;
        let (servers, services) = &fitted.stations[0];
        let mean = services.iter().map(|&x| x as f64).sum::<f64>() / services.len() as f64;
        let busy = rate * mean / *servers as f64;
        if busy > BUSY {
            return Err(Why::ServersBusy { busy: busy.min(1.0) });
        }
        Ok(Model { rows, fitted, rate, busy, mean })
    }

    fn estimate(&self, seed: u64) -> Result<P99Off, Why> {
        let (started, done) = (&self.rows.started, &self.rows.done);
        let mut took: Vec<i64> = started.iter().zip(done).map(|(s, d)| d - s).collect();
        let seen = Percentiles::of(&mut took);
        let draws = |stream| Stream::new(seed, stream).item(0);
        let (mut arrivals, mut services, mut picks) =
            (draws(streams::REPLAY), draws(streams::SERVICE), draws(streams::PICK));
        // Logarithms: of what the file's starts give, of what independent ones do, and of the first over the second.
        let (mut p50s, mut p99s, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for turn in 0..REPLICATIONS {
            let (servers, law) = &self.fitted.stations[turn % self.fitted.stations.len()];
            let law: Vec<i64> = (0..law.len()).map(|_| one_of(law, &mut picks)).collect();
            let (ours, independent) = self.replay(*servers, &law, &mut arrivals, &mut services);
            p50s.push(ours.p50.max(1.0).ln());
            p99s.push(ours.p99.max(1.0).ln());
            theirs.push(independent.p99.max(1.0).ln());
            ratios.push((ours.p99.max(1.0) / independent.p99.max(1.0)).ln());
        }
        let (p50, p99, independent) = (mean(&p50s), mean(&p99s), mean(&theirs));
        for (percentile, seen, replayed) in [(50.0, seen.p50, p50), (99.0, seen.p99, p99)] {
            if (seen.max(1.0).ln() - replayed).abs() > MISSES.ln_1p() {
                let (observed_s, replayed_s) = (seen / 1e9, replayed.exp() / 1e9);
                return Err(Why::ReplayMisses { percentile, observed_s, replayed_s });
            }
        }
        let ratio = mean(&ratios);
        let spread = ratios.iter().map(|x| (x - ratio).powi(2)).sum::<f64>() / (REPLICATIONS - 1) as f64;
        let (half, missed) = (T59 * spread.sqrt(), seen.p99.max(1.0).ln() - p99);
        let off = |log: f64| log.exp_m1();
        Ok(P99Off {
            n: started.len() as u64,
            rate: self.rate * 1e9,
            servers: self.fitted.stations.iter().map(|(c, _)| *c as u64).collect(),
            busy: self.busy,
            service_mean: self.mean / 1e9,
            p50_observed: seen.p50 / 1e9,
            p50_replayed: p50.exp() / 1e9,
            p99_observed: seen.p99 / 1e9,
            p99_replayed: p99.exp() / 1e9,
            p99_independent: independent.exp() / 1e9,
            off: off(ratio),
            ci95: [off(ratio - half + missed.min(0.0)), off(ratio + half + missed.max(0.0))],
            replications: REPLICATIONS as u64,
        })
    }

    /// Percentiles under the file's starts and under independent ones, several loads of each where they are short.
    fn replay(
        &self,
        servers: usize,
        law: &[i64],
        arrivals: &mut Draws,
        services: &mut Draws,
    ) -> (Percentiles, Percentiles) {
        let started = &self.rows.started;
        let passes = DRAWN.div_ceil(started.len());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..passes {
            let mut stations = [(); 2].map(|()| Station::new(servers as u32, None, None));
            let mut at = 0.0;
            for &start in started {
                let service = one_of(law, services);
                ours.push(response(&mut stations[0], start, service));
                theirs.push(response(&mut stations[1], at as i64, service));
                at += exponential(arrivals) / self.rate;
            }
        }
        (Percentiles::of(&mut ours), Percentiles::of(&mut theirs))
    }
}

fn response(station: &mut Station, at: i64, service: i64) -> i64 {
    match station.arrive(Nanos(at), Nanos(service)) {
        Admission::Departs(done) => done.0 - at,
        // No queue is limited here.
        Admission::Rejected => 0,
    }
}

fn one_of(law: &[i64], draws: &mut Draws) -> i64 {
    law[((draws.open01() * law.len() as f64) as usize).min(law.len() - 1)]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
