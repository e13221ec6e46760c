//! The loop between target and load: where responses decided what was sent next, and where nothing was steady.

use super::Told;
use crate::format::{count, number, per_second_within, share, time, whole};
use headway_stats::summary::evidence::{HeldBackBy, Loop, Moving, OpenLoad, Remedy};

pub(super) fn told(of: &Loop) -> Told {
    let told = Told::from(text(of));
    match of {
        Loop::NotSteady { remedy, .. } => told.and_next(next(remedy)),
        _ => told,
    }
}

fn text(of: &Loop) -> String {
    match of {
        Loop::SessionsBehind { offered, share: sent } => format!(
            "Sessions waited for their responses: of their {} requests only {} were sent in time. The sessions started as planned, but \
             the target met fewer requests within the measured phase than were offered. Counting sessions alone would not show it.",
            whole(*offered),
            share(*sent)
        ),
        Loop::PilesUp { what, by, mean } => format!(
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
            format!(
                "{} grew throughout: more came than the model finished. They grew by {}. Response times tell how long the run \
                 was.{more}",
                name(*what),
                per_second_within(*per_second, *ci95)
            )
        }
        Loop::HeldBack { share: held, longest_s, cap, cause } => {
            let (cause, more) = held_back(cause, *cap);
            format!(
                "{} of the arrivals had to wait for a connection: {cause}. They waited for up to {}, and the load followed the \
                 target's pace. The cause is not the generator.{more}",
                share(*held),
                time(*longest_s)
            )
        }
        Loop::NotSteady { what, change, .. } => format!(
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
        Loop::ClosedLoop { open } => format!(
            "Each request waited for the last response: the target gets less load whenever it is slow. In this closed workload a \
             request was due at the response before it plus think time, so the loop set the rate.{}",
            estimate(open)
        ),
        Loop::FixedWork { in_flight_max, took_s } => {
            let most = in_flight_max
                .map_or(String::new(), |most| format!(" (up to {} requests were in flight)", count(most)));
            format!(
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

fn next(remedy: &Remedy) -> String {
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
        let said =
            |change| text(&Loop::NotSteady { what: Moving::Requests, change, remedy: Remedy::RunLonger });
        assert!(said(-0.4).contains("by 40.0 % of their mean"), "{}", said(-0.4));
        for change in [-4.9, 1.0, 12.0] {
            assert!(!said(change).contains('%'), "{}", said(change));
        }
    }
}
