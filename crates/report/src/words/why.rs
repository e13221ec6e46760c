//! Why something is not there, as a sentence without a capital: a number, an interval, a decision, a steady state.
//!
//! One sentence for each [`Why`]; documents that other versions wrote bring their own for those that this one does not know.

use crate::format::{
    chosen, chosen_time, count, number, per_second_within, percentile, plural, share, time, times_what,
};
use headway_stats::summary::{
    DependsOn, Disturbance, Grows, NotComputed, PlanPart, StampsHow, Stated, ThresholdUnit, Unsteady, Why,
};

/// The sentence for the number at that path; none where its document has no reason.
pub fn missing(not_computed: &NotComputed, path: &str) -> Option<String> {
    not_computed.get(path).map(why)
}

/// The sentence.
pub fn why(stated: &Stated<Why>) -> String {
    match stated.why {
        Why::Other => stated.text.clone(),
        // Of numbers and their intervals.
        Why::NoObservations => "no observations".into(),
        Why::OneObservation => "one observation".into(),
        Why::OneSide { needed, n } => {
            format!("fewer than {} observations on one side (n = {})", chosen(needed), count(n))
        }
        Why::FewIndependent { independent, needed, requests } => format!(
            "requests depend on each other: those beyond it are worth {independent:.1} independent ones, {needed:.0} are needed; about {} requests would do",
            count(requests)
        ),
        Why::ShortWork { took, needed } => format!(
            "the work took only {took:.0} mean response times; {needed:.0} are needed: send more requests (-n)"
        ),
        Why::FewBursts { seen, of, needed } => format!(
            "what lies beyond it does so in a few bursts: in {seen} of {of} segments of the measured phase, {needed} are needed"
        ),
        Why::Segments { filled, of, needed } => {
            format!("{filled} of {of} segments of the measured phase hold observations, {needed} are needed")
        }
        Why::Incomplete { filled, of } => {
            format!("{filled} of {of} segments of the measured phase are complete")
        }
        Why::EmptySegments => "too few segments hold observations".into(),
        Why::FewObservations { n } => format!("fewer than 30 observations (n = {n})"),
        Why::GivenUp => "lies among requests that were given up".into(),
        Why::MeanGivenUp { given_up, of } => {
            format!("a lower bound: {} of {} requests were given up", count(given_up), count(of))
        }
        Why::BeyondLargest { n } => format!("beyond the largest observation (n = {})", count(n)),
        Why::EndBeyondLargest { n } => {
            format!("its upper end lies beyond the largest observation (n = {})", count(n))
        }
        Why::EndGivenUp => "its upper end lies among requests that were given up".into(),
        Why::PowerLaw { index, ci95: [low, high] } => format!(
            "the largest follow a power law of index {index:.2} (95 % CI {low:.2} to {high:.2}), whose variance is infinite"
        ),
        Why::NoHeadways { started } => format!("no headways ({} arrivals started)", count(started)),
        Why::OneHeadway => "fewer than 2 headways".into(),
        Why::FewHeadways { n, needed } => {
            let needed = needed.map_or(String::new(), |needed| format!(", needed {}", count(needed)));
            format!("too few headways for an interval (n = {}{needed})", count(n))
        }
        Why::CoarseStamps { grid_s, headway_s: Some(mean) } => {
            format!("the stamps are too coarse: {} for a mean headway of {}", chosen_time(grid_s), time(mean))
        }
        Why::CoarseStamps { headway_s: None, .. } => "the stamps are too coarse for headways".into(),
        Why::NoWindow => "no window length fits 30 times into the measured phase".into(),
        Why::NoPlan => "there is no plan".into(),
        Why::EqualHeadways => "the plan's headways are all equal".into(),
        Why::SimultaneousArrivals { share: of } => {
            format!("the plan has several arrivals at one instant ({} of its headways are 0)", share(of))
        }
        Why::NoCommonLaw => "the plan's headways have no common law".into(),
        Why::DueFollows => {
            "due times follow from earlier responses, so the generator's delays add up and no bound on them is known".into()
        }
        Why::OtherShards => "other shards send to the same target, and their delays are not known here".into(),
        Why::NoRecords => "no records of single requests were kept to compute it from".into(),
        Why::UnreadUnknown => {
            "it is not known how long responses lay unread: the system stamps only what is received over TCP".into()
        }
        // Of another tool's file.
        Why::DueNotTold => "the file does not say when requests were due".into(),
        Why::EndsNotTold => "the file does not say when requests ended".into(),
        Why::OutcomesNotTold => super::NOT_TOLD.into(),
        Why::UsersNotNamed => "the file does not name users".into(),
        Why::SeveralAtOnce { overlap, of } => format!(
            "users have several requests at once: {} of {} started before their user's last one had ended",
            count(overlap),
            count(of)
        ),
        Why::ShortResponses => "a response takes less than two steps of the stamps' grid".into(),
        Why::Groups { left_out, ref too_large, users } => groups(left_out, too_large, users),
        Why::NoInterval { interval_s } => {
            format!(
                "--counts-per {}: not one such interval fits into what is judged",
                chosen_time(interval_s)
            )
        }
        // Of what independent starts would have met.
        Why::ServersBusy { busy } => format!(
            "independent starts at that rate would pile up: the target's servers are busy for {} of the time",
            share(busy)
        ),
        Why::NoQueue { waited } => format!(
            "only {} requests waited for others, which does not show how many the target serves side by side",
            count(waited)
        ),
        Why::ServersUnknown => "several numbers of servers fit the file as well".into(),
        Why::NoShortHeadways => {
            "hardly any request came soon after another, as independent ones do: how the target serves those does not show".into()
        }
        Why::TiedStarts => {
            "too many requests share a start stamp: which of them was served first, and so for how long, does not show".into()
        }
        Why::CoarseForServices { grid_s } => {
            format!("stamps of {} are too coarse for the service times", time(grid_s))
        }
        Why::NoStation { depends_on } => format!(
            "no number of servers that serve in order fits the file: service times would depend on {}",
            match depends_on {
                DependsOn::Others => "how many other requests there are, or on their order",
                DependsOn::Time => "when a request comes",
                DependsOn::Rate => "how soon a request comes after others",
            }
        ),
        Why::ReplayMisses { percentile: p, observed_s, replayed_s } => format!(
            "the best fitting target that serves in order gives a {} of {} under these starts, where the file has {}",
            percentile(p),
            time(replayed_s),
            time(observed_s)
        ),
        Why::RequestsFailed { failed, n } => format!(
            "{} of {} requests failed, so that the others do not show the service times",
            count(failed),
            count(n)
        ),
        Why::RateChanges => "the rate itself changes: independent starts at one rate would be another load".into(),
        Why::OfSessions => "the pattern is that of sessions, whose requests follow one another".into(),
        // Of users and sessions.
        Why::NotWaiting { overlap, of } => format!(
            "users do not wait for their responses: {} of {} requests were due before the one before had ended",
            count(overlap),
            count(of)
        ),
        Why::UsersLeave => {
            "users leave and come back: the time between two requests need not be think time".into()
        }
        Why::ManyUsers { most } => format!("more than {} users are not followed one by one", count(most)),
        Why::NoSecondRequest => "no user sent a second request".into(),
        Why::UsersNotAsked => "no number of users was specified".into(),
        Why::UsersNotTold => "the records do not say when users came and went".into(),
        Why::NoThinkTime => "no think time is known".into(),
        Why::FewRequests { needed, n } => format!("fewer than {} requests (n = {})", count(needed), count(n)),
        Why::ManyRequests { most } => {
            format!("more than {} requests, which are more than are kept for it", count(most))
        }
        Why::NoLength => "the measured phase has no length".into(),
        Why::WouldPileUp { busy, rate } => format!(
            "as many arrivals as the closed workload got responses would pile up without end: the target was busy for {} of the \
             time at {rate:.1} requests per second, so no percentile of such arrivals exists",
            share(busy)
        ),
        Why::OnlyClosed => "only of closed workloads: arrivals do not depend on responses".into(),
        Why::FixedWork => "fixed work is one transient".into(),
        Why::RequestsNotKnown => "the number of requests of a session is not known".into(),
        Why::NoSessions => "no session of more than one request ended".into(),
        Why::NoTimeAsked => "fixed work has no time in which its requests are asked for".into(),
        Why::CutShort => {
            "the run was cut short, and what its sessions would have sent by then is not known".into()
        }
        // Of rules.
        Why::Evidence => "what it did to the numbers is judged".into(),
        Why::OtherWorkload => "not for this kind of workload".into(),
        Why::NoRule => "no rule applies to this kind of workload".into(),
        Why::NothingToCompare => "there is no plan to compare with".into(),
        Why::HeldAtCap { share: of } => format!("{} never left: the connection cap was full", share(of)),
        Why::AstrideLimit { n } => format!("the interval straddles the limit (n = {})", count(n)),
        Why::FewArrivals { n } => {
            let n = n.map_or(String::new(), |n| format!(" for an interval (n = {})", count(n)));
            format!("too few arrivals{n}")
        }
        Why::FewSegments { windows, filled } => {
            let of = windows.map(|n| format!("n = {}", plural(n, "window")));
            let of = of.or(filled.map(|n| n.to_string())).unwrap_or_default();
            format!("too few segments for an interval ({of})")
        }
        Why::FewWindows { difference, n } => {
            format!("too few windows to tell a difference of {} (n = {})", chosen(difference), count(n))
        }
        Why::NoneExpected { n } => format!("less than one start is expected (n = {})", count(n)),
        Why::ByChance { p } => format!("as strong by chance in {:.0} % of loads without a period", 100.0 * p),
        Why::NothingDue => "nothing was due in the measured phase".into(),
        Why::NothingDueAfter => "no request was due after a response".into(),
        Why::AllWaited => "nearly all requests waited at the connection cap".into(),
        Why::NoneFound => "no arrival found a connection without waiting".into(),
        Why::StallsNotTold => "the log does not say when the generator stood still".into(),
        Why::NothingLeaves => "the target is on this machine, which no request leaves".into(),
        Why::DeparturesNotTold => "the system does not say when requests leave this machine".into(),
        Why::NoneWatched => "no request was watched".into(),
        Why::NoUsersAsked => "no users were specified within the complete segments".into(),
        Why::WorkNotKnown => "the specified number of requests is not known".into(),
        // Of simulations.
        Why::NoSizes => "nothing is sent in a simulation, and so nothing has a size".into(),
        Why::NoEvents => "no response of this simulation has events: that takes `stream: chunks` on a step, and `events` in the model".into(),
        Why::NoConnecting => "connections of a simulation stand at once, and so none takes time".into(),
        Why::Overloaded => "there is no steady state: a part of the model is offered more than it can do".into(),
        Why::PilesUp => "there is no steady state: requests pile up throughout the measured phase".into(),
        Why::NotSteady { because: None } => "no steady state was found".into(),
        Why::NotSteady { because: Some(ref because) } => format!("no steady state: {}", unsteady(because)),
        Why::MeanInfinite => "the mean is infinite: that of a run depends on its longest services".into(),
        Why::HeavyTail => "the service times have too heavy a tail for an interval of the mean".into(),
        Why::TooSkewed => {
            "the service times are too skewed for an interval of the mean of a single run; several runs (--replications) have one"
                .into()
        }
        Why::ShortRun { length_s, needed_s } => format!(
            "a single run that lasts {} after its warm-up is too short for it; {} are enough, or several runs",
            time(length_s),
            time(needed_s)
        ),
        Why::ShortRuns { length_s, needed_s } => format!(
            "runs that last {} together after their warm-up are too short for it; {} are enough (--replications, or longer runs)",
            time(length_s),
            time(needed_s)
        ),
        // Of thresholds.
        Why::InvalidLoad => {
            "the load was INVALID, and what that did to the number is not known: a load that is VALID would decide".into()
        }
        Why::EndedRun { at_s, recovered } => {
            let later = if recovered { "; responses that came later brought the value back" } else { "" };
            format!("crossed after {}, which ended the run{later}", time(at_s))
        }
        Why::BoundHolds => {
            "the value is a lower bound: users without a response waited longer, so it is not shown that the limit holds".into()
        }
        Why::BoundUnknown => {
            "the value is a lower bound: users without a response waited longer, and how long is not known".into()
        }
        Why::OwnDelays { low, high, unit, unsent } => own_delays(low, high, unit, unsent),
        Why::LoadUndecided => {
            "not certain: it is not shown that the load was sent as specified; a longer run would decide".into()
        }
        Why::FewToTell => "not certain: too few requests for an interval; a longer run would decide".into(),
        Why::Throughout { runs, grows, limit, unit, ref because } => {
            let limit = super::thresholds::shown(unit, limit);
            let of = match runs {
                1 => String::new(),
                runs => format!(" in all {} replications", count(runs)),
            };
            let grows = if grows { ", and growing" } else { "" };
            format!("above {limit}{of}{grows}; {}", self::why(because))
        }
        Why::Astride => {
            "not certain: the interval straddles the limit, so another run may come out the other way; a longer run would decide".into()
        }
        Why::IntervalHoldsLimit => {
            "the interval holds the limit: more or longer replications would tell".into()
        }
        Why::Extreme { largest } => format!(
            "judged on the {} of all replications; longer runs may go beyond it",
            if largest { "largest" } else { "smallest" }
        ),
        Why::SingleRun => "a single run has no interval of this number: play several (--replications)".into(),
        Why::FewBeyond => {
            "too few requests lie beyond this percentile for an interval: more or longer replications would tell".into()
        }
        Why::AtLeast { value } => format!(
            "it is at least {}, by the lower end of its own interval or of a smaller percentile's",
            time(value)
        ),
    }
}

/// Groups of users that were asked for (`--by-threads`) and are not told.
fn groups(left_out: usize, too_large: &[u64], users: u64) -> String {
    let more = (left_out > 0).then(|| format!("{left_out} more groups were asked for than are shown"));
    let sizes = too_large.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let large = (!too_large.is_empty()).then(|| match users {
        0 => format!("--by-threads {sizes}: the files name no users"),
        1 => format!("--by-threads {sizes}: there is 1 user, which stands for these groups"),
        _ => format!("--by-threads {sizes}: there are {users} users, which stand for these groups"),
    });
    more.into_iter().chain(large).collect::<Vec<_>>().join("; ")
}

/// Between what the generator leaves a number, and what would decide.
fn own_delays(low: f64, high: Option<f64>, unit: ThresholdUnit, unsent: f64) -> String {
    let shown = |x| super::thresholds::shown(unit, x);
    let not_sent = (unsent > 0.0).then(|| format!("{} of the plan was not sent", share(unsent)));
    match (high, not_sent) {
        (Some(high), None) => format!(
            "the generator's own delays move it between {} and {}: a load sent in time would decide",
            shown(low),
            shown(high)
        ),
        (Some(high), Some(not_sent)) => format!(
            "it lies between {} and {}, as {not_sent}: a load sent whole would decide",
            shown(low),
            shown(high)
        ),
        (None, Some(not_sent)) => {
            format!(
                "it is at least {}, and how much is not known, as {not_sent}: a load sent whole would decide",
                shown(low)
            )
        }
        (None, None) => format!(
            "it is at least {}, and how much is not known: a load sent in time would decide",
            shown(low)
        ),
    }
}

/// What speaks against a steady state, to follow "no steady state: ".
pub fn unsteady(stated: &Stated<Unsteady>) -> String {
    match &stated.why {
        Unsteady::Other => stated.text.clone(),
        Unsteady::FixedWork => "fixed work has no steady state".into(),
        Unsteady::Interrupted => "the simulation was interrupted".into(),
        Unsteady::Overload { part, load, growth } => {
            let asked = format!("{part} is offered {} it can do", times_what(load.unwrap_or(f64::INFINITY)));
            growth.as_ref().map_or(asked.clone(), |growth| format!("{asked}, and {}", grew(growth)))
        }
        Unsteady::Growth { growth } => grew(growth),
        Unsteady::PlanVaries { what } => {
            let what = match what {
                PlanPart::Rate => "rate",
                PlanPart::Users => "number of users",
            };
            format!("the {what} of the plan varies within the measured phase")
        }
        Unsteady::Once { part, is, from_s } => {
            let is = match is {
                Disturbance::Slow => "slow",
                Disturbance::Down => "down",
                Disturbance::Stalled => "stalled",
            };
            format!("{part} is {is} once, from {} on", time(*from_s))
        }
        Unsteady::Unanswered { share: of } => {
            format!(
                "{} of the requests got no response, so that their response times are not known",
                share(*of)
            )
        }
        Unsteady::TooFew => "of fewer than 100 response times it cannot be told".into(),
        Unsteady::NoCut { n } => format!(
            "by MSER no cut within the first half of the {} response times leaves the rest steady",
            count(*n)
        ),
        Unsteady::Beginning { kept_s, times, relaxation_s, forgotten } => format!(
            "what is left of a run lasts {}, {} relaxation times of its slowest part ({}), and {} are needed",
            time(*kept_s),
            number(*times),
            time(*relaxation_s),
            chosen(*forgotten)
        ),
        Unsteady::FewPeriods { kept_s, needed, period_s } => format!(
            "what is left of a run lasts {}, less than {} whole periods of the model ({})",
            time(*kept_s),
            chosen(*needed),
            time(*period_s)
        ),
        Unsteady::Correlated { lag1 } => format!(
            "neighbouring batches of what is left have a correlation of {}: it drifts, or is too short",
            number(*lag1)
        ),
    }
}

fn grew(growth: &Grows) -> String {
    format!("requests in {} grew by {}", growth.part, per_second_within(growth.per_second, growth.ci95))
}

/// How it is known whether stamps are starts or ends: a clause that goes in brackets behind which they are.
pub fn stamps_how(stated: &Stated<StampsHow>) -> String {
    let falls = |back: u64, pairs: u64| {
        format!("{} of {} stamps are before that of the row above", count(back), count(pairs))
    };
    match &stated.why {
        StampsHow::Format => "fixed by the format".to_owned(),
        StampsHow::Subtracted => "fixed by the format; the times taken are subtracted".to_owned(),
        StampsHow::NoTimes => {
            "fixed by the format; without the times taken, ends stand for starts".to_owned()
        }
        StampsHow::Overlap { ends, overlapping, otherwise, pairs } => {
            let other = if *ends { "starts" } else { "ends" };
            format!(
                "read so, {} of {} requests begin before the one before in their thread is over; read as {other}, {} do",
                count(*overlapping),
                count(*pairs),
                count(*otherwise)
            )
        }
        StampsHow::Slope { ends, slope, se, n } => {
            let (contains, other) = match ends {
                true => ("contains", "0 if they were starts"),
                false => ("does not contain", "1 if they were ends"),
            };
            format!(
                "the time between two stamps of a thread {contains} the second request's elapsed time: slope {slope:.2} +- \
                 {se:.2} over {} pairs, {other}",
                count(*n)
            )
        }
        StampsHow::ByElapsed { back, stamps_back, pairs } => format!(
            "rows are in the order of stamp + elapsed ({} of {} fall back), not of the stamps ({} do)",
            count(*back),
            count(*pairs),
            count(*stamps_back)
        ),
        StampsHow::ByStamps { back, elapsed_back, pairs } => format!(
            "rows are in the order of the stamps but for {} of {}, as a tool writes them that stamps ends; {} of stamp + elapsed \
             fall back",
            count(*back),
            count(*pairs),
            count(*elapsed_back)
        ),
        StampsHow::Sorted { back, pairs } => format!(
            "JMeter's default, not shown: {}, so the file was sorted by its stamps, or stamps ends; its threads do not tell",
            falls(*back, *pairs)
        ),
        StampsHow::Untold { back, elapsed_back, pairs } => format!(
            "JMeter's default, not shown: neither the threads nor the order of the rows tell ({}, {elapsed_back} in stamp + \
             elapsed)",
            falls(*back, *pairs)
        ),
        StampsHow::User { ends, otherwise_ends, because } => {
            let word = |ends: bool| if ends { "end" } else { "start" };
            format!(
                "--stamps {} says so; without it they would be taken for {}s: {}",
                word(*ends),
                word(*otherwise_ends),
                stamps_how(because)
            )
        }
        StampsHow::Simulated { seed } => {
            format!("simulated, seed {seed}: virtual time, which began at no date")
        }
        StampsHow::OwnClock => {
            "the run's own clock, read just before the first system call of each request".to_owned()
        }
        StampsHow::Other => stated.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_wrote_is_told_as_it_wrote_it() {
        let stated = Stated { why: Why::Other, text: "it rained".into() };
        assert_eq!(why(&stated), "it rained");
        assert_eq!(why(&Why::NotSteady { because: None }.into()), "no steady state was found");
        let because = Stated { why: Unsteady::Other, text: "it drifts".into() };
        let nested = Why::NotSteady { because: Some(Box::new(because)) };
        assert_eq!(why(&nested.into()), "no steady state: it drifts");
    }

    #[test]
    fn numbers_are_in_the_sentence() {
        let short = Why::ShortRun { length_s: 2.0, needed_s: 100.0 };
        assert!(why(&short.into()).contains("lasts 2.00 s"));
        let few = Why::Groups { left_out: 2, too_large: vec![7, 9], users: 3 };
        let text = "2 more groups were asked for than are shown; --by-threads 7,9: there are 3 users, which stand for these groups";
        assert_eq!(why(&few.into()), text);
    }

    #[test]
    fn how_stamps_are_known_is_said_with_its_numbers() {
        let of = |how: StampsHow| stamps_how(&how.into());
        let pairs = 46_110;
        let by_rows = StampsHow::ByElapsed { back: 12, stamps_back: 20_871, pairs };
        assert_eq!(
            of(by_rows),
            "rows are in the order of stamp + elapsed (12 of 46,110 fall back), not of the stamps (20,871 do)"
        );
        let overlap = StampsHow::Overlap { ends: true, overlapping: 0, otherwise: 9, pairs };
        assert!(of(overlap).ends_with("read as starts, 9 do"));
        let untold = StampsHow::Untold { back: 3, elapsed_back: 4, pairs };
        let user =
            StampsHow::User { ends: true, otherwise_ends: false, because: Box::new(untold.clone().into()) };
        let said = of(user);
        assert!(
            said.starts_with("--stamps end says so; without it they would be taken for starts: JMeter's")
        );
        assert!(said.ends_with(&of(untold)) && said.contains("(3 of 46,110 stamps"), "{said}");
        assert_eq!(stamps_how(&Stated::other("as an older version had it")), "as an older version had it");
    }
}
