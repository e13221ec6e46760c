//! Balancers: policies with the options that they take, and what they know.

use super::above_zero;
use crate::model::policies::{Options, Refused};
use crate::model::{Balancer, Branch, Knows, Policy};
use crate::scenario::read::{OrFull, Reader};
use crate::scenario::source::Problem;
use crate::scenario::written::{self, Balancing, Knowing, ModelPart};
use headway_base::Nanos;

pub(super) fn settle(part: &ModelPart, to: Vec<Branch>, reader: &mut Reader<'_>) -> Option<Balancer> {
    let written = part.balancer.as_ref()?;
    let policy = policy(written, reader);
    let family = written.name()?.family;
    if let (Some(queue), false) = (&part.queue, family.queues) {
        let title = format!("{} keeps nothing itself, so that it has no queue", family.name);
        let problem = Problem::new(queue.span, title).other(part.keys.at("balancer"), "this balancer");
        reader.problems.push(problem.help("write queue: at the station, or balancer: one-connection"));
    }
    let knows = part.knows.as_ref().map_or(Some(Knows::Own), |knows| self::knows(knows, reader));
    let policy = policy?;
    if !policy.counts() {
        for key in ["hold", "knows"].into_iter().filter(|key| part.keys.has(key)) {
            let problem =
                Problem::new(part.keys.at(key), format!("{policy} does not look at outstanding requests"));
            let problem = problem.other(part.keys.at("balancer"), "this balancer");
            reader.problems.push(
                problem.help(format!("leave {key} out, or write for example balancer: least-connections")),
            );
        }
    }
    if !policy.weighs() {
        even(part, &policy, reader);
    }
    let hold = part.hold.as_ref().map(|hold| hold.value).filter(|hold| *hold > Nanos::ZERO);
    let queue = part.queue.as_ref().and_then(|queue| usize::try_from(queue.value).ok());
    Some(Balancer { policy, to, hold, knows: knows?, queue })
}

/// Complains about weights that differ, before a policy that does not look at them.
fn even(part: &ModelPart, policy: &Policy, reader: &mut Reader<'_>) {
    let to = part.to.iter().flat_map(|to| &to.items);
    let weights = || to.clone().map(|branch| branch.weight.as_ref().map_or(1.0, |weight| weight.value));
    if weights().zip(weights().skip(1)).all(|(one, next)| one == next) {
        return;
    }
    let Some(weight) = to.filter_map(|branch| branch.weight.as_ref()).find(|weight| weight.value != 1.0)
    else {
        return;
    };
    let (who, otherwise) = match policy {
        Policy::PowerOfD { .. } => ("power-of-d with choices: 1".to_owned(), "choices: 2 or more"),
        _ => (policy.to_string(), "for example balancer: least-connections"),
    };
    let problem = Problem::new(weight.span, format!("{who} does not look at weights"));
    let problem = problem.other(part.keys.at("balancer"), "this balancer");
    reader.problems.push(problem.help(format!("leave weight out, or write {otherwise}")));
}

fn policy(written: &Balancing, reader: &mut Reader<'_>) -> Option<Policy> {
    let keys = match &written.0 {
        OrFull::Short(name) => return (name.family.build)(&Options::default()).ok(),
        OrFull::Full(keys) => keys,
    };
    let family = keys.policy.as_ref()?.family;
    let odd = keys.keys.only(family.name, "policy", family.options);
    if !odd.is_empty() {
        reader.problems.extend(odd);
        return None;
    }
    let options = Options {
        ties: keys.ties.as_ref().map(|ties| ties.value),
        choices: keys.choices.as_ref().map(|choices| choices.value),
        decay: keys.decay.as_ref().map(|decay| decay.value),
        bound: keys.bound.as_ref().map(|bound| bound.value),
    };
    match (family.build)(&options) {
        Ok(policy) => Some(policy),
        Err(Refused { option, wanted }) => {
            let spans = [
                ("choices", keys.choices.as_ref().map(|choices| choices.span)),
                ("decay", keys.decay.as_ref().map(|decay| decay.span)),
                ("bound", keys.bound.as_ref().map(|bound| bound.span)),
            ];
            let span = spans.into_iter().find(|(name, _)| *name == option).and_then(|(_, span)| span);
            let title = format!("{option} of {} is out of range", family.name);
            let problem = Problem::new(span.unwrap_or(keys.keys.span), title);
            reader.complain(problem.help(format!("write {wanted}")))
        }
    }
}

impl Balancing {
    /// The name of its policy.
    fn name(&self) -> Option<written::PolicyName> {
        match &self.0 {
            OrFull::Short(name) => Some(*name),
            OrFull::Full(keys) => keys.policy,
        }
    }
}

fn knows(knows: &Knowing, reader: &mut Reader<'_>) -> Option<Knows> {
    let exchange = match knows {
        OrFull::Short(written::Knows::Own) => return Some(Knows::Own),
        OrFull::Short(written::Knows::All) => return Some(Knows::All),
        OrFull::Full(exchange) => exchange,
    };
    let written = exchange.every.as_ref()?;
    let every = above_zero(written, "no time would pass between two exchanges", reader)?;
    match &exchange.cost {
        Some(cost) if cost.value >= every => {
            let problem = Problem::new(cost.span, "an exchange must be over before the next begins");
            let problem = problem.other(written.span, "begins again after");
            reader.complain(problem.help("for example { every: 100ms, cost: 2ms }"))
        }
        cost => Some(Knows::Shared { every, cost: cost.as_ref().map_or(Nanos::ZERO, |cost| cost.value) }),
    }
}
