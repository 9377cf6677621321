//! The part of a model's state space that traces lead through, as it becomes known.

use std::rc::Rc;

use lts::{LabelId, OriginId};
use model::{Described, Model, ModelError, Slot, StateReader, Worker};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::relation::normal_label;

/// A step between known states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// A position in the labels; 0 is silent.
    pub label: u32,
    pub target: u32,
    pub origin: OriginId,
}

/// Names and values.
pub(crate) type View = Rc<[(String, String)]>;

/// States and their steps, found once.
pub(crate) struct Space<'m> {
    pub model: &'m dyn Model,
    worker: Box<dyn Worker + 'm>,
    pub reader: Box<dyn StateReader + 'm>,
    hidden: &'m [String],
    rows: Vec<Rc<[Slot]>>,
    numbers: FxHashMap<Rc<[Slot]>, u32>,
    steps: Vec<Option<Rc<[Known]>>>,
    views: Vec<Option<View>>,
    /// Texts of labels, by the numbers of steps; what the model calls them leads there.
    labels: Vec<String>,
    label_of: FxHashMap<LabelId, u32>,
    label_numbers: FxHashMap<String, u32>,
}

impl<'m> Space<'m> {
    /// Nothing known yet. Labels with these gates count as silent.
    pub fn new(model: &'m dyn Model, hidden: &'m [String]) -> Self {
        Self {
            model,
            worker: model.worker(),
            reader: model.reader().unwrap_or_else(|| Box::new(Described(model))),
            hidden,
            rows: Vec::new(),
            numbers: FxHashMap::default(),
            steps: Vec::new(),
            views: Vec::new(),
            labels: vec![lts::TAU_TEXT.to_owned()],
            label_of: FxHashMap::default(),
            label_numbers: FxHashMap::from_iter([(lts::TAU_TEXT.to_owned(), 0)]),
        }
    }

    /// How many states are known.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Forgets all states; labels stay.
    pub fn forget(&mut self) {
        self.rows.clear();
        self.numbers.clear();
        self.steps.clear();
        self.views.clear();
    }

    /// The number of a state.
    pub fn number(&mut self, row: &[Slot]) -> u32 {
        if let Some(&number) = self.numbers.get(row) {
            return number;
        }
        let number = self.rows.len() as u32;
        let row: Rc<[Slot]> = row.into();
        self.rows.push(row.clone());
        self.numbers.insert(row, number);
        self.steps.push(None);
        self.views.push(None);
        number
    }

    /// A state.
    pub fn row(&self, number: u32) -> Rc<[Slot]> {
        self.rows[number as usize].clone()
    }

    /// The text of a label.
    pub fn label(&self, label: u32) -> &str {
        &self.labels[label as usize]
    }

    /// The steps out of a state, in the order of the model.
    pub fn steps(&mut self, number: u32) -> Result<Rc<[Known]>, ModelError> {
        if let Some(steps) = &self.steps[number as usize] {
            return Ok(steps.clone());
        }
        let row = self.row(number);
        let mut found: Vec<(LabelId, Vec<Slot>, OriginId)> = Vec::new();
        self.worker
            .successors(&row, &mut |step| found.push((step.label, step.target.to_vec(), step.origin)))?;
        let mut steps = Vec::with_capacity(found.len());
        for (label, target, origin) in found {
            let label = self.label_number(label);
            steps.push(Known { label, target: self.number(&target), origin });
        }
        let steps: Rc<[Known]> = steps.into();
        self.steps[number as usize] = Some(steps.clone());
        Ok(steps)
    }

    fn label_number(&mut self, label: LabelId) -> u32 {
        if let Some(&number) = self.label_of.get(&label) {
            return number;
        }
        let text = normal_label(&self.model.label(label));
        let hidden = self.hidden.iter().any(|gate| gate == lts::gate(&text));
        let next = self.labels.len() as u32;
        let number = if hidden { 0 } else { *self.label_numbers.entry(text.clone()).or_insert(next) };
        if number == next {
            self.labels.push(text);
        }
        self.label_of.insert(label, number);
        number
    }

    /// The named values of a state.
    pub fn view(&mut self, number: u32) -> View {
        if let Some(view) = &self.views[number as usize] {
            return view.clone();
        }
        let view: View = named_values(self.model, &self.rows[number as usize]).into();
        self.views[number as usize] = Some(view.clone());
        view
    }

    /// A state as text.
    pub fn text(&mut self, number: u32) -> String {
        let row = self.row(number);
        self.reader.write(&row)
    }

    /// These states and all that silent steps lead to, in the order in which they are found.
    pub fn closure(&mut self, states: &[u32]) -> Result<Vec<u32>, ModelError> {
        let mut seen: FxHashSet<u32> = states.iter().copied().collect();
        let mut all = states.to_vec();
        let mut at = 0;
        while at < all.len() {
            for step in self.steps(all[at])?.iter().filter(|step| step.label == 0) {
                if seen.insert(step.target) {
                    all.push(step.target);
                }
            }
            at += 1;
        }
        Ok(all)
    }

    /// The origins of what is executed silently in a state.
    pub fn executed(&mut self, number: u32, origins: &mut FxHashSet<OriginId>) {
        let row = self.row(number);
        let _ = self.worker.executed(&row, &mut |origin| _ = origins.insert(origin));
    }
}

/// The named values of a state. Where a name occurs again it gets a number: `NODE.term#2`.
pub fn named_values(model: &dyn Model, state: &[Slot]) -> Vec<(String, String)> {
    let mut values = model.describe(state).values;
    let mut times: FxHashMap<String, usize> = FxHashMap::default();
    for (name, _) in &mut values {
        let count = times.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            *name = format!("{name}#{count}");
        }
    }
    values
}
