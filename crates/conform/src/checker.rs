//! Acceptance: a sequence is followed with the set of states that the model may be in.
//!
//! Neighbours of a sequence of states are joined by at most so many steps of the model (a finite semi-computation, Do 2019,
//! section 3.2). Where the program shows everything, the set has one state; what it does not show the search fills in. Sets,
//! observations and what leads from one to the next are numbered and found once, so that following costs two look-ups a
//! moment.

use std::rc::Rc;

use lts::OriginId;
use model::{Model, ModelError, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::relation::{Observed, Relation};
use crate::space::Space;
use crate::traces::Moment;

/// How much may be known before everything is forgotten but what open sequences need.
const MOST_KNOWN: usize = 1 << 21;

/// How many states are looked at between two neighbours.
const MOST_BETWEEN: usize = 1 << 18;

/// How many steps of the model may lie between two neighbours of a sequence of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most so many.
    Steps(u32),
    /// As few as needed, at most so many.
    Auto(u32),
}

impl Bound {
    /// The most steps.
    pub fn most(self) -> u32 {
        match self {
            Bound::Steps(most) | Bound::Auto(most) => most,
        }
    }
}

/// How sequences are followed.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many steps lie between neighbours.
    pub bound: Bound,
    /// Whether sequences of states begin with the model's initial state.
    pub from_initial: bool,
    /// Whether sequences of events may begin in any state that can be reached.
    pub from_anywhere: bool,
    /// Whether silent steps count as steps.
    pub count_silent: bool,
    /// Whether outputs alone decide, as in input/output conformance.
    pub ioco: bool,
    /// The most states that are explored to find where a sequence may begin.
    pub max_states: usize,
    /// Whether to note what is covered.
    pub cover: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bound: Bound::Steps(1),
            from_initial: false,
            from_anywhere: false,
            count_silent: false,
            ioco: false,
            max_states: 1_000_000,
            cover: false,
        }
    }
}

/// Why a sequence can't be checked.
#[derive(Clone, Debug)]
pub enum CheckError {
    /// A state is none of the model's: what, and why.
    State(String, String),
    /// The model makes an error.
    Model(ModelError),
}

impl From<ModelError> for CheckError {
    fn from(error: ModelError) -> Self {
        CheckError::Model(error)
    }
}

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    set: u32,
    /// The last state that was seen.
    seen: u32,
    /// How many moments were read.
    pub index: u64,
}

/// No set or observation.
const NONE: u32 = u32::MAX;

impl Default for Position {
    fn default() -> Self {
        Self { set: NONE, seen: NONE, index: 0 }
    }
}

/// What became of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The model can do that; for neighbouring states with how many steps.
    Accepted(Option<u32>),
    /// It can't.
    Rejected,
    /// The model says nothing about this input, and so nothing about what follows.
    Unspecified,
    /// A limit was reached before that was known.
    Unknown,
}

/// An observation that was read.
#[derive(Clone, Debug)]
enum Seen {
    State(u32),
    Values(Vec<(String, String)>),
}

/// Follows sequences, on one thread.
pub struct Checker<'m> {
    pub(crate) space: Space<'m>,
    pub(crate) settings: Settings,
    relation: &'m Relation,
    observations: FxHashMap<Observed, u32>,
    seen: Vec<Seen>,
    sets: Vec<Rc<[u32]>>,
    set_numbers: FxHashMap<Rc<[u32]>, u32>,
    events: FxHashMap<String, u32>,
    event_texts: Vec<String>,
    /// From a set by an observation: the set, and the number of steps; no set where there is none.
    by_state: FxHashMap<(u32, u32), (u32, u32)>,
    by_event: FxHashMap<(u32, u32), u32>,
    /// Everything that can be reached, once it was asked for, and whether that is all.
    reachable: Option<(Rc<[u32]>, bool)>,
    starts: FxHashMap<u32, u32>,
    /// The names of the model's values.
    names: Option<Vec<String>>,
    pub(crate) origins: FxHashSet<OriginId>,
}

/// The set of a search that reached its limit.
const UNKNOWN: u32 = u32::MAX - 1;

impl<'m> Checker<'m> {
    /// A checker for sequences of a model.
    pub fn new(model: &'m dyn Model, relation: &'m Relation, settings: Settings) -> Self {
        Self {
            space: Space::new(model, &relation.events.hidden),
            settings,
            relation,
            observations: FxHashMap::default(),
            seen: Vec::new(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            events: FxHashMap::default(),
            event_texts: Vec::new(),
            by_state: FxHashMap::default(),
            by_event: FxHashMap::default(),
            reachable: None,
            starts: FxHashMap::default(),
            names: None,
            origins: FxHashSet::default(),
        }
    }

    /// The origins of what the sequences exercised.
    pub fn origins(&self) -> impl Iterator<Item = OriginId> + '_ {
        self.origins.iter().copied()
    }

    /// Follows a sequence by one moment. The position stays where it was unless the moment is accepted.
    pub fn follow(&mut self, position: &mut Position, moment: &Moment) -> Result<Step, CheckError> {
        let seen = moment.state.as_ref().map(|state| self.observation(state)).transpose()?;
        let (set, needed) = match (&moment.event, seen) {
            // Equal neighbours collapse.
            (None, Some(seen)) if position.set != NONE && seen == position.seen => (position.set, None),
            (None, Some(seen)) if position.set == NONE => (self.start(seen)?, None),
            (None, Some(seen)) => {
                let (set, needed) = self.observe(position.set, seen)?;
                (set, Some(needed))
            }
            (Some(event), seen) => {
                let from = if position.set == NONE { self.first()? } else { position.set };
                let event = self.event_number(event);
                let set = match self.happen(from, event)? {
                    NONE if self.is_unspecified_input(event) => return Ok(Step::Unspecified),
                    NONE => NONE,
                    UNKNOWN => UNKNOWN,
                    set => match seen {
                        Some(seen) => self.settle(set, seen)?,
                        None => set,
                    },
                };
                (set, None)
            }
            (None, None) => (position.set, None),
        };
        match set {
            NONE if moment.event.is_none() && seen.is_none() => {}
            NONE => return Ok(Step::Rejected),
            UNKNOWN => return Ok(Step::Unknown),
            _ => {}
        }
        *position = Position { set, seen: seen.unwrap_or(NONE), index: position.index + 1 };
        Ok(Step::Accepted(needed))
    }

    /// Whether so much is known that it should be forgotten.
    pub fn is_full(&self) -> bool {
        self.space.len().max(self.sets.len()).max(self.seen.len()).max(self.by_state.len() / 4) > MOST_KNOWN
    }

    /// Forgets everything but where these sequences are.
    pub fn renew<'p>(&mut self, positions: impl Iterator<Item = &'p mut Position>) {
        let sets = std::mem::take(&mut self.sets);
        let rows = |space: &Space<'_>, set: u32| -> Vec<Rc<[u32]>> {
            sets.get(set as usize)
                .map(|set| set.iter().map(|&state| space.row(state)).collect())
                .unwrap_or_default()
        };
        let kept: Vec<(&mut Position, Vec<Rc<[u32]>>)> = positions
            .map(|position| {
                let kept = rows(&self.space, position.set);
                (position, kept)
            })
            .collect();
        self.space.forget();
        self.observations.clear();
        self.seen.clear();
        self.set_numbers.clear();
        self.by_state.clear();
        self.by_event.clear();
        self.reachable = None;
        self.starts.clear();
        for (position, rows) in kept {
            if position.set != NONE {
                let states = rows.iter().map(|row| self.space.number(row)).collect();
                position.set = self.set(states);
            }
            // The next state is compared with the model again, which changes nothing but the time that takes.
            position.seen = NONE;
        }
    }

    /// Where a sequence is that may be in these states.
    pub(crate) fn position(&mut self, rows: &[Vec<Slot>], has_begun: bool) -> Position {
        let states = rows.iter().map(|row| self.space.number(row)).collect();
        let set = if has_begun { self.set(states) } else { NONE };
        Position { set, ..Position::default() }
    }

    /// Where a sequence of events is before the first of them.
    pub(crate) fn before_events(&mut self) -> Result<Position, CheckError> {
        Ok(Position { set: self.first()?, ..Position::default() })
    }

    /// Whether a sequence is where it was: equal neighbours are one.
    pub(crate) fn stays(&self, before: &Position, after: &Position) -> bool {
        before.set == after.set && before.seen == after.seen
    }

    /// The states that a sequence may be in.
    pub(crate) fn states(&self, position: &Position) -> Rc<[u32]> {
        self.sets.get(position.set as usize).cloned().unwrap_or_else(|| Rc::from([]))
    }

    /// Whether a sequence has begun.
    pub(crate) fn has_begun(&self, position: &Position) -> bool {
        position.set != NONE
    }

    /// The number of what was observed.
    pub(crate) fn observation(&mut self, observed: &Observed) -> Result<u32, CheckError> {
        if let Some(&number) = self.observations.get(observed) {
            return Ok(number);
        }
        let wrong = |why: String| CheckError::State(observed.to_string(), why);
        let seen = match observed {
            Observed::Whole(text) => {
                let row = self.space.reader.read(text).map_err(wrong)?;
                Seen::State(self.space.number(&row))
            }
            Observed::Values(values) => {
                self.check_names(values).map_err(wrong)?;
                let mut normal = Vec::with_capacity(values.len());
                for (name, text) in values {
                    // What is no expression by itself may still be how the model writes a value.
                    let text = self.space.reader.normal(name, text).unwrap_or_else(|_| text.clone());
                    normal.push((name.clone(), canonical(&text)));
                }
                match self.space.reader.assemble(values).map_err(wrong)? {
                    Some(row) => Seen::State(self.space.number(&row)),
                    None => Seen::Values(normal),
                }
            }
        };
        let number = self.seen.len() as u32;
        self.seen.push(seen);
        self.observations.insert(observed.clone(), number);
        Ok(number)
    }

    fn check_names(&mut self, values: &[(String, String)]) -> Result<(), String> {
        if self.names.is_none() {
            let names = match self.space.model.observables() {
                Some(names) => names,
                None => {
                    let initial = self.space.model.initial().map_err(|error| error.message)?;
                    self.space.model.describe(&initial).values.into_iter().map(|(name, _)| name).collect()
                }
            };
            self.names = Some(names);
        }
        let names = self.names.as_deref().unwrap_or_default();
        if values.is_empty() {
            return Err("it has no values that the model knows".to_owned());
        }
        for (name, _) in values {
            let plain = name.split('#').next().unwrap_or(name);
            if !names.iter().any(|known| known == plain) {
                let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
                known.sort_unstable();
                known.dedup();
                return Err(match source::closest(plain, known.iter().copied()) {
                    Some(near) => format!("the model has no `{name}`; did you mean `{near}`?"),
                    None => format!("the model has no `{name}`; it has: {}", known.join(", ")),
                });
            }
        }
        Ok(())
    }

    fn event_number(&mut self, event: &str) -> u32 {
        if let Some(&number) = self.events.get(event) {
            return number;
        }
        let number = self.event_texts.len() as u32;
        self.events.insert(event.to_owned(), number);
        self.event_texts.push(event.to_owned());
        number
    }

    fn set(&mut self, mut states: Vec<u32>) -> u32 {
        if states.is_empty() {
            return NONE;
        }
        states.sort_unstable();
        states.dedup();
        if let Some(&number) = self.set_numbers.get(states.as_slice()) {
            return number;
        }
        let states: Rc<[u32]> = states.into();
        let number = self.sets.len() as u32;
        self.sets.push(states.clone());
        self.set_numbers.insert(states, number);
        number
    }

    /// The set that sequences of events begin with.
    fn first(&mut self) -> Result<u32, CheckError> {
        match self.settings.from_anywhere {
            true => {
                let states = self.reachable()?.0.to_vec();
                Ok(self.set(states))
            }
            false => {
                let initial = self.space.model.initial()?;
                let initial = self.space.number(&initial);
                if self.settings.cover {
                    self.origins.insert(self.space.model.initial_origin());
                }
                Ok(self.set(vec![initial]))
            }
        }
    }

    /// The set of a sequence that begins with an observation.
    fn start(&mut self, seen: u32) -> Result<u32, CheckError> {
        if let Some(&set) = self.starts.get(&seen) {
            return Ok(set);
        }
        let set = match (self.settings.from_initial, &self.seen[seen as usize]) {
            (true, _) => {
                let first = self.space.model.initial()?;
                let first = self.space.number(&first);
                let first = self.set(vec![first]);
                self.settle(first, seen)?
            }
            (false, &Seen::State(state)) => self.set(vec![state]),
            (false, Seen::Values(_)) => {
                let (states, complete) = self.reachable()?;
                let matching = states.iter().copied().filter(|&state| self.matches(state, seen)).collect();
                match self.set(matching) {
                    NONE if !complete => UNKNOWN,
                    set => set,
                }
            }
        };
        self.starts.insert(seen, set);
        Ok(set)
    }

    /// All states that can be reached, and whether they are all.
    pub(crate) fn reachable(&mut self) -> Result<(Rc<[u32]>, bool), CheckError> {
        if let Some(known) = &self.reachable {
            return Ok(known.clone());
        }
        let initial = self.space.model.initial()?;
        let mut all = vec![self.space.number(&initial)];
        let mut seen: FxHashSet<u32> = all.iter().copied().collect();
        let (mut at, mut complete) = (0, true);
        while at < all.len() {
            if all.len() > self.settings.max_states {
                complete = false;
                break;
            }
            for step in self.space.steps(all[at])?.iter() {
                if seen.insert(step.target) {
                    all.push(step.target);
                }
            }
            at += 1;
        }
        let found = (Rc::from(all), complete);
        self.reachable = Some(found.clone());
        Ok(found)
    }

    /// Whether a state is what was observed.
    pub(crate) fn matches(&mut self, state: u32, seen: u32) -> bool {
        match &self.seen[seen as usize] {
            Seen::State(wanted) => *wanted == state,
            Seen::Values(_) => {
                let view = self.space.view(state);
                let Seen::Values(wanted) = &self.seen[seen as usize] else { return false };
                wanted.iter().all(|(name, value)| {
                    view.iter().any(|(other, text)| other == name && canonical(text) == *value)
                })
            }
        }
    }

    /// The values of what was observed, as the model would describe them.
    pub(crate) fn values(&mut self, seen: u32) -> Vec<(String, String)> {
        match &self.seen[seen as usize] {
            &Seen::State(state) => self.space.view(state).to_vec(),
            Seen::Values(values) => values.clone(),
        }
    }

    /// The state that was observed, if it is known as a whole.
    pub(crate) fn state_of(&self, seen: u32) -> Option<u32> {
        match self.seen[seen as usize] {
            Seen::State(state) => Some(state),
            Seen::Values(_) => None,
        }
    }

    /// From a set to an observation by at most as many steps as there may be.
    fn observe(&mut self, set: u32, seen: u32) -> Result<(u32, u32), CheckError> {
        if let Some(&known) = self.by_state.get(&(set, seen)) {
            return Ok(known);
        }
        let roots = self.sets[set as usize].clone();
        let whole = self.state_of(seen);
        let mut layers = Layers::new(&mut self.space, &roots, self.settings.count_silent)?;
        let mut found: Vec<u32> = Vec::new();
        let mut needed = 0;
        let mut unknown = false;
        for steps in 0..=self.settings.bound.most() {
            if steps > 0 && !layers.grow(&mut self.space)? {
                break;
            }
            let layer = layers.last().to_vec();
            let before = found.len();
            match whole {
                Some(state) => found.extend(layer.iter().copied().filter(|&other| other == state)),
                None => {
                    for state in layer {
                        if self.matches(state, seen) {
                            found.push(state);
                        }
                    }
                }
            }
            if before == 0 && !found.is_empty() {
                needed = steps;
            }
            let enough = matches!(self.settings.bound, Bound::Auto(_)) || whole.is_some();
            if enough && !found.is_empty() {
                break;
            }
            if layers.len() > MOST_BETWEEN {
                unknown = found.is_empty();
                break;
            }
        }
        if self.settings.cover {
            layers.add_origins(&found, &mut self.origins);
            for &state in &found {
                self.space.executed(state, &mut self.origins);
            }
        }
        let next = if unknown { UNKNOWN } else { self.set(found) };
        self.by_state.insert((set, seen), (next, needed));
        Ok((next, needed))
    }

    /// What is observed after silent steps at most.
    fn settle(&mut self, set: u32, seen: u32) -> Result<u32, CheckError> {
        let closed = self.space.closure(&self.sets[set as usize].clone())?;
        let matching = closed.into_iter().filter(|&state| self.matches(state, seen)).collect();
        Ok(self.set(matching))
    }

    /// From a set by an event, with silent steps before it.
    fn happen(&mut self, set: u32, event: u32) -> Result<u32, CheckError> {
        if let Some(&known) = self.by_event.get(&(set, event)) {
            return Ok(known);
        }
        let closed = self.space.closure(&self.sets[set as usize].clone())?;
        let mut next = Vec::new();
        let text = self.event_texts[event as usize].clone();
        let quiet = self.settings.ioco && is_quiescence(&text);
        for &state in &closed {
            let steps = self.space.steps(state)?;
            if quiet {
                let speaks = steps.iter().any(|step| step.label == 0 || self.is_output(step.label));
                if !speaks {
                    next.push(state);
                }
                continue;
            }
            for step in steps.iter() {
                if step.label != 0 && label_matches(self.space.label(step.label), &text) {
                    next.push(step.target);
                    if self.settings.cover {
                        self.origins.insert(step.origin);
                        self.space.executed(step.target, &mut self.origins);
                    }
                }
            }
            if self.settings.cover {
                self.space.executed(state, &mut self.origins);
                let silent = steps.iter().filter(|step| step.label == 0).map(|step| step.origin);
                self.origins.extend(silent);
            }
        }
        let next = self.set(next);
        self.by_event.insert((set, event), next);
        Ok(next)
    }

    fn is_output(&self, label: u32) -> bool {
        let gate = lts::gate(self.space.label(label));
        self.relation.events.outputs.iter().any(|output| output == gate)
    }

    fn is_unspecified_input(&self, event: u32) -> bool {
        let gate = lts::gate(&self.event_texts[event as usize]);
        self.settings.ioco && self.relation.events.inputs.iter().any(|input| input == gate)
    }
}

/// Whether an event says that the program stays silent.
fn is_quiescence(event: &str) -> bool {
    matches!(event, "δ" | "DELTA" | "delta" | "quiescence")
}

/// Whether a label of the model is what an event says; `!_` stands for any value.
pub(crate) fn label_matches(label: &str, event: &str) -> bool {
    if !event.contains("!_") {
        return label == event;
    }
    let (offers, wanted) = (lts::offers(label), lts::offers(event));
    lts::gate(label) == lts::gate(event)
        && offers.len() == wanted.len()
        && offers
            .iter()
            .zip(&wanted)
            .all(|(offer, wanted)| *wanted == "_" || *wanted == "!_" || offer == wanted)
}

/// A value without what languages write in several ways: blanks, the case of letters outside of strings, a plus sign.
pub(crate) fn canonical(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut quoted = false;
    let mut letters = text.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                quoted = !quoted;
                normal.push(letter);
            }
            _ if quoted => normal.push(letter),
            '+' if letters.peek().is_some_and(char::is_ascii_digit)
                && !normal.ends_with(|before: char| before.is_alphanumeric()) => {}
            _ if letter.is_whitespace() => {
                // Between two words a blank means something.
                let word = |letter: char| letter.is_alphanumeric() || letter == '_';
                if normal.ends_with(word) && letters.peek().copied().is_some_and(word) {
                    normal.push(' ');
                }
            }
            _ => normal.extend(letter.to_uppercase()),
        }
    }
    normal
}

/// States by the number of steps that lead to them from some states.
pub(crate) struct Layers {
    /// Each state with where it was come from: a position here, and the label and origin of the step.
    found: Vec<(u32, u32, u32, OriginId)>,
    seen: FxHashSet<u32>,
    start: usize,
    count_silent: bool,
    /// How many steps the last layer is away.
    pub steps: u32,
}

impl Layers {
    /// The first layer: the states themselves, and what silent steps lead to where they do not count.
    pub fn new(space: &mut Space<'_>, roots: &[u32], count_silent: bool) -> Result<Self, ModelError> {
        let found: Vec<(u32, u32, u32, OriginId)> =
            roots.iter().map(|&root| (root, NONE, 0, model::Provenance::NONE)).collect();
        let seen = roots.iter().copied().collect();
        let mut layers = Self { found, seen, start: 0, count_silent, steps: 0 };
        layers.close(space, 0)?;
        Ok(layers)
    }

    fn close(&mut self, space: &mut Space<'_>, from: usize) -> Result<(), ModelError> {
        let mut at = from;
        while !self.count_silent && at < self.found.len() {
            for step in space.steps(self.found[at].0)?.iter().filter(|step| step.label == 0) {
                if self.seen.insert(step.target) {
                    self.found.push((step.target, at as u32, step.label, step.origin));
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Adds the states that are one step further away; whether there are any.
    pub fn grow(&mut self, space: &mut Space<'_>) -> Result<bool, ModelError> {
        let (start, end) = (self.start, self.found.len());
        for at in start..end {
            for step in
                space.steps(self.found[at].0)?.iter().filter(|step| self.count_silent || step.label != 0)
            {
                if self.seen.insert(step.target) {
                    self.found.push((step.target, at as u32, step.label, step.origin));
                }
            }
            if self.found.len() > MOST_BETWEEN {
                break;
            }
        }
        self.start = end;
        self.steps += 1;
        self.close(space, end)?;
        Ok(self.found.len() > end)
    }

    /// The states of the last layer.
    pub fn last(&self) -> Vec<u32> {
        self.found[self.start..].iter().map(|found| found.0).collect()
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// The states that are at most so many steps away.
    pub fn within(&self, steps: u32) -> Vec<u32> {
        let away = |mut at: usize| {
            let mut steps = 0;
            while self.found[at].1 != NONE {
                steps += u32::from(self.count_silent || self.found[at].2 != 0);
                at = self.found[at].1 as usize;
            }
            steps
        };
        let near = (0..self.found.len().min(1_000)).filter(|&at| away(at) <= steps);
        near.map(|at| self.found[at].0).collect()
    }

    /// Whether a state was found.
    pub fn contains(&self, state: u32) -> bool {
        self.seen.contains(&state)
    }

    /// The first steps that lead to a state: labels and origins.
    pub fn path(&self, state: u32) -> Vec<(u32, OriginId)> {
        self.way(state).map_or_else(Vec::new, |(_, path)| path)
    }

    /// The same with the state that they begin with; nothing where the state was not found.
    pub fn way(&self, state: u32) -> Option<(u32, Vec<(u32, OriginId)>)> {
        let mut at = self.found.iter().position(|found| found.0 == state)?;
        let mut path = Vec::new();
        while self.found[at].1 != NONE {
            path.push((self.found[at].2, self.found[at].3));
            at = self.found[at].1 as usize;
        }
        path.reverse();
        Some((self.found[at].0, path))
    }

    /// Adds the origins of the steps that lead to some states.
    fn add_origins(&self, targets: &[u32], origins: &mut FxHashSet<OriginId>) {
        for &target in targets {
            origins.extend(self.path(target).into_iter().map(|(_, origin)| origin));
        }
    }
}
