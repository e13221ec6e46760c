//! `headway lab`: published experiments, repeated.

use crate::args::{LabArgs, Wanted};
use crate::exit::{FAILED, FINE, Failure};
use crate::output;
use crate::settings::{Output, Subject, outputs_fit, reports_fit};
use anyhow::{anyhow, bail};
use headway_base::units::nearest;
use headway_labs::{self as labs, Extent, Lab, Live, text};
use headway_report::Material;

/// More would only take time.
const MOST_REPLICATIONS: u64 = 10_000_000;

pub(super) fn lab(args: &LabArgs) -> Result<u8, Failure> {
    let wanted = args.reports.wanted();
    let Some(name) = &args.name else {
        let of_one = [
            (!wanted.is_empty(), wanted.first().map_or("", |one| one.flag)),
            (args.replications.is_some(), "--replications"),
            (args.live, "--live"),
            (args.short, "--short"),
        ];
        if let Some((_, flag)) = of_one.iter().find(|(given, _)| *given) {
            return Err(Failure::usage(anyhow!("{flag} is about one lab, and none is named\n{}", list())));
        }
        output::print(list().as_bytes())?;
        return Ok(FINE);
    };
    let Some(lab) = labs::find(name) else {
        let guess = nearest(name, labs::ALL.iter().map(|lab| lab.name()));
        let guess = guess.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(Failure::usage(anyhow!("there is no lab '{name}'{guess}\n{}", list())));
    };
    let replications = args.replications.unwrap_or(lab.replications());
    if !(1..=MOST_REPLICATIONS).contains(&replications) {
        return Err(Failure::usage(anyhow!(
            "--replications {replications}: write a number from 1 to {MOST_REPLICATIONS}"
        )));
    }
    let no_records = Some("a lab keeps none");
    let subject = Subject { name: "a lab", document: Material::Lab, no_records, no_log: no_records };
    reports_fit(&wanted, subject).map_err(Failure::usage)?;
    outputs_fit(&wanted.iter().map(Output::report).collect::<Vec<_>>()).map_err(Failure::usage)?;
    let live = live(lab, args).map_err(Failure::usage)?;
    let mut report = lab.run(args.seed, replications)?;
    match live {
        Some(Live::Always(play)) => {
            play(args.seed, if args.short { Extent::Short } else { Extent::Full }, &mut report)?
        }
        Some(Live::OnDemand(play)) => play(args.seed, &mut report)?,
        None => {}
    }
    let report = report.listed();
    let in_form = |wanted: &Wanted| match wanted.output.name() {
        "json" => headway_report::json::document(&report),
        _ => text::of(&report).into_bytes(),
    };
    let mut written: Vec<anyhow::Result<()>> =
        wanted.iter().map(|one| output::put(one, &in_form(one))).collect();
    if !wanted.iter().any(Wanted::is_printed) {
        written.push(output::print(text::of(&report).as_bytes()));
    }
    Ok(if output::complain(written) { FAILED } else { FINE })
}

/// What of it is to be played live.
fn live(lab: &dyn Lab, args: &LabArgs) -> anyhow::Result<Option<Live>> {
    let of = |is: fn(&Live) -> bool| {
        let those =
            labs::ALL.iter().filter(|lab| lab.live().is_some_and(|live| is(&live))).map(|lab| lab.name());
        those.collect::<Vec<&str>>().join(", ")
    };
    let live = lab.live();
    if args.short && !matches!(live, Some(Live::Always(_))) {
        let always = of(|live| matches!(live, Live::Always(_)));
        bail!(
            "--short: lab {} has no part that always runs on this machine; such labs: {always}",
            lab.name()
        );
    }
    match live {
        None if args.live => {
            bail!("--live: nothing of lab {} is played live (of {} something is)", lab.name(), of(|_| true))
        }
        Some(Live::OnDemand(_)) if !args.live => Ok(None),
        live => Ok(live),
    }
}

fn list() -> String {
    labs::ALL.iter().map(|lab| format!("{:<13}{}\n", lab.name(), lab.about())).collect()
}
