use super::*;
use headway_base::{Phase, Rate};
use proptest::prelude::*;
use std::sync::Arc;

fn hold(rate: f64, seconds: i64) -> Arc<Profile> {
    Arc::new(Profile::new(&[Phase::hold(Nanos::from_secs(seconds), Rate(rate))]))
}

fn all(seed: u64, process: Process, profile: &Arc<Profile>) -> Vec<Arrival> {
    Arrivals::new(seed, process, profile.clone(), Shard::WHOLE).collect()
}

fn examples() -> impl Iterator<Item = Process> {
    ALL.iter().map(|f| Process::parse(f.example()).unwrap())
}

#[test]
fn every_process_is_registered_and_reads_what_it_writes() {
    for (family, process) in ALL.iter().zip(examples()) {
        assert_eq!(process.family().name(), family.name());
        assert_eq!(Process::parse(&process.to_string()).unwrap(), process);
        assert!(family.usage().starts_with(family.name()) && !family.about().is_empty());
    }
    let error = |text: &str| Process::parse(text).unwrap_err().to_string();
    assert!(error("posson").contains("did you mean poisson?"));
    assert!(error("gamma").contains("gamma(2.5)"));
    assert!(error("gamma(0)").contains("from 0.01"));
    assert!(error("constant(3)").contains("write just constant"));
    assert!(error("posson").contains("batch(PROCESS,SIZE)"));
}

/// The first instants of a plan, as printed by version 1: a change here is a new `plan.version`.
#[test]
fn plans_are_bit_for_bit_what_version_1_made() {
    let profile = Arc::new(Profile::new(&[
        Phase::ramp(Nanos::from_secs(2), Rate(0.0), Rate(50.0)),
        Phase::pause(Nanos::from_secs(1)),
        Phase::hold(Nanos::from_secs(7), Rate(50.0)),
    ]));
    let mut got = String::new();
    for process in examples() {
        let plan = all(11, process, &profile);
        let show: Vec<String> =
            [0, 1, 2, 60, plan.len() - 1].iter().map(|&i| plan[i].intended.0.to_string()).collect();
        got.push_str(&format!("{process} {} {}\n", plan.len(), show.join(" ")));
    }
    assert_eq!(got, include_str!("golden.txt"), "\n{got}");
}

/// Kolmogorov's distance of the unit gaps from their law, and CoV within 4 standard errors, for every process.
#[test]
fn gaps_follow_their_law() {
    let n: f64 = 100_000.0;
    for process in examples() {
        let plan = all(5, process, &hold(1000.0, 100));
        let instants = std::iter::once(0.0).chain(plan.iter().map(|a| a.intended.as_secs_f64()));
        let instants: Vec<f64> = instants.collect();
        let mut gaps: Vec<f64> = instants.windows(2).map(|w| (w[1] - w[0]) * 1000.0).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let m = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / m;
        let central = |p: i32| gaps.iter().map(|g| (g - mean).powi(p)).sum::<f64>() / m;
        let cov = central(2).sqrt() / mean;
        if process == Process::Constant {
            assert_eq!(plan.len(), 100_000);
            assert!(cov < 1e-5);
            continue;
        }
        let (skew, kurtosis) = (central(3) / central(2).powf(1.5), central(4) / central(2).powi(2));
        let se = cov * (((kurtosis - 1.0) / 4.0 + cov * cov - skew * cov) / m).sqrt();
        assert!((cov - process.gap_cov()).abs() < 4.0 * se, "{process}: CoV {cov}");
        // Instants are whole nanoseconds: a gap is known to 1e-6 of the mean, which matters where the law is steep.
        let cdf = |g: f64| process.gap_cdf(g).unwrap();
        let d = gaps.iter().enumerate().map(|(i, &g)| {
            let above = i as f64 / m - cdf(g + 1e-6);
            above.max(cdf(g - 1e-6) - (i + 1) as f64 / m)
        });
        let d = d.fold(0.0, f64::max);
        assert!(d < 2.23 / m.sqrt(), "{process}: distance {d}"); // Kolmogorov's 1e-4 quantile
        // The count: its standard deviation is CoV sqrt(n) for a renewal process, none for a fixed number.
        let slack = if process == Process::PoissonFixedN { 0.0 } else { 4.0 * process.gap_cov() * n.sqrt() };
        assert!((m - n).abs() <= slack, "{process}: {m} arrivals");
    }
}

/// Invariant 2, second half: shard headways follow the thinned law, CoV^2 = 1 + (c^2 - 1)/N, and each shard has its
/// share of the arrivals (binomial).
#[test]
fn each_shard_follows_the_thinned_law() {
    for process in examples() {
        for count in [2u32, 5, 16, 64] {
            let profile = hold(2000.0 * f64::from(count), 10);
            for index in [0, count / 2, count - 1] {
                let shard = Shard::new(index, count).unwrap();
                let instants: Vec<f64> = Arrivals::new(3, process, profile.clone(), shard)
                    .map(|a| a.intended.as_secs_f64())
                    .collect();
                let n: f64 = 20_000.0;
                let sd = (n * (1.0 - 1.0 / f64::from(count)) + n * process.gap_cov().powi(2)).sqrt();
                assert!(
                    (instants.len() as f64 - n).abs() < 4.0 * sd,
                    "{process} {shard}: {}",
                    instants.len()
                );
                let gaps: Vec<f64> = instants.windows(2).map(|w| w[1] - w[0]).collect();
                let m = gaps.len() as f64;
                let mean = gaps.iter().sum::<f64>() / m;
                let central = |p: i32| gaps.iter().map(|g| (g - mean).powi(p)).sum::<f64>() / m;
                let cov = central(2).sqrt() / mean;
                let (skew, kurtosis) = (central(3) / central(2).powf(1.5), central(4) / central(2).powi(2));
                let se = cov * (((kurtosis - 1.0) / 4.0 + cov * cov - skew * cov) / m).sqrt();
                let expected = process.thinned_cov(count);
                assert!((cov - expected).abs() < 4.0 * se, "{process} {shard}: {cov}, not {expected}");
            }
        }
    }
}

/// Batches whose sizes are not geometric, so that their gaps depend on each other, and others.
const BATCHES: [&str; 5] = [
    "batch(poisson,geometric(3))",
    "batch(poisson,const(4))",
    "batch(poisson,uniform(1,9))",
    "batch(constant,const(5))",
    "batch(gamma(2),uniform(2,4))",
];

/// The instants of a shard of a plan of batches that sends 1,000 a second for 200 s.
fn of_shard(process: Process, index: u32, count: u32) -> Vec<f64> {
    let shard = Shard::new(index, count).unwrap();
    let arrivals = Arrivals::new(21, process, hold(1000.0 * f64::from(count), 200), shard);
    arrivals.map(|a| a.intended.as_secs_f64()).collect()
}

/// The index of dispersion of the counts in windows, and its standard error.
fn index_of_dispersion(instants: &[f64], window: f64, windows: usize) -> (f64, f64) {
    let mut counts = vec![0.0; windows];
    for t in instants {
        if let Some(count) = counts.get_mut((t / window) as usize) {
            *count += 1.0;
        }
    }
    let m = windows as f64;
    let mean = counts.iter().sum::<f64>() / m;
    let central = |p: i32| counts.iter().map(|c| (c - mean).powi(p)).sum::<f64>() / m;
    (central(2) / mean, ((central(4) - central(2).powi(2)).max(0.0) / m).sqrt() / mean)
}

/// Counts over long windows vary as their law says, and those of a shard as the thinned law does. Of Poisson batches every window
/// has E[B^2]/E[B]; of others windows of 2,000 arrivals differ from the limit by less than an error.
#[test]
fn batches_bring_the_index_of_dispersion_of_their_law() {
    let index = |text: &str, count: u32| Process::parse(text).unwrap().thinned_dispersion(count);
    // E[B^2]/E[B]: of geometric sizes 2 m - 1, of constant ones n, of 1 to 9 95/15.
    assert!((index(BATCHES[0], 1) - 5.0).abs() < 1e-12);
    assert!((index(BATCHES[1], 1) - 4.0).abs() < 1e-12);
    assert!((index(BATCHES[2], 1) - 95.0 / 15.0).abs() < 1e-12);
    for text in BATCHES {
        let process = Process::parse(text).unwrap();
        for count in [1, 2, 8] {
            let instants = of_shard(process, 0, count);
            let window = if text.contains("poisson") { 0.05 } else { 2.0 };
            let (seen, error) = index_of_dispersion(&instants, window, (200.0 / window) as usize);
            let law = process.thinned_dispersion(count);
            // Evenly spaced batches fill each window alike.
            assert!(
                (seen - law).abs() < 4.0 * error + 1e-3,
                "{text} 1/{count}: {seen} +- {error}, not {law}"
            );
        }
    }
}

/// The gaps of a shard have the CoV of the thinned law too where they depend on each other: errors are those between 100 parts.
#[test]
fn shards_of_batches_follow_the_thinned_law() {
    for text in BATCHES {
        let process = Process::parse(text).unwrap();
        for count in [1, 2, 8] {
            let instants = of_shard(process, count - 1, count);
            let gaps: Vec<f64> = instants.windows(2).map(|w| w[1] - w[0]).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = |part: &[f64]| {
                let n = part.len() as f64;
                let own = part.iter().sum::<f64>() / n;
                part.iter().map(|g| (g - own).powi(2)).sum::<f64>() / n / (mean * mean)
            };
            let parts: Vec<f64> = gaps.chunks_exact(gaps.len() / 100).map(square).collect();
            let m = parts.len() as f64;
            let between = parts.iter().sum::<f64>() / m;
            let error = (parts.iter().map(|p| (p - between).powi(2)).sum::<f64>() / m / m).sqrt();
            let (seen, law) = (square(&gaps), process.thinned_cov(count).powi(2));
            assert!(
                (seen - law).abs() < 4.0 * error + 1e-2,
                "{text} 1/{count}: {seen} +- {error}, not {law}"
            );
        }
    }
}

/// Arrivals of a batch are due at one instant; the rate is that of the arrivals.
#[test]
fn a_batch_is_due_at_one_instant() {
    let plan = all(1, Process::parse("batch(constant,const(5))").unwrap(), &hold(50.0, 2));
    let instants: Vec<i64> = plan.iter().map(|a| a.intended.0 / 1_000_000).collect();
    let expected: Vec<i64> = (1..=20).flat_map(|b| [100 * b; 5]).collect();
    assert_eq!(instants, expected);
    // One at a time is the process itself, and batches have the gaps of it.
    let one = all(3, Process::parse("batch(poisson,const(1))").unwrap(), &hold(50.0, 20));
    assert_eq!(one, all(3, Process::Poisson, &hold(50.0, 20)));
    let geometric = all(3, Process::parse("batch(poisson,geometric(3))").unwrap(), &hold(150.0, 20));
    let mut batches: Vec<i64> = geometric.iter().map(|a| a.intended.0).collect();
    batches.dedup();
    let single: Vec<i64> = one.iter().map(|a| a.intended.0).collect();
    assert!(batches.len() > 500 && batches.len() == single.len());
    // Their places are 3 times as far apart, at 3 times the rate: equal but for rounding.
    assert!(batches.iter().zip(&single).all(|(a, b)| (a - b).abs() <= 1), "{:?}", &batches[..5]);
}

fn profiles() -> impl Strategy<Value = Arc<Profile>> {
    let phase = (1i64..3_000, 0.0f64..300.0, 0.0f64..300.0, 0u8..4).prop_map(|(ms, a, b, kind)| {
        let length = Nanos::from_millis(ms);
        match kind {
            0 => Phase::pause(length),
            1 => Phase::hold(length, Rate(a)),
            _ => Phase::ramp(length, Rate(a), Rate(b)),
        }
    });
    prop::collection::vec(phase, 1..6).prop_map(|phases| Arc::new(Profile::new(&phases)))
}

fn processes() -> impl Strategy<Value = Process> {
    let batches = BATCHES.iter().map(|text| Process::parse(text).unwrap());
    prop::sample::select(examples().chain(batches).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Invariant 2, first half: the union of the shards is the plan, bit for bit, for every N.
    #[test]
    fn the_union_of_the_shards_is_the_plan(
        seed in any::<u64>(), process in processes(), profile in profiles(), count in 1u32..=64,
    ) {
        let mut union: Vec<Arrival> = (0..count)
            .flat_map(|i| Arrivals::new(seed, process, profile.clone(), Shard::new(i, count).unwrap()))
            .collect();
        union.sort_unstable_by_key(|a| a.k);
        prop_assert_eq!(union, all(seed, process, &profile));
    }

    /// Invariant 1: the same plan and seed give the same instants; they never go back, never leave the profile, never
    /// fall strictly inside a pause; numbers count up without a hole.
    #[test]
    fn a_plan_is_a_function_of_its_seed_and_keeps_its_profile(
        seed in any::<u64>(), process in processes(), profile in profiles(),
    ) {
        let plan = all(seed, process, &profile);
        prop_assert_eq!(&plan, &all(seed, process, &profile));
        for (i, arrival) in plan.iter().enumerate() {
            prop_assert_eq!(arrival.k, i as u64);
            prop_assert!(arrival.intended >= Nanos::ZERO && arrival.intended <= profile.end());
            prop_assert_eq!(profile.pause_around(arrival.intended), None);
        }
        prop_assert!(plan.windows(2).all(|w| w[0].intended <= w[1].intended));
        if process == Process::PoissonFixedN {
            prop_assert_eq!(plan.len() as f64, profile.total().round());
        }
    }
}
