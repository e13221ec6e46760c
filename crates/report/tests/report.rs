//! Every output shows every sample; what the terminal shows, and some documents in Markdown, are compared with the snapshots in
//! `golden/`.
//!
//! After a change that is meant, write the snapshots anew and look at the difference:
//! `cargo run -p headway-report --example sample_report -- --golden crates/report/tests/golden`

mod first_screen;
mod formats;
mod live_view;
mod samples;

use headway_redact::clear;
use headway_report::{ALL, Material, Style, find, of_extension, parse};
use headway_stats::Summary;
use headway_stats::summary::{LabelRow, LabelSummary, MeanParts, Percentile, ThresholdOutcome, Why};
use std::collections::BTreeSet;

fn style() -> Style {
    Style { details: true, ..on_one_screen() }
}

fn on_one_screen() -> Style {
    Style { folder: Some("headway-runs/sample".into()), ..Style::default() }
}

/// A run in which all is well, of one step.
fn well() -> Summary {
    let mut summary = samples::clean();
    let n = summary.outcomes.values().sum();
    summary.outcomes = [("ok".to_owned(), n)].into();
    summary.by_label.retain(|name, _| name == "list");
    summary.response_ok.n = summary.response.n;
    summary.failures.clear();
    summary
}

fn text(output: &str, summary: &Summary, style: &Style) -> String {
    let bytes = find(output)
        .expect("the output is registered")
        .summary(summary, style)
        .expect("it is made of summaries");
    String::from_utf8(bytes).expect("an output is UTF-8")
}

fn screen(summary: &Summary) -> String {
    text("terminal", summary, &on_one_screen())
}

/// Without the sequences that colour a text.
fn uncoloured(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour ends").1;
    }
    out + rest
}

/// Signs beyond Latin, Greek and Cyrillic may take two columns.
fn columns(line: &str) -> usize {
    line.chars().map(|c| if c > '\u{1100}' && c != '\u{fffd}' { 2 } else { 1 }).sum()
}

#[test]
fn names_and_endings_are_unique_and_described() {
    let names: BTreeSet<&str> = ALL.iter().map(|output| output.name()).collect();
    let endings: Vec<&str> = ALL.iter().flat_map(|output| output.extensions()).copied().collect();
    assert_eq!(names.len(), ALL.len());
    assert_eq!(endings.iter().collect::<BTreeSet<_>>().len(), endings.len());
    for output in ALL {
        for ending in output.extensions() {
            assert_eq!(of_extension(&ending.to_uppercase()).map(|found| found.name()), Some(output.name()));
        }
        assert!(!output.made_of().is_empty(), "{}", output.name());
        assert!(!output.about().is_empty() && output.about().len() <= 70, "{}", output.name());
        assert!(find(output.name()).is_some_and(|found| found.name() == output.name()));
    }
    assert!(find("morse").is_none());
}

#[test]
fn flags_in_place_of_a_file_s_values_are_named() {
    let mut summary = samples::clean();
    assert!(!text("terminal", &summary, &style()).contains("overridden"));
    let plan = summary.plan.as_mut().expect("a run has a plan");
    plan.overridden = vec!["-R 30".into(), "--set timeout=9s".into()];
    let shown = text("terminal", &summary, &style());
    assert!(shown.contains("overridden  -R 30, --set timeout=9s, in place of the file's values"), "{shown}");
}

#[test]
fn every_output_shows_every_sample_and_always_alike() {
    let full = Style {
        histogram: true,
        colour: true,
        details: true,
        width: Some(100),
        repeat: Some("headway run x".into()),
        folder: Some(clear(&"\x1b[2J".repeat(40))),
        notes: vec![("thresholds with a long name".into(), clear(&"p(99) < 100ms ".repeat(20)))],
        next: Some("headway merge x".into()),
    };
    for (name, make) in samples::ALL {
        for output in ALL {
            for style in [&Style::default(), &full] {
                let summary = make();
                let bytes = output.summary(&summary, style);
                let made = output.made_of().contains(&Material::Summary);
                assert_eq!(
                    bytes.as_ref().is_some_and(|bytes| !bytes.is_empty()),
                    made,
                    "{name} as {}",
                    output.name()
                );
                assert_eq!(bytes, output.summary(&summary, style), "{name} as {}", output.name());
            }
        }
    }
}

#[test]
fn a_ci_system_sees_every_threshold_and_every_rule() {
    let page = |make: fn() -> Summary| text("junit", &make(), &style());
    let shown = page(samples::thresholds);
    // Rules that do not apply are no cases.
    assert_eq!(shown.matches("<testcase ").count(), 8 + 3);
    let suite = shown.lines().find(|line| line.contains("<testsuite name=\"thresholds\"")).unwrap();
    // What the generator leaves open is skipped.
    assert!(suite.contains("tests=\"8\" failures=\"4\" errors=\"0\" skipped=\"2\""), "{suite}");
    assert!(shown.contains("name=\"p(99.99)&lt;30ms\"><skipped message=\"p(99.99)&lt;30ms not judged"));
    assert!(shown.contains("name=\"bytes: max&lt;1KiB\"><failure type=\"not-judged\""));
    assert!(shown.contains("<testsuite name=\"load\" tests=\"3\" failures=\"0\""), "{shown}");
    // Of an INVALID load the rules are the failures, and what the generator leaves open is not judged.
    let mut invalid = samples::saturated();
    let not_judged = headway_stats::summary::ThresholdResult {
        text: "p(99)<1s".into(),
        open: Some(headway_stats::summary::Open::Generator),
        ..Default::default()
    };
    invalid.thresholds = vec![not_judged];
    let shown = text("junit", &invalid, &style());
    assert!(shown.contains("name=\"p(99)&lt;1s\"><skipped message=\"p(99)&lt;1s not judged"), "{shown}");
    assert!(shown.contains("type=\"load\"") && shown.contains("type=\"pattern\""));
    // A metronome that was asked for is no failure.
    assert!(!page(samples::constant).contains("type=\"pattern\""));
}

#[test]
fn every_junit_document_is_well_formed() {
    for (name, make) in samples::ALL {
        let shown = text("junit", &make(), &style());
        let mut open: Vec<&str> = Vec::new();
        for tag in shown.split('<').skip(1) {
            let (tag, rest) = tag.split_once('>').unwrap_or_else(|| panic!("{name}: <{tag}"));
            assert!(!rest.contains(['&', '"']) || rest.contains(';'), "{name}: {rest}");
            match tag.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed), "{name}"),
                None if tag.starts_with('?') || tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap_or("")),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{name}");
    }
}

#[test]
fn every_table_of_a_document_has_as_many_cells_in_each_row() {
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    for (name, make) in samples::ALL {
        let shown = text("markdown", &make(), &style());
        let mut before = 0;
        for line in shown.lines() {
            let now = if line.starts_with('|') { bars(line) } else { 0 };
            assert!(before == 0 || now == 0 || now == before, "{name}: {line}");
            before = now;
        }
        // A command stands in a block, where markup is text.
        let (before, _) = shown.split_once("### Again").unwrap_or((&shown, ""));
        assert!(!before.contains("<script") && !shown.contains('\x1b'), "{name}");
    }
}

#[test]
fn json_reads_back_equal() {
    for (name, make) in samples::ALL {
        let summary = make();
        let bytes = headway_report::json::document(&summary);
        assert_eq!(parse(&bytes).expect(name), summary, "{name}");
    }
}

#[test]
fn a_finding_that_a_former_version_made_is_shown_as_it_is_written() {
    let written = r#"{"id": "cause-refused", "severity": "info", "n": 40, "text": "The first request that ended as refused: no way.",
        "evidence": [{"kind": "first-failure", "outcome": "refused", "message": "no way"}]}"#;
    let mut document: serde_json::Value = serde_json::from_str(&text("json", &well(), &style())).unwrap();
    let findings = document["verdict"]["findings"].as_array_mut().expect("findings are a list");
    findings.push(serde_json::from_str(written).unwrap());
    let summary = parse(document.to_string().as_bytes()).expect("it is read");
    let shown = text("terminal", &summary, &style()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("The first request that ended as refused: no way."), "{shown}");
    assert!(text("json", &summary, &style()).contains("ended as refused: no way."), "it is lost");
}

#[test]
fn the_percentiles_that_were_asked_for_are_the_rows_of_the_table() {
    let mut summary = well();
    summary.plan.get_or_insert_default().percentiles = vec![75.0, 99.0, 99.99];
    let far = Percentile { percent: 99.99, value: Some(0.25), ci95: None };
    let middle = Percentile { percent: 75.0, value: Some(0.004_5), ci95: Some([0.004_1, 0.004_9]) };
    summary.response.percentiles = vec![middle, far];
    summary.response.lower_bound.insert("p99.99".into(), true);
    summary.not_computed.insert("response.ci95.p99.99".into(), Why::OneSide { needed: 20.0, n: 900 }.into());
    let rows = |shown: &str| {
        let first = shown.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
        first
            .filter(|word| word.starts_with('p') && word.len() < 7 && word[1..].parse::<f64>().is_ok())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&screen(&well())), ["p50", "p90", "p95", "p99", "p99.9"]);
    let shown = screen(&summary);
    assert_eq!(rows(&shown), ["p75", "p99", "p99.99"]);
    assert!(shown.contains("4.50 ms") && shown.contains("> 250 ms"), "{shown}");
    for output in ["html", "markdown"] {
        let page = text(output, &summary, &style());
        // The table by label has columns of its own.
        let row = if output == "html" { "scope=\"row\">p95<" } else { "\n| p95 |" };
        assert!(text(output, &well(), &style()).contains(row), "{output}");
        assert!(page.contains("p99.99") && page.contains("p75") && !page.contains(row), "{output}: {page}");
    }
    assert!(text("terminal", &summary, &style()).contains("response p99.99:"), "why it has no interval");
}

/// A number and its interval may both be marked, for different reasons.
#[test]
fn each_footnote_has_a_mark_of_its_own() {
    let mut summary = samples::saturated();
    summary.response.stepped.insert("p50".into(), true);
    for shown in [screen(&summary), text("terminal", &summary, &style())] {
        let row = shown.lines().find(|line| line.contains("1.72 ms*")).unwrap_or_else(|| panic!("{shown}"));
        assert!(row.contains(" p50 ") && row.contains("2.04 ms^"), "{row}");
        for mark in ['*', '^'] {
            let notes = shown.lines().map(str::trim_start).filter(|line| line.starts_with(mark)).count();
            let joined = shown.contains(&format!("; {mark} "));
            assert!(notes + usize::from(joined) == 1, "{mark}: {shown}");
        }
    }
}

#[test]
fn the_terminal_keeps_to_80_columns_of_safe_text() {
    for (name, make) in samples::ALL {
        for colour in [false, true] {
            let style = Style { colour, folder: Some(clear(&"\x1b]0;title\x07".repeat(30))), ..style() };
            let shown = text("terminal", &make(), &style);
            assert_eq!(shown.contains('\x1b'), colour, "{name}");
            let plain = uncoloured(&shown);
            for line in plain.lines() {
                assert!(columns(line) <= 80, "{name}: {} columns: {line}", columns(line));
                assert_eq!(line.trim_end(), line, "{name}: blanks at the end");
                assert!(!line.chars().any(|c| c.is_control()), "{name}: {line:?}");
            }
            // Colour says nothing that the words do not.
            assert_eq!(plain, text("terminal", &make(), &Style { colour: false, ..style }), "{name}");
        }
    }
}

#[test]
fn the_verdict_comes_first_and_an_invalid_run_says_so_at_its_percentiles() {
    for (name, make) in samples::ALL {
        let summary = make();
        let shown = text("terminal", &summary, &style());
        let first: String = shown.lines().take(5).collect();
        let word = summary.verdict.load.map(|load| format!("{load:?}").to_uppercase());
        if summary.audit.is_some() {
            let pattern = headway_report::words::pattern(&summary).word;
            let top = shown.lines().find(|line| line.starts_with("  ")).expect("there is an answer");
            assert!(top.starts_with("  PATTERN") && top.contains(pattern), "{name}: {top}");
            let expected = summary.verdict.load.is_some() || summary.plan.is_some();
            assert_eq!(shown.contains("\n  LOAD "), expected, "{name}");
            continue;
        }
        assert!(first.contains(word.as_deref().unwrap_or("not judged")), "{name}: {first}");
        let invalid = summary.verdict.load == Some(headway_stats::summary::LoadVerdict::Invalid);
        let p99 = shown.lines().find(|line| line.contains(" p99  ") && !line.contains("p50")).unwrap_or("");
        assert_eq!(p99.starts_with("!!"), invalid, "{name}: {p99}");
    }
}

/// The text of the page's first element that begins with `open`, up to `close`.
fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let start = page.find(open).expect("the page has the element") + open.len();
    &page[start..start + page[start..].find(close).expect("the element ends")]
}

#[test]
fn no_text_from_outside_becomes_part_of_the_page() {
    let tags = |page: &str| {
        let lower = page.to_lowercase();
        ["<script", "</script", "<img", "<!--", "onerror=\"", "<style"].map(|tag| lower.matches(tag).count())
    };
    let page = text("html", &samples::hostile(), &style());
    assert_eq!(tags(&page), tags(&text("html", &samples::saturated(), &style())));
    for forbidden in ['\u{2028}', '\u{2029}', '\u{202e}', '\0', '\x1b', '\x07'] {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
}

#[test]
fn the_page_holds_the_whole_document_and_reaches_for_nothing() {
    for (name, make) in samples::ALL {
        let page = text("html", &make(), &style());
        let json = between(&page, "<script type=\"application/json\" id=\"summary\">", "</script>");
        // The document as the JSON output has it, with its sentences.
        let document = parse(text("json", &make(), &style()).as_bytes()).expect(name);
        assert_eq!(parse(json.as_bytes()).expect(name), document, "{name}");
        assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"), "{name}");
        assert!(page.contains(&format!("uPlot {}", headway_report::html::UPLOT_VERSION)), "{name}");
    }
    // Links within the page lead nowhere else.
    let page = text("html", &samples::clean(), &style()).replace(" href=\"#", " ");
    for reach in [" src=", " href=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(reach), "{reach}");
    }
}

#[test]
fn the_page_of_an_audit_has_every_file_and_every_label() {
    let summary = samples::audit_merged();
    let page = text("html", &summary, &style());
    let audit = summary.audit.as_ref().expect("it is an audit");
    for column in &audit.tables.headways {
        assert!(page.contains(&format!("scope=\"row\">{}<", column.label)) || column.label == "Total");
    }
    for name in ["north.jtl", "south.jtl", "line 17: 17 fields; expected 10 fields, as in the header"] {
        assert!(page.contains(name), "{name}");
    }
    assert!(between(&page, "class=\"answers\"", "</section>").contains("Sent as expected?"));
    assert!(!text("html", &samples::audit_even(), &style()).contains("Sent as"));
    assert!(text("html", &samples::audit_brady(), &style()).contains(">119.68</td>"));
}

#[test]
fn the_box_of_the_answers_has_the_colour_of_the_worst_of_them() {
    let edge = |summary: &Summary| {
        between(&text("html", summary, &style()), "class=\"verdict edge-", "\"").to_owned()
    };
    let mut summary = samples::clean();
    // A few requests failed.
    assert_eq!(edge(&summary), "warn");
    summary.thresholds = samples::thresholds().thresholds;
    summary.thresholds[0].outcome = ThresholdOutcome::Crossed;
    assert_eq!(edge(&summary), "bad");
}

#[test]
fn the_page_shows_of_each_kind_of_load_what_it_has() {
    let page = |make: fn() -> Summary| text("html", &make(), &style());
    let overloaded = page(samples::overloaded);
    for part in [
        "id=\"sessions\"",
        "data-chart=\"in-flight\"",
        ">open (from the plan)<",
        ">first answer<",
        ">92.3&nbsp;%<",
    ] {
        assert!(overloaded.contains(part), "{part}");
    }
    let closed = page(samples::closed);
    assert!(
        closed.contains(">Open p99, estimated<")
            && closed.contains("Times (closed workload: slow responses lower the load)")
    );
    assert!(closed.contains("How it was estimated: ") && !closed.contains("id=\"sessions\""));
    let simulated = page(samples::simulated);
    assert!(!simulated.contains("id=\"generator\"") && !simulated.contains("Busiest worker"));
    // An open run says nothing of loops.
    let open = page(samples::clean);
    for part in ["id=\"sessions\"", "id=\"users\"", "conditional", "<dd>-"] {
        assert!(!open.contains(part), "{part}");
    }
}

#[test]
fn the_page_of_a_simulation_shows_its_model() {
    let balanced = text("html", &samples::balanced(), &style());
    for part in [
        "id=\"model\"",
        "data-chart=\"model-over-time\"",
        "data-chart=\"model-by-copy\"",
        ">station fifo, 1 server<",
        "Dashed, above: share of the copies&#39; time that they were up.",
        "const modelOverTime",
    ] {
        assert!(balanced.contains(part), "{part}");
    }
    let overloaded = text("html", &samples::overloaded_model(), &style());
    assert!(overloaded.contains("class=\"number bad\">1.25</td>") && !overloaded.contains("Dashed, above"));
    let live = text("html", &samples::clean(), &style());
    assert!(!live.contains("id=\"model\"") && !live.contains("const modelOverTime"));
}

/// Names of parts are cut where they must be; what a part does is not.
#[test]
fn the_terminal_cuts_no_kind_of_a_part() {
    let mut summary = samples::balanced();
    let kind = "least-connections of 3 drawn at random, by weights, of what was known 250 ms before";
    for (i, part) in summary.simulation.as_mut().expect("a model").parts.iter_mut().enumerate() {
        part.name = clear(&format!("{}-{i}", "routers-of-the-second-zone".repeat(3)));
        part.kind = format!("balancer {kind}");
        (part.copies, part.requests, part.number) = (1_000_000, u64::MAX, 1e9);
    }
    let shown = text("terminal", &summary, &style());
    let table = between(&shown, "The model\n", "steady  ");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = summary.simulation.map_or(0, |simulation| simulation.parts.len());
    assert!(parts > 0 && flat.matches(kind).count() >= parts && flat.contains("..."), "{flat}");
}

#[test]
fn of_many_missing_shards_most_are_one_row() {
    use headway_stats::summary::{ShardCoverage, ShardLog};
    let alone = samples::balanced();
    let shard = |i: u64| ShardCoverage {
        shard: format!("{i}/60000"),
        planned: Some(1_000),
        without_record: if i == 59_000 { 0 } else { 1_000 },
        log: if i == 59_000 { ShardLog::Complete } else { ShardLog::Missing },
        ..ShardCoverage::default()
    };
    let summary = Summary { shards: (0..60_000).map(shard).collect(), ..alone.clone() };
    // What all shards are in is the document within the page.
    let [page, before] = [&summary, &alone].map(|of| {
        let page = text("html", of, &style());
        let json = between(&page, "<script type=\"application/json\" id=\"summary\">", "</script>");
        page.replace(json, "")
    });
    assert!(page.len() < before.len() + 100_000, "{} and {}", page.len(), before.len());
    for row in [">0/60000<", ">99/60000<", ">59000/60000<", ">59,899 more<", ">59,899,000<"] {
        assert!(page.contains(row), "{row}");
    }
    assert!(!page.contains(">100/60000<"));
}

#[test]
fn the_page_shows_what_came_when_and_the_parts_of_the_time() {
    let mut summary = samples::clean();
    let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    summary.series.truncate(2);
    let [first, second] = &mut summary.series[..] else { panic!("two rows") };
    (first.from_s, first.to_s, second.from_s, second.to_s) = (0.0, 0.2, 0.2, 0.4);
    first.statuses = counts(&[("200", 41)]);
    second.statuses = counts(&[("200", 37), ("503", 4), ("other", 2)]);
    (first.failed, first.failures) = (0, counts(&[]));
    (second.failed, second.failures) = (9, counts(&[("status", 6), ("timeout", 3)]));
    second.failure_kinds = counts(&[("status 503", 4), ("status other", 2), ("timeout", 3)]);
    let parts = MeanParts {
        n: 8,
        lag: 0.000_1,
        wait: 0.001,
        first_byte: 0.02,
        receive: 0.003,
        ..MeanParts::default()
    };
    (first.time_split, second.time_split) = (None, Some(parts));
    (first.bytes_received, second.bytes_received) = (Some(20_480), Some(4_096));
    let page = text("html", &summary, &style());
    let of = |id: &str| {
        let opening = format!("<section class=\"figure folded\" id=\"{id}\">");
        let part = between(&page, &opening, "</section>").replace("<td class=\"number\"", "<td");
        part.split("<td")
            .skip(1)
            .map(|cell| {
                let (_, text) = cell.split_once('>').expect("a cell");
                text.split('<').next().expect("its text").to_owned()
            })
            .collect::<Vec<String>>()
    };
    assert_eq!(of("statuses"), ["41", "0", "0", "37", "4", "2"]);
    // Rows without a failure are left out.
    assert_eq!(of("failures-over-time"), ["4", "2", "3"]);
    assert!(page.contains(">status (others)</th>") && page.contains("\"status other\":\"status (others)\""));
    // Nor are rows without a response where the time of responses went; the mean is the sum of its parts.
    let split = ["8", "24.1 ms", "100 us", "1.00 ms", "0 s", "0 s", "20.0 ms", "3.00 ms"];
    assert_eq!(of("split-over-time"), split);
    assert_eq!(of("bytes"), ["20.0 KiB", "100 KiB", "4.00 KiB", "20.0 KiB"]);
    assert!(page.contains("Per row of 200 ms, by when a request was due"), "the length of the rows");
    let total: u64 = summary.curves.response_histogram.iter().map(|bin| bin.n).sum();
    assert!(page.contains(&format!("by response time: n = {}", headway_report::format::count(total))));
    for part in [">TLS handshake<", "id=\"time-split\"", ">receive<", ">Bytes received<"] {
        assert_eq!(page.contains(part), part != ">TLS handshake<", "{part}");
    }
    let split = summary.time_split.as_mut().expect("of a live run");
    split.tls = split.connect;
    assert!(text("html", &summary, &style()).contains(">TLS handshake<"));
    assert!(text("terminal", &summary, &style()).contains("TLS handshake"));
    // Nothing of it is made up where a document lacks it.
    let mut older = summary.clone();
    (older.time_split, older.curves.response_histogram) = (None, Vec::new());
    (older.rate.bytes_received, older.rate.bytes_sent) = (None, None);
    for row in &mut older.series {
        (row.statuses, row.failures, row.bytes_received, row.p90) = Default::default();
        (row.failure_kinds, row.time_split) = Default::default();
    }
    let page = text("html", &older, &style());
    for part in [
        "id=\"statuses\"",
        "id=\"failures-over-time\"",
        "id=\"split-over-time\"",
        "id=\"bytes\"",
        "id=\"histogram\"",
        "id=\"time-split\"",
    ] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn steps_over_the_run_stand_on_the_page_and_the_six_with_most_requests_are_drawn() {
    let row = |i: u64, n: u64, failed: u64| LabelRow {
        from_s: i as f64 * 0.5,
        to_s: (i + 1) as f64 * 0.5,
        n,
        failed,
        p50: (n > 0).then_some(0.002 * (i + 1) as f64),
        p99: (n > 0).then_some(0.04),
    };
    let mut summary = samples::clean();
    summary.by_label = (1..=8)
        .map(|i: u64| {
            let series = vec![row(0, 4 * i, i / 8 * 8), row(1, 0, 0)];
            (clear(&format!("step <{i}>")), LabelSummary { n: 4 * i, series, ..LabelSummary::default() })
        })
        .collect();
    let page = text("html", &summary, &style());
    let part = between(&page, "<section class=\"figure folded\" id=\"steps-over-time\">", "</section>");
    for shown in [
        "Per row of 500 ms, by when a request was due.",
        "at the bottom: failures per second.",
        "Drawn: the 6 of 8 steps with most requests.",
        ">step &lt;8&gt;</th>",
        ">2.00 ms</td>",
        ">25.0&nbsp;%</td>",
    ] {
        assert!(part.contains(shown), "{shown}: {part}");
    }
    assert!(!part.contains("step &lt;2&gt;"), "{part}");
    let drawn = between(&page, "<script type=\"application/json\" id=\"steps\">", "</script>");
    let drawn: Vec<String> = serde_json::from_str(drawn).expect("it is JSON");
    assert_eq!((drawn.len(), &*drawn[0], &*drawn[5]), (6, "step <8>", "step <3>"));
    // A run of one step has no such chart.
    assert!(!text("html", &samples::refused(), &style()).contains("id=\"steps-over-time\""));
}

#[test]
fn the_page_counts_the_charts_it_holds() {
    let charts =
        |summary: &Summary| between(&text("html", summary, &style()), "data-charts=\"", "\"").to_owned();
    // Over the run: times, a heat map and throughput, requests in flight, status codes, failures, bytes, parts of the time, steps; a histogram, percentiles, headways,
    // dispersion.
    assert_eq!(charts(&samples::clean()), "13");
    // No response: neither codes nor bytes, and no histogram.
    assert_eq!(charts(&samples::refused()), "6");
    // No failure.
    assert_eq!(charts(&samples::at_once()), "12");
    assert_eq!(charts(&samples::empty()), "0");
    // Without bytes. The model over time and by copy; of a single station there is but one copy.
    assert_eq!(charts(&samples::balanced()), "12");
    assert_eq!(charts(&samples::overloaded_model()), "10");
    assert_eq!(charts(&samples::audit_1830()), "8");
    assert_eq!(charts(&samples::audit_coarse()), "4");
    assert_eq!(charts(&samples::audit_empty()), "0");
}

fn csv(name: &str, summary: &Summary) -> String {
    let files = headway_report::csv::files(summary);
    let (_, content) = files.into_iter().find(|(file, _)| *file == name).expect("the table has rows");
    String::from_utf8(content).expect("CSV is UTF-8")
}

#[test]
fn brady_s_tables_of_test_1830_are_printed_as_his_tool_prints_them() {
    let summary = samples::audit_brady();
    for (name, published) in [
        ("arr.csv", include_str!("golden/brady/arr.csv")),
        ("agg.csv", include_str!("golden/brady/agg.csv")),
        ("byte.csv", include_str!("golden/brady/byte.csv")),
        ("rt_1st.csv", include_str!("golden/brady/rt_1st.csv")),
        ("thread_groups.csv", include_str!("golden/brady/thread_groups.csv")),
    ] {
        let written = csv(name, &summary);
        let (head, rows) = written.split_once('\n').expect("there is a heading");
        assert_eq!(rows, published, "{name}");
        assert_eq!(head.split(',').count(), published.lines().next().map_or(0, |row| row.split(',').count()));
    }
}

#[test]
fn csv_files_read_back_with_a_heading_and_all_digits() {
    for (name, make) in samples::ALL {
        let summary = make();
        let files = headway_report::csv::files(&summary);
        let names: BTreeSet<&str> = files.iter().map(|(file, _)| *file).collect();
        assert_eq!(names.len(), files.len(), "{name}");
        for (file, content) in &files {
            let mut reader = csv_reader(content);
            let width = reader.headers().expect(file).len();
            let rows: Vec<_> = reader.records().map(|row| row.expect(file)).collect();
            assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == width), "{name}: {file}");
        }
    }
    let summary = samples::audit_1830();
    let names: Vec<&str> = headway_report::csv::files(&summary).iter().map(|(file, _)| *file).collect();
    let all = "headways.csv response.csv first_byte.csv bytes.csv bandwidth.csv thread_groups.csv dispersion.csv \
               counts.csv headway_histogram.csv metrics.csv";
    assert_eq!(names.join(" "), all);
    let total = csv("headways.csv", &summary);
    let mut reader = csv_reader(total.as_bytes());
    let place = reader.headers().unwrap().iter().position(|name| name == "mean_s").unwrap();
    let last = reader.records().last().unwrap().unwrap();
    assert_eq!(&last[0], "Total");
    let audit = summary.audit.unwrap();
    assert_eq!(last[place].parse::<f64>().ok(), audit.tables.headways.last().unwrap().mean);
}

fn csv_reader(content: &[u8]) -> ::csv::Reader<&[u8]> {
    ::csv::Reader::from_reader(content)
}

macro_rules! golden {
    ($output:literal, $end:literal, $style:ident: $($name:ident),+) => { $(
        #[test]
        fn $name() {
            let shown = text($output, &samples::$name(), &$style());
            let golden = include_str!(concat!("golden/", stringify!($name), $end));
            assert_eq!(shown, golden, "not as in tests/golden; this file's head says how to renew it\n{shown}");
        }
    )+ };
}

mod golden {
    use super::{samples, style, text};
    golden!("terminal", ".txt", style: clean, constant, saturated, stalled, refused, interrupted, empty, hostile, thresholds, aborted);
    golden!("terminal", ".txt", style: failed, sessions, overloaded, closed, fixed_work, at_once, simulated, balanced, overloaded_model);
    golden!("terminal", ".txt", style: audit_1830, audit_brady, audit_even, audit_coarse, audit_bunched, audit_sessions, audit_merged);
    golden!("terminal", ".txt", style: audit_empty, audit_hostile);
}

mod golden_screens {
    use super::{on_one_screen, samples, text};
    golden!("terminal", ".screen.txt", on_one_screen: clean, constant, saturated, stalled, refused, interrupted, empty);
    golden!("terminal", ".screen.txt", on_one_screen: failed, hostile, thresholds, aborted, sessions, overloaded, closed, fixed_work);
    golden!("terminal", ".screen.txt", on_one_screen: at_once, simulated, balanced, overloaded_model);
    golden!("terminal", ".screen.txt", on_one_screen: audit_1830, audit_brady, audit_bunched, audit_coarse, audit_empty, audit_even);
    golden!("terminal", ".screen.txt", on_one_screen: audit_hostile, audit_merged, audit_sessions);
}

mod golden_markdown {
    use super::{samples, style, text};
    golden!("markdown", ".md", style: clean, saturated, hostile, thresholds, refused, failed, audit_bunched);
}

/// What answers the question of a run is seen at once; all else is folded behind its heading, and the contents name every section.
#[test]
fn the_page_of_a_run_shows_its_answer_and_folds_the_rest() {
    for (name, make) in samples::ALL {
        let page = text("html", &make(), &style());
        let main = page.split_once("<main>").unwrap().1.split_once("</main>").unwrap().0;
        let sections: Vec<&str> = main.split("<section").skip(1).collect();
        let id = |section: &str| {
            section.split_once(" id=\"").map(|(_, rest)| rest.split('"').next().unwrap().to_owned())
        };
        let headed: Vec<String> = sections.iter().filter_map(|section| id(section)).collect();
        let index = page.split_once("<nav").unwrap().1.split_once("</nav>").unwrap().0;
        let named: Vec<String> =
            index.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        assert_eq!(named, headed, "{name}");
        let is_folded = |section: &&&str| section.contains("<details class=\"fold\">");
        let open: Vec<String> = sections.iter().filter(|s| !is_folded(s)).filter_map(|s| id(s)).collect();
        assert_eq!(open[0], "verdict", "{name}");
        for known in ["again", "rules", "percentiles"] {
            assert!(!open.iter().any(|id| id == known), "{name}: {open:?}");
        }
        if make().audit.is_none() {
            let answer = ["verdict", "thresholds", "over-time", "findings"];
            assert!(open.iter().all(|id| answer.contains(&id.as_str())), "{name}: {open:?}");
        }
        // What is unfolded within a folded section closes before it does.
        for section in sections.iter().filter(is_folded) {
            let section = section.split_once("</section>").unwrap().0;
            assert_eq!(section.matches("<details").count(), section.matches("</details>").count(), "{name}");
        }
    }
}
