//! The live view: its files, and its snapshots of every sample.

use super::{samples, style, text};
use headway_report::html::live::{SCHEMA, Standing, file, snapshot};
use headway_stats::Summary;
use serde_json::Value;

fn standing(summary: &Summary, ended: bool) -> Value {
    let reached = (!ended).then_some((1_500, 4_000));
    let bytes = snapshot(Standing { number: 7, summary, at_s: 1.5, reached, ended });
    serde_json::from_slice(&bytes).expect("it is JSON")
}

#[test]
fn the_page_runs_no_script_of_its_own_and_asks_nobody_else() {
    let page = file("/").unwrap();
    assert!(page.kind.starts_with("text/html"), "{}", page.kind);
    // A policy without unsafe-inline lets none of these be.
    for inline in ["<style", "style=", "onclick", "javascript:", "<script>"] {
        assert!(!page.text.contains(inline), "{inline}");
    }
    for path in page.text.split(['"', '\'']).filter(|part| part.starts_with('/')) {
        assert!(file(path).is_some() || path == "/metrics", "{path}");
    }
    assert!(!page.text.contains("{{"), "{}", page.text);
    for path in ["/", "/watch.js", "/watch.css"] {
        let text = file(path).unwrap().text;
        // Where uPlot comes from is said in its head.
        let others = text.matches("http").count() - text.matches("https://github.com/leeoniya/uPlot").count();
        assert_eq!(others, 0, "{path} names another server");
    }
    assert_eq!((file("/watch"), file("")), (None, None));
}

#[test]
fn a_snapshot_of_every_sample_has_what_its_script_reads() {
    for (name, sample) in samples::ALL {
        let summary = sample();
        // No audit goes on.
        if summary.audit.is_some() || summary.simulation.is_some() {
            continue;
        }
        for ended in [false, true] {
            let document = standing(&summary, ended);
            assert_eq!(
                (&document["schema"], &document["number"], &document["ended"]),
                (&SCHEMA.into(), &7.into(), &ended.into())
            );
            let markup = document["markup"].as_str().unwrap();
            let charts = markup.matches("data-chart=").count();
            assert_eq!(document["charts"], charts, "{name}");
            for inline in ["<script", " style=", "<style"] {
                assert!(!markup.contains(inline), "{name}: {inline}");
            }
            for key in ["title", "state", "said"] {
                assert!(!document[key].as_str().unwrap().is_empty(), "{name}: {key}");
            }
            assert_eq!(document["summary"]["measured"]["n"], summary.measured.n, "{name}");
            assert!(
                document["marks"].is_array() && document["steps"].is_array() && document["names"].is_object()
            );
            // Sections are found again by their names, so that each needs one of its own.
            let ids: Vec<&str> =
                markup.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
            assert_eq!(ids.len(), unique.len(), "{name}: {ids:?}");
        }
    }
}

/// A page without its folds: what renews itself has none.
fn unfolded(main: &str) -> String {
    let section = |part: &str| {
        if !part.contains("<details class=\"fold\">") {
            return part.to_owned();
        }
        let part = part.replace(" class=\"folded\"", "").replace(" folded\"", "\"");
        let part = part.replace("<details class=\"fold\"><summary><h2>", "<h2>");
        let part = part.replacen("</h2></summary>\n", "</h2>\n", 1);
        let (inner, after) = part.rsplit_once("</details>\n</section>").unwrap();
        format!("{inner}</section>{after}")
    };
    let parts: Vec<String> = main.split("<section").map(section).collect();
    parts.join("<section")
}

#[test]
fn at_the_end_it_is_the_report() {
    let summary = samples::failed();
    let page = text("html", &summary, &style());
    let main = page.split_once("<main>\n").unwrap().1.split_once("</main>").unwrap().0;
    let document = standing(&summary, true);
    // What the page says of the folder and of the command is of the file.
    let shown = document["markup"].as_str().unwrap();
    let before = |text: &str| text.split("<section id=\"again\"").next().unwrap().to_owned();
    assert_eq!(before(shown), before(&unfolded(main)));
    assert_eq!(document["state"], "The run has ended. This is its report.");
}

#[test]
fn while_it_goes_on_it_says_so_and_shows_three_rates() {
    let mut summary = samples::clean();
    summary.measured.from_s = 0.0;
    let document = standing(&summary, false);
    let markup = document["markup"].as_str().unwrap();
    for part in
        ["Offered rate", "Sent rate", "Completed rate", "Response p99", "id=\"over-time\"", "id=\"verdict\""]
    {
        assert!(markup.contains(part), "{part}");
    }
    let state = document["state"].as_str().unwrap();
    assert!(state.starts_with("Running for 1.5 s.") && state.contains("the verdict may change"), "{state}");
    assert!(document["title"].as_str().unwrap().starts_with("Running: "));
    summary.measured.from_s = 2.0;
    assert!(
        standing(&summary, false)["state"]
            .as_str()
            .unwrap()
            .contains("warm-up, of which nothing counts, to 2 s")
    );
    (summary.measured.from_s, summary.measured.n) = (0.0, 0);
    assert!(
        standing(&summary, false)["state"].as_str().unwrap().contains("nothing that counts has ended yet")
    );
}
