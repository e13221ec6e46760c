//! The command that repeats a run, without its secrets.

use headway_cli::repeat::{command, read};
use std::ffi::OsString;
fn repeat(line: &[&str]) -> String {
    let argv: Vec<OsString> = line.iter().map(OsString::from).collect();
    command(&read(&argv).words, 7)
}

#[test]
fn the_command_repeats_the_run_and_keeps_secrets() {
    assert_eq!(
        repeat(&["/usr/bin/headway", "run", "http://me:pw@h/?a=b c", "-R", "5", "--out", "x"]),
        "headway run 'http://<redacted>@h/?a=b c' -R 5 --seed 7"
    );
    assert_eq!(
        repeat(&[
            "headway",
            "run",
            "h/?token=abc&x=y#frag",
            "-kHCookie:x",
            "-kH",
            "DPoP: y",
            "-H=X-Session: 1"
        ]),
        "headway run 'h/?token=<redacted>&x=y#<redacted>' '-kHCookie: <redacted>' -kH 'DPoP: <redacted>' \
         '-H=X-Session: <redacted>' --seed 7"
    );
    assert_eq!(
        repeat(&[
            "headway",
            "run",
            "h/x?door=1&token=2",
            "--redact",
            "door",
            "-H",
            "Referer: http://h/?door=3"
        ]),
        "headway run 'h/x?door=<redacted>&token=<redacted>' --redact door -H 'Referer: http://h/?door=<redacted>' --seed 7"
    );
    assert_eq!(
        repeat(&["headway", "run", "h/?token=2", "--no-redact", "-bpin=1"]),
        "headway run 'h/?token=2' --no-redact '-bpin=1' --seed 7".replace("'-bpin=1'", "-bpin=1")
    );
    assert_eq!(
        repeat(&["headway", "sim", "a#1/s.yaml", "--beside", "runs/x?y"]),
        "headway sim 'a#1/s.yaml' --beside 'runs/x?y' --seed 7"
    );
    assert_eq!(
        repeat(&["headway", "run", "h", "-H", "Authorization: Bearer abc", "-HCookie: x", "--seed", "9"]),
        "headway run h -H 'Authorization: <redacted>' '-HCookie: <redacted>' --seed 9"
    );
    assert_eq!(
        repeat(&[
            "headway",
            "sim",
            "a.yaml",
            "--set",
            "headers.Authorization=Bearer abc",
            "--set=variables.api_key=abc",
            "--set",
            "users.think=2s"
        ]),
        "headway sim a.yaml --set 'headers.Authorization=<redacted>' '--set=variables.api_key=<redacted>' --set \
         users.think=2s --seed 7"
    );
    assert_eq!(
        repeat(&[
            "headway",
            "run",
            "h",
            "--output",
            "x.md",
            "--output=html=x",
            "--junit",
            "x.xml",
            "--seed=1"
        ]),
        "headway run h --seed=1"
    );
    assert_eq!(
        repeat(&["headway", "run", "h", "-H", "Accept: */*", "-b", "pin=1234", "--body=pin", "-bpin"]),
        "headway run h -H 'Accept: */*' -b '<redacted>' '--body=<redacted>' '-b<redacted>' --seed 7"
    );
    assert_eq!(
        repeat(&[
            "headway",
            "run",
            "h",
            "--user",
            "me:p4ss",
            "--data",
            "@pin.json",
            "-b",
            "-",
            "-u",
            "a:p4ss",
            "--data=pin"
        ]),
        "headway run h --user 'me:<redacted>' --data @pin.json -b - -u 'a:<redacted>' '--data=<redacted>' --seed 7"
    );
}

#[test]
fn the_at_sign_of_a_phase_hides_nothing_and_that_of_a_url_does() {
    assert_eq!(
        repeat(&["headway", "run", "me:pw@h/", "--phases", "30s@50, 1m@200/s"]),
        "headway run '<redacted>@h/' --phases '30s@50, 1m@200/s' --seed 7"
    );
    assert_eq!(
        repeat(&["headway", "plan", "--phases=30s@50,1m@200"]),
        "headway plan --phases=30s@50,1m@200 --seed 7"
    );
}

#[test]
fn the_url_of_a_collector_shows_the_names_of_its_query_alone() {
    assert_eq!(
        repeat(&["headway", "run", "h", "--otlp", "http://c?tenant=s3cr3t&bare", "--note", "tenant=s3cr3t"]),
        "headway run h --otlp 'http://c?tenant=<redacted>&<redacted>' --note tenant=s3cr3t --seed 7"
    );
    assert_eq!(
        repeat(&["headway", "run", "h", "--otlp=http://c?a=x1", "--otlp-every", "9s"]),
        "headway run h '--otlp=http://c?a=<redacted>' --otlp-every 9s --seed 7"
    );
}
