//! A folder as a store: on this machine, or shared by several (NFS, Lustre).
//!
//! An object is a file. It is written under a passing name and then renamed, or, if it is not to replace another, renamed so that an
//! existing name stays (by a hard link where the file system cannot do that): create-once on NFS too.

use super::{Entry, Put, Store, StoreError, Why};
use headway_base::Nanos;
use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What the passing name of a file begins with that is being written.
const UNFINISHED: &str = ".unfinished-";

/// Coarsest tick of a kernel by which times of modification are stamped.
const TICK: Nanos = Nanos::from_millis(10);

/// How often a shard says how it stands.
const INTERVAL: Nanos = Nanos::from_secs(2);

/// A folder as a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// That folder, which need not be there yet.
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_owned() }
    }

    /// Where an object of that name is, or will be.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn failed(&self, name: &str, doing: &'static str, error: &io::Error) -> StoreError {
        use io::ErrorKind::{IsADirectory, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
        let refused = [PermissionDenied, ReadOnlyFilesystem, NotADirectory, IsADirectory];
        let why = if refused.contains(&error.kind()) { Why::Refused } else { Why::Failed };
        StoreError { place: self.path_of(name).display().to_string(), doing, why, what: error.to_string() }
    }

    /// The whole object under a passing name in its folder, on the disk.
    fn unfinished(&self, name: &str, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let path = self.path_of(name);
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder)?;
        let rights = Permissions::from_mode(0o666);
        let mut file = Builder::new().prefix(UNFINISHED).permissions(rights).tempfile_in(folder)?;
        file.write_all(bytes)?;
        // Other machines see the bytes before they see the name.
        file.as_file().sync_data()?;
        Ok(file)
    }

    fn walk(&self, folder: &Path, under: &str, into: &mut Vec<Entry>) -> io::Result<()> {
        for file in fs::read_dir(folder)? {
            let file = file?;
            let Ok(own) = file.file_name().into_string() else { continue };
            if own.starts_with(UNFINISHED) {
                continue;
            }
            let name = if under.is_empty() { own } else { format!("{under}/{own}") };
            // It may have been replaced or removed meanwhile.
            let Ok(found) = fs::metadata(file.path()) else { continue };
            match found.is_dir() {
                true => self.walk(&file.path(), &name, into)?,
                false => into.push(entry(name, &found)),
            }
        }
        Ok(())
    }
}

fn entry(name: String, found: &Metadata) -> Entry {
    let modified_unix_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
    Entry { name, size: found.len(), modified_unix_ns }
}

/// What there is, if there is anything.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(none) if none.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Store for Folder {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<Put, StoreError> {
        let path = self.path_of(name);
        let failed = |error: &io::Error| self.failed(name, "written", error);
        if found(fs::symlink_metadata(&path)).map_err(|error| failed(&error))?.is_some() {
            return Ok(Put::Taken);
        }
        let file = self.unfinished(name, bytes).map_err(|error| failed(&error))?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Put::Made),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => Ok(Put::Taken),
            Err(other) => Err(failed(&other.error)),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let file = self.unfinished(name, bytes);
        let placed = file.and_then(|file| Ok(file.persist(self.path_of(name))?));
        placed.map(drop).map_err(|error| self.failed(name, "written", &error))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        found(fs::read(self.path_of(name))).map_err(|error| self.failed(name, "read", &error))
    }

    fn entry(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        let found = found(fs::metadata(self.path_of(name)));
        let found = found.map_err(|error| self.failed(name, "read", &error))?;
        Ok(found.filter(|found| !found.is_dir()).map(|found| entry(name.to_owned(), &found)))
    }

    fn list(&self, under: &str) -> Result<Vec<Entry>, StoreError> {
        let mut all = Vec::new();
        found(self.walk(&self.path_of(under), under, &mut all))
            .map_err(|error| self.failed(under, "listed", &error))?;
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn resolution(&self) -> Nanos {
        TICK
    }

    fn interval(&self) -> Nanos {
        INTERVAL
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Names that two processes both try to make.
    const NAMES: usize = 100;
    /// Where the other process of the race is to write; set in it alone.
    const RACE: &str = "HEADWAY_TEST_RACE";

    fn text(by: u32, number: usize) -> String {
        format!("{by} wrote {number}: {}", "x".repeat(10_000))
    }

    #[test]
    fn of_two_processes_one_makes_each_object_and_none_sees_half_of_one() {
        let race = |store: &Folder, by: u32| -> Vec<usize> {
            let made = |number: &usize| {
                let put = store.put_new(&format!("race/{number}"), text(by, *number).as_bytes()).unwrap();
                // Whoever made it, it is complete.
                let read = store.get(&format!("race/{number}")).unwrap().unwrap();
                assert_eq!(read.len(), text(by, *number).len());
                put == Put::Made
            };
            (0..NAMES).filter(made).collect()
        };
        if let Some(place) = std::env::var_os(RACE) {
            let made = race(&Folder::new(Path::new(&place)), 2);
            println!("made {made:?}");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args([
            "--exact",
            "--nocapture",
            "destination::folder::tests::of_two_processes_one_makes_each_object_and_none_sees_half_of_one",
        ]);
        let other = other.env(RACE, place.path()).stdout(Stdio::piped()).spawn().unwrap();
        let store = Folder::new(place.path());
        // Until the other has begun there is no race.
        while store.get("race/0").unwrap().is_none() {
            std::thread::yield_now();
        }
        let own = race(&store, 1);
        let other = other.wait_with_output().unwrap();
        assert!(other.status.success());
        let told = String::from_utf8(other.stdout).unwrap();
        let told = told.split_once("made [").unwrap().1.split_once(']').unwrap().0;
        let others: Vec<usize> =
            told.split(", ").filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
        let mut all: Vec<usize> = own.iter().chain(&others).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..NAMES).collect::<Vec<_>>(), "each was made once");
        for (by, made) in [(1, &own), (2, &others)] {
            for number in made {
                assert_eq!(
                    store.get(&format!("race/{number}")).unwrap().unwrap(),
                    text(by, *number).as_bytes()
                );
            }
        }
        assert_eq!(store.list("race").unwrap().len(), NAMES, "nothing is left beside them");
        assert_eq!(fs::read_dir(place.path().join("race")).unwrap().count(), NAMES);
    }

    #[test]
    fn objects_are_replaced_read_and_listed() {
        let place = tempfile::tempdir().unwrap();
        let store = Folder::new(&place.path().join("new"));
        assert_eq!(store.list("").unwrap(), [], "a place that is not there holds nothing");
        assert_eq!((store.get("0/a").unwrap(), store.entry("0/a").unwrap()), (None, None));
        assert_eq!(store.put_new("0/a", b"one").unwrap(), Put::Made);
        assert_eq!(store.put_new("0/a", b"two").unwrap(), Put::Taken);
        assert_eq!(store.get("0/a").unwrap().unwrap(), b"one");
        store.put("0/a", b"three").unwrap();
        store.put("run", b"").unwrap();
        let names = |under: &str| -> Vec<(String, u64)> {
            store.list(under).unwrap().into_iter().map(|entry| (entry.name, entry.size)).collect()
        };
        assert_eq!(names(""), [("0/a".to_owned(), 5), ("run".to_owned(), 0)]);
        assert_eq!(names("0"), [("0/a".to_owned(), 5)]);
        assert_eq!(names("1"), []);
        let entry = store.entry("0/a").unwrap().unwrap();
        assert_eq!(entry, store.list("0").unwrap()[0]);
        let now = headway_live::clock::unix_now();
        let age = now - entry.modified_unix_ns;
        assert!((-i128::from(TICK.0)..60_000_000_000).contains(&age), "{age} ns");
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, b"").unwrap();
        let error = Folder::new(&path).put_new("run.json", b"").unwrap_err();
        assert_eq!(error.why, Why::Refused);
        let told = error.to_string();
        assert!(told.contains("file/run.json cannot be written: ") && told.contains("directory"), "{told}");
    }
}
