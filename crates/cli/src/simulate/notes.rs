//! What is to be said about a point of a study, in words: what grows, what is too short, what could not be told.

use super::estimates::of_values;
use super::inside::Seen;
use super::loads::Loads;
use report::format::{plural, share, time};
use stats::steady::Length;
use stats::study::{Point, WarmUp};

/// What the sentences are about.
#[derive(Debug)]
pub struct About<'a> {
    /// The point, without its notes.
    pub point: &'a Point,
    /// What is asked of the model.
    pub loads: &'a Loads,
    /// What each replication saw.
    pub seen: &'a [&'a Seen],
    /// Replications.
    pub replications: u64,
    /// Of those, the ones with too few requests to look for a steady state.
    pub untold: u64,
    /// What is left out.
    pub warm_up: WarmUp,
    /// Length of what is left, in seconds.
    pub kept_s: f64,
}

/// The sentences, those on what is gravest first.
pub fn notes(about: &About<'_>) -> Vec<String> {
    let all = [little(about), growing(about), unsteady(about), untold(about), short(about)];
    all.into_iter().flatten().collect()
}

fn little(about: &About<'_>) -> Option<String> {
    let broken = about.replications - about.point.little_holds;
    (broken > 0).then(|| {
        format!(
            "Little's law does not hold in {broken} of {}: these numbers are not to be trusted, and this is a defect of the \
             program.",
            plural(about.replications, "run")
        )
    })
}

fn growing(about: &About<'_>) -> Option<String> {
    let (part, load) = about.loads.busiest().filter(|(_, load)| *load >= 1.0)?;
    let name = about.point.busiest.as_deref().unwrap_or("a station");
    let of = |pick: fn(&super::inside::PartSeen) -> Option<f64>| -> Vec<f64> {
        about.seen.iter().filter_map(|seen| pick(seen.parts.get(part)?)).collect()
    };
    let failed = of_values(of(|part| Some(part.failed))).map_or(0.0, |failed| failed.mean);
    let growth = of_values(of(|part| part.growth));
    let asked = format!("{name} is asked for {load:.2} times what it can do");
    let grew = growth.map(|growth| {
        let interval = growth.ci95.map(|[low, high]| format!(" (95 % interval {low:.3} to {high:.3})"));
        format!("requests in it grew by {:.3} per second{}", growth.mean, interval.unwrap_or_default())
    });
    Some(match grew {
        // What is turned away does not pile up.
        _ if failed > 0.0 && failed >= 0.5 * (1.0 - 1.0 / load) => {
            format!(
                "{asked}: {} of what came to it failed, and the rest tells nothing of those.",
                share(failed)
            )
        }
        Some(grew) => format!(
            "There is no steady state: {asked}, and {grew}. Response times tell how long the run was."
        ),
        None => format!("There is no steady state: {asked}. Response times tell how long the run was."),
    })
}

fn unsteady(about: &About<'_>) -> Option<String> {
    let overloaded = about.loads.busiest().is_some_and(|(_, load)| load >= 1.0);
    let looked_at = about.replications - about.untold;
    let without = looked_at.saturating_sub(about.point.steady);
    if overloaded || about.warm_up == WarmUp::Nothing || without == 0 {
        return None;
    }
    Some(format!(
        "No steady state was found in {without} of {}: by MSER, no cut within the first half leaves the rest steady.",
        plural(about.replications, "run")
    ))
}

fn untold(about: &About<'_>) -> Option<String> {
    (about.untold > 0 && about.warm_up != WarmUp::Nothing).then(|| {
        format!(
            "{} of {} had fewer than 100 requests: too few to look for a steady state.",
            about.untold,
            plural(about.replications, "run")
        )
    })
}

fn short(about: &About<'_>) -> Option<String> {
    let relaxation = about.loads.relaxation_s?;
    let (times, worth, limit) = match Length::of(relaxation, about.kept_s) {
        Length::TooShort { times } => {
            (times, "the numbers are those of a beginning, not of a steady state", Length::FORGOTTEN)
        }
        // Intervals over replications do not hang on how long each is.
        Length::Short { times } if about.replications == 1 => {
            (times, "the intervals of a single run are too narrow", Length::TRUSTED)
        }
        _ => return None,
    };
    Some(format!(
        "What is left of a run lasts {}: {times:.1} relaxation times of the slowest station ({}). Below {limit:.0}, {worth}.",
        time(about.kept_s),
        time(relaxation)
    ))
}
