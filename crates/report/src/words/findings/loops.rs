//! The loop between target and load: where responses decided what was sent next, and where nothing was steady.

use crate::format::{count, number, per_second_within, share, time, whole};
use headway_stats::summary::evidence::{HeldBackBy, Loop, Moving, OpenLoad, Remedy};

pub(super) fn sentence(of: &Loop) -> String {
    match of {
        Loop::SessionsBehind { offered, share: sent } => format!(
            "Of the {} requests that the sessions stand for only {} were sent within the measured phase: sessions started as \
             planned and then waited for their responses, so the target met fewer requests than were asked for. Counting sessions \
             alone would not show it.",
            whole(*offered),
            share(*sent)
        ),
        Loop::PilesUp { what, by, mean } => format!(
            "{} grew throughout the measured phase, by {} from its beginning to its end ({} on average): more came than the target \
             finished, and response times tell how long the run was, not how fast the target is. Find the rate that it sustains.",
            name(*what),
            whole(*by),
            number(*mean)
        ),
        Loop::PilesUpInModel { what, per_second, ci95, attempts_per_request, wasted, down } => {
            let besides = [
                attempts_per_request.map(|attempts| {
                    format!("parts that try again made {} attempts for each request", number(attempts))
                }),
                wasted.map(|wasted| {
                    format!(
                        "{} of the servers' busy time went into what nobody waited for any more",
                        share(wasted)
                    )
                }),
                down.as_ref().map(|part| format!("{part} was down at times")),
            ];
            let besides: Vec<String> = besides.into_iter().flatten().collect();
            let besides = match besides.is_empty() {
                true => String::new(),
                false => format!(" Besides the rate itself: {}.", besides.join("; ")),
            };
            format!(
                "{} grew by {}: more came than the model finished, and response times tell how long the run was.{besides}",
                name(*what),
                per_second_within(*per_second, *ci95)
            )
        }
        Loop::HeldBack { share: held, longest_s, cap, cause } => format!(
            "{} of the arrivals found no free connection and waited, up to {}. The load then followed the target's pace. The cause \
             is not the generator but {}.",
            share(*held),
            time(*longest_s),
            held_back(cause, *cap)
        ),
        Loop::NotSteady { what, change, remedy } => format!(
            "{} {} through the measured phase by {} of their mean: it was not steady, and its percentiles are a mixture. {}",
            name(*what),
            if *change > 0.0 { "rose" } else { "fell" },
            share(change.abs()),
            advice(remedy)
        ),
        Loop::ClosedLoop { open } => format!(
            "In this closed workload a request was due at the response before it plus think time: response times are conditional on \
             the loop, which asks less of the target whenever it is slow.{}",
            estimate(open)
        ),
        Loop::FixedWork { in_flight_max, took_s } => {
            let most = in_flight_max
                .map_or(String::new(), |most| format!(" (up to {} requests were in flight)", count(most)));
            format!(
                "Fixed work is one transient and has no steady state: its response times depend on how many were let in at once{most} \
                 and say little about the target. What compares targets is how long it took: {}.",
                time(*took_s)
            )
        }
    }
}

fn name(what: Moving) -> &'static str {
    match what {
        Moving::Requests => "Requests in flight",
        Moving::Sessions => "Active sessions",
        Moving::ResponseTimes => "Mean response times",
    }
}

fn held_back(cause: &HeldBackBy, cap: Option<u64>) -> String {
    let capped = cap.map_or("the connection cap".into(), |c| format!("the cap of {} connections", count(c)));
    match cause {
        HeldBackBy::Target { times } => format!(
            "the target: its service time was {} times as long then as otherwise, and {capped} was used up",
            number(*times)
        ),
        HeldBackBy::Cap { in_use } => format!(
            "{capped}: at this rate and service time about {} are in use on average. Raise it if real users would not share \
             connections",
            whole(*in_use)
        ),
        HeldBackBy::Either => {
            format!("the target, whose slow responses used up {capped}, or the cap itself")
        }
    }
}

fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::WarmUp { until_s, instead_of_s } => {
            let until = time(*until_s);
            format!(
                "By MSER it is steady from {until} on: warm up for {until} instead of {}.",
                time(*instead_of_s)
            )
        }
        Remedy::AskForLess => {
            "No stretch of it looks steady: more is asked of the target than it sustains, or the run is too short.".into()
        }
        Remedy::RunLonger => "No beginning to leave out makes it steady: run longer.".into(),
    }
}

fn estimate(open: &OpenLoad) -> String {
    match open {
        OpenLoad::Estimated { rate, p99_s, seen_p99_s } => format!(
            " Estimated: were {} requests per second to arrive whatever the target does, the 99th percentile would be {} instead of \
             {}.",
            number(*rate),
            time(*p99_s),
            time(*seen_p99_s)
        ),
        OpenLoad::Unsustainable { busy, rate } => format!(
            " No estimate of it: as many arrivals as the loop got responses would pile up without end: the target was busy for {} of \
             the time at {} requests per second, so no percentile of such arrivals exists.",
            share(*busy),
            number(*rate)
        ),
        OpenLoad::NotKnown => String::new(),
    }
}
