//! How many servers a queue in order may have: as many as overtaking shows, and as many as make services depend least on the
//! number there.

use super::RESOLUTION;
use super::block::{Block, View};

/// Share of responses that overtake so many that it shows no servers.
const STRAY: f64 = 0.002;
/// Requests of a block that the search looks at.
const SAMPLE: usize = 20_000;
/// Depths that are kept apart.
const DEEPEST: usize = 100_000;
/// Standard errors by which a correlation must differ from none for another number of servers to be looked for.
const FAR: f64 = 3.0;

/// By how many earlier requests responses came sooner, of the whole run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    depths: Vec<u64>,
    n: u64,
}

impl Servers {
    /// Takes the responses of a block.
    pub fn overtaking(&mut self, block: &Block) {
        let view = View::plain(block);
        let running = block.running(false);
        for k in 0..view.places() {
            let Some(i) = view.place(k).0.filter(|&i| i < block.core() && !block.is_refused(i)) else {
                continue;
            };
            let depth = (running + i + 1).saturating_sub(k).clamp(1, DEEPEST);
            if depth >= self.depths.len() {
                self.depths.resize(depth + 1, 0);
            }
            self.depths[depth] += 1;
            self.n += 1;
        }
    }

    /// As many servers as were at work at least, in a queue in order.
    pub fn shown(&self) -> usize {
        quantile(&self.depths, self.n, 1.0 - STRAY).max(1)
    }
}

/// The quantile of numbers that were counted, the lower one.
pub(super) fn quantile(counts: &[u64], n: u64, p: f64) -> usize {
    let place = (n.saturating_sub(1) as f64 * p) as u64;
    let mut up_to = 0;
    for (x, count) in counts.iter().enumerate() {
        up_to += count;
        if up_to > place {
            return x;
        }
    }
    0
}

/// A request of the sample.
struct Looked {
    started: i64,
    ended: i64,
    /// How many that were served started before.
    number: usize,
    /// How many were there, and its rank.
    there: usize,
    rank: f64,
}

/// Servers at which services depend least on the number there: where the sign of the correlation of ranks turns. `last` are those
/// of the block before, which stand unless something speaks against them.
pub(super) fn best(view: &View, last: Option<usize>) -> usize {
    let mut sample = sample(view);
    if sample.len() < 10 {
        return last.unwrap_or(1);
    }
    let mut order: Vec<usize> = (0..sample.len()).collect();
    order.sort_unstable_by_key(|&k| sample[k].there);
    let ranked: Vec<(usize, f64)> = ranks(&order, |k| sample[k].there).collect();
    ranked.into_iter().for_each(|(k, rank)| sample[k].rank = rank);
    let most = sample.iter().map(|s| s.there).max().unwrap_or(0) + 1;
    let mut services = vec![0; sample.len()];
    let error = 1.0 / (sample.len() as f64).sqrt();
    if let Some(last) = last {
        let r = correlation(view, &sample, last, &mut services, &mut order);
        if r.is_some_and(|r| r.abs() < FAR * error) {
            return last;
        }
    }
    let (mut a, mut b) = (1, most);
    while a < b {
        let m = a.midpoint(b);
        // Too few servers: services would begin after their ends, or take in what was a wait.
        if correlation(view, &sample, m, &mut services, &mut order).is_none_or(|r| r < 0.0) {
            a = m + 1;
        } else {
            b = m;
        }
    }
    a
}

fn sample(view: &View) -> Vec<Looked> {
    let block = view.block;
    let step = block.core().div_ceil(SAMPLE).max(1);
    let (running, served) = (block.running(false), block.running(true));
    let (mut ended, mut number) = (0, served);
    let mut all = Vec::with_capacity(block.core() / step + 1);
    for i in 0..block.core() {
        let refused = block.is_refused(i);
        if i % step == 0 && !refused {
            let started = view.started(i);
            while ended < view.places() && view.place(ended).1 <= started {
                ended += 1;
            }
            let there = (running + i).saturating_sub(ended);
            all.push(Looked { started, ended: view.ended(i), number, there, rank: 0.0 });
        }
        number += usize::from(!refused);
    }
    all
}

/// Correlation of the ranks of services and of the number there, with so many servers; none where such services are not possible. Services
/// that are all the same depend on nothing.
fn correlation(
    view: &View,
    sample: &[Looked],
    servers: usize,
    services: &mut [i64],
    order: &mut [usize],
) -> Option<f64> {
    let ends = view.served();
    let mut impossible = 0;
    for (service, looked) in services.iter_mut().zip(sample) {
        let free = looked.number.checked_sub(servers).map_or(i64::MIN, |k| view.ended_of(ends[k]));
        let begun = looked.started.max(free);
        impossible += usize::from(begun > looked.ended.saturating_add(RESOLUTION));
        *service = (looked.ended - begun).max(0);
    }
    if impossible as f64 > STRAY * sample.len() as f64 {
        return None;
    }
    let (least, most) = services.iter().fold((i64::MAX, 0), |(a, b), &s| (a.min(s), b.max(s)));
    if most - least <= 1_000 {
        return Some(0.0);
    }
    order.sort_unstable_by_key(|&k| services[k]);
    let n = sample.len() as f64;
    let mean = (n - 1.0) / 2.0;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (k, rank) in ranks(order, |k| services[k]) {
        let (x, y) = (rank - mean, sample[k].rank - mean);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    // Where the number there is always the same, nothing depends on it.
    Some(if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 })
}

/// Ranks from 0, the mean of those of equal values, of what is in order.
fn ranks<T: PartialEq>(order: &[usize], value: impl Fn(usize) -> T) -> impl Iterator<Item = (usize, f64)> {
    let (mut from, mut to) = (0, 0);
    (0..order.len()).map(move |place| {
        if place >= to {
            (from, to) = (place, place + 1);
            while to < order.len() && value(order[to]) == value(order[from]) {
                to += 1;
            }
        }
        (order[place], (from + to - 1) as f64 / 2.0)
    })
}
