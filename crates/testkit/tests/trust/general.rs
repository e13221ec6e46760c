//! Other laws of service (M/G/1 by Pollaczek and Khinchine) and other arrivals (GI/M/1), first come first served.

use crate::common::{Effort, Load, Trial, both, law, quantile, sojourn, variance};
use headway_base::dist::Law;
use headway_stats::queueing::{Gim1, Mg1, Mmc, mg1_sojourn_mean, relaxation_time};
use headway_workload::Process;
use headway_workload::model::{Model, Policy, Station};

/// A millisecond.
const MS: f64 = 1e-3;

fn m_d_1(effort: Effort) {
    let md1 = Mg1::constant(700.0, MS);
    let trial = Trial {
        name: "M/D/1",
        load: Load::poisson(700.0),
        model: Model::station(Station::new(1, law("1ms"))),
        relaxation: relaxation_time(Mmc::mm1(700.0, MS), 1.0, 0.0),
        demands: None,
    };
    trial
        .agrees(effort, &[sojourn(md1.sojourn_mean()), variance(md1.sojourn_mean(), md1.sojourn_variance())]);
}

/// At half the capacity: the wider the law, the longer one would have to look.
fn m_g_1(effort: Effort) {
    let laws =
        ["lognormal(1ms,1.5)", "hyperexp(1ms,1.5)", "erlang(3,1ms)", "uniform(0s,2ms)", "gamma(1ms,0.7)"];
    for text in laws {
        let (service, rate) = (law(text), 500.0);
        let cov = service.variance().sqrt() / service.mean();
        let trial = Trial {
            name: text,
            load: Load::poisson(rate),
            relaxation: relaxation_time(Mmc::mm1(rate, service.mean()), 1.0, cov),
            model: Model::station(Station::new(1, service.clone())),
            demands: None,
        };
        trial.agrees(effort, &[sojourn(mg1_sojourn_mean(rate, service.mean(), cov))]);
    }
}

/// The sojourn is exponential, whatever the arrivals.
fn exponential_sojourn(trial: &Trial, effort: Effort, queue: Gim1) {
    let mean = queue.sojourn_mean();
    let p99 = queue.sojourn_quantile(0.99);
    trial.agrees(effort, &[sojourn(mean), variance(mean, mean * mean), quantile("p99", 0.99, p99)]);
}

fn gi_m_1(effort: Effort) {
    let queues = [
        ("E_4/M/1", Process::Gamma { cov: 0.5 }, Gim1::erlang(4, 700.0, MS)),
        ("D/M/1", Process::Constant, Gim1::constant(700.0, MS)),
        // A* of gaps that are uniform on (0, 2 / lambda) is (1 - e^-x) / x with x = 2 s / lambda.
        (
            "U/M/1",
            Process::Uniform,
            Gim1::new(700.0, MS, |s| {
                let x = 2.0 * s / 700.0;
                1.0 + (-x).exp_m1() / x
            }),
        ),
    ];
    for (name, process, queue) in queues {
        let trial = Trial {
            name,
            load: Load::Open(process, vec![700.0]),
            model: Model::station(Station::new(1, law("exp(1ms)"))),
            relaxation: Mmc::mm1(700.0, MS).relaxation_time(),
            demands: None,
        };
        exponential_sojourn(&trial, effort, queue);
    }
}

/// Each of n servers gets every n-th of Poisson arrivals: E_n/M/1.
fn round_robin(effort: Effort) {
    for servers in [3, 12] {
        let rate = 700.0 * f64::from(servers);
        let trial = Trial {
            name: &format!("round robin over {servers}"),
            load: Load::poisson(rate),
            model: Model::balanced(Policy::RoundRobin, servers, Station::new(1, law("exp(1ms)"))),
            relaxation: Mmc::mm1(700.0, MS).relaxation_time(),
            demands: None,
        };
        exponential_sojourn(&trial, effort, Gim1::round_robin(rate, MS, servers));
    }
}

both!(m_d_1, m_g_1, gi_m_1, round_robin);
