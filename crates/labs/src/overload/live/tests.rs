//! A live run of seconds, and sentences from numbers made by hand.

use super::super::accept_queue::Resend;
use super::*;
use headway_live::TcpCounters;
use std::collections::BTreeMap;

fn lived(clients: Clients, seconds: f64, [syns, resent, established]: [f64; 3], served: f64) -> Lived {
    let n = |rate: f64| (rate * seconds).round() as u64;
    Lived {
        case: Case {
            clients,
            capacity: CAPACITY,
            window: (Nanos::ZERO, Nanos::from_secs_f64(seconds)),
            seed: 1,
        },
        counted: TcpCounters {
            active_opens: n(syns - resent),
            passive_opens: n(established),
            syn_retransmissions: n(resent),
            listen_overflows: 0,
        },
        seconds,
        served,
        handling: 0.5,
        turnarounds: std::sync::Arc::default(),
        timers: None,
        lacked: BTreeMap::new(),
        resend: Resend { linear: 4, retries: 6 },
        backlog: plays::BACKLOG,
    }
}

fn held(sockets: u32, off: f64, served: f64) -> Lived {
    let line = f64::from(sockets) / TIMEOUT_S + CAPACITY;
    lived(Clients::Held(sockets, TIMEOUT), 10.0, [line * (1.0 + off), 0.0, CAPACITY], served)
}

fn results(held: Vec<Lived>) -> Results {
    let simple = vec![
        lived(Clients::Simple(4), 10.0, [129.9, 0.0, 129.9], 129.9),
        lived(Clients::Simple(160), 10.0, [130.5, 0.6, 129.9], 129.9),
    ];
    Results { private: true, simple, held, bursts: Vec::new(), most_sockets: 2_000 }
}

fn said(results: &Results) -> String {
    notes::notes(results, &notes::beside(results, 1), 1).join("\n")
}

/// A second or two against real kernels: that all of it runs, and that what it says is made of what it counted.
#[test]
fn a_short_live_run() {
    let second = |from: i64, to: i64| (Nanos::from_millis(from), Nanos::from_millis(to));
    let setting = Setting {
        users: vec![1, 4],
        simple_window: second(300, 900),
        sockets: vec![48],
        held_window: second(300, 900),
        beyond: false,
        means: vec![100.0],
        pairs: vec![(2.0, 0.2)],
        period: Nanos::from_millis(900),
    };
    let results = play(&setting, 5).unwrap();
    for lived in results.simple.iter().chain(&results.held).chain(&results.bursts) {
        assert!(lived.counted.active_opens > 0 && lived.counted.passive_opens > 0, "{lived:?}");
        assert!(lived.seconds > 0.0 && lived.lacked.is_empty(), "{lived:?}");
    }
    // Each user connects after each answer, whether others wait or not. One answer of each may be late at an edge of the window.
    for (lived, users) in results.simple.iter().zip([1, 4]) {
        let answers = (lived.served * 0.6).round() as usize;
        assert!(lived.turnarounds.len().abs_diff(answers) <= users, "{answers} answers: {lived:?}");
        assert!(answers > users, "{lived:?}");
    }
    // 48 sockets are two SYNs each in this time, whatever else happens.
    assert!(results.held[0].counted.syns() > 48, "{:?}", results.held[0]);
    // A machine that stands still may bend the line: then the sentence about it is not there.
    assert!(notes::notes(&results, &notes::beside(&results, 5), 5).len() >= 5, "{}", said(&results));
    assert_eq!(line(&results).rows.len(), 1);
}

#[test]
fn the_line_is_said_to_hold_or_not() {
    let straight =
        said(&results(vec![held(48, 0.001, 129.9), held(192, -0.002, 129.9), held(2_000, 0.0, 129.9)]));
    assert!(straight.contains("SYN/s is within 1 % or three standard errors of the count at each; the most is -0.19 % at D = 192"), "{straight}");
    assert!(straight.contains("The line does not bend up to 4,130 SYN/s (D = 2,000)"), "{straight}");
    assert!(straight.contains("this process may open no more sockets"), "{straight}");
    assert!(straight.contains("Served/s does not fall by 5 % up to 4,130 SYN/s"), "{straight}");
    assert!(straight.contains("The simulation of the same simple clients"), "{straight}");
    assert!(straight.contains("again after 1, 2, 3, 4, 5, 7, 11, 19, ... s"), "{straight}");
    let off = said(&results(vec![held(48, 0.0, 129.9), held(972, 0.03, 129.9)]));
    assert!(off.contains("further than 1 % and three standard errors of the count at D = 972"), "{off}");
    // The same difference of few events is chance.
    let few = said(&results(vec![held(12, 0.03, 129.9), held(48, 0.0, 129.9)]));
    assert!(few.contains("within 1 % or three standard errors"), "{few}");
}

#[test]
fn what_ends_the_line_is_named_by_its_evidence() {
    let bend = |change: fn(&mut Lived)| {
        let mut last = held(2_000, -0.2, 100.0);
        change(&mut last);
        said(&results(vec![held(972, 0.0, 130.0), last]))
    };
    let busy = bend(|lived| lived.handling = 0.81);
    assert!(busy.contains("The line holds up to 2,074 SYN/s (D = 972)."), "{busy}");
    assert!(busy.contains("It has bent at D = 2,000: 3,304 SYN/s where the line says 4,130."), "{busy}");
    assert!(busy.contains("the processor ends it"), "{busy}");
    assert!(
        busy.contains("Served/s has fallen by 5 % at 3,304 SYN/s (D = 2,000): 100.0/s in place of 130.0/s"),
        "{busy}"
    );
    let ports = bend(|lived| lived.lacked.extend([("ports".to_owned(), 9)]));
    assert!(ports.contains("attempts failed for want of ports"), "{ports}");
    let unknown = bend(|lived| lived.handling = 0.79);
    assert!(unknown.contains("what ends it is not known"), "{unknown}");
}

#[test]
fn without_rights_it_says_so() {
    let shared = Results { private: false, ..results(vec![held(48, 0.0, 130.0)]) };
    let said = said(&shared);
    assert!(
        said.contains("this process may make no network namespaces") && said.contains("unshare -rn"),
        "{said}"
    );
}

/// The most sockets come last, and more often given up in the end.
#[test]
fn sockets_are_added_as_far_as_there_are_descriptors() {
    let full = Setting::new(Extent::Full);
    let line = line_of(&full, 5_000);
    let sockets: Vec<u32> = line.iter().map(|(n, _)| *n).collect();
    assert_eq!(sockets, [&SOCKETS[..], &[2_000, 4_000, 5_000, 5_000, 5_000]].concat());
    assert_eq!(line.last().unwrap().1, Nanos(TIMEOUT.0 / 4));
    assert_eq!(line_of(&full, 300).len(), 5 + SOONER.len());
    assert_eq!(line_of(&Setting::new(Extent::Short), 19_000).len(), 2);
}

/// Two minutes against this machine's kernel, beside nothing else: what `headway lab overload` says of simple clients.
#[test]
#[ignore = "takes two minutes of a quiet machine; prints what it finds"]
fn simple_clients_beside_the_simulation() {
    let setting = Setting {
        sockets: vec![48],
        beyond: false,
        means: Vec::new(),
        users: vec![64, 130, 160, 256, 512],
        ..Setting::new(Extent::Full)
    };
    let results = play(&setting, 1).unwrap();
    for lived in &results.simple {
        let mut all: Vec<i64> = lived.turnarounds.iter().map(|time| time.0 / 1_000).collect();
        all.sort_unstable();
        println!(
            "{:?}: {:.1} SYN/s, {:.1} resent; turnarounds in us {:?}",
            lived.case.clients,
            lived.syns(),
            lived.resent(),
            [0.1, 0.5, 0.9, 0.99].map(|q| all.get((q * all.len() as f64) as usize))
        );
        assert!(!all.is_empty());
    }
    println!("{}", notes::notes(&results, &notes::beside(&results, 1), 1).join("\n"));
}
