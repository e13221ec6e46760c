//! Datagrams in virtual time: the client of every other workload plays an echo that tells requests apart by an identifier, over a way
//! that keeps the boundaries of datagrams and loses, delays, reorders and repeats them. The client half is the protocol of live runs.

use headway_base::answer::Field;
use headway_base::random::{Stream, open01};
use headway_base::sink::Kept;
use headway_base::{Answer, Nanos, Outcome, Phase, Profile, Rate, Record};
use headway_wire::datagram::Client as Socket;
use headway_wire::{ClientConnection, Event, Opened, Payload, Settings, StreamId};
use headway_workload::client::RequestId;
use headway_workload::plan::Group;
use headway_workload::{
    Action, Client, ConnectionEvent, Limits, Plan, Process, RequestEvent, SessionControl, Shard,
};
use std::collections::{BTreeMap, VecDeque};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// Two bytes of number, then what is to come back.
const FIELD: Field = Field { offset: 0, width: 2 };
const ID: usize = FIELD.end();

/// The protocol of live runs.
fn socket(capacity: usize) -> Socket {
    let answer = Some(Answer::Match(FIELD));
    Socket::new(&Settings { limits: headway_wire::Limits::DEFAULT, streams: capacity as u32, answer })
}

/// What happens to datagrams on their way, each way by itself.
#[derive(Clone, Copy)]
struct Way {
    lost: f64,
    repeated: f64,
    /// Each takes from 1 ms to this: later ones overtake earlier ones.
    slowest: Nanos,
}

/// What a world saw.
struct Played {
    records: Vec<Record>,
    /// Datagrams that reached the echo, and that came back.
    echoed: usize,
    back: usize,
    overtaken: usize,
    connections: usize,
    most_open: usize,
}

struct World {
    client: Client<Kept>,
    echo: Option<Socket>,
    capacity: usize,
    way: Way,
    draws: Stream,
    datagrams: u64,
    /// Datagrams under way by when they arrive: whether they come back, and their bytes.
    calendar: BTreeMap<(Nanos, u64), (bool, Vec<u8>)>,
    under_way: BTreeMap<StreamId, (RequestId, Vec<u8>)>,
    latest: u64,
    played: Played,
}

impl World {
    fn play(plan: &Plan, limits: Limits, capacity: usize, way: Way) -> Played {
        let client = Client::new(plan, Shard::WHOLE, limits, Kept::default()).expecting(&[capacity as u32]);
        let (echo, calendar, under_way) = (None, BTreeMap::new(), BTreeMap::new());
        let played =
            Played { records: Vec::new(), echoed: 0, back: 0, overtaken: 0, connections: 0, most_open: 0 };
        let draws = Stream::new(plan.seed, "way");
        let mut world = World {
            client,
            echo,
            capacity,
            way,
            draws,
            datagrams: 0,
            calendar,
            under_way,
            latest: 0,
            played,
        };
        let mut now = Nanos::ZERO;
        while !world.client.is_done() {
            while let Some(action) = world.client.poll(now) {
                world.act(action, now);
            }
            let next = world.calendar.first_key_value().map_or(Nanos::MAX, |(&(at, _), _)| at);
            now = world.client.wake_at().min(next).max(now);
            assert!(now < Nanos::MAX, "nothing will ever happen");
            while let Some(entry) = world.calendar.first_entry().filter(|entry| entry.key().0 <= now) {
                let number = entry.key().1;
                let (back, datagram) = entry.remove();
                if back { world.receive(&datagram, number, now) } else { world.answer(datagram, now) }
            }
        }
        world.played.records = world.client.finish_all(now).records.clone();
        world.played.records.sort_by_key(|r| r.k);
        world.played
    }

    fn act(&mut self, action: Action, now: Nanos) {
        let mut todo = VecDeque::from([action]);
        while let Some(action) = todo.pop_front() {
            match action {
                Action::Connect(id, _) => {
                    self.played.connections += 1;
                    let echo = self.echo.insert(socket(self.capacity));
                    let (connect, capacity) = (Nanos::ZERO, echo.capacity());
                    let established =
                        ConnectionEvent::Established { connect, tls: None, capacity, settled: true };
                    todo.extend(self.client.on_connection(id, established, now));
                }
                Action::Send(_, request, key) => {
                    let body = vec![key.k as u8; (key.k % 300) as usize];
                    let message = Payload::Bytes([&[0; ID][..], &body].concat().into());
                    let echo = self.echo.as_mut().unwrap();
                    let Opened::Stream(stream) = echo.open(&message) else { panic!("no identifier is free") };
                    assert!(self.under_way.insert(stream, (request, body)).is_none());
                    self.played.most_open = self.played.most_open.max(self.under_way.len());
                    let mut datagram = Vec::new();
                    assert!(echo.poll_transmit(now, &mut datagram));
                    let sent = echo.bytes_sent(stream);
                    assert_eq!(datagram.len() as u64, sent);
                    self.carry(false, &datagram, now);
                    todo.extend(self.client.on_request(request, RequestEvent::Sent(sent), now));
                }
                Action::Cancel(_, request) => {
                    let stream = self.under_way.iter().find(|(_, (of, _))| *of == request).map(|(&id, _)| id);
                    let stream = stream.expect("it was under way");
                    self.under_way.remove(&stream);
                    self.echo.as_mut().unwrap().cancel(stream);
                }
                Action::Disconnect(_) => {
                    self.under_way.clear();
                    self.echo = None;
                }
            }
        }
    }

    /// Sets a datagram on its way, or two, or none.
    fn carry(&mut self, back: bool, datagram: &[u8], now: Nanos) {
        let n = self.datagrams;
        self.datagrams += 1;
        let draw = |j| open01(self.draws.bits(n, j));
        let copies = if draw(0) < self.way.lost { 0 } else { 1 + u64::from(draw(1) < self.way.repeated) };
        for copy in 0..copies {
            let slack = (self.way.slowest - MS(1)).as_secs_f64();
            let takes = MS(1) + Nanos::from_secs_f64(slack * draw(2 + copy));
            self.calendar.insert((now + takes, 2 * n + copy), (back, datagram.to_vec()));
        }
    }

    fn answer(&mut self, datagram: Vec<u8>, now: Nanos) {
        self.played.echoed += 1;
        self.carry(true, &datagram, now);
    }

    fn receive(&mut self, datagram: &[u8], number: u64, now: Nanos) {
        self.played.back += 1;
        self.played.overtaken += usize::from(number < self.latest);
        self.latest = self.latest.max(number);
        let Some(echo) = &mut self.echo else { return };
        let (mut bytes, mut actions) = (datagram, Vec::new());
        while let Some(event) = echo.receive(now, &mut bytes) {
            match event {
                Event::Begun { stream } => {
                    let (request, body) = &self.under_way[&stream];
                    assert_eq!(&datagram[ID..], &body[..], "another request's answer");
                    actions.extend(self.client.on_request(*request, RequestEvent::FirstByte, now));
                }
                Event::End { stream, bytes_received } => {
                    let (request, _) = self.under_way.remove(&stream).unwrap();
                    let (outcome, then) = (Outcome::Ok, SessionControl::Continue);
                    let done = RequestEvent::Done { outcome, status: 0, bytes_received, then };
                    actions.extend(self.client.on_request(request, done, now));
                }
                _ => {}
            }
        }
        for action in actions {
            self.act(action, now);
        }
    }
}

const REQUESTS: usize = 2_000;

fn plan() -> Plan {
    let profile = Profile::new(&[Phase::hold(MS(REQUESTS as i64) + Nanos::from_micros(500), Rate(1_000.0))]);
    let end = profile.end();
    Plan::of(7, Group::open(Process::Constant, profile), Nanos::ZERO, end)
}

fn limits() -> Limits {
    let (timeout, drain) = (MS(200), Nanos::ZERO);
    Limits { connections: 1, max_wait: MS(10_000), timeout, connect_timeout: MS(200), drain }
}

fn play(capacity: usize, way: Way) -> Played {
    let plan = plan();
    let played = World::play(&plan, limits(), capacity, way);
    let ends: Vec<u64> = played.records.iter().flat_map(|r| r.k..r.k + u64::from(r.count)).collect();
    assert_eq!(ends, plan.arrivals().map(|a| a.k).collect::<Vec<_>>(), "every request ends once");
    assert_eq!(ends.len(), REQUESTS);
    assert_eq!(played.connections, 1, "a socket is never opened anew");
    for r in &played.records {
        assert!(matches!(r.outcome, Outcome::Ok | Outcome::Timeout), "{r:?}");
        assert_eq!(r.bytes_sent, (r.k % 300) + ID as u64);
        assert_eq!(r.bytes_received, if r.outcome == Outcome::Ok { r.bytes_sent } else { 0 });
        let service = r.done - r.sent.get().unwrap();
        assert!(service == MS(200) || r.outcome == Outcome::Ok && service >= MS(2), "{r:?}");
    }
    played
}

fn answered(played: &Played) -> usize {
    played.records.iter().filter(|r| r.outcome == Outcome::Ok).count()
}

#[test]
fn reordered_and_repeated_answers_find_their_requests() {
    let way = Way { lost: 0.0, repeated: 0.3, slowest: MS(50) };
    let played = play(1_000, way);
    assert_eq!(answered(&played), REQUESTS);
    // Repeated both ways: more came back than were sent, and no request ended twice.
    assert!(played.echoed > REQUESTS && played.back > played.echoed, "{} {}", played.echoed, played.back);
    assert!(played.overtaken > REQUESTS / 2, "{}", played.overtaken);
}

/// A share (1 - l)^2 is answered, within four standard errors.
#[test]
fn what_is_lost_times_out_and_costs_nothing_else() {
    let way = Way { lost: 0.1, repeated: 0.0, slowest: MS(20) };
    let played = play(1_000, way);
    let (n, p) = (REQUESTS as f64, 0.9f64 * 0.9);
    let se = (n * p * (1.0 - p)).sqrt();
    let answered = answered(&played) as f64;
    assert!((answered - n * p).abs() < 4.0 * se, "{answered} of {n} answered, {} expected", n * p);
}

#[test]
fn an_echo_that_never_answers_times_out_every_request() {
    let played = play(1_000, Way { lost: 1.0, repeated: 0.0, slowest: MS(2) });
    assert_eq!((answered(&played), played.echoed), (0, 0));
    // 200 ms at 1,000/s, each given up by itself.
    assert!((200..=202).contains(&played.most_open), "{}", played.most_open);
}

/// A late answer to a request that was given up belongs to none, also where its place has another since.
#[test]
fn answers_that_come_too_late_are_passed_over() {
    let played = play(1_000, Way { lost: 0.0, repeated: 0.5, slowest: MS(150) });
    let late = REQUESTS - answered(&played);
    assert!(late > 0, "two ways of up to 150 ms take more than 200 ms now and then");
    assert!(played.back > answered(&played));
}

/// No more are under way than identifiers tell apart; the others wait, which counts as such.
#[test]
fn requests_wait_for_a_free_identifier() {
    let played = play(5, Way { lost: 0.0, repeated: 0.0, slowest: MS(3) });
    assert_eq!((answered(&played), played.most_open), (REQUESTS, 5));
    assert!(played.records.iter().any(|r| r.wait > Nanos::ZERO));
}
