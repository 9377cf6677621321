//! Whether two systems are equivalent, and if not, why.

use std::fmt;

use serde::Serialize;

/// The outcome of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The answer.
    pub equivalent: bool,
    /// The equivalence asked about.
    pub relation: String,
    /// What one side can do and the other can't; nothing where they are equivalent.
    pub reason: Option<Reason>,
}

/// Why two systems differ.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    /// Labels that lead to the difference, for trace relations: the last one is possible on one side only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<String>>,
    /// A formula that holds on one side only, for bisimulations, in MCL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The side on which the trace is possible or the formula holds, `left` or `right`; nothing where the shortest
    /// formula that tells them apart is too large to be written down.
    pub holds_on: Option<&'static str>,
    /// The name of that side.
    pub system: String,
}

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(reason) = &self.reason else {
            return write!(out, "equivalent ({})", self.relation);
        };
        write!(out, "not equivalent ({})", self.relation)?;
        if let Some(trace) = &reason.trace {
            write!(out, "\n\nthis trace is possible in {} only:\n", reason.system)?;
            for label in trace {
                write!(out, "\n   {label}")?;
            }
        }
        if let Some(formula) = &reason.formula {
            write!(out, "\n\nthis formula holds in {} only:\n\n   {formula}", reason.system)?;
        }
        if reason.holds_on.is_none() {
            write!(out, "\n\nthe formula that tells them apart is too large to be of use")?;
        }
        Ok(())
    }
}
