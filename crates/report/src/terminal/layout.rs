//! Lines of at most [`WIDTH`] columns: headings, labelled paragraphs, tables. Text is measured before it is painted,
//! and everything from outside is made visible first, so no name can widen a line or move the cursor.

use crate::format::visible;
use crate::words::Tone;

/// Columns of the narrowest terminal in common use.
pub const WIDTH: usize = 80;
/// Columns beyond which lines of text are hard to read.
pub(super) const WIDEST: usize = 120;

/// Columns before a label.
pub(super) const INDENT: usize = 2;
/// Column at which the text beside a label begins.
pub(super) const LABEL: usize = 14;

/// A piece of a line.
pub(super) struct Span {
    text: String,
    tone: Tone,
}

/// A piece of a line in a tone.
pub(super) fn span(tone: Tone, text: impl Into<String>) -> Span {
    Span { text: visible(&text.into()), tone }
}

/// A cell of a table, `width` columns wide: clipped if longer, flush right if it is a number.
pub(super) fn cell(tone: Tone, text: impl AsRef<str>, width: usize, align: Align) -> Span {
    // A number that fills its column would touch the one before it.
    let room = if align == Align::Right { width - 1 } else { width };
    let text = clip(&visible(text.as_ref()), room);
    let gap = " ".repeat(width - columns(&text));
    Span { text: if align == Align::Left { text + &gap } else { gap + &text }, tone }
}

/// Where a cell's text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// The text so far.
pub(super) struct Page {
    out: String,
    colour: bool,
    width: usize,
}

impl Page {
    pub(super) fn new(colour: bool) -> Page {
        Page { out: String::new(), colour, width: WIDTH }
    }

    /// One whose texts, but not its tables, use a terminal of so many columns, from [`WIDTH`] to [`WIDEST`].
    pub(super) fn as_wide_as(colour: bool, width: Option<usize>) -> Page {
        Page { width: width.unwrap_or(WIDTH).clamp(WIDTH, WIDEST), ..Page::new(colour) }
    }

    /// An empty one of the same looks.
    pub(super) fn sheet(&self) -> Page {
        Page { out: String::new(), ..*self }
    }

    /// Its lines as they are painted.
    pub(super) fn lines(&self) -> Vec<String> {
        self.out.lines().map(str::to_owned).collect()
    }

    /// A line of another sheet.
    pub(super) fn painted(&mut self, line: &str) {
        self.out.push_str(line);
        self.blank();
    }

    /// Columns of a line.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }

    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// An empty line and a heading.
    pub(super) fn heading(&mut self, title: &str) {
        self.blank();
        self.line(&[span(Tone::Strong, title)]);
    }

    /// One line; what does not fit is cut.
    pub(super) fn line(&mut self, spans: &[Span]) {
        let mut left = self.width;
        let last = spans.iter().rposition(|span| !span.text.trim_end().is_empty());
        for (i, span) in spans.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
            let text = if Some(i) == last { span.text.trim_end() } else { &span.text };
            let text = clip(text, left);
            left -= columns(&text);
            self.paint(span.tone, &text);
        }
        self.blank();
    }

    /// `label` in its own column, and a text beside it over as many lines as it needs.
    pub(super) fn labelled(&mut self, label: &str, tone: Tone, text: &str) {
        self.beside(LABEL, label, tone, text);
    }

    /// `label`, and beside it a place that is there to be copied: never cut or broken, so that one which is too long for the line has a
    /// line of its own, which the terminal wraps.
    pub(super) fn whole(&mut self, label: &str, place: &str) {
        let place = visible(place);
        if columns(&place) <= self.width - LABEL {
            return self.labelled(label, Tone::Plain, &place);
        }
        self.labelled(label, Tone::Plain, "");
        self.out.push_str(&place);
        self.blank();
    }

    /// Paragraphs, each beside a word of ours in a column that holds the longest of them uncut.
    pub(super) fn judged(&mut self, paragraphs: &[(&str, Tone, String)]) {
        let longest = paragraphs.iter().map(|(word, ..)| columns(word)).max().unwrap_or(0);
        for (word, tone, text) in paragraphs {
            self.beside(LABEL.max(longest + INDENT + 1), word, *tone, text);
        }
    }

    /// A text that begins at a column, the label before it.
    fn beside(&mut self, column: usize, label: &str, tone: Tone, text: &str) {
        for (i, line) in wrap(&visible(text), self.width - column).into_iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            self.line(&[
                span(Tone::Plain, " ".repeat(INDENT)),
                cell(Tone::Faint, label, column - INDENT - 1, Align::Left),
                span(Tone::Plain, " "),
                span(tone, line),
            ]);
        }
    }

    /// A text with a hanging indent, after a mark such as `! ` or `[1] `.
    pub(super) fn marked(&mut self, indent: usize, mark: &str, tone: Tone, text: &str) {
        let hang = indent + columns(mark);
        for (i, line) in wrap(&visible(text), self.width - hang).into_iter().enumerate() {
            let mark = if i == 0 { mark.to_owned() } else { " ".repeat(columns(mark)) };
            self.line(&[span(Tone::Plain, " ".repeat(indent)), span(tone, mark), span(tone, line)]);
        }
    }

    /// A frame across the whole width that cannot be overlooked, with or without colour.
    pub(super) fn banner(&mut self, tone: Tone, text: &str) {
        let edge = "#".repeat(WIDTH);
        self.line(&[span(tone, &edge)]);
        for line in wrap(&visible(text), WIDTH - 8) {
            let inner = cell(tone, line, WIDTH - 8, Align::Left).text;
            self.line(&[span(tone, format!("##  {inner}  ##"))]);
        }
        self.line(&[span(tone, &edge)]);
    }

    fn paint(&mut self, tone: Tone, text: &str) {
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "1;31",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        if self.colour && !code.is_empty() && !text.trim().is_empty() {
            self.out.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
        } else {
            self.out.push_str(text);
        }
    }
}

/// Columns that a text takes at most. Combining marks take none; scripts with wide signs are taken as two columns
/// each without asking which of their signs are narrow, because a line too short does no harm.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

fn char_columns(c: char) -> usize {
    match c {
        '\u{0300}'..='\u{036f}' => 0,
        '\u{0}'..='\u{10ff}' | '\u{fffd}' => 1,
        _ => 2,
    }
}

/// The text, or as much of it as fits with a `~` for the rest.
pub(super) fn clip(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let keep = |c: &char| {
        used += char_columns(*c);
        used < width
    };
    let mut clipped: String = text.chars().take_while(keep).collect();
    if width > 0 {
        clipped.push('~');
    }
    clipped
}

/// Breaks a text at spaces into lines of at most `width` columns; a longer word is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        for c in word.chars() {
            if columns(lines.last().expect("there is always a line")) + char_columns(c) > width {
                lines.push(String::new());
            }
            lines.last_mut().expect("there is always a line").push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 5), ["incom", "prehe", "nsibl", "e"]);
        assert_eq!(wrap("a incomprehensible", 9), ["a", "incompreh", "ensible"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("\u{6f22}\u{5b57}", 3), ["\u{6f22}", "\u{5b57}"]);
    }

    #[test]
    fn clipping_says_that_it_clipped() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdef", 5), "abcd~");
        assert_eq!(clip("abcdef", 0), "");
        assert!(columns(&clip("\u{6f22}\u{5b57}\u{6f22}", 4)) <= 4);
    }

    #[test]
    fn words_of_a_verdict_are_whole_and_their_texts_begin_in_one_column() {
        let mut page = Page::new(false);
        page.judged(&[
            ("passed", Tone::Plain, "p50".into()),
            ("inconclusive", Tone::Warn, "word ".repeat(14)),
        ]);
        let expected =
            format!("  passed       p50\n  inconclusive {}\n               word\n", ["word"; 13].join(" "));
        assert_eq!(page.out, expected);
        let mut page = Page::new(false);
        page.judged(&[("not judged", Tone::Warn, "p50".into())]);
        assert_eq!(page.out, "  not judged  p50\n");
    }

    #[test]
    fn colour_only_when_asked_and_never_in_the_measure() {
        let mut plain = Page::new(false);
        plain.line(&[span(Tone::Bad, "x".repeat(100))]);
        assert_eq!(plain.out, format!("{}~\n", "x".repeat(79)));
        let mut colour = Page::new(true);
        colour.line(&[span(Tone::Good, "ok"), span(Tone::Plain, "  ")]);
        assert_eq!(colour.out, "\x1b[32mok\x1b[0m\n");
    }
}
