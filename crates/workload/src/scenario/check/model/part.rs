//! A single part: what kind it is, and that it has the keys of no other.

use super::{around, balancer, station};
use crate::model::{Branch, Kind, Part};
use crate::redact::Cleared;
use crate::scenario::read::Reader;
use crate::scenario::source::Problem;
use crate::scenario::written::ModelPart;

/// What a part is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Station,
    Balancer,
    Pass,
}

/// Keys that any part may have.
const AROUND: &[&str] = &["copies", "cable", "faults", "retries", "timeout", "hedge", "breaker"];
/// Keys of a station besides `service`.
const STATION: &[&str] =
    &["servers", "queue", "discipline", "steps", "classes", "preemptive", "stalls", "cold", "speed"];

impl Sort {
    /// What a part is by its keys.
    pub fn of(part: &ModelPart) -> Result<Sort, Problem> {
        let keys = &part.keys;
        match (&part.service, &part.balancer) {
            (Some(_), Some(_)) => match keys.one_of("a part", &["service", "balancer"]) {
                Ok(_) => Ok(Sort::Station),
                Err(problem) => Err(problem.help("a balancer leads to stations: put service under pool:")),
            },
            (Some(_), None) => Ok(Sort::Station),
            (None, Some(_)) => Ok(Sort::Balancer),
            (None, None) if keys.has("to") || keys.has("pool") => Ok(Sort::Pass),
            (None, None) => Err(match STATION.iter().find(|key| keys.has(key)) {
                Some(_) => Problem::new(keys.span, "a station needs the key 'service'")
                    .help("for example { servers: 4, service: exp(8ms) }"),
                None => Problem::new(keys.span, "this part does nothing: it lacks service, balancer and to")
                    .help("for example { servers: 4, service: exp(8ms) }, or { to: NAME }"),
            }),
        }
    }

    /// In words, for names.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Station => "station",
            Sort::Balancer => "balancer",
            Sort::Pass => "pass",
        }
    }

    /// Complains about keys of other kinds of parts.
    pub fn check(self, part: &ModelPart, reader: &mut Reader<'_>) {
        let (what, of, own): (_, _, &[&str]) = match self {
            Sort::Station => ("a station", "service", STATION),
            Sort::Balancer => ("a balancer", "balancer", &["to", "pool", "hold", "knows", "queue"]),
            Sort::Pass => ("a part that only hands on", "to", &["pool"]),
        };
        let allowed: Vec<&str> = own.iter().chain(AROUND).copied().collect();
        reader.problems.extend(part.keys.only(what, of, &allowed));
    }
}

/// The part of that name. `to` are the parts that it leads to, by their final numbers.
pub(super) fn settle(
    sort: Sort,
    written: &ModelPart,
    name: String,
    shared: bool,
    to: Vec<Branch>,
    labels: &[Cleared],
    reader: &mut Reader<'_>,
) -> Option<Part> {
    let before = reader.problems.len();
    sort.check(written, reader);
    let kind = match sort {
        Sort::Station => station::settle(written, labels, reader).map(Kind::Station),
        Sort::Balancer => balancer::settle(written, to, reader).map(Kind::Balancer),
        Sort::Pass => to.first().map(|branch| Kind::Pass(branch.part)),
    };
    let retry = written.retries.as_ref().and_then(|retries| around::retries(retries, reader));
    let hedge = written.hedge.as_ref().and_then(|hedge| around::hedge(hedge, reader));
    let timeout = written.timeout.as_ref().and_then(|timeout| around::timeout(timeout, reader));
    let breaker = written.breaker.as_ref().and_then(|breaker| around::breaker(breaker, reader));
    let cable = written.cable.as_deref().and_then(around::cable);
    let station = sort == Sort::Station;
    let faults = written.faults.as_ref().and_then(|faults| around::faults(faults, station, reader));
    let copies = written.copies.as_ref().map_or(1, |copies| copies.value as u32);
    let name = reader.gate.clear(&name);
    let part = Part { name, copies, shared, retry, hedge, timeout, breaker, cable, faults, kind: kind? };
    (reader.problems.len() == before).then_some(part)
}
