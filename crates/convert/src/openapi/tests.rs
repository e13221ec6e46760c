use super::*;
use headway_workload::scenario::{Surroundings, parse};

/// What a run reads of it; variables of the environment are set.
fn labels(made: &Converted) -> Vec<String> {
    let around = Surroundings {
        read: &|_| Ok(Vec::new()),
        env: &|name| name.starts_with("HEADWAY_").then(|| "x".to_owned()),
        log: &headway_workload::scenario::no_logs,
    };
    let scenario =
        parse("made.yaml", &made.scenario, &around).unwrap_or_else(|e| panic!("{e}\n{}", made.scenario));
    scenario.labels.iter().map(|label| label.to_string()).collect()
}

fn all(text: &str) -> Converted {
    let choices = Choices { target: Some("http://127.0.0.1:1/base".to_owned()), all_methods: true };
    scenario("a.yaml", text, &choices).unwrap()
}

fn refused(text: &str) -> String {
    format!("{:#}", scenario("a.yaml", text, &Choices::default()).unwrap_err())
}

/// A document with these operations of one path and these components.
fn document(paths: &str, components: &str) -> String {
    format!(
        r#"{{"openapi": "3.1.0", "servers": [{{"url": "http://127.0.0.1:1/v1/"}}], "paths": {paths}, "components": {components}}}"#
    )
}

#[test]
fn public_documents_become_scenarios_that_a_run_reads() {
    for (file, text, safe, every) in [
        ("petstore-expanded.yaml", include_str!("../../tests/samples/openapi/petstore-expanded.yaml"), 2, 4),
        ("uspto.yaml", include_str!("../../tests/samples/openapi/uspto.yaml"), 2, 3),
        ("tictactoe.yaml", include_str!("../../tests/samples/openapi/tictactoe.yaml"), 2, 3),
    ] {
        let target = (file == "tictactoe.yaml").then(|| "http://127.0.0.1:1".to_owned());
        let choices = |all_methods| Choices { target: target.clone(), all_methods };
        assert_eq!(labels(&scenario(file, text, &choices(false)).unwrap()).len(), safe, "{file}");
        let made = scenario(file, text, &choices(true)).unwrap();
        assert_eq!(labels(&made).len(), every, "{file}: {}", made.scenario);
    }
}

#[test]
fn the_petstore_has_its_operations_values_and_statuses() {
    let text = include_str!("../../tests/samples/openapi/petstore-expanded.yaml");
    let made = scenario("p.yaml", text, &Choices { target: None, all_methods: true }).unwrap();
    assert_eq!(labels(&made), ["GET /pets", "POST /pets", "GET /pets/{id}", "DELETE /pets/{id}"]);
    for part in [
        "target: https://petstore.swagger.io/v2\n",
        "variables:\n  # Made up from its schema (p.yaml:",
        "  id: \"1\"\n",
        "- get: \"/pets/{{vars.id}}\"\n    name: \"GET /pets/{id}\"\n",
        "      name: text\n",
        "      status: 204\n",
    ] {
        assert!(made.scenario.contains(part), "{part}\n{}", made.scenario);
    }
    let made = scenario("p.yaml", text, &Choices::default()).unwrap();
    let line = text.lines().position(|line| line == "    delete:").unwrap() + 1;
    let told = format!(
        "p.yaml:{line}: left out: DELETE /pets/{{id}}, which may change data (--all-methods takes it in)"
    );
    assert!(made.notes.contains(&told) && !made.scenario.contains("- delete"), "{:?}", made.notes);
}

#[test]
fn parameters_and_security_are_sent_and_secrets_are_not_written() {
    let paths = r##"{"/a/{k y}": {"parameters": [{"name": "k y", "in": "path", "required": true, "schema": {"enum": ["x/1"]}}],
        "get": {"security": [{"key": [], "login": []}], "parameters": [
            {"name": "n", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 5}},
            {"name": "many", "in": "query", "required": true, "example": ["a", "b c"]},
            {"name": "api_key", "in": "query", "required": true, "example": "SECRET-1"},
            {"name": "optional", "in": "query", "schema": {"type": "string"}},
            {"name": "X-Token", "in": "header", "required": true, "example": "SECRET-2"},
            {"name": "X-Kind", "in": "header", "required": true, "schema": {"type": "string", "default": "k"}}],
          "responses": {"200": {"content": {"text/csv": {}}}, "3XX": {}, "404": {}, "default": {}}}}}"##;
    let components = r#"{"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "k"}, "login": {"type": "http", "scheme": "basic"}}}"#;
    let made = scenario("a.json", &document(paths, components), &Choices::default()).unwrap();
    labels(&made);
    for part in [
        "target: http://127.0.0.1:1/v1\n",
        "  k_y: x/1\n",
        "/a/{{vars.k_y}}?n=5&many=a&many=b%20c&api_key=${HEADWAY_SECRET_API_KEY}&k=${HEADWAY_SECRET_KEY}",
        "X-Token: \"${HEADWAY_SECRET_X_TOKEN}\"",
        "X-Kind: k",
        "Authorization: \"Basic ${HEADWAY_SECRET_LOGIN}\"",
        "Accept: text/csv",
        "- 200\n        - 3xx\n",
    ] {
        assert!(made.scenario.contains(part), "{part}\n{}", made.scenario);
    }
    let shown = format!("{}{:?}", made.scenario, made.notes);
    assert!(!shown.contains("SECRET-") && !made.scenario.contains("optional"), "{shown}");
}

#[test]
fn bodies_are_made_of_schemas_within_bounds() {
    let paths = r##"{"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}},
        "put": {"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"required": ["a", "password"], "properties": {
            "a": {"type": "string", "minLength": 6}, "b": {"type": "string"}, "password": {"type": "string", "example": "SECRET-3"}}}}}}},
        "patch": {"requestBody": {"content": {"application/json": {"example": {"z": 1, "token": "SECRET-4", "a": [1.5, "{{x}}"]}}}}}}}"##;
    let components = r##"{"schemas": {"Tree": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["child", "when"], "properties": {
        "child": {"$ref": "#/components/schemas/Tree"}, "when": {"type": "string", "format": "date"}, "pin": {"type": "integer"}}}]},
        "Base": {"type": "object", "required": ["id", "own"], "properties": {"id": {"type": ["null", "number"], "multipleOf": 3, "minimum": 4},
            "own": {"type": "string", "readOnly": true}, "hidden": {"type": "string", "format": "password"}}}}}"##;
    let made = all(&document(paths, components));
    labels(&made);
    for part in [
        "json:\n      id: 6\n      when: 2026-01-31\n",
        "form:\n      a: texttex\n".replace("texttex", "textte").as_str(),
        "password: \"${HEADWAY_SECRET_PASSWORD}\"",
        "      z: 1\n      token: \"${HEADWAY_SECRET_TOKEN}\"\n      a:\n        - 1.5\n        - \"\\\\{{x}}\"\n",
    ] {
        let quoted = part.replace("2026-01-31", "\"2026-01-31\"");
        assert!(made.scenario.contains(part) || made.scenario.contains(&quoted), "{part}\n{}", made.scenario);
    }
    assert!(
        made.notes.iter().any(|note| note.contains("its required member 'child' refers to itself")),
        "{:?}",
        made.notes
    );
    assert!(!format!("{made:?}").contains("SECRET-3") && !format!("{made:?}").contains("SECRET-4"));
}

/// Schemas each of which holds ten times the next, so many deep; the first is S0.
fn multiplying(deep: usize) -> String {
    let schemas: Vec<String> = (0..deep)
        .map(|i| {
            let members: Vec<String> = (0..10)
                .map(|j| format!(r##""m{j}": {{"$ref": "#/components/schemas/S{}"}}"##, i + 1))
                .collect();
            format!(r#""S{i}": {{"properties": {{{}}}}}"#, members.join(","))
        })
        .collect();
    format!(r#"{{"schemas": {{{}, "S{deep}": {{"type": "string"}}}}}}"#, schemas.join(","))
}

/// Each schema holds ten times the next, twelve deep: ten to the twelfth members if nothing bounded it.
#[test]
fn a_schema_that_multiplies_is_bounded() {
    let components = multiplying(12);
    let paths = r##"{"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}}}}"##;
    let made = all(&document(paths, &components));
    assert!(made.notes.iter().any(|note| note.contains("its schema")), "{:?}", made.notes);
    assert!(made.scenario.len() < 2_000_000, "{}", made.scenario.len());
}

/// As above, 300 times: what is made up is bounded for all bodies together, and a scenario that would be too large is refused.
#[test]
fn what_is_made_of_a_document_is_bounded_in_all() {
    let components = multiplying(8);
    let body = r##"{"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}}}"##;
    let paths: Vec<String> = (0..300).map(|i| format!(r#""/p{i}": {body}"#)).collect();
    let choices = Choices { target: None, all_methods: true };
    let text = document(&format!("{{{}}}", paths.join(",")), &components);
    let error = format!("{:#}", scenario("a.json", &text, &choices).unwrap_err());
    assert!(error.starts_with("a.json: it would have ") && error.contains("keys and values"), "{error}");
    let paths: Vec<String> = (0..10_001).map(|i| format!(r#""/p{i}": {{"get": {{}}}}"#)).collect();
    let text = document(&format!("{{{}}}", paths.join(",")), "{}");
    let error = format!("{:#}", scenario("a.json", &text, &choices).unwrap_err());
    assert_eq!(error, "a.json: it would have 10001 steps, and a scenario has at most 10000: leave some out");
}

/// A list of so many values that a document may have one more or not: values are counted as the parser does.
#[test]
fn a_document_of_too_many_values_is_refused() {
    let text = |n: usize| format!("openapi: 3.0.0\nx: [{}]\n", vec!["1"; n].join(","));
    let error = refused(&text(2_000_000));
    assert!(error.starts_with("a.yaml:") && error.contains("of at most 2000000 values"), "{error}");
    assert!(refused(&text(1_000)).contains("name the target"), "{}", refused(&text(1_000)));
}

#[test]
fn what_is_no_openapi_document_is_refused_with_its_line() {
    for (text, says) in [
        ("swagger: '2.0'\npaths: {}\n", "a.yaml:1: this is Swagger 2.0, which is not read: convert it"),
        ("\nopenapi: 2.9\n", "a.yaml:2: openapi is '2.9', and 3.0 or 3.1 is read"),
        ("a: 1\n", "a.yaml:1: this is no OpenAPI document: `openapi: 3.0.x`"),
        ("a: [1\nb: {", "a.yaml:2: this is no OpenAPI document"),
        ("<html>\n<a b='c'></html>: x: y", "this is no OpenAPI document"),
        ("openapi: 3.0.0\npaths: {/a: {get: {}}}\n", "name the target, as in --target http://127.0.0.1:8080"),
        (
            "openapi: 3.0.0\nservers: [{url: /v1}]\npaths: {/a: {get: {}}}\n",
            "--target http://127.0.0.1:8080/v1",
        ),
        (
            "openapi: 3.0.0\nservers: [{url: 'http://a'}]\npaths:\n  /a: {post: {}}\n",
            "a.yaml:3: paths has no operation to send; --all-methods",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(says), "{text}: {error}");
    }
    let deep = format!("openapi: 3.0.0\na: {}{}", "[".repeat(2_000), "]".repeat(2_000));
    assert!(refused(&deep).starts_with("a.yaml:2: "), "{}", refused(&deep));
    // Each line stands for ten of the one before: ten to the ninth.
    let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for i in 1..9 {
        laughs += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(","));
    }
    let error = refused(&laughs);
    assert!(error.starts_with("a.yaml:") && error.contains("no OpenAPI document"), "{error}");
}
