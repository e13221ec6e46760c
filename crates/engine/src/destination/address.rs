//! Where a destination is, as it is typed.

use super::Store;
use super::folder::Folder;
use crate::Error;
use anyhow::anyhow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Schemes of addresses that are buckets: S3, Google Cloud Storage, Azure Blob Storage.
pub(super) const BUCKETS: [&str; 3] = ["s3", "gs", "az"];

/// Where a destination is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A folder.
    Folder(PathBuf),
    /// A bucket and a prefix in it, as a URL.
    Bucket(String),
}

impl Address {
    /// Reads the name of a folder, or `s3://bucket/prefix`, `gs://`, `az://`.
    ///
    /// # Errors
    /// A URL of another scheme, without a bucket, or with more in it than bucket and prefix: it may be a secret, and is not repeated.
    pub fn parse(path: &Path) -> Result<Address, Error> {
        let Some((scheme, url)) = path.to_str().and_then(|text| Some((text.split_once("://")?.0, text)))
        else {
            return Ok(Address::Folder(path.to_owned()));
        };
        let refused = |why: &str| Err(Error::usage(anyhow!("{scheme}://...: {why}")));
        if !BUCKETS.contains(&scheme) {
            return refused("write the name of a folder, or s3://bucket/prefix (gs://, az://)");
        }
        let (bucket, prefix) = split(url);
        match () {
            () if bucket.contains(['@', ':']) => refused(
                "a bucket is named without user, password or port: credentials and endpoint are variables of the environment (AWS_*, \
                 GOOGLE_*, AZURE_*)",
            ),
            () if url.contains(['?', '#']) => refused(
                "a bucket is named without a query: credentials are variables of the environment (AWS_*, GOOGLE_*, AZURE_*)",
            ),
            () if bucket.is_empty() || prefix.split('/').any(|part| ["", ".", ".."].contains(&part)) => {
                refused("write s3://bucket/prefix, as in s3://load-tests/run42 (gs://, az://)")
            }
            () => Ok(Address::Bucket(url.trim_end_matches('/').to_owned())),
        }
    }

    /// Opens it. Nothing is read or written.
    ///
    /// # Errors
    /// It is a bucket that cannot be used.
    pub fn open(&self) -> Result<Arc<dyn Store>, Error> {
        match self {
            Address::Folder(path) => Ok(Arc::new(Folder::new(path))),
            Address::Bucket(url) => bucket(url),
        }
    }
}

/// Bucket and prefix of its URL.
fn split(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/');
    rest.split_once('/').unwrap_or((rest, ""))
}

#[cfg(feature = "bucket")]
fn bucket(url: &str) -> Result<Arc<dyn Store>, Error> {
    let (scheme, (bucket, prefix)) = (url.split_once("://").map_or("", |(scheme, _)| scheme), split(url));
    let opened = super::bucket::Bucket::open(scheme, bucket, prefix);
    opened
        .map(|store| Arc::new(store) as Arc<dyn Store>)
        .map_err(|error| Error::usage(error.context(url.to_owned())))
}

#[cfg(not(feature = "bucket"))]
fn bucket(url: &str) -> Result<Arc<dyn Store>, Error> {
    Err(Error::usage(anyhow!("{url}: {}", headway_base::not_built("buckets", "bucket"))))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Folder(path) => path.display().fmt(f),
            Address::Bucket(url) => f.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_buckets_are_told_apart_and_what_may_be_a_secret_is_not_repeated() {
        let parsed = |text: &str| Address::parse(Path::new(text));
        assert_eq!(parsed("runs/a").unwrap(), Address::Folder("runs/a".into()));
        for (text, url) in [
            ("s3://load-tests/run42", "s3://load-tests/run42"),
            ("gs://load-tests/a/b/", "gs://load-tests/a/b"),
            ("az://container/run@noon", "az://container/run@noon"),
        ] {
            assert_eq!(parsed(text).unwrap(), Address::Bucket(url.to_owned()));
        }
        for (text, told) in [
            ("s3://user:word@load-tests/run42", "s3://...: a bucket is named without user, password or port"),
            ("s3://load-tests/run42?X-Amz-Signature=word", "s3://...: a bucket is named without a query"),
            (
                "https://load-tests.s3.test/run42?sig=word",
                "https://...: write the name of a folder, or s3://",
            ),
            ("s3://load-tests", "write s3://bucket/prefix"),
            ("s3:///run42", "write s3://bucket/prefix"),
            ("s3://load-tests/a/../b", "write s3://bucket/prefix"),
        ] {
            let Err(Error::Usage(error)) = parsed(text) else { panic!("{text} is taken") };
            let said = error.to_string();
            assert!(said.contains(told) && !said.contains("word@") && !said.contains("=word"), "{said}");
        }
    }
}
