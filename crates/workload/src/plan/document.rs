//! A plan as it is written down in the run folder: enough to print every intended instant again, and to judge the records.

use super::{Connections, Group, OnFailure, Plan, Source};
use crate::arrivals::{Arriving, Process, Trace};
use crate::journey::{Journey, Node, no_think};
use crate::redact::{Cleared, clear};
use crate::shard::Shard;
use crate::users::{Level, UserPhase};
use headway_base::dist::{self, Dist};
use headway_base::{Fnv1a, Nanos, Phase, Profile, Rate};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the hash, the samplers and the order of draws make of a seed, and the shape of [`Document`]. Changes whenever any
/// of them does.
pub const VERSION: u32 = 2;

/// A plan as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// [`VERSION`] of the program that made it.
    pub version: u32,
    /// The seed.
    pub seed: u64,
    /// The groups of users.
    pub groups: Vec<GroupDocument>,
    /// Where the measured phase begins, nanoseconds.
    pub measured_from_ns: i64,
    /// When nothing new starts any more, nanoseconds.
    pub end_ns: i64,
    /// Which part of it was sent: i/N.
    pub shard: String,
}

/// A group as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupDocument {
    /// Its name.
    pub name: Cleared,
    /// How they come.
    pub source: SourceDocument,
    /// What they do.
    pub journey: Vec<NodeDocument>,
    /// Think time between requests unless a step has its own, as a distribution.
    pub think: String,
    /// Whether each user has its own connection.
    pub own_connections: bool,
    /// Whether each request opens its own connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_connections: bool,
    /// Whether a failed request ends its session.
    pub failure_ends_session: bool,
    /// Where redirects are followed: the number of the first step whose requests they lead to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_from: Option<u16>,
    /// By step, as far as any goes elsewhere than to the target: the number of the origin that it goes to, 0 being the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<u16>,
    /// Least time from one journey to the next, as a distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<String>,
}

/// How users come, as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceDocument {
    /// Sessions arrive.
    Arrivals {
        /// The arrival process, as on the command line.
        process: String,
        /// The rate over time, sessions per second.
        phases: Vec<PhaseDocument>,
    },
    /// Sessions arrive as a log tells; when, is in a file of its own.
    Trace {
        /// The log, as on the command line.
        log: Cleared,
        /// How many arrive.
        arrivals: u64,
        /// When the last one is due, nanoseconds.
        end_ns: i64,
        /// CoV of the gaps.
        gap_cov: f64,
        /// FNV-1a of the instants in nanoseconds, 16 hexadecimal digits.
        fingerprint: String,
        /// Step of the log's stamps, nanoseconds.
        resolution_ns: i64,
        /// Whether arrivals were spread over that.
        spread: bool,
        /// Rows of the log that could not be read.
        unreadable: u64,
        /// Rows of the log left out on purpose.
        left_out: u64,
        /// Arrivals of the log left out since no step has the name of their label.
        #[serde(default)]
        no_step: u64,
    },
    /// So many sessions at zero.
    AtOnce(u64),
    /// A number of users.
    Users {
        /// The number over time.
        phases: Vec<PhaseDocument>,
        /// Requests in all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u64>,
    },
    /// A number of sockets that are kept connecting.
    Connecting {
        /// The number over time.
        phases: Vec<PhaseDocument>,
    },
}

/// A phase as it is written down: rates per second, or numbers of users.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PhaseDocument {
    /// Its length, nanoseconds.
    pub length_ns: i64,
    /// Value at its beginning.
    pub from: f64,
    /// Value at its end.
    pub to: f64,
}

/// A part of a journey as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeDocument {
    /// Requests of one step.
    Ask {
        /// Number of the step.
        step: u16,
        /// How often.
        repeat: u32,
        /// Think time before each, if it is its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        think: Option<String>,
    },
    /// All of these so often.
    Repeat(u32, Vec<NodeDocument>),
    /// One of these, by weight.
    Choose(Vec<(f64, Vec<NodeDocument>)>),
    /// An additional think time.
    Pause(String),
    /// One request, of the step that a log names for the session. Told from others by FNV-1a of the steps' numbers, 16 hexadecimal digits.
    Logged(String),
}

impl NodeDocument {
    fn of(node: &Node) -> NodeDocument {
        let all = |nodes: &[Node]| -> Vec<NodeDocument> { nodes.iter().map(NodeDocument::of).collect() };
        match node {
            Node::Ask { step, repeat, think } => {
                NodeDocument::Ask { step: *step, repeat: *repeat, think: think.as_ref().map(Dist::to_string) }
            }
            Node::Repeat(times, nodes) => NodeDocument::Repeat(*times, all(nodes)),
            Node::Choose(ways) => {
                NodeDocument::Choose(ways.iter().map(|(weight, nodes)| (*weight, all(nodes))).collect())
            }
            Node::Pause(think) => NodeDocument::Pause(think.to_string()),
            Node::Logged(steps) => NodeDocument::Logged(format!("{:016x}", fingerprint(steps))),
        }
    }

    fn node(&self) -> Result<Node, String> {
        let all = |nodes: &[NodeDocument]| -> Result<Vec<Node>, String> {
            nodes.iter().map(NodeDocument::node).collect()
        };
        Ok(match self {
            NodeDocument::Ask { step, repeat, think } => {
                Node::Ask { step: *step, repeat: *repeat, think: think.as_deref().map(law).transpose()? }
            }
            NodeDocument::Repeat(times, nodes) => Node::Repeat(*times, all(nodes)?),
            NodeDocument::Choose(ways) => {
                let way =
                    |(weight, nodes): &(f64, Vec<NodeDocument>)| Ok::<_, String>((*weight, all(nodes)?));
                Node::Choose(ways.iter().map(way).collect::<Result<_, _>>()?)
            }
            NodeDocument::Pause(think) => Node::Pause(law(think)?),
            // Nothing that is read back is played.
            NodeDocument::Logged(_) => Node::Logged(Arc::new([])),
        })
    }
}

fn fingerprint(steps: &[u16]) -> u64 {
    steps.iter().fold(Fnv1a::new(), |sum, step| sum.with(&step.to_le_bytes())).value()
}

/// A law as it is written down. The values of an `empirical` are in its own file, not here; nothing that is read back
/// draws think times, so that none stands for it.
fn law(text: &str) -> Result<Dist, String> {
    if text.starts_with("empirical(") {
        return Ok(no_think());
    }
    dist::parse(text, &|_| Err("no files here".to_owned())).map_err(|e| e.to_string())
}

impl Plan {
    /// The plan as it is written down.
    pub fn document(&self) -> Document {
        Document {
            version: VERSION,
            seed: self.seed,
            groups: self.groups.iter().map(GroupDocument::of).collect(),
            measured_from_ns: self.measured_from.0,
            end_ns: self.end.0,
            shard: self.shard.to_string(),
        }
    }
}

/// Numbers of users over time.
fn levels(level: &Level) -> Vec<PhaseDocument> {
    let phase = |p: &UserPhase| PhaseDocument { length_ns: p.length.0, from: p.from_users, to: p.to_users };
    level.phases().iter().map(phase).collect()
}

/// The same read back.
fn level(phases: &[PhaseDocument]) -> Level {
    let phase =
        |p: &PhaseDocument| UserPhase { length: Nanos(p.length_ns), from_users: p.from, to_users: p.to };
    Level::new(&phases.iter().map(phase).collect::<Vec<_>>())
}

impl SourceDocument {
    /// The log's arrivals without their instants.
    fn trace(&self) -> Result<Trace, String> {
        let SourceDocument::Trace {
            log,
            arrivals,
            end_ns,
            gap_cov,
            fingerprint,
            resolution_ns,
            spread,
            unreadable,
            left_out,
            no_step,
        } = self
        else {
            return Err("no arrivals of a log".to_owned());
        };
        let Arriving::Trace(of) = Arriving::parse(log).map_err(|e| e.to_string())? else {
            return Err(format!("{log} is no log of arrivals"));
        };
        if *end_ns <= 0 {
            return Err("the arrivals of a log end before they begin".to_owned());
        }
        let fingerprint = u64::from_str_radix(fingerprint, 16)
            .map_err(|_| format!("{fingerprint} is no number of 16 hexadecimal digits"))?;
        Ok(Trace {
            of,
            arrivals: *arrivals,
            end: Nanos(*end_ns),
            gap_cov: *gap_cov,
            fingerprint,
            resolution: Nanos(*resolution_ns),
            spread: *spread,
            unreadable: *unreadable,
            left_out: *left_out,
            no_step: *no_step,
            instants: Arc::new([]),
        })
    }
}

impl GroupDocument {
    fn of(group: &Group) -> GroupDocument {
        let source = match &group.source {
            Source::Arrivals { process, profile } => SourceDocument::Arrivals {
                process: process.to_string(),
                phases: profile
                    .phases()
                    .map(|p| PhaseDocument { length_ns: p.length.0, from: p.from.0, to: p.to.0 })
                    .collect(),
            },
            Source::Trace(trace) => SourceDocument::Trace {
                log: clear(&trace.of.to_string()),
                arrivals: trace.arrivals,
                end_ns: trace.end.0,
                gap_cov: trace.gap_cov,
                fingerprint: format!("{:016x}", trace.fingerprint),
                resolution_ns: trace.resolution.0,
                spread: trace.spread,
                unreadable: trace.unreadable,
                left_out: trace.left_out,
                no_step: trace.no_step,
            },
            Source::AtOnce { sessions } => SourceDocument::AtOnce(*sessions),
            Source::Users { level, requests } => {
                SourceDocument::Users { phases: levels(level), requests: *requests }
            }
            Source::Connecting { level } => SourceDocument::Connecting { phases: levels(level) },
        };
        GroupDocument {
            name: group.name.clone(),
            source,
            journey: group.journey.nodes().iter().map(NodeDocument::of).collect(),
            think: group.journey.think().to_string(),
            own_connections: group.connections == Connections::PerUser,
            new_connections: group.connections == Connections::PerRequest,
            failure_ends_session: group.on_failure == OnFailure::EndSession,
            redirected_from: group.journey.redirected_from(),
            origins: group.journey.origins().to_vec(),
            pace: group.pace.as_ref().map(Dist::to_string),
        }
    }

    fn group(&self) -> Result<Group, String> {
        let sane = |p: &&PhaseDocument| {
            let value = |x: f64| x.is_finite() && x >= 0.0;
            p.length_ns < 0 || !value(p.from) || !value(p.to)
        };
        let phases = match &self.source {
            SourceDocument::Arrivals { phases, .. }
            | SourceDocument::Users { phases, .. }
            | SourceDocument::Connecting { phases } => &phases[..],
            SourceDocument::AtOnce(_) | SourceDocument::Trace { .. } => &[],
        };
        if phases.iter().find(sane).is_some() {
            return Err("a phase has a negative length, rate or number of users".to_owned());
        }
        let source = match &self.source {
            SourceDocument::Arrivals { process, .. } => {
                let phase = |p: &PhaseDocument| Phase::ramp(Nanos(p.length_ns), Rate(p.from), Rate(p.to));
                Source::Arrivals {
                    process: Process::parse(process).map_err(|e| e.to_string())?,
                    profile: Arc::new(Profile::new(&phases.iter().map(phase).collect::<Vec<_>>())),
                }
            }
            SourceDocument::Trace { .. } => Source::Trace(Arc::new(self.source.trace()?)),
            SourceDocument::AtOnce(sessions) => Source::AtOnce { sessions: *sessions },
            SourceDocument::Users { requests, .. } => {
                Source::Users { level: Arc::new(level(phases)), requests: *requests }
            }
            SourceDocument::Connecting { .. } => Source::Connecting { level: Arc::new(level(phases)) },
        };
        let nodes = self.journey.iter().map(NodeDocument::node).collect::<Result<Vec<_>, _>>()?;
        let journey = Journey::new(&nodes, law(&self.think)?).map_err(|e| e.to_string())?;
        let journey = journey.reaching(&self.origins);
        Ok(Group {
            name: self.name.clone(),
            source,
            journey: Arc::new(match self.redirected_from {
                Some(steps) => journey.following(steps),
                None => journey,
            }),
            connections: match (self.own_connections, self.new_connections) {
                (_, true) => Connections::PerRequest,
                (true, false) => Connections::PerUser,
                (false, false) => Connections::Shared,
            },
            on_failure: if self.failure_ends_session { OnFailure::EndSession } else { OnFailure::Continue },
            pace: self.pace.as_deref().map(law).transpose()?,
        })
    }
}

impl Document {
    /// The plan that was written down.
    ///
    /// # Errors
    /// A version this program does not know, or a value out of range, in words.
    pub fn plan(&self) -> Result<Plan, String> {
        if self.version != VERSION {
            return Err(format!(
                "plan version {} is not {VERSION}, the one this program makes",
                self.version
            ));
        }
        if self.groups.is_empty() {
            return Err("a plan without a group of users".to_owned());
        }
        Ok(Plan {
            seed: self.seed,
            groups: self.groups.iter().map(GroupDocument::group).collect::<Result<_, _>>()?,
            measured_from: Nanos(self.measured_from_ns),
            end: Nanos(self.end_ns),
            shard: Shard::parse(&self.shard).map_err(|e| e.to_string())?,
        })
    }
}
