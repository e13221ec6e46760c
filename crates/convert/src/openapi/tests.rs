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

/// The only step of a GET with that path and those parameters, and the remarks.
fn got(path: &str, parameters: &str) -> (String, Vec<String>) {
    let made = all(&document(
        &format!(
            r#"{{"{path}": {{"get": {{"parameters": [{parameters}], "responses": {{"200": {{"description": "ok"}}}}}}}}}}"#
        ),
        "{}",
    ));
    let step = made.scenario.lines().find(|line| line.contains("- get: ")).unwrap_or_default();
    (step.trim().trim_start_matches("- get: ").trim_matches('"').to_owned(), made.notes)
}

#[test]
fn parameters_of_paths_have_their_styles() {
    let array = |style: &str, explode: bool| {
        format!(
            r#"{{"name": "p", "in": "path", "required": true, "style": "{style}", "explode": {explode}, "schema": {{"type": "array"}}, "example": [3, "a,b"]}}"#
        )
    };
    let object = |style: &str, explode: bool| {
        array(style, explode).replace(r#"[3, "a,b"]"#, r#"{"R": 100, "G": "x/y"}"#)
    };
    let one = |style: &str| array(style, false).replace(r#"[3, "a,b"]"#, "5");
    // RFC 6570, 3.2, and the table of style values of OpenAPI 3.1.1.
    for (parameter, path) in [
        (one("simple"), "/x{{vars.p}}"),
        (one("label"), "/x.{{vars.p}}"),
        (one("matrix"), "/x;p={{vars.p}}"),
        (array("simple", false), "/x3,a%2Cb"),
        (array("simple", true), "/x3,a%2Cb"),
        (array("label", false), "/x.3,a%2Cb"),
        (array("label", true), "/x.3.a%2Cb"),
        (array("matrix", false), "/x;p=3,a%2Cb"),
        (array("matrix", true), "/x;p=3;p=a%2Cb"),
        (object("simple", false), "/xR,100,G,x%2Fy"),
        (object("simple", true), "/xR=100,G=x%2Fy"),
        (object("label", true), "/x.R=100.G=x%2Fy"),
        (object("matrix", false), "/x;p=R,100,G,x%2Fy"),
        (object("matrix", true), "/x;R=100;G=x%2Fy"),
    ] {
        let (step, notes) = got("/x{p}", &parameter);
        assert_eq!((step.as_str(), notes.len()), (path, 0), "{parameter}: {notes:?}");
    }
    let (step, notes) = got("/x{p}", &array("form", false));
    assert_eq!(step, "/x3,a%2Cb");
    assert!(notes[0].contains("style form is none of a path"), "{notes:?}");
}

#[test]
fn parameters_of_a_media_type_are_written_as_that_has_it() {
    let content = |at: &str| {
        format!(
            r#"{{"name": "filter", "in": "{at}", "required": true, "content": {{"application/json": {{"schema": {{"type": "object"}}, "example": {{"where": {{"id": 1}}}}}}}}}}"#
        )
    };
    assert_eq!(got("/items", &content("query")).0, "/items?filter=%7B%22where%22%3A%7B%22id%22%3A1%7D%7D");
    let delimited = |style: &str| {
        format!(
            r#"{{"name": "p", "in": "query", "required": true, "style": "{style}", "explode": false, "schema": {{"type": "array"}}, "example": [3, 4]}}"#
        )
    };
    for (style, query) in [("form", "3,4"), ("spaceDelimited", "3%204"), ("pipeDelimited", "3%7C4")] {
        assert_eq!(got("/items", &delimited(style)).0, format!("/items?p={query}"));
    }
}

#[test]
fn a_fragment_that_tells_operations_apart_is_not_sent() {
    let get = r#"{"get": {"responses": {"200": {"description": "ok"}}}}"#;
    let made = all(&document(&format!(r#"{{"/search#by-name": {get}, "/search#by-id": {get}}}"#), "{}"));
    assert_eq!(labels(&made), ["GET /search#by-name", "GET /search#by-id"]);
    assert_eq!(made.scenario.matches("- get: /search\n").count(), 2, "{}", made.scenario);
}

#[test]
fn keys_that_are_not_read_are_told_of() {
    let (_, notes) = got(
        "/x",
        r#"{"name": "p", "in": "query", "required": true, "allowReserved": true, "x-own": 1, "description": "d", "schema": {"type": "string"}, "example": "a"}"#,
    );
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("left out: allowReserved of GET /x, parameter p"), "{notes:?}");
    let made = all(&document(
        r#"{"/x": {"summary": "s", "post": {"operationId": "o", "tags": ["a"], "servers": [], "requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}, "encoding": {"a": {"contentType": "image/png"}}}}}, "responses": {"200": {"description": "ok"}}}}}"#,
        "{}",
    ));
    for told in ["left out: servers of POST /x", "left out: encoding of the body of POST /x"] {
        assert!(made.notes.iter().any(|note| note.contains(told)), "{told}: {:?}", made.notes);
    }
    assert_eq!(made.notes.len(), 2, "{:?}", made.notes);
}
