//! Text that has passed the gate.

use serde::{Deserialize, Serialize};
use std::borrow::{Borrow, Cow};
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

/// A text past the gate that knows names of secrets, and no values: for paths, for what other tools wrote, and for what was made of documents
/// that were read back. Where values are known, a [`Redactor`](crate::Redactor) that has them is the gate.
pub fn clear(text: &str) -> Cleared {
    crate::Redactor::default().clear(text)
}

impl Cleared {
    pub(crate) fn passed(text: impl Into<String>) -> Cleared {
        Cleared(text.into())
    }

    /// This text, followed by words of this program's own.
    #[must_use = "the text itself stays as it was"]
    pub fn and(&self, words: &'static str) -> Cleared {
        Cleared(format!("{}{words}", self.0))
    }

    /// These texts, one after the other.
    pub fn concat(texts: &[Cleared]) -> Cleared {
        Cleared(texts.iter().map(Cleared::as_str).collect())
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

/// A number of this program's own.
impl From<usize> for Cleared {
    fn from(number: usize) -> Cleared {
        Cleared(number.to_string())
    }
}

impl Deref for Cleared {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Cleared {
    fn as_ref(&self) -> &str {
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

impl From<&Cleared> for String {
    fn from(cleared: &Cleared) -> String {
        cleared.0.clone()
    }
}

impl From<Cleared> for Cow<'_, str> {
    fn from(cleared: Cleared) -> Self {
        Cow::Owned(cleared.0)
    }
}

impl PartialEq<str> for Cleared {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<String> for Cleared {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Cleared> for String {
    fn eq(&self, other: &Cleared) -> bool {
        *self == other.0
    }
}

impl PartialEq<Cleared> for str {
    fn eq(&self, other: &Cleared) -> bool {
        *self == other.0
    }
}

impl PartialEq<&str> for Cleared {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
