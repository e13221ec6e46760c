//! Writes a report of a made-up run, to look at one without a target.
//!
//! `sample_report PATH [SAMPLE [OUTPUT]]` writes one report (default: the clean run as HTML).
//! `sample_report --document FILE PATH OUTPUT` writes the report of the document of a run or of several simulated runs.
//! `sample_report --study PATH SAMPLE` writes the page of a sample of several simulated runs.
//! `sample_report --golden FOLDER` writes what the terminal shows of every sample, and some in Markdown, as the snapshot tests compare it.

#[path = "../tests/samples/mod.rs"]
mod samples;
#[path = "../tests/samples/sentences.rs"]
mod sentences;
#[path = "../tests/samples/studies.rs"]
mod studies;

use headway_report::words::findings::sentence;
use headway_report::{Document, Style};
use std::path::Path;

/// Samples of which the document in Markdown is compared too.
const RUNS_IN_MARKDOWN: [&str; 7] =
    ["clean", "saturated", "hostile", "thresholds", "refused", "failed", "audit_bunched"];
const STUDIES_IN_MARKDOWN: [&str; 2] = ["study_sweep", "study_models_demands"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let style = Style { folder: Some("headway-runs/sample".into()), ..Style::default() };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--golden", folder] => {
            for (name, make) in samples::ALL {
                let (document, at) =
                    (make(), |ending: &str| Path::new(folder).join(format!("{name}.{ending}")));
                write(&at("screen.txt"), "terminal", Document::Summary(&document), &style)?;
                let details = Style { details: true, ..style.clone() };
                write(&at("txt"), "terminal", Document::Summary(&document), &details)?;
            }
            for name in RUNS_IN_MARKDOWN {
                let path = Path::new(folder).join(format!("{name}.md"));
                write(&path, "markdown", Document::Summary(&find(name)?), &style)?;
            }
            for (name, make) in studies::STUDIES {
                let document = make();
                write(
                    &Path::new(folder).join(format!("{name}.txt")),
                    "terminal",
                    Document::Study(&document),
                    &style,
                )?;
                if STUDIES_IN_MARKDOWN.contains(name) {
                    write(
                        &Path::new(folder).join(format!("{name}.md")),
                        "markdown",
                        Document::Study(&document),
                        &style,
                    )?;
                }
            }
            keep(&Path::new(folder).join("sentences.txt"), all_sentences().into_bytes())
        }
        ["--study", path, sample] => {
            let known = studies::STUDIES.iter().find(|(name, _)| *name == sample);
            let (_, make) = known.ok_or_else(|| format!("no study '{sample}'"))?;
            write(Path::new(path), "html", Document::Study(&make()), &style)
        }
        ["--document", file, path, output] => {
            let document = read(Path::new(file))?;
            if let Ok(study) = headway_report::study::parse(&document) {
                return write(Path::new(path), output, Document::Study(&study), &style);
            }
            let summary = headway_report::parse(&document)?;
            write(Path::new(path), output, Document::Summary(&summary), &style)
        }
        [path] => write(Path::new(path), "html", Document::Summary(&samples::clean()), &style),
        [path, sample] => write(Path::new(path), "html", Document::Summary(&find(sample)?), &style),
        [path, sample, output] => write(Path::new(path), output, Document::Summary(&find(sample)?), &style),
        _ => Err("usage: sample_report PATH [SAMPLE [OUTPUT]] | --document FILE PATH OUTPUT | \
                 --study PATH SAMPLE | --golden FOLDER"
            .into()),
    }
}

/// A line for each sentence of each finding, and of the remarks.
fn all_sentences() -> String {
    let all = sentences::all().into_iter();
    all.flat_map(|(id, samples)| samples.into_iter().map(move |of| format!("{id}: {}\n", sentence(&of))))
        .collect()
}

fn find(name: &str) -> Result<headway_stats::Summary, String> {
    let known: Vec<&str> = samples::ALL.iter().map(|(name, _)| *name).collect();
    let sample = samples::ALL.iter().find(|(known, _)| *known == name);
    sample
        .map(|(_, make)| make())
        .ok_or_else(|| format!("no sample '{name}'; there are {}", known.join(", ")))
}

#[expect(clippy::disallowed_methods, reason = "the caller reads the document, and the example is the caller")]
fn read(path: &Path) -> Result<Vec<u8>, std::io::Error> {
    std::fs::read(path)
}

fn write(
    path: &Path,
    output: &str,
    document: Document<'_>,
    style: &Style,
) -> Result<(), Box<dyn std::error::Error>> {
    let output = headway_report::find(output).ok_or_else(|| format!("no output '{output}'"))?;
    let bytes =
        output.render(document, style).ok_or_else(|| format!("{} is not made of that", output.name()))?;
    keep(path, bytes)
}

#[expect(clippy::disallowed_methods, reason = "the caller writes the bytes, and the example is the caller")]
fn keep(path: &Path, bytes: Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    Ok(std::fs::write(path, bytes)?)
}
