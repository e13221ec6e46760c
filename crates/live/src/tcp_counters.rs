//! What the kernel counts of TCP in the network namespace of the calling thread: a witness that is independent of what a
//! generator and a server say of themselves.

use std::fs;
use std::io;

/// Counts since the namespace was made (RFC 4022, and `TcpExt` of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpCounters {
    /// Connections that were begun: the first SYN of each (`ActiveOpens`).
    pub active_opens: u64,
    /// Connections that came in and were established (`PassiveOpens`).
    pub passive_opens: u64,
    /// SYNs, and answers to them, that were sent again (`TCPSynRetrans`).
    pub syn_retransmissions: u64,
    /// SYNs, and last segments of handshakes, that met a full accept queue (`ListenOverflows`).
    pub listen_overflows: u64,
}

impl TcpCounters {
    /// What they are now.
    ///
    /// # Errors
    /// The system does not show them.
    pub fn read() -> io::Result<TcpCounters> {
        // Of the thread: /proc/net is that of the process's first thread.
        let snmp = fs::read_to_string("/proc/thread-self/net/snmp")?;
        let netstat = fs::read_to_string("/proc/thread-self/net/netstat")?;
        Ok(TcpCounters {
            active_opens: counter(&snmp, "Tcp:", "ActiveOpens")?,
            passive_opens: counter(&snmp, "Tcp:", "PassiveOpens")?,
            syn_retransmissions: counter(&netstat, "TcpExt:", "TCPSynRetrans")?,
            listen_overflows: counter(&netstat, "TcpExt:", "ListenOverflows")?,
        })
    }

    /// What has been counted since those.
    #[must_use]
    pub fn since(&self, earlier: &TcpCounters) -> TcpCounters {
        TcpCounters {
            active_opens: self.active_opens.saturating_sub(earlier.active_opens),
            passive_opens: self.passive_opens.saturating_sub(earlier.passive_opens),
            syn_retransmissions: self.syn_retransmissions.saturating_sub(earlier.syn_retransmissions),
            listen_overflows: self.listen_overflows.saturating_sub(earlier.listen_overflows),
        }
    }

    /// SYNs that were sent: the first ones, and those sent again. Answers to SYNs that are sent again are among them; where
    /// nothing is lost but at a full accept queue there are none.
    pub fn syns(&self) -> u64 {
        self.active_opens + self.syn_retransmissions
    }
}

/// A number of a file which has a line of names and a line of numbers for each group.
fn counter(text: &str, group: &str, name: &str) -> io::Result<u64> {
    let mut lines = text.lines().filter(|line| line.split_whitespace().next() == Some(group));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let mut pairs = names.split_whitespace().zip(numbers.split_whitespace());
    let found = pairs.find(|(of, _)| *of == name).and_then(|(_, number)| number.parse().ok());
    found.ok_or_else(|| io::Error::other(format!("the system does not count {group} {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_names() {
        let text = "Ip: Forwarding\nIp: 1\nTcp: RtoMax ActiveOpens MaxConn\nTcp: 120000 17 -1\n";
        assert_eq!(counter(text, "Tcp:", "ActiveOpens").unwrap(), 17);
        for name in ["PassiveOpens", "MaxConn"] {
            assert!(counter(text, "Tcp:", name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_connection_is_counted_at_both_ends() {
        let before = TcpCounters::read().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // Others may connect meanwhile.
        let counted = TcpCounters::read().unwrap().since(&before);
        assert!(
            counted.active_opens >= 1 && counted.passive_opens >= 1 && counted.syns() >= 1,
            "{counted:?}"
        );
    }
}
