//! The report as a short document in GitHub-flavoured Markdown, as for the comment of a pull request or a wiki: the verdict, its
//! findings, the key numbers with their intervals and n.
//!
//! Text from outside stays text: what could be markup is escaped, and an `@` mentions no one. Deliberately absent: charts, and columns that
//! need the width of a page; the HTML report has them.

use crate::content::{self, Block, Cell, Footnotes, Section, Table};
use crate::format::{instants, plural, time, visible};
use crate::words::audit::Fact;
use crate::words::{self, Answer, Reason, demands};
use crate::{Material, Output, Style};
use headway_stats::Summary;
use headway_stats::comparison::Comparison;
use headway_stats::search::Searched;
use headway_stats::study::Study;

/// The document.
pub struct Markdown;

/// The first line, which is not shown.
const FIRST: &str = "<!-- headway report -->";

/// Findings and sentences that are shown.
const MOST_SENTENCES: usize = 24;

impl Output for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "verdict, findings, key numbers, as for a pull request's comment"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown"]
    }

    fn made_of(&self) -> &'static [Material] {
        &[Material::Summary, Material::Study, Material::Comparison, Material::Search]
    }

    fn recognises(&self, start: &str) -> bool {
        start.starts_with(FIRST)
    }

    fn summary(&self, summary: &Summary, style: &Style) -> Option<Vec<u8>> {
        let mut page = Page(format!("{FIRST}\n"));
        top(&mut page, summary);
        page.raw("<details><summary>Details</summary>\n\n");
        page.paragraph(&words::subject(summary));
        if let Some(text) = words::interruption(summary) {
            page.paragraph(&text);
        }
        page.findings(&words::reasons(summary));
        let sections = match &summary.audit {
            Some(audit) => content::audit::all(summary, audit),
            None => of_run(summary),
        };
        sections.iter().for_each(|section| page.section(section));
        page.again(words::repeat(summary, style).as_deref());
        page.raw("\n</details>\n");
        Some(page.0.into_bytes())
    }

    fn study(&self, study: &Study, style: &Style) -> Option<Vec<u8>> {
        let mut page = Page(format!("{FIRST}\n"));
        let name = if study.name.is_empty() { "unnamed" } else { &study.name };
        page.heading(2, name);
        page.paragraph(&words::study::subject(study));
        for section in [content::study::responses(study), content::study::loads(study)].iter().flatten() {
            page.section(section);
        }
        if demands::any(study) {
            page.heading(3, "Thresholds");
            page.list(demands::sentences(study).into_iter().map(|sentence| sentence.text));
        }
        let compared = study.differences.iter().filter_map(|by| words::study::difference(study, by));
        let all = compared.chain(words::study::not_compared(study)).map(|sentence| sentence.text);
        page.list_under("Models compared, on the same draws", all.collect());
        page.list_under(
            "To know",
            words::study::common(study).into_iter().map(|sentence| sentence.text).collect(),
        );
        page.again(style.repeat.as_deref().or(study.command.as_deref()));
        Some(page.0.into_bytes())
    }

    fn comparison(&self, comparison: &Comparison, style: &Style) -> Option<Vec<u8>> {
        use words::comparison::{condition, differences, headline, names};
        let mut page = Page(format!("{FIRST}\n"));
        for pair in &comparison.pairs {
            page.heading(2, &headline(comparison, pair).1);
            page.paragraph(&names(comparison, pair));
        }
        let of_pairs = comparison.pairs.iter().filter_map(differences);
        let known = words::comparison::remarks(comparison).into_iter().chain(of_pairs);
        page.list(known.map(|(_, text)| text));
        let conditions = comparison.conditions.iter().map(|of| condition(comparison, of).1);
        page.list_under("Conditions", conditions.collect());
        for pair in &comparison.pairs {
            content::comparison::pair(comparison, pair, false).iter().for_each(|part| page.section(part));
        }
        page.again(style.repeat.as_deref().or(comparison.command.as_deref()));
        Some(page.0.into_bytes())
    }

    fn search(&self, searched: &Searched, style: &Style) -> Option<Vec<u8>> {
        let mut page = Page(format!("{FIRST}\n"));
        let Some(found) = searched.single() else {
            page.heading(2, &words::search::title(searched));
            page.section(&content::search::targets(searched));
            let each = searched.targets.iter().flat_map(words::search::of_target);
            page.list(each.map(|sentence| sentence.text));
            page.again(style.repeat.as_deref().or(searched.command.as_deref()));
            return Some(page.0.into_bytes());
        };
        page.heading(2, if found.name.is_empty() { "unnamed" } else { &found.name });
        page.paragraph(&words::search::headline(found).text);
        page.list(words::search::notes(found).into_iter().map(|note| note.text));
        for section in [content::search::limits(found), content::search::trials(found)].iter().flatten() {
            page.section(section);
        }
        page.paragraph(&words::search::effort(found));
        page.again(style.repeat.as_deref().or(found.command.as_deref()));
        Some(page.0.into_bytes())
    }
}

fn of_run(summary: &Summary) -> Vec<Section> {
    use content::run::{attempts, datagrams, failures, labels, outcomes, reasons, shards, thresholds, times};
    let labels = labels(summary).filter(|_| summary.by_label.len() > 1);
    let all = [
        thresholds(summary),
        Some(times(summary)),
        content::events::events(summary),
        outcomes(summary),
        failures(summary),
        content::over_time::failures(summary),
        datagrams(summary),
        attempts(summary),
        reasons(summary),
        labels,
        shards(summary),
    ];
    all.into_iter().flatten().collect()
}

/// The answers, in at most ten lines before what is folded: what was asked, how requests ended, how long they took, and whether the load
/// was the one that was planned.
fn top(page: &mut Page, summary: &Summary) {
    let name = if summary.name.is_empty() { "unnamed" } else { &summary.name };
    let foreign = summary.audit.is_some() && summary.verdict.load.is_none();
    let (load, outcome) = (words::brief::trust(summary), words::brief::outcome(summary));
    let thresholds = words::thresholds::answer(summary);
    let pattern = match &summary.audit {
        Some(_) => Some(words::brief::pattern_of_audit(summary)),
        None => words::brief::pattern(summary).filter(|_| summary.verdict.load.is_none()),
    };
    let first = match (&thresholds, &pattern) {
        _ if foreign => words::pattern(summary).word,
        (Some(thresholds), _) => thresholds.word,
        (None, _) => outcome.word,
    };
    page.heading(2, &format!("{first}: {name}"));
    page.raw("| | | |\n|---|---|---|\n");
    if let Some(thresholds) = thresholds {
        page.answer("Thresholds", &thresholds);
    }
    page.answer("Outcome", &outcome);
    if let Some(times) = times(summary) {
        page.answer("Response time", &times);
    }
    if !foreign {
        page.answer("Load", &load);
    }
    if let Some(pattern) = pattern {
        page.answer("Pattern", &pattern);
    }
    page.raw("\n");
}

/// The percentiles that most ask for, in a line.
fn times(summary: &Summary) -> Option<Answer> {
    let of = &summary.response;
    let known = |name: &str, value: Option<f64>| {
        let more = if of.lower_bound.contains_key(name) { "> " } else { "" };
        Some(format!("{name} {more}{}", time(value?)))
    };
    let all = [("mean", of.mean), ("p50", of.p50), ("p95", of.p95), ("p99", of.p99), ("max", of.max)];
    let all: Vec<String> = all.into_iter().filter_map(|(name, value)| known(name, value)).collect();
    (!all.is_empty()).then(|| Answer { word: "", meaning: all.join(", "), tone: words::Tone::Plain })
}

/// The text so far.
struct Page(String);

impl Page {
    fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.0.push_str(&format!("{} {}\n\n", "#".repeat(level), escaped(title)));
    }

    fn paragraph(&mut self, text: &str) {
        self.0.push_str(&format!("{}\n\n", escaped(text)));
    }

    fn answer(&mut self, question: &'static str, answer: &Answer) {
        let word = if answer.word.is_empty() { String::new() } else { format!("**{}**", answer.word) };
        self.0.push_str(&format!("| {question} | {word} | {} |\n", escaped(&answer.meaning)));
    }

    fn findings(&mut self, reasons: &[Reason]) {
        let line = |reason: &Reason| {
            let (word, _) = words::severity(reason.severity);
            let at =
                if reason.at.is_empty() { String::new() } else { format!("at {}", instants(&reason.at, 4)) };
            let evidence = [reason.evidence.as_str(), &at].into_iter().filter(|part| !part.is_empty());
            let evidence = evidence.map(escaped).collect::<Vec<_>>().join("; ");
            let evidence = if evidence.is_empty() { evidence } else { format!(" ({evidence})") };
            let next =
                reason.next.as_ref().map_or(String::new(), |next| format!(" **Next:** {}", escaped(next)));
            format!(
                "- **{word}** {}: {}{evidence}{next}\n",
                escaped(reason.id.as_str()),
                escaped(&reason.text)
            )
        };
        if !reasons.is_empty() {
            self.heading(3, "Findings");
            self.0.extend(reasons.iter().take(MOST_SENTENCES).map(line));
            self.more(reasons.len().saturating_sub(MOST_SENTENCES), "finding");
        }
    }

    fn list_under(&mut self, title: &str, texts: Vec<String>) {
        if !texts.is_empty() {
            self.heading(3, title);
            self.list(texts.into_iter());
        }
    }

    fn list(&mut self, mut texts: impl Iterator<Item = String>) {
        self.0.extend(texts.by_ref().take(MOST_SENTENCES).map(|text| format!("- {}\n", escaped(&text))));
        self.more(texts.count(), "line");
    }

    /// What a list leaves out, and the end of the list.
    fn more(&mut self, left: usize, what: &str) {
        if left > 0 {
            self.0.push_str(&format!(
                "- and {} in the HTML report\n",
                plural(left as u64, &format!("more {what}"))
            ));
        }
        self.raw("\n");
    }

    fn section(&mut self, section: &Section) {
        self.heading(3, &section.title);
        for block in &section.blocks {
            match block {
                Block::Table(table) => self.table(table),
                Block::Note(note) => self.paragraph(&format!("{}{}", note.mark, note.text)),
                Block::Facts(facts) if facts.wide => {}
                Block::Facts(facts) => {
                    if !facts.of.is_empty() {
                        self.0.push_str(&format!("**{}**\n\n", escaped(&facts.of)));
                    }
                    let line = |fact: &Fact| {
                        format!("{}{}{}", fact.name, if fact.name.is_empty() { "" } else { ": " }, fact.text)
                    };
                    self.list(facts.facts.iter().map(line));
                }
            }
        }
    }

    /// The columns that fit a narrow page; intervals have columns of their own.
    fn table(&mut self, table: &Table) {
        let (shown, rows, left) = table.short(true);
        let (mut head, mut line) = (String::from("|"), String::from("|"));
        for column in shown.iter().map(|&i| &table.columns[i]) {
            head.push_str(&format!(" {} |", escaped(&column.title)));
            line.push_str(if column.number { "---:|" } else { "---|" });
            if column.intervals > 0 {
                head.push_str(" 95 % interval |");
                line.push_str("---:|");
            }
        }
        self.0.push_str(&format!("{head}\n{line}\n"));
        let mut notes = Footnotes::default();
        for row in rows {
            self.raw("|");
            for &i in &shown {
                self.cell(&row.cells[i], table.columns[i].intervals > 0, &mut notes);
            }
            self.raw("\n");
        }
        self.raw("\n");
        let texts: Vec<String> =
            notes.texts().enumerate().map(|(i, text)| format!("({}) {text}", i + 1)).collect();
        texts.iter().for_each(|text| self.paragraph(text));
        if left > 0 {
            self.paragraph(&format!(
                "and {} in the HTML report",
                plural(left, &format!("more {}", table.row))
            ));
        }
    }

    fn cell(&mut self, cell: &Cell, intervals: bool, notes: &mut Footnotes) {
        let note = cell.why.as_ref().map(|why| (why.interval, format!(" ({})", notes.number(why))));
        let of = |interval: bool| note.iter().find(|(of, _)| *of == interval).map_or("", |(_, text)| text);
        self.0.push_str(&format!(" {}{} |", escaped(&cell.text), of(false)));
        if intervals {
            self.0.push_str(&format!(" {}{} |", escaped(cell.beside()), of(true)));
        }
    }

    /// The command, in a block that holds any number of backticks.
    fn again(&mut self, command: Option<&str>) {
        let Some(command) = command else { return };
        let command = visible(command);
        let fence = "`".repeat(3.max(1 + longest_run(&command)));
        self.0.push_str(&format!("### Again\n\n{fence}\n{command}\n{fence}\n"));
    }
}

/// Backticks in a row, at most.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text that GitHub shows as it is: without markup, ends of table cells, or mentions by `@`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        assert_eq!(
            escaped("a|b <b> [x](y) `c` *d* _e_ @all #1 ~~f~~ \\\n# g"),
            "a\\|b &lt;b&gt; \\[x\\](y) \\`c\\` \\*d\\* \\_e\\_ @<!-- -->all \\#1 \\~\\~f\\~\\~ \\\\ \\# g"
        );
        let mut page = Page(String::new());
        page.again(Some("echo ```` x"));
        assert_eq!(page.0, "### Again\n\n`````\necho ```` x\n`````\n");
    }
}
