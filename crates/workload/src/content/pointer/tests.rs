use super::*;

/// What a pointer points to in a text, by a tree of it alone.
fn point<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let mut tree = Tree::default();
    let slot = tree.add(&Pointer::parse(pointer).unwrap());
    tree.find(text.as_bytes()).unwrap()[slot]
}

/// The document and the pointers of RFC 6901, section 5.
#[test]
fn the_examples_of_the_rfc() {
    let document = r#"{
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8
    }"#;
    let examples = [
        ("", document),
        ("/foo", r#"["bar", "baz"]"#),
        ("/foo/0", r#""bar""#),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"),
        ("/g|h", "4"),
        ("/i\\j", "5"),
        ("/k\"l", "6"),
        ("/ ", "7"),
        ("/m~0n", "8"),
    ];
    for (pointer, expected) in examples {
        assert_eq!(point(document, pointer), Some(expected), "{pointer}");
    }
    // All of them at once, in one pass.
    let mut tree = Tree::default();
    for (pointer, _) in examples {
        tree.add(&Pointer::parse(pointer).unwrap());
    }
    let found = tree.find(document.as_bytes()).unwrap();
    assert_eq!(found, examples.map(|(_, expected)| Some(expected)));
}

#[test]
fn what_is_not_there_is_not_found() {
    let document = r#"{"a": [10, {"b": null}], "0": "zero", "n": 1.50}"#;
    for missing in ["/x", "/a/2", "/a/-", "/a/01", "/a/1x", "/a/b", "/a/0/x", "/n/0", "/a/1/b/c", "//", "/A"]
    {
        assert_eq!(point(document, missing), None, "{missing}");
    }
    assert_eq!(point(document, "/a/0"), Some("10"));
    assert_eq!(point(document, "/a/1/b"), Some("null"));
    assert_eq!(point(document, "/0"), Some("\"zero\""), "a digit is a name where there is no array");
    assert_eq!(point(document, "/n"), Some("1.50"), "numbers keep their digits");
    assert_eq!(point("[[], [[1, 2]]]", "/1/0/1"), Some("2"));
    assert_eq!(point("7", ""), Some("7"));
    assert_eq!(point("7", "/0"), None);
}

#[test]
fn names_are_compared_as_what_they_say_and_the_last_of_a_name_counts() {
    assert_eq!(point(r#"{"\u0061\"é": 1}"#, "/a\"é"), Some("1"));
    assert_eq!(point(r#"{"a": 1, "a": 2}"#, "/a"), Some("2"));
}

#[test]
fn only_json_is_json() {
    let mut tree = Tree::default();
    tree.add(&Pointer::parse("/a").unwrap());
    for bad in ["", "<html>", "{\"a\": 1", "{\"a\": 1} x", "{\"b\": tru, \"a\": 1}", "{a: 1}"] {
        assert!(tree.find(bad.as_bytes()).is_err(), "{bad}");
    }
    assert!(tree.find(b"{\"a\": \"\xff\"}").is_err(), "not UTF-8");
    let deep = format!("{{\"b\": {}1{}, \"a\": 5}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(tree.find(deep.as_bytes()).unwrap(), [Some("5")], "what nobody asked for may be deep");
}

#[test]
fn strings_say_their_text() {
    assert_eq!(said(r#""a b""#), "a b");
    assert_eq!(said(r#""a\n\u00e9\"""#), "a\né\"");
    assert_eq!(said("\"\""), "");
    assert_eq!(said("12"), "12");
    assert_eq!(said("{\"a\": \"b\"}"), "{\"a\": \"b\"}");
}

#[test]
fn what_is_no_pointer() {
    assert_eq!(Pointer::parse("items/0").unwrap_err(), PointerError::NoSlash("items/0".to_owned()));
    for bad in ["/a~", "/~2", "/a~~0"] {
        assert_eq!(Pointer::parse(bad).unwrap_err(), PointerError::Tilde(bad.to_owned()));
    }
    assert_eq!(Pointer::parse("").unwrap().to_string(), "\"\"");
    assert_eq!(Pointer::parse("/~01").unwrap().tokens, ["~1"]);
    assert_eq!(Pointer::parse("/a~1b/").unwrap().to_string(), "/a~1b/");
}
