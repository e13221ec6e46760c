use super::*;
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Pages that say what was asked, and one that waits until it is told to answer.
struct Told(Mutex<Receiver<()>>);

impl Pages for Told {
    fn is_public(&self, path: &str) -> bool {
        path == "/"
    }
    fn page(&self, path: &str, query: &str) -> Page {
        if path == "/slow" {
            let _ = self.0.lock().unwrap().recv_timeout(Duration::from_secs(30));
        }
        Page::text(if path == "/none" { 404 } else { 200 }, &format!("{path} {query}"))
    }
}

fn open(place: &str) -> (Site, Sender<()>) {
    let (tell, told) = channel();
    (Site::open(&place.parse().unwrap(), Arc::new(Told(Mutex::new(told)))).unwrap(), tell)
}

fn connect(site: &Site) -> TcpStream {
    let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, site.address().port())).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// All that comes in answer to these bytes, until the site closes.
fn answer(site: &Site, bytes: &[u8]) -> String {
    let mut socket = connect(site);
    // The site may answer, and close, before it has all of them.
    let _ = socket.write_all(bytes);
    let mut all = Vec::new();
    let _ = socket.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

/// The same of a GET with these headers.
fn get(site: &Site, path: &str, headers: &str) -> String {
    answer(site, format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").as_bytes())
}

const HOST: &str = "Host: 127.0.0.1\r\n";

fn status(answer: &str) -> &str {
    answer
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .unwrap_or_else(|| panic!("no answer: {answer:?}"))
}

#[test]
fn on_loopback_a_page_is_answered_with_its_policy_and_without_a_token() {
    let (site, _tell) = open("127.0.0.1:0");
    assert!(site.token().is_none());
    assert_eq!(site.url(), format!("http://127.0.0.1:{}/", site.address().port()));
    let seen = get(&site, "/a?b=c", HOST);
    assert_eq!(status(&seen), "200");
    assert!(seen.ends_with("\r\n\r\n/a b=c\n"), "{seen}");
    for (name, value) in HEADERS {
        assert!(seen.contains(&format!("{name}: {value}\r\n")), "{name}: {seen}");
    }
    assert!(!seen.to_ascii_lowercase().contains("access-control"), "{seen}");
    assert!(POLICY.starts_with("default-src 'none'") && !POLICY.contains("unsafe"), "{POLICY}");
    assert_eq!(status(&get(&site, "/none", HOST)), "404");
}

#[test]
fn a_connection_serves_several_requests_also_sent_at_once() {
    let (site, _tell) = open("127.0.0.1:0");
    let one = |path: &str| format!("GET {path} HTTP/1.1\r\n{HOST}\r\n");
    let last = format!("GET /three HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n");
    let seen = answer(&site, (one("/one") + &one("/two") + &last).as_bytes());
    assert_eq!(seen.matches("HTTP/1.1 200").count(), 3, "{seen}");
    assert!(["/one \n", "/two \n", "/three \n"].iter().all(|part| seen.contains(part)), "{seen}");
}

#[test]
fn what_does_not_name_this_machine_is_refused() {
    let (site, _tell) = open("127.0.0.1:0");
    for host in [
        "evil.example",
        "127.0.0.1.evil.example:80",
        "localhost.evil",
        "",
        "[::1",
        "[evil]:1",
        "http://127.0.0.1",
    ] {
        let seen = get(&site, "/", &format!("Host: {host}\r\n"));
        assert!(["421", "400"].contains(&status(&seen)), "{host}: {seen}");
        assert!(!seen.ends_with("\r\n\r\n/ \n"), "{host}: {seen}");
    }
    for host in ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:99", "10.1.2.3:4"] {
        assert_eq!(status(&get(&site, "/", &format!("Host: {host}\r\n"))), "200", "{host}");
    }
    // HTTP/1.1 without any is malformed, HTTP/1.0 without any is not from here.
    assert_eq!(status(&get(&site, "/", "")), "400");
    assert_eq!(status(&answer(&site, b"GET / HTTP/1.0\r\n\r\n")), "421");
}

#[test]
fn beyond_loopback_the_token_is_needed_and_nothing_else_will_do() {
    let (site, _tell) = open("0.0.0.0:0");
    let token = site.token().expect("every address of the machine is beyond loopback").reveal().to_owned();
    assert_eq!((token.len(), format!("{:?}", site.token())), (32, "Some(Token(hidden))".to_owned()));
    let (other, _tell2) = open("0.0.0.0:0");
    assert_ne!(other.token().unwrap().reveal(), token, "each site has its own");
    let with = |value: &str| get(&site, "/a", &format!("{HOST}Authorization: {value}\r\n"));
    assert_eq!(status(&with(&format!("Bearer {token}"))), "200");
    assert_eq!(status(&with(&format!("bearer  {token}"))), "200");
    let mut wrong = token.clone();
    wrong.replace_range(31.., if token.ends_with('0') { "1" } else { "0" });
    for value in [
        wrong.as_str(),
        &token[..31],
        &format!("{token}0"),
        "",
        &token.to_uppercase().replace(char::is_numeric, "x"),
    ] {
        let seen = with(&format!("Bearer {value}"));
        assert_eq!(status(&seen), "401", "{value}");
        assert!(seen.contains("www-authenticate: Bearer") && !seen.contains(&token), "{seen}");
    }
    for seen in [
        with(&format!("Basic {token}")),
        with(&token),
        get(&site, "/a", HOST),
        get(&site, &format!("/a?token={token}"), HOST),
    ] {
        assert_eq!(status(&seen), "401", "{seen}");
    }
    // What tells nothing of the run needs none.
    assert_eq!(status(&get(&site, "/", HOST)), "200");
}

#[test]
fn what_is_no_get_or_too_long_is_told_so() {
    let (site, _tell) = open("127.0.0.1:0");
    for method in ["POST", "HEAD", "OPTIONS", "DELETE", "get"] {
        let seen = answer(&site, format!("{method} / HTTP/1.1\r\n{HOST}\r\n").as_bytes());
        assert_eq!(status(&seen), "405", "{method}");
        assert!(seen.contains("allow: GET"), "{seen}");
    }
    let long = format!("GET /{} HTTP/1.1\r\n{HOST}\r\n", "x".repeat(MOST_HEAD_BYTES));
    assert_eq!(status(&answer(&site, long.as_bytes())), "431");
    let many = format!("GET / HTTP/1.1\r\n{HOST}{}\r\n", "X-A: b\r\n".repeat(MOST_HEADERS + 1));
    assert_eq!(status(&answer(&site, many.as_bytes())), "431");
    assert_eq!(status(&get(&site, "/", &format!("{HOST}Content-Length: 5\r\n"))), "413");
    assert_eq!(status(&answer(&site, b"\x16\x03\x01\x02\x00")), "400");
    assert_eq!(
        status(&answer(&site, format!("GET http://127.0.0.1/ HTTP/1.1\r\n{HOST}\r\n").as_bytes())),
        "400"
    );
    // After all of that it still answers.
    assert_eq!(status(&get(&site, "/", HOST)), "200");
}

#[test]
fn a_client_that_dawdles_is_left_and_does_not_hold_up_others() {
    let (site, _tell) = open("127.0.0.1:0");
    let begun = Instant::now();
    let mut slow = connect(&site);
    slow.write_all(b"GET / HT").unwrap();
    assert_eq!(status(&get(&site, "/", HOST)), "200");
    // A byte now and then does not give it more time.
    let mut writer = slow.try_clone().unwrap();
    let dawdling = thread::spawn(move || {
        while begun.elapsed() < 2 * HEAD_WITHIN && writer.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(200));
        }
    });
    let mut all = Vec::new();
    let _ = slow.read_to_end(&mut all);
    assert!(all.is_empty(), "{all:?}");
    assert!(begun.elapsed() >= HEAD_WITHIN, "{:?}", begun.elapsed());
    assert!(begun.elapsed() < 2 * HEAD_WITHIN, "{:?}", begun.elapsed());
    drop(slow);
    dawdling.join().unwrap();
}

#[test]
fn there_are_so_many_connections_and_no_more() {
    let (site, _tell) = open("127.0.0.1:0");
    let ask = format!("GET / HTTP/1.1\r\n{HOST}\r\n");
    let mut open: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| connect(&site)).collect();
    for socket in &mut open {
        // Each is served, and stays.
        socket.write_all(ask.as_bytes()).unwrap();
        let mut some = [0; 12];
        socket.read_exact(&mut some).unwrap();
        assert_eq!(&some, b"HTTP/1.1 200");
    }
    let seen = answer(&site, ask.as_bytes());
    assert_eq!(status(&seen), "503", "{seen}");
    drop(open);
    // Their places are free as soon as the site sees that they have gone.
    let free = (0..400).any(|_| {
        thread::sleep(Duration::from_millis(25));
        status(&get(&site, "/", HOST)) == "200"
    });
    assert!(free);
}

#[test]
fn closing_waits_for_the_answer_under_way_and_takes_no_more() {
    let (site, tell) = open("127.0.0.1:0");
    let at = site.address();
    let mut socket = connect(&site);
    socket.write_all(format!("GET /slow HTTP/1.1\r\n{HOST}\r\n").as_bytes()).unwrap();
    while *site.shared.answering.lock().unwrap() == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let closing = thread::spawn(move || site.close(Duration::from_secs(30)));
    while TcpStream::connect(at).is_ok() {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!closing.is_finished());
    tell.send(()).unwrap();
    closing.join().unwrap();
    let mut all = String::new();
    let _ = socket.read_to_string(&mut all);
    assert!(all.ends_with("\r\n\r\n/slow \n"), "{all}");
}

#[test]
fn places_are_read_and_mistakes_say_what_would_be_accepted() {
    let read = |text: &str| text.parse::<Place>().map(|place| (place.host().to_owned(), place.port()));
    for (text, host, port) in [
        ("127.0.0.1:9000", "127.0.0.1", 9000),
        ("[::1]:9000", "::1", 9000),
        ("[::]", "::", 0),
        ("::1", "::1", 0),
        ("0.0.0.0", "0.0.0.0", 0),
        ("localhost:1", "localhost", 1),
        ("build-7.example", "build-7.example", 0),
    ] {
        assert_eq!(read(text), Ok((host.to_owned(), port)), "{text}");
    }
    for text in [
        "",
        ":9000",
        "a b:1",
        "127.0.0.1:",
        "127.0.0.1:70000",
        "127.0.0.1:x",
        "http://a:1",
        "[::1]9000",
        "[::1",
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(&format!("'{text}' is not an address to listen at: ")), "{error}");
        assert!(error.contains("write HOST:PORT, for example 127.0.0.1:9000"), "{error}");
    }
}
