//! Whether the target changed while it was searched: how fast it answered near the knee, earlier and later.
//!
//! Blocks below and above the knee alternate, so each rate is measured early and late. What is compared is the mean logarithm of the response
//! times of each block: every response counts in it, and a few long ones do not decide it. It is fitted by least squares with a constant, the
//! logarithm of the rate, and the time; blocks are independent, as each begins with nothing in flight, so their scatter around the fit tells the error.
//!
//! It is asked after each block: four standard errors allow for all looks (Bonferroni's inequality, 30 looks).
//!
//! Deliberately absent: when a search ends because of it (`knee`).

/// Standard errors beyond which time is taken to have an effect, with many blocks.
const Z: f64 = 4.0;
/// Fewest blocks.
const FEWEST: usize = 10;
/// The smallest standard error of a pace: a shift of less than a per cent is none that a search looks for.
const FINEST: f64 = 0.003;

/// How fast a block was answered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Its rate.
    pub rate: f64,
    /// Its middle: seconds since the search began.
    pub at_s: f64,
    /// Mean natural logarithm of its response times in seconds; of what was given up, that of 65 s.
    pub logarithm: f64,
}

/// How response times changed with time, at one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// Change of their mean logarithm per second; above zero: they grew.
    pub per_second: f64,
    /// The standard error of that.
    pub error: f64,
    /// The rate.
    pub rate: f64,
    /// The first and the last of the blocks: seconds since the search began, and geometric mean of the response times in seconds, by the fit.
    pub ends: [(f64, f64); 2],
}

impl Drift {
    /// Seconds from the first to the last block.
    pub fn over_s(&self) -> f64 {
        self.ends[1].0 - self.ends[0].0
    }

    /// Whether it is more than chance, and more than the precision of a knee from the first block to the last.
    pub fn matters(&self, precision: f64) -> bool {
        self.per_second.abs() > Z * self.error && self.per_second.abs() * self.over_s() > precision
    }
}

/// What blocks near the knee say, which stands at `knee`; none from too few of them.
pub(super) fn drift(paces: &[Pace], knee: f64) -> Option<Drift> {
    let (first, last) = (paces.first()?, paces.last()?);
    if paces.len() < FEWEST {
        return None;
    }
    let n = paces.len() as f64;
    let mean = |of: &dyn Fn(&Pace) -> f64| paces.iter().map(of).sum::<f64>() / n;
    let rate = |p: &Pace| (p.rate / knee).ln();
    let [r0, t0, y0] = [mean(&rate), mean(&|p| p.at_s), mean(&|p| p.logarithm)];
    let moment = |a: &dyn Fn(&Pace) -> f64, b: &dyn Fn(&Pace) -> f64| n * mean(&|p| a(p) * b(p));
    let (r, t, y) = (|p: &Pace| rate(p) - r0, |p: &Pace| p.at_s - t0, |p: &Pace| p.logarithm - y0);
    let [rr, rt, tt, ry, ty] =
        [moment(&r, &r), moment(&r, &t), moment(&t, &t), moment(&r, &y), moment(&t, &y)];
    let all = rr * tt - rt * rt;
    if all <= 1e-9 * rr * tt || tt <= 0.0 {
        return None;
    }
    let (by_rate, per_second) = ((tt * ry - rt * ty) / all, (rr * ty - rt * ry) / all);
    let left = mean(&|p| (y(p) - by_rate * r(p) - per_second * t(p)).powi(2)) * n / (n - 3.0);
    let error = (left.max(FINEST * FINEST) * rr / all).sqrt() * (1.0 + 6.0 / (n - 3.0));
    let at = |p: &Pace| (p.at_s, (y0 - by_rate * r0 + per_second * (p.at_s - t0)).exp());
    Some(Drift { per_second, error, rate: knee, ends: [at(first), at(last)] })
}
