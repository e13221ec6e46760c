//! Files that flags and scenarios name, read whole and within bounds, and reports in files, written whole.

use crate::Error;
use anyhow::{Context as _, Result, anyhow};
use headway_base::dist::MOST_BYTES_OF_TIMES;
use headway_records::RunFolder;
use headway_report::Output as _;
use headway_stats::study::Study;
use std::fs::{self, File, FileType, Metadata, Permissions};
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Most bytes that are read of a scenario file.
pub const MOST_OF_A_SCENARIO: u64 = headway_workload::scenario::LONGEST_FILE as u64;

/// Most bytes that are read of any other file: bodies, tables of data, recordings.
pub const MOST: u64 = 1 << 30;

/// What is at a path that the user named.
///
/// # Errors
/// There is nothing: names the path and what would be accepted, in words that follow "name".
pub fn named(path: &Path, accepted: &str) -> Result<Metadata, Error> {
    fs::metadata(path).map_err(|error| Error::usage(anyhow!("{}: {error}; name {accepted}", path.display())))
}

/// The bytes of a file, a pipe (`<(command)`, `/dev/stdin`) or a terminal.
///
/// # Errors
/// It cannot be read, is a device that may never end, or holds more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::other("it is a folder and not a file"));
    }
    if is_device(found.file_type()) && !file.is_terminal() {
        return Err(io::Error::other("it is a device; write the name of a file or of a pipe"));
    }
    let too_long = || io::Error::other(format!("it is longer than {}, the most that is read", size(most)));
    if found.is_file() && found.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Programs that show a page, the first that starts.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Why a page is not shown.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum NotOpened {
    /// None is written or kept.
    #[error("--open: there is no page to open: --html FILE writes one")]
    NoPage,
    /// `CI` is set, where no desktop is expected.
    #[error("--open: nothing is opened where CI is set; open {} by hand", page.display())]
    InCi {
        /// The page.
        page: PathBuf,
    },
    /// No program that shows pages can be started.
    #[error("--open: neither {} can be started; open {} by hand", OPENERS.join(" nor "), page.display())]
    NoOpener {
        /// The page.
        page: PathBuf,
    },
}

/// Shows a page with the program that this desktop has for it; waits neither for it nor for the reader.
///
/// # Errors
/// There is no page, no such program, or `CI` is set.
pub fn open_page(page: Option<&Path>) -> Result<(), NotOpened> {
    let page = page.ok_or(NotOpened::NoPage)?;
    if std::env::var_os("CI").is_some_and(|set| !set.is_empty()) {
        return Err(NotOpened::InCi { page: page.to_owned() });
    }
    let quiet = || std::process::Stdio::null();
    let start = |opener| {
        std::process::Command::new(opener).arg(page).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn()
    };
    match OPENERS.into_iter().any(|opener| start(opener).is_ok()) {
        true => Ok(()),
        false => Err(NotOpened::NoOpener { page: page.to_owned() }),
    }
}

/// Writes a report to the file `path`, which has it complete or not at all.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Replacement::begin(path)?;
    file.write_all(bytes).with_context(|| failed(path))?;
    file.finish()
}

fn failed(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// Writes what belongs into the folder of a study; what could not be written.
pub fn study_folder(study: &Study, scenario: &str, folder: &RunFolder) -> Vec<Result<()>> {
    let style = headway_report::Style::default();
    let page = headway_report::html::Html.study(study, &style).unwrap_or_default();
    let files = [
        (headway_report::study::JSON_FILE, headway_report::json::of_study(study)),
        (headway_records::folder::SCENARIO, scenario.as_bytes().to_owned()),
        (headway_records::folder::REPORT, page),
    ];
    files.iter().map(|(name, bytes)| folder.write_new(name, bytes).map(drop).map_err(Into::into)).collect()
}

/// A report being written. A file that is there is replaced when all is written; a link is followed; a device or a pipe is
/// written to.
pub struct Replacement {
    path: PathBuf,
    file: Unplaced,
}

enum Unplaced {
    Device(File),
    File(NamedTempFile, PathBuf),
}

impl Replacement {
    /// Begins to write.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn begin(path: &Path) -> Result<Replacement> {
        let failed = || failed(path);
        let found = fs::metadata(path);
        if headway_live::host::is_open_here(path) || found.as_ref().is_ok_and(|found| !found.is_file()) {
            let file = File::options().append(true).open(path).with_context(failed)?;
            return Ok(Replacement { path: path.to_owned(), file: Unplaced::Device(file) });
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let rights = found.map_or_else(|_| Permissions::from_mode(0o666), |found| found.permissions());
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = tempfile::Builder::new().prefix(".unfinished-").permissions(rights).tempfile_in(folder);
        Ok(Replacement { path: path.to_owned(), file: Unplaced::File(made.with_context(failed)?, place) })
    }

    /// Gives the file its name. One that is dropped without leaves nothing behind.
    ///
    /// # Errors
    /// The disk is full, or the name cannot be given.
    pub fn finish(self) -> Result<()> {
        let Unplaced::File(file, place) = self.file else { return Ok(()) };
        // A disk may report late that it is full: before the file has its name.
        file.as_file().sync_data().with_context(|| failed(&self.path))?;
        file.persist(place).with_context(|| failed(&self.path))?;
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Unplaced::Device(file) => file.write(bytes),
            Unplaced::File(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Unplaced::Device(file) => file.flush(),
            Unplaced::File(file, _) => file.flush(),
        }
    }
}

/// Whether a file may be replaced by a report: it is empty, or a report of this program.
///
/// # Errors
/// It cannot be read.
pub fn is_a_report(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4_096).read_to_end(&mut start)?;
    let text = String::from_utf8_lossy(&start);
    Ok(start.is_empty() || headway_report::ALL.iter().any(|output| output.recognises(&text)))
}

fn is_device(of: FileType) -> bool {
    of.is_char_device() || of.is_block_device()
}

/// A limit in the largest unit that it is a whole number of.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(bits, _)| bytes.trailing_zeros() >= *bits) {
        Some((bits, unit)) => format!("{} {unit}", bytes >> bits),
        None => format!("{bytes} bytes"),
    }
}

/// The times in a file, one a line, with their units; empty lines and comments (#) are passed over.
///
/// # Errors
/// The file cannot be read, or a line is not a time; in words, with the line.
pub fn times_in_file(path: &str) -> Result<Vec<f64>, String> {
    let refused = |why: &dyn std::fmt::Display| format!("a file that can be read ({why})");
    let bytes = read(Path::new(path), MOST_BYTES_OF_TIMES as u64).map_err(|e| refused(&e))?;
    let text = String::from_utf8(bytes).map_err(|e| refused(&e))?;
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let time = headway_base::units::parse_time(line);
            time.map(headway_base::Nanos::as_secs_f64)
                .map_err(|e| format!("a file of times: line {number}: {e}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_report::Document;
    use std::os::unix::fs::symlink;

    #[test]
    fn devices_and_what_is_too_long_are_refused_with_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("of-four");
        fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let too_long = read(&path, 3).unwrap_err().to_string();
        assert_eq!(too_long, "it is longer than 3 bytes, the most that is read");
        let device = read(Path::new("/dev/zero"), MOST).unwrap_err().to_string();
        assert!(device.contains("it is a device"), "{device}");
        assert!(times_in_file("/dev/zero").unwrap_err().contains("it is a device"));
        assert_eq!(
            [size(MOST_OF_A_SCENARIO), size(MOST_BYTES_OF_TIMES as u64), size(MOST)],
            ["16 MiB", "256 MiB", "1 GiB"]
        );
    }

    #[test]
    fn a_report_appears_whole_in_the_place_of_another_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("real"), "old").unwrap();
        fs::set_permissions(at("real"), Permissions::from_mode(0o640)).unwrap();
        symlink("real", at("link")).unwrap();
        let reading = File::open(at("real")).unwrap();
        replace(&at("link"), b"new").unwrap();
        assert_eq!(fs::read(at("real")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::metadata(at("real")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(io::read_to_string(reading).unwrap(), "old", "it is replaced and not written over");
        replace(&at("other"), b"one").unwrap();
        replace(Path::new("/dev/null"), b"one").unwrap();
        let full = format!("{:#}", replace(Path::new("/dev/full"), b"one").unwrap_err());
        assert!(full.contains("/dev/full cannot be written") && full.contains("No space left"), "{full}");
        assert!(replace(&at("none/x"), b"one").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_report_is_known_from_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let is = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            is_a_report(&path).unwrap()
        };
        let summary = headway_stats::Summary { schema: "headway.summary/2".into(), ..Default::default() };
        let study = headway_stats::study::Study { schema: "headway.study/2".into(), ..Default::default() };
        let style = headway_report::Style::default();
        let documents = [Document::Summary(&summary), Document::Study(&study)];
        for output in headway_report::ALL.iter().filter(|output| output.name() != "terminal") {
            for bytes in documents.iter().filter_map(|document| output.render(*document, &style)) {
                assert!(is(&bytes), "{}", output.name());
            }
        }
        assert!(is(b""));
        for other in [
            &b"mine"[..],
            b"{\"a\": 1}",
            b"<!DOCTYPE html><title>mine</title>",
            b"<?xml version='1.0'?><a/>",
            b"\xff\xfe",
        ] {
            assert!(!is(other), "{other:?}");
        }
    }

    #[test]
    fn a_pipe_is_read_to_its_end_and_no_further_than_the_limit() {
        let through = |bytes: &'static [u8], most: u64| {
            use std::io::Write as _;
            use std::os::fd::AsRawFd as _;
            let (reader, mut writer) = io::pipe().unwrap();
            let writing = std::thread::spawn(move || writer.write_all(bytes));
            let read = read(Path::new(&format!("/dev/fd/{}", reader.as_raw_fd())), most);
            writing.join().unwrap().unwrap();
            read
        };
        assert_eq!(through(b"users", 5).unwrap(), b"users");
        assert!(through(b"users", 4).unwrap_err().to_string().contains("longer than 4 bytes"));
    }
}
