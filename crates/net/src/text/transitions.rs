//! Transitions: their variables and sorts, arcs, guards, and the order in which variables get values.

use lnt::data::{Data, Leaf, Matcher, Name, TypeId};
use source::{Diagnostic, Span};

use super::arcs::{PendingArc, PendingCount};
use super::check::Checker;
use super::tree::{ArcText, ArcWord, TransitionText};
use crate::high::{
    Action, Definition, Guard, HighArc, Part, Place, Plan, Planned, Tokens, Transition, Variable,
};

/// A transition whose functions are not compiled yet.
pub(super) struct PendingTransition {
    name: Name,
    span: Span,
    component: usize,
    variables: Vec<(Name, TypeId)>,
    arcs: Vec<(ArcWord, usize, Span, PendingCount, PendingArc)>,
    guards: Vec<Guard>,
    definitions: Vec<Definition>,
    slots: usize,
}

/// Whether an arc names all values of a sort.
fn has_all(arc: &ArcText) -> bool {
    arc.inscription.iter().flatten().any(|part| part.is_word("all"))
}

impl Checker<'_> {
    pub(super) fn transition(&mut self, text: &TransitionText) -> Option<PendingTransition> {
        let names: Vec<(Option<usize>, Name)> =
            text.variables.iter().map(|(name, _)| (None, name.clone())).collect();
        let before = self.diagnostics.len();
        self.unique("variable", &names);
        if self.diagnostics.len() > before {
            return None;
        }
        let places: Vec<Option<usize>> =
            text.arcs.iter().map(|arc| self.place(text.net, &arc.place)).collect();
        let places: Vec<usize> = places.into_iter().collect::<Option<_>>()?;
        // Patterns say the sorts of variables, so they come first.
        let names: Vec<&str> = text.variables.iter().map(|(name, _)| name.text.as_str()).collect();
        let mut matchers: Vec<Option<Vec<Matcher>>> = Vec::new();
        for (arc, &place) in text.arcs.iter().zip(&places) {
            let whatever = arc.inscription.is_none() && matches!(arc.word, ArcWord::Inhibit | ArcWord::Reset);
            let is_pattern = arc.word != ArcWord::Put && !has_all(arc) && !whatever;
            matchers.push(if is_pattern { Some(self.matchers(place, arc, &names)?) } else { None });
        }
        let variables = self.sorts(text, &places, &matchers)?;
        self.unused(text);
        let mut slots = variables.len();
        let mut arcs = Vec::new();
        for ((arc, &place), matchers) in text.arcs.iter().zip(&places).zip(matchers) {
            let count = self.count(&arc.count, arc.word)?;
            let pending = match matchers {
                Some(matchers) => PendingArc::Matching(self.matching(matchers, &variables, &mut slots)?),
                None if arc.inscription.is_none() && arc.word != ArcWord::Put => PendingArc::Whatever,
                None if matches!(arc.word, ArcWord::Inhibit | ArcWord::Reset) => {
                    self.diagnostics.push(
                        Diagnostic::error(format!("`all` has no meaning after `{}`", arc.word.text()))
                            .label(arc.span, "concerns any token")
                            .help("write `any` for a value that does not matter"),
                    );
                    return None;
                }
                None => PendingArc::Computed(self.computed(place, arc, &variables)?),
            };
            arcs.push((arc.word, place, arc.span, count, pending));
        }
        let (guards, definitions) = self.guards(text, &variables)?;
        Some(PendingTransition {
            name: text.name.clone(),
            span: text.span,
            component: self.component_of[text.net].unwrap_or(0),
            variables,
            arcs,
            guards,
            definitions,
            slots,
        })
    }

    /// The sorts of variables: those written, or those of the places where variables stand.
    fn sorts(
        &mut self,
        text: &TransitionText,
        places: &[usize],
        matchers: &[Option<Vec<Matcher>>],
    ) -> Option<Vec<(Name, TypeId)>> {
        let mut sorts: Vec<Option<TypeId>> = Vec::new();
        for (_, sort) in &text.variables {
            sorts.push(match sort {
                Some(sort) => Some(self.definitions.find_type(sort, self.diagnostics)?),
                None => None,
            });
        }
        for (leaf, ty) in matchers.iter().flatten().flatten().flat_map(|matcher| &matcher.leaves) {
            let Leaf::Variable(variable, span) = leaf else { continue };
            match sorts[*variable] {
                None => sorts[*variable] = Some(*ty),
                Some(known) if known != *ty => {
                    self.other_sort(&text.variables[*variable].0, known, *span, *ty);
                    return None;
                }
                Some(_) => {}
            }
        }
        for (arc, &place) in text.arcs.iter().zip(places) {
            for (index, part) in arc.inscription.iter().flatten().enumerate() {
                let Some(name) = part.name() else { continue };
                let is_name = |(known, _): &(Name, Option<Name>)| known.text.eq_ignore_ascii_case(&name.text);
                let variable = text.variables.iter().position(is_name);
                if let (Some(variable), Some(&sort)) = (variable, self.places[place].sorts.get(index)) {
                    sorts[variable].get_or_insert(sort);
                }
            }
        }
        let mut variables = Vec::new();
        for ((name, _), sort) in text.variables.iter().zip(sorts) {
            let Some(sort) = sort else {
                self.diagnostics.push(
                    Diagnostic::error(format!("the type of `{}` is not known", name.text))
                        .label(name.span, "stands alone on no arc")
                        .help(format!("declare it: `{} : T`", name.text)),
                );
                return None;
            };
            variables.push((name.clone(), sort));
        }
        Some(variables)
    }

    fn other_sort(&mut self, variable: &Name, known: TypeId, span: Span, found: TypeId) {
        let (known, found) = (self.definitions.type_name(known), self.definitions.type_name(found));
        let diagnostic = Diagnostic::error(format!("`{}` is a `{known}`, found `{found}`", variable.text))
            .label(span, format!("a `{found}` stands here"))
            .label(variable.span, "declared here")
            .help("use another variable, and compare the two with `where`");
        self.diagnostics.push(diagnostic);
    }

    fn unused(&mut self, text: &TransitionText) {
        let mut used: Vec<String> = Vec::new();
        let mut mention = |name: &Name| used.push(name.text.to_ascii_lowercase());
        for part in text.arcs.iter().flat_map(|arc| arc.inscription.iter().flatten()) {
            part.names().iter().for_each(&mut mention);
        }
        text.guards.iter().for_each(|guard| guard.names().into_iter().for_each(&mut mention));
        for (name, _) in &text.variables {
            if !used.contains(&name.text.to_ascii_lowercase()) {
                self.diagnostics.push(
                    Diagnostic::warning(format!("variable `{}` is never used", name.text))
                        .label(name.span, "takes every value of its type")
                        .several("variables are never used"),
                );
            }
        }
    }

    fn guards(
        &mut self,
        text: &TransitionText,
        variables: &[(Name, TypeId)],
    ) -> Option<(Vec<Guard>, Vec<Definition>)> {
        let (mut guards, mut definitions) = (Vec::new(), Vec::new());
        let equality = !self.definitions.redefines_equality();
        for guard in &text.guards {
            let mut conjuncts = Vec::new();
            for conjunct in self.definitions.conjuncts(guard, variables) {
                conjuncts.push(self.definitions.function(
                    variables,
                    TypeId::BOOL,
                    &conjunct,
                    self.diagnostics,
                )?);
                let Some((left, right)) = conjunct.equation().filter(|_| equality) else { continue };
                for (side, value) in [(&left, &right), (&right, &left)] {
                    let variable = side.name().and_then(|name| {
                        variables.iter().position(|(known, _)| known.text.eq_ignore_ascii_case(&name.text))
                    });
                    let Some(variable) = variable else { continue };
                    let mentions = |name: &&Name| name.text.eq_ignore_ascii_case(&variables[variable].0.text);
                    let sort = variables[variable].1;
                    if value.names().iter().any(mentions) || !self.definitions.fits(value, variables, sort) {
                        continue;
                    }
                    let function = self.definitions.function(variables, sort, value, self.diagnostics)?;
                    definitions.push((variable, function));
                }
            }
            let mut condition_functions = Vec::new();
            let conditions = self.definitions.conditions(guard, variables);
            for condition in &conditions {
                condition_functions.push(self.definitions.function(
                    variables,
                    TypeId::BOOL,
                    condition,
                    self.diagnostics,
                )?);
            }
            guards.push(Guard {
                span: guard.span(),
                conditions: conditions.iter().map(|condition| condition.span()).collect(),
                conjuncts,
                condition_functions,
            });
        }
        Some((guards, definitions))
    }
}

impl PendingTransition {
    /// Computes numbers of tokens and lists of values, and plans the search for bindings.
    pub fn finish(
        self,
        data: &Data,
        places: &[Place],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Transition> {
        let mut evaluator = data.evaluator();
        let mut arcs = Vec::new();
        for (word, place, span, count, pending) in self.arcs {
            let zero = word == ArcWord::Put;
            let count = count.finish(&mut evaluator, zero, diagnostics)?;
            let tokens = pending.finish(&mut evaluator, &places[place], diagnostics)?;
            let kinds = kinds(data, &places[place], &tokens);
            arcs.push(HighArc { word, place, count, span, kinds, tokens });
        }
        let mut from_arc = vec![false; self.variables.len()];
        for arc in arcs.iter().filter(|arc| matches!(arc.word, ArcWord::Take | ArcWord::Read)) {
            let Tokens::Matching(matching) = &arc.tokens else { continue };
            for part in matching.iter().flat_map(|matching| &matching.parts) {
                if let Part::Variable(variable) = part {
                    from_arc[*variable] = true;
                }
            }
        }
        // A variable of an arc is checked as soon as a token gives it a value: were its definition to fail, the arc could
        // still say that there is no such token.
        let mut definitions = self.definitions;
        definitions.retain(|(variable, _)| !from_arc[*variable]);
        let mut variables = Vec::new();
        let mut reasons = Vec::new();
        for ((name, ty), &from_arc) in self.variables.iter().zip(&from_arc) {
            let values = if from_arc { None } else { Some(evaluator.values(*ty)) };
            let (values, reason) = match values {
                None => (None, None),
                Some(Ok(values)) => (Some(values), None),
                Some(Err(reason)) => (None, Some(reason)),
            };
            reasons.push(reason);
            variables.push(Variable { name: name.text.clone(), span: name.span, ty: *ty, values });
        }
        let needs_definition: Vec<bool> = reasons.iter().map(Option::is_some).collect();
        let planned = Planned {
            arcs: &arcs,
            guards: &self.guards,
            definitions: &definitions,
            needs_definition: &needs_definition,
            slots: self.slots,
        };
        let (plan, unguarded) = (planned.plan(true), planned.plan(false));
        let ranges = |plan: &Plan| -> Vec<usize> {
            let ranged = plan.steps.iter().filter_map(|step| match step.action {
                Action::Range { variable } => Some(variable),
                _ => None,
            });
            ranged.collect()
        };
        for variable in ranges(&plan) {
            let Some(reason) = &reasons[variable] else { continue };
            let name = data.type_name(variables[variable].ty);
            diagnostics.push(
                Diagnostic::error(format!(
                    "nothing gives `{}` a value, and its type `{name}` {reason}",
                    variables[variable].name
                ))
                .label(variables[variable].span, "declared here")
                .help("take it from a place, define it with `==` in a guard, or give it a smaller type"),
            );
        }
        Some(Transition {
            name: self.name.text,
            span: self.span,
            component: self.component,
            variables,
            arcs,
            guards: self.guards,
            plan,
            unguarded,
        })
    }
}

/// The kinds of tokens that patterns leave, by position among those of the place.
fn kinds(data: &Data, place: &Place, tokens: &Tokens) -> Vec<usize> {
    let all = 0..place.kinds.len();
    let Tokens::Matching(matching) = tokens else { return all.collect() };
    if place.kinds.len() == 1 {
        return all.collect();
    }
    let fits = |kind: &usize| {
        let mut rest = *kind;
        // The last value changes fastest.
        place.sorts.iter().zip(matching).rev().all(|(&sort, matching)| {
            let Some(names) = data.constructors(sort) else { return true };
            let constructor = rest % names.len();
            rest /= names.len();
            matching.matcher.constructor.is_none_or(|wanted| wanted == constructor)
        })
    };
    all.filter(fits).collect()
}
