//! Envoy's format strings. `%START_TIME%` is when the request's first byte came, `%DURATION%` the milliseconds from there
//! to the last byte sent.

use super::moment::Notation;
use super::pattern::{Builder, Field, Pattern, Wrong};
use super::strftime;

const MS: i64 = 1_000_000;

pub(super) fn compile(format: &str) -> Result<Pattern, Wrong> {
    let mut builder = Builder::default();
    let mut at = 0;
    while let Some(n) = format[at..].find('%') {
        builder.literal(&format.as_bytes()[at..at + n]);
        at += n;
        if format[at..].starts_with("%%") {
            builder.literal(b"%");
            at += 2;
            continue;
        }
        let command = command(&format[at..]).ok_or_else(|| Wrong {
            at,
            what: "expected a command between two %, such as %START_TIME% or %REQ(:METHOD)%".into(),
        })?;
        field(&mut builder, &command, at)?;
        at += command.length;
    }
    builder.literal(&format.as_bytes()[at..]);
    Ok(builder.finish())
}

/// Whether there is a command in the format: what tells Envoy's strings from Apache's.
pub(super) fn is_spoken(format: &str) -> bool {
    format.match_indices('%').any(|(at, _)| command(&format[at..]).is_some())
}

struct Command<'a> {
    name: &'a str,
    arguments: &'a str,
    length: usize,
}

/// `%NAME%`, `%NAME(arguments)%`, `%NAME(arguments):40%`. Apache's `%U%q` has no name of two letters between its %.
fn command(text: &str) -> Option<Command<'_>> {
    let rest = text.strip_prefix('%')?;
    let n = rest
        .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
        .filter(|&n| n > 1)?;
    let (name, mut rest) = rest.split_at(n);
    let mut arguments = "";
    if let Some(inner) = rest.strip_prefix('(') {
        let close = inner.match_indices(')').find(|(i, _)| inner[i + 1..].starts_with(['%', ':']))?.0;
        arguments = &inner[..close];
        rest = &inner[close + 1..];
    }
    if let Some(length) = rest.strip_prefix(':') {
        rest = length.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let rest = rest.strip_prefix('%')?;
    Some(Command { name, arguments, length: text.len() - rest.len() })
}

fn field(builder: &mut Builder, command: &Command<'_>, at: usize) -> Result<(), Wrong> {
    let header = command.arguments.to_ascii_uppercase();
    let field = match command.name {
        "START_TIME" | "START_TIME_LOCAL" => return time(builder, command.arguments, Field::Started, at),
        "EMIT_TIME" | "EMIT_TIME_LOCAL" => return time(builder, command.arguments, Field::Ended, at),
        "DURATION" => Field::Took { unit_ns: MS },
        "COMMON_DURATION" => whole_duration(command.arguments),
        "REQ" | "REQUEST_HEADER" if header == ":METHOD" => Field::Method,
        "REQ" | "REQUEST_HEADER" if header.ends_with(":PATH") => Field::Path,
        "PATH" => Field::Path,
        "RESPONSE_CODE" => Field::Status,
        "BYTES_SENT" => Field::BodyBytesOut,
        "BYTES_RECEIVED" => Field::BytesIn,
        "CONNECTION_ID" => Field::Connection,
        // Extensions add commands: what is not known is skipped.
        _ => Field::Skipped,
    };
    builder.field(field, at)
}

fn time(builder: &mut Builder, pattern: &str, field: fn(Notation) -> Field, at: usize) -> Result<(), Wrong> {
    if pattern.is_empty() {
        return builder.field(field(Notation::Iso), at);
    }
    strftime::compile(builder, pattern, field, at)
}

/// The span between the first byte received and the last byte sent, if the command is about these two.
fn whole_duration(arguments: &str) -> Field {
    match arguments.split(':').collect::<Vec<_>>()[..] {
        ["DS_RX_BEG", "DS_TX_END", unit] => match unit {
            "us" => Field::Took { unit_ns: 1000 },
            "ns" => Field::Took { unit_ns: 1 },
            _ => Field::Took { unit_ns: MS },
        },
        _ => Field::Skipped,
    }
}
