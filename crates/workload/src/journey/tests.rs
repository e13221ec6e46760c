use super::*;
use headway_base::random::streams;

fn ask(step: u16) -> Node {
    Node::Ask { step, repeat: 1, think: None }
}

fn think(text: &str) -> Dist {
    headway_base::dist::parse(text, &|_| Err("no files".to_owned())).unwrap()
}

fn asked(next: Next) -> Option<Ask> {
    match next {
        Next::Ask(ask) => Some(ask),
        Next::Over(_) => None,
    }
}

/// The steps of session `k`, and which repeat each is.
fn walk(journey: &Journey, k: u64) -> Vec<(u16, u32)> {
    let (mut cursor, draws) = (Cursor::default(), Draws::new(5));
    std::iter::from_fn(|| asked(journey.next(&mut cursor, draws, k)))
        .map(|ask| (ask.step, ask.repeat))
        .collect()
}

#[test]
fn repeats_count_their_rounds_and_may_lie_within_one_another() {
    let nodes = [
        Node::Ask { step: 0, repeat: 2, think: None },
        Node::Repeat(2, vec![ask(1), Node::Ask { step: 2, repeat: 3, think: None }]),
        ask(3),
    ];
    let journey = Journey::new(&nodes, no_think()).unwrap();
    let round = [(1, 0), (2, 0), (2, 1), (2, 2)];
    let expected: Vec<(u16, u32)> =
        [(0, 0), (0, 1)].into_iter().chain(round).chain(round).chain([(3, 0)]).collect();
    assert_eq!(walk(&journey, 0), expected);
    assert_eq!((journey.longest(), journey.mean_asks(), journey.is_single()), (11, 11.0, false));
}

/// Shares of a choice: within 4 standard errors of their weights, sqrt(p (1-p) / n).
#[test]
fn ways_are_taken_in_proportion_to_their_weights() {
    let ways = vec![(3.0, vec![ask(0)]), (1.0, vec![ask(1), ask(2)]), (4.0, vec![])];
    let journey = Journey::new(&[Node::Choose(ways), ask(3)], no_think()).unwrap();
    assert_eq!((journey.longest(), journey.mean_asks()), (3, 0.375 + 0.25 + 1.0));
    let n = 20_000;
    let mut taken = [0u32; 3];
    for k in 0..n {
        let way = match walk(&journey, k).as_slice() {
            [(0, 0), (3, 0)] => 0,
            [(1, 0), (2, 0), (3, 0)] => 1,
            [(3, 0)] => 2,
            other => panic!("{other:?}"),
        };
        taken[way] += 1;
    }
    for (count, p) in taken.into_iter().zip([0.375, 0.125, 0.5]) {
        let se = (p * (1.0 - p) / n as f64).sqrt();
        assert!((f64::from(count) / n as f64 - p).abs() < 4.0 * se, "{taken:?}");
    }
    assert_eq!(walk(&journey, 7), walk(&journey, 7));
}

#[test]
fn think_times_are_the_steps_own_or_the_journeys_and_pauses_add_to_them() {
    let second = Nanos::from_secs(1);
    let nodes = [
        ask(0),
        Node::Ask { step: 1, repeat: 1, think: Some(think("const(5s)")) },
        Node::Pause(think("const(2s)")),
        Node::Pause(think("const(3s)")),
        ask(2),
    ];
    let journey = Journey::new(&nodes, think("const(1s)")).unwrap();
    let (mut cursor, draws) = (Cursor::default(), Draws::new(5));
    let thinks: Vec<i64> = std::iter::from_fn(|| asked(journey.next(&mut cursor, draws, 3)))
        .map(|ask| ask.think.0 / second.0)
        .collect();
    assert_eq!(thinks, [1, 5, 6]);
    assert_eq!((journey.mean_think_s(), journey.first_think_s()), (12.0, 1.0));
    let ends = Journey::new(&[ask(0), Node::Pause(think("const(4s)"))], no_think()).unwrap();
    let mut cursor = Cursor::default();
    assert!(asked(ends.next(&mut cursor, draws, 0)).is_some());
    assert_eq!(ends.next(&mut cursor, draws, 0), Next::Over(Nanos::from_secs(4)));
    let random = Journey::new(&[ask(0), ask(0)], think("exp(1s)")).unwrap();
    let of = |k| {
        let (mut cursor, draws) = (Cursor::default(), Draws::new(5));
        [0; 2].map(|_| asked(random.next(&mut cursor, draws, k)).unwrap().think)
    };
    assert_eq!(of(1), of(1));
    assert!(of(1)[0] != of(1)[1] && of(1) != of(2));
}

#[test]
fn what_is_no_journey() {
    let build = |nodes: &[Node]| Journey::new(nodes, no_think()).unwrap_err();
    assert_eq!(build(&[]), JourneyError::Empty);
    assert_eq!(build(&[Node::Pause(no_think())]), JourneyError::Empty);
    assert_eq!(build(&[Node::Ask { step: 0, repeat: 0, think: None }]), JourneyError::NoRepeat);
    assert_eq!(build(&[Node::Choose(vec![(0.0, vec![ask(0)])])]), JourneyError::Weights);
    assert_eq!(build(&[Node::Choose(vec![])]), JourneyError::Weights);
    assert_eq!(build(&[Node::Choose(vec![(1.0, vec![ask(0)]), (1.0, vec![])])]), JourneyError::MayBeEmpty);
    let nest = |depth| (0..depth).fold(vec![ask(0)], |inner, _| vec![Node::Repeat(2, inner)]);
    assert!(Journey::new(&nest(4), no_think()).is_ok());
    assert_eq!(build(&nest(5)), JourneyError::Nested);
    assert_eq!(build(&[Node::Repeat(5_000, vec![Node::Repeat(5_000, vec![ask(0)])])]), JourneyError::TooLong);
}

#[test]
fn one_request_is_one_request() {
    assert_eq!(walk(&Journey::single(), 9), [(0, 0)]);
    assert!(Journey::single().is_single());
    assert_ne!(streams::THINK, streams::WAY);
}
