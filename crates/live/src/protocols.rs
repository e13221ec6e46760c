//! Which wire protocol a connection speaks: what is offered in TLS, and what the target's choice means.

use headway_base::Answer;
use headway_wire::protocol::{ALL, by_alpn, by_scheme};
use headway_wire::{Carrier, Limits, Protocol, Settings};
use headway_workload::target::{HttpVersion, Scheme};

/// Most streams at once on a connection of HTTP/2, by default: what servers usually allow.
pub const DEFAULT_STREAMS: u32 = 100;

/// Most requests at once on a socket of datagrams, by default: as many as numbers of two bytes tell apart.
pub const DEFAULT_DATAGRAMS: u32 = 1 << 16;

/// The protocols of a run.
#[derive(Clone, Debug)]
pub struct Protocols {
    /// Those offered in TLS, preferred first.
    offered: Vec<&'static dyn Protocol>,
    /// The one that is spoken where TLS does not choose; none: that is a failure.
    default: Option<&'static dyn Protocol>,
    /// Most requests under way at once on a connection that takes several.
    pub streams: u32,
    /// What ends an answer of plain bytes; none: as is usual for the protocol.
    pub answer: Option<Answer>,
}

impl Protocols {
    /// Those that a target of that scheme is spoken to in; of HTTP, that version. `streams`: the usual number where it is none.
    pub fn new(
        scheme: Scheme,
        version: HttpVersion,
        streams: Option<u32>,
        answer: Option<Answer>,
    ) -> Protocols {
        if !scheme.is_http() {
            let protocol = by_scheme(scheme.name());
            let streams = streams.unwrap_or(DEFAULT_DATAGRAMS).max(1);
            return Protocols { offered: Vec::new(), default: protocol, streams, answer };
        }
        let tls = scheme == Scheme::Https;
        let streams = streams.unwrap_or(DEFAULT_STREAMS).max(1);
        let (http1, http2) = (by_alpn(b"http/1.1"), by_alpn(b"h2"));
        let (offered, default) = match version {
            HttpVersion::Any => {
                (ALL.into_iter().filter(|protocol| protocol.alpn().is_some()).collect(), http1)
            }
            HttpVersion::Http1 => (http1.into_iter().collect(), http1),
            HttpVersion::Http2 => (http2.into_iter().collect(), http2.filter(|_| !tls)),
        };
        Protocols { offered, default, streams, answer }
    }

    /// That one alone, without TLS.
    pub fn only(protocol: &'static dyn Protocol, streams: u32) -> Protocols {
        Protocols { offered: vec![protocol], default: Some(protocol), streams: streams.max(1), answer: None }
    }

    /// What TLS is to offer.
    pub(crate) fn alpn(&self) -> Vec<Vec<u8>> {
        self.offered.iter().filter_map(|protocol| protocol.alpn()).map(<[u8]>::to_vec).collect()
    }

    /// The protocol of a connection, by what the target chose in TLS, if it chose. None: it speaks none of those asked for.
    pub(crate) fn chosen(&self, alpn: Option<&[u8]>) -> Option<&'static dyn Protocol> {
        match alpn {
            Some(name) => self.offered.iter().copied().find(|protocol| protocol.alpn() == Some(name)),
            None => self.default,
        }
    }

    /// The names of those asked for, for an error.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.offered.iter().map(|protocol| protocol.name()).collect();
        names.join(" or ")
    }

    /// What connections are made with.
    pub(crate) fn settings(&self, limits: Limits) -> Settings {
        Settings { limits, streams: self.streams, answer: self.answer.clone() }
    }

    /// What the bytes travel in.
    pub(crate) fn carrier(&self) -> Carrier {
        self.default.map_or(Carrier::Stream, Protocol::carrier)
    }

    /// Requests that a connection can be expected to carry at once, `tls` or not.
    pub fn at_once(&self, tls: bool) -> u32 {
        self.expected(tls).map_or(1, |protocol| protocol.streams(&self.settings(Limits::DEFAULT)))
    }

    /// The protocol that a connection is expected to speak, `tls` or not.
    pub(crate) fn expected(&self, tls: bool) -> Option<&'static dyn Protocol> {
        if tls { self.offered.first().copied() } else { self.default }
    }
}
