//! Where a destination is, as it is typed.

use super::Store;
use super::folder::Folder;
use crate::Error;
use anyhow::anyhow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Schemes of addresses that are buckets: S3, Google Cloud Storage, Azure Blob Storage.
const BUCKETS: [&str; 3] = ["s3", "gs", "az"];

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
    /// A URL of another scheme.
    pub fn parse(path: &Path) -> Result<Address, Error> {
        let Some((scheme, url)) = path.to_str().and_then(|text| Some((text.split_once("://")?.0, text)))
        else {
            return Ok(Address::Folder(path.to_owned()));
        };
        match BUCKETS.contains(&scheme) {
            true => Ok(Address::Bucket(url.to_owned())),
            false => Err(Error::usage(anyhow!("{scheme}://...: write the name of a folder"))),
        }
    }

    /// Opens it. Nothing is read or written.
    ///
    /// # Errors
    /// It is a bucket that cannot be used.
    pub fn open(&self) -> Result<Arc<dyn Store>, Error> {
        match self {
            Address::Folder(path) => Ok(Arc::new(Folder::new(path))),
            Address::Bucket(_) => Err(Error::usage(anyhow!(
                "{self}: buckets are no destinations yet: write the name of a folder that all machines share"
            ))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Folder(path) => path.display().fmt(f),
            Address::Bucket(url) => f.write_str(url),
        }
    }
}
