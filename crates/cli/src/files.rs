//! Files that flags and scenarios name, read whole and within bounds.

use base::dist::MOST_BYTES_OF_TIMES;
use std::fs::{File, FileType};
use std::io::{self, IsTerminal as _, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Most bytes that are read of a scenario file.
pub const MOST_OF_A_SCENARIO: u64 = 16 << 20;

/// Most bytes that are read of any other file: bodies, tables of data, recordings.
pub const MOST: u64 = 1 << 30;

/// The bytes of a file, a pipe (`<(command)`, `/dev/stdin`) or a terminal.
///
/// # Errors
/// It cannot be read, is a device that may never end, or holds more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
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
            let time = base::units::parse_time(line);
            time.map(base::Nanos::as_secs_f64).map_err(|e| format!("a file of times: line {number}: {e}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
