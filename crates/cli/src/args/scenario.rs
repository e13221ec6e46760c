//! What `run`, `plan` and `sim` do to a scenario before it is checked.

use clap::Args as ClapArgs;
use headway_base::units::UnitError;

/// What takes the place of values of the scenario.
#[derive(ClapArgs, Debug, Clone, Default)]
#[command(next_help_heading = "Scenario")]
pub struct ScenarioArgs {
    /// Put a value into the scenario, as if it stood in the file (YAML); repeatable. PATH: keys of the file with dots
    /// between them (timeout, users.think, journey.0.get, headers.Accept, thresholds.+ to append), or rate, users,
    /// duration, ramp, warmup, requests for the only group of users
    #[arg(long = "set", value_parser = Setting::parse, value_name = "PATH=VALUE")]
    pub sets: Vec<Setting>,
    /// Print the scenario file that the flags and the file amount to, and stop. Secrets are replaced
    #[arg(long)]
    pub print_scenario: bool,
}

/// `PATH=VALUE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Where the value goes.
    pub path: String,
    /// The value, as YAML.
    pub value: String,
}

impl Setting {
    /// Reads `PATH=VALUE`.
    ///
    /// # Errors
    /// No path, or no `=`.
    pub fn parse(text: &str) -> Result<Setting, UnitError> {
        const WANTED: &str = "a path and a value: write PATH=VALUE, such as users.think=2s";
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Setting { path: path.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(UnitError::new(text, WANTED)),
        }
    }
}
