//! HAProxy's HTTP log (`option httplog`), behind whatever syslog puts before it. The stamp is when the request came: the accept date,
//! or since 1.7 that of the request; the last of the five timers is the time until its last byte was sent. HAProxy writes neither a
//! zone nor more than milliseconds.

use super::pattern::{Builder, Field, Pattern, Wrong};
use super::strftime;

const MS: i64 = 1_000_000;

/// `client [14/Nov/2023:22:13:20.015] frontend backend/server 0/0/1/2/3 200 366 - - ---- 2/1/0/0/0 0/0 {headers} "GET /cart HTTP/1.1"`.
pub(super) fn compile() -> Result<Pattern, Wrong> {
    let mut builder = Builder::default();
    builder.field(Field::Skipped, 0)?;
    builder.literal(b" [");
    strftime::compile(&mut builder, "%d/%b/%Y:%H:%M:%S.%3f", Field::Started, 0)?;
    builder.literal(b"] ");
    // Frontend, backend and server.
    builder.field(Field::Skipped, 0)?;
    builder.literal(b" ");
    builder.field(Field::Skipped, 0)?;
    builder.literal(b" ");
    for _ in 0..4 {
        builder.field(Field::Timer, 0)?;
        builder.literal(b"/");
    }
    builder.field(Field::Took { unit_ns: MS }, 0)?;
    builder.literal(b" ");
    builder.field(Field::Status, 0)?;
    builder.literal(b" ");
    builder.field(Field::BytesOut, 0)?;
    builder.literal(b" ");
    // Cookies, how the session ended, counts, queues, captured headers.
    builder.field(Field::Skipped, 0)?;
    builder.literal(b" \"");
    builder.field(Field::RequestLine, 0)?;
    builder.literal(b"\"");
    Ok(builder.finish())
}
