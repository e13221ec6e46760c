//! Tables with a row for each point of a study, in which no two rows look the same: what tells a point from the others stands
//! in the columns before its numbers, or, where there is no room for that, on lines of its own above them.
//!
//! Deliberately absent: parameters of one value, which tell nothing apart; the head of the page names them.

use super::grid::Grid;
use super::layout::Page;
use crate::words::Tone;
use crate::words::study::{label, place};
use headway_redact::Cleared;
use headway_stats::study::{Parameter, Point, Study};

/// A table by point.
pub(super) struct Table<'s> {
    study: &'s Study,
    head: Vec<String>,
    rows: Vec<(Tone, Option<&'s Point>, Vec<String>)>,
    /// Parameters of several values, by their places among all.
    varying: Vec<(usize, &'s Parameter)>,
}

/// How a point is told from the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In words, before its numbers.
    Label,
    /// A column for each parameter.
    Columns,
    /// The values in the order of the parameters, which a line above the table names.
    Values,
    /// In words, on lines of their own.
    Above,
}

impl<'s> Table<'s> {
    /// With these heads of the columns of numbers.
    pub(super) fn new<S: Into<String>>(study: &'s Study, head: impl IntoIterator<Item = S>) -> Table<'s> {
        let varying = study.parameters.iter().enumerate().filter(|(_, of)| of.values.len() > 1).collect();
        Table { study, head: head.into_iter().map(Into::into).collect(), rows: Vec::new(), varying }
    }

    /// The numbers of a point.
    pub(super) fn point(&mut self, tone: Tone, point: &'s Point, numbers: Vec<String>) {
        self.rows.push((tone, Some(point), numbers));
    }

    /// What stands beneath the numbers of the last point.
    pub(super) fn beneath(&mut self, tone: Tone, numbers: Vec<String>) {
        self.rows.push((tone, None, numbers));
    }

    /// In the first form of which nothing is cut, with all numbers side by side if that can be.
    pub(super) fn print(&self, page: &mut Page) {
        let forms = match self.varying.len() {
            0 => &[Form::Label][..],
            1 => &[Form::Label, Form::Columns],
            _ => &[Form::Columns, Form::Values],
        };
        for &form in forms {
            let grid = self.grid(form);
            if !grid.fits() {
                continue;
            }
            if form == Form::Values {
                let names: Vec<&str> = self.varying.iter().map(|(_, of)| of.name.as_str()).collect();
                page.marked(2, "", Tone::Faint, &format!("rows: {}", names.join(", ")));
            }
            return grid.print(page);
        }
        self.grid(Form::Above).print(page);
    }

    fn grid(&self, form: Form) -> Grid {
        let lead = match form {
            Form::Columns => tails(&self.varying.iter().map(|(_, of)| of.name.as_str()).collect::<Vec<_>>()),
            Form::Label | Form::Values | Form::Above => vec![String::new()],
        };
        let mut grid = Grid::new(lead.iter().chain(&self.head).cloned()).whole(lead.len());
        for (tone, point, numbers) in &self.rows {
            let mut row = match (point, form) {
                (Some(point), Form::Columns) => self.values(point),
                (Some(point), Form::Values) => vec![self.values(point).join(", ")],
                (Some(point), Form::Label) => vec![self.words(point)],
                (Some(point), Form::Above) => {
                    grid.alone(*tone, self.words(point));
                    vec![String::new()]
                }
                (None, _) => vec![String::new(); lead.len()],
            };
            row.extend(numbers.iter().cloned());
            grid.row(*tone, row);
        }
        grid
    }

    fn values(&self, point: &Point) -> Vec<String> {
        self.varying
            .iter()
            .map(|&(i, _)| point.values.get(i).map_or_else(String::new, Cleared::to_string))
            .collect()
    }

    fn words(&self, point: &Point) -> String {
        let parts: Vec<String> = self
            .varying
            .iter()
            .filter_map(|&(i, of)| point.values.get(i).map(|value| place(of, value)))
            .collect();
        if parts.is_empty() { label(self.study, point) } else { parts.join(", ") }
    }
}

/// Of each path as few of its last keys as no other ends in: `buyers.think` and `clerks.think`, `think` alone where there is
/// one. A number in a list says nothing without its list.
fn tails(paths: &[&str]) -> Vec<String> {
    let keys: Vec<Vec<&str>> = paths.iter().map(|path| path.split('.').collect()).collect();
    let tail = |(i, own): (usize, &Vec<&str>)| {
        let tells = |n: &usize| {
            let tail = &own[own.len() - n..];
            tail[0].parse::<u64>().is_err()
                && keys.iter().enumerate().all(|(j, other)| j == i || !other.ends_with(tail))
        };
        let n = (1..own.len()).find(tells).unwrap_or(own.len());
        own[own.len() - n..].join(".")
    };
    keys.iter().enumerate().map(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_by_the_ends_of_paths_that_differ() {
        let check = |paths: &[&str], expected: &[&str]| assert_eq!(tails(paths), expected);
        check(&["users.buyers.think", "users.clerks.closed.count"], &["think", "count"]);
        check(&["users.buyers.think", "users.clerks.think"], &["buyers.think", "clerks.think"]);
        check(&["rate", "users.rate", "model"], &["rate", "users.rate", "model"]);
        check(&["model.speed.0", "model.speed.1"], &["speed.0", "speed.1"]);
        check(&["a.b.c", "b.c"], &["a.b.c", "b.c"]);
        check(&["", "0"], &["", "0"]);
    }
}
