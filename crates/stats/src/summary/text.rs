//! Sentences for people in a document.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// Sentences for people. The report makes them from types and numbers, and reading a document brings those that it holds; nothing
/// else has a way to make one, but for [`Text::by_report`].
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    /// What the report says. Only `headway_report` calls this; a test of the workspace (`cli/tests/architecture.rs`) holds that.
    pub fn by_report(sentences: impl Into<String>) -> Text {
        Text(sentences.into())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
