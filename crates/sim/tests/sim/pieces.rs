//! Responses that come in pieces: what the client is told of them, and that the rest of the model does not see them.

use crate::common::{LIMITS, law, open, records, servers};
use headway_base::pieces::Pieces;
use headway_base::sink::Kept;
use headway_base::{EventKind, Nanos, Outcome, ResponseEvent};
use headway_sim::{Generator, Network};
use headway_workload::client::Streamed;
use headway_workload::model::Model;
use headway_workload::{Limits, Plan, Process, Shard};
use std::collections::BTreeMap;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const EVENTS: Streamed = Streamed { events: true, idle: Nanos::MAX };

fn pieces(first: &str, gap: &str, count: u32) -> Option<Pieces> {
    Some(Pieces { first: law(first), gap: law(gap), count })
}

fn play(plan: &Plan, limits: Limits, model: &Model, wanted: Streamed, generator: Generator) -> Kept {
    let mut kept = Kept::default();
    let network = Network::new(model, plan).unwrap();
    headway_sim::play_streaming(plan, Shard::WHOLE, limits, vec![wanted], network, generator, &mut kept);
    kept.records.sort_by_key(|record| record.k);
    kept
}

fn by_request(kept: &Kept) -> BTreeMap<u64, Vec<ResponseEvent>> {
    let mut all: BTreeMap<u64, Vec<ResponseEvent>> = BTreeMap::new();
    kept.events.iter().for_each(|event| all.entry(event.k).or_default().push(*event));
    all
}

/// Served as without pieces, to the nanosecond; then each piece after its time.
#[test]
fn pieces_come_after_the_service_and_take_nothing_of_it() {
    let plan = open(Process::Poisson, 100.0, 20, 7);
    let whole = Model::station(servers(2, "exp(15ms)"));
    let model = Model { events: pieces("exp(3ms)", "exp(10ms)", 5), ..whole.clone() };
    let served = records(&plan, LIMITS, &whole);
    let kept = play(&plan, LIMITS, &model, EVENTS, Generator::default());
    let events = by_request(&kept);
    assert!(served.len() > 1_800 && kept.records.len() == served.len());
    let (mut waits, mut gaps) = (0.0, 0.0);
    for (record, before) in kept.records.iter().zip(&served) {
        let [pieces @ .., end] = &events[&record.k][..] else { panic!("no events of {record:?}") };
        assert_eq!((record.k, record.started, record.outcome), (before.k, before.started, Outcome::Ok));
        assert_eq!((pieces.len(), end.kind, end.count), (5, EventKind::End, 5));
        assert_eq!(Some(pieces[0].at), record.first_byte.get());
        assert_eq!((pieces[4].at, end.at), (record.done, record.done));
        assert!(pieces[0].at >= before.done, "served at {}: {:?}", before.done, pieces[0]);
        waits += (pieces[0].at - before.done).as_secs_f64();
        gaps += (pieces[4].at - pieces[0].at).as_secs_f64();
    }
    let n = served.len() as f64;
    // Five standard errors of means of exponential times.
    assert!((waits / n / 0.003 - 1.0).abs() < 5.0 / n.sqrt(), "{}", waits / n);
    assert!((gaps / (4.0 * n) / 0.010 - 1.0).abs() < 5.0 / (4.0 * n).sqrt(), "{}", gaps / n);
    // A seed repeats them, and what the client wants of them changes nothing.
    assert_eq!(play(&plan, LIMITS, &model, EVENTS, Generator::default()).events, kept.events);
    let unwanted = play(&plan, LIMITS, &model, Streamed::NOT, Generator::default());
    assert_eq!((unwanted.events.len(), &unwanted.records), (0, &kept.records));
}

#[test]
fn a_failure_comes_whole_and_has_no_events() {
    let plan = open(Process::Constant, 100.0, 2, 1);
    let station = headway_workload::model::Station { queue: Some(0), ..servers(1, "const(15ms)") };
    let model = Model { events: pieces("0s", "const(1ms)", 3), ..Model::station(station) };
    let kept = play(&plan, LIMITS, &model, EVENTS, Generator::default());
    let events = by_request(&kept);
    let failed: Vec<_> = kept.records.iter().filter(|record| record.status == 503).collect();
    assert!(failed.len() > 50 && failed.len() < kept.records.len());
    assert!(failed.iter().all(|record| events[&record.k] == [ResponseEvent::end_of(record)]));
}

/// Every gap is longer than a response may stand still: given up with what had come, and the target is not told to stop what it has done.
#[test]
fn a_response_that_stands_still_is_given_up() {
    let plan = open(Process::Constant, 20.0, 2, 1);
    let model =
        Model { events: pieces("5ms", "const(60ms)", 3), ..Model::station(servers(1, "const(10ms)")) };
    let idle = Streamed { events: true, idle: MS(40) };
    let kept = play(&plan, LIMITS, &model, idle, Generator::default());
    assert!((39..=41).contains(&kept.records.len()));
    for record in &kept.records {
        assert_eq!((record.outcome, record.done - record.intended), (Outcome::IdleTimeout, MS(10 + 5 + 40)));
    }
    assert!(by_request(&kept).values().all(|events| events.len() == 2 && events[1].count == 1));
    // The whole may take longer than that; but not than its own time.
    let limits = Limits { timeout: MS(100), ..LIMITS };
    let kept = play(&plan, limits, &model, EVENTS, Generator::default());
    assert!(kept.records.iter().all(|record| record.outcome == Outcome::Timeout));
    assert!(by_request(&kept).values().all(|events| events.len() == 3), "two pieces by then");
}

/// A generator that stands still reads late; when pieces were there is known all the same.
#[test]
fn pieces_that_are_read_late_are_stamped_when_they_came() {
    let plan = open(Process::Constant, 50.0, 2, 1);
    let model = Model { events: pieces("0s", "const(10ms)", 4), ..Model::station(servers(1, "const(1ms)")) };
    let generator = Generator { tick: MS(7), ..Generator::default() };
    let kept = play(&plan, LIMITS, &model, EVENTS, generator);
    let gaps: Vec<Nanos> = kept.events.iter().filter_map(ResponseEvent::gap).collect();
    assert!(gaps.len() > 250 && gaps.iter().all(|gap| *gap == MS(10)), "{gaps:?}");
    assert!(kept.events.iter().any(|event| event.unread.get().is_some_and(|late| late > Nanos::ZERO)));
}
