//! Sentences about several simulated runs: what was played, how models differ, what is to be said of a point.
//!
//! Every sentence is computed from the document: that one model is faster is only said where the whole interval says so.

use super::why::unsteady;
use super::{Tone, findings};
use crate::format::{count, interval_cell, number, plural, share, time, time_within, times_what};
use headway_redact::Cleared;
use headway_stats::study::{Difference, Estimate, MODEL, Parameter, Point, Study, WarmUp};
use headway_stats::summary::Interval;

/// Something to say, and how it is to be coloured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sentence {
    /// How good that is.
    pub tone: Tone,
    /// One or two sentences.
    pub text: String,
}

fn say(tone: Tone, text: impl Into<String>) -> Sentence {
    Sentence { tone, text: text.into() }
}

/// What was played: `simulation of 3 models; rate over 12 values: 36 points; 20 replications each; seed 1`.
pub fn subject(study: &Study) -> String {
    let parameters: Vec<String> = study
        .parameters
        .iter()
        .map(|parameter| match (parameter.name.as_str(), parameter.values.as_slice()) {
            ("model", values) => plural(values.len() as u64, "model"),
            (name, [value]) => format!("{name} {value}"),
            (name, values) => format!("{name} over {}", plural(values.len() as u64, "value")),
        })
        .collect();
    let mut parts = vec![if parameters.is_empty() {
        "simulation".to_owned()
    } else {
        format!("simulation of {}", parameters.join(", "))
    }];
    if study.parameters.len() > 1 {
        parts.push(plural(study.points.len() as u64, "point"));
    }
    parts.push(match (study.replications, study.points.len()) {
        (n, 0 | 1) => plural(n, "replication"),
        (n, _) => format!("{} each", plural(n, "replication")),
    });
    parts.push(format!("seed {}", study.seed));
    parts.join("; ")
}

/// A point's place among the parameters: `even, rate 100`.
pub fn label(study: &Study, point: &Point) -> String {
    place_of(study, &point.values)
}

fn place_of(study: &Study, values: &[Cleared]) -> String {
    let named = study.parameters.iter().zip(values);
    let parts: Vec<String> = named.map(|(parameter, value)| place(parameter, value)).collect();
    if parts.is_empty() { "all".into() } else { parts.join(", ") }
}

/// A value of a parameter: `rate 100`; of a model its name alone.
pub fn place(parameter: &Parameter, value: &str) -> String {
    match parameter.name.as_str() {
        MODEL => value.to_owned(),
        name => format!("{name} {value}"),
    }
}

/// Points named one by one that lack plays.
const MOST_MISSING: usize = 3;

/// The points that lack plays, since the study was interrupted or shards of it are lost; none where all are there.
fn incomplete(study: &Study) -> Option<Sentence> {
    let n = study.missing.len();
    let text = match study.points.is_empty() {
        _ if n == 0 => return None,
        true => "INCOMPLETE: no point has all its plays. There are no numbers, and no threshold was judged."
            .into(),
        false => {
            let named = study.missing.iter().take(MOST_MISSING).map(|values| place_of(study, values));
            let named = named.collect::<Vec<_>>().join("; ");
            let more = match n.saturating_sub(MOST_MISSING) {
                0 => String::new(),
                more => format!("; and {} more", count(more as u64)),
            };
            let judged = study.points.iter().any(|point| !point.thresholds.is_empty());
            format!(
                "INCOMPLETE: {} {} missing here, for want of plays: {named}{more}.{}",
                plural(n as u64, "point"),
                if n == 1 { "is" } else { "are" },
                if judged { " Thresholds are judged of the others alone." } else { "" },
            )
        }
    };
    Some(say(Tone::Bad, text))
}

/// What all numbers have in common: where intervals come from, and what was left out.
pub fn common(study: &Study) -> Vec<Sentence> {
    if study.points.is_empty() {
        return incomplete(study).into_iter().collect();
    }
    let intervals = match study.replications {
        0 | 1 if !study.differences.is_empty() => {
            "Intervals: 95 %, by batch means within the one run of each point. How far models differ by chance is not known of one \
             replication: --replications 20 tells."
                .to_owned()
        }
        0 | 1 => "Intervals: 95 %, by batch means within the one run of each point.".to_owned(),
        n => format!(
            "Means are over {}, percentiles of all their requests together; intervals: 95 %, by how the replications differ.",
            plural(n, "replication")
        ),
    };
    let left_out = match study.warmup {
        WarmUp::Mser => "Left out as warm-up: what MSER finds (White 1997).",
        WarmUp::Phases => "Left out as warm-up: the scenario's own warm-up phases.",
        WarmUp::Nothing => "Nothing is left out as warm-up: fixed work has no steady state.",
    };
    let mut all = vec![say(Tone::Faint, intervals), say(Tone::Faint, left_out)];
    all.extend(study.timeout_s.map(|after| {
        let [ended, n] =
            [|p: &Point| p.censored, |p: &Point| p.n].map(|of| study.points.iter().map(of).sum());
        let (ended_text, all) = (count(ended), plural(n, "request"));
        let text = format!("Time-out: {}; {ended_text} of {all} had none.", super::model::patience(after));
        say(if ended > 0 { Tone::Plain } else { Tone::Faint }, text)
    }));
    all.extend(incomplete(study));
    all
}

/// Name of a number of the response time as in `at the mean`.
fn at(of: &str) -> String {
    match of {
        "mean" => "at the mean".into(),
        "max" => "at the maximum".into(),
        "p999" => "at p99.9".into(),
        name => format!("at {name}"),
    }
}

/// How two models differ; nothing for a point that the document does not hold.
pub fn difference(study: &Study, difference: &Difference) -> Option<Sentence> {
    let (point, with) = (study.points.get(difference.point)?, study.points.get(difference.with)?);
    let model = study.parameters.iter().position(|parameter| parameter.name == "model");
    let name = |point: &Point| {
        model.and_then(|i| point.values.get(i).map(Cleared::to_string)).unwrap_or_else(|| label(study, point))
    };
    let others: Vec<String> = study
        .parameters
        .iter()
        .zip(&point.values)
        .filter(|(parameter, _)| parameter.name != "model")
        .map(|(parameter, value)| format!("{} {value}", parameter.name))
        .collect();
    let place =
        if others.is_empty() || model.is_none() { String::new() } else { format!("{}: ", others.join(", ")) };
    let (ours, theirs) = (name(point), name(with));
    let (tone, mut text) = compared(&ours, &theirs, &at(&difference.of), &difference.difference);
    if difference.difference.stepped && difference.difference.ci95.is_some_and(|[low, high]| low < high) {
        text +=
            "; single values hold a large part of the requests, so this interval is wider than 95 % needs";
    }
    if difference.ok {
        // First of all who failed: the few that a failing target answers may well be fast.
        let [own, other] = [point, with].map(|point| share(point.failed.mean));
        text =
            format!("{own} of {ours} failed, of {theirs} {other}; among the requests that ended well {text}");
    }
    text += match [point, with].map(|point| point.found == Some(false)) {
        [true, true] => "; neither has a steady state, so this hangs on how long the runs were",
        [true, false] | [false, true] => {
            "; one of the two has no steady state, so this hangs on how long the runs were"
        }
        [false, false] => "",
    };
    Some(say(tone, place + &text))
}

/// What is not compared, and why.
pub fn not_compared(study: &Study) -> impl Iterator<Item = Sentence> + '_ {
    findings::remarks(&study.uncompared, &study.not_compared).into_iter().map(|text| say(Tone::Faint, text))
}

/// A response time in a cell: `> 30.0 s` where it is only known to be at least that.
pub fn time_cell(of: &Estimate) -> String {
    format!("{}{}", if of.lower_bound { "> " } else { "" }, time(of.mean))
}

/// The interval of a response time in a cell, marked where it is stepped; none where there is none.
pub fn interval(of: &Estimate) -> Option<String> {
    of.ci95.map(|ci95| interval_cell(ci95, of.stepped))
}

/// Whether a point has a steady state, in a cell.
pub fn steady_cell(point: &Point) -> &'static str {
    match point.found {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

/// What a load of `-` means; nothing where every point has one.
pub fn no_load(study: &Study) -> &'static str {
    match study.points.iter().any(|point| point.load.is_none()) {
        true => {
            " -: it cannot be told before, as of users that wait for their responses, or where requests are tried again or given up."
        }
        false => "",
    }
}

fn compared(name: &str, with: &str, at: &str, by: &Estimate) -> (Tone, String) {
    let word = |seconds: f64| if seconds < 0.0 { "faster" } else { "slower" };
    match by.ci95 {
        // Either there is one replication, or nobody can say how far chance goes.
        None if by.mean == 0.0 => {
            (Tone::Faint, format!("{name} and {with} do not differ {at}; there is no interval"))
        }
        None => (
            Tone::Faint,
            format!(
                "{name} came out {} {} than {with} {at}; there is no interval",
                time(by.mean.abs()),
                word(by.mean)
            ),
        ),
        Some([low, high]) if low == 0.0 && high == 0.0 => {
            (Tone::Plain, format!("{name} and {with} do not differ {at} in any replication"))
        }
        Some(interval) if excludes_zero(interval) => {
            let [low, high] = interval;
            let positive = if by.mean < 0.0 { [-high, -low] } else { interval };
            let text = format!(
                "{name} is {} {} than {with} {at}",
                time_within(by.mean.abs(), positive),
                word(by.mean)
            );
            (Tone::Plain, text)
        }
        Some(interval) => {
            let text = format!(
                "no difference can be told between {name} and {with} {at}: {}",
                time_within(by.mean, interval)
            );
            (Tone::Faint, text)
        }
    }
}

fn excludes_zero([low, high]: Interval) -> bool {
    low > 0.0 || high < 0.0
}

/// By what factor an interval would be wider with draws of their own.
pub fn gain(difference: &Difference) -> Option<String> {
    difference.gain.filter(|gain| gain.is_finite()).map(|gain| format!("{} times as wide", number(gain)))
}

/// Fewer replications do not tell how two models go together.
const FEWEST_FOR_GAIN: u64 = 10;

/// How much the common draws are worth to these differences; nothing where that is not known.
pub fn gains<'a>(study: &Study, all: impl Iterator<Item = &'a Difference>) -> Option<Sentence> {
    if study.replications < FEWEST_FOR_GAIN {
        return None;
    }
    let known: Vec<f64> = all.filter_map(|by| by.gain).filter(|gain| gain.is_finite()).collect();
    let least = known.iter().copied().reduce(f64::min)?;
    let most = known.iter().copied().reduce(f64::max)?;
    let [least, most] = [least, most].map(number);
    let wide = if least == most { least } else { format!("{least} to {most}") };
    Some(say(Tone::Faint, format!("with draws of their own the intervals would be {wide} times as wide")))
}

/// What is to be said about a point beside its numbers.
pub fn notes(study: &Study, point: &Point) -> Vec<Sentence> {
    let mut all = Vec::new();
    let busiest = point.busiest.as_deref().unwrap_or("a part");
    let overloaded = point.load.filter(|&load| load >= 1.0);
    // What the document says itself is not said again.
    let remarks = findings::remarks(&point.remarks, &point.notes);
    let silent = remarks.is_empty();
    if let Some(load) = overloaded.filter(|_| silent) {
        let text = format!("There is no steady state: {busiest} is offered {} it can do.", times_what(load));
        all.push(say(Tone::Warn, text));
    } else if let Some(why) = point.why_not.as_ref().filter(|_| silent && point.found == Some(false)) {
        all.push(say(Tone::Warn, format!("No steady state was found: {}.", unsteady(why))));
    }
    if point.little_holds < study.replications {
        let broken = study.replications - point.little_holds;
        let text = format!(
            "BROKEN: in {} Little's identity does not hold; nothing that this point says can be trusted.",
            plural(broken, "replication")
        );
        all.push(say(Tone::Bad, text));
    }
    all.extend(remarks.into_iter().map(|remark| say(Tone::Plain, remark)));
    all
}

/// An estimate of a share in a cell.
pub fn share_cell(estimate: Option<&Estimate>) -> String {
    estimate.map_or("-".into(), |estimate| share(estimate.mean))
}

/// The interval of a share in a cell: `79.7 to 80.3 %`; nothing where all replications had none.
pub fn share_interval(estimate: Option<&Estimate>) -> String {
    let known =
        estimate.filter(|estimate| estimate.ci95 != Some([0.0, 0.0])).and_then(|estimate| estimate.ci95);
    let Some([low, high]) = known else { return String::new() };
    let [low, high] = [low.max(0.0), high.min(1.0)].map(share);
    match (low.strip_suffix(" %"), high.ends_with(" %")) {
        (Some(number), true) => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> Study {
        let values =
            |values: &[&str]| values.iter().map(|value| headway_redact::clear(value)).collect::<Vec<_>>();
        let parameter =
            |name: &str, of: &[&str]| Parameter { name: headway_redact::clear(name), values: values(of) };
        let point =
            |of: &[&str]| Point { values: values(of), steady: 20, little_holds: 20, ..Point::default() };
        Study {
            seed: 1,
            replications: 20,
            parameters: vec![parameter("model", &["random", "even"]), parameter("rate", &["100", "200"])],
            points: vec![point(&["random", "200"]), point(&["even", "200"])],
            ..Study::default()
        }
    }

    fn compare(mean: f64, ci95: Option<Interval>) -> String {
        let by = Difference {
            point: 1,
            with: 0,
            of: "mean".into(),
            difference: Estimate { mean, ci95, ..Estimate::default() },
            ..Difference::default()
        };
        difference(&study(), &by).unwrap().text
    }

    #[test]
    fn a_difference_is_only_claimed_where_the_interval_says_so() {
        assert_eq!(
            compare(-0.2459, Some([-0.2478, -0.244])),
            "rate 200: even is 245.9 ms [244.0, 247.8] faster than random at the mean"
        );
        assert_eq!(
            compare(0.02, Some([0.008, 0.032])),
            "rate 200: even is 20 ms [8, 32] slower than random at the mean"
        );
        let no_difference = "rate 200: no difference can be told between even and random at the mean: ";
        assert_eq!(compare(0.001, Some([-0.001, 0.003])), format!("{no_difference}1.0 ms [-1.0, 3.0]"));
        assert_eq!(
            compare(0.0, Some([0.0, 0.0])),
            "rate 200: even and random do not differ at the mean in any replication"
        );
        assert_eq!(
            compare(-0.001, None),
            "rate 200: even came out 1.00 ms faster than random at the mean; there is no interval"
        );
        let gone = Difference { point: 7, ..Difference::default() };
        assert_eq!(difference(&study(), &gone), None);
    }

    #[test]
    fn where_many_fail_it_is_said_who_is_compared_and_how_many_failed() {
        let mut of = study();
        of.points[0].failed.mean = 0.73;
        (of.points[1].failed.mean, of.points[1].found) = (0.12, Some(false));
        let difference_of = Estimate { mean: -0.0021, ci95: Some([-0.0022, -0.002]), ..Estimate::default() };
        let by = Difference {
            point: 1,
            of: "p50".into(),
            ok: true,
            difference: difference_of,
            gain: Some(2.0),
            ..Difference::default()
        };
        let text = difference(&of, &by).unwrap().text;
        for part in [
            "12.0 % of even failed, of random 73.0 %; among the requests that ended well even is",
            "faster than random at p50",
            "one of the two has no",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(gains(&of, [&by].into_iter()).is_some());
        of.replications = 9;
        assert_eq!(gains(&of, [&by].into_iter()), None);
        let given_up = Estimate { mean: 30.0, lower_bound: true, ..Estimate::default() };
        assert_eq!((time_cell(&given_up).as_str(), steady_cell(&of.points[1])), ("> 30.0 s", "no"));
    }

    #[test]
    fn what_was_played_is_told_in_a_line() {
        let mut of = study();
        assert_eq!(
            subject(&of),
            "simulation of 2 models, rate over 2 values; 2 points; 20 replications each; seed 1"
        );
        (of.parameters, of.replications) = (Vec::new(), 1);
        of.points.truncate(1);
        of.points[0].values.clear();
        assert_eq!(subject(&of), "simulation; 1 replication; seed 1");
        assert_eq!(label(&of, &of.points[0]), "all");
    }

    #[test]
    fn notes_are_said_where_something_is_wrong_and_nowhere_else() {
        let of = study();
        let mut point = of.points[0].clone();
        assert_eq!(notes(&of, &point), []);
        (point.found, point.why_not, point.little_holds) =
            (Some(false), Some(headway_stats::summary::Stated::other("it drifts")), 19);
        let texts: Vec<String> = notes(&of, &point).into_iter().map(|note| note.text).collect();
        assert_eq!(texts[0], "No steady state was found: it drifts.");
        assert!(texts[1].starts_with("BROKEN: in 1 replication Little's identity"), "{texts:?}");
        (point.load, point.busiest) = (Some(1.25), Some("dynos".into()));
        assert!(notes(&of, &point)[0].text.contains("dynos is offered 1.25 times what it can do"));
        point.load = Some(f64::INFINITY);
        assert!(notes(&of, &point)[0].text.contains("dynos is offered infinitely more than it can do."));
        let nothing = Study { warmup: WarmUp::Nothing, ..of };
        (point.load, point.found, point.little_holds) = (None, None, 20);
        assert_eq!(notes(&nothing, &point), []);
    }
}
