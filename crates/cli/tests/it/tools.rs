//! Options of other tools: what `translate` makes of each is a command line that `run` takes.

use anyhow::Result;
use clap::Parser as _;
use headway_cli::args::{Args, Command};
use headway_cli::repeat::Typed;
use headway_cli::settings::RunSettings;
use headway_convert::tools::{ALL, Meaning, Row, Takes, Tool, translate};

/// A command of a tool with that option.
fn example(tool: &Tool, row: &Row) -> Vec<String> {
    let mut line = vec![tool.name.to_owned()];
    line.extend(tool.verb.iter().chain(tool.needs).map(|word| (*word).to_owned()));
    line.push(tool.typed(row));
    line.extend(Some(row.example.to_owned()).filter(|example| !example.is_empty()));
    match tool.takes {
        Takes::Url if row.long != "url" => line.push("http://127.0.0.1:9/".to_owned()),
        Takes::Targets => {
            let line: Vec<String> = line.iter().map(|word| headway_convert::quoted(word)).collect();
            return vec![format!("echo 'GET http://127.0.0.1:9/' | {}", line.join(" "))];
        }
        Takes::Url | Takes::Script(_) => {}
    }
    line
}

fn run(words: &[String]) -> Result<Box<headway_cli::args::RunArgs>> {
    match Args::try_parse_from(words)?.command {
        Command::Run(args) => Ok(args),
        other => anyhow::bail!("{other:?}"),
    }
}

#[test]
fn every_option_with_an_equivalent_makes_a_command_that_runs() {
    let (mut parsed, mut resolved) = (0, 0);
    for tool in ALL {
        for row in tool.rows().filter(|row| !matches!(row.here(), Meaning::Cannot(_))) {
            let made = translate::command(&example(tool, row)).unwrap();
            let args = run(&made.words).unwrap_or_else(|error| panic!("{}: {error}", made.line()));
            parsed += 1;
            // What names a file, or standard input, has none here.
            let reads =
                args.body_file.is_some() || args.body.as_deref() == Some("-") || !args.target.contains("://");
            let reads = reads || args.cacert.is_some() || args.cert.is_some() || args.key.is_some();
            // And what names another host is of no use to this target.
            let elsewhere = !args.resolve.is_empty() || !args.connect_to.is_empty();
            if !reads && !elsewhere {
                let settings =
                    RunSettings::resolve(&args, &Typed { words: made.words.clone(), ..Typed::default() });
                settings.unwrap_or_else(|error| panic!("{}: {error:#}", made.line()));
                resolved += 1;
            }
        }
    }
    assert!(parsed > 250 && resolved > 120, "{parsed} {resolved}");
}
