//! The origins (scheme, host and port) that a scenario names besides its target: in steps that are whole URLs, and for redirects.

use crate::content::Template;
use crate::scenario::MOST_ORIGINS;
use crate::scenario::leaves::Text;
use crate::scenario::read::Reader;
use crate::scenario::source::{Problem, Span};
use crate::scenario::written;
use crate::target::{Endpoint, Scheme, Target};

const HELP: &str = "write scheme, host and port alone, as in https://api.example or http://127.0.0.1:8081";

/// Whether a text is scheme, host and perhaps port, and nothing else; a user and a password are refused elsewhere.
fn is_bare(text: &str) -> bool {
    let Some((_, rest)) = text.trim().split_once("://") else { return false };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    rest.contains('@')
        || rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']'))
}

/// Those that are known so far, numbered from 1 in their order; the target is 0.
#[derive(Default)]
pub(super) struct Origins {
    target: Option<Target>,
    others: Vec<Target>,
    /// The first step that goes to another origin.
    pub first: Option<Span>,
    /// Where HTTP/2 without TLS is first asked for.
    pub h2c: Option<Span>,
    /// Whether the last one is the target's host by https, which nothing in the file names.
    pub assumes_https: bool,
}

impl Origins {
    /// Of a scenario with that target.
    pub fn beside(target: Option<&Target>) -> Origins {
        Origins { target: target.cloned(), ..Origins::default() }
    }

    /// Those besides the target, in the order of their numbers.
    pub fn others(&self) -> &[Target] {
        &self.others
    }

    /// The number of the origin of a step that is a whole URL, and the path behind it; none where it is no URL.
    pub fn of_step(&mut self, path: &Text, template: &Template) -> Result<Option<(u16, Template)>, Problem> {
        let Some((url, rest)) = template.whole_url() else { return Ok(None) };
        let Some(rest) = rest else {
            let problem = Problem::new(path.span, "the host of a step is the same for every session");
            return Err(problem.help("write values in the path alone, as in https://api.example/{{id}}"));
        };
        let origin = self.number(&url, path.span)?;
        if origin > 0 {
            self.first.get_or_insert(path.span);
        }
        Ok(Some((origin, rest)))
    }

    /// Those that redirects may lead to besides, if they are `followed`, or links, if any step is one. The same host by https is named with it
    /// for redirects, where both have their usual ports, and it is not said where they are.
    pub fn of_redirects(
        &mut self,
        file: &written::File,
        (followed, links): (bool, bool),
        reader: &mut Reader<'_>,
    ) {
        for text in file.origins.iter().flatten() {
            if !followed && !links {
                let problem = Problem::new(text.span, "no redirect is followed, so that none leads there");
                reader.problems.push(problem.help("add redirects: 10 (-L), or leave it out"));
                return;
            }
            if !is_bare(&text.value.text) {
                let problem = Problem::new(text.span, format!("'{}' is no origin of HTTP", text.value.text));
                reader.problems.push(problem.help(HELP));
                continue;
            }
            match self.number(&text.value.text, text.span) {
                Ok(_) => {}
                Err(problem) => reader.problems.push(problem),
            }
        }
        let plain = followed && file.connect_to.is_none() && file.resolve.is_none();
        let secure = self.target.as_ref().filter(|_| plain).and_then(|target| match &target.endpoint {
            Endpoint::Tcp { port: 80, .. } if target.scheme == Scheme::Http => {
                Target::parse(&format!("https://{}", target.authority)).ok()
            }
            _ => None,
        });
        if let Some(secure) = secure.filter(|_| self.others.len() < MOST_ORIGINS) {
            let before = self.others.len();
            self.add(secure);
            self.assumes_https = self.others.len() > before;
        }
    }

    fn number(&mut self, url: &str, span: Span) -> Result<u16, Problem> {
        let origin = Target::parse(url).map_err(|e| {
            let what = e.wanted.split("; ").next().unwrap_or_default();
            Problem::new(span, format!("'{}' is not {what}", e.given)).help(HELP)
        })?;
        if origin.authorization.is_some() {
            let problem = Problem::new(span, "a user and a password in a URL would stand in reports");
            return Err(problem.help(
                "write headers: { Authorization: 'Basic ${CREDENTIALS}' } in the step, the value in the environment",
            ));
        }
        if !origin.scheme.is_http() || !matches!(origin.endpoint, Endpoint::Tcp { .. }) || origin.path != "/"
        {
            return Err(Problem::new(span, format!("{origin} is no origin of HTTP")).help(HELP));
        }
        if self.find(&origin).is_none() && self.others.len() >= MOST_ORIGINS {
            let problem =
                Problem::new(span, format!("more than {MOST_ORIGINS} origins in addition to the target"));
            return Err(problem.help("split the scenario"));
        }
        let is_h2c = origin.scheme == Scheme::H2c;
        let number = self.add(origin);
        if is_h2c && number > 0 {
            self.h2c.get_or_insert(span);
        }
        Ok(number)
    }

    fn find(&self, origin: &Target) -> Option<u16> {
        let is_same = |known: &Target| known.endpoint == origin.endpoint && known.scheme == origin.scheme;
        if self.target.as_ref().is_some_and(is_same) {
            return Some(0);
        }
        self.others.iter().position(is_same).map(|at| at as u16 + 1)
    }

    fn add(&mut self, origin: Target) -> u16 {
        self.find(&origin).unwrap_or_else(|| {
            self.others.push(origin);
            self.others.len() as u16
        })
    }
}
