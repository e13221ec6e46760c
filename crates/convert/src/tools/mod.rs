//! The options of other load tools, as data: what each means there and what says the same to `headway run`.
//!
//! One file per tool, one [`Row`] per option. The rows serve three: `headway run`, which names another tool's meaning when it
//! refuses a flag ([`advice`]), `headway translate` ([`translate`]) and `headway from-curl`. Deliberately absent: options of
//! subcommands that send no load (`vegeta report`, `fortio server`).

mod ab;
pub mod advice;
mod curl;
mod find;
mod fortio;
mod gatling;
mod h2load;
mod hey;
mod jmeter;
mod k6;
mod load;
mod locust;
mod oha;
pub mod translate;
mod value;
mod vegeta;
mod wrk;

pub(crate) use curl::CURL;
pub(crate) use find::{Found, Word, find};
pub use value::Value;
pub(crate) use value::proxy;

use crate::curl::Means;

/// Every tool whose options are known.
pub static ALL: &[&Tool] = &[
    &wrk::WRK,
    &wrk::WRK2,
    &hey::HEY,
    &oha::OHA,
    &ab::AB,
    &vegeta::VEGETA,
    &k6::K6,
    &fortio::FORTIO,
    &h2load::H2LOAD,
    &curl::CURL,
    &jmeter::JMETER,
    &gatling::GATLING,
    &locust::LOCUST,
];

/// A load tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name, which is that of its program.
    pub name: &'static str,
    /// How its options are written.
    pub style: Style,
    /// The word before the options, if one is needed: `attack`.
    pub verb: Option<&'static str>,
    /// What it is given beside options.
    pub takes: Takes,
    /// Its options which no other tool has alike.
    own: &'static [Row],
    /// Those which it has like other tools.
    alike: &'static [&'static [Row]],
    /// Options without which the example of a row is no command of this tool, for tests.
    pub needs: &'static [&'static str],
}

/// How options are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `-c 50`, `-c50`, `-kv`, `--connections 50`, `--connections=50`.
    Getopt,
    /// The same, but the value of a long option is a word of its own, and `--no-` turns a switch off.
    Curl,
    /// `-rate 50`, `-rate=50`, `--rate=50`; one dash or two, and no letters together.
    Go,
    /// `-rf DIR`, `--results-folder DIR`: short names of several letters.
    Names,
}

/// What a tool is given beside options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// A URL.
    Url,
    /// Targets on standard input.
    Targets,
    /// A script or plan, described in a phrase, which holds the requests.
    Script(&'static str),
}

/// An option of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its short name without the dash, or nothing.
    pub short: &'static str,
    /// Its long name without the dashes, or nothing. Tools in the style of Go have one name, here or in `short`.
    pub long: &'static str,
    /// A value that it may have; nothing if it takes none.
    pub example: &'static str,
    /// What it is in that tool, in a phrase.
    pub about: &'static str,
    /// What it is here.
    pub meaning: Meaning,
}

impl Row {
    const fn new(
        short: &'static str,
        long: &'static str,
        example: &'static str,
        about: &'static str,
        meaning: Meaning,
    ) -> Row {
        Row { short, long, example, about, meaning }
    }

    /// Whether a value belongs to it.
    pub fn takes_value(&self) -> bool {
        !self.example.is_empty()
    }

    /// What it is here, that of curl's options in terms of flags.
    pub fn here(&self) -> Meaning {
        match self.meaning {
            Meaning::Curl(means) => curl::flag(self, means),
            meaning => meaning,
        }
    }
}

/// What an option of another tool is to `headway run`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A flag, and how its value comes about.
    Flag(&'static str, Value),
    /// A part of the load, which several options make together.
    Load(Part),
    /// Nothing that is needed here: why.
    Nothing(&'static str),
    /// Nothing that is possible here: why, and what is.
    Cannot(&'static str),
    /// An option of curl, which `from-curl` puts into a scenario.
    Curl(Means),
}

/// A part of the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Connections, workers, virtual users: without a rate, each waits for its response.
    Users,
    /// Requests per second, in total.
    Rate,
    /// Requests per second of each of the users.
    RateEach,
    /// Number of requests.
    Requests,
    /// Length of the run; a number without a unit is in seconds.
    Duration,
    /// Length of the warm-up, in the same form.
    Warmup,
    /// Requests that one connection may have in flight.
    Streams,
    /// A switch: HTTP/1.1, one request at a time on a connection.
    Http1,
    /// A switch: HTTP/2, without which a tool has one request at a time on a connection.
    Http2,
    /// Lengths and numbers of users, `30s:10,1m:20`.
    Stages,
    /// Users who begin in a second.
    Spawn,
    /// Connection cap at a rate.
    Cap,
    /// A switch: the rate is the number of requests over the length of the run.
    RateOfRequests,
    /// Base URL.
    Base,
    /// A file of targets.
    Targets,
}

impl Tool {
    /// The tool of that program, without regard to its folder and to case.
    pub fn named(program: &str) -> Option<&'static Tool> {
        let base = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
        let base = [".exe", ".sh", ".bat"].iter().find_map(|end| base.strip_suffix(end)).unwrap_or(&base);
        ALL.iter().copied().find(|tool| tool.name.to_ascii_lowercase() == base)
    }

    /// The option of a name as typed with its dashes (`-c`, `--rate`), without a value behind it.
    pub fn option(&self, typed: &str) -> Option<&'static Row> {
        let (long, name) = match typed.strip_prefix("--") {
            Some(name) => (true, name),
            None => (false, typed.strip_prefix('-')?),
        };
        let is = |row: &&Row| match (self.style, long) {
            (Style::Go, _) => row.long == name || row.short == name,
            (_, true) => row.long == name,
            (_, false) => row.short == name,
        };
        self.rows().filter(|_| !name.is_empty()).find(is)
    }

    /// Its options.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        self.own.iter().chain(self.alike.iter().copied().flatten())
    }

    /// An option as one types it: its short name if it has one.
    pub fn typed(&self, row: &Row) -> String {
        match (self.style, row.short) {
            (Style::Go, "") => format!("-{}", row.long),
            (_, "") => format!("--{}", row.long),
            (_, short) => format!("-{short}"),
        }
    }
}

/// Options which several tools have alike.
mod alike {
    use super::said::*;
    use super::{Meaning, Part, Row, Value};

    /// Those of ab, fortio, hey and oha.
    pub(super) static ALL: &[Row] = &[
        Row::new("n", "", "1000", REQUESTS, Meaning::Load(Part::Requests)),
        Row::new("c", "", "50", USERS, Meaning::Load(Part::Users)),
        Row::new("H", "", "Accept: */*", HEADER, Meaning::Flag("-H", Value::Same)),
    ];
    /// That of ab, hey and oha.
    pub(super) static TYPED: &[Row] =
        &[Row::new("T", "", "application/json", TYPE, Meaning::Flag("-H", Value::Header("Content-Type")))];
    /// Those of hey and oha.
    pub(super) static OF_HEY: &[Row] = &[
        Row::new("z", "", "10s", LENGTH, Meaning::Load(Part::Duration)),
        Row::new("A", "", "text/html", ACCEPT, Meaning::Flag("-H", Value::Header("Accept"))),
        Row::new("d", "", "x=1", BODY, Meaning::Flag("--data", Value::Body)),
        Row::new("D", "", "body.json", BODY_FILE, Meaning::Flag("--body-file", Value::File)),
        Row::new("a", "", "NAME:PASSWORD", LOGIN, Meaning::Flag("--user", Value::Secret)),
        Row::new("", "host", "example.org", "the header Host", Meaning::Flag("-H", Value::Header("Host"))),
        Row::new(
            "",
            "disable-compression",
            "",
            "do not ask for compressed responses",
            Meaning::Nothing("leave it out: none are asked for unless a header does"),
        ),
    ];
}

/// Words in which several tools agree, so that messages can name them together.
mod said {
    use super::{Meaning, Value};

    pub(super) const THREADS: &str = "threads";
    pub(super) const TIMEOUT: &str = "how long a response may take";
    pub(super) const LENGTH: &str = "the length of the run";
    pub(super) const RATE: &str = "requests per second, in total";
    pub(super) const USERS: &str = "connections, each of which waits for its response";
    pub(super) const REQUESTS: &str = "the number of requests";
    pub(super) const BODY: &str = "the body";
    pub(super) const BODY_FILE: &str = "a file with the body";
    pub(super) const HEADER: &str = "a header";
    pub(super) const METHOD: &str = "the method";
    pub(super) const LOGIN: &str = "user and password (Basic)";
    pub(super) const ACCEPT: &str = "the header Accept";
    pub(super) const TYPE: &str = "the header Content-Type";
    pub(super) const TRUST: &str = "accept any certificate";
    pub(super) const PROXY: &str = "a proxy";
    pub(super) const CERTIFICATES: &str = "a certificate or key";
    pub(super) const VERSION: &str = "another version of HTTP";
    pub(super) const OUTPUT: &str = "what is written, and where";
    pub(super) const REDIRECTS: &str = "redirects";
    pub(super) const REUSE: &str = "whether connections are used again";
    pub(super) const PLACE: &str = "another address for the name of the host";
    pub(super) const SOCKET: &str = "a Unix socket";
    pub(super) const CORES: &str = "processor cores";
    pub(super) const HELP: &str = "its help or its version";

    pub(super) const NO_THREADS: Meaning =
        Meaning::Nothing("leave it out: Headway chooses its worker threads (--threads N sets them)");
    pub(super) const NO_PRINT: Meaning =
        Meaning::Nothing("leave it out: the report has it, or does not need it");
    pub(super) const NO_OUTPUT: Meaning = Meaning::Nothing(
        "leave it out: each run leaves a folder with its report and records (--output writes other formats)",
    );
    pub(super) const FOLLOWED: Meaning = Meaning::Flag("-L", Value::Switch);
    pub(super) const NO_REDIRECTS: Meaning =
        Meaning::Nothing("leave it out: redirects are not followed; -L follows up to 10, within the target");
    pub(super) const KEPT: Meaning =
        Meaning::Nothing("leave it out: connections are kept open and used again");
    pub(super) const CLOSED: Meaning = Meaning::Flag("-H", Value::Fixed("Connection: close"));
    pub(super) const THROUGH: Meaning = Meaning::Flag("--proxy", Value::Proxy);
    pub(super) const PROXY_URL: Meaning = Meaning::Cannot(
        "write all of it as --proxy http://HOST:PORT, with NAME:PASSWORD@ before HOST if it asks for them",
    );
    pub(super) const NO_PROXY: Meaning = Meaning::Cannot(
        "--proxy http://HOST:PORT speaks HTTP/1.1 to the proxy, and sends no headers of yours to it alone",
    );
    pub(super) const NO_CERTIFICATES: Meaning = Meaning::Cannot(
        "give PEM files as --cert FILE --key FILE, and authorities to trust as --cacert FILE; -k accepts any certificate",
    );
    pub(super) const AUTHORITIES: Meaning = Meaning::Flag("--cacert", Value::Same);
    pub(super) const OWN_CERTIFICATE: Meaning = Meaning::Flag("--cert", Value::Same);
    pub(super) const OWN_KEY: Meaning = Meaning::Flag("--key", Value::Same);
    pub(super) const NO_VERSION: Meaning = Meaning::Cannot("Headway speaks HTTP/1.1 and HTTP/2");
    pub(super) const HTTP2: Meaning = Meaning::Flag("--http2", Value::Switch);
    pub(super) const OFFERED: Meaning = Meaning::Nothing("leave it out: HTTP/2 is offered with TLS");
    pub(super) const NO_TLS: Meaning =
        Meaning::Cannot("Headway chooses the versions and ciphers of TLS itself");
    pub(super) const NO_PLACE: Meaning =
        Meaning::Cannot("write --connect-to HOST:PORT:HOST2:PORT2, or --resolve HOST:PORT:ADDRESS");
    pub(super) const NO_SOCKET: Meaning =
        Meaning::Cannot("write the target as unix:/path/to/socket:/path instead");
    pub(super) const LOCAL_ADDRESS: Meaning = Meaning::Flag("--local-addr", Value::Same);
    pub(super) const LOCAL_ADDRESSES: Meaning = Meaning::Cannot("write --local-addr A,B,... or a range, A-B");
    pub(super) const NO_HELP: Meaning = Meaning::Cannot("there is no load in it to translate");
    pub(super) const NO_SCRIPT: Meaning =
        Meaning::Cannot("what a script does is written as the steps of a scenario (docs/scenarios.md)");
    pub(super) const NO_WORKERS: Meaning =
        Meaning::Cannot("several machines each run a part of the load: --shard i/N, then headway merge");
}

#[cfg(test)]
mod tests;
