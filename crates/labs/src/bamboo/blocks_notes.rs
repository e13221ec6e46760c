//! What is to be said about failure in blocks: each sentence is chosen by the intervals of paired differences.

use super::blocks::{DOWN, OK, P50, P99, P999, Played, Setting, WAYS, Way};
use crate::Range;
use crate::words::{Sign, listed, within};

/// What ways are compared by.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    pub number: usize,
    name: &'static str,
    unit: &'static str,
    places: usize,
    /// Whether more is better.
    more: bool,
}

const fn measure(
    number: usize,
    name: &'static str,
    unit: &'static str,
    places: usize,
    more: bool,
) -> Measure {
    Measure { number, name, unit, places, more }
}

/// Every measure.
pub const MEASURES: [Measure; 4] = [
    measure(OK, "the share that succeeds", " %", 3, true),
    measure(P50, "p50", " ms", 1, false),
    measure(P99, "p99", " ms", 1, false),
    measure(P999, "p99.9", " ms", 1, false),
];

/// Ways that are compared: the first less the second.
pub const PAIRS: [(Way, Way); 5] = [
    (Way::Blocks, Way::Routers),
    (Way::Blocks, Way::OneRouter),
    (Way::Blocks, Way::Groups),
    (Way::Overlap, Way::Groups),
    (Way::Overlap, Way::Routers),
];

/// Every sentence.
pub fn notes(setting: &Setting, all: &[Played]) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(equal(setting, all));
    let blocks = Compared { first: "blocks", of: "Blocks", against: "global routing" };
    notes.extend(answer(setting, all, (Way::Blocks, Way::Routers), blocks));
    notes.extend(answer(setting, all, (Way::Blocks, Way::OneRouter), blocks));
    let apart = Compared { first: "overlapping groups", of: "Overlapping groups", against: "groups apart" };
    notes.extend(answer(setting, all, (Way::Overlap, Way::Groups), apart));
    let global = Compared { against: "global routing", ..apart };
    notes.extend(answer(setting, all, (Way::Overlap, Way::Routers), global));
    notes.extend(together(setting, all));
    notes
}

fn place(way: Way) -> Option<usize> {
    WAYS.iter().position(|other| *other == way)
}

/// Difference of a number between two ways at a load, replication by replication.
pub fn difference(all: &[Played], load: usize, (one, other): (Way, Way), number: usize) -> Option<Range> {
    let (one, other) = (place(one)?, place(other)?);
    let apart = |played: &Played| played[load][one][number] - played[load][other][number];
    Range::of(all.iter().map(apart).filter(|x| x.is_finite()).collect())
}

/// Whether a dyno is down for the same share of the time.
fn equal(setting: &Setting, all: &[Played]) -> Option<String> {
    let expected = 100.0 * setting.down();
    let of = |way: Way| {
        let at = place(way)?;
        // Times up and down do not depend on the load: one is enough.
        Range::over(all, |played| played[setting.loads.len() - 1][at][DOWN])
    };
    let (alone, whole) = (of(Way::Routers)?, of(Way::Blocks)?);
    let held = |range: &Range| range.ci.map(|_| !range.above(expected) && !range.below(expected));
    let verdict = match (held(&alone), held(&whole)) {
        (Some(true), Some(true)) => "is as much",
        (Some(_), Some(_)) => "is not as much",
        _ => "is not known to be as much",
    };
    Some(format!(
        "Total failure {verdict}, dyno by dyno or in blocks: a dyno is down {} % and {} % of the time ({expected:.3} % expected).",
        within(&alone, 3),
        within(&whole, 3)
    ))
}

/// Which of two ways is better by a measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Better,
    Worse,
    Unknown,
}

fn verdict(all: &[Played], load: usize, pair: (Way, Way), measure: Measure) -> Option<(Verdict, Range)> {
    let apart = difference(all, load, pair, measure.number)?;
    let verdict = match (Sign::of(&apart), measure.more) {
        (Sign::Unknown, _) => Verdict::Unknown,
        (Sign::Above, true) | (Sign::Below, false) => Verdict::Better,
        (Sign::Above, false) | (Sign::Below, true) => Verdict::Worse,
    };
    Some((verdict, apart))
}

/// What a sentence calls two ways.
#[derive(Clone, Copy)]
struct Compared {
    first: &'static str,
    of: &'static str,
    against: &'static str,
}

/// Whether the first of two ways is better, by load and measure.
fn answer(setting: &Setting, all: &[Played], pair: (Way, Way), names: Compared) -> Option<String> {
    let Compared { first, of, against } = names;
    let mut said = Vec::new();
    let mut verdicts = Vec::new();
    for (at, load) in setting.loads.iter().enumerate() {
        let mut by_verdict: [Vec<String>; 3] = [Vec::new(), Vec::new(), Vec::new()];
        for measure in MEASURES {
            let (verdict, apart) = verdict(all, at, pair, measure)?;
            verdicts.push((measure.number, verdict));
            let text = format!("{} ({}{})", measure.name, within(&apart, measure.places), measure.unit);
            by_verdict[verdict as usize].push(text);
        }
        let parts: Vec<String> = ["better", "worse", "no known difference"]
            .iter()
            .zip(&by_verdict)
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| format!("{word} by {}", listed(names)))
            .collect();
        said.push(format!("{} {}", load.words(), parts.join(", ")));
    }
    let has = |which: Verdict| verdicts.iter().any(|(_, verdict)| *verdict == which);
    let turns = |number: usize| {
        let has = |which: Verdict| verdicts.contains(&(number, which));
        has(Verdict::Better) && has(Verdict::Worse)
    };
    let turning: Vec<String> =
        MEASURES.iter().filter(|m| turns(m.number)).map(|m| m.name.to_owned()).collect();
    let groups = pair.0.name(setting);
    let global = pair.1.name(setting);
    let conclusion = match (has(Verdict::Better), has(Verdict::Worse)) {
        (true, true) if turning.is_empty() => {
            "which is better depends on what is asked for, not on the load".to_owned()
        }
        (true, true) => format!("which is better turns with the load, by {}", listed(&turning)),
        (true, false) => format!("{first} are better wherever a difference can be told"),
        (false, true) => format!("{first} are worse wherever a difference can be told"),
        (false, false) => "no difference can be told".to_owned(),
    };
    Some(format!("{of} ({groups}) against {against} ({global}): {conclusion}: {}.", said.join("; ")))
}

/// What of it is failing together, and not that servers are divided.
fn together(setting: &Setting, all: &[Played]) -> Option<String> {
    let mut said = Vec::new();
    for (at, load) in setting.loads.iter().enumerate() {
        let ok = difference(all, at, (Way::Blocks, Way::Groups), OK)?;
        let divided = difference(all, at, (Way::Groups, Way::Routers), P50)?;
        let word =
            |range: &Range, more: &'static str, less: &'static str, unknown: &'static str| match Sign::of(
                range,
            ) {
                Sign::Above => more,
                Sign::Below => less,
                Sign::Unknown => unknown,
            };
        said.push(format!(
            "{} {} ({} %); of dividing, {} ({} ms)",
            load.words(),
            word(&ok, "more succeed", "fewer succeed", "no known difference of those that succeed"),
            within(&ok, 3),
            word(&divided, "a longer p50", "a shorter p50", "no known difference of p50"),
            within(&divided, 1)
        ));
    }
    Some(format!(
        "Of failing together rather than each dyno by itself, in groups alike, and of dividing the dynos: {}.",
        said.join("; ")
    ))
}
