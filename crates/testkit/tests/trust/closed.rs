//! Users who ask, wait and think: mean value analysis.

use crate::common::{Effort, Load, Trial, both, law, sojourn, throughput};
use headway_stats::queueing::{Centre, Closed};
use headway_workload::model::{Balancer, Branch, Discipline, Kind, Model, Part, Policy, Station};

/// A millisecond.
const MS: f64 = 1e-3;

/// The slowest that a closed network can forget: all users queue at its slowest station, think, and queue again.
fn round(users: u32, think: f64, slowest: f64) -> f64 {
    think + f64::from(users) * slowest
}

/// One station of c servers: with few users and many, below its knee and beyond.
fn one_station(effort: Effort) {
    for (users, servers, think) in [(5, 1, "exp(10ms)"), (24, 4, "exp(20ms)"), (40, 4, "20ms")] {
        let centres = [
            Centre::Delay { demand: if users == 5 { 10.0 * MS } else { 20.0 * MS } },
            queue(4.0 * MS, servers),
        ];
        let solved = Closed { centres: &centres }.with(users as usize);
        let trial = Trial {
            name: &format!("{users} users over {servers} servers"),
            load: Load::Closed(users, law(think), solved.throughput),
            model: Model::station(Station::new(servers, law("exp(4ms)"))),
            relaxation: round(users, 20.0 * MS, 4.0 * MS / f64::from(servers)),
            demands: None,
        };
        trial.agrees(effort, &[throughput(solved.throughput), sojourn(solved.response)]);
    }
}

fn queue(demand: f64, servers: u32) -> Centre {
    Centre::Queue { demand, servers }
}

/// Two stations, of which one gets two thirds: a network in product form.
fn two_stations(effort: Effort) {
    let stations = [
        ("first come first served", [Station::new(1, law("exp(3ms)")), Station::new(2, law("exp(7ms)"))]),
        // Sharing is in product form whatever the law.
        (
            "one of them shared",
            [
                Station { discipline: Discipline::Sharing, ..Station::new(1, law("lognormal(3ms,1.2)")) },
                Station::new(2, law("exp(7ms)")),
            ],
        ),
    ];
    let centres = [Centre::Delay { demand: 20.0 * MS }, queue(2.0 * MS, 1), queue(7.0 / 3.0 * MS, 2)];
    let solved = Closed { centres: &centres }.with(12);
    for (name, [fast, slow]) in stations {
        let to = vec![Branch { part: 1, weight: 2.0 }, Branch { part: 2, weight: 1.0 }];
        let balancer = Balancer { to, ..Balancer::new(Policy::Random, &[]) };
        let model = Model::of(vec![
            Part::new("balancer", Kind::Balancer(balancer)),
            Part::new("fast", Kind::Station(fast)),
            Part::new("slow", Kind::Station(slow)),
        ]);
        let trial = Trial {
            name,
            load: Load::Closed(12, law("exp(20ms)"), solved.throughput),
            model,
            relaxation: round(12, 20.0 * MS, 3.5 * MS),
            demands: None,
        };
        trial.agrees(effort, &[throughput(solved.throughput), sojourn(solved.response)]);
    }
}

both!(one_station, two_stations);
