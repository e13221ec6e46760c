use super::*;
use serde_json::{Value, json};

fn read(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The text as a value, a key, an item and below others comes back.
fn comes_back(text: &str) {
    let mut inner = Map::new();
    inner.push(text, Yaml::text(text));
    let mut map = Map::new();
    map.push("value", Yaml::text(text));
    map.push(
        "list",
        Yaml::List(vec![Yaml::text(text), Yaml::Map(inner.clone()), Yaml::List(vec![Yaml::text(text)])]),
    );
    map.push("map", Yaml::Map(inner));
    let expected = json!({"value": text, "list": [text, {text: text}, [text]], "map": {text: text}});
    assert_eq!(read(&map.document()), expected, "{text:?}\n{}", map.document());
}

#[test]
fn nasty_texts_come_back() {
    let nasty = [
        "",
        " ",
        "a ",
        " a",
        "\n",
        "a\n",
        "\na",
        "a\n\n  b",
        "\t",
        "a\tb",
        "\r\n",
        "\0",
        "\x07\x1b\x7f",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{feff}",
        "\u{1f600}",
        "\u{fffe}",
        "\u{10ffff}",
        "é",
        "日本",
        "yes",
        "No",
        "ON",
        "y",
        "null",
        "~",
        "Null",
        "true",
        "nan",
        ".nan",
        ".inf",
        "1",
        "-1",
        "0x1f",
        "0o7",
        "1_000",
        "1e3",
        "1.5",
        "+1",
        "1:30",
        "2024-01-01",
        "a: b",
        "a:",
        ":a",
        "a :b",
        "http://h:80/",
        "# a",
        "a # b",
        "a#b",
        "- a",
        "-",
        "--- a",
        "---",
        "...",
        "? a",
        "?a",
        "[a]",
        "{a: b}",
        "a, b",
        "*a",
        "&a",
        "!a",
        "!!str a",
        "|",
        ">",
        "|-",
        "%a",
        "@a",
        "`a`",
        "'a'",
        "\"a\"",
        "it's",
        "a\\b",
        "\\",
        "\\n",
        "\\x41",
        "\"",
        "\"\\\"",
        "<<",
        "=",
        "a=b&c=d%20",
        "{{a}}",
        "${a}",
        "$${a}",
        "\\{{a",
        "a\u{301}",
        "\u{202e}abc",
        "key with spaces",
        "ends:",
        "a:b:c",
        "text/html,*/*;q=0.8",
        "(a)",
        "/a?b={c}",
    ];
    for text in nasty {
        comes_back(text);
    }
    comes_back(&"long ".repeat(150));
}

/// Every text of up to three characters that mean something to YAML, and longer ones by chance.
#[test]
fn short_and_random_texts_come_back() {
    let alphabet: Vec<char> = "a1 :-#'\"\\\n\t{[&*!|>%@`?,~.=<y0\u{e9}\u{2029}".chars().collect();
    let mut map = Map::new();
    let mut expected = serde_json::Map::new();
    for (i, a) in alphabet.iter().enumerate() {
        for b in &alphabet {
            for c in &alphabet[i % 3..] {
                let text: String = [a, b, c].into_iter().collect();
                map.push(format!("k{}", expected.len()), Yaml::text(text.as_str()));
                expected.insert(format!("k{}", expected.len()), Value::String(text));
            }
        }
    }
    let mut state = 7u64;
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..state >> 33 & 15 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(alphabet[(state >> 33) as usize % alphabet.len()]);
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        map.push(format!("k{}", expected.len()), Yaml::text(text.as_str()));
        expected.insert(format!("k{}", expected.len()), Value::String(text));
    }
    assert!(expected.len() > 20_000);
    assert_eq!(read(&map.document()), Value::Object(expected));
}

#[test]
fn structures_stand_in_blocks() {
    let mut step = Map::new();
    step.commented(vec!["First\nsecond".to_owned()], "get", Yaml::text("/a"));
    step.push("empty", Yaml::List(Vec::new()));
    step.push("none", Yaml::Map(Map::new()));
    let mut map = Map::new();
    map.push("a", Yaml::plain(30));
    map.push("steps", Yaml::List(vec![Yaml::Map(step.clone()), Yaml::Map(step)]));
    let item = "  # First\n  # second\n  - get: /a\n    empty: []\n    none: {}\n";
    assert_eq!(map.document(), format!("a: 30\nsteps:\n{item}{item}"));
    assert_eq!(
        read(&map.document()),
        json!({"a": 30, "steps": vec![json!({"get": "/a", "empty": [], "none": {}}); 2]})
    );
}

#[test]
fn comments_hold_whatever_is_said() {
    let mut out = String::new();
    comment(&format!("a {} b\r\nc\0\u{2028}d\n\n  e: f", "word ".repeat(60)), 2, &mut out);
    assert!(out.lines().all(|line| line.starts_with("  #") && line.len() <= 115), "{out}");
    assert!(out.contains("  # c? d\n  #\n  #   e: f\n"), "{out}");
    assert_eq!(read(&format!("{out}a: 1\n")), json!({"a": 1}));
}
