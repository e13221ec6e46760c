//! `headway run`: load against a real system, and the report.

use super::compare::Baseline;
use crate::args::RunArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::progress::{Progress, goal};
use crate::repeat;
use crate::repeat::Typed;
use crate::said::{self, say};
use crate::settings::{Output, RunSettings, Subject, new_seed, outputs_fit, reports_fit};
use crate::watching;
use headway_engine::otlp::{Collector, Export};
use headway_engine::watch::Watch;
use headway_engine::{Backend, Keep, Observer, Place, Start, dry_run};
use headway_live::Control;
use headway_records::RunFolder;
use headway_stats::Summary;
use headway_stats::summary::LoadVerdict;
use headway_workload::redact::Cleared;

pub(super) fn run(args: &RunArgs, words: &Typed) -> Result<u8, Failure> {
    if let Some(swept) = &args.sweep {
        return super::sweep::sweep(args, swept, words);
    }
    let settings = RunSettings::resolve(args, words).map_err(Failure::usage)?;
    if args.set.print_scenario {
        let text = settings.file.document(words).map_err(Failure::usage)?;
        output::print(text.as_bytes())?;
        return Ok(exit::FINE);
    }
    if args.dry_run {
        crate::output::print(
            dry_run::text(
                &(settings.load.headline.clone() + &settings.load.part()),
                &settings.spec,
                &settings.live,
            )
            .as_bytes(),
        )?;
        return Ok(exit::FINE);
    }
    let baseline = Baseline::open(&args.against, &settings).map_err(Failure::usage)?;
    play(&settings, &|_| Vec::new(), baseline)
}

/// Lines for the end of a report.
pub(super) type Notes = Vec<(Cleared, Cleared)>;

/// Plays a run and shows its report, with what `notes` says of it below; returns the exit code.
pub(super) fn play(
    settings: &RunSettings,
    notes: &dyn Fn(&Summary) -> Notes,
    baseline: Option<Baseline<'_>>,
) -> Result<u8, Failure> {
    let wanted = settings.output.reports.wanted();
    let no_records = settings.output.no_log.then_some("--no-log keeps none; leave one of the two out");
    reports_fit(&wanted, Subject::run(no_records)).map_err(Failure::usage)?;
    // With a shard, other shards may have made the folder: the engine checks which run it is of.
    let shared = matches!(settings.spec.keep, Some(Keep { place: Place::Destination(_), .. }));
    let out = Output::folder("--out", settings.output.out.as_ref().filter(|_| !shared));
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    said::also(&settings.live.redactor);
    let control = Control::default();
    interrupt::steer(&control)?;
    let quiet = settings.output.quiet;
    let plan = &settings.spec.plan;
    if !quiet {
        say!(
            "{} at {}{}, seed {}{}",
            settings.load.headline,
            settings.live.shown_target,
            settings.load.part(),
            plan.seed,
            settings.load.remarks(),
        );
    }
    if matches!(settings.live.start, Some(Start::Barrier(_))) && !quiet {
        say!("waiting for all {} shards", plan.shard.count());
    }
    for finding in settings.live.findings(&settings.spec).iter().filter(|_| !quiet) {
        say!("{}", headway_report::words::findings::text(finding));
    }
    let goal = goal(&settings.load);
    let mut watch = settings.watch.as_ref().map(|asked| watching::open(asked, goal, &control)).transpose()?;
    let export = |collector: &Collector| Export::open(collector.clone(), &settings.spec, new_seed());
    let mut export = settings.otlp.as_ref().map(export).transpose()?;
    let mut progress = (!quiet).then(|| Progress::new(goal));
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(progress.as_mut().map(|progress| progress as &mut dyn Observer));
    observers.extend(watch.as_mut().map(|watch| watch as &mut dyn Observer));
    observers.extend(export.as_mut().map(|export| export as &mut dyn Observer));
    let backend = Backend::Live(Box::new(settings.live.clone()));
    let played = backend.play(&settings.spec, &control, &mut observers);
    let result = played.map_err(|error| Failure::from(error).hiding(&settings.live.redactor))?;
    if let Some(progress) = &progress {
        progress.finish();
    }
    watch.iter().for_each(|watch| watch.ended(&result.summary));
    export.iter().for_each(|export| export.ended(&result.summary));
    let folder = result.folder.as_ref();
    let log = folder.filter(|_| !settings.output.no_log).map(RunFolder::records);
    let mut notes = notes(&result.summary);
    let destination = result.destination.as_ref();
    if let Some(bucket) = destination.filter(|destination| destination.is_remote()) {
        let place = format!("{}/{}", bucket.place(), bucket.shard().index());
        notes.push(("bucket".into(), settings.live.redactor.clear(&place)));
    }
    let next = destination.map(|one| repeat::merging(&one.place(), one.shard().count()));
    let shown = Shown::run(&result.summary, folder, log.as_deref()).by(&settings.output.show);
    let shown = Shown { notes: &notes, next: next.as_ref(), ..shown };
    let written = output::deliver(shown, &wanted, quiet);
    watch.into_iter().for_each(Watch::close);
    if let Some(text) = export.and_then(Export::close) {
        say!("{text}");
    }
    let code = exit::of_summary(&result.summary, settings.output.strict);
    let is_invalid = result.summary.verdict.load == Some(LoadVerdict::Invalid);
    if result.summary.is_unreachable() {
        say!("{} could not be reached", settings.live.shown_target);
    }
    let compared = match (baseline, folder) {
        // Of a run that was cut short, or reached nothing, there is nothing to compare.
        (Some(baseline), Some(folder)) if ![exit::FAILED, exit::INTERRUPTED].contains(&code) => {
            Some(baseline.compare(folder, quiet))
        }
        _ => None,
    };
    let (compared, unwritten) = match compared.transpose() {
        Ok(compared) => (compared, None),
        Err(error) => (None, Some(Err(error))),
    };
    let failures = result.failures.into_iter().map(|failure| Err(failure.into()));
    let code = match output::complain(written.into_iter().chain(failures).chain(unwritten)) {
        true => exit::FAILED,
        // That this load was INVALID is why the two are not comparable.
        false if is_invalid && compared == Some(exit::USAGE) => code,
        false => exit::first_of(code, compared.unwrap_or(exit::FINE)),
    };
    if let Some(destination) = result.destination {
        destination.finish(code).map_err(|error| Failure::from(error).hiding(&settings.live.redactor))?;
    }
    Ok(code)
}
