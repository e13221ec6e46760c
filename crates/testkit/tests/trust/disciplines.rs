//! Who is served next, and how fast: sharing, last come first served, priority, speed that depends on how many are there.

use crate::common::{Effort, Known, Load, Trial, both, law, mean, sojourn, variance};
use headway_base::dist::{Dist, Law};
use headway_stats::queueing::{
    Class, LoadDependent, Mg1, Mmc, preemptive_sojourns, priority_waits, priority_waits_mmc, ps_sojourn_mean,
    ps_sojourn_of, relaxation_time,
};
use headway_workload::Process;
use headway_workload::model::{Discipline, Model, Station};

/// A millisecond.
const MS: f64 = 1e-3;

fn cov(law: &Dist) -> f64 {
    law.variance().sqrt() / law.mean()
}

/// Shared servers: means depend on the mean service alone, and who asks for x stays in proportion to x.
fn sharing_does_not_see_the_law(effort: Effort) {
    for servers in [1, 4] {
        for text in ["exp(1ms)", "1ms", "hyperexp(1ms,2)"] {
            let (service, rate) = (law(text), 650.0 * f64::from(servers));
            let trial = Trial {
                name: &format!("{text} shared by {servers}"),
                load: Load::poisson(rate),
                relaxation: relaxation_time(
                    Mmc { rate, mean_service: MS, servers },
                    1.0,
                    cov(&service).max(1.0),
                ),
                model: Model::station(Station {
                    discipline: Discipline::Sharing,
                    ..Station::new(servers, service.clone())
                }),
                demands: Some(service.clone()),
            };
            // Of those whose demand is between two bounds, the mean of sojourn over demand.
            let slowdown = ps_sojourn_of(1.0, rate, MS, servers);
            let between = |from: f64, to: f64, what: &'static str| {
                mean(what, slowdown, move |seen| {
                    (from < seen.demand && seen.demand <= to).then(|| seen.sojourn / seen.demand)
                })
            };
            let mut known = vec![sojourn(ps_sojourn_mean(rate, MS, servers))];
            if cov(&service) > 0.0 {
                known.push(between(0.1 * MS, 0.5 * MS, "slow-down of the short"));
                known.push(between(0.5 * MS, 2.0 * MS, "slow-down of the middle"));
                known.push(between(2.0 * MS, 1.0, "slow-down of the long"));
            }
            trial.agrees(effort, &known);
        }
    }
}

/// The last to come is served first: the mean of first come first served, another second moment.
fn last_come_first_served(effort: Effort) {
    let lifo = |servers, text| {
        Model::station(Station { discipline: Discipline::Lifo, ..Station::new(servers, law(text)) })
    };
    let one = |name, rate, text, queue: Mg1| {
        let (m1, m2) = (queue.moments[0], queue.moments[1]);
        let wait = queue.wait_mean();
        let spread = queue.lifo_wait_second_moment() - wait * wait + m2 - m1 * m1;
        let trial = Trial {
            name,
            load: Load::poisson(rate),
            model: lifo(1, text),
            relaxation: Mmc::mm1(rate, MS).relaxation_time(),
            demands: None,
        };
        trial.agrees(effort, &[sojourn(queue.sojourn_mean()), variance(queue.sojourn_mean(), spread)]);
    };
    one("M/M/1 LIFO", 550.0, "exp(1ms)", Mg1::exponential(550.0, MS));
    one("M/D/1 LIFO", 600.0, "1ms", Mg1::constant(600.0, MS));
    let mm3 = Mmc { rate: 1_800.0, mean_service: MS, servers: 3 };
    let wait = mm3.wait_mean();
    let spread = mm3.lifo_wait_second_moment() - wait * wait + MS * MS;
    let trial = Trial {
        name: "M/M/3 LIFO",
        load: Load::poisson(mm3.rate),
        model: lifo(3, "exp(1ms)"),
        relaxation: mm3.relaxation_time(),
        demands: None,
    };
    trial.agrees(effort, &[sojourn(mm3.sojourn_mean()), variance(mm3.sojourn_mean(), spread)]);
}

/// Three classes, told apart by their step.
fn priority(servers: u32, laws: [&str; 3], preemptive: bool) -> Model {
    let steps = (0u16..).zip(laws).map(|(step, text)| (step, law(text))).collect();
    let discipline = Discipline::Priority { classes: vec![0, 1, 2], preemptive };
    Model::station(Station { discipline, steps, ..Station::new(servers, law("1ms")) })
}

fn by_class<'a>(sojourns: &[f64]) -> Vec<Known<'a>> {
    let of = |(class, &truth): (usize, &f64)| {
        mean(["first class", "second class", "third class"][class], truth, move |seen| {
            (usize::from(seen.step) == class).then_some(seen.sojourn)
        })
    };
    sojourns.iter().enumerate().map(of).collect()
}

/// Without preemption (Cobham), each class with a law of its own; and over four servers.
fn the_first_class_goes_before(effort: Effort) {
    let laws = ["exp(800us)", "1ms", "hyperexp(1200us,1.5)"];
    let rates = [250.0, 200.0, 150.0];
    let classes: Vec<Class> = (laws.iter().zip(rates))
        .map(|(text, rate)| Class { rate, mean_service: law(text).mean(), service_cov: cov(&law(text)) })
        .collect();
    let sojourns: Vec<f64> = priority_waits(&classes)
        .iter()
        .zip(&classes)
        .map(|(wait, class)| wait + class.mean_service)
        .collect();
    let trial = Trial {
        name: "M/G/1, priority",
        load: Load::Open(Process::Poisson, rates.to_vec()),
        model: priority(1, laws, false),
        relaxation: 2.0 * Mmc::mm1(600.0, 0.97 * MS).relaxation_time(),
        demands: None,
    };
    trial.agrees(effort, &by_class(&sojourns));
    let rates = [1_000.0, 900.0, 800.0];
    let sojourns: Vec<f64> = priority_waits_mmc(&rates, MS, 4).iter().map(|wait| wait + MS).collect();
    let trial = Trial {
        name: "M/M/4, priority",
        load: Load::Open(Process::Poisson, rates.to_vec()),
        model: priority(4, ["exp(1ms)"; 3], false),
        relaxation: 2.0 * Mmc { rate: 2_700.0, mean_service: MS, servers: 4 }.relaxation_time(),
        demands: None,
    };
    trial.agrees(effort, &by_class(&sojourns));
}

/// With preemption: an interrupted service goes on where it stopped, also one that is no exponential.
fn the_first_class_interrupts(effort: Effort) {
    let tables = [("M/M/1, preemptive", ["exp(1ms)"; 3]), ("M/D/1, preemptive", ["1ms", "800us", "1200us"])];
    for (name, laws) in tables {
        let rates = [200.0, 200.0, 200.0];
        let classes: Vec<Class> = (laws.iter().zip(rates))
            .map(|(text, rate)| Class { rate, mean_service: law(text).mean(), service_cov: cov(&law(text)) })
            .collect();
        let trial = Trial {
            name,
            load: Load::Open(Process::Poisson, rates.to_vec()),
            model: priority(1, laws, true),
            relaxation: 2.0 * Mmc::mm1(600.0, MS).relaxation_time(),
            demands: None,
        };
        trial.agrees(effort, &by_class(&preemptive_sojourns(&classes)));
    }
}

/// A station that gains less by each further request: birth and death. Shared, the law of service does not matter.
fn speed_by_the_number_present(effort: Effort) {
    let speed = vec![1.0, 1.8, 2.4];
    let rates: Vec<f64> = speed.iter().map(|s| s / MS).collect();
    let solved = LoadDependent { rate: 1_600.0, speeds: &rates, limit: None }.solve();
    let relaxation = Mmc::mm1(1_600.0, MS / 2.4).relaxation_time();
    let stations = [
        ("speed, first come first served", 3, "exp(1ms)", Discipline::Fifo),
        ("speed, one at a time", 1, "exp(1ms)", Discipline::Fifo),
        ("speed, shared", 1, "exp(1ms)", Discipline::Sharing),
        ("speed, shared, hyperexponential", 3, "hyperexp(1ms,1.5)", Discipline::Sharing),
        ("speed, last come first served", 3, "exp(1ms)", Discipline::Lifo),
    ];
    for (name, servers, text, discipline) in stations {
        let station = Station { discipline, speed: speed.clone(), ..Station::new(servers, law(text)) };
        let trial = Trial {
            name,
            load: Load::poisson(1_600.0),
            model: Model::station(station),
            relaxation: 1.5 * relaxation,
            demands: None,
        };
        trial.agrees(effort, &[sojourn(solved.sojourn_mean())]);
    }
}

both!(
    sharing_does_not_see_the_law,
    last_come_first_served,
    the_first_class_goes_before,
    the_first_class_interrupts,
    speed_by_the_number_present,
);
