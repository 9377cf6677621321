//! A model and a monitor side by side, as a model: its states have one slot more, for the monitor's position. Whatever
//! explores models explores it, on all threads and without keeping steps.
//!
//! A state in which the search ends has an error. So the engine stops there, at the first one in its order, which does
//! not depend on threads; what it is that ends the search is computed again ([`Product::conclude`]).

use lts::{LabelId, OriginId};
use model::{Layout, Model, ModelError, PackedWorker, Provenance, Slot, StateView, Step, Steps, Worker};

use crate::monitor::{Code, Monitor, Position, Watcher};
use crate::verdict::CheckError;

pub(crate) struct Product<'m> {
    model: &'m dyn Model,
    monitor: &'m Monitor,
    layout: Layout,
    /// Where the monitor's position lies: its word, its lowest bit there, and its bits shifted down.
    place: (usize, u32, u32),
}

/// What ends the search in a state.
pub(crate) enum End {
    /// The run to it is accepted, with one step more if there is one.
    Accepted(Option<LastStep>),
    /// The model made an error.
    Model(ModelError),
    /// The formula did.
    Formula(CheckError),
    /// There are more positions than the slot has numbers for.
    Full,
}

pub(crate) struct LastStep {
    pub label: LabelId,
    pub target: Vec<Slot>,
    pub origin: OriginId,
}

impl<'m> Product<'m> {
    /// The product, with so many bits for the monitor's position.
    pub fn new(model: &'m dyn Model, monitor: &'m Monitor, bits: u32) -> Self {
        let own = model.layout();
        let mut all: Vec<u32> = (0..own.width()).map(|slot| own.place(slot).2.count_ones()).collect();
        all.push(bits);
        // The slots of the model lie where they did: each takes the first place that is free.
        let layout = Layout::new(&all);
        let (word, shift, mask) = layout.place(own.width());
        Self { model, monitor, layout, place: (word as usize, shift, mask) }
    }

    /// How many slots of a state are the model's: the first ones.
    pub fn width(&self) -> usize {
        self.model.layout().width()
    }

    /// What ends the search in a state of the product.
    pub fn conclude(&self, state: &[Slot]) -> End {
        self.try_to_conclude(state).unwrap_or_else(|end| end)
    }

    fn try_to_conclude(&self, state: &[Slot]) -> Result<End, End> {
        let (own, number) = (&state[..self.width()], state[self.width()]);
        let mut watcher = Watcher::new(self.monitor, self.model);
        let position = watcher.position(number);
        if position.is_accepting() {
            return Ok(End::Accepted(None));
        }
        let mut labels = Vec::new();
        let mut steps = Vec::new();
        let computed = self.model.worker().successors(own, &mut |step| {
            labels.push(step.label);
            steps.push(LastStep { label: step.label, target: step.target.to_vec(), origin: step.origin });
        });
        computed.map_err(End::Model)?;
        for guard in &position.accepts {
            if watcher.all_hold(guard, &labels).map_err(End::Formula)? {
                return Ok(End::Accepted(None));
            }
        }
        let mut rows = Vec::new();
        for (guard, row) in &position.rows {
            if watcher.all_hold(guard, &labels).map_err(End::Formula)? {
                rows.push(*row);
            }
        }
        let mut failed = None;
        for step in steps {
            for &row in &rows {
                match watcher.ask(row, step.label) {
                    Ok(Code::ACCEPTED) => return Ok(End::Accepted(Some(step))),
                    Ok(_) => {}
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        Ok(failed.map_or(End::Full, End::Formula))
    }
}

impl Model for Product<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        let mut state = self.model.initial()?;
        state.push(self.monitor.root().unwrap_or(0));
        Ok(state)
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Unpacked { product: self, worker: self.watching() })
    }

    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        Box::new(self.watching())
    }

    fn label(&self, label: LabelId) -> String {
        self.model.label(label)
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        self.model.describe(&state[..self.width()])
    }

    fn provenance(&self) -> &Provenance {
        self.model.provenance()
    }

    fn bytes(&self) -> usize {
        self.model.bytes()
    }
}

impl Product<'_> {
    fn watching(&self) -> Watching<'_> {
        Watching {
            product: self,
            worker: self.model.packed_worker(),
            watcher: Watcher::new(self.monitor, self.model),
            own: vec![0; self.model.layout().words()],
            target: vec![0; self.layout.words()],
            steps: Steps::new(self.model.layout().words(), true),
            labels: Vec::new(),
            rows: Vec::new(),
            leaves_out: false,
        }
    }
}

/// One thread's work.
struct Watching<'m> {
    product: &'m Product<'m>,
    worker: Box<dyn PackedWorker + 'm>,
    watcher: Watcher<'m>,
    /// The model's part of the state, and the next state.
    own: Vec<u32>,
    target: Vec<u32>,
    /// The model's steps from a state.
    steps: Steps,
    /// The labels of a state's steps, where conditions ask for them.
    labels: Vec<LabelId>,
    /// The rows whose conditions hold.
    rows: Vec<u32>,
    leaves_out: bool,
}

impl PackedWorker for Watching<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        self.watch(packed, emit)
    }

    fn add_steps(&mut self, packed: &[u32], steps: &mut Steps) -> Result<(), ModelError> {
        self.watch(packed, |step| steps.push(step))
    }
}

impl Watching<'_> {
    /// Calls `emit` for every step out of a state, and tells the engine to stop where one decides.
    fn watch(&mut self, packed: &[u32], mut emit: impl FnMut(Step<'_>)) -> Result<(), ModelError> {
        let (word, shift, mask) = self.product.place;
        let position = self.watcher.position(packed[word] >> shift & mask);
        if position.is_accepting() {
            return Err(ended());
        }
        let words = self.own.len();
        let mut own = &packed[..words];
        if mask != 0 && word < words {
            self.own.copy_from_slice(own);
            self.own[word] &= !(mask << shift);
            own = &self.own;
        }
        choose_rows(&position, &mut *self.worker, &mut self.watcher, own, &mut self.labels, &mut self.rows)?;
        let Self { worker, watcher, target, steps, labels, rows, leaves_out, .. } = self;
        let asked = !position.accepts.is_empty() && !position.at_deadlocks;
        labels.clear();
        let (mut ends, mut decided) = (false, false);
        steps.clear();
        let result = worker.add_steps(own, steps);
        for step in steps.iter() {
            if asked {
                labels.push(step.label);
            }
            let mut go = |number: u32| {
                if number > mask {
                    ends = true;
                } else if mask == 0 {
                    emit(step);
                } else {
                    target[..words].copy_from_slice(step.target);
                    if word == words {
                        target[word] = 0;
                    }
                    target[word] |= number << shift;
                    emit(Step { target, ..step });
                }
            };
            let mut followed = false;
            for &row in rows.iter() {
                let code = watcher.follow(row, step.label);
                followed |= code != Code::NOWHERE;
                match code.one() {
                    Some(number) => go(number),
                    None if code == Code::ACCEPTED || code == Code::FAILED => decided = true,
                    None => watcher.several(code).iter().for_each(|&number| go(number)),
                }
            }
            *leaves_out |= !followed;
        }
        result?;
        ends |= decided || (position.at_deadlocks && steps.is_empty());
        if self.leaves_out {
            // Once is enough: others read what this writes.
            self.leaves_out = false;
            if !self.product.monitor.has_left_out() {
                self.product.monitor.leave_out();
            }
        }
        for guard in position.accepts.iter().filter(|_| asked) {
            ends |= self.watcher.all_hold(guard, &self.labels).unwrap_or(true);
        }
        if ends { Err(ended()) } else { Ok(()) }
    }
}

/// Which rows are followed: where conditions decide, the steps of the state are computed once more beforehand.
fn choose_rows(
    position: &Position,
    worker: &mut dyn PackedWorker,
    watcher: &mut Watcher<'_>,
    own: &[u32],
    labels: &mut Vec<LabelId>,
    rows: &mut Vec<u32>,
) -> Result<(), ModelError> {
    rows.clear();
    if !position.has_conditions() {
        rows.extend(position.rows.iter().map(|&(_, row)| row));
        return Ok(());
    }
    labels.clear();
    worker.successors(own, &mut |step| labels.push(step.label))?;
    for (guard, row) in &position.rows {
        match watcher.all_hold(guard, labels) {
            Ok(true) => rows.push(*row),
            Ok(false) => {}
            Err(_) => return Err(ended()),
        }
    }
    Ok(())
}

/// Tells the engine to stop; nobody reads it.
#[cold]
fn ended() -> ModelError {
    ModelError { message: "the search ends here".into(), span: None, help: None, during: None }
}

/// The same on unpacked states, for the few of a trace.
struct Unpacked<'m> {
    product: &'m Product<'m>,
    worker: Watching<'m>,
}

impl Worker for Unpacked<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let layout = &self.product.layout;
        let mut packed = vec![0; layout.words()];
        layout.pack(state, &mut packed)?;
        let mut target = vec![0; layout.width()];
        self.worker.successors(&packed, &mut |step| {
            layout.unpack(step.target, &mut target);
            emit(Step { target: &target, ..step });
        })
    }
}
