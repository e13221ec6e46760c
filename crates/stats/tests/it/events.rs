//! Times of the events of responses, as the registry has them: in thresholds, by step too, and on the document.

use crate::world::World;
use headway_base::{Batch, EventKind, Nanos, ResponseEvent};
use headway_stats::metric::Metric;
use headway_stats::summary::{ThresholdOutcome, Why};
use headway_stats::{Analysis, Facts, Threshold, summary, thresholds};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// 100 requests a second for 20 s, in turns of two steps: one that responds in three pieces after 30, 40 and 80 ms, and one in two, after 10
/// and 12 ms.
fn in_pieces() -> (World, Vec<ResponseEvent>) {
    let mut world = World::constant(100.0, 20);
    world.labels = vec!["read".into(), "write".into()];
    let world = world.with(|r| r.step = (r.k % 2) as u16);
    let mut events = Vec::new();
    for record in &world.records {
        let end = ResponseEvent::end_of(record);
        let pieces: &[i64] = if record.step == 0 { &[30, 40, 80] } else { &[10, 12] };
        let mut before = end.before;
        for &after in pieces {
            let at = record.intended + MS(after);
            events.push(ResponseEvent { kind: EventKind::Chunk, at, before, bytes: 3, count: 1, ..end });
            before = at.into();
        }
        events.push(ResponseEvent { before, count: pieces.len() as u32, ..end });
    }
    (world, events)
}

#[test]
fn first_events_and_gaps_are_judged_as_other_times_are() {
    use ThresholdOutcome::{Crossed, Passed};
    let demands = [
        ("first_event: max<31ms", Passed, 0.030),
        ("first_event: p(90)<20ms", Crossed, 0.030),
        ("first_event{step:write}: p(90)<20ms", Passed, 0.010),
        ("event_gap: p(50)<11ms", Passed, 0.010),
        ("event_gap{step:read}: avg<20ms", Crossed, 0.025),
        ("event_gap: count>2999", Passed, 3_000.0),
    ];
    let all: Vec<Threshold> = demands.iter().map(|(text, ..)| text.parse().unwrap()).collect();
    let (world, events) = in_pieces();
    let mut analysis = Analysis::new(world.setup(1)).judging(all.clone());
    analysis.batch(&Batch { events, ..Batch::default() });
    world.feed(&mut analysis, 1);
    let found = analysis.finish(world.facts.clone());
    for ((text, outcome, value), result) in demands.into_iter().zip(&found.thresholds) {
        assert_eq!(result.outcome, outcome, "{result:?}");
        assert!((result.value.unwrap() / value - 1.0).abs() < 0.001, "{text}: {:?}", result.value);
    }
    // The document says the same of what it holds: all steps together.
    for (threshold, result) in all.iter().zip(&found.thresholds).filter(|(t, _)| t.step.is_none()) {
        let again = thresholds::of_summary(threshold, &found).unwrap();
        assert_eq!((again.value, again.n), (result.value, result.n), "{}", threshold.text);
    }
    let first = Metric::named("first_event").unwrap();
    assert_eq!(found.spread(first), Some(&found.events.as_ref().unwrap().all.first));
}

/// Not met, and not an error: nothing was observed. A simulation says why it never has any.
#[test]
fn without_events_nothing_is_judged() {
    let threshold = || vec!["first_event: p(50)<1s".parse().unwrap()];
    let world = World::constant(100.0, 5);
    let judged = |facts: Facts| {
        let mut analysis = Analysis::new(world.setup(1)).judging(threshold());
        world.feed(&mut analysis, 1);
        analysis.finish(facts)
    };
    let found = judged(world.facts.clone());
    assert_eq!((found.thresholds[0].value, found.thresholds[0].outcome), (None, ThresholdOutcome::NotJudged));
    assert!(found.spread(Metric::named("event_gap").unwrap()).is_none());
    let simulated = judged(Facts { source: summary::Source::Sim, ..world.facts.clone() });
    assert!(matches!(simulated.thresholds[0].reason.as_ref().unwrap().why, Why::NoEvents));
    assert!(!simulated.not_computed.keys().any(|path| path.starts_with("events")));
}
