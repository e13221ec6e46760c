//! `headway merge`: the shards of one run, or of one study, become one folder, with one report.

use crate::args::{Args, Command, MergeArgs, SimArgs};
use crate::exit::{self, FAILED, Failure, INCOMPLETE, INTERRUPTED};
use crate::output::{Shown, complain, deliver, render, study_folder};
use crate::settings::{Output, Subject, outputs_fit, reports_fit, study_of_part};
use anyhow::{Context as _, anyhow};
use clap::Parser as _;
use headway_engine::experiment::part::{Merged, Missing, Parts};
use headway_engine::merge::{Error, Shards};
use headway_engine::{run_folder, show_percentiles};
use headway_report::format::plural;
use std::io::Write as _;

pub(super) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    if args.runs.iter().any(|path| Parts::is_one(path)) {
        return study(args);
    }
    let wanted = args.output.reports.wanted();
    let subject = Subject::run(None);
    reports_fit(&wanted, subject).map_err(Failure::usage)?;
    let out = Output::folder("--out", args.output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let shards = Shards::open(&args.runs).map_err(failure)?;
    let was_there = args.output.out.as_ref().is_some_and(|out| out.exists());
    let folder = run_folder(args.output.out.as_deref(), shards.name())?;
    let mut merged = shards.merge(&folder).map_err(|error| {
        // What was refused leaves nothing behind.
        if !was_there {
            let _ = std::fs::remove_dir(folder.path());
        }
        failure(error)
    })?;
    show_percentiles(&mut merged.summary, &args.output.show.percentiles, folder.path())?;
    let style = headway_report::Style::default();
    let files = [(headway_records::folder::SUMMARY, "json"), (headway_records::folder::REPORT, "html")];
    let written =
        files.map(|(name, output)| folder.write_new(name, &render(output, &merged.summary, &style)));
    let log = folder.records();
    let shown = Shown::run(&merged.summary, Some(&folder), Some(&log)).by(&args.output.show);
    let written = written.into_iter().map(|result| result.map(drop).map_err(Into::into));
    let failed = complain(written.chain(deliver(shown, &wanted, args.output.quiet)));
    Ok(match exit::of_summary(&merged.summary, args.output.strict) {
        _ if failed => FAILED,
        code @ (FAILED | INTERRUPTED) => code,
        _ if merged.is_incomplete() => INCOMPLETE,
        code => code,
    })
}

/// The parts of a study, as its shards have left them.
fn study(args: &MergeArgs) -> Result<u8, Failure> {
    let wanted = args.output.reports.wanted();
    let out = Output::folder("--out", args.output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let parts = Parts::open(&args.runs)?;
    let of = parts.of();
    let read = Args::try_parse_from(&of.words).map_err(|error| anyhow!("{}", error.render()));
    let sim = match read.context("the command in part.json").map_err(Failure::usage)?.command {
        Command::Sim(sim) => SimArgs { output: args.output.clone(), ..*sim },
        _ => return Err(Failure::usage(anyhow!("the command in part.json is none of `headway sim`"))),
    };
    let settings = study_of_part(&sim, of).map_err(Failure::usage)?;
    let Merged { studied, missing } = parts.merge(&settings.spec)?;
    let folder = run_folder(args.output.out.as_deref(), &settings.spec.name)?;
    let mut written = study_folder(&studied.study, &settings.scenario, &folder);
    let shown = Shown::study(&studied.study, Some(folder.path())).by(&args.output.show);
    written.extend(deliver(shown, &wanted, args.output.quiet));
    let failed = complain(written);
    for shard in &missing {
        let _ = writeln!(std::io::stderr(), "headway: {}", lacks(shard));
    }
    Ok(match exit::of_study(&studied.study, args.output.strict) {
        _ if failed => FAILED,
        _ if !missing.is_empty() => INCOMPLETE,
        code => code,
    })
}

/// What a shard has not given.
fn lacks(Missing { shard, has, of, is_there }: &Missing) -> String {
    let plays = plural(*of, "play");
    match is_there {
        true => format!("shard {shard} has {has} of its {plays}: the points of the others are missing"),
        false => format!("shard {shard} is missing, and its {plays} with it: name its folder too"),
    }
}

/// What the system refuses is its fault; all else is what was named.
fn failure(error: Error) -> Failure {
    match error {
        Error::Unwritable(error) => error.into(),
        Error::Unreadable(error) => Failure::usage(error),
        refused => Failure::usage(refused),
    }
}
