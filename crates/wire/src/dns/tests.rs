use super::*;
use crate::connection::ProtocolError;
use crate::limits::Limits;

/// An answer to what was sent: that code, and so many records of four bytes behind a pointer to the name.
fn answer(sent: &[u8], rcode: u8, records: u8) -> Vec<u8> {
    let mut answer = sent.to_vec();
    answer[2] |= 0x80;
    answer[3] = 0x80 | rcode;
    answer[7] = records;
    for last in 0..records {
        answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, last]);
    }
    answer
}

fn client() -> Client {
    Client::new(&Settings { limits: Limits::DEFAULT, streams: 10, answer: None })
}

fn ask(client: &mut Client, text: &str) -> (StreamId, Vec<u8>) {
    let Opened::Stream(stream) = client.open(&Payload::Bytes(question(text).unwrap().into())) else {
        panic!("not opened")
    };
    let mut sent = Vec::new();
    assert!(client.poll_transmit(Nanos::ZERO, &mut sent));
    (stream, sent)
}

/// The status and body, or why there is none.
fn heard(client: &mut Client, mut bytes: &[u8]) -> Option<Result<(u16, usize), ResetReason>> {
    let mut status = None;
    let mut body = 0;
    while let Some(event) = client.receive(Nanos::ZERO, &mut bytes) {
        match event {
            Event::Begun { .. } => {}
            Event::Head { status: s, .. } => status = Some(s),
            Event::Chunk { data, .. } => body += data.len(),
            Event::End { bytes_received, .. } => {
                assert_eq!(bytes_received, body as u64);
                return Some(Ok((status.expect("a head comes first"), body)));
            }
            Event::Reset { reason, .. } => return Some(Err(reason)),
            Event::GoAway => panic!("a socket has no end"),
        }
    }
    None
}

#[test]
fn questions_are_written_as_the_standard_has_them() {
    let expected = b"\0\0\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\x03com\0\0\x1c\0\x01";
    for text in ["www.example.com AAAA", " www.example.com.  aaaa", "www.example.com TYPE28"] {
        assert_eq!(question(text).unwrap(), expected);
    }
    assert_eq!(question("a").unwrap()[HEADER_AND..], *b"\x01a\0\0\x01\0\x01");
    assert_eq!(question(". NS").unwrap()[HEADER_AND..], *b"\0\0\x02\0\x01");
    let long = format!("{}.{}", "a".repeat(63), ["b".repeat(63), "c".repeat(63), "d".repeat(61)].join("."));
    assert!(question(&long).is_ok());
    assert!(question(&format!("{long}d")).is_err());
    for bad in [
        "",
        "a b c",
        "a..b",
        ".a",
        "a.b..",
        "h\u{e4}user.de",
        &"a".repeat(64),
        "a X",
        "a TYPE65536",
        "a TYPE",
    ] {
        assert!(question(bad).is_err(), "{bad}");
    }
}

const HEADER_AND: usize = 12;

#[test]
fn codes_stand_where_http_has_its_status() {
    let mut client = client();
    for (code, records) in [(0, 3), (3, 0), (2, 0), (5, 1)] {
        let (_, sent) = ask(&mut client, "Example.com MX");
        let mut answer = answer(&sent, code, records);
        // Servers may write the name in other letters.
        answer[13..20].make_ascii_lowercase();
        assert_eq!(heard(&mut client, &answer), Some(Ok((u16::from(code), answer.len()))));
        assert_eq!(heard(&mut client, &answer), None);
    }
    assert_eq!(client.tally().duplicates, 4);
}

#[test]
fn answers_find_their_question_by_number() {
    let mut client = client();
    let (a, first) = ask(&mut client, "a.test");
    let (b, second) = ask(&mut client, "b.test");
    assert_ne!((a, &first[..2]), (b, &second[..2]));
    assert!(heard(&mut client, &answer(&second, 0, 1)).unwrap().is_ok());
    assert!(heard(&mut client, &answer(&first, 0, 1)).unwrap().is_ok());
    assert_eq!(client.tally(), Tally { reordered: 1, ..Tally::default() });
    let mut stranger = answer(&first, 0, 1);
    stranger[0] = 0x77;
    assert_eq!(heard(&mut client, &stranger), None);
    assert_eq!(client.tally().unexpected, 1);
}

#[test]
fn what_is_no_answer_to_the_question_is_not_taken_for_one() {
    let mut client = client();
    let mut check = |change: &dyn Fn(&mut Vec<u8>), expected: ResetReason| {
        let (_, sent) = ask(&mut client, "example.com");
        let mut bytes = answer(&sent, 0, 2);
        change(&mut bytes);
        assert_eq!(heard(&mut client, &bytes), Some(Err(expected)));
    };
    let dns = |why| ResetReason::Protocol(ProtocolError::Dns(why));
    check(&|a| a[2] |= 2, ResetReason::TooLarge(Limit::Datagram));
    check(&|a| a[2] &= 0x7f, dns("it is a question"));
    check(&|a| a.truncate(11), dns("it is shorter than a header"));
    check(&|a| a[5] = 0, dns("it does not repeat the question"));
    check(&|a| a[5] = 2, dns("it does not repeat the question"));
    check(&|a| a.truncate(20), dns("its question is cut short"));
    check(&|a| a.truncate(a.len() - 1), dns("it is shorter than it says"));
    check(&|a| a[11] = 1, dns("it is shorter than it says"));
    check(&|a| a[12] = 0x80, dns("its question is cut short"));
    // The socket is as good as before.
    let (_, sent) = ask(&mut client, "example.com");
    assert_eq!(heard(&mut client, &answer(&sent, 3, 0)), Some(Ok((3, sent.len()))));
}

/// RFC 5452, section 9.1: what is to another question is no response, and the right one may follow.
#[test]
fn a_response_to_another_question_does_not_end_the_request() {
    let mut client = client();
    let (_, sent) = ask(&mut client, "example.com");
    let changes: [fn(&mut Vec<u8>); 4] =
        [|a| a[14] = b'y', |a| a[28] ^= 0x20, |a| a[26] = 16, |a| (a[14], a[2]) = (b'y', a[2] & 0x7f)];
    for (i, change) in (1..).zip(changes) {
        let mut bytes = answer(&sent, 0, 2);
        change(&mut bytes);
        assert_eq!(heard(&mut client, &bytes), None);
        assert_eq!(client.tally(), Tally { unexpected: i, ..Tally::default() });
    }
    assert_eq!(heard(&mut client, &answer(&sent, 3, 0)), Some(Ok((3, sent.len()))));
    assert_eq!(client.tally(), Tally { unexpected: 4, ..Tally::default() });
}

#[test]
fn no_bytes_make_the_reader_fail() {
    let asked = question("example.com").unwrap();
    let whole = answer(&asked, 0, 3);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..200_000 {
        let mut bytes = whole.clone();
        for _ in 0..draw() % 6 {
            let at = draw() as usize % bytes.len();
            bytes[at] = draw() as u8;
        }
        bytes.truncate(draw() as usize % (whole.len() + 1));
        let _ = (read(&bytes), is_to_another(&bytes, &asked));
    }
}
