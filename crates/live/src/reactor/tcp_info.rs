//! What the kernel tells of a connection of TCP (`TCP_INFO`), field by field.

#![expect(unsafe_code, reason = "TCP_INFO is read without a safe wrapper")]

use rustix::fd::{AsRawFd, OwnedFd};

/// Where fields lie in `struct tcp_info`, which only ever grows at its end. `tcpi_last_data_sent`, 32 bits: milliseconds since data was last sent
/// or, before any was, since the connection stood. The kernel counts them by its tick, of 1 to 10 ms: they are right on average.
pub(super) const LAST_DATA_SENT: usize = 44;
/// `tcpi_rwnd_limited`, 64 bits: microseconds for which the peer's full window has held the connection back.
pub(super) const RWND_LIMITED: usize = 176;

/// The field there; none where the system does not tell it, or the socket is none of TCP.
pub(super) fn field<const N: usize>(fd: &OwnedFd, at: usize) -> Option<[u8; N]> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the descriptor is open; the buffer and its length live through the call, which writes no more than that length.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    info.get(..length as usize).filter(|_| result == 0)?.get(at..at + N)?.first_chunk().copied()
}
