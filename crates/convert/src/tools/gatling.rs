//! Gatling 3 (`gatling.sh`). Checked against the list of options in its documentation.

use super::said::*;
use super::{Meaning, Row, Style, Takes, Tool};

const FOLDER: Meaning = Meaning::Nothing("leave it out: a scenario is one file, given by its name");

pub(super) static GATLING: Tool = Tool {
    name: "gatling",
    style: Style::Names,
    verb: None,
    takes: Takes::Script("the simulation"),
    needs: &[],
    alike: &[],
    own: &[
        Row::new(
            "s",
            "simulation",
            "shop.Browse",
            "the simulation",
            Meaning::Nothing(
                "what it holds, requests and injection, is written as a scenario (docs/scenarios.md)",
            ),
        ),
        Row::new("sf", "simulations-folder", "src", "the folder of simulations", FOLDER),
        Row::new("rsf", "resources-folder", "data", "the folder of data", FOLDER),
        Row::new("bf", "binaries-folder", "target", "the folder of compiled simulations", FOLDER),
        Row::new("rf", "results-folder", "results", OUTPUT, NO_OUTPUT),
        Row::new("nr", "no-reports", "", OUTPUT, NO_OUTPUT),
        Row::new("rd", "run-description", "text", "words for its report", NO_PRINT),
        Row::new(
            "ro",
            "reports-only",
            "folder",
            "a report of earlier results",
            Meaning::Cannot("headway audit FILE reports on Gatling's simulation.log"),
        ),
        Row::new("h", "help", "", HELP, NO_HELP),
    ],
};
