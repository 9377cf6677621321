//! Seeded random systems, for tests and benchmarks: the same seed gives the same system on every machine.

use std::fmt;
use std::str::FromStr;

use crate::builder::{LtsBuilder, TooLarge};
use crate::ids::{LabelId, StateId};
use crate::lts::Lts;

/// What a random system should look like.
#[derive(Clone, Debug)]
pub struct RandomSystem {
    /// How many states.
    pub states: usize,
    /// How many transitions are drawn; equal ones are merged.
    pub transitions: usize,
    /// How many visible labels, named `a0`, `a1` ….
    pub labels: usize,
    /// The share of internal transitions, from 0 to 1.
    pub internal: f64,
    /// How the transitions lie.
    pub shape: Shape,
    /// Where chance starts.
    pub seed: u64,
}

/// How the transitions of a random system lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// From any state to any state.
    Uniform,
    /// As uniform, but first a tree that makes every state reachable.
    Connected,
    /// Every state reachable, transitions lead a short way forward or back: long runs, many components.
    Layered,
    /// A tree, the internal share of its edges included; `transitions` is ignored.
    Tree,
}

impl Shape {
    /// All shapes with their names.
    pub const ALL: [(Shape, &'static str); 4] = [
        (Shape::Uniform, "uniform"),
        (Shape::Connected, "connected"),
        (Shape::Layered, "layered"),
        (Shape::Tree, "tree"),
    ];
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(shape, _)| shape == self).map_or("", |(_, name)| name);
        out.write_str(name)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .find(|(_, name)| *name == text)
            .map(|&(shape, _)| shape)
            .ok_or_else(|| format!("unknown shape `{text}`"))
    }
}

impl RandomSystem {
    /// Draws the system.
    ///
    /// ```
    /// use lts::{RandomSystem, Shape};
    /// let spec = RandomSystem {
    ///     states: 100, transitions: 300, labels: 4, internal: 0.25, shape: Shape::Connected, seed: 1,
    /// };
    /// let lts = spec.draw()?;
    /// assert_eq!(lts.state_count(), 100);
    /// assert_eq!(lts.reachable().state_count(), 100);
    /// # Ok::<(), lts::TooLarge>(())
    /// ```
    pub fn draw(&self) -> Result<Lts, TooLarge> {
        if self.states > u32::MAX as usize || self.transitions >= u32::MAX as usize {
            return Err(TooLarge("states or transitions"));
        }
        let mut chance = Chance::new(self.seed);
        let mut builder = LtsBuilder::new();
        let states = self.states.max(1);
        builder.reserve_states(states);
        let labels: Vec<LabelId> = (0..self.labels).map(|n| builder.label(&format!("a{n}"))).collect();
        let mut add = |chance: &mut Chance, source: usize, target: usize| {
            let internal = labels.is_empty() || chance.share() < self.internal;
            let label = if internal { LabelId::TAU } else { labels[chance.below(labels.len())] };
            builder.add(StateId::new(source), label, StateId::new(target));
        };
        let mut left = self.transitions;
        if self.shape != Shape::Uniform {
            for state in 1..states {
                let parent = match self.shape {
                    Shape::Layered => state - 1 - chance.below(state.min(8)),
                    _ => chance.below(state),
                };
                add(&mut chance, parent, state);
            }
            left = left.saturating_sub(states - 1);
        }
        if self.shape != Shape::Tree {
            for _ in 0..left {
                let source = chance.below(states);
                let target = match self.shape {
                    Shape::Layered => (source + chance.below(16)).saturating_sub(4).min(states - 1),
                    _ => chance.below(states),
                };
                add(&mut chance, source, target);
            }
        }
        builder.finish()
    }
}

/// Numbers that look random, the same for the same seed: SplitMix64 (Steele, Lea, Flood 2014).
///
/// ```
/// let (mut one, mut other) = (lts::Chance::new(7), lts::Chance::new(7));
/// assert_eq!(one.draw(), other.draw());
/// assert!(one.below(3) < 3 && one.share() < 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Starts with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to just below 1.
    pub fn share(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(shape: Shape, seed: u64) -> RandomSystem {
        RandomSystem { states: 500, transitions: 2000, labels: 3, internal: 0.5, shape, seed }
    }

    #[test]
    fn a_seed_determines_the_system() {
        for (shape, _) in Shape::ALL {
            let draw = |seed| format!("{:?}", spec(shape, seed).draw().unwrap());
            assert_eq!(draw(7), draw(7));
            assert_ne!(draw(7), draw(8));
        }
    }

    #[test]
    fn shapes_are_what_they_say() {
        for (shape, _) in Shape::ALL {
            let lts = spec(shape, 3).draw().unwrap();
            assert_eq!(lts.state_count(), 500);
            if shape != Shape::Uniform {
                assert_eq!(lts.reachable().state_count(), 500, "{shape}");
            }
            if shape == Shape::Tree {
                assert_eq!(lts.transition_count(), 499);
            }
            let internal = lts.edges().iter().filter(|edge| edge.label.is_tau()).count();
            let share = internal as f64 / lts.transition_count() as f64;
            assert!((0.4..0.6).contains(&share), "{shape}: {share}");
        }
    }
}
