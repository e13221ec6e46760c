//! Bodies of requests: text, JSON, forms, files, and several parts in one.

use super::encode::Encoding;
use super::names::Names;
use super::template::{Literal, Piece, Template, TemplateError, push_fixed};
use headway_base::random::{Stream, streams};
use serde_json::Value;

/// The body of a step's requests. The default is none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Body {
    pub(super) pieces: Vec<Piece<Vec<u8>>>,
    /// Sent unless the step gives one.
    pub(super) content_type: Option<String>,
    /// What separates the parts of a multipart body: no value may hold it.
    pub(super) boundary: Option<String>,
}

impl Literal for Vec<u8> {
    fn append(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// A JSON value with its members in the order in which they are written: some readers want a certain one first.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// Nothing, a truth value or a number.
    Plain(Value),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Members.
    Map(Vec<(String, Json)>),
}

/// Members in the order of their names.
impl From<Value> for Json {
    fn from(value: Value) -> Json {
        match value {
            Value::String(text) => Json::Text(text),
            Value::Array(items) => Json::List(items.into_iter().map(Json::from).collect()),
            Value::Object(members) => {
                Json::Map(members.into_iter().map(|(name, value)| (name, Json::from(value))).collect())
            }
            plain => Json::Plain(plain),
        }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Value {
        match json {
            Json::Plain(plain) => plain,
            Json::Text(text) => Value::String(text),
            Json::List(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            Json::Map(members) => {
                Value::Object(members.into_iter().map(|(name, json)| (name, Value::from(json))).collect())
            }
        }
    }
}

/// A template in a JSON body that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{error}")]
pub struct JsonTemplateError {
    /// Where the string is: a JSON pointer. For the name of a member: to the object that holds it.
    pub pointer: String,
    /// The string, if it is the name of a member.
    pub member: Option<String>,
    /// What is wrong with it.
    pub error: TemplateError,
}

impl Body {
    /// A text of no form.
    pub fn text(template: &Template) -> Body {
        let mut body = Body::of("text/plain; charset=utf-8");
        template.encode(Encoding::Verbatim, &mut body.pieces);
        body
    }

    /// JSON, in which every string and every name of a member is a template. Members keep their order.
    ///
    /// A string that is one value and nothing else takes the value's JSON type: numbers of the session, what a step took
    /// from JSON and columns of JSON lines are what they are there; constants, columns of CSV, `uuid` and `now` are
    /// strings. A value within more text is part of the string.
    ///
    /// # Errors
    /// A template that cannot be read, and where it is.
    pub fn json(value: &Json, names: &Names) -> Result<Body, JsonTemplateError> {
        let mut body = Body::of("application/json");
        json(value, names, &mut String::new(), &mut body.pieces)?;
        Ok(body)
    }

    /// A form of these names and values, url-encoded.
    pub fn form(fields: &[(Template, Template)]) -> Body {
        let mut body = Body::of("application/x-www-form-urlencoded");
        for (i, (name, value)) in fields.iter().enumerate() {
            push_fixed(&mut body.pieces, if i == 0 { "" } else { "&" });
            name.encode(Encoding::Form, &mut body.pieces);
            push_fixed(&mut body.pieces, "=");
            value.encode(Encoding::Form, &mut body.pieces);
        }
        body
    }

    /// These bytes.
    pub fn bytes(bytes: &[u8]) -> Body {
        let mut body = Body::of("application/octet-stream");
        push_bytes(&mut body.pieces, bytes);
        body
    }

    /// Several parts (RFC 7578), with a boundary that none of their fixed texts holds.
    pub fn multipart(parts: &[Part]) -> Body {
        let boundary = boundary(parts);
        let mut body = Body::of(&format!("multipart/form-data; boundary={boundary}"));
        for part in parts {
            push_fixed(&mut body.pieces, &format!("--{boundary}\r\n"));
            for piece in part.head().into_iter().chain(part.pieces.iter().cloned()) {
                match piece {
                    // Beside another fixed text it is one with that.
                    Piece::Fixed(bytes) => match body.pieces.last_mut() {
                        Some(Piece::Fixed(last)) => last.extend_from_slice(&bytes),
                        _ => body.pieces.push(Piece::Fixed(bytes)),
                    },
                    value => body.pieces.push(value),
                }
            }
            push_fixed(&mut body.pieces, "\r\n");
        }
        push_fixed(&mut body.pieces, &format!("--{boundary}--\r\n"));
        body.boundary = Some(boundary);
        body
    }

    /// These bytes, about which nothing is said.
    pub fn raw(bytes: &[u8]) -> Body {
        let mut body = Body::default();
        push_bytes(&mut body.pieces, bytes);
        body
    }

    /// Text as it is, of no type.
    pub fn plain(template: &Template) -> Body {
        let mut body = Body::default();
        template.encode(Encoding::Verbatim, &mut body.pieces);
        body
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether it is the same for every request.
    pub fn is_fixed(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Fixed(_)))
    }

    fn of(content_type: &str) -> Body {
        Body { content_type: Some(content_type.to_owned()), ..Body::default() }
    }
}

/// One part of a multipart body.
#[derive(Clone)]
pub struct Part {
    name: Template,
    file_name: Option<Template>,
    content_type: Option<Template>,
    pieces: Vec<Piece<Vec<u8>>>,
}

impl Part {
    /// A text.
    pub fn text(name: &Template, template: &Template) -> Part {
        let mut pieces = Vec::new();
        template.encode(Encoding::Verbatim, &mut pieces);
        Part { name: name.clone(), file_name: None, content_type: None, pieces }
    }

    /// A file under that name. Its type is application/octet-stream unless [`typed`](Part::typed) says otherwise.
    pub fn file(name: &Template, file_name: &Template, bytes: &[u8]) -> Part {
        let mut pieces = Vec::new();
        push_bytes(&mut pieces, bytes);
        let content_type = Some(Template::fixed("application/octet-stream"));
        Part { name: name.clone(), file_name: Some(file_name.clone()), content_type, pieces }
    }

    /// With that Content-Type. A value in it that holds a control character fails the step.
    pub fn typed(mut self, content_type: &Template) -> Part {
        self.content_type = Some(content_type.clone());
        self
    }

    fn head(&self) -> Vec<Piece<Vec<u8>>> {
        let mut head = Vec::new();
        push_fixed(&mut head, "Content-Disposition: form-data; name=\"");
        self.name.encode(Encoding::PartName, &mut head);
        if let Some(file_name) = &self.file_name {
            push_fixed(&mut head, "\"; filename=\"");
            file_name.encode(Encoding::PartName, &mut head);
        }
        push_fixed(&mut head, "\"");
        if let Some(content_type) = &self.content_type {
            push_fixed(&mut head, "\r\nContent-Type: ");
            content_type.encode(Encoding::Header, &mut head);
        }
        push_fixed(&mut head, "\r\n\r\n");
        head
    }
}

fn push_bytes(pieces: &mut Vec<Piece<Vec<u8>>>, bytes: &[u8]) {
    if !bytes.is_empty() {
        pieces.push(Piece::Fixed(bytes.to_vec()));
    }
}

/// A boundary of 16 hexadecimal digits that follow from what it separates.
fn boundary(parts: &[Part]) -> String {
    let fixed = || {
        parts.iter().flat_map(|part| &part.pieces).filter_map(|piece| match piece {
            Piece::Fixed(bytes) => Some(bytes),
            Piece::Value(..) => None,
        })
    };
    let length = fixed().map(Vec::len).sum::<usize>() as u64;
    let mut tries = 0;
    loop {
        let boundary = format!("headway-{:016x}", Stream::new(length, streams::DERIVED).bits(1, tries));
        let search = memchr::memmem::Finder::new(&boundary);
        if fixed().all(|bytes| search.find(bytes).is_none()) {
            return boundary;
        }
        tries += 1;
    }
}

/// Appends a JSON value, in which every string and every name of a member is a template.
pub(super) fn json<L: Literal>(
    value: &Json,
    names: &Names,
    pointer: &mut String,
    into: &mut Vec<Piece<L>>,
) -> Result<(), JsonTemplateError> {
    match value {
        Json::Text(text) => {
            let read = Template::parse(text, names);
            let pointer = || pointer.clone();
            let template =
                read.map_err(|error| JsonTemplateError { pointer: pointer(), member: None, error })?;
            match template.only_value() {
                Some(source) => into.push(Piece::Value(source, Encoding::JsonValue)),
                None => json_string(&template, into),
            }
        }
        Json::List(items) => {
            push_fixed(into, "[");
            for (i, item) in items.iter().enumerate() {
                push_fixed(into, if i == 0 { "" } else { "," });
                within(pointer, &i.to_string(), |pointer| json(item, names, pointer, into))?;
            }
            push_fixed(into, "]");
        }
        Json::Map(members) => {
            push_fixed(into, "{");
            for (i, (name, member)) in members.iter().enumerate() {
                push_fixed(into, if i == 0 { "" } else { "," });
                let template = Template::parse(name, names).map_err(|error| JsonTemplateError {
                    pointer: pointer.clone(),
                    member: Some(name.clone()),
                    error,
                })?;
                json_string(&template, into);
                push_fixed(into, ":");
                let token = name.replace('~', "~0").replace('/', "~1");
                within(pointer, &token, |pointer| json(member, names, pointer, into))?;
            }
            push_fixed(into, "}");
        }
        Json::Plain(plain) => push_fixed(into, &plain.to_string()),
    }
    Ok(())
}

fn json_string<L: Literal>(template: &Template, into: &mut Vec<Piece<L>>) {
    push_fixed(into, "\"");
    template.encode(Encoding::JsonText, into);
    push_fixed(into, "\"");
}

fn within<T>(pointer: &mut String, token: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(token);
    let result = inner(pointer);
    pointer.truncate(length);
    result
}

/// What is sent may be a secret: only its kind shows.
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({:?}, {} pieces)", self.content_type, self.pieces.len())
    }
}

/// As of a body.
impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Part({:?}, {:?}, {:?})", self.name, self.file_name, self.content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_in_no_part() {
        let fixed = |text: &str| Template::fixed(text);
        let part = Part::file(&fixed("f"), &fixed("a\"b\r\n.txt"), b"hello").typed(&fixed("text/plain"));
        let head = part.head();
        let [Piece::Fixed(head)] = &head[..] else { panic!("{} pieces", head.len()) };
        assert_eq!(
            str::from_utf8(head).unwrap(),
            "Content-Disposition: form-data; name=\"f\"; filename=\"a%22b%0D%0A.txt\"\r\nContent-Type: text/plain\r\n\r\n"
        );
        let first = boundary(&[part]);
        // The boundary follows from the length: a file that holds the one of its own length gets another.
        let length = first.len() as u64;
        let own = format!("headway-{:016x}", Stream::new(length, streams::DERIVED).bits(1, 0));
        let other = boundary(&[Part::file(&fixed("f"), &fixed("x"), own.as_bytes())]);
        assert!(other != own && other.len() == own.len());
    }

    #[test]
    fn a_bad_template_in_json_is_found() {
        let value = serde_json::json!({"a": [1, {"b/c": "{{nam}}"}]});
        let mut names = Names::new();
        names.extracted("name").unwrap();
        let error = Body::json(&value.into(), &names).unwrap_err();
        assert_eq!(error.pointer, "/a/1/b~1c");
        assert_eq!((error.error.range, error.error.suggestion.as_deref()), (2..5, Some("name")));
        let error = Body::json(&serde_json::json!({"x": {"{{y": 1}}).into(), &names).unwrap_err();
        assert_eq!((error.pointer.as_str(), error.member.as_deref()), ("/x", Some("{{y")));
    }
}
