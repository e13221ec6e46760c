//! `duration`, `ramp`, `warmup` and `requests`: how long the only group comes, or how much work it does. The length of a log is a limit.

use super::Given;
use super::group::{called, only, way};
use crate::arrivals::{Arriving, TraceOf};
use crate::scenario::source::Problem;
use crate::scenario::tree::{self, Kind, Tree, Typed};
use headway_base::Nanos;
use headway_base::units::parse_time;

/// How long the last phase, a hold, lasts; of work, how long it may take.
pub(super) fn duration(root: &mut Tree, how: &Given<'_>, value: Tree) -> Result<(), Problem> {
    let group = only(root, how, |group| group.get("phases").is_some(), &["phases"])?;
    if let Some(work) = group.get_mut("work") {
        work.set("within", how.place, &value);
        return Ok(());
    }
    if change_trace(group, how, &value, TraceOf::limit)? {
        return Ok(());
    }
    let phases = phases(group, how)?;
    let number = phases.len().saturating_sub(1);
    match phases.last_mut() {
        None => phases.push(phase(how, "hold", value, &[])),
        Some(last) if last.get("hold").is_some() => last.set("hold", how.place, &value),
        Some(last) => {
            let title = format!("{} is the length of a hold, and the last phase is none", how.quoted());
            let path = how.example(&format!("users.phases.{number}"));
            let problem = Problem::new(how.place, title).other(last.span, "the last phase");
            return Err(problem.help(format!("write the path of what is meant, such as {path}")));
        }
    }
    Ok(())
}

/// How long the ramp at the beginning lasts; zero: there is none.
pub(super) fn ramp(root: &mut Tree, how: &Given<'_>, value: Tree) -> Result<(), Problem> {
    let group = only(root, how, |group| group.get("phases").is_some(), &["phases", "0", "ramp"])?;
    let level = [("arrive", "rate"), ("closed", "count"), ("connecting", "sockets")]
        .into_iter()
        .find_map(|(kind, key)| group.get(kind)?.get(key))
        .cloned();
    let phases = phases(group, how)?;
    let found = phases.first().is_some_and(|first| first.get("ramp").is_some());
    match (is_zero(&value), found) {
        (true, true) => drop(phases.remove(0)),
        (true, false) => {}
        (false, true) => phases[0].set("ramp", how.place, &value),
        (false, false) => {
            let Some(level) = level else {
                let title =
                    format!("{} has nothing to rise to: the group has no rate and no number", how.quoted());
                return Err(Problem::new(how.place, title).help("write a phase, as in ramp: 30s, to: 20/s"));
            };
            phases.insert(0, phase(how, "ramp", value, &[("to", level), ("warmup", yes(how))]));
        }
    }
    Ok(())
}

/// How long the value is held before anything counts; zero: not at all.
pub(super) fn warmup(root: &mut Tree, how: &Given<'_>, value: Tree) -> Result<(), Problem> {
    let group = only(root, how, |group| group.get("phases").is_some(), &["phases", "0", "hold"])?;
    if change_trace(group, how, &value, |of, time| of.warmup = time)? {
        return Ok(());
    }
    let phases = phases(group, how)?;
    let warms = |phase: &Tree| phase.get("warmup").is_some_and(is_true);
    let first = phases.iter().position(|phase| !warms(phase)).unwrap_or(phases.len());
    let found = phases[..first].iter().rposition(|phase| phase.get("hold").is_some());
    match (is_zero(&value), found) {
        (true, Some(at)) => drop(phases.remove(at)),
        (true, None) => {}
        (false, Some(at)) => phases[at].set("hold", how.place, &value),
        (false, None) => phases.insert(first, phase(how, "hold", value, &[("warmup", yes(how))])),
    }
    Ok(())
}

/// How many requests work is.
pub(super) fn requests(root: &mut Tree, how: &Given<'_>, value: Tree) -> Result<(), Problem> {
    let group = only(root, how, |group| group.get("work").is_some(), &["work", "requests"])?;
    let span = group.span;
    let (called, (does, _)) = (called(group), way(group));
    match group.get_mut("work") {
        Some(work) => work.set("requests", how.place, &value),
        None => {
            let title =
                format!("{} applies to a group that does fixed work, and {called} {does}", how.quoted());
            let problem = Problem::new(how.place, title).other(span, "this group");
            return Err(problem.help("say how long it comes: 'duration', or -d"));
        }
    }
    Ok(())
}

/// Changes the log that says when the group arrives, by a time; whether there is one.
fn change_trace(
    group: &mut Tree,
    how: &Given<'_>,
    value: &Tree,
    change: impl FnOnce(&mut TraceOf, Nanos),
) -> Result<bool, Problem> {
    let process = group.get_mut("arrive").and_then(|arrive| arrive.get_mut("process"));
    let Some(Tree { kind: Kind::Scalar(process), .. }) = process else { return Ok(false) };
    let Ok(Arriving::Trace(mut of)) = Arriving::parse(&process.text) else { return Ok(false) };
    let Kind::Scalar(time) = &value.kind else { return Ok(false) };
    let time = parse_time(&time.text).map_err(|error| Problem::new(how.place, error.to_string()))?;
    change(&mut of, time);
    process.text = of.to_string();
    process.lines.clear();
    Ok(true)
}

/// The phases of a group that has some or could; a hold of the default length if none are written.
fn phases<'t>(group: &'t mut Tree, how: &Given<'_>) -> Result<&'t mut Vec<Tree>, Problem> {
    let span = group.span;
    if ["arrive", "closed", "connecting"].iter().all(|way| group.get(way).is_none()) {
        let (does, _) = way(group);
        let title =
            format!("{} applies to a group that has phases, and {} {does}", how.quoted(), called(group));
        return Err(Problem::new(how.place, title)
            .other(span, "this group")
            .help("leave it out: such work ends by itself"));
    }
    if group.get("phases").is_none() {
        let hold = plain("10s", Typed::Text, how);
        let list = Kind::List(vec![phase(how, "hold", hold, &[])]);
        group.set("phases", how.place, &Tree { kind: list, span: how.place });
    }
    match group.get_mut("phases").map(|phases| &mut phases.kind) {
        Some(Kind::List(phases)) => Ok(phases),
        _ => Err(Problem::new(how.place, format!("{} needs a list of phases", how.quoted()))
            .help("write phases: [{ hold: 1m }]")),
    }
}

/// A phase that was not written.
fn phase(how: &Given<'_>, kind: &str, length: Tree, more: &[(&str, Tree)]) -> Tree {
    let mut phase = Tree { kind: Kind::Mapping(Vec::new()), span: how.place };
    phase.set(kind, how.place, &length);
    more.iter().for_each(|(key, value)| phase.set(key, how.place, value));
    phase
}

fn yes(how: &Given<'_>) -> Tree {
    plain("true", Typed::Bool(true), how)
}

fn plain(text: &str, typed: Typed, how: &Given<'_>) -> Tree {
    let scalar = tree::Scalar { typed, ..tree::key(text, how.place) };
    Tree { kind: Kind::Scalar(scalar), span: how.place }
}

fn is_true(tree: &Tree) -> bool {
    matches!(&tree.kind, Kind::Scalar(scalar) if scalar.text.eq_ignore_ascii_case("true"))
}

fn is_zero(tree: &Tree) -> bool {
    matches!(&tree.kind, Kind::Scalar(scalar) if parse_time(&scalar.text) == Ok(Nanos::ZERO))
}
