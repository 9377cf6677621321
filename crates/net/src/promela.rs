//! Nets as Promela programs, by the translation of the paper on testing high-level nets with Spin: places are global
//! variables, each component is a process that repeats guarded atomic statements, one for each transition.
//!
//! Processes stay where they are and have no variables of their own, so Spin stores exactly the markings, provided that
//! partial-order reduction is off.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use source::Diagnostic;

use crate::engine::FlatModel;
use crate::engine::rule::{Effect, Rule};

/// How a net is written as a Promela program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromelaOptions {
    /// `d_step` in place of `atomic`: faster in Spin, but its simulations show no steps inside.
    pub deterministic: bool,
    /// A process that stops the program as soon as every transition of the source has fired; what it notes is part of
    /// the state.
    pub monitor: bool,
}

/// A net as a Promela program; an error where numbers are too large for Promela.
///
/// ```
/// use net::{Arc, ArcKind, Flat, FlatModel, PromelaOptions, write_promela};
///
/// let flat = Flat::plain("stop", &[1], &[("STOP", vec![Arc { place: 0, kind: ArcKind::Take(1) }])]);
/// let text = write_promela(&FlatModel::new(flat), PromelaOptions::default()).unwrap();
/// assert!(text.contains(":: atomic { m_p0 >= 1 -> m_p0 = m_p0 - 1 } /* STOP */"));
/// ```
pub fn write_promela(model: &FlatModel, options: PromelaOptions) -> Result<String, Box<Diagnostic>> {
    let flat = model.flat();
    let rules = model.rules();
    check_numbers(model, rules)?;
    let names = variable_names(model);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "/* The net {}: every marking is a state, with partial-order reduction off:",
        comment(&flat.name)
    );
    out.push_str(" * spin -a FILE && cc -O2 -DSAFETY -DNOREDUCE -DVECTORSZ=65536 -o pan pan.c && ./pan -m1000000 */\n\n");
    for (number, place) in flat.places.iter().enumerate() {
        let kind = match model.bounds()[number] {
            Some(0..=1) => "bit",
            Some(2..=255) => "byte",
            Some(256..=32_767) => "short",
            _ => "int",
        };
        let initial = if place.is_set { place.initial.min(1) } else { place.initial };
        let doubt = if model.bounds()[number].is_none() { " /* no bound is proven */" } else { "" };
        let _ = writeln!(out, "{kind} {} = {initial};{doubt}", names[number]);
    }
    if options.monitor {
        let count = flat.source_transitions.len();
        let _ = writeln!(out, "\nbit covered[{}];\nint uncovered = {count};", count.max(1));
    }
    let step = if options.deterministic { "d_step" } else { "atomic" };
    let mut processes = FxHashSet::default();
    for (number, component) in flat.components.iter().enumerate() {
        let of = |transition: &usize| {
            flat.source_transitions[flat.transitions[*transition].of].component == number
        };
        let transitions: Vec<usize> = (0..flat.transitions.len()).filter(of).collect();
        if transitions.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\nactive proctype {}()\n{{\nend:\n\tdo",
            unique("P_", &component.name, &mut processes)
        );
        for transition in transitions {
            let (guards, mut statements) = statements(&rules[transition], &names);
            if options.monitor {
                let of = flat.transitions[transition].of;
                statements.push(format!(
                    "if :: covered[{of}] -> skip :: else -> covered[{of}] = 1; uncovered-- fi"
                ));
            }
            let guard = if guards.is_empty() { "true".to_owned() } else { guards.join(" && ") };
            let body = if statements.is_empty() { "skip".to_owned() } else { statements.join("; ") };
            let label = comment(&flat.transitions[transition].label);
            let _ = writeln!(out, "\t:: {step} {{ {guard} -> {body} }} /* {label} */");
        }
        out.push_str("\tod\n}\n");
    }
    if flat.transitions.is_empty() {
        out.push_str("\nactive proctype Nothing()\n{\nend:\n\tfalse\n}\n");
    }
    if options.monitor {
        out.push_str("\n/* Fails as soon as all transitions have fired. */\n");
        out.push_str("active proctype Monitor()\n{\nend:\n\tatomic { uncovered == 0 -> assert(false) }\n}\n");
    }
    Ok(out)
}

/// What must hold before a transition, and what it does.
fn statements(rule: &Rule, names: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut guards, mut statements) = (Vec::new(), Vec::new());
    for effect in &rule.effects {
        let name = &names[effect.place];
        if effect.need() > 0 {
            guards.push(format!("{name} >= {}", effect.need()));
        }
        if let Some(below) = effect.below {
            guards.push(format!("{name} < {below}"));
        }
        statements.extend(assignment(effect, name));
    }
    (guards, statements)
}

fn assignment(effect: &Effect, name: &str) -> Option<String> {
    let Effect { take, put, reset, is_set, .. } = *effect;
    Some(match (is_set, reset) {
        (true, _) if put > 0 => format!("{name} = 1"),
        (true, false) if take == 0 => return None,
        (true, _) => format!("{name} = 0"),
        (false, true) => format!("{name} = {put}"),
        (false, false) if put == take => return None,
        (false, false) if put > take => format!("{name} = {name} + {}", put - take),
        (false, false) => format!("{name} = {name} - {}", take - put),
    })
}

/// The integers of Promela have 32 bits with a sign.
fn check_numbers(model: &FlatModel, rules: &[Rule]) -> Result<(), Box<Diagnostic>> {
    let most = i32::MAX as u64;
    let mut largest: Vec<u64> = model
        .flat()
        .places
        .iter()
        .zip(model.bounds())
        .map(|(place, bound)| bound.unwrap_or(0).max(u64::from(place.initial)))
        .collect();
    for effect in rules.iter().flat_map(|rule| &rule.effects) {
        let number = effect.need().max(effect.put).max(effect.below.unwrap_or(0));
        largest[effect.place] = largest[effect.place].max(number);
    }
    match largest.iter().position(|&number| number > most) {
        None => Ok(()),
        Some(place) => {
            let source = &model.flat().source_places[model.flat().places[place].of];
            let message = format!("the place {} has numbers of tokens beyond {most}", source.name);
            let error = Diagnostic::error(message).label(source.span, "this place");
            Err(Box::new(error.note("integers of Promela are not larger")))
        }
    }
}

/// A variable for each place.
fn variable_names(model: &FlatModel) -> Vec<String> {
    let flat = model.flat();
    let mut used = FxHashSet::default();
    let mut name = |place: &crate::FlatPlace| {
        let source = &flat.source_places[place.of].name;
        let text = if place.token.is_empty() { source.clone() } else { format!("{source}_{}", place.token) };
        unique("m_", &text, &mut used)
    };
    flat.places.iter().map(&mut name).collect()
}

/// A name that is not used yet.
fn unique(prefix: &str, text: &str, used: &mut FxHashSet<String>) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
    let name = format!("{prefix}{plain}");
    let mut candidate = name.clone();
    let mut number = 1;
    while !used.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}__{number}");
    }
    candidate
}

/// A text inside a comment.
fn comment(text: &str) -> String {
    let text = text.replace("*/", "* /");
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
