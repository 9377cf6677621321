//! Packed successors of any model: unpack, compute, pack.

use crate::{Layout, ModelError, PackedWorker, Slot, Step, Worker};

/// A worker on packed states around one on unpacked states.
pub struct Packing<'m> {
    worker: Box<dyn Worker + 'm>,
    layout: &'m Layout,
    state: Vec<Slot>,
    target: Vec<u32>,
}

impl<'m> Packing<'m> {
    /// Wraps a worker of a model with this layout.
    pub fn new(worker: Box<dyn Worker + 'm>, layout: &'m Layout) -> Self {
        Self { worker, layout, state: vec![0; layout.width()], target: vec![0; layout.words()] }
    }
}

impl PackedWorker for Packing<'_> {
    fn successors(&mut self, packed: &[u32], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        let Self { worker, layout, state, target } = self;
        layout.unpack(packed, state);
        let mut fits = Ok(());
        worker.successors(state, &mut |step| match layout.repack(state, packed, step.target, target) {
            Ok(()) => emit(Step { target, ..step }),
            wrong => fits = wrong,
        })?;
        fits
    }
}
