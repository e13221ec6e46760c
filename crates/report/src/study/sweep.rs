//! What of a study lies along a swept parameter: its values on an axis, and the lines of points that differ in nothing else.

use headway_redact::Cleared;
use headway_stats::study::{Parameter, Study};
use serde::Serialize;

/// Points along a parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Sweep {
    /// The parameter.
    pub name: Cleared,
    /// Its values, as they were written, in the order of `x`.
    pub values: Vec<Cleared>,
    /// Where they stand on the axis; their places in the list where they are no numbers.
    pub x: Vec<f64>,
    /// Whether they are numbers, and a line may join them.
    pub numeric: bool,
    /// Whether they are times in seconds.
    pub times: bool,
    /// Whether anything failed anywhere.
    pub failed: bool,
    /// The other parameters' values, and the points along this one.
    pub lines: Vec<Line>,
    /// Lines that are not drawn.
    #[serde(skip)]
    pub left_out: usize,
}

/// Points that differ in nothing but the swept parameter.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Line {
    /// The other parameters' values; empty where there are none.
    pub label: String,
    /// For each value the number of its point; none where it was not played.
    pub points: Vec<Option<usize>>,
}

/// The first parameter of several values that is not the model, else the model; none where nothing varies.
pub(crate) fn sweep(study: &Study) -> Option<Sweep> {
    let several = |name: fn(&str) -> bool| {
        study.parameters.iter().position(|parameter| parameter.values.len() > 1 && name(&parameter.name))
    };
    let along = several(|name| name != "model").or_else(|| several(|name| name == "model"))?;
    let parameter = &study.parameters[along];
    let axis = Axis::of(parameter);
    let mut lines: Vec<(Vec<&str>, Line)> = Vec::new();
    for (i, point) in study.points.iter().enumerate() {
        let Some(value) = point.values.get(along) else { continue };
        let Some(place) = axis.values.iter().position(|known| known == value) else { continue };
        let key: Vec<&str> = point
            .values
            .iter()
            .enumerate()
            .filter(|(j, _)| *j != along)
            .map(|(_, value)| value.as_str())
            .collect();
        let found = lines.iter().position(|(known, _)| *known == key);
        let at = found.unwrap_or_else(|| {
            let others = study.parameters.iter().zip(&point.values).enumerate().filter(|(j, _)| *j != along);
            let named = others.map(|(_, (parameter, value))| match parameter.name.as_str() {
                "model" => value.to_string(),
                name => format!("{name} {value}"),
            });
            let label = named.collect::<Vec<String>>().join(", ");
            lines.push((key, Line { label, points: vec![None; axis.values.len()] }));
            lines.len() - 1
        });
        lines[at].1.points[place] = Some(i);
    }
    if lines.is_empty() {
        return None;
    }
    Some(Sweep {
        name: parameter.name.clone(),
        values: axis.values,
        x: axis.x,
        numeric: axis.numeric,
        times: axis.times,
        failed: study.points.iter().any(|point| point.failed.mean > 0.0),
        lines: lines.into_iter().map(|(_, line)| line).collect(),
        left_out: 0,
    })
}

struct Axis {
    values: Vec<Cleared>,
    x: Vec<f64>,
    numeric: bool,
    times: bool,
}

impl Axis {
    /// Numbers in their order if all are numbers of one unit or times; else in the order in which they were given.
    fn of(parameter: &Parameter) -> Axis {
        let read: Option<Vec<(f64, &str)>> =
            parameter.values.iter().map(|value| number_and_unit(value)).collect();
        let places = || (1..=parameter.values.len()).map(|i| i as f64).collect();
        let named = Axis { values: parameter.values.clone(), x: places(), numeric: false, times: false };
        let Some(read) = read else { return named };
        let times = read.iter().all(|(x, unit)| *x == 0.0 || seconds(unit).is_some())
            && read.iter().any(|(_, unit)| seconds(unit).is_some());
        let same = read.iter().all(|(_, unit)| *unit == read[0].1);
        if !times && !same {
            return named;
        }
        let scaled = read.iter().map(|(x, unit)| if times { x * seconds(unit).unwrap_or(1.0) } else { *x });
        let mut placed: Vec<(f64, Cleared)> = scaled.zip(parameter.values.iter().cloned()).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Two spellings of one number would stand on one place.
        if placed.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return named;
        }
        let (x, values) = placed.into_iter().unzip();
        Axis { values, x, numeric: true, times }
    }
}

/// A number and what follows it: `100`, `12.5/s`, `8ms`.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| !(c.is_ascii_digit() || c == '.' || (i == 0 && matches!(c, '-' | '+'))))
        .map_or(text.len(), |(i, _)| i);
    let number = text[..end].parse().ok().filter(|x: &f64| x.is_finite())?;
    let unit = text[end..].trim();
    unit.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '%')).then_some((number, unit))
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_stats::study::Point;

    fn study(parameters: &[(&str, &[&str])]) -> Study {
        let words = |of: &[&str]| of.iter().map(|word| headway_redact::clear(word)).collect::<Vec<_>>();
        let mut points = vec![Vec::new()];
        for (_, values) in parameters {
            points = points
                .into_iter()
                .flat_map(|point: Vec<&str>| {
                    values.iter().map(move |&value| [point.clone(), vec![value]].concat())
                })
                .collect();
        }
        Study {
            parameters: parameters
                .iter()
                .map(|(name, values)| Parameter { name: headway_redact::clear(name), values: words(values) })
                .collect(),
            points: points.iter().map(|of| Point { values: words(of), ..Point::default() }).collect(),
            ..Study::default()
        }
    }

    #[test]
    fn numbers_are_put_into_order_and_models_become_lines() {
        let of = study(&[("model", &["random", "even"]), ("rate", &["200", "100", "50"])]);
        let found = sweep(&of).unwrap();
        assert_eq!((found.name.as_str(), found.numeric, found.times), ("rate", true, false));
        assert_eq!(
            (found.x, found.values),
            (vec![50.0, 100.0, 200.0], ["50", "100", "200"].map(Into::into).to_vec())
        );
        let line =
            |label: &str, points: [usize; 3]| Line { label: label.into(), points: points.map(Some).to_vec() };
        assert_eq!(found.lines, [line("random", [2, 1, 0]), line("even", [5, 4, 3])]);
    }

    #[test]
    fn times_are_seconds_and_words_keep_their_order() {
        let x = |values: &[&str]| {
            let found = sweep(&study(&[("think", values)])).unwrap();
            (found.x, found.numeric, found.times)
        };
        assert_eq!(x(&["2s", "500ms"]), (vec![0.5, 2.0], true, true));
        assert_eq!(x(&["exp(8ms)", "const(8ms)"]), (vec![1.0, 2.0], false, false));
        assert_eq!(x(&["1s", "1000ms"]), (vec![1.0, 2.0], false, false));
        assert_eq!(x(&["10/s", "20"]), (vec![1.0, 2.0], false, false));
        assert_eq!(x(&["10/s", "20/s"]), (vec![10.0, 20.0], true, false));
    }

    #[test]
    fn models_alone_are_the_axis_and_nothing_is_none() {
        let found = sweep(&study(&[("model", &["random", "even"]), ("rate", &["10"])])).unwrap();
        assert_eq!((found.name.as_str(), found.numeric, found.lines.len()), ("model", false, 1));
        assert_eq!(sweep(&study(&[("rate", &["10"])])), None);
        assert_eq!(sweep(&Study::default()), None);
        // A study that was interrupted lacks points.
        let mut of = study(&[("rate", &["10", "20"])]);
        of.points.pop();
        assert_eq!(sweep(&of).unwrap().lines[0].points, [Some(0), None]);
    }
}
