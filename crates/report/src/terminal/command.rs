//! A command over several lines that a POSIX shell still reads as the same command, so that it can be copied.
//!
//! Between words a backslash ends the line. A word that is too long by itself is cut with a backslash too, and goes on
//! in the first column; within single quotes the quotes are closed before the cut and opened after it.

use super::layout::columns;
use crate::format::visible;

/// Where in the shell's grammar a character stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Lines of at most `width` columns, the first with `indent` columns to its left already taken.
pub(super) fn fold(command: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    // Continued lines between words are indented like the first; those within a word must not be.
    let mut room = width - indent;
    for word in words(&visible(command)) {
        let gap = usize::from(!line.is_empty());
        // Two columns stay free for the backslash and the space before it.
        if !line.is_empty() && columns(&line) + gap + columns(&word) + 2 > room {
            line.push_str(" \\");
            lines.push(indented(&line, indent, lines.is_empty(), room < width));
            line = String::new();
            room = width - indent;
        } else if gap == 1 {
            line.push(' ');
        }
        for (piece, quote) in pieces(&word) {
            // A cut may need a quote and a backslash.
            if columns(&line) + columns(&piece) + 2 > room {
                line.push_str(if quote == Quote::Single { "'\\" } else { "\\" });
                lines.push(indented(&line, indent, lines.is_empty(), room < width));
                line = if quote == Quote::Single { "'".into() } else { String::new() };
                room = width;
            }
            line.push_str(&piece);
        }
    }
    lines.push(indented(&line, indent, lines.is_empty(), room < width));
    lines
}

fn indented(line: &str, indent: usize, first: bool, inset: bool) -> String {
    if first || !inset { line.to_owned() } else { " ".repeat(indent) + line }
}

/// Words as typed, with their quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (piece, quote) in pieces(command) {
        if quote == Quote::None && piece == " " {
            words.push(String::new());
        } else {
            words.last_mut().expect("there is always a word").push_str(&piece);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Characters (an escaped one together with its backslash), and the quotes that are open before each.
fn pieces(text: &str) -> Vec<(String, Quote)> {
    let mut quote = Quote::None;
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let before = quote;
        let mut piece = c.to_string();
        match (quote, c) {
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::None | Quote::Double, '\\') => piece.extend(chars.next()),
            _ => {}
        }
        out.push((piece, before));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shell makes of folded lines: backslash-newline vanishes, `''` within a word adds nothing.
    fn unfolded(lines: &[String]) -> String {
        lines.join("\n").replace("'\\\n'", "").replace("\\\n", "")
    }

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_short_command_stays_as_it_is() {
        assert_eq!(fold("headway run http://x -R 50/s", 80, 4), ["headway run http://x -R 50/s"]);
    }

    #[test]
    fn folding_keeps_the_command() {
        let long = "y".repeat(150);
        for command in [
            format!("headway run http://host/{long} -H 'A: {long} b' --threshold \"p(99) < {long}\" -R 5"),
            "headway run http://127.0.0.1:8080/ -R 10k/s -d 60s --arrivals poisson -c 100 --seed 42 --threads 2".into(),
            format!("headway run {}", "\\ ".repeat(100)),
        ] {
            let lines = fold(&command, 80, 4);
            assert!(lines.len() > 1);
            assert_eq!(squeezed(&unfolded(&lines)), squeezed(&command));
            for (i, line) in lines.iter().enumerate() {
                let width = if i == 0 { 76 } else { 80 };
                assert!(columns(line) <= width, "{line}");
                assert_eq!(i + 1 < lines.len(), line.ends_with('\\'), "{line}");
            }
        }
    }
}
