//! What `${...}` in a plan stands for: variables that the plan defines, columns of data, what steps extract, properties, and the
//! functions that have an equivalent.

use super::xml::Element;
use crate::Text;
use crate::secrets::Secrets;
use headway_workload::redact::{Place, SecretNames};
use headway_workload::yaml::{Map, Yaml};
use url::form_urlencoded::byte_serialize;

/// Variables that refer to one another are followed so deep.
const DEEPEST: usize = 8;
/// Longest text that `__RandomString` stands for.
const LONGEST_RANDOM: usize = 1_000;

/// A part of a text.
#[derive(Clone, PartialEq, Debug)]
enum Piece {
    Literal(String),
    /// A property of JMeter (`-J`), which becomes a variable of the environment.
    Property {
        variable: String,
        default: String,
        /// Whether the default is JMeter's, as the plan has none: `1` of `__P`, and of others the name.
        assumed: bool,
    },
    /// A value of a template, as `user.id`.
    Value(String),
    /// A variable that the plan defines, by number.
    Constant(usize),
}

/// A text with its references resolved.
#[derive(Clone, Default, Debug)]
pub(super) struct Resolved {
    pieces: Vec<Piece>,
    /// What is different from JMeter, in words.
    pub changes: Vec<String>,
    /// What could not be resolved and stands in the text as it was, in words.
    pub lacks: Vec<String>,
}

/// A variable that the plan defines.
struct Constant {
    name: String,
    /// Its name in the scenario.
    spelled: String,
    value: Resolved,
    used: bool,
}

/// A file of rows (CSV Data Set Config).
struct Set<'p> {
    element: &'p Element,
    name: String,
    columns: Vec<String>,
    used: bool,
}

/// What is known at a place of the plan.
#[derive(Default)]
pub(super) struct Values<'p> {
    constants: Vec<Constant>,
    sets: Vec<Set<'p>>,
    /// Names of counters.
    counters: Vec<String>,
    /// What steps so far extract: the plan's name, and the scenario's.
    known: Vec<(String, String)>,
    /// The names of the group and of the sampler.
    pub group: String,
    pub sampler: String,
}

impl<'p> Values<'p> {
    /// Defines a variable; of several of a name the last counts.
    pub fn define(&mut self, name: &str, value: &str) {
        if name.trim().is_empty() {
            return;
        }
        let value = self.resolve(value);
        if let Some(known) = self.constants.iter_mut().find(|known| known.name == name) {
            known.value = value;
            return;
        }
        let spelled = free(&spelled(name), |taken| self.constants.iter().any(|c| c.spelled == taken));
        self.constants.push(Constant { name: name.to_owned(), spelled, value, used: false });
    }

    /// Makes a file of rows known.
    pub fn rows(&mut self, element: &'p Element) {
        let file = element.text("filename").rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        let name = free(&spelled(if stem.is_empty() { "rows" } else { stem }), |taken| {
            self.sets.iter().any(|set| set.name == taken)
        });
        let columns = element.text("variableNames").split(',').map(|name| name.trim().to_owned());
        let columns = columns.filter(|name| !name.is_empty()).collect();
        self.sets.push(Set { element, name, columns, used: false });
    }

    /// Makes a counter known.
    pub fn counter(&mut self, name: &str) {
        self.counters.push(name.to_owned());
    }

    /// Makes known what a step extracts, under the name that is returned.
    pub fn extracted(&mut self, name: &str) -> String {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| known == name) {
            return known.clone();
        }
        const RESERVED: &[&str] = &["vars", "data", "user", "session", "uuid", "now", "seq"];
        let spelled = spelled(name);
        let spelled = if RESERVED.contains(&spelled.as_str()) { format!("{spelled}_") } else { spelled };
        let made = free(&spelled, |taken| self.known.iter().any(|(_, known)| known == taken));
        self.known.push((name.to_owned(), made.clone()));
        made
    }

    /// How much steps have extracted so far, to [`forget`](Values::forget) what comes after.
    pub fn learnt(&self) -> usize {
        self.known.len()
    }

    /// Forgets what was extracted after there was so much, and gives it back.
    pub fn forget(&mut self, length: usize) -> Vec<(String, String)> {
        self.known.split_off(length)
    }

    /// Knows again what was forgotten.
    pub fn learn(&mut self, names: Vec<(String, String)>) {
        for (name, spelled) in names {
            if !self.known.iter().any(|(known, _)| *known == name) {
                self.known.push((name, spelled));
            }
        }
    }

    /// Takes a text of the plan apart.
    pub fn resolve(&mut self, raw: &str) -> Resolved {
        let mut out = Resolved::default();
        self.pieces(raw, 0, &mut out);
        out
    }

    fn pieces(&mut self, raw: &str, depth: usize, out: &mut Resolved) {
        let mut rest = raw;
        while let Some(open) = rest.find("${") {
            out.literal(&rest[..open]);
            let inside = &rest[open + 2..];
            let Some(end) = closing(inside) else {
                rest = &rest[open..];
                break;
            };
            let before = out.lacks.len();
            self.reference(&inside[..end], depth, out);
            if out.lacks.len() > before {
                out.literal(&rest[open..open + 3 + end]);
            }
            rest = &inside[end + 1..];
        }
        out.literal(rest);
    }

    fn reference(&mut self, inside: &str, depth: usize, out: &mut Resolved) {
        if depth >= DEEPEST {
            out.lacks.push(format!("references nest more than {DEEPEST} deep"));
        } else if inside.trim_start().starts_with("__") {
            self.function(inside.trim(), depth, out);
        } else {
            self.variable(inside, out);
        }
    }

    fn variable(&mut self, name: &str, out: &mut Resolved) {
        if let Some((_, spelled)) = self.known.iter().find(|(known, _)| known == name) {
            return out.pieces.push(Piece::Value(spelled.clone()));
        }
        let has = |set: &&mut Set<'_>| set.columns.iter().any(|column| column == name);
        if let Some(set) = self.sets.iter_mut().find(has) {
            set.used = true;
            return out.pieces.push(Piece::Value(format!("data.{}.{name}", set.name)));
        }
        if self.counters.iter().any(|known| known == name) {
            out.changes
                .push(format!("the counter {name} becomes {{{{seq}}}}, a number that no other request has"));
            return out.pieces.push(Piece::Value("seq".to_owned()));
        }
        if let Some(at) = self.constants.iter().position(|constant| constant.name == name) {
            let value = &self.constants[at].value;
            // A template is evaluated where it stands; JMeter evaluates those of definitions once.
            if value.pieces.iter().any(|piece| matches!(piece, Piece::Value(_))) {
                out.pieces.extend(value.pieces.clone());
                out.changes.push(format!("the variable {name} has another value in each place"));
            } else {
                out.lacks_of(&self.constants[at].value.lacks.clone());
                out.pieces.push(Piece::Constant(at));
            }
            return;
        }
        // The columns of a file whose first line names them are not known here.
        let mut unnamed = self.sets.iter_mut().filter(|set| set.columns.is_empty());
        if let (Some(set), None) = (unnamed.next(), unnamed.next()) {
            set.used = true;
            out.changes
                .push(format!("{name} is taken for a column of the file {}", set.element.text("filename")));
            return out.pieces.push(Piece::Value(format!("data.{}.{name}", set.name)));
        }
        let name: String = name.chars().take(60).collect();
        out.lacks
            .push(format!("nothing that is carried over sets ${{{name}}} before: it is sent as it stands"));
    }

    fn function(&mut self, call: &str, depth: usize, out: &mut Resolved) {
        let (name, arguments) = call.split_once('(').unwrap_or((call, ""));
        let name = name.trim();
        let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
        let arguments: Vec<String> = split(arguments);
        let mut inner_lacks = Vec::new();
        let mut fixed = |at: usize| -> Option<String> {
            let mut inner = Resolved::default();
            self.pieces(arguments.get(at)?.trim(), depth + 1, &mut inner);
            inner_lacks.append(&mut inner.lacks);
            inner.constant(self)
        };
        let value = |name: &str| Piece::Value(name.to_owned());
        let piece = match (name, arguments.first().map_or("", |first| first.trim())) {
            ("__UUID", _) => value("uuid"),
            ("__time", "") => value("now.unix_ms"),
            ("__time", "/1000") => value("now.unix_s"),
            ("__threadNum", _) => value("user.id"),
            ("__iterationNum", _) => value("user.iteration"),
            ("__threadGroupName", _) => Piece::Literal(self.group.clone()),
            ("__samplerName", _) => Piece::Literal(self.sampler.clone()),
            ("__counter", _) => {
                out.changes.push("__counter becomes {{seq}}, a number that no other request has".to_owned());
                value("seq")
            }
            ("__P" | "__property" | "__env", _) => {
                let Some(property) = fixed(0) else {
                    return out.lacks.push(format!("the function {name} of a name that is not known here"));
                };
                let own = fixed(if name == "__P" { 1 } else { 2 });
                let assumed = own.is_none();
                let default = own.unwrap_or_else(|| match name {
                    "__P" => "1".to_owned(),
                    _ => property.clone(),
                });
                let spelled: String = property
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                    .collect();
                let digit = spelled.starts_with(|c: char| c.is_ascii_digit());
                let variable = if digit || spelled.is_empty() { format!("_{spelled}") } else { spelled };
                Piece::Property { variable, default, assumed }
            }
            ("__Random", _) => match fixed(0) {
                Some(least) => {
                    out.changes.push(format!(
                        "__Random is {least} always (a file under data: with take: random gives several values)"
                    ));
                    Piece::Literal(least)
                }
                None => {
                    return out
                        .lacks
                        .push("the function __Random of bounds that are not known here".to_owned());
                }
            },
            ("__RandomString", _) => {
                let length = fixed(0).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(0);
                let of = fixed(1).filter(|of| !of.is_empty()).unwrap_or_else(|| "text".to_owned());
                let made: String = of.chars().cycle().take(length.min(LONGEST_RANDOM)).collect();
                out.changes.push(
                    "__RandomString is the same text always (a file under data: with take: random gives several)".to_owned(),
                );
                Piece::Literal(made)
            }
            _ => {
                let name: String = name.chars().take(60).collect();
                return out
                    .lacks
                    .push(format!("the function {name} has no equivalent: it is sent as it stands"));
            }
        };
        match inner_lacks.is_empty() {
            true => out.pieces.push(piece),
            false => out.lacks.append(&mut inner_lacks),
        }
    }

    /// The variables of the scenario: those that are used.
    pub fn variables(&self, secrets: &mut Secrets) -> Vec<(String, Text)> {
        let mut variables = Vec::new();
        for constant in self.constants.iter().filter(|constant| constant.used) {
            let secret = SecretNames::default().has(Place::Variable, &constant.name);
            let value = match constant.value.constant(self) {
                Some(value) if secret && !value.is_empty() => {
                    let about = format!("the variable {} of the plan", constant.name);
                    secrets.variable(&constant.name, &value, &about)
                }
                _ => constant.value.inlined(self),
            };
            variables.push((constant.spelled.clone(), value));
        }
        variables
    }

    /// The files of rows that are used: name, what stands under it, and what is to be known of each.
    pub fn data(&mut self) -> Vec<(String, Map, &'p Element, Vec<String>)> {
        let used: Vec<(String, &'p Element, Vec<String>)> = self
            .sets
            .iter()
            .filter(|set| set.used)
            .map(|set| (set.name.clone(), set.element, set.columns.clone()))
            .collect();
        used.into_iter()
            .map(|(name, element, columns)| {
                let (map, notes) = self.set(element, &columns);
                (name, map, element, notes)
            })
            .collect()
    }

    /// The files of rows that no step uses.
    pub fn unused(&self) -> Vec<&'p Element> {
        self.sets.iter().filter(|set| !set.used).map(|set| set.element).collect()
    }

    fn set(&mut self, element: &Element, columns: &[String]) -> (Map, Vec<String>) {
        let mut notes = Vec::new();
        let file = self.resolve(element.text("filename"));
        let shown = file.constant(self).unwrap_or_default();
        notes.extend(file.lacks.iter().cloned());
        let mut map = Map::new();
        map.push("csv", Yaml::text(file.inlined(self).as_str()));
        if !columns.is_empty() {
            let names = columns.join(",");
            notes.push(match element.is("ignoreFirstLine") {
                true => {
                    format!("the first line of {shown} must be {names}: a scenario takes names from there")
                }
                false => format!("{shown} needs a first line with the names: {names}"),
            });
        }
        match element.text("delimiter").trim() {
            "" | "," => {}
            other => notes.push(format!("the delimiter of {shown} is '{other}': make it a comma")),
        }
        let (recycle, stop) = (element.text("recycle") != "false", element.is("stopThread"));
        map.push("take", Yaml::plain(if recycle { "sequential" } else { "unique" }));
        if !recycle {
            map.push("at-end", Yaml::plain(if stop { "stop" } else { "fail" }));
        }
        if !recycle && !stop {
            notes.push(
                "where the rows run out, JMeter goes on with the text <EOF>, and here the steps fail"
                    .to_owned(),
            );
        }
        if element.text("shareMode") == "shareMode.thread" {
            notes.push(
                "each thread reads the file from its beginning in JMeter; here sessions share its rows"
                    .to_owned(),
            );
        }
        (map, notes)
    }
}

impl Piece {
    /// Its text where that is known before a run, properties at their defaults.
    fn constant(&self, values: &Values<'_>) -> Option<String> {
        match self {
            Piece::Literal(text) | Piece::Property { default: text, .. } => Some(text.clone()),
            Piece::Constant(at) => values.constants[*at].value.constant(values),
            Piece::Value(_) => None,
        }
    }
}

impl Resolved {
    /// A text without references.
    pub fn of(text: &str) -> Resolved {
        let mut out = Resolved::default();
        out.literal(text);
        out
    }

    fn literal(&mut self, text: &str) {
        if !text.is_empty() {
            self.pieces.push(Piece::Literal(text.to_owned()));
        }
    }

    fn lacks_of(&mut self, lacks: &[String]) {
        self.lacks.extend(lacks.iter().cloned());
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether it is one text always, whatever the environment says.
    pub fn is_literal(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Literal(_)))
    }

    /// The text, properties at their defaults; none where it has values that are known in a run only.
    pub fn constant(&self, values: &Values<'_>) -> Option<String> {
        self.pieces.iter().map(|piece| piece.constant(values)).collect()
    }

    /// As [`constant`](Resolved::constant), of what says where a request goes: a default of JMeter's own, as `1`, is no place.
    pub fn place(&self, values: &Values<'_>) -> Option<String> {
        if self.assumes(values) { None } else { self.constant(values) }
    }

    fn assumes(&self, values: &Values<'_>) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Property { assumed, .. } => *assumed,
            Piece::Constant(at) => values.constants[*at].value.assumes(values),
            Piece::Literal(_) | Piece::Value(_) => false,
        })
    }

    /// The properties in it, and their defaults.
    pub fn properties(&self, values: &Values<'_>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Property { variable, default, .. } => {
                    found.push((variable.clone(), default.clone()));
                }
                Piece::Constant(at) => found.extend(values.constants[*at].value.properties(values)),
                Piece::Literal(_) | Piece::Value(_) => {}
            }
        }
        found
    }

    /// It as the text of a scenario.
    pub fn text(&self, values: &mut Values<'_>) -> Text {
        self.made(values, Text::literal)
    }

    /// It as a part of a query or path that JMeter percent-encodes.
    pub fn encoded(&self, values: &mut Values<'_>) -> Text {
        let mut out = Text::literal("");
        for piece in &self.pieces {
            // The text of a constant is part of the path, and not encoded there.
            let constant = match piece {
                Piece::Constant(at) => values.constants[*at].value.constant(values),
                _ => None,
            };
            let next = match (piece, constant) {
                (Piece::Constant(_), Some(text)) if encoded(&text) != text => Text::literal(&encoded(&text)),
                _ => Resolved { pieces: vec![piece.clone()], ..Resolved::default() }
                    .made(values, |text| Text::literal(&encoded(text))),
            };
            out = out.and(&next);
        }
        out
    }

    fn made(&self, values: &mut Values<'_>, mut literal: impl FnMut(&str) -> Text) -> Text {
        let mut out = Text::literal("");
        for piece in &self.pieces {
            out = out.and(&match piece {
                Piece::Literal(text) => literal(text),
                Piece::Property { variable, default, .. } => property(variable, default),
                Piece::Value(name) => Text::extracted(name),
                Piece::Constant(at) => {
                    let constant = &mut values.constants[*at];
                    constant.used = true;
                    Text::extracted(&format!("vars.{}", constant.spelled))
                }
            });
        }
        out
    }

    /// It for a person: what is not known before a run is named.
    pub fn shown(&self, values: &Values<'_>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Property { variable: name, .. } | Piece::Value(name) => format!("${{{name}}}"),
            Piece::Constant(at) => values.constants[*at].value.shown(values),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// It without templates, for what takes references to the environment alone.
    fn inlined(&self, values: &Values<'_>) -> Text {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(&text.replace("${", "$${")),
                Piece::Property { variable, default, .. } => {
                    out.push_str(property(variable, default).as_str());
                }
                Piece::Value(name) => out.push_str(name),
                Piece::Constant(at) => out.push_str(values.constants[*at].value.inlined(values).as_str()),
            }
        }
        Text(out)
    }

    /// Cuts it after the first character that is one of these, which is kept in neither part, where that is in a literal.
    pub fn cut(mut self, at: char) -> (Resolved, Option<Resolved>) {
        let found = self.pieces.iter().enumerate().find_map(|(i, piece)| match piece {
            Piece::Literal(text) => text.find(at).map(|byte| (i, byte)),
            _ => None,
        });
        let Some((i, byte)) = found else { return (self, None) };
        let mut after = Resolved { pieces: self.pieces.split_off(i), ..Resolved::default() };
        if let Some(Piece::Literal(text)) = after.pieces.first_mut() {
            self.literal(&text[..byte]);
            *text = text[byte + at.len_utf8()..].to_owned();
        }
        after.pieces.retain(|piece| *piece != Piece::Literal(String::new()));
        (self, Some(after))
    }

    /// Its parts between `&`, as those of a query.
    pub fn parts(self) -> Vec<Resolved> {
        let mut parts = Vec::new();
        let mut rest = self;
        loop {
            let (part, more) = rest.cut('&');
            parts.push(part);
            match more {
                Some(more) => rest = more,
                None => return parts,
            }
        }
    }

    /// Whether its text begins with this, as far as it is known before a run.
    pub fn begins(&self, values: &Values<'_>, with: &str) -> bool {
        let mut text = String::new();
        for piece in &self.pieces {
            let Some(next) = piece.constant(values) else { break };
            text.push_str(&next);
            if text.len() >= with.len() {
                break;
            }
        }
        text.starts_with(with)
    }

    /// Cuts a URL before its path. Values of a run hold no slash.
    pub fn host_and_rest(self, values: &Values<'_>) -> (Resolved, Resolved) {
        let (mut front, mut text) = (Resolved::default(), String::new());
        let (changes, lacks) = (self.changes, self.lacks);
        let mut pieces = self.pieces.into_iter();
        while let Some(piece) = pieces.next() {
            let next = piece.constant(values).unwrap_or_default();
            let known = text.len();
            text.push_str(&next);
            let host = text.find("://").map(|at| at + 3);
            if let Some(end) = host.and_then(|host| Some(host + text[host..].find(['/', '?', '#'])?)) {
                let one = Resolved { pieces: vec![piece], ..Resolved::default() };
                // Of a property without a default of its own, no part is known.
                match one.place(values) {
                    Some(_) => front.literal(&text[known..end]),
                    None => front.pieces.extend(one.pieces),
                }
                let mut rest = Resolved { changes, lacks, ..Resolved::of(&text[end..]) };
                rest.pieces.extend(pieces);
                return (front, rest);
            }
            front.pieces.push(piece);
        }
        (front, Resolved::default())
    }

    /// Whether it is one value of a run and nothing else.
    pub fn is_value(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::Value(_)])
    }

    /// With a text before it.
    pub fn after(mut self, text: &str) -> Resolved {
        self.pieces.insert(0, Piece::Literal(text.to_owned()));
        self
    }

    /// With more behind it.
    pub fn and(mut self, more: Resolved) -> Resolved {
        self.pieces.extend(more.pieces);
        self.changes.extend(more.changes);
        self.lacks.extend(more.lacks);
        self
    }

    /// Its text with each value of a run in place of which `stand_in` gives a text, by number.
    pub fn filled(&self, values: &Values<'_>, stand_in: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Constant(at) => match values.constants[*at].value.constant(values) {
                    Some(text) => out.push_str(&text),
                    None => out.push_str(&stand_in(i)),
                },
                Piece::Property { .. } | Piece::Value(_) => out.push_str(&stand_in(i)),
            }
        }
        out
    }

    /// As [`text`](Resolved::text), where `replace` may give another text for a literal.
    pub fn text_with(&self, values: &mut Values<'_>, replace: impl FnMut(&str) -> Text) -> Text {
        self.made(values, replace)
    }
}

/// A reference to the environment with a default; a default with a bracket would end it.
fn property(variable: &str, default: &str) -> Text {
    match default.contains(['}', '\n']) || default.contains("${") {
        true => Text::variable(variable),
        false => Text(format!("${{{variable}:-{default}}}")),
    }
}

/// Percent-encoded as a component of a query, a blank as `%20`.
pub(super) fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Where the bracket that closes a reference stands, whose inside this begins with.
fn closing(inside: &str) -> Option<usize> {
    let mut depth = 0;
    let bytes = inside.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The arguments of a function: commas part them, but for `\,` and those within references.
fn split(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let (mut depth, mut escaped) = (0_usize, false);
    for c in text.chars() {
        let last = arguments.len() - 1;
        match c {
            ',' | '\\' | '$' if escaped && depth == 0 => arguments[last].push(c),
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            ',' if depth == 0 => arguments.push(String::new()),
            c => {
                if escaped {
                    arguments[last].push('\\');
                }
                depth = match c {
                    '{' => depth + 1,
                    '}' => depth.saturating_sub(1),
                    _ => depth,
                };
                arguments[last].push(c);
            }
        }
        escaped = false;
    }
    arguments
}

/// A name as scenarios have them.
fn spelled(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let spelled: String = name.trim().chars().map(kept).take(60).collect();
    if spelled.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        spelled
    } else {
        format!("_{spelled}")
    }
}

/// The name, with a number behind it where it is taken.
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut made = name.to_owned();
    let mut n = 1;
    while taken(&made) {
        n += 1;
        made = format!("{name}_{n}");
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &mut Values<'_>, raw: &str) -> String {
        let resolved = values.resolve(raw);
        resolved.text(values).as_str().to_owned()
    }

    #[test]
    fn references_become_templates_and_variables_of_the_environment() {
        let mut values = Values { group: "Group".to_owned(), ..Values::default() };
        values.define("host", "${__P(target.host,localhost)}");
        values.define("base", "http://${host}/a b");
        values.define("now", "${__time()}");
        values.extracted("bug id");
        values.extracted("user");
        for (raw, made) in [
            ("a $b {c} {{d}} ${", "a $b {c} \\{{d}} $${"),
            ("${bug id}/${user}", "{{bug_id}}/{{user_}}"),
            ("${base}", "{{vars.base}}"),
            (
                "${__P(a-b, c d)}${__P(x)}${__property(y,,z)}${__env(HOME)}",
                "${A_B:-c d}${X:-1}${Y:-z}${HOME:-HOME}",
            ),
            ("${__UUID}${__UUID()}${__time(/1000)}", "{{uuid}}{{uuid}}{{now.unix_s}}"),
            ("${now} ${__threadGroupName}", "{{now.unix_ms}} Group"),
            ("${__Random(5,9)} ${__RandomString(6,ab)}", "5 ababab"),
            ("${__P(n,${__P(m,4\\,5)})}", "${N:-4,5}"),
            ("${none}${__groovy(1 + {2})}", "$${none}$${__groovy(1 + {2})}"),
        ] {
            assert_eq!(text(&mut values, raw), made, "{raw}");
        }
        let resolved = values.resolve("${base}/x");
        assert_eq!(resolved.constant(&values).unwrap(), "http://localhost/a b/x");
        assert_eq!(resolved.encoded(&mut values).as_str(), "http%3A%2F%2Flocalhost%2Fa%20b%2Fx");
        let variables = values.variables(&mut Secrets::default());
        assert_eq!(variables[0].0, "base");
        assert_eq!(variables[0].1.as_str(), "http://${TARGET_HOST:-localhost}/a b");
        assert_eq!(values.resolve("${none}${__groovy(x)}").lacks.len(), 2);
        assert_eq!(values.resolve("${now}").changes.len(), 1);
    }

    #[test]
    fn what_refers_to_itself_ends() {
        let mut values = Values::default();
        values.define("a", "x${a}");
        assert_eq!(values.resolve("${a}").lacks.len(), 1);
        let deep = format!("{}1{}", "${__P(".repeat(40), ")}".repeat(40));
        assert!(!values.resolve(&deep).lacks.is_empty());
    }

    #[test]
    fn variables_that_are_secrets_are_not_written() {
        let (mut values, mut secrets) = (Values::default(), Secrets::default());
        values.define("api_password", "hunter2");
        text(&mut values, "${api_password}");
        assert_eq!(values.variables(&mut secrets)[0].1.as_str(), "${HEADWAY_SECRET_API_PASSWORD}");
    }

    #[test]
    fn texts_are_cut_between_values() {
        let mut values = Values::default();
        values.extracted("id");
        let (path, query) = values.resolve("/a/${id}?b=${id}&c").cut('?');
        assert_eq!(path.text(&mut values).as_str(), "/a/{{id}}");
        let parts = query.unwrap().parts();
        let parts: Vec<String> =
            parts.iter().map(|part| part.text(&mut values).as_str().to_owned()).collect();
        assert_eq!(parts, ["b={{id}}", "c"]);
    }
}
