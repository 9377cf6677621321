//! A network as a model: a state has one slot for each leaf, the leaf's own state.
//!
//! A vector is looked at only in states where its first leaf offers its first label. The origin of a step tells which
//! leaves moved.

use lts::{Edge, LabelId, Lts, OriginId, StateId};
use model::{
    Gate, Layout, Mark, MarkKind, Model, ModelError, OfferType, Provenance, Slot, StateView, Step, Worker,
};
use rustc_hash::FxHashMap;
use source::Span;

use super::vectors::{Flat, Vector, flatten};
use super::{ComposeError, Network, Unmatched};

/// More labels than this are not listed before exploration.
const MOST_LISTED: usize = 10_000;

/// A network, ready to be explored.
pub struct NetworkModel {
    flat: Flat,
    index: VectorIndex,
    layout: Layout,
    /// The leaves under names that tell them apart.
    names: Vec<String>,
    provenance: Provenance,
    /// The origin of each vector.
    origins: Vec<OriginId>,
}

impl NetworkModel {
    /// Flattens a network.
    pub fn new(network: &Network) -> Result<Self, ComposeError> {
        let flat = flatten(network)?;
        let names = distinct_names(&flat);
        let marks = flat.leaves.iter().zip(&names).filter_map(|(leaf, name)| {
            Some(Mark { kind: MarkKind::Action, span: leaf.span?, process: name.clone() })
        });
        // Leaves that stand nowhere in a text can't be pointed at.
        let marks: Vec<Mark> = marks.collect();
        let told = marks.len() == flat.leaves.len();
        let provenance = Provenance::new(if told { marks } else { Vec::new() });
        let mut known: FxHashMap<Vec<u32>, OriginId> = FxHashMap::default();
        let origin = |vector: &Vector| {
            let movers: Vec<u32> = vector.parts.iter().map(|&(leaf, _)| leaf as u32).collect();
            let table = provenance.origins();
            *known.entry(movers).or_insert_with_key(|movers| OriginId::from_raw(table.intern(movers)))
        };
        let origins = match told {
            true => flat.vectors.iter().map(origin).collect(),
            false => vec![Provenance::NONE; flat.vectors.len()],
        };
        let bits: Vec<u32> = (flat.leaves.iter())
            .map(|leaf| u32::BITS - (leaf.lts.state_count() as u32 - 1).leading_zeros())
            .collect();
        Ok(Self {
            index: VectorIndex::new(&flat),
            layout: Layout::new(&bits),
            names,
            provenance,
            origins,
            flat,
        })
    }

    /// What the network says about labels that are not there.
    pub fn unmatched(&self) -> &[Unmatched] {
        &self.flat.unmatched
    }

    /// The systems that it is made of: names and places.
    pub fn leaves(&self) -> impl Iterator<Item = (&str, Option<Span>)> {
        self.names.iter().zip(&self.flat.leaves).map(|(name, leaf)| (name.as_str(), leaf.span))
    }
}

/// `a.aut`, `b.aut`, `a.aut#2`: names that tell leaves apart.
fn distinct_names(flat: &Flat) -> Vec<String> {
    let mut times: FxHashMap<&str, usize> = FxHashMap::default();
    let name = |leaf: &'_ super::Leaf, times: usize| match times {
        1 => leaf.name.clone(),
        times => format!("{}#{times}", leaf.name),
    };
    let mut names = Vec::with_capacity(flat.leaves.len());
    for leaf in &flat.leaves {
        let seen = times.entry(&leaf.name).or_default();
        *seen += 1;
        names.push(name(leaf, *seen));
    }
    names
}

impl Model for NetworkModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(self.flat.leaves.iter().map(|leaf| leaf.lts.initial().raw()).collect())
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(NetworkWorker { model: self, successor: Vec::new(), choice: Vec::new() })
    }

    fn label(&self, label: LabelId) -> String {
        self.flat.labels.text(label).to_owned()
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        let values = self.names.iter().cloned().zip(state.iter().map(u32::to_string));
        StateView { values: values.collect() }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn observables(&self) -> Option<Vec<String>> {
        Some(self.names.clone())
    }

    fn visible_gates(&self) -> Option<Vec<Gate>> {
        let mut gates: Vec<Gate> = Vec::new();
        let mut labels: Vec<LabelId> = self.flat.vectors.iter().map(|vector| vector.label).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.len() > MOST_LISTED {
            return None;
        }
        for text in
            labels.into_iter().filter(|label| !label.is_tau()).map(|label| self.flat.labels.text(label))
        {
            let profile =
                lts::offers(text).into_iter().map(|offer| OfferType::Names(vec![offer.to_owned()])).collect();
            let name = lts::gate(text);
            match gates.iter_mut().find(|gate| gate.name == name) {
                Some(gate) => gate.profiles.push(profile),
                None => gates.push(Gate { name: name.to_owned(), profiles: vec![profile] }),
            }
        }
        Some(gates)
    }
}

struct NetworkWorker<'a> {
    model: &'a NetworkModel,
    successor: Vec<Slot>,
    choice: Vec<(usize, usize, usize)>,
}

impl Worker for NetworkWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let NetworkModel { flat, index, origins, .. } = self.model;
        let Self { successor, choice, .. } = self;
        for number in index.enabled(flat, state) {
            let vector = &flat.vectors[number as usize];
            if !possible_choices(flat, vector, state, choice) {
                continue;
            }
            loop {
                successor.clear();
                successor.extend_from_slice(state);
                for (&(leaf, _), &(_, at, _)) in vector.parts.iter().zip(choice.iter()) {
                    successor[leaf] = flat.leaves[leaf].lts.edges()[at].target.raw();
                }
                emit(Step { label: vector.label, target: successor, origin: origins[number as usize] });
                if !next_choice(choice) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// For each part of a vector, the range of edges that can do it: `(first, current, end)`.
fn possible_choices(
    flat: &Flat,
    vector: &Vector,
    state: &[Slot],
    choice: &mut Vec<(usize, usize, usize)>,
) -> bool {
    choice.clear();
    for &(leaf, label) in &vector.parts {
        let (start, end) = edges_with(&flat.leaves[leaf].lts, StateId::from_raw(state[leaf]), label);
        if start == end {
            return false;
        }
        choice.push((start, start, end));
    }
    true
}

/// Steps to the next combination of edges, the last part fastest.
fn next_choice(choice: &mut [(usize, usize, usize)]) -> bool {
    for (first, current, end) in choice.iter_mut().rev() {
        *current += 1;
        if *current < *end {
            return true;
        }
        *current = *first;
    }
    false
}

/// The edges of a state with a label: they lie side by side.
fn edges_with(lts: &Lts, state: StateId, label: LabelId) -> (usize, usize) {
    let range = lts.edge_range(state);
    let row = &lts.edges()[range.clone()];
    let start = row.partition_point(|edge| edge.label < label);
    let end = start + row[start..].partition_point(|edge| edge.label == label);
    (range.start + start, range.start + end)
}

/// The vectors by their first part.
struct VectorIndex {
    /// For each leaf and label, where its vectors start in `order`.
    starts: Vec<Vec<u32>>,
    order: Vec<u32>,
}

impl VectorIndex {
    fn new(flat: &Flat) -> Self {
        let mut order: Vec<u32> = (0..flat.vectors.len() as u32).collect();
        let first = |index: u32| flat.vectors[index as usize].parts[0];
        order.sort_by_key(|&index| first(index));
        let starts = flat
            .leaves
            .iter()
            .enumerate()
            .map(|(leaf, part)| {
                (0..=part.lts.labels().len())
                    .map(|label| {
                        order.partition_point(|&index| first(index) < (leaf, LabelId::new(label))) as u32
                    })
                    .collect()
            })
            .collect();
        Self { starts, order }
    }

    /// The vectors whose first part can happen in a state.
    fn enabled<'a>(&'a self, flat: &'a Flat, state: &'a [Slot]) -> impl Iterator<Item = u32> + 'a {
        flat.leaves.iter().enumerate().flat_map(move |(leaf, part)| {
            let row = part.lts.outgoing(StateId::from_raw(state[leaf]));
            let labels = row.chunk_by(|a: &Edge, b: &Edge| a.label == b.label).map(|group| group[0].label);
            labels.flat_map(move |label| {
                let starts = &self.starts[leaf];
                let range = starts[label.index()] as usize..starts[label.index() + 1] as usize;
                self.order[range].iter().copied()
            })
        })
    }
}
