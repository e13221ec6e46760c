use super::*;
use crate::limits::Limits;

fn client(answer: Option<&str>, streams: u32) -> Client {
    let answer = answer.map(|text| Answer::parse(text).unwrap());
    Client::new(&Settings { limits: Limits::DEFAULT, streams, answer })
}

fn payload(bytes: &[u8]) -> Payload {
    Payload::Bytes(bytes.into())
}

fn open(client: &mut Client, bytes: &[u8]) -> StreamId {
    match client.open(&payload(bytes)) {
        Opened::Stream(stream) => stream,
        other => panic!("{other:?}"),
    }
}

fn sent(client: &mut Client, now: Nanos) -> Vec<u8> {
    let mut datagram = Vec::new();
    assert!(client.poll_transmit(now, &mut datagram));
    datagram
}

/// Whose answer a datagram was, and its data.
fn answer(client: &mut Client, mut datagram: &[u8]) -> Option<(StreamId, Vec<u8>)> {
    let Event::Begun { stream } = client.receive(Nanos::ZERO, &mut datagram)? else { panic!("not begun") };
    let data = match client.receive(Nanos::ZERO, &mut datagram) {
        Some(Event::Chunk { stream: s, data }) if s == stream => data.to_vec(),
        other => panic!("{other:?}"),
    };
    let end = Event::End { stream, bytes_received: data.len() as u64 };
    assert_eq!(client.receive(Nanos::ZERO, &mut datagram), Some(end));
    assert_eq!(client.receive(Nanos::ZERO, &mut datagram), None);
    Some((stream, data))
}

#[test]
fn datagrams_of_our_own_have_their_number_and_time() {
    let mut client = client(None, 100);
    let (a, b) = (open(&mut client, b""), open(&mut client, b""));
    let first = sent(&mut client, Nanos(7));
    assert_eq!((first.len(), client.bytes_sent(a), client.bytes_sent(b)), (OWN, OWN as u64, 0));
    let second = sent(&mut client, Nanos(9));
    assert!(!client.poll_transmit(Nanos(9), &mut Vec::new()));
    assert_eq!(first[..16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    assert_eq!(second[..16], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(answer(&mut client, &second), Some((b, second.clone())));
    assert_eq!(answer(&mut client, &first), Some((a, first.clone())));
    assert_eq!(client.tally(), Tally { reordered: 1, ..Tally::default() });
}

/// What is asked before a run is what opening says in it.
#[test]
fn what_can_never_be_sent_is_known_before() {
    let fits = |answer: Option<&str>, bytes: Option<&[u8]>| {
        let answer = answer.map(|text| Answer::parse(text).unwrap());
        let settings = Settings { limits: Limits::DEFAULT, streams: 1, answer };
        let fits = Datagrams.fits(bytes.map(payload).as_ref(), &settings);
        if let Some(bytes) = bytes {
            let opened = Client::new(&settings).open(&payload(bytes));
            assert_eq!(opened, fits.clone().map_or_else(Opened::Unfit, |()| Opened::Stream(StreamId(0))));
        }
        fits
    };
    let long = [0; LONGEST + 1];
    assert_eq!(fits(None, Some(&long)), Err(Unfit::TooLong { bytes: LONGEST + 1, most: LONGEST }));
    assert_eq!(fits(None, Some(&long[1..])), Ok(()));
    assert_eq!(fits(Some("match:2+4"), Some(b"hello")), Err(Unfit::NoRoom { bytes: 5, end: 6 }));
    assert_eq!(fits(Some("match:2+3"), Some(b"hello")), Ok(()));
    assert_eq!(fits(Some("match:60+8"), Some(b"")), Err(Unfit::NoRoom { bytes: OWN, end: 68 }));
    for bytes in [None, Some(&b"hello"[..])] {
        let beyond = Unfit::BeyondAll { end: LONGEST + 1, most: LONGEST };
        assert_eq!(fits(Some("match:65500+8"), bytes), Err(beyond));
    }
    assert_eq!(fits(Some("match:65499+8"), None), Ok(()));
    assert_eq!(fits(Some("next"), None), Ok(()));
}

#[test]
fn the_number_goes_where_it_is_stated() {
    let mut client = client(Some("match:2+2"), 100_000);
    assert_eq!(client.capacity(), 65_536);
    let stream = open(&mut client, b"ab--cd");
    let datagram = sent(&mut client, Nanos::ZERO);
    assert_eq!(datagram, b"ab\0\0cd");
    assert_eq!(answer(&mut client, b"??\0\0"), Some((stream, b"??\0\0".to_vec())));
    assert_eq!(client.open(&payload(b"abc")), Opened::Unfit(Unfit::NoRoom { bytes: 3, end: 4 }));
    assert_eq!(
        client.open(&payload(&[0; LONGEST + 1])),
        Opened::Unfit(Unfit::TooLong { bytes: LONGEST + 1, most: LONGEST })
    );
    open(&mut client, b"ab--cd");
    assert_eq!(sent(&mut client, Nanos::ZERO), b"ab\0\x01cd");
}

#[test]
fn what_is_nobodys_answer_is_counted() {
    let mut client = client(None, 100);
    let (a, b) = (open(&mut client, b""), open(&mut client, b""));
    let (first, second) = (sent(&mut client, Nanos::ZERO), sent(&mut client, Nanos::ZERO));
    client.cancel(a);
    assert_eq!(answer(&mut client, &first), None);
    assert_eq!(answer(&mut client, &second).map(|(stream, _)| stream), Some(b));
    for datagram in [&second[..], b"short", &[0xff; 64]] {
        assert_eq!(answer(&mut client, datagram), None);
    }
    assert_eq!(client.tally(), Tally { late: 1, duplicates: 1, reordered: 0, unexpected: 2 });
    // One that was given up before it was sent is not sent.
    let c = open(&mut client, b"");
    client.cancel(c);
    assert!(!client.poll_transmit(Nanos::ZERO, &mut Vec::new()));
    assert_eq!(client.capacity(), 100);
}

#[test]
fn as_many_as_it_may_carry() {
    let mut client = client(None, 2);
    let (a, _) = (open(&mut client, b""), open(&mut client, b""));
    assert_eq!(client.open(&payload(b"")), Opened::Blocked);
    client.cancel(a);
    assert_eq!(open(&mut client, b""), a);
}

#[test]
fn the_next_datagram_answers_the_only_request() {
    let mut client = client(Some("next"), 100);
    assert_eq!(client.capacity(), 1);
    let stream = open(&mut client, b"hi");
    // Before it was sent nothing can have answered it.
    assert_eq!(answer(&mut client, b"early"), None);
    assert_eq!(sent(&mut client, Nanos::ZERO), b"hi");
    assert_eq!(client.open(&payload(b"hi")), Opened::Blocked);
    assert_eq!(answer(&mut client, b"ho"), Some((stream, b"ho".to_vec())));
    assert_eq!(answer(&mut client, b"ho"), None);
    assert_eq!(client.tally().unexpected, 2);
    // The answer to one that was given up could come later.
    let stream = open(&mut client, b"hi");
    sent(&mut client, Nanos::ZERO);
    client.cancel(stream);
    assert_eq!((client.capacity(), client.open(&payload(b"hi"))), (0, Opened::Closed));
}

/// Length zero is a length: the next datagram is the answer, and one without a number is nobody's.
#[test]
fn an_empty_datagram_is_one() {
    let mut next = client(Some("next"), 1);
    let stream = open(&mut next, b"hi");
    sent(&mut next, Nanos::ZERO);
    next.receive_empty();
    let events = [(); 3].map(|()| next.receive(Nanos::ZERO, &mut &b""[..]).map(|event| format!("{event:?}")));
    let expected =
        [Event::Begun { stream }, Event::End { stream, bytes_received: 0 }].map(|e| Some(format!("{e:?}")));
    assert_eq!((&events[..2], &events[2]), (&expected[..], &None));
    next.receive_empty();
    assert_eq!((next.tally().unexpected, next.receive(Nanos::ZERO, &mut &b""[..])), (1, None));
    let mut own = client(None, 4);
    open(&mut own, b"");
    sent(&mut own, Nanos::ZERO);
    own.receive_empty();
    assert_eq!((own.tally().unexpected, own.receive(Nanos::ZERO, &mut &b""[..])), (1, None));
}

/// A socket whose numbers would be written again while a late answer may come takes no more requests.
#[test]
fn a_socket_of_few_numbers_is_given_up_after_a_timeout() {
    let mut client = client(Some("match:0+1"), 1);
    let lost = open(&mut client, b"-");
    sent(&mut client, Nanos::ZERO);
    client.cancel(lost);
    for _ in 0..255 {
        assert_eq!(client.capacity(), 1);
        let stream = open(&mut client, b"-");
        let datagram = sent(&mut client, Nanos::ZERO);
        assert_eq!(answer(&mut client, &datagram).map(|(stream, _)| stream), Some(stream));
    }
    assert_eq!((client.capacity(), client.open(&payload(b"-"))), (0, Opened::Closed));
    assert_eq!(answer(&mut client, &[0]), None);
    assert_eq!(client.tally().late, 1);
}

#[test]
fn without_answers_a_request_ends_when_it_was_handed_over() {
    let mut client = client(Some("none"), 100);
    let (a, b) = (open(&mut client, b""), open(&mut client, b"own"));
    assert!(!client.has_news());
    assert_eq!(sent(&mut client, Nanos(5))[..16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
    assert_eq!(sent(&mut client, Nanos(5)), b"own");
    for stream in [a, b] {
        assert!(client.has_news());
        let end = Event::End { stream, bytes_received: 0 };
        assert_eq!(client.receive(Nanos::ZERO, &mut &b""[..]), Some(end));
    }
    assert!(!client.has_news());
    assert_eq!(answer(&mut client, b"what?"), None);
    assert_eq!(client.tally().unexpected, 1);
    open(&mut client, b"");
    assert_eq!(sent(&mut client, Nanos::ZERO)[..8], [0, 0, 0, 0, 0, 0, 0, 2]);
}
