//! Summaries computed again from the records.

use clap::Parser as _;
use headway_cli::args::{Args, Command};
use headway_cli::settings::simulated;
use headway_engine::{Manifest, Told, recompute};
use headway_records::RunFolder;
use std::fs;

#[test]
fn sessions_of_several_requests_are_counted_again_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, out) = (folder.path().join("s.yaml"), folder.path().join("run"));
    let text = "users: { arrive: { rate: 50/s }, phases: [ { hold: 4s } ], think: exp(10ms) }\n\
        journey: [ { get: /a }, { get: /b, repeat: 2 } ]\nmodel: { servers: 2, service: exp(1ms) }\n";
    fs::write(&scenario, text).unwrap();
    let words = ["headway", "sim", scenario.to_str().unwrap(), "--seed", "5", "--out", out.to_str().unwrap()];
    let Command::Sim(args) = Args::parse_from(words).command else { unreachable!() };
    let settings = simulated(&args, &[]).unwrap();
    let backend = headway_engine::Backend::Sim(Box::new(settings.sim.clone()));
    let first = backend.play(&settings.spec, &headway_engine::Control::default(), &mut []).unwrap().summary;
    let run = RunFolder::open(&out).unwrap();
    let document = Manifest::read(&run.plan()).unwrap();
    let again = recompute(&run.records(), document, Vec::new(), Told::default()).unwrap();
    assert!(first.measured.n > 400, "{}", first.measured.n);
    assert_eq!((again.source, &again.started_at), (first.source, &first.started_at));
    assert_eq!(again.measured, first.measured);
    assert_eq!(again.arrivals, first.arrivals);
    assert_eq!(again.sessions, first.sessions);
    assert_eq!(again.verdict.load, first.verdict.load);
}
