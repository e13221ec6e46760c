//! What this machine allows and does: descriptors, cores, stolen time.

use base::Nanos;
use rustix::process::{Resource, getrlimit};
use std::fs;

/// Descriptors that one process may have open.
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Connections by default: min(10,000, (descriptor limit - 200)/2), at least 1.
pub fn default_connections() -> u32 {
    (descriptor_limit().saturating_sub(200) / 2).clamp(1, 10_000) as u32
}

/// Cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Time that the hypervisor took from all cores since boot; none where the system does not say.
pub fn stolen() -> Option<Nanos> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks: i64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    // The kernel counts in hundredths of a second for user space, whatever its own tick.
    Some(Nanos::from_millis(ticks * 10))
}

/// Time that this thread has spent ready to run but waiting for a core; none where the system does not say.
pub fn runqueue_wait() -> Option<Nanos> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

/// Makes the calling thread give way to the workers: they wake on time, it uses what is left.
pub fn give_way() {
    // Fails only where the system knows no priorities; then it competes, and the lag shows it.
    let _ = rustix::process::nice(5);
}
