//! The schedule of an Open Model Thread Group, `rate(0) random_arrivals(1 min) rate(10/sec) pause(2 sec)`: phases of an open load
//! already, by JMeter's manual (component reference, Open Model Thread Group).

/// A stretch of a schedule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Stretch {
    /// Arrivals for so many seconds, at rates per second that go evenly from one to the other.
    Arrivals { seconds: f64, from: f64, to: f64 },
    /// None for so many seconds.
    Pause(f64),
}

/// The stretches of a schedule; none where it is not understood, or nobody would arrive.
pub(super) fn parse(text: &str) -> Option<Vec<Stretch>> {
    let mut calls = Vec::new();
    let text = without_comments(text);
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('(')?;
        let (argument, after) = after.split_once(')')?;
        calls.push((name.trim().to_ascii_lowercase(), argument.trim().to_ascii_lowercase()));
        rest = after.trim();
    }
    let (mut rate, mut stretches) = (0.0, Vec::new());
    for (at, (name, argument)) in calls.iter().enumerate() {
        match name.as_str() {
            "rate" => rate = self::rate(argument)?,
            "pause" => stretches.push(Stretch::Pause(seconds(argument)?)),
            // Even arrivals are random ones in JMeter, too.
            "random_arrivals" | "even_arrivals" => {
                let to = match calls.get(at + 1) {
                    Some((next, argument)) if next == "rate" => self::rate(argument)?,
                    _ => rate,
                };
                stretches.push(Stretch::Arrivals { seconds: seconds(argument)?, from: rate, to });
            }
            _ => return None,
        }
    }
    stretches.retain(|stretch| match stretch {
        Stretch::Arrivals { seconds, .. } | Stretch::Pause(seconds) => *seconds > 0.0,
    });
    let some = |stretch: &Stretch| matches!(stretch, Stretch::Arrivals { from, to, .. } if from + to > 0.0);
    stretches.iter().any(some).then_some(stretches)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        let (end, length) = if rest[at..].starts_with("/*") { ("*/", 2) } else { ("\n", 1) };
        rest = rest[at..].find(end).map_or("", |found| &rest[at + found + length..]);
        out.push(' ');
    }
    out + rest
}

/// `10/sec`, or 0.
fn rate(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((number, per)) => Some(number_of(number)? / unit(per)?),
        None => number_of(text).filter(|rate| *rate == 0.0),
    }
}

/// `1.5 min`.
fn seconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, name) = text.split_at(end);
    if name.is_empty() {
        number_of(number).filter(|n| *n == 0.0)
    } else {
        Some(number_of(number)? * unit(name)?)
    }
}

fn number_of(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number))
}

/// The length of a unit in seconds.
fn unit(name: &str) -> Option<f64> {
    match name.trim() {
        "ms" => Some(1e-3),
        "s" | "sec" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3_600.0),
        "d" | "day" | "days" => Some(86_400.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the manual.
    #[test]
    fn schedules_are_phases() {
        let arrivals = |seconds, from, to| Stretch::Arrivals { seconds, from, to };
        for (text, stretches) in [
            (
                "rate(0) random_arrivals(1 min) rate(10/sec) random_arrivals(1 min) rate(10/sec) random_arrivals(1 min) rate(0)",
                vec![arrivals(60.0, 0.0, 10.0), arrivals(60.0, 10.0, 10.0), arrivals(60.0, 10.0, 0.0)],
            ),
            (
                "rate(3/sec) random_arrivals(1 min) random_arrivals(2 min) rate(6/sec)",
                vec![arrivals(60.0, 3.0, 3.0), arrivals(120.0, 3.0, 6.0)],
            ),
            (
                "rate(120/min) /* a (comment) */ even_arrivals(5 sec) pause(500 ms) // rest\n random_arrivals(0.5 hour)",
                vec![arrivals(5.0, 2.0, 2.0), Stretch::Pause(0.5), arrivals(1_800.0, 2.0, 2.0)],
            ),
        ] {
            assert_eq!(parse(text).unwrap(), stretches, "{text}");
        }
        for text in [
            "",
            "rate(10)",
            "rate(1/sec)",
            "random_arrivals(1 min)",
            "rate(1/sec) random_arrivals(1 week)",
            "rate(1/sec) x(2)",
            "rate(",
            "rate(1/sec) random_arrivals(-1 s)",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
