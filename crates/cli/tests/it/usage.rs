//! Wrong usage: whatever is typed wrong for whichever verb ends in exit 2 and one message of one form, on standard error alone.

use clap::CommandFactory as _;
use headway_cli::args::Args;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const URL: &str = "http://127.0.0.1:9/";

fn headway(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headway"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// Files that are none of those that verbs take.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("folder")).unwrap();
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("binary"), [0xff, 0xfe, 0x00, 0x9c].repeat(700)).unwrap();
    folder
}

/// The message of a mistake, held to the form that all have: `headway: what, where, found, accepted`.
fn mistake(folder: &Path, words: &[&str]) -> String {
    let ended = headway(folder, words);
    let said = String::from_utf8(ended.stderr).unwrap();
    let shown = format!("headway {}\n{said}", words.join(" "));
    assert_eq!(ended.status.code(), Some(2), "{shown}");
    assert!(ended.stdout.is_empty(), "{shown}");
    let first = said.lines().next().unwrap_or_default();
    let what = first.strip_prefix("headway: ").unwrap_or_else(|| panic!("no 'headway: ' before it: {shown}"));
    assert!(!what.starts_with("headway") && !what.starts_with("error"), "{shown}");
    // One mistake, one message: no other begins below, and none is repeated within it.
    let others =
        said.lines().skip(1).filter(|line| line.starts_with("headway: ") || line.contains("error: "));
    assert_eq!(others.count(), 0, "{shown}");
    assert!(said.matches("os error").count() <= 1, "{shown}");
    assert!(!said.contains("Usage:") && !said.contains("For more information"), "{shown}");
    said
}

/// Words with which somebody is told what would be accepted.
const ACCEPTED: &[&str] = &[
    "write",
    "name",
    "accepted",
    "choose",
    "give",
    "takes",
    "did you mean",
    "lists",
    "leave",
    "add ",
    "help:",
    "Known are",
    "save one",
    "copied with",
    "URL",
];

fn tells(said: &str) {
    assert!(ACCEPTED.iter().any(|word| said.contains(word)), "says not what would be accepted: {said}");
}

/// The verbs that people type.
fn verbs() -> Vec<clap::Command> {
    let mut all = Args::command();
    all.build();
    all.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set()).cloned().collect()
}

#[test]
fn each_verb_refuses_a_flag_that_it_does_not_have() {
    let folder = folder();
    for verb in verbs() {
        let said = mistake(folder.path(), &[verb.get_name(), "--no-such-thing"]);
        assert!(
            said.contains(&format!("--no-such-thing is no flag of headway {}", verb.get_name())),
            "{said}"
        );
        tells(&said);
    }
}

#[test]
fn each_flag_of_each_verb_wants_its_value_and_finds_its_slip() {
    let folder = folder();
    let (mut valued, mut slips) = (0, 0);
    for verb in verbs() {
        let flags = verb.get_arguments().filter(|arg| !arg.is_hide_set());
        for flag in flags.filter_map(|arg| arg.get_long().map(|long| (arg, long))) {
            let (arg, long) = flag;
            let takes =
                arg.get_action().takes_values() && arg.get_num_args().is_none_or(|n| n.min_values() > 0);
            // Of a flag with a value each verb is tried, of the others some: each is a process.
            if takes && valued % 3 == 0 {
                let said = mistake(folder.path(), &[verb.get_name(), &format!("--{long}")]);
                assert!(said.contains(&format!("--{long} has no value behind it")), "{said}");
                tells(&said);
            }
            valued += usize::from(takes);
            if long.len() >= 6 {
                // Two letters change places.
                let mut slip = long.to_owned();
                slip.replace_range(1..3, &long[1..3].chars().rev().collect::<String>());
                let others = verb.get_arguments().any(|other| other.get_long() == Some(&slip));
                if slip != long && !others && slips % 5 == 0 {
                    let said = mistake(folder.path(), &[verb.get_name(), &format!("--{slip}")]);
                    assert!(
                        said.contains("did you mean --") || said.contains("is one of other tools"),
                        "{said}"
                    );
                }
                slips += 1;
            }
        }
    }
    assert!(valued > 100 && slips > 100, "{valued} {slips}");
}

#[test]
fn values_of_the_wrong_kind_are_told_with_what_would_be_accepted() {
    let folder = folder();
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", URL, "-R", "fast"], &["--rate: 'fast'", "200/s"]),
        (&["run", URL, "-R", "1m"], &["'1m'", "1000k/s", "1/1m"]),
        (&["run", URL, "-R", "5s"], &["'5s'", "200/s"]),
        (&["run", URL, "-d", "5/s"], &["'5/s'", "1.5s"]),
        (&["run", URL, "-d", "5"], &["'5'", "5s, 5ms or 5m"]),
        (&["run", URL, "-n", "5s"], &["'5s'", "a count"]),
        (&["run", URL, "-u", "5/s"], &["'5/s'", "a count"]),
        (&["run", URL, "--idle-timeout", "-1"], &["--idle-timeout: '-1'", "1.5s"]),
        (&["run", URL, "--max-wait", "-1.5"], &["--max-wait: '-1.5'", "1.5s"]),
        (&["run", URL, "-u", "-3"], &["'-3'", "a count"]),
        (&["run", URL, "--max-body", "5s"], &["'5s'", "10KiB"]),
        (&["run", URL, "--threads", "5s"], &["--threads: '5s' is not a whole number"]),
        (&["serve", "--backlog", "0"], &["--backlog: '0'", "from 1 to 1000000"]),
        (&["serve", "--servers", "x"], &["--servers: 'x' is not a whole number"]),
        (&["serve", "--error-rate", "5%x"], &["'5%x'", "0 to 1"]),
        (&["merge", "folder", "--expect", "0"], &["--expect: '0'", "from 1"]),
        (&["merge", "folder", "--allow-missing", "-"], &["--allow-missing: '-' is not a whole number"]),
        (&["sim", "empty", "--threads", "2000"], &["--threads: '2000'", "from 1 to 1024"]),
        (&["completions", "fsh"], &["'fsh'", "did you mean fish?", "bash"]),
        (&["run", URL, "--quiet=5"], &["--quiet takes no value"]),
        (
            &["run", URL, "--new-connections", "--pool", "shared"],
            &["--new-connections and --pool exclude each other"],
        ),
        (&["serve", "--count"], &["--count needs --udp"]),
        (&["run", URL, "--seed", "1", "--seed", "2"], &["--seed is given twice"]),
        (&["run", URL, "extra"], &["'extra' is one word too many"]),
        (&["schema", "extra"], &["'extra' is one word too many", "takes none"]),
        (&["run"], &["<URL|SCENARIO> is missing", "http://host:port/path"]),
        (&["man"], &["<DIR> is missing"]),
    ];
    for (words, parts) in cases {
        let said = mistake(folder.path(), words);
        parts.iter().for_each(|part| assert!(said.contains(part), "{words:?}: no {part:?} in {said}"));
        tells(&said);
    }
}

#[test]
fn words_of_others_and_slips_get_the_word_that_is_meant() {
    let folder = folder();
    let cases: &[(&[&str], &str)] = &[
        (&["rnu", URL], "did you mean headway run?"),
        (&["serv"], "did you mean headway serve?"),
        (&["bench", URL], "did you mean headway run URL?"),
        (&["diff", "a", "b"], "did you mean headway compare RUN RUN?"),
        (&["run", URL, "--concurrency", "50"], "-u 50"),
        (&["doctor", URL, "--concurrency=50"], "-u 50"),
        (&["search", URL, "--clients", "50"], "-u 50"),
        (&["serve", "-p", "8080"], "-l 127.0.0.1:8080"),
        (&["serve", "-p8080"], "-l 127.0.0.1:"),
        (&["serve", "--port=8080"], "-l 127.0.0.1:8080"),
        (&["serve", "--delay", "5ms"], "--service DIST"),
        (&["audit", "x", "--warmup", "5s"], "but of run, plan"),
    ];
    for (words, part) in cases {
        let said = mistake(folder.path(), words);
        assert!(said.contains(part), "{words:?}: no {part:?} in {said}");
    }
    assert!(!mistake(folder.path(), &["demo", "--nope"]).contains("did you mean"));
    assert!(!mistake(folder.path(), &["run", URL, "--prot=hunter2"]).contains("hunter2"));
}

#[test]
fn what_is_no_file_of_the_kind_is_told_once_by_each_verb() {
    let folder = folder();
    let verbs: &[&[&str]] = &[
        &["run"],
        &["plan"],
        &["sim"],
        &["search"],
        &["doctor"],
        &["audit"],
        &["report"],
        &["merge"],
        &["from-har"],
        &["from-openapi"],
        &["from-jmx"],
        &["run", "--dry-run"],
        &["run", URL, "--body-file"],
        &["run", "-R", "5"],
        &["plan", "-d", "5s"],
        &["sim", "--set", "seed=4"],
    ];
    for verb in verbs {
        for file in ["missing.yaml", "missing", "folder", "empty", "binary"] {
            // An empty body is one, so are any bytes; what is neither file nor folder may be the host of a URL.
            let sends = ["run", "plan", "doctor", "search"].contains(&verb[0]);
            if verb.contains(&"--body-file") && ["empty", "binary"].contains(&file)
                || sends && file == "missing"
            {
                continue;
            }
            let said = mistake(folder.path(), &[*verb, &[file]].concat());
            assert!(said.contains(file) || said.contains("needs a threshold"), "{verb:?} {file}: {said}");
            tells(&said);
            assert!(
                said.matches("the file holds no scenario").count() <= 1 && !said.contains("\n\n"),
                "{said}"
            );
        }
    }
    let said = mistake(folder.path(), &["merge", "missing", "other"]);
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
    let said = mistake(folder.path(), &["sim", URL]);
    assert!(said.contains("a scenario's file") && !said.contains("or a URL"), "{said}");
    assert!(!mistake(folder.path(), &["sim", "missing"]).contains("URL"));
    assert!(mistake(folder.path(), &["run", "missing.yaml"]).contains("or a URL"));
}

#[test]
fn a_scenario_with_one_mistake_has_one_message() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "key.yaml",
        "target: http://127.0.0.1:9/\nusers:\n  arive: { rate: 100/s }\njourney:\n  - get: /\n",
    );
    write(
        "users.yaml",
        "target: http://127.0.0.1:9/\nusres:\n  arrive: { rate: 100/s }\njourney:\n  - get: /\n",
    );
    write("k6.yaml", "import http from 'k6/http';\nexport const options = { vus: 10 };\n");
    write("k6-options.yaml", "// a comment\nexport const options = { vus: 10 };\n");
    write("locust.yaml", "from locust import HttpUser, task\n\nclass U(HttpUser):\n    pass\n");
    write("plan.yaml", "<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\"/>\n");
    write("api.yaml", "openapi: 3.0.0\ninfo: { title: x }\n");
    for flags in [&[][..], &["-R", "50"], &["-d", "5s"], &["-u", "5"], &["--set", "users.think=1s"]] {
        for (file, parts) in [
            ("key.yaml", &["has no key 'arive'", "did you mean arrive?"][..]),
            ("users.yaml", &["has no key 'usres'", "did you mean users?"]),
            ("k6.yaml", &["JavaScript", "k6"]),
            ("k6-options.yaml", &["JavaScript", "k6"]),
            ("locust.yaml", &["Locust"]),
            ("plan.yaml", &["from-jmx"]),
            ("api.yaml", &["from-openapi"]),
        ] {
            let said = mistake(folder.path(), &[&["run", file], flags].concat());
            parts
                .iter()
                .for_each(|part| assert!(said.contains(part), "{file} {flags:?}: no {part:?} in {said}"));
            assert!(said.matches(" --> ").count() <= 1 && !said.contains("\n\n"), "{file} {flags:?}: {said}");
        }
    }
    // Two mistakes are two messages of one error.
    write(
        "two.yaml",
        "target: http://127.0.0.1:9/\nusers:\n  arive: { rate: 100/s }\njourney:\n  - gett: /\n",
    );
    let said = mistake(folder.path(), &["run", "two.yaml", "-R", "5"]);
    assert_eq!(said.matches(" --> ").count(), 2, "{said}");
    assert!(!said.contains("-R applies"), "{said}");
    // Where the file is right, a flag without a place is told.
    write(
        "work.yaml",
        "target: http://127.0.0.1:9/\nusers: { work: { requests: 5, users: 1 } }\njourney:\n  - get: /\n",
    );
    assert!(mistake(folder.path(), &["run", "work.yaml", "-R", "5"]).contains("-R applies"));
}

#[test]
fn a_load_that_sends_nothing_is_refused_before_it_begins() {
    let folder = folder();
    for words in [
        &["run", URL, "-R", "100/h", "-d", "1s", "--seed", "1"][..],
        &["run", URL, "-R", "1/h", "-d", "1s", "--warmup", "1s", "--seed", "1"],
        &["run", URL, "--phases", "1s@0.001", "--seed", "1"],
    ] {
        let said = mistake(folder.path(), words);
        assert!(said.contains("sends nothing") && said.contains("a longer time"), "{said}");
        assert!(!folder.path().join("headway-runs").exists());
    }
}

#[test]
fn a_port_that_is_taken_leads_to_one_that_is_free() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for flags in [&[][..], &["--capacity", "5/s"]] {
        let ended = headway(folder.path(), &[&["serve", "-l", &address], flags].concat());
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(
            said.starts_with(&format!(
                "headway: --listen {address}: cannot listen there: Address already in use"
            )),
            "{said}"
        );
        assert!(said.contains("-l 127.0.0.1:0 takes a free port"), "{said}");
    }
}

#[test]
fn a_body_of_plain_bytes_has_the_escapes_of_answers() {
    let folder = folder();
    let sent = |target: &str, body: &str| {
        let answer = if target.starts_with("http") { &[][..] } else { &["--one-way"] };
        let words = ["run", target, "-R", "5", "-b", body, "--print-scenario", "--seed", "1"];
        let ended = headway(folder.path(), &[&words[..], answer].concat());
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    let tcp = "tcp://127.0.0.1:9";
    for (typed, written) in [
        (r"PING\r\n", r#"send: "PING\r\n""#),
        (r"a\\r\x41", r#"send: "a\\rA""#),
        (r"\0\tx", r#"send: "\x00\tx""#),
    ] {
        for target in [tcp, "udp://127.0.0.1:9"] {
            let shown = sent(target, typed);
            assert!(shown.contains(written), "{typed}: {shown}");
        }
    }
    // Of HTTP a body is sent as it was typed.
    let shown = sent(URL, r"a\r\n");
    assert!(shown.contains(r#"text: "a\\r\\n""#), "{shown}");
    let wrong = |body: &str| mistake(folder.path(), &["run", tcp, "-R", "5", "--one-way", "-b", body]);
    let said = wrong(r"PING\d");
    assert!(said.contains("begins no escape") && said.contains(r"\r, \n"), "{said}");
    let said = wrong(r"\xff");
    assert!(said.contains("-b @FILE"), "{said}");
}
