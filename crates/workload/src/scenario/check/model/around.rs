//! What stands around a part: faults that come and go, retries that end, timeouts of some time.

use super::{above_zero, number};
use crate::model::{
    Backoff, Breaker, Budget, Cable, Cancel, Faults, Hedge, Jitter, Retry, Timeout, Trip, UnderWay, When,
    WhileDown,
};
use crate::scenario::check::users::takes_time;
use crate::scenario::leaves::{Count, Law, Plain, Time};
use crate::scenario::read::{OrFull, Reader};
use crate::scenario::source::Problem;
use crate::scenario::written::{self, AnswerWord};
use headway_base::Nanos;

/// A request may be made so often in all.
pub(super) const MOST_ATTEMPTS: u64 = 100;
/// A breaker may remember so many requests.
const MOST_REMEMBERED: u64 = 100_000;
/// Retries that can be saved up, at most.
const MOST_RESERVE: f64 = 1e9;

pub(super) fn cable(written: &OrFull<Law, written::Cable>) -> Option<Cable> {
    match written {
        OrFull::Short(law) => Some(Cable { out: law.value.clone(), back: law.value.clone() }),
        OrFull::Full(ways) => {
            Some(Cable { out: ways.out.as_ref()?.value.clone(), back: ways.back.as_ref()?.value.clone() })
        }
    }
}

pub(super) fn faults(written: &written::Faults, station: bool, reader: &mut Reader<'_>) -> Option<Faults> {
    let together = written.together.as_ref().is_some_and(|flag| flag.value);
    let under_way = written.under_way.as_ref().map_or(UnderWay::Finish, |word| word.value);
    let while_down = match &written.answer {
        None | Some(OrFull::Short(AnswerWord::Error)) => Some(WhileDown::Error),
        Some(OrFull::Short(AnswerWord::Silence)) => Some(WhileDown::Silence),
        Some(OrFull::Full(slow)) => {
            let factor = slow.slow.as_ref()?;
            let wrong = |title: &str, help: &str| Problem::new(factor.span, title).help(help);
            if !station {
                let help = "write answer: error or silence, or give the faults to a station";
                reader.complain(wrong("only a station can be slow: nothing else serves", help))
            } else if factor.value <= 1.0 {
                reader.complain(wrong("a fault does not make a station faster", "write a number above 1"))
            } else {
                Some(WhileDown::Slow(factor.value))
            }
        }
    };
    let when = when(written, reader);
    let lazy = written.lazy.as_ref().filter(|flag| flag.value);
    if let (Some(lazy), Some(lost)) =
        (lazy, written.under_way.as_ref().filter(|_| under_way == UnderWay::Lost))
    {
        let title = "what changes only when a request comes cannot lose what is in it meanwhile";
        let problem =
            Problem::new(lazy.span, title).other(lost.span, "it would be lost when the part goes down");
        return reader.complain(problem.help("leave out lazy, or write under-way: finish"));
    }
    Some(Faults { when: when?, together, while_down: while_down?, under_way })
}

fn when(written: &written::Faults, reader: &mut Reader<'_>) -> Option<When> {
    let keys = &written.keys;
    let kind = keys.one_of("faults", &["up", "at"]).map_err(|problem| match problem.others.is_empty() {
        true => problem.help("for example { up: exp(20s), down: exp(1s) }, or { at: 60s, for: 10s }"),
        false => problem,
    });
    let kind = match kind {
        Ok(kind) => kind,
        Err(problem) => return reader.complain(problem),
    };
    let (lacking, others): (_, &[&str]) = match kind {
        "up" => ("down", &["at", "for"]),
        _ => ("for", &["up", "down", "lazy"]),
    };
    if let Some(odd) = others.iter().find(|key| keys.has(key)) {
        let problem = Problem::new(keys.at(odd), format!("faults with '{kind}' have no use for '{odd}'"));
        return reader.complain(problem.other(keys.at(kind), "here").help("leave one of the two out"));
    }
    if !keys.has(lacking) {
        let problem = Problem::new(keys.at(kind), format!("faults with '{kind}' need the key '{lacking}'"));
        return reader
            .complain(problem.help("for example { up: exp(20s), down: exp(1s) }, or { at: 60s, for: 10s }"));
    }
    if kind == "at" {
        let (at, length) = (written.at.as_ref()?, written.r#for.as_ref()?);
        return Some(When::Once { at: at.value, length: above_zero(length, "a fault of no time", reader)? });
    }
    let (up, down) = (written.up.as_ref()?, written.down.as_ref()?);
    for (law, word) in [(up, "up"), (down, "down")] {
        if !takes_time(&law.value) {
            let problem = Problem::new(law.span, format!("it would be {word} for no time"));
            reader.problems.push(problem.help("write a time above 0, for example exp(20s)"));
        }
    }
    let lazy = written.lazy.as_ref().is_some_and(|flag| flag.value);
    Some(When::Alternating { up: up.value.clone(), down: down.value.clone(), lazy })
}

pub(super) fn retries(written: &OrFull<Count, written::Retries>, reader: &mut Reader<'_>) -> Option<Retry> {
    let attempts = |count: &Count, reader: &mut Reader<'_>| {
        if count.value == 1 {
            let problem = Problem::new(count.span, "made once in all, nothing is made again");
            return reader.complain(problem.help("write a number from 2 up, or leave retries out"));
        }
        number(count, 2..=MOST_ATTEMPTS, reader).map(|attempts| attempts as u32)
    };
    match written {
        OrFull::Short(count) => {
            Some(Retry { attempts: attempts(count, reader)?, backoff: None, budget: None })
        }
        OrFull::Full(retries) => {
            let attempts = attempts(retries.attempts.as_ref()?, reader);
            let backoff = retries.backoff.as_ref().map(|backoff| self::backoff(backoff, reader));
            let budget = retries.budget.as_ref().map(|budget| self::budget(budget, reader));
            let (backoff, budget) =
                (backoff.map_or(Some(None), |b| b.map(Some)), budget.map_or(Some(None), |b| b.map(Some)));
            Some(Retry { attempts: attempts?, backoff: backoff?, budget: budget? })
        }
    }
}

fn backoff(written: &written::Backoff, reader: &mut Reader<'_>) -> Option<Backoff> {
    let first = written.base.as_ref()?;
    let base = above_zero(first, "a first wait of no time", reader)?;
    let factor = match &written.factor {
        Some(factor) if factor.value < 1.0 => {
            let problem = Problem::new(factor.span, "waits would become shorter");
            return reader.complain(problem.help("write a number from 1 up, for example 2"));
        }
        factor => factor.as_ref().map_or(2.0, |factor| factor.value),
    };
    let most = match &written.most {
        Some(most) if most.value < base => {
            let problem = Problem::new(most.span, "the longest wait is shorter than the first");
            return reader.complain(problem.other(first.span, "the first"));
        }
        most => most.as_ref().map_or(Nanos(base.0.saturating_mul(100)), |most| most.value),
    };
    let jitter = written.jitter.as_ref().map_or(Jitter::default(), |word| word.value);
    Some(Backoff { base, factor, most, jitter })
}

fn budget(written: &written::Budget, reader: &mut Reader<'_>) -> Option<Budget> {
    let share = within(written.share.as_ref()?, 0.0, MOST_ATTEMPTS as f64, reader);
    let reserve =
        written.reserve.as_ref().map_or(Some(10.0), |reserve| within(reserve, 1.0, MOST_RESERVE, reader));
    Some(Budget { share: share?, reserve: reserve? })
}

/// A number that is at least `least` and at most `most`.
fn within(number: &Plain, least: f64, most: f64, reader: &mut Reader<'_>) -> Option<f64> {
    if (least..=most).contains(&number.value) {
        return Some(number.value);
    }
    let problem = Problem::new(number.span, format!("{} is out of range", number.value));
    reader.complain(problem.help(format!("write a number from {least} to {most}")))
}

pub(super) fn timeout(written: &OrFull<Time, written::Timeout>, reader: &mut Reader<'_>) -> Option<Timeout> {
    let (after, cancel) = match written {
        OrFull::Short(after) => (after, Cancel::Never),
        OrFull::Full(keys) => {
            (keys.after.as_ref()?, keys.cancel.as_ref().map_or(Cancel::Never, |word| word.value))
        }
    };
    Some(Timeout { after: above_zero(after, "a timeout of no time", reader)?, cancel })
}

pub(super) fn hedge(written: &OrFull<Time, written::Hedge>, reader: &mut Reader<'_>) -> Option<Hedge> {
    let (after, most, cancel) = match written {
        OrFull::Short(after) => (after, Some(1), Cancel::Never),
        OrFull::Full(keys) => {
            let most = keys.most.as_ref().map_or(Some(1), |most| number(most, 1..=MOST_ATTEMPTS - 1, reader));
            (keys.after.as_ref()?, most, keys.cancel.as_ref().map_or(Cancel::Never, |word| word.value))
        }
    };
    let after = above_zero(after, "every request would be made twice at once", reader);
    Some(Hedge { after: after?, most: most? as u32, cancel })
}

pub(super) fn breaker(written: &written::Breaker, reader: &mut Reader<'_>) -> Option<Breaker> {
    let open = above_zero(written.open.as_ref()?, "a breaker that is open for no time", reader);
    let probes = written.probes.as_ref().map_or(Some(1), |probes| number(probes, 1..=1_000_000, reader));
    let trip = trip(written, reader);
    Some(Breaker { trip: trip?, open: open?, probes: probes? as u32 })
}

fn trip(written: &written::Breaker, reader: &mut Reader<'_>) -> Option<Trip> {
    let keys = &written.keys;
    let kind = match keys.one_of("breaker", &["failures", "share"]) {
        Ok(kind) => kind,
        Err(problem) if problem.others.is_empty() => return reader.complain(problem.help(BREAKER)),
        Err(problem) => return reader.complain(problem),
    };
    if kind == "failures" {
        if keys.has("of") {
            let problem = Problem::new(keys.at("of"), "failures in a row are not of a number of requests");
            return reader.complain(problem.other(keys.at(kind), "here").help(BREAKER));
        }
        let failures = number(written.failures.as_ref()?, 1..=1_000_000, reader)?;
        return Some(Trip::InARow(failures as u32));
    }
    let share = written.share.as_ref()?;
    let Some(of) = &written.of else {
        return reader.complain(Problem::new(share.span, "a share of how many requests?").help(BREAKER));
    };
    if !(share.value > 0.0 && share.value <= 1.0) {
        let problem = Problem::new(share.span, format!("{} is no share", share.value));
        return reader.complain(problem.help("write a number above 0, at most 1, for example 0.5"));
    }
    let of = number(of, 1..=MOST_REMEMBERED, reader)?;
    Some(Trip::Share { share: share.value, of: of as u32 })
}

const BREAKER: &str = "for example { failures: 5, open: 5s }, or { share: 0.5, of: 20, open: 5s }";
