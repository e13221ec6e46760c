//! The reference system and its users: 4 workers, first come first served, exp(8 ms) each; a user sends ten GETs and one
//! POST, each as soon as the one before is answered.

use headway_base::dist;
use headway_base::units::UnitError;
use headway_base::{Nanos, Rate};
use headway_sim::Network;
use headway_workload::Plan;
use headway_workload::journey::{Journey, JourneyError, Node, no_think};
use headway_workload::model::{Model, Station};

/// Workers.
pub const SERVERS: u32 = 4;
/// Mean service time in seconds.
pub const SERVICE_S: f64 = 0.008;
/// Requests per second that it can serve.
pub const CAPACITY: f64 = SERVERS as f64 / SERVICE_S;
/// GETs of a session, and all its requests.
const GETS: u32 = 10;
pub const REQUESTS: u32 = GETS + 1;
/// Number of the step that is the POST.
pub const POST: u16 = 1;

/// The journey of a user.
///
/// # Errors
/// None: the journey is sound.
pub fn session() -> Result<Journey, JourneyError> {
    let ask = |step, repeat| Node::Ask { step, repeat, think: None };
    Journey::new(&[ask(0, GETS), ask(POST, 1)], no_think())
}

/// That many milliseconds on average, by as many workers as the reference system has.
///
/// # Errors
/// A time that is not above zero.
pub fn workers(mean_ms: f64) -> Result<Station, UnitError> {
    let service = dist::parse(&format!("exp({mean_ms}ms)"), &|_| Err("a lab has no files".to_owned()))?;
    Ok(Station::new(SERVERS, service))
}

/// The workers of the reference system.
///
/// # Errors
/// None: they are sound.
pub fn reference() -> Result<Station, UnitError> {
    workers(1e3 * SERVICE_S)
}

/// The system with those workers, which accepts so many connections per second, for requests of that plan.
///
/// # Errors
/// A rate of zero.
pub fn system(plan: &Plan, accept: Option<f64>, station: Station) -> Result<Network, UnitError> {
    Network::new(&Model { accept: accept.map(Rate), ..Model::station(station) }, plan)
}

/// Response times, in order, in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// These response times.
    pub fn new(mut times: Vec<Nanos>) -> Times {
        times.sort_unstable();
        Times { sorted: times.into_iter().map(ms).collect() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// Mean; NaN of none.
    pub fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / self.sorted.len() as f64
    }

    /// The smallest x with F(x) >= p; NaN of none.
    pub fn quantile(&self, p: f64) -> f64 {
        let n = self.sorted.len();
        let place = ((p * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
        self.sorted.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The longest; NaN of none.
    pub fn max(&self) -> f64 {
        self.sorted.last().copied().unwrap_or(f64::NAN)
    }
}

/// In milliseconds.
pub fn ms(time: Nanos) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_observations() {
        let times = Times::new((1..=200).rev().map(Nanos::from_millis).collect());
        assert_eq!((times.count(), times.mean(), times.max()), (200, 100.5, 200.0));
        assert_eq!(
            [0.0, 0.5, 0.99, 0.991, 1.0].map(|p| times.quantile(p)),
            [1.0, 100.0, 198.0, 199.0, 200.0]
        );
        assert!(Times::default().quantile(0.5).is_nan());
    }

    #[test]
    fn a_session_is_eleven_requests() {
        assert_eq!(session().unwrap().longest(), u64::from(REQUESTS));
    }
}
