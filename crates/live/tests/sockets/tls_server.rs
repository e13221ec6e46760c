//! Certificates made for the occasion, and a TLS server that plays a script on each connection.

use crate::scripted::Scripted;
use headway_workload::connect::Pem;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use std::net::TcpStream;
use std::sync::Arc;

pub type TlsStream = StreamOwned<ServerConnection, TcpStream>;

/// An authority that nobody but these tests trusts.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

/// What a certificate says.
#[derive(Clone, Copy)]
pub struct Certificate {
    pub name: &'static str,
    pub expired: bool,
}

pub const GOOD: Certificate = Certificate { name: "localhost", expired: false };

impl Authority {
    pub fn new(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Authority { issuer: Issuer::new(params, key), certificate }
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        roots
    }

    pub fn config(
        &self,
        certificate: Certificate,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![certificate.name.to_owned()]).unwrap();
        if certificate.expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let chain = vec![params.signed_by(&key, &self.issuer).unwrap().der().clone()];
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
        Arc::new(config)
    }

    /// Another authority that is itself the certificate of a server, as `openssl req -x509` makes one.
    pub fn of_itself(certificate: Certificate) -> (Authority, Arc<ServerConfig>) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![certificate.name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        if certificate.expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let own = params.self_signed(&key).unwrap().der().clone();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
        (Authority { issuer: Issuer::new(params, key), certificate: own }, Arc::new(config))
    }

    /// It as a file of `--cacert`.
    pub fn pem(&self) -> Pem {
        let text = format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            base64(&self.certificate)
        );
        Pem { file: "c.pem".to_owned(), bytes: text.into_bytes().into() }
    }

    /// A server with a certificate of this authority.
    pub fn server(
        &self,
        certificate: Certificate,
        script: impl Fn(&mut TlsStream) + Send + Sync + 'static,
    ) -> Scripted {
        serve(self.config(certificate, rustls::ALL_VERSIONS), script)
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = (0..3).fold(0_usize, |bits, i| bits << 8 | usize::from(*group.get(i).unwrap_or(&0)));
        let letter =
            |i: usize| if i <= group.len() { char::from(LETTERS[bits >> (18 - 6 * i) & 63]) } else { '=' };
        (0..4).map(letter).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

pub fn serve(config: Arc<ServerConfig>, script: impl Fn(&mut TlsStream) + Send + Sync + 'static) -> Scripted {
    Scripted::new(move |_, stream| {
        let connection = ServerConnection::new(config.clone()).unwrap();
        script(&mut StreamOwned::new(connection, stream));
    })
}
