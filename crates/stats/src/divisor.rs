//! The greatest common divisor of a stream of whole numbers, at the cost of a multiplication each.
//!
//! Nearly every number is a multiple of the divisor so far, and that is asked without dividing: x is a multiple of an odd d
//! if and only if x times the inverse of d modulo 2^64 is at most (2^64 - 1)/d; even divisors rotate their twos out
//! (Granlund and Montgomery 1994, section 9).

/// A divisor of all numbers so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Divisor {
    /// 0 before the first number that is not 0.
    of: u64,
    inverse: u64,
    twos: u32,
    most: u64,
}

impl Divisor {
    fn new(of: u64) -> Divisor {
        let twos = of.trailing_zeros();
        let odd = of >> twos;
        // Newton's iteration doubles the number of right bits: 3, 6, 12, 24, 48, 96.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Divisor { of, inverse, twos, most: u64::MAX / of }
    }

    #[inline]
    fn divides(&self, x: u64) -> bool {
        x.wrapping_mul(self.inverse).rotate_right(self.twos) <= self.most
    }

    /// Takes a number; 0 is a multiple of everything.
    #[inline]
    pub fn push(&mut self, x: u64) {
        if self.of == 0 || !self.divides(x) {
            self.lower(x);
        }
    }

    #[cold]
    fn lower(&mut self, x: u64) {
        let (mut a, mut b) = (self.of, x);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        if a != 0 {
            *self = Divisor::new(a);
        }
    }

    /// The multiple of the divisor next to `x`.
    pub fn nearest(&self, x: u64) -> u64 {
        if self.of > 1 { (x + self.of / 2) / self.of * self.of } else { x }
    }

    /// The divisor; 0 if all numbers were 0.
    pub fn get(&self) -> u64 {
        self.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_euclids(factor in 1u64..5_000_000_000, numbers in prop::collection::vec(0u64..3_000_000_000, 0..20)) {
            let mut divisor = Divisor::default();
            let mut expected = 0u64;
            for x in numbers.into_iter().map(|x| x.wrapping_mul(factor)) {
                divisor.push(x);
                let (mut a, mut b) = (expected, x);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                expected = a;
                prop_assert_eq!(divisor.get(), expected);
            }
        }

        #[test]
        fn multiples_are_told_from_others(of in 1u64.., x in any::<u64>()) {
            prop_assert_eq!(Divisor::new(of).divides(x), x % of == 0);
            let multiple = x / of * of;
            prop_assert!(Divisor::new(of).divides(multiple));
        }
    }
}
