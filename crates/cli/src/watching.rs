//! The live view of a run: opens it before the run begins, and prints its address on standard error.

use crate::exit::Failure;
use crate::said;
use anyhow::Context as _;
use headway_engine::Goal;
use headway_engine::watch::Watch;
use headway_live::Control;
use headway_live::site::Place;
use headway_workload::redact::Redactor;

/// Opens the view that `flag` asks for at a place, and says where it is: beyond loopback with the token, which nothing else shows.
///
/// # Errors
/// Nothing can listen there.
pub fn open((place, flag): &(Place, &'static str), goal: Goal, control: &Control) -> Result<Watch, Failure> {
    let failed = || format!("{flag}: nothing can listen at {}:{}", place.host(), place.port());
    let watch = Watch::open(place, goal, control).with_context(failed).map_err(Failure::usage)?;
    let url = watch.url();
    let text = match watch.token() {
        None => format!("watch it at {url}"),
        Some(token) => {
            let token = token.reveal();
            format!("watch it at {url}#{token} (for {url}metrics: Authorization: Bearer {token})")
        }
    };
    // The token is shown here on purpose: whoever may read this may watch.
    said::line(&Redactor::showing_all().clear(&text));
    Ok(watch)
}
