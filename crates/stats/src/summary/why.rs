//! Why something is not there: a number, an interval, a decision, a steady state. Types with stable tags and their numbers.
//!
//! Deliberately absent: the sentences. The report makes them, and writes them into the document beside the tag.

use super::{Interval, PowerLaw, ThresholdUnit};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// A reason and, in documents, its sentence.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Stated<T> {
    /// The reason.
    #[serde(flatten)]
    pub why: T,
    /// The reason as a sentence without a capital: written by the report, and kept when read only where the reason is one that this
    /// version does not know.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl<T> From<T> for Stated<T> {
    fn from(why: T) -> Stated<T> {
        Stated { why, text: String::new() }
    }
}

/// Reasons of which some are of other versions.
pub trait Reason {
    /// The reason that this version does not know.
    const OTHER: Self;
    /// Whether it is that one.
    fn is_other(&self) -> bool;
}

impl<T: Reason> Stated<T> {
    /// A reason that this version does not know, by its sentence.
    pub fn other(text: impl Into<String>) -> Stated<T> {
        Stated { why: T::OTHER, text: text.into() }
    }
}

impl<'de, T: Reason + Deserialize<'de>> Deserialize<'de> for Stated<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Stated<T>, D::Error> {
        /// As a document has it: with a reason that is known, or with any text.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written<T> {
            Known(T),
            Other {
                #[serde(default)]
                text: String,
            },
        }
        /// Of a tag that is known as other the text is all there is.
        #[derive(Deserialize)]
        struct Both<T> {
            #[serde(flatten)]
            why: Written<T>,
            #[serde(default)]
            text: String,
        }
        /// Some older documents have the sentence alone.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either<T> {
            Sentence(String),
            Both(Both<T>),
        }
        let Both { why, text } = match Either::<T>::deserialize(deserializer)? {
            Either::Sentence(text) => return Ok(Stated::other(text)),
            Either::Both(both) => both,
        };
        Ok(match why {
            Written::Known(why) if !why.is_other() => Stated { why, text: String::new() },
            Written::Known(_) => Stated { why: T::OTHER, text },
            Written::Other { text: own } => {
                Stated { why: T::OTHER, text: if text.is_empty() { own } else { text } }
            }
        })
    }
}

/// An enum of reasons: each with its tag, its meaning and the numbers of its sentence.
macro_rules! reasons {
    ($(#[$about:meta])* $name:ident {
        $($(#[doc = $meaning:literal])+ $tag:literal $variant:ident $({ $($fields:tt)* })?,)*
    }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[doc = $meaning])+ #[serde(rename = $tag)] $variant $({ $($fields)* })?,)*
        }

        impl $name {
            /// Every tag that this version writes or reads, with what it means.
            pub const ALL: &'static [(&'static str, &'static str)] = &[$(($tag, concat!($($meaning),+)),)*];

            /// The tag, as documents have it.
            pub fn tag(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $tag,)*
                }
            }
        }

        impl Reason for $name {
            const OTHER: $name = $name::Other;

            fn is_other(&self) -> bool {
                matches!(self, $name::Other)
            }
        }
    };
}

reasons! {
    /// Why a number, an interval or a decision is not there.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(tag = "why")]
    #[expect(
        missing_docs,
        reason = "fields are the numbers of the sentence: n of observations, seconds by `_s`, shares of one"
    )]
    Why {
        /// There are no observations.
        "no-observations" NoObservations,
        /// There is a single one.
        "one-observation" OneObservation,
        /// Fewer than `needed` observations on one side of a percentile.
        "one-side" OneSide { needed: f64, n: u64 },
        /// The observations beyond a percentile depend on each other: they are worth fewer independent ones than an interval needs.
        "few-independent" FewIndependent { independent: f64, needed: f64, requests: u64 },
        /// The observations beyond a percentile lie in too few segments of the measured phase: a few bursts decide it.
        "few-bursts" FewBursts { seen: usize, of: usize, needed: usize },
        /// Fixed work took too few mean response times for the spread of a percentile between its twentieths.
        "short-work" ShortWork { took: f64, needed: f64 },
        /// Too few segments of the measured phase hold observations.
        "segments" Segments { filled: usize, of: usize, needed: usize },
        /// Too few segments of the measured phase are complete.
        "incomplete" Incomplete { filled: usize, of: usize },
        /// Too few segments hold observations for the variance between them.
        "empty-segments" EmptySegments,
        /// Fewer than 30 observations.
        "few-observations" FewObservations { n: u64 },
        /// It lies among requests that were given up.
        "given-up" GivenUp,
        /// More than 1 % of the requests were given up: a mean is a lower bound.
        "mean-given-up" MeanGivenUp { given_up: u64, of: u64 },
        /// It lies beyond the largest observation.
        "beyond-largest" BeyondLargest { n: u64 },
        /// Its upper end lies beyond the largest observation.
        "end-beyond-largest" EndBeyondLargest { n: u64 },
        /// Its upper end lies among requests that were given up.
        "end-given-up" EndGivenUp,
        /// The largest follow a power law, whose variance is infinite.
        "power-law" PowerLaw { index: f64, ci95: Interval },
        /// No headways.
        "no-headways" NoHeadways { started: u64 },
        /// Fewer than two headways.
        "one-headway" OneHeadway,
        /// Too few headways; `needed` where a number is.
        "few-headways" FewHeadways { n: u64, needed: Option<u64> },
        /// The stamps are too coarse for headways.
        "coarse-stamps" CoarseStamps { grid_s: f64, headway_s: Option<f64> },
        /// No window length fits 30 times.
        "no-window" NoWindow,
        /// There is no plan.
        "no-plan" NoPlan,
        /// The headways of the plan are all equal.
        "equal-headways" EqualHeadways,
        /// The plan has several arrivals at one instant: that share of its headways is 0.
        "simultaneous-arrivals" SimultaneousArrivals { share: f64 },
        /// The headways of the plan have no common law.
        "no-common-law" NoCommonLaw,
        /// The file does not tell when requests were due.
        "due-not-told" DueNotTold,
        /// The file does not tell when requests ended.
        "ends-not-told" EndsNotTold,
        /// The file does not tell how requests ended.
        "outcomes-not-told" OutcomesNotTold,
        /// The file does not name users.
        "users-not-named" UsersNotNamed,
        /// Users have several requests at once.
        "several-at-once" SeveralAtOnce { overlap: u64, of: u64 },
        /// Users do not wait for their responses.
        "not-waiting" NotWaiting { overlap: u64, of: u64 },
        /// Users leave and come back.
        "users-leave" UsersLeave,
        /// More users than are followed one by one.
        "many-users" ManyUsers { most: u64 },
        /// No user sent a second request.
        "no-second-request" NoSecondRequest,
        /// Nobody asked for a number of users.
        "users-not-asked" UsersNotAsked,
        /// The records do not tell when users came and went.
        "users-not-told" UsersNotTold,
        /// No think time is known.
        "no-think-time" NoThinkTime,
        /// A response takes less than two steps of the stamps' grid.
        "short-responses" ShortResponses,
        /// Fewer than `needed` requests.
        "few-requests" FewRequests { needed: u64, n: u64 },
        /// More requests than are kept.
        "many-requests" ManyRequests { most: u64 },
        /// The measured phase has no length.
        "no-length" NoLength,
        /// As many arrivals as the closed workload got responses would pile up: the target was busy for that share of the time.
        "would-pile-up" WouldPileUp { busy: f64, rate: f64 },
        /// The servers of the target were busy for that share of the time: independent starts would pile up.
        "servers-busy" ServersBusy { busy: f64 },
        /// So few requests waited for others that the number of servers does not show.
        "no-queue" NoQueue { waited: u64 },
        /// Several numbers of servers fit as well.
        "servers-unknown" ServersUnknown,
        /// Hardly any request came soon after another, as independent ones do.
        "no-short-headways" NoShortHeadways,
        /// Starts share stamps: which of them was served first does not show.
        "tied-starts" TiedStarts,
        /// The stamps are too coarse for service times.
        "coarse-for-services" CoarseForServices { grid_s: f64 },
        /// A station of c servers, first come first served, does not fit: what its service times would depend on.
        "no-station" NoStation { depends_on: DependsOn },
        /// It fits, and under the starts of the file it has another percentile than the file.
        "replay-misses" ReplayMisses { percentile: f64, observed_s: f64, replayed_s: f64 },
        /// Too many requests failed for the others to show the service times.
        "requests-failed" RequestsFailed { failed: u64, n: u64 },
        /// The rate itself changes.
        "rate-changes" RateChanges,
        /// The pattern is that of sessions, whose requests follow one another.
        "of-sessions" OfSessions,
        /// Only of closed workloads.
        "only-closed" OnlyClosed,
        /// Fixed work has no steady state.
        "fixed-work" FixedWork,
        /// The number of requests of a session is not known.
        "requests-not-known" RequestsNotKnown,
        /// Groups of users: more than are shown, or of a size above the number of users.
        "groups" Groups { left_out: usize, too_large: Vec<u64>, users: u64 },
        /// No interval of the length asked for fits.
        "no-interval" NoInterval { interval_s: f64 },
        /// Due times follow from earlier responses.
        "due-follows" DueFollows,
        /// The delays of other shards are not known.
        "other-shards" OtherShards,
        /// No records of single requests were kept to compute it from.
        "no-records" NoRecords,
        /// How long responses lay unread is not known.
        "unread-unknown" UnreadUnknown,
        /// Nothing is sent in a simulation.
        "no-sizes" NoSizes,
        /// Connections of a simulation stand at once.
        "no-connecting" NoConnecting,
        /// No response of the simulation has events: its model or its steps make none.
        "no-events" NoEvents,
        /// A rule is not for this kind of workload.
        "other-workload" OtherWorkload,
        /// Of lateness: what it did to the numbers is judged instead (`effect`).
        "evidence" Evidence,
        /// No rule is for this kind of workload.
        "no-rule" NoRule,
        /// There is no plan to compare with.
        "nothing-to-compare" NothingToCompare,
        /// The interval lies astride the limit.
        "astride-limit" AstrideLimit { n: u64 },
        /// Too few arrivals for an interval.
        "few-arrivals" FewArrivals { n: Option<u64> },
        /// Too few segments for an interval: `filled` ones, or those of a number of windows.
        "few-segments" FewSegments { windows: Option<u64>, filled: Option<usize> },
        /// Too few windows to tell a difference.
        "few-windows" FewWindows { difference: f64, n: u64 },
        /// Less than one start is expected.
        "none-expected" NoneExpected { n: u64 },
        /// As strong by chance in that share of loads.
        "by-chance" ByChance { p: f64 },
        /// Nothing was due in the measured phase.
        "nothing-due" NothingDue,
        /// No request was due after a response.
        "nothing-due-after" NothingDueAfter,
        /// Nearly all requests waited at the connection cap.
        "all-waited" AllWaited,
        /// No arrival found a connection without waiting.
        "none-found" NoneFound,
        /// The system does not tell when requests leave the machine.
        "departures-not-told" DeparturesNotTold,
        /// No request leaves this machine: the target runs on it.
        "nothing-leaves" NothingLeaves,
        /// The log does not tell when the generator stood still.
        "stalls-not-told" StallsNotTold,
        /// No request was watched.
        "none-watched" NoneWatched,
        /// No users are asked for within the segments that are complete.
        "no-users-asked" NoUsersAsked,
        /// The number of requests asked for is not known.
        "work-not-known" WorkNotKnown,
        /// No session of more than one request ended.
        "no-sessions" NoSessions,
        /// Fixed work has no time in which its requests are asked for.
        "no-time-asked" NoTimeAsked,
        /// The run was cut short, so what its sessions would have sent is not known.
        "cut-short" CutShort,
        /// A part of the model is asked for more than it can do: there is no steady state.
        "overloaded" Overloaded,
        /// Requests pile up throughout the measured phase: there is no steady state.
        "piles-up" PilesUp,
        /// No steady state was found.
        "not-steady" NotSteady { because: Option<Box<Stated<Unsteady>>> },
        /// The mean that it should hold is infinite.
        "mean-infinite" MeanInfinite,
        /// The service times have too heavy a tail for an interval of the mean.
        "heavy-tail" HeavyTail,
        /// The service times are too skewed for an interval of the mean of a single run.
        "too-skewed" TooSkewed,
        /// A single run is too short for it.
        "short-run" ShortRun { length_s: f64, needed_s: f64 },
        /// Several runs together are too short for it.
        "short-runs" ShortRuns { length_s: f64, needed_s: f64 },
        /// The load was INVALID, and no bound on what that did to the number is known.
        "invalid-load" InvalidLoad,
        /// Crossed during the run, which it ended; `recovered` where later responses brought the value back.
        "ended-run" EndedRun { at_s: f64, recovered: bool },
        /// A lower bound on the right side of the limit: it is not shown that the limit holds.
        "bound-holds" BoundHolds,
        /// A lower bound: how far the value goes is not known.
        "bound-unknown" BoundUnknown,
        /// What the generator did decides on which side of the limit the number lies: between these, in `unit` (`high` null: no upper end is
        /// known), where that share of the plan was not sent.
        "own-delays" OwnDelays { low: f64, high: Option<f64>, unit: ThresholdUnit, unsent: f64 },
        /// It is not shown that the load was sent as specified, nor what that would do to the number.
        "load-undecided" LoadUndecided,
        /// Too few requests for an interval of the number.
        "few-to-tell" FewToTell,
        /// No steady state; and the number is beyond the limit (in `unit`) in each of the runs, and `grows` with their length.
        "throughout" Throughout { runs: u64, grows: bool, limit: f64, unit: ThresholdUnit, because: Box<Stated<Why>> },
        /// That share of the requests never left, since the connection cap was full.
        "held-at-cap" HeldAtCap { share: f64 },
        /// The interval holds the limit: another run may come out the other way.
        "astride" Astride,
        /// The interval over replications holds the limit.
        "interval-holds-limit" IntervalHoldsLimit,
        /// Judged on the largest, or the smallest, of all replications.
        "extreme" Extreme { largest: bool },
        /// A single run has no interval of this number.
        "single-run" SingleRun,
        /// Too few requests lie beyond the percentile for an interval.
        "few-beyond" FewBeyond,
        /// It is at least `value` seconds.
        "at-least" AtLeast { value: f64 },
        /// A reason of another version: its text is all there is.
        "other" Other,
    }
}

impl Why {
    /// That observations follow such a law.
    pub fn power_law(law: &PowerLaw) -> Why {
        Why::PowerLaw { index: law.index, ci95: law.ci95 }
    }

    /// Whether a simulation gives it for all that depends on a steady state, or on a mean.
    pub fn is_against_a_steady_state(&self) -> bool {
        use Why::{HeavyTail, MeanInfinite, NotSteady, Overloaded, PilesUp};
        matches!(self, Overloaded | PilesUp | NotSteady { .. } | MeanInfinite | HeavyTail)
    }

    /// Whether it says that response times grow for as long as a run lasts.
    pub fn grows(&self) -> bool {
        let unsteady = |why: &Unsteady| matches!(why, Unsteady::Overload { .. } | Unsteady::Growth { .. });
        match self {
            Why::Overloaded | Why::PilesUp => true,
            Why::NotSteady { because: Some(because) } => unsteady(&because.why),
            _ => false,
        }
    }

    /// Whether it says that what began empty has not come to rest, or was not answered: numbers are no larger than they will be.
    pub fn begins_empty(&self) -> bool {
        use Unsteady::{Beginning, Correlated, NoCut, Unanswered};
        let Why::NotSteady { because: Some(because) } = self else { return false };
        matches!(because.why, Beginning { .. } | Correlated { .. } | NoCut { .. } | Unanswered { .. })
    }

    /// Whether this is a reason against intervals of means alone.
    pub fn is_of_means(&self) -> bool {
        matches!(self, Why::MeanInfinite | Why::HeavyTail)
    }
}

/// What the service times of a target depend on that is not first come first served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependsOn {
    /// How many other requests there are, or their order.
    Others,
    /// When the request came.
    Time,
    /// How soon it came after others.
    Rate,
}

reasons! {
    /// What speaks against a steady state of a simulation.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(tag = "why")]
    #[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
    Unsteady {
        /// Fixed work has none.
        "fixed-work" FixedWork,
        /// The simulation was interrupted.
        "interrupted" Interrupted,
        /// A part is asked for that many times what it can do (null: infinitely many), and the number in some part grows.
        "overload" Overload { part: Cleared, load: Option<f64>, growth: Option<Grows> },
        /// The number of requests in a part grows.
        "growth" Growth { growth: Grows },
        /// The plan varies within the measured phase.
        "plan-varies" PlanVaries { what: PlanPart },
        /// A part is down, slow or stalled once.
        "once" Once { part: Cleared, is: Disturbance, from_s: f64 },
        /// That share of the requests got no response.
        "unanswered" Unanswered { share: f64 },
        /// Too few response times.
        "too-few" TooFew,
        /// MSER finds none.
        "no-cut" NoCut { n: u64 },
        /// What is left of a run is short against the relaxation time of the slowest part.
        "beginning" Beginning { kept_s: f64, times: f64, relaxation_s: f64, forgotten: f64 },
        /// What is left holds less than `needed` periods of the model.
        "few-periods" FewPeriods { kept_s: f64, needed: f64, period_s: f64 },
        /// Neighbouring batches are correlated.
        "correlated" Correlated { lag1: f64 },
        /// A reason of another version: its text is all there is.
        "other" Other,
    }
}

reasons! {
    /// How it is known whether the stamps of an audited file are starts or ends.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(tag = "why")]
    #[expect(
        missing_docs,
        reason = "fields are the numbers of the sentence: rows or requests, `pairs` that they are of; `ends`: they are ends"
    )]
    StampsHow {
        /// The format says so.
        "format" Format,
        /// The format says that they are ends, and the times taken are subtracted.
        "subtracted" Subtracted,
        /// The format says that they are ends, and has no times taken: ends stand for starts.
        "no-times" NoTimes,
        /// Requests of a thread overlap; `otherwise`: by the other reading.
        "overlap" Overlap { ends: bool, overlapping: u64, otherwise: u64, pairs: u64 },
        /// Slope of the time between two stamps of a thread over the elapsed time of the second request.
        "slope" Slope { ends: bool, slope: f64, se: f64, n: u64 },
        /// Rows are in the order of stamp + elapsed; `back`: rows that are not, `stamps_back`: by their stamps.
        "by-elapsed" ByElapsed { back: u64, stamps_back: u64, pairs: u64 },
        /// Rows are in the order of the stamps but for `back`; `elapsed_back`: by stamp + elapsed.
        "by-stamps" ByStamps { back: u64, elapsed_back: u64, pairs: u64 },
        /// Not shown: the rows are in the order of the stamps.
        "sorted" Sorted { back: u64, pairs: u64 },
        /// Not shown: nothing tells.
        "untold" Untold { back: u64, elapsed_back: u64, pairs: u64 },
        /// The user says so (`--stamps`); `because`: how the other reading would be known where the user says nothing.
        "user" User { ends: bool, otherwise_ends: bool, because: Box<Stated<StampsHow>> },
        /// A simulation of that seed: virtual time.
        "simulated" Simulated { seed: String },
        /// The run's own clock, read just before the first system call of each request.
        "own-clock" OwnClock,
        /// A reason of another version: its text is all there is.
        "other" Other,
    }
}

/// How fast the number of requests in a part grows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Grows {
    /// Name of the part.
    pub part: Cleared,
    /// Per second.
    pub per_second: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
}

/// What of a plan varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanPart {
    /// The rate.
    Rate,
    /// The number of users.
    Users,
}

/// What happens to a part once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// It is slow.
    Slow,
    /// It is down.
    Down,
    /// It is stalled.
    Stalled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_back_without_its_sentence_and_another_version_s_with_it() {
        let read = |text: &str| serde_json::from_str::<Stated<Why>>(text).unwrap();
        let stated = Stated { why: Why::FewObservations { n: 7 }, text: "too few".into() };
        let written = serde_json::to_string(&stated).unwrap();
        assert_eq!(written, r#"{"why":"few-observations","n":7,"text":"too few"}"#);
        assert_eq!(read(&written), Why::FewObservations { n: 7 }.into());
        for unknown in [
            r#"{"why":"of-a-later-version","x":1,"text":"it rained"}"#,
            r#"{"why":"other","text":"it rained"}"#,
        ] {
            assert_eq!(read(unknown), Stated { why: Why::Other, text: "it rained".into() });
        }
        assert_eq!(read(r#""it rained""#), Stated { why: Why::Other, text: "it rained".into() });
        let nested = Why::NotSteady { because: Some(Box::new(Unsteady::Correlated { lag1: 0.5 }.into())) };
        let written = serde_json::to_string(&Stated::from(nested.clone())).unwrap();
        assert_eq!(read(&written), nested.into(), "{written}");
    }
}
