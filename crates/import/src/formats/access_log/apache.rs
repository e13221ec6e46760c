//! Apache's `LogFormat` strings (mod_log_config, mod_logio). `%t` and its kind tell when the request was received unless
//! they say `end:` (tried with 2.4.71: a request of 2.5 s is stamped with its start; `%{end:usec}t` is `%{usec}t` + `%D`).

use super::moment::Notation;
use super::pattern::{Builder, Field, Pattern, Wrong};
use super::strftime;

const S: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;
const US: i64 = 1000;

/// Directives of one letter that hold nothing of interest.
const SKIPPED: &str = "aACefhilLnopPRSuvV";

const KNOWN: &str = "known are %a %A %b %B %C %D %e %f %h %H %i %I %k %l %L %m %n %o %O %p %P %q %r %R %s %S %t %T %u %U %v %V \
                     %X %^FB %^ti %^to";

pub(super) fn compile(format: &str) -> Result<Pattern, Wrong> {
    let mut builder = Builder::default();
    let mut at = 0;
    while let Some(n) = format[at..].find('%') {
        builder.literal(&format.as_bytes()[at..at + n]);
        at += n;
        let length = directive(&mut builder, &format[at..], at)?;
        at += length;
    }
    builder.literal(&format.as_bytes()[at..]);
    Ok(builder.finish())
}

/// The directive at the beginning of `text`, which is byte `at` of the format; how long it is.
fn directive(builder: &mut Builder, text: &str, at: usize) -> Result<usize, Wrong> {
    let wrong = |what: String| Wrong { at, what };
    // Conditions (`%!200,304{...}i`) and which request of a redirected one (`%>s`).
    let modifiers = text[1..].find(|c: char| !(c.is_ascii_digit() || "!,<>".contains(c)));
    let mut next = 1 + modifiers.ok_or_else(|| wrong("a % without a directive".into()))?;
    let mut argument = "";
    if text[next..].starts_with('{') {
        let n = text[next..].find('}').ok_or_else(|| wrong("a { that is not closed".into()))?;
        argument = &text[next + 1..next + n];
        next += n + 1;
    }
    let letters = if text[next..].starts_with('^') { 3 } else { 1 };
    let unknown = || {
        wrong(format!(
            "{:?} is no directive that Headway knows; {KNOWN}",
            text.chars().take(next + letters).collect::<String>()
        ))
    };
    let name = text.get(next..next + letters).ok_or_else(unknown)?;
    let field = match name {
        "%" => {
            builder.literal(b"%");
            return Ok(next + letters);
        }
        "t" => {
            time(builder, argument, at)?;
            return Ok(next + letters);
        }
        "T" => Field::Took {
            unit_ns: span_unit(argument)
                .ok_or_else(|| wrong(format!("%{{{argument}}}T: the units are s, ms and us")))?,
        },
        "D" => Field::Took { unit_ns: US },
        "r" => Field::RequestLine,
        "m" => Field::Method,
        "U" => Field::Path,
        "q" => Field::Skipped,
        "s" => Field::Status,
        "O" => Field::BytesOut,
        "b" | "B" => Field::BodyBytesOut,
        "I" => Field::BytesIn,
        "k" => Field::RequestsBefore,
        "X" => Field::ClosedHow,
        "H" => Field::Skipped,
        "^FB" => Field::FirstByte { unit_ns: US },
        "^ti" | "^to" => Field::Skipped,
        letter if SKIPPED.contains(letter) => Field::Skipped,
        _ => return Err(unknown()),
    };
    builder.field(field, at)?;
    Ok(next + letters)
}

fn span_unit(argument: &str) -> Option<i64> {
    match argument {
        "" | "s" => Some(S),
        "ms" => Some(MS),
        "us" => Some(US),
        _ => None,
    }
}

fn time(builder: &mut Builder, argument: &str, at: usize) -> Result<(), Wrong> {
    let (argument, field): (&str, fn(Notation) -> Field) = match argument.strip_prefix("end:") {
        Some(argument) => (argument, Field::Ended),
        None => (argument.strip_prefix("begin:").unwrap_or(argument), Field::Started),
    };
    let epoch = |unit_ns| Notation::Epoch { unit_ns, decimals: false };
    let notation = match argument {
        "" => {
            builder.literal(b"[");
            builder.field(field(Notation::Clf), at)?;
            builder.literal(b"]");
            return Ok(());
        }
        "sec" => epoch(S),
        "msec" => epoch(MS),
        "usec" => epoch(US),
        "msec_frac" => Notation::Fraction { digits: 3 },
        "usec_frac" => Notation::Fraction { digits: 6 },
        pattern => return strftime::compile(builder, pattern, field, at),
    };
    builder.field(field(notation), at)
}
