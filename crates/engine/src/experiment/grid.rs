//! A study: every combination of values, each with its replications; points that differ in the model alone are compared.

use super::{Conditions, Conducted, Experiment, PointResult, SweepPoint, conduct};
use crate::compare::{Loaded, beside};
use crate::simulate::Play;
use crate::simulate::estimates::of_values;
use crate::simulate::replication::{MAX, NUMBERS, Number, OF_WELL, warm_up};
use crate::{Error, plan_summary};
use headway_stats::Threshold;
use headway_stats::steady::{apart, paired};
use headway_stats::study::{Difference, Estimate, MODEL, Parameter, Point, SCHEMA, Study};
use headway_stats::summary::evidence::{NotCompared, Remark};
use headway_stats::summary::{Evidence, Infinite, PlanSummary};
use headway_workload::redact::{Cleared, clear};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Several plays of one scenario: points by replications.
#[derive(Clone, Debug)]
pub struct StudySpec {
    /// Name of the scenario.
    pub name: Cleared,
    /// The command that repeats it, secrets replaced.
    pub command: Cleared,
    /// Seed of the first replication of every point.
    pub seed: u64,
    /// How often each point is played; at least 1.
    pub replications: u64,
    /// What varies.
    pub parameters: Vec<Parameter>,
    /// One for each combination of values, the last parameter fastest; at least one.
    pub places: Vec<SweepPoint>,
    /// How many plays go on at once.
    pub threads: usize,
    /// Thresholds of the numbers of each point.
    pub thresholds: Vec<Threshold>,
    /// Thresholds of the file that a study does not evaluate, as they were written.
    pub not_judged: Vec<Cleared>,
    /// Labels of the steps.
    pub labels: Vec<Cleared>,
    /// A recorded run that the points are compared with.
    pub beside: Option<Arc<Loaded>>,
    /// What the user noted of it, secrets replaced.
    pub notes: BTreeMap<Cleared, Cleared>,
}

/// All points in one round.
struct Grid {
    places: Option<Vec<SweepPoint>>,
}

impl Experiment for Grid {
    fn next(&mut self, _: &[Option<PointResult>]) -> Option<Vec<SweepPoint>> {
        self.places.take()
    }
}

impl StudySpec {
    /// How many plays there are.
    pub fn plays(&self) -> u64 {
        self.places.len() as u64 * self.replications
    }

    /// Where among the parameters the model is, if it varies.
    pub fn model_parameter(&self) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == MODEL)
    }
}

/// What a study came to.
#[derive(Debug)]
pub struct Studied {
    /// The document, of the points that were played to their end.
    pub study: Study,
    /// Whether it was stopped before all were.
    pub interrupted: bool,
}

/// Plays it. `stop` is polled often, and ends it early; `progress` gets every play that has ended.
///
/// # Errors
/// A model that cannot be.
pub fn study(
    spec: &StudySpec,
    stop: &(dyn Fn() -> bool + Sync),
    progress: impl FnMut(),
) -> Result<Studied, Error> {
    let conditions = Conditions {
        seed: spec.seed,
        replications: spec.replications,
        threads: spec.threads,
        thresholds: &spec.thresholds,
    };
    let mut grid = Grid { places: Some(spec.places.clone()) };
    let Conducted { places, done } = conduct(&mut grid, &conditions, stop, progress)?;
    Ok(document(spec, &places, done))
}

/// The study of which these points are `done`.
pub(super) fn document(
    spec: &StudySpec,
    places: &[SweepPoint],
    mut done: Vec<Option<PointResult>>,
) -> Studied {
    let r = spec.replications;
    for (place, done) in places.iter().zip(&mut done) {
        if let Some(PointResult { point, .. }) = done {
            point.asked = Some(asked(spec, place));
        }
    }
    let of_points = places.iter().zip(&done);
    let points = of_points.filter_map(|(place, done)| Some((place, &done.as_ref()?.point)));
    let beside = spec.beside.as_ref().map(|run| beside(run, spec, points));
    let missing: Vec<Vec<Cleared>> =
        places.iter().zip(&done).filter(|(_, d)| d.is_none()).map(|(p, _)| p.values.clone()).collect();
    let interrupted = !missing.is_empty();
    let done: Vec<PointResult> = done.into_iter().flatten().collect();
    let (differences, uncompared) = differences(spec, &done);
    let not_judged = |threshold: &Cleared| Remark::NotJudged { threshold: threshold.clone() }.into();
    let study = Study {
        schema: SCHEMA.to_owned(),
        name: spec.name.clone(),
        command: Some(spec.command.clone()).filter(|command| !command.is_empty()),
        seed: spec.seed,
        replications: r,
        warmup: spec.places.first().map(|place| warm_up(&place.play.plan)).unwrap_or_default(),
        timeout_s: timeout(spec),
        parameters: spec.parameters.clone(),
        differences,
        uncompared,
        unjudged: spec.not_judged.iter().map(not_judged).collect(),
        points: done.into_iter().map(|d| d.point).collect(),
        missing,
        notes: spec.notes.clone(),
        beside,
        ..Study::default()
    };
    Studied { study, interrupted }
}

/// The client's timeout; none where places differ in it.
fn timeout(spec: &StudySpec) -> Option<f64> {
    let mut all = spec.places.iter().map(|place| place.play.limits.timeout);
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.as_secs_f64())
}

/// The plan of what is played at that place, as in the summary of a run.
pub(crate) fn asked(spec: &StudySpec, place: &SweepPoint) -> PlanSummary {
    let Play { plan, limits, .. } = &place.play;
    let seconds = |span: headway_base::Nanos| Some(span.as_secs_f64());
    PlanSummary {
        steps: spec.labels.clone(),
        timeout_s: seconds(limits.timeout),
        connect_timeout_s: seconds(limits.connect_timeout),
        max_wait_s: seconds(limits.max_wait),
        ..plan_summary(plan)
    }
}

/// Points that differ in the model alone, each against the first model's, and what of them is not compared.
fn differences(spec: &StudySpec, done: &[PointResult]) -> (Vec<Difference>, Vec<Evidence>) {
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    let Some(model) = spec.model_parameter() else { return (all, left_out) };
    let first = &spec.parameters[model].values[0];
    let others = |point: &Point| -> Vec<Cleared> {
        let kept = point.values.iter().enumerate().filter(|(i, _)| *i != model);
        kept.map(|(_, value)| value.clone()).collect()
    };
    let bases: BTreeMap<Vec<Cleared>, usize> = done
        .iter()
        .enumerate()
        .filter(|(_, d)| d.point.values[model] == *first)
        .map(|(index, d)| (others(&d.point), index))
        .collect();
    for (point, own) in done.iter().enumerate().filter(|(_, d)| d.point.values[model] != *first) {
        let Some(&with) = bases.get(&others(&own.point)) else { continue };
        let (pair, rest) = (
            [own, &done[with]],
            clear(&others(&own.point).iter().map(Cleared::as_str).collect::<Vec<_>>().join(" ")),
        );
        let names = pair.map(|d| d.point.values[model].clone());
        let not = |at: Vec<&'static str>, why: NotCompared| {
            let [one, other] = names.clone();
            let at = at.into_iter().map(Cleared::from).collect();
            Evidence::from(Remark::NotCompared { one, other, at, place: rest.clone(), why })
        };
        let (mut bounds, mut few) = (Vec::new(), Vec::new());
        let no_mean = pair.iter().filter_map(|d| d.no_mean).min_by_key(|what| *what != Infinite::MeanWait);
        if let Some(what) = no_mean.filter(|_| spec.replications > 1) {
            let why = match what {
                Infinite::MeanWait => NotCompared::MeanInfinite,
                _ => NotCompared::HeavyTail,
            };
            left_out.push(not(vec!["mean"], why));
        }
        for number in numbers_of(pair) {
            if no_mean.is_some() && number.name == "mean" {
                continue;
            }
            if number.values.iter().any(|values| values.is_empty()) && spec.replications > 1 {
                few.push(number.name);
                continue;
            }
            if pair.iter().any(|d| d.is_short_for(number.name)) {
                few.push(number.name);
                continue;
            }
            match number.values.map(|values| values.iter().any(|value| value.lower_bound)) {
                [false, false] => {
                    let [a, b] = number.values.map(|of| of.iter().map(|n| n.value).collect::<Vec<f64>>());
                    let [one, other] = pair.map(|d| d.allowance(number.name, number.ok));
                    let estimates = pair.map(|d| d.estimate(number.name, number.ok));
                    if let Some((difference, gain)) = difference(&a, &b, estimates, one.max(other)) {
                        let of = number.name.to_owned();
                        all.push(Difference { point, with, of, ok: number.ok, difference, gain });
                    }
                }
                _ => bounds.push(number.name),
            }
        }
        if !few.is_empty() {
            left_out.push(not(few, NotCompared::FewBeyond));
        }
        if !bounds.is_empty() {
            left_out.push(not(bounds, NotCompared::LowerBounds));
        }
    }
    (all, left_out)
}

/// A number of two points, run by run.
struct PairedNumber<'a> {
    name: &'static str,
    ok: bool,
    values: [&'a [Number]; 2],
}

/// Failures that are this rare, and as many in both, do not make one of two models the faster.
const FAILED: f64 = 0.01;

/// The numbers that two points are compared by: of all requests, or, where it hangs on who failed, of those that ended well.
fn numbers_of<'a>(pair: [&'a PointResult; 2]) -> Vec<PairedNumber<'a>> {
    let [a, b] = pair.map(|d| d.point.failed);
    let apart = |[low, high]: [f64; 2], x: f64| x < low || x > high;
    let differ = a.mean != b.mean
        && match (a.ci95, b.ci95) {
            (Some(ours), Some(theirs)) => apart(ours, b.mean) || apart(theirs, a.mean),
            _ => true,
        };
    let of = |ok: bool, name: &'static str, values: [&'a [Number]; 2]| PairedNumber { name, ok, values };
    if differ || a.mean > FAILED || b.mean > FAILED {
        let all = OF_WELL.iter().enumerate();
        return all.map(|(i, (name, _))| of(true, name, pair.map(|d| &d.well[i][..]))).collect();
    }
    // The largest of all replications is no number of each run.
    let all = NUMBERS.iter().enumerate().filter(|(_, (name, _))| *name != MAX);
    all.map(|(i, (name, _))| of(false, name, pair.map(|d| &d.values[i][..]))).collect()
}

/// The first less the second, run by run, and how much narrower its interval is for the common draws; of stepped ones by the ends of their
/// intervals. Its interval is wider than the runs tell by the larger allowance of the two.
fn difference(
    first: &[f64],
    second: &[f64],
    estimates: [Option<&Estimate>; 2],
    allowance: f64,
) -> Option<(Estimate, Option<f64>)> {
    if first.len() != second.len() {
        return None;
    }
    if let [Some(a), Some(b)] = estimates
        && (a.stepped || b.stepped)
    {
        let ci95 = a.ci95.zip(b.ci95).map(|(a, b)| apart(a, b));
        return Some((Estimate { mean: a.mean - b.mean, ci95, stepped: true, ..Estimate::default() }, None));
    }
    let off = of_values(first.iter().zip(second).map(|(a, b)| a - b).collect())?;
    let gain = paired(first, second).and_then(|paired| paired.sharpened);
    let wider = |[low, high]: [f64; 2]| [low, high].map(|end| off.mean + allowance * (end - off.mean));
    Some((Estimate { ci95: off.ci95.map(wider), ..off }, gain))
}

#[cfg(test)]
mod tests {
    use super::super::part::{Merged, Missing, PartOf, play_seated, plays_of};
    use super::*;
    use crate::destination::bucket::Bucket;
    use crate::destination::folder::Folder;
    use crate::destination::layout::{self, Claim, Done, RunDocument, Timing, Whole};
    use crate::destination::{Seat, Store};
    use crate::merge::destination::Destination;
    use crate::simulate::point::PointBuilder;
    use crate::simulate::replication::{Replication, seed};
    use crate::{NotPlayed, merge};
    use headway_live::Control;
    use headway_records::RunFolder;
    use headway_workload::Shard;
    use headway_workload::scenario::{Surroundings, parse};
    use std::path::Path;

    /// One point, 23 times: more replications than are looked at for the warm-up.
    fn spec() -> StudySpec {
        let text = "seed: 7\nusers: { arrive: { rate: 60/s }, phases: [ { hold: 20s } ] }\njourney: [ { get: / } ]\n\
            model: { servers: 2, service: exp(8ms) }\n";
        let none = |_: &str| None;
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &none,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = parse("s.yaml", text, &around).unwrap();
        let plan = scenario.plan(7, Shard::WHOLE);
        let limits = crate::RunSpec::new("s", plan.clone(), 1_000).limits;
        let play = Play { plan, limits, model: scenario.model().unwrap().clone(), streamed: Vec::new() };
        StudySpec {
            name: "s".into(),
            command: Cleared::default(),
            seed: 7,
            replications: 23,
            parameters: Vec::new(),
            places: vec![SweepPoint { values: Vec::new(), play }],
            threads: 2,
            thresholds: vec!["p(97)<60".parse().unwrap(), "failed: rate<1%".parse().unwrap()],
            not_judged: Vec::new(),
            labels: scenario.labels,
            beside: None,
            notes: BTreeMap::new(),
        }
    }

    #[test]
    fn the_parts_of_three_shards_make_the_study_of_one_machine_to_the_byte() {
        use super::super::part::{play_part, study_of_parts};
        use std::io::BufRead;
        let spec = two_points();
        let whole = study(&spec, &|| false, || {}).unwrap().study;
        let mut texts = Vec::new();
        for i in 0..3 {
            let (mut text, shard) = (Vec::new(), Shard::new(i, 3).unwrap());
            let ended = play_part(&spec, shard, &|| false, || {}, &mut text).unwrap();
            assert_eq!(ended, plays_of(&spec, shard));
            // Plays end, and are written, in any order; what follows goes by the last and by the first.
            let number =
                |line: &&[u8]| serde_json::from_slice::<serde_json::Value>(line).unwrap()["job"].as_u64();
            let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            lines.sort_by_key(number);
            texts.push(lines.concat());
        }
        let made = |texts: &[Vec<u8>]| {
            let mut lines: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let named = lines.iter_mut().enumerate();
            let mut parts: Vec<(String, &mut dyn BufRead)> =
                named.map(|(i, lines)| (format!("part {i}"), lines as &mut dyn BufRead)).collect();
            study_of_parts(&spec, &mut parts)
        };
        let (merged, read) = made(&texts).unwrap();
        assert_eq!(read.iter().sum::<u64>(), spec.plays());
        assert!(!merged.interrupted && whole.points[0] != whole.points[1]);
        assert!(headway_report::json::of_study(&merged.study) == headway_report::json::of_study(&whole));
        // Killed within its last line: the point of that play is missing, and the other is what it was.
        let mut cut = texts.clone();
        let shorter = cut[1].len() - 5;
        cut[1].truncate(shorter);
        let (cut, fewer) = made(&cut).unwrap();
        assert_eq!(fewer, [read[0], read[1] - 1, read[2]]);
        assert!(cut.interrupted && cut.study.missing == [spec.places[1].values.clone()]);
        assert!(cut.study.points[0] == whole.points[0]);
        // Parts in the wrong places.
        texts.swap(0, 1);
        let error = made(&texts).unwrap_err().to_string();
        assert!(error.contains("part 0: line 1: play 1 is not one of shard 0/3"), "{error}");
    }

    /// Two points, the second with a server more.
    fn two_points() -> StudySpec {
        let mut spec = spec();
        let other = SweepPoint { values: vec!["other".into()], ..spec.places[0].clone() };
        spec.places.push(other);
        spec.places[1].play.model.parts[0].copies += 1;
        spec
    }

    fn part_of(spec: &StudySpec, index: u32) -> PartOf {
        let words = vec!["headway".to_owned(), "sim".to_owned(), "s.yaml".to_owned()];
        PartOf::new(spec, Shard::new(index, 3).unwrap(), words, "one line\nand another\n".to_owned())
    }

    /// Plays a shard into that store, its folder in a bucket at `own`.
    fn play(
        spec: &StudySpec,
        index: u32,
        store: &Arc<dyn Store>,
        own: &Path,
        control: &Control,
    ) -> Result<u8, Error> {
        let part = part_of(spec, index);
        let seat = Seat::of_study(store.clone(), &part, part.whole(spec), Shard::new(index, 3).unwrap())?;
        let folder = match store.folder() {
            Some(_) => seat.run_folder("s")?,
            None => RunFolder::within(&own.join(index.to_string()))?,
        };
        let (mut plays, all) = (0, plays_of(spec, Shard::new(index, 3).unwrap()));
        let played = play_seated(spec, &part, seat, &folder, control, || plays += 1)?;
        assert_eq!(played.ended, plays);
        let code = if played.ended == all { 0 } else { 130 };
        played.destination.finish(code)?;
        Ok(code)
    }

    fn merged(spec: &StudySpec, store: &Arc<dyn Store>) -> Merged {
        let destination = Destination::open(store.clone()).unwrap();
        assert!(destination.is_of_a_study());
        destination.parts().unwrap().merge(spec).unwrap()
    }

    #[test]
    fn parts_meet_in_a_folder_or_a_bucket_and_make_the_study_of_one_machine_to_the_byte() {
        let spec = two_points();
        let whole = headway_report::json::of_study(&study(&spec, &|| false, || {}).unwrap().study);
        let at = tempfile::tempdir().unwrap();
        let stores: [Arc<dyn Store>; 2] =
            [Arc::new(Folder::new(&at.path().join("dest"))), Arc::new(Bucket::in_memory())];
        for store in &stores {
            for index in [2, 0, 1] {
                assert_eq!(play(&spec, index, store, at.path(), &Control::default()).unwrap(), 0);
            }
            let Merged { studied, missing } = merged(&spec, store);
            assert_eq!(missing, []);
            assert!(headway_report::json::of_study(&studied.study) == whole, "{}", store.place());
            // No other process plays a shard again, and no other study comes here.
            let again = play(&spec, 1, store, at.path(), &Control::default()).unwrap_err();
            let own = format!("remove {}/1, and", store.place());
            assert!(again.to_string().contains(&own), "{again}");
            assert!(matches!(again, Error::NotPlayed(NotPlayed::Superseded { .. })), "{again:?}");
            let refused = |other: &StudySpec, told: &str| {
                let why = play(other, 1, store, at.path(), &Control::default()).unwrap_err().to_string();
                assert!(why.contains(told) && why.contains("is of another study"), "{why}");
            };
            refused(&StudySpec { seed: 8, ..two_points() }, "seed is 7 there and 8 here");
            refused(
                &StudySpec { replications: 24, ..two_points() },
                "number of replications is 23 there and 24 here",
            );
            refused(&self::spec(), "number of points is 2 there and 1 here");
            // What the advice of a shard that is not played again comes to.
            if let Some(folder) = store.folder() {
                std::fs::remove_dir_all(folder.join("1")).unwrap();
                assert_eq!(merged(&spec, store).missing.len(), 1);
                assert_eq!(play(&spec, 1, store, at.path(), &Control::default()).unwrap(), 0);
                assert!(headway_report::json::of_study(&merged(&spec, store).studied.study) == whole);
            }
            let mut other = two_points();
            other.places[1].play.model.parts[0].copies += 1;
            refused(&other, "fingerprint of the study is ");
        }
    }

    #[test]
    fn a_shard_that_was_stopped_or_lost_is_named_with_what_it_had() {
        let spec = two_points();
        let at = tempfile::tempdir().unwrap();
        let stores: [Arc<dyn Store>; 2] =
            [Arc::new(Folder::new(&at.path().join("dest"))), Arc::new(Bucket::in_memory())];
        for store in &stores {
            let Err(none) = Destination::open(store.clone()) else { panic!("it is a destination") };
            assert!(matches!(none, merge::Error::NotADestination { .. }), "{none}");
            // Stopped before its first play.
            let stopped = Control::default();
            stopped.stop();
            assert_eq!(play(&spec, 1, store, at.path(), &stopped).unwrap(), 130);
            assert_eq!(play(&spec, 0, store, at.path(), &Control::default()).unwrap(), 0);
            let claim = Claim { host: "node-2".to_owned(), pid: 7, at_unix_ns: 0 };
            store.put("2/claim.json", &layout::json(&claim)).unwrap();
            let Merged { studied, missing } = merged(&spec, store);
            assert_eq!((studied.study.points.len(), studied.study.missing.len()), (0, 2));
            let of = |index: u32| plays_of(&spec, Shard::new(index, 3).unwrap());
            let lacks = |index: u32, is_there: bool, host: Option<&str>| Missing {
                shard: Shard::new(index, 3).unwrap(),
                has: 0,
                of: of(index),
                is_there,
                host: host.map(str::to_owned),
            };
            assert_eq!(missing, [lacks(1, true, None), lacks(2, false, Some("node-2"))]);
            // What a shard said in the end is held to what there is.
            let done = Done { records: of(0), bytes: 1, parts: Some(1), exit_code: 0 };
            store.put("0/done.json", &layout::json(&done)).unwrap();
            let told = Destination::open(store.clone()).unwrap().parts().unwrap_err().to_string();
            assert!(told.contains("0/plays.jsonl: it has ") && told.contains(" bytes"), "{told}");
            let other = layout::json(&part_of(&StudySpec { seed: 8, ..two_points() }, 0));
            store.put("0/part.json", &other).unwrap();
            let told = Destination::open(store.clone()).unwrap().parts().unwrap_err().to_string();
            assert!(told.contains("0: the fingerprint of the study is "), "{told}");
            assert!(told.contains("a shard of another study is in this destination"), "{told}");
        }
    }

    #[test]
    fn shards_of_a_run_and_of_a_study_share_no_place() {
        let at = tempfile::tempdir().unwrap();
        let spec = spec();
        let store: Arc<dyn Store> = Arc::new(Folder::new(at.path()));
        let timing = Timing { start_at: None, plan_end_ns: 0, timeout_s: 1.0 };
        let run = RunDocument { of: Whole::Run(timing), ..part_of(&spec, 0).whole(&spec) };
        store.put(layout::RUN, &layout::json(&run)).unwrap();
        let why = play(&spec, 0, &store, at.path(), &Control::default()).unwrap_err().to_string();
        assert!(why.contains("is the place of the shards of a run, and this is a shard of a study"), "{why}");
        assert!(!at.path().join("0").exists(), "whoever is refused leaves nothing");
    }

    #[test]
    fn the_order_in_which_plays_end_changes_no_number() {
        let spec = spec();
        let studied = study(&spec, &|| false, || {}).unwrap();
        assert!(!studied.interrupted && studied.study.command.is_none());
        let place = &spec.places[0];
        let mut point = PointBuilder::new(23, &place.play, &spec.thresholds);
        for r in (0..23).rev() {
            let played = Replication::play(&place.play, seed(spec.seed, r), &|| false);
            let (replication, course) = played.unwrap().unwrap();
            point.take(r, replication, course);
        }
        assert!(point.is_whole());
        let asked = Some(asked(&spec, place));
        assert_eq!(
            Point { asked, ..point.finish(&place.values, &place.play).point },
            studied.study.points[0]
        );
    }
}
