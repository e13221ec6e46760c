//! A test plan of JMeter (.jmx) as a scenario: thread groups as groups of users, samplers of HTTP as steps.
//!
//! What has an equivalent is carried over: how threads come and for how long, controllers, timers, headers, arguments, bodies,
//! variables, data sets, assertions and extractors. Everything else is listed with the line and the name of its element.
//! Deliberately absent: other protocols, scripts, and what other files hold.

mod checks;
mod keys;
mod load;
mod request;
mod schedule;
mod values;
mod xml;

use super::draft::{Draft, Group, Item, Step, Variable};
use super::{Converted, Location, count};
use anyhow::{Context as _, Result, bail};
use load::Paced;
use std::collections::HashSet;
use values::Values;
use xml::Element;

/// What to make of a plan.
#[derive(Clone, Default, Debug)]
pub struct Choices {
    /// The target with its base path, in place of the host with the most requests.
    pub target: Option<String>,
    /// The only thread group to take, by its name; that of a setUp or tearDown group too.
    pub group: Option<String>,
}

/// Repeats lie within one another so deep in a scenario.
const MOST_NESTED: usize = 4;
/// Redirects that JMeter follows (`httpsampler.max_redirects`).
const REDIRECTS: &str = "20";

/// A scenario of the plan in `text`, which is named `file` in messages.
///
/// # Errors
/// What is no test plan, with its line; a plan without a group or without a request that can be sent; no host and no target.
pub fn scenario(file: &str, text: &str, choices: &Choices) -> Result<Converted> {
    let elements = xml::read(file, text)?;
    let given = choices
        .target
        .as_deref()
        .map(|target| super::openapi::base(target).with_context(|| format!("--target {target}")));
    let given = given.transpose()?;
    // First the hosts, of which one is the target, then the steps.
    let mut survey = Conversion::new(file, choices, None);
    survey.plan(&elements)?;
    let home = survey.most_frequent();
    let mut conversion = Conversion::new(file, choices, Some(home.clone()));
    conversion.plan(&elements)?;
    conversion.finish(given, home, &elements)
}

/// What applies to the samplers of a part of the plan, outer elements first.
#[derive(Clone, Default)]
struct Scope<'p> {
    defaults: Vec<&'p Element>,
    headers: Vec<&'p Element>,
    timers: Vec<&'p Element>,
    checks: Vec<&'p Element>,
}

/// Where elements lie, for what applies to all that is beside them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plan,
    Group,
    Controller,
    /// Below a sampler of the group itself.
    Sampler,
    /// Below another sampler.
    InnerSampler,
}

/// The host of a request, with scheme and port.
#[derive(Clone, PartialEq, Eq)]
enum Host {
    /// The sampler names none.
    Unnamed,
    /// Scheme, host and port, as targets have them.
    Known(String),
    /// One that is not known before a run, as the plan has it.
    Unknown(String),
}

struct Conversion<'p, 'c> {
    file: &'c str,
    choices: &'c Choices,
    draft: Draft,
    values: Values<'p>,
    /// The host that is the target; not settled in the first pass.
    home: Option<Host>,
    /// Hosts of requests, and how many each has.
    hosts: Vec<(Host, usize)>,
    /// Warnings so far with the lines of their elements, of which none comes twice.
    warnings: Vec<(u64, String)>,
    told: HashSet<String>,
    /// Samplers that no step sends: kinds, and how many.
    others: Vec<(String, usize)>,
    /// Groups that are not taken.
    passed_over: Vec<String>,
    /// How the group that is being read is paced by a throughput timer.
    paced: Option<Paced<'p>>,
    /// Repeats around what is being read.
    depth: usize,
    /// Whether controllers surround it, other than such that change nothing.
    nested: bool,
    /// Iterations of the group that is being read; none: without end.
    loops: Option<u64>,
    cookies: bool,
    disabled: usize,
    /// Most time of any sampler, in milliseconds: for an answer, and for a connection.
    timeouts: [Vec<u64>; 2],
    follows: bool,
    /// Whether a header of a step is a secret.
    has_secrets: bool,
}

impl<'p, 'c> Conversion<'p, 'c> {
    fn new(file: &'c str, choices: &'c Choices, home: Option<Host>) -> Conversion<'p, 'c> {
        Conversion {
            file,
            choices,
            draft: Draft::default(),
            values: Values::default(),
            home,
            hosts: Vec::new(),
            warnings: Vec::new(),
            told: HashSet::new(),
            others: Vec::new(),
            passed_over: Vec::new(),
            paced: None,
            depth: 0,
            nested: false,
            loops: None,
            cookies: false,
            disabled: 0,
            timeouts: [Vec::new(), Vec::new()],
            follows: false,
            has_secrets: false,
        }
    }

    /// Lists something with the line and the name of its element, once.
    fn warn(&mut self, element: &Element, what: &str) {
        let name: String = element.name.chars().filter(|c| !c.is_control()).take(80).collect();
        let text = format!("{}:{}: '{name}' ({}): {what}", self.file, element.line, element.kind);
        if self.told.insert(text.clone()) {
            self.warnings.push((element.line, text));
        }
    }

    /// As [`tell`](Conversion::tell), of a text of a step, whose comments say what it lacks.
    fn tell_of(&mut self, step: &mut Step, element: &Element, resolved: &values::Resolved) {
        if self.tell(element, resolved) {
            for what in
                resolved.lacks.iter().filter(|what| !step.notes.contains(what)).cloned().collect::<Vec<_>>()
            {
                step.lack(what);
            }
        }
    }

    /// Lists what a text changes or lacks; whether it lacks something.
    fn tell(&mut self, element: &Element, resolved: &values::Resolved) -> bool {
        for what in resolved.changes.iter().chain(&resolved.lacks) {
            self.warn(element, what);
        }
        !resolved.lacks.is_empty()
    }

    /// A text that must be known before a run; none where it is not. Properties are at their defaults, which is listed.
    fn fixed(&mut self, element: &Element, raw: &str) -> Option<String> {
        let resolved = self.values.resolve(raw);
        if self.tell(element, &resolved) {
            return None;
        }
        self.tell_defaults(element, &resolved);
        resolved.constant(&self.values)
    }

    fn tell_defaults(&mut self, element: &Element, resolved: &values::Resolved) {
        for (property, default) in resolved.properties(&self.values) {
            self.warn(
                element,
                &format!(
                    "the property {property} is taken at its default, {default}: change it in the scenario"
                ),
            );
        }
    }

    /// A number; none where there is none, which is listed where something stands there.
    fn number(&mut self, element: &Element, name: &str) -> Option<f64> {
        let raw = element.text(name);
        if raw.trim().is_empty() {
            return None;
        }
        let number = self.fixed(element, raw).and_then(|text| text.trim().parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && number.abs() < 1e12);
        if number.is_none() {
            let raw: String = raw.chars().take(60).collect();
            self.warn(element, &format!("{name} is '{raw}', no number that is known before a run: left out"));
        }
        number
    }

    /// Reads the plan: what holds throughout, then its groups.
    fn plan(&mut self, elements: &'p [Element]) -> Result<()> {
        elements.iter().for_each(|element| {
            element.each(&mut |element| match element.kind.as_str() {
                "TestPlan" => {
                    let list = element.inner_list("TestPlan.user_defined_variables", "Arguments.arguments");
                    list.iter()
                        .for_each(|a| self.values.define(a.text("Argument.name"), a.text("Argument.value")));
                }
                "Arguments" => {
                    let list = element.list("Arguments.arguments");
                    list.iter()
                        .for_each(|a| self.values.define(a.text("Argument.name"), a.text("Argument.value")));
                }
                "CSVDataSet" => self.values.rows(element),
                "CounterConfig" => self.values.counter(element.text("CounterConfig.name")),
                "CookieManager" => self.cookies = true,
                _ => {}
            });
        });
        let mut groups: Vec<(&'p Element, Scope<'p>)> = Vec::new();
        for element in elements.iter().filter(|element| element.enabled) {
            self.tell_unread(element);
            if element.kind == "TestPlan" {
                if element.is("TestPlan.serialize_threadgroups") {
                    self.warn(element, "its groups run one after the other in JMeter, and at once here");
                }
                let scope = self.scope(&Scope::default(), &element.below, Place::Plan);
                groups.extend(load::groups(&element.below).map(|group| (group, scope.clone())));
            } else {
                groups.extend(load::group(element).map(|group| (group, Scope::default())));
            }
        }
        if let Some(name) = &self.choices.group
            && !groups.iter().any(|(group, _)| group.name == *name)
        {
            let names: Vec<&str> = groups.iter().map(|(group, _)| group.name.as_str()).collect();
            bail!("--group {name}: {}'s thread groups are {}", self.file, names.join(", "));
        }
        if groups.is_empty() {
            bail!(
                "{}: the plan has no thread group that is enabled, and so nobody who sends: name a whole test plan, not a part of one",
                self.file
            );
        }
        for (element, scope) in groups {
            if self.choices.group.as_ref().is_some_and(|name| *name != element.name) {
                self.passed_over.push(element.name.clone());
                continue;
            }
            if let Some(group) = self.group(element, &scope) {
                self.draft.groups.push(group);
            }
        }
        Ok(())
    }

    /// Adds to what applies: the elements beside the samplers. What has no equivalent is listed.
    fn scope(&mut self, outer: &Scope<'p>, elements: &'p [Element], place: Place) -> Scope<'p> {
        let mut scope = outer.clone();
        for element in elements {
            if !element.enabled {
                self.disabled += 1;
                continue;
            }
            self.tell_unread(element);
            match element.kind.as_str() {
                "ConfigTestElement" if element.gui.ends_with("HttpDefaultsGui") => {
                    scope.defaults.push(element)
                }
                "HeaderManager" => scope.headers.push(element),
                "ConstantThroughputTimer" | "PreciseThroughputTimer" => self.throughput(element, place),
                kind if load::is_timer(kind) => scope.timers.push(element),
                kind if checks::KNOWN.contains(&kind) => scope.checks.push(element),
                "CookieManager" => self.cookie_manager(element),
                "CacheManager" => self.warn(element, "left out: every request is sent, nothing is cached"),
                "Arguments" | "CSVDataSet" | "CounterConfig" => {}
                kind if is_listener(kind) => {}
                kind if is_sampler(kind) || is_controller(kind) || load::is_group(kind) => {}
                _ => self.warn(element, "left out: it has no equivalent"),
            }
        }
        scope
    }

    /// A step that gives its own cookies gets none that answers set, so that those of the plan are its author's to place.
    fn cookie_manager(&mut self, element: &Element) {
        let cookie = |cookie: &xml::Property| match cookie.text("Cookie.domain").trim() {
            "" => cookie.name().to_owned(),
            domain => format!("{} of {domain}", cookie.name()),
        };
        let names: Vec<String> = element.list("CookieManager.cookies").iter().map(cookie).collect();
        if !names.is_empty() {
            self.warn(
                element,
                &format!("left out: its own cookies ({}): write a header Cookie", names.join(", ")),
            );
        }
    }

    /// The journey of what lies in a container.
    fn block(&mut self, elements: &'p [Element], outer: &Scope<'p>, place: Place) -> Vec<Item> {
        let scope = self.scope(outer, elements, place);
        let mut items = Vec::new();
        for element in elements.iter().filter(|element| element.enabled) {
            items.extend(self.items(element, &scope));
        }
        items
    }

    /// What becomes of one sampler or controller; nothing of other elements.
    fn items(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        let kind = element.kind.as_str();
        let below = if self.nested { Place::InnerSampler } else { Place::Sampler };
        match kind {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => {
                let scope = self.scope(scope, &element.below, below);
                self.http(element, &scope)
            }
            "TestAction" => {
                let scope = self.scope(scope, &element.below, below);
                self.action(element, &scope)
            }
            "DebugSampler" => Vec::new(),
            _ if is_controller(kind) => self.controller(element, scope),
            _ if is_sampler(kind) => {
                self.warn(element, "left out: no step sends such a request");
                match self.others.iter_mut().find(|(known, _)| known == kind) {
                    Some((_, n)) => *n += 1,
                    None => self.others.push((kind.to_owned(), 1)),
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A pause, if that is what a Flow Control Action does.
    fn action(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        let what = match element.text("ActionProcessor.action").trim() {
            "1" | "" => {
                let (think, mut items) = self.think(&scope.timers);
                items.extend(think.map(Item::Pause));
                let ms = self.number(element, "ActionProcessor.duration").unwrap_or(0.0);
                if ms > 0.0 {
                    items.push(Item::Pause(load::time(ms / 1e3)));
                }
                return items;
            }
            "0" | "2" if element.text("ActionProcessor.target").trim() == "2" => {
                "left out: it stops the test"
            }
            "0" | "2" => "left out: it stops the thread",
            "3" => "left out: it begins the thread's next iteration",
            "4" => "left out: it begins the next iteration of the loop",
            _ => "left out: it ends the loop",
        };
        self.warn(element, what);
        Vec::new()
    }

    fn controller(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        let was_nested = self.nested;
        let plain = [
            "GenericController",
            "RecordingController",
            "TransactionController",
            "CriticalSectionController",
        ];
        self.nested |= !plain.contains(&element.kind.as_str());
        let items = self.controlled(element, scope);
        self.nested = was_nested;
        items
    }

    fn controlled(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        let all = |this: &mut Self| this.block(&element.below, scope, Place::Controller);
        let once = "its steps are taken once in each session";
        match element.kind.as_str() {
            "GenericController" | "RecordingController" => all(self),
            "TransactionController" => {
                self.warn(
                    element,
                    "its steps are taken, and the time of all of them together is not reported",
                );
                all(self)
            }
            "CriticalSectionController" => {
                self.warn(element, "its steps are taken without the lock");
                all(self)
            }
            "LoopController" => self.repeated(element, scope),
            "OnceOnlyController" => {
                if self.loops != Some(1) || self.nested && self.depth > 0 {
                    self.warn(
                        element,
                        "its steps are taken in each session, not in a thread's first iteration alone",
                    );
                }
                all(self)
            }
            "IfController" => {
                let condition = element.text("IfController.condition").trim();
                if condition.eq_ignore_ascii_case("false") {
                    self.warn(element, "left out: its condition is false");
                    return Vec::new();
                }
                if !condition.eq_ignore_ascii_case("true") {
                    self.warn(
                        element,
                        "its condition is not carried over, and its steps are taken always (choose: takes them sometimes)",
                    );
                }
                all(self)
            }
            "WhileController" => {
                self.warn(
                    element,
                    &format!("its condition is not carried over: {once} (repeat: N takes them N times)"),
                );
                all(self)
            }
            "ForeachController" => {
                self.warn(element, &format!("its variables are not known: {once}"));
                all(self)
            }
            "RunTime" => {
                self.warn(element, &format!("its time is not carried over: {once}"));
                all(self)
            }
            "RandomOrderController" => {
                self.warn(element, "its steps are taken in the order of the plan, not in a random one");
                all(self)
            }
            "RandomController" => self.choice(element, scope, Vec::new()),
            "InterleaveControl" => {
                let note = "JMeter takes these in turn; here one is drawn.".to_owned();
                self.warn(
                    element,
                    "one of its parts is drawn at random in each session, in place of the next in turn",
                );
                self.choice(element, scope, vec![note])
            }
            "SwitchController" => {
                self.warn(
                    element,
                    "one of its parts is drawn at random: what it switches on is not carried over",
                );
                self.choice(element, scope, Vec::new())
            }
            "ThroughputController" => self.share(element, scope),
            "ModuleController" | "IncludeController" => {
                self.warn(element, "left out: what it points to is elsewhere; put its samplers here");
                Vec::new()
            }
            "TestFragmentController" => {
                self.warn(element, "left out: a fragment runs only where another controller points to it");
                Vec::new()
            }
            _ => {
                self.warn(element, &format!("such a controller has no equivalent: {once}"));
                all(self)
            }
        }
    }

    fn repeated(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        let loops = self.number(element, "LoopController.loops").unwrap_or(1.0);
        let forever = loops < 0.0 || element.is("LoopController.continue_forever") && loops == 0.0;
        if forever {
            self.warn(element, "it loops without end: its steps are taken once in each session");
        }
        let times = if forever { 1 } else { loops as u64 };
        if times == 0 {
            self.warn(element, "left out: it loops 0 times");
            return Vec::new();
        }
        let block = times > 1 && self.depth < MOST_NESTED;
        if times > 1 && !block {
            self.warn(
                element,
                &format!(
                    "loops within one another are carried over {MOST_NESTED} deep: its steps are taken once"
                ),
            );
        }
        self.depth += usize::from(block);
        let items = self.block(&element.below, scope, Place::Controller);
        self.depth -= usize::from(block);
        match (block, items.is_empty()) {
            (_, true) => Vec::new(),
            (true, _) => vec![Item::Repeat(times, items)],
            (false, _) => items,
        }
    }

    /// One of the parts of a controller, each as likely as the others.
    fn choice(&mut self, element: &'p Element, scope: &Scope<'p>, notes: Vec<String>) -> Vec<Item> {
        let scope = self.scope(scope, &element.below, Place::Controller);
        let (before, mut learnt) = (self.values.learnt(), Vec::new());
        let mut ways = Vec::new();
        for part in element.below.iter().filter(|part| part.enabled) {
            if is_sampler(&part.kind) || is_controller(&part.kind) {
                let items = self.items(part, &scope);
                if !items.is_empty() {
                    ways.push((1.0, items));
                }
                learnt.extend(self.values.forget(before));
            }
        }
        self.values.learn(learnt);
        match ways.len() {
            0 => Vec::new(),
            1 => ways.remove(0).1,
            _ => vec![Item::Choose(notes, ways)],
        }
    }

    /// A Throughput Controller: its steps in a share of the sessions.
    fn share(&mut self, element: &'p Element, scope: &Scope<'p>) -> Vec<Item> {
        if element.text("ThroughputController.style").trim() == "0" {
            self.warn(element, "it counts executions in all: here its steps are taken in each session");
            return self.block(&element.below, scope, Place::Controller);
        }
        let percent = self.number(element, "ThroughputController.percentThroughput").unwrap_or(100.0);
        if percent <= 0.0 {
            self.warn(element, "left out: its share is 0 %");
            return Vec::new();
        }
        let items = self.block(&element.below, scope, Place::Controller);
        if percent >= 100.0 || items.is_empty() {
            return items;
        }
        vec![Item::Choose(Vec::new(), vec![(percent, items), (100.0 - percent, Vec::new())])]
    }

    /// A group; none where it has nothing to send.
    fn group(&mut self, element: &'p Element, outer: &Scope<'p>) -> Option<Group> {
        if let Some(what) = load::around(&element.kind)
            && self.choices.group.is_none()
        {
            self.warn(
                element,
                &format!(
                    "left out: it runs {what} the other groups; --group '{}' makes a scenario of it",
                    element.name
                ),
            );
            return None;
        }
        self.values.group = element.name.clone();
        self.values.forget(0);
        (self.paced, self.depth, self.nested) = (None, 0, false);
        let coming = self.coming(element)?;
        self.loops = coming.loops;
        // A timer of the plan applies to each group.
        let plan = outer.clone();
        let mut journey = self.block(&element.below, &plan, Place::Group);
        let steps = Item::steps(&journey).len();
        if steps == 0 {
            self.warn(element, "left out: nothing of it can be sent");
            return None;
        }
        if Item::may_be_empty(&journey) {
            self.warn(
                element,
                "a session may send nothing: what is taken in a share of them alone is taken in each",
            );
            journey = always(journey);
        }
        let load = self.load(element, &coming, &journey);
        Some(Group { name: load::name(&element.name, &self.draft.groups), load, journey })
    }

    /// The host that is the target: that with the most requests, of several the first. One that is not known only if `--target` says
    /// where it is, or no other is named.
    fn most_frequent(&self) -> Host {
        let of = |takes: fn(&Host) -> bool| {
            self.hosts.iter().filter(|(host, _)| takes(host)).rev().max_by_key(|(_, n)| *n)
        };
        let known = match self.choices.target {
            Some(_) => None,
            None => of(|host| matches!(host, Host::Known(_))),
        };
        let named = known.or_else(|| of(|host| *host != Host::Unnamed));
        named.map_or(Host::Unnamed, |(host, _)| host.clone())
    }

    fn finish(mut self, given: Option<String>, home: Host, elements: &[Element]) -> Result<Converted> {
        let file = self.file;
        let steps: usize = self.draft.groups.iter().map(|group| Item::steps(&group.journey).len()).sum();
        if steps == 0 {
            let others: Vec<String> = self.others.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
            let others = match others.is_empty() {
                true => String::new(),
                false => format!("; its samplers are {}", others.join(", ")),
            };
            self.warnings.sort_by_key(|(line, _)| *line);
            let why: Vec<String> =
                self.warnings.into_iter().map(|(_, text)| format!("\n{text}")).take(20).collect();
            bail!(
                "{file}: the plan has no HTTP request in an enabled thread group that could become a step{others}{}",
                why.concat()
            );
        }
        self.draft.target = match (given, home) {
            (Some(target), _) => target,
            (None, Host::Known(home)) => home,
            (None, Host::Unknown(home)) => bail!(
                "{file}: the plan's host '{home}' is not known before a run: name the target, as in --target http://127.0.0.1:8080"
            ),
            (None, Host::Unnamed) => bail!(
                "{file}: the plan names no host that is known before a run: name the target, as in --target http://127.0.0.1:8080"
            ),
        };
        for (name, map, element, notes) in self.values.data() {
            self.draft.data.push((name, map));
            notes.iter().for_each(|note| self.warn(element, note));
        }
        for element in self.values.unused() {
            self.warn(element, "left out: no step uses its columns");
        }
        self.warnings.sort_by_key(|(line, _)| *line);
        self.draft.warnings.extend(self.warnings.drain(..).map(|(_, text)| text));
        let variables = self.values.variables(&mut self.draft.secrets);
        self.draft.variables.extend(variables.into_iter().map(|(name, value)| Variable {
            of: name.clone(),
            name,
            value,
            notes: Vec::new(),
        }));
        let settings = [("timeout", &self.timeouts[0]), ("connect-timeout", &self.timeouts[1])];
        for (key, all) in settings {
            if let Some(most) = all.iter().max() {
                self.draft.settings.push((key, load::time(*most as f64 / 1e3)));
                if all.iter().any(|ms| ms != most) {
                    self.draft.warnings.push(format!("{file}: the {key} is the longest of all samplers'"));
                }
            }
        }
        if self.follows {
            self.draft.settings.push(("redirects", REDIRECTS.to_owned()));
            if self.has_secrets && !self.draft.other_origins().is_empty() {
                let what = "a redirect from one origin to another takes no header with a secret along; in JMeter it does";
                self.draft.warnings.push(format!("{file}: {what}"));
            }
        }
        let mut samplers = 0;
        elements
            .iter()
            .for_each(|element| element.each(&mut |element| samplers += usize::from(is_http(&element.kind))));
        let notes = &mut self.draft.notes;
        notes.push(format!(
            "Made by headway from-jmx: {} out of {}.",
            count(steps, "step"),
            count(samplers, "HTTP sampler")
        ));
        if self.disabled > 0 {
            notes.push(format!(
                "{} of the plan, and what is below, is left out: disabled.",
                count(self.disabled, "element")
            ));
        }
        if !self.passed_over.is_empty() {
            notes.push(format!("Left out for --group: {}.", self.passed_over.join(", ")));
        }
        if !self.cookies {
            notes.push("The plan has no cookie manager, so that JMeter sends no cookies back. A scenario does, within a session.".to_owned());
        }
        self.draft.finish().with_context(|| file.to_owned())
    }

    /// The origin of a request to that host, which is counted; within, none is that of the target. None where the host is not known:
    /// the target is another, to which the request and its secrets do not belong.
    fn origin(&mut self, element: &Element, host: Host) -> Option<Option<String>> {
        match self.hosts.iter_mut().find(|(known, _)| *known == host) {
            Some((_, n)) => *n += 1,
            None => self.hosts.push((host.clone(), 1)),
        }
        let is_home = self.home.as_ref().is_none_or(|home| *home == host);
        match host {
            Host::Unnamed => Some(None),
            Host::Known(origin) => Some((!is_home).then_some(origin)),
            Host::Unknown(host) if is_home => {
                self.warn(
                    element,
                    &format!("its host '{host}' is not known before a run: it goes to the target"),
                );
                Some(None)
            }
            Host::Unknown(host) => {
                self.warn(
                    element,
                    &format!(
                        "left out: its host '{host}' is not known before a run (--target stands for the host with the most requests)"
                    ),
                );
                None
            }
        }
    }
}

/// The items with what is taken in a share of sessions taken in each.
fn always(items: Vec<Item>) -> Vec<Item> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Item::Choose(notes, mut ways) => {
                ways.retain(|(_, items)| !Item::may_be_empty(items));
                match ways.len() {
                    0 => {}
                    1 => out.extend(ways.remove(0).1),
                    _ => out.push(Item::Choose(notes, ways)),
                }
            }
            Item::Repeat(times, items) => {
                let items = always(items);
                if !items.is_empty() {
                    out.push(Item::Repeat(times, items));
                }
            }
            item => out.push(item),
        }
    }
    out
}

fn is_http(kind: &str) -> bool {
    matches!(kind, "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2")
}

fn is_sampler(kind: &str) -> bool {
    kind == "TestAction" || kind.contains("Sampler") && !kind.contains("Config") && !is_controller(kind)
}

fn is_controller(kind: &str) -> bool {
    let last = kind.rsplit('.').next().unwrap_or(kind);
    last.ends_with("Controller") || ["InterleaveControl", "RunTime", "ParallelSampler"].contains(&last)
}

fn is_listener(kind: &str) -> bool {
    const KNOWN: &[&str] = &[
        "ResultCollector",
        "Summariser",
        "MailerResultCollector",
        "ResultSaver",
        "ResultAction",
        "BackendListener",
        "ProxyControl",
        "WorkBench",
        "PropertyControl",
        "MirrorServer",
        "HttpMirrorControl",
    ];
    let last = kind.rsplit('.').next().unwrap_or(kind);
    KNOWN.contains(&last) || last.ends_with("ResultCollector") || last.ends_with("Listener")
}

/// Scheme, host and port of a URL, as targets have them.
fn origin(url: &str) -> Option<String> {
    Location::parse(url)
        .ok()
        .filter(|location| !location.origin.contains(['{', '$', ' ']))
        .map(|location| location.origin)
}

#[cfg(test)]
mod tests;
