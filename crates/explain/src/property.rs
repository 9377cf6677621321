//! Which properties can be explained, and how.

use logic::tree::Action;
use logic::{Automaton, CheckError, Formula};
use lts::{Lts, Progress, Stopped};

use crate::graph::Graph;
use crate::monitor::Monitor;
use crate::prefix_suffix;
use crate::tagged::{Method, Tagged};

/// A property whose violations are runs.
#[derive(Clone, Debug)]
pub enum Property {
    /// Something must never happen: the runs on which it does.
    Safety(Automaton),
    /// These labels must happen one after the other on every run.
    Inevitable(Vec<Action>),
    /// After each of these runs, this label must happen.
    Response(Automaton, Action),
    /// Any other formula whose violations are runs: one that passes values, has conditions on states, or forbids
    /// something to be repeated for ever.
    Runs(Box<Formula>),
}

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unexplained {
    /// The formula speaks of more than runs.
    #[error("its violations can't be told run by run, so there is no choice to point at")]
    NotARun,
    /// Prefixes and suffixes say nothing about safety.
    #[error("the method `prefix-suffix` is for properties that ask for labels on every run, not for safety")]
    PrefixSuffixNeedsProgress,
    /// Prefixes and suffixes know a fixed sequence of labels only.
    #[error(
        "the method `prefix-suffix` is for properties that ask for given labels, one after the other, on every run"
    )]
    PrefixSuffixNeedsLabels,
    /// Prefixes and suffixes know no condition before the first label.
    #[error("the method `prefix-suffix` takes labels from the start of the run, not after others")]
    PrefixSuffixNeedsStart,
    /// A counterexample LTS holds finite runs only.
    #[error("the method `counterexample-lts` is for safety: a run that violates progress may be endless")]
    CounterexampleNeedsSafety,
    /// The data of the formula.
    #[error("{0}")]
    Data(String),
    /// A limit was hit, or the user had enough.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Unexplained {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Unexplained::NotARun => {
                "explain takes safety (`[R] false`, `[R] < A > true`), inevitability and response \
                 (`INEVITABLE (A)`, `RESPONSE (A, B)`), and `[R] -|`; `watershed check` knows all formulas"
            }
            Unexplained::PrefixSuffixNeedsProgress | Unexplained::PrefixSuffixNeedsLabels => {
                "leave out --method, or use `exact`"
            }
            Unexplained::PrefixSuffixNeedsStart | Unexplained::CounterexampleNeedsSafety => {
                "leave out --method: the default, `exact`, takes every property that can be explained"
            }
            Unexplained::Data(_) => "`watershed check` may still have a verdict",
            Unexplained::Stopped(_) => "allow more with --max-states",
        }
    }
}

/// How to explain.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The method; by default the exact one, whose tags are true of all maximal runs.
    pub method: Option<Method>,
    /// The most states of the product and of the property's automaton.
    pub most_states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { method: None, most_states: usize::MAX }
    }
}

impl Property {
    /// What a formula asks for, if runs alone can violate it.
    ///
    /// ```
    /// let mut sources = source::Sources::new();
    /// let loaded = logic::load_text("p.mcl", "[ true* ] < true > true", &mut sources).unwrap();
    /// let property = explain::Property::of(&loaded.properties[0].formula)?;
    /// assert!(matches!(property, explain::Property::Safety(_)));
    /// # Ok::<(), explain::Unexplained>(())
    /// ```
    pub fn of(formula: &Formula) -> Result<Self, Unexplained> {
        if let Some(labels) = logic::inevitability(formula) {
            return Ok(Self::Inevitable(labels));
        }
        if let Some((runs, label)) = logic::response(formula) {
            return Ok(Self::Response(runs, label));
        }
        if let Some(violation) = logic::safety_violation(formula) {
            return Ok(Self::Safety(violation));
        }
        match logic::is_violated_by_runs(formula) {
            true => Ok(Self::Runs(Box::new(formula.clone()))),
            false => Err(Unexplained::NotARun),
        }
    }

    /// Tags a system; nothing where the property holds.
    pub fn tag<'l>(
        &self,
        lts: &'l Lts,
        options: &Options,
        progress: &Progress,
    ) -> Result<Option<Tagged<'l>>, Unexplained> {
        let most = options.most_states;
        let (monitor, method) = match (self, options.method) {
            (Self::Safety(_), Some(Method::PrefixSuffix)) => {
                return Err(Unexplained::PrefixSuffixNeedsProgress);
            }
            (Self::Runs(formula), method) => {
                let method = method.unwrap_or(Method::Exact);
                let unfolded = logic::unfold(lts, formula, most, progress).map_err(|error| match error {
                    CheckError::Cancelled => Unexplained::Stopped(Stopped::Cancelled),
                    CheckError::Stopped { .. } => Unexplained::Stopped(Stopped::TooManyStates(most)),
                    other => Unexplained::Data(other.to_string()),
                })?;
                let graph = Graph::unfolded(lts, unfolded.ok_or(Unexplained::NotARun)?);
                return match method {
                    Method::PrefixSuffix => Err(Unexplained::PrefixSuffixNeedsLabels),
                    Method::Counterexample if graph.has_owed() => Err(Unexplained::CounterexampleNeedsSafety),
                    method => Ok(Tagged::new(graph, method)),
                };
            }
            (Self::Response(..), Some(Method::PrefixSuffix)) => {
                return Err(Unexplained::PrefixSuffixNeedsStart);
            }
            (Self::Inevitable(_) | Self::Response(..), Some(Method::Counterexample)) => {
                return Err(Unexplained::CounterexampleNeedsSafety);
            }
            (Self::Inevitable(labels), Some(Method::PrefixSuffix)) => {
                return Ok(prefix_suffix::tag(lts, &masks(labels, lts), most, progress)?);
            }
            (Self::Safety(automaton), method) => {
                let monitor = Monitor::violation(automaton, lts.labels(), most)?;
                (monitor, method.unwrap_or(Method::Exact))
            }
            (Self::Inevitable(labels), _) => {
                (Monitor::progress(&masks(labels, lts), lts.labels()), Method::Exact)
            }
            (Self::Response(runs, label), _) => {
                let mask = label.mask(lts.labels());
                (Monitor::response(runs, &mask, lts.labels(), most)?, Method::Exact)
            }
        };
        Ok(Tagged::new(Graph::product(lts, &monitor, most, progress)?, method))
    }
}

fn masks(labels: &[Action], lts: &Lts) -> Vec<Vec<bool>> {
    labels.iter().map(|label| label.mask(lts.labels())).collect()
}
