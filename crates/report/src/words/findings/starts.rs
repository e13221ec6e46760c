//! The pattern of the starts, whatever load was asked for.

use crate::format::{chosen, chosen_time, count, number, time, whole};
use headway_stats::summary::Pattern;
use headway_stats::summary::evidence::{Starts, VariesLess};

pub(super) fn sentence(of: &Starts) -> String {
    match of {
        Starts::FixedPopulation { scale_s, window_s, index, why } => format!(
            "Independent up to {}. Over {} counts vary less than those of independent users (index {} instead of 1): {}.",
            time(*scale_s),
            time(*window_s),
            number(*index),
            varies_less(*why)
        ),
        Starts::Repeats { period_s, starts } => format!(
            "The starts repeat themselves exactly every {} ({} of them): all headways there are stand in one such period, and a \
             longer test adds none. Independent users do not.",
            time(*period_s),
            whole(*starts)
        ),
        Starts::Period { period_s, amplitude } => format!(
            "The starts follow a period of {}: its line in the spectrum of the counts has the relative amplitude {} (1 would mean \
             that the rate falls to zero in each period). A timer, a schedule or users who come back in the same order do that; \
             independent users have no period.",
            time(*period_s),
            number(*amplitude)
        ),
        Starts::LongestGaps { n, longest_s, pattern, otherwise } => {
            format!("{}. The times are listed.", longest_gaps(*n, *longest_s, *pattern, *otherwise))
        }
        Starts::CoarseStamps { grid_s, headway_s, window_s, finer } => {
            let finer = finer.as_ref().map_or(String::new(), |finer| format!(" For finer stamps: {finer}."));
            format!(
                "Stamps tell {} and the mean headway is {}: headways describe the clock and not the users, and decide nothing. The \
                 pattern comes from counts in windows of {} and more; bunches shorter than that cannot be seen.{finer}",
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
    match pattern.is_judged_without_pauses(otherwise) {
        true => format!("The pattern is judged without {gaps}: {is}. With {}, it would be {other}", them(n)),
        false => format!("Without {gaps} the pattern would be {other}; with {}, it is {is}", them(n)),
    }
}

fn them(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

fn varies_less(why: VariesLess) -> String {
    match why {
        VariesLess::EachSecond { n } => format!(
            "exactly {} start in each second. Independent users would vary by {} from second to second",
            count(n),
            chosen((n as f64).sqrt())
        ),
        VariesLess::Turns => {
            "a fixed number of users take turns. Slow phases of the target are then met with fewer requests".into()
        }
        VariesLess::TurnsOrSchedule => {
            "users of a fixed number take turns, or a schedule fixes how many start. Slow phases of the target may then be met \
             with fewer requests"
                .into()
        }
        VariesLess::Schedule => "the schedule fixes how many start".into(),
    }
}
