//! The annotated source on a terminal: lines with holes, and a mark before each line that counts.

use super::{Coverage, CoveredFile, Site, SiteKind};

/// How many lines are shown around a line with a hole.
const CONTEXT: usize = 1;

impl Coverage {
    /// The source with what is not covered: `+` before lines that were executed, `-` before those that were not, `~`
    /// before decisions with one outcome. Without `everything`, only what is near holes.
    pub fn annotated(&self, everything: bool, colour: bool) -> String {
        let mut text = String::new();
        for file in &self.files {
            file.annotate(everything, colour, &mut text);
        }
        text
    }
}

/// What a line is worth to a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    NoCode,
    Executed,
    HalfDecided,
    Missed,
}

impl CoveredFile {
    fn annotate(&self, everything: bool, colour: bool, out: &mut String) {
        let lines = self.coverage_lines();
        let grades: Vec<Grade> = lines
            .iter()
            .map(|line| match line.hits {
                None => Grade::NoCode,
                Some(0) => Grade::Missed,
                Some(_) if line.decisions.iter().any(|&(yes, no)| yes == 0 || no == Some(0)) => {
                    Grade::HalfDecided
                }
                Some(_) => Grade::Executed,
            })
            .collect();
        let is_hole = |line: usize| matches!(grades[line], Grade::Missed | Grade::HalfDecided);
        let near = |line: usize| {
            let (from, to) = (line.saturating_sub(CONTEXT), (line + CONTEXT).min(grades.len() - 1));
            (from..=to).any(is_hole)
        };
        let shown: Vec<usize> = (0..grades.len()).filter(|&line| everything || near(line)).collect();
        if shown.is_empty() {
            return;
        }
        out.push_str(&format!("{}\n", self.name));
        let width = grades.len().to_string().len();
        let mut before = None;
        for line in shown {
            if before.is_some_and(|before| before + 1 < line) {
                out.push_str(&format!("{:>width$} …\n", ""));
            }
            before = Some(line);
            let (mark, style) = match grades[line] {
                Grade::NoCode => (' ', "2"),
                Grade::Executed => ('+', "32"),
                Grade::HalfDecided => ('~', "33"),
                Grade::Missed => ('-', "31"),
            };
            let text = self.text.lines().nth(line).unwrap_or("");
            let remark = self.remark(line + 1);
            let row = format!("{:>width$} {mark} {text}", line + 1);
            match colour {
                true => out.push_str(&format!("\x1b[{style}m{row}\x1b[0m")),
                false => out.push_str(row.trim_end()),
            }
            if !remark.is_empty() {
                out.push_str(&format!("   <- {remark}"));
            }
            out.push('\n');
        }
    }

    /// What is missing on a line, in words, always in the same order.
    fn remark(&self, line: usize) -> String {
        const BLOCK: &str = "block not executed";
        const DECISION: &str = "decision never evaluated";
        const TRUE: &str = "never true";
        const FALSE: &str = "never false";
        const ACTION: &str = "action never happens";
        let missing = |site: &Site| match site.kind {
            SiteKind::Decision { yes: 0, no: Some(0) | None } => Some(DECISION),
            SiteKind::Decision { yes: 0, .. } => Some(TRUE),
            SiteKind::Decision { no: Some(0), .. } => Some(FALSE),
            SiteKind::Action if site.hits == 0 => Some(ACTION),
            SiteKind::Block if site.hits == 0 => Some(BLOCK),
            _ => None,
        };
        let of_line = self.sites.iter().filter(|site| site.lines.0 == line);
        let all: Vec<&str> = of_line.filter_map(missing).collect();
        let ordered = [BLOCK, DECISION, TRUE, FALSE, ACTION].into_iter().filter(|part| all.contains(part));
        ordered.collect::<Vec<_>>().join(", ")
    }
}
