//! The page of several simulated runs: how models differ, latency curves in one plot, the sweep, tables by point.

use super::content::section;
use super::figures::{details, figure};
use super::markup::{Cell, Column, Markup, cell, number, tone_class, word};
use super::{CURVES_JS, STUDY_JS, begin, data, demands, footer, scripts_of};
use crate::Style;
use crate::content::comparison::pair;
use crate::content::study::{NUMBERS, loads, responses};
use crate::format::{count, plural, share, time, time_within};
use crate::study::sweep::{Sweep, sweep};
use crate::words::comparison::besides;
use crate::words::study::{Sentence, common, difference, gain, gains, label, not_compared, notes, subject};
use headway_stats::study::{Point, Study};

/// Curves in one plot, and lines of a sweep; all are in the tables.
const MOST_LINES: usize = 12;
/// Rows of a table; all are in the JSON document.
const MOST_ROWS: usize = 500;
/// The whole page.
pub(crate) fn page(study: &Study, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    let name = if study.name.is_empty() { "unnamed" } else { &study.name };
    let (curves, sweep) = (drawn_curves(study), sweep(study).map(drawn_lines));
    let charts = usize::from(!curves.is_empty()) + usize::from(sweep.is_some());
    begin(&mut page, &format!("{name}: simulations - Headway"), charts);
    page.raw("<body>\n");
    let top = page.len();
    page.raw("<main>\n<header>\n<p class=\"brand\">Headway simulation study</p>\n");
    page.element("h1", "", name).element("p", "subject", &subject(study)).raw("</header>\n");
    answer(&mut page, study);
    if let Some(sweep) = &sweep {
        swept(&mut page, study, sweep);
    }
    latency_curves(&mut page, study, &curves);
    remarks(&mut page, study);
    beside(&mut page, study);
    page.fold(true);
    for part in [responses(study), loads(study)].iter().flatten() {
        section(&mut page, part);
    }
    demands::study(&mut page, study);
    differences(&mut page, study);
    missing(&mut page, study);
    again(&mut page, study, style);
    page.insert_index(top);
    page.raw("</main>\n");
    footer(&mut page);
    let labels: Vec<String> = study.points.iter().map(|point| label(study, point)).collect();
    data(&mut page, "study", &crate::texts::of_study(study));
    data(&mut page, "layout", &serde_json::json!({ "labels": labels, "curves": curves, "sweep": sweep }));
    scripts_of(&mut page, &[CURVES_JS, STUDY_JS]);
    page.raw("</body>\n</html>\n");
    page.into_bytes()
}

/// Points whose curves are drawn: all, or evenly spaced ones.
fn drawn_curves(study: &Study) -> Vec<usize> {
    let with: Vec<usize> = (0..study.points.len()).filter(|&i| study.points[i].curve.len() > 1).collect();
    if with.len() <= MOST_LINES {
        return with;
    }
    (0..MOST_LINES).map(|i| with[i * (with.len() - 1) / (MOST_LINES - 1)]).collect()
}

/// As many lines of a sweep as are drawn.
fn drawn_lines(all: Sweep) -> Sweep {
    let left_out = all.lines.len().saturating_sub(MOST_LINES);
    let lines = all.lines.into_iter().take(MOST_LINES).collect();
    Sweep { lines, left_out, ..all }
}

/// Differences in the answer; the others are below the charts.
const MOST_ANSWERS: usize = 6;

/// How models differ, or what all points have in common.
fn answers(study: &Study) -> Vec<Sentence> {
    let compared = study.differences.iter().filter(|by| ["mean", "p50", "p99"].contains(&by.of.as_str()));
    compared.filter_map(|by| difference(study, by)).collect()
}

/// The answer, before any chart.
fn answer(page: &mut Markup, study: &Study) {
    let common = common(study);
    let differences = answers(study);
    if common.is_empty() && differences.is_empty() {
        return;
    }
    page.section("said", "What the runs say");
    list(page, differences.iter().take(MOST_ANSWERS));
    for sentence in &common {
        page.element("p", tone_class(sentence.tone), &sentence.text);
    }
    page.end_section();
}

/// What else there is to say, below the charts.
fn remarks(page: &mut Markup, study: &Study) {
    let mut all: Vec<_> = answers(study).into_iter().skip(MOST_ANSWERS).collect();
    let left = all.len().saturating_sub(MOST_LINES * 3);
    all.truncate(MOST_LINES * 3);
    all.extend(gains(study, study.differences.iter()));
    all.extend(not_compared(study));
    for point in &study.points {
        let name = label(study, point);
        all.extend(notes(study, point).into_iter().map(|mut note| {
            note.text = format!("{name}: {}", note.text);
            note
        }));
    }
    if all.is_empty() {
        return;
    }
    page.section("notes", "What else there is to know");
    list(page, all.iter());
    if left > 0 {
        page.element(
            "p",
            "faint",
            &format!("And {} in the table below.", plural(left as u64, "more difference")),
        );
    }
    page.end_section();
}

fn list<'a>(page: &mut Markup, mut all: impl Iterator<Item = &'a Sentence>) {
    let Some(first) = all.next() else { return };
    page.raw("<ul>\n");
    for sentence in std::iter::once(first).chain(all) {
        page.element("li", tone_class(sentence.tone), &sentence.text);
    }
    page.raw("</ul>\n");
}

fn latency_curves(page: &mut Markup, study: &Study, drawn: &[usize]) {
    if drawn.is_empty() {
        return;
    }
    let mut caption = "Response time that a share of the requests does not exceed, all replications together. Each curve ends \
                       where fewer than 10 observations lie beyond, or among requests that got no answer."
        .to_owned();
    let all = study.points.iter().filter(|point| point.curve.len() > 1).count();
    if drawn.len() < all {
        caption.push_str(&format!(
            " Drawn: {} of {}, evenly spaced.",
            drawn.len(),
            plural(all as u64, "point")
        ));
    }
    if let Some(run) = study.beside.as_ref().and_then(|beside| beside.runs.first())
        && run.curve.len() > 1
    {
        caption.push_str(&format!(" Dotted: the response times of {}.", run.name));
    }
    figure(page, "study-curves", "Latency curves", &caption);
    let shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];
    // The curve's point nearest below the share, as the curve is a staircase of its own points.
    let at = |point: &Point, p: f64| {
        let below = point.curve.iter().take_while(|(share, _)| *share <= p + 1e-9).last();
        let reached = point.curve.last().is_some_and(|(last, _)| *last >= p - 1e-9);
        cell(below.filter(|_| reached).map_or("-".into(), |(_, value)| time(*value)))
    };
    let rows: Vec<Vec<Cell>> = drawn
        .iter()
        .map(|&i| {
            let point = &study.points[i];
            std::iter::once(cell(label(study, point))).chain(shares.iter().map(|&p| at(point, p))).collect()
        })
        .collect();
    let head: Vec<Column> =
        std::iter::once(word("point")).chain(shares.iter().map(|&p| number(share(p)))).collect();
    details(page, "Response time by share of requests, from the points of the curves", &head, &rows);
}

fn swept(page: &mut Markup, study: &Study, sweep: &Sweep) {
    let mut caption = format!(
        "Mean, p50 and p99 of the response time by {}; bars: 95 % intervals of the mean over the replications.",
        sweep.name
    );
    if study.replications < 2 {
        caption = format!(
            "Mean, p50 and p99 of the response time by {}; bars: 95 % intervals by batch means, where there are any.",
            sweep.name
        );
    }
    if sweep.failed {
        caption.push_str(" Last: share of the requests that failed.");
    }
    if sweep.left_out > 0 {
        caption.push_str(&format!(" Not drawn: {}.", plural(sweep.left_out as u64, "more line")));
    }
    figure(page, "study-sweep", &format!("Response time by {}", sweep.name), &caption);
    page.end_section();
}

fn differences(page: &mut Markup, study: &Study) {
    if study.differences.is_empty() {
        return;
    }
    page.section("differences", "Models compared on the same draws");
    let name = |i: usize| study.points.get(i).map_or("-".into(), |point| label(study, point));
    let rows: Vec<Vec<Cell>> = study
        .differences
        .iter()
        .take(MOST_ROWS)
        .map(|by| {
            let shown = match by.difference.ci95 {
                Some(interval) => time_within(by.difference.mean, interval),
                None => time(by.difference.mean),
            };
            let of = NUMBERS.iter().find(|(id, ..)| *id == by.of).map_or(by.of.as_str(), |(_, name, _)| name);
            vec![
                cell(name(by.point)),
                cell(name(by.with)),
                cell(if by.ok { format!("{of} of successes") } else { of.to_owned() }),
                cell(shown),
                cell(gain(by).unwrap_or_else(|| "-".into())),
            ]
        })
        .collect();
    let head = [
        word("point"),
        word("less"),
        word("number"),
        number("difference [95 % interval]"),
        number("interval with draws of their own"),
    ];
    page.table("The first less the second, over the replications", &head, &rows);
    page.end_section();
}

/// A recorded run against the points.
fn beside(page: &mut Markup, study: &Study) {
    let Some(comparison) = &study.beside else { return };
    page.section("beside", &format!("Beside {}", comparison.base())).raw("<ul>\n");
    for (tone, text) in besides(comparison) {
        page.element("li", tone_class(tone), &text);
    }
    page.raw("</ul>\n").end_section();
    page.fold(true);
    for of in comparison.pairs.iter().take(MOST_ROWS) {
        pair(comparison, of, true).iter().for_each(|part| section(page, part));
    }
}

fn missing(page: &mut Markup, study: &Study) {
    if study.missing.is_empty() {
        return;
    }
    page.section("missing", "Points that lack plays");
    let rows: Vec<Vec<Cell>> =
        study.missing.iter().take(MOST_ROWS).map(|values| values.iter().map(cell).collect()).collect();
    let head: Vec<Column> = study.parameters.iter().map(|parameter| word(parameter.name.clone())).collect();
    page.table("Values of the parameters", &head, &rows);
    page.end_section();
}

fn again(page: &mut Markup, study: &Study, style: &Style) {
    page.section("again", "How to repeat it");
    let mut pairs: Vec<(&str, String)> =
        vec![("seed", study.seed.to_string()), ("replications", count(study.replications))];
    pairs.extend(style.folder.as_ref().map(|folder| ("run folder", folder.to_string())));
    pairs.extend(style.notes.iter().map(|(name, text)| (name.as_str(), text.to_string())));
    page.pairs(&pairs);
    match style.repeat.as_deref().or(study.command.as_deref()) {
        Some(command) => {
            page.element("pre", "command", command);
            if let Some(hidden) = crate::words::hidden(command) {
                page.element("p", "faint", &format!("Hidden: {hidden}."));
            }
        }
        None => {
            page.element("p", "faint", "The command is not known.");
        }
    }
    page.end_section();
}
