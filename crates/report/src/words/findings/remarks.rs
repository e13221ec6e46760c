//! What is to be known of the points of a study, of its comparisons, and of a recorded run.

use super::super::why::unsteady;
use super::Next::Nothing;
use super::{Told, says};
use crate::format::{chosen, number, plural, share, time, times_what};
use headway_redact::Cleared;
use headway_stats::summary::Infinite;
use headway_stats::summary::evidence::{NoSteadyState, NotCompared, Remark};

pub(super) fn told(of: &Remark) -> Told {
    match of {
        Remark::LittleBroken { broken, of } => says!(
            Nothing,
            "Little's law does not hold in {broken} of {}: do not trust these numbers. It is a defect of Headway.",
            plural(*of, "run")
        ),
        Remark::RejectsExcess { part, load, failed, mean_s, mean_ok_s } => {
            let times = match mean_s.zip(*mean_ok_s) {
                Some((all, well)) => format!(
                    "Response times count those too: of the requests that succeeded the mean is {}, of all {}.",
                    time(well),
                    time(all)
                ),
                None => "Response times count those too; response_ok is of the requests that succeeded."
                    .to_owned(),
            };
            says!(
                Nothing,
                "{} is offered {} it can do: {} of its requests failed. {times}",
                part.as_deref().unwrap_or("A station"),
                times_what(load.unwrap_or(f64::INFINITY)),
                share(*failed)
            )
        }
        Remark::Unsteady { why, is, nothing_left_out } => {
            let why = unsteady(why);
            let text = match is {
                NoSteadyState::Planned => {
                    format!(
                        "There is no steady state to find: {why}. All numbers are those of runs of this length."
                    )
                }
                NoSteadyState::Absent => {
                    format!("There is no steady state: {why}. Response times tell how long the run was.")
                }
                NoSteadyState::NotFound => format!("No steady state was found: {why}."),
            };
            says(text + if *nothing_left_out { " Nothing was left out." } else { "" }, Nothing)
        }
        Remark::InfiniteOverRuns { part, what } => says(infinite(part, *what), Nothing),
        Remark::FewRequests { n, of } => says!(
            Nothing,
            "{n} of {} had fewer than 100 requests: too few to look for a steady state.",
            plural(*of, "run")
        ),
        Remark::Beginning { why } => says!(Nothing, "Also, {}.", unsteady(why)),
        Remark::ShortForIntervals { length_s, times, relaxation_s, needed } => says!(
            Nothing,
            "What is left of a run lasts {}: {} relaxation times of its slowest part ({}). Below {}, a single run has no intervals: they \
             would be too narrow.",
            time(*length_s),
            number(*times),
            time(*relaxation_s),
            chosen(*needed)
        ),
        Remark::LeftOut { share: cut } => says!(
            Nothing,
            "{} of the requests were left out of the response times as warm-up; counts, rates, failures and utilisation are of all.",
            share(*cut)
        ),
        Remark::GivenUp { n } => says!(
            Nothing,
            "{} got no response. The mean, its interval and the thresholds on it count each of them with the time after which it was \
             given up.",
            plural(*n, "request")
        ),
        Remark::NotCompared { one, other, at, place, why } => {
            says(not_compared([one, other], at, place, *why), Nothing)
        }
        Remark::NotJudged { threshold } => {
            says!(Nothing, "{threshold} is not judged: {KEPT_BY_A_STUDY}.")
        }
    }
}

/// What a study keeps to judge thresholds by.
pub const KEPT_BY_A_STUDY: &str =
    "a study keeps only response, response_ok, failed and started, of all steps together";

fn infinite(part: &str, what: Infinite) -> String {
    match what {
        Infinite::MeanWait | Infinite::MeanService => format!(
            "The mean response time is infinite: the service times of {part} have an infinite variance. The mean shown is of these runs \
             alone, and has no confidence interval. Read percentiles, or bound the service times."
        ),
        Infinite::ServiceVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have an infinite variance. Read \
             percentiles, or bound the service times."
        ),
        Infinite::WaitVariance => format!(
            "The mean response time has no confidence interval: the service times of {part} have so heavy a tail that the waits behind \
             them have an infinite variance. Most runs show a mean that is too small. Read percentiles, or bound the service times."
        ),
    }
}

fn not_compared([one, other]: [&Cleared; 2], at: &[Cleared], place: &str, why: NotCompared) -> String {
    let at = match why {
        NotCompared::MeanInfinite | NotCompared::HeavyTail => "the mean".to_owned(),
        NotCompared::FewBeyond | NotCompared::LowerBounds => {
            at.iter().map(Cleared::as_str).collect::<Vec<_>>().join(", ")
        }
    };
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let why = match why {
        NotCompared::MeanInfinite => "it is infinite",
        NotCompared::HeavyTail => "the service times have too heavy a tail",
        NotCompared::FewBeyond => "too few requests lie beyond, or come in too few crowds",
        NotCompared::LowerBounds => {
            "these are only known to be at least what is shown, because requests got no response"
        }
    };
    format!("{one} and {other} are not compared at {at}{place}: {why}.")
}
