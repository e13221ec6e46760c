//! Groups of users: how they come, their phases, and which mixes make no sense.

use super::phases::{self, Phases};
use crate::arrivals::{Arriving, Logged, NoTrace, Process, Trace, TraceOf};
use crate::journey::Node;
use crate::plan::{Connections, LONGEST, OnFailure, Source};
use crate::redact::Redactor;
use crate::scenario::MOST_USERS;
use crate::scenario::leaves::Count;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written::{self, ConnectionsWord, FailureWord};
use crate::users::Level;
use headway_base::dist::{Dist, Law as _};
use headway_base::{Nanos, Phase, Profile, Rate};
use std::collections::HashMap;
use std::sync::Arc;

/// A group whose coming is settled; what it does is not.
pub(super) struct Coming {
    pub name: String,
    pub source: Source,
    pub connections: Connections,
    pub on_failure: OnFailure,
    pub pace: Option<Dist>,
    /// When its warm-up is over.
    pub warm: Nanos,
    /// When its last phase ends; none for work that ends by itself.
    pub end: Option<Nanos>,
    /// Most users at once who have connections of their own.
    pub own_connections: u64,
    /// The log whose own requests they send, where they do, and where it says so.
    pub own: Option<(TraceOf, Arc<Logged>, Span)>,
    /// Where it says how many come, or else how they do; of those with a connection for each request, where it says that.
    pub at: Span,
}

/// How a group comes: source, warm-up, end, and users at most.
struct Way {
    source: Source,
    warm: Nanos,
    end: Option<Nanos>,
    users: u64,
    own: Option<(TraceOf, Arc<Logged>, Span)>,
}

/// More arrivals than anybody means: a month at a million a second is 2.6e12.
const MOST_ARRIVALS: f64 = 1e12;

const KINDS: &[&str] = &["arrive", "closed", "connecting", "at-once", "work"];

pub(super) fn coming(group: &written::Group, listed: bool, reader: &mut Reader<'_>) -> Option<Coming> {
    let before = reader.problems.len();
    let kind = match group.keys.one_of("a group of users", KINDS) {
        Ok(kind) => kind,
        Err(problem) => {
            let help = "say how they come, for example arrive: { rate: 20/s }, or closed: { count: 200 }";
            let problem = if problem.others.is_empty() { problem.help(help) } else { problem };
            return reader.complain(problem);
        }
    };
    if let (None, true) = (&group.name, listed) {
        let problem = Problem::new(group.keys.span, "each group of a list needs a name");
        reader.problems.push(problem.help("write for example name: buyers"));
    }
    let name = group.name.as_ref().map_or("users", |name| &name.value.text);
    if !super::is_plain_name(name) {
        let problem = Problem::new(group.keys.at("name"), format!("'{name}' is no name of a group"));
        reader.problems.push(problem.help("write letters, digits, dot, underscore and hyphen"));
    }
    if let (Some(pace), false) = (&group.pace, kind == "closed") {
        let title = format!("pace is for closed groups, and this one says {kind}");
        reader.problems.push(
            Problem::new(pace.span, title)
                .other(group.keys.at(kind), "here")
                .help("leave it out, or write closed: { count: ... }"),
        );
    }
    if let (Some(_), "at-once" | "work") = (&group.phases, kind) {
        let title = format!("{kind} is done when its work is done: it has no phases");
        reader.problems.push(
            Problem::new(group.keys.at("phases"), title)
                .other(group.keys.at(kind), "here")
                .help("leave phases out"),
        );
    }
    let way = match kind {
        "arrive" => arriving(group, reader)?,
        "closed" => closed(group, reader)?,
        "connecting" => connecting(group, reader)?,
        "at-once" => at_once(group, reader)?,
        _ => work(group, reader)?,
    };
    let default = match kind {
        "arrive" => Connections::Shared,
        "connecting" => Connections::PerRequest,
        _ => Connections::PerUser,
    };
    let connections = group.connections_or(default);
    let on_failure = match group.on_failure {
        Some(FailureWord::EndSession) => OnFailure::EndSession,
        _ => OnFailure::Continue,
    };
    (reader.problems.len() == before).then(|| Coming {
        name: name.to_owned(),
        source: way.source,
        connections,
        on_failure,
        pace: group.pace.as_ref().map(|pace| pace.value.clone()),
        own: way.own,
        warm: way.warm,
        end: way.end,
        own_connections: match (connections, kind) {
            (Connections::PerUser, _) | (_, "connecting") => way.users,
            _ => 0,
        },
        at: match (group.number(), connections) {
            (_, Connections::PerRequest) if group.connections.is_some() => group.keys.at("connections"),
            (Some(number), _) => number,
            (None, _) => group.keys.at(kind),
        },
    })
}

impl written::Group {
    /// Where it says how many there are, if they are counted.
    fn number(&self) -> Option<Span> {
        let sockets = self.connecting.as_ref().and_then(|connecting| connecting.sockets.as_ref());
        let users = self.closed.as_ref().and_then(|closed| closed.count.as_ref());
        sockets.or(users).map(|number| number.span)
    }

    fn connections_or(&self, default: Connections) -> Connections {
        match self.connections {
            Some(ConnectionsWord::Shared) => Connections::Shared,
            Some(ConnectionsWord::PerUser) => Connections::PerUser,
            Some(ConnectionsWord::PerRequest) => Connections::PerRequest,
            None => default,
        }
    }
}

fn arriving(group: &written::Group, reader: &mut Reader<'_>) -> Option<Way> {
    let arrive = group.arrive.as_ref()?;
    let process = match arrive.process.as_ref().map(|process| (&process.value, process.span)) {
        None => Process::Poisson,
        Some((Arriving::Process(process), _)) => *process,
        Some((Arriving::Trace(of), at)) => return logged(group, of, at, reader),
    };
    let base = arrive.rate.as_ref().map(|rate| (rate.value.0, rate.span));
    let phases = phases::settle(group, base, phases::Unit::Rate, reader)?;
    let profile: Vec<Phase> =
        phases.pieces.iter().map(|p| Phase::ramp(p.length, Rate(p.from), Rate(p.to))).collect();
    let profile = Profile::new(&profile);
    if profile.total() > MOST_ARRIVALS {
        let at = base.map_or(group.keys.at("arrive"), |(_, span)| span);
        let problem = Problem::new(at, "more than 1e12 sessions would arrive");
        return reader.complain(problem.help("lower the rate or shorten the phases (-R, -d)"));
    }
    let source = Source::Arrivals { process, profile: Arc::new(profile) };
    let Phases { warm, end, .. } = phases;
    Some(Way { source, warm, end: Some(end), users: 0, own: None })
}

/// Sessions that arrive as a log tells, which has a rate and a length of its own.
fn logged(group: &written::Group, of: &TraceOf, at: Span, reader: &mut Reader<'_>) -> Option<Way> {
    let before = reader.problems.len();
    let rate = group.arrive.as_ref().and_then(|arrive| arrive.rate.as_ref()).map(|rate| rate.span);
    let phases = group.phases.as_ref().map(|_| group.keys.at("phases"));
    for (what, place) in [("rate", rate), ("phases", phases)] {
        if let Some(place) = place {
            let title = format!("a log says when each arrives: a trace has no {what} of its own");
            let problem = Problem::new(place, title).other(at, "the trace");
            reader
                .problems
                .push(problem.help("leave one of them out; speed=2 plays the log at twice its rate"));
        }
    }
    if reader.problems.len() > before {
        return None;
    }
    let logged = reader.log(&of.file);
    let trace = logged.and_then(|logged| Ok((named(Trace::new(of, &logged), of)?, logged)));
    match trace {
        Ok((trace, logged)) => {
            let end = trace.end;
            let own = of.own.then(|| (of.clone(), logged, at));
            Some(Way {
                source: Source::Trace(Arc::new(trace)),
                warm: of.warmup,
                end: Some(end),
                users: 0,
                own,
            })
        }
        Err(why) => reader.complain(no_arrivals(at, &why)),
    }
}

/// With the name of the log.
fn named<T>(trace: Result<T, NoTrace>, of: &TraceOf) -> Result<T, String> {
    trace.map_err(|why| format!("{}: {why}", of.file))
}

fn no_arrivals(at: Span, why: &str) -> Problem {
    Problem::new(at, format!("this log gives no arrivals: {why}"))
        .help("name a file that `headway audit` reads: a results file, an access log, the folder of a run")
}

impl Coming {
    /// Makes the arrivals of a log requests of its own: of those of these steps that have the name of its label. Gives what the journey
    /// then is; none where it stays as it is written.
    pub fn own_requests(
        &mut self,
        steps: &[(&str, u16)],
        redactor: &Redactor,
        reader: &mut Reader<'_>,
    ) -> Option<Node> {
        let (of, logged, at) = self.own.take()?;
        // Of several steps of one name the first.
        let by_name: HashMap<&str, u16> = steps.iter().rev().copied().collect();
        // Names of steps have their secrets replaced by one of these.
        let step = |label: &str| by_name.get(label).or_else(|| by_name.get(&*redactor.hide(label))).copied();
        let own = logged.of_steps(step);
        if own.instants.is_empty() {
            let some = |names: Vec<&str>| {
                names.into_iter().take(3).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
            };
            let labels = some(logged.labels.iter().map(String::as_str).collect());
            let names = some(steps.iter().map(|(name, _)| *name).collect());
            let title = format!("no step has the name of a label of this log, such as {labels}");
            let help = format!("the steps are {names}; name them as the log does, or leave requests=own out");
            return reader.complain(Problem::new(at, title).help(help));
        }
        match named(Trace::with_steps(&of, &own), &of) {
            Ok((trace, steps)) => {
                self.end = Some(trace.end);
                self.source = Source::Trace(Arc::new(trace));
                Some(Node::Logged(steps))
            }
            Err(why) => reader.complain(no_arrivals(at, &why)),
        }
    }
}

fn closed(group: &written::Group, reader: &mut Reader<'_>) -> Option<Way> {
    let closed = group.closed.as_ref()?;
    let base = match &closed.count {
        Some(count) => Some((users(count, reader)? as f64, count.span)),
        None => None,
    };
    let phases = phases::settle(group, base, phases::Unit::Users, reader)?;
    let level = Level::new(&phases.pieces.iter().map(phases::Piece::users).collect::<Vec<_>>());
    let most = u64::from(level.most());
    let source = Source::Users { level: Arc::new(level), requests: None };
    Some(Way { source, warm: phases.warm, end: Some(phases.end), users: most, own: None })
}

fn connecting(group: &written::Group, reader: &mut Reader<'_>) -> Option<Way> {
    let connecting = group.connecting.as_ref()?;
    for (key, given) in [("think", group.think.is_some()), ("on-failure", group.on_failure.is_some())] {
        if given {
            let title =
                format!("{key} is for sessions of several requests, and a socket that connects sends one");
            let problem = Problem::new(group.keys.at(key), title);
            reader.problems.push(problem.other(group.keys.at("connecting"), "here").help("leave it out"));
        }
    }
    if !matches!(group.connections, None | Some(ConnectionsWord::PerRequest)) {
        let title = "sockets that are kept connecting are for one request each";
        let problem = Problem::new(group.keys.at("connections"), title);
        reader.problems.push(
            problem.other(group.keys.at("connecting"), "here").help("leave it out, or write per-request"),
        );
    }
    let base = match &connecting.sockets {
        Some(count) => Some((users(count, reader)? as f64, count.span)),
        None => None,
    };
    let phases = phases::settle(group, base, phases::Unit::Sockets, reader)?;
    let level = Level::new(&phases.pieces.iter().map(phases::Piece::users).collect::<Vec<_>>());
    let most = u64::from(level.most());
    let source = Source::Connecting { level: Arc::new(level) };
    Some(Way { source, warm: phases.warm, end: Some(phases.end), users: most, own: None })
}

fn at_once(group: &written::Group, reader: &mut Reader<'_>) -> Option<Way> {
    let sessions = users(group.at_once.as_ref()?, reader)?;
    // They come one after the other where connections are fewer.
    Some(Way { source: Source::AtOnce { sessions }, warm: Nanos::ZERO, end: None, users: 0, own: None })
}

fn work(group: &written::Group, reader: &mut Reader<'_>) -> Option<Way> {
    let work = group.work.as_ref()?;
    let (requests, count) = (work.requests.as_ref()?, work.users.as_ref()?);
    if requests.value == 0 {
        return reader.complain(
            Problem::new(requests.span, "no requests are no work").help("write a number from 1 up"),
        );
    }
    let users = users(count, reader)?;
    let end = match &work.within {
        Some(within) if within.value <= Nanos::ZERO => {
            let problem = Problem::new(within.span, "no time for any work");
            return reader.complain(problem.help("write a time above zero, or leave it out"));
        }
        within => within.as_ref().map(|within| within.value),
    };
    let level = Level::hold(users as u32, end.unwrap_or(LONGEST));
    let source = Source::Users { level: Arc::new(level), requests: Some(requests.value) };
    Some(Way { source, warm: Nanos::ZERO, end, users, own: None })
}

/// A number of users or sessions, of which there must be some.
fn users(count: &Count, reader: &mut Reader<'_>) -> Option<u64> {
    match count.value {
        0 => {
            reader.complain(Problem::new(count.span, "no users would come").help("write a number from 1 up"))
        }
        n if n > MOST_USERS => reader.complain(
            Problem::new(count.span, format!("{n} are more than this program can keep apart"))
                .help(format!("write at most {MOST_USERS}")),
        ),
        n => Some(n),
    }
}

/// Whether a law of times that follow each other makes progress at all.
pub(super) fn takes_time(law: &Dist) -> bool {
    law.mean() > 0.0
}
