//! The plan: when users arrive, what they do, and which part of it is measured. One plan serves a live run, a simulation and
//! a listing.

mod document;
mod sessions;

pub use document::{Document, GroupDocument, PhaseDocument, SourceDocument, VERSION};
pub use sessions::{Sessions, SessionsOf};

use crate::arrivals::{Arrivals, Process, Trace};
use crate::journey::{self, Journey};
use crate::redact::Cleared;
use crate::shard::Shard;
use crate::users::Level;
use headway_base::dist::Dist;
use headway_base::random::{Stream, streams};
use headway_base::{Nanos, Phase, Profile, Rate};
use std::sync::Arc;

/// When a plan that ends by itself (fixed work) is given up if it does not.
pub const LONGEST: Nanos = Nanos::from_secs(24 * 3600);

/// Who comes when and does what, in groups, of which the part from the end of warm-up on is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Every random draw is a function of this.
    pub seed: u64,
    /// The groups of users; at least one.
    pub groups: Vec<Group>,
    /// Where the measured phase begins: what is due earlier is sent, but not counted.
    pub measured_from: Nanos,
    /// When nothing new starts any more: the end of the last phase, or [`LONGEST`] for work that ends by itself.
    pub end: Nanos,
    /// Which part of the plan this process sends.
    pub shard: Shard,
}

/// Users that come in the same way and do the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name; unique within the plan.
    pub name: Cleared,
    /// How they come.
    pub source: Source,
    /// What they do.
    pub journey: Arc<Journey>,
    /// Whose connections they use.
    pub connections: Connections,
    /// What a failed request means for the rest of its session.
    pub on_failure: OnFailure,
    /// Least time from the beginning of one journey of a user to that of the next (closed groups).
    pub pace: Option<Dist>,
}

/// How users come.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// Sessions arrive, whatever the target does: open if a session is one request, else partly open.
    Arrivals {
        /// The arrival process.
        process: Process,
        /// The rate of sessions over time.
        profile: Arc<Profile>,
    },
    /// Sessions arrive as a log tells, whatever the target does.
    Trace(Arc<Trace>),
    /// So many sessions, all due at zero: fixed work.
    AtOnce {
        /// How many.
        sessions: u64,
    },
    /// A number of users that repeat their journey: closed.
    Users {
        /// How many there are over time.
        level: Arc<Level>,
        /// Requests in all, after which all are done; none: until the level ends. Fixed work if some.
        requests: Option<u64>,
    },
    /// A number of sockets that are kept connecting, however many connections the target accepts: one that is established sends its
    /// request, and another connects in its place at once; one that is not is given up after the connect timeout, and replaced
    /// (S-Client; Banga and Druschel 1997).
    Connecting {
        /// How many there are over time.
        level: Arc<Level>,
    },
}

/// Whose connections a group's requests go over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Connections {
    /// Everybody's: the most recently used idle one first.
    #[default]
    Shared,
    /// Each user (closed) or session (arriving) has its own, kept until its end.
    PerUser,
    /// Each request opens its own, which is closed after the response.
    PerRequest,
}

impl Connections {
    /// Whether a request cannot start on a connection that another user has opened.
    pub const fn are_own(self) -> bool {
        matches!(self, Connections::PerUser | Connections::PerRequest)
    }
}

/// What a failed request means for the rest of its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnFailure {
    /// The user goes on.
    #[default]
    Continue,
    /// The session is over.
    EndSession,
}

impl Group {
    /// An open group: each arrival is one request of step 0.
    pub fn open(process: Process, profile: Profile) -> Group {
        let source = Source::Arrivals { process, profile: Arc::new(profile) };
        Group::of(source, Journey::single(), Connections::Shared)
    }

    /// A closed group over the users' own connections.
    pub fn closed(level: Level, journey: Journey) -> Group {
        let source = Source::Users { level: Arc::new(level), requests: None };
        Group::of(source, journey, Connections::PerUser)
    }

    /// A group that keeps sockets connecting: each attempt is one request of step 0 on a connection of its own.
    pub fn connecting(level: Level) -> Group {
        Group::of(Source::Connecting { level: Arc::new(level) }, Journey::single(), Connections::PerRequest)
    }

    /// A group called `users` that goes on after failures and has no pace.
    pub fn of(source: Source, journey: Journey, connections: Connections) -> Group {
        let (name, journey) = ("users".into(), Arc::new(journey));
        Group { name, source, journey, connections, on_failure: OnFailure::Continue, pace: None }
    }

    /// Whether its sessions arrive by a process or as a log tells, whatever the target does.
    pub fn arrives(&self) -> bool {
        matches!(self.source, Source::Arrivals { .. } | Source::Trace(_))
    }

    /// The rate over time of its sessions, where they arrive; of a log its mean rate.
    pub fn profile(&self) -> Option<Arc<Profile>> {
        match &self.source {
            Source::Arrivals { profile, .. } => Some(profile.clone()),
            Source::Trace(trace) => Some(Arc::new(trace.profile())),
            _ => None,
        }
    }

    /// Whether it keeps sockets connecting.
    pub fn is_connecting(&self) -> bool {
        matches!(self.source, Source::Connecting { .. })
    }

    /// Whether it is over when its work is done, and not at an instant.
    pub fn is_fixed_work(&self) -> bool {
        matches!(self.source, Source::AtOnce { .. } | Source::Users { requests: Some(_), .. })
    }
}

impl Plan {
    /// A ramp from zero (not measured), a warm-up at the full rate (not measured), then the hold.
    pub fn ramp_and_hold(
        seed: u64,
        process: Process,
        rate: Rate,
        ramp: Nanos,
        warmup: Nanos,
        hold: Nanos,
    ) -> Plan {
        let phases = [Phase::ramp(ramp, Rate(0.0), rate), Phase::hold(warmup, rate), Phase::hold(hold, rate)];
        Plan::of(seed, Group::open(process, Profile::new(&phases)), ramp + warmup, ramp + warmup + hold)
    }

    /// A plan of one group.
    pub fn of(seed: u64, group: Group, measured_from: Nanos, end: Nanos) -> Plan {
        Plan { seed, groups: vec![group], measured_from, end, shard: Shard::WHOLE }
    }

    /// Whether each request opens a connection of its own.
    pub fn opens_each(&self) -> bool {
        self.groups.iter().all(|group| group.connections == Connections::PerRequest)
    }

    /// How many origins the steps of its journeys go to, the target included.
    pub fn origins(&self) -> usize {
        let all = self.groups.iter().flat_map(|group| group.journey.origins());
        all.max().map_or(1, |&most| usize::from(most) + 1)
    }

    /// Whether sockets are kept connecting.
    pub fn is_connecting(&self) -> bool {
        self.groups.iter().any(Group::is_connecting)
    }

    /// When nothing new starts any more.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// Whether it is over when its work is done, and not at an instant.
    pub fn is_fixed_work(&self) -> bool {
        self.groups.iter().all(Group::is_fixed_work)
    }

    /// Whether every request is an arrival of its own.
    pub fn is_open(&self) -> bool {
        self.groups.iter().all(|g| g.arrives() && g.journey.is_single())
    }

    /// The seed of group number `group`: the plan's own for the first, so that a file with one group and a command line
    /// that says the same draw the same.
    pub fn group_seed(&self, group: usize) -> u64 {
        match group {
            0 => self.seed,
            g => Stream::new(self.seed, streams::GROUP).bits(g as u64, 0),
        }
    }

    /// The draws of group number `group`.
    pub fn draws(&self, group: usize) -> journey::Draws {
        journey::Draws::new(self.group_seed(group))
    }

    /// The sessions of the first group that come to this process's shard, in order. For an open plan: its arrivals.
    pub fn arrivals(&self) -> SessionsOf {
        self.arrivals_of(self.shard)
    }

    /// The sessions of the first group that come to any shard, in order.
    pub fn arrivals_of(&self, shard: Shard) -> SessionsOf {
        self.sessions_of(0, shard)
    }

    /// The sessions of a group that come to a shard, in order; none of a closed group, whose sessions follow each other.
    pub fn sessions_of(&self, group: usize, shard: Shard) -> SessionsOf {
        let seed = self.group_seed(group);
        match self.groups.get(group).map(|g| &g.source) {
            Some(Source::Arrivals { process, profile }) => {
                SessionsOf::drawn(Arrivals::new(seed, *process, profile.clone(), shard))
            }
            Some(Source::Trace(trace)) => SessionsOf::logged(trace.instants().clone(), seed, shard),
            Some(Source::AtOnce { sessions }) => SessionsOf::at_once(*sessions, seed, shard),
            _ => SessionsOf::none(),
        }
    }

    /// The stream by which the sessions of a group are divided among shards ([`Shard::owner`]).
    pub fn shard_draws(&self, group: usize) -> Stream {
        Shard::stream(self.group_seed(group))
    }

    /// How many sessions arrive at each of `count` shards, by number, of all groups that have [arrivals](Group::arrives) together.
    pub fn arrivals_of_each(&self, count: u32) -> Vec<u64> {
        let mut of_each = vec![0; count as usize];
        for group in (0..self.groups.len()).filter(|&group| self.groups[group].arrives()) {
            let draws = self.shard_draws(group);
            for session in self.sessions_of(group, Shard::WHOLE) {
                of_each[Shard::owner(draws, session.k, count) as usize] += 1;
            }
        }
        of_each
    }

    /// Every session that arrives at this process's shard, of all groups, in order of time; groups in order where two
    /// are due at once.
    pub fn sessions(&self) -> Sessions {
        Sessions::new((0..self.groups.len()).map(|g| self.sessions_of(g, self.shard)).collect())
    }

    /// The log by which its sessions arrive, where they all do by one.
    pub fn trace(&self) -> Option<&Arc<Trace>> {
        match &self.groups[..] {
            [Group { source: Source::Trace(trace), .. }] => Some(trace),
            _ => None,
        }
    }

    /// Whether it was read back without the instants of a log that it repeats.
    pub fn lacks_instants(&self) -> bool {
        let lacks =
            |group: &Group| matches!(&group.source, Source::Trace(trace) if trace.instants().is_empty());
        self.groups.iter().any(lacks)
    }

    /// The process of the sessions that arrive, where they have one: that of the only group that does, or Poisson where
    /// all that do are (the sum of Poisson processes is one; Kingman 1993).
    pub fn process(&self) -> Option<Process> {
        if self.groups.iter().any(|g| matches!(g.source, Source::Trace(_))) {
            return None;
        }
        let mut processes = self.groups.iter().filter_map(|g| match &g.source {
            Source::Arrivals { process, .. } => Some(*process),
            _ => None,
        });
        let first = processes.next()?;
        let poisson = first == Process::Poisson;
        let mut rest = processes.peekable();
        if rest.peek().is_none() {
            return Some(first);
        }
        rest.all(|p| p == Process::Poisson && poisson).then_some(Process::Poisson)
    }

    /// The rate over time of the sessions that arrive, over all groups; none where none do.
    pub fn profile(&self) -> Option<Profile> {
        let profiles: Vec<Arc<Profile>> = self.groups.iter().filter_map(Group::profile).collect();
        match profiles.as_slice() {
            [] => None,
            [one] => Some(Profile::clone(one)),
            several => Some(Profile::sum(&several.iter().map(|profile| &**profile).collect::<Vec<_>>())),
        }
    }

    /// The rate over time of the part of the sessions that this process sends.
    pub fn own_profile(&self) -> Option<Profile> {
        Some(self.profile()?.scaled(1.0 / f64::from(self.shard.count())))
    }
}

#[cfg(test)]
mod tests;
