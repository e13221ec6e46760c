//! Small files that flags name.

use std::fs;

/// The times in a file, one a line, with their units; empty lines and comments (#) are passed over.
///
/// # Errors
/// The file cannot be read, or a line is not a time; in words, with the line.
pub fn times_in_file(path: &str) -> Result<Vec<f64>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("a file that can be read ({e})"))?;
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let time = base::units::parse_time(line);
            time.map(base::Nanos::as_secs_f64).map_err(|e| format!("a file of times: line {number}: {e}"))
        })
        .collect()
}
