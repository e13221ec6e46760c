//! A row as the spool keeps it: a header of eight bytes, then the numbers of the row in 0, 2, 4 or 8 bytes each, instants
//! relative to the row's own start and that relative to the row before. The header says how many bytes each number takes.
//! Every field comes back as it went in; a row of a results file takes some 30 bytes instead of the 120 it has in memory.
//!
//! Numbers are written and read as eight bytes whatever they take, and what is too much is overwritten or masked: without
//! a branch per number that is several times as fast as an encoding of seven bits a byte.

use headway_base::{Kind, Nanos, Outcome, Record, Rough, Short, Stamp, Trigger};

/// Numbers in a row.
const NUMBERS: usize = 22;
/// No row takes more.
pub(super) const LONGEST: usize = 8 * (1 + NUMBERS);
/// Must follow the last row, for it is read in steps of eight bytes.
pub(super) const PADDING: usize = 8;

/// What stands in the header above two bits for each number.
const FLAGS: usize = 2 * NUMBERS;
const NEVER_STARTED: u64 = 1 << FLAGS;
const SENT: u64 = 2 << FLAGS;
const FIRST_BYTE: u64 = 4 << FLAGS;
const CONNECT: u64 = 8 << FLAGS;
const TLS: u64 = 16 << FLAGS;
const REUSED: u64 = 32 << FLAGS;
const OUTCOME: usize = FLAGS + 6;
const KIND: usize = OUTCOME + 8;
const DUE: usize = KIND + 2;

/// Bytes that a number takes, by the two bits it has in the header.
const SIZES: [usize; 4] = [0, 2, 4, 8];
const MASKS: [u64; 4] = [0, 0xffff, 0xffff_ffff, u64::MAX];

/// When the row stands in the order of starts: a request that never started stands where it was due.
#[inline]
pub(super) fn at(record: &Record) -> Nanos {
    record.started.get().unwrap_or(record.intended)
}

/// Appends the row; `before` is when the row before it stands.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, record: &Record, before: Nanos) {
    let at = at(record);
    let flag = |flag: u64, set: bool| if set { flag } else { 0 };
    let stamp = |stamp: Stamp, zero: Nanos| zigzag(stamp.get().map_or(0, |s| s.0.wrapping_sub(zero.0)));
    let numbers: [u64; NUMBERS] = [
        zigzag(at.0.wrapping_sub(before.0)),
        zigzag(record.done.0.wrapping_sub(at.0)),
        zigzag(record.intended.0.wrapping_sub(at.0)),
        zigzag(record.arrived.0.wrapping_sub(record.intended.0)),
        stamp(record.sent, at),
        stamp(record.first_byte, at),
        stamp(record.connect, Nanos::ZERO),
        stamp(record.tls, Nanos::ZERO),
        zigzag(record.wait.0),
        record.bytes_received,
        record.bytes_sent,
        record.k,
        u64::from(record.count.wrapping_sub(1)),
        u64::from(record.user),
        u64::from(record.repeat),
        u64::from(record.connection.wrapping_add(1)),
        u64::from(record.step),
        u64::from(record.attempt) | u64::from(record.stood_still.to_bits()) << 8,
        u64::from(record.shard),
        u64::from(record.group),
        u64::from(record.status),
        u64::from(record.unread.to_bits()),
    ];
    let mut header = flag(NEVER_STARTED, !record.started.is_some())
        | flag(SENT, record.sent.is_some())
        | flag(FIRST_BYTE, record.first_byte.is_some())
        | flag(CONNECT, record.connect.is_some())
        | flag(TLS, record.tls.is_some())
        | flag(REUSED, record.reused)
        | (record.outcome as u64) << OUTCOME
        | (record.kind as u64) << KIND
        | (record.due as u64) << DUE;
    let mut bytes = [0; LONGEST];
    let mut length = 8;
    for (i, x) in numbers.into_iter().enumerate() {
        let size = usize::from(x > 0) + usize::from(x > MASKS[1]) + usize::from(x > MASKS[2]);
        header |= (size as u64) << (2 * i);
        bytes[length..length + 8].copy_from_slice(&x.to_le_bytes());
        length += SIZES[size];
    }
    bytes[..8].copy_from_slice(&header.to_le_bytes());
    out.extend_from_slice(&bytes[..length]);
}

/// The row at the beginning of `bytes` and its length there; none if there is no whole row with [`PADDING`].
#[inline]
pub(super) fn take(bytes: &[u8], before: Nanos) -> Option<(Record, usize)> {
    let header = u64::from_le_bytes(*bytes.first_chunk()?);
    let mut numbers = [0; NUMBERS];
    let mut length = 8;
    for (i, number) in numbers.iter_mut().enumerate() {
        let size = (header >> (2 * i)) as usize & 3;
        *number = u64::from_le_bytes(*bytes.get(length..)?.first_chunk()?) & MASKS[size];
        length += SIZES[size];
    }
    let [
        at,
        done,
        intended,
        arrived,
        sent,
        first_byte,
        connect,
        tls,
        wait,
        bytes_received,
        bytes_sent,
        k,
        count,
        user,
        repeat,
        connection,
        step,
        attempt,
        shard,
        group,
        status,
        unread,
    ] = numbers;
    let has = |flag: u64| header & flag != 0;
    let from = |zero: Nanos, x: u64| Nanos(zero.0.wrapping_add(unzigzag(x)));
    let stamp = |flag: u64, zero: Nanos, x: u64| if has(flag) { from(zero, x).into() } else { Stamp::NONE };
    let at = from(before, at);
    let intended = from(at, intended);
    let record = Record {
        k,
        intended,
        arrived: from(intended, arrived),
        due: Trigger::ALL.get((header >> DUE) as usize & 3).copied()?,
        started: if has(NEVER_STARTED) { Stamp::NONE } else { at.into() },
        sent: stamp(SENT, at, sent),
        first_byte: stamp(FIRST_BYTE, at, first_byte),
        done: from(at, done),
        wait: from(Nanos::ZERO, wait),
        connect: stamp(CONNECT, Nanos::ZERO, connect),
        tls: stamp(TLS, Nanos::ZERO, tls),
        bytes_received,
        bytes_sent,
        count: (count as u32).wrapping_add(1),
        user: user as u32,
        repeat: repeat as u32,
        connection: (connection as u32).wrapping_sub(1),
        step: step as u16,
        attempt: attempt as u8,
        shard: shard as u16,
        group: group as u16,
        status: status as u16,
        outcome: Outcome::from_code((header >> OUTCOME) as u8)?,
        kind: *Kind::ALL.get((header >> KIND) as usize & 3)?,
        reused: has(REUSED),
        unread: Short::from_bits(unread as u16),
        stood_still: Rough::from_bits((attempt >> 8) as u8),
    };
    Some((record, length))
}

/// Small numbers of either sign become small numbers.
#[inline]
fn zigzag(x: i64) -> u64 {
    ((x << 1) ^ (x >> 63)) as u64
}

#[inline]
fn unzigzag(x: u64) -> i64 {
    (x >> 1) as i64 ^ -((x & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_row_fits_and_comes_back() {
        let far = Nanos(i64::MIN + 1);
        let row = Record {
            k: u64::MAX,
            started: Nanos::MAX.into(),
            sent: far.into(),
            first_byte: far.into(),
            done: far,
            wait: far,
            connect: far.into(),
            tls: far.into(),
            bytes_received: u64::MAX,
            bytes_sent: u64::MAX,
            count: 0,
            user: u32::MAX,
            repeat: u32::MAX,
            connection: u32::MAX - 1,
            step: u16::MAX,
            attempt: u8::MAX,
            stood_still: Rough::UNKNOWN,
            shard: u16::MAX,
            group: u16::MAX,
            status: u16::MAX,
            kind: Kind::Attempt,
            due: Trigger::User,
            arrived: Nanos::ZERO,
            reused: true,
            ..Record::never_started(0, far, far, Outcome::Unsent)
        };
        let mut bytes = Vec::new();
        put(&mut bytes, &row, far);
        put(&mut bytes, &row, at(&row));
        bytes.extend([0xff; PADDING]);
        let (first, length) = take(&bytes, far).unwrap();
        assert_eq!(first, row);
        assert!(length <= LONGEST, "{length}");
        assert_eq!(take(&bytes[length..], at(&row)), Some((row, bytes.len() - length - PADDING)));
        assert_eq!(take(&bytes[..length - 1], far), None);
    }

    #[test]
    fn an_ordinary_row_is_short() {
        let at = Nanos::from_secs(1_331_859_604);
        let row = Record {
            started: at.into(),
            sent: at.into(),
            first_byte: (at + Nanos::from_millis(25)).into(),
            bytes_received: 141_994,
            user: 71,
            step: 3,
            status: 200,
            ..Record::never_started(0, at, at + Nanos::from_millis(71), Outcome::Ok)
        };
        let mut bytes = Vec::new();
        put(&mut bytes, &row, at - Nanos::from_millis(22));
        let length = bytes.len();
        assert!(length <= 36, "{length}");
        bytes.extend([0xff; PADDING]);
        assert_eq!(take(&bytes, at - Nanos::from_millis(22)), Some((row, length)));
    }
}
