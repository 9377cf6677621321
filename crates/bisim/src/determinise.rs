//! The subset construction (Rabin and Scott 1959): a deterministic system with the same traces.
//!
//! Up to `2^n` states, so there is a limit.

use lts::{LabelId, Lts, LtsBuilder, StateId};

use crate::graph::Graph;
use crate::reduce::Error;
use crate::refinement::pair;
use crate::sets::Sets;

/// The deterministic system of what the roots reach, every label being visible, and the roots in it.
pub(crate) fn determinise(lts: &Lts, roots: &[StateId], limit: usize) -> Result<(Lts, Vec<StateId>), Error> {
    let mut subsets = Sets::default();
    let mut found = Vec::with_capacity(roots.len());
    for root in roots {
        found.push(StateId::from_raw(subsets.intern(&[u64::from(root.raw())])));
    }
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    builder.reserve_states(subsets.len());
    let (mut steps, mut targets) = (Vec::new(), Vec::new());
    let mut source = 0;
    while source < subsets.len() {
        if subsets.len() > limit {
            return Err(Error::TooManyStates { limit });
        }
        steps.clear();
        for &state in subsets.get(source as u32) {
            let row = lts.row(state as u32);
            steps.extend(row.iter().map(|edge| pair(edge.label.raw(), edge.target.raw())));
        }
        steps.sort_unstable();
        steps.dedup();
        for same_label in steps.chunk_by(|a, b| a >> 32 == b >> 32) {
            targets.clear();
            targets.extend(same_label.iter().map(|&step| step & u64::from(u32::MAX)));
            let label = LabelId::from_raw((same_label[0] >> 32) as u32);
            let target = StateId::from_raw(subsets.intern(&targets));
            builder.add(StateId::new(source), label, target);
        }
        source += 1;
    }
    if let Some(&root) = found.first() {
        builder.set_initial(root);
    }
    Ok((builder.finish()?, found))
}
