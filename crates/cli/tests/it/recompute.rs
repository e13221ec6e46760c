//! Summaries computed again from the records.

use clap::Parser as _;
use headway_base::{Kind, Nanos};
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::simulated;
use headway_engine::{Control, Manifest, Observer, Snapshot, Told, recompute, replay};
use headway_records::{LogReader, RunFolder};
use std::fs;
use std::path::Path;

#[test]
fn sessions_of_several_requests_are_counted_again_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, out) = (folder.path().join("s.yaml"), folder.path().join("run"));
    let text = "users: { arrive: { rate: 50/s }, phases: [ { hold: 4s } ], think: exp(10ms) }\n\
        journey: [ { get: /a }, { get: /b, repeat: 2 } ]\nmodel: { servers: 2, service: exp(1ms) }\n";
    fs::write(&scenario, text).unwrap();
    let words = ["headway", "sim", scenario.to_str().unwrap(), "--seed", "5", "--out", out.to_str().unwrap()];
    let Command::Sim(args) = Args::parse_from(words).command else { unreachable!() };
    let settings = simulated(&args, &Typed::default()).unwrap();
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

/// What a replay shows: how many requests had ended when.
#[derive(Default)]
struct Shown(Vec<(Nanos, u64)>);

impl Observer for Shown {
    fn snapshot(&mut self, snapshot: &Snapshot) {
        self.0.push((snapshot.now.at, snapshot.now.ended));
    }
    fn finished(&mut self, snapshot: &Snapshot) {
        self.0.push((snapshot.now.at, snapshot.now.ended));
    }
}

#[test]
fn a_replay_shows_each_request_when_it_ended_and_comes_to_the_same_summary() {
    for name in ["simulation", "run"] {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/folders/0.1.0").join(name);
        let run = RunFolder::open(&recorded).unwrap();
        let manifest = || Manifest::read(&run.plan()).unwrap();
        let mut ends = Vec::new();
        let mut log = LogReader::open(&run.records()).unwrap();
        while let Some(batch) = log.next_batch().unwrap() {
            let requests = batch.iter().filter(|row| row.kind == Kind::Request);
            ends.extend(requests.map(|row| (row.done, u64::from(row.count))));
        }
        let mut shown = Shown::default();
        let summary =
            replay(&run.records(), &manifest(), Vec::new(), 500.0, &Control::default(), &mut [&mut shown]);
        let summary = summary.unwrap().expect("nobody stopped it");
        assert_eq!(
            summary,
            recompute(&run.records(), manifest(), Vec::new(), Told::default()).unwrap(),
            "{name}"
        );
        let (last, before) = shown.0.split_last().unwrap();
        assert_eq!(last.1, ends.iter().map(|(_, n)| n).sum::<u64>(), "{name}");
        assert!(!ends.is_empty());
        for (at, ended) in before {
            let due: u64 = ends.iter().filter(|(done, _)| done <= at).map(|(_, n)| n).sum();
            assert_eq!(*ended, due, "{name} at {at}");
        }
        // One that is stopped has nothing to say.
        let control = Control::default();
        control.stop();
        let stopped = replay(&run.records(), &manifest(), Vec::new(), 0.01, &control, &mut []).unwrap();
        assert!(stopped.is_none());
    }
}
