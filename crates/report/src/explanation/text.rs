//! The explanation as text, to be read from top to bottom.

use std::fmt;

use super::{ActionSpan, Choice, ChoiceExit, ExplainedStep, Explanation};
use crate::number::{count, grouped, seconds};

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const BOLD: &str = "1";
const DIM: &str = "2";

/// The most exits of one tag that a choice shows, and the most labels of an exit.
const MOST_EXITS: usize = 6;
const MOST_LABELS: usize = 4;
/// The most choices in the text; JSON and HTML have all.
const MOST_CHOICES: usize = 12;

impl Explanation {
    fn paint(&self, style: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn colour_of(tag: &str) -> &'static str {
        match tag {
            "correct" => GREEN,
            "incorrect" => RED,
            _ => YELLOW,
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            true => self.paint(GREEN, "holds"),
            false => self.paint(RED, "violated"),
        };
        write!(out, "{verdict}  {}", self.paint(BOLD, &self.property))?;
        if let Some(description) = &self.description {
            write!(out, ": {description}")?;
        }
        writeln!(out)?;
        let size = &self.full;
        writeln!(
            out,
            "  {}, {}, {}; {}",
            count(size.states, "state"),
            count(size.transitions, "transition"),
            count(size.labels, "label"),
            seconds(self.seconds)
        )?;
        if self.verdict {
            for remark in &self.remarks {
                writeln!(out, "  {remark}")?;
            }
            return Ok(());
        }
        let part = &self.counterexample_lts;
        let size = format!("{}, {}", count(part.states, "state"), count(part.transitions, "transition"));
        match self.is_cut() {
            true => writeln!(out, "  what can violate it: {size} (method {})", self.method)?,
            false => writeln!(out, "  the whole system is tagged (method {})", self.method)?,
        }
        let tags = [
            (GREEN, self.tags.correct, "correct"),
            (RED, self.tags.incorrect, "incorrect"),
            (YELLOW, self.tags.neutral, "neutral"),
        ];
        let tags =
            tags.map(|(style, number, word)| self.paint(style, &format!("{} {word}", grouped(number))));
        writeln!(out, "  transitions: {}", tags.join(", "))?;
        let kinds = &self.neighbourhoods;
        writeln!(
            out,
            "  neighbourhoods: {} ({} cn, {} in, {} ci, {} cin)",
            grouped(kinds.total),
            grouped(kinds.cn),
            grouped(kinds.r#in),
            grouped(kinds.ci),
            grouped(kinds.cin)
        )?;
        if let Some(shape) = &self.shape {
            writeln!(
                out,
                "\nThis bug looks like: {}. In short, {}.",
                self.paint(BOLD, &shape.name),
                shape.meaning
            )?;
        }
        for remark in &self.remarks {
            writeln!(out, "\n{remark}")?;
        }
        if let Some(kind) = self.kind {
            writeln!(out, "\nOnly neighbourhoods of kind {kind} are shown.")?;
        }
        for (number, choice) in self.choices.iter().take(MOST_CHOICES).enumerate() {
            self.write_choice(out, number, choice)?;
        }
        if self.choices.len() > MOST_CHOICES {
            let more = count((self.choices.len() - MOST_CHOICES) as u64, "more choice");
            writeln!(out, "\n{more}: see --json or --html")?;
        }
        self.write_run(out)?;
        self.write_round(out)?;
        if let Some(nearest) = &self.nearest {
            let way = match nearest.is_empty() {
                true => "none needed, it is the initial state".to_owned(),
                false => nearest.join(", "),
            };
            writeln!(out, "\nShortest way to a choice: {way}")?;
        }
        if !self.uninvolved.is_empty() {
            let shown: Vec<&str> = self.uninvolved.iter().take(12).map(String::as_str).collect();
            let more = if self.uninvolved.len() > 12 { ", …" } else { "" };
            writeln!(out, "\nLabels that no counterexample involves: {}{more}", shown.join(", "))?;
        }
        self.write_source(out)
    }
}

impl Explanation {
    fn write_choice(&self, out: &mut fmt::Formatter<'_>, number: usize, choice: &Choice) -> fmt::Result {
        let title = format!("Choice {} of {}", number + 1, self.choices.len());
        let times = match choice.neighbourhoods {
            1 => String::new(),
            times => format!(", {} times", grouped(times)),
        };
        writeln!(out, "\n{}: {}{times}", self.paint(BOLD, &title), choice.kinds.join(", "))?;
        writeln!(out, "  {}", choice.facts().join(", "))?;
        if !choice.before.is_empty() {
            let shown: Vec<&str> = choice.before.iter().take(MOST_LABELS).map(String::as_str).collect();
            let more = if choice.before.len() > MOST_LABELS { ", …" } else { "" };
            writeln!(out, "  just before: {}{more}", shown.join(", "))?;
        }
        let parts = [(GREEN, &choice.correct), (RED, &choice.incorrect), (YELLOW, &choice.neutral)];
        for ((style, exits), heading) in parts.into_iter().zip(self.headings()) {
            self.write_exits(out, style, &format!("{heading}:"), exits)?;
        }
        Ok(())
    }

    fn write_exits(
        &self,
        out: &mut fmt::Formatter<'_>,
        style: &str,
        heading: &str,
        exits: &[ChoiceExit],
    ) -> fmt::Result {
        if exits.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {}", self.paint(style, heading))?;
        for exit in exits.iter().take(MOST_EXITS) {
            let mut labels: Vec<&str> = exit.labels.iter().take(MOST_LABELS).map(String::as_str).collect();
            if exit.labels.len() > MOST_LABELS {
                labels.push("…");
            }
            writeln!(out, "    {}", self.paint(style, &labels.join(", ")))?;
            for action in &exit.actions {
                self.write_line(out, style, action)?;
            }
        }
        if exits.len() > MOST_EXITS {
            writeln!(out, "    … and {}", grouped((exits.len() - MOST_EXITS) as u64) + " more")?;
        }
        Ok(())
    }

    /// The line of the source with an action.
    fn write_line(&self, out: &mut fmt::Formatter<'_>, style: &str, action: &ActionSpan) -> fmt::Result {
        let file = self.files.iter().find(|file| file.name == action.file);
        let line = file.and_then(|file| file.text.lines().nth(action.line - 1)).unwrap_or_default();
        let place = format!("{}:{}", short(&action.file), action.line);
        writeln!(
            out,
            "      {} {}",
            self.paint(DIM, &format!("{place:<28} {:<14} │", action.process)),
            self.paint(style, line.trim())
        )
    }

    fn write_run(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.counterexample.is_none() {
            return Ok(());
        }
        if self.steps.is_empty() {
            return writeln!(
                out,
                "\nThe counterexample has no step: the initial state violates the property."
            );
        }
        let matter = self.steps.iter().filter(|step| step.matters).count();
        let title = format!("Counterexample of {}", count(self.steps.len() as u64, "step"));
        match matter {
            0 => writeln!(out, "\n{}; none of them leads to or leaves a choice:", self.paint(BOLD, &title))?,
            1 => writeln!(out, "\n{}, 1 of which matters (→):", self.paint(BOLD, &title))?,
            matter => writeln!(out, "\n{}, {matter} of which matter (→):", self.paint(BOLD, &title))?,
        }
        // Long stretches that don't matter are left out.
        let mut skipped = 0;
        for (at, step) in self.steps.iter().enumerate() {
            if self.lasso == Some(at) {
                self.write_skipped(out, std::mem::take(&mut skipped))?;
                writeln!(out, "     from here on, for ever:")?;
            }
            let is_end = at == 0 || at + 1 == self.steps.len();
            if self.steps.len() > 12 && !step.matters && !is_end {
                skipped += 1;
                continue;
            }
            self.write_skipped(out, std::mem::take(&mut skipped))?;
            self.write_step(out, at, step)?;
        }
        self.write_skipped(out, skipped)
    }

    /// Where an endless run goes round, how it gets there and how it could get away.
    fn write_round(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(round) = &self.round else { return Ok(()) };
        let start = if round.initial { ", the initial one among them" } else { "" };
        writeln!(out, "\nThe run goes round for ever among {}{start}.", count(round.states, "state"))?;
        self.write_exits(out, RED, "ways in:", &round.entries)?;
        match round.exits.is_empty() {
            true => writeln!(out, "  There is no way out."),
            false => self.write_exits(out, YELLOW, "ways out:", &round.exits),
        }
    }

    fn write_skipped(&self, out: &mut fmt::Formatter<'_>, skipped: u64) -> fmt::Result {
        match skipped {
            0 => Ok(()),
            skipped => {
                let note = format!("… {}", count(skipped, "step"));
                writeln!(out, "         {}", self.paint(DIM, &note))
            }
        }
    }

    fn write_step(&self, out: &mut fmt::Formatter<'_>, at: usize, step: &ExplainedStep) -> fmt::Result {
        let mark = if step.matters { "→" } else { " " };
        let places = step
            .actions
            .iter()
            .map(|action| format!("{} {}:{}", action.process, short(&action.file), action.line));
        let places = places.collect::<Vec<_>>().join(", ");
        let label = self.paint(Self::colour_of(step.tag), &format!("{:<32}", step.label));
        let row = format!("  {mark} {:>4}  {label} {:<9}  {places}", at + 1, step.tag);
        writeln!(out, "{}", row.trim_end())
    }

    /// The lines of the source whose constructs are not only neutral.
    fn write_source(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let telling = |line: &&super::Construct| line.counts.correct > 0 || line.counts.incorrect > 0;
        let mut constructs: Vec<&super::Construct> =
            self.source.iter().filter(|one| one.kind != "block").filter(telling).collect();
        constructs.dedup_by_key(|one| (one.file.clone(), one.line, one.column, one.kind));
        if constructs.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.paint(BOLD, "In the source (correct / incorrect / neutral):"))?;
        for one in constructs.iter().take(60) {
            let file = self.files.iter().find(|file| file.name == one.file);
            let line = file.and_then(|file| file.text.lines().nth(one.line - 1)).unwrap_or_default();
            let counts =
                format!("{} / {} / {}", one.counts.correct, one.counts.incorrect, one.counts.neutral);
            let outcome = match one.kind {
                "true" | "false" => format!("  ({})", one.kind),
                _ => String::new(),
            };
            let place = format!("{}:{}", short(&one.file), one.line);
            writeln!(
                out,
                "  {place:<28} {counts:>20}  {}{outcome}",
                self.paint(Self::colour_of(one.tag), line.trim())
            )?;
        }
        if constructs.len() > 60 {
            writeln!(out, "  … {}: see --html", count((constructs.len() - 60) as u64, "more line"))?;
        }
        Ok(())
    }
}

pub(super) fn short(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
