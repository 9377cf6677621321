//! States that are written down as terms, and what the conditions of rules keep from happening.

use std::sync::Arc;

use ::model::{Model, ModelError, Slot, StateReader, Withheld};
use source::{Diagnostic, Sources};

use crate::engine::code::Code;
use crate::engine::{Engine, Limits};
use crate::grammar::{Condition, Goal};
use crate::messages::cannot_read;
use crate::model::{MaudeModel, MaudeWorker, model_error};
use crate::print;
use crate::signature::KindId;
use crate::syntax::lexer;
use crate::terms::TermId;

/// What a step without a condition may take: its equations need not end where the condition does not hold.
const LEAST: Limits = Limits { rewrites: 100_000, deadline: None, bytes: 1 << 30, depth: 10_000 };

/// Reads and writes the states of a model.
pub(crate) struct Reader<'m> {
    model: &'m MaudeModel,
    worker: MaudeWorker<'m>,
    kind: Option<KindId>,
    /// The rules without what decides in their conditions, once it was asked for.
    free: Option<Engine>,
}

impl<'m> Reader<'m> {
    pub(crate) fn new(model: &'m MaudeModel) -> Self {
        let mut worker = model.maude_worker();
        let kind = model.initial().ok().map(|initial| {
            let term = worker.term(&initial);
            model.code.signature.kind_of(worker.engine.terms.sort(term))
        });
        Self { model, worker, kind, free: None }
    }

    /// The normal form of a term that is written down.
    fn term(&mut self, text: &str, kind: Option<KindId>) -> Result<TermId, String> {
        let module = &self.model.code.module;
        let mut sources = Sources::new();
        let file = sources.add_given("the state", text);
        let (tokens, diagnostics) = lexer::tokens(&sources, file);
        if let Some(diagnostic) = diagnostics.first() {
            return Err(told(diagnostic));
        }
        let terms = &mut self.worker.engine.terms;
        let read = module.grammar().read_kind(
            &module.signature,
            terms,
            &module.variables,
            Goal::Term,
            kind,
            &tokens,
        );
        let reading = read.map_err(|no| told(&cannot_read(&no, &tokens, module, "the state")))?;
        let term = reading.terms[0];
        if self.worker.engine.terms.is_open(term) {
            return Err("it has variables".to_owned());
        }
        self.worker.engine.begin();
        self.worker.engine.reduce(term).map_err(|stop| stop.message.clone())
    }

    /// The rules without what decides in their conditions.
    fn unguarded(&self) -> Engine {
        let mut module = (*self.model.code.module).clone();
        for statement in module.statements.iter_mut().filter(|statement| !statement.conditions.is_empty()) {
            if statement.kind != crate::syntax::tree::StatementKind::Rule {
                continue;
            }
            let binds =
                |condition: &Condition| matches!(condition, Condition::Assign(..) | Condition::Rewrite(..));
            let kept: Vec<bool> = statement.conditions.iter().map(binds).collect();
            let mut keep = kept.iter();
            statement.conditions.retain(|_| *keep.next().unwrap_or(&true));
            let mut keep = kept.iter();
            statement.condition_spans.retain(|_| *keep.next().unwrap_or(&true));
        }
        let module = Arc::new(module);
        let code = Arc::new(Code::with_terms(&module, module.terms.clone()));
        let mut engine = Engine::new(code);
        engine.limits = LEAST;
        engine.meta = Some(Box::new(crate::meta::Meta::new(self.model.database.clone())));
        engine
    }
}

/// A message in one line.
fn told(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first().filter(|label| !label.text.is_empty()) {
        text = format!("{text}: {}", label.text);
    }
    if let Some(help) = diagnostic.helps.first() {
        text = format!("{text} ({help})");
    }
    text
}

impl StateReader for Reader<'_> {
    fn read(&mut self, text: &str) -> Result<Vec<Slot>, String> {
        let term = self.term(text, self.kind)?;
        Ok(self.worker.state(term))
    }

    fn normal(&mut self, _name: &str, text: &str) -> Result<String, String> {
        let term = self.term(text, None)?;
        Ok(print::one_line(&self.model.code.signature, &self.worker.engine.terms, term))
    }

    fn write(&mut self, state: &[Slot]) -> String {
        self.model.printed_state(state, |code, terms, term| print::one_line(&code.signature, terms, term))
    }

    fn withheld(&mut self, state: &[Slot], emit: &mut dyn FnMut(Withheld)) -> Result<(), ModelError> {
        let refused = self.worker.refusals(state)?;
        if refused.is_empty() {
            return Ok(());
        }
        let text = self.write(state);
        let mut free = match self.free.take() {
            Some(free) => free,
            None => self.unguarded(),
        };
        // The way over text keeps the numbers of the two engines apart.
        let code = free.code.clone();
        let mut sources = Sources::new();
        let file = sources.add_given("the state", text);
        let (tokens, _) = lexer::tokens(&sources, file);
        let module = &code.module;
        let read = module.grammar().read_kind(
            &module.signature,
            &mut free.terms,
            &module.variables,
            Goal::Term,
            self.kind,
            &tokens,
        );
        let Ok(reading) = read else { return Ok(()) };
        free.begin();
        let start = free.reduce(reading.terms[0]).map_err(model_error)?;
        let mut found: Vec<(usize, String)> = Vec::new();
        let statements: Vec<usize> =
            refused.iter().map(|&(rule, _)| self.model.code.rules[rule].statement).collect();
        // What was found before a limit is reached is worth telling.
        let _ = free.steps(&code, start, &mut |engine, step| {
            let statement = code.rules[step.rule].statement;
            if statements.contains(&statement) {
                found.push((statement, print::one_line(&code.signature, &engine.terms, step.result)));
            }
            Ok(false)
        });
        self.free = Some(free);
        for (statement, text) in found {
            let Ok(target) = self.read(&text) else { continue };
            let rules = &self.model.code.rules;
            let Some(rule) = rules.iter().position(|rule| rule.statement == statement) else { continue };
            let spans = &self.model.code.module.statements[statement].condition_spans;
            let guards = refused.iter().filter(|&&(other, _)| other == rule);
            let guards = guards.filter_map(|&(_, at)| spans.get(at).copied()).collect();
            emit(Withheld { origin: self.model.origin_of[rule], guards, target });
        }
        Ok(())
    }
}
