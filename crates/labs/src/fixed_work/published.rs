//! The reference figures: an independent simulation of the same system, written from the same definitions. Numbers only.
//! Times in milliseconds unless said.

use super::frameworks::Framework;

/// How a thousand users that all come at once are fed.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    pub name: &'static str,
    /// Connections at once; none: as many as there are users.
    pub connections: Option<u32>,
    /// Connections accepted per second, one after the other.
    pub accept: Option<f64>,
    /// Drain in s, requests/s, mean, p50, p99 of response times from sent, mean and longest time blocked before the first
    /// byte, first POST sent in s.
    pub numbers: [f64; 8],
    /// Users active at each of [`SECONDS`].
    pub active: [f64; 7],
}

/// Fixed work: mean of 20 replications.
pub const FEEDS: [Feed; 5] = [
    Feed {
        name: "unlimited",
        connections: None,
        accept: None,
        numbers: [21.970, 500.75, 1904.56, 1987.43, 2125.66, 0.0, 0.0, 17.915],
        active: [1000.0, 1000.0, 1000.0, 1000.0, 914.5, 450.4, 27.4],
    },
    Feed {
        name: "200 connections",
        connections: Some(200),
        accept: None,
        numbers: [21.970, 500.75, 395.62, 397.77, 472.04, 8609.53, 17609.66, 3.579],
        active: [200.0, 200.0, 200.0, 200.0, 200.0, 200.0, 27.4],
    },
    Feed {
        name: "accept 200/s",
        connections: None,
        accept: Some(200.0),
        numbers: [21.983, 500.4, 1453.16, 1654.99, 1994.78, 2502.5, 5000.0, 0.163],
        active: [194.55, 973.2, 935.95, 840.15, 530.05, 363.6, 49.8],
    },
    Feed {
        name: "accept 100/s",
        connections: None,
        accept: Some(100.0),
        numbers: [21.995, 500.1, 1014.66, 1112.36, 1637.91, 5005.0, 10000.0, 0.0894],
        active: [81.15, 402.6, 807.05, 683.3, 405.05, 282.3, 47.3],
    },
    Feed {
        name: "accept 50/s",
        connections: None,
        accept: Some(50.0),
        numbers: [22.029, 499.3, 168.36, 169.02, 343.92, 10010.0, 20000.0, 0.0868],
        active: [11.95, 42.2, 81.55, 121.35, 160.55, 113.9, 25.75],
    },
];

/// Replications of [`FEEDS`].
#[cfg(test)]
pub const FEED_REPLICATIONS: f64 = 20.0;

/// When users are counted, in seconds.
pub const SECONDS: [i64; 7] = [1, 5, 10, 15, 20, 21, 22];

/// Closed loops without think time: users, requests/s, mean, p99; one long run each.
pub const LOOPS: [(u32, [f64; 3]); 8] = [
    (1, [125.15, 7.991, 36.51]),
    (4, [500.57, 7.991, 36.51]),
    (8, [500.57, 15.981, 45.80]),
    (16, [500.57, 31.961, 64.16]),
    (50, [500.57, 99.87, 141.00]),
    (100, [500.57, 199.72, 251.36]),
    (200, [500.57, 399.34, 468.25]),
    (1000, [500.57, 1992.74, 2133.31]),
];

/// The open test by users per second: completed/s, sent/s, sent/requested, mean, p50, p99, p99.99, users active at the end;
/// mean of 10 replications.
pub const OPEN: [(f64, [f64; 8]); 14] = [
    (10.0, [108.198, 108.234, 0.9999, 7.997, 5.560, 36.558, 71.957, 1.4]),
    (20.0, [220.851, 220.948, 1.0001, 8.455, 6.015, 37.586, 75.106, 1.6]),
    (30.0, [332.128, 332.313, 1.0003, 10.358, 7.782, 42.374, 79.217, 2.1]),
    (36.0, [393.158, 393.471, 1.0003, 13.228, 10.266, 50.351, 88.583, 4.3]),
    (40.0, [441.220, 441.520, 0.9999, 20.517, 16.013, 75.540, 115.174, 7.4]),
    (42.0, [462.587, 463.038, 0.9995, 31.698, 23.674, 118.796, 158.274, 14.0]),
    (43.0, [472.834, 473.437, 0.9988, 40.773, 30.345, 146.621, 192.377, 23.3]),
    (44.0, [482.478, 483.204, 0.9984, 62.768, 49.571, 196.911, 244.448, 30.8]),
    (45.0, [493.326, 494.238, 0.9966, 103.694, 91.877, 259.319, 302.739, 51.9]),
    (46.0, [497.241, 499.455, 0.9843, 251.614, 244.293, 499.772, 551.613, 201.9]),
    (48.0, [498.313, 504.013, 0.9540, 638.030, 662.006, 1193.457, 1259.274, 590.6]),
    (50.0, [498.130, 508.762, 0.9147, 1158.008, 1182.693, 2219.412, 2272.390, 1125.9]),
    (55.0, [496.648, 515.948, 0.8581, 2007.244, 2035.058, 3831.480, 3897.172, 1983.0]),
    (60.0, [493.814, 524.550, 0.7947, 3071.842, 3104.022, 5787.313, 5901.776, 3079.5]),
];

/// Replications of [`OPEN`].
#[cfg(test)]
pub const OPEN_REPLICATIONS: f64 = 10.0;

/// Past saturation, by users per second: mean, p99, sent/requested, users active at the end; mean of 6 replications of other
/// seeds.
pub const SATURATED: [(f64, [f64; 4]); 8] = [
    (46.0, [247.344, 470.995, 0.9843, 204.5]),
    (48.0, [637.572, 1153.463, 0.9553, 573.8]),
    (50.0, [1189.817, 2229.167, 0.9138, 1136.7]),
    (52.0, [1551.447, 2905.004, 0.8896, 1497.3]),
    (55.0, [2027.243, 3810.176, 0.8578, 1979.2]),
    (60.0, [3194.893, 5945.726, 0.7897, 3165.0]),
    (65.0, [4078.070, 7513.479, 0.7449, 4040.3]),
    (70.0, [5173.924, 9478.021, 0.6938, 5181.7]),
];

/// Replications of [`SATURATED`].
#[cfg(test)]
pub const SATURATED_REPLICATIONS: f64 = 6.0;

/// Growth past saturation per user per second: of the mean, of p99.
pub const SLOPES: [f64; 2] = [203.0, 372.0];

/// Highest rate of users with p99, and p99.99, of at most 100 ms.
pub const KNEES: [f64; 2] = [41.65, 38.56];

/// p99 at 43 users per second: evenly spaced, Poisson.
pub const EVEN: [f64; 2] = [40.0, 146.62];

/// O'Hara's frameworks: systems made to give both of his lists, and the two numbers that he printed of each. He measured them on two
/// machines.
pub const FRAMEWORKS: [Framework; 4] = [
    Framework { name: "Spring", service_ms: 7.7277, cold: 0.0, printed: [20.0, 43.0] },
    Framework { name: "Ktor", service_ms: 4.9756, cold: 2.4298, printed: [25.0, 69.0] },
    Framework { name: "Micronaut", service_ms: 4.5035, cold: 1.8064, printed: [20.0, 77.0] },
    Framework { name: "Quarkus", service_ms: 2.1695, cold: 2.9711, printed: [12.0, 165.0] },
];

/// Requests by which a framework's slowness at first falls to 1/e.
pub const COLD_REQUESTS: u64 = 4_000;

/// The independent simulation of them: s to the end of fixed work, mean of 20 replications; the highest rates of users, warm.
#[cfg(test)]
pub const FRAMEWORKS_SIMULATED: [[f64; 2]; 4] =
    [[21.161, 42.57], [24.886, 69.57], [19.910, 77.36], [11.945, 165.97]];

/// One stop of 2 s: mean, p50, p99, longest; one run each.
pub const STOP_OPEN: [f64; 4] = [91.08, 7.822, 1774.25, 2018.90];
pub const STOP_CLOSED: [f64; 4] = [8.405, 5.621, 36.205, 2005.04];
