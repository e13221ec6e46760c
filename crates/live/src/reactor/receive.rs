//! Receiving, with the kernel's own stamp where it is asked for: when the network stack took the bytes in, before any
//! thread was woken. For a stream it is the stamp of the last segment that the read returned bytes of.

#![expect(unsafe_code, reason = "control messages with time stamps have no safe wrapper")]

use super::KernelStamp;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

pub(super) struct Received {
    pub(super) bytes: usize,
    pub(super) stamp: Option<KernelStamp>,
}

/// Asks the kernel to stamp what this socket receives; false where it does not (Unix sockets, other systems).
pub(super) fn ask_for_stamps(fd: impl AsFd) -> bool {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option's value is a c_int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    result == 0
}

#[inline]
pub(super) fn receive(fd: &OwnedFd, buffer: &mut [u8], stamped: bool) -> Result<Received, Errno> {
    if stamped {
        return receive_stamped(fd, buffer);
    }
    let (bytes, _) = recv(fd, buffer, RecvFlags::empty())?;
    Ok(Received { bytes, stamp: None })
}

fn receive_stamped(fd: &OwnedFd, buffer: &mut [u8]) -> Result<Received, Errno> {
    /// Room for one timespec control message and more, aligned as control messages are.
    #[repr(C, align(8))]
    struct Control([u8; 128]);
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a msghdr of zeroes is a valid one without name, parts or control messages.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len();
    // SAFETY: the descriptor is open; the header points to one part and to control room of the given lengths, all of
    // which live and are not otherwise used through the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0) };
    if received < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    let mut stamp = None;
    // SAFETY: the kernel has filled the header in; the CMSG macros walk the control messages within its lengths, and
    // a message of this level and type carries a timespec, read without regard to alignment.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(&raw const message);
        while !head.is_null() {
            if (*head).cmsg_level == libc::SOL_SOCKET && (*head).cmsg_type == libc::SCM_TIMESTAMPNS {
                let time = libc::CMSG_DATA(head).cast::<libc::timespec>().read_unaligned();
                stamp = Some(KernelStamp(i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)));
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
    }
    Ok(Received { bytes: received as usize, stamp })
}
