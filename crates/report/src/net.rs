//! What there is to say about a Petri net: structure, then behaviour.

use std::fmt;

use serde::Serialize;

use crate::number::{count, grouped};

/// A net.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Net {
    /// Its name.
    pub name: String,
    /// How many places it has as written.
    pub places: u64,
    /// How many transitions it has as written.
    pub transitions: u64,
    /// The same with a place for each kind of token and a transition for each way to fire.
    pub unfolded: Option<Unfolded>,
    /// The marking that it starts from.
    pub marking: Vec<(String, String)>,
    /// Its structure; none where tokens have too many kinds.
    pub structure: Option<Structure>,
    /// Why there is nothing to say about its structure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_structure: Option<String>,
    /// Its behaviour, where all markings were explored.
    pub behaviour: Option<NetBehaviour>,
    /// Whether it is bounded, where that is known.
    pub bounded: Option<bool>,
    /// How many markings were seen.
    pub states: u64,
    /// Whether these are all.
    pub complete: bool,
    /// Places that can hold any number of tokens, with a run that shows it.
    pub unbounded: Vec<UnboundedPlace>,
    /// What else there is to say.
    pub remarks: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

/// The size of a net without values.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Unfolded {
    /// Places.
    pub places: u64,
    /// Transitions.
    pub transitions: u64,
    /// Arcs.
    pub arcs: u64,
}

/// What follows from places, transitions and arcs alone.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Structure {
    /// The classes that it belongs to.
    pub classes: Vec<&'static str>,
    /// Sums of tokens that never change.
    pub place_invariants: Vec<String>,
    /// Firings that lead back to where they began.
    pub transition_invariants: Vec<String>,
    /// Sets of places that stay empty once they are.
    pub siphons: Vec<String>,
    /// Sets of places that stay marked once they are.
    pub traps: Vec<String>,
    /// Those of the lists above that are not complete.
    pub incomplete: Vec<&'static str>,
}

/// What the markings tell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetBehaviour {
    /// The most tokens of each place.
    pub bounds: Vec<(String, u64)>,
    /// How often each transition can fire: `L0` to `L4`.
    pub liveness: Vec<(String, &'static str)>,
    /// How many markings enable nothing.
    pub deadlocks: u64,
    /// How many markings can be reached from every marking.
    pub home_states: u64,
    /// Whether the initial marking is one of them.
    pub reversible: bool,
    /// Whether every transition can always fire some time later.
    pub live: bool,
    /// Whether no place ever has two tokens.
    pub safe: bool,
}

/// A place without a bound.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnboundedPlace {
    /// The place.
    pub place: String,
    /// The labels of the steps to where it grows.
    pub prefix: Vec<String>,
    /// The labels of the steps that can be repeated.
    pub cycle: Vec<String>,
}

/// Lists show this many lines.
const MOST_LINES: usize = 8;
/// Longer lines are cut.
const LONGEST_LINE: usize = 110;

impl fmt::Display for Net {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}: {}, {}",
            self.name,
            count(self.places, "place"),
            count(self.transitions, "transition")
        )?;
        if let Some(unfolded) =
            self.unfolded.filter(|one| one.places != self.places || one.transitions != self.transitions)
        {
            writeln!(
                out,
                "   {} and {} with a place for each value and a transition for each binding",
                count(unfolded.places, "place"),
                count(unfolded.transitions, "transition")
            )?;
        }
        self.write_behaviour(out)?;
        if let Some(structure) = &self.structure {
            structure.write(out)?;
        }
        if let Some(reason) = &self.no_structure {
            writeln!(out, "\nStructure: not analysed: {reason}")?;
        }
        for remark in &self.remarks {
            writeln!(out, "\n{remark}")?;
        }
        Ok(())
    }
}

impl Net {
    fn write_behaviour(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = grouped(self.states);
        match (&self.behaviour, self.bounded) {
            (Some(behaviour), _) => behaviour.write(out, &states, self.states)?,
            (None, Some(true)) => writeln!(out, "\nBounded, but with more than {states} markings")?,
            (None, Some(false)) => writeln!(out, "\nUnbounded: infinitely many markings")?,
            (None, None) => {
                writeln!(out, "\nMore than {states} markings; whether it is bounded was not decided")?;
            }
        }
        for place in &self.unbounded {
            let before = match place.prefix.is_empty() {
                true => String::new(),
                false => format!("after {}: ", shortened(&place.prefix)),
            };
            writeln!(out, "   {} grows for ever: {before}repeat {}", place.place, shortened(&place.cycle))?;
        }
        Ok(())
    }
}

/// A list of labels, cut where it is long.
fn shortened(labels: &[String]) -> String {
    match labels.len().checked_sub(12) {
        Some(more) if more > 0 => format!("{} … ({more} more)", labels[..12].join(", ")),
        _ => labels.join(", "),
    }
}

impl NetBehaviour {
    fn write(&self, out: &mut fmt::Formatter<'_>, states: &str, number: u64) -> fmt::Result {
        let noun = if number == 1 { "marking" } else { "markings" };
        writeln!(out, "\nBehaviour: {states} {noun}, all explored")?;
        let most = self.bounds.iter().map(|(_, bound)| *bound).max().unwrap_or(0);
        let bound = if self.safe { "safe (1-bounded)".to_owned() } else { format!("{most}-bounded") };
        let deadlocks = match self.deadlocks {
            0 => "no deadlock".to_owned(),
            some => count(some, "deadlock"),
        };
        let home = match self.home_states {
            0 => "no home state".to_owned(),
            all if all == number => "every marking is a home state".to_owned(),
            some => count(some, "home state"),
        };
        let live = if self.live { "live" } else { "not live" };
        let reversible = if self.reversible { "reversible" } else { "not reversible" };
        writeln!(out, "   {bound}, {live}, {reversible}, {deadlocks}, {home}")?;
        let dead: Vec<&str> =
            self.liveness.iter().filter(|(_, level)| *level == "L0").map(|(name, _)| name.as_str()).collect();
        if !dead.is_empty() {
            writeln!(out, "   never fire: {}", dead.join(", "))?;
        }
        if !self.live {
            let levels = [
                ("L1", "can fire, but not for ever"),
                ("L3", "can fire for ever, but need not"),
                ("L4", "live"),
            ];
            for (level, words) in levels {
                let those: Vec<&str> = self
                    .liveness
                    .iter()
                    .filter(|(_, one)| *one == level)
                    .map(|(name, _)| name.as_str())
                    .collect();
                if !those.is_empty() {
                    writeln!(out, "   {level} ({words}): {}", those.join(", "))?;
                }
            }
        }
        if !self.safe {
            let bounds: Vec<String> =
                self.bounds.iter().map(|(name, bound)| format!("{name} {bound}")).collect();
            writeln!(out, "   most tokens: {}", bounds.join(", "))?;
        }
        Ok(())
    }
}

impl Structure {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes =
            if self.classes.is_empty() { "no special class".to_owned() } else { self.classes.join(", ") };
        writeln!(out, "\nStructure: {classes}")?;
        let lists = [
            ("place invariants", "place invariant", &self.place_invariants),
            ("transition invariants", "transition invariant", &self.transition_invariants),
            ("siphons", "minimal siphon", &self.siphons),
            ("traps", "minimal trap", &self.traps),
        ];
        for (key, noun, lines) in lists {
            let some = if self.incomplete.contains(&key) { " and maybe more" } else { "" };
            writeln!(out, "   {}{some}", count(lines.len() as u64, noun))?;
            for line in lines.iter().take(MOST_LINES) {
                match line.char_indices().nth(LONGEST_LINE) {
                    Some((end, _)) => writeln!(out, "      {} …", &line[..end])?,
                    None => writeln!(out, "      {line}")?,
                }
            }
            if lines.len() > MOST_LINES {
                writeln!(out, "      … {} more (--json lists all)", lines.len() - MOST_LINES)?;
            }
        }
        Ok(())
    }
}
