//! Users (threads) one by one: the think times between their requests, and how the headways of the first k of them
//! together become like those of independent users as k grows (Brady 2012, figures 15 and 16; the limit is that of Palm and
//! Khintchine).
//!
//! Deliberately absent: response times by user.

use super::AuditSetup;
use super::extent::Extent;
use crate::moments::Gathered;
use crate::summary::{ThreadGroup, Why};
use headway_base::{Nanos, Record};

/// Most groups of users.
const MOST_GROUPS: usize = 32;
/// Share of requests that start before their user's last one has ended above which users do not think but overlap.
const OVERLAPPING: f64 = 0.05;

/// Think times and groups of users.
#[derive(Debug)]
pub(super) struct Threads {
    /// Users named per generator: a name that comes from two generators is two users.
    named: usize,
    grid: i64,
    users: Vec<User>,
    /// Place of each user among all by the number in its name; empty if the order is that of the first request.
    places: Vec<u32>,
    seen: u32,
    groups: Vec<Group>,
    left_out: usize,
    think: Gathered,
    /// By what the user asked for before, and after, the think time: a timer may belong to either.
    before: Alike,
    after: Alike,
    think_min: f64,
    think_max: f64,
    follow: u64,
    overlap: u64,
    /// Starts so far, and how many come from one of a user to its next.
    starts: u64,
    turns: Gathered,
}

#[derive(Clone, Copy, Debug)]
struct User {
    place: u32,
    done: i64,
    /// How many starts there were up to its last.
    turn: u64,
    step: u16,
}

/// Steps whose think times are told apart; the further ones are one.
const MOST_STEPS: usize = 1_000;

/// How far values of one kind lie from the mean of their kind.
#[derive(Debug, Default)]
struct Alike(Vec<(u64, f64, f64)>);

impl Alike {
    /// Welford's update (1962) of (n, mean, sum of squared deviations).
    #[inline]
    fn push(&mut self, kind: u16, x: f64) {
        let kind = usize::from(kind).min(MOST_STEPS);
        if kind >= self.0.len() {
            self.0.resize(kind + 1, (0, 0.0, 0.0));
        }
        let (n, mean, squares) = &mut self.0[kind];
        *n += 1;
        let d = x - *mean;
        *mean += d / *n as f64;
        *squares += d * (x - *mean);
    }

    /// The standard deviation within kinds.
    fn sd(&self) -> Option<f64> {
        let kinds = || self.0.iter().filter(|k| k.0 > 0);
        let free =
            kinds().map(|k| k.0).sum::<u64>().checked_sub(kinds().count() as u64).filter(|&n| n > 0)?;
        Some((kinds().map(|k| k.2).sum::<f64>() / free as f64).sqrt())
    }
}

const UNSEEN: u32 = u32::MAX;

#[derive(Debug)]
struct Group {
    /// Users with a place below this are in it.
    size: u64,
    users: u64,
    before: Option<Nanos>,
    gaps: Gathered,
    extent: Extent,
}

/// Think times recovered from the records: next start - previous end of the same user.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Think {
    pub n: u64,
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    /// Of think times before, or after, the same request: the smaller of both.
    pub sd_alike: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Threads {
    /// None where the rows name no users.
    pub fn new(setup: &AuditSetup) -> Option<Threads> {
        let named = setup.users.len();
        if named == 0 {
            return None;
        }
        let generators = setup.generators.len().max(1);
        let places = if generators == 1 { by_number(&setup.users) } else { Vec::new() };
        let (sizes, left_out) = sizes(&setup.by_threads, (named * generators) as u64);
        let extent = Extent::new(setup.quantiles, setup.digit);
        let group =
            |size| Group { size, users: 0, before: None, gaps: Gathered::default(), extent: extent.clone() };
        Some(Threads {
            named,
            grid: setup.setup.resolution.0.max(1),
            users: Vec::new(),
            places,
            seen: 0,
            groups: sizes.into_iter().map(group).collect(),
            left_out,
            think: Gathered::default(),
            before: Alike::default(),
            after: Alike::default(),
            think_min: f64::INFINITY,
            think_max: 0.0,
            follow: 0,
            overlap: 0,
            starts: 0,
            turns: Gathered::default(),
        })
    }

    /// Takes a request, in the order of starts.
    #[inline]
    pub fn push(&mut self, started: Nanos, record: &Record) {
        let slot = record.user as usize + usize::from(record.shard) * self.named;
        if slot >= self.users.len() {
            self.users.resize(slot + 1, User { place: UNSEEN, done: 0, turn: 0, step: 0 });
        }
        let user = &mut self.users[slot];
        self.starts += 1;
        if user.place == UNSEEN {
            user.place = self.places.get(slot).copied().unwrap_or(self.seen);
            user.done = record.done.0;
            self.seen += 1;
            let place = u64::from(user.place);
            self.groups.iter_mut().filter(|g| place < g.size).for_each(|g| g.users += 1);
        } else {
            let think = started.0 - user.done;
            self.turns.push((self.starts - user.turn) as f64);
            user.done = user.done.max(record.done.0);
            self.follow += 1;
            // A start and an end cut off to the grid may seem to be in the wrong order by one step of it.
            if think < -self.grid {
                self.overlap += 1;
            } else {
                // What rounding takes from one it gives to another: cut off at 0 their mean would be too large.
                let think = think as f64;
                self.think.push(think);
                self.before.push(user.step, think);
                self.after.push(record.step, think);
                self.think_min = self.think_min.min(think.max(0.0));
                self.think_max = self.think_max.max(think);
            }
        }
        user.step = record.step;
        user.turn = self.starts;
        let place = u64::from(user.place);
        // Sizes grow: from the last down to the first that the user is in.
        for group in self.groups.iter_mut().rev().take_while(|g| place < g.size) {
            if let Some(before) = group.before.replace(started) {
                group.gaps.push((started - before).0.max(0) as f64);
            }
            group.extent.push(started, record);
        }
    }

    /// What the stamps resolve, in nanoseconds.
    pub fn grid(&self) -> i64 {
        self.grid
    }

    /// Users that sent a request.
    pub fn users(&self) -> u64 {
        u64::from(self.seen)
    }

    /// Whether users wait for their answers, as users of a closed load do; else what they do instead.
    pub fn one_at_a_time(&self) -> Result<(), Why> {
        let (overlap, follow) = (self.overlap, self.follow);
        if overlap as f64 <= OVERLAPPING * follow as f64 {
            return Ok(());
        }
        Err(Why::SeveralAtOnce { overlap, of: follow })
    }

    /// From a user's start to its next: how many starts there are on average, and the standard deviation of that.
    pub fn turns(&self) -> Option<(f64, f64)> {
        let turns = self.turns.moments();
        turns.mean().zip(turns.sd())
    }

    /// The recovered think times, or why there are none.
    pub fn think(&self) -> Result<Think, Why> {
        self.one_at_a_time()?;
        let think = self.think.moments();
        let n = think.n;
        if n == 0 {
            return Err(Why::NoSecondRequest);
        }
        const NS: f64 = 1e9;
        Ok(Think {
            n,
            mean: think.mean().map(|x| x.max(0.0) / NS),
            sd: think.sd().map(|x| x / NS),
            sd_alike: self.before.sd().into_iter().chain(self.after.sd()).reduce(f64::min).map(|x| x / NS),
            min: Some(self.think_min / NS),
            max: Some(self.think_max / NS),
        })
    }

    /// The groups, the smallest first; and how many that were asked for are left out.
    pub fn groups(&self) -> (Vec<ThreadGroup>, usize) {
        const NS: f64 = 1e9;
        let mut told: Vec<ThreadGroup> = Vec::new();
        for group in &self.groups {
            let users = group.users;
            if users == 0 || told.last().is_some_and(|before| before.users == users) {
                continue;
            }
            let gaps = group.gaps.moments();
            told.push(ThreadGroup {
                name: if users == 1 { "1".into() } else { format!("1-{users}") },
                users,
                n: gaps.n,
                rate: group.extent.seconds().map(|s| gaps.n as f64 / s),
                headway_mean: gaps.mean().map(|x| x / NS),
                headway_sd: gaps.sd().map(|x| x / NS),
                cov: gaps.cov(),
                cov_se: gaps.cov_se(),
            });
        }
        (told, self.left_out)
    }
}

/// The sizes asked for, else 1, 2, 5, 10 ... and all; ascending, none larger than all. And how many were too many.
fn sizes(asked: &[u64], all: u64) -> (Vec<u64>, usize) {
    let decades = (0..19).flat_map(|e| [1, 2, 5].map(|d| d * 10u64.pow(e))).take_while(|&k| k < all);
    let mut sizes: Vec<u64> = if asked.is_empty() {
        decades.chain([all]).collect()
    } else {
        asked.iter().map(|&k| k.clamp(1, all.max(1))).collect()
    };
    sizes.sort_unstable();
    sizes.dedup();
    let left_out = sizes.len().saturating_sub(MOST_GROUPS);
    sizes.truncate(MOST_GROUPS);
    (sizes, left_out)
}

/// Place of each user by the number at the end of its name (`Thread Group 1-17`: 17); empty unless all have one.
fn by_number(names: &[String]) -> Vec<u32> {
    let number = |name: &String| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        name[name.len() - digits..].parse::<u64>().ok()
    };
    let Some(numbers) = names.iter().map(number).collect::<Option<Vec<u64>>>() else { return Vec::new() };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&i| (numbers[i], &names[i]));
    let mut places = vec![0; names.len()];
    order.iter().zip(0..).for_each(|(&i, place)| places[i] = place);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn users_are_ordered_by_the_number_in_their_names() {
        let order = by_number(&names(&[
            "Thread Group 1-10",
            "Thread Group 1-2",
            "Thread Group 2-2",
            "Thread Group 1-1",
        ]));
        assert_eq!(order, [3, 1, 2, 0]);
        assert!(by_number(&names(&["vu 1", "anonymous"])).is_empty());
    }

    #[test]
    fn think_times_that_depend_on_the_request_do_not_vary() {
        let mut alike = Alike::default();
        (0..1_000).for_each(|i| alike.push(i % 2, f64::from(i % 2) * 5.0 + f64::from(i / 2 % 2)));
        assert!((alike.sd().unwrap() - 0.5).abs() < 1e-3);
        assert_eq!(Alike::default().sd(), None);
    }

    #[test]
    fn groups_are_few_and_none_is_larger_than_all() {
        assert_eq!(sizes(&[], 200), (vec![1, 2, 5, 10, 20, 50, 100, 200], 0));
        assert_eq!(sizes(&[], 1), (vec![1], 0));
        assert_eq!(sizes(&[50, 7, 7, 900], 100), (vec![7, 50, 100], 0));
        let many: Vec<u64> = (1..=40).collect();
        assert_eq!(sizes(&many, 100).1, 8);
    }
}
