//! The reader of one threshold, and errors that say where it stopped and what it would have taken.
//!
//! Deliberately absent: lists (a flag is repeated, a scenario has a sequence), and k6's combinations by `&&`.

use super::{Aggregate, Metric, Threshold, Typed};
use crate::metric::Taken;
use crate::summary::{Operator, ThresholdUnit};
use headway_base::units;
use headway_redact::{Cleared, Redactor};
use std::fmt;

/// A threshold that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThresholdError {
    /// What was given.
    pub given: String,
    /// The sign at which it cannot go on, counted from 1.
    pub column: usize,
    /// What is wrong there, and what would be accepted.
    pub message: String,
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threshold '{}', column {}: {}", self.given, self.column, self.message)
    }
}

impl std::error::Error for ThresholdError {}

/// What users of k6 write, and what it is called here.
const K6: [(&str, &str); 9] = [
    (
        "http_req_duration",
        "k6's http_req_duration counts from the send: that is service here; response counts from when a request was due",
    ),
    ("http_req_failed", "k6's http_req_failed is failed here"),
    ("http_req_waiting", "k6's http_req_waiting is first_byte here"),
    ("http_req_connecting", "k6's http_req_connecting is connect here, TLS handshake included"),
    ("http_req_blocked", "k6's http_req_blocked is blocked here"),
    ("http_reqs", "k6's http_reqs is started here"),
    ("iterations", "k6's iterations is started here"),
    ("data_received", "k6's data_received is bytes here, per answer"),
    ("iteration_duration", "k6's iteration_duration has no counterpart here"),
];

/// The metric of that name that a threshold may speak of.
fn judged(name: &str) -> Option<Metric> {
    Metric::named(name).filter(|metric| metric.judged)
}

const AGGREGATES: [&str; 8] = ["p(99)", "avg", "mean", "med", "min", "max", "rate", "count"];

/// Reads a text sign by sign.
pub(crate) struct Reader<'a> {
    given: &'a str,
    at: usize,
}

pub(super) fn threshold(text: &str, gate: &Redactor) -> Result<Threshold, ThresholdError> {
    let given = text.trim();
    let mut reader = Reader::new(given);
    let (metric, step) = reader.prefix()?;
    let aggregate = reader.aggregate(metric)?;
    if step.is_some() && !metric.by_step {
        return Err(reader.error(
            0,
            format!("the {metric} is that of the generator, not of a step: leave out the {{step:...}}"),
        ));
    }
    let operator = reader.operator()?;
    let limit = reader.limit(metric.unit_of(aggregate))?;
    let shown = step.as_ref().map(|step| gate.clear(step));
    let text = self::shown(given, step.as_deref().zip(shown.as_ref()));
    let typed = Typed { text: given.to_owned(), step };
    Ok(Threshold { text, metric, step: shown, aggregate, operator, limit, abort_after: None, typed })
}

/// What was typed, with its label as it is shown. What stands around a label is of the grammar, names of this program's and numbers, and can
/// hold no secret; a gate which knows a short one would hide the limit.
pub(crate) fn shown(given: &str, label: Option<(&str, &Cleared)>) -> Cleared {
    let grammar = Redactor::showing_all();
    let Some((typed, label)) = label else { return grammar.clear(given) };
    // Behind `step:`, which a label may repeat.
    let from = given.find(':').map_or(0, |colon| colon + 1);
    let at = given[from..].find(typed).map_or(given.len(), |at| from + at);
    let rest = given.get(at + typed.len()..).unwrap_or_default();
    Cleared::concat(&[grammar.clear(&given[..at]), label.clone(), grammar.clear(rest)])
}

impl<'a> Reader<'a> {
    pub(crate) fn new(given: &'a str) -> Reader<'a> {
        Reader { given, at: 0 }
    }

    /// Where it is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.given[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.given.len() - self.rest().trim_start().len();
    }

    pub(crate) fn take(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// A name, and where it began.
    pub(crate) fn word(&mut self) -> (&'a str, usize) {
        self.blanks();
        let from = self.at;
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_'));
        self.at = end.map_or(self.given.len(), |end| from + end);
        (&self.given[from..self.at], from)
    }

    fn error(&self, at: usize, message: impl Into<String>) -> ThresholdError {
        let column = self.given[..at].chars().count() + 1;
        ThresholdError { given: self.given.to_owned(), column, message: message.into() }
    }

    /// `METRIC:` or `METRIC{step:LABEL}:`; without one it is the response time.
    fn prefix(&mut self) -> Result<(Metric, Option<String>), ThresholdError> {
        let (word, from) = self.word();
        let step = if self.take("{") { Some(self.step()?) } else { None };
        if self.take(":") {
            return Ok((self.metric(word, from)?, step));
        }
        if step.is_some() {
            return Err(self.error(self.at, format!("a ':' belongs here: {word}{{step:...}}: p(99)<100")));
        }
        let known = judged(word).is_some() && !AGGREGATES.contains(&word);
        if known || K6.iter().any(|(name, _)| *name == word) {
            self.metric(word, from)?;
            return Err(self.error(self.at, format!("a ':' belongs after the metric: {word}: ...")));
        }
        self.at = 0;
        Ok((Metric::RESPONSE, None))
    }

    /// `step:LABEL}`. The label may hold any sign: the last brace closes it, for none can follow.
    pub(crate) fn step(&mut self) -> Result<String, ThresholdError> {
        let (key, from) = self.word();
        if key != "step" || !self.take(":") {
            return Err(self.error(from, "only a step can be selected: {step:LABEL}"));
        }
        let from = self.at;
        let Some(end) = self.rest().rfind('}') else {
            return Err(self.error(from, "a '}' is missing after the step's label"));
        };
        let label = self.rest()[..end].trim();
        if label.is_empty() {
            return Err(self.error(from, "the step's label is missing: {step:LABEL}"));
        }
        self.at += end + 1;
        Ok(label.to_owned())
    }

    fn metric(&self, word: &str, from: usize) -> Result<Metric, ThresholdError> {
        if let Some(metric) = judged(word) {
            return Ok(metric);
        }
        let all = || Metric::all().filter(|metric| metric.judged);
        let names =
            || all().map(|metric| metric.name).chain(all().flat_map(|metric| metric.aliases).copied());
        let k6 = K6.iter().find(|(name, _)| *name == word).map(|(_, hint)| (*hint).to_owned());
        let near = || units::nearest(word, names()).map(|near| format!("did you mean {near}?"));
        let hint = k6
            .or_else(near)
            .unwrap_or_else(|| format!("write one of {}", names().collect::<Vec<_>>().join(", ")));
        Err(self.error(from, format!("'{word}' is no metric; {hint}")))
    }

    fn aggregate(&mut self, metric: Metric) -> Result<Aggregate, ThresholdError> {
        let (word, from) = self.word();
        let accepted = match metric.taken {
            Taken::Failures => "write failed: rate<1% or failed: count<10",
            Taken::Starts => "write started: rate>190/s or started: count>1000",
            _ => "write p(99), avg, med, min, max or count",
        };
        let aggregate = match word {
            "p" => {
                if !self.take("(") {
                    return Err(self.error(self.at, "a percentile needs its number: p(99)"));
                }
                Aggregate::Percentile(self.percentile()?)
            }
            "avg" | "mean" => Aggregate::Mean,
            "med" => Aggregate::Percentile(50.0),
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            "rate" => Aggregate::Rate,
            "count" => Aggregate::Count,
            "" => return Err(self.error(from, format!("here the number is missing; {accepted}"))),
            // p99, as everybody says it.
            other if other.strip_prefix('p').is_some_and(|n| n.parse::<f64>().is_ok()) => {
                return Err(self.error(from, format!("'{other}' is written p({})", &other[1..])));
            }
            other => {
                let near = units::nearest(other, AGGREGATES);
                let hint = near.map_or(accepted.to_owned(), |near| format!("did you mean {near}?"));
                return Err(self.error(from, format!("'{other}' is no number of {metric}; {hint}")));
            }
        };
        let counted = !metric.is_distribution();
        let suits = aggregate == Aggregate::Count || counted == (aggregate == Aggregate::Rate);
        if !suits {
            let hint = if counted {
                accepted
            } else {
                "rate is of failed or started; write p(99), avg, med, min, max or count"
            };
            return Err(self.error(from, format!("{metric} has no {aggregate}; {hint}")));
        }
        Ok(aggregate)
    }

    pub(crate) fn percentile(&mut self) -> Result<f64, ThresholdError> {
        self.blanks();
        let from = self.at;
        let Some(end) = self.rest().find(')') else {
            return Err(self.error(self.given.len(), "a ')' is missing: p(99)"));
        };
        let text = self.rest()[..end].trim();
        self.at += end + 1;
        let percentile = text.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 100.0);
        percentile.ok_or_else(|| {
            self.error(
                from,
                format!("'{text}' is not a percentile: write a number above 0 and below 100, such as 99.9"),
            )
        })
    }

    fn operator(&mut self) -> Result<Operator, ThresholdError> {
        self.blanks();
        let found = Operator::ALL.iter().find(|(name, _)| self.rest().starts_with(name));
        let Some((name, operator)) = found else {
            let rest = self.rest();
            let what = if rest.is_empty() {
                "here the limit is missing".into()
            } else {
                format!("'{rest}' does not begin with a comparison")
            };
            return Err(self.error(
                self.at,
                format!("{what}; write <, <=, >, >=, == or != and the limit, such as <100ms"),
            ));
        };
        self.at += name.len();
        // k6 takes === for ==.
        if *operator == Operator::Equal && self.rest().starts_with('=') {
            self.at += 1;
        }
        Ok(*operator)
    }

    fn limit(&mut self, unit: ThresholdUnit) -> Result<f64, ThresholdError> {
        self.blanks();
        let (text, from) = (self.rest(), self.at);
        let bare = text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
        let (limit, wanted) = match unit {
            ThresholdUnit::Seconds => (
                bare.map(|ms| ms / 1e3).or_else(|| Some(units::parse_time(text).ok()?.as_secs_f64())),
                "a time: write for example 100 (milliseconds), 100ms, 250us or 1.5s",
            ),
            ThresholdUnit::Bytes => (
                units::parse_size(text).ok().map(|bytes| bytes as f64),
                "a size: write for example 512, 10KiB or 1.5MB",
            ),
            ThresholdUnit::Count => (
                units::parse_count(text).ok().map(|n| n as f64),
                "a count: write for example 10, 10k or 1.5m",
            ),
            ThresholdUnit::PerSecond => (
                units::parse_rate(text).ok().map(|rate| rate.0),
                "a rate: write for example 200, 200/s, 10k or 30/1m",
            ),
            ThresholdUnit::Share => {
                let percent = text.strip_suffix('%').and_then(|n| n.trim().parse().ok());
                let share =
                    percent.map(|n: f64| n / 100.0).or(bare).filter(|share| (0.0..=1.0).contains(share));
                (share, "a share: write for example 0.01 or 1%, at most 1 or 100%")
            }
        };
        limit.ok_or_else(|| match text {
            "" => self.error(from, format!("here the limit is missing; it is {wanted}")),
            _ => self.error(from, format!("'{text}' is not {wanted}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(name: &str) -> Metric {
        Metric::named(name).unwrap()
    }

    /// Every name of a metric that a threshold may speak of.
    fn every() -> Vec<(&'static str, Metric)> {
        let judged = Metric::all().filter(|metric| metric.judged);
        judged.flat_map(|metric| metric.names().map(move |name| (name, metric))).collect()
    }

    fn parts(text: &str) -> (Metric, Option<Cleared>, Aggregate, Operator, f64) {
        let t: Threshold = text.parse().unwrap_or_else(|e| panic!("{e}"));
        (t.metric, t.step, t.aggregate, t.operator, t.limit)
    }

    /// A label with a secret is called as labels of steps are, and what is written can be read again; a secret that is as short as a limit
    /// hides none.
    #[test]
    fn a_threshold_passes_the_gate_and_stays_one() {
        let typed: Threshold = "response{step:GET /a?token=s3cr3t}: p(99)<100".parse().unwrap();
        let (label, text) = ("GET /a?token=<redacted>", "response{step:GET /a?token=<redacted>}: p(99)<100");
        assert_eq!((typed.step.as_deref(), typed.text.as_str()), (Some(label), text));
        let again: Threshold = typed.text.parse().unwrap();
        assert_eq!((again.step.as_deref(), again.text.as_str()), (Some(label), text));
        let mut gate = Redactor::default();
        for secret in ["100", "plain", "s3cr3t"] {
            gate.know(secret);
        }
        let past = typed.past(&gate, &[]);
        assert_eq!((past.step.as_deref(), past.text.as_str()), (Some(label), text));
        let plain: Threshold = "response{step:plain}: p(99)<100".parse().unwrap();
        assert_eq!(plain.past(&gate, &[]).text, "response{step:<redacted>}: p(99)<100");
        // Where labels are shown as they are, so is the threshold's.
        assert_eq!(plain.past(&gate, &["plain".into()]).step.as_deref(), Some("plain"));
        assert!(!format!("{typed:?}").contains("s3cr3t"));
    }

    #[test]
    fn what_k6_users_write_means_what_they_mean() {
        use Aggregate::*;
        use Operator::*;
        let check = |text: &str, metric, aggregate, operator, limit: f64| {
            assert_eq!(parts(text), (metric, None, aggregate, operator, limit), "{text}");
        };
        check("p(99)<100", Metric::RESPONSE, Percentile(99.0), Below, 0.1);
        check(" p( 99.9 ) <= 1.5s ", Metric::RESPONSE, Percentile(99.9), AtMost, 1.5);
        check("med<250us", Metric::RESPONSE, Percentile(50.0), Below, 250e-6);
        check("response: avg < 0.5", Metric::RESPONSE, Mean, Below, 0.0005);
        check("response_ok:mean<0.5ms", Metric::RESPONSE_OK, Mean, Below, 0.0005);
        check("failed: rate < 0.001", Metric::FAILED, Rate, Below, 0.001);
        check("failed:rate<=1%", Metric::FAILED, Rate, AtMost, 0.01);
        check("failed: count===0", Metric::FAILED, Count, Equal, 0.0);
        check("started: rate>190/s", named("started"), Rate, Above, 190.0);
        check("rate: rate>=12k/1m", named("started"), Rate, AtLeast, 200.0);
        check("bytes: max!=10KiB", named("bytes"), Max, Other, 10_240.0);
        check("lag: p(99) < 1", named("lag"), Percentile(99.0), Below, 0.001);
        check("connect: p(95)<50ms", named("connect"), Percentile(95.0), Below, 0.05);
        check("blocked: min >= 0", named("blocked"), Min, AtLeast, 0.0);
        check("count>1k", Metric::RESPONSE, Count, Above, 1_000.0);
        let step = |text: &str| parts(text).1;
        assert_eq!(step("response{step:add}: p(99)<200").as_deref(), Some("add"));
        assert_eq!(step("service { step : a } b: c } : p(99)<200").as_deref(), Some("a } b: c"));
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_would_be_accepted() {
        let check = |text: &str, told: &str| {
            let error = text.parse::<Threshold>().expect_err(text);
            assert_eq!(format!("{}: {}", error.column, error.message), told, "{text}");
        };
        check("", "1: here the number is missing; write p(99), avg, med, min, max or count");
        check("p99<100", "1: 'p99' is written p(99)");
        check("p(0)<100", "3: '0' is not a percentile: write a number above 0 and below 100, such as 99.9");
        check("p(100)<1", "3: '100' is not a percentile: write a number above 0 and below 100, such as 99.9");
        check("p(99<100", "9: a ')' is missing: p(99)");
        check("p<100", "2: a percentile needs its number: p(99)");
        check(
            "average<100",
            "1: 'average' is no number of response; write p(99), avg, med, min, max or count",
        );
        check("coun<100", "1: 'coun' is no number of response; did you mean count?");
        check(
            "rate<0.01",
            "1: response has no rate; rate is of failed or started; write p(99), avg, med, min, max or count",
        );
        check("failed: p(99)<1", "9: failed has no p(99); write failed: rate<1% or failed: count<10");
        check("failed: rate<5", "14: '5' is not a share: write for example 0.01 or 1%, at most 1 or 100%");
        check("failed rate<5", "8: a ':' belongs after the metric: failed: ...");
        check("respons: p(9)<1", "1: 'respons' is no metric; did you mean response?");
        check(
            "http_req_failed: rate<0.01",
            "1: 'http_req_failed' is no metric; k6's http_req_failed is failed here",
        );
        check(
            "x: p(9)<1",
            "1: 'x' is no metric; write one of response, response_ok, service, first_byte, connect, first_event, event_gap, \
             lag, blocked, bytes, failed, started, rate",
        );
        check(
            "p(99)=100",
            "6: '=100' does not begin with a comparison; write <, <=, >, >=, == or != and the limit, such as <100ms",
        );
        check(
            "p(99)",
            "6: here the limit is missing; write <, <=, >, >=, == or != and the limit, such as <100ms",
        );
        check(
            "p(99)<",
            "7: here the limit is missing; it is a time: write for example 100 (milliseconds), 100ms, 250us or 1.5s",
        );
        check(
            "p(99)<-1",
            "7: '-1' is not a time: write for example 100 (milliseconds), 100ms, 250us or 1.5s",
        );
        check(
            "p(99)<1 && p(9)<1",
            "7: '1 && p(9)<1' is not a time: write for example 100 (milliseconds), 100ms, 250us or 1.5s",
        );
        check("bytes: avg<1s", "12: '1s' is not a size: write for example 512, 10KiB or 1.5MB");
        check("started: rate>fast", "15: 'fast' is not a rate: write for example 200, 200/s, 10k or 30/1m");
        check("failed: count<1.5", "15: '1.5' is not a count: write for example 10, 10k or 1.5m");
        check("response{label:x}: p(9)<1", "10: only a step can be selected: {step:LABEL}");
        check("response{step:}: p(9)<1", "15: the step's label is missing: {step:LABEL}");
        check("response{step:x: p(9)<1", "15: a '}' is missing after the step's label");
        check("response{step:x} p(9)<1", "18: a ':' belongs here: response{step:...}: p(99)<100");
        check(
            "lag{step:x}: p(9)<1",
            "1: the lag is that of the generator, not of a step: leave out the {step:...}",
        );
        let error = "p(99)<x".parse::<Threshold>().unwrap_err().to_string();
        assert!(error.starts_with("threshold 'p(99)<x', column 7: 'x' is not a time"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            metric in prop::sample::select(every()),
            step in prop::option::of("[a-z/:} {]{0,5}[a-z]"),
            number in 0usize..6,
            percentile in 0.001f64..99.999,
            operator in prop::sample::select(Operator::ALL.to_vec()),
            limit in 1u32..1_000_000,
            blank in "[ \t]{0,2}",
        ) {
            let (name, metric) = metric;
            let step = step.filter(|_| metric.by_step).map(|s| s.trim().to_owned());
            let aggregate = match (metric, number) {
                (_, 0) => Aggregate::Count,
                _ if !metric.is_distribution() => Aggregate::Rate,
                (_, 1) => Aggregate::Mean,
                (_, 2) => Aggregate::Min,
                (_, 3) => Aggregate::Max,
                _ => Aggregate::Percentile(percentile),
            };
            let (unit, value) = match metric.unit_of(aggregate) {
                ThresholdUnit::Seconds => ("us", f64::from(limit) / 1e6),
                ThresholdUnit::Bytes => ("KiB", f64::from(limit) * 1024.0),
                ThresholdUnit::PerSecond => ("/s", f64::from(limit)),
                ThresholdUnit::Share => ("%", f64::from(limit % 101) / 100.0),
                ThresholdUnit::Count => ("", f64::from(limit)),
            };
            let limit = if unit == "%" { limit % 101 } else { limit };
            let selector = step.as_ref().map_or(String::new(), |s| format!("{{step:{blank}{s}}}"));
            let text = format!("{name}{blank}{selector}{blank}:{blank}{aggregate}{blank}{}{blank}{limit}{unit}", operator.0);
            let seen = parts(&text);
            prop_assert_eq!((seen.0, &seen.1, seen.2, seen.3), (metric, &step.as_deref().map(headway_redact::clear), aggregate, operator.1), "{}", text);
            prop_assert!((seen.4 - value).abs() <= 1e-12 * value, "{}: {}", text, seen.4);
        }

        #[test]
        fn no_text_breaks_the_reader(text in "\\PC{0,40}|[a-z_(){}:<>=!%0-9. ]{0,30}") {
            if let Err(error) = text.parse::<Threshold>() {
                prop_assert!(error.column <= error.given.chars().count() + 1);
            }
        }
    }
}
