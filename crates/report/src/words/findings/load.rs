//! How the load left: what was not sent, what was late, bunched or smoothed, and why.

use crate::format::{chosen_time, count, number, share, share_of, signed, size, time, whole};
use headway_stats::summary::evidence::{FailedStep, GeneratorCause, Load, Off, Reference};

pub(super) fn sentence(load: &Load) -> String {
    match load {
        Load::UnsentSteps { n, of, after, others } => unsent_steps(*n, *of, after, *others),
        Load::Unsent { .. } => unsent(load),
        Load::OffRate { n, within_s, share: off, expected } => {
            let more = if *off > 0.0 { "more" } else { "fewer" };
            format!(
                "{} requests started within {}, {} {more} than the {} expected.",
                count(*n),
                time(*within_s),
                share(off.abs()),
                whole(*expected)
            )
        }
        Load::Late { share: late, after_s, p99_s, max_s, cause } => format!(
            "{} of the arrivals that found a free connection started more than {} late (99th percentile {}, largest {}). That is \
             the generator's own lateness, not the target's: {}.",
            share(*late),
            chosen_time(*after_s),
            time(*p99_s),
            time(*max_s),
            generator(cause)
        ),
        Load::Uplink { late, n, after_s, bytes_per_s } => {
            let bytes = bytes_per_s.map_or(String::new(), |bytes| {
                format!(
                    " The requests make {} per second, without the headers of TLS, TCP and IP.",
                    size(bytes)
                )
            });
            format!(
                "{} of {} watched requests left this machine more than {} after they were written: they lay in its send queues \
                 (socket or network device). That is the generator's uplink, not the target.{bytes}",
                share_of(*late, *n),
                count(*n),
                chosen_time(*after_s)
            )
        }
        Load::TargetWindow { late, n, after_s } => format!(
            "{} of {} watched requests left this machine more than {} after they were written because the target did not read \
             (its TCP window was full). That is the target's doing, and part of its response time.",
            share_of(*late, *n),
            count(*n),
            chosen_time(*after_s)
        ),
        Load::Bunched { off, cause } => {
            let has = match off.from {
                Reference::Plan => "plan",
                Reference::Expectation => "expected load",
            };
            let (how, cause) = (how(off), generator(cause));
            format!("Requests left in bunches that the {has} does not have: {how}; {cause}.")
        }
        Load::Smoothed { off } => {
            let (asked, between) = match off.from {
                Reference::Plan => ("planned", "between plan and socket "),
                Reference::Expectation => ("expected", ""),
            };
            format!(
                "Requests left more evenly than {asked}: {}. Something {between}spaces them out, so the target met shorter queues \
                 than it would have.",
                how(off)
            )
        }
        Load::SmoothedByModel { off } => format!(
            "Requests left more evenly than planned: {}: what the model's `pauses` or its `connections:` hold back leaves together \
             or spaced out.",
            how(off)
        ),
        Load::Serialised { send_s, headway_s, stretched } => format!(
            "One thread cannot send twice within {} and the mean headway is {}, so about {} of the headways are stretched to that. \
             This is physics at this rate and not a defect; more threads lower it.",
            time(*send_s),
            time(*headway_s),
            share(*stretched)
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
        "{} requests ({}) were not sent, because a value that they need was missing: in the same session, {}. They are in no \
         percentile and count as not sent. Mend the step that failed, give its `extract` a `default`, or let such sessions end \
         (`on-failure: end-session`).",
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
    let reasons = [
        (gave_up, "given up after waiting for a connection for the longest time allowed"),
        (waiting_at_end, "still waiting for a connection when the run ended"),
        (lacked, "for want of something on this machine (see `local-limit`)"),
        (others, "before the run ended, or for want of a value"),
    ];
    let reasons = reasons.iter().filter(|(n, _)| **n > 0);
    let reasons: Vec<String> = reasons.map(|(n, words)| format!("{} {words}", count(**n))).collect();
    let rates = started_per_s.zip(*offered_per_s).map_or(String::new(), |(started, offered)| {
        format!(" The target saw {} requests per second instead of {}.", number(started), number(offered))
    });
    format!(
        "{} of {} requests ({}) were not sent: {}.{rates}",
        count(*n),
        count(*of),
        share_of(*n, *of),
        reasons.join(", ")
    )
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

/// Why the generator may have been late.
fn generator(cause: &GeneratorCause) -> String {
    match cause {
        GeneratorCause::ModelPauses => "the model's `pauses` let its generator stand still".into(),
        GeneratorCause::Saturated { share: busy } => format!(
            "a worker was busy handling for {} of its time: give it more threads or a lower rate",
            share(*busy)
        ),
        GeneratorCause::Stalls { n, longest_s } => format!(
            "its threads stood still {} times, the longest for {}: other work on this machine or a busy host",
            count(*n),
            time(*longest_s)
        ),
        GeneratorCause::NoProcessor => "its threads waited for a processor that other work held".into(),
        GeneratorCause::InPattern => "a cause, where the rows show one, stands with the pattern".into(),
        GeneratorCause::NotRecorded => {
            "the cause was not recorded; look for other work on the generator's machine".into()
        }
    }
}
