//! Search for an accepting run in the product of a system and an automaton (Couvreur 1999), and a short lasso of it.
//!
//! Depth-first search keeps the components of the states on its path, each with the marks of the steps inside. As soon
//! as a component has all marks, it contains an accepting cycle; a component that is left never has one. Time and
//! memory are linear in the product. The lasso follows shortest paths to the component, from one missing mark to the
//! next, and back.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::sets::Set;
use super::{Kripke, Lasso};

/// A state of the product that has not been entered.
const NEW: u32 = 0;
/// A state of the product whose component has been left.
const LEFT: u32 = u32::MAX;

/// A component of the path: when it was entered, the marks of the step into it and of the steps inside.
struct Component {
    entered: u32,
    arrival: u32,
    marks: Set,
}

/// A state of the product on the path, and where its steps are that remain.
struct Frame {
    node: u32,
    first: usize,
}

/// The product as far as it is known.
struct Product<'system, K> {
    system: &'system mut K,
    automaton: Automaton,
    nodes: Vec<(u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
    /// When a state was entered, counted from 1; [`NEW`] or [`LEFT`].
    entered: Vec<u32>,
    /// The propositions by their positions in the automaton.
    names: Vec<u32>,
    /// For each state of the system, two bits for each proposition: known, and true.
    propositions: FxHashMap<u32, Set>,
    successors: Vec<u32>,
    steps: Vec<(u32, u32)>,
}

/// A path of the system that the automaton accepts.
pub(super) fn search<K: Kripke>(system: &mut K, automaton: Automaton) -> Result<Option<Lasso>, K::Error> {
    let mut product = Product {
        system,
        names: automaton.propositions().to_vec(),
        automaton,
        nodes: Vec::new(),
        numbers: FxHashMap::default(),
        entered: Vec::new(),
        propositions: FxHashMap::default(),
        successors: Vec::new(),
        steps: Vec::new(),
    };
    let all_number = product.automaton.all_marks();
    let all = product.automaton.marks(all_number).clone();
    let mut none = all.clone();
    all.members().for_each(|mark| none.remove(mark));

    let state = product.system.initial()?;
    let initial = product.node(state, product.automaton.initial());
    let mut open: Vec<u32> = Vec::new();
    let mut found: Vec<Component> = Vec::new();
    let mut path: Vec<Frame> = Vec::new();
    // The steps of the states on the path, those of the last one at the end.
    let mut steps: Vec<(u32, u32)> = Vec::new();
    let mut entered = 0;
    let mut enter = Some((initial, all_number));
    loop {
        if let Some((node, arrival)) = enter.take() {
            entered += 1;
            product.entered[node as usize] = entered;
            open.push(node);
            found.push(Component { entered, arrival, marks: none.clone() });
            path.push(Frame { node, first: steps.len() });
            product.successors(node, &mut steps)?;
        }
        let Some(frame) = path.last() else { return Ok(None) };
        if steps.len() > frame.first {
            let Some((target, marks)) = steps.pop() else { continue };
            match product.entered[target as usize] {
                NEW => enter = Some((target, marks)),
                LEFT => {}
                at => {
                    let mut seen = product.automaton.marks(marks).clone();
                    while let Some(component) = found.pop_if(|component| component.entered > at) {
                        seen.unite(&component.marks);
                        seen.unite(product.automaton.marks(component.arrival));
                    }
                    let Some(component) = found.last_mut() else { continue };
                    component.marks.unite(&seen);
                    if component.marks == all {
                        let first = component.entered;
                        return product.lasso(initial, first, &all).map(Some);
                    }
                }
            }
            continue;
        }
        let entered = product.entered[frame.node as usize];
        path.pop();
        if found.pop_if(|component| component.entered == entered).is_some() {
            while let Some(node) = open.pop_if(|node| product.entered[*node as usize] >= entered) {
                product.entered[node as usize] = LEFT;
            }
        }
    }
}

impl<K: Kripke> Product<'_, K> {
    fn node(&mut self, state: u32, obligations: u32) -> u32 {
        *self.numbers.entry((state, obligations)).or_insert_with(|| {
            self.nodes.push((state, obligations));
            self.entered.push(NEW);
            self.nodes.len() as u32 - 1
        })
    }

    /// Appends the steps of a state of the product, with the numbers of their marks.
    fn successors(&mut self, node: u32, into: &mut Vec<(u32, u32)>) -> Result<(), K::Error> {
        let (state, obligations) = self.nodes[node as usize];
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        let known = self.propositions.entry(state).or_insert_with(|| Set::empty(2 * self.names.len()));
        let names = &self.names;
        let system = &mut *self.system;
        self.automaton.steps(
            obligations,
            |proposition| {
                if !known.contains(2 * proposition) {
                    known.insert(2 * proposition);
                    if system.holds(state, names[proposition])? {
                        known.insert(2 * proposition + 1);
                    }
                }
                Ok(known.contains(2 * proposition + 1))
            },
            &mut steps,
        )?;
        if !steps.is_empty() {
            let mut successors = std::mem::take(&mut self.successors);
            successors.clear();
            self.system.successors(state, &mut successors)?;
            if successors.is_empty() {
                successors.push(state);
            }
            for &successor in &successors {
                for &(target, marks) in &steps {
                    into.push((self.node(successor, target), marks));
                }
            }
            self.successors = successors;
        }
        self.steps = steps;
        Ok(())
    }

    /// A lasso to and in the component that was entered at the given time and not left yet.
    fn lasso(&mut self, initial: u32, first: u32, all: &Set) -> Result<Lasso, K::Error> {
        let inside = |product: &Self, node: u32| {
            let entered = product.entered[node as usize];
            entered != NEW && entered != LEFT && entered >= first
        };
        let mut prefix = vec![initial];
        if !inside(self, initial) {
            let visited = |product: &Self, node: u32| !matches!(product.entered[node as usize], NEW | LEFT);
            let (path, _) = self.shortest(initial, visited, |product, node, _| inside(product, node))?;
            prefix.extend(path);
        }
        let entry = prefix[prefix.len() - 1];
        prefix.pop();
        let mut cycle = vec![entry];
        let mut missing: Vec<usize> = all.members().collect();
        while !missing.is_empty() {
            let from = cycle[cycle.len() - 1];
            let (path, marks) = self.shortest(from, inside, |product, _, marks| {
                missing.iter().any(|&mark| product.automaton.marks(marks).contains(mark))
            })?;
            for marks in marks {
                let seen = self.automaton.marks(marks);
                missing.retain(|&mark| !seen.contains(mark));
            }
            cycle.extend(path);
        }
        if cycle.len() == 1 || cycle[cycle.len() - 1] != entry {
            let from = cycle[cycle.len() - 1];
            let (path, _) = self.shortest(from, inside, |_, node, _| node == entry)?;
            cycle.extend(path);
        }
        cycle.pop();
        let states = |nodes: Vec<u32>| nodes.into_iter().map(|node| self.nodes[node as usize].0).collect();
        let (mut prefix, mut cycle): (Vec<u32>, Vec<u32>) = (states(prefix), states(cycle));
        // The same path with the shortest cycle, entered as early as possible.
        let length = cycle.len();
        let period = (1..=length).find(|period| {
            length % period == 0 && (*period..length).all(|at| cycle[at] == cycle[at - period])
        });
        cycle.truncate(period.unwrap_or(length));
        while prefix.last().is_some_and(|last| cycle.last() == Some(last)) {
            prefix.pop();
            cycle.rotate_right(1);
        }
        Ok(Lasso { prefix, cycle })
    }

    /// A shortest path of at least one step through nodes that are allowed up to a step that is wanted: the nodes
    /// after the first one, and the marks of the steps.
    fn shortest(
        &mut self,
        from: u32,
        allowed: impl Fn(&Self, u32) -> bool,
        wanted: impl Fn(&Self, u32, u32) -> bool,
    ) -> Result<(Vec<u32>, Vec<u32>), K::Error> {
        let mut origin: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        let mut steps = Vec::new();
        while let Some(node) = queue.pop_front() {
            steps.clear();
            self.successors(node, &mut steps)?;
            for &(target, marks) in steps.iter().filter(|&&(target, _)| allowed(self, target)) {
                if wanted(self, target, marks) {
                    let (mut nodes, mut seen) = (vec![target], vec![marks]);
                    let mut at = node;
                    while at != from {
                        nodes.push(at);
                        let (before, marks) = origin[&at];
                        seen.push(marks);
                        at = before;
                    }
                    nodes.reverse();
                    seen.reverse();
                    return Ok((nodes, seen));
                }
                if target != from && !origin.contains_key(&target) {
                    origin.insert(target, (node, marks));
                    queue.push_back(target);
                }
            }
        }
        unreachable!("the component is strongly connected, has all marks and is reachable")
    }
}
