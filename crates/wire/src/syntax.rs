//! Pieces of HTTP's grammar (RFC 9110, 5.5 and 5.6) that rendering and parsing share.

/// Whether this is a token: a method or the name of a header.
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Whether this can be the value of a header: no controls but tabs. Bytes beyond ASCII pass, as they always did.
pub(crate) fn is_value(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == b'\t' || !byte.is_ascii_control())
}

/// Without the spaces and tabs around it. Not `trim_ascii`, which would also hide a line break.
pub(crate) fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// The items of a comma-separated list, without white space around them; empty ones are left out.
pub(crate) fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(trim).filter(|item| !item.is_empty())
}

/// Whether a comma-separated list has this item, whatever the case.
pub(crate) fn has_token(value: &[u8], token: &[u8]) -> bool {
    items(value).any(|item| item.eq_ignore_ascii_case(token))
}

/// Appends a header line.
pub(crate) fn push_line(buffer: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        buffer.extend_from_slice(part);
    }
}

/// Appends a number in decimal digits, without an allocation.
pub(crate) fn push_decimal(buffer: &mut Vec<u8>, mut number: u64) {
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    buffer.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_trimmed_and_line_breaks_are_not() {
        for (value, expected) in
            [("", ""), (" \t", ""), ("\t a b ", "a b"), (" a\r\n", "a\r\n"), ("\na", "\na")]
        {
            assert_eq!(trim(value.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn decimals_are_those_of_display() {
        for number in [0, 7, 10, 99, 100, 65_536, u64::MAX] {
            let mut buffer = b"x".to_vec();
            push_decimal(&mut buffer, number);
            assert_eq!(buffer, format!("x{number}").into_bytes());
        }
    }

    #[test]
    fn tokens_are_found_in_lists_whole() {
        assert!(has_token(b"a, Close ,b", b"close"));
        assert!(!has_token(b"closed, xclose, clo se", b"close"));
        assert!(!has_token(b"", b"close"));
    }
}
