//! Random draws of a request: functions of its number in the plan and of the attempt, never of earlier requests.
//!
//! Number of a request: the number of its session times the longest journey, plus its position in the session. Compared
//! models, the event-driven network and the fast path therefore see the same draws.

use headway_base::random::{Draws, Stream, streams};
use headway_workload::{Plan, RequestKey};

/// Attempts of a request that have numbers of their own next to each other.
const ATTEMPTS: u64 = 128;
/// Demands of attempts after the first.
const LATER: &str = "service-attempt";
/// What a user is hashed by.
const USER: &str = "user";

/// The streams of the plan's groups.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    longest: u64,
    first: Stream,
    later: Stream,
    user: Stream,
}

impl Numbers {
    pub(crate) fn new(plan: &Plan) -> Numbers {
        let group = |g: usize| {
            let seed = plan.group_seed(g);
            Group {
                longest: plan.groups[g].journey.longest().max(1),
                first: Stream::new(seed, streams::SERVICE),
                later: Stream::new(seed, LATER),
                user: Stream::new(seed, USER),
            }
        };
        Numbers { groups: (0..plan.groups.len()).map(group).collect() }
    }

    /// Number of the request within its group.
    #[inline]
    pub(crate) fn id(&self, sending: &RequestKey) -> u64 {
        let longest = self.groups[usize::from(sending.group)].longest;
        sending.k.wrapping_mul(longest).wrapping_add(u64::from(sending.ordinal))
    }

    /// What the demand of that attempt (from 0) of request `id` is drawn from.
    #[inline]
    pub(crate) fn demand(&self, group: u16, id: u64, attempt: u32) -> Draws {
        let of = &self.groups[usize::from(group)];
        if attempt == 0 { of.first.item(id) } else { of.later.item(item(id, attempt)) }
    }

    /// A hash of the user, or of the session where it has none.
    #[inline]
    pub(crate) fn user(&self, sending: &RequestKey) -> u64 {
        self.groups[usize::from(sending.group)].user.bits(sending.user, 0)
    }
}

/// The item of a stream that is that attempt's: attempts beyond those that have numbers next to each other (retries within
/// retries) get numbers far away.
#[inline]
pub(crate) fn item(id: u64, attempt: u32) -> u64 {
    let attempt = u64::from(attempt);
    let (near, far) = (attempt % ATTEMPTS, attempt / ATTEMPTS);
    id.wrapping_mul(ATTEMPTS).wrapping_add(near).wrapping_add(far << 50)
}

/// The seed of draws of that name under the plan's (or a group's) seed that belong to part number `part`.
pub(crate) fn seed_of_part(seed: u64, part: usize) -> u64 {
    Stream::new(seed, "part").bits(part as u64, 0)
}
