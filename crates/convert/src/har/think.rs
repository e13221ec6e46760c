//! Think times out of a recording: where a person paused, and which law such pauses follow.

use headway_base::Nanos;

/// A pause of the requests longer than this is a person's. Browsers follow an answer with the requests that it causes
/// within tens of milliseconds, people take longer than half a second to read and act.
pub const LEAST: Nanos = Nanos::from_millis(500);

/// From this many pauses on their spread is fitted as well.
const ENOUGH: usize = 5;

/// Below this CoV the pauses are a script's, not a person's.
const SCRIPTED: f64 = 0.01;

/// A fitted law.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// In the grammar of distributions.
    pub law: String,
    /// From what and why, for a person.
    pub reason: String,
}

/// The law of these pauses, each over zero; none if there are none.
///
/// One to four say little of their spread, so that they give an exponential of their mean, the law of independent users (a
/// constant one keeps users together whom a stall has bunched). From five on a lognormal of their mean and CoV, by
/// moments; a constant if they do not differ.
pub fn fit(pauses: &[Nanos]) -> Option<Fit> {
    let n = pauses.len();
    if n == 0 {
        return None;
    }
    let seconds = || pauses.iter().map(|pause| pause.as_secs_f64());
    let mean = seconds().sum::<f64>() / n as f64;
    let found = format!("{}, mean {}", super::count(n, "pause"), shown(mean));
    if n < ENOUGH {
        let law = format!("exp({})", shown(mean));
        let reason = format!(
            "{found}: {law}, since so few say nothing of their spread, and equal ones would keep users together whom a stall has bunched"
        );
        return Some(Fit { law, reason });
    }
    let variance = seconds().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1) as f64;
    let cov = variance.sqrt() / mean;
    let found = format!("{found}, CoV {cov:.3}");
    if cov < SCRIPTED {
        let law = format!("const({})", shown(mean));
        let reason =
            format!("{found}: {law}, since they are all but equal, as a script makes them and no person");
        return Some(Fit { law, reason });
    }
    let law = format!("lognormal({},{cov:.3})", shown(mean));
    let reason = format!("{found}: {law}, by moments");
    Some(Fit { law, reason })
}

/// Seconds to the millisecond.
fn shown(seconds: f64) -> String {
    let text = format!("{seconds:.3}");
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::dist::{self, Law as _};
    use headway_base::random::{Stream, streams};

    fn law(ms: &[i64]) -> String {
        let pauses: Vec<Nanos> = ms.iter().map(|&ms| Nanos::from_millis(ms)).collect();
        fit(&pauses).unwrap().law
    }

    #[test]
    fn the_law_fits_what_there_is() {
        assert_eq!(fit(&[]), None);
        assert_eq!(law(&[2_000]), "exp(2s)");
        assert_eq!(law(&[1_000, 2_000, 3_001, 4_000]), "exp(2.5s)");
        assert_eq!(law(&[3_000; 7]), "const(3s)");
        // Mean 3, variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5.
        assert_eq!(law(&[1_000, 2_000, 3_000, 4_000, 5_000]), "lognormal(3s,0.527)");
    }

    /// 2,000 draws of a lognormal of mean 4 s and CoV 0.5: the mean within 4 standard errors (0.5 x 4 / sqrt(2000)), the
    /// CoV within 4 of its own, of which a bound is 0.5 sqrt((1/2 + 2 x 0.25) / 2000) for laws of this skewness.
    #[test]
    fn moments_are_those_of_the_law_that_paused() {
        let paused = dist::parse("lognormal(4s,0.5)", &|_| Err(String::new())).unwrap();
        let stream = Stream::new(11, streams::SERVICE);
        let pauses: Vec<Nanos> =
            (0..2_000).map(|k| Nanos::from_secs_f64(paused.sample(&mut stream.item(k)))).collect();
        let fitted = dist::parse(&fit(&pauses).unwrap().law, &|_| Err(String::new())).unwrap();
        assert!((fitted.mean() - 4.0).abs() < 4.0 * 2.0 / 2_000f64.sqrt(), "{fitted}");
        let cov = fitted.variance().sqrt() / fitted.mean();
        assert!((cov - 0.5).abs() < 4.0 * 0.5 * (1.0 / 2_000f64).sqrt(), "{fitted}");
    }
}
