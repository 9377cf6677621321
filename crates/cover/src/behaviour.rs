//! What executions do one after the other: transitions, sequences of them, abstract states and paths through these.
//!
//! The criteria are those of Zhu and He for high-level Petri nets, as Ding, Clarke, Argote-Garcia and He give them in
//! *Evaluating Test Adequacy Coverage of High Level Petri Nets Using Spin* (2006), and ask nothing of a language but
//! labels and conditions on states that have names ([`Model::propositions`]). What is *feasible* is found by exploring
//! everything that the examples start with; what is not is named, and does not count.
//!
//! An execution covers a sequence if it shows it somewhere, one right after the other. Criteria with a length count all
//! sequences up to it. A path of abstract states passes markings one after the other; a marking that is in no abstract
//! state interrupts it, one that is in several is each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use explore::{Exploration, Limits, NotARun, WalkStep, guided};
use lts::{Progress, StateId};
use model::{Model, ModelError, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::run::{Outcome, Settings, limits_of};
use crate::subject::{Opened, Subject};
use crate::subset::{Subset, smallest_cover};
use crate::suite::Example;
use crate::trace::{flattened, members};

/// A criterion of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// All transitions, or gates.
    Transitions,
    /// All sequences of steps up to a length, each of at most so many transitions at once.
    Traces {
        /// The most transitions of a step.
        degree: usize,
        /// The most steps.
        length: usize,
    },
    /// All sequences of transitions up to a length.
    Sequences {
        /// The most transitions.
        length: usize,
    },
    /// All abstract states.
    States,
    /// All pairs of abstract states with a step from one to the other.
    StateTransitions,
    /// All sequences of abstract states up to a length.
    StatePaths {
        /// The most states.
        length: usize,
    },
    /// Items that the language lists under this name.
    Items(String),
}

impl FromStr for Behaviour {
    type Err = String;

    /// `transitions`, `traces:2:3`, `sequences:2`, `states`, `state-transitions`, `state-paths:3`, or the name of a list
    /// that the language brings.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let numbers: Vec<usize> = parts
            .map(|part| match part.parse() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(format!("`{part}` is not a number above 0")),
            })
            .collect::<Result<_, _>>()?;
        let plain = |criterion: Behaviour| match numbers.as_slice() {
            [] => Ok(criterion),
            _ => Err(format!("`{name}` takes no number")),
        };
        match (name, numbers.as_slice()) {
            ("transitions", _) => plain(Behaviour::Transitions),
            ("states", _) => plain(Behaviour::States),
            ("state-transitions", _) => plain(Behaviour::StateTransitions),
            ("traces", &[degree, length]) => Ok(Behaviour::Traces { degree, length }),
            ("traces", _) => Err("write `traces:K:L`: at most K transitions at once, L steps".into()),
            ("sequences", &[length]) => Ok(Behaviour::Sequences { length }),
            ("sequences", _) => Err("write `sequences:L`: at most L transitions".into()),
            ("state-paths", &[length]) => Ok(Behaviour::StatePaths { length }),
            ("state-paths", _) => Err("write `state-paths:K`: at most K abstract states".into()),
            ("", _) => Err("a criterion has a name".into()),
            _ => plain(Behaviour::Items(name.to_owned())),
        }
    }
}

impl std::fmt::Display for Behaviour {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Behaviour::Transitions => out.write_str("transitions"),
            Behaviour::Traces { degree, length } => write!(out, "traces:{degree}:{length}"),
            Behaviour::Sequences { length } => write!(out, "sequences:{length}"),
            Behaviour::States => out.write_str("states"),
            Behaviour::StateTransitions => out.write_str("state-transitions"),
            Behaviour::StatePaths { length } => write!(out, "state-paths:{length}"),
            Behaviour::Items(name) => out.write_str(name),
        }
    }
}

/// What examples cover by a criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviourCoverage {
    /// The criterion.
    pub criterion: Behaviour,
    /// The names of the examples, and behind them those of what else the model can start with.
    pub starts: Vec<String>,
    /// The feasible items, shorter ones first.
    pub items: Vec<BehaviourItem>,
    /// Items that are not feasible, where they can be listed.
    pub infeasible: Vec<String>,
    /// The smallest set of examples that covers as much as all.
    pub subset: Subset,
    /// Why this is not everything.
    pub doubts: Vec<String>,
}

/// Something that can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviourItem {
    /// What it is.
    pub name: String,
    /// How long it is.
    pub length: usize,
    /// The examples that cover it.
    pub covered_by: Vec<usize>,
    /// A shortest run that would cover it, where none does: where it starts, a position in
    /// [`BehaviourCoverage::starts`], and its labels.
    pub suggestion: Option<(usize, Vec<String>)>,
}

impl BehaviourCoverage {
    /// How many items are covered.
    pub fn covered(&self) -> usize {
        self.items.iter().filter(|item| !item.covered_by.is_empty()).count()
    }
}

/// Why a criterion can't be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CantMeasure {
    /// The model lacks what it counts.
    #[error("{0}")]
    Nothing(String),
    /// There are more items than can be listed.
    #[error("{0} has more than {MOST_ITEMS} items; choose a smaller length")]
    TooMany(Behaviour),
    /// The model made an error.
    #[error("{0}")]
    Model(String),
}

/// More items are not listed.
const MOST_ITEMS: usize = 100_000;
/// More combinations are not named as infeasible.
const MOST_INFEASIBLE: usize = 1_000;
/// Runs are suggested for this many items.
const MOST_SUGGESTED: usize = 25;

/// Names for a criterion's alphabet.
#[derive(Default)]
pub(crate) struct Names {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl Names {
    pub(crate) fn number(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }
}

/// What a criterion sees of executions: states with letters of their own, and steps with letters.
#[derive(Default)]
pub(crate) struct View {
    /// The steps of each state: letter and target.
    steps: Vec<Vec<(u32, u32)>>,
    /// The letters of each state: abstract states.
    states: Vec<Vec<u32>>,
}

type Words = BTreeMap<Vec<u32>, Vec<u32>>;

impl View {
    /// Everything that a model does.
    pub(crate) fn of_all(
        criterion: &Behaviour,
        model: &dyn Model,
        found: &Exploration,
        names: &mut Names,
    ) -> Result<Self, CantMeasure> {
        let lts = &found.lts;
        let letters: Vec<u32> =
            lts.labels().iter().map(|(_, text)| names.number(letter(text, criterion))).collect();
        let steps = lts.states().map(|state| {
            let row = lts.outgoing(state).iter();
            row.map(|edge| (letters[edge.label.index()], edge.target.raw())).collect()
        });
        let mut view = View { steps: steps.collect(), states: Vec::new() };
        if !is_about_steps(criterion) {
            let values: Vec<Vec<Slot>> =
                (0..found.states()).map(|state| found.state(model, StateId::new(state))).collect();
            view.states = abstract_states(model, values.iter().map(Vec::as_slice), names)?;
        }
        Ok(view)
    }

    /// The items of a criterion.
    pub(crate) fn words(&self, criterion: &Behaviour) -> Result<BTreeSet<Vec<u32>>, CantMeasure> {
        let levels = match *criterion {
            Behaviour::Transitions => self.spelled(1),
            Behaviour::Sequences { length } | Behaviour::Traces { length, .. } => self.spelled(length),
            Behaviour::States => self.passed(1),
            Behaviour::StateTransitions => self.passed(2).map(|levels| levels.into_iter().skip(1).collect()),
            Behaviour::StatePaths { length } => self.passed(length),
            Behaviour::Items(_) => None,
        };
        let levels = levels.ok_or_else(|| CantMeasure::TooMany(criterion.clone()))?;
        Ok(levels.into_iter().flat_map(|level| level.into_keys()).collect())
    }

    /// The words of a length or less that steps spell, with the states that they end in.
    fn spelled(&self, length: usize) -> Option<Vec<Words>> {
        let mut levels: Vec<Words> = Vec::new();
        let mut first = Words::new();
        for &(letter, target) in self.steps.iter().flatten() {
            first.entry(vec![letter]).or_default().push(target);
        }
        let mut count = first.len();
        levels.push(tidied(first));
        while levels.len() < length {
            let mut next = Words::new();
            for (word, ends) in &levels[levels.len() - 1] {
                for &(letter, target) in ends.iter().flat_map(|&end| &self.steps[end as usize]) {
                    let mut longer = word.clone();
                    longer.push(letter);
                    next.entry(longer).or_default().push(target);
                    if count + next.len() > MOST_ITEMS {
                        return None;
                    }
                }
            }
            count += next.len();
            levels.push(tidied(next));
        }
        Some(levels)
    }

    /// The same for letters of states, one state after the other.
    fn passed(&self, length: usize) -> Option<Vec<Words>> {
        let mut first = Words::new();
        for (state, letters) in self.states.iter().enumerate() {
            for &letter in letters {
                first.entry(vec![letter]).or_default().push(state as u32);
            }
        }
        let mut count = first.len();
        let mut levels = vec![tidied(first)];
        while levels.len() < length {
            let mut next = Words::new();
            for (word, ends) in &levels[levels.len() - 1] {
                for &(_, target) in ends.iter().flat_map(|&end| &self.steps[end as usize]) {
                    for &letter in &self.states[target as usize] {
                        let mut longer = word.clone();
                        longer.push(letter);
                        next.entry(longer).or_default().push(target);
                        if count + next.len() > MOST_ITEMS {
                            return None;
                        }
                    }
                }
            }
            count += next.len();
            levels.push(tidied(next));
        }
        Some(levels)
    }
}

fn tidied(mut words: Words) -> Words {
    for ends in words.values_mut() {
        ends.sort_unstable();
        ends.dedup();
    }
    words
}

/// An example with everything that it could do.
struct Whole {
    opened: Opened,
    /// The model with steps of several transitions at once, where the criterion is about these.
    concurrent: Option<Arc<dyn Model + Send>>,
    found: Exploration,
}

impl Whole {
    /// The model whose steps the criterion looks at.
    fn model(&self) -> &dyn Model {
        match &self.concurrent {
            Some(model) => &**model,
            None => self.opened.model(),
        }
    }
}

/// Measures criteria over the examples of a suite that was run.
pub fn behaviours(
    subject: &Subject,
    outcome: &Outcome,
    criteria: &[Behaviour],
    settings: &Settings,
    progress: &Progress,
) -> Vec<Result<BehaviourCoverage, CantMeasure>> {
    let mut examples: Vec<Example> = outcome.examples.iter().map(|one| one.example.clone()).collect();
    let own = examples.len();
    // What the model can start with by itself, and no example does: it tells what else is feasible.
    let roots = subject.roots();
    let known: Vec<String> = (examples.iter())
        .filter_map(|example| example.root.clone().or_else(|| roots.first().cloned()))
        .collect();
    let others = roots.iter().filter(|root| !known.iter().any(|known| known.eq_ignore_ascii_case(root)));
    examples.extend(others.map(|root| Example::of_root(root)));
    criteria
        .iter()
        .map(|criterion| Measuring::new(criterion, subject, &examples, own, settings, progress)?.measure())
        .collect()
}

struct Measuring<'a> {
    criterion: &'a Behaviour,
    /// The examples, and behind them what else the model can start with.
    examples: &'a [Example],
    /// How many are examples.
    own: usize,
    wholes: Vec<Whole>,
    names: Names,
    doubts: Vec<String>,
}

impl<'a> Measuring<'a> {
    fn new(
        criterion: &'a Behaviour,
        subject: &Subject,
        examples: &'a [Example],
        own: usize,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, CantMeasure> {
        let (mut wholes, mut doubts) = (Vec::new(), Vec::new());
        for example in examples {
            let opened = subject.open(example).map_err(|error| {
                let said = error.diagnostics.first().map_or("", |one| one.message.as_str());
                CantMeasure::Model(said.to_owned())
            })?;
            let limits = Limits { transitions: true, origins: true, ..limits_of(example, settings, 1) };
            let concurrent = concurrent(&opened, criterion)?;
            let model = concurrent.as_deref().map_or(opened.model(), |model| model);
            let found = explore::explore(model, &limits, progress);
            if !found.outcome.is_complete() {
                doubts.push(format!(
                    "example `{}` was not explored in full, so more may be feasible",
                    example.name
                ));
            }
            wholes.push(Whole { opened, concurrent, found });
        }
        Ok(Self { criterion, examples, own, wholes, names: Names::default(), doubts })
    }

    fn measure(mut self) -> Result<BehaviourCoverage, CantMeasure> {
        self.check()?;
        if let Behaviour::Items(name) = self.criterion {
            let name = name.clone();
            return self.listed_items(&name);
        }
        let wholes: Vec<View> = (0..self.wholes.len()).map(|at| self.whole(at)).collect::<Result<_, _>>()?;
        let feasible: Vec<BTreeSet<Vec<u32>>> =
            wholes.iter().map(|view| view.words(self.criterion)).collect::<Result<_, _>>()?;
        let mut covered: Vec<BTreeSet<Vec<u32>>> = Vec::new();
        for (at, example) in self.examples[..self.own].iter().enumerate() {
            covered.push(match &example.trace {
                None => feasible[at].clone(),
                Some(trace) => {
                    let mut words = BTreeSet::new();
                    for run in &trace.runs {
                        let steps = self.follow(at, &run.labels)?;
                        let view = self.run(at, &steps)?;
                        words.extend(view.words(self.criterion)?);
                    }
                    words
                }
            });
        }
        let mut all: Vec<Vec<u32>> =
            feasible.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        all.sort_by_key(|word| (word.len(), self.spell(word)));
        let mut suggested = 0;
        let items: Vec<BehaviourItem> = (all.iter())
            .map(|word| {
                let covered_by: Vec<usize> =
                    (0..covered.len()).filter(|&at| covered[at].contains(word)).collect();
                let wanted = covered_by.is_empty() && suggested < MOST_SUGGESTED;
                let suggestion = if wanted { self.suggestion(&wholes, word) } else { None };
                suggested += usize::from(suggestion.is_some());
                BehaviourItem { name: self.spell(word), length: word.len(), covered_by, suggestion }
            })
            .collect();
        let infeasible = self.infeasible(&all);
        Ok(self.concluded(items, infeasible))
    }

    fn concluded(self, items: Vec<BehaviourItem>, infeasible: Vec<String>) -> BehaviourCoverage {
        let sets: Vec<Vec<bool>> = (0..self.own)
            .map(|at| items.iter().map(|item| item.covered_by.contains(&at)).collect())
            .collect();
        let subset = smallest_cover(&sets);
        let starts = self.examples.iter().map(|example| example.name.clone()).collect();
        BehaviourCoverage {
            criterion: self.criterion.clone(),
            starts,
            items,
            infeasible,
            subset,
            doubts: self.doubts,
        }
    }

    /// Says what is missing in the model.
    fn check(&self) -> Result<(), CantMeasure> {
        self.wholes.iter().try_for_each(|one| check_states(self.criterion, one.opened.model()))
    }

    /// Everything that an example could do.
    fn whole(&mut self, at: usize) -> Result<View, CantMeasure> {
        let Self { criterion, wholes, names, .. } = self;
        View::of_all(criterion, wholes[at].model(), &wholes[at].found, names)
    }

    /// One run of an example.
    fn run(&mut self, at: usize, steps: &[WalkStep]) -> Result<View, CantMeasure> {
        let Self { criterion, wholes, names, .. } = self;
        let model = wholes[at].model();
        let letters: Vec<u32> =
            steps.iter().map(|step| names.number(letter(&model.label(step.label), criterion))).collect();
        let step = |(at, &letter): (usize, &u32)| vec![(letter, at as u32 + 1)];
        let mut view = View { steps: letters.iter().enumerate().map(step).collect(), states: Vec::new() };
        view.steps.push(Vec::new());
        if !is_about_steps(criterion) {
            let initial = model.initial().map_err(wrong)?;
            let values = std::iter::once(initial.as_slice()).chain(steps.iter().map(|step| &step.target[..]));
            view.states = abstract_states(model, values, names)?;
        }
        Ok(view)
    }

    /// The run that shows these labels; where the model can't follow them, as far as it can, which is told elsewhere.
    fn follow(&self, at: usize, labels: &[String]) -> Result<Vec<WalkStep>, CantMeasure> {
        let labels = match self.wholes[at].concurrent.is_some() {
            true => labels.to_vec(),
            false => flattened(labels),
        };
        let model = self.wholes[at].model();
        match guided(model, &labels) {
            Ok(steps) => Ok(steps),
            Err(NotARun::Error(error)) => Err(wrong(error)),
            Err(NotARun::Stuck { followed, .. }) => {
                guided(model, &labels[..followed]).map_err(|_| CantMeasure::Model("a run changed".into()))
            }
        }
    }

    fn spell(&self, word: &[u32]) -> String {
        let joint = if is_about_steps(self.criterion) { ", " } else { " → " };
        let letters: Vec<&str> =
            word.iter().map(|&letter| self.names.texts[letter as usize].as_str()).collect();
        letters.join(joint)
    }

    /// Combinations that never happen, where they are few enough to be listed.
    fn infeasible(&self, feasible: &[Vec<u32>]) -> Vec<String> {
        let known: BTreeSet<String> = feasible.iter().map(|word| self.spell(word)).collect();
        let model = self.wholes.first().map(|one| one.opened.model());
        let mut alphabet: Vec<String> = match (model, is_about_steps(self.criterion)) {
            (Some(model), true) => match model.visible_gates() {
                Some(gates) => gates.into_iter().map(|gate| gate.name).collect(),
                None => return Vec::new(),
            },
            (Some(model), false) => model.propositions().iter().map(|one| one.name.clone()).collect(),
            (None, _) => return Vec::new(),
        };
        if let Behaviour::Traces { degree, .. } = *self.criterion {
            alphabet = sets_of(&alphabet, degree);
        }
        // What happens and has no gate of its own, such as the internal action, can follow anything as well.
        for word in feasible.iter().filter(|word| word.len() == 1) {
            let letter = &self.names.texts[word[0] as usize];
            if !alphabet.contains(letter) {
                alphabet.push(letter.clone());
            }
        }
        let lengths = match *self.criterion {
            Behaviour::Transitions | Behaviour::States => 1..=1,
            Behaviour::StateTransitions => 2..=2,
            Behaviour::Sequences { length }
            | Behaviour::Traces { length, .. }
            | Behaviour::StatePaths { length } => 1..=length,
            Behaviour::Items(_) => return Vec::new(),
        };
        let joint = if is_about_steps(self.criterion) { ", " } else { " → " };
        let mut missing = Vec::new();
        let mut words: Vec<String> = vec![String::new()];
        for length in 1..=*lengths.end() {
            if words.len().saturating_mul(alphabet.len()) > MOST_INFEASIBLE {
                break;
            }
            let longer = words.iter().flat_map(|word| {
                alphabet.iter().map(move |letter| match word.is_empty() {
                    true => letter.clone(),
                    false => format!("{word}{joint}{letter}"),
                })
            });
            words = longer.collect();
            if lengths.contains(&length) {
                missing.extend(words.iter().filter(|word| !known.contains(*word)).cloned());
            }
        }
        missing
    }

    /// A shortest run of some example that shows a word.
    fn suggestion(&self, wholes: &[View], word: &[u32]) -> Option<(usize, Vec<String>)> {
        let runs = (0..wholes.len()).filter_map(|at| {
            let steps = &wholes[at].steps;
            // States are numbered by their distance from the start.
            let (first, edges) = (0..steps.len()).find_map(|state| {
                let edges = match is_about_steps(self.criterion) {
                    true => spelling(&wholes[at], state, word)?,
                    false if wholes[at].states[state].contains(&word[0]) => {
                        passing(&wholes[at], state, &word[1..])?
                    }
                    false => return None,
                };
                Some((state, edges))
            })?;
            let (model, found) = (self.wholes[at].model(), &self.wholes[at].found);
            let before = found.trace_to(model, StateId::new(first)).ok()?;
            let mut labels: Vec<String> = before.iter().map(|step| model.label(step.label)).collect();
            let mut state = StateId::new(first);
            for edge in edges {
                let edge = found.lts.outgoing(state)[edge];
                labels.push(found.lts.label(edge.label).to_owned());
                state = edge.target;
            }
            Some((at, labels))
        });
        runs.min_by_key(|(at, labels)| (labels.len(), *at))
    }

    /// Items that the language lists: covered by the marks of steps.
    fn listed_items(self, name: &str) -> Result<BehaviourCoverage, CantMeasure> {
        let Some(first) = self.wholes.first() else {
            return Err(CantMeasure::Nothing("there are no examples".into()));
        };
        let lists = first.opened.program.items();
        let Some(list) = lists.iter().find(|list| list.criterion == name) else {
            let known =
                ["transitions", "traces:K:L", "sequences:L", "states", "state-transitions", "state-paths:K"];
            let own = lists.iter().map(|list| list.criterion.as_str());
            let known: Vec<&str> = known.into_iter().chain(own).collect();
            let message = format!("there is no criterion `{name}`; there are {}", known.join(", "));
            return Err(CantMeasure::Nothing(message));
        };
        let number = lists.iter().position(|one| one.criterion == name).unwrap_or_default();
        let (mut covered, mut feasible): (Vec<FxHashSet<usize>>, FxHashSet<usize>) = Default::default();
        for (at, example) in self.examples.iter().enumerate() {
            let Whole { opened, found, .. } = &self.wholes[at];
            let Some(mut inspector) = opened.program.inspector() else { continue };
            let mut all = FxHashSet::default();
            let mut note = |seen: &mut FxHashSet<usize>, state: &[Slot], taken: Option<&WalkStep>| {
                let taken = taken.map(|step| (step.label, &step.target[..]));
                let mut add = |list: usize, item: usize| {
                    if list == number {
                        seen.insert(item);
                    }
                };
                inspector.look(state, taken, &mut add).map_err(wrong)
            };
            for state in 0..found.statistics.expanded {
                note(&mut all, &found.state(opened.model(), StateId::new(state)), None)?;
            }
            feasible.extend(all.iter().copied());
            if at >= self.own {
                continue;
            }
            covered.push(match &example.trace {
                None => all,
                Some(trace) => {
                    let mut seen = FxHashSet::default();
                    for run in &trace.runs {
                        let mut state = opened.model().initial().map_err(wrong)?;
                        for step in self.follow(at, &run.labels)? {
                            note(&mut seen, &state, Some(&step))?;
                            state = step.target;
                        }
                    }
                    seen
                }
            });
        }
        let numbered = || list.items.iter().enumerate();
        let items = numbered().filter(|(at, _)| feasible.contains(at)).map(|(item, of)| BehaviourItem {
            name: of.name.clone(),
            length: 1,
            covered_by: (0..covered.len()).filter(|&at| covered[at].contains(&item)).collect(),
            suggestion: None,
        });
        let items = items.collect();
        let infeasible = numbered().filter(|(at, _)| !feasible.contains(at)).map(|(_, of)| of.name.clone());
        let infeasible = infeasible.collect();
        Ok(self.concluded(items, infeasible))
    }
}

/// Says so where a criterion needs abstract states and the model has none.
pub(crate) fn check_states(criterion: &Behaviour, model: &dyn Model) -> Result<(), CantMeasure> {
    let needs_states =
        matches!(criterion, Behaviour::States | Behaviour::StateTransitions | Behaviour::StatePaths { .. });
    match needs_states && model.propositions().is_empty() {
        true => Err(CantMeasure::Nothing(format!("{criterion}: the model names no abstract states"))),
        false => Ok(()),
    }
}

fn wrong(error: ModelError) -> CantMeasure {
    CantMeasure::Model(error.message)
}

/// The model with steps of several transitions at once, where the criterion is about these.
fn concurrent(opened: &Opened, criterion: &Behaviour) -> Result<Option<Arc<dyn Model + Send>>, CantMeasure> {
    match *criterion {
        Behaviour::Traces { degree, .. } if degree > 1 => match opened.program.concurrent(degree) {
            Some(model) => Ok(Some(model)),
            None => Err(CantMeasure::Nothing(
                "steps of several transitions at once exist in Petri nets only; write `traces:1:L`".into(),
            )),
        },
        _ => Ok(None),
    }
}

pub(crate) fn is_about_steps(criterion: &Behaviour) -> bool {
    matches!(
        criterion,
        Behaviour::Transitions | Behaviour::Traces { .. } | Behaviour::Sequences { .. } | Behaviour::Items(_)
    )
}

/// What a label is for a criterion: its gate, or all gates of a step of several transitions.
pub(crate) fn letter(label: &str, criterion: &Behaviour) -> String {
    match *criterion {
        Behaviour::Traces { degree, .. } => {
            let parts: Vec<&str> = if degree > 1 { members(label) } else { vec![label] };
            let mut gates: Vec<&str> = parts.into_iter().map(lts::gate).collect();
            gates.sort_unstable();
            format!("{{{}}}", gates.join(", "))
        }
        _ => lts::gate(label).to_owned(),
    }
}

/// The abstract states of each marking.
pub(crate) fn abstract_states<'s>(
    model: &dyn Model,
    states: impl Iterator<Item = &'s [model::Slot]>,
    names: &mut Names,
) -> Result<Vec<Vec<u32>>, CantMeasure> {
    let numbers: Vec<u32> = model.propositions().iter().map(|one| names.number(one.name.clone())).collect();
    states
        .map(|state| {
            let mut letters = Vec::new();
            for (at, &number) in numbers.iter().enumerate() {
                let holds = model.holds(at, state).map_err(|error| {
                    CantMeasure::Model(format!("state {}: {}", model.propositions()[at].name, error.message))
                });
                if holds? {
                    letters.push(number);
                }
            }
            Ok(letters)
        })
        .collect()
}

/// The positions of steps that spell a word from a state.
fn spelling(view: &View, state: usize, word: &[u32]) -> Option<Vec<usize>> {
    let Some((&first, rest)) = word.split_first() else { return Some(Vec::new()) };
    view.steps[state].iter().enumerate().find_map(|(at, &(letter, target))| {
        let mut edges = if letter == first { spelling(view, target as usize, rest)? } else { return None };
        edges.insert(0, at);
        Some(edges)
    })
}

/// The positions of steps from a state that pass states with these letters.
fn passing(view: &View, state: usize, word: &[u32]) -> Option<Vec<usize>> {
    let Some((&first, rest)) = word.split_first() else { return Some(Vec::new()) };
    view.steps[state].iter().enumerate().find_map(|(at, &(_, target))| {
        let fits = view.states[target as usize].contains(&first);
        let mut edges = if fits { passing(view, target as usize, rest)? } else { return None };
        edges.insert(0, at);
        Some(edges)
    })
}

/// `{A}`, `{A, B}` …: all multisets of at most so many names.
fn sets_of(names: &[String], degree: usize) -> Vec<String> {
    let mut sorted = names.to_vec();
    sorted.sort();
    let mut level: Vec<Vec<usize>> = (0..sorted.len()).map(|at| vec![at]).collect();
    let mut all = level.clone();
    for _ in 1..degree {
        let longer = level.iter().flat_map(|set| {
            let last = set[set.len() - 1];
            (last..sorted.len()).map(move |at| set.iter().copied().chain([at]).collect::<Vec<usize>>())
        });
        level = longer.take(MOST_INFEASIBLE + 1).collect();
        all.extend(level.iter().cloned());
        if all.len() > MOST_INFEASIBLE {
            break;
        }
    }
    let text = |set: &Vec<usize>| {
        let names: Vec<&str> = set.iter().map(|&at| sorted[at].as_str()).collect();
        format!("{{{}}}", names.join(", "))
    };
    all.iter().map(text).collect()
}
