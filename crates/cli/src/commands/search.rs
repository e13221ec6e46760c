//! `headway search`: the highest rate at which every threshold holds, of one target or of several in turns.

use crate::args::SearchArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::output::{self, Shown};
use crate::repeat::Typed;
use crate::said::{self, say};
use crate::settings::{Output, SearchSettings, Subject, outputs_fit, reports_fit};
use headway_engine::experiment::search::rate_of_what;
use headway_engine::experiment::search::{Folder, SearchObserver, SearchSpec, search};
use headway_engine::run_folder;
use headway_live::Control;
use headway_report::Material;
use headway_report::format::{chosen_share, plural, rate, time};
use headway_report::words::search::{about, failures, limited, outcome, probed, rate_of};
use headway_stats::search::{Found, ProbeRow, Probed, RateOf, TrialRow};
use headway_workload::redact::Cleared;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const NONE: Option<&str> = Some("those of a search are in the run folders of its trials");

/// What reports of a search can be made of, and of a sweep.
pub(super) const SUBJECT: Subject<'_> =
    Subject { name: "a search", document: Material::Search, no_records: NONE, no_log: NONE };

pub(super) fn search_verb(args: &SearchArgs, words: &Typed) -> Result<u8, Failure> {
    let settings = SearchSettings::resolve(args, words).map_err(Failure::usage)?;
    let redactors = settings.redactors.clone();
    redactors.iter().for_each(said::also);
    played(args, settings)
        .map_err(|failure| redactors.iter().fold(failure, |failure, redactor| failure.hiding(redactor)))
}

fn played(args: &SearchArgs, settings: SearchSettings) -> Result<u8, Failure> {
    let SearchSettings { mut specs, named, resume, output, .. } = settings;
    let wanted = output.reports.wanted();
    reports_fit(&wanted, SUBJECT).map_err(Failure::usage)?;
    let kept = !args.sim || output.out.is_some() || resume.is_some();
    output::page_fits(output.show.open, &wanted, kept).map_err(Failure::usage)?;
    let out = Output::folder("--out", output.out.as_ref());
    outputs_fit(&out.into_iter().chain(wanted.iter().map(Output::report)).collect::<Vec<_>>())
        .map_err(Failure::usage)?;
    let name = if named { "search" } else { &specs[0].base.name };
    let path = match (&resume, kept) {
        (Some(folder), _) => Some(folder.clone()),
        (None, true) => Some(run_folder(output.out.as_deref(), name)?.path().to_owned()),
        (None, false) => None,
    };
    for spec in &mut specs {
        spec.folder = path.as_ref().map(|path| of_target(path, spec, named));
    }
    let folder = match (&path, &resume) {
        (None, _) => None,
        (Some(path), Some(_)) => Some(Folder::resume(path, &specs)?),
        (Some(path), None) => Some(Folder::begin(path, &specs)?),
    };
    let quiet = output.quiet;
    if !quiet {
        say!("{}", headline(&specs));
    }
    let before =
        folder.as_ref().map_or(0, |folder| folder.before().iter().map(|found| found.trials.len()).sum());
    if before > 0 && !quiet {
        say!("going on after {before} trials");
    }
    let control = Control::default();
    interrupt::steer(&control)?;
    let mut progress = Progress { quiet, named, trial: "trial", said: Instant::now(), limited: Vec::new() };
    let searched = search(&specs, folder.as_ref(), &control, &mut progress)?;
    let mut written = folder.as_ref().map(|folder| folder.finish(&searched, &specs)).unwrap_or_default();
    let shown = Shown::search(&searched, path.as_deref()).by(&output.show);
    written.extend(output::deliver(shown, &wanted, quiet));
    Ok(if output::complain(written) { exit::FAILED } else { exit::of_search(&searched) })
}

/// The folder for the trials of one target.
fn of_target(path: &std::path::Path, spec: &SearchSpec, named: bool) -> PathBuf {
    if named { path.join(spec.base.name.as_str()) } else { path.to_owned() }
}

/// What is searched.
fn headline(specs: &[SearchSpec]) -> String {
    let first = &specs[0];
    let thresholds: Vec<&str> = first.base.thresholds.iter().map(|threshold| &*threshold.text).collect();
    let targets: Vec<&str> = specs.iter().map(|spec| &*spec.target).collect();
    let users = rate_of_what(&first.base.plan).is_ok_and(|of| of == RateOf::Users);
    let what = if users { "largest number of users" } else { "highest rate" };
    let each = if specs.len() > 1 { " each" } else { "" };
    let probes = if first.probe && !users {
        "; first its capacity is probed by users without think time (--no-probe: not)"
    } else {
        ""
    };
    format!(
        "searching {} for the {what} with {}, to +-{}, in at most {}{each}, seed {}{probes}",
        targets.join(", "),
        thresholds.join(", "),
        chosen_share(first.bounds.precision),
        time(first.budget.as_secs_f64()),
        first.base.plan.seed
    )
}

/// Longest time without a word, a little less than five seconds.
const SILENCE: Duration = Duration::from_millis(3_900);

/// A line for each trial, on standard error.
pub(super) struct Progress {
    quiet: bool,
    named: bool,
    /// What a trial is called.
    trial: &'static str,
    /// When it said something last.
    said: Instant,
    /// The targets of which it said that they limit rates.
    limited: Vec<Cleared>,
}

impl Progress {
    /// Of a sweep.
    pub(super) fn of_a_sweep(quiet: bool) -> Progress {
        Progress { quiet, named: false, trial: "run", said: Instant::now(), limited: Vec::new() }
    }
}

impl Progress {
    /// Says once of each target that it limits rates.
    fn limits(&mut self, search: &Found, per_second: f64, before: &str, after: &str) {
        if !self.limited.contains(&search.name) && !self.quiet {
            self.limited.push(search.name.clone());
            said::piece(&said::cleared(&format!("{before}{}{after}", limited(per_second))));
        }
    }
}

impl SearchObserver for Progress {
    fn probed(&mut self, search: &Found, so_far: &Probed) {
        if let (Some(row), false) = (so_far.rows.last(), self.quiet) {
            let of = if self.named { format!("{}, ", search.name) } else { String::new() };
            let users = plural(u64::from(row.users), "user");
            say!(
                "{of}probe of {users}: {} after {}; so far {}",
                rate(row.per_second),
                time(row.took_s),
                probed(so_far)
            );
        }
        if let Some(at) = so_far.rows.iter().find_map(ProbeRow::limited_at) {
            self.limits(search, at, "headway: ", "\n");
        }
    }

    fn trial(&mut self, search: &Found, n: usize, per_second: f64) {
        self.said = Instant::now();
        if !self.quiet {
            let of = if self.named { format!("{}, ", search.name) } else { String::new() };
            let (trial, at) = (self.trial, rate_of(search, per_second));
            said::piece(&said::cleared(&format!("headway: {of}{trial} {n} at {at} ... ")));
        }
    }

    fn goes_on(&mut self, search: &Found, rate: f64, estimate: Option<f64>, is_limited: bool) {
        if is_limited {
            self.limits(search, rate * search.requests_per_arrival, "", " ... ");
        }
        if let Some(knee) = estimate.filter(|_| !self.quiet && self.said.elapsed() >= SILENCE) {
            self.said = Instant::now();
            said::piece(&said::cleared(&format!("about {} so far ... ", rate_of(search, knee))));
        }
    }

    fn ended(&mut self, search: &Found, row: &TrialRow, estimate: Option<f64>, interval: [Option<f64>; 2]) {
        if self.quiet {
            return;
        }
        let p99 = row.response.iter().find(|p| p.percent == 99.0);
        let p99 = p99.map(|p| format!(", p99 {}", time(p.value))).unwrap_or_default();
        let known = match about(search, estimate, interval) {
            nothing if nothing == "-" => String::new(),
            known => format!("; the knee is {known}"),
        };
        let failed = failures(row).map(|failed| format!(", {failed}")).unwrap_or_default();
        let (word, took) = (outcome(row.ended).0, time(row.took_s));
        said::bare(&said::cleared(&format!("{word} after {took}{p99}{failed}{known}")));
        if let Some(at) = search.limited_at() {
            self.limits(search, at, "headway: ", "\n");
        }
    }
}
