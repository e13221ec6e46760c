//! `headway lab`: published experiments, repeated.

use crate::args::{LabArgs, Wanted};
use crate::exit::{FAILED, FINE, Failure};
use crate::output;
use crate::settings::{Output, Subject, outputs_fit, reports_fit};
use anyhow::anyhow;
use headway_base::units::nearest;
use headway_labs::{self as labs, text};
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
    let live = match (args.live, lab.live()) {
        (true, None) => {
            let others = labs::ALL.iter().filter(|lab| lab.live().is_some()).map(|lab| lab.name());
            let others: Vec<&str> = others.collect();
            return Err(Failure::usage(anyhow!(
                "--live: nothing of lab {name} is played live (of {} something is)",
                others.join(", ")
            )));
        }
        (asked, live) => live.filter(|_| asked),
    };
    let mut report = lab.run(args.seed, replications)?;
    if let Some(add) = live {
        add(args.seed, &mut report)?;
    }
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

fn list() -> String {
    labs::ALL.iter().map(|lab| format!("{:<12}{}\n", lab.name(), lab.about())).collect()
}
