//! LNT at the door for languages.

use model::{
    Arguments, Construct, CoverageMap, DefUse, Input, Instrumented, Language, Model, Mutant, Probes, Program,
};
use source::{Diagnostic, Sources, Span};

use crate::load::check_input;
use crate::model::LntModel;
use crate::mutants::{Extent, mutants};
use crate::typed::{self, Argument, ProcessId, StatementKind};
use crate::{arguments, constructs, coverage_map, def_use_pairs, function_map, instrument};

/// LNT, the modelling language of CADP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lnt;

impl Language for Lnt {
    fn name(&self) -> &'static str {
        "LNT"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["lnt"]
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        let checked = check_input(input, sources)?;
        let map = coverage_map(&checked.program);
        let Some(root) = checked.program.main() else {
            let message = format!("{} has no process MAIN", input.main.name);
            let help = format!("name the process to start with: {}", input.starting.advice("PROCESS (…)"));
            return Err(vec![Diagnostic::error(message).help(help)]);
        };
        let model = LntModel::build(checked.program, root, input.telling, input.starting, input.few_states)?;
        let warnings = model.relevant(checked.warnings);
        let functions = function_map(model.program(), model.functions());
        Ok(Box::new(LntProgram { started: started(model.program(), &map), model, warnings, map, functions }))
    }

    fn map(&self, input: &Input<'_>, sources: &mut Sources) -> Option<CoverageMap> {
        let checked = check_input(input, sources).ok()?;
        Some(coverage_map(&checked.program))
    }
}

/// A program that was compiled.
struct LntProgram {
    model: LntModel,
    warnings: Vec<Diagnostic>,
    map: CoverageMap,
    functions: CoverageMap,
    started: Option<usize>,
}

impl LntProgram {
    fn program(&self) -> &typed::Program {
        self.model.program()
    }

    /// The processes that can be started, directly or not.
    fn reached(&self) -> Vec<ProcessId> {
        let program = self.program();
        let reached = self.map.reachable(&self.started());
        let reached = self.map.processes.iter().zip(reached).filter_map(|(entry, reached)| {
            let position = program.processes.iter().position(|process| process.extent == entry.span)?;
            reached.then_some(ProcessId(position as u32))
        });
        reached.collect()
    }
}

/// The process that is started: the one that the user's root calls, or `MAIN`.
fn started(program: &typed::Program, map: &CoverageMap) -> Option<usize> {
    let main = &program[program.main()?];
    let started = match &main.body.kind {
        StatementKind::Instantiate { process, .. } if program.root.is_some() => &program[*process],
        _ => main,
    };
    map.processes.iter().position(|entry| entry.span == started.extent)
}

impl Program for LntProgram {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn model(&self) -> &dyn Model {
        &self.model
    }

    fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    fn map(&self) -> &CoverageMap {
        &self.map
    }

    fn functions(&self) -> &CoverageMap {
        &self.functions
    }

    fn started(&self) -> Vec<usize> {
        Vec::from_iter(self.started)
    }

    fn modules(&self) -> Vec<(String, Span)> {
        self.program().modules.iter().map(|module| (module.name.clone(), module.span)).collect()
    }

    fn constants(&self) -> Vec<String> {
        let written = self.program().functions.iter().filter(|function| {
            function.result.is_some() && function.parameters.is_empty() && function.gates.is_empty()
        });
        written.map(|function| function.name.clone()).collect()
    }

    fn gates_of(&self, process: &str) -> usize {
        let program = self.program();
        program.process_named(process).map_or(0, |process| program[process].gates.len())
    }

    fn arguments(
        &self,
        process: Option<&str>,
        known: &[(String, String)],
        most: usize,
    ) -> Result<Arguments, String> {
        let program = self.program();
        let found = match process {
            Some(name) => program.process_named(name),
            None => {
                let span = self.started.map(|started| self.map.processes[started].span);
                let position = program.processes.iter().position(|one| Some(one.extent) == span);
                position.map(|position| ProcessId(position as u32))
            }
        };
        let found = found.ok_or_else(|| "it is not part of the model".to_owned())?;
        arguments(program, found, known, most)
    }

    fn given_arguments(&self, sources: &Sources) -> Vec<(String, String)> {
        let program = self.program();
        let Some(root) = program.root else { return Vec::new() };
        let StatementKind::Instantiate { arguments, .. } = &program[root].body.kind else {
            return Vec::new();
        };
        let text = |argument: &Argument| match argument {
            Argument::In(value) => {
                Some((program[value.ty].name.clone(), sources.slice(value.span).to_owned()))
            }
            _ => None,
        };
        arguments.iter().filter_map(text).collect()
    }

    fn def_use_pairs(&self) -> Vec<DefUse> {
        def_use_pairs(self.program())
    }

    fn constructs(&self) -> Vec<Construct> {
        constructs(self.program())
    }

    fn instrument(&self, sources: &Sources, probes: &Probes, root: Option<&str>) -> Option<Instrumented> {
        Some(instrument(self.program(), sources, probes, root))
    }

    fn mutants(&self, sources: &Sources) -> Vec<Mutant> {
        mutants(self.program(), &self.reached(), self.model.functions(), sources, Extent::Mutants)
    }

    fn alternatives(&self, sources: &Sources) -> Vec<Mutant> {
        mutants(self.program(), &self.reached(), self.model.functions(), sources, Extent::Alternatives)
    }
}
