//! A recorded run next to simulated ones, in words: what must be known of it, what was asked otherwise, whether they agree.
//!
//! Every sentence is computed from the document: that two numbers differ is only said where their intervals say so.

use super::study::label;
use super::{Tone, findings};
use crate::format::{number, time};
use headway_stats::study::{Point, Study};
use headway_stats::summary::{Against, Beside, Compared, Differs, LoadVerdict, Recorded, Side, Source};

/// What the recorded run is called in a heading of a table: `measured`, unless it was simulated too.
pub fn heading(run: &Recorded) -> &'static str {
    match run.source {
        Source::Sim => "recorded",
        Source::Live | Source::Import => "measured",
    }
}

/// A number with `> ` before a lower bound; `-` where there is none.
pub fn value_cell(side: &Side) -> String {
    let lower = if side.lower_bound { "> " } else { "" };
    side.value.map_or("-".into(), |value| format!("{lower}{}", time(value)))
}

/// The ratio with its interval: `1.02 [0.951, 1.09]`; `-` where there is none.
pub fn ratio_cell(compared: &Compared) -> String {
    let Some(ratio) = compared.ratio else { return "-".into() };
    let interval = compared
        .ratio_ci95
        .map_or(String::new(), |[low, high]| format!(" [{}, {}]", number(low), number(high)));
    number(ratio) + &interval
}

/// Whether the two agree, in a word.
pub fn word(compared: &Compared) -> &'static str {
    match compared.agree {
        Some(true) => "agree",
        Some(false) => "differ",
        None => "n/a",
    }
}

/// How good that is.
pub fn tone(compared: &Compared) -> Tone {
    match compared.agree {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Faint,
    }
}

/// What the columns mean, for below a table.
pub fn meaning(run: &Recorded) -> String {
    format!(
        "ratio: {} over simulated, with the 95 % interval that those of both allow. agree: it holds 1, so that no difference \
         is shown, though there may be one within it; differ: it does not.",
        heading(run)
    )
}

/// A sentence to be read with the numbers.
pub type Sentence = (Tone, String);

/// What must be known of the recorded run itself.
pub fn known(run: &Recorded) -> Vec<Sentence> {
    let name = &run.name;
    let load = match run.load {
        Some(LoadVerdict::Invalid) => Some((
            Tone::Bad,
            format!(
                "The load of {name} was INVALID: it was not sent as planned. Its times are those of another load, of which a \
                 prediction for this one says nothing."
            ),
        )),
        Some(LoadVerdict::Inconclusive) => Some((
            Tone::Warn,
            format!("The load of {name} is INCONCLUSIVE: it is not shown that the load was sent as planned."),
        )),
        Some(LoadVerdict::Valid) => None,
        None => {
            Some((Tone::Warn, format!("It is not known whether the load of {name} was sent as planned.")))
        }
    };
    let cut = run.interrupted.then(|| (Tone::Warn, format!("{name} was cut short.")));
    let notes = findings::remarks(&run.remarks, &run.notes).into_iter().map(|note| (Tone::Warn, note));
    load.into_iter().chain(cut).chain(notes).collect()
}

/// What was asked of one and not of the other, in a sentence; nothing where nothing differs.
pub fn differs(against: &Against) -> Option<Sentence> {
    let all: Vec<String> = against
        .differs
        .iter()
        .map(|d| format!("{} ({} there, {} here)", d.what, d.recorded, d.simulated))
        .collect();
    (!all.is_empty()).then(|| (Tone::Warn, format!("Not asked for the same: {}.", all.join("; "))))
}

/// Why agreement is not told, each reason once: `p50, p99: not told, because ...`.
pub fn not_compared(against: &Against) -> Vec<Sentence> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for Compared { of, why_not, .. } in &against.compared {
        let Some(why) = why_not else { continue };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(of),
            None => reasons.push((why, vec![of])),
        }
    }
    let one =
        |(why, names): (&str, Vec<&str>)| (Tone::Faint, format!("{}: n/a, because {why}.", names.join(", ")));
    reasons.into_iter().map(one).collect()
}

/// The verdict over all numbers of one comparison, in a sentence.
pub fn verdict(run: &Recorded, against: &Against) -> Sentence {
    let of = |agree: Option<bool>| -> Vec<&str> {
        against.compared.iter().filter(|c| c.agree == agree).map(|c| spoken(&c.of)).collect()
    };
    let (same, other, unknown) = (of(Some(true)), of(Some(false)), of(None));
    let mut parts = Vec::new();
    if !same.is_empty() {
        parts.push(format!("at {} both agree within their intervals", same.join(", ")));
    }
    if !other.is_empty() {
        let each = |c: &Compared| {
            let [low, high] = c.ratio_ci95?;
            Some(format!("{} ({} to {} times)", spoken(&c.of), number(low), number(high)))
        };
        let differing = against.compared.iter().filter(|c| c.agree == Some(false));
        let each: Vec<String> = differing.filter_map(each).collect();
        parts.push(format!("they differ at {}, {} over simulated", each.join(", "), heading(run)));
    }
    if !unknown.is_empty() {
        parts.push(format!("at {} it cannot be told", unknown.join(", ")));
    }
    let tone = match (same.is_empty(), other.is_empty(), unknown.is_empty()) {
        (_, false, _) => Tone::Bad,
        (false, true, true) => Tone::Good,
        _ => Tone::Faint,
    };
    (tone, parts.join("; ") + ".")
}

/// A number's name within a sentence.
fn spoken(of: &str) -> &str {
    if of == "mean" { "the mean" } else { of }
}

/// All that is to be said with the table of a single run, what is gravest first.
pub fn sentences(beside: &Beside) -> Vec<Sentence> {
    let mut all = known(&beside.run);
    all.extend(differs(&beside.against));
    all.push(verdict(&beside.run, &beside.against));
    all.extend(not_compared(&beside.against));
    all
}

/// What is asked otherwise of every point, apart from what is asked otherwise of some: the first once, the others by point.
pub fn differs_by_point(study: &Study) -> Vec<Sentence> {
    let against = || study.points.iter().filter_map(|point| Some((point, point.beside.as_ref()?)));
    let common: Vec<_> = match against().next() {
        Some((_, first)) => {
            let of_all = |d: &&Differs| against().all(|(_, other)| other.differs.contains(d));
            first.differs.iter().filter(of_all).cloned().collect()
        }
        None => Vec::new(),
    };
    let of = |differs: Vec<_>| self::differs(&Against { differs, ..Against::default() });
    let own = |(point, against): (&Point, &Against)| {
        let rest = against.differs.iter().filter(|d| !common.contains(d)).cloned().collect();
        let (tone, text) = of(rest)?;
        Some((tone, format!("{}: {text}", label(study, point))))
    };
    let each: Vec<Sentence> = against().filter_map(own).collect();
    of(common.clone()).into_iter().chain(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::study::Parameter;

    /// A number with the interval of its ratio.
    fn one(of: &str, ratio: f64, interval: Option<[f64; 2]>) -> Compared {
        Compared {
            of: of.into(),
            ratio: Some(ratio),
            ratio_ci95: interval,
            agree: interval.map(|[low, high]| low <= 1.0 && 1.0 <= high),
            why_not: interval.is_none().then(|| "nobody knows".into()),
            ..Compared::default()
        }
    }

    fn live(load: Option<LoadVerdict>) -> Recorded {
        Recorded { name: "live".into(), load, ..Recorded::default() }
    }

    #[test]
    fn sentences_follow_from_the_numbers() {
        let run = live(Some(LoadVerdict::Valid));
        let compared = vec![
            one("mean", 1.0, None),
            one("p50", 1.5, None),
            one("p90", 1.0, Some([0.9, 1.1])),
            one("p99", 2.0, Some([1.9, 2.1])),
        ];
        let mut against = Against { compared, differs: Vec::new() };
        let (tone, text) = verdict(&run, &against);
        let expected = "at p90 both agree within their intervals; they differ at p99 (1.90 to 2.10 times), measured over simulated; at the \
                    mean, p50 it cannot be told.";
        assert_eq!((tone, text.as_str()), (Tone::Bad, expected));
        assert_eq!(differs(&against), None);
        assert_eq!(known(&run), []);
        let rate = Differs { what: "rate".into(), recorded: "100/s".into(), simulated: "90/s".into() };
        against.differs.push(rate);
        let all = sentences(&Beside { run, against });
        assert_eq!(all[0].1, "Not asked for the same: rate (100/s there, 90/s here).");
        assert_eq!(all[2].1, "mean, p50: n/a, because nobody knows.");
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn what_the_recorded_run_is_not_good_for_is_said_first() {
        let first = |run: &Recorded| known(run).remove(0);
        let (tone, text) = first(&live(Some(LoadVerdict::Invalid)));
        assert!(tone == Tone::Bad && text.contains("INVALID"), "{text}");
        assert!(first(&live(Some(LoadVerdict::Inconclusive))).1.contains("INCONCLUSIVE"));
        assert!(first(&live(None)).1.contains("is not known"));
        let cut = Recorded {
            interrupted: true,
            notes: vec![headway_stats::summary::Text::by_report("A note.")],
            ..live(Some(LoadVerdict::Valid))
        };
        let all: Vec<String> = known(&cut).into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, ["live was cut short.", "A note."]);
        assert_eq!(heading(&Recorded { source: Source::Sim, ..live(None) }), "recorded");
    }

    #[test]
    fn what_differs_at_every_point_is_said_once() {
        let differs = |what: &str, simulated: &str| Differs {
            what: what.into(),
            recorded: "x".into(),
            simulated: simulated.into(),
        };
        let point = |value: &str, rate: &str| Point {
            values: vec![value.into()],
            beside: Some(Against {
                differs: vec![differs("groups", "y"), differs("rate", rate)],
                ..Against::default()
            }),
            ..Point::default()
        };
        let parameters = vec![Parameter { name: "rate".into(), values: Vec::new() }];
        let study =
            Study { parameters, points: vec![point("1", "1/s"), point("2", "2/s")], ..Study::default() };
        let all: Vec<String> = differs_by_point(&study).into_iter().map(|(_, text)| text).collect();
        assert_eq!(all[0], "Not asked for the same: groups (x there, y here).");
        assert_eq!(all[1], "rate 1: Not asked for the same: rate (x there, 1/s here).");
        assert_eq!(all.len(), 3);
    }
}
