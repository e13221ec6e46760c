//! What the experiments are made of: timelike's dyno, its cable, its faulty node, and balancers by connections.

use headway_base::Nanos;
use headway_base::dist::{self, Dist};
use headway_base::units::UnitError;
use headway_workload::model::{
    Balancer, Cable, Faults, Kind, Part, PartId, Policy, Retry, Station, Ties, UnderWay, When, WhileDown,
};

/// Attempts in all, where requests are made again.
pub const ATTEMPTS: u32 = 3;
/// So long a failed request counts as outstanding, where failures are held.
pub const HOLD: Nanos = Nanos::from_secs(1);
/// A faulty part is up so long on average,
pub const UP_S: f64 = 20.0;
/// and then down so long.
pub const DOWN_S: f64 = 1.0;
/// The way to a dyno.
const TO_DYNO: &str = "2ms";
/// And back. In whole milliseconds much happens at one instant, and timelike leaves open what comes first. In the independent
/// simulation requests come before the answers of the same millisecond; the nanosecond does that here, where they would
/// otherwise come after.
const FROM_DYNO: &str = "2.000001ms";
/// The way to a router, and back.
const TO_ROUTER: &str = "5ms";
/// What a dyno needs for a request.
const SERVICE: &str = "shifted(20ms,rounded(exp(100ms),1ms))";

/// Reads a law.
///
/// # Errors
/// Text that is none.
pub fn law(text: &str) -> Result<Dist, UnitError> {
    dist::parse(text, &|_| Err("a lab has no files".to_owned()))
}

/// What a dyno needs for a request.
///
/// # Errors
/// None: the law is sound.
pub fn service() -> Result<Dist, UnitError> {
    law(SERVICE)
}

/// So many servers of one request at a time behind a short cable.
///
/// # Errors
/// None: its laws are sound.
pub fn dynos(copies: u32) -> Result<Part, UnitError> {
    let station = Station::new(1, service()?);
    Ok(Part { copies, cable: cable(TO_DYNO, FROM_DYNO)?, ..Part::new("dyno", Kind::Station(station)) })
}

/// The longer cable to a router.
///
/// # Errors
/// None: its law is sound.
pub fn to_router() -> Result<Option<Cable>, UnitError> {
    cable(TO_ROUTER, TO_ROUTER)
}

fn cable(out: &str, back: &str) -> Result<Option<Cable>, UnitError> {
    Ok(Some(Cable { out: law(out)?, back: law(back)? }))
}

/// Up and down by turns, each copy by itself; what comes to it while it is down fails at once. As timelike has it, it changes
/// only when a request comes, and what is under way goes on.
///
/// # Errors
/// Means that are not above zero.
pub fn timelike_faults() -> Result<Option<Faults>, UnitError> {
    faults(UP_S, DOWN_S, true, UnderWay::Finish)
}

/// Up and down by turns of their own, each copy by itself, and what is under way is lost.
///
/// # Errors
/// Means that are not above zero.
pub fn crashes(up_s: f64, down_s: f64) -> Result<Option<Faults>, UnitError> {
    faults(up_s, down_s, false, UnderWay::Lost)
}

fn faults(up_s: f64, down_s: f64, lazy: bool, under_way: UnderWay) -> Result<Option<Faults>, UnitError> {
    let when = When::Alternating {
        up: law(&format!("exp({up_s}s)"))?,
        down: law(&format!("exp({down_s}s)"))?,
        lazy,
    };
    Ok(Some(Faults { when, together: false, while_down: WhileDown::Error, under_way }))
}

/// A balancer by the connections that it knows of: its own.
pub fn even(ties: Ties, hold: bool, to: PartId) -> Kind {
    let policy = Policy::LeastConnections { ties };
    Kind::Balancer(Balancer { hold: hold.then_some(HOLD), ..Balancer::new(policy, &[to]) })
}

/// One that chooses at random.
pub fn random(to: PartId) -> Kind {
    Kind::Balancer(Balancer::new(Policy::Random, &[to]))
}

/// Requests that fail are made again, at once.
pub fn retry(attempts: u32) -> Option<Retry> {
    (attempts > 1).then_some(Retry { attempts, backoff: None, budget: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist::Law as _;

    /// 20 ms, and an exponential of 100 ms in whole ones: 1/(2 sinh(1/200)).
    #[test]
    fn a_dyno_needs_120_ms() {
        let mean = 20e-3 + 0.5e-3 / (1.0_f64 / 200.0).sinh();
        assert!((service().unwrap().mean() - mean).abs() < 1e-12);
        let cable = dynos(3).unwrap().cable.unwrap();
        assert!((cable.back.mean() - cable.out.mean() - 1e-9).abs() < 1e-15 && retry(1).is_none());
    }
}
