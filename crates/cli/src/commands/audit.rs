//! `headway audit`: was this load what it claims to be?

use crate::args::{AuditArgs, OutputArgs};
use crate::audit::{self, AuditSettings};
use crate::exit::{self, Failure};
use crate::output;
use anyhow::Context as _;
use report::Style;
use std::fs;

pub(super) fn audit(args: &AuditArgs, words: &[String]) -> Result<u8, Failure> {
    let settings = AuditSettings::resolve(args, words).map_err(Failure::usage)?;
    let summary = audit::audit(&settings)?;
    let output = &settings.output;
    if let Some(path) = &output.html {
        output::write_new(path, &output::render("html", &summary, &Style::default())).context("--html")?;
    }
    if let Some(folder) = &output.csv {
        fs::create_dir_all(folder).with_context(|| format!("--csv {}", folder.display()))?;
        for (name, bytes) in ::report::csv::files(&summary) {
            output::write_new(&folder.join(name), &bytes).context("--csv")?;
        }
    }
    let show = OutputArgs { json: output.json.clone(), quiet: output.quiet, ..OutputArgs::default() };
    output::deliver(&summary, &show, None, &[])?;
    Ok(exit::of_audit(&summary, output.strict))
}
