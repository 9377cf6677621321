//! Systems of which only a part was explored: states whose steps are not known are marked, so that nobody takes them
//! for deadlocks.
//!
//! The mark is a step from the state to itself with a label of its own. It survives every format and every other tool
//! that reads it; ours know what it means.

use crate::ids::StateId;
use crate::lts::Lts;

/// The label of the step by which a state that was not explored leads to itself.
pub const NOT_EXPLORED: &str = "(not explored)";

impl Lts {
    /// The states that are marked as not explored, in ascending order.
    ///
    /// ```
    /// let text = "des (0, 2, 2)\n(0, A, 1)\n(1, \"(not explored)\", 1)\n";
    /// let lts = lts::parse_aut(text, &Default::default())?;
    /// assert_eq!(lts.unexplored(), [lts::StateId::new(1)]);
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn unexplored(&self) -> Vec<StateId> {
        let Some(mark) = self.labels().find(NOT_EXPLORED) else { return Vec::new() };
        let marked = |state: &StateId| {
            self.outgoing(*state).iter().any(|edge| edge.label == mark && edge.target == *state)
        };
        self.states().filter(marked).collect()
    }

    /// The same system with more states marked as not explored.
    pub fn marking_unexplored(&self, states: impl Iterator<Item = StateId>) -> Lts {
        let mut builder = crate::LtsBuilder::with_labels(self.labels().clone());
        builder.set_initial(self.initial());
        builder.reserve_states(self.state_count());
        for transition in self.transitions() {
            builder.add(transition.source, transition.label, transition.target);
        }
        let mark = builder.label(NOT_EXPLORED);
        states.for_each(|state| builder.add(state, mark, state));
        builder.finish().expect("a system with one step more a state still has 32-bit numbers")
    }
}
