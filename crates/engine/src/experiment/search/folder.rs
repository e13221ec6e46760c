//! The folder of a search: what was asked, the trials so far, and a run folder for each, so that a search that was cut off goes on from
//! there, even after kill -9.
//!
//! ```text
//! DIR/search.json                   what is known, written whole after each trial
//! DIR/plan.json, scenario.yaml      what was asked (of several targets: DIR/NAME/)
//! DIR/trial-01, trial-02, ...       the run folders (the same)
//! DIR/report.html                   when it ends
//! ```

use super::SearchSpec;
use crate::compare::{Recorded, differences};
use crate::files::replace;
use crate::{Error, Manifest};
use anyhow::{Result, anyhow};
use headway_records::folder::{PLAN, REPORT, SCENARIO};
use headway_report::{Output as _, Style, json};
use headway_stats::search::{Found, RateOf, SCHEMA, SEVERAL, Searched};
use headway_workload::redact::Cleared;
use serde::Deserialize;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The document in the folder of a search.
pub const SEARCH_FILE: &str = "search.json";

/// The folder of a search.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    before: Vec<Found>,
    /// Locked for as long as the search goes on.
    _held: File,
}

impl Folder {
    /// Of a search that begins: `path` exists and is empty. Writes what was asked.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn begin(path: &Path, specs: &[SearchSpec]) -> Result<Folder, Error> {
        for (folder, spec) in specs.iter().filter_map(|spec| Some((spec.folder.as_ref()?, spec))) {
            fs::create_dir_all(folder)?;
            replace(&folder.join(PLAN), &asked(spec).json()?)?;
            if let Some(text) = &spec.base.scenario {
                replace(&folder.join(SCENARIO), text.as_bytes())?;
            }
        }
        Ok(Folder { path: path.to_owned(), before: Vec::new(), _held: hold(path)? })
    }

    /// Of a search that goes on, which asks the same.
    ///
    /// # Errors
    /// It is not the folder of a search, or of one that asked for something else: what differs.
    pub fn resume(path: &Path, specs: &[SearchSpec]) -> Result<Folder, Error> {
        let before = to_go_on(path)?;
        let held = hold(path)?;
        let names = |all: Vec<&str>| if all.len() == 1 { "one target".to_owned() } else { all.join(", ") };
        let there = names(before.iter().map(|found| found.name.as_str()).collect());
        let here = names(specs.iter().map(|spec| spec.base.name.as_str()).collect());
        let mut differ = Vec::new();
        let mut compare = |what: &str, there: &str, here: &str| {
            if there != here {
                differ.push(format!("{what} ({there} there, {here} here)"));
            }
        };
        compare("targets", &there, &here);
        if before.len() == specs.len() {
            for (spec, before) in specs.iter().zip(&before) {
                let of = if specs.len() == 1 { String::new() } else { format!(" of {}", spec.base.name) };
                for [what, there, here] in differing(spec, before)? {
                    compare(&format!("{what}{of}"), &there, &here);
                }
            }
        }
        if differ.is_empty() {
            return Ok(Folder { path: path.to_owned(), before, _held: held });
        }
        Err(Error::usage(anyhow!(
            "--resume {}: its search asked for something else: {}; give the same flags, or leave --resume out to begin anew",
            path.display(),
            differ.join("; ")
        )))
    }

    /// What each search knew before; empty for one that begins.
    pub fn before(&self) -> &[Found] {
        &self.before
    }

    /// Writes what is known.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, searched: &Searched) -> Result<(), Error> {
        Ok(replace(&self.path.join(SEARCH_FILE), &json::of_search(searched))?)
    }

    /// Writes the pages of a search that has ended; what could not be written.
    pub fn finish(&self, searched: &Searched, specs: &[SearchSpec]) -> Vec<Result<()>> {
        let page = |folder: &Path, searched: &Searched| {
            let page = headway_report::html::Html.search(searched, &Style::default()).unwrap_or_default();
            replace(&folder.join(REPORT), &page)
        };
        let mut all = vec![page(&self.path, searched)];
        if searched.single().is_none() {
            let folders = specs.iter().filter_map(|spec| spec.folder.as_ref());
            let each = folders.zip(&searched.targets);
            all.extend(each.map(|(folder, found)| page(folder, &Searched::of(vec![found.clone()]))));
        }
        all
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The seed of the search in that folder.
///
/// # Errors
/// It is not the folder of a search.
pub fn seed_of(path: &Path) -> Result<u64, Error> {
    Ok(to_go_on(path)?.first().map_or(0, |found| found.seed))
}

/// Whether that run folder is of a trial, as the document of the search above it tells: `DIR/trial-07`, of several targets
/// `DIR/NAME/trial-07`.
pub fn is_trial(run: &Path) -> bool {
    let own = fs::canonicalize(run).unwrap_or_else(|_| run.to_path_buf());
    // The folders stand there as they were named when it was played, wherever that was.
    let has = |found: &Found| {
        // Runs of a sweep are whole.
        if !found.sweep.is_empty() {
            return false;
        }
        let folders = found.trials.iter().filter_map(|row| row.folder.as_ref()).chain(&found.cut_off);
        folders.map(|folder| Path::new(folder.as_str()).file_name()).any(|name| name == own.file_name())
    };
    let mut above = own.ancestors().skip(1);
    let parent = above.next();
    let of_one = parent.and_then(|parent| read(parent).ok()).is_some_and(|all| all.iter().any(has));
    let name = parent.and_then(Path::file_name);
    let of_several = above.next().and_then(|folder| read(folder).ok());
    let named = |found: &&Found| name.is_some_and(|name| name == found.name.as_str());
    of_one || of_several.is_some_and(|all| all.iter().find(named).is_some_and(has))
}

/// Keeps other searches out of that folder, until it is dropped.
fn hold(path: &Path) -> Result<File, Error> {
    let folder = File::open(path)?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::usage(anyhow!(
            "--resume {}: its search is still running; wait until it ends, or interrupt it",
            path.display()
        ))),
        // Some network file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(folder),
    }
}

pub(super) fn asked(spec: &SearchSpec) -> Manifest {
    Manifest::new(&spec.base, Some(&spec.target), None, 0)
}

/// What the folder of a search knows that is to go on.
fn to_go_on(path: &Path) -> Result<Vec<Found>, Error> {
    let searches = |all: Vec<Found>| match all.iter().all(|found| found.sweep.is_empty()) {
        true => Ok(all),
        false => Err("it is the folder of a sweep, whose rates were given".to_owned()),
    };
    read(path).and_then(searches).map_err(|why| {
        Error::usage(anyhow!(
            "--resume {}: {why}; name the folder of a search, or leave --resume out to begin anew",
            path.display()
        ))
    })
}

/// What the folder knows, one for each target; or why it is not the folder of a search.
pub(super) fn read(path: &Path) -> Result<Vec<Found>, String> {
    /// What every document begins with.
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        schema: String,
    }
    let file = path.join(SEARCH_FILE);
    let refused = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let text = fs::read(&file).map_err(|error| refused(&error))?;
    let head: Head = serde_json::from_slice(&text).map_err(|error| refused(&error))?;
    let all = match head.schema.as_str() {
        SCHEMA => serde_json::from_slice(&text).map(|found| vec![found]),
        SEVERAL => serde_json::from_slice(&text).map(|searched: Searched| searched.targets),
        other => {
            return Err(refused(&format!("the document's schema is '{other}', and {SCHEMA} is read here")));
        }
    };
    all.map_err(|error| refused(&error))
}

/// What may differ: its name, what was asked then, what is asked now.
type Asked = [String; 3];

/// What may differ of a search that goes on.
fn differing(spec: &SearchSpec, before: &Found) -> Result<Vec<Asked>, Error> {
    let unit = if before.rate_of == RateOf::Users { " users" } else { "/s" };
    let rate = |rate: Option<f64>| rate.map_or("none".to_owned(), |rate| format!("{rate}{unit}"));
    let mut all = vec![
        ["target".to_owned(), before.target.to_string(), spec.target.to_string()],
        ["seed".to_owned(), before.seed.to_string(), spec.base.plan.seed.to_string()],
        ["--from".to_owned(), rate(Some(before.from)), rate(Some(spec.bounds.from))],
        ["--to".to_owned(), rate(before.to), rate(spec.bounds.to)],
        thresholds(spec, before),
    ];
    let Some(folder) = &spec.folder else { return Ok(all) };
    let own = asked(spec);
    let there =
        Manifest::read(&folder.join(PLAN)).map_err(|error| Error::usage(error.context("--resume")))?;
    all.push(["version of headway".to_owned(), there.headway.clone(), own.headway.clone()]);
    let text = fs::read_to_string(folder.join(SCENARIO)).ok();
    let [was, is] = [&text, &spec.base.scenario].map(|text| text.as_deref().map(without_seed));
    if was != is {
        let word = |there: bool| if there { "another text or other values" } else { "none" }.to_owned();
        let own = if is.is_some() { "this one" } else { "none" }.to_owned();
        all.push(["scenario".to_owned(), word(was.is_some()), own]);
    }
    all.extend(
        loads(there, own).map_err(|why| Error::usage(anyhow!("--resume {}: {why}", folder.display())))?,
    );
    Ok(all)
}

/// The thresholds then and now.
pub(super) fn thresholds(spec: &SearchSpec, before: &Found) -> Asked {
    let list = |texts: &[Cleared]| match texts {
        [] => "none".to_owned(),
        texts => texts.iter().map(Cleared::as_str).collect::<Vec<_>>().join(", "),
    };
    let own: Vec<Cleared> = spec.base.thresholds.iter().map(|threshold| threshold.text.clone()).collect();
    ["thresholds".to_owned(), list(&before.thresholds), list(&own)]
}

/// What may differ between two loads, apart from their rates and what is asked of a plan.
pub(super) const SETTINGS: [&str; 4] = ["time scale", "--streams", "--answer", "--spread"];

/// In what the loads of the trials may differ, but for their rates.
///
/// # Errors
/// A plan that this version does not read.
pub(super) fn loads(there: Manifest, own: Manifest) -> Result<Vec<Asked>, String> {
    let [was, is] = [there.plan.plan()?, own.plan.plan()?];
    let differ = [&there.asked, &own.asked].map(|asked| {
        let scale = asked.time_scale_s.map_or("by the target".to_owned(), |s| format!("{s} s"));
        let streams = asked.streams.map_or("as the target allows".to_owned(), |n| n.to_string());
        let answer = asked.answer.as_deref().unwrap_or("none").to_owned();
        [scale, streams, answer, asked.spread.to_string()]
    });
    let settings = SETTINGS.into_iter().zip(differ[0].clone().into_iter().zip(differ[1].clone()));
    let mut all: Vec<Asked> = settings.map(|(what, (was, is))| [what.to_owned(), was, is]).collect();
    let of = |plan, asked| Recorded { plan: Some(plan), asked: Some(asked), held: true };
    let plans = differences(&of(was, there.asked), &of(is, own.asked));
    all.extend(plans.into_iter().map(|differ| [differ.what, differ.base, differ.other].map(String::from)));
    Ok(all)
}

/// A scenario file without the note that a flag chose its seed, which is compared by itself.
fn without_seed(text: &str) -> String {
    let noted =
        |line: &&str| line.starts_with("#   --seed ") || line.starts_with("# Played with other values");
    text.lines().filter(|line| !noted(line)).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::search;
    use super::*;
    use crate::simulate::Sim;
    use crate::{Backend, Control, RunSpec};
    use headway_base::Nanos;
    use headway_stats::search::{Bounds, Outcome, StoppedBy, TrialEnd, TrialRow};
    use headway_workload::Shard;
    use headway_workload::scenario::{Surroundings, parse};

    /// One server whose service takes 10 ms on average: p(90) of its sojourn time is below 100 ms up to 77/s.
    fn spec(folder: &Path, seed: u64) -> SearchSpec {
        let text = "users: { arrive: { rate: 50/s } }\njourney: [ { get: / } ]\n\
            model: { servers: 1, service: exp(10ms) }\n";
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &|_| None,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = parse("one.yaml", text, &around).unwrap();
        let base = RunSpec {
            thresholds: vec!["p(90)<100".parse().unwrap()],
            scenario: Some(text.to_owned()),
            ..RunSpec::new("one", scenario.plan(seed, Shard::WHOLE), 1_000)
        };
        SearchSpec {
            base,
            backend: Backend::Sim(Box::new(Sim::new(scenario.model().unwrap().clone()))),
            target: "the model of one.yaml".into(),
            bounds: Bounds { from: 7.0, lowest: 7.0, to: None, precision: 0.1 },
            budget: Nanos::from_secs(36_000),
            folder: Some(folder.to_owned()),
            probe: true,
            baseline: None,
        }
    }

    /// The pieces of a response come after its service: the first event at once, so that its knee is that of the queue (77/s); gaps are the same
    /// at every rate. The intervals of 20 searches hold the knee in at least 95 % less three standard errors.
    #[test]
    fn the_knee_of_first_events_is_that_of_the_queue() {
        let spec = |seed: u64, thresholds: &[&str]| {
            let text = "users: { arrive: { rate: 50/s } }\njourney: [ { get: /, stream: chunks } ]\n\
                model: { servers: 1, service: exp(10ms), events: { gap: exp(5ms), count: 4 } }\n";
            let around = Surroundings {
                read: &|name| Err(name.to_owned()),
                env: &|_| None,
                log: &headway_workload::scenario::no_logs,
            };
            let scenario = parse("one.yaml", text, &around).unwrap();
            let sim =
                Sim { streamed: scenario.script.streamed(), ..Sim::new(scenario.model().unwrap().clone()) };
            let base = RunSpec {
                thresholds: thresholds.iter().map(|text| text.parse().unwrap()).collect(),
                scenario: Some(text.to_owned()),
                ..RunSpec::new("one", scenario.plan(seed, Shard::WHOLE), 1_000)
            };
            SearchSpec {
                base,
                backend: Backend::Sim(Box::new(sim)),
                target: "the model of one.yaml".into(),
                bounds: Bounds { from: 7.0, lowest: 7.0, to: None, precision: 0.1 },
                budget: Nanos::from_secs(36_000),
                folder: None,
                probe: true,
                baseline: None,
            }
        };
        let found = |seed: u64, thresholds: &[&str]| {
            search(&[spec(seed, thresholds)], None, &Control::default(), &mut ()).unwrap().targets.remove(0)
        };
        let (mut held, mut all) = (0, 0);
        for seed in 0..20 {
            let found = found(seed, &["first_event: p(90)<100ms", "failed: rate<1%"]);
            // A steady target is taken to drift in at most one search of twenty.
            if found.outcome != Outcome::Found {
                assert_eq!(found.outcome, Outcome::Drifts, "{seed}");
                continue;
            }
            all += 1;
            let [low, high] = found.interval;
            let exact = 100.0 - 10f64.ln() / 0.1;
            held += u32::from(low.unwrap() <= exact && exact <= high.unwrap());
        }
        assert!(all >= 17 && f64::from(held) >= 0.8 * f64::from(all), "{held} of {all}");
        // Gaps never come near their limit: the other threshold decides. Each response has three.
        let found = found(1, &["event_gap: p(90)<100ms", "p(90)<200ms", "failed: rate<1%"]);
        let shares = |i: usize| found.trials.iter().map(move |trial| trial.shares[i]).collect::<Vec<_>>();
        assert!(shares(0).iter().all(|share| share.value < 0.01), "{:?}", shares(0));
        let n = |i: usize| shares(i).iter().map(|share| share.n).sum::<u64>() as f64;
        assert!((n(0) / n(1) / 3.0 - 1.0).abs() < 0.1, "{} {}", n(0), n(1));
        assert!(found.trials.iter().any(|trial| trial.threshold == Some(1)), "{:?}", found.trials);
        // Where nothing makes events there is nothing to look for.
        let mut whole = spec(1, &["first_event: p(90)<100ms", "failed: rate<1%"]);
        let Backend::Sim(sim) = &mut whole.backend else { unreachable!() };
        sim.model.events = None;
        assert!(whole.asked().unwrap_err().to_string().contains("come whole"));
        let Backend::Sim(sim) = &mut whole.backend else { unreachable!() };
        sim.streamed.clear();
        assert!(whole.asked().unwrap_err().to_string().contains("--stream chunks"));
    }

    /// Closed users: the largest number at which p(90) holds, against that of M/M/c with so many users (`Mmcn`). The intervals of 30 searches
    /// from random first numbers hold it in at least 95 % less three standard errors.
    #[test]
    fn the_knee_of_closed_users_is_that_of_the_machine_repair_model() {
        let text = "users: { closed: { count: 1 }, think: exp(1s) }\njourney: [ { get: / } ]\n\
            model: { servers: 4, service: exp(40ms) }\n";
        let around = Surroundings {
            read: &|name| Err(name.to_owned()),
            env: &|_| None,
            log: &headway_workload::scenario::no_logs,
        };
        let scenario = parse("closed.yaml", text, &around).unwrap();
        let beyond = |users: u32| {
            headway_stats::queueing::Mmcn { users, think: 1.0, mean_service: 0.04, servers: 4 }
                .sojourn_beyond(0.2)
        };
        let exact = f64::from((1..1_000).take_while(|&users| beyond(users) <= 0.1).last().unwrap());
        let (mut held, mut halves) = (0, Vec::new());
        let searches = 30;
        for seed in 0..searches {
            let from = (5.0 + 0.5 * seed as f64).floor();
            let searched = SearchSpec {
                base: RunSpec {
                    thresholds: vec!["p(90)<200".parse().unwrap()],
                    ..RunSpec::new("closed", scenario.plan(seed, Shard::WHOLE), 1_000)
                },
                backend: Backend::Sim(Box::new(Sim::new(scenario.model().unwrap().clone()))),
                target: "the model".into(),
                bounds: Bounds { from, lowest: 1.0, to: None, precision: 0.05 },
                budget: Nanos::from_secs(360_000),
                folder: None,
                probe: false,
                baseline: None,
            };
            let found = search(&[searched], None, &Control::default(), &mut ()).unwrap().targets.remove(0);
            assert_eq!(found.rate_of, RateOf::Users, "{seed}");
            // A steady target is taken to drift in at most one search of twenty.
            if found.outcome != Outcome::Found {
                assert_eq!(found.outcome, Outcome::Drifts, "{seed}");
                continue;
            }
            let [low, high] = found.interval.map(Option::unwrap);
            assert!(
                found.trials.iter().all(|row| row.rate.fract() == 0.0)
                    && low.fract() == 0.0
                    && high.fract() == 0.0
            );
            held += usize::from(low <= exact && exact <= high);
            halves.push(found.reached.unwrap());
        }
        halves.sort_by(f64::total_cmp);
        println!(
            "{held} of {} hold {exact}; half widths {:?}",
            halves.len(),
            [halves[0], halves[halves.len() / 2]]
        );
        let least = |n: f64| (0.95 * n - 3.0 * (0.95 * 0.05 * n).sqrt()).floor() as usize;
        assert!(halves.len() >= least(searches as f64), "{} of {searches} were found", halves.len());
        assert!(held >= least(halves.len() as f64), "{held} of {} hold {exact}", halves.len());
    }

    /// Stops a search when this number of trials has ended.
    struct StopAfter<'a>(usize, &'a Control);

    impl super::super::SearchObserver for StopAfter<'_> {
        fn ended(&mut self, _: &Found, _: &TrialRow, _: Option<f64>, _: [Option<f64>; 2]) {
            self.0 -= 1;
            if self.0 == 0 {
                self.1.stop();
            }
        }
    }

    /// Stops a search while this trial is played.
    struct StopIn<'a>(usize, &'a Control);

    impl super::super::SearchObserver for StopIn<'_> {
        fn trial(&mut self, _: &Found, number: usize, _: f64) {
            if number == self.0 {
                self.1.stop();
            }
        }
    }

    #[test]
    fn a_trial_in_virtual_time_is_interrupted_in_the_middle_and_played_again() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let once = spec(&at("once"), 8);
        let folder = Folder::begin(&at("once"), std::slice::from_ref(&once)).unwrap();
        let whole = search(&[once], Some(&folder), &Control::default(), &mut ()).unwrap().targets.remove(0);
        let cut = spec(&at("cut"), 8);
        let folder = Folder::begin(&at("cut"), std::slice::from_ref(&cut)).unwrap();
        let control = Control::default();
        let stopped =
            search(std::slice::from_ref(&cut), Some(&folder), &control, &mut StopIn(3, &control)).unwrap();
        let last = stopped.targets[0].trials.last().unwrap();
        assert_eq!((stopped.targets[0].outcome, stopped.targets[0].trials.len()), (Outcome::Interrupted, 3));
        assert_eq!(
            (last.cut_off, last.stopped_by, last.ended),
            (true, Some(StoppedBy::Interrupt), TrialEnd::Undecided)
        );
        assert!(last.requests < whole.trials[2].requests / 2, "{}", last.requests);
        drop(folder);
        let folder = Folder::resume(&at("cut"), std::slice::from_ref(&cut)).unwrap();
        let resumed = search(&[cut], Some(&folder), &Control::default(), &mut ()).unwrap().targets.remove(0);
        assert_eq!(bare(resumed), bare(whole));
    }

    /// Without the names of folders, which differ.
    fn bare(mut found: Found) -> Found {
        found.cut_off.clear();
        found.trials.iter_mut().for_each(|row| row.folder = None);
        found
    }

    #[test]
    fn a_search_that_goes_on_finds_what_it_would_have_found() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let once = spec(&at("once"), 5);
        let folder = Folder::begin(&at("once"), std::slice::from_ref(&once)).unwrap();
        let whole = search(&[once], Some(&folder), &Control::default(), &mut ()).unwrap();
        let whole = whole.targets.into_iter().next().unwrap();
        assert_eq!(whole.outcome, Outcome::Found);
        assert!(whole.trials.len() > 4, "{}", whole.trials.len());
        // Interrupted after the third trial; then, as after kill -9, the folder of a fourth is there that nothing tells of.
        let cut = spec(&at("cut"), 5);
        let folder = Folder::begin(&at("cut"), std::slice::from_ref(&cut)).unwrap();
        let control = Control::default();
        let stopped =
            search(std::slice::from_ref(&cut), Some(&folder), &control, &mut StopAfter(3, &control)).unwrap();
        assert_eq!((stopped.targets[0].outcome, stopped.targets[0].trials.len()), (Outcome::Interrupted, 3));
        let running = Folder::resume(&at("cut"), std::slice::from_ref(&cut)).unwrap_err();
        assert!(format!("{running:#}").contains("still running"), "{running:#}");
        drop(folder);
        fs::create_dir(at("cut/trial-04")).unwrap();
        fs::write(at("cut/trial-04/records.arrow"), "cut off").unwrap();
        let folder = Folder::resume(&at("cut"), std::slice::from_ref(&cut)).unwrap();
        let resumed = search(&[cut], Some(&folder), &Control::default(), &mut ()).unwrap();
        let resumed = resumed.targets.into_iter().next().unwrap();
        assert_eq!(resumed.cut_off, [at("cut/trial-04").display().to_string()]);
        assert_eq!(fs::read_to_string(at("cut/trial-04/records.arrow")).unwrap(), "cut off");
        assert!(at("cut/trial-04-2/summary.json").is_file());
        assert_eq!(bare(resumed.clone()), bare(whole));
        // What is written is what was found.
        assert_eq!(read(&at("cut")).unwrap(), [resumed]);
    }

    #[test]
    fn a_search_that_its_budget_ended_goes_on() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let once = spec(&at("once"), 6);
        let folder = Folder::begin(&at("once"), std::slice::from_ref(&once)).unwrap();
        let whole = search(&[once], Some(&folder), &Control::default(), &mut ()).unwrap();
        let first = &whole.targets[0];
        // Into the middle of the fourth trial, which is not begun then.
        let budget = first.probed.as_ref().unwrap().took_s()
            + first.trials[..3].iter().map(|row| row.took_s).sum::<f64>()
            + 0.5 * first.trials[3].took_s;
        let short = SearchSpec { budget: Nanos::from_secs_f64(budget), ..spec(&at("short"), 6) };
        let folder = Folder::begin(&at("short"), std::slice::from_ref(&short)).unwrap();
        let ended = search(&[short], Some(&folder), &Control::default(), &mut ()).unwrap();
        let ended = &ended.targets[0];
        assert_eq!((ended.outcome, ended.trials.len()), (Outcome::Budget, 3));
        // It ends with an estimate all the same.
        let knee = 100.0 - 10f64.ln() / 0.1;
        assert!((ended.estimate.unwrap() / knee - 1.0).abs() < 0.3, "{:?}", ended.estimate);
        drop(folder);
        let longer = spec(&at("short"), 6);
        let folder = Folder::resume(&at("short"), std::slice::from_ref(&longer)).unwrap();
        let resumed = search(&[longer], Some(&folder), &Control::default(), &mut ()).unwrap();
        assert_eq!(bare(resumed.targets[0].clone()), bare(whole.targets[0].clone()));
    }

    #[test]
    fn what_was_asked_otherwise_is_said() {
        let parent = tempfile::tempdir().unwrap();
        let own = spec(parent.path(), 5);
        let told = |specs: &[SearchSpec]| format!("{:#}", Folder::resume(parent.path(), specs).unwrap_err());
        let none = told(std::slice::from_ref(&own));
        assert!(none.contains("search.json") && none.contains("leave --resume out"), "{none}");
        let folder = Folder::begin(parent.path(), std::slice::from_ref(&own)).unwrap();
        let blank = Found { outcome: Outcome::Unfinished, ..super::super::blank(&own).unwrap() };
        folder.save(&Searched::of(vec![blank])).unwrap();
        drop(folder);
        assert!(Folder::resume(parent.path(), std::slice::from_ref(&own)).is_ok());
        assert_eq!(seed_of(parent.path()).unwrap(), 5);
        let base = || own.base.clone();
        let with = |base: RunSpec| SearchSpec { base, ..own.clone() };
        let limits = headway_workload::Limits { timeout: Nanos::from_secs(7), ..own.base.limits };
        for (other, word) in [
            (spec(parent.path(), 6), "seed (5 there, 6 here)"),
            (
                with(RunSpec { thresholds: vec!["p(90)<50".parse().unwrap()], ..base() }),
                "thresholds (p(90)<100 there",
            ),
            (
                with(RunSpec { scenario: None, ..base() }),
                "scenario (another text or other values there, none here)",
            ),
            (with(RunSpec { limits, ..base() }), "7 s here"),
            (
                SearchSpec { bounds: Bounds { from: 8.0, ..own.bounds }, ..own.clone() },
                "--from (7/s there, 8/s here)",
            ),
            (SearchSpec { target: "http://127.0.0.1/".into(), ..own.clone() }, "target ("),
        ] {
            let told = told(&[other]);
            assert!(told.contains(word), "{word}: {told}");
        }
        let two = told(&[own.clone(), with(RunSpec { name: "two".into(), ..base() })]);
        assert!(two.contains("targets (one target there, one, two here)"), "{two}");
        fs::write(parent.path().join(SEARCH_FILE), "{\n\"schema\": 5").unwrap();
        assert!(told(std::slice::from_ref(&own)).contains("line 2"));
    }
}
