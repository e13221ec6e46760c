//! The bounds of a run: connections, patience, how long sessions may go on. From flags, a scenario, or defaults, in that
//! order.

use super::Load;
use crate::args::RunArgs;
use anyhow::{Result, anyhow, bail};
use headway_base::Nanos;
use headway_workload::Limits;
use headway_workload::plan::{Connections, Source};

/// A default cap below this is worth a word: it is likely to hold the load back.
const FEW_CONNECTIONS: u32 = 100;
/// More connections than any machine could open.
const MOST_CONNECTIONS: u32 = 10_000_000;
pub use headway_engine::spec::{DEFAULT_CONNECT_TIMEOUT, DEFAULT_MAX_BODY, DEFAULT_TIMEOUT};

/// Bounds as far as somebody has said something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// `-c`.
    pub connections: Option<u64>,
    /// `--timeout`.
    pub timeout: Option<Nanos>,
    /// `--connect-timeout`.
    pub connect_timeout: Option<Nanos>,
    /// `--max-wait`.
    pub max_wait: Option<Nanos>,
    /// `--drain`.
    pub drain: Option<Nanos>,
}

impl Bounds {
    /// What the flags say.
    pub fn of_flags(args: &RunArgs) -> Bounds {
        Bounds {
            connections: args.connections,
            timeout: args.timeout,
            connect_timeout: args.connect_timeout,
            max_wait: args.max_wait,
            drain: args.drain,
        }
    }

    /// These, or else those.
    pub fn or(self, others: Bounds) -> Bounds {
        Bounds {
            connections: self.connections.or(others.connections),
            timeout: self.timeout.or(others.timeout),
            connect_timeout: self.connect_timeout.or(others.connect_timeout),
            max_wait: self.max_wait.or(others.max_wait),
            drain: self.drain.or(others.drain),
        }
    }

    /// The bounds of a simulated run of that load, whose generator has descriptors without end.
    ///
    /// # Errors
    /// Users with a connection each are more than the connections that the scenario allows.
    pub fn simulated(self, load: &Load) -> Result<Limits> {
        let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let connections = self.connections.unwrap_or(u64::from(MOST_CONNECTIONS));
        let own = users_with_connections(load);
        if own > connections {
            bail!(
                "{own} users with a connection each (per-user) need {own} connections, and {connections} are allowed"
            );
        }
        Ok(Limits {
            connections: connections.clamp(1, u64::from(MOST_CONNECTIONS)) as u32,
            max_wait: self.max_wait.unwrap_or(timeout),
            timeout,
            connect_timeout: self.connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT),
            drain: self.drain.unwrap_or(timeout),
        })
    }

    /// The bounds of that load; what is assumed for them is noted in it.
    ///
    /// # Errors
    /// Bounds within which the load cannot be sent.
    pub fn resolve(self, load: &mut Load) -> Result<Limits> {
        let room = headway_live::host::descriptor_limit().saturating_sub(50);
        let own = users_with_connections(load);
        let connections = match self.connections {
            Some(0) => bail!("-c 0 lets nothing through: write a number from 1 up"),
            Some(c) => u32::try_from(c).ok().filter(|&c| c <= MOST_CONNECTIONS).ok_or_else(|| {
                anyhow!("-c {c} is more than this machine could ever open: write at most 10m")
            })?,
            None => {
                let default = headway_live::host::default_connections();
                let limit = headway_live::host::descriptor_limit();
                if default < FEW_CONNECTIONS {
                    load.assumed
                        .push(format!("-c {default} (this process may open {limit} files: raise ulimit -n)"));
                }
                default.max(u32::try_from(own).unwrap_or(u32::MAX).min(room as u32))
            }
        };
        if own > u64::from(connections) {
            bail!(
                "{own} users with a connection each (per-user) need {own} connections, and {}: let them share (--pool shared, or \
                 `connections: shared`), or ask for fewer",
                match self.connections {
                    Some(c) => format!("-c allows {c}"),
                    None => format!("this process may open {room} (raise ulimit -n)"),
                }
            );
        }
        if self.connections.is_some() && u64::from(connections) > room {
            bail!(
                "-c {connections} needs more descriptors than the {room} this process may still open: lower -c, or raise ulimit -n"
            );
        }
        if load.plan.shard.split(connections) == 0 {
            bail!(
                "-c {connections} leaves no connection for shard {}: write at least the number of shards",
                load.plan.shard
            );
        }
        let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let connect_timeout = self.connect_timeout.unwrap_or(DEFAULT_CONNECT_TIMEOUT);
        for (flag, time) in [("--timeout", timeout), ("--connect-timeout", connect_timeout)] {
            if time <= Nanos::ZERO {
                bail!("{flag} 0s gives nobody time to answer: write a time above zero");
            }
        }
        Ok(Limits {
            connections,
            max_wait: self.max_wait.unwrap_or(timeout),
            timeout,
            connect_timeout,
            drain: self.drain.unwrap_or(timeout),
        })
    }
}

/// Users of closed groups who have a connection each and keep it: they must all find one.
fn users_with_connections(load: &Load) -> u64 {
    let of = |group: &headway_workload::plan::Group| match &group.source {
        Source::Users { level, .. } if group.connections == Connections::PerUser => u64::from(level.most()),
        _ => 0,
    };
    load.plan.groups.iter().map(of).sum()
}
