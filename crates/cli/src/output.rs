//! Where reports go: standard output, files, and how a terminal is treated.

mod requests;

pub use requests::Listening;

use crate::args::{ShowArgs, Wanted};
use crate::exit::in_words;
use crate::said::{self, say};
use anyhow::{Context as _, Result};
pub use headway_engine::audit::write_new;
use headway_engine::destination::Waiting;
pub use headway_engine::files::study_folder;
use headway_engine::files::{NotOpened, open_page, replace};
pub use headway_engine::render;
use headway_engine::watchdog::{Stage, Stuck};
use headway_records::{Limits, RunFolder};
use headway_report::html::Html;
use headway_report::terminal::Terminal;
use headway_report::{Document, Output as _, Style};
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;
use headway_workload::redact::{Cleared, clear};
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

/// What is to be shown, and where its records and its files are.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The document.
    pub document: Document<'a>,
    /// The log of its records, if it has one.
    pub log: Option<&'a Path>,
    /// The folder of its files, if it has one.
    pub folder: Option<&'a Path>,
    /// More lines for the end of the terminal report.
    pub notes: &'a [(Cleared, Cleared)],
    /// The command to type next, if it is not the one that shows more of the same.
    pub next: Option<&'a Cleared>,
    /// Whether the terminal report shows all there is.
    pub details: bool,
    /// Whether it shows a histogram.
    pub histogram: bool,
    /// Whether the page is opened.
    pub open: bool,
}

impl<'a> Shown<'a> {
    /// As these flags have it.
    pub fn by(self, ShowArgs { details, histogram, open, .. }: &ShowArgs) -> Shown<'a> {
        Shown { details: *details, histogram: *histogram, open: *open, ..self }
    }

    /// A study, which keeps no records.
    pub fn study(study: &'a Study, folder: Option<&'a Path>) -> Shown<'a> {
        Shown::of(Document::Study(study), folder, None)
    }

    /// A comparison.
    pub fn comparison(comparison: &'a Comparison, folder: Option<&'a Path>) -> Shown<'a> {
        Shown::of(Document::Comparison(comparison), folder, None)
    }

    /// Searches; the records are their trials'.
    pub fn search(searched: &'a Searched, folder: Option<&'a Path>) -> Shown<'a> {
        Shown::of(Document::Search(searched), folder, None)
    }

    /// A summary; the folder of its run has its records, unless none were kept.
    pub fn run(summary: &'a Summary, folder: Option<&'a RunFolder>, log: Option<&'a Path>) -> Shown<'a> {
        Shown::of(Document::Summary(summary), folder.map(RunFolder::path), log)
    }

    fn of(document: Document<'a>, folder: Option<&'a Path>, log: Option<&'a Path>) -> Shown<'a> {
        let (details, histogram, open) = (false, false, false);
        Shown { document, log, folder, notes: &[], next: None, details, histogram, open }
    }
}

/// Writes every report that is wanted, and prints the terminal report unless another goes there or it is to be quiet. Each is
/// tried, also where one before it could not be written; what could not be.
pub fn deliver(shown: Shown<'_>, wanted: &[Wanted], quiet: bool) -> Vec<Result<()>> {
    let mut results: Vec<Result<()>> = wanted.iter().map(|one| write(shown, one)).collect();
    if !quiet && !wanted.iter().any(Wanted::is_printed) {
        let style = style(shown);
        results.extend(Terminal.render(shown.document, &style).map(|bytes| print(&bytes)));
    }
    let kept = shown.folder.map(|folder| folder.join(headway_records::folder::REPORT));
    let page = page(wanted).map(Path::to_owned).or(kept).filter(|page| page.is_file());
    if let Some(why) = shown.open.then(|| open_page(page.as_deref()).err()).flatten() {
        say!("{why}");
    }
    results
}

/// The file of the page that is wanted.
fn page(wanted: &[Wanted]) -> Option<&Path> {
    let is_page = |one: &&Wanted| one.output.name() == Html.name() && !one.is_printed();
    wanted.iter().find(is_page).map(|one| one.path.as_path())
}

/// Checks that a page will be there if one is to be opened; `kept`: in a folder.
///
/// # Errors
/// None will.
pub fn page_fits(open: bool, wanted: &[Wanted], kept: bool) -> Result<(), NotOpened> {
    if open && !kept && page(wanted).is_none() { Err(NotOpened::NoPage) } else { Ok(()) }
}

fn write(shown: Shown<'_>, wanted: &Wanted) -> Result<()> {
    match shown.log {
        Some(log) if wanted.is_of_log() => return export(log, &wanted.path),
        Some(log) if wanted.is_of_requests() => return requests::of_log(log, wanted),
        _ => {}
    }
    let style = match wanted.is_printed() {
        true => style(shown),
        false => Style { details: shown.details, histogram: shown.histogram, ..Style::default() },
    };
    let bytes = wanted.output.render(shown.document, &style);
    put(wanted, &bytes.with_context(|| format!("{}: nothing to make it of", wanted.typed()))?)
}

/// Writes or prints a report where it is wanted.
///
/// # Errors
/// Its file or standard output cannot be written; a closed pipe is no error.
pub fn put(wanted: &Wanted, bytes: &[u8]) -> Result<()> {
    match wanted.is_printed() {
        true => print(bytes).with_context(|| wanted.typed()),
        false if wanted.appended => append(&wanted.path, bytes).with_context(|| wanted.typed()),
        false => replace(&wanted.path, bytes).context(wanted.flag),
    }
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}

fn export(log: &Path, to: &Path) -> Result<()> {
    let merged = headway_records::to_parquet(&[log.to_owned()], to, None, Limits::default())?;
    say!("{} rows to {}", merged.rows, to.display());
    if let Some((to, rows)) = merged.events {
        say!("{rows} rows of events to {}", to.display());
    }
    Ok(())
}

/// Says what could not be written; whether anything could not.
pub fn complain(results: impl IntoIterator<Item = Result<()>>) -> bool {
    let mut failed = false;
    for error in results.into_iter().filter_map(Result::err) {
        failed = true;
        say!("{}", in_words(&error));
    }
    failed
}

/// Says that a store is waited for, and until when.
pub fn waits(waiting: &Waiting) {
    let Waiting { place, doing, what, left } = waiting;
    let what = what.as_deref().unwrap_or("no answer yet");
    let until = jiff::Zoned::now() + std::time::Duration::from_nanos(left.0.max(0) as u64);
    let until = until.strftime("%H:%M:%S");
    say!("{place} cannot be {doing} yet ({what}); tried again until {until} (press Ctrl-C twice to give up)");
}

/// Says which stage of a run is stuck and what there is of it, and ends the process: what hangs cannot be joined.
pub fn is_stuck(stuck: &Stuck) {
    const WORDS_TAKE: std::time::Duration = std::time::Duration::from_secs(1);
    let text = stuck_words(stuck);
    // Standard error may be what hangs.
    let (told, tells) = std::sync::mpsc::channel();
    let say = std::thread::Builder::new().spawn(move || {
        said::below(&said::cleared(&text));
        let _ = told.send(());
    });
    if say.is_ok() {
        let _ = tells.recv_timeout(WORDS_TAKE);
    }
    std::process::exit(i32::from(crate::exit::FAILED))
}

fn stuck_words(stuck: &Stuck) -> String {
    let Stuck { stage, taken, folder, rows, complete } = stuck;
    let patience = stage.patience();
    let stage = match stage {
        Stage::Workers => "the workers (they send requests and read responses)",
        Stage::Log => "the log",
        Stage::Statistics => "the statistics",
        Stage::Device => "the device that holds the log",
        Stage::Observers => "the display of the run (progress, live view, exporters)",
    };
    let left = match (folder, rows) {
        (Some(folder), Some(rows)) => {
            let folder = folder.display();
            let all = if *complete { "all that was recorded" } else { "what was recorded so far" };
            format!("{all} is in {folder} ({rows} rows): `headway report {folder}` makes the report of it")
        }
        (Some(folder), None) => {
            format!(
                "what the log held by then is in {0}: `headway report {0}` makes the report of it",
                folder.display()
            )
        }
        (None, _) => "this run keeps no log, so there is no report of it".to_owned(),
    };
    format!(
        "the run does not end: {stage} made no progress for {patience} after the plan's last deadline ({taken} records were taken). This is a defect of \
         headway; {left}"
    )
}

/// Whether standard output is coloured: only where a person sees it and has not declined it.
pub fn colour() -> bool {
    let declined = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    io::stdout().is_terminal() && !declined
}

/// How the terminal report looks here.
fn style(shown: Shown<'_>) -> Style {
    let Shown { folder, notes, next, details, histogram, .. } = shown;
    Style {
        colour: colour(),
        // Where it was removed meanwhile there is nothing to point to.
        folder: folder.filter(|folder| folder.is_dir()).map(|folder| clear(&folder.display().to_string())),
        notes: notes.to_vec(),
        next: next.cloned(),
        details,
        histogram,
        width: columns(),
        ..Style::default()
    }
}

/// Columns of the terminal that standard output is; none where it is none.
fn columns() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

/// Prints to standard output; a closed pipe is no error.
///
/// # Errors
/// Standard output takes nothing more.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
