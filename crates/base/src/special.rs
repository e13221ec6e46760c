//! Special functions that the distributions' cdfs need, and the two ziggurats.
//!
//! Only `libm` underneath, so that the same bits come out on every machine.

use crate::random::{Draws, Stream, open01};
use std::sync::LazyLock;

/// Standard normal cdf.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Standard normal density.
pub fn normal_pdf(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) * 0.398_942_280_401_432_7
}

/// Regularised lower incomplete gamma function P(a, x), a > 0 (Abramowitz and Stegun 1964, 6.5.29 below a + 1; the
/// continued fraction 6.5.31 above it, by Lentz's method). Relative error about 1e-14.
pub fn gamma_p(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x.is_infinite() {
        return 1.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return front * sum;
    }
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..10_000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = 1.0 / nonzero(an * d + b);
        c = nonzero(b + an / c);
        let step = c * d;
        h *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    return 1.0 - front * h;

    fn nonzero(x: f64) -> f64 {
        if x.abs() < TINY { TINY } else { x }
    }
}

/// Layers of a ziggurat (Marsaglia and Tsang 2000) of 256 steps for a decreasing density `f` on [0, inf): `x[i]` are
/// the right edges (x[0] is that of the base strip's rectangle), `f[i]` the density there.
struct Ziggurat {
    x: [f64; 257],
    f: [f64; 257],
}

impl Ziggurat {
    /// `r`: where the tail begins; `v`: the area of each layer; `inverse`: the inverse of the density.
    fn new(r: f64, v: f64, density: fn(f64) -> f64, inverse: fn(f64) -> f64) -> Ziggurat {
        let (mut x, mut f) = ([0.0; 257], [0.0; 257]);
        x[0] = v / density(r);
        x[1] = r;
        for i in 2..256 {
            x[i] = inverse(v / x[i - 1] + density(x[i - 1]));
        }
        x[256] = 0.0;
        for i in 0..257 {
            f[i] = density(x[i]);
        }
        Ziggurat { x, f }
    }
}

const EXP_R: f64 = 7.697_117_470_131_05;
const EXP_V: f64 = 0.003_949_659_822_581_572;
static EXP: LazyLock<Ziggurat> =
    LazyLock::new(|| Ziggurat::new(EXP_R, EXP_V, |x| libm::exp(-x), |y| -libm::log(y)));

const NORMAL_R: f64 = 3.654_152_885_361_009;
const NORMAL_V: f64 = 0.004_928_673_233_974_655;
static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    Ziggurat::new(NORMAL_R, NORMAL_V, |x| libm::exp(-0.5 * x * x), |y| libm::sqrt(-2.0 * libm::log(y)))
});

/// One exponential of unit mean. Bits: 8 choose the layer, 52 the place in it.
#[inline]
pub fn exponential(draws: &mut Draws) -> f64 {
    exponential_by(&EXP, draws)
}

/// [`exponential`] of the items of a stream from number `first` on, one of each.
#[inline]
pub fn exponentials(stream: Stream, first: u64, of: &mut [f64]) {
    let zig = &*EXP;
    for (k, x) in (first..).zip(of) {
        *x = exponential_by(zig, &mut stream.item(k));
    }
}

#[inline(always)]
fn exponential_by(zig: &Ziggurat, draws: &mut Draws) -> f64 {
    let bits = draws.bits();
    let (i, u) = ((bits & 255) as usize, open01(bits));
    let x = u * zig.x[i];
    if x < zig.x[i + 1] {
        return x;
    }
    // By value, so that the draws of the common case never leave their register.
    let (x, rest) = exponential_at_edge(zig, i, x, draws.clone());
    *draws = rest;
    x
}

/// The one case in a hundred: `x` of layer `i` lies beyond the layer above it.
#[cold]
fn exponential_at_edge(zig: &Ziggurat, mut i: usize, mut x: f64, mut draws: Draws) -> (f64, Draws) {
    let mut shift = 0.0;
    loop {
        if i == 0 {
            // The tail of an exponential is an exponential again.
            shift += EXP_R;
        } else if zig.f[i] + draws.open01() * (zig.f[i + 1] - zig.f[i]) < libm::exp(-x) {
            return (shift + x, draws);
        }
        let bits = draws.bits();
        i = (bits & 255) as usize;
        x = open01(bits) * zig.x[i];
        if x < zig.x[i + 1] {
            return (shift + x, draws);
        }
    }
}

/// One standard normal. Bits: 8 choose the layer, one the sign, 52 the place. Tail by Marsaglia (1964).
#[inline]
pub fn normal(draws: &mut Draws) -> f64 {
    let zig = &*NORMAL;
    loop {
        let bits = draws.bits();
        let (i, u) = ((bits & 255) as usize, open01(bits));
        let signed = |x: f64| if bits & 256 == 0 { x } else { -x };
        let x = u * zig.x[i];
        if x < zig.x[i + 1] {
            return signed(x);
        }
        if i == 0 {
            loop {
                let a = -libm::log(draws.open01()) / NORMAL_R;
                let b = -libm::log(draws.open01());
                if 2.0 * b > a * a {
                    return signed(NORMAL_R + a);
                }
            }
        } else if zig.f[i] + draws.open01() * (zig.f[i + 1] - zig.f[i]) < libm::exp(-0.5 * x * x) {
            return signed(x);
        }
    }
}

/// One gamma of unit scale and the given shape > 0 (Marsaglia and Tsang 2000, "A simple method for generating gamma
/// variables"; below shape 1 with the boost of their section 6).
pub fn gamma(shape: f64, draws: &mut Draws) -> f64 {
    if shape < 1.0 {
        let boost = libm::pow(draws.open01(), 1.0 / shape);
        return gamma(shape + 1.0, draws) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(draws);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        if libm::log(draws.open01()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published areas and edges close the ziggurats: the topmost layer has the area of the others.
    #[test]
    fn the_topmost_layers_close() {
        for (zig, v) in [(&*EXP, EXP_V), (&*NORMAL, NORMAL_V)] {
            let top = zig.x[255] * (1.0 - zig.f[255]);
            assert!((top / v - 1.0).abs() < 1e-6, "{top} {v}");
        }
    }

    /// Values from scipy.special.gammainc.
    #[test]
    fn incomplete_gamma_matches_scipy() {
        for (a, x, p) in [
            (0.5, 0.1, 0.345_279_153_981_423_17),
            (1.0, 1.0, 0.632_120_558_828_557_7),
            (4.0, 3.0, 0.352_768_111_217_768_74),
            (4.0, 12.0, 0.997_708_208_792_208_7),
            (100.0, 95.0, 0.317_356_811_169_800_9),
        ] {
            assert!((gamma_p(a, x) - p).abs() < 1e-12, "{a} {x}: {}", gamma_p(a, x));
        }
    }
}
