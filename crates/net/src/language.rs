//! Nets at the door for languages: PNML files, and predicate/transition nets as text.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use lts::LabelId;
use model::{
    CoverageMap, Drawing, DrawnPart, Evaluated, Input, ItemList, Language, Model, ModelError, PartKind,
    Program, Root, Slot, Telling, Text,
};
use rustc_hash::FxHashMap;
use source::{Diagnostic, Sources, Span};

use crate::counted;
use crate::drawing::{Diagram, NodeKind, Sketch};
use crate::engine::FlatModel;
use crate::flat::Flat;
use crate::high::{HighModel, HighNet, Inspector};
use crate::pnml::load_pnml;
use crate::text::load_net;
use crate::unfold::{UnfoldLimits, unfold};

/// Place/transition and symmetric nets in PNML (ISO/IEC 15909-2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Pnml;

impl Language for Pnml {
    fn name(&self) -> &'static str {
        "PNML"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pnml"]
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        let refuse = |message: String| Err(vec![Diagnostic::error(message)]);
        if let Some(root) = input.root {
            return refuse(format!("a PNML file has one initial marking, and none called `{root}`"));
        }
        if let Some((name, _)) = input.constants.first() {
            return refuse(format!("a PNML file has no constant `{name}` that could be changed"));
        }
        let flat = load_pnml(&input.main.name, &input.main.text, sources)?;
        Ok(Box::new(NetProgram {
            map: counted::map_of_flat(&flat),
            items: counted::items_of_flat(&flat),
            flat: OnceLock::from(Some(FlatModel::new(flat))),
            high: None,
            origin: None,
            warnings: Vec::new(),
            functions: CoverageMap::default(),
        }))
    }
}

/// Predicate/transition nets in a text language of our own, over the data language of LNT.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetText;

impl Language for NetText {
    fn name(&self) -> &'static str {
        "NET"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["net"]
    }

    fn load(&self, input: &Input<'_>, sources: &mut Sources) -> Result<Box<dyn Program>, Vec<Diagnostic>> {
        let origin = Written {
            text: input.main.clone(),
            root: input.root.map(str::to_owned),
            constants: input.constants.to_vec(),
        };
        let mut net = origin.load(sources)?;
        let mut warnings = std::mem::take(&mut net.warnings);
        warnings.extend(same_names(&net));
        // Guards and abstract states are asked for in the net as it is written.
        let flat = match input.telling {
            Telling::Coverage(_) => None,
            _ => Some(unfold(&net, &LIMITS).ok().map(|unfolded| FlatModel::new(unfolded.flat))),
        };
        let as_written = flat.as_ref().is_none_or(Option::is_none);
        Ok(Box::new(NetProgram {
            map: counted::map_of_high(&net),
            items: counted::items_of_high(&net),
            flat: flat.map_or_else(OnceLock::new, OnceLock::from),
            high: as_written.then(|| HighModel::new(net)),
            origin: Some(origin),
            warnings,
            functions: CoverageMap::default(),
        }))
    }

    fn map(&self, input: &Input<'_>, sources: &mut Sources) -> Option<CoverageMap> {
        let net = load_net(&input.main.name, &input.main.text, None, &[], sources).ok()?;
        Some(counted::map_of_high(&net))
    }
}

/// Transitions that labels can't tell apart.
fn same_names(net: &HighNet) -> Vec<Diagnostic> {
    let mut known: FxHashMap<String, Span> = FxHashMap::default();
    let mut warnings = Vec::new();
    for transition in &net.transitions {
        let gate = crate::flat::gate_name(&transition.name);
        match known.get(&gate) {
            Some(&first) => warnings.push(
                Diagnostic::warning(format!("two transitions have the labels of `{gate}`"))
                    .label(transition.span, "this one")
                    .label(first, "and this one")
                    .note("properties and criteria can't tell them apart"),
            ),
            None => drop(known.insert(gate, transition.span)),
        }
    }
    warnings
}

/// Nets with more kinds of tokens than this are explored as they are written: soon enough to know that a type is endless.
const LIMITS: UnfoldLimits = UnfoldLimits { places: 20_000, transitions: 200_000, bindings: 400_000 };

/// The net that is explored.
enum Explored<'a> {
    High(&'a HighModel),
    Flat(&'a FlatModel),
}

/// What a net was loaded from.
struct Written {
    text: Text,
    root: Option<String>,
    constants: Vec<(String, String)>,
}

impl Written {
    fn load(&self, sources: &mut Sources) -> Result<HighNet, Vec<Diagnostic>> {
        load_net(&self.text.name, &self.text.text, self.root.as_deref(), &self.constants, sources)
    }

    /// The net once more; it was accepted before.
    fn again(&self) -> Option<HighNet> {
        self.load(&mut Sources::new()).ok()
    }
}

/// A net that was loaded: flat where its tokens have finitely many kinds, as written where that is asked for.
pub struct NetProgram {
    /// Made when it is asked for.
    flat: OnceLock<Option<FlatModel>>,
    high: Option<HighModel>,
    origin: Option<Written>,
    map: CoverageMap,
    functions: CoverageMap,
    items: Vec<ItemList>,
    warnings: Vec<Diagnostic>,
}

impl NetProgram {
    /// The net with one place for each kind of token; none where there are too many kinds.
    pub fn flat(&self) -> Option<&FlatModel> {
        let unfolded = || {
            let net = self.origin.as_ref().and_then(Written::again)?;
            unfold(&net, &LIMITS).ok().map(|unfolded| FlatModel::new(unfolded.flat))
        };
        self.flat.get_or_init(unfolded).as_ref()
    }

    /// The net that is explored: as it is written, or flat.
    fn explored(&self) -> Explored<'_> {
        match (&self.high, self.flat.get()) {
            (Some(high), _) => Explored::High(high),
            (None, Some(Some(flat))) => Explored::Flat(flat),
            (None, _) => unreachable!("a net is explored flat or as it is written"),
        }
    }

    /// Why there is no flat net.
    pub fn not_flat(&self) -> Option<String> {
        let net = self.origin.as_ref().filter(|_| self.flat().is_none())?.again()?;
        unfold(&net, &LIMITS).err()
    }

    /// The names of places as they are written.
    pub fn place_names(&self) -> Vec<String> {
        match self.explored() {
            Explored::High(high) => high.net().places.iter().map(|place| place.name.clone()).collect(),
            Explored::Flat(flat) => {
                flat.flat().source_places.iter().map(|place| place.name.clone()).collect()
            }
        }
    }

    /// How many tokens each place as written has in a state of the model.
    pub fn token_counts(&self, state: &[Slot]) -> Vec<u32> {
        match self.explored() {
            Explored::High(high) => high.token_counts(state),
            Explored::Flat(flat) => {
                let mut counts = vec![0u32; flat.flat().source_places.len()];
                for (place, &tokens) in flat.flat().places.iter().zip(state) {
                    counts[place.of] = counts[place.of].saturating_add(tokens);
                }
                counts
            }
        }
    }

    /// What is drawn of it.
    pub fn diagram(&self) -> Option<Diagram> {
        let sketch = match &self.origin {
            Some(origin) => {
                let model = HighModel::new(origin.again()?);
                let tokens = model.describe(&model.initial().ok()?);
                Sketch::of_high(model.net(), &origin.text.text, &tokens)
            }
            None => Sketch::of(self.flat()?.flat()),
        };
        Some(Diagram::new(&sketch))
    }
}

impl Program for NetProgram {
    fn model(&self) -> &dyn Model {
        match self.explored() {
            Explored::High(high) => high,
            Explored::Flat(flat) => flat,
        }
    }

    fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    fn map(&self) -> &CoverageMap {
        &self.map
    }

    fn functions(&self) -> &CoverageMap {
        &self.functions
    }

    fn items(&self) -> &[ItemList] {
        &self.items
    }

    fn started(&self) -> Vec<usize> {
        (0..self.map.processes.len()).collect()
    }

    fn roots(&self) -> Vec<Root> {
        let net = self.origin.as_ref().and_then(Written::again);
        let markings = net.map(|net| net.markings).unwrap_or_default();
        markings.into_iter().map(|marking| Root { name: marking.name, span: marking.span }).collect()
    }

    fn inspector(&self) -> Option<Box<dyn model::Inspector + '_>> {
        Some(match self.explored() {
            Explored::High(high) => Box::new(HighInspector {
                inspector: high.inspector(),
                net: high.net(),
                places: counted::Places::of(high.net()),
            }),
            Explored::Flat(flat) => Box::new(FlatInspector { model: flat, items: flat_items(flat.flat()) }),
        })
    }

    fn drawing(&self) -> Option<Drawing> {
        let diagram = self.diagram()?;
        let parts = diagram.nodes.iter().map(|node| match node.kind {
            NodeKind::Place => {
                DrawnPart { id: format!("p{}", node.number), kind: PartKind::Place, name: node.name.clone() }
            }
            NodeKind::Transition => DrawnPart {
                id: format!("t{}", node.number),
                kind: PartKind::Transition,
                name: crate::flat::gate_name(&node.name),
            },
        });
        Some(Drawing { parts: parts.collect(), svg: diagram.to_svg(), dot: diagram.to_dot() })
    }

    fn concurrent(&self, degree: usize) -> Option<Arc<dyn Model + Send>> {
        match (self.flat(), &self.origin) {
            (Some(flat), _) => Some(Arc::new(FlatModel::concurrent(flat.flat().clone(), degree))),
            (None, Some(origin)) => Some(Arc::new(HighModel::new(origin.again()?).concurrent(degree))),
            (None, None) => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Tells what steps of a net as written exercise.
struct HighInspector<'a> {
    inspector: Inspector<'a>,
    net: &'a HighNet,
    places: counted::Places,
}

impl model::Inspector for HighInspector<'_> {
    fn look(
        &mut self,
        state: &[Slot],
        taken: Option<(LabelId, &[Slot])>,
        emit: &mut dyn FnMut(usize, usize),
    ) -> Result<(), ModelError> {
        for firing in self.inspector.firings(state)? {
            let is_taken =
                |(label, target): (LabelId, &[Slot])| firing.label == label && firing.target == target;
            if !taken.is_none_or(is_taken) {
                continue;
            }
            for arc in 0..self.net.transitions[firing.transition].arcs.len() {
                emit(counted::ARCS, self.places.arc(firing.transition, arc));
            }
            for flow in &firing.flows {
                if let Some(item) = self.places.token(firing.transition, flow.arc, flow.kind) {
                    emit(counted::TOKENS, item);
                }
            }
        }
        Ok(())
    }

    fn evaluations(&mut self, state: &[Slot], emit: &mut dyn FnMut(Evaluated)) -> Result<(), ModelError> {
        for evaluation in self.inspector.evaluations(state) {
            let decision = self.places.guard(evaluation.transition, evaluation.guard);
            emit(Evaluated { decision, conditions: evaluation.conditions, outcome: evaluation.outcome });
        }
        Ok(())
    }
}

/// Tells what steps of a flat net exercise.
struct FlatInspector<'a> {
    model: &'a FlatModel,
    /// For each transition its arcs as items of both lists.
    items: Vec<Vec<(usize, usize)>>,
}

/// The items of arcs, by list, for each transition.
fn flat_items(flat: &Flat) -> Vec<Vec<(usize, usize)>> {
    let numbers: FxHashMap<counted::FlatItem, (usize, usize)> =
        counted::flat_items(flat).into_iter().collect();
    let items = flat.transitions.iter().map(|transition| {
        let keys = transition.arcs.iter().flat_map(|arc| counted::keys_of(flat, transition, arc));
        keys.filter_map(|key| numbers.get(&key).copied()).collect()
    });
    items.collect()
}

impl model::Inspector for FlatInspector<'_> {
    fn look(
        &mut self,
        state: &[Slot],
        taken: Option<(LabelId, &[Slot])>,
        emit: &mut dyn FnMut(usize, usize),
    ) -> Result<(), ModelError> {
        for transition in self.model.enabled(state) {
            let is_taken = match taken {
                None => true,
                Some((label, target)) => {
                    self.model.label(label) == self.model.flat().transitions[transition].label
                        && self.model.fire(transition, state)? == target
                }
            };
            if is_taken {
                self.items[transition].iter().for_each(|&(list, item)| emit(list, item));
            }
        }
        Ok(())
    }

    /// Guards were decided when the net was unfolded.
    fn evaluations(&mut self, _state: &[Slot], _emit: &mut dyn FnMut(Evaluated)) -> Result<(), ModelError> {
        Ok(())
    }
}
