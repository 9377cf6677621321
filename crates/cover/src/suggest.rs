//! Which examples would close holes: the arguments of the suite's root processes are tried one after the other, where
//! their types have few enough values. Where all were tried, what is left open is not a matter of examples.

use lts::Progress;
use rayon::prelude::*;

use crate::coverage::{Coverage, Item, item};
use crate::finding::{Finding, FindingKind, Subject as FindingSubject};
use crate::language::Subject;
use crate::run::{Outcome, Settings, limits_of};
use crate::suite::Example;

/// What a search for examples has found.
pub struct Suggestions {
    /// How many examples were tried.
    pub tried: usize,
    /// Whether the arguments of all roots were tried in all combinations, and explored as a whole; not where no root
    /// has any, and not where examples have constants or modules, which may have others.
    pub exhaustive: bool,
    /// Examples to add, each with the holes that it is the first to close.
    pub examples: Vec<(Example, Vec<Item>)>,
    /// What stays open in processes that examples start.
    pub open: Vec<Item>,
    /// What stays open in others: arguments don't help there.
    pub elsewhere: Vec<Item>,
}

/// Tries at most this many examples for each root of the suite.
pub fn suggest(
    subject: &Subject,
    outcome: &mut Outcome,
    settings: &Settings,
    most: usize,
    progress: &Progress,
) -> Suggestions {
    let examples: Vec<Example> = outcome.examples.iter().map(|one| one.example.clone()).collect();
    let (candidates, mut exhaustive) = candidates(subject, &examples, most);
    let measured: Vec<Option<(Coverage, bool)>> = candidates
        .par_iter()
        .map(|example| {
            let opened = subject.open(example).ok()?;
            let places = outcome.specification.find(&opened.map, &opened.sources);
            let limits = limits_of(example, settings, candidates.len());
            let measurement = settings.method.measure(example, &opened, &limits, progress);
            let complete = measurement.stopped.is_none();
            Some((measurement.coverage.placed(&places, &outcome.specification.map), complete))
        })
        .collect();
    exhaustive &= measured.iter().all(|one| one.as_ref().is_some_and(|(_, complete)| *complete));
    exhaustive &= outcome.examples.iter().all(|one| one.stopped.is_none());
    let mut open = outcome.holes();
    let mut chosen: Vec<(Example, Vec<Item>)> = Vec::new();
    // Always the one that closes the most, the first of equals.
    loop {
        let closes = |coverage: &Coverage| -> Vec<Item> {
            let items = coverage.items();
            let reached = (0..items.len()).filter(|&position| items[position]);
            let reached: Vec<Item> =
                reached.map(|position| item(&outcome.specification.map, position)).collect();
            open.iter().copied().filter(|hole| reached.contains(hole)).collect()
        };
        let best = (measured.iter().enumerate().rev())
            .filter_map(|(index, one)| Some((closes(&one.as_ref()?.0), index)))
            .max_by_key(|(closed, _)| closed.len());
        let Some((closed, index)) = best.filter(|(closed, _)| !closed.is_empty()) else { break };
        open.retain(|hole| !closed.contains(hole));
        chosen.push((candidates[index].clone(), closed));
    }
    let map = &outcome.specification.map;
    let started = map.reachable(&outcome.roots);
    let (open, elsewhere): (Vec<Item>, _) = open.into_iter().partition(|hole| started[hole.place(map).1]);
    let certain: &[Item] = if exhaustive { &open } else { &[] };
    advise(&mut outcome.findings, &chosen, certain);
    let tried = measured.iter().flatten().count();
    Suggestions { tried, exhaustive, examples: chosen, open, elsewhere }
}

/// A hole that an example closes is a missing example; one that none can close is a defect for certain.
fn advise(findings: &mut [Finding], chosen: &[(Example, Vec<Item>)], certain: &[Item]) {
    for finding in findings {
        let hole = match finding.subject {
            FindingSubject::Decision(decision, outcome) => Some(Item::Outcome(decision, outcome)),
            FindingSubject::Action(action) => Some(Item::Action(action)),
            FindingSubject::Block(block) => Some(Item::Block(block)),
            FindingSubject::Process(_) => None,
        };
        let Some(hole) = hole else { continue };
        let closing = chosen.iter().find(|(_, closed)| closed.contains(&hole));
        match closing {
            Some((example, _)) => {
                finding.kind = FindingKind::MissingExample;
                finding.message = format!("missing example: {} closes this", example.name);
                finding.advice = Some(format!("add `{}` to the suite", example.name));
            }
            None if certain.contains(&hole) => {
                let certainty =
                    "no example can close this: all arguments of the suite's processes were tried";
                finding.advice = Some(certainty.to_owned());
            }
            None => {}
        }
    }
}

/// The examples that differ from those of the suite by the arguments of their roots.
fn candidates(subject: &Subject, examples: &[Example], most: usize) -> (Vec<Example>, bool) {
    let (mut exhaustive, mut have_parameters) = (true, false);
    let mut bases: Vec<Example> = Vec::new();
    let mut found: Vec<Example> = Vec::new();
    for example in examples {
        exhaustive &= example.constants.is_empty() && example.modules.is_empty();
        let name = without_arguments(example.start());
        let base = Example { root: Some(name.clone()), name, place: None, ..example.clone() };
        if bases.contains(&base) {
            continue;
        }
        let Some((arguments, all)) = subject.arguments(example, most) else {
            exhaustive = false;
            continue;
        };
        exhaustive &= all;
        have_parameters |= arguments.iter().any(|arguments| !arguments.is_empty());
        for arguments in arguments {
            let root = if arguments.is_empty() {
                base.name.clone()
            } else {
                format!("{} ({})", base.name, arguments.join(", "))
            };
            let known = examples.iter().any(|known| {
                same_root(known.start(), &root)
                    && known.modules == base.modules
                    && known.constants == base.constants
            });
            if !known {
                let mut candidate = Example { root: Some(root), ..base.clone() };
                candidate.name = candidate.described();
                found.push(candidate);
            }
        }
        bases.push(base);
    }
    (found, exhaustive && have_parameters)
}

/// A root up to its arguments: process and gates, which have no brackets inside.
fn without_arguments(root: &str) -> String {
    let end = match root.find(['[', '(']) {
        Some(open) if root[open..].starts_with('[') => root.find(']').map(|close| close + 1),
        open => open,
    };
    root[..end.unwrap_or(root.len())].trim().to_owned()
}

fn same_root(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<String>().to_ascii_lowercase();
    plain(one) == plain(other)
}
