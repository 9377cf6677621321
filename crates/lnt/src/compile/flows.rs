//! Marks for the flow of data: where variables of processes are defined and used. Only on demand.
//!
//! A variable is known by its virtual slot, of which every instance of a process has its own. What offers and guards
//! use and define is told behind the action: it counts when the action happens.

use model::{MarkId, VariableSite};
use source::Span;

use super::Compiler;
use super::body::{Body, Place};
use super::code::{FlowEvent, Op};
use crate::coverage::{pattern_variables, used_variables};
use crate::typed::{Action, Expression, Pattern, Touch, VariableId};

impl<'p> Compiler<'p> {
    /// A variable is read.
    pub(super) fn flow_use(&mut self, body: &Body<'p>, variable: VariableId, span: Span) {
        if !self.follows(body) {
            return;
        }
        let declared = body.scope[variable].span;
        let used = self.flow_site(declared, span);
        let event = match body.places[variable.index()] {
            Some(Place::Slot(cell)) => FlowEvent::Use(cell, used),
            // Only parameters are constants, and they are never assigned.
            Some(Place::Constant(_)) => FlowEvent::Pair(self.flow_site(declared, declared), used),
            Some(Place::Local(_)) | None => return,
        };
        self.flow_event(event, span);
    }

    /// A variable gets a value.
    pub(super) fn flow_definition(&mut self, body: &Body<'p>, variable: VariableId, span: Span) {
        if let (true, Some(Place::Slot(cell))) = (self.follows(body), body.places[variable.index()]) {
            let site = self.flow_site(body.scope[variable].span, span);
            self.flow_event(FlowEvent::Define(cell, site), span);
        }
    }

    /// Parameters have a value from the start.
    pub(super) fn flow_parameters(&mut self, body: &Body<'p>, parameters: &[VariableId]) {
        for &parameter in parameters {
            self.flow_definition(body, parameter, body.scope[parameter].span);
        }
    }

    /// All variables of an expression whose code stands elsewhere.
    pub(super) fn flow_uses(&mut self, body: &Body<'p>, expression: &Expression) {
        if self.follows(body) {
            used_variables(expression, &mut |variable, span| self.flow_use(body, variable, span));
        }
    }

    fn flow_pattern(&mut self, body: &Body<'p>, pattern: &Pattern) {
        pattern_variables(pattern, &mut |variable, span| self.flow_definition(body, variable, span));
    }

    /// What an action uses and defines.
    pub(super) fn flow_action(&mut self, body: &Body<'p>, action: &Action) {
        if !self.follows(body) {
            return;
        }
        for touch in action.touches() {
            match touch {
                Touch::Use(value) => self.flow_uses(body, value),
                Touch::Define(pattern) => self.flow_pattern(body, pattern),
            }
        }
    }

    /// Whether the code being written is that of a process, and the flow of data is wanted.
    fn follows(&self, body: &Body<'p>) -> bool {
        self.flows_wanted && self.region.is_some() && body.process_name().is_some()
    }

    fn flow_site(&mut self, variable: Span, span: Span) -> u32 {
        let site = VariableSite { variable, span };
        *self.flow_sites.entry(site).or_insert_with(|| {
            self.code.flow_sites.push(site);
            self.code.flow_sites.len() as u32 - 1
        })
    }

    fn flow_event(&mut self, event: FlowEvent, span: Span) {
        let number = *self.flow_events.entry(event).or_insert_with(|| {
            self.code.flow_events.push(event);
            self.code.flow_events.len() as u32 - 1
        });
        self.emit(Op::Mark(MarkId(number)), span);
    }
}
