//! Which examples would close holes. Tried are the processes that the suite starts and those that nothing starts, each
//! with combinations of arguments; gates, constants and modules are those of the suite. What was tried, and what was not,
//! is told: a hole that stays open may still be closed by something that was not tried.

use lts::Progress;
use model::Arguments;
use rayon::prelude::*;

use crate::coverage::{Coverage, Item, item};
use crate::finding::{Finding, FindingKind, Subject as FindingSubject};
use crate::run::{Outcome, Settings, limits_of};
use crate::subject::{Opened, Subject};
use crate::suite::Example;

/// What a search for examples has found.
pub struct Suggestions {
    /// How many examples were tried, those of the suite aside.
    pub tried: usize,
    /// The processes that were started, and with how many arguments.
    pub roots: Vec<TriedRoot>,
    /// Whether there is no other example: all arguments of all processes were tried and explored as a whole, and there
    /// is nothing else to vary.
    pub exhaustive: bool,
    /// What an example could have, and none that was tried has: `other gates`.
    pub not_tried: Vec<String>,
    /// Examples to add, each with the holes that it is the first to close.
    pub examples: Vec<(Example, Vec<Item>)>,
    /// What stays open in processes that were started.
    pub open: Vec<Item>,
    /// What stays open in others.
    pub elsewhere: Vec<Item>,
}

/// A process that was started with several arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedRoot {
    /// The process, with gates, constants and modules where the suite gives some.
    pub process: String,
    /// How many combinations of arguments were tried, those of the suite included.
    pub combinations: usize,
    /// Whether these are all, and all were explored as a whole.
    pub all: bool,
    /// Why none could be tried.
    pub problem: Option<String>,
}

/// A process to start, with what stays the same.
struct Root {
    base: Example,
    /// Its place in the map, where it is part of the specification.
    process: Option<usize>,
    candidates: Vec<Example>,
    /// How many combinations of arguments are listed.
    listed: usize,
    tried: TriedRoot,
}

/// Tries at most this many combinations of arguments for each process.
pub fn suggest(
    subject: &Subject,
    outcome: &mut Outcome,
    settings: &Settings,
    most: usize,
    progress: &Progress,
) -> Suggestions {
    let suite: Vec<Example> = outcome.examples.iter().map(|one| one.example.clone()).collect();
    let opened: Vec<(Example, Opened)> =
        suite.iter().filter_map(|example| Some((example.clone(), subject.open(example).ok()?))).collect();
    let mut roots = roots(outcome, &opened, most);
    let candidates: Vec<(usize, Example)> = (roots.iter().enumerate())
        .flat_map(|(root, one)| one.candidates.iter().map(move |example| (root, example.clone())))
        .collect();
    let measured: Vec<Option<(Coverage, bool)>> = candidates
        .par_iter()
        .map(|(_, example)| {
            let opened = subject.open(example).ok()?;
            let places = outcome.specification.find(opened.map(), &opened.sources);
            let limits = limits_of(example, settings, candidates.len());
            let measurement = settings.method.measure(example, &opened, &limits, progress);
            let complete = measurement.stopped.is_none();
            Some((measurement.coverage.placed(&places, &outcome.specification.map), complete))
        })
        .collect();
    for ((root, _), one) in candidates.iter().zip(&measured) {
        let tried = &mut roots[*root].tried;
        tried.combinations += usize::from(one.is_some());
        tried.all &= one.as_ref().is_some_and(|(_, complete)| *complete);
    }
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
        chosen.push((candidates[index].1.clone(), closed));
    }
    let map = &outcome.specification.map;
    let started: Vec<usize> = (roots.iter())
        .filter(|root| root.tried.combinations > 0)
        .filter_map(|root| root.process)
        .chain(outcome.roots.iter().copied())
        .collect();
    let reached = map.reachable(&started);
    let (open, elsewhere): (Vec<Item>, _) = open.into_iter().partition(|hole| reached[hole.place(map).1]);
    for root in roots.iter_mut().filter(|root| root.tried.all) {
        root.tried.combinations = root.listed;
    }
    let not_tried = not_tried(outcome, &opened, &roots, &started);
    let all = roots.iter().all(|root| root.tried.all);
    let exhaustive = all && not_tried.is_empty();
    // Where nothing has parameters, nothing was varied.
    let varied = roots.iter().any(|root| root.listed > 1);
    let claim = (exhaustive || all && varied).then(|| claim(&roots, exhaustive));
    advise(&mut outcome.findings, &outcome.specification.map, &chosen, &open, claim.as_deref());
    let tried = measured.iter().flatten().count();
    let roots = roots.into_iter().map(|root| root.tried).collect();
    Suggestions { tried, roots, exhaustive, not_tried, examples: chosen, open, elsewhere }
}

/// The processes to start: those of the suite, then those that nothing starts.
fn roots(outcome: &Outcome, opened: &[(Example, Opened)], most: usize) -> Vec<Root> {
    let mut known: Vec<(String, String)> = Vec::new();
    for given in opened.iter().flat_map(|(_, opened)| opened.program.given_arguments(&opened.sources)) {
        if !known.contains(&given) {
            known.push(given);
        }
    }
    let suite: Vec<&Example> = outcome.examples.iter().map(|one| &one.example).collect();
    let mut roots: Vec<Root> = Vec::new();
    for (example, opened) in opened {
        let name = without_arguments(example.start());
        let base = Example { root: Some(name.clone()), name, trace: None, place: None, ..example.clone() };
        if roots.iter().any(|root| root.base == base) {
            continue;
        }
        let process = opened.program.started().first().copied().and_then(|root| place(outcome, opened, root));
        roots.push(root(base, process, opened.program.arguments(None, &known, most), &suite));
    }
    let map = &outcome.specification.map;
    let reached = map.reachable(&outcome.roots);
    for (process, entry) in map.processes.iter().enumerate().filter(|(process, _)| !reached[*process]) {
        let Some((example, opened)) = opened.first() else { continue };
        let base = Example {
            root: Some(entry.name.clone()),
            name: entry.name.clone(),
            file: None,
            trace: None,
            place: None,
            ..example.clone()
        };
        roots.push(root(
            base,
            Some(process),
            opened.program.arguments(Some(&entry.name), &known, most),
            &suite,
        ));
    }
    // What the suite has tried was tried.
    for root in &mut roots {
        let same = |one: &&crate::run::ExampleOutcome| {
            let (base, example) = (&root.base, one.example.clone());
            let start = without_arguments(example.start());
            start == base.start()
                && Example { root: base.root.clone(), name: base.name.clone(), place: None, ..example }
                    == *base
        };
        let own: Vec<&crate::run::ExampleOutcome> = outcome.examples.iter().filter(same).collect();
        root.tried.combinations += own.len();
        root.tried.all &= own.iter().all(|one| one.stopped.is_none());
    }
    roots
}

/// The examples that start a process with these arguments, those of the suite left out.
fn root(
    base: Example,
    process: Option<usize>,
    arguments: Result<Arguments, String>,
    suite: &[&Example],
) -> Root {
    let mut tried = TriedRoot { process: base.described(), combinations: 0, all: false, problem: None };
    let (mut candidates, mut listed) = (Vec::new(), 0);
    match arguments {
        Err(problem) => tried.problem = Some(problem),
        Ok(arguments) => {
            tried.all = arguments.all;
            listed = arguments.combinations.len();
            for values in arguments.combinations {
                let root = match values.is_empty() {
                    true => base.name.clone(),
                    false => format!("{} ({})", base.name, values.join(", ")),
                };
                let known = suite.iter().any(|known| {
                    same_root(known.start(), &root)
                        && known.trace.is_none()
                        && known.file == base.file
                        && known.modules == base.modules
                        && known.constants == base.constants
                });
                if !known {
                    let mut candidate = Example { root: Some(root), ..base.clone() };
                    candidate.name = candidate.described();
                    candidates.push(candidate);
                }
            }
        }
    }
    Root { base, process, candidates, listed, tried }
}

/// A process of an example in the specification.
fn place(outcome: &Outcome, opened: &Opened, process: usize) -> Option<usize> {
    let span = outcome.specification.own_span(&opened.sources, opened.map().processes[process].span)?;
    outcome.specification.map.processes.iter().position(|entry| entry.span == span)
}

/// What examples could have that none has which was tried.
fn not_tried(
    outcome: &Outcome,
    opened: &[(Example, Opened)],
    roots: &[Root],
    started: &[usize],
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let all = |names: Vec<String>| {
        let mut names = names;
        names.sort_by_key(|name| name.to_ascii_lowercase());
        names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
        names
    };
    let partly: Vec<String> = roots
        .iter()
        .filter(|root| !root.tried.all && root.tried.problem.is_none())
        .map(|root| root.tried.process.clone())
        .collect();
    if !partly.is_empty() {
        found.push(format!("other arguments of {}, or larger limits", partly.join(", ")));
    }
    let map = &outcome.specification.map;
    let others = (0..map.processes.len()).filter(|process| !started.contains(process));
    let others = all(others.map(|process| map.processes[process].name.clone()).collect());
    if !others.is_empty() {
        found.push(format!("{} as the process to start", others.join(", ")));
    }
    let (_, first) = match opened.first() {
        Some(first) => first,
        None => return found,
    };
    if started.iter().any(|&process| first.program.gates_of(&map.processes[process].name) > 1) {
        found.push("other gates".to_owned());
    }
    let constants = all(opened.iter().flat_map(|(_, opened)| opened.program.constants()).collect());
    if !constants.is_empty() {
        found.push(format!("other values of {}", constants.join(", ")));
    }
    let modules = all(opened.iter().flat_map(|(_, opened)| opened.imported_modules()).collect());
    if !modules.is_empty() {
        found.push(format!("other modules in place of {}", modules.join(", ")));
    }
    found
}

/// What can be said about holes that stay open after all arguments were tried.
fn claim(roots: &[Root], exhaustive: bool) -> String {
    if exhaustive {
        return "no example can close this: every possible example was tried".to_owned();
    }
    let names: Vec<&str> = roots.iter().map(|root| root.tried.process.as_str()).collect();
    format!("no arguments of {} close this: all were tried", names.join(" or "))
}

/// A hole that an example closes is a missing example; about others, `claim` is all that is known.
fn advise(
    findings: &mut [Finding],
    map: &model::CoverageMap,
    chosen: &[(Example, Vec<Item>)],
    open: &[Item],
    claim: Option<&str>,
) {
    for finding in findings {
        let closes = |closed: &[Item]| match finding.subject {
            FindingSubject::Decision(decision, outcome) => closed.contains(&Item::Outcome(decision, outcome)),
            FindingSubject::Action(action) => closed.contains(&Item::Action(action)),
            FindingSubject::Block(block) => closed.contains(&Item::Block(block)),
            FindingSubject::Process(process) => closed.iter().any(|hole| hole.place(map).1 == process),
        };
        match chosen.iter().find(|(_, closed)| closes(closed)) {
            Some((example, _)) => {
                finding.kind = FindingKind::MissingExample;
                finding.message = format!("missing example: {} reaches this", example.name);
                finding.advice = Some(format!("add `{}` to the suite", example.name));
            }
            None if closes(open) => finding.advice = claim.map(str::to_owned),
            None => {}
        }
    }
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
