//! `headway merge`: the shards of one run become one run folder, with one report.

use crate::args::MergeArgs;
use crate::exit::{self, FAILED, Failure, INCOMPLETE, INTERRUPTED};
use crate::output::{Shown, complain, deliver, render};
use crate::settings::{Output, Subject, outputs_fit, reports_fit};
use headway_engine::merge::{Error, Shards};
use headway_engine::{run_folder, show_percentiles};

pub(super) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let wanted = args.output.reports.wanted();
    let subject = Subject::run(None);
    reports_fit(&wanted, subject).map_err(Failure::usage)?;
    let out = Output::folder("--out", args.output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let shards = Shards::open(&args.runs).map_err(failure)?;
    let folder = run_folder(args.output.out.as_deref(), shards.name())?;
    let mut merged = shards.merge(&folder).map_err(failure)?;
    show_percentiles(&mut merged.summary, &args.output.show.percentiles, folder.path())?;
    let style = headway_report::Style::default();
    let files = [(headway_records::folder::SUMMARY, "json"), (headway_records::folder::REPORT, "html")];
    let written =
        files.map(|(name, output)| folder.write_new(name, &render(output, &merged.summary, &style)));
    let log = folder.records();
    let shown = Shown::run(&merged.summary, Some(&folder), Some(&log)).by(&args.output.show);
    let written = written.into_iter().map(|result| result.map(drop).map_err(Into::into));
    let failed = complain(written.chain(deliver(shown, &wanted, args.output.quiet)));
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
