//! A few servers with a queue each and a balancer that looks at them: the Markov chain itself, solved.

/// The mean sojourn, in mean services, over `servers` exponential servers at a utilisation of `rho` to which Poisson
/// arrivals go as `share` says: the probability of going to the i-th shortest, given the numbers present in order. A
/// request which finds `most` where it goes is turned away: choose `most` so large that it never happens.
pub fn sojourn(servers: usize, rho: f64, most: u8, share: impl Fn(&[u8]) -> Vec<f64>) -> f64 {
    let states = sorted(servers, most);
    let index = |state: &[u8]| {
        let mut state = state.to_vec();
        state.sort_unstable();
        states.binary_search(&state).unwrap()
    };
    let arrivals = rho * servers as f64;
    let all = arrivals + servers as f64;
    // Of each state: where to, with which probability, at the next ring of a clock of rate `all`.
    let ways: Vec<Vec<(usize, f64)>> = states
        .iter()
        .enumerate()
        .map(|(from, state)| {
            let mut ways = Vec::new();
            for (i, probability) in share(state).into_iter().enumerate().filter(|(_, p)| *p > 0.0) {
                let mut next = state.clone();
                next[i] = (next[i] + 1).min(most);
                ways.push((index(&next), probability * arrivals / all));
            }
            for i in 0..servers {
                let mut next = state.clone();
                next[i] = next[i].saturating_sub(1);
                ways.push((if next == *state { from } else { index(&next) }, 1.0 / all));
            }
            ways
        })
        .collect();
    let mut p = vec![0.0; states.len()];
    p[0] = 1.0;
    let (mut before, mut number) = (f64::INFINITY, 0.0f64);
    // Steps of 100 rings until the mean stands still.
    while (number - before).abs() > 1e-10 || number == 0.0 {
        for _ in 0..100 {
            let mut next = vec![0.0; p.len()];
            for (ways, p) in ways.iter().zip(&p) {
                ways.iter().for_each(|&(to, probability)| next[to] += p * probability);
            }
            p = next;
        }
        before = number;
        let present = |state: &[u8]| state.iter().map(|&n| f64::from(n)).sum::<f64>();
        number = states.iter().zip(&p).map(|(state, p)| p * present(state)).sum();
    }
    number / arrivals
}

/// All ascending lists of that length of numbers up to `most`, in order.
fn sorted(length: usize, most: u8) -> Vec<Vec<u8>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let longer = |list: &Vec<u8>| {
            let list = list.clone();
            (list.last().copied().unwrap_or(0)..=most).map(move |n| [list.as_slice(), &[n]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

#[test]
fn one_server_is_m_m_1_and_anyone_of_two_as_well() {
    assert!((sojourn(1, 0.6, 60, |_| vec![1.0]) - 2.5).abs() < 1e-7);
    assert!((sojourn(2, 0.5, 30, |_| vec![0.5, 0.5]) - 2.0).abs() < 1e-6);
}
