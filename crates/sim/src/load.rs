//! Offered load of stations, computed before anything is simulated.

use crate::network::copies;
use headway_base::Nanos;
use headway_base::dist::Law;
use headway_workload::model::{Cancel, Kind, Model, Part, Station};

/// Offered load of each part per server, at that total rate in requests per second, in the order of the model: at 1 or
/// more there is no steady state, unless a full queue turns some away. Balancers are taken to split by weight, and evenly
/// among copies.
///
/// None for parts that are no stations, and where it is unknown: behind retries, hedges, breakers, timeouts that cancel and
/// parts that fail, which make more or fewer requests of those that come; and where steps take different times on average.
pub fn offered(model: &Model, rate_per_s: f64) -> Vec<Option<f64>> {
    let Ok(copies) = copies(model) else { return vec![None; model.parts.len()] };
    let mut rates: Vec<Option<f64>> = vec![Some(0.0); model.parts.len()];
    rates[0] = Some(rate_per_s);
    let mut offered = Vec::with_capacity(model.parts.len());
    for (id, part) in model.parts.iter().enumerate() {
        let rate = rates[id].filter(|_| hands_on_all(part));
        for (to, share) in shares(model, part) {
            rates[to] = rates[to].zip(rate).map(|(sum, rate)| sum + rate * share);
        }
        offered.push(match &part.kind {
            Kind::Station(station) if copies[id] > 0 => {
                // All go to the first copy of the first part.
                let copies = if id == 0 { 1.0 } else { f64::from(copies[id]) };
                rate.zip(work(station)).map(|(rate, work)| rate * work / copies)
            }
            _ => None,
        });
    }
    offered
}

/// Whether each request that comes to a part is one request further on.
fn hands_on_all(part: &Part) -> bool {
    part.retry.is_none()
        && part.hedge.is_none()
        && part.breaker.is_none()
        && part.faults.is_none()
        && part.timeout.is_none_or(|timeout| timeout.cancel == Cancel::Never)
}

/// Where requests go, and which share of them.
fn shares(model: &Model, part: &Part) -> Vec<(usize, f64)> {
    match &part.kind {
        Kind::Pass(to) => vec![(*to, 1.0)],
        Kind::Balancer(balancer) => {
            let weight = |part: usize, weight: f64| weight * f64::from(model.parts[part].copies);
            let sum: f64 = balancer.to.iter().map(|branch| weight(branch.part, branch.weight)).sum();
            balancer.to.iter().map(|branch| (branch.part, weight(branch.part, branch.weight) / sum)).collect()
        }
        Kind::Station(_) => Vec::new(),
    }
}

/// Time that a request takes of the whole station, in seconds, in the long run.
fn work(station: &Station) -> Option<f64> {
    let mean = station.service.mean();
    if station.steps.iter().any(|(_, law)| law.mean() != mean) {
        return None;
    }
    // With many in it.
    let speed = station.speed.last().copied().unwrap_or(f64::from(station.servers));
    let long = Nanos(1 << 60);
    let awake = station.stalls.map_or(1.0, |stalls| stalls.worked(long).0 as f64 / long.0 as f64);
    Some(mean / (speed * awake))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist;
    use headway_base::station::Stalls;
    use headway_workload::model::{Balancer, Branch, Policy, Retry};

    fn station(servers: u32) -> Station {
        Station::new(servers, dist::parse("exp(10ms)", &|_| Err(String::new())).unwrap())
    }

    fn close(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
        let near = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a.is_none() && b.is_none(),
        };
        a.len() == b.len() && a.iter().zip(b).all(near)
    }

    #[test]
    fn stations_alone_and_behind_balancers() {
        assert!(close(&offered(&Model::station(station(4)), 200.0), &[Some(0.5)]));
        let pool = Model::balanced(Policy::Random, 5, station(1));
        assert!(close(&offered(&pool, 450.0), &[None, Some(0.9)]));
        let mut slow = station(1);
        slow.speed = vec![1.0, 1.8, 2.5];
        slow.stalls = Some(Stalls::new(Nanos(1_000), Nanos(200)).unwrap());
        assert!(close(&offered(&Model::station(slow.clone()), 100.0), &[Some(0.5)]));
        slow.steps = vec![(1, dist::parse("1ms", &|_| Err(String::new())).unwrap())];
        assert!(close(&offered(&Model::station(slow), 100.0), &[None]));
    }

    /// Ten routers before one pool, and before a pool each; weights; and unknown behind retries.
    #[test]
    fn trees_split_what_comes() {
        let balancer = |to: &[usize]| Kind::Balancer(Balancer::new(Policy::RoundRobin, to));
        for shared in [true, false] {
            let routers = Part { copies: 10, ..Part::new("routers", balancer(&[2])) };
            let pool = Part {
                copies: if shared { 50 } else { 5 },
                shared,
                ..Part::new("pool", Kind::Station(station(1)))
            };
            let mut model = Model::of(vec![Part::new("entry", balancer(&[1])), routers, pool]);
            assert!(close(&offered(&model, 4_000.0), &[None, None, Some(0.8)]));
            model.parts[1].retry = Some(Retry { attempts: 2, backoff: None, budget: None });
            assert!(close(&offered(&model, 4_000.0), &[None, None, None]));
        }
        let mut weighted = Balancer::new(Policy::Random, &[1, 2]);
        weighted.to = vec![Branch { part: 1, weight: 3.0 }, Branch { part: 2, weight: 1.0 }];
        let pool = |copies| Part { copies, ..Part::new("pool", Kind::Station(station(1))) };
        let entry = Part::new("entry", Kind::Balancer(weighted));
        let model = Model::of(vec![entry, pool(1), pool(3)]);
        assert!(close(&offered(&model, 60.0), &[None, Some(0.3), Some(0.1)]));
    }
}
