//! Audits that a report must survive: many labels and rows that nobody can read, nothing at all, attacks.

use super::audits::{audit, column, file, finding, foreign, tables};
use super::label;
use super::parts::{outcomes, plan, rule};
use headway_stats::Summary;
use headway_stats::summary::{
    Audit, AuditFile, ClocksRelated, Closed, CountBin, CountCurve, Finding, HeadwayBin, HeadwayCurve,
    LoadVerdict, Offset, RuleOutcome, SCHEMA, Severity, Source, Stated, Text, ThreadGroup, UnreadableRow,
    Why,
};

/// Two JMeter generators whose clocks cannot be compared, many labels, rows that nobody can read, and a plan to hold
/// them to.
pub fn audit_merged() -> Summary {
    let mut files: Vec<AuditFile> = ["north.jtl", "south.jtl"]
        .map(|path| file(path, "jmeter-csv", "JMeter CSV with a header", 150_000))
        .into();
    files[1].unreadable = 1_204;
    files[1].examples = vec![
        UnreadableRow { line: 17, found: "17 fields".into(), expected: "10 fields, as in the header".into() },
        UnreadableRow {
            line: 150_002,
            found: "1331861403".into(),
            expected: "a stamp of 13 digits; the line ends early".into(),
        },
    ];
    let mut audit = audit(files, 1e-3, 250.0);
    audit.generators = vec!["north.jtl".into(), "south.jtl".into()];
    audit.offsets = vec![Offset {
        generator: "south.jtl".into(),
        related: Some(ClocksRelated::Nothing),
        n: 300_000,
        ..Offset::default()
    }];
    let labels: Vec<String> =
        (0..30).map(|i| format!("/api/v2/customers/{{id}}/orders/{i:02}/line-items?expand=all")).collect();
    audit.tables = tables(&labels, 300_000, 250.0, 1.02);
    for (i, row) in audit.tables.headways.iter_mut().take(30).enumerate() {
        row.n -= 7 * i as u64;
    }
    audit.tables.first_byte = vec![column("Total", 300_000, 250.0, 0.0021, 1.1, 1_500)];
    audit.tables.bytes = vec![column("Total", 300_000, 250.0, 1843.0, 0.1, 1_500)];
    audit.tables.bandwidth = vec![column("Total", 300_000, 250.0, 542_000.0, 0.4, 1_500)];
    audit.resolution.coarse_labels = 2;
    let mut summary = foreign("north.jtl + south.jtl", 300_000, 250.0, 1.02, audit);
    summary.outcomes = outcomes(&[("ok", 298_500), ("status", 1_500)]);
    summary.by_label = labels.iter().map(|name| (headway_redact::clear(name), label(10_000))).collect();
    summary.plan = Some(plan("poisson", 1.0, 306_000));
    summary.not_computed.clear();
    summary.verdict.load = Some(LoadVerdict::Invalid);
    summary.verdict.rules = vec![rule(
        "sent-share",
        None,
        0.9804,
        [0.979, 0.982],
        [Some(0.99), None],
        RuleOutcome::Fail,
        306_000,
    )];
    summary.verdict.findings = vec![
        finding(
            "unsent",
            Severity::Error,
            "1.96 % fewer requests than expected are in the files.",
            0.9804,
            0.99,
            306_000,
        ),
        Finding {
            id: "a-finding-of-a-later-version".into(),
            severity: Severity::Warning,
            text: Text::by_report("Something that this version has no words for."),
            at: vec![[10.0, 11.5]],
            ..Finding::default()
        },
    ];
    summary
}

/// Files without a single row.
pub fn audit_empty() -> Summary {
    let reason = "no headways (0 arrivals started)";
    Summary {
        schema: SCHEMA.into(),
        source: Source::Import,
        audit: Some(Audit::default()),
        not_computed: [
            ("arrivals".into(), Stated::other(reason)),
            ("response".into(), Why::NoObservations.into()),
        ]
        .into(),
        ..Summary::default()
    }
}

/// Every text an attack, every number at the end of its range.
pub fn audit_hostile() -> Summary {
    let attack = "</script><img src=x onerror=alert(2)>\u{2028}\u{202e}\x1b[2J\x07\0,\"=1+1\n\u{6f22}";
    let mut summary = audit_merged();
    summary.closed = Some(Closed {
        users: Some(-1e300),
        response: Some(f64::MAX),
        think: Some(-1e-300),
        rort: Some(1e300),
        in_flight_max: Some(u64::MAX),
        all_waiting: Some(-1.0),
        ..Closed::default()
    });
    summary.thread_groups = vec![ThreadGroup {
        name: attack.repeat(4),
        users: u64::MAX,
        n: u64::MAX,
        rate: Some(f64::MAX),
        headway_mean: Some(-1e300),
        headway_sd: None,
        cov: Some(f64::MAX),
        cov_se: Some(f64::MAX),
    }];
    let audit = summary.audit.as_mut().expect("it is an audit");
    for file in &mut audit.files {
        file.path = headway_redact::clear(&attack.repeat(9));
        file.description = file.path.clone();
        for text in [&mut file.format, &mut file.stamps] {
            *text = attack.repeat(9);
        }
        file.stamps_how = Some(Stated::other(attack.repeat(9)));
        file.tool = Some(attack.into());
        file.finer = Some(attack.into());
        file.missing = vec![attack.into(); 9];
        file.left_out = vec![(attack.into(), u64::MAX); 9];
        file.rows = u64::MAX;
        file.unreadable = u64::MAX;
        file.examples =
            vec![UnreadableRow { line: u64::MAX, found: attack.into(), expected: attack.into() }; 9];
        file.digit_s = 1e300;
    }
    audit.cause = Some(attack.into());
    audit.first_start = Some(attack.into());
    audit.selected = Some([f64::MIN, f64::MAX]);
    audit.percentiles = (0..9).map(|i| 99.0 + f64::from(i) / 10.0).collect();
    audit.generators = vec![attack.into(); 40];
    let offset = Offset {
        generator: attack.into(),
        ahead_s: Some(f64::MIN),
        how: Text::by_report(attack),
        n: u64::MAX,
        ..Offset::default()
    };
    audit.offsets = vec![offset; 40];
    audit.resolution.rate_x_q = Some(f64::MAX);
    audit.counts = Some(CountCurve {
        interval_s: f64::MAX,
        n: u64::MAX,
        mean: -1.0,
        vmr: f64::MAX,
        empty: u64::MAX,
        bins: vec![CountBin { count: u64::MAX, observed: u64::MAX, expected: f64::MAX }; 3],
    });
    for column in audit.tables.headways.iter_mut().chain(&mut audit.tables.response) {
        column.label = headway_redact::clear(&format!("{attack}{}", column.label));
        column.n = u64::MAX;
        column.failed = u64::MAX;
        column.rate = Some(f64::MAX);
        column.mean = Some(f64::MIN);
        column.percentiles.pop();
    }
    let bin = HeadwayBin { from: f64::MAX, to: None, observed: u64::MAX, expected: -1.0 };
    summary.curves.headway =
        Some(HeadwayCurve { n: u64::MAX, law: attack.into(), unit_s: -1.0, bins: Vec::new(), tail: bin });
    summary.arrivals.cov = Some(f64::MAX);
    summary.arrivals.cov_se = Some(f64::MAX);
    summary.not_computed.insert(format!("arrivals.{attack}"), Stated::other(attack.repeat(9)));
    summary
}
