//! Any bytes at all, read as any format of other tools: what comes out does not depend on how they were cut into blocks,
//! and no reader panics or takes memory beyond a multiple of what it was given.
//!
//! The first byte picks the format and an option, the second how the blocks are cut.

#![no_main]

mod memory;

use headway_import::{Format, Options, Rows, formats};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// Options for the formats that need one, and none.
const COLUMNS: [&str; 4] =
    ["start=1", "start:s=a,elapsed=b,label=c", "end=2,elapsed:us=1,thread=3", "start:iso=1,end=2"];
const LOG_FORMATS: [&str; 3] = [
    "$remote_addr [$time_local] $msec \"$request\" $status $request_time",
    "%h [%{%d/%b/%Y:%H:%M:%S}t.%{usec_frac}t %{%z}t] \"%r\" %>s %B %D",
    "[%START_TIME%] %RESPONSE_CODE% %DURATION%",
];

fuzz_target!(|bytes: &[u8]| {
    let [pick, seed, bytes @ ..] = bytes else { return };
    let streamed: Vec<_> = formats::ALL.iter().filter(|format| !format.opens_itself()).collect();
    let pick = usize::from(*pick);
    let (format, other) = (*streamed[pick % streamed.len()], pick / streamed.len());
    let options = Options {
        columns: COLUMNS.get(other % COLUMNS.len()).map(|text| (*text).to_owned()),
        log_format: LOG_FORMATS.get(other % (LOG_FORMATS.len() + 1)).map(|text| (*text).to_owned()),
        ..Options::default()
    };
    format.recognise(bytes);
    let (whole, most) = memory::measure(|| read(format, &options, bytes, &[]));
    assert!(most <= 1000 * bytes.len() + (1 << 20), "{most} bytes of memory for {}", bytes.len());
    let cut = read(format, &options, bytes, &cuts(*seed, bytes.len()));
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => {
            assert!(whole.records == cut.records, "{}: other rows", format.name());
            assert_eq!(whole.examples, cut.examples);
            assert_eq!((whole.unreadable, whole.left_out), (cut.unreadable, cut.left_out));
        }
        (Err(whole), Err(cut)) => assert!(!whole.is_empty() && !cut.is_empty()),
        (whole, cut) => panic!("{}: {:?} and {:?}", format.name(), whole.err(), cut.err()),
    }
});

/// Ends of blocks, short ones and long ones.
fn cuts(seed: u8, length: usize) -> Vec<usize> {
    let mut state = u32::from(seed);
    let mut at = 0;
    let mut cuts = Vec::new();
    while at < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        at += 1 + (state >> 24) as usize % (1 + usize::from(seed) * 2);
        cuts.push(at.min(length));
    }
    cuts
}

fn read(format: &dyn Format, options: &Options, bytes: &[u8], cuts: &[usize]) -> Result<Rows, String> {
    let mut reader = format.reader(Path::new("fuzzed"), options).map_err(|e| e.to_string())?;
    let mut rows = Rows::default();
    let mut begin = 0;
    for &end in cuts.iter().filter(|&&end| end < bytes.len()).chain([&bytes.len()]) {
        let last = end == bytes.len();
        let taken = reader.read(&bytes[begin..end], last, &mut rows).map_err(|e| e.to_string())?;
        assert!(taken <= end - begin, "more taken than there was");
        begin += taken;
    }
    assert_eq!(begin, bytes.len(), "the end was not taken");
    Ok(rows)
}
