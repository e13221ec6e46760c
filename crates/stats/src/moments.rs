//! Streaming moments: exact integer sums where order must not matter, central moments where four are needed.
//!
//! Sources: one-pass central moments, single and pairwise, from Pébay (2008), "Formulas for robust, one-pass parallel
//! computation of covariances and arbitrary-order statistical moments", eqs. 2.1-3.1; the standard error of a
//! coefficient of variation by the delta method (Cramér 1946, section 27.7).
//!
//! One pass is dear in divisions: [`Gathered`] sums plain powers around a value near the mean over some thousand values,
//! in which little cancels, and merges such blocks pairwise.

/// Count, sum and sum of squares of whole numbers, exact: the same bits in whatever order they came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sums {
    pub n: u64,
    sum: u128,
    squares: u128,
}

impl Sums {
    #[inline]
    pub fn push(&mut self, x: u64, count: u64) {
        let total = u128::from(x) * u128::from(count);
        self.n += count;
        self.sum += total;
        self.squares = self.squares.saturating_add(u128::from(x).saturating_mul(total));
    }

    pub fn merge(&mut self, other: &Sums) {
        self.n += other.n;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }

    pub fn total(&self) -> f64 {
        self.sum as f64
    }

    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// Variance with n - 1. The difference is taken in integers as long as they hold it, so that nearly constant
    /// values lose nothing.
    pub fn variance(&self) -> Option<f64> {
        if self.n < 2 {
            return None;
        }
        let n = u128::from(self.n);
        let exact = n.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        let spread = match exact {
            Some((a, b)) => (a - b) as f64 / self.n as f64,
            None => (self.squares as f64 - self.sum as f64 * (self.sum as f64 / self.n as f64)).max(0.0),
        };
        Some(spread / (self.n - 1) as f64)
    }

    /// Squared coefficient of variation.
    pub fn cov2(&self) -> Option<f64> {
        let mean = self.mean().filter(|&m| m > 0.0)?;
        Some(self.variance()? / (mean * mean))
    }
}

/// Central moments up to the fourth, in floating point; mergeable.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Moments {
    pub n: u64,
    pub mean: f64,
    m2: f64,
    m3: f64,
    m4: f64,
}

impl Moments {
    pub fn merge(&mut self, b: &Moments) {
        if b.n == 0 {
            return;
        }
        let a = *self;
        let (na, nb) = (a.n as f64, b.n as f64);
        let n = na + nb;
        let d = b.mean - a.mean;
        self.n += b.n;
        self.mean = a.mean + d * nb / n;
        self.m2 = a.m2 + b.m2 + d * d * na * nb / n;
        self.m3 =
            a.m3 + b.m3 + d.powi(3) * na * nb * (na - nb) / (n * n) + 3.0 * d * (na * b.m2 - nb * a.m2) / n;
        self.m4 = a.m4
            + b.m4
            + d.powi(4) * na * nb * (na * na - na * nb + nb * nb) / n.powi(3)
            + 6.0 * d * d * (na * na * b.m2 + nb * nb * a.m2) / (n * n)
            + 4.0 * d * (na * b.m3 - nb * a.m3) / n;
    }

    /// Of values that came so many times each.
    pub fn of(values: impl Iterator<Item = (f64, u64)> + Clone) -> Moments {
        let n: u64 = values.clone().map(|(_, count)| count).sum();
        let mean = values.clone().map(|(x, count)| x * count as f64).sum::<f64>() / n.max(1) as f64;
        let power = |p: i32| values.clone().map(|(x, count)| (x - mean).powi(p) * count as f64).sum();
        Moments { n, mean, m2: power(2), m3: power(3), m4: power(4) }
    }

    /// The same values in another unit.
    pub fn scaled(&self, by: f64) -> Moments {
        let Moments { n, mean, m2, m3, m4 } = *self;
        Moments { n, mean: mean * by, m2: m2 * by.powi(2), m3: m3 * by.powi(3), m4: m4 * by.powi(4) }
    }

    /// Sum of squared deviations.
    pub fn m2(&self) -> f64 {
        self.m2
    }

    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then_some(self.mean)
    }

    pub fn sd(&self) -> Option<f64> {
        (self.n > 1).then(|| (self.m2 / (self.n - 1) as f64).sqrt())
    }

    pub fn cov(&self) -> Option<f64> {
        self.sd().filter(|_| self.mean > 0.0).map(|sd| sd / self.mean)
    }

    /// Skewness, the biased form m3 / m2^1.5.
    pub fn skewness(&self) -> Option<f64> {
        (self.n > 2 && self.m2 > 0.0).then(|| self.m3 * (self.n as f64).sqrt() / self.m2.powf(1.5))
    }

    /// Kurtosis, the biased form m4 / m2^2; 3 for a normal law.
    pub fn kurtosis(&self) -> Option<f64> {
        (self.n > 3 && self.m2 > 0.0).then(|| self.m4 * self.n as f64 / (self.m2 * self.m2))
    }

    /// Standard error of the CoV of independent values, by the delta method.
    pub fn cov_se(&self) -> Option<f64> {
        if self.n > 3 && self.m2 == 0.0 {
            return Some(0.0);
        }
        let (cov, g, k) = (self.cov()?, self.skewness()?, self.kurtosis()?);
        Some(cov * (((k - 1.0) / 4.0 + cov * cov - g * cov) / self.n as f64).max(0.0).sqrt())
    }
}

/// Takes values one by one and makes [`Moments`] of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    whole: Moments,
    /// Sums of powers of x - shift over the block that is being filled.
    shift: f64,
    sums: [f64; 4],
    n: u32,
    full: u32,
}

/// Values in the first block, whose shift is no better than its first value, and in the later ones.
const FIRST_BLOCK: u32 = 32;
const BLOCK: u32 = 4_096;

impl Gathered {
    #[inline]
    pub fn push(&mut self, x: f64) {
        if self.n == self.full {
            self.next_block(x);
        }
        let d = x - self.shift;
        let d2 = d * d;
        self.n += 1;
        self.sums[0] += d;
        self.sums[1] += d2;
        self.sums[2] += d2 * d;
        self.sums[3] += d2 * d2;
    }

    #[cold]
    fn next_block(&mut self, x: f64) {
        self.whole = self.moments();
        let begun = self.whole.n > 0;
        self.shift = if begun { self.whole.mean } else { x };
        self.full = if begun { BLOCK } else { FIRST_BLOCK };
        self.sums = [0.0; 4];
        self.n = 0;
    }

    /// The moments of all values so far.
    pub fn moments(&self) -> Moments {
        let mut whole = self.whole;
        if self.n > 0 {
            let n = f64::from(self.n);
            let [a, b, c, d] = self.sums.map(|sum| sum / n);
            whole.merge(&Moments {
                n: u64::from(self.n),
                mean: self.shift + a,
                m2: n * (b - a * a).max(0.0),
                m3: n * (c - 3.0 * a * b + 2.0 * a * a * a),
                m4: n * (d - 4.0 * a * c + 6.0 * a * a * b - 3.0 * a.powi(4)).max(0.0),
            });
        }
        whole
    }
}

/// Autocorrelation of successive values. Sums are taken around the first value, so that little cancels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lag1 {
    shift: Option<f64>,
    previous: Option<f64>,
    pairs: u64,
    products: f64,
    left: f64,
    right: f64,
}

impl Lag1 {
    #[inline]
    pub fn push(&mut self, x: f64) {
        let x = x - *self.shift.get_or_insert(x);
        if let Some(previous) = self.previous {
            self.pairs += 1;
            self.products += previous * x;
            self.left += previous;
            self.right += x;
        }
        self.previous = Some(x);
    }

    /// The next value does not follow the last one.
    pub fn interrupt(&mut self) {
        self.previous = None;
    }

    /// The autocorrelation, given the moments of the same values.
    pub fn autocorrelation(&self, moments: &Moments) -> Option<f64> {
        if self.pairs < 2 || moments.m2() <= 0.0 {
            return None;
        }
        let m = moments.mean - self.shift?;
        let around_mean = self.products - m * (self.left + self.right) + self.pairs as f64 * m * m;
        Some(around_mean / moments.m2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(values: &[f64]) -> Moments {
        let mut gathered = Gathered::default();
        values.iter().for_each(|&x| gathered.push(x));
        gathered.moments()
    }

    #[test]
    fn moments_in_blocks_are_those_of_the_definition() {
        let mut values: Vec<f64> = (0..20_000).map(|i| f64::from(i * 7919 % 9973).powf(1.3) + 1e4).collect();
        // A first value that is no good as a shift.
        values[0] = 3e6;
        for n in [1, 2, 31, 32, 33, 34, 4_128, 4_129, 20_000] {
            let (values, n) = (&values[..n], n as f64);
            let mean = values.iter().sum::<f64>() / n;
            let central = |p: i32| values.iter().map(|x| (x - mean).powi(p)).sum::<f64>();
            let got = gathered(values);
            // Cancellation is judged on the scale of the values' own spread.
            let sd = (central(2) / n).sqrt();
            for (got, exact, scale) in [
                (got.mean, mean, mean),
                (got.m2, central(2), n * sd.powi(2)),
                (got.m3, central(3), n * sd.powi(3)),
                (got.m4, central(4), n * sd.powi(4)),
            ] {
                assert!((got - exact).abs() <= 1e-9 * scale, "{n}: {got} {exact}");
            }
        }
        assert_eq!(gathered(&[17_991.0; 10_000]).sd(), Some(0.0));
    }

    #[test]
    fn merged_moments_are_those_of_the_whole() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 997).powf(1.3)).collect();
        let whole = gathered(&values);
        let mut merged = Moments::default();
        values.chunks(137).for_each(|part| merged.merge(&gathered(part)));
        for (a, b) in [
            (whole.cov(), merged.cov()),
            (whole.skewness(), merged.skewness()),
            (whole.kurtosis(), merged.kurtosis()),
            (whole.cov_se(), merged.cov_se()),
        ] {
            assert!((a.unwrap() / b.unwrap() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn integer_sums_keep_a_tiny_spread_on_a_large_mean() {
        let mut sums = Sums::default();
        for i in 0..1000 {
            sums.push(1_000_000_000_000 + i % 2, 1);
        }
        assert!((sums.variance().unwrap() - 0.25 * 1000.0 / 999.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_give_nothing() {
        let none = gathered(&[]);
        assert_eq!((none.mean(), none.sd(), none.cov_se()), (None, None, None));
        let one = gathered(&[3.0]);
        assert_eq!((one.mean(), one.sd()), (Some(3.0), None));
        assert_eq!(Sums::default().variance(), None);
    }
}
