//! The firing rule of one transition, with the arcs of each place added up.

use crate::flat::{ArcKind, Flat, FlatTransition};

/// What a transition needs of one place, and does to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) place: usize,
    /// Tokens taken.
    pub(crate) take: u64,
    /// Tokens that must be there besides those taken.
    pub(crate) read: u64,
    /// There must be fewer tokens than this.
    pub(crate) below: Option<u64>,
    /// Whether the place is emptied before anything is put there.
    pub(crate) reset: bool,
    /// Tokens put.
    pub(crate) put: u64,
    /// Whether the place holds at most one token.
    pub(crate) is_set: bool,
}

impl Effect {
    /// How many tokens must be there.
    pub(crate) fn need(&self) -> u64 {
        self.take.saturating_add(self.read)
    }

    /// Whether the transition may fire, as far as this place goes.
    #[inline]
    pub(crate) fn allows(&self, tokens: u64) -> bool {
        tokens >= self.need() && self.below.is_none_or(|below| tokens < below)
    }

    /// The tokens after firing in a marking that allows it.
    #[inline]
    pub(crate) fn after(&self, tokens: u64) -> u64 {
        let kept = if self.reset { 0 } else { tokens - self.take };
        let after = kept.saturating_add(self.put);
        if self.is_set { after.min(1) } else { after }
    }

    /// The most that firing adds to the place: resets and sets may add less, never more.
    pub(crate) fn change(&self) -> i64 {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        signed(self.put).saturating_sub(signed(self.take))
    }
}

/// A transition, by place in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) effects: Vec<Effect>,
}

impl Rule {
    /// The rules of all transitions of a net.
    pub(crate) fn all(flat: &Flat) -> Vec<Rule> {
        flat.transitions.iter().map(|transition| Rule::of(flat, transition)).collect()
    }

    fn of(flat: &Flat, transition: &FlatTransition) -> Rule {
        let mut arcs = transition.arcs.clone();
        arcs.sort_by_key(|arc| arc.place);
        let mut effects: Vec<Effect> = Vec::with_capacity(arcs.len());
        for arc in arcs {
            if effects.last().is_none_or(|last| last.place != arc.place) {
                let is_set = flat.places[arc.place].is_set;
                effects.push(Effect { place: arc.place, is_set, ..Effect::default() });
            }
            let effect = effects.last_mut().expect("there is one for this place");
            match arc.kind {
                ArcKind::Take(count) => effect.take += u64::from(count),
                ArcKind::Read(count) => effect.read += u64::from(count),
                ArcKind::Inhibit(count) => {
                    let count = u64::from(count);
                    effect.below = Some(effect.below.map_or(count, |below| below.min(count)));
                }
                ArcKind::Reset => effect.reset = true,
                ArcKind::Put(count) => effect.put += u64::from(count),
            }
        }
        Rule { effects }
    }

    /// Whether the transition is enabled in a marking.
    pub(crate) fn is_enabled(&self, marking: &[u32]) -> bool {
        self.effects.iter().all(|effect| effect.allows(u64::from(marking[effect.place])))
    }

    /// The marking after the transition fires in one that enables it; a place that would have too many tokens is an
    /// error.
    pub(crate) fn fire(&self, marking: &[u32], after: &mut [u32]) -> Result<(), usize> {
        after.copy_from_slice(marking);
        for effect in &self.effects {
            let tokens = effect.after(u64::from(marking[effect.place]));
            after[effect.place] = u32::try_from(tokens).map_err(|_| effect.place)?;
        }
        Ok(())
    }
}
