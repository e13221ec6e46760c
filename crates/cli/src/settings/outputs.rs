//! Where results go, looked at before anything is sent or played: nothing but reports is replaced, and no two outputs meet.
//!
//! What cannot be written is found now, not when the results of an hour are there and have no place. Deliberately absent:
//! the writing, and a folder of results that nobody named, which gets a name of its own.

use crate::args::{Wanted, names};
use anyhow::{Result, bail};
use headway_engine::files::is_a_report;
use headway_report::Material;
use std::fs;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// What a flag's path is to become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// A report, or standard output for `-`.
    Printable,
    /// A report.
    Report,
    /// Any file, to which it is added.
    Appended,
    /// A new file.
    File,
    /// A folder.
    Folder,
}

/// A place that a flag names for results.
#[derive(Clone, Debug)]
pub struct Output<'a> {
    /// The flag and its value, as typed.
    typed: String,
    path: &'a Path,
    form: Form,
}

impl<'a> Output<'a> {
    /// A new file, if the flag is given.
    pub fn file(flag: &str, path: Option<&'a PathBuf>) -> Option<Output<'a>> {
        Output::of_flag(flag, path, Form::File)
    }

    /// A folder that is new, or empty, if the flag is given.
    pub fn folder(flag: &str, path: Option<&'a PathBuf>) -> Option<Output<'a>> {
        Output::of_flag(flag, path, Form::Folder)
    }

    /// A report: a file that is new or a report already, or standard output if that is asked for. What is never recognised as a
    /// report of this program is a new file.
    pub fn report(wanted: &'a Wanted) -> Output<'a> {
        let form = match wanted.output.made_of() {
            [Material::Log] => Form::File,
            _ if wanted.appended => Form::Appended,
            _ if wanted.output.prints() => Form::Printable,
            _ => Form::Report,
        };
        Output { typed: wanted.typed(), path: &wanted.path, form }
    }

    fn of_flag(flag: &str, path: Option<&'a PathBuf>, form: Form) -> Option<Output<'a>> {
        path.map(|path| Output { typed: format!("{flag} {}", path.display()), path, form })
    }
}

/// What a study is, where it cannot have what a single run has.
pub(super) const STUDY: &str = "a study of several runs (--sweep, --replications, or several models)";

/// What a command has to make reports of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its name, as in "a study".
    pub name: &'a str,
    /// Its document.
    pub document: Material,
    /// Why it has no records of single requests and what to do about that; none if it has them.
    pub no_records: Option<&'a str>,
    /// The same of a log of them.
    pub no_log: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// A run, or a simulated one, that keeps its records in a log, or does not for that reason.
    pub fn run(no_records: Option<&'a str>) -> Subject<'a> {
        Subject { name: "a run", document: Material::Summary, no_records, no_log: no_records }
    }

    /// A study, which keeps no records.
    pub fn study() -> Subject<'static> {
        let no_records = Some("a study keeps none; play one model once");
        Subject { name: STUDY, document: Material::Study, no_records, no_log: no_records }
    }

    /// What keeps records from being written in that form.
    fn lacks(&self, output: &dyn headway_report::Output) -> Option<&'a str> {
        match output.made_of() {
            [Material::Requests] => self.no_records,
            [Material::Log] => self.no_log,
            _ => None,
        }
    }

    fn offers(&self, output: &dyn headway_report::Output) -> bool {
        output.made_of().iter().any(|material| match material {
            Material::Requests | Material::Log => self.lacks(output).is_none(),
            document => *document == self.document,
        })
    }
}

/// Checks that every report can be made of the subject, and that at most one goes to standard output.
///
/// # Errors
/// The first that cannot be, with what can.
pub fn reports_fit(wanted: &[Wanted], subject: Subject<'_>) -> Result<()> {
    for one in wanted {
        let (typed, name) = (one.typed(), one.output.name());
        if one.is_of_log() && !headway_records::PARQUET {
            bail!(headway_records::Error::NotBuilt { path: one.path.clone() });
        }
        if let Some(why) = subject.lacks(one.output) {
            bail!("{typed}: {name} is made of the records of single requests, and {why}");
        }
        if !subject.offers(one.output) {
            let can: Vec<_> = headway_report::ALL.iter().copied().filter(|o| subject.offers(*o)).collect();
            bail!("{typed}: {name} cannot be made of {}; what can is {}", subject.name, names(&can));
        }
    }
    match wanted.iter().filter(|one| one.is_printed()).map(Wanted::typed).collect::<Vec<_>>()[..] {
        [ref first, ref second, ..] => {
            bail!("{first} and {second} both go to standard output; name a file for one of them")
        }
        _ => Ok(()),
    }
}

/// Checks that every place is free and can be made, and that none lies in or upon another.
///
/// Two folders may be one: the files that come into them have different names.
///
/// # Errors
/// What is wrong with the first that cannot be, with its flag and path.
pub fn outputs_fit(outputs: &[Output<'_>]) -> Result<()> {
    let mut placed: Vec<(&Output<'_>, PathBuf)> = Vec::with_capacity(outputs.len());
    for output in outputs {
        let path = output.path;
        if output.form == Form::Printable && path == Path::new("-") {
            continue;
        }
        is_free(output)?;
        placed.push((output, place(path)));
    }
    for (i, (one, one_place)) in placed.iter().enumerate() {
        for (other, other_place) in &placed[..i] {
            let folders = [one, other].map(|output| output.form == Form::Folder);
            let (within, around) = match () {
                () if folders == [true, true] => continue,
                () if one_place == other_place => {
                    bail!("{} and {} are the same place; name two", other.typed, one.typed)
                }
                () if one_place.starts_with(other_place) => (one, other),
                () if other_place.starts_with(one_place) => (other, one),
                () => continue,
            };
            let holds = match around.form {
                Form::Folder => "holds only what belongs to that folder",
                _ => "is to be a file",
            };
            bail!("{} lies within {}, which {holds}; name a place outside of it", within.typed, around.typed);
        }
    }
    placed.iter().try_for_each(|(output, _)| has_a_folder(output))
}

/// Refuses a place that is taken, or no place at all.
fn is_free(output: &Output<'_>) -> Result<()> {
    let (typed, path) = (&output.typed, output.path);
    let form = if output.form == Form::Folder { "folder" } else { "file" };
    if path == Path::new("-") {
        let printed: Vec<_> = headway_report::ALL.iter().copied().filter(|o| o.prints()).collect();
        bail!(
            "{typed}: this goes to a {form}, and only reports in {} go to standard output; name a {form} (./- if it is to be \
             called so)",
            names(&printed)
        );
    }
    if path.as_os_str().is_empty() {
        bail!("{typed}'': the name of a {form} is missing");
    }
    // A link that leads nowhere is there too.
    let exists = fs::symlink_metadata(path).is_ok();
    if output.form == Form::Folder {
        let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if exists && !empty() {
            bail!("{typed} exists, is not empty, and is never overwritten; choose another name");
        }
        return Ok(());
    }
    if exists && output.form == Form::File {
        bail!("{typed} exists and is never overwritten; choose another name");
    }
    if exists {
        return may_be_replaced(output);
    }
    if path.as_os_str().to_string_lossy().ends_with(MAIN_SEPARATOR) {
        bail!("{typed} is the name of a folder; name a file");
    }
    Ok(())
}

/// Refuses a file that holds something else than a report, and the files of a run. What is no file (a device, a pipe) is
/// written to.
fn may_be_replaced(output: &Output<'_>) -> Result<()> {
    let (typed, path) = (&output.typed, output.path);
    let Ok(found) = fs::metadata(path) else {
        bail!("{typed} is a link that leads nowhere; choose another name");
    };
    if found.is_dir() {
        bail!("{typed} is a folder; name a file");
    }
    if !found.is_file() {
        return Ok(());
    }
    let place = place(path);
    let marks = [headway_records::folder::PLAN, headway_report::study::JSON_FILE];
    let of_a_run = place.parent().is_some_and(|folder| marks.iter().any(|name| folder.join(name).is_file()));
    if of_a_run && OF_A_RUN.iter().any(|name| place.file_name().is_some_and(|own| own == *name)) {
        bail!("{typed} belongs to a run folder, and its files are never overwritten; choose another name");
    }
    if output.form == Form::Appended {
        return Ok(());
    }
    match is_a_report(path) {
        Ok(true) => Ok(()),
        Ok(false) => bail!(
            "{typed} exists and is not a report of headway, so it is never overwritten; choose another name"
        ),
        Err(error) => bail!("{typed} exists and cannot be read: {error}; choose another name"),
    }
}

/// Files of a run folder or the folder of a study.
const OF_A_RUN: [&str; 8] = [
    headway_records::folder::RECORDS,
    headway_records::folder::EVENTS,
    headway_records::folder::SUMMARY,
    headway_records::folder::PLAN,
    headway_records::folder::ARRIVALS,
    headway_records::folder::SCENARIO,
    headway_records::folder::REPORT,
    headway_report::study::JSON_FILE,
];

/// Refuses a file in a folder that is not there, or in which nothing can be made.
fn has_a_folder(output: &Output<'_>) -> Result<()> {
    let (typed, path) = (&output.typed, output.path);
    let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file());
    if output.form == Form::Folder || is_other || headway_live::host::is_open_here(path) {
        return Ok(());
    }
    let place = place(path);
    let Some(parent) = place.parent() else { return Ok(()) };
    if !parent.is_dir() {
        let named = path.parent().unwrap_or(parent);
        bail!("{typed}: there is no folder {}; make it first, or choose another", named.display());
    }
    if let Err(error) = tempfile::Builder::new().prefix(".unfinished-").tempfile_in(parent) {
        bail!("{typed}: nothing can be written to {}: {error}; choose another", parent.display());
    }
    Ok(())
}

/// The path in a form of which a place has one: absolute, without `.`, `..` and links as far as it exists.
fn place(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut place = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                place.pop();
            }
            named => {
                place.push(named);
                place = fs::canonicalize(&place).unwrap_or(place);
            }
        }
    }
    place
}
