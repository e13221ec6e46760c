//! Certificates made for the occasion, and a TLS server that plays a script on each connection.

use crate::scripted::Scripted;
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

    /// A server with a certificate of this authority.
    pub fn server(
        &self,
        certificate: Certificate,
        script: impl Fn(&mut TlsStream) + Send + Sync + 'static,
    ) -> Scripted {
        serve(self.config(certificate, rustls::ALL_VERSIONS), script)
    }
}

pub fn serve(config: Arc<ServerConfig>, script: impl Fn(&mut TlsStream) + Send + Sync + 'static) -> Scripted {
    Scripted::new(move |_, stream| {
        let connection = ServerConnection::new(config.clone()).unwrap();
        script(&mut StreamOwned::new(connection, stream));
    })
}
