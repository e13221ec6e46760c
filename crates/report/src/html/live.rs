//! The live view: a page that renews itself while a run goes on, and ends as the run's report.
//!
//! The page is three files ([`file()`]) that say nothing of the run, and a document ([`snapshot`]) that its script asks for again and
//! again: the report's own markup of what has ended so far, and what its charts are drawn of. Every element of it that has changed takes
//! the place of the one before. Deliberately absent: HTTP, who may read it, and when a snapshot is made.

use super::markup::Markup;
use super::{
    CHARTS_JS, DRAW_JS, Drawn, FIELD_JS, KIT_JS, PAGE_CSS, TOOLS_JS, UPLOT_CSS, UPLOT_JS, UPLOT_VERSION,
    content, figures, rates, tables, tiles, title, verdict, whole,
};
use crate::content::run as run_content;
use crate::format::{chosen_time, plural};
use crate::{Style, words};
use headway_stats::Summary;
use serde::Serialize;

/// Name and version of the shape of [`snapshot`].
pub const SCHEMA: &str = "headway.watch/1";

const LIVE_JS: &str = include_str!("live.js");
const LIVE_CSS: &str = include_str!("live.css");
const SHELL: &str = include_str!("live.html");

/// How a run stands.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Number of this snapshot, from 1.
    pub number: u64,
    /// What has ended so far, or all of it.
    pub summary: &'a Summary,
    /// Seconds since the plan's zero.
    pub at_s: f64,
    /// How far it is, and of how much: milliseconds or requests; none where nobody knows.
    pub reached: Option<(u64, u64)>,
    /// Whether the run has ended, so that this is its report.
    pub ended: bool,
}

/// A part of the page, as it is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its media type.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
}

/// The part of the page that lies at this path; the same for every run.
pub fn file(path: &str) -> Option<File> {
    let (kind, parts): (_, &[&str]) = match path {
        "/" => ("text/html; charset=utf-8", &[SHELL]),
        "/watch.css" => ("text/css; charset=utf-8", &[UPLOT_CSS, PAGE_CSS, LIVE_CSS]),
        "/watch.js" => (
            "text/javascript; charset=utf-8",
            &[KIT_JS, UPLOT_JS, FIELD_JS, CHARTS_JS, TOOLS_JS, DRAW_JS, LIVE_JS],
        ),
        _ => return None,
    };
    Some(File { kind, text: parts.join("\n").replace("{{uplot}}", UPLOT_VERSION) })
}

/// What the script reads.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    number: u64,
    ended: bool,
    at_s: f64,
    reached: Option<(u64, u64)>,
    title: String,
    state: String,
    said: String,
    charts: usize,
    markup: String,
    #[serde(flatten)]
    drawn: Drawn<'a>,
}

/// The document of [`SCHEMA`], as JSON: state (a sentence), markup of the report, and its summary as the JSON output has it.
pub fn snapshot(standing: Standing<'_>) -> Vec<u8> {
    let Standing { number, summary, at_s, reached, ended } = standing;
    let mut page = Markup::default();
    let mut charts = figures::count(summary);
    if ended {
        whole(&mut page, summary, &Style::default(), false);
    } else {
        charts = so_far(&mut page, summary);
    }
    let word = words::load(summary).word;
    let findings = plural(summary.verdict.findings.len() as u64, "finding");
    let (title, said) = match ended {
        true => (title(summary), format!("The run has ended: {word}, {findings}.")),
        false => (format!("Running: {}", title(summary)), format!("Running: {word} so far, {findings}.")),
    };
    let document = Document {
        schema: SCHEMA,
        number,
        ended,
        at_s,
        reached,
        title,
        state: state(standing),
        said,
        charts,
        markup: String::from_utf8(page.into_bytes()).expect("markup is text"),
        drawn: Drawn::of(summary),
    };
    serde_json::to_vec(&document).expect("a summary is plain data")
}

fn state(standing: Standing<'_>) -> String {
    let Standing { summary, at_s, ended, .. } = standing;
    let (warm, n) = (summary.measured.from_s, summary.measured.n);
    let until = chosen_time((10.0 * at_s).round() / 10.0);
    match () {
        () if ended => "The run has ended. This is its report.".to_owned(),
        () if at_s < warm => {
            format!("Running for {until}: warm-up, of which nothing counts, to {}.", chosen_time(warm))
        }
        () if n == 0 => format!("Running for {until}: nothing that counts has ended yet."),
        () => format!(
            "Running for {until}. Numbers, verdict and findings are of the {} that fell due so far: what waits for a response is not \
             in them, and the verdict may change until the end.",
            plural(n, "request")
        ),
    }
}

/// What is shown of a run that goes on; how many charts that has.
fn so_far(page: &mut Markup, summary: &Summary) -> usize {
    // As the first screen: the outcome, the numbers, the failures, then how far they can be trusted.
    verdict::header(page, summary);
    run_content::thresholds(summary).iter().for_each(|part| content::section(page, part));
    tiles::so_far(page, summary);
    figures::over_time(page, summary);
    rates::failures(page, summary);
    figures::in_flight(page, summary);
    rates::statuses(page, summary);
    verdict::verdict(page, summary);
    for part in [run_content::outcomes(summary), run_content::failures(summary)] {
        part.iter().for_each(|part| content::section(page, part));
    }
    tables::times(page, summary);
    run_content::labels(summary).iter().for_each(|part| content::section(page, part));
    let drawn = [
        !summary.series.is_empty(),
        figures::has_levels(summary),
        rates::has_statuses(summary),
        rates::has_failures(summary),
    ];
    drawn.into_iter().filter(|&drawn| drawn).count()
}
