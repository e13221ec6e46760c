//! Sentences about the users of a closed load, by Little's law.

use super::Tone;
use super::audit::{Fact, dash, fact};
use crate::format::{count, number, plural, share, time};
use stats::summary::Closed;

/// Up to this share of waiting the answers hardly hold back the starts.
const LITTLE: f64 = 0.03;

/// Whole users, where the number can be one.
fn people(users: f64) -> String {
    if (0.0..1e15).contains(&users) { count(users.round() as u64) } else { number(users) }
}

/// Users, think time, the share of waiting, and what would bring it to 3 %.
pub fn closed(closed: &Closed) -> Vec<Fact> {
    let mut facts = Vec::new();
    let named = closed.users.map_or(String::new(), |users| format!("{} named; ", people(users)));
    if closed.users.is_some() || closed.n_little.is_some() {
        let text = format!("{named}N = rate x (Z + R) = {} by Little's law", dash(closed.n_little, number));
        facts.push(fact("users", text));
    }
    facts.extend(
        closed
            .response
            .map(|mean| fact("response", format!("R = {} on average (n = {})", time(mean), count(closed.n)))),
    );
    if let Some(think) = closed.think {
        let mut text = format!("Z = {} on average", time(think));
        if let Some(sd) = closed.think_sd {
            text.push_str(&format!(", standard deviation {}", time(sd)));
        }
        if let (Some(low), Some(high)) = (closed.think_min, closed.think_max) {
            text.push_str(&format!(", {} to {}", time(low), time(high)));
        }
        if closed.think_n > 0 {
            text.push_str(&format!(" (recovered from {} of requests)", plural(closed.think_n, "pair")));
        }
        facts.push(fact("think time", text));
    }
    if let Some(rort) = closed.rort {
        let high = rort > LITTLE;
        let text = format!(
            "R/(Z+R) = {}: the share of a user's cycle spent waiting; up to 3 % the answers hardly hold back the starts",
            share(rort)
        );
        facts.push(Fact { tone: if high { Tone::Warn } else { Tone::Plain }, ..fact("RoRT", text) });
    }
    let waits = closed.rort.is_some_and(|rort| rort > LITTLE);
    let less = closed.users_for_3_percent.zip(closed.think_for_3_percent).filter(|_| waits);
    if let Some((users, think)) = less {
        let users = users.ceil();
        let text = format!(
            "{} user{} with Z = {} would send the same rate at a RoRT of 3 %",
            people(users),
            if users == 1.0 { "" } else { "s" },
            time(think)
        );
        facts.push(fact("for 3 %", text));
    }
    if let Some(supported) = closed.supported {
        let each = supported.map(|s| format!("{} if Z = {}", people(s.users), time(s.think)));
        facts.push(fact("supported", format!("users that the rate stands for: {}", each.join(", "))));
    }
    if let Some(most) = closed.in_flight_max {
        let waiting = closed.all_waiting.map_or(String::new(), |waiting| {
            format!("; nearly all users were waiting for {} of the time", share(waiting))
        });
        facts.push(fact("in flight", format!("{} at most{waiting}", count(most))));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_waiting_is_advised_only_where_there_is_much() {
        let mut load = Closed { users: Some(1.0), ..Closed::default() };
        (load.rort, load.users_for_3_percent, load.think_for_3_percent) = (Some(0.03), Some(1.2), Some(1.7));
        let advice = |load: &Closed| closed(load).into_iter().find(|fact| fact.name == "for 3 %");
        assert_eq!(advice(&load), None);
        load.rort = Some(0.031);
        assert!(advice(&load).expect("it waits").text.starts_with("2 users with Z = 1.70 s"));
        load.users_for_3_percent = Some(0.9);
        assert!(advice(&load).expect("it waits").text.starts_with("1 user with"));
    }
}
