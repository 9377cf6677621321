//! Object modules: classes, messages and objects as sorts, operators and terms over `CONFIGURATION`.
//!
//! # Declarations
//!
//! ```text
//! class C | a : S, b : T .      sort C .  subsort C < Cid .
//!                               op C : -> C [ctor] .
//!                               op a`:_ : S -> Attribute [ctor gather (&)] .
//!                               op b`:_ : T -> Attribute [ctor gather (&)] .
//! subclass A < B .              subsort A < B .
//! msg f : Oid S -> Msg .        op f : Oid S -> Msg [ctor msg] .
//! ```
//!
//! The attributes of a class are those of its subclasses too: `Attribute` does not say whose it is.
//!
//! # Statements
//!
//! `< O : C | a : X >` on a left side stands for the objects of `C` and of its subclasses that have the attribute `a` and
//! any others. `< O : C | >` is one without attributes that matter.
//!
//! ```text
//! rl < O : C | a : X > => < O : C | a : X + 1 > .
//! rl < O : Class#1:C | a : X, Rest#1:AttributeSet >
//! => < O : Class#1:C | a : X + 1, Rest#1:AttributeSet > .
//! ```
//!
//! - An object on the right side that has the identifier of one on the left side is the same object: it keeps its class if
//!   the same class is written, and all attributes that the right side does not mention.
//! - An attribute that only the right side mentions gets a new value, whatever the old one is: the left side has
//!   `b : Old#1:S` for it. If the right side gives the object another class, such an attribute is one that it did not have.
//! - Where the left side has a variable for the attributes, `< O : C | a : X, Atts >`, attributes are taken as written.
//! - Objects that only the right side has are new, and taken as written. So are objects in conditions.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use crate::modules::Module;
use crate::names::Name;
use crate::signature::{Signature, SortId, SymbolId, Theory};
use crate::syntax::lexer::Token;
use crate::syntax::tree::{
    Attributes, Declaration, ModuleText, ObjectRole, OperatorText, StatementText, Type,
};
use crate::terms::{TermId, Terms, Top};

/// The declarations of a module without classes and messages.
pub fn desugared(text: &ModuleText) -> Cow<'_, [Declaration]> {
    if !text.kind.object {
        return Cow::Borrowed(&text.declarations);
    }
    let mut out = Vec::with_capacity(text.declarations.len());
    // Two classes may have an attribute of the same name and sort.
    let mut known: FxHashSet<(Name, Vec<Name>)> = FxHashSet::default();
    for declaration in &text.declarations {
        match declaration {
            Declaration::Class(name, attributes) => {
                let class = (name.name, name.span);
                out.push(Declaration::Sorts(vec![class]));
                out.push(Declaration::Subsorts(vec![vec![class], vec![(Name::new("Cid"), name.span)]]));
                let own = type_of(name.name, name.span);
                out.push(operator(name.name, name.span, None, own, Attributes::default()));
                for (attribute, sort) in attributes {
                    if !known.insert((attribute.name, sort.sorts.clone())) {
                        continue;
                    }
                    let all = Token { name: Name::new("&"), ..*attribute };
                    let gather = Attributes { gather: Some((vec![all], sort.span)), ..Attributes::default() };
                    let name = Name::new(&format!("{}`:_", attribute.text()));
                    let range = type_of(Name::new("Attribute"), attribute.span);
                    out.push(operator(name, attribute.span, Some(sort.clone()), range, gather));
                }
            }
            Declaration::Subclasses(chain) => out.push(Declaration::Subsorts(chain.clone())),
            Declaration::Messages(operators) => {
                let mut operators = operators.clone();
                operators.attributes.ctor = true;
                operators.attributes.object = Some(ObjectRole::Message);
                out.push(Declaration::Operators(operators));
            }
            Declaration::Statement(statement) => {
                let tokens = with_attributes(&statement.tokens);
                out.push(Declaration::Statement(StatementText { tokens, ..statement.clone() }));
            }
            other => out.push(other.clone()),
        }
    }
    Cow::Owned(out)
}

fn type_of(name: Name, span: Span) -> Type {
    Type { sorts: vec![name], kind: false, span }
}

fn operator(
    name: Name,
    span: Span,
    argument: Option<Type>,
    range: Type,
    attributes: Attributes,
) -> Declaration {
    Declaration::Operators(OperatorText {
        names: vec![(name, span)],
        domain: argument.into_iter().collect(),
        range,
        partial: false,
        attributes: Attributes { ctor: true, ..attributes },
        span,
    })
}

/// `< O : C | >` as `< O : C | none >`.
fn with_attributes(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    for (at, &token) in tokens.iter().enumerate() {
        out.push(token);
        if token.is("|") && tokens.get(at + 1).is_some_and(|next| next.is(">")) {
            out.push(Token { name: Name::new("none"), ..token });
        }
    }
    out
}

/// What an object is on a left side.
struct Known {
    /// Its class as it is written, if that is a constant, and the variable that stands for it.
    class: Option<(TermId, TermId)>,
    /// Its attributes.
    attributes: Vec<TermId>,
    /// The variable for the others; none if it is written.
    rest: Option<TermId>,
}

struct Completion<'m> {
    signature: &'m Signature,
    terms: &'m mut Terms,
    object: SymbolId,
    union: SymbolId,
    attribute_set: SortId,
    class: SortId,
    /// Objects by their identifiers.
    known: FxHashMap<TermId, Known>,
    fresh: usize,
}

/// Adds the attributes that the statements of an object module leave out.
pub fn complete(module: &mut Module) {
    let signature = module.signature.clone();
    let sort = |name: &str| signature.sort(Name::new(name));
    let (Some(attribute_set), Some(class)) = (sort("AttributeSet"), sort("Cid")) else { return };
    let kind = signature.kind_of(attribute_set);
    let Some(union) = signature.find(Name::new("_`,_"), &[kind, kind], kind) else { return };
    let object = signature.symbol_ids().find(|&id| {
        let symbol = signature.symbol(id);
        symbol.object == Some(ObjectRole::Object) && symbol.arity() == 3 && symbol.domain[2] == kind
    });
    let Some(object) = object else { return };
    let mut completion = Completion {
        signature: &signature,
        terms: &mut module.terms,
        object,
        union,
        attribute_set,
        class,
        known: FxHashMap::default(),
        fresh: 0,
    };
    for statement in &mut module.statements[module.own_statements..] {
        completion.known.clear();
        completion.fresh = 0;
        completion.collect(statement.left);
        if completion.known.is_empty() {
            continue;
        }
        if statement.right != TermId::NONE {
            completion.collect_new_values(statement.right);
        }
        statement.left = completion.rebuilt(statement.left, true);
        if statement.right != TermId::NONE {
            statement.right = completion.rebuilt(statement.right, false);
        }
    }
}

impl Completion<'_> {
    fn is_object(&self, term: TermId) -> bool {
        self.terms.symbol(term) == Some(self.object)
    }

    /// The attributes of an object one by one.
    fn attributes(&self, attributes: TermId) -> Vec<TermId> {
        let identity = self.signature.symbol(self.union).left_identity;
        match self.terms.symbol(attributes) {
            Some(symbol) if symbol == self.union => self.terms.arguments(attributes),
            _ if Some(attributes) == identity => Vec::new(),
            _ => vec![attributes],
        }
    }

    /// Whether an attribute is a variable for several ones.
    fn is_rest(&self, attribute: TermId) -> bool {
        matches!(self.terms.top(attribute), Top::Variable(sort)
            if self.signature.leq(self.attribute_set, sort))
    }

    /// A class that is written as a constant: one that has a sort of its own.
    fn class_sort(&self, class: TermId) -> Option<SortId> {
        let symbol = self.signature.symbol(self.terms.symbol(class)?);
        let sort = self.signature.sort(symbol.name)?;
        (symbol.arity() == 0 && self.signature.leq(sort, self.class) && self.terms.sort(class) == sort)
            .then_some(sort)
    }

    /// Finds the objects of a left side.
    fn collect(&mut self, left: TermId) {
        for object in self.objects(left) {
            let &[identifier, class, attributes] = &self.terms.arguments(object)[..] else { continue };
            if self.known.contains_key(&identifier) {
                continue;
            }
            self.fresh += 1;
            let number = self.fresh;
            let class = self.class_sort(class).map(|sort| {
                let name = Name::new(&format!("Class#{number}"));
                (class, self.terms.variable(name, sort))
            });
            let attributes = self.attributes(attributes);
            let written = attributes.iter().any(|&attribute| self.is_rest(attribute));
            let name = Name::new(&format!("Rest#{number}"));
            let rest = (!written).then(|| self.terms.variable(name, self.attribute_set));
            self.known.insert(identifier, Known { class, attributes, rest });
        }
    }

    /// Gives old values to attributes that only the right side mentions.
    fn collect_new_values(&mut self, right: TermId) {
        for object in self.objects(right) {
            let &[identifier, class, attributes] = &self.terms.arguments(object)[..] else { continue };
            let mentioned = self.attributes(attributes);
            let Some(known) = self.known.get(&identifier) else { continue };
            if known.rest.is_none() || known.class.is_some_and(|(written, _)| written != class) {
                continue;
            }
            for attribute in mentioned {
                let Some(symbol) = self.terms.symbol(attribute) else { continue };
                let known = &self.known[&identifier].attributes;
                if known.iter().any(|&own| self.terms.symbol(own) == Some(symbol)) {
                    continue;
                }
                let mut values = Vec::new();
                for &kind in &self.signature.symbol(symbol).domain {
                    self.fresh += 1;
                    let name = Name::new(&format!("Old#{}", self.fresh));
                    values.push(self.terms.variable(name, self.signature.top(kind)));
                }
                let old = self.terms.make(self.signature, symbol, &values);
                if let Some(known) = self.known.get_mut(&identifier) {
                    known.attributes.push(old);
                }
            }
        }
    }

    /// The objects in a term, outside of other objects.
    fn objects(&self, term: TermId) -> Vec<TermId> {
        let (mut found, mut todo, mut seen) = (Vec::new(), vec![term], FxHashSet::default());
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if self.is_object(term) {
                found.push(term);
                continue;
            }
            let before = todo.len();
            self.terms.for_arguments(term, |argument| todo.push(argument));
            todo[before..].reverse();
        }
        found
    }

    /// The term with its objects completed.
    fn rebuilt(&mut self, term: TermId, left: bool) -> TermId {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.rebuilt_here(term, left))
    }

    fn rebuilt_here(&mut self, term: TermId, left: bool) -> TermId {
        if self.is_object(term) {
            return self.completed(term, left);
        }
        let Top::Symbol(symbol) = self.terms.top(term) else { return term };
        match self.signature.symbol(symbol).theory {
            Theory::Data => term,
            Theory::Iter => {
                let (count, inner) = self.terms.iterations(term);
                let inner = self.rebuilt(inner, left);
                self.terms.make_iter(self.signature, symbol, &count, inner)
            }
            _ => {
                let arguments = self.terms.arguments(term);
                let new: Vec<TermId> =
                    arguments.iter().map(|&argument| self.rebuilt(argument, left)).collect();
                match new == arguments {
                    true => term,
                    false => self.terms.make(self.signature, symbol, &new),
                }
            }
        }
    }

    fn completed(&mut self, object: TermId, left: bool) -> TermId {
        let &[identifier, class, attributes] = &self.terms.arguments(object)[..] else { return object };
        let Some(known) = self.known.get(&identifier) else { return object };
        let class = match known.class {
            Some((written, variable)) if written == class => variable,
            _ => class,
        };
        let mut all = match left {
            true if known.rest.is_some() => known.attributes.clone(),
            _ => self.attributes(attributes),
        };
        if let Some(rest) = known.rest
            && !all.iter().any(|&attribute| self.is_rest(attribute))
        {
            for &attribute in &known.attributes {
                let symbol = self.terms.symbol(attribute);
                if !all.iter().any(|&own| self.terms.symbol(own) == symbol) {
                    all.push(attribute);
                }
            }
            all.push(rest);
        }
        let attributes = match all[..] {
            [] => attributes,
            [one] => one,
            _ => self.terms.make(self.signature, self.union, &all),
        };
        self.terms.make(self.signature, self.object, &[identifier, class, attributes])
    }
}
