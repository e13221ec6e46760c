//! The command that repeats a run, without its secrets.

use headway_cli::repeat::{command, read};
use std::ffi::OsString;
fn repeat(line: &[&str]) -> String {
    let argv: Vec<OsString> = line.iter().map(OsString::from).collect();
    command(&read(&argv), 7).into()
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

#[test]
fn bodies_in_which_nothing_is_secret_are_repeated_and_others_are_not() {
    let body = |body: &str| {
        let argv: Vec<OsString> = ["headway", "run", "h", "-b", body].iter().map(OsString::from).collect();
        read(&argv).words[4].clone()
    };
    for kept in [
        r#"{"a":1}"#,
        r#"{"user":{"name":"me","tags":["x","y"]},"note":"two words"}"#,
        "{}",
        "name=me&n=5",
        "q=&n=1",
        "@pin.json",
        "-",
    ] {
        assert_eq!(body(kept), kept);
    }
    for hidden in [
        // Nobody knows what a text without names is.
        "hunter2",
        "AUTH hunter2\r\n",
        r#""hunter2""#,
        r#"["hunter2"]"#,
        "",
        // Names of secrets, however deep, and within texts.
        r#"{"password":"hunter2","x":1}"#,
        r#"{"login":[{"apiKey":5}]}"#,
        r#"{"inner":"{\"password\":\"hunter2\"}"}"#,
        r#"{"inner":"token=hunter2"}"#,
        r#"{"url":"http://me:hunter2@h/"}"#,
        "name=me&pin=1234",
        "pin=1234",
        "a=b&user[password]=hunter2",
        "x=token%3Dhunter2",
        // The padding of Base64.
        "hunter2=",
        // What looks like a key, under any name.
        r#"{"x":"sk-4eC39HqLyjWDarjtT1zdp7dc"}"#,
        "x=eyJhbGciOiJIUzI1NiJ9.e30",
        // No JSON, though it begins like it.
        r#"{"password":"hunter2""#,
        "<password>hunter2</password>",
    ] {
        let shown = body(hidden);
        assert_eq!(shown, "<redacted>", "{hidden}");
    }
    let shown = |line: &[&str]| repeat(line);
    // Names that the user adds, and values that are secrets elsewhere.
    assert!(
        shown(&["headway", "run", "h", "--data", r#"{"door":1}"#, "--redact", "door"])
            .contains("--data '<redacted>'")
    );
    assert!(
        shown(&["headway", "run", "h", "-H", "Authorization: Bearer hunter2", "-b", r#"{"a":"hunter2"}"#])
            .contains("-b '<redacted>'")
    );
    assert!(shown(&["headway", "run", "h", "--data", r#"{"a":1}"#]).contains(r#"--data '{"a":1}'"#));
}
