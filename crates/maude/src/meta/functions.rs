//! The functions that go down to the object level: reducing, rewriting, matching, searching.

use std::sync::Arc;

use super::down::ConditionDraft;
use super::level::Level;
use super::sketch::{Node, Sketch, applied_name, sort_of, variable_name};
use super::up::write_statement;
use super::{LastSearch, Meta, sorts, text};
use crate::engine::code::{Code, Compiled};
use crate::engine::descent::{Around, Place};
use crate::engine::rewrite::{Arrow, Search};
use crate::engine::{Engine, Stop};
use crate::modules::{variables_of, without_values};
use crate::names::{Name, split};
use crate::signature::{Signature, SortId, Theory};
use crate::syntax::tree::StatementKind;
use crate::terms::{TermId, Terms};

type Answer = Result<Option<TermId>, Stop>;

/// Ends a function without a value where something is not well-formed.
macro_rules! some {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return Ok(None),
        }
    };
}

impl Meta {
    /// The value of a function; none if an argument is not well-formed.
    pub(super) fn descend(&mut self, level: &mut Level<'_>, name: &str, arguments: &[TermId]) -> Answer {
        match name {
            "metaUpTerm" => {
                let sketch = Sketch::of_object(&level.code.signature, &level.engine.terms, arguments[0]);
                return Ok(sketch.write_last(level));
            }
            "metaDownTerm" => return Ok(Some(down_term(level, arguments[0], arguments[1]))),
            "metaWellFormedModule" => {
                let known = self.module(level, arguments[0]).is_some();
                return Ok(level.engine.truth(level.code, known));
            }
            _ => {}
        }
        const KNOWN: [&str; 25] = [
            "metaReduce",
            "metaNormalize",
            "metaRewrite",
            "metaFrewrite",
            "metaApply",
            "metaXapply",
            "metaMatch",
            "metaXmatch",
            "metaSearch",
            "metaSearchPath",
            "metaParse",
            "metaPrettyPrint",
            "metaLeastSort",
            "metaSortLeq",
            "metaSameKind",
            "metaLesserSorts",
            "metaGlbSorts",
            "metaMaximalSorts",
            "metaMinimalSorts",
            "metaMaximalAritySet",
            "metaCompleteName",
            "metaGetKind",
            "metaGetKinds",
            "metaWellFormedTerm",
            "metaWellFormedSubstitution",
        ];
        if !KNOWN.contains(&name) {
            return Err(Stop::error(format!("`{name}` is not supported")));
        }
        let module = some!(self.module(level, arguments[0]));
        if matches!(name, "metaSearch" | "metaSearchPath") {
            return self.search(level, module, arguments, name == "metaSearchPath");
        }
        let code = self.code(module);
        if let Some(answer) = sorts::answer(level, &code.signature, name, &arguments[1..]) {
            return Ok(answer);
        }
        match name {
            "metaParse" => return Ok(text::parse(level, &code, &arguments[1..])),
            "metaPrettyPrint" => return Ok(text::print(level, &code, &arguments[1..])),
            _ => {}
        }
        let mut engine = self.engine(level.engine, module);
        let answer = run(level, &mut engine, &code, name, &arguments[1..]);
        level.engine.rewrites += engine.rewrites;
        // What has found a sort by memberships alone has marked terms that are no normal forms.
        if answer.is_ok() && name != "metaLeastSort" {
            self.give_back(module, engine);
        }
        answer
    }

    fn search(&mut self, level: &mut Level<'_>, module: usize, arguments: &[TermId], path: bool) -> Answer {
        let (key, number) = (&arguments[..6], some!(level.natural(arguments[6])));
        if self.search.as_ref().is_none_or(|last| last.arguments != key) {
            if let Some(last) = self.search.take() {
                self.give_back(last.module, last.engine);
            }
            let code = self.code(module);
            let arrow = match some!(level.word(arguments[4])).text() {
                "*" => Arrow::Any,
                "+" => Arrow::Some,
                "!" => Arrow::Final,
                _ => return Ok(None),
            };
            let bound = some!(level.bound(arguments[5])).map(|bound| bound as usize);
            let mut engine = self.engine(level.engine, module);
            let (pattern, free) = some!(goal(level, &mut engine, &code, arguments[2], arguments[3], false));
            if !free.is_empty() {
                // What has no value stands for itself, and is equal to nothing that is found.
                return Ok(level.make(if path { "failureTraceSymbol" } else { "failure3Symbol" }, &[]));
            }
            let start = some!(down(level, &mut engine, &code, arguments[1]));
            let start = engine.reduce(start);
            level.engine.rewrites += engine.rewrites;
            let start = start?;
            let search = Search::new(start, arrow, bound, Arc::new(pattern));
            self.search = Some(LastSearch {
                arguments: key.to_vec(),
                module,
                engine,
                search,
                solutions: Vec::new(),
                over: false,
            });
        }
        let mut last = self.search.take().expect("it was made");
        while last.solutions.len() <= number as usize && !last.over {
            last.engine.rewrites = 0;
            last.engine.limits.rewrites = level.engine.limits.rewrites.saturating_sub(level.engine.rewrites);
            let found = last.search.next(&mut last.engine);
            level.engine.rewrites += last.engine.rewrites;
            match found? {
                Some(solution) => last.solutions.push(solution),
                None => last.over = true,
            }
        }
        let answer = match last.solutions.get(number as usize) {
            None => level.make(if path { "failureTraceSymbol" } else { "failure3Symbol" }, &[]),
            Some(solution) if path => trace(level, &last, solution.state),
            Some(solution) => {
                let (engine, signature) = (&last.engine, &last.engine.code.signature);
                let term = last.search.states[solution.state].term;
                let values = substitution(level, engine, last.search.pattern(), &solution.values);
                let pair = typed(level, signature, engine, term);
                pair.zip(values).and_then(|((term, sort), values)| {
                    level.make("resultTripleSymbol", &[term, sort, values])
                })
            }
        };
        self.search = Some(last);
        Ok(answer)
    }
}

/// The object-level term of a meta-term, in the table of an engine.
fn down(level: &Level<'_>, engine: &mut Engine, code: &Code, term: TermId) -> Option<TermId> {
    Sketch::of_meta(level, term)?.build(&code.signature, &mut engine.terms, &code.literals)
}

/// `downTerm`: in the module itself, or the second argument where that can't be done.
fn down_term(level: &mut Level<'_>, term: TermId, otherwise: TermId) -> TermId {
    let signature = level.code.signature.clone();
    let made = Sketch::of_meta(level, term)
        .and_then(|sketch| sketch.build(&signature, &mut level.engine.terms, &level.code.literals));
    let kind = |term: TermId| signature.kind_of(level.engine.terms.sort(term));
    made.filter(|&made| kind(made) == kind(otherwise)).unwrap_or(otherwise)
}

/// A term of an engine and its sort, as meta-terms.
fn typed(
    level: &mut Level<'_>,
    signature: &Signature,
    engine: &Engine,
    term: TermId,
) -> Option<(TermId, TermId)> {
    let sort = level.sort(signature, engine.terms.sort(term))?;
    Some((Sketch::of_object(signature, &engine.terms, term).write_last(level)?, sort))
}

fn pair(level: &mut Level<'_>, signature: &Signature, engine: &Engine, term: TermId) -> Option<TermId> {
    let (term, sort) = typed(level, signature, engine, term)?;
    level.make("resultPairSymbol", &[term, sort])
}

/// The values of a pattern's variables as a substitution.
fn substitution(
    level: &mut Level<'_>,
    engine: &Engine,
    pattern: &Compiled,
    values: &[TermId],
) -> Option<TermId> {
    let signature = engine.code.signature.clone();
    let mut all = Vec::new();
    for (&(name, sort), &value) in pattern.variables.iter().zip(values) {
        if value == TermId::NONE {
            continue;
        }
        let variable = level.quoted(variable_name(&signature, name, sort).text())?;
        let value = Sketch::of_object(&signature, &engine.terms, value).write_last(level)?;
        all.push(level.make("assignmentSymbol", &[variable, value])?);
    }
    level.join("substitutionSymbol", "emptySubstitutionSymbol", &all)
}

/// A pattern with a condition, and what variables have as values that have no other where they are used: themselves. All
/// of its terms are kept by the engine.
fn goal(
    level: &Level<'_>,
    engine: &mut Engine,
    code: &Code,
    pattern: TermId,
    condition: TermId,
    extension: bool,
) -> Option<(Compiled, Vec<(usize, TermId)>)> {
    let pattern = down(level, engine, code, pattern)?;
    let conditions = ConditionDraft::read(level, condition)?;
    let conditions = conditions.build(&code.module, &mut engine.terms, &code.literals)?;
    engine.kept.push(pattern);
    for condition in &conditions {
        engine.kept.extend(condition.terms());
    }
    let mut known = Vec::new();
    variables_of(&engine.terms, pattern, &mut known);
    let free = without_values(&engine.terms, &mut known, &conditions, None);
    let compiled = code.pattern_in(&mut engine.terms, pattern, &conditions, extension);
    let slot = |variable: TermId| {
        let own = (engine.terms.variable_name(variable), engine.terms.sort(variable));
        let slot = compiled.variables.iter().position(|&variable| variable == own)?;
        Some((slot, variable))
    };
    let values = free.into_iter().filter_map(slot).collect();
    Some((compiled, values))
}

/// The states and rules on the way to a state.
fn trace(level: &mut Level<'_>, last: &LastSearch, state: usize) -> Option<TermId> {
    let code = last.engine.code.clone();
    let mut steps = Vec::new();
    let mut at = state;
    while let Some((parent, rule)) = last.search.states[at].parent {
        steps.push((parent, rule));
        at = parent;
    }
    let mut all = Vec::new();
    for &(from, rule) in steps.iter().rev() {
        let (term, sort) = typed(level, &code.signature, &last.engine, last.search.states[from].term)?;
        let statement = &code.module.statements[code.rules[rule].statement];
        let rule = write_statement(level, &code.signature, &code.module.terms, statement)?;
        all.push(level.make("traceStepSymbol", &[term, sort, rule])?);
    }
    level.join("traceSymbol", "nilTraceSymbol", &all)
}

/// Functions that compute in the module.
fn run(
    level: &mut Level<'_>,
    engine: &mut Engine,
    code: &Arc<Code>,
    name: &str,
    arguments: &[TermId],
) -> Answer {
    let signature = &code.signature;
    match name {
        "metaMatch" => {
            let number = some!(level.natural(arguments[3]));
            return matching(level, engine, code, arguments, (0, Some(0)), false, number);
        }
        "metaXmatch" => {
            let depths = (some!(level.natural(arguments[3])), some!(level.bound(arguments[4])));
            let number = some!(level.natural(arguments[5]));
            return matching(level, engine, code, arguments, depths, true, number);
        }
        "metaWellFormedSubstitution" => {
            let bound = bindings(level, signature, &mut engine.terms, code, arguments[0]);
            return Ok(level.engine.truth(level.code, bound.is_some()));
        }
        _ => {}
    }
    let Some(term) = down(level, engine, code, arguments[0]) else {
        let ill = name == "metaWellFormedTerm";
        return Ok(if ill { level.engine.truth(level.code, false) } else { None });
    };
    match name {
        "metaReduce" => {
            let result = engine.reduce(term)?;
            Ok(pair(level, signature, engine, result))
        }
        "metaNormalize" => Ok(pair(level, signature, engine, term)),
        "metaLeastSort" => {
            let sort = engine.true_sort(code, term);
            Ok(level.sort(signature, sort))
        }
        "metaWellFormedTerm" => Ok(level.engine.truth(level.code, true)),
        "metaRewrite" => {
            let bound = some!(level.bound(arguments[1]));
            if bound == Some(0) {
                return Ok(None);
            }
            let (result, _) = engine.rewrite(term, bound)?;
            Ok(pair(level, signature, engine, result))
        }
        "metaFrewrite" => {
            let (bound, each) = (some!(level.bound(arguments[1])), some!(level.natural(arguments[2])));
            if bound == Some(0) || each == 0 {
                return Ok(None);
            }
            let (result, _) = engine.fair_rewrite(term, bound, each)?;
            Ok(pair(level, signature, engine, result))
        }
        "metaApply" => {
            let number = some!(level.natural(arguments[3]));
            applying(level, engine, code, term, arguments, (0, Some(0)), false, number)
        }
        "metaXapply" => {
            let depths = (some!(level.natural(arguments[3])), some!(level.bound(arguments[4])));
            let number = some!(level.natural(arguments[5]));
            applying(level, engine, code, term, arguments, depths, true, number)
        }
        _ => Err(Stop::error(format!("`{name}` is not supported"))),
    }
}

/// A substitution: variables and terms of fitting sorts; none if it is not well-formed.
fn bindings(
    level: &Level<'_>,
    signature: &Signature,
    terms: &mut Terms,
    code: &Code,
    term: TermId,
) -> Option<Vec<(Name, SortId, TermId)>> {
    let mut all = Vec::new();
    for assignment in level.elements(term, "substitutionSymbol", "emptySubstitutionSymbol") {
        if !level.is(assignment, "assignmentSymbol") {
            return None;
        }
        let parts = level.arguments(assignment);
        let variable = level.word(parts[0])?;
        let (name, ':', sort) = split(variable.text())? else { return None };
        let sort = sort_of(signature, sort)?;
        let value = Sketch::of_meta(level, parts[1])?.build(signature, terms, &code.literals)?;
        if !signature.leq(terms.sort(value), sort) {
            return None;
        }
        all.push((Name::new(name), sort, value));
    }
    Some(all)
}

/// `metaMatch` and `metaXmatch`.
fn matching(
    level: &mut Level<'_>,
    engine: &mut Engine,
    code: &Code,
    arguments: &[TermId],
    depths: (u64, Option<u64>),
    places_too: bool,
    number: u64,
) -> Answer {
    let (pattern, free) = some!(goal(level, engine, code, arguments[0], arguments[2], places_too));
    let subject = some!(down(level, engine, code, arguments[1]));
    engine.kept.push(subject);
    let (places, chosen) = engine.places(code, subject, depths.0, depths.1, true);
    let mut left = number;
    let mut answer = None;
    for at in chosen {
        let over =
            engine.match_statement(code, &pattern, &free, places[at].term, &mut |engine, base, around| {
                if left > 0 {
                    left -= 1;
                    return Ok(false);
                }
                let values = engine.stack[base..base + pattern.variables.len()].to_vec();
                let values = substitution(level, engine, &pattern, &values);
                answer = Some(match places_too {
                    false => values,
                    true => {
                        let context = context(level, engine, code, &places, at, around);
                        values
                            .zip(context)
                            .and_then(|(values, context)| level.make("matchPairSymbol", &[values, context]))
                    }
                });
                Ok(true)
            })?;
        if over {
            break;
        }
    }
    let none = if places_too { "noMatchPairSymbol" } else { "noMatchSubstSymbol" };
    Ok(answer.unwrap_or_else(|| level.make(none, &[])))
}

/// `metaApply` and `metaXapply`.
#[allow(clippy::too_many_arguments)]
fn applying(
    level: &mut Level<'_>,
    engine: &mut Engine,
    code: &Arc<Code>,
    term: TermId,
    arguments: &[TermId],
    depths: (u64, Option<u64>),
    places_too: bool,
    number: u64,
) -> Answer {
    let label = some!(level.word(arguments[1]));
    let bound = some!(bindings(level, &code.signature, &mut engine.terms, code, arguments[2]));
    engine.kept.extend(bound.iter().map(|&(_, _, value)| value));
    let term = engine.reduce(term)?;
    engine.kept.push(term);
    // Rules that can't be executed as they are can be if the substitution says what is missing.
    let mut rules = Vec::new();
    for statement in &code.module.statements {
        if statement.kind != StatementKind::Rule || statement.label != Some(label) {
            continue;
        }
        let rule = code.statement(&mut engine.terms, statement, places_too);
        let slots: Option<Vec<(usize, TermId)>> = bound
            .iter()
            .map(|&(name, sort, value)| {
                let slot = rule.variables.iter().position(|&variable| variable == (name, sort))?;
                Some((slot, value))
            })
            .collect();
        let Some(slots) = slots else { continue };
        let mut known: Vec<TermId> =
            bound.iter().map(|&(name, sort, _)| engine.terms.variable(name, sort)).collect();
        variables_of(&engine.terms, statement.left, &mut known);
        let right = Some(statement.right);
        if without_values(&engine.terms, &mut known, &statement.conditions, right).is_empty() {
            rules.push((rule, slots));
        }
    }
    let (places, chosen) = engine.places(code, term, depths.0, depths.1, false);
    let mut left = number;
    let mut answer = None;
    'places: for at in chosen {
        for (rule, slots) in &rules {
            let over =
                engine.match_statement(code, rule, slots, places[at].term, &mut |engine, base, around| {
                    if left > 0 {
                        left -= 1;
                        return Ok(false);
                    }
                    let values = engine.stack[base..base + rule.variables.len()].to_vec();
                    let mut parts = substitution(level, engine, rule, &values).map(|values| vec![values]);
                    if places_too {
                        let context = context(level, engine, code, &places, at, around);
                        parts = parts.zip(context).map(|(parts, context)| [parts, vec![context]].concat());
                    }
                    let result = engine.applied(code, rule, base, around, &places, at)?;
                    let first = typed(level, &code.signature, engine, result);
                    let purpose = if places_too { "result4TupleSymbol" } else { "resultTripleSymbol" };
                    answer = Some(first.zip(parts).and_then(|((term, sort), parts)| {
                        level.make(purpose, &[vec![term, sort], parts].concat())
                    }));
                    Ok(true)
                })?;
            if over {
                break 'places;
            }
        }
    }
    let none = if places_too { "failure4Symbol" } else { "failure3Symbol" };
    Ok(answer.unwrap_or_else(|| level.make(none, &[])))
}

/// A term with a hole at a place, and around it what is left over there.
fn context(
    level: &mut Level<'_>,
    engine: &Engine,
    code: &Code,
    places: &[Place],
    at: usize,
    around: Option<Around>,
) -> Option<TermId> {
    let (signature, terms) = (&code.signature, &engine.terms);
    let mut sketch = Sketch::default();
    let mut inner = sketch.add(Node::Hole);
    if let Some(Around { symbol, left, .. }) = around
        && signature.symbol(symbol).theory == Theory::Iter
    {
        inner = sketch.add(Node::Apply(applied_name(signature, terms, left, symbol), vec![inner]));
    } else if let Some(Around { symbol, left, right }) = around {
        let mut parts = Vec::new();
        let add = |sketch: &mut Sketch, side: TermId, parts: &mut Vec<usize>| {
            if side != TermId::NONE {
                // The rest of a bag stays together.
                let parted = signature.symbol(symbol).theory != Theory::Bag && terms.has_top(side, symbol);
                let elements = if parted { terms.arguments(side) } else { vec![side] };
                parts.extend(elements.iter().map(|&element| sketch.object(signature, terms, element)));
            }
        };
        add(&mut sketch, left, &mut parts);
        parts.push(inner);
        add(&mut sketch, right, &mut parts);
        inner = sketch.add(Node::Apply(signature.symbol(symbol).name, parts));
    }
    let mut at = at;
    while at != 0 {
        let Place { parent, argument, .. } = places[at];
        let whole = places[parent].term;
        let symbol = terms.symbol(whole)?;
        let name = applied_name(signature, terms, whole, symbol);
        let mut parts = Vec::new();
        if signature.symbol(symbol).theory == Theory::Bag {
            // What has the hole comes last.
            let mut without = terms.arguments(whole);
            let taken = without.iter().position(|&element| element == places[at].term)?;
            without.remove(taken);
            parts.extend(without.iter().map(|&element| sketch.object(signature, terms, element)));
            parts.push(inner);
        } else {
            for (number, &part) in terms.arguments(whole).iter().enumerate() {
                parts.push(if number == argument { inner } else { sketch.object(signature, terms, part) });
            }
        }
        inner = sketch.add(Node::Apply(name, parts));
        at = parent;
    }
    sketch.write(level)?.get(inner).copied()
}
