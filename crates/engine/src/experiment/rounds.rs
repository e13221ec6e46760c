//! Rounds: several backends under one plan each round, one after the other in random order, so that what the host and the hour do to a
//! round's runs alike drops out of their difference (randomised blocks; Fisher 1935, "The Design of Experiments", chapter 4).
//!
//! Each round has draws of its own, the same for all its runs. The warm-up of each run is sent and not compared.

use crate::compare::invalid;
use crate::simulate::replication::seed;
use crate::{Backend, Error, Keep, Observer, Place, RunSpec};
use headway_base::Batch;
use headway_base::random::Stream;
use headway_live::Control;
use headway_stats::Summary;
use headway_stats::comparison::{
    Compared, Comparison, Condition, Difference, FEWEST_ROUNDS, Incomparable, Observed, Observing, Round,
    Rounds, compare_rounds,
};
use headway_stats::summary::LoadVerdict;
use headway_workload::redact::{Cleared, Redactor};
use std::path::PathBuf;

/// What is played.
pub struct RoundsSpec<'a> {
    /// What is compared, the first the one that the others are compared with: its name, where its load goes, and what plays it.
    pub sides: Vec<Contender>,
    /// The run of a round, by the seed of its plan.
    pub run: &'a dyn Fn(u64) -> Result<RunSpec, Error>,
    /// How many rounds.
    pub rounds: u64,
    /// Seed of the order and of the plans.
    pub seed: u64,
    /// Conditions under which the command fails.
    pub conditions: &'a [Condition],
    /// Where run folders go, `round-1-target-1` ... by the order of `sides`; none: nothing is kept.
    pub folder: Option<PathBuf>,
    /// The command that repeats it, secrets replaced.
    pub command: Cleared,
}

/// One of those that are compared.
pub struct Contender {
    /// What it is called.
    pub name: Cleared,
    /// Where its load goes, secrets replaced; none of models.
    pub target: Option<Cleared>,
    /// What plays it.
    pub backend: Backend,
}

/// How a comparison by rounds goes on.
pub trait Going {
    /// That run of that round, from 0, begins.
    fn begins(&mut self, round: u64, name: &str);
    /// It has ended, with that summary.
    fn ended(&mut self, summary: &Summary);
}

/// No observer.
impl Going for () {
    fn begins(&mut self, _: u64, _: &str) {}
    fn ended(&mut self, _: &Summary) {}
}

/// What rounds came to.
#[derive(Debug)]
pub struct Played {
    /// The comparison, of the rounds that were complete.
    pub comparison: Comparison,
    /// Whether it was stopped before all rounds were played.
    pub interrupted: bool,
}

/// Takes the requests of a run as it goes.
struct Taking(Option<Observing>);

impl Observer for Taking {
    fn batch(&mut self, batch: &Batch) {
        if let Some(observing) = &mut self.0 {
            batch.records.iter().for_each(|record| observing.push(record));
            batch.events.iter().for_each(|event| observing.event(event));
        }
    }
}

/// Plays the rounds, until `control` stops them.
///
/// # Errors
/// What keeps a run from taking place.
pub fn rounds(spec: &RoundsSpec<'_>, control: &Control, going: &mut dyn Going) -> Result<Played, Error> {
    let order = Stream::new(spec.seed, "order");
    let mut runs: Vec<Compared> = spec
        .sides
        .iter()
        .map(|side| Compared { name: side.name.clone(), target: side.target.clone(), ..Compared::default() })
        .collect();
    let mut told = Rounds { seed: spec.seed, ..Rounds::default() };
    let (mut whole, mut total) = (Vec::new(), 0.0);
    let mut invalid_rounds = vec![0usize; runs.len()];
    let mut interrupted = false;
    for r in 0..spec.rounds {
        // Where too few VALID rounds can be left, the others show nothing.
        let invalid = invalid_rounds.iter().max().map_or(0, |most| *most as u64);
        if invalid > 0 && spec.rounds - invalid < FEWEST_ROUNDS as u64 {
            break;
        }
        let mut places: Vec<usize> = (0..runs.len()).collect();
        // Fisher and Yates (1938).
        for i in (1..places.len()).rev() {
            places.swap(i, (order.bits(r, i as u64) % (i as u64 + 1)) as usize);
        }
        let mut round = Round {
            seed: seed(spec.seed, r),
            first: places[0],
            loads: vec![None; runs.len()],
            left_out: false,
        };
        let mut seen: Vec<Option<Observed>> = runs.iter().map(|_| None).collect();
        for &place in &places {
            let side = &spec.sides[place];
            let mut run = (spec.run)(round.seed)?;
            run.name = Redactor::default().clear(&format!("round-{}-{}", r + 1, side.name));
            // A URL is no name of a folder.
            let own = format!("round-{}-target-{}", r + 1, place + 1);
            run.keep =
                spec.folder.as_ref().map(|folder| Keep { place: Place::Folder(folder.join(own)), log: true });
            let measured = run.plan.measured_from..run.plan.end;
            let mut taking =
                Taking(Some(Observing::new(&measured, &run.labels, &run.labels).asked(spec.conditions)));
            going.begins(r, &side.name);
            let observers: &mut [&mut dyn Observer] = &mut [&mut taking];
            let result = side.backend.play(&run, control, observers)?;
            if result.interrupted || control.asked() > 0 {
                interrupted = true;
                break;
            }
            let summary = &result.summary;
            let (load, is_another) = (summary.verdict.load, summary.is_another_load());
            round.left_out |= is_another;
            let verdict = summary.verdict.clone();
            going.ended(&result.summary);
            round.loads[place] = load;
            invalid_rounds[place] += usize::from(is_another);
            told.warmup_s = measured.start.as_secs_f64();
            told.each_s = (measured.end - measured.start).as_secs_f64();
            total += measured.end.as_secs_f64();
            let compared = &mut runs[place];
            compared.source = result.summary.source;
            compared.warmup_s = Some(told.warmup_s);
            compared.started_at = compared.started_at.take().or(result.summary.started_at);
            let observed = taking.0.take().map(|observing| observing.finish(measured.end));
            seen[place] = observed.map(|observed| observed.with_effect(&verdict));
        }
        if interrupted {
            break;
        }
        let all: Option<Vec<Observed>> = seen.into_iter().collect();
        if let Some(all) = all.filter(|_| !round.left_out) {
            all.iter().zip(&mut runs).for_each(|(of, run)| run.n += of.n());
            whole.push(all);
        }
        told.played.push(round);
    }
    told.warmup_share =
        if total > 0.0 { (told.played.len() * runs.len()) as f64 * told.warmup_s / total } else { 0.0 };
    for (place, run) in runs.iter_mut().enumerate() {
        // Rounds in which requests were not sent are left out; where too few are left, that is what keeps the two from being compared.
        let spoiled = whole.len() < FEWEST_ROUNDS && invalid_rounds[place] > 0;
        let kept = || told.played.iter().filter(|round| !round.left_out);
        let valid = Some(LoadVerdict::Valid);
        let unsure = kept().any(|round| round.loads[place].is_some() && round.loads[place] != valid);
        run.is_another_load = spoiled;
        run.load = Some(match (spoiled, unsure) {
            (true, _) => LoadVerdict::Invalid,
            (false, true) => LoadVerdict::Inconclusive,
            (false, false) => LoadVerdict::Valid,
        });
        let middle = whole.get(whole.len() / 2).map(|round| round[place].curve());
        run.curve = middle.unwrap_or_default();
    }
    let obstacles = |other: usize| -> Vec<Incomparable> { invalid([0, other], [&runs[0], &runs[other]]) };
    let differs = |other: usize| -> Vec<Difference> {
        let [base, other] = [&runs[0], &runs[other]].map(|run| run.target.clone().unwrap_or_default());
        if base == other { Vec::new() } else { vec![Difference { what: "target".into(), base, other }] }
    };
    let comparison = compare_rounds(runs.clone(), &whole, &obstacles, &differs, spec.conditions);
    let command = Some(spec.command.clone()).filter(|text| !text.is_empty());
    Ok(Played { comparison: Comparison { rounds: Some(told), command, ..comparison }, interrupted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sim;
    use headway_stats::comparison::{Shown, Verdict};
    use headway_workload::scenario::{Surroundings, parse};
    use headway_workload::{Plan, Shard};

    fn played(services: [&str; 2], rounds: u64, seed: u64) -> Comparison {
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &|_| None,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = |service: &str| {
            let text = format!(
                "users: {{ arrive: {{ rate: 200/s }}, phases: [ {{ hold: 2s, warmup: true }}, {{ hold: 20s }} ] }}\n\
                 journey: [ {{ get: /, name: list }}, {{ get: /x, name: show }} ]\nmodel: {{ servers: 4, service: exp({service}) }}\n"
            );
            parse("s.yaml", &text, &around).unwrap()
        };
        let first = scenario(services[0]);
        let sides = services.map(|service| Contender {
            name: headway_workload::redact::clear(service),
            target: None,
            backend: Backend::Sim(Box::new(Sim::new(scenario(service).model().unwrap().clone()))),
        });
        let run = |seed: u64| {
            let plan: Plan = first.plan(seed, Shard::WHOLE);
            Ok(RunSpec { labels: first.labels.clone(), ..RunSpec::new("r", plan, 1_000) })
        };
        let spec = RoundsSpec {
            sides: sides.into(),
            run: &run,
            rounds,
            seed,
            conditions: &["p(50) slower by 1%".parse().unwrap()],
            folder: None,
            command: Cleared::default(),
        };
        super::rounds(&spec, &Control::default(), &mut ()).unwrap().comparison
    }

    #[test]
    fn models_are_compared_in_rounds_of_one_plan_each() {
        let compared = played(["4ms", "4.4ms"], 8, 1);
        let p50 =
            compared.pairs[0].rows.iter().find(|row| row.of.key() == "p50" && row.label.is_none()).unwrap();
        assert_eq!(p50.shown, Shown::Higher, "{p50:?}");
        let [low, high] = p50.ratio_interval.unwrap();
        assert!(low > 1.05 && high < 1.2, "{low} {high}");
        assert!(matches!(compared.pairs[0].verdict, Verdict::Differs { .. }));
        assert_eq!(compared.conditions[0].outcome, headway_stats::comparison::Outcome::Holds);
        let labels: Vec<&str> =
            compared.pairs[0].rows.iter().filter_map(|row| row.label.as_deref()).collect();
        assert!(labels.contains(&"list") && labels.contains(&"show"), "{labels:?}");
        let rounds = compared.rounds.unwrap();
        assert!((rounds.warmup_share - 2.0 / 22.0).abs() < 1e-12, "{}", rounds.warmup_share);
        let seeds: std::collections::BTreeSet<u64> = rounds.played.iter().map(|round| round.seed).collect();
        assert_eq!((rounds.played.len(), seeds.len()), (8, 8));
        let firsts: Vec<usize> = rounds.played.iter().map(|round| round.first).collect();
        assert!(firsts.contains(&0) && firsts.contains(&1), "{firsts:?}");
    }

    /// The same by the events of responses: of a single step, on it and on all.
    #[test]
    fn models_are_compared_by_the_events_of_their_responses() {
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &|_| None,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = |gap: &str| {
            let text = format!(
                "users: {{ arrive: {{ rate: 100/s }}, phases: [ {{ hold: 2s, warmup: true }}, {{ hold: 20s }} ] }}\n\
                 journey: [ {{ get: /, name: chat, stream: chunks }} ]\n\
                 model: {{ servers: 4, service: exp(20ms), events: {{ first: 5ms, gap: exp({gap}), count: 5 }} }}\n"
            );
            parse("s.yaml", &text, &around).unwrap()
        };
        let first = scenario("10ms");
        let sides = ["10ms", "12ms"].map(|gap| {
            let scenario = scenario(gap);
            let sim =
                Sim { streamed: scenario.script.streamed(), ..Sim::new(scenario.model().unwrap().clone()) };
            Contender { name: gap.into(), target: None, backend: Backend::Sim(Box::new(sim)) }
        });
        let run = |seed: u64| {
            let plan: Plan = first.plan(seed, Shard::WHOLE);
            Ok(RunSpec { labels: first.labels.clone(), ..RunSpec::new("r", plan, 1_000) })
        };
        let conditions = [
            "event_gap: avg slower by 5%",
            "event_gap{step:chat}: avg slower by 5%",
            "first_event: p(50) slower by 1%",
        ]
        .map(|text| text.parse().unwrap());
        let spec = RoundsSpec {
            sides: sides.into(),
            run: &run,
            rounds: 8,
            seed: 1,
            conditions: &conditions,
            folder: None,
            command: Cleared::default(),
        };
        let compared = super::rounds(&spec, &Control::default(), &mut ()).unwrap().comparison;
        use headway_stats::comparison::Outcome::{DoesNotHold, Holds};
        let outcomes: Vec<_> = compared.conditions.iter().map(|condition| condition.outcome).collect();
        // The first events are the same ones.
        assert_eq!(outcomes, [Holds, Holds, DoesNotHold]);
        let row = &compared.pairs[0].rows[compared.conditions[0].row.unwrap()];
        assert!((row.ratio.unwrap() - 1.2).abs() < 1e-4, "the same draws: {row:?}");
        assert!(row.base.n > 8 * 4 * 1_800, "four gaps of each response: {row:?}");
    }

    #[test]
    fn one_model_is_not_slower_than_itself_and_a_seed_repeats_a_comparison() {
        let [one, again] = [5, 5].map(|seed| played(["4ms", "4ms"], 6, seed));
        // The same draws on both sides: no difference at all.
        assert!(matches!(one.pairs[0].verdict, Verdict::NoDifference { .. }), "{:?}", one.pairs[0].verdict);
        assert_eq!(one, again);
    }
}
