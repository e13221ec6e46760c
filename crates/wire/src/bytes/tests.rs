use super::*;

fn client(answer: &str) -> Client {
    let limits = Limits { body_bytes: 100, ..Limits::DEFAULT };
    Client::new(Answer::parse(answer).unwrap(), limits)
}

fn payload(text: &str) -> Payload {
    Payload::Bytes(text.as_bytes().into())
}

/// Sends a request, and then what it made of the answer that came in those pieces: its bytes, and how it ended.
fn ask(client: &mut Client, pieces: &[&str]) -> (String, Result<u64, ResetReason>) {
    assert_eq!(client.open(&payload("PING")), Opened::Stream(STREAM));
    let mut sent = Vec::new();
    assert!(client.poll_transmit(Nanos::ZERO, &mut sent) && sent == b"PING");
    assert_eq!(client.bytes_sent(STREAM), 4);
    let (mut data, mut begun) = (String::new(), 0);
    for piece in pieces {
        let mut bytes = piece.as_bytes();
        while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
            match event {
                Event::Begun { .. } => begun += 1,
                Event::Chunk { data: piece, .. } => data.push_str(std::str::from_utf8(piece).unwrap()),
                Event::End { bytes_received, .. } => {
                    assert_eq!(begun, 1);
                    return (data, Ok(bytes_received));
                }
                Event::Reset { reason, .. } => return (data, Err(reason)),
                other => panic!("{other:?}"),
            }
        }
    }
    match client.receive_end(Nanos::ZERO) {
        Some(Event::End { bytes_received, .. }) => (data, Ok(bytes_received)),
        Some(Event::Reset { reason, .. }) => (data, Err(reason)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_ends_where_it_is_stated() {
    let cases: [(&str, &[&str], &str); 6] = [
        ("until:\\r\\n", &["+PO", "NG\r", "\n"], "+PONG\r\n"),
        ("bytes:5", &["+P", "ONG"], "+PONG"),
        ("length:1", &["\u{3}", "a", "bc"], "\u{3}abc"),
        ("length:2", &["\0", "\0"], "\0\0"),
        ("length:2le", &["\u{2}\0ab"], "\u{2}\0ab"),
        ("close", &["a", "b"], "ab"),
    ];
    for (answer, pieces, expected) in cases {
        let mut client = client(answer);
        for _ in 0..if answer == "close" { 1 } else { 3 } {
            let (data, end) = ask(&mut client, pieces);
            assert_eq!((&*data, end), (expected, Ok(expected.len() as u64)), "{answer}");
        }
        assert_eq!(client.capacity(), u32::from(answer != "close"), "{answer}");
    }
}

#[test]
fn an_answer_that_breaks_off_or_is_too_long_is_none() {
    for (answer, pieces, reason) in [
        ("until:\\n", &["abc"][..], ResetReason::Closed),
        ("bytes:4", &["abc"], ResetReason::Closed),
        ("length:1", &[], ResetReason::Closed),
        ("until:\\n", &[&*"a".repeat(101)], ResetReason::TooLarge(Limit::Body)),
        ("close", &[&*"a".repeat(60), &*"a".repeat(60)], ResetReason::TooLarge(Limit::Body)),
        ("length:1", &["\u{65}"], ResetReason::TooLarge(Limit::Body)),
        ("bytes:101", &["a"], ResetReason::TooLarge(Limit::Body)),
    ] {
        let mut client = client(answer);
        assert_eq!(ask(&mut client, pieces).1, Err(reason), "{answer}");
        assert_eq!((client.capacity(), client.open(&payload("a"))), (0, Opened::Closed), "{answer}");
    }
}

#[test]
fn what_nothing_asked_for_ends_the_connection() {
    let mut early = client("until:\\n");
    assert!(matches!(early.open(&payload("a")), Opened::Stream(_)));
    let mut bytes = &b"hello\n"[..];
    let event = early.receive(Nanos::ZERO, &mut bytes);
    let unsolicited = ResetReason::Protocol(ProtocolError::Unsolicited);
    assert_eq!(event, Some(Event::Reset { stream: STREAM, reason: unsolicited }));
    assert!(early.has_surplus());

    let mut idle = client("until:\\n");
    assert!(!idle.has_surplus());
    assert_eq!(idle.receive(Nanos::ZERO, &mut &b"hello\n"[..]), Some(Event::GoAway));
    assert_eq!(idle.receive(Nanos::ZERO, &mut &b"hello\n"[..]), None);
    assert!(idle.has_surplus());

    let mut behind = client("until:\\n");
    assert_eq!(ask(&mut behind, &["a\nb"]).1, Ok(2));
    assert_eq!((behind.capacity(), behind.has_surplus()), (0, true));

    // Afterwards, too. What comes for a request that was given up is another matter.
    let mut later = client("until:\\n");
    assert_eq!(ask(&mut later, &["a\n"]).1, Ok(2));
    assert_eq!((later.capacity(), later.has_surplus()), (1, false));
    assert_eq!(later.receive(Nanos::ZERO, &mut &b"b"[..]), Some(Event::GoAway));
    assert!(later.has_surplus());
    let mut given_up = client("until:\\n");
    assert!(matches!(given_up.open(&payload("a")), Opened::Stream(_)));
    given_up.cancel(STREAM);
    assert_eq!(given_up.receive(Nanos::ZERO, &mut &b"hello\n"[..]), None);
    assert!(!given_up.has_surplus());
}

#[test]
fn without_an_answer_a_request_ends_when_it_was_handed_over() {
    let mut client = client("none");
    for _ in 0..3 {
        assert_eq!(client.open(&payload("abc")), Opened::Stream(STREAM));
        assert!(!client.has_news());
        assert!(client.poll_transmit(Nanos::ZERO, &mut Vec::new()) && client.has_news());
        assert_eq!(
            client.receive(Nanos::ZERO, &mut &b""[..]),
            Some(Event::End { stream: STREAM, bytes_received: 0 })
        );
        assert!(!client.has_news());
    }
}

#[test]
fn what_is_no_payload_of_bytes() {
    let mut client = client("none");
    assert_eq!(client.open(&payload("")), Opened::Unfit(Unfit::Empty));
    let request = crate::Request::builder("GET", "a", "/").build().unwrap();
    assert_eq!(client.open(&request.into()), Opened::Unfit(Unfit::NotBytes));
    assert_eq!(client.capacity(), 1);
}
