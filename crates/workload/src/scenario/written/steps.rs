//! Steps of a journey as they are written.

use crate::scenario::leaves::{Any, Count, Flag, Law, Positive, Size, Text, Time, as_scalar, word};
use crate::scenario::read::{Named, OneOrMany, Read, Reader, mapping};
use crate::scenario::tree::Tree;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

mapping! {
    /// A part of a journey: a request (get, post, put, patch, delete, head, options, request; send where the target takes plain bytes), a choice, a block that is
    /// repeated, or a pause.
    Step, "a step", "{ get: /items }", requires [] {
        /// Sends a GET of this path.
        get: Text,
        /// Sends a POST to this path.
        post: Text,
        /// Sends a PUT to this path.
        put: Text,
        /// Sends a PATCH of this path.
        patch: Text,
        /// Sends a DELETE of this path.
        delete: Text,
        /// Sends a HEAD of this path.
        head: Text,
        /// Sends an OPTIONS of this path.
        options: Text,
        /// Sends a request of any method.
        request: Verb,
        /// Sends plain bytes: a text, or { file: PATH }. Empty, over UDP: a sequence number and the time.
        send: Sent,
        /// Name in the reports. Default: method and path.
        name: Text,
        /// How often: a request, or a block of steps.
        repeat: Count,
        /// Time before this step instead of the group's: a time or a distribution.
        think: Law,
        /// Parameters that are appended to the path, percent-encoded.
        query: Named<Text>,
        /// Headers of this request.
        headers: Named<Text>,
        /// The body, as it is.
        text: Text,
        /// The body as JSON: any value; texts in it are templates.
        json: Any,
        /// The body as a web form.
        form: Named<Text>,
        /// The body from a file, as it is.
        file: Text,
        /// The body in parts, as forms with files send it.
        multipart: Vec<Part>,
        /// What the events of the response are: chunks, each piece of the body that one read brings. Default: it has none.
        stream: StreamWord,
        /// What is taken from the answer, for later steps of the same session: {{NAME}}.
        extract: Named<Finder>,
        /// What the answer must be like.
        expect: Expect,
        /// One of several ways, at random by weight.
        choose: Vec<Way>,
        /// The steps of a block that is repeated.
        steps: Vec<Step>,
        /// The user thinks for that time, in addition to the think time of the next step.
        pause: Law,
    }
    schema {
        "oneOf": [
            { "required": ["get"] }, { "required": ["post"] }, { "required": ["put"] }, { "required": ["patch"] },
            { "required": ["delete"] }, { "required": ["head"] }, { "required": ["options"] }, { "required": ["request"] },
            { "required": ["send"] }, { "required": ["choose"] }, { "required": ["repeat", "steps"] }, { "required": ["pause"] },
        ]
    }
}

word! {
    /// What the events of a response are.
    StreamWord { Chunks = "chunks", }
}

mapping! {
    /// A method and a path.
    Verb, "request", "{ method: PURGE, path: /items }", requires [method, path] {
        /// The method, in capitals.
        method: Text,
        /// The path.
        path: Text,
    }
}

mapping! {
    /// One way of a choice.
    Way, "a way of a choice", "{ weight: 3, steps: [...] }", requires [steps] {
        /// How likely it is, among the weights of all. Default: 1.
        weight: Positive,
        /// Its steps; none: nothing is done.
        steps: Vec<Step>,
    }
}

mapping! {
    /// One part of a body in parts.
    Part, "a part", "{ name: picture, file: cat.png, type: image/png }", requires [name] {
        /// Name of the field.
        name: Text,
        /// What it holds.
        text: Text,
        /// The file that it holds.
        file: Text,
        /// Name that the file is given. Default: its own.
        filename: Text,
        /// Its content type.
        r#type: Text,
    }
    schema { "oneOf": [{ "required": ["text"] }, { "required": ["file"] }] }
}

mapping! {
    /// Where a value is found in an answer: exactly one of json, jsonpath, header, cookie, regex, attribute and field.
    Finder, "a finder", "{ json: /items/0/id }", requires [] {
        /// In a JSON body, by JSON pointer (RFC 6901).
        json: Text,
        /// In a JSON body, by JSONPath (RFC 9535); the first that matches.
        jsonpath: Text,
        /// In a header of that name.
        header: Text,
        /// In the cookie of that name that the answer sets.
        cookie: Text,
        /// In the body, by regular expression.
        regex: Text,
        /// In a page of HTML, by element and attribute: form action, or meta[name=csrf-token] content. Read as a browser does.
        attribute: Text,
        /// In a page of HTML, the value of the field of a form of that name.
        field: Text,
        /// Whether references to characters of HTML (&amp;) are read in what the expression finds. Default: no.
        html: Flag,
        /// Which group of the expression. Default: the first if there is one, else all of the match.
        group: Count,
        /// The value if nothing is found. Without it the step fails.
        default: Text,
    }
    schema {
        "oneOf": [
            { "required": ["json"] }, { "required": ["jsonpath"] }, { "required": ["header"] },
            { "required": ["cookie"] }, { "required": ["regex"] }, { "required": ["attribute"] }, { "required": ["field"] },
        ]
    }
}

mapping! {
    /// What an answer must be like.
    Expect, "expect", "{ status: 201 }", requires [] {
        /// Its status: 200, 2xx, 200-299, or a list of such. Default: below 400.
        status: Statuses,
        /// Its response time, at most.
        time: Time,
        /// Its body.
        body: BodyCheck,
        /// Its headers: a value that must be equal, or { matches: expression }.
        headers: Named<HeaderCheck>,
        /// With answer: resp, the error replies that are good, by their first words: NOAUTH, a list of such, or any. Default: none.
        errors: Words,
    }
}

/// Words: one or several.
#[derive(Debug)]
pub(in crate::scenario) struct Words(pub Vec<Text>);

impl Read for Words {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Words> {
        OneOrMany::read(tree, reader).map(|many| Words(many.items))
    }
}

impl JsonSchema for Words {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = serde_json::json!({ "type": "string", "examples": ["NOAUTH", "any"] });
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

/// Statuses: one or several.
#[derive(Debug)]
pub(in crate::scenario) struct Statuses(pub Vec<Text>);

impl Read for Statuses {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Statuses> {
        OneOrMany::read(tree, reader).map(|many| Statuses(many.items))
    }
}

impl JsonSchema for Statuses {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Statuses".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = serde_json::json!({ "type": ["integer", "string"], "examples": [201, "2xx", "200-299"] });
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

mapping! {
    /// What a body must be like.
    BodyCheck, "body", "{ contains: ok }", requires [] {
        /// It holds this text.
        contains: Text,
        /// It does not hold this text.
        not_contains: Text,
        /// This regular expression matches somewhere.
        matches: Text,
        /// It is JSON, and these JSON pointers lead to these values.
        json: Named<Any>,
        /// Its least size.
        min: Size,
        /// Its largest size.
        max: Size,
    }
}

/// What a step sends where the target takes plain bytes.
#[derive(Debug)]
pub(in crate::scenario) enum Sent {
    Text(Text),
    File(SentFile),
}

mapping! {
    /// What a step sends where the target takes plain bytes.
    SentFile, "what is sent", "{ file: ping.bin }", requires [file] {
        /// All that this file holds.
        file: Text,
    }
}

impl Read for Sent {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<Sent> {
        match as_scalar(tree) {
            Some(_) => Text::read(tree, reader).map(Sent::Text),
            None => SentFile::read(tree, reader).map(Sent::File),
        }
    }
}

impl JsonSchema for Sent {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Sent".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let file = generator.subschema_for::<SentFile>();
        json_schema!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, file] })
    }
}

/// What a header must be like.
#[derive(Debug)]
pub(in crate::scenario) enum HeaderCheck {
    Equal(Text),
    Full(MatchingHeader),
}

mapping! {
    /// What a header must be like.
    MatchingHeader, "a check of a header", "{ matches: \"HIT|MISS\" }", requires [matches] {
        /// This regular expression matches somewhere in it.
        matches: Text,
    }
}

impl Read for HeaderCheck {
    fn read(tree: &Tree, reader: &mut Reader<'_>) -> Option<HeaderCheck> {
        match as_scalar(tree) {
            Some(_) => Text::read(tree, reader).map(HeaderCheck::Equal),
            None => MatchingHeader::read(tree, reader).map(HeaderCheck::Full),
        }
    }
}

impl JsonSchema for HeaderCheck {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "HeaderCheck".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let matching = generator.subschema_for::<MatchingHeader>();
        json_schema!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, matching] })
    }
}
