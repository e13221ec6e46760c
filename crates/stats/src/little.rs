//! What follows from response time, think time and rate by Little's law (Little 1961; Brady and Gunther 2016 for R/(Z+R) and
//! the users that it takes to lower it): shared by runs and audits.

use crate::queueing::{users_for, waiting_share};
use crate::summary::{Closed, Supported};

/// Below this share of its cycle spent waiting a user hardly feels how the others fare.
pub(crate) const LITTLE: f64 = 0.03;
/// Think times of people at a page, in seconds, for which users are told.
const THINKS: [f64; 5] = [10.0, 20.0, 30.0, 40.0, 50.0];
/// Fewest requests that tell a rate to plan users by.
pub(crate) const FEWEST: u64 = 30;

/// Users that this rate stands for if each thinks so long on average between the end of a response (of this mean time) and
/// the next request.
pub(crate) fn supported(rate: f64, response: f64) -> [Supported; 5] {
    THINKS.map(|think| Supported { think, users: users_for(rate, response, think) })
}

/// Fills what follows from the block's mean response time, this rate of requests, and this mean think time per request.
pub(crate) fn fill(closed: &mut Closed, rate: Option<f64>, think: Option<f64>) {
    closed.rate = rate;
    let response = closed.response;
    closed.think_for_3_percent = response.map(|r| r * (1.0 - LITTLE) / LITTLE);
    let with_rate = response.zip(rate);
    closed.users_for_3_percent =
        with_rate.zip(closed.think_for_3_percent).map(|((r, rate), think)| users_for(rate, r, think));
    closed.supported = with_rate.map(|(r, rate)| supported(rate, r));
    if let (Some(r), Some(z)) = (response, think) {
        closed.rort = Some(waiting_share(r, z)).filter(|share| share.is_finite());
        closed.n_little = rate.map(|rate| users_for(rate, r, z));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brady (2012), test 80: 200 users thinking 1 s on average.
    #[test]
    fn bradys_users_follow_from_his_rate() {
        let mut closed = Closed { response: Some(0.253_38), ..Closed::default() };
        fill(&mut closed, Some(159.16), Some(1.0));
        assert_eq!(format!("{:.2}", closed.n_little.unwrap()), "199.49");
        assert_eq!(format!("{:.2}", 100.0 * closed.rort.unwrap()), "20.22");
        let at_3_percent =
            closed.response.unwrap() / (closed.response.unwrap() + closed.think_for_3_percent.unwrap());
        assert!((at_3_percent - 0.03).abs() < 1e-12);
        assert_eq!(closed.supported.unwrap()[0].users, 159.16 * 10.253_38);
        let mut unknown = Closed::default();
        fill(&mut unknown, None, Some(1.0));
        assert_eq!((unknown.n_little, unknown.rort, unknown.supported), (None, None, None));
    }
}
