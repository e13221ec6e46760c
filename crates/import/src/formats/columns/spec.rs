//! What `--columns` says: `start:s=ts,elapsed=4,label=name`. The layouts of known formats are spelled the same way.

use crate::Error;
use crate::stamps::{Day, Unit};

/// Name of the option, for messages.
const OPTION: &str = "--columns";

/// What a column can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Start,
    End,
    Elapsed,
    Intended,
    /// From the start to the first byte.
    FirstByte,
    Label,
    /// Method and path make the label where nothing else does; the path's query is cut off.
    Method,
    Path,
    Thread,
    Status,
    Success,
    /// What went wrong, beside a status that says whether something did.
    Error,
    Bytes,
    Sent,
    Generator,
    /// Method and path with a blank between them, and more behind.
    Request,
    /// What went wrong, and nothing where nothing did.
    Exception,
    /// A status, or what went wrong.
    Details,
    /// The request's number.
    Number,
    Connection,
    /// Until connected; zero where the connection was there.
    Connect,
    /// From the start to the first byte; zero where none came.
    Delay,
    /// Whose clock stamped it, `kernel` or `user`.
    Stamp,
}

/// What stands in the unit's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Written {
    /// A number.
    In(Unit),
    /// A date, and in which order if that is said.
    Iso,
    Date(Day),
    /// Seconds if the first has a point, else milliseconds.
    Pointed,
}

/// Which column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Column {
    /// Number from 1.
    Number(usize),
    /// Name in the header.
    Name(String),
}

/// One part of the option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub key: Key,
    pub written: Option<Written>,
    pub column: Column,
    /// As the user wrote it.
    pub text: String,
}

/// All of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spec {
    pub parts: Vec<Part>,
}

pub(super) const KEYS: [(&str, Key); 23] = [
    ("start", Key::Start),
    ("end", Key::End),
    ("elapsed", Key::Elapsed),
    ("intended", Key::Intended),
    ("first-byte", Key::FirstByte),
    ("label", Key::Label),
    ("method", Key::Method),
    ("path", Key::Path),
    ("thread", Key::Thread),
    ("status", Key::Status),
    ("success", Key::Success),
    ("error", Key::Error),
    ("bytes", Key::Bytes),
    ("sent", Key::Sent),
    ("generator", Key::Generator),
    ("request", Key::Request),
    ("exception", Key::Exception),
    ("details", Key::Details),
    ("number", Key::Number),
    ("connection", Key::Connection),
    ("connect", Key::Connect),
    ("delay", Key::Delay),
    ("stamp", Key::Stamp),
];

/// So many of them a user can name; the others are of known formats alone.
const OFFERED: usize = 15;

impl Key {
    /// Whether two columns can make one value.
    pub(super) fn takes_two(self) -> bool {
        matches!(self, Key::Start | Key::End | Key::Intended | Key::Label)
    }

    fn takes(self, written: Written) -> bool {
        match self {
            Key::Start | Key::End | Key::Intended => true,
            Key::Elapsed => matches!(written, Written::In(_) | Written::Pointed),
            Key::FirstByte | Key::Connect | Key::Delay => matches!(written, Written::In(_)),
            _ => false,
        }
    }
}

impl Spec {
    /// Reads the option.
    pub(super) fn parse(text: &str) -> Result<Spec, Error> {
        Spec::of(text, &KEYS[..OFFERED])
    }

    /// Reads the layout of a known format, which may have all keys.
    pub(super) fn known(text: &str) -> Result<Spec, Error> {
        Spec::of(text, &KEYS)
    }

    fn of(text: &str, keys: &[(&str, Key)]) -> Result<Spec, Error> {
        let mut parts: Vec<Part> = Vec::new();
        for part in text.split(',') {
            let part = parse_part(part.trim(), keys)?;
            if parts.iter().any(|other| other.key == part.key) {
                return Err(wrong(&part.text, "each column once"));
            }
            parts.push(part);
        }
        let spec = Spec { parts };
        match (spec.find(Key::Start), spec.find(Key::End), spec.find(Key::Elapsed)) {
            (None, None, _) => Err(wrong(text, "start=COLUMN, or end=COLUMN and elapsed=COLUMN")),
            (None, Some(_), None) => Err(wrong(text, "elapsed=COLUMN too: an end alone tells no start")),
            (Some(_), Some(_), Some(_)) => {
                Err(wrong(text, "two of start, end and elapsed: the third follows"))
            }
            _ => Ok(spec),
        }
    }

    /// The part for that key.
    pub(super) fn find(&self, key: Key) -> Option<&Part> {
        self.parts.iter().find(|part| part.key == key)
    }
}

fn parse_part(text: &str, keys: &[(&str, Key)]) -> Result<Part, Error> {
    let shape = || wrong(text, "KEY=COLUMN or KEY:UNIT=COLUMN, as in start:s=timestamp");
    let (what, column) = text.split_once('=').ok_or_else(shape)?;
    let (name, unit) = match what.split_once(':') {
        Some((name, unit)) => (name, Some(unit)),
        None => (what, None),
    };
    let key = keys.iter().find(|(known, _)| *known == name).map(|&(_, key)| key).ok_or_else(|| {
        let known: Vec<_> = keys.iter().map(|(name, _)| *name).collect();
        wrong(text, format!("one of {} before the =", known.join(", ")))
    })?;
    let written = match unit {
        None => None,
        Some("iso") => Some(Written::Iso),
        Some("dmy") => Some(Written::Date(Day::Dmy)),
        Some("mdy") => Some(Written::Date(Day::Mdy)),
        Some("pointed") => Some(Written::Pointed),
        Some(unit) => {
            let known = Unit::ALL.into_iter().find(|known| known.name() == unit);
            Some(Written::In(known.ok_or_else(|| wrong(text, "s, ms, us, ns, iso, dmy or mdy as the unit"))?))
        }
    };
    if written.is_some_and(|written| !key.takes(written)) {
        let expected = match key {
            Key::Elapsed | Key::FirstByte => "s, ms, us or ns as the unit",
            _ => "no unit: only start, end, intended, elapsed and first-byte have one",
        };
        return Err(wrong(text, expected));
    }
    let column = match column.parse() {
        _ if column.is_empty() => return Err(shape()),
        Ok(0) => return Err(wrong(text, "columns from 1")),
        Ok(number) => Column::Number(number),
        Err(_) => Column::Name(column.to_owned()),
    };
    Ok(Part { key, written, column, text: text.to_owned() })
}

/// The error of something in the option.
pub(super) fn wrong(value: &str, expected: impl Into<String>) -> Error {
    Error::Option { option: OPTION, value: value.to_owned(), expected: expected.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let spec = Spec::parse("start:s=ts, elapsed=4,label=a=b:c").unwrap();
        let part = |key, written, column, text: &str| Part { key, written, column, text: text.to_owned() };
        assert_eq!(
            spec.parts,
            [
                part(Key::Start, Some(Written::In(Unit::S)), Column::Name("ts".into()), "start:s=ts"),
                part(Key::Elapsed, None, Column::Number(4), "elapsed=4"),
                part(Key::Label, None, Column::Name("a=b:c".into()), "label=a=b:c"),
            ]
        );
        for yes in
            ["start=1", "end:iso=e,elapsed:us=d", "start=a,end=b", "intended:ns=1,first-byte:s=3,start=2"]
        {
            assert!(Spec::parse(yes).is_ok(), "{yes}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, expected) in [
            ("", "--columns \"\": KEY=COLUMN or KEY:UNIT=COLUMN"),
            ("start", "--columns \"start\": KEY=COLUMN"),
            ("start=", "\"start=\": KEY=COLUMN"),
            ("start=0", "\"start=0\": columns from 1"),
            (
                "begin=1",
                "\"begin=1\": one of start, end, elapsed, intended, first-byte, label, method, path, thread, status, success, error, \
                 bytes, sent, generator before the =",
            ),
            ("start:min=1", "\"start:min=1\": s, ms, us, ns, iso, dmy or mdy as the unit"),
            ("start=1,elapsed:iso=2", "\"elapsed:iso=2\": s, ms, us or ns as the unit"),
            ("start=1,label:ms=2", "\"label:ms=2\": no unit"),
            ("start=1,start=2", "\"start=2\": each column once"),
            ("label=1", "\"label=1\": start=COLUMN, or end=COLUMN and elapsed=COLUMN"),
            ("end=1", "\"end=1\": elapsed=COLUMN too"),
            ("start=1,end=2,elapsed=3", "two of start, end and elapsed"),
        ] {
            let message = Spec::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
