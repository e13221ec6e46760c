//! The arguments of `translate` and of the verbs that make a scenario, as typed.

use clap::Args as ClapArgs;
use std::path::PathBuf;

/// `headway from-curl`.
#[derive(ClapArgs, Debug, Clone)]
pub struct FromCurlArgs {
    /// The command: in one pair of quotes as a browser's "Copy as cURL (bash)" gives it, as words after --, or on
    /// standard input (-)
    #[arg(value_name = "COMMAND", required = true, num_args = 1.., trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// `headway translate`.
#[derive(ClapArgs, Debug, Clone)]
pub struct TranslateArgs {
    /// Run the translated command
    #[arg(long)]
    pub run: bool,
    /// The command of wrk, wrk2, hey, oha, ab, vegeta, k6, fortio, h2load, curl, jmeter, gatling or locust: as words after
    /// --, or in one pair of quotes
    #[arg(value_name = "COMMAND", required = true, num_args = 1.., trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// `headway from-har`.
#[derive(ClapArgs, Debug, Clone)]
pub struct FromHarArgs {
    /// The recording, as a browser saves it ("Save all as HAR")
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The target: an origin (scheme, host and port) of the recording [default: the one with the most requests]
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Another origin of the recording to keep, as in `https://api.example.com` (repeatable); third parties are left out
    #[arg(long, value_name = "URL")]
    pub origin: Vec<String>,
    /// Keep images, fonts, styles and scripts too
    #[arg(long)]
    pub all: bool,
}

/// `headway from-openapi`.
#[derive(ClapArgs, Debug, Clone)]
pub struct FromOpenapiArgs {
    /// An OpenAPI 3.0 or 3.1 document, YAML or JSON, of at most 32 MiB
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The target with its base path [default: the document's first server]
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Operations that may change data too: POST, PUT, PATCH and, at the end, DELETE [default: GET, HEAD and OPTIONS]
    #[arg(long)]
    pub all_methods: bool,
    /// Write the scenario to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `headway from-jmx`.
#[derive(ClapArgs, Debug, Clone)]
pub struct FromJmxArgs {
    /// A test plan of JMeter, of at most 32 MiB
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The target with its base path, in place of the host with the most requests; steps of other hosts stay with theirs
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Only this thread group, which may be a setUp or tearDown group [default: all but these]
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Write the scenario to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
