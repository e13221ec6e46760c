//! A start far from steady state is found and left out.

use super::{QUEUE, Run};
use stats::steady::{Cut, Replications, mser};

/// 100 services wait when a run of 1,000 relaxation times begins. Over 50 runs: each finds a cut; the mean of what is
/// left is within 4 standard errors of the truth, that of the whole run is not.
#[test]
fn a_hundred_waiting_are_left_out() {
    let (mut kept, mut whole) = (Vec::new(), Vec::new());
    for seed in 1..=50 {
        let batches = Run::from(100.0, seed).play(72_000);
        let Cut::Found(prefix) = mser(&batches) else { panic!("{seed}: no steady state") };
        assert!(prefix.observations > 0 && prefix.share < 0.5, "{seed}: {prefix:?}");
        kept.extend(batches.mean_after(prefix.batches));
        whole.extend(batches.mean_after(0));
    }
    let off = |values| {
        let means = Replications::of(values).unwrap();
        (means.mean() - QUEUE.sojourn_mean()) / (means.sd().unwrap() / 50f64.sqrt())
    };
    let (kept, whole) = (off(kept), off(whole));
    assert!(kept.abs() < 4.0, "{kept} standard errors");
    assert!(whole > 4.0, "the bias is there to be removed: {whole} standard errors");
}

/// At 125 % the queue grows without end, whatever the seed.
#[test]
fn an_overloaded_queue_has_no_steady_state() {
    use base::random::Stream;
    use base::special::exponential;
    for seed in 1..=20 {
        let mut draws = Stream::new(seed, "test").item(0);
        let (mut work, mut batches) = (0.0, stats::steady::Batches::new());
        for _ in 0..50_000 {
            let sojourn = work + exponential(&mut draws);
            work = f64::max(sojourn - exponential(&mut draws) / 1.25, 0.0);
            batches.push(sojourn);
        }
        assert!(matches!(mser(&batches), Cut::NotFound(_)), "{seed}");
    }
}
