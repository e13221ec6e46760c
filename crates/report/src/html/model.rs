//! The model behind a simulated run: its parts as a table, over time and by copy.

use super::figures::{details, figure};
use super::markup::{Cell, Markup, cell, number, toned, word};
use super::tables::dash;
use crate::format::{count, number as digits, plural, share, share_of};
use crate::words::{self, Tone};
use headway_stats::Summary;
use headway_stats::summary::{ModelPart, Simulation};

/// Parts whose lines and bars are drawn; all are in the table.
const MOST_DRAWN: usize = 8;
/// Copies of a part that are shown as a table.
const MOST_COPIES: usize = 300;

/// Charts that a simulation's page has besides.
pub(super) fn charts(summary: &Summary) -> [bool; 2] {
    let Some(simulation) = &summary.simulation else { return [false; 2] };
    [over_time(simulation).next().is_some(), by_copy(simulation).next().is_some()]
}

/// Parts that the chart over time shows.
fn over_time(simulation: &Simulation) -> impl Iterator<Item = &ModelPart> {
    simulation.parts.iter().filter(|part| part.series.len() > 1).take(MOST_DRAWN)
}

/// Parts of which the copies can be compared.
fn by_copy(simulation: &Simulation) -> impl Iterator<Item = &ModelPart> {
    simulation.parts.iter().filter(|part| part.by_copy.len() > 1).take(MOST_DRAWN)
}

/// Everything about the model; nothing where none was played.
pub(super) fn model(page: &mut Markup, summary: &Summary) {
    let Some(simulation) = &summary.simulation else { return };
    page.section("model", "The model");
    parts(page, simulation);
    page.facts(&words::model::model(summary));
    page.end_section();
    let [over_time, by_copy] = charts(summary);
    if over_time {
        parts_over_time(page, simulation);
    }
    if by_copy {
        load_by_copy(page, simulation);
    }
}

fn parts(page: &mut Markup, simulation: &Simulation) {
    if simulation.parts.is_empty() {
        return;
    }
    let row = |part: &ModelPart| -> Vec<Cell> {
        vec![
            cell(&part.name),
            cell(words::model::kind_of_part(part)),
            cell(count(part.copies)),
            toned(words::model::load_tone(part), words::model::load(part)),
            cell(dash(part.utilisation, share)),
            cell(digits(part.number)),
            cell(count(part.requests)),
            toned(
                if part.failed > 0 { Tone::Bad } else { Tone::Plain },
                share_of(part.failed, part.requests),
            ),
        ]
    };
    let rows: Vec<Vec<Cell>> = simulation.parts.iter().map(row).collect();
    let numbers = ["copies", "load", "utilisation", "in it", "requests", "failed"].map(number);
    let head: Vec<_> = [word("part"), word("kind")].into_iter().chain(numbers).collect();
    page.table("Parts of the model, all copies together", &head, &rows);
    page.element("p", "faint", words::model::COLUMNS);
}

fn shown(drawn: usize, all: usize) -> String {
    if drawn < all {
        format!(" Drawn: the first {drawn} of {}.", plural(all as u64, "part"))
    } else {
        String::new()
    }
}

fn parts_over_time(page: &mut Markup, simulation: &Simulation) {
    let drawn: Vec<&ModelPart> = over_time(simulation).collect();
    let all = simulation.parts.iter().filter(|part| part.series.len() > 1).count();
    let mut caption =
        "Above: share of the servers' time spent serving. Below: requests waiting or served in a part, averaged over its copies; \
         what rises throughout has no steady state."
            .to_owned();
    if drawn.iter().any(|part| part.series.iter().any(|point| point.up.is_some_and(|up| up < 1.0))) {
        caption.push_str(" Dashed, above: share of the copies' time that they were up.");
    }
    caption.push_str(&shown(drawn.len(), all));
    figure(page, "model-over-time", "Utilisation and number over the run", &caption);
    let summed = |part: &&ModelPart| -> Vec<Cell> {
        let numbers = || part.series.iter().map(|point| point.number);
        let busy = || part.series.iter().filter_map(|point| point.utilisation);
        vec![
            cell(&part.name),
            cell(dash(busy().reduce(f64::min), share)),
            cell(dash(busy().reduce(f64::max), share)),
            cell(dash(numbers().reduce(f64::min), digits)),
            cell(dash(numbers().reduce(f64::max), digits)),
            cell(dash(part.series.first().map(|point| point.number), digits)),
            cell(dash(part.series.last().map(|point| point.number), digits)),
        ]
    };
    let rows: Vec<Vec<Cell>> = drawn.iter().map(summed).collect();
    let titles = [
        "least utilisation",
        "largest utilisation",
        "fewest in it",
        "most in it",
        "in it at first",
        "at last",
    ];
    let head: Vec<_> = std::iter::once(word("part")).chain(titles.map(number)).collect();
    details(page, "Windows of the parts; all of them are in the JSON", &head, &rows);
}

fn load_by_copy(page: &mut Markup, simulation: &Simulation) {
    let drawn: Vec<&ModelPart> = by_copy(simulation).collect();
    let all = simulation.parts.iter().filter(|part| part.by_copy.len() > 1).count();
    let mut caption = "Each bar is a copy: of a station its utilisation, of any other part the requests that came to it. The \
                       line is the mean over the copies shown."
        .to_owned();
    if drawn.iter().any(|part| part.copies > part.by_copy.len() as u64) {
        caption.push_str(" Of many copies the first are shown.");
    }
    caption.push_str(&shown(drawn.len(), all));
    figure(page, "model-by-copy", "Load by copy", &caption);
    let copies =
        drawn.iter().flat_map(|part| part.by_copy.iter().enumerate().map(move |(i, copy)| (part, i, copy)));
    let rows: Vec<Vec<Cell>> = copies
        .take(MOST_COPIES)
        .map(|(part, i, copy)| {
            vec![
                cell(format!("{} {}", part.name, i + 1)),
                cell(count(copy.requests)),
                cell(dash(copy.utilisation, share)),
                cell(digits(copy.number)),
            ]
        })
        .collect();
    let n: usize = drawn.iter().map(|part| part.by_copy.len()).sum();
    let caption = match n > rows.len() {
        true => format!("The first {MOST_COPIES} of {} copies; all are in the JSON", count(n as u64)),
        false => "Load by copy".to_owned(),
    };
    let head = [word("copy"), number("requests"), number("utilisation"), number("in it")];
    details(page, &caption, &head, &rows);
}
