//! `headway demo`: an embedded target, ten seconds of Poisson load, a report, and where to go from there.

use super::run::{Notes, play};
use crate::args::{Args, Command, DemoArgs, RunArgs};
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::repeat::Typed;
use crate::said::say;
use crate::settings::RunSettings;
use anyhow::anyhow;
use clap::Parser as _;
use headway_base::dist;
use headway_base::{Nanos, Rate};
use headway_live::serve::{Server, Settings};
use headway_live::{Address, Control};
use headway_stats::Summary;
use headway_stats::summary::LoadVerdict;
use headway_workload::redact::{Cleared, clear};
use std::io::{self, IsTerminal as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

const MOST: Rate = Rate(2000.0);
/// At the default rate 10,000 arrivals, of which 99 in 100 Poisson plans are shown to be independent.
const HOLD: Nanos = Nanos::from_secs(10);
/// Mean service time of the embedded target: at the default rate of 1000/s it is busy half of the time.
const SERVICE: Nanos = Nanos::from_micros(500);

pub(super) fn demo(args: &DemoArgs) -> Result<u8, Failure> {
    if args.rate > MOST {
        return Err(Failure::usage(anyhow!("demo -R {} is more than {MOST}: use headway run", args.rate)));
    }
    let seed = args.seed.unwrap_or_else(crate::settings::new_seed);
    let service = dist::parse(&format!("exp({SERVICE})"), &|_| Ok(Vec::new())).map_err(Failure::usage)?;
    let target_settings = Settings::new(service, 1, seed);
    let stop_target = Control::default();
    let loopback = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::bind(&loopback, target_settings, None, stop_target.clone())?;
    let url = format!("http://{}/", server.address());
    let settings = settings(args, &url, seed)?;
    let rho = args.rate.0 * SERVICE.as_secs_f64();
    let stays = !args.output.quiet && io::stdin().is_terminal() && io::stdout().is_terminal();
    let next = if stays { url.as_str() } else { "http://127.0.0.1:PORT/path" };
    let code = thread::scope(|scope| {
        let serving = scope.spawn(|| server.run());
        let code = play(&settings, &|summary| notes(summary, rho, next), None);
        if stays && code.is_ok() {
            await_enter(&url);
        }
        stop_target.stop();
        let served = serving.join();
        served.map_err(|_| anyhow!("the embedded target panicked"))??;
        code
    })?;
    // The demo has shown what it is to show, whatever the verdict on a machine that may be busy.
    let shown = [exit::INVALID, exit::INCONCLUSIVE];
    Ok(if shown.contains(&code) && !args.output.strict { exit::FINE } else { code })
}

/// What `headway run` with these flags would do.
fn settings(args: &DemoArgs, url: &str, seed: u64) -> Result<RunSettings, Failure> {
    let (rate, hold, seed) = (args.rate.to_string(), HOLD.to_string(), seed.to_string());
    let flags = ["headway", "run", url, "-R", &rate, "-d", &hold, "--seed", &seed];
    let Command::Run(run) = Args::try_parse_from(flags)?.command else {
        unreachable!("these are flags of headway run")
    };
    let run = RunArgs { output: args.output.clone(), wait: args.wait, watch: args.watch.clone(), ..*run };
    let mut words = ["headway", "demo", "-R", &rate].map(str::to_owned).to_vec();
    words.extend(args.wait.words());
    RunSettings::resolve(&run, &Typed { words, ..Typed::default() }).map_err(Failure::usage)
}

/// Keeps the target until Enter is pressed, so that the command which the report suggests can be typed in another terminal.
fn await_enter(url: &str) {
    // Without a handler of its own Ctrl-C still ends the process.
    let _ = interrupt::end();
    say!("the target stays at {url} until you press Enter");
    let _ = io::stdin().read_line(&mut String::new());
}

/// What the newcomer reads below the report: what a busy machine did to it, the truth it can be held against, what to try next.
fn notes(summary: &Summary, rho: f64, url: &str) -> Notes {
    let note = |name: &'static str, text: String| (Cleared::from(name), clear(&text));
    let truth = if rho < 1.0 {
        let mean_ms = SERVICE.as_secs_f64() * 1e3 / (1.0 - rho);
        format!(
            "M/M/1, {:.0} % busy: mean {mean_ms:.2} ms, p50 {:.2} ms, p99 {:.2} ms",
            100.0 * rho,
            mean_ms * std::f64::consts::LN_2,
            mean_ms * 100f64.ln()
        )
    } else {
        "offered more than it can do: response times grow with the run".to_owned()
    };
    let busy = "something else on this machine, or its host, kept the generator from sending on time; on a quiet machine the demo is VALID";
    let late = matches!(summary.verdict.load, Some(LoadVerdict::Invalid | LoadVerdict::Inconclusive));
    let busy = late.then(|| note("why", busy.to_owned()));
    let rest = [
        note("theory", truth),
        note("try next", format!("headway run {url} -R 200 -d 30s")),
        note("", "headway serve --service 'exp(1ms)' --stall every=5s,for=1s".to_owned()),
    ];
    busy.into_iter().chain(rest).collect()
}
