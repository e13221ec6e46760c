//! What an option of curl means for a scenario. Which options there are is in `tools/curl.rs`.

/// What an option does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "named as curl names them")]
pub enum Means {
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
    Proxy,
    /// This version of HTTP, as a scenario has it.
    Http(&'static str),
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
    /// A file of TLS: the setting of a scenario, and the flag of a run, of that name.
    File(&'static str),
    /// Another place for a host and port, as the setting and the flag of that name have it.
    Route(&'static str),
    /// About curl's own doings.
    Ignored,
    /// Nothing that a scenario could do.
    Refused(&'static str),
}

/// The ways to give a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
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
