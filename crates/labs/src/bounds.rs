//! Limits of a client that shall not matter.

use headway_base::Nanos;
use headway_workload::Limits;

/// Longer than anything takes.
pub const ENDLESS: Nanos = Nanos::from_secs(24 * 3_600);

/// More connections than anybody opens.
pub const UNLIMITED: u32 = 10_000_000;

/// No bound that matters.
pub const NONE: Limits = limits(UNLIMITED, ENDLESS);

/// So many connections, and so long for whatever may take long.
pub const fn limits(connections: u32, patience: Nanos) -> Limits {
    Limits { connections, max_wait: patience, timeout: patience, connect_timeout: patience, drain: patience }
}
