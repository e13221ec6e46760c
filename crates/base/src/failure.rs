//! Why a request failed, where something can be done about it: the kinds that reports have advice on.

use crate::record::Outcome;

/// A kind of failure on which reports have advice. Its [tag](KnownFailure::name) is stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KnownFailure {
    /// Nothing listens at the target's port.
    ConnectionRefused,
    /// The target's name has no address.
    NameUnresolved,
    /// The certificate is not trusted: an unknown issuer, a self-signed one, a bad signature.
    CertificateUntrusted,
    /// The certificate has expired, or is not yet valid.
    CertificateExpired,
    /// The certificate is for another name.
    CertificateName,
    /// TLS was begun, and what came back is not TLS.
    WithoutTls,
    /// TLS was begun, and not one byte came back within `--connect-timeout`.
    TlsUnanswered,
    /// HTTP/2 was begun, and not even the settings that a server sends first came back before the request was given up.
    Http2Unanswered,
    /// A request without TLS was answered as servers that expect TLS do: by a TLS alert, or by a page that says so.
    TlsExpected,
    /// No connection within `--connect-timeout`.
    ConnectTimeout,
    /// No complete response within `--timeout`.
    ResponseTimeout,
    /// The target closed or reset the connection before its response was complete.
    Reset,
    /// The target closed or reset a connection without TLS on which it has never sent a byte.
    ClosedUnanswered,
    /// Status 401.
    Unauthorized,
    /// Status 403.
    Forbidden,
    /// Status 429.
    TooManyRequests,
    /// Status 503.
    Unavailable,
    /// The target asks for a certificate of this client, and got none.
    ClientCertificateMissing,
    /// The target refuses the certificate of this client.
    ClientCertificateRefused,
    /// JSON was expected, and the body was empty.
    EmptyBody,
    /// A variable has no value: a response did not hold what a step extracts, or no step has extracted it.
    MissingVariable,
    /// What a step holds for this session cannot be sent by the protocol: no name of DNS, or too long for a datagram.
    Unfit,
    /// A redirect or an extracted link led to an origin that the run does not name.
    RedirectElsewhere,
    /// More redirects followed one another than are followed.
    TooManyRedirects,
    /// Nothing listens at the port of the proxy.
    ProxyRefused,
    /// The proxy asks for a user and a password, or for others: status 407, or 401 to CONNECT.
    ProxyAuthentication,
    /// The proxy makes no tunnel to the target: it answered CONNECT with a status from 300 to 499 other than 401 and 407.
    ProxyForbids,
    /// The proxy did not reach the target: it answered CONNECT with a status of 500 or more.
    ProxyNoTarget,
    /// The proxy closed or reset the connection before its response to CONNECT was complete, or without a word.
    ProxyClosed,
    /// No complete response to CONNECT within `--connect-timeout`.
    ProxyUnanswered,
    /// What the proxy answers is no HTTP that can be read.
    ProxyNotHttp,
    /// The proxy sent more than the head of its response to CONNECT, before anything was sent through the tunnel.
    ProxySurplus,
}

impl KnownFailure {
    /// Every kind.
    pub const ALL: [KnownFailure; 32] = [
        KnownFailure::ConnectionRefused,
        KnownFailure::NameUnresolved,
        KnownFailure::CertificateUntrusted,
        KnownFailure::CertificateExpired,
        KnownFailure::CertificateName,
        KnownFailure::WithoutTls,
        KnownFailure::TlsUnanswered,
        KnownFailure::Http2Unanswered,
        KnownFailure::TlsExpected,
        KnownFailure::ConnectTimeout,
        KnownFailure::ResponseTimeout,
        KnownFailure::Reset,
        KnownFailure::ClosedUnanswered,
        KnownFailure::Unauthorized,
        KnownFailure::Forbidden,
        KnownFailure::TooManyRequests,
        KnownFailure::Unavailable,
        KnownFailure::ClientCertificateMissing,
        KnownFailure::ClientCertificateRefused,
        KnownFailure::EmptyBody,
        KnownFailure::MissingVariable,
        KnownFailure::Unfit,
        KnownFailure::RedirectElsewhere,
        KnownFailure::TooManyRedirects,
        KnownFailure::ProxyRefused,
        KnownFailure::ProxyAuthentication,
        KnownFailure::ProxyForbids,
        KnownFailure::ProxyNoTarget,
        KnownFailure::ProxyClosed,
        KnownFailure::ProxyUnanswered,
        KnownFailure::ProxyNotHttp,
        KnownFailure::ProxySurplus,
    ];

    /// The tag in documents.
    pub const fn name(self) -> &'static str {
        match self {
            KnownFailure::ConnectionRefused => "connection-refused",
            KnownFailure::NameUnresolved => "name-unresolved",
            KnownFailure::CertificateUntrusted => "certificate-untrusted",
            KnownFailure::CertificateExpired => "certificate-expired",
            KnownFailure::CertificateName => "certificate-name",
            KnownFailure::WithoutTls => "without-tls",
            KnownFailure::TlsUnanswered => "tls-unanswered",
            KnownFailure::Http2Unanswered => "http2-unanswered",
            KnownFailure::TlsExpected => "tls-expected",
            KnownFailure::ConnectTimeout => "connect-timeout",
            KnownFailure::ResponseTimeout => "response-timeout",
            KnownFailure::Reset => "reset",
            KnownFailure::ClosedUnanswered => "closed-unanswered",
            KnownFailure::Unauthorized => "status-401",
            KnownFailure::Forbidden => "status-403",
            KnownFailure::TooManyRequests => "status-429",
            KnownFailure::Unavailable => "status-503",
            KnownFailure::ClientCertificateMissing => "client-certificate-missing",
            KnownFailure::ClientCertificateRefused => "client-certificate-refused",
            KnownFailure::EmptyBody => "empty-body",
            KnownFailure::MissingVariable => "missing-variable",
            KnownFailure::Unfit => "unfit",
            KnownFailure::RedirectElsewhere => "redirect-elsewhere",
            KnownFailure::TooManyRedirects => "too-many-redirects",
            KnownFailure::ProxyRefused => "proxy-refused",
            KnownFailure::ProxyAuthentication => "proxy-authentication",
            KnownFailure::ProxyForbids => "proxy-forbids",
            KnownFailure::ProxyNoTarget => "proxy-no-target",
            KnownFailure::ProxyClosed => "proxy-closed",
            KnownFailure::ProxyUnanswered => "proxy-unanswered",
            KnownFailure::ProxyNotHttp => "proxy-not-http",
            KnownFailure::ProxySurplus => "proxy-surplus",
        }
    }

    /// The kind of that tag, if there is one.
    pub fn from_name(name: &str) -> Option<KnownFailure> {
        KnownFailure::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind where outcome and status alone tell it; status 0 is none. A refused connection is not among these, since a target
    /// without a route ends alike.
    pub fn of(outcome: Outcome, status: u16) -> Option<KnownFailure> {
        match (outcome, status) {
            (Outcome::Status, 401) => Some(KnownFailure::Unauthorized),
            (Outcome::Status, 403) => Some(KnownFailure::Forbidden),
            (Outcome::Status, 429) => Some(KnownFailure::TooManyRequests),
            (Outcome::Status, 503) => Some(KnownFailure::Unavailable),
            (Outcome::Timeout, _) => Some(KnownFailure::ResponseTimeout),
            (Outcome::ConnectTimeout, _) => Some(KnownFailure::ConnectTimeout),
            (Outcome::Reset, _) => Some(KnownFailure::Reset),
            (Outcome::Dns, _) => Some(KnownFailure::NameUnresolved),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_distinct_and_read_back() {
        for kind in KnownFailure::ALL {
            assert_eq!(KnownFailure::from_name(kind.name()), Some(kind));
        }
        assert_eq!(KnownFailure::from_name("status-418"), None);
    }

    #[test]
    fn statuses_count_only_where_they_are_the_failure() {
        assert_eq!(KnownFailure::of(Outcome::Status, 401), Some(KnownFailure::Unauthorized));
        assert_eq!(KnownFailure::of(Outcome::Check, 401), None);
        assert_eq!(KnownFailure::of(Outcome::Status, 500), None);
        assert_eq!(KnownFailure::of(Outcome::Timeout, 200), Some(KnownFailure::ResponseTimeout));
    }
}
