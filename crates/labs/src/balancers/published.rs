//! What was published: five ways to balance 10,000 requests (Kyle Kingsbury's gist of 17 February 2013, made with his
//! simulator timelike), and what an independent simulation gives for the same.
//!
//! Figures in milliseconds. The gist's sample is all 10,000 requests, from the first into an empty system to the last
//! answer; its quantiles are those of `incanter.stats/quantile`, linear at h = p(n - 1). It prints no mean. The simulation
//! was made to check the gist, with random numbers (xoshiro256++) and code of its own: 200 replications of 10,000 requests
//! each, and for the steady state two runs of 6,000,000 requests each, the first 1,000,000 left out.

/// Min, median, p95, p99 and max as printed.
pub type Figures = [f64; 5];

/// One balancer that gives a request to a server with the fewest connections.
pub const EVEN: Figures = [0.017489, 141.4027, 612.7775, 937.1806, 2209.5865];
/// One after the other.
pub const ROUND_ROBIN: Figures = [0.059074, 324.0362, 1326.8732, 2082.5966, 4117.7612];
/// Anyone.
pub const RANDOM: Figures = [0.092704, 486.3934, 2076.5398, 3083.4159, 5554.6439];
/// At random to ten even balancers, all over the same servers.
pub const ONE_POOL: Figures = [2.313231, 1701.4638, 2943.1839, 3497.1822, 4907.3031];
/// At random to ten even balancers, each over a tenth of the servers.
pub const POOLS: Figures = [0.073582, 153.8486, 642.3243, 965.8068, 1769.191];

/// What the independent simulation gave for one row: min, median, p95, p99, max, mean.
#[cfg(test)]
pub struct Reference {
    /// Mean over its replications.
    pub mean: [f64; 6],
    /// 5th and 95th percentile of them.
    pub p05: [f64; 6],
    pub p95: [f64; 6],
    /// Median, p95, p99 and mean of the steady state: the mean of two runs.
    pub steady: [f64; 4],
}

/// Its replications.
#[cfg(test)]
pub const REPLICATIONS: f64 = 200.0;

/// In the order of the lab's cases.
#[cfg(test)]
pub const REFERENCE: [Reference; 9] = [
    Reference {
        mean: [0.0197, 138.551, 598.245, 920.308, 2001.569, 199.843],
        p05: [0.0012, 135.556, 582.804, 888.999, 1647.805, 196.909],
        p95: [0.0529, 141.532, 611.270, 952.492, 2534.903, 202.806],
        steady: [138.69, 598.86, 921.11, 200.04],
    },
    Reference {
        mean: [0.0205, 138.594, 598.564, 918.731, 1963.515, 199.875],
        p05: [0.0010, 135.600, 583.968, 889.721, 1605.760, 197.113],
        p95: [0.0567, 141.626, 613.709, 952.562, 2431.296, 202.993],
        steady: [138.68, 598.77, 920.88, 200.00],
    },
    Reference {
        mean: [0.0476, 312.754, 1322.076, 2013.029, 3466.036, 445.651],
        p05: [0.0029, 290.493, 1216.939, 1782.375, 2826.565, 414.219],
        p95: [0.1489, 334.158, 1438.484, 2313.002, 4508.857, 472.903],
        steady: [375.61, 1623.77, 2494.40, 541.94],
    },
    Reference {
        mean: [0.0830, 511.304, 2126.865, 3175.045, 5223.624, 721.680],
        p05: [0.0026, 475.540, 1949.402, 2806.556, 4213.162, 673.620],
        p95: [0.2667, 549.268, 2296.605, 3547.695, 6459.796, 772.840],
        steady: [695.00, 3020.65, 4673.65, 1005.77],
    },
    Reference {
        mean: [0.5316, 1683.163, 2971.098, 3590.094, 5008.118, 1679.077],
        p05: [0.0239, 1651.232, 2890.259, 3461.642, 4416.426, 1647.369],
        p95: [1.4465, 1715.489, 3041.359, 3731.178, 5924.360, 1709.473],
        steady: [1791.77, 3034.41, 3657.84, 1821.63],
    },
    Reference {
        mean: [0.0641, 404.421, 1401.879, 1972.189, 3343.323, 520.328],
        p05: [0.0015, 381.157, 1334.062, 1861.643, 2862.219, 496.475],
        p95: [0.2254, 426.523, 1473.323, 2115.509, 3981.626, 542.757],
        steady: [447.68, 1478.64, 2062.15, 562.29],
    },
    Reference {
        mean: [0.0222, 153.572, 655.472, 1001.793, 2068.773, 219.917],
        p05: [0.0011, 147.216, 630.401, 964.514, 1726.863, 212.507],
        p95: [0.0652, 159.342, 681.058, 1050.963, 2480.416, 226.873],
        steady: [155.14, 662.07, 1010.67, 222.27],
    },
    Reference {
        mean: [0.0225, 153.735, 655.569, 1000.316, 2077.828, 220.195],
        p05: [0.0011, 147.882, 629.919, 959.000, 1755.695, 212.576],
        p95: [0.0686, 161.664, 681.911, 1047.884, 2584.164, 229.484],
        steady: [154.93, 661.68, 1009.24, 222.05],
    },
    Reference {
        mean: [0.0200, 138.546, 598.210, 920.209, 2003.302, 199.832],
        p05: [0.0012, 135.556, 582.804, 888.999, 1647.805, 196.909],
        p95: [0.0532, 141.532, 611.297, 952.492, 2534.903, 202.788],
        steady: [138.67, 598.77, 920.91, 200.01],
    },
];
