//! The page of a search: the knee, latency and goodput against the offered rate, the trials.

use super::content::section;
use super::figures::figure;
use super::markup::{Markup, answer_class, tone_class};
use super::{SEARCH_JS, begin, data, footer, scripts_of};
use crate::Style;
use crate::content::search::{limits, percentiles, targets, trials};
use crate::words::search::{effort, headline, notes, of_target, title};
use headway_stats::search::{Found, RateOf, Searched, TrialRow};

/// The whole page.
pub(crate) fn page(searched: &Searched, style: &Style) -> Vec<u8> {
    match searched.single() {
        Some(found) => of_one(found, style),
        None => of_several(searched, style),
    }
}

/// One row for each target, and what is to be said of it; each has a page of its own in its folder.
fn of_several(searched: &Searched, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    let title = title(searched);
    begin(&mut page, &format!("{title} - Headway"), 0);
    page.raw("<body>\n<main>\n<header>\n<p class=\"brand\">Headway search</p>\n");
    page.element("h1", "", &title).raw("</header>\n");
    section(&mut page, &targets(searched));
    page.section("each", "What was found of each");
    for sentence in searched.targets.iter().flat_map(of_target) {
        page.element("p", tone_class(sentence.tone), &sentence.text);
    }
    page.end_section();
    again(&mut page, searched.seed, searched.command.as_deref(), style);
    page.raw("</main>\n");
    footer(&mut page);
    page.raw("</body>\n</html>\n");
    page.into_bytes()
}

fn of_one(found: &Found, style: &Style) -> Vec<u8> {
    let mut page = Markup::default();
    let name = if found.name.is_empty() { "unnamed" } else { &found.name };
    let drawn = has_curve(found);
    let (what, title) = if found.sweep.is_empty() { ("search", "The knee") } else { ("sweep", "The sweep") };
    begin(&mut page, &format!("{name}: {what} - Headway"), usize::from(drawn));
    page.raw("<body>\n");
    let top = page.len();
    page.raw("<main>\n<header>\n").element("p", "brand", &format!("Headway {what}"));
    page.element("h1", "", name).element("p", "subject", &effort(found)).raw("</header>\n");
    page.section("knee", title);
    let first = headline(found);
    page.element("p", answer_class(first.tone), &first.text);
    page.end_section();
    if drawn {
        figure(
            &mut page,
            "search-curve",
            if found.rate_of == RateOf::Users {
                "Response time and goodput by number of users"
            } else {
                "Response time and goodput by offered rate"
            },
            if found.sweep.is_empty() {
                "Each point is a trial, with the 95 % confidence interval of its percentile where there is one. The shaded range is the interval \
                 of the knee."
            } else {
                "Each point is a run, with the 95 % confidence interval of its percentile where there is one."
            },
        );
        page.end_section();
    }
    let notes = notes(found);
    if !notes.is_empty() {
        page.section("notes", "What else there is to know");
        for note in &notes {
            page.element("p", tone_class(note.tone), &note.text);
        }
        page.end_section();
    }
    page.fold(true);
    for part in [limits(found), trials(found)].iter().flatten() {
        section(&mut page, part);
    }
    again(&mut page, found.seed, found.command.as_deref(), style);
    page.insert_index(top);
    page.raw("</main>\n");
    footer(&mut page);
    data(&mut page, "search", found);
    data(&mut page, "percentiles", &percentiles(found));
    scripts_of(&mut page, &[SEARCH_JS]);
    page.raw("</body>\n</html>\n");
    page.into_bytes()
}

/// Whether there are two rates to draw a line between.
fn has_curve(found: &Found) -> bool {
    let mut rates: Vec<f64> =
        found.trials.iter().filter(|row: &&TrialRow| !row.response.is_empty()).map(|row| row.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates.len() > 1
}

fn again(page: &mut Markup, seed: u64, command: Option<&str>, style: &Style) {
    page.section("again", "How to repeat it");
    let mut pairs: Vec<(&str, String)> = vec![("seed", seed.to_string())];
    pairs.extend(style.folder.as_ref().map(|folder| ("folder", folder.to_string())));
    pairs.extend(style.notes.iter().map(|(name, text)| (name.as_str(), text.to_string())));
    page.pairs(&pairs);
    if let Some(command) = style.repeat.as_deref().or(command) {
        page.element("pre", "command", command);
        if let Some(hidden) = crate::words::hidden(command) {
            page.element("p", "faint", &format!("Hidden: {hidden}."));
        }
    }
    page.end_section();
}
