//! Why a load has the pattern it has, and what else the rows of another tool leave to be said.

use super::Next::{Nothing, Shown};
use super::{Told, says};
use crate::format::{chosen_time, count, number, plural, rate, share, time, whole};
use headway_stats::summary::evidence::{Cause, FirstStamp, Reading};
use headway_stats::summary::{LoadVerdict, Pattern};

pub(super) fn told(of: &Cause) -> Told {
    match of {
        Cause::SameSeed { one, other, correlation } => says!(
            "Give each of them a seed, or a shard, of its own.",
            "Two generators sent the same headways in the same order: the same seed on both. They are {one} and {other} (correlation \
             {}). {SENT_TWICE}",
            number(*correlation)
        ),
        Cause::SameSeedShifted { one, other, share: again, chance, later_s } => {
            let way = if *later_s > 0.0 { "later" } else { "earlier" };
            let shifted = later_s.abs() > 0.0;
            let shift = if shifted { format!(" {} {way}", time(later_s.abs())) } else { String::new() };
            says!(
                "Give each of them a seed, or a shard, of its own.",
                "{} of the starts of one generator come again from another: the same seed on both. Those of {one} come again from \
                 {other}{shift} ({} would by chance); some requests were lost or begin elsewhere. {SENT_TWICE}",
                share(*again),
                share(*chance)
            )
        }
        Cause::InStep { one, other, share: together, chance } => says!(
            "Draw random headways, or spread the starts over a headway.",
            "{} of the starts of two generators fall together: they were started in step. They are {one} and {other}, with regular \
             headways ({} would fall together by chance).",
            share(*together),
            share(*chance)
        ),
        Cause::UsersInStep { users, period_s, mean_vector } => says!(
            "Draw random headways, or spread the starts over a headway.",
            "Each of the {} users sends once in {}, and all send together: they were started in step. Users of constant rate do that \
             (mean vector {}, 0 if they did not).",
            count(*users),
            time(*period_s),
            number(*mean_vector)
        ),
        Cause::AllWaiting { users, share: of_the_time } => says(
            saturation(
                *users,
                &format!("Nearly all users were waiting for {} of the time", share(*of_the_time)),
            ),
            "Add users or think time.",
        ),
        Cause::NoThinkTime { users, think_s } => says(
            saturation(
                *users,
                &format!("Users do not think ({} on average) and always wait", time(*think_s)),
            ),
            "Add users or think time.",
        ),
        Cause::ConstantRate { cov, cov_of_one } => {
            let one = cov_of_one
                .map_or(String::new(), |one| format!(" The CoV of a single user is {}.", number(one)));
            says!(
                Shown(
                    "Have the tool draw its headways at random (Poisson arrivals). Or use many users with random think times.",
                ),
                "Requests leave on a schedule of constant rate (CoV {}); real users do not take turns.{one} Such a load meets shorter \
                 queues than theirs would.",
                number(*cov)
            )
        }
        Cause::FixedThink { think_s, cov, pattern } => {
            let (effect, more) = match pattern {
                Pattern::Bunched => (
                    "users that a slow response brings together stay together",
                    "They come back as a bunch each time.",
                ),
                Pattern::Even | Pattern::Periodic => {
                    ("each user comes back like a clock", "Users are then not independent.")
                }
                _ => (
                    "each user comes back like a clock",
                    "Over longer times the users are not independent, and those that one slow response brings together stay together.",
                ),
            };
            says!(
                "Draw the think time from a distribution. An exponential one is like independent users.",
                "The think time is fixed at {}: {effect}. {more} Its CoV is at most {}.",
                time(*think_s),
                number(*cov)
            )
        }
        Cause::FixedPacing { users, period_s, cov } => says!(
            "Draw the pacing from a distribution.",
            "Each of the {} users sends once in {}, whatever its responses take. Over longer times the users take turns and are not \
             independent (CoV of the first user's headways {}).",
            whole(*users),
            time(*period_s),
            number(*cov)
        ),
        Cause::TimerTicks { period_s, mean_vector, per_tick } => says!(
            Nothing,
            "Starts keep to the ticks of a timer of {}{}. A generator that sleeps until each request is due would not do that, unless \
             the clock that stamps goes in such steps (mean vector {}, 0 without ticks).",
            chosen_time(*period_s),
            match *per_tick >= 1.5 {
                true => format!(": {} requests a tick leave together on average", number(*per_tick)),
                false => String::new(),
            },
            number(*mean_vector)
        ),
        Cause::GeneratorPauses { n, longest_s, share: of_excess } => says!(
            Shown(
                "Give the generator memory and idle cores, then run again. Look at its garbage collection.",
            ),
            "The generator stood still {}, for up to {}, then sent all that was held up at once. Few requests were waiting for a \
             response. Garbage collection or a busy machine does that{}; the times are listed.",
            times(*n),
            time(*longest_s),
            of_the_excess(*of_excess)
        ),
        Cause::LostTime { n, longest_s, share: of_excess } => says!(
            Shown(
                "Give the generator memory and idle cores, then run again. Look at its garbage collection.",
            ),
            "The generator stood still {}, for up to {}, and lost the time. All its clients stopped together and went on where they \
             were; few requests were waiting for a response. A busy machine or a suspended process does that{}; the times are listed.",
            times(*n),
            time(*longest_s),
            of_the_excess(*of_excess)
        ),
        Cause::RegularPauses { period_s, length_s } => says!(
            Shown(
                "Give the generator memory and idle cores, then run again. Look at its garbage collection.",
            ),
            "The generator stands still for about {} every {}, then sends what was held up. Garbage collection or a periodic task of \
             the machine does that.",
            time(*length_s),
            time(*period_s)
        ),
        Cause::OtherRate { rate: held, other, from_s, to_s } => says!(
            "Judge a part in which the rate is the same with --from and --for.",
            "The rate is {} from {} to {} after the first start, and {} before and after. A changing rate looks bunched by itself.",
            rate(*other),
            time(*from_s),
            time(*to_s),
            rate(*held)
        ),
        Cause::OnOff { on_s, off_s, regular } => says!(
            Nothing,
            "Requests leave for {}{} and then none do for {}, again and again. A load that is switched on and off does that, or a \
             generator that stops and makes up for nothing.",
            time(*on_s),
            if *regular { "" } else { " on average" },
            time(*off_s)
        ),
        Cause::RegularPart { part, of, period_s } => says!(
            Shown(
                "Have the tool draw its headways at random (Poisson arrivals). Or use many users with random think times.",
            ),
            "{} of {} come one every {} exactly. The others are spread between them. A health check, or a generator of constant rate \
             beside another, does that.",
            number(*part),
            rate(*of),
            time(*period_s)
        ),
        Cause::TicksAmongOthers { period_s, per_tick, share: of_all } => says!(
            Nothing,
            "{} of the requests leave together every {}: {} at a time on average. A timer releases them, and not the others.",
            share(*of_all),
            time(*period_s),
            number(*per_tick)
        ),
        Cause::ReleasedTogether { users, together, share: of_batches } => says!(
            "Let each user send by itself.",
            "Users are released {} at a time, and not each by itself: {} of the batches have that size. There are {} users. A \
             rendezvous (a Synchronizing Timer) does that.",
            count(*together),
            share(*of_batches),
            count(*users)
        ),
        Cause::Drift { from, to, straight, window_s, index } => {
            let change = match straight {
                true => format!("changes from {} to {}", number(*from), rate(*to)),
                false => format!("varies between {} and {}", number(*from), rate(*to)),
            };
            let index = match *window_s > 0.0 {
                true => format!(" Over {} the index of dispersion is {}.", time(*window_s), number(*index)),
                false => String::new(),
            };
            says!(
                "Judge a part in which the rate is the same with --from and --for.",
                "The rate {change} over the time. Counts over long times vary with it.{index}"
            )
        }
        Cause::Ramp { at_end, ramp_s, rate: held, judge_from_s, judge_for_s } => {
            let (goes, part) = if *at_end { ("falls", "last") } else { ("rises", "first") };
            says!(
                judge_beside_ramp(*at_end, *judge_from_s, *judge_for_s),
                "The rate {goes} during the {part} {}. Outside of that it is {}; the gaps there are those of a low rate, and nothing \
                 stood still.",
                time(*ramp_s),
                rate(*held)
            )
        }
        Cause::FeedbackLoop { n, longest_s, share: of_excess } => says!(
            Nothing,
            "The target's stalls shape the load: {}, for up to {}, no user sent before it had its response. This closed-loop feedback \
             makes {} of the excess. Independent users would have gone on coming.",
            plural(*n, "time"),
            time(*longest_s),
            share(*of_excess)
        ),
        Cause::Interruption { n, longest_s, share: of_excess } => {
            let gaps = match n {
                1 => "The longest such gap makes".to_owned(),
                n => format!("The {} longest such gaps make", count(*n)),
            };
            says!(
                "Judge one part with --from and --for.",
                "No request left for {}, and nothing was made up for afterwards. An interrupted test, several tests in one file, a \
                 generator that was stopped, or a clock that was set do that. {gaps} {} of the excess; the times are listed.",
                time(*longest_s),
                share(*of_excess)
            )
        }
        Cause::ChangingRate { rate: held, from_s, to_s, least, most, judge_from_s, judge_for_s } => says!(
            format!("Judge the steady part: --from {judge_from_s}s --for {judge_for_s}s."),
            "The rate changes: it is {} only from {} to {} after the first start. Outside of that it is {} to {} (a ramp, or \
             generators that begin and end at different times). A changing rate looks bunched by itself.",
            rate(*held),
            time(*from_s),
            time(*to_s),
            number(*least),
            rate(*most)
        ),
        Cause::FewUsers { users, cov } => says!(
            "Use more users with a longer think time.",
            "Only {} users: as each waits and thinks before it sends again, starts are evenly spaced. Those of many independent users \
             are less even (CoV here {}; the groups of users below show how it grows with their number).",
            whole(*users),
            number(*cov)
        ),
        Cause::UnknownCause { pattern, users_named, waiting } => {
            says(unknown(*pattern, *users_named, *waiting), Nothing)
        }
        Cause::SessionsJudged { sessions, requests } => says!(
            Nothing,
            "The pattern is that of the starts of {} sessions. The {} requests within them follow from each other and could not be \
             independent; their headways are in the tables.",
            count(*sessions),
            count(*requests)
        ),
        Cause::StartOrEnd { file, more_files, as_starts, as_ends } => says(
            start_or_end(file, *more_files, as_starts, as_ends.as_ref()),
            "--stamps start or --stamps end settles it.",
        ),
        Cause::FarStamps { n, file, first } => {
            let (stamps, first_stamp) = match n {
                1 => ("its stamp lies far from all others", "It is"),
                _ => ("their stamps lie far from all others", "The first is"),
            };
            let when = match first {
                FirstStamp::At { instant } => instant.clone(),
                FirstStamp::SinceEpoch { ns } => format!("{ns} ns after 1970"),
                FirstStamp::SinceZero { seconds } => format!("{} s after the tool's zero", number(*seconds)),
            };
            says!(
                "Check the clock of the machine that wrote it.",
                "{} of {file} left out of every number: {stamps}. {first_stamp} {when}, more than a day and ten times the length of \
                 the test away.",
                plural(*n, "row")
            )
        }
    }
}

/// Which part of a load with a ramp is to be judged.
fn judge_beside_ramp(at_end: bool, from_s: f64, for_s: f64) -> String {
    match at_end {
        false => format!("Judge what follows: --from {from_s}s."),
        true => format!("Judge what precedes it: --for {for_s}s."),
    }
}

/// What pauses make of how much more the headways vary than those of independent users; nothing where they are independent without.
fn of_the_excess(of: f64) -> String {
    if of > 0.0 { format!(". Such pauses make {} of the excess", share(of)) } else { String::new() }
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", count(n)) }
}

const SENT_TWICE: &str = "Together they are not two independent loads but one, sent twice.";

fn saturation(users: f64, effect: &str) -> String {
    format!(
        "{effect}: the rate is what the target can do. It is not what {} would send, and a slower target would have met fewer \
         requests.",
        if users.round() == 1.0 {
            "an independent user".to_owned()
        } else {
            format!("{} users", whole(users))
        }
    )
}

fn unknown(pattern: Pattern, users_named: bool, waiting: Option<f64>) -> String {
    let what = match pattern {
        Pattern::Even => "more even than independent users",
        Pattern::Periodic => "periodic",
        other => other.word(),
    };
    let more = match (users_named, waiting) {
        (false, _) => {
            " They name no users that wait for their responses, whose think times would tell more.".into()
        }
        (true, Some(waiting)) => format!(
            " Users spend {} of their cycle waiting for responses (RoRT; up to 3 % leaves starts alone), so the target's pace may be \
             in it.",
            share(waiting)
        ),
        (true, None) => String::new(),
    };
    format!("The starts are {what}, and these rows do not say why.{more}")
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
        "{files} not show whether their stamps are starts or ends. They are read as starts, as JMeter has stamped by default since \
         2006 (sampleresult.timestamp.start=true). {reading}"
    )
}
