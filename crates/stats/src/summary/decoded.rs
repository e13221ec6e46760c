//! Responses whose bodies were decoded (Content-Encoding).

use serde::{Deserialize, Serialize};

/// Bodies that were decoded, and their bytes in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Decoded {
    /// How many.
    pub n: u64,
    /// Bytes as they came, without heads.
    pub encoded_bytes: u64,
    /// Bytes as checks saw them.
    pub decoded_bytes: u64,
}
