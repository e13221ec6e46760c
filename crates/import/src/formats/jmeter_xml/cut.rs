//! Cuts JMeter's XML into what stands at its top: whole samples, however deep they nest, without a tree and without
//! waiting for the end of the file.
//!
//! Only brackets and quotes are looked at here. What is in an element, and whether its names match, is seen by the
//! caller.

use memchr::{memchr, memchr2, memchr3, memmem};

/// An element may be so long (answers can be in it); what is longer has lost its end.
const LONGEST: usize = 16 << 20;
/// Names that begin a line where something of the top level begins.
const AT_THE_TOP: [&[u8]; 5] = [b"httpSample", b"sample", b"testResults", b"/testResults", b"?xml"];

/// One piece of a block, from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece<'a> {
    /// White space, the prolog, comments, the brackets around everything: so many bytes.
    Nothing(usize),
    /// A whole element.
    Element(&'a [u8]),
    /// Something that is no element, or one that breaks off; so many bytes, up to where the next may begin.
    Broken(&'a [u8]),
    /// Too few bytes to tell.
    Incomplete,
}

/// The first piece of `bytes`, which are not empty. `last`: nothing follows.
pub(super) fn first(bytes: &[u8], last: bool) -> Piece<'_> {
    let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    if blank > 0 {
        return Piece::Nothing(blank);
    }
    match scan(bytes, last) {
        Scan::Nothing(n) => Piece::Nothing(n),
        Scan::Element(n) => Piece::Element(&bytes[..n]),
        Scan::Incomplete if !last && bytes.len() < LONGEST => Piece::Incomplete,
        Scan::Incomplete | Scan::Broken => match next_at_the_top(bytes, last) {
            Some(n) => Piece::Broken(&bytes[..n]),
            None => Piece::Incomplete,
        },
    }
}

enum Scan {
    Nothing(usize),
    Element(usize),
    Broken,
    Incomplete,
}

fn scan(bytes: &[u8], last: bool) -> Scan {
    let last = last && bytes.len() <= LONGEST;
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let mut at = 0;
    let mut depth = 0_u32;
    loop {
        let Some(open) = memchr(b'<', &bytes[at..]) else { return Scan::Incomplete };
        if depth == 0 && open > 0 {
            return Scan::Broken;
        }
        at += open;
        let Some((length, tag)) = tag(&bytes[at..], last) else { return Scan::Incomplete };
        at += length;
        match tag {
            Tag::Frame | Tag::Aside if depth == 0 => return Scan::Nothing(at),
            Tag::Aside => {}
            Tag::Frame | Tag::Broken => return Scan::Broken,
            Tag::Close if depth == 0 => return Scan::Broken,
            Tag::Close => depth -= 1,
            Tag::Open => depth += 1,
            Tag::Empty => {}
        }
        if depth == 0 {
            return Scan::Element(at);
        }
    }
}

enum Tag {
    Open,
    Close,
    Empty,
    /// A comment, or text taken literally.
    Aside,
    /// What stands around all samples: found inside of one, that one has lost its end.
    Frame,
    /// An attribute without its closing quote.
    Broken,
}

/// The tag at the beginning of `bytes` and its length; none if its end is not there.
fn tag(bytes: &[u8], last: bool) -> Option<(usize, Tag)> {
    const PREFIX: usize = b"<![CDATA[".len();
    if bytes.len() < PREFIX && !last {
        return None;
    }
    let until = |end: &[u8]| memmem::find(bytes, end).map(|at| at + end.len());
    if bytes.starts_with(b"<!--") {
        return until(b"-->").map(|n| (n, Tag::Aside));
    }
    if bytes.starts_with(b"<![CDATA[") {
        return until(b"]]>").map(|n| (n, Tag::Aside));
    }
    if bytes.starts_with(b"<?") || bytes.starts_with(b"<!") {
        return until(b">").map(|n| (n, Tag::Frame));
    }
    let mut at = 1;
    let end = loop {
        let found = at + memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        match bytes[found] {
            b'>' => break found,
            quote => {
                let value = &bytes[found + 1..];
                let end = memchr2(quote, b'<', value)?;
                if value[end] == b'<' {
                    return Some((found, Tag::Broken));
                }
                at = found + 1 + end + 1;
            }
        }
    };
    let inside = &bytes[1..end];
    let name = inside.strip_prefix(b"/").unwrap_or(inside);
    let tag = match inside {
        _ if name.starts_with(b"testResults") => Tag::Frame,
        [b'/', ..] => Tag::Close,
        [.., b'/'] => Tag::Empty,
        _ => Tag::Open,
    };
    Some((end + 1, tag))
}

/// Where, after the first byte, the next thing of the top level may begin: JMeter begins a line with it, and indents what
/// is inside. The end if nothing does; none if that is not known yet.
fn next_at_the_top(bytes: &[u8], last: bool) -> Option<usize> {
    const LONGEST_NAME: usize = b"/testResults".len();
    for feed in memmem::find_iter(bytes, b"\n<") {
        let name = &bytes[feed + 2..];
        if AT_THE_TOP.iter().any(|top| name.starts_with(top)) {
            return Some(feed + 1);
        }
        if name.len() < LONGEST_NAME && !last {
            return None;
        }
    }
    last.then_some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces, `-` for nothing, `!` before broken ones.
    fn pieces(text: &str) -> Vec<String> {
        let mut rest = text.as_bytes();
        let mut out = Vec::new();
        while !rest.is_empty() {
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let taken = match first(rest, true) {
                Piece::Nothing(n) => n,
                Piece::Element(element) => {
                    out.push(shown(element));
                    element.len()
                }
                Piece::Broken(bytes) => {
                    out.push(format!("!{}", shown(bytes)));
                    bytes.len()
                }
                Piece::Incomplete => panic!("nothing follows {:?}", shown(rest)),
            };
            rest = &rest[taken..];
        }
        out
    }

    #[test]
    fn pieces_are_cut() {
        for (text, expected) in [
            (
                "<?xml version='1.0'?>\n<!DOCTYPE a><testResults a=\"b\"> <!-- <a> --> </testResults>\n",
                &[][..],
            ),
            ("<sample/><sample a='/>' b=\">\"/>", &["<sample/>", "<sample a='/>' b=\">\"/>"]),
            (
                "<a><b/><c>x<![CDATA[</a>]]><!-- </a> --></c></a>\n<d/>",
                &["<a><b/><c>x<![CDATA[</a>]]><!-- </a> --></c></a>", "<d/>"],
            ),
            // Broken off, and another file behind it.
            (
                "<sample>\n  <sample/>\n<?xml ?>\n<sample a=''/>",
                &["!<sample>\n  <sample/>\n", "<sample a=''/>"],
            ),
            ("<sample a=\"x\n<sample b='1'/>", &["!<sample a=\"x\n", "<sample b='1'/>"]),
            ("<sample>\n<httpSample/>\n</testResults>", &["!<sample>\n", "<httpSample/>"]),
            ("</sample>text\n<sample/>\n<sam", &["!</sample>text\n", "<sample/>", "!<sam"]),
        ] {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    #[test]
    fn it_waits_for_more() {
        let text = b"<sample a='>'><b c=\"d\"/><!-- x --></sample>";
        for n in 1..text.len() {
            assert_eq!(first(&text[..n], false), Piece::Incomplete, "{n}");
        }
        assert_eq!(first(text, true), Piece::Element(text));
        assert_eq!(first(b"<sample/>", true), Piece::Element(b"<sample/>"));
    }

    #[test]
    fn an_element_without_an_end_is_given_up() {
        let mut text = b"<sample>\n<sample/>\n".to_vec();
        text.resize(LONGEST, b' ');
        assert_eq!(first(&text[..LONGEST - 1], false), Piece::Incomplete);
        assert_eq!(first(&text, false), Piece::Broken(b"<sample>\n"));
    }
}
