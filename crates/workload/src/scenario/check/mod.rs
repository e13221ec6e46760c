//! From what is written to what can be played: groups of a plan, compiled journeys, a script. Here is what fits together
//! and what does not.

mod bodies;
mod data;
mod dots;
mod expect;
mod journeys;
mod model;
mod origins;
mod phases;
mod settings;
mod steps;
mod users;

use super::read::Reader;
use super::source::{Problem, Source, Span};
use super::tree::{Kind, Tree};
use super::{Scenario, written};
use crate::content::{Names, Script, Step};
use crate::journey::{Journey, Node, no_think};
use crate::plan::Source::Connecting;
use crate::plan::{Group, LONGEST};
use crate::redact::Redactor;
use headway_base::Nanos;
use journeys::Journeys;
use std::sync::Arc;
pub use steps::names_a_host;
use users::Coming;

/// Whether a character may stand in the name of a run or a group.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 100 && name.chars().all(is_plain)
}

/// The checked scenario; none if something does not fit, which the reader then knows.
pub(super) fn file(
    file: &written::File,
    source: &Arc<Source>,
    redactor: &Redactor,
    reader: &mut Reader<'_>,
) -> Option<Scenario> {
    let name = settings::name(file, source, reader);
    let target = settings::target(file, reader);
    settings::fitting(file, target.as_ref(), reader);
    let settings = settings::settings(file, reader);
    let thresholds = settings::thresholds(file, reader);
    let coming = groups(file, settings.connections, reader);
    if let Some(coming) = &coming {
        settings::one_request_each(file, coming, target.as_ref(), reader);
        settings::directly(file, coming, reader);
    }
    let before = reader.problems.len();
    let data = data::sets(file, reader);
    let mut names = Names::new();
    constants(file, &mut names, reader);
    for set in &data {
        if let Err(e) = names.data(&set.data) {
            reader.problems.push(steps::mistake(set.span, &e.to_string()));
        }
    }
    // What a template may name is not known if a data set is broken.
    if reader.problems.len() > before {
        return None;
    }
    let mut journeys = Journeys::settle(file, &names, target.as_ref(), redactor, reader)?;
    let by_step: Vec<u16> = journeys.steps.iter().map(Step::origin).collect();
    let links = journeys.steps.iter().any(|step| step.link().is_some());
    journeys.origins.of_redirects(file, (settings.redirects > 0, links), reader);
    if let Some(target) = &target {
        settings::connecting(file, target, journeys.origins.others(), reader);
    }
    if let Some(at) = journeys.origins.h2c {
        settings::http2_elsewhere(file, coming.as_deref(), at, reader);
    }
    let models = model::all(file, &journeys.labels, reader);
    let mut coming = coming?;
    let mut logged = Vec::with_capacity(coming.len());
    for (at, coming) in coming.iter_mut().enumerate() {
        logged.push(coming.own_requests(&journeys.steps_of(at), redactor, reader));
    }
    let (measured_from, end) = extent(file, &coming, reader)?;
    let mut groups = Vec::new();
    let written = file.users.iter().flat_map(|users| &users.items);
    for (at, (group, coming)) in written.zip(coming).enumerate() {
        let journey = journeys.of(at).map(|(nodes, span)| match &logged[at] {
            Some(logged) => (std::slice::from_ref(logged), span),
            None => (nodes, span),
        });
        groups.extend(journey.and_then(|journey| self::group(group, coming, (journey, &by_step), reader)));
    }
    if settings.redirects > 0 {
        followed(file, &mut groups, journeys.steps.len(), reader);
    }
    if let (true, Some(step)) =
        (settings.traceparent, journeys.steps.iter().find(|step| step.names_a_trace()))
    {
        let title = format!("step {} has a header traceparent of its own", step.name());
        let problem = Problem::new(file.keys.at("traceparent"), title);
        reader.problems.push(problem.help("leave one of them out"));
    }
    if !reader.problems.is_empty() {
        return None;
    }
    let longest: Vec<u64> = groups.iter().map(|group| group.journey.longest()).collect();
    let data = data.into_iter().map(|set| set.data).collect();
    let Journeys { steps, mut labels, names, origins, .. } = journeys;
    let written = steps.len();
    let mut script = Script::new(steps, data, names, &longest).following(settings.redirects);
    labels.extend(script.steps()[written..].iter().map(|step| step.name().clone()));
    if settings.traceparent {
        script = script.tracing();
    }
    script = script.with_redactor(redactor.clone());
    if let Some(target) = &target {
        script = script.with_target(target);
    }
    script = script.reaching(origins.others());
    if let Some(bytes) = settings.max_body {
        script = script.with_max_body(bytes);
    }
    script = script.with_idle_timeout(settings.idle_timeout);
    Some(Scenario {
        name: name?,
        target,
        origins: origins.others().to_vec(),
        elsewhere: origins.first,
        assumes_https: origins.assumes_https,
        seed: file.seed.as_ref().map(|seed| seed.value),
        settings,
        groups,
        measured_from,
        end,
        script,
        labels,
        thresholds,
        models,
        files: Vec::new(),
        redacted: String::new(),
        redactor: Redactor::default(),
        source: source.clone(),
        tree: Tree { kind: Kind::Null, span: Span::default() },
        secrets: Vec::new(),
    })
}

/// Redirects of these groups are followed; so many steps are written.
fn followed(file: &written::File, groups: &mut [Group], steps: usize, reader: &mut Reader<'_>) {
    let at = file.keys.at("redirects");
    if groups.iter().any(|group| matches!(group.source, Connecting { .. })) {
        let problem = Problem::new(
            at,
            "sockets that are kept connecting send one request each, and follow no redirect",
        );
        return reader.problems.push(problem.help("leave redirects out"));
    }
    let Some(steps) = u16::try_from(steps).ok().filter(|&steps| steps <= u16::MAX / 2) else {
        let problem = Problem::new(at, format!("of {steps} steps no redirects can be followed"));
        return reader.problems.push(problem.help(format!("write {} steps at most", u16::MAX / 2)));
    };
    for group in groups {
        group.journey = Arc::new(Journey::clone(&group.journey).following(steps));
    }
}

fn constants(file: &written::File, names: &mut Names, reader: &mut Reader<'_>) {
    for (name, value) in file.variables.iter().flat_map(|variables| &variables.0) {
        if let Err(e) = names.constant(&name.text, &value.value.text) {
            reader.problems.push(steps::mistake(name.span, &e.to_string()));
        }
    }
}

/// How the groups come, and what they cannot have together.
fn groups(file: &written::File, connections: Option<u32>, reader: &mut Reader<'_>) -> Option<Vec<Coming>> {
    let users = file.users.as_ref()?;
    if users.items.is_empty() {
        return reader.complain(Problem::new(users.span, "a list without groups: no users would come"));
    }
    let read: Vec<Option<Coming>> =
        users.items.iter().map(|group| users::coming(group, users.listed, reader)).collect();
    let coming: Vec<Coming> = read.into_iter().collect::<Option<_>>()?;
    for (i, group) in coming.iter().enumerate() {
        if let Some(first) = coming[..i].iter().position(|other| other.name == group.name) {
            let problem =
                Problem::new(users.items[i].keys.at("name"), format!("a second group '{}'", group.name));
            reader.problems.push(
                problem
                    .other(users.items[first].keys.at("name"), "the first")
                    .help("give each group a name of its own"),
            );
        }
    }
    if let (Some(at), true) =
        (coming.iter().position(|group| matches!(group.source, Connecting { .. })), coming.len() > 1)
    {
        let title = "sockets that are kept connecting are a load of their own";
        let problem = Problem::new(users.items[at].keys.at("connecting"), title);
        reader.problems.push(problem.help("leave the other groups out, or run them apart"));
    }
    let own: u64 = coming.iter().map(|group| group.own_connections).sum();
    if let (Some(cap), Some(group)) = (connections, coming.iter().find(|group| group.own_connections > 0))
        && own > u64::from(cap)
    {
        let sockets = matches!(group.source, Connecting { .. });
        let who = if sockets { "sockets" } else { "users with a connection each" };
        let title = format!("{own} {who}, and no more than {cap} connections");
        let problem = Problem::new(group.at, title).other(file.keys.at("connections"), "the connection cap");
        reader.problems.push(
            problem.help(match sockets {
                true => format!("raise connections (-c) above {own}, for what is accepted comes on top, or ask for fewer"),
                false => format!(
                    "raise connections (-c) to {own}, or let users share them: connections: shared in the group (of a URL: --pool shared)"
                ),
            }),
        );
    }
    Some(coming)
}

/// Where the measured phase begins and when nothing new starts any more.
fn extent(file: &written::File, coming: &[Coming], reader: &mut Reader<'_>) -> Option<(Nanos, Nanos)> {
    let at = file.keys.at("users");
    let warm = coming.iter().map(|group| group.warm).max()?;
    let end = coming.iter().filter_map(|group| group.end).max().unwrap_or(LONGEST);
    if let Some(once) =
        coming.iter().find(|group| group.source.is_fixed_work()).filter(|_| warm > Nanos::ZERO)
    {
        let title = "work that begins at the start would lie in another group's warm-up";
        return reader.complain(Problem::new(once.at, title).help("leave warmup out, or run the two apart"));
    }
    if warm >= end {
        let title =
            format!("nothing would be measured: warm-up lasts until {warm}, and the plan ends at {end}");
        return reader.complain(Problem::new(at, title).help("lengthen the other phases"));
    }
    let measured = coming.iter().any(|group| group.source.comes_after(warm));
    if !measured {
        let problem = Problem::new(at, "no users would come after the warm-up");
        return reader.complain(problem.help("a phase that counts needs a value above 0"));
    }
    Some((warm, end))
}

impl crate::plan::Source {
    /// Whether it is over when its work is done.
    fn is_fixed_work(&self) -> bool {
        use crate::plan::Source::{AtOnce, Users};
        matches!(self, AtOnce { .. } | Users { requests: Some(_), .. })
    }

    fn is_closed(&self) -> bool {
        matches!(self, crate::plan::Source::Users { .. } | crate::plan::Source::Connecting { .. })
    }

    /// Whether somebody comes or is there after that instant.
    fn comes_after(&self, at: Nanos) -> bool {
        match self {
            crate::plan::Source::Arrivals { profile, .. } => profile.total() > profile.cumulative(at),
            crate::plan::Source::Trace(trace) => trace.end > at,
            crate::plan::Source::AtOnce { .. } => true,
            crate::plan::Source::Users { level, .. } | crate::plan::Source::Connecting { level } => {
                let mut begins = Nanos::ZERO;
                level.phases().iter().any(|phase| {
                    begins += phase.length;
                    begins > at && (phase.from_users > 0.0 || phase.to_users > 0.0)
                })
            }
        }
    }
}

/// A group with its journey: the nodes of that, and where it stands.
fn group(
    written: &written::Group,
    coming: Coming,
    ((nodes, at), by_step): ((&[Node], Span), &[u16]),
    reader: &mut Reader<'_>,
) -> Option<Group> {
    let think = written.think.as_ref().map_or_else(no_think, |think| think.value.clone());
    match Journey::new(nodes, think) {
        Ok(journey) if journey.is_single() && written.think.is_some() && !coming.source.is_closed() => {
            let title = "sessions that come by themselves think between requests, and these make only one";
            let help = "leave think out; how long users wait between sessions follows from the rate";
            reader.complain(Problem::new(written.keys.at("think"), title).help(help))
        }
        Ok(journey) if !journey.is_single() && matches!(coming.source, Connecting { .. }) => {
            let title = "a socket that connects sends one request, and this journey has several";
            reader.complain(Problem::new(at, title).help("write a journey of one step"))
        }
        Ok(_) if matches!(coming.source, Connecting { .. }) && by_step.iter().any(|&origin| origin > 0) => {
            let title = "sockets that are kept connecting go to the target alone";
            reader
                .complain(Problem::new(at, title).help("write the path of the step alone, as in get: /items"))
        }
        Ok(journey) => Some(Group {
            name: reader.gate.clear(&coming.name),
            source: coming.source,
            journey: Arc::new(journey.reaching(by_step)),
            connections: coming.connections,
            on_failure: coming.on_failure,
            pace: coming.pace,
        }),
        Err(e) => reader.complain(Problem::new(at, e.to_string())),
    }
}
