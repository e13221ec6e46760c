//! A histogram of the response times in plain text: log-spaced buckets, three to a tenfold.

use super::layout::{Align, INDENT, Page, WIDTH, cell, span};
use crate::Style;
use crate::format::{chosen_time, count, share_of};
use crate::words::Tone;
use headway_stats::Summary;
use headway_stats::summary::BUCKET_BOUNDS;

/// Most rows; the fastest and the slowest requests share rows where there would be more.
const MOST: usize = 13;
/// Columns of the longest bar.
const BAR: usize = 36;

/// How many requests were answered within the times of each row, where that is asked for.
pub(super) fn render(page: &mut Page, summary: &Summary, style: &Style) {
    if !style.histogram {
        return;
    }
    page.blank();
    let rows = rows(summary);
    let all: u64 = rows.iter().map(|row| row.n).sum();
    if all == 0 {
        page.marked(INDENT, "", Tone::Faint, "No histogram: no request was answered.");
        return;
    }
    page.marked(INDENT, "", Tone::Strong, &format!("Response times of the {} answered requests", count(all)));
    let most = rows.iter().map(|row| row.n).max().unwrap_or(1).max(1);
    for row in &rows {
        // One request in a million is seen, too.
        let bar = ((row.n as f64 / most as f64 * BAR as f64).round() as usize).max(usize::from(row.n > 0));
        page.line(&[
            span(Tone::Plain, " ".repeat(INDENT)),
            cell(Tone::Plain, row.text(), WIDTH - BAR - 25, Align::Left),
            cell(Tone::Plain, count(row.n), 12, Align::Right),
            cell(Tone::Plain, share_of(row.n, all), 9, Align::Right),
            span(Tone::Plain, "  "),
            span(Tone::Plain, "#".repeat(bar)),
        ]);
    }
}

/// Requests that took longer than `from` and at most `to`, in seconds.
struct Row {
    from: Option<f64>,
    to: Option<f64>,
    n: u64,
}

impl Row {
    fn text(&self) -> String {
        match (self.from, self.to) {
            (Some(from), Some(to)) => format!("{} to {}", chosen_time(from), chosen_time(to)),
            (None, Some(to)) => format!("up to {}", chosen_time(to)),
            (from, None) => format!("over {}", chosen_time(from.unwrap_or(0.0))),
        }
    }
}

/// The rows from the first to the last that has a request: bins of the document, put together.
fn rows(summary: &Summary) -> Vec<Row> {
    let bins = &summary.curves.response_histogram;
    let up_to =
        |le: f64| bins.iter().filter(|bin| bin.to.is_some_and(|to| to <= le)).map(|bin| bin.n).sum::<u64>();
    let (mut rows, mut from, mut before) = (Vec::new(), None, 0);
    for bound in BUCKET_BOUNDS {
        let to = bound as f64 / 1e9;
        let n = up_to(to);
        rows.push(Row { from, to: Some(to), n: n - before });
        (from, before) = (Some(to), n);
    }
    let all: u64 = bins.iter().map(|bin| bin.n).sum();
    rows.push(Row { from, to: None, n: all - before });
    let Some(first) = rows.iter().position(|row| row.n > 0) else { return Vec::new() };
    let last = rows.iter().rposition(|row| row.n > 0).unwrap_or(first);
    let mut rows: Vec<Row> = rows.drain(first..=last).collect();
    while rows.len() > MOST {
        // The end with fewer requests is joined.
        let n = rows.len();
        if rows[0].n + rows[1].n <= rows[n - 2].n + rows[n - 1].n {
            let first = rows.remove(0);
            (rows[0].from, rows[0].n) = (first.from, rows[0].n + first.n);
        } else if let Some(last) = rows.pop() {
            (rows[n - 2].to, rows[n - 2].n) = (last.to, rows[n - 2].n + last.n);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::HistogramBin;

    /// Bins by their upper edges.
    fn page(bins: &[(f64, u64)]) -> String {
        let mut summary = Summary::default();
        let bin = |&(to, n): &(f64, u64)| HistogramBin { to: to.is_finite().then_some(to), n, from: 0.0 };
        summary.curves.response_histogram = bins.iter().map(bin).collect();
        let mut page = Page::new(false);
        render(&mut page, &summary, &Style { histogram: true, ..Style::default() });
        String::from_utf8(page.finish()).unwrap()
    }

    fn counts(page: &str) -> Vec<(String, u64)> {
        let row = |line: &str| {
            let (name, rest) = line.split_at(21);
            let n = rest.split_whitespace().next().unwrap().replace(',', "");
            (name.trim().to_owned(), n.parse().unwrap())
        };
        page.lines().skip(2).map(row).collect()
    }

    #[test]
    fn every_answered_request_is_in_one_row() {
        let far = f64::INFINITY;
        let bins = [(0.001, 10), (0.00112, 4), (0.0025, 1), (0.0028, 13), (0.005, 17), (100.0, 2), (far, 2)];
        let shown = page(&bins);
        let rows = counts(&shown);
        assert!(shown.contains("the 49 answered requests"), "{shown}");
        assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 49);
        assert!(rows.len() <= MOST, "{shown}");
        assert!(rows.contains(&("2.5 ms to 5 ms".into(), 30)), "{shown}");
        assert!(rows.contains(&("1 ms to 2.5 ms".into(), 5)), "{shown}");
        let longest = shown.lines().map(|line| line.matches('#').count()).max();
        assert_eq!(longest, Some(BAR));
        assert!(shown.lines().all(|line| line.len() <= WIDTH), "{shown}");
    }

    #[test]
    fn rows_end_where_requests_do_and_few_are_joined_at_the_ends() {
        let rows = counts(&page(&[(0.01, 3), (0.025, 6)]));
        assert_eq!(rows, [("5 ms to 10 ms".into(), 3), ("10 ms to 25 ms".into(), 6)]);
        let mut all: Vec<(f64, u64)> = BUCKET_BOUNDS.iter().map(|&bound| (bound as f64 / 1e9, 10)).collect();
        all.push((f64::INFINITY, 1));
        let rows = counts(&page(&all));
        assert_eq!((rows.len(), rows.iter().map(|row| row.1).sum::<u64>()), (MOST, 191));
    }

    #[test]
    fn without_an_answer_it_is_said_and_without_the_flag_nothing_is() {
        assert!(page(&[]).contains("No histogram: no request was answered."));
        let mut silent = Page::new(false);
        render(&mut silent, &Summary::default(), &Style::default());
        assert!(silent.finish().is_empty());
    }
}
