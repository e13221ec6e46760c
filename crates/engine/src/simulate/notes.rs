//! What is to be said about a point of a study, in words: what grows, what is too short, what could not be told.

use super::estimates::of_values;
use super::inside::Seen;
use super::loads::Loads;
use super::steady_state::beginning;
use headway_report::format::{plural, share, time, times_what};
use headway_report::words::why;
use headway_stats::steady::{Cut, Length};
use headway_stats::study::{Point, WarmUp};
use headway_stats::summary::{Infinite, Stated, Unsteady};

/// So much of the requests being left out as warm-up is worth a word.
const MUCH: f64 = 0.25;

/// What the sentences are about.
#[derive(Debug)]
pub struct About<'a> {
    /// The point, without its notes.
    pub point: &'a Point,
    /// What is asked of the model.
    pub loads: &'a Loads,
    /// What each replication saw.
    pub seen: &'a [&'a Seen],
    /// Whether the number of requests in one of the parts is shown to grow.
    pub grows: bool,
    /// Replications.
    pub replications: u64,
    /// Of those, the ones with too few requests to look for a steady state.
    pub untold: u64,
    /// Whether it is for what is planned to happen once that there is no steady state.
    pub planned: bool,
    /// The part that leaves the mean response time without an interval, if one does, and why.
    pub no_mean: Option<(&'a str, Infinite)>,
    /// What is left out.
    pub warm_up: WarmUp,
    /// Where that ends, the same of all replications.
    pub cut: Cut,
    /// Length of what is left, in seconds.
    pub kept_s: f64,
}

/// The sentences, those on what is gravest first.
pub fn notes(about: &About<'_>) -> Vec<String> {
    let all = [
        little(about),
        turned_away(about),
        unsteady(about),
        no_mean(about),
        untold(about),
        short(about),
        left_out(about),
        given_up(about),
    ];
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

/// What is turned away does not pile up.
pub fn turned_away(about: &About<'_>) -> Option<String> {
    let (load, failed) = refused(about.loads, about.seen, about.grows)?;
    Some(format!(
        "{} is asked for {} it can do: {} of what came to it failed, and the rest tells nothing of those.",
        about.point.busiest.as_deref().unwrap_or("a station"),
        times_what(load),
        share(failed)
    ))
}

/// Where what is too much for the busiest station is turned away and does not pile up: its load, and the share that fails there.
pub fn refused(loads: &Loads, seen: &[&Seen], grows: bool) -> Option<(f64, f64)> {
    let (part, load) = loads.busiest().filter(|(_, load)| *load >= 1.0)?;
    let failed = of_values(seen.iter().filter_map(|seen| Some(seen.parts.get(part)?.failed)).collect());
    let failed = failed.map_or(0.0, |failed| failed.mean);
    (!grows && failed > 0.0 && failed >= 0.5 * (1.0 - 1.0 / load)).then_some((load, failed))
}

fn unsteady(about: &About<'_>) -> Option<String> {
    let why = about.point.why_not.as_ref().filter(|_| about.point.found == Some(false)).map(why::unsteady)?;
    let overloaded = about.loads.busiest().is_some_and(|(_, load)| load >= 1.0);
    if about.planned {
        return Some(format!(
            "There is no steady state to find: {why}. All numbers are those of runs of this length."
        ));
    }
    let mut text = if overloaded || about.grows {
        format!("There is no steady state: {why}. Response times tell how long the run was.")
    } else {
        format!("No steady state was found: {why}.")
    };
    if about.warm_up == WarmUp::Mser && matches!(about.cut, Cut::NotFound(_)) {
        text += " Nothing was left out.";
    }
    Some(text)
}

fn no_mean(about: &About<'_>) -> Option<String> {
    let (part, what) = about.no_mean?;
    Some(match what {
        Infinite::MeanWait | Infinite::MeanService => format!(
            "The mean response time is infinite: the service times of {part} have an infinite variance. The mean told is of these \
             runs alone, and has no confidence interval. Read percentiles, or bound the service times."
        ),
        Infinite::ServiceVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have an infinite variance. Read \
             percentiles, or bound the service times."
        ),
        Infinite::WaitVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have so heavy a tail that the waits \
             behind them have an infinite variance. Most runs show a mean that is too small. Read percentiles, or bound the \
             service times."
        ),
    })
}

/// Much of the runs is in none of the response times, and in all of the rest.
fn left_out(about: &About<'_>) -> Option<String> {
    let cut = about.point.cut_share;
    (about.warm_up == WarmUp::Mser && cut >= MUCH).then(|| {
        format!(
            "{} of the requests were left out of the response times as warm-up; counts, rates, failures and utilisation are of all.",
            share(cut)
        )
    })
}

/// The mean and its interval are of what was waited for an answer.
fn given_up(about: &About<'_>) -> Option<String> {
    let told = about.point.response.get("mean").is_some_and(|mean| mean.lower_bound && mean.ci95.is_some());
    told.then(|| {
        format!(
            "{} got no answer. The mean, its interval and the thresholds on it count each of them with the time after which it was given \
             up.",
            plural(about.point.censored, "request")
        )
    })
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
    // Fixed work is as long as it is.
    if about.warm_up == WarmUp::Nothing {
        return None;
    }
    if let Some(beginning) = beginning(about.loads, about.kept_s) {
        let told = matches!(&about.point.why_not, Some(Stated { why: Unsteady::Beginning { .. }, .. }));
        return (!told).then(|| format!("Besides, {}.", why::unsteady(&beginning.into())));
    }
    let relaxation = about.loads.relaxation_s?;
    match Length::of(relaxation, about.kept_s) {
        // Intervals over replications do not hang on how long each is.
        Length::Short { times } if about.replications == 1 => Some(format!(
            "What is left of a run lasts {}: {times:.1} relaxation times of its slowest part ({}). Below {:.0}, a single run has no \
             intervals: they would be too narrow.",
            time(about.kept_s),
            time(relaxation),
            Length::TRUSTED
        )),
        _ => None,
    }
}
