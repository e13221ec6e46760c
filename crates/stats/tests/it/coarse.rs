//! Stamps cut off to a grid: what they still say, and what they must not be made to say.

use crate::world::{MS, World, answered, draws, exponential, finding};
use headway_base::Nanos;
use headway_stats::summary::evidence::Starts;
use headway_stats::summary::{Evidence, Pattern, Severity, Summary};
use headway_stats::{Facts, Workload};

/// Starts at these instants (in seconds) for an hour, stamped in whole steps of `grid`.
fn stamped(grid: Nanos, starts: impl IntoIterator<Item = f64>) -> Summary {
    let mut world = World::empty(10.0, 3_600);
    world.workload = Workload::Foreign;
    world.resolution = grid;
    world.facts = Facts { finer: Some("--stamps=ms".into()), ..Facts::default() };
    world.records = (0..)
        .zip(starts.into_iter().take_while(|&at| at < 3_600.0))
        .map(|(k, at)| {
            let at = (at * 1e9) as i64 / grid.0 * grid.0;
            answered(k, at, at, MS)
        })
        .collect();
    world.analyse()
}

/// Arrivals one after the other with gaps of this law.
fn renewal(mut gap: impl FnMut() -> f64, batch: usize) -> impl Iterator<Item = f64> {
    let mut at = 0.0;
    std::iter::repeat_with(move || {
        at += gap();
        std::iter::repeat_n(at, batch)
    })
    .flatten()
}

/// 10 starts and 100 starts per step, of rates that are in step with the clock and of rates that drift against it. A
/// constant rate is even. Ten at once at a constant rate are even too, for a window of ten steps holds many such batches.
/// Ten at once at random instants are bunched whatever the clock.
#[test]
fn constant_and_batch_traffic_on_a_coarse_clock_is_never_independent() {
    for (grid, seeds) in [(Nanos::from_secs(1), 4), (Nanos::from_secs(10), 4)] {
        for seed in 0..seeds {
            let mut u = draws(seed);
            let rate = [10.0, 10.0, 9.73, 10.31][seed as usize];
            let phase = u.open01() / rate;
            let lead = move |gap: f64| {
                let mut first = Some(phase);
                move || first.take().unwrap_or(gap)
            };
            let constant = stamped(grid, renewal(lead(1.0 / rate), 1));
            let batches = stamped(grid, renewal(lead(10.0 / rate), 10));
            let random = stamped(grid, renewal(|| exponential(&mut u) * 10.0 / rate, 10));
            assert_eq!(
                constant.verdict.pattern,
                Pattern::Even,
                "{grid} {seed} {:?}",
                constant.arrivals.dispersion
            );
            assert_eq!(
                batches.verdict.pattern,
                Pattern::Even,
                "{grid} {seed} {:?}",
                batches.arrivals.dispersion
            );
            assert_eq!(
                random.verdict.pattern,
                Pattern::Bunched,
                "{grid} {seed} {:?}",
                random.arrivals.dispersion
            );
            for summary in [constant, batches, random] {
                let found = finding(&summary, "coarse-stamps").unwrap();
                let [Evidence::Starts(Starts::CoarseStamps { finer: Some(finer), .. })] = &found.evidence[..]
                else {
                    panic!("{found:?}")
                };
                assert!(found.severity == Severity::Warning && finer.contains("--stamps=ms"), "{found:?}");
            }
        }
    }
}

/// Batches of any size and period drift against the clock. At one length of window their counts may vary as those of
/// independent starts do (20 every 1.87 steps: index 0.85 at ten steps), at others they do not.
#[test]
fn no_batches_at_a_constant_rate_are_independent_on_a_coarse_clock() {
    let grid = Nanos::from_secs(1);
    for batch in [5, 20, 50] {
        for period in (1..9).map(|i| 0.51 + 0.34 * f64::from(i)) {
            let mut first = Some(0.123);
            let summary = stamped(grid, renewal(|| first.take().unwrap_or(period), batch));
            let rate = batch as f64 / period;
            assert_ne!(summary.verdict.pattern, Pattern::Independent, "{batch} {period} {rate} per step");
        }
    }
}

/// 100 starts per second told in tenths, in windows of 1 s: the standard error of the index is 2.4 %, so that 1.2 and 0.8
/// are four of them away from the ends of its interval.
#[test]
fn independent_starts_on_a_coarse_clock_are_found_independent() {
    for seed in 0..2 {
        let mut u = draws(seed);
        let summary = stamped(Nanos::from_millis(100), renewal(|| exponential(&mut u) / 100.0, 1));
        assert_eq!(summary.verdict.pattern, Pattern::Independent, "{:?}", summary.arrivals.dispersion);
        assert!(finding(&summary, "fixed-population").is_none());
    }
}

/// At 0.3 starts per step the grid alone makes the CoV 1 + 0.3^2/12 = 1.0075; 36,000 starts tell it to 0.5 %. The corrected
/// one is back at 1, and so is the distance of the dithered stamps; that of the stamps as they stand is far beyond.
#[test]
fn the_grid_is_taken_out_of_the_cov_and_of_the_distance() {
    let (grid, n) = (Nanos::from_millis(30), 36_000.0f64);
    let (mut excess, mut left) = (0.0, 0.0);
    for seed in 0..8 {
        let mut u = draws(100 + seed);
        let summary = stamped(grid, renewal(|| exponential(&mut u) / 10.0, 1));
        let arrivals = &summary.arrivals;
        let (raw, cov) = (arrivals.cov_as_stamped.unwrap(), arrivals.cov.unwrap());
        excess += (raw - 1.0) / 8.0;
        left += (cov - 1.0) / 8.0;
        let ks = arrivals.ks;
        assert!(ks.exponential.unwrap().scaled < 1.5, "{ks:?}");
        assert!(ks.exponential_as_stamped.unwrap().scaled > 10.0, "{ks:?}");
        assert!(finding(&summary, "coarse-stamps").is_none());
    }
    let error = 4.0 / (8.0 * n).sqrt();
    assert!((excess - 0.0075).abs() < error && left.abs() < error, "{excess} {left} {error}");
}
