//! The body that curl's options make: `-d` and its kin, `-F`, `-T`.

use super::super::Text;
use super::super::draft::{Body, FORM, Part, PartContent, Step};
use super::super::secrets::{Secrets, is_secret_field};
use super::Operation;
use super::options::Data;
use anyhow::{Result, bail};
use url::form_urlencoded;

/// The values of `-d` and its kin, in order.
#[derive(Default)]
pub(super) struct Pieces(Vec<Piece>);

struct Piece {
    data: Data,
    content: Content,
}

enum Content {
    Text(String),
    File(String),
}

impl Pieces {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, data: Data, value: &str) -> Result<()> {
        let content = match (data, value.strip_prefix('@')) {
            (Data::Raw, _) | (Data::Text | Data::Binary | Data::Json, None) => {
                Content::Text(value.to_owned())
            }
            (Data::Text | Data::Binary | Data::Json, Some(file)) => Content::File(named(file)?),
            (Data::Encoded, _) => Content::Text(encoded(value)?),
        };
        self.0.push(Piece { data, content });
        Ok(())
    }

    /// All of them as one text, or the file that is the only one.
    fn joined(&self) -> Result<Content> {
        if let [Piece { content: Content::File(file), .. }] = self.0.as_slice() {
            return Ok(Content::File(file.clone()));
        }
        let mut out = String::new();
        for (i, piece) in self.0.iter().enumerate() {
            let Content::Text(text) = &piece.content else {
                bail!("a body of several pieces, one of them a file: put all of it into one file");
            };
            if i > 0 && piece.data != Data::Json {
                out.push('&');
            }
            out.push_str(text);
        }
        Ok(Content::Text(out))
    }

    /// What `-G` appends to the URL.
    pub(super) fn query(&self) -> Result<String> {
        match self.joined()? {
            Content::Text(query) => Ok(query),
            Content::File(file) => bail!("-G with @{file}: write what is in the file into the URL"),
        }
    }
}

fn named(file: &str) -> Result<String> {
    match file {
        "" => bail!("@ without the name of a file"),
        "-" => bail!("@- is standard input: put the body into a file and name that"),
        file => Ok(file.to_owned()),
    }
}

/// `content`, `=content` or `name=content`, the content percent-encoded.
fn encoded(value: &str) -> Result<String> {
    let (name, content) = match value.find(['=', '@']) {
        Some(at) if value[at..].starts_with('@') => {
            bail!("a file to be encoded is not read here: write the content in its place")
        }
        Some(at) => (&value[..at], &value[at + 1..]),
        None => ("", value),
    };
    let equals = if name.is_empty() { "" } else { "=" };
    let content: String = form_urlencoded::byte_serialize(content.as_bytes()).collect();
    Ok(format!("{name}{equals}{content}"))
}

/// The values of `-F`, in order, each with its text as given.
#[derive(Default)]
pub(super) struct Form(Vec<(Part, String)>);

impl Form {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `name=content`, `name=@file`, either with `;type=...` and `;filename=...`; literally only the first.
    pub(super) fn add(&mut self, value: &str, literal: bool) -> Result<()> {
        let Some((name, content)) = value.split_once('=') else {
            bail!("'{value}' is no field: write NAME=VALUE or NAME=@FILE");
        };
        let mut part = Part {
            name: name.to_owned(),
            content: PartContent::File(String::new()),
            filename: None,
            kind: None,
        };
        let content = if literal {
            content.to_owned()
        } else {
            if content.starts_with('<') {
                bail!("NAME=<FILE sends a file as text: write the text, or NAME=@FILE for an upload");
            }
            let (content, parameters) = parameters(content)?;
            for (key, value) in parameters {
                match key.as_str() {
                    "type" => part.kind = Some(value),
                    "filename" => part.filename = Some(value),
                    other => bail!(";{other}= cannot be said in a scenario: only type and filename can"),
                }
            }
            content
        };
        if let Some(file) = content.strip_prefix('@').filter(|_| !literal && part.kind.is_none()) {
            part.kind = guessed(part.filename.as_deref().unwrap_or(file));
        }
        part.content = match content.strip_prefix('@').filter(|_| !literal) {
            Some(files) if files.contains(',') => bail!("several files in one field: give each its own -F"),
            Some(file) => PartContent::File(named(file.trim_matches('"'))?),
            None if part.filename.is_some() => {
                bail!("a text with a ;filename=: put the text into a file and give NAME=@FILE")
            }
            None => PartContent::Text(Text::literal(&content)),
        };
        self.0.push((part, content));
        Ok(())
    }

    fn parts(&self, secrets: &mut Secrets) -> Vec<Part> {
        let one = |(part, given): &(Part, String)| {
            let mut part = part.clone();
            if let PartContent::Text(text) = &mut part.content
                && !given.is_empty()
            {
                *text = match is_secret_field(&part.name) {
                    true => secrets.field(&part.name, given),
                    false => secrets.text(&part.name, given, &format!("the field {}", part.name)),
                };
            }
            part
        };
        self.0.iter().map(one).collect()
    }
}

/// The media type that curl gives a file by its name, where that is another than the default.
fn guessed(file: &str) -> Option<String> {
    const TYPES: &[(&str, &str)] = &[
        ("gif", "image/gif"),
        ("jpg", "image/jpeg"),
        ("jpeg", "image/jpeg"),
        ("png", "image/png"),
        ("svg", "image/svg+xml"),
        ("txt", "text/plain"),
        ("htm", "text/html"),
        ("html", "text/html"),
        ("pdf", "application/pdf"),
        ("xml", "application/xml"),
    ];
    let (_, extension) = file.rsplit_once('.')?;
    let known = TYPES.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known));
    known.map(|(_, kind)| (*kind).to_owned())
}

/// A content and its `;key=value` parameters; both may be in double quotes with backslashes.
fn parameters(value: &str) -> Result<(String, Vec<(String, String)>)> {
    let (at, quoted_file) = match value.strip_prefix('@') {
        Some(rest) => ("@", rest),
        None => ("", value),
    };
    let (content, mut rest) = word(quoted_file)?;
    let mut found = Vec::new();
    while let Some(more) = rest.strip_prefix(';') {
        let Some((key, value)) = more.split_once('=') else {
            bail!("';{more}' is no parameter: write ;KEY=VALUE")
        };
        let (mut value, after) = word(value)?;
        rest = after;
        // A media type has parameters of its own, after semicolons too.
        while key.trim() == "type"
            && let Some(more) = rest.strip_prefix(';')
            && !more.trim_start().starts_with("filename=")
        {
            let (parameter, after) = word(more)?;
            value = format!("{value};{parameter}");
            rest = after;
        }
        found.push((key.trim().to_ascii_lowercase(), value));
    }
    if !rest.is_empty() {
        bail!("'{rest}' after the closing quote");
    }
    Ok((format!("{at}{content}"), found))
}

/// Up to the next semicolon, or what is in quotes; and what follows.
fn word(text: &str) -> Result<(String, &str)> {
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut out = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, &inside[at + 1..])),
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            c => out.push(c),
        }
    }
    bail!("a \" is not closed")
}

/// Puts the operation's body into the step.
pub(super) fn fill(
    step: &mut Step,
    operation: &Operation,
    kind: Option<&str>,
    secrets: &mut Secrets,
) -> Result<()> {
    let taken_away = operation.removed.iter().any(|name| name.eq_ignore_ascii_case("content-type"));
    let kind = kind.or(taken_away.then_some(""));
    let keep = |step: &mut Step| {
        if let Some(kind) = kind {
            step.header("Content-Type", Text::literal(kind));
        }
    };
    if let Some(file) = &operation.upload {
        // curl gives a file no type of its own.
        step.header("Content-Type", Text::literal(kind.unwrap_or_default()));
        step.body = Body::File(named(file)?);
        step.notes.push(FILE.to_owned());
    } else if !operation.form.is_empty() {
        // Its Content-Type names the boundary, which is made anew.
        let parts = operation.form.parts(secrets);
        if parts.iter().any(|part| matches!(part.content, PartContent::File(_))) {
            step.notes.push(FILE.to_owned());
        }
        step.body = Body::Multipart(parts);
    } else if operation.data.is_empty() || operation.get {
        if !taken_away {
            keep(step);
        }
    } else {
        let kind = kind.unwrap_or(FORM);
        match operation.data.joined()? {
            Content::Text(text) => {
                step.text_body(Some(kind), &text, secrets);
                if kind.is_empty() {
                    step.header("Content-Type", Text::literal(""));
                }
            }
            Content::File(file) => {
                step.header("Content-Type", Text::literal(kind));
                step.body = Body::File(file);
                step.notes.push(FILE.to_owned());
                if operation.data.0.iter().any(|piece| piece.data == Data::Text) {
                    step.notes.push(
                        "curl -d takes the line breaks out of a file; here it is sent as it is.".to_owned(),
                    );
                }
            }
        }
    }
    Ok(())
}

const FILE: &str = "The names of files are relative to this scenario.";
