use super::*;

fn converted(command: &str) -> Converted {
    scenario(&[command.to_owned()]).unwrap_or_else(|e| panic!("{command}: {e:#}"))
}

/// The journey alone.
fn journey(command: &str) -> String {
    let text = converted(command).scenario;
    text.split_once("journey:\n").unwrap().1.to_owned()
}

fn error(command: &str) -> String {
    format!("{:#}", scenario(&[command.to_owned()]).unwrap_err())
}

#[test]
fn what_a_browser_copies_becomes_a_scenario() {
    let chrome = r#"curl 'https://shop.example.org/api/cart?lang=en' \
  -X 'PUT' \
  -H 'accept: application/json, text/plain, */*' \
  -H 'content-type: application/json' \
  -b 'sid=abc; theme=dark' \
  -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)' \
  --data-raw $'{"note":"it\'s \u0021 {{x}}","count":2,"list":[1,{"a":null}]}' \
  --compressed"#;
    let expected = r#"# Made by headway from-curl: 1 step.
# Secrets are not written down; before a run, set
#   HEADWAY_SECRET_COOKIE: the value of the header Cookie
target: https://shop.example.org
users:
  # Sessions that begin per second, and for how long: a careful start, to be changed.
  arrive:
    process: poisson
    rate: 1/s
  phases:
    - hold: 10s
journey:
  - put: /api/cart?lang=en
    headers:
      accept: application/json, text/plain, */*
      Cookie: "${HEADWAY_SECRET_COOKIE}"
      user-agent: Mozilla/5.0 (X11; Linux x86_64)
      Accept-Encoding: gzip, deflate, br, zstd
    json:
      note: "it's ! \\{{x}}"
      count: 2
      list:
        - 1
        - a: null
"#;
    let converted = converted(chrome);
    assert_eq!(converted.scenario, expected);
    assert_eq!(converted.notes, ["set HEADWAY_SECRET_COOKIE before a run: the value of the header Cookie"]);
}

#[test]
fn the_method_is_curl_s() {
    for (command, starts) in [
        ("curl a", "  - get: /\n"),
        ("curl -I a", "  - head: /\n"),
        ("curl -d x a", "  - post: /\n"),
        ("curl -F x=y a", "  - post: /\n"),
        ("curl -T f a", "  - put: /f\n"),
        ("curl -G -d x a", "  - get: /?x\n"),
        ("curl -X PURGE a/x", "  - request:\n      method: PURGE\n      path: /x\n"),
        ("/usr/bin/curl -XDELETE a/1", "  - delete: /1\n"),
    ] {
        assert!(journey(command).contains(starts), "{command}: {}", journey(command));
    }
}

#[test]
fn words_that_a_shell_took_apart_are_taken_as_they_are() {
    let words = ["curl", "http://a/?b=1&c=$d", "-H", "X: 'y'"].map(str::to_owned);
    let text = scenario(&words).unwrap().scenario;
    assert!(text.contains("- get: \"/?b=1&c=$d\"") && text.contains("X: \"'y'\""), "{text}");
}

#[test]
fn bodies_become_what_they_are() {
    for (options, ends) in [
        ("-d a=1 -d 'b=x y%26'", "form:\n      a: \"1\"\n      b: x y&\n"),
        // Not a form in earnest: sent as it stands, with the type that curl gives it.
        (
            "-d '{\"a\":1}'",
            "headers:\n      Content-Type: application/x-www-form-urlencoded\n    text: \"{\\\"a\\\":1}\"\n",
        ),
        ("-d a=1 -d a=2", "text: a=1&a=2\n"),
        ("--json '{\"a\":' --json '1}'", "headers:\n      Accept: application/json\n    json:\n      a: 1\n"),
        ("--data-urlencode 'q=a b&c' --data-urlencode plain", "text: q=a+b%26c&plain\n"),
        ("--data-urlencode 'q=a b&c'", "form:\n      q: a b&c\n"),
        ("--data-raw @x -H 'Content-Type: text/plain'", "text: \"@x\"\n"),
        ("--data-binary @up.bin -H 'Content-Type: image/png'", "Content-Type: image/png\n    file: up.bin\n"),
        (
            "-H 'Content-Type: application/json; charset=utf-8' -d '[1.50]'",
            "charset=utf-8\n    text: \"[1.50]\"\n",
        ),
        ("-T up.bin", "file: up.bin\n"),
        (
            "-F 'a=b' -F 'f=@x.png;type=image/x;filename=y.png' -F 'g=@z.TXT' -F 'j={\"x\":1};type=application/json'",
            "multipart:\n      - name: a\n        text: b\n      - name: f\n        file: x.png\n        filename: y.png\n        type: image/x\n      - name: g\n        file: z.TXT\n        type: text/plain\n      - name: j\n        text: \"{\\\"x\\\":1}\"\n        type: application/json\n",
        ),
        ("--form-string 'a=@b;type=c'", "multipart:\n      - name: a\n        text: \"@b;type=c\"\n"),
        (
            "-F 'f=\"a;b\\\"c\";type=text/plain; charset=x'",
            "text: \"a;b\\\"c\"\n        type: text/plain; charset=x\n",
        ),
    ] {
        let journey = journey(&format!("curl {options} http://a/"));
        assert!(journey.ends_with(ends), "{options}:\n{journey}");
    }
}

#[test]
fn several_urls_are_several_steps() {
    let command = "curl -A x -k -m 10 http://a/1 http://a/2 --next -A x --max-time 2.5 --connect-timeout 1 -d b=c http://a:80/1 -L -o f -sS";
    let text = converted(command).scenario;
    let expected = "target: http://a\ntimeout: 10s\nconnect-timeout: 1s\nredirects: 10\ninsecure: true\nheaders:\n  User-Agent: x\nusers:";
    assert!(text.contains(expected), "{text}");
    let expected = "journey:\n  - get: /1\n  - get: /2\n  # -L: `redirects: 10` follows the redirects of every step, to the target and the origins of steps.\n  # Passed over, being about curl itself: -o -s -S.\n  - post: /1\n    form:\n      b: c\n";
    assert!(text.ends_with(expected), "{text}");
    let names = journey("curl a/x?1 a/x?2 a/x --next -X POST a/x");
    assert!(names.contains("name: GET /x (2)") && names.contains("name: GET /x (3)"), "{names}");
}

#[test]
fn urls_of_several_hosts_are_whole_in_steps() {
    let command = "curl -A x -u me:pw http://a/1 https://a/1 --next -A x -u me:pw http://b:81/2?c=d http://a:80//b.test/3";
    let text = converted(command).scenario;
    assert!(text.contains("target: http://a\nheaders:\n  User-Agent: x\nusers:"), "{text}");
    let secret = "    headers:\n      Authorization: \"${HEADWAY_SECRET_AUTHORIZATION}\"\n";
    let paths = ["/1", "https://a/1", "http://b:81/2?c=d", "http://a//b.test/3"];
    let steps: String = paths.iter().map(|path| format!("  - get: {path}\n{secret}")).collect();
    assert!(text.ends_with(&steps), "{text}");
}

#[test]
fn secrets_are_variables() {
    let command = "curl -u me:hunter2 -H 'X-Api-Key: k3y' -d 'user=me&password=hunter2' 'http://a/?access_token=t0k&x=1' http://me:hunter2@a/";
    let Converted { scenario, notes } = converted(command);
    for secret in ["hunter2", "k3y", "t0k"] {
        assert!(
            !scenario.contains(secret) && !notes.concat().contains(secret),
            "{secret}: {scenario} {notes:?}"
        );
    }
    assert!(scenario.contains("post: \"/?access_token=${HEADWAY_SECRET_ACCESS_TOKEN}&x=1\""), "{scenario}");
    assert!(!scenario.contains("HEADWAY_SECRET_AUTHORIZATION_2"), "{scenario}");
    for name in [
        "HEADWAY_SECRET_AUTHORIZATION",
        "HEADWAY_SECRET_X_API_KEY",
        "HEADWAY_SECRET_PASSWORD",
        "HEADWAY_SECRET_ACCESS_TOKEN",
    ] {
        assert!(
            scenario.contains(&format!("\"${{{name}}}")) || scenario.contains(&format!("${{{name}}}&")),
            "{name}"
        );
        assert!(
            notes.iter().any(|note| note.starts_with(&format!("set {name} before a run:"))),
            "{name}: {notes:?}"
        );
        assert!(scenario.contains(&format!("#   {name}: ")), "{scenario}");
    }
    let bearer = converted("curl --oauth2-bearer t0k -b c=d -F password=pw a");
    assert!(bearer.notes[1].contains("'Bearer ' and the token"), "{:?}", bearer.notes);
    assert!(!bearer.scenario.contains("t0k") && !bearer.scenario.contains("pw\n"));
    // A header that was given wins over -u, as in curl.
    assert!(!converted("curl -u a:b -H 'Authorization: X' a").scenario.contains("base64"));
}

#[test]
fn secrets_within_values_are_not_written_down() {
    let made = converted(
        "curl -e 'https://b/?token=t-4711&y=1#access_token=t-4712' -H 'X-Forward: http://x/?api_key=t-4713' 'http://a/?to=http://x/?sig=t-4714&y=1'",
    );
    assert!(!made.scenario.contains("t-47"), "{}", made.scenario);
    for part in [
        "?token=${HEADWAY_SECRET_REFERER}&y=1#${HEADWAY_SECRET_REFERER_2}",
        "/?api_key=${HEADWAY_SECRET_X_FORWARD}",
        "/?to=http://x/?sig=${HEADWAY_SECRET_URL}&y=1",
    ] {
        assert!(made.scenario.contains(part), "{part}: {}", made.scenario);
    }
    assert!(
        made.notes.iter().any(|note| note.contains("REFERER before a run: a secret in the header Referer"))
    );
}

#[test]
fn what_curl_would_not_take_as_one_url_is_refused() {
    let slashes = error("curl http://a/ //127.0.0.1:18424/k");
    assert!(
        slashes.contains("'//127.0.0.1:18424/k': curl takes no URL that begins with slashes"),
        "{slashes}"
    );
    for url in ["http://h[1-3].example/", "http://[1-3].example/", "http://{a,b}/", "http://a/[1-3]"] {
        let error = error(&format!("curl '{url}'"));
        assert!(error.contains("curl would make several URLs"), "{url}: {error}");
    }
    assert!(converted("curl 'http://me:pw@[::1]:80/x'").scenario.contains("http://[::1]"));
}

#[test]
fn a_proxy_is_of_the_whole_scenario_and_its_password_is_not_written_down() {
    let text = converted("curl -x proxy:3128 http://a/").scenario;
    assert!(text.contains("proxy: http://proxy:3128\n"), "{text}");
    let Converted { scenario, notes } = converted("curl -x http://me:hunter2@proxy:3128 http://a/");
    assert!(
        !scenario.contains("hunter2") && scenario.contains("proxy: ${HEADWAY_SECRET_PROXY}"),
        "{scenario}"
    );
    assert!(notes[0].starts_with("set HEADWAY_SECRET_PROXY before a run: the URL of the proxy"), "{notes:?}");
}

#[test]
fn a_unix_socket_is_the_target() {
    let text = converted("curl --unix-socket /run/a.sock http://docker/v1/info").scenario;
    assert!(text.contains("target: unix:/run/a.sock\n") && text.contains("Host: docker\n"), "{text}");
    assert!(!converted("curl --unix-socket /run/a.sock http://localhost/").scenario.contains("Host"));
}

#[test]
fn headers_are_curl_s() {
    let text = journey(
        "curl -H 'Accept:' -H 'X-Empty;' -H 'A: 1' -H 'a: 2' -H 'Content-Length: 3' -e 'b;auto' -b jar a",
    );
    let headers = "headers:\n      X-Empty: \"\"\n      A: 1, 2\n      Referer: b\n";
    assert!(text.ends_with(&headers.replace("1, 2", "\"1, 2\"")), "{text}");
    for says in ["-H 'Accept:'", "the header Content-Length", "-b FILE"] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn what_cannot_be_done_says_why() {
    for (command, says) in [
        ("", "there is no command"),
        ("wget http://a", "begins with 'wget'"),
        ("Invoke-WebRequest -Uri x", "Copy as cURL (bash)"),
        ("curl -s", "no URL"),
        ("curl a --next -s", "no URL"),
        ("curl --frobnicate a", "--frobnicate is no option"),
        ("curl -x http://p a", "it names no port; write http://HOST:PORT"),
        ("curl -x socks5://p:1 a", "SOCKS"),
        ("curl -U me:pw a", "-U: no scenario can do this: it knows proxies of HTTP alone"),
        ("curl --resolve a:80:b,c a", "--resolve: 'a:80:b,c': a scenario knows one address"),
        ("curl --resolve -a:80 a", "one address"),
        ("curl -E me.pem:pw@ https://a", "'me.pem:...' gives a passphrase"),
        ("curl --digest -u a:b a", "Basic"),
        ("curl 'http://a/{b,c}'", "one by one"),
        ("curl 'http://a/[1-3]'", "one by one"),
        ("curl ftp://a/", "scheme ftp"),
        ("curl http://me:pw@a:99999/", "<redacted>@a:99999"),
        (
            "curl http://a --next --unix-socket /s http://a",
            "this goes to unix:/s where others go to http://a",
        ),
        ("curl --unix-socket /s http://a --next http://a", "a Unix socket goes nowhere else"),
        ("curl -d a -F b=c x", "more than one kind of body"),
        ("curl --http3 https://a", "--http3: no scenario can do this: Headway speaks HTTP/1.1 and HTTP/2"),
        ("curl --http3-only https://a", "HTTP/1.1 and HTTP/2"),
        ("curl -I -d a x", "sends no body"),
        ("curl -d @f -d b x", "one file"),
        ("curl -d @- x", "standard input"),
        ("curl -d @ x", "without the name"),
        ("curl --data-urlencode a@f x", "in its place"),
        ("curl -G -d @f x", "into the URL"),
        ("curl -F a x", "is no field"),
        ("curl -F 'a=<f' x", "as text"),
        ("curl -F 'a=@f,g' x", "its own -F"),
        ("curl -F 'a=b;headers=c' x", ";headers="),
        ("curl -F 'a=\"b' x", "not closed"),
        ("curl -H nonsense x", "-H: 'nonsense' is no header"),
        ("curl -H 'a b: c' x", "is no header"),
        ("curl -H $'a: b\\nc' x", "control character"),
        ("curl -H @f x", "from a file"),
        ("curl -X 'GET /' x", "no method"),
        ("curl -X connect x", "no method"),
        ("curl -F 'a=b;filename=c' x", "put the text into a file"),
        ("curl -m 0 x", "-m: '0' is no number of seconds"),
        ("curl --data-raw $'\\xff' x", "--data-raw: byte 1 of its value is no UTF-8"),
        ("curl --unix-socket /s https://a/", "TLS"),
    ] {
        let error = error(command);
        assert!(error.contains(says) && !error.contains("pw@"), "{command}: {error}");
    }
    let globoff = journey("curl -g 'http://a/{b}[1]'");
    assert!(globoff.starts_with("  - get: \"/{b}[1]\"\n"), "{globoff}");
}

#[test]
fn secrets_of_bodies_are_not_written_whatever_their_type() {
    for command in [
        r#"curl http://h/a -d '{"password":"MKA1"}'"#,
        r#"curl http://h/a -d '{"a":{"passwords":["MKA1","MKA12=x"]},"n":[{"key":"token","value":"MKA13"}]}'"#,
        r#"curl http://h/a -H 'content-type: application/json' -d '{"pin":{"code":"MKA1"},"n":[{"field":"token","value":"MKA13"}]}'"#,
        r#"curl http://h/a -H 'content-type: application/json' -d '{"otp":1MKA}' -d '{"pin": 998877}'"#,
        r#"curl http://h/a -H 'content-type: application/json' -d '{"pin": 998877}'"#,
        "curl http://h/a -H 'content-type: text/plain' -d 'password=MKA2'",
        "curl http://h/a -H 'content-type: text/xml' -d '<a><password>MKA2</password></a>'",
        "curl http://h/a -H 'X-Foo: Bearer MKA3'",
        "curl http://h/a -H 'X-Foo: bearer mka'",
        "curl 'http://h/a?to=http%3A%2F%2Fh%2F%3Ftoken%3DMKA4'",
        "curl http://h/a -d 'to=http%3A%2F%2Fh%2F%3Ftoken%3DMKA4&x=y'",
        r#"curl http://h/a -F 'meta={"password":"MKA5 ${x} {{y}}"}'"#,
    ] {
        let made = super::scenario(&[command.to_owned()]).unwrap();
        let shown = format!("{}{}", made.scenario, made.notes.join(" "));
        assert!(
            !shown.contains("MKA") && !shown.contains("mka") && !shown.contains("998877"),
            "{command}: {shown}"
        );
        assert!(
            shown.contains("${HEADWAY_SECRET_") && shown.contains("Secrets are not written down"),
            "{shown}"
        );
    }
}

#[test]
fn an_upload_to_a_folder_keeps_the_name_of_its_file() {
    for (command, put) in [
        ("curl -T photo.bin http://h/put/", "/put/photo.bin"),
        ("curl -T 'a/my photo.bin' http://h", "/my%20photo.bin"),
        ("curl -T photo.bin 'http://h/put/?x=/'", "/put/photo.bin?x=/"),
        ("curl -T photo.bin http://h/put/other", "/put/other"),
    ] {
        let journey = journey(command);
        assert!(
            journey.contains(&format!("put: {put}\n")) || journey.contains(&format!("put: \"{put}\"\n")),
            "{journey}"
        );
        assert!(journey.contains("Content-Type: \"\"\n"), "{journey}");
    }
    assert!(
        journey("curl -T a -H 'Content-Type: image/png' http://h/").contains("Content-Type: image/png\n")
    );
}

#[test]
fn certificates_and_other_places_are_settings() {
    let made = super::scenario(&[
        "curl --cacert c.pem -E me.pem --key 'my ${x}.key' --resolve +a:443:127.0.0.1 --resolve c:8443:127.0.0.2 --connect-to a:443:c:8443 https://a/ --resolve b:443:127.0.0.3 --connect-to a:80:d:80 --next --cacert other.pem https://b/b"
            .to_owned(),
    ])
    .unwrap();
    for line in [
        "cacert: \"other.pem\"\n",
        "cert: \"me.pem\"\n",
        "key: \"my $${x}.key\"\n",
        "resolve: [\"c:8443:127.0.0.2\", \"b:443:127.0.0.3\"]\n",
        "connect-to: [\"a:443:c:8443\"]\n",
        "--connect-to a:80:d:80 --resolve a:443:127.0.0.1",
    ] {
        assert!(made.scenario.contains(line), "{line}{}", made.scenario);
    }
    let around = headway_workload::scenario::Surroundings {
        read: &|_| Ok(Vec::new()),
        env: &|_| None,
        log: &headway_workload::scenario::no_logs,
    };
    let read = headway_workload::scenario::parse("a.yaml", &made.scenario, &around);
    assert!(read.is_ok(), "{}", read.err().map(|e| e.to_string()).unwrap_or_default());
}
