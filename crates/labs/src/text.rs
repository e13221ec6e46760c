//! An experiment's report as text, for a terminal of 80 columns.

use super::{Cell, Figure, Quantity, Report, Row, Table};

/// Columns of the narrowest terminal in common use.
const WIDTH: usize = 80;
/// Columns of the label of a line of numbers, at least, and of one number.
const ROW: usize = 24;
const CELL: usize = 9;
/// Columns of one number in a table of several quantities, at least: one more than the name of the quantity where that is longer,
const NARROW: usize = 8;
/// and of the form that a line of it has its numbers in.
const SOURCE: usize = 8;
/// Columns of a bar's label, and of its two numbers.
const LABEL: usize = 12;
const NUMBER: usize = 8;

/// The whole report.
pub fn of(report: &Report) -> String {
    let mut out = format!("{}lab {}, seed {}\n", wrapped(report.about), report.name, report.seed);
    // What stands in a table is shown there.
    let alone: Vec<&Row> =
        report.rows.iter().filter(|row| !report.tables.iter().any(|table| table.lists(&row.name))).collect();
    if !alone.is_empty() {
        out.push('\n');
        head(&mut out, "", ROW, &["paper", "theory", "one draw", "mean", "5 %", "95 %"]);
        alone.into_iter().for_each(|row| out.push_str(&line(row)));
    }
    for table in &report.tables {
        out.push('\n');
        out.push_str(&wrapped(&table.title));
        match table.quantities.as_slice() {
            [only] => lines(&mut out, table, *only),
            _ => blocks(&mut out, table),
        }
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

fn head(out: &mut String, key: &str, room: usize, names: &[&str]) {
    let mut line = format!("{key:<room$}");
    names.iter().for_each(|name| line.push_str(&format!("{name:>CELL$}")));
    out.push_str(line.trim_end());
    out.push('\n');
}

fn number(x: Option<f64>, places: usize) -> String {
    x.map_or("-".to_owned(), |x| format!("{x:.places$}"))
}

fn line(row: &Row) -> String {
    let range = row.replications;
    let numbers = [
        row.published,
        row.theory,
        row.shown,
        range.map(|r| r.mean),
        range.and_then(|r| r.p05),
        range.and_then(|r| r.p95),
    ];
    let cells: String = numbers.map(|x| format!("{:>CELL$}", number(x, 3))).concat();
    format!("{:<ROW$}{cells}\n", row.name)
}

/// The numbers of one form, in order.
struct Form<'a> {
    name: &'a str,
    numbers: Vec<Option<f64>>,
    /// Places after the point, where they are not the quantity's.
    places: Option<usize>,
}

impl Form<'_> {
    fn shown(&self, at: usize, quantity: Quantity) -> String {
        number(self.numbers.get(at).copied().flatten(), self.places.unwrap_or(quantity.places))
    }
}

/// One quantity: a line for each row, of the forms in which its numbers are there.
fn lines(out: &mut String, table: &Table, quantity: Quantity) {
    let cells: Vec<Cell> = table.rows.iter().filter_map(|row| row.cells.first().copied()).collect();
    let forms = forms(table, &cells);
    let room = table.rows.iter().map(|row| row.name.chars().count() + 1).fold(ROW, usize::max);
    head(out, table.key, room, &forms.iter().map(|form| form.name).collect::<Vec<_>>());
    for (at, row) in table.rows.iter().enumerate() {
        out.push_str(&format!("{:<room$}", row.name));
        forms.iter().for_each(|form| out.push_str(&format!("{:>CELL$}", form.shown(at, quantity))));
        out.push('\n');
    }
}

/// Several quantities: a block of lines for each row, one for each form in which its numbers are there.
fn blocks(out: &mut String, table: &Table) {
    let first =
        table.rows.iter().map(|row| row.name.chars().count()).chain([table.key.chars().count()]).max();
    // Long names stand on a line of their own, above their block.
    let columns: Vec<usize> =
        table.quantities.iter().map(|quantity| NARROW.max(quantity.name.chars().count() + 1)).collect();
    let own_line = first.is_some_and(|n| n + 1 + SOURCE + columns.iter().sum::<usize>() > WIDTH);
    let room = if own_line { 2 } else { first.unwrap_or(0) + 1 };
    let mut names = format!("{:<w$}", if own_line { "" } else { table.key }, w = room + SOURCE);
    for (quantity, &column) in table.quantities.iter().zip(&columns) {
        names.push_str(&format!("{:>column$}", quantity.name));
    }
    out.push_str(&format!("{}\n", names.trim_end()));
    for row in &table.rows {
        let mut name = row.name.as_str();
        if own_line {
            out.push_str(&format!("{name}\n"));
            name = "";
        }
        for form in forms(table, &row.cells) {
            let mut line = format!("{name:<room$}{:<SOURCE$}", form.name);
            for (at, (quantity, &column)) in table.quantities.iter().zip(&columns).enumerate() {
                line.push_str(&format!("{:>column$}", form.shown(at, *quantity)));
            }
            out.push_str(&format!("{line}\n"));
            name = "";
        }
    }
}

/// Numbers by form: as published, live, by theory, over replications and in the steady state; those that there are.
fn forms<'a>(table: &'a Table, cells: &[Cell]) -> Vec<Form<'a>> {
    let of = |name: &'a str, part: &dyn Fn(&Cell) -> Option<f64>| Form {
        name,
        numbers: cells.iter().map(part).collect(),
        places: None,
    };
    let percent = |cell: &Cell| cell.rank.map(|rank| 100.0 * rank);
    let mut forms = vec![
        of(table.source, &|cell| cell.published),
        Form { places: Some(1), ..of("rank %", &percent) },
        of("live", &|cell| cell.live),
        of("first", &|cell| cell.shown),
        of("mean", &|cell| cell.replications.map(|r| r.mean)),
    ];
    let theory = of("theory", &|cell| cell.theory);
    if table.spread {
        forms.push(of("5 %", &|cell| cell.replications.and_then(|r| r.p05)));
        forms.push(of("95 %", &|cell| cell.replications.and_then(|r| r.p95)));
    }
    let steady = of("steady", &|cell| cell.steady.map(|s| s.mean));
    // Theory is of the steady state where there is one.
    let before = if steady.numbers.iter().any(Option::is_some) { forms.len() } else { 3 };
    forms.insert(before, theory);
    forms.push(steady);
    forms.push(of("+-", &|cell| cell.steady.map(|s| 0.5 * (s.ci[1] - s.ci[0]))));
    forms.retain(|form| form.numbers.iter().any(Option::is_some));
    forms
}

/// Bars of what came, with a mark where the law expects them to end.
fn draw(out: &mut String, figure: &Figure) {
    out.push_str(&format!("{}\n{:>LABEL$}{:>NUMBER$}{:>NUMBER$}\n", figure.title, "", "here", "law"));
    let room = WIDTH - LABEL - 2 * NUMBER - 2;
    let most = figure.bars.iter().map(|b| (b.observed as f64).max(b.expected)).fold(1.0, f64::max);
    let columns = |x: f64| (x / most * (room - 1) as f64).round() as usize;
    for bar in &figure.bars {
        let mut drawn: Vec<char> = vec![' '; room];
        drawn[..columns(bar.observed as f64)].fill('#');
        drawn[columns(bar.expected)] = '|';
        let drawn: String = drawn.iter().collect();
        let numbers = format!("{:<LABEL$}{:>NUMBER$}{:>NUMBER$.1}", bar.label, bar.observed, bar.expected);
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
pub(super) mod tests {
    use super::*;
    use crate::{Lab, Range, SCHEMA, Steady, TableRow, poisson};

    /// What holds for the text and the JSON of any experiment.
    pub fn is_fit(report: &Report) {
        let text = of(report);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        // Two columns never touch: the names of each table are there, apart from each other.
        for table in report.tables.iter().filter(|table| table.quantities.len() > 1) {
            let names: Vec<&str> =
                table.quantities.iter().flat_map(|quantity| quantity.name.split(' ')).collect();
            assert!(
                text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().ends_with(&names)),
                "{names:?}"
            );
        }
        assert!(text.is_ascii() && text.contains(&format!("seed {}", report.seed)));
        let flat = text.replace('\n', " ");
        let in_table = |name: &str| report.tables.iter().any(|table| table.lists(name));
        assert!(report.rows.iter().all(|row| in_table(&row.name) || text.contains(&row.name)));
        assert!(report.figures.iter().all(|figure| text.contains(&figure.title)));
        for table in &report.tables {
            assert!(flat.contains(&table.title), "{}", table.title);
            assert!(
                table.rows.iter().all(|row| row.cells.len() == table.quantities.len()),
                "{}",
                table.title
            );
            assert!(table.rows.iter().all(|row| text.contains(&row.name)));
        }
        assert!(report.notes.iter().all(|note| flat.contains(note.as_str())));
        let json = serde_json::to_value(report).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        assert_eq!(json["tables"].as_array().unwrap().len(), report.tables.len());
    }

    #[test]
    fn rows_and_figures_fit_a_terminal() {
        let report = poisson::Ruler.run(3, 20).unwrap();
        is_fit(&report);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["rows"][0]["replications"]["n"], 20);
        assert!(json["rows"][0]["steady"].is_null());
    }

    #[test]
    fn a_table_shows_the_forms_that_it_has() {
        let range = Range::of((0..21).map(|i| f64::from(1 + i % 3)).collect());
        let full = Cell { published: Some(1.5), theory: Some(2.0), ..Cell::observed(range) };
        let live = Cell { live: Some(2.5), ..full };
        let table = |key, quantities: &[Quantity], rows: Vec<TableRow>| Table {
            title: "A title".to_owned(),
            key,
            source: "paper",
            quantities: quantities.to_vec(),
            rows,
            spread: true,
        };
        let row = |name: &str, cells: &[Cell]| TableRow { name: name.to_owned(), cells: cells.to_vec() };
        let (x, y) = (Quantity::new("x", 1), Quantity::new("y s", 2));
        let report = Report {
            schema: SCHEMA,
            name: "test",
            about: "About",
            seed: 9,
            rows: Vec::new(),
            tables: vec![
                table("users", &[x], vec![row("1", &[live]), row("2", &[Cell::published(4.0)])]),
                table("users", &[x, y], vec![row("1", &[full, Cell::default()]), row("2", &[full, full])]),
            ],
            figures: Vec::new(),
            notes: vec!["Said.".to_owned()],
        };
        is_fit(&report);
        let expected = "\
About
lab test, seed 9

A title
users                       paper     live   theory     mean      5 %     95 %
1                             1.5      2.5      2.0      2.0      1.0      3.0
2                             4.0        -        -        -        -        -

A title
users                x     y s
1     paper        1.5       -
      theory       2.0       -
      mean         2.0       -
      5 %          1.0       -
      95 %         3.0       -
2     paper        1.5    1.50
      theory       2.0    2.00
      mean         2.0    2.00
      5 %          1.0    1.00
      95 %         3.0    3.00

Said.
";
        assert_eq!(of(&report), expected);
    }

    /// Theory stands beside the steady state where there is one, and numbers that a table lists stand there alone.
    #[test]
    fn a_steady_state_stands_below_the_replications() {
        let full = Cell {
            published: Some(2.5),
            rank: Some(0.985),
            theory: Some(3.0),
            shown: Some(1.0),
            steady: Some(Steady { mean: 3.1, ci: [2.9, 3.3] }),
            ..Cell::observed(Range::of(vec![1.0, 2.0]))
        };
        let table = Table {
            title: "A title".to_owned(),
            key: "row",
            source: "paper",
            quantities: vec![Quantity::new("x", 2), Quantity::new("y", 1)],
            rows: vec![TableRow { name: "only".to_owned(), cells: vec![full, Cell::default()] }],
            spread: false,
        };
        let rows: Vec<Row> = table.listed().collect();
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["only / x", "only / y"]);
        assert_eq!((rows[0].shown, rows[0].steady, rows[1].published), (Some(1.0), full.steady, None));
        let (tables, figures, notes) = (vec![table], Vec::new(), Vec::new());
        let report =
            Report { schema: SCHEMA, name: "test", about: "About", seed: 9, rows, tables, figures, notes };
        is_fit(&report);
        let expected = "\
About
lab test, seed 9

A title
row                 x       y
only paper       2.50       -
     rank %      98.5       -
     first       1.00       -
     mean        1.50       -
     theory      3.00       -
     steady      3.10       -
     +-          0.20       -

";
        assert_eq!(of(&report), expected);
    }
}
