//! By how much the generator's own delays moved the numbers.

use super::{Interval, RuleOutcome};
use crate::effect::{Basis, Found, Number, NumberFound};
use crate::metric::{Aggregate, NumberOf};
use serde::{Deserialize, Serialize};

/// What an undisturbed generator in front of the same target would have measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// Requests.
    pub n: u64,
    /// Each number, the judged ones first.
    pub numbers: Vec<NumberEffect>,
}

/// One of these numbers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberEffect {
    /// Of the response time (`mean`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`), or `failed`.
    pub number: NumberOf,
    /// As it was measured: seconds, or a share.
    pub measured: f64,
    /// The range of what an undisturbed generator would have measured, in the same unit.
    pub undisturbed: Interval,
    /// The least and the largest relative error of the measured number in that range. The largest is null where the number may be 0.
    pub effect: [Option<f64>; 2],
    /// What the range rests on.
    pub basis: EffectBasis,
    /// What follows; null of a number that is not judged.
    pub outcome: Option<RuleOutcome>,
}

/// What the range of a number rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectBasis {
    /// The range of what queues say that are fed with what was seen.
    #[default]
    Ensemble,
    /// The largest lag since nothing was in flight.
    Bound,
    /// Response times as counted from the start and from the intended instant, where requests are due after responses.
    FromStart,
}

impl NumberEffect {
    /// By how much of the undisturbed number the measured one is off, from and to: negative where it is too low. The end is none where the
    /// undisturbed number may be 0.
    pub fn off(&self) -> [Option<f64>; 2] {
        let of = |end: f64| match self.measured {
            measured if end == measured => Some(0.0),
            measured => (end > 0.0).then(|| measured / end - 1.0),
        };
        let [low, high] = self.undisturbed;
        [of(high), of(low)]
    }
}

impl From<&Found> for Effect {
    fn from(found: &Found) -> Effect {
        Effect { n: found.n, numbers: found.numbers.iter().map(NumberEffect::from).collect() }
    }
}

impl From<&NumberFound> for NumberEffect {
    fn from(found: &NumberFound) -> NumberEffect {
        let unit = if found.number == Number::Failed { 1.0 } else { 1e-9 };
        NumberEffect {
            number: name(found.number),
            measured: found.measured * unit,
            undisturbed: found.undisturbed.map(|end| end * unit),
            effect: found.effect.map(|end| end.is_finite().then_some(end)),
            basis: match found.basis {
                Basis::Ensemble => EffectBasis::Ensemble,
                Basis::Bound => EffectBasis::Bound,
                Basis::FromStart => EffectBasis::FromStart,
            },
            outcome: found.outcome,
        }
    }
}

fn name(number: Number) -> NumberOf {
    match number {
        Number::Mean => NumberOf::response(Aggregate::Mean),
        Number::Max => NumberOf::response(Aggregate::Max),
        Number::Failed => NumberOf::FAILED,
        Number::Percentile(tenths) => NumberOf::response(Aggregate::Percentile(f64::from(tenths) / 10.0)),
    }
}
