//! Making sockets: non-blocking, closed on exec, without Nagle's delay.

use super::receive::switch_on;
use crate::address::Address;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, ipproto, sockopt};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// A socket for that kind of address.
pub(super) fn open(address: &Address) -> io::Result<OwnedFd> {
    let family = |address: &SocketAddr| match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    Ok(match address {
        Address::Udp(address) => {
            net::socket_with(family(address), SocketType::DGRAM, FLAGS, Some(ipproto::UDP))?
        }
        Address::Tcp(address) => {
            net::socket_with(family(address), SocketType::STREAM, FLAGS, Some(ipproto::TCP))?
        }
        Address::Unix(_) => net::socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?,
    })
}

/// A socket of datagrams at that address, and the address with the port that was taken.
pub(crate) fn bind_datagrams(address: SocketAddr) -> io::Result<(OwnedFd, SocketAddr)> {
    let fd = open(&Address::Udp(address))?;
    net::bind(&fd, &address)?;
    let bound = UdpSocket::from(fd.try_clone()?).local_addr()?;
    Ok((fd, bound))
}

/// Begins to connect.
pub(super) fn connect(fd: &OwnedFd, address: &Address) -> Result<(), Errno> {
    match address {
        Address::Tcp(address) | Address::Udp(address) => net::connect(fd, address),
        Address::Unix(path) => match net::connect(fd, &SocketAddrUnix::new(path)?) {
            // A Unix listener with a full queue does not keep one waiting, it says "again".
            Err(Errno::AGAIN) => Err(Errno::CONNREFUSED),
            other => other,
        },
    }
}

/// Gives an attempt to connect up: the socket can connect anew, to the same or another target. Its port is free again.
pub(super) fn abandon(fd: &OwnedFd) -> Result<(), Errno> {
    net::connect_unspec(fd)?;
    // What the attempt came to is not what the next one comes to.
    sockopt::socket_error(fd)?.or(Ok(()))
}

/// Begins to connect from that address of this machine. The port is chosen as it connects, so that a port serves for connections to several
/// targets (`IP_BIND_ADDRESS_NO_PORT`, ip(7)); an older system chooses it now.
pub(super) fn bind_source(fd: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    let _ = switch_on(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
    net::bind(fd, &SocketAddr::new(source, 0))
}

/// A socket whose connection stands, opened or accepted, sends what it is given at once. Unix sockets have no Nagle.
pub(crate) fn prepare(fd: &OwnedFd) -> io::Result<()> {
    match sockopt::set_tcp_nodelay(fd, true) {
        Err(error) if error != Errno::OPNOTSUPP && error != Errno::NOPROTOOPT => Err(error.into()),
        _ => Ok(()),
    }
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    address: Address,
}

impl Listener {
    /// Listens there, with an accept queue of `backlog` connections (or what the system allows: `net.core.somaxconn`). Port 0
    /// takes a free one.
    ///
    /// # Errors
    /// The address is taken, not this machine's, or not permitted.
    pub fn bind(address: &Address, backlog: u32) -> io::Result<Listener> {
        let fd = open(address)?;
        match address {
            Address::Udp(_) => return Err(io::Error::other("datagrams have no connections to listen for")),
            Address::Tcp(at) => {
                sockopt::set_socket_reuseaddr(&fd, true)?;
                net::bind(&fd, at)?;
            }
            Address::Unix(path) => net::bind(&fd, &SocketAddrUnix::new(path)?)?,
        }
        net::listen(&fd, i32::try_from(backlog).unwrap_or(i32::MAX))?;
        let address = match address {
            // The standard library knows how to read the address back.
            Address::Tcp(_) => Address::Tcp(TcpListener::from(fd.try_clone()?).local_addr()?),
            unix => unix.clone(),
        };
        Ok(Listener { fd, address })
    }

    /// Where it listens, with the port that was taken.
    pub fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn accept(&self) -> Result<OwnedFd, Errno> {
        net::accept_with(&self.fd, FLAGS)
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
