//! What this machine allows and does: all that it says of itself ([`machine`]), how late it wakes a thread ([`lateness`]), cores,
//! stolen time.

mod cgroup;
mod facts;
mod lateness;

pub use cgroup::Groups;
pub use facts::{address_space_left, descriptors, machine, ports, synchronised};
pub use lateness::{Lateness, lateness};

use headway_base::Nanos;
use std::fs;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::PathBuf;

/// Connections by default: min(10,000, (descriptor limit - 200)/2), at least 1.
pub fn default_connections() -> u32 {
    (descriptors().soft.saturating_sub(200) / 2).clamp(1, 10_000) as u32
}

/// The name of this machine (hostname(7)); `localhost` where the system does not say.
pub fn name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("localhost").to_owned()
}

/// Where an open file is now: elsewhere than it was opened if a folder above it was renamed meanwhile. None where the system does not say.
pub fn place_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// Cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Time that the hypervisor took from all cores since boot; none where the system does not say.
pub fn stolen() -> Option<Nanos> {
    spent([8])
}

/// Time that all processes of this machine have had cores for since boot, all cores together; none where the system does not say. It is
/// counted by ticks, of which one is 1 to 10 ms.
pub fn used() -> Option<Nanos> {
    spent([1, 2, 3])
}

/// What all cores spent on these since boot, by their places in `/proc/stat` (proc(5)): 1 user, 2 nice, 3 system, 8 steal.
fn spent<const N: usize>(places: [usize; N]) -> Option<Nanos> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let words: Vec<&str> = stat.lines().next()?.split_whitespace().collect();
    let ticks = places.map(|place| words.get(place)?.parse::<i64>().ok());
    // The kernel counts in hundredths of a second for user space, whatever its own tick.
    Some(Nanos::from_millis(ticks.into_iter().sum::<Option<i64>>()? * 10))
}

/// What the scheduler counts of a thread, since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scheduled {
    /// Time on a core.
    pub ran: Nanos,
    /// Time ready to run but waiting for a core.
    pub waited: Nanos,
    /// How often it got a core.
    pub times: u64,
}

/// What the scheduler counts of this thread; none where the system does not say.
pub fn scheduled() -> Option<Scheduled> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut counts = stat.split_whitespace().map(str::parse::<i64>);
    let mut next = || counts.next()?.ok();
    Some(Scheduled { ran: Nanos(next()?), waited: Nanos(next()?), times: next()? as u64 })
}

/// Processor time of this process so far, all of its threads together; none where the system does not say.
pub fn processor_time() -> Option<Nanos> {
    #![expect(unsafe_code, reason = "clock_gettime has no safe wrapper in what is built")]
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local that outlives the call, which writes it.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    (answer == 0).then(|| Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec))
}

/// Lets a write beyond the limit of a file's size (`ulimit -f`) fail like one on a full disk (EFBIG), in place of a signal
/// that ends the process.
pub fn outlive_file_size_limit() {
    #![expect(unsafe_code, reason = "signal has no safe wrapper")]
    // SAFETY: to ignore a signal runs no code of ours.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Makes the calling thread give way to the workers: they wake on time, and it uses what is left, a tenth of a
/// millisecond at a time. On a core of their own it costs nothing; on a shared one a usual slice of some milliseconds
/// would show in the load as a stall.
pub fn give_way() {
    const NICENESS: i32 = 5;
    const SLICE: Nanos = Nanos::from_micros(100);
    // Fails only where the system knows no priorities; then it competes, and the lag shows it.
    let _ = rustix::process::nice(NICENESS);
    slice::shorten(NICENESS, SLICE);
}

/// Asking the scheduler for short slices.
mod slice {
    #![expect(unsafe_code, reason = "sched_setattr has no safe wrapper")]

    use headway_base::Nanos;

    /// `struct sched_attr` of Linux, first version (48 bytes).
    #[repr(C)]
    struct SchedAttr {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }

    /// Asks for slices of that length for the calling thread. Linux 6.12 and later do so; earlier ones take no notice.
    pub(super) fn shorten(nice: i32, slice: Nanos) {
        let attr = SchedAttr {
            size: size_of::<SchedAttr>() as u32,
            policy: libc::SCHED_OTHER as u32,
            flags: 0,
            nice,
            priority: 0,
            runtime: slice.0 as u64,
            deadline: 0,
            period: 0,
        };
        // SAFETY: the pointer is to a sched_attr of the size it states, which lives through the call and is only read.
        // A refusal changes nothing.
        unsafe {
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0);
        }
    }
}

/// Whether a path stands for what this process has open: standard output, or what a shell handed over.
pub fn is_open_here(path: &std::path::Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}
