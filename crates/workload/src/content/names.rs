//! What templates may name: constants, columns of data, what steps extract, and what every session has.
//!
//! Names are looked up once, when a template is read; a request knows its values by number.

use super::data::Data;
use super::template::Source;
use headway_base::units::nearest;

/// Names that every session has, and what each stands for.
const BUILT_IN: &[(&str, Source)] = &[
    ("user.id", Source::User),
    ("user.iteration", Source::Iteration),
    ("session", Source::Session),
    ("uuid", Source::Uuid),
    ("now", Source::Now),
    ("now.unix_s", Source::UnixSeconds),
    ("now.unix_ms", Source::UnixMillis),
    ("seq", Source::Seq),
];

/// The first words of names that cannot be extracted under.
const RESERVED: &[&str] = &["vars", "data", "user", "session", "uuid", "now", "seq"];

/// What templates may name.
#[derive(Clone, Default)]
pub struct Names {
    constants: Vec<(String, String)>,
    /// Data sets with their columns.
    sets: Vec<(String, Vec<String>)>,
    extracted: Vec<String>,
}

/// A name that cannot be given.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// It would not be read as one in a template.
    #[error("'{0}' is no name: write letters, digits, _ and -, beginning with a letter or _")]
    Spelling(String),
    /// Templates mean something else by it.
    #[error("'{0}' means something else in templates ({{{{{0}}}}}): choose another name")]
    Reserved(String),
    /// There are too many.
    #[error("more than 65,535 names")]
    TooMany,
}

/// What a name in a template stands for.
pub(super) enum Named<'n> {
    /// The same text always.
    Constant(&'n str),
    /// Another one for each request.
    Value(Source),
}

impl Names {
    /// The names that every session has.
    pub fn new() -> Names {
        Names::default()
    }

    /// Gives a constant its value: `{{vars.NAME}}` is read as if the value stood there.
    ///
    /// # Errors
    /// A name that is none.
    pub fn constant(&mut self, name: &str, value: &str) -> Result<(), NameError> {
        spelling(name)?;
        self.constants.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Makes the columns of a data set known: `{{data.SET.COLUMN}}`, and `{{data.COLUMN}}` where no other set has such a
    /// column. Sets are numbered in this order, which is to be that of [`Script::new`](super::Script::new).
    ///
    /// # Errors
    /// A name of the set that is none.
    pub fn data(&mut self, data: &Data) -> Result<(), NameError> {
        spelling(data.name())?;
        if self.sets.len() >= usize::from(u16::MAX) {
            return Err(NameError::TooMany);
        }
        self.sets.push((data.name().to_owned(), data.columns().to_vec()));
        Ok(())
    }

    /// Makes `{{NAME}}` known, which some step extracts; the answer is its number, the same for the same name.
    ///
    /// # Errors
    /// A name that is none or means something else.
    pub fn extracted(&mut self, name: &str) -> Result<u16, NameError> {
        spelling(name)?;
        if RESERVED.contains(&name) {
            return Err(NameError::Reserved(name.to_owned()));
        }
        if let Some(at) = self.extracted.iter().position(|known| known == name) {
            return Ok(at as u16);
        }
        let at = u16::try_from(self.extracted.len()).map_err(|_| NameError::TooMany)?;
        self.extracted.push(name.to_owned());
        Ok(at)
    }

    /// The name that was extracted under that number.
    pub(super) fn extracted_name(&self, at: u16) -> &str {
        self.extracted.get(usize::from(at)).map_or("", String::as_str)
    }

    /// How many names are extracted.
    pub(super) fn extracted_count(&self) -> usize {
        self.extracted.len()
    }

    /// What a name stands for; else what is wrong with it, and what may have been meant.
    pub(super) fn find(&self, name: &str) -> Result<Named<'_>, (String, Option<String>)> {
        if let Some((_, source)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Ok(Named::Value(*source));
        }
        if let Some(constant) = name.strip_prefix("vars.") {
            if let Some((_, value)) = self.constants.iter().find(|(known, _)| known == constant) {
                return Ok(Named::Constant(value));
            }
        } else if let Some(column) = name.strip_prefix("data.") {
            if let Some(found) = self.column(column)? {
                return Ok(Named::Value(found));
            }
        } else if let Some(at) = self.extracted.iter().position(|known| known == name) {
            return Ok(Named::Value(Source::Extracted(at as u16)));
        }
        Err(self.unknown(name))
    }

    /// The column that `SET.COLUMN`, or `COLUMN` alone, means.
    fn column(&self, text: &str) -> Result<Option<Source>, (String, Option<String>)> {
        let cell = |set: usize, column: usize| Source::Cell { set: set as u16, column: column as u32 };
        if let Some((set, column)) = text.split_once('.')
            && let Some(at) = self.sets.iter().position(|(known, _)| known == set)
        {
            return Ok(self.sets[at].1.iter().position(|known| known == column).map(|c| cell(at, c)));
        }
        let mut found = self.sets.iter().enumerate().filter_map(|(set, (name, columns))| {
            columns.iter().position(|known| known == text).map(|column| (name, cell(set, column)))
        });
        match (found.next(), found.next()) {
            (Some((first, _)), Some((second, _))) => Err((
                format!("'data.{text}' could be a column of '{first}' or of '{second}'"),
                Some(format!("data.{first}.{text}")),
            )),
            (one, _) => Ok(one.map(|(_, source)| source)),
        }
    }

    fn unknown(&self, name: &str) -> (String, Option<String>) {
        let all = self.all();
        let suggestion = nearest(name, all.iter().map(String::as_str)).map(str::to_owned);
        let message = match name.split_once('.') {
            Some(("vars", _)) if self.constants.is_empty() => {
                format!("nothing defines '{name}': there are no variables")
            }
            Some(("data", _)) if self.sets.is_empty() => {
                format!("nothing defines '{name}': there is no data")
            }
            _ => {
                format!("nothing defines '{name}': no variable, no column of data, no step that extracts it")
            }
        };
        (message, suggestion)
    }

    /// Every name that a template may hold.
    pub fn all(&self) -> Vec<String> {
        let built_in = BUILT_IN.iter().map(|(name, _)| (*name).to_owned());
        let constants = self.constants.iter().map(|(name, _)| format!("vars.{name}"));
        let columns = self
            .sets
            .iter()
            .flat_map(|(set, columns)| columns.iter().map(move |column| format!("data.{set}.{column}")));
        built_in.chain(constants).chain(columns).chain(self.extracted.iter().cloned()).collect()
    }
}

/// Values of constants may be secrets: only names show.
impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

fn spelling(name: &str) -> Result<(), NameError> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = |c: char| first(c) || c.is_ascii_digit() || c == '-';
    if name.starts_with(first) && name.chars().all(rest) {
        Ok(())
    } else {
        Err(NameError::Spelling(name.to_owned()))
    }
}
