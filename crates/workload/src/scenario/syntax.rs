//! What is wrong with the YAML itself, in words for people who have never read its grammar.

use super::source::{Problem, Source, Span};
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Error, ExternalMessageSource};

/// The problem that an error of the parser stands for.
pub(super) fn problem(source: &Source, error: &Error) -> Problem {
    let error = error.without_snippet();
    let at = error.location().map_or(Span::default(), |location| super::tree::span(source, location));
    if let Some(tab) = tab_before(&source.text, at) {
        let help = "YAML allows only spaces for indentation: let your editor write spaces";
        return Problem::new(tab, "this line is indented with a tab").help(help);
    }
    let (title, help) = match error {
        Error::ExternalMessage { source, msg, .. } => match &**source {
            ExternalMessageSource::Parser(scan) => scanned(scan.kind(), msg),
            _ => (msg.clone(), INDENT),
        },
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => (
            "the file is nested too deep, has too many parts, or its aliases stand for too much".to_owned(),
            "large data belongs into files under data:",
        ),
        Error::UnknownAnchor { .. } => UNKNOWN_ANCHOR.map_title(),
        Error::MultipleDocuments { .. } => (
            "a second YAML document begins here (---)".to_owned(),
            "one file holds one scenario: cut it in two",
        ),
        Error::MergeValueNotMapOrSeqOfMaps { .. } => (
            "<< takes in another mapping, and this is none".to_owned(),
            "write <<: *name, where &name marks a mapping further up",
        ),
        Error::UnsupportedTag { .. } => {
            ("this tag (!...) means nothing here".to_owned(), "put a text that begins with ! in quotes")
        }
        Error::Eof { .. } => ("the file ends here, in the middle of something".to_owned(), INDENT),
        Error::Message { msg, .. } => (msg.clone(), INDENT),
        other => (other.to_string(), INDENT),
    };
    Problem::new(at, title).help(help)
}

const INDENT: &str = "keys of one mapping begin in the same column, values within it further right";
const QUOTES: &str = "put a text that holds ': ' or ' #', or begins with one of {[*&!|>%@`, in quotes";

struct Words(&'static str, &'static str);

impl Words {
    fn map_title(&self) -> (String, &'static str) {
        (self.0.to_owned(), self.1)
    }
}

const UNKNOWN_ANCHOR: Words = Words(
    "* refers to an anchor (&name) that is not there",
    "put a text that begins with * in quotes: \"*/*\"",
);

/// What the scanner found, as a title and what helps.
fn scanned(kind: &ErrorKind, message: &str) -> (String, &'static str) {
    let words = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            Words("a tab stands here", "YAML allows only spaces for indentation")
        }
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => UNKNOWN_ANCHOR,
        ErrorKind::MappingValueNotAllowed => {
            Words("a second ': ' on this line, or a wrong indentation", QUOTES)
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Words(
            "this is neither a key nor part of the value before it",
            "write key: value, with a space after the colon",
        ),
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            Words("this line is indented unlike its neighbours", INDENT)
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => Words(
            "a list and something else are mixed here",
            "each entry of a list begins with '- ', all in the same column",
        ),
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::UnexpectedEofFlowMapping => {
            Words("the { before this is not closed, or a comma is missing", "write { a: 1, b: 2 }")
        }
        ErrorKind::ExpectedFlowSequenceSeparator | ErrorKind::UnexpectedEofFlowSequence => {
            Words("the [ before this is not closed, or a comma is missing", "write [a, b]")
        }
        ErrorKind::UnclosedFlowCollection { .. } => {
            Words("this bracket is not closed", "write { a: 1, b: 2 } or [a, b]")
        }
        ErrorKind::MismatchedFlowCollectionEnd { .. } | ErrorKind::MisplacedFlowCollectionEnd => {
            Words("this bracket closes nothing that is open", QUOTES)
        }
        ErrorKind::UnclosedQuotedScalar => Words(
            "this quote is not closed",
            "a ' within '...' is written '', a \" within \"...\" is written \\\"",
        ),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => Words(
            "something follows the closing quote",
            "put the whole text in quotes; a ' within '...' is written ''",
        ),
        ErrorKind::UnknownQuotedScalarEscape => Words(
            "this \\ begins no escape that YAML knows",
            "put regular expressions in single quotes, where \\ stands for itself",
        ),
        ErrorKind::UnexpectedCharacter { .. } => Words("no value begins with this character", QUOTES),
        _ => return (message.to_owned(), INDENT),
    };
    words.map_title()
}

/// A tab in the indentation of the line of that place, or of the line before.
fn tab_before(text: &str, at: Span) -> Option<Span> {
    let line_of = |at: usize| {
        text.as_bytes()[..at.min(text.len())].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1)
    };
    let here = line_of(at.start);
    [here, line_of(here.saturating_sub(1))].into_iter().find_map(|start| {
        let indent = text.as_bytes()[start..].iter().take_while(|b| **b == b' ' || **b == b'\t').count();
        let tab = text.as_bytes()[start..start + indent].iter().position(|&b| b == b'\t')?;
        Some(Span { start: start + tab, end: start + tab + 1 })
    })
}
