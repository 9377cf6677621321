//! States stored as pairs: tree compression (S. Blom, B. Lisser, J. van de Pol, M. Weber, *A database approach to
//! distributed state space generation*, 2009; A. Laarman, J. van de Pol, M. Weber, *Parallel recursive state compression
//! for free*, 2011).
//!
//! A packed state of many words is halved again and again down to single words. Each pair of halves is stored once and
//! known by a number from then on, so that a state is two numbers, 8 bytes, however many words it has. Neighbouring states
//! share most of their halves. A step changes few words: only the pairs above those are looked up.
//!
//! A compressed model is a model, so that nothing else has to know. Which number a pair gets depends on threads; what is
//! found does not.

use lts::{LabelId, OriginId};
use model::{Layout, Model, ModelError, PackedWorker, Provenance, Slot, StateView, Step, Worker};

use crate::pairs::{Pairs, RecentPairs};

/// A model whose states are stored as pairs.
///
/// ```
/// # use lts::LabelId;
/// # use model::{Layout, Model, ModelError, Provenance, Slot, StateView, Step, Worker};
/// # struct Counters { layout: Layout, provenance: Provenance }
/// # impl Model for Counters {
/// #     fn layout(&self) -> &Layout { &self.layout }
/// #     fn initial(&self) -> Result<Vec<Slot>, ModelError> { Ok(vec![0; 5]) }
/// #     fn worker(&self) -> Box<dyn Worker + '_> { Box::new(Ticker) }
/// #     fn label(&self, _: LabelId) -> String { "TICK".into() }
/// #     fn describe(&self, _: &[Slot]) -> StateView { StateView::default() }
/// #     fn provenance(&self) -> &Provenance { &self.provenance }
/// # }
/// # struct Ticker;
/// # impl Worker for Ticker {
/// #     fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
/// #         for counter in 0..5 {
/// #             let mut target = state.to_vec();
/// #             target[counter] = (target[counter] + 1) % 4;
/// #             emit(Step { label: LabelId::new(1), target: &target, origin: Provenance::NONE });
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// # let counters = Counters { layout: Layout::new(&[32; 5]), provenance: Provenance::default() };
/// use explore::{Compressed, Limits, explore};
///
/// // Five counters modulo four, a word for each.
/// let compressed = Compressed::new(&counters).expect("there is something to share");
/// let found = explore(&compressed, &Limits::default(), &lts::Progress::new());
/// assert_eq!((found.states(), found.statistics.state_bytes), (1024, 8));
/// ```
pub struct Compressed<'m> {
    model: &'m dyn Model,
    layout: Layout,
    /// The halves of each pair, as places: words first, then pairs, each behind its halves. The last is the whole.
    halves: Vec<(usize, usize)>,
    pairs: Pairs,
}

impl<'m> Compressed<'m> {
    /// The model with its states compressed; nothing where they are pairs already, or less.
    pub fn new(model: &'m dyn Model) -> Option<Self> {
        let words = model.layout().words();
        if words <= 2 {
            return None;
        }
        let mut halves = Vec::with_capacity(words - 1);
        halve(0, words, words, &mut halves);
        Some(Self { model, layout: Layout::new(&[32, 32]), halves, pairs: Pairs::new() })
    }

    /// How many pairs there are, beside one for each state.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// How many words a state has before it is compressed.
    fn words(&self) -> usize {
        self.model.layout().words()
    }

    /// The halves of the whole, and the pairs below it.
    fn parts(&self) -> ((usize, usize), &[(usize, usize)]) {
        let (whole, below) = self.halves.split_last().expect("there are at least three words");
        (*whole, below)
    }

    /// How many words and pairs lie below a whole.
    fn places(&self) -> usize {
        self.words() + self.halves.len() - 1
    }

    /// The values of all places below a whole.
    fn expand(&self, state: &[u32], pairs: &mut RecentPairs<'_>, values: &mut [u32]) {
        let (whole, below) = self.parts();
        (values[whole.0], values[whole.1]) = (state[0], state[1]);
        for (at, &(left, right)) in below.iter().enumerate().rev() {
            (values[left], values[right]) = pairs.pair(values[self.words() + at]);
        }
    }

    /// The pair for a state's words, which differ little from those of another state, whose places are known; none
    /// where pairs have no more numbers.
    fn compress(&self, before: &[u32], pairs: &mut RecentPairs<'_>, values: &mut [u32]) -> Option<[u32; 2]> {
        let (whole, below) = self.parts();
        for (at, &(left, right)) in below.iter().enumerate() {
            let place = self.words() + at;
            let same = values[left] == before[left] && values[right] == before[right];
            values[place] = if same { before[place] } else { pairs.intern(values[left], values[right])? };
        }
        Some([values[whole.0], values[whole.1]])
    }

    fn compressing(&self) -> Compressing<'_> {
        Compressing {
            model: self,
            worker: self.model.packed_worker(),
            pairs: RecentPairs::new(&self.pairs),
            before: vec![0; self.places()],
            values: vec![0; self.places()],
        }
    }

    /// The state of the model that a compressed one stands for.
    pub fn expanded(&self, state: &[Slot]) -> Vec<Slot> {
        let mut values = vec![0; self.places()];
        self.expand(state, &mut RecentPairs::new(&self.pairs), &mut values);
        let mut slots = vec![0; self.model.layout().width()];
        self.model.layout().unpack(&values[..self.words()], &mut slots);
        slots
    }
}

/// Halves some words, and gives the place that stands for them.
fn halve(first: usize, end: usize, words: usize, halves: &mut Vec<(usize, usize)>) -> usize {
    if end - first == 1 {
        return first;
    }
    let middle = (first + end) / 2;
    let pair = (halve(first, middle, words, halves), halve(middle, end, words, halves));
    halves.push(pair);
    words + halves.len() - 1
}

impl Model for Compressed<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        let mut values = vec![0; self.places()];
        self.model.layout().pack(&self.model.initial()?, &mut values[..self.words()])?;
        let mut pairs = RecentPairs::new(&self.pairs);
        // Nothing is known yet: every pair is looked up.
        let other: Vec<u32> = values.iter().map(|value| !value).collect();
        let pair = self.compress(&other, &mut pairs, &mut values).ok_or_else(too_many)?;
        Ok(pair.to_vec())
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(self.compressing())
    }

    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        Box::new(self.compressing())
    }

    fn label(&self, label: LabelId) -> String {
        self.model.label(label)
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        self.model.describe(&self.expanded(state))
    }

    fn provenance(&self) -> &Provenance {
        self.model.provenance()
    }

    fn bytes(&self) -> usize {
        self.model.bytes() + self.pairs.bytes()
    }

    fn initial_origin(&self) -> OriginId {
        self.model.initial_origin()
    }
}

#[cold]
fn too_many() -> ModelError {
    ModelError {
        message: "compressed states have more pairs than can be numbered".into(),
        span: None,
        help: Some("explore without --compress".into()),
        during: None,
    }
}

/// One thread's work. A slot is a word here, so packed states and others are the same.
struct Compressing<'m> {
    model: &'m Compressed<'m>,
    worker: Box<dyn PackedWorker + 'm>,
    pairs: RecentPairs<'m>,
    /// What lies at all places, in the state before a step and behind it.
    before: Vec<u32>,
    values: Vec<u32>,
}

impl Compressing<'_> {
    fn steps(&mut self, state: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Self { model, worker, pairs, before, values } = self;
        model.expand(state, pairs, before);
        let words = model.words();
        let mut full = false;
        worker.successors(&before[..words], &mut |step| {
            values[..words].copy_from_slice(step.target);
            match model.compress(before, pairs, values) {
                Some(target) => emit(Step { target: &target, ..step }),
                None => full = true,
            }
        })?;
        if full { Err(too_many()) } else { Ok(()) }
    }
}

impl PackedWorker for Compressing<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.steps(packed, emit)
    }
}

impl Worker for Compressing<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.steps(state, emit)
    }
}
