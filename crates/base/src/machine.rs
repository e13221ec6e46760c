//! What a machine allows, as plain data: `live` asks the system, `stats::doctor` judges it.
//!
//! Deliberately absent: what was measured of its wake-ups, and any opinion.

/// Descriptors that are not for connections: standard streams, logs, and what each worker needs.
pub const DESCRIPTORS_KEPT: u64 = 50;

/// How long Linux keeps the port of a connection that this side closed first, in seconds (TCP_TIMEWAIT_LEN, which cannot be set).
pub const TIME_WAIT_S: f64 = 60.0;

/// How long a port waits at least before Linux uses it again for a new connection, where that is allowed (`tcp_tw_reuse`), in
/// seconds: time stamps of the two connections must differ.
pub const TIME_WAIT_REUSED_S: f64 = 1.0;

/// A worker that handles events for more than this share of its time is saturated: the generator, not the target, sets the pace.
pub const SATURATED: f64 = 0.8;

/// What this machine allows the process. What the system does not say is none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Machine {
    /// Cores that the process may use.
    pub cores: u32,
    /// CPU quota of a control group of the process or of one above it, the tightest.
    pub quota: Option<Quota>,
    /// The frequency governors of the cores, each once.
    pub governors: Vec<String>,
    /// Descriptors.
    pub descriptors: Descriptors,
    /// Local ports.
    pub ports: Ports,
    /// Buffers of sockets.
    pub buffers: Buffers,
    /// Connection tracking, where the kernel has it.
    pub conntrack: Option<Conntrack>,
    /// The clock.
    pub clock: Clock,
    /// Bytes of memory that can be had: of the machine, or of a control group if that allows less.
    pub memory: Option<u64>,
    /// Whether threads of the process may have real-time priority.
    pub realtime: bool,
    /// Longest queue of connections that wait to be accepted (`net.core.somaxconn`).
    pub somaxconn: Option<u64>,
}

/// A CPU quota.
#[derive(Clone, PartialEq, Debug)]
pub struct Quota {
    /// Processor time per time: 0.5 is half a core.
    pub cores: f64,
    /// The time over which it is counted, in seconds: what is used up stops the process until the next one.
    pub period_s: f64,
    /// The file that says so.
    pub file: String,
}

/// Descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Descriptors {
    /// Those that the process may have open (`ulimit -n`); [`u64::MAX`]: no limit.
    pub soft: u64,
    /// What the process may raise that to itself.
    pub hard: u64,
    /// What root may raise it to (`fs.nr_open`).
    pub most: Option<u64>,
    /// Those of all processes (`fs.file-max`), and how many of them are in use.
    pub system: Option<(u64, u64)>,
}

impl Descriptors {
    /// Connections that the process may have open at once.
    pub fn connections(self) -> u64 {
        self.soft.saturating_sub(DESCRIPTORS_KEPT)
    }
}

/// Local ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// First and last of those that the kernel gives out (`net.ipv4.ip_local_port_range`).
    pub range: Option<(u16, u16)>,
    /// Ports in that range that are kept for others (`net.ipv4.ip_local_reserved_ports`).
    pub reserved: u64,
    /// Whether ports in TIME_WAIT may be used again after a second: `net.ipv4.tcp_tw_reuse` (0: no; 1: yes; 2: on loopback).
    pub reuse: Option<u8>,
    /// Sockets in TIME_WAIT now.
    pub waiting: Option<u64>,
}

impl Ports {
    /// Connections at once from one local address to one address and port of a target.
    pub fn per_target(self) -> Option<u64> {
        let (first, last) = self.range?;
        Some((u64::from(last) + 1).saturating_sub(u64::from(first)).saturating_sub(self.reserved))
    }

    /// How long a port is taken after its connection was closed by this side, in seconds; `loopback`: of one over loopback.
    pub fn held_s(self, loopback: bool) -> f64 {
        match self.reuse {
            Some(1) => TIME_WAIT_REUSED_S,
            Some(2) if loopback => TIME_WAIT_REUSED_S,
            _ => TIME_WAIT_S,
        }
    }
}

/// Buffers of sockets, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Buffers {
    /// What a socket of datagrams receives into (`net.core.rmem_default`).
    pub receive: Option<u64>,
    /// The most that it can be given (`net.core.rmem_max`).
    pub receive_most: Option<u64>,
    /// What it sends from (`net.core.wmem_default`).
    pub send: Option<u64>,
    /// The most that it can be given (`net.core.wmem_max`).
    pub send_most: Option<u64>,
}

/// Connection tracking of the kernel's packet filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conntrack {
    /// Connections that are tracked now. Zero on a machine whose rules do not need it.
    pub tracked: u64,
    /// The most that can be: packets of further ones are dropped.
    pub most: u64,
    /// How long a closed connection stays tracked, in seconds.
    pub closed_s: Option<u64>,
}

/// The clock.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Clock {
    /// What the kernel reads: `tsc`, `kvm-clock`, `hpet`, ...
    pub source: Option<String>,
    /// What one reading costs, in seconds.
    pub read_s: f64,
    /// Whether it is kept in step with others (adjtimex(2): not STA_UNSYNC).
    pub synchronised: Option<bool>,
    /// The most by which it may be off then, in seconds.
    pub error_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_counted_with_both_ends_and_without_those_reserved() {
        let ports = Ports { range: Some((32_768, 60_999)), reserved: 32, ..Ports::default() };
        assert_eq!(ports.per_target(), Some(28_200));
        assert_eq!(Ports { range: Some((61_000, 61_000)), ..Ports::default() }.per_target(), Some(1));
        assert_eq!(Ports::default().per_target(), None);
    }

    #[test]
    fn a_port_waits_a_minute_unless_it_may_be_used_again() {
        let held = |reuse, loopback| Ports { reuse, ..Ports::default() }.held_s(loopback);
        assert_eq!([held(None, true), held(Some(0), true), held(Some(2), false)], [60.0; 3]);
        assert_eq!([held(Some(2), true), held(Some(1), false), held(Some(1), true)], [1.0; 3]);
    }

    #[test]
    fn a_low_limit_leaves_no_connection() {
        assert_eq!(Descriptors { soft: 30, ..Descriptors::default() }.connections(), 0);
        assert_eq!(Descriptors { soft: 1_024, ..Descriptors::default() }.connections(), 974);
    }
}
