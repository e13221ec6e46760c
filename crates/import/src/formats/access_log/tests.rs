use super::*;
use crate::formats::check::read_all;
use crate::testing::read_with;
use proptest::prelude::*;

/// Start in nanoseconds since 2026-11-21T12:55:40Z, response time, status, outcome, bytes, label.
type Row = (i64, i64, u16, Outcome, u64, String);

const BASE: i64 = 1_795_265_740_000_000_000;
const S: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;

fn read(format: Option<&str>, text: &str) -> (Vec<Row>, Rows, Facts) {
    let options = Options { log_format: format.map(str::to_owned), ..Options::default() };
    let (rows, facts) = read_all(&AccessLog, text.as_bytes(), &options);
    let label = |step: u16| rows.tables.labels.as_slice()[usize::from(step)].clone();
    let row = |r: &headway_base::Record| {
        assert_eq!(r.started.get(), Some(r.intended));
        (r.intended.0 - BASE, r.response().0, r.status, r.outcome, r.bytes_received, label(r.step))
    };
    let shown = rows.records.iter().map(row).collect();
    (shown, rows, facts)
}

fn row(at: i64, took: i64, status: u16, outcome: Outcome, bytes: u64, label: &str) -> Row {
    (at, took, status, outcome, bytes, label.to_owned())
}

#[test]
fn combined_is_recognised_and_read() {
    let text = r#"127.0.0.1 - - [21/Nov/2026:12:55:40 +0000] "GET /slow?x=1 HTTP/1.1" 200 2 "-" "a \"quoted\" \\ agent"
127.0.0.1 - bob [21/Nov/2026:13:55:41 +0100] "\x16\x03\x01" 400 266 "-" "-"
::1 - - [21/Nov/2026:12:55:39 +0000] "-" 408 - "-" "-"
127.0.0.1 - - [21/Nov/2026:12:55:40 +0000] "GET /a HTTP/1.1" 499 0 "http://x/" "curl/7.88.1"
"#;
    assert!(AccessLog.recognise(text.as_bytes()));
    let (shown, rows, facts) = read(None, text);
    assert_eq!(
        shown,
        [
            row(0, 0, 200, Outcome::Ok, 2, "GET /slow"),
            row(S, 0, 400, Outcome::Status, 266, "(no request line)"),
            row(-S, 0, 408, Outcome::Status, 0, "(no request line)"),
            row(0, 0, 499, Outcome::Reset, 0, "GET /a"),
        ]
    );
    assert_eq!(rows.unreadable, 0);
    assert_eq!(
        (facts.format.as_str(), facts.resolution.0, facts.ends),
        ("access log, combined format", S, false)
    );
    assert_eq!((facts.stamps, facts.users, facts.bytes), (Stamps::Start, false, true));
    assert!(facts.missing[1].contains("nginx stamps the end and Apache the start"), "{:?}", facts.missing);
}

/// By the stamp of the request and the last of its five timers; behind syslog's words or without them.
#[test]
fn haproxy_is_recognised_and_read() {
    let text = r#"Nov 21 12:55:40 lb1 haproxy[7]: 192.0.2.9:53332 [21/Nov/2026:12:55:40.015] http_in~ bk/srv1 0/0/1/2/3 200 366 - - ---- 2/1/0/0/0 0/0 "GET /cart?a=b HTTP/1.1"
192.0.2.9:53332 [21/Nov/2026:12:55:41.000] in bk/srv1 0/0/1/2/1500 503 212 c=1 - sC-- 2/1/0/0/3 0/0 {agent #22of its own#22|x} {} "POST / HTTP/1.1"
192.0.2.9:1 [21/Nov/2026:12:55:42.250] in in/<NOSRV> -1/-1/-1/-1/7 400 0 - - PR-- 2/2/0/0/0 0/0 "<BADREQ>"
192.0.2.9:2 [21/Nov/2026:12:55:42.300] in bk/srv1 0/0/0/-1/9 -1 0 - - CD-- 2/2/0/0/0 0/0 "GET /gone HTTP/1.1"
"#;
    assert!(AccessLog.recognise(text.as_bytes()));
    let (shown, rows, facts) = read(None, text);
    assert_eq!(
        shown,
        [
            row(15 * MS, 3 * MS, 200, Outcome::Ok, 366, "GET /cart"),
            row(S, 1_500 * MS, 503, Outcome::Status, 212, "POST /"),
            row(2_250 * MS, 7 * MS, 400, Outcome::Status, 0, "(no request line)"),
            row(2_300 * MS, 9 * MS, 0, Outcome::Reset, 0, "GET /gone"),
        ]
    );
    assert_eq!((rows.unreadable, facts.stamps, facts.resolution.0), (0, Stamps::Start, MS));
    assert_eq!((facts.format.as_str(), facts.ends, facts.finer), ("HAProxy HTTP log", true, None));
}

#[test]
fn shipped_formats_are_told_apart() {
    let common = r#"h - - [21/Nov/2026:12:55:40 +0000] "GET / HTTP/1.1" 200 2"#;
    for (name, text) in [
        ("access log, common format", common.to_owned()),
        ("access log, common format and more", format!("{common} 0.004")),
        ("access log, combined format", format!("{common} \"-\" \"agent\"")),
        ("nginx access log, main format", format!("{common} \"-\" \"agent\" \"10.0.0.1\"")),
        ("Apache access log, vhost_combined format", format!("www:80 {common} \"-\" \"agent\"")),
        (
            "Envoy access log, default format",
            r#"[2026-11-21T12:55:40.310Z] "GET / HTTP/2" 200 - 154 2 226 100 "-" "a" "id" "host" "10.0.2.1:80""#.to_owned(),
        ),
    ] {
        assert!(AccessLog.recognise(text.as_bytes()), "{text}");
        let (shown, _, facts) = read(None, &text);
        assert_eq!(facts.format, name);
        assert_eq!((shown.len(), shown[0].2, shown[0].5.as_str()), (1, 200, "GET /"));
    }
    for other in [
        "",
        "\n\n",
        "h - - [21/Nov/2026:12:55:40 +0000] GET / HTTP/1.1 200 2",
        "h - - [21/Nov/2026:12:55:40 +0000] \"GET / HTTP/1.1\" 2000 2",
        "h - - [2026-11-21 12:55:40] \"GET / HTTP/1.1\" 200 2",
        "timeStamp,elapsed,label\n1,2,3\n",
    ] {
        assert!(!AccessLog.recognise(other.as_bytes()), "{other}");
    }
}

#[test]
fn nginx_starts_are_ends_less_the_time_taken() {
    let format = r#"$remote_addr [$time_local] $msec "$request" $status $bytes_sent rt=$request_time urt=$upstream_response_time conn=$connection/$connection_requests "$http_user_agent""#;
    let text = r#"127.0.0.1 [21/Nov/2026:12:55:42 +0000] 1795265742.500 "GET /slow?x=1 HTTP/1.1" 200 142 rt=2.502 urt=2.502 conn=1/1 "a \x22b\x22"
127.0.0.1 [21/Nov/2026:12:55:43 +0000] 1795265743.001 "GET /slow HTTP/1.1" 499 0 rt=1.001 urt=0.001, 1.002 : 0.1 conn=3/1 "curl"
127.0.0.1 [21/Nov/2026:12:55:43 +0000] 1795265743.010 "GET /missing HTTP/1.1" 404 308 rt=0.000 urt=- conn=5/2 "curl"
"#;
    let (shown, rows, facts) = read(Some(format), text);
    assert_eq!(
        shown,
        [
            row(-2 * MS, 2502 * MS, 200, Outcome::Ok, 142, "GET /slow"),
            row(2 * S, 1001 * MS, 499, Outcome::Reset, 0, "GET /slow"),
            row(3010 * MS, 0, 404, Outcome::Status, 308, "GET /missing"),
        ]
    );
    let connections: Vec<_> = rows.records.iter().map(|r| (r.connection, r.reused)).collect();
    assert_eq!(connections, [(1, false), (3, false), (5, true)]);
    assert_eq!((facts.stamps, facts.resolution.0, facts.ends), (Stamps::End, MS, true));
    assert_eq!(facts.missing, ["What never reached the server is not in its log."]);
}

#[test]
fn nginx_without_the_time_taken() {
    let (shown, _, facts) =
        read(Some("$time_iso8601 $request_method $request_uri"), "2026-11-21T13:55:40+01:00 PUT /x?y=1\n");
    assert_eq!(shown, [row(0, 0, 0, Outcome::Ok, 0, "PUT /x")]);
    assert_eq!((facts.stamps, facts.resolution.0, facts.ends, facts.bytes), (Stamps::End, S, false, false));
    assert_eq!(facts.missing[1], "The log has no $request_time: ends stand for starts.");
    assert_eq!(facts.finer, Some("log_format with $msec $request_time"));
}

#[test]
fn nginx_json_is_a_format_string_too() {
    let format = r#"{"t":$msec,"m":"$request_method","u":"$uri","s":$status,"rt":$request_time,"ua":"$http_user_agent"}"#;
    let text = r#"{"t":1795265740.250,"m":"GET","u":"/","s":200,"rt":0.250,"ua":"a \"quoted\",\" agent"}"#;
    assert_eq!(read(Some(format), text).0, [row(0, 250 * MS, 200, Outcome::Ok, 0, "GET /")]);
}

#[test]
fn apache_starts_and_ends() {
    // As LogFormat is written in the configuration, quotes escaped.
    let format = r#"%{%d/%b/%Y:%H:%M:%S}t.%{usec_frac}t %{%z}t %{sec}t.%{msec_frac}t \"%r\" %U%q %H %>s %B %D %T %X %k %I %O \"%{User-agent}i\""#;
    let text = r#"21/Nov/2026:12:55:40.622249 +0000 1795265740.622 "GET /slow?x=1 HTTP/1.1" /slow?x=1 HTTP/1.1 200 2 2503536 2 + 0 94 132 "a \"b\" \\"
21/Nov/2026:12:55:44.529643 +0000 1795265744.529 "GET /a%20b?c=d HTTP/1.1" /a b?c=d HTTP/1.1 404 236 275 0 X 1 88 397 "curl"
"#;
    let (shown, rows, facts) = read(Some(format), text);
    assert_eq!(
        shown,
        [
            row(622_249_000, 2_503_536_000, 200, Outcome::Ok, 132, "GET /slow"),
            row(4_529_643_000, 275_000, 404, Outcome::Reset, 397, "GET /a%20b"),
        ]
    );
    assert_eq!(
        (rows.records[0].bytes_sent, rows.records[0].reused, rows.records[1].reused),
        (94, false, true)
    );
    assert_eq!((facts.stamps, facts.resolution.0, facts.ends), (Stamps::Start, 1000, true));
}

#[test]
fn apache_units_and_prefixes() {
    for (format, line, at, took, resolution, stamps) in [
        ("%t %D", "[21/Nov/2026:13:55:40 +0100] 7", 0, 7000, S, Stamps::Start),
        ("%{usec}t %T", "1795265740000001 2", 1000, 2 * S, 1000, Stamps::Start),
        ("%{begin:msec}t %{ms}T", "1795265740001 2", MS, 2 * MS, MS, Stamps::Start),
        ("%{usec}t %{end:usec}t", "1795265740000001 1795265740000005", 1000, 4000, 1000, Stamps::Start),
        ("%{end:usec}t %{us}T", "1795265740000005 4", 1000, 4000, 1000, Stamps::End),
        ("%{end:usec}t %T", "1795265742000005 2", 5000, 2 * S, S, Stamps::End),
        ("%{sec}t%{usec_frac}t %D", "1795265740000009 1", 9000, 1000, 1000, Stamps::Start),
        ("%200,304{usec}t %!500D", "1795265740000009 1", 9000, 1000, 1000, Stamps::Start),
    ] {
        let (shown, rows, facts) = read(Some(format), line);
        assert_eq!(rows.examples, [], "{format}");
        assert_eq!((shown[0].0, shown[0].1), (at, took), "{format}");
        assert_eq!((facts.resolution.0, facts.stamps, facts.ends), (resolution, stamps, true), "{format}");
        assert_eq!(shown[0].5, "request");
        assert_eq!(
            facts.missing.iter().any(|m| m.contains("whole seconds")),
            format.ends_with(" %T"),
            "{format}"
        );
    }
}

#[test]
fn apache_first_byte() {
    let (_, rows, _) = read(Some("%{usec}t %D %^FB"), "1795265740000000 50 20\n1795265740000000 50 -\n");
    let spans: Vec<_> =
        rows.records.iter().map(|r| r.first_byte.get().map(|at| (at - r.intended).0)).collect();
    assert_eq!(spans, [Some(20_000), None]);
}

#[test]
fn envoy_times() {
    let default = r#"[2026-11-21T12:55:40.310Z] "POST /api?x HTTP/2" 0 DC 154 0 226 100 "10.0.35.28" "agent" "id" "host" "-""#;
    let (shown, rows, facts) = read(None, default);
    assert_eq!(shown, [row(310 * MS, 226 * MS, 0, Outcome::Reset, 0, "POST /api")]);
    assert_eq!((rows.records[0].bytes_sent, facts.resolution.0, facts.stamps), (154, MS, Stamps::Start));
    let fine = r#"%START_TIME(%s.%6f)% %COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)% %REQUEST_HEADER(:METHOD)% %REQ(:PATH):20% %RESPONSE_CODE% %BYTES_SENT%\n"#;
    let (shown, _, facts) = read(Some(fine), "1795265740.000007 1500 GET /x 200 12\n");
    assert_eq!(shown, [row(7000, 1_500_000, 200, Outcome::Ok, 12, "GET /x")]);
    assert_eq!(facts.resolution.0, 1000);
    let aborted = "1795265740.000007 - - - 0 0\n";
    assert_eq!(read(Some(fine), aborted).0, [row(7000, 0, 0, Outcome::Reset, 0, "(no request line)")]);
    let dated = "%START_TIME(%Y/%m/%dT%T.%3f%z)% %DURATION%";
    assert_eq!(
        read(Some(dated), "2026/11/21T13:55:40.004+0100 5").0,
        [row(4 * MS, 5 * MS, 0, Outcome::Ok, 0, "request")]
    );
}

#[test]
fn rows_that_do_not_fit_are_said() {
    let text = "1795265740.000 0.1\n1795265740.000\n1795265740.000 0.1 more\n17952657.000 0.1\n1795265740.000 -\n1795265740.000 90000\n";
    let (shown, rows, _) = read(Some("$msec $request_time"), text);
    assert_eq!((shown.len(), rows.unreadable), (1, 5));
    let expected: Vec<_> = rows.examples.iter().map(|e| (e.line, e.expected.as_str())).collect();
    assert_eq!(expected[0], (2, "a line of the nginx access log"));
    assert_eq!(expected[2], (4, "a time between 1990 and 2200 and up to a day taken"));
}

/// A line made to be tried in ever new ways is given up, not tried for ever.
#[test]
fn hostile_lines_end_soon() {
    let format = "%a %a %a %a %a %a %a %a %{usec}t";
    let line = "x ".repeat(100_000);
    let (shown, rows, _) = {
        let options = Options { log_format: Some(format.to_owned()), ..Options::default() };
        let mut reader = AccessLog.reader(Path::new("file"), &options).unwrap();
        let mut rows = Rows::default();
        reader.read(line.as_bytes(), true, &mut rows).unwrap();
        (rows.records.len(), rows, ())
    };
    assert_eq!((shown, rows.unreadable), (0, 1));
}

#[test]
fn bad_formats_are_refused_with_the_place() {
    for (format, expected) in [
        ("", "expected nginx's $variables, Apache's %directives or Envoy's %COMMANDS%"),
        ("host time", "expected nginx's $variables"),
        ("$remote_addr $request", "no time is in it: without $msec"),
        ("%h %r", "no time is in it: without %t"),
        ("%DURATION%", "no time is in it: without %START_TIME%"),
        ("é $ $msec", "at character 3: a $ without the name of a variable"),
        ("$msec $uri$request", "at character 11: nothing tells where the field before it ends"),
        ("%t %Q", "at character 4: \"%Q\" is no directive that Headway knows; known are %a"),
        ("%t %{x", "at character 4: a { that is not closed"),
        ("%t %", "at character 4: a % without a directive"),
        ("%t %{h}T", "at character 4: %{h}T: the units are s, ms and us"),
        ("%{%G}t", "at character 1: %G is no part of a time that Headway knows"),
        ("%START_TIME% %x", "at character 14: expected a command between two %"),
        ("%t %é", "at character 4: "),
        ("%t %^é", "at character 4: "),
    ] {
        let options = Options { log_format: Some(format.to_owned()), ..Options::default() };
        let Err(error) = AccessLog.reader(Path::new("file"), &options) else {
            panic!("{format} is accepted")
        };
        let text = error.to_string();
        assert!(text.starts_with("--log-format ") && text.contains(expected), "{format}: {text}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(
        format in "([$%{}():!<>^]|msec|time_local|START_TIME|DURATION|REQ|usec|end|[tTDrsUqX]|[ \"\\\\.:é-]|%F|%s){0,12}",
        text in "([0-9/:.,+-]|Nov|[A-Z ]|\"|\\[|\\]|\n|\\\\|é|21/Nov/2026:12:55:40 \\+0000|1795265740){0,30}",
        cut in 0usize..40,
    ) {
        AccessLog.recognise(text.as_bytes());
        let options = Options { log_format: Some(format), ..Options::default() };
        if let Ok(whole) = read_with(&AccessLog, &options, text.as_bytes(), &[]) {
            let cut = read_with(&AccessLog, &options, text.as_bytes(), &[cut]).unwrap();
            prop_assert_eq!(cut.0.records, whole.0.records);
            prop_assert_eq!(cut.0.examples, whole.0.examples);
        }
    }
}
