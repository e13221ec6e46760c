//! Values that take the place of some in the file, before anything is checked: where a path leads, and what is wrong with
//! one that leads nowhere.
//!
//! Deliberately absent: what a value must be. The reader says so, as of values in the file.

use super::Override;
use super::environment::Environment;
use super::source::{Overridden, Problem, Source, Span};
use super::tree::{self, Kind, Scalar, Tree, Typed};
use headway_base::units::{nearest, parse_count, parse_rate};

/// Overrides as they are shown, with places after those of a file of so many bytes.
pub(super) fn texts(length: usize, overrides: &[Override]) -> Vec<Overridden> {
    let mut at = length + 1;
    let mut texts = Vec::with_capacity(overrides.len());
    for Override { path, value } in overrides {
        let text = format!("{path}={value}");
        let next = at + text.len() + 1;
        texts.push(Overridden { text, at });
        at = next;
    }
    texts
}

/// Puts the values into the tree; the answer is what is wrong with them. The source has their texts.
pub(super) fn apply(
    tree: &mut Tree,
    source: &Source,
    overrides: &[Override],
    environment: &mut Environment<'_>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (Override { path, value }, Overridden { text, at }) in overrides.iter().zip(&source.overridden) {
        let place = Span { start: *at, end: at + path.len() };
        if text.chars().any(char::is_control) {
            problems.push(Problem::new(place, "a value that is put into the file stands on one line"));
            continue;
        }
        match tree::value(value, place.end + 1, environment) {
            Ok((mut value, broken)) => {
                problems.extend(broken);
                if matches!(path.rsplit('.').next(), Some("rate" | "accept")) {
                    per_second(&mut value);
                }
                let put = match path.as_str() {
                    "rate" => RATE.put(tree, place, &value),
                    "users" => USERS.put(tree, place, &value),
                    _ => put(tree, path, *at, value),
                };
                problems.extend(put.err());
            }
            Err(problem) => problems.push(problem),
        }
    }
    problems
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

/// Follows a path whose first byte has the place `at`, and puts the value at its end.
fn put(root: &mut Tree, path: &str, mut at: usize, value: Tree) -> Result<(), Problem> {
    let (mut tree, mut rest) = (root, path);
    loop {
        let within = path[..path.len() - rest.len()].trim_end_matches('.');
        let within = if within.is_empty() { "the file" } else { within };
        let part = rest.split('.').next().unwrap_or_default();
        let place = Span { start: at, end: at + part.len() };
        let what = tree.describe();
        let (child, length) = match &mut tree.kind {
            Kind::Broken => return Ok(()),
            Kind::Mapping(entries) => {
                match longest(entries.iter().map(|(key, _)| Some(key.text.as_str())), rest) {
                    Some((found, length)) => (&mut entries[found].1, length),
                    None if part == rest => {
                        let lines = vec![(0, at)];
                        let text = rest.to_owned();
                        let key = Scalar { text, typed: Typed::Text, span: place, lines, template: None };
                        entries.push((key, value));
                        return Ok(());
                    }
                    None => {
                        let known: Vec<&str> = entries.iter().map(|(key, _)| key.text.as_str()).collect();
                        return Err(nothing_there(place, part, within, &known));
                    }
                }
            }
            Kind::List(items) => {
                let by_number = part.parse().ok().filter(|number| *number < items.len());
                let by_name = longest(items.iter().map(name), rest);
                match by_name.or(by_number.map(|number| (number, part.len()))) {
                    Some((found, length)) => (&mut items[found], length),
                    None => {
                        let numbers: Vec<String> = (0..items.len()).map(|n| n.to_string()).collect();
                        let named = items.iter().zip(&numbers).map(|(item, n)| name(item).unwrap_or(n));
                        return Err(nothing_there(place, part, within, &named.collect::<Vec<_>>()));
                    }
                }
            }
            Kind::Null | Kind::Scalar(_) => {
                let title = format!("{within} is {what}, and has no parts");
                let help =
                    format!("put something else in its place as a whole: {within}='{{ {rest}: ... }}'");
                return Err(Problem::new(place, title).help(help));
            }
        };
        if length == rest.len() {
            *child = value;
            return Ok(());
        }
        (tree, rest, at) = (child, &rest[length + 1..], at + length + 1);
    }
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

/// What `rate` and `users` stand for: how many come, in the only group.
struct Level {
    /// The path.
    path: &'static str,
    /// The group's key, and the key under that.
    keys: (&'static str, &'static str),
    /// What the group does, if it has that key.
    does: &'static str,
    /// The number that a value is.
    number: fn(&str) -> Option<f64>,
}

const RATE: Level = Level {
    path: "rate",
    keys: ("arrive", "rate"),
    does: "arrives",
    number: |text| match parse_rate(text) {
        Ok(rate) => Some(rate.0),
        Err(_) => text.split_once('/')?.0.trim().parse().ok().filter(|zero| *zero == 0.0),
    },
};

const USERS: Level = Level {
    path: "users",
    keys: ("closed", "count"),
    does: "is closed",
    number: |text| parse_count(text).ok().map(|count| count as f64),
};

/// How a group's users come, and what says how many there are.
fn way(group: &Tree) -> (&'static str, &'static str) {
    let ways = [
        ("arrive", "arrives", "how many arrive is 'rate'"),
        ("closed", "is closed", "how many users there are is 'users'"),
        ("at-once", "comes at once", "how many come is 'users.at-once'"),
        ("work", "does fixed work", "how many users do it is 'users.work.users'"),
    ];
    let found = ways.into_iter().find(|(key, ..)| group.get(key).is_some());
    let unknown = ("", "does neither", "write the path of what is meant, for example users.work.users");
    let (_, does, instead) = found.unwrap_or(unknown);
    (does, instead)
}

impl Level {
    /// Puts the value where the group says it, and where its phases say the same. Phases that say something else would go
    /// on without it: that is a mistake.
    fn put(&self, root: &mut Tree, place: Span, value: &Tree) -> Result<(), Problem> {
        let group = self.group(root, place)?;
        let (kind, key) = self.keys;
        let Some(holder) = group.get(kind) else {
            let called =
                name(group).map_or("the only group".to_owned(), |name| format!("the group '{name}'"));
            let (does, instead) = way(group);
            let title = format!("'{}' is of a group that {}, and {called} {does}", self.path, self.does);
            return Err(Problem::new(place, title).other(group.span, "this group").help(instead));
        };
        let before = holder.get(key).and_then(|old| self.number(old));
        let mut same = Vec::new();
        let phases = match group.get("phases").map(|phases| &phases.kind) {
            Some(Kind::List(phases)) => &phases[..],
            _ => &[],
        };
        for (at, phase) in phases.iter().enumerate() {
            for amount in ["from", "to", "at", "by"] {
                match phase.get(amount).map(|said| (self.number(said), said.span)) {
                    None | Some((None, _)) => {}
                    Some((Some(0.0), _)) => {}
                    Some((said, _)) if said == before && amount != "by" => same.push((at, amount)),
                    Some((_, span)) => {
                        let title = format!("'{}' does not reach a phase that says otherwise", self.path);
                        let problem = Problem::new(place, title).other(span, "here");
                        let path = format!("users.phases.{at}.{amount}");
                        return Err(problem.help(format!("write the path of what is meant, for example {path}=..., or leave the value out of the phase")));
                    }
                }
            }
        }
        if let Some(holder) = group.get_mut(kind) {
            holder.set(key, place, value);
        }
        if let Some(Kind::List(phases)) = group.get_mut("phases").map(|phases| &mut phases.kind) {
            same.into_iter().for_each(|(at, amount)| phases[at].set(amount, place, value));
        }
        Ok(())
    }

    fn number(&self, tree: &Tree) -> Option<f64> {
        match &tree.kind {
            Kind::Scalar(scalar) => (self.number)(&scalar.text),
            _ => None,
        }
    }

    /// The only group.
    fn group<'t>(&self, root: &'t mut Tree, place: Span) -> Result<&'t mut Tree, Problem> {
        let wrong = |title: String| Problem::new(place, title);
        let none = || wrong(format!("'{}' is of the group under users, and there is none", self.path));
        let users = root.get_mut("users").ok_or_else(none)?;
        if !matches!(users.kind, Kind::List(_)) {
            return Ok(users);
        }
        let span = users.span;
        let Kind::List(groups) = &mut users.kind else { return Err(none()) };
        let (kind, key) = self.keys;
        match &mut groups[..] {
            [one] => Ok(one),
            several => {
                // One that it could be about, if there is one.
                let fits = several.iter().position(|group| group.get(kind).is_some());
                let numbered = fits.unwrap_or(0).to_string();
                let name = several.get(fits.unwrap_or(0)).and_then(name).unwrap_or(&numbered);
                let problem = wrong(format!("'{}' is of the only group, and there are several", self.path));
                Err(problem.other(span, "here").help(match fits {
                    Some(_) => format!("say which, for example users.{name}.{kind}.{key}"),
                    None => format!("and none of them {}: write the path of what is meant", self.does),
                }))
            }
        }
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
            let (text, lines) = (key.to_owned(), Vec::new());
            let key = Scalar { text, typed: Typed::Text, span: place, lines, template: None };
            entries.push((key, value.clone()));
        }
    }
}
