//! A station that is up and down by turns: what it turns away, and the queue of what it takes.

use crate::common::{Effort, Load, Trial, both, law, loss, quantile, sojourn, variance};
use headway_stats::queueing::{Gim1, Mmc, relaxation_time};
use headway_workload::model::{Faults, Kind, Model, Part, Station, UnderWay, When, WhileDown};

/// A millisecond.
const MS: f64 = 1e-3;

/// Poisson arrivals that are let in by turns of exponential lengths have independent gaps (Kuczura 1973, "The interrupted
/// Poisson process as an overflow process"), so that what is served is a GI/M/1. With arrivals at rate l, turns that end at
/// rate g and begin again at rate w, 1 - A*(s) = s (s + g + w) / (s^2 + (l + g + w) s + l w), and the squared coefficient of
/// variation of the gaps is 1 + 2 l g / (g + w)^2.
fn interrupted_arrivals(effort: Effort) {
    let (l, g, w) = (800.0, 100.0, 250.0);
    let up = w / (g + w);
    let queue = Gim1::new(l * up, MS, |s| s * (s + g + w) / (s * s + (l + g + w) * s + l * w));
    let cov = (1.0f64 + 2.0 * l * g / ((g + w) * (g + w))).sqrt();
    let faults = Faults {
        when: When::Alternating { up: law("exp(10ms)"), down: law("exp(4ms)"), lazy: false },
        together: false,
        while_down: WhileDown::Error,
        under_way: UnderWay::Finish,
    };
    let station = Kind::Station(Station::new(1, law("exp(1ms)")));
    let trial = Trial {
        name: "up and down by turns",
        load: Load::poisson(l),
        model: Model::of(vec![Part { faults: Some(faults), ..Part::new("station", station) }]),
        relaxation: relaxation_time(Mmc::mm1(l * up, MS), cov, 1.0) + 1.0 / (g + w),
        demands: None,
    };
    let (mean, p99) = (queue.sojourn_mean(), queue.sojourn_quantile(0.99));
    trial.agrees(
        effort,
        &[loss(1.0 - up), sojourn(mean), variance(mean, mean * mean), quantile("p99", 0.99, p99)],
    );
}

both!(interrupted_arrivals);
