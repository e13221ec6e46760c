//! What is known of the experiments, as numbers: those that the paper's text gives, and those of an independent simulation of the
//! same definitions. The values of the paper's figures are not available.

/// Requests per second that the paper's server served at most: simple clients make about that.
pub const CAPACITY: f64 = 130.0;
/// Connection attempts per second up to which the paper's S-Clients followed the line; then the clients' processors ended it.
pub const LINEAR_UP_TO: f64 = 2_065.0;
/// S-Clients give up a connection after this, in seconds.
pub const TIMEOUT_S: f64 = 0.5;

/// S-Clients, by sockets: SYN/s, and connections accepted per second; independent simulation.
pub const HELD: [(u32, [f64; 2]); 8] = [
    (12, [153.95, 130.0]),
    (24, [177.875, 129.925]),
    (48, [225.975, 130.0]),
    (96, [322.0, 130.0]),
    (192, [513.825, 129.95]),
    (384, [897.925, 130.0]),
    (600, [1330.0, 130.0]),
    (968, [2066.0, 130.0]),
];

/// What a dropped SYN costs the server, in milliseconds.
pub const COSTS_MS: [f64; 3] = [0.5, 1.0, 2.0];

/// Requests served per second, by sockets, for each of those costs; independent simulation.
pub const OVERLOAD: [(u32, [f64; 3]); 6] = [
    (48, [123.75, 117.525, 105.05]),
    (96, [117.525, 105.025, 80.075]),
    (192, [105.025, 80.075, 30.15]),
    (384, [80.075, 30.15, 0.05]),
    (600, [52.0, 0.15, 0.025]),
    (968, [4.175, 0.05, 0.025]),
];

/// Bursts: how many times the mean rate, and for which share of the time.
pub const BURSTS: [(f64, f64); 4] = [(2.0, 0.2), (4.0, 0.1), (6.0, 0.05), (6.0, 0.1)];

/// Mean rates of the loads with bursts, requests per second.
pub const MEANS: [f64; 5] = [50.0, 80.0, 100.0, 120.0, 130.0];

/// Costs of a dropped SYN in the experiment with bursts, in milliseconds.
pub const BURST_COSTS_MS: [f64; 3] = [0.0, 0.5, 1.0];

/// Served per second with bursts by the fluid formula, as independently computed: for each cost, for each pair of [`BURSTS`],
/// at each of [`MEANS`].
#[cfg(test)]
pub const FLUID: [[[f64; 5]; 4]; 3] = [
    [
        [50.0, 74.0, 86.0, 98.0, 104.0],
        [43.0, 61.0, 73.0, 85.0, 91.0],
        [41.5, 62.5, 76.5, 90.5, 97.5],
        [33.0, 45.0, 53.0, 61.0, 65.0],
    ],
    [
        [50.0, 73.6, 85.0, 96.5, 102.2],
        [42.5, 59.7, 71.1, 82.6, 88.3],
        [40.9, 61.3, 74.9, 88.4, 95.2],
        [31.8, 42.6, 49.7, 56.9, 60.5],
    ],
    [
        [50.0, 73.1, 83.9, 94.7, 100.1],
        [42.0, 58.2, 69.0, 79.8, 85.2],
        [40.2, 59.9, 73.0, 86.1, 92.6],
        [30.5, 39.8, 46.0, 52.2, 55.3],
    ],
];
