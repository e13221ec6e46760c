use super::*;

fn site(host: &str, tls: bool) -> Site {
    Site { host: host.to_owned(), tls, root: None }
}

/// A jar at `now` 1000 of what these headers set in answers to requests of these paths.
fn jar(host: &str, headers: &[(&str, &str)]) -> Jar {
    let mut jar = Jar::default();
    for (path, header) in headers {
        if let Some(cookie) = SetCookie::parse(header.as_bytes()) {
            jar.set(&cookie, &site(host, false), path, 1000);
        }
    }
    jar
}

/// What goes with a request.
fn sent(jar: &Jar, tls: bool, path: &str, now: i64) -> String {
    let mut out = Vec::new();
    jar.each(&site("example.org", tls), path, now, |name, value| out.push(format!("{name}={value}")));
    out.join("; ")
}

/// What goes with a request for / of that host right after.
fn sent_to(jar: &Jar, host: &str) -> String {
    let mut out = Vec::new();
    jar.each(&site(host, false), "/", 1000, |name, value| out.push(format!("{name}={value}")));
    out.join("; ")
}

/// RFC 6265, 5.3 and 5.4: a cookie goes to the host that set it, or to those of its domain.
#[test]
fn hosts_have_their_own_cookies() {
    let mut jar =
        jar("www.a.test", &[("/", "own=1"), ("/", "all=2; Domain=a.test"), ("/", "no=3; Domain=test")]);
    let other = SetCookie::parse(b"own=4").unwrap();
    jar.set(&other, &site("b.test", false), "/", 1000);
    assert_eq!(sent_to(&jar, "www.a.test"), "own=1; all=2");
    assert_eq!(sent_to(&jar, "api.a.test"), "all=2");
    assert_eq!(sent_to(&jar, "b.test"), "own=4");
    assert_eq!(sent_to(&jar, "ba.test"), "", "no part of a label");
}

/// A jar of one cookie, and what goes with a request for / right after.
fn one(header: &str) -> String {
    sent(&jar("example.org", &[("/", header)]), false, "/", 1000)
}

#[test]
fn headers_come_apart() {
    assert_eq!(one("a=b"), "a=b");
    assert_eq!(one("  a  =  b c \t; Path=/; HttpOnly; Unknown=x"), "a=b c");
    assert_eq!(one("a=\"b\""), "a=\"b\"");
    assert_eq!(one("a=b=c"), "a=b=c");
    assert_eq!(one("a="), "a=");
    assert_eq!(one(";a=b"), "");
    assert_eq!(one("ab"), "", "RFC 6265, 5.2: no = sets nothing");
    assert_eq!(one("=b"), "");
    assert_eq!(one("a=b\r\nX: y"), "", "a control character cannot come back in a header");
    assert_eq!(one("a=b\u{7f}"), "");
    assert_eq!(one(&format!("a={}", "x".repeat(LONGEST))), "", "too long");
    assert!(SetCookie::parse(b"a=\xff").is_none());
}

/// RFC 6265, 5.1.4.
#[test]
fn paths() {
    for (request, expected) in
        [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c", "/a/b"), ("", "/"), ("x/y", "/")]
    {
        assert_eq!(default_path(request), expected, "{request}");
    }
    let check = |cookie: &str, request: &str, matches: bool| {
        assert_eq!(path_matches(request, cookie), matches, "{cookie} {request}");
    };
    check("/", "/", true);
    check("/", "/anything", true);
    check("/a", "/a", true);
    check("/a", "/a/", true);
    check("/a", "/a/b", true);
    check("/a/", "/a/b", true);
    check("/a", "/ab", false);
    check("/a/", "/a", false);
    check("/a/b", "/a", false);
}

#[test]
fn longer_paths_go_first_then_older_ones() {
    let jar = jar(
        "example.org",
        &[("/", "a=1"), ("/x/y", "b=2"), ("/", "c=3; Path=/x"), ("/", "d=4; Path=x"), ("/q/", "e=5; Path=")],
    );
    assert_eq!(sent(&jar, false, "/x/z", 1000), "b=2; c=3; a=1; d=4");
    assert_eq!(sent(&jar, false, "/q", 1000), "e=5; a=1; d=4");
    assert_eq!(sent(&jar, false, "/", 1000), "a=1; d=4");
}

#[test]
fn a_cookie_of_the_same_name_path_and_domain_takes_the_others_place() {
    let twice = jar("example.org", &[("/", "a=1"), ("/", "b=2"), ("/", "a=3"), ("/x/", "a=4")]);
    assert_eq!(sent(&twice, false, "/x", 1000), "a=4; a=3; b=2");
    let ended = jar("example.org", &[("/", "a=1"), ("/", "b=2"), ("/", "a=; Max-Age=0")]);
    assert_eq!(sent(&ended, false, "/", 1000), "b=2");
    let other = jar("example.org", &[("/", "a=1"), ("/", "a=2; Path=/x; Max-Age=-1")]);
    assert_eq!(sent(&other, false, "/", 1000), "a=1", "of another path: not ended");
}

#[test]
fn cookies_end() {
    let at = |header: &str, now| sent(&jar("example.org", &[("/", header)]), false, "/", now);
    assert_eq!((at("a=1; Max-Age=60", 1059), at("a=1; Max-Age=60", 1060)), ("a=1".to_owned(), String::new()));
    // Thu, 01 Jan 1970 00:20:00 GMT is second 1200.
    let expires = "a=1; Expires=Thu, 01 Jan 1970 00:20:00 GMT";
    assert_eq!((at(expires, 1199), at(expires, 1200)), ("a=1".to_owned(), String::new()));
    assert_eq!(at("a=1; Expires=Thu, 01 Jan 1970 00:16:40 GMT", 1000), "");
    assert_eq!(at(&format!("{expires}; Max-Age=9999"), 5000), "a=1", "Max-Age goes before Expires");
    assert_eq!(at("a=1; Max-Age=99999999999999999999", i64::MAX - 1), "a=1");
    assert_eq!(at("a=1; Max-Age=-99999999999999999999", 1000), "");
    assert_eq!(at("a=1; Max-Age=soon; Expires=never", i64::MAX - 1), "a=1", "unread: for the session");
    assert_eq!(at("a=1; Max-Age=60; Max-Age=x", 2000), "", "the one that could be read counts");
}

#[test]
fn domains() {
    let of = |host: &str, domain: &str| {
        let jar = jar(host, &[("/", &format!("a=1; Domain={domain}"))]);
        !jar.is_empty()
    };
    assert!(of("www.example.org", "example.org") && of("www.example.org", ".Example.org"));
    assert!(of("example.org", "example.org") && of("example.org", ""));
    assert!(!of("example.org", "www.example.org") && !of("example.org", "ample.org"));
    assert!(!of("example.org", "other.org") && !of("éé.org", "é.org"));
    assert!(of("127.0.0.1", "127.0.0.1") && !of("127.0.0.1", "0.0.1"));
    assert!(of("::1", "::1"));
    let both = jar("www.example.org", &[("/", "a=1"), ("/", "a=2; Domain=example.org")]);
    assert_eq!(sent_to(&both, "www.example.org"), "a=1; a=2", "two cookies (RFC 6265, 5.3)");
}

#[test]
fn secure_cookies_go_by_tls_only() {
    let jar = jar("example.org", &[("/", "a=1; Secure"), ("/", "b=2")]);
    assert_eq!(
        (sent(&jar, false, "/", 1000), sent(&jar, true, "/", 1000)),
        ("b=2".into(), "a=1; b=2".into())
    );
}

#[test]
fn the_oldest_makes_room() {
    let headers: Vec<(&str, String)> = (0..MOST + 2)
        .map(|i| ("/", format!("c{i}=x{}", if i % 2 == 0 { "; Path=/long" } else { "" })))
        .collect();
    let headers: Vec<(&str, &str)> = headers.iter().map(|(path, header)| (*path, header.as_str())).collect();
    let jar = jar("example.org", &headers);
    assert_eq!(jar.0.len(), MOST);
    let names = sent(&jar, false, "/long", 1000);
    assert!(!names.contains("c0=") && !names.contains("c1="), "{names}");
    assert!(names.starts_with("c2=x; ") && names.ends_with("; c65=x"), "{names}");
}

/// RFC 6265, 5.1.1: the three formats of RFC 9110, and what else servers write. Seconds by GNU date.
#[test]
fn dates() {
    let good = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Wed, 09-Jun-2021 10:18:14 GMT", 1_623_233_894),
        ("08:49:37 6 november 1994", 784_111_777),
        ("Mon, 1 Jan 24 1:2:3", 1_704_070_923),
        ("Thu, 01-Jan-1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
    ];
    for (text, expected) in good {
        assert_eq!(date(text), Some(expected), "{text}");
    }
    for bad in [
        "",
        "never",
        "Sun, 06 Nov 1994",
        "06 Nov 08:49:37",
        "Sun, 06 1994 08:49:37",
        "Sun, 32 Nov 1994 08:49:37",
        "Thu, 29 Feb 2023 00:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1600 08:49:37 GMT",
        "Sun, 06 Nov 12345 08:49:37 GMT",
    ] {
        assert_eq!(date(bad), None, "{bad}");
    }
}

#[test]
fn values_do_not_show() {
    assert!(!format!("{:?}", jar("example.org", &[("/", "sid=hunter2")])).contains("hunter2"));
}
