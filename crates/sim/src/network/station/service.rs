//! How long serving a request takes: the law of its step, longer while the station is cold.

use headway_base::Nanos;
use headway_base::dist::{Dist, Law};
use headway_base::random::Draws;
use headway_base::units::UnitError;
use headway_workload::model::{Cold, Station};

/// The least time of a response, so that immediate retries advance in time.
pub(crate) const LEAST: Nanos = Nanos(1);
/// The longest service, 146 years: a service that would end after the end of time begins later than any run lasts.
const MOST: Nanos = Nanos(i64::MAX / 2);

/// The laws of a station part, the same for all its copies.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    law: Dist,
    /// By step; those beyond the end have none of their own.
    steps: Vec<Option<Dist>>,
    cold: Option<Cold>,
}

impl Service {
    /// The laws of that station.
    ///
    /// # Errors
    /// A cold start that is not above zero.
    pub(crate) fn new(station: &Station) -> Result<Service, UnitError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(cold) = station.cold.filter(|cold| !(positive(cold.factor) && cold.requests > 0)) {
            let given = format!("factor: {}, requests: {}", cold.factor, cold.requests);
            return Err(UnitError::new(&given, "a cold start: both must be above 0"));
        }
        let length = station.steps.iter().map(|(step, _)| usize::from(*step) + 1).max().unwrap_or(0);
        let mut steps = vec![None; length];
        for (step, law) in &station.steps {
            steps[usize::from(*step)] = Some(law.clone());
        }
        Ok(Service { law: station.service.clone(), steps, cold: station.cold })
    }

    /// Whether a copy that has served few needs longer.
    pub(crate) fn begins_cold(&self) -> bool {
        self.cold.is_some()
    }

    /// Service time of a request of that step at one server, alone, of a copy that has served that many.
    #[inline(always)]
    pub(crate) fn demand(&self, step: u16, served: u64, draws: &mut Draws) -> Nanos {
        let own = self.steps.get(usize::from(step)).and_then(Option::as_ref);
        let mut seconds = own.unwrap_or(&self.law).sample(draws);
        if let Some(cold) = &self.cold {
            seconds *= 1.0 + cold.factor * libm::exp(-(served as f64) / cold.requests as f64);
        }
        Nanos::from_secs_f64(seconds).clamp(LEAST, MOST)
    }
}
