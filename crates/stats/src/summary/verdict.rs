//! The document's verdict: load, pattern, findings, rules.

use super::{Effect, Evidence, FindingId, Interval, RuleId, Stated, Text, Why};
use serde::{Deserialize, Serialize};

/// Was the load sent as specified, and do its starts look like those of independent users? Never merged into one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// Was it sent as specified? Null where there is no plan to compare with.
    pub load: Option<LoadVerdict>,
    /// What held requests back that the load rules do not count against the generator; null where nothing did.
    pub limited_by: Option<LimitedBy>,
    /// What the starts look like.
    pub pattern: Pattern,
    /// Longest window, in seconds, up to which the starts were shown to be like those of independent users: at it and at
    /// every shorter one the index of dispersion lies within 0.8 to 1.2 with its interval. Null unless independent.
    pub pattern_scale_s: Option<f64>,
    /// Why the scale ends there; null unless independent.
    pub pattern_scale_end: Option<ScaleEnd>,
    /// What the pattern rests on: `cov`, `ks`, `lag1`, `line` (its period in `window`), and `dispersion` per window.
    pub pattern_rules: Vec<RuleResult>,
    /// About how many arrivals would decide an undecided pattern; null where that is not known.
    pub pattern_needs: Option<u64>,
    /// The pattern with the longest headways left out (with them, if it is judged without), where that differs.
    pub pattern_otherwise: Option<Pattern>,
    /// After how many seconds the starts repeat themselves exactly; null where they do not.
    pub pattern_repeats_s: Option<f64>,
    /// How many starts every second has, where the number is the same in each.
    pub starts_each_second: Option<u64>,
    /// What a reader must know, the most severe first.
    pub findings: Vec<Finding>,
    /// Every rule with its value, interval and tolerance.
    pub rules: Vec<RuleResult>,
    /// What the generator's own delays did to the numbers; null where that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The longest lateness, in seconds, that is forgiven in the rules `late-share`, `bunching` and `dispersion`. Null where it is not known
    /// when requests were due.
    #[serde(alias = "time_scale_s")]
    pub lateness_s: Option<f64>,
}

/// What held requests back although the generator could have sent them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitedBy {
    /// `connections`: the connection cap.
    pub what: String,
    /// The cap, if it is known.
    pub limit: Option<u64>,
    /// Share of the requests that waited for a connection for longer than 1 ms, or were given up.
    pub share: f64,
    /// The share up to which this is not worth a word, and above which `--strict` exits with 97.
    pub tolerated: f64,
    /// Requests that waited for longer than that, and were then sent.
    pub waited: u64,
    /// Requests that were given up before there was a connection for them.
    pub given_up: u64,
    /// All requests of the measured phase.
    pub n: u64,
}

impl LimitedBy {
    /// Whether it is worth a word.
    pub fn matters(&self) -> bool {
        self.share > self.tolerated
    }
}

/// Was it sent as specified?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LoadVerdict {
    /// Every rule that applies was shown to hold.
    Valid,
    /// A rule was shown not to hold.
    Invalid,
    /// No rule failed, and at least one could not be decided.
    Inconclusive,
}

/// Are the starts like those of independent users?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// As a Poisson process.
    Independent,
    /// More variable than independent users.
    Bunched,
    /// More regular than independent users.
    Even,
    /// Starts keep a period, and otherwise vary about as those of independent users.
    Periodic,
    /// Too few arrivals to tell.
    Undecided,
    /// Nothing to judge.
    #[default]
    #[serde(rename = "n/a")]
    NotApplicable,
}

impl Pattern {
    /// Its word, in reports as in the document.
    pub fn word(self) -> &'static str {
        match self {
            Pattern::Independent => "independent",
            Pattern::Bunched => "bunched",
            Pattern::Even => "even",
            Pattern::Periodic => "periodic",
            Pattern::Undecided => "undecided",
            Pattern::NotApplicable => "n/a",
        }
    }

    /// Whether a load of this pattern was judged without its longest pauses, where the pattern is `otherwise` with them; else it was
    /// judged with them.
    pub fn is_judged_without_pauses(self, otherwise: Pattern) -> bool {
        self == Pattern::Even || (otherwise == Pattern::Undecided && self != Pattern::Undecided)
    }
}

/// Why the time scale of an independent load ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleEnd {
    /// The load is too short to show more.
    Length,
    /// Over longer windows counts vary less than those of independent users.
    Fewer,
    /// Over longer windows counts vary more than those of independent users, because the rate changes slowly.
    Drift,
    /// Over longer windows counts vary a little more than those of independent users; not by more than is tolerated.
    More,
}

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Info,
    /// The numbers need care.
    Warning,
    /// The load was not what was specified, or the numbers do not mean what they seem to.
    Error,
}

/// One thing to know about the run: effect, when, and cause.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// Stable identifier, e.g. `late`.
    pub id: FindingId,
    /// How much it matters.
    pub severity: Severity,
    /// Effect and cause in plain sentences: written by the report from `evidence`, and shown as read where there is none.
    pub text: Text,
    /// What the sentences are made from, in their order.
    #[serde(deserialize_with = "super::evidence::read", skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Size of the effect; its unit is that of the evidence which has it.
    pub value: Option<f64>,
    /// 95 % interval of the value.
    pub interval: Option<Interval>,
    /// The tolerance that the value was held against.
    pub limit: Option<f64>,
    /// When, as ranges of seconds since the plan's zero; empty means throughout or not tied to a time.
    pub at: Vec<[f64; 2]>,
    /// Number of observations behind it.
    pub n: u64,
    /// The row of `rules` that its value, interval and n are of; null for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRow>,
}

/// Names a row of the load rules.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleRow {
    /// Which rule.
    pub id: RuleId,
    /// Window of the `dispersion` rule, in seconds; null for the others.
    pub window: Option<f64>,
    /// The values that it tolerates.
    pub limits: Limits,
}

/// One row of the table of load rules.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleResult {
    /// Which rule.
    pub rule: RuleId,
    /// Window of the `dispersion` rule; null for the others.
    pub window: Option<f64>,
    /// The statistic.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The values that are tolerated.
    pub limits: Limits,
    /// What follows.
    pub outcome: RuleOutcome,
    /// Number of observations behind the value.
    pub n: u64,
    /// Why it is undecided or does not apply; null otherwise.
    pub reason: Option<Stated<Why>>,
}

/// A range of tolerated values; an open end is null.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Smallest tolerated value.
    pub low: Option<f64>,
    /// Largest tolerated value.
    pub high: Option<f64>,
}

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleOutcome {
    /// The interval lies inside the limits.
    Pass,
    /// The interval lies outside the limits.
    Fail,
    /// The interval lies astride a limit, or could not be computed.
    Undecided,
    /// The rule is not for this kind of workload.
    #[default]
    NotApplicable,
}
