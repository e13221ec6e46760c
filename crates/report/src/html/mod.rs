//! One page that opens anywhere, offline, today and in ten years: no network, no external file, charts included.
//!
//! Every number and sentence stands in the page as text and tables, so that it can be read, searched, printed and
//! heard without a script; scripts only add the charts. The summary itself is embedded as JSON. The page's policy
//! (`default-src 'none'`) keeps it from loading anything even if a name found its way around the escaping.
//!
//! Deliberately absent: any text from outside that is not escaped (`markup` has no way to write one).

mod audit;
mod comparison;
mod content;
mod demands;
mod figures;
pub mod live;
mod markup;
mod model;
mod rates;
mod run;
mod search;
mod steps;
mod study;
mod tables;
mod tiles;
mod verdict;

use crate::content::{Section, run as run_content};
use crate::{Material, Output, Style, words};
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;
use markup::{Markup, script_json};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the vendored chart library.
pub const UPLOT_VERSION: &str = "1.6.32";

const UPLOT_JS: &str = include_str!("../../vendor/uplot-1.6.32/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../vendor/uplot-1.6.32/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("../../vendor/uplot-1.6.32/LICENSE");
const PAGE_CSS: &str = include_str!("page.css");
const KIT_JS: &str = include_str!("kit.js");
const AUDIT_JS: &str = include_str!("audit.js");
const MODEL_JS: &str = include_str!("model.js");
const CHARTS_JS: &str = include_str!("charts.js");
const FIELD_JS: &str = include_str!("field.js");
const CURVES_JS: &str = include_str!("curves.js");
const STUDY_JS: &str = include_str!("study.js");
const COMPARISON_JS: &str = include_str!("comparison.js");
const SEARCH_JS: &str = include_str!("search.js");
const TOOLS_JS: &str = include_str!("tools.js");
const DRAW_JS: &str = include_str!("draw.js");
const READ_JS: &str = include_str!("read.js");

/// The report as one HTML file.
pub struct Html;

impl Output for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn about(&self) -> &'static str {
        "a page with charts in one file that opens offline"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary, Material::Study, Material::Comparison, Material::Search]
    }

    fn prints(&self) -> bool {
        false
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with("<!DOCTYPE html>") && start.contains("<html lang=\"en\" data-charts=")
    }

    fn summary(&self, summary: &Summary, style: &Style) -> Option<Vec<u8>> {
        Some(page(summary, style))
    }

    fn study(&self, study: &Study, style: &Style) -> Option<Vec<u8>> {
        Some(study::page(study, style))
    }

    fn comparison(&self, comparison: &Comparison, style: &Style) -> Option<Vec<u8>> {
        Some(comparison::page(comparison, style))
    }

    fn search(&self, searched: &Searched, style: &Style) -> Option<Vec<u8>> {
        Some(search::page(searched, style))
    }
}

fn page(summary: &Summary, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    head(&mut page, summary);
    page.raw("<body>\n");
    let top = page.len();
    page.raw("<main>\n");
    whole(&mut page, summary, style, true);
    page.insert_index(top);
    page.raw("</main>\n");
    footer(&mut page);
    scripts(&mut page, summary);
    page.raw("</body>\n</html>\n");
    page.into_bytes()
}

/// All that the report says; what does not answer the question of the run is folded, or nothing is.
fn whole(page: &mut Markup, summary: &Summary, style: &Style, folded: bool) {
    verdict::header(page, summary);
    verdict::verdict(page, summary);
    tiles::key_numbers(page, summary);
    run_content::thresholds(summary).iter().for_each(|part| content::section(page, part));
    match &summary.audit {
        Some(found) => audit::sections(page, summary, found, folded),
        None => sections(page, summary, folded),
    }
    if summary.audit.is_none() || summary.plan.is_some() {
        run::settings(page, summary);
    }
    run::not_computed(page, summary);
    run::repeat(page, summary, style);
    page.fold(false);
}

/// What a run or a simulation shows between the verdict and its settings.
fn sections(page: &mut Markup, summary: &Summary, folded: bool) {
    let show = |page: &mut Markup, part: Option<Section>| {
        part.iter().for_each(|part| content::section(page, part));
    };
    figures::over_time(page, summary);
    verdict::findings_below(page, summary);
    page.fold(folded);
    figures::heat_map(page, summary);
    figures::throughput(page, summary);
    rates::statuses(page, summary);
    rates::failures(page, summary);
    show(page, run_content::outcomes(summary));
    show(page, run_content::failures(summary));
    show(page, run_content::reasons(summary));
    tables::times(page, summary);
    figures::percentiles(page, summary);
    figures::histogram(page, summary);
    show(page, run_content::time_split(summary));
    show(page, crate::content::events::events(summary));
    steps::split(page, summary);
    show(page, run_content::labels(summary));
    steps::over_time(page, summary);
    rates::bytes(page, summary);
    show(page, run_content::datagrams(summary));
    show(page, run_content::attempts(summary));
    figures::in_flight(page, summary);
    model::model(page, summary);
    tables::sessions(page, summary);
    tables::users(page, summary);
    tables::arrivals(page, summary);
    figures::headways(page, summary);
    figures::dispersion(page, summary);
    tables::rules(page, summary);
    show(page, run_content::shards(summary));
    run::generator(page, summary);
}

fn head(page: &mut Markup, summary: &Summary) {
    begin(page, &title(summary), figures::count(summary));
}

fn title(summary: &Summary) -> String {
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    let pattern = summary.audit.is_some() && summary.verdict.load.is_none();
    let answer = if pattern { words::pattern(summary) } else { words::load(summary) };
    format!("{}: {name} - Headway", answer.word)
}

/// The page up to its body: its title, and how many charts its scripts are to draw.
fn begin(page: &mut Markup, title: &str, charts: usize) {
    page.raw("<!DOCTYPE html>\n<html lang=\"en\"");
    page.attribute("data-charts", &charts.to_string());
    page.raw(
        ">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src \
         'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action \
         'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta \
         name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
    );
    page.element("title", "", title);
    page.raw("<style>\n").raw(UPLOT_CSS).raw("\n").raw(PAGE_CSS).raw("</style>\n</head>\n");
}

fn footer(page: &mut Markup) {
    page.raw(
        "<footer>\n<p>Written by Headway, which tests the load before it reports the answer. Charts: uPlot ",
    );
    page.text(UPLOT_VERSION);
    page.raw(" (MIT licence), part of this file. This page loads nothing.</p>\n<details><summary>Licence of uPlot</summary><pre>");
    page.text_lines(UPLOT_LICENSE);
    page.raw("</pre></details>\n</footer>\n");
}

/// What the scripts of a run's page draw its charts of.
#[derive(Serialize)]
struct Drawn<'a> {
    /// As the JSON output has it.
    summary: Summary,
    /// What the findings mark.
    marks: serde_json::Value,
    /// What status codes and kinds of failure are called.
    names: BTreeMap<&'a str, String>,
    /// The steps to draw.
    steps: Vec<&'a Cleared>,
}

impl Drawn<'_> {
    fn of(summary: &Summary) -> Drawn<'_> {
        let (marks, names, steps) = (figures::marks(summary), rates::names(summary), steps::drawn(summary));
        Drawn { summary: crate::texts::of_summary(summary), marks, names, steps }
    }
}

/// JSON that the scripts read, under the name by which they find it.
fn data(page: &mut Markup, id: &str, value: &impl Serialize) {
    page.raw("<script type=\"application/json\"").attribute("id", id).raw(">");
    page.embedded(&script_json(value)).raw("</script>\n");
}

fn scripts(page: &mut Markup, summary: &Summary) {
    let drawn = Drawn::of(summary);
    data(page, "summary", &drawn.summary);
    data(page, "marks", &drawn.marks);
    data(page, "names", &drawn.names);
    data(page, "steps", &drawn.steps);
    let of_audit = summary.audit.is_some().then_some(AUDIT_JS);
    let of_model = summary.simulation.is_some().then_some(MODEL_JS);
    let charts = of_audit.into_iter().chain(of_model).chain([FIELD_JS, CHARTS_JS]);
    scripts_of(page, &charts.collect::<Vec<_>>());
}

/// The scripts: what all pages share, before and after the charts of one kind.
fn scripts_of(page: &mut Markup, own: &[&'static str]) {
    for script in [&[KIT_JS, UPLOT_JS], own, &[TOOLS_JS, DRAW_JS, READ_JS]].concat() {
        page.raw("<script>\n").raw(script).raw("</script>\n");
    }
}
