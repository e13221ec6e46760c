//! The registry of metrics: what each is called, what it is of, how it is taken from a row, how it is censored, which aggregates it has, and
//! where it is shown.
//!
//! Thresholds, comparison, search, the summary and every output iterate it or ask it; none of them knows a metric by name. A metric is added
//! by a row of `rows`, or by [`Metric::add`] in a program that embeds the engine.
//!
//! Deliberately absent: estimates and their intervals (`responses`), and sentences.

mod aggregate;
mod kept;
mod number;
mod rows;

pub use aggregate::Aggregate;
pub(crate) use kept::Kept;
pub use number::{NumberOf, UnknownNumber};

use crate::summary::{NotComputed, PERCENTILES, Spread, Stated, Summary, Tail, ThresholdUnit, Why};
use headway_base::Record;
use std::fmt;
use std::sync::OnceLock;

/// A row of the registry.
#[derive(Debug)]
pub struct Definition {
    /// Its name in thresholds and documents.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// What it is, in a few words: `Service time (done - sent)`.
    pub about: &'static str,
    /// Unit of its values. A count, where the metric is no distribution: what is counted is `of`.
    pub unit: ThresholdUnit,
    /// What each value is of.
    pub of: Of,
    /// How it is taken from a row.
    pub taken: Taken,
    /// Where the document has it.
    pub block: Block,
    /// What the generator's own delays do to it.
    pub delays: Delays,
    /// Where there is no steady state, whether a longer run would show another number.
    pub hangs_on_length: bool,
    /// Why a simulation does not have it; none where it does.
    pub not_simulated: Option<fn() -> Why>,
    /// Whether its values need the end of a request, which some tools' files do not tell.
    pub needs_ends: bool,
    /// Whether a reader of an audit looks for it, so that it is told there why it is missing. No other tool's file tells what is of the
    /// generator alone.
    pub looked_for: bool,
    /// Whether it is kept by step. What is of the generator is not.
    pub by_step: bool,
    /// Whether a threshold may name it.
    pub judged: bool,
    /// Whether runs are compared by it.
    pub compared: bool,
    /// Where it is shown.
    pub shown: Shown,
}

impl Definition {
    /// A time of requests in [`Summary::metrics`], which nothing shows: what most rows begin with.
    pub const TIME: Definition = rows::TIME;
}

/// What a value is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// A request.
    Request,
    /// A part of a response.
    Event,
    /// A session.
    Session,
    /// A connection.
    Connection,
}

/// How a metric is taken from a row.
#[derive(Clone, Copy, Debug)]
pub enum Taken {
    /// Response times, which are kept by how requests ended: censored where there was no response. Or those of successes alone.
    Response {
        /// Of successes alone.
        successes: bool,
    },
    /// A value of each request that was sent, by this function.
    Row(fn(&Record) -> Observation),
    /// Of the events of responses.
    Event(EventTime),
    /// Of each start that found a connection: how late it was.
    Lag,
    /// Of each request: how long it was held back.
    Blocked,
    /// Counts requests that failed, among those that could.
    Failures,
    /// Counts requests that started.
    Starts,
    /// Counts responses.
    Responses,
}

/// A time of the events of responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventTime {
    /// From when a request was due to its first event; of a request that ended without one it is censored.
    First,
    /// From an event to the next of the same response.
    Gap,
}

/// What a row tells of a metric, in whole nanoseconds or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// Nothing.
    Nothing,
    /// This.
    Seen(i64),
    /// It was given up at this, and would have been more.
    Censored(i64),
}

/// What the generator's own delays do to a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delays {
    /// Nothing: it is a fact of the run itself.
    Fact,
    /// They are a part of each value.
    Within,
    /// They are not a part of it; of an undisturbed request it is the response time.
    Apart,
    /// Nothing: it does not hang on when a request was sent.
    Free,
    /// That is not told.
    NotTold,
}

/// Where the document has a metric.
#[derive(Clone, Copy, Debug)]
pub enum Block {
    /// In a field of its own.
    Field(fn(&mut Summary) -> &mut Spread, fn(&Summary) -> &Spread),
    /// In a part of the document that loads without events do not have: its path, and where it is.
    Part(&'static str, fn(&mut Summary) -> Option<&mut Spread>, fn(&Summary) -> Option<&Spread>),
    /// In a field of its own, as a tail.
    Tail(fn(&Summary) -> &Tail),
    /// In [`Summary::metrics`], where it was observed.
    More,
    /// Nowhere: other blocks have the counts.
    Counts,
}

/// Where a metric is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Column of the table of times and sizes: its title, and the widths of values and intervals in a terminal (0: on the page alone).
    pub column: Option<(&'static str, usize, usize)>,
    /// Whether reasons for its missing numbers are told below that table.
    pub reasons: bool,
    /// What its family is called in OpenMetrics and OTLP, between `headway_` and `_quantile_seconds`.
    pub family: Option<&'static str>,
}

/// A metric: a row of the registry.
#[derive(Clone, Copy)]
pub struct Metric(&'static Definition);

/// Rows that were added.
static ADDED: OnceLock<&'static [Definition]> = OnceLock::new();

/// Why metrics cannot be added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAdded {
    /// Some were added before.
    Before,
    /// There is a metric of this name.
    Known(&'static str),
    /// Only values of requests can be added, which the document keeps in [`Summary::metrics`]; this one is taken or kept otherwise.
    Otherwise(&'static str),
}

impl fmt::Display for NotAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAdded::Before => f.write_str("metrics were added before: they are added once, all together"),
            NotAdded::Known(name) => write!(f, "there is a metric {name}: choose another name"),
            NotAdded::Otherwise(name) => {
                write!(f, "metric {name}: only Taken::Row with Block::More can be added")
            }
        }
    }
}

impl std::error::Error for NotAdded {}

impl Metric {
    /// Response time of every request; those without an answer took longer than until they were given up.
    pub const RESPONSE: Metric = Metric(&rows::RESPONSE);
    /// Response time of successes.
    pub const RESPONSE_OK: Metric = Metric(&rows::RESPONSE_OK);
    /// Service time: from the first byte sent to the last received.
    pub const SERVICE: Metric = Metric(&rows::SERVICE);
    /// Requests that did not end as ok.
    pub const FAILED: Metric = Metric(&rows::FAILED);
    /// Responses per second.
    pub const THROUGHPUT: Metric = Metric(&rows::THROUGHPUT);

    /// Every metric, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Metric> {
        let added = ADDED.get().copied().unwrap_or_default();
        rows::ALL.into_iter().chain(added).map(Metric)
    }

    /// The metric that is called so.
    pub fn named(name: &str) -> Option<Metric> {
        Metric::all().find(|metric| metric.names().any(|own| own == name))
    }

    /// Adds rows to the registry, once in a process and before the first analysis.
    ///
    /// # Errors
    /// Rows were added before, a name is taken, or a row is no value of requests.
    pub fn add(rows: &'static [Definition]) -> Result<(), NotAdded> {
        for (i, row) in rows.iter().enumerate() {
            let twice = rows[..i].iter().any(|before| before.name == row.name);
            if twice || Metric(row).names().any(|name| Metric::named(name).is_some()) {
                return Err(NotAdded::Known(row.name));
            }
            if !matches!((row.taken, row.block), (Taken::Row(_), Block::More)) {
                return Err(NotAdded::Otherwise(row.name));
            }
        }
        ADDED.set(rows).map_err(|_| NotAdded::Before)
    }

    /// The metric whose block or number stands at that path of a document.
    pub fn of_path(path: &str) -> Option<Metric> {
        let of = |metric: &Metric| {
            let rest = path.strip_prefix(&*metric.path());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        Metric::all().find(of)
    }

    /// Its name, and others that are accepted.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.0.name).chain(self.0.aliases.iter().copied())
    }

    /// Whether its values have a distribution. Otherwise it counts.
    pub fn is_distribution(self) -> bool {
        !matches!(self.taken, Taken::Failures | Taken::Starts | Taken::Responses)
    }

    /// Whether its values are kept by segment of the run, so that its numbers have intervals.
    pub fn has_intervals(self) -> bool {
        matches!(self.taken, Taken::Response { .. } | Taken::Row(_) | Taken::Event(_))
    }

    /// Whether it is a time whose numbers have intervals.
    pub fn is_time(self) -> bool {
        self.has_intervals() && self.unit == ThresholdUnit::Seconds
    }

    /// Whether a simulation has it.
    pub fn is_simulated(self) -> bool {
        self.not_simulated.is_none()
    }

    /// Why a simulation lacks it, one whose responses come in events if `events` holds.
    pub fn not_in_simulation(self, events: bool) -> Option<Why> {
        let there = events && matches!(self.taken, Taken::Event(_));
        self.not_simulated.filter(|_| !there).map(|why| why())
    }

    /// Whether a study keeps it.
    pub fn is_kept_by_studies(self) -> bool {
        matches!(self.taken, Taken::Response { .. } | Taken::Failures | Taken::Starts)
    }

    /// Whether the number is a fact of the run itself, which nothing that the generator did makes another.
    pub fn is_fact(self, aggregate: Aggregate) -> bool {
        let counts_failures = matches!(self.taken, Taken::Failures);
        self.delays == Delays::Fact || (aggregate == Aggregate::Count && !counts_failures)
    }

    /// Where there is no steady state, whether that number would be another in a longer run.
    pub fn hangs_on_length(self, aggregate: Aggregate) -> bool {
        self.hangs_on_length && aggregate != Aggregate::Count
    }

    /// How many whole nanoseconds or bytes are one of its unit.
    pub fn scale(self) -> f64 {
        if self.unit == ThresholdUnit::Seconds { 1e9 } else { 1.0 }
    }

    /// Unit of one of its numbers.
    pub fn unit_of(self, aggregate: Aggregate) -> ThresholdUnit {
        if aggregate == Aggregate::Count { ThresholdUnit::Count } else { self.unit }
    }

    /// Path of its block in the document.
    pub fn path(self) -> String {
        match self.block {
            Block::More => format!("metrics.{}", self.name),
            Block::Part(path, ..) => path.to_owned(),
            _ => self.name.to_owned(),
        }
    }

    /// Path under which the document says why one of its intervals is missing; `of` is `mean`, or a percentile's name.
    pub fn interval_path(self, of: &str) -> String {
        format!("{}.ci95.{of}", self.path())
    }
}

/// The row of a metric is read through it.
impl std::ops::Deref for Metric {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        self.0
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Metric {}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Path under which the document says why a threshold has no interval.
pub(crate) fn threshold_interval(i: usize) -> String {
    format!("thresholds.{i}.interval")
}

impl Summary {
    /// Why intervals of a metric are missing.
    pub fn interval_reasons(&self, metric: Metric) -> impl Iterator<Item = &Stated<Why>> {
        let asked =
            self.spread(metric).into_iter().flat_map(|spread| &spread.percentiles).map(|of| of.percent);
        let percentiles = PERCENTILES.into_iter().chain(asked).map(Aggregate::Percentile);
        std::iter::once(Aggregate::Mean)
            .chain(percentiles)
            .filter_map(move |of| self.not_computed.get(&metric.interval_path(&of.key())))
    }

    /// The block of a metric; none of one that counts or has a tail alone, and of one in [`Summary::metrics`] that was not observed.
    pub fn spread(&self, metric: Metric) -> Option<&Spread> {
        match metric.block {
            Block::Field(_, field) => Some(field(self)),
            Block::Part(_, _, part) => part(self),
            Block::More => self.metrics.get(metric.name),
            Block::Tail(_) | Block::Counts => None,
        }
    }

    /// The same, to change.
    pub(crate) fn spread_mut(&mut self, metric: Metric) -> Option<&mut Spread> {
        match metric.block {
            Block::Field(field, _) => Some(field(self)),
            Block::Part(_, part, _) => part(self),
            Block::More => self.metrics.get_mut(metric.name),
            Block::Tail(_) | Block::Counts => None,
        }
    }

    /// Sets the block of a metric, one of [`Summary::metrics`] where it was observed. Parts are set as a whole.
    pub(crate) fn set_spread(&mut self, metric: Metric, spread: Spread) {
        match metric.block {
            Block::Field(field, _) => *field(self) = spread,
            Block::More if spread.n > 0 => {
                self.metrics.insert(metric.name.to_owned(), spread);
            }
            Block::More | Block::Part(..) | Block::Tail(_) | Block::Counts => {}
        }
    }

    /// Takes back what needs the ends of requests, in a document of a file that does not tell them.
    pub(crate) fn without_ends(&mut self, reason: &Why) {
        for metric in Metric::all().filter(|metric| metric.needs_ends) {
            let path = metric.path();
            let within = format!("{path}.");
            self.not_computed.retain(|of, _| *of != path && !of.starts_with(&within));
            if let Some(spread) = self.spread_mut(metric) {
                *spread = Spread::default();
                self.not_computed.insert(path, reason.clone().into());
            }
        }
    }

    /// Calls `of` with each block that has intervals: its metric, its path and the reasons for what is missing. Response times that are split
    /// by how requests came to be due are blocks of the response time.
    pub(crate) fn each_spread(&mut self, mut of: impl FnMut(Metric, &str, &mut Spread, &mut NotComputed)) {
        let mut missing = std::mem::take(&mut self.not_computed);
        for metric in Metric::all() {
            if let Some(spread) = self.spread_mut(metric) {
                of(metric, &metric.path(), spread, &mut missing);
            }
        }
        let split = [
            ("response_open", self.response_open.as_mut()),
            ("response_session", self.response_session.as_mut()),
        ];
        for (path, spread) in split {
            if let Some(spread) = spread {
                of(Metric::RESPONSE, path, spread, &mut missing);
            }
        }
        self.not_computed = missing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_each_of_its_names_and_by_no_others() {
        for metric in Metric::all() {
            for name in metric.names() {
                assert_eq!(Metric::named(name), Some(metric), "{name}");
            }
        }
        assert_eq!((Metric::named("rate"), Metric::named("x")), (Metric::named("started"), None));
    }

    #[test]
    fn what_is_shown_or_exported_can_be_told() {
        for metric in Metric::all() {
            let has_block = !matches!(metric.block, Block::Counts);
            let shown = metric.shown.column.is_some() || metric.shown.family.is_some();
            assert!(has_block || !shown, "{metric}");
            assert_eq!(has_block, metric.is_distribution(), "{metric}");
        }
    }
}
