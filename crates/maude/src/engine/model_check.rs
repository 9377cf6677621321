//! `modelCheck`: formulas of linear temporal logic on the states of a term.

use super::code::Code;
use super::{Engine, Stop};
use crate::signature::SymbolId;
use crate::terms::TermId;

impl Engine {
    /// Whether a formula holds from a state on.
    pub(super) fn model_check(
        &mut self,
        _code: &Code,
        _symbol: SymbolId,
        _state: TermId,
        _formula: TermId,
    ) -> Result<Option<TermId>, Stop> {
        Err(Stop::error("`modelCheck` is not supported yet"))
    }
}
