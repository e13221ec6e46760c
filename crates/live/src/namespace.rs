//! The network namespace of a thread: its settings; and one of its own, with a loopback that nothing else uses, whose counters
//! count nothing else.

#![expect(unsafe_code, reason = "neither unshare nor the flags of an interface have a safe wrapper")]

use rustix::fd::AsRawFd as _;
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

/// Moves the calling thread, and threads that it starts from now on, into a new network namespace with a loopback and nothing
/// else. Sockets that are open stay where they are.
///
/// # Errors
/// The process may not do so (it takes `CAP_SYS_ADMIN`), or the system has no such namespaces.
pub fn enter_private_network() -> io::Result<()> {
    // SAFETY: only UnshareFlags::FILES could take descriptors from another thread.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    raise_loopback()
}

/// A setting of the calling thread's network namespace that is a whole number, by its path: `core/somaxconn`; none where the
/// system has no such setting.
pub fn setting(path: &str) -> Option<u32> {
    std::fs::read_to_string(format!("/proc/sys/net/{path}")).ok()?.trim().parse().ok()
}

fn raise_loopback() -> io::Result<()> {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: an ifreq of zeroes is valid: an empty name, no flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the descriptor is open, and the request is a whole ifreq that lives through the call.
    match unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp_counters::TcpCounters;
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    /// Where there is no right to it, there is nothing to see.
    #[test]
    fn nothing_but_its_own_connections_is_counted_there() {
        let outside = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = outside.local_addr().unwrap();
        let seen = thread::spawn(move || {
            enter_private_network().ok()?;
            assert!(TcpStream::connect(at).is_err(), "a listener outside was reached");
            let before = TcpCounters::read().unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let to = listener.local_addr().unwrap();
            // A thread that it starts is there too.
            thread::spawn(move || (0..3).for_each(|_| drop(TcpStream::connect(to).unwrap()))).join().unwrap();
            Some(TcpCounters::read().unwrap().since(&before))
        });
        if let Some(counted) = seen.join().unwrap() {
            assert_eq!((counted.active_opens, counted.passive_opens, counted.syns()), (3, 3, 3));
        }
    }
}
