//! The queues that are asked: each is fed with the services that it infers from starts and ends, and replayed at the intended
//! instants.
//!
//! For c servers in order the service of the i-th request ran from its start, or from when the (i - c)-th end made room, to its end:
//! for a station in order with that many servers this is exact, and the replay is what an undisturbed generator would have seen. No
//! queue at all (endless servers) is the response from the start. One shared server: what each attained, the integral of 1/N. One server in
//! another order: from the end before, if that is later than the start.

use super::answers::{Answers, Counts, Number};
use super::block::{Block, View};
use super::clock::Clock;
use super::replay::{InOrder, Limited, OneServer, Order, Shared, Token};
use super::servers::{self, Servers};
use headway_base::random::{Stream, streams};

/// A queue in another order counts where its replay at the actual starts gives back each number to this.
const GIVES_BACK: f64 = 0.1;
/// It is dropped for good where it is off by this in the mean,
const FAR_OFF: f64 = 0.3;
/// after so many requests.
const ENOUGH: u64 = 20_000;
/// The share of those turned away that met fewer than the limit: by jitter of the path.
const STRAY: f64 = 0.02;
/// A limit counts where its replay at the actual starts turns away between this share of what was turned away and its inverse.
const TURNS_AWAY: f64 = 0.5;

/// The members, in one time.
#[derive(Clone, Debug)]
pub(super) struct Ensemble {
    has_run: bool,
    /// What was seen, less the time for which responses lay unread.
    saw: Answers,
    endless: Answers,
    shown: Member,
    /// None as long as it is the same.
    best: Option<Member>,
    best_servers: Option<usize>,
    shared: Option<(Shared, Answers)>,
    others: Vec<OtherOrder>,
    /// How many were there when one was turned away.
    there: Vec<u64>,
    refused: u64,
    /// Services or what they are made of, packed in units of 64 ns.
    services: Vec<u32>,
}

/// A queue in order.
#[derive(Clone, Debug, Default)]
struct Member {
    queue: InOrder,
    answers: Answers,
    limited: Option<Box<WithLimit>>,
}

/// The same with a limit; again at the actual starts.
#[derive(Clone, Debug, Default)]
struct WithLimit {
    queues: [Limited; 2],
    answers: Answers,
    refused_again: u64,
}

/// One server in another order, at the intended instants and at the actual starts.
#[derive(Clone, Debug)]
struct OtherOrder {
    queues: [OneServer; 2],
    answers: [Answers; 2],
}

impl Default for Ensemble {
    fn default() -> Ensemble {
        let other = |order| OtherOrder {
            queues: [OneServer::new(order), OneServer::new(order)],
            answers: Default::default(),
        };
        Ensemble {
            has_run: false,
            saw: Answers::default(),
            endless: Answers::default(),
            shown: Member::default(),
            best: None,
            best_servers: None,
            shared: Some(Default::default()),
            others: [Order::Last, Order::Random].map(other).to_vec(),
            there: Vec::new(),
            refused: 0,
            services: Vec::new(),
        }
    }
}

fn packed(span: i64) -> u32 {
    u32::try_from((span.max(0) + 32) >> 6).unwrap_or(u32::MAX)
}

fn unpacked(span: u32) -> i64 {
    i64::from(span) << 6
}

impl Ensemble {
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// Plays a block, in the time of a target that stands still with the generator if there is a clock.
    pub fn run(&mut self, block: &Block, clock: Option<&Clock>, servers: &Servers) {
        self.has_run = true;
        let view = View::new(block, clock);
        self.without_queue(&view);
        if block.any_refused() {
            self.turned_away(&view);
            // What was turned away took no part of a shared server, and which part it would have taken is not known.
            self.shared = None;
            self.others.clear();
        }
        let shown = servers.shown();
        let best = servers::best(&view, self.best_servers);
        self.best_servers = Some(best);
        let limit = (self.refused > 0).then(|| servers::quantile(&self.there, self.refused, STRAY));
        if shown != best && self.best.is_none() {
            self.best = Some(self.shown.clone());
        }
        self.shown.run(&view, shown, limit, &mut self.services);
        if let Some(member) = &mut self.best {
            member.run(&view, best, limit, &mut self.services);
        }
        if let Some((queue, answers)) = &mut self.shared {
            shared_work(&view, &mut self.services);
            for i in block.by_due() {
                let end = |ended, token: Token| answers.take(view.instant(ended), token);
                queue.arrive(view.intended(i), unpacked(self.services[i]), token(block, i), end);
            }
        }
        if !self.others.is_empty() {
            one_server(&view, &mut self.services);
            let services = &self.services;
            self.others.iter_mut().for_each(|other| other.run(&view, services));
            let saw = &self.saw;
            self.others.retain(|other| saw.n() < ENOUGH || other.is_near(saw, FAR_OFF, &[Number::Mean]));
        }
    }

    fn without_queue(&mut self, view: &View) {
        let block = view.block;
        for i in 0..block.core() {
            let token = token(block, i);
            self.saw.take(view.instant(view.ended(i)), token);
            let took = view.ended(i) - view.started(i);
            self.endless.take(view.instant(view.intended(i) + took), token);
        }
    }

    /// How many were served when one was turned away.
    fn turned_away(&mut self, view: &View) {
        let block = view.block;
        let (mut number, mut ended) = (block.running(true), 0);
        let ends = view.served();
        for i in 0..block.core() {
            if !block.is_refused(i) {
                number += 1;
                continue;
            }
            let started = view.started(i);
            while ended < ends.len() && view.ended_of(ends[ended]) <= started {
                ended += 1;
            }
            let there = number.saturating_sub(ended);
            if there >= self.there.len() {
                self.there.resize(there + 1, 0);
            }
            self.there[there] += 1;
            self.refused += 1;
        }
    }

    /// What each member says that an undisturbed generator would have measured.
    pub fn finish(mut self, measured: &Answers, clock: Option<&Clock>) -> Vec<Counts> {
        let block = Block::default();
        let view = View::new(&block, clock);
        let saw = self.saw.counts();
        let mut all = vec![self.endless.counts()];
        let members = [Some(self.shown), self.best].into_iter().flatten();
        all.extend(members.map(|member| member.finish(measured)));
        if let Some((mut queue, mut answers)) = self.shared.take() {
            queue.finish(|ended, token| answers.take(view.instant(ended), token));
            all.push(answers.counts());
        }
        for mut other in self.others {
            other.end(&view);
            if other.is_near(&self.saw, GIVES_BACK, &Number::JUDGED[..5]) {
                let [answers, again] = other.answers.map(|answers| answers.counts());
                all.push(answers.scaled(&saw, &again));
            }
        }
        all
    }
}

fn token(block: &Block, i: usize) -> Token {
    Token { intended: block.intended(i), counted: block.is_counted(i), ok: block.is_ok(i) }
}

impl Answers {
    #[inline]
    fn take(&mut self, ended: i64, token: Token) {
        if token.counted {
            self.push(ended - token.intended, token.ok);
        }
    }
}

/// The latest ends of those that were served before a block, as they were seen.
fn latest(view: &View) -> impl Fn(usize) -> i64 {
    let before = view.block.running(true);
    move |k| before.checked_sub(k + 1).map_or(i64::MIN, |k| view.ended_of(view.served()[k]))
}

impl Member {
    fn run(&mut self, view: &View, servers: usize, limit: Option<usize>, services: &mut Vec<u32>) {
        let block = view.block;
        let ends = view.served();
        services.clear();
        services.resize(block.core(), 0);
        let mut number = block.running(true);
        for (i, service) in services.iter_mut().enumerate() {
            if block.is_refused(i) {
                continue;
            }
            let free = number.checked_sub(servers).map_or(i64::MIN, |k| view.ended_of(ends[k]));
            number += 1;
            *service = packed(view.ended(i) - view.started(i).max(free));
        }
        if limit.is_some() && self.limited.is_none() {
            let queues = [0, 1].map(|_| Limited::with(self.queue.clone()));
            self.limited =
                Some(Box::new(WithLimit { queues, answers: self.answers.clone(), refused_again: 0 }));
        }
        let latest = latest(view);
        self.queue.with_servers(servers, &latest);
        for i in block.by_due() {
            let took = view.ended(i) - view.started(i);
            let at = view.intended(i);
            let ended =
                if block.is_refused(i) { at + took } else { self.queue.serve(at, unpacked(services[i])) };
            self.answers.take(view.instant(ended), token(block, i));
        }
        if let (Some(limited), Some(limit)) = (&mut self.limited, limit) {
            limited.run(view, servers, limit.saturating_sub(servers), services);
        }
    }

    fn finish(self, measured: &Answers) -> Counts {
        let measured = measured.counts();
        match self.limited {
            Some(limited) if limited.gives_back(&measured) => limited.answers.counts(),
            _ => self.answers.counts(),
        }
    }
}

impl WithLimit {
    fn run(&mut self, view: &View, servers: usize, waiting: usize, services: &mut [u32]) {
        let block = view.block;
        let (mut others, mut quick) = (Stream::new(0, streams::REPLAY).item(2), Vec::new());
        for i in 0..block.core() {
            if block.is_refused(i) {
                quick.push(block.took(i));
                // It would have taken what any other took.
                let tries =
                    (0..8).map(|_| ((others.open01() * block.core() as f64) as usize).min(block.core() - 1));
                services[i] = tries.into_iter().find(|&k| !block.is_refused(k)).map_or(0, |k| services[k]);
            }
        }
        let middle = quick.len() / 2;
        let quick = if quick.is_empty() { 0 } else { *quick.select_nth_unstable(middle).1 };
        let latest = latest(view);
        self.queues.iter_mut().for_each(|queue| queue.queue.with_servers(servers, &latest));
        let [intended, actual] = &mut self.queues;
        for i in block.by_due() {
            let token = token(block, i);
            match intended.serve(view.intended(i), unpacked(services[i]), waiting) {
                Some(ended) => {
                    let ok = token.ok || block.is_refused(i);
                    self.answers.take(view.instant(ended), Token { ok, ..token });
                }
                None => self.answers.take(token.intended + quick, Token { ok: false, ..token }),
            }
        }
        for (i, &service) in services.iter().enumerate() {
            let refused = actual.serve(view.started(i), unpacked(service), waiting).is_none();
            self.refused_again += u64::from(refused && block.is_counted(i));
        }
    }

    /// Whether about as many are turned away at the actual starts as were. Where a target fails whatever its load, they are not.
    fn gives_back(&self, measured: &Counts) -> bool {
        let (again, refused) = (self.refused_again as f64, measured.failed * measured.n as f64);
        (TURNS_AWAY * refused..=refused / TURNS_AWAY).contains(&again)
    }
}

impl OtherOrder {
    fn run(&mut self, view: &View, services: &[u32]) {
        let block = view.block;
        let ([intended, actual], [answers, again]) = (&mut self.queues, &mut self.answers);
        for i in block.by_due() {
            let end = |ended, token: Token| answers.take(view.instant(ended), token);
            intended.arrive(view.intended(i), unpacked(services[i]), token(block, i), end);
        }
        for (i, &service) in services.iter().enumerate() {
            let end = |ended, token: Token| again.take(view.instant(ended), token);
            actual.arrive(view.started(i), unpacked(service), token(block, i), end);
        }
    }

    fn end(&mut self, view: &View) {
        for (queue, answers) in self.queues.iter_mut().zip(&mut self.answers) {
            queue.finish(|ended, token| answers.take(view.instant(ended), token));
        }
    }

    /// Whether the replay at the actual starts gives back these numbers to that share.
    fn is_near(&self, saw: &Answers, share: f64, numbers: &[Number]) -> bool {
        let (saw, again) = (saw.counts(), self.answers[1].counts());
        numbers.iter().all(|&number| match (saw.get(number), again.get(number)) {
            (Some(saw), Some(again)) => (again - saw).abs() <= share * saw,
            _ => false,
        })
    }
}

/// What each attained of one shared server.
fn shared_work(view: &View, services: &mut Vec<u32>) {
    let block = view.block;
    services.clear();
    services.resize(block.len(), 0);
    let (mut there, mut attained, mut now) = (block.running(false), 0.0f64, i64::MIN);
    let mut pass = |at: i64, there: usize| {
        if now > i64::MIN && there > 0 {
            attained += (at - now) as f64 / there as f64;
        }
        now = at;
        // Differences are what counts, so that it may begin anew.
        (attained / 64.0).round() as u64 as u32
    };
    let mut next = 0;
    for k in 0..view.places() {
        let (request, ended) = view.place(k);
        while next < block.len() && view.started(next) <= ended {
            services[next] = pass(view.started(next), there);
            there += 1;
            next += 1;
        }
        let at = pass(ended, there);
        there = there.saturating_sub(1);
        if let Some(i) = request {
            services[i] = at.wrapping_sub(services[i]);
        }
    }
    services.truncate(block.core());
}

/// Services of one server, in whatever order.
fn one_server(view: &View, services: &mut Vec<u32>) {
    let block = view.block;
    services.clear();
    services.resize(block.core(), 0);
    let mut before = i64::MIN;
    for k in 0..view.places() {
        let (request, ended) = view.place(k);
        if let Some(i) = request.filter(|&i| i < block.core()) {
            services[i] = packed(ended - view.started(i).max(before));
        }
        before = ended;
    }
}

/// The least response times by Lindley's bound: less the largest lag since nothing was in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    pub answers: Answers,
    worst: i64,
}

impl Bound {
    pub fn run(&mut self, block: &Block, clock: &Clock) {
        let view = View::plain(block);
        let (running, mut ended) = (block.running(false), 0);
        for i in 0..block.core() {
            while ended < view.places() && view.place(ended).1 <= block.started(i) {
                ended += 1;
            }
            if running + i <= ended {
                self.worst = 0;
            }
            self.worst = self.worst.max(block.lag(i));
            let answered = block.earliest_answer(i, clock);
            let token = token(block, i);
            self.answers.take(answered.saturating_sub(self.worst).max(token.intended), token);
        }
    }
}
