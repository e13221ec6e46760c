//! An order of parts in which each leads to later ones only: what leads round in a circle and what nothing leads to is told.

use super::network::Draft;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use std::collections::HashSet;

/// An order in which every part leads to later ones only, the first part first.
pub(super) fn order(drafts: &[Draft<'_>], reader: &mut Reader<'_>) -> Option<Vec<usize>> {
    let before = reader.problems.len();
    let mut walk = Walk { drafts, states: vec![State::New; drafts.len()], done: Vec::new() };
    walk.from(0, reader);
    let mut order = std::mem::take(&mut walk.done);
    order.reverse();
    let led_to: HashSet<usize> = drafts.iter().flat_map(|draft| &draft.leads).map(|edge| edge.to).collect();
    for (at, draft) in drafts.iter().enumerate() {
        if walk.states[at] != State::New {
            continue;
        }
        if let (Some(span), false) = (draft.named, led_to.contains(&at)) {
            let problem = Problem::new(span, format!("nothing leads to the part '{}'", draft.name));
            reader
                .problems
                .push(problem.help(format!("write to: {} in another part, or leave it out", draft.name)));
        }
        walk.from(at, reader);
    }
    (reader.problems.len() == before).then_some(order)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Its ways are being followed.
    Open,
    Done,
}

/// A walk along all ways, depth first, without recursion: chains of names may be long.
struct Walk<'d, 'f> {
    drafts: &'d [Draft<'f>],
    states: Vec<State>,
    /// Those of which all ways have been followed, in that order.
    done: Vec<usize>,
}

impl Walk<'_, '_> {
    fn from(&mut self, start: usize, reader: &mut Reader<'_>) {
        if self.states[start] != State::New {
            return;
        }
        self.states[start] = State::Open;
        // Parts on the way, with how many of their ways are left: the last first, so that the first comes first in the end.
        let mut way = vec![(start, self.drafts[start].leads.len())];
        while let Some((at, left)) = way.last_mut() {
            let Some(next) = left.checked_sub(1) else {
                self.states[*at] = State::Done;
                self.done.push(*at);
                way.pop();
                continue;
            };
            *left = next;
            let to = self.drafts[*at].leads[next].to;
            match self.states[to] {
                State::New => {
                    self.states[to] = State::Open;
                    way.push((to, self.drafts[to].leads.len()));
                }
                State::Open => {
                    let members = way.iter().skip_while(|(member, _)| *member != to);
                    let edges = members.map(|(member, next)| (*member, *next)).collect::<Vec<_>>();
                    reader.problems.push(self.circle(&edges));
                }
                State::Done => {}
            }
        }
    }

    /// The problem with parts that lead to each other in a circle: each with the number of its way to the next.
    fn circle(&self, edges: &[(usize, usize)]) -> Problem {
        let name = |at: usize| self.drafts[at].name.as_str();
        let mut ways: Vec<(Span, String)> = edges
            .iter()
            .map(|(at, edge)| {
                let edge = &self.drafts[*at].leads[*edge];
                (edge.at, format!("{} leads to {}", name(*at), name(edge.to)))
            })
            .collect();
        ways.sort();
        let mut names: Vec<&str> = edges.iter().map(|(at, _)| name(*at)).collect();
        names.extend(edges.first().map(|(at, _)| name(*at)));
        let title = format!("requests would go round for ever: {}", names.join(" -> "));
        let mut ways = ways.into_iter();
        let (span, label) = ways.next().unwrap_or_default();
        let problem = Problem { label: Some(label), ..Problem::new(span, title) };
        ways.fold(problem, |problem, (span, label)| problem.other(span, label))
            .help("let one of them lead to a station instead")
    }
}
