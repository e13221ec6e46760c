//! Sentences about a simulated model: whether there is a steady state, what was attempted in vain, Little's identity.
//!
//! Absent: the parts themselves (each output has its own table), and what findings say of them.

use super::Tone;
use super::audit::{Fact, fact};
use crate::format::{chosen_time, count, instant, number, plural, share, time, time_range, times_what};
use headway_stats::Summary;
use headway_stats::summary::{Infinite, LittleIdentity, ModelPart, Simulation, Steady};

/// What the columns of a table of parts mean.
pub const COLUMNS: &str = "load: offered load of each server (arrival rate x mean service time; it can do 1); in it: requests \
                           waiting or served, averaged over time and copies.";

/// Everything but the parts.
pub fn model(summary: &Summary) -> Vec<Fact> {
    let Some(simulation) = &summary.simulation else { return Vec::new() };
    let withheld = super::why::missing(&summary.not_computed, "simulation.steady.ci95");
    let mut facts = vec![steady(simulation)];
    let of = &simulation.steady;
    facts.extend(
        of.mean.filter(|_| of.found).map(|mean| fact("mean", mean_after(mean, of, withheld.as_deref()))),
    );
    facts.extend(of.relaxation_s.zip(of.relaxations).filter(|(each, _)| each.is_finite()).map(
        |(each, relaxations)| {
            let text = format!(
                "the measured phase is {} relaxation times long; its slowest part takes {} to forget how it began",
                number(relaxations),
                time(each)
            );
            fact("length", text)
        },
    ));
    facts.extend(simulation.attempts_per_request.map(|attempts| {
        fact("attempts", format!("{} per request that came to a part that tries again", number(attempts)))
    }));
    // Where nothing is tried again and nobody gives up, nothing can be in vain.
    let wasted =
        simulation.wasted.filter(|&wasted| wasted > 0.0 || simulation.attempts_per_request.is_some());
    facts.extend(wasted.map(|wasted| {
        let text = format!("{} of the servers' busy time went into abandoned requests", share(wasted));
        Fact { tone: if wasted > 0.0 { Tone::Warn } else { Tone::Plain }, ..fact("in vain", text) }
    }));
    facts.extend(timeout(summary).map(|text| fact("timeout", text)));
    facts.push(little(&simulation.little));
    facts
}

/// After how long a response is no longer awaited, and how many requests ended so.
fn timeout(summary: &Summary) -> Option<String> {
    let after = summary.plan.as_ref()?.timeout_s?;
    let ended = summary.outcomes.get("timeout").copied().unwrap_or(0);
    let all = plural(super::total(&summary.outcomes), "request");
    Some(format!("{}; {} of {all} ended so", patience(after), count(ended)))
}

/// The client's own timeout, which acts in virtual time too.
pub(super) fn patience(after_s: f64) -> String {
    format!(
        "the client awaits a response for at most {}, as in a live run (timeout: in the scenario, or --timeout)",
        chosen_time(after_s)
    )
}

/// Whether there is a steady state, and from when on.
pub fn steady(simulation: &Simulation) -> Fact {
    let Steady { n, found, cut, cut_s, .. } = simulation.steady;
    let why_not = simulation.steady.why_not.as_ref().map(super::why::unsteady);
    let of = plural(n, "response time");
    let (tone, text) = match (found, overloaded(simulation)) {
        (true, _) if simulation.steady.period_s.is_some() => {
            let period = time(simulation.steady.period_s.unwrap_or_default());
            let text = format!(
                "from {} on, over whole periods of {period}: the first {} of {of} are left out as warm-up",
                instant(cut_s),
                count(cut)
            );
            (Tone::Plain, text)
        }
        (true, _) if cut == 0 => {
            (Tone::Plain, format!("from the beginning: MSER leaves out none of {of} as warm-up"))
        }
        (true, _) => {
            let text = format!(
                "from {} on: MSER leaves out the first {} of {of} as warm-up",
                instant(cut_s),
                count(cut)
            );
            (Tone::Plain, text)
        }
        (false, Some(part)) => (
            Tone::Warn,
            format!(
                "none: {}",
                match part.infinite {
                    Some(Infinite::MeanService) =>
                        format!("the mean service time of {} is infinite", part.name),
                    _ => format!(
                        "{} is offered {} its servers can do",
                        part.name,
                        times_what(part.offered.unwrap_or(0.0))
                    ),
                }
            ),
        ),
        (false, None) if why_not.is_some() => {
            (Tone::Warn, format!("none found: {}", why_not.unwrap_or_default()))
        }
        (false, None) if n == 0 => (Tone::Warn, "none found: there was no response time to look at".into()),
        (false, None) => (
            Tone::Warn,
            format!("none found: by MSER no cut within the first half of {of} leaves the rest steady"),
        ),
    };
    Fact { tone, ..fact("steady", text) }
}

/// The part that is asked for most, if that is all that it can do or more.
fn overloaded(simulation: &Simulation) -> Option<&ModelPart> {
    let parts = simulation.parts.iter().filter(|part| asked(part) >= 1.0);
    parts.max_by(|a, b| asked(a).total_cmp(&asked(b)))
}

/// A document has no number for an infinite load.
fn asked(part: &ModelPart) -> f64 {
    match part.infinite {
        Some(Infinite::MeanService) => f64::INFINITY,
        _ => part.offered.unwrap_or(0.0),
    }
}

/// The load of a part, as it stands in a table.
pub fn load(part: &ModelPart) -> String {
    let asked = asked(part);
    match part.offered {
        None if asked.is_finite() => "-".into(),
        _ => load_cell(asked),
    }
}

/// A load in a cell.
pub fn load_cell(load: f64) -> String {
    if load.is_infinite() { "infinite".into() } else { number(load) }
}

fn mean_after(mean: f64, of: &Steady, withheld: Option<&str>) -> String {
    let bound = if of.lower_bound { "> " } else { "" };
    let Some([low, high]) = of.ci95 else {
        let reason = withheld.unwrap_or("too few batches for one");
        return format!("response {bound}{} after MSER's warm-up; no interval: {reason}", time(mean));
    };
    let batches = of
        .batch_lag1
        .map_or(String::new(), |lag1| format!(" (correlation of neighbouring batches {})", number(lag1)));
    format!(
        "response {bound}{} after MSER's warm-up, 95 % interval {} by batch means{batches}; the mean under Times, with its own interval, \
         is of the whole measured phase",
        time(mean),
        time_range(low, high)
    )
}

fn little(identity: &LittleIdentity) -> Fact {
    let LittleIdentity { n, area_s, sum_s, holds } = *identity;
    let (tone, text) = if n == 0 {
        (Tone::Plain, "nothing came to the model".to_owned())
    } else if holds {
        let text = format!(
            "the integral of the number in the model and the sum of the times in it are the same to the nanosecond: {} \
             request-seconds (n = {})",
            number(area_s),
            count(n)
        );
        (Tone::Plain, text)
    } else {
        let text = format!(
            "BROKEN: the integral of the number in the model is {area_s} request-seconds, the sum of the times in it {sum_s} (n = \
             {}); nothing that this simulation says can be trusted",
            count(n)
        );
        (Tone::Bad, text)
    };
    Fact { tone, ..fact("Little", text) }
}

/// What a part is, in words: `least-connections`, `station fifo, 4 servers`.
pub fn kind_of_part(part: &ModelPart) -> String {
    let kind = part.kind.strip_prefix("balancer ").unwrap_or(&part.kind);
    match part.servers {
        Some(servers) => format!("{kind}, {}", plural(servers, "server")),
        None => kind.to_owned(),
    }
}

/// How good a part's load is.
pub fn load_tone(part: &ModelPart) -> Tone {
    if asked(part) >= 1.0 { Tone::Bad } else { Tone::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_state_is_only_claimed_where_it_was_found() {
        let mut of = Simulation::default();
        let text = |of: &Simulation| steady(of).text;
        assert_eq!(text(&of), "none found: there was no response time to look at");
        of.steady = Steady { n: 1, found: true, ..Steady::default() };
        assert_eq!(text(&of), "from the beginning: MSER leaves out none of 1 response time as warm-up");
        of.steady = Steady { n: 6_000, found: true, cut: 512, cut_s: 4.25, ..Steady::default() };
        assert_eq!(
            text(&of),
            "from 4.250 s on: MSER leaves out the first 512 of 6,000 response times as warm-up"
        );
        of.steady.found = false;
        assert!(text(&of).starts_with("none found: by MSER"), "{}", text(&of));
        of.parts = vec![ModelPart { name: "dynos".into(), offered: Some(1.25), ..ModelPart::default() }];
        assert_eq!(text(&of), "none: dynos is offered 1.25 times what its servers can do");
        assert_eq!(steady(&of).tone, Tone::Warn);
        of.parts[0].offered = Some(f64::INFINITY);
        assert_eq!(text(&of), "none: dynos is offered infinitely more than its servers can do");
        assert_eq!(load(&of.parts[0]), "infinite");
        of.parts[0].infinite = Some(Infinite::MeanService);
        (of.parts[0].offered, of.steady.n) = (None, 6_000);
        assert_eq!(text(&of), "none: the mean service time of dynos is infinite");
        assert_eq!((load(&of.parts[0]), load_tone(&of.parts[0])), ("infinite".into(), Tone::Bad));
        of.parts[0].infinite = None;
        of.parts[0].offered = Some(1.0);
        assert_eq!(text(&of), "none: dynos is offered all that its servers can do");
    }

    #[test]
    fn the_two_means_of_one_report_are_told_apart() {
        let steady =
            Steady { n: 600, found: true, mean: Some(0.05), ci95: Some([0.04, 0.06]), ..Steady::default() };
        let simulation = Some(Simulation { steady, ..Simulation::default() });
        let mut summary = Summary { simulation, ..Summary::default() };
        let text =
            |summary: &Summary| model(summary).into_iter().find(|fact| fact.name == "mean").unwrap().text;
        assert!(text(&summary).contains("MSER's warm-up") && text(&summary).contains("whole measured phase"));
        summary.simulation.as_mut().unwrap().steady.ci95 = None;
        assert!(text(&summary).ends_with("no interval: too few batches for one"));
        summary.not_computed.insert(
            "simulation.steady.ci95".into(),
            headway_stats::summary::Stated::other("the mean is infinite"),
        );
        assert!(text(&summary).ends_with("no interval: the mean is infinite"));
    }

    #[test]
    fn what_was_not_counted_is_not_said_and_a_broken_identity_cannot_be_overlooked() {
        let summary = |of: &Simulation| Summary { simulation: Some(of.clone()), ..Summary::default() };
        let mut of = Simulation::default();
        let names: Vec<_> = model(&summary(&of)).iter().map(|fact| fact.name).collect();
        assert_eq!(names, ["steady", "Little"]);
        of.little = LittleIdentity { n: 2, area_s: 3.5, sum_s: 3.25, holds: false };
        let fact = model(&summary(&of)).pop().unwrap();
        assert!(fact.text.contains("3.5 request-seconds") && fact.text.contains("3.25"), "{}", fact.text);
        assert_eq!(fact.tone, Tone::Bad);
    }
}
