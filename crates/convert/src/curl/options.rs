//! curl's options, and what each means for a scenario.
//!
//! What says how curl shows or stores an answer is passed over, with a comment; what would make it send something else
//! than a scenario can is refused with the reason. An option that is in no list is refused by name.

use anyhow::{Result, bail};

/// What an option does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Means {
    Request,
    Header,
    Data(Data),
    Form {
        literal: bool,
    },
    Get,
    User,
    Bearer,
    Cookie,
    Agent,
    Referer,
    Insecure,
    Compressed,
    Location,
    Head,
    MaxTime,
    ConnectTimeout,
    UnixSocket,
    Url,
    Next,
    Upload,
    Globoff,
    /// About curl's own doings.
    Ignored,
    /// The same, with a value.
    IgnoredValue,
    /// Nothing that a scenario could do.
    Refused(&'static str),
}

/// The ways to give a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Data {
    /// `@file` is a file, without its line breaks.
    Text,
    /// `@file` is a file.
    Binary,
    /// As it is.
    Raw,
    /// Percent-encoded.
    Encoded,
    /// JSON, with its headers.
    Json,
}

impl Means {
    pub(super) fn takes_value(self) -> bool {
        use Means::*;
        match self {
            Request
            | Header
            | Data(_)
            | Form { .. }
            | User
            | Bearer
            | Cookie
            | Agent
            | Referer
            | MaxTime
            | ConnectTimeout
            | UnixSocket
            | Url
            | Upload
            | IgnoredValue => true,
            Get | Insecure | Compressed | Location | Head | Next | Globoff | Ignored | Refused(_) => false,
        }
    }
}

/// An option as it was found: as typed, what it means, and its value.
pub(super) struct Found<'a> {
    pub(super) name: String,
    pub(super) means: Means,
    pub(super) value: Option<&'a [u8]>,
}

const PROXY: Means = Means::Refused("a scenario sends to its target directly, without a proxy");
const PLACE: Means = Means::Refused(
    "a scenario finds its target by name: put the address into the URL and the name into -H 'Host: ...'",
);
const LOGIN: Means =
    Means::Refused("a scenario knows Basic and Bearer authorization (-u, --oauth2-bearer) only");
const CERTIFICATE: Means =
    Means::Refused("a scenario has no client certificates or certificate stores of its own");
const CONFIG: Means = Means::Refused("give the options themselves");
const TRANSFER: Means = Means::Refused("a scenario sends one whole body and takes whole answers");

/// Long name, short name, meaning.
const OPTIONS: &[(&str, Option<u8>, Means)] = &[
    ("request", Some(b'X'), Means::Request),
    ("header", Some(b'H'), Means::Header),
    ("data", Some(b'd'), Means::Data(Data::Text)),
    ("data-ascii", None, Means::Data(Data::Text)),
    ("data-raw", None, Means::Data(Data::Raw)),
    ("data-binary", None, Means::Data(Data::Binary)),
    ("data-urlencode", None, Means::Data(Data::Encoded)),
    ("json", None, Means::Data(Data::Json)),
    ("form", Some(b'F'), Means::Form { literal: false }),
    ("form-string", None, Means::Form { literal: true }),
    ("get", Some(b'G'), Means::Get),
    ("user", Some(b'u'), Means::User),
    ("oauth2-bearer", None, Means::Bearer),
    ("cookie", Some(b'b'), Means::Cookie),
    ("user-agent", Some(b'A'), Means::Agent),
    ("referer", Some(b'e'), Means::Referer),
    ("insecure", Some(b'k'), Means::Insecure),
    ("compressed", None, Means::Compressed),
    ("location", Some(b'L'), Means::Location),
    ("location-trusted", None, Means::Location),
    ("head", Some(b'I'), Means::Head),
    ("max-time", Some(b'm'), Means::MaxTime),
    ("connect-timeout", None, Means::ConnectTimeout),
    ("unix-socket", None, Means::UnixSocket),
    ("url", None, Means::Url),
    ("next", Some(b':'), Means::Next),
    ("upload-file", Some(b'T'), Means::Upload),
    ("globoff", Some(b'g'), Means::Globoff),
    // What curl shows and keeps.
    ("output", Some(b'o'), Means::IgnoredValue),
    ("output-dir", None, Means::IgnoredValue),
    ("remote-name", Some(b'O'), Means::Ignored),
    ("remote-name-all", None, Means::Ignored),
    ("remote-header-name", Some(b'J'), Means::Ignored),
    ("remote-time", Some(b'R'), Means::Ignored),
    ("create-dirs", None, Means::Ignored),
    ("silent", Some(b's'), Means::Ignored),
    ("show-error", Some(b'S'), Means::Ignored),
    ("verbose", Some(b'v'), Means::Ignored),
    ("include", Some(b'i'), Means::Ignored),
    ("show-headers", None, Means::Ignored),
    ("fail", Some(b'f'), Means::Ignored),
    ("fail-with-body", None, Means::Ignored),
    ("fail-early", None, Means::Ignored),
    ("write-out", Some(b'w'), Means::IgnoredValue),
    ("dump-header", Some(b'D'), Means::IgnoredValue),
    ("cookie-jar", Some(b'c'), Means::IgnoredValue),
    ("junk-session-cookies", Some(b'j'), Means::Ignored),
    ("progress-bar", Some(b'#'), Means::Ignored),
    ("no-progress-meter", None, Means::Ignored),
    ("no-buffer", Some(b'N'), Means::Ignored),
    ("stderr", None, Means::IgnoredValue),
    ("trace", None, Means::IgnoredValue),
    ("trace-ascii", None, Means::IgnoredValue),
    ("trace-time", None, Means::Ignored),
    ("styled-output", None, Means::Ignored),
    // How curl goes about it, where a load test has its own way.
    ("http1.0", Some(b'0'), Means::Ignored),
    ("http1.1", None, Means::Ignored),
    ("http2", None, Means::Ignored),
    ("http2-prior-knowledge", None, Means::Ignored),
    ("http3", None, Means::Ignored),
    ("ipv4", Some(b'4'), Means::Ignored),
    ("ipv6", Some(b'6'), Means::Ignored),
    ("tlsv1", Some(b'1'), Means::Ignored),
    ("tlsv1.2", None, Means::Ignored),
    ("tlsv1.3", None, Means::Ignored),
    ("ssl-no-revoke", None, Means::Ignored),
    ("tcp-nodelay", None, Means::Ignored),
    ("keepalive-time", None, Means::IgnoredValue),
    ("no-keepalive", None, Means::Ignored),
    ("disable", Some(b'q'), Means::Ignored),
    ("basic", None, Means::Ignored),
    ("path-as-is", None, Means::Ignored),
    ("post301", None, Means::Ignored),
    ("post302", None, Means::Ignored),
    ("post303", None, Means::Ignored),
    ("max-redirs", None, Means::IgnoredValue),
    ("retry", None, Means::IgnoredValue),
    ("retry-delay", None, Means::IgnoredValue),
    ("retry-max-time", None, Means::IgnoredValue),
    ("retry-connrefused", None, Means::Ignored),
    ("retry-all-errors", None, Means::Ignored),
    ("limit-rate", None, Means::IgnoredValue),
    ("speed-limit", Some(b'Y'), Means::IgnoredValue),
    ("speed-time", Some(b'y'), Means::IgnoredValue),
    ("rate", None, Means::IgnoredValue),
    ("parallel", Some(b'Z'), Means::Ignored),
    ("parallel-immediate", None, Means::Ignored),
    ("parallel-max", None, Means::IgnoredValue),
    ("expect100-timeout", None, Means::IgnoredValue),
    ("max-filesize", None, Means::IgnoredValue),
    // What would send something else.
    ("proxy", Some(b'x'), PROXY),
    ("socks5", None, PROXY),
    ("socks5-hostname", None, PROXY),
    ("preproxy", None, PROXY),
    ("proxy-user", Some(b'U'), PROXY),
    ("resolve", None, PLACE),
    ("connect-to", None, PLACE),
    ("abstract-unix-socket", None, PLACE),
    ("interface", None, PLACE),
    ("digest", None, LOGIN),
    ("ntlm", None, LOGIN),
    ("negotiate", None, LOGIN),
    ("anyauth", None, LOGIN),
    ("aws-sigv4", None, LOGIN),
    ("netrc", Some(b'n'), LOGIN),
    ("cert", Some(b'E'), CERTIFICATE),
    ("key", None, CERTIFICATE),
    ("cacert", None, CERTIFICATE),
    ("capath", None, CERTIFICATE),
    ("config", Some(b'K'), CONFIG),
    ("variable", None, CONFIG),
    ("url-query", None, Means::Refused("put the query into the URL, or use -G with --data-urlencode")),
    ("range", Some(b'r'), TRANSFER),
    ("continue-at", Some(b'C'), TRANSFER),
    ("time-cond", Some(b'z'), TRANSFER),
];

/// The options and URLs among the words after `curl`, in order; a URL is an option `--url`.
pub(super) fn find(words: &[Vec<u8>]) -> Result<Vec<Found<'_>>> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    let mut only_urls = false;
    while let Some(word) = rest.next() {
        let mut take = |name: &str, means: Means| -> Result<Option<&[u8]>> {
            if !means.takes_value() {
                return Ok(None);
            }
            match rest.next() {
                Some(value) => Ok(Some(value.as_slice())),
                None => bail!("{name} of curl needs a value, and the command ends there"),
            }
        };
        let shown = String::from_utf8_lossy(word);
        if only_urls || !word.starts_with(b"-") || word == b"-" {
            found.push(Found { name: "--url".to_owned(), means: Means::Url, value: Some(word) });
        } else if word == b"--" {
            only_urls = true;
        } else if let Some(long) = shown.strip_prefix("--") {
            let means = long_option(long)?;
            let value = take(&shown, means)?;
            found.push(Found { name: shown.into_owned(), means, value });
        } else {
            // Several in one word, the last perhaps with its value behind it.
            for (at, &letter) in word.iter().enumerate().skip(1) {
                let name = format!("-{}", char::from(letter));
                let Some(&(_, _, means)) = OPTIONS.iter().find(|(_, short, _)| *short == Some(letter)) else {
                    bail!("{name} (in {shown}) is no option of curl that is known here");
                };
                if means.takes_value() && at + 1 < word.len() {
                    found.push(Found { name, means, value: Some(&word[at + 1..]) });
                    break;
                }
                let value = take(&name, means)?;
                found.push(Found { name, means, value });
            }
        }
    }
    Ok(found)
}

fn long_option(long: &str) -> Result<Means> {
    let known = |name: &str| OPTIONS.iter().find(|(known, ..)| *known == name).map(|&(_, _, means)| means);
    if let Some(means) = known(long) {
        return Ok(means);
    }
    // A switch is turned off so; one that does nothing here does not do it either way.
    if long.strip_prefix("no-").and_then(known).is_some_and(|means| !means.takes_value()) {
        return Ok(Means::Ignored);
    }
    if long.split_once('=').is_some_and(|(name, _)| known(name).is_some()) {
        bail!("--{long}: curl takes the value as a word of its own, without =");
    }
    let guess = headway_base::units::nearest(long, OPTIONS.iter().map(|(name, ..)| *name));
    let guess = guess.map_or_else(String::new, |guess| format!("; did you mean --{guess}?"));
    bail!("--{long} is no option of curl that is known here{guess}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_given_once() {
        let (mut long, mut short) = (HashSet::new(), HashSet::new());
        for (name, letter, _) in OPTIONS {
            assert!(long.insert(name), "{name}");
            assert!(letter.is_none_or(|l| short.insert(l)), "{name}");
        }
    }

    fn found(words: &[&str]) -> Result<Vec<(String, Option<String>)>> {
        let words: Vec<Vec<u8>> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
        Ok(find(&words)?.into_iter().map(|f| (f.name, f.value.map(text))).collect())
    }

    #[test]
    fn short_options_come_together_and_with_their_values() {
        let some = |text: &str| Some(text.to_owned());
        let expected = [
            ("-s".to_owned(), None),
            ("-S".to_owned(), None),
            ("-X".to_owned(), some("PUT")),
            ("-d".to_owned(), some("-x")),
            ("--url".to_owned(), some("http://a")),
            ("--url".to_owned(), some("-b")),
        ];
        assert_eq!(found(&["-sSXPUT", "-d", "-x", "http://a", "--", "-b"]).unwrap(), expected);
    }

    #[test]
    fn what_is_unknown_is_named() {
        for (words, says) in [
            (&["--retries", "3"][..], "--retries"),
            (&["--heade", "a"], "did you mean --header"),
            (&["-sQ"], "-Q (in -sQ)"),
            (&["--data=a"], "a word of its own"),
            (&["-H"], "needs a value"),
            (&["--data"], "needs a value"),
        ] {
            let error = found(words).unwrap_err().to_string();
            assert!(error.contains(says), "{words:?}: {error}");
        }
        assert!(found(&["--no-silent", "--no-compressed", "a"]).is_ok());
    }
}
