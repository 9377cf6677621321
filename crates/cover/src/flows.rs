//! Def-use pairs: definitions of variables, and uses that read what they define.
//!
//! Which pairs there are follows from the text ([`Program::def_use_pairs`](model::Program::def_use_pairs)). A pair is covered when an example has a run in
//! which the definition is executed and then the use, with no other definition of the same variable, of the same
//! instance of the process, in between.
//!
//! Steps tell what they define and use, each by itself. That a value from one step is used in another follows from a
//! fixed point over the explored system: for every state, the definitions that may be the last ones there. Every path
//! of the system is a run of the example, so that this is exact; and the states are those of the example.

use std::collections::BTreeSet;

use explore::Limits;
use lts::{Lts, OriginId, Progress};
use model::{DataFlow, DefUse, VariableSite};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::beyond::Criterion;
use crate::run::{Outcome, Settings, limits_of};
use crate::specification::Specification;
use crate::subject::Subject;

/// A definition and a use.
pub type Pair = (VariableSite, VariableSite);

/// Def-use pairs of all variables of processes.
pub fn def_use_pairs(
    subject: &Subject,
    outcome: &Outcome,
    settings: &Settings,
    progress: &Progress,
) -> Criterion {
    let specification = &outcome.specification;
    let mut all: BTreeSet<DefUse> = BTreeSet::new();
    let mut covered: FxHashSet<Pair> = FxHashSet::default();
    // Traces are left out: here, examples are explored as a whole.
    for one in outcome.examples.iter().filter(|one| one.example.trace.is_none()) {
        let Ok(opened) = subject.open_following(&one.example) else { continue };
        // In terms of the specification; what belongs to the example's own modules is left out.
        let place = |site: VariableSite| {
            let variable = specification.own_span(&opened.sources, site.variable)?;
            Some(VariableSite { variable, span: specification.own_span(&opened.sources, site.span)? })
        };
        let places: Vec<Option<usize>> = (opened.map().processes.iter())
            .map(|process| {
                let span = specification.own_span(&opened.sources, process.span)?;
                specification.map.processes.iter().position(|own| own.span == span)
            })
            .collect();
        all.extend(opened.program.def_use_pairs().into_iter().filter_map(|pair| {
            Some(DefUse {
                definition: place(pair.definition)?,
                used: place(pair.used)?,
                process: places[pair.process]?,
                variable: pair.variable,
            })
        }));
        let limits = Limits { transitions: true, origins: true, ..limits_of(&one.example, settings, 1) };
        let lts = explore::explore(opened.model(), &limits, progress).lts;
        let provenance = opened.model().provenance();
        let flows = |origin: OriginId| -> Vec<DataFlow> {
            provenance.marks_of(origin).into_iter().filter_map(|mark| opened.model().flow(mark)).collect()
        };
        let exercised = exercised_pairs(&lts, opened.model().initial_origin(), flows);
        covered.extend(exercised.into_iter().filter_map(|(a, b)| Some((place(a)?, place(b)?))));
    }
    let missing: Vec<&DefUse> =
        all.iter().filter(|pair| !covered.contains(&(pair.definition, pair.used))).collect();
    Criterion {
        name: "def-use pairs",
        total: all.len(),
        covered: all.len() - missing.len(),
        missing: missing.into_iter().map(|pair| described(specification, pair)).collect(),
    }
}

/// `m.lnt: x of P, defined at 3:7, is never used at 9:12`
fn described(specification: &Specification, pair: &DefUse) -> String {
    let position = |site: VariableSite| {
        let position = specification.position(site.span);
        format!("{}:{}", position.line, position.column)
    };
    format!(
        "{}: {} of {}, defined at {}, is never used at {}",
        specification.sources.name(pair.used.span.file),
        pair.variable,
        specification.process(pair.process),
        position(pair.definition),
        position(pair.used)
    )
}

/// The pairs that the paths of a system exercise. `flows` tells the ways in which steps of an origin are taken, and
/// `initial` is the origin of what happens before the first step.
pub fn exercised_pairs(
    lts: &Lts,
    initial: OriginId,
    flows: impl Fn(OriginId) -> Vec<DataFlow>,
) -> BTreeSet<Pair> {
    let mut facts = Facts::default();
    let mut numbers: FxHashMap<OriginId, usize> = FxHashMap::default();
    let mut known: Vec<Vec<DataFlow>> = Vec::new();
    let mut number = |origin: OriginId| {
        *numbers.entry(origin).or_insert_with(|| {
            known.push(flows(origin));
            known.len() - 1
        })
    };
    let first = number(initial);
    let edges: Vec<usize> = lts.origins().unwrap_or_default().iter().map(|&origin| number(origin)).collect();
    for (cell, definition) in known.iter().flatten().flat_map(|flow| &flow.defined) {
        facts.add(*cell, *definition);
    }
    let effects: Vec<Vec<Effect>> =
        known.iter().map(|flows| flows.iter().map(|flow| facts.effect(flow)).collect()).collect();

    let words = facts.list.len().div_ceil(64);
    let nothing = Effect { kept: vec![u64::MAX; words], added: vec![0; words] };
    // An origin without a flow of its own changes nothing.
    let ways = |origin: usize| match effects[origin].as_slice() {
        [] => std::slice::from_ref(&nothing),
        some => some,
    };
    let mut reaching = vec![0u64; words * lts.state_count()];
    let mut waiting = vec![lts.initial()];
    let mut is_waiting = vec![false; lts.state_count()];
    for way in ways(first) {
        add(&mut reaching[lts.initial().index() * words..][..words], &way.added);
    }
    let mut seen = vec![false; lts.state_count()];
    seen[lts.initial().index()] = true;
    let mut out = vec![0u64; words];
    while let Some(state) = waiting.pop() {
        is_waiting[state.index()] = false;
        let range = lts.edge_range(state);
        for (edge, &origin) in lts.outgoing(state).iter().zip(&edges[range]) {
            let target = edge.target.index();
            let mut changed = !std::mem::replace(&mut seen[target], true);
            for way in ways(origin) {
                let here = &reaching[state.index() * words..][..words];
                for (word, out) in out.iter_mut().enumerate() {
                    *out = here[word] & way.kept[word] | way.added[word];
                }
                changed |= add(&mut reaching[target * words..][..words], &out);
            }
            if changed && !std::mem::replace(&mut is_waiting[target], true) {
                waiting.push(edge.target);
            }
        }
    }

    // For each origin, what may reach its steps from anywhere.
    let mut before: Vec<Option<Vec<u64>>> = vec![None; known.len()];
    before[first] = Some(vec![0; words]);
    for state in lts.states().filter(|state| seen[state.index()]) {
        let here = &reaching[state.index() * words..][..words];
        for &origin in &edges[lts.edge_range(state)] {
            add(before[origin].get_or_insert_with(|| vec![0; words]), here);
        }
    }
    let mut pairs: BTreeSet<Pair> = BTreeSet::new();
    for (flows, before) in known.iter().zip(&before) {
        let Some(before) = before else { continue };
        for flow in flows {
            pairs.extend(&flow.pairs);
            for (cell, used) in &flow.used {
                let of_cell = facts.of_cell.get(cell).into_iter().flatten();
                let reaching = of_cell.filter(|&&fact| before[fact / 64] >> (fact % 64) & 1 == 1);
                pairs.extend(reaching.map(|&fact| (facts.list[fact].1, *used)));
            }
        }
    }
    pairs
}

/// Adds a set to another one, and tells whether that is new.
fn add(into: &mut [u64], more: &[u64]) -> bool {
    let mut changed = false;
    for (into, more) in into.iter_mut().zip(more) {
        changed |= more & !*into != 0;
        *into |= more;
    }
    changed
}

/// What a way to take a step makes of the definitions before it.
struct Effect {
    kept: Vec<u64>,
    added: Vec<u64>,
}

/// That a cell was last defined somewhere: all such facts, numbered.
#[derive(Default)]
struct Facts {
    list: Vec<(u32, VariableSite)>,
    numbers: FxHashMap<(u32, VariableSite), usize>,
    of_cell: FxHashMap<u32, Vec<usize>>,
}

impl Facts {
    fn add(&mut self, cell: u32, definition: VariableSite) {
        let next = self.list.len();
        self.numbers.entry((cell, definition)).or_insert_with(|| {
            self.list.push((cell, definition));
            self.of_cell.entry(cell).or_default().push(next);
            next
        });
    }

    fn effect(&self, flow: &DataFlow) -> Effect {
        let words = self.list.len().div_ceil(64);
        let mut effect = Effect { kept: vec![u64::MAX; words], added: vec![0; words] };
        for (cell, definition) in &flow.defined {
            for &fact in &self.of_cell[cell] {
                effect.kept[fact / 64] &= !(1 << (fact % 64));
            }
            let fact = self.numbers[&(*cell, *definition)];
            effect.added[fact / 64] |= 1 << (fact % 64);
        }
        effect
    }
}
