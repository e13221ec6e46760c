//! TLS between the socket and the wire protocol: rustls, fed by hand.
//!
//! Verified against the authorities that are given, or the system's (those that `SSL_CERT_FILE` names), unless the user switched
//! that off. Sessions are not resumed unless that is asked for: independent users have not been here before.

mod pem;

use headway_base::KnownFailure;
use headway_workload::connect::{Pem, Tls};
use pem::{certificates, key};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use std::io::{self, Read, Write};
use std::sync::Arc;
use thiserror::Error;

/// TLS that cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// No root certificate to verify against.
    #[error(
        "no trusted root certificates were found{0}; name them by --cacert FILE or SSL_CERT_FILE, or give -k to skip verification"
    )]
    NoRoots(String),
    /// A file of certificates or keys that holds something else, or is damaged.
    #[error("{flag} {file}: {why}")]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        file: String,
        /// What is wrong, and what would be accepted.
        why: String,
    },
    /// The key is not that of the certificate.
    #[error(
        "--key {key}: it does not belong to the certificate of --cert {cert}; give the key that the certificate was made for \
         (`openssl pkey -in {key} -pubout` and `openssl x509 -in {cert} -noout -pubkey` print the same then)"
    )]
    OtherKey {
        /// The file of the key.
        key: String,
        /// The file of the certificate.
        cert: String,
    },
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
    /// Whether the target gets a certificate if it asks for one.
    certified: bool,
}

impl TlsSetup {
    /// TLS towards `host`, or the name that `tls` indicates in its place. `insecure`: accept any certificate.
    ///
    /// # Errors
    /// No roots to verify against, a host that no certificate can name, or a file of `tls` that cannot be used.
    pub fn new(host: &str, insecure: bool, tls: &Tls) -> Result<TlsSetup, TlsError> {
        let host = tls.sni.as_deref().unwrap_or(host);
        let mut setup = TlsSetup::verifying(host, insecure, tls.cacert.as_ref())?;
        if let Some(cert) = &tls.cert {
            let (chain, key) = (certificates("--cert", cert)?, key(cert, tls.key.as_ref())?);
            let known = pem::certified(chain, key, setup.config.crypto_provider(), cert, tls.key.as_ref())?;
            Arc::make_mut(&mut setup.config).client_auth_cert_resolver = known;
            setup.certified = true;
        }
        if tls.resumption {
            Arc::make_mut(&mut setup.config).resumption = Resumption::default();
        }
        Ok(setup)
    }

    fn verifying(host: &str, insecure: bool, cacert: Option<&Pem>) -> Result<TlsSetup, TlsError> {
        let given = cacert.map(roots_of).transpose()?;
        if insecure {
            return TlsSetup::with_verifier(host, |provider| Ok(Arc::new(NoVerification(provider))));
        }
        if let Some((roots, named)) = given {
            return TlsSetup::with_verifier(host, |provider| {
                let inner = by_roots(roots, provider)?;
                Ok(Arc::new(OwnCertificate { inner, named }))
            });
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
        TlsSetup::with_verifier(host, |provider| by_roots(roots, provider))
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
        Ok(TlsSetup { config: Arc::new(config), name, certified: false })
    }

    /// The same, offering these protocols (ALPN), preferred first.
    #[must_use]
    pub(crate) fn offering(&self, protocols: Vec<Vec<u8>>) -> TlsSetup {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = protocols;
        TlsSetup { config: Arc::new(config), name: self.name.clone(), certified: self.certified }
    }

    /// Whether the target refused a connection for the certificate of this client, or for want of one. By the alerts of RFC 8446, 6.2,
    /// and of Go, which says bad_certificate for want of one in TLS 1.2.
    pub(crate) fn refused_client(&self, error: &rustls::Error) -> Option<KnownFailure> {
        use AlertDescription as Alert;
        let rustls::Error::AlertReceived(alert) = error else { return None };
        match (alert, self.certified) {
            (Alert::CertificateRequired, _) | (Alert::BadCertificate, false) => {
                Some(KnownFailure::ClientCertificateMissing)
            }
            (
                Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::UnknownCA
                | Alert::AccessDenied,
                true,
            ) => Some(KnownFailure::ClientCertificateRefused),
            _ => None,
        }
    }

    /// What is to be said of a handshake that the two sides could not agree on: what was offered, and what the other side said; and of a
    /// certificate of an authority.
    pub(crate) fn disagreed(&self, error: &rustls::Error) -> Option<String> {
        use AlertDescription as Alert;
        if is_of_authority(error) {
            return Some(
                "the server's own certificate is that of an authority (CA:TRUE), and none that --cacert names: give it there, or \
                 make it with -addext basicConstraints=critical,CA:FALSE"
                    .to_owned(),
            );
        }
        let agreeable = match error {
            rustls::Error::AlertReceived(alert) => !matches!(
                alert,
                Alert::HandshakeFailure
                    | Alert::ProtocolVersion
                    | Alert::InsufficientSecurity
                    | Alert::IllegalParameter
                    | Alert::UnrecognisedName
            ),
            rustls::Error::PeerIncompatible(_) => false,
            _ => true,
        };
        if agreeable {
            return None;
        }
        let provider = self.config.crypto_provider();
        let groups: Vec<String> =
            provider.kx_groups.iter().map(|group| format!("{:?}", group.name())).collect();
        let protocols: Vec<_> =
            self.config.alpn_protocols.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let protocols =
            if protocols.is_empty() { String::new() } else { format!(", ALPN {}", protocols.join(" and ")) };
        let name = self.name.to_str();
        Some(format!(
            "{error}; offered were TLS 1.3 and 1.2 with {} cipher suites and the groups {}, for the name {name}{protocols}",
            provider.cipher_suites.len(),
            groups.join(", ")
        ))
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

/// The authorities that the file of `--cacert` names; they are looked at even where nothing is verified.
fn roots_of(cacert: &Pem) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsError> {
    let mut roots = RootCertStore::empty();
    let named = certificates("--cacert", cacert)?;
    for certificate in &named {
        roots.add(certificate.clone()).map_err(|error| pem::wrong("--cacert", cacert, &error))?;
    }
    Ok((roots, named))
}

/// Verifies against these roots.
fn by_roots(
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    Ok(verifier.build().map_err(|e| rustls::Error::General(e.to_string()))?)
}

/// Takes a certificate of an authority for the target's own as well, where it is byte for byte one that was named: so does
/// `openssl req -x509` make one for a test server. All else is as ever.
#[derive(Debug)]
struct OwnCertificate {
    inner: Arc<dyn ServerCertVerifier>,
    named: Vec<CertificateDer<'static>>,
}

/// Whether a certificate was refused for nothing but being one of an authority. Its dates were looked at before.
fn is_of_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(why)) = error else { return false };
    format!("{:?}", why.0) == "CaUsedAsEndEntity"
}

impl ServerCertVerifier for OwnCertificate {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.inner.verify_server_cert(own, between, name, ocsp, now) {
            Err(error) if is_of_authority(&error) && self.named.iter().any(|named| named == own) => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
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
