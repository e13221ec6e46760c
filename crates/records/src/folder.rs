//! The folder of a run: which files it has, and that none is ever overwritten.
//!
//! Deliberately absent: the clock. The time in a folder's name comes in as text.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::atomic_file::{PendingFile, folder_of};
use crate::error::Error;

/// The log: an Arrow IPC stream.
pub const RECORDS: &str = "records.arrow";
/// The events of responses: a second Arrow IPC stream, of runs in which steps ask for them.
pub const EVENTS: &str = "events.arrow";
/// The summary, as printed by `--json`.
pub const SUMMARY: &str = "summary.json";
/// The plan that was run.
pub const PLAN: &str = "plan.json";
/// When each arrival of a log is due that a plan repeats: 8 bytes each, nanoseconds since the plan's zero, little-endian; of several
/// groups one after the other.
pub const ARRIVALS: &str = "arrivals.bin";
/// The scenario file that the run came from, as written.
pub const SCENARIO: &str = "scenario.yaml";
/// The report for people.
pub const REPORT: &str = "report.html";

/// Characters of a run's name that enter its folder's name.
const NAME_CHARS: usize = 64;
/// Bytes that file systems allow in a name.
const NAME_BYTES: usize = 255;
/// Runs of one name within one time stamp.
const SAME_NAMES: u32 = 10_000;

/// The folder of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates `<parent>/<stamp>-<name>`, with `-2`, `-3` and so on appended if that is taken, and `parent` if
    /// there is none. In name and stamp all but letters, digits, `.`, `_` and `-` become `-`, and a name is cut at 64
    /// characters.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be made; [`Error::Exists`] if 10,000 of that name are there.
    pub fn create(parent: &Path, name: &str, stamp: &str) -> Result<RunFolder, Error> {
        let make = |path: &Path, source| Error::io(path, "create the run folder", source);
        fs::create_dir_all(parent).map_err(|source| make(parent, source))?;
        let parts = [plain(stamp), plain(name)];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let stem = if parts.is_empty() { "run".to_string() } else { parts.join("-") };
        for number in 1..=SAME_NAMES {
            let path = match number {
                1 => parent.join(&stem),
                _ => parent.join(format!("{stem}-{number}")),
            };
            // create_dir itself is the test: between asking and making, another run could take the name.
            match fs::create_dir(&path) {
                Ok(()) => return Ok(RunFolder { path }),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(make(&path, source)),
            }
        }
        Err(Error::Exists { path: parent.join(stem) })
    }

    /// Creates the folder `path` and its parents, or takes it if it is there and empty.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is something in it, or it is a file; [`Error::Io`].
    pub fn create_exact(path: &Path) -> Result<RunFolder, Error> {
        let make = |source| Error::io(path, "create the run folder", source);
        fs::create_dir_all(folder_of(path)).map_err(make)?;
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {
                let is_empty = path.is_dir()
                    && fs::read_dir(path).map_err(make)?.next().transpose().map_err(make)?.is_none();
                if !is_empty {
                    return Err(Error::Exists { path: path.to_path_buf() });
                }
            }
            Err(source) => return Err(make(source)),
        }
        Ok(RunFolder { path: path.to_path_buf() })
    }

    /// The folder `path`, which is made if it is not there, whatever it holds: for one of which the caller knows that no other run writes there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn within(path: &Path) -> Result<RunFolder, Error> {
        fs::create_dir_all(path).map_err(|source| Error::io(path, "create the run folder", source))?;
        Ok(RunFolder { path: path.to_path_buf() })
    }

    /// Opens the run at `path`: its folder, or the log in it.
    ///
    /// # Errors
    /// [`Error::NoRun`] if there is nothing; [`Error::NotAFolder`] if it is another file; [`Error::NotARun`] naming what is
    /// missing if there is no log in it. The other files may be missing, as they are after a kill -9.
    pub fn open(path: &Path) -> Result<RunFolder, Error> {
        let found = fs::metadata(path).map_err(|source| Error::NoRun { path: path.to_path_buf(), source })?;
        let is_log = found.is_file() && path.file_name() == Some(OsStr::new(RECORDS));
        if found.is_file() && !is_log {
            return Err(Error::NotAFolder { path: path.to_path_buf() });
        }
        let folder = if is_log { folder_of(path) } else { path };
        let run = RunFolder { path: folder.to_path_buf() };
        if run.records().is_file() {
            return Ok(run);
        }
        let names = [RECORDS, PLAN, SUMMARY];
        let missing = names.into_iter().filter(|name| !run.path.join(name).is_file()).collect();
        Err(Error::NotARun { path: run.path, missing })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the log is.
    pub fn records(&self) -> PathBuf {
        self.path.join(RECORDS)
    }

    /// Where the events of responses are, if there are any.
    pub fn events(&self) -> PathBuf {
        self.path.join(EVENTS)
    }

    /// Where the summary is, or will be.
    pub fn summary(&self) -> PathBuf {
        self.path.join(SUMMARY)
    }

    /// Where the plan is, or will be.
    pub fn plan(&self) -> PathBuf {
        self.path.join(PLAN)
    }

    /// Where the report is, or will be.
    pub fn report(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// Writes a new file `name` into the folder; it appears complete or not at all. Its path.
    ///
    /// # Errors
    /// [`Error::Name`] if `name` is more than a plain file name; [`Error::Exists`] if the file exists; [`Error::Io`].
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let mut components = Path::new(name).components();
        let is_plain = matches!(components.next(), Some(Component::Normal(only)) if only == OsStr::new(name))
            && name.len() <= NAME_BYTES;
        if !is_plain {
            return Err(Error::Name { name: name.to_string() });
        }
        let path = self.path.join(name);
        let (pending, mut file) = PendingFile::beside(&path)?;
        file.write_all(bytes)
            .and_then(|()| file.sync_data())
            .map_err(|source| Error::io(&path, "write it", source))?;
        pending.persist()?;
        Ok(path)
    }
}

/// Where the events of responses stand, if there are any, of the run whose records are at that place.
pub fn events_beside(records: &Path) -> PathBuf {
    folder_of(records).join(EVENTS)
}

/// `text` as a part of a file name on any system: never a path, never hidden, never too long.
fn plain(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let safe: String = text.chars().take(NAME_CHARS).map(|c| if is_safe(c) { c } else { '-' }).collect();
    safe.trim_matches(['.', '-']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_plain() {
        let check = |name: &str, expected: &str| assert_eq!(plain(name), expected);
        check("bars", "bars");
        check("../../etc/passwd", "etc-passwd");
        check("http://127.0.0.1:8080/a?b=c", "http---127.0.0.1-8080-a-b-c");
        check("caf\u{e9} \u{1f68c}", "caf");
        check("..", "");
        check(&"x".repeat(1000), &"x".repeat(64));
    }

    #[test]
    fn a_name_taken_gets_a_number() {
        let parent = tempfile::tempdir().unwrap();
        let made: Vec<String> = (0..3)
            .map(|_| RunFolder::create(&parent.path().join("runs"), "bars", "20260102-030405").unwrap())
            .map(|run| run.path().file_name().unwrap().to_str().unwrap().to_string())
            .collect();
        assert_eq!(made, ["20260102-030405-bars", "20260102-030405-bars-2", "20260102-030405-bars-3"]);
        let nameless = RunFolder::create(parent.path(), "..", "").unwrap();
        assert_eq!(nameless.path(), parent.path().join("run"));
    }

    #[test]
    fn an_exact_folder_is_new_or_empty() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let run = RunFolder::create_exact(&path).unwrap();
        assert_eq!(RunFolder::create_exact(&path).unwrap(), run);
        run.write_new(PLAN, b"{}").unwrap();
        assert!(matches!(RunFolder::create_exact(&path), Err(Error::Exists { .. })));
        assert!(matches!(RunFolder::create_exact(&run.plan()), Err(Error::Exists { .. })));
    }

    #[test]
    fn files_are_never_overwritten_and_leave_nothing_beside_them() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::create_exact(parent.path()).unwrap();
        assert_eq!(run.write_new(SUMMARY, b"one").unwrap(), run.summary());
        assert!(matches!(run.write_new(SUMMARY, b"two"), Err(Error::Exists { .. })));
        assert_eq!(fs::read(run.summary()).unwrap(), b"one");
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1);
        for name in ["", ".", "..", "a/b", "/etc/x", "a/"] {
            assert!(matches!(run.write_new(name, b""), Err(Error::Name { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_run_is_found_by_its_folder_or_its_log_and_what_is_missing_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunFolder::create_exact(parent.path()).unwrap();
        let error = RunFolder::open(run.path()).unwrap_err().to_string();
        let missing = "no records.arrow, no plan.json, no summary.json in it; name the folder of a run";
        assert!(error.contains(missing), "{error}");
        fs::write(run.records(), b"").unwrap();
        assert_eq!(RunFolder::open(run.path()).unwrap(), run);
        assert_eq!(RunFolder::open(&run.records()).unwrap(), run);
        let none = RunFolder::open(&run.path().join("none")).unwrap_err();
        assert!(matches!(none, Error::NoRun { .. }));
        assert!(none.to_string().ends_with("name the folder of a run, or the records.arrow in it"), "{none}");
        fs::write(run.summary(), b"").unwrap();
        assert!(matches!(RunFolder::open(&run.summary()), Err(Error::NotAFolder { .. })));
    }
}
