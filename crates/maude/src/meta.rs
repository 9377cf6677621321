//! The meta-level: modules and terms as data.

use crate::engine::builtin::Descent;
use crate::engine::code::Code;
use crate::engine::{Engine, Stop};
use crate::modules::Database;
use crate::signature::SymbolId;
use crate::terms::TermId;

/// Evaluates the functions of `META-LEVEL` with the modules of a session.
#[derive(Debug)]
pub struct Meta {
    #[allow(dead_code)]
    database: Database,
}

impl Meta {
    /// With these modules.
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

impl Descent for Meta {
    fn call(
        &mut self,
        _engine: &mut Engine,
        _code: &Code,
        _symbol: SymbolId,
        name: &str,
        _arguments: &[TermId],
    ) -> Result<Option<TermId>, Stop> {
        Err(Stop::error(format!("`{name}` is not supported")))
    }
}
