//! Sentences about an audit: which files were read and how, what was judged, users by Little's law, missing numbers.
//!
//! Each is a [`Fact`], a name and a text, so that every output shows the same ones in its own layout. Absent: tables, and
//! the findings, which come as sentences already.

use super::Tone;
use crate::format::{chosen, chosen_time, count, number, plural, rate, share, share_of, time};
use stats::Summary;
use stats::summary::{Audit, AuditFile, Closed, Pattern, Stream};
use std::collections::BTreeMap;

/// Something to know: `stamps`, `starts (the format stamps starts)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// What it is about, in a word or two.
    pub name: &'static str,
    /// What there is to know.
    pub text: String,
    /// How good that is.
    pub tone: Tone,
}

fn fact(name: &'static str, text: impl Into<String>) -> Fact {
    Fact { name, text: text.into(), tone: Tone::Plain }
}

fn warning(name: &'static str, text: impl Into<String>) -> Fact {
    Fact { tone: Tone::Warn, ..fact(name, text) }
}

fn dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

/// Half the width of a 95 % interval, in standard errors.
const Z95: f64 = 1.96;

/// Above this rate x resolution headways describe the stamps and not the users.
pub const COARSE: f64 = 0.5;

/// Reasons and examples that are shown of one kind; the JSON document holds all.
const MOST: usize = 3;

/// Whether the stamps are too coarse for headways to decide anything.
pub fn is_coarse(audit: &Audit) -> bool {
    !audit.resolution.headways_decide && audit.resolution.rate_x_q.is_some_and(|x| x > COARSE)
}

/// What is judged: requests, or the sessions that they belong to.
pub fn judged(summary: &Summary) -> &'static str {
    match summary.audit.as_ref().map(|audit| audit.stream) {
        Some(Stream::Sessions) => "sessions",
        _ => "requests",
    }
}

/// What the pattern of an audit rests on, and its cause if one is named; follows the sentence on the pattern. Nothing
/// for anything but an audit.
pub(super) fn evidence(summary: &Summary) -> String {
    let Some(audit) = &summary.audit else { return String::new() };
    let arrivals = &summary.arrivals;
    let ground = match (arrivals.cov, arrivals.cov_se) {
        _ if is_coarse(audit) && summary.verdict.pattern == Pattern::Undecided => String::new(),
        _ if is_coarse(audit) => format!(
            " (judged by counts in windows: stamps of {} are too coarse for headways)",
            chosen_time(audit.resolution.grid_s)
        ),
        (Some(cov), Some(se)) => {
            let reach = Z95 * se;
            format!(
                " (CoV {}, 95 % interval {} to {})",
                number(cov),
                number((cov - reach).max(0.0)),
                number(cov + reach)
            )
        }
        (Some(cov), None) => format!(" (CoV {})", number(cov)),
        _ => String::new(),
    };
    let off = matches!(summary.verdict.pattern, Pattern::Bunched | Pattern::Even);
    let cause = match audit.cause.as_deref() {
        None | Some("") => String::new(),
        Some("unknown" | "unknown-cause") if off => ". The rows do not say why".into(),
        Some("unknown" | "unknown-cause") => String::new(),
        Some(id) if off => format!(". Likely cause: {}", cause(id)),
        Some(id) => format!(". Note: {}", cause(id)),
    };
    ground + &cause
}

/// A cause in a few words; an identifier that this version does not know as it stands.
pub fn cause(id: &str) -> &str {
    match id {
        "same-seed" => "the same seed on two generators",
        "in-step" => "generators started in step",
        "saturation" => "saturation: nearly all users wait all the time",
        "constant-rate" => "a schedule of constant rate",
        "fixed-think" => "a fixed think time",
        "timer-ticks" => "the ticks of a timer",
        "generator-pauses" => "pauses of the generator",
        "feedback-loop" => "closed-loop feedback of the target",
        "few-users" => "too few users",
        other => other,
    }
}

/// What is known of one file.
pub fn file(file: &AuditFile, audit: &Audit) -> Vec<Fact> {
    let mut facts = Vec::new();
    let description = if file.description.is_empty() { &file.format } else { &file.description };
    let mut format = vec![description.clone()];
    format.extend(file.tool.clone());
    format.extend(file.compression.as_ref().map(|compression| format!("compressed ({compression})")));
    facts.push(fact("format", format.join(", ")));
    let mut rows = plural(file.rows, "request");
    if file.sessions > 0 {
        rows.push_str(&format!(", {}", plural(file.sessions, "session")));
    }
    facts.push(fact("rows", rows));
    if file.unreadable > 0 {
        let all = file.rows.saturating_add(file.unreadable);
        let text = format!(
            "{} ({}) could not be read and are in no number below",
            plural(file.unreadable, "row"),
            share_of(file.unreadable, all)
        );
        facts.push(warning("unreadable", text));
        for row in file.examples.iter().take(MOST) {
            let text = format!("line {}: {}; expected {}", count_or_more(row.line), row.found, row.expected);
            facts.push(fact("", text));
        }
    }
    let mut left_out: Vec<String> =
        file.left_out.iter().take(MOST).map(|(reason, n)| format!("{} {reason}", count(*n))).collect();
    if file.left_out.len() > MOST {
        left_out.push(format!(
            "{} in the JSON document",
            plural((file.left_out.len() - MOST) as u64, "more reason")
        ));
    }
    if !left_out.is_empty() {
        facts.push(fact("left out", left_out.join("; ")));
    }
    let which = match file.stamps.as_str() {
        "start" => "starts",
        "end" => "ends, turned into starts",
        other => other,
    };
    let digit = if file.digit_s > 0.0 {
        format!(", last digit {}", chosen_time(file.digit_s))
    } else {
        String::new()
    };
    let how = if file.stamps_how.is_empty() { String::new() } else { format!(" ({})", file.stamps_how) };
    facts.push(fact("stamps", format!("{which}{how}{digit}")));
    facts.extend(file.missing.iter().map(|sentence| fact("not in it", sentence)));
    if let Some(finer) =
        file.finer.as_ref().filter(|_| is_coarse(audit) || audit.resolution.coarse_labels > 0)
    {
        facts.push(warning("finer", format!("{finer} makes the tool write finer stamps")));
    }
    facts
}

/// Lines are numbered from 1; a document from elsewhere may say 0.
fn count_or_more(line: u64) -> String {
    count(line.max(1))
}

/// What of the files was judged, and how finely.
pub fn selection(summary: &Summary, audit: &Audit) -> Vec<Fact> {
    let mut facts = Vec::new();
    let arrivals = &summary.arrivals;
    let started = match audit.stream {
        Stream::Requests => format!("starts of {}", plural(arrivals.started, "request")),
        Stream::Sessions => format!(
            "starts of {}; requests within one depend on each other and are only shown",
            plural(arrivals.started, "session")
        ),
    };
    facts.push(fact("stream", started));
    let since = audit.first_start.as_ref().map_or(String::new(), |at| format!(" ({at})"));
    match audit.selected {
        Some([from, to]) => {
            let text = format!("{} s to {} s after the first start{since}", chosen(from), chosen(to));
            facts.push(fact("stretch", text));
        }
        None => facts.extend(audit.first_start.as_ref().map(|at| fact("first start", at))),
    }
    if audit.success_only {
        facts.push(fact("successes", "failed requests were left out, as asked"));
    }
    if audit.outside > 0 {
        facts.push(fact("outside", format!("{} read and not selected", plural(audit.outside, "row"))));
    }
    facts.extend(resolution(audit));
    facts.extend(audit.users.map(|users| fact("users", format!("{} named in the files", count(users)))));
    if audit.generators.len() > 1 {
        let mut names: Vec<&str> = audit.generators.iter().take(6).map(String::as_str).collect();
        let more = format!("{} more", count(audit.generators.len().saturating_sub(6) as u64));
        if audit.generators.len() > 6 {
            names.push(&more);
        }
        facts.push(fact("generators", names.join(", ")));
    }
    for offset in audit.offsets.iter().take(6) {
        let ahead = match offset.ahead_s {
            Some(ahead) => fact(
                "clocks",
                format!(
                    "{} is {} ahead ({}; n = {})",
                    offset.generator,
                    time(ahead),
                    offset.how,
                    count(offset.n)
                ),
            ),
            None => {
                warning("clocks", format!("how far {} is ahead is unknown: {}", offset.generator, offset.how))
            }
        };
        facts.push(ahead);
    }
    facts
}

fn resolution(audit: &Audit) -> Option<Fact> {
    let resolution = &audit.resolution;
    if resolution.grid_s.max(resolution.digit_s) <= 0.0 {
        return None;
    }
    let mut text = chosen_time(resolution.grid_s.max(resolution.digit_s));
    if resolution.grid_s > resolution.digit_s {
        text.push_str(&format!(
            " (all stamps lie on this grid; their last digit is worth {})",
            chosen_time(resolution.digit_s)
        ));
    }
    if let Some(x) = resolution.rate_x_q {
        text.push_str(&format!("; rate x resolution = {}", number(x)));
    }
    if is_coarse(audit) {
        text.push_str(&format!(
            ", above {}: headways decide nothing, counts in windows of at least 10 of it do",
            chosen(COARSE)
        ));
    }
    if resolution.coarse_labels > 0 {
        text.push_str(&format!(
            "; too coarse by itself for {}, marked * below",
            plural(resolution.coarse_labels, "label")
        ));
    }
    let coarse = is_coarse(audit) || resolution.coarse_labels > 0;
    Some(if coarse { warning("resolution", text) } else { fact("resolution", text) })
}

/// Headways of what was judged: CoV with its errors, correlation, distances from the exponential.
pub fn starts(summary: &Summary) -> Vec<Fact> {
    let arrivals = &summary.arrivals;
    if arrivals.n == 0 {
        return Vec::new();
    }
    let mut facts = vec![fact(
        "headways",
        format!(
            "{} at {}: mean {}, median {}, longest {}",
            count(arrivals.n),
            dash(arrivals.rate, rate),
            dash(arrivals.headway_mean, time),
            dash(arrivals.p50, time),
            dash(arrivals.max, time)
        ),
    )];
    if let Some(cov) = arrivals.cov {
        let errors = match (arrivals.cov_se, arrivals.cov_se_poisson) {
            (Some(se), Some(poisson)) => {
                format!(" +- {} (+- {} if Poisson)", number(se), number(poisson))
            }
            (Some(se), None) => format!(" +- {}", number(se)),
            _ => String::new(),
        };
        facts.push(fact("CoV", format!("{}{errors}; 1 = independent users, 0 = a metronome", number(cov))));
    }
    if let Some(stamped) = arrivals.cov_as_stamped {
        facts.push(fact(
            "as stamped",
            format!("{}: the CoV before it is corrected for the resolution", number(stamped)),
        ));
    }
    if let Some(lag1) = arrivals.lag1 {
        facts.push(fact("lag 1", format!("{}: correlation of successive headways", number(lag1))));
    }
    if let Some(ks) = arrivals.ks.exponential {
        let stamped = arrivals.ks.exponential_as_stamped.map_or(String::new(), |stamped| {
            format!(" with stamps dithered, {} with stamps as they stand", number(stamped.d))
        });
        let text = format!(
            "D = {} from an exponential of the same mean{stamped} (n = {}; p = {}; shown, decides nothing)",
            number(ks.d),
            count(ks.n),
            number(ks.p)
        );
        facts.push(fact("KS", text));
    }
    if let Some(ks) = arrivals.ks.plan {
        let text =
            format!("D = {} from the law expected (n = {}, p = {})", number(ks.d), count(ks.n), number(ks.p));
        facts.push(fact("KS, plan", text));
    }
    facts
}

/// Whole users, where the number can be one.
fn people(users: f64) -> String {
    if (0.0..1e15).contains(&users) { count(users.round() as u64) } else { number(users) }
}

/// Users, think time, the share of waiting, and what would bring it to 3 %.
pub fn closed(closed: &Closed) -> Vec<Fact> {
    let mut facts = Vec::new();
    let named = closed.users.map_or(String::new(), |users| format!("{} named; ", people(users)));
    if closed.users.is_some() || closed.n_little.is_some() {
        let text = format!("{named}N = rate x (Z + R) = {} by Little's law", dash(closed.n_little, number));
        facts.push(fact("users", text));
    }
    facts.extend(
        closed
            .response
            .map(|mean| fact("response", format!("R = {} on average (n = {})", time(mean), count(closed.n)))),
    );
    if let Some(think) = closed.think {
        let mut text = format!("Z = {} on average", time(think));
        if let Some(sd) = closed.think_sd {
            text.push_str(&format!(", standard deviation {}", time(sd)));
        }
        if let (Some(low), Some(high)) = (closed.think_min, closed.think_max) {
            text.push_str(&format!(", {} to {}", time(low), time(high)));
        }
        if closed.think_n > 0 {
            text.push_str(&format!(" (recovered from {} pairs of requests)", count(closed.think_n)));
        }
        facts.push(fact("think time", text));
    }
    if let Some(rort) = closed.rort {
        let high = rort > 0.03;
        let text = format!(
            "R/(Z+R) = {}: the share of a user's cycle spent waiting; up to 3 % the answers hardly hold back the starts",
            share(rort)
        );
        facts.push(Fact { tone: if high { Tone::Warn } else { Tone::Plain }, ..fact("RoRT", text) });
    }
    if let (Some(users), Some(think)) = (closed.users_for_3_percent, closed.think_for_3_percent) {
        let text = format!(
            "N = {} users with Z = {} would send the same rate at a RoRT of 3 %",
            people(users),
            time(think)
        );
        facts.push(fact("for 3 %", text));
    }
    if let Some(most) = closed.in_flight_max {
        let waiting = closed.all_waiting.map_or(String::new(), |waiting| {
            format!("; nearly all users were waiting for {} of the time", share(waiting))
        });
        facts.push(fact("in flight", format!("{} at most{waiting}", count(most))));
    }
    facts
}

/// Blocks whose missing numbers would be noise in a report on an audit: what no foreign file holds, and intervals.
fn is_headline(path: &str) -> bool {
    let block = path.split('.').next().unwrap_or(path);
    path != "verdict.load"
        && path != "arrivals.ks.plan"
        && !path.contains(".ci95.")
        && !matches!(block, "lag" | "blocked" | "service" | "response_ok" | "by_label" | "generator" | "rate")
}

/// Why numbers that a reader of an audit looks for are missing: each reason once, with what it keeps from being known.
pub fn missing(summary: &Summary) -> Vec<(String, String)> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, reason) in summary.not_computed.iter().filter(|(path, _)| is_headline(path)) {
        by_reason.entry(reason).or_default().push(path);
    }
    let mut missing: Vec<(String, String)> =
        by_reason.into_iter().map(|(reason, paths)| (paths.join(", "), reason.to_owned())).collect();
    missing.sort();
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_said_once_and_none_of_a_headline_number_is_lost() {
        let mut summary = Summary::default();
        for (path, reason) in [
            ("arrivals.cov", "coarse"),
            ("arrivals.lag1", "coarse"),
            ("closed", "no users"),
            ("response.ci95.p99", "few batches"),
            ("lag.p99", "no observations"),
            ("verdict.load", "no plan"),
        ] {
            summary.not_computed.insert(path.into(), reason.into());
        }
        let said = |paths: &str, reason: &str| (paths.to_owned(), reason.to_owned());
        assert_eq!(
            missing(&summary),
            [said("arrivals.cov, arrivals.lag1", "coarse"), said("closed", "no users")]
        );
    }

    #[test]
    fn a_cause_is_named_only_where_the_pattern_needs_one() {
        let mut summary = Summary {
            audit: Some(Audit { cause: Some("few-users".into()), ..Audit::default() }),
            ..Summary::default()
        };
        summary.arrivals.cov = Some(0.7);
        summary.arrivals.cov_se = Some(0.1);
        summary.verdict.pattern = Pattern::Even;
        assert_eq!(
            evidence(&summary),
            " (CoV 0.700, 95 % interval 0.504 to 0.896). Likely cause: too few users"
        );
        summary.verdict.pattern = Pattern::Independent;
        assert!(evidence(&summary).ends_with(". Note: too few users"));
        summary.audit = Some(Audit { cause: Some("of-a-later-version".into()), ..Audit::default() });
        summary.verdict.pattern = Pattern::Bunched;
        assert!(evidence(&summary).ends_with(". Likely cause: of-a-later-version"));
        summary.audit = None;
        assert_eq!(evidence(&summary), "");
    }
}
