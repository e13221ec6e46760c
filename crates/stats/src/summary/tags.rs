//! Enums that are written as tags: which finding ([`FindingId`](super::FindingId)), which rule ([`RuleId`](super::RuleId)). Code
//! compares these, never sentences. Deliberately absent: the tags, which stand with what they are of.
//!
//! A tag is data: it is written to documents and hashed by nobody, but readers of JSON rely on it. A rename is a new version of the
//! schema. Tags that this version does not know are kept as they were read.

/// An enum whose variants are written as tags, with one more for the tags of other versions.
macro_rules! tags {
    ($(#[$about:meta])* $name:ident { $($tag:literal $variant:ident $doc:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $(#[doc = $doc] $variant,)*
            /// A tag of another version.
            Other(String),
        }

        impl $name {
            /// Every tag that this version writes.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// What it says, in a few words; the tag itself where that is not known.
            pub fn meaning(&self) -> &str {
                match self {
                    $($name::$variant => $doc,)*
                    $name::Other(tag) => tag,
                }
            }

            /// The tag as the document has it.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $tag,)*
                    $name::Other(tag) => tag,
                }
            }
        }

        impl From<&str> for $name {
            fn from(tag: &str) -> $name {
                match tag {
                    $($tag => $name::$variant,)*
                    other => $name::Other(other.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(tag: String) -> $name {
                $name::from(tag.as_str())
            }
        }

        impl From<$name> for String {
            fn from(tag: $name) -> String {
                tag.as_str().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Default for $name {
            /// The tag of a document that has none.
            fn default() -> $name {
                $name::Other(String::new())
            }
        }
    };
}

pub(crate) use tags;

#[cfg(test)]
mod tests {
    use crate::summary::{FindingId, RuleId};

    #[test]
    fn every_tag_is_read_as_it_is_written() {
        let all: Vec<&str> = FindingId::ALL.iter().map(FindingId::as_str).collect();
        let findings: Vec<FindingId> = FindingId::ALL.iter().map(|id| id.as_str().into()).collect();
        let rules: Vec<RuleId> = RuleId::ALL.iter().map(|id| id.as_str().into()).collect();
        assert!(findings == FindingId::ALL && rules == RuleId::ALL);
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
        let other = FindingId::from("of-a-later-version");
        assert_eq!(
            (other.as_str(), &other),
            ("of-a-later-version", &FindingId::Other("of-a-later-version".into()))
        );
    }
}
