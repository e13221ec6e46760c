//! How the value of another tool's option becomes the value of a flag.

use anyhow::{Result, bail};
use headway_base::units;
use headway_workload::connect::Proxy;

/// How the value of a flag comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The flag has none.
    Switch,
    /// As it is.
    Same,
    /// As it is, and never shown: a user and a password.
    Secret,
    /// A proxy of HTTP, whose scheme may be missing.
    Proxy,
    /// A length of time; a number without a unit is in seconds.
    Seconds,
    /// Text of a body: where it would be read as a file it cannot be given.
    Body,
    /// The name of a file with the body, behind an @ or alone.
    File,
    /// The value of that header.
    Header(&'static str),
    /// A token, as the header Authorization has it.
    Bearer,
    /// Always this; of an option without a value, or of one that is true unless it says false.
    Fixed(&'static str),
    /// This where the option says `=false`, and nothing where it does not.
    IfFalse(&'static str),
}

impl Value {
    /// The value of the flag; none if it has none.
    ///
    /// # Errors
    /// What cannot be said here.
    pub fn of(self, text: &str) -> Result<Option<String>> {
        Ok(Some(match self {
            Value::Switch => return Ok(None),
            Value::Same | Value::Secret => text.to_owned(),
            Value::Seconds => time(text)?,
            Value::Proxy => proxy(text)?,
            Value::Body if text.starts_with('@') || text == "-" => {
                bail!(
                    "a body that begins with @, or is -, names a file here: put it into a file for --body-file"
                )
            }
            Value::Body => text.to_owned(),
            Value::File => text.strip_prefix('@').unwrap_or(text).to_owned(),
            Value::Bearer => format!("Authorization: Bearer {text}"),
            Value::Header(name) => format!("{name}: {text}"),
            Value::Fixed(value) | Value::IfFalse(value) => value.to_owned(),
        }))
    }
}

/// The URL of a proxy.
///
/// # Errors
/// One that is not of HTTP, or has no port.
pub(crate) fn proxy(text: &str) -> Result<String> {
    let text = text.trim();
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Proxy::parse(&url)?;
    Ok(url)
}

/// A length of time with a unit; a number without one is in seconds.
pub(super) fn time(text: &str) -> Result<String> {
    let text = text.trim();
    let with_unit = match text.parse::<f64>() {
        Ok(_) => format!("{text}s"),
        Err(_) => text.to_owned(),
    };
    match units::parse_time(&with_unit) {
        Ok(_) => Ok(with_unit),
        Err(error) => Err(error.into()),
    }
}
