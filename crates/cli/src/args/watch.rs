//! The flags of the live view.

use clap::Args as ClapArgs;
use headway_engine::replay::SPEEDS;
use headway_live::site::Place;

/// The live view.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct WatchArgs {
    /// Show the run while it goes on: a page at a free port of 127.0.0.1, and /metrics for Prometheus beside it
    #[arg(long, help_heading = "Output")]
    watch: bool,
    /// As --watch, at this address (port 0: a free one). Beyond loopback readers need the token that is printed with it
    #[arg(long, value_name = "HOST:PORT", help_heading = "Output")]
    watch_addr: Option<Place>,
}

impl WatchArgs {
    /// Where it is to be, if it is wanted.
    pub fn place(&self) -> Option<Place> {
        self.watch_addr.clone().or_else(|| self.watch.then(Place::default))
    }

    /// The flag that asks for it.
    pub fn flag(&self) -> &'static str {
        if self.watch_addr.is_some() { "--watch-addr" } else { "--watch" }
    }
}

/// Reads how fast a run is replayed.
pub(super) fn parse_speed(text: &str) -> Result<f64, String> {
    let [least, most] = SPEEDS;
    let speed = text.parse().ok().filter(|speed| (least..=most).contains(speed));
    speed.ok_or_else(|| {
        format!("'{text}' is not a number from {least} to {most}: 10 is ten times as fast as the run was")
    })
}
