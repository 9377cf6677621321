//! Following a saved run on a system again.

use lts::{Edge, LabelId, StateId};
use rustc_hash::FxHashSet;

use crate::automaton::regular_violation;
use crate::system::{Stop, System};
use crate::tree::Formula;
use crate::verdict::Step;

/// Why a run can't be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The system can't do a step.
    #[error("step {} of the trace, \"{label}\", is not possible here{}", at + 1, instead(possible))]
    NotPossible {
        /// The position of the step.
        at: usize,
        /// Its label.
        label: String,
        /// The labels that are possible there, sorted.
        possible: Vec<String>,
    },
    /// The system can do all steps, but they do not violate the formula.
    #[error("the trace is a run of the system, but does not violate the property")]
    NoViolation,
    /// The system gave up.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

fn instead(possible: &[String]) -> String {
    match possible {
        [] => ": nothing is possible there".to_owned(),
        all => format!(
            ": the system can do {}",
            all.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Follows labels from the initial state, whichever of several equal steps has to be taken. With a formula whose
/// violations are a regular set of runs, checks that this is one of them.
///
/// ```
/// let lts = lts::parse_aut("des (0, 3, 3)\n(0, A, 1)\n(0, A, 2)\n(2, B, 0)\n", &Default::default())?;
/// let steps = logic::replay(&mut &lts, &["A", "B"], None).unwrap();
/// assert_eq!(steps[0].target.index(), 2);
/// let error = logic::replay(&mut &lts, &["B"], None).unwrap_err();
/// assert_eq!(error.to_string(), r#"step 1 of the trace, "B", is not possible here: the system can do "A""#);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn replay<T: AsRef<str>>(
    system: &mut dyn System,
    labels: &[T],
    formula: Option<&Formula>,
) -> Result<Vec<Step>, ReplayError> {
    // Layer by layer: each state with the position of its predecessor in the layer before, and the step from there.
    let initial = system.initial()?;
    let none = Edge { label: LabelId::TAU, target: initial };
    let mut layers: Vec<Vec<(Edge, usize)>> = vec![vec![(none, 0)]];
    for (at, label) in labels.iter().enumerate() {
        let mut next = Vec::new();
        let mut seen: FxHashSet<StateId> = FxHashSet::default();
        let mut possible = Vec::new();
        for (position, &(reached, _)) in layers[at].iter().enumerate() {
            for edge in system.successors(reached.target)?.to_vec() {
                let text = system.label(edge.label);
                if text == label.as_ref() {
                    if seen.insert(edge.target) {
                        next.push((edge, position));
                    }
                } else {
                    possible.push(text);
                }
            }
        }
        if next.is_empty() {
            possible.sort();
            possible.dedup();
            return Err(ReplayError::NotPossible { at, label: label.as_ref().to_owned(), possible });
        }
        layers.push(next);
    }
    if let Some(automaton) = formula.and_then(regular_violation)
        && !automaton.accepts(labels.iter().map(AsRef::as_ref))
    {
        return Err(ReplayError::NoViolation);
    }
    let mut steps = Vec::new();
    let mut position = 0;
    for at in (0..labels.len()).rev() {
        let (edge, before) = layers[at + 1][position];
        let source = layers[at][before].0.target;
        steps.push(Step {
            source,
            label: labels[at].as_ref().to_owned(),
            target: edge.target,
            slots: system.slots(edge.target),
            origin: system.origin(source, edge),
        });
        position = before;
    }
    steps.reverse();
    Ok(steps)
}
