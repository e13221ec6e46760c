//! When the bytes of a send left this machine: the kernel's own stamp as the network device takes over the packet, after the
//! socket's queue and the device's (`SOF_TIMESTAMPING_TX_SOFTWARE`). Asked for send by send, since each stamp costs a system call.
//!
//! For a long send it is the stamp of its first piece: what follows takes as long as the line, and the target, take.

#![expect(
    unsafe_code,
    reason = "stamps of sends are asked for, and read, by control messages without safe wrappers"
)]

use super::{KernelStamp, tcp_info};
use headway_base::Nanos;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::AddressFamily;

/// A send whose departure is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// When it was handed over.
    handed: KernelStamp,
    /// For how long until then the connection had been held back by the peer's full window, in microseconds.
    held_before: u64,
}

/// When a send's first bytes left this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// How long after they were handed over.
    pub after: Nanos,
    /// Whether they waited because the peer had no room for them: the target's doing, which does not read.
    pub by_peer: bool,
}

/// Longest first piece of a send: it fits any packet.
const PIECE: usize = 1_000;

/// Departures later than this are worth asking why.
const LATE: Nanos = Nanos::from_micros(500);

/// Makes the kernel tell the stamps that single sends ask for; false where it cannot (Unix sockets, older systems).
pub(super) fn ask_for_departures(fd: &OwnedFd) -> bool {
    // A Unix socket takes the option, and then refuses each send that asks.
    let family = rustix::net::sockopt::socket_domain(fd);
    if !matches!(family, Ok(AddressFamily::INET | AddressFamily::INET6)) {
        return false;
    }
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_SOFTWARE | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    // SAFETY: the descriptor is open, and the option's value is a c_uint that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        )
    };
    result == 0
}

/// Sends the first piece of `bytes` and asks for its stamp; how much was sent.
pub(super) fn send_watched(fd: &OwnedFd, bytes: &[u8], now: KernelStamp) -> Result<(usize, Watch), Errno> {
    /// Room for one control message of four bytes, aligned as control messages are.
    #[repr(C, align(8))]
    struct Control([u8; 24]);
    const FLAG: libc::c_uint = libc::SOF_TIMESTAMPING_TX_SOFTWARE;
    let piece = &bytes[..bytes.len().min(PIECE)];
    // What follows at once may travel with it.
    let more = if piece.len() < bytes.len() { libc::MSG_MORE } else { 0 };
    let held_before = window_full(fd);
    let mut control = Control([0; 24]);
    let mut part = libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
    // SAFETY: a msghdr of zeroes is a valid one without name, parts or control messages. The control room holds one message of
    // a c_uint (CMSG_SPACE(4) is 24), so CMSG_FIRSTHDR is not null and CMSG_DATA lies within; header, part, piece and room
    // live through the call, which does not write to the piece.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SO_TIMESTAMPING;
        (*head).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_uint>() as u32) as usize;
        libc::CMSG_DATA(head).cast::<libc::c_uint>().write_unaligned(FLAG);
        libc::sendmsg(fd.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | more)
    };
    if sent < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok((sent as usize, Watch { handed: now, held_before }))
}

impl Watch {
    /// The departure at `left`, or for one that has not left by then.
    pub(super) fn departure(&self, fd: &OwnedFd, left: KernelStamp) -> Departure {
        let after = Nanos((left.0 - self.handed.0).clamp(0, i128::from(i64::MAX)) as i64);
        let by_peer = after > LATE && {
            let held = window_full(fd).saturating_sub(self.held_before);
            2_000 * i128::from(held) >= i128::from(after.0)
        };
        Departure { after, by_peer }
    }
}

/// The stamp of the last send that asked for one, if it has left: takes all that the socket's error queue holds.
pub(super) fn take_stamp(fd: &OwnedFd) -> Option<KernelStamp> {
    /// Room for a stamp of three timespecs and the error that it comes with, aligned as control messages are.
    #[repr(C, align(8))]
    struct Control([u8; 256]);
    let mut stamp = None;
    loop {
        let mut control = Control([0; 256]);
        // SAFETY: a msghdr of zeroes is a valid one without name, parts or control messages; its control room lives and is not
        // otherwise used through the calls. The CMSG macros walk the messages within the lengths that the kernel has filled
        // in, and one of this level and type begins with a timespec, read without regard to alignment.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = control.0.len();
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            if libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags) < 0 {
                return stamp;
            }
            let mut head = libc::CMSG_FIRSTHDR(&raw const message);
            while !head.is_null() {
                if (*head).cmsg_level == libc::SOL_SOCKET && (*head).cmsg_type == libc::SO_TIMESTAMPING {
                    let time = libc::CMSG_DATA(head).cast::<libc::timespec>().read_unaligned();
                    let time = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
                    // Of several it is the first that counts: later ones are of packets that went out again.
                    stamp.get_or_insert(KernelStamp(time));
                }
                head = libc::CMSG_NXTHDR(&raw const message, head);
            }
        }
    }
}

/// For how long the peer's full window has held this connection back so far, in microseconds.
fn window_full(fd: &OwnedFd) -> u64 {
    tcp_info::field(fd, tcp_info::RWND_LIMITED).map_or(0, u64::from_ne_bytes)
}
