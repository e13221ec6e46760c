//! The text of a scenario file, places in it, and what is wrong at them: shown with file, line, column, the line itself and
//! a caret, in plain ASCII.
//!
//! Values of secrets never show, wherever they came from. Deliberately absent: what can be wrong.

use crate::redact::Redactor;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};
use std::fmt;
use std::sync::Arc;

/// A range of bytes of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Span {
    /// The same further on.
    pub(super) fn shifted(self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }
}

/// A file's name and text, and what was put into it by hand.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Source {
    pub name: String,
    pub text: String,
    /// Values that take the place of some in the file. Places in them come after those in the file.
    pub overridden: Vec<Overridden>,
}

/// A value that takes another's place, as people write it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Overridden {
    /// `path=value`.
    pub text: String,
    /// The place of its first byte.
    pub at: usize,
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Problem {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub title: String,
    /// Few words beside the caret.
    pub label: Option<String>,
    /// What would be accepted.
    pub help: Option<String>,
    /// Other places that have to do with it, and why.
    pub others: Vec<(Span, String)>,
    /// What it may be to other problems of the same file.
    pub part: Part,
}

/// What a problem is to others: one mistake is told once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// It stands for itself.
    Own,
    /// What should stand here is unknown: the file is empty, or a key has no such name.
    Unknown,
    /// A value finds no place in the file. That follows from what is unknown there, where anything is.
    Unplaced,
}

impl Problem {
    pub fn new(span: Span, title: impl Into<String>) -> Problem {
        Problem { span, title: title.into(), label: None, help: None, others: Vec::new(), part: Part::Own }
    }

    pub fn unknown(self) -> Problem {
        Problem { part: Part::Unknown, ..self }
    }

    pub fn unplaced(self) -> Problem {
        Problem { part: Part::Unplaced, ..self }
    }

    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub fn other(mut self, span: Span, why: impl Into<String>) -> Problem {
        self.others.push((span, why.into()));
        self
    }

    /// With "did you mean" beside the caret, where there is something near.
    pub fn guess(mut self, guess: Option<&str>) -> Problem {
        self.label = guess.map(|g| format!("did you mean {g}?"));
        self
    }
}

/// Problems shown of one file, at most; more would be scrolled away.
const MOST_SHOWN: usize = 10;

/// What is wrong with a scenario file: one or more things, each with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    source: Arc<Source>,
    problems: Vec<Problem>,
    redactor: Redactor,
}

impl Diagnostics {
    /// `problems` in the order of the file; each place and title once, and none that follows from another.
    pub(super) fn new(source: Arc<Source>, mut problems: Vec<Problem>, redactor: &Redactor) -> Diagnostics {
        let within = |p: &Problem| p.span.start <= source.text.len();
        if problems.iter().any(|p| p.part == Part::Unknown && within(p)) {
            problems.retain(|p| p.part != Part::Unplaced);
        }
        problems.sort_by_key(|p| p.span);
        problems.dedup_by(|a, b| (a.span, &a.title) == (b.span, &b.title));
        // A line that is wrong is shown whatever its key is: what it holds may be known by nothing else.
        let mut redactor = redactor.clone();
        for span in problems
            .iter()
            .flat_map(|p| std::iter::once(&p.span).chain(p.others.iter().map(|(span, _)| span)))
        {
            redactor.know_line(source.line(*span).text);
        }
        Diagnostics { source, problems, redactor }
    }

    /// How many things are wrong.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// Line and column of each, from 1, in the order of the file; line 0 is not in the file, but in what was put into it.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.problems.iter().map(|p| {
            let line = self.source.line(p.span);
            let column = line.text[..line.within(p.span).start].chars().count() + 1;
            (line.number.unwrap_or(0), column)
        })
    }

    /// Texts of the user's within a message lose their control characters here.
    fn show(&self, problem: &Problem) -> String {
        let main = self.source.line(problem.span);
        let caret = AnnotationKind::Primary
            .span(main.within(problem.span))
            .label(problem.label.as_deref().map(normalize_untrusted_str));
        let mark = |line: &Line<'_>, (span, why): &(Span, String)| {
            AnnotationKind::Context.span(line.within(*span)).label(normalize_untrusted_str(why))
        };
        let mut shown = vec![(main, Vec::new())];
        for other in &problem.others {
            let line = self.source.line(other.0);
            let mark = mark(&line, other);
            match shown.iter_mut().find(|(known, _)| known.start == line.start) {
                Some((_, marks)) => marks.push(mark),
                None => shown.push((line, vec![mark])),
            }
        }
        shown[0].1.push(caret);
        let mut group = Group::with_title(Level::ERROR.no_name().primary_title(problem.title.as_str()));
        for (line, marks) in shown {
            let snippet = Snippet::source(line.text.to_owned()).annotations(marks);
            group = group.element(match line.number {
                Some(number) => snippet.line_start(number).path(self.source.name.clone()),
                None => snippet,
            });
        }
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
        }
        Renderer::plain().decor_style(DecorStyle::Ascii).term_width(120).render(&[group])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().take(MOST_SHOWN).enumerate() {
            let gap = if i > 0 { "\n\n" } else { "" };
            write!(f, "{gap}{}", self.redactor.hide(&self.show(problem)))?;
        }
        match self.problems.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\nand {more} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

/// One line of a file, or of what was put into it, which has no number.
struct Line<'a> {
    number: Option<usize>,
    start: usize,
    text: &'a str,
}

impl Line<'_> {
    /// The part of a span that lies on this line, in bytes of the file: whole characters.
    fn clip(&self, span: Span) -> Span {
        let most = self.start + self.text.len();
        let (mut start, mut end) = (span.start.clamp(self.start, most), span.end.clamp(self.start, most));
        while !self.text.is_char_boundary(start - self.start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end - self.start) {
            end += 1;
        }
        Span { start, end: end.max(start) }
    }

    /// The part of a span that lies on this line, in bytes of the line.
    fn within(&self, span: Span) -> std::ops::Range<usize> {
        let clipped = self.clip(span);
        clipped.start - self.start..clipped.end - self.start
    }
}

impl Source {
    /// What stands at a place of the file, or of what was put into it.
    pub fn written(&self, span: Span) -> &str {
        let (text, from) = self.overridden(span).map_or((&self.text, 0), |o| (&o.text, o.at));
        text.get(span.start - from..span.end.saturating_sub(from)).unwrap_or_default()
    }

    /// What was put into the file, if a span begins there.
    fn overridden(&self, span: Span) -> Option<&Overridden> {
        self.overridden.iter().rfind(|overridden| overridden.at <= span.start)
    }

    /// The line on which a span begins. A place at the very end is on the last line that holds something.
    fn line(&self, span: Span) -> Line<'_> {
        if let Some(Overridden { text, at }) = self.overridden(span) {
            return Line { number: None, start: *at, text };
        }
        let text = self.text.trim_end();
        let mut at = span.start.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        let number = Some(text[..start].matches('\n').count() + 1);
        Line { number, start, text: text[start..end].trim_end_matches('\r') }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, problem: Problem) -> String {
        let source =
            Arc::new(Source { name: "a.yaml".to_owned(), text: text.to_owned(), ..Source::default() });
        let mut redactor = Redactor::default();
        redactor.know("hunter2");
        Diagnostics::new(source, vec![problem], &redactor).to_string()
    }

    #[test]
    fn places_are_shown_on_their_line() {
        let problem = Problem::new(Span { start: 9, end: 10 }, "bad").guess(Some("c")).help("write c");
        let expected =
            "bad\n --> a.yaml:2:4\n  |\n2 | b: x\n  |    ^ did you mean c?\n  |\n  = help: write c";
        assert_eq!(shown("a: 1\n\u{e9}: x", problem.clone()).replace('\u{e9}', "b"), expected);
        assert!(shown("a: hunter2", problem).contains("a: <redacted>"));
    }

    #[test]
    fn a_line_that_is_wrong_is_shown_without_its_secrets() {
        for line in [
            "password: s3cr3t a b",
            "- { \"password\": \"s3cr3t a\" }",
            "headers: [ \"Authorization: Bearer s3cr3t\" ]",
            "headers: [ \"X-Foo: Bearer s3cr3t\" ]",
            "gett: /a?token=s3cr3t",
            "  'api_key': s3cr3t # mine",
        ] {
            let problem =
                Problem::new(Span { start: 0, end: 1 }, format!("wrong is '{line}'")).help("s3cr3t");
            let shown = shown(line, problem);
            assert!(!shown.contains("s3cr3t") && shown.contains("<redacted>"), "{shown}");
        }
        let same = shown("users: { arrive: { rate: x } }", Problem::new(Span { start: 9, end: 10 }, "bad"));
        assert!(same.contains("users: { arrive: { rate: x } }"), "{same}");
    }

    #[test]
    fn any_span_of_any_text_is_shown() {
        for text in ["", "\n", "\u{20ac}\u{20ac}\r\n\u{20ac}", "a\n\n\n", "\u{0}\u{1b}[31m"] {
            for start in 0..12 {
                for end in [0, start, start + 1, 99] {
                    let problem =
                        Problem::new(Span { start, end }, "bad").other(Span { start: end, end }, "here");
                    let shown = shown(text, problem);
                    assert!(shown.contains("a.yaml:") && !shown.contains('\u{1b}'), "{shown:?}");
                }
            }
        }
    }
}
