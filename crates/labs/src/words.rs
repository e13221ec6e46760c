//! What the sentences of experiments are put together from.

use crate::Range;
use crate::range::FEWEST;
use headway_report::format::plural;

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
    let shown = |x: f64| rounded(x, places);
    match range.ci {
        Some([low, high]) => format!("{} [{}, {}]", shown(range.mean), shown(low), shown(high)),
        None => shown(range.mean),
    }
}

/// Whether so many replications are too few for a rank: `1 replication is too few`, `19 replications are too few`; none where
/// they are not.
pub fn too_few(n: u64, thing: &str) -> Option<String> {
    let verb = if n == 1 { "is" } else { "are" };
    (n < FEWEST).then(|| format!("{} {verb} too few (at least {FEWEST})", plural(n, thing)))
}

/// What is to be said where sentences need intervals, and there are none.
pub fn single() -> String {
    "Of a single replication there are no intervals, so that nothing is known of how far another would be from it: play \
     several (--replications)."
        .to_owned()
}

/// With that number of decimals, and never a negative zero.
pub fn rounded(x: f64, places: usize) -> String {
    let text = format!("{x:.places$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|b| matches!(b, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// `a`, `a and b`, `a, b and c`; `none` of none.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_with_its_interval() {
        let range =
            Range { n: 4, mean: -0.001, p05: None, p95: None, sd: Some(1.0), ci: Some([-1.26, 1.24]) };
        assert_eq!(within(&range, 1), "0.0 [-1.3, 1.2]");
        assert_eq!(within(&Range { ci: None, ..range }, 3), "-0.001");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(Sign::of(&range), Sign::Unknown);
        assert_eq!(too_few(1, "draw").as_deref(), Some("1 draw is too few (at least 20)"));
        assert_eq!(too_few(19, "draw").as_deref(), Some("19 draws are too few (at least 20)"));
        assert_eq!(too_few(20, "draw"), None);
    }
}
