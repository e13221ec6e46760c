//! How the users of a thread group come, for how long, and when they pause.

use super::schedule::{self, Stretch};
use super::xml::Element;
use super::{Conversion, Place};
use crate::draft::{Group, Item};
use headway_workload::yaml::{Map, Yaml};

/// Phases of a group that adds its threads in steps, at most.
const MOST_PHASES: usize = 500;
/// What comes at once takes so long here, in seconds.
const SHORTEST_RAMP_S: f64 = 0.001;
/// How long a group lasts that would never end, in seconds.
const WITHOUT_END_S: f64 = 60.0;

/// How a thread group begins and ends.
pub(super) struct Coming {
    threads: u64,
    /// Seconds over which threads start.
    ramp_s: f64,
    /// Iterations of each thread; none: without end.
    pub loops: Option<u64>,
    /// Seconds that the group lasts, if it says so.
    duration_s: Option<f64>,
    /// Seconds before it begins.
    delay_s: f64,
    on_failure: bool,
    /// The rates of an Open Model Thread Group.
    schedule: Option<Vec<Stretch>>,
    /// Numbers of threads over time, of a group that says them.
    levels: Option<Levels>,
}

/// Threads that come and go in steps (Stepping Thread Group).
struct Levels {
    phases: Vec<Yaml>,
    said: String,
}

/// A throughput timer of a group: the load is a rate.
#[derive(Clone)]
pub(super) struct Paced<'p> {
    timer: &'p Element,
    /// Requests per second.
    rate: f64,
    /// Whether it is that of each thread.
    each: bool,
    process: &'static str,
    /// Whether it paces all requests of the group, or one of each iteration.
    all: bool,
}

/// Whether an element is a thread group.
pub(super) fn is_group(kind: &str) -> bool {
    kind.rsplit('.').next().unwrap_or(kind).ends_with("ThreadGroup")
}

/// The enabled thread groups among elements.
pub(super) fn groups(elements: &[Element]) -> impl Iterator<Item = &Element> {
    elements.iter().filter_map(group)
}

/// The element, if it is an enabled thread group.
pub(super) fn group(element: &Element) -> Option<&Element> {
    (element.enabled && is_group(&element.kind)).then_some(element)
}

/// When a group runs that does not run with the others.
pub(super) fn around(kind: &str) -> Option<&'static str> {
    match kind {
        "SetupThreadGroup" => Some("before"),
        "PostThreadGroup" => Some("after"),
        _ => None,
    }
}

/// A name of a group in a scenario.
pub(super) fn name(name: &str, others: &[Group]) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let plain: String = name.trim().chars().map(kept).take(60).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let plain = if parts.is_empty() { "users".to_owned() } else { parts.join("-") };
    let free = |name: &str| !others.iter().any(|other| other.name == name);
    let mut made = plain.clone();
    let mut n = 1;
    while !free(&made) {
        n += 1;
        made = format!("{plain}-{n}");
    }
    made
}

/// Whether an element is a timer that becomes a think time.
pub(super) fn is_timer(kind: &str) -> bool {
    ["ConstantTimer", "UniformRandomTimer", "GaussianRandomTimer", "PoissonRandomTimer"].contains(&kind)
}

/// A time in the grammar of scenarios.
pub(super) fn time(seconds: f64) -> String {
    let ms = (seconds * 1e3).round();
    if ms > 0.0 && ms % 1e3 == 0.0 {
        format!("{}s", ms / 1e3)
    } else if ms >= 1.0 || seconds <= 0.0 {
        format!("{ms}ms")
    } else {
        format!("{}us", (seconds * 1e6).round().max(1.0))
    }
}

/// A rate per second in the grammar of scenarios.
fn rate(per_second: f64) -> String {
    if per_second <= 0.0 {
        return "0/s".to_owned();
    }
    format!("{}/s", (per_second * 1e6).round().max(1.0) / 1e6)
}

/// What a timer waits, in seconds.
#[derive(Clone, Copy, Debug)]
enum Wait {
    Constant(f64),
    Uniform(f64, f64),
    Normal(f64, f64),
    /// Mean, and coefficient of variation, after a constant.
    Gamma(f64, f64, f64),
}

impl Wait {
    /// With a constant before it.
    fn after(self, by: f64) -> Wait {
        match self {
            Wait::Constant(s) => Wait::Constant(s + by),
            Wait::Uniform(from, to) => Wait::Uniform(from + by, to + by),
            Wait::Normal(mean, sd) => Wait::Normal(mean + by, sd),
            Wait::Gamma(mean, cov, before) => Wait::Gamma(mean, cov, before + by),
        }
    }

    fn law(self) -> String {
        match self {
            Wait::Constant(s) => time(s),
            Wait::Uniform(from, to) => format!("uniform({},{})", time(from), time(to)),
            Wait::Normal(mean, sd) => format!("normal({},{})", time(mean), time(sd)),
            Wait::Gamma(mean, cov, 0.0) => format!("gamma({},{cov})", time(mean)),
            Wait::Gamma(mean, cov, before) => {
                format!("shifted({},gamma({},{cov}))", time(before), time(mean))
            }
        }
    }
}

impl<'p> Conversion<'p, '_> {
    /// How the users of a thread group arrive; none where there are none.
    pub(super) fn coming(&mut self, element: &'p Element) -> Option<Coming> {
        if element.kind.ends_with("OpenModelThreadGroup") {
            return self.open_model(element);
        }
        if element.kind.ends_with("SteppingThreadGroup") {
            return self.stepping(element);
        }
        let plugin = !["ThreadGroup", "SetupThreadGroup", "PostThreadGroup"].contains(&element.kind.as_str());
        if plugin && element.property("ThreadGroup.num_threads").is_none() {
            self.warn(
                element,
                "how its threads come is not carried over: one user for 60s here (-u, --phases and -d change that)",
            );
            let (threads, ramp_s, delay_s) = (1, 0.0, 0.0);
            return Some(Coming {
                threads,
                ramp_s,
                loops: None,
                duration_s: Some(WITHOUT_END_S),
                delay_s,
                on_failure: false,
                schedule: None,
                levels: None,
            });
        }
        let threads = self.number(element, "ThreadGroup.num_threads").unwrap_or(1.0).max(0.0) as u64;
        if threads == 0 {
            self.warn(element, "left out: it has 0 threads");
            return None;
        }
        let ramp_s = self.number(element, "ThreadGroup.ramp_time").unwrap_or(0.0).max(0.0);
        let controller = element.property("ThreadGroup.main_controller");
        let loops = controller.map_or("", |c| c.text("LoopController.loops")).to_owned();
        let loops = if loops.trim().is_empty() {
            Some(-1.0)
        } else {
            self.fixed(element, &loops).and_then(|text| text.trim().parse::<f64>().ok())
        };
        if loops.is_none() {
            self.warn(element, "how often it loops is not known before a run: once here");
        }
        let loops = loops.unwrap_or(1.0);
        if loops == 0.0 {
            self.warn(element, "left out: it loops 0 times");
            return None;
        }
        let (mut duration_s, mut delay_s) = (None, 0.0);
        if element.is("ThreadGroup.scheduler") {
            duration_s = self.number(element, "ThreadGroup.duration").filter(|s| *s > 0.0);
            delay_s = self.number(element, "ThreadGroup.delay").unwrap_or(0.0).max(0.0);
        }
        let on_failure = self.on_failure(element);
        let loops = (loops > 0.0).then_some(loops as u64);
        Some(Coming { threads, ramp_s, loops, duration_s, delay_s, on_failure, schedule: None, levels: None })
    }

    /// Whether a failed request ends the session.
    fn on_failure(&mut self, element: &'p Element) -> bool {
        let on_error = element.text("ThreadGroup.on_sample_error");
        match on_error {
            "stopthread" => self.warn(element, "a failed request ends the session, not the thread"),
            "stoptest" | "stoptestnow" => {
                self.warn(
                    element,
                    "a failed request ends the session, not the test (a threshold with abort: true does)",
                );
            }
            _ => {}
        }
        !matches!(on_error, "" | "continue")
    }

    /// Threads that are added in equal steps, each over its ramp and held for its period, stay for their flight time and are
    /// taken away in steps (jp@gc - Stepping Thread Group).
    fn stepping(&mut self, element: &'p Element) -> Option<Coming> {
        let mut of = |name: &str| self.number(element, name).unwrap_or(0.0).max(0.0);
        let threads = of("ThreadGroup.num_threads").floor();
        let (delay_s, burst) = (of("Threads initial delay"), of("Start users count burst").floor());
        let (added, every_s, ramp_s) =
            (of("Start users count").floor(), of("Start users period"), of("rampUp"));
        let (flight_s, taken, taken_every_s) =
            (of("flighttime"), of("Stop users count").floor(), of("Stop users period"));
        if threads < 1.0 {
            self.warn(element, "left out: it has 0 threads");
            return None;
        }
        let added = if added < 1.0 { threads } else { added };
        let one = |key: &str, seconds: f64, to: Option<f64>| {
            let mut map = Map::new();
            map.push(key, Yaml::plain(time(seconds)));
            if let Some(to) = to {
                map.push("to", Yaml::plain(to));
            }
            Yaml::Map(map)
        };
        let (mut phases, mut reached) = (Vec::new(), 0.0);
        if delay_s > 0.0 {
            phases.push(one("pause", delay_s, None));
        }
        let mut next = if burst > 0.0 { burst.min(threads) } else { added.min(threads) };
        while reached < threads && phases.len() < MOST_PHASES {
            phases.push(one("ramp", ramp_s.max(SHORTEST_RAMP_S), Some(next)));
            reached = next;
            next = (reached + added).min(threads);
            if reached < threads && every_s > 0.0 {
                phases.push(one("hold", every_s, None));
            }
        }
        if reached < threads {
            self.warn(
                element,
                &format!("its steps are more than {MOST_PHASES} phases: they end at {reached} threads here"),
            );
        }
        phases.push(one("hold", flight_s.max(SHORTEST_RAMP_S), None));
        if taken > 0.0 && taken_every_s > 0.0 {
            phases.push(one("ramp", (reached / taken).ceil() * taken_every_s, Some(0.0)));
        }
        let controller = element.property("ThreadGroup.main_controller");
        let loops = controller.map_or("", |c| c.text("LoopController.loops")).trim();
        if !["", "-1"].contains(&loops)
            && !element
                .property("ThreadGroup.main_controller")
                .is_some_and(|c| c.is("LoopController.continue_forever"))
        {
            self.warn(
                element,
                &format!("its users begin again until they are taken away, not {loops} times"),
            );
        }
        let said = format!(
            "{} in steps of {added} every {}, each over {}, held for {}",
            crate::count(threads as usize, "thread"),
            time(every_s),
            time(ramp_s),
            time(flight_s)
        );
        let on_failure = self.on_failure(element);
        let levels = Some(Levels { phases, said });
        let (threads, ramp_s, loops, duration_s, schedule) = (threads as u64, 0.0, None, None, None);
        Some(Coming { threads, ramp_s, loops, duration_s, delay_s, on_failure, schedule, levels })
    }

    fn open_model(&mut self, element: &'p Element) -> Option<Coming> {
        let schedule = self.fixed(element, element.text("OpenModelThreadGroup.schedule"));
        let schedule = schedule.and_then(|text| schedule::parse(&text));
        if schedule.is_none() {
            self.warn(element, "left out: its schedule is not understood, or nobody would arrive by it");
        }
        let coming = Coming {
            threads: 1,
            ramp_s: 0.0,
            loops: Some(1),
            duration_s: None,
            delay_s: 0.0,
            on_failure: false,
            schedule,
            levels: None,
        };
        coming.schedule.is_some().then_some(coming)
    }

    /// The keys that say how the group comes.
    pub(super) fn load(&mut self, element: &'p Element, coming: &Coming, journey: &[Item]) -> Map {
        let asks = Item::mean_requests(journey);
        let mut load = Map::new();
        let note = vec![format!("{}:{}: {}.", self.file, element.line, said(coming))];
        match self.paced.clone() {
            _ if coming.schedule.is_some() => {
                let mut arrive = Map::new();
                arrive.push("process", Yaml::plain("poisson"));
                load.commented(note, "arrive", Yaml::Map(arrive));
                let stretches = coming.schedule.iter().flatten();
                load.push(
                    "phases",
                    Yaml::List(stretches.map(|stretch| Yaml::Map(phase(*stretch))).collect()),
                );
            }
            _ if coming.levels.is_some() => {
                if let Some(timer) = self.paced.as_ref().map(|paced| paced.timer) {
                    self.warn(timer, "left out: the group says how many threads there are, and these wait for their responses");
                }
                let mut closed = Map::new();
                closed.push("count", Yaml::plain(coming.threads));
                load.commented(note, "closed", Yaml::Map(closed));
                let phases = coming.levels.iter().flat_map(|levels| levels.phases.iter().cloned());
                load.push("phases", Yaml::List(phases.collect()));
            }
            Some(paced) => self.paced_load(element, coming, &paced, asks, note, &mut load),
            None => self.unpaced_load(element, coming, asks, note, &mut load),
        }
        if coming.on_failure {
            load.push("on-failure", Yaml::plain("end-session"));
        }
        load
    }

    /// Sessions that arrive at the rate of a throughput timer.
    fn paced_load(
        &mut self,
        element: &'p Element,
        coming: &Coming,
        paced: &Paced<'p>,
        asks: f64,
        note: Vec<String>,
        load: &mut Map,
    ) {
        let each = if paced.each { coming.threads as f64 } else { 1.0 };
        let sessions = paced.rate * each / if paced.all { asks } else { 1.0 };
        let length = match (coming.duration_s, coming.loops) {
            (Some(seconds), _) => seconds,
            (None, Some(loops)) => (coming.threads * loops) as f64 / sessions,
            (None, None) => {
                self.endless(element);
                WITHOUT_END_S
            }
        };
        let text = rate(sessions);
        self.warn(
            paced.timer,
            &format!(
                "the load becomes open: sessions arrive at {text} ({}), whatever the target does, where {} threads would wait for it and send less",
                paced.process, coming.threads
            ),
        );
        let mut arrive = Map::new();
        arrive.push("process", Yaml::plain(paced.process));
        arrive.push("rate", Yaml::plain(text));
        load.commented(note, "arrive", Yaml::Map(arrive));
        load.push("phases", phases(coming.delay_s, Vec::new(), length));
    }

    fn unpaced_load(
        &mut self,
        element: &'p Element,
        coming: &Coming,
        asks: f64,
        note: Vec<String>,
        load: &mut Map,
    ) {
        let Coming { threads, ramp_s, loops, .. } = *coming;
        match (loops, coming.duration_s) {
            (Some(1), None) if threads > 1 && ramp_s > 0.0 => {
                // Thread i of n starts at i R / n, whatever the target does: that is an arrival process.
                let mut arrive = Map::new();
                arrive.push("process", Yaml::plain("constant"));
                arrive.push("rate", Yaml::plain(rate(threads as f64 / ramp_s)));
                load.commented(note, "arrive", Yaml::Map(arrive));
                load.push("phases", phases(coming.delay_s, Vec::new(), ramp_s));
                load.push("connections", Yaml::plain("per-user"));
            }
            (Some(1), None) => load.commented(note, "at-once", Yaml::plain(threads)),
            (Some(loops), None) => {
                let requests = (threads as f64 * loops as f64 * asks).round().max(1.0);
                if threads > 1 && ramp_s > 0.0 {
                    self.warn(
                        element,
                        &format!(
                            "its ramp of {} is left out: fixed work begins with all users",
                            time(ramp_s)
                        ),
                    );
                }
                if asks.fract() != 0.0 {
                    self.warn(
                        element,
                        "its steps differ from session to session: the work is their mean number",
                    );
                }
                let mut work = Map::new();
                work.push("requests", Yaml::plain(requests));
                work.push("users", Yaml::plain(threads));
                load.commented(note, "work", Yaml::Map(work));
            }
            (loops, duration) => {
                if loops.is_some() {
                    self.warn(
                        element,
                        "its users begin again until its duration ends, not a number of times",
                    );
                }
                if duration.is_none() {
                    self.endless(element);
                }
                let length = duration.unwrap_or(ramp_s + WITHOUT_END_S);
                let mut closed = Map::new();
                closed.push("count", Yaml::plain(threads));
                load.commented(note, "closed", Yaml::Map(closed));
                let mut ramp = Vec::new();
                if threads > 1 && ramp_s > 0.0 {
                    let until = ramp_s.min(length);
                    let reached = (threads as f64 * until / ramp_s).round().max(1.0);
                    let mut map = Map::new();
                    map.push("ramp", Yaml::plain(time(until)));
                    map.push("to", Yaml::plain(reached));
                    ramp.push(Yaml::Map(map));
                }
                let held = if ramp.is_empty() { length } else { length - ramp_s };
                load.push("phases", phases(coming.delay_s, ramp, held));
            }
        }
    }

    fn endless(&mut self, element: &Element) {
        self.warn(
            element,
            &format!("it loops without end and has no duration: {} here", time(WITHOUT_END_S)),
        );
    }

    /// Takes a throughput timer for the rate of the group where it paces that.
    pub(super) fn throughput(&mut self, element: &'p Element, place: Place) {
        let precise = element.kind == "PreciseThroughputTimer";
        let throughput = self.number(element, "throughput").filter(|n| *n > 0.0);
        let period = match precise {
            true => self.number(element, "throughputPeriod").filter(|s| *s > 0.0).unwrap_or(3_600.0),
            false => 60.0,
        };
        let (Some(throughput), Place::Group | Place::Sampler) = (throughput, place) else {
            let why = match place {
                Place::Plan => "it paces several groups together: put it into one",
                Place::Group | Place::Sampler => "its throughput is not above 0",
                Place::Controller | Place::InnerSampler => "it paces a part of the group alone",
            };
            return self.warn(element, &format!("left out: {why}"));
        };
        if self.paced.is_some() {
            return self.warn(element, "left out: another throughput timer paces the group already");
        }
        let mode = element.text("calcMode").trim();
        if mode == "1" || mode == "3" {
            self.warn(
                element,
                "it paces the threads of all groups together in JMeter, and those of its group here",
            );
        }
        self.paced = Some(Paced {
            timer: element,
            rate: throughput / period,
            each: !precise && (mode == "0" || mode.is_empty()),
            process: if precise { "poisson" } else { "constant" },
            all: place == Place::Group,
        });
    }

    /// The think time that timers give, and pauses for what is more than one law.
    pub(super) fn think(&mut self, timers: &[&'p Element]) -> (Option<String>, Vec<Item>) {
        let (mut constant, mut laws) = (0.0, Vec::new());
        for timer in timers {
            match self.wait(timer) {
                Some(Wait::Constant(s)) => constant += s,
                Some(law) => laws.push(law),
                None => {}
            }
        }
        if laws.is_empty() && constant > 0.0 {
            return (Some(time(constant)), Vec::new());
        }
        let Some(first) = laws.first() else { return (None, Vec::new()) };
        let pauses = laws[1..].iter().map(|law| Item::Pause(law.law())).collect();
        (Some(first.after(constant).law()), pauses)
    }

    fn wait(&mut self, timer: &Element) -> Option<Wait> {
        let delay = self.number(timer, "ConstantTimer.delay").unwrap_or(0.0).max(0.0) / 1e3;
        let range = self.number(timer, "RandomTimer.range").unwrap_or(0.0).max(0.0) / 1e3;
        match timer.kind.as_str() {
            _ if range < 1e-6 => Some(Wait::Constant(delay)).filter(|_| delay > 0.0),
            "UniformRandomTimer" => Some(Wait::Uniform(delay, delay + range)),
            "GaussianRandomTimer" if delay <= 0.0 => {
                self.warn(timer, "left out: a deviation around 0");
                None
            }
            // Beyond that a normal law has another mean than it says, because negative draws count as 0.
            "GaussianRandomTimer" if range > 0.8 * delay => {
                self.warn(timer, "its times follow a gamma law of the same mean and deviation, since normal ones would often be negative");
                Some(Wait::Gamma(delay, (1e3 * range / delay).round() / 1e3, 0.0))
            }
            "GaussianRandomTimer" => Some(Wait::Normal(delay, range)),
            "PoissonRandomTimer" => {
                // Milliseconds by a Poisson law of that mean; its standard deviation is the root of the mean.
                let sd = (range * 1e3).sqrt() / 1e3;
                Some(Wait::Normal(delay + range, sd.min(0.8 * (delay + range))))
            }
            _ => Some(Wait::Constant(delay)).filter(|_| delay > 0.0),
        }
    }
}

/// The phases of a group: a pause before it begins, what leads up to it, and the rest.
fn phases(delay_s: f64, lead: Vec<Yaml>, hold_s: f64) -> Yaml {
    let one = |key: &str, seconds: f64| {
        let mut map = Map::new();
        map.push(key, Yaml::plain(time(seconds)));
        Yaml::Map(map)
    };
    let mut list = Vec::new();
    if delay_s > 0.0 {
        list.push(one("pause", delay_s));
    }
    list.extend(lead);
    if hold_s > 0.0 {
        list.push(one("hold", hold_s));
    }
    Yaml::List(list)
}

/// The phase of a stretch.
fn phase(stretch: Stretch) -> Map {
    let mut map = Map::new();
    match stretch {
        Stretch::Pause(seconds) => map.push("pause", Yaml::plain(time(seconds))),
        Stretch::Arrivals { seconds, from, to } if from == to => {
            map.push("hold", Yaml::plain(time(seconds)));
            map.push("at", Yaml::plain(rate(from)));
        }
        Stretch::Arrivals { seconds, from, to } => {
            map.push("ramp", Yaml::plain(time(seconds)));
            map.push("from", Yaml::plain(rate(from)));
            map.push("to", Yaml::plain(rate(to)));
        }
    }
    map
}

/// The thread group in words.
fn said(coming: &Coming) -> String {
    if coming.schedule.is_some() {
        return "an open schedule of threads, each once".to_owned();
    }
    if let Some(levels) = &coming.levels {
        return levels.said.clone();
    }
    let threads = crate::count(coming.threads as usize, "thread");
    let ramp = match coming.ramp_s > 0.0 {
        true => format!(" started over {}", time(coming.ramp_s)),
        false => String::new(),
    };
    let loops = match coming.loops {
        Some(1) => ", once each".to_owned(),
        Some(n) => format!(", {n} times each"),
        None => String::new(),
    };
    let duration = match coming.duration_s {
        Some(seconds) => format!(", for {}", time(seconds)),
        None => String::new(),
    };
    format!("{threads}{ramp}{loops}{duration}")
}
