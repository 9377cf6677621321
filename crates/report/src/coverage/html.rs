//! A report for browsers, in one file that needs nothing else: a tree of modules and processes, the source with what
//! was exercised, the examples and the findings.

use std::fmt::Write;

use super::{Counts, Coverage, CoverageFinding, CoveredFile, CoveredProcess, SiteKind};

const STYLE: &str = include_str!("report.css");

impl Coverage {
    /// The whole report as one HTML page.
    pub fn html(&self) -> String {
        let mut page = String::new();
        let title = escape(&format!("Coverage of {}", self.model));
        let _ = write!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style></head>\n<body>\n<header><h1>{title}</h1>\n<p class=\"sums\">"
        );
        let sums =
            [("blocks", self.blocks), ("decisions", self.decisions.counts()), ("actions", self.actions)];
        for (name, counts) in sums {
            let (covered, total) = (counts.covered, counts.total);
            let more = match (name, self.executability.uncovered) {
                ("blocks", 1..) => format!(" ({})", self.executability),
                _ => String::new(),
            };
            let _ = write!(
                page,
                "<span>{} {name} <small>{covered} of {total}{more}</small></span>",
                gauge(counts)
            );
        }
        if let Some(functions) = self.functions.as_ref().filter(|functions| functions.blocks.total > 0) {
            let sums = [("blocks", functions.blocks), ("decisions", functions.decisions.counts())];
            for (name, counts) in sums.into_iter().filter(|(_, counts)| counts.total > 0) {
                let (covered, total) = (counts.covered, counts.total);
                let _ = write!(
                    page,
                    "<span>{} {name} of functions <small>{covered} of {total}</small></span>",
                    gauge(counts)
                );
            }
        }
        page.push_str("</p>\n");
        if self.partial {
            page.push_str("<p class=\"partial\">Partial: some examples were not fully explored.</p>\n");
        }
        page.push_str("</header>\n<nav>\n");
        self.tree(&mut page);
        page.push_str("</nav>\n<main>\n");
        self.finding_list(&mut page);
        self.example_table(&mut page);
        self.change_list(&mut page);
        self.suggestion_list(&mut page);
        self.criterion_list(&mut page);
        for (number, file) in self.files.iter().enumerate() {
            file.source(number, &self.findings, &mut page);
        }
        page.push_str("</main>\n</body></html>\n");
        page
    }

    /// What there is on the page; modules, and the processes in each.
    fn tree(&self, page: &mut String) {
        let _ = writeln!(
            page,
            "<p><a href=\"#findings\">Findings ({})</a> · <a href=\"#examples\">Examples ({})</a></p>\n\
             <div class=\"row head\"><span></span><small>blocks</small><small>decisions</small>\
             <small>actions</small></div>",
            self.findings.len(),
            self.examples.len()
        );
        let mut modules: Vec<&str> = Vec::new();
        for process in self.files.iter().flat_map(|file| &file.processes) {
            if !modules.contains(&process.module.as_str()) {
                modules.push(&process.module);
            }
        }
        for module in modules {
            let own = |process: &&CoveredProcess| process.module == module;
            let all = || self.files.iter().flat_map(|file| &file.processes).filter(own);
            let _ = writeln!(
                page,
                "<details open><summary class=\"row\"><span>{}</span>{}{}{}</summary>",
                escape(module),
                gauge(sum(all().map(|process| process.blocks))),
                gauge(sum(all().map(|process| process.decisions))),
                gauge(sum(all().map(|process| process.actions)))
            );
            for (number, file) in self.files.iter().enumerate() {
                for process in file.processes.iter().filter(own) {
                    let _ = writeln!(
                        page,
                        "<div class=\"row\"><a href=\"#f{number}l{}\" title=\"{1}\">{1}</a>{2}{3}{4}</div>",
                        process.lines.0,
                        escape(&process.name),
                        gauge(process.blocks),
                        gauge(process.decisions),
                        gauge(process.actions)
                    );
                }
            }
            page.push_str("</details>\n");
        }
    }

    fn finding_list(&self, page: &mut String) {
        let _ = writeln!(page, "<section id=\"findings\"><h2>Findings ({})</h2>", self.findings.len());
        if self.findings.is_empty() {
            page.push_str("<p>There are no findings.</p>\n");
        }
        for (number, finding) in self.findings.iter().enumerate() {
            let file = self.files.iter().position(|file| file.name == finding.file);
            let text =
                file.and_then(|file| self.files[file].text.lines().nth(finding.line.saturating_sub(1)));
            let _ = write!(
                page,
                "<article class=\"{}\" id=\"finding{number}\"><a href=\"#f{}l{}\">{}:{}:{}</a> in {}\
                 <p>{}</p><code>{}</code>",
                finding.kind,
                file.unwrap_or(0),
                finding.line,
                escape(&finding.file),
                finding.line,
                finding.column,
                escape(&finding.process),
                escape(&finding.message),
                escape(text.unwrap_or_default().trim())
            );
            let reasons = finding.why.iter().chain(&finding.advice);
            list(page, reasons.map(String::as_str));
            page.push_str("</article>\n");
        }
        page.push_str("</section>\n");
    }

    /// What has changed since the baseline.
    fn change_list(&self, page: &mut String) {
        let Some(change) = &self.baseline else { return };
        page.push_str("<section><h2>Since the baseline</h2>\n");
        if change.lost.is_empty() && change.gained.is_empty() {
            page.push_str("<p>Nothing has changed.</p>\n");
        }
        for (what, names) in [("no longer covered", &change.lost), ("newly covered", &change.gained)] {
            if !names.is_empty() {
                let _ = write!(page, "<h3>{} {what}</h3>", names.len());
                list(page, names.iter().map(String::as_str));
            }
        }
        page.push_str("</section>\n");
    }

    fn suggestion_list(&self, page: &mut String) {
        let Some(found) = &self.suggestions else { return };
        let tried = crate::count(found.tried as u64, "example");
        let _ = write!(page, "<section><h2>Suggestions</h2>\n<p>{tried} tried.</p>\n");
        for example in &found.examples {
            let _ = write!(page, "<details><summary>Add <code>{}</code>: ", escape(&example.name));
            let _ = write!(page, "it closes {}</summary>", crate::count(example.closes.len() as u64, "hole"));
            let closes: Vec<String> = example.closes.iter().map(ToString::to_string).collect();
            list(page, closes.iter().map(String::as_str));
            let _ = writeln!(page, "<pre>{}</pre></details>", escape(&example.toml));
        }
        let why = if found.exhaustive { "that no example can close" } else { "still open" };
        let elsewhere = "in processes that no example starts";
        for (open, why) in [(&found.open, why), (&found.elsewhere, elsewhere)] {
            if !open.is_empty() {
                let holes = crate::count(open.len() as u64, "hole");
                let _ = write!(page, "<details><summary>{holes} {why}</summary>");
                let open: Vec<String> = open.iter().map(ToString::to_string).collect();
                list(page, open.iter().map(String::as_str));
                page.push_str("</details>\n");
            }
        }
        if !found.not_tried.is_empty() {
            page.push_str("<p>Not tried:</p>");
            list(page, found.not_tried.iter().map(String::as_str));
        }
        page.push_str("</section>\n");
    }

    /// Further criteria, each with what it lacks.
    fn criterion_list(&self, page: &mut String) {
        if self.criteria.is_empty() {
            return;
        }
        page.push_str("<section><h2>Further criteria</h2>\n");
        for one in &self.criteria {
            let counts = Counts { total: one.total, covered: one.covered };
            let _ = write!(
                page,
                "<details><summary>{} {} <small>{} of {}</small></summary>",
                gauge(counts),
                escape(&one.name),
                one.covered,
                one.total
            );
            list(page, one.missing.iter().map(String::as_str));
            if !one.infeasible_items.is_empty() {
                page.push_str("<p>Not feasible:</p>");
                list(page, one.infeasible_items.iter().map(String::as_str));
            }
            page.push_str("</details>\n");
        }
        page.push_str("</section>\n");
    }

    fn example_table(&self, page: &mut String) {
        let _ = write!(
            page,
            "<section id=\"examples\"><h2>Examples ({})</h2>\n<table><tr><th>example<th>blocks<th>decisions<th>actions\
             <th>states<th>reached only here<th></tr>\n",
            self.examples.len()
        );
        for example in &self.examples {
            let _ = writeln!(
                page,
                "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
                escape(&example.name),
                gauge(example.blocks),
                gauge(example.decisions.counts()),
                gauge(example.actions),
                example.states,
                example.only.len(),
                example.stopped.as_deref().map(|why| escape(&format!("partial: {why}"))).unwrap_or_default()
            );
        }
        let _ = writeln!(
            page,
            "</table>\n<p>Subset with the same coverage: {}</p></section>",
            escape(&self.subset.join(", "))
        );
    }
}

impl CoveredFile {
    /// The source, a row a line, coloured by what was exercised.
    fn source(&self, number: usize, findings: &[CoverageFinding], page: &mut String) {
        let _ = write!(page, "<section><h2>{}</h2>\n<pre>", escape(&self.name));
        let lines = self.coverage_lines();
        for (index, text) in self.text.lines().enumerate() {
            let line = lines.get(index).cloned().unwrap_or_default();
            let class = match line.hits {
                None => "none",
                Some(0) => "missed",
                Some(_) if line.decisions.iter().any(|&(yes, no)| yes == 0 || no == Some(0)) => "half",
                Some(_) => "hit",
            };
            let hits = line.hits.map(|hits| hits.to_string()).unwrap_or_default();
            let _ = write!(
                page,
                "<span class=\"{class}\" id=\"f{number}l{0}\" title=\"{1}\"><i>{0:>5} {hits:>4}</i> {2}\n</span>",
                index + 1,
                escape(&self.tooltip(index + 1)),
                escape(text)
            );
            let here = |one: &CoverageFinding| one.file == self.name && one.line == index + 1;
            for (place, finding) in findings.iter().enumerate().filter(|(_, one)| here(one)) {
                let _ = write!(
                    page,
                    "<b class=\"{}\">           <a href=\"#finding{place}\">{}</a>\n</b>",
                    finding.kind,
                    escape(&finding.message)
                );
            }
        }
        page.push_str("</pre></section>\n");
    }

    fn tooltip(&self, line: usize) -> String {
        let sites = self.sites.iter().filter(|site| site.lines.0 == line);
        let parts: Vec<String> = sites
            .map(|site| match site.kind {
                SiteKind::Block => format!("block: {}", crate::count(site.hits as u64, "example")),
                SiteKind::Action => format!("action: {}", crate::count(site.hits as u64, "example")),
                SiteKind::Decision { yes, no: Some(no) } => format!("decision: {yes} true, {no} false"),
                SiteKind::Decision { yes, no: None } => format!("decision: {yes} true"),
            })
            .collect();
        parts.join("; ")
    }
}

fn sum(counts: impl Iterator<Item = Counts>) -> Counts {
    counts.fold(Counts::default(), |all, one| Counts {
        total: all.total + one.total,
        covered: all.covered + one.covered,
    })
}

fn list<'a>(page: &mut String, lines: impl Iterator<Item = &'a str>) {
    let items: String = lines.map(|line| format!("<li>{}</li>", escape(line))).collect();
    if !items.is_empty() {
        let _ = write!(page, "<ul>{items}</ul>");
    }
}

fn gauge(counts: Counts) -> String {
    let class = match (counts.total, counts.covered) {
        (0, _) => "none",
        (total, covered) if total == covered => "hit",
        (_, 0) => "missed",
        _ => "half",
    };
    match counts.total {
        0 => "<em class=\"none\">–</em>".to_owned(),
        total => format!(
            "<em class=\"{class}\" title=\"{} of {total}\">{:.0}&#8239;%</em>",
            counts.covered,
            counts.percent()
        ),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::Site;
    use super::*;

    #[test]
    fn tooltips_count_in_the_right_number() {
        let site = |kind, hits| Site { kind, process: 0, range: 0..1, lines: (1, 1), hits };
        let sites = vec![site(SiteKind::Block, 1), site(SiteKind::Action, 2)];
        let file = CoveredFile { name: "m.lnt".into(), text: "A".into(), processes: Vec::new(), sites };
        assert_eq!(file.tooltip(1), "block: 1 example; action: 2 examples");
    }
}
