//! What sentences are put together from.

use crate::labs::Range;

/// What is known of a mean: it lies above zero, below it, or neither is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Above,
    Below,
    Unknown,
}

impl Sign {
    pub fn of(range: &Range) -> Sign {
        match (range.above(0.0), range.below(0.0)) {
            (true, _) => Sign::Above,
            (_, true) => Sign::Below,
            _ => Sign::Unknown,
        }
    }
}

/// A mean with its interval: `12.3 [12.0, 12.6]`.
pub fn within(range: &Range, places: usize) -> String {
    let shown = |x: f64| {
        let text = format!("{x:.places$}");
        // What rounds to nothing has no sign.
        let nothing = text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.'));
        if nothing { text.trim_start_matches('-').to_owned() } else { text }
    };
    match range.ci {
        Some([low, high]) => format!("{} [{}, {}]", shown(range.mean), shown(low), shown(high)),
        None => shown(range.mean),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_with_its_interval() {
        let range = Range { n: 4, mean: -0.001, p05: 0.0, p95: 0.0, sd: Some(1.0), ci: Some([-1.26, 1.24]) };
        assert_eq!(within(&range, 1), "0.0 [-1.3, 1.2]");
        assert_eq!(within(&Range { ci: None, ..range }, 3), "-0.001");
        assert_eq!(listed(&["a".to_owned(), "b".to_owned(), "c".to_owned()]), "a, b and c");
        assert_eq!(Sign::of(&range), Sign::Unknown);
    }
}
