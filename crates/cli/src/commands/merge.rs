//! `headway merge`: the shards of one run become one run folder, with one report.

use crate::args::MergeArgs;
use crate::exit::{self, FAILED, Failure, INCOMPLETE, INTERRUPTED};
use crate::output::{complain, deliver, junit, render};
use crate::settings::{Output, outputs_fit};
use headway_engine::merge::{Error, Shards};
use headway_engine::run_folder;

pub(super) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    outputs_fit(&[
        Output::folder("--out", args.output.out.as_ref()),
        Output::printable("--json", args.output.json.as_ref()),
        Output::report("--junit", args.junit.as_ref()),
    ])
    .map_err(Failure::usage)?;
    let shards = Shards::open(&args.runs).map_err(failure)?;
    let folder = run_folder(args.output.out.as_deref(), shards.name())?;
    let merged = shards.merge(&folder).map_err(failure)?;
    let style = headway_report::Style::default();
    let files = [(headway_records::folder::SUMMARY, "json"), (headway_records::folder::REPORT, "html")];
    let written =
        files.map(|(name, output)| folder.write_new(name, &render(output, &merged.summary, &style)));
    let failed = complain(written.into_iter().map(|result| result.map(drop).map_err(Into::into)).chain([
        junit(&merged.summary, args.junit.as_deref()),
        deliver(&merged.summary, &args.output, Some(folder.path()), &[]),
    ]));
    Ok(match exit::of_summary(&merged.summary, args.output.strict) {
        _ if failed => FAILED,
        code @ (FAILED | INTERRUPTED) => code,
        _ if merged.is_incomplete() => INCOMPLETE,
        code => code,
    })
}

/// What the system refuses is its fault; all else is what was named.
fn failure(error: Error) -> Failure {
    match error {
        Error::Unwritable(error) => error.into(),
        Error::Unreadable(error) => Failure::usage(error),
        refused => Failure::usage(refused),
    }
}
