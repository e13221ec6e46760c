//! Tables whose columns are as wide as what they hold. One that is too wide for the page is printed as several below
//! each other, each with the labels; labels are cut in their middle, numbers never where it can be helped.

use super::layout::{Align, INDENT, Page, WIDTH, cell, columns, span};
use crate::format::visible;
use crate::words::Tone;
use std::ops::Range;

/// Widest column of numbers: what has the page to itself, without a label.
pub(super) const WIDEST: usize = WIDTH - INDENT - 2;
/// Widest and narrowest column of labels, where there is a choice.
const LABELS: [usize; 2] = [30, 16];
/// Columns between two columns of labels.
const BETWEEN: usize = 2;
/// What stands for the part of a label that is left out.
const GAP: &str = "...";

/// A table: headings, and rows whose first cell is a label, or several first cells are.
pub(super) struct Grid {
    head: Vec<String>,
    rows: Vec<Row>,
    /// Columns that are labels.
    lead: usize,
    /// Whether labels are never cut.
    whole: bool,
    /// Where to break a table that is too wide: the first column of the second part.
    fold: usize,
}

struct Row {
    tone: Tone,
    cells: Vec<String>,
    /// Whether the first cell, the only one, has the whole line, or several.
    alone: bool,
}

impl Grid {
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Grid {
        let head = head.into_iter().map(Into::into).collect();
        Grid { head, rows: Vec::new(), lead: 1, whole: false, fold: usize::MAX }
    }

    /// The first `lead` columns, at least one, are labels, of which none is cut.
    pub(super) fn whole(self, lead: usize) -> Grid {
        Grid { lead, whole: true, ..self }
    }

    pub(super) fn fold(mut self, column: usize) -> Grid {
        self.fold = column;
        self
    }

    pub(super) fn row(&mut self, tone: Tone, cells: Vec<String>) {
        self.rows.push(Row { tone, cells: cells.iter().map(|cell| visible(cell)).collect(), alone: false });
    }

    /// A label on lines of its own, uncut, above the rows that follow; spaces that it begins with indent them all.
    pub(super) fn alone(&mut self, tone: Tone, label: String) {
        self.rows.push(Row { tone, cells: vec![label], alone: true });
    }

    fn widths(&self) -> Vec<usize> {
        let cell = |row: &[String], i: usize| row.get(i).map_or(0, |cell| columns(cell));
        let rows = || {
            let own = self.rows.iter().filter(|row| !row.alone).map(|row| row.cells.as_slice());
            own.chain([self.head.as_slice()])
        };
        (0..self.head.len()).map(|i| rows().map(|row| cell(row, i)).max().unwrap_or(0)).collect()
    }

    /// The columns of labels together, uncut.
    fn labels(&self, widths: &[usize]) -> usize {
        let lead = &widths[..self.lead.min(widths.len())];
        lead.iter().sum::<usize>() + BETWEEN * lead.len().saturating_sub(1)
    }

    /// Whether all of it stands side by side with no label cut.
    pub(super) fn fits(&self) -> bool {
        let widths = self.widths();
        let numbers: usize = widths.iter().skip(self.lead).map(|width| width + 1).sum();
        INDENT + self.labels(&widths) + numbers <= WIDTH
    }

    pub(super) fn print(&self, page: &mut Page) {
        let widths = self.widths();
        let uncut = self.labels(&widths);
        let labels = if self.whole { uncut } else { uncut.clamp(4, LABELS[0]) };
        let narrowest = if self.whole { labels } else { labels.min(LABELS[1]) };
        let all = self.lead..self.head.len();
        let fold = self.fold.clamp(all.start, all.end);
        // As few parts as will do, and loose rather than tight.
        for (parts, gap) in
            [(vec![all.clone()], 2), (vec![all.clone()], 1), (vec![all.start..fold, fold..all.end], 2)]
        {
            let need = |part: &Range<usize>| INDENT + part.clone().map(|i| widths[i] + gap).sum::<usize>();
            let widest = parts.iter().map(need).max().unwrap_or(0);
            let least = if parts.len() == 1 && gap == 2 { labels } else { narrowest };
            if widest + least <= WIDTH {
                let labels = labels.min(WIDTH - widest);
                return parts.into_iter().for_each(|part| self.part(page, part, labels, &widths, gap));
            }
        }
        let labels = narrowest;
        let mut from = all.start;
        while from < all.end {
            let (mut to, mut used) = (from, INDENT + labels);
            while to < all.end && (to == from || used + widths[to] + 2 <= WIDTH) {
                used += widths[to] + 2;
                to += 1;
            }
            self.part(page, from..to, labels, &widths, 2);
            from = to;
        }
    }

    fn part(
        &self,
        page: &mut Page,
        shown: std::ops::Range<usize>,
        labels: usize,
        widths: &[usize],
        gap: usize,
    ) {
        if shown.is_empty() {
            return;
        }
        let empty = String::new();
        let line = |page: &mut Page, tone: Tone, numbers: Tone, lead: &[&str], row: &[String]| {
            let mut cells = vec![span(Tone::Plain, " ".repeat(INDENT))];
            for (i, label) in lead.iter().enumerate() {
                let width = match lead.len() {
                    1 => labels,
                    n => widths[i] + if i + 1 < n { BETWEEN } else { 0 },
                };
                cells.push(cell(tone, label, width, Align::Left));
            }
            for i in shown.clone() {
                let text = row.get(i).unwrap_or(&empty);
                cells.push(cell(numbers, text, widths[i] + gap, Align::Right));
            }
            page.line(&cells);
        };
        fn lead(cells: &[String], n: usize) -> Vec<&str> {
            (0..n).map(|i| cells.get(i).map_or("", String::as_str)).collect()
        }
        line(page, Tone::Faint, Tone::Faint, &lead(&self.head, self.lead), &self.head);
        let names: Vec<&str> =
            self.rows.iter().map(|row| row.cells.first().map_or("", String::as_str)).collect();
        let cut = if self.whole { Vec::new() } else { shorten_all(&names, labels) };
        for (i, row) in self.rows.iter().enumerate() {
            if row.alone {
                let deeper = names[i].chars().take_while(|c| *c == ' ').count();
                page.marked(INDENT + deeper, "", row.tone, names[i]);
                continue;
            }
            let numbers = if row.tone == Tone::Strong { Tone::Strong } else { Tone::Plain };
            match cut.get(i) {
                Some(name) => line(page, row.tone, numbers, &[name], &row.cells),
                None => line(page, row.tone, numbers, &lead(&row.cells, self.lead), &row.cells),
            }
        }
    }
}

/// Every label cut to fit. Those that would look alike are shown from shortly before where they begin to differ.
pub(super) fn shorten_all(labels: &[&str], width: usize) -> Vec<String> {
    let cut: Vec<String> = labels.iter().map(|label| shorten(label, width)).collect();
    let alike = |i: usize| -> Vec<&str> {
        (0..labels.len()).filter(|&j| cut[j] == cut[i]).map(|j| labels[j]).collect()
    };
    let one = |(i, label): (usize, &&str)| {
        let others = alike(i);
        let same = others.iter().map(|other| same_start(label, other)).min().unwrap_or(0);
        let from = same.saturating_sub(width / 4);
        if others.iter().all(|other| other == label) || from == 0 {
            return cut[i].clone();
        }
        let rest: String = label.chars().skip(from).collect();
        // What follows the difference matters less than the difference.
        let room = width.saturating_sub(GAP.len());
        if columns(&rest) <= room {
            return format!("{GAP}{rest}");
        }
        format!("{GAP}{}{GAP}", head(rest.chars(), room.saturating_sub(GAP.len())))
    };
    labels.iter().enumerate().map(one).collect()
}

/// How many characters two texts begin with alike.
fn same_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// As many characters as fit.
fn head(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += columns(c.encode_utf8(&mut [0; 4]));
            used <= room
        })
        .collect()
}

/// The text, or as much of its beginning and end as fits with `...` between them.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(GAP.len());
    let tail: String = head(text.chars().rev(), room / 2).chars().rev().collect();
    let gap = &GAP[..GAP.len().min(width)];
    format!("{}{gap}{}", head(text.chars(), room.div_ceil(2)).trim_end(), tail.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_both_ends() {
        assert_eq!(shorten("/api/v2/orders/items", 13), "/api/...items");
        assert_eq!(shorten("short", 13), "short");
        assert_eq!(shorten("anything", 3), "...");
        assert_eq!(shorten("anything", 0), "");
        assert!(columns(&shorten(&"\u{6f22}".repeat(20), 12)) <= 12);
    }

    #[test]
    fn labels_that_differ_are_never_cut_to_the_same() {
        let labels: Vec<String> = (0..30)
            .map(|i| format!("/api/v2/customers/{{id}}/orders/{i:02}/line-items?expand=all"))
            .collect();
        let names: Vec<&str> = labels.iter().map(String::as_str).collect();
        let mut cut = shorten_all(&names, 20);
        assert_eq!(cut[7], "...ders/07/line-i...", "{cut:?}");
        cut.dedup();
        assert_eq!(cut.len(), 30);
        assert!(cut.iter().all(|label| columns(label) <= 20), "{cut:?}");
        assert_eq!(shorten_all(&["same", "same"], 3), ["...", "..."]);
    }

    fn printed(grid: &Grid) -> String {
        let mut page = Page::new(false);
        grid.print(&mut page);
        String::from_utf8(page.finish()).expect("text")
    }

    #[test]
    fn a_wide_table_is_folded_and_no_number_is_lost() {
        let names: Vec<String> = (0..11).map(|i| format!("column-{i:02}")).collect();
        let mut grid = Grid::new(std::iter::once(String::new()).chain(names.clone())).fold(6);
        grid.row(Tone::Strong, std::iter::once("label".to_owned()).chain(names.clone()).collect());
        let shown = printed(&grid);
        assert!(shown.lines().all(|line| columns(line) <= WIDTH), "{shown}");
        assert!(names.iter().all(|name| shown.matches(name.as_str()).count() == 2), "{shown}");
        assert!(shown.lines().next().is_some_and(|line| line.ends_with("column-04")), "{shown}");
        let mut narrow = Grid::new(["", "n"]);
        narrow.row(Tone::Plain, vec!["a".into(), "1".into()]);
        assert_eq!(printed(&narrow), "        n\n  a     1\n");
    }
}
