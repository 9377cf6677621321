//! A process given by the user as the place to start: `player (1, true)` or `player [A, B, C] (1, true)`.
//!
//! It becomes a process of its own, without parameters, whose only statement is that instantiation. Its gates
//! are those of the instantiated process, under the names given, or under their own names where none are given.

use source::{Diagnostic, FileId};

use crate::parser;
use crate::tree::{Callable, GateActual, GateActuals, GateDeclaration, Module, Name, StatementKind};

/// The name of the process made here. It can't be written, so it is never in the way.
pub(crate) const NAME: &str = "root instantiation";

/// Makes the process for the text of a file, given all modules.
pub(crate) fn process<'m>(
    file: FileId,
    text: &str,
    modules: impl Iterator<Item = &'m Module>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Callable> {
    let mut body = parser::parse_statement(file, text, diagnostics)?;
    let span = body.span;
    let StatementKind::Invoke(invoke) = &mut body.kind else {
        diagnostics.push(
            Diagnostic::error("the root must be a process")
                .label(span, "not an instantiation")
                .help("write `MAIN`, `P (1, true)` or `P [A, B] (1, true)`"),
        );
        return None;
    };
    let key = invoke.name.key();
    let found = modules.flat_map(|module| &module.processes).find(|process| process.name.key() == key);
    // An unknown process is left to the checker, which knows similar names.
    let formals = found.map_or(&[][..], |process| process.gates.as_slice());
    let gates: Vec<GateDeclaration> = match &invoke.gates {
        Some(actuals) => {
            let names = actuals.gates.iter().map(|actual| actual.actual.clone());
            let declare = |(name, formal): (Name, &GateDeclaration)| GateDeclaration {
                name,
                channel: formal.channel.clone(),
            };
            let mut declared: Vec<GateDeclaration> = Vec::new();
            // The same name twice is one gate.
            for gate in names.zip(formals).map(declare) {
                if !declared.iter().any(|known| known.name.key() == gate.name.key()) {
                    declared.push(gate);
                }
            }
            declared
        }
        None => formals.to_vec(),
    };
    if invoke.gates.is_none() && !formals.is_empty() {
        let actual = |formal: &GateDeclaration| GateActual {
            formal: None,
            actual: Name { text: formal.name.text.clone(), span: invoke.name.span },
        };
        invoke.gates =
            Some(GateActuals { gates: formals.iter().map(actual).collect(), ellipsis: false, span });
    }
    let name = Name { text: NAME.to_owned(), span };
    Some(Callable { name, gates, parameters: Vec::new(), result: None, pragmas: Vec::new(), body, span })
}
