use super::*;

fn foreign(text: &str) -> String {
    Redactor::default().hide_foreign(text).into_owned()
}

#[test]
fn urls_lose_user_password_secret_parameters_and_fragment() {
    let check = |url: &str, hidden: &str| assert_eq!(Redactor::default().hide_url(url), hidden);
    check("http://me:pw@host/p@q", "http://<redacted>@host/p@q");
    check("me:pw@host:80/p@q", "<redacted>@host:80/p@q");
    check("host:80/p@q", "host:80/p@q");
    check(
        "http://h/a?token=x'y,z&page=2&sig=a%3Db#frag",
        "http://h/a?token=<redacted>&page=2&sig=<redacted>#<redacted>",
    );
    check("http://h/cb#access_token=abc", "http://h/cb#<redacted>");
    check(
        "/a;jsessionid=abc?user%5Bpassword%5D=p;q&x=y",
        "/a;jsessionid=<redacted>?user%5Bpassword%5D=<redacted>&x=y",
    );
    check(
        "/a?code=1&key=2&%74oken=3&status=4&empty=&token=",
        "/a?code=<redacted>&key=<redacted>&%74oken=<redacted>&status=4&empty=&token=",
    );
    check(
        "/a?X-Amz-Signature=abc&X-Amz-Date=5&client_secret=s&jwt=e",
        "/a?X-Amz-Signature=<redacted>&X-Amz-Date=5&client_secret=<redacted>&jwt=<redacted>",
    );
    check(
        "/a?token={{token}}&password=${PASSWORD}&sig={{a}}b",
        "/a?token={{token}}&password=${PASSWORD}&sig=<redacted>",
    );
    check("GET /a", "GET /a");
}

#[test]
fn a_place_of_keys_keeps_the_names_of_its_query_alone() {
    let mut redactor = Redactor::default();
    for (url, seen) in [
        ("http://c/m?tenant=s3cr3t&x=&1", "http://c/m?tenant=<redacted>&x=&<redacted>"),
        ("http://c/m?api-key=s3cr3t", "http://c/m?api-key=<redacted>"),
        ("http://c/m", "http://c/m"),
        ("c?&&a==&é=é", "c?&&a=<redacted>&é=<redacted>"),
        ("http://u:s3cr3t@c?a=b?c=d#s3cr3t", "http://<redacted>@c?a=<redacted>#<redacted>"),
        ("c#?a=b", "c#<redacted>"),
    ] {
        assert_eq!(redactor.hide_query(url), seen);
        assert_eq!(Redactor::showing_all().hide_query(url), url);
    }
    redactor.know_query("http://c?tenant=a%20s3cr3t+value&bare-s3cr3t");
    assert_eq!(redactor.hide("of a s3cr3t value and bare-s3cr3t"), "of <redacted> and <redacted>");
}

#[test]
fn own_sentences_keep_their_words() {
    let mut redactor = Redactor::default();
    redactor.know("hunter2!x");
    redactor.know("1");
    redactor.know("abc");
    redactor.know("password");
    for same in [
        "token: expected status below 400, got 500",
        "1 of 11 requests",
        "abcd xabc",
        "the password: is missing",
        "p(99) < 100",
        "response{step:token}: p(95)<200",
    ] {
        assert_eq!(redactor.hide(same), same);
    }
    assert_eq!(redactor.hide("got hunter2!x, abc."), "got <redacted>, <redacted>.");
    assert_eq!(
        redactor.hide("step GET /a?token=zz: not sent; see https://me:pw@h/x?sig=1 (why)"),
        "step GET /a?token=<redacted> not sent; see https://<redacted>@h/x?sig=<redacted> (why)"
    );
}

#[test]
fn known_values_are_hidden_in_every_form() {
    let mut redactor = Redactor::default();
    let value = "p/ss \"w\"+é&<1>";
    redactor.know(value);
    for form in [
        value.to_owned(),
        "p%2Fss%20%22w%22%2B%C3%A9%26%3C1%3E".to_owned(),
        "p%2fss%20%22w%22%2b%c3%a9%26%3c1%3e".to_owned(),
        "p%2Fss+%22w%22%2B%C3%A9%26%3C1%3E".to_owned(),
        serde_json::to_string(value).unwrap().trim_matches('"').to_owned(),
        "p/ss \"w\"+é&amp;&lt;1&gt;".to_owned(),
        "p/ss &quot;w&quot;+é&amp;&lt;1&gt;".to_owned(),
    ] {
        assert_eq!(redactor.hide(&format!("a {form} b")), "a <redacted> b", "{form}");
    }
    use base64::Engine as _;
    for before in ["", "a", "me", "user:", "longer:"] {
        for after in ["", "x", "yz"] {
            let text = base64::engine::general_purpose::STANDARD.encode(format!("{before}{value}{after}"));
            let hidden = redactor.hide(&text).into_owned();
            assert!(
                hidden.contains(REDACTED) && hidden.len() < text.len() - 8 + REDACTED.len(),
                "{text}: {hidden}"
            );
        }
    }
    assert_eq!(redactor.hide("nothing of it"), "nothing of it");
}

#[test]
fn a_short_value_is_hidden_as_a_word_also_behind_escapes() {
    let mut redactor = Redactor::default();
    redactor.know("s3cr");
    let hidden = redactor.hide("s3cr xs3cr s3crx (s3cr) a%3Ds3cr a\\ns3cr \\u0022s3cr");
    assert_eq!(hidden, "<redacted> xs3cr s3crx (<redacted>) a%3D<redacted> a\\n<redacted> \\u0022<redacted>");
}

#[test]
fn headers_teach_their_values_and_what_is_within() {
    let mut redactor = Redactor::default();
    redactor.know_header("Authorization", "Bearer abc.def-ghi");
    redactor.know_header("Authorization", "Basic YWxpY2U6d29uZGVybGFuZA==");
    redactor.know_header("Cookie", "sid=c00kie1; theme=dark-blue");
    redactor.know_header("Accept", "text/html");
    redactor.know_url("http://bob:builder@h/x?token=t0ken%2Fx#at=frag");
    let hidden = redactor.hide(
        "abc.def-ghi YWxpY2U6d29uZGVybGFuZA== alice wonderland c00kie1 text/html bob builder t0ken%2Fx t0ken/x bearer",
    );
    assert_eq!(hidden.matches(REDACTED).count(), 7, "{hidden}");
    assert!(
        hidden.contains(" alice <") && hidden.contains("text/html bob <") && hidden.ends_with("bearer"),
        "{hidden}"
    );
}

#[test]
fn answers_lose_what_follows_names_of_secrets() {
    let check = |text: &str, hidden: &str| assert_eq!(foreign(text), hidden, "{text}");
    check(r#"{"user":"u","password":"a\"b","n":1}"#, r#"{"user":"u","password":"<redacted>","n":1}"#);
    check(
        r#"{"access_token" : "abc", "token_type": "Bearer", "code": 404}"#,
        r#"{"access_token" : "<redacted>", "token_type": "Bearer", "code": 404}"#,
    );
    check(
        r#"{"pin": 1234, "token": null, "max_tokens": 5}"#,
        r#"{"pin": <redacted>, "token": null, "max_tokens": 5}"#,
    );
    check(r#"{"credentials": {"a": ["b}"]}, "x": 1}"#, r#"{"credentials": <redacted>, "x": 1}"#);
    check(r#""{\"password\":\"a\",\"x\":\"y\"}""#, r#""{\"password\":\"<redacted>\",\"x\":\"y\"}""#);
    check(r#"{"password":"cut off"#, r#"{"password":"<redacted>"#);
    check("user=u&password=a%20b&code=5&x=y", "user=u&password=<redacted>&code=<redacted>&x=y");
    check("code=5&x=y", "code=<redacted>&x=y");
    check(
        "<a><password>abc</password><b sid=\"x\">y</b></a>",
        "<a><password><redacted></password><b sid=\"<redacted>\">y</b></a>",
    );
    check("<ns:Password type='t'>abc</ns:Password>", "<ns:Password type='t'><redacted></ns:Password>");
    check(
        "<input name=\"csrf_token\" type=hidden value=\"abc\"><p>x",
        "<input name=\"csrf_token\" type=hidden value=\"<redacted>\"><p>x",
    );
    check("<input value='abc' name='csrf_token'>", "<input value='<redacted>' name='csrf_token'>");
    check("{\"name\": \"token\", \"value\": \"abc\"}", "{\"name\": \"token\", \"value\": \"<redacted>\"}");
    check(
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nab c\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n<redacted>\r\n--b--",
    );
    check(
        "Authorization: Bearer abc\r\nHost: h\r\nX-Session-Id: 5 6\r\n",
        "Authorization: <redacted>\r\nHost: h\r\nX-Session-Id: <redacted>\r\n",
    );
    check("wrong token: abc is not it", "wrong token: <redacted> is not it");
    check("it begins with \"password=abc of mine\".", "it begins with \"password=<redacted> of mine\".");
    check("status code: 404, no such author", "status code: 404, no such author");
    check("login(password: \"abc\", name: \"n\")", "login(password: \"<redacted>\", name: \"n\")");
    check("got eyJhbGciOi.eyJzdWIiOi.c2ln here", "got <redacted> here");
    check(
        "Location: https://h/cb?code=abc&state=s#x",
        "Location: https://h/cb?code=<redacted>&state=s#<redacted>",
    );
    check("<a href=\"/x?a=b&amp;token=abc\">", "<a href=\"/x?a=b&amp;token=<redacted>\">");
    check("password={{password}} token: ${TOKEN}", "password={{password}} token: ${TOKEN}");
    check("Missing token. Cookies are off: enable cookies", "Missing token. Cookies are off: enable cookies");
}

#[test]
fn one_that_shows_all_hides_nothing() {
    let mut redactor = Redactor::showing_all();
    redactor.know("hunter2");
    let text = "hunter2 http://me:pw@h/?token=x {\"password\":\"p\"}";
    assert_eq!(redactor.hide_foreign(text), text);
    assert_eq!(redactor.hide_url(text), text);
    assert_eq!(redactor.hide_header("Cookie", "a=b"), "a=b");
    assert!(!redactor.hides(Place::Header, "Cookie"));
}

#[test]
fn any_text_is_taken_and_values_learnt_are_gone() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(500), |(text in "[ -~é{}\"'\\\\<>:=&?#%\r\n]{0,80}", name in "(password|token|sid|x)")| {
        let text = format!("{name}={text}\"{name}\":\"{text}");
        let mut redactor = Redactor::default();
        let hidden = redactor.hide_foreign(&text).into_owned();
        let _ = (redactor.hide(&text), redactor.hide_url(&text));
        prop_assert!(hidden.len() <= text.len() + 20 * REDACTED.len());
        redactor.know_in(&text);
        redactor.know_url(&text);
    });
    let mut redactor = Redactor::default();
    redactor.know_in(r#"{"user": "u", "password": "tr0ub\u0034dor"}"#);
    redactor.know_in("client_secret=a%2Bb+c%3D&x=y");
    let hidden = redactor.hide("tr0ub4dor a+b c= y");
    assert_eq!(hidden, "<redacted> <redacted> y");
}

#[test]
fn urls_within_parameters_lose_their_secrets_however_often_they_are_escaped() {
    let check = |url: &str, hidden: &str| {
        assert_eq!(Redactor::default().hide_url(url), hidden);
        assert_eq!(foreign(&format!("see {url} there")), format!("see {hidden} there"));
    };
    check(
        "http://h/?redirect=http%3A%2F%2Fh%2F%3Ftoken%3DX9%26page%3D2&x=y",
        "http://h/?redirect=http%3A%2F%2Fh%2F%3Ftoken%3D<redacted>%26page%3D2&x=y",
    );
    check(
        "http://h/?a=http%253A%252F%252Fh%252F%253Ftoken%253DX9",
        "http://h/?a=http%253A%252F%252Fh%252F%253Ftoken%253D<redacted>",
    );
    check("http://h/?to=https%3a%2f%2fme%3apw%40h%2f", "http://h/?to=https%3a%2f%2f<redacted>%40h%2f");
    check(
        "http://h/go/http%3A%2F%2Fg%2F%3Fapi_key%3DX9/b",
        "http://h/go/http%3A%2F%2Fg%2F%3Fapi_key%3D<redacted>/b",
    );
    check(
        "http://h/?filter=%7B%22password%22%3A%22X9%22%2C%22a%22%3A1%7D",
        "http://h/?filter=%7B%22password%22%3A%22<redacted>%22%2C%22a%22%3A1%7D",
    );
    for same in ["http://h/?q=C%23&a=50%25&b=a%3Db", "http://h/%E2%82%AC?x=%zz%"] {
        check(same, same);
    }
    let mut redactor = Redactor::default();
    redactor.know_url("http://h/?redirect=http%3A%2F%2Fh%2F%3Ftoken%3Ds3cr3t-x");
    assert_eq!(redactor.hide("got s3cr3t-x"), "got <redacted>");
}

#[test]
fn credentials_after_a_scheme_are_hidden_under_any_name() {
    let mut redactor = Redactor::default();
    redactor.know_header("X-Foo", "Bearer MKA3");
    assert_eq!(redactor.hide("an MKA3"), "an <redacted>");
    assert_eq!(Redactor::default().hide_header("X-Foo", "Bearer mka"), "Bearer <redacted>");
    assert_eq!(Redactor::default().hide_header("X-Foo", "basic {{x}}"), "basic {{x}}");
    let check = |text: &str, hidden: &str| assert_eq!(foreign(text), hidden, "{text}");
    check("X-Foo: Bearer MKA3\r\nHost: h", "X-Foo: Bearer <redacted>\r\nHost: h");
    check(r#"{"x-foo": "bearer MKA3", "a": 1}"#, r#"{"x-foo": "bearer <redacted>", "a": 1}"#);
    check("you sent Bearer ab12cd34ef, why", "you sent Bearer <redacted>, why");
    check("sent Basic dXNlcjpwYXNz.", "sent Basic <redacted>.");
    for same in [
        "Bearer authentication is required",
        "use Basic authentication.",
        "WWW-Authenticate: Bearer realm=\"x\"",
        "Basic plan",
        "token_type: Bearer",
        r#"{"token_type": "Bearer", "x": "y"}"#,
    ] {
        check(same, same);
    }
}

#[test]
fn answers_lose_fields_in_every_way_of_writing_them() {
    let check = |text: &str, hidden: &str| assert_eq!(foreign(text), hidden, "{text}");
    check("<input name=password value=X9><p>x", "<input name=password value=<redacted>><p>x");
    check("<input value=X9 name=password>", "<input value=<redacted> name=password>");
    check("<input type=password name=p value=X9>", "<input type=password name=p value=<redacted>>");
    check("<input id='token' value='X9'/>", "<input id='token' value='<redacted>'/>");
    check(
        "<meta name=\"csrf-token\" content=\"X9\"><p>x",
        "<meta name=\"csrf-token\" content=\"<redacted>\"><p>x",
    );
    check("<meta content=X9 name=csrf-token />", "<meta content=<redacted> name=csrf-token />");
    check(r#"{"key":"token","value":"X9"}"#, r#"{"key":"token","value":"<redacted>"}"#);
    check(r#"{"name":"api_key","content":"X9"}"#, r#"{"name":"api_key","content":"<redacted>"}"#);
    check("[ { key: token, value: X9 } ]", "[ { key: token, value: <redacted> } ]");
    check("{ value: X9, name: password }", "{ value: <redacted>, name: password }");
    check("the key: token, the value: x9", "the key: token, the value: x9");
    check("get: /{{ key: token, value: x9 }}", "get: /{{ key: token, value: x9 }}");
    check(r#"{"value":"X9", "field":"password"}"#, r#"{"value":"<redacted>", "field":"password"}"#);
    check(r#"{"pass\u0077ord":"X9","a":"b"}"#, r#"{"pass\u0077ord":"<redacted>","a":"b"}"#);
    check(r#"{"\u0070assword":"X9"}"#, r#"{"\u0070assword":"<redacted>"}"#);
    check(
        "<input name=\"pass&#119;ord\" value=\"X9\">",
        "<input name=\"pass&#119;ord\" value=\"<redacted>\">",
    );
    check("<input name=\"pass&#x77;ord\" value=X9>", "<input name=\"pass&#x77;ord\" value=<redacted>>");
    check("wrong password \"X9 z\" of u", "wrong password \"<redacted>\" of u");
    check(r#"{"e":"wrong password \"X9\" of u"}"#, r#"{"e":"wrong password \"<redacted>\" of u"}"#);
    check("Unexpected token '<', \"<p>\" is no JSON", "Unexpected token '<', \"<p>\" is no JSON");
    check(
        "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY----- b",
        "a -----BEGIN RSA PRIVATE KEY-----<redacted>-----END RSA PRIVATE KEY----- b",
    );
    check(
        r#"{"k": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"}"#,
        r#"{"k": "-----BEGIN PRIVATE KEY-----<redacted>-----END PRIVATE KEY-----\n"}"#,
    );
    check("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "-----BEGIN OPENSSH PRIVATE KEY-----<redacted>");
    let said = "it holds -----BEGIN PRIVATE KEY-----; give -----BEGIN CERTIFICATE-----";
    check(said, said);
    check("give -----BEGIN PRIVATE KEY-----", "give -----BEGIN PRIVATE KEY-----");
    check("-----BEGIN PRIVATE KEY-----MIIE", "-----BEGIN PRIVATE KEY-----<redacted>");
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    check(certificate, certificate);
    check("<option name=a value=b><p id=password>x", "<option name=a value=b><p id=password>x");
}

#[test]
fn sentences_and_labels_lose_what_shows_by_itself_that_it_is_a_secret() {
    let check = |text: &str, hidden: &str| assert_eq!(Redactor::default().hide(text), hidden, "{text}");
    check("Authorization: Bearer MKXf1234567", "Authorization: Bearer <redacted>");
    check("step a: Basic dXNlcjpwYXNz, sent", "step a: Basic <redacted>, sent");
    check("got eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "got <redacted>");
    check(
        "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----<redacted>-----END PRIVATE KEY-----",
    );
    for same in [
        "-u sends Basic authorization",
        "write Authorization: 'Basic ${CREDENTIALS}'",
        "as in \"Basic $(printf %s USER:PASSWORD | base64 -w0)\"",
        "password: wrong",
        "Bearer {{token}}",
    ] {
        check(same, same);
    }
}

#[test]
fn escapes_of_escapes_end_somewhere() {
    let text = format!("http://h/?a=%{}3Dtoken", "25".repeat(20_000));
    assert_eq!(Redactor::default().hide_foreign(&text), text);
}

/// What has passed the gate passes it as it is: labels that are read back are those that were written.
#[test]
fn what_is_hidden_stays_as_it_is() {
    let mut gate = Redactor::default();
    gate.know("s3cr3t-of-mine");
    for text in [
        "GET /a?token=abc&x=1",
        "GET http://me:pw@host/a?access_token=abc#frag",
        "Bearer abc123def456ghi789",
        "with s3cr3t-of-mine in it",
        "response{step:GET /a;jsessionid=abc?token=1}: p(99)<100",
        "/logs/token=abc/a.csv?key=1",
        "https://h/a?next=https%3A%2F%2Fu%3Ap%40h%2F%3Ftoken%3Dx",
    ] {
        let once = gate.hide(text).into_owned();
        assert!(once.contains(REDACTED), "{once}");
        assert_eq!(gate.hide(&once), once);
        assert_eq!(Redactor::default().hide(&once), once);
        let url = gate.hide_url(text).into_owned();
        assert_eq!(gate.hide_url(&url), url);
        let foreign = gate.hide_foreign(text).into_owned();
        assert_eq!(gate.hide_foreign(&foreign), foreign);
    }
}

/// The password of a URL is hidden wherever it appears, the name in the URL alone: it may be any word.
#[test]
fn the_name_of_a_user_hides_no_word_of_a_sentence() {
    let mut gate = Redactor::default();
    gate.know_url("http://user:hunter2@host/");
    gate.know_url("https://time@host/");
    gate.know_url("https://load%2Dtest:p%40ss-w0rd@host/");
    gate.know_header("Authorization", "Basic YWxpY2U6d29uZGVybGFuZA==");
    let sentence = "each user waits for a response before its next time";
    assert_eq!(gate.hide(sentence), sentence);
    assert_eq!(gate.hide("alice came"), "alice came");
    let told = gate.hide("hunter2 user:hunter2 p@ss-w0rd wonderland YWxpY2U6d29uZGVybGFuZA==").into_owned();
    assert!(!["hunter", "w0rd", "wonder", "YWxp"].iter().any(|part| told.contains(part)), "{told}");
    assert_eq!(gate.hide_url("http://user:hunter2@host/user"), "http://<redacted>@host/user");
    // A token may stand in the place of a name, with or without a password.
    gate.know_url("https://ghp_0a1b2c3d@host/");
    gate.know_url("https://x0oauth:pw-of-it@host/");
    gate.know_url("https://sk_live_77aa:@host/");
    assert_eq!(gate.hide("ghp_0a1b2c3d sk_live_77aa x0oauth"), "<redacted> <redacted> <redacted>");
}
