//! Whether two systems are equivalent or one is included in the other, and if not, why.

use std::fmt;

use serde::Serialize;

use crate::ActionPlace;

/// The outcome of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The answer for an equivalence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equivalent: Option<bool>,
    /// The answer for a preorder: whether the left system does only what the right one allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub included: Option<bool>,
    /// The equivalence or preorder asked about.
    pub relation: String,
    /// What one side can do and the other can't; nothing where the answer is yes.
    pub reason: Option<Reason>,
}

/// Why two systems differ.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    /// Labels that lead to the difference, for relations on traces: the last one is possible on one side only, unless
    /// something is refused after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<String>>,
    /// A run with these labels, with internal steps and places in the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<RunStep>,
    /// Labels that are refused together after the trace, which the other side never refuses together; empty where the
    /// other side never comes to rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<String>>,
    /// The labels that are offered instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Vec<String>>,
    /// A formula that holds on one side only, for bisimulations and simulations, in MCL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The side on which the trace is possible or the formula holds, `left` or `right`; nothing where the shortest
    /// formula that tells them apart is too large to be written down.
    pub holds_on: Option<&'static str>,
    /// The name of that side.
    pub system: String,
    /// The name of the other side, for preorders.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub other: String,
}

impl Reason {
    /// A reason that is still to be given, on one side.
    pub fn on(side: &'static str) -> Self {
        Self {
            trace: None,
            run: Vec::new(),
            refused: None,
            offered: None,
            formula: None,
            holds_on: Some(side),
            system: String::new(),
            other: String::new(),
        }
    }
}

/// One step of a run that shows a difference.
#[derive(Clone, Debug, Serialize)]
pub struct RunStep {
    /// What happens.
    pub label: String,
    /// What it is compared as, where it was hidden or renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_as: Option<String>,
    /// The actions that take part: their processes and places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionPlace>,
}

impl RunStep {
    /// `SEND !1`, or `i (SEND !1)` where it is hidden.
    fn shown(&self) -> String {
        match &self.compared_as {
            Some(name) => format!("{name} ({})", self.label),
            None => self.label.clone(),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match (self.equivalent, self.included) {
            (Some(true), _) => "equivalent",
            (Some(false), _) => "not equivalent",
            (_, Some(true)) => "included",
            _ => "not included",
        };
        write!(out, "{answer} ({})", self.relation)?;
        let Some(reason) = &self.reason else { return Ok(()) };
        reason.write_trace(out)?;
        if let Some(formula) = &reason.formula {
            write!(out, "\n\nthis formula holds in {} only:\n\n   {formula}", reason.system)?;
        }
        if reason.holds_on.is_none() {
            write!(out, "\n\nthe formula that tells them apart is too large to show")?;
        }
        Ok(())
    }
}

impl Reason {
    fn write_trace(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(trace) = &self.trace else { return Ok(()) };
        match &self.refused {
            None => write!(out, "\n\nthis trace is possible in {} only:\n", self.system)?,
            Some(_) if trace.is_empty() && self.run.is_empty() => write!(out, "\n\nat the start")?,
            Some(_) => write!(out, "\n\nafter this trace:\n")?,
        }
        if self.run.is_empty() {
            for label in trace {
                write!(out, "\n   {label}")?;
            }
        }
        let width = self.run.iter().map(|step| step.shown().chars().count()).max().unwrap_or(0).min(60);
        for step in &self.run {
            let places: Vec<String> = step
                .actions
                .iter()
                .map(|action| format!("{} {}:{}", action.process, action.file, action.line))
                .collect();
            let line = format!("{:<width$}  {}", step.shown(), places.join(", "));
            write!(out, "\n   {}", line.trim_end())?;
        }
        let (Some(refused), Some(offered)) = (&self.refused, &self.offered) else { return Ok(()) };
        let offered = match offered.as_slice() {
            [] => "nothing".to_owned(),
            offered => format!("only {}", offered.join(", ")),
        };
        write!(out, "\n\n{} can come to rest and offer {offered};\n", self.system)?;
        match refused.as_slice() {
            [] => write!(out, "{} never comes to rest there", self.other),
            [one] => write!(out, "{} never refuses {one} there", self.other),
            several => write!(out, "{} always offers one of {} there", self.other, several.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_offers_nothing_is_said_to_offer_nothing() {
        let mut reason = Reason::on("left");
        reason.system = "a.aut".into();
        reason.other = "b.aut".into();
        reason.trace = Some(Vec::new());
        reason.refused = Some(vec!["TEA".into()]);
        for (offered, words) in
            [(vec![], "offer nothing;"), (vec!["A".to_owned(), "B".to_owned()], "offer only A, B;")]
        {
            reason.offered = Some(offered);
            let comparison = Comparison {
                equivalent: None,
                included: Some(false),
                relation: "failures".into(),
                reason: Some(reason.clone()),
            };
            let text = comparison.to_string();
            assert!(text.contains(&format!("a.aut can come to rest and {words}")), "{text}");
        }
    }
}
