//! The walk of one sequence: a run of the model that goes with it, up to the moment that the model can't follow.
//!
//! The states that agree with the moments so far are followed forwards. From one of those at the end, the walk is found
//! backwards: from each state to one before it, with as few steps between the two as there can be.

use std::collections::BTreeMap;

use lts::OriginId;
use model::{Model, Slot};

use crate::checker::{CheckError, Checker, Layers, Position, Settings, Step, label_matches};
use crate::relation::Relation;
use crate::run::{Numbering, Problem, Sequences};
use crate::traces::{Moment, Said};

/// How many states the last one is chosen from by its text.
const MOST_COMPARED: usize = 4_000;

/// A sequence to walk: all of it, or its last moments.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// How many moments come before those that are here.
    pub skipped: u64,
    /// The states that the model may be in before them, where there are any.
    before: Vec<Vec<Slot>>,
    /// The moments.
    pub moments: Vec<Moment>,
}

impl Sequence {
    /// A whole sequence.
    pub fn new(moments: impl IntoIterator<Item = Moment>) -> Self {
        Self { moments: moments.into_iter().collect(), ..Self::default() }
    }
}

/// A run of the model beside a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The state of the model before the first moment, where there is one.
    pub start: Option<Vec<Slot>>,
    /// What the model does at each moment. A moment that it does not follow is the last.
    pub moments: Vec<Walked>,
}

/// What the model does at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The steps from the state before.
    pub steps: Vec<Taken>,
    /// The state that they lead to; none where the moment is not followed.
    pub state: Option<Vec<Slot>>,
    /// How many states agree with the trace up to here.
    pub states: usize,
}

/// A step of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its label.
    pub label: String,
    /// What fired.
    pub origin: OriginId,
}

/// Walks a sequence beside a model; the answer depends on the sequence alone.
///
/// ```
/// use conform::{Moment, Observed, Relation, Sequence, Settings};
///
/// let text = model::Text::new("light.maude", "mod LIGHT is sort Light . ops init on : -> Light . rl [switch] : init => on . endm");
/// let opened = languages::registry().load(&model::Input::new(&text)).unwrap();
/// let moment = |state: &str| Moment { event: None, state: Some(Observed::Whole(state.to_owned())), line: 1 };
/// let sequence = Sequence::new([moment("init"), moment("on"), moment("init")]);
/// let model = opened.program.model();
/// let walk = conform::walk(model, &Relation::default(), Settings::default(), &sequence).unwrap();
/// assert_eq!(walk.moments[1].steps[0].label, "switch");
/// assert_eq!(walk.moments[2].state, None);
/// ```
pub fn walk(
    model: &dyn Model,
    relation: &Relation,
    settings: Settings,
    sequence: &Sequence,
) -> Result<Walk, CheckError> {
    let mut checker = Checker::new(model, relation, Settings { cover: false, ..settings });
    let mut position = match sequence.skipped {
        0 => Position::default(),
        _ => checker.position(&sequence.before, true),
    };
    if sequence.moments.first().is_some_and(|first| first.event.is_some()) && sequence.skipped == 0 {
        position = checker.before_events()?;
    }
    let begins = checker.has_begun(&position);
    let mut positions = vec![position];
    for moment in &sequence.moments {
        if !matches!(checker.follow(&mut position, moment)?, Step::Accepted(_)) {
            break;
        }
        positions.push(position);
    }
    let followed = positions.len() - 1;
    let mut moments = vec![Walked::default(); followed];
    let mut state = checker.least(&position);
    for at in (0..followed).rev() {
        let Some(target) = state else { break };
        let (before, after) = (positions[at], positions[at + 1]);
        let (source, steps) = match checker.has_begun(&before) {
            true if checker.stays(&before, &after) && sequence.moments[at].event.is_none() => {
                (Some(target), Vec::new())
            }
            true => checker.way_back(&before, &sequence.moments[at], target)?,
            false => (None, Vec::new()),
        };
        let steps = steps
            .into_iter()
            .map(|(label, origin)| Taken { label: checker.space.label(label).to_owned(), origin });
        moments[at] = Walked {
            steps: steps.collect(),
            state: Some(checker.space.row(target).to_vec()),
            states: checker.states(&after).len(),
        };
        state = source;
    }
    let start = state.filter(|_| begins).map(|state| checker.space.row(state).to_vec());
    if followed < sequence.moments.len() {
        moments.push(Walked::default());
    }
    Ok(Walk { start, moments })
}

/// Where a way begins, and its steps: labels and origins.
type Way = (Option<u32>, Vec<(u32, OriginId)>);

impl Checker<'_> {
    /// The state that a sequence is said to be in where it may be in several: the first by its text, whatever came before.
    fn least(&mut self, position: &Position) -> Option<u32> {
        let states = self.states(position);
        let told = states.iter().take(MOST_COMPARED).map(|&state| (self.space.text(state), state));
        told.min().map(|(_, state)| state)
    }

    /// A state before a moment, and the fewest steps that lead from there to a state after it.
    fn way_back(&mut self, before: &Position, moment: &Moment, target: u32) -> Result<Way, CheckError> {
        let roots = self.states(before);
        let Some(event) = &moment.event else {
            let mut layers = Layers::new(&mut self.space, &roots, self.settings.count_silent)?;
            let most = self.settings.bound.most();
            while !layers.contains(target) && layers.steps < most && layers.grow(&mut self.space)? {}
            return Ok(layers.way(target).map_or((None, Vec::new()), |(root, path)| (Some(root), path)));
        };
        // Silent steps, the event, and silent steps again where a state was seen.
        let silent = Layers::new(&mut self.space, &roots, false)?;
        let mut happened: Vec<(u32, u32, (u32, OriginId))> = Vec::new();
        for state in silent.last() {
            for step in self.space.steps(state)?.iter() {
                if step.label != 0 && label_matches(self.space.label(step.label), event) {
                    happened.push((step.target, state, (step.label, step.origin)));
                }
            }
        }
        let targets: Vec<u32> = happened.iter().map(|&(target, ..)| target).collect();
        let settled = Layers::new(&mut self.space, &targets, false)?;
        let found = settled.way(target).and_then(|(middle, rest)| {
            let &(_, source, step) = happened.iter().find(|(target, ..)| *target == middle)?;
            let (root, mut path) = silent.way(source)?;
            path.push(step);
            path.extend(rest);
            Some((root, path))
        });
        // Where the program says that it is silent, the model waits.
        let found = found.or_else(|| silent.way(target));
        Ok(found.map_or((None, Vec::new()), |(root, path)| (Some(root), path)))
    }
}

/// Reads sequences again to walk them: for each number how many moments are wanted, of which the last ones are kept.
pub fn gather(
    model: &dyn Model,
    relation: &Relation,
    settings: Settings,
    wanted: &BTreeMap<u64, u64>,
    most: usize,
    next: &mut Sequences<'_>,
) -> Result<BTreeMap<u64, Sequence>, Problem> {
    let mut gathering = Gathering {
        checker: Checker::new(model, relation, Settings { cover: false, ..settings }),
        wanted,
        most: most as u64,
        found: BTreeMap::new(),
    };
    let mut numbering = Numbering::default();
    while let Some((file, said)) = next().map_err(Problem::Read)? {
        numbering.enter(file);
        for said in said {
            match said {
                Said::Sequence(moments) => {
                    let number = numbering.whole();
                    if wanted.contains_key(&number) {
                        moments.into_iter().try_for_each(|moment| gathering.take(number, moment, file))?;
                    }
                }
                Said::Moment(key, moment) => {
                    let (_, number) = numbering.streamed(key.as_deref());
                    gathering.take(number, moment, file)?;
                }
                Said::End => numbering.end(),
                Said::Wrong(_) => {}
            }
        }
    }
    Ok(gathering.found.into_iter().map(|(number, (_, sequence))| (number, sequence)).collect())
}

/// Sequences that are being read again.
struct Gathering<'m> {
    checker: Checker<'m>,
    wanted: &'m BTreeMap<u64, u64>,
    most: u64,
    found: BTreeMap<u64, (Position, Sequence)>,
}

impl Gathering<'_> {
    fn take(&mut self, number: u64, moment: Moment, file: usize) -> Result<(), Problem> {
        let Some(&length) = self.wanted.get(&number) else { return Ok(()) };
        let (position, sequence) = self.found.entry(number).or_default();
        if sequence.skipped + sequence.moments.len() as u64 >= length {
            return Ok(());
        }
        if sequence.skipped >= length.saturating_sub(self.most) {
            sequence.moments.push(moment);
            return Ok(());
        }
        // What is left out is followed, so that the states before the rest are known.
        let line = moment.line;
        self.checker.follow(position, &moment).map_err(|error| error.at(file, line, number))?;
        sequence.skipped += 1;
        if sequence.skipped == length - self.most {
            let states = self.checker.states(position);
            sequence.before = states.iter().map(|&state| self.checker.space.row(state).to_vec()).collect();
        }
        if self.checker.is_full() {
            self.checker.renew(self.found.values_mut().map(|(position, _)| position));
        }
        Ok(())
    }
}
