//! `--fail-if 'p(99) slower by 5%'`: conditions on how two runs differ, read and judged.
//!
//! The grammar is that of thresholds ([`crate::thresholds`]) with a word in place of the comparison.

use super::document::{Outcome, Row, Shown};
use crate::metric::{Aggregate, Metric, NumberOf};
use crate::thresholds::{Reader, shown};
use headway_base::units::nearest;
use headway_redact::{Cleared, clear};
use std::fmt;
use std::str::FromStr;

/// A condition, as in `p(99) slower by 5%`.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// As it was written.
    pub text: Cleared,
    /// The number.
    pub number: NumberOf,
    /// The step that it is limited to; none for all requests.
    pub step: Option<Cleared>,
    /// Whether the other's number is to be larger, or smaller.
    pub higher: bool,
    /// By more than this: relative to the first, of `failed` the difference of the shares; at least 0.
    pub by: f64,
}

/// A condition that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConditionError {
    given: String,
    column: usize,
    message: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "condition '{}', column {}: {}", self.given, self.column, self.message)
    }
}

impl std::error::Error for ConditionError {}

/// What begins a condition.
const NUMBERS: &str = "p(99), avg, mean, med, rate or failed";

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let given = text.trim();
        let mut reader = Reader::new(given);
        let error = |at: usize, message: String| {
            let column = given[..at].chars().count() + 1;
            ConditionError { given: given.to_owned(), column, message }
        };
        let (mut word, mut from) = reader.word();
        let mut step = None;
        let named = Metric::named(word).filter(|metric| metric.compared);
        let begins = reader.rest().trim_start().starts_with(['{', ':']);
        // A word that counts is a number by itself.
        let metric = named.filter(|metric| begins || metric.is_distribution());
        if metric.is_some() {
            if reader.take("{") {
                step = Some(reader.step().map_err(|e| wrong(given, e))?);
            }
            if !reader.take(":") {
                let message = format!("a ':' belongs here: {word}: ...");
                return Err(error(reader.at(), message));
            }
            (word, from) = reader.word();
        }
        let metric = metric.unwrap_or(Metric::RESPONSE);
        let number = |aggregate| NumberOf { metric, aggregate };
        let number = match word {
            "rate" if !metric.is_distribution() => number(Aggregate::Rate),
            _ if !metric.is_distribution() => {
                let message = format!("'{word}' is no number of {metric}; write {metric}: rate");
                return Err(error(from, message));
            }
            "failed" if metric == Metric::RESPONSE && !begins => NumberOf::FAILED,
            "rate" | "throughput" if metric == Metric::RESPONSE && step.is_none() => NumberOf::RATE,
            "avg" | "mean" => number(Aggregate::Mean),
            "med" => number(Aggregate::Percentile(50.0)),
            "p" if reader.take("(") => {
                number(Aggregate::Percentile(reader.percentile().map_err(|e| wrong(given, e))?))
            }
            "" => return Err(error(from, format!("here the number is missing; write {NUMBERS}"))),
            other if other.strip_prefix('p').is_some_and(|n| n.parse::<f64>().is_ok()) => {
                return Err(error(from, format!("'{other}' is written p({})", &other[1..])));
            }
            other => {
                let message = format!("'{other}' is no number that is compared; write {NUMBERS}");
                return Err(error(from, message));
            }
        };
        if number == NumberOf::RATE && step.is_some() {
            return Err(error(
                from,
                "responses per second are of all steps together: leave out the {step:...}".into(),
            ));
        }
        let (word, from) = reader.word();
        let words: &[(&str, bool)] = match number.metric.is_time() {
            true => &[("slower", true), ("faster", false), ("higher", true), ("lower", false)],
            false => &[("higher", true), ("lower", false), ("more", true), ("less", false)],
        };
        let Some((_, higher)) = words.iter().find(|(known, _)| *known == word) else {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            let message = match (word, nearest(word, words.iter().map(|(name, _)| *name))) {
                ("", _) => format!("here it is missing how the runs are to differ; write one of {names}"),
                (_, Some(near)) => format!("'{word}' is not understood; did you mean {near}?"),
                _ => format!("'{word}' is not understood; write one of {names}, as in p(99) slower by 5%"),
            };
            return Err(error(from, message));
        };
        let by = match reader.word() {
            ("", _) if reader.rest().trim().is_empty() => 0.0,
            ("by", _) => {
                let (rest, at) = (reader.rest().trim(), reader.at());
                let percent = rest.strip_suffix('%').map(str::trim).and_then(|n| n.parse::<f64>().ok());
                percent.filter(|n| n.is_finite() && *n >= 0.0).map(|n| n / 100.0).ok_or_else(|| {
                    let message = format!("'{rest}' is not by how much: write per cent, such as 5% or 0.5%");
                    error(at, message)
                })?
            }
            (other, at) => {
                let message =
                    format!("'{other}' does not belong here: write by and per cent, as in by 5%, or nothing");
                return Err(error(at, message));
            }
        };
        // Labels of recorded runs have passed the same gate.
        let label = step.as_deref().map(clear);
        let text = shown(given, step.as_deref().zip(label.as_ref()));
        let step = label;
        Ok(Condition { text, number, step, higher: *higher, by })
    }
}

/// The same mistake, of a condition.
fn wrong(given: &str, error: crate::thresholds::ThresholdError) -> ConditionError {
    ConditionError { given: given.to_owned(), column: error.column, message: error.message }
}

impl Condition {
    /// What becomes of it, given its row: only what the interval shows.
    pub fn judge(&self, row: &Row) -> Outcome {
        let interval = match self.number.is_share() {
            true => row.difference_interval,
            false => row.ratio_interval.map(|ends| ends.map(|end| end - 1.0)),
        };
        let Some([low, high]) = interval.filter(|_| row.shown != Shown::NotTold) else {
            return Outcome::NotJudged;
        };
        let [low, high] = if self.higher { [low, high] } else { [-high, -low] };
        match () {
            () if low > self.by => Outcome::Holds,
            () if high <= self.by => Outcome::DoesNotHold,
            () => Outcome::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_thresholds_are() {
        let at = |percent| NumberOf::response(Aggregate::Percentile(percent));
        let read = |text: &str| {
            let c: Condition = text.parse().unwrap_or_else(|e: ConditionError| panic!("{e}"));
            (c.number, c.step, c.higher, c.by)
        };
        assert_eq!(read("p(99) slower by 5%"), (at(99.0), None, true, 0.05));
        assert_eq!(read(" p( 99.9 )slower"), (at(99.9), None, true, 0.0));
        assert_eq!(read("avg faster by 0.5 %"), (NumberOf::response(Aggregate::Mean), None, false, 0.005));
        assert_eq!(read("rate lower by 2%"), (NumberOf::RATE, None, false, 0.02));
        assert_eq!(read("failed higher by 0.1%"), (NumberOf::FAILED, None, true, 0.001));
        assert_eq!(read("failed: rate more"), (NumberOf::FAILED, None, true, 0.0));
        let step = Some(Cleared::from("add"));
        assert_eq!(read("response{step:add}: med slower"), (at(50.0), step.clone(), true, 0.0));
        let connect: NumberOf = "connect.p95".parse().unwrap();
        assert_eq!(read("connect: p(95) slower by 5%"), (connect, None, true, 0.05));
        assert_eq!(read("connect{step:add}: p(95) faster"), (connect, step.clone(), false, 0.0));
        assert_eq!(read("throughput: rate less"), (NumberOf::RATE, None, false, 0.0));
        assert_eq!(read("failed{step:add}: rate more by 1%"), (NumberOf::FAILED, step, true, 0.01));
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_would_be_accepted() {
        let check = |text: &str, told: &str| {
            let error = text.parse::<Condition>().expect_err(text);
            assert_eq!(format!("{}: {}", error.column, error.message), told, "{text}");
        };
        check("", "1: here the number is missing; write p(99), avg, mean, med, rate or failed");
        check("p99 slower", "1: 'p99' is written p(99)");
        check(
            "p(100) slower",
            "3: '100' is not a percentile: write a number above 0 and below 100, such as 99.9",
        );
        check(
            "max slower",
            "1: 'max' is no number that is compared; write p(99), avg, mean, med, rate or failed",
        );
        check(
            "p(99)",
            "6: here it is missing how the runs are to differ; write one of slower, faster, higher, lower",
        );
        check("p(99) slow by 5%", "7: 'slow' is not understood; did you mean slower?");
        check("failed slower", "8: 'slower' is not understood; did you mean lower?");
        check("p(99) slower by 5ms", "16: '5ms' is not by how much: write per cent, such as 5% or 0.5%");
        check(
            "p(99) slower than 5%",
            "14: 'than' does not belong here: write by and per cent, as in by 5%, or nothing",
        );
        check("response p(99) slower", "10: a ':' belongs here: response: ...");
    }

    #[test]
    fn only_what_the_interval_shows_holds() {
        let row = |low, high| Row { ratio_interval: Some([low, high]), shown: Shown::No, ..Row::default() };
        let judge = |text: &str, low, high| text.parse::<Condition>().unwrap().judge(&row(low, high));
        assert_eq!(judge("p(99) slower by 5%", 1.06, 1.2), Outcome::Holds);
        assert_eq!(judge("p(99) slower by 5%", 1.04, 1.2), Outcome::Undecided);
        assert_eq!(judge("p(99) slower by 5%", 0.9, 1.049), Outcome::DoesNotHold);
        assert_eq!(judge("p(99) faster by 5%", 0.8, 0.94), Outcome::Holds);
        assert_eq!(judge("p(99) faster", 0.8, 1.01), Outcome::Undecided);
        let none = "p(99) slower".parse::<Condition>().unwrap().judge(&Row::default());
        assert_eq!(none, Outcome::NotJudged);
    }
}
