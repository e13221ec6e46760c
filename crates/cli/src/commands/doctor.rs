//! `headway doctor`: is this machine fit to send that load? It changes nothing, and sends nothing beyond loopback.

use crate::args::DoctorArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{colour, print, put};
use crate::repeat::Typed;
use crate::said::{self, say};
use crate::settings::{RunSettings, new_seed, waiting};
use anyhow::anyhow;
use headway_engine::doctor::{MEASURED, examine};
use headway_live::Control;
use headway_report::Style;
use headway_stats::doctor::Fitness;

pub(super) fn doctor(args: &DoctorArgs, words: &Typed) -> Result<u8, Failure> {
    let output = &args.run.output;
    let wanted = output.reports.wanted();
    if let Some(other) = wanted.iter().find(|wanted| wanted.output.name() != "json") {
        let why = anyhow!("{}: headway doctor writes JSON, and a page for the terminal", other.typed());
        return Err(Failure::usage(why));
    }
    let planned = !args.run.target.is_empty();
    let settings =
        planned.then(|| RunSettings::planned(&args.run, words)).transpose().map_err(Failure::usage)?;
    let wait = match &settings {
        Some(settings) => settings.live.wait.clone(),
        None => waiting(args.run.wait, None).map_err(Failure::usage)?,
    };
    let control = Control::default();
    interrupt::steer(&control)?;
    let printed = wanted.iter().any(crate::args::Wanted::is_printed);
    if !output.quiet && said::is_seen() {
        say!("measuring this machine for {MEASURED}");
    }
    let run = settings.as_ref().map(|settings| (&settings.spec, &settings.live));
    let diagnosis =
        examine(run, &wait, args.response, args.run.load.seed.unwrap_or_else(new_seed), &control)?;
    if control.asked() > 0 {
        return Ok(exit::INTERRUPTED);
    }
    let plan = settings.as_ref().map(|s| format!("{} at {}", s.load.headline, s.live.shown_target));
    for one in &wanted {
        put(one, &headway_report::doctor::json(&diagnosis, plan.as_deref()))?;
    }
    if !printed && !output.quiet {
        let style = Style { colour: colour(), details: output.show.details, ..Style::default() };
        print(&headway_report::terminal::doctor::render(&diagnosis, plan.as_deref(), &style))?;
    }
    Ok(match diagnosis.fitness() {
        Fitness::Unfit => exit::INVALID,
        Fitness::Remarks if output.strict => exit::INCONCLUSIVE,
        Fitness::Fit | Fitness::Remarks => exit::FINE,
    })
}
