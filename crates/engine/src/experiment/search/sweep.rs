//! A sweep: short runs at given rates, one after the other, with the folder and the document of a search, and without a knee.

use super::trials::Trials;
use super::{Folder, SearchObserver, SearchSpec, blank};
use crate::{Control, Error};
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_stats::search::{Found, Outcome, Searched, TrialEnd, TrialRow};

/// Plays a run at each of these rates, or numbers of closed users, measured for `each`; until `control` stops it. `folder` keeps what is known.
///
/// # Errors
/// What keeps a run from taking place; a full disk.
pub fn sweep(
    spec: &SearchSpec,
    rates: &[f64],
    each: Nanos,
    folder: Option<&Folder>,
    control: &Control,
    observer: &mut dyn SearchObserver,
) -> Result<Searched, Error> {
    let mut found = Found { sweep: rates.to_vec(), ..blank(spec)? };
    let known = |found: &Found| Searched::of(vec![found.clone()]);
    let save = |found: &Found| folder.map_or(Ok(()), |folder| folder.save(&known(found)));
    save(&found)?;
    let seeds = Stream::new(spec.base.plan.seed, streams::DERIVED);
    for (number, &rate) in (1..).zip(rates) {
        if control.asked() > 0 {
            break;
        }
        observer.trial(&found, number, rate);
        let trials = Trials {
            base: &spec.base,
            backend: &spec.backend,
            asked: &[],
            folder: spec.folder.as_deref(),
            control,
            reached: number > 1,
        };
        // Seeds stay below 2^53, so that each run can be repeated alone.
        let seed = seeds.bits(number as u64, 0) >> 11;
        let row = trials.point(&format!("point-{number:02}"), rate, seed, each)?;
        let row = TrialRow { begun_s: found.took_s, ..row };
        found.requests += row.requests;
        found.took_s += row.took_s;
        let unreachable = row.ended == TrialEnd::Unreachable;
        found.trials.push(row.clone());
        observer.ended(&found, &row, None, [None; 2]);
        save(&found)?;
        if unreachable {
            found.outcome = Outcome::Unreachable;
            break;
        }
    }
    let whole = found.trials.iter().filter(|row| !row.cut_off).count() == rates.len();
    found.outcome = match found.outcome {
        Outcome::Unreachable => Outcome::Unreachable,
        _ if whole => Outcome::Swept,
        _ => Outcome::Interrupted,
    };
    save(&found)?;
    Ok(known(&found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Sim;
    use crate::{Backend, RunSpec};
    use headway_base::{Phase, Profile, Rate, dist};
    use headway_stats::search::{Bounds, StoppedBy};
    use headway_workload::model::{Model, Station};
    use headway_workload::plan::Group;
    use headway_workload::{Plan, Process};

    /// One server of 10 ms in the mean: 90 % are within 100 ms up to 77/s.
    fn spec() -> SearchSpec {
        let length = Nanos::from_secs(5);
        let profile = Profile::new(&[Phase::hold(length, Rate(50.0))]);
        let plan = Plan::of(3, Group::open(Process::Poisson, profile), Nanos::ZERO, length);
        let service = dist::parse("exp(10ms)", &|_| Err(String::new())).unwrap();
        let base =
            RunSpec { thresholds: vec!["p(90)<100".parse().unwrap()], ..RunSpec::new("one", plan, 1_000) };
        SearchSpec {
            base,
            backend: Backend::Sim(Box::new(Sim::new(Model::station(Station::new(1, service))))),
            target: "one".into(),
            bounds: Bounds { from: 20.0, lowest: 20.0, to: Some(95.0), precision: 0.0 },
            budget: Nanos::from_secs(300),
            folder: None,
            probe: false,
            baseline: None,
        }
    }

    #[test]
    fn each_rate_is_played_for_as_long_as_was_asked_and_judged() {
        let (spec, each) = (spec(), Nanos::from_secs(100));
        let swept = sweep(&spec, &[20.0, 50.0, 95.0], each, None, &Control::default(), &mut ()).unwrap();
        let found = swept.single().unwrap();
        assert_eq!((found.outcome, found.estimate, found.interval), (Outcome::Swept, None, [None; 2]));
        let ended: Vec<TrialEnd> = found.trials.iter().map(|row| row.ended).collect();
        assert_eq!(ended, [TrialEnd::Holds, TrialEnd::Holds, TrialEnd::Fails]);
        assert_eq!(found.trials[2].threshold, Some(0));
        for row in &found.trials {
            let (offered, n) = (row.offered.unwrap(), row.requests as f64);
            // Poisson counts of 100 s: within five standard deviations.
            assert!((offered - row.rate).abs() < 5.0 * (row.rate / 100.0).sqrt(), "{row:?}");
            assert!(n > 95.0 * row.rate * 0.9, "{row:?}");
            assert!(row.goodput.is_some() && row.response.iter().any(|p| p.percent == 99.0) && !row.cut_off);
        }
    }

    #[test]
    fn a_sweep_that_is_stopped_keeps_what_is_there() {
        /// Stops it in the second run.
        struct Stops(Control);
        impl SearchObserver for Stops {
            fn trial(&mut self, _: &Found, number: usize, _: f64) {
                if number == 2 {
                    self.0.stop();
                }
            }
        }
        let (control, each) = (Control::default(), Nanos::from_secs(20));
        let rates = [20.0, 30.0, 40.0];
        let swept = sweep(&spec(), &rates, each, None, &control, &mut Stops(control.clone())).unwrap();
        let found = swept.single().unwrap();
        assert_eq!(found.outcome, Outcome::Interrupted);
        let rows: Vec<_> = found.trials.iter().map(|row| (row.cut_off, row.stopped_by)).collect();
        assert_eq!(rows, [(false, None), (true, Some(StoppedBy::Interrupt))]);
    }
}
