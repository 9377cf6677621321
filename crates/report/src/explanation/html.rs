//! The explanation as one HTML file that needs nothing else: no network, no scripts.

use std::collections::BTreeMap;

use super::lanes::Extent;
use super::text::short;
use super::{ActionSpan, Choice, ChoiceExit, Explanation, SourceFile, TagCounts};
use crate::markup::escape;
use crate::number::{count, grouped, seconds};

const STYLE: &str = "
:root { color-scheme: light dark; --right: #1a7f37; --wrong: #cf222e; --open: #57606a; --edge: #8884; --soft: #8881; }
@media (prefers-color-scheme: dark) { :root { --right: #3fb950; --wrong: #ff7b72; --open: #9da7b3; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--edge); }
.verdict { font-weight: 700; } .violated, .incorrect { color: var(--wrong); } .holds, .correct { color: var(--right); }
.neutral { color: var(--open); } .dim { color: var(--open); }
.bar { display: flex; height: 1rem; border-radius: .3rem; overflow: hidden; margin: .5rem 0; }
.bar span { min-width: 2px; } .bar .correct { background: var(--right); } .bar .incorrect { background: var(--wrong); }
.bar .neutral { background: var(--open); }
.choice { border: 1px solid var(--edge); border-radius: .6rem; padding: .2rem 1.2rem 1rem; margin: 1.2rem 0; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem; }
.side { border-top: 4px solid; padding-top: .4rem; } .side h4 { margin: 0 0 .4rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .4rem .6rem; border-radius: .3rem; overflow-x: auto; margin: .3rem 0 .8rem; color: CanvasText; }
table { border-collapse: collapse; } td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.listing td { font: 13px/1.45 ui-monospace, monospace; white-space: pre; padding: 0 .6rem; }
.listing tr.correct td { background: color-mix(in srgb, var(--right) 14%, transparent); }
.listing tr.incorrect td { background: color-mix(in srgb, var(--wrong) 16%, transparent); }
.listing tr.correct.some td { background: color-mix(in srgb, var(--right) 5%, transparent); }
.listing tr.incorrect.some td { background: color-mix(in srgb, var(--wrong) 6%, transparent); }
.listing tr.mixed td { background: color-mix(in srgb, #d4a72c 18%, transparent); }
.listing td { color: CanvasText; } .scroll { overflow-x: auto; }
tr.noise { opacity: .55; }
";

impl Explanation {
    /// The whole report.
    pub fn html(&self) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">\
             <title>{0}: why it {1}</title><style>{STYLE}</style></head><body>\n",
            escape(&self.property),
            if self.verdict { "holds" } else { "fails" }
        );
        let verdict = if self.verdict { "holds" } else { "violated" };
        page += &format!(
            "<h1>{}</h1><p><span class=\"verdict {verdict}\">{verdict}</span>",
            escape(&self.property)
        );
        if let Some(description) = &self.description {
            page += &format!(" · {}", escape(description));
        }
        page += &format!(
            "<br><span class=\"dim\">{}, {}, {}; method {}; {}</span></p>\n",
            count(self.full.states, "state"),
            count(self.full.transitions, "transition"),
            count(self.full.labels, "label"),
            escape(&self.method),
            seconds(self.seconds)
        );
        for remark in &self.remarks {
            page += &format!("<p>{}</p>\n", escape(remark));
        }
        if !self.verdict {
            self.add_summary(&mut page);
            page += "<h2>Where it is decided</h2>\n";
            if self.choices.is_empty() {
                page += "<p>No choice decides this violation.</p>\n";
            }
            for (number, choice) in self.choices.iter().enumerate() {
                self.add_choice(&mut page, number, choice);
            }
            self.add_steps(&mut page);
            self.add_listings(&mut page);
        }
        if let Some(repairs) = &self.repairs {
            page += &repairs.html();
        }
        page + "</body></html>\n"
    }

    fn add_summary(&self, page: &mut String) {
        let tags = [
            ("correct", self.tags.correct),
            ("incorrect", self.tags.incorrect),
            ("neutral", self.tags.neutral),
        ];
        if self.is_cut() {
            *page += &format!(
                "<p>What can violate it: {}, {}.</p>\n",
                count(self.counterexample_lts.states, "state"),
                count(self.counterexample_lts.transitions, "transition")
            );
        }
        *page += "<div class=\"bar\" role=\"img\" aria-label=\"tags\">";
        for (tag, number) in tags {
            *page +=
                &format!("<span class=\"{tag}\" style=\"flex:{number}\" title=\"{number} {tag}\"></span>");
        }
        *page += "</div><p>";
        for (tag, number) in tags {
            *page += &format!("<span class=\"{tag}\">{} {tag}</span> &nbsp; ", grouped(number));
        }
        let kinds = &self.neighbourhoods;
        *page += &format!(
            "transitions · {} ({} cn, {} in, {} ci, {} cin)</p>\n",
            count(kinds.total, "neighbourhood"),
            kinds.cn,
            kinds.r#in,
            kinds.ci,
            kinds.cin
        );
        if let Some(shape) = &self.shape {
            *page += &format!(
                "<p>This bug looks like: <b>{}</b>. In short, {}.</p>\n",
                escape(&shape.name),
                escape(&shape.meaning)
            );
        }
    }

    fn add_choice(&self, page: &mut String, number: usize, choice: &Choice) {
        *page += &format!(
            "<section class=\"choice\"><h3>Choice {}: {} <span class=\"dim\">× {}</span></h3>\
             <p class=\"dim\">{}</p>",
            number + 1,
            choice.kinds.join(", "),
            grouped(choice.neighbourhoods),
            choice.facts().join(" · ")
        );
        if !choice.before.is_empty() {
            let shown: Vec<String> = choice.before.iter().take(12).map(|label| escape(label)).collect();
            *page += &format!("<p>Just before: <code>{}</code></p>", shown.join("</code>, <code>"));
        }
        *page += "<div class=\"sides\">";
        let sides =
            [("correct", &choice.correct), ("incorrect", &choice.incorrect), ("neutral", &choice.neutral)];
        for ((tag, exits), heading) in sides.into_iter().zip(self.headings()) {
            if !exits.is_empty() {
                self.add_side(page, tag, heading, exits);
            }
        }
        *page += "</div></section>\n";
    }

    fn add_side(&self, page: &mut String, tag: &str, heading: &str, exits: &[ChoiceExit]) {
        *page += &format!("<div class=\"side {tag}\"><h4>{}</h4>", capital(heading));
        for exit in exits.iter().take(40) {
            let labels: Vec<String> = exit.labels.iter().take(8).map(|label| escape(label)).collect();
            let more = if exit.labels.len() > 8 { ", …" } else { "" };
            *page += &format!(
                "<div><code>{}</code>{more} <span class=\"dim\">× {}</span></div>",
                labels.join("</code>, <code>"),
                grouped(exit.transitions)
            );
            for action in &exit.actions {
                *page += &format!(
                    "<div class=\"dim\">{} {}:{}</div><pre>{}</pre>",
                    escape(&action.process),
                    escape(short(&action.file)),
                    action.line,
                    escape(&self.lines_of(action))
                );
            }
        }
        if exits.len() > 40 {
            *page += &format!("<div class=\"dim\">… and {} more</div>", exits.len() - 40);
        }
        *page += "</div>";
    }

    /// The lines of an action, five at most.
    fn lines_of(&self, action: &ActionSpan) -> String {
        let file = self.files.iter().find(|file| file.name == action.file);
        let lines = file.map(|file| file.text.lines().skip(action.line - 1)).into_iter().flatten();
        let taken: Vec<&str> = lines.take((action.end_line + 1 - action.line).min(5)).collect();
        let indent = taken.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        taken.iter().map(|line| line.get(indent..).unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    fn add_steps(&self, page: &mut String) {
        if self.counterexample.is_none() {
            return;
        }
        let matter = self.steps.iter().filter(|step| step.matters).count();
        *page += &format!(
            "<h2>The counterexample</h2><p>{}; {matter} of them lead to or leave a choice.</p>\n\
             <div class=\"scroll\"><table>",
            count(self.steps.len() as u64, "step")
        );
        for (at, step) in self.steps.iter().enumerate() {
            if self.lasso == Some(at) {
                *page += "<tr><td colspan=\"4\" class=\"dim\">from here on, for ever:</td></tr>";
            }
            let places = step.actions.iter().map(|action| {
                format!("{} {}:{}", escape(&action.process), escape(short(&action.file)), action.line)
            });
            *page += &format!(
                "<tr class=\"{}\"><td class=\"number dim\">{}</td><td class=\"{}\"><code>{}</code></td><td>{}</td>\
                 <td class=\"dim\">{}</td></tr>\n",
                if step.matters { "" } else { "noise" },
                at + 1,
                step.tag,
                escape(&step.label),
                step.leaves.map_or(String::new(), |kind| format!("choice ({kind})")),
                places.collect::<Vec<_>>().join(", ")
            );
        }
        *page += "</table></div>\n";
        if matter > 0 {
            *page += &format!(
                "<h3>What matters of it</h3><div class=\"scroll\">{}</div>\n",
                self.svg(Extent::Abstracted)
            );
        }
        if self.steps.len() <= 200 {
            *page += &format!("<h3>All of it</h3><div class=\"scroll\">{}</div>\n", self.svg(Extent::Whole));
        }
    }

    fn add_listings(&self, page: &mut String) {
        for file in &self.files {
            *page += &format!(
                "<h2>{}</h2><p class=\"dim\">per line: correct / incorrect / neutral transitions</p>\n",
                escape(short(&file.name))
            );
            self.add_listing(page, file);
        }
    }

    fn add_listing(&self, page: &mut String, file: &SourceFile) {
        let mut lines: BTreeMap<usize, TagCounts> = BTreeMap::new();
        for one in self.source.iter().filter(|one| one.file == file.name && one.kind != "block") {
            let counts = lines.entry(one.line).or_default();
            counts.correct += one.counts.correct;
            counts.incorrect += one.counts.incorrect;
            counts.neutral += one.counts.neutral;
        }
        *page += "<div class=\"scroll\"><table class=\"listing\">";
        for (at, line) in file.text.lines().enumerate() {
            let counts = lines.get(&(at + 1)).copied();
            let class = match counts {
                Some(TagCounts { correct: 0, incorrect: 0, .. }) | None => "",
                Some(TagCounts { incorrect: 0, neutral: 0, .. }) => "correct",
                Some(TagCounts { correct: 0, neutral: 0, .. }) => "incorrect",
                Some(TagCounts { incorrect: 0, .. }) => "correct some",
                Some(TagCounts { correct: 0, .. }) => "incorrect some",
                Some(_) => "mixed",
            };
            let numbers = counts.map_or(String::new(), |counts| {
                format!("{} / {} / {}", counts.correct, counts.incorrect, counts.neutral)
            });
            *page += &format!(
                "<tr class=\"{class}\"><td class=\"number\">{numbers}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
                at + 1,
                escape(line)
            );
        }
        *page += "</table></div>\n";
    }
}

/// A sentence that starts with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
