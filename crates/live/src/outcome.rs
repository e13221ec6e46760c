//! What the system's errors mean to a request.

use base::Outcome;
use rustix::io::Errno;
use std::io;

/// Which outcome a failure to connect is.
pub(crate) fn connect_outcome(error: &io::Error) -> Outcome {
    match Errno::from_io_error(error) {
        Some(
            Errno::MFILE
            | Errno::NFILE
            | Errno::NOBUFS
            | Errno::NOMEM
            | Errno::NOSPC
            | Errno::AGAIN
            | Errno::ADDRNOTAVAIL
            | Errno::ADDRINUSE
            | Errno::PERM,
        ) => Outcome::LocalLimit,
        Some(Errno::TIMEDOUT) => Outcome::ConnectTimeout,
        Some(Errno::CONNRESET | Errno::PIPE) => Outcome::Reset,
        _ => Outcome::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_lack_is_not_put_down_to_the_target() {
        let check = |error: Errno, outcome| assert_eq!(connect_outcome(&error.into()), outcome, "{error:?}");
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
        assert_eq!(connect_outcome(&io::ErrorKind::ConnectionRefused.into()), Outcome::Refused);
    }
}
