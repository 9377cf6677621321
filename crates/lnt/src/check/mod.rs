//! The checker: from syntax trees to the typed program, with everything that can be said about it.
//!
//! Definitions of all modules are collected first ([`declare`]), then every body is typed on its own
//! ([`body`]), then the flow of control and data through it is examined ([`flow`]).

mod body;
mod calls;
mod declare;
mod exhaustive;
mod explain;
mod expressions;
mod flow;
mod offers;
mod overload;
mod parts;
mod patterns;
mod statements;

use rustc_hash::{FxHashMap, FxHashSet};
use source::Diagnostic;

use crate::load::Parsed;
use crate::predefined::Signature;
use crate::tree::Name;
use crate::typed::{ChannelId, ProcessId, Program, TypeId, TypeKind};

pub(crate) use parts::{check_parts, conjuncts_of, type_expression, type_pattern};

/// The type of what has already been complained about. It fits everything and never reaches a program that
/// is handed out.
pub(crate) const ERROR: TypeId = TypeId(u32::MAX);

/// The type of a variable that takes it from the place in a pattern where it stands.
const FROM_PATTERN: TypeId = TypeId(u32::MAX - 1);

/// Checks all modules, imported ones before their importers.
pub(crate) fn check(modules: &[Parsed], diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut globals = declare::declare(modules, diagnostics);
    let mut warned = FxHashSet::default();
    body::check_bodies(modules, &mut globals, &mut warned, diagnostics);
    globals.program
}

/// Everything that bodies can refer to.
pub(crate) struct Globals {
    pub program: Program,
    /// By key: the module that defines it (none if predefined) and its id.
    pub types: FxHashMap<String, (Option<usize>, TypeId)>,
    pub channels: FxHashMap<String, (Option<usize>, ChannelId)>,
    pub processes: FxHashMap<String, (usize, ProcessId)>,
    /// The names of the values of each profile of each channel, by key; empty where they have none.
    pub offer_names: FxHashMap<ChannelId, Vec<Vec<String>>>,
    /// Functions, constructors and predefined operations by key.
    pub signatures: FxHashMap<String, Vec<Signature>>,
    /// `visible[m][n]`: whether module m sees the definitions of module n.
    pub visible: Vec<Vec<bool>>,
    /// Types whose values may be written as integers, reals, characters, strings.
    pub integers: Vec<TypeId>,
    pub reals: Vec<TypeId>,
    pub chars: Vec<TypeId>,
    pub strings: Vec<TypeId>,
    /// Types whose values may be written between braces, each with its elements' type.
    pub collections: Vec<(TypeId, TypeId)>,
}

impl Globals {
    pub fn sees(&self, module: usize, owner: Option<usize>) -> bool {
        owner.is_none_or(|owner| self.visible[module][owner])
    }

    /// The type without the ranges and predicates around it.
    pub fn base(&self, mut ty: TypeId) -> TypeId {
        for _ in 0..self.program.types.len() {
            match self.program.types.get(ty.index()).map(|definition| &definition.kind) {
                Some(TypeKind::Range { base, .. } | TypeKind::Predicate { base, .. }) => ty = *base,
                _ => return ty,
            }
        }
        ty
    }

    /// The type's name for messages.
    pub fn type_name(&self, ty: TypeId) -> &str {
        self.program.types.get(ty.index()).map_or("?", |definition| definition.name.as_str())
    }

    /// `(nat, bool)`
    pub fn profile(&self, types: &[TypeId]) -> String {
        let names: Vec<&str> = types.iter().map(|&ty| self.type_name(ty)).collect();
        format!("({})", names.join(", "))
    }

    /// `f (nat, bool) : nat`
    pub fn signature(&self, signature: &Signature) -> String {
        let parameters: Vec<TypeId> = signature.parameters.iter().map(|&(_, ty)| ty).collect();
        let mut text = signature.name.clone();
        if !parameters.is_empty() {
            text += &format!(" {}", self.profile(&parameters));
        }
        if let Some(result) = signature.result {
            text += &format!(" : {}", self.type_name(result));
        }
        text
    }

    /// The type of this name, or a complaint.
    pub fn find_type(&self, name: &Name, module: usize, diagnostics: &mut Vec<Diagnostic>) -> TypeId {
        match self.types.get(&name.key()) {
            Some(&(owner, id)) => {
                if !self.sees(module, owner) {
                    diagnostics.push(self.not_imported("type", name, owner));
                }
                id
            }
            None => {
                let known = self.types.values().filter(|(owner, _)| self.sees(module, *owner));
                let near = source::closest(&name.text, known.map(|(_, id)| self.type_name(*id)));
                diagnostics.push(
                    Diagnostic::error(format!("unknown type `{}`", name.text))
                        .label(name.span, "not defined")
                        .maybe_help(near.map(|near| format!("did you mean `{near}`?"))),
                );
                ERROR
            }
        }
    }

    /// The channel of this name, or a complaint.
    pub fn find_channel(&self, name: &Name, module: usize, diagnostics: &mut Vec<Diagnostic>) -> ChannelId {
        match self.channels.get(&name.key()) {
            Some(&(owner, id)) => {
                if !self.sees(module, owner) {
                    diagnostics.push(self.not_imported("channel", name, owner));
                }
                id
            }
            None => {
                let known = self.channels.values().filter(|(owner, _)| self.sees(module, *owner));
                let names = known.map(|(_, id)| self.program[*id].name.as_str());
                let near = source::closest(&name.text, names);
                let mut diagnostic = Diagnostic::error(format!("unknown channel `{}`", name.text))
                    .label(name.span, "not defined");
                if let Some((_, ty)) = self.types.get(&name.key()) {
                    let ty = self.type_name(*ty);
                    diagnostic = diagnostic
                        .note(format!(
                            "`{ty}` is a type; a gate has a channel, which lists the types of its offers"
                        ))
                        .help(format!("define `channel {ty}_channel is ({ty}) end channel`"));
                } else {
                    diagnostic = diagnostic.maybe_help(near.map(|near| format!("did you mean `{near}`?")));
                }
                diagnostics.push(diagnostic);
                ChannelId::ANY
            }
        }
    }

    /// A name that a module uses without importing its definition, which some other module of the program has.
    /// Template libraries are written so: whoever imports them defines the types that they work on.
    pub fn not_imported(&self, what: &str, name: &Name, owner: Option<usize>) -> Diagnostic {
        let module = owner.map_or("?", |owner| self.program.modules[owner].name.as_str());
        let message = format!("{what} `{}` is defined in a module that is not imported here", name.text);
        Diagnostic::warning(message.trim_start())
            .label(name.span, format!("the definition in module `{module}` is used"))
            .several("names are defined in modules that are not imported where they are used")
    }
}
