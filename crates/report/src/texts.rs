//! The sentences of a document, written beside its tags and numbers for readers of JSON.
//!
//! Deliberately absent: the sentences themselves (`words`). What reads a document back makes them again.

use crate::words::{findings, why};
use headway_stats::Summary;
use headway_stats::study::Study;
use headway_stats::summary::{Evidence, NotComputed, RuleResult, Stated, ThresholdResult, Unsteady, Why};

/// The document with every sentence in its place.
pub(crate) fn of_summary(summary: &Summary) -> Summary {
    let mut told = summary.clone();
    for finding in &mut told.verdict.findings {
        finding.text = findings::text(finding);
        for evidence in &mut finding.evidence {
            if let Evidence::NoSteadyState { why: Some(why), .. } = evidence {
                unsteady(why);
            }
        }
    }
    told.verdict.rules.iter_mut().chain(&mut told.verdict.pattern_rules).for_each(rule);
    told.thresholds.iter_mut().for_each(threshold);
    missing(&mut told.not_computed);
    if let Some(why) = told.simulation.as_mut().and_then(|simulation| simulation.steady.why_not.as_mut()) {
        unsteady(why);
    }
    told
}

/// The same of a study.
pub(crate) fn of_study(study: &Study) -> Study {
    let mut told = study.clone();
    for point in &mut told.points {
        point.thresholds.iter_mut().for_each(threshold);
        missing(&mut point.not_computed);
        if let Some(why) = &mut point.why_not {
            unsteady(why);
        }
    }
    told
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

fn unsteady(stated: &mut Stated<Unsteady>) {
    stated.text = why::unsteady(stated);
}
