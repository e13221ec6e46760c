//! The body of a recorded request: text, a form, parts, or what is to be known of one that the recording does not hold.

use super::super::Text;
use super::super::draft::{Body, FORM, Part, PartContent, Step};
use super::super::secrets::{Secrets, is_secret_field};
use super::read::{Entry, Param, Post};
use base64::Engine as _;

/// Puts the entry's body and its Content-Type into the step.
pub(super) fn fill(step: &mut Step, entry: &Entry, secrets: &mut Secrets) {
    let kind = entry.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let kind = kind.map(|(_, kind)| kind.trim());
    match &entry.post {
        Some(post) => posted(step, post, kind, secrets),
        None => {
            if let Some(kind) = kind {
                step.header("Content-Type", Text::literal(kind));
            }
            if entry.body_bytes > 0 {
                let bytes = entry.body_bytes;
                step.lack(format!("The recording does not hold the body of this request ({bytes} bytes)."));
            }
        }
    }
}

fn posted(step: &mut Step, post: &Post, kind: Option<&str>, secrets: &mut Secrets) {
    let kind = kind.or(Some(post.kind.as_str()).filter(|kind| !kind.is_empty()));
    let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "multipart/form-data" && !post.params.is_empty() {
        let parts = post.params.iter().map(|param| part(param, step, secrets)).collect();
        step.body = Body::Multipart(parts);
    } else if post.text.is_empty() && !post.params.is_empty() {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        for param in &post.params {
            let value =
                decoded(step, &param.value, param.encoding.as_deref(), &format!("the field {}", param.name));
            form.append_pair(&param.name, &value);
        }
        step.text_body(kind.or(Some(FORM)), &form.finish(), secrets);
    } else {
        let text = decoded(step, &post.text, post.encoding.as_deref(), "the body");
        step.text_body(kind, &text, secrets);
    }
}

fn part(param: &Param, step: &mut Step, secrets: &mut Secrets) -> Part {
    let value = decoded(step, &param.value, param.encoding.as_deref(), &format!("the field {}", param.name));
    let (mut filename, mut content) = (
        param.file.clone(),
        PartContent::Text(secrets.text(&param.name, &value, &format!("the field {}", param.name))),
    );
    match &param.file {
        Some(file) if value.is_empty() => {
            step.lack(format!("The recording does not hold the file {file}: put it beside this scenario."));
            content = PartContent::File(file.clone());
        }
        Some(file) => {
            step.notes.push(format!("Sent as a text: the recorded content of the file {file}."));
            filename = None;
        }
        None if is_secret_field(&param.name) && !value.is_empty() => {
            content = PartContent::Text(secrets.field(&param.name, &value));
        }
        None => {}
    }
    Part { name: param.name.clone(), content, filename, kind: param.kind.clone() }
}

/// A text that may be recorded in base64 (HAR 1.3); what cannot be text is left out and said.
fn decoded(step: &mut Step, text: &str, encoding: Option<&str>, what: &str) -> String {
    let bytes = match encoding {
        None | Some("") => return text.to_owned(),
        Some("base64") => base64::engine::general_purpose::STANDARD.decode(text.trim()).ok(),
        Some(_) => None,
    };
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| {
        let encoding = encoding.unwrap_or_default();
        step.lack(format!(
            "Left out: {what}, recorded as {encoding}, which is no text. Put it into a file and name that, as file: NAME."
        ));
        String::new()
    })
}
