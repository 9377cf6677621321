//! The kill matrix as a page that needs nothing but a browser.

use super::{MatrixRow, Mutation};
use crate::markup::escape;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;\
color:#1c2430;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:#f2f4f8;padding:.5rem;overflow-x:auto}\
table{border-collapse:collapse}td,th{border:1px solid #d5dae2;padding:.2rem .5rem;text-align:left;vertical-align:top}\
th{background:#f2f4f8;position:sticky;top:0}td.k{background:#d9f2df;text-align:center}td.o{text-align:center;color:#5b6675}\
.wide{overflow-x:auto;max-height:80vh}tr.survivor td{background:#ffecea}\
@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#14181f}td,th{border-color:#39424f}th,pre{background:#1e242e}\
td.k{background:#1d4a2a}td.o{color:#a3acba}tr.survivor td{background:#4a1f1c}}";

impl Mutation {
    /// The matrix, what each property and example is worth, and the survivors with their diffs.
    ///
    /// ```
    /// let mutation = report::Mutation { model: "a<b.lnt".into(), ..Default::default() };
    /// assert!(mutation.html().contains("a&lt;b.lnt"));
    /// ```
    pub fn html(&self) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>Mutants: {model}</title>\n\
             <style>{STYLE}</style>\n<h1>{model}: {}</h1>\n",
            escape(&self.sentence()),
            model = escape(&self.model),
        );
        for remark in self.remarks() {
            page += &format!("<p>{}</p>\n", escape(&remark));
        }
        page += "<h2>What properties and examples notice</h2>\n<table><tr><th>name<th>kills<th>alone</tr>\n";
        for worth in self.properties.iter().chain(&self.examples) {
            page += &format!("<tr><td>{}<td>{}<td>{}</tr>\n", escape(&worth.name), worth.kills, worth.alone);
        }
        page += "</table>\n<h2>Operators</h2>\n<table><tr><th>operator<th>mutants<th>killed<th>survivors<th>equivalent</tr>\n";
        for one in &self.operators {
            page += &format!(
                "<tr><td>{}<td>{}<td>{}<td>{}<td>{}</tr>\n",
                escape(&one.operator),
                one.mutants,
                one.killed,
                one.survivors,
                one.equivalent
            );
        }
        page += "</table>\n";
        if !self.survivors.is_empty() {
            page += "<h2>Mutants that nothing notices</h2>\n";
            for survivor in &self.survivors {
                page += &format!(
                    "<p>{}</p>\n<pre>{}</pre>\n",
                    escape(&place(&survivor.row)),
                    escape(&survivor.diff)
                );
            }
        }
        page +=
            "<h2>Who notices which mutant</h2>\n<div class=\"wide\"><table><tr><th>mutant<th>change<th>fate";
        for worth in self.properties.iter().chain(&self.examples) {
            page += &format!("<th>{}", escape(&worth.name));
        }
        page += "</tr>\n";
        for row in &self.matrix {
            let survives = self.survivors.iter().any(|survivor| survivor.row.mutant == row.mutant);
            page += if survives { "<tr class=\"survivor\">" } else { "<tr>" };
            let fate = match &row.error {
                Some(error) => format!("{}: {error}", row.fate),
                None => row.fate.clone(),
            };
            page += &format!("<td>{}<td>{}<td>{}", row.mutant, escape(&place(row)), escape(&fate));
            for kills in row.properties.iter().chain(&row.examples) {
                page += match kills {
                    Some(true) => "<td class=\"k\">kills",
                    Some(false) => "<td class=\"o\">–",
                    None => "<td class=\"o\">?",
                };
            }
            page += "</tr>\n";
        }
        page + "</table></div>\n</html>\n"
    }
}

fn place(row: &MatrixRow) -> String {
    format!("{}:{}:{}: {} ({})", row.file, row.line, row.column, row.description, row.operator)
}
