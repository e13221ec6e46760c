//! Names to addresses, before the plan's zero and off the workers.

use headway_workload::connect::{Route, Routes};
use headway_workload::target::Endpoint;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A place to connect to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// UDP over IPv4 or IPv6.
    Udp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl Address {
    /// The same place, for datagrams. A Unix socket stays what it is.
    pub fn for_datagrams(self) -> Address {
        match self {
            Address::Tcp(address) => Address::Udp(address),
            other => other,
        }
    }

    /// Whether it is of IPv4; none of a Unix socket.
    pub fn is_ipv4(&self) -> Option<bool> {
        match self {
            Address::Tcp(address) | Address::Udp(address) => Some(address.is_ipv4()),
            Address::Unix(_) => None,
        }
    }

    /// Whether it is of a network that is nobody else's: loopback, private or link-local (RFC 1122, 1918, 3927, 4193, 4291), or a Unix
    /// socket.
    pub fn is_private(&self) -> bool {
        let (Address::Tcp(address) | Address::Udp(address)) = self else { return true };
        let v4 = |ip: Ipv4Addr| ip.is_loopback() || ip.is_private() || ip.is_link_local();
        match address.ip() {
            IpAddr::V4(ip) => v4(ip),
            IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
                Some(ip) => v4(ip),
                None => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            },
        }
    }

    /// Whether it is this machine: loopback, a Unix socket, or an address of one of its own interfaces.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            // An address one can bind is one's own.
            Address::Tcp(address) | Address::Udp(address) => {
                address.ip().is_loopback() || std::net::UdpSocket::bind((address.ip(), 0)).is_ok()
            }
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(address) | Address::Udp(address) => write!(f, "{address}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A name that did not resolve.
#[derive(Debug, Error)]
#[error(
    "the name {host} does not resolve: {why}. Check how it is written; or give its address with --resolve \
     {host}:{port}:ADDRESS"
)]
pub struct ResolveError {
    /// The name.
    pub host: String,
    /// The port that connections would go to.
    pub port: u16,
    /// What the resolver said.
    pub why: String,
}

/// All addresses of an endpoint, in the order that the system's resolver prefers. May take seconds.
///
/// # Errors
/// The name is unknown, or no resolver answers.
pub fn resolve(endpoint: &Endpoint) -> Result<Vec<Address>, ResolveError> {
    resolve_by(endpoint, &Routes::default())
}

/// The same where routes may lead elsewhere, or give the addresses.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_by(endpoint: &Endpoint, routes: &Routes) -> Result<Vec<Address>, ResolveError> {
    match endpoint {
        Endpoint::Unix(path) => Ok(vec![Address::Unix(PathBuf::from(path))]),
        Endpoint::Tcp { host, port } => {
            let Route { host, port, addresses } = routes.of(host, *port);
            if !addresses.is_empty() {
                return Ok(addresses.into_iter().map(|ip| Address::Tcp((ip, port).into())).collect());
            }
            let error = |why: String| ResolveError { host: host.clone(), port, why };
            let found = (host.as_str(), port).to_socket_addrs().map_err(|e| error(e.to_string()))?;
            let addresses: Vec<Address> = found.map(Address::Tcp).collect();
            if addresses.is_empty() { Err(error("it has no address".to_owned())) } else { Ok(addresses) }
        }
    }
}

/// How long one of several addresses may take to answer before the next is tried.
const TRY_FOR: Duration = Duration::from_secs(2);

/// The first of a name's addresses that takes a connection, or the first if none does: a name may lead to an address
/// without a listener (`localhost` to ::1). An only address is not tried. One run goes to one address.
///
/// # Panics
/// If there is none.
pub fn reachable(mut addresses: Vec<Address>) -> Address {
    let answers = |address: &Address| match address {
        Address::Tcp(at) => TcpStream::connect_timeout(at, TRY_FOR).is_ok(),
        // Nothing answers a datagram for certain.
        Address::Udp(_) | Address::Unix(_) => true,
    };
    let at = if addresses.len() > 1 { addresses.iter().position(answers).unwrap_or(0) } else { 0 };
    addresses.swap_remove(at)
}

/// Those addresses of a name that connections go to in turn: all that are of IPv4, or of IPv6, as is the one that
/// [`reachable`] gives.
///
/// # Panics
/// If there is none.
pub fn rotating(addresses: Vec<Address>) -> Vec<Address> {
    let kind = reachable(addresses.clone()).is_ipv4();
    addresses.into_iter().filter(|address| address.is_ipv4() == kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_others_are_known() {
        let of = |text: &str| Address::Tcp(text.parse().unwrap()).is_private();
        for own in [
            "127.0.0.1:80",
            "127.9.9.9:80",
            "10.1.2.3:80",
            "172.16.0.1:80",
            "172.31.255.255:80",
            "192.168.0.9:80",
            "169.254.1.1:80",
            "[::1]:80",
            "[fd00::1]:80",
            "[fe80::1]:80",
            "[::ffff:10.0.0.1]:80",
        ] {
            assert!(of(own), "{own}");
        }
        for other in [
            "172.32.0.1:80",
            "192.169.0.1:80",
            "100.64.0.1:80",
            "93.184.216.34:80",
            "8.8.8.8:80",
            "[2606:4700::1]:80",
            "[::ffff:8.8.8.8]:80",
        ] {
            assert!(!of(other), "{other}");
        }
        assert!(Address::Unix("/run/x".into()).is_private());
    }

    #[test]
    fn those_of_the_kind_that_takes_connections_are_used_in_turn() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let of = |host: &str| Address::Tcp(format!("{host}:{port}").parse().unwrap());
        let all = vec![of("[::1]"), of("127.0.0.1"), of("[::2]"), of("127.0.0.2")];
        assert_eq!(rotating(all), [of("127.0.0.1"), of("127.0.0.2")]);
        assert_eq!(rotating(vec![of("[::1]")]), [of("[::1]")]);
        let datagrams: Vec<Address> = ["127.0.0.3", "127.0.0.4"].map(of).map(Address::for_datagrams).into();
        assert_eq!(rotating(datagrams.clone()), datagrams);
    }
}
