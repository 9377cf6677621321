//! Transitions on packed markings: tested and fired a word at a time.
//!
//! A field holds values up to its mask, so a word is the sum of its fields shifted into place. As long as every field
//! stays within its bits, which proven bounds guarantee, firing adds one constant to each word that it touches.
//! Comparing all fields of a word with constants takes one subtraction (Lamport 1975): with the highest bit of each field
//! set, no field borrows from the next one.

use lts::{LabelId, OriginId};
use model::{Layout, ModelError, PackedWorker, Step};

use super::FlatModel;
use super::rule::{Effect, Rule};

/// From this many transitions on, those worth testing are looked up by the places that have tokens.
const FEW: usize = 48;

/// Compares fields of one word with constants.
#[derive(Clone, Copy, Debug)]
struct Guard {
    word: u32,
    /// The highest bit of each field that is compared.
    high: u32,
    /// The constants.
    value: u32,
    /// The highest bits of fields that must be at least their constant; the others must be less.
    wanted: u32,
}

impl Guard {
    #[inline(always)]
    fn holds(self, word: u32) -> bool {
        let rest = (word | self.high).wrapping_sub(self.value & !self.high);
        let at_least = (word & !self.value) | (!(word ^ self.value) & rest);
        at_least & self.high == self.wanted
    }
}

/// Changes one word.
#[derive(Clone, Copy, Debug)]
struct Change {
    word: u32,
    /// The fields that are not emptied.
    keep: u32,
    add: u32,
    /// The fields of sets that get their token.
    set: u32,
    /// The place to blame where the word may overflow, and the most that it may be.
    place: u32,
    most: i64,
}

struct PackedRule {
    number: u32,
    label: LabelId,
    origin: OriginId,
    guards: (u32, u32),
    changes: (u32, u32),
}

/// The transitions of a net, for packed markings.
pub(super) struct Words {
    /// Those that could ever be enabled within the bounds, with ranges of the two lists below.
    rules: Vec<PackedRule>,
    guards: Vec<Guard>,
    changes: Vec<Change>,
    triggers: Option<Triggers>,
}

/// Which transitions are worth testing when a place has tokens: each is listed at one of the places it needs.
struct Triggers {
    /// The rules of each bit that is the highest of a field; a range of `listed` for each bit of each word.
    by_bit: Vec<(u32, u32)>,
    listed: Vec<u32>,
    /// The rules that need no tokens.
    always: Vec<u32>,
    /// The highest bits of the fields of a word that lead to rules, and all their other bits.
    fields: Vec<(u32, u32)>,
}

impl Words {
    pub(super) fn new(rules: &[Rule], layout: &Layout) -> Self {
        let mut words = Words { rules: Vec::new(), guards: Vec::new(), changes: Vec::new(), triggers: None };
        let mut kept = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            let (guards, changes) = (words.guards.len() as u32, words.changes.len() as u32);
            if !words.add_guards(rule, layout) {
                words.guards.truncate(guards as usize);
                continue;
            }
            words.add_changes(rule, layout);
            words.rules.push(PackedRule {
                number: number as u32,
                label: LabelId::TAU,
                origin: OriginId::ZERO,
                guards: (guards, words.guards.len() as u32),
                changes: (changes, words.changes.len() as u32),
            });
            kept.push(rule);
        }
        if kept.len() > FEW {
            words.triggers = Some(Triggers::new(&kept, layout));
        }
        words
    }

    /// Says which labels and origins the transitions have.
    pub(super) fn name(&mut self, label: impl Fn(usize) -> LabelId, origin: &[OriginId]) {
        for rule in &mut self.rules {
            rule.label = label(rule.number as usize);
            rule.origin = origin[rule.number as usize];
        }
    }

    /// Whether the transition could be enabled at all.
    fn add_guards(&mut self, rule: &Rule, layout: &Layout) -> bool {
        let first = self.guards.len();
        for effect in &rule.effects {
            let (_, _, mask) = layout.place(effect.place);
            if effect.need() > u64::from(mask) || effect.below == Some(0) {
                return false;
            }
            if effect.need() > 0 {
                self.add_guard(first, effect, layout, effect.need() as u32, true);
            }
            if let Some(below) = effect.below.filter(|&below| below <= u64::from(mask)) {
                self.add_guard(first, effect, layout, below as u32, false);
            }
        }
        true
    }

    fn add_guard(&mut self, first: usize, effect: &Effect, layout: &Layout, value: u32, wanted: bool) {
        let (word, shift, mask) = layout.place(effect.place);
        let high = (mask ^ (mask >> 1)) << shift;
        let at = self.guards[first..].iter().position(|guard| guard.word == word && guard.high & high == 0);
        let guard = match at {
            Some(at) => &mut self.guards[first + at],
            None => {
                self.guards.push(Guard { word, high: 0, value: 0, wanted: 0 });
                self.guards.last_mut().expect("one was added")
            }
        };
        guard.high |= high;
        guard.value |= value << shift;
        if wanted {
            guard.wanted |= high;
        }
    }

    fn add_changes(&mut self, rule: &Rule, layout: &Layout) {
        let first = self.changes.len();
        for effect in &rule.effects {
            let (word, shift, mask) = layout.place(effect.place);
            if mask == 0 || (effect.take == effect.put && !effect.reset && !effect.is_set) {
                continue;
            }
            if effect.take == 0 && effect.put == 0 && !effect.reset {
                continue;
            }
            let at = self.changes[first..].iter().position(|change| change.word == word);
            let change = match at {
                Some(at) => &mut self.changes[first + at],
                None => {
                    let change = Change {
                        word,
                        keep: u32::MAX,
                        add: 0,
                        set: 0,
                        place: effect.place as u32,
                        most: i64::MAX,
                    };
                    self.changes.push(change);
                    self.changes.last_mut().expect("one was added")
                }
            };
            let empties = effect.reset || (effect.is_set && effect.take > 0);
            if empties {
                change.keep &= !(mask << shift);
            }
            if effect.is_set {
                change.set |= if effect.put > 0 { mask << shift } else { 0 };
                continue;
            }
            let added = if effect.reset { effect.put as i64 } else { effect.change() };
            change.add = change.add.wrapping_add((added as u32).wrapping_shl(shift));
            if mask == u32::MAX {
                // Alone in its word.
                change.most = i64::from(u32::MAX).saturating_sub(added);
                change.place = effect.place as u32;
            }
        }
    }
}

impl Triggers {
    fn new(rules: &[&Rule], layout: &Layout) -> Self {
        let mut uses = vec![0u32; layout.width()];
        for effect in rules.iter().flat_map(|rule| &rule.effects).filter(|effect| effect.need() > 0) {
            uses[effect.place] += 1;
        }
        let mut at_bit: Vec<Vec<u32>> = vec![Vec::new(); layout.words() * 32];
        let mut always = Vec::new();
        let mut fields = vec![(0, 0); layout.words()];
        for (number, rule) in rules.iter().enumerate() {
            let needed = rule.effects.iter().filter(|effect| effect.need() > 0);
            // A place of few tokens that few transitions need is marked less often, and tells more.
            let Some(rarest) = needed.min_by_key(|effect| (layout.place(effect.place).2, uses[effect.place]))
            else {
                always.push(number as u32);
                continue;
            };
            let (word, shift, mask) = layout.place(rarest.place);
            let high = (mask ^ (mask >> 1)) << shift;
            at_bit[word as usize * 32 + high.trailing_zeros() as usize].push(number as u32);
            fields[word as usize].0 |= high;
            fields[word as usize].1 |= (mask << shift) & !high;
        }
        let mut listed = Vec::new();
        let by_bit = at_bit
            .into_iter()
            .map(|rules| {
                let start = listed.len() as u32;
                listed.extend(rules);
                (start, listed.len() as u32)
            })
            .collect();
        Self { by_bit, listed, always, fields }
    }

    /// Sets the bits of the rules worth testing.
    #[inline]
    fn collect(&self, packed: &[u32], candidates: &mut [u64]) {
        candidates.fill(0);
        let mut note = |rule: u32| candidates[rule as usize / 64] |= 1 << (rule % 64);
        self.always.iter().for_each(|&rule| note(rule));
        for (at, (&word, &(high, low))) in packed.iter().zip(&self.fields).enumerate() {
            // The highest bit of each field that is not zero.
            let mut marked = (((word & low) + low) | word) & high;
            while marked != 0 {
                let (start, end) = self.by_bit[at * 32 + marked.trailing_zeros() as usize];
                self.listed[start as usize..end as usize].iter().for_each(|&rule| note(rule));
                marked &= marked - 1;
            }
        }
    }
}

/// One transition at a time, word by word.
pub(super) struct Packed<'m> {
    model: &'m FlatModel,
    /// The marking, but for the words that a step has changed.
    target: Vec<u32>,
    candidates: Vec<u64>,
}

impl<'m> Packed<'m> {
    pub(super) fn new(model: &'m FlatModel) -> Self {
        let candidates = vec![0; model.words.rules.len().div_ceil(64)];
        Self { model, target: vec![0; model.layout.words()], candidates }
    }

    #[inline(always)]
    fn try_rule(
        &mut self,
        rule: &PackedRule,
        packed: &[u32],
        emit: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), ModelError> {
        let words = &self.model.words;
        for guard in &words.guards[rule.guards.0 as usize..rule.guards.1 as usize] {
            if !guard.holds(packed[guard.word as usize]) {
                return Ok(());
            }
        }
        let changes = &words.changes[rule.changes.0 as usize..rule.changes.1 as usize];
        for change in changes {
            let kept = packed[change.word as usize] & change.keep;
            if i64::from(kept) > change.most {
                return Err(self.model.too_many(change.place as usize, rule.label));
            }
            self.target[change.word as usize] = kept.wrapping_add(change.add) | change.set;
        }
        emit(Step { label: rule.label, target: &self.target, origin: rule.origin });
        for change in changes {
            self.target[change.word as usize] = packed[change.word as usize];
        }
        Ok(())
    }
}

impl PackedWorker for Packed<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let words = &self.model.words;
        self.target.copy_from_slice(packed);
        let Some(triggers) = &words.triggers else {
            return words.rules.iter().try_for_each(|rule| self.try_rule(rule, packed, emit));
        };
        triggers.collect(packed, &mut self.candidates);
        for at in 0..self.candidates.len() {
            let mut bits = self.candidates[at];
            while bits != 0 {
                self.try_rule(&words.rules[at * 64 + bits.trailing_zeros() as usize], packed, emit)?;
                bits &= bits - 1;
            }
        }
        Ok(())
    }
}
