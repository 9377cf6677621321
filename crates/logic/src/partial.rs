//! What a part of a system says about the whole: states that are marked as not explored ([`Lts::unexplored`]) may do
//! anything.
//!
//! A run of the part is a run of the whole, whatever the rest does. So a run decides where nothing else is needed: where
//! the formula forbids it or asks for it, with conditions on the last state that its own steps decide. Everything else is
//! not known.

use lts::{Lts, NOT_EXPLORED, StateId};

use crate::tree::{ExpressionKind, Formula, FormulaKind, RegularKind};
use crate::verdict::{Explanation, Verdict};

/// Whether a verdict on a system, of which only a part may be known, is one on the whole system.
///
/// ```
/// use logic::{Options, check_lts, is_certain, load_text};
/// let text = "des (0, 2, 2)\n(0, A, 1)\n(1, \"(not explored)\", 1)\n";
/// let part = lts::parse_aut(text, &Default::default())?;
/// let certain = |formula: &str| {
///     let loaded = load_text("p.mcl", formula, &mut source::Sources::new()).unwrap();
///     let formula = &loaded.properties[0].formula;
///     let verdict = check_lts(&part, formula, &Options::default(), &lts::Progress::new()).unwrap();
///     (verdict.holds, is_certain(&part, formula, &verdict))
/// };
/// assert_eq!(certain("[ true* . \"A\" ] false"), (false, true));
/// assert_eq!(certain("[ true* . \"B\" ] false"), (true, false));
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn is_certain(lts: &Lts, formula: &Formula, verdict: &Verdict) -> bool {
    let unexplored = lts.unexplored();
    if unexplored.is_empty() {
        return true;
    }
    let Some(Explanation::Trace(steps)) = &verdict.explanation else { return false };
    let known = |state: StateId| unexplored.binary_search(&state).is_err();
    if !steps.iter().all(|step| known(step.source) && step.label != NOT_EXPLORED) {
        return false;
    }
    let end = steps.last().map_or(lts.initial(), |step| step.target);
    let at_end = if known(end) { AtEnd::OwnSteps } else { AtEnd::Nothing };
    shown_by_a_run(formula, verdict.holds, at_end)
}

/// Whether a run that violates a formula does so in every system that has it, whatever can happen where it ends.
///
/// ```
/// let mut sources = source::Sources::new();
/// let mut by_steps = |text: &str| {
///     logic::is_violated_by_steps(&logic::load_text("p.mcl", text, &mut sources).unwrap().properties[0].formula)
/// };
/// assert!(by_steps("[ true* . \"A\" ] false"));
/// assert!(!by_steps("[ true* . \"A\" ] < true > true"));
/// ```
pub fn is_violated_by_steps(formula: &Formula) -> bool {
    shown_by_a_run(formula, false, AtEnd::Nothing)
}

/// What is known of the state at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    OwnSteps,
    Nothing,
}

/// Whether a formula that has this verdict, with a run to show it, has it whatever else the system can do.
fn shown_by_a_run(formula: &Formula, holds: bool, at_end: AtEnd) -> bool {
    match &formula.kind {
        FormulaKind::Necessary(_, then) if !holds => {
            decided(then, at_end) || shown_by_a_run(then, holds, at_end)
        }
        FormulaKind::Possible(_, then) if holds => {
            decided(then, at_end) || shown_by_a_run(then, holds, at_end)
        }
        FormulaKind::And(parts) if !holds => parts.iter().all(|part| shown_by_a_run(part, holds, at_end)),
        FormulaKind::Or(parts) if holds => parts.iter().all(|part| shown_by_a_run(part, holds, at_end)),
        FormulaKind::Quantified { exists, body, .. } if *exists == holds => {
            shown_by_a_run(body, holds, at_end)
        }
        FormulaKind::Let(_, body) => shown_by_a_run(body, holds, at_end),
        FormulaKind::Not(inner) => shown_by_a_run(inner, !holds, at_end),
        _ => false,
    }
}

/// Whether a condition on the last state of a run needs no more than is known of that state.
fn decided(condition: &Formula, at_end: AtEnd) -> bool {
    match &condition.kind {
        FormulaKind::Data(_) => true,
        FormulaKind::Not(inner) => decided(inner, at_end),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => parts.iter().all(|part| decided(part, at_end)),
        FormulaKind::Possible(regular, then) | FormulaKind::Necessary(regular, then) => {
            let constant =
                matches!(&then.kind, FormulaKind::Data(data) if matches!(data.kind, ExpressionKind::Bool(_)));
            at_end == AtEnd::OwnSteps && constant && matches!(regular.kind, RegularKind::Action(_))
        }
        _ => false,
    }
}
