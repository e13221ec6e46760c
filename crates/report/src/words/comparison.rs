//! A comparison in words: its first line, what must be known of the runs, why a number is not told.
//!
//! Every sentence is computed from the document; that two numbers differ is said only where the interval shows it.

use super::Tone;
use super::why::why;
use crate::format::{count, number, percentile, plural, share, size, time};
use headway_stats::comparison::{
    Compared, Comparison, ConditionResult, Difference, Incomparable, Method, NotTold, Outcome, Pair, Row,
    Shown, Verdict,
};
use headway_stats::metric::{Aggregate, Metric, NumberOf, Taken};
use headway_stats::summary::{Interval, LoadVerdict, ThresholdUnit};

/// A sentence and its tone.
pub type Sentence = (Tone, String);

/// What a number is called: `p99.9`, `failed`, `connect p95`.
pub fn spoken(of: NumberOf) -> String {
    let number = spoken_aggregate(of.aggregate);
    match () {
        () if of == NumberOf::FAILED => of.metric.name.to_owned(),
        () if of == NumberOf::RATE || of.metric == Metric::RESPONSE => number,
        () => format!("{} {number}", of.metric.name),
    }
}

/// What an aggregate is called: `mean`, `p99.9`.
pub fn spoken_aggregate(of: Aggregate) -> String {
    match of {
        Aggregate::Percentile(percent) => percentile(percent),
        of => of.key(),
    }
}

/// A number in a sentence, with its step.
fn of_row(row: &Row) -> String {
    let name = match row.of == NumberOf::response(Aggregate::Mean) {
        true => "the mean".to_owned(),
        false => spoken(row.of),
    };
    row.label.as_ref().map_or_else(|| name.clone(), |label| format!("{name} of {label}"))
}

/// Per cent with as many digits as tell ends apart.
fn percent(x: f64) -> String {
    let x = 100.0 * x;
    match x.abs() {
        a if a >= 9.95 => format!("{x:.0}"),
        a if a >= 0.995 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// The first line of a pair, without the names: `slower by 8 to 14 % at p99`. It is no good news while a condition of the pair holds
/// under which the command fails, or while it is open whether one does.
pub fn headline(comparison: &Comparison, pair: &Pair) -> Sentence {
    let (tone, text) = shown_by(comparison, pair);
    let own = (pair.base, pair.other, &pair.point);
    let of_pair = |of: &&ConditionResult| {
        comparison.pairs.get(of.pair).is_some_and(|of| (of.base, of.other, &of.point) == own)
    };
    let conditions = || comparison.conditions.iter().filter(of_pair);
    let tone = match tone {
        Tone::Good if conditions().any(|of| of.outcome == Outcome::Holds) => Tone::Bad,
        Tone::Good if conditions().any(|of| of.outcome != Outcome::DoesNotHold) => Tone::Warn,
        tone => tone,
    };
    (tone, text)
}

/// What the numbers of a pair show.
fn shown_by(comparison: &Comparison, pair: &Pair) -> Sentence {
    match &pair.verdict {
        Verdict::NotComparable { reasons } => {
            let all: Vec<String> = reasons.iter().map(|reason| incomparable(comparison, reason)).collect();
            (Tone::Bad, format!("not comparable: {}", all.join("; ")))
        }
        Verdict::NotTold => (Tone::Warn, "n/a: no number of the response time has an interval".into()),
        Verdict::NoDifference { .. } if pair.same_records => (
            Tone::Warn,
            "no difference at all: both simulations came out the same, request by request; under another seed they may differ".into(),
        ),
        Verdict::NoDifference { row, detectable } => {
            let of = pair.rows.get(*row).map(of_row).unwrap_or_default();
            let shown = percent(*detectable);
            (Tone::Good, format!("no difference shown ({shown} % would have been, at {of})"))
        }
        Verdict::Differs { rows } => differs(pair, rows),
    }
}

/// The most telling difference of each kind: of response times one way and the other, of failures, of the rate.
fn differs(pair: &Pair, rows: &[usize]) -> Sentence {
    let rows: Vec<&Row> = rows.iter().filter_map(|&i| pair.rows.get(i)).collect();
    let overall = rows.iter().any(|row| row.label.is_none());
    let rows: Vec<&Row> = rows.into_iter().filter(|row| row.label.is_none() == overall).collect();
    let is_time = |row: &Row| row.of.metric.is_time();
    let is_failed = |row: &Row| row.of == NumberOf::FAILED;
    let first = |of: &dyn Fn(&Row) -> bool| rows.iter().find(|row| of(row)).copied();
    let kinds: [Option<&Row>; 6] = [
        first(&|row| is_time(row) && row.shown == Shown::Higher),
        first(&|row| is_time(row) && row.shown == Shown::Lower),
        first(&|row| is_failed(row) && row.shown == Shown::Higher),
        first(&|row| is_failed(row) && row.shown == Shown::Lower),
        first(&|row| row.of == NumberOf::RATE),
        first(&|row| !is_time(row) && row.of.metric.is_distribution()),
    ];
    let worse = kinds[0].is_some() || kinds[2].is_some();
    let parts: Vec<String> = kinds.into_iter().flatten().filter_map(difference).collect();
    (if worse { Tone::Bad } else { Tone::Good }, parts.join("; "))
}

/// What a row shows: `slower by 8 to 14 % at p99`.
pub fn difference(row: &Row) -> Option<String> {
    let higher = row.shown == Shown::Higher;
    if row.of == NumberOf::FAILED {
        let [low, high] = ordered(row.difference_interval?);
        let of = row.label.as_ref().map_or(String::new(), |label| format!(" of {label}"));
        let word = if higher { "more" } else { "fewer" };
        return Some(format!(
            "{word} requests{of} fail, by {} to {} percentage points",
            percent(low),
            percent(high)
        ));
    }
    let [low, high] = ordered(row.ratio_interval?.map(|end| end - 1.0));
    let by = format!("by {} to {} %", percent(low), percent(high));
    if row.of == NumberOf::RATE {
        let word = if higher { "more" } else { "fewer" };
        return Some(format!("{} {word} responses per second", by.trim_start_matches("by ")));
    }
    Some(format!("{} {by} at {}", word(row).0, of_row(row)))
}

/// Sizes in the direction that is shown, the smaller first.
fn ordered([low, high]: Interval) -> Interval {
    let (a, b) = (low.abs(), high.abs());
    [a.min(b), a.max(b)]
}

/// The pair, named: `new against old`, of a study with the point.
pub fn names(comparison: &Comparison, pair: &Pair) -> String {
    let name = |run: usize| comparison.runs.get(run).map_or("-", |run| run.name.as_str());
    let point = if pair.point.is_empty() { String::new() } else { format!(", {}", pair.point) };
    format!("{} against {}{point}", name(pair.other), name(pair.base))
}

/// What is to be said of a recorded run beside the points of a study, before the numbers.
pub fn besides(comparison: &Comparison) -> Vec<Sentence> {
    let of_pair = |pair: &Pair| {
        let (tone, text) = headline(comparison, pair);
        let differ = differences(pair).map(|(tone, text)| (tone, format!(" {text}"))).into_iter();
        let all = std::iter::once((tone, format!("{}: {text}.", names(comparison, pair)))).chain(differ);
        let texts: String = all.map(|(_, text)| text).collect();
        (tone, texts)
    };
    let pairs = comparison.pairs.iter().map(of_pair);
    remarks(comparison).into_iter().chain(pairs).collect()
}

/// What a row shows, in a word.
pub fn word(row: &Row) -> (&'static str, Tone) {
    let higher = match row.shown {
        Shown::NotTold => return ("n/a", Tone::Faint),
        Shown::No => return ("no difference", Tone::Plain),
        Shown::Higher => true,
        Shown::Lower => false,
    };
    match (row.of.metric.taken, higher) {
        (Taken::Responses | Taken::Starts, true) => ("more", Tone::Strong),
        (Taken::Responses | Taken::Starts, false) => ("fewer", Tone::Strong),
        (Taken::Failures, true) => ("more", Tone::Bad),
        (Taken::Failures, false) => ("fewer", Tone::Good),
        (_, true) if row.of.metric.is_time() => ("slower", Tone::Bad),
        (_, false) if row.of.metric.is_time() => ("faster", Tone::Good),
        (_, true) => ("higher", Tone::Strong),
        (_, false) => ("lower", Tone::Strong),
    }
}

fn incomparable(comparison: &Comparison, reason: &Incomparable) -> String {
    let name = |run: usize| comparison.runs.get(run).map_or("-", |run| run.name.as_str());
    let both = |d: &Difference| format!("{} ({} and {})", d.what, d.base, d.other);
    match reason {
        Incomparable::Invalid { run } => {
            format!("the load of {} was INVALID, so its times are those of another load", name(*run))
        }
        Incomparable::Plan(d) => format!("another plan: {}", both(d)),
        Incomparable::Labels => "they have no label in common".into(),
        Incomparable::Source => "the one is a simulation and the other is not".into(),
        Incomparable::Copies => {
            "both hold the same records, request by request: they are copies of one run, which show nothing"
                .into()
        }
    }
}

/// What to do about runs that are not comparable; nothing where nothing can be done.
pub fn advice(reasons: &[Incomparable]) -> Option<String> {
    let mut across: Vec<&str> = Vec::new();
    for reason in reasons {
        match reason {
            Incomparable::Plan(d) => across.push(&d.what),
            _ => return None,
        }
    }
    across.dedup();
    let flags: Vec<String> = across.iter().map(|what| format!("--across {}", quoted(what))).collect();
    (!flags.is_empty()).then(|| format!("If that is what you compare, add {}.", flags.join(" ")))
}

fn quoted(what: &str) -> String {
    if what.contains(' ') { format!("'{what}'") } else { what.to_owned() }
}

/// What is to be known before the numbers are read: of the runs, of rounds, of points that are not compared.
pub fn remarks(comparison: &Comparison) -> Vec<Sentence> {
    let of_runs = comparison.runs.iter().filter_map(known);
    let all = of_runs.chain(rounds(comparison));
    let name = |run: usize| comparison.runs.get(run).map_or("-", |run| run.name.as_str());
    // In the order in which they are shown: those that one study lacks of another stand together.
    let of_two = comparison.points_left_out.chunk_by(|a, b| (a.run, a.lacks) == (b.run, b.lacks));
    let left_out = of_two.map(|all| {
        let points: Vec<&str> = all.iter().map(|left_out| left_out.point.as_str()).collect();
        let [run, lacks] = [all[0].run, all[0].lacks].map(name);
        (Tone::Warn, format!("Not compared, for {run} has and {lacks} has not: {}.", points.join(", ")))
    });
    all.chain(left_out).collect()
}

/// What is to be known of a run before its numbers are read.
fn known(run: &Compared) -> Option<Sentence> {
    match run.load {
        Some(LoadVerdict::Inconclusive) => Some((
            Tone::Warn,
            format!("{}: it is not shown that the load was sent as specified (INCONCLUSIVE).", run.name),
        )),
        Some(LoadVerdict::Invalid) if !run.is_another_load => Some((
            Tone::Warn,
            format!(
                "{}: the load is INVALID. What the generator's delays did to the numbers of all requests is in the intervals.",
                run.name
            ),
        )),
        None if run.source != headway_stats::summary::Source::Sim => Some((
            Tone::Warn,
            format!("{}: it is not known whether the load was sent as specified.", run.name),
        )),
        _ => None,
    }
}

/// In what else the two of a pair differ.
pub fn differences(pair: &Pair) -> Option<Sentence> {
    let one = |d: &Difference| format!("{} ({} and {})", d.what, d.base, d.other);
    let all: Vec<String> = pair.differs.iter().map(one).collect();
    (!all.is_empty()).then(|| (Tone::Plain, format!("They differ in {}.", all.join("; "))))
}

/// How the intervals came about.
pub fn method(comparison: &Comparison) -> String {
    let n = plural(comparison.looked_at as u64, "interval");
    let all = match comparison.looked_at {
        0 => return "No number has an interval.".to_owned(),
        1 => "95 % confidence".to_owned(),
        _ => format!("95 % family-wise confidence over {n}"),
    };
    let from = match comparison.method {
        Method::Rounds => "from the differences of each round",
        Method::Runs if comparison.pairs.iter().any(|pair| pair.same_arrivals) => {
            "and allow for dependence; what both runs owe to the same draws is taken out"
        }
        Method::Runs => "and allow for dependence",
    };
    format!("{all}, {from}. no difference: one within the interval is possible.")
}

/// Why rows are not told, each reason once: `p99.9: not told, because ...`.
pub fn not_told(comparison: &Comparison, pair: &Pair) -> Vec<Sentence> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    // The first line says what is not comparable.
    let open = |row: &&Row| row.shown == Shown::NotTold && !row.why_not.contains(&NotTold::NotComparable);
    for row in pair.rows.iter().filter(open) {
        let text = why_not(comparison, row);
        match reasons.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(of_row(row)),
            None => reasons.push((text, vec![of_row(row)])),
        }
    }
    let one = |(text, rows): (String, Vec<String>)| {
        (Tone::Faint, format!("{}: n/a, because {text}.", rows.join(", ")))
    };
    reasons.into_iter().map(one).collect()
}

fn why_not(comparison: &Comparison, row: &Row) -> String {
    // What both lack for one reason is said once.
    if let [NotTold::NoInterval { reason, .. }, NotTold::NoInterval { reason: other, .. }] = &row.why_not[..]
        && reason == other
    {
        return format!("neither has an interval ({})", why(reason));
    }
    let texts: Vec<String> = row.why_not.iter().map(|why| reason(comparison, why)).collect();
    if texts.is_empty() { "neither has the number".to_owned() } else { texts.join("; ") }
}

fn reason(comparison: &Comparison, of: &NotTold) -> String {
    let name = |run: &usize| comparison.runs.get(*run).map_or("-", |run| run.name.as_str());
    match of {
        NotTold::NoNumber { run } => format!("{} does not have it", name(run)),
        NotTold::LowerBound { run } => {
            format!("that of {} lies among requests without a response and is a lower bound", name(run))
        }
        NotTold::NoInterval { run, reason } => {
            format!("that of {} has no interval ({})", name(run), why(reason))
        }
        NotTold::DownToNothing { run } => format!("the interval of {} reaches down to nothing", name(run)),
        NotTold::NotComparable => "they are not comparable".to_owned(),
        NotTold::Moved { run } => {
            format!("the generator's delays in {} moved its steps by what is not told", name(run))
        }
        NotTold::FewRounds { rounds } => format!("only {} have it", plural(*rounds as u64, "round")),
    }
}

/// What became of a condition.
pub fn condition(comparison: &Comparison, of: &ConditionResult) -> Sentence {
    let pair = comparison.pairs.get(of.pair);
    let row = pair.zip(of.row).and_then(|(pair, row)| pair.rows.get(row));
    let interval = row.map(interval_of).filter(|text| !text.is_empty());
    let with = interval.map_or(String::new(), |text| format!(": {text}"));
    let several = comparison.pairs.len() > 1;
    let names =
        pair.filter(|_| several).map_or(String::new(), |pair| format!(" ({})", names(comparison, pair)));
    let text = &of.text;
    match of.outcome {
        Outcome::Holds => (Tone::Bad, format!("{text}{names}: yes, the interval shows it{with}")),
        Outcome::DoesNotHold => (Tone::Good, format!("{text}{names}: no, the interval excludes it{with}")),
        Outcome::Undecided => (Tone::Warn, format!("{text}{names}: inconclusive{with}")),
        Outcome::NotJudged => {
            let why = row.map_or("neither has the number".to_owned(), |row| why_not(comparison, row));
            (Tone::Warn, format!("{text}{names}: not judged, because {why}"))
        }
    }
}

/// The change with its interval: `+11 % [+8, +14]`, of shares in percentage points.
pub fn change_cell(row: &Row) -> String {
    let signed = |x: f64| format!("{}{}", if x > 0.0 { "+" } else { "" }, percent(x));
    match row.of.is_share() {
        true => row.difference.map(|d| format!("{} pp", signed(d))),
        false => row.ratio.map(|ratio| format!("{} %", signed(ratio - 1.0))),
    }
    .unwrap_or_else(|| "-".into())
}

/// The interval of the change: `[+8, +14]`; empty where there is none.
pub fn interval_of(row: &Row) -> String {
    let signed = |x: f64| format!("{}{}", if x > 0.0 { "+" } else { "" }, percent(x));
    let (ends, unit) = match row.of.is_share() {
        true => (row.difference_interval, "pp"),
        false => (row.ratio_interval.map(|ends| ends.map(|end| end - 1.0)), "%"),
    };
    match ends {
        Some([low, high]) if row.shown != Shown::NotTold => {
            format!("{} to {} {unit}", signed(low), signed(high))
        }
        _ => String::new(),
    }
}

/// A number of the row as it is written: a time, a rate or a share.
pub fn value_cell(row: &Row, of: &headway_stats::comparison::Number) -> String {
    let lower = if of.lower_bound { "> " } else { "" };
    of.value.map_or("-".into(), |value| format!("{lower}{}", in_unit(row, value)))
}

/// The difference with its interval, in the unit of the number.
pub fn difference_cell(row: &Row) -> String {
    let signed = |x: f64| {
        let text = in_unit(row, x.abs());
        if x < 0.0 { format!("-{text}") } else { format!("+{text}") }
    };
    let value = row.difference.map_or("-".into(), signed);
    match row.difference_interval.filter(|_| row.shown != Shown::NotTold) {
        Some([low, high]) => format!("{value} [{}, {}]", signed(low), signed(high)),
        None => value,
    }
}

fn in_unit(row: &Row, value: f64) -> String {
    match row.of.metric.unit_of(row.of.aggregate) {
        ThresholdUnit::Seconds => time(value),
        ThresholdUnit::Bytes => size(value),
        ThresholdUnit::PerSecond => format!("{}/s", number(value)),
        ThresholdUnit::Share => share(value),
        ThresholdUnit::Count => number(value),
    }
}

/// How the rounds went, in a sentence; nothing of recorded runs.
fn rounds(comparison: &Comparison) -> Option<Sentence> {
    let rounds = comparison.rounds.as_ref()?;
    let left_out = rounds.played.iter().filter(|round| round.left_out).count() as u64;
    let n = rounds.played.len() as u64;
    let text = format!(
        "{} of {} each, seed {}: {} of the time went to warm-up.",
        plural(n, "round"),
        time(rounds.each_s),
        rounds.seed,
        share(rounds.warmup_share)
    );
    Some(match left_out {
        0 => (Tone::Plain, text),
        _ => (Tone::Warn, format!("{text} {} left out: a load was INVALID.", count(left_out))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::comparison::{Condition, Number};
    use headway_stats::summary::Why;

    fn row(of: &str, ratio: f64, interval: [f64; 2]) -> Row {
        let shown = match interval {
            [low, _] if low > 1.0 => Shown::Higher,
            [_, high] if high < 1.0 => Shown::Lower,
            _ => Shown::No,
        };
        let number = |value| Number { value: Some(value), n: 1_000, ..Number::default() };
        Row {
            of: of.parse().unwrap(),
            base: number(0.1),
            other: number(0.1 * ratio),
            ratio: Some(ratio),
            ratio_interval: Some(interval),
            shown,
            ..Row::default()
        }
    }

    fn first_line(rows: Vec<Row>, verdict: Verdict) -> String {
        let pair = Pair { verdict, rows, ..Pair::default() };
        let name = |name: &'static str| Compared { name: name.into(), ..Compared::default() };
        headline(&Comparison { runs: vec![name("old"), name("new")], ..Comparison::default() }, &pair).1
    }

    #[test]
    fn what_both_runs_lack_is_said_once() {
        let name = |name: &'static str| Compared { name: name.into(), ..Compared::default() };
        let all = Comparison { runs: vec![name("old"), name("new")], ..Comparison::default() };
        let lacks = |run, reason: Why| NotTold::NoInterval { run, reason: reason.into() };
        let of = |all_lack| why_not(&all, &Row { why_not: all_lack, ..Row::default() });
        let both = of(vec![lacks(0, Why::SingleRun), lacks(1, Why::SingleRun)]);
        assert!(both.starts_with("neither has an interval (a single run"), "{both}");
        let one = of(vec![lacks(1, Why::SingleRun)]);
        assert!(one.starts_with("that of new has no interval (a single run"), "{one}");
    }

    #[test]
    fn the_first_line_is_good_news_only_when_no_condition_is_open() {
        let verdict = Verdict::NoDifference { row: 0, detectable: 0.05 };
        let pair =
            Pair { base: 0, other: 1, verdict, rows: vec![row("p99", 1.0, [0.9, 1.1])], ..Pair::default() };
        let tone = |outcomes: &[(usize, Outcome)]| {
            let of = |&(pair, outcome): &(usize, Outcome)| {
                let text = "p(99) slower by 5%";
                let condition = text.parse().unwrap();
                ConditionResult { text: text.into(), condition, pair, row: None, outcome }
            };
            let conditions = outcomes.iter().map(of).collect();
            let pairs = vec![pair.clone(), Pair { other: 2, ..Pair::default() }];
            headline(&Comparison { pairs, conditions, ..Comparison::default() }, &pair).0
        };
        assert_eq!(tone(&[]), Tone::Good);
        assert_eq!(tone(&[(0, Outcome::DoesNotHold)]), Tone::Good);
        assert_eq!(tone(&[(0, Outcome::DoesNotHold), (0, Outcome::Undecided)]), Tone::Warn);
        assert_eq!(tone(&[(0, Outcome::NotJudged)]), Tone::Warn);
        assert_eq!(tone(&[(0, Outcome::Holds), (0, Outcome::Undecided)]), Tone::Bad);
        // Those of another pair are another matter.
        assert_eq!(tone(&[(1, Outcome::Undecided)]), Tone::Good);
    }

    #[test]
    fn the_first_line_says_what_the_intervals_show() {
        let rows = || {
            vec![row("p99", 1.11, [1.08, 1.14]), row("p50", 0.9, [0.88, 0.92]), row("mean", 1.0, [0.9, 1.1])]
        };
        assert_eq!(
            first_line(rows(), Verdict::Differs { rows: vec![0, 1] }),
            "slower by 8.0 to 14 % at p99; faster by 8.0 to 12 % at p50"
        );
        assert_eq!(
            first_line(rows(), Verdict::NoDifference { row: 0, detectable: 0.05 }),
            "no difference shown (5.0 % would have been, at p99)"
        );
        let mut failed = row("failed", 1.0, [1.0, 1.0]);
        (failed.shown, failed.difference_interval) = (Shown::Higher, Some([0.012, 0.034]));
        assert_eq!(
            first_line(vec![failed], Verdict::Differs { rows: vec![0] }),
            "more requests fail, by 1.2 to 3.4 percentage points"
        );
        assert_eq!(
            first_line(vec![row("rate", 0.9, [0.88, 0.95])], Verdict::Differs { rows: vec![0] }),
            "5.0 to 12 % fewer responses per second"
        );
    }

    #[test]
    fn what_keeps_runs_from_being_compared_is_named_with_what_would_permit_it() {
        let of = |what: &'static str, base: &'static str, other: &'static str| Difference {
            what: what.into(),
            base: base.into(),
            other: other.into(),
        };
        let reasons = vec![
            Incomparable::Plan(of("arrival process", "poisson", "constant")),
            Incomparable::Plan(of("rate", "100/s", "200/s")),
        ];
        assert_eq!(
            advice(&reasons).unwrap(),
            "If that is what you compare, add --across 'arrival process' --across rate."
        );
        assert_eq!(
            first_line(Vec::new(), Verdict::NotComparable { reasons }),
            "not comparable: another plan: arrival process (poisson and constant); another plan: rate (100/s and 200/s)"
        );
        let reasons = vec![Incomparable::Invalid { run: 1 }];
        assert_eq!(advice(&reasons), None);
        assert_eq!(
            first_line(Vec::new(), Verdict::NotComparable { reasons }),
            "not comparable: the load of new was INVALID, so its times are those of another load"
        );
    }

    #[test]
    fn a_condition_is_told_with_its_interval() {
        let condition: Condition = "p(99) slower by 5%".parse().unwrap();
        let rows = vec![row("p99", 1.11, [1.08, 1.14])];
        let of = |outcome| ConditionResult {
            text: condition.text.clone(),
            condition: condition.clone(),
            pair: 0,
            row: Some(0),
            outcome,
        };
        let comparison =
            Comparison { pairs: vec![Pair { rows, ..Pair::default() }], ..Comparison::default() };
        let text = |outcome| super::condition(&comparison, &of(outcome)).1;
        assert_eq!(text(Outcome::Holds), "p(99) slower by 5%: yes, the interval shows it: +8.0 to +14 %");
        assert_eq!(text(Outcome::Undecided), "p(99) slower by 5%: inconclusive: +8.0 to +14 %");
        assert_eq!(change_cell(&comparison.pairs[0].rows[0]), "+11 %");
    }
}
