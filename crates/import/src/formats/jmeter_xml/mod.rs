//! JMeter's results as XML: `<testResults version="1.2">` with one element per sample, or with samples inside of samples.
//!
//! Of nested samples (transactions, pages with what they embed, redirects) the innermost are the requests; what stands
//! around them is left out and counted.

mod cut;

use super::jmeter_row::{Sample, Samples, bytes, span, span_or_none, truth};
use crate::numbers::int;
use crate::stamps::{EXPECTED, unix};
use crate::{Error, Facts, Format, Options, Reader, Rows, Stamps};
use cut::Piece;
use headway_base::Nanos;
use memchr::{memchr, memchr_iter, memmem};
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::path::Path;

/// JMeter XML.
pub struct JmeterXml;

impl Format for JmeterXml {
    fn name(&self) -> &'static str {
        "jmeter-xml"
    }

    fn about(&self) -> &'static str {
        "jmeter -n -l FILE -Jjmeter.save.saveservice.output_format=xml"
    }

    fn recognise(&self, head: &[u8]) -> bool {
        const PROLOG: usize = 4096;
        let begin = head.trim_ascii_start();
        begin.starts_with(b"<") && memmem::find(&begin[..begin.len().min(PROLOG)], b"<testResults").is_some()
    }

    fn reader(&self, _: &Path, _: &Options) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(JmeterXmlReader { passed: 0, users: false, bytes: false, samples: Samples::default() }))
    }
}

struct JmeterXmlReader {
    /// Lines before the block.
    passed: u64,
    /// Whether threads were named, and sizes.
    users: bool,
    bytes: bool,
    samples: Samples,
}

impl Reader for JmeterXmlReader {
    fn read(&mut self, bytes: &[u8], last: bool, rows: &mut Rows) -> Result<usize, Error> {
        const WHOLE: &str = "a whole httpSample or sample";
        let mut at = 0;
        while at < bytes.len() {
            let taken = match cut::first(&bytes[at..], last) {
                Piece::Nothing(n) => n,
                Piece::Element(element) => {
                    if let Err(expected) = self.element(element, rows) {
                        rows.bad(self.passed + 1, element, expected);
                    }
                    element.len()
                }
                Piece::Broken(piece) => {
                    rows.bad(self.passed + 1, piece.trim_ascii_end(), WHOLE);
                    piece.len()
                }
                Piece::Incomplete => break,
            };
            self.passed += memchr_iter(b'\n', &bytes[at..at + taken]).count() as u64;
            at += taken;
        }
        if last {
            self.samples.release(true, rows);
        }
        Ok(at)
    }

    fn facts(&self) -> Facts {
        Facts {
            format: "JMeter XML".to_owned(),
            stamps: Stamps::Ambiguous,
            resolution: Nanos::from_millis(1),
            users: self.users,
            ends: true,
            bytes: self.bytes,
            outcomes: self.samples.outcomes(),
            missing: self.samples.missing(),
            ..Facts::default()
        }
    }
}

/// A sample whose end has not come.
struct Open<'a> {
    tag: BytesStart<'a>,
    /// Whether there are samples inside.
    parent: bool,
}

impl JmeterXmlReader {
    /// All samples of an element of the top level; the error says what was expected.
    fn element(&mut self, element: &[u8], rows: &mut Rows) -> Result<(), String> {
        let text = String::from_utf8_lossy(element);
        let mut xml = quick_xml::Reader::from_str(&text);
        let mut open: Vec<Open<'_>> = Vec::new();
        let mut outermost = true;
        loop {
            let event = xml.read_event().map_err(|e| format!("well-formed XML ({e})"))?;
            match event {
                Event::Start(tag) if is_sample(tag.name().as_ref()) => {
                    nests(&mut open);
                    open.push(Open { tag, parent: false });
                }
                Event::Empty(tag) if is_sample(tag.name().as_ref()) => {
                    nests(&mut open);
                    self.sample(&tag, rows)?;
                }
                Event::Start(tag) | Event::Empty(tag) if outermost => {
                    return Err(format!("httpSample or sample, not {}", tag.name().as_ref()));
                }
                Event::End(tag) if is_sample(tag.name().as_ref()) => match open.pop() {
                    Some(Open { parent: true, .. }) => rows.leave_out("parents of nested samples"),
                    Some(Open { tag, .. }) => self.sample(&tag, rows)?,
                    None => {}
                },
                Event::Eof => return Ok(()),
                _ => {}
            }
            outermost = false;
        }
    }

    fn sample(&mut self, tag: &BytesStart<'_>, rows: &mut Rows) -> Result<(), String> {
        const SPAN: &str = "whole milliseconds from 0 to a day";
        const BYTES: &str = "a whole number";
        let a = Attributes::of(tag)?;
        let is = |name: &str, expected: &str| format!("{expected} as {name}");
        let sample = Sample {
            stamp: int(a.ts.as_bytes())
                .and_then(|ms| unix(ms.checked_mul(1_000_000)?))
                .ok_or_else(|| is("ts", EXPECTED))?,
            idle: span_or_none(a.it.as_bytes()).unwrap_or_default(),
            elapsed: span(a.t.as_bytes()).ok_or_else(|| is("t", SPAN))?,
            latency: match a.lt.as_bytes() {
                b"" => None,
                text => Some(span(text).ok_or_else(|| is("lt", SPAN))?),
            },
            connect: span_or_none(a.ct.as_bytes()).ok_or_else(|| is("ct", SPAN))?,
            label: a.lb.as_bytes(),
            code: a.rc.as_bytes(),
            message: a.rm.as_bytes(),
            failure: b"",
            thread: a.tn.as_ref().map(|name| name.as_bytes()),
            success: match &a.s {
                Some(text) => Some(truth(text.as_bytes()).ok_or_else(|| is("s", "true or false"))?),
                None => None,
            },
            bytes: bytes(a.by.as_deref().unwrap_or_default().as_bytes()).ok_or_else(|| is("by", BYTES))?,
            sent: bytes(a.sby.as_bytes()).ok_or_else(|| is("sby", BYTES))?,
            host: a.hn.as_bytes(),
        };
        self.users |= a.tn.is_some();
        self.bytes |= a.by.is_some();
        self.samples.push(&sample, rows);
        Ok(())
    }
}

/// Marks the innermost open sample as one with samples inside.
fn nests(open: &mut [Open<'_>]) {
    if let Some(around) = open.last_mut() {
        around.parent = true;
    }
}

fn is_sample(name: &str) -> bool {
    matches!(name, "httpSample" | "sample")
}

/// What is used of a sample's attributes, unescaped; empty where it is not there and need not be distinguished.
#[derive(Default)]
struct Attributes<'a> {
    t: Cow<'a, str>,
    lt: Cow<'a, str>,
    ct: Cow<'a, str>,
    it: Cow<'a, str>,
    ts: Cow<'a, str>,
    s: Option<Cow<'a, str>>,
    lb: Cow<'a, str>,
    rc: Cow<'a, str>,
    rm: Cow<'a, str>,
    tn: Option<Cow<'a, str>>,
    by: Option<Cow<'a, str>>,
    sby: Cow<'a, str>,
    hn: Cow<'a, str>,
}

impl<'a> Attributes<'a> {
    fn of(tag: &'a BytesStart<'_>) -> Result<Attributes<'a>, String> {
        let mut a = Attributes::default();
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|e| format!("attributes in quotes ({e})"))?;
            let value = plain(attribute.value);
            match attribute.key.as_ref() {
                "t" => a.t = value,
                "lt" => a.lt = value,
                "ct" => a.ct = value,
                "it" => a.it = value,
                "ts" => a.ts = value,
                "s" => a.s = Some(value),
                "lb" => a.lb = value,
                // JMeter before 2.3 wrote `rs`.
                "rc" | "rs" => a.rc = value,
                "rm" => a.rm = value,
                "tn" => a.tn = Some(value),
                "by" => a.by = Some(value),
                "sby" => a.sby = value,
                "hn" => a.hn = value,
                _ => {}
            }
        }
        Ok(a)
    }
}

/// Without entities; as it stands where they are none.
fn plain(value: Cow<'_, str>) -> Cow<'_, str> {
    if memchr(b'&', value.as_bytes()).is_none() {
        return value;
    }
    match unescape(&value) {
        Ok(text) => Cow::Owned(text.into_owned()),
        Err(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read, read_with};
    use headway_base::{Outcome, Stamp};
    use proptest::prelude::*;

    const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="24" it="0" lt="20" ct="17" ts="1795265845876" s="true" lb="a &amp; b" rc="200" rm="OK" tn="Users 1-4" by="81" sby="118" hn="vm">
  <java.net.URL>http://127.0.0.1/?a&amp;b</java.net.URL>
</httpSample>
<sample t="8" lt="0" ts="1795265841036" s="false" lb="visit" tn="Users 1-2">
  <assertionResult>
    <failure>false</failure>
  </assertionResult>
  <httpSample t="5" lt="5" ts="1795265841212" s="false" lb="home" rs="404" tn="Users 1-2"/>
  <sample t="3" ts="1795265841228" s="true" lb="search" tn="Users 1-2">
    <httpSample t="2" lt="2" ts="1795265841228" s="true" lb="search-0" tn="Users 1-2"></httpSample>
  </sample>
</sample>
</testResults>
"#;

    #[test]
    fn the_innermost_samples_are_the_requests() {
        let (rows, facts) = read(&JmeterXml, FILE);
        let [a, b, c] = rows.records[..] else { panic!("{rows:?}") };
        let start = Nanos::from_millis(1_795_265_845_876);
        let after = |ms| start + Nanos::from_millis(ms);
        assert_eq!((a.k, a.intended, a.started, a.sent), (0, start, start.into(), start.into()));
        assert_eq!(
            (a.first_byte, a.done, a.connect),
            (after(20).into(), after(24), Nanos::from_millis(17).into())
        );
        assert_eq!((a.bytes_received, a.bytes_sent, a.status, a.outcome), (81, 118, 200, Outcome::Ok));
        assert_eq!((b.k, b.status, b.outcome, b.connect), (1, 404, Outcome::Status, Stamp::NONE));
        assert_eq!((c.k, c.done - c.intended, c.outcome), (2, Nanos::from_millis(2), Outcome::Ok));
        assert_eq!(rows.tables.labels.as_slice(), ["a & b", "home", "search-0"]);
        assert_eq!(rows.tables.users.as_slice(), ["Users 1-4", "Users 1-2"]);
        assert_eq!(rows.tables.generators.as_slice(), ["vm"]);
        assert_eq!(rows.left_out, [("parents of nested samples", 2)]);
        assert_eq!((rows.unreadable, facts.users, facts.bytes), (0, true, true));
        assert_eq!((facts.format.as_str(), facts.stamps), ("JMeter XML", Stamps::Ambiguous));
    }

    #[test]
    fn a_transaction_beside_its_samples_is_left_out() {
        let sample = |ts: u64, lb: &str, rm: &str| {
            format!("<sample t=\"2\" ts=\"{ts}\" s=\"true\" lb=\"{lb}\" rm=\"{rm}\" tn=\"T\"/>\n")
        };
        let message = "Number of samples in transaction : 1, number of failing samples : 0";
        let text = sample(1_795_265_841_000, "a", "OK") + &sample(1_795_265_840_900, "visit", message);
        let (rows, _) = read(&JmeterXml, &text);
        assert_eq!(
            (rows.records.len(), rows.left_out),
            (1, vec![("transactions whose samples are rows too", 1)])
        );
    }

    #[test]
    fn samples_that_cannot_be_read() {
        let text = r#"<testResults>
<sample ts="1795265841036" t="1"/>
<sample ts="1795265841036"/>
<sample ts="17952658410" t="1"/>
<sample ts="1795265841036" t="1" s="yes"/>
<sample ts="1795265841036" t="1"><a></b></sample>
<other/>
<sample ts="1795265841036" t="2"/>
<sample ts="1795265841036" t="1">
  <a"#;
        let (rows, _) = read(&JmeterXml, text);
        assert_eq!(
            rows.records.iter().map(|r| (r.k, (r.done - r.intended).0)).collect::<Vec<_>>(),
            [(0, 1_000_000), (1, 2_000_000)]
        );
        assert_eq!(rows.unreadable, 6);
        let lines: Vec<_> = rows.examples.iter().map(|e| e.line).collect();
        assert_eq!(lines, [3, 4, 5, 6, 7]);
        let expected: Vec<_> = rows.examples.iter().map(|e| e.expected.as_str()).collect();
        assert_eq!(
            expected[..3],
            [
                "whole milliseconds from 0 to a day as t",
                "a time between 1990 and 2200 as ts",
                "true or false as s"
            ]
        );
        assert_eq!(expected[4], "httpSample or sample, not other");
    }

    proptest! {
        #[test]
        fn cuts_and_truncation(
            mut cuts in proptest::collection::vec(0usize..1400, 0..8),
            end in 0usize..1400,
        ) {
            cuts.sort_unstable();
            let text = &FILE.as_bytes()[..end.min(FILE.len())];
            let (whole, facts) = read_with(&JmeterXml, &Options::default(), text, &[]).unwrap();
            let (cut, cut_facts) = read_with(&JmeterXml, &Options::default(), text, &cuts).unwrap();
            prop_assert_eq!((cut.records, cut.examples, cut.left_out), (whole.records, whole.examples, whole.left_out));
            prop_assert_eq!(cut_facts, facts);
        }

        #[test]
        fn nothing_panics(text in "(<|>|/|\"|'|=|<!--|-->|\\?|<sample |ts=\"1795265841036\" |t=\"1\"|</sample>|\n| |a){0,40}", cut in 0usize..100) {
            let text = text.as_bytes();
            let (whole, _) = read_with(&JmeterXml, &Options::default(), text, &[]).unwrap();
            let (cut, _) = read_with(&JmeterXml, &Options::default(), text, &[cut]).unwrap();
            prop_assert_eq!((cut.records, cut.examples), (whole.records, whole.examples));
        }
    }
}
