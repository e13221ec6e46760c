//! Whole audits of small files.

use super::*;
use headway_stats::summary::Pattern;
use std::fmt::Write as _;

fn audited(name: &str, text: &str, change: impl FnOnce(&mut AuditSpec)) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut settings = AuditSpec::of(vec![path]);
    change(&mut settings);
    audit(&settings, &mut ()).unwrap()
}

/// Times between starts of independent users, in units of their mean, the same each time (Marsaglia's xorshift, 2003).
fn headways() -> impl Iterator<Item = f64> {
    let mut state = 88_172_645_463_325_252_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        -((state >> 11) as f64 / (1u64 << 53) as f64).max(1e-12).ln()
    })
}

const ZERO: i64 = 1_700_000_000_000;

/// A log of Gatling: users that begin at these milliseconds and send five requests each.
fn gatling(starts: &[i64], between: i64) -> String {
    let mut text = format!("RUN\tshop.Sim\tsim\t{ZERO}\t \t3.9.5\n");
    let mut lines = Vec::new();
    for (user, start) in starts.iter().enumerate() {
        lines.push((*start, format!("USER\tBrowse\tSTART\t{}", ZERO + start)));
        for k in 0..5 {
            let at = start + k * between + user as i64 % 7;
            lines.push((at + 3, format!("REQUEST\t\tpage\t{}\t{}\tOK\t", ZERO + at, ZERO + at + 3)));
        }
        let end = start + 5 * between + 10;
        lines.push((end, format!("USER\tBrowse\tEND\t{}", ZERO + end)));
    }
    lines.sort();
    lines.iter().for_each(|(_, line)| writeln!(text, "{line}").unwrap());
    text
}

#[test]
fn sessions_that_all_begin_at_once_are_no_stream() {
    let closed = audited("simulation.log", &gatling(&[0; 20], 9_000), |_| ());
    let stream = |summary: &Summary| summary.audit.as_ref().map(|audit| audit.stream);
    assert_eq!((stream(&closed), closed.arrivals.started), (Some(Stream::Requests), 100));
    let rate = closed.arrivals.rate.unwrap();
    assert!((rate - 100.0 / 36.0).abs() < 0.2, "{rate}");
    let open: Vec<i64> = (0..200).map(|k| k * 200).collect();
    let open = audited("simulation.log", &gatling(&open, 20), |_| ());
    assert_eq!((stream(&open), open.arrivals.started), (Some(Stream::Sessions), 200));
    // What was asked for is done.
    let asked = audited("simulation.log", &gatling(&[0, 1, 2, 3], 9_000), |settings| {
        settings.stream = Some(Stream::Sessions);
    });
    assert_eq!(stream(&asked), Some(Stream::Sessions));
}

/// Stamps of 1 ms by a clock of 64 steps a second that begin anywhere in a step: windows hold whole steps.
#[test]
fn steps_of_a_clock_are_the_grid_and_the_first_stamp_is_shown_as_it_is() {
    for begin in [0.0, 3.3, 9.0, 15.4] {
        let (mut at, mut first) = (0.0, None);
        let mut text = "timeStamp,elapsed,label\n".to_owned();
        for headway in headways().take(20_000) {
            at += headway * 10.0;
            let step = 1_000.0 / 64.0;
            let shown = ZERO + (((at / step).floor() * step) + begin).floor() as i64;
            first.get_or_insert(shown);
            writeln!(text, "{shown},3,a").unwrap();
        }
        let summary = audited("results.jtl", &text, |settings| {
            settings.stamps = Some(headway_import::Stamps::Start);
        });
        let audit = summary.audit.as_ref().unwrap();
        assert_eq!((audit.resolution.grid_s, audit.resolution.digit_s), (0.015_625, 0.001), "{begin}");
        assert_eq!(summary.verdict.pattern, Pattern::Independent, "{begin}");
        let ms = first.unwrap() % 1_000;
        let shown = audit.first_start.as_ref().unwrap();
        assert!(shown.contains(&format!(".{ms:03}")) || ms == 0, "{begin}: {shown} {ms}");
    }
}
