//! What the page shows of an audit: the sections of its content, with charts between them, and its key numbers.
//!
//! Every label is in the tables, and every file; the terminal has the short form.

use super::markup::Markup;
use super::tables::dash;
use super::tiles::Tile;
use super::{content, figures, markup, rates, steps, tables};
use crate::brady;
use crate::content::{Section, audit as sections};
use crate::format::{chosen, count, number as digits, rate, share_of, time};
use crate::words;
use crate::words::audit::COARSE;
use headway_stats::Summary;
use headway_stats::summary::Audit;

/// Everything between the verdict and what was not computed.
pub(super) fn sections(page: &mut Markup, summary: &Summary, audit: &Audit, folded: bool) {
    let show = |page: &mut Markup, parts: Vec<Section>| {
        parts.iter().for_each(|part| content::section(page, part));
    };
    show(page, sections::read(summary, audit));
    show(page, sections::starts(summary).into_iter().collect());
    figures::headways(page, summary);
    page.fold(folded);
    figures::counts(page, audit);
    figures::dispersion(page, summary);
    let of_labels = if brady::asked(summary).is_some() {
        sections::his_tables(audit)
    } else {
        sections::measures(summary, audit).into_iter().flatten().collect()
    };
    show(page, of_labels);
    figures::histogram(page, summary);
    figures::percentiles(page, summary);
    figures::over_time(page, summary);
    figures::heat_map(page, summary);
    figures::throughput(page, summary);
    rates::statuses(page, summary);
    rates::failures(page, summary);
    steps::over_time(page, summary);
    show(page, sections::users(summary).into_iter().collect());
    figures::groups(page, summary);
    if summary.plan.is_some() {
        tables::arrivals(page, summary);
    }
    tables::rules(page, summary);
    show(page, sections::failures(summary, audit));
}

/// The numbers that an audit is read for.
pub(super) fn tiles(summary: &Summary, audit: &Audit) -> Vec<Tile> {
    let arrivals = &summary.arrivals;
    let total = words::total(&summary.outcomes);
    let failed = total - summary.outcomes.get("ok").copied().unwrap_or(0).min(total);
    let error = match arrivals.cov_se {
        _ if words::audit::is_coarse(audit) => words::audit::OF_THE_CLOCK.to_owned(),
        Some(se) => format!("standard error {}", digits(se)),
        None => String::new(),
    };
    let failures = match words::tells_outcomes(summary) {
        true => ("Failed", share_of(failed, total), format!("{} of {}", count(failed), count(total))),
        false => ("Failed", "-".into(), words::NOT_TOLD.into()),
    };
    let rort = summary.closed.as_ref().and_then(|closed| closed.rort);
    vec![
        ("CoV of headways", dash(arrivals.cov, digits), error),
        (
            "Rate",
            dash(arrivals.rate, rate),
            format!("{} {}", count(arrivals.started), words::audit::judged(summary)),
        ),
        (
            "Rate x resolution",
            dash(audit.resolution.rate_x_q, digits),
            format!("above {} headways say nothing", chosen(COARSE)),
        ),
        ("Response, mean", dash(summary.response.mean, time), format!("n = {}", count(summary.response.n))),
        failures,
        ("RoRT", dash(rort, crate::format::share), "share of a user's cycle spent waiting".into()),
    ]
}

/// The class of an answer's edge for the whole verdict: that of the pattern, unless the load was held to a plan.
pub(super) fn edge(summary: &Summary) -> &'static str {
    let answer = if summary.verdict.load.is_some() { words::load(summary) } else { words::pattern(summary) };
    match markup::tone_class(answer.tone) {
        "" => "plain",
        class => class,
    }
}
