//! A summary of what has ended so far: it is of what was told, and the analysis goes on as if nobody had asked.

use crate::world::{MS, World, finding};
use headway_base::{Batch, Nanos, Outcome};
use headway_stats::Analysis;

/// The batches of a run of whole seconds, one a second from each source.
fn each_second(world: &World, sources: usize) -> Vec<Vec<Batch>> {
    let end = world.records.iter().map(|r| r.done).max().unwrap().0 / 1_000_000_000 + 1;
    let of = |second: i64, s: usize| {
        let until = Nanos::from_secs(second);
        let within = move |at: Nanos| at >= until - Nanos::from_secs(1) && at < until;
        let own = move || world.records.iter().filter(move |r| r.k as usize % sources == s);
        let mut records: Vec<_> = own().filter(|r| within(r.done)).copied().collect();
        records.sort_by_key(|r| r.done);
        let starts =
            own().filter(|r| r.started.get().is_some_and(within)).filter_map(|r| r.start()).collect();
        Batch { source: s as u16, watermark: until, starts, records, last: second == end, ..Batch::default() }
    };
    (1..=end).map(|second| (0..sources).map(|s| of(second, s)).collect()).collect()
}

#[test]
fn a_summary_so_far_is_of_what_was_told_and_leaves_the_run_as_it_was() {
    // Three in a hundred take some seconds, so that there is always something in flight.
    let world = World::poisson(300.0, 12, 5).with(|r| {
        if r.k % 33 == 0 {
            r.done += Nanos(2_700 * MS);
            r.first_byte = r.done.into();
        }
    });
    for sources in [1, 3] {
        let (mut asked, mut left_alone) =
            (Analysis::new(world.setup(sources)), Analysis::new(world.setup(sources)));
        for (i, batches) in each_second(&world, sources).iter().enumerate() {
            let second = i as i64 + 1;
            for batch in batches {
                asked.batch(batch);
                left_alone.batch(batch);
            }
            // The clock has gone on, and nobody has told of that time yet.
            let so_far = asked.clone().so_far(Nanos(1_000 * MS * second + 90 * MS), world.facts.clone());
            let until = Nanos::from_secs(second.min(12));
            let count = |is: &dyn Fn(&headway_base::Record) -> bool| {
                world.records.iter().filter(|r| is(r)).count() as u64
            };
            let started = count(&|r| r.started.get() < Some(Nanos::from_secs(second)));
            let ended = count(&|r| r.done < Nanos::from_secs(second));
            assert!(ended < started || second > 14, "nothing is in flight after {second} s");
            assert_eq!(so_far.outcomes.values().sum::<u64>(), ended, "{second} s, {sources} sources");
            assert_eq!(so_far.response.n, ended);
            assert_eq!((so_far.measured.n, so_far.measured.to_s), (started, until.as_secs_f64()));
            let rate = so_far.rate.started.unwrap() * until.as_secs_f64();
            assert!((rate - started as f64).abs() < 1e-6, "{rate} and {started}");
            assert!(!so_far.measured.interrupted && !so_far.measured.aborted);
            for id in ["interrupted", "aborted", "unaccounted"] {
                assert!(finding(&so_far, id).is_none(), "{id} after {second} s");
            }
        }
        let facts = || world.facts.clone();
        assert_eq!(asked.finish(facts()), left_alone.finish(facts()));
    }
}

#[test]
fn before_anything_has_ended_there_is_a_summary_of_nothing() {
    let world = World::poisson(300.0, 12, 5);
    let analysis = Analysis::new(world.setup(2));
    let so_far = analysis.so_far(Nanos::from_secs(3), world.facts.clone());
    assert_eq!((so_far.measured.n, so_far.measured.to_s, so_far.outcomes.len()), (0, 0.0, 0));
    assert_eq!((so_far.response.n, so_far.rate.started), (0, None));
}

#[test]
fn during_the_warm_up_nothing_counts_and_the_rows_are_there() {
    let mut world = World::poisson(300.0, 12, 5);
    world.measured.start = Nanos::from_secs(6);
    let mut analysis = Analysis::new(world.setup(1));
    each_second(&world, 1)[..3].iter().flatten().for_each(|batch| analysis.batch(batch));
    let so_far = analysis.so_far(Nanos::from_secs(3), world.facts.clone());
    assert_eq!((so_far.measured.n, so_far.response.n, so_far.measured.to_s), (0, 0, 6.0));
    assert!(so_far.measured.warmup > 500 && so_far.series.iter().map(|row| row.completed).sum::<u64>() > 500);
    assert!(!so_far.outcomes.contains_key(Outcome::Ok.name()));
}
