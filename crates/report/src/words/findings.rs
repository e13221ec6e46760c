//! What findings say: effect and cause as sentences, from their evidence.

use super::why::unsteady;
use crate::format::{count, number, times_what};
use headway_stats::summary::{Evidence, Finding, Grows};

/// The sentences of a finding: from its evidence, or as its document has them where there is none that this version knows.
pub fn text(finding: &Finding) -> String {
    if finding.evidence.is_empty() {
        return finding.text.clone();
    }
    finding.evidence.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn sentence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::FillsUp { part, load, parts, growth } => fills_up(part, *load, *parts, growth.as_ref()),
        Evidence::NoSteadyState { why, n, fastest } => {
            let why = why.as_ref().map_or_else(
                || {
                    format!(
                        "by MSER no cut within the first half of the {} response times leaves the rest steady",
                        count(*n)
                    )
                },
                unsteady,
            );
            let what = fastest.as_ref().map_or_else(
                || "No part of the model is shown to fill up.".to_owned(),
                |growth| format!("The number of requests in {} grew by {}.", growth.part, speed(growth)),
            );
            format!("No steady state was found: {why}. {what} Run for longer, or ask for less.")
        }
    }
}

fn fills_up(part: &str, load: Option<f64>, parts: usize, growth: Option<&Grows>) -> String {
    let grew = growth.map_or_else(
        || "How fast the number of requests in it grows is not known from so few windows.".into(),
        |growth| match growth.ci95[0] > 0.0 {
            true => format!("The number of requests in it grew by {}.", speed(growth)),
            false => {
                format!(
                    "In this run it is not shown that the number of requests in it grew: {}.",
                    speed(growth)
                )
            }
        },
    );
    format!(
        "There is no steady state: {} {grew} Response times tell how long the run was; ask for less, or give it more servers.",
        too_much(part, load, parts)
    )
}

/// Which part has more work than it can do, and how many others have.
fn too_much(part: &str, load: Option<f64>, parts: usize) -> String {
    let others = match parts {
        0 | 1 => String::new(),
        2 => ", and another part for more than it can do too".into(),
        _ => format!(", and {} other parts for more than they can do too", parts - 1),
    };
    match load {
        None => format!(
            "the mean service time of {part} is infinite, so whatever it is asked for is more than it can do{others}."
        ),
        Some(load) => format!("{part} is asked for {} its servers can do{others}.", times_what(load)),
    }
}

/// `10.3 per second (95 % interval 8.18 to 11.1)`.
fn speed(growth: &Grows) -> String {
    let [low, high] = growth.ci95.map(number);
    format!("{} per second (95 % interval {low} to {high})", number(growth.per_second))
}
