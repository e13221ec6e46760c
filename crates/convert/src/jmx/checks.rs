//! Assertions and extractors as what a step expects and extracts.

use super::Conversion;
use super::xml::Element;
use crate::draft::{Finder, Step};
use headway_workload::content::{self, Pointer};
use headway_workload::yaml::Yaml;

/// The assertions and extractors that have an equivalent.
pub(super) const KNOWN: &[&str] = &[
    "ResponseAssertion",
    "DurationAssertion",
    "JSONPathAssertion",
    "RegexExtractor",
    "JSONPostProcessor",
    "BoundaryExtractor",
];

/// How a Response Assertion compares (`Assertion.test_type`).
const MATCH: i64 = 1;
const CONTAINS: i64 = 2;
const NOT: i64 = 4;
const EQUALS: i64 = 8;
const OR: i64 = 32;

impl<'p> Conversion<'p, '_> {
    /// Puts an assertion or extractor into a step.
    pub(super) fn check(&mut self, element: &'p Element, step: &mut Step) {
        let scope = element.text("Scope.variable").trim();
        let of_main = ["", "parent", "all"].contains(&element.text("Assertion.scope").trim())
            && ["", "parent", "all"].contains(&element.text("Sample.scope").trim());
        if !scope.is_empty() || !of_main {
            return self
                .warn(element, "left out: it looks at a variable or at embedded pages, not at the response");
        }
        match element.kind.as_str() {
            "ResponseAssertion" => self.response(element, step),
            "DurationAssertion" => {
                let ms = self.number(element, "DurationAssertion.duration").filter(|ms| *ms > 0.0);
                step.expect.time = ms.map(|ms| super::load::time(ms / 1e3)).or(step.expect.time.take());
            }
            "JSONPathAssertion" => self.json(element, step),
            "RegexExtractor" => self.by_regex(element, step),
            "JSONPostProcessor" => self.by_json_path(element, step),
            _ => self.by_boundaries(element, step),
        }
    }

    fn response(&mut self, element: &'p Element, step: &mut Step) {
        let kind = element.text("Assertion.test_type").trim().parse::<i64>().unwrap_or(CONTAINS);
        let mut patterns: Vec<String> = Vec::new();
        for name in ["Asserion.test_strings", "Assertion.test_strings"] {
            patterns.extend(element.list(name).iter().map(|pattern| pattern.own().to_owned()));
        }
        patterns.retain(|pattern| !pattern.is_empty());
        if element.is("Assertion.assume_success") && step.statuses.is_empty() {
            step.statuses = vec!["100-599".to_owned()];
        }
        if patterns.is_empty() {
            return;
        }
        match element.text("Assertion.test_field").trim() {
            "Assertion.response_code" => self.code(element, kind, &patterns, step),
            "Assertion.response_data" | "" => {
                let several = patterns.len() > 1 && kind & OR != 0;
                if several {
                    return self.one_of(element, kind, &patterns, step);
                }
                patterns.iter().for_each(|pattern| self.body(element, kind, pattern, step));
            }
            other => {
                let what = other.trim_start_matches("Assertion.").replace('_', " ");
                self.warn(element, &format!("left out: a check of the {what}"));
            }
        }
    }

    fn code(&mut self, element: &'p Element, kind: i64, patterns: &[String], step: &mut Step) {
        let mut codes = Vec::new();
        for pattern in patterns {
            let Some(text) = self.fixed(element, pattern) else { return };
            let exact = kind & (MATCH | CONTAINS) == 0;
            // With several that are not joined by "or" each must hold, which only equal ones do.
            match status(text.trim(), exact) {
                Some(found) if kind & NOT == 0 && (kind & OR != 0 || patterns.len() == 1) => {
                    codes.extend(found)
                }
                _ => {
                    let text: String = text.chars().take(60).collect();
                    return self.warn(
                        element,
                        &format!(
                            "left out: a check of the status with '{text}', which is no list of statuses"
                        ),
                    );
                }
            }
        }
        codes.dedup();
        step.statuses = codes;
    }

    fn body(&mut self, element: &'p Element, kind: i64, pattern: &str, step: &mut Step) {
        let plain = kind & (MATCH | CONTAINS | EQUALS) == 0;
        if plain {
            let text = self.values.resolve(pattern);
            self.tell_of(step, element, &text);
            let not = kind & NOT != 0;
            let slot = if not { &mut step.expect.not_contains } else { &mut step.expect.contains };
            if slot.is_none() {
                *slot = Some(text.text(&mut self.values));
                return;
            }
            match text.constant(&self.values) {
                Some(text) if !not && step.expect.matches.is_none() => {
                    step.expect.matches = Some(escaped(&text))
                }
                _ => self.warn(element, "left out: a further text, since a step checks one"),
            }
            return;
        }
        let Some(pattern) = self.fixed(element, pattern) else { return };
        let expression = match kind {
            kind if kind & EQUALS != 0 => format!("^{}$", escaped(&pattern)),
            kind if kind & MATCH != 0 => format!("^(?:{pattern})$"),
            // As Perl has it in one line: a dot is any character but a line break.
            _ => pattern,
        };
        self.expression(element, kind, expression, step);
    }

    /// One of several patterns must be there.
    fn one_of(&mut self, element: &'p Element, kind: i64, patterns: &[String], step: &mut Step) {
        let mut alternatives = Vec::new();
        for pattern in patterns {
            let Some(pattern) = self.fixed(element, pattern) else { return };
            let expression = kind & (MATCH | CONTAINS) != 0;
            alternatives.push(if expression { format!("(?:{pattern})") } else { escaped(&pattern) });
        }
        let any = alternatives.join("|");
        let whole = kind & (MATCH | EQUALS) != 0;
        self.expression(element, kind, if whole { format!("^(?:{any})$") } else { any }, step);
    }

    fn expression(&mut self, element: &'p Element, kind: i64, expression: String, step: &mut Step) {
        if kind & NOT != 0 {
            return self
                .warn(element, "left out: a pattern that must not match (not-contains takes plain text)");
        }
        if let Err(error) = content::BodyCheck::matches(&expression) {
            return self.warn(element, &format!("left out: {error}"));
        }
        if step.expect.matches.is_some() {
            return self.warn(element, "left out: a further pattern, since a step checks one");
        }
        step.expect.matches = Some(expression);
    }

    fn json(&mut self, element: &'p Element, step: &mut Step) {
        let Some(path) = self.fixed(element, element.text("JSON_PATH")) else { return };
        let path = path.trim();
        let Some(pointer) = pointer(path) else {
            return self.warn(
                element,
                &format!("left out: a check of {path}, which is no plain path such as $.items[0].id"),
            );
        };
        if element.is("INVERT") || element.is("ISREGEX") || !element.is("JSONVALIDATION") {
            return self
                .warn(element, &format!("left out: a check of {path} other than that it equals a value"));
        }
        let value = self.values.resolve(if element.is("EXPECT_NULL") {
            "null"
        } else {
            element.text("EXPECTED_VALUE")
        });
        self.tell_of(step, element, &value);
        let yaml = match value.constant(&self.values).as_deref() {
            Some("true" | "false" | "null") => Yaml::plain(value.constant(&self.values).unwrap_or_default()),
            Some(text) if text.parse::<i64>().is_ok_and(|n| n.to_string() == text) => Yaml::plain(text),
            _ => Yaml::text(value.text(&mut self.values).as_str()),
        };
        step.expect.json.retain(|(known, _)| *known != pointer);
        step.expect.json.push((pointer, yaml));
    }

    /// Adds what is extracted; the name is known from then on.
    fn extract(&mut self, element: &'p Element, name: &str, finder: Finder, step: &mut Step) {
        let Some(name) =
            self.fixed(element, name).map(|name| name.trim().to_owned()).filter(|n| !n.is_empty())
        else {
            return self.warn(element, "left out: it has no name for what it extracts");
        };
        let found = match finder.how {
            "regex" => content::Finder::regex(&finder.what, finder.group).map(|_| ()),
            "jsonpath" => content::Finder::json_path(&finder.what).map(|_| ()),
            _ => Ok(()),
        };
        if let Err(error) = found {
            return self.warn(element, &format!("left out: {error}"));
        }
        let spelled = self.values.extracted(&name);
        if step.extract.iter().any(|(known, _)| *known == spelled) {
            return self.warn(element, &format!("left out: another extractor of the same step gives {name}"));
        }
        step.extract.push((spelled, finder));
    }

    /// Says which match is taken where it is not the one that JMeter takes.
    fn which(&mut self, element: &'p Element, number: &str) {
        match number.trim() {
            "" | "1" => {}
            "0" => self.warn(element, "the first match is taken, not a random one"),
            "-1" => self.warn(element, "the first match is taken, not all of them"),
            n => self.warn(
                element,
                &format!("the first match is taken, not number {}", n.chars().take(20).collect::<String>()),
            ),
        }
    }

    fn default(&mut self, element: &'p Element, raw: &str, empty: &str) -> Option<String> {
        if raw.is_empty() {
            return element.is(empty).then(String::new);
        }
        self.fixed(element, raw)
    }

    fn by_regex(&mut self, element: &'p Element, step: &mut Step) {
        let Some(expression) = self.fixed(element, element.text("RegexExtractor.regex")) else { return };
        let template = element.text("RegexExtractor.template").trim();
        let group = template
            .strip_prefix('$')
            .and_then(|t| t.strip_suffix('$'))
            .and_then(|n| n.parse::<usize>().ok());
        let Some(group) = group.or(template.is_empty().then_some(1)) else {
            let template: String = template.chars().take(60).collect();
            return self.warn(
                element,
                &format!("left out: its template '{template}' is not one group, such as $1$"),
            );
        };
        let default = self.default(
            element,
            element.text("RegexExtractor.default"),
            "RegexExtractor.default_empty_value",
        );
        self.which(element, element.text("RegexExtractor.match_number"));
        let finder = match element.text("RegexExtractor.useHeaders").trim() {
            "" | "false" | "unescaped" => {
                Finder { group: Some(group), default, ..Finder::new("regex", expression) }
            }
            "true" => match header(&expression) {
                Some(name) => Finder { default, ..Finder::new("header", name) },
                None => {
                    return self.warn(
                        element,
                        "left out: a pattern in the headers that is not one header's value (Name: (.+))",
                    );
                }
            },
            other => {
                let other: String = other.chars().take(40).collect();
                return self
                    .warn(element, &format!("left out: it looks at '{other}', not at the body or a header"));
            }
        };
        self.extract(element, element.text("RegexExtractor.refname"), finder, step);
    }

    fn by_json_path(&mut self, element: &'p Element, step: &mut Step) {
        let parts = |name: &str| -> Vec<String> {
            element.text(name).split(';').map(|part| part.trim().to_owned()).collect()
        };
        let (names, paths) =
            (parts("JSONPostProcessor.referenceNames"), parts("JSONPostProcessor.jsonPathExprs"));
        let (defaults, numbers) =
            (parts("JSONPostProcessor.defaultValues"), parts("JSONPostProcessor.match_numbers"));
        for (at, (name, path)) in names.iter().zip(&paths).enumerate() {
            let Some(path) = self.fixed(element, path) else { continue };
            let default = defaults.get(at).filter(|default| !default.is_empty());
            let default = default.cloned().and_then(|default| self.fixed(element, &default));
            self.which(element, numbers.get(at).map_or("", String::as_str));
            self.extract(element, name, Finder { default, ..Finder::new("jsonpath", path) }, step);
        }
    }

    fn by_boundaries(&mut self, element: &'p Element, step: &mut Step) {
        let left = self.fixed(element, element.text("BoundaryExtractor.lboundary"));
        let right = self.fixed(element, element.text("BoundaryExtractor.rboundary"));
        let (Some(left), Some(right)) = (left, right) else { return };
        if !["", "false"].contains(&element.text("BoundaryExtractor.useHeaders").trim()) {
            return self.warn(element, "left out: it does not look at the body");
        }
        let default = self.default(
            element,
            element.text("BoundaryExtractor.default"),
            "BoundaryExtractor.default_empty_value",
        );
        self.which(element, element.text("BoundaryExtractor.match_number"));
        let end = if right.is_empty() { "$".to_owned() } else { escaped(&right) };
        let expression = format!("(?s){}(.*?){end}", escaped(&left));
        let finder = Finder { group: Some(1), default, ..Finder::new("regex", expression) };
        self.extract(element, element.text("BoundaryExtractor.refname"), finder, step);
    }
}

/// The statuses that a pattern stands for: `200`, `2xx`; several where it has alternatives.
fn status(pattern: &str, exact: bool) -> Option<Vec<String>> {
    let one = |part: &str| {
        let digits = part.len() == 3
            && part.bytes().all(|b| b.is_ascii_digit())
            && !part.starts_with(['0', '6', '7', '8', '9']);
        if digits {
            return Some(part.to_owned());
        }
        let class =
            part.strip_suffix("..").or(part.strip_suffix(r"\d\d")).or(part.strip_suffix("[0-9][0-9]"));
        let class =
            class.or(part.strip_suffix(r"\d{2}")).filter(|class| ["1", "2", "3", "4", "5"].contains(class));
        class.filter(|_| !exact).map(|class| format!("{class}xx"))
    };
    if exact {
        return one(pattern).map(|code| vec![code]);
    }
    let inner = pattern.trim_start_matches('^').trim_end_matches('$');
    let inner = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inner);
    inner.split('|').map(|part| one(part.trim_start_matches("?:"))).collect()
}

/// The name of the header that a pattern takes its value from: `Name: (.+)`.
fn header(expression: &str) -> Option<String> {
    let (name, rest) = expression.trim_start_matches('^').split_once(':')?;
    let rest = rest.trim_start_matches(r"\s*").trim().trim_end_matches('$');
    let whole = ["(.*)", "(.+)", "(.*?)", "(.+?)"].contains(&rest);
    (whole && crate::is_token(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        .then(|| name.to_owned())
}

/// The JSON pointer that says the same as a plain path.
fn pointer(path: &str) -> Option<String> {
    let mut rest = path.strip_prefix('$')?;
    let mut out = String::new();
    while !rest.is_empty() {
        let key;
        if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) = inside.split_once(']')?;
            key = index.trim().trim_matches(['\'', '"']).to_owned();
            rest = after;
        } else {
            let name = rest.strip_prefix('.')?;
            let end = name.find(['.', '[']).unwrap_or(name.len());
            key = name[..end].to_owned();
            rest = &name[end..];
        }
        if key.is_empty() || key.contains(['*', '?', '@', ':', ',', '(', '-']) {
            return None;
        }
        out.push('/');
        out.push_str(&key.replace('~', "~0").replace('/', "~1"));
    }
    (!out.is_empty() && Pointer::parse(&out).is_ok()).then_some(out)
}

/// A regular expression of that very text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_statuses() {
        let of = |pattern: &str, exact| status(pattern, exact).unwrap_or_default().join(" ");
        assert_eq!(of("200", true), "200");
        assert_eq!(of("200|302", false), "200 302");
        assert_eq!(
            (of("2..", false), of(r"^[45]\d\d$", false), of(r"^2\d\d$", false)),
            ("2xx".into(), String::new(), "2xx".into())
        );
        assert_eq!(
            (of("2..", true), of("20", false), of("999", false), of("(201|3..)", false)),
            (String::new(), String::new(), String::new(), "201 3xx".into())
        );
    }

    #[test]
    fn paths_pointers_and_headers() {
        assert_eq!(pointer("$.a.b[0]['c/d']").unwrap(), "/a/b/0/c~1d");
        for path in ["$", "$..a", "$.a[*]", "$.a[?(@.b)]", "a", "$.a[-1]", "$.a[0:2]"] {
            assert_eq!(pointer(path), None, "{path}");
        }
        assert_eq!(header("Location: (.*)").unwrap(), "Location");
        assert_eq!((header("(.*): x"), header("Set-Cookie: id=(.*);")), (None, None));
    }

    #[test]
    fn texts_match_themselves() {
        for text in [r"a.b*c(d)[e]{f}^$\|#-&~", "é <x>\n"] {
            assert!(content::BodyCheck::matches(&escaped(text)).is_ok(), "{text}");
        }
        assert_eq!(escaped("a.b"), r"a\.b");
    }
}
