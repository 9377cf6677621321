//! What a step does to variables, in short: the uses of values from before it, the pairs of definitions and uses within
//! it, and the last definition of each cell.

use std::collections::BTreeSet;

use model::{DataFlow, VariableSite};
use rustc_hash::FxHashMap;

use super::machine::FIRST_OBSERVATION;
use crate::compile::Compiled;
use crate::compile::code::FlowEvent;

/// The effect of a sequence of events; places are positions in [`Code::flow_sites`](crate::compile::code::Code).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells that are read before they are defined, and where.
    used: BTreeSet<(u32, u32)>,
    /// Definitions, and uses of them.
    pairs: BTreeSet<(u32, u32)>,
    /// Cells, and where they were defined last.
    defined: FxHashMap<u32, u32>,
}

impl Summary {
    /// The effect of events in the order in which they happened.
    pub fn of(events: &[FlowEvent], marks: impl Iterator<Item = u32>) -> Self {
        let mut summary = Self::default();
        for mark in marks {
            match events[mark as usize] {
                FlowEvent::Define(cell, place) => _ = summary.defined.insert(cell, place),
                FlowEvent::Pair(definition, place) => _ = summary.pairs.insert((definition, place)),
                FlowEvent::Use(cell, place) => match summary.defined.get(&cell) {
                    Some(&definition) => _ = summary.pairs.insert((definition, place)),
                    None => _ = summary.used.insert((cell, place)),
                },
            }
        }
        summary
    }

    /// Whether going on from here shows nothing that going on from one of the others, which lead to the same state,
    /// would not: what holds for one variable does not depend on another.
    pub fn adds_nothing_to(&self, others: &[Summary]) -> bool {
        let some = |has: &dyn Fn(&Summary) -> bool| others.iter().any(has);
        let left_alone = |other: &Summary, cell: &u32| !other.defined.contains_key(cell);
        let mut cells = others.iter().flat_map(|other| other.defined.keys());
        self.used.iter().all(|one| some(&|other| other.used.contains(one)))
            && self.pairs.iter().all(|one| some(&|other| other.pairs.contains(one)))
            && self.defined.iter().all(|(cell, place)| some(&|other| other.defined.get(cell) == Some(place)))
            && cells.all(|cell| self.defined.contains_key(cell) || some(&|other| left_alone(other, cell)))
    }

    /// The summary as a row: how many uses and pairs there are, these, and the definitions.
    fn row(&self) -> Vec<u32> {
        let mut defined: Vec<(u32, u32)> = self.defined.iter().map(|(&cell, &place)| (cell, place)).collect();
        defined.sort_unstable();
        let mut row = vec![self.used.len() as u32, self.pairs.len() as u32];
        row.extend(self.used.iter().chain(&self.pairs).chain(&defined).flat_map(|&(a, b)| [a, b]));
        row
    }
}

/// The mark that stands for the effect of events.
pub fn summary_mark(compiled: &Compiled, marks: &[u32]) -> u32 {
    let summary = Summary::of(&compiled.code.flow_events, marks.iter().copied());
    FIRST_OBSERVATION + compiled.observations.intern(&summary.row())
}

/// What a row means.
pub fn read_summary(row: &[u32], sites: &[VariableSite]) -> DataFlow {
    let (used, pairs) = (row[0] as usize, row[1] as usize);
    let entries: Vec<(u32, u32)> = row[2..].chunks_exact(2).map(|entry| (entry[0], entry[1])).collect();
    let site = |place: u32| sites[place as usize];
    let cells = |entries: &[(u32, u32)]| entries.iter().map(|&(cell, place)| (cell, site(place))).collect();
    DataFlow {
        used: cells(&entries[..used]),
        pairs: entries[used..used + pairs].iter().map(|&(a, b)| (site(a), site(b))).collect(),
        defined: cells(&entries[used + pairs..]),
    }
}
