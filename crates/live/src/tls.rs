//! TLS between the socket and the wire protocol: rustls, fed by hand.
//!
//! Verified against the system's roots (or those that `SSL_CERT_FILE` names) unless the user switched that off. Sessions
//! are not resumed: independent users have not been here before.

use headway_base::KnownFailure;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use std::io::{self, Read, Write};
use std::sync::Arc;
use thiserror::Error;

/// TLS that cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// No root certificate to verify against.
    #[error("no trusted root certificates were found{0}; set SSL_CERT_FILE, or give -k to skip verification")]
    NoRoots(String),
    /// The host is neither a DNS name nor an address.
    #[error("'{0}' is not a name that a certificate can be checked against")]
    Name(String),
    /// The library refused the configuration.
    #[error("TLS cannot be set up: {0}")]
    Config(#[from] rustls::Error),
}

/// What every connection of a run shares.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsSetup {
    /// TLS towards `host`. `insecure`: accept any certificate.
    ///
    /// # Errors
    /// No roots to verify against, or a host that no certificate can name.
    pub fn new(host: &str, insecure: bool) -> Result<TlsSetup, TlsError> {
        if insecure {
            return TlsSetup::with_verifier(host, |provider| Ok(Arc::new(NoVerification(provider))));
        }
        let loaded = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(loaded.certs);
        if roots.is_empty() {
            let why = loaded.errors.first().map(|e| format!(" ({e})")).unwrap_or_default();
            return Err(TlsError::NoRoots(why));
        }
        TlsSetup::with_roots(host, roots)
    }

    /// TLS towards `host`, verified against these roots.
    ///
    /// # Errors
    /// A host that no certificate can name, or no roots.
    pub fn with_roots(host: &str, roots: RootCertStore) -> Result<TlsSetup, TlsError> {
        TlsSetup::with_verifier(host, |provider| {
            let verifier =
                rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|e| rustls::Error::General(e.to_string()))?;
            Ok(verifier as Arc<dyn ServerCertVerifier>)
        })
    }

    fn with_verifier(
        host: &str,
        verifier: impl FnOnce(Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error>,
    ) -> Result<TlsSetup, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = verifier(provider.clone())?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name(host.to_owned()))?;
        Ok(TlsSetup { config: Arc::new(config), name })
    }

    /// The same, offering these protocols (ALPN), preferred first.
    #[must_use]
    pub(crate) fn offering(&self, protocols: Vec<Vec<u8>>) -> TlsSetup {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = protocols;
        TlsSetup { config: Arc::new(config), name: self.name.clone() }
    }

    /// A session for a new connection.
    pub(crate) fn session(&self) -> Result<Session, rustls::Error> {
        Ok(Session { tls: ClientConnection::new(self.config.clone(), self.name.clone())? })
    }
}

/// One connection's TLS.
#[derive(Debug)]
pub(crate) struct Session {
    tls: ClientConnection,
}

/// Whether more can come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inbound {
    Open,
    /// The peer said in TLS that it will send no more.
    Closed,
}

impl Session {
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// The protocol that was agreed on (ALPN), if one was.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }

    /// Takes in what the socket received and appends the plain bytes to `plain`, also those before an error.
    pub(crate) fn receive(
        &mut self,
        mut bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<Inbound, rustls::Error> {
        while !bytes.is_empty() {
            let taken = self.tls.read_tls(&mut bytes).map_err(|e| rustls::Error::General(e.to_string()))?;
            let state = match self.tls.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // It ends by saying that there is no more yet.
                    let _ = self.tls.reader().read_to_end(plain);
                    return Err(error);
                }
            };
            let from = plain.len();
            plain.resize(from + state.plaintext_bytes_to_read(), 0);
            self.tls
                .reader()
                .read_exact(&mut plain[from..])
                .map_err(|e| rustls::Error::General(e.to_string()))?;
            if state.peer_has_closed() || taken == 0 {
                return Ok(Inbound::Closed);
            }
        }
        Ok(Inbound::Open)
    }

    /// Encrypts plain bytes; [`transmit`](Session::transmit) then has more.
    pub(crate) fn send(&mut self, plain: &[u8]) -> io::Result<()> {
        self.tls.set_buffer_limit(None);
        self.tls.writer().write_all(plain)
    }

    /// Appends what is to go out on the socket.
    pub(crate) fn transmit(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(out)?;
        }
        Ok(())
    }
}

/// Whether the target refuses all protocols that were offered (ALPN).
pub(crate) fn refuses_protocols(error: &rustls::Error) -> bool {
    matches!(
        error,
        rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol)
            | rustls::Error::NoApplicationProtocol
    )
}

/// Content types of TLS records, 20 (change_cipher_spec) to 23 (application_data): RFC 8446, 5.1.
const RECORD_TYPES: std::ops::RangeInclusive<u8> = 20..=23;

/// Why the handshake failed, where there is advice on it: the target's certificate, or an answer without TLS. `first` is the
/// first byte that came.
pub(crate) fn failure_kind(error: &rustls::Error, first: Option<u8>) -> Option<KnownFailure> {
    use CertificateError as Of;
    let why = match error {
        rustls::Error::InvalidCertificate(why) => why,
        rustls::Error::InvalidMessage(_) if first.is_some_and(|byte| !RECORD_TYPES.contains(&byte)) => {
            return Some(KnownFailure::WithoutTls);
        }
        _ => return None,
    };
    Some(match why {
        Of::Expired | Of::ExpiredContext { .. } | Of::NotValidYet | Of::NotValidYetContext { .. } => {
            KnownFailure::CertificateExpired
        }
        Of::NotValidForName | Of::NotValidForNameContext { .. } => KnownFailure::CertificateName,
        _ => KnownFailure::CertificateUntrusted,
    })
}

/// For `-k`: any certificate will do, but the handshake's signatures are still checked.
#[derive(Debug)]
struct NoVerification(Arc<CryptoProvider>);

impl ServerCertVerifier for NoVerification {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
