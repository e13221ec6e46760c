//! `headway lab`: published experiments, repeated.

use crate::args::LabArgs;
use crate::exit::{FINE, Failure};
use crate::labs::{self, text};
use crate::output;
use crate::settings::must_be_new;
use anyhow::anyhow;
use base::units::nearest;
use std::path::Path;

/// More would only take time.
const MOST_REPLICATIONS: u64 = 10_000_000;

pub(super) fn lab(args: &LabArgs) -> Result<u8, Failure> {
    let Some(name) = &args.name else {
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
    must_be_new("--json", args.json.as_ref()).map_err(Failure::usage)?;
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
    if let Some(path) = &args.json {
        let mut json = serde_json::to_vec_pretty(&report)?;
        json.push(b'\n');
        if path.as_path() == Path::new("-") {
            output::print(&json)?;
            return Ok(FINE);
        }
        output::write_new(path, &json)?;
    }
    output::print(text::of(&report).as_bytes())?;
    Ok(FINE)
}

fn list() -> String {
    labs::ALL.iter().map(|lab| format!("{:<12}{}\n", lab.name(), lab.about())).collect()
}
