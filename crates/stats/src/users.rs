//! What is kept of users who wait for their answers: how many there were, how long they thought, and what their loop may
//! have hidden.
//!
//! A log tells requests, and not when users came and went. Where that was not told, a user counts as there for all of the
//! time for which he was asked if he sent a request at all. Deliberately absent: sessions that arrive (`sessions`).

use crate::intervals::SEGMENTS;
use crate::levels::Levels;
use crate::little;
use crate::missing::MissingValues;
use crate::moments::Sums;
use crate::phase::Measured;
use crate::replay::Observed;
use crate::series::Level;
use crate::sessions::SessionsKept;
use crate::setup::{Setup, UsersAsked, Workload};
use crate::summary::{Closed, NotComputed, Why};
use headway_base::{Nanos, Outcome, Record, Trigger};

/// Users with larger numbers are not followed one by one: 32 MB a group.
const MOST_USERS: usize = 4_000_000;
/// Share of requests due before their user's last one ended above which users do not wait for their answers.
const OVERLAPPING: f64 = 0.001;
/// "All" users wait when this share of them does.
const NEARLY_ALL: f64 = 0.95;

/// Everything beyond open requests that is kept of a run.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    measured: Measured,
    workload: Workload,
    asked: Option<UsersAsked>,
    apart: Vec<(Nanos, UsersAsked)>,
    think_asked: Option<f64>,
    /// Requests under way: from start to end, and in an open workload from when they were due, for there the backlog counts.
    pub under_way: Levels,
    /// Users and sessions, as the sources told when they came and went.
    pub told: Levels,
    pub sessions: SessionsKept,
    /// What had failed before requests for which a value was missing.
    pub missing: MissingValues,
    /// End of the last request of each user, by group and number.
    ended: Vec<Vec<i64>>,
    seen: u64,
    think: Sums,
    think_min: u64,
    think_max: u64,
    follow: u64,
    overlap: u64,
    /// Not followed.
    beyond: u64,
    observed: Option<Observed>,
    /// Requests that started, and complete answers that came, within the measured phase, whenever their sessions were due.
    pub started_within: u64,
    pub completed_within: u64,
    /// Good ones of these, of open requests too.
    pub good_within: u64,
    /// Number of the first step whose requests redirects lead to.
    redirected_from: Option<u16>,
    /// Requests that were sent, or due by the plan and given up at the connection cap, whenever due, but for those that redirects lead to.
    pub issued: u64,
    /// The last end of a request.
    pub last_done: Nanos,
}

const UNSEEN: i64 = i64::MIN;

/// What a user goes through again and again, on average.
pub(crate) struct Cycle {
    /// Requests behind it.
    pub n: u64,
    /// Share of them that came after a think time.
    pub thinking: f64,
    /// Mean response time in seconds.
    pub response: Option<f64>,
    /// Requests per second.
    pub rate: Option<f64>,
}

impl Loops {
    pub fn new(setup: &Setup, measured: Measured) -> Loops {
        Loops {
            measured,
            workload: setup.workload,
            asked: setup.users.clone(),
            apart: setup.users_apart.clone(),
            think_asked: setup.think_s,
            under_way: match setup.workload {
                Workload::Open => Levels::means_alone(measured),
                _ => Levels::new(measured),
            },
            told: Levels::new(measured),
            sessions: SessionsKept::new(setup, measured),
            missing: MissingValues::default(),
            ended: Vec::new(),
            seen: 0,
            think: Sums::default(),
            think_min: u64::MAX,
            think_max: 0,
            follow: 0,
            overlap: 0,
            beyond: 0,
            observed: (setup.workload == Workload::Closed).then(Observed::default),
            started_within: 0,
            completed_within: 0,
            good_within: 0,
            redirected_from: setup.redirected_from,
            issued: 0,
            last_done: measured.start,
        }
    }

    fn is_within(&self, at: Nanos) -> bool {
        (self.measured.start..self.measured.end).contains(&at)
    }

    /// Takes a request.
    #[inline]
    pub fn request(&mut self, record: &Record) {
        // A user whose request is given up at the cap makes it again.
        let issued = match record.started.is_some() {
            true => !record.is_not_sent(),
            false => record.outcome == Outcome::Shed && record.due != Trigger::User,
        };
        // The work counts what is asked for, and not where redirects lead.
        let issued = issued && self.redirected_from.is_none_or(|from| record.step < from);
        self.issued += if issued { u64::from(record.count) } else { 0 };
        let open = self.workload == Workload::Open;
        if let Some(started) = record.started.get() {
            let from = if open { record.intended } else { started };
            self.under_way.change(from, 1);
            self.under_way.change(record.done.max(from), -1);
            self.last_done = self.last_done.max(record.done);
        }
        let good = record.outcome == Outcome::Ok && self.is_within(record.done);
        self.good_within += if good { u64::from(record.count) } else { 0 };
        if open {
            return;
        }
        let completed = record.outcome.answered() && self.is_within(record.done);
        self.completed_within += u64::from(completed);
        self.sessions.request(record);
        if record.due == Trigger::User && self.workload != Workload::Connecting {
            self.of_user(record);
        }
        let measured = self.measured.segment(record.arrived).is_some();
        self.missing.request(record, measured);
        if let Some(observed) = self.observed.as_mut().filter(|_| measured) {
            observed.push(record);
        }
    }

    /// A start of any request.
    #[inline]
    pub fn started(&mut self, at: Nanos) {
        self.started_within += u64::from(self.is_within(at));
    }

    fn of_user(&mut self, record: &Record) {
        let user = record.user as usize;
        if user >= MOST_USERS {
            self.beyond += 1;
            return;
        }
        let group = usize::from(record.group);
        if group >= self.ended.len() {
            self.ended.resize(group + 1, Vec::new());
        }
        let ended = &mut self.ended[group];
        if user >= ended.len() {
            ended.resize(user + 1, UNSEEN);
        }
        let before = std::mem::replace(&mut ended[user], record.done.0);
        if before == UNSEEN {
            self.seen += 1;
            return;
        }
        if self.measured.segment(record.arrived).is_none() {
            return;
        }
        self.follow += 1;
        let think = record.intended.0 - before;
        if think < 0 {
            self.overlap += 1;
            return;
        }
        self.think.push(think as u64, 1);
        self.think_min = self.think_min.min(think as u64);
        self.think_max = self.think_max.max(think as u64);
    }

    /// Users of closed groups that were there, and that were asked for, on average in each segment; none where none were
    /// asked for.
    pub fn users_held(&self) -> Option<[(f64, f64); SEGMENTS]> {
        let asked = self.asked.as_ref()?;
        let at = |s: usize| Nanos::from_secs_f64(self.measured.segment_start(s));
        let mean = |asked: &UsersAsked, s: usize, behind: Nanos| {
            asked.mean(&(at(s) - behind..at(s + 1) - behind)).unwrap_or(0.0)
        };
        let asked: [f64; SEGMENTS] = std::array::from_fn(|s| mean(asked, s, Nanos::ZERO));
        if self.told.n == 0 {
            let seen = self.seen as f64;
            return Some(std::array::from_fn(|s| {
                let sent: f64 = self.apart.iter().map(|(behind, own)| mean(own, s, *behind)).sum();
                let there = if self.apart.is_empty() { asked[s] } else { sent.min(asked[s]) };
                (there.min(seen), asked[s])
            }));
        }
        let (told, sessions) = (self.told.means(), self.sessions.active.means());
        Some(std::array::from_fn(|s| (told[s] - sessions[s], asked[s])))
    }

    /// Users, or sessions of more than one request, that were there on average in each segment; none where neither was told.
    pub fn there(&self) -> Option<&Levels> {
        let told = self.level()? == Level::Told;
        Some(if told { &self.told } else { &self.sessions.active })
    }

    /// Which of the two [`Loops::there`] is.
    pub fn level(&self) -> Option<Level> {
        match (self.told.n, self.sessions.rows) {
            (0, 0) => None,
            (0, _) => self.workload_arrives().then_some(Level::Sessions),
            _ if self.asked.is_some() || self.sessions.rows == 0 => Some(Level::Told),
            _ => Some(Level::Sessions),
        }
    }

    fn workload_arrives(&self) -> bool {
        matches!(self.workload, Workload::Sessions | Workload::FixedWork) && self.asked.is_none()
    }

    /// The block on users.
    pub fn closed(
        &mut self,
        cycle: &Cycle,
        until: Nanos,
        filled: usize,
        seed: u64,
        missing: &mut NotComputed,
    ) -> Closed {
        const NS: f64 = 1e9;
        let Cycle { n, thinking, response, rate } = *cycle;
        let phase = self.measured.start..until;
        let users = self.asked.as_ref().and_then(|asked| asked.mean(&phase));
        let mut closed = Closed {
            n,
            response,
            users,
            users_mean: self.there().and_then(|there| there.mean_until(until, filled)),
            think_specified: self.think_asked,
            in_flight_max: (self.under_way.n > 0).then(|| self.under_way.highest()),
            all_waiting: users
                .and_then(|users| self.under_way.share_at_least(NEARLY_ALL * users, phase.start, phase.end)),
            ..Closed::default()
        };
        if users.is_none() {
            missing.insert("closed.users".into(), Why::UsersNotAsked.into());
        }
        if closed.users_mean.is_none() {
            missing.insert("closed.users_mean".into(), Why::UsersNotTold.into());
        }
        match self.recovered() {
            Ok(()) => {
                closed.think_n = self.think.n;
                closed.think_recovered = self.think.mean().map(|m| m / NS);
                closed.think_sd = self.think.variance().map(|v| v.sqrt() / NS);
                closed.think_min = Some(self.think_min as f64 / NS);
                closed.think_max = Some(self.think_max as f64 / NS);
            }
            Err(reason) => {
                missing.insert("closed.think_recovered".into(), reason.into());
            }
        }
        closed.think = closed.think_recovered.or(self.think_asked.map(|z| z * thinking));
        if closed.think.is_none() {
            missing.insert("closed.think".into(), Why::NoThinkTime.into());
        }
        let rate = rate.filter(|_| n >= little::FEWEST);
        if rate.is_none() {
            missing.insert("closed.n_little".into(), Why::FewRequests { needed: little::FEWEST, n }.into());
        }
        let think = closed.think;
        little::fill(&mut closed, rate, think);
        let estimated = match self.observed.take() {
            Some(observed) => observed.estimate(phase, seed),
            None => Err(match self.workload {
                Workload::FixedWork => Why::FixedWork,
                _ => Why::OnlyClosed,
            }),
        };
        match estimated {
            Ok(estimated) => closed.estimated = Some(estimated),
            Err(reason) => {
                missing.insert("closed.estimated".into(), reason.into());
            }
        }
        closed
    }

    /// Whether think times could be recovered, or why not.
    fn recovered(&self) -> Result<(), Why> {
        let (overlap, follow) = (self.overlap, self.follow);
        if overlap as f64 > OVERLAPPING * follow as f64 {
            return Err(Why::NotWaiting { overlap, of: follow });
        }
        if self.asked.as_ref().is_some_and(UsersAsked::falls) {
            return Err(Why::UsersLeave);
        }
        if self.beyond > 0 {
            return Err(Why::ManyUsers { most: MOST_USERS as u64 });
        }
        if self.think.n == 0 {
            return Err(Why::NoSecondRequest);
        }
        Ok(())
    }
}
