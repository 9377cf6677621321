//! A predicate/transition net, checked: places with sorts, transitions with patterns, expressions and guards.

use std::sync::Arc as Shared;

use lnt::data::{Data, Function, Matcher, TypeId};
use model::Proposition;
use source::{Diagnostic, Span};

use super::plan::Plan;
use crate::flat::Component;
use crate::text::ArcWord;

/// A predicate/transition net.
pub struct HighNet {
    /// Its name.
    pub name: String,
    /// The nets that it is composed of; one where it is not composed.
    pub components: Vec<Component>,
    /// The places, in the order of the source.
    pub places: Vec<Place>,
    /// The transitions, in the order of the source.
    pub transitions: Vec<Transition>,
    /// The markings that it can start from.
    pub markings: Vec<Marking>,
    /// Which of them it starts from.
    pub start: usize,
    /// The abstract states.
    pub states: Vec<AbstractState>,
    /// What is suspicious.
    pub warnings: Vec<Diagnostic>,
    /// The tokens of the marking it starts from: place, value, how many.
    pub(crate) initial: Vec<(usize, u32, u32)>,
    pub(crate) data: Data,
}

impl HighNet {
    /// The abstract states, as conditions that have names.
    pub fn propositions(&self) -> Vec<Proposition> {
        let states = self.states.iter();
        states.map(|state| Proposition { name: state.name.clone(), span: state.span }).collect()
    }
}

/// A place.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name, with that of its net where others have the same.
    pub name: String,
    /// Where its name is written.
    pub span: Span,
    /// The component it belongs to; none where several share it.
    pub component: Option<usize>,
    /// The sorts of a token's values; none where tokens have no value.
    pub sorts: Vec<TypeId>,
    /// Whether it holds each value once at most: another one changes nothing.
    pub is_set: bool,
    /// The kinds of its tokens: the constructors of its values, one empty name where there are none.
    pub kinds: Vec<String>,
    /// The type of tokens: the sort, or a type of tuples where there are several.
    pub(crate) ty: Option<TypeId>,
}

/// A transition.
pub struct Transition {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The component it belongs to.
    pub component: usize,
    /// Its variables, in the order of their declaration.
    pub variables: Vec<Variable>,
    /// Its arcs, in the order of the source.
    pub arcs: Vec<HighArc>,
    /// Its guards.
    pub guards: Vec<Guard>,
    /// Leads to all bindings that can fire.
    pub(crate) plan: Plan,
    /// Leads to all bindings that the arcs allow, whatever the guards say.
    pub(crate) unguarded: Plan,
}

/// A variable of a transition.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The type of its values.
    pub ty: TypeId,
    /// Its values, where no arc gives it any.
    pub(crate) values: Option<Shared<[u32]>>,
}

/// An arc of a transition.
pub struct HighArc {
    /// What it does.
    pub word: ArcWord,
    /// The place.
    pub place: usize,
    /// How many tokens of each value.
    pub count: u32,
    /// Where it is written.
    pub span: Span,
    /// The kinds of tokens that it can move, by position in [`Place::kinds`].
    pub kinds: Vec<usize>,
    pub(crate) tokens: Tokens,
}

/// Which tokens an arc is about.
pub(crate) enum Tokens {
    /// Those without a value.
    Plain,
    /// All that are there.
    Whatever,
    /// One that matches, one pattern for each value.
    Matching(Vec<Matching>),
    /// Those that are computed, one after the other.
    Computed(Vec<Computed>),
}

/// A pattern, and for each of its parts where the value goes.
pub(crate) struct Matching {
    pub matcher: Matcher,
    pub parts: Vec<Part>,
}

/// What is to be done with a part of a token.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// It is the value of a variable.
    Variable(usize),
    /// It is kept in a slot, and has to equal what is computed.
    Equals(usize, Function),
}

/// A value of a token that is put.
pub(crate) enum Computed {
    /// Every value of a type.
    All(Shared<[u32]>),
    Variable(usize),
    Function(Function),
}

/// A guard of a transition.
pub struct Guard {
    /// Where it is written.
    pub span: Span,
    /// Where the conditions between its Boolean operators are written, left to right.
    pub conditions: Vec<Span>,
    pub(crate) conjuncts: Vec<Function>,
    pub(crate) condition_functions: Vec<Function>,
}

/// A marking to start from.
#[derive(Clone, Debug)]
pub struct Marking {
    /// Its name.
    pub name: String,
    /// Where its name is written.
    pub span: Span,
}

/// A condition on markings that has a name.
pub struct AbstractState {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// The places that it looks at, and how each is passed.
    pub(crate) places: Vec<usize>,
    pub(crate) function: Function,
}
