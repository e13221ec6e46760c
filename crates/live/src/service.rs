//! Requests over HTTP or HTTPS to services that are not the target: a collector of metrics, a store. They block: they are for a thread of
//! their own.
//!
//! The client is a library's; what is here is how it is set up. Certificates are verified against the system's roots, redirects are not
//! followed, and the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`, ...) are used as by other clients of such services.

pub use ureq;

use crate::tls::TlsError;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// Bytes of an answer that are read.
const MOST_ANSWER: u64 = 64 << 10;

/// How a client of such a service is set up. Without `tls` no certificate is trusted.
///
/// # Errors
/// With `tls`, no roots to verify certificates against.
pub fn config(tls: bool) -> Result<ConfigBuilder<ureq::typestate::AgentScope>, TlsError> {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::from(if tls { roots()? } else { Vec::new() }))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    Ok(Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("headway/", env!("CARGO_PKG_VERSION"))))
}

/// The system's roots.
fn roots() -> Result<Vec<Certificate<'static>>, TlsError> {
    let loaded = rustls_native_certs::load_native_certs();
    if loaded.certs.is_empty() {
        let why = loaded.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(TlsError::NoRoots(why));
    }
    Ok(loaded.certs.iter().map(|root| Certificate::from_der(root).to_owned()).collect())
}

/// One that posts to one URL. Its values do not show: headers may be secrets.
pub struct Poster {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// Why a document did not arrive, as far as is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotPosted {
    /// The service took it and answered with another status than one of 200 to 299.
    Status(u16),
    /// There was no whole answer in time.
    TimedOut,
    /// The service could not be reached, or broke off.
    Failed(String),
}

impl Poster {
    /// One that posts to `url` with these headers.
    ///
    /// # Errors
    /// A URL of HTTPS, and no roots to verify its certificate against.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Poster, TlsError> {
        let agent = config(url.starts_with("https:"))?.build().new_agent();
        Ok(Poster { agent, url: url.to_owned(), headers })
    }

    /// Posts a document; the body of the answer, the first 64 KiB of it.
    ///
    /// # Errors
    /// As [`NotPosted`] says.
    pub fn post(&self, kind: &str, body: &[u8], patience: Duration) -> Result<Vec<u8>, NotPosted> {
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        for (name, value) in
            self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).chain([("Content-Type", kind)])
        {
            request = request.header(name, value);
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => NotPosted::TimedOut,
            ureq::Error::Io(error) => NotPosted::Failed(error.to_string()),
            other => NotPosted::Failed(other.to_string()),
        };
        let mut answer = request.send(body).map_err(failed)?;
        if !answer.status().is_success() {
            return Err(NotPosted::Status(answer.status().as_u16()));
        }
        let mut bytes = Vec::new();
        let read = answer.body_mut().as_reader().take(MOST_ANSWER).read_to_end(&mut bytes);
        read.map_err(|error| failed(error.into()))?;
        Ok(bytes)
    }
}
