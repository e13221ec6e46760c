//! What the effect of the generator's delays costs: nanoseconds per request of an open load that was held up.
//!
//! `cargo run --release -p headway-stats --example effect_cost`. A report, not a test.

use headway_base::Nanos;
use headway_base::random::Stream;
use headway_base::special::exponential;
use headway_stats::effect::{BLOCK, Effect, Fate, HoldUp, Place, Request, Tolerance};

/// Four servers at 80 %, 1,000 requests a second, held up for 5 ms twice a second. The target works meanwhile, where `works`; else
/// responses come only after hold-ups, so that queues are played in both times.
fn load(n: usize, works: bool) -> (Vec<Request>, Vec<HoldUp>) {
    let mut draws = Stream::new(1, "cost").item(0);
    let (mut due, mut last, mut free) = (0.0, 0.0f64, [0.0f64; 4]);
    let held = |at: f64| if at % 0.5 < 0.005 { at - at % 0.5 + 0.005 } else { at };
    let ns = |s: f64| Nanos((s * 1e9) as i64);
    let request = |_| {
        due += exponential(&mut draws) / 1_000.0;
        last = last.max(held(due));
        let first = (0..4).min_by(|&a, &b| free[a].total_cmp(&free[b])).unwrap_or(0);
        free[first] = free[first].max(last) + exponential(&mut draws) * 0.0032;
        let (came, read) = (free[first], held(free[first]));
        Request {
            intended: ns(due),
            started: ns(last),
            answered: ns(if works { came } else { read }),
            done: ns(read),
            stamped: works,
            ok: true,
            fate: Fate::Served,
            counted: true,
        }
    };
    let requests: Vec<Request> = (0..n).map(request).collect();
    let seconds = (n as f64 / 1_000.0 * 1.1) as usize;
    let hold = |k: usize| HoldUp { from: ns(0.5 * k as f64), length: ns(0.005) };
    (requests, (1..2 * seconds).map(hold).collect())
}

#[expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]
fn main() {
    let n = 400_000;
    for (name, works) in [("receive stamps", true), ("no receive stamps", false)] {
        let (requests, holds) = load(n, works);
        let best = (0..5).map(|_| {
            let start = std::time::Instant::now();
            let mut effect = Effect::new(BLOCK, Place::Elsewhere);
            holds.iter().for_each(|&hold| effect.hold_up(hold));
            requests.iter().for_each(|request| effect.push(request));
            let found = effect.finish(&Tolerance::default());
            assert!(found.is_some_and(|found| found.n == n as u64));
            start.elapsed()
        });
        let best = best.min().unwrap_or_default();
        println!("{name:20} {:6.0} ns a request", best.as_nanos() as f64 / n as f64);
    }
}
