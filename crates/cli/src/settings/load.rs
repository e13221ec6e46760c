//! What the load is, from the flags of `run` and `plan`: an open workload (a rate), a closed one (users), or fixed work (a
//! number of requests, or of users at once).

use crate::args::LoadArgs;
use crate::files::times_in_file;
use anyhow::{Result, bail};
use headway_base::dist::{self, Dist};
use headway_base::{Nanos, Rate};
use headway_engine::plan_summary;
use headway_report::format::plural;
use headway_stats::summary::PlanSummary;
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::plan::{Connections, Group, LONGEST, Source};
use headway_workload::users::{Level, UserPhase};
use headway_workload::{Plan, Shard};

/// The rate of a run that names none.
pub const DEFAULT_RATE: Rate = Rate(50.0);
/// The length of a run that names none.
pub const DEFAULT_DURATION: Nanos = Nanos::from_secs(10);

/// More arrivals than anybody means: a month at a million a second is 2.6e12.
const MOST_ARRIVALS: f64 = 1e12;
/// More users than anybody means.
const MOST_USERS: u64 = 100_000_000;

/// The load, resolved.
#[derive(Clone, Debug)]
pub struct Load {
    /// Who comes when.
    pub plan: Plan,
    /// What it is, in words: `50/s for 10s, poisson`.
    pub headline: String,
    /// How many requests the hold was made to last for, or are to be made in all, if that was said.
    pub requests: Option<u64>,
    /// What was taken because nothing was said, in words; empty if all was said.
    pub assumed: Vec<String>,
    /// Lengths of ramp, warm-up and hold, where the load has them.
    pub lengths: Option<Lengths>,
}

/// Lengths of the phases that the flags make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// The ramp.
    pub ramp: Nanos,
    /// The warm-up after it.
    pub warmup: Nanos,
    /// The hold.
    pub hold: Nanos,
}

impl Load {
    /// Resolves what the load is; `connections` is what `-c` says, which fixed work takes for its users.
    ///
    /// # Errors
    /// Values that make no plan, or flags that contradict each other; in words for the user.
    pub fn resolve(args: &LoadArgs, connections: Option<u64>) -> Result<Load> {
        if args.shard != Shard::WHOLE && args.seed.is_none() {
            bail!("--shard {} needs --seed: all shards must draw the same plan", args.shard);
        }
        let seed = args.seed.unwrap_or_else(super::new_seed);
        let closed = args.users.is_some() || args.think.is_some();
        let arrive = args.at_once.is_none() && !closed && (args.rate.is_some() || args.requests.is_none());
        if args.arrivals.is_some() && !arrive {
            bail!(
                "--arrivals is for users who arrive (-R): with -u, -n and --at-once nobody arrives by a process"
            );
        }
        let mut load = match (args.rate, args.at_once, args.requests) {
            (Some(_), None, _) if closed => bail!(
                "-R (users who arrive) and -u/--think (users who stay and wait for their answers) are two kinds of load: give \
                 one of them"
            ),
            (_, Some(_), _) if closed || args.rate.is_some() || args.requests.is_some() => {
                bail!("--at-once is a load of its own: it goes without -R, -n, -u and --think")
            }
            (None, Some(sessions), None) => at_once(args, seed, sessions)?,
            (None, None, Some(n)) => fixed_work(args, seed, n, connections)?,
            (None, None, None) if closed => users(args, seed)?,
            _ => open(args, seed)?,
        };
        load.plan.shard = args.shard;
        if load.plan.profile().is_some_and(|p| p.total() > MOST_ARRIVALS) {
            bail!("{} is more than 1e12 arrivals: lower the rate or the duration", load.headline);
        }
        Ok(load)
    }

    /// The plan as the summary shows it, without what only a run knows.
    pub fn summary(&self) -> PlanSummary {
        let lengths = self.lengths;
        let seconds = |pick: fn(Lengths) -> Nanos| lengths.map(|l| pick(l).as_secs_f64());
        PlanSummary {
            requests: self.requests,
            duration_s: seconds(|l| l.hold),
            warmup_s: seconds(|l| l.warmup),
            ramp_s: seconds(|l| l.ramp),
            ..plan_summary(&self.plan)
        }
    }
}

/// Lengths of ramp and warm-up.
fn before(args: &LoadArgs) -> (Nanos, Nanos) {
    (args.ramp.unwrap_or(Nanos::ZERO), args.warmup.unwrap_or(Nanos::ZERO))
}

/// The hold, and what was assumed for it.
fn hold(args: &LoadArgs, assumed: &mut Vec<String>) -> Result<Nanos> {
    let hold = args.duration.unwrap_or_else(|| {
        assumed.push("-d 10s".to_owned());
        DEFAULT_DURATION
    });
    if hold <= Nanos::ZERO {
        bail!("-d 0s asks for nothing: write a time above zero");
    }
    Ok(hold)
}

fn open(args: &LoadArgs, seed: u64) -> Result<Load> {
    let mut assumed = Vec::new();
    if args.pool.is_some() {
        bail!("--pool is for -u and -n: arrivals of one request each share the connections");
    }
    let rate = args.rate.unwrap_or_else(|| {
        assumed.push("-R 50/s".to_owned());
        DEFAULT_RATE
    });
    let (ramp, warmup) = before(args);
    let build = |hold: Nanos| Plan::ramp_and_hold(seed, args.process(), rate, ramp, warmup, hold);
    let hold = match args.requests {
        None => hold(args, &mut assumed)?,
        Some(0) => bail!("-n 0 asks for nothing: write a number from 1 up"),
        Some(n) => {
            let hold = hold_of_requests(n, rate, build)?;
            args.duration.map_or(hold, |d| d.min(hold))
        }
    };
    if hold <= Nanos::ZERO {
        bail!("-d 0s asks for nothing: write a time above zero");
    }
    let length = args.requests.map_or_else(|| hold.to_string(), |n| plural(n, "request"));
    Ok(Load {
        plan: build(hold),
        headline: format!("{rate} for {length}, {}", args.process()),
        requests: args.requests,
        assumed,
        lengths: Some(Lengths { ramp, warmup, hold }),
    })
}

fn users(args: &LoadArgs, seed: u64) -> Result<Load> {
    let mut assumed = Vec::new();
    let users = count_of_users(args.users.unwrap_or(1))?;
    if args.users.is_none() {
        assumed.push("-u 1".to_owned());
    }
    let hold = hold(args, &mut assumed)?;
    let (ramp, warmup) = before(args);
    let full = f64::from(users);
    let phase = |length, from_users| UserPhase { length, from_users, to_users: full };
    let level = Level::new(&[phase(ramp, 0.0), phase(warmup + hold, full)]);
    let group = Group { connections: pool(args), ..Group::closed(level, journey(args)?) };
    Ok(Load {
        plan: Plan::of(seed, group, ramp + warmup, ramp + warmup + hold),
        headline: format!("{} for {hold}{}", plural(u64::from(users), "user"), thinking(args)),
        requests: None,
        assumed,
        lengths: Some(Lengths { ramp, warmup, hold }),
    })
}

/// `n` requests, as fast as so many users make them.
fn fixed_work(args: &LoadArgs, seed: u64, n: u64, connections: Option<u64>) -> Result<Load> {
    if n == 0 {
        bail!("-n 0 asks for nothing: write a number from 1 up");
    }
    if args.ramp.is_some() || args.warmup.is_some() {
        bail!("-n without -R is fixed work, which has no --ramp and no --warmup");
    }
    let mut assumed = Vec::new();
    let users = count_of_users(args.users.or(connections).unwrap_or_else(|| {
        assumed.push(format!("-c {DEFAULT_FIXED_WORK_USERS}"));
        DEFAULT_FIXED_WORK_USERS
    }))?;
    let end = args.duration.unwrap_or(LONGEST);
    if end <= Nanos::ZERO {
        bail!("-d 0s asks for nothing: write a time above zero");
    }
    let at_most = args.duration.map_or_else(String::new, |d| format!(", {d} at most"));
    let source = Source::Users { level: Level::hold(users, end).into(), requests: Some(n) };
    let group = Group::of(source, journey(args)?, pool(args));
    Ok(Load {
        plan: Plan::of(seed, group, Nanos::ZERO, end),
        headline: format!(
            "{} by {}{}{at_most}",
            plural(n, "request"),
            plural(u64::from(users), "user"),
            thinking(args)
        ),
        requests: Some(n),
        assumed,
        lengths: None,
    })
}

/// Users of fixed work when nobody says how many; hey's and oha's number.
const DEFAULT_FIXED_WORK_USERS: u64 = 50;

fn at_once(args: &LoadArgs, seed: u64, sessions: u64) -> Result<Load> {
    if sessions == 0 {
        bail!("--at-once 0 asks for nothing: write a number from 1 up");
    }
    if args.ramp.is_some() || args.warmup.is_some() || args.duration.is_some() {
        bail!("--at-once begins with all at zero and ends with the last: it has no --ramp, --warmup or -d");
    }
    let connections = args.pool.unwrap_or(Connections::PerUser);
    let group = Group::of(Source::AtOnce { sessions }, Journey::single(), connections);
    Ok(Load {
        plan: Plan::of(seed, group, Nanos::ZERO, LONGEST),
        headline: format!("{} at once", plural(sessions, "request")),
        requests: Some(sessions),
        assumed: Vec::new(),
        lengths: None,
    })
}

fn count_of_users(users: u64) -> Result<u32> {
    match users {
        0 => bail!("-u 0 sends nothing: write a number from 1 up"),
        n if n > MOST_USERS => bail!("-u {n} is more than this machine could ever play: write at most 100m"),
        n => Ok(n as u32),
    }
}

fn pool(args: &LoadArgs) -> Connections {
    args.pool.unwrap_or(Connections::PerUser)
}

/// One request again and again, after a think time.
fn journey(args: &LoadArgs) -> Result<Journey> {
    let think = think(args)?.unwrap_or_else(no_think);
    Ok(Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], think)?)
}

fn think(args: &LoadArgs) -> Result<Option<Dist>> {
    let Some(text) = &args.think else { return Ok(None) };
    let law = dist::parse(text, &times_in_file).map_err(|e| anyhow::anyhow!("--think: {e}"))?;
    law.misleads().map_or(Ok(Some(law)), |why| Err(anyhow::anyhow!("--think: {why}")))
}

fn thinking(args: &LoadArgs) -> String {
    args.think.as_ref().map_or_else(String::new, |think| format!(", think {think}"))
}

/// How long the hold must be for exactly `n` requests of the whole plan to be due in it.
fn hold_of_requests(n: u64, rate: Rate, build: impl Fn(Nanos) -> Plan) -> Result<Nanos> {
    let expected = n as f64 / rate.0;
    if n as f64 > 1e9 {
        bail!("-n {n} is more than a billion: give -d TIME instead");
    }
    let fixed = build(Nanos::from_secs_f64(expected));
    if fixed.process() == Some(headway_workload::Process::PoissonFixedN) {
        return Ok(Nanos::from_secs_f64(expected));
    }
    // Far enough that the n-th arrival is within it; gaps may be bursty, hence the doubling.
    let mut reach = 1.5 * expected + 100.0 / rate.0;
    loop {
        let plan = build(Nanos::from_secs_f64(reach));
        let from = plan.measured_from;
        let mut due = plan.arrivals_of(Shard::WHOLE).filter(|a| a.intended >= from);
        if let Some(last) = due.nth(n as usize - 1) {
            // Instants are rounded to the nanosecond, so the hold ends one after the last of them.
            return Ok(last.intended - from + Nanos(1));
        }
        reach *= 2.0;
    }
}

/// What a plan is, in words.
pub(super) fn in_words(plan: &Plan) -> String {
    let group = |g: &Group| {
        let what = match &g.source {
            Source::Arrivals { process, profile } => {
                let peak = profile.phases().map(|p| p.from.0.max(p.to.0)).fold(0.0, f64::max);
                let who = if g.journey.is_single() { "requests" } else { "sessions" };
                format!("{who} at up to {}, {process}", Rate(peak))
            }
            Source::AtOnce { sessions } => format!("{} at once", plural(*sessions, "session")),
            Source::Users { level, requests: Some(n) } => {
                format!("{} by {}", plural(*n, "request"), plural(u64::from(level.most()), "user"))
            }
            Source::Users { level, requests: None } => {
                format!("up to {}", plural(u64::from(level.most()), "user"))
            }
        };
        if plan.groups.len() > 1 { format!("{}: {what}", g.name) } else { what }
    };
    let groups: Vec<String> = plan.groups.iter().map(group).collect();
    let length = if plan.is_fixed_work() { String::new() } else { format!(" for {}", plan.end()) };
    format!("{}{length}", groups.join("; "))
}

/// Requests of fixed work, if the plan is that and nothing else.
pub(super) fn requests_asked(plan: &Plan) -> Option<u64> {
    let of = |g: &Group| match &g.source {
        Source::AtOnce { sessions } => Some((*sessions as f64 * g.journey.mean_asks()).round() as u64),
        Source::Users { requests, .. } => *requests,
        Source::Arrivals { .. } => None,
    };
    plan.groups.iter().map(of).sum()
}
