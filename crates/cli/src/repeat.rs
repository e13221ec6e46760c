//! The command line as it is written down and shown: secrets replaced, seed added, quoted so that a shell takes it.

use std::ffi::OsString;
use workload::request::{REDACTED, redact_header};
use workload::target::redact_url;

/// The words of the command line, secrets replaced.
pub fn words(argv: &[OsString]) -> Vec<String> {
    let mut out = Vec::with_capacity(argv.len());
    let mut header_next = false;
    let mut body_next = false;
    for (i, word) in argv.iter().map(|w| w.to_string_lossy()).enumerate() {
        let shown = if i == 0 {
            "headway".to_owned()
        } else if std::mem::take(&mut header_next) {
            redact_header(&word)
        } else if std::mem::take(&mut body_next) {
            REDACTED.to_owned()
        } else if let Some(header) = word.strip_prefix("--header=") {
            format!("--header={}", redact_header(header))
        } else if word.starts_with("--body=") {
            format!("--body={REDACTED}")
        } else if word.starts_with("-b") && word.len() > 2 && !word.starts_with("--") {
            format!("-b{REDACTED}")
        } else if let Some(header) = word.strip_prefix("-H").filter(|h| !h.is_empty()) {
            format!("-H{}", redact_header(header))
        } else {
            redact_url(&word)
        };
        header_next = matches!(&*word, "-H" | "--header");
        body_next = matches!(&*word, "-b" | "--body");
        out.push(shown);
    }
    out
}

/// Flags that say what is written, and how. It now exists, and nothing is overwritten.
const WRITTEN: [&str; 8] =
    ["--out", "--json", "--html", "--csv", "--histograms", "--cells", "--failures", "--junit"];

/// The command that repeats the run: with its seed, and without what it has written.
pub fn command(words: &[String], seed: u64) -> String {
    let kept = command_as_it_was(words);
    if words.iter().any(|w| w == "--seed" || w.starts_with("--seed=")) {
        return kept;
    }
    format!("{kept} --seed {seed}")
}

/// The command without what it has written; of what needs no seed to be repeated.
pub fn command_as_it_was(words: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            w if WRITTEN.contains(&w) => {
                words.next();
            }
            w if WRITTEN
                .iter()
                .any(|flag| w.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))) => {}
            _ => kept.push(quote(word)),
        }
    }
    kept.join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(line: &[&str]) -> String {
        let argv: Vec<OsString> = line.iter().map(OsString::from).collect();
        command(&words(&argv), 7)
    }

    #[test]
    fn the_command_repeats_the_run_and_keeps_secrets() {
        assert_eq!(
            repeat(&["/usr/bin/headway", "run", "http://me:pw@h/?a=b c", "-R", "5", "--out", "x"]),
            "headway run 'http://<redacted>@h/?a=b c' -R 5 --seed 7"
        );
        assert_eq!(
            repeat(&["headway", "run", "h", "-H", "Authorization: Bearer abc", "-HCookie: x", "--seed", "9"]),
            "headway run h -H 'Authorization: <redacted>' '-HCookie: <redacted>' --seed 9"
        );
        assert_eq!(
            repeat(&["headway", "run", "h", "--threshold", "p(99)<100", "--junit", "x.xml", "--seed=1"]),
            "headway run h --threshold 'p(99)<100' --seed=1"
        );
        assert_eq!(
            repeat(&["headway", "run", "h", "-H", "Accept: */*", "-b", "pin=1234", "--body=pin", "-bpin"]),
            "headway run h -H 'Accept: */*' -b '<redacted>' '--body=<redacted>' '-b<redacted>' --seed 7"
        );
    }
}
