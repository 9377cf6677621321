//! The model as it is: what mutants are compared with.

use cover::{Example, Subject};
use explore::{Limits, Outcome};
use languages::CantOpen;
use logic::Property;
use lts::{Lts, Progress};
use model::{Mutant, Operator, Telling};
use source::{Diagnostic, Sources};

use crate::judge::{Behaved, behaviour};

/// What is asked about a model.
#[derive(Clone)]
pub struct Question<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// What it starts with.
    pub start: Example,
    /// What should tell mutants from it.
    pub properties: &'a [Property],
    /// Likewise.
    pub examples: &'a [Example],
    /// The operators to use; all where none is named.
    pub operators: &'a [Operator],
    /// The most states of a mutant; ten times those of the model, and a thousand, where none is said.
    pub states: Option<usize>,
}

impl<'a> Question<'a> {
    /// All mutants of a model, and some properties.
    pub fn new(subject: &'a Subject, properties: &'a [Property]) -> Self {
        let start = Example::default();
        Self { subject, start, properties, examples: &[], operators: &[], states: None }
    }
}

/// A model as it is.
pub struct Baseline<'a> {
    /// The question.
    pub question: Question<'a>,
    /// Its texts.
    pub sources: Sources,
    /// Its mutants, in the order of the text.
    pub mutants: Vec<Mutant>,
    /// The verdicts of the properties.
    pub verdicts: Vec<bool>,
    /// How many states it has.
    pub states: usize,
    /// Its behaviour up to strong bisimulation.
    pub(crate) system: Lts,
    pub(crate) examples: Vec<Behaved>,
    pub(crate) most_states: usize,
}

/// Why mutants can't be compared with a model.
pub enum NoBaseline {
    /// The model, or an example, can't be opened.
    CantOpen(CantOpen),
    /// The model makes a run-time error, which its sources tell about.
    Error(Box<Diagnostic>, Sources),
    /// A limit was reached: what could not be done within it.
    Limit(String),
    /// It was asked to stop.
    Cancelled,
}

impl From<CantOpen> for NoBaseline {
    fn from(error: CantOpen) -> Self {
        NoBaseline::CantOpen(error)
    }
}

impl<'a> Baseline<'a> {
    /// Explores the model, checks the properties and runs the examples.
    pub fn new(question: &Question<'a>, progress: &Progress) -> Result<Self, NoBaseline> {
        let question = question.clone();
        let opened = question.subject.open_telling(&question.start, Telling::Nothing)?;
        let most = question.states.unwrap_or(explore::MOST_STATES);
        let limits = Limits { states: most, ..Limits::default() };
        let found = explore::explore(opened.model(), &limits, progress);
        match &found.outcome {
            Outcome::Complete => {}
            Outcome::Cancelled => return Err(NoBaseline::Cancelled),
            Outcome::Error { error, state } => {
                let labels: Option<Vec<String>> = state.and_then(|state| {
                    let trace = found.trace_to(opened.model(), state).ok()?;
                    Some(trace.iter().map(|step| opened.model().label(step.label)).collect())
                });
                let diagnostic = error.diagnostic(opened.model(), labels.as_deref());
                return Err(NoBaseline::Error(Box::new(diagnostic), opened.sources));
            }
            _ => {
                return Err(NoBaseline::Limit(format!("the model itself has more than {most} states")));
            }
        }
        let states = found.states();
        let mut verdicts = Vec::new();
        for property in question.properties {
            let options = logic::Options { explain: false, ..logic::Options::default() };
            match logic::check_lts(&found.lts, &property.formula, &options, progress) {
                Ok(verdict) => verdicts.push(verdict.holds),
                Err(error) => {
                    let message = format!("property {} has no verdict: {error}", property.name);
                    return Err(NoBaseline::Limit(message));
                }
            }
        }
        let system = bisim::reduce(&found.lts, bisim::Relation::Strong)
            .map_err(|error| NoBaseline::Limit(error.to_string()))?;
        let most_states = question.states.unwrap_or(states.saturating_mul(10).saturating_add(1000));
        let mut examples = Vec::new();
        for example in question.examples {
            examples.push(behaviour(question.subject, example, most_states, progress)?);
        }
        let wanted =
            |mutant: &Mutant| question.operators.is_empty() || question.operators.contains(&mutant.operator);
        let mut mutants = opened.program.mutants(&opened.sources);
        mutants.retain(wanted);
        let sources = opened.sources;
        Ok(Self { question, sources, mutants, verdicts, states, system, examples, most_states })
    }

    /// The model with one of its mutants' changes.
    pub fn changed(&self, at: usize) -> Subject {
        let mutant = &self.mutants[at];
        let text = mutant.apply(self.sources.text(mutant.span.file));
        self.question.subject.changed(self.sources.name(mutant.span.file), text)
    }
}
