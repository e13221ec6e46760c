//! What to do next, and what of a run decides it.
//!
//! Absent: what is to be done about each finding and rule, which stands in its row (`findings`, `rules`).

use super::asked::{Kind, kind};
use super::{failures, waiting};
use headway_base::{KnownFailure, Outcome};
use headway_stats::Summary;
use headway_stats::summary::evidence::{HeldBackBy, Loop, Run};
use headway_stats::summary::{Evidence, FindingId, RuleId, Source};
use std::borrow::Cow;

/// What to do about a reason.
#[derive(Clone, Debug)]
pub enum Next {
    /// Nothing that is known; or the text says it.
    Nothing,
    /// This; documents have it behind the text.
    Do(Cow<'static, str>),
    /// This, which stands on screens and pages alone.
    Shown(&'static str),
    /// What the run decides, on screens and pages alone.
    By(fn(&Around) -> Option<&'static str>),
}

impl From<&'static str> for Next {
    fn from(text: &'static str) -> Next {
        Next::Do(text.into())
    }
}

impl From<String> for Next {
    fn from(text: String) -> Next {
        Next::Do(text.into())
    }
}

impl Next {
    /// What documents do not have.
    pub(super) fn shown(&self, around: &Around) -> Option<&'static str> {
        match self {
            Next::Nothing | Next::Do(_) => None,
            Next::Shown(text) => Some(text),
            Next::By(of) => of(around),
        }
    }
}

/// Who sent the load, by what can be told to do about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sender {
    /// Another tool, whose options are not ours.
    Foreign,
    /// A simulation, whose load, generator and target are all in the scenario.
    Simulation,
    /// Headway.
    Live,
}

/// The run around a reason.
#[derive(Debug)]
pub struct Around<'a> {
    summary: &'a Summary,
    pub(super) sender: Sender,
    pub(super) kind: Kind,
}

impl<'a> Around<'a> {
    pub(super) const PACED_BY_MODEL: &'static str =
        "Leave `pauses:` out of the model, or raise `connections:`. One of them holds requests back.";

    pub(super) fn new(summary: &'a Summary) -> Around<'a> {
        let sender = match summary.source {
            _ if summary.audit.is_some() => Sender::Foreign,
            Source::Sim => Sender::Simulation,
            Source::Live | Source::Import => Sender::Live,
        };
        Around { summary, sender, kind: kind(summary) }
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.sender == Sender::Foreign
    }

    pub(super) fn is_live(&self) -> bool {
        self.sender == Sender::Live
    }

    /// What can be done about loads of Headway's own, live or simulated.
    pub(super) fn of_own(&self, text: &'static str) -> Option<&'static str> {
        (!self.is_foreign()).then_some(text)
    }

    /// About arrivals that were not sent; `rule` tells how many, where shards can have begun apart.
    pub(super) fn after_unsent(&self, rule: Option<&RuleId>) -> Option<&'static str> {
        match self.sender {
            Sender::Foreign => None,
            Sender::Simulation => Some(
                "Lower the rate, or raise `connections:` or `max-wait:`. Do so until every arrival starts.",
            ),
            Sender::Live if rule.is_some_and(|rule| self.began_apart(rule)) => Some(START_TOGETHER),
            Sender::Live if self.is_mostly_unfit() => Some(CORRECT_WHAT_IS_SENT),
            Sender::Live => Some(
                "Lower the rate, or raise -c, --threads or --max-wait. Do so until every arrival starts.",
            ),
        }
    }

    /// About requests that started late, and about what that did to the numbers.
    pub(super) fn after_lateness(&self) -> Option<&'static str> {
        let model = "Leave `pauses:` out of the model, or make them shorter. Keep them to see a generator that stands still.";
        self.after_delays(
            model,
            match self.kind {
                Kind::Open | Kind::Sessions => {
                    "Give the generator idle cores (--threads) or another machine. Or lower the rate."
                }
                Kind::Closed | Kind::FixedWork => {
                    "Give the generator idle cores (--threads) or another machine. Or ask for fewer users."
                }
                Kind::Connecting => KEEP_FEWER_SOCKETS,
            },
        )
    }

    /// About requests that left in bunches since some were late.
    pub(super) fn after_bunches(&self) -> Option<&'static str> {
        let own = "Look for stalls of the generator, free its cores, then run again.";
        self.after_delays(Around::PACED_BY_MODEL, own)
    }

    fn after_delays(&self, model: &'static str, own: &'static str) -> Option<&'static str> {
        match self.sender {
            Sender::Foreign => None,
            Sender::Simulation => Some(model),
            Sender::Live if self.takes_most() => Some(NOT_OVERLOADED),
            Sender::Live if self.is_passed_over() => Some(waiting::NEIGHBOURS),
            Sender::Live => Some(own),
        }
    }

    /// About sockets that were not kept connecting.
    pub(super) fn after_sockets(&self) -> Option<&'static str> {
        let taken = self.is_live() && self.takes_most();
        self.of_own(if taken { NOT_OVERLOADED } else { KEEP_FEWER_SOCKETS })
    }

    /// What kept requests waiting for a connection, where something did.
    pub(super) fn held_back(&self) -> Option<&'a HeldBackBy> {
        self.evidence().find_map(|evidence| match evidence {
            Evidence::Loop(Loop::HeldBack { cause, .. }) => Some(cause),
            _ => None,
        })
    }

    /// Whether some request got a response.
    pub(super) fn has_answered(&self) -> bool {
        failures::has_answered(self.summary)
    }

    /// Whether a target accepted connections and did not begin to speak HTTP/2.
    pub(super) fn is_mute(&self) -> bool {
        let mut rows = self.summary.failure_reasons.rows.iter();
        rows.any(|row| row.kind == Some(KnownFailure::Http2Unanswered))
    }

    /// Whether most requests that were not sent hold what the protocol cannot send.
    pub(super) fn is_mostly_unfit(&self) -> bool {
        let rows = self.summary.failure_reasons.rows.iter();
        let unfit: u64 = rows.filter(|row| row.kind == Some(KnownFailure::Unfit)).map(|row| row.n).sum();
        let not_sent = [Outcome::Unsent, Outcome::Shed, Outcome::LocalLimit];
        let of: u64 = not_sent.iter().filter_map(|outcome| self.summary.outcomes.get(outcome.name())).sum();
        unfit > 0 && 2 * unfit >= of
    }

    /// Whether what a rule lacks mostly follows from shards that began apart: at least half of it is outside the merged run.
    pub(super) fn began_apart(&self, rule: &RuleId) -> bool {
        let shares = self.evidence().map(|evidence| match evidence {
            Evidence::Run(Run::ShardsApart { outside, of, .. }) => *outside as f64 / (*of).max(1) as f64,
            _ => 0.0,
        });
        let outside = shares.fold(0.0, f64::max);
        let rules = &self.summary.verdict.rules;
        let held = rules.iter().find(|found| found.rule == *rule).and_then(|found| found.value);
        outside > 0.0 && held.is_some_and(|held| 2.0 * outside >= 1.0 - held)
    }

    /// Whether other processes had the cores: a worker that is busy all the time is late for want of time, not of priority.
    fn is_passed_over(&self) -> bool {
        let mut findings = self.summary.verdict.findings.iter();
        !findings.any(|finding| finding.id == FindingId::Saturated)
            && waiting::has_busy_neighbours(self.summary)
    }

    /// Whether a target accepts most attempts of sockets that are kept connecting: each is then replaced as fast as this machine can.
    fn takes_most(&self) -> bool {
        let connects = self.summary.connects.as_ref().filter(|connects| connects.sockets.is_some());
        connects.is_some_and(|connects| 2 * connects.counts.established > connects.counts.attempts)
    }

    fn evidence(&self) -> impl Iterator<Item = &'a Evidence> {
        self.summary.verdict.findings.iter().flat_map(|finding| &finding.evidence)
    }
}

/// Sockets are accepted as fast as they connect.
pub(super) const NOT_OVERLOADED: &str = "The target accepts most connections at once, so each socket is replaced as fast as this machine can. Below its capacity send a rate: -R RATE --new-connections.";

/// What is outside a merged run was sent, at another time.
pub(super) const START_TOGETHER: &str = "Start shards together: --start-at barrier, or one --start-at TIME.";

/// What the steps hold cannot be sent, at no rate.
pub(super) const CORRECT_WHAT_IS_SENT: &str = "Correct the step, or the data that it takes its values from. The reason under the outcome says what cannot be sent.";

/// Sockets cannot be kept connecting.
pub(super) const KEEP_FEWER_SOCKETS: &str = "Keep fewer sockets connecting, or raise --connect-timeout. Or give the generator idle cores (--threads), or another machine.";
