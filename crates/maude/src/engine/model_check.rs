//! `modelCheck`: formulas of linear temporal logic on the states of a term. The automata and the search for a cycle are
//! those of `logic::ltl`; here are the states, found as they are asked for, and the answer as a term.

use logic::ltl::{Formula, FormulaId, Formulas, Kripke, check};
use rustc_hash::FxHashMap;

use super::code::Code;
use super::{Engine, Stop};
use crate::names::Name;
use crate::signature::SymbolId;
use crate::terms::TermId;

/// The states of a term as the checker asks for them.
struct States<'e, 'c> {
    engine: &'e mut Engine,
    code: &'c Code,
    satisfies: SymbolId,
    terms: Vec<TermId>,
    numbers: FxHashMap<TermId, u32>,
    /// Targets and rules.
    steps: Vec<Option<Vec<(u32, usize)>>>,
    propositions: Vec<TermId>,
}

impl States<'_, '_> {
    fn number(&mut self, term: TermId) -> u32 {
        let fresh = self.terms.len() as u32;
        let number = *self.numbers.entry(term).or_insert(fresh);
        if number == fresh {
            self.terms.push(term);
            self.steps.push(None);
            self.engine.kept.push(term);
        }
        number
    }

    fn expand(&mut self, state: u32) -> Result<(), Stop> {
        if self.steps[state as usize].is_some() {
            return Ok(());
        }
        let mut found: Vec<(TermId, usize)> = Vec::new();
        let kept = self.engine.kept.len();
        self.engine.steps(self.code, self.terms[state as usize], &mut |engine, step| {
            engine.kept.push(step.result);
            found.push((step.result, step.rule));
            Ok(false)
        })?;
        self.engine.kept.truncate(kept);
        let mut steps: Vec<(u32, usize)> = Vec::new();
        for (term, rule) in found {
            let target = self.number(term);
            if !steps.iter().any(|&(known, _)| known == target) {
                steps.push((target, rule));
            }
        }
        self.steps[state as usize] = Some(steps);
        Ok(())
    }
}

impl Kripke for States<'_, '_> {
    type Error = Stop;

    fn initial(&mut self) -> Result<u32, Stop> {
        Ok(0)
    }

    fn successors(&mut self, state: u32, into: &mut Vec<u32>) -> Result<(), Stop> {
        self.expand(state)?;
        into.extend(self.steps[state as usize].iter().flatten().map(|&(target, _)| target));
        Ok(())
    }

    fn holds(&mut self, state: u32, proposition: u32) -> Result<bool, Stop> {
        let (state, proposition) = (self.terms[state as usize], self.propositions[proposition as usize]);
        let engine = &mut *self.engine;
        engine.stack.push(state);
        engine.stack.push(proposition);
        let value = engine.apply(self.code, self.satisfies, 2)?;
        Ok(self.code.booleans.is_some_and(|(yes, _)| yes == value))
    }
}

impl Engine {
    /// Whether a formula holds from a state on: `true`, or a counterexample.
    pub(super) fn model_check(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        state: TermId,
        formula: TermId,
    ) -> Result<Option<TermId>, Stop> {
        let signature = &code.signature;
        let data = signature.symbol(symbol);
        let satisfies = signature.named(Name::new("_|=_")).iter().copied().find(|&id| {
            let satisfies = signature.symbol(id);
            satisfies.domain[..] == data.domain[..]
        });
        let Some(satisfies) = satisfies else {
            return Err(Stop::error("`modelCheck` needs `_|=_`, which SATISFACTION declares"));
        };
        let before = self.kept.len();
        self.kept.extend([state, formula]);
        let mut formulas = Formulas::new();
        let mut propositions = Vec::new();
        let root = self.formula(code, formula, &mut formulas, &mut propositions);
        let mut states = States {
            engine: self,
            code,
            satisfies,
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            steps: Vec::new(),
            propositions,
        };
        states.number(state);
        let lasso = check(&mut states, &formulas, root)?;
        let result = match lasso {
            None => states.engine.truth(code, true),
            Some(lasso) => {
                let mut run = lasso.prefix.clone();
                run.extend(&lasso.cycle);
                run.push(lasso.cycle[0]);
                let mut steps = Vec::new();
                for pair in run.windows(2) {
                    states.expand(pair[0])?;
                    let rule = states.steps[pair[0] as usize]
                        .iter()
                        .flatten()
                        .find(|(target, _)| *target == pair[1]);
                    steps.push((states.terms[pair[0] as usize], rule.map(|&(_, rule)| rule)));
                }
                states.engine.counterexample(code, symbol, &steps, lasso.prefix.len())
            }
        };
        self.kept.truncate(before);
        Ok(result)
    }

    /// A formula as a tree; what is no connective is a proposition.
    fn formula(
        &self,
        code: &Code,
        term: TermId,
        formulas: &mut Formulas,
        propositions: &mut Vec<TermId>,
    ) -> FormulaId {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let symbol = self.terms.symbol(term);
            let name = symbol.map_or("", |symbol| code.signature.symbol(symbol).name.text());
            let arguments = self.terms.arguments(term);
            let mut parts = |formulas: &mut Formulas| -> Vec<FormulaId> {
                arguments
                    .iter()
                    .map(|&argument| self.formula(code, argument, formulas, propositions))
                    .collect()
            };
            let formula = match (name, arguments.len()) {
                ("True", 0) => Formula::True,
                ("False", 0) => Formula::False,
                ("~_", 1) => Formula::Not(parts(formulas)[0]),
                ("O_", 1) => Formula::Next(parts(formulas)[0]),
                ("<>_", 1) => Formula::Eventually(parts(formulas)[0]),
                ("`[`]_" | "[]_", 1) => Formula::Always(parts(formulas)[0]),
                (_, 2) => {
                    let known =
                        ["_/\\_", "_\\/_", "_U_", "_R_", "_->_", "_<->_", "_W_", "_|->_", "_=>_", "_<=>_"]
                            .contains(&name);
                    if !known {
                        return self.proposition(term, formulas, propositions);
                    }
                    let both = parts(formulas);
                    let (one, two) = (both[0], both[1]);
                    match name {
                        "_/\\_" => Formula::And(one, two),
                        "_\\/_" => Formula::Or(one, two),
                        "_U_" => Formula::Until(one, two),
                        "_R_" => Formula::Release(one, two),
                        "_->_" => Formula::Implies(one, two),
                        "_<->_" => Formula::Iff(one, two),
                        "_W_" => Formula::WeakUntil(one, two),
                        "_|->_" => {
                            let later = formulas.add(Formula::Eventually(two));
                            let each = formulas.add(Formula::Implies(one, later));
                            Formula::Always(each)
                        }
                        "_=>_" => Formula::Always(formulas.add(Formula::Implies(one, two))),
                        _ => Formula::Always(formulas.add(Formula::Iff(one, two))),
                    }
                }
                _ => return self.proposition(term, formulas, propositions),
            };
            formulas.add(formula)
        })
    }

    fn proposition(
        &self,
        term: TermId,
        formulas: &mut Formulas,
        propositions: &mut Vec<TermId>,
    ) -> FormulaId {
        let at = propositions.iter().position(|&known| known == term).unwrap_or_else(|| {
            propositions.push(term);
            propositions.len() - 1
        });
        formulas.proposition(at as u32)
    }

    /// `counterexample(path, cycle)`.
    fn counterexample(
        &mut self,
        code: &Code,
        symbol: SymbolId,
        steps: &[(TermId, Option<usize>)],
        prefix: usize,
    ) -> Option<TermId> {
        let signature = &code.signature;
        let range = signature.symbol(symbol).range;
        let with = |name: &str, arity: usize, range| {
            signature.named(Name::new(name)).iter().copied().find(|&id| {
                let symbol = signature.symbol(id);
                symbol.arity() == arity && symbol.range == range
            })
        };
        let whole = with("counterexample", 2, range)?;
        let list = signature.symbol(whole).domain[0];
        let (join, nil, transition) =
            (with("__", 2, list)?, with("nil", 0, list)?, with("`{_`,_`}", 2, list)?);
        let names = signature.symbol(transition).domain[1];
        let (unlabelled, deadlock) = (with("unlabeled", 0, names)?, with("deadlock", 0, names)?);
        let mut lists = Vec::new();
        for part in [&steps[..prefix], &steps[prefix..]] {
            let mut elements = Vec::new();
            for &(state, rule) in part {
                let name = match rule.map(|rule| code.rules[rule].label) {
                    None => self.terms.make(signature, deadlock, &[]),
                    Some(None) => self.terms.make(signature, unlabelled, &[]),
                    Some(Some(label)) => {
                        let symbol = signature.symbol_ids().find(|&id| {
                            let symbol = signature.symbol(id);
                            symbol.range == names && symbol.is_special("QuotedIdentifierSymbol")
                        })?;
                        self.terms.quoted(signature, symbol, label)
                    }
                };
                elements.push(self.terms.make(signature, transition, &[state, name]));
            }
            lists.push(match elements.len() {
                0 => self.terms.make(signature, nil, &[]),
                1 => elements[0],
                _ => self.terms.make(signature, join, &elements),
            });
        }
        Some(self.terms.make(signature, whole, &lists))
    }
}
