//! `headway serve`: the calibrated target, over HTTP or UDP, or one that accepts late.

use crate::args::ServeArgs;
use crate::exit::{FINE, Failure};
use crate::interrupt;
use crate::said;
use crate::settings::{Output, listen_address, new_seed, outputs_fit};
use anyhow::{Context as _, anyhow, bail};
use headway_base::Rate;
use headway_base::dist::{self, Dist};
use headway_base::pieces::Pieces;
use headway_engine::files::times_in_file;
use headway_live::namespace::setting;
use headway_live::serve::{
    ArrivalsLog, DatagramReport, DatagramServer, DatagramSettings, SerialReport, SerialServer,
    SerialSettings, ServeReport, Server, Settings, StateSettings,
};
use headway_live::{Address, Control};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

pub(super) fn serve(args: &ServeArgs) -> Result<u8, Failure> {
    let seed = args.seed.unwrap_or_else(new_seed);
    let service = dist::parse(&args.service, &times_in_file).map_err(Failure::usage)?;
    if let Some(why) = service.misleads() {
        return Err(Failure::usage(anyhow::anyhow!("--service: {why}")));
    }
    let address = listen_address(&args.listen).map_err(Failure::usage)?;
    let address = if args.udp { address.for_datagrams() } else { address };
    if args.udp {
        may_listen(args, &address).map_err(Failure::usage)?;
    }
    if args.capacity.is_some() && matches!(address, Address::Unix(_)) {
        return Err(Failure::usage(anyhow::anyhow!(
            "--listen {}: --capacity is about SYNs, and a Unix socket has none: write host:port",
            args.listen
        )));
    }
    let log = Output::file("--arrivals-log", args.arrivals_log.as_ref());
    outputs_fit(log.as_slice()).map_err(Failure::usage)?;
    let log = match &args.arrivals_log {
        None => None,
        Some(path) => {
            let file = File::create_new(path)
                .with_context(|| format!("--arrivals-log {} cannot be made", path.display()))?;
            let file = Box::new(file);
            Some(if args.udp { ArrivalsLog::of_datagrams(file)? } else { ArrivalsLog::new(file)? })
        }
    };
    let control = Control::default();
    interrupt::steer(&control)?;
    if let Some(after) = args.stop_after {
        let control = control.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_nanos(after.0 as u64));
            control.stop();
        });
    }
    let given = Given { service, seed, log, control };
    match address {
        Address::Udp(address) => serve_datagrams(args, address, given),
        address => match args.capacity {
            Some(capacity) => serve_serially(args, &address, capacity, given),
            None => serve_http(args, &address, given),
        },
    }
}

/// Settings that every kind of target has.
struct Given {
    service: Dist,
    seed: u64,
    log: Option<ArrivalsLog>,
    control: Control,
}

fn serve_http(args: &ServeArgs, address: &Address, given: Given) -> Result<u8, Failure> {
    let Given { service, seed, log, control } = given;
    let settings = Settings {
        service,
        servers: args.servers,
        queue: args.queue,
        backlog: args.backlog,
        stalls: args.stall,
        error_rate: args.error_rate,
        body_bytes: args.body,
        events: events(args).map_err(Failure::usage)?,
        state: args.state.then_some(StateSettings {
            cost: args.state_cost,
            max_items: args.state_max_items,
            max_bytes: args.state_max_bytes,
        }),
        seed,
    };
    let queue = capped(args.backlog).map_or(String::new(), |queue| format!(", an accept queue of {queue}"));
    let described = described(&settings) + &queue;
    let server =
        Server::bind(address, settings, log, control).map_err(|error| cannot_listen(args, &error))?;
    say(&format!("serving at {} with {described}, seed {seed}; Ctrl-C stops", server.address()));
    let report = server.run()?;
    say(&told(&report, args.state));
    Ok(FINE)
}

/// The pieces in which responses come.
fn events(args: &ServeArgs) -> anyhow::Result<Option<Pieces>> {
    let Some(text) = &args.events else { return Ok(None) };
    if args.body == 0 {
        bail!(
            "--events {text}: a piece of no bytes (--body 0) is none: leave --body out, or write a size above zero"
        );
    }
    Ok(Some(Pieces::parse(text, &times_in_file).context("--events")?))
}

fn serve_serially(args: &ServeArgs, address: &Address, capacity: Rate, given: Given) -> Result<u8, Failure> {
    let settings = SerialSettings { capacity, backlog: args.backlog, body_bytes: args.body };
    let server = SerialServer::bind(address, settings, given.log, given.control)
        .map_err(|error| cannot_listen(args, &error))?;
    let backlog = capped(args.backlog).unwrap_or_else(|| args.backlog.to_string());
    say(&format!(
        "serving at {} with one connection at a time, {capacity}, and an accept queue of {backlog}; Ctrl-C stops",
        server.address()
    ));
    let SerialReport { accepted, served, unanswered, gone, silent, malformed, refused, overflows } =
        server.run()?;
    let overflows = overflows.map_or("an unknown number".to_owned(), |n| n.to_string());
    say(&format!(
        "accepted {accepted} connections: {served} served, {gone} closed by the client before a request, {silent} without a request \
         for 1 s, {malformed} malformed, {unanswered} that took no answer; {refused} refused. The accept queue was full for {overflows} \
         SYNs and handshakes (all listeners of this network namespace)"
    ));
    Ok(FINE)
}

/// The length of the accept queue where the system caps it.
fn capped(asked: u32) -> Option<String> {
    let longest = setting("core/somaxconn").filter(|&longest| longest < asked)?;
    Some(format!("{longest} ({asked} were asked for; net.core.somaxconn caps it)"))
}

fn serve_datagrams(args: &ServeArgs, address: SocketAddr, given: Given) -> Result<u8, Failure> {
    let Given { service, seed, log, control } = given;
    let does = if args.count { "counting".to_owned() } else { format!("{} x {service}", args.servers) };
    let settings = DatagramSettings {
        service,
        servers: args.servers,
        queue: args.queue,
        stalls: args.stall,
        answers: !args.count,
        seed,
    };
    let server =
        DatagramServer::bind(address, settings, log, control).map_err(|error| cannot_listen(args, &error))?;
    say(&format!("serving UDP at {} with {does}, seed {seed}; Ctrl-C stops", server.address()));
    let DatagramReport { received, bytes, answered, rejected, unsent, dropped } = server.run()?;
    let dropped = dropped.map_or("an unknown number".to_owned(), |dropped| dropped.to_string());
    say(&format!(
        "received {received} datagrams of {bytes} bytes: {answered} answered, {rejected} rejected, {unsent} answers not taken; \
         {dropped} dropped by the kernel"
    ));
    Ok(FINE)
}

/// Why nothing listens there, and where something can.
fn cannot_listen(args: &ServeArgs, error: &io::Error) -> anyhow::Error {
    let at = &args.listen;
    let other = match error.kind() {
        io::ErrorKind::AddrInUse if at.starts_with("unix:") => {
            "name another path, or remove the file if nothing listens there"
        }
        io::ErrorKind::AddrInUse => "-l 127.0.0.1:0 takes a free port, and says which",
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 may be the system's: -l 127.0.0.1:0 takes a free one"
        }
        io::ErrorKind::AddrNotAvailable => {
            "name an address of this machine, such as -l 127.0.0.1:0, which takes a free port"
        }
        _ => "-l takes host:port or unix:/path/to/socket",
    };
    anyhow!("--listen {at}: cannot listen there: {error}; {other}")
}

/// What answers beyond loopback can be used against others by a forged sender: only on demand.
fn may_listen(args: &ServeArgs, address: &Address) -> anyhow::Result<()> {
    let Address::Udp(at) = address else {
        bail!("--listen {}: a Unix socket carries no UDP: write host:port", args.listen);
    };
    if !at.ip().is_loopback() && !args.count && !args.allow_remote {
        bail!(
            "--listen {}: other machines could have datagrams sent back to an address that they forge. Listen at 127.0.0.1, count \
             with --count, or add --allow-remote",
            args.listen
        );
    }
    Ok(())
}

/// A line on standard error, by one write: whatever reads along never meets half of it.
fn say(what: &str) {
    said::line(&said::cleared(what));
}

fn described(settings: &Settings) -> String {
    let mut base = format!("{} x {}", settings.servers, settings.service);
    if let Some(events) = &settings.events {
        base += &format!(", responses in pieces ({events})");
    }
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
