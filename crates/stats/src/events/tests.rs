use super::*;
use crate::summary::Why;
use headway_base::{EventKind, Nanos, Outcome, Record};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// So many requests of two steps in turns, one every 10 ms from -1 s on; of step 0 five pieces after 30, 40, 80, 85 and 90 ms, of step 1 one
/// after 7 ms; every hundredth none within 2 s.
fn events(requests: i64) -> Vec<ResponseEvent> {
    let mut all = Vec::new();
    for i in 0..requests {
        let intended = MS(10 * i - 1_000);
        let record = Record {
            step: (i % 2) as u16,
            ..Record::never_started(i as u64, intended, intended + MS(2_000), Outcome::Ok)
        };
        let end = ResponseEvent::end_of(&record);
        let pieces: &[i64] = match i {
            _ if i % 100 == 99 => &[],
            _ if i % 2 == 0 => &[30, 40, 80, 85, 90],
            _ => &[7],
        };
        let mut before = end.before;
        for &after in pieces {
            let at = intended + MS(after);
            all.push(ResponseEvent { kind: EventKind::Chunk, at, before, bytes: 3, count: 1, ..end });
            before = at.into();
        }
        all.push(ResponseEvent { before, count: pieces.len() as u32, ..end });
    }
    all
}

fn summed(events: &[ResponseEvent]) -> (Events, NotComputed) {
    let measured = Measured::new(&(Nanos::ZERO..MS(20_000)));
    let mut kept = EventsKept::default();
    events.iter().for_each(|event| kept.push(event, &measured));
    let mut missing = NotComputed::new();
    let labels = ["read".into(), "write".into()];
    (kept.summary(&labels, 20, &mut missing).unwrap(), missing)
}

#[test]
fn a_run_without_events_says_nothing() {
    assert_eq!(EventsKept::default().summary(&[], 20, &mut NotComputed::new()), None);
}

#[test]
fn numbers_are_by_label_and_of_all_and_leave_warm_up_out() {
    let (found, _) = summed(&events(2_100));
    // 100 requests fell due before the phase. 20 of the rest, all of step 1, had no event.
    assert_eq!((found.all.requests, found.all.n, found.all.bytes), (2_000, 5 * 1_000 + 980, 3 * 5_980));
    let (read, write) = (&found.by_label["read"], &found.by_label["write"]);
    let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.002;
    assert_eq!((read.first.n, read.first.censored, read.gap.n), (1_000, 0, 4_000));
    assert!(near(read.first.mean, 0.030) && near(read.first.p50, 0.030) && near(read.first.max, 0.030));
    // Gaps of 10, 40, 5 and 5 ms.
    assert!(near(read.gap.mean, 0.015) && near(read.gap.p50, 0.005) && near(read.gap.p90, 0.040));
    assert_eq!((write.first.n, write.first.censored, write.gap.n), (1_000, 20, 0));
    assert!(near(write.first.p50, 0.007), "{:?}", write.first);
    // A request without one had waited for 2 s.
    assert!(near(write.first.max, 2.0) && write.first.lower_bound["max"] && write.first.lower_bound["p99"]);
    assert!(near(found.all.first.mean, (1_000.0 * 0.030 + 980.0 * 0.007 + 20.0 * 2.0) / 2_000.0));
}

#[test]
fn intervals_are_there_or_the_document_says_why_not() {
    let (found, missing) = summed(&events(2_100));
    let [low, high] = found.all.gap.ci95.mean.unwrap();
    assert!(low <= found.all.gap.mean.unwrap() && found.all.gap.mean.unwrap() <= high);
    assert!(found.all.first.ci95.p50.is_some());
    let why = |path: &str| missing.get(path).map(|stated| &stated.why);
    assert_eq!(why("events.by_label.write.gap"), Some(&Why::NoObservations));
    assert!(why("events.first.ci95.p999").is_some(), "{missing:?}");
}

/// As a log of several shards, read again, has them.
#[test]
fn the_order_of_the_rows_does_not_matter() {
    let mut rows = events(2_100);
    let forwards = summed(&rows);
    rows.reverse();
    assert_eq!(summed(&rows), forwards);
    rows.sort_by_key(|row| row.k.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    assert_eq!(summed(&rows), forwards);
}

#[test]
fn a_document_without_events_has_no_block_of_them_and_one_with_them_is_read_back() {
    let none = serde_json::to_value(crate::Summary::default()).unwrap();
    assert!(none.get("events").is_none());
    let (events, _) = summed(&events(300));
    let summary = crate::Summary { events: Some(events), ..crate::Summary::default() };
    let text = serde_json::to_string(&summary).unwrap();
    let back: crate::Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(back.events, summary.events);
}
