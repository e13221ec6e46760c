//! Text that has passed the gate.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// Text that may leave the process. Only a [`Redactor`](crate::Redactor) makes one of text that came from elsewhere; a field of this type cannot be
/// filled past the gate. Documents are read back as they were written: what stands in them has passed it.
///
/// ```compile_fail
/// let typed: String = std::env::args().collect();
/// let written: headway_redact::Cleared = typed.into();
/// ```
/// ```compile_fail
/// let typed: String = std::env::args().collect();
/// let written: headway_redact::Cleared = typed.as_str().into();
/// ```
/// ```
/// let mut gate = headway_redact::Redactor::default();
/// gate.know("s3cr3t-of-mine");
/// let written: headway_redact::Cleared = gate.clear("with s3cr3t-of-mine");
/// assert_eq!(written, "with <redacted>");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cleared(String);

impl Cleared {
    pub(crate) fn passed(text: impl Into<String>) -> Cleared {
        Cleared(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A word of this program's own.
impl From<&'static str> for Cleared {
    fn from(word: &'static str) -> Cleared {
        Cleared(word.to_owned())
    }
}

impl Deref for Cleared {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Cleared {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cleared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Cleared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<Cleared> for String {
    fn from(cleared: Cleared) -> String {
        cleared.0
    }
}

impl PartialEq<str> for Cleared {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Cleared {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
