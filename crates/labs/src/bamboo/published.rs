//! What an independent simulation gives for timelike's later suites (Kyle Kingsbury's simulator at its last commit, e802908),
//! of which no figures of his own are at hand. Numbers only.
//!
//! They were made from the same definitions with random numbers and code of their own: 60 replications of 100,000 requests (of one
//! dyno 10,000), of which the middle half in order of issue counts. Times in milliseconds, rates per second.

/// How many numbers a row has: min, median, p95, p99, max, mean, the share that succeeded, requests/s and responses/s.
pub const NUMBERS: usize = 9;

/// Its replications.
pub const REPLICATIONS: f64 = 60.0;

/// Width of 90 % of the normal law, in standard deviations.
const NINETY: f64 = 3.29;

/// What it gave for a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// Mean over its replications.
    pub mean: [f64; NUMBERS],
    /// 5th percentile of them,
    pub p05: [f64; NUMBERS],
    /// and 95th.
    pub p95: [f64; NUMBERS],
}

impl Figures {
    /// Standard deviation of one of its replications, from the two percentiles.
    pub fn sd(&self, number: usize) -> f64 {
        (self.p95[number] - self.p05[number]) / NINETY
    }
}

/// A single dyno.
pub const ONE_DYNO: Figures = Figures {
    mean: [24.017, 382.908, 1566.763, 2333.755, 3104.57, 536.1003, 1.0, 6.663, 6.663],
    p05: [24.0, 332.55, 1252.65, 1700.875, 2196.75, 449.2711, 1.0, 6.525, 6.525],
    p95: [24.0, 432.25, 1947.442, 3307.655, 3899.3, 623.1889, 1.0, 6.815, 6.812],
};

/// Anyone.
pub const RANDOM: Figures = Figures {
    mean: [24.0, 127.367, 471.069, 710.252, 1619.67, 173.0583, 1.0, 679.39, 673.163],
    p05: [24.0, 126.0, 464.9, 690.85, 1352.9, 171.3009, 1.0, 675.054, 667.208],
    p95: [24.0, 129.0, 477.053, 727.15, 1998.7, 174.8744, 1.0, 683.812, 678.859],
};

/// One after the other.
pub const ROUND_ROBIN: Figures = Figures {
    mean: [24.0, 95.892, 334.687, 501.869, 1203.32, 127.7642, 1.0, 678.735, 674.504],
    p05: [24.0, 95.0, 330.95, 492.9, 1047.75, 126.8136, 1.0, 674.755, 670.181],
    p95: [24.0, 97.0, 338.0, 510.05, 1435.55, 128.6087, 1.0, 683.663, 679.142],
};

/// The fewest connections, ties to the first.
pub const EVEN: Figures = Figures {
    mean: [24.0, 93.333, 323.634, 484.269, 1159.67, 124.048, 1.0, 678.765, 674.65],
    p05: [24.0, 93.0, 321.0, 476.0, 1018.3, 123.2163, 1.0, 673.875, 669.377],
    p95: [24.0, 94.0, 327.0, 491.0, 1366.0, 124.7271, 1.0, 684.038, 679.559],
};

/// The same, ties at random.
pub const EVEN_RANDOM: Figures = Figures {
    mean: [24.0, 93.208, 323.019, 483.535, 1159.58, 123.9166, 1.0, 679.429, 675.123],
    p05: [24.0, 92.95, 319.952, 475.95, 1013.75, 123.244, 1.0, 673.527, 668.125],
    p95: [24.0, 94.0, 327.0, 491.05, 1391.85, 124.7383, 1.0, 685.06, 681.703],
};

/// Two routers over one pool, ties to the first.
pub const BAMBOO_2: Figures = Figures {
    mean: [34.0, 196.4, 503.335, 692.369, 1403.52, 228.4868, 1.0, 679.714, 673.525],
    p05: [34.0, 195.0, 497.95, 680.0, 1243.8, 227.0727, 1.0, 675.873, 668.389],
    p95: [34.0, 198.0, 508.0, 701.209, 1572.85, 229.78, 1.0, 685.126, 679.609],
};

/// Sixteen of them.
pub const BAMBOO_16: Figures = Figures {
    mean: [34.017, 1701.2, 2502.138, 2872.871, 3936.2, 1650.8969, 1.0, 679.735, 655.387],
    p05: [34.0, 1689.9, 2485.753, 2834.901, 3622.9, 1639.5471, 1.0, 675.827, 648.655],
    p95: [34.0, 1714.05, 2526.247, 2916.06, 4248.7, 1663.5253, 1.0, 684.608, 662.583],
};

/// Two, ties at random.
pub const BAMBOO_2_RANDOM: Figures = Figures {
    mean: [34.0, 116.808, 380.588, 559.685, 1249.92, 151.3917, 1.0, 679.441, 674.25],
    p05: [34.0, 116.0, 376.95, 551.9, 1096.95, 150.5005, 1.0, 676.272, 669.724],
    p95: [34.0, 118.0, 383.05, 570.05, 1473.9, 152.4899, 1.0, 683.472, 679.183],
};

/// Sixteen, ties at random.
pub const BAMBOO_16_RANDOM: Figures = Figures {
    mean: [34.0, 133.9, 460.084, 682.402, 1548.47, 177.0572, 1.0, 678.942, 672.879],
    p05: [34.0, 132.0, 452.9, 663.951, 1335.55, 174.8155, 1.0, 673.162, 666.313],
    p95: [34.0, 135.0, 466.05, 695.2, 1786.75, 178.6238, 1.0, 683.887, 677.937],
};

/// The fewest connections of faulty dynos, ties to the first.
pub const FAULTY: Figures = Figures {
    mean: [4.0, 40.517, 270.95, 432.202, 1106.0, 74.8624, 0.590154, 678.62, 674.517],
    p05: [4.0, 34.0, 263.0, 421.9, 942.85, 70.5264, 0.555712, 673.635, 669.696],
    p95: [4.0, 46.0, 277.05, 443.06, 1300.0, 78.6313, 0.622595, 684.422, 680.764],
};

/// The same, ties at random.
pub const FAULTY_RANDOM: Figures = Figures {
    mean: [4.0, 84.65, 315.318, 475.985, 1150.63, 114.0965, 0.917187, 679.736, 675.109],
    p05: [4.0, 84.0, 313.0, 469.0, 1007.15, 113.1786, 0.910817, 675.383, 670.191],
    p95: [4.0, 86.0, 318.0, 484.06, 1385.3, 115.1934, 0.922654, 684.345, 679.854],
};

/// Of faulty dynos, failures held for a second, ties to the first.
pub const HOLD: Figures = Figures {
    mean: [4.0, 92.05, 322.718, 483.901, 1175.0, 122.6206, 0.987908, 678.995, 674.586],
    p05: [4.0, 91.0, 319.95, 476.95, 1013.4, 121.8126, 0.986611, 673.788, 668.607],
    p95: [4.0, 93.0, 326.0, 490.0, 1415.95, 123.2681, 0.988948, 684.002, 679.124],
};

/// The same, ties at random.
pub const HOLD_RANDOM: Figures = Figures {
    mean: [4.0, 90.85, 321.118, 481.834, 1179.45, 121.1083, 0.976106, 679.266, 675.051],
    p05: [4.0, 90.0, 318.0, 472.95, 991.8, 120.4144, 0.974879, 674.239, 670.597],
    p95: [4.0, 91.05, 323.1, 489.0, 1414.15, 121.7894, 0.97754, 683.407, 679.54],
};

/// The fewest connections of faulty dynos, failures held, with three attempts; ties to the first.
pub const RETRIED: Figures = Figures {
    mean: [19.2, 93.367, 323.62, 485.419, 1170.87, 124.0845, 0.999974, 679.619, 675.289],
    p05: [12.0, 93.0, 321.0, 478.0, 1037.1, 123.4062, 0.999917, 674.046, 668.918],
    p95: [24.0, 94.0, 326.002, 491.05, 1382.9, 124.7645, 1.0, 684.874, 680.79],
};

/// The same, ties at random.
pub const RETRIED_RANDOM: Figures = Figures {
    mean: [19.0, 93.367, 323.517, 483.852, 1168.27, 124.0077, 0.999989, 678.95, 674.504],
    p05: [12.0, 93.0, 319.95, 477.901, 1027.85, 123.1891, 0.99996, 673.16, 669.211],
    p95: [24.0, 94.0, 326.0, 493.05, 1353.1, 124.7729, 1.0, 684.09, 678.741],
};

/// Ten faulty routers over one pool of faulty dynos, ties to the first.
pub const FAULTY_ROUTERS: Figures = Figures {
    mean: [10.0, 951.392, 1620.368, 1939.37, 2948.58, 919.9337, 0.950491, 678.587, 661.399],
    p05: [10.0, 923.5, 1588.95, 1905.95, 2632.75, 884.5066, 0.931578, 672.838, 655.404],
    p95: [10.0, 975.4, 1648.2, 1966.159, 3316.75, 948.7994, 0.967667, 683.119, 667.121],
};

/// The same, ties at random.
pub const FAULTY_ROUTERS_RANDOM: Figures = Figures {
    mean: [10.0, 125.825, 445.936, 663.469, 1497.77, 167.0187, 0.951446, 679.66, 673.81],
    p05: [10.0, 122.95, 439.9, 649.0, 1263.6, 163.9634, 0.933903, 674.827, 668.449],
    p95: [10.0, 129.0, 453.0, 677.0, 1825.9, 170.482, 0.967613, 684.682, 678.829],
};

/// Three attempts around that, ties to the first.
pub const RETRIED_ROUTERS: Figures = Figures {
    mean: [30.0, 977.467, 1631.953, 1946.17, 2940.32, 968.6399, 0.998859, 678.654, 662.477],
    p05: [30.0, 954.95, 1607.85, 1910.9, 2650.95, 948.8864, 0.998099, 672.206, 655.904],
    p95: [30.0, 1003.1, 1661.05, 1978.101, 3303.2, 990.6113, 0.99958, 683.595, 667.811],
};

/// The same, ties at random.
pub const RETRIED_ROUTERS_RANDOM: Figures = Figures {
    mean: [30.0, 135.05, 458.835, 678.803, 1557.4, 177.7213, 0.998937, 679.164, 673.093],
    p05: [30.0, 134.0, 453.9, 663.951, 1305.3, 176.2252, 0.99812, 674.572, 668.459],
    p95: [30.0, 136.05, 467.0, 696.2, 1964.45, 179.3827, 0.999584, 682.937, 677.546],
};

/// Each router with dynos of its own, ties to the first.
pub const RETRIED_BLOCKS: Figures = Figures {
    mean: [30.0, 103.942, 335.084, 495.937, 1161.67, 134.7125, 0.998685, 679.003, 674.681],
    p05: [30.0, 103.0, 332.0, 489.0, 994.95, 133.9901, 0.997889, 674.495, 668.806],
    p95: [30.0, 105.0, 338.098, 503.0, 1405.55, 135.442, 0.999326, 684.229, 679.906],
};

/// The same, ties at random.
pub const RETRIED_BLOCKS_RANDOM: Figures = Figures {
    mean: [30.0, 103.833, 334.302, 494.552, 1183.35, 134.4718, 0.998816, 679.656, 675.376],
    p05: [30.0, 103.0, 332.0, 488.0, 1011.2, 133.945, 0.997871, 675.274, 670.305],
    p95: [30.0, 104.0, 337.0, 501.0, 1478.45, 135.1058, 0.999444, 683.763, 680.299],
};
