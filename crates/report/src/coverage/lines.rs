//! Coverage by lines, for formats that know nothing finer.

use super::{CoveredFile, SiteKind};

/// What is known of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// How many examples have executed what is on it; none for lines without code.
    pub hits: Option<usize>,
    /// The decisions that start on it: how many examples have evaluated each outcome, and where there is one at all.
    pub decisions: Vec<(usize, Option<usize>)>,
}

impl CoveredFile {
    /// The lines of the file, the first one at position 0.
    pub(super) fn coverage_lines(&self) -> Vec<Line> {
        let texts: Vec<&str> = self.text.lines().collect();
        let mut lines = vec![Line::default(); texts.len()];
        let has_code = |line: usize| {
            let text = texts.get(line - 1).map_or("", |text| text.trim());
            !text.is_empty() && !text.starts_with("--")
        };
        for block in self.sites.iter().filter(|site| site.kind == SiteKind::Block) {
            let inside = |site: &&super::Site| {
                site.kind == SiteKind::Action
                    && block.range.contains(&site.range.start)
                    && site.range.end <= block.range.end
            };
            let actions: Vec<&super::Site> = self.sites.iter().filter(inside).collect();
            for line in (block.lines.0..=block.lines.1).filter(|&line| has_code(line)) {
                // A block that was left in the middle was executed up to its last action that happened.
                let reached =
                    actions.iter().filter(|action| action.lines.1 >= line).map(|action| action.hits);
                note(&mut lines, line, block.hits.max(reached.max().unwrap_or(0)));
            }
            for action in actions {
                note(&mut lines, action.lines.0, action.hits);
            }
        }
        for site in &self.sites {
            if let SiteKind::Decision { yes, no } = site.kind {
                note(&mut lines, site.lines.0, site.hits);
                if let Some(line) = lines.get_mut(site.lines.0 - 1) {
                    line.decisions.push((yes, no));
                }
            }
        }
        lines
    }
}

/// Something on a line was exercised by so many examples; the least exercised counts.
fn note(lines: &mut [Line], line: usize, hits: usize) {
    if let Some(entry) = lines.get_mut(line - 1) {
        entry.hits = Some(entry.hits.map_or(hits, |known| known.min(hits)));
    }
}
