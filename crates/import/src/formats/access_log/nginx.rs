//! nginx's `log_format` strings. Both clocks, `$time_local` and `$msec`, are read when the line is written, after the
//! answer (tried with 1.22.1: a request of 2.5 s is stamped with its end).

use super::moment::Notation;
use super::pattern::{Builder, Field, Pattern, Wrong};

pub(super) fn compile(format: &str) -> Result<Pattern, Wrong> {
    let mut builder = Builder::default();
    let mut at = 0;
    while let Some(n) = format[at..].find('$') {
        builder.literal(&format.as_bytes()[at..at + n]);
        at += n;
        let (name, length) = name(&format[at..])
            .ok_or_else(|| Wrong { at, what: "a $ without the name of a variable".into() })?;
        builder.field(field(name), at)?;
        at += length;
    }
    builder.literal(&format.as_bytes()[at..]);
    Ok(builder.finish())
}

/// `$name` or `${name}` at the beginning of `text`: the name, and how long it is with all that is around it.
fn name(text: &str) -> Option<(&str, usize)> {
    let rest = &text[1..];
    let (rest, around) = rest.strip_prefix('{').map_or((rest, 1), |rest| (rest, 3));
    let n = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let closed = around == 1 || rest[n..].starts_with('}');
    (n > 0 && closed).then(|| (&rest[..n], n + around))
}

/// nginx lets modules add variables: what is not known is skipped.
fn field(name: &str) -> Field {
    const S: i64 = 1_000_000_000;
    match name {
        "time_local" => Field::Ended(Notation::Clf),
        "time_iso8601" => Field::Ended(Notation::Iso),
        "msec" => Field::Ended(Notation::Epoch { unit_ns: S, decimals: true }),
        "request_time" => Field::Took { unit_ns: S },
        "request" => Field::RequestLine,
        "request_method" => Field::Method,
        "uri" | "request_uri" | "document_uri" => Field::Path,
        "status" => Field::Status,
        "bytes_sent" => Field::BytesOut,
        "body_bytes_sent" => Field::BodyBytesOut,
        "request_length" => Field::BytesIn,
        "connection" => Field::Connection,
        "connection_requests" => Field::RequestsOnConnection,
        _ => Field::Skipped,
    }
}
