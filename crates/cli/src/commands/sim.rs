//! `headway sim`: a scenario against a model, in virtual time: once, or as a study of several plays.

use crate::args::SimArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::progress::Plays;
use crate::repeat;
use crate::repeat::Typed;
use crate::said::say;
use crate::settings::{
    Output, PartSettings, SimCommand, SimSettings, StudySettings, Subject, asked, outputs_fit, reports_fit,
    simulated_scenario,
};
use anyhow::{Context as _, anyhow, bail};
use headway_engine::compare::Loaded;
use headway_engine::experiment::part::{PlayedPart, play_into, plays_of};
use headway_engine::experiment::{Studied, StudySpec, study};
use headway_engine::{Backend, run_folder};
use headway_live::Control;
use headway_records::RunFolder;
use headway_report::format::{count, plural};
use headway_report::words::findings::{self, KEPT_BY_A_STUDY};
use headway_stats::study::Study;
use headway_workload::redact::Cleared;
use std::path::Path;
use std::sync::Arc;

pub(super) fn sim(args: &SimArgs, words: &Typed) -> Result<u8, Failure> {
    let mut asked = asked(args, words).map_err(Failure::usage)?;
    if args.set.print_scenario {
        let text = simulated_scenario(args, words).map_err(Failure::usage)?;
        output::print(text.as_bytes())?;
        return Ok(exit::FINE);
    }
    if let (SimCommand::Study(settings), Some(path)) = (&mut asked, &args.beside) {
        settings.spec.beside = Some(Arc::new(beside(path).map_err(Failure::usage)?));
    }
    let output = &args.output;
    let wanted = output.reports.wanted();
    if let SimCommand::Run(settings) = &asked {
        reports_fit(&wanted, of_a_run(settings)).map_err(Failure::usage)?;
    }
    let kept = output.out.is_some() || args.log;
    output::page_fits(output.show.open, &wanted, kept).map_err(Failure::usage)?;
    // With a shard, other shards may have made the folder: the engine checks which study it is of.
    let shared = matches!(asked, SimCommand::Part(_));
    let out = Output::folder("--out", output.out.as_ref().filter(|_| !shared));
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let shown = !output.quiet || !wanted.is_empty() || kept;
    if args.beside.is_some() && !shown {
        return Err(Failure::usage(anyhow!(
            "--beside shows another run in the reports, and --quiet leaves none: name one by --json FILE, --html FILE or --out DIR"
        )));
    }
    match asked {
        SimCommand::Run(settings) => run(&settings),
        SimCommand::Study(settings) => several(&settings),
        SimCommand::Part(settings) => part(&settings),
    }
}

/// What reports of a single play can be made of.
fn of_a_run(settings: &SimSettings) -> Subject<'_> {
    let kept = settings.logs();
    let why = "this simulation keeps none; add --log, or --out DIR without --no-log";
    Subject { name: "a simulated run", ..Subject::run((!kept).then_some(why)) }
}

/// The run that a study is compared with.
fn beside(path: &Path) -> anyhow::Result<Loaded> {
    let loaded = Loaded::named(path, &mut ()).with_context(|| format!("--beside {}", path.display()))?;
    if loaded.observed.is_none() {
        bail!("--beside {}: it is a study of several points; name a run", path.display());
    }
    Ok(loaded)
}

fn run(settings: &SimSettings) -> Result<u8, Failure> {
    if !settings.output.quiet {
        say!(
            "simulating {}, seed {}{}",
            settings.load.headline,
            settings.load.plan.seed,
            settings.load.remarks()
        );
    }
    let control = Control::default();
    interrupt::steer_plays(&control)?;
    let backend = Backend::Sim(Box::new(settings.sim.clone()));
    let simulated = backend.play(&settings.spec, &control, &mut [])?;
    let summary = &simulated.summary;
    let folder = simulated.folder.as_ref();
    let log = folder.filter(|_| settings.logs()).map(|folder| folder.records());
    let shown = Shown::run(summary, folder, log.as_deref()).by(&settings.output.show);
    let written = output::deliver(shown, &settings.output.reports.wanted(), settings.output.quiet);
    let code = exit::of_summary(summary, settings.output.strict);
    let failures = simulated.failures.into_iter().map(|failure| Err(failure.into()));
    Ok(match (output::complain(written.into_iter().chain(failures)), simulated.interrupted) {
        (true, _) => exit::FAILED,
        (false, true) => exit::INTERRUPTED,
        (false, false) => code,
    })
}

/// Plays a study and shows what it came to; after Ctrl-C, of the points that are complete.
fn several(settings: &StudySettings) -> Result<u8, Failure> {
    let folder = settings.output.out.as_deref().map(|out| run_folder(Some(out), &settings.spec.name));
    let folder = folder.transpose()?;
    let quiet = settings.output.quiet;
    if !quiet {
        say!("{}", headline(&settings.spec));
    }
    let control = Control::default();
    interrupt::steer_plays(&control)?;
    let mut progress = (!quiet).then(|| Plays::new(settings.spec.plays()));
    let stop = || control.asked() > 0;
    let Studied { study, interrupted } = study(&settings.spec, &stop, || {
        if let Some(progress) = &mut progress {
            progress.one_more();
        }
    })?;
    if let Some(progress) = &progress {
        progress.finish();
    }
    let mut written = folder
        .as_ref()
        .map(|folder| output::study_folder(&study, &settings.scenario, folder))
        .unwrap_or_default();
    let folder = folder.as_ref().map(RunFolder::path);
    let shown = Shown::study(&study, folder).by(&settings.output.show);
    written.extend(output::deliver(shown, &settings.output.reports.wanted(), quiet));
    let failed = output::complain(written);
    if interrupted {
        say!("{}", missing(&settings.spec, &study));
    }
    Ok(match (failed, interrupted) {
        (true, _) => exit::FAILED,
        (false, true) => exit::INTERRUPTED,
        (false, false) => exit::of_study(&study, settings.output.strict),
    })
}

/// Plays a shard of a study into the place of all shards; after Ctrl-C, the plays that have ended are there. It judges no threshold.
fn part(PartSettings { study, out, shard, shard_by, part }: &PartSettings) -> Result<u8, Failure> {
    let (quiet, plays) = (study.output.quiet, plays_of(&study.spec, *shard));
    if !quiet {
        let by = shard_by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
        say!("{}, shard {shard}{by}: {}", headline(&study.spec), plural(plays, "play"));
    }
    let control = Control::default();
    interrupt::steer_part(&control)?;
    let mut progress = (!quiet).then(|| Plays::new(plays));
    let played = play_into(&study.spec, part, out, &control, output::waits, || {
        if let Some(progress) = &mut progress {
            progress.one_more();
        }
    });
    if let Some(progress) = &progress {
        progress.finish();
    }
    let PlayedPart { ended, findings, destination } = played?;
    for finding in &findings {
        say!("{}", findings::text(finding));
    }
    let code = if ended < plays { exit::INTERRUPTED } else { exit::FINE };
    let (place, here) = (destination.place(), destination.folder().path().to_owned());
    let elsewhere =
        if destination.is_remote() { format!(", and in {}", here.display()) } else { String::new() };
    destination.finish(code)?;
    if !quiet || code == exit::INTERRUPTED {
        let stopped = if ended < plays { format!("stopped: {} of ", count(ended)) } else { String::new() };
        let (plays, are) = (plural(plays, "play"), if plays == 1 { "is" } else { "are" });
        let next = repeat::merging(&place, shard.count());
        say!("{stopped}{plays} of shard {shard} {are} in {place}/{}{elsewhere}; next: {next}", shard.index());
    }
    Ok(code)
}

/// What is going to be played.
fn headline(settings: &StudySpec) -> String {
    let (points, replications) = (settings.places.len() as u64, settings.replications);
    let mut text = format!("simulating {}", plural(points, "point"));
    if replications > 1 {
        text += &format!(" x {replications} replications = {} plays", settings.plays());
    }
    text += &format!(", seed {}", settings.seed);
    for threshold in &settings.not_judged {
        text += &format!("; {threshold} is not judged: {KEPT_BY_A_STUDY}");
    }
    text
}

/// Which points are missing, by the first and the last of them.
fn missing(settings: &StudySpec, study: &Study) -> String {
    let names = settings.parameters.iter().map(|p| p.name.as_str());
    let shown = |values: &Vec<Cleared>| {
        let pairs: Vec<String> =
            names.clone().zip(values).map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    };
    let which = match &study.missing[..] {
        [] => String::new(),
        [one] if one.is_empty() => String::new(),
        [one] => format!(" ({})", shown(one)),
        [first, .., last] => format!(" ({} to {})", shown(first), shown(last)),
    };
    let all = settings.places.len();
    let replications = match settings.replications {
        1 => String::new(),
        r => format!(" with all of their {r} replications"),
    };
    format!(
        "stopped: {} of {} complete{replications}; {} missing{which}",
        study.points.len(),
        match all {
            1 => "1 point is".to_owned(),
            all => format!("{all} points are"),
        },
        match study.missing.len() {
            1 => "1 is".to_owned(),
            n => format!("{n} are"),
        }
    )
}
