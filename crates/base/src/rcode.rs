//! Codes of answers of DNS (RCODE; RFC 1035, section 4.1.1, and RFC 2136), by name. They lie below those of HTTP.

use std::fmt;

const NAMES: [&str; 11] = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET",
    "NOTAUTH", "NOTZONE",
];

/// The code of that name, in letters of any case.
pub fn code(name: &str) -> Option<u16> {
    NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|code| code as u16)
}

/// A status as people know it: codes of DNS (below 100) by name, those of HTTP as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub u16);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None if self.0 < 100 => write!(f, "RCODE{}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_statuses_of_http_are_numbers() {
        for (status, shown) in
            [(0, "NOERROR"), (3, "NXDOMAIN"), (10, "NOTZONE"), (15, "RCODE15"), (200, "200")]
        {
            assert_eq!(Status(status).to_string(), shown);
        }
        assert_eq!(
            (code("nxdomain"), code("SERVFAIL"), code("200"), code("")),
            (Some(3), Some(2), None, None)
        );
    }
}
