//! Targets in virtual time: what each draws, and a function from arrivals to ends. Times in seconds.
//!
//! Independent of the library's own replays: queues here are played by heaps of floats and by looking at every event.

use headway_base::random::{Draws, Stream};
use headway_base::special::exponential;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A number in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At(pub f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &At) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

pub fn draws(seed: u64, name: &str) -> Draws {
    Stream::new(seed, name).item(0)
}

/// A standard normal.
pub fn normal(draws: &mut Draws) -> f64 {
    (-2.0 * draws.open01().ln()).sqrt() * (std::f64::consts::TAU * draws.open01()).cos()
}

pub const TARGETS: [&str; 14] = [
    "mm1.5", "mm1.9", "mm4.5", "mm4.8", "md1.7", "c100", "c1000", "ln8", "ps.7", "lifo.7", "ros.7", "mm2q8",
    "tandem", "mm4gc",
];

/// Kinds that the rule was not made for: sharing and last come first with several servers, two steps that go to stations of their own,
/// and requests that are given up while the target goes on with them.
pub const BEYOND: [&str; 4] = ["ps4.7", "lifo4.7", "two", "given-up"];

/// When each ended, and whether it was turned away.
pub type Ends = (Vec<f64>, Vec<bool>);

/// What a target draws for each request; played with any arrivals.
pub struct Target {
    name: String,
    rate: f64,
    services: Vec<f64>,
    more: Vec<f64>,
    there: Vec<f64>,
    back: Vec<f64>,
}

impl Target {
    /// A target that is asked for `n` requests; a way there and back of exponential length with a mean of `way`.
    pub fn new(name: &str, rate: f64, n: usize, way: f64, seed: u64) -> Target {
        let mut service = draws(seed, "service");
        let mean = match name {
            "mm1.5" => 0.5,
            "mm1.9" | "given-up" => 0.9,
            "mm4.5" | "mm4gc" => 2.0,
            "ps4.7" | "lifo4.7" => 2.8,
            // One in two goes to a server, the others to four.
            "two" => 1.0,
            "mm4.8" => 3.2,
            "md1.7" | "ps.7" | "lifo.7" | "ros.7" | "tandem" => 0.7,
            "ln8" => 4.8,
            "mm2q8" => 1.9,
            "limit20" => 10.0,
            _ => 0.1 * rate,
        } / rate;
        let draw = |draws: &mut Draws| match name {
            "md1.7" | "c100" | "c1000" | "limit20" => mean,
            "ln8" => {
                let variance = 10.0f64.ln();
                mean * (variance.sqrt() * normal(draws) - variance / 2.0).exp()
            }
            _ => mean * exponential(draws),
        };
        let services = (0..n).map(|_| draw(&mut service)).collect();
        let mut other = draws(seed, "other");
        let more = (0..n)
            .map(|_| if name == "ros.7" { other.open01() } else { exponential(&mut other) * 0.7 / rate });
        let mut ways = draws(seed, "way");
        let mut way = || (0..n).map(|_| way * exponential(&mut ways)).collect();
        let (there, back) = (way(), way());
        Target { name: name.into(), rate, services, more: more.collect(), there, back }
    }

    /// When what starts then ends; starts in order.
    pub fn play(&self, starts: &[f64]) -> Ends {
        let mut last = f64::MIN;
        let arrive = |(start, there): (&f64, &f64)| {
            last = last.max(start + there);
            last
        };
        let arrivals: Vec<f64> = starts.iter().zip(&self.there).map(arrive).collect();
        let (mut ends, refused) = self.at_target(&arrivals);
        ends.iter_mut().zip(&self.back).for_each(|(end, back)| *end += back);
        (ends, refused)
    }

    /// After how many seconds a request is given up, if it is.
    pub fn given_up(&self) -> Option<f64> {
        (self.name == "given-up").then_some(30.0 / self.rate)
    }

    /// One step in two at one server that is half busy, the other at four that are so for four fifths.
    fn two(&self, arrivals: &[f64]) -> Vec<f64> {
        let mut ends = vec![0.0; arrivals.len()];
        for (step, servers, longer) in [(0, 1, 1.0), (1, 4, 6.4)] {
            let own: Vec<usize> = (0..arrivals.len())
                .filter(|&i| usize::from(self.more[i] * self.rate > 0.485) == step)
                .collect();
            let at: Vec<f64> = own.iter().map(|&i| arrivals[i]).collect();
            let services: Vec<f64> = own.iter().map(|&i| longer * self.services[i]).collect();
            own.iter().zip(fifo(&at, &services, servers)).for_each(|(&i, end)| ends[i] = end);
        }
        ends
    }

    fn at_target(&self, arrivals: &[f64]) -> Ends {
        let s = &self.services;
        let none = vec![false; arrivals.len()];
        match &self.name[..] {
            "mm1.5" | "mm1.9" | "given-up" | "md1.7" => (fifo(arrivals, s, 1), none),
            "mm4.5" | "mm4.8" => (fifo(arrivals, s, 4), none),
            "c100" => (fifo(arrivals, s, 100), none),
            "c1000" => (fifo(arrivals, s, 1_000), none),
            "ln8" => (fifo(arrivals, s, 8), none),
            "ps.7" => (shared(arrivals, s, 1), none),
            "ps4.7" => (shared(arrivals, s, 4), none),
            "lifo.7" => (one(arrivals, s, None), none),
            "lifo4.7" => (last_first(arrivals, s, 4), none),
            "two" => (self.two(arrivals), none),
            "ros.7" => (one(arrivals, s, Some(&self.more)), none),
            "mm2q8" => limited(arrivals, s, 2, 8),
            "limit20" => limited(arrivals, s, 20, 0),
            "tandem" => (fifo(&fifo(arrivals, s, 1), &self.more, 1), none),
            "mm4gc" => {
                // It stands still 60 ms once a second, and catches up.
                let last = arrivals.last().copied().unwrap_or(0.0);
                let holds: Vec<_> = (0..(last * 1.5) as usize + 60).map(|k| (0.3 + k as f64, 0.06)).collect();
                let own = Own(&holds);
                let within: Vec<f64> = arrivals.iter().map(|&a| own.within(a)).collect();
                (fifo(&within, s, 4).into_iter().map(|d| own.instant(d)).collect(), none)
            }
            name => unreachable!("{name} at {}", self.rate),
        }
    }
}

/// The time of what stands still in these: (from, length) in order.
pub struct Own<'a>(pub &'a [(f64, f64)]);

impl Own<'_> {
    pub fn within(&self, at: f64) -> f64 {
        let i = self.0.partition_point(|h| h.0 <= at);
        let before: f64 = self.0[..i].iter().map(|h| h.1).sum();
        let last = i.checked_sub(1).map_or(0.0, |i| (self.0[i].0 + self.0[i].1 - at).max(0.0));
        at - before + last
    }

    pub fn instant(&self, within: f64) -> f64 {
        let mut before = 0.0;
        for h in self.0 {
            if h.0 - before >= within {
                break;
            }
            before += h.1;
        }
        within + before
    }
}

pub fn fifo(arrivals: &[f64], services: &[f64], servers: usize) -> Vec<f64> {
    let mut free: BinaryHeap<Reverse<At>> = (0..servers).map(|_| Reverse(At(f64::MIN))).collect();
    let serve = |(&at, &service): (&f64, &f64)| {
        let begins = free.pop().map_or(at, |free| free.0.0.max(at));
        free.push(Reverse(At(begins + service)));
        begins + service
    };
    arrivals.iter().zip(services).map(serve).collect()
}

fn limited(arrivals: &[f64], services: &[f64], servers: usize, waiting: usize) -> Ends {
    let mut free: BinaryHeap<Reverse<At>> = (0..servers).map(|_| Reverse(At(f64::MIN))).collect();
    let mut begins: VecDeque<f64> = VecDeque::new();
    let mut refused = vec![false; arrivals.len()];
    let mut ends = Vec::new();
    for (i, (&at, service)) in arrivals.iter().zip(services).enumerate() {
        while begins.front().is_some_and(|&b| b <= at) {
            begins.pop_front();
        }
        let next = free.peek().unwrap().0.0;
        if next > at && begins.len() >= waiting {
            refused[i] = true;
            ends.push(at + 1e-4);
            continue;
        }
        free.pop();
        let begin = next.max(at);
        begins.push_back(begin);
        free.push(Reverse(At(begin + service)));
        ends.push(begin + service);
    }
    (ends, refused)
}

/// As many servers as that share what they can do, none of which does more for a request than its own part.
fn shared(arrivals: &[f64], services: &[f64], servers: usize) -> Vec<f64> {
    let mut ends = vec![0.0; arrivals.len()];
    let mut there: BinaryHeap<Reverse<(At, usize)>> = BinaryHeap::new();
    let (mut attained, mut now, mut next) = (0.0, 0.0, 0);
    loop {
        let each = (servers as f64 / there.len().max(1) as f64).min(1.0);
        let ending = there.peek().map(|Reverse((tag, i))| (now + (tag.0 - attained) / each, tag.0, *i));
        match (ending, arrivals.get(next)) {
            (None, None) => return ends,
            (Some((end, tag, i)), at) if at.is_none_or(|&at| end < at) => {
                (now, attained, ends[i]) = (end, tag, end);
                there.pop();
            }
            (_, Some(&at)) => {
                if !there.is_empty() {
                    attained += (at - now) * each;
                }
                now = at;
                there.push(Reverse((At(attained + services[next]), next)));
                next += 1;
            }
            (Some(_), None) => unreachable!(),
        }
    }
}

/// Several servers, each of which takes the last that came.
fn last_first(arrivals: &[f64], services: &[f64], servers: usize) -> Vec<f64> {
    let mut ends = vec![0.0; arrivals.len()];
    let mut busy: BinaryHeap<Reverse<At>> = BinaryHeap::new();
    let (mut waiting, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut begin = |i: usize, at: f64, busy: &mut BinaryHeap<Reverse<At>>| {
        ends[i] = at + services[i];
        busy.push(Reverse(At(ends[i])));
    };
    while next < arrivals.len() || !waiting.is_empty() {
        let ends_at = busy.peek().map(|end| end.0.0);
        match arrivals.get(next) {
            Some(&at) if ends_at.is_none_or(|end| at < end) => {
                if busy.len() < servers {
                    begin(next, at, &mut busy)
                } else {
                    waiting.push(next)
                }
                next += 1;
            }
            _ => {
                let Some(end) = ends_at else { break };
                busy.pop();
                if let Some(i) = waiting.pop() {
                    begin(i, end, &mut busy);
                }
            }
        }
    }
    ends
}

/// One server, the last that came first, or one that is drawn by these.
fn one(arrivals: &[f64], services: &[f64], random: Option<&[f64]>) -> Vec<f64> {
    let mut ends = vec![0.0; arrivals.len()];
    let (mut waiting, mut next, mut free, mut choice): (Vec<usize>, _, _, _) = (Vec::new(), 0, f64::MIN, 0);
    while next < arrivals.len() || !waiting.is_empty() {
        if waiting.is_empty() {
            free = arrivals[next].max(free);
        }
        while next < arrivals.len() && arrivals[next] <= free {
            waiting.push(next);
            next += 1;
        }
        let n = waiting.len();
        let k = random.map_or(n - 1, |u| ((u[choice % u.len()] * n as f64) as usize).min(n - 1));
        choice += 1;
        let i = waiting.remove(k);
        free += services[i];
        ends[i] = free;
    }
    ends
}
