//! Numbers out of fields: exact, without allocating, and without floating point.

/// Digits of the largest number.
const MOST_DIGITS: usize = 19;

/// A whole number, with a minus sign perhaps.
#[inline]
pub(crate) fn int(text: &[u8]) -> Option<i64> {
    match text {
        [b'-', digits @ ..] => unsigned(digits).map(|n| -n),
        digits => unsigned(digits),
    }
}

#[inline]
fn unsigned(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > MOST_DIGITS {
        return None;
    }
    let mut n = 0_u64;
    for &b in digits {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Nineteen nines fit into a u64.
        n = n * 10 + u64::from(digit);
    }
    i64::try_from(n).ok()
}

/// A decimal number times ten to the power of `places`, what is finer cut off: `decimal(b"1.5", 9)` reads seconds as
/// nanoseconds. Exponents are understood (`1e-05`); infinity and the like are not numbers.
#[inline]
pub(crate) fn decimal(text: &[u8], places: u32) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let mut n = 0_i64;
    let mut point = None;
    let mut kept = 0;
    for (i, &b) in digits.iter().enumerate() {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            match b {
                b'.' if point.is_none() && digits.len() > 1 => point = Some(kept),
                b'e' | b'E' if i > 0 => return exponent(text, places),
                _ => return None,
            }
        } else if point.is_none_or(|point| kept - point < places) {
            n = n.checked_mul(10)?.checked_add(i64::from(digit))?;
            kept += 1;
        }
    }
    if digits.is_empty() {
        return None;
    }
    let missing = places - (kept - point.unwrap_or(kept));
    let n = n.checked_mul(10_i64.checked_pow(missing)?)?;
    Some(if negative { -n } else { n })
}

/// Rare enough for floating point.
#[cold]
fn exponent(text: &[u8], places: u32) -> Option<i64> {
    let n = std::str::from_utf8(text).ok()?.parse::<f64>().ok()? * 10_f64.powi(places as i32);
    (n.abs() < 9e18).then_some(n.round() as i64)
}

/// A number with a decimal comma, written with a point; none if it is not one.
pub(crate) fn with_point(text: &[u8]) -> Option<Vec<u8>> {
    let comma = text.iter().position(|&b| b == b',')?;
    let (whole, behind) = (&text[..comma], &text[comma + 1..]);
    let whole = whole.strip_prefix(b"-").unwrap_or(whole);
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    (is_number(whole) && is_number(behind)).then(|| {
        let mut pointed = text.to_vec();
        pointed[comma] = b'.';
        pointed
    })
}

/// How many digits stand behind the point.
pub(crate) fn places(text: &[u8]) -> u32 {
    let behind = text.iter().rposition(|&b| b == b'.').map_or(&[][..], |point| &text[point + 1..]);
    behind.iter().take_while(|b| b.is_ascii_digit()).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_numbers() {
        assert_eq!(int(b"1331859604094"), Some(1_331_859_604_094));
        assert_eq!(int(b"1700000000123456789"), Some(1_700_000_000_123_456_789));
        assert_eq!(int(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(int(b"-7"), Some(-7));
        for no in
            ["", "-", "+1", "1 ", "1.0", "0x1", "9223372036854775808", "00000000000000000001", "\u{663}"]
        {
            assert_eq!(int(no.as_bytes()), None, "{no:?}");
        }
    }

    #[test]
    fn decimals() {
        for (text, places, n) in [
            ("1.5", 9, 1_500_000_000),
            ("1700000000.123456789", 9, 1_700_000_000_123_456_789),
            ("0.0019", 3, 1),
            ("-0.25", 3, -250),
            (".5", 1, 5),
            ("7.", 1, 70),
            ("12", 0, 12),
            ("1e-05", 9, 10_000),
            ("2.5E3", 0, 2500),
        ] {
            assert_eq!(decimal(text.as_bytes(), places), Some(n), "{text}");
        }
        for no in ["", ".", "-", "1.2.3", "e5", "nan", "inf", "1e400", "99999999999", "1,5"] {
            assert_eq!(decimal(no.as_bytes(), 9), None, "{no:?}");
        }
        assert_eq!((places(b"12"), places(b"1.250"), places(b"10:00:01.25Z")), (0, 3, 2));
    }

    #[test]
    fn decimal_commas() {
        assert_eq!(with_point(b"1700000000,012").as_deref(), Some(&b"1700000000.012"[..]));
        assert_eq!(with_point(b"-1,5").as_deref(), Some(&b"-1.5"[..]));
        for no in ["1", "1.5", "1,234,567", ",5", "1,", "a,b", "1.000,5", "2012-03-15 18:30:03,100", ""] {
            assert_eq!(with_point(no.as_bytes()), None, "{no}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(n in -999_999_999_999_999_999_i64..=999_999_999_999_999_999) {
            prop_assert_eq!(int(n.to_string().as_bytes()), Some(n));
            let (whole, part) = (n.unsigned_abs() / 1_000_000_000, n.unsigned_abs() % 1_000_000_000);
            let sign = if n < 0 { "-" } else { "" };
            prop_assert_eq!(decimal(format!("{sign}{whole}.{part:09}").as_bytes(), 9), Some(n));
        }

        #[test]
        fn nothing_panics(text in proptest::collection::vec(any::<u8>(), 0..30), places in 0u32..19) {
            int(&text);
            decimal(&text, places);
        }
    }
}
