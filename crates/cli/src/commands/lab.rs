//! `headway lab`: published experiments, repeated.

use crate::args::LabArgs;
use crate::exit::{FINE, Failure};
use crate::labs::{self, Figure, Report, Row};
use crate::output;
use crate::settings::must_be_new;
use anyhow::anyhow;
use base::units::nearest;
use std::path::Path;

/// Columns of the narrowest terminal in common use.
const WIDTH: usize = 80;
/// Columns of a bar's label, and of its two numbers.
const LABEL: usize = 12;
const NUMBER: usize = 8;

/// More would only take time.
const MOST_REPLICATIONS: u64 = 10_000_000;

pub(super) fn lab(args: &LabArgs) -> Result<u8, Failure> {
    let Some(name) = &args.name else {
        output::print(list().as_bytes())?;
        return Ok(FINE);
    };
    let Some(lab) = labs::find(name) else {
        let guess = nearest(name, labs::ALL.iter().map(|lab| lab.name()));
        let guess = guess.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(Failure::usage(anyhow!("there is no lab '{name}'{guess}\n{}", list())));
    };
    if !(1..=MOST_REPLICATIONS).contains(&args.replications) {
        return Err(Failure::usage(anyhow!(
            "--replications {}: write a number from 1 to {MOST_REPLICATIONS}",
            args.replications
        )));
    }
    must_be_new("--json", args.json.as_ref()).map_err(Failure::usage)?;
    let report = lab.run(args.seed, args.replications);
    if let Some(path) = &args.json {
        let mut json = serde_json::to_vec_pretty(&report)?;
        json.push(b'\n');
        if path.as_path() == Path::new("-") {
            output::print(&json)?;
            return Ok(FINE);
        }
        output::write_new(path, &json)?;
    }
    output::print(text(&report).as_bytes())?;
    Ok(FINE)
}

fn list() -> String {
    labs::ALL.iter().map(|lab| format!("{:<12}{}\n", lab.name(), lab.about())).collect()
}

fn text(report: &Report) -> String {
    let mut out = format!("{}lab {}, seed {}\n\n", wrapped(report.about), report.name, report.seed);
    let head = ["paper", "theory", "one draw", "mean", "5 %", "95 %"];
    out.push_str(&format!("{:<24}", ""));
    head.iter().for_each(|name| out.push_str(&format!(" {name:>8}")));
    out.truncate(out.trim_end().len());
    out.push('\n');
    for row in &report.rows {
        out.push_str(&line(row));
    }
    for figure in &report.figures {
        out.push('\n');
        draw(&mut out, figure);
    }
    out.push('\n');
    for note in &report.notes {
        out.push_str(&wrapped(note));
    }
    out
}

fn line(row: &Row) -> String {
    let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.3}"));
    let range = row.replications;
    let numbers = [
        row.published,
        row.theory,
        row.shown,
        range.map(|r| r.mean),
        range.map(|r| r.p05),
        range.map(|r| r.p95),
    ];
    let cells: String = numbers.map(|x| format!(" {:>8}", number(x))).concat();
    format!("{:<24}{cells}\n", row.name)
}

/// Bars of what came, with a mark where the law expects them to end.
fn draw(out: &mut String, figure: &Figure) {
    out.push_str(&format!(
        "{}\n{:>w$}{:>n$}{:>n$}\n",
        figure.title,
        "",
        "here",
        "law",
        w = LABEL,
        n = NUMBER
    ));
    let room = WIDTH - LABEL - 2 * NUMBER - 2;
    let most = figure.bars.iter().map(|b| (b.observed as f64).max(b.expected)).fold(1.0, f64::max);
    let columns = |x: f64| (x / most * (room - 1) as f64).round() as usize;
    for bar in &figure.bars {
        let mut drawn: Vec<char> = vec![' '; room];
        drawn[..columns(bar.observed as f64)].fill('#');
        drawn[columns(bar.expected)] = '|';
        let drawn: String = drawn.iter().collect();
        let numbers =
            format!("{:<w$}{:>n$}{:>n$.1}", bar.label, bar.observed, bar.expected, w = LABEL, n = NUMBER);
        out.push_str(&format!("{numbers}  {}\n", drawn.trim_end()));
    }
}

/// A sentence in lines that fit.
fn wrapped(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.len() > WIDTH {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lab_fits_a_terminal() {
        for lab in labs::ALL {
            let report = lab.run(3, 20);
            let text = text(&report);
            for line in text.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
            assert!(text.is_ascii() && text.contains("seed 3"));
            assert!(report.rows.iter().all(|row| text.contains(row.name)));
            assert!(report.figures.iter().all(|figure| text.contains(&figure.title)));
            let json = serde_json::to_value(&report).unwrap();
            assert_eq!(json["schema"], "headway.lab/1");
            assert_eq!(json["rows"][0]["replications"]["n"], 20);
            assert!(json["rows"][0]["steady"].is_null());
        }
    }
}
