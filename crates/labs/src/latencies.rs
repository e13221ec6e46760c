//! The numbers of a sample of latencies: minimum, three quantiles, maximum and mean.
//!
//! Quantiles lie between observations: p is at h = p(n - 1), linear from one to the next (type 7 of Hyndman and Fan 1996, as
//! R, NumPy and Incanter have it). Nothing is sorted: the few observations that are needed are put in their places.

use super::Quantity;

/// How many numbers there are.
pub const NUMBERS: usize = 6;
/// Places of some of them.
pub const MIN: usize = 0;
pub const MEDIAN: usize = 1;
pub const P95: usize = 2;
pub const P99: usize = 3;
pub const MAX: usize = 4;
pub const MEAN: usize = 5;

/// The numbers in their order, in milliseconds.
pub const QUANTITIES: [Quantity; NUMBERS] = [
    Quantity::new("min", 4),
    Quantity::new("median", 1),
    Quantity::new("p95", 1),
    Quantity::new("p99", 1),
    Quantity::new("max", 1),
    Quantity::new("mean", 1),
];

/// Levels of the numbers up to [`MAX`], in percent.
const LEVELS: [usize; NUMBERS - 1] = [0, 50, 95, 99, 100];

/// The numbers, in milliseconds, of latencies in nanoseconds, which change places. NaN of none.
pub fn numbers(latencies: &mut [u64]) -> [f64; NUMBERS] {
    let mut numbers = [f64::NAN; NUMBERS];
    let Some(last) = latencies.len().checked_sub(1) else { return numbers };
    // In hundredths of an observation, so that no place is a matter of rounding.
    let places = LEVELS.map(|level| (level * last / 100, level * last % 100));
    let mut needed: Vec<usize> =
        places.iter().flat_map(|&(below, _)| [below, (below + 1).min(last)]).collect();
    needed.sort_unstable();
    needed.dedup();
    arrange(latencies, 0, &needed);
    for (number, (below, hundredths)) in numbers.iter_mut().zip(places) {
        let (low, high) = (latencies[below] as f64, latencies[(below + 1).min(last)] as f64);
        *number = ms(low + hundredths as f64 / 100.0 * (high - low));
    }
    let sum: u128 = latencies.iter().map(|&latency| u128::from(latency)).sum();
    numbers[MEAN] = ms(sum as f64 / latencies.len() as f64);
    numbers
}

/// Puts those that belong in these places (in order; of the whole sample, of which `values` begins at `from`) there.
fn arrange(values: &mut [u64], from: usize, places: &[usize]) {
    let middle = places.len() / 2;
    let Some(&place) = places.get(middle) else { return };
    let (below, _, above) = values.select_nth_unstable(place - from);
    arrange(below, from, &places[..middle]);
    arrange(above, place + 1, &places[middle + 1..]);
}

/// In milliseconds.
fn ms(nanoseconds: f64) -> f64 {
    nanoseconds / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// By sorting.
    fn plainly(latencies: &[u64]) -> Vec<f64> {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        let at = |p: f64| {
            let h = p * (sorted.len() - 1) as f64;
            let (below, above) = (sorted[h.floor() as usize] as f64, sorted[h.ceil() as usize] as f64);
            (below + (h - h.floor()) * (above - below)) / 1e6
        };
        let mean = sorted.iter().sum::<u64>() as f64 / sorted.len() as f64 / 1e6;
        vec![at(0.0), at(0.5), at(0.95), at(0.99), at(1.0), mean]
    }

    /// R: quantile(c(1, 2, 4, 8), c(.5, .95, .99)) is 3.0, 7.4, 7.88.
    #[test]
    fn quantiles_lie_between_observations() {
        let mut four = [8_000_000, 1_000_000, 4_000_000, 2_000_000];
        let expected = [1.0, 3.0, 7.4, 7.88, 8.0, 3.75];
        for (number, expected) in numbers(&mut four).into_iter().zip(expected) {
            assert!((number - expected).abs() < 1e-12, "{number} {expected}");
        }
        assert_eq!(numbers(&mut [7_000_000]), [7.0; NUMBERS]);
        assert!(numbers(&mut []).iter().all(|number| number.is_nan()));
    }

    #[test]
    fn selecting_gives_what_sorting_gives() {
        let stream = Stream::new(3, "test-latencies");
        for n in [2, 3, 10, 99, 100, 101, 2_000] {
            for r in 0..20 {
                let mut draws = stream.item(1_000 * r + n);
                // Some are equal.
                let mut latencies: Vec<u64> = (0..n).map(|_| draws.bits() % (2 * n) * 1_000).collect();
                let expected = plainly(&latencies);
                for (number, expected) in numbers(&mut latencies).into_iter().zip(expected) {
                    assert!((number - expected).abs() < 1e-9, "{n}: {number} {expected}");
                }
            }
        }
    }
}
