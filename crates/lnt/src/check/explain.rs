//! Why an expression can't be typed: what was expected, what was found, and what was probably meant.

use source::{Diagnostic, Span};

use super::ERROR;
use super::body::{Body, Expect};
use super::overload::Choice;
use crate::predefined::{Rank, Signature, Target};
use crate::tree::{Actual, ActualKind, Actuals, Name};
use crate::typed::{Builtin, Mode, TypeId, TypeKind};

impl Body<'_> {
    /// Says why no function fits.
    pub(super) fn explain_call(
        &mut self,
        name: &Name,
        actuals: Option<&Actuals>,
        infix: bool,
        span: Span,
        expected: Option<&Expect>,
    ) {
        // The function fits, its result does not.
        match self.choose(&name.text, actuals, None) {
            Choice::One(signature) => {
                let found: Vec<TypeId> = signature.result.into_iter().collect();
                return self.mismatch(span, &found, expected);
            }
            Choice::Several(candidates) => {
                let mut found: Vec<TypeId> =
                    candidates.iter().filter_map(|candidate| candidate.result).collect();
                found.sort();
                found.dedup();
                return self.mismatch(span, &found, expected);
            }
            Choice::None => {}
        }
        let candidates: Vec<&Signature> =
            self.signatures(&name.text).filter(|signature| signature.rank != Rank::Undeclared).collect();
        let candidates: Vec<&Signature> =
            if candidates.is_empty() { self.signatures(&name.text).collect() } else { candidates };
        if candidates.is_empty() {
            self.unknown_function(name, actuals, infix);
            // What is inside may be wrong as well.
            self.resolve_all(actuals);
            return;
        }
        let count = actuals.map_or(0, |actuals| actuals.values.len());
        let same_count: Vec<&Signature> =
            candidates.iter().copied().filter(|candidate| candidate.parameters.len() == count).collect();
        if same_count.is_empty() && !actuals.is_some_and(|actuals| actuals.ellipsis) {
            self.wrong_count(name, &candidates, count);
            self.resolve_all(actuals);
            return;
        }
        if let [only] = same_count.as_slice() {
            return self.explain_only(name, only, actuals, span);
        }
        let found = self.resolve_all(actuals);
        if found.iter().any(Option::is_none) {
            return;
        }
        let found: Vec<TypeId> = found.into_iter().flatten().collect();
        self.explain_several(name, &same_count, actuals, &found);
    }

    /// `expected T, found U`
    pub(super) fn mismatch(&mut self, span: Span, found: &[TypeId], expected: Option<&Expect>) {
        let Some(expected) = expected else { return };
        if expected.ty == ERROR || found.contains(&ERROR) {
            return;
        }
        let mut names: Vec<String> = found.iter().map(|&ty| format!("`{}`", self.type_name(ty))).collect();
        names.truncate(4);
        let found_text = names.join(" or ");
        let wanted = self.type_name(expected.ty);
        let mut diagnostic = Diagnostic::error(format!("expected `{wanted}`, found {found_text}"))
            .label(span, format!("this is {found_text}"));
        if let Some((because, text)) = &expected.because {
            diagnostic = diagnostic.label(*because, text.clone());
        }
        let convertible = found.len() == 1 && self.convertible(found[0], expected.ty);
        if convertible {
            diagnostic = diagnostic.help(format!("convert it: `{wanted} (…)`"));
        }
        self.error(diagnostic);
    }

    pub(super) fn convertible(&self, from: TypeId, to: TypeId) -> bool {
        self.signatures(self.type_name(to)).any(|signature| {
            signature.target == Target::Builtin(Builtin::Convert)
                && signature.result == Some(to)
                && signature.parameters == [(Mode::In, from)]
        })
    }

    pub(super) fn ambiguous(&mut self, name: &Name, actuals: Option<&Actuals>, candidates: &[&Signature]) {
        let mut diagnostic = Diagnostic::error(format!("it is not clear which `{}` is meant", name.text))
            .label(name.span, format!("{} definitions fit", candidates.len()));
        for candidate in candidates.iter().take(6) {
            diagnostic = diagnostic.note(format!("it could be `{}`", self.globals.signature(candidate)));
        }
        let mut results: Vec<TypeId> = candidates.iter().filter_map(|candidate| candidate.result).collect();
        results.dedup();
        let help = match results.as_slice() {
            [first, _, ..] => {
                let parentheses = if actuals.is_some() { " (…)" } else { "" };
                format!("say which type it has: `{}{parentheses} of {}`", name.text, self.type_name(*first))
            }
            _ => "say which type a parameter has: `V of T`".to_owned(),
        };
        self.error(diagnostic.help(help));
    }

    pub(super) fn unknown_function(&mut self, name: &Name, actuals: Option<&Actuals>, infix: bool) {
        let globals = self.globals;
        let module = self.module;
        let functions = globals
            .signatures
            .iter()
            .filter(move |(_, all)| {
                all.iter().any(|one| one.rank != Rank::Undeclared && globals.sees(module, one.module))
            })
            .map(|(_, all)| all[0].name.as_str());
        let near = if actuals.is_none() {
            let variables: Vec<&str> = self.variable_names().collect();
            source::closest(&name.text, functions.chain(variables)).map(str::to_owned)
        } else {
            source::closest(&name.text, functions).map(str::to_owned)
        };
        let what = match actuals {
            None => "unknown variable or constant",
            Some(_) if infix => "unknown operator",
            Some(_) => "unknown function",
        };
        let mut diagnostic =
            Diagnostic::error(format!("{what} `{}`", name.text)).label(name.span, "not defined");
        if self.variable(&name.text).is_some() {
            diagnostic = diagnostic.note(format!("`{}` is a variable, and can't be called", name.text));
        } else if self.gate(&name.text).is_some() {
            diagnostic = diagnostic.note(format!("`{}` is a gate", name.text));
        } else if self.globals.processes.contains_key(&name.key()) {
            diagnostic = diagnostic.note(format!("`{}` is a process, which has no value", name.text));
        }
        if infix && name.text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            diagnostic = diagnostic
                .help(format!("if `{}` begins a new statement, a `;` is missing before it", name.text));
        }
        let near = if name.text == "&&" { Some("and".to_owned()) } else { near };
        self.error(diagnostic.maybe_help(near.map(|near| format!("did you mean `{near}`?"))));
    }

    pub(super) fn wrong_count(&mut self, name: &Name, candidates: &[&Signature], found: usize) {
        let mut counts: Vec<usize> = candidates.iter().map(|candidate| candidate.parameters.len()).collect();
        counts.sort();
        counts.dedup();
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        let wanted = counts.join(" or ");
        let plural = if wanted == "1" { "" } else { "s" };
        let mut diagnostic =
            Diagnostic::error(format!("`{}` takes {wanted} parameter{plural}, found {found}", name.text))
                .label(name.span, format!("expected {wanted} parameter{plural}"));
        if let [only] = candidates
            && let Some(span) = self.definition(only)
        {
            diagnostic = diagnostic.label(span, "defined here");
        }
        self.error(diagnostic);
    }

    /// One candidate: the parameters that do not fit are the reason.
    pub(super) fn explain_only(
        &mut self,
        name: &Name,
        only: &Signature,
        actuals: Option<&Actuals>,
        span: Span,
    ) {
        if only.parameters.iter().any(|(mode, _)| *mode != Mode::In) {
            let mut diagnostic = Diagnostic::error(format!("`{}` changes its parameters", name.text))
                .label(span, "not allowed inside an expression")
                .help(format!("make the call a statement of its own: `x := {} (…, ?y)`", name.text));
            if let Some(span) = self.definition(only) {
                diagnostic = diagnostic.label(span, "has `out` or `in out` parameters");
            }
            return self.error(diagnostic);
        }
        if only.result.is_none() {
            return self.error(
                Diagnostic::error(format!("`{}` has no result", name.text)).label(span, "expected a value"),
            );
        }
        let Some(actuals) = actuals else { return };
        match self.arrange(only, actuals) {
            Some(arranged) => {
                let parameters: Vec<TypeId> = only.parameters.iter().map(|&(_, ty)| ty).collect();
                for (index, (value, ty)) in arranged.iter().zip(parameters).enumerate() {
                    let because = self
                        .parameter_span(only, index)
                        .map(|span| (span, format!("`{}` here", self.type_name(ty))));
                    self.resolve(value, Some(&Expect { ty, because }));
                }
            }
            None if actuals.values.iter().any(|actual| !matches!(actual.kind, ActualKind::Value(_))) => {
                self.resolve_all(Some(actuals));
            }
            None => self.wrong_names(name, only, actuals),
        }
    }

    pub(super) fn wrong_names(&mut self, name: &Name, only: &Signature, actuals: &Actuals) {
        let formals: Vec<&Name> = actuals.values.iter().filter_map(|actual| actual.formal.as_ref()).collect();
        let unknown = formals.iter().find(|formal| !only.names.contains(&formal.key()));
        let diagnostic = match unknown {
            Some(unknown) => {
                let near = source::closest(&unknown.text, only.names.iter().map(String::as_str));
                Diagnostic::error(format!("`{}` has no parameter `{}`", name.text, unknown.text))
                    .label(unknown.span, "unknown parameter")
                    .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
            }
            None => Diagnostic::error(format!("each parameter of `{}` must be given once", name.text))
                .label(actuals.span, "one is missing, or given twice"),
        };
        self.error(diagnostic.note(format!("its parameters are {}", only.names.join(", "))));
    }

    pub(super) fn parameter_span(&self, signature: &Signature, index: usize) -> Option<Span> {
        match signature.target {
            Target::Function(id) => {
                self.globals.program[id].scope.variables.get(index).map(|variable| variable.span)
            }
            Target::Constructor(id) => self.globals.program[id].fields.get(index).map(|field| field.span),
            _ => None,
        }
    }

    pub(super) fn definition(&self, signature: &Signature) -> Option<Span> {
        match signature.target {
            Target::Function(id) => Some(self.globals.program[id].span),
            Target::Constructor(id) => Some(self.globals.program[id].span),
            _ => None,
        }
    }

    pub(super) fn explain_several(
        &mut self,
        name: &Name,
        candidates: &[&Signature],
        actuals: Option<&Actuals>,
        found: &[TypeId],
    ) {
        let values = actuals.map_or(&[][..], |actuals| actuals.values.as_slice());
        let names: Vec<String> = found.iter().map(|&ty| format!("`{}`", self.type_name(ty))).collect();
        let mut diagnostic = match names.as_slice() {
            [] => Diagnostic::error(format!("no `{}` fits here", name.text)).label(name.span, "does not fit"),
            [left, right] => {
                Diagnostic::error(format!("`{}` can't be applied to {left} and {right}", name.text))
                    .label(name.span, "no such operation")
                    .label(values[0].span, format!("this is {left}"))
                    .label(values[1].span, format!("this is {right}"))
            }
            _ => Diagnostic::error(format!("`{}` can't be applied to {}", name.text, names.join(", ")))
                .label(name.span, "no such operation"),
        };
        let comparison = candidates.iter().all(|candidate| {
            matches!(
                candidate.target,
                Target::Builtin(
                    Builtin::Equal
                        | Builtin::NotEqual
                        | Builtin::Less
                        | Builtin::LessEqual
                        | Builtin::Greater
                        | Builtin::GreaterEqual
                )
            )
        });
        if let [left, right] = *found {
            let conversion =
                [(left, right), (right, left)].into_iter().find(|&(from, to)| self.convertible(from, to));
            if let Some((_, to)) = conversion {
                diagnostic = diagnostic.help(format!("convert one of them: `{} (…)`", self.type_name(to)));
            }
        }
        if comparison && found.len() == 2 && found[0] != found[1] {
            diagnostic = diagnostic.note("both operands need the same type");
        } else {
            for candidate in candidates.iter().take(6) {
                diagnostic = diagnostic.note(format!("there is `{}`", self.globals.signature(candidate)));
            }
        }
        self.error(diagnostic);
    }

    pub(super) fn resolve_all(&mut self, actuals: Option<&Actuals>) -> Vec<Option<TypeId>> {
        let mut found = Vec::new();
        for actual in actuals.map_or(&[][..], |actuals| actuals.values.as_slice()) {
            found.push(match &actual.kind {
                ActualKind::Value(value) => self.resolve(value, None).map(|typed| typed.ty),
                _ => {
                    self.out_in_expression(actual);
                    None
                }
            });
        }
        found
    }

    pub(super) fn out_in_expression(&mut self, actual: &Actual) {
        self.error(
            Diagnostic::error("`?` is not allowed inside an expression")
                .label(actual.span, "an expression can't change variables")
                .help("make the call a statement of its own: `x := f (…, ?y)`"),
        );
    }

    pub(super) fn no_field(&mut self, ty: TypeId, field: &Name) {
        let name = self.type_name(ty);
        let known: Vec<&str> = match &self.globals.program[ty].kind {
            TypeKind::Constructed(constructors) => constructors
                .iter()
                .flat_map(|&id| self.globals.program[id].fields.iter().map(|field| field.name.as_str()))
                .collect(),
            _ => Vec::new(),
        };
        let near =
            source::closest(&field.text, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let mut diagnostic = Diagnostic::error(format!("`{name}` has no field `{}`", field.text))
            .label(field.span, "unknown field");
        if near.is_none() && !known.is_empty() {
            diagnostic = diagnostic.note(format!("its fields are {}", known.join(", ")));
        }
        self.error(diagnostic.maybe_help(near));
    }
}
