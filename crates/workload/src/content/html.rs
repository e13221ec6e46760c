//! What a page of HTML holds in attributes and fields of forms, and references to characters read as browsers do.
//!
//! Deliberately absent: a tree of elements. Tags are read one after the other, comments and scripts passed over.

use std::borrow::Cow;

/// An attribute of the first element that fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Selector {
    /// As written.
    pub written: String,
    tag: String,
    condition: Option<(String, String)>,
    attribute: String,
}

impl Selector {
    /// Reads `form action` or `meta[name=csrf-token] content`.
    pub fn parse(text: &str) -> Option<Selector> {
        let (element, attribute) = text.trim().rsplit_once(char::is_whitespace)?;
        let element = element.trim();
        let (tag, condition) = match element.split_once('[') {
            None => (element, None),
            Some((tag, rest)) => {
                let (name, value) = rest.strip_suffix(']')?.split_once('=')?;
                let value = value.trim().trim_matches(['"', '\'']);
                (tag, Some((name.trim().to_ascii_lowercase(), value.to_owned())))
            }
        };
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
        };
        let named = condition.as_ref().is_none_or(|(name, _)| is_name(name));
        (is_name(tag) && is_name(attribute) && named).then(|| Selector {
            written: text.trim().to_owned(),
            tag: tag.to_ascii_lowercase(),
            condition,
            attribute: attribute.to_ascii_lowercase(),
        })
    }

    /// The value of the attribute in a page.
    pub fn find(&self, page: &str) -> Option<String> {
        let fits = |tag: &Tag<'_>| {
            let holds = |(name, value): &(String, String)| tag.get(name).is_some_and(|found| found == *value);
            tag.name == self.tag && self.condition.as_ref().is_none_or(holds)
        };
        Tags(page, 0).filter(fits).find_map(|tag| tag.get(&self.attribute)).map(Cow::into_owned)
    }
}

/// What a browser would send of the field of that name: its value, the text of a text area, the option that is chosen. Of boxes and
/// buttons that exclude each other the one that is checked.
pub(super) fn field(page: &str, name: &str) -> Option<String> {
    for tag in Tags(page, 0) {
        if tag.get("name").is_none_or(|found| found != name) {
            continue;
        }
        let inner = |end: &str| {
            let rest = &page[tag.end..];
            &rest[..find(rest, end).unwrap_or(rest.len())]
        };
        match tag.name.as_str() {
            "input" | "button" => {
                let kind = tag.get("type").unwrap_or_default().to_ascii_lowercase();
                if ["radio", "checkbox"].contains(&kind.as_str()) && tag.get("checked").is_none() {
                    continue;
                }
                let checked = if kind == "checkbox" { "on" } else { "" };
                return Some(tag.get("value").map_or_else(|| checked.to_owned(), Cow::into_owned));
            }
            "textarea" => {
                // A line break right behind the tag is no part of it.
                let text = inner("</textarea");
                let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
                return Some(decoded(text).into_owned());
            }
            "select" => {
                let inner = inner("</select");
                let options: Vec<Tag<'_>> = Tags(inner, 0).filter(|tag| tag.name == "option").collect();
                let chosen = options.iter().find(|tag| tag.get("selected").is_some()).or(options.first())?;
                return Some(chosen.get("value").map_or_else(
                    || {
                        let rest = &inner[chosen.end..];
                        decoded(rest[..rest.find('<').unwrap_or(rest.len())].trim()).into_owned()
                    },
                    Cow::into_owned,
                ));
            }
            _ => {}
        }
    }
    None
}

/// The beginning of an element.
struct Tag<'p> {
    /// In small letters.
    name: String,
    attributes: Vec<(String, &'p str)>,
    /// The byte behind it.
    end: usize,
}

impl<'p> Tag<'p> {
    fn get(&self, name: &str) -> Option<Cow<'p, str>> {
        self.attributes.iter().find(|(known, _)| known == name).map(|&(_, value)| decoded(value))
    }
}

/// The tags of a page that begin elements, from a byte on.
struct Tags<'p>(&'p str, usize);

impl<'p> Iterator for Tags<'p> {
    type Item = Tag<'p>;

    fn next(&mut self) -> Option<Tag<'p>> {
        let page = self.0;
        loop {
            let open = self.1 + page[self.1..].find('<')?;
            let rest = &page[open + 1..];
            if rest.starts_with("!--") {
                self.1 = open + find(&page[open..], "-->")? + 3;
                continue;
            }
            self.1 = open + 1;
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
            let length = rest.find(ends)?;
            let name = rest[..length].to_ascii_lowercase();
            let (attributes, end) = attributes(page, open + 1 + length)?;
            // What these hold is no HTML.
            self.1 = match name.as_str() {
                "script" | "style" => {
                    end + find(&page[end..], &format!("</{name}")).unwrap_or(page.len() - end)
                }
                _ => end,
            };
            return Some(Tag { name, attributes, end });
        }
    }
}

/// The attributes from a byte of a page to the end of their tag, and the byte behind that; none if it has no end.
fn attributes(page: &str, mut at: usize) -> Option<(Vec<(String, &str)>, usize)> {
    let mut all = Vec::new();
    loop {
        let rest = page[at..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        at = page.len() - rest.len();
        if rest.starts_with('>') {
            return Some((all, at + 1));
        }
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
        // An equals sign that stands first is part of the name.
        let skip = rest.chars().next()?.len_utf8();
        let length = skip + rest[skip..].find(ends)?;
        let name = rest[..length].to_ascii_lowercase();
        let behind = rest[length..].trim_start_matches(|c: char| c.is_ascii_whitespace());
        let Some(value) = behind.strip_prefix('=') else {
            all.push((name, ""));
            at += length;
            continue;
        };
        let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?,
            _ => value.split_at(value.find(|c: char| c.is_ascii_whitespace() || c == '>')?),
        };
        at = page.len() - after.len();
        all.push((name, value));
    }
}

/// Where a text that is written in small letters stands in a page, in any letters.
fn find(page: &str, small: &str) -> Option<usize> {
    let (page, small) = (page.as_bytes(), small.as_bytes());
    page.windows(small.len()).position(|window| window.eq_ignore_ascii_case(small))
}

/// Names of characters that stand in URLs, identifiers and tokens (HTML standard, 13.5); others stay as they are written.
const NAMED: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", "\u{a0}"),
    ("Tab", "\t"),
    ("NewLine", "\n"),
    ("excl", "!"),
    ("num", "#"),
    ("dollar", "$"),
    ("percnt", "%"),
    ("lpar", "("),
    ("rpar", ")"),
    ("ast", "*"),
    ("plus", "+"),
    ("comma", ","),
    ("period", "."),
    ("sol", "/"),
    ("colon", ":"),
    ("semi", ";"),
    ("equals", "="),
    ("quest", "?"),
    ("commat", "@"),
    ("lsqb", "["),
    ("lbrack", "["),
    ("bsol", "\\"),
    ("rsqb", "]"),
    ("rbrack", "]"),
    ("Hat", "^"),
    ("lowbar", "_"),
    ("grave", "`"),
    ("lcub", "{"),
    ("lbrace", "{"),
    ("vert", "|"),
    ("rcub", "}"),
    ("rbrace", "}"),
    ("hyphen", "\u{2010}"),
    ("dash", "\u{2010}"),
];

/// A text with its references to characters read.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end =
            rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '#').map_or(rest.len(), |i| i + 1);
        let name = &rest[1..end];
        let closed = rest[end..].starts_with(';');
        let read = match name.strip_prefix('#') {
            Some(number) => {
                let code = match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok(),
                    None => number.parse().ok(),
                };
                code.and_then(char::from_u32).filter(|c| *c != '\0').map(String::from)
            }
            // Within a URL &copy=1 is a parameter: a name has its semicolon.
            None if closed => {
                NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
            }
            None => None,
        };
        match read {
            Some(text) => {
                out.push_str(&text);
                rest = &rest[end + usize::from(closed)..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    Cow::Owned(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: &str = r#"<!DOCTYPE html><html><!-- <form action="/no"> --><meta charset=utf-8><META NAME="csrf-token" content='a&#x2F;b&amp;c'>
        <script>var x = '<form action="/neither">'</script>
        <form class="f g" id=login method=post ACTION="/auth?code=c1&amp;step=2">
        <input type=hidden name=csrf value=t0k/en><input name="empty"><input type=radio name=r value=1><input type=radio name=r value=2 checked>
        <input type=checkbox name=c checked><textarea name=t>
a &lt;b&gt;</textarea><select name=s><option>one<option value=2 selected>two</select><select name=u><option>first &amp; only</option></select></form>"#;

    #[test]
    fn attributes_are_found_by_element_and_condition() {
        let find = |text: &str| Selector::parse(text).unwrap().find(PAGE);
        assert_eq!(find("form action").as_deref(), Some("/auth?code=c1&step=2"));
        assert_eq!(find("meta[name=csrf-token] content").as_deref(), Some("a/b&c"));
        assert_eq!(find("FORM[id='login'] Method").as_deref(), Some("post"));
        assert_eq!(find("form[id=other] action"), None);
        assert_eq!(find("form nothing"), None);
        for bad in ["action", "", "form[id] action", "fo<rm action", "form[id=x action"] {
            assert_eq!(Selector::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn fields_have_what_a_browser_would_send() {
        for (name, value) in [
            ("csrf", Some("t0k/en")),
            ("empty", Some("")),
            ("r", Some("2")),
            ("c", Some("on")),
            ("t", Some("a <b>")),
            ("s", Some("2")),
            ("u", Some("first & only")),
            ("none", None),
        ] {
            assert_eq!(field(PAGE, name).as_deref(), value, "{name}");
        }
    }

    #[test]
    fn references_are_read_and_others_stay() {
        assert_eq!(decoded("a&amp;b&#61;c&#x3d;d&quot;&sol;"), "a&b=c=d\"/");
        assert_eq!(decoded("?a=1&copy=2&amp=3&nosuch;&#xzz;&#0;&"), "?a=1&copy=2&amp=3&nosuch;&#xzz;&#0;&");
    }

    proptest! {
        #[test]
        fn any_page_is_read(page in "(<[a-z!/-]{0,4}|[ =\"'>&;#é]|name|option|</select|-->){0,30}") {
            let _ = (field(&page, "a"), Selector::parse("a b").unwrap().find(&page), decoded(&page));
        }
    }
}
