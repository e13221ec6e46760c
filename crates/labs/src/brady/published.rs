//! What Brady published (2012, figures 12 and 15 to 17): the seven tests, and the CoV of headways by thread group. Numbers
//! only.
//!
//! The response times' standard deviations of tests 1900 to 2030 are not printed in the figures at hand: they are those of
//! an independent simulation that was fitted to the same tables. CoV by thread group hardly depends on them.

/// One of the seven tests: 200 users that think uniformly between 0 and twice a mean.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Its name: the time of day at which it began.
    pub name: &'static str,
    /// Mean think time in seconds.
    pub think_s: f64,
    /// Requests per second.
    pub tps: f64,
    /// Mean response time in milliseconds.
    pub response_ms: f64,
    /// Its standard deviation.
    pub response_sd_ms: f64,
    /// Response time over turnaround time, in percent.
    pub rort: f64,
    /// CoV of the headways of all 200 users, as printed.
    pub cov: f64,
}

const fn test(
    name: &'static str,
    think_s: f64,
    tps: f64,
    response_ms: f64,
    response_sd_ms: f64,
    rort: f64,
    cov: f64,
) -> Test {
    Test { name, think_s, tps, response_ms, response_sd_ms, rort, cov }
}

/// The tests of figures 12, 16 and 17, by rate.
pub const TESTS: [Test; 7] = [
    test("1800", 12.5, 15.91, 53.17, 154.07, 0.42, 0.98),
    test("1830", 6.25, 31.73, 52.74, 155.39, 0.84, 1.00),
    test("1900", 4.2, 46.79, 54.06, 163.8, 1.27, 1.01),
    test("1930", 3.25, 60.26, 59.64, 176.2, 1.80, 1.01),
    test("2000", 2.5, 77.56, 74.97, 225.9, 2.91, 1.03),
    test("2030", 1.563, 118.03, 132.67, 354.6, 7.82, 1.08),
    test("2100", 1.0, 159.16, 253.38, 536.0, 20.23, 1.17),
];

/// Places of single tests in [`TESTS`].
pub const T1800: usize = 0;
pub const T1830: usize = 1;
pub const T2100: usize = 6;

/// The printed two places hold whatever lies so near.
pub const ROUNDING: f64 = 0.005;

/// Sizes of thread groups in figures 15 and 16.
pub const SIZES: [u32; 24] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 35, 40, 45, 50, 75, 100, 125, 150, 175, 200];

/// CoV by thread group of tests 1800 (figure 16), 1830 (figures 15 and 16) and 2100 (figure 16), in the order of
/// [`SIZES`].
pub const COV_1800: [f64; 24] = [
    0.59, 0.71, 0.81, 0.85, 0.87, 0.91, 0.92, 0.94, 0.97, 0.99, 1.00, 0.97, 0.96, 0.98, 0.99, 0.98, 0.98,
    0.99, 1.00, 0.99, 0.98, 0.98, 0.99, 0.98,
];
pub const COV_1830: [f64; 24] = [
    0.56, 0.73, 0.80, 0.84, 0.91, 0.92, 0.95, 0.94, 0.96, 0.96, 0.97, 0.98, 0.98, 0.97, 0.97, 0.98, 0.98,
    0.99, 1.00, 1.00, 1.00, 0.99, 1.00, 1.00,
];
pub const COV_2100: [f64; 24] = [
    0.61, 0.76, 0.83, 0.88, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.96, 0.99, 1.01, 1.01, 1.01, 1.02, 1.02,
    1.03, 1.06, 1.09, 1.11, 1.13, 1.15, 1.17,
];
