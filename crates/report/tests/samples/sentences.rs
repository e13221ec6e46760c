//! Evidence of every finding and of every remark, one sample at least for each kind, and for each of what changes its sentence.

use headway_stats::summary::evidence::{
    Cause, FailedStep, FirstStamp, GeneratorCause, HeldBackBy, Load, Loop, LostShard, Model, MovedNumber,
    Moving, NoSteadyState, NotCompared, Off, OpenLoad, OpenRule, Reading, Reference, Remark, Remedy, Run,
    ShortShard, Starts, VariesLess,
};
use headway_stats::summary::{
    EffectBasis, Evidence, FindingId, Grows, Infinite, LoadVerdict, Pattern, RuleId, Unsteady,
};

/// All of it: by the tags of findings, then the remarks.
pub fn all() -> Vec<(String, Vec<Evidence>)> {
    let findings = FindingId::ALL.iter().map(|id| (id.to_string(), of(id)));
    findings.chain([("remarks".to_owned(), remarks())]).collect()
}

/// Evidence of a finding with that tag. A match without a wildcard: a new tag needs its sample.
fn of(id: &FindingId) -> Vec<Evidence> {
    match id {
        FindingId::Aborted => {
            one(Run::Aborted { threshold: "failed: rate<1%".into(), at_s: 6.0, complete: 6, of: 20 })
        }
        FindingId::Interrupted => one(Run::Interrupted { at_s: 13.25, complete: 6, of: 20 }),
        FindingId::UnsentSteps => [vec![failed("pay", "login")], Vec::new()]
            .into_iter()
            .map(|after| Load::UnsentSteps { n: 1_200, of: 10_000, after, others: 3 }.into())
            .collect(),
        FindingId::Unsent => unsent(),
        FindingId::OffRate => [0.1, -0.1]
            .map(|share| Load::OffRate { n: 6_600, within_s: 60.0, share, expected: 6_000.0 }.into())
            .into(),
        FindingId::Late => causes()
            .map(|cause| {
                Load::Late { share: 0.0123, after_s: 0.001, p99_s: 0.001_31, max_s: 0.047, cause }.into()
            })
            .into_iter()
            .chain(moved())
            .collect(),
        FindingId::Uplink => [None, Some(1.25e8)]
            .map(|bytes_per_s| Load::Uplink { late: 500, n: 10_000, after_s: 0.001, bytes_per_s }.into())
            .into(),
        FindingId::TargetWindow => one(Load::TargetWindow { late: 2_000, n: 10_000, after_s: 0.001 }),
        FindingId::Bunched => {
            offs().map(|off| Load::Bunched { off, cause: GeneratorCause::NoProcessor }.into()).into()
        }
        FindingId::Smoothed => offs()
            .into_iter()
            .flat_map(|off| [Load::Smoothed { off }.into(), Load::SmoothedByModel { off }.into()])
            .collect(),
        FindingId::Serialised => one(Load::Serialised { send_s: 1.2e-5, headway_s: 5e-5, stretched: 0.213 }),
        FindingId::Feedback => feedback(),
        FindingId::NoSteadyState => no_steady_state(),
        FindingId::Overloaded => [(Some(1.0), 1), (Some(1.25), 2), (None, 3)]
            .map(|(load, parts)| Model::Sheds { part: "dynos".into(), load, parts, failed: 0.2 }.into())
            .into(),
        FindingId::HeavyTail => infinite()
            .map(|what| Model::Infinite { part: "dynos".into(), what }.into())
            .into_iter()
            .chain(one(Model::PowerLaw { n: 120, of: 6_000, from_s: 0.8, index: 1.4, ci95: [1.1, 1.7] }))
            .collect(),
        FindingId::TurnedAway => [None, Some("desk".into())]
            .map(|by| Model::TurnedAway { share: 0.9, by, after_s: 1e-5, per_user_s: 9_000.0 }.into())
            .into(),
        FindingId::NotSteady => not_steady(),
        FindingId::Stall => [None, Some("while handling".to_owned())]
            .map(|cause| {
                let (n, over_s) = (if cause.is_some() { 1 } else { 7 }, 0.001);
                Run::Stall { n, over_s, total_s: 0.2, longest_s: 0.047, at_s: 12.3456, cause }.into()
            })
            .into(),
        FindingId::Saturated => one(Run::Saturated { n: 1, of: 2, busiest: 0.93 }),
        FindingId::LocalLimit => [&[][..], &["ports"], &["descriptors", "watches"], &["of-a-later-version"]]
            .map(|lacked| {
                Run::LocalLimit { n: 1_234, lacked: lacked.iter().map(|&of| of.into()).collect() }.into()
            })
            .into(),
        FindingId::Unaccounted => one(Run::Unaccounted { n: 1_234 }),
        FindingId::Disordered => one(Run::Disordered { n: 12 }),
        FindingId::CoarseStamps => [None, Some("--stamps=ms".to_owned())]
            .map(|finer| Starts::CoarseStamps { grid_s: 1.0, headway_s: 0.005, window_s: 10.0, finer }.into())
            .into(),
        FindingId::ShortRun => short_run(),
        FindingId::Censored => {
            one(Run::Censored { n: 1_234, of: 100_000, bounds: vec!["max".into(), "p99".into()] })
        }
        FindingId::Errors => [true, false]
            .map(|many| {
                let outcomes = vec![("timeout".to_owned(), 1_200), ("status".to_owned(), 34)];
                Run::Errors { n: 1_234, of: 100_000, outcomes, many }.into()
            })
            .into(),
        FindingId::LongestGaps => {
            use Pattern::{Bunched, Even, Independent, Undecided};
            let pauses =
                [(1, Even, Bunched), (2, Bunched, Undecided), (1, Bunched, Even), (12, Bunched, Even)];
            pauses
                .into_iter()
                .chain([(5, Independent, Undecided), (1, Independent, Independent)])
                .map(|(n, pattern, otherwise)| {
                    Starts::LongestGaps { n, longest_s: 0.155, pattern, otherwise }.into()
                })
                .collect()
        }
        FindingId::Periodic => [
            Starts::Repeats { period_s: 60.0, starts: 12_345.0 }.into(),
            Starts::Period { period_s: 0.01, amplitude: 0.42 }.into(),
        ]
        .into(),
        FindingId::FixedPopulation => {
            use VariesLess::{EachSecond, Schedule, Turns, TurnsOrSchedule};
            [EachSecond { n: 100 }, Turns, TurnsOrSchedule, Schedule]
                .map(|why| Starts::FixedPopulation { scale_s: 0.9, window_s: 20.0, index: 0.25, why }.into())
                .into()
        }
        FindingId::ClosedLoop => [
            OpenLoad::NotKnown,
            OpenLoad::Estimated { rate: 199.4, p99_s: 1.31, seen_p99_s: 0.41 },
            OpenLoad::Unsustainable { busy: 0.997, rate: 1_234.5 },
        ]
        .map(|open| Loop::ClosedLoop { open }.into())
        .into(),
        FindingId::FixedWork => [None, Some(1_000)]
            .map(|in_flight_max| Loop::FixedWork { in_flight_max, took_s: 21.97 }.into())
            .into(),
        FindingId::Unreachable => one(Run::Unreachable { n: 189 }),
        FindingId::Surplus => one(Run::Surplus { n: 498, of: 500 }),
        FindingId::NamesNotRead => {
            one(Run::NamesNotRead { n: 2, of: 12, why: "Temporary failure in name resolution".into() })
        }
        FindingId::SentAgain => one(Run::SentAgain { n: 20, of: 12_345, times: 22 }),
        FindingId::Redirects => one(Run::Redirects { n: 12_000, of: 12_345 }),
        FindingId::InPause => one(Run::InPause { n: 3 }),
        FindingId::SameHost => one(Run::SameHost),
        FindingId::Ports => {
            let ports = |attempts_per_s, sockets, time_wait_after| Run::Ports {
                needed: 120_000,
                attempts_per_s,
                sockets,
                held_s: 60.0,
                ports: 28_232,
                addresses: 1,
                time_wait: 12,
                time_wait_after,
            };
            vec![ports(Some(2_000.0), None, Some(28_107)).into(), ports(None, Some(120_000), None).into()]
        }
        FindingId::ProxyNotUsed => {
            one(Run::ProxyNotUsed { variable: "HTTP_PROXY".into(), target: "bars.example:8080".into() })
        }
        FindingId::SameSeed => same_seed(),
        FindingId::InStep => {
            let (one_of, other) = ("a.csv".into(), "b.csv".into());
            vec![
                Cause::InStep { one: one_of, other, share: 0.98, chance: 0.013 }.into(),
                Cause::UsersInStep { users: 200, period_s: 1.0, mean_vector: 0.94 }.into(),
                Cause::ReleasedTogether { users: 200, together: 20, share: 0.97 }.into(),
            ]
        }
        FindingId::ChangingRate => {
            let changing = Cause::ChangingRate {
                rate: 98.7,
                from_s: 60.0,
                to_s: 1_800.0,
                least: 3.0,
                most: 55.5,
                judge_from_s: 60.0,
                judge_for_s: 1_739.0,
            };
            let drift =
                |straight| Cause::Drift { from: 9.0, to: 11.0, straight, window_s: 60.0, index: 4.4 }.into();
            let ramp = |at_end| {
                let (judge_from_s, judge_for_s) = if at_end { (0.0, 392.0) } else { (8.0, 392.0) };
                Cause::Ramp { at_end, ramp_s: 8.0, rate: 100.0, judge_from_s, judge_for_s }.into()
            };
            let other = Cause::OtherRate { rate: 100.0, other: 500.0, from_s: 200.0, to_s: 220.0 };
            let on_off = |regular| Cause::OnOff { on_s: 1.0, off_s: 0.98, regular }.into();
            let more = [other.into(), on_off(true), on_off(false)];
            let of_all = [changing.into(), drift(true), drift(false), ramp(false), ramp(true)];
            of_all.into_iter().chain(more).collect()
        }
        FindingId::Saturation => vec![
            Cause::AllWaiting { users: 50.0, share: 0.83 }.into(),
            Cause::NoThinkTime { users: 50.0, think_s: 0.000_42 }.into(),
        ],
        FindingId::ConstantRate => {
            let whole =
                [None, Some(1.02)].map(|cov_of_one| Cause::ConstantRate { cov: 0.06, cov_of_one }.into());
            let part = Cause::RegularPart { part: 20.0, of: 100.0, period_s: 0.05 }.into();
            whole.into_iter().chain([part]).collect()
        }
        FindingId::FixedThink => [Pattern::Bunched, Pattern::Even, Pattern::Independent]
            .map(|pattern| Cause::FixedThink { think_s: 1.0, cov: 0.02, pattern }.into())
            .into(),
        FindingId::FixedPacing => one(Cause::FixedPacing { users: 200.0, period_s: 2.0, cov: 0.02 }),
        FindingId::TimerTicks => vec![
            Cause::TimerTicks { period_s: 0.01, mean_vector: 0.97, per_tick: 12.3 }.into(),
            Cause::TimerTicks { period_s: 0.01, mean_vector: 0.97, per_tick: 0.5 }.into(),
            Cause::TicksAmongOthers { period_s: 0.1, per_tick: 5.1, share: 0.5 }.into(),
        ],
        FindingId::GeneratorPauses => {
            let caught_up =
                [1, 12].map(|n| Cause::GeneratorPauses { n, longest_s: 0.31, share: 0.77 }.into());
            let lost = Cause::LostTime { n: 7, longest_s: 0.42, share: 0.93 }.into();
            let regular = Cause::RegularPauses { period_s: 3.0, length_s: 0.1 }.into();
            let between = Cause::GeneratorPauses { n: 5, longest_s: 0.31, share: 0.0 }.into();
            caught_up.into_iter().chain([lost, regular, between]).collect()
        }
        FindingId::FeedbackLoop => {
            [1, 12].map(|n| Cause::FeedbackLoop { n, longest_s: 0.31, share: 0.77 }.into()).into()
        }
        FindingId::Interruption => {
            [1, 3].map(|n| Cause::Interruption { n, longest_s: 310.0, share: 1.0 }.into()).into()
        }
        FindingId::FewUsers => one(Cause::FewUsers { users: 5.0, cov: 0.71 }),
        FindingId::UnknownCause => {
            [(Pattern::Bunched, false, None), (Pattern::Even, true, None), (Pattern::Even, true, Some(0.2))]
                .map(|(pattern, users_named, waiting)| {
                    Cause::UnknownCause { pattern, users_named, waiting }.into()
                })
                .into()
        }
        FindingId::SessionsJudged => one(Cause::SessionsJudged { sessions: 12_000, requests: 36_000 }),
        FindingId::StartOrEnd => start_or_end(),
        FindingId::FarStamps => [
            (1, FirstStamp::At { instant: "2100-01-01T00:00:00Z".into() }),
            (2, FirstStamp::SinceEpoch { ns: i64::MAX }),
            (1_234, FirstStamp::SinceZero { seconds: 864_000.0 }),
        ]
        .map(|(n, first)| Cause::FarStamps { n, file: "run.jtl".into(), first }.into())
        .into(),
        FindingId::LogLost => one(Run::LogLost {
            lost: 1_234,
            written: 56_789,
            error: "No space left on device (os error 28)".into(),
        }),
        FindingId::LogCutShort => one(Run::LogCutShort { folder: "headway-runs/killed".into() }),
        FindingId::JoinedLate => {
            [0, 1, 1_234].map(|missed| Run::JoinedLate { late_s: 2.5, missed }.into()).into()
        }
        FindingId::ClockOff => [("/shared/run42", 0.15, 0.4), ("host-2", -3.1, -2.1)]
            .map(|(from, least_s, most_s)| Run::ClockOff { from: from.into(), least_s, most_s }.into())
            .into(),
        FindingId::ClockFree => one(Run::ClockFree),
        FindingId::StoreFailed => [1, 14]
            .map(|failures| {
                let last = "503 Service Unavailable: SlowDown: Please reduce your request rate".into();
                Run::StoreFailed { place: "s3://load-tests/run42".into(), failures, last }.into()
            })
            .into(),
        FindingId::ShardsApart => one(Run::ShardsApart { apart_s: 0.25, outside: 51, of: 12_000 }),
        FindingId::RecordsMissing => {
            let shard = |shard: &str, planned| LostShard { shard: shard.into(), planned };
            let shards = vec![shard("1/3", Some(1_234)), shard("2/3", None)];
            let short = |shard: &str, n| ShortShard { shard: shard.into(), n, planned: 4_000 };
            vec![
                Run::MissingShards { n: 1_234, shards }.into(),
                Run::MissingRecords { n: 1_234, shards: Vec::new() }.into(),
                Run::MissingRecords { n: 1_234, shards: vec![short("0/3", 1_200), short("2/3", 34)] }.into(),
            ]
        }
        // A document of another version has its sentence as text.
        FindingId::Other(_) => Vec::new(),
    }
}

/// What is to be known of studies and of recorded runs.
fn remarks() -> Vec<Evidence> {
    use NoSteadyState::{Absent, NotFound, Planned};
    let unsteady = |is, nothing_left_out| Remark::Unsteady {
        why: Unsteady::Correlated { lag1: 0.41 }.into(),
        is,
        nothing_left_out,
    };
    let not_compared = |place: &str, why| Remark::NotCompared {
        one: "least".into(),
        other: "random".into(),
        at: vec!["p99".into(), "p999".into()],
        place: headway_redact::clear(place),
        why,
    };
    let rejects = |part: Option<&str>, load| Remark::RejectsExcess {
        part: part.map(headway_redact::clear),
        load,
        failed: 0.2,
        mean_s: load.map(|_| 0.591),
        mean_ok_s: load.map(|_| 0.8209),
    };
    let mut all = vec![
        Remark::LittleBroken { broken: 1, of: 20 },
        rejects(Some("dynos"), Some(1.25)),
        rejects(None, None),
        unsteady(Planned, false),
        unsteady(Absent, false),
        unsteady(NotFound, true),
        Remark::FewRequests { n: 3, of: 20 },
        Remark::Beginning {
            why: Unsteady::Beginning { kept_s: 4.0, times: 2.5, relaxation_s: 1.6, forgotten: 10.0 }.into(),
        },
        Remark::ShortForIntervals { length_s: 60.0, times: 55.5, relaxation_s: 1.08, needed: 500.0 },
        Remark::LeftOut { share: 0.31 },
        Remark::GivenUp { n: 1_234 },
        not_compared("", NotCompared::MeanInfinite),
        not_compared("800", NotCompared::HeavyTail),
        not_compared("800", NotCompared::FewBeyond),
        not_compared("", NotCompared::LowerBounds),
        Remark::NotJudged { threshold: "bytes: avg<1KiB".into() },
    ];
    all.extend(infinite().map(|what| Remark::InfiniteOverRuns { part: "dynos".into(), what }));
    all.into_iter().map(Evidence::from).collect()
}

fn one(evidence: impl Into<Evidence>) -> Vec<Evidence> {
    vec![evidence.into()]
}

fn failed(step: &str, failed: &str) -> FailedStep {
    FailedStep { n: 1_197, step: headway_redact::clear(step), failed: headway_redact::clear(failed) }
}

fn infinite() -> [Infinite; 4] {
    [Infinite::MeanService, Infinite::MeanWait, Infinite::ServiceVariance, Infinite::WaitVariance]
}

/// What lateness did to numbers.
fn moved() -> Vec<Evidence> {
    let number = |number: &str, off| MovedNumber { number: number.parse().unwrap(), off };
    let of = |sure, basis, numbers: Vec<MovedNumber>| {
        let cause = GeneratorCause::Stalls { n: 12, longest_s: 0.047 };
        Load::Moved { sure, numbers, basis, p99_s: 0.001_31, max_s: 0.047, cause }.into()
    };
    let between = |low, high| [Some(low), Some(high)];
    vec![
        of(
            true,
            EffectBasis::Ensemble,
            vec![number("p95", between(0.12, 0.31)), number("p99", between(-0.4, -0.2))],
        ),
        of(true, EffectBasis::Ensemble, vec![number("mean", [Some(0.4), None])]),
        of(false, EffectBasis::Bound, vec![number("mean", between(0.0, 0.07))]),
        of(
            false,
            EffectBasis::FromStart,
            vec![number("p90", between(-0.08, 0.0)), number("p95", between(-0.08, 0.11))],
        ),
        of(false, EffectBasis::FromStart, vec![number("failed", [None, None])]),
    ]
}

fn unsent() -> Vec<Evidence> {
    let of = |n, gave_up, waiting_at_end, lacked, others, started_per_s: Option<f64>| {
        let offered_per_s = started_per_s.map(|_| 200.0);
        Load::Unsent { n, of: 12_000, gave_up, waiting_at_end, lacked, others, started_per_s, offered_per_s }
            .into()
    };
    vec![of(1_234, 1_000, 200, 30, 4, Some(179.4)), of(4, 0, 0, 0, 4, None)]
}

fn causes() -> [GeneratorCause; 6] {
    [
        GeneratorCause::ModelPauses,
        GeneratorCause::Saturated { share: 0.93 },
        GeneratorCause::Stalls { n: 7, longest_s: 0.047 },
        GeneratorCause::NoProcessor,
        GeneratorCause::InPattern,
        GeneratorCause::NotRecorded,
    ]
}

fn offs() -> [Off; 2] {
    [
        Off { from: Reference::Plan, window_s: Some(0.1), by: 0.314 },
        Off { from: Reference::Expectation, window_s: None, by: -0.314 },
    ]
}

fn grows() -> Grows {
    Grows { part: "dynos".into(), per_second: 10.3, ci95: [8.18, 11.1] }
}

fn feedback() -> Vec<Evidence> {
    let grew = |what, attempts_per_request, wasted, down: Option<&str>| {
        let (per_second, ci95) = (10.3, [8.18, 11.1]);
        let down = down.map(headway_redact::clear);
        Loop::PilesUpInModel { what, per_second, ci95, attempts_per_request, wasted, down }
    };
    let held = |cap, cause| Loop::HeldBack { share: 0.2, longest_s: 0.005, cap, cause };
    let all = [
        Loop::SessionsBehind { offered: 12_345.6, share: 0.81 },
        Loop::PilesUp { what: Moving::Sessions, by: 3_080.0, mean: 1_540.0 },
        grew(Moving::Requests, None, None, None),
        grew(Moving::Sessions, Some(2.5), Some(0.12), Some("db")),
        held(Some(50), HeldBackBy::Target { times: 12.3 }),
        held(Some(1_000), HeldBackBy::Cap { in_use: 900.0 }),
        held(Some(9_900), HeldBackBy::Mute),
        held(None, HeldBackBy::Either),
    ];
    all.map(Evidence::from).into()
}

fn no_steady_state() -> Vec<Evidence> {
    let fills_up = |load, parts, growth| Model::FillsUp { part: "dynos".into(), load, parts, growth };
    let not_shown = Grows { ci95: [-1.0, 11.1], ..grows() };
    let none =
        |why: Option<Unsteady>, fastest| Model::NoSteadyState { why: why.map(Into::into), n: 6_000, fastest };
    let all = [
        fills_up(Some(1.25), 1, Some(grows())),
        fills_up(Some(1.0), 2, Some(not_shown)),
        fills_up(None, 3, None),
        none(None, Some(grows())),
        none(Some(Unsteady::TooFew), None),
    ];
    all.map(Evidence::from).into()
}

fn not_steady() -> Vec<Evidence> {
    let warm_up = Remedy::WarmUp { until_s: 30.0, instead_of_s: 10.0 };
    [
        (Moving::ResponseTimes, -0.31, warm_up),
        (Moving::Requests, 0.31, Remedy::AskForLess),
        (Moving::ResponseTimes, 1.2, Remedy::RunLonger),
    ]
    .map(|(what, change, remedy)| Loop::NotSteady { what, change, remedy }.into())
    .into()
}

fn short_run() -> Vec<Evidence> {
    let open = |rule, window_s| OpenRule { rule, window_s, n: 1_234 };
    let rules = vec![open(RuleId::LateShare, None), open(RuleId::Dispersion, Some(0.1))];
    let short = |beginning, needed_s| Model::ShortRun {
        length_s: 55.0,
        times: 2.75,
        relaxation_s: 20.0,
        beginning,
        needed_s,
        mean_s: 7_683.0,
        within: 0.1,
    };
    vec![Run::Undecided { rules }.into(), short(true, 200.0).into(), short(false, 10_000.0).into()]
}

fn same_seed() -> Vec<Evidence> {
    let shifted = |later_s| Cause::SameSeedShifted {
        one: "a.csv".into(),
        other: "b.csv".into(),
        share: 0.81,
        chance: 0.012,
        later_s,
    };
    let same = Cause::SameSeed { one: "a.csv".into(), other: "b.csv".into(), correlation: 0.999 };
    [same, shifted(0.0), shifted(2.0), shifted(-0.25)].map(Evidence::from).into()
}

fn start_or_end() -> Vec<Evidence> {
    let reading = |load, pattern, cov| Reading { load, pattern, cov };
    let starts = reading(Some(LoadVerdict::Valid), Pattern::Even, Some(0.061));
    let of = |more_files, as_ends| {
        Cause::StartOrEnd { file: "run.jtl".into(), more_files, as_starts: starts, as_ends }.into()
    };
    vec![
        of(0, None),
        of(1, Some(starts)),
        of(3, Some(reading(Some(LoadVerdict::Invalid), Pattern::Bunched, None))),
        of(0, Some(reading(Some(LoadVerdict::Inconclusive), Pattern::Independent, Some(1.01)))),
    ]
}
