//! What goes wrong, and what is done about it.

use crate::common::{asked, asked_of, good, law, network, servers};
use headway_base::Nanos;
use headway_sim::{Answer, Target};
use headway_workload::RequestKey;
use headway_workload::model::{
    Backoff, Balancer, Breaker, Budget, Cancel, Discipline, Faults, Hedge, Jitter, Kind, Knows, Model, Part,
    Policy, Retry, Station, Ties, Timeout, Trip, UnderWay, When, WhileDown,
};

const MS: fn(i64) -> Nanos = Nanos::from_millis;

fn station(service: &str) -> Part {
    Part::new("station", Kind::Station(servers(1, service)))
}

fn pass() -> Part {
    Part::new("pass", Kind::Pass(1))
}

fn down(at: i64, length: i64, while_down: WhileDown) -> Option<Faults> {
    let when = When::Once { at: MS(at), length: MS(length) };
    Some(Faults { when, together: false, while_down, under_way: UnderWay::Finish })
}

fn lost(at: i64, length: i64) -> Option<Faults> {
    down(at, length, WhileDown::Error).map(|faults| Faults { under_way: UnderWay::Lost, ..faults })
}

fn retry(attempts: u32, backoff_ms: Option<i64>) -> Option<Retry> {
    let backoff = |base| Backoff { base: MS(base), factor: 2.0, most: MS(1_000), jitter: Jitter::None };
    Some(Retry { attempts, backoff: backoff_ms.map(backoff), budget: None })
}

/// Refused so many microseconds after zero.
const fn refused(us: i64) -> Option<(i64, u16)> {
    Some((us, 503))
}

#[test]
fn what_is_down_fails_says_nothing_or_is_slow() {
    let model = |while_down| Model::of(vec![Part { faults: down(5, 20, while_down), ..station("10ms") }]);
    assert_eq!(
        asked(&model(WhileDown::Error), &[0, 7, 25]),
        [good(&[10])[0], refused(7_010), good(&[35])[0]]
    );
    assert_eq!(asked(&model(WhileDown::Silence), &[0, 7, 25]), [good(&[10])[0], None, good(&[35])[0]]);
    // Half of the first is served when it becomes slow, and half of the second when that is over.
    assert_eq!(asked(&model(WhileDown::Slow(2.0)), &[0, 7, 8]), good(&[15, 30, 40]));
    // What begins shortly before the end is slow for that long and no longer: 1 ms, of 10 us of work.
    assert_eq!(asked(&model(WhileDown::Slow(100.0)), &[24]), [Some((34_990, 200))]);
}

/// By events of requests alone: it turns slow at 6 ms, and fast again when the next request comes after 16 ms.
#[test]
fn a_lazy_fault_slows_from_one_request_to_another() {
    let when = When::Alternating { up: law("5ms"), down: law("10ms"), lazy: true };
    let faults =
        Some(Faults { when, together: true, while_down: WhileDown::Slow(2.0), under_way: UnderWay::Finish });
    let model = Model::of(vec![Part { faults, ..station("10ms") }]);
    // 4 ms of the first are served by 6, the other 6 at half speed by 18; of the second 1 ms by 20.
    assert_eq!(asked(&model, &[2, 6, 20]), good(&[18, 29, 39]));
}

/// As above, but service stops: the server is free at once.
#[test]
fn what_is_cancelled_always_stops_being_served() {
    let patience = Timeout { after: MS(4), cancel: Cancel::Always };
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Sharing] {
        let kind = Kind::Station(Station { discipline, ..servers(1, "10ms") });
        let part = Part { timeout: Some(patience), ..Part::new("station", kind) };
        let mut network = network(&Model::of(vec![part]));
        let late = |ms: i64| Some((ms * 1_000, 504));
        let answers = asked_of(&mut network, &[(0, 0), (1, 0), (5, 0), (20, 0)]);
        assert_eq!(answers, [late(4), late(5), late(9), late(24)]);
        let observed = network.observed(MS(100));
        // Busy from 0 to 9 and from 20 to 24 ms, all of it for nobody.
        assert_eq!((observed.busy_ns, network.under_way()), (13_000_000, 0));
        assert!((12_999_990..=13_000_000).contains(&observed.wasted_ns), "{}", observed.wasted_ns);
    }
    // A hedge that stops the other: the first server is free when the second has answered.
    let hedge = Some(Hedge { after: MS(2), most: 1, cancel: Cancel::Always });
    let balancer = Balancer::new(Policy::LeastConnections { ties: Ties::First }, &[1, 2]);
    let parts = |hedge| {
        vec![
            Part { hedge, ..Part::new("balancer", Kind::Balancer(balancer.clone())) },
            Part::new("slow", Kind::Station(servers(1, "10ms"))),
            Part::new("fast", Kind::Station(servers(1, "1ms"))),
        ]
    };
    let mut network = network(&Model::of(parts(hedge)));
    assert_eq!(asked_of(&mut network, &[(0, 0), (5, 0)]), good(&[3, 8]));
    let observed = network.observed(MS(100));
    assert_eq!((observed.busy_ns, observed.wasted_ns), (8_000_000, 6_000_000));
}

#[test]
fn what_is_in_a_station_that_goes_down_is_lost() {
    for discipline in [Discipline::Fifo, Discipline::Sharing] {
        let kind = Kind::Station(Station { discipline, ..servers(1, "10ms") });
        let part = Part { faults: lost(5, 20), ..Part::new("station", kind) };
        let mut network = network(&Model::of(vec![part]));
        let answers = asked_of(&mut network, &[(0, 0), (1, 0), (7, 0), (25, 0)]);
        assert_eq!(answers, [refused(5_000), refused(5_000), refused(7_010), good(&[35])[0]]);
        let observed = network.observed(MS(100));
        assert_eq!((observed.busy_ns, observed.parts[0].all.failed), (15_000_000, 3));
        assert!((4_999_998..=5_000_000).contains(&observed.wasted_ns), "{}", observed.wasted_ns);
    }
}

/// A balancer dies at 5 ms with a request in it; the station does not know, and serves it for nobody.
#[test]
fn what_is_in_a_balancer_that_goes_down_is_lost_to_it_alone() {
    let balancer = Kind::Balancer(Balancer::new(Policy::Random, &[1]));
    let dies = Part { faults: lost(5, 2), ..Part::new("balancer", balancer) };
    let mut network = network(&Model::of(vec![dies, station("10ms")]));
    let answers = asked_of(&mut network, &[(0, 0), (6, 0), (8, 0)]);
    assert_eq!(answers, [refused(5_000), refused(6_010), good(&[20])[0]]);
    assert_eq!(network.observed(MS(100)).wasted_ns, 10_000_000);
    assert_eq!(network.under_way(), 0);
}

/// Of three the first is served when the balancer dies; the others wait in it, and are gone with it.
#[test]
fn what_waits_in_a_balancer_that_goes_down_is_gone() {
    let balancer = |knows, fails| {
        let balancer = Balancer { knows, ..Balancer::new(Policy::OneConnection, &[1]) };
        Part { faults: fails, ..Part::new("balancer", Kind::Balancer(balancer)) }
    };
    let mut dead = network(&Model::of(vec![balancer(Knows::Own, lost(5, 2)), station("10ms")]));
    let answers = asked_of(&mut dead, &[(0, 0), (1, 0), (2, 0), (8, 0)]);
    assert_eq!(answers, [refused(5_000), refused(5_000), refused(5_000), good(&[20])[0]]);
    assert_eq!((dead.observed(MS(100)).parts[1].all.came, dead.under_way()), (2, 0));
    // So is who waits for the end of an exchange, at 6 ms.
    let told = Knows::Shared { every: MS(3), cost: MS(2) };
    let mut dead = network(&Model::of(vec![balancer(told, lost(4, 2)), station("1ms")]));
    assert_eq!(asked_of(&mut dead, &[(3, 0), (8, 0)]), [refused(4_000), good(&[9])[0]]);
    assert_eq!((dead.observed(MS(100)).parts[1].all.came, dead.under_way()), (1, 0));
}

/// The only server is busy with a request that was cancelled: nobody else is handed to it, whether or not somebody in
/// between watches that request too.
#[test]
fn what_is_called_back_is_outstanding_while_it_is_served() {
    let cancel = Some(Timeout { after: MS(4), cancel: Cancel::Queued });
    let balancer = Part::new("balancer", Kind::Balancer(Balancer::new(Policy::OneConnection, &[1])));
    let patient = Some(Timeout { after: MS(1_000), cancel: Cancel::Never });
    let hedged = Some(Hedge { after: MS(6), most: 1, cancel: Cancel::Queued });
    let retried = retry(3, None);
    for (timeout, hedge, retry) in
        [(None, None, None), (patient, None, None), (None, hedged, None), (patient, None, retried)]
    {
        let watched = Part { timeout: cancel, ..balancer.clone() };
        let mut network =
            network(&Model::of(vec![watched, Part { timeout, hedge, retry, ..station("10ms") }]));
        // The second and third wait in the balancer until they are cancelled; the fourth until 10 ms.
        let answers = asked_of(&mut network, &[(0, 0), (1, 0), (5, 0), (8, 0), (20, 0)]);
        let late = |ms: i64| Some((ms * 1_000, 504));
        assert_eq!(answers, [late(4), late(5), late(9), late(12), late(24)]);
        let observed = network.observed(MS(100));
        assert_eq!((observed.parts[1].all.came, observed.busy_ns), (3, 30_000_000));
        assert_eq!((observed.wasted_ns, network.under_way()), (30_000_000, 0));
    }
}

/// A request that was cancelled is lost where it is served: it is not made again.
#[test]
fn what_is_called_back_makes_no_attempt() {
    let watched = Part { timeout: Some(Timeout { after: MS(4), cancel: Cancel::Queued }), ..pass() };
    let again = Part { retry: retry(5, None), ..Part::new("again", Kind::Pass(2)) };
    let mut network =
        network(&Model::of(vec![watched, again, Part { faults: lost(6, 20), ..station("10ms") }]));
    assert_eq!(asked_of(&mut network, &[(0, 0)]), [Some((4_000, 504))]);
    assert_eq!(network.observed(MS(100)).parts[2].all.came, 1);
}

/// Down until 25 ms: tried at 0, 10 and 30 ms.
#[test]
fn retries_back_off() {
    let part = Part { retry: retry(4, Some(10)), faults: down(0, 25, WhileDown::Error), ..station("10ms") };
    let mut network = network(&Model::of(vec![part]));
    assert_eq!(asked_of(&mut network, &[(0, 0)]), good(&[40]));
    let observed = network.observed(MS(100));
    assert_eq!((observed.requests, observed.came, observed.attempts), (1, 1, 3));
    assert_eq!((observed.parts[0].all.came, observed.parts[0].all.failed), (3, 2));
}

#[test]
fn retries_end_and_budgets_are_spent() {
    let part = Part { retry: retry(100, None), faults: down(0, 25, WhileDown::Error), ..station("10ms") };
    let outer = Part { retry: retry(100, None), ..pass() };
    let mut both = network(&Model::of(vec![outer, part.clone()]));
    assert_eq!(asked_of(&mut both, &[(0, 0)]), [refused(10)]);
    assert_eq!(both.observed(MS(1)).parts[1].all.came, 10_000);

    let budget = Some(Budget { share: 0.5, reserve: 2.0 });
    let thrifty = Retry { attempts: 3, backoff: None, budget };
    let mut network = network(&Model::of(vec![Part { retry: Some(thrifty), ..part }]));
    let failed = asked_of(&mut network, &[(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(failed, [0, 1, 2, 3].map(|ms| refused(ms * 1_000 + 10)));
    // Two retries, none (half a one is there), one, none.
    assert_eq!(network.observed(MS(10)).attempts, 3 + 1 + 2 + 1);
}

/// The second would be served from 10 to 20 ms, and is given up at 13 ms.
#[test]
fn who_is_late_is_given_up_and_served_for_nobody_unless_it_is_called_back() {
    let model = |cancel, discipline: Discipline| {
        let kind = Kind::Station(Station { discipline, ..servers(1, "10ms") });
        Model::of(vec![Part {
            timeout: Some(Timeout { after: MS(12), cancel }),
            ..Part::new("station", kind)
        }])
    };
    let late = Some((13_000, 504));
    for discipline in [Discipline::Fifo, Discipline::Lifo] {
        let mut network = network(&model(Cancel::Never, discipline));
        assert_eq!(
            asked_of(&mut network, &[(0, 0), (1, 0), (19, 0)]),
            [good(&[10])[0], late, good(&[30])[0]]
        );
        let observed = network.observed(MS(100));
        assert_eq!((observed.wasted_ns, observed.busy_ns), (10_000_000, 30_000_000));
    }
    // Waits behind two, of which the second is cancelled at 13 ms; it is being served then, and is not stopped.
    assert_eq!(
        asked(&model(Cancel::Queued, Discipline::Fifo), &[0, 1, 8]),
        [good(&[10])[0], late, Some((20_000, 504))]
    );
}

#[test]
fn who_is_called_back_makes_room_for_others() {
    let watch = Timeout { after: MS(4), cancel: Cancel::Queued };
    let watched = Part { timeout: Some(watch), ..pass() };
    let kind = Kind::Station(Station { queue: Some(1), ..servers(1, "3ms") });
    let model = Model::of(vec![watched, Part::new("station", kind)]);
    let mut network = network(&model);
    // Served; waits and is served; finds the queue full; finds room.
    let answers = asked_of(&mut network, &[(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(answers, [good(&[3])[0], Some((5_000, 504)), refused(2_010), Some((7_000, 504))]);
    assert_eq!((network.under_way(), network.observed(MS(50)).wasted_ns), (0, 6_000_000));
}

/// Two stations by turns, of which the first never says anything.
#[test]
fn hedges_do_not_wait_for_the_silent() {
    let balancer = Part::new("balancer", Kind::Balancer(Balancer::new(Policy::RoundRobin, &[1, 2])));
    let silent = Part { faults: down(0, 10_000, WhileDown::Silence), ..station("10ms") };
    let model = |hedge| Model::of(vec![Part { hedge, ..balancer.clone() }, silent.clone(), station("10ms")]);
    assert_eq!(asked(&model(None), &[0, 100]), [None, good(&[110])[0]]);
    let hedge = Some(Hedge { after: MS(5), most: 1, cancel: Cancel::Queued });
    let mut hedged = network(&model(hedge));
    assert_eq!(asked_of(&mut hedged, &[(0, 0), (100, 0)]), good(&[15, 115]));
    assert_eq!((hedged.under_way(), hedged.observed(MS(200)).attempts), (0, 4));
}

/// The first good answer counts, and a failure only when nobody else is under way.
#[test]
fn a_hedged_request_takes_the_first_good_answer() {
    let balancer = Part::new("balancer", Kind::Balancer(Balancer::new(Policy::RoundRobin, &[1, 2])));
    let hedge = Some(Hedge { after: MS(5), most: 1, cancel: Cancel::Never });
    let fails = Part { timeout: Some(Timeout { after: MS(7), cancel: Cancel::Never }), ..station("100ms") };
    let model = |second| Model::of(vec![Part { hedge, ..balancer.clone() }, fails.clone(), second]);
    assert_eq!(asked(&model(station("20ms")), &[0]), good(&[25]));
    let also = Part { timeout: Some(Timeout { after: MS(30), cancel: Cancel::Never }), ..station("200ms") };
    assert_eq!(asked(&model(also), &[0]), [Some((35_000, 504))]);
}

/// Two failures open it for 50 ms; then one is let through to see.
#[test]
fn a_breaker_spares_what_is_down() {
    let breaker = Some(Breaker { trip: Trip::InARow(2), open: MS(50), probes: 1 });
    let part = Part { breaker, faults: down(0, 30, WhileDown::Error), ..pass() };
    let mut network = network(&Model::of(vec![part, station("10ms")]));
    let answers = asked_of(&mut network, &[(0, 0), (1, 0), (40, 0), (52, 0), (53, 0), (63, 0)]);
    let truth =
        [refused(10), refused(1_010), refused(40_010), good(&[62])[0], refused(53_010), good(&[73])[0]];
    assert_eq!(answers, truth);
    assert_eq!(network.observed(MS(100)).parts[1].all.came, 2);
}

/// The first station fails everything at once and looks idle, unless failures count for a while.
#[test]
fn failures_that_are_held_keep_others_away() {
    let model = |hold| {
        let mut balancer = Balancer::new(Policy::LeastConnections { ties: Ties::First }, &[1, 2]);
        balancer.hold = hold;
        let balancer = Part::new("balancer", Kind::Balancer(balancer));
        Model::of(vec![
            balancer,
            Part { faults: down(0, 1_000, WhileDown::Error), ..station("1ms") },
            station("1ms"),
        ])
    };
    let at = [0, 10, 20, 30];
    assert_eq!(asked(&model(None), &at), at.map(|ms| refused(ms * 1_000 + 10)));
    let held = asked(&model(Some(MS(25))), &at);
    assert_eq!(held, [refused(10), good(&[11])[0], good(&[21])[0], refused(30_010)]);
}

/// Whether the client waits or not: what is served is served, and what is silent is gone with the client.
#[test]
fn a_client_that_is_gone_gets_no_answer_and_its_connection_serves_again() {
    let silent = Part { faults: down(0, 20, WhileDown::Silence), ..station("10ms") };
    let mut network = network(&Model::of(vec![silent]));
    let send = |network: &mut headway_sim::Network, at: i64, k: u64| {
        let sending = RequestKey { k, ..RequestKey::default() };
        assert_eq!(network.request(MS(at), k, 0, &sending), Answer::Later);
    };
    send(&mut network, 0, 0);
    assert_eq!((network.under_way(), network.step(MS(5))), (1, None));
    network.gone(MS(5), 0);
    assert_eq!(network.under_way(), 0);
    send(&mut network, 30, 1);
    network.gone(MS(35), 0);
    send(&mut network, 36, 2);
    assert_eq!(network.step(MS(49)), None);
    assert_eq!(network.step(MS(50)).map(|answered| (answered.slot, answered.status)), Some((0, 200)));
    let observed = network.observed(MS(60));
    assert_eq!((observed.wasted_ns, observed.busy_ns), (10_000_000, 20_000_000));
    // Five of the silent one, ten of the second, fourteen of the third.
    assert_eq!((observed.area_ns, observed.sum_ns), (29_000_000, 29_000_000));
}

/// Copies that fail together and copies that fail each by itself have the same share of time up.
#[test]
fn copies_fail_together_or_alone() {
    for together in [true, false] {
        let when = When::Alternating { up: law("exp(300ms)"), down: law("exp(100ms)"), lazy: false };
        let faults = Faults { when, together, while_down: WhileDown::Error, under_way: UnderWay::Finish };
        let part = Part { copies: 2, faults: Some(faults), ..station("1us") };
        let entry = Part::new("balancer", Kind::Balancer(Balancer::new(Policy::RoundRobin, &[1])));
        let answers = asked(&Model::of(vec![entry, part]), &(0..40_000).map(|k| k / 2).collect::<Vec<_>>());
        let failed = |k: usize| answers[k].is_some_and(|(_, status)| status == 503);
        let differ = (0..20_000).filter(|k| failed(2 * k) != failed(2 * k + 1)).count();
        assert_eq!(differ == 0, together, "{differ}");
        let down = (0..40_000).filter(|&k| failed(k)).count() as f64 / 40_000.0;
        // 50 cycles of 400 ms, each with a standard deviation of some 75 ms down given its length.
        assert!((down - 0.25).abs() < 4.0 * 75.0 / 400.0 / 50f64.sqrt(), "{down}");
    }
}
