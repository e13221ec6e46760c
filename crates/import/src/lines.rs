//! Lines and delimited fields, cut from blocks of bytes without copying or allocating per row.
//!
//! ```text
//! let mut lines = Lines::new(bytes, last, self.passed);      // where the block before left off
//! while let Some(fields) = self.csv.next(&mut lines) {       // or lines.next() where there are no fields
//!     ... fields.get(3), rows.bad(lines.line(), fields.raw(), "...") ...
//! }
//! self.passed = lines.passed();
//! Ok(lines.taken())
//! ```
//!
//! Blank lines are passed over; a carriage return before the line feed is part of the line's end. What comes out does
//! not depend on where the blocks were cut.

use memchr::{memchr, memchr_iter, memchr2};

/// A quoted field closes within this many bytes of its row's start, or its quote is an ordinary character: what one
/// stray quote can swallow.
const LONGEST_QUOTED: usize = 1 << 20;

/// The complete lines at the beginning of a block.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    last: bool,
    at: usize,
    line: u64,
    passed: u64,
}

impl<'a> Lines<'a> {
    /// `last`: nothing follows, so what stands behind the last line feed is a line too. `passed`: lines before `bytes`.
    pub(crate) fn new(bytes: &'a [u8], last: bool, passed: u64) -> Lines<'a> {
        Lines { bytes, last, at: 0, line: passed, passed }
    }

    /// The next line that is not blank, without its end.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let line = self.cut(memchr(b'\n', &self.bytes[self.at..]), 1)?;
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    /// Number of what was returned last, from 1; of a row of several lines, that of its first.
    #[inline]
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Lines passed, those before this block included.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Bytes of this block that need not come again.
    pub(crate) fn taken(&self) -> usize {
        self.at
    }

    /// Takes what ends in the line feed at `feed` of the rest, `lines` lines; without one, all if nothing follows.
    #[inline]
    fn cut(&mut self, feed: Option<usize>, lines: u64) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let line = match feed {
            Some(feed) => {
                self.at += feed + 1;
                &rest[..feed]
            }
            None if self.last && !rest.is_empty() => {
                self.at = self.bytes.len();
                rest
            }
            None => return None,
        };
        self.line = self.passed + 1;
        self.passed += lines;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Rows of delimited fields, quoted or not (RFC 4180): quotes count at a field's beginning only, and stand doubled
/// inside; quoted fields may hold delimiters and line feeds. A row whose quotes do not pair up is one line, its quotes
/// taken as they stand.
#[derive(Clone, Debug)]
pub(crate) struct Csv {
    delimiter: u8,
    ends: Vec<usize>,
    unquoted: Vec<u8>,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    raw: &'a [u8],
    /// The fields, one byte between each two.
    text: &'a [u8],
    ends: &'a [usize],
}

impl Csv {
    /// Rows with that byte between the fields; neither a quote nor a line end.
    pub(crate) fn new(delimiter: u8) -> Csv {
        Csv { delimiter, ends: Vec::new(), unquoted: Vec::new() }
    }

    /// The next row that is not a blank line.
    #[inline]
    pub(crate) fn next<'s, 'a: 's>(&'s mut self, lines: &mut Lines<'a>) -> Option<Fields<'s>> {
        loop {
            let rest = &lines.bytes[lines.at..];
            let stop = memchr2(b'\n', b'"', rest);
            if stop.is_some_and(|at| rest[at] == b'"') {
                return self.next_quoted(lines);
            }
            let raw = lines.cut(stop, 1)?;
            if !raw.is_empty() {
                return Some(self.plain(raw));
            }
        }
    }

    /// A row by itself, of one or several lines.
    pub(crate) fn row<'s, 'a: 's>(&'s mut self, row: &'a [u8]) -> Fields<'s> {
        match self.unquote(row, true) {
            Quoted::Row { .. } => Fields { raw: row, text: &self.unquoted, ends: &self.ends },
            Quoted::Unpaired | Quoted::Incomplete => self.plain(row),
        }
    }

    #[inline]
    fn plain<'s, 'a: 's>(&'s mut self, raw: &'a [u8]) -> Fields<'s> {
        self.ends.clear();
        self.ends.extend(memchr_iter(self.delimiter, raw));
        self.ends.push(raw.len());
        Fields { raw, text: raw, ends: &self.ends }
    }

    fn next_quoted<'s, 'a: 's>(&'s mut self, lines: &mut Lines<'a>) -> Option<Fields<'s>> {
        let rest = &lines.bytes[lines.at..];
        match self.unquote(rest, lines.last) {
            Quoted::Row { feed, lines: n } => {
                let raw = lines.cut(feed, n)?;
                Some(Fields { raw, text: &self.unquoted, ends: &self.ends })
            }
            Quoted::Unpaired => {
                let raw = lines.cut(memchr(b'\n', rest), 1)?;
                Some(self.plain(raw))
            }
            Quoted::Incomplete => None,
        }
    }

    /// Finds the end of the row at the beginning of `bytes` and copies its fields, without their quotes.
    fn unquote(&mut self, bytes: &[u8], last: bool) -> Quoted {
        self.ends.clear();
        self.unquoted.clear();
        let mut at = 0;
        let mut lines = 1;
        loop {
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    let within = &bytes[at..bytes.len().min(LONGEST_QUOTED).max(at)];
                    let Some(n) = memchr(b'"', within) else {
                        let hopeless = last || bytes.len() >= LONGEST_QUOTED;
                        return if hopeless { Quoted::Unpaired } else { Quoted::Incomplete };
                    };
                    lines += memchr_iter(b'\n', &within[..n]).count() as u64;
                    self.unquoted.extend_from_slice(&within[..n]);
                    at += n + 1;
                    match bytes.get(at) {
                        Some(b'"') => self.unquoted.push(b'"'),
                        Some(&b) if b == self.delimiter || b == b'\n' || b == b'\r' => break,
                        None if last => break,
                        None => return Quoted::Incomplete,
                        Some(_) => return Quoted::Unpaired,
                    }
                    at += 1;
                }
            }
            let rest = &bytes[at..];
            let stop = memchr2(self.delimiter, b'\n', rest);
            let feed = match stop {
                Some(n) if rest[n] == self.delimiter => {
                    self.unquoted.extend_from_slice(&rest[..n]);
                    self.ends.push(self.unquoted.len());
                    self.unquoted.push(self.delimiter);
                    at += n + 1;
                    continue;
                }
                Some(n) => Some(at + n),
                None if last => None,
                None => return Quoted::Incomplete,
            };
            let tail = &rest[..stop.unwrap_or(rest.len())];
            self.unquoted.extend_from_slice(tail.strip_suffix(b"\r").unwrap_or(tail));
            self.ends.push(self.unquoted.len());
            return Quoted::Row { feed, lines };
        }
    }
}

/// A row that is put together field by field.
#[derive(Clone, Default, Debug)]
pub(crate) struct Cells {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, field: &[u8]) {
        self.text.extend_from_slice(field);
        self.ends.push(self.text.len());
        self.text.push(0);
    }

    /// The fields so far, of the row that stands so in the file.
    pub(crate) fn fields<'a>(&'a self, raw: &'a [u8]) -> Fields<'a> {
        Fields { raw, text: &self.text, ends: &self.ends }
    }
}

/// What stands at the beginning of some bytes.
enum Quoted {
    /// A row that ends in the line feed at `feed` (none: at the end of the file), so many lines long.
    Row { feed: Option<usize>, lines: u64 },
    /// A quote without its partner.
    Unpaired,
    /// Too few bytes to tell.
    Incomplete,
}

impl<'a> Fields<'a> {
    /// The row as it stands in the file.
    #[inline]
    pub(crate) fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// How many fields there are, 1 at least.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The field of that number from 0, without quotes.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> Option<&'a [u8]> {
        let end = *self.ends.get(i)?;
        let start = if i == 0 { 0 } else { self.ends[i - 1] + 1 };
        Some(&self.text[start..end])
    }

    /// All fields.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        let fields = *self;
        (0..fields.len()).filter_map(move |i| fields.get(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows with their lines, from `text` handed over in blocks that end at `cuts`.
    fn rows(text: &[u8], cuts: &[usize]) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut csv = Csv::new(b',');
        let (mut out, mut begin, mut passed) = (Vec::new(), 0, 0);
        for &end in cuts.iter().chain([&text.len()]) {
            let end = end.clamp(begin, text.len());
            let mut lines = Lines::new(&text[begin..end], end == text.len(), passed);
            while let Some(fields) = csv.next(&mut lines) {
                out.push((lines.line(), fields.iter().map(<[u8]>::to_vec).collect()));
            }
            begin += lines.taken();
            passed = lines.passed();
        }
        assert_eq!(begin, text.len());
        out
    }

    fn shown(text: &str) -> String {
        let row = |(line, fields): (u64, Vec<Vec<u8>>)| {
            let fields: Vec<_> =
                fields.iter().map(|f| String::from_utf8_lossy(f).replace('\n', "$")).collect();
            format!("{line}:{}", fields.join("|"))
        };
        rows(text.as_bytes(), &[]).into_iter().map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fields_are_split() {
        for (text, expected) in [
            ("", ""),
            ("\n\r\n", ""),
            ("a,b\nc\n", "1:a|b 2:c"),
            ("a,\r\n\r\n,b", "1:a| 3:|b"),
            ("\"a,b\",c\n", "1:a,b|c"),
            ("x,\"a\nb\"\"c\"\"\"\r\ny\n", "1:x|a$b\"c\" 3:y"),
            ("\"\",\"\"", "1:|"),
            ("5\" pipe,1\n2,3\n", "1:5\" pipe|1 2:2|3"),
            // Quotes without a partner stand for themselves.
            ("\"a,b\nc,d\n", "1:\"a|b 2:c|d"),
            ("\"a\"b,c\n\"d\"\n", "1:\"a\"b|c 2:d"),
            ("1,\"a\n2,\"b\n", "1:1|\"a 2:2|\"b"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_stray_quote_swallows_no_more_than_its_line() {
        let mut text = b"1,\"stray\n".to_vec();
        while text.len() < LONGEST_QUOTED + 100 {
            text.extend_from_slice(b"2,b\n");
        }
        let whole = rows(&text, &[]);
        assert_eq!(whole[0].1, [b"1".to_vec(), b"\"stray".to_vec()]);
        assert_eq!(whole.len() as u64, whole.last().unwrap().0);
        assert_eq!(rows(&text, &[9, LONGEST_QUOTED - 1, LONGEST_QUOTED]), whole);
        // So it is if a quote follows that would close it, too far off.
        text.extend_from_slice(b"3,c\",d\n");
        assert_eq!(rows(&text, &[])[..whole.len()], whole);
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(
            text in "([a,\"\n\r]|\"\"|\",\"|\"\n\"|,\"a\",){0,40}",
            mut cuts in proptest::collection::vec(0usize..60, 0..6),
        ) {
            cuts.sort_unstable();
            prop_assert_eq!(rows(text.as_bytes(), &cuts), rows(text.as_bytes(), &[]));
        }

        #[test]
        fn what_the_csv_crate_writes_is_read(
            table in proptest::collection::vec(proptest::collection::vec("[a,\"\n\r ]{0,6}", 2..5), 0..6),
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            table.iter().for_each(|row| writer.write_record(row).unwrap());
            let text = writer.into_inner().unwrap();
            let read: Vec<_> = rows(&text, &[]).into_iter().map(|(_, fields)| fields).collect();
            let written: Vec<Vec<_>> =
                table.iter().map(|row| row.iter().map(|f| f.clone().into_bytes()).collect()).collect();
            prop_assert_eq!(read, written);
        }
    }
}
