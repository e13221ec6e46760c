//! A recorded run's response times next to simulated ones, as a table; the curves overlay both.

use super::markup::{Cell, Markup, cell, number, tone_class, toned, word};
use crate::format::{count, plural, time_range};
use crate::words::Tone;
use crate::words::beside::{
    self as words, Sentence, differs_by_point, heading, known, meaning, ratio_cell, sentences, tone,
    value_cell, verdict,
};
use crate::words::study::label;
use headway_stats::Summary;
use headway_stats::study::Study;
use headway_stats::summary::{Compared, Recorded, Side, Source};

/// Points of a study that the table shows; all are in the JSON document.
const MOST_POINTS: usize = 200;

/// What the page's own run is called.
pub(super) fn own_name(summary: &Summary) -> &'static str {
    match summary.source {
        Source::Sim => "simulated",
        Source::Live | Source::Import => "measured here",
    }
}

/// What a caption says of the recorded run's curve; nothing where there is none to draw.
pub(super) fn dotted(run: Option<&Recorded>) -> Option<String> {
    let run = run.filter(|run| run.curve.len() > 1)?;
    let load = match run.load {
        Some(headway_stats::summary::LoadVerdict::Invalid) => ", whose load was INVALID",
        _ => "",
    };
    Some(format!(" Dotted: the response times of {}{load}", run.name))
}

/// Mean, p50, p90 and p99 of both.
pub(super) fn run(page: &mut Markup, summary: &Summary) {
    let Some(beside) = &summary.beside else { return };
    page.section("beside", &format!("Beside {}", beside.run.name));
    list(page, sentences(beside));
    let mut rows: Vec<Vec<Cell>> = beside.against.compared.iter().map(|of| row(cell(&of.of), of)).collect();
    let n = |n: u64| cell(count(n));
    let blank = || cell("");
    rows.push(vec![
        cell("n"),
        n(summary.response.n),
        blank(),
        n(beside.run.response.n),
        blank(),
        blank(),
        blank(),
    ]);
    table(page, "Response times of both", "response time", own_name(summary), &beside.run, &rows);
    page.raw("</section>\n");
}

/// The same for each point of a study.
pub(super) fn study(page: &mut Markup, study: &Study) {
    let Some(run) = &study.beside else { return };
    page.section("beside", &format!("Beside {}", run.name));
    let shown: Vec<_> =
        study.points.iter().filter_map(|point| Some((label(study, point), point.beside.as_ref()?))).collect();
    let mut all = known(run);
    all.extend(differs_by_point(study));
    let points = shown.iter().take(MOST_POINTS).map(|(name, against)| {
        let (tone, text) = verdict(run, against);
        (tone, format!("{name}: {text}"))
    });
    all.extend(points);
    list(page, all);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (name, against) in shown.iter().take(MOST_POINTS) {
        for of in &against.compared {
            rows.push(row(cell(format!("{name}: {}", of.of)), of));
        }
    }
    let caption = match shown.len().checked_sub(MOST_POINTS).filter(|&more| more > 0) {
        Some(more) => format!("Response times of both; {} in the JSON", plural(more as u64, "more point")),
        None => "Response times of both".to_owned(),
    };
    table(page, &caption, "point and number", "simulated", run, &rows);
    page.raw("</section>\n");
}

fn row(name: Cell, of: &Compared) -> Vec<Cell> {
    let verdict = match &of.why_not {
        Some(why) => format!("{}: {why}", words::word(of)),
        None => words::word(of).to_owned(),
    };
    vec![
        name,
        cell(value_cell(&of.simulated)),
        interval(&of.simulated),
        cell(value_cell(&of.recorded)),
        interval(&of.recorded),
        cell(ratio_cell(of)),
        toned(tone(of), verdict),
    ]
}

fn interval(side: &Side) -> Cell {
    let none = match (side.value, &side.no_interval) {
        (Some(_), Some(why)) => format!("none: {why}"),
        _ => String::new(),
    };
    toned(Tone::Faint, side.ci95.map_or(none, |[low, high]| time_range(low, high)))
}

fn table(
    page: &mut Markup,
    caption: &str,
    first: &'static str,
    own: &'static str,
    run: &Recorded,
    rows: &[Vec<Cell>],
) {
    let head = [
        word(first),
        number(own),
        number("95 % interval"),
        number(format!("{}: {}", heading(run), run.name)),
        number("95 % interval"),
        number("ratio [95 % interval]"),
        word("within their intervals"),
    ];
    page.table(caption, &head, rows);
    page.element("p", "faint", &meaning(run));
}

fn list(page: &mut Markup, all: Vec<Sentence>) {
    page.raw("<ul>\n");
    for (tone, text) in &all {
        page.element("li", tone_class(*tone), text);
    }
    page.raw("</ul>\n");
}
