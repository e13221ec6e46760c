//! Is the cause that an audit names the one that made the load? A table of confusion over many seeds.

use super::auditing;
use super::traffic::{Maker, make};
use headway_stats::Summary;

fn audited(maker: Maker, seed: u64) -> Summary {
    auditing::audit(&make(maker, seed))
}

/// Names in the order of the makers, then what else may be said.
fn columns() -> Vec<&'static str> {
    let mut names: Vec<_> = Vec::new();
    for name in Maker::ALL.iter().filter_map(|m| m.cause()).chain(["none"]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How often each name was given, by maker.
fn confusion(seeds: u64) -> Vec<(Maker, Vec<u64>)> {
    let names = columns();
    let count = |maker: Maker| {
        let mut counts = vec![0; names.len()];
        for seed in 0..seeds {
            let summary = audited(maker, seed);
            let cause = summary.audit.and_then(|a| a.cause).unwrap_or("none".into());
            let column = names
                .iter()
                .position(|n| cause.as_str() == *n)
                .unwrap_or_else(|| panic!("{cause} is not listed"));
            counts[column] += 1;
        }
        counts
    };
    Maker::ALL.iter().map(|&maker| (maker, count(maker))).collect()
}

fn markdown(table: &[(Maker, Vec<u64>)]) -> String {
    let mut text = format!(
        "| the load is made by | {} |\n|---|{}\n",
        columns().join(" | "),
        "---|".repeat(columns().len())
    );
    for (maker, counts) in table {
        let cells: Vec<_> = counts.iter().map(|&n| if n == 0 { "-".into() } else { n.to_string() }).collect();
        text += &format!("| {} | {} |\n", maker.words(), cells.join(" | "));
    }
    text
}

/// Share of the seeds whose load was given its own name, or none where there is nothing to name.
fn right(maker: Maker, counts: &[u64], seeds: u64) -> f64 {
    let own = columns().iter().position(|n| *n == maker.cause().unwrap_or("none"));
    counts[own.expect("listed")] as f64 / seeds as f64
}

/// The bound: at most one seed of twenty is taken for something else.
#[test]
fn causes_are_named_for_what_they_are() {
    let table = confusion(3);
    for (maker, counts) in &table {
        assert!(right(*maker, counts, 3) >= 0.66, "{maker:?}\n{}", markdown(&table));
    }
}

/// The table of docs/measured/audits.md, which `HEADWAY_DOCS=write` renews.
#[test]
#[expect(clippy::disallowed_methods, reason = "the table stands in a document")]
#[ignore = "nightly: 2,500 audits"]
fn the_table_of_confusion() {
    let table = confusion(100);
    let text = markdown(&table);
    println!("{text}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measured/audits.md");
    let page = std::fs::read_to_string(path).expect("docs/measured/audits.md is there");
    let (begin, end) = ("<!-- table -->\n", "<!-- end -->");
    let (from, to) = (page.find(begin).expect("begin") + begin.len(), page.find(end).expect("end"));
    if std::env::var("HEADWAY_DOCS").is_ok_and(|v| v == "write") {
        std::fs::write(path, format!("{}{text}{}", &page[..from], &page[to..])).expect("writable");
    } else {
        assert_eq!(&page[from..to], text, "HEADWAY_DOCS=write renews it");
    }
    for (maker, counts) in &table {
        assert!(right(*maker, counts, 100) >= 0.9, "{maker:?}");
    }
}
