//! The steps of tau\*.a equivalence (Fernandez and Mounier 1991): any number of internal steps, then one
//! visible step. The result has no internal steps and may have many more edges than its source.

use lts::{LabelId, Lts, LtsBuilder, StateId, TooLarge};

use crate::graph::Graph;
use crate::refinement::pair;
use crate::sets::Sets;
use crate::silent::Acyclic;

/// The system over the same states whose steps are tau\*.a steps, for a system without internal cycles.
pub(crate) fn tau_star_steps(lts: &Lts) -> Result<Lts, TooLarge> {
    let order = Acyclic::of(lts).by_rank();
    let mut sets = Sets::default();
    let mut set_of = vec![0u32; lts.state_count()];
    let (mut own, mut inherited) = (Vec::new(), Vec::new());
    for state in order {
        own.clear();
        inherited.clear();
        for edge in lts.row(state) {
            if !edge.label.is_tau() {
                own.push(pair(edge.label.raw(), edge.target.raw()));
            } else if edge.target.raw() != state {
                inherited.push(set_of[edge.target.index()]);
            }
        }
        inherited.dedup();
        set_of[state as usize] = sets.union(&own, &inherited);
    }
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.reserve_states(lts.state_count());
    for (source, &set) in set_of.iter().enumerate() {
        for &step in sets.get(set) {
            let (label, target) = ((step >> 32) as u32, step as u32);
            builder.add(StateId::new(source), LabelId::from_raw(label), StateId::from_raw(target));
        }
    }
    builder.finish()
}
