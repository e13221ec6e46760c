//! Phases of the only group, put in as a whole; and `30s@50` in a list of phases: short for `{ hold: 30s, at: 50/s }`, or `at: 50` where users or sockets are counted.
//!
//! Deliberately absent: what a length and a value must be. The reader says so, as of a phase that is written out.

use super::group::only;
use super::{Given, per_second};
use crate::scenario::source::Problem;
use crate::scenario::tree::{self, Kind, Scalar, Tree, Typed};
use std::ops::Range;

/// Puts a list in the place of the only group's phases. What is wrong with the list as a whole is shown where it was given.
pub(super) fn put(root: &mut Tree, how: &Given<'_>, list: Tree) -> Result<(), Problem> {
    let group = only(root, how, |_| true, &["phases"])?;
    if let Kind::Mapping(entries) = &mut group.kind {
        entries.retain(|(key, _)| key.text != "phases");
    }
    group.set("phases", how.place, &list);
    Ok(())
}

/// The problem with phases that are no YAML, at its place: its words would be about files.
pub(super) fn unreadable(problem: Problem) -> Problem {
    Problem::new(problem.span, "this cannot be read as a list of phases")
        .help("write phases such as 30s@50 or { ramp: 10s, to: 50/s }, with commas between them")
}

/// Writes out the short entries of all groups. What is no short entry stays, and so does a text with references to the
/// environment: where it would be split depends on their values.
pub(super) fn write_out(root: &mut Tree) {
    let groups = match root.get_mut("users") {
        Some(Tree { kind: Kind::List(groups), .. }) => &mut groups[..],
        Some(only) => std::slice::from_mut(only),
        None => return,
    };
    for group in groups {
        let arrives = group.get("arrive").is_some();
        if let Some(Tree { kind: Kind::List(phases), .. }) = group.get_mut("phases") {
            phases.iter_mut().for_each(|phase| {
                if let Some(hold) = hold(phase, arrives) {
                    *phase = hold;
                }
            });
        }
    }
}

/// What a short entry stands for.
fn hold(entry: &Tree, arrives: bool) -> Option<Tree> {
    let Kind::Scalar(scalar) = &entry.kind else { return None };
    let at = scalar.text.find('@').filter(|_| scalar.template.is_none() && scalar.raw.is_none())?;
    let length = part(scalar, 0..at)?;
    let mut value = part(scalar, at + 1..scalar.text.len())?;
    if arrives {
        per_second(&mut value);
    }
    let key = |name| tree::key(name, entry.span);
    Some(Tree { kind: Kind::Mapping(vec![(key("hold"), length), (key("at"), value)]), span: entry.span })
}

/// A part of a text as a value of its own; none where it is empty.
fn part(scalar: &Scalar, range: Range<usize>) -> Option<Tree> {
    let untrimmed = &scalar.text[range.clone()];
    let text = untrimmed.trim();
    if text.is_empty() {
        return None;
    }
    let start = range.start + untrimmed.len() - untrimmed.trim_start().len();
    let span = scalar.part(start..start + text.len());
    let typed = text.parse::<u64>().map_or(Typed::Text, |number| Typed::Number(number.into()));
    let lines = scalar.lines.first().map(|_| (0, span.start)).into_iter().collect();
    let part = Scalar { text: text.to_owned(), typed, span, lines, template: None, raw: None };
    Some(Tree { kind: Kind::Scalar(part), span })
}
