//! What only a simulation knows: what its parts are asked for, and how long they remember; and heavy tails.

use super::super::why::unsteady;
use crate::format::{chosen, chosen_share, count, number, per_second_within, share, time, times_what};
use headway_stats::steady::Length;
use headway_stats::summary::evidence::Model;
use headway_stats::summary::{Grows, Infinite, Stated, Unsteady};

pub(super) fn sentence(of: &Model) -> String {
    match of {
        Model::FillsUp { part, load, parts, growth } => fills_up(part, *load, *parts, growth.as_ref()),
        Model::NoSteadyState { why, n, fastest } => no_steady_state(why.as_ref(), *n, fastest.as_ref()),
        Model::Sheds { part, load, parts, failed } => format!(
            "{} The number of requests in it is not shown to grow: {} of those that came to it failed. Response times of what \
             succeeded do not tell of them.",
            too_much(part, *load, *parts, "The"),
            share(*failed)
        ),
        Model::Infinite { part, what } => infinite(part, *what),
        Model::PowerLaw { n, of, from_s, index, ci95: [low, high] } => format!(
            "The mean response time has no confidence interval: the largest response times ({} of {}, above {}) follow a power law \
             of index {} (95 % CI {} to {}), and below an index of 2 the variance is infinite. Another run may have quite another \
             mean. Read percentiles.",
            count(*n),
            count(*of),
            time(*from_s),
            number(*index),
            number(*low),
            number(*high)
        ),
        Model::TurnedAway { share: rejected, by, after_s, per_user_s } => format!(
            "{} of the requests were turned away{}, after {} on average, and users who hardly think ask again at once: {} refusals \
             per user and second. Most requests of this run are refusals: its rate and its percentiles are theirs, and only the \
             successes tell what the others met. Give the users a think time (`think: exp(1s)`), or let the model try again with a \
             backoff (`retries: {{ attempts: 3, backoff: {{ base: 100ms, factor: 2 }} }}`), as rejected users wait before they ask \
             again.",
            share(*rejected),
            by.as_ref().map_or_else(String::new, |part| format!(" by {part}")),
            time(*after_s),
            number(*per_user_s)
        ),
        Model::ShortRun { length_s, times, relaxation_s, beginning, needed_s, mean_s, within } => {
            let worth = match beginning {
                true => format!(
                    "With fewer than {} the numbers are those of a beginning, not of a steady state",
                    chosen(Length::FORGOTTEN)
                ),
                false => format!(
                    "With fewer than {} a single run has no confidence intervals: they would be too narrow. Several runs have \
                     (--replications 20)",
                    chosen(Length::TRUSTED)
                ),
            };
            format!(
                "After its warm-up the measured phase lasts {}: {} relaxation times of its slowest part, which takes {} to forget \
                 how it began. {worth}. Run for at least {} after the warm-up; in {} the mean of a single busy queue becomes known \
                 within about {} (Whitt 1989).",
                time(*length_s),
                number(*times),
                time(*relaxation_s),
                time(*needed_s),
                time(*mean_s),
                chosen_share(*within)
            )
        }
    }
}

fn no_steady_state(why: Option<&Stated<Unsteady>>, n: u64, fastest: Option<&Grows>) -> String {
    let no_cut = || unsteady(&Unsteady::NoCut { n }.into());
    let why = why.map_or_else(no_cut, unsteady);
    let what = fastest.map_or_else(
        || "No part of the model is shown to fill up.".to_owned(),
        |growth| format!("The number of requests in {} grew by {}.", growth.part, speed(growth)),
    );
    format!("No steady state was found: {why}. {what} Run for longer, or ask for less.")
}

fn infinite(part: &str, what: Infinite) -> String {
    match what {
        Infinite::ServiceVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have an infinite variance. The mean \
             depends on the longest of them in this run. Read percentiles, or bound the service times."
        ),
        Infinite::WaitVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have so heavy a tail that the waits \
             behind them have an infinite variance (Kiefer and Wolfowitz 1956). Most runs show a mean that is too small. Read \
             percentiles, or bound the service times."
        ),
        Infinite::MeanWait | Infinite::MeanService => format!(
            "The mean response time is infinite: the service times of {part} have an infinite variance, and so the mean wait before \
             its server has no bound (Pollaczek and Khinchine), although its load is below 1. The mean printed is of this run \
             alone and depends on its longest services; a longer run has a larger one, and it has no confidence interval. Read \
             percentiles, or bound the service times."
        ),
    }
}

fn fills_up(part: &str, load: Option<f64>, parts: usize, growth: Option<&Grows>) -> String {
    let grew = growth.map_or_else(
        || "How fast the number of requests in it grows is not known from so few windows.".into(),
        |growth| match growth.ci95[0] > 0.0 {
            true => format!("The number of requests in it grew by {}.", speed(growth)),
            false => {
                format!(
                    "In this run it is not shown that the number of requests in it grew: {}.",
                    speed(growth)
                )
            }
        },
    );
    format!(
        "There is no steady state: {} {grew} Response times tell how long the run was; ask for less, or give it more servers.",
        too_much(part, load, parts, "the")
    )
}

/// Which part has more work than it can do, and how many others have; `the` begins it where it begins with an article.
fn too_much(part: &str, load: Option<f64>, parts: usize, the: &str) -> String {
    let others = match parts {
        0 | 1 => String::new(),
        2 => ", and another part for more than it can do too".into(),
        _ => format!(", and {} other parts for more than they can do too", parts - 1),
    };
    match load {
        None => format!(
            "{the} mean service time of {part} is infinite, so whatever it is asked for is more than it can do{others}."
        ),
        Some(load) => format!("{part} is asked for {} its servers can do{others}.", times_what(load)),
    }
}

fn speed(growth: &Grows) -> String {
    per_second_within(growth.per_second, growth.ci95)
}
