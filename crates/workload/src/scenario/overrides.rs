//! Values that take the place of some in the file, before anything is checked: where a path leads, and what is wrong with
//! one that leads nowhere.
//!
//! Deliberately absent: what a value must be. The reader says so, as of values in the file.

mod group;
mod lengths;
mod level;
mod phases;

use super::environment::Environment;
use super::source::{Overridden, Problem, Source, Span};
use super::tree::{self, Kind, Tree, Typed};
use headway_base::units::nearest;

/// A value that takes the place of one in the file, and how it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Override {
    /// Keys from the top of the file on, with dots between them: `model.servers`. An entry of a list is named by its
    /// number from 0 or by its `name`, as in `users.buyers.think`; the name of an only group may be left out. The last
    /// key need not be there yet, and `+` appends to a list. Six paths are those of the only group: `rate`, `users`,
    /// `duration`, `ramp`, `warmup` and `requests`.
    pub path: String,
    /// A key under that path, taken as it is: a header's name, for example.
    pub key: Option<String>,
    /// The value.
    pub value: Value,
    /// What stands before the value where it is shown: `--set model.servers=`, `-R `.
    pub lead: String,
}

/// A value as it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// As it would stand in the file, on one line. A bare number for a rate is per second.
    Yaml(String),
    /// Phases as they would stand between the brackets of a list, on one line.
    Phases(String),
    /// A text that stands for itself: nothing in it is a reference or a template.
    Text(String),
}

impl Override {
    /// The value of a sweep, shown as `path=value`.
    pub fn swept(path: &str, value: &str) -> Override {
        Override::led(format!("{path}="), path, value)
    }

    /// What `--set path=value` says.
    pub fn set(path: &str, value: &str) -> Override {
        Override::led(format!("--set {path}="), path, value)
    }

    /// What a flag says of the value at that path, shown as `flag value`.
    pub fn flag(flag: &str, path: &str, value: &str) -> Override {
        Override::led(Override::before_value(flag), path, value)
    }

    /// What a flag says of the phases of the only group: a list without its brackets, shown as `flag phases`.
    pub fn phases(flag: &str, phases: &str) -> Override {
        Override { value: Value::Phases(phases.to_owned()), ..Override::flag(flag, "users.phases", "") }
    }

    /// What stands before the value that a flag gives: nothing where it is an argument without a flag.
    fn before_value(flag: &str) -> String {
        if flag.is_empty() { String::new() } else { format!("{flag} ") }
    }

    /// A text that stands for itself, shown as `flag text`.
    pub fn literal(flag: &str, path: &str, text: &str) -> Override {
        Override { value: Value::Text(text.to_owned()), ..Override::flag(flag, path, "") }
    }

    /// A text that stands for itself, under a key of the mapping at that path.
    pub fn text(flag: &str, path: &str, key: &str, text: &str) -> Override {
        Override {
            key: Some(key.to_owned()),
            value: Value::Text(text.to_owned()),
            ..Override::led(Override::before_value(flag), path, "")
        }
    }

    fn led(lead: String, path: &str, value: &str) -> Override {
        Override { path: path.to_owned(), key: None, value: Value::Yaml(value.to_owned()), lead }
    }

    /// It as it was given: `-R 200`.
    pub fn shown(&self) -> String {
        let (Value::Yaml(value) | Value::Phases(value) | Value::Text(value)) = &self.value;
        format!("{}{value}", self.lead)
    }
}

/// Overrides as they are shown, with places after those of a file of so many bytes.
pub(super) fn texts(length: usize, overrides: &[Override]) -> Vec<Overridden> {
    let mut at = length + 1;
    let mut texts = Vec::with_capacity(overrides.len());
    for text in overrides.iter().map(Override::shown) {
        let next = at + text.len() + 1;
        texts.push(Overridden { text, at });
        at = next;
    }
    texts
}

/// How an override was given, for what is said of it.
struct Given<'o> {
    /// Its path.
    path: &'o str,
    /// The flag, where the path does not show.
    name: &'o str,
    /// The place of the path's first byte, where the path shows.
    shown: Option<usize>,
    /// The place of the path, or else of the flag.
    place: Span,
}

impl<'o> Given<'o> {
    fn new(given: &'o Override, at: usize) -> Given<'o> {
        let lead = given.lead.trim_end();
        match given.lead.strip_suffix('=').and_then(|lead| lead.strip_suffix(given.path.as_str())) {
            Some(before) => {
                let start = at + before.len();
                let place = Span { start, end: start + given.path.len() };
                Given { path: &given.path, name: lead, shown: Some(start), place }
            }
            None => {
                let place = Span { start: at, end: at + lead.len() };
                Given { path: &given.path, name: lead, shown: None, place }
            }
        }
    }

    /// The place of a part of the path, given by its first byte there.
    fn part(&self, from: usize, length: usize) -> Span {
        let shown = |at| Span { start: at + from, end: at + from + length };
        self.shown.map_or(self.place, shown)
    }

    /// What people call it, in a sentence.
    fn quoted(&self) -> String {
        if self.shown.is_some() { format!("'{}'", self.path) } else { self.name.to_owned() }
    }

    /// Another path as people would give it.
    fn example(&self, path: &str) -> String {
        if self.shown.is_some() { path.to_owned() } else { self.assigned(path) }
    }

    /// Another path and a value as people would give them.
    fn assigned(&self, path: &str) -> String {
        format!("{}{path}=...", if self.shown.is_some() { "" } else { "--set " })
    }
}

/// Puts the values into the tree, and writes out what its phases say for short; the answer is what is wrong with them. The source has their texts.
pub(super) fn apply(
    tree: &mut Tree,
    source: &Source,
    overrides: &[Override],
    environment: &mut Environment<'_>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    phases::write_out(tree);
    for (given, Overridden { at, .. }) in overrides.iter().zip(&source.overridden) {
        let how = Given::new(given, *at);
        let from = at + given.lead.len();
        let value = match &given.value {
            Value::Text(text) => Ok((tree::literal(text, from), Vec::new())),
            Value::Yaml(_) | Value::Phases(_) if given.shown().chars().any(char::is_control) => {
                Err(Problem::new(how.place, "a value that is put into the file stands on one line"))
            }
            Value::Yaml(text) => tree::value(text, from, environment),
            // The bracket has the place of the blank before the value, so that what follows it is where it is shown.
            Value::Phases(text) => {
                tree::value(&format!("[{text}]"), from - 1, environment).map_err(phases::unreadable)
            }
        };
        match value {
            Ok((value, broken)) => {
                problems.extend(broken);
                let placed = match &given.value {
                    Value::Phases(_) => phases::put(tree, &how, value),
                    _ => place(tree, &how, given.key.as_deref(), value),
                };
                problems.extend(placed.err().map(Problem::unplaced));
                phases::write_out(tree);
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// Puts a value where it belongs.
fn place(tree: &mut Tree, how: &Given<'_>, key: Option<&str>, mut value: Tree) -> Result<(), Problem> {
    if let Some(key) = key {
        if let Some(holder) = walk(tree, how, how.path)? {
            if matches!(holder.kind, Kind::Null) {
                holder.kind = Kind::Mapping(Vec::new());
            }
            holder.set(key, how.place, &value);
        }
        return Ok(());
    }
    if matches!(how.path.rsplit('.').next(), Some("rate" | "accept")) {
        per_second(&mut value);
    }
    match how.path {
        "rate" => level::RATE.put(tree, how, &value),
        "users" => level::USERS.put(tree, how, &value),
        "duration" => lengths::duration(tree, how, value),
        "ramp" => lengths::ramp(tree, how, value),
        "warmup" => lengths::warmup(tree, how, value),
        "requests" => lengths::requests(tree, how, value),
        _ => {
            if let Some(old) = walk(tree, how, how.path)? {
                *old = value;
            }
            Ok(())
        }
    }
}

/// A bare number becomes a rate per second.
fn per_second(value: &mut Tree) {
    if let Kind::Scalar(scalar) = &mut value.kind
        && scalar.text.parse::<f64>().is_ok_and(|number| number >= 0.0)
    {
        scalar.text.push_str("/s");
        scalar.typed = Typed::Text;
        scalar.lines.clear();
    }
}

/// Where the rest of a path leads from here; its last key is made if it is not there. None where the file is broken on the
/// way.
fn walk<'t>(tree: &'t mut Tree, how: &Given<'_>, rest: &str) -> Result<Option<&'t mut Tree>, Problem> {
    match child(tree, how, rest)? {
        Some((found, length)) if length == rest.len() => Ok(Some(found)),
        Some((found, 0)) => walk(found, how, rest),
        Some((found, length)) => walk(found, how, &rest[length + 1..]),
        None => Ok(None),
    }
}

/// What the first part of a path names, and how many bytes of the path do.
fn child<'t>(
    tree: &'t mut Tree,
    how: &Given<'_>,
    rest: &str,
) -> Result<Option<(&'t mut Tree, usize)>, Problem> {
    let from = how.path.len() - rest.len();
    let within = match how.path[..from].trim_end_matches('.') {
        "" => "the file",
        within => within,
    };
    let part = rest.split('.').next().unwrap_or_default();
    let place = how.part(from, part.len());
    let what = tree.describe();
    if matches!(tree.kind, Kind::Null) && rest == APPEND {
        tree.kind = Kind::List(Vec::new());
    }
    match &mut tree.kind {
        Kind::Broken => Ok(None),
        Kind::Mapping(entries) => {
            let known = longest(entries.iter().map(|(key, _)| Some(key.text.as_str())), rest);
            if let Some((found, length)) = known {
                return Ok(Some((&mut entries[found].1, length)));
            }
            let makes = part == rest || rest.strip_prefix(part) == Some(".+") || OPEN.contains(&part);
            if !makes {
                let known: Vec<&str> = entries.iter().map(|(key, _)| key.text.as_str()).collect();
                return Err(nothing_there(place, part, within, &known));
            }
            let kind = if OPEN.contains(&part) { Kind::Mapping(Vec::new()) } else { Kind::Null };
            entries.push((tree::key(part, place), Tree { kind, span: place }));
            Ok(entries.last_mut().map(|(_, made)| (made, part.len())))
        }
        Kind::List(items) => {
            if rest == APPEND {
                items.push(Tree { kind: Kind::Null, span: place });
            }
            let appended = (rest == APPEND).then(|| (items.len() - 1, rest.len()));
            // The only group needs no name.
            let only = within == "users" && items.len() == 1;
            let only = only && (part == rest || items[0].get(part).is_some());
            match appended.or(entry(items, rest, part)).or(only.then_some((0, 0))) {
                Some((found, length)) => Ok(Some((&mut items[found], length))),
                None => Err(no_entry(items, how, place, part, within)),
            }
        }
        Kind::Null | Kind::Scalar(_) => {
            let title = format!("{within} is {what}, and has no parts");
            let help = format!("put something else in its place as a whole: {within}='{{ {rest}: ... }}'");
            Err(Problem::new(place, title).help(help))
        }
    }
}

/// Mappings whose keys are anybody's, which are made where they are not there.
const OPEN: &[&str] = &["headers", "variables"];

/// The part of a path that stands for a new entry of a list.
const APPEND: &str = "+";

/// The entry of a list with which a path begins, and how many bytes of the path name it.
fn entry(items: &[Tree], path: &str, part: &str) -> Option<(usize, usize)> {
    let by_number = part.parse().ok().filter(|number| *number < items.len());
    longest(items.iter().map(name), path).or(by_number.map(|number| (number, part.len())))
}

fn no_entry(items: &[Tree], how: &Given<'_>, place: Span, part: &str, within: &str) -> Problem {
    let numbers: Vec<String> = (0..items.len()).map(|n| n.to_string()).collect();
    let named: Vec<&str> = items.iter().zip(&numbers).map(|(item, n)| name(item).unwrap_or(n)).collect();
    if how.shown.is_some() || items.len() < 2 {
        return nothing_there(place, part, within, &named);
    }
    let title = format!("{} applies to the only group of users, and there are several", how.name);
    let rest = how.path.strip_prefix("users.").unwrap_or(how.path);
    Problem::new(place, title)
        .help(format!("say which, for example {}", how.example(&format!("users.{}.{rest}", named[0]))))
}

/// The number and length of the longest name with which a path begins: names may have dots in them.
fn longest<'t>(names: impl Iterator<Item = Option<&'t str>>, path: &str) -> Option<(usize, usize)> {
    let begins = |name: &str| path.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('.'));
    let named = names.enumerate().filter_map(|(at, name)| Some((at, name?)));
    named
        .filter(|(_, name)| begins(name))
        .map(|(at, name)| (at, name.len()))
        .max_by_key(|(_, length)| *length)
}

/// What an entry of a list is called.
fn name(item: &Tree) -> Option<&str> {
    match &item.get("name")?.kind {
        Kind::Scalar(name) => Some(&name.text),
        _ => None,
    }
}

/// Names that are listed where one is not there, at most.
const MOST_LISTED: usize = 20;

fn nothing_there(place: Span, part: &str, within: &str, known: &[&str]) -> Problem {
    let problem = Problem::new(place, format!("there is no '{part}' in {within}"));
    let dots = if known.len() > MOST_LISTED { ", ..." } else { "" };
    match known {
        [] => problem.help("it is empty"),
        _ => problem
            .guess(nearest(part, known.iter().copied()))
            .help(format!("there are {}{dots}", known[..known.len().min(MOST_LISTED)].join(", "))),
    }
}

impl Tree {
    /// The value of a key of a mapping.
    fn get(&self, key: &str) -> Option<&Tree> {
        match &self.kind {
            Kind::Mapping(entries) => entries.iter().find(|(name, _)| name.text == key).map(|(_, v)| v),
            _ => None,
        }
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        match &mut self.kind {
            Kind::Mapping(entries) => entries.iter_mut().find(|(name, _)| name.text == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Sets the value of a key of a mapping, which stands at `place` if it is new.
    fn set(&mut self, key: &str, place: Span, value: &Tree) {
        if let Some(old) = self.get_mut(key) {
            *old = value.clone();
        } else if let Kind::Mapping(entries) = &mut self.kind {
            entries.push((tree::key(key, place), value.clone()));
        }
    }
}
