//! The top of the page: what was run, the verdict with everything that a reader must know, and the key numbers.

use super::audit;
use super::markup::{Markup, tone_class};
use crate::format::{instants, rate, share, share_of, time};
use crate::words::{self, Answer, Tone};
use stats::Summary;
use stats::summary::LoadVerdict;

/// Name and subject.
pub(super) fn header(page: &mut Markup, summary: &Summary) {
    page.raw("<header>\n<p class=\"brand\">Headway load test report</p>\n");
    let subject = words::subject(summary);
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    page.element("h1", "", name);
    page.element("p", "subject", subject.strip_prefix(name).unwrap_or(&subject).trim_start_matches(": "));
    page.raw("</header>\n");
}

/// Both answers and how the requests ended, then every finding.
pub(super) fn verdict(page: &mut Markup, summary: &Summary) {
    let load = words::load(summary);
    let audited = summary.audit.is_some();
    let edge = if audited { audit::edge(summary) } else { edge(load.tone) };
    page.raw("<section id=\"verdict\"").attribute("class", &format!("verdict edge-{edge}"));
    page.raw(" aria-labelledby=\"verdict-title\">\n<h2 id=\"verdict-title\">Verdict</h2>\n");
    if summary.verdict.load == Some(LoadVerdict::Invalid) {
        page.raw(if audited {
            "<p class=\"alarm\" role=\"alert\"><strong>INVALID LOAD.</strong> The files do not hold the load that was \
             expected. Their percentiles describe another load: do not plan on them.</p>\n"
        } else {
            "<p class=\"alarm\" role=\"alert\"><strong>INVALID LOAD.</strong> This run did not send what was asked \
             for. Its percentiles describe another load: do not plan on them.</p>\n"
        });
    }
    page.raw("<div class=\"answers\">\n");
    if audited {
        answer(page, "Like independent users?", &words::pattern(summary));
        if summary.verdict.load.is_some() || summary.plan.is_some() {
            answer(page, "Sent as expected?", &load);
        }
    } else {
        answer(page, "Sent as asked?", &load);
        answer(page, "Like independent users?", &words::pattern(summary));
    }
    answer(page, "Answered?", &words::answers(summary));
    if let Some(thresholds) = words::thresholds::answer(summary) {
        answer(page, "Within thresholds?", &thresholds);
    }
    page.raw("</div>\n");
    if let Some(text) = words::interruption(summary) {
        page.element("p", "warn", &text);
    }
    findings(page, summary);
    page.raw("</section>\n");
}

fn edge(tone: Tone) -> &'static str {
    match tone_class(tone) {
        "" => "plain",
        class => class,
    }
}

fn answer(page: &mut Markup, question: &str, answer: &Answer) {
    page.raw("<div>\n").element("p", "question", question);
    page.raw("<p")
        .attribute("class", &format!("word {}", tone_class(answer.tone)))
        .raw(">")
        .text(answer.word);
    page.raw("</p>\n").element("p", "meaning", &answer.meaning).raw("</div>\n");
}

fn findings(page: &mut Markup, summary: &Summary) {
    let reasons = words::reasons(summary);
    if reasons.is_empty() {
        return;
    }
    page.raw("<h3>Findings</h3>\n<ol class=\"findings\">\n");
    for reason in &reasons {
        let (word, tone) = words::severity(reason.severity);
        page.raw("<li").attribute("class", &format!("edge-{}", edge(tone))).raw(">\n<p>");
        page.raw("<span").attribute("class", &format!("badge {}", tone_class(tone))).raw(">").text(word);
        page.raw("</span> <strong>").text(&reason.id).raw("</strong> ").text(&reason.text).raw("</p>\n");
        let at = if reason.at.is_empty() { String::new() } else { format!("at {}", instants(&reason.at, 8)) };
        let parts: Vec<&str> =
            [reason.evidence.as_str(), &at].into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            page.element("p", "evidence", &parts.join("; "));
        }
        if let Some(next) = reason.next {
            page.raw("<p class=\"next\"><strong>Next:</strong> ").text(next).raw("</p>\n");
        }
        page.raw("</li>\n");
    }
    page.raw("</ol>\n");
}

/// The handful of numbers that people ask for first.
pub(super) fn key_numbers(page: &mut Markup, summary: &Summary) {
    let plan = summary.plan.as_ref();
    let response = &summary.response;
    let bounded = |name: &str, value: Option<f64>| {
        let lower = if response.lower_bound.contains_key(name) { "> " } else { "" };
        value.map_or("-".into(), |value| format!("{lower}{}", time(value)))
    };
    let asked = plan.and_then(|plan| plan.rate).or(summary.rate.offered);
    let total = words::total(&summary.outcomes);
    let failed = total - summary.outcomes.get("ok").copied().unwrap_or(0).min(total);
    let asked = asked.map_or(String::new(), |asked| format!("of {} asked", rate(asked)));
    let share_sent = words::asked(summary)
        .map_or(String::new(), |n| format!(", {}", share_of(summary.arrivals.started, n)));
    let run = || {
        vec![
            ("Rate sent", summary.rate.started.map_or("-".into(), rate), asked + &share_sent),
            ("Response p50", bounded("p50", response.p50), "from due to done".into()),
            ("Response p99", bounded("p99", response.p99), "from due to done".into()),
            (
                "Failed",
                share_of(failed, total),
                format!("{} of {}", crate::format::count(failed), crate::format::count(total)),
            ),
            (
                "Release lag p99",
                summary.lag.p99.map_or("-".into(), time),
                "the generator's own lateness".into(),
            ),
            (
                "Busiest worker",
                words::busiest_worker(summary).map_or("-".into(), |[handling, ..]| share(handling)),
                "of its time handling events".into(),
            ),
        ]
    };
    let tiles = summary.audit.as_ref().map_or_else(run, |found| audit::tiles(summary, found));
    page.raw("<section aria-label=\"Key numbers\" class=\"tiles\">\n");
    for (title, value, note) in tiles {
        page.raw("<div>").element("p", "tile-title", title).element("p", "tile-value", &value);
        page.element("p", "tile-note", &note).raw("</div>\n");
    }
    page.raw("</section>\n");
    if let Some(caveat) = words::caveat(summary) {
        page.element("p", "caveat", caveat);
    }
}
