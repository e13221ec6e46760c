//! The stable tags of the document: which finding, which rule. Code compares these, never sentences.
//!
//! A tag is data: it is written to documents and hashed by nobody, but readers of JSON rely on it. A rename is a new version of the
//! schema. Tags that this version does not know are kept as they were read.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An enum whose variants are written as tags, with one more for the tags of other versions.
macro_rules! tags {
    ($(#[$about:meta])* $name:ident { $($tag:literal $variant:ident $doc:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $(#[doc = $doc] $variant,)*
            /// A tag of another version.
            Other(String),
        }

        impl $name {
            /// Every tag that this version writes.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The tag as the document has it.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $tag,)*
                    $name::Other(tag) => tag,
                }
            }
        }

        impl From<&str> for $name {
            fn from(tag: &str) -> $name {
                match tag {
                    $($tag => $name::$variant,)*
                    other => $name::Other(other.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(tag: String) -> $name {
                $name::from(tag.as_str())
            }
        }

        impl From<$name> for String {
            fn from(tag: $name) -> String {
                tag.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Default for $name {
            /// The tag of a document that has none.
            fn default() -> $name {
                $name::Other(String::new())
            }
        }
    };
}

tags! {
    /// Which finding.
    FindingId {
        "aborted" Aborted "A threshold ended the run.",
        "interrupted" Interrupted "The run was cut short.",
        "unsent-steps" UnsentSteps "Requests were not sent because a step before them had failed.",
        "unsent" Unsent "Requests were not sent.",
        "off-rate" OffRate "More or fewer requests started than expected.",
        "late" Late "Requests started late.",
        "uplink" Uplink "Requests stayed in the send queues of the generator's machine.",
        "target-window" TargetWindow "Requests waited until the target read.",
        "bunched" Bunched "Starts are more bunched than planned.",
        "smoothed" Smoothed "Starts are more even than planned.",
        "serialised" Serialised "One thread's sends cannot overlap.",
        "feedback" Feedback "Responses shaped the load.",
        "no-steady-state" NoSteadyState "A simulation has no steady state.",
        "overloaded" Overloaded "A part of a model has more work than it can do, and rejects requests.",
        "heavy-tail" HeavyTail "The mean response time has no interval.",
        "turned-away" TurnedAway "Most requests of a closed simulation are rejections.",
        "not-steady" NotSteady "Response times or requests in flight change through the measured phase.",
        "stall" Stall "The generator's threads stood still.",
        "saturated" Saturated "Workers of the generator were saturated.",
        "local-limit" LocalLimit "The generator's machine lacked something.",
        "unaccounted" Unaccounted "Requests started of which no record tells the end.",
        "disordered" Disordered "Starts were reported out of order.",
        "coarse-stamps" CoarseStamps "Time stamps are too coarse for headways.",
        "short-run" ShortRun "The run is too short to decide.",
        "censored" Censored "Requests without a response make percentiles lower bounds.",
        "errors" Errors "Requests failed.",
        "unreachable" Unreachable "The system said that datagrams do not arrive.",
        "surplus" Surplus "Connections were replaced, since bytes came on them that no request had asked for.",
        "sent-again" SentAgain "The target gave requests back unread, and they were sent again.",
        "redirects" Redirects "Responses were redirects, which were not followed.",
        "names-not-read" NamesNotRead "The name that connections go to could not be read again.",
        "longest-gaps" LongestGaps "A few pauses change the arrival pattern.",
        "periodic" Periodic "The starts have a period.",
        "fixed-population" FixedPopulation "Counts over long windows vary less than those of independent users.",
        "closed-loop" ClosedLoop "What the response times of a closed workload are.",
        "fixed-work" FixedWork "What the response times of fixed work are.",
        "in-pause" InPause "Arrivals started within a pause of the plan.",
        "same-host" SameHost "Generator and target share a machine.",
        "ports" Ports "Local ports may run out.",
        "proxy-not-used" ProxyNotUsed "The environment names a proxy, which the run did not use.",
        "same-seed" SameSeed "Two generators sent the same headways.",
        "in-step" InStep "Generators or users were started in step.",
        "changing-rate" ChangingRate "The rate is not the same throughout.",
        "saturation" Saturation "All users wait: the target sets the rate.",
        "constant-rate" ConstantRate "Requests leave on a schedule of constant rate.",
        "fixed-think" FixedThink "The think time is fixed.",
        "fixed-pacing" FixedPacing "Each user keeps a rate.",
        "timer-ticks" TimerTicks "Starts keep to the ticks of a timer.",
        "generator-pauses" GeneratorPauses "The generator stood still.",
        "feedback-loop" FeedbackLoop "The target's stalls shape the load.",
        "interruption" Interruption "The load was interrupted.",
        "few-users" FewUsers "Few users make an even load.",
        "unknown-cause" UnknownCause "The rows do not tell the cause.",
        "sessions-judged" SessionsJudged "An audit judged starts of sessions.",
        "start-or-end" StartOrEnd "A file does not tell whether its stamps are starts or ends.",
        "far-stamps" FarStamps "Rows with stamps far from all others were left out.",
        "log-lost" LogLost "The log could not be written to its end.",
        "log-cut-short" LogCutShort "The log has no end mark.",
        "joined-late" JoinedLate "The run joined a plan that had begun.",
        "clock-off" ClockOff "The clocks of the machines of a run differ.",
        "clock-free" ClockFree "Nothing keeps the machine's clock right.",
        "store-failed" StoreFailed "The destination of the shards failed for a while.",
        "shards-apart" ShardsApart "The shards of a run did not start together.",
        "records-missing" RecordsMissing "Records of some shards are missing.",
    }
}

tags! {
    /// Which rule: of the load, or of the arrival pattern.
    RuleId {
        "sent-share" SentShare "Sent / planned arrivals.",
        "requests-sent" RequestsSent "Sent / due, of requests that are due after a response.",
        "effect" Effect "By how much the generator's delays moved the numbers.",
        "late-share" LateShare "Share that started late.",
        "departed-late" DepartedLate "Share that left the machine late.",
        "bunching" Bunching "Squared CoV of headways, started less intended.",
        "dispersion" Dispersion "Index of dispersion of counts, per window.",
        "users-held" UsersHeld "Live users / specified.",
        "sockets-held" SocketsHeld "Sockets kept connecting / specified.",
        "stood-still" StoodStill "Time in which the generator stood still / all of it.",
        "all-issued" AllIssued "Requests sent / specified, of fixed work.",
        "shards-together" ShardsTogether "Time for which all shards had begun / time taken, of fixed work.",
        "cov" Cov "CoV of the headways.",
        "ks" Ks "Distance of the headways from an exponential law.",
        "lag1" Lag1 "Correlation of successive headways.",
        "line" Line "Amplitude of the strongest period.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_read_as_it_is_written() {
        let all: Vec<&str> = FindingId::ALL.iter().map(FindingId::as_str).collect();
        let findings: Vec<FindingId> = FindingId::ALL.iter().map(|id| id.as_str().into()).collect();
        let rules: Vec<RuleId> = RuleId::ALL.iter().map(|id| id.as_str().into()).collect();
        assert!(findings == FindingId::ALL && rules == RuleId::ALL);
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
        let other = FindingId::from("of-a-later-version");
        assert_eq!(
            (other.as_str(), &other),
            ("of-a-later-version", &FindingId::Other("of-a-later-version".into()))
        );
    }
}
