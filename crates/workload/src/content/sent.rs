//! What a script sends, in words and without secrets: whether two processes that name one run mean the same.
//!
//! Deliberately absent: values of headers, which may be secrets and may differ between machines, and what is expected of responses.

use super::script::Script;
use super::step::Step;
use super::template::Piece;
use crate::redact::Redactor;
use headway_base::Fnv1a;

impl Script {
    /// What each step sends: method, path, names of headers, and length and 64-bit FNV-1a of the body, secrets replaced.
    pub fn sent(&self) -> String {
        self.steps.iter().map(|step| sent(step, &self.redactor)).collect::<Vec<_>>().join(", ")
    }
}

fn sent(step: &Step, redactor: &Redactor) -> String {
    let path = text(&step.target, String::clone);
    let mut sent = format!("{} {}", step.method, redactor.hide_url(&path));
    for (i, header) in step.headers.iter().enumerate() {
        sent += if i == 0 { " -H " } else { "+" };
        sent += &header.name;
    }
    let body = text(&step.body.pieces, |bytes| String::from_utf8_lossy(bytes).into_owned());
    if !body.is_empty() {
        let hidden = redactor.hide_foreign(&body);
        let hash = Fnv1a::new().with(hidden.as_bytes()).value();
        sent += &format!(" with a body of {} bytes, {hash:016x}", hidden.len());
    }
    sent
}

/// All of it, with the kind of each value in the value's place.
fn text<L>(pieces: &[Piece<L>], fixed: impl Fn(&L) -> String) -> String {
    let piece = |piece: &Piece<L>| match piece {
        Piece::Fixed(literal) => fixed(literal),
        Piece::Value(source, _) => format!("{{{source:?}}}"),
    };
    pieces.iter().map(piece).collect()
}
