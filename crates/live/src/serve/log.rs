//! When each request reached the target: CSV, one line a request, written as it comes.

use std::io::{self, BufWriter, Write};

/// Writes `received_unix_s,connection,stamp`: seconds since the Unix epoch with nine decimals, the number of the
/// connection, and whose stamp it is (`kernel`: the network stack's; `user`: the clock after the read).
pub struct ArrivalsLog {
    out: BufWriter<Box<dyn Write + Send>>,
}

impl ArrivalsLog {
    /// A log into `out`, headed.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<ArrivalsLog> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        writeln!(out, "received_unix_s,connection,stamp")?;
        Ok(ArrivalsLog { out })
    }

    /// A log of datagrams into `out`, headed: `received_unix_s,sender,stamp,dropped`, with the number of the sender and how many
    /// datagrams the kernel had dropped before this one, for want of room in the socket's buffer.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn of_datagrams(out: Box<dyn Write + Send>) -> io::Result<ArrivalsLog> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        writeln!(out, "received_unix_s,sender,stamp,dropped")?;
        Ok(ArrivalsLog { out })
    }

    /// A request came, at `kernel` by the kernel's stamp (nanoseconds since the Unix epoch) or else at `user()`.
    pub(super) fn arrival(
        &mut self,
        connection: u64,
        kernel: Option<i128>,
        user: impl FnOnce() -> i128,
    ) -> io::Result<()> {
        self.stamped(connection, kernel, user)?;
        writeln!(self.out)
    }

    /// A datagram came, likewise.
    pub(super) fn datagram(
        &mut self,
        sender: u64,
        kernel: Option<i128>,
        user: impl FnOnce() -> i128,
        dropped: u32,
    ) -> io::Result<()> {
        self.stamped(sender, kernel, user)?;
        writeln!(self.out, ",{dropped}")
    }

    fn stamped(&mut self, whose: u64, kernel: Option<i128>, user: impl FnOnce() -> i128) -> io::Result<()> {
        let (at, stamp) = match kernel {
            Some(at) => (at, "kernel"),
            None => (user(), "user"),
        };
        let (s, ns) = (at.div_euclid(1_000_000_000), at.rem_euclid(1_000_000_000));
        write!(self.out, "{s}.{ns:09},{whose},{stamp}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
