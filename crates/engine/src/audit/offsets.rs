//! How far the clocks of several generators may be apart.
//!
//! Where one of the files is the log of the target, each request must have reached the target between its start and its
//! end. Which line of the log is which request need not be known: if each stamp lies between its request's start and end,
//! then so does the k-th of all stamps between the k-th of all starts and the k-th of all ends (the order statistics of
//! x <= y are in order too). That bounds the offset from both sides, provided that the log holds these requests and no
//! others: the same number of rows, in all or of a label that both name.
//!
//! Deliberately absent: drift, and moving rows by what was found.

use super::first_pass::{FileRead, Read};
use anyhow::Result;
use headway_base::{Kind, Nanos, Record};
use headway_import::Clock;
use headway_records::spool::InOrder;
use headway_stats::summary::{ClocksRelated, Offset, Text};
use headway_workload::redact::Cleared;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Labels by which two files are related; each takes a pass.
const MOST_LABELS: usize = 4;

/// One row for each generator after the first, and one for each log of the target.
pub(super) fn offsets(read: &Read) -> Result<Vec<Offset>> {
    let unknown = |generator: &Cleared, why: ClocksRelated| Offset {
        generator: generator.clone(),
        related: Some(why),
        ..Offset::default()
    };
    let Some(target) = read.files.iter().find(|f| f.witness) else {
        let why = match read.clock {
            Clock::Unix => ClocksRelated::Nothing,
            Clock::Relative => ClocksRelated::Beginnings,
        };
        let others = read.generators.iter().skip(1);
        return Ok(others.map(|generator| unknown(generator, why.clone())).collect());
    };
    let load: Vec<&FileRead> = read.load().collect();
    let target_clock: Vec<Result<Ahead, ClocksRelated>> =
        load.iter().map(|file| relate(read, file, target, load.len() == 1)).collect::<Result<_>>()?;
    let mut offsets = Vec::new();
    let (first, reference) = (&target_clock[0], &load[0].file.path);
    for (file, own) in load.iter().zip(&target_clock).skip(1) {
        // The target is ahead of the first by so much, and of this one by so much.
        let offset = first.as_ref().and_then(|first| own.as_ref().map(|own| first.less(own)));
        offsets.push(match offset {
            Ok(ahead) => ahead.offset(&file.file.path, reference),
            Err(why) => unknown(&file.file.path, why.clone()),
        });
    }
    offsets.push(match first {
        Ok(ahead) => ahead.offset(&target.file.path, reference),
        Err(why) => unknown(&target.file.path, why.clone()),
    });
    Ok(offsets)
}

/// Between which two values a clock is ahead of another.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Ahead {
    low: i64,
    high: i64,
    n: u64,
}

impl Ahead {
    fn less(&self, other: &Ahead) -> Ahead {
        Ahead { low: self.low - other.high, high: self.high - other.low, n: self.n.min(other.n) }
    }

    fn and(self, other: Ahead) -> Ahead {
        Ahead { low: self.low.max(other.low), high: self.high.min(other.high), n: self.n + other.n }
    }

    /// With positive numbers: the clock that is ahead is named.
    fn offset(&self, generator: &Cleared, reference: &Cleared) -> Offset {
        let seconds = |ns: i64| Nanos(ns).as_secs_f64();
        let ahead_s = 0.5 * (seconds(self.low) + seconds(self.high));
        let (leader, low_s, high_s) = match ahead_s < 0.0 {
            true => (reference, seconds(-self.high), seconds(-self.low)),
            false => (generator, seconds(self.low), seconds(self.high)),
        };
        Offset {
            generator: generator.clone(),
            ahead_s: Some(ahead_s),
            related: Some(ClocksRelated::Target { leader: leader.clone(), low_s, high_s }),
            how: Text::default(),
            n: self.n,
        }
    }
}

/// How far the target's clock is ahead of the clock of one file; why it cannot be told.
fn relate(
    read: &Read,
    file: &FileRead,
    target: &FileRead,
    alone: bool,
) -> Result<Result<Ahead, ClocksRelated>> {
    if target.facts.clock != read.clock {
        return Ok(Err(ClocksRelated::OneBeginning));
    }
    if !file.facts.ends {
        return Ok(Err(ClocksRelated::NoEnds));
    }
    let whole = alone && file.requests.rows == target.requests.rows;
    let pairs =
        if whole { vec![None] } else { same_labels(read, file, target).into_iter().map(Some).collect() };
    let mut found: Option<Ahead> = None;
    for pair in pairs {
        let Some(ahead) = bound(file, target, pair)? else { continue };
        found = Some(found.map_or(ahead, |found| found.and(ahead)));
    }
    Ok(match found {
        Some(ahead) if ahead.low <= ahead.high => Ok(ahead),
        Some(_) => Err(ClocksRelated::NoOneOffset),
        None => Err(ClocksRelated::NoCommonLabel {
            target: target.requests.rows,
            file: file.file.path.clone(),
            n: file.requests.rows,
        }),
    })
}

/// Numbers of the labels that stand equally often in both, each only once, the most frequent first.
fn same_labels(read: &Read, file: &FileRead, target: &FileRead) -> Vec<(u16, u16)> {
    let labels = read.labels.as_slice();
    let counted = |f: &FileRead| -> Vec<(usize, u64)> {
        let counts = f.requests.survey.by_label.iter().copied().enumerate();
        counts.filter(|&(step, n)| n > 0 && step < labels.len()).collect()
    };
    let (own, theirs) = (counted(file), counted(target));
    let elsewhere = |step: usize| {
        let n = |f: &FileRead| f.requests.survey.by_label.get(step).is_some_and(|&n| n > 0);
        read.load().filter(|f| n(f)).count() > 1
    };
    let mut pairs: Vec<(u64, (u16, u16))> = Vec::new();
    for &(step, n) in own.iter().filter(|&&(step, _)| !elsewhere(step)) {
        let mut same = theirs.iter().filter(|&&(other, _)| is_same(&labels[step], &labels[other]));
        let only = same.next().filter(|_| same.next().is_none());
        if let Some(&(other, m)) = only
            && n == m
        {
            pairs.push((n, (step as u16, other as u16)));
        }
    }
    pairs.sort_by_key(|&(n, _)| Reverse(n));
    pairs.into_iter().map(|(_, pair)| pair).take(MOST_LABELS).collect()
}

/// Whether a label names what a server calls `GET /path`: so, or as a path or URL, with or without a query.
fn is_same(label: &str, of_server: &str) -> bool {
    let (method, path) = of_server.split_once(' ').unwrap_or(("", of_server));
    let own = label.strip_prefix(method).map_or(label, str::trim_start);
    let own = match own.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => own,
    };
    own.split('?').next() == Some(path)
}

/// The bound by all requests, or by those of a label of each; none if not every one has started.
fn bound(file: &FileRead, target: &FileRead, pair: Option<(u16, u16)>) -> Result<Option<Ahead>> {
    let mut requests = Requests { rows: file.spooled.in_order()?, step: pair.map(|p| p.0) };
    let stamps =
        || -> Result<Requests> { Ok(Requests { rows: target.spooled.in_order()?, step: pair.map(|p| p.1) }) };
    let (mut by_start, mut by_end) = (stamps()?, stamps()?);
    let mut ahead = Ahead { low: i64::MIN, high: i64::MAX, n: 0 };
    // Ends come out in order too: no later request ends before it starts.
    let mut ends: BinaryHeap<Reverse<Nanos>> = BinaryHeap::new();
    loop {
        let request = requests.next()?;
        let now = request.as_ref().map(|r| r.started.get().unwrap_or(r.intended));
        while let Some(&Reverse(end)) = ends.peek()
            && now.is_none_or(|now| end <= now)
        {
            ends.pop();
            let Some(stamp) = by_end.next()? else { return Ok(None) };
            ahead.low = ahead.low.max(stamp.intended.0 - end.0);
        }
        let Some(request) = request else { break };
        let (Some(start), Some(stamp)) = (request.started.get(), by_start.next()?) else { return Ok(None) };
        ahead.high = ahead.high.min(stamp.intended.0 - start.0);
        ahead.n += 1;
        ends.push(Reverse(request.done));
    }
    if ahead.n == 0 || by_start.next()?.is_some() {
        return Ok(None);
    }
    // Each instant may be off by its last digit, an end by that of the start and that of the time taken.
    let (own, theirs) = (file.facts.resolution.0, target.facts.resolution.0);
    Ok(Some(Ahead { low: ahead.low - 2 * own - theirs, high: ahead.high + own + theirs, ..ahead }))
}

/// Requests of a file by time, or those of one label.
struct Requests<'a> {
    rows: InOrder<'a>,
    step: Option<u16>,
}

impl Requests<'_> {
    fn next(&mut self) -> Result<Option<Record>, headway_records::Error> {
        while let Some(record) = self.rows.next()? {
            if record.kind == Kind::Request && self.step.is_none_or(|step| record.step == step) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_both_sides() {
        for label in ["GET /a", "/a", "http://h:80/a?x=1", "GET http://h/a", "/a?x"] {
            assert!(is_same(label, "GET /a"), "{label}");
        }
        for label in ["GET /ab", "/", "POST /a", "a", "http://h"] {
            assert!(!is_same(label, "GET /a"), "{label}");
        }
        assert!(is_same("http://h", "GET /") && is_same("request", "request"));
    }

    #[test]
    fn offsets_add_up() {
        let (a, b) = (Ahead { low: 5, high: 9, n: 3 }, Ahead { low: 1, high: 2, n: 7 });
        assert_eq!(a.less(&b), Ahead { low: 3, high: 8, n: 3 });
        assert_eq!(a.and(b), Ahead { low: 5, high: 2, n: 10 });
    }

    #[test]
    fn the_clock_that_is_ahead_is_named() {
        let of = |low, high| {
            let offset = Ahead { low, high, n: 3 }.offset(&"b.csv".into(), &"a.csv".into());
            (offset.ahead_s, offset.related)
        };
        let by = |leader: &'static str, low_s, high_s| {
            Some(ClocksRelated::Target { leader: leader.into(), low_s, high_s })
        };
        assert_eq!(of(-2_000_000, -1_000_000), (Some(-0.0015), by("a.csv", 0.001, 0.002)));
        assert_eq!(of(-1_000_000, 2_000_000), (Some(0.0005), by("b.csv", -0.001, 0.002)));
    }
}
