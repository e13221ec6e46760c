//! Identifiers of distributed traces (W3C Trace Context, level 1): a trace for each session, and a parent for each of its requests.
//!
//! They are a function of the seed and of which request of which session it is, so that a log can name them without holding them.

use crate::random::{Stream, streams};
use std::fmt;

/// The traces of the sessions of one plan.
#[derive(Clone, Copy, Debug)]
pub struct Traces {
    ids: Stream,
    parents: Stream,
}

/// Of which trace a session is: 16 bytes, never all zero; in hexadecimal as the header `traceparent` has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceId(u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Traces {
    /// Those of the plan with that seed.
    pub const fn new(seed: u64) -> Traces {
        Traces { ids: Stream::new(seed, streams::TRACE), parents: Stream::new(seed, streams::PARENT) }
    }

    /// The trace of session `k` of a group.
    pub fn id(self, group: u16, k: u64) -> TraceId {
        let half = |half: u64| u128::from(self.ids.bits(k, u64::from(group) << 1 | half));
        TraceId((half(0) << 64 | half(1)).max(1))
    }

    /// The header `traceparent` of one of its requests, which is asked to be recorded (`sampled`): the one with that number in its session, after
    /// that number of redirects (below 256).
    pub fn header(self, group: u16, k: u64, number: u32, redirects: u32) -> impl fmt::Display {
        let place = u64::from(group) << 40 | u64::from(number) << 8 | u64::from(redirects & 0xff);
        let parent = self.parents.bits(k, place).max(1);
        Header(self.id(group, k), parent)
    }
}

struct Header(TraceId, u64);

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{:016x}-01", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn headers_are_of_the_form_that_the_standard_has() {
        let header = Traces::new(7).header(0, 3, 0, 0).to_string();
        let parts: Vec<&str> = header.split('-').collect();
        assert_eq!((parts[0], parts[1].len(), parts[2].len(), parts[3]), ("00", 32, 16, "01"), "{header}");
        assert_eq!(parts[1], Traces::new(7).id(0, 3).to_string());
        assert!(header.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-')), "{header}");
        assert_ne!(header, Traces::new(8).header(0, 3, 0, 0).to_string());
    }

    #[test]
    fn every_session_and_every_request_has_its_own() {
        let traces = Traces::new(1);
        let (mut ids, mut headers) = (HashSet::new(), HashSet::new());
        for group in 0..3 {
            for k in 0..1_000 {
                assert!(ids.insert(traces.id(group, k)));
                for number in 0..4 {
                    for redirects in 0..3 {
                        assert!(headers.insert(
                            traces.header(group, k, number, redirects).to_string()[36..52].to_owned()
                        ));
                    }
                }
            }
        }
    }
}
