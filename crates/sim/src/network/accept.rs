//! Connections to the target are established one after the other.

use crate::target::Connect;
use headway_base::units::UnitError;
use headway_base::{Nanos, Rate};

/// The accepting end of a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accept {
    gap: Nanos,
    /// When the next may be established at the earliest.
    next: Nanos,
}

impl Accept {
    /// One that establishes connections at that rate.
    ///
    /// # Errors
    /// A rate that is not above zero.
    pub(super) fn new(rate: Rate) -> Result<Accept, UnitError> {
        if rate.0.is_finite() && rate.0 > 0.0 {
            Ok(Accept { gap: Nanos::from_secs_f64(1.0 / rate.0), next: Nanos::ZERO })
        } else {
            Err(UnitError::new(&rate.to_string(), "a rate of accepting connections: above 0"))
        }
    }

    /// Somebody connects at `now`.
    pub(super) fn connect(&mut self, now: Nanos) -> Connect {
        let established = now.max(self.next);
        self.next = established.saturating_add(self.gap);
        Connect::After(established - now)
    }
}
