//! The pattern of the starts, whatever load was asked for.

use super::Next::{By, Nothing};
use super::{Told, says};
use crate::format::{chosen, chosen_time, count, number, time, whole};
use headway_stats::summary::Pattern;
use headway_stats::summary::evidence::{Starts, VariesLess};

pub(super) fn told(of: &Starts) -> Told {
    match of {
        Starts::FixedPopulation { scale_s, window_s, index, why } => {
            let (short, more) = varies_less(*why);
            says!(
                Nothing,
                "Independent up to {}; over longer times {short}. Over {} counts vary less than those of independent users (index {} \
                 instead of 1).{more}",
                time(*scale_s),
                time(*window_s),
                number(*index)
            )
        }
        Starts::Repeats { period_s, starts } => says!(
            Nothing,
            "The starts repeat exactly every {}, which those of independent users do not. One such period ({} starts) \
             holds every headway that there is, and a longer test adds none.",
            time(*period_s),
            whole(*starts)
        ),
        Starts::Period { period_s, amplitude } => says!(
            Nothing,
            "The starts follow a period of {}, and independent users have none. Its line in the spectrum of the counts has the \
             relative amplitude {} (1 would mean that the rate falls to zero in each period). A timer, a schedule or users that come \
             back in the same order do that.",
            time(*period_s),
            number(*amplitude)
        ),
        Starts::LongestGaps { n, longest_s, pattern, otherwise } => {
            says!(Nothing, "{}. The times are listed.", longest_gaps(*n, *longest_s, *pattern, *otherwise))
        }
        Starts::CoarseStamps { grid_s, headway_s, window_s, finer } => {
            let finer = finer.as_ref().map_or(String::new(), |finer| format!(" For finer stamps: {finer}."));
            says!(
                By(|run| {
                    run.is_foreign().then_some("Have the tool write finer stamps. Its option stands with the file, where there is one.")
                }),
                "Stamps of {} are too coarse for a mean headway of {}: headways tell of the clock, not of users. They decide nothing. \
                 The pattern comes from counts in windows of {} and more; bunches shorter than that cannot be seen.{finer}",
                chosen_time(*grid_s),
                time(*headway_s),
                chosen_time(*window_s)
            )
        }
    }
}

/// That a few pauses change the pattern, as sentences without the last full stop.
pub(in crate::words) fn longest_gaps(n: u64, longest_s: f64, pattern: Pattern, otherwise: Pattern) -> String {
    let (is, other, longest) = (pattern.word(), otherwise.word(), time(longest_s));
    let gaps = match n {
        1 => format!("one pause of {longest}"),
        n => format!("the {} longest pauses (up to {longest})", count(n)),
    };
    if pattern == otherwise {
        return format!(
            "{} too long for independent users; without {} the pattern is {is} too",
            pauses(n, longest_s),
            them(n)
        );
    }
    match pattern.is_judged_without_pauses(otherwise) {
        true => format!("The pattern is judged without {gaps}: {is}. With {}, it would be {other}", them(n)),
        false => format!("Without {gaps} the pattern would be {other}; with {}, it is {is}", them(n)),
    }
}

/// `5 pauses of up to 300 ms are`.
fn pauses(n: u64, longest_s: f64) -> String {
    match n {
        1 => format!("A pause of {} is", time(longest_s)),
        n => format!("{} pauses of up to {} are", count(n), time(longest_s)),
    }
}

fn them(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

/// What keeps the counts from varying, and what that means.
fn varies_less(why: VariesLess) -> (String, String) {
    let text = |short: &str, more: &str| (short.to_owned(), more.to_owned());
    match why {
        VariesLess::EachSecond { n } => (
            format!("exactly {} start in each second", count(n)),
            format!(" Independent users would vary by {} from second to second.", chosen((n as f64).sqrt())),
        ),
        VariesLess::Turns => text(
            "a fixed number of users take turns",
            " Slow phases of the target are then met with fewer requests.",
        ),
        VariesLess::TurnsOrSchedule => text(
            "a fixed number of users, or a schedule, sets how many start",
            " Slow phases of the target may then be met with fewer requests.",
        ),
        VariesLess::Schedule => text("the schedule fixes how many start", ""),
    }
}
