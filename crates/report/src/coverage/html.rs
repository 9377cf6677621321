//! A report for browsers, in one file that needs nothing else: a tree of modules and processes, the source with what
//! was exercised, the examples and the findings.

use std::fmt::Write;

use super::{Counts, Coverage, CoverageFinding, CoveredFile, SiteKind};

const STYLE: &str = include_str!("report.css");

impl Coverage {
    /// The whole report as one HTML page.
    pub fn html(&self) -> String {
        let mut page = String::new();
        let title = escape(&format!("Coverage of {}", self.model));
        let _ = write!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style></head>\n<body>\n<header><h1>{title}</h1>\n<p class=\"sums\">"
        );
        let sums =
            [("blocks", self.blocks), ("decisions", self.decisions.counts()), ("actions", self.actions)];
        for (name, counts) in sums {
            let _ = write!(page, "<span>{} {name}</span>", gauge(counts));
        }
        page.push_str("</p>\n");
        if self.partial {
            page.push_str("<p class=\"partial\">Partial: some examples were not explored as a whole.</p>\n");
        }
        page.push_str("</header>\n<nav>\n");
        self.tree(&mut page);
        page.push_str("</nav>\n<main>\n");
        self.finding_list(&mut page);
        self.example_table(&mut page);
        for (number, file) in self.files.iter().enumerate() {
            file.source(number, &self.findings, &mut page);
        }
        page.push_str("</main>\n</body></html>\n");
        page
    }

    /// Modules, and the processes in each.
    fn tree(&self, page: &mut String) {
        let mut modules: Vec<&str> = Vec::new();
        for process in self.files.iter().flat_map(|file| &file.processes) {
            if !modules.contains(&process.module.as_str()) {
                modules.push(&process.module);
            }
        }
        for module in modules {
            let _ = write!(page, "<details open><summary>{}</summary>\n<ul>\n", escape(module));
            for (number, file) in self.files.iter().enumerate() {
                for process in file.processes.iter().filter(|process| process.module == module) {
                    let _ = writeln!(
                        page,
                        "<li><a href=\"#f{number}l{}\">{}</a> {}{}{}</li>",
                        process.lines.0,
                        escape(&process.name),
                        gauge(process.blocks),
                        gauge(process.decisions),
                        gauge(process.actions)
                    );
                }
            }
            page.push_str("</ul></details>\n");
        }
    }

    fn finding_list(&self, page: &mut String) {
        let _ = writeln!(page, "<section><h2>Findings ({})</h2>", self.findings.len());
        if self.findings.is_empty() {
            page.push_str("<p>Nothing is wrong where the examples lead.</p>\n");
        }
        for finding in &self.findings {
            let file = self.files.iter().position(|file| file.name == finding.file).unwrap_or(0);
            let _ = write!(
                page,
                "<article class=\"{}\"><a href=\"#f{file}l{}\">{}:{}:{}</a> in {}<p>{}</p>",
                finding.kind,
                finding.line,
                escape(&finding.file),
                finding.line,
                finding.column,
                escape(&finding.process),
                escape(&finding.message)
            );
            let reasons = finding.why.iter().chain(&finding.advice);
            let reasons: String = reasons.map(|why| format!("<li>{}</li>", escape(why))).collect();
            if !reasons.is_empty() {
                let _ = write!(page, "<ul>{reasons}</ul>");
            }
            page.push_str("</article>\n");
        }
        page.push_str("</section>\n");
    }

    fn example_table(&self, page: &mut String) {
        let _ = write!(
            page,
            "<section><h2>Examples ({})</h2>\n<table><tr><th>example<th>blocks<th>decisions<th>actions\
             <th>states<th>alone in<th></tr>\n",
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
            for finding in findings.iter().filter(|one| one.file == self.name && one.line == index + 1) {
                let _ = write!(
                    page,
                    "<b class=\"{}\">           {}\n</b>",
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
                SiteKind::Block => format!("block: {} examples", site.hits),
                SiteKind::Action => format!("action: {} examples", site.hits),
                SiteKind::Decision { yes, no: Some(no) } => format!("decision: {yes} true, {no} false"),
                SiteKind::Decision { yes, no: None } => format!("decision: {yes} true"),
            })
            .collect();
        parts.join("; ")
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
