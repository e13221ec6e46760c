//! Little's law for users who wait and think: how many send a rate, and what share of them waits.

/// Users that together send `rate` requests per unit of time when each waits `response` for its answer and then thinks for
/// `think`, both on average: rate x (Z + R) by Little's law (Little 1961).
pub fn users_for(rate: f64, response: f64, think: f64) -> f64 {
    rate * (think + response)
}

/// R/(Z + R): the share of a user's cycle that it spends waiting (Brady and Gunther 2016).
pub fn waiting_share(response: f64, think: f64) -> f64 {
    response / (think + response)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brady (2012), figure 17: R of his seven tests with the think times that he set, and rates where all its digits
    /// match.
    #[test]
    fn users_and_waiting_shares_of_bradys_tests() {
        let tests = [
            (12.5, 0.053_17, 0.42, 199.72, 15.91),
            (6.25, 0.052_74, 0.84, 199.99, 31.73),
            (2.5, 0.074_97, 2.91, 199.71, 77.56),
            (1.0, 0.253_38, 20.22, 199.49, 159.16),
        ];
        for (think, response, percent, users, rate) in tests {
            assert_eq!(format!("{:.2}", 100.0 * waiting_share(response, think)), format!("{percent:.2}"));
            assert_eq!(format!("{:.2}", users_for(rate, response, think)), format!("{users:.2}"));
        }
    }
}
