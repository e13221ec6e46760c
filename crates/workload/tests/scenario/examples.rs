//! The examples of the documentation are scenarios.

use headway_workload::scenario::{Scenario, Surroundings, parse};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples")
}

/// Every example, with its text.
pub fn all() -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| {
            let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect();
    examples.sort();
    examples
}

fn example(name: &str, text: &str) -> Scenario {
    let read = |file: &str| std::fs::read(folder().join(file)).map_err(|e| e.to_string());
    parse(
        name,
        text,
        &Surroundings { read: &read, env: &|_| None, log: &headway_workload::scenario::no_logs },
    )
    .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_example_is_a_scenario() {
    let examples = all();
    assert!(examples.len() >= 6, "{}", examples.len());
    for (name, text) in examples {
        let scenario = example(&name, &text);
        assert!(scenario.end > scenario.measured_from, "{name}");
        assert_eq!(scenario.script.steps().len(), scenario.labels.len(), "{name}");
        assert_eq!(scenario.redacted, text, "{name}");
    }
}
