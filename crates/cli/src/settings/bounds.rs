//! The bounds of a run: connections, patience, how long sessions may go on. From the scenario, or else defaults; what a
//! scenario alone can get wrong is known by then.

use super::Load;
use anyhow::{Result, bail};
use headway_base::Nanos;
use headway_workload::Limits;
use headway_workload::plan::{Connections, Source};
use headway_workload::scenario::Scenario;

/// A default cap below this is worth a word: it is likely to hold the load back.
const FEW_CONNECTIONS: u32 = 100;
/// More connections than any machine could open.
const MOST_CONNECTIONS: u32 = 10_000_000;
pub use headway_engine::spec::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_CONNECTING_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_STREAM_TIMEOUT,
    DEFAULT_TIMEOUT,
};

/// The bounds with that many connections.
fn limits(scenario: &Scenario, connections: u32, connect_timeout: Nanos) -> Limits {
    let said = &scenario.settings;
    let streams = scenario.script.streamed().iter().any(|step| step.events);
    let timeout = said.timeout.unwrap_or(if streams { DEFAULT_STREAM_TIMEOUT } else { DEFAULT_TIMEOUT });
    Limits {
        connections,
        max_wait: said.max_wait.unwrap_or(timeout),
        timeout,
        connect_timeout,
        drain: said.drain.unwrap_or(timeout),
    }
}

/// The bounds of a simulated run, whose generator has no limit of descriptors.
pub fn simulated(scenario: &Scenario) -> Limits {
    let said = &scenario.settings;
    let connect_timeout = said.connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT);
    limits(scenario, said.connections.unwrap_or(MOST_CONNECTIONS), connect_timeout)
}

/// The bounds of a live run of that load, whatever this machine has; what is assumed for them is noted in it.
///
/// # Errors
/// Bounds within which the load cannot be sent.
pub fn live(scenario: &Scenario, load: &mut Load) -> Result<Limits> {
    let said = &scenario.settings;
    let own = users_with_connections(load);
    let room = headway_live::host::descriptors().connections();
    let connections = said.connections.unwrap_or_else(|| {
        // A cap holds requests back until a connection is free, and where each opens its own none is waited for.
        let default = match load.plan.groups.iter().any(|group| group.connections == Connections::PerRequest)
        {
            true => u32::try_from(room).unwrap_or(u32::MAX),
            false => headway_live::host::default_connections(),
        };
        let limit = headway_live::host::descriptors().soft;
        if default < FEW_CONNECTIONS {
            load.assumed.push(format!("-c {default} (this process may open {limit} files: raise ulimit -n)"));
        }
        default.max(u32::try_from(own).unwrap_or(u32::MAX).min(MOST_CONNECTIONS))
    });
    if load.plan.is_connecting() && own >= u64::from(connections) {
        let most = said.connections.map_or(room, u64::from);
        let why = if said.connections.is_some() { "-c" } else { "ulimit -n" };
        bail!(
            "--connecting {own} (`sockets:`): that many sockets that are kept connecting, and a connection for each that is accepted, are more \
             than the {most} that may be open ({why}): ask for fewer than {most}, or raise that"
        );
    }
    if load.plan.is_connecting() && said.max_wait.is_some() {
        bail!(
            "--max-wait (`max-wait:`): sockets that are kept connecting never wait for a free connection: leave it out; --connect-timeout \
             says when an attempt is given up"
        );
    }
    let to = to_each(load);
    if own > u64::from(connections) {
        bail!(
            "users with a connection each{to} (per-user) need {own} connections, and -c allows {connections}: write -c {own}, let them \
             share (`connections: shared` in the group; of a URL --pool shared), or ask for fewer"
        );
    }
    if load.plan.shard.split(connections) == 0 {
        bail!(
            "-c {connections} leaves no connection for shard {}: write at least the number of shards",
            load.plan.shard
        );
    }
    let connect_timeout = said.connect_timeout.unwrap_or_else(|| match load.plan.is_connecting() {
        true => {
            load.assumed.push(format!("--connect-timeout {DEFAULT_CONNECTING_TIMEOUT}"));
            DEFAULT_CONNECTING_TIMEOUT
        }
        false => DEFAULT_CONNECT_TIMEOUT,
    });
    Ok(limits(scenario, connections, connect_timeout))
}

/// Whether this process may open the connections of its part of the load.
///
/// # Errors
/// It may not; what to do about it.
pub fn fit_here(limits: &Limits, load: &Load) -> Result<()> {
    let room = headway_live::host::descriptors().connections();
    let part = load.plan.shard.split(limits.connections);
    if u64::from(part) <= room {
        return Ok(());
    }
    let of = match load.plan.shard {
        headway_workload::Shard::WHOLE => String::new(),
        shard => format!(" in shard {shard}"),
    };
    let to = to_each(load);
    match load.plan.shard.split_u64(users_with_connections(load)) {
        own if own > room => bail!(
            "users with a connection each{to} (per-user){of} need {own} connections, and this process may open {room} (raise ulimit \
             -n; `headway doctor` says how): let them share (`connections: shared` in the group; of a URL --pool shared), ask for fewer, or send shards"
        ),
        _ => bail!(
            "-c {part}{of} needs more descriptors than the {room} this process may still open: lower -c, or raise ulimit -n \
             (`headway doctor` says how)"
        ),
    }
}

/// What those connections lead to, where that is not the target alone.
fn to_each(load: &Load) -> &'static str {
    if load.plan.origins() > 1 { " to each origin of their journey" } else { "" }
}

/// Connections of users of closed groups that have one each to every origin of their journey, and keep it, and sockets that are kept connecting: they must all find one.
fn users_with_connections(load: &Load) -> u64 {
    let of = |group: &headway_workload::plan::Group| match &group.source {
        Source::Users { level, .. } if group.connections == Connections::PerUser => {
            u64::from(level.most()) * group.journey.reached() as u64
        }
        Source::Connecting { level } => u64::from(level.most()),
        _ => 0,
    };
    load.plan.groups.iter().map(of).sum()
}
