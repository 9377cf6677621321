//! Cobertura XML, as coverage services read it: modules are packages, processes are classes.

use std::fmt::Write;

use super::lines::Line;
use super::{Coverage, CoveredFile, CoveredProcess};

impl Coverage {
    /// The coverage as a Cobertura report.
    pub fn cobertura(&self) -> String {
        let mut totals = Totals::default();
        let mut modules: Vec<(&str, Totals, String)> = Vec::new();
        for file in &self.files {
            let lines = file.coverage_lines();
            for process in &file.processes {
                let own = totals_of(&lines, process);
                totals.add(own);
                let class = class(file, process, &lines, own);
                match modules.iter_mut().find(|(name, _, _)| *name == process.module) {
                    Some((_, module, classes)) => {
                        module.add(own);
                        classes.push_str(&class);
                    }
                    None => modules.push((&process.module, own, class)),
                }
            }
        }
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        text.push_str(
            "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n",
        );
        let _ = writeln!(
            text,
            "<coverage line-rate=\"{:.4}\" branch-rate=\"{:.4}\" lines-covered=\"{}\" lines-valid=\"{}\" \
             branches-covered=\"{}\" branches-valid=\"{}\" complexity=\"0\" version=\"watershed {}\" \
             timestamp=\"0\">",
            totals.lines.rate(),
            totals.branches.rate(),
            totals.lines.covered,
            totals.lines.total,
            totals.branches.covered,
            totals.branches.total,
            env!("CARGO_PKG_VERSION")
        );
        text.push_str("  <sources>\n    <source>.</source>\n  </sources>\n  <packages>\n");
        for (name, totals, classes) in modules {
            let _ = writeln!(
                text,
                "    <package name=\"{}\" {}>\n      <classes>\n{classes}      </classes>\n    </package>",
                escape(name),
                totals.rates()
            );
        }
        text.push_str("  </packages>\n</coverage>\n");
        text
    }
}

#[derive(Clone, Copy, Default)]
struct Part {
    total: usize,
    covered: usize,
}

impl Part {
    fn rate(self) -> f64 {
        if self.total == 0 { 1.0 } else { self.covered as f64 / self.total as f64 }
    }
}

#[derive(Clone, Copy, Default)]
struct Totals {
    lines: Part,
    branches: Part,
}

impl Totals {
    fn add(&mut self, other: Totals) {
        self.lines.total += other.lines.total;
        self.lines.covered += other.lines.covered;
        self.branches.total += other.branches.total;
        self.branches.covered += other.branches.covered;
    }

    fn rates(self) -> String {
        let (lines, branches) = (self.lines.rate(), self.branches.rate());
        format!("line-rate=\"{lines:.4}\" branch-rate=\"{branches:.4}\" complexity=\"0\"")
    }
}

/// The outcomes of a line's decisions: how many there are, and how many were evaluated.
fn branches(line: &Line) -> Part {
    let outcomes = || line.decisions.iter().flat_map(|&(yes, no)| [Some(yes), no]).flatten();
    Part { total: outcomes().count(), covered: outcomes().filter(|&taken| taken > 0).count() }
}

fn counted<'a>(
    lines: &'a [Line],
    process: &CoveredProcess,
) -> impl Iterator<Item = (usize, usize, &'a Line)> {
    let (first, last) = process.lines;
    let own = lines.iter().enumerate().take(last).skip(first - 1);
    own.filter_map(|(number, line)| Some((number + 1, line.hits?, line)))
}

fn totals_of(lines: &[Line], process: &CoveredProcess) -> Totals {
    let mut totals = Totals::default();
    for (_, hits, line) in counted(lines, process) {
        totals.lines.total += 1;
        totals.lines.covered += usize::from(hits > 0);
        let branches = branches(line);
        totals.branches.total += branches.total;
        totals.branches.covered += branches.covered;
    }
    totals
}

fn class(file: &CoveredFile, process: &CoveredProcess, lines: &[Line], totals: Totals) -> String {
    let mut text = format!(
        "        <class name=\"{}\" filename=\"{}\" {}>\n          <methods/>\n          <lines>\n",
        escape(&process.name),
        escape(&file.name),
        totals.rates()
    );
    for (number, hits, line) in counted(lines, process) {
        let branches = branches(line);
        let _ = match branches.total {
            0 => writeln!(text, "            <line number=\"{number}\" hits=\"{hits}\" branch=\"false\"/>"),
            total => writeln!(
                text,
                "            <line number=\"{number}\" hits=\"{hits}\" branch=\"true\" \
                 condition-coverage=\"{:.0}% ({}/{total})\"/>",
                100.0 * branches.rate(),
                branches.covered
            ),
        };
    }
    text.push_str("          </lines>\n        </class>\n");
    text
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
