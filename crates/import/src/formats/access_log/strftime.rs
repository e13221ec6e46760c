//! Times as strftime spells them, for Apache's `%{...}t` and Envoy's `%START_TIME(...)%`.

use super::moment::Notation;
use super::pattern::{Builder, Field, Wrong};

/// Adds the fields of a strftime pattern that is spelled at byte `at` of the format.
pub(super) fn compile(
    builder: &mut Builder,
    pattern: &str,
    field: fn(Notation) -> Field,
    at: usize,
) -> Result<(), Wrong> {
    let mut rest = pattern;
    while let Some(n) = rest.find('%') {
        builder.literal(&rest.as_bytes()[..n]);
        let item = &rest[n + 1..];
        let length = one(builder, item, field, at)?.ok_or_else(|| {
            let what = format!(
                "%{} is no part of a time that Headway knows; known are %Y %y %m %d %e %b %h %H %I %p %M %S %z %Z %s %T %R %D %F \
                 %f %1f to %9f %E1S to %E9S %Ez %%",
                item.chars().next().unwrap_or(' ')
            );
            Wrong { at, what }
        })?;
        rest = &item[length..];
    }
    builder.literal(rest.as_bytes());
    Ok(())
}

/// One item without its %; its length, none if it is not known.
fn one(
    builder: &mut Builder,
    item: &str,
    field: fn(Notation) -> Field,
    at: usize,
) -> Result<Option<usize>, Wrong> {
    let mut add = |notation| builder.field(field(notation), at);
    let fraction = |digit: u8| Notation::Fraction { digits: usize::from(digit - b'0') };
    match item.as_bytes() {
        [b'T', ..] => compile(builder, "%H:%M:%S", field, at)?,
        [b'R', ..] => compile(builder, "%H:%M", field, at)?,
        [b'D', ..] => compile(builder, "%m/%d/%y", field, at)?,
        [b'F', ..] => compile(builder, "%Y-%m-%d", field, at)?,
        [b's', ..] => add(Notation::Epoch { unit_ns: 1_000_000_000, decimals: false })?,
        [b'f', ..] => add(Notation::Fraction { digits: 9 })?,
        [digit @ b'1'..=b'9', b'f', ..] => {
            add(fraction(*digit))?;
            return Ok(Some(2));
        }
        [b'E', digit @ b'1'..=b'9', b'S', ..] => {
            add(Notation::Piece(b'S'))?;
            builder.literal(b".");
            builder.field(field(fraction(*digit)), at)?;
            return Ok(Some(3));
        }
        [b'E', b'z', ..] => {
            add(Notation::Piece(b'z'))?;
            return Ok(Some(2));
        }
        [b'e', ..] => add(Notation::Piece(b'd'))?,
        [b'h', ..] => add(Notation::Piece(b'b'))?,
        [
            letter @ (b'Y' | b'y' | b'm' | b'd' | b'b' | b'H' | b'I' | b'p' | b'M' | b'S' | b'z' | b'Z'),
            ..,
        ] => {
            add(Notation::Piece(*letter))?;
        }
        [b'%', ..] => builder.literal(b"%"),
        _ => return Ok(None),
    }
    Ok(Some(1))
}
