//! Steps out of packed states, gathered one behind the other.

use lts::{LabelId, OriginId};

use crate::Step;

/// Steps whose targets have the same number of words.
///
/// ```
/// use lts::{LabelId, OriginId};
/// use model::{Step, Steps};
///
/// let mut steps = Steps::new(2, false);
/// steps.push(Step { label: LabelId::TAU, target: &[4, 7], origin: OriginId::ZERO });
/// assert_eq!((steps.len(), steps.targets()), (1, &[4, 7][..]));
/// ```
#[derive(Debug, Default)]
pub struct Steps {
    words: usize,
    keeps_origins: bool,
    targets: Vec<u32>,
    labels: Vec<LabelId>,
    origins: Vec<OriginId>,
}

impl Steps {
    /// No steps yet, for targets of so many words. Origins are kept if somebody will ask for them.
    pub fn new(words: usize, keeps_origins: bool) -> Self {
        Self { words, keeps_origins, ..Self::default() }
    }

    /// Adds a step.
    #[inline(always)]
    pub fn push(&mut self, step: Step<'_>) {
        // Most targets are too short for a call to copy them.
        match *step.target {
            [a] => self.targets.push(a),
            [a, b] => self.targets.extend_from_slice(&[a, b]),
            [a, b, c] => self.targets.extend_from_slice(&[a, b, c]),
            [a, b, c, d] => self.targets.extend_from_slice(&[a, b, c, d]),
            ref words => self.targets.extend_from_slice(words),
        }
        self.labels.push(step.label);
        if self.keeps_origins {
            self.origins.push(step.origin);
        }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many words a target has.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The packed targets, end to end.
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The labels.
    #[inline]
    pub fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// The origins, if they are kept.
    pub fn origins(&self) -> &[OriginId] {
        &self.origins
    }

    /// All of them, in order; with no origins where these are not kept.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let targets = self.targets.chunks_exact(self.words.max(1));
        targets.zip(&self.labels).enumerate().map(|(at, (target, &label))| {
            let origin = self.origins.get(at).copied().unwrap_or(OriginId::ZERO);
            Step { label, target, origin }
        })
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.targets.clear();
        self.labels.clear();
        self.origins.clear();
    }

    /// The memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.targets.capacity() * size_of::<u32>()
            + self.labels.capacity() * size_of::<LabelId>()
            + self.origins.capacity() * size_of::<OriginId>()
    }
}
