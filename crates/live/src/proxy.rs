//! How a proxy is used: it is given each request, or asked for a tunnel by each connection.

use headway_wire::http1::tunnel;
use headway_wire::request::RequestError;
use headway_workload::Target;
use headway_workload::connect::Proxy;
use headway_workload::target::{Endpoint, HttpVersion, Scheme};
use std::sync::Arc;

/// What goes to a proxy.
#[derive(Clone, PartialEq, Eq)]
pub enum Via {
    /// Requests of HTTP/1.1 without TLS, which name the whole URL (RFC 9112, 3.2.2).
    Requests,
    /// These bytes of each connection, which ask for a tunnel to the target (CONNECT).
    Tunnel(Arc<[u8]>),
}

impl Via {
    /// How that target is spoken to through that proxy, in that version of HTTP.
    ///
    /// # Errors
    /// A host of the target that cannot be sent.
    pub fn of(proxy: &Proxy, target: &Target, http: HttpVersion) -> Result<Via, RequestError> {
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            return Err(RequestError::Host(target.host().to_owned()));
        };
        if target.scheme == Scheme::Http && http != HttpVersion::Http2 {
            return Ok(Via::Requests);
        }
        let asks = tunnel::ask(host, *port, proxy.authorization.as_deref())?;
        Ok(Via::Tunnel(asks.into()))
    }
}

/// The bytes may hold a password.
impl std::fmt::Debug for Via {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Via::Requests => "Requests",
            Via::Tunnel(_) => "Tunnel",
        })
    }
}
