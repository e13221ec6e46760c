//! Journeys: which group takes which, their steps in order and by number, and what each step may already know.

use super::origins::Origins;
use super::steps::Builder;
use crate::content::{Names, Step};
use crate::journey::{MOST_NESTED, Node};
use crate::redact::Cleared;
use crate::redact::Redactor;
use crate::scenario::MOST_STEPS;
use crate::scenario::leaves::Count;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written::{self, JourneyOf};
use crate::target::Target;
use headway_base::units::nearest;
use std::collections::{HashMap, HashSet};

/// Journeys of a file, compiled as far as nodes, with the steps of those that somebody takes.
pub(super) struct Journeys {
    pub steps: Vec<Step>,
    pub labels: Vec<Cleared>,
    /// With what steps extract.
    pub names: Names,
    /// Where steps go.
    pub origins: Origins,
    /// Nodes of each, and where it stands.
    compiled: Vec<(Vec<Node>, Span)>,
    /// Which one each group takes.
    taken: Vec<usize>,
}

/// One journey as it is written.
struct Entry<'f> {
    name: Option<&'f str>,
    span: Span,
    steps: &'f [written::Step],
}

const KINDS: &[&str] = &[
    "get", "post", "put", "patch", "delete", "head", "options", "request", "send", "steps", "choose", "pause",
];

impl Journeys {
    /// Compiles all journeys, also those that nobody takes: a mistake in them is one.
    pub fn settle(
        file: &written::File,
        names: &Names,
        target: Option<&Target>,
        redactor: &Redactor,
        reader: &mut Reader<'_>,
    ) -> Option<Journeys> {
        let before = reader.problems.len();
        let (entries, taken) = entries(file, reader)?;
        let mut names = names.clone();
        let mut by_number = Vec::new();
        for entry in &entries {
            extracted(entry.steps, &mut names, &mut by_number, reader);
        }
        if reader.problems.len() > before {
            return None;
        }
        let mut compiler = Compiler {
            builder: Builder::new(file, &names, by_number, target, redactor),
            labelled: HashMap::new(),
            steps: Vec::new(),
            labels: Vec::new(),
            depth: 0,
            reader,
        };
        let mut compiled = vec![(Vec::new(), Span::default()); entries.len()];
        // Those that somebody takes first: the others' steps have no numbers that last.
        let used = (0..entries.len()).filter(|at| taken.contains(at));
        for at in used {
            compiled[at] = (compiler.journey(&entries[at]), entries[at].span);
        }
        let kept = compiler.steps.len();
        for at in (0..entries.len()).filter(|at| !taken.contains(at)) {
            compiler.journey(&entries[at]);
        }
        let Compiler { builder: Builder { origins, .. }, mut steps, mut labels, .. } = compiler;
        steps.truncate(kept);
        labels.truncate(kept);
        (reader.problems.len() == before).then_some(Journeys {
            steps,
            labels,
            names,
            origins,
            compiled,
            taken,
        })
    }

    /// Names and numbers of the steps that group number `group` may take.
    pub fn steps_of(&self, group: usize) -> Vec<(&str, u16)> {
        let nodes = self.of(group).map_or(&[][..], |(nodes, _)| nodes);
        Node::steps(nodes).into_iter().map(|step| (self.labels[usize::from(step)].as_str(), step)).collect()
    }

    /// The journey of group number `group`, and where it stands.
    pub fn of(&self, group: usize) -> Option<(&[Node], Span)> {
        let (nodes, span) = self.compiled.get(*self.taken.get(group)?)?;
        Some((nodes, *span))
    }
}

/// All journeys in the order of the file, and which one each group takes.
fn entries<'f>(file: &'f written::File, reader: &mut Reader<'_>) -> Option<(Vec<Entry<'f>>, Vec<usize>)> {
    let before = reader.problems.len();
    let mut entries = Vec::new();
    if let Some(steps) = &file.journey {
        entries.push(Entry { name: None, span: file.keys.at("journey"), steps });
    }
    for (name, steps) in file.journeys.iter().flat_map(|journeys| &journeys.0) {
        entries.push(Entry { name: Some(&name.text), span: name.span, steps });
    }
    let named: Vec<&str> = entries.iter().filter_map(|entry| entry.name).collect();
    let of_file = entries.len();
    let mut taken = Vec::new();
    for group in file.users.iter().flat_map(|users| &users.items) {
        match &group.journey {
            Some(JourneyOf::Steps(steps)) => {
                taken.push(entries.len());
                entries.push(Entry { name: None, span: group.keys.at("journey"), steps });
            }
            Some(JourneyOf::Name(name)) => {
                let text = name.value.text.as_str();
                match entries[..of_file].iter().position(|entry| entry.name == Some(text)) {
                    Some(at) => taken.push(at),
                    None => reader.problems.push(unknown(name.span, text, &named)),
                }
            }
            None if file.journey.is_some() || of_file == 1 => taken.push(0),
            None => reader.problems.push(none_said(group, &named)),
        }
    }
    for entry in entries.iter().filter(|entry| entry.steps.is_empty()) {
        let problem = Problem::new(entry.span, "a journey without a step");
        reader.problems.push(problem.help("write for example - get: /items"));
    }
    (reader.problems.len() == before).then_some((entries, taken))
}

fn unknown(span: Span, text: &str, named: &[&str]) -> Problem {
    let problem = Problem::new(span, format!("no journey is called '{text}'"));
    match named {
        [] => problem.help("there are none under journeys:"),
        _ => problem
            .guess(nearest(text, named.iter().copied()))
            .help(format!("the journeys are {}", named.join(", "))),
    }
}

fn none_said(group: &written::Group, named: &[&str]) -> Problem {
    match named {
        [] => Problem::new(group.keys.span, "nothing says what these users do")
            .help("add journey: with a list of steps, for example - get: /items"),
        _ => Problem::new(group.keys.span, "nothing says which journey these users take")
            .help(format!("add journey: with one of {}", named.join(", "))),
    }
}

/// Makes known what steps extract, and keeps the names by number.
fn extracted(
    steps: &[written::Step],
    names: &mut Names,
    by_number: &mut Vec<String>,
    reader: &mut Reader<'_>,
) {
    each_step(steps, &mut |step| {
        for (name, _) in step.extract.iter().flat_map(|extract| &extract.0) {
            match names.extracted(&name.text) {
                Ok(number) if usize::from(number) == by_number.len() => by_number.push(name.text.clone()),
                Ok(_) => {}
                Err(e) => reader.problems.push(super::steps::mistake(name.span, &e.to_string())),
            }
        }
    });
}

/// Calls `visit` with every step, those within others too.
fn each_step<'f>(steps: &'f [written::Step], visit: &mut dyn FnMut(&'f written::Step)) {
    for step in steps {
        visit(step);
        each_step(step.steps.as_deref().unwrap_or_default(), visit);
        for way in step.choose.iter().flatten() {
            each_step(way.steps.as_deref().unwrap_or_default(), visit);
        }
    }
}

/// What a step may name: what the steps that can come before it in its session extract.
#[derive(Default)]
pub(super) struct Known {
    names: HashSet<String>,
    /// The same in the order in which they came, so that a way of a choice can be left again.
    order: Vec<String>,
}

impl Known {
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds what a step extracts.
    fn learn(&mut self, step: &written::Step) {
        let names = step.extract.iter().flat_map(|extract| &extract.0).map(|(name, _)| &name.text);
        for name in names {
            if self.names.insert(name.clone()) {
                self.order.push(name.clone());
            }
        }
    }

    /// Forgets what came after there were so many, and gives it back.
    fn forget(&mut self, length: usize) -> Vec<String> {
        let forgotten = self.order.split_off(length);
        for name in &forgotten {
            self.names.remove(name);
        }
        forgotten
    }
}

struct Compiler<'f, 'r, 'a> {
    builder: Builder<'f>,
    /// Names of steps, and where each was given.
    labelled: HashMap<Cleared, Span>,
    steps: Vec<Step>,
    labels: Vec<Cleared>,
    /// Repeats around what is compiled now.
    depth: usize,
    reader: &'r mut Reader<'a>,
}

impl<'f> Compiler<'f, '_, '_> {
    fn journey(&mut self, entry: &Entry<'f>) -> Vec<Node> {
        self.block(entry.steps, &mut Known::default())
    }

    fn block(&mut self, steps: &'f [written::Step], known: &mut Known) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            match self.node(step, known) {
                Ok(node) => nodes.extend(node),
                Err(problems) => self.reader.problems.extend(problems),
            }
        }
        nodes
    }

    fn node(&mut self, step: &'f written::Step, known: &mut Known) -> Result<Option<Node>, Vec<Problem>> {
        let one = |problem| vec![problem];
        let kind = step.keys.one_of("a step", KINDS).map_err(|problem| {
            let help = "for example get: /items, or repeat: 5 with steps:, or choose:, or pause: 2s";
            one(if problem.others.is_empty() { problem.help(help) } else { problem })
        })?;
        let others: &[&str] = match kind {
            "steps" => &["repeat"],
            "choose" | "pause" => &[],
            "send" => super::steps::SEND_KEYS,
            _ => super::steps::KEYS,
        };
        let odd = step.keys.only(&what(kind), kind, others);
        if !odd.is_empty() {
            return Err(odd);
        }
        match kind {
            "pause" => Ok(step.pause.as_ref().map(|law| Node::Pause(law.value.clone()))),
            "choose" => Ok(self.choice(step, known)),
            "steps" => self.repeated(step, known).map_err(one),
            _ => self.request(kind, step, known),
        }
    }

    fn choice(&mut self, step: &'f written::Step, known: &mut Known) -> Option<Node> {
        let ways = step.choose.as_deref().unwrap_or_default();
        if ways.is_empty() {
            let problem = Problem::new(step.keys.at("choose"), "a choice without a way");
            return self.reader.complain(problem.help("write for example - { weight: 3, steps: [...] }"));
        }
        let (before, mut learnt) = (known.order.len(), Vec::new());
        let mut nodes = Vec::new();
        for way in ways {
            let weight = way.weight.as_ref().map_or(1.0, |weight| weight.value);
            nodes.push((weight, self.block(way.steps.as_deref().unwrap_or_default(), known)));
            learnt.extend(known.forget(before));
        }
        for name in learnt {
            if known.names.insert(name.clone()) {
                known.order.push(name);
            }
        }
        Some(Node::Choose(nodes))
    }

    fn repeated(&mut self, step: &'f written::Step, known: &mut Known) -> Result<Option<Node>, Problem> {
        let Some(times) = &step.repeat else {
            let problem = Problem::new(step.keys.at("steps"), "a block of steps needs to know how often");
            return Err(problem.help("add repeat:, or write its steps without a block"));
        };
        let rounds = self.times(times)?;
        let steps = step.steps.as_deref().unwrap_or_default();
        if steps.is_empty() {
            return Err(Problem::new(step.keys.at("steps"), "a block without a step"));
        }
        if rounds > 1 {
            // The second round knows what the first extracted.
            each_step(steps, &mut |step| known.learn(step));
        }
        self.depth += 1;
        let nodes = self.block(steps, known);
        self.depth -= 1;
        Ok(Some(Node::Repeat(rounds, nodes)))
    }

    fn request(
        &mut self,
        kind: &str,
        step: &'f written::Step,
        known: &mut Known,
    ) -> Result<Option<Node>, Vec<Problem>> {
        let repeat = match &step.repeat {
            Some(times) => self.times(times).map_err(|problem| vec![problem])?,
            None => 1,
        };
        if repeat > 1 {
            known.learn(step);
        }
        let built = self.builder.step(kind, step, known, self.reader);
        known.learn(step);
        let built = built?;
        let label = built.name().clone();
        if let Some(first) = self.labelled.get(&label) {
            let problem = Problem::new(
                step.keys.at(if step.name.is_some() { "name" } else { kind }),
                format!("a second step '{label}'"),
            );
            let problem = problem
                .other(*first, "the first")
                .help("give one of them a name of its own, as in name: list-again");
            return Err(vec![problem]);
        }
        self.labelled.insert(label.clone(), step.keys.at(if step.name.is_some() { "name" } else { kind }));
        let number = self.steps.len();
        if number >= MOST_STEPS {
            return Err(vec![Problem::new(step.keys.at(kind), format!("more than {MOST_STEPS} steps"))]);
        }
        self.steps.push(built);
        self.labels.push(label);
        let think = step.think.as_ref().map(|think| think.value.clone());
        Ok(Some(Node::Ask { step: number as u16, repeat, think }))
    }

    /// How often something is repeated.
    fn times(&self, count: &Count) -> Result<u32, Problem> {
        let times = u32::try_from(count.value).ok().filter(|&n| n > 0).ok_or_else(|| {
            Problem::new(count.span, format!("{} is no number of times", count.value))
                .help("write a number from 1 up; to leave steps out, delete them")
        })?;
        if times > 1 && self.depth >= MOST_NESTED {
            let title = format!("repeats lie within one another more than {MOST_NESTED} deep");
            return Err(Problem::new(count.span, title));
        }
        Ok(times)
    }
}

fn what(kind: &str) -> String {
    match kind {
        "steps" => "a block of steps".to_owned(),
        "choose" => "a choice".to_owned(),
        "pause" => "a pause".to_owned(),
        _ => "a request".to_owned(),
    }
}
