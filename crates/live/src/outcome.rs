//! What the system's errors mean to a request.

use crate::address::Address;
use headway_base::{KnownFailure, Outcome};
use rustix::io::Errno;
use std::io;

/// What this machine lacks where that, and not the target, is why a socket cannot be had or written to; as the summary names it.
pub(crate) fn lacked(error: &io::Error, address: &Address) -> Option<&'static str> {
    Some(match Errno::from_io_error(error)? {
        Errno::MFILE => "descriptors",
        Errno::NFILE => "system-descriptors",
        // A Unix socket is not there for lack of ports: its listener's queue is full, which is the target's doing.
        Errno::AGAIN if matches!(address, Address::Unix(_)) => return None,
        // connect(2) and ip(7): no local port, or none to this target.
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => "ports",
        Errno::NOBUFS | Errno::NOMEM => "memory",
        // epoll_ctl(2)
        Errno::NOSPC => "watches",
        Errno::PERM => "permission",
        _ => return None,
    })
}

/// Which outcome a failure to connect is.
pub(crate) fn connect_outcome(error: &io::Error, address: &Address) -> Outcome {
    match Errno::from_io_error(error) {
        _ if lacked(error, address).is_some() => Outcome::LocalLimit,
        Some(Errno::TIMEDOUT) => Outcome::ConnectTimeout,
        Some(Errno::CONNRESET | Errno::PIPE) => Outcome::Reset,
        _ => Outcome::Refused,
    }
}

/// The kind of a failure to connect, where its outcome does not tell it.
pub(crate) fn connect_kind(error: &io::Error) -> Option<KnownFailure> {
    (error.kind() == io::ErrorKind::ConnectionRefused).then_some(KnownFailure::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_route_is_not_a_closed_port() {
        assert_eq!(connect_kind(&Errno::CONNREFUSED.into()), Some(KnownFailure::ConnectionRefused));
        for error in [Errno::HOSTUNREACH, Errno::NOENT, Errno::TIMEDOUT, Errno::AGAIN] {
            assert_eq!(connect_kind(&error.into()), None, "{error:?}");
        }
    }

    #[test]
    fn what_we_lack_is_not_put_down_to_the_target() {
        let tcp = Address::Tcp("127.0.0.1:80".parse().unwrap());
        let check =
            |error: Errno, outcome| assert_eq!(connect_outcome(&error.into(), &tcp), outcome, "{error:?}");
        // Descriptors, memory, local ports (EADDRNOTAVAIL, ip(7)), watches of epoll (ENOSPC, epoll_ctl(2)).
        for error in
            [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::ADDRNOTAVAIL, Errno::AGAIN, Errno::NOSPC]
        {
            check(error, Outcome::LocalLimit);
        }
        // No route, or (Unix) no such socket and no permission to use it.
        for error in [Errno::CONNREFUSED, Errno::HOSTUNREACH, Errno::NETUNREACH, Errno::NOENT, Errno::ACCESS]
        {
            check(error, Outcome::Refused);
        }
        check(Errno::TIMEDOUT, Outcome::ConnectTimeout);
        check(Errno::CONNRESET, Outcome::Reset);
        assert_eq!(connect_outcome(&io::ErrorKind::ConnectionRefused.into(), &tcp), Outcome::Refused);
        // The queue of a Unix listener is full (connect(2)).
        let unix = Address::Unix("/run/x".into());
        assert_eq!(connect_outcome(&Errno::AGAIN.into(), &unix), Outcome::Refused);
        assert_eq!(lacked(&Errno::MFILE.into(), &unix), Some("descriptors"));
        assert_eq!(lacked(&Errno::ADDRNOTAVAIL.into(), &tcp), Some("ports"));
    }
}
