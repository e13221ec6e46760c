//! The lab in few replications: its numbers against its laws and the independent simulation, and its sentences.

use super::*;
use crate::text;

fn mean<T>(all: &[T], of: impl Fn(&T) -> f64) -> f64 {
    Range::over(all, of).unwrap().mean
}

/// Against the independent simulation, which observed 40 s too (an edge of the window makes an event or two of difference), and
/// against the laws.
#[test]
fn s_clients_and_costs_are_as_published() {
    let all = replicate(7, 2, plays::s_clients);
    for (i, sockets) in SOCKETS.iter().enumerate() {
        let (syns, served) = (mean(&all, |p| p[i].syns), mean(&all, |p| p[i].served));
        let line = f64::from(*sockets) / TIMEOUT_S + CAPACITY;
        assert!((syns - line).abs() < 0.3 && (served - CAPACITY).abs() < 0.2, "{sockets}: {syns} {served}");
        if let Some((_, [published, _])) = HELD.iter().find(|(n, _)| n == sockets) {
            assert!((syns - published).abs() < 0.3, "{sockets}: {syns}");
        }
    }
    let all = replicate(7, 2, plays::with_costs);
    for (i, (sockets, published)) in OVERLOAD.iter().enumerate() {
        for (j, published) in published.iter().enumerate() {
            let served = mean(&all, |p| p[i][j]);
            let law = theory::held(CAPACITY, COSTS_MS[j] / 1e3, *sockets, TIMEOUT_S);
            assert!((served - published).abs() < 0.2, "{sockets}, {} ms: {served}", COSTS_MS[j]);
            assert!((served - law).abs() < 0.2, "{sockets}, {} ms: {served}, law {law}", COSTS_MS[j]);
        }
    }
}

/// Simple clients level off at the capacity; those outside send as the law says, but for those that slip in while another is on its
/// way back, which is then outside and sends more often.
#[test]
fn simple_clients_level_off() {
    let all = replicate(7, 4, plays::simple_clients);
    let system = system(Nanos::ZERO);
    for (i, users) in USERS.iter().enumerate() {
        let (established, resent) = (mean(&all, |p| p[i].established), mean(&all, |p| p[i].resent));
        let law = theory::resent(&system, *users, SIMPLE_WINDOW);
        assert!(
            (established / theory::simple(&system, *users) - 1.0).abs() < 0.003,
            "{users}: {established}"
        );
        assert!((resent - law).abs() <= 0.03 * CAPACITY, "{users}: {resent}, law {law}");
        assert!(*users <= system.admits() || resent >= law, "{users}: {resent}, law {law}");
    }
}

#[test]
fn the_report_fits_and_follows_its_numbers() {
    let report = OVERLOAD_LAB.run(3, 1).unwrap();
    let text = text::of(&report);
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert_eq!(report.tables[SIMPLE_TABLE].key, "clients");
    assert_eq!(report.tables[HELD_TABLE].rows.last().unwrap().name, "972");
    assert!(report.tables[BURSTS_TABLE].rows.iter().any(|row| row.name == burst_row(100.0, 0.0)));
    assert_eq!(report.notes.len(), 4, "{:#?}", report.notes);
}

/// Sentences from numbers made by hand.
#[test]
fn the_sentences_follow_the_numbers() {
    let users = [1, 4, 16];
    let said = notes::simple_sentence("Live", &users, &[100.0, 129.5, 130.2], 7.0, 130.0, 8);
    assert!(said.starts_with("Live: from 4 simple clients on 129.5 to 130.2 connections/s"), "{said}");
    assert!(said.contains("of 16 the 8 beyond the queue add 7.0 SYN/s, 5.4 % of"), "{said}");
    let said = notes::simple_sentence("Live", &users, &[100.0, 129.5, 110.0], 0.0, 130.0, 16);
    assert!(said.contains("16 simple clients establish 110.0 connections/s, not the capacity"), "{said}");
    assert!(said.ends_with("all of them are admitted."), "{said}");
    let said = notes::held_sentence(&[(10.0, 150.0), (20.0, 170.0), (1_000.0, 2_130.0)], 129.9, 130.0);
    assert!(
        said.contains("each socket adds 2.000 SYN/s (1/T = 2.000); 1,000 of them send 2,130/s, 16.4 times"),
        "{said}"
    );
    // X = C (1 - c L)/(1 - c C) = 0.95 C.
    let rate = notes::five_percent(CAPACITY, 5e-4);
    assert!((theory::served(CAPACITY, 5e-4, rate) / CAPACITY - 0.95).abs() < 1e-12);
}
