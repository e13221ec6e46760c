//! What people type: `200/s`, `10k`, `100/1s`, `250us`, `1.5s`, `10KiB`; and the errors that tell them what would have
//! been accepted.

use crate::time::{Nanos, Rate};
use thiserror::Error;

/// A value that could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{given}' is not {wanted}")]
pub struct UnitError {
    /// What was given, as [`echoed`] shows it.
    pub given: String,
    /// What would be accepted, in words that follow "is not".
    pub wanted: String,
}

impl UnitError {
    /// An error for `given`, with what would be accepted in words that follow "is not".
    pub fn new(given: &str, wanted: impl Into<String>) -> UnitError {
        UnitError { given: echoed(given), wanted: wanted.into() }
    }
}

/// Characters of a text that an error message shows, at most.
pub const MOST_ECHOED: usize = 60;

/// The text as an error message shows it: whole, or its beginning and `...`, together [`MOST_ECHOED`] characters.
pub fn echoed(text: &str) -> String {
    const CUT: &str = "...";
    if text.chars().nth(MOST_ECHOED).is_none() {
        return text.to_owned();
    }
    text.chars().take(MOST_ECHOED - CUT.len()).chain(CUT.chars()).collect()
}

const TIME: &str = "a time: write for example 250us, 10ms, 1.5s, 2m or 1h";
const RATE: &str = "a rate: write for example 200/s, 10k, 100/1s or 30/1m";

/// What would be accepted in place of a number with an `m` behind it, which is a million of something or one a minute.
fn million_or_minute(number: f64) -> String {
    let thousands = number * 1e3;
    format!(
        "a rate, for m may be millions or minutes: write {thousands}k/s for millions a second, or {number}/1m for {number} a minute"
    )
}
const SIZE: &str = "a size: write for example 512, 10KiB, 4MiB or 1.5MB";
const COUNT: &str = "a count: write for example 200, 10k or 1.5m";

/// What would be accepted in place of a bare number.
fn no_unit(number: &str) -> String {
    let number = echoed(number);
    format!("a time, for it has no unit: write {number}s, {number}ms or {number}m")
}

/// The parts between commas that stand in no brackets, as they are.
pub fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth <= 0
    })
}

/// The number a text begins with, and the rest.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim_start()))
}

fn thousands(suffix: &str) -> Option<f64> {
    match suffix {
        "" => Some(1.0),
        "k" | "K" => Some(1e3),
        "m" | "M" => Some(1e6),
        "g" | "G" => Some(1e9),
        _ => None,
    }
}

/// Nanoseconds in one of the units of time that people type.
fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" | "sec" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

/// A span of time with its unit: `250us 10ms 1.5s 2m 1h`, or several in a row (`1m30s`); `0` needs no unit.
///
/// # Errors
/// Without a unit, negative, not a number, or beyond 100 years.
pub fn parse_time(text: &str) -> Result<Nanos, UnitError> {
    let bad = || match split_number(text.trim()) {
        Some((_, "")) => UnitError::new(text, no_unit(text.trim())),
        _ => UnitError::new(text, TIME),
    };
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Nanos::ZERO);
    }
    let mut total_ns = 0.0;
    if rest.is_empty() {
        return Err(bad());
    }
    while !rest.is_empty() {
        let (number, tail) = split_number(rest).ok_or_else(bad)?;
        let unit_end = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        total_ns += number * time_unit(&tail[..unit_end]).ok_or_else(bad)?;
        rest = tail[unit_end..].trim_start();
    }
    if total_ns > 100.0 * 365.25 * 86_400e9 {
        return Err(bad());
    }
    Ok(Nanos(libm::round(total_ns) as i64))
}

/// A rate: `200`, `200/s`, `10k`, `100/1s`, `30/1m`, `5/min`. A bare number is per second.
///
/// # Errors
/// Not a number, zero or negative, over a time of zero, more than 1e9/s, or a bare `m`, which may be millions or minutes.
pub fn parse_rate(text: &str) -> Result<Rate, UnitError> {
    let bad = || UnitError::new(text, RATE);
    let trimmed = text.trim();
    let (events, over) = match trimmed.split_once('/') {
        None => (trimmed, "1s".to_owned()),
        Some((events, unit)) if unit.starts_with(|c: char| c.is_ascii_digit()) => (events, unit.to_owned()),
        Some((events, unit)) => (events, format!("1{}", unit.trim())),
    };
    let (number, suffix) = split_number(events.trim()).ok_or_else(bad)?;
    if suffix == "m" && !trimmed.contains('/') {
        return Err(UnitError::new(text, million_or_minute(number)));
    }
    let events = number * thousands(suffix).ok_or_else(bad)?;
    let seconds = parse_time(&over).map_err(|_| bad())?.as_secs_f64();
    let rate = events / seconds;
    if !(rate > 0.0 && rate <= 1e9) {
        return Err(bad());
    }
    Ok(Rate(rate))
}

/// A size in bytes: `512`, `10KiB`, `1.5MB`; `k`, `m`, `g` alone are powers of 1024, as in wrk and nginx.
///
/// # Errors
/// Not a number, an unknown unit, or more than 2^53 bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let bad = || UnitError::new(text, SIZE);
    let (number, unit) = split_number(text.trim()).ok_or_else(bad)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(bad()),
    };
    let bytes = number * scale;
    if bytes > (1u64 << 53) as f64 {
        return Err(bad());
    }
    Ok(bytes as u64)
}

/// A whole number of things: `200`, `10k`, `1.5m` (thousands and millions).
///
/// # Errors
/// Not a number, not whole, or more than 2^53.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let bad = || UnitError::new(text, COUNT);
    let (number, suffix) = split_number(text.trim()).ok_or_else(bad)?;
    let count = number * thousands(suffix).ok_or_else(bad)?;
    if libm::floor(count) != count || count > (1u64 << 53) as f64 {
        return Err(bad());
    }
    Ok(count as u64)
}

/// A share of all, from 0 to 1: `5%`, `0.05`.
///
/// # Errors
/// Not a number, or not within these.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let bad = || UnitError::new(text, "a share from 0 to 1, such as 5% or 0.05");
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().map_err(|_| bad())? / scale;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(bad()) }
}

/// A plain number without a unit.
///
/// # Errors
/// Not a finite number.
pub fn parse_number(text: &str) -> Result<f64, UnitError> {
    text.trim()
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite())
        .ok_or_else(|| UnitError::new(text, "a number: write for example 0.5 or 2"))
}

/// The entry of `known` nearest to what was typed, if it is near enough to be a slip (edit distance at most a third of
/// the length; two neighbours that changed places are one edit: Damerau 1964, each part of the text edited once).
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| (edit_distance(&typed, name), name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= (typed.len().max(name.len()) / 3).max(1))
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitute = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substitute.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |text: &str, ns: i64| assert_eq!(parse_time(text), Ok(Nanos(ns)), "{text}");
        check("250us", 250_000);
        check("10ms", 10_000_000);
        check("1.5s", 1_500_000_000);
        check("2m", 120_000_000_000);
        check("1h", 3_600_000_000_000);
        check("1m30s", 90_000_000_000);
        check("0", 0);
        for bad in ["", "5", "-1s", "s", "1parsec", "1e3s", "1s x", "999999999h"] {
            let error = parse_time(bad).unwrap_err().to_string();
            let told = if bad == "5" {
                "'5' is not a time, for it has no unit: write 5s, 5ms or 5m"
            } else {
                "write for example"
            };
            assert!(error.contains(told), "{bad}: {error}");
        }
        let long = "7".repeat(5_000);
        assert!(parse_time(&long).unwrap_err().to_string().len() < 6 * MOST_ECHOED);
    }

    #[test]
    fn rates() {
        let check = |text: &str, rate: f64| assert_eq!(parse_rate(text), Ok(Rate(rate)), "{text}");
        check("200", 200.0);
        check("200/s", 200.0);
        check("10k", 10_000.0);
        check("100/1s", 100.0);
        check("30/1m", 0.5);
        check("5/min", 5.0 / 60.0);
        check("1.5k/100ms", 15_000.0);
        for bad in ["", "0", "-5", "ten", "10/0s", "10/x", "10x", "1e12", "2g/s"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
        // One letter, two readings: both are named, and each of them is read.
        for (both, millions, minutes) in [("1m", "1000k/s", "1/1m"), ("2.5m", "2500k/s", "2.5/1m")] {
            let told = parse_rate(both).unwrap_err().to_string();
            assert!(told.contains(millions) && told.contains(minutes), "{both}: {told}");
            assert!(parse_rate(millions).is_ok() && parse_rate(minutes).is_ok());
        }
        check("1M", 1e6);
        check("1m/s", 1e6);
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(parse_size("10KiB"), Ok(10_240));
        assert_eq!(parse_size("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_size("64k"), Ok(65_536));
        assert!(parse_size("10q").is_err());
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("1_000"), Ok(1_000));
        assert!(parse_count("1.0001k").is_err());
    }

    #[test]
    fn errors_show_the_beginning_of_what_is_long() {
        let given = |text: &str| UnitError::new(text, "short").given;
        let most = "\u{e9}".repeat(MOST_ECHOED);
        assert_eq!(given(&most), most);
        let cut = format!("{}...", "\u{e9}".repeat(MOST_ECHOED - 3));
        assert_eq!(given(&format!("{most}s")), cut);
        let deep = "shifted(1s,".repeat(5_000);
        assert_eq!(parse_time(&deep).unwrap_err().given.chars().count(), MOST_ECHOED);
    }

    #[test]
    fn slips_find_their_neighbour() {
        assert_eq!(nearest("posson", ["poisson", "constant"]), Some("poisson"));
        assert_eq!(nearest("Gama", ["poisson", "gamma"]), Some("gamma"));
        assert_eq!(nearest("zebra", ["poisson", "gamma"]), None);
        assert_eq!(nearest("rnu", ["plan", "run"]), Some("run"));
        assert_eq!(nearest("usres", ["target", "users"]), Some("users"));
        assert_eq!(nearest("", ["run"]), None);
        assert_eq!((edit_distance("", "abc"), edit_distance("ca", "abc")), (3, 3));
    }
}
