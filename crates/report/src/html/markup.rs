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

/// Elements that hold sentences.
const SENTENCES: [&str; 5] = ["p", "li", "dd", "figcaption", "strong"];

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

    /// A sentence: what stands between backticks is code.
    pub(super) fn prose(&mut self, text: &str) -> &mut Markup {
        let pieces: Vec<&str> = text.split('`').collect();
        // A backtick without another one is itself.
        if pieces.len().is_multiple_of(2) {
            return self.text(text);
        }
        for (i, piece) in pieces.into_iter().enumerate() {
            match i % 2 {
                0 => self.text(piece),
                _ => self.raw("<code>").text(piece).raw("</code>"),
            };
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

    /// An element that holds nothing but text, or sentences where it is one that holds such.
    pub(super) fn element(&mut self, tag: &'static str, class: &'static str, text: &str) -> &mut Markup {
        self.open(tag, class);
        if SENTENCES.contains(&tag) { self.prose(text) } else { self.text(text) }.close(tag)
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
            if ["step", "label"].contains(&&*column.title) {
                self.raw(" data-steps");
            }
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
                if let Some(value) = sort_value(&cell.text) {
                    self.attribute("data-sort", &value.to_string());
                }
                self.raw(">");
                // Names of things are shown as they are.
                let cell =
                    if i == 0 || column.number { self.text(&cell.text) } else { self.prose(&cell.text) };
                cell.raw(if i == 0 { "</th>" } else { "</td>" });
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

/// What a cell of two ends is sorted by, its lower one, in seconds, bytes or the unit that it has: `900 us to 1.2 ms` comes before
/// `2 to 3 ms`. None of a cell of one number, whose unit stands behind it.
fn sort_value(text: &str) -> Option<f64> {
    let (low, high) = text.split_once(" to ")?;
    let number = |text: &str| -> Option<(f64, Option<String>)> {
        let text = text.trim().trim_start_matches(['<', '>', '[']).trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.,e".contains(c))).unwrap_or(text.len());
        let unit = text[end..].trim().split(' ').next().filter(|unit| !unit.is_empty());
        Some((text[..end].replace(',', "").parse().ok()?, unit.map(str::to_owned)))
    };
    let ((low, own), high) = (number(low)?, number(high));
    let unit = own.or(high?.1);
    let size = match unit.as_deref() {
        Some("ns") => 1e-9,
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        Some("min") => 60.0,
        Some("h") => 3_600.0,
        Some("KiB") => 1_024.0,
        Some("MiB") => 1_048_576.0,
        Some("GiB") => 1_073_741_824.0,
        _ => 1.0,
    };
    Some(low * size)
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

/// The class of the sentence that answers what a page was made for.
pub(super) const fn answer_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "answer good",
        Tone::Warn => "answer warn",
        Tone::Bad => "answer bad",
        _ => "answer",
    }
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
    fn what_stands_between_backticks_is_code_and_cannot_become_markup_either() {
        let shown = |text: &str| {
            let mut page = Markup::default();
            page.prose(text);
            String::from_utf8(page.into_bytes()).unwrap()
        };
        assert_eq!(
            shown("read `response` and `a<b`."),
            "read <code>response</code> and <code>a&lt;b</code>."
        );
        assert_eq!(shown("a ` alone, `b` c"), "a ` alone, `b` c");
    }

    #[test]
    fn intervals_are_sorted_by_their_lower_end_whatever_its_unit() {
        use crate::format::{number, size, time, time_range};
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        for _ in 0..2_000 {
            let low = 10f64.powf(random() * 11.0 - 7.0);
            let high = low * (1.0 + 4.0 * random());
            let near = |text: String, low: f64| {
                let value = sort_value(&text).unwrap_or_else(|| panic!("{text} has no value"));
                // As many digits as are shown.
                assert!((value / low - 1.0).abs() < 0.006, "{text}: {value} is not {low}");
            };
            near(time_range(low, high), low);
            near(format!("{} to {}", size(low * 1e6), size(high * 1e6)), low * 1e6);
            near(format!("{} to {}", number(low), number(high)), low);
            // One number has its unit behind it, which the script reads.
            assert_eq!(sort_value(&time(low)), None);
        }
        assert_eq!(sort_value("900 us to 1.2 ms"), Some(900.0 * 1e-6));
        assert_eq!(sort_value("+8.0 to +14 %"), Some(8.0));
        assert_eq!(sort_value("-2.50 to 1.2 ms"), Some(-2.5 * 1e-3));
        assert_eq!(sort_value("-"), None);
        assert_eq!(sort_value("add to basket"), None);
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
