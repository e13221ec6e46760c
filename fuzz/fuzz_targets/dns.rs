//! Answers of DNS: no bytes make the reader panic or read beyond them, and a connection has a use after any.

#![no_main]

use headway_base::Nanos;
use headway_wire::{ClientConnection, Event, Limits, Opened, Payload, Settings, dns};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let question = dns::question("www.example.com AAAA").unwrap();
    let _ = (dns::read(input), dns::is_to_another(input, &question));
    let mut client = dns::Client::new(&Settings { limits: Limits::DEFAULT, streams: 4, answer: None });
    for datagram in input.split(|&byte| byte == b'|') {
        let opened = client.open(&Payload::Bytes(question.as_slice().into()));
        assert!(matches!(opened, Opened::Stream(_)));
        let mut sent = Vec::new();
        assert!(client.poll_transmit(Nanos::ZERO, &mut sent));
        let Opened::Stream(stream) = opened else { unreachable!() };
        // With the right number, and the question in half of the cases: the rest is the input's.
        let mut bytes = sent[..2].to_vec();
        if datagram.len() % 2 == 0 && datagram.len() > 10 {
            bytes.extend_from_slice(&datagram[..10]);
            bytes.extend_from_slice(&sent[12..]);
            bytes.extend_from_slice(&datagram[10..]);
        } else {
            bytes.extend_from_slice(datagram);
        }
        let mut rest = bytes.as_slice();
        let mut over = false;
        while let Some(event) = client.receive(Nanos::ZERO, &mut rest) {
            over |= matches!(event, Event::End { .. } | Event::Reset { .. });
        }
        assert!(rest.is_empty());
        if !over {
            client.cancel(stream);
        }
    }
});
