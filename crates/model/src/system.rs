//! A transition system as a model: what is known as a whole, where a model is asked for.

use lts::{LabelId, Lts, StateId};

use crate::{Layout, Model, ModelError, Provenance, Slot, StateView, Step, Worker};

/// A transition system that is asked for steps like any model.
///
/// ```
/// use model::{Model, SystemModel};
///
/// let lts = lts::parse_system("x.aut", "des (0, 1, 2)\n(0, \"A\", 1)\n", &Default::default()).unwrap();
/// let model = SystemModel::new(lts);
/// let mut labels = Vec::new();
/// model.worker().successors(&[0], &mut |step| labels.push(model.label(step.label))).unwrap();
/// assert_eq!(labels, ["A"]);
/// ```
pub struct SystemModel {
    lts: Lts,
    layout: Layout,
    provenance: Provenance,
}

impl SystemModel {
    /// The model that has the steps of a system.
    pub fn new(lts: Lts) -> Self {
        let last = u32::try_from(lts.state_count().saturating_sub(1)).unwrap_or(u32::MAX);
        let bits = (u32::BITS - last.leading_zeros()).max(1);
        Self { lts, layout: Layout::new(&[bits]), provenance: Provenance::default() }
    }
}

impl Model for SystemModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        Ok(vec![self.lts.initial().raw()])
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SystemWorker(&self.lts))
    }

    fn label(&self, label: LabelId) -> String {
        self.lts.labels().text(label).to_owned()
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        StateView { values: vec![("state".to_owned(), state[0].to_string())] }
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn observables(&self) -> Option<Vec<String>> {
        Some(vec!["state".to_owned()])
    }
}

struct SystemWorker<'a>(&'a Lts);

impl Worker for SystemWorker<'_> {
    fn successors(&mut self, state: &[Slot], emit: &mut dyn FnMut(Step<'_>)) -> Result<(), ModelError> {
        for step in self.0.outgoing(StateId::from_raw(state[0])) {
            emit(Step { label: step.label, target: &[step.target.raw()], origin: Provenance::NONE });
        }
        Ok(())
    }
}
