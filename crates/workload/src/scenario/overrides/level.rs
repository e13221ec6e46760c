//! `rate` and `users`: how many come, in the only group and in those of its phases that say the same.

use super::Given;
use super::group::{called, only, way};
use crate::scenario::source::Problem;
use crate::scenario::tree::{Kind, Tree};
use headway_base::units::{parse_count, parse_rate};

/// What `rate` and `users` stand for.
pub(super) struct Level {
    /// The group's key, and the key under that.
    keys: (&'static str, &'static str),
    /// What the group does, if it has that key.
    does: &'static str,
    /// The number that a value is.
    number: fn(&str) -> Option<f64>,
}

pub(super) const RATE: Level = Level {
    keys: ("arrive", "rate"),
    does: "arrives",
    number: |text| match parse_rate(text) {
        Ok(rate) => Some(rate.0),
        Err(_) => text.split_once('/')?.0.trim().parse().ok().filter(|zero| *zero == 0.0),
    },
};

pub(super) const USERS: Level = Level {
    keys: ("closed", "count"),
    does: "is closed",
    number: |text| parse_count(text).ok().map(|count| count as f64),
};

impl Level {
    /// Puts the value where the group says it, and where its phases say the same. Phases that say something else would go
    /// on without it: that is a mistake.
    pub fn put(&self, root: &mut Tree, how: &Given<'_>, value: &Tree) -> Result<(), Problem> {
        let (kind, key) = self.keys;
        let group = only(root, how, |group| group.get(kind).is_some(), &[kind, key])?;
        if let (Some(work), "users") = (group.get_mut("work"), how.path) {
            work.set("users", how.place, value);
            return Ok(());
        }
        let Some(holder) = group.get(kind) else {
            let (does, instead) = way(group);
            let title = format!(
                "{} applies to a group that {}, and {} {does}",
                how.quoted(),
                self.does,
                called(group)
            );
            return Err(Problem::new(how.place, title).other(group.span, "this group").help(instead));
        };
        let before = holder.get(key).and_then(|old| self.number(old));
        let mut same = Vec::new();
        let phases = match group.get("phases").map(|phases| &phases.kind) {
            Some(Kind::List(phases)) => &phases[..],
            _ => &[],
        };
        for (at, phase) in phases.iter().enumerate() {
            for amount in ["from", "to", "at", "by", "mean"] {
                match phase.get(amount).map(|said| (self.number(said), said.span)) {
                    None | Some((None, _)) => {}
                    Some((Some(0.0), _)) => {}
                    Some((said, _)) if said == before && amount != "by" => same.push((at, amount)),
                    Some((_, span)) => {
                        let title = format!("{} does not reach a phase that says otherwise", how.quoted());
                        let problem = Problem::new(how.place, title).other(span, "here");
                        let path = how.assigned(&format!("users.phases.{at}.{amount}"));
                        return Err(problem.help(format!("write the path of what is meant, for example {path}, or leave the value out of the phase")));
                    }
                }
            }
        }
        if let Some(holder) = group.get_mut(kind) {
            holder.set(key, how.place, value);
        }
        if let Some(Kind::List(phases)) = group.get_mut("phases").map(|phases| &mut phases.kind) {
            same.into_iter().for_each(|(at, amount)| phases[at].set(amount, how.place, value));
        }
        Ok(())
    }

    fn number(&self, tree: &Tree) -> Option<f64> {
        match &tree.kind {
            Kind::Scalar(scalar) => (self.number)(&scalar.text),
            _ => None,
        }
    }
}
