//! Parts as a network: names found, what leads where, and bounds on how large it becomes.

use super::around::MOST_ATTEMPTS;
use super::order::order;
use super::part::{self, Sort};
use super::station::MOST_SERVERS;
use super::{number, plain};
use crate::model::{self, Part};
use crate::redact::Cleared;
use crate::scenario::leaves::Text;
use crate::scenario::read::{OrFull, Reader};
use crate::scenario::source::{Problem, Span};
use crate::scenario::tree::Scalar;
use crate::scenario::written::{Branch, Lead, Model, ModelPart};
use headway_base::units::nearest;
use std::collections::HashMap;

/// Copies over the whole network, at most.
const MOST_COPIES: u64 = 1_000_000;
/// Parts that a request goes through, at most.
const MOST_DEEP: usize = 64;

/// A part before it has its final number.
pub(super) struct Draft<'f> {
    written: &'f ModelPart,
    sort: Sort,
    pub name: String,
    /// Where its name stands; none: it has none of its own.
    pub named: Option<Span>,
    pub leads: Vec<Edge>,
}

/// A way from a part to another.
pub(super) struct Edge {
    pub to: usize,
    weight: f64,
    pub at: Span,
}

/// All parts in their final order.
pub(super) fn parts(model: &Model, labels: &[Cleared], reader: &mut Reader<'_>) -> Option<Vec<Part>> {
    let before = reader.problems.len();
    let mut drafts = drafts(model, reader)?;
    let order = order(&drafts, reader)?;
    let mut numbers = vec![0; drafts.len()];
    order.iter().enumerate().for_each(|(number, draft)| numbers[*draft] = number);
    bounds(&drafts, &order, reader);
    let mut parts = Vec::with_capacity(order.len());
    for at in order {
        let draft = &mut drafts[at];
        let to =
            draft.leads.iter().map(|e| model::Branch { part: numbers[e.to], weight: e.weight }).collect();
        let (name, shared) = (std::mem::take(&mut draft.name), draft.named.is_some());
        parts.extend(part::settle(draft.sort, draft.written, name, shared, to, labels, reader));
    }
    (reader.problems.len() == before).then_some(parts)
}

/// Names of parts.
struct Names<'f> {
    /// Those under `parts`.
    by_name: HashMap<&'f str, usize>,
    /// How many of the others have had a name.
    given: HashMap<String, u32>,
}

impl Names<'_> {
    /// A name that is still free: as wanted, or with a number after it.
    fn fresh(&mut self, wanted: String) -> String {
        let count = self.given.entry(wanted.clone()).or_insert(0);
        loop {
            *count += 1;
            let name = if *count == 1 { wanted.clone() } else { format!("{wanted}-{count}") };
            if !self.by_name.contains_key(name.as_str()) {
                return name;
            }
        }
    }

    /// The number of a part of that name.
    fn find(&self, name: &Text, reader: &mut Reader<'_>) -> Option<usize> {
        let text = name.value.text.as_str();
        if let Some(found) = self.by_name.get(text) {
            return Some(*found);
        }
        let problem = Problem::new(name.span, format!("no part is called '{text}'"));
        let mut known: Vec<&str> = self.by_name.keys().copied().collect();
        known.sort_unstable();
        reader.complain(match &known[..] {
            [] => problem.help("there are none under parts: at the top of the model"),
            _ => problem
                .guess(nearest(text, known.iter().copied()))
                .help(format!("the parts are {}", known.join(", "))),
        })
    }
}

/// The first part, those with names, and those within others, with what they lead to.
fn drafts<'f>(model: &'f Model, reader: &mut Reader<'_>) -> Option<Vec<Draft<'f>>> {
    let before = reader.problems.len();
    let named: &[(Scalar, ModelPart)] = model.whole.parts.as_ref().map_or(&[], |parts| &parts.0);
    let mut names = Names {
        by_name: named.iter().enumerate().map(|(at, (name, _))| (name.text.as_str(), at + 1)).collect(),
        given: HashMap::new(),
    };
    let mut drafts = Vec::with_capacity(named.len() + 1);
    let first = sort(&model.first, reader);
    let name = names.fresh(if first == Sort::Station { "target" } else { first.word() }.to_owned());
    drafts.push(Draft { written: &model.first, sort: first, name, named: None, leads: Vec::new() });
    for (name, written) in named {
        plain(name, "part", reader);
        let sort = sort(written, reader);
        drafts.push(Draft {
            written,
            sort,
            name: name.text.clone(),
            named: Some(name.span),
            leads: Vec::new(),
        });
    }
    if let Some(copies) = model.first.copies.as_ref().filter(|copies| copies.value > 1) {
        let problem = Problem::new(copies.span, "nothing chooses among copies of the first part");
        let help =
            "write for example balancer: random, and below it pool: { servers: 10, service: exp(8ms) }";
        reader.problems.push(problem.help(help));
    }
    // Parts that stand within others are appended, and so come to their turn.
    let mut at = 0;
    while at < drafts.len() {
        let (written, sort) = (drafts[at].written, drafts[at].sort);
        let prefix = if at == 0 { String::new() } else { format!("{}.", drafts[at].name) };
        let mut seen: HashMap<usize, Span> = HashMap::new();
        for branch in leads(written, sort, reader) {
            let inner = match branch.lead {
                Inner::Named(name) => names.find(name, reader),
                Inner::Part(written, word) => {
                    let sort = self::sort(written, reader);
                    let name = names.fresh(format!("{prefix}{}", word.unwrap_or(sort.word())));
                    drafts.push(Draft { written, sort, name, named: None, leads: Vec::new() });
                    Some(drafts.len() - 1)
                }
            };
            let Some(to) = inner else { continue };
            if let Some(first) = seen.insert(to, branch.span) {
                let title = format!("it leads to '{}' a second time", drafts[to].name);
                let problem = Problem::new(branch.span, title).other(first, "first here");
                reader.problems.push(problem.help("give it a weight: { part: NAME, weight: 2 }"));
                continue;
            }
            drafts[at].leads.push(Edge { to, weight: branch.weight, at: branch.span });
        }
        at += 1;
    }
    (reader.problems.len() == before).then_some(drafts)
}

/// What a part is; one that is nothing has been complained about, and passes for a station.
fn sort(written: &ModelPart, reader: &mut Reader<'_>) -> Sort {
    if let Some(copies) = &written.copies {
        match copies.value {
            0 => reader.problems.push(
                Problem::new(copies.span, "no copies: no request would ever be served")
                    .help("write a number from 1 up"),
            ),
            _ => {
                number(copies, 1..=MOST_COPIES, reader);
            }
        }
    }
    Sort::of(written).unwrap_or_else(|problem| {
        reader.problems.push(problem);
        Sort::Station
    })
}

/// A part that another leads to, as it is written there.
struct Led<'f> {
    lead: Inner<'f>,
    weight: f64,
    span: Span,
}

enum Inner<'f> {
    Named(&'f Text),
    /// A part that stands here, and what it is called if not by its kind.
    Part(&'f ModelPart, Option<&'static str>),
}

fn leads<'f>(written: &'f ModelPart, sort: Sort, reader: &mut Reader<'_>) -> Vec<Led<'f>> {
    if sort == Sort::Station {
        return Vec::new();
    }
    let kind = match written.keys.one_of("a part", &["to", "pool"]) {
        Ok(kind) => kind,
        Err(problem) => {
            let problem = match problem.others.is_empty() {
                true => Problem::new(problem.span, "this balancer leads nowhere: it lacks to or pool")
                    .help("add for example pool: { servers: 250, service: exp(200ms) }"),
                false => problem,
            };
            reader.problems.push(problem);
            return Vec::new();
        }
    };
    if let ("pool", Some(pool)) = (kind, &written.pool) {
        let lead = Inner::Part(&pool.0, Some("pool"));
        return vec![Led { lead, weight: 1.0, span: written.keys.at("pool") }];
    }
    let Some(to) = &written.to else { return Vec::new() };
    match (&to.items[..], sort) {
        ([], _) => {
            reader.problems.push(Problem::new(to.span, "a list of no parts: requests would go nowhere"))
        }
        ([_, _, ..], Sort::Pass) => reader.problems.push(
            Problem::new(to.span, "nothing chooses among these parts")
                .help("add balancer: random, or another policy"),
        ),
        ([Branch { weight: Some(weight), .. }], Sort::Pass) => reader.problems.push(
            Problem::new(weight.span, "a weight, and nothing that chooses")
                .help("add balancer: random, or leave it out"),
        ),
        _ => {}
    }
    let led = |branch: &'f Branch| Led {
        lead: match &branch.lead {
            Lead::Name(name) => Inner::Named(name),
            Lead::Part(part) => Inner::Part(part, None),
        },
        weight: branch.weight.as_ref().map_or(1.0, |weight| weight.value),
        span: branch.span,
    };
    to.items.iter().map(led).collect()
}

/// Complains about a network that becomes too large, or that nobody chooses in.
fn bounds(drafts: &[Draft<'_>], order: &[usize], reader: &mut Reader<'_>) {
    // Of each part: copies in all, parts on the longest way to it, attempts of one request at most, as what leads to it says.
    let mut reached = vec![Reached { copies: 1, deep: 0, attempts: 1 }; drafts.len()];
    let (mut copies, mut servers, mut complained) = (0u64, 0u64, false);
    for at in order.iter().copied() {
        let draft = &drafts[at];
        let span = draft.named.unwrap_or(draft.written.keys.span);
        let own = draft.written.copies.as_ref().map_or(1, |copies| copies.value);
        let above = if draft.named.is_some() { 1 } else { reached[at].copies };
        let here = Reached {
            copies: own.saturating_mul(above),
            deep: reached[at].deep + 1,
            attempts: reached[at].attempts.saturating_mul(draft.attempts()),
        };
        copies = copies.saturating_add(here.copies);
        let each = draft.written.servers.as_ref().map_or(1, |servers| servers.value);
        servers = servers.saturating_add(if draft.sort == Sort::Station {
            here.copies.saturating_mul(each)
        } else {
            0
        });
        let wrong = if copies > MOST_COPIES {
            Some((
                span,
                format!("with this part there are {copies} copies in all"),
                format!("at most {MOST_COPIES} can be played"),
            ))
        } else if servers > MOST_SERVERS {
            Some((
                span,
                format!("with this part there are {servers} servers in all"),
                format!("at most {MOST_SERVERS} can be played"),
            ))
        } else if here.deep > MOST_DEEP {
            Some((
                span,
                format!("a request would go through more than {MOST_DEEP} parts"),
                "leave some out".to_owned(),
            ))
        } else if here.attempts > MOST_ATTEMPTS {
            let key = if draft.written.retries.is_some() { "retries" } else { "hedge" };
            Some((
                draft.written.keys.at(key),
                format!("with this a request could be made {} times in all", here.attempts),
                format!("at most {MOST_ATTEMPTS}: attempts of a part multiply with those of parts before it"),
            ))
        } else {
            None
        };
        if let (Some((span, title, help)), false) = (wrong, complained) {
            // What follows would say the same again.
            complained = true;
            reader.problems.push(Problem::new(span, title).help(help));
        }
        too_many_choices(drafts, draft, reader);
        for edge in &draft.leads {
            let next = &drafts[edge.to];
            if let (Sort::Pass, Some(copies)) =
                (draft.sort, next.written.copies.as_ref().filter(|c| c.value > 1))
            {
                let title = format!("nothing chooses among the {} copies of '{}'", copies.value, next.name);
                let problem = Problem::new(edge.at, title).other(copies.span, "its copies");
                reader.problems.push(problem.help("add balancer: random, or another policy"));
            }
            let next = &mut reached[edge.to];
            next.copies = here.copies;
            next.deep = next.deep.max(here.deep);
            next.attempts = next.attempts.max(here.attempts);
        }
    }
}

/// Complains about a balancer that would draw more copies than there are.
fn too_many_choices(drafts: &[Draft<'_>], draft: &Draft<'_>, reader: &mut Reader<'_>) {
    let Some(OrFull::Full(keys)) = draft.written.balancer.as_ref().map(|balancing| &balancing.0) else {
        return;
    };
    let copies = |edge: &Edge| drafts[edge.to].written.copies.as_ref().map_or(1, |copies| copies.value);
    let among: u64 = draft.leads.iter().map(copies).fold(0, u64::saturating_add);
    if let Some(choices) = keys.choices.as_ref().filter(|choices| choices.value > among) {
        let title = format!("{} choices, and only {among} to choose among", choices.value);
        let help = match among {
            1 => "give it more servers (or copies of a part), or leave the balancer out".to_owned(),
            _ => format!("write a number up to {among}; balancer: least-connections looks at all"),
        };
        reader.problems.push(Problem::new(choices.span, title).help(help));
    }
}

#[derive(Clone, Copy)]
struct Reached {
    copies: u64,
    deep: usize,
    attempts: u64,
}

impl Draft<'_> {
    /// How often it makes a request, at most.
    fn attempts(&self) -> u64 {
        let tries = match self.written.retries.as_deref() {
            Some(OrFull::Short(attempts)) => attempts.value,
            Some(OrFull::Full(retries)) => retries.attempts.as_ref().map_or(1, |attempts| attempts.value),
            None => 1,
        };
        let hedges = match self.written.hedge.as_deref() {
            Some(OrFull::Full(hedge)) => hedge.most.as_ref().map_or(1, |most| most.value),
            Some(OrFull::Short(_)) => 1,
            None => 0,
        };
        // One that is out of range is complained about where it stands.
        let in_range = |number: u64| if number <= MOST_ATTEMPTS { number } else { 0 };
        in_range(tries).max(1) * (in_range(hedges) + 1)
    }
}
