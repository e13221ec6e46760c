//! Parts of the samples: blocks, curves and series of a plausible shape, without chance.

use headway_stats::Summary;
use headway_stats::summary::{
    CurvePoint, Curves, Dispersion, DmaLatency, Generator, HeadwayBin, HeadwayCurve, Intervals, Limits,
    MeanParts, PercentileCurves, PlanPhase, PlanSummary, ResponseGrid, RuleOutcome, RuleResult, SeriesRow,
    Spread, Tail, TimePart, TimeSplit, Wait, WorkerTime,
};
use std::collections::BTreeMap;

/// A plan of 200/s over 60 s after 10 s of warm-up.
pub fn plan(process: &str, gap_cov: f64, n: u64) -> PlanSummary {
    let rate = n as f64 / 60.0;
    PlanSummary {
        version: Some(1),
        process: process.into(),
        gap_cov: Some(gap_cov),
        rate: Some(rate),
        duration_s: Some(60.0),
        warmup_s: Some(10.0),
        phases: vec![
            PlanPhase { length_s: 10.0, from: 0.0, to: rate, warmup: true },
            PlanPhase { length_s: 60.0, from: rate, to: rate, warmup: false },
        ],
        arrivals: Some(n),
        connections: Some(400),
        threads: Some(2),
        target: Some("http://127.0.0.1:8080".into()),
        steps: vec!["list".into(), "add".into()],
        timeout_s: Some(30.0),
        connect_timeout_s: Some(5.0),
        max_wait_s: Some(30.0),
        ..PlanSummary::default()
    }
}

pub fn rule(
    name: &str,
    window: Option<f64>,
    value: f64,
    interval: [f64; 2],
    [low, high]: [Option<f64>; 2],
    outcome: RuleOutcome,
    n: u64,
) -> RuleResult {
    RuleResult {
        rule: name.into(),
        window,
        value: Some(value),
        interval: Some(interval),
        limits: Limits { low, high },
        outcome,
        n,
        reason: None,
    }
}

pub fn outcomes(counts: &[(&str, u64)]) -> BTreeMap<String, u64> {
    counts.iter().map(|&(name, n)| (name.to_owned(), n)).collect()
}

pub fn tail(n: u64, [p50, p99, p999, max]: [f64; 4]) -> Tail {
    Tail { n, p50: Some(p50), p99: Some(p99), p999: Some(p999), max: Some(max), lower_bound: BTreeMap::new() }
}

/// A block with an exponential body: percentiles `mean (1 + spread (-ln(1-p) - 1))`, and intervals about them.
pub fn block(n: u64, mean: f64, spread: f64) -> Spread {
    let quantile = |p: f64| mean * (1.0 + spread.min(4.0) * (-(1.0 - p).ln() - 1.0)).max(0.05);
    let about = |value: f64, width: f64| Some([value * (1.0 - width), value * (1.0 + width)]);
    Spread {
        percentiles: Vec::new(),
        n,
        censored: 0,
        mean: Some(mean),
        sd: Some(mean * spread),
        cov: Some(spread),
        min: Some(mean * 0.04),
        p50: Some(quantile(0.5)),
        p90: Some(quantile(0.9)),
        p95: Some(quantile(0.95)),
        p99: Some(quantile(0.99)),
        p999: Some(quantile(0.999)),
        max: Some(quantile(0.9999)),
        ci95: Intervals {
            mean: about(mean, 0.031),
            p50: about(quantile(0.5), 0.034),
            p90: about(quantile(0.9), 0.052),
            p95: about(quantile(0.95), 0.066),
            p99: about(quantile(0.99), 0.113),
            p999: about(quantile(0.999), 0.241),
        },
        lower_bound: BTreeMap::new(),
        stepped: BTreeMap::new(),
        tail: None,
        generator_share: None,
    }
}

/// What a simulation does not have: bytes, and the parts of response times. Each response is 1,241 bytes, each request 187.
pub fn transferred(summary: &mut Summary) {
    let part = |n: u64, mean: f64| {
        (n > 0).then_some(TimePart {
            n,
            mean,
            p50: mean * 0.8,
            p90: mean * 1.9,
            p99: mean * 3.1,
            max: mean * 7.0,
        })
    };
    let answered = summary.first_byte.n;
    let receive = part(answered, 0.000_031);
    summary.time_split = Some(TimeSplit { connect: part(answered.min(24), 0.000_118), tls: None, receive });
    let seconds = summary.measured.to_s - summary.measured.from_s;
    for row in &mut summary.series {
        row.bytes_received = Some(1_241 * row.completed);
        let first_byte = row.p50.filter(|_| row.completed > 0);
        row.time_split = first_byte.map(|first_byte| MeanParts {
            n: row.n,
            lag: 0.000_002,
            connect: 0.000_118 / row.n as f64,
            first_byte,
            receive: 0.000_031,
            ..MeanParts::default()
        });
    }
    let sent = summary.rate.started.map(|rate| 187.0 * rate);
    (summary.rate.bytes_received, summary.rate.bytes_sent) =
        (Some(1_241.0 * answered as f64 / seconds), sent);
}

/// Noise in (0, 1) that is the same on every machine (SplitMix64, Steele et al. 2014).
fn noise(k: u64) -> f64 {
    let mut z = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// `rows` seconds at `rate`; `slow(t)` multiplies the times.
pub fn series(rows: u64, rate: f64, slow: impl Fn(f64) -> f64) -> Vec<SeriesRow> {
    let row = |i: u64| {
        let from_s = i as f64;
        let ramp = (from_s / 10.0).min(1.0);
        let factor = slow(from_s);
        let started = (rate * ramp + (noise(i) - 0.5) * 3.4 * (rate * ramp).sqrt()).max(0.0) as u64;
        let failed = u64::from(noise(i + 9000) > 0.9);
        let base = 0.0024 * (1.0 + 0.2 * noise(i + 1000));
        let p99 = base * (5.0 + 2.5 * noise(i + 2000)) * factor;
        SeriesRow {
            from_s,
            to_s: from_s + 1.0,
            started,
            completed: started.saturating_sub(failed),
            failed,
            n: started,
            p50: Some(base * (1.0 + 0.2 * (factor - 1.0))),
            p90: Some(p99 * 0.5),
            p99: Some(p99),
            max: Some(p99 * (1.2 + 1.3 * noise(i + 3000))),
            in_flight: Some(started as f64 * base * 1.4 * factor),
            waiting: Some(0.0),
            ..SeriesRow::default()
        }
    };
    (0..rows).map(row).collect()
}

/// Percentile curves of two exponential bodies, and headways of coefficient of variation `cov`.
pub fn curves(n: u64, response: f64, service: f64, cov: f64) -> Curves {
    let curve = |scale: f64| {
        let mut points = vec![CurvePoint { percentile: 0.0, value: 0.0002, lower_bound: false }];
        let mut beyond = 0.75;
        while beyond * n as f64 >= 10.0 {
            let value = 0.0002 + 0.0033 * (1.0 + (scale - 1.0) * (1.0 - beyond)) * -f64::ln(beyond);
            points.push(CurvePoint { percentile: 100.0 * (1.0 - beyond), value, lower_bound: false });
            beyond *= 0.75;
        }
        points
    };
    Curves {
        response_histogram: Vec::new(),
        percentiles: PercentileCurves { response: curve(response), service: curve(service) },
        headway: Some(headways(n, cov)),
        response_grid: Some(grid(n)),
    }
}

/// Columns of a second, with most requests in the middle of the rows.
fn grid(n: u64) -> ResponseGrid {
    let (columns, rows) = (60, 24);
    let share = |k: usize| (-(k as f64 - 9.0).powi(2) / 14.0).exp() / 6.6;
    let count = |i: usize, k: usize| {
        let mean = n as f64 / columns as f64 * share(k);
        (mean + 2.0 * mean.sqrt() * (noise((i * rows + k) as u64) - 0.5)).max(0.0).round() as u64
    };
    ResponseGrid {
        from_s: 0.0,
        width_s: 1.0,
        edges: (0..=rows).map(|k| 0.000_256 * 2f64.powf(k as f64 / 4.0)).collect(),
        counts: (0..columns).map(|i| (0..rows).map(|k| count(i, k)).collect()).collect(),
    }
}

fn headways(n: u64, cov: f64) -> HeadwayCurve {
    let (width, bins) = (0.1, 80);
    let beyond = |x: f64| if cov < 0.1 { f64::from(u8::from(x < 1.0)) } else { (-x).exp() };
    // More variable headways: a share of them very short, the others longer.
    let seen = |x: f64| {
        if cov <= 1.0 { beyond(x) } else { 0.55 * (-x / 0.45).exp() + 0.45 * (-x / 1.67).exp() }
    };
    let bin = |i: u64| {
        let (from, to) = (width * i as f64, width * (i + 1) as f64);
        let expected = n as f64 * (beyond(from) - beyond(to));
        let mean = n as f64 * (seen(from) - seen(to));
        let observed = (mean + mean.sqrt() * 3.0 * (noise(i + 40) - 0.5)).max(0.0).round() as u64;
        HeadwayBin { from, to: Some(to), observed, expected }
    };
    let end = width * bins as f64;
    let tail = HeadwayBin {
        from: end,
        to: None,
        observed: (n as f64 * seen(end)).round() as u64,
        expected: n as f64 * beyond(end),
    };
    HeadwayCurve {
        n: n - 1,
        law: "plan".into(),
        unit_s: 60.0 / n as f64,
        bins: (0..bins).map(bin).collect(),
        tail,
    }
}

/// Four windows; `index(i)` is the i-th window's.
pub fn dispersion(n: u64, index: impl Fn(usize) -> f64, expected: f64) -> Vec<Dispersion> {
    let windows = [(0.001, 60_000), (0.01, 6_000), (0.1, 600), (1.0, 60)];
    let row = |(i, &(window, windows)): (usize, &(f64, u64))| Dispersion {
        window,
        index: index(i),
        se: (2.0 / (windows as f64 - 1.0)).sqrt(),
        windows,
        expected,
        intended: (n > 0).then_some(expected * (1.0 - 0.01 * i as f64)),
    };
    windows.iter().enumerate().map(row).collect()
}

/// Two workers, the busier one at `handling`.
pub fn generator(handling: f64) -> Generator {
    let worker = |handling: f64| WorkerTime {
        handling: 70.0 * handling,
        polling: 70.0 * (1.0 - handling) * 0.1,
        sleeping: 70.0 * (1.0 - handling) * 0.9,
        runqueue_wait: Some(0.012),
        processor: Some(70.0 * (0.1 + 0.9 * handling)),
    };
    Generator {
        first_bound: None,
        workers: vec![worker(handling), worker(handling * 0.93)],
        stalls: Vec::new(),
        steal_s: Some(0.21),
        same_host_as_target: Some(false),
        send_cost_s: Some(4.7e-6),
        cap_hits: Some(0),
        lacked: Default::default(),
        connections_opened: Some(37),
        surplus: None,
        protocols: [("HTTP/1.1".to_owned(), 37)].into(),
        names: None,
        datagrams: None,
        departures: None,
        waiting: None,
        wait: Some(Wait {
            dma_latency: DmaLatency::Held,
            horizon_s: Some([5e-5, 5e-5]),
            wakeups: 51_204,
            late_wakeups: 17,
            late_after_s: 2.5e-4,
            cores: 4,
            ..Wait::default()
        }),
    }
}
