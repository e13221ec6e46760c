//! An audit of rows that are already in order, as the binary would make it.

use super::traffic::Load;
use crate::world::cleared;
use headway_base::{Kind, Nanos};
use headway_stats::audit::{AuditSetup, Auditor, QuantileRule, Survey};
use headway_stats::summary::{Source, Stream};
use headway_stats::{Facts, Setup, Summary, Workload};

pub fn audit(load: &Load) -> Summary {
    let mut survey = Survey::default();
    load.rows.iter().for_each(|r| survey.push(r));
    let mut span = survey.span().expect("rows");
    let resolution = Nanos(survey.grid(false).0.max(load.digit.0));
    // As the engine does: whole steps of a clock that is coarser than its digits.
    if let Some(step) = survey.step(false) {
        let into = |at: Nanos| Nanos((at - step).0.rem_euclid(resolution.0));
        span = span.start - into(span.start)..span.end + resolution - into(span.end);
    }
    let starts = load.rows.iter().filter(|r| r.kind == Kind::Request).count() as u64;
    let setup = Setup {
        labels: vec!["request".into()],
        sources: 1,
        measured: span.clone(),
        workload: Workload::Foreign,
        plan: None,
        resolution,
        rate: Some(starts as f64 / (span.end - span.start).as_secs_f64()),
        ..Setup::default()
    };
    let mut auditor = Auditor::new(AuditSetup {
        setup,
        users: load.users.clone(),
        generators: (0..load.generators).map(|g| cleared(&format!("generator {g}"))).collect(),
        label_counts: survey.by_label.clone(),
        stream: Stream::Requests,
        judged: span.clone(),
        ends: true,
        bytes: false,
        intended: false,
        behind: Nanos::ZERO,
        starts,
        digit: load.digit,
        dither_seed: 1,
        by_threads: Vec::new(),
        pages: Vec::new(),
        percentiles: vec![90.0, 95.0, 99.0],
        quantiles: QuantileRule::Smallest,
        count_interval: None,
    });
    load.rows.iter().for_each(|r| auditor.row(r));
    auditor.finish(Facts { source: Source::Import, resolution: Some(resolution), ..Facts::default() })
}
