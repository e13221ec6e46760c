//! A [`Summary`] or a [`Study`] in, bytes out: what results look like to people and to programs.
//!
//! One file or folder per output and the slice [`ALL`]; help texts, error messages and the conformance test iterate
//! it. Adding an output = copy a neighbour, add one line to the slice. What several outputs say alike lives beside
//! them: numbers in [`mod@format`], sentences in [`words`]. Tables for other programs are several files and so no
//! [`Output`]: [`mod@csv`].
//!
//! Deliberately absent: computing statistics (every number comes from the summary), files, clocks, the terminal, and
//! the environment. Whether to use colour is the caller's decision, and the caller writes the bytes.

mod brady;
mod content;
pub mod csv;
pub mod doctor;
pub mod format;
mod hlog;
pub mod html;
pub mod json;
pub mod junit;
mod markdown;
mod metrics;
mod openmetrics;
#[cfg(feature = "otlp")]
pub mod otlp;
mod parquet;
mod requests;
mod requests_csv;
pub mod study;
pub mod terminal;
mod texts;
mod v1;
pub mod words;

pub use json::{ReadError, parse};
pub use requests::{Origin, Requests};

use headway_redact::Cleared;
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;
use std::fmt;

/// What the caller knows about the place where the report will be seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether ANSI colours may be used: a terminal, and `NO_COLOR` not set.
    pub colour: bool,
    /// Whether the terminal shows all there is to a run, and not one screen.
    pub details: bool,
    /// Columns of the terminal, where it is known; a first screen uses 80 to 120.
    pub width: Option<usize>,
    /// Whether the terminal shows a histogram of the response times.
    pub histogram: bool,
    /// The exact command that repeats the run; if none, the summary's own command.
    pub repeat: Option<Cleared>,
    /// Where the run's files are.
    pub folder: Option<Cleared>,
    /// The command to type next; if none, the one that shows more of the same.
    pub next: Option<Cleared>,
    /// More lines for the end of a report, each a name and a text (`report`, `thresholds`, ...).
    pub notes: Vec<(Cleared, Cleared)>,
}

/// What an output can be made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Material {
    /// The summary of a run, a simulation or an audit.
    Summary,
    /// The study of several simulated runs.
    Study,
    /// The comparison of several runs.
    Comparison,
    /// A search for the highest rate.
    Search,
    /// The numbers of a lab; the lab renders them.
    Lab,
    /// The records of single requests.
    Requests,
    /// The run's log as it is on disk; its reader writes the file, nothing here does.
    Log,
}

impl Material {
    /// What it is, for tables.
    pub fn about(self) -> &'static str {
        match self {
            Material::Summary => "run, simulation, audit",
            Material::Study => "study",
            Material::Comparison => "comparison",
            Material::Search => "search",
            Material::Lab => "lab",
            Material::Requests => "records of a run or an audit",
            Material::Log => "records of a run",
        }
    }
}

/// What is to be shown.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// A run, a simulation or an audit.
    Summary(&'a Summary),
    /// Several simulated runs.
    Study(&'a Study),
    /// Several runs beside each other.
    Comparison(&'a Comparison),
    /// Searches for the highest rate, one for each target.
    Search(&'a Searched),
}

/// One way to show results.
pub trait Output: Sync {
    /// The word that selects it.
    fn name(&self) -> &'static str;
    /// One line for help texts.
    fn about(&self) -> &'static str;
    /// Endings of the file names that select it, without the dot; the usual one first.
    fn extensions(&self) -> &'static [&'static str];
    /// What it can be made of.
    fn made_of(&self) -> &'static [Material];
    /// Whether it may go to standard output: text that is read or piped, and not a page or a binary file.
    fn prints(&self) -> bool {
        true
    }
    /// Whether a file that begins so (up to 4 KiB) is one of these, so that a new one may replace it.
    fn recognises(&self, start: &str) -> bool;
    /// A summary in this form, an empty one too; none if it is not made of summaries.
    fn summary(&self, summary: &Summary, style: &Style) -> Option<Vec<u8>> {
        let _ = (summary, style);
        None
    }
    /// A study in this form; none if it is not made of studies.
    fn study(&self, study: &Study, style: &Style) -> Option<Vec<u8>> {
        let _ = (study, style);
        None
    }
    /// A comparison in this form; none if it is not made of comparisons.
    fn comparison(&self, comparison: &Comparison, style: &Style) -> Option<Vec<u8>> {
        let _ = (comparison, style);
        None
    }
    /// A search in this form; none if it is not made of searches.
    fn search(&self, searched: &Searched, style: &Style) -> Option<Vec<u8>> {
        let _ = (searched, style);
        None
    }
    /// What writes single requests in this form; none if it is not made of them.
    fn requests(&self, origin: Origin) -> Option<Box<dyn Requests>> {
        let _ = origin;
        None
    }
    /// The document in this form; none if it is not made of such documents.
    fn render(&self, document: Document<'_>, style: &Style) -> Option<Vec<u8>> {
        match document {
            Document::Summary(summary) => self.summary(summary, style),
            Document::Study(study) => self.study(study, style),
            Document::Comparison(comparison) => self.comparison(comparison, style),
            Document::Search(searched) => self.search(searched, style),
        }
    }
}

impl fmt::Debug for dyn Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every output.
pub const ALL: &[&dyn Output] = &[
    &terminal::Terminal,
    &json::Json,
    &html::Html,
    &markdown::Markdown,
    &junit::Junit,
    &openmetrics::OpenMetrics,
    &hlog::Hlog,
    &requests_csv::RequestsCsv,
    &parquet::Parquet,
];

/// The output of that name, if there is one.
pub fn find(name: &str) -> Option<&'static dyn Output> {
    ALL.iter().copied().find(|output| output.name() == name)
}

/// The output whose files have that ending, if there is one.
pub fn of_extension(extension: &str) -> Option<&'static dyn Output> {
    let is = |own: &&str| own.eq_ignore_ascii_case(extension);
    ALL.iter().copied().find(|output| output.extensions().iter().any(is))
}
