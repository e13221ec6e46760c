//! The page of a comparison: its answer, overlaid curves of the response times, tables of all numbers.

use super::content::section;
use super::figures::{details, figure};
use super::markup::{Cell, Column, Markup, cell, number, tone_class, word};
use super::{COMPARISON_JS, CURVES_JS, DRAW_JS, KIT_JS, READ_JS, UPLOT_JS, begin, data, footer};
use crate::Style;
use crate::content::comparison::pair;
use crate::format::{share, time};
use crate::words::comparison::{advice, condition, differences, headline, names};
use headway_stats::comparison::{Compared, Comparison, Verdict};

/// The whole page.
pub(super) fn page(comparison: &Comparison, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    let drawn = comparison.runs.iter().any(|run| run.curve.len() > 1);
    let first = comparison.pairs.first().map(|pair| headline(comparison, pair).1).unwrap_or_default();
    begin(&mut page, &format!("{first} - Headway"), usize::from(drawn));
    page.raw("<body>\n<main>\n<header>\n<p class=\"brand\">Headway comparison</p>\n");
    for of in &comparison.pairs {
        let (tone, text) = headline(comparison, of);
        page.element("h1", tone_class(tone), &text).element("p", "subject", &names(comparison, of));
    }
    page.raw("</header>\n");
    remarks(&mut page, comparison);
    if drawn {
        curves(&mut page, comparison);
    }
    for of in &comparison.pairs {
        pair(comparison, of, true).iter().for_each(|part| section(&mut page, part));
    }
    again(&mut page, comparison, style);
    page.raw("</main>\n");
    footer(&mut page);
    data(&mut page, "comparison", &crate::texts::of_comparison(comparison));
    page.raw("<script>\n").raw(KIT_JS).raw("</script>\n<script>").raw(UPLOT_JS).raw("</script>\n<script>\n");
    page.raw(CURVES_JS)
        .raw(COMPARISON_JS)
        .raw("</script>\n<script>\n")
        .raw(DRAW_JS)
        .raw("</script>\n<script>\n")
        .raw(READ_JS)
        .raw("</script>\n</body>\n</html>\n");
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
