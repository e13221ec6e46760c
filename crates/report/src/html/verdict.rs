//! The top of the page: what was run, and the verdict; and what else a reader must know, which a run shows below its response times.

use super::audit;
use super::markup::{Markup, tone_class};
use crate::format::instants;
use crate::words::{self, Answer, Tone};
use headway_stats::Summary;
use headway_stats::summary::LoadVerdict;

/// Name and subject.
pub(super) fn header(page: &mut Markup, summary: &Summary) {
    page.raw("<header>\n<p class=\"brand\">Headway load test report</p>\n");
    let subject = words::subject(summary);
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    page.element("h1", "", name);
    page.element("p", "subject", subject.strip_prefix(name).unwrap_or(&subject).trim_start_matches(": "));
    page.raw("</header>\n");
}

/// How the requests ended and both answers; of an audit every finding.
pub(super) fn verdict(page: &mut Markup, summary: &Summary) {
    let load = words::load(summary);
    let audited = summary.audit.is_some();
    let answered = words::answers(summary);
    let within = words::thresholds::answer(summary);
    let edge = match audited {
        true => audit::edge(summary),
        false => edge(worst([answered.tone, load.tone].into_iter().chain(within.map(|within| within.tone)))),
    };
    page.listed("verdict", "Verdict");
    page.raw("<section id=\"verdict\"").attribute("class", &format!("verdict edge-{edge}"));
    page.raw(" aria-labelledby=\"verdict-title\">\n<h2 id=\"verdict-title\">Verdict</h2>\n");
    if summary.verdict.load == Some(LoadVerdict::Invalid) {
        page.raw(if audited {
            "<p class=\"alarm\" role=\"alert\"><strong>INVALID LOAD.</strong> The files do not hold the load that was \
             expected. Their percentiles describe another load: do not plan on them.</p>\n"
        } else {
            "<p class=\"alarm\" role=\"alert\"><strong>INVALID LOAD.</strong> This run did not send the load that was \
             specified. Its percentiles describe another load: do not plan on them.</p>\n"
        });
    }
    page.raw("<div class=\"answers\">\n");
    if audited {
        answer(page, "Like independent users?", &words::pattern(summary));
        if summary.verdict.load.is_some() || summary.plan.is_some() {
            answer(page, "Sent as expected?", &load);
        }
        answer(page, "Answered?", &answered);
        thresholds(page, summary);
    } else {
        answer(page, "Answered?", &answered);
        thresholds(page, summary);
        answer(page, "Sent as specified?", &load);
        answer(page, "Like independent users?", &words::pattern(summary));
    }
    page.raw("</div>\n");
    if let Some(text) = words::interruption(summary) {
        page.element("p", "warn", &text);
    }
    if audited && !words::reasons(summary).is_empty() {
        page.raw("<h3>Findings</h3>\n");
        findings(page, summary);
    }
    page.end_section();
}

/// Every finding of a run.
pub(super) fn findings_below(page: &mut Markup, summary: &Summary) {
    if words::reasons(summary).is_empty() {
        return;
    }
    page.listed("findings", "Findings");
    page.raw("<section id=\"findings\" aria-labelledby=\"findings-title\">\n<h2 id=\"findings-title\">Findings</h2>\n");
    findings(page, summary);
    page.end_section();
}

fn thresholds(page: &mut Markup, summary: &Summary) {
    if let Some(thresholds) = words::thresholds::answer(summary) {
        answer(page, "Within thresholds?", &thresholds);
    }
}

/// The tone of a box with statements of these: that of the worst.
fn worst(mut tones: impl Iterator<Item = Tone> + Clone) -> Tone {
    let first =
        [Tone::Bad, Tone::Warn, Tone::Good].into_iter().find(|tone| tones.clone().any(|of| of == *tone));
    first.or_else(|| tones.next()).unwrap_or_default()
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
    page.raw("<ol class=\"findings\">\n");
    for reason in &reasons {
        let (word, tone) = words::severity(reason.severity);
        page.raw("<li").attribute("class", &format!("edge-{}", edge(tone))).raw(">\n<p>");
        page.raw("<span").attribute("class", &format!("badge {}", tone_class(tone))).raw(">").text(word);
        page.raw("</span> <strong>")
            .text(reason.id.as_str())
            .raw("</strong> ")
            .prose(&reason.text)
            .raw("</p>\n");
        let at = if reason.at.is_empty() { String::new() } else { format!("at {}", instants(&reason.at, 8)) };
        let parts: Vec<&str> =
            [reason.evidence.as_str(), &at].into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            page.element("p", "evidence", &parts.join("; "));
        }
        if let Some(next) = &reason.next {
            page.raw("<p class=\"next\"><strong>Next:</strong> ").prose(next).raw("</p>\n");
        }
        page.raw("</li>\n");
    }
    page.raw("</ol>\n");
}
