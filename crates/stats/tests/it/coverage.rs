//! An interval is worth its coverage: how often it holds the truth over independent replications.
//!
//! M/M/1 at utilisation 0.8, mean service 1 ms, started empty with a warm-up of 1 s: sojourn times are exponential of
//! mean 5 ms (Kleinrock 1975, section 3.2). 500 replications: the standard error of a coverage of 95 % is 1 %.

use crate::world::{World, answered, draws, exponential};
use headway_base::Nanos;
use headway_base::random::Draws;
use headway_stats::Workload;
use headway_stats::queueing::Mmc;

/// Counts of replications whose interval held the truth: mean, p50, p90, p95, p99.
fn coverage(replications: u64, seconds: i64) -> [u64; 5] {
    let queue = Mmc::mm1(800.0, 0.001);
    let mut held = [0; 5];
    for replication in 0..replications {
        let mut world = World::empty(800.0, seconds + 1);
        world.measured.start = Nanos::from_secs(1);
        let mut draws = draws(1000 + replication);
        // Lindley's recursion: the wait is what is left of the work before.
        let (mut at, mut free) = (0.0f64, 0.0f64);
        for k in 0.. {
            at += exponential(&mut draws) / 800.0;
            free = free.max(at) + exponential(&mut draws) * 0.001;
            let due = (at * 1e9) as i64;
            if due >= world.measured.end.0 {
                break;
            }
            world.records.push(answered(k, due, due, ((free - at) * 1e9) as i64));
        }
        let response = world.analyse().response;
        let ci = response.ci95;
        let truths = [0.5, 0.9, 0.95, 0.99].map(|p| queue.sojourn_quantile(p));
        let truths = [queue.sojourn_mean(), truths[0], truths[1], truths[2], truths[3]];
        let intervals = [ci.mean, ci.p50, ci.p90, ci.p95, ci.p99];
        for (held, (interval, truth)) in held.iter_mut().zip(intervals.into_iter().zip(truths)) {
            // An interval that is withheld does not hold the truth.
            *held += u64::from(interval.is_some_and(|[low, high]| low <= truth && truth <= high));
        }
    }
    held
}

/// 100 s: 80,000 requests, batches of 5 s, some 55 relaxation times of the queue.
#[test]
#[ignore = "a quarter of a minute in release mode; the short one below runs always"]
fn intervals_hold_the_truth_in_500_replications() {
    // SECONDS=25 shows what short runs are worth.
    let seconds = std::env::var("SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(100);
    let held = coverage(500, seconds);
    println!("mean p50 p90 p95 p99: {held:?} of 500");
    assert!(held.iter().all(|h| (450..=490).contains(h)), "{held:?}");
}

/// The same with 40 replications; 90 % less three standard errors of 40 trials.
#[test]
fn intervals_hold_the_truth() {
    let held = coverage(40, 60);
    assert!(held.iter().all(|h| *h >= 31), "{held:?}");
}

/// A closed run: `users` users of one server, exponential services of mean 10 ms and thoughts of mean 1.1 s, from all thinking.
fn of_users(users: usize, seconds: i64, seed: u64) -> World {
    let (service, think) = (0.01, 1.1);
    let mut draws = draws(seed);
    let mut world = World { workload: Workload::Closed, ..World::empty(users as f64, seconds) };
    let mut next: Vec<f64> = (0..users).map(|_| think * exponential(&mut draws)).collect();
    let mut free = 0.0f64;
    for k in 0.. {
        let Some(user) = (0..users).min_by(|&a, &b| next[a].total_cmp(&next[b])) else { return world };
        let (at, due) = (next[user], (next[user] * 1e9) as i64);
        if due >= world.measured.end.0 {
            return world;
        }
        free = free.max(at) + service * exponential(&mut draws);
        world.records.push(answered(k, due, due, ((free - at) * 1e9) as i64));
        next[user] = free + think * exponential(&mut draws);
    }
    world
}

/// Its p99: who comes finds what one user fewer would leave on average (Sevcik and Mitrani 1981; Lavenberg and Reiser 1980), and waits for all of
/// them and itself: an Erlang time.
fn p99_of_users(users: usize) -> f64 {
    let (service, think) = (0.01, 1.1);
    let mut weights = vec![1.0];
    for j in 0..users - 1 {
        weights.push(weights[j] * (users - 1 - j) as f64 * service / think);
    }
    let all: f64 = weights.iter().sum();
    let beyond = |t: f64| {
        let (mut term, mut sum, mut found) = ((-t / service).exp(), 0.0, 0.0);
        for (j, weight) in weights.iter().enumerate() {
            sum += term;
            term *= t / service / (j + 1) as f64;
            found += weight / all * sum;
        }
        found
    };
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle) > 0.01 { low = middle } else { high = middle }
    }
    low
}

/// How many of so many closed runs had an interval of p99, and how many of these held the truth.
fn p99_of(users: usize, seconds: i64, trials: u64) -> (u64, u64) {
    let truth = p99_of_users(users);
    let (mut told, mut held) = (0, 0);
    for trial in 0..trials {
        if let Some([low, high]) = of_users(users, seconds, 5_000 + trial).analyse().response.ci95.p99 {
            told += 1;
            held += u64::from(low <= truth && truth <= high);
        }
    }
    println!("p99 of {users} users, {seconds} s: {held} of {told} held, of {trials}");
    (told, held)
}

/// A minute of 100 users who keep the server busy for 86 % of it has few crowds beyond p99, and so no interval: where it had one, it held in 83 to
/// 87 %. In five minutes half have one, and it holds; in one minute of 60 users, who seldom queue, a third.
#[test]
fn the_p99_of_users_holds_what_it_promises() {
    let (told, _) = p99_of(100, 60, 100);
    assert!(told <= 5, "{told}");
    for (users, seconds) in [(100, 300), (60, 60)] {
        let (told, held) = p99_of(users, seconds, 100);
        assert!(held as f64 >= least(told) && told >= 25, "{users} users, {seconds} s: {held} of {told}");
    }
}

#[test]
#[ignore = "nightly: a minute in release mode"]
fn the_p99_of_500_runs_of_users_holds_what_it_promises() {
    for (users, seconds) in [(100, 60), (100, 120), (100, 300), (60, 60), (115, 240)] {
        let (told, held) = p99_of(users, seconds, 500);
        assert!(told <= 25 || held as f64 >= least(told), "{users} users, {seconds} s: {held} of {told}");
    }
}

/// Response times of `n` requests to a queue of `servers` with exponential services of mean 1 ms, from a steady state.
fn of_queue(load: f64, servers: usize, n: u64, seed: u64) -> World {
    let mut draws = draws(seed);
    let mut free = vec![0.0f64; servers];
    let (mut at, mut rows) = (0.0, Vec::new());
    let before = 20_000;
    for k in 0..n + before {
        at += exponential(&mut draws) / (load * servers as f64);
        let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        *next = next.max(at) + exponential(&mut draws);
        if k >= before {
            rows.push(((at * 1e6) as i64, ((*next - at) * 1e6) as i64));
        }
    }
    let mut world = World::empty(1_000.0, 1);
    world.measured = Nanos(rows[0].0)..Nanos(rows[rows.len() - 1].0 + 1);
    let row = |(k, &(due, response)): (usize, &(i64, i64))| answered(k as u64, due, due, response);
    world.records = rows.iter().enumerate().map(row).collect();
    world
}

/// How many of so many runs of M/M/1 had an interval of the mean, p50, p90, p95 and p99, and how many of these held the truth.
fn of_queues(load: f64, n: u64, trials: u64) -> [(u64, u64); 5] {
    let queue = Mmc::mm1(1_000.0 * load, 0.001);
    let truths = [0.5, 0.9, 0.95, 0.99].map(|p| queue.sojourn_quantile(p));
    let truths = [queue.sojourn_mean(), truths[0], truths[1], truths[2], truths[3]];
    let mut seen = [(0, 0); 5];
    for trial in 0..trials {
        let ci = of_queue(load, 1, n, 50_000 + trial).analyse().response.ci95;
        let intervals = [ci.mean, ci.p50, ci.p90, ci.p95, ci.p99];
        for ((told, held), (interval, truth)) in seen.iter_mut().zip(intervals.into_iter().zip(truths)) {
            *told += u64::from(interval.is_some());
            *held += u64::from(interval.is_some_and(|[low, high]| low <= truth && truth <= high));
        }
    }
    println!("M/M/1 at {load}, {n} requests, {trials} runs: told and held, mean p50 p90 p95 p99: {seen:?}");
    seen
}

/// Open queues of any length, nothing known of them: few runs have an interval that misses the truth, whatever the length, since those of
/// which little was seen have none, or a wider one.
#[test]
#[ignore = "nightly: two minutes in release mode"]
fn the_intervals_of_short_queues_are_seldom_wrong() {
    let lengths: [(f64, &[u64]); 4] = [
        (0.5, &[3_000, 10_000]),
        (0.8, &[3_000, 8_000, 24_000, 80_000]),
        (0.9, &[10_000, 50_000, 200_000]),
        (0.95, &[30_000, 200_000]),
    ];
    let trials = 200;
    for (load, lengths) in lengths {
        for &n in lengths {
            for (told, held) in of_queues(load, n, trials) {
                // 8 % of all runs, and three standard errors.
                let most = 0.08 * trials as f64 + 3.0 * (trials as f64 * 0.08 * 0.92).sqrt();
                assert!((told - held) as f64 <= most, "{load}, {n}: {held} of {told}");
            }
        }
    }
}

/// Segments of two relaxation times look alike: without an allowance the interval of the mean of such runs held in 86 %, that of p90 in 84 %.
#[test]
fn segments_that_hang_together_widen_the_interval_of_a_mean() {
    let trials = 100;
    let [(told, held), _, (told_p90, held_p90), ..] = of_queues(0.8, 3_000, trials);
    assert!(told == trials && held as f64 >= least(told), "{held} of {told}");
    assert!(told_p90 > 50 && held_p90 as f64 >= least(told_p90), "{held_p90} of {told_p90}");
}

/// A run of independent response times, in nanoseconds: how many trials had an interval of p50, p90, p95, p99 and p99.9, how many of these held the
/// truth and were marked as stepped, and the mean width of those that were not over 3.92 standard deviations of the value.
fn of_independent(
    trials: u64,
    n: u64,
    draw: impl Fn(&mut Draws) -> f64,
    quantile: impl Fn(f64) -> f64,
) -> [(u64, u64, u64, f64); 5] {
    let mut seen = [(0, 0, 0, 0.0); 5];
    let mut values: [Vec<f64>; 5] = Default::default();
    for trial in 0..trials {
        let mut draws = draws(trial);
        let mut world = World::empty(n as f64 / 100.0, 100);
        let step = 100_000_000_000 / n as i64;
        world.records =
            (0..n).map(|k| answered(k, k as i64 * step, k as i64 * step, draw(&mut draws) as i64)).collect();
        let of = world.analyse().response;
        let all = [("p50", of.p50, of.ci95.p50), ("p90", of.p90, of.ci95.p90), ("p95", of.p95, of.ci95.p95)];
        let all = all.into_iter().chain([("p99", of.p99, of.ci95.p99), ("p999", of.p999, of.ci95.p999)]);
        for (i, ((name, value, interval), p)) in all.zip([0.5, 0.9, 0.95, 0.99, 0.999]).enumerate() {
            values[i].push(value.unwrap());
            let (Some([low, high]), truth) = (interval, quantile(p) / 1e9) else { continue };
            let marked = of.stepped.contains_key(name);
            let (told, held, stepped, width) = &mut seen[i];
            *told += 1;
            // A nanosecond: times are whole ones.
            *held += u64::from(low - 1e-9 <= truth && truth <= high + 1e-9);
            *stepped += u64::from(marked);
            *width += if marked { 0.0 } else { high - low };
        }
    }
    for ((told, _, stepped, width), values) in seen.iter_mut().zip(&values) {
        let mean = values.iter().sum::<f64>() / trials as f64;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (trials - 1) as f64).sqrt();
        *width /= 3.92 * sd * (*told - *stepped) as f64;
    }
    seen
}

/// Trials of which so few miss the truth by chance where 92 % hold it: four standard errors.
fn least(told: u64) -> f64 {
    told as f64 * 0.92 - 4.0 * (told as f64 * 0.92 * 0.08).sqrt()
}

fn hold_what_they_promise(trials: u64, n: u64) {
    let exponential = |draws: &mut Draws| 1e7 * exponential(draws);
    let told = of_independent(trials, n, exponential, |p: f64| -1e7 * (1.0 - p).ln());
    println!("exponential, {n}: {told:?}");
    // Ten of 10,000 lie beyond p99.9.
    assert_eq!(told.map(|of| of.0 > 0), [true, true, true, true, n > 10_000]);
    for (told, held, stepped, width) in told.into_iter().filter(|of| of.0 > 0) {
        assert!(held as f64 >= least(told), "{held} of {told}");
        let slack = 1.3 * (1.0 + 3.0 / (2.0 * trials as f64).sqrt());
        assert!(2 * stepped > told || width <= slack, "{width}");
    }
    // Atoms: the interval reaches around a cell, and says so.
    let whole = |draws: &mut Draws| (exponential(draws) / 5e5).ceil() * 1e6;
    let told = of_independent(trials.min(100), n, whole, |p: f64| (-20.0 * (1.0 - p).ln()).ceil() * 1e6);
    println!("whole milliseconds, {n}: {told:?}");
    assert!(told.iter().all(|&(told, held, ..)| held as f64 >= least(told)), "{told:?}");
    let same = of_independent(10, n.min(10_000), |_| 1e7 + 3.0, |_| 1e7 + 3.0);
    assert!(same.iter().all(|&(told, held, stepped, _)| told == held && told == stepped), "{same:?}");
}

#[test]
#[ignore = "nightly: a minute in release mode"]
fn percentiles_of_independent_times_hold_what_they_promise() {
    hold_what_they_promise(500, 10_000);
    hold_what_they_promise(100, 1_000_000);
}

#[test]
fn percentiles_of_some_independent_times_hold_what_they_promise() {
    hold_what_they_promise(60, 10_000);
}
