//! What a closed loop hid, estimated: Poisson arrivals at the run's mean rate, replayed through what the run showed of its
//! target.
//!
//! The target is taken for a station of c servers, first come first served. From the records follow
//! - c, by two bounds. An answer that overtakes j earlier requests shows at least j + 1 servers: the depth that the 99th
//!   percentile of answers reaches. And c is at most the number of requests in flight at which completions per second stop
//!   growing (the flow-equivalent server of Chandy, Herzog and Woo 1975); this is heard where fewer in flight are seen to do
//!   less. The larger of the two is taken.
//! - when each request came into service: when it was sent, or when the c-th completion before it made room; and how long
//!   its service took from then on. A request that was sent into a stop of the target is in service, if at all, until
//!   the stop ends, and those behind it are not.
//!
//! In the replay a request that comes into service takes the service of one that came into service at about the same
//! time: any of those within 32 mean headways either way (the nearest one alone would be long more often than it should:
//! long services leave long gaps behind them), the nearest one where there was none. So a stop lasts as long as it did for the
//! users of the run, and meets those whom the loop kept away. One that was not taken yet goes before those that were: drawn
//! with replacement, services would vary twice, by what they were in that stretch and by which of them were drawn, and
//! the p99 of four servers at 80 % would come out a third too high. More than 32 let requests slip through a stop.
//!
//! Lanes as many as requests in flight, each taking the whole response time of the nearest request, would be simpler and do
//! badly: a request's response time holds its wait for others, and twenty lanes work off a backlog several times as fast
//! as four servers do (p99 1.5 s where 1.8 s are true).
//!
//! Deliberately absent: an interval (the run is one sample of the target's stops), targets that do not serve in order (one
//! that shares its time among all has a longer tail than this tells), and the effect of a higher concurrency than was seen.

use crate::cells::Fine;
use crate::moments::Sums;
use crate::summary::{Estimated, LanesFrom, Text, Why};
use headway_base::random::{Stream, streams};
use headway_base::special::exponential;
use headway_base::{Nanos, Record};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Most requests that are kept: 48 MB, and for a moment at the end three times that.
const MOST: usize = 4_000_000;
/// Fewest that tell anything.
const FEWEST: usize = 100;
/// Share of answers that overtake no more requests than are taken for servers at work.
const DEPTH: f64 = 0.99;
/// Fewest completions with so many in flight that tell the pace there: 5 % to either side.
const PACED: u64 = 400;
/// From this share of the highest pace on it has stopped growing.
const FULL: f64 = 0.85;
/// Requests that came into service within so many mean headways stand for each other.
const NEAR: f64 = 32.0;
/// From this share of the servers' time on they are taken for busy all the time: a queue that is asked for 99 % forgets its
/// beginning only after some 40,000 services of a server, which no run shows.
const BUSY: f64 = 0.99;
/// Share of the requests' time that went into waiting, from which on there was a queue.
const WAITED: f64 = 0.1;
/// Unit of a kept span, as a power of two in nanoseconds: 256 ns, up to 18 minutes.
const UNIT: u32 = 8;

/// When requests were sent, and how long they took from then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    sent: Vec<i64>,
    took: Vec<u32>,
    /// There were more than are kept.
    overflow: bool,
}

/// A service as it was seen: when it began, and how long it took.
#[derive(Clone, Copy, Debug)]
struct Service {
    begun: i64,
    took: i64,
}

impl Observed {
    pub fn push(&mut self, record: &Record) {
        let Some(sent) = record.sent.get() else { return };
        if self.sent.len() == MOST {
            self.overflow = true;
            return;
        }
        self.sent.push(sent.0);
        let took = (record.done - sent).0.max(0) as u64;
        self.took.push(u32::try_from(took >> UNIT).unwrap_or(u32::MAX));
    }

    /// The replay over a stretch of time, or why there is none.
    pub fn estimate(mut self, range: Range<Nanos>, seed: u64) -> Result<Estimated, Why> {
        let n = self.sent.len();
        if self.overflow {
            return Err(Why::ManyRequests { most: MOST as u64 });
        }
        if n < FEWEST {
            return Err(Why::FewRequests { needed: FEWEST as u64, n: n as u64 });
        }
        let length = (range.end - range.start).as_secs_f64();
        let rate = n as f64 / length;
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Why::NoLength);
        }
        let requests = self.by_sent();
        let seconds = |of: &[Service]| of.iter().map(|s| s.took as f64).sum::<f64>() / 1e9;
        let there = seconds(&requests);
        let mut ends: Vec<i64> = requests.iter().map(|r| r.begun + r.took).collect();
        ends.sort_unstable();
        let (depth, knee) = (overtaking(&requests, &ends), knee(&requests, &ends));
        let lanes = depth.max(knee.unwrap_or(1));
        let services = services(requests, &ends, lanes);
        // Where nobody waited, there may be more servers than were seen at work.
        let served = seconds(&services);
        let busy = served / (length * lanes as f64);
        if busy >= BUSY && served < (1.0 - WAITED) * there {
            return Err(Why::WouldPileUp { busy: busy.min(1.0), rate });
        }
        let near = (NEAR / rate * 1e9) as i64;
        let (cells, sums) = replay(&services, lanes, rate, near, &range, seed);
        let quantiles = cells.cells();
        let at = |p| quantiles.quantile(p).map(|x| x.min(cells.max) as f64 / 1e9);
        let lanes_from = match knee {
            Some(knee) if knee >= depth => LanesFrom::Completions,
            _ => LanesFrom::Order,
        };
        Ok(Estimated {
            n: sums.n,
            rate,
            mean: sums.mean().map(|m| m / 1e9),
            p50: at(0.5),
            p99: at(0.99),
            lanes: lanes as u64,
            lanes_from: Some(lanes_from),
            method: Text::default(),
        })
    }

    /// The requests in the order in which they were sent; `begun` is when they were.
    fn by_sent(&mut self) -> Vec<Service> {
        let (sent, took) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.took));
        let both = sent.into_iter().zip(took);
        let mut all: Vec<Service> =
            both.map(|(begun, took)| Service { begun, took: i64::from(took) << UNIT }).collect();
        all.sort_unstable_by_key(|s| (s.begun, s.took));
        all
    }
}

/// Servers that the order of the answers shows to be at work.
fn overtaking(requests: &[Service], ends: &[i64]) -> usize {
    let mut depths: Vec<usize> = requests
        .iter()
        .enumerate()
        .map(|(i, r)| {
            let ended_before = ends.partition_point(|&end| end < r.begun + r.took);
            (i + 1).saturating_sub(ended_before)
        })
        .collect();
    let place = ((depths.len() as f64 * DEPTH) as usize).min(depths.len() - 1);
    (*depths.select_nth_unstable(place).1).max(1)
}

/// The number in flight from which on completions per second do not grow; none where no fewer are seen to do less.
fn knee(requests: &[Service], ends: &[i64]) -> Option<usize> {
    let mut seen: Vec<(i64, u64)> = Vec::new();
    let (mut level, mut last) = (0usize, requests.first()?.begun);
    let mut starts = requests.iter().map(|r| r.begun).peekable();
    for &end in ends {
        // A request that is sent at the instant of an answer follows it.
        while let Some(start) = starts.next_if(|&start| start < end) {
            pass(&mut seen, level, start - last, false);
            last = start;
            level += 1;
        }
        pass(&mut seen, level, end - last, true);
        last = end;
        level = level.saturating_sub(1);
    }
    let pace = |&(time, answers): &(i64, u64)| answers as f64 / time.max(1) as f64;
    let told = || seen.iter().enumerate().skip(1).filter(|(_, s)| s.1 >= PACED);
    let most = told().map(|(_, s)| pace(s)).fold(0.0, f64::max);
    let lowest = told().next()?.0;
    let full = told().find(|(_, s)| pace(s) >= FULL * most)?.0;
    (full > lowest).then_some(full)
}

fn pass(seen: &mut Vec<(i64, u64)>, level: usize, time: i64, answer: bool) {
    if level >= seen.len() {
        seen.resize(level + 1, (0, 0));
    }
    seen[level].0 += time;
    seen[level].1 += u64::from(answer);
}

/// When each request came into service in a station of so many servers, and how long that took; in order of the first.
fn services(mut requests: Vec<Service>, ends: &[i64], servers: usize) -> Vec<Service> {
    for (i, r) in requests.iter_mut().enumerate() {
        let done = r.begun + r.took;
        let free = i.checked_sub(servers).map_or(r.begun, |before| ends[before]);
        r.begun = r.begun.max(free).min(done);
        r.took = done - r.begun;
    }
    requests.sort_unstable_by_key(|s| (s.begun, s.took));
    requests
}

fn replay(
    services: &[Service],
    lanes: usize,
    rate: f64,
    near: i64,
    range: &Range<Nanos>,
    seed: u64,
) -> (Fine, Sums) {
    let mut draws = Stream::new(seed, streams::REPLAY).item(0);
    let mut free: BinaryHeap<Reverse<i64>> = (0..lanes).map(|_| Reverse(i64::MIN)).collect();
    let (mut cells, mut sums) = (Fine::new(), Sums::default());
    let mut taken = vec![false; services.len()];
    let mut at = 0.0;
    loop {
        at += exponential(&mut draws) / rate * 1e9;
        let arrival = range.start.0 + at as i64;
        if arrival >= range.end.0 {
            return (cells, sums);
        }
        let Some(mut lane) = free.peek_mut() else { return (cells, sums) };
        let begins = lane.0.max(arrival);
        let done = begins + took(services, &mut taken, begins, near, draws.open01());
        lane.0 = done;
        drop(lane);
        let response = (done - arrival) as u64;
        cells.push(response, 1);
        sums.push(response, 1);
    }
}

/// The service of a request that came into service at about this instant; `u` in (0, 1) chooses, among those not taken yet
/// while there are any.
fn took(services: &[Service], taken: &mut [bool], at: i64, near: i64, u: f64) -> i64 {
    let from = services.partition_point(|s| s.begun < at - near);
    let to = from + services[from..].partition_point(|s| s.begun <= at + near);
    if to > from {
        let chosen = (from + (u * (to - from) as f64) as usize).min(to - 1);
        let chosen = (chosen..to).chain(from..chosen).find(|&i| !taken[i]).unwrap_or(chosen);
        taken[chosen] = true;
        return services[chosen].took;
    }
    let after = services.get(from);
    let before = from.checked_sub(1).map(|i| &services[i]);
    match (before, after) {
        (Some(b), Some(a)) => {
            if at - b.begun <= a.begun - at {
                b.took
            } else {
                a.took
            }
        }
        (b, a) => b.or(a).map_or(0, |s| s.took),
    }
}
