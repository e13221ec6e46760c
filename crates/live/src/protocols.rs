//! Which wire protocol a connection speaks: what is offered in TLS, and what the target's choice means.

use headway_wire::Protocol;
use headway_wire::protocol::{ALL, by_alpn};
use headway_workload::target::HttpVersion;

/// Streams of a connection at once unless the user says otherwise. As h2load's and browsers' peers usually allow.
pub const DEFAULT_STREAMS: u32 = 100;

/// The protocols of a run.
#[derive(Clone, Debug)]
pub struct Protocols {
    /// Those offered in TLS, preferred first.
    offered: Vec<&'static dyn Protocol>,
    /// The one that is spoken where TLS does not choose; none: that is a failure.
    default: Option<&'static dyn Protocol>,
    /// Most requests under way at once on a connection that takes several.
    pub streams: u32,
}

impl Protocols {
    /// Of that version, `tls` or not.
    pub fn new(version: HttpVersion, tls: bool, streams: u32) -> Protocols {
        let (http1, http2) = (by_alpn(b"http/1.1"), by_alpn(b"h2"));
        let (offered, default) = match version {
            HttpVersion::Any => (ALL.to_vec(), http1),
            HttpVersion::Http1 => (http1.into_iter().collect(), http1),
            HttpVersion::Http2 => (http2.into_iter().collect(), http2.filter(|_| !tls)),
        };
        Protocols { offered, default, streams: streams.max(1) }
    }

    /// That one alone, without TLS.
    pub fn only(protocol: &'static dyn Protocol, streams: u32) -> Protocols {
        Protocols { offered: vec![protocol], default: Some(protocol), streams: streams.max(1) }
    }

    /// What TLS is to offer.
    pub(crate) fn alpn(&self) -> Vec<Vec<u8>> {
        self.offered.iter().map(|protocol| protocol.alpn().to_vec()).collect()
    }

    /// The protocol of a connection, by what the target chose in TLS, if it chose. None: it speaks none of those asked for.
    pub(crate) fn chosen(&self, alpn: Option<&[u8]>) -> Option<&'static dyn Protocol> {
        match alpn {
            Some(name) => self.offered.iter().copied().find(|protocol| protocol.alpn() == name),
            None => self.default,
        }
    }

    /// The names of those asked for, for an error.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.offered.iter().map(|protocol| protocol.name()).collect();
        names.join(" or ")
    }

    /// The protocol that a connection is expected to speak, `tls` or not.
    pub(crate) fn expected(&self, tls: bool) -> Option<&'static dyn Protocol> {
        if tls { self.offered.first().copied() } else { self.default }
    }
}
