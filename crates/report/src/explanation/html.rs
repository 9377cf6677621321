//! The explanation as one HTML file that needs nothing else: no network, no scripts.

use std::collections::BTreeMap;

use super::lanes::Extent;
use super::text::short;
use super::{ActionSpan, Choice, ChoiceExit, Explanation, SourceFile, TagCounts, kind_in_words};
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
tr.noise { opacity: .55; } mark { background: #d4a72c55; color: inherit; }
summary { cursor: pointer; } summary h2 { display: inline-block; }
";

/// The most choices and suspects that are seen at once, and the most choices that are listed; the most steps in a table.
const MOST_CHOICES: usize = 3;
const MOST_SUSPECTS: usize = 5;
const MOST_FOLDED: usize = 100;
const MOST_STEPS: usize = 2000;
/// The most steps that are drawn.
const MOST_DRAWN: usize = 200;

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
        self.add_properties(&mut page);
        for remark in &self.remarks {
            page += &format!("<p>{}</p>\n", escape(remark));
        }
        self.add_part(&mut page);
        if !self.verdict && self.part.is_none() {
            self.add_steps(&mut page);
            self.add_waiting(&mut page);
            self.add_suspects(&mut page);
            page += "<h2>Where it is decided</h2>\n";
            if self.choices.is_empty() {
                page += "<p>No choice decides this violation.</p>\n";
            }
            for (number, choice) in self.choices.iter().enumerate() {
                if number == MOST_CHOICES {
                    let more = count((self.choices.len() - MOST_CHOICES) as u64, "more choice");
                    page += &format!("<details><summary>{more}</summary>\n");
                }
                if number == MOST_FOLDED {
                    let more = self.choices.len() - MOST_FOLDED;
                    page += &format!("<p>… and {} more, in the results as JSON.</p>\n", grouped(more as u64));
                    break;
                }
                self.add_choice(&mut page, number, choice);
            }
            if self.choices.len() > MOST_CHOICES {
                page += "</details>\n";
            }
            self.add_summary(&mut page);
            self.add_listings(&mut page);
        }
        if let Some(repairs) = &self.repairs {
            page += &repairs.html();
        }
        page + "</body></html>\n"
    }

    fn add_properties(&self, page: &mut String) {
        if self.properties.is_empty() {
            return;
        }
        *page += "<table><tr><th>property</th><th>verdict</th><th>expected</th><th></th></tr>\n";
        for row in &self.properties {
            let word = |verdict: Option<bool>| match verdict {
                Some(true) => "holds",
                Some(false) => "violated",
                None => "unknown",
            };
            let surprise = if row.surprise { "<b>not as expected</b>" } else { "" };
            let explained = if row.explained { " explained here" } else { "" };
            let note = row.note.as_ref().map_or(String::new(), |note| format!(" {}", escape(note)));
            *page += &format!(
                "<tr><td>{}</td><td class=\"{1}\">{1}</td><td>{2}</td><td>{surprise}{explained}{note}</td></tr>\n",
                escape(&row.property),
                word(row.verdict),
                word(Some(row.expected))
            );
        }
        *page += "</table>\n";
    }

    fn add_part(&self, page: &mut String) {
        let Some(part) = &self.part else { return };
        *page += &format!(
            "<h2>The part of the system that violates it</h2><p>No single run does: {}, {}.</p>\n<table>",
            count(part.states, "state"),
            count(part.transition_count, "transition")
        );
        for (source, label, target) in &part.transitions {
            *page += &format!(
                "<tr><td class=\"number\">{source}</td><td><code>{}</code></td><td>→ {target}</td></tr>\n",
                escape(label)
            );
        }
        *page += "</table>\n";
    }

    fn add_suspects(&self, page: &mut String) {
        if self.suspects.is_empty() {
            return;
        }
        *page += "<h2>Suspects, the likeliest first</h2>\n<ol>";
        for (number, one) in self.suspects.iter().enumerate() {
            if number == MOST_SUSPECTS {
                let more = count((self.suspects.len() - MOST_SUSPECTS) as u64, "more suspect");
                *page += &format!("</ol>\n<details><summary>{more}</summary><ol start=\"{}\">", number + 1);
            }
            *page += &format!(
                "<li><code class=\"incorrect\">{}</code> <span class=\"dim\">{}:{}:{}, {} in {}</span><br>{}</li>\n",
                escape(&one.construct),
                escape(short(&one.file)),
                one.line,
                one.column,
                one.kind,
                escape(&one.process),
                escape(&capital(&one.reason))
            );
        }
        *page += if self.suspects.len() > MOST_SUSPECTS { "</ol></details>\n" } else { "</ol>\n" };
    }

    fn add_waiting(&self, page: &mut String) {
        if self.waiting.is_empty() {
            return;
        }
        *page += "<h2>Why nothing can happen any more</h2>\n<ul>";
        for one in &self.waiting {
            *page += &format!(
                "<li><b>{}</b> waits with <code>{}</code> <span class=\"dim\">({}:{}:{})</span>: {}</li>\n",
                escape(one.action.who()),
                escape(&one.offer),
                escape(short(&one.action.file)),
                one.action.line,
                one.action.column,
                escape(&one.why)
            );
        }
        *page += "</ul>\n";
        if let Some(cycle) = &self.waiting_cycle {
            *page += &format!("<div class=\"scroll\">{}</div>\n", super::lanes::circle(cycle));
        }
    }

    fn add_summary(&self, page: &mut String) {
        *page += "<h2>In figures</h2>\n";
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
        *page += &format!("transitions</p>\n<p>{} decide:</p><ul>", count(kinds.total, "state"));
        for (number, kind) in [(kinds.cn, "cn"), (kinds.r#in, "in"), (kinds.ci, "ci"), (kinds.cin, "cin")] {
            if number > 0 {
                *page += &format!("<li>{} ({kind}): {}</li>", grouped(number), kind_in_words(kind));
            }
        }
        *page += "</ul>\n";
        if let Some(shape) = &self.shape {
            *page += &format!(
                "<p>This bug looks like: <b>{}</b>. In short, {}.</p>\n",
                escape(&shape.name),
                escape(&shape.meaning)
            );
        }
    }

    fn add_choice(&self, page: &mut String, number: usize, choice: &Choice) {
        let kinds: Vec<&str> = choice.kinds.iter().map(|kind| kind_in_words(kind)).collect();
        *page += &format!(
            "<section class=\"choice\"><h3>Choice {}: {}</h3><p class=\"dim\">in {} · {}</p>",
            number + 1,
            kinds.join(", or "),
            count(choice.neighbourhoods, "state"),
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
        *page += "</div>";
        for sentence in &choice.separated {
            *page += &format!("<p>{}</p>", escape(sentence));
        }
        *page += "</section>\n";
    }

    fn add_side(&self, page: &mut String, tag: &str, heading: &str, exits: &[ChoiceExit]) {
        *page += &format!("<div class=\"side {tag}\"><h4>{}</h4>", capital(heading));
        for exit in exits.iter().take(40) {
            let labels: Vec<String> = exit.labels.iter().take(8).map(|label| escape(label)).collect();
            let more = if exit.labels.len() > 8 { ", …" } else { "" };
            *page += &format!(
                "<div><code>{}</code>{more} <span class=\"dim\">{}</span></div>",
                labels.join("</code>, <code>"),
                count(exit.transitions, "transition")
            );
            for action in &exit.actions {
                *page += &format!(
                    "<div class=\"dim\">{} {}:{}:{}</div><pre>{}</pre>",
                    escape(&action.process),
                    escape(short(&action.file)),
                    action.line,
                    action.column,
                    self.lines_of(action)
                );
            }
        }
        if exits.len() > 40 {
            *page += &format!("<div class=\"dim\">… and {} more</div>", exits.len() - 40);
        }
        *page += "</div>";
    }

    /// The lines of an action, five at most, with the action itself marked.
    fn lines_of(&self, action: &ActionSpan) -> String {
        let file = self.files.iter().find(|file| file.name == action.file);
        let lines = file.map(|file| file.text.lines().zip(1..).skip(action.line - 1)).into_iter().flatten();
        let taken: Vec<(&str, usize)> = lines.take((action.end_line + 1 - action.line).min(5)).collect();
        let indent = taken.iter().map(|(line, _)| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let marked = |&(line, number): &(&str, usize)| {
            let from = if number == action.line { action.column - 1 } else { 0 };
            let to = if number == action.end_line { action.end_column - 1 } else { usize::MAX };
            let part = |from: usize, to: usize| {
                let part: String = line.chars().take(to).skip(from).collect();
                escape(&part)
            };
            let from = from.max(indent);
            format!("{}<mark>{}</mark>{}", part(indent, from), part(from, to), part(to, usize::MAX))
        };
        taken.iter().map(marked).collect::<Vec<_>>().join("\n")
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
        for (at, step) in self.steps.iter().take(MOST_STEPS).enumerate() {
            if self.lasso == Some(at) {
                *page += "<tr><td colspan=\"5\" class=\"dim\">from here on, for ever:</td></tr>";
            }
            let places = step.actions.iter().map(|action| {
                let file = escape(short(&action.file));
                format!("{} {file}:{}:{}", escape(action.who()), action.line, action.column)
            });
            let changes: Vec<String> = step.changes.iter().map(|change| escape(&change.text())).collect();
            let values = step.values.iter().map(|(name, value)| escape(&format!("{name} = {value}")));
            let values: Vec<String> = changes.into_iter().chain(values).collect();
            *page += &format!(
                "<tr class=\"{}\"><td class=\"number dim\">{}</td><td class=\"{}\"><code>{}</code></td><td>{}</td>\
                 <td class=\"dim\">{}</td><td>{}</td></tr>\n",
                if step.matters { "" } else { "noise" },
                at + 1,
                step.tag,
                escape(&step.label),
                if step.leaves.is_some() { "choice" } else { "" },
                places.collect::<Vec<_>>().join(", "),
                values.join("<br>")
            );
        }
        *page += "</table></div>\n";
        if self.steps.len() > MOST_STEPS {
            *page +=
                &format!("<p>… and {} more steps</p>\n", grouped((self.steps.len() - MOST_STEPS) as u64));
        }
        if matter > 0 && matter <= MOST_DRAWN {
            *page += &format!(
                "<h3>What matters of it</h3><div class=\"scroll\">{}</div>\n",
                self.svg(Extent::Abstracted)
            );
        }
        if self.steps.len() <= MOST_DRAWN {
            *page += &format!(
                "<details><summary>All of it</summary><div class=\"scroll\">{}</div></details>\n",
                self.svg(Extent::Whole)
            );
        }
    }

    fn add_listings(&self, page: &mut String) {
        for file in &self.files {
            *page += &format!(
                "<details open><summary><h2>{}</h2></summary><p class=\"dim\">per line: correct / incorrect / \
                 neutral transitions</p>\n",
                escape(short(&file.name))
            );
            self.add_listing(page, file);
            *page += "</details>\n";
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
