//! What is to be said about the retry storm: each sentence is chosen by the intervals of the replications.

use super::storm::{Numbers, Played, Setting, VARIANTS, Variant, WATCHED};
use crate::Range;
use crate::words::within;
use headway_report::format::{chosen_time, plural};

/// Answered less than this share of what was answered before: it has not recovered.
const STUCK: f64 = 0.5;

/// Every sentence.
pub fn notes(setting: &Setting, all: &[Played]) -> Vec<String> {
    [outlives(setting, all), feeds(setting, all), cures(setting, all)].into_iter().flatten().collect()
}

fn place(variant: Variant) -> Option<usize> {
    VARIANTS.iter().position(|other| *other == variant)
}

fn range(all: &[Played], variant: Variant, of: impl Fn(&Numbers) -> f64) -> Option<Range> {
    let at = place(variant)?;
    Range::over(all, |played| of(&played[at]))
}

/// How many replications recovered while they were watched, and when those did.
fn recovered(all: &[Played], variant: Variant) -> Option<(usize, Option<Range>)> {
    let at = place(variant)?;
    let times: Vec<f64> = all.iter().filter_map(|played| played[at].recovered_s).collect();
    Some((times.len(), Range::of(times)))
}

/// Whether requests are known to be answered much less than before, five minutes after the trigger.
fn stuck(all: &[Played], variant: Variant) -> Option<bool> {
    range(all, variant, |numbers| numbers.goodput[3] - STUCK * numbers.goodput[0])
        .map(|range| range.below(0.0))
}

/// Whether the failure outlives its trigger.
fn outlives(setting: &Setting, all: &[Played]) -> Option<String> {
    let goodput = |when: usize| range(all, Variant::Plain, move |numbers| numbers.goodput[when]);
    let (before, early, late) = (goodput(0)?, goodput(2)?, goodput(3)?);
    let (n, times) = recovered(all, Variant::Plain)?;
    let verdict = if all.len() < 2 {
        "whether the failure outlives its trigger is not known from one replication".to_owned()
    } else if stuck(all, Variant::Plain)? {
        "the failure outlives its trigger".to_owned()
    } else if n == all.len() {
        format!("the system recovers by itself, after {} s", within(&times?, 0))
    } else {
        format!(
            "{n} of {} recover within {}",
            plural(all.len() as u64, "replication"),
            chosen_time(WATCHED.as_secs_f64())
        )
    };
    Some(format!(
        "Slow for {}, with {}: {verdict}. Answered in time: {}/s before, {}/s a minute after it is over, {}/s five minutes after.",
        chosen_time(setting.length.as_secs_f64()),
        setting.name(Variant::Plain),
        within(&before, 1),
        within(&early, 1),
        within(&late, 1)
    ))
}

/// What keeps it up.
fn feeds(setting: &Setting, all: &[Played]) -> Option<String> {
    let of = |of: fn(&Numbers) -> f64| range(all, Variant::Plain, of);
    let attempts = of(|numbers| numbers.attempts)?;
    let asked = range(all, Variant::Plain, |numbers| numbers.attempts * setting.load)?;
    let (wasted, busy) = (of(|numbers| 100.0 * numbers.wasted)?, of(|numbers| 100.0 * numbers.busy)?);
    let most = setting.load * f64::from(setting.attempts);
    let could = if most > 1.0 {
        format!(
            "With {} it can keep itself up at any load above {:.0} % of capacity; the load is {:.0} %",
            setting.name(Variant::Plain),
            100.0 / f64::from(setting.attempts),
            100.0 * setting.load
        )
    } else {
        format!(
            "With {} it cannot keep itself up: even if all give up, the load is {most:.2} times the capacity",
            setting.name(Variant::Plain)
        )
    };
    let does = if asked.above(1.0) && stuck(all, Variant::Plain)? {
        format!(
            "Five minutes after the trigger each request makes {} attempts: the load is {} times the capacity. The servers \
             are busy {} % of the time, and {} % of their work is for clients who have given up",
            within(&attempts, 2),
            within(&asked, 2),
            within(&busy, 1),
            within(&wasted, 1)
        )
    } else {
        let lasts = if asked.below(1.0) {
            "so that no backlog lasts"
        } else {
            "and whether a backlog lasts is not known"
        };
        format!(
            "Five minutes after the trigger each request makes {} attempts: the load is {} times the capacity, {lasts}",
            within(&attempts, 2),
            within(&asked, 2)
        )
    };
    Some(format!("{could}. {does}."))
}

/// What helps and what does not.
fn cures(setting: &Setting, all: &[Played]) -> Option<String> {
    let (mut well, mut ill, mut some) = (Vec::new(), Vec::new(), Vec::new());
    for variant in VARIANTS.into_iter().filter(|variant| *variant != Variant::Plain) {
        let (n, times) = recovered(all, variant)?;
        let name = setting.name(variant);
        match times.filter(|_| n == all.len()) {
            Some(times) => well.push(format!("{name} (after {:.0} s)", times.mean)),
            None if n == 0 => ill.push(name),
            None => some.push(format!("{name} ({n} of {})", all.len())),
        }
    }
    let mut said = Vec::new();
    let words = match all.len() {
        1 => ["recovered in the one replication", "", "did not recover in it"],
        _ => ["always recovers", "recovers at times", "never recovers"],
    };
    for (names, word) in [well, some, ill].into_iter().zip(words) {
        if !names.is_empty() {
            said.push(format!("What {word}: {}.", names.join("; ")));
        }
    }
    let within = chosen_time(WATCHED.as_secs_f64());
    Some(format!("The same trigger, done otherwise, within {within}. {}", said.join(" ")))
}
