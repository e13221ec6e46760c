//! Parts of the time of requests, bytes, and what came when: each against sums over the records themselves.

use super::world::{MS, World, answered, draws, exponential};
use headway_base::{Nanos, Outcome, Record};
use headway_stats::summary::{SeriesRow, TimePart};
use std::collections::{BTreeMap, BTreeSet};

/// Of every tenth request the connection is new, of every twentieth with TLS; bodies take an exponential 400 us.
fn told() -> World {
    let mut draws = draws(5);
    World::poisson(800.0, 12, 17).with(|r| {
        let (connect, tls, receive) = (50_000, 900_000, (exponential(&mut draws) * 4e5) as i64);
        let new = r.k.is_multiple_of(10);
        r.connect = new.then_some(Nanos(connect + r.k as i64)).into();
        r.tls = (new && r.k.is_multiple_of(20)).then_some(Nanos(tls + 3 * r.k as i64)).into();
        r.done = r.first_byte.get().unwrap() + Nanos(receive);
        (r.bytes_received, r.bytes_sent) = (300 + r.k % 7, 90);
        if r.k % 40 == 7 {
            // It broke off after the head: no complete response.
            (r.outcome, r.bytes_received) = (Outcome::Reset, 11);
        }
    })
}

/// Mean and percentiles by sorting: the smallest x with F(x) >= p.
fn sorted(mut spans: Vec<i64>) -> (u64, f64, [f64; 3], f64) {
    spans.sort_unstable();
    let at = |p: f64| spans[(p * spans.len() as f64).ceil() as usize - 1] as f64 / 1e9;
    let mean = spans.iter().map(|&x| x as f64).sum::<f64>() / spans.len() as f64 / 1e9;
    (spans.len() as u64, mean, [at(0.5), at(0.9), at(0.99)], *spans.last().unwrap() as f64 / 1e9)
}

fn is(part: Option<TimePart>, spans: Vec<i64>) {
    let (part, (n, mean, percentiles, max)) = (part.unwrap(), sorted(spans));
    assert_eq!((part.n, part.max), (n, max));
    assert!((part.mean / mean - 1.0).abs() < 1e-12, "{part:?} {mean}");
    for (told, value) in [part.p50, part.p90, part.p99].into_iter().zip(percentiles) {
        assert!((told / value - 1.0).abs() < 0.000_6, "{part:?} {percentiles:?}");
    }
}

#[test]
fn parts_of_the_time_are_those_of_the_records() {
    let mut world = told();
    world.measured.start = Nanos::from_secs(2);
    let summary = world.analyse();
    let counted = || world.records.iter().filter(|r| r.intended >= world.measured.start);
    let split = summary.time_split.as_ref().unwrap();
    let spans = |of: fn(&Record) -> Option<Nanos>| counted().filter_map(of).map(|span| span.0).collect();
    is(split.connect, spans(|r| r.connect.get()));
    is(split.tls, spans(|r| r.tls.get()));
    is(split.receive, spans(|r| (r.outcome == Outcome::Ok).then(|| r.done - r.first_byte.get().unwrap())));
    for sources in [2, 5] {
        assert_eq!(world.analyse_over(sources).time_split, summary.time_split, "{sources}");
    }
    // Parts that no request has are null.
    let plain = World::constant(100.0, 3).analyse().time_split.unwrap();
    assert_eq!((plain.connect, plain.tls), (None, None));
    let receive = plain.receive.unwrap();
    assert_eq!((receive.n, receive.mean, receive.p99, receive.max), (300, 0.0, 0.0, 0.0));
}

#[test]
fn parts_of_a_row_add_up_to_its_mean_response_time() {
    // A cap holds every eighth request back for 3 ms, and the generator is 20 us late.
    let mut world = told();
    for r in &mut world.records {
        let wait = if r.k.is_multiple_of(8) { 3 * MS } else { 0 };
        let set_up = r.connect.get().map_or(0, |span| span.0) + r.tls.get().map_or(0, |span| span.0) + 7_000;
        let started = r.intended + Nanos(wait + 20_000);
        let (first_byte, done) = (r.first_byte.get().unwrap() - r.intended, r.done - r.intended);
        (r.wait, r.started, r.sent) = (Nanos(wait), started.into(), (started + Nanos(set_up)).into());
        (r.first_byte, r.done) =
            ((started + Nanos(set_up) + first_byte).into(), started + Nanos(set_up) + done);
    }
    let summary = world.analyse();
    for row in &summary.series {
        let within =
            |r: &&Record| r.intended.as_secs_f64() >= row.from_s && r.intended.as_secs_f64() < row.to_s;
        let due: Vec<&Record> =
            world.records.iter().filter(within).filter(|r| r.outcome == Outcome::Ok).collect();
        let Some(split) = row.time_split else {
            assert!(due.is_empty(), "{row:?}");
            continue;
        };
        let mean = |of: &dyn Fn(&Record) -> i64| {
            due.iter().map(|r| of(r) as f64).sum::<f64>() / due.len() as f64 / 1e9
        };
        let near = |told: f64, expected: f64| assert!((told - expected).abs() < 1e-12, "{told} {expected}");
        assert_eq!(split.n, due.len() as u64);
        near(split.lag, 20e-6);
        near(split.wait, mean(&|r| r.wait.0 + 7_000));
        near(split.connect, mean(&|r| r.connect.get().map_or(0, |span| span.0)));
        near(split.tls, mean(&|r| r.tls.get().map_or(0, |span| span.0)));
        near(split.first_byte, mean(&|r| (r.first_byte.get().unwrap() - r.sent.get().unwrap()).0));
        near(split.receive, mean(&|r| (r.done - r.first_byte.get().unwrap()).0));
        let sum = split.lag + split.wait + split.connect + split.tls + split.first_byte + split.receive;
        near(sum, mean(&|r| r.response().0));
    }
    assert_eq!(world.analyse_over(3).series, summary.series);
}

#[test]
fn steps_over_time_are_those_of_the_records() {
    let mut world = mixed(4).with(|r| r.step = (r.k % 3 % 2) as u16);
    world.labels = vec!["list".into(), "add".into()];
    let summary = world.analyse();
    assert_eq!(world.analyse_over(3).by_label, summary.by_label);
    for (step, label) in world.labels.iter().enumerate() {
        let of = &summary.by_label[label];
        let rows = &of.series;
        assert_eq!((rows[0].to_s, rows.iter().map(|row| row.n).sum::<u64>()), (0.1, of.n));
        for row in rows {
            let within =
                |r: &&Record| r.intended.as_secs_f64() >= row.from_s && r.intended.as_secs_f64() < row.to_s;
            let due: Vec<&Record> =
                world.records.iter().filter(|r| usize::from(r.step) == step).filter(within).collect();
            let failed = due.iter().filter(|r| r.outcome != Outcome::Ok).count();
            assert_eq!((row.n, row.failed), (due.len() as u64, failed as u64));
            let (_, _, [p50, _, p99], _) = sorted(due.iter().map(|r| r.response().0).collect());
            for (told, value) in [(row.p50, p50), (row.p99, p99)] {
                assert!((told.unwrap() / value - 1.0).abs() < 0.033, "{row:?}");
            }
        }
    }
    // A run of one step has the rows of the run.
    assert!(mixed(4).analyse().by_label.values().all(|label| label.series.is_empty()));
}

#[test]
fn bytes_are_those_of_the_measured_requests_per_second() {
    let mut world = told();
    world.measured.start = Nanos::from_secs(2);
    let never =
        Record::never_started(u64::from(u32::MAX), Nanos(7_000 * MS), Nanos(7_400 * MS), Outcome::Shed);
    world.records.push(never);
    let summary = world.analyse();
    let counted = || world.records.iter().filter(|r| r.intended >= world.measured.start);
    let received = counted().map(|r| r.bytes_received).sum::<u64>() as f64 / 10.0;
    let sent = counted().map(|r| r.bytes_sent).sum::<u64>() as f64 / 10.0;
    assert_eq!((summary.rate.bytes_received, summary.rate.bytes_sent), (Some(received), Some(sent)));
    // Those that broke off have no size of a response, and yet bytes came.
    let complete = summary.bytes.mean.unwrap() * summary.bytes.n as f64 / 10.0;
    assert!(received > complete + 100.0, "{received} {complete}");
}

#[test]
fn a_simulation_and_another_tool_s_rows_have_neither() {
    let mut world = World::empty(10.0, 2);
    world.records = (0..20).map(|k| answered(k, k as i64 * 100 * MS, k as i64 * 100 * MS, MS)).collect();
    world.facts.source = headway_stats::summary::Source::Sim;
    let simulated = world.analyse();
    world.facts.source = headway_stats::summary::Source::Import;
    world.workload = headway_stats::Workload::Foreign;
    for summary in [simulated, world.analyse()] {
        assert_eq!(summary.time_split, None);
        assert_eq!((summary.rate.bytes_received, summary.rate.bytes_sent), (None, None));
        assert!(summary.series.iter().all(|row| (row.bytes_received, row.time_split) == (None, None)));
    }
}

/// Counts of the records that a row is of, by name.
fn counted(records: &[&Record], name: impl Fn(&Record) -> Option<String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    records.iter().filter_map(|r| name(r)).for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// Each row against the records that ended, started or were due within it.
fn rows_are_those_of_the_records(world: &World, width_s: f64, named: &[u16]) {
    let summary = world.analyse();
    let rows = &summary.series;
    let within = |at: Nanos, row: &SeriesRow| at.as_secs_f64() >= row.from_s && at.as_secs_f64() < row.to_s;
    for (i, row) in rows.iter().enumerate() {
        assert!((row.from_s - i as f64 * width_s).abs() < 1e-9, "{} of {width_s}", row.from_s);
        let ended: Vec<&Record> = world.records.iter().filter(|r| within(r.done, row)).collect();
        let statuses = counted(&ended, |r| {
            let known = named.contains(&r.status);
            (r.status > 0).then(|| if known { r.status.to_string() } else { "other".to_owned() })
        });
        assert_eq!(row.statuses, statuses, "{row:?}");
        let failed = |r: &Record| (r.outcome != Outcome::Ok).then(|| r.outcome.name().to_owned());
        assert_eq!(row.failures, counted(&ended, failed), "{row:?}");
        // Seven kinds are more frequent than those of checks, of which one is the eighth with a name.
        let kind = |r: &Record| match r.outcome {
            Outcome::Status => Some(format!("status {}", r.status)),
            Outcome::Timeout => Some("timeout".to_owned()),
            _ => None,
        };
        let mut kinds = row.failure_kinds.clone();
        kinds.retain(|name, _| !name.starts_with("check"));
        assert_eq!(kinds, counted(&ended, kind), "{row:?}");
        assert_eq!(row.failure_kinds.values().sum::<u64>(), row.failed);
        assert_eq!(row.failed, row.failures.values().sum::<u64>());
        assert_eq!(row.completed + row.failed, ended.len() as u64);
        assert_eq!(row.bytes_received, Some(ended.iter().map(|r| r.bytes_received).sum()));
        let due: Vec<i64> =
            world.records.iter().filter(|r| within(r.intended, row)).map(|r| r.response().0).collect();
        assert_eq!(row.n, due.len() as u64);
        if row.n > 0 {
            let (_, _, [_, p90, _], max) = sorted(due);
            assert!((row.p90.unwrap() / p90 - 1.0).abs() < 0.033, "{row:?} {p90}");
            assert_eq!(row.max, Some(max));
        }
    }
    let kinds: BTreeSet<&String> = rows.iter().flat_map(|row| row.failure_kinds.keys()).collect();
    assert_eq!((kinds.len(), kinds.contains(&"check other".to_owned())), (9, true), "{kinds:?}");
    let all: u64 = rows.iter().map(|row| row.completed + row.failed).sum();
    assert_eq!(all, world.records.len() as u64);
    assert_eq!(world.analyse_over(3).series, summary.series);
}

/// Ten status codes and failures without one; the two rarest codes are 410 and 599.
fn mixed(seconds: i64) -> World {
    World::poisson(400.0, seconds, 23).with(|r| {
        let code = [200, 201, 204, 301, 404, 429, 500, 503][(r.k % 8) as usize];
        r.status = match r.k % 100 {
            31 => 410,
            63 => 599,
            _ => code,
        };
        r.outcome = match r.k % 50 {
            7 => Outcome::Timeout,
            9 => Outcome::Check,
            _ if r.status >= 400 => Outcome::Status,
            _ => Outcome::Ok,
        };
        if r.outcome == Outcome::Timeout {
            r.status = 0;
        }
        r.bytes_received = 40 + r.k % 11;
    })
}

#[test]
fn rows_over_time_are_as_fine_as_the_run_is_short() {
    let named = [200, 201, 204, 301, 404, 429, 500, 503];
    for (seconds, width_s) in [(4, 0.1), (12, 0.2), (31, 0.5), (61, 1.0)] {
        rows_are_those_of_the_records(&mixed(seconds), width_s, &named);
    }
}

#[test]
fn rows_are_a_second_where_less_would_hold_few_requests_or_stamps_are_coarse() {
    let width = |world: &World| {
        let row = &world.analyse().series[0];
        row.to_s - row.from_s
    };
    // Five in 0.1 s, five in 0.2 s, five in 0.5 s, fewer than that.
    for (rate, width_s) in [(51.0, 0.1), (26.0, 0.2), (24.0, 0.5), (9.0, 1.0)] {
        assert_eq!(width(&World::constant(rate, 6)), width_s, "{rate}/s");
    }
    let mut world = World::constant(200.0, 6);
    world.resolution = Nanos(10 * MS);
    assert_eq!(width(&world), 0.1);
    world.resolution = Nanos(11 * MS);
    assert_eq!(width(&world), 0.2);
    world.resolution = Nanos(1_000 * MS);
    assert_eq!(width(&world), 1.0);
    // Five measured seconds after a minute of warm-up.
    let mut late = World::constant(200.0, 65);
    late.measured.start = Nanos::from_secs(60);
    assert_eq!(width(&late), 1.0);
}

#[test]
fn levels_of_fine_rows_average_to_those_of_seconds() {
    // Of each second, one request that begins at 0.4 s takes 300 ms, and 249 take 50 us.
    let world = World::constant(250.0, 8).with(|r| {
        r.done = r.intended + if r.k % 250 == 100 { Nanos(300 * MS) } else { Nanos(50_000) };
        r.first_byte = r.done.into();
    });
    let summary = world.analyse();
    assert_eq!(summary.series.len(), 80);
    for second in summary.series.chunks(10) {
        let mean = second.iter().map(|row| row.in_flight.unwrap()).sum::<f64>() / 10.0;
        assert!((mean - (0.3 + 249.0 * 5e-5)).abs() < 1e-9, "{mean}");
    }
    let one: Vec<bool> = summary.series[..10].iter().map(|row| row.in_flight.unwrap() > 0.5).collect();
    assert_eq!(one, [false, false, false, false, true, true, true, false, false, false]);
}

#[test]
fn bins_of_the_histogram_hold_the_responses_between_their_edges() {
    let world = mixed(9);
    let bins = world.analyse().curves.response_histogram;
    let answered: Vec<i64> =
        world.records.iter().filter(|r| r.outcome.answered()).map(|r| r.response().0).collect();
    assert_eq!(bins.iter().map(|bin| bin.n).sum::<u64>(), answered.len() as u64);
    assert!(bins[0].n > 0 && bins[bins.len() - 1].n > 0);
    assert!(bins.windows(2).all(|pair| pair[0].to == Some(pair[1].from)), "{bins:?}");
    for bin in &bins {
        let to = bin.to.unwrap();
        let between = |low: f64, high: f64| {
            answered.iter().filter(|&&x| x as f64 / 1e9 > low && x as f64 / 1e9 <= high).count() as u64
        };
        // To the width of a cell at either edge.
        let (least, most) = (between(bin.from * 1.001, to * 0.999), between(bin.from * 0.999, to * 1.001));
        assert!((least..=most).contains(&bin.n), "{bin:?}: {least} to {most}");
        assert!((1.05..1.15).contains(&(to / bin.from)), "{bin:?}");
    }
    // A response time of none is in the first bin of all, and one of an hour in the last.
    let mut far = World::constant(100.0, 2);
    far.records[5].done = far.records[5].intended + Nanos::from_secs(3_600);
    far.records[6].done = far.records[6].intended;
    let bins = far.analyse().curves.response_histogram;
    assert_eq!((bins[0].from, bins[0].n, bins[bins.len() - 1].to, bins[bins.len() - 1].n), (0.0, 1, None, 1));
}
