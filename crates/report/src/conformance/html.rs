//! The verdict as a page that needs nothing but a browser.

use super::{Conformance, NonConformance};
use crate::markup::escape;
use crate::number::{count, grouped};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;\
color:#1c2430;background:#fff}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
code,td.term{font:14px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}\
td,th{border:1px solid #d5dae2;padding:.3rem .6rem;text-align:left;vertical-align:top}th{background:#f2f4f8}\
.yes{color:#116329}.no{color:#b3261e}.model{background:#e9f3ff}.program{background:#ffecea}\
@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#14181f}td,th{border-color:#39424f}th{background:#1e242e}\
.yes{color:#6fd58a}.no{color:#ff8a80}.model{background:#16304d}.program{background:#4a1f1c}}";

impl Conformance {
    /// The verdict as a page.
    ///
    /// ```
    /// let verdict = report::Conformance { sequences: 1, accepted: 1, ..Default::default() };
    /// assert!(verdict.html("model.maude").contains("<h1"));
    /// ```
    pub fn html(&self, model: &str) -> String {
        let (class, verdict) = match (self.rejected, self.unknown) {
            (0, 0) => ("yes", "The model accepts every sequence".to_owned()),
            (0, unknown) => ("no", format!("{} not decided", count(unknown, "sequence"))),
            (rejected, _) => (
                "no",
                format!("The model rejects {} of {}", grouped(rejected), count(self.sequences, "sequence")),
            ),
        };
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>Conformance: {model}</title>\n\
             <style>{STYLE}</style>\n<h1 class=\"{class}\">{verdict}</h1>\n<p>{model}: {}, {} followed, at most {} between states.</p>\n",
            count(self.sequences, "sequence"),
            count(self.moments, "moment"),
            count(u64::from(self.bound), "step"),
            model = escape(model),
        );
        if let Some(stopped) = &self.stopped {
            page += &format!("<p class=\"no\">Partial: {}</p>\n", escape(stopped));
        }
        for cause in &self.causes {
            page += &format!("<h2>{}: {}</h2>\n", escape(&cause.cause), count(cause.failures, "sequence"));
            if let Some(failure) = self.failures.get(cause.first) {
                page += &card(failure);
            }
        }
        if !self.needed.is_empty() {
            page += "<h2>Steps between neighbours</h2>\n<table><tr><th>steps<th>pairs<th>first</tr>\n";
            for needed in &self.needed {
                page += &format!(
                    "<tr><td>{}<td>{}<td>sequence {}, index {}</tr>\n",
                    needed.steps,
                    grouped(needed.pairs),
                    needed.seq,
                    needed.index
                );
            }
            page += "</table>\n";
        }
        if let Some(coverage) = &self.coverage {
            page += &format!(
                "<h2>What the traces exercised</h2>\n<p>{} of {} actions, {} of {} outcomes of decisions</p>\n",
                coverage.actions.covered,
                coverage.actions.total,
                coverage.outcomes.covered,
                coverage.outcomes.total
            );
            if !coverage.never.is_empty() {
                page += "<table><tr><th>never<th>place</tr>\n";
                for never in &coverage.never {
                    page += &format!(
                        "<tr><td class=\"term\">{}<td>{}:{}</tr>\n",
                        escape(&never.what),
                        escape(&never.file),
                        never.line
                    );
                }
                page += "</table>\n";
            }
        }
        if !self.failures.is_empty() {
            page +=
                "<h2>All failures</h2>\n<table><tr><th>seq<th>index<th>bound<th>cause<th>from<th>to</tr>\n";
            for failure in self.failures.iter().take(1_000) {
                let cause = self.causes.get(failure.cause).map_or("", |cause| cause.cause.as_str());
                page += &format!(
                    "<tr><td>{}<td>{}<td>{}<td>{}<td class=\"term\">{}<td class=\"term\">{}</tr>\n",
                    failure.seq,
                    failure.index,
                    failure.bound,
                    escape(cause),
                    escape(&failure.from),
                    escape(&failure.to)
                );
            }
            page += "</table>\n";
            if self.failures.len() > 1_000 {
                page += &format!("<p>and {} more</p>\n", grouped(self.failures.len() as u64 - 1_000));
            }
        }
        page + "</html>\n"
    }
}

/// One failure, with what differs side by side.
fn card(failure: &NonConformance) -> String {
    let mut text = format!(
        "<p>{}:{}: sequence {}, index {}</p>\n<table>\n<tr><th>from<td class=\"term\">{}</tr>\n\
         <tr><th>to<td class=\"term program\">{}</tr>\n",
        escape(&failure.file),
        failure.line,
        failure.seq,
        failure.index,
        escape(&failure.from),
        escape(&failure.to)
    );
    if let Some(closest) = &failure.closest {
        let steps = if failure.steps.is_empty() {
            String::new()
        } else {
            format!(" by {}", failure.steps.join(", "))
        };
        text +=
            &format!("<tr><th>closest{}<td class=\"term model\">{}</tr>\n", escape(&steps), escape(closest));
    }
    text += "</table>\n";
    if !failure.differs.is_empty() {
        text += "<table><tr><th>differs<th>the model has<th>the program has</tr>\n";
        for differing in &failure.differs {
            text += &format!(
                "<tr><td>{}<td class=\"term model\">{}<td class=\"term program\">{}</tr>\n",
                escape(&differing.component),
                escape(&differing.model),
                escape(&differing.program)
            );
        }
        text += "</table>\n";
    }
    for blocked in &failure.blocked {
        text += &format!(
            "<p>{}:{}:{}: {}<br><code>{}</code></p>\n",
            escape(&blocked.file),
            blocked.line,
            blocked.column,
            escape(&blocked.why),
            escape(&blocked.source)
        );
    }
    if !failure.searched.is_empty() {
        text += &format!("<p>{}</p>\n", escape(&failure.searched));
    }
    if let Some(schedule) = &failure.schedule {
        text += &format!("<p>Schedule: <code>{}</code></p>\n", escape(schedule));
    }
    text
}
