//! A run of which a stage hangs: it is named, what was recorded is saved, and the program can end.

use headway_engine::serve::{Server, Settings};
use headway_engine::watchdog::Stuck;
use headway_engine::{
    Address, Backend, Batch, Control, Keep, Live, Nanos, Observer, Place, Plan, Process, Rate, Request,
    RunSpec, Script, Target, dist,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Tells this program that it is the child whose run hangs, and where the run is kept.
const CHILD: &str = "HEADWAY_TEST_CHILD_FOLDER";

/// Takes two batches and never returns from the third.
struct Hangs(u32);

impl Observer for Hangs {
    fn batch(&mut self, _: &Batch) {
        self.0 += 1;
        if self.0 > 2 {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }
}

fn says_and_ends(stuck: &Stuck) {
    println!("\nstuck {} rows {:?} complete {}", stuck.stage.name(), stuck.rows, stuck.complete);
    std::process::exit(1)
}

/// In the parent nothing; in the child a run of 1,000 requests.
#[test]
fn child_that_hangs() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let service = dist::parse("1ms", &|_| Ok(Vec::new())).unwrap();
    let any_port = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::bind(&any_port, Settings::new(service, 8, 1), None, Control::default()).unwrap();
    let target = Target::parse(&format!("http://{}/", server.address())).unwrap();
    let script = Script::single(&Request::get(&target.path));
    let second = Nanos::from_secs(1);
    let plan = Plan::ramp_and_hold(1, Process::Constant, Rate(1_000.0), Nanos::ZERO, Nanos::ZERO, second);
    let mut spec = RunSpec::new("hangs", plan, 50);
    spec.limits.timeout = second;
    spec.keep = Some(Keep { place: Place::Folder(folder.into()), log: true });
    let live = Live { on_stuck: says_and_ends, ..Live::new(target, script) };
    std::thread::spawn(move || server.run());
    let played = Backend::Live(Box::new(live)).play(&spec, &Control::default(), &mut [&mut Hangs(0)]);
    panic!("it returned: {:?}", played.map(|run| run.summary.verdict));
}

#[test]
fn a_stage_that_hangs_is_named_and_what_was_recorded_is_saved() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    let began = Instant::now();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_hangs", "--nocapture"])
        .env(CHILD, &folder)
        .output()
        .unwrap();
    let took = began.elapsed();
    let text = String::from_utf8_lossy(&child.stdout);
    assert_eq!(child.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&child.stderr));
    assert!(text.contains("stuck observers rows Some(1000) complete true"), "{text}");
    // The plan takes one second and the patience five; the rest is for a busy machine.
    assert!(took >= Duration::from_secs(6) && took < Duration::from_secs(30), "{took:?}");
    assert_eq!(rows(&folder), 1_000, "the log has what the stuck stage had not taken");
}

fn rows(folder: &Path) -> u64 {
    let folder = headway_records::RunFolder::open(folder).unwrap();
    let mut rows = 0;
    let mut log = headway_records::LogReader::open(&folder.records()).unwrap();
    while let Some(batch) = log.next_batch().unwrap() {
        rows += batch.iter().map(|record| u64::from(record.count)).sum::<u64>();
    }
    rows
}
