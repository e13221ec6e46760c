//! The model of a target: nothing without servers, nothing that takes no time where time must pass.

use super::users::takes_time;
use crate::model::{Cold, Kind, Model, Part, Pauses, Station};
use crate::scenario::leaves::Count;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written;
use base::Nanos;
use base::station::Stalls;
use base::units::nearest;

/// A model may have so many servers.
const MOST_SERVERS: u64 = 1_000_000;
/// Requests after which a cold target is warm, at most.
const MOST_REQUESTS: u64 = 1_000_000_000_000;

pub(super) fn settle(model: &written::Model, labels: &[String], reader: &mut Reader<'_>) -> Option<Model> {
    let before = reader.problems.len();
    let servers = model.servers.as_ref().map_or(Some(1), |servers| some_of(servers, MOST_SERVERS, reader));
    let queue = model.queue.as_ref().and_then(|queue| usize::try_from(queue.value).ok());
    let stalls = model.stalls.as_ref().and_then(|stalls| self::stalls(stalls, reader));
    let accept = model.accept.as_ref().and_then(|rate| match rate.value.0 > 0.0 {
        true => Some(rate.value),
        false => reader.complain(
            Problem::new(rate.span, "no connection would ever be accepted").help("write a rate above 0"),
        ),
    });
    let cold = model.cold.as_ref().and_then(|cold| {
        let requests = some_of(cold.requests.as_ref()?, MOST_REQUESTS, reader)?;
        Some(Cold { factor: cold.factor.as_ref()?.value, requests })
    });
    let pauses = model.pauses.as_ref().and_then(|pauses| {
        let (every, length) = (pauses.every.as_ref()?, pauses.r#for.as_ref()?);
        if !takes_time(&every.value) {
            let problem = Problem::new(every.span, "no time would pass between two pauses");
            return reader.complain(problem.help("write a time above 0, for example exp(4s)"));
        }
        Some(Pauses { every: every.value.clone(), length: length.value.clone() })
    });
    let mut steps = Vec::new();
    for (name, step) in model.steps.iter().flat_map(|steps| &steps.0) {
        match labels.iter().position(|label| *label == name.text) {
            Some(at) => steps.extend(step.service.as_ref().map(|law| (at as u16, law.value.clone()))),
            None => {
                let guess = nearest(&name.text, labels.iter().map(String::as_str));
                let problem = Problem::new(name.span, format!("no step is called '{}'", name.text));
                reader
                    .problems
                    .push(problem.guess(guess).help(format!("the steps are {}", labels.join(", "))));
            }
        }
    }
    let service = model.service.as_ref()?.value.clone();
    let station = Station { steps, queue, stalls, cold, ..Station::new(servers? as u32, service) };
    let parts = vec![Part::new("target", Kind::Station(station))];
    (reader.problems.len() == before).then_some(Model { parts, accept, pauses })
}

/// A number of which there must be some, and at most `most`.
fn some_of(count: &Count, most: u64, reader: &mut Reader<'_>) -> Option<u64> {
    if (1..=most).contains(&count.value) {
        return Some(count.value);
    }
    let problem = Problem::new(count.span, format!("{} is out of range", count.value));
    reader.complain(problem.help(format!("write a number from 1 to {most}")))
}

fn stalls(stalls: &written::Stalls, reader: &mut Reader<'_>) -> Option<Stalls> {
    let kind = stalls
        .keys
        .one_of("stalls", &["every", "at"])
        .map_err(|problem| reader.problems.push(problem))
        .ok()?;
    let length = stalls.r#for.as_ref()?;
    let wrong =
        |span: Span, title: &str| Problem::new(span, title).help("for example { every: 60s, for: 2s }");
    if length.value <= Nanos::ZERO {
        return reader.complain(wrong(length.span, "a stall of no length"));
    }
    let every = match (kind, &stalls.every, &stalls.at) {
        ("at", _, Some(at)) => return Stalls::once(at.value, length.value).ok(),
        (_, Some(every), _) => every,
        _ => return None,
    };
    let stalls = Stalls::new(every.value, length.value).ok();
    stalls.or_else(|| {
        let problem = wrong(length.span, "a stall must be over before the next begins");
        reader.complain(problem.other(every.span, "begins again after"))
    })
}
