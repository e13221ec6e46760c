//! A [`Summary`] in, bytes out: what a run, a simulation or an audit looks like to people and to programs.
//!
//! One file or folder per output and the slice [`ALL`]; help texts, error messages and the conformance test iterate
//! it. Adding an output = copy a neighbour, add one line to the slice. What several outputs say alike lives beside
//! them: numbers in [`mod@format`], sentences in [`words`]. Tables for other programs are several files and so no
//! [`Output`]: [`mod@csv`].
//!
//! Deliberately absent: computing statistics (every number comes from the summary), files, clocks, the terminal, and
//! the environment. Whether to use colour is the caller's decision, and the caller writes the bytes.

pub mod beside;
mod brady;
pub mod csv;
pub mod format;
pub mod html;
pub mod json;
pub mod junit;
pub mod study;
pub mod terminal;
pub mod words;

pub use json::{ReadError, parse};

use headway_stats::Summary;

/// What the caller knows about the place where the report will be seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether ANSI colours may be used: a terminal, and `NO_COLOR` not set.
    pub colour: bool,
    /// The exact command that repeats the run; if none, the summary's own command.
    pub repeat: Option<String>,
    /// Where the run's files are.
    pub folder: Option<String>,
    /// More lines for the end of a report, each a name and a text (`report`, `thresholds`, ...).
    pub notes: Vec<(String, String)>,
}

/// One way to show a summary.
pub trait Output: Sync {
    /// The word that selects it.
    fn name(&self) -> &'static str;
    /// One line for help texts.
    fn about(&self) -> &'static str;
    /// The file name it has in a run folder.
    fn file_name(&self) -> &'static str;
    /// The report. Any summary can be shown, an empty one too.
    fn render(&self, summary: &Summary, style: &Style) -> Vec<u8>;
}

/// Every output.
pub const ALL: &[&dyn Output] = &[&terminal::Terminal, &json::Json, &html::Html, &junit::Junit];

/// The output of that name, if there is one.
pub fn find(name: &str) -> Option<&'static dyn Output> {
    ALL.iter().copied().find(|output| output.name() == name)
}
