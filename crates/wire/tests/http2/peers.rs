//! Peers that do what RFC 9113 allows and few do, and peers that break it.

use crate::frames::*;
use headway_base::Nanos;
use headway_wire::{ClientConnection, ErrorCode, Limit, Limits, Opened, ProtocolError, Request, ResetReason};

fn broken(code: u32) -> Told {
    Told::Reset(ResetReason::Protocol(ProtocolError::Http2(ErrorCode(code))))
}

const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;
const FRAME_SIZE_ERROR: u32 = 6;
const COMPRESSION_ERROR: u32 = 9;
const ENHANCE_YOUR_CALM: u32 = 11;

#[test]
fn answers_of_several_streams_may_come_mixed_and_cut_anywhere() {
    let bytes = [
        frame(HEADERS, END_HEADERS, 3, OK),
        frame(DATA, 0, 3, b"b"),
        frame(HEADERS, END_HEADERS, 1, OK),
        frame(DATA, 0, 3, b"cd"),
        frame(DATA, END_STREAM, 1, b"a"),
        frame(DATA, END_STREAM, 3, b""),
    ]
    .concat();
    for cut in 0..=bytes.len() {
        let mut asking = Asking::new();
        let (first, second) = (asking.get(), asking.get());
        asking.receive(&bytes[..cut]);
        asking.receive(&bytes[cut..]);
        let ok = [Told::Begun, Told::Head(200)];
        assert_eq!(asking.of(first), [&ok[..], &[Told::Body(b"a".to_vec()), Told::End(20)]].concat());
        let of_second = asking.of(second);
        let body = of_second.iter().filter_map(|told| match told {
            Told::Body(body) => Some(&body[..]),
            _ => None,
        });
        assert_eq!(body.collect::<Vec<_>>().concat(), b"bcd");
        assert_eq!(asking.of(second).last(), Some(&Told::End(40)), "cut at {cut}");
        assert_eq!(asking.client.capacity(), 100);
    }
}

#[test]
fn informational_answers_begin_an_answer_and_trailers_end_it() {
    let mut asking = Asking::new();
    let stream = asking.get();
    // :status: 103, literal with the name of the static table's 8th entry.
    asking.receive(&frame(HEADERS, END_HEADERS, 1, &[0x08, 3, b'1', b'0', b'3']));
    assert_eq!(asking.of(stream), [Told::Begun]);
    asking.receive(&frame(HEADERS, END_HEADERS, 1, OK));
    asking.receive(&frame(DATA, 0, 1, b"x"));
    asking.receive(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &field("grpc-status", b"0")));
    assert_eq!(asking.of(stream)[1..3], [Told::Head(200), Told::Body(b"x".to_vec())]);
    assert!(matches!(asking.of(stream)[3], Told::End(_)));
}

#[test]
fn settings_and_pings_are_answered_between_requests() {
    let mut asking = Asking::new();
    asking.receive(&frame(PING, 0, 0, b"12345678"));
    assert_eq!(asking.frames_sent().last(), Some(&(PING, 0)));
    assert!(asking.frames_sent().iter().filter(|(kind, _)| *kind == SETTINGS).count() == 2);
}

#[test]
fn the_peers_limit_of_streams_is_the_capacity_and_may_change() {
    let mut asking = Asking::silent(Limits::DEFAULT, 64);
    assert_eq!((asking.client.capacity(), asking.client.is_settled()), (1, false), "nothing is known yet");
    asking.receive(&hello());
    assert_eq!((asking.client.capacity(), asking.client.is_settled()), (64, true));
    asking.receive(&setting(3, 2));
    assert_eq!(asking.client.capacity(), 2);
    asking.get();
    asking.get();
    let third = Request::builder("GET", "a", "/").build().unwrap();
    assert_eq!(asking.client.open(&third.clone().into()), Opened::Blocked);
    asking.receive(&setting(3, 3));
    assert_eq!(asking.client.capacity(), 3);
    asking.get();
    asking.receive(&setting(3, 1_000));
    assert_eq!(asking.client.capacity(), 64, "never more than were wanted");
}

#[test]
fn a_refused_stream_is_its_own_reason_and_costs_nothing_else() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    asking.receive(&frame(RST_STREAM, 0, 3, &7u32.to_be_bytes()));
    assert_eq!(asking.of(second), [Told::Begun, Told::Reset(ResetReason::Refused("REFUSED_STREAM"))]);
    asking.receive(&frame(RST_STREAM, 0, 1, &2u32.to_be_bytes()));
    assert_eq!(asking.of(first), [Told::Begun, Told::Reset(ResetReason::ByPeer(ErrorCode(2)))]);
    let third = asking.get();
    asking.receive(&answer(5, b"x"));
    assert_eq!(asking.of(third).last(), Some(&Told::End(20)));
}

#[test]
fn a_goaway_lets_those_below_it_end_and_gives_the_others_back() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    let goaway = [1u32.to_be_bytes(), 0u32.to_be_bytes()].concat();
    asking.receive(&frame(GOAWAY, 0, 0, &goaway));
    assert_eq!(asking.of(second), [Told::Reset(ResetReason::Refused("GOAWAY"))]);
    assert_eq!(asking.of(first), []);
    assert_eq!(asking.client.capacity(), 0);
    assert_eq!(
        asking.client.open(&Request::builder("GET", "a", "/").build().unwrap().into()),
        Opened::Closed
    );
    asking.receive(&answer(1, b"x"));
    assert_eq!(asking.of(first).last(), Some(&Told::End(20)));
    assert_eq!(asking.told.last(), Some(&(None, Told::GoAway)));
    asking.end();
    assert_eq!(asking.told.iter().filter(|(_, told)| *told == Told::GoAway).count(), 1);
}

#[test]
fn a_goaway_with_an_error_ends_what_it_does_not_give_back() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    let goaway = [1u32.to_be_bytes(), 2u32.to_be_bytes()].concat();
    asking.receive(&frame(GOAWAY, 0, 0, &goaway));
    asking.end();
    assert_eq!(asking.of(second), [Told::Reset(ResetReason::Refused("GOAWAY"))]);
    assert!(matches!(
        asking.of(first)[..],
        [Told::Reset(ResetReason::Closed | ResetReason::Protocol(ProtocolError::GoAway(ErrorCode(2))))]
    ));
}

#[test]
fn a_connection_that_closes_ends_its_streams() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    asking.receive(&[answer(1, b"x"), frame(HEADERS, END_HEADERS, 3, OK)].concat());
    asking.end();
    assert!(matches!(asking.of(first).last(), Some(Told::End(_))));
    assert_eq!(asking.of(second).last(), Some(&Told::Reset(ResetReason::Closed)));
    assert_eq!(asking.client.capacity(), 0);
}

#[test]
fn a_request_that_is_given_up_is_reset_and_its_answer_passed_over() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    asking.client.cancel(first);
    asking.transmit();
    assert_eq!(asking.frames_sent().last(), Some(&(RST_STREAM, 1)));
    asking.receive(&[answer(1, b"late"), answer(3, b"x")].concat());
    assert_eq!(asking.of(first), []);
    assert_eq!(asking.of(second).last(), Some(&Told::End(20)));
    assert_eq!(asking.client.capacity(), 100);
    // Its place is free for another.
    let third = asking.get();
    asking.receive(&answer(5, b"y"));
    assert_eq!(asking.of(third).last(), Some(&Told::End(20)));
}

#[test]
fn a_body_waits_for_the_peers_windows() {
    let mut asking = Asking::new();
    asking.receive(&setting(4, 0));
    let request = Request::builder("POST", "a", "/").body(vec![b'x'; 100_000]).build().unwrap();
    let stream = asking.ask(&request);
    assert!(asking.frames_sent().iter().all(|(kind, _)| *kind != DATA), "a window of zero");
    let head = asking.client.bytes_sent(stream);
    assert!(head > 9);
    asking.receive(&frame(WINDOW_UPDATE, 0, 1, &1_000u32.to_be_bytes()));
    assert_eq!(asking.client.bytes_sent(stream), head + 9 + 1_000);
    asking.receive(&frame(WINDOW_UPDATE, 0, 1, &1_000_000u32.to_be_bytes()));
    assert_eq!(
        asking.sent.iter().filter(|&&byte| byte == b'x').count().min(65_535),
        65_535,
        "the connection's"
    );
    asking.receive(&frame(WINDOW_UPDATE, 0, 0, &1_000_000u32.to_be_bytes()));
    assert!(asking.client.bytes_sent(stream) > head + 100_000);
    asking.receive(&answer(1, b""));
    assert!(matches!(asking.of(stream).last(), Some(Told::End(_))));
}

#[test]
fn large_answers_are_bounded() {
    let limits = Limits { body_bytes: 10, head_bytes: 1_000, headers: 3, ..Limits::DEFAULT };
    let reset = |bytes: Vec<u8>| {
        let mut asking = Asking::with(limits, 100);
        let stream = asking.get();
        asking.receive(&bytes);
        let told = asking.of(stream);
        let after = asking.get();
        asking.receive(&answer(3, b"x"));
        assert_eq!(asking.of(after).last(), Some(&Told::End(20)), "the connection goes on");
        told
    };
    let long = [OK, &field("a", &[b'x'; 2_000])].concat();
    let told = reset(frame(HEADERS, END_HEADERS | END_STREAM, 1, &long));
    assert_eq!(told, [Told::Begun, Told::Reset(ResetReason::TooLarge(Limit::Head))]);
    let many = [OK, &field("a", b"1"), &field("b", b"1"), &field("c", b"1"), &field("d", b"1")].concat();
    let told = reset(frame(HEADERS, END_HEADERS | END_STREAM, 1, &many));
    assert_eq!(told, [Told::Begun, Told::Reset(ResetReason::TooLarge(Limit::Headers))]);
    let told = reset(answer(1, &[b'x'; 11]));
    assert_eq!(told.last(), Some(&Told::Reset(ResetReason::TooLarge(Limit::Body))));
    assert_eq!(reset(answer(1, &[b'x'; 10])).last(), Some(&Told::End(29)));
}

/// Each kind of frame where it may not be, and frames that are malformed. The library says PROTOCOL_ERROR
/// of some for which RFC 9113 has a code of their own.
#[test]
fn frames_out_of_place_end_the_connection_with_their_code() {
    let open = || frame(HEADERS, 0, 1, OK);
    let cases: Vec<(&str, Vec<u8>, u32)> = vec![
        ("DATA on stream 0", frame(DATA, 0, 0, b"x"), PROTOCOL_ERROR),
        ("DATA on a stream not opened", frame(DATA, 0, 99, b"x"), PROTOCOL_ERROR),
        ("HEADERS on stream 0", frame(HEADERS, END_HEADERS, 0, OK), PROTOCOL_ERROR),
        ("HEADERS of the server's own", frame(HEADERS, END_HEADERS, 2, OK), PROTOCOL_ERROR),
        ("PRIORITY on stream 0", frame(PRIORITY, 0, 0, &[0; 5]), PROTOCOL_ERROR),
        ("RST_STREAM on stream 0", frame(RST_STREAM, 0, 0, &[0; 4]), PROTOCOL_ERROR),
        ("RST_STREAM on a stream not opened", frame(RST_STREAM, 0, 99, &[0; 4]), PROTOCOL_ERROR),
        ("RST_STREAM of 3 bytes", frame(RST_STREAM, 0, 1, &[0; 3]), PROTOCOL_ERROR),
        ("SETTINGS on a stream", frame(SETTINGS, 0, 1, &[]), PROTOCOL_ERROR),
        ("SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, &[0; 5]), PROTOCOL_ERROR),
        ("a window beyond 2^31", setting(4, 1 << 31), FLOW_CONTROL_ERROR),
        ("PUSH_PROMISE", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82]), PROTOCOL_ERROR),
        ("PING on a stream", frame(PING, 0, 1, &[0; 8]), PROTOCOL_ERROR),
        ("PING of 7 bytes", frame(PING, 0, 0, &[0; 7]), PROTOCOL_ERROR),
        ("GOAWAY on a stream", frame(GOAWAY, 0, 1, &[0; 8]), PROTOCOL_ERROR),
        ("WINDOW_UPDATE of nothing", frame(WINDOW_UPDATE, 0, 0, &[0; 4]), PROTOCOL_ERROR),
        (
            "WINDOW_UPDATE beyond 2^31",
            frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffffu32.to_be_bytes()),
            FLOW_CONTROL_ERROR,
        ),
        ("CONTINUATION of nothing", frame(CONTINUATION, END_HEADERS, 1, OK), PROTOCOL_ERROR),
        ("another frame within a head", [open(), frame(PING, 0, 0, &[0; 8])].concat(), PROTOCOL_ERROR),
        ("a head that cannot be decompressed", frame(HEADERS, END_HEADERS, 1, &[0xff; 8]), COMPRESSION_ERROR),
        ("a frame longer than agreed", frame(DATA, 0, 1, &[0; 16_385]), FRAME_SIZE_ERROR),
    ];
    for (name, bytes, code) in cases {
        let mut asking = Asking::new();
        let stream = asking.get();
        asking.receive(&bytes);
        asking.end();
        let told = asking.of(stream).last().cloned();
        assert!(told == Some(broken(code)) || told == Some(broken(PROTOCOL_ERROR)), "{name}: {told:?}");
        assert_eq!(asking.client.capacity(), 0, "{name}");
        assert_eq!(asking.frames_sent().last(), Some(&(GOAWAY, 0)), "{name}: the peer hears why");
    }
}

/// What is wrong with one stream costs no other.
#[test]
fn what_is_wrong_with_an_answer_ends_its_stream_alone() {
    let cases: [(&str, Vec<u8>, u32); 5] = [
        ("no status", frame(HEADERS, END_HEADERS | END_STREAM, 1, &field("a", b"b")), PROTOCOL_ERROR),
        (
            "an upper-case name",
            frame(HEADERS, END_HEADERS | END_STREAM, 1, &[OK, &field("A", b"b")].concat()),
            PROTOCOL_ERROR,
        ),
        (
            "less than its length",
            [
                frame(HEADERS, END_HEADERS, 1, &[OK, &field("content-length", b"5")].concat()),
                frame(DATA, END_STREAM, 1, b"1234"),
            ]
            .concat(),
            PROTOCOL_ERROR,
        ),
        ("data before the head", frame(DATA, 0, 1, b"x"), PROTOCOL_ERROR),
        ("WINDOW_UPDATE of nothing", frame(WINDOW_UPDATE, 0, 1, &[0; 4]), PROTOCOL_ERROR),
    ];
    for (name, bytes, code) in cases {
        let mut asking = Asking::new();
        let stream = asking.get();
        asking.receive(&bytes);
        let told = asking.of(stream);
        asking.end();
        let told = told.last().cloned().or_else(|| asking.of(stream).last().cloned());
        assert_eq!(told, Some(broken(code)), "{name}");
    }
}

#[test]
fn data_after_the_end_is_an_error() {
    let mut asking = Asking::new();
    let (first, second) = (asking.get(), asking.get());
    asking.receive(&[answer(1, b"x"), frame(DATA, 0, 1, b"more")].concat());
    assert!(matches!(asking.of(first)[3], Told::End(_)));
    asking.receive(&answer(3, b"x"));
    asking.end();
    // The library ends the connection or passes the frame over; either way the stream that was answered stays answered.
    assert!(matches!(asking.of(second).last(), Some(Told::End(_)) | Some(Told::Reset(_))));
    let _ = STREAM_CLOSED;
}

#[test]
fn endless_heads_end() {
    let mut asking = Asking::new();
    let stream = asking.get();
    asking.receive(&frame(HEADERS, 0, 1, OK));
    for _ in 0..100_000 {
        asking.receive(&frame(CONTINUATION, 0, 1, &field("a", &[b'x'; 100])));
        if asking.client.capacity() == 0 {
            break;
        }
    }
    asking.end();
    assert_eq!(asking.of(stream).last(), Some(&broken(ENHANCE_YOUR_CALM)));
}

/// A peer that makes us answer and does not read: memory is bounded, and the connection is given up.
#[test]
fn floods_that_are_not_read_are_given_up() {
    for flood in [frame(SETTINGS, 0, 0, &[]), frame(PING, 0, 0, &[7; 8])] {
        let mut asking = Asking::new();
        let stream = asking.get();
        let piece = flood.repeat(1_000);
        let mut pieces = 0;
        while asking.client.capacity() > 0 && pieces < 10_000 {
            asking.receive_mute(&piece);
            pieces += 1;
        }
        assert!(pieces < 10_000, "held without end");
        assert!(piece.len() * pieces < 16 << 20, "{} bytes", piece.len() * pieces);
        let flood = ResetReason::Protocol(ProtocolError::Flood);
        assert_eq!(asking.of(stream).last(), Some(&Told::Reset(flood)));
        let mut out = Vec::new();
        asking.client.poll_transmit(Nanos::ZERO, &mut out);
        assert!(out.len() < 4 << 20, "{} bytes", out.len());
    }
}

/// Read, the same floods are answered for as long as they last.
#[test]
fn floods_that_are_read_cost_time_alone() {
    let mut asking = Asking::new();
    let stream = asking.get();
    for _ in 0..300 {
        asking.receive(&frame(PING, 0, 0, &[7; 8]).repeat(1_000));
        asking.sent.clear();
    }
    asking.receive(&answer(1, b"x"));
    assert_eq!(asking.of(stream).last(), Some(&Told::End(20)));
}

#[test]
fn what_is_no_http2_is_found_at_once() {
    let mut asking = Asking::new();
    let stream = asking.get();
    asking.receive(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    asking.end();
    assert!(matches!(
        asking.of(stream).last(),
        Some(Told::Reset(ResetReason::Protocol(ProtocolError::Http2(_))))
    ));
}

#[test]
fn what_only_http1_can_say_is_refused_with_a_reason() {
    let mut asking = Asking::new();
    let request = Request::builder("GET", "a", "/a<b>").build().unwrap();
    let Opened::Unfit(error) = asking.client.open(&request.clone().into()) else { panic!("sent") };
    assert!(error.to_string().contains("/a<b>"), "{error}");
}

/// Of some servers each answer has an empty frame of DATA before its content.
#[test]
fn empty_frames_of_data_do_no_harm() {
    let mut asking = Asking::with(Limits::DEFAULT, 1);
    for number in (0..300).map(|i| 1 + 2 * i) {
        asking.told.clear();
        let stream = asking.get();
        let head = frame(HEADERS, END_HEADERS, number, OK);
        let empty = frame(DATA, 0, number, b"");
        asking.receive(&[head, empty, frame(DATA, END_STREAM, number, b"ok")].concat());
        let told = asking.of(stream);
        assert!(matches!(told.last(), Some(Told::End(_))), "{number}: {told:?}");
    }
}

#[test]
fn empty_frames_of_data_without_end_are_given_up() {
    let mut asking = Asking::with(Limits::DEFAULT, 1);
    let stream = asking.get();
    asking.receive_mute(&frame(DATA, 0, 1, b"").repeat(2_000));
    let flood = ResetReason::Protocol(ProtocolError::Flood);
    assert_eq!(asking.of(stream).last(), Some(&Told::Reset(flood)));
}
