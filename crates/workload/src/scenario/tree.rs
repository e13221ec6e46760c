//! YAML as a tree of values, each with its place: what all else here reads from.
//!
//! serde-saphyr parses, resolves anchors and merge keys, and bounds what a hostile file can cost; places come from its
//! `Spanned`. A tree, and not types that serde fills directly, because serde gives up at the first mistake, and a person
//! wants to see them all. References to the environment are expanded here, in values, never in keys.

use super::environment::Environment;
use super::source::{Problem, Source, Span};
use super::{LONGEST_FILE, MOST_VALUES};
use crate::raw::Raw;
use serde::Deserialize;
use serde_json::Number;
use serde_saphyr::{DuplicateKeyPolicy, Location, NonFiniteFloatPolicy, Spanned};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub kind: Kind,
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// What was wrong with it is known already; nothing is read from it.
    Broken,
    Null,
    Scalar(Scalar),
    List(Vec<Tree>),
    Mapping(Vec<(Scalar, Tree)>),
}

/// A text, number or truth value.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    /// As it is to be read: a plain number as it was written, a text without its quotes.
    pub text: String,
    pub typed: Typed,
    pub span: Span,
    /// Where the lines of `text` stand in the file letter for letter: their beginnings in the text and in the file. Empty
    /// where escapes or the environment changed it.
    pub lines: Vec<(usize, usize)>,
    /// As a template, where values of the environment stand in it.
    pub template: Option<String>,
    /// As a file has it, where that is another text: with references to the environment.
    pub raw: Option<String>,
}

/// What YAML takes a scalar for.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Typed {
    Text,
    Bool(bool),
    Number(Number),
}

impl Scalar {
    /// The place of a range of bytes of the text, or of all of it where that cannot be told.
    pub fn part(&self, range: std::ops::Range<usize>) -> Span {
        match self.lines.iter().rfind(|(begins, _)| *begins <= range.start) {
            Some((begins, at)) => {
                let place = |byte: usize| at + byte.min(self.text.len()) - begins;
                Span { start: place(range.start), end: place(range.end.max(range.start)) }
            }
            None => self.span,
        }
    }
}

impl Tree {
    /// What it is, in words.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Null | Kind::Broken => "nothing".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Mapping(_) => "a mapping (key: value)".to_owned(),
            Kind::Scalar(s) => s.describe(),
        }
    }
}

impl Tree {
    /// Moves all places.
    fn shift(&mut self, by: usize) {
        self.span = self.span.shifted(by);
        match &mut self.kind {
            Kind::Null | Kind::Broken => {}
            Kind::Scalar(scalar) => scalar.shift(by),
            Kind::List(items) => items.iter_mut().for_each(|item| item.shift(by)),
            Kind::Mapping(entries) => entries.iter_mut().for_each(|(key, value)| {
                key.shift(by);
                value.shift(by);
            }),
        }
    }
}

impl Scalar {
    fn shift(&mut self, by: usize) {
        self.span = self.span.shifted(by);
        self.lines.iter_mut().for_each(|(_, at)| *at += by);
    }

    /// It as a template.
    pub fn template(&self) -> &str {
        self.template.as_deref().unwrap_or(&self.text)
    }

    /// What it is, in words, with the beginning of its text; not of one that may hold the beginning of a secret.
    pub fn describe(&self) -> String {
        if self.template.is_some() {
            return "the text that comes from the environment".to_owned();
        }
        let mut short: String = self.text.chars().take(40).collect();
        if short.len() < self.text.len() {
            short.push_str("...");
        }
        match self.typed {
            Typed::Text => format!("the text '{short}'"),
            Typed::Bool(_) | Typed::Number(_) => short,
        }
    }
}

/// Reads a file, and says which values in it are broken.
///
/// # Errors
/// What is wrong with the YAML itself: one problem, because what follows it means nothing.
pub(super) fn parse(
    source: &Source,
    environment: &mut Environment<'_>,
) -> Result<(Tree, Vec<Problem>), Problem> {
    let (tree, mut problems) = any(source, environment)?;
    if let Kind::Null = &tree.kind {
        let help =
            "the least there is: target:, users: with arrive: { rate: 20/s }, and journey: with - get: /";
        problems.push(Problem::new(tree.span, "the file holds no scenario").help(help).unknown());
    }
    Ok((tree, problems))
}

/// Reads a single value whose text has its first byte at place `at`.
///
/// # Errors
/// As [`parse`].
pub(super) fn value(
    text: &str,
    at: usize,
    environment: &mut Environment<'_>,
) -> Result<(Tree, Vec<Problem>), Problem> {
    let source = Source { text: text.to_owned(), ..Source::default() };
    let shifted = |mut problem: Problem| {
        problem.span = problem.span.shifted(at);
        problem.others.iter_mut().for_each(|(span, _)| *span = span.shifted(at));
        problem
    };
    let (mut tree, problems) = any(&source, environment).map_err(shifted)?;
    tree.shift(at);
    Ok((tree, problems.into_iter().map(shifted).collect()))
}

/// A text that stands for itself, whose first byte has the place `at`.
pub(super) fn literal(text: &str, at: usize) -> Tree {
    let span = Span { start: at, end: at + text.len() };
    let template = text.contains("{{").then(|| text.replace("{{", "\\{{"));
    let raw = text.replace("${", "$${").replace("{{", "\\{{");
    let raw = (raw != text).then_some(raw);
    let scalar =
        Scalar { text: text.to_owned(), typed: Typed::Text, span, lines: vec![(0, at)], template, raw };
    Tree { kind: Kind::Scalar(scalar), span }
}

/// A key that stands nowhere but in a path, at that place.
pub(super) fn key(name: &str, place: Span) -> Scalar {
    Scalar {
        text: name.to_owned(),
        typed: Typed::Text,
        span: place,
        lines: Vec::new(),
        template: None,
        raw: None,
    }
}

fn any(source: &Source, environment: &mut Environment<'_>) -> Result<(Tree, Vec<Problem>), Problem> {
    if source.text.len() > LONGEST_FILE {
        let title = format!("the file is longer than {} MiB", LONGEST_FILE >> 20);
        return Err(Problem::new(Span::default(), title).help("large data belongs into files under data:"));
    }
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_nodes: MOST_VALUES },
    };
    let raw: Placed = serde_saphyr::from_str_with_options(&source.text, options)
        .map_err(|e| super::syntax::problem(source, &e))?;
    let mut converter = Converter { source, environment, problems: Vec::new() };
    let tree = converter.tree(raw);
    Ok((tree, converter.problems))
}

/// The place that a location of the parser stands for.
pub(super) fn span(source: &Source, location: Location) -> Span {
    let (start, length) = match (location.span().byte_offset(), location.span().byte_len()) {
        (Some(start), Some(length)) => (start as usize, length as usize),
        // Errors of the scanner know line and column only.
        _ => {
            let line = (location.line() as usize).saturating_sub(1);
            let begin = source.text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
            let rest = &source.text[begin.min(source.text.len())..];
            let column = (location.column() as usize).saturating_sub(1);
            (begin + rest.chars().take(column).map(char::len_utf8).sum::<usize>(), 1)
        }
    };
    let end = start.saturating_add(length).min(source.text.len());
    let text = source.text.get(start..end).unwrap_or_default().trim_end();
    Span { start: start.min(end), end: start.min(end) + text.len() }
}

/// A value and its place.
#[derive(Deserialize)]
#[serde(transparent)]
struct Placed(Spanned<Raw<Placed, Placed>>);

struct Converter<'a, 'e> {
    source: &'a Source,
    environment: &'a mut Environment<'e>,
    problems: Vec<Problem>,
}

impl Converter<'_, '_> {
    fn tree(&mut self, Placed(raw): Placed) -> Tree {
        let span = span(self.source, raw.defined);
        let kind = match raw.value {
            Raw::Null => Kind::Null,
            Raw::List(items) => Kind::List(items.into_iter().map(|item| self.tree(item)).collect()),
            Raw::Map(entries) => self.entries(entries).map_or(Kind::Broken, Kind::Mapping),
            Raw::Text(text) => {
                let mut scalar = self.scalar(text, Typed::Text, span);
                if self.expand(&mut scalar) { Kind::Scalar(scalar) } else { Kind::Broken }
            }
            Raw::Bool(value) => self.plain(Typed::Bool(value), span),
            Raw::Number(number) if !self.is_cut(&number, span) => self.plain(Typed::Number(number), span),
            Raw::Number(_) | Raw::Odd(_) => {
                let title = "this number is too long to be kept exactly";
                self.problems.push(Problem::new(span, title).help("write it in quotes, as a text"));
                Kind::Broken
            }
        };
        Tree { kind, span }
    }

    /// Whether a whole number became one with fewer digits.
    fn is_cut(&self, number: &Number, span: Span) -> bool {
        let written = self.source.text.get(span.start..span.end).unwrap_or_default();
        number.is_f64() && written.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'+')
    }

    /// A number or truth value: its text is what stands in the file.
    fn plain(&self, typed: Typed, span: Span) -> Kind {
        let text = self.source.text.get(span.start..span.end).unwrap_or_default().to_owned();
        Kind::Scalar(Scalar { text, typed, span, lines: vec![(0, span.start)], template: None, raw: None })
    }

    fn scalar(&self, text: String, typed: Typed, span: Span) -> Scalar {
        let written = self.source.text.get(span.start..span.end).unwrap_or_default();
        let lines = lines(&text, written).unwrap_or_default();
        let lines = lines.into_iter().map(|(begins, at)| (begins, span.start + at)).collect();
        Scalar { text, typed, span, lines, template: None, raw: None }
    }

    /// The entries of a mapping; none if it is no mapping but a text that YAML takes for one.
    fn entries(&mut self, entries: Vec<(Placed, Placed)>) -> Option<Vec<(Scalar, Tree)>> {
        let mut read: Vec<(Scalar, Tree)> = Vec::with_capacity(entries.len());
        let mut seen: HashMap<String, Span> = HashMap::new();
        for (Placed(key), value) in entries {
            let at = span(self.source, key.defined);
            let key = match key.value {
                Raw::Text(text) => self.scalar(text, Typed::Text, at),
                Raw::Bool(_) | Raw::Number(_) | Raw::Odd(_) => {
                    let text = self.source.text.get(at.start..at.end).unwrap_or_default().to_owned();
                    Scalar {
                        text,
                        typed: Typed::Text,
                        span: at,
                        lines: vec![(0, at.start)],
                        template: None,
                        raw: None,
                    }
                }
                Raw::Map(_) => {
                    let title = "YAML takes this for a mapping, because it begins with {";
                    let help = "put a text that begins with { in quotes: '{{name}}'";
                    self.problems.push(Problem::new(at, title).help(help));
                    return None;
                }
                Raw::Null | Raw::List(_) => {
                    self.problems.push(Problem::new(at, "a key must be a text").help("write key: value"));
                    continue;
                }
            };
            match seen.entry(key.text.clone()) {
                Entry::Occupied(first) => {
                    let title = format!("the key '{}' stands here a second time", key.text);
                    self.problems.push(Problem::new(key.span, title).other(*first.get(), "first here"));
                }
                Entry::Vacant(entry) => {
                    entry.insert(key.span);
                }
            }
            let value = self.tree(value);
            read.push((key, value));
        }
        Some(read)
    }

    /// Replaces references to the environment; whether that could be done.
    fn expand(&mut self, scalar: &mut Scalar) -> bool {
        match self.environment.expand(scalar) {
            Ok(None) => true,
            Ok(Some(expanded)) => {
                scalar.raw = Some(std::mem::replace(&mut scalar.text, expanded.text));
                scalar.template = Some(expanded.template);
                scalar.lines.clear();
                true
            }
            Err(problem) => {
                self.problems.push(problem);
                false
            }
        }
    }
}

/// Where the lines of a text stand in how it was written, if each stands there letter for letter.
fn lines(text: &str, written: &str) -> Option<Vec<(usize, usize)>> {
    let (mut begins, mut at) = (0, 0);
    let mut lines = Vec::new();
    let mut written = written.split('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        let source = written.next()?;
        lines.push((begins, at + source.find(line)?));
        begins += line.len() + 1;
        at += source.len() + 1;
    }
    Some(lines)
}
