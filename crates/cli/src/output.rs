//! Where reports go: standard output, files, and how a terminal is treated.

use crate::args::OutputArgs;
use crate::exit::in_words;
use crate::files::replace;
use crate::settings::StudySettings;
use anyhow::{Context as _, Result};
pub use headway_engine::audit::write_new;
pub use headway_engine::render;
use headway_records::RunFolder;
use headway_report::Style;
use headway_stats::Summary;
use headway_stats::study::Study;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

/// Shows a summary as asked: JSON to its file or to standard output, else the terminal report unless quiet. The report is
/// shown also where the file could not be written.
///
/// # Errors
/// The file or standard output cannot be written; a closed pipe is no error.
pub fn deliver(
    summary: &Summary,
    output: &OutputArgs,
    folder: Option<&Path>,
    notes: &[(String, String)],
) -> Result<()> {
    let json = || render("json", summary, &Style::default());
    let written = match output.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => return print(&json()).context("--json -"),
        Some(path) => replace(path, &json()).context("--json"),
        None => Ok(()),
    };
    let shown = match output.quiet {
        true => Ok(()),
        false => print(&render("terminal", summary, &style(folder, notes))),
    };
    written.and(shown)
}

/// Says what could not be written; whether anything could not.
pub fn complain(results: impl IntoIterator<Item = Result<()>>) -> bool {
    let mut failed = false;
    for error in results.into_iter().filter_map(Result::err) {
        failed = true;
        let _ = writeln!(io::stderr(), "headway: {}", in_words(&error));
    }
    failed
}

/// Shows a study as asked, and writes what belongs into its folder; what could not be written.
pub fn study(study: &Study, settings: &StudySettings, folder: Option<&RunFolder>) -> Vec<Result<()>> {
    let json = headway_report::study::json(study);
    let page = || headway_report::study::html(study, &Style::default());
    let mut results: Vec<Result<()>> = Vec::new();
    if let Some(folder) = folder {
        let files = [
            (headway_report::study::JSON_FILE, json.clone()),
            (headway_records::folder::SCENARIO, settings.scenario.clone().into_bytes()),
            (headway_records::folder::REPORT, page()),
        ];
        results.extend(
            files.iter().map(|(name, bytes)| folder.write_new(name, bytes).map(drop).map_err(Into::into)),
        );
    }
    if let Some(path) = &settings.html {
        results.push(replace(path, &page()).context("--html"));
    }
    match settings.output.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => results.push(print(&json).context("--json -")),
        json_file => {
            results.extend(json_file.map(|path| replace(path, &json).context("--json")));
            if !settings.output.quiet {
                results.push(print(&headway_report::study::terminal(
                    study,
                    &style(folder.map(RunFolder::path), &[]),
                )));
            }
        }
    }
    results
}

/// Writes thresholds and load rules as test cases, if a file is named for them.
///
/// # Errors
/// The file cannot be written.
pub fn junit(summary: &Summary, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    replace(path, &render("junit", summary, &Style::default())).context("--junit")
}

/// How the terminal report looks here: colour only where a person sees it and has not declined it.
fn style(folder: Option<&Path>, notes: &[(String, String)]) -> Style {
    let declined = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    Style {
        colour: io::stdout().is_terminal() && !declined,
        // Where it was removed meanwhile there is nothing to point to.
        folder: folder.filter(|folder| folder.is_dir()).map(|folder| folder.display().to_string()),
        notes: notes.to_vec(),
        ..Style::default()
    }
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
