//! Further criteria: conditions of compound decisions, their independent effect (MC/DC), and pairs of gates that follow
//! each other.
//!
//! Conditions are observed while decisions are evaluated; one that is not evaluated, because another one has already
//! decided, matches either value (masking MC/DC). Examples that are traces have no part in this.

use std::collections::BTreeSet;

use explore::Limits;
use lts::{Progress, StateId};
use model::DecisionKind;
use rustc_hash::FxHashMap;
use source::Span;

use crate::measure::origins;
use crate::run::{Outcome, Settings, limits_of};
use crate::specification::Specification;
use crate::subject::Subject;

/// A criterion with what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// Its name.
    pub name: &'static str,
    /// How many there are.
    pub total: usize,
    /// How many are covered.
    pub covered: usize,
    /// What is not, in words.
    pub missing: Vec<String>,
}

/// How the conditions of a decision were evaluated once: true, false or not at all; and the outcome.
type Evaluation = (Vec<Option<bool>>, bool);

/// Condition coverage and MC/DC of all decisions but branches of `case`.
pub fn condition_criteria(
    subject: &Subject,
    outcome: &Outcome,
    settings: &Settings,
    progress: &Progress,
) -> [Criterion; 2] {
    let specification = &outcome.specification;
    let evaluations = evaluations(subject, outcome, settings, progress);
    let mut conditions = Criterion { name: "conditions", total: 0, covered: 0, missing: Vec::new() };
    let mut independent = Criterion { name: "MC/DC", total: 0, covered: 0, missing: Vec::new() };
    for (number, decision) in specification.map.decisions.iter().enumerate() {
        if decision.kind == DecisionKind::Case {
            continue;
        }
        let seen: Vec<&Evaluation> = evaluations.get(&number).into_iter().flatten().collect();
        for (index, &condition) in decision.conditions.iter().enumerate() {
            let has = |value: bool| seen.iter().any(|(values, _)| values[index] == Some(value));
            let place = place(specification, condition);
            conditions.total += 1;
            match (has(true), has(false)) {
                (true, true) => conditions.covered += 1,
                (true, false) => conditions.missing.push(format!("{place} is never false")),
                (false, true) => conditions.missing.push(format!("{place} is never true")),
                (false, false) => conditions.missing.push(format!("{place} is never evaluated")),
            }
            independent.total += 1;
            match has_independent_effect(&seen, index) {
                true => independent.covered += 1,
                false => independent.missing.push(format!("{place} never decides alone")),
            }
        }
    }
    [conditions, independent]
}

/// Two evaluations in which only this condition differs, and with it the outcome.
fn has_independent_effect(seen: &[&Evaluation], index: usize) -> bool {
    seen.iter().enumerate().any(|(first, (one, outcome))| {
        seen[first + 1..].iter().any(|(other, other_outcome)| {
            let differs = matches!((one[index], other[index]), (Some(a), Some(b)) if a != b);
            let same = (one.iter().zip(other).enumerate())
                .all(|(place, (a, b))| place == index || a == b || a.is_none() || b.is_none());
            outcome != other_outcome && differs && same
        })
    })
}

/// For each decision, all ways in which its conditions were evaluated in states that were reached. Traces are left out: here,
/// examples are explored as a whole.
fn evaluations(
    subject: &Subject,
    outcome: &Outcome,
    settings: &Settings,
    progress: &Progress,
) -> FxHashMap<usize, BTreeSet<Evaluation>> {
    let specification = &outcome.specification;
    let mut evaluations: FxHashMap<usize, BTreeSet<Evaluation>> = FxHashMap::default();
    for one in outcome.examples.iter().filter(|one| one.example.trace.is_none()) {
        let Ok(plain) = subject.open(&one.example) else { continue };
        let watched: Vec<Span> = plain.map().decisions.iter().map(|decision| decision.span).collect();
        let Ok(opened) = subject.open_watching(&one.example, &watched) else { continue };
        let places = specification.find(opened.map(), &opened.sources);
        let limits = limits_of(&one.example, settings, 1);
        let limits = Limits { transitions: false, origins: false, ..limits };
        let found = explore::explore(opened.model(), &limits, progress);
        if let Some(mut inspector) = opened.program.inspector() {
            for state in 0..found.statistics.expanded {
                let state = found.state(opened.model(), StateId::new(state));
                // What can't be evaluated is a run-time error of the model, which is told elsewhere.
                let _ = inspector.evaluations(&state, &mut |seen| {
                    if let Some(decision) = places.decisions[seen.decision] {
                        evaluations.entry(decision).or_default().insert((seen.conditions, seen.outcome));
                    }
                });
            }
            continue;
        }
        let decisions: FxHashMap<Span, usize> = opened
            .map()
            .decisions
            .iter()
            .enumerate()
            .map(|(index, decision)| (decision.span, index))
            .collect();
        let provenance = opened.model().provenance();
        let marks = (origins(opened.model(), &found).into_iter())
            .flat_map(|origin| provenance.marks_of(origin))
            .filter(|mark| mark.0 as usize >= provenance.marks().len());
        let marks: BTreeSet<model::MarkId> = marks.collect();
        for observation in marks.into_iter().filter_map(opened.model().observations()) {
            let (Some(&own), Some(result)) = (decisions.get(&observation.decision), observation.outcome)
            else {
                continue;
            };
            let Some(decision) = places.decisions[own] else { continue };
            let value = |condition: &Span| {
                let found = observation.values.iter().find(|(span, _)| span == condition);
                found.map(|(_, text)| text == "TRUE")
            };
            let values = opened.map().decisions[own].conditions.iter().map(value).collect();
            evaluations.entry(decision).or_default().insert((values, result));
        }
    }
    evaluations
}

/// Which gates follow which: of all pairs of gates that happen at all, those that happen one after the other. The end of
/// a program, which nothing can follow, is no gate.
pub fn gate_pairs(
    subject: &Subject,
    outcome: &Outcome,
    settings: &Settings,
    progress: &Progress,
) -> Criterion {
    let mut gates: Vec<String> = Vec::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for one in outcome.examples.iter().filter(|one| one.example.trace.is_none()) {
        let Ok(opened) = subject.open(&one.example) else { continue };
        let limits = Limits { transitions: true, origins: false, ..limits_of(&one.example, settings, 1) };
        let lts = explore::explore(opened.model(), &limits, progress).lts;
        let mut happens = vec![false; lts.labels().len()];
        lts.transitions().for_each(|step| happens[step.label.index()] = true);
        let gate_of: Vec<Option<usize>> = (lts.labels().iter())
            .map(|(number, label)| {
                let name = label.split(' ').next().filter(|&name| name != "exit")?;
                if !happens[number.index()] {
                    return None;
                }
                let known = gates.iter().position(|gate| gate == name);
                Some(known.unwrap_or_else(|| {
                    gates.push(name.to_owned());
                    gates.len() - 1
                }))
            })
            .collect();
        let mut arriving: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); lts.state_count()];
        for step in lts.transitions() {
            arriving[step.target.index()].extend(gate_of[step.label.index()]);
        }
        for step in lts.transitions() {
            if let Some(gate) = gate_of[step.label.index()] {
                pairs.extend(arriving[step.source.index()].iter().map(|&before| (before, gate)));
            }
        }
    }
    let mut missing: Vec<(&str, &str)> = Vec::new();
    for (first, name) in gates.iter().enumerate() {
        let lacking = (0..gates.len()).filter(|&second| !pairs.contains(&(first, second)));
        missing.extend(lacking.map(|second| (name.as_str(), gates[second].as_str())));
    }
    missing.sort_unstable();
    let missing = missing.iter().map(|(first, second)| format!("{first} is never followed by {second}"));
    Criterion {
        name: "gate pairs",
        total: gates.len() * gates.len(),
        covered: pairs.len(),
        missing: missing.collect(),
    }
}

fn place(specification: &Specification, span: Span) -> String {
    let position = specification.position(span);
    let words: Vec<&str> = specification.sources.slice(span).split_whitespace().collect();
    format!(
        "{}:{}:{}: `{}`",
        specification.sources.name(span.file),
        position.line,
        position.column,
        words.join(" ")
    )
}
