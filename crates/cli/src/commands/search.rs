//! `headway search`: the highest rate at which every threshold holds.

use crate::args::SearchArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::settings::{Output, SearchSettings, Subject, outputs_fit, reports_fit};
use headway_engine::experiment::search::{SearchObserver, SearchSpec, search};
use headway_engine::files::search_folder;
use headway_engine::run_folder;
use headway_live::Control;
use headway_records::RunFolder;
use headway_report::Material;
use headway_report::format::{chosen_share, number, rate, time};
use headway_report::words::search::outcome;
use headway_stats::search::TrialRow;
use std::io::Write as _;

pub(super) fn search_verb(args: &SearchArgs, words: &[String]) -> Result<u8, Failure> {
    let SearchSettings { mut spec, subject, output, redactor } =
        SearchSettings::resolve(args, words).map_err(Failure::usage)?;
    let wanted = output.reports.wanted();
    let none = Some("those of a search are in the run folders of its trials");
    let of = Subject { name: "a search", document: Material::Search, no_records: none, no_log: none };
    reports_fit(&wanted, of).map_err(Failure::usage)?;
    let kept = !args.sim || output.out.is_some();
    output::page_fits(output.show.open, &wanted, kept).map_err(Failure::usage)?;
    let out = Output::folder("--out", output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let folder = match kept {
        true => Some(run_folder(output.out.as_deref(), &spec.base.name).map_err(Failure::from)?),
        false => None,
    };
    spec.folder = folder.as_ref().map(|folder| folder.path().to_owned());
    let quiet = output.quiet;
    if !quiet {
        let _ = writeln!(std::io::stderr(), "headway: {}", headline(&spec, &subject));
    }
    let control = Control::default();
    interrupt::steer(&control)?;
    let mut progress = Progress { quiet };
    let found =
        search(&spec, &control, &mut progress).map_err(|error| Failure::from(error).hiding(&redactor))?;
    let mut written = folder.as_ref().map(|folder| search_folder(&found, folder)).unwrap_or_default();
    let shown = Shown::search(&found, folder.as_ref().map(RunFolder::path)).by(&output.show);
    written.extend(output::deliver(shown, &wanted, quiet));
    Ok(if output::complain(written) { exit::FAILED } else { exit::of_search(&found) })
}

/// What is searched.
fn headline(spec: &SearchSpec, subject: &str) -> String {
    let thresholds: Vec<&str> = spec.base.thresholds.iter().map(|threshold| &*threshold.text).collect();
    format!(
        "searching {subject} for the highest rate with {}, to +-{}, in at most {}, seed {}",
        thresholds.join(", "),
        chosen_share(spec.bounds.precision),
        time(spec.budget.as_secs_f64()),
        spec.base.plan.seed
    )
}

/// A line for each trial, on standard error.
struct Progress {
    quiet: bool,
}

impl SearchObserver for Progress {
    fn trial(&mut self, n: usize, per_second: f64) {
        if !self.quiet {
            let _ = write!(std::io::stderr(), "headway: trial {n} at {} ... ", rate(per_second));
        }
    }

    fn ended(&mut self, row: &TrialRow, interval: [Option<f64>; 2]) {
        if self.quiet {
            return;
        }
        let p99 = row.response.iter().find(|p| p.percent == 99.0);
        let p99 = p99.map(|p| format!(", p99 {}", time(p.value))).unwrap_or_default();
        let known = match interval {
            [None, None] => String::new(),
            [Some(low), None] => format!("; the knee is above {}", rate(low)),
            [None, Some(high)] => format!("; the knee is below {}", rate(high)),
            [Some(low), Some(high)] => format!("; the knee is {} to {}", number(low), rate(high)),
        };
        let _ =
            writeln!(std::io::stderr(), "{} after {}{p99}{known}", outcome(row.ended).0, time(row.took_s));
    }
}
