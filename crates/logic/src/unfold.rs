//! A system side by side with what a formula remembers of a run, for formulas that single runs violate.
//!
//! The negated formula is a nondeterministic automaton whose states are parts of the formula with the values of their
//! variables. It is made deterministic along the runs of the system, so only values that occur in its labels turn up,
//! and conditions on a state are looked up in the state. Violations by endless runs, on which something is repeated for
//! ever, follow S. Miyano and T. Hayashi, "Alternating finite automata on ω-words" (1984): beside the set of all parts
//! there is one of those that have been repeated since the set was last empty. At the end, copies of a state that differ
//! in nothing that follows are merged (Moore, 1956).

use lts::{LabelId, Lts, Progress, RowSet, StateId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::components::components;
use crate::equations::{Equations, translate};
use crate::linear::Search;
use crate::program::{InstanceId, Program};
use crate::sets::Solved;
use crate::shape::{Class, classify};
use crate::tree::Formula;
use crate::verdict::CheckError;

/// What is known of a run that arrives in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watched {
    /// Nothing.
    Fine,
    /// It violates the formula if all nodes from here on are such nodes, for ever.
    Repeating,
    /// It violates the formula, whatever follows.
    Violated,
}

/// States of a system with what a formula remembers of the way there. Node 0 is the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfolded {
    /// The state of each node.
    pub states: Vec<StateId>,
    /// What is known in each node.
    pub watched: Vec<Watched>,
    /// By node, for each transition of its state, in order: where it leads, or nowhere if no violation can follow.
    pub targets: Vec<Vec<Option<u32>>>,
}

/// Whether [`unfold`] knows which runs violate a formula.
///
/// ```
/// let mut sources = source::Sources::new();
/// let mut is_known = |text: &str| {
///     logic::is_violated_by_runs(&logic::load_text("p.mcl", text, &mut sources).unwrap().properties[0].formula)
/// };
/// assert!(is_known("[ true* . { PUT ?x:nat } . true* . { GET ?y:nat where y < x } ] false"));
/// assert!(is_known("[ true* ] [ tau ] -|"));
/// assert!(!is_known("< true* . \"A\" > true"));
/// ```
pub fn is_violated_by_runs(formula: &Formula) -> bool {
    violation(formula).is_some()
}

/// The negated formula and the classes of its parts, where a run shows it.
fn violation(formula: &Formula) -> Option<(Equations, Vec<Class>)> {
    let equations = translate(formula, true).ok()?;
    let shown =
        |class: &Vec<Class>| matches!(class[equations.root], Class::Linear | Class::Local | Class::Leaf);
    let mut class = classify(&equations, false);
    if !shown(&class) && equations.is_propositional() {
        class = classify(&equations, true);
    }
    // What is repeated for ever must not hang on what happens again and again.
    let parities = equations.block_parities();
    let mut runs = equations.block.iter().zip(&class).filter(|(_, class)| **class == Class::Linear);
    let plain = runs.all(|(&block, _)| parities[block as usize].is_some());
    (shown(&class) && plain).then_some((equations, class))
}

/// Puts a system side by side with a formula; nothing where single runs don't violate it ([`is_violated_by_runs`]).
///
/// ```
/// let lts = lts::parse_aut("des (0, 2, 2)\n(0, \"PUT !1\", 1)\n(1, \"GET !2\", 0)\n", &Default::default())?;
/// let mut sources = source::Sources::new();
/// let text = "[ true* . { PUT ?x:nat } . { GET ?y:nat where y <> x } ] false";
/// let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
/// let formula = &loaded.properties[0].formula;
/// let unfolded = logic::unfold(&lts, formula, 100, &lts::Progress::new()).unwrap().unwrap();
/// let at = unfolded.watched.iter().position(|&watched| watched == logic::Watched::Violated).unwrap();
/// assert_eq!(unfolded.states[at], lts.initial());
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn unfold(
    lts: &Lts,
    formula: &Formula,
    most_states: usize,
    progress: &Progress,
) -> Result<Option<Unfolded>, CheckError> {
    let Some((equations, class)) = violation(formula) else { return Ok(None) };
    let solved = match class.contains(&Class::Solved) {
        true => Some(Solved::new(lts, &equations, &class, progress)?.ok_or(CheckError::Cancelled)?),
        false => None,
    };
    let parities = equations.block_parities();
    let endless = equations.block.iter().map(|&block| parities[block as usize] == Some(true)).collect();
    let search = Search::new(Program::new(equations), &class, lts, solved.as_ref(), progress);
    let mut unfolding = Unfolding { search, endless, pasts: RowSet::default(), found: FxHashMap::default() };
    unfolding.run(lts, most_states, progress).map(|unfolded| Some(unfolded.merged()))
}

/// The row that stands for a violation.
const VIOLATED: [u32; 1] = [u32::MAX];

struct Unfolding<'a> {
    search: Search<'a, &'a Lts>,
    /// By node of the equations: whether a run that stays there for ever violates the formula.
    endless: Vec<bool>,
    /// What the formula remembers: how many parts, the parts, those of them that are repeated.
    pasts: RowSet,
    /// Nodes by state and past.
    found: FxHashMap<(StateId, u32), u32>,
}

impl Unfolding<'_> {
    fn run(&mut self, lts: &Lts, most_states: usize, progress: &Progress) -> Result<Unfolded, CheckError> {
        let mut unfolded = Unfolded { states: Vec::new(), watched: Vec::new(), targets: Vec::new() };
        let mut pasts: Vec<u32> = Vec::new();
        let root = self.search.parts.program.root();
        let first = self.past(vec![root], None).unwrap_or_default();
        self.node(lts.initial(), first, &mut unfolded.states, &mut pasts);
        let mut at = 0;
        while at < unfolded.states.len() {
            if at % 4096 == 0 {
                progress.advance(4096.min((unfolded.states.len() - at) as u64));
                if progress.is_cancelled() {
                    return Err(CheckError::Cancelled);
                }
            }
            if unfolded.states.len() > most_states {
                return Err(crate::system::Stop::States(most_states).into());
            }
            if self.search.parts.program.instance_count() > MOST_INSTANCES {
                return Err(CheckError::Unbounded(MOST_INSTANCES));
            }
            let (state, past) = (unfolded.states[at], self.pasts.row(pasts[at] as usize).to_vec());
            let (watched, next) = self.steps(lts, state, &past)?;
            unfolded.watched.push(watched);
            let targets = lts.outgoing(state).iter().zip(next).map(|(edge, past)| {
                past.map(|past| self.node(edge.target, past, &mut unfolded.states, &mut pasts))
            });
            unfolded.targets.push(targets.collect());
            at += 1;
        }
        Ok(unfolded)
    }

    fn node(&mut self, state: StateId, past: u32, states: &mut Vec<StateId>, pasts: &mut Vec<u32>) -> u32 {
        *self.found.entry((state, past)).or_insert_with(|| {
            states.push(state);
            pasts.push(past);
            states.len() as u32 - 1
        })
    }

    /// The number of a past: all parts, and those that were repeated before, or nothing if that is to start again.
    fn past(&mut self, mut parts: Vec<InstanceId>, repeated: Option<Vec<InstanceId>>) -> Option<u32> {
        parts.sort_unstable();
        parts.dedup();
        if parts.is_empty() {
            return None;
        }
        let mut repeated = repeated.unwrap_or_else(|| parts.clone());
        repeated.retain(|&part| self.endless[self.search.parts.program.node(part)]);
        repeated.sort_unstable();
        repeated.dedup();
        let row: Vec<u32> = [parts.len() as u32].into_iter().chain(parts).chain(repeated).collect();
        Some(self.pasts.insert(&row).0 as u32)
    }

    /// What is known in a state after a past, and the past after each transition.
    fn steps(
        &mut self,
        lts: &Lts,
        state: StateId,
        past: &[u32],
    ) -> Result<(Watched, Vec<Option<u32>>), CheckError> {
        let edges = lts.outgoing(state);
        let is_over = past == VIOLATED || self.is_accepted(&past[1..=past[0] as usize], state)?;
        if is_over {
            let violated = self.pasts.insert(&VIOLATED).0 as u32;
            return Ok((Watched::Violated, vec![Some(violated); edges.len()]));
        }
        let (parts, repeated) = past[1..].split_at(past[0] as usize);
        let (all, old) = (self.open_steps(parts, state)?, self.open_steps(repeated, state)?);
        let mut known: FxHashMap<LabelId, Option<u32>> = FxHashMap::default();
        let mut next = Vec::with_capacity(edges.len());
        for edge in edges {
            if let Some(&past) = known.get(&edge.label) {
                next.push(past);
                continue;
            }
            let parts = self.behind(lts, &all, edge.label)?;
            let again = match repeated.is_empty() {
                true => None,
                false => Some(self.behind(lts, &old, edge.label)?),
            };
            let past = self.past(parts, again);
            known.insert(edge.label, past);
            next.push(past);
        }
        Ok((if repeated.is_empty() { Watched::Fine } else { Watched::Repeating }, next))
    }

    fn is_accepted(&mut self, parts: &[InstanceId], state: StateId) -> Result<bool, CheckError> {
        for &part in parts {
            for guard in &self.search.closure(part)?.accepts {
                if self.search.all_hold(guard, state)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The steps that these parts can take next, conditions on the state looked up.
    fn open_steps(&mut self, parts: &[InstanceId], state: StateId) -> Result<Vec<InstanceId>, CheckError> {
        let mut open = FxHashSet::default();
        for &part in parts {
            for (guard, _, step) in &self.search.closure(part)?.steps {
                if self.search.all_hold(guard, state)? {
                    open.insert(*step);
                }
            }
        }
        let mut open: Vec<InstanceId> = open.into_iter().collect();
        open.sort_unstable();
        Ok(open)
    }

    fn behind(
        &mut self,
        lts: &Lts,
        steps: &[InstanceId],
        label: LabelId,
    ) -> Result<Vec<InstanceId>, CheckError> {
        let mut parts = Vec::new();
        for &step in steps {
            parts.extend(
                self.search.parts.program.targets(step, label, || lts.label(label).to_owned())?.iter(),
            );
        }
        Ok(parts)
    }
}

/// How many instances a formula may have, as in [`crate::Options`].
const MOST_INSTANCES: usize = 1_000_000;

impl Unfolded {
    /// Where no run comes twice, nothing hangs on whether something is repeated there: as if it were, so that more copies
    /// of a state are alike.
    fn forget_the_transient(&mut self) {
        if !self.watched.contains(&Watched::Repeating) {
            return;
        }
        let next: Vec<Vec<u32>> =
            self.targets.iter().map(|targets| targets.iter().copied().flatten().collect()).collect();
        let (block, count) =
            components(next.len(), |node, at| next[node].get(at).map(|&target| target as usize));
        let mut size = vec![0usize; count];
        block.iter().for_each(|&block| size[block as usize] += 1);
        for node in 0..next.len() {
            let passed_once = size[block[node] as usize] == 1 && !next[node].contains(&(node as u32));
            if passed_once && self.watched[node] == Watched::Fine {
                self.watched[node] = Watched::Repeating;
            }
        }
    }

    /// The same without copies of a state that differ in nothing that follows.
    fn merged(mut self) -> Self {
        let count = self.states.len();
        self.forget_the_transient();
        let mut block = number((0..count).map(|node| (self.states[node], self.watched[node])));
        let mut blocks = distinct(&block);
        // Copies of a state are rare in most systems: then this is one pass.
        while blocks < count {
            let refined = number((0..count).map(|node| {
                let targets = self.targets[node].iter().map(|target| target.map(|to| block[to as usize]));
                (block[node], targets.collect::<Vec<Option<u32>>>())
            }));
            let now = distinct(&refined);
            block = refined;
            if now == blocks {
                break;
            }
            blocks = now;
        }
        let mut merged = Self { states: Vec::new(), watched: Vec::new(), targets: Vec::new() };
        for (node, targets) in self.targets.into_iter().enumerate() {
            if block[node] as usize == merged.states.len() {
                merged.states.push(self.states[node]);
                merged.watched.push(self.watched[node]);
                let target = |target: Option<u32>| target.map(|to| block[to as usize]);
                merged.targets.push(targets.into_iter().map(target).collect());
            }
        }
        merged
    }
}

/// Numbers equal things alike, in the order in which they first come.
fn number<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers: FxHashMap<K, u32> = FxHashMap::default();
    keys.map(|key| {
        let fresh = numbers.len() as u32;
        *numbers.entry(key).or_insert(fresh)
    })
    .collect()
}

fn distinct(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |&most| most as usize + 1)
}
