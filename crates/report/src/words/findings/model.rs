//! What only a simulation knows: what its parts are asked for, and how long they remember; and heavy tails.

use super::super::why::unsteady;
use super::Next::Shown;
use super::{Told, says};
use crate::format::{chosen, chosen_share, count, number, per_second_within, share, time, times_what};
use headway_stats::steady::Length;
use headway_stats::summary::evidence::Model;
use headway_stats::summary::{Grows, Infinite, Stated, Unsteady};

pub(super) fn told(of: &Model) -> Told {
    match of {
        Model::FillsUp { part, load, parts, growth } => {
            says(fills_up(part, *load, *parts, growth.as_ref()), "Lower the load, or give it more servers.")
        }
        Model::NoSteadyState { why, n, fastest } => {
            says(no_steady_state(why.as_ref(), *n, fastest.as_ref()), "Run for longer, or lower the load.")
        }
        Model::Sheds { part, load, parts, failed } => {
            let failed = share(*failed);
            let (asked, more) = too_much(part, *load, *parts, "The");
            says!(
                Shown(
                    "Lower the load, or give it more servers. Else read the response times together with the share that failed.",
                ),
                "{asked}: {failed} of its requests failed.{more} The number of requests in it is not shown to grow. Response times of \
                 what succeeded do not tell of them."
            )
        }
        Model::Infinite { part, what } => {
            says(infinite(part, *what), "Read percentiles, or bound the service times.")
        }
        Model::PowerLaw { n, of, from_s, index, ci95: [low, high] } => says!(
            "Read percentiles.",
            "The mean response time has no confidence interval: the largest follow a power law of index {}. They are {} of {}, above \
             {}. Below an index of 2 (95 % CI {} to {}) the variance is infinite. Another run may have quite another mean.",
            number(*index),
            count(*n),
            count(*of),
            time(*from_s),
            number(*low),
            number(*high)
        ),
        Model::TurnedAway { share: rejected, by, after_s, per_user_s } => says!(
            THINK,
            "{} of the requests were turned away{}, and users that hardly think retry at once. That is {} refusals per user and \
             second, each after {} on average. Most requests of this run are refusals: its rate and its percentiles are theirs, and \
             only the successes tell what the others met.",
            share(*rejected),
            by.as_ref().map_or_else(String::new, |part| format!(" by {part}")),
            number(*per_user_s),
            time(*after_s)
        ),
        Model::ShortRun { length_s, times, relaxation_s, beginning, needed_s, mean_s, within } => {
            let worth = match beginning {
                true => format!(
                    "With fewer than {} the numbers are those of a beginning, not of a steady state.",
                    chosen(Length::FORGOTTEN)
                ),
                false => format!(
                    "With fewer than {} a single run has no confidence intervals: they would be too narrow. Several runs have \
                     (--replications 20).",
                    chosen(Length::TRUSTED)
                ),
            };
            says!(
                run_for(*needed_s, *mean_s, *within),
                "The measured phase lasts {} after its warm-up: {} relaxation times of its slowest part. That part takes {} to forget \
                 how it began. {worth}",
                time(*length_s),
                number(*times),
                time(*relaxation_s)
            )
        }
    }
}

/// What keeps users from sending again at once.
const THINK: &str = "Give users a think time (`think: exp(1s)`), or retries a backoff. The backoff is a key of the model (`retries: { attempts: \
    3, backoff: { base: 100ms, factor: 2 } }`): rejected users then wait before they send again.";

fn run_for(needed_s: f64, mean_s: f64, within: f64) -> String {
    format!(
        "Run for at least {} after the warm-up. In {} the mean of a single busy queue becomes known within about {} (Whitt 1989).",
        time(needed_s),
        time(mean_s),
        chosen_share(within)
    )
}

fn no_steady_state(why: Option<&Stated<Unsteady>>, n: u64, fastest: Option<&Grows>) -> String {
    let no_cut = || unsteady(&Unsteady::NoCut { n }.into());
    let why = why.map_or_else(no_cut, unsteady);
    let what = fastest.map_or_else(
        || "No part of the model is shown to fill up.".to_owned(),
        |growth| format!("The number of requests in {} grew by {}.", growth.part, speed(growth)),
    );
    format!("No steady state: {why}. {what}")
}

fn infinite(part: &str, what: Infinite) -> String {
    match what {
        Infinite::ServiceVariance => format!(
            "The mean response time has no confidence interval: {part} has service times of infinite variance. The mean depends on \
             the longest of them in this run."
        ),
        Infinite::WaitVariance => format!(
            "The mean response time has no confidence interval: {part} has service times of too heavy a tail. The waits behind them \
             have an infinite variance (Kiefer and Wolfowitz 1956). Most runs show a mean that is too small."
        ),
        Infinite::MeanWait | Infinite::MeanService => format!(
            "The mean response time is infinite: {part} has service times of infinite variance. The mean wait before its server has \
             no bound (Pollaczek and Khinchine), although its load is below 1. The mean printed is of this run alone and depends on \
             its longest services; a longer run has a larger one, and it has no confidence interval."
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
    let (asked, more) = too_much(part, load, parts, "the");
    format!("No steady state: {asked}.{more} {grew} Response times tell how long the run was.")
}

/// Which part has more work than it can do, then in sentences of their own what else there is to that; `the` begins the first where
/// it begins with an article.
fn too_much(part: &str, load: Option<f64>, parts: usize, the: &str) -> (String, String) {
    let others = match parts {
        0 | 1 => String::new(),
        2 => " Another part is offered more than it can do, too.".into(),
        _ => format!(" {} other parts are offered more than they can do, too.", parts - 1),
    };
    match load {
        None => (
            format!("{the} mean service time of {part} is infinite"),
            format!(" Any load is more than that part can do.{others}"),
        ),
        Some(load) => (format!("{part} is offered {} its servers can do", times_what(load)), others),
    }
}

fn speed(growth: &Grows) -> String {
    per_second_within(growth.per_second, growth.ci95)
}
