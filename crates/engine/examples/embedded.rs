//! A load test within a program, without the command line: three seconds of Poisson arrivals to a target that this program
//! starts itself, a threshold, and an observer.
//!
//! `cargo run -p headway-engine --example embedded`

use headway_engine::serve::{Server, Settings};
use headway_engine::{
    Address, Backend, Control, Live, Nanos, Observer, Plan, Process, Rate, Request, RunSpec, Script,
    Snapshot, Summary, Target, dist, sentence,
};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

const SEED: u64 = 7;
const RATE: Rate = Rate(1_000.0);
const LENGTH: Nanos = Nanos::from_secs(3);

/// Prints a line a second.
struct Lines;

impl Observer for Lines {
    fn wants_labels(&self) -> bool {
        true
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        let of = &snapshot.by_label.labels[0];
        println!(
            "{:.0} s: {} started, {} ended; of the last second p99 {:.2} ms",
            snapshot.now.at.as_secs_f64(),
            snapshot.now.started,
            snapshot.now.ended,
            of.response.value_at_quantile(0.99) as f64 / 1e6
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // One server that takes 0.5 ms on average: at 1,000 requests a second it is busy half of the time.
    let service = dist::parse("exp(500us)", &|_| Ok(Vec::new()))?;
    let stop_target = Control::default();
    let any_port = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::bind(&any_port, Settings::new(service, 1, SEED), None, stop_target.clone())?;

    let target = Target::parse(&format!("http://{}/", server.address()))?;
    let script = Script::single(&Request::get(&target.path));
    let plan = Plan::ramp_and_hold(SEED, Process::Poisson, RATE, Nanos::ZERO, Nanos::ZERO, LENGTH);
    let spec = RunSpec { thresholds: vec!["p(99)<50ms".parse()?], ..RunSpec::new("embedded", plan, 200) };
    let backend = Backend::Live(Box::new(Live::new(target, script)));

    let result = thread::scope(|scope| {
        let serving = scope.spawn(|| server.run());
        let result = backend.play(&spec, &Control::default(), &mut [&mut Lines]);
        stop_target.stop();
        serving.join().map_err(|_| "the target panicked")??;
        result.map_err(Box::<dyn Error>::from)
    })?;
    print(&result.summary);
    Ok(())
}

fn print(summary: &Summary) {
    let ms = |seconds: f64| format!("{:.2} ms", 1e3 * seconds);
    println!("load: {:?}", summary.verdict.load);
    let p99 = summary.response.p99.map_or("none".to_owned(), ms);
    let interval = match summary.response.ci95.p99 {
        Some([low, high]) => format!("95 % confidence interval {} to {}", ms(low), ms(high)),
        None => format!("no interval: {}", sentence(&summary.not_computed["response.ci95.p99"])),
    };
    println!("p99: {p99} ({interval}), n {}", summary.response.n);
    for threshold in &summary.thresholds {
        println!("threshold {}: {:?}", threshold.text, threshold.outcome);
    }
}
