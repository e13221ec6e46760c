//! Sentences about users who wait for their answers, by Little's law, and about what their loop may have hidden.

use super::Tone;
use super::asked::{Kind, kind};
use super::audit::{Fact, dash, fact};
use super::sessions::over_limits;
use crate::format::{count, number, plural, rate, share, time};
use headway_stats::Summary;
use headway_stats::summary::{Closed, Estimated, LanesFrom, Supported};

/// Whole users, where the number can be one.
fn people(users: f64) -> String {
    if (0.0..1e15).contains(&users) { count(users.round() as u64) } else { number(users) }
}

/// Whether users wait for more than the 3 % up to which the responses hardly hold back the starts: whether they would have to
/// think longer than they do.
fn waits(closed: &Closed) -> bool {
    // A number that lies on the limit itself may come out a rounding below it.
    closed.think.zip(closed.think_for_3_percent).is_some_and(|(think, needed)| think < needed * (1.0 - 1e-9))
}

/// What is known of the users of a run: how many, R, Z, the share of waiting, and what their loop may have hidden.
pub fn users(summary: &Summary) -> Vec<Fact> {
    let Some(closed) = &summary.closed else { return Vec::new() };
    let kind = kind(summary);
    let mut facts = Vec::new();
    let mut numbers: Vec<String> =
        closed.users.map(|users| format!("{} asked", number_of(users))).into_iter().collect();
    // Where sessions arrive they are counted among those who are there, and have a block of their own.
    let there = closed.users_mean.filter(|_| summary.sessions.is_none());
    numbers.extend(there.map(|users| format!("{} there on average", number_of(users))));
    // Fixed work has no steady state, and Little's law is about one; nor does it hold for the users alone where their block
    // is of the requests of others too.
    let others = kind == Kind::Sessions && closed.users.is_some() && closed.n >= summary.response.n;
    let steady = kind != Kind::FixedWork && !others;
    if let Some(n) = closed.n_little.filter(|_| steady) {
        numbers.push(format!("N = rate x (Z + R) = {} by Little's law", number(n)));
    }
    if !numbers.is_empty() {
        facts.push(fact("users", numbers.join("; ")));
    }
    facts.extend(response(closed));
    facts.extend(think(closed).filter(|_| kind != Kind::FixedWork));
    if steady {
        facts.extend(waiting(closed));
    }
    facts.extend(in_flight(closed));
    if summary.sessions.is_none() {
        facts.extend(over_limits(summary));
    }
    facts.extend(hidden(summary, closed));
    facts
}

/// How the response times of an open load were estimated, as a clause.
pub fn method(estimated: &Estimated) -> String {
    let how = match estimated.lanes_from {
        Some(LanesFrom::Completions) => "at which completions per second stop growing",
        Some(LanesFrom::Order) => "that the order of the responses shows",
        None => return estimated.method.to_string(),
    };
    format!(
        "estimated: Poisson arrivals at the run's mean rate, first come first served by {} (as many as {how}), each request taking the \
         service of one that came into service at about that time in the run",
        plural(estimated.lanes, "lane")
    )
}

/// Users, think time, the share of waiting, and what would lower it, of another tool's results.
pub fn closed(closed: &Closed) -> Vec<Fact> {
    let mut facts = Vec::new();
    let named = closed.users.map_or(String::new(), |users| format!("{} named; ", people(users)));
    if closed.users.is_some() || closed.n_little.is_some() {
        let text = format!("{named}N = rate x (Z + R) = {} by Little's law", dash(closed.n_little, number));
        facts.push(fact("users", text));
    }
    facts.extend(response(closed));
    facts.extend(think(closed));
    facts.extend(waiting(closed));
    facts.extend(in_flight(closed));
    facts
}

/// An average number of users; whole where it is one, for the measured phase ends a nanosecond after the plan's end.
fn number_of(users: f64) -> String {
    if (users - users.round()).abs() < 1e-6 * users.max(1.0) { people(users) } else { number(users) }
}

fn response(closed: &Closed) -> Option<Fact> {
    let mean = closed.response?;
    Some(fact("response", format!("R = {} on average (n = {})", time(mean), count(closed.n))))
}

fn think(closed: &Closed) -> Option<Fact> {
    let think = closed.think?;
    let mut text = format!("Z = {} on average", time(think));
    if let Some(sd) = closed.think_sd {
        text.push_str(&format!(", standard deviation {}", time(sd)));
    }
    if let (Some(low), Some(high)) = (closed.think_min, closed.think_max) {
        text.push_str(&format!(", {} to {}", time(low), time(high)));
    }
    let asked = closed.think_specified.map(|asked| format!("asked: {}", time(asked)));
    let recovered = (closed.think_n > 0)
        .then(|| format!("recovered from {} of requests", plural(closed.think_n, "pair")));
    let how: Vec<String> = recovered.into_iter().chain(asked).collect();
    if !how.is_empty() {
        text.push_str(&format!(" ({})", how.join("; ")));
    }
    Some(fact("think time", text))
}

/// The share of waiting, what would lower it, and how many users the rate stands for.
fn waiting(closed: &Closed) -> Vec<Fact> {
    let mut facts = Vec::new();
    let high = waits(closed);
    if let Some(rort) = closed.rort {
        let text = format!(
            "R/(Z+R) = {}: the share of a user's cycle spent waiting; up to 3 % the responses hardly hold back the starts",
            share(rort)
        );
        facts.push(Fact { tone: if high { Tone::Warn } else { Tone::Plain }, ..fact("RoRT", text) });
    }
    if let Some((users, think)) = closed.users_for_3_percent.zip(closed.think_for_3_percent).filter(|_| high)
    {
        let users = users.ceil();
        let text = format!(
            "{} user{} with Z = {} would send the same rate at a RoRT of 3 %",
            people(users),
            if users == 1.0 { "" } else { "s" },
            time(think)
        );
        facts.push(fact("for 3 %", text));
    }
    let each = |supported: [Supported; 5]| {
        supported.map(|s| format!("{} if Z = {}", people(s.users), time(s.think))).join(", ")
    };
    match &closed.pages {
        Some(pages) => {
            let text = format!(
                "users that {} pages stand for: {} (n = {}; Z is the time between pages)",
                rate(pages.rate),
                each(pages.supported),
                count(pages.n)
            );
            facts.push(fact("supported", text));
        }
        None => {
            facts.extend(closed.supported.filter(|_| closed.think.is_some()).map(|supported| {
                fact("supported", format!("users that the rate of requests stands for: {}", each(supported)))
            }));
        }
    }
    facts
}

fn in_flight(closed: &Closed) -> Option<Fact> {
    let most = closed.in_flight_max?;
    let waiting = closed.all_waiting.map_or(String::new(), |waiting| {
        format!("; nearly all users were waiting for {} of the time", share(waiting))
    });
    Some(fact("in flight", format!("{} at most{waiting}", count(most))))
}

/// What an open load of the same rate would have seen: an estimate, and labelled as one.
fn hidden(summary: &Summary, closed: &Closed) -> Option<Fact> {
    match &closed.estimated {
        Some(estimated) => Some(fact("estimated", open(summary, estimated))),
        None if kind(summary) == Kind::Closed => {
            let reason = super::why::missing(&summary.not_computed, "closed.estimated")?;
            Some(fact("estimated", format!("not: {reason}")))
        }
        None => None,
    }
}

fn open(summary: &Summary, estimated: &Estimated) -> String {
    let seen = summary.response.p99.map_or(String::new(), |p99| {
        let bound = if summary.response.lower_bound.contains_key("p99") { "> " } else { "" };
        format!("; the loop showed p99 {bound}{}", time(p99))
    });
    format!(
        "p99 {}, p50 {}, mean {} if the same {} arrived whatever the target does (n = {}, Poisson, replayed through what the \
         run showed){seen}",
        dash(estimated.p99, time),
        dash(estimated.p50, time),
        dash(estimated.mean, time),
        rate(estimated.rate),
        count(estimated.n)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::Workload;

    #[test]
    fn less_waiting_is_advised_only_where_there_is_much() {
        let mut load = Closed { users: Some(1.0), rort: Some(0.5), ..Closed::default() };
        (load.think, load.users_for_3_percent, load.think_for_3_percent) = (Some(1.7), Some(1.2), Some(1.7));
        let advice = |load: &Closed| closed(load).into_iter().find(|fact| fact.name == "for 3 %");
        let tone = |load: &Closed| closed(load).into_iter().find(|fact| fact.name == "RoRT").unwrap().tone;
        assert_eq!((advice(&load), tone(&load)), (None, Tone::Plain));
        load.think = Some(1.69);
        let text = advice(&load).expect("it waits").text;
        assert_eq!(text, "2 users with Z = 1.70 s would send the same rate at a RoRT of 3 %");
        assert_eq!(tone(&load), Tone::Warn);
        load.users_for_3_percent = Some(0.9);
        assert!(advice(&load).expect("it waits").text.starts_with("1 user with"));
        load.think_for_3_percent = None;
        assert_eq!((advice(&load), tone(&load)), (None, Tone::Plain));
    }

    #[test]
    fn nothing_follows_for_users_from_numbers_that_are_others_too() {
        let mut summary = Summary { workload: Some(Workload::Sessions), ..Summary::default() };
        (summary.response.n, summary.response.mean) = (100, Some(0.01));
        let block = Closed {
            n: 100,
            users: Some(10.0),
            think: Some(1.0),
            rort: Some(0.01),
            n_little: Some(67.0),
            ..Closed::default()
        };
        summary.closed = Some(block);
        let names =
            |summary: &Summary| -> Vec<&str> { users(summary).iter().map(|fact| fact.name).collect() };
        assert_eq!(names(&summary), ["users", "think time"]);
        assert_eq!(users(&summary)[0].text, "10 asked");
        summary.closed.as_mut().unwrap().n = 40;
        assert_eq!(names(&summary), ["users", "think time", "RoRT"]);
        summary.workload = Some(Workload::FixedWork);
        assert_eq!(names(&summary), ["users"]);
    }

    #[test]
    fn an_estimate_is_called_one_and_its_absence_has_a_reason() {
        let mut summary = Summary { workload: Some(Workload::Closed), ..Summary::default() };
        assert!(users(&summary).is_empty());
        summary.closed = Some(Closed::default());
        let shown = |summary: &Summary| users(summary).into_iter().find(|fact| fact.name == "estimated");
        assert_eq!(shown(&summary), None);
        summary
            .not_computed
            .insert("closed.estimated".into(), headway_stats::summary::Stated::other("too few requests"));
        assert_eq!(shown(&summary).unwrap().text, "not: too few requests");
        let estimated = Estimated { n: 90, rate: 19.1, p99: Some(1.58), ..Estimated::default() };
        summary.closed = Some(Closed { estimated: Some(estimated), ..Closed::default() });
        summary.response.p99 = Some(1.22);
        let text = shown(&summary).unwrap().text;
        assert!(text.starts_with("p99 1.58 s, p50 -, mean - if the same 19.1/s arrived"), "{text}");
        assert!(text.ends_with("the loop showed p99 1.22 s"), "{text}");
    }
}
