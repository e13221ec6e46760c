//! From the first pass to the second: the stretch that is judged, the grid of the stamps, the rate, the expectation.

use super::AuditSpec;
use super::begin::Begin;
use super::files::instant;
use super::first_pass::{FileRead, Read, Starts};
use super::second_pass::Chosen;
use super::{Expect, Shift};
use crate::Error;
use anyhow::anyhow;
use headway_base::{Nanos, Phase, Profile};
use headway_import::Stamps;
use headway_stats::audit::AuditSetup;
use headway_stats::summary::{PlanSummary, Source, Stream};
use headway_stats::{Facts, PlanLaw, Setup, Tolerances, Workload};
use std::ops::Range;

/// Fewer stamps lie on a coarse grid by chance: of n independent distances the common divisor is 1 with a probability of
/// 1/zeta(n), 99.8 % of nine.
const STAMPS_FOR_A_GRID: u64 = 10;

/// The part of the load that is judged.
pub(super) struct Stretch {
    /// When the first of all rows was due, or a little before: where the step of the clock begins. All instants count from it.
    pub zero: Nanos,
    /// When the first of all rows was due.
    pub first: Nanos,
    /// What is judged, in whole steps of the grid.
    pub measured: Range<Nanos>,
    /// As the user asked for it; none for all.
    pub selected: Option<[f64; 2]>,
    /// The grid of the stamps: that of the coarsest file.
    pub grid: Nanos,
    /// What the last digit of a stamp is worth in the coarsest file.
    pub digit: Nanos,
}

impl Stretch {
    /// Of `--from` and `--for`, both ends included, as far as there are rows.
    pub(super) fn new(settings: &AuditSpec, read: &Read, stream: Stream) -> Result<Stretch, Error> {
        let (zero, last) =
            read.span().ok_or_else(|| Error::usage(anyhow!("there is no row in {}", settings.names())))?;
        let digit = read.load().map(|f| f.facts.resolution).max().unwrap_or(Nanos(1)).max(Nanos(1));
        let grid = read.load().map(|f| grid(f, stream, settings.shift)).max().unwrap_or(digit).max(digit);
        // Stamps that a clock of coarse steps cuts off elsewhere in each step count from its beginning.
        let step =
            read.load().find_map(|f| f.of(stream).survey.step(false).filter(|_| !ends(f, settings.shift)));
        let before = step.map_or(0, |step| (zero - step).0.rem_euclid(grid.0));
        let (first, zero) = (zero, zero - Nanos(before));
        let from = settings.from.after(zero, (first, last), read.clock, &settings.options.zone)?;
        let last = last - zero;
        let to = settings.span.map_or(last, |span| from.saturating_add(span).min(last));
        let from = from.max(Nanos::ZERO);
        let selected = (settings.from != Begin::default() || settings.span.is_some())
            .then(|| [from.as_secs_f64(), to.as_secs_f64()]);
        let start = Nanos(from.0.div_euclid(grid.0) * grid.0);
        let start = if start < from { start.saturating_add(grid) } else { start };
        // The step that begins at or before the last stamp belongs to it.
        let end = Nanos(to.0.div_euclid(grid.0) * grid.0).saturating_add(grid);
        Ok(Stretch { zero, first, measured: start..end.max(start), selected, grid, digit })
    }

    fn seconds(&self) -> f64 {
        seconds(&self.measured)
    }

    /// From the first to just after the last of those starts, in whole steps of the grid: what was seen of another stream
    /// before and after tells nothing of them.
    fn judged(&self, starts: Starts) -> Range<Nanos> {
        let Some((first, last)) = starts.span else { return self.measured.start..self.measured.start };
        let step = |at: Nanos| Nanos(at.0.div_euclid(self.grid.0) * self.grid.0);
        let start = step(first).clamp(self.measured.start, self.measured.end);
        start..step(last).saturating_add(self.grid).clamp(start, self.measured.end)
    }
}

fn seconds(stretch: &Range<Nanos>) -> f64 {
    (stretch.end - stretch.start).as_secs_f64()
}

/// Whether the ends of one file's rows were stamped.
fn ends(file: &FileRead, shift: Option<Shift>) -> bool {
    match shift {
        Some(Shift::Subtract) => true,
        Some(Shift::Add) => false,
        None => file.facts.stamps == Stamps::End,
    }
}

/// The grid of one file's stamps: of its starts, or of its ends where those were stamped.
fn grid(file: &FileRead, stream: Stream, shift: Option<Shift>) -> Nanos {
    let ends = ends(file, shift);
    let seen = file.of(stream);
    let other = file.of(match stream {
        Stream::Requests => Stream::Sessions,
        Stream::Sessions => Stream::Requests,
    });
    match (seen.rows < STAMPS_FOR_A_GRID, other.rows < STAMPS_FOR_A_GRID) {
        (true, _) => file.facts.resolution,
        (false, true) => seen.survey.grid(ends),
        (false, false) => seen.survey.grid_with(&other.survey, ends),
    }
}

/// What the auditor must know.
pub(super) fn setup(
    settings: &AuditSpec,
    read: &Read,
    stretch: &Stretch,
    stream: Stream,
    chosen: &Chosen,
) -> AuditSetup {
    let judged = stretch.judged(chosen.starts);
    let has = |what: fn(&FileRead) -> bool| read.load().all(what);
    AuditSetup {
        setup: Setup {
            labels: read.shown_labels(),
            sources: 1,
            measured: stretch.measured.clone(),
            workload: Workload::Foreign,
            plan: settings.expect.map(|expect| law(expect, stretch)),
            resolution: stretch.grid,
            rate: (seconds(&judged) > 0.0).then(|| chosen.starts.n as f64 / seconds(&judged)),
            tolerances: Tolerances { lateness: settings.lateness, ..Tolerances::default() },
            ..Setup::default()
        },
        users: users(read),
        generators: read.generators.clone(),
        label_counts: chosen.by_label.clone(),
        stream,
        intended: has(|f| f.facts.intended),
        behind: read.load().map(|f| f.of(stream).survey.behind).max().unwrap_or_default(),
        ends: has(|f| f.facts.ends),
        bytes: has(|f| f.facts.bytes),
        starts: chosen.starts.n,
        judged,
        digit: stretch.digit,
        dither_seed: settings.seed,
        by_threads: settings.by_threads.clone(),
        pages: settings.pages.clone(),
        percentiles: settings.percentiles.clone(),
        quantiles: settings.quantiles,
        count_interval: settings.count_interval,
    }
}

/// The expectation as a plan: its rate from the first start to the end of the stretch.
fn law(expect: Expect, stretch: &Stretch) -> PlanLaw {
    let profile = Profile::new(&[Phase::hold(stretch.measured.end, expect.rate)]);
    crate::analysis_setup::law(expect.process, profile, headway_workload::Shard::WHOLE)
}

/// Users of all files, one file's after the other's: two generators may use the same names.
fn users(read: &Read) -> Vec<String> {
    let several = read.load().filter(|f| !f.users.is_empty()).count() > 1;
    let names = read.load().flat_map(|file| {
        file.users.iter().map(move |user| match several {
            true => format!("{} {user}", file.file.path),
            false => user.clone(),
        })
    });
    names.collect()
}

/// What the summary says beside its numbers.
pub(super) fn facts(settings: &AuditSpec, read: &Read, stretch: &Stretch) -> Facts {
    Facts {
        source: Source::Import,
        name: settings.names(),
        command: Some(settings.command.clone()),
        started_at: instant(read.clock, stretch.first),
        plan: settings.expect.map(|expect| PlanSummary {
            process: expect.process.to_string(),
            gap_cov: Some(expect.process.gap_cov()),
            rate: Some(expect.rate.0),
            duration_s: Some(stretch.seconds()),
            ..PlanSummary::default()
        }),
        resolution: Some(stretch.grid),
        // The coarsest stamps are those to be made finer.
        finer: read
            .load()
            .max_by(|a, b| a.file.digit_s.total_cmp(&b.file.digit_s))
            .and_then(|file| file.file.finer.clone()),
        ..Facts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_ends_just_after_the_last_start_on_the_grid() {
        let stretch = Stretch {
            zero: Nanos(7),
            first: Nanos(7),
            measured: Nanos(20)..Nanos(100),
            selected: None,
            grid: Nanos(10),
            digit: Nanos(1),
        };
        let judged = |starts: &[i64]| {
            let mut seen = Starts::default();
            starts.iter().for_each(|&at| seen.push(Nanos(at)));
            let Range { start, end } = stretch.judged(seen);
            [start.0, end.0]
        };
        assert_eq!(judged(&[45, 30, 61]), [30, 70]);
        assert_eq!(judged(&[34, 60]), [30, 70]);
        assert_eq!(judged(&[34]), [30, 40]);
        assert_eq!(judged(&[12, 130]), [20, 100]);
        assert_eq!(judged(&[130]), [100, 100]);
        assert_eq!(judged(&[]), [20, 20]);
    }

    #[test]
    fn starts_of_several_files_add_up() {
        let of = |n, span| Starts { n, span };
        let (a, b) = (of(2, Some((Nanos(5), Nanos(9)))), of(3, Some((Nanos(1), Nanos(6)))));
        assert_eq!(a.and(b), of(5, Some((Nanos(1), Nanos(9)))));
        assert_eq!(Starts::default().and(a), a);
        assert_eq!(Starts::default().and(Starts::default()), Starts::default());
    }
}
