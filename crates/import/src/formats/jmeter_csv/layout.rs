//! Which column of a JMeter CSV file holds what: by its header, or by the look of the first row where there is none.

use crate::formats::jmeter_row::{bytes, span, truth};
use crate::lines::{Csv, Fields, Lines};
use crate::numbers::int;
use crate::stamps::unix;

/// Number of a column that is not there; no row has so many.
const ABSENT: usize = usize::MAX;
/// Columns without which a header is not JMeter's.
const STAMP: &str = "timeStamp";
const ELAPSED: &str = "elapsed";
/// Columns that rows without a header can have: 17 are usual, five more can be switched on, and sample variables stand behind.
const HEADERLESS: std::ops::RangeInclusive<usize> = 10..=64;

/// Columns, from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    pub delimiter: u8,
    pub header: bool,
    pub width: usize,
    pub stamp: usize,
    pub elapsed: usize,
    pub label: usize,
    pub code: usize,
    pub message: usize,
    pub failure: usize,
    pub thread: usize,
    pub success: usize,
    pub bytes: usize,
    pub sent: usize,
    pub latency: usize,
    pub connect: usize,
    pub idle: usize,
    pub host: usize,
}

/// What the first row says.
pub(super) enum First {
    /// It is JMeter's.
    Known(Layout),
    /// It is not.
    Unknown,
    /// There is none yet.
    Incomplete,
}

impl Layout {
    /// By the first row of a file, whatever stands between its fields.
    pub(super) fn of(lines: &Lines<'_>) -> First {
        let Some(line) = lines.clone().next() else { return First::Incomplete };
        let in_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'"' | b'_');
        let Some(delimiter) = line.iter().copied().find(|&b| !in_name(b)) else { return First::Unknown };
        let mut csv = Csv::new(delimiter);
        let Some(row) = csv.next(&mut lines.clone()) else { return First::Incomplete };
        match Layout::of_header(delimiter, &row).or_else(|| Layout::of_row(delimiter, &row)) {
            Some(layout) => First::Known(layout),
            None => First::Unknown,
        }
    }

    fn of_header(delimiter: u8, row: &Fields<'_>) -> Option<Layout> {
        let find = |name: &str| row.iter().position(|field| field.eq_ignore_ascii_case(name.as_bytes()));
        let at = |name: &str| find(name).unwrap_or(ABSENT);
        Some(Layout {
            delimiter,
            header: true,
            width: row.len(),
            stamp: find(STAMP)?,
            elapsed: find(ELAPSED)?,
            label: at("label"),
            code: at("responseCode"),
            message: at("responseMessage"),
            failure: at("failureMessage"),
            thread: at("threadName"),
            success: at("success"),
            bytes: at("bytes"),
            sent: at("sentBytes"),
            latency: at("Latency"),
            connect: at("Connect"),
            idle: at("IdleTime"),
            host: at("Hostname"),
        })
    }

    /// Without a header the first eight columns are always the same in practice, the failure's message can follow, the
    /// bytes, and then what JMeter's version and settings add. The known sets of numbers behind the bytes, with the URL
    /// (which is no number) as a landmark:
    ///
    /// ```text
    ///                                   Latency                      2.x
    ///            grpThreads allThreads  Latency                      2.13
    ///            grpThreads allThreads  Latency IdleTime             3.0
    ///  sentBytes grpThreads allThreads  Latency IdleTime             3.1
    ///  sentBytes grpThreads allThreads  Latency IdleTime Connect     3.2
    ///  sentBytes grpThreads allThreads URL Latency IdleTime Connect  4.0 and later
    /// ```
    ///
    /// Behind the URL there can be more: `Filename Latency Encoding SampleCount ErrorCount Hostname IdleTime Connect`.
    fn of_row(delimiter: u8, row: &Fields<'_>) -> Option<Layout> {
        const STAMP_DIGITS: usize = 13;
        let field = |i: usize| row.get(i);
        let stamp = field(0).filter(|text| text.len() == STAMP_DIGITS).and_then(int)?;
        unix(stamp.checked_mul(1_000_000)?)?;
        field(1).and_then(span)?;
        field(7).and_then(truth)?;
        if !HEADERLESS.contains(&row.len()) {
            return None;
        }
        let value = |i: usize| field(i).filter(|text| !text.is_empty()).and_then(bytes);
        let number = |i: usize| value(i).is_some();
        let at_bytes = if number(8) { 8 } else { 9 };
        if !number(at_bytes) {
            return None;
        }
        let tail = at_bytes + 1;
        let url = (tail..row.len()).find(|&i| !number(i));
        let (sent, latency, connect) = match url {
            None => match row.len() - tail {
                1 => (ABSENT, tail, ABSENT),
                3 | 4 => (ABSENT, tail + 2, ABSENT),
                5 => (tail, tail + 3, ABSENT),
                6 => (tail, tail + 3, tail + 5),
                _ => (ABSENT, ABSENT, ABSENT),
            },
            Some(url) => {
                let latency = (url + 1..url + 3).find(|&i| number(i));
                let sent = if matches!(url - tail, 1 | 3) { tail } else { ABSENT };
                (sent, latency.unwrap_or(ABSENT), latency.and_then(|at| connect(at, value)).unwrap_or(ABSENT))
            }
        };
        Some(Layout {
            delimiter,
            header: false,
            width: row.len(),
            stamp: 0,
            elapsed: 1,
            label: 2,
            code: 3,
            message: 4,
            failure: if at_bytes == 9 { 8 } else { ABSENT },
            thread: 5,
            success: 7,
            bytes: at_bytes,
            sent,
            latency,
            // Where there is a time to connect, the pauses stand before it.
            idle: if connect == ABSENT { ABSENT } else { connect - 1 },
            connect,
            host: ABSENT,
        })
    }
}

/// Where the time to connect is, if the latency is there.
fn connect(latency: usize, value: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let is_text = |i: usize| usize::from(value(i).is_none());
    let mut at = latency + 1;
    at += is_text(at);
    // A sample counts at least one, itself; pauses of 0 stand in this place without the counts.
    if value(at).is_some_and(|samples| samples > 0 && value(at + 1).is_some_and(|errors| errors <= samples)) {
        at += 2;
    }
    at += is_text(at);
    value(at).and(value(at + 1)).map(|_| at + 1)
}

/// Whether there is such a column.
pub(super) fn present(column: usize) -> bool {
    column != ABSENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(line: &str) -> Option<Layout> {
        match Layout::of(&Lines::new(line.as_bytes(), true, 0)) {
            First::Known(layout) => Some(layout),
            First::Unknown | First::Incomplete => None,
        }
    }

    #[test]
    fn headers() {
        let found = layout("\"elapsed\";label;timeStamp;odd name;Connect\r\n1;a;2;;3").unwrap();
        let columns = (found.delimiter, found.header, found.width, found.stamp, found.elapsed, found.connect);
        assert_eq!(columns, (b';', true, 5, 2, 0, 4));
        assert!(!present(found.latency));
        for no in ["", "timeStamp", "timeStamp,label", "elapsed\tlabel", "timeStamp,elapsed;x"] {
            assert_eq!(layout(no), None, "{no:?}");
        }
    }

    /// (width, bytes, sent, latency, connect), missing ones 0.
    fn columns(line: &str) -> Option<[usize; 5]> {
        let l = layout(line)?;
        assert!(!l.header);
        Some([l.width, l.bytes, l.sent, l.latency, l.connect].map(|c| if present(c) { c } else { 0 }))
    }

    #[test]
    fn rows_without_a_header() {
        const HEAD: &str = "1331859604094,71,home,200,OK,Group 1-2,text,true";
        for (tail, expected) in [
            ("141994,25", [10, 8, 0, 9, 0]),
            (",141994,25", [11, 9, 0, 10, 0]),
            ("141994,http://a/,25", [11, 8, 0, 10, 0]),
            ("141994,5,5,25", [12, 8, 0, 11, 0]),
            (",141994,5,5,25", [13, 9, 0, 12, 0]),
            (",141994,5,5,25,0", [14, 9, 0, 12, 0]),
            ("why,141994,118,5,5,25,0", [15, 9, 10, 13, 0]),
            (",141994,118,5,5,25,0,3", [16, 9, 10, 13, 15]),
            ("\"a,\nb\",141994,118,5,5,null,25,0,3", [17, 9, 10, 14, 16]),
            // Which of the two numbers is the latency is not known.
            ("141994,118,25", [11, 8, 0, 0, 0]),
        ] {
            let line = format!("{HEAD},{tail}\n");
            assert_eq!(columns(&line), Some(expected), "{tail}");
            if !line.contains('"') {
                assert_eq!(columns(&line.replace(',', "|")), Some(expected), "{tail}");
            }
        }
        for no in [
            "1331859604,71,home,200,OK,Group 1-2,text,true,1,1",
            "1331859604094,-1,home,200,OK,Group 1-2,text,true,1,1",
            "1331859604094,71,home,200,OK,Group 1-2,text,yes,1,1",
            "1331859604094,71,home,200,OK,Group 1-2,text,true,1",
            "1331859604094,71,home,200,OK,Group 1-2,text,true,a,b",
        ] {
            assert_eq!(columns(no), None, "{no}");
        }
    }
}
