//! What a search says: the knee in a sentence, what to know about it, and what each trial came to.

use super::Tone;
use super::failures::ended;
use super::study::Sentence;
use crate::format::{chosen_share, count, number, plural, rate, share, time};
use headway_redact::Cleared;
use headway_stats::search::{
    DriftFound, Earlier, Found, OtherLimit, Outcome, Probed, RateOf, Searched, StoppedBy, TrialEnd, TrialRow,
};
use headway_stats::summary::LoadVerdict;

fn sentence(tone: Tone, text: impl Into<String>) -> Sentence {
    Sentence { tone, text: text.into() }
}

/// Arrivals per second, with what arrives where that are sessions: `41.6/s`, `41.6 sessions/s`; or so many users.
pub fn rate_of(found: &Found, per_second: f64) -> String {
    match found.rate_of {
        RateOf::Requests => rate(per_second),
        RateOf::Sessions => format!("{} sessions/s", number(per_second)),
        RateOf::Users => plural(per_second as u64, "user"),
    }
}

/// The lower end of an interval, whose upper end has the unit.
fn low_of(found: &Found, low: f64) -> String {
    if found.rate_of == RateOf::Users { count(low as u64) } else { number(low) }
}

/// What is searched for.
pub fn what(found: &Found) -> &'static str {
    if found.rate_of == RateOf::Users { "number of users" } else { "rate" }
}

/// An interval of rates: `40.9 to 44.7/s`; an open one as `above 320/s`; none as `-`.
pub fn between(found: &Found, interval: [Option<f64>; 2]) -> String {
    match interval {
        [Some(low), Some(high)] if low == high && found.rate_of == RateOf::Users => rate_of(found, low),
        [Some(low), Some(high)] => format!("{} to {}", low_of(found, low), rate_of(found, high)),
        [Some(low), None] => format!("above {}", rate_of(found, low)),
        [None, Some(high)] => format!("below {}", rate_of(found, high)),
        [None, None] => "-".to_owned(),
    }
}

/// The best estimate with its interval: `about 400/s (310 to 470/s)`; `-` where nothing is known.
pub fn about(found: &Found, estimate: Option<f64>, interval: [Option<f64>; 2]) -> String {
    match (estimate, interval) {
        (None, interval) => between(found, interval),
        (Some(knee), [None, None]) => format!("about {}, without an interval yet", rate_of(found, knee)),
        (Some(_), [Some(low), Some(high)]) if low == high => between(found, interval),
        (Some(knee), interval) => format!("about {} ({})", rate_of(found, knee), between(found, interval)),
    }
}

/// What the closed probes told: `capacity about 495/s, 8.04 ms alone, so 4 servers; 6.0 s`.
pub fn probed(probed: &Probed) -> String {
    let capacity = match probed.capacity {
        Some(capacity) => {
            format!("capacity about {}, ", rate(capacity))
        }
        None => String::new(),
    };
    let servers = plural(u64::from(probed.servers), "server");
    let as_many = if probed.capacity.is_some() { format!(", as of {servers}") } else { String::new() };
    format!(
        "{capacity}{} for one user alone{as_many}; {} requests, {}",
        time(probed.service_s),
        count(probed.rows.iter().map(|row| row.requests).sum()),
        time(probed.took_s())
    )
}

/// Share of failures that is said of a trial.
const FAILED: f64 = 0.01;

/// What failed in a trial, if it is more than a per cent: `34.0 % failed (429)`.
pub fn failures(row: &TrialRow) -> Option<String> {
    let part = row.failed.filter(|failed| *failed > FAILED)?;
    let how = row.failed_by.as_ref().map(|kind| format!(" ({})", ended(&kind.outcome, kind.status)));
    Some(format!("{} failed{}", share(part), how.unwrap_or_default()))
}

/// That the target limits rates, and from how many requests per second: `the target limits rates: 429 from 230/s`.
pub fn limited(per_second: f64) -> String {
    format!("the target limits rates: 429 from {}", rate(per_second))
}

/// What failed of requests where no threshold counts them: the rate is none that the target serves.
fn not_counted(found: &Found) -> Option<Sentence> {
    if found.thresholds.iter().any(|threshold| threshold.contains("failed")) {
        return None;
    }
    let failing =
        found.trials.iter().filter(|row| !row.cut_off).filter_map(|row| Some((row, failures(row)?)));
    let (row, failures) = failing.min_by(|a, b| a.0.rate.total_cmp(&b.0.rate))?;
    let text = format!(
        "at {} {failures}; response times alone are searched, and requests that fail fast keep them short: add --threshold \
         'failed: rate<1%'",
        rate_of(found, row.rate)
    );
    Some(sentence(Tone::Warn, text))
}

/// What was asked: `p(99)<100ms holds`.
pub fn demand(found: &Found) -> String {
    let verb = if found.thresholds.len() == 1 { "holds" } else { "hold" };
    format!("{} {verb}", found.thresholds.join(", "))
}

/// At how many rates a sweep was played, and where its thresholds hold.
fn swept(found: &Found) -> Sentence {
    let level = |rate: &f64| rate_of(found, *rate);
    let of = |ended: TrialEnd| -> Vec<f64> {
        found.trials.iter().filter(|row| row.ended == ended && !row.cut_off).map(|row| row.rate).collect()
    };
    let whole = found.trials.iter().filter(|row| !row.cut_off).count() as u64;
    let points = match found.sweep.len() as u64 {
        all if all == whole => plural(whole, "run"),
        all => format!("{} of {}", count(whole), plural(all, "run")),
    };
    let span = match (found.sweep.first(), found.sweep.last()) {
        (Some(first), Some(last)) if first != last => {
            format!(" from {} to {}", low_of(found, *first), level(last))
        }
        (first, _) => first.map(|first| format!(" at {}", level(first))).unwrap_or_default(),
    };
    let (holds, fails) = (of(TrialEnd::Holds), of(TrialEnd::Fails));
    let (highest, lowest) = (holds.iter().copied().reduce(f64::max), fails.iter().copied().reduce(f64::min));
    let demand = demand(found);
    let judged = match (highest, lowest) {
        _ if found.thresholds.is_empty() => String::new(),
        (None, None) => format!("; it is not shown where {demand}"),
        (Some(highest), None) => format!("; {demand} up to {}", level(&highest)),
        (None, Some(lowest)) => format!("; {demand} at none, not even at {}", level(&lowest)),
        (Some(highest), Some(lowest)) if highest < lowest => {
            format!("; {demand} up to {}, and not at {} and more", level(&highest), level(&lowest))
        }
        _ => format!(
            "; {demand} at {}, and not at {}",
            holds.iter().map(level).collect::<Vec<_>>().join(", "),
            fails.iter().map(level).collect::<Vec<_>>().join(", ")
        ),
    };
    let cut = match found.outcome {
        Outcome::Swept => "",
        Outcome::Interrupted => "interrupted: ",
        Outcome::Unreachable => "no connection could be opened any more: ",
        _ => "not ended: ",
    };
    let tone = if found.outcome == Outcome::Swept { Tone::Plain } else { Tone::Warn };
    sentence(tone, format!("{cut}{points}{span}{judged}"))
}

/// The first line.
pub fn headline(found: &Found) -> Sentence {
    if !found.sweep.is_empty() {
        return swept(found);
    }
    let demand = demand(found);
    let known = match about(found, found.estimate, found.interval) {
        nothing if nothing == "-" => "nothing is known of the knee".to_owned(),
        known => format!("so far the knee is {known}"),
    };
    let lowest = || {
        found.interval[1].map_or_else(|| format!("the lowest {}", what(found)), |rate| rate_of(found, rate))
    };
    match found.outcome {
        Outcome::Found => {
            let half = found.reached.map(|half| format!(", +-{}", share(half))).unwrap_or_default();
            let knee = about(found, found.estimate, found.interval);
            sentence(Tone::Good, format!("{demand} up to {knee}{half}"))
        }
        Outcome::Budget => {
            let budget = time(found.budget_s);
            let text = match found.reached.filter(|reached| *reached <= found.precision) {
                // So narrow an interval of few trials may be one by chance.
                Some(half) => format!(
                    "the budget of {budget} ended before more trials confirmed it: {known}, +-{}",
                    share(half)
                ),
                None => format!(
                    "the budget of {budget} ended before the knee was known to +-{}: {known}",
                    chosen_share(found.precision)
                ),
            };
            sentence(Tone::Warn, text)
        }
        Outcome::Interrupted => sentence(Tone::Warn, format!("interrupted: {known}")),
        Outcome::Never if let Some(threshold) = alone(found) => sentence(
            Tone::Bad,
            format!("no {} was found at which {demand}: one user alone breaks {threshold}", what(found)),
        ),
        Outcome::Never => {
            let last = found.trials.iter().rfind(|row| row.ended.is_failure());
            let how = match last.map(|row| row.ended) {
                Some(TrialEnd::Backlog) => ", where the backlog grew",
                Some(TrialEnd::HeldBack) => ", where requests waited at the cap",
                _ => "",
            };
            sentence(
                Tone::Bad,
                format!("no {} was found at which {demand}: not even {}{how}", what(found), lowest()),
            )
        }
        Outcome::Always => {
            let to = found.interval[0].map(|rate| rate_of(found, rate)).unwrap_or_default();
            sentence(
                Tone::Good,
                format!("{demand} at {to}, the highest {} that was allowed (--to)", what(found)),
            )
        }
        Outcome::Generator => {
            let limit = found.generator_limit.map(|rate| rate_of(found, rate)).unwrap_or_default();
            let holds = match found.interval[0] {
                Some(rate) => format!("{demand} at {}", rate_of(found, rate)),
                None => format!("no {} was judged", what(found)),
            };
            sentence(
                Tone::Warn,
                format!("the generator was the limit: it did not send {limit} as planned; {holds}"),
            )
        }
        Outcome::NotMonotone => {
            let [fails, holds] = found.not_monotone.unwrap_or_default();
            sentence(
                Tone::Bad,
                format!(
                    "there is no knee: at {} the thresholds fail and at {} they hold, each in repeated trials",
                    rate_of(found, fails),
                    rate_of(found, holds)
                ),
            )
        }
        Outcome::Drifts => sentence(
            Tone::Bad,
            format!(
                "there is no knee: the target drifts, its response times at the same rate {}",
                found.drift.map(|drift| changed(&drift)).unwrap_or_default()
            ),
        ),
        Outcome::Undecided => sentence(Tone::Warn, format!("the trials decide nothing more: {known}")),
        Outcome::Unreachable => {
            let before = found.trials.iter().filter(|row| row.ended != TrialEnd::Unreachable).count();
            let last = found.trials.last().and_then(|row| row.failed_by.as_ref());
            let how =
                last.map(|kind| format!(" ({})", ended(&kind.outcome, kind.status))).unwrap_or_default();
            let text = match before {
                0 => format!("no connection to {} could be opened{how}: {known}", found.target),
                n => format!(
                    "after {} {} refused connections, as one does that has ended: {known}",
                    plural(n as u64, "trial"),
                    found.target
                ),
            };
            sentence(Tone::Bad, text)
        }
        Outcome::Failed => {
            let why = found.error.as_deref().unwrap_or("the reason is not known");
            sentence(Tone::Bad, format!("the search could not go on: {why}; {known}"))
        }
        Outcome::Swept | Outcome::Unfinished => {
            sentence(Tone::Warn, format!("the search has not ended: {known}"))
        }
    }
}

/// The threshold that one user alone breaks.
fn alone(found: &Found) -> Option<&str> {
    let broken = found.probed.as_ref()?.broken?;
    found.thresholds.get(broken).map(Cleared::as_str)
}

/// How response times changed.
fn changed(drift: &DriftFound) -> String {
    let verb = if drift.per_minute < 0.0 { "fell" } else { "grew" };
    let [low, high] = drift.ci95.map(signed);
    format!("{verb} by {} a minute (95 % CI {low} to {high})", share(drift.per_minute.abs()))
}

/// A relative change with its sign.
fn signed(change: f64) -> String {
    let sign = if change < 0.0 { "-" } else { "+" };
    format!("{sign}{}", share(change.abs()))
}

/// How the knee compares with that of an earlier search.
fn beside(found: &Found, earlier: &Earlier) -> Sentence {
    let then = format!("beside {}, whose knee is {}", earlier.name, between(found, earlier.interval));
    let lower = |ratio: f64| share(1.0 - ratio);
    let higher = |ratio: f64| share(ratio - 1.0);
    let differs: String = earlier
        .differs
        .iter()
        .map(|differ| format!("; {}: {} there, {} here", differ.what, differ.base, differ.other))
        .collect();
    let (tone, text) = match earlier.ratio {
        [Some(low), Some(high)] if high < 1.0 => {
            (Tone::Bad, format!("the knee is lower by {} to {}", lower(high), lower(low)))
        }
        [None, Some(high)] if high < 1.0 => {
            (Tone::Bad, format!("the knee is lower by at least {}", lower(high)))
        }
        [Some(low), Some(high)] if low > 1.0 => {
            (Tone::Good, format!("the knee is higher by {} to {}", higher(low), higher(high)))
        }
        [Some(low), None] if low > 1.0 => {
            (Tone::Good, format!("the knee is higher by at least {}", higher(low)))
        }
        [Some(low), Some(high)] => (
            Tone::Plain,
            format!(
                "no difference is shown: the knee is between {} lower and {} higher",
                lower(low),
                higher(high)
            ),
        ),
        _ => (Tone::Plain, "no difference is shown: too little is known of the two".to_owned()),
    };
    sentence(tone, format!("{text}, {then}{differs}"))
}

/// What to know about the knee, and what to do.
pub fn notes(found: &Found) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = found.baseline.iter().map(|earlier| beside(found, earlier)).collect();
    match found.outcome {
        Outcome::Budget => all.push(sentence(Tone::Plain, "a longer --budget, or a wider --precision, lets it end")),
        Outcome::Never if alone(found).is_some() => {
            if let Some(row) = found.probed.as_ref().and_then(|probed| probed.rows.first()) {
                let text = format!(
                    "seen with one request after the other: {} in the mean, {} of {} failed; a threshold that the target can meet is needed",
                    time(row.response_s),
                    count(row.failed),
                    plural(row.requests, "request")
                );
                all.push(sentence(Tone::Plain, text));
            }
        }
        Outcome::Never => {
            if let Some(row) = found.trials.iter().rfind(|row| row.ended.is_failure()) {
                let seen = row.response.iter().map(|p| format!("p{} {}", p.percent, time(p.value)));
                let seen: Vec<String> = seen.chain(row.failed.map(|failed| format!("failed {}", share(failed)))).collect();
                let text = format!("seen at {}: {}; a threshold that the target can meet is needed, or a lower --from where one was given", rate_of(found, row.rate), seen.join(", "));
                all.push(sentence(Tone::Plain, text));
            }
        }
        Outcome::Always => all.push(sentence(Tone::Plain, "a higher --to, or none, lets it go on")),
        Outcome::Generator => {
            let busy = found.trials.iter().filter(|row| row.ended == TrialEnd::NotSent).filter_map(|row| row.generator_busy);
            let busy = busy.reduce(f64::max).map(|busy| format!("; its busiest worker was at work for {} of the time", share(busy)));
            let valid = found.interval[0].map(|rate| format!("; at {} its load was not INVALID", rate_of(found, rate)));
            let text = format!(
                "trials at that rate were INVALID{}{}: the run folders have the reasons; another machine, or more threads, may send more",
                busy.unwrap_or_default(),
                valid.unwrap_or_default()
            );
            all.push(sentence(Tone::Plain, text));
        }
        Outcome::Drifts => {
            if let Some(drift) = &found.drift {
                let [first, last] = drift.minutes.map(|minutes| time(60.0 * minutes));
                let [before, after] = drift.response.map(time);
                all.push(sentence(
                    Tone::Plain,
                    format!(
                        "seen at {}: {before} {first} after the search began, {after} after {last} (geometric means)",
                        rate_of(found, drift.rate)
                    ),
                ));
            }
            all.push(sentence(
                Tone::Plain,
                "a leak, a store that fills, a cache that warms up, or other work on its machine does that: find it, or restart the target and search again",
            ));
        }
        Outcome::NotMonotone => all.push(sentence(
            Tone::Plain,
            "caches that fill, autoscaling or a change of the target while it was searched do that: warm it up, and search again",
        )),
        _ => {}
    }
    if let Some(drift) = found.drift.filter(|drift| drift.drifts && found.outcome != Outcome::Drifts) {
        all.push(sentence(
            Tone::Warn,
            format!("the target drifts: its response times at the same rate {}", changed(&drift)),
        ));
    }
    all.extend(found.limited_at().map(|at| sentence(Tone::Warn, limited(at))));
    all.extend(not_counted(found).filter(|_| found.sweep.is_empty()));
    let rates = |of: &dyn Fn(&TrialRow) -> bool| -> String {
        let all = found.trials.iter().filter(|row| of(row)).map(|row| rate_of(found, row.rate));
        all.collect::<Vec<_>>().join(", ")
    };
    let invalid = rates(&|row| row.verdict == Some(LoadVerdict::Invalid));
    if !found.sweep.is_empty() && !invalid.is_empty() {
        let text = format!("at {invalid} the load was INVALID: its numbers are not those of that rate");
        all.push(sentence(Tone::Warn, text));
    }
    let kept = found.trials.iter().any(|row| row.folder.is_some());
    let may_go_on = [Outcome::Budget, Outcome::Interrupted, Outcome::Unreachable, Outcome::Unfinished];
    if kept && found.sweep.is_empty() && may_go_on.contains(&found.outcome) {
        let longer = if found.outcome == Outcome::Budget { " and a longer --budget" } else { "" };
        let text =
            format!("the same command with --resume, the folder of the search{longer} goes on from here");
        all.push(sentence(Tone::Plain, text));
    }
    if !found.cut_off.is_empty() {
        let text = format!(
            "{} cut off before the search went on: none of them counts",
            plural_was(found.cut_off.len())
        );
        all.push(sentence(Tone::Plain, text));
    }
    let left = found.trials.iter().filter(|row| !row.drained && !row.cut_off).count();
    if left > 0 {
        let text = format!(
            "after {} the target had not answered everything: the next began with its backlog",
            plural(left as u64, "trial")
        );
        all.push(sentence(Tone::Warn, text));
    }
    all
}

fn plural_was(trials: usize) -> String {
    let verb = if trials == 1 { "was" } else { "were" };
    format!("{} {verb}", plural(trials as u64, "trial"))
}

/// What several targets were searched for.
pub fn title(searched: &Searched) -> String {
    let demand = searched.targets.first().map(demand).unwrap_or_default();
    format!("{}: up to which rate {demand}", plural(searched.targets.len() as u64, "target"))
}

/// What is to be said of one of several targets.
pub fn of_target(found: &Found) -> Vec<Sentence> {
    let mut all = vec![headline(found)];
    all.extend(notes(found));
    all.into_iter().map(|said| Sentence { text: format!("{}: {}", found.name, said.text), ..said }).collect()
}

/// What became of a search, in a word or two.
pub fn became(outcome: Outcome) -> (&'static str, Tone) {
    match outcome {
        Outcome::Found => ("found", Tone::Good),
        Outcome::Budget => ("budget ended", Tone::Warn),
        Outcome::Interrupted => ("interrupted", Tone::Warn),
        Outcome::Never => ("never holds", Tone::Bad),
        Outcome::Always => ("always holds", Tone::Good),
        Outcome::Generator => ("generator", Tone::Warn),
        Outcome::NotMonotone => ("no knee", Tone::Bad),
        Outcome::Drifts => ("drifts", Tone::Bad),
        Outcome::Undecided => ("undecided", Tone::Warn),
        Outcome::Unreachable => ("not reached", Tone::Bad),
        Outcome::Failed => ("failed", Tone::Bad),
        Outcome::Swept => ("played", Tone::Good),
        Outcome::Unfinished => ("not ended", Tone::Warn),
    }
}

/// The knee at another limit.
pub fn other_limit(found: &Found, other: &OtherLimit) -> String {
    between(found, other.interval)
}

/// What a trial came to, in a word or two.
pub fn outcome(end: TrialEnd) -> (&'static str, Tone) {
    match end {
        TrialEnd::Holds => ("holds", Tone::Good),
        TrialEnd::Fails => ("fails", Tone::Bad),
        TrialEnd::Backlog => ("backlog", Tone::Bad),
        TrialEnd::HeldBack => ("held back", Tone::Bad),
        TrialEnd::Enough => ("pooled", Tone::Plain),
        TrialEnd::Played => ("measured", Tone::Plain),
        TrialEnd::Undecided => ("undecided", Tone::Plain),
        TrialEnd::NotSent => ("not sent", Tone::Warn),
        TrialEnd::Unreachable => ("not reached", Tone::Bad),
    }
}

/// Why it ended.
pub fn why(found: &Found, row: &TrialRow) -> String {
    match row.ended {
        TrialEnd::Holds => "shown to hold".to_owned(),
        TrialEnd::Fails => match row.threshold.and_then(|which| found.thresholds.get(which)) {
            Some(threshold) if found.thresholds.len() > 1 => format!("{threshold} crossed"),
            _ => "shown to be crossed".to_owned(),
        },
        TrialEnd::Backlog => "the backlog grew".to_owned(),
        TrialEnd::HeldBack => "requests waited at the cap".to_owned(),
        TrialEnd::Enough => "its length; told with the others".to_owned(),
        TrialEnd::Played => "its length".to_owned(),
        TrialEnd::NotSent => "the load was not as planned".to_owned(),
        TrialEnd::Unreachable => "no connection could be opened".to_owned(),
        TrialEnd::Undecided if row.stopped_by == Some(StoppedBy::Budget) => "the budget ended".to_owned(),
        TrialEnd::Undecided if row.stopped_by == Some(StoppedBy::Interrupt) => "interrupted".to_owned(),
        TrialEnd::Undecided if row.cut_off => "cut off".to_owned(),
        TrialEnd::Undecided => "nothing was shown".to_owned(),
    }
}

/// What was done in all.
pub fn effort(found: &Found) -> String {
    let what = if found.sweep.is_empty() { "trial" } else { "run" };
    let trials = plural(found.trials.len() as u64, what);
    let time = time(found.took_s);
    let virtual_time = if found.simulated { " of virtual time" } else { "" };
    format!("{trials}, {} requests, {time}{virtual_time}", count(found.requests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::comparison::Difference;
    use headway_stats::summary::Failure;

    #[test]
    fn a_sweep_says_where_its_thresholds_hold() {
        let row = |rate: f64, ended| TrialRow { rate, ended, ..TrialRow::default() };
        let of = |ended: &[TrialEnd], outcome| {
            let rates: Vec<f64> = (1..=3).map(|i| 100.0 * f64::from(i)).collect();
            let trials = rates.iter().zip(ended).map(|(rate, ended)| row(*rate, *ended)).collect();
            let found = Found {
                sweep: rates,
                trials,
                outcome,
                thresholds: vec!["p(99)<9ms".into()],
                ..Found::default()
            };
            headline(&found).text
        };
        use TrialEnd::{Fails, Holds, Played};
        let swept = |ended: [TrialEnd; 3]| of(&ended, Outcome::Swept);
        let begin = "3 runs from 100 to 300/s; ";
        assert_eq!(
            swept([Holds, Played, Fails]),
            format!("{begin}p(99)<9ms holds up to 100/s, and not at 300/s and more")
        );
        assert_eq!(swept([Holds, Holds, Holds]), format!("{begin}p(99)<9ms holds up to 300/s"));
        assert_eq!(
            swept([Fails, Fails, Fails]),
            format!("{begin}p(99)<9ms holds at none, not even at 100/s")
        );
        assert_eq!(
            swept([Fails, Holds, Fails]),
            format!("{begin}p(99)<9ms holds at 200/s, and not at 100/s, 300/s")
        );
        assert_eq!(swept([Played; 3]), format!("{begin}it is not shown where p(99)<9ms holds"));
        let cut = of(&[Holds], Outcome::Interrupted);
        assert_eq!(cut, "interrupted: 1 of 3 runs from 100 to 300/s; p(99)<9ms holds up to 100/s");
    }

    #[test]
    fn a_target_that_limits_rates_is_named_whatever_the_thresholds_are() {
        let failed_by =
            |status| Failure { outcome: "status".into(), status: Some(status), n: 60, ..Failure::default() };
        let of = |status: u16, threshold: &str| {
            let rows = [(100.0, 4_000, None), (250.0, 5_000, Some(status)), (400.0, 5_000, Some(status))];
            let trials = rows.map(|(rate, requests, failed)| TrialRow {
                rate,
                requests,
                sent: Some(rate + 1.0),
                failed_by: failed.map(failed_by),
                ..TrialRow::default()
            });
            let found = Found {
                trials: trials.into(),
                thresholds: vec![headway_redact::clear(threshold)],
                ..Found::default()
            };
            notes(&found).into_iter().map(|note| note.text).find(|text| text.contains("limits rates"))
        };
        let said = Some("the target limits rates: 429 from 251/s".to_owned());
        assert_eq!(of(429, "p(99)<9ms"), said);
        assert_eq!(of(429, "failed: rate<1%"), said);
        assert_eq!(of(503, "failed: rate<1%"), None);
    }

    #[test]
    fn a_drift_is_told_with_its_interval_and_where_it_was_seen() {
        let drift = DriftFound {
            per_minute: 0.0104,
            ci95: [0.008, 0.0128],
            rate: 40.0,
            minutes: [1.5, 10.0],
            response: [0.0125, 0.0137],
            drifts: true,
        };
        let found = |outcome, drift| Found {
            outcome,
            drift: Some(drift),
            thresholds: vec!["p(99)<100ms".into()],
            interval: [None, None],
            ..Found::default()
        };
        let told = |found: &Found| {
            let notes = notes(found).into_iter().map(|note| note.text);
            std::iter::once(headline(found).text).chain(notes).collect::<Vec<_>>()
        };
        let ended = told(&found(Outcome::Drifts, drift));
        assert_eq!(
            ended[0],
            "there is no knee: the target drifts, its response times at the same rate grew by 1.04 % a minute (95 % CI +0.800 % to +1.28 %)"
        );
        assert_eq!(
            ended[1],
            "seen at 40.0/s: 12.5 ms 90.0 s after the search began, 13.7 ms after 10.0 min (geometric means)"
        );
        assert!(ended[2].starts_with("a leak, "), "{}", ended[2]);
        // One that its budget ended says so too.
        let faster = DriftFound { per_minute: -0.02, ci95: [-0.03, -0.01], ..drift };
        let cut = told(&found(Outcome::Budget, faster));
        let said = "the target drifts: its response times at the same rate fell by 2.00 % a minute (95 % CI -3.00 % to -1.00 %)";
        assert!(cut.iter().any(|text| text == said), "{cut:?}");
        let steady = told(&found(Outcome::Budget, DriftFound { drifts: false, ..faster }));
        assert!(!steady.iter().any(|text| text.contains("drifts")), "{steady:?}");
    }

    #[test]
    fn the_knee_is_told_beside_that_of_an_earlier_search() {
        let then =
            Earlier { name: "before".into(), interval: [Some(80.0), Some(100.0)], ..Earlier::default() };
        let told = |interval: [Option<f64>; 2]| {
            let found = Found { interval, baseline: Some(then.beside(interval)), ..Found::default() };
            notes(&found).remove(0).text
        };
        let knee = ", beside before, whose knee is 80.0 to 100/s";
        assert_eq!(told([Some(50.0), Some(60.0)]), format!("the knee is lower by 25.0 % to 50.0 %{knee}"));
        assert_eq!(told([None, Some(60.0)]), format!("the knee is lower by at least 25.0 %{knee}"));
        assert_eq!(told([Some(120.0), Some(160.0)]), format!("the knee is higher by 20.0 % to 100 %{knee}"));
        assert_eq!(told([Some(120.0), None]), format!("the knee is higher by at least 20.0 %{knee}"));
        assert_eq!(
            told([Some(75.0), Some(90.0)]),
            format!("no difference is shown: the knee is between 25.0 % lower and 12.5 % higher{knee}")
        );
        assert_eq!(
            told([None, None]),
            format!("no difference is shown: too little is known of the two{knee}")
        );
        let apart = Earlier {
            differs: vec![Difference { what: "commit".into(), base: "1".into(), other: "2".into() }],
            ..then.beside([None, None])
        };
        assert!(beside(&Found::default(), &apart).text.ends_with("; commit: 1 there, 2 here"));
    }
}
