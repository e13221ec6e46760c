//! Words that other tools have for what is written otherwise here, beyond the options of tools that `headway translate` knows.

/// Verbs that send a load, or take the flags of one that does.
const SENDING: &[&str] = &["run", "search", "doctor"];

/// Verbs, flags that others would have there, and what to write instead. `N` and `PORT` stand for a number that was given.
pub(super) const FLAGS: &[(&[&str], &[&str], &str)] = &[
    (
        SENDING,
        &["--concurrency", "--concurrent", "--clients", "--workers", "--parallel", "--parallelism"],
        "write -u N for users who wait for their responses (closed), or -R RATE -c N for a rate over at most that many connections (open)",
    ),
    (SENDING, &["--time", "--length", "--test-time"], "write -d TIME"),
    (SENDING, &["--iterations", "--total", "--number", "--amount", "--count"], "write -n N"),
    (SENDING, &["--arrival-rate", "--target-rate", "--throughput"], "write -R RATE"),
    (
        SENDING,
        &["--keepalive", "--keep-alive"],
        "leave it out: connections stay open unless --new-connections is given",
    ),
    (SENDING, &["--no-keepalive", "--no-keep-alive", "--disable-keepalive"], "write --new-connections"),
    (SENDING, &["--ramp-up", "--rampup", "--ramp-time"], "write --ramp TIME"),
    (SENDING, &["--think-time", "--delay", "--pause"], "write --think DIST, with -u"),
    (SENDING, &["--url"], "write the URL alone"),
    (
        &["run", "report", "audit", "merge"],
        &["-v", "--verbose", "--debug"],
        "write --details for all of the report",
    ),
    (&["run", "sim", "merge", "demo"], &["--silent", "-s"], "write --quiet"),
    (
        &["run", "sim", "demo", "merge"],
        &["-o", "--output-dir", "--folder"],
        "write --out DIR for the run folder, or --json FILE, --html FILE for a report",
    ),
    (
        &["report", "audit"],
        &["-o", "--out", "--format"],
        "write --json FILE, --html FILE or --output FORMAT=FILE",
    ),
    (&["serve"], &["-p", "--port"], "write -l 127.0.0.1:PORT"),
    (&["serve"], &["-b", "--bind", "-a", "--addr", "--address", "--host", "-h"], "write -l HOST:PORT"),
    (
        &["serve"],
        &["--delay", "--latency", "--sleep", "--response-time"],
        "write --service DIST, such as --service 'const(10ms)'",
    ),
    (
        &["serve"],
        &["--threads", "--workers", "--concurrency", "-c"],
        "write --servers N for requests that are served at once",
    ),
    (&["serve"], &["--errors", "--failures", "--failure-rate"], "write --error-rate SHARE, from 0 to 1"),
    (&["serve"], &["-d", "--duration", "--time"], "write --stop-after TIME"),
];

/// What others call a verb, and the command that does it here.
pub(super) const VERBS: &[(&[&str], &str)] = &[
    (
        &["start", "load", "test", "bench", "benchmark", "send", "execute", "stress", "fire"],
        "headway run URL",
    ),
    (&["server", "listen", "target", "mock", "echo"], "headway serve"),
    (&["simulate", "simulation", "model"], "headway sim SCENARIO"),
    (&["analyze", "analyse", "judge", "validate", "inspect", "import"], "headway audit FILE"),
    (&["show", "view", "export", "open", "summary", "replay"], "headway report RUN"),
    (&["diff", "versus", "vs"], "headway compare RUN RUN"),
    (&["check", "diagnose", "tune"], "headway doctor"),
    (&["find", "capacity", "knee", "max", "sweep"], "headway search URL"),
    (&["combine", "join", "aggregate"], "headway merge DEST"),
    (&["convert"], "headway translate -- COMMAND"),
    (&["har", "record"], "headway from-har FILE"),
    (&["openapi", "swagger"], "headway from-openapi FILE"),
    (&["jmx"], "headway from-jmx FILE"),
    (&["version"], "headway --version"),
    (&["example", "tutorial", "quickstart", "try"], "headway demo"),
];

/// What to write instead of a flag that a verb does not have, where another tool has it.
pub(super) fn instead(verb: &str, name: &str) -> Option<&'static str> {
    let row = FLAGS.iter().find(|(verbs, names, _)| verbs.contains(&verb) && names.contains(&name));
    row.map(|(.., instead)| *instead)
}
