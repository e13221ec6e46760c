//! What requests hold and what answers mean: templates and their data, bodies, extraction, checks, cookies.
//!
//! A [`Script`] is made once, with everything compiled. A world asks it to [`render`](Script::render) the request of one
//! [`RenderContext`], feeds the answer to a [`Reader`] and lets [`finish`](Script::finish) judge it; what the session learnt is
//! in its [`Memory`]. Rows, identifiers and numbers are a function of the seed and of which request of which session it
//! is, so that every world sends the same.
//!
//! Values go where they are safe: in a path and a query percent-encoded, in a form form-encoded, in JSON as JSON
//! strings; in a header those with control characters are refused. None can end a line, a field or a string.
//!
//! Deliberately absent: clocks, files, sockets, wire formats, and in which order a session takes its steps
//! ([`crate::journey`]).

mod body;
mod charset;
mod cookies;
mod data;
mod decode;
mod encode;
mod expect;
mod finder;
mod html;
mod memory;
mod names;
mod pointer;
mod reader;
mod reason;
mod redirect;
mod render;
mod script;
mod sent;
mod shown;
mod step;
mod stream;
mod template;
mod values;

pub use body::{Body, Json, JsonTemplateError, Part};
pub use data::{AtEnd, Data, DataError, Take};
pub use expect::{BodyCheck, ErrorReplies, Expect, HeaderCheck, StatusSet};
pub use finder::{Extract, Finder, PatternError};
pub use memory::Memory;
pub use names::{NameError, Names};
pub use pointer::{Pointer, PointerError};
pub use reader::{Lengths, Reader, Reading};
pub use reason::Reason;
pub use render::{Draft, Refusal};
pub use script::{IDLE_TIMEOUT, RenderContext, Script};
pub use step::{Step, StepError};
pub use stream::{Found, StreamKind, StreamReader};
pub use template::{Template, TemplateError};
