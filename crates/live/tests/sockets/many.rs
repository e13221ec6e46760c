//! Many at once.

use crate::harness::{Load, guarded};
use crate::served::{Serving, settings};
use headway_base::{Nanos, Outcome};
use headway_live::serve::Settings;

#[test]
fn two_thousand_slow_answers_at_once() {
    guarded(|| {
        // Both ends are in this process, and other tests need some, too.
        let most = (headway_live::host::descriptors().soft.saturating_sub(300) / 2).min(2_000) as u32;
        if most < 2_000 {
            println!("only {most} at once: more descriptors are not allowed here");
        }
        let server = Serving::new(Settings { servers: most, ..settings("const(200ms)") });
        let load = Load { rate: f64::from(most) * 5.0, length: Nanos::from_millis(200), ..Load::default() };
        let ran = load.connections(most).run(&server.address).all(Outcome::Ok);
        assert!(ran.records.iter().all(|r| r.service().unwrap() >= Nanos::from_millis(200)));
        assert_eq!(server.stop().ok, ran.records.len() as u64);
    });
}
