//! Why a load has the pattern it has, and what else the rows of another tool leave to be said.

use crate::format::{chosen_time, count, number, plural, rate, share, time, whole};
use headway_stats::summary::evidence::{Cause, FirstStamp, Reading};
use headway_stats::summary::{LoadVerdict, Pattern};

pub(super) fn sentence(of: &Cause) -> String {
    match of {
        Cause::SameSeed { one, other, correlation } => format!(
            "{one} and {other} sent the same headways in the same order (correlation {}): the same seed on both. {OWN_SEED}",
            number(*correlation)
        ),
        Cause::SameSeedShifted { one, other, share: again, chance, later_s } => {
            let way = if *later_s > 0.0 { "later" } else { "earlier" };
            let shifted = later_s.abs() > 0.0;
            let shift = if shifted { format!(" {} {way}", time(later_s.abs())) } else { String::new() };
            format!(
                "{} of the starts of {one} come again from {other}{shift} ({} would by chance): the same seed on both, of which some \
                 requests were lost or begin elsewhere. {OWN_SEED}",
                share(*again),
                share(*chance)
            )
        }
        Cause::InStep { one, other, share: together, chance } => format!(
            "{} of the starts of {one} fall together with one of {other} ({} would by chance): generators with regular headways that \
             were started in step. {SPREAD}",
            share(*together),
            share(*chance)
        ),
        Cause::UsersInStep { users, period_s, mean_vector } => format!(
            "Each of the {} users sends once in {} and all send together (mean vector {}, 0 if they did not): users of constant rate \
             that were started in step. {SPREAD}",
            count(*users),
            time(*period_s),
            number(*mean_vector)
        ),
        Cause::AllWaiting { users, share: of_the_time } => {
            let effect = format!(
                "In {} of the time nearly all of the {} users were waiting",
                share(*of_the_time),
                whole(*users)
            );
            saturation(&effect)
        }
        Cause::NoThinkTime { users, think_s } => saturation(&format!(
            "The {} users do not think ({} on average): they are always waiting",
            whole(*users),
            time(*think_s)
        )),
        Cause::ConstantRate { cov, cov_of_one } => {
            let one = cov_of_one
                .map_or(String::new(), |one| format!(", while that of a single user is {}", number(one)));
            format!(
                "Requests leave on a schedule of constant rate (CoV {}{one}). Real users do not take turns: such a load meets shorter \
                 queues than they would.",
                number(*cov)
            )
        }
        Cause::FixedThink { think_s, cov, pattern } => {
            let effect = match pattern {
                Pattern::Bunched => {
                    "users that a slow response brings together stay together, and come back as a bunch each time"
                }
                Pattern::Even => "each user comes back like a clock",
                _ => {
                    "each user comes back like a clock: longer than that the users are not independent, and those that one slow \
                     response brings together stay together"
                }
            };
            format!(
                "The think time is fixed at {} (CoV at most {}), so {effect}. Draw it from a distribution; an exponential one is like \
                 independent users.",
                time(*think_s),
                number(*cov)
            )
        }
        Cause::FixedPacing { users, period_s, cov } => format!(
            "Each of the {} users sends once in {}, whatever its responses take (CoV of the first user's headways {}): longer than \
             that the users take turns and are not independent. Draw the pacing from a distribution.",
            whole(*users),
            time(*period_s),
            number(*cov)
        ),
        Cause::TimerTicks { period_s, mean_vector, per_tick } => format!(
            "Starts keep to the ticks of a timer of {} (mean vector {}, 0 without ticks): {} requests a tick on average leave together. \
             A generator that sleeps until each request is due would not do that.",
            chosen_time(*period_s),
            number(*mean_vector),
            number(*per_tick)
        ),
        Cause::GeneratorPauses { n, longest_s, share: of_excess } => format!(
            "The generator stood still {}, the longest for {}: no request left, then those held up left at once, while few were \
             waiting for a response. Such pauses (garbage collection, a busy machine) make {} of the excess; the times are listed.",
            plural(*n, "time"),
            time(*longest_s),
            share(*of_excess)
        ),
        Cause::FeedbackLoop { n, longest_s, share: of_excess } => format!(
            "{}, the longest for {}, no request left because those in flight were waiting for a response; the users came back when it \
             came. The target's stalls shape the load (closed-loop feedback) and make {} of the excess. Independent users would have \
             gone on coming.",
            plural(*n, "time"),
            time(*longest_s),
            share(*of_excess)
        ),
        Cause::Interruption { n, longest_s, share: of_excess } => {
            let gaps = match n {
                1 => "The longest such gap makes".to_owned(),
                n => format!("The {} longest such gaps make", count(*n)),
            };
            format!(
                "No request left for {}, and nothing was made up for afterwards: an interrupted test, several tests in one file, or a \
                 clock that was set. {gaps} {} of the excess; the times are listed. Judge one part with --from and --for.",
                time(*longest_s),
                share(*of_excess)
            )
        }
        Cause::ChangingRate { rate: held, from_s, to_s, least, most, judge_from_s, judge_for_s } => format!(
            "The rate is not the same throughout: {} from {} to {} after the first start, and {} to {} outside of that (a ramp, or \
             generators that begin and end at different times). A changing rate looks bunched by itself. Judge the steady part: \
             --from {judge_from_s}s --for {judge_for_s}s.",
            rate(*held),
            time(*from_s),
            time(*to_s),
            number(*least),
            rate(*most)
        ),
        Cause::FewUsers { users, cov } => format!(
            "Only {} users: each cannot come again before it has its response and has thought, so their starts are more even than \
             those of many independent users (CoV {}; the groups of users below show how it grows with their number). Use more users \
             with a longer think time.",
            whole(*users),
            number(*cov)
        ),
        Cause::UnknownCause { pattern, users_named, waiting } => unknown(*pattern, *users_named, *waiting),
        Cause::SessionsJudged { sessions, requests } => format!(
            "The pattern is that of the starts of {} sessions. The {} requests within them follow from each other and could not be \
             independent; their headways are in the tables.",
            count(*sessions),
            count(*requests)
        ),
        Cause::StartOrEnd { file, more_files, as_starts, as_ends } => {
            start_or_end(file, *more_files, as_starts, as_ends.as_ref())
        }
        Cause::FarStamps { n, file, first } => {
            let stamp = if *n == 1 { "its stamp is" } else { "the first of their stamps is" };
            let when = match first {
                FirstStamp::At { instant } => instant.clone(),
                FirstStamp::SinceEpoch { ns } => format!("{ns} ns after 1970"),
                FirstStamp::SinceZero { seconds } => format!("{} s after the tool's zero", number(*seconds)),
            };
            format!(
                "{} of {file} left out of every number: {stamp} {when}, more than a day and ten times the length of the test away from \
                 all others. Check the clock of the machine that wrote it.",
                plural(*n, "row")
            )
        }
    }
}

const OWN_SEED: &str = "Together they are not two independent loads but one, sent twice; give each a seed, or a shard, of its own.";
const SPREAD: &str = "Random headways, or starts spread over a headway, undo it.";

fn saturation(effect: &str) -> String {
    format!(
        "{effect} for a response: the rate is what the target can do and not what users would send, and a slower target would have met \
         fewer requests. Add users or think time."
    )
}

fn unknown(pattern: Pattern, users_named: bool, waiting: Option<f64>) -> String {
    let what = match pattern {
        Pattern::Even => "more even than independent users",
        other => other.word(),
    };
    let more = match (users_named, waiting) {
        (false, _) => {
            "; they name no users that wait for their responses, whose think times would tell more".into()
        }
        (true, Some(waiting)) => format!(
            ". Users spend {} of their cycle waiting for responses (RoRT; up to 3 % leaves starts alone), so the target's pace may be \
             in it",
            share(waiting)
        ),
        (true, None) => String::new(),
    };
    format!("The starts are {what}, and these rows do not say why{more}.")
}

fn start_or_end(file: &str, more: u64, as_starts: &Reading, as_ends: Option<&Reading>) -> String {
    let files = match more {
        0 => format!("The rows of {file} do"),
        more => format!("The rows of {file} and {} do", plural(more, "more file")),
    };
    let verdict = |of: &Reading| {
        let load = match of.load {
            Some(LoadVerdict::Valid) => "VALID and ",
            Some(LoadVerdict::Invalid) => "INVALID and ",
            Some(LoadVerdict::Inconclusive) => "INCONCLUSIVE and ",
            None => "",
        };
        let cov = of.cov.map_or(String::new(), |cov| format!(" (CoV {})", number(cov)));
        format!("{load}{}{cov}", of.pattern.word())
    };
    let reading = match as_ends {
        None => "Read as ends none of them is in the part selected.".to_owned(),
        Some(ends) if (ends.load, ends.pattern) == (as_starts.load, as_starts.pattern) => {
            format!("Read as ends the load is {} too.", verdict(ends))
        }
        Some(ends) => format!(
            "Read as starts the load is {}, read as ends {}: one of the two is true.",
            verdict(as_starts),
            verdict(ends)
        ),
    };
    format!(
        "{files} not show whether the stamps are starts or ends; they are read as starts, as JMeter has stamped by default since 2006 \
         (sampleresult.timestamp.start=true). {reading} --stamps start or --stamps end settles it."
    )
}
