//! `headway run --sweep rate=...`: percentiles and goodput against the rate, by short runs.

use super::search::{Progress, SUBJECT};
use crate::args::{RunArgs, Sweep};
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::repeat::Typed;
use crate::said::{self, say};
use crate::settings::{Output, SweepSettings, outputs_fit, reports_fit};
use headway_engine::experiment::search::{Folder, rate_of_what, sweep as play};
use headway_engine::run_folder;
use headway_live::Control;
use headway_report::format::{plural, time};
use headway_stats::search::RateOf;

pub(super) fn sweep(args: &RunArgs, sweep: &Sweep, words: &Typed) -> Result<u8, Failure> {
    let settings = SweepSettings::resolve(args, sweep, words).map_err(Failure::usage)?;
    let redactor = settings.redactor.clone();
    said::also(&redactor);
    played(sweep, settings).map_err(|failure| failure.hiding(&redactor))
}

fn played(sweep: &Sweep, settings: SweepSettings) -> Result<u8, Failure> {
    let SweepSettings { mut spec, rates, each, output, .. } = settings;
    let wanted = output.reports.wanted();
    reports_fit(&wanted, SUBJECT).map_err(Failure::usage)?;
    output::page_fits(output.show.open, &wanted, true).map_err(Failure::usage)?;
    let out = Output::folder("--out", output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let path = run_folder(output.out.as_deref(), &spec.base.name)?.path().to_owned();
    spec.folder = Some(path.clone());
    let specs = std::slice::from_ref(&spec);
    let folder = Folder::begin(&path, specs)?;
    let quiet = output.quiet;
    if !quiet {
        let users = rate_of_what(&spec.base.plan).is_ok_and(|of| of == RateOf::Users);
        let what = if users { "number of users" } else { "rate" };
        say!(
            "sweeping {}: {} of {} each, at {what} {}; {} in all without warm-up, seed {}",
            spec.target,
            plural(rates.len() as u64, "run"),
            time(each.as_secs_f64()),
            sweep.values.join(", "),
            time(spec.budget.as_secs_f64()),
            spec.base.plan.seed
        );
    }
    let control = Control::default();
    interrupt::steer(&control)?;
    let mut progress = Progress::of_a_sweep(quiet);
    let swept = play(&spec, &rates, each, Some(&folder), &control, &mut progress)?;
    let mut written = folder.finish(&swept, specs);
    let shown = Shown::search(&swept, Some(&path)).by(&output.show);
    written.extend(output::deliver(shown, &wanted, quiet));
    Ok(if output::complain(written) { exit::FAILED } else { exit::of_search(&swept) })
}
