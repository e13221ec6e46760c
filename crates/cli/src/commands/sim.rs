//! `headway sim`: a scenario against a model, in virtual time.

use crate::args::SimArgs;
use crate::exit::{self, Failure};
use crate::output;
use crate::settings::{must_be_empty, must_be_new, simulated};
use crate::simulate::simulate;
use std::io::Write as _;

pub(super) fn sim(args: &SimArgs, words: &[String]) -> Result<u8, Failure> {
    let settings = simulated(args, words).map_err(Failure::usage)?;
    must_be_new("--json", settings.output.json.as_ref()).map_err(Failure::usage)?;
    must_be_new("--junit", settings.junit.as_ref()).map_err(Failure::usage)?;
    must_be_empty("--out", settings.output.out.as_deref()).map_err(Failure::usage)?;
    if !settings.output.quiet {
        let _ = writeln!(
            std::io::stderr(),
            "headway: simulating {}, seed {}",
            settings.load.headline,
            settings.load.plan.seed
        );
    }
    let simulated = simulate(&settings)?;
    output::junit(&simulated.summary, settings.junit.as_deref())?;
    let folder = simulated.folder.as_ref().map(|f| f.path());
    output::deliver(&simulated.summary, &settings.output, folder, &[])?;
    for failure in &simulated.failures {
        let _ = writeln!(std::io::stderr(), "headway: {failure}");
    }
    let code = exit::of_summary(&simulated.summary, settings.output.strict);
    Ok(if simulated.failures.is_empty() { code } else { exit::FAILED })
}
