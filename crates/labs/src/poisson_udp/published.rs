//! The post's figures, and those of an independent simulation of a queue before its server.

/// Seconds of a run of the post.
pub const RUN_S: f64 = 10.0;
/// Clients that yield, and what five runs of them sent and lost.
pub const YIELDING: u32 = 64;
pub const YIELDED: [(f64, f64); 5] =
    [(636_002.0, 0.0), (621_036.0, 0.0), (631_890.0, 0.0), (631_051.0, 0.0), (613_912.0, 0.0)];
/// Clients that sleep an exponential time after each datagram, and what five runs of them sent and lost.
pub const SLEEPING: u32 = 128;
pub const SLEPT: [(f64, f64); 5] =
    [(348_620.0, 65.0), (439_038.0, 50.0), (375_482.0, 46.0), (382_650.0, 50.0), (396_886.0, 58.0)];
/// Datagrams a second that each of those was to send.
pub const EACH: f64 = 5_000.0;

/// Datagrams a second that the two kinds of clients sent together.
pub const YIELDED_RATE: f64 = 63_600.0;
pub const SLEPT_RATE: f64 = 38_850.0;
/// Ticks a second at which 128 clients send what those that sleep sent, and how many each releases.
pub const TICKS_PER_S: f64 = 303.5;
pub const RELEASED: f64 = SLEEPING as f64;

/// Datagrams a second of the sources whose patterns are compared on this machine: a rate at which the receiver has time to spare.
pub const PATTERN_RATE: f64 = 10_000.0;

/// How many may wait.
pub const ROOMS: [usize; 6] = [16, 32, 64, 100, 128, 256];

/// A row of that simulation: 50 s of a source before a server of 15 us; share lost and the most in the system, by [`ROOMS`].
pub struct Queued {
    pub lost: [f64; 6],
    pub most: [f64; 6],
}

pub const QUEUED: [Queued; 6] = [
    Queued { lost: [0.0; 6], most: [1.0; 6] },
    Queued { lost: [0.0; 6], most: [1.0; 6] },
    Queued { lost: [0.0; 6], most: [14.0, 14.0, 15.0, 14.0, 14.0, 14.0] },
    Queued {
        lost: [0.012_329, 0.002_481, 0.000_169, 0.0, 0.0, 0.0],
        most: [17.0, 33.0, 65.0, 95.0, 121.0, 113.0],
    },
    Queued {
        lost: [0.867_187, 0.742_188, 0.492_187, 0.210_938, 0.0, 0.0],
        most: [17.0, 33.0, 65.0, 101.0, 128.0, 128.0],
    },
    Queued {
        lost: [0.539_062, 0.414_062, 0.164_062, 0.0, 0.0, 0.0],
        most: [17.0, 33.0, 65.0, 86.0, 86.0, 86.0],
    },
];
/// The shares are printed so exactly.
pub const ROUNDING: f64 = 1e-6;
