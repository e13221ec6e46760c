//! Flags of a run that do not go with everything: with verbs that take them along, or with another flag; and what to do instead.

use super::{LoadArgs, Part, PhasesArgs, RunArgs, WaitArgs};
use headway_workload::arrivals::Arriving;

/// What flags of a run stand beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// `headway search` of a target.
    Search,
    /// `headway search --sim`.
    SearchOfModel,
    /// `headway compare --live`, behind `--`.
    Rounds,
    /// `--arrivals trace(...)`.
    Trace,
    /// `--phases`.
    Phases,
    /// `--sweep`.
    Sweep,
}

/// What to do about flags of a single run, or of its rate, in a sweep.
const IN_A_SWEEP: &str =
    "--sweep plays several short runs, each at a rate of its own: leave one of the two out";
/// What a search has no place for, and a sweep has.
const OF_A_SWEEP: [&str; 2] = ["-d", "--sweep"];

/// A flag, and what to do instead.
pub type OutOfPlace = (&'static str, &'static str);

/// What to do instead of a flag that was given, by what it stands beside; `None` where it has its place.
#[derive(Clone, Copy, Default)]
struct Instead {
    search: Option<&'static str>,
    model: Option<&'static str>,
    rounds: Option<&'static str>,
    trace: Option<&'static str>,
    phases: Option<&'static str>,
}

impl Instead {
    /// Of a flag that goes with all of them.
    const NOTHING: Instead = Instead { search: None, model: None, rounds: None, trace: None, phases: None };

    const fn search(why: &'static str) -> Instead {
        Instead { search: Some(why), model: Some(why), ..Instead::NOTHING }
    }

    const fn model(why: &'static str) -> Instead {
        Instead { model: Some(why), ..Instead::NOTHING }
    }

    const fn rounds(self, why: &'static str) -> Instead {
        Instead { rounds: Some(why), ..self }
    }

    const fn trace(self, why: &'static str) -> Instead {
        Instead { trace: Some(why), ..self }
    }

    const fn phases(self, why: &'static str) -> Instead {
        Instead { phases: Some(why), ..self }
    }

    fn of(&self, beside: Beside) -> Option<&'static str> {
        match beside {
            Beside::Search => self.search,
            Beside::SearchOfModel => self.model,
            Beside::Rounds => self.rounds,
            Beside::Trace => self.trace,
            Beside::Phases => self.phases,
            Beside::Sweep => self.search.map(|_| IN_A_SWEEP),
        }
    }
}

/// Flags: whether each was given, its name, and where it has no place.
type Flags = Vec<(bool, &'static str, Instead)>;

/// The first flag that was given and has no place beside that, and what to do instead.
fn first(flags: Flags, beside: Beside) -> Option<OutOfPlace> {
    let given = flags.into_iter().filter(|(given, ..)| *given);
    let given = given.filter(|(_, flag, _)| beside != Beside::Sweep || !OF_A_SWEEP.contains(flag));
    given.filter_map(|(_, flag, instead)| Some((flag, instead.of(beside)?))).next()
}

impl LoadArgs {
    /// The first flag that was given and has no place beside that, and what to do instead.
    pub fn out_of_place(&self, beside: Beside) -> Option<OutOfPlace> {
        first(self.with_places(), beside)
    }

    fn with_places(&self) -> Flags {
        // Without `..`, so that no flag that a load gets is forgotten here.
        let LoadArgs {
            rate,
            duration,
            requests,
            users,
            think,
            at_once,
            new_connections,
            connecting,
            pool,
            arrivals,
            seed: _,
            ramp,
            warmup,
            phases: PhasesArgs { phases },
            shard,
        } = self;
        let rates = Instead::search("a search chooses the rates: write --from and --to");
        let length =
            Instead::search("trials are as long as they need to be: write --budget for all of them together");
        let other = Instead::search(
            "a search changes a rate of arrivals, or the number of closed users (-u): leave it out",
        );
        let warm = Instead::search("each trial has a warm-up of its own: leave it out");
        let logged = "the log says when each arrives; speed=2 plays it at twice its rate";
        let waiting = "the log says when each arrives, which users who wait for responses do not";
        let is_trace = arrivals.as_ref().is_some_and(|given| matches!(given.value, Arriving::Trace(_)));
        vec![
            (rate.is_some(), "-R", rates.trace(logged).phases("each phase has its own rate, such as 30s@50")),
            (duration.is_some(), "-d", length.phases("each phase has its own length, such as 30s@50")),
            (
                requests.is_some(),
                "-n",
                length
                    .trace("the load ends with the log, or after -d")
                    .phases("the load ends with its last phase, not after a number of requests"),
            ),
            (
                phases.is_some(),
                "--phases",
                rates
                    .trace(logged)
                    .rounds("the runs of a comparison have one rate each: write --rate RATE and --each TIME before the --, or name a scenario that has phases"),
            ),
            (
                users.is_some(),
                "-u",
                Instead::model(
                    "with --sim closed users stand in the scenario: write users: { closed: { count: 10 } } there, and --from",
                )
                .trace(waiting)
                .phases("the phases say how many come: arrivals per second, or users where a scenario has closed ones"),
            ),
            (
                think.is_some(),
                "--think",
                Instead::model("with --sim write --set users.think=DIST")
                    .trace(waiting)
                    .phases("arrivals of one request each do not think; for a scenario write --set users.think=DIST"),
            ),
            (
                at_once.is_some(),
                "--at-once",
                other.trace(waiting).phases("all requests are due at the start, so that there are no phases"),
            ),
            (
                connecting.is_some(),
                "--connecting",
                other.trace(waiting).phases("phases of sockets belong to a scenario with connecting:"),
            ),
            (
                ramp.is_some(),
                "--ramp",
                warm.trace(logged).phases("a ramp is a phase: write '{ ramp: 30s, to: 50/s, warmup: true }, 1m@50'"),
            ),
            (
                warmup.is_some(),
                "--warmup",
                warm.phases("warm-up is a phase: write '{ hold: 10s, at: 50/s, warmup: true }, 1m@50'"),
            ),
            (
                *shard != Part::WHOLE,
                "--shard",
                Instead::search("a search runs on one machine: leave it out")
                    .rounds("a comparison runs on one machine: leave it out"),
            ),
            (
                is_trace,
                "--arrivals trace(...)",
                Instead::search("a search changes the rate, and a log has its own: write a process, such as poisson"),
            ),
            (
                arrivals.is_some(),
                "--arrivals",
                Instead::model("with --sim write --set users.arrive.process=PROCESS"),
            ),
            (
                *new_connections,
                "--new-connections",
                Instead::model("with --sim write --set users.connections=per-request"),
            ),
            (
                pool.is_some(),
                "--pool",
                Instead::model("with --sim write --set users.connections=shared|per-user"),
            ),
        ]
    }
}

impl RunArgs {
    /// The first flag that was given and has no place beside that, and what to do instead.
    pub fn out_of_place(&self, beside: Beside) -> Option<OutOfPlace> {
        first(self.with_places(), beside)
    }

    fn with_places(&self) -> Flags {
        // Without `..`, so that no flag that `run` gets is forgotten here.
        let RunArgs {
            target: _,
            load,
            sweep,
            connections,
            http2,
            http1,
            streams,
            answer,
            interval,
            one_way,
            spread,
            target_is_mine,
            local_addr,
            threads,
            wait,
            start_at,
            late,
            headers,
            method,
            user,
            body,
            body_file,
            stream,
            location,
            origin,
            traceparent,
            insecure,
            cert,
            key: key_file,
            cacert,
            sni,
            tls_resumption,
            dns_refresh,
            proxy,
            connect_to,
            resolve,
            timeout,
            idle_timeout,
            connect_timeout,
            max_wait,
            drain,
            max_body,
            dry_run,
            set,
            demands,
            abort_on_crossed,
            tolerances: _,
            against,
            notes,
            secrets: _,
            output,
            watch,
            otlp,
        } = self;
        let each = Instead::search("this is for a single run: leave it out, or write headway run");
        let conditions = Instead::search(
            "a search has no conditions: leave it out; with --baseline DIR, `baseline.ratio` in search.json is the ratio of the knees",
        );
        let report = Instead::search(
            "this is for the report of a single run: headway report DIR/trial-01 shows that of a trial",
        );
        let sends = Instead::model("--sim sends nothing: leave one of the two out");
        let key =
            Instead::model("with --sim this stands in the scenario: write it there, or as --set PATH=VALUE");
        let before = "it stands before the --: headway compare --live URL URL ";
        let single = "it is for a single run: leave it out, or write headway run";
        let own: Flags = vec![
            (
                sweep.is_some(),
                "--sweep",
                Instead::search("a search chooses the rates: write --from and --to, or headway run --sweep")
                    .rounds(single),
            ),
            (
                abort_on_crossed.is_some(),
                "--abort-on-crossed",
                Instead::search("a trial ends when its threshold is decided: leave it out").rounds(single),
            ),
            (*dry_run, "--dry-run", each.rounds(single)),
            (start_at.is_some(), "--start-at", each.rounds(single)),
            (late.is_some(), "--late", each.rounds(single)),
            (interval.is_some(), "--interval", each.rounds(single)),
            (
                against.baseline.is_some(),
                "--baseline",
                Instead::NOTHING
                    .rounds("the first target is the one that the others are compared with: leave it out"),
            ),
            (!against.demands.fail_if.is_empty(), "--fail-if", conditions.rounds(before)),
            (
                !against.demands.across.is_empty(),
                "--across",
                Instead::NOTHING.rounds("all runs have one plan: leave it out"),
            ),
            (
                output.no_log,
                "--no-log",
                Instead::search(
                    "the records of a trial are read when it ends: leave it out, or remove them later",
                )
                .rounds("without --out no record is kept: leave it out"),
            ),
            (
                output.strict,
                "--strict",
                Instead::search("a search that does not end exits with 97 anyway: leave it out")
                    .rounds(before),
            ),
            (
                set.print_scenario,
                "--print-scenario",
                Instead::search("write headway run URL|SCENARIO --print-scenario").rounds(single),
            ),
            (
                !output.show.percentiles.is_empty(),
                "--percentiles",
                report.rounds("name the percentile in --fail-if 'p(99.5) slower'"),
            ),
            (output.show.histogram, "--histogram", report.rounds(single)),
            (
                output.show.details,
                "--details",
                Instead::search("all columns and trials are in the page: write --html FILE").rounds(before),
            ),
            (output.out.is_some(), "--out", Instead::NOTHING.rounds(before)),
            (
                !output.reports.wanted().is_empty(),
                "--json, --html and --output",
                Instead::NOTHING.rounds(before),
            ),
            (output.quiet, "--quiet", Instead::NOTHING.rounds(before)),
            (watch.place().is_some(), watch.flag(), each.rounds(single)),
            (otlp.otlp_every.is_some(), "--otlp-every", each.rounds(single)),
            (otlp.otlp.is_some(), "--otlp", each.rounds(single)),
            (output.show.open, "--open", Instead::NOTHING.rounds(single)),
            (
                !demands.thresholds.is_empty(),
                "--threshold",
                Instead::NOTHING.rounds("a comparison has conditions: write --fail-if before the --"),
            ),
            (!notes.notes.is_empty(), "--note", Instead::NOTHING.rounds(single)),
            (connections.is_some(), "-c", Instead::model("with --sim write --set connections=N")),
            (timeout.is_some(), "--timeout", Instead::model("with --sim write --set timeout=TIME")),
            (
                connect_timeout.is_some(),
                "--connect-timeout",
                Instead::model("with --sim write --set connect-timeout=TIME"),
            ),
            (max_wait.is_some(), "--max-wait", Instead::model("with --sim write --set max-wait=TIME")),
            (drain.is_some(), "--drain", Instead::model("with --sim write --set drain=TIME")),
            (!headers.is_empty(), "-H", key),
            (method.is_some(), "-m", key),
            (body.is_some(), "-b", key),
            (body_file.is_some(), "--body-file", key),
            (stream.is_some(), "--stream", sends),
            (user.is_some(), "--user", sends),
            (*http1, "--http1.1", sends),
            (*http2, "--http2", sends),
            (streams.is_some(), "--streams", sends),
            (*spread, "--spread", sends),
            (answer.is_some(), "--answer", sends),
            (*one_way, "--one-way", sends),
            (*location, "-L", sends),
            (!origin.is_empty(), "--origin", sends),
            (*traceparent, "--traceparent", sends),
            (*insecure, "-k", sends),
            (cert.is_some(), "--cert", sends),
            (key_file.is_some(), "--key", sends),
            (cacert.is_some(), "--cacert", sends),
            (sni.is_some(), "--sni", sends),
            (*tls_resumption, "--tls-resumption", sends),
            (dns_refresh.is_some(), "--dns-refresh", sends),
            (proxy.is_some(), "--proxy", sends),
            (!connect_to.is_empty(), "--connect-to", sends),
            (!resolve.is_empty(), "--resolve", sends),
            (max_body.is_some(), "--max-body", sends),
            (idle_timeout.is_some(), "--idle-timeout", sends),
            (target_is_mine.is_some(), "--target-is-mine", sends),
            (local_addr.is_some(), "--local-addr", sends),
            (threads.is_some(), "--threads", sends),
            (wait.wait != WaitArgs::default().wait, "--wait", sends),
            (wait.realtime, "--realtime", sends),
        ];
        load.with_places().into_iter().chain(own).collect()
    }
}
