//! Reads what a later version may have written otherwise.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// What this version knows; none where it is null, or of another version.
pub(super) fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<T> {
        Known(T),
        Other(IgnoredAny),
    }
    Ok(match Option::<Written<T>>::deserialize(from)? {
        Some(Written::Known(known)) => Some(known),
        Some(Written::Other(_)) | None => None,
    })
}
