//! `headway report`: a recorded run, rendered again; computed again from its records where that is asked for or
//! needed (a run that was killed left no summary). Thresholds that are given take the place of the run's own, and are judged
//! on the records; on the summary where no records were kept.

use crate::args::{ReportArgs, ThresholdArgs};
use crate::exit::{self, Failure};
use crate::output::{self, Shown};
use crate::progress::Progress;
use crate::settings::{Output, Subject, outputs_fit, reports_fit};
use crate::{interrupt, watching};
use anyhow::{Context as _, Result, anyhow};
use headway_engine::watch::Watch;
use headway_engine::{Error, Goal, Manifest, Told, files, recompute, replay, show_percentiles};
use headway_live::Control;
use headway_live::site::Place;
use headway_records::RunFolder;
use headway_report::Material;
use headway_stats::thresholds::{check_steps, of_plan, of_summary};
use headway_stats::{Summary, Threshold};
use headway_workload::redact::{Cleared, Redactor};
use std::fs;
use std::path::Path;

/// What is rendered again.
const ACCEPTED: &str = "the folder of a run or of a study, or the records.arrow in one";

pub(super) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    files::named(&args.run, ACCEPTED)?;
    let kept = args.run.join(headway_records::folder::REPORT).is_file();
    output::page_fits(args.show.open, &args.reports.wanted(), kept).map_err(Failure::usage)?;
    if args.run.join(headway_report::study::JSON_FILE).is_file() {
        return study(args);
    }
    let wanted = args.reports.wanted();
    let records = args.run.join(headway_records::folder::RECORDS).is_file() || args.run.is_file();
    let no_records = (!records).then_some("this run kept none");
    let view = args.watch.place().map(|place| (place, args.watch.flag()));
    match (&view, records) {
        (Some((_, flag)), false) => {
            return Err(Failure::usage(anyhow!("{flag}: this run kept no records to replay: leave it out")));
        }
        (None, _) if args.speed.is_some() => {
            return Err(Failure::usage(anyhow!("--speed is that of a replay: write --watch, too")));
        }
        _ => {}
    }
    let subject = Subject::run(no_records);
    reports_fit(&wanted, subject).map_err(Failure::usage)?;
    outputs_fit(&wanted.iter().map(Output::report).collect::<Vec<_>>()).map_err(Failure::usage)?;
    let asked = args.demands.thresholds.as_slice();
    let stored = args.run.join(headway_records::folder::SUMMARY);
    let (mut summary, folder) = if stored.is_file() && !args.recompute {
        let mut summary = summary_of(&args.run)?;
        if !asked.is_empty() {
            judge_again(&mut summary, &args.demands, &args.run)?;
        }
        (summary, args.run.clone())
    } else {
        let run = RunFolder::open(&args.run).map_err(Failure::usage)?;
        let document = Manifest::read(&run.plan()).map_err(Failure::usage)?;
        let thresholds = thresholds(&args.demands, &document)?;
        check_steps(&thresholds, &document.asked.steps).map_err(|text| Failure::usage(anyhow!(text)))?;
        // Why requests failed is in no log, and what a merge found of the shards in none of the merged one.
        let before = if stored.is_file() { summary_of(&args.run).ok() } else { None };
        let of = |summary: Summary| {
            let stopped_at = Told::stopped(&summary);
            let stalls = summary.generator.unwrap_or_default().stalls;
            Told {
                reasons: vec![summary.failure_reasons],
                shards: summary.shards,
                stalls,
                stopped_at,
                ..Told::default()
            }
        };
        let told = before.map(of).unwrap_or_default();
        (recompute(&run.records(), document, thresholds, told)?, run.path().to_owned())
    };
    show_percentiles(&mut summary, &args.show.percentiles, &folder).map_err(Failure::usage)?;
    let log = records.then(|| RunFolder::open(&args.run)).transpose()?.map(|run| run.records());
    let shown = Shown { folder: Some(&folder), ..Shown::run(&summary, None, log.as_deref()).by(&args.show) };
    let watch = match &view {
        Some(view) => Some(replayed(args, view, &summary)?),
        None => None,
    };
    let failed = output::complain(output::deliver(shown, &wanted, false));
    watch.into_iter().for_each(Watch::close);
    Ok(if failed { exit::FAILED } else { exit::of_summary(&summary, args.strict) })
}

/// Replays the records of a run to a live view, which ends as the report of `summary`. Waits for its first reader.
fn replayed(args: &ReportArgs, view: &(Place, &'static str), summary: &Summary) -> Result<Watch, Failure> {
    let run = RunFolder::open(&args.run).map_err(Failure::usage)?;
    let document = Manifest::read(&run.plan()).map_err(Failure::usage)?;
    let thresholds = thresholds(&args.demands, &document)?;
    let plan = document.plan.plan().map_err(|text| Failure::usage(anyhow!(text)))?;
    let goal = match document.asked.requests.filter(|_| plan.is_fixed_work()) {
        Some(n) => Goal::Requests(n),
        None if plan.is_fixed_work() => Goal::Done,
        None => Goal::Until(plan.end()),
    };
    let control = Control::default();
    interrupt::steer_plays(&control)?;
    let mut watch = watching::open(view, goal, &control)?;
    watch.wait_for_reader(&control);
    let mut progress = Progress::new(goal);
    let speed = args.speed.unwrap_or(1.0);
    replay(&run.records(), &document, thresholds, speed, &control, &mut [&mut progress, &mut watch])?;
    progress.finish();
    watch.ended(summary);
    Ok(watch)
}

/// A study, rendered again from its document: it keeps no records to compute anything from.
fn study(args: &ReportArgs) -> Result<u8, Failure> {
    let of_a_run = [
        (!args.demands.thresholds.is_empty(), "--threshold"),
        (args.recompute, "--recompute"),
        (!args.show.percentiles.is_empty(), "--percentiles"),
        (args.show.histogram, "--histogram"),
        (args.watch.place().is_some(), args.watch.flag()),
        (args.speed.is_some(), "--speed"),
    ];
    if let Some((_, flag)) = of_a_run.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(anyhow!(
            "{flag} is about a single run, and {} is the folder of a study, which keeps no records: leave it out",
            args.run.display()
        )));
    }
    let wanted = args.reports.wanted();
    let no_records = Some("a study keeps none");
    let subject = Subject { name: "a study", document: Material::Study, no_records, no_log: no_records };
    reports_fit(&wanted, subject).map_err(Failure::usage)?;
    outputs_fit(&wanted.iter().map(Output::report).collect::<Vec<_>>()).map_err(Failure::usage)?;
    let path = args.run.join(headway_report::study::JSON_FILE);
    let text = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let study = headway_report::study::parse(&text)
        .with_context(|| format!("{} is not a study this version reads", path.display()))
        .map_err(Failure::usage)?;
    let shown = Shown::study(&study, Some(&args.run)).by(&args.show);
    let failed = output::complain(output::deliver(shown, &wanted, false));
    Ok(if failed { exit::FAILED } else { exit::of_study(&study, args.strict) })
}

/// The thresholds that are asked for, else those that the run judged.
fn thresholds(asked: &ThresholdArgs, document: &Manifest) -> Result<Vec<Threshold>> {
    match asked.thresholds.is_empty() {
        true => own_thresholds(document),
        false => Ok(asked.past(&Redactor::default(), &document.asked.steps).collect()),
    }
}

/// The thresholds that the run judged: those it was given, of a shard none.
fn own_thresholds(document: &Manifest) -> Result<Vec<Threshold>> {
    match document.asked.shard {
        None => of_plan(&document.asked).context("plan.json"),
        Some(_) => Ok(Vec::new()),
    }
}

/// Puts these thresholds in the place of the summary's, judged under the summary's verdict: the generator's word on itself is
/// in the summary, and not in the records.
fn judge_again(summary: &mut Summary, asked: &ThresholdArgs, run: &Path) -> Result<(), Failure> {
    let steps: Vec<Cleared> = summary.by_label.keys().cloned().collect();
    let asked: Vec<Threshold> = asked.past(&Redactor::default(), &steps).collect();
    check_steps(&asked, &steps).map_err(|text| Failure::usage(anyhow!(text)))?;
    summary.not_computed.retain(|path, _| !path.starts_with("thresholds."));
    if run.join(headway_records::folder::RECORDS).is_file() {
        let run = RunFolder::open(run)?;
        let document = Manifest::read(&run.plan())?;
        let stalls = summary.generator.as_ref().map_or(Vec::new(), |generator| generator.stalls.clone());
        let told = Told { stalls, stopped_at: Told::stopped(summary), ..Told::default() };
        let fresh = recompute(&run.records(), document, asked, told)?;
        let missing = fresh.not_computed.into_iter().filter(|(path, _)| path.starts_with("thresholds."));
        summary.not_computed.extend(missing);
        summary.thresholds = fresh.thresholds;
        summary.judge_thresholds();
        summary.hold_thresholds_to_a_steady_state();
        return Ok(());
    }
    let of = |threshold: &Threshold| {
        of_summary(threshold, summary).ok_or_else(|| {
            Failure::usage(anyhow!(
                "--threshold '{}': the summary does not hold this number, and the run kept no records to compute it from; \
                 it holds p(50), p(90), p(95), p(99) and p(99.9) over all steps",
                threshold.text
            ))
        })
    };
    summary.thresholds = asked.iter().map(of).collect::<Result<_, _>>()?;
    summary.hold_thresholds_to_a_steady_state();
    Ok(())
}

/// The summary of the run in that folder: as it was stored, else from its records; or of a summary's file itself.
///
/// # Errors
/// There is neither, or it cannot be read.
pub(super) fn summary_of(run: &Path) -> Result<Summary> {
    let stored = if run.is_file() { run.to_owned() } else { run.join(headway_records::folder::SUMMARY) };
    if stored.is_file() {
        let text = fs::read(&stored).with_context(|| format!("{} cannot be read", stored.display()))?;
        return headway_report::parse(&text)
            .with_context(|| format!("{} is not a summary this version reads", stored.display()))
            .map_err(|error| Error::usage(error).into());
    }
    let run = RunFolder::open(run).map_err(Error::usage)?;
    let document = Manifest::read(&run.plan())?;
    recompute(&run.records(), document, Vec::new(), Told::default())
}
