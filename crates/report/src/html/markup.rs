//! The only way to write the page: what the program says is `&'static str`, everything else is escaped.

use crate::format::{hidden, visible};
use crate::words::Tone;
use crate::words::audit::Fact;
use serde::Serialize;
use std::borrow::Cow;

/// Markup so far.
#[derive(Default)]
pub(super) struct Markup {
    text: String,
    /// Whether sections that begin from here on are folded.
    folding: bool,
    /// Whether the section that is being written is.
    folded: bool,
    /// Identifiers and headings of the sections so far.
    index: Vec<(&'static str, String)>,
}

/// Columns that stand beside each other on a narrow screen.
const MOST_NARROW: usize = 3;

/// JSON that may stand inside a script element.
pub(super) struct ScriptJson(String);

/// `value` as JSON in which no character can end the element or begin a comment, nor end a line of script. All of them
/// can only occur within strings, where an escape means the same.
pub(super) fn script_json(value: &impl Serialize) -> ScriptJson {
    let json = serde_json::to_string(value).expect("a summary is plain data");
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", c as u32)),
            // All of these have four digits.
            c if hidden(c) => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    ScriptJson(out)
}

impl Markup {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// Markup of the program's own.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Markup {
        self.text.push_str(markup);
        self
    }

    pub(super) fn embedded(&mut self, json: &ScriptJson) -> &mut Markup {
        self.text.push_str(&json.0);
        self
    }

    /// Any text, as text.
    pub(super) fn text(&mut self, text: impl AsRef<str>) -> &mut Markup {
        let text = visible(text.as_ref());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                // A percent sign stays on the line of its number.
                ' ' if chars.peek() == Some(&'%') => self.text.push_str("&nbsp;"),
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                c => self.text.push(c),
            }
        }
        self
    }

    /// Text whose line breaks matter.
    pub(super) fn text_lines(&mut self, text: &str) -> &mut Markup {
        for line in text.lines() {
            self.text(line).raw("\n");
        }
        self
    }

    /// ` name="value"`, within a tag.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) -> &mut Markup {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    pub(super) fn open(&mut self, tag: &'static str, class: &'static str) -> &mut Markup {
        self.raw("<").raw(tag);
        if !class.is_empty() {
            self.attribute("class", class);
        }
        self.raw(">")
    }

    pub(super) fn close(&mut self, tag: &'static str) -> &mut Markup {
        self.raw("</").raw(tag).raw(">\n")
    }

    /// An element that holds nothing but text.
    pub(super) fn element(&mut self, tag: &'static str, class: &'static str, text: &str) -> &mut Markup {
        self.open(tag, class).text(text).close(tag)
    }

    /// Whether sections from here on are folded: a reader sees their headings, and unfolds what is of interest.
    pub(super) fn fold(&mut self, folding: bool) -> &mut Markup {
        self.folding = folding;
        self
    }

    /// A section with its heading; `id` is where links lead.
    pub(super) fn section(&mut self, id: &'static str, title: &str) -> &mut Markup {
        self.section_of("", id, title)
    }

    /// A section of a class with its heading.
    pub(super) fn section_of(&mut self, class: &'static str, id: &'static str, title: &str) -> &mut Markup {
        self.listed(id, title);
        self.folded = self.folding;
        let class = [class, if self.folded { "folded" } else { "" }].join(" ");
        self.raw("<section");
        if !class.trim().is_empty() {
            self.attribute("class", class.trim());
        }
        self.attribute("id", id).raw(">\n");
        match self.folded {
            true => {
                self.raw("<details class=\"fold\"><summary>").open("h2", "").text(title);
                self.raw("</h2></summary>\n")
            }
            false => self.element("h2", "", title),
        }
    }

    /// Closes a section.
    pub(super) fn end_section(&mut self) -> &mut Markup {
        if std::mem::take(&mut self.folded) {
            self.raw("</details>\n");
        }
        self.raw("</section>\n")
    }

    /// Puts a section into the index.
    pub(super) fn listed(&mut self, id: &'static str, title: &str) {
        self.index.push((id, title.to_owned()));
    }

    /// Where all sections are, as links: in front of what has been written from `at` on.
    pub(super) fn insert_index(&mut self, at: usize) {
        let rest = self.text.split_off(at);
        self.raw("<nav aria-label=\"Contents\">\n<details><summary>Contents</summary>\n<ul>\n");
        for (id, title) in std::mem::take(&mut self.index) {
            self.raw("<li><a").attribute("href", &format!("#{id}")).raw(">").text(title).raw("</a></li>\n");
        }
        self.raw("</ul>\n</details>\n</nav>\n");
        self.text.push_str(&rest);
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// A table. The first cell of a row is its heading. Where the screen is narrow, the rows of a table of many columns stand as
    /// blocks, in which each cell has its column's name beside it; what is wider all the same scrolls by itself.
    pub(super) fn table(&mut self, caption: &str, head: &[Column], rows: &[Vec<Cell>]) {
        self.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\"")
            .attribute("aria-label", caption)
            .raw(">\n");
        let many = head.len() > MOST_NARROW;
        let class = match (many, least_width(head, rows) > WIDEST) {
            (true, true) => "many wide",
            (true, false) => "many",
            (false, true) => "wide",
            (false, false) => "",
        };
        self.open("table", class).raw("\n");
        self.element("caption", "", caption).raw("<thead><tr>");
        for column in head {
            self.raw("<th scope=\"col\"");
            if column.number {
                self.raw(" class=\"number\"");
            }
            self.raw(">").text(&column.title).raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (i, (cell, column)) in row.iter().zip(head).enumerate() {
                self.raw(if i == 0 { "<th scope=\"row\"" } else { "<td" });
                if many && i > 0 {
                    self.attribute("data-of", &column.title);
                }
                let class = [if column.number { "number" } else { "" }, tone_class(cell.tone)].join(" ");
                if !class.trim().is_empty() {
                    self.attribute("class", class.trim());
                }
                self.raw(">").text(&cell.text).raw(if i == 0 { "</th>" } else { "</td>" });
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table>\n</div>\n");
    }

    /// A table of two columns without a heading line: names and texts.
    pub(super) fn pairs(&mut self, rows: &[(&str, String)]) {
        self.raw("<dl>\n");
        for (name, text) in rows {
            self.raw("<div>").element("dt", "", name).element("dd", "", text).raw("</div>");
        }
        self.raw("</dl>\n");
    }

    /// Facts as pairs, below each other: their texts are sentences.
    pub(super) fn facts(&mut self, facts: &[Fact]) {
        self.raw("<dl class=\"facts\">\n");
        for fact in facts {
            self.raw("<div>").element("dt", "", fact.name);
            self.element("dd", tone_class(fact.tone), &fact.text).raw("</div>");
        }
        self.raw("</dl>\n");
    }
}

/// Width of a table on a wide screen, in pixels.
const WIDEST: usize = 1_120;

/// What a table needs at least, in pixels, if no number breaks: of a digit, between columns, and of a column of words, which break.
fn least_width(head: &[Column], rows: &[Vec<Cell>]) -> usize {
    const DIGIT: usize = 8;
    const BETWEEN: usize = 20;
    const WORDS: usize = 13;
    let column = |(i, column): (usize, &Column)| {
        let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.text.chars().count());
        let longest = cells.max().unwrap_or(0);
        let title = column.title.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        let digits =
            if column.number { longest.max(title) } else { longest.min(WORDS).max(title.min(WORDS)) };
        DIGIT * digits + BETWEEN
    };
    head.iter().enumerate().map(column).sum()
}

/// A column of a table.
pub(super) struct Column {
    title: Cow<'static, str>,
    number: bool,
}

/// A column of numbers.
pub(super) fn number(title: impl Into<Cow<'static, str>>) -> Column {
    Column { title: title.into(), number: true }
}

/// A column of words.
pub(super) fn word(title: impl Into<Cow<'static, str>>) -> Column {
    Column { title: title.into(), number: false }
}

/// A cell of a table.
pub(super) struct Cell {
    text: String,
    tone: Tone,
}

/// A cell in a tone.
pub(super) fn toned(tone: Tone, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone }
}

/// A plain cell.
pub(super) fn cell(text: impl Into<String>) -> Cell {
    toned(Tone::Plain, text)
}

/// The class that gives a tone its colour.
pub(super) const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Warn => "warn",
        Tone::Bad => "bad",
        Tone::Faint => "faint",
        Tone::Strong => "strong",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Markup::default();
        page.element("p", "", "</p><script>\"'&\u{2028}\u{202e}\0\x1b");
        let shown = String::from_utf8(page.into_bytes()).unwrap();
        assert_eq!(shown, "<p>&lt;/p&gt;&lt;script&gt;&quot;&#39;&amp; \u{fffd}\u{fffd}\u{fffd}</p>\n");
    }

    #[test]
    fn a_table_whose_numbers_have_no_room_may_break_them() {
        let table = |text: &str, columns: usize| {
            let mut page = Markup::default();
            let head: Vec<Column> = (0..columns).map(|_| number("n")).collect();
            page.table("", &head, &[(0..columns).map(|_| cell(text)).collect()]);
            String::from_utf8(page.into_bytes()).unwrap()
        };
        assert!(table("18,446,744,073,709,551,615", 9).contains("class=\"many wide\""));
        assert!(table("1.20 ms", 9).contains("class=\"many\""));
        assert!(table("1.20 ms", 3).contains("<table>"));
    }

    #[test]
    fn embedded_json_cannot_leave_its_element_and_means_the_same() {
        let attack = "</script><!--<script>&\u{2028}\u{2029}]]>";
        let ScriptJson(json) = script_json(&attack);
        for forbidden in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
            assert!(!json.contains(forbidden), "{json}");
        }
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), attack);
    }
}
