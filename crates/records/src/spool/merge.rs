//! Reading a spool: its chunks merged, each opened when the order comes to its first row.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headway_base::{Nanos, Record};

use crate::error::Error;
use crate::spool::{Chunk, Key, Place, Spooled, row};

/// Bytes of a chunk on disk that are read at a time.
const BUFFER: usize = 64 << 10;

/// The rows of a spool in order.
#[derive(Debug)]
pub struct InOrder<'a> {
    spooled: &'a Spooled,
    /// Numbers of the chunks not yet opened, the one that begins last in front.
    unopened: Vec<u32>,
    /// Open chunks but for the current one, by their next row. A cursor stands at the number of its chunk.
    waiting: BinaryHeap<Reverse<Key>>,
    cursors: Vec<Option<Cursor<'a>>>,
    current: Option<Cursor<'a>>,
    /// The first row of all others: up to there the current chunk goes on alone.
    limit: Option<Key>,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(spooled: &'a Spooled) -> Result<InOrder<'a>, Error> {
        let mut unopened: Vec<u32> = (0..spooled.chunks.len() as u32).collect();
        unopened.sort_unstable_by_key(|&i| Reverse(spooled.chunks[i as usize].first));
        let mut merge = InOrder {
            spooled,
            cursors: unopened.iter().map(|_| None).collect(),
            unopened,
            waiting: BinaryHeap::new(),
            current: None,
            limit: None,
        };
        merge.choose()?;
        Ok(merge)
    }

    /// The next row; none at the end.
    ///
    /// # Errors
    /// [`Error::Io`] if the temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator of results would be harder to use")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>, Error> {
        let Some(current) = &mut self.current else { return Ok(None) };
        let record = current.head;
        if !current.advance(self.spooled)? {
            self.current = None;
            self.choose()?;
        } else if self.limit.is_some_and(|limit| limit < current.key()) {
            self.waiting.push(Reverse(current.key()));
            let number = current.number as usize;
            self.cursors[number] = self.current.take();
            self.choose()?;
        }
        Ok(Some(record))
    }

    /// Makes the chunk with the first row the current one.
    fn choose(&mut self) -> Result<(), Error> {
        while let Some(&number) = self.unopened.last() {
            let chunk = &self.spooled.chunks[number as usize];
            if self.waiting.peek().is_some_and(|Reverse(first)| *first < chunk.first) {
                break;
            }
            self.unopened.pop();
            self.cursors[number as usize] = Some(Cursor::open(self.spooled, chunk, number)?);
            self.waiting.push(Reverse(chunk.first));
        }
        self.current =
            self.waiting.pop().and_then(|Reverse(first)| self.cursors[first.chunk as usize].take());
        let unopened = self.unopened.last().map(|&number| self.spooled.chunks[number as usize].first);
        let waiting = self.waiting.peek().map(|Reverse(first)| *first);
        self.limit = [unopened, waiting].into_iter().flatten().min();
        Ok(())
    }
}

/// A chunk being read.
#[derive(Debug)]
struct Cursor<'a> {
    number: u32,
    head: Record,
    before: Nanos,
    rows_left: u32,
    /// All of a chunk in memory.
    memory: Option<&'a [u8]>,
    /// The part of a chunk on disk that was read last.
    buffer: Vec<u8>,
    next: usize,
    /// What of the chunk on disk was not read yet.
    from: u64,
    to: u64,
}

impl<'a> Cursor<'a> {
    fn open(spooled: &Spooled, chunk: &'a Chunk, number: u32) -> Result<Cursor<'a>, Error> {
        let (memory, from, to) = match &chunk.place {
            Place::Memory(packed) => (Some(packed.as_slice()), 0, 0),
            Place::Disk { from, length } => (None, *from, from + length),
        };
        let mut cursor = Cursor {
            number,
            head: crate::schema::blank(),
            before: Nanos::ZERO,
            rows_left: chunk.rows,
            memory,
            buffer: Vec::new(),
            next: 0,
            from,
            to,
        };
        cursor.advance(spooled)?;
        Ok(cursor)
    }

    #[inline]
    fn key(&self) -> Key {
        Key::new(&self.head, self.number)
    }

    /// Goes to the next row; false behind the last.
    #[inline]
    fn advance(&mut self, spooled: &Spooled) -> Result<bool, Error> {
        if self.rows_left == 0 {
            return Ok(false);
        }
        if self.memory.is_none()
            && self.buffer.len() - self.next < row::LONGEST + row::PADDING
            && self.from < self.to
        {
            self.refill(spooled)?;
        }
        let bytes = self.memory.unwrap_or(&self.buffer);
        let Some((head, length)) = row::take(&bytes[self.next..], self.before) else {
            return Err(Error::corrupt(
                &spooled.folder,
                self.from,
                "a temporary file was changed by another",
            ));
        };
        self.head = head;
        self.before = row::at(&head);
        self.next += length;
        self.rows_left -= 1;
        Ok(true)
    }

    fn refill(&mut self, spooled: &Spooled) -> Result<(), Error> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let kept = self.buffer.len();
        let more = (self.to - self.from).min((BUFFER - kept) as u64) as usize;
        self.buffer.resize(kept + more, 0);
        spooled.read_at(self.from, &mut self.buffer[kept..])?;
        self.from += more as u64;
        Ok(())
    }
}
