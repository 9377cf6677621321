//! In place of machine code, where it was left out: everything is interpreted.

use super::machine::{Halt, Machine};
use crate::compile::Compiled;

/// No machine code.
pub struct Native;

impl Native {
    pub fn new(_: &Compiled) -> Option<Self> {
        None
    }

    pub fn run(&self, _: &mut Machine<'_>, _: u32, _: &mut [u32]) -> Option<Halt> {
        None
    }

    pub fn call(&self, _: &mut Machine<'_>, _: u32) -> bool {
        false
    }
}
