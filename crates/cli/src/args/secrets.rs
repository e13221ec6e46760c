//! Which secrets are hidden, of the verbs that show requests and scenarios.

use clap::Args as ClapArgs;
use headway_workload::redact::{Redactor, SecretNames};

/// What is hidden.
#[derive(ClapArgs, Debug, Clone, Default)]
#[command(next_help_heading = "Secrets")]
pub struct SecretArgs {
    /// Hide the values of this name too, wherever they are shown or written: of a header, parameter, field, column or
    /// variable; may be given several times
    #[arg(long, value_name = "NAME")]
    pub redact: Vec<String>,
    /// Hide no secrets, on the terminal and in the run folder
    #[arg(long, conflicts_with = "redact")]
    pub no_redact: bool,
}

impl SecretArgs {
    /// What hides them; it knows no values yet.
    pub fn redactor(&self) -> Redactor {
        match self.no_redact {
            true => Redactor::showing_all(),
            false => Redactor::new(SecretNames::with(&self.redact)),
        }
    }
}
