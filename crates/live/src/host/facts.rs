//! What the system says of itself, from `/proc`, `/sys` and a few calls, into [`headway_base::Machine`]. A file which is not
//! there is none, and no error.

use super::Groups;
use headway_base::Machine;
use headway_base::machine::{Buffers, Clock, Conntrack, Descriptors, Ports};
use rustix::process::{Resource, getrlimit};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// What this machine allows this process.
pub fn machine() -> Machine {
    let Descriptors { soft, hard, .. } = descriptors();
    let (synchronised, error_s) = synchronised();
    let files = Files { root: Path::new("/") }.machine();
    Machine {
        cores: super::cores(),
        realtime: crate::wait::may_be_realtime(),
        descriptors: Descriptors { soft, hard, ..files.descriptors },
        clock: Clock { read_s: cost_of_a_reading(), synchronised, error_s, ..files.clock },
        ..files
    }
}

/// The descriptors of this process.
pub fn descriptors() -> Descriptors {
    let limit = getrlimit(Resource::Nofile);
    let or_all = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    Descriptors { soft: or_all(limit.current), hard: or_all(limit.maximum), ..Descriptors::default() }
}

/// Bytes of address space that this process may still map (`ulimit -v`); none where nothing limits it, or the system does not say
/// what is mapped.
pub fn address_space_left() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let mapped = Files { root: Path::new("/") }.mapped()?;
    Some(limit.saturating_sub(mapped))
}

/// The local ports of this network namespace, and how many ended connections keep one now.
pub fn ports() -> Ports {
    Files { root: Path::new("/") }.ports()
}

/// The files below a root, in which a machine says what it has.
struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn text(&self, name: &str) -> Option<String> {
        Some(fs::read_to_string(self.root.join(name)).ok()?.trim().to_owned())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    fn machine(&self) -> Machine {
        let groups =
            Groups::read(&self.root.join("proc/self/cgroup"), &self.root.join("proc/self/mountinfo"));
        let memory = [self.available(), groups.memory()].into_iter().flatten().min();
        Machine {
            cores: 1,
            quota: groups.quota(),
            governors: self.governors(),
            descriptors: Descriptors {
                most: self.number("proc/sys/fs/nr_open"),
                system: self.open_files(),
                ..Descriptors::default()
            },
            ports: self.ports(),
            buffers: Buffers {
                receive: self.number("proc/sys/net/core/rmem_default"),
                receive_most: self.number("proc/sys/net/core/rmem_max"),
                send: self.number("proc/sys/net/core/wmem_default"),
                send_most: self.number("proc/sys/net/core/wmem_max"),
            },
            conntrack: self.conntrack(),
            clock: Clock {
                source: self.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
                ..Clock::default()
            },
            memory,
            realtime: false,
            somaxconn: self.number("proc/sys/net/core/somaxconn"),
        }
    }

    /// Bytes of memory that can be had without swapping, by proc(5), MemAvailable.
    fn available(&self) -> Option<u64> {
        let text = self.text("proc/meminfo")?;
        let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(kib.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
    }

    /// The most open files of the whole system, and those that are open: the third and the first number of `fs.file-nr`.
    fn open_files(&self) -> Option<(u64, u64)> {
        let text = self.text("proc/sys/fs/file-nr")?;
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
        let (open, _, most) = (numbers.next()??, numbers.next()?, numbers.next()??);
        Some((most, open))
    }

    fn governors(&self) -> Vec<String> {
        let cores = fs::read_dir(self.root.join("sys/devices/system/cpu/cpufreq")).into_iter().flatten();
        let of = |entry: std::io::Result<fs::DirEntry>| {
            Some(fs::read_to_string(entry.ok()?.path().join("scaling_governor")).ok()?.trim().to_owned())
        };
        let all: BTreeSet<String> = cores.filter_map(of).collect();
        all.into_iter().collect()
    }

    fn ports(&self) -> Ports {
        let range = self.text("proc/sys/net/ipv4/ip_local_port_range").and_then(|text| {
            let mut ends = text.split_whitespace().map(|word| word.parse().ok());
            Some((ends.next()??, ends.next()??))
        });
        let reserved = self.text("proc/sys/net/ipv4/ip_local_reserved_ports").unwrap_or_default();
        Ports {
            range,
            reserved: range.map_or(0, |range| within(&reserved, range)),
            reuse: self.number("proc/sys/net/ipv4/tcp_tw_reuse").and_then(|n| u8::try_from(n).ok()),
            waiting: self.waiting(),
        }
    }

    /// Bytes of address space that are mapped: of the line `VmSize:    12345 kB`.
    fn mapped(&self) -> Option<u64> {
        let text = self.text("proc/self/status")?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    }

    /// Sockets in TIME_WAIT: of the line `TCP: inuse 9 orphan 0 tw 3 ...`.
    fn waiting(&self) -> Option<u64> {
        let text = self.text("proc/net/sockstat")?;
        let line = text.lines().find(|line| line.starts_with("TCP:"))?;
        let mut words = line.split_whitespace().skip_while(|&word| word != "tw");
        words.nth(1)?.parse().ok()
    }

    fn conntrack(&self) -> Option<Conntrack> {
        let of = |name: &str| self.number(&format!("proc/sys/net/netfilter/nf_conntrack_{name}"));
        Some(Conntrack { tracked: of("count")?, most: of("max")?, closed_s: of("tcp_timeout_time_wait") })
    }
}

/// How many ports of a list like `8080,9000-9010` lie within that range.
fn within(list: &str, (first, last): (u16, u16)) -> u64 {
    let ranges = list.split(',').filter_map(|part| {
        let (from, to) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (from, to): (u16, u16) = (from.parse().ok()?, to.parse().ok()?);
        let (from, to) = (from.max(first), to.min(last));
        (from <= to).then(|| u64::from(to - from) + 1)
    });
    ranges.sum()
}

/// What it costs to read the clock, in seconds: the least of several batches, since others may have the core in between.
fn cost_of_a_reading() -> f64 {
    const BATCHES: u32 = 20;
    const READINGS: u32 = 500;
    let batch = |_| {
        let from = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(Instant::now());
        }
        from.elapsed().as_secs_f64() / f64::from(READINGS)
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

/// Whether the clock is kept in step with others, and the most by which it may be off, in seconds.
pub fn synchronised() -> (Option<bool>, Option<f64>) {
    #![expect(unsafe_code, reason = "adjtimex has no safe wrapper")]
    // SAFETY: zeroes are a valid timex, whose modes of zero ask for nothing to be changed; it outlives the call, which writes
    // into it.
    let (answer, timex) = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut timex), timex)
    };
    match answer {
        -1 => (None, None),
        _ => {
            let synchronised = timex.status & libc::STA_UNSYNC == 0;
            (Some(synchronised), synchronised.then_some(timex.maxerror as f64 / 1e6))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(files: &[(&str, &str)]) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Files { root: folder.path() }.machine()
    }

    #[test]
    fn a_machine_that_says_nothing_is_not_an_error() {
        assert_eq!(made_up(&[]), Machine { cores: 1, ..Machine::default() });
    }

    #[test]
    fn the_address_space_that_is_mapped_is_read_in_bytes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/self")).unwrap();
        fs::write(folder.path().join("proc/self/status"), "VmPeak:\t  70000 kB\nVmSize:\t   65536 kB\n")
            .unwrap();
        assert_eq!(Files { root: folder.path() }.mapped(), Some(64 << 20));
        assert!(Files { root: Path::new("/") }.mapped().unwrap() > 1 << 20);
    }

    #[test]
    fn what_files_say_is_read() {
        let machine = made_up(&[
            ("proc/sys/fs/nr_open", "1048576\n"),
            ("proc/sys/fs/file-nr", "1248\t0\t2466174\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/ipv4/ip_local_reserved_ports", "8080,40000-40009,60999-61005\n"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            (
                "proc/net/sockstat",
                "sockets: used 200\nTCP: inuse 9 orphan 0 tw 37 alloc 9 mem 1\nUDP: inuse 1 mem 0\n",
            ),
            ("proc/sys/net/core/rmem_default", "212992\n"),
            ("proc/sys/net/core/somaxconn", "4096\n"),
            ("proc/sys/net/netfilter/nf_conntrack_count", "12\n"),
            ("proc/sys/net/netfilter/nf_conntrack_max", "65536\n"),
            ("proc/meminfo", "MemTotal:       24683520 kB\nMemAvailable:   23739392 kB\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ]);
        assert_eq!(machine.descriptors.most, Some(1_048_576));
        assert_eq!(machine.descriptors.system, Some((2_466_174, 1_248)));
        assert_eq!(machine.ports.per_target(), Some(28_232 - 11));
        assert_eq!((machine.ports.reuse, machine.ports.waiting), (Some(2), Some(37)));
        assert_eq!(machine.buffers.receive, Some(212_992));
        assert_eq!(machine.conntrack.map(|c| (c.tracked, c.most, c.closed_s)), Some((12, 65_536, None)));
        assert_eq!(machine.memory, Some(23_739_392 << 10));
        assert_eq!(machine.governors, ["powersave"]);
        assert_eq!(machine.clock.source.as_deref(), Some("tsc"));
    }

    #[test]
    fn this_machine_says_something() {
        let machine = machine();
        assert!(machine.cores >= 1 && machine.descriptors.soft > 3);
        assert!(machine.clock.read_s > 0.0);
    }
}
