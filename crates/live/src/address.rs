//! Names to addresses, before the plan's zero and off the workers.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use thiserror::Error;
use workload::target::Endpoint;

/// A place to connect to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl Address {
    /// Whether it is this machine: loopback, a Unix socket, or an address of one of its own interfaces.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            // An address one can bind is one's own.
            Address::Tcp(address) => {
                address.ip().is_loopback() || std::net::UdpSocket::bind((address.ip(), 0)).is_ok()
            }
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "{address}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A name that did not resolve.
#[derive(Debug, Error)]
#[error("the name {host} does not resolve: {why}")]
pub struct ResolveError {
    /// The name.
    pub host: String,
    /// What the resolver said.
    pub why: String,
}

/// All addresses of an endpoint, in the order that the system's resolver prefers. May take seconds.
///
/// # Errors
/// The name is unknown, or no resolver answers.
pub fn resolve(endpoint: &Endpoint) -> Result<Vec<Address>, ResolveError> {
    match endpoint {
        Endpoint::Unix(path) => Ok(vec![Address::Unix(PathBuf::from(path))]),
        Endpoint::Tcp { host, port } => {
            let error = |why: String| ResolveError { host: host.clone(), why };
            let found = (host.as_str(), *port).to_socket_addrs().map_err(|e| error(e.to_string()))?;
            let addresses: Vec<Address> = found.map(Address::Tcp).collect();
            if addresses.is_empty() { Err(error("it has no address".to_owned())) } else { Ok(addresses) }
        }
    }
}
