//! Receiving, with the kernel's own stamp where it is asked for: when the network stack took the bytes in, before any
//! thread was woken. For a stream it is the stamp of the last segment that the read returned bytes of.

#![expect(unsafe_code, reason = "control messages with time stamps have no safe wrapper")]

use super::KernelStamp;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// What a stream gave.
pub(crate) struct Received {
    pub(crate) bytes: usize,
    pub(crate) stamp: Option<KernelStamp>,
}

/// A datagram to a socket that is not connected.
pub(crate) struct Datagram {
    pub(crate) bytes: usize,
    pub(crate) stamp: Option<KernelStamp>,
    pub(crate) from: SocketAddr,
    /// How many the kernel had dropped for want of room in the socket's buffer when it took this one in; modulo 2^32.
    pub(crate) dropped: u32,
}

/// Asks the kernel to stamp what this socket receives; false where it does not (Unix sockets, other systems).
pub(crate) fn ask_for_stamps(fd: impl AsFd) -> bool {
    switch_on(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)
}

/// Asks the kernel to say with each datagram how many it has dropped.
pub(crate) fn ask_for_drops(fd: impl AsFd) -> bool {
    switch_on(fd, libc::SOL_SOCKET, libc::SO_RXQ_OVFL)
}

/// Switches an option of a socket on; false where the system does not have it.
pub(super) fn switch_on(fd: impl AsFd, level: libc::c_int, option: libc::c_int) -> bool {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option's value is a c_int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_fd().as_raw_fd(),
            level,
            option,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    result == 0
}

/// How many datagrams the kernel has dropped that came to this socket (sock_diag(7), `SK_MEMINFO_DROPS`); none: it does not tell.
pub(crate) fn drops(fd: impl AsFd) -> Option<u32> {
    const SO_MEMINFO: libc::c_int = 55;
    const DROPS: usize = 8;
    let mut values = [0_u32; 16];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes into the array, which lives through the call.
    let result = unsafe {
        libc::getsockopt(
            fd.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0 && length as usize > DROPS * size_of::<u32>()).then(|| values[DROPS])
}

#[inline]
pub(crate) fn receive(fd: &OwnedFd, buffer: &mut [u8], stamped: bool) -> Result<Received, Errno> {
    if stamped {
        let Message { bytes, stamp, .. } = receive_message(fd, buffer, None)?;
        return Ok(Received { bytes, stamp });
    }
    let (bytes, _) = recv(fd, buffer, RecvFlags::empty())?;
    Ok(Received { bytes, stamp: None })
}

/// The next datagram, with its sender.
pub(crate) fn receive_from(fd: &OwnedFd, buffer: &mut [u8]) -> Result<Datagram, Errno> {
    // SAFETY: all zeroes is a valid address without a family.
    let mut name: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let Message { bytes, stamp, dropped } = receive_message(fd, buffer, Some(&mut name))?;
    let at = &raw const name;
    let from = match libc::c_int::from(name.ss_family) {
        libc::AF_INET => {
            // SAFETY: the kernel has written an address of this family, and the storage is large enough and aligned for any.
            let v4 = unsafe { at.cast::<libc::sockaddr_in>().read() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into()
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let v6 = unsafe { at.cast::<libc::sockaddr_in6>().read() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), v6.sin6_flowinfo, v6.sin6_scope_id).into()
        }
        _ => return Err(Errno::AFNOSUPPORT),
    };
    Ok(Datagram { bytes, stamp, from, dropped: dropped.unwrap_or(0) })
}

struct Message {
    bytes: usize,
    stamp: Option<KernelStamp>,
    dropped: Option<u32>,
}

fn receive_message(
    fd: &OwnedFd,
    buffer: &mut [u8],
    name: Option<&mut libc::sockaddr_storage>,
) -> Result<Message, Errno> {
    /// Room for the control messages of a stamp and of drops, and more, aligned as control messages are.
    #[repr(C, align(8))]
    struct Control([u8; 128]);
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a msghdr of zeroes is a valid one without name, parts or control messages.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    if let Some(name) = name {
        message.msg_namelen = size_of_val(name) as libc::socklen_t;
        message.msg_name = std::ptr::from_mut(name).cast();
    }
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len();
    // SAFETY: the descriptor is open; the header points to one part, to control room and perhaps to room for an address, of the
    // given lengths, all of which live and are not otherwise used through the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0) };
    if received < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    let mut told = Message { bytes: received as usize, stamp: None, dropped: None };
    // SAFETY: the kernel has filled the header in; the CMSG macros walk the control messages within its lengths, and
    // messages of these levels and types carry a timespec and a u32, read without regard to alignment.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(&raw const message);
        while !head.is_null() {
            match ((*head).cmsg_level, (*head).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = libc::CMSG_DATA(head).cast::<libc::timespec>().read_unaligned();
                    let ns = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
                    told.stamp = Some(KernelStamp(ns));
                }
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                    told.dropped = Some(libc::CMSG_DATA(head).cast::<u32>().read_unaligned());
                }
                _ => {}
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
    }
    Ok(told)
}
