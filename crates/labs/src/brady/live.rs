//! The calm test live: the same users, faster by a factor, against a target on this machine's loopback whose response times
//! are independent; beside them the simulation of the same.
//!
//! Test 1830 at its own pace would take 22 minutes. CoV has no unit: a test in which everything goes faster has the same,
//! but for what the machine adds.

use super::cases::slope;
use super::play::{Launches, Numbers, Setting, USERS, play};
use super::published::{SIZES, T1830, TESTS};
use super::theory;
use crate::{Cell, Quantity, Range, Report, Table, TableRow, bounds, replicate};
use anyhow::anyhow;
use headway_base::{Batch, Nanos, RecordSink as _};
use headway_engine::{Backend, Control, Live, Observer, RunSpec};
use headway_live::Address;
use headway_live::serve::{Server, Settings};
use headway_workload::content::Script;
use headway_workload::{Request, Target};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

/// So many times faster than the test of the paper.
const TIMES: f64 = 25.0;
/// What is counted: the ramp takes 4 s.
const WINDOW: (Nanos, Nanos) = (Nanos::from_millis(4_800), Nanos::from_millis(18_800));
/// Replications of the simulation beside it.
const REPLICATIONS: u64 = 200;
/// How long before the plan's zero the client is started.
const AHEAD: Nanos = Nanos::from_millis(100);
/// How long an answer may take.
const PATIENCE: Nanos = Nanos::from_secs(5);

/// Plays it live and adds a table and a sentence to the report.
///
/// # Errors
/// The system refuses what a target or a client needs.
pub fn add(seed: u64, report: &mut Report) -> anyhow::Result<()> {
    let setting = setting(TIMES, WINDOW)?;
    let simulated = replicate(seed, REPLICATIONS, |seed| play(&setting, seed));
    let simulated = simulated.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let live = run(&setting, seed)?;
    report.tables.push(table(&live, &simulated));
    report.notes.push(note(&live, &simulated));
    Ok(())
}

/// Test 1830, faster, with stamps as fine as the clock's.
fn setting(times: f64, window: (Nanos, Nanos)) -> anyhow::Result<Setting> {
    Ok(Setting { window, stamp: Nanos(1), ..Setting::faster(&TESTS[T1830], times)? })
}

/// What a live run gave.
#[derive(Clone, Debug, PartialEq)]
struct Lived {
    numbers: Numbers,
    /// Requests that were not answered well.
    failed: u64,
    /// Hold-ups of the client of more than a millisecond while launches were counted.
    held_up: Vec<Nanos>,
}

impl Lived {
    /// What hold-ups add to CoV^2 of all users. One of length h puts a headway of h in the place of some h/m, whose squares
    /// come to 2hm for an exponential law of mean m; CoV^2 is the sum of squares over n m^2, less 1.
    fn added_by_hold_ups(&self) -> f64 {
        let mean = 1.0 / self.numbers.tps;
        let added = self.held_up.iter().map(|h| h.as_secs_f64() * (h.as_secs_f64() - 2.0 * mean));
        added.filter(|x| *x > 0.0).sum::<f64>() / (self.numbers.launches as f64 * mean * mean)
    }
}

/// A target and its users, both on this machine.
fn run(setting: &Setting, seed: u64) -> anyhow::Result<Lived> {
    // Nobody ever waits for another.
    let served = Settings::new(setting.response.clone(), USERS, seed);
    let stop_target = Control::default();
    let loopback = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::bind(&loopback, served, None, stop_target.clone())?;
    let target = Target::parse(&format!("http://{}/", server.address()))?;
    let live = Live {
        threads: Some(1),
        start: Some(headway_engine::Start::In(AHEAD)),
        ..Live::new(target.clone(), Script::single(&Request::get(&target.path)))
    };
    let spec = RunSpec {
        limits: bounds::limits(USERS, PATIENCE),
        ..RunSpec::new("brady", setting.plan(seed)?, USERS)
    };
    let mut kept = Kept(Launches::new(setting));
    let result = thread::scope(|scope| {
        let serving = scope.spawn(|| server.run());
        let backend = Backend::Live(Box::new(live));
        let played = backend.play(&spec, &Control::default(), &mut [&mut kept]);
        stop_target.stop();
        let served = serving.join();
        served.map_err(|_| anyhow!("the embedded target panicked"))??;
        anyhow::Ok(played?)
    })?;
    let stalls = result.summary.generator.into_iter().flat_map(|generator| generator.stalls);
    let seconds = Nanos::from_secs_f64;
    let (from, to) = setting.window;
    let held_up = stalls.filter(|stall| (from..to).contains(&seconds(stall.at_s)));
    let held_up = held_up.map(|stall| seconds(stall.length_s)).collect();
    Ok(Lived { failed: kept.0.failed(), numbers: kept.0.numbers(), held_up })
}

/// Keeps the launches of a run.
struct Kept(Launches);

impl Observer for Kept {
    fn batch(&mut self, batch: &Batch) {
        batch.records.iter().for_each(|record| self.0.record(*record));
    }
}

fn table(live: &Lived, simulated: &[Numbers]) -> Table {
    let test = &TESTS[T1830];
    let users = theory::Users::new(test.think_s, test.response_ms / 1e3, test.response_sd_ms / 1e3, 0.0);
    let rows = SIZES.iter().zip(users.cov(&SIZES)).enumerate().map(|(i, (k, theory))| TableRow {
        name: k.to_string(),
        cells: vec![Cell {
            live: Some(live.numbers.cov[i]),
            theory: Some(theory),
            ..Cell::observed(Range::over(simulated, |n| n.cov[i]))
        }],
    });
    Table {
        title: format!(
            "Live on this machine, test 1830 {TIMES} times faster ({:.0} requests/s): CoV of headways of the first k users, \
             beside the simulation of the same",
            live.numbers.tps
        ),
        key: "first k users",
        source: "paper",
        quantities: vec![Quantity::new("CoV", 3)],
        rows: rows.collect(),
        spread: true,
    }
}

/// Whether the live users do as the simulated ones.
fn note(live: &Lived, simulated: &[Numbers]) -> String {
    let outside: Vec<String> = SIZES
        .iter()
        .enumerate()
        .filter(|(i, _)| {
            Range::over(simulated, |n| n.cov[*i]).and_then(|r| r.holds(live.numbers.cov[*i])) != Some(true)
        })
        .map(|(_, k)| k.to_string())
        .collect();
    let groups = match outside.as_slice() {
        [] => "in every thread group the CoV lies within 5-95 % of the simulation".to_owned(),
        // One in ten is outside by chance, and neighbouring groups share their users.
        some => format!("the CoV lies outside 5-95 % of the simulation in the groups of {}", some.join(", ")),
    };
    let slopes = Range::over(simulated, |n| slope(&n.cov));
    let own = slope(&live.numbers.cov);
    let grows = if slopes.and_then(|r| r.p95).is_some_and(|most| own > most) {
        "; it grows with the number of users more than in the simulation, as when something holds up all of them"
    } else {
        ""
    };
    let failed = match live.failed {
        0 => String::new(),
        n => format!("; {} of {} requests failed", n, live.numbers.launches),
    };
    format!(
        "Live, {} launches: {groups}{grows}{failed}. {} Mean response time {}; the target was set to {}.",
        headway_report::format::count(live.numbers.launches),
        hold_ups(live, simulated),
        headway_report::format::time(live.numbers.response_ms / 1e3),
        headway_report::format::time(TESTS[T1830].response_ms / TIMES / 1e3),
    )
}

/// What the client knows of its own hold-ups, and what they come to.
fn hold_ups(live: &Lived, simulated: &[Numbers]) -> String {
    let Some(longest) = live.held_up.iter().max() else {
        return "The client was never held up for more than 1 ms.".to_owned();
    };
    let squared = |numbers: &Numbers| numbers.cov.last().map_or(f64::NAN, |cov| cov * cov);
    let expected = simulated.iter().map(squared).sum::<f64>() / simulated.len() as f64;
    format!(
        "The client was held up {} for more than 1 ms (longest {}), which adds {:.3} to CoV^2 of all users; seen beyond the \
         simulation's mean: {:+.3}.",
        headway_report::format::plural(live.held_up.len() as u64, "time"),
        headway_report::format::time(longest.as_secs_f64()),
        live.added_by_hold_ups(),
        squared(&live.numbers) - expected
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second and a half against a real target: that it runs, and that all is answered.
    #[test]
    fn a_short_live_run() {
        let setting = setting(100.0, (Nanos::from_millis(1_100), Nanos::from_millis(1_500))).unwrap();
        let live = run(&setting, 3).unwrap();
        assert!(live.failed == 0 && live.numbers.launches > 0, "{live:?}");
        assert!(live.numbers.cov[23] > 0.0);
    }

    /// Sentences from numbers made by hand: the simulated ones, taken as live; bunched ones; failures.
    #[test]
    fn the_sentence_follows_the_numbers() {
        let setting = setting(100.0, (Nanos::from_millis(1_200), Nanos::from_millis(3_200))).unwrap();
        let simulated: Vec<Numbers> = (0..20).map(|seed| play(&setting, seed).unwrap()).collect();
        let mean = |i: usize| simulated.iter().map(|n| n.cov[i]).sum::<f64>() / simulated.len() as f64;
        let typical = Numbers { cov: (0..SIZES.len()).map(mean).collect(), ..simulated[0].clone() };
        let said = note(&Lived { numbers: typical.clone(), failed: 0, held_up: Vec::new() }, &simulated);
        assert!(said.contains("The client was never held up"), "{said}");
        assert!(
            said.contains("in every thread group") && !said.contains("grows") && !said.contains("failed")
        );
        let mut bunched = typical;
        for (k, cov) in SIZES.iter().zip(&mut bunched.cov) {
            *cov += 0.001 * f64::from(*k);
        }
        let held_up = vec![Nanos::from_millis(20), Nanos::from_millis(10)];
        let lived = Lived { numbers: bunched, failed: 7, held_up };
        // Squares of 20 and 10 ms, less twice each times the mean headway, over launches x mean^2.
        let mean = 1.0 / lived.numbers.tps;
        let added = (5e-4 - 2.0 * mean * 0.03) / (lived.numbers.launches as f64 * mean * mean);
        assert!((lived.added_by_hold_ups() - added).abs() < 1e-9);
        let said = note(&lived, &simulated);
        assert!(
            said.contains("The client was held up 2 times for more than 1 ms (longest 20.0 ms)"),
            "{said}"
        );
        assert!(
            said.contains("outside 5-95 % of the simulation in the groups of") && said.contains("175, 200"),
            "{said}"
        );
        assert!(said.contains("grows with the number of users more") && said.contains("; 7 of "), "{said}");
    }
}
