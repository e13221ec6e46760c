//! A TCP server that plays a script on each connection, on threads of its own.

use crate::harness::HANG;
use headway_live::Address;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Listens until it is dropped.
pub struct Scripted {
    pub address: Address,
    accepted: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Plays `script` on each connection, whose number is its first argument. The connection is closed at its end.
    pub fn new(script: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap());
        let (accepted, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop, script) = (accepted.clone(), over.clone(), Arc::new(script));
        let accepting = thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let number = count.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                stream.set_read_timeout(Some(HANG)).unwrap();
                stream.set_write_timeout(Some(HANG)).unwrap();
                let script = script.clone();
                thread::spawn(move || script(number, stream));
            }
        });
        Scripted { address, accepted, over, accepting: Some(accepting) }
    }

    /// Answers each request with these bytes, and keeps the connection.
    pub fn answering(answer: impl Into<Vec<u8>>) -> Scripted {
        let answer = answer.into();
        Scripted::new(
            move |_, mut stream| {
                while read_request(&mut stream) && stream.write_all(&answer).is_ok() {}
            },
        )
    }

    /// Answers the first request with these bytes, and closes.
    pub fn answering_once(answer: impl Into<Vec<u8>>) -> Scripted {
        let answer = answer.into();
        Scripted::new(move |_, mut stream| {
            if read_request(&mut stream) {
                send_last(&stream, &answer);
            }
        })
    }

    /// Connections taken so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Address::Tcp(address) = self.address {
            // Wakes it up.
            drop(TcpStream::connect_timeout(&address, Duration::from_secs(1)));
        }
        if let Some(accepting) = self.accepting.take() {
            accepting.join().unwrap();
        }
    }
}

/// Reads a request without a body; false if none came.
pub fn read_request(stream: &mut impl Read) -> bool {
    let (mut byte, mut last) = ([0], 0u32);
    while last != u32::from_be_bytes(*b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => last = last << 8 | u32::from(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Reads until the client closes.
pub fn read_to_end(stream: &mut impl Read) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Sends these bytes and the end of the stream in one segment.
pub fn send_last(stream: &TcpStream, bytes: &[u8]) {
    use rustix::net::{SendFlags, send};
    let sent = send(stream, bytes, SendFlags::MORE | SendFlags::NOSIGNAL);
    assert!(sent.is_ok_and(|n| n == bytes.len()) || bytes.len() > 10_000, "{sent:?}");
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&mut &*stream);
}

/// Closes with a reset.
pub fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}
