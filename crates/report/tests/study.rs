//! Every document of every study; what the terminal shows is compared with the snapshots in `golden/`, which are written anew
//! as those of runs are (see `report.rs`).

#[path = "samples/studies.rs"]
mod studies;

use headway_redact::clear;
use headway_report::json::document as json;
use headway_report::study::parse;
use headway_report::{Style, find};
use headway_stats::Summary;
use headway_stats::comparison::{Compared, Difference, Incomparable, Numbers, Observed, Two, compare};
use headway_stats::study::Study;
use headway_stats::summary::{
    CurvePoint, Intervals, NotComputed, Spread, ThresholdOutcome as Outcome, ThresholdResult,
};
use studies::STUDIES;

fn style() -> Style {
    Style { folder: Some("headway-runs/sample".into()), ..Style::default() }
}

fn rendered(output: &str, study: &Study, style: &Style) -> String {
    let output = find(output).expect("the output is registered");
    String::from_utf8(output.study(study, style).expect("it is made of studies")).expect("text")
}

fn shown(study: &Study, style: &Style) -> String {
    rendered("terminal", study, style)
}

fn page(study: &Study) -> String {
    rendered("html", study, &style())
}

/// The study beside a run of that name, which was planned at another rate than its first point.
fn beside(mut study: Study, name: &str) -> Study {
    let run = Summary { response: response(), ..Summary::default() };
    let base = Observed::told(Numbers::of_summary(&run));
    let own = study.points.iter().map(|point| Observed::told(Numbers::of_point(point, study.replications)));
    let (own, nothing): (Vec<Observed>, _) = (own.collect(), NotComputed::default());
    let rate = Difference { what: "rate".into(), base: "1/s".into(), other: "2/s".into() };
    let mut pairs = Vec::new();
    for (i, (own, point)) in own.iter().zip(&study.points).enumerate() {
        pairs.push(Two {
            runs: [0, 1],
            point: clear(&point.values.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(" ")),
            observed: [&base, own],
            not_computed: [&nothing, &nothing],
            same_arrivals: false,
            same_records: false,
            of_model: true,
            obstacles: if i == 0 { vec![Incomparable::Plan(rate.clone())] } else { Vec::new() },
            differs: vec![rate.clone()],
        });
    }
    let curve = (1..40).map(|i| 1.0 - 0.8_f64.powi(i));
    let curve = curve.map(|p| CurvePoint {
        percentile: 100.0 * p,
        value: -0.25 * f64::ln(1.0 - p),
        lower_bound: false,
    });
    let run = Compared { name: clear(name), curve: curve.collect(), ..Compared::default() };
    let model = Compared { name: "simulated".into(), ..Compared::default() };
    study.beside = Some(compare(vec![run, model], pairs, &[]));
    study
}

/// Of the run that stands beside.
fn response() -> Spread {
    let ci95 = Intervals { mean: Some([0.24, 0.26]), p99: Some([0.9, 1.1]), ..Intervals::default() };
    Spread { n: 9, p50: Some(0.2), p99: Some(1.0), mean: Some(0.25), ci95, ..Spread::default() }
}

fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let start = page.find(open).expect("the page has the element") + open.len();
    &page[start..start + page[start..].find(close).expect("the element ends")]
}

#[test]
fn json_reads_back_equal_and_other_documents_are_refused() {
    for (name, make) in STUDIES {
        assert_eq!(parse(&json(&make())).expect(name), make(), "{name}");
    }
    let error = parse(br#"{"schema": "headway.summary/2"}"#).expect_err("another schema").to_string();
    assert_eq!(error, "the document's schema is 'headway.summary/2'; this version reads 'headway.study/2'");
}

#[test]
fn the_terminal_keeps_to_80_columns_of_safe_text() {
    for (name, make) in STUDIES {
        for colour in [false, true] {
            let folder = Some(clear(&"\x1b]0;title\x07".repeat(30)));
            let text = shown(&make(), &Style { colour, folder, ..style() });
            assert_eq!(text.contains('\x1b'), colour, "{name}");
            let mut plain = String::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once('\x1b') {
                plain.push_str(before);
                rest = after.split_once('m').expect("a colour ends").1;
            }
            plain.push_str(rest);
            for line in plain.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
                assert!(line.trim_end() == line && !line.chars().any(char::is_control), "{name}: {line:?}");
            }
        }
    }
}

#[test]
fn the_page_holds_the_document_and_its_charts_and_reaches_for_nothing() {
    for (name, make) in STUDIES {
        let page = page(&make());
        let embedded = between(&page, "<script type=\"application/json\" id=\"study\">", "</script>");
        // As the JSON output has it, with its sentences.
        let document = parse(&headway_report::json::of_study(&make())).expect(name);
        assert_eq!(parse(embedded.as_bytes()).expect(name), document, "{name}");
        let charts = match *name {
            "study_empty" => "0",
            _ => "2",
        };
        assert_eq!(between(&page, "data-charts=\"", "\""), charts, "{name}");
        assert_eq!(page.matches("data-chart=\"").count().to_string(), charts, "{name}");
        for reach in [" src=", " href=", "@import", "url("] {
            // Links within the page lead nowhere else.
            let own = page.replace(embedded, "").replace(" href=\"#", " ");
            assert!(!own.contains(reach) || *name == "study_hostile", "{name}: {reach}");
        }
    }
}

#[test]
fn no_text_from_outside_becomes_part_of_the_page() {
    let tags = |page: String| {
        ["<script", "</script", "<img", "<!--", "onerror=\"", "<style"].map(|tag| page.matches(tag).count())
    };
    let hostile = page(&beside(studies::study_hostile(), "</script><img src=x onerror=\"1\">"));
    for forbidden in ['\u{2028}', '\u{202e}', '\0', '\x1b'] {
        assert!(!hostile.contains(forbidden), "{forbidden:?}");
    }
    assert_eq!(tags(hostile), tags(page(&beside(studies::study_models(), "live"))));
}

#[test]
fn a_run_stands_beside_the_points() {
    let study = beside(studies::study_models(), "live");
    let page = page(&study);
    let said = between(&page, "id=\"beside\"", "</section>");
    let first = &study.points[0].values[0];
    assert!(
        said.contains(&format!(
            "simulated against live, {first}: not comparable: another plan: rate (1/s and 2/s)."
        )),
        "{said}"
    );
    assert!(said.contains("They differ in rate (1/s and 2/s)."), "{said}");
    // 0.25 against 0.2431.
    assert!(page.contains(">no difference</td>") && page.contains("that of live has no interval"), "{page}");
    assert!(page.contains("Dotted: the response times of live."));
    assert_eq!(parse(&json(&study)).expect("read back"), study);
    let text = shown(&study, &style());
    let section = between(&text, "Beside live", "Again");
    assert!(section.contains("no difference") && section.contains("n/a"), "{section}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Every outcome at every kind of study, held to a threshold whose text is longer than the page is wide.
#[test]
fn the_words_of_a_verdict_are_never_cut() {
    let words = ["passed", "CROSSED", "inconclusive", "not judged"];
    let outcomes = [Outcome::Passed, Outcome::Crossed, Outcome::Inconclusive, Outcome::NotJudged];
    for (long, (name, make)) in STUDIES.iter().flat_map(|study| [(false, study), (true, study)]) {
        let mut study = make();
        let judged = studies::study_demands().points[0].thresholds[0].clone();
        let text = |of: &str| format!("p(99, phase '{}')<3s{of}", "long-".repeat(if long { 30 } else { 1 }));
        for (i, point) in study.points.iter_mut().enumerate() {
            let one = |at: usize| ThresholdResult {
                text: clear(&text(["", " and more"][at])),
                outcome: outcomes[(i + at) % 4],
                ..judged.clone()
            };
            point.thresholds = vec![one(0), one(1)];
        }
        let text = shown(&study, &style());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}: {text}");
        let points = study.points.len().min(if study.is_swept() { 60 } else { 12 });
        for (at, word) in words.into_iter().enumerate() {
            let held = (0..points).flat_map(|i| [i % 4, (i + 1) % 4]).filter(|which| *which == at).count();
            let found = text.split_whitespace().collect::<Vec<_>>().join(" ").matches(word).count();
            assert!(found >= held, "{name}: {word} {found} times for {held}: {text}");
        }
    }
}

#[test]
fn an_infinite_load_is_said_in_words() {
    let mut study = studies::study_single();
    study.points[0].load = Some(f64::INFINITY);
    for document in [shown(&study, &style()), page(&study)] {
        let document = document.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(document.contains("infinite") && !document.contains(" inf "), "{document}");
        assert!(document.contains("is offered infinitely more than it can do"), "{document}");
    }
}

#[test]
fn a_sweep_has_a_line_for_each_model_over_the_values_in_order() {
    let page = page(&studies::study_interrupted());
    let json = between(&page, "<script type=\"application/json\" id=\"layout\">", "</script>");
    let layout: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
    let sweep = &layout["sweep"];
    assert_eq!(sweep["x"], serde_json::json!([400.0, 800.0, 1200.0, 1600.0]));
    assert_eq!(sweep["lines"][0], serde_json::json!({ "label": "random", "points": [0, 1, 2, 3] }));
    assert_eq!(sweep["lines"][1], serde_json::json!({ "label": "least", "points": [4, 5, 6, null] }));
    assert!(page.contains("INCOMPLETE: 1 point is missing here, for want of plays: least, rate 1600."));
    assert!(page.contains("There is no steady state: requests in dynos grew by 350 per second (95"));
}

#[test]
fn of_a_study_without_a_whole_point_there_is_nothing_to_say_but_that() {
    let mut study = studies::study_interrupted();
    study.missing.extend(study.points.drain(..).map(|point| point.values));
    study.differences.clear();
    for document in [shown(&study, &style()), page(&study)] {
        let document = document.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(document.contains("There are no numbers, and no threshold was judged."), "{document}");
        assert!(
            !document.contains("Left out as warm-up:") && !document.contains("Intervals: 95"),
            "{document}"
        );
    }
}

/// Points of the same numbers change places: where two of them looked the same, nobody would see it.
#[test]
fn no_two_rows_of_a_table_look_the_same() {
    let long =
        |n: usize| format!("empirical({}{n}{}.txt)", "times-of-".repeat(9), "-in-production".repeat(5));
    let long = [long(1), long(2)];
    let think = studies::parameter("users.buyers.think", &["0s", "1s"]);
    let count = studies::parameter("users.clerks.closed.count", &["1", "50"]);
    let other = studies::parameter("users.buyers.closed.count", &["lognormal(5ms,2)", "lognormal(6ms,2)"]);
    let service = studies::parameter("model.service", &[&long[0], &long[1]]);
    let one = studies::parameter("rate", &["100"]);
    let model = studies::parameter(
        "model",
        &["join-the-shortest-queue-of-the-first", "join-the-shortest-queue-of-the-second"],
    );
    let sweeps = [
        vec![&count],
        vec![&other],
        vec![&service],
        vec![&think, &count],
        vec![&count, &one, &other],
        vec![&think, &service],
        vec![&think, &count, &other],
        vec![&count, &other, &service],
    ];
    let with_models = sweeps.iter().map(|sweep| [&[&model], sweep.as_slice()].concat());
    for parameters in sweeps.iter().cloned().chain(with_models) {
        let study = studies::all_alike(parameters.into_iter().cloned().collect());
        let tables = |study: &Study| {
            let text = shown(study, &style());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            [("Response times\n", "\n\n"), ("Load\n", "\n\n"), ("p(99)<3s\n", "\n\n")]
                .map(|(open, close)| between(&text, open, close).to_owned())
        };
        let before = tables(&study);
        for (i, j) in (0..study.points.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let mut swapped = study.clone();
            swapped.points.swap(i, j);
            for (before, after) in before.iter().zip(tables(&swapped)) {
                assert_ne!(*before, after, "points {i} and {j}");
            }
        }
        let text = shown(&beside(study.clone(), "live"), &style());
        let section = between(&text, "Beside live", "Again").split_whitespace().collect::<String>();
        for value in study.points.iter().flat_map(|point| &point.values) {
            assert!(section.contains(value.as_str()), "{value}: {section}");
        }
    }
}

macro_rules! golden {
    ($($name:ident),+) => { $(
        #[test]
        fn $name() {
            let text = shown(&studies::$name(), &style());
            let golden = include_str!(concat!("golden/", stringify!($name), ".txt"));
            assert_eq!(text, golden, "not as in tests/golden; the head of report.rs says how to renew it\n{text}");
        }
    )+ };
}

#[test]
fn documents_in_markdown_are_the_snapshots() {
    for (make, golden) in [
        (studies::study_sweep as fn() -> Study, include_str!("golden/study_sweep.md")),
        (studies::study_models_demands, include_str!("golden/study_models_demands.md")),
    ] {
        let seen = rendered("markdown", &make(), &style());
        assert_eq!(
            seen, golden,
            "not as in tests/golden; the head of report.rs says how to renew it\n{seen}"
        );
    }
}

mod golden {
    use super::{shown, studies, style};
    golden!(
        study_models,
        study_sweep,
        study_sweeps,
        study_crowded,
        study_demands,
        study_models_demands,
        study_single,
        study_interrupted,
        study_hostile,
        study_empty
    );
}
