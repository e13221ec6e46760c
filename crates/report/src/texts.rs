//! The sentences of a document, written beside its tags and numbers for readers of JSON.
//!
//! Deliberately absent: the sentences themselves (`words`). What reads a document back makes them again.

use crate::words::{self, findings, why};
use headway_redact::Redactor;
use headway_stats::Summary;
use headway_stats::comparison::{Comparison, NotTold};
use headway_stats::study::Study;
use headway_stats::summary::evidence::{Model, Remark};
use headway_stats::summary::{
    Evidence, NotComputed, RuleResult, StampsHow, Stated, Text, ThresholdResult, Unsteady, Why,
};

/// The document with every sentence in its place.
pub(crate) fn of_summary(summary: &Summary) -> Summary {
    let mut document = summary.clone();
    for finding in &mut document.verdict.findings {
        finding.text = Text::by_report(findings::text(finding));
        finding.evidence.iter_mut().for_each(evidence);
    }
    document.verdict.rules.iter_mut().chain(&mut document.verdict.pattern_rules).for_each(rule);
    document.thresholds.iter_mut().for_each(threshold);
    missing(&mut document.not_computed);
    let helps = |kind| words::failures::advice_in(&document, kind);
    let advice: Vec<_> =
        document.failure_reasons.rows.iter().map(|row| row.kind.map(helps).unwrap_or_default()).collect();
    for (row, advice) in document.failure_reasons.rows.iter_mut().zip(advice) {
        if row.limit.is_some() {
            // A sentence of this program's own around an origin.
            let gate = Redactor::default();
            let (reason, example) = (words::failures::reason(row), words::failures::example(row));
            (row.reason, row.example) = (gate.clear(&reason), gate.clear(&example));
        }
        row.advice = Text::by_report(advice);
    }
    if let Some(generator) = &mut document.generator {
        generator.waiting = words::waiting::waited(generator).map(Text::by_report);
    }
    for file in document.audit.iter_mut().flat_map(|audit| &mut audit.files) {
        file.stamps_how.iter_mut().for_each(stamps_how);
    }
    for offset in document.audit.iter_mut().flat_map(|audit| &mut audit.offsets) {
        offset.how = Text::by_report(words::audit::how(offset));
    }
    if let Some(estimated) = document.closed.as_mut().and_then(|closed| closed.estimated.as_mut()) {
        estimated.method = Text::by_report(words::method(estimated));
    }
    if let Some(why) = document.simulation.as_mut().and_then(|simulation| simulation.steady.why_not.as_mut())
    {
        unsteady(why);
    }
    document
}

/// The same of a study.
pub(crate) fn of_study(study: &Study) -> Study {
    let mut document = study.clone();
    for point in &mut document.points {
        point.thresholds.iter_mut().for_each(threshold);
        missing(&mut point.not_computed);
        if let Some(why) = &mut point.why_not {
            unsteady(why);
        }
        remarks(&mut point.notes, &mut point.remarks);
    }
    remarks(&mut document.not_compared, &mut document.uncompared);
    remarks(&mut document.not_judged, &mut document.unjudged);
    document.beside = study.beside.as_ref().map(of_comparison);
    document
}

/// The same of a comparison.
pub(crate) fn of_comparison(comparison: &Comparison) -> Comparison {
    let mut document = comparison.clone();
    document.runs.iter_mut().for_each(|run| missing(&mut run.not_computed));
    for not_told in document.pairs.iter_mut().flat_map(|pair| &mut pair.rows).flat_map(|row| &mut row.why_not)
    {
        if let NotTold::NoInterval { reason, .. } = not_told {
            stated(reason);
        }
    }
    document
}

fn remarks(written: &mut Vec<Text>, made_from: &mut [Evidence]) {
    *written = findings::remarks(made_from, written).into_iter().map(Text::by_report).collect();
    made_from.iter_mut().for_each(evidence);
}

/// The reasons within evidence.
fn evidence(evidence: &mut Evidence) {
    match evidence {
        Evidence::Model(Model::NoSteadyState { why: Some(why), .. })
        | Evidence::Remark(Remark::Unsteady { why, .. } | Remark::Beginning { why }) => unsteady(why),
        _ => {}
    }
}

fn rule(rule: &mut RuleResult) {
    if let Some(reason) = &mut rule.reason {
        stated(reason);
    }
}

fn threshold(threshold: &mut ThresholdResult) {
    if let Some(reason) = &mut threshold.reason {
        stated(reason);
    }
}

fn missing(all: &mut NotComputed) {
    all.values_mut().for_each(stated);
}

fn stated(stated: &mut Stated<Why>) {
    stated.text = why::why(stated);
    if let Why::NotSteady { because: Some(because) } = &mut stated.why {
        unsteady(because);
    }
}

fn stamps_how(stated: &mut Stated<StampsHow>) {
    stated.text = why::stamps_how(stated);
    if let StampsHow::User { because, .. } = &mut stated.why {
        stamps_how(because);
    }
}

fn unsteady(stated: &mut Stated<Unsteady>) {
    stated.text = why::unsteady(stated);
}
