//! `headway translate`: another load tool's command as one of `headway run`.

use crate::args::TranslateArgs;
use crate::exit::{FINE, Failure};
use crate::said;
use crate::{output, repeat};
use anyhow::anyhow;
use headway_convert::{quoted, tools::translate};
use std::ffi::OsString;

pub(super) fn translate(args: &TranslateArgs) -> Result<u8, Failure> {
    let made = translate::command(&args.command).map_err(|error| Failure::usage(error).hiding_foreign())?;
    let argv: Vec<OsString> = made.words.iter().map(OsString::from).collect();
    let redactor = repeat::read(&argv).redactor;
    let shown: Vec<String> = made.words.iter().map(|word| redactor.hide(word).into_owned()).collect();
    let line: Vec<String> = shown.iter().map(|word| quoted(word)).collect();
    if !args.run {
        output::print(format!("{}\n", line.join(" ")).as_bytes())?;
    }
    let hidden =
        (shown != made.words).then(|| "secrets are shown as <redacted>: --run sends them".to_owned());
    for note in made.notes.iter().chain(&hidden) {
        said::line(&redactor.clear(note));
    }
    match (args.run, made.unready) {
        (false, _) => Ok(FINE),
        (true, Some(_)) => Err(Failure::usage(anyhow!("--run: the scenario has to be written first"))),
        (true, None) => {
            said::line(&redactor.clear(&line.join(" ")));
            Ok(crate::main(argv))
        }
    }
}
