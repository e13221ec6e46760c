//! Statuses of HTTP that mean something to more than one crate.

/// Statuses that name another place to go to (RFC 9110, 15.4).
pub const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];
