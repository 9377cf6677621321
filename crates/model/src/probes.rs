//! Probes: extra actions that show what is executed (Salaün and Ye 2015, section 3.4), without their language.

use crate::coverage::CoverageMap;
use crate::texts::Text;

/// Which constructs get probes: positions in the coverage map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Blocks.
    pub blocks: Vec<usize>,
    /// Decisions.
    pub decisions: Vec<usize>,
    /// Actions.
    pub actions: Vec<usize>,
}

impl Probes {
    /// A probe for everything.
    pub fn all(map: &CoverageMap) -> Self {
        Self { actions: (0..map.actions.len()).collect(), ..Self::first_step(map) }
    }

    /// The first of the two steps of measuring: blocks and decisions.
    pub fn first_step(map: &CoverageMap) -> Self {
        Self {
            blocks: (0..map.blocks.len()).collect(),
            decisions: (0..map.decisions.len()).collect(),
            actions: Vec::new(),
        }
    }
}

/// A program with probes.
#[derive(Clone, Debug, Default)]
pub struct Instrumented {
    /// The modules under the names of their files, imported ones first.
    pub modules: Vec<Text>,
    /// What it starts with, where that was said.
    pub root: Option<String>,
    /// The gate of the probes.
    pub gate: String,
    /// For each block and decision of the coverage map, whether its probe was moved because of a choice.
    pub critical_blocks: Vec<bool>,
    /// See above.
    pub critical_decisions: Vec<bool>,
    /// For each block and decision, whether it has no probe, for want of a place at which one would change nothing.
    pub unshown_blocks: Vec<bool>,
    /// See above.
    pub unshown_decisions: Vec<bool>,
}
