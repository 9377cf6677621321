//! What names mean inside one function or process while it is compiled.

use super::Label;
use crate::typed::{Function, GateId, GateRef, Mode, Parameter, ProcessId, Scope, TypeId, VariableId};

/// Where a variable lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a slot of the state; until the end, a position in the table of virtual slots.
    Slot(u32),
    /// In the function's frame on the stack.
    Local(u32),
    /// Nowhere: a parameter that is never assigned and was given a constant; several words are an interned row.
    Constant(u32),
}

/// What a gate stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binding {
    /// A gate of the whole program.
    Gate(u32),
    /// The internal action.
    Internal,
    /// An exception that is caught: where the handler starts, in which region, and where its parameters lie, with their
    /// types.
    Handler { label: Label, region: Option<u32>, parameters: Vec<(u32, TypeId)> },
    /// An exception that nobody catches, by name.
    Uncaught(String),
    /// An exception parameter of the function: whoever calls it says what it stands for.
    Parameter(u32),
}

/// A function or process being compiled.
#[derive(Clone)]
pub(super) struct Body<'p> {
    pub scope: &'p Scope,
    pub places: Vec<Option<Place>>,
    pub gates: Vec<Option<Binding>>,
    /// Where each loop ends.
    pub loops: Vec<Option<Label>>,
    pub kind: BodyKind<'p>,
}

#[derive(Clone)]
pub(super) enum BodyKind<'p> {
    Function {
        parameters: &'p [Parameter],
    },
    Process {
        id: ProcessId,
        name: &'p str,
        /// The frame for variables that are declared here.
        frame: usize,
        /// The processes that wait for this one to end, outermost first.
        waiting: Vec<ProcessId>,
        /// Whether this is a branch of a fork inside the process, so that the process waits for what it calls.
        branch: bool,
        /// Where the process goes on when it has ended.
        after: Label,
    },
}

impl<'p> Body<'p> {
    pub fn new(scope: &'p Scope, kind: BodyKind<'p>) -> Self {
        Self {
            scope,
            places: vec![None; scope.variables.len()],
            gates: vec![None; scope.gates.len()],
            loops: vec![None; scope.loops.len()],
            kind,
        }
    }

    /// A function: its pushed arguments come first in its frame, then its other variables; `words` says how many words
    /// a type has.
    pub fn of_function(function: &'p Function, words: impl Fn(TypeId) -> u32) -> Self {
        let parameters = function.parameters.as_slice();
        let mut body = Self::new(&function.scope, BodyKind::Function { parameters });
        let mut next = 0;
        let mut assign = |body: &mut Self, variable: VariableId| {
            body.places[variable.index()] = Some(Place::Local(next));
            next += words(function.scope[variable].ty);
        };
        for parameter in parameters.iter().filter(|parameter| parameter.mode != Mode::Out) {
            assign(&mut body, parameter.variable);
        }
        for index in 0..function.scope.variables.len() {
            if body.places[index].is_none() {
                assign(&mut body, VariableId(index as u32));
            }
        }
        for (place, &gate) in function.gates.iter().enumerate() {
            body.bind(gate, Binding::Parameter(place as u32));
        }
        body
    }

    pub fn bind(&mut self, gate: GateId, binding: Binding) {
        self.gates[gate.index()] = Some(binding);
    }

    pub fn binding(&self, gate: GateRef) -> Binding {
        match gate {
            GateRef::Internal => Binding::Internal,
            GateRef::Unexpected => Binding::Uncaught("unexpected".into()),
            GateRef::Local(gate) => self.gates[gate.index()]
                .clone()
                .unwrap_or_else(|| Binding::Uncaught(self.scope[gate].name.clone())),
        }
    }

    /// The name that marks carry; none in functions, which have no marks.
    pub fn process_name(&self) -> Option<&'p str> {
        match self.kind {
            BodyKind::Process { name, .. } => Some(name),
            BodyKind::Function { .. } => None,
        }
    }
}
