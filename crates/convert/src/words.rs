//! Takes a command apart as bash does, as far as a copied command goes: quotes of all three kinds (`'...'`, `"..."`,
//! `$'...'` with its escapes), backslashes, continued lines, comments.
//!
//! What would need a shell (variables, substitutions, pipes) is refused with its place, and so is the quoting of Windows'
//! cmd.exe: guessing there would send another request than the one that was copied.

use anyhow::{Result, bail};
use std::iter::Peekable;
use std::str::Chars;

/// The words of a command, as bytes: `$'\xff'` is one.
pub(super) fn split(command: &str) -> Result<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '\n' => {
                words.extend(word.take());
                if chars.clone().any(|c| !c.is_whitespace()) && !words.is_empty() {
                    bail!(
                        "a second line follows the command: give one command, or end the line with \\ where it goes on"
                    );
                }
            }
            '#' if word.is_none() => while chars.next_if(|&c| c != '\n').is_some() {},
            '\'' => single(&mut chars, word.get_or_insert_default())?,
            '"' => double(&mut chars, word.get_or_insert_default())?,
            '$' if chars.next_if_eq(&'\'').is_some() => ansi_c(&mut chars, word.get_or_insert_default())?,
            '$' if chars.next_if_eq(&'"').is_some() => double(&mut chars, word.get_or_insert_default())?,
            '$' if expands(chars.peek()) => bail!(variable(&chars)),
            '\\' => match chars.next() {
                Some('\n') => {}
                Some('\r') if chars.next_if_eq(&'\n').is_some() => {}
                Some(c) => push(c, word.get_or_insert_default()),
                None => bail!("the command ends with a backslash: something is missing after it"),
            },
            '^' if chars.peek().is_none_or(|c| ['"', '\n', '\r', '^'].contains(c)) => bail!(
                "this command is quoted for Windows' cmd.exe (^): copy it with \"Copy as cURL (bash)\", which is what is read here"
            ),
            '`' => bail!(
                "a ` outside quotes: the shell would run a command here (or PowerShell would go on with the line); copy the command with \"Copy as cURL (bash)\", or put the text in single quotes"
            ),
            '|' | ';' | '&' | '<' | '>' | '(' | ')' => bail!(
                "a {c} outside quotes: give the command alone, without pipes or redirections, and put a URL with {c} in quotes"
            ),
            c => push(c, word.get_or_insert_default()),
        }
    }
    words.extend(word);
    Ok(words)
}

fn push(c: char, word: &mut Vec<u8>) {
    word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Whether a shell would put something else in the place of a `$` before this.
fn expands(next: Option<&char>) -> bool {
    next.is_some_and(|c| c.is_ascii_alphanumeric() || "_{(?@*#!-$".contains(*c))
}

fn variable(rest: &Peekable<Chars>) -> String {
    let name: String =
        rest.clone().take_while(|c| c.is_ascii_alphanumeric() || "_{}".contains(*c)).take(40).collect();
    format!(
        "${name}: variables of the shell are not known here; let the shell replace them (headway from-curl -- curl ...), or put the text in single quotes and write ${{NAME}} into the scenario afterwards"
    )
}

fn single(chars: &mut Peekable<Chars>, word: &mut Vec<u8>) -> Result<()> {
    for c in chars {
        if c == '\'' {
            return Ok(());
        }
        push(c, word);
    }
    bail!("a ' is not closed")
}

fn double(chars: &mut Peekable<Chars>, word: &mut Vec<u8>) -> Result<()> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(c @ ('$' | '`' | '"' | '\\')) => push(c, word),
                Some(c) => {
                    word.push(b'\\');
                    push(c, word);
                }
                None => break,
            },
            '$' if expands(chars.peek()) => bail!(variable(chars)),
            '`' => bail!(
                "a ` in double quotes: the shell would run a command here; put the text in single quotes"
            ),
            c => push(c, word),
        }
    }
    bail!("a \" is not closed")
}

/// The inside of `$'...'` (bash's manual, 3.1.2.4).
fn ansi_c(chars: &mut Peekable<Chars>, word: &mut Vec<u8>) -> Result<()> {
    while let Some(c) = chars.next() {
        if c == '\'' {
            return Ok(());
        }
        if c != '\\' {
            push(c, word);
            continue;
        }
        let Some(escape) = chars.next() else { break };
        match escape {
            'a' => word.push(0x07),
            'b' => word.push(0x08),
            'e' | 'E' => word.push(0x1b),
            'f' => word.push(0x0c),
            'n' => word.push(b'\n'),
            'r' => word.push(b'\r'),
            't' => word.push(b'\t'),
            'v' => word.push(0x0b),
            '\\' | '\'' | '"' | '?' => push(escape, word),
            '0'..='7' => {
                let mut code = escape.to_digit(8).unwrap_or_default();
                code = digits(chars, 8, 2, code).0;
                word.push(code as u8);
            }
            'x' | 'u' | 'U' => {
                let most = match escape {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                match digits(chars, 16, most, 0) {
                    // As it stands, like in bash.
                    (_, 0) => word.extend([b'\\', escape as u8]),
                    (code, _) if escape == 'x' => word.push(code as u8),
                    (code, _) => match char::from_u32(code) {
                        Some(c) => push(c, word),
                        None => surrogate(code, chars, word)?,
                    },
                }
            }
            'c' => match chars.next() {
                Some(c) if c.is_ascii() => word.push(c as u8 & 0x1f),
                _ => bail!("\\c in $'...' without an ASCII character after it"),
            },
            other => {
                word.push(b'\\');
                push(other, word);
            }
        }
    }
    bail!("a $' is not closed")
}

/// Browsers write what lies beyond U+FFFF as the two halves that JavaScript has of it.
fn surrogate(high: u32, chars: &mut Peekable<Chars>, word: &mut Vec<u8>) -> Result<()> {
    let mut ahead = chars.clone();
    if (0xd800..0xdc00).contains(&high) && ahead.next() == Some('\\') && ahead.next() == Some('u') {
        let (low, n) = digits(&mut ahead, 16, 4, 0);
        if n == 4
            && (0xdc00..0xe000).contains(&low)
            && let Some(c) = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
        {
            *chars = ahead;
            push(c, word);
            return Ok(());
        }
    }
    bail!("\\u{high:04x} in $'...' is no character")
}

/// Up to `most` digits after what there is already, and how many there were.
fn digits(chars: &mut Peekable<Chars>, radix: u32, most: usize, begun: u32) -> (u32, usize) {
    let (mut code, mut n) = (begun, 0);
    while n < most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
    {
        chars.next();
        code = code.wrapping_mul(radix).wrapping_add(digit);
        n += 1;
    }
    (code, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        split(command).unwrap().into_iter().map(|w| String::from_utf8(w).unwrap()).collect()
    }

    #[test]
    fn words_are_bash_s() {
        for (command, expected) in [
            ("curl  a\tb ", &["curl", "a", "b"][..]),
            ("curl 'a b' \"c 'd\" e\\ f", &["curl", "a b", "c 'd", "e f"]),
            ("curl \\\n  -H 'A: b' \\\r\n  'x'\n", &["curl", "-H", "A: b", "x"]),
            ("curl ''\"\" a''b", &["curl", "", "ab"]),
            (r#""a\"b\\c\d\$e""#, &[r#"a"b\c\d$e"#]),
            (r"'it'\''s'", &["it's"]),
            (r"$'it\'s \u0021\n\x41\101\cA\q\?'", &["it's !\nAA\u{1}\\q?"]),
            (r"$'\ud83d\ude00\U0001F600\u00e9\x'", &["\u{1f600}\u{1f600}\u{e9}\\x"]),
            ("curl a # the rest\n", &["curl", "a"]),
            ("curl a#b", &["curl", "a#b"]),
            ("5$ $", &["5$", "$"]),
            ("a^b ^c", &["a^b", "^c"]),
        ] {
            assert_eq!(words(command), expected, "{command}");
        }
        assert_eq!(split(r"$'\xff\377\0'").unwrap(), [vec![0xff, 0xff, 0]]);
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        for (command, says) in [
            ("curl ^\"http://a^\" ^\n -H ^\"x^\"", "cmd.exe"),
            ("curl http://a ^\r\n -H x", "cmd.exe"),
            ("curl http://a/?b=1&c=2", "in quotes"),
            ("curl a | jq .", "without pipes"),
            ("curl a > f", "redirections"),
            ("curl -H \"A: $TOKEN\"", "$TOKEN"),
            ("curl ${HOST}/a", "${HOST}"),
            ("curl `date`", "single quotes"),
            ("curl 'a", "not closed"),
            ("curl \"a\\", "not closed"),
            ("curl $'a\\'", "not closed"),
            ("curl $'\\ud83d'", "no character"),
            ("curl a\ncurl b", "second line"),
            ("curl a\\", "backslash"),
        ] {
            let error = split(command).unwrap_err().to_string();
            assert!(error.contains(says), "{command}: {error}");
        }
    }
}
