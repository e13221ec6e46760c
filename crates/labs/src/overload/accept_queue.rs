//! A server's accept queue in virtual time, and clients that connect to it for each request: what becomes of each SYN.
//!
//! The kernel admits a connection as long as the queue holds no more than the backlog, and drops the SYN else. The server takes
//! one connection at a time, and the next before it answers. A dropped SYN is sent again as the clients' kernel does, until the client gives up; it may cost
//! the server time, as it does where one processor does both.
//!
//! Deliberately absent: the network (delays of zero), requests that fail, and what the numbers mean.

use headway_base::random::{Stream, streams};
use headway_base::{Nanos, Rate};
use headway_sim::Calendar;
use headway_workload::arrivals::Arrivals;
use std::collections::VecDeque;
use std::sync::Arc;

/// When a kernel sends a SYN again that was not answered (RFC 6298 with an initial timeout of 1 s).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resend {
    /// How many retransmissions follow each other at the initial timeout before it doubles with each
    /// (`tcp_syn_linear_timeouts`, since Linux 6.5).
    pub linear: u32,
    /// How many follow those (`tcp_syn_retries`).
    pub retries: u32,
}

impl Resend {
    /// After 1, 3, 7, 15, 31 and 63 s; given up after 127.
    pub const DOUBLING: Resend = Resend { linear: 0, retries: 6 };
    const FIRST: Nanos = Nanos::from_secs(1);
    const LONGEST: Nanos = Nanos::from_secs(120);

    /// How many there are.
    pub fn count(self) -> u32 {
        self.linear + self.retries
    }

    /// Time from the first SYN to retransmission `n`, from 1; the one after the last is when the kernel gives up.
    pub fn after(self, n: u32) -> Nanos {
        (0..n).fold(Nanos::ZERO, |sum, j| {
            let doublings = j.saturating_sub(self.linear).min(20);
            sum + Nanos(Self::FIRST.0 << doublings).min(Self::LONGEST)
        })
    }

    /// Retransmissions that fall into `window` of a client that begins to connect at zero, and again whenever its kernel gives up.
    pub fn within(self, window: (Nanos, Nanos)) -> u64 {
        let round = self.after(self.count() + 1);
        let (mut begun, mut n) = (Nanos::ZERO, 0);
        while begun < window.1 {
            let times = (1..=self.count()).map(|i| begun + self.after(i));
            n += times.filter(|at| (window.0..window.1).contains(at)).count() as u64;
            n += u64::from(begun > Nanos::ZERO && (window.0..window.1).contains(&begun));
            begun += round;
        }
        n
    }
}

/// The kernel's timers, and what it does with a connection that it could not queue after all.
///
/// A timer of Linux fires on the grid of the wheel's level that it lies on: 1, 8, 64, 512, ... ticks for delays from 0, 63, 504, 4,032, ...
/// ticks on, and later than asked (`calc_index` in kernel/time/timer.c). So SYNs are sent again in batches. All SYNs of a batch reach the
/// queue before the acknowledgement of any: one free place lets all of them in, and the first acknowledgement takes it. The others
/// are established for their clients alone. Their requests are sent again (after 200, 200, 400, 800, ... ms) and so are their SYN-ACKs
/// (after 1, 2, 4, ... s, counted as TCPSynRetrans too); each try takes a place that is free then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timers {
    /// A tick of the kernel; above zero.
    pub tick: Nanos,
    /// When the plan's zero lies since a common multiple of the grids.
    pub phase: Nanos,
    /// How often a SYN-ACK is sent again (`tcp_synack_retries`).
    pub synack_retries: u32,
}

impl Timers {
    const FIRST_REQUEST: Nanos = Nanos::from_millis(200);

    /// When a timer fires that is set at `now` to go off after `delay`.
    pub fn fires(self, now: Nanos, delay: Nanos) -> Nanos {
        let expires = (now + self.phase).0 / self.tick.0 + (delay.0 + self.tick.0 - 1) / self.tick.0;
        let delta = expires - (now + self.phase).0 / self.tick.0;
        let level = (0..8).take_while(|level| delta >= 63_i64 << (3 * level)).count();
        let grid = 1_i64 << (3 * level);
        Nanos((expires / grid + 1) * grid * self.tick.0) - self.phase
    }

    /// From one sending of a request that was not acknowledged to sending `n` + 1, from 0.
    fn request_again(n: u32) -> Nanos {
        Nanos(Self::FIRST_REQUEST.0 << n.saturating_sub(1).min(9))
    }
}

/// The server, and the kernels at both ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct System {
    /// Connections served per second.
    pub capacity: Rate,
    /// The accept queue holds one more.
    pub backlog: u32,
    /// What each dropped SYN takes of the server's time.
    pub syn_cost: Nanos,
    /// From an answer to the same client's next SYN.
    pub turnaround: Nanos,
    /// When dropped SYNs come again.
    pub resend: Resend,
    /// How the kernel's timers fire; none: when they are due.
    pub timers: Option<Timers>,
}

impl System {
    /// Connections that are admitted at one time: those that wait, and the one that is served.
    pub fn admits(&self) -> u32 {
        self.backlog + 2
    }
}

/// The clients.
pub enum Load {
    /// Users who connect, ask, and connect again when they are answered, or when their kernel gives up. User i begins at
    /// `begin[i]`. The time from an answer to the next SYN is drawn from `turnarounds`, where there are any: else it is the system's.
    Simple { begin: Vec<Nanos>, turnarounds: Arc<[Nanos]>, seed: u64 },
    /// S-Clients: so many sockets that connect, from `begin[i]` on. One that is connected is handed on; one that is not after
    /// `timeout` is closed; another connects in its place at once.
    Held { begin: Vec<Nanos>, timeout: Nanos },
    /// A connection for each arrival, given up after `timeout`.
    Open { arrivals: Box<Arrivals>, timeout: Nanos },
}

/// Events per second in the window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Seen {
    /// SYNs sent, retransmissions among them.
    pub syns: f64,
    /// Of those, sent again.
    pub resent: f64,
    /// Connections established.
    pub established: f64,
    /// Requests answered.
    pub served: f64,
}

/// Plays a load; what was seen from `window.0` to before `window.1`.
pub fn play(system: &System, load: Load, window: (Nanos, Nanos)) -> Seen {
    let mut world = World::new(system, load, window);
    while world.step() {}
    let length = (window.1 - window.0).as_secs_f64();
    let [syns, resent, established, served] = world.counts.map(|n| n as f64 / length);
    Seen { syns, resent, established, served }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Connect,
    Resend,
    GiveUp,
    /// A client sends its request again, which the server's kernel has no connection for.
    Request(u32),
    /// The server's kernel sends a SYN-ACK again.
    SynAck(u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    began: Nanos,
    resent: u32,
}

const SYN: usize = 0;
const RESENT: usize = 1;
const ESTABLISHED: usize = 2;
const SERVED: usize = 3;

struct World<'a> {
    system: &'a System,
    work: Nanos,
    load: Load,
    window: (Nanos, Nanos),
    now: Nanos,
    calendar: Calendar<Event>,
    attempts: Vec<Attempt>,
    /// Connections that wait to be accepted.
    queue: VecDeque<u32>,
    /// The one that is served, and until when.
    served: Option<(u32, Nanos)>,
    /// When the next arrival is due, if there is one.
    arrival: Option<Nanos>,
    counts: [u64; 4],
    /// SYNs of a batch that found a place, and are not acknowledged yet.
    handshakes: Vec<u32>,
    answers: u64,
}

impl<'a> World<'a> {
    fn new(system: &'a System, mut load: Load, window: (Nanos, Nanos)) -> World<'a> {
        let mut calendar = Calendar::default();
        let mut arrival = None;
        let clients = match &mut load {
            Load::Simple { begin, .. } | Load::Held { begin, .. } => {
                for (id, at) in begin.iter().enumerate() {
                    calendar.add(*at, id as u32, Event::Connect);
                }
                begin.len()
            }
            Load::Open { arrivals, .. } => {
                arrival = arrivals.next().map(|arrival| arrival.intended);
                0
            }
        };
        World {
            system,
            work: Nanos::from_secs_f64(1.0 / system.capacity.per_second()),
            load,
            window,
            now: Nanos::ZERO,
            calendar,
            attempts: vec![Attempt::default(); clients],
            queue: VecDeque::new(),
            served: None,
            arrival,
            counts: [0; 4],
            handshakes: Vec::new(),
            answers: 0,
        }
    }

    fn count(&mut self, what: usize) {
        if self.now >= self.window.0 {
            self.counts[what] += 1;
        }
    }

    /// Lets the next thing happen; false when the window is over.
    fn step(&mut self) -> bool {
        let done = self.served.map_or(Nanos::MAX, |(_, at)| at);
        let due = self.calendar.next_at();
        let arrives = self.arrival.unwrap_or(Nanos::MAX);
        self.now = done.min(due).min(arrives);
        if self.now >= self.window.1 {
            return false;
        }
        if done == self.now {
            self.answer();
        } else if due == self.now {
            while self.calendar.next_at() == self.now
                && let Some((id, event)) = self.calendar.pop(self.now)
            {
                self.happen(id, event);
            }
            self.acknowledge();
        } else {
            self.arrive();
        }
        true
    }

    fn happen(&mut self, id: u32, event: Event) {
        match event {
            Event::Connect | Event::GiveUp => self.connect(id, matches!(event, Event::GiveUp)),
            Event::Resend => {
                self.count(SYN);
                self.count(RESENT);
                self.attempts[id as usize].resent += 1;
                if self.is_full() {
                    self.dropped(id);
                } else {
                    self.handshakes.push(id);
                }
            }
            Event::Request(n) => self.request_again(id, n),
            Event::SynAck(n) => self.synack_again(id, n),
        }
    }

    fn is_full(&self) -> bool {
        self.queue.len() > self.system.backlog as usize
    }

    /// The acknowledgements of a batch: those that find no place are established for their clients alone.
    fn acknowledge(&mut self) {
        for id in std::mem::take(&mut self.handshakes) {
            if !self.is_full() {
                self.established(id);
                continue;
            }
            match self.system.timers.filter(|_| matches!(self.load, Load::Simple { .. })) {
                Some(timers) => {
                    let at =
                        [Timers::request_again(0), Resend::FIRST].map(|delay| timers.fires(self.now, delay));
                    self.calendar.add(at[0], id, Event::Request(1));
                    self.calendar.add(at[1], id, Event::SynAck(1));
                }
                None => self.dropped(id),
            }
        }
    }

    fn request_again(&mut self, id: u32, n: u32) {
        let Some(timers) = self.system.timers else { return };
        if self.is_full() {
            self.calendar.add(timers.fires(self.now, Timers::request_again(n)), id, Event::Request(n + 1));
        } else {
            self.calendar.cancel(id);
            self.established(id);
        }
    }

    /// The client acknowledges it again. After the last one the server's kernel forgets the connection, and resets it at the next request.
    fn synack_again(&mut self, id: u32, n: u32) {
        let Some(timers) = self.system.timers else { return };
        if n > timers.synack_retries {
            self.calendar.cancel(id);
            return self.connect(id, false);
        }
        self.count(SYN);
        self.count(RESENT);
        if self.is_full() {
            let delay = Nanos(Resend::FIRST.0 << n.min(20));
            self.calendar.add(timers.fires(self.now, delay), id, Event::SynAck(n + 1));
        } else {
            self.calendar.cancel(id);
            self.established(id);
        }
    }

    fn arrive(&mut self) {
        if let Load::Open { arrivals, .. } = &mut self.load {
            self.arrival = arrivals.next().map(|arrival| arrival.intended);
            let id = self.attempts.len() as u32;
            self.attempts.push(Attempt::default());
            self.connect(id, false);
        }
    }

    /// The client begins to connect, perhaps in place of a connection that it has given up.
    fn connect(&mut self, id: u32, given_up: bool) {
        if given_up && matches!(self.load, Load::Open { .. }) {
            return;
        }
        self.attempts[id as usize] = Attempt { began: self.now, resent: 0 };
        self.syn(id);
    }

    fn syn(&mut self, id: u32) {
        self.count(SYN);
        if self.is_full() {
            self.dropped(id);
        } else {
            self.established(id);
        }
    }

    fn established(&mut self, id: u32) {
        self.count(ESTABLISHED);
        self.queue.push_back(id);
        self.take_next();
        if matches!(self.load, Load::Held { .. }) {
            // Handed on: another socket connects in its place at once.
            self.attempts[id as usize] = Attempt { began: self.now, resent: 0 };
            self.syn(id);
        }
    }

    fn dropped(&mut self, id: u32) {
        if let Some((_, until)) = &mut self.served {
            *until += self.system.syn_cost;
        }
        let resend = self.system.resend;
        let patience = match self.load {
            Load::Simple { .. } => Nanos::MAX,
            Load::Held { timeout, .. } | Load::Open { timeout, .. } => timeout,
        };
        let Attempt { began, resent } = self.attempts[id as usize];
        let until = patience.min(resend.after(resend.count() + 1));
        let again = resend.after(resent + 1);
        if again < until {
            let at = match self.system.timers {
                // From the last SYN, which was late itself.
                Some(timers) => timers.fires(self.now, again - resend.after(resent)),
                None => began + again,
            };
            self.calendar.add(at, id, Event::Resend);
        } else {
            self.calendar.add(began + until, id, Event::GiveUp);
        }
    }

    fn take_next(&mut self) {
        if self.served.is_none()
            && let Some(id) = self.queue.pop_front()
        {
            self.served = Some((id, self.now + self.work));
        }
    }

    fn answer(&mut self) {
        let Some((id, _)) = self.served.take() else { return };
        self.count(SERVED);
        self.take_next();
        if let Load::Simple { turnarounds, seed, .. } = &self.load {
            let draw = Stream::new(*seed, streams::SERVICE).item(self.answers).open01();
            let drawn = turnarounds.get((draw * turnarounds.len() as f64) as usize);
            let turnaround = drawn.copied().unwrap_or(self.system.turnaround);
            self.calendar.add(self.now + turnaround, id, Event::Connect);
        }
        self.answers += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(i64) -> Nanos = Nanos::from_secs;

    fn system(backlog: u32) -> System {
        System {
            capacity: Rate(100.0),
            backlog,
            syn_cost: Nanos::ZERO,
            turnaround: Nanos::ZERO,
            resend: Resend::DOUBLING,
            timers: None,
        }
    }

    #[test]
    fn retransmissions_come_as_kernels_send_them() {
        let times = |resend: Resend| {
            (1..=resend.count() + 1).map(|n| resend.after(n).0 / 1_000_000_000).collect::<Vec<_>>()
        };
        assert_eq!(times(Resend::DOUBLING), [1, 3, 7, 15, 31, 63, 127]);
        // Documentation/networking/ip-sysctl.rst: 1, 1, 1, 1, 1, 2, 4, ...
        assert_eq!(times(Resend { linear: 4, retries: 6 }), [1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131]);
        assert_eq!(
            Resend { linear: 0, retries: 9 }.after(9) - Resend { linear: 0, retries: 9 }.after(8),
            S(120)
        );
        assert_eq!(Resend::DOUBLING.within((S(60), S(120))), 1);
        assert_eq!(Resend::DOUBLING.within((S(0), S(120))), 6);
        // Given up after 127 s, it begins anew: at 127, 128, 130 s.
        assert_eq!(Resend::DOUBLING.within((S(120), S(131))), 3);
    }

    /// Linux 6.18 at 250 Hz, as seen on the wire: a second comes after 1.000 to 1.032 s, 8 s after 8.0 to 8.26 s, on the grid of the level.
    #[test]
    fn timers_fire_on_the_grid_of_their_level() {
        let timers = Timers { tick: Nanos::from_millis(4), phase: Nanos::ZERO, synack_retries: 5 };
        for (delay_ms, grid_ms) in [(200, 4), (1_000, 32), (4_000, 256), (8_000, 256), (32_000, 2_048)] {
            for now in (0..3_000).map(|i| Nanos(i * 1_234_567)) {
                let (at, grid) =
                    (timers.fires(now, Nanos::from_millis(delay_ms)), Nanos::from_millis(grid_ms));
                let late = at - now - Nanos::from_millis(delay_ms);
                assert_eq!(at.0 % grid.0, 0, "{delay_ms} at {now:?}");
                assert!((-timers.tick.0..=grid.0).contains(&late.0), "{delay_ms} at {now:?}: {late:?}");
            }
        }
    }

    /// Of two SYNs that come again in one batch one place takes both in. The client that gets none is let in by its SYN-ACK, a second later.
    #[test]
    fn a_batch_lets_in_more_than_there_are_places() {
        let timers = Timers { tick: Nanos::from_millis(4), phase: Nanos::ZERO, synack_retries: 5 };
        let until = Nanos::from_millis(2_200);
        // SYNs, of those sent again, established, served.
        let of = |timers| {
            let begin = (0..4).map(Nanos::from_millis).collect();
            let load = Load::Simple { begin, turnarounds: Arc::default(), seed: 1 };
            let turnaround = Nanos::from_millis(500);
            let system = System { capacity: Rate(1.0), turnaround, timers, ..system(0) };
            let seen = play(&system, load, (Nanos::ZERO, until));
            [seen.syns, seen.resent, seen.established, seen.served]
                .map(|rate| (rate * until.as_secs_f64()).round())
        };
        assert_eq!(of(None), [7.0, 2.0, 3.0, 2.0]);
        assert_eq!(of(Some(timers)), [8.0, 3.0, 4.0, 2.0]);
    }

    /// Two users more than are admitted: each sends one SYN more from 60 to 120 s, and 100/s are served all the time.
    #[test]
    fn users_beyond_the_queue_only_send_again() {
        let begin = (0..9).map(Nanos::from_millis).collect();
        let seen =
            play(&system(5), Load::Simple { begin, turnarounds: Arc::default(), seed: 1 }, (S(60), S(120)));
        assert_eq!((seen.established, seen.served), (100.0, 100.0));
        assert!((seen.resent - 2.0 / 60.0).abs() < 1e-9, "{seen:?}");
        assert!((seen.syns - seen.established - seen.resent).abs() < 1e-9, "{seen:?}");
        let begin = (0..7).map(Nanos::from_millis).collect();
        let seen =
            play(&system(5), Load::Simple { begin, turnarounds: Arc::default(), seed: 1 }, (S(60), S(120)));
        assert_eq!((seen.resent, seen.served), (0.0, 100.0));
    }

    /// Sockets that are given up after 0.5 s send two SYNs a second each, and one for each that is accepted.
    #[test]
    fn held_sockets_keep_up_the_pressure() {
        let timeout = Nanos::from_millis(500);
        let begin = |sockets: i64| (0..sockets).map(|i| Nanos(i * timeout.0 / sockets)).collect();
        for sockets in [20, 200] {
            let load = Load::Held { begin: begin(sockets), timeout };
            let seen = play(&system(100), load, (S(10), S(30)));
            assert!((seen.syns - (2.0 * sockets as f64 + 100.0)).abs() < 0.5, "{seen:?}");
            assert!((seen.served - 100.0).abs() < 0.1 && (seen.established - 100.0).abs() < 0.2, "{seen:?}");
            assert_eq!(seen.resent, 0.0);
        }
        // Longer than the first retransmission takes: a SYN a second, half of them sent again, or more where one of those is admitted
        // and its socket begins anew.
        let load = Load::Held { begin: (0..50).map(|i| Nanos(i * 40_000_000)).collect(), timeout: S(2) };
        let seen = play(&system(300), load, (S(10), S(30)));
        assert!((24.5..50.0).contains(&seen.resent) && (seen.syns - 150.0).abs() < 1.0, "{seen:?}");
    }

    /// The server spends c on each dropped SYN: X = C (1 - c D / T), down to nothing.
    #[test]
    fn dropped_syns_cost_what_they_cost() {
        let timeout = Nanos::from_millis(500);
        for (sockets, served) in [(200_i64, 80.0), (800, 20.0), (2_000, 0.0)] {
            let system = System { syn_cost: Nanos::from_micros(500), ..system(100) };
            let begin = (0..sockets).map(|i| Nanos(i * timeout.0 / sockets)).collect();
            let seen = play(&system, Load::Held { begin, timeout }, (S(10), S(50)));
            assert!((seen.served - served).abs() < 0.2, "{sockets}: {seen:?}");
        }
    }
}
