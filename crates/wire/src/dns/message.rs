//! Messages of DNS, as far as a load test needs them: a question as bytes, and of a response whether it is one, to this question, and
//! its code (RFC 1035, section 4).

use crate::connection::ProtocolError;
use std::ops::Range;

/// Types of records that have a name (RFC 1035, 2782, 3403, 3596, 4034, 6891, 8659, 9460); any other is `TYPE` and its number (RFC 3597).
const TYPES: [(&str, u16); 16] = [
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("SOA", 6),
    ("PTR", 12),
    ("MX", 15),
    ("TXT", 16),
    ("AAAA", 28),
    ("SRV", 33),
    ("NAPTR", 35),
    ("DS", 43),
    ("DNSKEY", 48),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("ANY", 255),
    ("CAA", 257),
];

const HEADER: usize = 12;
/// Where the header says how many questions follow.
const QUESTIONS: usize = 4;
/// Of the Internet.
const CLASS: u16 = 1;
/// Recursion is desired, as a stub resolver does.
const FLAGS: u16 = 0x0100;
const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 255;

/// What is no question.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum QuestionError {
    /// Neither one word nor two.
    #[error("'{0}' is no question: write a name and a type, as in example.com A")]
    Shape(String),
    /// No name.
    #[error("'{0}' is no name: labels of 1 to 63 ASCII characters, 255 in all")]
    Name(String),
    /// No type.
    #[error(
        "'{0}' is no type of record: write A, AAAA, MX, TXT, PTR, SRV, NS, SOA, CNAME, HTTPS, ANY, or TYPE and its number"
    )]
    Type(String),
}

/// The message that asks it, with the number 0: `NAME [TYPE]`, A where no type is given, as lines of dnsperf's files have it.
///
/// # Errors
/// What is no name, or no type.
pub fn question(text: &str) -> Result<Vec<u8>, QuestionError> {
    let mut words = text.split_ascii_whitespace();
    let (name, kind) = match (words.next(), words.next(), words.next()) {
        (Some(name), kind, None) => (name, kind.unwrap_or("A")),
        _ => return Err(QuestionError::Shape(text.to_owned())),
    };
    let upper = kind.to_ascii_uppercase();
    let known = TYPES.iter().find(|(name, _)| *name == upper).map(|&(_, number)| number);
    let number = known.or_else(|| upper.strip_prefix("TYPE")?.parse().ok());
    let number = number.ok_or_else(|| QuestionError::Type(kind.to_owned()))?;
    let bad = || QuestionError::Name(name.to_owned());
    let mut out = Vec::with_capacity(HEADER + name.len() + 6);
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&FLAGS.to_be_bytes());
    out.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
    let labels = name.strip_suffix('.').unwrap_or(name);
    for label in labels.split('.').filter(|_| name != ".") {
        let length = u8::try_from(label.len()).ok().filter(|&n| n >= 1 && usize::from(n) <= LONGEST_LABEL);
        if !label.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad());
        }
        out.push(length.ok_or_else(bad)?);
        out.extend_from_slice(label.as_bytes());
    }
    out.push(0);
    if out.len() - HEADER > LONGEST_NAME {
        return Err(bad());
    }
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&CLASS.to_be_bytes());
    Ok(out)
}

/// What an answer says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// Its code, 0 (NOERROR) to 15.
    pub rcode: u8,
    /// Whether the server cut it, for it did not fit into a datagram.
    pub truncated: bool,
}

/// Whether a message repeats one question, and another than the message `asked` holds: then it is no response to that (RFC 5452,
/// section 9.1).
pub fn is_to_another(response: &[u8], asked: &[u8]) -> bool {
    let range = question_at(response).filter(|_| word(response, QUESTIONS) == Some(1));
    range.is_some_and(|range| !same_question(&response[range], asked.get(HEADER..).unwrap_or_default()))
}

/// Reads a response, whatever it is to.
///
/// # Errors
/// It is no response, or shorter than it says. A truncated one may be shorter.
pub fn read(answer: &[u8]) -> Result<Read, ProtocolError> {
    let word = |at: usize| word(answer, at);
    let header = || Some([word(2)?, word(QUESTIONS)?, word(6)?, word(8)?, word(10)?]);
    let [flags, questions, answers, authorities, more] =
        header().ok_or(ProtocolError::Dns("it is shorter than a header"))?;
    if flags & 0x8000 == 0 {
        return Err(ProtocolError::Dns("it is a question"));
    }
    let read = Read { rcode: (flags & 0xf) as u8, truncated: flags & 0x0200 != 0 };
    let mut at = HEADER;
    match questions {
        1 => at = question_at(answer).ok_or(ProtocolError::Dns("its question is cut short"))?.end,
        // A server that cannot read a question does not repeat it.
        0 if read.rcode != 0 => {}
        _ => return Err(ProtocolError::Dns("it does not repeat the question")),
    }
    if read.truncated {
        return Ok(read);
    }
    for _ in 0..u32::from(answers) + u32::from(authorities) + u32::from(more) {
        at = record_end(answer, at).ok_or(ProtocolError::Dns("it is shorter than it says"))?;
    }
    Ok(read)
}

fn word(message: &[u8], at: usize) -> Option<u16> {
    message.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]))
}

/// Names may come back in other letters; type and class may not.
fn same_question(a: &[u8], b: &[u8]) -> bool {
    let (Some(end), true) = (a.len().checked_sub(4), a.len() == b.len()) else { return false };
    a[..end].eq_ignore_ascii_case(&b[..end]) && a[end..] == b[end..]
}

/// Where the question of a message is, its type and class included.
fn question_at(message: &[u8]) -> Option<Range<usize>> {
    let end = name_end(message, HEADER)? + 4;
    (end <= message.len()).then_some(HEADER..end)
}

/// Where the name that begins there ends. A pointer ends it (section 4.1.4), and is not followed.
fn name_end(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match usize::from(*message.get(at)?) {
            0 => return Some(at + 1),
            label @ 1..=LONGEST_LABEL => at += 1 + label,
            pointer if pointer >= 0xc0 => return (at + 2 <= message.len()).then_some(at + 2),
            _ => return None,
        }
    }
}

fn record_end(message: &[u8], at: usize) -> Option<usize> {
    let fixed = name_end(message, at)?;
    let length = message.get(fixed + 8..fixed + 10)?;
    let end = fixed + 10 + usize::from(u16::from_be_bytes([length[0], length[1]]));
    (end <= message.len()).then_some(end)
}
