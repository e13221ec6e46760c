//! Local ports for connections to one target: how many each address of this machine has, and how many an ended connection still holds.
//!
//! The side of a connection that closes first keeps its port for a minute (TIME_WAIT; Linux has that time built in). What is read here is of
//! this network namespace. Deliberately absent: how many a load needs.

use headway_base::Nanos;
use std::fs;

/// How long an ended connection keeps its port.
const TIME_WAIT: Nanos = Nanos::from_secs(60);
/// The same where the port may serve again once the other side's clock of time stamps has moved on (`tcp_tw_reuse`).
const REUSED: Nanos = Nanos::from_secs(1);

/// Local ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// Ports that one address has for connections to one target.
    pub per_address: u32,
    /// Ended connections that keep a port, over all targets.
    pub time_wait: u64,
    /// How long such a connection keeps its port to a target on this machine,
    pub held_local: Nanos,
    /// and to one elsewhere.
    pub held_remote: Nanos,
}

/// The ports of this machine now; none where the system does not tell.
pub fn ports() -> Option<Ports> {
    let read = |name: &str| fs::read_to_string(name).ok();
    let setting = |name: &str| read(&format!("/proc/sys/net/ipv4/{name}"));
    let reserved = setting("ip_local_reserved_ports").unwrap_or_default();
    let reuse = setting("tcp_tw_reuse").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    of(&setting("ip_local_port_range")?, &reserved, reuse, &read("/proc/net/sockstat")?)
}

fn of(range: &str, reserved: &str, reuse: u8, sockstat: &str) -> Option<Ports> {
    let mut bounds = range.split_whitespace().map(str::parse::<u32>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    let within = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) =
            (from.trim().parse::<u32>().ok()?.max(low), to.trim().parse::<u32>().ok()?.min(high));
        (from <= to).then(|| to - from + 1)
    };
    let reserved: u32 = reserved.split(',').filter_map(within).sum();
    let tcp = sockstat.lines().find(|line| line.starts_with("TCP:"))?;
    let time_wait = tcp.split_whitespace().skip_while(|word| *word != "tw").nth(1)?.parse().ok()?;
    let held = |reused: bool| if reused { REUSED } else { TIME_WAIT };
    Some(Ports {
        per_address: (high.checked_sub(low)? + 1).saturating_sub(reserved),
        time_wait,
        held_local: held(reuse > 0),
        held_remote: held(reuse == 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_the_range_that_are_not_reserved() {
        let sockstat = "sockets: used 300\nTCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1\nUDP: inuse 2 mem 0\n";
        let of = |reserved: &str, reuse| of("32768\t60999\n", reserved, reuse, sockstat).unwrap();
        assert_eq!((of("\n", 0).per_address, of("\n", 0).time_wait), (28_232, 12));
        assert_eq!(of("80,32768-32777,60999-65000", 0).per_address, 28_232 - 10 - 1);
        let held = |reuse| (of("", reuse).held_local, of("", reuse).held_remote);
        assert_eq!(
            (held(0), held(1), held(2)),
            ((TIME_WAIT, TIME_WAIT), (REUSED, REUSED), (REUSED, TIME_WAIT))
        );
    }

    #[test]
    fn what_is_no_range_tells_nothing() {
        assert_eq!(of("", "", 0, "TCP: tw 1"), None);
        assert_eq!(of("1 2", "", 0, "UDP: inuse 1"), None);
        assert_eq!(of("9 2", "", 0, "TCP: tw 1"), None);
    }
}
