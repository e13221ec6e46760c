//! `docs/flags.md` has every flag of every verb, and commands in the documents use no other.

use crate::links::{pages, root};
use clap::{Arg, Command, CommandFactory as _};

fn verbs() -> Command {
    let mut all = headway_cli::args::Args::command();
    all.build();
    all
}

fn shown(arg: &Arg) -> String {
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.map_or(String::new(), |names| format!(" {}", names.join(" ")));
    format!("{}{value}", names.join(", "))
}

/// A help text as Markdown: what stands between angle brackets is no element of HTML, outside of code.
fn as_markdown(help: &str) -> String {
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = help.split('`').enumerate();
    let parts: Vec<String> =
        parts.map(|(i, part)| if i % 2 == 0 { part.replace('<', "\\<") } else { part.to_owned() }).collect();
    parts.join("`")
}

fn is_shown(arg: &&Arg) -> bool {
    (arg.get_long().is_some() || arg.get_short().is_some())
        && !arg.is_hide_set()
        && arg.get_id() != "help"
        && arg.get_id() != "version"
}

fn reference() -> String {
    let mut out = String::from(
        "# Flags\n\nDerived from the program by `HEADWAY_DOCS=write cargo test -p headway-cli --test docs`; do not edit. `headway VERB --help` says more of each.\n",
    );
    for verb in verbs().get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("\n## headway {}\n\n{about}\n", verb.get_name()));
        let mut rows: Vec<String> = verb
            .get_arguments()
            .filter(is_shown)
            .map(|arg| {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                format!("- `{}`: {}\n", shown(arg), as_markdown(&help))
            })
            .collect();
        rows.sort_by_key(|row| row.trim_start_matches(['-', ' ', '`']).to_lowercase());
        if !rows.is_empty() {
            out.push_str(&format!("\n{}", rows.concat()));
        }
    }
    out
}

#[test]
fn every_flag_stands_in_the_reference() {
    let path = root().join("docs/flags.md");
    let expected = reference();
    if std::env::var("HEADWAY_DOCS").is_ok_and(|v| v == "write") {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/flags.md is not up to date: HEADWAY_DOCS=write cargo test -p headway-cli --test docs"
    );
}

/// The words of a command from `headway` on, up to what ends it in a shell; none where another program takes it.
fn command(line: &str) -> Option<Vec<&str>> {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("- run: ");
    let words: Vec<&str> = line.strip_prefix("headway ")?.split_whitespace().collect();
    // What stands behind two spaces explains the command; what is translated is another tool's.
    let end = words
        .iter()
        .position(|word| ["|", "&&", ";", "&", ">", "--"].contains(word) || word.starts_with('#'));
    Some(words[..end.unwrap_or(words.len())].to_vec())
}

#[test]
fn commands_in_the_documents_have_flags_that_exist() {
    let all = verbs();
    let (mut wrong, mut n) = (Vec::new(), 0);
    for (path, text) in pages() {
        if path.starts_with("docs/decisions") || path.ends_with("CHANGELOG.md") {
            continue;
        }
        let mut code = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                code = !code;
                continue;
            }
            let Some(words) = command(line).filter(|_| code) else { continue };
            let Some(verb) = words.first().and_then(|verb| all.find_subcommand(verb)) else { continue };
            // An explanation after two spaces may name anything.
            let typed = line.trim().split("   ").next().unwrap_or_default();
            for word in words.iter().filter(|word| word.starts_with("--") && typed.contains(**word)) {
                let name =
                    word.trim_start_matches('-').split(['=', '\'', ',', ';']).next().unwrap_or_default();
                n += 1;
                let known = name == "help"
                    || verb.get_arguments().any(|arg| {
                        arg.get_long() == Some(name)
                            || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
                    });
                if !known {
                    wrong.push(format!("{}: {word} of {}: {}", path.display(), verb.get_name(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n > 150, "{n} flags");
}
