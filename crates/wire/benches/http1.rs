//! What one answer costs a client, and one request a server, in nanoseconds. Reported, never asserted.
//!
//! `cargo bench -p headway-wire`

use std::hint::black_box;

use headway_base::Nanos;
use headway_wire::http1::{Client, Response, Server};
use headway_wire::{ClientConnection, Limits, Request};

#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn time(name: &str, mut work: impl FnMut()) {
    let rounds = 200_000;
    let best = (0..7)
        .map(|_| {
            let start = std::time::Instant::now();
            (0..rounds).for_each(|_| work());
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    println!("{name:42} {:8.1} ns", best.as_nanos() as f64 / f64::from(rounds));
}

fn answer(framing: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: application/json\
         \r\n{framing}\r\nConnection: keep-alive\r\nCache-Control: no-cache\r\nVary: Accept-Encoding\r\n\
         X-Request-Id: 6f9619ff-8b86-d011-b42d-00cf4fc964ff\r\n\r\n{body}"
    )
    .into_bytes()
}

fn main() {
    let Ok(request) = Request::builder("GET", "example.com", "/bars?page=2").build() else { return };
    let body = "x".repeat(600);
    let cases = [
        ("client: 8 headers, no body", answer("Content-Length: 0", "")),
        ("client: 8 headers, 600 bytes", answer("Content-Length: 600", &body)),
        (
            "client: 8 headers, 600 bytes in 1 chunk",
            answer("Transfer-Encoding: chunked", &format!("258\r\n{body}\r\n0\r\n\r\n")),
        ),
    ];
    let mut out = Vec::new();
    for (name, bytes) in &cases {
        let mut client = Client::new(Limits::DEFAULT);
        time(name, || {
            out.clear();
            client.open(&request.clone().into());
            client.poll_transmit(Nanos::ZERO, &mut out);
            let mut input = black_box(&bytes[..]);
            while let Some(event) = client.receive(Nanos::ZERO, &mut input) {
                black_box(event);
            }
        });
        assert!(client.capacity() == 1);
    }
    let mut client = Client::new(Limits::DEFAULT);
    let bytes = &cases[0].1;
    time("client: 8 headers in single bytes", || {
        out.clear();
        client.open(&request.clone().into());
        client.poll_transmit(Nanos::ZERO, &mut out);
        for byte in bytes {
            let mut input = std::slice::from_ref(byte);
            while let Some(event) = client.receive(Nanos::ZERO, &mut input) {
                black_box(event);
            }
        }
    });
    let Ok(response) = Response::new(200) else { return };
    let rendered = response.filler(600, &b"lorem ipsum "[..]).render();
    let mut server = Server::new(Limits::DEFAULT);
    time("server: GET, 600 bytes rendered ahead", || {
        out.clear();
        let mut input = black_box(&request.http1()[..]);
        while let Some(event) = server.receive(&mut input) {
            black_box(event);
        }
        server.respond_rendered(&rendered, &mut out);
    });
}
