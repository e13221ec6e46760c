//! What the user says about the files.

use jiff::tz::TimeZone;

/// What cannot be read off a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// The access log's format string, as in the server's configuration; none: the server's default.
    pub log_format: Option<String>,
    /// Which column holds what, for CSV files of no known tool: `start=ts,elapsed=ms,label=name`.
    pub columns: Option<String>,
    /// The zone of local times that name none.
    pub zone: TimeZone,
}

impl Default for Options {
    fn default() -> Options {
        Options { log_format: None, columns: None, zone: TimeZone::UTC }
    }
}
