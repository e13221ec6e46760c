//! Any bytes at all, read as a scenario file: it is read or refused with places, nothing panics, and memory stays bounded.
//!
//! Files that a scenario names exist and hold the bytes themselves; variables of the environment stand for a fixed text.

#![no_main]

mod memory;

use libfuzzer_sys::fuzz_target;
use headway_workload::Shard;
use headway_workload::scenario::{Surroundings, parse};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = |name: &str| match name.contains("none") {
        true => Err("no such file".to_owned()),
        false => Ok(bytes.to_vec()),
    };
    let env = |name: &str| (!name.contains("NONE")).then(|| format!("{name}: {{x}}"));
    let around = Surroundings { read: &read, env: &env, log: &headway_workload::scenario::no_logs };
    let (parsed, most) = memory::measure(|| parse("fuzzed.yaml", text, &around));
    // Aliases may stand for a quarter of a million parts, whatever the length of the file.
    assert!(most <= 2000 * bytes.len() + (512 << 20), "{most} bytes of memory for {}", bytes.len());
    match parsed {
        Ok(scenario) => {
            assert!(scenario.end > scenario.measured_from && !scenario.groups.is_empty());
            assert_eq!(scenario.labels.len(), scenario.script.steps().len());
            let plan = scenario.plan(7, Shard::WHOLE);
            assert_eq!(plan.sessions().take(100).count(), plan.sessions().take(100).count());
        }
        Err(diagnostics) => {
            assert!(diagnostics.len() > 0 && diagnostics.places().count() == diagnostics.len());
            assert!(diagnostics.to_string().contains("fuzzed.yaml:"));
        }
    }
});
