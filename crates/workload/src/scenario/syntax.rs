//! What is wrong with the YAML itself, in words for people who have never read its grammar.

use super::source::{Problem, Source, Span};
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Error, ExternalMessageSource};

/// The problem that an error of the parser stands for.
pub(super) fn problem(source: &Source, error: &Error) -> Problem {
    let error = match error.without_snippet() {
        Error::AliasError { error, .. } => error,
        error => error,
    };
    let at = error.location().map_or(Span::default(), |location| super::tree::span(source, location));
    if let Some(tab) = tab_before(&source.text, at) {
        let help = "YAML allows only spaces for indentation: let your editor write spaces";
        return Problem::new(tab, "this line is indented with a tab").help(help);
    }
    match error {
        Error::ExternalMessage { source: external, msg, .. } => match &**external {
            ExternalMessageSource::Parser(scan) => scanned(&source.text, at, scan.kind(), msg),
            _ => Problem::new(at, msg.as_str()).help(INDENT),
        },
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            let title = "the file is nested too deep, has too many parts, or its aliases stand for too much";
            Problem::new(at, title).help("large data belongs into files under data:")
        }
        Error::UnknownAnchor { .. } => UNKNOWN_ANCHOR.at(at),
        Error::MultipleDocuments { .. } => Problem::new(at, "a second YAML document begins here (---)")
            .help("one file holds one scenario: cut it in two"),
        Error::MergeValueNotMapOrSeqOfMaps { .. } => {
            Problem::new(at, "<< takes in another mapping, and this is none")
                .help("write <<: *name, where &name marks a mapping further up")
        }
        Error::UnsupportedTag { .. } => Problem::new(at, "this tag (!...) means nothing here")
            .help("put a text that begins with ! in quotes"),
        Error::Eof { .. } => Problem::new(at, "the file ends here, in the middle of something").help(INDENT),
        Error::Message { msg, .. } => Problem::new(at, msg.as_str()).help(INDENT),
        other => Problem::new(at, other.to_string()).help(INDENT),
    }
}

const INDENT: &str = "keys of one mapping begin in the same column, values within it further right";
const COLON: &str = "put a text that holds ': ' in quotes; if this is a key, see whether it is indented too far, or the line before lacks its colon";
const QUOTES: &str = "put a text that holds ': ' or ' #', or begins with one of {[*&!|>%@`, in quotes";

/// A title, and what helps.
struct Words(&'static str, &'static str);

impl Words {
    fn at(&self, at: Span) -> Problem {
        Problem::new(at, self.0).help(self.1)
    }
}

const UNKNOWN_ANCHOR: Words = Words(
    "* refers to an anchor (&name) that is not there",
    "put a text that begins with * in quotes: \"*/*\"",
);

/// What the scanner found.
fn scanned(text: &str, at: Span, kind: &ErrorKind, message: &str) -> Problem {
    let opened = |problem: Problem| match open_bracket(text, at.start) {
        Some(open) => problem.other(open, "opened here"),
        None => problem,
    };
    match kind {
        ErrorKind::MappingValueNotAllowed | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            if let Some(colon) = glued_colon(text, at) {
                return Problem::new(colon, "a space is missing after this colon").help("write key: value");
            }
        }
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::UnexpectedEofFlowMapping => {
            let words = Words("a { is not closed, or a comma is missing", "write { a: 1, b: 2 }");
            return opened(words.at(at));
        }
        ErrorKind::ExpectedFlowSequenceSeparator | ErrorKind::UnexpectedEofFlowSequence => {
            return opened(Words("a [ is not closed, or a comma is missing", "write [a, b]").at(at));
        }
        _ => {}
    }
    let words = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            Words("a tab stands here", "YAML allows only spaces for indentation")
        }
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => UNKNOWN_ANCHOR,
        ErrorKind::MappingValueNotAllowed => Words("a ': ' where none can be", COLON),
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Words(
            "this is neither a key nor part of the value before it",
            "write key: value, with a space after the colon",
        ),
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            Words("this line is indented unlike its neighbours", INDENT)
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => Words(
            "a list and something else are mixed here",
            "the entries of a list begin with '- ' in the same column, and an entry's keys all begin where its first does",
        ),
        ErrorKind::UnclosedFlowCollection { .. } => {
            Words("this bracket is not closed", "write { a: 1, b: 2 } or [a, b]")
        }
        ErrorKind::MismatchedFlowCollectionEnd { .. } | ErrorKind::MisplacedFlowCollectionEnd => {
            Words("brackets do not match: { closes with }, [ with ]", QUOTES)
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => Words(
            "a quote that was opened here or before is not closed",
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
        _ => return Problem::new(at, message).help(INDENT),
    };
    words.at(at)
}

/// The last bracket before that place that nothing closes before it.
fn open_bracket(text: &str, at: usize) -> Option<Span> {
    let mut closed = 0;
    for (i, byte) in text.as_bytes()[..at.min(text.len())].iter().enumerate().rev() {
        match byte {
            b'}' | b']' => closed += 1,
            b'{' | b'[' if closed == 0 => return Some(Span { start: i, end: i + 1 }),
            b'{' | b'[' => closed -= 1,
            _ => {}
        }
    }
    None
}

/// The colon after the first word of that line or the one before, if no space follows it.
fn glued_colon(text: &str, at: Span) -> Option<Span> {
    let begin = line_start(text, at.start);
    [begin, line_start(text, begin.saturating_sub(1))].into_iter().find_map(|start| {
        let line = text[start..].lines().next().unwrap_or_default();
        let colon = line.find(':')?;
        let word = line[..colon].trim_start().trim_start_matches("- ");
        let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let glued = line[colon + 1..].starts_with(|c: char| !c.is_whitespace());
        (plain && glued).then_some(Span { start: start + colon, end: start + colon + 1 })
    })
}

/// Where the line of that place begins.
fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1)
}

/// A tab in the indentation of the line of that place, or of the line before.
fn tab_before(text: &str, at: Span) -> Option<Span> {
    let here = line_start(text, at.start);
    [here, line_start(text, here.saturating_sub(1))].into_iter().find_map(|start| {
        let indent = text.as_bytes()[start..].iter().take_while(|b| **b == b' ' || **b == b'\t').count();
        let tab = text.as_bytes()[start..start + indent].iter().position(|&b| b == b'\t')?;
        Some(Span { start: start + tab, end: start + tab + 1 })
    })
}
