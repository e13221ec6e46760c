//! Audits a results file as the binary does, in two passes.

use headway_base::{Nanos, Record};
use headway_import::source::Progress;
use headway_import::{File, Options, Rows};
use headway_stats::audit::{AuditSetup, Auditor, QuantileRule, Survey};
use headway_stats::summary::{Source, Stream};
use headway_stats::{Facts, Setup, Summary, Workload};
use headway_workload::redact::clear;
use std::ops::Range;
use std::path::Path;

/// What is asked of an audit.
pub struct Asked {
    /// Since the first start of the file.
    pub selected: Range<Nanos>,
    pub quantiles: QuantileRule,
    pub by_threads: Vec<u64>,
    pub count_interval: Option<Nanos>,
    pub dither_seed: u64,
    pub pages: Vec<String>,
}

/// The rows of a file in the order of their starts, counted from the first.
pub struct Load {
    pub records: Vec<Record>,
    rows: Rows,
    facts: headway_import::Facts,
}

impl Load {
    pub fn read(path: &Path) -> Load {
        let (mut rows, mut records) = (Rows::default(), Vec::new());
        let mut file = File::open(path, &Options::default(), Progress::default()).unwrap();
        while file.next(&mut rows).unwrap() {
            records.append(&mut rows.records);
        }
        let finished = file.finish(&mut rows, false).unwrap();
        assert_eq!(finished.unreadable, 0);
        records.sort_by_key(|r| r.intended);
        let zero = records[0].intended;
        for r in &mut records {
            r.intended -= zero;
            r.started = r.started.get().map(|at| at - zero).into();
            r.sent = r.sent.get().map(|at| at - zero).into();
            r.first_byte = r.first_byte.get().map(|at| at - zero).into();
            r.done -= zero;
        }
        Load { records, rows, facts: finished.facts }
    }

    pub fn audit(&self, asked: &Asked) -> Summary {
        let measured = asked.selected.clone();
        let mut survey = Survey::default();
        let selected = || self.records.iter().filter(|r| measured.contains(&r.intended));
        selected().for_each(|r| survey.push(r));
        let resolution =
            survey.grid(self.facts.stamps == headway_import::Stamps::End).max(self.facts.resolution);
        let rate = survey.requests as f64 / (measured.end - measured.start).as_secs_f64();
        let mut auditor = Auditor::new(AuditSetup {
            setup: Setup {
                labels: self.rows.tables.labels.as_slice().iter().map(|label| clear(label)).collect(),
                sources: 1,
                measured: measured.clone(),
                workload: Workload::Foreign,
                plan: None,
                resolution,
                rate: Some(rate),
                ..Setup::default()
            },
            users: self.rows.tables.users.as_slice().to_vec(),
            generators: vec!["generator".into()],
            label_counts: survey.by_label.clone(),
            stream: Stream::Requests,
            judged: measured.clone(),
            ends: true,
            bytes: true,
            intended: false,
            behind: Nanos::ZERO,
            starts: survey.requests,
            digit: self.facts.resolution,
            dither_seed: asked.dither_seed,
            by_threads: asked.by_threads.clone(),
            pages: asked.pages.iter().map(|page| clear(page)).collect(),
            percentiles: vec![90.0, 95.0, 99.0],
            quantiles: asked.quantiles,
            count_interval: asked.count_interval,
        });
        self.records.iter().for_each(|r| auditor.row(r));
        auditor.finish(Facts { source: Source::Import, resolution: Some(resolution), ..Facts::default() })
    }
}
