//! `docs/reference.md` is derived from the registries: what is registered is documented, and nothing else.
//!
//! `HEADWAY_DOCS=write cargo test -p headway-cli --test docs` writes it anew.

mod architecture;
mod flags;
mod keys;
mod links;
mod words;

use headway_stats::summary::{StampsHow, Unsteady, Why};
use std::fs;
use std::path::Path;

/// A list of reasons by their tags, out of the rows of the code.
fn reasons<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let rows = all.into_iter().map(|(tag, meaning)| format!("- `{tag}`: {}\n", meaning.trim()));
    format!("\n\n{}", rows.collect::<String>())
}

fn reference() -> String {
    let mut out = String::from(
        "# Reference\n\nDerived from the registries in the code by `HEADWAY_DOCS=write cargo test -p headway-cli --test docs`; do not edit.\n",
    );
    out.push_str("\n## Arrival processes\n\n`--arrivals PROCESS`; gaps are scaled to the rate.\n\n| process | what it is |\n|---|---|\n");
    for family in headway_workload::arrivals::ALL {
        out.push_str(&format!("| `{}` | {} |\n", family.usage(), family.about()));
    }
    out.push_str("\n## Distributions\n\nWherever a time may be random (`serve --service`). Times carry units: `250us 10ms 1.5s 2m 1h`.\n\n| distribution | what it is | example |\n|---|---|---|\n");
    for family in headway_base::dist::ALL {
        let usage = format!("{}({})", family.name(), family.arguments().join(", "));
        out.push_str(&format!("| `{usage}` | {} | `{}` |\n", family.about(), family.example()));
    }
    out.push_str("\n## Outcomes\n\nHow a request that fell due ended; each ends in exactly one.\n\n| outcome | what it is |\n|---|---|\n");
    for outcome in headway_base::Outcome::ALL {
        let about = headway_report::words::outcome_meaning(outcome.name());
        out.push_str(&format!("| `{}` | {about} |\n", outcome.name()));
    }
    out.push_str(
        "\n## Missing numbers\n\nWhy a number, an interval or a decision is not there (`why` in the JSON).",
    );
    out.push_str(&reasons(Why::ALL.iter().copied()));
    out.push_str("\n## No steady state\n\nWhat speaks against a steady state of a simulation.");
    out.push_str(&reasons(Unsteady::ALL.iter().copied()));
    out.push_str(
        "\n## Stamps of a file\n\nHow it is known whether the stamps of an audited file are starts or ends.",
    );
    out.push_str(&reasons(StampsHow::ALL.iter().copied()));
    out.push_str("\n## Known failures\n\nReasons of failures (`kind` in `failure_reasons` of the JSON), and what helps.");
    let kinds = headway_base::KnownFailure::ALL.iter();
    out.push_str(&reasons(kinds.map(|kind| (kind.name(), headway_report::words::failures::advice(*kind)))));
    out.push_str("\n## Formats that `headway audit` reads\n\nRecognised by their content, in this order; gz and zst too.\n\n| format | what it is |\n|---|---|\n");
    for format in headway_import::formats::ALL {
        out.push_str(&format!("| `{}` | {} |\n", format.name(), format.about()));
    }
    out.push_str("\n## Labs\n\n`headway lab NAME`\n\n| lab | what it repeats |\n|---|---|\n");
    for lab in headway_labs::ALL {
        out.push_str(&format!("| `{}` | {} |\n", lab.name(), lab.about()));
    }
    out.push_str("\n## Outputs\n\n`--output FORMAT=FILE`, or a bare file name with one of the endings; see [outputs.md](outputs.md).\n\n| format | what it is | endings | made of | goes to standard output |\n|---|---|---|---|---|\n");
    for output in headway_report::ALL {
        let endings: Vec<String> = output.extensions().iter().map(|ending| format!("`.{ending}`")).collect();
        let of: Vec<&str> = output.made_of().iter().map(|material| material.about()).collect();
        let prints = if output.prints() { "yes" } else { "no" };
        let (name, about) = (output.name(), output.about());
        out.push_str(&format!(
            "| `{name}` | {about} | {} | {} | {prints} |\n",
            endings.join(" "),
            of.join(", ")
        ));
    }
    out.push_str("\n## Columns of `records.arrow`\n\nAn Arrow IPC file (Feather version 2); instants are nanoseconds since the plan's zero. [outputs.md](outputs.md#the-log) has the lines that read it in\npandas, polars and DuckDB.\n\n");
    out.push_str(&headway_records::schema::markdown::<headway_base::Record>());
    out.push_str(
        "\n## Columns of `events.arrow`\n\nOf runs in which steps have `stream`, a file as the other.\n\n",
    );
    out.push_str(&headway_records::schema::markdown::<headway_base::ResponseEvent>());
    out
}

#[test]
fn the_reference_is_what_is_registered() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let expected = reference();
    if std::env::var("HEADWAY_DOCS").is_ok_and(|v| v == "write") {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/reference.md is not up to date: see the head of this test");
}
