//! From a net whose tokens have values to a flat one.
//!
//! Only what could ever happen is unfolded: starting from the initial marking, a transition is bound to tokens that its
//! input places could have, and what it puts there may enable more. Rounds are semi-naive, as for Datalog: in each, one
//! of the tokens that a transition is bound to is new, those before it are old; so every binding is found once.

use rustc_hash::FxHashMap;
use source::Diagnostic;

use super::read::{Direction, Transition, Written, WrittenArc};
use super::sorts::{SortId, Sorts};
use super::terms::{Bag, Binding, Condition, Term};

/// How large a net may become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) transitions: usize,
    pub(super) places: usize,
    pub(super) arcs: usize,
    /// The most attempts to bind a variable.
    pub(super) attempts: u64,
}

/// The tokens that a place could have.
pub(super) struct Tokens {
    /// In the order in which they were found.
    pub(super) values: Vec<u64>,
    position: FxHashMap<u64, u32>,
    /// For products: the positions of values by factor and its value.
    by_factor: Vec<FxHashMap<u64, Vec<u32>>>,
    /// How many were known before this round, and when it began.
    old: usize,
    new: usize,
}

/// The ways to bind a transition.
pub(super) struct Plan<'w> {
    pub(super) transition: &'w Transition,
    /// The variables in it, in the order of their declaration.
    pub(super) variables: Vec<usize>,
    /// Patterns that must match tokens of places.
    slots: Vec<(usize, &'w Term)>,
    /// Arcs that need tokens that no pattern tells.
    others: Vec<&'w WrittenArc>,
    /// The values of the variables for each way that was found, one after the other.
    pub(super) found: Vec<u64>,
    /// How many ways those are.
    pub(super) count: usize,
    /// Ways whose other tokens are not there yet.
    waiting: Vec<Vec<Option<u64>>>,
}

/// The search for all bindings.
pub(super) struct Search<'w> {
    written: &'w Written,
    pub(super) tokens: Vec<Tokens>,
    pub(super) plans: Vec<Plan<'w>>,
    limits: Limits,
    attempts: u64,
    places: usize,
    transitions: usize,
    arcs: usize,
}

/// Too large: which limit, and what to blame.
type Stop = Box<Diagnostic>;

impl<'w> Search<'w> {
    pub(super) fn new(written: &'w Written, limits: Limits) -> Self {
        let sorts = &written.sorts;
        let tokens = written.places.iter().map(|place| Tokens {
            values: Vec::new(),
            position: FxHashMap::default(),
            by_factor: vec![FxHashMap::default(); sorts.factors(place.sort).len()],
            old: 0,
            new: 0,
        });
        Self {
            tokens: tokens.collect(),
            plans: written.transitions.iter().map(Plan::new).collect(),
            written,
            limits,
            attempts: 0,
            places: 0,
            transitions: 0,
            arcs: 0,
        }
    }

    /// Finds all tokens and bindings.
    pub(super) fn run(&mut self) -> Result<(), Stop> {
        let written = self.written;
        let nothing = vec![None; written.sorts.variables.len()];
        for (number, place) in written.places.iter().enumerate() {
            let marking = self.expand(&place.initial, place.sort, &nothing, place.span)?;
            for (value, _) in marking {
                self.add_token(number, value)?;
            }
        }
        let mut is_first = true;
        loop {
            for tokens in &mut self.tokens {
                (tokens.old, tokens.new) = (tokens.new, tokens.values.len());
            }
            let is_new = |tokens: &Tokens| tokens.old < tokens.new;
            if !is_first && !self.tokens.iter().any(is_new) {
                return Ok(());
            }
            for number in 0..self.plans.len() {
                self.round(number, is_first)?;
            }
            is_first = false;
        }
    }

    fn round(&mut self, number: usize, is_first: bool) -> Result<(), Stop> {
        for binding in std::mem::take(&mut self.plans[number].waiting) {
            self.complete(number, &binding)?;
        }
        let slots = self.plans[number].slots.clone();
        if slots.is_empty() && !is_first {
            return Ok(());
        }
        let mut binding = vec![None; self.written.sorts.variables.len()];
        if slots.is_empty() {
            return self.extend(number, &mut binding, &mut Vec::new());
        }
        for fresh in 0..slots.len() {
            if self.tokens[slots[fresh].0].old == self.tokens[slots[fresh].0].new {
                continue;
            }
            // The new token first: there are few.
            let mut open: Vec<Open<'w>> = Vec::with_capacity(slots.len());
            for (at, &(place, term)) in slots.iter().enumerate() {
                let tokens = &self.tokens[place];
                let range = match at.cmp(&fresh) {
                    std::cmp::Ordering::Less => 0..tokens.old,
                    std::cmp::Ordering::Equal => tokens.old..tokens.new,
                    std::cmp::Ordering::Greater => 0..tokens.new,
                };
                open.push((place, term, range));
            }
            let first = open.swap_remove(fresh);
            self.match_slot(number, first, &mut binding, &mut open)?;
        }
        Ok(())
    }

    /// Binds one slot to each token that it matches, then the others.
    fn match_slot(
        &mut self,
        number: usize,
        slot: Open<'w>,
        binding: &mut Binding,
        open: &mut Vec<Open<'w>>,
    ) -> Result<(), Stop> {
        let (place, term, range) = slot;
        let (sorts, sort) = (&self.written.sorts, self.written.places[place].sort);
        let positions = self.candidates(place, term, range.clone(), binding).map(<[u32]>::to_vec);
        let mut bound = Vec::new();
        let count = positions.as_ref().map_or(range.len(), Vec::len);
        for at in 0..count {
            let position = positions.as_ref().map_or(range.start + at, |positions| positions[at] as usize);
            self.attempt(number)?;
            let value = self.tokens[place].values[position];
            if term.bind(sorts, sort, value, binding, &mut bound) {
                self.extend(number, binding, open)?;
            }
            bound.drain(..).for_each(|variable: usize| binding[variable] = None);
        }
        Ok(())
    }

    /// The positions of tokens that a slot could match, ascending, where an index tells; all of the range otherwise.
    fn candidates(
        &self,
        place: usize,
        term: &Term,
        range: std::ops::Range<usize>,
        binding: &Binding,
    ) -> Option<&[u32]> {
        let (sorts, sort) = (&self.written.sorts, self.written.places[place].sort);
        let tokens = &self.tokens[place];
        let list = match (term.value(sorts, sort, binding), term) {
            (Some(value), _) => tokens.position.get(&value).map_or(&[][..], std::slice::from_ref),
            (None, Term::Tuple(parts)) => {
                let known = parts.iter().zip(sorts.factors(sort)).zip(&tokens.by_factor);
                known
                    .filter_map(|((part, &factor), index)| {
                        let value = part.value(sorts, factor, binding)?;
                        Some(index.get(&value).map_or(&[][..], |list| &list[..]))
                    })
                    .min_by_key(|list| list.len())?
            }
            _ => return None,
        };
        let start = list.partition_point(|&position| (position as usize) < range.start);
        let end = list.partition_point(|&position| (position as usize) < range.end);
        Some(&list[start..end])
    }

    /// Goes on with a binding of some variables: the rest of the slots, then variables that no token binds.
    fn extend(&mut self, number: usize, binding: &mut Binding, open: &mut Vec<Open<'w>>) -> Result<(), Stop> {
        let (sorts, plan) = (&self.written.sorts, &self.plans[number]);
        let guard = &plan.transition.guard;
        if guard.iter().any(|condition| condition.holds(sorts, binding) == Some(false)) {
            return Ok(());
        }
        // Slots that are bound already are tested here, without recursion.
        let mut settled = Vec::new();
        let mut fits = true;
        while let Some(at) = open.iter().position(|(place, term, _)| {
            term.value(sorts, self.written.places[*place].sort, binding).is_some()
        }) {
            let slot = open.swap_remove(at);
            let candidates = self.candidates(slot.0, slot.1, slot.2.clone(), binding);
            fits = candidates.is_some_and(|candidates| !candidates.is_empty());
            settled.push(slot);
            if !fits {
                break;
            }
        }
        if fits {
            self.attempt(number)?;
            // The slot with the fewest tokens to try.
            let next = (0..open.len()).min_by_key(|&at| {
                let (place, term, range) = &open[at];
                self.candidates(*place, term, range.clone(), binding).map_or(range.len(), <[u32]>::len)
            });
            match next {
                Some(next) => {
                    let slot = open.swap_remove(next);
                    self.match_slot(number, slot.clone(), binding, open)?;
                    open.push(slot);
                }
                None => self.free(number, binding, open)?,
            }
        }
        open.extend(settled);
        Ok(())
    }

    /// Gives a value to a variable that no token binds.
    fn free(&mut self, number: usize, binding: &mut Binding, open: &mut Vec<Open<'w>>) -> Result<(), Stop> {
        let plan = &self.plans[number];
        let sorts = &self.written.sorts;
        let free = || plan.variables.iter().copied().filter(|&variable| binding[variable].is_none());
        if free().next().is_none() {
            return self.complete(number, binding);
        }
        // An equation tells the value; otherwise the variable with the fewest values comes first.
        let equation = plan.transition.guard.iter().find_map(|condition| solved(sorts, condition, binding));
        if let Some((variable, value)) = equation {
            if let Some(value) = value {
                binding[variable] = Some(value);
                self.extend(number, binding, open)?;
                binding[variable] = None;
            }
            return Ok(());
        }
        let Some(variable) = free().min_by_key(|&variable| sorts.get(sorts.variables[variable]).size) else {
            return Ok(());
        };
        for value in 0..sorts.get(sorts.variables[variable]).size {
            self.attempt(number)?;
            binding[variable] = Some(value);
            self.extend(number, binding, open)?;
        }
        binding[variable] = None;
        Ok(())
    }

    /// All variables are bound, and the guard holds.
    fn complete(&mut self, number: usize, binding: &Binding) -> Result<(), Stop> {
        let written = self.written;
        for arc in self.plans[number].others.clone() {
            let needed = self.expand(&arc.bag, written.places[arc.place].sort, binding, arc.span)?;
            // Those that come later in this round count in the next one.
            if needed.iter().any(|(value, _)| !self.tokens[arc.place].position.contains_key(value)) {
                self.plans[number].waiting.push(binding.to_vec());
                return Ok(());
            }
        }
        let plan = &mut self.plans[number];
        plan.count += 1;
        self.transitions += 1;
        plan.found.extend(plan.variables.iter().map(|&variable| binding[variable].unwrap_or_default()));
        if self.transitions > self.limits.transitions {
            return Err(self.too_large(number, format!("more than {} transitions", self.limits.transitions)));
        }
        for arc in self.plans[number].transition.arcs.iter() {
            let values = self.expand(&arc.bag, written.places[arc.place].sort, binding, arc.span)?;
            self.arcs += values.len();
            if self.arcs > self.limits.arcs {
                return Err(self.too_large(number, format!("more than {} arcs", self.limits.arcs)));
            }
            if arc.kind == Direction::Put {
                values.into_iter().try_for_each(|(value, _)| self.add_token(arc.place, value))?;
            }
        }
        Ok(())
    }

    fn add_token(&mut self, place: usize, value: u64) -> Result<(), Stop> {
        let (sorts, sort) = (&self.written.sorts, self.written.places[place].sort);
        let tokens = &mut self.tokens[place];
        let position = tokens.values.len() as u32;
        if tokens.position.contains_key(&value) {
            return Ok(());
        }
        tokens.position.insert(value, position);
        tokens.values.push(value);
        let mut parts = Vec::new();
        sorts.split(sort, value, &mut parts);
        for (index, part) in tokens.by_factor.iter_mut().zip(parts) {
            index.entry(part).or_default().push(position);
        }
        self.places += 1;
        if self.places > self.limits.places {
            let place = &self.written.places[place];
            let error = Diagnostic::error("the unfolded net is too large").label(place.span, "at this place");
            let note = format!("it has more than {} places", self.limits.places);
            return Err(Box::new(error.note(note)));
        }
        Ok(())
    }

    fn attempt(&mut self, number: usize) -> Result<(), Stop> {
        self.attempts += 1;
        if self.attempts > self.limits.attempts {
            return Err(
                self.too_large(number, format!("more than {} ways to bind variables", self.limits.attempts))
            );
        }
        Ok(())
    }

    /// The tokens of a multiset under a binding, in ascending order.
    pub(super) fn expand(
        &self,
        bag: &Bag,
        sort: SortId,
        binding: &Binding,
        span: source::Span,
    ) -> Result<Vec<(u64, u32)>, Stop> {
        let sorts = &self.written.sorts;
        if let [(count, Term::Value(value))] = bag.terms[..] {
            return Ok(if count > 0 { vec![(value, count as u32)] } else { Vec::new() });
        }
        let mut all: Vec<(u64, i64)> = Vec::new();
        let mut values = Vec::new();
        for (count, term) in &bag.terms {
            if !term.values(sorts, sort, binding, self.limits.arcs, &mut values) {
                let error =
                    Diagnostic::error("the unfolded net is too large").label(span, "too many tokens here");
                let note = format!("`all` means more than {} values", self.limits.arcs);
                return Err(Box::new(error.note(note)));
            }
            all.extend(values.iter().map(|&value| (value, *count)));
        }
        all.sort_unstable();
        let mut tokens: Vec<(u64, u32)> = Vec::with_capacity(all.len());
        for group in all.chunk_by(|one, other| one.0 == other.0) {
            let count: i64 = group.iter().map(|(_, count)| count).sum();
            let Ok(count) = u32::try_from(count) else {
                let mut value = String::new();
                sorts.show(sort, group[0].0, &mut value);
                let message = format!("there would be {count} tokens {value} here");
                let error =
                    Diagnostic::error(message).label(span, "a number from 0 to 4294967295 was expected");
                return Err(Box::new(error));
            };
            if count > 0 {
                tokens.push((group[0].0, count));
            }
        }
        Ok(tokens)
    }

    #[cold]
    fn too_large(&self, number: usize, what: String) -> Stop {
        let plan = &self.plans[number];
        let sorts = &self.written.sorts;
        let sizes = plan.variables.iter().map(|&variable| sorts.get(sorts.variables[variable]).size);
        let all = sizes.fold(1u128, |all, size| all.saturating_mul(u128::from(size)));
        let plural = if plan.count == 1 { "copy" } else { "copies" };
        let error = Diagnostic::error("the unfolded net is too large")
            .label(plan.transition.span, format!("{} {plural} of this transition so far", plan.count))
            .note(format!("it has {what}"))
            .note(format!("the variables of this transition have {all} combinations of values"));
        Box::new(error)
    }
}

/// A slot that is not matched yet: its place, its pattern, and the positions of the tokens it may match.
type Open<'w> = (usize, &'w Term, std::ops::Range<usize>);

impl<'w> Plan<'w> {
    fn new(transition: &'w Transition) -> Self {
        let (mut variables, mut slots, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for arc in &transition.arcs {
            arc.bag.terms.iter().for_each(|(_, term)| term.variables(&mut variables));
            if !matches!(arc.kind, Direction::Take | Direction::Read) {
                continue;
            }
            let is_pattern = |&(count, ref term): &(i64, Term)| count > 0 && term.is_pattern();
            if arc.bag.terms.iter().all(is_pattern) {
                slots.extend(arc.bag.terms.iter().map(|(_, term)| (arc.place, term)));
            } else {
                others.push(arc);
            }
        }
        transition.guard.iter().for_each(|condition| condition.variables(&mut variables));
        variables.sort_unstable();
        variables.dedup();
        Self { transition, variables, slots, others, found: Vec::new(), count: 0, waiting: Vec::new() }
    }

    /// The bindings in ascending order, as slices of the values of the variables.
    pub(super) fn bindings(&self) -> Vec<&[u64]> {
        let width = self.variables.len();
        if width == 0 {
            return vec![&[]; self.count];
        }
        let mut all: Vec<&[u64]> = self.found.chunks(width).collect();
        all.sort_unstable();
        all
    }
}

/// The variable whose value an equation tells, given the others; no value where no value satisfies it.
fn solved(sorts: &Sorts, condition: &Condition, binding: &Binding) -> Option<(usize, Option<u64>)> {
    let Condition::Compare { left, right, holds: [false, true, false] } = condition else { return None };
    for (one, other) in [(left, right), (right, left)] {
        if let Term::Variable(variable) = one.0
            && binding[variable].is_none()
            && let Some(value) = other.0.value(sorts, other.1, binding)
        {
            return Some((variable, sorts.convert(other.1, value, one.1)));
        }
    }
    None
}
