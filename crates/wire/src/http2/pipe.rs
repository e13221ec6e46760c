//! What the library takes for its socket: two buffers in memory.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes to send at which the library is made to wait. What it is asked to send is a body, which it holds anyway, or an answer
/// to what the peer sends: so a peer that does not read cannot make us hold more.
const OUT: usize = 1 << 20;

/// Bytes received and not yet looked at, because answers to the peer wait for it to read, at which it is given up.
const IN: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Received, and read up to `at`.
    received: Vec<u8>,
    at: usize,
    ended: bool,
    to_send: Vec<u8>,
}

/// One end; clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipe(Arc<Mutex<Buffers>>);

impl Pipe {
    pub(super) fn lock(&self) -> MutexGuard<'_, Buffers> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers {
    /// Takes in what was received; false if it is too much to hold.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        if self.at == self.received.len() {
            self.received.clear();
            self.at = 0;
        }
        if self.received.len() - self.at + bytes.len() > IN {
            return false;
        }
        self.received.drain(..self.at);
        self.at = 0;
        self.received.extend_from_slice(bytes);
        true
    }

    /// No more will be received.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Appends to `buffer` what is to be sent, of which `look` is shown it first. None: nothing is; else whether the library may
    /// hold more, which it then has room to write.
    pub(super) fn take(&mut self, buffer: &mut Vec<u8>, look: impl FnOnce(&[u8])) -> Option<bool> {
        if self.to_send.is_empty() {
            return None;
        }
        look(&self.to_send);
        let full = self.to_send.len() >= OUT;
        if buffer.is_empty() {
            std::mem::swap(buffer, &mut self.to_send);
        } else {
            buffer.append(&mut self.to_send);
        }
        Some(full)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.lock();
        let from = buffers.at;
        let taken = into.remaining().min(buffers.received.len() - from);
        if taken == 0 && !buffers.ended {
            return Poll::Pending;
        }
        into.put_slice(&buffers.received[from..from + taken]);
        buffers.at += taken;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut buffers = self.lock();
        if buffers.to_send.len() >= OUT {
            return Poll::Pending;
        }
        buffers.to_send.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
