//! Streaming moments: exact integer sums where order must not matter, central moments where four are needed.
//!
//! Sources: one-pass central moments, single and pairwise, from Pébay (2008), "Formulas for robust, one-pass parallel
//! computation of covariances and arbitrary-order statistical moments", eqs. 2.1-3.1; the standard error of a
//! coefficient of variation by the delta method (Cramér 1946, section 27.7).

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
    #[inline]
    pub fn push(&mut self, x: f64) {
        let before = self.n as f64;
        self.n += 1;
        let n = self.n as f64;
        let delta = x - self.mean;
        let step = delta / n;
        let term = delta * step * before;
        self.mean += step;
        self.m4 +=
            term * step * step * (n * n - 3.0 * n + 3.0) + 6.0 * step * step * self.m2 - 4.0 * step * self.m3;
        self.m3 += term * step * (n - 2.0) - 3.0 * step * self.m2;
        self.m2 += term;
    }

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

    #[test]
    fn merged_moments_are_those_of_the_whole() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 997).powf(1.3)).collect();
        let mut whole = Moments::default();
        values.iter().for_each(|&x| whole.push(x));
        let mut merged = Moments::default();
        for part in values.chunks(137) {
            let mut m = Moments::default();
            part.iter().for_each(|&x| m.push(x));
            merged.merge(&m);
        }
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
        let mut m = Moments::default();
        assert_eq!((m.mean(), m.sd(), m.cov_se()), (None, None, None));
        m.push(3.0);
        assert_eq!((m.mean(), m.sd()), (Some(3.0), None));
        assert_eq!(Sums::default().variance(), None);
    }
}
