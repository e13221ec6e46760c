//! Which properties of elements are read, and which are passed over since they change nothing that is sent or judged. Any other that is
//! set is reported, so that none is lost in silence.

use super::xml::Element;
use super::{Conversion, checks, is_http, load};

/// What the conversion looks at, or tells of itself. Their prefix is that of their element.
const READ: &[&str] = &[
    "Arguments.arguments",
    "TestPlan.serialize_threadgroups",
    "TestPlan.user_defined_variables",
    "ThreadGroup.delay",
    "ThreadGroup.duration",
    "ThreadGroup.main_controller",
    "ThreadGroup.num_threads",
    "ThreadGroup.on_sample_error",
    "ThreadGroup.ramp_time",
    "ThreadGroup.scheduler",
    "OpenModelThreadGroup.schedule",
    "Threads initial delay",
    "Start users count",
    "Start users count burst",
    "Start users period",
    "Stop users count",
    "Stop users period",
    "flighttime",
    "rampUp",
    "HTTPSampler.DO_MULTIPART_POST",
    "HTTPSampler.FILE_FIELD",
    "HTTPSampler.FILE_NAME",
    "HTTPSampler.auto_redirects",
    "HTTPSampler.connect_timeout",
    "HTTPSampler.domain",
    "HTTPSampler.follow_redirects",
    "HTTPSampler.image_parser",
    "HTTPSampler.method",
    "HTTPSampler.mimetype",
    "HTTPSampler.path",
    "HTTPSampler.port",
    "HTTPSampler.postBodyRaw",
    "HTTPSampler.protocol",
    "HTTPSampler.proxyHost",
    "HTTPSampler.response_timeout",
    "HTTPSampler.use_keepalive",
    "HTTPsampler.Arguments",
    "HTTPsampler.Files",
    "HeaderManager.headers",
    "CookieManager.cookies",
    "ConstantTimer.delay",
    "RandomTimer.range",
    "calcMode",
    "throughput",
    "throughputPeriod",
    "duration",
    "filename",
    "variableNames",
    "ignoreFirstLine",
    "delimiter",
    "recycle",
    "stopThread",
    "shareMode",
    "Scope.variable",
    "Sample.scope",
    "DurationAssertion.duration",
    "JSON_PATH",
    "EXPECTED_VALUE",
    "JSONVALIDATION",
    "EXPECT_NULL",
    "INVERT",
    "ISREGEX",
    "JSONPostProcessor.defaultValues",
    "JSONPostProcessor.jsonPathExprs",
    "JSONPostProcessor.match_numbers",
    "JSONPostProcessor.referenceNames",
];

/// All properties with these beginnings are read.
const READ_ALL: &[&str] = &["Assertion.", "Asserion.", "RegexExtractor.", "BoundaryExtractor."];

/// What is for people, about the engine of JMeter, or without meaning alone where another is reported.
const PASSED: &[&str] = &[
    "TestPlan.comments",
    "TestPlan.functional_mode",
    "TestPlan.tearDown_on_shutdown",
    "TestPlan.user_define_classpath",
    "ThreadGroup.delayedStart",
    "ThreadGroup.same_user_on_next_iteration",
    "ThreadGroup.start_time",
    "ThreadGroup.end_time",
    "OpenModelThreadGroup.random_seed",
    "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART",
    "HTTPSampler.concurrentDwn",
    "HTTPSampler.concurrentPool",
    "HTTPSampler.embedded_url_exclude_re",
    "HTTPSampler.embedded_url_re",
    "HTTPSampler.implementation",
    "HTTPSampler.ipSourceType",
    "HTTPSampler.md5",
    "HTTPSampler.monitor",
    "HTTPSampler.proxyPass",
    "HTTPSampler.proxyPort",
    "HTTPSampler.proxyScheme",
    "HTTPSampler.proxyUser",
    "CookieManager.clearEachIteration",
    "CookieManager.controlledByThreadGroup",
    "CookieManager.implementation",
    "CookieManager.policy",
    "allowedThroughputSurplus",
    "exactLimit",
    "randomSeed",
    "quotedData",
];

/// Values that a property has where its author set none, or that a scenario keeps to anyway.
const DEFAULTS: &[(&str, &[&str])] = &[
    ("batchSize", &["1"]),
    ("batchThreadDelay", &["0"]),
    ("HTTPSampler.contentEncoding", &["UTF-8", "utf-8", "UTF8", "utf8"]),
    ("fileEncoding", &["UTF-8", "utf-8", "UTF8", "utf8", "US-ASCII"]),
];

/// Whether the elements of that kind are carried over, so that a property of theirs could be lost.
fn is_carried_over(element: &Element) -> bool {
    const KINDS: &[&str] = &[
        "TestPlan",
        "ThreadGroup",
        "SetupThreadGroup",
        "PostThreadGroup",
        "HeaderManager",
        "CookieManager",
        "CSVDataSet",
        "ConstantThroughputTimer",
        "PreciseThroughputTimer",
    ];
    let kind = element.kind.as_str();
    KINDS.contains(&kind)
        || is_http(kind)
        || load::is_timer(kind)
        || checks::KNOWN.contains(&kind)
        || ["OpenModelThreadGroup", "SteppingThreadGroup"].iter().any(|known| kind.ends_with(known))
        || kind == "ConfigTestElement" && element.gui.ends_with("HttpDefaultsGui")
}

/// Whether a property that is set so can be passed over.
fn is_known(name: &str, value: &str) -> bool {
    let defaults = DEFAULTS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, values)| values);
    READ.contains(&name)
        || PASSED.contains(&name)
        || READ_ALL.iter().any(|prefix| name.starts_with(prefix))
        || name.starts_with("TestElement.")
        || ["", "false"].contains(&value)
        || defaults.contains(&value)
}

impl Conversion<'_, '_> {
    /// Lists the properties of an element that is carried over without them.
    pub(super) fn tell_unread(&mut self, element: &Element) {
        if !is_carried_over(element) {
            return;
        }
        for property in element.properties() {
            let (name, value) = (property.name(), property.own().trim());
            let empty = value.is_empty() && !property.members.is_empty();
            if !empty && is_known(name, value) || empty && is_known(name, "set") {
                continue;
            }
            let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            self.warn(element, &format!("left out: its property {name}, which is not known here"));
        }
    }
}
