//! What a format is.

use crate::error::Error;
use crate::options::Options;
use crate::rows::Rows;
use headway_base::Nanos;
use std::path::Path;

/// One tool's format. Trait objects are called per block of bytes, not per row.
pub trait Format: Sync {
    /// A short word: `jmeter-csv`.
    fn name(&self) -> &'static str;
    /// One line for help and documents: which tool writes it, and with which option.
    fn about(&self) -> &'static str;
    /// Whether a file that begins with these bytes (up to 64 KiB, decompressed, without a byte order mark) is of this
    /// format. No two formats may say yes to one file, except that the first in [`crate::formats::ALL`] wins.
    fn recognise(&self, head: &[u8]) -> bool;
    /// A reader of such a file. `path` is for messages, and for formats that are databases.
    ///
    /// # Errors
    /// [`Error::NoStarts`] for a format that holds no single requests; [`Error::Option`].
    fn reader(&self, path: &Path, options: &Options) -> Result<Box<dyn Reader>, Error>;
    /// Whether the reader opens `path` itself (a database) and takes no bytes: [`Reader::read`] is then called with none
    /// until it says that it has reached the end by returning 0.
    fn opens_itself(&self) -> bool {
        false
    }
}

/// Reads one file of one format, block by block.
pub trait Reader: Send {
    /// Reads as many complete rows as there are at the beginning of `bytes` and returns how many bytes it took; the rest
    /// comes again in front of what follows. With `last` nothing follows: it takes everything, and an incomplete row is
    /// unreadable. It takes nothing only if `bytes` holds no complete row. A byte order mark is already gone.
    ///
    /// Rows whose stamps are known to be ends are converted to starts here; where that cannot be known from the format
    /// ([`Stamps::Ambiguous`]) the stamps are taken for starts.
    ///
    /// # Errors
    /// What leaves no way to go on. A row that cannot be read is [`Rows::bad`], and the next is tried.
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error>;
    /// What is known of the file; asked after the last row too.
    fn facts(&self) -> Facts;
}

/// Which end of a request the stamps in the file tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stamps {
    /// The start.
    #[default]
    Start,
    /// The end: the start is the end less the time it took, and no more exact than both.
    End,
    /// The tool can be set to either.
    Ambiguous,
}

/// Which requests a file has the outcome of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcomes {
    /// All.
    #[default]
    All,
    /// Only those in it: a sentence says which failures never become a row.
    Some(&'static str),
    /// None: a row does not say whether its request failed.
    None,
}

/// What the stamps count from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// The Unix epoch: several files can be laid over each other as far as their clocks agree.
    #[default]
    Unix,
    /// The tool's own start.
    Relative,
}

/// What is known of a file beside its rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// Format in words: `JMeter CSV`.
    pub format: String,
    /// Tool and version, if the file says.
    pub tool: Option<String>,
    /// Start or end.
    pub stamps: Stamps,
    /// What a stamp's last digit is worth; the stamps may be coarser than that, never finer.
    pub resolution: Nanos,
    /// What they count from.
    pub clock: Clock,
    /// Whether `user` names who sent the request.
    pub users: bool,
    /// Whether there are rows of [`headway_base::Kind::Session`].
    pub sessions: bool,
    /// Whether `intended` is known apart from `started`.
    pub intended: bool,
    /// Whether `done` is known (else the rows have no response times: `done` is `started`).
    pub ends: bool,
    /// Whether `bytes_received` is known.
    pub bytes: bool,
    /// Which requests it has the outcome of.
    pub outcomes: Outcomes,
    /// What else this file cannot tell, a sentence each: `Users have no numbers in it.`
    pub missing: Vec<String>,
    /// The option of the tool that gives finer stamps, if there is one.
    pub finer: Option<&'static str>,
}
