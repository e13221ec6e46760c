//! A world around a scenario: some files and variables.

use headway_base::Nanos;
use headway_base::dist::MOST_BYTES_OF_TIMES;
use headway_workload::arrivals::Logged;
use headway_workload::scenario::{Diagnostics, Scenario, Surroundings, parse};
use std::sync::Arc;

/// Files that scenarios of these tests name.
const FILES: &[(&str, &str)] = &[
    ("people.csv", "name,city\nada,London\ngrace,New York\n"),
    ("items.jsonl", "{\"id\": 1, \"name\": \"a\"}\n{\"id\": 2, \"name\": \"b\"}\n"),
    ("empty.csv", ""),
    ("headonly.csv", "name,city\n"),
    ("ragged.csv", "name,city\nada,London\ngrace\n"),
    ("broken.jsonl", "{\"id\": 1}\n{\"id\": \n"),
    ("times.txt", "# think times\n10ms\n20ms\n\n1.5s\n"),
    ("badtimes.txt", "10ms\nsoon\n"),
    ("cat.png", "\u{1}\u{2}"),
];

/// The file of that name.
pub fn read(name: &str) -> Result<Vec<u8>, String> {
    if name == "endless.txt" {
        return Ok(vec![b'\n'; MOST_BYTES_OF_TIMES + 1]);
    }
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "no such file".to_owned())
}

/// The variable of that name.
pub fn env(name: &str) -> Option<String> {
    let value = match name {
        "HOST" => "127.0.0.1:8080",
        "TENANT" => "north",
        "API_TOKEN" => "tok-5ecre7",
        "DB_PASSWORD" => "hunter2-5ecre7",
        "LONG_TOKEN" => "tok-5ecre7-of-more-characters-than-an-error-message-shows-of-any-text",
        "LONG_PIN" => "1234567890123456789012345678901234567890123456789012345678901234567890",
        "RATE" => "20/s",
        "COUNT" => "12",
        _ => return None,
    };
    Some(value.to_owned())
}

/// The log of that name.
pub fn log(name: &str) -> Result<Arc<Logged>, String> {
    let at = |ms: &[i64]| ms.iter().map(|&ms| Nanos::from_millis(ms)).collect();
    let logged =
        |ms: &[i64]| Logged { instants: at(ms), resolution: Nanos::from_millis(1), ..Logged::default() };
    match name {
        "access.log" => Ok(Arc::new(logged(&[5_000, 1_000, 2_500, 9_000]))),
        "named.log" => Ok(Arc::new(Logged {
            labels: ["buy", "look"].map(str::to_owned).to_vec(),
            steps: vec![1, 1, 0, 1],
            ..logged(&[5_000, 1_000, 2_500, 9_000])
        })),
        "one.log" => Ok(Arc::new(logged(&[5_000]))),
        _ => Err("no such log".to_owned()),
    }
}

/// What a text reads as.
pub fn read_text(text: &str) -> Result<Scenario, Diagnostics> {
    parse("a.yaml", text, &Surroundings { read: &read, env: &env, log: &log })
}

/// A scenario that is one.
#[track_caller]
pub fn scenario(text: &str) -> Scenario {
    read_text(text).unwrap_or_else(|e| panic!("{e}"))
}

/// What is shown of a scenario that is none.
#[track_caller]
pub fn mistakes(text: &str) -> String {
    match read_text(text) {
        Ok(scenario) => panic!("read as {scenario:?}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}
