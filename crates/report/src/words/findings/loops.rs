//! The loop between target and load: where responses decided what was sent next, and where nothing was steady.

use super::Next::By;
use super::{Around, Kind, Sender, Told, says};
use crate::format::{count, number, per_second_within, share, time, whole};
use crate::words::failures;
use headway_base::KnownFailure;
use headway_stats::summary::evidence::{HeldBackBy, Loop, Moving, OpenLoad, Remedy};

pub(super) fn told(of: &Loop) -> Told {
    match of {
        Loop::SessionsBehind { offered, share: sent } => says!(
            By(after_feedback),
            "Sessions waited for their responses: of their {} requests only {} were sent in time. The sessions started as planned, but \
             the target met fewer requests within the measured phase than were offered. Counting sessions alone would not show it.",
            whole(*offered),
            share(*sent)
        ),
        Loop::PilesUp { what, by, mean } => says!(
            By(after_feedback),
            "{} grew throughout the measured phase: more came than the target finished. They grew by {} from its beginning to its end \
             ({} on average). Response times tell how long the run was, not how fast the target is.",
            name(*what),
            whole(*by),
            number(*mean)
        ),
        Loop::PilesUpInModel { what, per_second, ci95, attempts_per_request, wasted, down } => {
            let more = [
                attempts_per_request.map(|attempts| {
                    format!("parts that try again made {} attempts for each request", number(attempts))
                }),
                wasted.map(|wasted| {
                    format!("{} of the servers' busy time went into abandoned requests", share(wasted))
                }),
                down.as_ref().map(|part| format!("{part} was down at times")),
            ];
            let more: Vec<String> = more.into_iter().flatten().collect();
            let more = match more.is_empty() {
                true => String::new(),
                false => format!(" Beyond the rate itself: {}.", more.join("; ")),
            };
            says!(
                By(after_feedback),
                "{} grew throughout: more came than the model finished. They grew by {}. Response times tell how long the run \
                 was.{more}",
                name(*what),
                per_second_within(*per_second, *ci95)
            )
        }
        Loop::HeldBack { share: held, longest_s, cap, cause } => {
            let (cause, more) = held_back(cause, *cap);
            says!(
                By(after_feedback),
                "{} of the arrivals had to wait for a connection: {cause}. They waited for up to {}, and the load followed the \
                 target's pace. The cause is not the generator.{more}",
                share(*held),
                time(*longest_s)
            )
        }
        Loop::NotSteady { what, change, remedy } => says!(
            remedy_of(remedy),
            "{} {} through the measured phase{}: it was not steady. Its percentiles are a mixture.",
            name(*what),
            if *change > 0.0 { "rose" } else { "fell" },
            // By a line through all of it; beyond the mean it says no more than that.
            if change.abs() < 1.0 {
                format!(" by {} of their mean", share(change.abs()))
            } else {
                String::new()
            }
        ),
        Loop::ClosedLoop { open } => says!(
            By(after_a_closed_loop),
            "Each request waited for the last response: the target gets less load whenever it is slow. In this closed workload a \
             request was due at the response before it plus think time, so the loop set the rate.{}",
            estimate(open)
        ),
        Loop::FixedWork { in_flight_max, took_s } => {
            let most = in_flight_max
                .map_or(String::new(), |most| format!(" (up to {} requests were in flight)", count(most)));
            says!(
                By(after_fixed_work),
                "Fixed work is one transient without a steady state: its response times say little. They depend on how many requests \
                 were let in at once{most}. What compares targets is how long it took: {}.",
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

/// What kept requests waiting for a connection, and the number behind it.
fn held_back(cause: &HeldBackBy, cap: Option<u64>) -> (String, String) {
    let capped = cap.map_or("the connection cap".into(), |c| format!("the cap of {} connections", count(c)));
    match cause {
        HeldBackBy::Target { times } => (
            format!("the slow target used up {capped}"),
            format!(" Its service time was {} times as long then as otherwise.", number(*times)),
        ),
        HeldBackBy::Cap { in_use } => (
            format!("{capped} is too low"),
            format!(" At this rate and service time about {} are in use on average.", whole(*in_use)),
        ),
        HeldBackBy::Mute => (
            "the target accepted connections and did not begin to speak HTTP/2 on them".to_owned(),
            " How many requests such a connection takes at once is not known until then: a higher -c changes nothing.".to_owned(),
        ),
        HeldBackBy::SetUp => (
            "it was being set up".to_owned(),
            " Fewer connections than the cap allows were ever open: a higher -c changes nothing.".to_owned(),
        ),
        HeldBackBy::Either => (format!("slow responses used up {capped}, or it is too low"), String::new()),
    }
}

fn remedy_of(remedy: &Remedy) -> String {
    match remedy {
        Remedy::WarmUp { until_s, instead_of_s } => format!(
            "Warm up for {} instead of {}. By MSER it is steady from then on.",
            time(*until_s),
            time(*instead_of_s)
        ),
        Remedy::AskForLess => {
            "Lower the load, or run longer. No stretch of it looks steady: the load is more than the target sustains, or the run is \
             too short."
                .into()
        }
        Remedy::RunLonger => "Run longer. No beginning to leave out makes it steady.".into(),
    }
}

fn after_feedback(around: &Around) -> Option<&'static str> {
    let arrives = matches!(around.kind, Kind::Open | Kind::Sessions);
    match around.sender {
        Sender::Foreign => None,
        Sender::Simulation => Some(match (around.held_back(), arrives) {
            (Some(_), true) => {
                "Raise `connections:` if real users would not share them. Else lower the rate to one that the model sustains."
            }
            (Some(_), false) => {
                "Raise `connections:` if real users would not share them. Else count the time blocked as a part of the response."
            }
            (None, true) => {
                "Lower the rate to one that the model sustains, or change the model. More servers, fewer attempts, time-outs that \
                 call back, and shorter faults help."
            }
            (None, false) => {
                "Ask for fewer users, or change the model. More servers, fewer attempts, and shorter faults help."
            }
        }),
        Sender::Live if around.is_mute() => Some(failures::advice(KnownFailure::Http2Unanswered)),
        Sender::Live => Some(next_of_feedback(around.held_back(), around.kind)),
    }
}

fn after_a_closed_loop(around: &Around) -> Option<&'static str> {
    match around.sender {
        Sender::Foreign => None,
        Sender::Simulation => Some(
            "Let a rate that the model sustains arrive (`arrive` in the scenario). Response times are then those of independent users.",
        ),
        Sender::Live => Some(
            "Send the same rate as arrivals (-R, or `arrive` in a scenario). Response times are then those of independent users.",
        ),
    }
}

fn after_fixed_work(around: &Around) -> Option<&'static str> {
    match around.sender {
        Sender::Foreign => None,
        Sender::Simulation => Some(
            "Compare models by the time taken. For response times let a rate arrive (`arrive` in the scenario).",
        ),
        Sender::Live => Some(
            "Compare targets by the time taken. For response times send a rate (-R, or `arrive` in a scenario).",
        ),
    }
}

/// What to do about a load that followed the target's pace, by what held it back. Nobody can lower the rate of users who stay.
fn next_of_feedback(held: Option<&HeldBackBy>, kind: Kind) -> &'static str {
    let planned = matches!(kind, Kind::Open | Kind::Sessions);
    match held {
        Some(HeldBackBy::SetUp) => {
            "Find out why connections take so long to be set up. TLS, a proxy, or a full backlog of the target are common reasons."
        }
        _ if !planned => {
            "Raise -c if real users would not share connections. Else count the time blocked as a part of the response."
        }
        Some(HeldBackBy::Cap { .. }) => {
            "Raise -c if real users would not share connections. Else lower the rate to one that the target sustains."
        }
        Some(HeldBackBy::Either) => "Lower the rate, or raise -c if real users share no connections.",
        _ if kind == Kind::Sessions => "Lower the rate until nothing piles up, or plan by the rate sent.",
        _ => "Lower the rate to one that the target sustains.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_by_more_than_its_mean_is_given_no_share() {
        let said = |change| {
            told(&Loop::NotSteady { what: Moving::Requests, change, remedy: Remedy::RunLonger }).text
        };
        assert!(said(-0.4).contains("by 40.0 % of their mean"), "{}", said(-0.4));
        for change in [-4.9, 1.0, 12.0] {
            assert!(!said(change).contains('%'), "{}", said(change));
        }
    }

    #[test]
    fn what_to_do_about_feedback_depends_on_who_comes_and_what_held_it_back() {
        let cap = HeldBackBy::Cap { in_use: 40.0 };
        for kind in Kind::ALL {
            for held in
                [None, Some(&HeldBackBy::Target { times: 3.0 }), Some(&cap), Some(&HeldBackBy::Either)]
            {
                let next = next_of_feedback(held, kind);
                let planned = matches!(kind, Kind::Open | Kind::Sessions);
                // Nobody can lower the rate of users who stay.
                assert_eq!(next.contains("rate"), planned, "{kind:?} {held:?}: {next}");
                // An overloaded target is helped by no higher cap, and a low cap by one at once.
                let cap_first = next.starts_with("Raise -c");
                assert_eq!(cap_first, !planned || held == Some(&cap), "{kind:?} {held:?}: {next}");
            }
            assert!(!next_of_feedback(Some(&HeldBackBy::SetUp), kind).contains("-c"));
        }
    }
}
