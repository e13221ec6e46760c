//! What was asked for and what was sent, for each kind of load: the line that names it, and the rows of one table.
//!
//! Requests, sessions and users are counted apart: a share of one by another means nothing. Absent: how late the load was
//! and how it was answered; whether it was as asked is the verdict's to say.

use super::Tone;
use super::audit::{self, dash};
use crate::format::{count, number, plural, rate, share, share_of, time, whole};
use headway_stats::summary::{Connects, Names, PlanKind, PlanSummary, RuleId, Source, StrayCounts, Strays};
use headway_stats::{Summary, Workload};

/// Kinds of load, as far as their words differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Requests arrive; or another tool's rows.
    Open,
    /// Sessions arrive, and their steps follow the answers. There may be closed users beside them.
    Sessions,
    /// Users stay, and wait for their answers.
    Closed,
    /// So many requests, or sessions that all come at once, as fast as they go.
    FixedWork,
    /// Sockets are kept connecting.
    Connecting,
}

#[cfg(test)]
impl Kind {
    pub(super) const ALL: [Kind; 5] =
        [Kind::Open, Kind::Sessions, Kind::Closed, Kind::FixedWork, Kind::Connecting];
}

/// The kind of the load. Documents that do not tell hold open ones.
pub fn kind(summary: &Summary) -> Kind {
    match summary.workload {
        Some(Workload::Sessions) => Kind::Sessions,
        Some(Workload::Closed) => Kind::Closed,
        Some(Workload::FixedWork) => Kind::FixedWork,
        Some(Workload::Connecting) => Kind::Connecting,
        Some(Workload::Open | Workload::Foreign) | None => Kind::Open,
    }
}

/// Whether all sessions of fixed work come at once.
pub(super) fn is_at_once(summary: &Summary) -> bool {
    kind(summary) == Kind::FixedWork
        && summary.plan.as_ref().is_some_and(|plan| plan.kind == Some(PlanKind::AtOnce))
}

/// What the plan makes: of an open load every request is an arrival of its own.
pub fn unit(summary: &Summary) -> &'static str {
    if kind(summary) == Kind::Open { "arrival" } else { "request" }
}

/// What the pattern is judged by: requests, or the sessions that they belong to.
pub(super) fn judged(summary: &Summary) -> &'static str {
    if kind(summary) == Kind::Sessions { "sessions" } else { audit::judged(summary) }
}

/// What was run, in one line: source, name, kind of load, length.
pub fn subject(summary: &Summary) -> String {
    let source = match summary.source {
        Source::Live => "live run",
        Source::Sim => "simulation",
        Source::Import => "audit",
    };
    let mut parts = vec![source.to_owned()];
    parts.extend(summary.plan.as_ref().and_then(|plan| load(summary, plan)));
    parts.extend(protocols(summary));
    let proxy = summary.plan.as_ref().and_then(|plan| plan.proxy.as_ref());
    parts.extend(proxy.map(|proxy| format!("through the proxy {proxy}")));
    let length = summary.measured.to_s - summary.measured.from_s;
    if length > 0.0 {
        let measured = if kind(summary) == Kind::FixedWork { "in all" } else { "measured" };
        parts.push(format!("{} {measured}", time(length)));
    }
    parts.extend(summary.started_at.as_deref().map(to_the_millisecond));
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    format!("{name}: {}", parts.join(", "))
}

/// What was spoken, the most frequent first: `HTTP/2`.
pub fn protocols(summary: &Summary) -> Option<String> {
    let mut spoken: Vec<_> = summary.generator.as_ref()?.protocols.iter().collect();
    spoken.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let names: Vec<&str> = spoken.into_iter().map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// What came of reading a name again, and where connections went: `12 times, 1 failed, 2 with other addresses; connections: 127.0.0.1:80 40`.
pub fn names(names: &Names) -> String {
    let went: Vec<String> =
        names.connections.iter().map(|(address, n)| format!("{address} {}", count(*n))).collect();
    let went = if went.is_empty() { String::new() } else { format!("; connections: {}", went.join(", ")) };
    let (times, failed) = (plural(names.readings, "time"), count(names.failed));
    format!("{times}, {failed} failed, {} with other addresses{went}", count(names.changed))
}

/// What datagrams brought that was no response: `3 responses late, 1 duplicated, 0 reordered; 2 datagrams belong to no request`.
pub fn strays(strays: &Strays) -> String {
    let StrayCounts { late, duplicates, reordered, unexpected } = strays.counts;
    format!(
        "{} late, {} duplicated, {} reordered; {} to no request",
        plural(late, "response"),
        count(duplicates),
        count(reordered),
        plural(unexpected, "datagram"),
    )
}

/// `2026-11-28T13:51:19.159Z` of `2026-11-28T13:51:19.159846389Z`.
pub(super) fn to_the_millisecond(stamp: &str) -> String {
    let Some((seconds, fraction)) = stamp.split_once('.') else { return stamp.to_owned() };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, zone) = fraction.split_at(digits);
    format!("{seconds}.{}{zone}", digits.get(..3).unwrap_or(digits))
}

/// The load in a few words: `sessions at 20.0/s, poisson, 11 requests each`.
fn load(summary: &Summary, plan: &PlanSummary) -> Option<String> {
    let users = plan.users.filter(|&users| users > 0);
    let think = plan.think.as_ref().map_or(String::new(), |think| format!(", thinking {think}"));
    let new = if plan.new_connections { ", a new connection each" } else { "" };
    let words = match kind(summary) {
        Kind::Connecting => {
            let timeout =
                plan.connect_timeout_s.map_or(String::new(), |s| format!(", each for {} at most", time(s)));
            return plan.sockets.map(|n| format!("{} kept connecting{timeout}", plural(n, "socket")));
        }
        Kind::Open => match plan.rate {
            Some(_) => Some(format!("{} at {}", plan.process, plan_rate(plan).unwrap_or_default())),
            None => match users {
                Some(users) => Some(format!("{} with {}", plan.process, plural(users, "user"))),
                None => (!plan.process.is_empty()).then(|| plan.process.clone()),
            },
        },
        Kind::Sessions => {
            let at = plan_rate(plan).map_or(String::new(), |rate| format!(" at {rate}"));
            let process = if plan.process.is_empty() { String::new() } else { format!(", {}", plan.process) };
            let each = requests_each(summary).map_or(String::new(), |each| format!(", {each}"));
            let beside =
                users.map_or(String::new(), |users| format!(", with {} beside them", plural(users, "user")));
            Some(format!("sessions{at}{process}{each}{beside}{think}"))
        }
        Kind::Closed => Some(match users {
            Some(users) => format!("closed with {}{think}", plural(users, "user")),
            None => format!("closed{think}"),
        }),
        Kind::FixedWork if is_at_once(summary) => {
            let sessions = users.or(summary.sessions.as_ref().map(|sessions| sessions.n));
            let each = plan
                .requests
                .zip(sessions)
                .filter(|&(_, n)| n > 0)
                .map_or(String::new(), |(requests, sessions)| {
                    format!(", {} each", requests_of(requests as f64 / sessions as f64))
                });
            Some(format!("{} at once{each}", sessions.map_or("sessions".into(), count)))
        }
        Kind::FixedWork => {
            let requests = plan.requests.map_or(String::new(), |n| format!(": {}", plural(n, "request")));
            let by = users.map_or(String::new(), |users| format!(" by {}", plural(users, "user")));
            Some(format!("fixed work{requests}{by}{think}"))
        }
    };
    words.map(|words| words + new)
}

/// The rate of the plan; of one that varies within the measured phase the highest.
fn plan_rate(plan: &PlanSummary) -> Option<String> {
    let highest = plan.phases.iter().filter(|phase| !phase.warmup).map(|phase| phase.from.max(phase.to));
    let highest = highest.reduce(f64::max).filter(|_| !is_steady(plan));
    match highest {
        Some(highest) => Some(format!("up to {}", rate(highest))),
        None => plan.rate.map(rate),
    }
}

/// Whether one rate holds throughout the measured phase.
fn is_steady(plan: &PlanSummary) -> bool {
    let mut measured = plan.phases.iter().filter(|phase| !phase.warmup && phase.length_s > 0.0);
    measured.all(|phase| phase.from == phase.to && Some(phase.to) == plan.rate)
}

/// `11 requests each`: what a session asks for; none where only a mixture with other users is known.
fn requests_each(summary: &Summary) -> Option<String> {
    let sessions = summary.sessions.as_ref().filter(|sessions| sessions.n > 0)?;
    // Think times leave requests beyond the end, unfinished sessions answers: the larger of both counts is nearer.
    let made = if has_users(summary) { 0.0 } else { summary.measured.n as f64 };
    let each = sessions.requests_offered.unwrap_or(0.0).max(made) / sessions.n as f64;
    (each > 0.0).then(|| format!("{} each", requests_of(each)))
}

/// `11 requests`, or `about 10.4 requests` on average.
fn requests_of(each: f64) -> String {
    let whole = each.round();
    match (each - whole).abs() < 5e-3 && whole >= 1.0 {
        true => plural(whole as u64, "request"),
        false => format!("about {} requests", number(each)),
    }
}

/// Whether there are users who stay.
fn has_users(summary: &Summary) -> bool {
    let asked = summary.closed.as_ref().and_then(|closed| closed.users);
    asked.or(summary.plan.as_ref().and_then(|plan| plan.users.map(|n| n as f64))).is_some_and(|n| n > 0.0)
}

/// How many arrivals were asked for, of an open load requests and of a partly open one sessions: of a run cut short, those
/// that fell due until then; of a foreign file that does not tell when requests were due, those to be expected at the rate
/// expected. Of fixed work, requests. None of a closed load: nobody asked for a number.
pub fn asked(summary: &Summary) -> Option<u64> {
    if summary.audit.is_some() && summary.rate.offered.is_none() {
        return expected(summary);
    }
    let plan = summary.plan.as_ref();
    match kind(summary) {
        Kind::Sessions => summary.sessions.as_ref().map(|sessions| sessions.n),
        Kind::Closed | Kind::Connecting => None,
        Kind::FixedWork => plan.and_then(|plan| plan.requests),
        Kind::Open => {
            let due = (summary.rate.n > 0).then_some(summary.rate.n);
            if summary.measured.interrupted {
                return due;
            }
            plan.and_then(|plan| plan.arrivals.or(plan.requests)).or(due)
        }
    }
}

/// The count that the share of arrivals sent was taken of.
fn expected(summary: &Summary) -> Option<u64> {
    let rule = summary.verdict.rules.iter().find(|rule| rule.rule == RuleId::SentShare)?;
    let expected = summary.arrivals.started as f64 / rule.value.filter(|&share| share > 0.0)?;
    (expected < 1e15).then(|| expected.round() as u64)
}

/// The rate asked of what arrives. A plan that varies has no single rate, and a shard sends a part of it: then what fell due
/// is what was asked.
pub fn asked_rate(summary: &Summary) -> Option<f64> {
    let plan = summary.plan.as_ref().filter(|plan| is_steady(plan) && plan.shard.is_none());
    let due = match kind(summary) {
        Kind::Sessions => summary.arrivals.intended.and_then(|intended| intended.rate),
        _ => summary.rate.offered,
    };
    plan.and_then(|plan| plan.rate).or(due)
}

/// A line of the table of what was asked for and what was sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// What is counted: `sessions`.
    pub name: &'static str,
    /// What was asked for, or `-`.
    pub asked: String,
    /// What came of it, or `-`.
    pub sent: String,
    /// What else to know: the share, a standard error.
    pub note: String,
    /// How good that is.
    pub tone: Tone,
}

/// What was asked for beside what was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its heading.
    pub title: &'static str,
    /// Title of the column of what was asked for.
    pub asked: &'static str,
    /// Title of the column of what came of it.
    pub sent: &'static str,
    /// Its lines.
    pub rows: Vec<Row>,
    /// What its last line means.
    pub meaning: &'static str,
}

/// The table of what was asked for and what was sent.
pub fn table(summary: &Summary) -> Table {
    let kind = kind(summary);
    let mut rows = match kind {
        Kind::Open => arrivals(summary),
        Kind::Sessions => sessions(summary),
        Kind::Closed => closed(summary),
        Kind::FixedWork => fixed_work(summary),
        Kind::Connecting => Vec::new(),
    };
    rows.extend(summary.connects.iter().flat_map(connects));
    rows.push(cov(summary));
    Table {
        title: if kind == Kind::Open { "Arrivals" } else { "Load" },
        asked: if summary.audit.is_some() { "expected" } else { "planned" },
        sent: match kind {
            Kind::Open | Kind::Sessions => "sent",
            Kind::Closed | Kind::FixedWork | Kind::Connecting => "actual",
        },
        rows,
        meaning: match kind {
            Kind::Sessions => {
                "(of the arrivals of sessions: 1 = independent, 0 = evenly paced, above 1 = bunched)"
            }
            _ => "(1 = independent users, 0 = evenly paced, above 1 = bunched)",
        },
    }
}

/// Attempts to connect and what became of them: rates, and counts behind them. Sockets that are kept connecting make as many as their number,
/// the connect timeout and the target's acceptance come to.
fn connects(connects: &Connects) -> Vec<Row> {
    let mut rows = Vec::new();
    let per_s = connects.per_s.unwrap_or_default();
    let counts = connects.counts;
    if let Some(sockets) = connects.sockets {
        rows.push(row(
            "sockets",
            people(sockets),
            dash(connects.connecting, number),
            "connecting on average".into(),
        ));
    }
    rows.push(row(
        "attempts",
        dash(connects.expected_per_s, rate),
        rate(per_s.attempts),
        count(counts.attempts),
    ));
    let others = [
        ("established", per_s.established, counts.established),
        ("refused", per_s.refused, counts.refused),
        ("given up", per_s.timed_out, counts.timed_out),
        ("served", per_s.served, counts.served),
    ];
    rows.extend(others.map(|(name, per_s, n)| row(name, "-".into(), rate(per_s), count(n))));
    rows
}

fn row(name: &'static str, asked: String, sent: String, note: String) -> Row {
    Row { name, asked, sent, note, tone: Tone::Faint }
}

fn completed(summary: &Summary) -> String {
    summary.rate.throughput.map_or(String::new(), |done| format!("{} completed", rate(done)))
}

fn arrivals(summary: &Summary) -> Vec<Row> {
    let (asked, started) = (asked(summary), summary.arrivals.started);
    let share = asked.map_or(String::new(), |asked| share_of(started, asked));
    let sent = summary.rate.started.or(summary.arrivals.rate);
    let mut rows = vec![
        row("arrivals", asked.map_or("-".into(), count), count(started), share),
        row("rate", dash(asked_rate(summary), rate), dash(sent, rate), completed(summary)),
    ];
    // What is asked of a model may be more than it can do, and it answers all of it in the end.
    if let Some(good) = summary.rate.goodput.filter(|_| summary.source == Source::Sim) {
        rows[1].note = summary
            .rate
            .throughput
            .map_or(String::new(), |done| format!("{} completed in the end", rate(done)));
        rows.push(row("good responses", "-".into(), rate(good), "complete within the phase".into()));
    }
    rows
}

fn sessions(summary: &Summary) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(sessions) = &summary.sessions {
        let started = share_of(sessions.started, sessions.n);
        rows.push(row("sessions", count(sessions.n), count(sessions.started), started));
        let (asked, sent) = (asked_rate(summary), summary.arrivals.rate);
        rows.push(row("session rate", dash(asked, rate), dash(sent, rate), String::new()));
        let asked = sessions.requests_offered;
        let share = sessions.sent_share.map_or(String::new(), |sent| format!("{} sent in time", share(sent)));
        rows.push(row("requests", dash(asked, whole), count(sessions.requests_sent), share));
    }
    // With users beside them the rate is that of all requests, and nobody asked for the users'.
    let (name, asked) = match has_users(summary) {
        true => ("all requests", None),
        false => ("request rate", summary.rate.offered),
    };
    rows.push(row(name, dash(asked, rate), dash(summary.rate.started, rate), completed(summary)));
    rows.extend(users(summary));
    rows
}

fn closed(summary: &Summary) -> Vec<Row> {
    let mut rows: Vec<Row> = users(summary).into_iter().collect();
    rows.push(row("requests", "-".into(), count(summary.measured.n), String::new()));
    rows.push(row("request rate", "-".into(), dash(summary.rate.started, rate), completed(summary)));
    rows
}

fn fixed_work(summary: &Summary) -> Vec<Row> {
    let asked = asked(summary);
    let issued = summary.verdict.rules.iter().find(|rule| rule.rule == RuleId::AllIssued && rule.n > 0);
    let issued = issued.map_or(summary.measured.n, |rule| rule.n);
    let share = asked.map_or(String::new(), |asked| format!("{} issued", share_of(issued, asked)));
    let mut rows = vec![row("requests", asked.map_or("-".into(), count), count(issued), share)];
    let arrived = summary.sessions.as_ref().filter(|sessions| sessions.n > 0);
    if let Some(sessions) = arrived {
        let started = format!("{} started", share_of(sessions.started, sessions.n));
        rows.push(row("sessions", count(sessions.n), count(sessions.started), started));
    }
    let users = summary.plan.as_ref().and_then(|plan| plan.users).filter(|_| arrived.is_none());
    let there = summary.closed.as_ref().and_then(|closed| closed.users_mean);
    if let Some(users) = users {
        let note = if there.is_some() { "on average" } else { "" };
        rows.push(row("users", count(users), dash(there, number), note.into()));
    }
    let length = summary.measured.to_s - summary.measured.from_s;
    let last = if summary.measured.interrupted { "until it was cut short" } else { "to the last response" };
    rows.push(row("time taken", "-".into(), time(length), last.into()));
    rows.push(row("request rate", "-".into(), dash(summary.rate.started, rate), completed(summary)));
    rows
}

/// Users asked for and users who were there; none where there are none. Beside sessions only the rule tells how many of
/// those who were there are users.
fn users(summary: &Summary) -> Option<Row> {
    let closed = summary.closed.as_ref()?;
    let asked = closed.users?;
    let rule = summary.verdict.rules.iter().find(|rule| rule.rule == RuleId::UsersHeld);
    let by_rule = rule.and_then(|rule| rule.value).map(|held| held * asked);
    let there = if kind(summary) == Kind::Closed { closed.users_mean.or(by_rule) } else { by_rule };
    let share = there.filter(|_| asked > 0.0).map(|there| format!("{} held", share(there / asked)));
    Some(row("users", people(asked), dash(there, people), share.unwrap_or_default()))
}

/// Users, or an average number of them.
fn people(users: f64) -> String {
    // The measured phase ends a nanosecond after the plan's end.
    let nearest = users.round();
    if (users - nearest).abs() < 1e-6 * nearest.max(1.0) { whole(nearest) } else { number(users) }
}

fn cov(summary: &Summary) -> Row {
    let arrivals = &summary.arrivals;
    let coarse = summary.audit.as_ref().is_some_and(audit::is_coarse);
    let planned = summary.plan.as_ref().and_then(|plan| plan.gap_cov);
    // Where nothing arrives, what was due hangs on the answers and is nobody's law.
    let asks = matches!(kind(summary), Kind::Open | Kind::Sessions);
    let law = arrivals.intended.and_then(|intended| intended.cov).or(planned).filter(|_| asks);
    let (tone, note) = match arrivals.cov_se {
        _ if coarse => (Tone::Warn, audit::OF_THE_CLOCK.to_owned()),
        Some(se) => (Tone::Faint, format!("standard error {}", number(se))),
        None => (Tone::Faint, String::new()),
    };
    let (asked, sent) = (dash(law, number), dash(arrivals.cov, number));
    Row { name: "CoV of headways", asked, sent, note, tone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::summary::{Audit, Closed, PlanPhase, RuleResult, Sessions};

    fn of(workload: Workload, plan: PlanSummary) -> Summary {
        Summary { name: "x".into(), workload: Some(workload), plan: Some(plan), ..Summary::default() }
    }

    fn line(summary: &Summary) -> String {
        subject(summary).strip_prefix("x: live run").unwrap().trim_start_matches(", ").to_owned()
    }

    #[test]
    fn every_kind_of_load_is_named_by_what_was_asked() {
        let poisson = PlanSummary { process: "poisson".into(), rate: Some(20.0), ..PlanSummary::default() };
        assert_eq!(line(&of(Workload::Open, poisson.clone())), "poisson at 20.0/s");
        let mut sessions = of(Workload::Sessions, poisson);
        assert_eq!(line(&sessions), "sessions at 20.0/s, poisson");
        sessions.plan.as_mut().unwrap().think = Some("exp(1s)".into());
        assert_eq!(line(&sessions), "sessions at 20.0/s, poisson, thinking exp(1s)");
        sessions.plan.as_mut().unwrap().think = None;
        sessions.sessions = Some(Sessions { n: 100, requests_offered: Some(1_100.0), ..Sessions::default() });
        assert_eq!(line(&sessions), "sessions at 20.0/s, poisson, 11 requests each");
        // Think times beyond the end leave fewer asked for than were made.
        sessions.measured.n = 1_237;
        assert_eq!(line(&sessions), "sessions at 20.0/s, poisson, about 12.4 requests each");
        sessions.plan.as_mut().unwrap().users = Some(1);
        assert_eq!(line(&sessions), "sessions at 20.0/s, poisson, 11 requests each, with 1 user beside them");
        let users = PlanSummary { users: Some(20), think: Some("exp(1s)".into()), ..PlanSummary::default() };
        assert_eq!(line(&of(Workload::Closed, users.clone())), "closed with 20 users, thinking exp(1s)");
        let work = PlanSummary { requests: Some(5_000), think: None, ..users.clone() };
        assert_eq!(line(&of(Workload::FixedWork, work)), "fixed work: 5,000 requests by 20 users");
        let crowd = PlanSummary { kind: Some(PlanKind::AtOnce), requests: Some(220), ..users };
        assert_eq!(line(&of(Workload::FixedWork, crowd)), "20 at once, 11 requests each");
        assert_eq!(line(&of(Workload::FixedWork, PlanSummary::default())), "fixed work");
    }

    #[test]
    fn what_a_model_answers_within_the_phase_is_told_apart_from_what_it_answers_in_the_end() {
        let mut summary = of(Workload::Open, PlanSummary::default());
        summary.source = Source::Sim;
        (summary.rate.throughput, summary.rate.goodput) = (Some(120.0), Some(100.0));
        let rows = table(&summary).rows;
        assert_eq!((rows[1].name, &*rows[1].note), ("rate", "120/s completed in the end"));
        assert_eq!(
            (rows[2].name, &*rows[2].sent, &*rows[2].note),
            ("good responses", "100/s", "complete within the phase")
        );
        summary.rate.goodput = None;
        assert_eq!(table(&summary).rows[1].note, "120/s completed");
    }

    #[test]
    fn a_plan_that_varies_has_no_single_rate() {
        let phase = |from, to, warmup| PlanPhase { length_s: 10.0, from, to, warmup };
        let mut plan = PlanSummary { process: "poisson".into(), rate: Some(20.0), ..PlanSummary::default() };
        plan.phases = vec![phase(0.0, 20.0, true), phase(20.0, 20.0, false)];
        let mut summary = of(Workload::Open, plan);
        summary.rate.offered = Some(19.7);
        assert_eq!((asked_rate(&summary), line(&summary)), (Some(20.0), "poisson at 20.0/s".into()));
        summary.plan.as_mut().unwrap().shard = Some("1/2".into());
        assert_eq!(asked_rate(&summary), Some(19.7));
        let plan = summary.plan.as_mut().unwrap();
        plan.shard = None;
        plan.phases.insert(1, phase(20.0, 300.0, false));
        assert_eq!((asked_rate(&summary), line(&summary)), (Some(19.7), "poisson at up to 300/s".into()));
    }

    #[test]
    fn sessions_requests_and_users_are_counted_apart() {
        let mut summary = of(Workload::Sessions, PlanSummary::default());
        (summary.measured.n, summary.arrivals.started, summary.rate.n) = (1_100, 99, 1_100);
        summary.rate.offered = Some(110.0);
        summary.sessions = Some(Sessions {
            n: 100,
            started: 99,
            requests_offered: Some(1_100.0),
            requests_sent: 1_045,
            sent_share: Some(0.95),
            ..Sessions::default()
        });
        let shown = |summary: &Summary| -> Vec<(&str, String, String)> {
            let rows = table(summary).rows.into_iter();
            rows.map(|row| (row.name, format!("{} {}", row.asked, row.sent), row.note)).collect()
        };
        let rows = shown(&summary);
        assert_eq!(rows[0], ("sessions", "100 99".into(), "99.0 %".into()));
        assert_eq!(rows[2], ("requests", "1,100 1,045".into(), "95.0 % sent in time".into()));
        assert_eq!(rows[3].0, "request rate");
        assert_eq!((asked(&summary), unit(&summary)), (Some(100), "request"));
        // Nobody asked for a number of requests of users who stay.
        summary.closed = Some(Closed { users: Some(10.0), users_mean: Some(14.0), ..Closed::default() });
        let held = RuleResult { rule: "users-held".into(), value: Some(0.5), ..RuleResult::default() };
        summary.verdict.rules = vec![held];
        let rows = shown(&summary);
        assert_eq!(rows[3], ("all requests", "- -".into(), String::new()));
        assert_eq!(rows[4], ("users", "10 5".into(), "50.0 % held".into()));
        summary.workload = Some(Workload::Closed);
        let rows = shown(&summary);
        assert_eq!(rows[0], ("users", "10 14".into(), "140 % held".into()));
        assert_eq!((rows[1].1.as_str(), asked(&summary)), ("- 1,100", None));
    }

    #[test]
    fn fixed_work_is_held_to_the_requests_asked_also_when_cut_short() {
        let plan = PlanSummary { requests: Some(5_000), users: Some(20), ..PlanSummary::default() };
        let mut summary = of(Workload::FixedWork, plan);
        (summary.measured.n, summary.measured.interrupted, summary.measured.to_s) = (2_000, true, 4.0);
        let rows = table(&summary).rows;
        assert_eq!((&*rows[0].asked, &*rows[0].sent, &*rows[0].note), ("5,000", "2,000", "40.0 % issued"));
        assert_eq!((rows[2].name, &*rows[2].note), ("time taken", "until it was cut short"));
    }

    #[test]
    fn what_a_foreign_file_was_asked_for_is_the_rate_expected() {
        let mut summary = Summary { audit: Some(Audit::default()), ..Summary::default() };
        summary.plan = Some(PlanSummary { rate: Some(500.0), ..PlanSummary::default() });
        (summary.rate.n, summary.arrivals.started) = (40_000, 40_000);
        assert_eq!(asked(&summary), None);
        let rule = RuleResult { rule: "sent-share".into(), value: Some(0.8), ..RuleResult::default() };
        summary.verdict.rules = vec![rule];
        assert_eq!(asked(&summary), Some(50_000));
        summary.verdict.rules[0].value = Some(0.0);
        assert_eq!(asked(&summary), None);
        summary.rate.offered = Some(500.0);
        assert_eq!(asked(&summary), Some(40_000));
    }

    #[test]
    fn a_stamp_is_shown_to_the_millisecond() {
        assert_eq!(to_the_millisecond("2026-11-28T13:51:19.159846389Z"), "2026-11-28T13:51:19.159Z");
        assert_eq!(to_the_millisecond("2026-11-28T13:51:19.1+01:00"), "2026-11-28T13:51:19.1+01:00");
        assert_eq!(to_the_millisecond("2026-11-28T13:51:19Z"), "2026-11-28T13:51:19Z");
    }
}
