//! The variables of the environment by which object_store finds a store, checked before it reads them: it panics at some, and lets others mean their opposite.
//!
//! A value is never repeated: it may be a secret.

use super::super::address::BUCKETS;
use headway_live::service::ureq::http::{HeaderValue, Uri};
use headway_workload::redact::Redactor;
use object_store::ClientConfigKey;
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;
use std::ffi::OsString;
use thiserror::Error;
use url::Url;

/// What means yes, and what no, in any case.
const YES: [&str; 4] = ["true", "1", "yes", "on"];
const NO: [&str; 4] = ["false", "0", "no", "off"];

/// A variable that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{variable}: {wrong}; its value is not shown")]
pub(super) struct Unusable {
    variable: String,
    wrong: Wrong,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum Wrong {
    #[error("it is not UTF-8: write text")]
    Text,
    #[error(
        "it has a character that no header may have: write it without line breaks and other control characters"
    )]
    Header,
    #[error(
        "it is no URL of a server: write http://host:port or https://host:port, other characters as %20 and the like"
    )]
    Url,
    #[error("it says neither yes nor no: write true (1, yes, on) or false (0, no, off)")]
    Switch,
}

/// What the environment says of a provider's stores.
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// Whether plain HTTP is allowed.
    pub(super) http: bool,
    /// Knows the values that may be secrets.
    pub(super) redactor: Redactor,
}

/// What a variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Whether plain HTTP is allowed.
    Http,
    Url,
    /// The name of a file, or a document of several lines: it stands in no header.
    Free,
    Secret,
    Plain,
}

/// What the variable of that name holds, if the provider of that scheme has such a one.
fn kind(scheme: &str, name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let of_client = |key: ClientConfigKey| match key {
        ClientConfigKey::AllowHttp => Kind::Http,
        // Not heeded here: no proxy is used.
        ClientConfigKey::ProxyCaCertificate => Kind::Free,
        _ => Kind::Plain,
    };
    Some(match scheme {
        "gs" => match name.starts_with("google_").then(|| name.parse())?.ok()? {
            GoogleConfigKey::Client(key) => of_client(key),
            GoogleConfigKey::BaseUrl => Kind::Url,
            GoogleConfigKey::BearerToken => Kind::Secret,
            GoogleConfigKey::ServiceAccount
            | GoogleConfigKey::ServiceAccountKey
            | GoogleConfigKey::ApplicationCredentials => Kind::Free,
            _ => Kind::Plain,
        },
        "az" => match name.starts_with("azure_").then(|| name.parse())?.ok()? {
            AzureConfigKey::Client(key) => of_client(key),
            AzureConfigKey::Endpoint
            | AzureConfigKey::MsiEndpoint
            | AzureConfigKey::AuthorityHost
            | AzureConfigKey::FabricTokenServiceUrl => Kind::Url,
            AzureConfigKey::AccessKey
            | AzureConfigKey::ClientSecret
            | AzureConfigKey::SasKey
            | AzureConfigKey::Token
            | AzureConfigKey::FabricSessionToken
            | AzureConfigKey::EncryptionKey => Kind::Secret,
            AzureConfigKey::FederatedTokenFile => Kind::Free,
            _ => Kind::Plain,
        },
        _ => match name.starts_with("aws_").then(|| name.parse())?.ok()? {
            AmazonS3ConfigKey::Client(key) => of_client(key),
            AmazonS3ConfigKey::Endpoint
            | AmazonS3ConfigKey::S3Endpoint
            | AmazonS3ConfigKey::StsEndpoint
            | AmazonS3ConfigKey::MetadataEndpoint
            | AmazonS3ConfigKey::ContainerCredentialsFullUri => Kind::Url,
            AmazonS3ConfigKey::AccessKeyId
            | AmazonS3ConfigKey::SecretAccessKey
            | AmazonS3ConfigKey::Token => Kind::Secret,
            AmazonS3ConfigKey::WebIdentityTokenFile | AmazonS3ConfigKey::ContainerAuthorizationTokenFile => {
                Kind::Free
            }
            _ => Kind::Plain,
        },
    })
}

/// Reads the variables that object_store reads of the provider of that scheme.
///
/// # Errors
/// The first variable that cannot be used.
pub(super) fn read(
    scheme: &str,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Environment, Unusable> {
    debug_assert!(BUCKETS.contains(&scheme), "{scheme}");
    let mut environment = Environment::default();
    for (name, value) in variables {
        let Some((variable, kind)) = name.to_str().and_then(|name| Some((name, kind(scheme, name)?))) else {
            continue;
        };
        let unusable = |wrong| Unusable { variable: variable.to_owned(), wrong };
        let value = value.to_str().ok_or(unusable(Wrong::Text))?;
        match kind {
            Kind::Free => continue,
            Kind::Http if YES.iter().any(|yes| value.eq_ignore_ascii_case(yes)) => environment.http = true,
            Kind::Http if NO.iter().any(|no| value.eq_ignore_ascii_case(no)) => {}
            Kind::Http => return Err(unusable(Wrong::Switch)),
            Kind::Url if !is_server(value) => return Err(unusable(Wrong::Url)),
            Kind::Url => environment.redactor.know_url(value),
            Kind::Secret | Kind::Plain if HeaderValue::from_str(value).is_err() => {
                return Err(unusable(Wrong::Header));
            }
            Kind::Secret => environment.redactor.know(value),
            Kind::Plain => {}
        }
    }
    Ok(environment)
}

/// Whether both parsers that object_store gives it to take it.
fn is_server(value: &str) -> bool {
    let is_http = |url: &Url| ["http", "https"].contains(&url.scheme()) && url.has_host();
    Url::parse(value).is_ok_and(|url| is_http(&url))
        && value.parse::<Uri>().is_ok_and(|uri| uri.host().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scheme: &str, name: &str, value: &str) -> Result<Environment, String> {
        read(scheme, [(name.into(), value.into())].into_iter()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_used_is_named_and_never_repeated() {
        for (scheme, name, value, told) in [
            ("s3", "AWS_ENDPOINT", "localhost:15055", "no URL of a server"),
            ("s3", "AWS_ENDPOINT", "nonsense", "no URL of a server"),
            ("s3", "AWS_ENDPOINT_URL", "", "no URL of a server"),
            ("s3", "AWS_ENDPOINT", "http://user:pass word@127.0.0.1:1", "no URL of a server"),
            ("s3", "AWS_ENDPOINT_URL_S3", "http://127.0.0.1:99999", "no URL of a server"),
            ("s3", "AWS_SESSION_TOKEN", "word\n", "no header may have"),
            ("s3", "AWS_ACCESS_KEY_ID", "wo\nrd", "no header may have"),
            ("s3", "AWS_REGION", "eu\n1", "no header may have"),
            ("gs", "GOOGLE_BASE_URL", "storage", "no URL of a server"),
            ("gs", "GOOGLE_BEARER_TOKEN", "wo\trd\r", "no header may have"),
            ("az", "AZURE_STORAGE_ENDPOINT", "ftp://host", "no URL of a server"),
            ("az", "AZURE_STORAGE_SAS_KEY", "wo\nrd", "no header may have"),
        ] {
            let error = of(scheme, name, value).unwrap_err();
            assert!(error.starts_with(&format!("{name}: ")) && error.contains(told), "{error}");
            assert!(value.len() < 4 || !error.contains(value.trim()), "{error}");
        }
        for (scheme, name, value) in [
            ("s3", "AWS_ENDPOINT", "http://127.0.0.1:15055"),
            ("s3", "AWS_ENDPOINT", "https://[::1]:9000/path/"),
            ("s3", "AWS_WEB_IDENTITY_TOKEN_FILE", "/home/jörg/token"),
            ("s3", "AWS_PROFILE", "of\nno concern"),
            ("s3", "GOOGLE_BASE_URL", "of another provider"),
            ("gs", "GOOGLE_SERVICE_ACCOUNT_KEY", "{\n}"),
        ] {
            assert!(of(scheme, name, value).is_ok(), "{name}={value}");
        }
    }

    #[test]
    fn plain_http_is_allowed_by_what_means_yes_and_by_nothing_else() {
        for (scheme, name) in
            [("s3", "AWS_ALLOW_HTTP"), ("gs", "GOOGLE_ALLOW_HTTP"), ("az", "AZURE_ALLOW_HTTP")]
        {
            for yes in ["true", "TRUE", "1", "yes", "On"] {
                assert!(of(scheme, name, yes).unwrap().http, "{yes}");
            }
            for no in ["false", "FALSE", "0", "no", "off"] {
                assert!(!of(scheme, name, no).unwrap().http, "{no}");
            }
            for neither in ["", "maybe", " true", "2"] {
                let error = of(scheme, name, neither).unwrap_err();
                assert!(error.contains("neither yes nor no"), "{error}");
            }
            assert!(!of(scheme, "HOME", "/").unwrap().http);
        }
    }
}
