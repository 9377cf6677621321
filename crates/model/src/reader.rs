//! States that are written down: the way back from text to a state.

use lts::OriginId;
use source::Span;

use crate::{Model, ModelError, Slot};

/// Reads and writes states of a model, on one thread.
pub trait StateReader {
    /// The state that a text of the language denotes. The error says what is wrong with the text.
    fn read(&mut self, text: &str) -> Result<Vec<Slot>, String>;

    /// The state that has these values, by the names of [`Model::describe`], where they determine one.
    fn assemble(&mut self, _values: &[(String, String)]) -> Result<Option<Vec<Slot>>, String> {
        Ok(None)
    }

    /// A value as [`Model::describe`] writes it; the error says why it is none.
    fn normal(&mut self, _name: &str, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    /// A state as text that can be read.
    fn write(&mut self, state: &[Slot]) -> String;

    /// Calls `emit` for everything that guards alone keep from happening in a state.
    fn withheld(&mut self, _state: &[Slot], _emit: &mut dyn FnMut(Withheld)) -> Result<(), ModelError> {
        Ok(())
    }
}

/// A step that a guard keeps from happening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// What would fire.
    pub origin: OriginId,
    /// The guards that say no.
    pub guards: Vec<Span>,
    /// The state that it would lead to.
    pub target: Vec<Slot>,
}

/// Writes states as a list of their named values; such texts can't be read.
pub struct Described<'m>(pub &'m dyn Model);

impl StateReader for Described<'_> {
    fn read(&mut self, _text: &str) -> Result<Vec<Slot>, String> {
        Err("states of this model can't be written as one text".to_owned())
    }

    fn write(&mut self, state: &[Slot]) -> String {
        let values = self.0.describe(state).values;
        let shown = values.iter().map(|(name, value)| match value.is_empty() {
            true => name.clone(),
            false => format!("{name} = {value}"),
        });
        shown.collect::<Vec<String>>().join(", ")
    }
}
