//! A test plan as a tree of elements with their properties and lines.
//!
//! JMeter writes an element and then a `hashTree` with the elements below it. Deliberately absent: document types and the entities
//! that they define, which JMeter never writes; a file that has one is refused before anything of it is expanded.

use anyhow::{Result, anyhow, bail};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Most elements of XML in a plan.
const MOST_ELEMENTS: usize = 1_000_000;
/// Deepest nesting of elements of XML.
const DEEPEST: usize = 200;

/// An element of a plan: a group, a controller, a sampler, a timer, ...
#[derive(Debug)]
pub(super) struct Element {
    /// What it is, as JMeter names it: `HTTPSamplerProxy`.
    pub kind: String,
    /// The class of its panel, which tells apart kinds of `ConfigTestElement`.
    pub gui: String,
    /// The name that its author gave it.
    pub name: String,
    /// Whether JMeter would run it.
    pub enabled: bool,
    pub line: u64,
    properties: Vec<Property>,
    /// The elements below it, in order.
    pub below: Vec<Element>,
}

/// A property of an element.
#[derive(Debug)]
pub(super) struct Property {
    name: String,
    text: String,
    /// The members of a collection or of an element.
    pub members: Vec<Property>,
}

impl Property {
    /// The text of a member; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        find(&self.members, name).map_or("", |member| &member.text)
    }

    /// Whether a member is `true`.
    pub fn is(&self, name: &str) -> bool {
        self.text(name).trim() == "true"
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its own text.
    pub fn own(&self) -> &str {
        &self.text
    }
}

impl Element {
    /// The text of a property; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        find(&self.properties, name).map_or("", |property| &property.text)
    }

    /// Whether a property is `true`.
    pub fn is(&self, name: &str) -> bool {
        self.text(name).trim() == "true"
    }

    /// All of them.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// A property.
    pub fn property(&self, name: &str) -> Option<&Property> {
        find(&self.properties, name)
    }

    /// The members of a collection.
    pub fn list(&self, name: &str) -> &[Property] {
        self.property(name).map_or(&[], |property| &property.members)
    }

    /// The members of a collection within a property.
    pub fn inner_list(&self, name: &str, inner: &str) -> &[Property] {
        find(self.list(name), inner).map_or(&[], |property| &property.members)
    }

    /// Itself and what is below it, as far as it is enabled.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e Element)) {
        if self.enabled {
            visit(self);
            self.below.iter().for_each(|element| element.each(visit));
        }
    }
}

fn find<'p>(properties: &'p [Property], name: &str) -> Option<&'p Property> {
    properties.iter().find(|property| property.name == name)
}

/// The elements at the top of a plan.
///
/// # Errors
/// What is no test plan, with its line: other XML, a document type, what nests too deep or holds too much.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Element>> {
    let root = parse(file, text)?;
    if root.tag == "testResults" {
        bail!(
            "{file}:{}: these are results of JMeter, which headway audit reads; name a test plan (.jmx)",
            root.line
        );
    }
    if root.tag != "jmeterTestPlan" {
        bail!(
            "{file}:{}: the first element is {}, and that of a test plan of JMeter (.jmx) is jmeterTestPlan",
            root.line,
            root.tag
        );
    }
    match root.children.into_iter().find(|node| node.tag == "hashTree") {
        Some(tree) => Ok(elements(tree.children)),
        None => bail!("{file}:{}: the test plan has no hashTree: nothing is in it", root.line),
    }
}

/// The elements of a `hashTree`.
fn elements(nodes: Vec<Node>) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    for node in nodes {
        if node.tag == "hashTree" {
            if let Some(last) = elements.last_mut() {
                last.below.extend(self::elements(node.children));
            }
            continue;
        }
        elements.push(Element {
            gui: node.attribute("guiclass").to_owned(),
            name: node.attribute("testname").to_owned(),
            enabled: node.attribute("enabled") != "false",
            line: node.line,
            properties: node.children.into_iter().filter_map(property).collect(),
            kind: node.tag,
            below: Vec::new(),
        });
    }
    elements
}

/// A property. Numbers of some kinds have name and value as elements.
fn property(node: Node) -> Option<Property> {
    // Numbers with a point are `FloatProperty`, all else is `stringProp` and the like.
    let is_one = node.tag.ends_with("Prop") || node.tag.ends_with("Property");
    if !is_one || node.attribute("enabled") == "false" {
        return None;
    }
    let inner = |tag: &str| node.children.iter().find(|child| child.tag == tag).map(|child| &child.text);
    let name = match node.attribute("name") {
        "" => inner("name").cloned().unwrap_or_default(),
        name => name.to_owned(),
    };
    let text = inner("value").unwrap_or(&node.text).clone();
    Some(Property { name, text, members: node.children.into_iter().filter_map(property).collect() })
}

/// An element of XML.
#[derive(Default)]
struct Node {
    tag: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Node>,
    line: u64,
}

impl Node {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// Counts lines as the reader goes on.
struct Lines<'t> {
    text: &'t str,
    counted: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of a byte that lies not before the last one.
    fn at(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        if byte > self.counted {
            let passed = &self.text.as_bytes()[self.counted..byte];
            self.line += passed.iter().filter(|&&b| b == b'\n').count() as u64;
            self.counted = byte;
        }
        self.line
    }
}

fn parse(file: &str, text: &str) -> Result<Node> {
    const WANTED: &str = "name a test plan of JMeter (.jmx)";
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut xml = Reader::from_str(text);
    let mut lines = Lines { text, counted: 0, line: 1 };
    let mut open: Vec<Node> = Vec::new();
    let mut read = 0;
    loop {
        let line = lines.at(xml.buffer_position());
        let event = xml.read_event().map_err(|error| {
            let line = lines.at(xml.error_position().max(xml.buffer_position()));
            anyhow!("{file}:{line}: this is no XML: {error}; {WANTED}")
        })?;
        let mut done = None;
        match event {
            Event::Start(tag) => {
                open.push(started(&tag, line).map_err(|why| anyhow!("{file}:{line}: {why}; {WANTED}"))?);
            }
            Event::Empty(tag) => {
                done = Some(started(&tag, line).map_err(|why| anyhow!("{file}:{line}: {why}; {WANTED}"))?);
            }
            Event::End(_) => done = open.pop(),
            Event::Text(part) => append(&mut open, &part.xml10_content()),
            Event::CData(part) => append(&mut open, &part.xml10_content()),
            Event::GeneralRef(reference) => match resolved(&reference) {
                Some(c) => append(&mut open, c.encode_utf8(&mut [0; 4])),
                None => bail!(
                    "{file}:{line}: the entity &{}; is not one of XML's own, and a test plan has no others",
                    reference.xml10_content().chars().take(40).collect::<String>()
                ),
            },
            Event::DocType(_) => bail!(
                "{file}:{line}: a document type (<!DOCTYPE) is not read: JMeter writes none, and its entities could be anything; {WANTED}"
            ),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => match open.last() {
                Some(node) => bail!(
                    "{file}:{line}: the file ends within {}, which begins on line {}: it is cut off",
                    node.tag,
                    node.line
                ),
                None => bail!("{file}:{line}: there is no element of XML: {WANTED}"),
            },
        }
        read += usize::from(done.is_some());
        if open.len() > DEEPEST || read > MOST_ELEMENTS {
            bail!(
                "{file}:{line}: a test plan that is read nests at most {DEEPEST} deep and has at most {MOST_ELEMENTS} elements of XML, and this one goes beyond that"
            );
        }
        if let Some(node) = done {
            match open.last_mut() {
                Some(around) => around.children.push(node),
                None => return Ok(node),
            }
        }
    }
}

fn append(open: &mut [Node], text: &str) {
    if let Some(node) = open.last_mut() {
        node.text.push_str(text);
    }
}

/// The character that a reference stands for; none for those of document types.
fn resolved(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    match reference.resolve_char_ref() {
        Ok(Some(c)) => Some(c),
        Err(_) => None,
        Ok(None) => match reference.xml10_content().as_ref() {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => None,
        },
    }
}

fn started(tag: &BytesStart<'_>, line: u64) -> Result<Node, String> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| format!("this is no XML: {e}"))?;
        let key = attribute.key.as_ref().to_owned();
        if ["guiclass", "testname", "enabled", "name"].contains(&key.as_str()) {
            let value = quick_xml::escape::unescape(&attribute.value)
                .map_err(|e| format!("the attribute {key} cannot be read: {e}"))?;
            attributes.push((key, value.into_owned()));
        }
    }
    Ok(Node { tag: tag.name().as_ref().to_owned(), attributes, line, ..Node::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read("p.jmx", text).unwrap_err().to_string()
    }

    #[test]
    fn elements_have_their_lines_properties_and_what_is_below() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2">
  <hashTree>
    <A guiclass="G" testname="a &lt;1&gt;" enabled="true">
      <stringProp name="x">1 &amp; 2&#x41;<![CDATA[<3>]]></stringProp>
      <doubleProp><name>y</name><value>1.5</value><savedValue>0.0</savedValue></doubleProp>
      <elementProp name="Args" elementType="Arguments">
        <collectionProp name="Arguments.arguments">
          <elementProp name="q" elementType="HTTPArgument"><boolProp name="e">true</boolProp></elementProp>
        </collectionProp>
      </elementProp>
    </A>
    <hashTree>
      <B testname="b" enabled="false"/>
      <hashTree/>
    </hashTree>
  </hashTree>
</jmeterTestPlan>"#;
        let elements = read("p.jmx", text).unwrap();
        let [a] = elements.as_slice() else { panic!("{elements:?}") };
        assert_eq!((a.kind.as_str(), a.name.as_str(), a.gui.as_str(), a.line), ("A", "a <1>", "G", 4));
        assert_eq!((a.text("x"), a.text("y"), a.text("z")), ("1 & 2A<3>", "1.5", ""));
        assert!(a.inner_list("Args", "Arguments.arguments")[0].is("e"));
        let [b] = a.below.as_slice() else { panic!("{a:?}") };
        assert_eq!((b.name.as_str(), b.enabled, b.line), ("b", false, 14));
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_line() {
        for (text, says) in [
            ("", "p.jmx:1: there is no element of XML"),
            ("hello", "p.jmx:1: there is no element of XML"),
            ("<html>\n</html>", "p.jmx:1: the first element is html"),
            (
                "\n<testResults version=\"1.2\"/>",
                "p.jmx:2: these are results of JMeter, which headway audit reads",
            ),
            ("<jmeterTestPlan/>", "p.jmx:1: the test plan has no hashTree"),
            (
                "<jmeterTestPlan>\n<hashTree>\n",
                "p.jmx:3: the file ends within hashTree, which begins on line 2",
            ),
            ("<jmeterTestPlan>\n<a></b></jmeterTestPlan>", "p.jmx:2: this is no XML"),
            ("<jmeterTestPlan>\n&lol;</jmeterTestPlan>", "p.jmx:2: the entity &lol; is not one"),
            (
                "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>\n<jmeterTestPlan>&b;</jmeterTestPlan>",
                "p.jmx:1: a document type (<!DOCTYPE) is not read",
            ),
        ] {
            let error = refused(text);
            assert!(error.starts_with(says), "{text}: {error}");
        }
        let deep = format!("<jmeterTestPlan>{}", "<a>".repeat(100_000));
        assert!(refused(&deep).contains("nests at most 200 deep"), "{}", refused(&deep));
        let many = format!("<jmeterTestPlan>{}</jmeterTestPlan>", "<a/>".repeat(MOST_ELEMENTS + 1));
        assert!(refused(&many).contains("at most 1000000 elements"), "{}", refused(&many));
    }
}
