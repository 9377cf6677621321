//! Overloading: which types an expression could have, and which function a call means.
//!
//! As in Ada, the types that an expression could have are found from the inside out, and the one that it does
//! have is chosen from the outside in. Neither direction alone is enough: in `x := {}` the outside decides, in
//! `length (f (x))` the inside.

use std::borrow::Cow;

use super::body::Body;
use super::{ERROR, FROM_PATTERN};
use crate::predefined::{Rank, Signature, field_positions};
use crate::tree::{ActualKind, Actuals, Expression, ExpressionKind, Pattern, PatternKind, key};
use crate::typed::{Mode, TypeId, TypeKind};

/// The types that something could have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Possible {
    /// All: it is wrong, and has been or will be reported.
    Any,
    Types(Vec<TypeId>),
}

impl Possible {
    pub fn one(ty: TypeId) -> Self {
        if ty == ERROR || ty == FROM_PATTERN { Possible::Any } else { Possible::Types(vec![ty]) }
    }

    pub fn contains(&self, ty: TypeId) -> bool {
        match self {
            Possible::Any => true,
            Possible::Types(types) => ty == ERROR || types.contains(&ty),
        }
    }

    fn collect(types: impl Iterator<Item = TypeId>) -> Self {
        let mut all: Vec<TypeId> = types.collect();
        all.sort();
        all.dedup();
        if all.contains(&ERROR) { Possible::Any } else { Possible::Types(all) }
    }

    fn flat_map(self, map: impl FnMut(TypeId) -> Option<TypeId>) -> Self {
        match self {
            Possible::Any => Possible::Any,
            Possible::Types(types) => Self::collect(types.into_iter().filter_map(map)),
        }
    }
}

/// Which of several candidates fits.
pub(super) enum Choice<'a> {
    One(&'a Signature),
    None,
    Several(Vec<&'a Signature>),
}

impl<'a> Body<'a> {
    /// The signatures of this name in the whole program.
    fn all_signatures(&self, name: &str) -> impl Iterator<Item = &'a Signature> + use<'a> {
        self.globals.signatures.get(&key(name)).map_or(&[][..], Vec::as_slice).iter()
    }

    /// The signatures of this name that the module sees or, where there are none, those of other modules.
    pub fn signatures(&self, name: &str) -> impl Iterator<Item = &'a Signature> + use<'a> {
        let (globals, module) = (self.globals, self.module);
        let seen = move |signature: &&Signature| globals.sees(module, signature.module);
        let none = !self.all_signatures(name).any(|signature| seen(&signature));
        self.all_signatures(name).filter(move |signature| none || seen(signature))
    }

    /// The actual parameters in the order of the formal ones, if they fit by number and name.
    pub fn arrange<'t>(
        &self,
        signature: &Signature,
        actuals: &'t Actuals,
    ) -> Option<Vec<Cow<'t, Expression>>> {
        let values = actuals.values.iter().map(|actual| match &actual.kind {
            ActualKind::Value(value) => Some((actual.formal.as_ref(), value)),
            _ => None,
        });
        let values: Vec<_> = values.collect::<Option<_>>()?;
        let count = signature.parameters.len();
        if !actuals.ellipsis && values.len() != count {
            return None;
        }
        let positional = values.iter().take_while(|(formal, _)| formal.is_none()).count();
        if positional == count && values.len() == count {
            return Some(values.into_iter().map(|(_, value)| Cow::Borrowed(value)).collect());
        }
        if signature.names.len() != count || positional > count {
            return None;
        }
        let mut arranged: Vec<Option<Cow<'t, Expression>>> = vec![None; count];
        for (index, (formal, value)) in values.into_iter().enumerate() {
            let at = match formal {
                None if index < positional => index,
                None => return None,
                Some(formal) => signature.names.iter().position(|name| *name == formal.key())?,
            };
            if arranged[at].replace(Cow::Borrowed(value)).is_some() {
                return None;
            }
        }
        for (at, slot) in arranged.iter_mut().enumerate() {
            if slot.is_none() {
                // `...` stands for variables that are called like the parameters.
                let id = self.variable(&signature.names[at])?;
                let name = crate::tree::Name { text: self.scope[id].name.clone(), span: actuals.span };
                *slot = Some(Cow::Owned(Expression { kind: ExpressionKind::Name(name), span: actuals.span }));
            }
        }
        arranged.into_iter().collect()
    }

    /// The candidates whose parameters could take the actual ones.
    fn viable(&self, name: &str, actuals: Option<&Actuals>) -> Vec<&'a Signature> {
        let empty =
            Actuals { values: Vec::new(), ellipsis: false, span: self.globals.program.modules[0].span };
        let actuals = actuals.unwrap_or(&empty);
        let plain = !actuals.ellipsis && actuals.values.iter().all(|actual| actual.formal.is_none());
        // In the usual case, every actual parameter is looked at once, whatever the number of candidates.
        let known: Vec<Possible> = if plain {
            let of = |kind: &ActualKind| match kind {
                ActualKind::Value(value) => self.possible(value),
                _ => Possible::Types(Vec::new()),
            };
            actuals.values.iter().map(|actual| of(&actual.kind)).collect()
        } else {
            Vec::new()
        };
        let fits = |signature: &&Signature| {
            if signature.result.is_none() || signature.parameters.iter().any(|(mode, _)| *mode != Mode::In) {
                return false;
            }
            if plain {
                return known.len() == signature.parameters.len()
                    && known.iter().zip(&signature.parameters).all(|(known, (_, ty))| known.contains(*ty));
            }
            self.arrange(signature, actuals).is_some_and(|values| {
                values
                    .iter()
                    .zip(&signature.parameters)
                    .all(|(value, (_, ty))| self.possible(value).contains(*ty))
            })
        };
        let seen: Vec<&Signature> = self.signatures(name).filter(fits).collect();
        // A function of the types that an importer brings is defined there as well.
        if seen.is_empty() { self.all_signatures(name).filter(fits).collect() } else { seen }
    }

    /// The function that a call means.
    pub fn choose(&self, name: &str, actuals: Option<&Actuals>, expected: Option<TypeId>) -> Choice<'a> {
        let mut viable = self.viable(name, actuals);
        if let Some(expected) = expected.filter(|&ty| ty != ERROR) {
            viable.retain(|signature| signature.result == Some(expected) || signature.result == Some(ERROR));
        }
        let best = viable.iter().map(|signature| signature.rank).min();
        viable.retain(|signature| Some(signature.rank) == best);
        if viable.len() > 1 {
            // Numbers are natural unless something says otherwise.
            let weights = |signature: &Signature| -> Vec<u8> {
                let types = signature.parameters.iter().map(|&(_, ty)| ty).chain(signature.result);
                types.map(weight).collect()
            };
            let least = viable.iter().map(|signature| weights(signature)).min();
            let all_weighted = viable.iter().filter(|signature| Some(weights(signature)) == least).count();
            if all_weighted == 1 {
                viable.retain(|signature| Some(weights(signature)) == least);
            }
        }
        match viable.len() {
            0 => Choice::None,
            1 => Choice::One(viable[0]),
            _ => Choice::Several(viable),
        }
    }

    /// The types that an expression could have.
    pub fn possible(&self, expression: &Expression) -> Possible {
        let globals = self.globals;
        match &expression.kind {
            ExpressionKind::Integer(value) => {
                let fits = |ty: &TypeId| *value >= 0 || globals.base(*ty) != TypeId::NAT;
                Possible::Types(globals.integers.iter().copied().filter(fits).collect())
            }
            ExpressionKind::Real(_) => Possible::Types(globals.reals.clone()),
            ExpressionKind::Char(_) => Possible::Types(globals.chars.clone()),
            ExpressionKind::String(_) => Possible::Types(globals.strings.clone()),
            ExpressionKind::Name(name) => match self.variable(&name.text) {
                Some(id) => Possible::one(self.scope[id].ty),
                None => self.possible_results(&name.text, None),
            },
            ExpressionKind::Call { name, arguments, .. } => {
                self.possible_results(&name.text, Some(arguments))
            }
            ExpressionKind::Collection(elements) => {
                let known: Vec<Possible> = elements.iter().map(|element| self.possible(element)).collect();
                let fits =
                    |&&(_, element): &&(TypeId, TypeId)| known.iter().all(|known| known.contains(element));
                let types = globals.collections.iter().filter(fits).map(|&(ty, _)| ty);
                Possible::collect(types)
            }
            ExpressionKind::Field { value, field } => {
                self.possible(value).flat_map(|ty| self.field_type(ty, &field.key()))
            }
            ExpressionKind::Update { value, .. } => self.possible(value),
            ExpressionKind::Element { array, .. } => {
                self.possible(array).flat_map(|ty| self.element_type(ty))
            }
            ExpressionKind::Of { ty, .. } => match globals.types.get(&ty.key()) {
                Some(&(_, id)) => Possible::one(id),
                None => Possible::Any,
            },
            ExpressionKind::AndThen(..) | ExpressionKind::OrElse(..) => Possible::one(TypeId::BOOL),
            ExpressionKind::Wrong => Possible::Any,
        }
    }

    fn possible_results(&self, name: &str, actuals: Option<&Actuals>) -> Possible {
        let viable = self.viable(name, actuals);
        if viable.is_empty() {
            return Possible::Any;
        }
        // What would need a missing `with` clause counts only where nothing else fits.
        let best =
            viable.iter().map(|signature| signature.rank).filter(|&rank| rank != Rank::Undeclared).min();
        let counts = |signature: &&&Signature| best.is_none() || signature.rank != Rank::Undeclared;
        Possible::collect(viable.iter().filter(counts).filter_map(|signature| signature.result))
    }

    /// The type of a field (given by its key) of a type's values.
    pub fn field_type(&self, ty: TypeId, field: &str) -> Option<TypeId> {
        if ty == ERROR {
            return None;
        }
        let position = *field_positions(&self.globals.program, ty, field).first()?;
        Some(self.globals.program[position.constructor].fields[position.field as usize].ty)
    }

    pub fn element_type(&self, ty: TypeId) -> Option<TypeId> {
        match self.globals.program.types.get(ty.index())?.kind {
            TypeKind::Array { element, .. } => Some(element),
            _ => None,
        }
    }

    /// The types that a pattern could look at.
    pub fn possible_pattern(&self, pattern: &Pattern) -> Possible {
        let globals = self.globals;
        match &pattern.kind {
            PatternKind::Name(name) => match self.variable(&name.text) {
                Some(id) => Possible::one(self.scope[id].ty),
                None => self.possible_constructors(&name.text, &[]),
            },
            PatternKind::Any(Some(ty)) | PatternKind::Of { ty, .. } => match globals.types.get(&ty.key()) {
                Some(&(_, id)) => Possible::one(id),
                None => Possible::Any,
            },
            PatternKind::As(name, inner) => match self.variable(&name.text) {
                Some(id) => Possible::one(self.scope[id].ty),
                None => self.possible_pattern(inner),
            },
            PatternKind::Integer(value) => {
                let fits = |ty: &TypeId| *value >= 0 || globals.base(*ty) != TypeId::NAT;
                Possible::Types(globals.integers.iter().copied().filter(fits).collect())
            }
            PatternKind::Real(_) => Possible::Types(globals.reals.clone()),
            PatternKind::Char(_) => Possible::Types(globals.chars.clone()),
            PatternKind::String(_) => Possible::Types(globals.strings.clone()),
            PatternKind::Constructor { name, fields, .. } => {
                let fields: Vec<&Pattern> = fields.iter().map(|(_, pattern)| pattern).collect();
                self.possible_constructors(&name.text, &fields)
            }
            PatternKind::Collection(elements) => {
                let known: Vec<Possible> =
                    elements.iter().map(|element| self.possible_pattern(element)).collect();
                let fits =
                    |&&(_, element): &&(TypeId, TypeId)| known.iter().all(|known| known.contains(element));
                Possible::collect(globals.collections.iter().filter(fits).map(|&(ty, _)| ty))
            }
            PatternKind::Any(None) | PatternKind::Wrong => Possible::Any,
        }
    }

    fn possible_constructors(&self, name: &str, fields: &[&Pattern]) -> Possible {
        let known: Vec<Possible> = fields.iter().map(|field| self.possible_pattern(field)).collect();
        let fits = |signature: &&Signature| {
            signature.is_constructor()
                && known.len() == signature.parameters.len()
                && known.iter().zip(&signature.parameters).all(|(known, (_, ty))| known.contains(*ty))
        };
        let mut found: Vec<TypeId> =
            self.signatures(name).filter(fits).filter_map(|signature| signature.result).collect();
        if fields.is_empty() {
            // Constants are patterns too.
            let constants = self.signatures(name).filter(|signature| signature.parameters.is_empty());
            found.extend(constants.filter_map(|signature| signature.result));
        }
        if found.is_empty() { Possible::Any } else { Possible::collect(found.into_iter()) }
    }
}

/// Which of several numeric types is meant by a literal that fits them all.
pub(super) fn weight(ty: TypeId) -> u8 {
    match ty {
        TypeId::NAT => 0,
        TypeId::INT => 1,
        TypeId::REAL => 2,
        TypeId::CHAR | TypeId::STRING => 3,
        _ => 4,
    }
}
