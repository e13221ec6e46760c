//! What `headway doctor` found, as a document: `"schema": "headway.doctor/1"`. Times are in seconds, sizes in bytes, rates per second;
//! what is not known is null. The page for a terminal is in `terminal`.

use crate::words::doctor as words;
use headway_base::Machine;
use headway_stats::doctor::{Bound, Diagnosis, SCHEMA};
use serde_json::{Value, json};

/// The document; `plan`: the load and its target in words, where there is one.
pub fn json(diagnosis: &Diagnosis, plan: Option<&str>) -> Vec<u8> {
    let findings = diagnosis.findings.iter().map(|finding| {
        let mut value = json!(finding);
        value["text"] = words::finding(finding).into();
        for (value, change) in value["changes"].as_array_mut().into_iter().flatten().zip(&finding.changes) {
            value["command"] = words::change(change).into();
        }
        value
    });
    crate::json::document(&json!({
        "schema": SCHEMA,
        "plan": plan,
        "fitness": diagnosis.fitness(),
        "first": diagnosis.first().map(bound),
        "findings": findings.collect::<Vec<_>>(),
        "bounds": diagnosis.bounds.iter().map(bound).collect::<Vec<_>>(),
        "demand": diagnosis.demand,
        "measured": diagnosis.measured,
        "machine": machine(&diagnosis.machine),
    }))
}

fn bound(bound: &Bound) -> Value {
    let mut value = json!(bound);
    value["used"] = json!(bound.used());
    value["ends"] = json!(bound.ends());
    value
}

/// A limit that is none is null.
fn limit(n: u64) -> Option<u64> {
    (n < u64::MAX).then_some(n)
}

fn machine(machine: &Machine) -> Value {
    let Machine { descriptors, ports, buffers, clock, .. } = machine;
    json!({
        "cores": machine.cores,
        "quota": machine.quota.as_ref().map(|quota| json!({
            "cores": quota.cores, "period_s": quota.period_s, "file": quota.file,
        })),
        "governors": machine.governors,
        "descriptors": {
            "soft": limit(descriptors.soft),
            "hard": limit(descriptors.hard),
            "nr_open": descriptors.most.and_then(limit),
            "file_max": descriptors.system.and_then(|(most, _)| limit(most)),
            "open": descriptors.system.map(|(_, open)| open),
        },
        "ports": {
            "range": ports.range.map(|(first, last)| [first, last]),
            "reserved": ports.reserved,
            "per_target": ports.per_target(),
            "tcp_tw_reuse": ports.reuse,
            "time_wait": ports.waiting,
        },
        "buffers": {
            "rmem_default": buffers.receive,
            "rmem_max": buffers.receive_most,
            "wmem_default": buffers.send,
            "wmem_max": buffers.send_most,
        },
        "realtime_permitted": machine.realtime,
        "somaxconn": machine.somaxconn,
        "conntrack": machine.conntrack.map(|conntrack| json!({
            "tracked": conntrack.tracked, "max": conntrack.most, "time_wait_s": conntrack.closed_s,
        })),
        "memory_available": machine.memory,
        "clock": {
            "source": clock.source,
            "read_s": clock.read_s,
            "synchronised": clock.synchronised,
            "error_s": clock.error_s,
        },
    })
}
