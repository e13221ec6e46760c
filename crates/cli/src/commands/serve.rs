//! `headway serve`: the calibrated target.

use crate::args::ServeArgs;
use crate::exit::{FINE, Failure};
use crate::interrupt;
use crate::settings::{Output, listen_address, new_seed, outputs_fit};
use anyhow::Context as _;
use headway_base::dist;
use headway_engine::files::times_in_file;
use headway_live::Control;
use headway_live::serve::{ArrivalsLog, ServeReport, Server, Settings, StateSettings};
use std::fs::File;
use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

pub(super) fn serve(args: &ServeArgs) -> Result<u8, Failure> {
    let seed = args.seed.unwrap_or_else(new_seed);
    let service = dist::parse(&args.service, &times_in_file).map_err(Failure::usage)?;
    if let Some(why) = service.misleads() {
        return Err(Failure::usage(anyhow::anyhow!("--service: {why}")));
    }
    let settings = Settings {
        service,
        servers: args.servers,
        queue: args.queue,
        stalls: args.stall,
        error_rate: args.error_rate,
        body_bytes: args.body,
        state: args.state.then_some(StateSettings {
            cost: args.state_cost,
            max_items: args.state_max_items,
            max_bytes: args.state_max_bytes,
        }),
        seed,
    };
    let address = listen_address(&args.listen).map_err(Failure::usage)?;
    let log = Output::file("--arrivals-log", args.arrivals_log.as_ref());
    outputs_fit(log.as_slice()).map_err(Failure::usage)?;
    let log = match &args.arrivals_log {
        None => None,
        Some(path) => {
            let file = File::create_new(path)
                .with_context(|| format!("--arrivals-log {} cannot be made", path.display()))?;
            Some(ArrivalsLog::new(Box::new(file))?)
        }
    };
    let control = Control::default();
    interrupt::steer(&control)?;
    let described = described(&settings);
    let server = Server::bind(&address, settings, log, control.clone())
        .with_context(|| format!("cannot listen at {}", args.listen))?;
    say(&format!("serving at {} with {described}, seed {seed}; Ctrl-C stops", server.address()));
    if let Some(after) = args.stop_after {
        let control = control.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_nanos(after.0 as u64));
            control.stop();
        });
    }
    let report = server.run()?;
    say(&told(&report, args.state));
    Ok(FINE)
}

/// A line on standard error, by one write: whatever reads along never meets half of it.
fn say(what: &str) {
    let _ = io::stderr().write_all(format!("headway: {what}\n").as_bytes());
}

fn described(settings: &Settings) -> String {
    let base = format!("{} x {}", settings.servers, settings.service);
    match settings.state {
        None => base,
        Some(state) => format!("{base}, with state ({} per item of a GET)", state.cost),
    }
}

fn told(report: &ServeReport, state: bool) -> String {
    let base = format!(
        "served {} requests on {} connections: {} ok, {} errors, {} rejected, {} malformed, {} abandoned; {} connections refused",
        report.requests,
        report.connections,
        report.ok,
        report.errors,
        report.rejected,
        report.malformed,
        report.abandoned,
        report.refused,
    );
    if state { format!("{base}; {} denied, {} items held", report.denied, report.items) } else { base }
}
