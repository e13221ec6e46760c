//! Stations: nothing without servers, nothing that takes no time where time must pass.

use super::{number, step};
use crate::model::{Cold, Discipline, Station};
use crate::redact::Cleared;
use crate::scenario::leaves::Count;
use crate::scenario::read::{Named, Reader};
use crate::scenario::source::{Problem, Span};
use crate::scenario::written::{self, ModelPart};
use headway_base::Nanos;
use headway_base::station::Stalls;

/// A model may have so many servers.
pub(super) const MOST_SERVERS: u64 = 1_000_000;
/// Requests after which a cold target is warm, at most.
const MOST_REQUESTS: u64 = 1_000_000_000_000;
/// Numbers of requests that may have speeds of their own.
const MOST_SPEEDS: usize = 100_000;

pub(super) fn settle(part: &ModelPart, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<Station> {
    let servers = match &part.servers {
        Some(servers) if servers.value == 0 => reader.complain(
            Problem::new(servers.span, "no servers: no request would ever be served")
                .help("write a number from 1 up"),
        ),
        Some(servers) => number(servers, 1..=MOST_SERVERS, reader),
        None => Some(1),
    };
    let queue = part.queue.as_ref().and_then(|queue| usize::try_from(queue.value).ok());
    let stalls = part.stalls.as_ref().and_then(|stalls| self::stalls(stalls, reader));
    let cold = part.cold.as_ref().and_then(|cold| {
        let requests = number(cold.requests.as_ref()?, 1..=MOST_REQUESTS, reader)?;
        Some(Cold { factor: cold.factor.as_ref()?.value, requests })
    });
    let mut steps = Vec::new();
    for (name, model) in part.steps.iter().flat_map(|steps| &steps.0) {
        let law = model.service.as_ref().map(|law| law.value.clone());
        steps.extend(step(name, labels, reader).zip(law).map(|(at, law)| (at as u16, law)));
    }
    let discipline = discipline(part, labels, reader);
    let speed: Vec<f64> = part.speed.iter().flatten().map(|speed| speed.value).collect();
    if part.speed.is_some() && !(1..=MOST_SPEEDS).contains(&speed.len()) {
        let problem = Problem::new(part.keys.at("speed"), format!("{} speeds", speed.len()));
        let help = "write the speed with 1, 2, ... requests, the last for more, for example [1, 1.8, 2.4]";
        reader.problems.push(problem.help(help));
    }
    let service = part.service.as_ref()?.value.clone();
    let base = Station::new(servers? as u32, service);
    Some(Station { steps, queue, stalls, cold, discipline: discipline?, speed, ..base })
}

fn discipline(part: &ModelPart, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<Discipline> {
    let written = part.discipline.as_ref();
    let discipline = written.map_or(Discipline::Fifo, |word| word.value.clone());
    let Discipline::Priority { .. } = discipline else {
        for key in ["classes", "preemptive"].into_iter().filter(|key| part.keys.has(key)) {
            let problem = Problem::new(part.keys.at(key), format!("only discipline: priority has {key}"));
            let problem = match written {
                Some(word) => problem.other(word.span, "and this is another"),
                None => problem,
            };
            reader.problems.push(problem.help("add discipline: priority, or leave it out"));
        }
        return Some(discipline);
    };
    let at = written.map_or(part.keys.span, |word| word.span);
    let Some(classes) = part.classes.as_ref().filter(|classes| !classes.0.is_empty()) else {
        let problem = Problem::new(at, "priority without classes: all requests would have the same priority");
        return reader.complain(problem.help(format!(
            "add classes: with names of steps, for example {{ {}: 0 }}",
            labels.first().map_or("add", Cleared::as_str)
        )));
    };
    let classes = self::classes(classes, labels, reader)?;
    let preemptive = part.preemptive.as_ref().is_some_and(|flag| flag.value);
    Some(Discipline::Priority { classes, preemptive })
}

/// The class of every step; those that are not named come after all others.
fn classes(written: &Named<Count>, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let mut read = Vec::with_capacity(written.0.len());
    for (name, class) in &written.0 {
        read.push(step(name, labels, reader).zip(number(class, 0..=9, reader)));
    }
    let named: Vec<(usize, u64)> = read.into_iter().collect::<Option<_>>()?;
    let last = named.iter().map(|(_, class)| *class as u8).max()?;
    let mut classes = vec![last + 1; labels.len()];
    named.into_iter().for_each(|(at, class)| classes[at] = class as u8);
    Some(classes)
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
