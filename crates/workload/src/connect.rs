//! How connections are made where that is not what the URL says: other places to connect to, given addresses, a proxy, and what
//! TLS needs besides a host.
//!
//! Deliberately absent: looking names up, and what a certificate or a key is. Both are the live world's affair.

use crate::redact::Redactor;
use crate::target::{Endpoint, Scheme, Target};
use headway_base::units::UnitError;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// A file of certificates or keys, as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    /// The file, as it was named.
    pub file: String,
    /// What it holds.
    pub bytes: Arc<[u8]>,
}

/// What it holds does not show.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem({}, {} bytes)", self.file, self.bytes.len())
    }
}

/// What TLS needs besides the host of the target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tls {
    /// The certificate of this client, with those that lead to its authority; perhaps its key, too.
    pub cert: Option<Pem>,
    /// The key of that certificate, where the file of the certificate does not hold it.
    pub key: Option<Pem>,
    /// Certificates of the authorities to trust in place of the system's.
    pub cacert: Option<Pem>,
    /// The name to indicate, which the target's certificate must have, in place of the host.
    pub sni: Option<String>,
    /// Whether connections may go on with a session that an earlier one agreed on.
    pub resumption: bool,
}

/// Another place to connect to: curl's `--connect-to HOST1:PORT1:HOST2:PORT2`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectTo {
    host: Option<String>,
    port: Option<u16>,
    to_host: Option<String>,
    to_port: Option<u16>,
}

impl ConnectTo {
    /// Reads `HOST1:PORT1:HOST2:PORT2`. Each may be empty: any host, any port; the same host, the same port. IPv6 addresses stand in
    /// brackets.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<ConnectTo, UnitError> {
        let wrong = || {
            let wanted = "a place to connect to: write HOST:PORT:HOST2:PORT2, as in example.org:443:127.0.0.1:8443; each may be \
                          empty, and IPv6 addresses stand in brackets";
            UnitError::new(text, wanted)
        };
        let (host, rest) = host(text).ok_or_else(wrong)?;
        let (from_port, rest) = rest.split_once(':').ok_or_else(wrong)?;
        let (to_host, to_port) = host_at_the_end(rest).ok_or_else(wrong)?;
        let port = |text: &str| match text {
            "" => Ok(None),
            text => port(text).map(Some).ok_or_else(wrong),
        };
        Ok(ConnectTo { host, port: port(from_port)?, to_host, to_port: port(to_port)? })
    }

    fn is_of(&self, host: &str, port: u16) -> bool {
        let is_host = self.host.as_deref().is_none_or(|known| known.eq_ignore_ascii_case(host));
        is_host && self.port.is_none_or(|known| known == port)
    }
}

/// Addresses of a host, which is not looked up then: curl's `--resolve HOST:PORT:ADDR[,ADDR]...`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolve {
    /// None: any host that no other entry names.
    host: Option<String>,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl Resolve {
    /// Reads `HOST:PORT:ADDR[,ADDR]...`. The host may be `*`; a `+` before it, which lets the entry expire in curl, changes nothing
    /// here. IPv6 addresses may stand in brackets, as addresses and must so as the host.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Resolve, UnitError> {
        let wrong = || {
            let wanted = "an address of a host: write HOST:PORT:ADDRESS, as in example.org:443:127.0.0.1; several addresses are \
                          separated by commas";
            UnitError::new(text, wanted)
        };
        let (host, rest) = host(text.strip_prefix('+').unwrap_or(text)).ok_or_else(wrong)?;
        let host = host.ok_or_else(wrong)?;
        let (from, addresses) = rest.split_once(':').ok_or_else(wrong)?;
        let address = |text: &str| text.trim().trim_matches(['[', ']']).parse().map_err(|_| wrong());
        Ok(Resolve {
            host: (host != "*").then_some(host),
            port: port(from).ok_or_else(wrong)?,
            addresses: addresses.split(',').map(address).collect::<Result<_, _>>()?,
        })
    }
}

/// A host at the beginning of a text, up to a colon outside brackets, and what follows the colon.
fn host(text: &str) -> Option<(Option<String>, &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host.parse::<IpAddr>().ok()?.to_string(), rest.strip_prefix(':')?)
        }
        None => {
            let (host, rest) = text.split_once(':')?;
            (host.to_owned(), rest)
        }
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*' | ':');
    host.chars().all(plain).then_some(((!host.is_empty()).then_some(host), rest))
}

/// The same where nothing but a port follows, as in `HOST:PORT`.
fn host_at_the_end(text: &str) -> Option<(Option<String>, &str)> {
    host(text).filter(|(_, port)| !port.contains(':'))
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&port| port > 0)
}

/// A proxy of HTTP, which is spoken to without TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Host name or address (IPv6 without brackets).
    pub host: String,
    /// Port.
    pub port: u16,
    /// Host and port, as a URL has them.
    authority: String,
    /// The value of the header Proxy-Authorization that its user and password make.
    pub authorization: Option<String>,
}

impl Proxy {
    /// Reads `http://[user:password@]host:port`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Proxy, UnitError> {
        let wrong = |why: &str| {
            let wanted = format!(
                "a proxy: {why}; write http://HOST:PORT, with NAME:PASSWORD@ before HOST if it asks for them"
            );
            UnitError::new(&Redactor::default().hide_url(text), wanted)
        };
        let (scheme, place) = text.trim().split_once("://").ok_or_else(|| wrong("it begins with http://"))?;
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(wrong("proxies are spoken to in HTTP without TLS, and in no SOCKS"));
        }
        let place = place.strip_suffix('/').unwrap_or(place);
        if place.contains(['/', '?', '#']) {
            return Err(wrong("it is a host and a port alone"));
        }
        // The library leaves the port out where it is that of the scheme.
        let has_port = place.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
        if !has_port {
            return Err(wrong("it names no port"));
        }
        let target = Target::parse(text.trim()).map_err(|_| wrong("its host or port cannot be"))?;
        let (Scheme::Http, Endpoint::Tcp { host, port }) = (target.scheme, target.endpoint) else {
            return Err(wrong("it is a host and a port"));
        };
        let shown = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Proxy { host, port, authority: shown, authorization: target.authorization })
    }

    /// Where it is.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Tcp { host: self.host.clone(), port: self.port }
    }
}

/// As a URL, without user and password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

/// Credentials do not show, only whether there are any.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = if self.authorization.is_some() { ", with a password" } else { "" };
        write!(f, "Proxy({self}{known})")
    }
}

/// Where connections go in place of what the URL says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    /// Other places, of which the first that fits counts.
    pub connect_to: Vec<ConnectTo>,
    /// Addresses, of which the last that fits counts, and one for any host only where no other fits. They are of the place that is
    /// connected to.
    pub resolve: Vec<Resolve>,
}

/// Where a connection goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Its addresses, where they are given.
    pub addresses: Vec<IpAddr>,
}

impl Routes {
    /// Whether any of them is about that host and port.
    pub fn concerns(&self, host: &str, port: u16) -> bool {
        let of_any =
            |known: &Option<String>| known.as_ref().is_none_or(|known| known.eq_ignore_ascii_case(host));
        self.connect_to.iter().any(|to| to.is_of(host, port))
            || self.resolve.iter().any(|resolve| resolve.port == port && of_any(&resolve.host))
    }

    /// Where a connection to that host and port goes.
    pub fn of(&self, host: &str, port: u16) -> Route {
        let to = self.connect_to.iter().find(|to| to.is_of(host, port));
        let host = to.and_then(|to| to.to_host.as_deref()).unwrap_or(host);
        let port = to.and_then(|to| to.to_port).unwrap_or(port);
        let known = || self.resolve.iter().rev().filter(|resolve| resolve.port == port);
        let named = known().find(|r| r.host.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(host)));
        let resolve = named.or_else(|| known().find(|resolve| resolve.host.is_none()));
        Route {
            host: host.to_owned(),
            port,
            addresses: resolve.map_or_else(Vec::new, |resolve| resolve.addresses.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(connect_to: &[&str], resolve: &[&str]) -> Routes {
        Routes {
            connect_to: connect_to.iter().map(|text| ConnectTo::parse(text).unwrap()).collect(),
            resolve: resolve.iter().map(|text| Resolve::parse(text).unwrap()).collect(),
        }
    }

    fn goes(routes: &Routes, host: &str, port: u16) -> (String, u16, Vec<String>) {
        let Route { host, port, addresses } = routes.of(host, port);
        (host, port, addresses.iter().map(ToString::to_string).collect())
    }

    /// The examples of curl(1), and what it says of empty parts.
    #[test]
    fn places_to_connect_to_are_read_as_curl_reads_them() {
        for (text, host, port, to) in [
            ("example.com:443:example.net:8443", "example.com", 443, ("example.net", 8443)),
            ("example.com:443:example.net:8443", "EXAMPLE.com", 443, ("example.net", 8443)),
            ("example.com:443:example.net:8443", "example.com", 80, ("example.com", 80)),
            ("example.com:443:example.net:8443", "example.org", 443, ("example.org", 443)),
            ("::127.0.0.1:81", "a", 80, ("127.0.0.1", 81)),
            (":80:b:", "a", 80, ("b", 80)),
            ("a:::81", "a", 80, ("a", 81)),
            ("[::1]:80:[fe80::2]:81", "::1", 80, ("fe80::2", 81)),
            (":::", "a", 80, ("a", 80)),
        ] {
            let (host, port, _) = goes(&routes(&[text], &[]), host, port);
            assert_eq!((host.as_str(), port), to, "{text}");
        }
        let first = routes(&["a:80:b:1", "::c:2"], &[]);
        assert_eq!(goes(&first, "a", 80).0, "b", "the first that fits counts");
        assert_eq!(goes(&first, "a", 81).0, "c");
    }

    #[test]
    fn addresses_are_given_as_to_curl() {
        let all =
            routes(&[], &["a:80:127.0.0.1", "+*:80:127.0.0.9", "b:80:[::1],127.0.0.3", "a:80:127.0.0.2"]);
        let addresses = |host, port| goes(&all, host, port).2;
        assert_eq!(addresses("A", 80), ["127.0.0.2"], "the last that fits counts");
        assert_eq!(addresses("b", 80), ["::1", "127.0.0.3"]);
        assert_eq!(addresses("c", 80), ["127.0.0.9"], "any other host");
        assert_eq!(addresses("a", 81), [""; 0]);
        let both = routes(&["a:443:b:80"], &["b:80:127.0.0.4", "a:443:127.0.0.5"]);
        assert_eq!(goes(&both, "a", 443), ("b".into(), 80, vec!["127.0.0.4".into()]));
    }

    #[test]
    fn what_is_neither_says_what_would_be() {
        for bad in [
            "",
            "a",
            "a:80",
            "a:80:b",
            "a:80:b:c",
            "a:80:b:0",
            "a:x:b:1",
            "a:80:b:1:2",
            "[x]:80:b:1",
            "a b:1:c:2",
            "http://a:80:b:1",
        ] {
            let error = ConnectTo::parse(bad).unwrap_err().to_string();
            assert!(error.contains("write HOST:PORT:HOST2:PORT2"), "{bad}: {error}");
        }
        for bad in [
            "",
            "a",
            "a:80",
            "a:80:",
            "a::127.0.0.1",
            "a:80:b",
            "a:0:127.0.0.1",
            ":80:127.0.0.1",
            "-a:80",
            "a:80:127.0.0.1,",
            "a:80:127.0.0.1:5",
        ] {
            let error = Resolve::parse(bad).unwrap_err().to_string();
            assert!(error.contains("write HOST:PORT:ADDRESS"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_proxy_is_a_host_and_a_port() {
        for (text, host, port, shown) in [
            ("http://proxy:3128", "proxy", 3128, "http://proxy:3128"),
            ("HTTP://proxy.example:80/", "proxy.example", 80, "http://proxy.example:80"),
            ("http://[::1]:8080", "::1", 8080, "http://[::1]:8080"),
            (" http://127.0.0.1:1 ", "127.0.0.1", 1, "http://127.0.0.1:1"),
        ] {
            let proxy = Proxy::parse(text).unwrap();
            assert_eq!((proxy.host.as_str(), proxy.port, proxy.authorization.as_deref()), (host, port, None));
            assert_eq!(proxy.to_string(), shown);
        }
        let proxy = Proxy::parse("http://me:p%40ss@proxy:3128").unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        assert_eq!(
            format!("{proxy} {proxy:?}"),
            "http://proxy:3128 Proxy(http://proxy:3128, with a password)"
        );
    }

    #[test]
    fn what_is_no_proxy_says_what_would_be_without_its_password() {
        for (bad, why) in [
            ("", "begins with http://"),
            ("proxy:3128", "begins with http://"),
            ("https://proxy:3128", "without TLS"),
            ("socks5://proxy:1080", "SOCKS"),
            ("http://proxy", "no port"),
            ("http://me:hunter2@proxy", "no port"),
            ("http://[::1]", "no port"),
            ("http://proxy:0", "cannot be"),
            ("http://proxy:99999", "no port"),
            ("http://:3128", "cannot be"),
            ("http://proxy:3128/path", "alone"),
            ("http://me:hunter2@proxy:3128/?x", "alone"),
        ] {
            let error = Proxy::parse(bad).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("write http://HOST:PORT"), "{bad}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_key_does_not_show() {
        let key = Pem { file: "a.key".to_owned(), bytes: b"MIIE-secret"[..].into() };
        assert_eq!(format!("{key:?}"), "Pem(a.key, 11 bytes)");
    }
}
