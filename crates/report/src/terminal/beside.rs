//! A recorded run's response times next to simulated ones, and whether they agree.

use super::grid::Grid;
use super::layout::Page;
use crate::format::{count, plural, time_range};
use crate::words::Tone;
use crate::words::beside::{
    Sentence, differs_by_point, heading, known, meaning, not_compared, ratio_cell, sentences, tone,
    value_cell, verdict, word,
};
use crate::words::study::label;
use headway_stats::Summary;
use headway_stats::study::Study;
use headway_stats::summary::{Compared, Interval, Side};

/// Points that are shown, and sentences on what differs, before the rest is left to the other outputs.
const MOST_POINTS: usize = 24;
const MOST_SENTENCES: usize = 12;

/// Of a single run; nothing where no other is shown beside it.
pub(super) fn run(page: &mut Page, summary: &Summary) {
    let Some(beside) = &summary.beside else { return };
    page.heading(&format!("Beside {}", beside.run.name));
    let mut grid = Grid::new(["", "simulated", heading(&beside.run), "ratio [95 %]", ""]);
    for of in &beside.against.compared {
        let Compared { recorded, simulated, .. } = of;
        let number =
            vec![of.of.clone(), value_cell(simulated), value_cell(recorded), ratio_cell(of), word(of).into()];
        grid.row(tone(of), number);
        let intervals = [simulated, recorded].map(interval);
        if intervals.iter().any(|text| !text.is_empty()) {
            grid.row(Tone::Faint, std::iter::once(String::new()).chain(intervals).collect());
        }
    }
    let [own, other] = [summary.response.n, beside.run.response.n].map(count);
    grid.row(Tone::Plain, vec!["n".into(), own, other]);
    grid.print(page);
    lines(page, sentences(beside));
    page.marked(2, "", Tone::Faint, &meaning(&beside.run));
}

/// Of several: the same by point.
pub(super) fn study(page: &mut Page, study: &Study) {
    let Some(run) = &study.beside else { return };
    page.heading(&format!("Beside {}", run.name));
    let shown: Vec<_> =
        study.points.iter().filter_map(|point| Some((point, point.beside.as_ref()?))).collect();
    let mut grid = Grid::new(["", "simulated", heading(run), "ratio [95 %]", ""]);
    for (point, against) in shown.iter().take(MOST_POINTS) {
        grid.alone(Tone::Strong, label(study, point));
        for of in &against.compared {
            let [own, other] = [&of.simulated, &of.recorded].map(value_cell);
            grid.row(tone(of), vec![format!("  {}", of.of), own, other, ratio_cell(of), word(of).into()]);
        }
    }
    grid.print(page);
    if shown.len() > MOST_POINTS {
        let more = plural((shown.len() - MOST_POINTS) as u64, "more point");
        page.marked(2, "", Tone::Faint, &format!("and {more} in the JSON and HTML documents"));
    }
    lines(page, known(run));
    lines(page, differs_by_point(study));
    let named = |(point, against): &(&_, &_)| {
        let all = std::iter::once(verdict(run, against)).chain(not_compared(against));
        let name = label(study, point);
        all.map(|(tone, text)| (tone, format!("{name}: {text}"))).collect::<Vec<_>>()
    };
    lines(page, shown.iter().take(MOST_POINTS).flat_map(named).collect());
    page.marked(2, "", Tone::Faint, &meaning(run));
}

fn lines(page: &mut Page, all: Vec<Sentence>) {
    let left = all.len().saturating_sub(MOST_SENTENCES);
    for (tone, text) in all.into_iter().take(MOST_SENTENCES) {
        let mark = if tone == Tone::Bad || tone == Tone::Warn { "! " } else { "" };
        page.marked(2, mark, tone, &text);
    }
    if left > 0 {
        page.marked(
            2,
            "",
            Tone::Faint,
            &format!("and {} in the HTML document", plural(left as u64, "more line")),
        );
    }
}

fn interval(side: &Side) -> String {
    let shown = |[low, high]: Interval| time_range(low, high);
    match (side.value, side.ci95) {
        (Some(_), Some(interval)) => shown(interval),
        (Some(_), None) => "no interval".into(),
        (None, _) => String::new(),
    }
}
