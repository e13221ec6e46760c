//! Reports in files, as typed: `--output FORMAT=FILE` and its short forms, over the registry of outputs.

use clap::Args as ClapArgs;
use headway_base::units::nearest;
use headway_report::{ALL, Material, Output, find, of_extension};
use std::path::{Path, PathBuf};

/// Reports in files.
#[derive(ClapArgs, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct ReportFiles {
    #[arg(long = "output", value_name = "FORMAT=FILE", value_parser = Wanted::parse, help = output_help(), help_heading = "Output")]
    output: Vec<Wanted>,
    /// Short for --output json=FILE
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<PathBuf>,
    /// Short for --output html=FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Short for --output junit=FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
    /// Short for --output parquet=FILE, a new file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    parquet: Option<PathBuf>,
}

impl ReportFiles {
    /// Every report that is asked for: those of the short forms, then the others as they were given.
    pub fn wanted(&self) -> Vec<Wanted> {
        let short = [
            ("--json", &self.json),
            ("--html", &self.html),
            ("--junit", &self.junit),
            ("--parquet", &self.parquet),
        ];
        let of = |(flag, path): (&'static str, &Option<PathBuf>)| {
            let output = find(&flag[2..]).expect("a short form is named as its output");
            path.clone().map(|path| Wanted { flag, output, path, appended: false })
        };
        short.into_iter().filter_map(of).chain(self.output.iter().cloned()).collect()
    }
}

/// A report that is asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The flag that asks for it.
    pub flag: &'static str,
    /// Its form.
    pub output: &'static dyn Output,
    /// Where it goes; standard output if it is `-`.
    pub path: PathBuf,
    /// Whether it is written behind what is there: the summary of a job's step.
    pub appended: bool,
}

/// The document for the page of a job of GitHub Actions, and the variable that names its file.
const GITHUB_SUMMARY: &str = "github-summary";
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

impl Wanted {
    /// Reads `FORMAT=FILE`, or a bare FILE whose ending names the format.
    ///
    /// # Errors
    /// A format that is none, or an ending that names none; with what there is.
    pub fn parse(text: &str) -> Result<Wanted, String> {
        if text == GITHUB_SUMMARY {
            return Wanted::step_summary(std::env::var_os(STEP_SUMMARY).map(PathBuf::from));
        }
        let wanted = |output, path: &str| Wanted {
            flag: "--output",
            output,
            path: PathBuf::from(path),
            appended: false,
        };
        match text.split_once('=') {
            Some((name, path)) if !name.contains('/') => match find(name) {
                Some(output) => Ok(wanted(output, path)),
                None => Err(unknown(name)),
            },
            _ => {
                let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
                let found = ending.and_then(of_extension);
                found.map(|output| wanted(output, text)).ok_or_else(|| untold(text))
            }
        }
    }

    fn step_summary(path: Option<PathBuf>) -> Result<Wanted, String> {
        let path = path.filter(|path| !path.as_os_str().is_empty()).ok_or_else(|| {
            format!("{STEP_SUMMARY} is not set, as it is in a step of GitHub Actions; elsewhere write markdown=FILE")
        })?;
        let output = find("markdown").expect("it is an output");
        Ok(Wanted { flag: "--output", output, path, appended: true })
    }

    /// Whether it goes to standard output.
    pub fn is_printed(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Whether it is made of single requests.
    pub fn is_of_requests(&self) -> bool {
        self.output.made_of() == [Material::Requests]
    }

    /// Whether it is the log in another form.
    pub fn is_of_log(&self) -> bool {
        self.output.made_of() == [Material::Log]
    }

    /// The flag and its value.
    pub fn typed(&self) -> String {
        match self.flag {
            _ if self.appended => format!("--output {GITHUB_SUMMARY}"),
            "--output" => format!("--output {}={}", self.output.name(), self.path.display()),
            short => format!("{short} {}", self.path.display()),
        }
    }
}

fn unknown(name: &str) -> String {
    let guess = nearest(name, ALL.iter().map(|output| output.name()));
    let guess = guess.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    format!("there is no format '{name}'{guess} (formats: {})", names(ALL))
}

fn untold(text: &str) -> String {
    let endings = ALL.iter().flat_map(|output| output.extensions()).map(|ending| format!(".{ending}"));
    let endings = endings.collect::<Vec<_>>().join(" ");
    let example = if text == "-" { "json=-" } else { "FORMAT=FILE" };
    format!(
        "no format is named: write {example} (formats: {}), or a file that ends in one of {endings}",
        names(ALL)
    )
}

/// The names of these outputs, with commas.
pub fn names(outputs: &[&dyn Output]) -> String {
    outputs.iter().map(|output| output.name()).collect::<Vec<_>>().join(", ")
}

fn output_help() -> String {
    let lines = ALL.iter().map(|output| format!("{}: {}", output.name(), output.about()));
    format!(
        "Write a report to a file: html=report.html, or a bare file name whose ending says which; repeatable. The file - is \
         standard output, in place of the report there. A report of Headway in the file is replaced. {GITHUB_SUMMARY}: markdown, \
         behind what is in the file that {STEP_SUMMARY} names. {}",
        lines.collect::<Vec<_>>().join("; ")
    )
}
