//! The naive twin: formulas evaluated by their definition over explicit sets of states, straight from the tree.

#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};

use logic::Value;
use logic::tree::*;
use lts::{LabelId, Lts, LtsBuilder, StateId};
use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Worker};

type Env = BTreeMap<String, Value>;
type Sets = BTreeMap<Vec<Value>, Vec<bool>>;

pub struct Twin<'a> {
    lts: &'a Lts,
    /// Fixpoint variables: the sets of the last round, and the arguments asked for in this one.
    fixpoints: Vec<(String, bool, Sets, BTreeSet<Vec<Value>>)>,
}

/// Whether a formula holds in the initial state.
pub fn holds(lts: &Lts, formula: &Formula) -> bool {
    sets(lts, formula)[lts.initial().index()]
}

/// Where a formula holds.
pub fn sets(lts: &Lts, formula: &Formula) -> Vec<bool> {
    Twin { lts, fixpoints: Vec::new() }.formula(formula, &Env::new())
}

impl Twin<'_> {
    fn all(&self, value: bool) -> Vec<bool> {
        vec![value; self.lts.state_count()]
    }

    fn formula(&mut self, formula: &Formula, env: &Env) -> Vec<bool> {
        let states = self.lts.state_count();
        match &formula.kind {
            FormulaKind::Data(expression) => self.all(truth(expression, env)),
            FormulaKind::Name(name, arguments) => {
                let Some(at) = self.fixpoints.iter().rposition(|one| one.0 == name.text) else {
                    return self.all(env[&name.text] == Value::Bool(true));
                };
                let arguments: Vec<Value> = arguments.iter().map(|one| value(one, env)).collect();
                let (_, greatest, sets, asked) = &mut self.fixpoints[at];
                let known = sets.get(&arguments).cloned();
                let greatest = *greatest;
                asked.insert(arguments);
                known.unwrap_or_else(|| vec![greatest; states])
            }
            FormulaKind::Not(of) => self.formula(of, env).into_iter().map(|one| !one).collect(),
            FormulaKind::And(all) => all.iter().fold(self.all(true), |sum, one| {
                let next = self.formula(one, env);
                (0..states).map(|at| sum[at] && next[at]).collect()
            }),
            FormulaKind::Or(all) => all.iter().fold(self.all(false), |sum, one| {
                let next = self.formula(one, env);
                (0..states).map(|at| sum[at] || next[at]).collect()
            }),
            FormulaKind::Binary(operator, left, right) => {
                let (left, right) = (self.formula(left, env), self.formula(right, env));
                let join = |a: bool, b: bool| match operator {
                    BinaryOperator::Implies => !a || b,
                    BinaryOperator::Equ => a == b,
                    _ => a != b,
                };
                (0..states).map(|at| join(left[at], right[at])).collect()
            }
            FormulaKind::Possible(regular, body) | FormulaKind::Necessary(regular, body) => {
                let all = matches!(formula.kind, FormulaKind::Necessary(..));
                (0..states)
                    .map(|state| {
                        let ends = self.run(regular, state, env);
                        let mut found = ends.into_iter().map(|(end, env)| self.formula(body, &env)[end]);
                        if all { found.all(|one| one) } else { found.any(|one| one) }
                    })
                    .collect()
            }
            FormulaKind::Forever(regular) | FormulaKind::Saturated(regular) => {
                // States from which R can be repeated for ever: the largest set that is closed under it.
                let mut endless = self.all(true);
                loop {
                    let next: Vec<bool> = (0..states)
                        .map(|state| {
                            endless[state]
                                && self.run(regular, state, env).iter().any(|(end, _)| endless[*end])
                        })
                        .collect();
                    if next == endless {
                        break;
                    }
                    endless = next;
                }
                let forever = matches!(formula.kind, FormulaKind::Forever(_));
                endless.into_iter().map(|one| one == forever).collect()
            }
            FormulaKind::Fixpoint { least, name, parameters, body } => {
                let first: Vec<Value> = parameters.iter().map(|one| value(&one.value, env)).collect();
                let mut current: Sets = BTreeMap::from([(first.clone(), self.all(!least))]);
                loop {
                    let mut next = Sets::new();
                    let mut asked = BTreeSet::new();
                    for arguments in current.keys() {
                        let mut inner = env.clone();
                        for (parameter, value) in parameters.iter().zip(arguments) {
                            inner.insert(parameter.name.text.clone(), value.clone());
                        }
                        self.fixpoints.push((name.text.clone(), !least, current.clone(), BTreeSet::new()));
                        next.insert(arguments.clone(), self.formula(body, &inner));
                        asked.extend(self.fixpoints.pop().unwrap().3);
                    }
                    for arguments in asked {
                        next.entry(arguments).or_insert_with(|| vec![!least; states]);
                    }
                    if next == current {
                        return current.remove(&first).unwrap();
                    }
                    current = next;
                }
            }
            FormulaKind::Quantified { exists, variables, body } => {
                let mut envs = vec![env.clone()];
                for domain in variables {
                    let mut longer = Vec::new();
                    for env in envs {
                        let values: Vec<Value> = match &domain.values {
                            DomainValues::Bool => vec![Value::Bool(false), Value::Bool(true)],
                            DomainValues::Range(from, to) => {
                                (number(from, &env)..=number(to, &env)).map(Value::Number).collect()
                            }
                            DomainValues::Set(all) => all.iter().map(|one| value(one, &env)).collect(),
                        };
                        for value in values {
                            let mut env = env.clone();
                            env.insert(domain.name.text.clone(), value);
                            longer.push(env);
                        }
                    }
                    envs = longer;
                }
                let found: Vec<Vec<bool>> = envs.iter().map(|env| self.formula(body, env)).collect();
                (0..states)
                    .map(|at| {
                        let mut found = found.iter().map(|one| one[at]);
                        if *exists { found.any(|one| one) } else { found.all(|one| one) }
                    })
                    .collect()
            }
            FormulaKind::If(arms, otherwise) => {
                let mut result = self.formula(otherwise, env);
                for (condition, branch) in arms.iter().rev() {
                    let (condition, branch) = (self.formula(condition, env), self.formula(branch, env));
                    result =
                        (0..states).map(|at| if condition[at] { branch[at] } else { result[at] }).collect();
                }
                result
            }
            FormulaKind::Let(bindings, body) => self.formula(body, &bound(bindings, env)),
            FormulaKind::Case(of, branches) => {
                let (branch, inner) = chosen(of, branches, env);
                self.formula(&branch.body, &inner)
            }
        }
    }

    /// Where the sequences of a regular formula lead, with what they bind.
    fn run(&self, regular: &Regular, from: usize, env: &Env) -> BTreeSet<(usize, Env)> {
        let ends = self.walk(regular, from, env).into_iter();
        ends.filter(|(.., jump)| *jump == Jump::No).map(|(state, env, _)| (state, env)).collect()
    }

    /// Likewise, jumps out of loops included. What is bound inside a construct is not known outside it.
    fn walk(&self, regular: &Regular, from: usize, env: &Env) -> Ends {
        let alone = |ends: Ends| -> Ends {
            let outer = |(state, inner, jump)| match jump {
                Jump::No => (state, env.clone(), jump),
                _ => (state, inner, jump),
            };
            ends.into_iter().map(outer).collect()
        };
        match &regular.kind {
            RegularKind::Nil => Ends::from([(from, env.clone(), Jump::No)]),
            RegularKind::Action(action) => {
                let mut ends = Ends::new();
                for edge in self.lts.outgoing(StateId::new(from)) {
                    for env in matches(action, self.lts.label(edge.label), env) {
                        ends.insert((edge.target.index(), env, Jump::No));
                    }
                }
                ends
            }
            RegularKind::Sequence(all) => {
                all.iter().fold(Ends::from([(from, env.clone(), Jump::No)]), |ends, part| {
                    let on = |(state, env, jump): (usize, Env, Jump)| match jump {
                        Jump::No => self.walk(part, state, &env),
                        _ => Ends::from([(state, env, jump)]),
                    };
                    ends.into_iter().flat_map(on).collect()
                })
            }
            RegularKind::Choice(all) => {
                alone(all.iter().flat_map(|part| self.walk(part, from, env)).collect())
            }
            RegularKind::Repeat { body, min, max } => {
                self.repeat(body, from, env, i64::from(*min), max.map(i64::from))
            }
            RegularKind::Counted { body, min, max } => {
                let max = max.as_ref().map(|max| number(max, env));
                self.repeat(body, from, env, number(min, env), max)
            }
            RegularKind::If(arms, otherwise) => {
                match arms.iter().find(|(condition, _)| truth(condition, env)) {
                    Some((_, branch)) => alone(self.walk(branch, from, env)),
                    None => match otherwise {
                        Some(branch) => alone(self.walk(branch, from, env)),
                        None => Ends::from([(from, env.clone(), Jump::No)]),
                    },
                }
            }
            RegularKind::Case(of, branches) => {
                let (branch, inner) = chosen(of, branches, env);
                alone(self.walk(&branch.body, from, &inner))
            }
            RegularKind::Let(bindings, body) => {
                let inner = bound(bindings, env);
                let restored = |(state, mut after, jump): (usize, Env, Jump)| {
                    for binding in bindings {
                        match env.get(&binding.name.text) {
                            Some(value) => after.insert(binding.name.text.clone(), value.clone()),
                            None => after.remove(&binding.name.text),
                        };
                    }
                    (state, after, jump)
                };
                self.walk(body, from, &inner).into_iter().map(restored).collect()
            }
            RegularKind::For { name, from: first, to, step, body, .. } => {
                let step = step.as_ref().map_or(1, |step| number(step, env));
                let last = number(to, env);
                let mut at = number(first, env);
                let mut result = Ends::new();
                let mut states = BTreeSet::from([from]);
                while if step >= 0 { at <= last } else { at >= last } {
                    let mut inner = env.clone();
                    inner.insert(name.text.clone(), Value::Number(at));
                    let (next, jumps) = self.round(body, &states, &inner);
                    states = next;
                    result.extend(jumps);
                    at += step;
                }
                result.extend(states.into_iter().map(|state| (state, env.clone(), Jump::No)));
                result
            }
            RegularKind::While(condition, body) => match truth(condition, env) {
                false => Ends::from([(from, env.clone(), Jump::No)]),
                // Nothing changes the condition: only jumps lead out.
                true => {
                    let ends = self.repeat(body, from, env, 0, None);
                    ends.into_iter().filter(|(.., jump)| *jump != Jump::No).collect()
                }
            },
            RegularKind::Until(body, condition) => {
                let (mut seen, mut waiting) = (BTreeSet::from([from]), vec![from]);
                let mut result = Ends::new();
                while let Some(state) = waiting.pop() {
                    for (end, inner, jump) in self.walk(body, state, env) {
                        if jump != Jump::No {
                            result.insert((end, inner, jump));
                        } else if truth(condition, &inner) {
                            result.insert((end, env.clone(), Jump::No));
                        } else if seen.insert(end) {
                            waiting.push(end);
                        }
                    }
                }
                result
            }
            RegularKind::Loop { parameters, results, body } => {
                let first: Vec<Value> = parameters.iter().map(|one| value(&one.value, env)).collect();
                let mut waiting = vec![(from, first)];
                let mut seen = BTreeSet::new();
                let mut result = Ends::new();
                while let Some((state, values)) = waiting.pop() {
                    if !seen.insert((state, values.clone())) {
                        continue;
                    }
                    let mut inner = env.clone();
                    for (parameter, value) in parameters.iter().zip(values) {
                        inner.insert(parameter.name.text.clone(), value);
                    }
                    for (end, _, jump) in self.walk(body, state, &inner) {
                        match jump {
                            Jump::No => panic!("a way without an end"),
                            Jump::Continue(values) => waiting.push((end, values)),
                            Jump::Exit(values) => {
                                let mut after = env.clone();
                                for ((name, _), value) in results.iter().zip(values) {
                                    after.insert(name.text.clone(), value);
                                }
                                result.insert((end, after, Jump::No));
                            }
                        }
                    }
                }
                result
            }
            RegularKind::Continue(values) => {
                let values = values.iter().map(|one| value(one, env)).collect();
                Ends::from([(from, env.clone(), Jump::Continue(values))])
            }
            RegularKind::Exit(values) => {
                let values = values.iter().map(|one| value(one, env)).collect();
                Ends::from([(from, env.clone(), Jump::Exit(values))])
            }
        }
    }

    /// One round from each of these states: where it leads, and the jumps on the way.
    fn round(&self, body: &Regular, states: &BTreeSet<usize>, env: &Env) -> (BTreeSet<usize>, Ends) {
        let ends: Ends = states.iter().flat_map(|&state| self.walk(body, state, env)).collect();
        let (on, jumps): (Ends, Ends) = ends.into_iter().partition(|(.., jump)| *jump == Jump::No);
        (on.into_iter().map(|(state, ..)| state).collect(), jumps)
    }

    fn repeat(&self, body: &Regular, from: usize, env: &Env, min: i64, max: Option<i64>) -> Ends {
        let mut result = Ends::new();
        if max.is_some_and(|max| max < min) {
            return result;
        }
        let mut layer = BTreeSet::from([from]);
        for _ in 0..min {
            let (next, jumps) = self.round(body, &layer, env);
            layer = next;
            result.extend(jumps);
        }
        let mut states = layer.clone();
        let rounds = max.map_or(self.lts.state_count() as i64 + 1, |max| max - min.max(0));
        for _ in 0..rounds {
            let (next, jumps) = self.round(body, &layer, env);
            layer = next;
            result.extend(jumps);
            states.extend(&layer);
        }
        result.extend(states.into_iter().map(|state| (state, env.clone(), Jump::No)));
        result
    }
}

/// Whether a walk has left a loop's round, and with which values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Jump {
    No,
    Continue(Vec<Value>),
    Exit(Vec<Value>),
}

type Ends = BTreeSet<(usize, Env, Jump)>;

fn bound(bindings: &[Binding], env: &Env) -> Env {
    let mut env = env.clone();
    for binding in bindings {
        let value = value(&binding.value, &env);
        env.insert(binding.name.text.clone(), value);
    }
    env
}

/// The first branch of a case that matches, with what it binds.
fn chosen<'b, T>(of: &Expression, branches: &'b [Branch<T>], env: &Env) -> (&'b Branch<T>, Env) {
    let of = value(of, env);
    for branch in branches {
        let mut inner = env.clone();
        let fits = match &branch.pattern {
            CasePattern::Any => true,
            CasePattern::Bind(name, _) => {
                inner.insert(name.text.clone(), of.clone());
                true
            }
            CasePattern::Values(values) => values.iter().any(|one| value(one, env) == of),
        };
        if fits && branch.condition.as_ref().is_none_or(|one| truth(one, &inner)) {
            return (branch, inner);
        }
    }
    panic!("no branch for {of}")
}

fn matches(action: &Action, label: &str, env: &Env) -> Vec<Env> {
    let yes = |holds: bool| if holds { vec![env.clone()] } else { Vec::new() };
    match &action.kind {
        ActionKind::Constant(value) => yes(*value),
        ActionKind::Tau => yes(label == "i"),
        ActionKind::Exact(text) => yes(label == text),
        ActionKind::Regex(pattern) => yes(pattern.regex.is_match(label)),
        ActionKind::Not(of) => yes(matches(of, label, env).is_empty()),
        ActionKind::Or(all) => yes(all.iter().any(|one| !matches(one, label, env).is_empty())),
        ActionKind::And(all) => all.iter().fold(vec![env.clone()], |envs, one| {
            envs.iter().flat_map(|env| matches(one, label, env)).collect()
        }),
        ActionKind::Binary(operator, left, right) => {
            let (left, right) =
                (!matches(left, label, env).is_empty(), !matches(right, label, env).is_empty());
            yes(match operator {
                BinaryOperator::Implies => !left || right,
                BinaryOperator::Equ => left == right,
                _ => left != right,
            })
        }
        ActionKind::Pattern(pattern) => {
            if pattern.gate.as_ref().is_some_and(|gate| gate.text != lts::gate(label)) {
                return Vec::new();
            }
            let mut envs = vec![(env.clone(), lts::offers(label))];
            for offer in &pattern.offers {
                envs = envs.into_iter().flat_map(|(env, offers)| offered(offer, env, offers)).collect();
            }
            envs.retain(|(env, offers)| {
                offers.is_empty() && pattern.condition.as_ref().is_none_or(|one| truth(one, env))
            });
            envs.into_iter().map(|(env, _)| env).collect()
        }
    }
}

fn offered<'l>(offer: &Offer, env: Env, offers: Vec<&'l str>) -> Vec<(Env, Vec<&'l str>)> {
    if let Offer::Rest = offer {
        return (0..=offers.len()).map(|skip| (env.clone(), offers[skip..].to_vec())).collect();
    }
    let Some((first, rest)) = offers.split_first() else { return Vec::new() };
    let rest = rest.to_vec();
    match offer {
        Offer::Value(expression) if value(expression, &env).is_offer(first) => vec![(env, rest)],
        Offer::Value(_) => Vec::new(),
        Offer::Any | Offer::Rest => vec![(env, rest)],
        Offer::Bind(name, type_of) => match Value::of_offer(first, type_of) {
            Some(value) => {
                let mut env = env;
                env.insert(name.text.clone(), value);
                vec![(env, rest)]
            }
            None => Vec::new(),
        },
    }
}

fn truth(expression: &Expression, env: &Env) -> bool {
    value(expression, env) == Value::Bool(true)
}

fn number(expression: &Expression, env: &Env) -> i64 {
    match value(expression, env) {
        Value::Number(number) => number,
        other => panic!("not a number: {other}"),
    }
}

fn value(expression: &Expression, env: &Env) -> Value {
    use BinaryOperator as Op;
    match &expression.kind {
        ExpressionKind::Bool(value) => Value::Bool(*value),
        ExpressionKind::Number(value) => Value::Number(*value),
        ExpressionKind::Text(text) => Value::Text(text.clone()),
        ExpressionKind::Name(name) => env.get(name).cloned().unwrap_or_else(|| Value::Term(name.clone())),
        ExpressionKind::Unary(UnaryOperator::Not, of) => Value::Bool(!truth(of, env)),
        ExpressionKind::Unary(UnaryOperator::Minus, of) => Value::Number(-number(of, env)),
        ExpressionKind::Binary(operator, left, right) => match operator {
            Op::And => Value::Bool(truth(left, env) && truth(right, env)),
            Op::Or => Value::Bool(truth(left, env) || truth(right, env)),
            Op::Implies => Value::Bool(!truth(left, env) || truth(right, env)),
            Op::Equ => Value::Bool(truth(left, env) == truth(right, env)),
            Op::Xor => Value::Bool(truth(left, env) != truth(right, env)),
            Op::Equal => Value::Bool(value(left, env) == value(right, env)),
            Op::Different => Value::Bool(value(left, env) != value(right, env)),
            Op::Less => Value::Bool(number(left, env) < number(right, env)),
            Op::LessEqual => Value::Bool(number(left, env) <= number(right, env)),
            Op::Greater => Value::Bool(number(left, env) > number(right, env)),
            Op::GreaterEqual => Value::Bool(number(left, env) >= number(right, env)),
            Op::Plus => Value::Number(number(left, env) + number(right, env)),
            Op::Minus => Value::Number(number(left, env) - number(right, env)),
            Op::Times => Value::Number(number(left, env) * number(right, env)),
            Op::Divide => Value::Number(number(left, env) / number(right, env)),
            Op::Modulo => Value::Number(number(left, env).rem_euclid(number(right, env))),
        },
        ExpressionKind::Of(of, _) => value(of, env),
        ExpressionKind::Real(_)
        | ExpressionKind::Char(_)
        | ExpressionKind::Call(..)
        | ExpressionKind::Wrong => {
            panic!("not drawn")
        }
    }
}

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * bound as u128) >> 64) as usize
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

pub const LABELS: [&str; 5] = ["i", "A", "B", "C !1", "C !2"];

/// A small random LTS.
pub fn system(chance: &mut Chance) -> Lts {
    let states = 1 + chance.below(7);
    let mut builder = LtsBuilder::new();
    builder.reserve_states(states);
    for _ in 0..chance.below(2 * states + 3) {
        let label = builder.label(chance.pick(&LABELS));
        builder.add(StateId::new(chance.below(states)), label, StateId::new(chance.below(states)));
    }
    builder.finish().unwrap()
}

/// A run as a system of its own: a line, or a line into a circle.
pub fn run_alone(prefix: &[logic::Step], cycle: &[logic::Step]) -> Lts {
    let mut builder = LtsBuilder::new();
    for (at, step) in prefix.iter().chain(cycle).enumerate() {
        let label = builder.label(&step.label);
        let last = !cycle.is_empty() && at + 1 == prefix.len() + cycle.len();
        let target = if last { prefix.len() } else { at + 1 };
        builder.add(StateId::new(at), label, StateId::new(target));
    }
    builder.finish().unwrap()
}

/// An LTS behind the door of models.
pub struct LtsModel<'a> {
    pub lts: &'a Lts,
    layout: Layout,
    provenance: Provenance,
}

impl<'a> LtsModel<'a> {
    pub fn new(lts: &'a Lts) -> Self {
        Self { lts, layout: Layout::new(&[32]), provenance: Provenance::default() }
    }
}

impl Model for LtsModel<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![self.lts.initial().raw()])
    }
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(LtsWorker(self.lts))
    }
    fn label(&self, label: LabelId) -> String {
        self.lts.label(label).to_owned()
    }
    fn describe(&self, _: &[Slot]) -> StateView {
        StateView::default()
    }
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

struct LtsWorker<'a>(&'a Lts);

impl Worker for LtsWorker<'_> {
    fn successors(
        &mut self,
        state: &[Slot],
        emit: &mut dyn FnMut(model::Step<'_>),
    ) -> Result<(), ModelError> {
        for edge in self.0.outgoing(StateId::from_raw(state[0])) {
            emit(model::Step { label: edge.label, target: &[edge.target.raw()], origin: Provenance::NONE });
        }
        Ok(())
    }
}
