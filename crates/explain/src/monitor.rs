//! The property as a deterministic automaton that watches a run.
//!
//! Subset construction over classes of labels that the property can't tell apart, then minimisation by refining a
//! partition until it is stable (Moore, 1956): `O(c n²)` in the worst case for `n` states and `c` classes, both small
//! in practice.

use logic::Automaton;
use lts::{LabelId, Labels, RowSet, Stopped};
use rustc_hash::FxHashMap;

/// No state: whatever happens from here on, this automaton has nothing to say about it.
pub(crate) const DEAD: u32 = u32::MAX;

/// What makes a run violate the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Reaching a violated state.
    Reach,
    /// Coming to a point from which on something is owed for ever: on an endless run, or where there is no way on.
    Owe,
}

/// A deterministic automaton over the labels of a system. The initial state is 0.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    pub goal: Goal,
    /// The class of each label.
    classes: Vec<u32>,
    class_count: usize,
    /// `[state * class_count + class]`
    next: Vec<u32>,
    /// Whether the violation is complete, or something is owed: as the goal says.
    bad: Vec<bool>,
    /// By state: sets of classes; the run violates where the system offers nothing of one of them.
    refusals: Vec<Vec<Vec<bool>>>,
    /// The state after a violation, where all that follows counts as violating.
    lost: Option<u32>,
}

impl Monitor {
    /// Watches for the runs of a nondeterministic automaton. What violates a property goes on violating it, so every
    /// continuation of such a run counts too, whether or not the formula ends with `true*`.
    pub fn violation(automaton: &Automaton, labels: &Labels, most_states: usize) -> Result<Self, Stopped> {
        let columns = Columns::new(automaton, labels, &vec![false; labels.len()]);
        let mut subsets = RowSet::default();
        subsets.insert(&[0]);
        // The one state after a violation stands for no subset at all.
        let lost_subset = [u32::MAX];
        let mut monitor = Self {
            goal: Goal::Reach,
            classes: columns.classes.clone(),
            class_count: columns.count,
            next: Vec::new(),
            bad: Vec::new(),
            refusals: Vec::new(),
            lost: None,
        };
        let ends = |subset: &[u32]| subset.iter().any(|&state| automaton.is_accepting(state as usize));
        let mut at = 0;
        while at < subsets.len() {
            if subsets.len() > most_states {
                return Err(Stopped::TooManyStates(most_states));
            }
            let subset = subsets.row(at).to_vec();
            let lost = subset == lost_subset || ends(&subset);
            let mut refusals: Vec<Vec<bool>> = match lost {
                true => Vec::new(),
                false => subset.iter().flat_map(|&state| columns.refusals[state as usize].clone()).collect(),
            };
            refusals.sort();
            refusals.dedup();
            if !refusals.is_empty() {
                subsets.insert(&lost_subset);
            }
            for class in 0..columns.count {
                let mut target: Vec<u32> = match lost {
                    true => lost_subset.to_vec(),
                    false => subset
                        .iter()
                        .flat_map(|&state| columns.moves[state as usize][class].clone())
                        .collect(),
                };
                target.sort_unstable();
                target.dedup();
                if !lost && ends(&target) {
                    target = lost_subset.to_vec();
                }
                monitor.next.push(if target.is_empty() { DEAD } else { subsets.insert(&target).0 as u32 });
            }
            monitor.bad.push(lost);
            monitor.refusals.push(refusals);
            at += 1;
        }
        monitor.lost = subsets.find(&lost_subset).map(|state| state as u32);
        monitor.trim();
        Ok(monitor.minimise())
    }

    /// Watches for labels of these sets, one after the other: state `n` has seen the first `n` of them, and the
    /// automaton is left with the last.
    pub fn progress(masks: &[Vec<bool>], labels: &Labels) -> Self {
        let mut numbers: FxHashMap<Vec<bool>, u32> = FxHashMap::default();
        let mut classes = Vec::with_capacity(labels.len());
        for label in 0..labels.len() {
            let column: Vec<bool> = masks.iter().map(|mask| mask[label]).collect();
            let fresh = numbers.len() as u32;
            classes.push(*numbers.entry(column).or_insert(fresh));
        }
        let class_count = numbers.len();
        let mut next = vec![DEAD; masks.len() * class_count];
        for (column, class) in numbers {
            for (state, &matches) in column.iter().enumerate() {
                let target = if matches { state + 1 } else { state };
                if target < masks.len() {
                    next[state * class_count + class as usize] = target as u32;
                }
            }
        }
        Self {
            goal: Goal::Owe,
            classes,
            class_count,
            next,
            bad: vec![true; masks.len()],
            refusals: vec![Vec::new(); masks.len()],
            lost: None,
        }
    }

    /// Watches for a label of a set after each run of an automaton: it is owed from the end of such a run on.
    pub fn response(
        automaton: &Automaton,
        mask: &[bool],
        labels: &Labels,
        most_states: usize,
    ) -> Result<Self, Stopped> {
        let columns = Columns::new(automaton, labels, mask);
        let ends = |subset: &[u32]| subset.iter().any(|&state| automaton.is_accepting(state as usize));
        let mut monitor = Self {
            goal: Goal::Owe,
            classes: columns.classes.clone(),
            class_count: columns.count,
            next: Vec::new(),
            bad: Vec::new(),
            refusals: Vec::new(),
            lost: None,
        };
        // A state is whether something is owed, then where the automaton may be.
        let mut states = RowSet::default();
        states.insert(&[u32::from(ends(&[0])), 0]);
        let mut at = 0;
        while at < states.len() {
            if states.len() > most_states {
                return Err(Stopped::TooManyStates(most_states));
            }
            let state = states.row(at).to_vec();
            for class in 0..columns.count {
                let moves = state[1..].iter().flat_map(|&from| columns.moves[from as usize][class].clone());
                let mut next: Vec<u32> = moves.collect();
                next.sort_unstable();
                next.dedup();
                let owed = ends(&next) || (state[0] == 1 && !columns.masked[class]);
                next.insert(0, u32::from(owed));
                let over = !owed && next.len() == 1;
                monitor.next.push(if over { DEAD } else { states.insert(&next).0 as u32 });
            }
            monitor.bad.push(state[0] == 1);
            monitor.refusals.push(Vec::new());
            at += 1;
        }
        monitor.trim();
        Ok(monitor.minimise())
    }

    pub fn state_count(&self) -> usize {
        self.bad.len()
    }

    /// Where each label leads from a state, as one row of the table.
    #[inline]
    pub fn row(&self, state: u32) -> &[u32] {
        let start = state as usize * self.class_count;
        &self.next[start..start + self.class_count]
    }

    #[inline]
    pub fn class(&self, label: LabelId) -> usize {
        self.classes[label.index()] as usize
    }

    /// Whether a run that comes to this state, where the system offers these labels, violates the property, or owes
    /// something: as the goal says.
    pub fn is_bad(&self, state: u32, offered: impl Iterator<Item = LabelId> + Clone) -> bool {
        self.bad[state as usize]
            || self.refusals[state as usize]
                .iter()
                .any(|refused| !offered.clone().any(|label| refused[self.class(label)]))
    }

    /// The state that follows a violation, where it is not the table that says.
    pub fn lost(&self) -> Option<u32> {
        self.lost
    }

    /// Makes all states dead that no violation follows.
    fn trim(&mut self) {
        let mut alive: Vec<bool> =
            (0..self.state_count()).map(|s| self.bad[s] || !self.refusals[s].is_empty()).collect();
        loop {
            let mut changed = false;
            for state in 0..self.state_count() {
                if !alive[state]
                    && self.row(state as u32).iter().any(|&next| next != DEAD && alive[next as usize])
                {
                    alive[state] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for next in &mut self.next {
            if *next != DEAD && !alive[*next as usize] {
                *next = DEAD;
            }
        }
    }

    fn minimise(self) -> Self {
        let states = self.state_count();
        let mut block: Vec<u32> = number((0..states).map(|state| (self.bad[state], &self.refusals[state])));
        let mut count = block.iter().max().map_or(0, |&most| most + 1);
        loop {
            let of = |state: u32| if state == DEAD { DEAD } else { block[state as usize] };
            let refined: Vec<u32> = number((0..states).map(|state| {
                let row: Vec<u32> = self.row(state as u32).iter().map(|&next| of(next)).collect();
                (block[state], row)
            }));
            let refined_count = refined.iter().max().map_or(0, |&most| most + 1);
            block = refined;
            if refined_count == count {
                break;
            }
            count = refined_count;
        }
        let mut first = vec![usize::MAX; count as usize];
        for state in (0..states).rev() {
            first[block[state] as usize] = state;
        }
        let of = |state: u32| if state == DEAD { DEAD } else { block[state as usize] };
        Self {
            goal: self.goal,
            next: first
                .iter()
                .flat_map(|&state| self.row(state as u32).iter().map(|&next| of(next)))
                .collect(),
            bad: first.iter().map(|&state| self.bad[state]).collect(),
            refusals: first.iter().map(|&state| self.refusals[state].clone()).collect(),
            lost: self.lost.map(|state| block[state as usize]),
            classes: self.classes,
            class_count: self.class_count,
        }
    }
}

/// Numbers equal things alike, in the order in which they first come; the first gets 0.
fn number<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers: FxHashMap<K, u32> = FxHashMap::default();
    keys.map(|key| {
        let fresh = numbers.len() as u32;
        *numbers.entry(key).or_insert(fresh)
    })
    .collect()
}

/// The moves of a nondeterministic automaton by classes of labels that it treats alike.
struct Columns {
    classes: Vec<u32>,
    count: usize,
    /// `[state][class]`
    moves: Vec<Vec<Vec<u32>>>,
    /// By state: sets of classes.
    refusals: Vec<Vec<Vec<bool>>>,
    /// Which classes are in a set of labels that is to be told from the others.
    masked: Vec<bool>,
}

impl Columns {
    fn new(automaton: &Automaton, labels: &Labels, mask: &[bool]) -> Self {
        let table = automaton.table(labels);
        let masks = automaton.refusals(labels);
        let classes = number((0..labels.len()).map(|label| {
            let moves: Vec<&[usize]> = table.iter().map(|row| row[label].as_slice()).collect();
            let refused: Vec<bool> = masks.iter().flatten().map(|mask| mask[label]).collect();
            (moves, refused, mask[label])
        }));
        let count = classes.iter().max().map_or(0, |&most| most as usize + 1);
        let mut sample = vec![0; count];
        for (label, &class) in classes.iter().enumerate() {
            sample[class as usize] = label;
        }
        let narrow = |targets: &Vec<usize>| targets.iter().map(|&target| target as u32).collect();
        Self {
            moves: table
                .iter()
                .map(|row| sample.iter().map(|&label| narrow(&row[label])).collect())
                .collect(),
            refusals: masks
                .iter()
                .map(|sets| sets.iter().map(|set| sample.iter().map(|&label| set[label]).collect()).collect())
                .collect(),
            masked: sample.iter().map(|&label| mask[label]).collect(),
            classes,
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor(text: &str, labels: &[&str]) -> Monitor {
        let mut sources = source::Sources::new();
        let loaded = logic::load_text("p.mcl", text, &mut sources).unwrap();
        let mut table = Labels::new();
        for label in labels {
            table.intern(label);
        }
        let automaton = logic::safety_violation(&loaded.properties[0].formula).unwrap();
        Monitor::violation(&automaton, &table, 1000).unwrap()
    }

    #[test]
    fn continuations_of_a_violation_violate() {
        // Waiting for LOSS, lost.
        let closed = monitor(r#"[ true* . "LOSS" ] false"#, &["LOSS", "X"]);
        assert_eq!(closed.state_count(), 2);
        assert_eq!(closed.lost(), Some(1));
        assert_eq!(closed.row(1)[closed.class(LabelId::new(2))], 1);
        // The same with the continuation written down.
        let written = monitor(r#"[ true* . "LOSS" . true* ] false"#, &["LOSS", "X"]);
        assert_eq!(written.next, closed.next);
    }

    #[test]
    fn what_no_violation_follows_is_dead() {
        let monitor = monitor(r#"[ (not "PRODUCE")* . "CONSUME" ] false"#, &["PRODUCE", "CONSUME"]);
        assert_eq!(monitor.row(0)[monitor.class(LabelId::new(1))], DEAD);
    }

    #[test]
    fn deadlocks_are_refusals_of_everything() {
        let monitor = monitor("[ true* ] < true > true", &["A"]);
        assert!(monitor.is_bad(0, std::iter::empty()));
        assert!(!monitor.is_bad(0, std::iter::once(LabelId::new(1))));
        assert!(monitor.lost().is_some());
    }

    #[test]
    fn progress_counts_labels_in_order() {
        let mut labels = Labels::new();
        let (a, b) = (labels.intern("A"), labels.intern("B"));
        let monitor = Monitor::progress(&[vec![false, true, false], vec![false, false, true]], &labels);
        assert_eq!(monitor.row(0)[monitor.class(b)], 0);
        assert_eq!(monitor.row(0)[monitor.class(a)], 1);
        assert_eq!(monitor.row(1)[monitor.class(a)], 1);
        assert_eq!(monitor.row(1)[monitor.class(b)], DEAD);
    }
}
