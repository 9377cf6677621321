//! Determinisation by subset construction: exponential in the worst case, hence bounded.

use crate::builder::LtsBuilder;
use crate::ids::{LabelId, StateId};
use crate::lts::Lts;
use crate::progress::Progress;
use crate::rows::RowSet;

/// What the internal action is to a determinisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Internal {
    /// A label like any other.
    Observed,
    /// Skipped: the result has the same traces of visible labels.
    Skipped,
}

/// Work that was stopped before its result was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// More states than were allowed.
    #[error("more than {0} states are needed")]
    TooManyStates(usize),
    /// The user asked for it.
    #[error("the work was cancelled")]
    Cancelled,
}

impl Lts {
    /// A system with the same traces in which no state has two transitions with the same label.
    ///
    /// ```
    /// use lts::{Internal, Progress};
    /// let lts = lts::parse_aut("des (0, 3, 4)\n(0, A, 1)\n(0, A, 2)\n(2, B, 3)\n", &Default::default())?;
    /// let traces = lts.determinise(Internal::Observed, usize::MAX, &Progress::new())?;
    /// assert_eq!((traces.state_count(), traces.transition_count()), (3, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn determinise(
        &self,
        internal: Internal,
        max_states: usize,
        progress: &Progress,
    ) -> Result<Lts, Stopped> {
        let mut builder = LtsBuilder::with_labels(self.labels().clone());
        let mut closure = Closure { marked: vec![false; self.state_count()], internal };
        let mut subsets = RowSet::default();
        let mut start = vec![self.initial().raw()];
        closure.close(self, &mut start);
        subsets.insert(&start);
        let mut moves: Vec<(LabelId, u32)> = Vec::new();
        let mut target: Vec<u32> = Vec::new();
        let mut next = 0;
        while next < subsets.len() {
            if progress.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            moves.clear();
            for &state in subsets.row(next) {
                let edges = self.outgoing(StateId::from_raw(state)).iter();
                let edges = edges.filter(|edge| internal == Internal::Observed || !edge.label.is_tau());
                moves.extend(edges.map(|edge| (edge.label, edge.target.raw())));
            }
            moves.sort_unstable();
            for step in moves.chunk_by(|a, b| a.0 == b.0) {
                target.clear();
                target.extend(step.iter().map(|&(_, state)| state));
                target.dedup();
                closure.close(self, &mut target);
                let (index, new) = subsets.insert(&target);
                if new && subsets.len() > max_states {
                    return Err(Stopped::TooManyStates(max_states));
                }
                builder.add(StateId::new(next), step[0].0, StateId::new(index));
            }
            next += 1;
            progress.advance(1);
        }
        builder.reserve_states(subsets.len());
        Ok(builder.finish().map_err(|_| Stopped::TooManyStates(u32::MAX as usize))?.reachable())
    }
}

/// Adds to a subset what internal steps can reach.
struct Closure {
    /// Members of the subset at hand; all false between two uses.
    marked: Vec<bool>,
    internal: Internal,
}

impl Closure {
    fn close(&mut self, lts: &Lts, subset: &mut Vec<u32>) {
        if self.internal == Internal::Observed {
            return;
        }
        for &state in subset.iter() {
            self.marked[state as usize] = true;
        }
        let mut next = 0;
        while next < subset.len() {
            let state = StateId::from_raw(subset[next]);
            next += 1;
            for edge in lts.outgoing(state).iter().take_while(|edge| edge.label.is_tau()) {
                if !std::mem::replace(&mut self.marked[edge.target.index()], true) {
                    subset.push(edge.target.raw());
                }
            }
        }
        for &state in subset.iter() {
            self.marked[state as usize] = false;
        }
        subset.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_aut;

    #[test]
    fn visible_traces_survive_skipping_internal_steps() {
        let text = "des (0, 4, 5)\n(0, i, 1)\n(1, i, 0)\n(1, A, 2)\n(0, A, 3)\n";
        let lts = parse_aut(text, &Default::default()).unwrap();
        let traces = lts.determinise(Internal::Skipped, 100, &Progress::new()).unwrap();
        assert_eq!((traces.state_count(), traces.transition_count()), (2, 1));
    }

    /// "The nth letter from the end is A" needs 2^n states.
    #[test]
    fn an_explosion_stops_at_the_limit() {
        let n = 40;
        let mut text = format!("des (0, {}, {})\n(0, A, 0)\n(0, B, 0)\n(0, A, 1)\n", 2 * n + 1, n + 1);
        for state in 1..n {
            text += &format!("({state}, A, {0})\n({state}, B, {0})\n", state + 1);
        }
        let lts = parse_aut(&text, &Default::default()).unwrap();
        let stopped = lts.determinise(Internal::Observed, 1000, &Progress::new());
        assert_eq!(stopped.err(), Some(Stopped::TooManyStates(1000)));
    }
}
