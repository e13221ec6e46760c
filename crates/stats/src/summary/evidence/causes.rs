//! Evidence of an audit: why a load has the pattern it has, and what else the rows leave to be said.

use super::super::{LoadVerdict, Pattern};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// The cause of an arrival pattern, and what else only an audit tells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Cause {
    /// Two generators sent the same headways in the same order.
    SameSeed { one: Cleared, other: Cleared, correlation: f64 },
    /// A share of the starts of one come again from the other, so much later (below zero: earlier).
    SameSeedShifted { one: Cleared, other: Cleared, share: f64, chance: f64, later_s: f64 },
    /// A share of the starts of one fall together with those of the other.
    InStep { one: Cleared, other: Cleared, share: f64, chance: f64 },
    /// Each user keeps the same rate, and all send together.
    UsersInStep { users: u64, period_s: f64, mean_vector: f64 },
    /// In that share of the time nearly all users were waiting.
    AllWaiting { users: f64, share: f64 },
    /// Users hardly think.
    NoThinkTime { users: f64, think_s: f64 },
    /// Requests leave on a schedule of constant rate; the CoV of a single user's headways, where there are several users.
    ConstantRate { cov: f64, cov_of_one: Option<f64> },
    /// The think time is fixed.
    FixedThink { think_s: f64, cov: f64, pattern: Pattern },
    /// Each user keeps a rate.
    FixedPacing { users: f64, period_s: f64, cov: f64 },
    /// Starts keep to the ticks of a timer.
    TimerTicks { period_s: f64, mean_vector: f64, per_tick: f64 },
    /// The generator stood still `n` times, which makes that share of the excess.
    GeneratorPauses { n: u64, longest_s: f64, share: f64 },
    /// The generator stood still `n` times and made up for nothing, which makes that share of the excess.
    LostTime { n: u64, longest_s: f64, share: f64 },
    /// The target did, and the users waited.
    FeedbackLoop { n: u64, longest_s: f64, share: f64 },
    /// Nothing was made up for after so few gaps.
    Interruption { n: u64, longest_s: f64, share: f64 },
    /// A rate that holds from one time after the first start to another, and the range of the rates outside; which part to judge.
    ChangingRate {
        rate: f64,
        from_s: f64,
        to_s: f64,
        least: f64,
        most: f64,
        judge_from_s: f64,
        judge_for_s: f64,
    },
    /// A rate that changes slowly: at the beginning and at the end by a straight line through its twentieths, or the least and the
    /// most of them where no line fits; the index of dispersion over some window.
    Drift { from: f64, to: f64, straight: bool, window_s: f64, index: f64 },
    /// Gaps lie together at the beginning or the end: a ramp, and which part to judge.
    Ramp { at_end: bool, ramp_s: f64, rate: f64, judge_from_s: f64, judge_for_s: f64 },
    /// The rate is another for a part of the time, counted from the first start, and the same before and after it.
    OtherRate { rate: f64, other: f64, from_s: f64, to_s: f64 },
    /// Requests leave for some time, and then none do: how long each lasts, in each period or on average.
    OnOff { on_s: f64, off_s: f64, regular: bool },
    /// So many of the requests per second come one each period.
    RegularPart { part: f64, of: f64, period_s: f64 },
    /// So many leave together each period, among others.
    TicksAmongOthers { period_s: f64, per_tick: f64, share: f64 },
    /// The generator stands still once each period.
    RegularPauses { period_s: f64, length_s: f64 },
    /// Users are released so many at a time.
    ReleasedTogether { users: u64, together: u64, share: f64 },
    /// Few users make an even load.
    FewUsers { users: f64, cov: f64 },
    /// The rows do not tell the cause; whether users who wait are named, and what share of their cycle they wait for.
    UnknownCause { pattern: Pattern, users_named: bool, waiting: Option<f64> },
    /// The starts of sessions are judged, and not those of the requests within.
    SessionsJudged { sessions: u64, requests: u64 },
    /// These files do not show whether stamps are starts or ends: the verdict of both readings; null where nothing is selected of
    /// the second.
    StartOrEnd { file: Cleared, more_files: u64, as_starts: Reading, as_ends: Option<Reading> },
    /// Rows of a file were left out for their stamps.
    FarStamps { n: u64, file: Cleared, first: FirstStamp },
}

/// The verdict of one reading of the stamps.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// Was the load sent as expected? Null without an expectation.
    pub load: Option<LoadVerdict>,
    /// The pattern of the starts.
    pub pattern: Pattern,
    /// CoV of the headways.
    pub cov: Option<f64>,
}

/// When something was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "clock", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence")]
pub enum FirstStamp {
    /// At that instant (RFC 3339).
    At { instant: String },
    /// So many nanoseconds after 1970, which is no date of the calendar.
    SinceEpoch { ns: i64 },
    /// So many seconds after the tool's zero.
    SinceZero { seconds: f64 },
}
