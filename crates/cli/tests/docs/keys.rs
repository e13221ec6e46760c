//! `docs/keys.md` has every key of a scenario, and scenarios in the documents use no other.

use crate::links::{pages, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn schema() -> Value {
    serde_json::from_str(&headway_workload::scenario::schema()).unwrap()
}

/// The name of the definition that a node refers to.
fn referred(node: &Value) -> Option<&str> {
    node["$ref"].as_str()?.strip_prefix("#/definitions/")
}

/// What a node may be: itself and all that it refers to or combines, down to what has keys.
fn forms<'a>(schema: &'a Value, node: &'a Value, out: &mut Vec<&'a Value>) {
    if out.iter().any(|seen| std::ptr::eq(*seen, node)) {
        return;
    }
    out.push(node);
    if let Some(name) = referred(node) {
        forms(schema, &schema["definitions"][name], out);
    }
    for all in ["allOf", "anyOf", "oneOf"] {
        for part in node[all].as_array().into_iter().flatten() {
            forms(schema, part, out);
        }
    }
}

/// The keys of a definition, those of each of its forms, with what the schema says of each; references aside.
fn keys(node: &Value) -> BTreeMap<&str, Vec<&Value>> {
    let mut found: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (key, value) in node["properties"].as_object().into_iter().flatten() {
        found.entry(key).or_default().push(value);
    }
    for part in ["allOf", "anyOf", "oneOf"].iter().flat_map(|all| node[all].as_array().into_iter().flatten())
    {
        for (key, values) in keys(part) {
            found.entry(key).or_default().extend(values);
        }
    }
    found
}

/// What a key is for: one sentence for each of its forms, each with the name of the form.
fn about(forms: &[&Value]) -> String {
    let say = |form: &Value| {
        let about = as_markdown(form["description"].as_str().unwrap_or_default());
        match form["enum"].as_array() {
            Some(names) if forms.len() > 1 => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                format!("`{}`: {about}", names.join("`, `"))
            }
            _ => about,
        }
    };
    let mut said: Vec<String> = Vec::new();
    for sentence in forms.iter().map(|form| say(form)) {
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said.join(" ")
}

/// The definitions that a key's value may be, or hold.
fn leads_to(schema: &Value, node: &Value, out: &mut BTreeSet<String>) {
    if let Some(name) = referred(node) {
        // A definition without keys only chooses among others.
        if keys(&schema["definitions"][name]).is_empty() {
            leads_to(schema, &schema["definitions"][name], out);
        } else {
            out.insert(name.to_owned());
        }
    }
    for part in ["allOf", "anyOf", "oneOf"].iter().flat_map(|all| node[all].as_array().into_iter().flatten())
    {
        leads_to(schema, part, out);
    }
    for inner in ["items", "additionalProperties"] {
        if node[inner].is_object() {
            leads_to(schema, &node[inner], out);
        }
    }
}

/// The file and all definitions that have keys, with their names.
fn places(schema: &Value) -> Vec<(&str, &Value)> {
    let definitions = schema["definitions"].as_object().unwrap();
    let mut all = vec![("The file", schema)];
    all.extend(definitions.iter().map(|(name, node)| (name.as_str(), node)));
    all.retain(|(_, node)| !keys(node).is_empty());
    all
}

/// Outside of code no element of HTML begins.
fn as_markdown(description: &str) -> String {
    description.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "\\<")
}

fn reference() -> String {
    let schema = schema();
    let mut out = String::from(
        "# Keys of a scenario\n\nDerived from the JSON Schema (`headway schema`) by `HEADWAY_DOCS=write cargo test -p headway-cli --test docs`; do not edit.\n[Scenarios](scenarios.md) says what they are for.\n",
    );
    for (name, node) in places(&schema) {
        out.push_str(&format!("\n## {name}\n\n"));
        if let Some(about) = node["description"].as_str() {
            out.push_str(&format!("{}\n\n", as_markdown(about)));
        }
        for (key, forms) in keys(node) {
            let mut to = BTreeSet::new();
            forms.iter().for_each(|form| leads_to(&schema, form, &mut to));
            let to: Vec<String> =
                to.iter().map(|name| format!("[{name}](#{})", name.to_lowercase())).collect();
            let to = if to.is_empty() { String::new() } else { format!(" {}", to.join(", ")) };
            out.push_str(&format!("- `{key}`: {}{to}\n", about(&forms)));
        }
    }
    out
}

#[test]
fn every_key_stands_in_the_reference() {
    let path = root().join("docs/keys.md");
    let expected = reference();
    if std::env::var("HEADWAY_DOCS").is_ok_and(|v| v == "write") {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/keys.md is not up to date: HEADWAY_DOCS=write cargo test -p headway-cli --test docs"
    );
    // Each is described, and not by the reference alone.
    let schema = schema();
    let all: Vec<(&str, Vec<&Value>)> =
        places(&schema).into_iter().flat_map(|(_, node)| keys(node)).collect();
    let bare: Vec<&str> =
        all.iter().filter(|(_, forms)| about(forms).is_empty()).map(|(key, _)| *key).collect();
    assert!(bare.is_empty(), "keys without a description: {bare:?}");
    let pages: BTreeMap<_, _> = pages();
    let told: String = pages
        .iter()
        .filter(|(path, _)| {
            path.starts_with("docs") && !path.ends_with("keys.md") && !path.ends_with("flags.md")
        })
        .map(|(_, text)| text.as_str())
        .collect();
    let words: BTreeSet<&str> = told
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .map(|word| word.trim_matches('-'))
        .collect();
    let untold: BTreeSet<&str> = all.iter().map(|(key, _)| *key).filter(|key| !words.contains(key)).collect();
    assert!(untold.is_empty(), "keys that only the reference has: {untold:?}");
    assert!(all.len() > 150, "{} keys", all.len());
}

/// Keys of a value that the schema does not have there, with the way to them.
fn unknown(schema: &Value, node: &Value, value: &Value, way: &str, n: &mut usize, out: &mut Vec<String>) {
    let mut all = Vec::new();
    forms(schema, node, &mut all);
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                for form in all.iter().filter(|form| form["items"].is_object()) {
                    unknown(schema, &form["items"], item, &format!("{way}[{i}]"), n, out);
                }
            }
        }
        Value::Object(map) if all.iter().any(|form| form["properties"].is_object()) => {
            // Three dots stand for keys that the text leaves out.
            for (key, inner) in map.iter().filter(|(key, _)| *key != "...") {
                *n += 1;
                let way = format!("{way}.{key}");
                let of: Vec<&Value> =
                    all.iter().map(|form| &form["properties"][key]).filter(|v| !v.is_null()).collect();
                // One of the forms that have the key has to take what is in it.
                let tries = of.iter().map(|node| {
                    let mut found = Vec::new();
                    unknown(schema, node, inner, &way, n, &mut found);
                    found
                });
                match tries.min_by_key(Vec::len) {
                    Some(found) => out.extend(found),
                    None if all.iter().any(|form| form["additionalProperties"].is_object()) => {}
                    None => out.push(way),
                }
            }
        }
        Value::Object(map) => {
            for (key, inner) in map {
                for form in all.iter().filter(|form| form["additionalProperties"].is_object()) {
                    unknown(schema, &form["additionalProperties"], inner, &format!("{way}.{key}"), n, out);
                }
            }
        }
        _ => {}
    }
}

/// The blocks of YAML of a page that are scenarios or parts of one: a key of the file stands at their top.
fn scenarios(text: &str, schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            if let Some(block) = block.take() {
                let value = serde_saphyr::from_str::<Value>(&block);
                let value = value.ok().filter(|value| {
                    let top = value.as_object();
                    top.is_some_and(|top| top.keys().any(|key| !schema["properties"][key].is_null()))
                });
                found.extend(value);
            } else if line.trim() == "```yaml" {
                block = Some(String::new());
            } else if line.trim() != "```" {
                // Another language: its end is not a beginning.
                block = None;
            }
        } else if let Some(block) = &mut block {
            block.push_str(line);
            block.push('\n');
        }
    }
    found
}

/// Pages that quote keys of scenarios in the middle of sentences.
const QUOTING: [&str; 6] =
    ["scenarios.md", "simulations.md", "http.md", "thresholds.md", "datagrams.md", "overload.md"];

/// Pieces of scenarios between backticks: `timeout: 5s`, `{ hold: 5m, at: 30/s }`.
fn pieces(text: &str) -> Vec<Value> {
    let mut fence = false;
    let lines = text.lines().filter(|line| {
        fence ^= line.trim_start().starts_with("```");
        !fence
    });
    let code = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    let begins = |code: &&str| {
        let code = code.trim_start_matches(['{', ' ']);
        let key = code.split(':').next().unwrap_or_default();
        // A secret that is named like its value is no key.
        code.contains(": ")
            && code != "password: password"
            && !key.is_empty()
            && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    };
    code.filter(begins)
        .filter_map(|code| serde_saphyr::from_str::<Value>(code).ok())
        .filter(Value::is_object)
        .collect()
}

/// The keys of a piece that no place of a scenario would have: it is held to the place which takes it best.
fn unknown_anywhere(schema: &Value, piece: &Value, page: &str, n: &mut usize) -> Vec<String> {
    let tries = places(schema).into_iter().map(|(_, node)| {
        let mut found = Vec::new();
        unknown(schema, node, piece, page, n, &mut found);
        found
    });
    tries.min_by_key(Vec::len).unwrap()
}

#[test]
fn scenarios_in_the_documents_have_keys_that_exist() {
    let schema = schema();
    let (mut wrong, mut blocks, mut n) = (Vec::new(), 0, 0);
    let mut all: Vec<(String, Value)> = Vec::new();
    for (path, text) in pages() {
        let name = path.display().to_string();
        all.extend(scenarios(&text, &schema).into_iter().map(|value| (name.clone(), value)));
        if QUOTING.iter().any(|page| path.ends_with(Path::new("docs").join(page))) {
            for piece in pieces(&text) {
                blocks += 1;
                wrong.extend(unknown_anywhere(&schema, &piece, &name, &mut n));
            }
        }
    }
    for entry in std::fs::read_dir(root().join("docs/examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            all.push((path.display().to_string(), serde_saphyr::from_str(&text).unwrap()));
        }
    }
    let whole = all.len();
    for (name, value) in all {
        unknown(&schema, &schema, &value, &name, &mut n, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(whole > 10 && blocks > 100, "{whole} scenarios, {blocks} pieces");
}

#[test]
fn a_key_that_does_not_exist_is_found() {
    let schema = schema();
    let text = "```yaml\ntarget: http://h/\nusers: { arrive: { rat: 5/s } }\njourney: [ { get: /, headers: { a: b }, expct: {} } ]\n```\n";
    let (mut wrong, mut n) = (Vec::new(), 0);
    for value in scenarios(text, &schema) {
        unknown(&schema, &schema, &value, "x", &mut n, &mut wrong);
    }
    assert_eq!(wrong, ["x.journey[0].expct", "x.users.arrive.rat"]);
    let text =
        "A phase `{ hold: 5m, att: 30/s }`, or `{ hold: 5m, at: 30/s }`, and `timeout: 5s`, `timeot: 5s`.";
    let found: Vec<String> =
        pieces(text).iter().flat_map(|piece| unknown_anywhere(&schema, piece, "x", &mut n)).collect();
    assert_eq!(found, ["x.att", "x.timeot"]);
}
