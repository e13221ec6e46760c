//! A metric that is added to the registry is found wherever metrics are: in thresholds, comparison, search, the summary and every output.
//! In a process of its own, since the registry is that of the process.

use headway_base::{Batch, Nanos, Outcome, Record, Start};
use headway_report::{Document, Style};
use headway_stats::comparison::{
    Compared, Comparison, Condition, Numbers, Observed, Observing, Outcome as Judged, Two, compare,
};
use headway_stats::metric::{Definition, Metric, NotAdded, Observation, Shown, Taken};
use headway_stats::search::Criterion;
use headway_stats::summary::{NotComputed, ThresholdOutcome};
use headway_stats::thresholds::{Threshold, of_summary};
use headway_stats::{Analysis, Facts, Setup, Summary, Workload};

/// From the start of a request to its send; censored where it was never sent.
fn before_send(record: &Record) -> Observation {
    match (record.started.get(), record.sent.get()) {
        (Some(started), Some(sent)) => Observation::Seen((sent - started).0),
        (Some(started), None) => Observation::Censored((record.done - started).0),
        _ => Observation::Nothing,
    }
}

/// As a row of the registry, but for what is its own.
static ADDED: [Definition; 1] = [Definition {
    name: "before_send",
    aliases: &["head"],
    about: "Time from the start to the send",
    taken: Taken::Row(before_send),
    shown: Shown { column: Some(("before the send", 0, 0)), reasons: false, family: Some("before_send") },
    ..Definition::TIME
}];

static TWICE: [Definition; 1] = [Definition { name: "rate", ..Definition::TIME }];
static COUNTED: [Definition; 1] = [Definition { name: "counted", taken: Taken::Starts, ..Definition::TIME }];

const N: u64 = 4_000;

fn labels() -> Vec<headway_redact::Cleared> {
    vec!["a".into(), "b".into()]
}

fn measured() -> std::ops::Range<Nanos> {
    Nanos::ZERO..Nanos::from_millis(10 * N as i64)
}

/// A request every 10 ms, of two steps in turn: of the first it takes 1 to 2 ms until it is sent, of the second twice as long, times `slower`.
fn records(slower: f64) -> impl Iterator<Item = Record> {
    (0..N).map(move |k| {
        let at = Nanos::from_millis(10 * k as i64);
        let step = (k % 2) as u16;
        // A sequence that fills the range evenly, without a pattern over time.
        let place = (k as f64 * 0.618_033_988_749).fract();
        let us = slower * f64::from(1 + step) * (1_000.0 + 1_000.0 * place);
        let sent = at + Nanos((us * 1e3) as i64);
        let done = sent + Nanos::from_millis(2);
        Record {
            step,
            started: at.into(),
            sent: sent.into(),
            first_byte: done.into(),
            ..Record::never_started(k, at, done, Outcome::Ok)
        }
    })
}

fn analysed(thresholds: &[&str]) -> Summary {
    let setup = Setup {
        labels: labels(),
        sources: 1,
        measured: measured(),
        workload: Workload::Open,
        resolution: Nanos(1),
        ..Setup::default()
    };
    let asked: Vec<Threshold> = thresholds.iter().map(|text| text.parse().unwrap()).collect();
    let mut analysis = Analysis::new(setup).judging(asked);
    let records: Vec<Record> = records(1.0).collect();
    let starts: Vec<Start> = records.iter().filter_map(Record::start).collect();
    analysis.batch(&Batch { starts, records, watermark: Nanos::MAX, last: true, ..Batch::default() });
    analysis.finish(Facts::default())
}

fn observed(slower: f64, conditions: &[Condition]) -> Observed {
    let mut seen = Observing::new(&measured(), &labels(), &labels()).asked(conditions);
    records(slower).for_each(|record| seen.push(&record));
    seen.finish(measured().end)
}

fn compared(base: &Observed, other: &Observed, conditions: &[Condition]) -> Comparison {
    let nothing = NotComputed::default();
    let pair = Two {
        runs: [0, 1],
        point: Default::default(),
        observed: [base, other],
        not_computed: [&nothing, &nothing],
        same_arrivals: false,
        same_records: false,
        of_model: false,
        obstacles: Vec::new(),
        differs: Vec::new(),
    };
    let run = |name: &'static str| Compared { name: name.into(), ..Compared::default() };
    compare(vec![run("old"), run("new")], vec![pair], conditions)
}

fn text(output: &str, document: Document<'_>) -> String {
    let rendered = headway_report::find(output).unwrap().render(document, &Style::default());
    String::from_utf8(rendered.unwrap()).unwrap()
}

#[test]
fn an_added_metric_is_found_wherever_metrics_are() {
    assert!("before_send: p(95)<10ms".parse::<Threshold>().is_err(), "before it is added");
    assert_eq!(Metric::add(&TWICE), Err(NotAdded::Known("rate")));
    assert_eq!(Metric::add(&COUNTED), Err(NotAdded::Otherwise("counted")));
    Metric::add(&ADDED).unwrap();
    assert_eq!(Metric::add(&[]), Err(NotAdded::Before));

    // Thresholds, of all requests and by step.
    let asked = ["before_send: p(95)<10ms", "head{step:b}: min>1.9ms", "before_send{step:a}: p(50)>2ms"];
    let summary = analysed(&asked);
    let outcomes: Vec<ThresholdOutcome> = summary.thresholds.iter().map(|of| of.outcome).collect();
    use ThresholdOutcome::{Crossed, Passed};
    assert_eq!(outcomes, [Passed, Passed, Crossed], "{:#?}", summary.thresholds);
    assert!(summary.thresholds.iter().all(|of| of.open.is_none() && of.value.is_some()));
    let p95 = summary.thresholds[0].value.unwrap();
    // Of the second step 10 % of all lie above 3.8 ms, evenly up to 4 ms: 5 % lie above 3.8 ms.
    assert!((p95 / 0.003_8 - 1.0).abs() < 0.01, "{p95}");

    // The summary, and thresholds on a document.
    let block = &summary.metrics["before_send"];
    assert_eq!((block.n, block.p95), (N, Some(p95)));
    assert!(block.ci95.p95.is_some() && block.mean.is_some());
    let read = headway_report::parse(text("json", Document::Summary(&summary)).as_bytes()).unwrap();
    assert_eq!(read.metrics, summary.metrics);
    let of_document = of_summary(&asked[0].parse().unwrap(), &read).unwrap();
    assert_eq!((of_document.value, of_document.outcome), (Some(p95), Passed));

    // Search.
    let criterion = Criterion::of(&asked[0].parse().unwrap()).unwrap();
    assert_eq!(criterion.limit, Some(Nanos::from_millis(10)));

    // Comparison, of records and of documents.
    let conditions: Vec<Condition> =
        ["before_send: p(95) slower by 5%", "before_send{step:a}: avg slower by 30%"]
            .map(|text| text.parse().unwrap())
            .into();
    let (base, other) = (observed(1.0, &conditions), observed(1.2, &conditions));
    let comparison = compared(&base, &other, &conditions);
    let judged: Vec<Judged> = comparison.conditions.iter().map(|of| of.outcome).collect();
    assert_eq!(judged, [Judged::Holds, Judged::DoesNotHold]);
    let row = comparison.pairs[0].rows.iter().find(|row| row.of.key() == "before_send.p95").unwrap();
    assert!((row.ratio.unwrap() - 1.2).abs() < 0.005, "{row:?}");
    let told = text("terminal", Document::Comparison(&comparison));
    assert!(told.contains("before_send: p(95) slower by 5%: yes"), "{told}");
    let page = text("html", Document::Comparison(&comparison));
    assert!(page.contains("before_send p95"), "the row of the comparison's page");
    let same = Observed::told(Numbers::of_summary(&summary));
    let again = Observed::told(Numbers::of_summary(&summary));
    let documents = compared(&same, &again, &conditions[..1]);
    assert_eq!(documents.conditions[0].outcome, Judged::DoesNotHold);

    // Every output.
    let metrics = text("openmetrics", Document::Summary(&summary));
    let line = format!("headway_before_send_quantile_seconds{{quantile=\"0.95\",bound=\"none\"}} {p95:?}");
    assert!(metrics.contains(&line), "{metrics}");
    assert!(metrics.contains("# UNIT headway_before_send_mean_seconds seconds"));
    let files = headway_report::csv::files(&summary);
    let (_, table) = files.iter().find(|(name, _)| *name == "metrics.csv").unwrap();
    let table = String::from_utf8(table.clone()).unwrap();
    let cells = table.lines().find_map(|line| line.strip_prefix("before_send,s,4000,0,")).unwrap();
    assert!(cells.contains(&format!(",{p95},")), "{table}");
    let page = text("html", Document::Summary(&summary));
    assert!(page.contains("before the send"), "the column of the page");
    for output in ["html", "terminal", "markdown", "junit"] {
        // Markdown escapes the underscore.
        let shown = text(output, Document::Summary(&summary)).replace('\\', "");
        assert!(shown.contains("before_send"), "{output}: the threshold\n{shown}");
    }
}
