//! Whole numbers from uniform draws.

use headway_base::random::Draws;

/// Uniform on 0..n, exactly: multiply-shift with rejection (Lemire 2019, "Fast random integer generation in an interval").
/// `n` is at least 1.
#[inline]
pub(super) fn below(draws: &mut Draws, n: u32) -> u32 {
    let n = u64::from(n);
    loop {
        let wide = u128::from(draws.bits()) * u128::from(n);
        let low = wide as u64;
        if low >= n || low >= n.wrapping_neg() % n {
            return (wide >> 64) as u32;
        }
    }
}

/// Two different ones of 0..n, every ordered pair as likely as the others. `n` is at least 2.
#[inline]
pub(super) fn two_below(draws: &mut Draws, n: u32) -> (u32, u32) {
    let first = below(draws, n);
    let second = below(draws, n - 1);
    (first, second + u32::from(second >= first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Chi-square over the 20 ordered pairs of 5, within 4 standard errors of its mean (19 degrees of freedom).
    #[test]
    fn pairs_are_uniform_and_different() {
        let mut cells = [[0u32; 5]; 5];
        let n = 200_000;
        for k in 0..n {
            let (a, b) = two_below(&mut Stream::new(1, "route").item(k), 5);
            cells[a as usize][b as usize] += 1;
        }
        let expected = n as f64 / 20.0;
        let off = cells
            .iter()
            .enumerate()
            .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, c)| (i, j, *c)));
        let chi: f64 = off
            .filter(|(i, j, _)| i != j)
            .map(|(_, _, c)| (f64::from(c) - expected).powi(2) / expected)
            .sum();
        assert!((0..5).all(|i| cells[i][i] == 0));
        assert!((chi - 19.0).abs() < 4.0 * (2.0 * 19.0_f64).sqrt(), "{chi}");
    }
}
