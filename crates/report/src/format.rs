//! Numbers for people: three significant digits, the unit that fits, thousands separated by commas.
//!
//! Deliberately absent: layout, and any unit but those of the summary (seconds, 1/s, bytes).

/// From here on numbers and seconds have an exponent, in place of digits that nobody counts.
const LARGE: f64 = 1e15;

/// Three significant digits in plain notation with trailing zeros (`1.20`, `12.3`, `0.00123`); whole from 1,000 on,
/// with separators; scientific below a millionth and from 1e15 on.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return if x.is_nan() {
            "-".into()
        } else if x > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let (rounded, exponent) = round3(x);
    if !(-6..15).contains(&exponent) {
        return format!("{x:.2e}");
    }
    if exponent >= 3 {
        let digits = count(x.abs().round() as u64);
        return if x < 0.0 { format!("-{digits}") } else { digits };
    }
    format!("{rounded:.*}", (2 - exponent).max(0) as usize)
}

/// A number that somebody chose, and not measured: without trailing zeros (`0.1`, `80`).
pub fn chosen(x: f64) -> String {
    let text = number(x);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number that must be whole, or nearly: `12,345`.
pub fn whole(x: f64) -> String {
    if (0.0..LARGE).contains(&x) { count(x.round() as u64) } else { chosen(x) }
}

/// A difference, with its sign: `+0.310`.
pub fn signed(x: f64) -> String {
    if x > 0.0 { format!("+{}", number(x)) } else { number(x) }
}

/// A speed with its interval: `10.3 per second (95 % interval 8.18 to 11.1)`.
pub fn per_second_within(per_second: f64, [low, high]: [f64; 2]) -> String {
    format!("{} per second (95 % interval {} to {})", number(per_second), number(low), number(high))
}

/// How much of what it can do a part is asked for, in words that go before "it can do": `1.25 times what`, `all that`, or `infinitely more than`.
pub fn times_what(load: f64) -> String {
    if load.is_infinite() {
        return "infinitely more than".into();
    }
    match number(load).as_str() {
        "1.00" => "all that".into(),
        times => format!("{times} times what"),
    }
}

/// A percentile as it was given: `p99.99`.
pub fn percentile(p: f64) -> String {
    format!("p{p}")
}

/// A probability, never 0: `p = 0.310`, `p < 0.0001`.
pub fn p_value(p: f64) -> String {
    if p < 1e-4 { "p < 0.0001".into() } else { format!("p = {}", number(p)) }
}

/// `x` to three significant digits, and the decimal exponent after rounding (999.7 becomes 1.00e3).
fn round3(x: f64) -> (f64, i32) {
    let text = format!("{x:.2e}");
    let exponent = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    (text.parse().unwrap_or(x), exponent)
}

/// A whole number with thousands separators: `12,345`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Units of time with their length in seconds, each used from its own length on.
const TIMES: [(f64, &str); 6] =
    [(3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];

/// The unit of time in which `seconds` reads best. Minutes begin at 100 s: `83.5 s` says more than `1.39 min`; what needs an
/// exponent is in seconds.
fn time_unit(seconds: f64) -> (f64, &'static str) {
    let (rounded, _) = round3(seconds.abs());
    if rounded >= LARGE {
        return (1.0, "s");
    }
    let from = |(length, unit): &(f64, &str)| match *unit {
        "min" => 100.0,
        "h" => 6000.0,
        _ => *length,
    };
    TIMES.into_iter().find(|unit| rounded >= from(unit)).unwrap_or((1e-9, "ns"))
}

/// A span of time: `3.47 ms`, `812 us`, `1.20 s`, `5.00 min`; `0 s` for none, `2.00e300 s` from 1e15 s on.
pub fn time(seconds: f64) -> String {
    if seconds == 0.0 || !seconds.is_finite() {
        return if seconds.is_nan() { "-".into() } else { format!("{} s", number(seconds)) };
    }
    let (length, unit) = time_unit(seconds);
    format!("{} {unit}", number(seconds / length))
}

/// A time that somebody chose, and not measured: `100 ms`, `1 s`.
pub fn chosen_time(seconds: f64) -> String {
    let text = time(seconds);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') && !number.contains('e') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Two times, the unit said once where it is the same: `3.31 to 3.62 ms`, `812 us to 1.20 ms`; with more digits where they are so close
/// that three would move an end by much of what lies between: `8.6641 to 8.6702 ms`.
pub fn time_range(low: f64, high: f64) -> String {
    let (length, unit) = time_unit(high.abs());
    let half = (high - low) / 2.0 / length;
    let digits = |x: f64| x.log10().floor() as i32;
    if low > 0.0 && half > 0.0 && high < LARGE && time_unit(low).1 == unit {
        let three = 10f64.powi(digits(high / length) - 2);
        if three > 0.6 * half {
            let decimals = (1 - digits(half)).clamp(0, 6) as usize;
            return format!("{:.decimals$} to {:.decimals$} {unit}", low / length, high / length);
        }
    }
    range(&time(low), &time(high))
}

/// An interval of a percentile; marked where it is stepped ([`STEPPED`]).
pub fn interval_cell([low, high]: [f64; 2], stepped: bool) -> String {
    format!("{}{}", time_range(low, high), if stepped { STEPPED_MARK } else { "" })
}

/// Stands behind an interval that is stepped. Another mark than that of the generator's share, which may stand in the same row.
pub const STEPPED_MARK: &str = "^";

/// What the mark of an interval means.
pub const STEPPED: &str = "^: this interval holds the true value in at least 95 % of runs, and mostly in more: a large part of the requests \
                           has one value, or the interval is about as narrow as the grid on which times are counted.";

/// A time with its interval, all in one unit and with as many digits as the interval carries: `245.9 ms [244.0, 247.8]`.
pub fn time_within(value: f64, interval: [f64; 2]) -> String {
    let most = value.abs().max(interval[0].abs()).max(interval[1].abs());
    let (length, unit) = time_unit(most);
    let half = (interval[1] - interval[0]) / 2.0 / length;
    if !half.is_finite() || half <= 0.0 || !value.is_finite() || most >= LARGE {
        return format!("{} [{}]", time(value), time_range(interval[0], interval[1]));
    }
    // Two digits of the half width.
    let decimals = (1 - half.log10().floor() as i32).clamp(0, 6) as usize;
    let shown = |seconds: f64| {
        let text = format!("{:.decimals$}", seconds / length);
        // What rounds to nothing has no sign.
        if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) {
            text.trim_start_matches('-').to_owned()
        } else {
            text
        }
    };
    format!("{} {unit} [{}, {}]", shown(value), shown(interval[0]), shown(interval[1]))
}

fn range(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// An instant on the run's clock, in seconds: `3.214 s`. Always seconds, so that instants can be compared by eye.
pub fn instant(seconds: f64) -> String {
    format!("{} s", places(seconds, 3))
}

/// With so many places after the point, or with an exponent where it is large.
fn places(x: f64, places: usize) -> String {
    if x.abs() >= LARGE { number(x) } else { format!("{x:.places$}") }
}

/// Ranges of the run's clock, at most `most` of them: `3.0-4.5 s, 7.0-8.1 s and 3 more`.
pub fn instants(ranges: &[[f64; 2]], most: usize) -> String {
    let shown: Vec<String> = ranges
        .iter()
        .take(most)
        .map(|[from, to]| {
            let [first, last] = [from, to].map(|seconds| places(*seconds, 1));
            if from == to { first } else { format!("{first}-{last}") }
        })
        .collect();
    let more = match ranges.len().saturating_sub(most) {
        0 => String::new(),
        n => format!(" and {} more", count(n as u64)),
    };
    format!("{} s{more}", shown.join(", "))
}

/// Events per second: `200/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

/// A share of one as a percentage. Never `100 %` or `0 %` unless it is exactly that: one failure in a million shows.
pub fn share(x: f64) -> String {
    let percent = x * 100.0;
    if !(x > 0.99 && x < 1.0) {
        return format!("{} %", number(percent));
    }
    // Two decimals, and more only where two would round a failure away.
    let shown = (2..=6).map(|decimals| format!("{percent:.decimals$}")).find(|text| !text.starts_with("100"));
    shown.map_or_else(|| "> 99.999999 %".into(), |text| format!("{text} %"))
}

/// A share of one that somebody chose, and not measured, as a percentage: `10 %`.
pub fn chosen_share(x: f64) -> String {
    format!("{} %", chosen(x * 100.0))
}

/// `part` of `whole` as a percentage; `-` of nothing.
pub fn share_of(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { share(part as f64 / whole as f64) }
}

/// A size: `812 B`, `1.50 KiB`, `3.00 MiB`.
pub fn size(bytes: f64) -> String {
    let units = [(1e3, 1.0, "B"), (1e6, 1024.0, "KiB"), (1e9, 1_048_576.0, "MiB")];
    let (_, length, unit) =
        units.into_iter().find(|&(below, ..)| bytes.abs() < below).unwrap_or((0.0, 1_073_741_824.0, "GiB"));
    format!("{} {unit}", number(bytes / length))
}

/// `thing` or `things`: `1 worker`, `2 workers`.
pub fn plural(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{} {thing}s", count(n)) }
}

/// Text from outside made safe to show anywhere: control characters (terminal escapes among them) and marks that
/// reorder or hide text become U+FFFD; line breaks and tabs become spaces.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
            c if hidden(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Whether a character acts instead of being seen: controls, and marks without width that hide or reorder text.
pub fn hidden(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    invisible || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_carry_into_the_next_unit() {
        let check = |seconds: f64, text: &str| assert_eq!(time(seconds), text, "{seconds}");
        check(0.00347, "3.47 ms");
        check(0.000812, "812 us");
        check(1.2, "1.20 s");
        check(0.000_999_7, "1.00 ms");
        check(0.999_6, "1.00 s");
        check(99.96, "1.67 min");
        check(83.5, "83.5 s");
        check(300.0, "5.00 min");
        check(7200.0, "2.00 h");
        check(1e-9, "1.00 ns");
        check(-0.000_012, "-12.0 us");
        check(0.0, "0 s");
        check(1e300, "1.00e300 s");
        check(1e15, "1.00e15 s");
        check(3.6e14, "100,000,000,000 h");
        check(f64::NAN, "-");
        check(f64::INFINITY, "inf s");
        assert_eq!(
            (chosen_time(1.0), chosen_time(0.1), chosen_time(0.063)),
            ("1 s".into(), "100 ms".into(), "63 ms".into())
        );
        assert_eq!(time_range(0.00331, 0.00362), "3.31 to 3.62 ms");
        assert_eq!(time_range(0.000812, 0.0012), "812 us to 1.20 ms");
    }

    #[test]
    fn a_time_has_the_digits_of_its_interval() {
        assert_eq!(time_within(0.245_93, [0.244_06, 0.247_81]), "245.9 ms [244.1, 247.8]");
        assert_eq!(time_within(-0.000_3, [-0.001_2, 0.000_6]), "-0.30 ms [-1.20, 0.60]");
        assert_eq!(time_within(1.5, [1.1, 1.9]), "1.50 s [1.10, 1.90]");
        assert_eq!(time_within(0.5, [0.25, 0.75]), "500 ms [250, 750]");
        assert_eq!(time_within(0.0, [0.0, 0.0]), "0 s [0 to 0 s]");
        assert_eq!(time_within(2e300, [1e300, 3e300]), "2.00e300 s [1.00e300 to 3.00e300 s]");
        assert_eq!(time_within(0.0, [-1e200, 1e200]), "0 s [-1.00e200 to 1.00e200 s]");
    }

    #[test]
    fn numbers() {
        let check = |x: f64, text: &str| assert_eq!(number(x), text, "{x}");
        check(0.0, "0");
        check(1.0, "1.00");
        check(0.998_4, "0.998");
        check(200.0, "200");
        check(999.96, "1,000");
        check(-12_345.6, "-12,346");
        check(0.001_234, "0.00123");
        check(1e-9, "1.00e-9");
        check(1e18, "1.00e18");
        assert_eq!((chosen(0.1), chosen(80.0), chosen(-0.01)), ("0.1".into(), "80".into(), "-0.01".into()));
        assert_eq!(
            (whole(12_344.6), whole(-0.5), whole(1e18)),
            ("12,345".into(), "-0.5".into(), "1.00e18".into())
        );
        assert_eq!(
            (signed(0.31), signed(-0.31), signed(0.0)),
            ("+0.310".into(), "-0.310".into(), "0".into())
        );
        assert_eq!(per_second_within(10.31, [8.18, 11.1]), "10.3 per second (95 % interval 8.18 to 11.1)");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(999), "999");
        assert_eq!(rate(12_345.0), "12,345/s");
        assert_eq!(size(1536.0), "1.50 KiB");
        assert_eq!(size(812.0), "812 B");
        assert_eq!(size(1e13), "9,313 GiB");
        assert_eq!(plural(1, "stall"), "1 stall");
        assert_eq!(plural(0, "stall"), "0 stalls");
    }

    /// Nothing takes more columns than the largest whole number, however large it is.
    #[test]
    fn what_is_large_has_an_exponent() {
        for x in [1e15, 1e18, -3.3e20, 1e100, f64::MAX, f64::MIN, 1e-100, f64::MIN_POSITIVE] {
            let single = [number, chosen, time, chosen_time, rate, share, size, instant, p_value];
            let pairs = [time_range(-x, x), time_within(x, [-x, x]), instants(&[[-x, x]], 1)];
            for text in single.iter().map(|of| of(x)).chain(pairs) {
                assert!(text.len() <= 52, "{x:e}: {text}");
            }
        }
    }

    #[test]
    fn percentiles_keep_their_digits_and_no_probability_is_0() {
        assert_eq!([90.0, 99.99, 50.5, 99.9999].map(percentile), ["p90", "p99.99", "p50.5", "p99.9999"]);
        assert_eq!(
            [0.0, 9.9e-5, 1e-4, 0.31].map(p_value),
            ["p < 0.0001", "p < 0.0001", "p = 0.000100", "p = 0.310"]
        );
    }

    #[test]
    fn a_share_hides_no_failure() {
        let check = |x: f64, text: &str| assert_eq!(share(x), text, "{x}");
        check(1.0, "100 %");
        check(0.0, "0 %");
        check(0.5, "50.0 %");
        check(0.999, "99.90 %");
        check(0.999_17, "99.92 %");
        check(0.999_999, "99.9999 %");
        check(0.999_999_999_999, "> 99.999999 %");
        check(1.2, "120 %");
        assert_eq!((chosen_share(0.1), chosen_share(0.005)), ("10 %".into(), "0.5 %".into()));
        assert_eq!(share_of(1, 1_000_000), "0.000100 %");
        assert_eq!(share_of(0, 0), "-");
    }

    #[test]
    fn ranges_of_the_clock() {
        assert_eq!(instants(&[[3.0, 4.5], [7.0, 7.0]], 3), "3.0-4.5, 7.0 s");
        assert_eq!(instants(&[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], 1), "0.0-1.0 s and 2 more");
        assert_eq!(instant(3.2141), "3.214 s");
        assert_eq!(instant(1e300), "1.00e300 s");
        assert_eq!(instants(&[[-1e300, 1e300], [4.0, 4.0]], 3), "-1.00e300-1.00e300, 4.0 s");
    }

    #[test]
    fn text_from_outside_cannot_drive_the_terminal() {
        assert_eq!(visible("a\x1b[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb c\u{fffd}d");
    }
}
