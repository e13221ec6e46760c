//! Targets that a test scripts.

use headway_base::Nanos;
use headway_sim::{Answer, Connect, Target};
use headway_workload::RequestKey;
use headway_workload::client::RequestId;

/// A target that two functions script: of the instant, and of the instant and the number of the request.
pub struct Scripted<C, R> {
    /// Answers [`Target::connect`].
    pub connect: C,
    /// Answers [`Target::request`].
    pub request: R,
}

impl<C: FnMut(Nanos) -> Connect, R: FnMut(Nanos, u64) -> Answer> Target for Scripted<C, R> {
    fn connect(&mut self, now: Nanos) -> Connect {
        (self.connect)(now)
    }
    fn request(&mut self, now: Nanos, n: u64, _: RequestId, _: &RequestKey) -> Answer {
        (self.request)(now, n)
    }
}
