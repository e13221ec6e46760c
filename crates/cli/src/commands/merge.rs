//! `headway merge`: the shards of one run, or of one study, become one folder, with one report.

use crate::args::{Args, Command, MergeArgs, SimArgs};
use crate::exit::{self, FAILED, Failure, INCOMPLETE, INTERRUPTED};
use crate::output::{self, Shown, complain, deliver, render, study_folder};
use crate::said::say;
use crate::settings::{Output, Subject, outputs_fit, reports_fit, study_of_part};
use crate::{interrupt, progress, usage};
use anyhow::{Context as _, anyhow};
use clap::Parser as _;
use headway_engine::destination::Address;
use headway_engine::experiment::part::{Merged, Missing, Parts};
use headway_engine::merge::destination::{Destination, Standing, Watch, every};
use headway_engine::merge::{Error, Shards};
use headway_engine::{Control, run_folder, show_percentiles};
use headway_live::clock;
use headway_records::folder::RECORDS;
use headway_report::format::{count, plural};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often is looked whether the user waits any longer.
const AWAKE: Duration = Duration::from_millis(50);

pub(super) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let wanted = args.output.reports.wanted();
    let out = Output::folder("--out", args.output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let (found, interrupted) = find(args)?;
    match found {
        Found::Run(shards) => run(args, shards, interrupted),
        Found::Study(parts) => study(args, &parts, interrupted),
    }
}

/// Merges the shards of a run.
fn run(args: &MergeArgs, shards: Shards, interrupted: bool) -> Result<u8, Failure> {
    let wanted = args.output.reports.wanted();
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
        FAILED => FAILED,
        _ if interrupted => INTERRUPTED,
        INTERRUPTED => INTERRUPTED,
        _ if merged.incomplete() > args.allow_missing as usize => INCOMPLETE,
        code => code,
    })
}

/// What is to be merged.
enum Found {
    /// The shards of a run.
    Run(Shards),
    /// The parts of a study.
    Study(Parts),
}

impl Found {
    /// Whether reports that are wanted can be made of it.
    fn fits(args: &MergeArgs, is_study: bool) -> Result<(), Failure> {
        let subject = if is_study { Subject::study() } else { Subject::run(None) };
        reports_fit(&args.output.reports.wanted(), subject).map_err(Failure::usage)
    }
}

/// The shards that the command names, or those of the destination, once they have ended if that is waited for; and whether the user waited no
/// longer for shards that had not ended.
fn find(args: &MergeArgs) -> Result<(Found, bool), Failure> {
    let is_shard = |path: &PathBuf| {
        Parts::is_one(path) || path.join(RECORDS).is_file() || path.file_name() == Some(RECORDS.as_ref())
    };
    // A single path that is no run folder should be a destination: the error names what it lacks of one.
    let is_one = |path: &PathBuf| Ok::<_, Failure>(Destination::is_one(&Address::parse(path)?));
    let of_shards = args.wait
        || args.runs.iter().map(is_one).collect::<Result<Vec<_>, _>>()?.contains(&true)
        || matches!(&args.runs[..], [one] if !is_shard(one));
    let (found, interrupted) = match &args.runs[..] {
        [place] if of_shards => {
            let control = Control::default();
            if args.wait {
                interrupt::steer_wait(&control)?;
            }
            let destination = opened(args, place, &control)?;
            destination.expect(args.expect).map_err(failure)?;
            let is_study = destination.is_of_a_study();
            Found::fits(args, is_study)?;
            fits_in(args, destination.count())?;
            let standing = wait(args, &destination, &control)?;
            if args.wait {
                interrupt::end()?;
            }
            let found = match is_study {
                true => Found::Study(destination.parts().map_err(failure)?),
                false => Found::Run(destination.shards().map_err(failure)?),
            };
            (found, control.asked() > 0 && standing.done < standing.shards)
        }
        many if of_shards => {
            let text = "a destination is merged by itself: name it alone, or the folders of its shards";
            return Err(Failure::usage(anyhow!("{}: {text}", many[0].display())));
        }
        folders if folders.iter().any(|path| Parts::is_one(path)) => {
            Found::fits(args, true)?;
            let parts = Parts::open(folders)?;
            parts.expect(args.expect).map_err(failure)?;
            fits_in(args, parts.count())?;
            (Found::Study(parts), false)
        }
        folders => {
            Found::fits(args, false)?;
            let shards = Shards::open(folders).map_err(failure)?;
            shards.expect(args.expect).map_err(failure)?;
            fits_in(args, shards.count())?;
            (Found::Run(shards), false)
        }
    };
    Ok((found, interrupted))
}

/// Fewer shards may be missing than there are.
fn fits_in(args: &MergeArgs, count: u32) -> Result<(), Failure> {
    if args.allow_missing < count {
        return Ok(());
    }
    Err(Failure::usage(anyhow!(
        "--allow-missing {}: there are {} in all, and at least one must be there",
        args.allow_missing,
        plural(u64::from(count), "shard")
    )))
}

/// The destination. While it is waited for it may come to be.
fn opened(args: &MergeArgs, place: &Path, control: &Control) -> Result<Destination, Failure> {
    let store = Address::parse(place)?.open()?;
    store.heed(control, output::waits);
    let (begun, grace) = (Instant::now(), Duration::from_nanos(args.grace.0.max(0) as u64));
    loop {
        match Destination::open(store.clone()) {
            Err(Error::NotADestination { .. })
                if args.wait && control.asked() == 0 && begun.elapsed() < grace =>
            {
                pause(every(&*store), control);
            }
            Err(error @ Error::NotADestination { .. }) if args.wait && control.asked() == 0 => {
                let waited = anyhow!("{error}. It was waited for as long as --grace says, {}", args.grace);
                return Err(Failure::usage(waited));
            }
            opened => return opened.map_err(failure),
        }
    }
}

/// Waits so long, or until the user waits no longer.
fn pause(long: Duration, control: &Control) {
    let next = Instant::now() + long;
    while Instant::now() < next && control.asked() == 0 {
        sleep(AWAKE);
    }
}

/// How the shards stand, once nothing is to be waited for any more.
fn wait(args: &MergeArgs, destination: &Destination, control: &Control) -> Result<Standing, Failure> {
    let mut watch = Watch::new(destination, args.grace);
    let mut standing = watch.look(clock::unix_now()).map_err(failure)?;
    if !args.wait {
        if standing.alive > 0 && !args.output.quiet {
            say!(
                "{} of {} still running: what they have left so far is merged; --wait waits for them",
                standing.alive,
                plural(u64::from(standing.shards), "shard"),
            );
        }
        return Ok(standing);
    }
    let mut line = (!args.output.quiet).then(|| progress::Shards::new(destination.count()));
    while !standing.is_over(clock::unix_now()) && control.asked() == 0 {
        if let Some(line) = &mut line {
            line.show(&standing);
        }
        let left = (standing.until_unix_ns - clock::unix_now()).clamp(0, i128::from(i64::MAX));
        pause(every(destination.store()).min(Duration::from_nanos(left as u64)), control);
        standing = watch.look(clock::unix_now()).map_err(failure)?;
    }
    if let Some(line) = &line {
        line.finish();
    }
    Ok(standing)
}

/// Merges the parts of a study, as its shards have left them.
fn study(args: &MergeArgs, parts: &Parts, interrupted: bool) -> Result<u8, Failure> {
    let wanted = args.output.reports.wanted();
    let of = parts.study();
    let read = Args::try_parse_from(&of.words)
        .map_err(|error| anyhow!("{}", usage::told(&error, of.words.get(1..).unwrap_or_default())));
    let sim = match read.context("the command in part.json").map_err(Failure::usage)?.command {
        Command::Sim(sim) => SimArgs { output: args.output.clone(), ..*sim },
        _ => return Err(Failure::usage(anyhow!("the command in part.json is none of `headway sim`"))),
    };
    let here = "what part.json names cannot be played here: merge from the folder in which the shards were started, with the files and \
                variables of the environment that the scenario names";
    let settings = study_of_part(&sim, of).context(here).map_err(Failure::usage)?;
    let Merged { studied, missing } = parts.merge(&settings.spec)?;
    let folder = run_folder(args.output.out.as_deref(), &settings.spec.name)?;
    let mut written = study_folder(&studied.study, &settings.scenario, &folder);
    let shown = Shown::study(&studied.study, Some(folder.path())).by(&args.output.show);
    written.extend(deliver(shown, &wanted, args.output.quiet));
    let failed = complain(written);
    for shard in &missing {
        say!("{}", lacks(shard));
    }
    Ok(match exit::of_study(&studied.study, args.output.strict) {
        _ if failed => FAILED,
        _ if interrupted => INTERRUPTED,
        // Thresholds of which no point is there have not been shown to hold, whatever may be missing.
        _ if missing.len() > args.allow_missing as usize || studied.study.points.is_empty() => INCOMPLETE,
        code => code,
    })
}

/// What a shard has not given.
fn lacks(Missing { shard, has, of, is_there, host }: &Missing) -> String {
    let plays = plural(*of, "play");
    let by = host.as_ref().map(|host| format!(" ({host} has claimed it)")).unwrap_or_default();
    match is_there {
        true => {
            format!("shard {shard} has {} of its {plays}: the points of the others are missing", count(*has))
        }
        false => format!("shard {shard} is missing{by}, and its {plays} with it"),
    }
}

/// What the system refuses is its fault; all else is what was named.
fn failure(error: Error) -> Failure {
    match error {
        Error::Unwritable(error) => error.into(),
        Error::Store(error) => headway_engine::Error::from(error).into(),
        Error::Unreadable(error) => Failure::usage(error),
        missing @ Error::NothingLeft { .. } => Failure::coded(missing, INCOMPLETE),
        refused => Failure::usage(refused),
    }
}
