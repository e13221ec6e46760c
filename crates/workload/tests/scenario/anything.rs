//! Any text at all is read or refused, and never breaks anything.

use crate::common::read_text;
use crate::examples;
use proptest::prelude::*;

/// Words that scenarios are made of, so that some of them get past the parser.
const WORDS: &[&str] = &[
    "users:",
    "arrive:",
    "closed:",
    "phases:",
    "journey:",
    "- get: /",
    "- ",
    "  ",
    "    ",
    "\n",
    "{ ",
    " }",
    "[",
    "]",
    "rate: 20/s",
    "hold: 1m",
    "ramp: 1s, to: 2/s",
    "think: exp(1s)",
    "json: ",
    "${HOST}",
    "${",
    "{{user.id}}",
    "{{",
    "&a",
    "*a",
    "<<: *a",
    "'",
    "\"",
    ": ",
    "|\n",
    "target: http://h",
    "repeat: 3",
    "choose:",
    "extract:",
    "expect:",
    "data:",
    "0",
    "-1",
    "1e999",
    ".inf",
    "null",
    "~",
    "!!str",
    "\u{feff}",
    "\t",
    "\r\n",
    "#",
    "\u{20ac}",
    "---\n",
    "model:",
    "models:",
    "parts: ",
    "to: a",
    "a: ",
    "{ to: a }",
    "{ service: 1ms }",
    "balancer: random",
    "pool: ",
    "retries: 3",
    "faults: ",
    "99999999999999999999",
];

fn survives(text: &str) {
    if let Err(diagnostics) = read_text(text) {
        let shown = diagnostics.to_string();
        assert!(diagnostics.len() > 0 && shown.contains("a.yaml:"), "{shown}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        assert_eq!(diagnostics.places().count(), diagnostics.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_text(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        survives(&words.concat());
    }

    #[test]
    fn examples_with_pieces_cut_out_or_put_in(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), cut in 0usize..12,
        word in prop::sample::select(WORDS),
    ) {
        let examples = examples::all();
        let text = &which.get(&examples).1;
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let head: String = chars[..at].iter().collect();
        let tail: String = chars[(at + cut).min(chars.len())..].iter().collect();
        survives(&format!("{head}{word}{tail}"));
    }
}
