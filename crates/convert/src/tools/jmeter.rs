//! JMeter 5 (`jmeter -n`). Checked against the list of its manual ("Full list of command-line options").

use super::said::*;
use super::{Meaning, Row, Style, Takes, Tool};

const PROPERTY: Meaning = Meaning::Nothing(
    "leave it out: users, rate and length are flags here (-u, -R, -d), and a scenario reads ${NAME} from the environment",
);
const LOG: Meaning = Meaning::Nothing("leave it out: it is about JMeter's own log");

pub(super) static JMETER: Tool = Tool {
    name: "jmeter",
    style: Style::Getopt,
    verb: None,
    takes: Takes::Script("the test plan"),
    needs: &[],
    alike: &[],
    own: &[
        Row::new("n", "nongui", "", "no window", Meaning::Nothing("leave it out: there is no window")),
        Row::new(
            "t",
            "testfile",
            "plan.jmx",
            "the test plan",
            Meaning::Nothing(
                "headway from-jmx makes a scenario of what it holds, requests and threads (docs/scenarios.md)",
            ),
        ),
        Row::new("l", "logfile", "results.jtl", OUTPUT, NO_OUTPUT),
        Row::new("e", "reportatendofloadtests", "", OUTPUT, NO_OUTPUT),
        Row::new("o", "reportoutputfolder", "report", OUTPUT, NO_OUTPUT),
        Row::new("f", "forceDeleteResultFile", "", OUTPUT, NO_OUTPUT),
        Row::new(
            "g",
            "reportonly",
            "results.jtl",
            "a report of earlier results",
            Meaning::Cannot("headway audit FILE reports on JMeter's results"),
        ),
        Row::new("J", "jmeterproperty", "users=10", "a property of the plan", PROPERTY),
        Row::new("G", "globalproperty", "users=10", "a property of the plan", PROPERTY),
        Row::new("D", "systemproperty", "a=b", "a property of Java", PROPERTY),
        Row::new("p", "propfile", "a.properties", "a file of properties", PROPERTY),
        Row::new("q", "addprop", "a.properties", "a file of properties", PROPERTY),
        Row::new("S", "systemPropertyFile", "a.properties", "a file of properties", PROPERTY),
        Row::new("r", "runremote", "", "other machines send", NO_WORKERS),
        Row::new("R", "remotestart", "host", "other machines send", NO_WORKERS),
        Row::new("X", "remoteexit", "", "other machines end", NO_WORKERS),
        Row::new("s", "server", "", "send for another machine", NO_WORKERS),
        Row::new("E", "proxyScheme", "http", PROXY, PROXY_URL),
        Row::new("H", "proxyHost", "proxy", PROXY, PROXY_URL),
        Row::new("P", "proxyPort", "8080", PROXY, PROXY_URL),
        Row::new("N", "nonProxyHosts", "localhost", PROXY, PROXY_URL),
        Row::new("u", "username", "NAME", "the user for the proxy", PROXY_URL),
        Row::new("a", "password", "PASSWORD", "the password for the proxy", PROXY_URL),
        Row::new("L", "loglevel", "INFO", "how much it logs", LOG),
        Row::new("j", "jmeterlogfile", "jmeter.log", "its log", LOG),
        Row::new("i", "jmeterlogconf", "log4j2.xml", "how it logs", LOG),
        Row::new("d", "homedir", ".", "its folder", LOG),
        Row::new("v", "version", "", HELP, NO_HELP),
        Row::new("h", "help", "", HELP, NO_HELP),
    ],
};
