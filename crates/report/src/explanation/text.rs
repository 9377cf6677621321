//! The explanation as text, to be read from top to bottom.

use std::fmt;

use explain::Method;

use super::{ActionSpan, Choice, ChoiceExit, Explanation, ValueChange};
use crate::number::{count, grouped, seconds};

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const BOLD: &str = "1";
const DIM: &str = "2";

/// The most exits of one tag that a choice shows, and the most labels of an exit.
const MOST_EXITS: usize = 6;
const MOST_LABELS: usize = 4;
/// The most choices and suspects, and the most lines of the counterexample, unless all are asked for; JSON and HTML have all.
const MOST_CHOICES: usize = 3;
const MOST_SUSPECTS: usize = 5;
const MOST_LINES: usize = 22;
/// The most characters of a suspect, and how many it has in any case.
const MOST_CHARACTERS: usize = 42;
const FEW_CHARACTERS: usize = 20;
/// The most lines of changes of one step, and where they begin.
const MOST_CHANGES: usize = 2;
const STEP_INDENT: usize = 11;
/// Sentences are broken here.
const MOST_COLUMNS: usize = 80;
/// The most properties.
const MOST_PROPERTIES: usize = 6;
/// The most labels and constructs in lists.
const MOST_LISTED: usize = 12;

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
        self.write_properties(out)?;
        if self.verdict {
            for remark in &self.remarks {
                writeln!(out, "  {}", lines_of(remark, MOST_COLUMNS - 2).join("\n  "))?;
            }
            return Ok(());
        }
        self.write_part(out)?;
        self.write_run(out)?;
        self.write_suspects(out)?;
        self.write_waiting(out)?;
        if let Some(repairs) = &self.repairs {
            write!(out, "\n{repairs}")?;
        }
        for remark in &self.remarks {
            writeln!(out, "\n{}", lines_of(remark, MOST_COLUMNS).join("\n"))?;
        }
        if let Some(shape) = &self.shape {
            writeln!(out, "\nThis bug looks like: {}.", self.paint(BOLD, &shape.name))?;
            for line in lines_of(&format!("In short, {}.", shape.meaning), MOST_COLUMNS) {
                writeln!(out, "{line}")?;
            }
        }
        self.write_choices(out)?;
        self.write_round(out)?;
        if self.all {
            self.write_figures(out)?;
            self.write_source(out)?;
        }
        Ok(())
    }
}

impl Explanation {
    /// The verdicts of all properties; those that are as expected are folded where they are many.
    fn write_properties(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.properties.is_empty() {
            return Ok(());
        }
        let surprises = self.properties.iter().filter(|row| row.surprise).count() as u64;
        let all = count(self.properties.len() as u64, "property").replace("propertys", "properties");
        let title = format!(
            "{all}, {} not as expected:",
            if surprises == 0 { "none".into() } else { grouped(surprises) }
        );
        writeln!(out, "\n{}", self.paint(BOLD, &title))?;
        let folds = !self.all && self.properties.len() > MOST_PROPERTIES;
        let shown =
            |row: &&super::PropertyRow| !folds || row.explained || row.surprise || row.verdict.is_none();
        let rows: Vec<&super::PropertyRow> = self.properties.iter().filter(shown).collect();
        let rows = &rows[..rows.len().min(if self.all { usize::MAX } else { MOST_PROPERTIES })];
        for row in rows {
            let (style, verdict) = match row.verdict {
                Some(true) => (GREEN, "holds   "),
                Some(false) => (RED, "violated"),
                None => (YELLOW, "unknown "),
            };
            let surprise = match (row.surprise, row.expected) {
                (false, _) => "",
                (true, true) => "  (expected to hold)",
                (true, false) => "  (expected to be violated)",
            };
            let explained = if row.explained { "  ← explained here" } else { "" };
            writeln!(out, "  {}  {}{surprise}{explained}", self.paint(style, verdict), row.property)?;
            if let Some(note) = row.note.as_ref().filter(|_| self.all || row.surprise) {
                writeln!(out, "            {}", self.paint(DIM, note))?;
            }
        }
        match self.properties.len() - rows.len() {
            0 => Ok(()),
            more => writeln!(out, "  {more} more with --all; --property NAME explains another one"),
        }
    }

    /// A part of the system that violates the property.
    fn write_part(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(part) = &self.part else { return Ok(()) };
        writeln!(
            out,
            "\nNo single run violates it. This part of the system does: {}, {}:",
            count(part.states, "state"),
            count(part.transition_count, "transition")
        )?;
        let shown = if self.all { part.transitions.len() } else { MOST_LINES };
        for (source, label, target) in part.transitions.iter().take(shown) {
            let start = if *source == 0 { "start".to_owned() } else { format!("state {source}") };
            writeln!(out, "  {start:>9}  {label:<32} → {target}")?;
        }
        match part.transition_count as usize - part.transitions.len().min(shown) {
            0 => Ok(()),
            more => {
                writeln!(out, "  {} with --all; `check -o` saves them", count(more as u64, "more transition"))
            }
        }
    }

    /// Why it is likely that something is wrong here.
    fn write_suspects(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.suspects.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.paint(BOLD, "Suspects, the likeliest first:"))?;
        let shown = if self.all { self.suspects.len() } else { MOST_SUSPECTS };
        for (number, one) in self.suspects.iter().take(shown).enumerate() {
            let place = format!("{}:{}:{}", short(&one.file), one.line, one.column);
            let rest = place.chars().count() + one.kind.len() + one.process.chars().count() + 18;
            let room = MOST_COLUMNS.saturating_sub(rest).clamp(FEW_CHARACTERS, MOST_CHARACTERS);
            let short_text = match one.construct.char_indices().nth(room) {
                Some((end, _)) => format!("{} …", one.construct[..end].trim_end()),
                None => one.construct.clone(),
            };
            let construct = self.paint(RED, &short_text);
            writeln!(out, "  {}. {}  {construct}  ({} in {})", number + 1, place, one.kind, one.process)?;
            for line in lines_of(&one.reason, MOST_COLUMNS - 5) {
                writeln!(out, "     {}", self.paint(DIM, &line))?;
            }
        }
        match self.suspects.len().saturating_sub(shown) {
            0 => Ok(()),
            more => writeln!(out, "  {} with --all", count(more as u64, "more suspect")),
        }
    }

    fn write_choices(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            writeln!(out, "\nOnly choices of kind {kind} are shown: {}.", super::kind_in_words(kind))?;
        }
        let shown = if self.all { self.choices.len() } else { MOST_CHOICES };
        for (number, choice) in self.choices.iter().take(shown).enumerate() {
            self.write_choice(out, number, choice)?;
        }
        match self.choices.len().saturating_sub(shown) {
            0 => {}
            more => writeln!(out, "\n{} with --all", count(more as u64, "more choice"))?,
        }
        if let Some(nearest) = self.nearest.as_ref().filter(|_| self.all || self.kind.is_some()) {
            let way = match nearest.is_empty() {
                true => "none needed, it is the initial state".to_owned(),
                false => nearest.join(", "),
            };
            writeln!(out, "\nShortest way to a choice: {way}")?;
        }
        Ok(())
    }

    /// How large everything is.
    fn write_figures(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = &self.counterexample_lts;
        let size = format!("{}, {}", count(part.states, "state"), count(part.transitions, "transition"));
        match self.is_cut() {
            true => writeln!(out, "\nWhat can violate it: {size} (method {})", self.method)?,
            false => writeln!(out, "\nThe whole system is tagged (method {})", self.method)?,
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
        writeln!(out, "  states that decide: {}", grouped(kinds.total))?;
        for (number, kind) in [(kinds.cn, "cn"), (kinds.r#in, "in"), (kinds.ci, "ci"), (kinds.cin, "cin")] {
            if number > 0 {
                writeln!(out, "    {} {kind}: {}", grouped(number), super::kind_in_words(kind))?;
            }
        }
        if !self.uninvolved.is_empty() {
            let shown: Vec<&str> = self.uninvolved.iter().take(MOST_LISTED).map(String::as_str).collect();
            let more = if self.uninvolved.len() > MOST_LISTED { ", …" } else { "" };
            writeln!(out, "\nLabels that no counterexample involves: {}{more}", shown.join(", "))?;
        }
        Ok(())
    }

    /// Where every process stands when nothing can happen any more.
    fn write_waiting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.waiting.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.paint(BOLD, "Nothing can happen any more, because everybody waits:"))?;
        let shown = if self.all { self.waiting.len() } else { 8 };
        for one in self.waiting.iter().take(shown) {
            let place = format!("{}:{}:{}", short(&one.action.file), one.action.line, one.action.column);
            let sentence = format!("{} waits with {} ({place}): {}", one.action.who(), one.offer, one.why);
            writeln!(out, "  {}", lines_of(&sentence, MOST_COLUMNS - 4).join("\n    "))?;
        }
        if self.waiting.len() > shown {
            let more = count((self.waiting.len() - shown) as u64, "more wait");
            writeln!(out, "  {more} with --all")?;
        }
        if let Some(cycle) = &self.waiting_cycle {
            let first = cycle.first().cloned().unwrap_or_default();
            let sentence = format!("a cycle: {} → {first}", cycle.join(" → "));
            writeln!(out, "  {}", lines_of(&sentence, MOST_COLUMNS - 4).join("\n    "))?;
        }
        Ok(())
    }
}

impl Explanation {
    fn write_choice(&self, out: &mut fmt::Formatter<'_>, number: usize, choice: &Choice) -> fmt::Result {
        let title = format!("Choice {} of {}", number + 1, self.choices.len());
        let times = match choice.neighbourhoods {
            1 => String::new(),
            times => format!(", in {} states", grouped(times)),
        };
        let kinds: Vec<&str> = choice.kinds.iter().map(|kind| super::kind_in_words(kind)).collect();
        // Colours are put in behind, so that lines are as long as they look.
        let heading =
            lines_of(&format!("{title}{times}: {}", kinds.join(", or ")), MOST_COLUMNS).join("\n  ");
        writeln!(out, "\n{}", heading.replacen(&title, &self.paint(BOLD, &title), 1))?;
        for line in lines_of(&choice.facts().join(", "), MOST_COLUMNS - 2) {
            writeln!(out, "  {line}")?;
        }
        if !choice.before.is_empty() {
            let shown: Vec<&str> = choice.before.iter().take(MOST_LABELS).map(String::as_str).collect();
            let more = if choice.before.len() > MOST_LABELS { ", …" } else { "" };
            let before = lines_of(&format!("just before: {}{more}", shown.join(", ")), MOST_COLUMNS - 4);
            writeln!(out, "  {}", before.join("\n    "))?;
        }
        let parts = [(GREEN, &choice.correct), (RED, &choice.incorrect), (YELLOW, &choice.neutral)];
        for ((style, exits), heading) in parts.into_iter().zip(self.headings()) {
            self.write_exits(out, style, &format!("{heading}:"), exits)?;
        }
        for sentence in &choice.separated {
            for line in lines_of(sentence, MOST_COLUMNS - 2) {
                writeln!(out, "  {line}")?;
            }
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

    /// An action as it is written in the source.
    fn write_line(&self, out: &mut fmt::Formatter<'_>, style: &str, action: &ActionSpan) -> fmt::Result {
        let place = format!("{}:{}:{}", short(&action.file), action.line, action.column);
        writeln!(
            out,
            "      {} {}",
            self.paint(DIM, &format!("{place:<28} {:<14} │", action.process)),
            self.paint(style, &self.text_of(action))
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
        // Long stretches that don't matter are left out, and the middle of what is too long all the same.
        let turn = self.steps.iter().position(|step| step.tag == "incorrect");
        let lines: Vec<Vec<String>> =
            (0..self.steps.len()).map(|at| self.step_lines(at, turn == Some(at))).collect();
        let is_end = |at: usize| at == 0 || at + 1 == self.steps.len();
        let everything: usize = lines.iter().map(Vec::len).sum();
        let mut shown: Vec<usize> = (0..self.steps.len())
            .filter(|&at| self.all || everything <= MOST_LINES || self.steps[at].matters || is_end(at))
            .collect();
        let mut height: usize = shown.iter().map(|&at| lines[at].len()).sum();
        while !self.all && shown.len() > 4 && height > MOST_LINES {
            // The end tells more than the beginning.
            height -= lines[shown.remove(shown.len() / 3)].len();
        }
        let mut next = 0;
        for (at, lines) in lines.iter().enumerate() {
            if self.lasso == Some(at) {
                self.write_skipped(out, next, at)?;
                next = next.max(at);
                writeln!(out, "     from here on, for ever:")?;
            }
            if shown.binary_search(&at).is_ok() {
                self.write_skipped(out, next, at)?;
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
                next = at + 1;
            }
        }
        self.write_skipped(out, next, self.steps.len())
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

    fn write_skipped(&self, out: &mut fmt::Formatter<'_>, from: usize, to: usize) -> fmt::Result {
        if from >= to {
            return Ok(());
        }
        let matter = self.steps[from..to].iter().filter(|step| step.matters).count();
        let matter = match matter {
            0 => String::new(),
            matter => format!(", {matter} of which matter; --all shows them"),
        };
        let note = format!("… {}{matter}", count((to - from) as u64, "step"));
        writeln!(out, "         {}", self.paint(DIM, &note))
    }

    /// A step, broken at the last column: what happens, who takes part, what has other values then. It may be the one that turns
    /// incorrect.
    fn step_lines(&self, at: usize, turns: bool) -> Vec<String> {
        let step = &self.steps[at];
        let mark = if step.matters { "→" } else { " " };
        let places = step.actions.iter().map(|action| format!("{}:{}", action.who(), action.line));
        let places = places.collect::<Vec<_>>().join(", ");
        let lost = match self.method == Method::Counterexample.name() {
            _ if !turns => "",
            true => "← no way back",
            false => "← lost for good",
        };
        let aside: Vec<&str> = [&places[..], lost].into_iter().filter(|text| !text.is_empty()).collect();
        let aside = aside.join("  ");
        let indent = " ".repeat(STEP_INDENT);
        let room = MOST_COLUMNS - STEP_INDENT;
        let style = Self::colour_of(step.tag);
        let label = format!("{:<24}", step.label);
        let begin = format!("  {mark} {:>4}  ", at + 1);
        let fits = begin.chars().count() + label.chars().count() + 2 + aside.chars().count() <= MOST_COLUMNS;
        let mut lines = Vec::new();
        if fits {
            lines.push(format!("{begin}{}  {aside}", self.paint(style, &label)).trim_end().to_owned());
        } else {
            for (number, part) in lines_of(&step.label, room).iter().enumerate() {
                let before = if number == 0 { &begin } else { &indent };
                lines.push(format!("{before}{}", self.paint(style, part)));
            }
            let aside = lines_of(&aside, room);
            lines.extend(aside.iter().filter(|line| !line.is_empty()).map(|line| format!("{indent}{line}")));
        }
        if !step.changes.is_empty() {
            let mut changes = change_lines(&step.changes, room);
            if !self.all && changes.len() > MOST_CHANGES {
                changes = change_lines(&step.changes, room - 2);
                changes.truncate(MOST_CHANGES);
                changes[MOST_CHANGES - 1].push_str(" …");
            }
            lines.extend(changes.iter().map(|line| format!("{indent}{}", self.paint(DIM, line))));
        }
        let values = step.values.iter();
        lines.extend(
            values
                .map(|(name, value)| format!("{indent}  {}", self.paint(DIM, &format!("{name} = {value}")))),
        );
        lines
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
            let counts =
                format!("{} / {} / {}", one.counts.correct, one.counts.incorrect, one.counts.neutral);
            let outcome = match one.kind {
                "true" | "false" => format!("  ({})", one.kind),
                _ => String::new(),
            };
            let place = format!("{}:{}:{}", short(&one.file), one.line, one.column);
            let text = self.text_between((one.line, one.column), (one.end_line, one.end_column), &one.file);
            writeln!(
                out,
                "  {place:<28} {counts:>20}  {}{outcome}",
                self.paint(Self::colour_of(one.tag), &text)
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

/// What has other values, in lines of at most so many characters. A change stands on one line if it fits.
fn change_lines(changes: &[ValueChange], most: usize) -> Vec<String> {
    let whole = |change: &ValueChange| match change.text() {
        text if text.chars().count() < most => text.replace(' ', "\u{a0}"),
        text => text,
    };
    let changes: Vec<String> = changes.iter().map(whole).collect();
    lines_of(&changes.join(", "), most).iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A sentence in lines of at most so many characters, broken between words where that is possible.
fn lines_of(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ') {
        let own = word.chars().count();
        if length > 0 && length + 1 + own > most {
            lines.push(String::new());
            length = 0;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += own;
        }
    }
    lines
}
