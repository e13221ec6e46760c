//! Files of certificates and keys (PEM, RFC 7468), with what is wrong with one that cannot be used.

use super::TlsError;
use headway_workload::connect::Pem;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys};
use std::sync::Arc;

const BEGIN: &str = "-----BEGIN ";

/// A file that cannot be used.
pub(super) fn wrong(flag: &'static str, pem: &Pem, why: &dyn std::fmt::Display) -> TlsError {
    TlsError::File { flag, file: pem.file.clone(), why: why.to_string() }
}

/// The certificates of a file, at least one.
pub(super) fn certificates(flag: &'static str, pem: &Pem) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    sections_are_whole(flag, pem)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.bytes).collect();
    let read = read.map_err(|error| wrong(flag, pem, &error))?;
    if read.is_empty() {
        let why = format!(
            "it holds no certificate, but {}; give a PEM file with -----BEGIN CERTIFICATE-----",
            found(pem)
        );
        return Err(wrong(flag, pem, &why));
    }
    Ok(read)
}

/// The key of a certificate: of its own file, or of that of the certificate.
pub(super) fn key(cert: &Pem, key: Option<&Pem>) -> Result<PrivateKeyDer<'static>, TlsError> {
    let (flag, pem) = key.map_or(("--cert", cert), |key| ("--key", key));
    sections_are_whole(flag, pem)?;
    let error = match PrivateKeyDer::from_pem_slice(&pem.bytes) {
        Ok(key) => return Ok(key),
        Err(error) => error,
    };
    let text = String::from_utf8_lossy(&pem.bytes);
    let why = if text.contains("ENCRYPTED") {
        format!(
            "the key is encrypted; write it without its passphrase: openssl pkey -in {} -out plain.key",
            pem.file
        )
    } else if text.contains("PRIVATE KEY-----") {
        error.to_string()
    } else if key.is_none() {
        "it holds a certificate without its key; give the key by --key FILE, or put it into the same file"
            .to_owned()
    } else {
        format!(
            "it holds no private key, but {}; give a PEM file with -----BEGIN PRIVATE KEY-----",
            found(pem)
        )
    };
    Err(wrong(flag, pem, &why))
}

/// The certificate and its key, for a target that asks.
pub(super) fn certified(
    chain: Vec<CertificateDer<'static>>,
    der: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
    cert: &Pem,
    key: Option<&Pem>,
) -> Result<Arc<dyn ResolvesClientCert>, TlsError> {
    let of_key = key.unwrap_or(cert);
    let known = CertifiedKey::from_der(chain, der, provider).map_err(|error| match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            TlsError::OtherKey { key: of_key.file.clone(), cert: cert.file.clone() }
        }
        error => wrong("--cert", cert, &format!("with the key of {}: {error}", of_key.file)),
    })?;
    Ok(Arc::new(SingleCertAndKey::from(known)))
}

/// What a file holds in place of what was wanted, without a word of its own: it may be a secret.
fn found(pem: &Pem) -> String {
    let text = String::from_utf8_lossy(&pem.bytes);
    let labels: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix("-----")).collect();
    match (labels.first(), pem.bytes.first()) {
        (Some(label), _) => format!("-----BEGIN {label}-----"),
        (None, None) => "nothing".to_owned(),
        // The beginning of a SEQUENCE.
        (None, Some(0x30)) => {
            "what looks like DER (openssl x509 or openssl pkey with -inform der makes PEM of it)".to_owned()
        }
        (None, Some(_)) => "no line that begins with -----BEGIN".to_owned(),
    }
}

/// Every section is read by itself, so that the line of a damaged one can be told.
fn sections_are_whole(flag: &'static str, pem: &Pem) -> Result<(), TlsError> {
    let text = String::from_utf8_lossy(&pem.bytes);
    let lines: Vec<&str> = text.lines().collect();
    let begins: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with(BEGIN)).collect();
    for (at, &from) in begins.iter().enumerate() {
        let to = begins.get(at + 1).copied().unwrap_or(lines.len());
        let section = lines[from..to].join("\n");
        let read = match section.contains("PRIVATE KEY-----") {
            true => PrivateKeyDer::pem_slice_iter(section.as_bytes()).next().and_then(Result::err),
            false => CertificateDer::pem_slice_iter(section.as_bytes()).next().and_then(Result::err),
        };
        if let Some(error) = read.filter(|_| !section.contains("ENCRYPTED")) {
            let why = format!("line {}: {error}; give the whole section, from {}", from + 1, lines[from]);
            return Err(wrong(flag, pem, &why));
        }
    }
    Ok(())
}
