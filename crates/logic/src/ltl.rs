//! Linear temporal logic on the fly: does every infinite path of a system satisfy a formula?
//!
//! The negation of the formula is brought to negation normal form and simplified (`normal`), translated to a
//! transition-based generalised Büchi automaton through a very weak alternating automaton (`automaton`; Gastin and
//! Oddoux, "Fast LTL to Büchi automata translation", 2001), and its product with the system is searched for an
//! accepting component (`search`; Couvreur, "On-the-fly verification of linear temporal logic", 1999). The search
//! takes time linear in the product and needs no recursion. The automaton has at most 2^n states for n temporal
//! operators, usually a handful; where it would be large, only those of its steps are computed that the system takes.
//!
//! ```
//! use logic::ltl::{Formulas, Kripke, check};
//!
//! /// A light that goes from red (0) to green (1) and, perhaps, back. Proposition 0 is "green".
//! struct Light;
//!
//! impl Kripke for Light {
//!     type Error = std::convert::Infallible;
//!     fn initial(&mut self) -> Result<u32, Self::Error> {
//!         Ok(0)
//!     }
//!     fn successors(&mut self, state: u32, into: &mut Vec<u32>) -> Result<(), Self::Error> {
//!         into.extend(if state == 0 { &[1][..] } else { &[0, 1] });
//!         Ok(())
//!     }
//!     fn holds(&mut self, state: u32, _proposition: u32) -> Result<bool, Self::Error> {
//!         Ok(state == 1)
//!     }
//! }
//!
//! let mut formulas = Formulas::new();
//! let green = formulas.proposition(0);
//! let eventually = formulas.eventually(green);
//! assert_eq!(check(&mut Light, &formulas, eventually), Ok(None));
//! let again = formulas.always(eventually);
//! assert_eq!(check(&mut Light, &formulas, again), Ok(None));
//! let red = formulas.not(green);
//! let red_again = formulas.eventually(red);
//! let alternates = formulas.always(red_again);
//! let lasso = check(&mut Light, &formulas, alternates).unwrap().unwrap();
//! assert_eq!((lasso.prefix, lasso.cycle), (vec![0], vec![1]));
//! ```

mod automaton;
mod normal;
mod search;
mod sets;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

/// A formula: an operator and its arguments in the same [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Holds always.
    True,
    /// Never holds.
    False,
    /// Holds if the first state of the path satisfies the proposition.
    Prop(u32),
    /// The argument does not hold.
    Not(FormulaId),
    /// Both arguments hold.
    And(FormulaId, FormulaId),
    /// One of the arguments holds.
    Or(FormulaId, FormulaId),
    /// The second argument holds if the first one does.
    Implies(FormulaId, FormulaId),
    /// Both arguments hold or none does.
    Iff(FormulaId, FormulaId),
    /// The argument holds after one step.
    Next(FormulaId),
    /// The second argument holds at some time, and the first one until then.
    Until(FormulaId, FormulaId),
    /// The second argument holds up to and including the time at which the first one does, or for ever.
    Release(FormulaId, FormulaId),
    /// The argument holds at some time.
    Eventually(FormulaId),
    /// The argument holds at all times.
    Always(FormulaId),
    /// The first argument holds until the second one does, or for ever.
    WeakUntil(FormulaId, FormulaId),
}

/// A formula inside its [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaId(u32);

/// Formulas that share their parts. Arguments are added before the formulas that contain them.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    formulas: Vec<Formula>,
    known: FxHashMap<Formula, FormulaId>,
}

macro_rules! operators {
    ($($(#[$text:meta])* $name:ident($($argument:ident),*) = $operator:ident;)*) => {
        impl Formulas {$(
            $(#[$text])*
            pub fn $name(&mut self $(, $argument: FormulaId)*) -> FormulaId {
                self.add(Formula::$operator($($argument),*))
            }
        )*}
    };
}

operators! {
    /// Adds a negation.
    not(argument) = Not;
    /// Adds a conjunction.
    and(left, right) = And;
    /// Adds a disjunction.
    or(left, right) = Or;
    /// Adds an implication.
    implies(left, right) = Implies;
    /// Adds an equivalence.
    iff(left, right) = Iff;
    /// Adds "after one step".
    next(argument) = Next;
    /// Adds "left until right".
    until(left, right) = Until;
    /// Adds "left releases right".
    release(left, right) = Release;
    /// Adds "at some time".
    eventually(argument) = Eventually;
    /// Adds "at all times".
    always(argument) = Always;
    /// Adds "left until right, or left for ever".
    weak_until(left, right) = WeakUntil;
}

impl Formulas {
    /// No formulas yet.
    pub fn new() -> Formulas {
        Formulas::default()
    }

    /// Adds a formula; the same formula has the same number.
    ///
    /// # Panics
    ///
    /// If an argument is not one of these formulas.
    pub fn add(&mut self, formula: Formula) -> FormulaId {
        for argument in formula.arguments().into_iter().flatten() {
            assert!((argument.0 as usize) < self.formulas.len(), "arguments are added before their formula");
        }
        *self.known.entry(formula).or_insert_with(|| {
            self.formulas.push(formula);
            FormulaId(self.formulas.len() as u32 - 1)
        })
    }

    /// Adds a proposition.
    pub fn proposition(&mut self, proposition: u32) -> FormulaId {
        self.add(Formula::Prop(proposition))
    }

    /// The operator and the arguments of a formula.
    pub fn get(&self, formula: FormulaId) -> Formula {
        self.formulas[formula.0 as usize]
    }
}

impl Formula {
    /// The arguments from left to right.
    pub fn arguments(self) -> [Option<FormulaId>; 2] {
        use Formula::*;
        match self {
            True | False | Prop(_) => [None, None],
            Not(argument) | Next(argument) | Eventually(argument) | Always(argument) => {
                [Some(argument), None]
            }
            And(left, right)
            | Or(left, right)
            | Implies(left, right)
            | Iff(left, right)
            | Until(left, right)
            | Release(left, right)
            | WeakUntil(left, right) => [Some(left), Some(right)],
        }
    }
}

/// A system whose states satisfy propositions, explored as far as a formula asks for it.
pub trait Kripke {
    /// Why a state cannot be computed.
    type Error;

    /// The state in which all paths begin.
    fn initial(&mut self) -> Result<u32, Self::Error>;

    /// Appends the successors of a state. A state without successors is taken to repeat for ever. Asked at most once
    /// for each state of the product with the automaton, and again on the way to a counterexample.
    fn successors(&mut self, state: u32, into: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// Does the state satisfy the proposition? Asked at most once for each pair.
    fn holds(&mut self, state: u32, proposition: u32) -> Result<bool, Self::Error>;
}

/// An infinite path: the states of the prefix, then those of the cycle again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// States before the cycle; the path begins in the first one, or in that of the cycle if there is none.
    pub prefix: Vec<u32>,
    /// States of the cycle, at least one. The first one is a successor of the last one.
    pub cycle: Vec<u32>,
}

/// A path from the initial state that violates the formula, or `None` if there is none.
pub fn check<K: Kripke>(
    system: &mut K,
    formulas: &Formulas,
    formula: FormulaId,
) -> Result<Option<Lasso>, K::Error> {
    let (normal, root) = normal::normal_form(formulas, formula);
    let automaton = automaton::Automaton::new(normal, normal::negation(root));
    search::search(system, automaton)
}
