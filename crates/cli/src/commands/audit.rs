//! `headway audit`: was this load what it claims to be?

use crate::args::{AuditArgs, Wanted};
use crate::exit::{self, Failure};
use crate::output::{self, Listening, Shown};
use crate::progress::Bar;
use crate::repeat::Typed;
use crate::settings::AuditSettings;
use anyhow::{Context as _, Result};
use std::fs;

pub(super) fn audit(args: &AuditArgs, words: &Typed) -> Result<u8, Failure> {
    let settings = AuditSettings::resolve(args, words).map_err(Failure::usage)?;
    let output = &settings.output;
    let (of_requests, of_summary): (Vec<Wanted>, Vec<Wanted>) =
        output.reports.wanted().into_iter().partition(Wanted::is_of_requests);
    let mut listening = Listening::new(Bar::new(output.quiet), &of_requests);
    let summary = headway_engine::audit::audit(&settings.spec, &mut listening)?;
    let mut written = listening.finish();
    if let Some(folder) = &output.csv {
        let made = fs::create_dir_all(folder).with_context(|| format!("--csv {}", folder.display()));
        let mut tables = headway_report::csv::files(&summary).into_iter();
        written.push(made.and_then(|()| {
            let write = |(name, bytes): (_, Vec<u8>)| output::write_new(&folder.join(name), &bytes);
            tables.try_for_each(write).context("--csv")
        }));
    }
    let quiet = output.quiet || of_requests.iter().any(Wanted::is_printed);
    let shown = Shown { details: output.details, ..Shown::run(&summary, None, None) };
    written.extend(output::deliver(shown, &of_summary, quiet));
    Ok(if output::complain(written) { exit::FAILED } else { exit::of_audit(&summary, output.strict) })
}
