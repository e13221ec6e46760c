//! How the load left: what was not sent, what was late, bunched or smoothed, and why.

use super::Next::{By, Nothing, Shown};
use super::{Around, Next, Sender, Told, says};
use crate::format::{chosen_time, count, number, plural, share, share_of, signed, size, time, whole};
use headway_stats::metric::NumberOf;
use headway_stats::summary::evidence::{FailedStep, GeneratorCause, Load, MovedNumber, Off, Reference};
use headway_stats::summary::{EffectBasis, RuleId};

pub(super) fn told(load: &Load) -> Told {
    match load {
        Load::UnsentSteps { n, of, after, others } => says(
            unsent_steps(*n, *of, after, *others),
            "Fix the step that failed, or give its `extract` a `default`. Or let such sessions end (`on-failure: end-session`).",
        ),
        Load::Unsent { .. } => says(unsent(load), next_of_unsent(load)),
        Load::OffRate { n, within_s, share: off, expected } => {
            let more = if *off > 0.0 { "more" } else { "fewer" };
            says!(
                Nothing,
                "{} requests started within {}, {} {more} than the {} expected.",
                count(*n),
                time(*within_s),
                share(off.abs()),
                whole(*expected)
            )
        }
        Load::Late { share: late, after_s, p99_s, max_s, cause } => {
            let (cause, more) = generator(cause);
            says!(
                By(|around| around.after_lateness()),
                "{} of the arrivals with a free connection started late: {cause}. They started more than {} late (99th \
                 percentile {}, largest {}). That is the generator's own lateness, not the target's.{more}",
                share(*late),
                chosen_time(*after_s),
                time(*p99_s),
                time(*max_s)
            )
        }
        Load::Moved { sure, numbers, basis, p99_s, max_s, cause } => {
            says(moved(*sure, numbers, *basis, [*p99_s, *max_s], cause), By(|around| around.after_lateness()))
        }
        Load::Uplink { late, n, after_s, bytes_per_s } => {
            let bytes = bytes_per_s.map_or(String::new(), |bytes| {
                format!(
                    " The requests make {} per second, without the headers of TLS, TCP and IP.",
                    size(bytes)
                )
            });
            says!(
                Shown(LIGHTEN),
                "This machine's uplink holds requests back: {} left more than {} after they were written. These are of {} watched \
                 requests, which lay in its send queues (socket or network device). That is the generator's doing, not the target's.{bytes}",
                share_of(*late, *n),
                chosen_time(*after_s),
                count(*n)
            )
        }
        Load::TargetWindow { late, n, after_s } => says!(
            Nothing,
            "The target did not read: {} of the watched requests left this machine more than {} late. Its TCP window was full when they had \
             been written (n = {}). That is the target's doing, and part of its response time.",
            share_of(*late, *n),
            chosen_time(*after_s),
            count(*n)
        ),
        Load::Bunched { off, cause } => {
            let has = match off.from {
                Reference::Plan => "plan",
                Reference::Expectation => "expected load",
            };
            let (how, (cause, more)) = (how(off), generator(cause));
            says!(
                By(|around| around.after_bunches()),
                "Requests left in bunches: {cause}. The {has} does not have them: {how}.{more}"
            )
        }
        Load::Smoothed { off } => {
            let (asked, between) = match off.from {
                Reference::Plan => ("planned", "between plan and socket "),
                Reference::Expectation => ("expected", ""),
            };
            says!(
                By(after_pacing),
                "Requests left more evenly than {asked}: something {between}spaces them out. The target met shorter queues than it \
                 would have: {}.",
                how(off)
            )
        }
        Load::SmoothedByModel { off } => says!(
            By(after_pacing),
            "Requests left more evenly than planned: the model's `pauses` or `connections:` hold them back. What these hold back \
             leaves together or spaced out: {}.",
            how(off)
        ),
        Load::Serialised { send_s, headway_s, stretched } => says!(
            "Use more threads to lower it.",
            "One thread cannot send twice within {}: about {} of the headways are stretched to that. The mean headway is {}. This is \
             physics at this rate and not a defect.",
            time(*send_s),
            share(*stretched),
            time(*headway_s)
        ),
    }
}

fn unsent_steps(n: u64, of: u64, after: &[FailedStep], others: u64) -> String {
    let step = |step: &FailedStep| {
        format!("{} of step {} after step {} had failed", count(step.n), step.step, step.failed)
    };
    let mut steps: Vec<String> = after.iter().map(step).collect();
    if others > 0 {
        steps.push(format!("{} of other steps", count(others)));
    }
    format!(
        "{} requests ({}) were not sent: a value that they need was missing. In the same session, these are {}. They are in no \
         percentile and count as not sent.",
        count(n),
        share_of(n, of),
        steps.join("; ")
    )
}

fn unsent(load: &Load) -> String {
    let Load::Unsent { n, of, gave_up, waiting_at_end, lacked, others, started_per_s, offered_per_s } = load
    else {
        return String::new();
    };
    let causes = [
        (gave_up.saturating_add(*waiting_at_end), "no connection was free in time"),
        (*lacked, "this machine lacked something (see `local-limit`)"),
        (*others, "the run joined its plan late or ended, or a value was missing or did not fit"),
    ];
    let causes: Vec<_> = causes.into_iter().filter(|(n, _)| *n > 0).collect();
    // Of as many the first, which the user can do most about.
    let most = causes.iter().rev().max_by_key(|(n, _)| *n).map_or(String::new(), |(_, cause)| {
        let mostly = if causes.len() > 1 { "mostly because " } else { "" };
        format!(": {mostly}{cause}")
    });
    let parts = [
        (gave_up, "given up after waiting for a connection for the longest time allowed"),
        (waiting_at_end, "still waiting for a connection when the run ended"),
        (lacked, "for want of something on this machine"),
        (others, "since the run joined its plan late or ended, or for want of a value that fits"),
    ];
    let parts = parts.iter().filter(|(n, _)| **n > 0);
    let parts: Vec<String> = parts.map(|(n, words)| format!("{} {words}", count(**n))).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" They are {}.", parts.join(", ")) };
    let rates = started_per_s.zip(*offered_per_s).map_or(String::new(), |(started, offered)| {
        format!(" The target saw {} requests per second instead of {}.", number(started), number(offered))
    });
    format!(
        "{} of {} requests ({}) were not sent{most}.{parts}{rates}",
        count(*n),
        count(*of),
        share_of(*n, *of)
    )
}

/// What a user can do hangs on why.
fn next_of_unsent(load: &Load) -> Next {
    match load {
        Load::Unsent { gave_up, waiting_at_end, lacked, others, .. }
            if *others > gave_up + waiting_at_end + lacked =>
        {
            "Let the run end by itself, start it in time, or correct the value.".into()
        }
        _ => By(|around| around.after_unsent(Some(&RuleId::SentShare))),
    }
}

/// What the machine's uplink needs.
pub(in crate::words) const LIGHTEN: &str = "Send fewer bytes a second, or use a machine with a faster link. `tc -s qdisc` shows what waits in its queue.";

fn after_pacing(around: &Around) -> Option<&'static str> {
    match around.sender {
        Sender::Foreign => None,
        Sender::Simulation => Some(Around::PACED_BY_MODEL),
        Sender::Live => Some(
            "Look for what paces requests on the way. A proxy, a rate limiter, or too few connections do.",
        ),
    }
}

fn how(off: &Off) -> String {
    let from = match off.from {
        Reference::Plan => "the plan's",
        Reference::Expectation => "what was expected",
    };
    let by = signed(off.by);
    match off.window_s {
        Some(window) => {
            format!("counts per {} have an index of dispersion {by} away from {from}", chosen_time(window))
        }
        None => format!("the squared CoV of headways is {by} away from {from}"),
    }
}

/// What the generator's delays did to the numbers.
fn moved(
    sure: bool,
    numbers: &[MovedNumber],
    basis: EffectBasis,
    [p99_s, max_s]: [f64; 2],
    cause: &GeneratorCause,
) -> String {
    let (cause, more) = generator(cause);
    let (is, are) = if sure { ("is", "are") } else { ("may be", "may be") };
    let size = |off: Option<f64>| off.map_or(f64::INFINITY, f64::abs);
    let most = |number: &&MovedNumber| size(number.off[0]).max(size(number.off[1]));
    let worst = numbers.iter().max_by(|a, b| most(a).total_cmp(&most(b)));
    let names: Vec<String> = numbers.iter().map(named).collect();
    let told = match (worst, &names[..]) {
        (None, _) => String::new(),
        (Some(only), [_]) => format!("{} {is} {}", named(only), by_how_much(only, sure)),
        (Some(worst), _) => {
            format!("{} {are} off, {} the most: {}", listed(&names), named(worst), by_how_much(worst, sure))
        }
    };
    let from = match basis {
        EffectBasis::FromStart => {
            " The range is from the response counted from the start to that from the intended instant."
        }
        EffectBasis::Ensemble | EffectBasis::Bound => "",
    };
    format!(
        "The generator was late: {told}. The cause: {cause}. Starts were late by {} (99th percentile), {} at most.{from}{more}",
        time(p99_s),
        time(max_s)
    )
}

/// A number in a sentence: `p99`, `the share that failed`.
fn named(of: &MovedNumber) -> String {
    if of.number == NumberOf::FAILED { "the share that failed".into() } else { of.number.key() }
}

/// `12 % to 31 % too high`, `up to 8 % too high`, `up to 3 % too low or 6 % too high`, `at least 40 % too high`.
fn by_how_much(number: &MovedNumber, sure: bool) -> String {
    match number.off {
        [Some(low), Some(high)] if sure && low > 0.0 => format!("{} to {} too high", share(low), share(high)),
        [Some(low), Some(high)] if sure && high < 0.0 => {
            format!("{} to {} too low", share(-high), share(-low))
        }
        [Some(low), Some(high)] if low >= 0.0 => format!("up to {} too high", share(high)),
        [Some(low), Some(high)] if high <= 0.0 => format!("up to {} too low", share(-low)),
        [Some(low), Some(high)] => format!("up to {} too low or {} too high", share(-low), share(high)),
        [Some(low), None] if sure && low > 0.0 => format!("at least {} too high", share(low)),
        _ => "too high by an unknown share".into(),
    }
}

fn listed(parts: &[String]) -> String {
    match parts {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => parts.concat(),
    }
}

/// Why the generator may have been late, and a sentence more where there is one.
fn generator(cause: &GeneratorCause) -> (String, String) {
    let of = |cause: &str, more: &str| (cause.to_owned(), more.to_owned());
    match cause {
        GeneratorCause::ModelPauses => of("the model's `pauses` held its generator up", ""),
        GeneratorCause::Saturated { share: busy } => (
            format!("a worker was busy handling for {} of its time", share(*busy)),
            " Give it more threads or a lower rate.".to_owned(),
        ),
        GeneratorCause::Stalls { n, longest_s } => (
            format!("the generator stood still for up to {}", time(*longest_s)),
            format!(
                " It stood still {}: other work on this machine or a busy host does that.",
                plural(*n, "time")
            ),
        ),
        GeneratorCause::NoProcessor => {
            of("the generator's threads waited for a processor that other work held", "")
        }
        GeneratorCause::InPattern => of("its cause, where the rows show one, stands with the pattern", ""),
        GeneratorCause::NotRecorded => {
            of("the cause was not recorded", " Look for other work on the generator's machine.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::Summary;

    #[test]
    fn what_was_not_sent_for_another_reason_than_its_rate_is_not_helped_by_a_lower_one() {
        let next = |gave_up, others| {
            let of = told(&Load::Unsent {
                n: gave_up + others,
                of: 10,
                gave_up,
                waiting_at_end: 0,
                lacked: 0,
                others,
                started_per_s: None,
                offered_per_s: None,
            });
            of.next(&Around::new(&Summary::default())).unwrap()
        };
        // Of a run of one request that was not sent when the run ended.
        assert!(!next(0, 1).contains("rate") && !next(0, 1).contains("-c"));
        assert!(next(1, 0).starts_with("Lower the rate"), "what the kind of run says");
    }
}
