//! The page of a comparison: its answer, overlaid curves of the response times, tables of all numbers.

use super::content::section;
use super::figures::{details, figure};
use super::markup::{Cell, Column, Markup, cell, number, tone_class, word};
use super::{COMPARISON_JS, CURVES_JS, begin, data, footer, scripts_of};
use crate::Style;
use crate::content::comparison::pair;
use crate::format::{share, time};
use crate::words::comparison::{advice, condition, differences, headline, names};
use headway_stats::comparison::{Compared, Comparison, Verdict};

/// The whole page.
pub(super) fn page(comparison: &Comparison, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    let drawn = comparison.runs.iter().any(|run| run.curve.len() > 1);
    let over_time = comparison.runs.iter().any(|run| run.over_time.len() > 1);
    let first = comparison.pairs.first().map(|pair| headline(comparison, pair).1).unwrap_or_default();
    begin(&mut page, &format!("{first} - Headway"), usize::from(drawn) + usize::from(over_time));
    page.raw("<body>\n");
    let top = page.len();
    page.raw("<main>\n<header>\n<p class=\"brand\">Headway comparison</p>\n");
    for of in &comparison.pairs {
        let (tone, text) = headline(comparison, of);
        page.element("h1", tone_class(tone), &text).element("p", "subject", &names(comparison, of));
    }
    page.raw("</header>\n");
    remarks(&mut page, comparison);
    let mut pairs = comparison.pairs.iter().flat_map(|of| pair(comparison, of, true));
    // The numbers of all requests, and the curves, are the answer.
    pairs.next().iter().for_each(|part| section(&mut page, part));
    if over_time {
        self::over_time(&mut page, comparison);
    }
    if drawn {
        curves(&mut page, comparison);
    }
    page.fold(true);
    pairs.for_each(|part| section(&mut page, &part));
    again(&mut page, comparison, style);
    page.insert_index(top);
    page.raw("</main>\n");
    footer(&mut page);
    data(&mut page, "comparison", &crate::texts::of_comparison(comparison));
    scripts_of(&mut page, &[CURVES_JS, COMPARISON_JS]);
    page.raw("</body>\n</html>\n");
    page.into_bytes()
}

fn remarks(page: &mut Markup, comparison: &Comparison) {
    let mut all = crate::words::comparison::remarks(comparison);
    for of in &comparison.pairs {
        all.extend(differences(of));
        if let Verdict::NotComparable { reasons } = &of.verdict {
            all.extend(advice(reasons).map(|text| (crate::words::Tone::Plain, text)));
        }
    }
    all.extend(comparison.conditions.iter().map(|of| condition(comparison, of)));
    if all.is_empty() {
        return;
    }
    page.section("said", "To know");
    page.raw("<ul>\n");
    for (tone, text) in &all {
        page.element("li", tone_class(*tone), text);
    }
    page.raw("</ul>\n").end_section();
}

/// Response times, throughput and failures of all runs over time, in plots of one zoom.
fn over_time(page: &mut Markup, comparison: &Comparison) {
    let failed = comparison.runs.iter().flat_map(|run| &run.over_time).any(|row| row.failed > 0.0);
    let caption = format!(
        "Each run from its own zero on, warm-up included: the median and the 99th percentile of the response time by when a request was \
         due, and requests completed{} per second. Rows of a run need not be as long as those of another.",
        if failed { " and failed" } else { "" }
    );
    figure(page, "comparison-over-time", "Over time", &caption);
    page.end_section();
}

fn curves(page: &mut Markup, comparison: &Comparison) {
    let caption = "Response time that a share of the requests does not exceed, by run. Each curve ends where fewer than 10 \
                   observations lie beyond, or among requests that got no response.";
    figure(page, "comparison-curves", "Latency curves", caption);
    let shares = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0];
    let at = |run: &Compared, p: f64| {
        let below = run.curve.iter().rfind(|point| point.percentile <= p + 1e-9);
        cell(below.map_or("-".into(), |point| time(point.value)))
    };
    let rows: Vec<Vec<Cell>> = comparison
        .runs
        .iter()
        .map(|run| std::iter::once(cell(&run.name)).chain(shares.iter().map(|&p| at(run, p))).collect())
        .collect();
    let head: Vec<Column> =
        std::iter::once(word("run")).chain(shares.iter().map(|&p| number(share(p / 100.0)))).collect();
    details(page, "Response time by share of requests, from the points of the curves", &head, &rows);
}

fn again(page: &mut Markup, comparison: &Comparison, style: &Style) {
    let Some(command) = style.repeat.as_deref().or(comparison.command.as_deref()) else { return };
    page.section("again", "How to repeat it");
    page.element("pre", "command", command).end_section();
}
