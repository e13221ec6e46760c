//! Models of a target: what belongs to the whole, and the checks that parts share. Their parts are settled next door.

mod around;
mod balancer;
mod network;
mod order;
mod part;
mod station;

use super::users::takes_time;
use crate::model::{Model, Pauses};
use crate::redact::Cleared;
use crate::scenario::leaves::{Count, Time};
use crate::scenario::read::Reader;
use crate::scenario::source::Problem;
use crate::scenario::tree::Scalar;
use crate::scenario::written;
use headway_base::Nanos;
use headway_base::pieces::{self, Pieces};
use headway_base::units::nearest;
use std::ops::RangeInclusive;

/// All models of a file by name; one without a name is `model`.
pub(super) fn all(file: &written::File, labels: &[Cleared], reader: &mut Reader<'_>) -> Vec<(String, Model)> {
    if let (Some(_), Some(_)) = (&file.model, &file.models) {
        let problem =
            Problem::new(file.keys.at("models"), "a scenario cannot have both 'model' and 'models'");
        let problem = problem.other(file.keys.at("model"), "and here");
        reader.problems.push(problem.help("write the one model under models: too, with a name"));
    }
    if file.models.as_ref().is_some_and(|models| models.0.is_empty()) {
        let problem = Problem::new(file.keys.at("models"), "no models at all");
        reader.problems.push(problem.help("write for example models: { one: { service: exp(8ms) } }"));
    }
    let mut models = Vec::new();
    if let Some(model) = &file.model {
        models.extend(settle(model, labels, reader).map(|settled| ("model".to_owned(), settled)));
    }
    for (name, model) in file.models.iter().flat_map(|models| &models.0) {
        plain(name, "model", reader);
        models.extend(settle(model, labels, reader).map(|settled| (name.text.clone(), settled)));
    }
    models
}

fn settle(model: &written::Model, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<Model> {
    let before = reader.problems.len();
    let accept = model.whole.accept.as_ref().and_then(|rate| match rate.value.0 > 0.0 {
        true => Some(rate.value),
        false => reader.complain(
            Problem::new(rate.span, "no connection would ever be accepted").help("write a rate above 0"),
        ),
    });
    let pauses = model.whole.pauses.as_ref().and_then(|pauses| {
        let (every, length) = (pauses.every.as_ref()?, pauses.r#for.as_ref()?);
        if !takes_time(&every.value) {
            let problem = Problem::new(every.span, "no time would pass between two pauses");
            return reader.complain(problem.help("write a time above 0, for example exp(4s)"));
        }
        Some(Pauses { every: every.value.clone(), length: length.value.clone() })
    });
    let events = model.whole.events.as_ref().and_then(|events| {
        let (gap, count) = (events.gap.as_ref()?, events.count.as_ref()?);
        let count = u32::try_from(number(count, 1..=pieces::MOST, reader)?).unwrap_or(u32::MAX);
        let first = events.first.as_ref().map_or_else(pieces::none, |first| first.value.clone());
        Some(Pieces { first, gap: gap.value.clone(), count })
    });
    let parts = network::parts(model, labels, reader)?;
    (reader.problems.len() == before).then_some(Model { parts, accept, pauses, events })
}

/// Complains about a name that is not fit for reports and paths.
fn plain(name: &Scalar, of: &str, reader: &mut Reader<'_>) {
    if !super::is_plain_name(&name.text) {
        let problem = Problem::new(name.span, format!("'{}' is no name of a {of}", name.text));
        reader.problems.push(problem.help("write letters, digits, dot, underscore and hyphen"));
    }
}

/// A number within a range.
fn number(count: &Count, range: RangeInclusive<u64>, reader: &mut Reader<'_>) -> Option<u64> {
    if range.contains(&count.value) {
        return Some(count.value);
    }
    let problem = Problem::new(count.span, format!("{} is out of range", count.value));
    reader.complain(problem.help(format!("write a number from {} to {}", range.start(), range.end())))
}

/// A time above zero; `title` says what is wrong with zero.
fn above_zero(time: &Time, title: &str, reader: &mut Reader<'_>) -> Option<Nanos> {
    if time.value > Nanos::ZERO {
        return Some(time.value);
    }
    let problem = Problem::new(time.span, title);
    reader.complain(problem.help("write a time above 0, for example 100ms"))
}

/// The number of a step.
fn step(name: &Scalar, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<usize> {
    // Names of steps have their secrets replaced.
    let shown = reader.gate.clear(&name.text);
    let found = labels.iter().position(|label| *label == shown);
    found.or_else(|| {
        let labels: Vec<&str> = labels.iter().map(Cleared::as_str).collect();
        let guess = nearest(&name.text, labels.iter().copied());
        let problem = Problem::new(name.span, format!("no step is called '{}'", name.text));
        reader.complain(problem.guess(guess).help(format!("the steps are {}", labels.join(", "))))
    })
}
