//! The drawing of a model that the token game is played on: which of its parts a step fires.

use lts::OriginId;
use model::{MarkId, MarkKind, PartKind, Program, Provenance};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// A drawing with its parts.
#[derive(Clone, Debug, Serialize)]
pub struct Board {
    svg: String,
    parts: Vec<Part>,
    /// The transitions that have a gate, by their positions among all transitions.
    #[serde(skip)]
    transitions: FxHashMap<String, Vec<(usize, String)>>,
    /// The transition of each mark; empty where marks don't tell.
    #[serde(skip)]
    transition_of: FxHashMap<MarkId, usize>,
}

#[derive(Clone, Debug, Serialize)]
struct Part {
    id: String,
    kind: &'static str,
    name: String,
}

impl Board {
    /// The drawing of a program, where it has one.
    pub fn of(program: &dyn Program) -> Option<Self> {
        let drawing = program.drawing()?;
        let mut transitions: FxHashMap<String, Vec<(usize, String)>> = FxHashMap::default();
        let drawn = drawing.parts.iter().filter(|part| part.kind == PartKind::Transition);
        for (number, part) in drawn.clone().enumerate() {
            transitions.entry(part.name.clone()).or_default().push((number, part.id.clone()));
        }
        let marks = program.model().provenance().marks().iter().enumerate();
        let actions: Vec<MarkId> = marks
            .filter(|(_, mark)| mark.kind == MarkKind::Action)
            .map(|(number, _)| MarkId(number as u32))
            .collect();
        // One action for each transition, in the same order.
        let told = actions.len() == drawn.count();
        let transition_of = actions.into_iter().enumerate().filter(|_| told).map(|(at, mark)| (mark, at));
        let parts = drawing.parts.into_iter().map(|part| Part {
            id: part.id,
            kind: match part.kind {
                PartKind::Place => "place",
                PartKind::Transition => "transition",
            },
            name: part.name,
        });
        Some(Self {
            svg: drawing.svg,
            parts: parts.collect(),
            transitions,
            transition_of: transition_of.collect(),
        })
    }

    /// The ids of the transitions that a step fires: several where equal steps are drawn as one.
    pub fn fired(&self, label: &str, origin: Option<OriginId>, provenance: &Provenance) -> Vec<String> {
        let Some(named) = self.transitions.get(lts::gate(label)) else { return Vec::new() };
        let ids = |wanted: &dyn Fn(usize) -> bool| -> Vec<String> {
            let wanted = named.iter().filter(|(number, _)| wanted(*number));
            wanted.map(|(_, id)| id.clone()).collect()
        };
        if named.len() == 1 {
            return ids(&|_| true);
        }
        // Transitions of the same name differ in where they are written.
        let marks = origin.map(|origin| provenance.marks_of(origin)).unwrap_or_default();
        let fired: Vec<usize> =
            marks.iter().filter_map(|mark| self.transition_of.get(mark).copied()).collect();
        ids(&|number| fired.is_empty() || fired.contains(&number))
    }
}
