//! Any bytes at all, read as a log: the reader gives rows, an ending or an error, and neither panics nor takes memory
//! beyond a small multiple of what it was given.

#![no_main]

mod memory;

use libfuzzer_sys::fuzz_target;
use headway_records::{Ending, LogReader};

fuzz_target!(|bytes: &[u8]| {
    let ((), most) = memory::measure(|| read(bytes));
    assert!(most <= 100 * bytes.len() + (1 << 20), "{most} bytes of memory for {}", bytes.len());
});

fn read(bytes: &[u8]) {
    let Ok(mut reader) = LogReader::from_bytes(bytes) else { return };
    let mut rows = 0;
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => rows += batch.len(),
            Ok(None) => break,
            Err(error) => {
                // Every error can be shown, and nothing is read past it.
                assert!(!error.to_string().is_empty());
                assert!(matches!(reader.next_batch(), Ok(None)) && reader.ending().is_none());
                return;
            }
        }
    }
    // The narrowest row that a log can hold still has its key, of eight bytes.
    assert!(rows <= bytes.len() / 8);
    match reader.ending() {
        Some(Ending::Truncated { at, bytes_left_over }) => {
            assert_eq!(at + bytes_left_over, bytes.len() as u64)
        }
        Some(Ending::Complete) => {}
        None => panic!("read to its end, and yet without one"),
    }
}
