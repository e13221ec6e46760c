//! Sentences about an audit: which files were read and how, what was judged, missing numbers. Those on users stand in `users`.
//!
//! Each is a [`Fact`], a name and a text, so that every output shows the same ones in its own layout. Absent: tables, and
//! the findings, which come as sentences already.

pub use super::users::closed;
use super::{Answer, Tone, pattern};
use crate::format::{chosen, chosen_time, count, number, p_value, plural, rate, share_of, time};
use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::metric::Metric;
use headway_stats::summary::{
    Audit, AuditFile, ClocksRelated, Column, FailureKind, FindingId, Offset, Pattern, RuleId, Stream,
};
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

pub(super) fn fact(name: &'static str, text: impl Into<String>) -> Fact {
    Fact { name, text: text.into(), tone: Tone::Plain }
}

fn warning(name: &'static str, text: impl Into<String>) -> Fact {
    Fact { tone: Tone::Warn, ..fact(name, text) }
}

pub(super) fn dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or("-".into(), show)
}

/// Above this rate x resolution headways describe the stamps and not the users.
pub const COARSE: f64 = 0.5;

/// Half the width of a 95 % interval, in standard errors.
const Z95: f64 = 1.96;

/// Reasons and examples that are shown of one kind; the JSON document holds all.
const MOST: usize = 3;

/// Whether the stamps are too coarse for headways to decide anything.
pub fn is_coarse(audit: &Audit) -> bool {
    !audit.resolution.headways_decide && audit.resolution.rate_x_q.is_some_and(|x| x > COARSE)
}

/// What headways on such stamps are worth.
pub const OF_THE_CLOCK: &str = "describes the clock, not the users";

/// Whether the stamps are too coarse for the headways of that row, of a label or the total.
pub fn is_coarse_row(audit: &Audit, row: &Column, total: bool) -> bool {
    let own = row.rate.is_some_and(|rate| rate * audit.resolution.grid_s > COARSE);
    own || (total && is_coarse(audit))
}

/// Whether tables show the variance-to-mean ratio in place of the coefficient of variation; that of headways stays.
pub fn shows_vmr(audit: &Audit) -> bool {
    audit.dispersion == "vmr"
}

/// How many requests have no bandwidth, and why; nothing where all have one.
pub fn without_bandwidth(audit: &Audit) -> Option<String> {
    let left_out = audit.tables.bandwidth.last()?.left_out;
    (left_out > 0).then(|| {
        format!(
            "{} took no time by the stamps and {} no bandwidth",
            plural(left_out, "request"),
            if left_out == 1 { "has" } else { "have" }
        )
    })
}

/// How requests failed, in a line: `status 503: Service Unavailable`.
pub fn failure(kind: &FailureKind) -> String {
    let mut text = kind.outcome.clone();
    if kind.status > 0 {
        text.push_str(&format!(" {}", kind.status));
    }
    if !kind.message.is_empty() {
        text.push_str(&format!(": {}", kind.message));
    }
    text
}

/// What is judged: requests, or the sessions that they belong to.
pub fn judged(summary: &Summary) -> &'static str {
    match summary.audit.as_ref().map(|audit| audit.stream) {
        Some(Stream::Sessions) => "sessions",
        _ => "requests",
    }
}

/// Whether the load was held to what it was meant to be.
pub fn is_held_to_a_plan(summary: &Summary) -> bool {
    summary.verdict.load.is_some() || summary.plan.is_some()
}

/// Whether the stamps are too coarse to tell the pattern.
pub fn is_too_coarse(summary: &Summary) -> bool {
    summary.verdict.pattern == Pattern::Undecided && summary.audit.as_ref().is_some_and(is_coarse)
}

/// The pattern in a line.
pub fn brief_pattern(summary: &Summary) -> Answer {
    let share = summary.audit.as_ref().and_then(|audit| audit.resolution.rate_x_q);
    let meaning = match (summary.verdict.pattern, share) {
        (Pattern::Undecided, _) if summary.arrivals.n > 0 && summary.arrivals.max == Some(0.0) => {
            format!("cannot tell: all {} have one stamp", judged(summary))
        }
        (Pattern::Bunched, _) => "more clustered than independent users".into(),
        (Pattern::Even, _) => "more regular than independent users".into(),
        (_, Some(share)) if is_too_coarse(summary) => {
            let grid = summary.audit.as_ref().map_or(0.0, |audit| audit.resolution.grid_s);
            let stamps =
                if grid == 1.0 { "whole seconds".into() } else { format!("steps of {}", chosen_time(grid)) };
            format!("cannot tell: stamps are {stamps}, with {} requests in each", number(share))
        }
        _ => return super::brief::pattern_of_audit(summary),
    };
    Answer { meaning, ..super::pattern(summary) }
}

/// What a pattern other than that of independent users does to the times that are measured, and what it rests on.
pub fn effect(summary: &Summary) -> Option<String> {
    let queues = match summary.verdict.pattern {
        Pattern::Bunched => "longer",
        Pattern::Even => "shorter",
        _ => return None,
    };
    Some(format!("queues look {queues} than with independent users{}", ground(summary)))
}

/// The cause of the pattern, if it needs one, by how it shows.
pub fn why(summary: &Summary, audit: &Audit) -> Option<String> {
    let id = audit.cause.as_ref().filter(|id| is_told(summary, id))?;
    if *id == FindingId::UnknownCause {
        return Some("the rows do not say why".into());
    }
    let found = summary.verdict.findings.iter().find(|finding| finding.id == *id);
    Some(found.map_or_else(|| id.meaning().to_owned(), |finding| super::findings::told(finding).text))
}

/// What was read: the formats, rows, and whether some could not be read.
pub fn rows_read(audit: &Audit) -> Option<(Tone, String)> {
    let first = audit.files.first()?;
    let sum =
        |of: fn(&AuditFile) -> u64| audit.files.iter().fold(0, |sum: u64, file| sum.saturating_add(of(file)));
    let (rows, unreadable) = (sum(|file| file.rows), sum(|file| file.unreadable));
    let what = match audit.files.len() {
        1 if first.description.is_empty() => first.format.clone(),
        1 => first.description.to_string(),
        n => plural(n as u64, "file"),
    };
    let text = format!("{what}, {}", plural(rows, "request"));
    Some(match unreadable {
        0 => (Tone::Plain, text),
        n => (Tone::Warn, format!("{text}; {} could not be read", plural(n, "row"))),
    })
}

/// Response times in a line.
pub fn response(summary: &Summary) -> Option<String> {
    let all = &summary.response;
    let of = [("mean", all.mean), ("p50", all.p50), ("p90", all.p90), ("p99", all.p99)];
    let shown = of.into_iter().filter_map(|(name, value)| {
        let mark = if all.lower_bound.contains_key(name) { "> " } else { "" };
        Some(format!("{name} {mark}{}", time(value?)))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| format!("{} (n = {})", shown.join(", "), count(all.n)))
}

fn is_off(summary: &Summary) -> bool {
    matches!(summary.verdict.pattern, Pattern::Bunched | Pattern::Even | Pattern::Periodic)
}

/// Whether a cause matters: of a pattern that is not that of independent users, and of pauses in one that is.
pub(super) fn is_told(summary: &Summary, cause: &FindingId) -> bool {
    let undecided = summary.verdict.pattern == Pattern::Undecided;
    is_off(summary)
        || matches!(cause, FindingId::GeneratorPauses | FindingId::FeedbackLoop)
        || (*cause == FindingId::ChangingRate && undecided)
}

/// What the pattern of an audit rests on, and its cause if one is named; follows the sentence on the pattern. Nothing
/// for anything but an audit.
pub(super) fn evidence(summary: &Summary) -> String {
    let Some(audit) = &summary.audit else { return String::new() };
    let off = is_off(summary);
    let cause = match &audit.cause {
        None => String::new(),
        Some(FindingId::UnknownCause) if off => ". The rows do not say why".into(),
        Some(FindingId::UnknownCause) => String::new(),
        Some(id) if off => format!(". Likely cause: {}", id.meaning()),
        Some(id) => format!(". Note: {}", id.meaning()),
    };
    ground(summary) + &cause + &other_reading(summary)
}

/// What the pattern rests on, in brackets; empty where that is said already.
fn ground(summary: &Summary) -> String {
    let Some(audit) = &summary.audit else { return String::new() };
    let arrivals = &summary.arrivals;
    let undecided = summary.verdict.pattern == Pattern::Undecided;
    match (arrivals.cov, arrivals.cov_se) {
        _ if is_coarse(audit) && undecided => String::new(),
        _ if is_coarse(audit) => format!(
            " (judged by counts in windows: stamps of {} are too coarse for headways)",
            chosen_time(audit.resolution.grid_s)
        ),
        // What is open is named with its interval.
        _ if undecided && !summary.verdict.pattern_rules.is_empty() => String::new(),
        (Some(cov), Some(se)) => {
            // Value and interval that decide, where the document has them: of the same headways, and of the measure that failed.
            let rules = &summary.verdict.pattern_rules;
            let of_cov = rules.iter().find(|rule| rule.rule == RuleId::Cov);
            let decides = pattern::decides(summary).or(of_cov);
            let own = [cov - Z95 * se, cov + Z95 * se];
            let (name, value, [low, high], bound) = match decides {
                Some(rule) if rule.rule == RuleId::Cov => {
                    ("CoV".to_owned(), rule.value.unwrap_or(cov), rule.interval.unwrap_or(own), String::new())
                }
                Some(rule) if rule.value.is_some() && rule.interval.is_some() => {
                    let limits = [rule.limits.low, rule.limits.high].into_iter().flatten();
                    let value = rule.value.unwrap_or_default();
                    let bound = limits.min_by(|a, b| (a - value).abs().total_cmp(&(b - value).abs()));
                    let bound = bound.map_or(String::new(), |bound| format!("; limit {}", chosen(bound)));
                    (super::rules::row(rule).measure, value, rule.interval.unwrap_or(own), bound)
                }
                _ => ("CoV".to_owned(), cov, own, String::new()),
            };
            let low = if name == "CoV" { low.max(0.0) } else { low };
            format!(" ({name} {}, 95 % interval {} to {}{bound})", number(value), number(low), number(high))
        }
        (Some(cov), None) => format!(" (CoV {})", number(cov)),
        _ => String::new(),
    }
}

/// The pattern if the stamps were ends, where it is open what they are and that would change it.
fn other_reading(summary: &Summary) -> String {
    let other = summary.audit.as_ref().and_then(|audit| audit.other_reading.as_ref());
    let Some(other) = other.filter(|other| other.pattern != summary.verdict.pattern) else {
        return String::new();
    };
    format!(". If the stamps are {}s, which nothing rules out: {}", other.stamps, other.pattern.word())
}

/// What is known of one file.
pub fn file(file: &AuditFile, audit: &Audit) -> Vec<Fact> {
    let mut facts = Vec::new();
    let description: &str = if file.description.is_empty() { &file.format } else { &file.description };
    let mut format = vec![description.to_owned()];
    format.extend(file.tool.as_ref().map(Cleared::to_string));
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
    let how = file.stamps_how.as_ref().map(super::why::stamps_how).filter(|how| !how.is_empty());
    let how = how.map_or(String::new(), |how| format!(" ({how})"));
    facts.push(fact("stamps", format!("{which}{how}{digit}")));
    facts.extend(file.missing.iter().map(|sentence| fact("not in it", sentence.as_str())));
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
        let mut names: Vec<&str> = audit.generators.iter().take(6).map(Cleared::as_str).collect();
        let more = format!("{} more", count(audit.generators.len().saturating_sub(6) as u64));
        if audit.generators.len() > 6 {
            names.push(&more);
        }
        facts.push(fact("generators", names.join(", ")));
    }
    facts.extend(audit.offsets.iter().take(6).map(|offset| clocks(audit, offset)));
    facts
}

/// Which clock is ahead of which, and by how much.
fn clocks(audit: &Audit, offset: &Offset) -> Fact {
    let first = audit.generators.first().map_or("the first generator", Cleared::as_str);
    let Some(ahead) = offset.ahead_s else {
        let text = format!("how far {} is ahead of {first} is unknown: {}", offset.generator, how(offset));
        return warning("clocks", text);
    };
    let (leader, other) = if ahead < 0.0 { (first, &*offset.generator) } else { (&*offset.generator, first) };
    let text = format!(
        "{leader} is {} ahead of {other} ({}; n = {})",
        time(ahead.abs()),
        how(offset),
        count(offset.n)
    );
    fact("clocks", text)
}

/// How the clocks were related, or why they were not; as the document has it where it comes from an older version.
pub fn how(offset: &Offset) -> String {
    let Some(related) = &offset.related else { return offset.how.to_string() };
    match related {
        ClocksRelated::Target { leader, low_s, high_s } => format!(
            "between {low_s:.6} s and {high_s:.6} s: only with {leader} so far ahead each request reached the target between its start \
             and its end; the starts are not corrected by it"
        ),
        ClocksRelated::Nothing => "nothing in these files relates their clocks".into(),
        ClocksRelated::Beginnings => {
            "each file counts from its own beginning; they are laid over each other from there".into()
        }
        ClocksRelated::OneBeginning => "one of them counts from its own beginning".into(),
        ClocksRelated::NoEnds => "without the ends of requests there is no bound on one side".into(),
        ClocksRelated::NoOneOffset => {
            "no one offset brings all requests together: the log holds others, or a clock was not steady"
                .into()
        }
        ClocksRelated::NoCommonLabel { target, file, n } => format!(
            "the log of the target holds {}, {file} {n}, and no label stands in both equally often",
            plural(*target, "request")
        ),
    }
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
    let coarse = summary.audit.as_ref().is_some_and(is_coarse);
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
        let means = "1 = independent users, 0 = evenly paced";
        facts.push(if coarse {
            warning("CoV", format!("{}{errors}; {OF_THE_CLOCK} ({means})", number(cov)))
        } else {
            fact("CoV", format!("{}{errors}; {means}", number(cov)))
        });
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
    if let Some(ks) = arrivals.ks.exponential.filter(|_| !coarse) {
        let stamped = arrivals.ks.exponential_as_stamped.map_or(String::new(), |stamped| {
            format!(" with stamps dithered, {} with stamps as they stand", number(stamped.d))
        });
        let text = format!(
            "D = {} from an exponential of the same mean{stamped} (n = {}; {})",
            number(ks.d),
            count(ks.n),
            p_value(ks.p)
        );
        facts.push(fact("KS", text));
    }
    if let Some(ks) = arrivals.ks.plan.filter(|_| !coarse) {
        let text =
            format!("D = {} from the law expected (n = {}, {})", number(ks.d), count(ks.n), p_value(ks.p));
        facts.push(fact("KS, plan", text));
    }
    let off = summary.audit.as_ref().and_then(|audit| audit.estimated.as_ref());
    facts.extend(off.map(|off| fact("estimated", super::estimated::whole(off))));
    facts
}

/// Blocks whose missing numbers would be noise in a report on an audit: what no foreign file holds, and intervals.
fn is_headline(path: &str) -> bool {
    let block = path.split('.').next().unwrap_or(path);
    path != "verdict.load"
        && path != "arrivals.ks.plan"
        && !path.contains(".ci95.")
        && Metric::of_path(path).is_none_or(|metric| metric.looked_for)
        && !matches!(block, "metrics" | "by_label" | "generator" | "rate")
}

/// Why numbers that a reader of an audit looks for are missing: each reason once, with what it keeps from being known.
pub fn missing(summary: &Summary) -> Vec<(String, String)> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, reason) in summary.not_computed.iter().filter(|(path, _)| is_headline(path)) {
        by_reason.entry(super::why::why(reason)).or_default().push(path);
    }
    let mut missing: Vec<(String, String)> =
        by_reason.into_iter().map(|(reason, paths)| (paths.join(", "), reason)).collect();
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
            summary.not_computed.insert(path.into(), headway_stats::summary::Stated::other(reason));
        }
        let row = |paths: &str, reason: &str| (paths.to_owned(), reason.to_owned());
        assert_eq!(
            missing(&summary),
            [row("arrivals.cov, arrivals.lag1", "coarse"), row("closed", "no users")]
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

    #[test]
    fn the_clock_that_is_ahead_comes_first() {
        let audit = Audit { generators: vec!["a".into(), "b".into()], ..Audit::default() };
        let why = headway_stats::summary::Text::by_report("why");
        let offset =
            |ahead_s| Offset { generator: "b".into(), ahead_s, how: why.clone(), n: 3, ..Offset::default() };
        let text = |ahead_s| clocks(&audit, &offset(ahead_s)).text;
        assert_eq!(text(Some(-0.0015)), "a is 1.50 ms ahead of b (why; n = 3)");
        assert_eq!(text(Some(0.0015)), "b is 1.50 ms ahead of a (why; n = 3)");
        assert_eq!(text(None), "how far b is ahead of a is unknown: why");
        let related = Some(ClocksRelated::Target { leader: "a".into(), low_s: 0.001, high_s: 0.002 });
        let text = how(&Offset { related, ..offset(Some(-0.0015)) });
        assert!(text.starts_with("between 0.001000 s and 0.002000 s: only with a so far ahead"), "{text}");
    }

    #[test]
    fn coarse_headways_carry_their_mark() {
        let mut audit = Audit::default();
        audit.resolution.rate_x_q = Some(COARSE);
        audit.tables.headways = vec![Column::default(); 2];
        let mut summary = Summary { audit: Some(audit), ..Summary::default() };
        (summary.arrivals.n, summary.arrivals.cov) = (9, Some(1.0));
        summary.arrivals.ks.exponential = Some(headway_stats::summary::Ks::default());
        let names =
            |summary: &Summary| -> Vec<&'static str> { starts(summary).iter().map(|f| f.name).collect() };
        let marked = |summary: &Summary| {
            let audit = summary.audit.as_ref().expect("it is one");
            let rows = &audit.tables.headways;
            [is_coarse_row(audit, &rows[0], false), is_coarse_row(audit, &rows[1], true)]
        };
        assert_eq!((names(&summary), marked(&summary)), (vec!["headways", "CoV", "KS"], [false, false]));
        summary.audit.as_mut().expect("it is one").resolution.rate_x_q = Some(0.51);
        assert_eq!((names(&summary), marked(&summary)), (vec!["headways", "CoV"], [false, true]));
        assert!(starts(&summary)[1].text.contains(OF_THE_CLOCK));
    }
}
