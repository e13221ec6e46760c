//! Queues that go on from block to block: each takes arrivals with their services and tells when they end.

use headway_base::random::{Draws, Stream, streams};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What is told back of an arrival when it ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Token {
    /// When it was due.
    pub intended: i64,
    pub counted: bool,
    pub ok: bool,
}

/// Servers that take what comes in order.
#[derive(Clone, Debug, Default)]
pub(super) struct InOrder {
    free: BinaryHeap<Reverse<i64>>,
}

impl InOrder {
    /// From now on with so many servers. A queue of c servers in order goes on from its c latest ends; `ended(k)` is what is taken for
    /// the k-th latest, counted from 0, where it has not as many.
    pub fn with_servers(&mut self, servers: usize, ended: impl Fn(usize) -> i64) {
        while self.free.len() < servers {
            self.free.push(Reverse(ended(self.free.len())));
        }
        while self.free.len() > servers.max(1) {
            self.free.pop();
        }
    }

    /// Serves and tells when that ends.
    #[inline]
    pub fn serve(&mut self, at: i64, service: i64) -> i64 {
        let Some(mut next) = self.free.peek_mut() else { return at + service };
        next.0 = next.0.max(at) + service;
        next.0
    }

    /// When the next server is free.
    fn next(&self) -> i64 {
        self.free.peek().map_or(i64::MIN, |next| next.0)
    }
}

/// The same with a limit: what comes while too many wait is turned away.
#[derive(Clone, Debug, Default)]
pub(super) struct Limited {
    pub queue: InOrder,
    /// When those begin that wait.
    begins: VecDeque<i64>,
}

impl Limited {
    /// A limit for a queue that had none so far.
    pub fn with(queue: InOrder) -> Limited {
        Limited { queue, begins: VecDeque::new() }
    }

    /// When it ends; none if it is turned away since so many wait.
    pub fn serve(&mut self, at: i64, service: i64, waiting: usize) -> Option<i64> {
        while self.begins.front().is_some_and(|&begins| begins <= at) {
            self.begins.pop_front();
        }
        let next = self.queue.next();
        if next > at {
            if self.begins.len() >= waiting {
                return None;
            }
            self.begins.push_back(next);
        }
        Some(self.queue.serve(at, service))
    }
}

/// One server that all there share.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// By how much each must have been attained when it ends. None are negative, so that their bits have their order.
    there: BinaryHeap<Reverse<(u64, Token)>>,
    attained: f64,
    now: i64,
}

impl Shared {
    /// Takes an arrival; `end` is told of what ended before.
    #[inline]
    pub fn arrive(&mut self, at: i64, service: i64, token: Token, end: impl FnMut(i64, Token)) {
        let at = at.max(self.now);
        self.until(at, end);
        if self.there.is_empty() {
            self.attained = 0.0;
        } else {
            self.attained += (at - self.now) as f64 / self.there.len() as f64;
        }
        self.now = at;
        self.there.push(Reverse(((self.attained + service as f64).to_bits(), token)));
    }

    /// Nothing comes any more.
    pub fn finish(&mut self, end: impl FnMut(i64, Token)) {
        self.until(i64::MAX, end);
    }

    fn until(&mut self, at: i64, mut end: impl FnMut(i64, Token)) {
        while let Some(Reverse((needed, token))) = self.there.peek().copied() {
            let needed = f64::from_bits(needed);
            let next =
                self.now + ((needed - self.attained).max(0.0) * self.there.len() as f64).round() as i64;
            if next > at {
                return;
            }
            (self.now, self.attained) = (next, needed);
            self.there.pop();
            end(next, token);
        }
    }
}

/// In which order one server takes those that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The last that came.
    Last,
    /// Any.
    Random,
}

/// From so many on, the order among those that wait is not kept where one is taken out.
const LONG: usize = 256;

/// One server that does not take what comes in order.
#[derive(Clone, Debug)]
pub(super) struct OneServer {
    order: Order,
    waiting: Vec<(i64, i64, Token)>,
    free: i64,
    draws: Draws,
}

impl OneServer {
    pub fn new(order: Order) -> OneServer {
        let draws = Stream::new(0, streams::REPLAY).item(1);
        OneServer { order, waiting: Vec::new(), free: i64::MIN, draws }
    }

    /// Takes an arrival; `end` is told of what began before.
    #[inline]
    pub fn arrive(&mut self, at: i64, service: i64, token: Token, end: impl FnMut(i64, Token)) {
        let at = self.waiting.last().map_or(at, |last| at.max(last.0));
        self.until(at, end);
        self.waiting.push((at, service, token));
    }

    /// Nothing comes any more.
    pub fn finish(&mut self, end: impl FnMut(i64, Token)) {
        self.until(i64::MAX, end);
    }

    fn until(&mut self, before: i64, mut end: impl FnMut(i64, Token)) {
        while let Some(first) = self.waiting.first() {
            let at = self.free.max(first.0);
            if at >= before {
                return;
            }
            let n = self.waiting.len();
            let i = match self.order {
                Order::Last => n - 1,
                Order::Random => ((self.draws.open01() * n as f64) as usize).min(n - 1),
            };
            let (_, service, token) =
                if n > LONG { self.waiting.swap_remove(i) } else { self.waiting.remove(i) };
            self.free = at + service;
            end(self.free, token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::special::exponential;

    fn token(intended: i64) -> Token {
        Token { intended, counted: true, ok: true }
    }

    /// Poisson arrivals and exponential services at 70 % of one server: the mean response time is service / (1 - 0.7) in whatever order
    /// is served, as long as it does not look at services.
    #[test]
    fn each_order_has_the_mean_response_time_of_an_m_m_1_queue() {
        let mut draws = Stream::new(1, streams::GAP).item(0);
        let (mut at, n) = (0.0, 400_000);
        let mut arrivals = Vec::new();
        for _ in 0..n {
            at += exponential(&mut draws) * 1e6;
            arrivals.push((at as i64, (exponential(&mut draws) * 0.7e6) as i64));
        }
        let mut sums = [0.0; 4];
        let (mut fifo, mut shared) = (InOrder::default(), Shared::default());
        let (mut last, mut random) = (OneServer::new(Order::Last), OneServer::new(Order::Random));
        fifo.with_servers(1, |_| i64::MIN);
        for &(at, service) in &arrivals {
            sums[0] += (fifo.serve(at, service) - at) as f64;
            shared.arrive(at, service, token(at), |end, token| sums[1] += (end - token.intended) as f64);
            last.arrive(at, service, token(at), |end, token| sums[2] += (end - token.intended) as f64);
            random.arrive(at, service, token(at), |end, token| sums[3] += (end - token.intended) as f64);
        }
        shared.finish(|end, token| sums[1] += (end - token.intended) as f64);
        last.finish(|end, token| sums[2] += (end - token.intended) as f64);
        random.finish(|end, token| sums[3] += (end - token.intended) as f64);
        let means = sums.map(|sum| sum / f64::from(n) / 1e6);
        // The first and the last two serve the same work in another order: the same mean to the digit, as nothing looks at services;
        // the relative error of a mean of n is about sqrt(2 (1 + rho) / n) / (1 - rho), here 1.0 %.
        for mean in means {
            assert!((mean / (0.7 / 0.3) - 1.0).abs() < 0.04, "{means:?}");
        }
    }

    #[test]
    fn a_queue_with_a_limit_turns_away_what_is_too_many() {
        let mut limited = Limited::default();
        limited.queue.with_servers(1, |_| i64::MIN);
        let ends: Vec<_> = [0, 1, 2, 10, 11].map(|at| limited.serve(at, 10, 1)).to_vec();
        assert_eq!(ends, [Some(10), Some(20), None, Some(30), None]);
    }

    #[test]
    fn a_queue_of_other_servers_goes_on_from_the_latest_ends() {
        let mut queue = InOrder::default();
        queue.with_servers(3, |_| i64::MIN);
        [5, 9, 7].iter().for_each(|&service| assert_eq!(queue.serve(0, service), service));
        queue.with_servers(2, |_| i64::MIN);
        assert_eq!(queue.serve(0, 1), 8);
        // Ends at 9 and 8; the third latest was at 4.
        queue.with_servers(3, |k| [9, 8, 4][k]);
        assert_eq!(queue.serve(0, 1), 5);
    }
}
