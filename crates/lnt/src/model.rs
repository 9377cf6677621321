//! A compiled LNT program as a [`Model`].

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lts::{LabelId, OriginId};
use model::{
    ChosenFrom, DataFlow, Gate, Layout, MarkId, MarkKind, Model, ModelError, Observation, Observer,
    OfferType, OpenOffer, PackedWorker, Part, Provenance, SharedRows, SilentChoice, Slot, Starting,
    StateView, Telling, Worker,
};
use source::{Diagnostic, Span};

use crate::compile::code::{Code, ForkKind, Location, OfferCode, Op};
use crate::compile::types::Shaping;
use crate::compile::{Compiled, LITTLE_FUEL, Root, compile};
use crate::run::{
    Bounds, Choosing, Condition, FIRST_OBSERVATION, LntWorker, Locality, Machine, Native, PackedLntWorker,
    Plan, Plans, Shortcuts, Values, choosing, chosen_from, conditions, initial_state, localities,
    print_frozen, print_value, read_summary, silent, summary_mark,
};
use crate::typed::{FunctionId, ProcessId, Program, TypeId};

/// The gate number of successful termination in label rows; it has no offers.
pub(crate) const EXIT_GATE: u32 = u32::MAX;

/// What to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether steps say which source constructs fired.
    pub provenance: bool,
    /// The naive twin: every structured value is a row, and values that nobody fixes are tried one by one.
    pub naive: bool,
    /// From the first state on, what pays for large models only: machine code, and regions that are computed rather than
    /// remembered.
    pub eager: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { provenance: true, naive: false, eager: false }
    }
}

/// A program, ready to be explored.
pub struct LntModel {
    pub(crate) program: Program,
    pub(crate) compiled: Compiled,
    pub(crate) layout: Layout,
    /// Labels as rows: gate, profile, values.
    pub(crate) labels: SharedRows,
    /// The types of each profile's values.
    profile_types: Vec<Vec<TypeId>>,
    /// The profile of each action.
    pub(crate) profiles: Vec<u32>,
    /// For each fork, child and gate, the number of the rule that concerns it, counted from 1, or 0.
    pub(crate) rules: Vec<Vec<Vec<u32>>>,
    /// For each region, the slots of the bodies that it interrupts by acting.
    pub(crate) interrupted: Vec<Vec<Range<u32>>>,
    /// What happens where, looked up on every step.
    pub(crate) shortcuts: Shortcuts,
    /// For each region whose doing depends on few slots only, those.
    pub(crate) localities: Vec<Option<Locality>>,
    /// For each action, what decides which values it accepts.
    pub(crate) conditions: Vec<Condition>,
    /// Whether values that nobody fixes are named by those who take them, rather than tried one by one.
    pub(crate) narrowing: bool,
    /// For each action, the most values that were named and tried for it at once, plus 1; 0 where it took none.
    pub(crate) named: Vec<AtomicU32>,
    pub(crate) tried: Vec<AtomicU32>,
    /// What workers remember, in bytes.
    pub(crate) remembered: AtomicUsize,
    /// Whether everything is done as for large models from the start.
    pub(crate) eager: bool,
    /// Whether nothing is done that pays for large models only.
    pub(crate) plain: bool,
    /// Machine code, made when it pays.
    native: OnceLock<Option<Native>>,
    /// Whether rendezvous become machine code, and what came of that.
    pub(crate) plans_steps: bool,
    plans: Mutex<Plans>,
    pub(crate) provenance: Provenance,
    initial: Result<Vec<Slot>, ModelError>,
    initial_origin: OriginId,
    /// What has fired in functions before the first step.
    initially_fired: Vec<bool>,
}

impl LntModel {
    /// Compiles a program from one of its processes, which has no value parameters.
    pub fn new(program: Program, root: ProcessId, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        let telling = if options.provenance { Telling::Marks } else { Telling::Nothing };
        let shaping = if options.naive { Shaping::Rows } else { Shaping::Fixed };
        let mut model = Self::shaped(program, root, telling, Starting::Root, shaping, false)?;
        model.eager = options.eager;
        Ok(model)
    }

    pub(crate) fn build(
        program: Program,
        root: ProcessId,
        telling: Telling<'_>,
        starting: Starting,
        plain: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        Self::shaped(program, root, telling, starting, Shaping::Fixed, plain)
    }

    fn shaped(
        program: Program,
        root: ProcessId,
        telling: Telling<'_>,
        starting: Starting,
        shaping: Shaping,
        plain: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let process = &program[root];
        if !process.parameters.is_empty() {
            let parameters = match process.parameters.len() {
                1 => "it has 1 value parameter".to_owned(),
                several => format!("it has {several} value parameters"),
            };
            return Err(vec![
                Diagnostic::error(format!("process {} needs arguments to start", process.name))
                    .label(process.span, parameters)
                    .help(starting.advice(&format!("{} (…)", process.name))),
            ]);
        }
        let gates = process.gates.iter().map(|&gate| process.scope[gate].name.clone()).collect();
        let mut compiled = compile(&program, &Root { process: root, gates }, telling, shaping)?;
        if plain {
            compiled.fuel = LITTLE_FUEL;
        }
        if shaping == Shaping::Fixed {
            compute_constant_offers(&mut compiled, &program);
        }
        let marks = std::mem::take(&mut compiled.marks);
        let code = &compiled.code;
        let (profiles, profile_types) = profiles(code);
        let layout = Layout::new(&code.slot_bits);
        let interrupted = interrupted_bodies(code);
        let mut model = Self {
            conditions: conditions(code, &compiled.types),
            localities: localities(code, &compiled.types, &layout, &interrupted),
            layout,
            labels: SharedRows::new(),
            profile_types,
            profiles,
            rules: rule_numbers(code),
            interrupted,
            shortcuts: Shortcuts::new(code),
            narrowing: shaping == Shaping::Fixed,
            named: code.actions.iter().map(|_| AtomicU32::new(0)).collect(),
            tried: code.actions.iter().map(|_| AtomicU32::new(0)).collect(),
            remembered: AtomicUsize::new(0),
            eager: false,
            plain,
            native: OnceLock::new(),
            plans_steps: shaping == Shaping::Fixed && !code.flows,
            plans: Mutex::default(),
            provenance: Provenance::new(marks),
            initial: Ok(Vec::new()),
            initial_origin: Provenance::NONE,
            initially_fired: Vec::new(),
            program,
            compiled,
        };
        match initial_state(&model) {
            Ok((state, mut marks)) => {
                if model.compiled.code.flows {
                    marks = vec![summary_mark(&model.compiled, &marks)];
                }
                marks.sort_unstable();
                marks.dedup();
                model.initial_origin = OriginId::from_raw(model.provenance.origins().intern(&marks));
                model.initial = Ok(state);
            }
            Err(error) => model.initial = Err(error),
        }
        model.initially_fired =
            model.compiled.fired.iter().map(|fired| fired.load(Ordering::Relaxed)).collect();
        Ok(model)
    }

    /// The program as machine code, made by whoever asks first. Nothing where it is to be interpreted.
    pub(crate) fn native(&self) -> Option<&Native> {
        // The naive twin computes everything the plain way.
        let make =
            || self.narrowing.then(|| Native::new(&self.compiled, &self.layout, None, self.eager)).flatten();
        self.native.get_or_init(make).as_ref()
    }

    /// The plan for a configuration, made by whoever asks first.
    pub(crate) fn plan(
        &self,
        configuration: &[(u32, u32)],
        make: impl FnOnce() -> Option<Arc<Plan>>,
    ) -> Option<Arc<Plan>> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.entry(configuration.to_vec()).or_insert_with(make).clone()
    }

    /// A plan for a configuration that is newer than the one at hand, made by whoever asks first.
    pub(crate) fn newer_plan(
        &self,
        configuration: &[(u32, u32)],
        plan: &Arc<Plan>,
        make: impl FnOnce() -> Option<Arc<Plan>>,
    ) -> Option<Arc<Plan>> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let known = plans.entry(configuration.to_vec()).or_default();
        if known.as_ref().is_some_and(|known| Arc::ptr_eq(known, plan)) {
            *known = make();
        }
        known.clone()
    }

    /// Those of the program's warnings that concern what the root reaches: not what stands in processes and functions
    /// that never run.
    pub fn relevant(&self, mut warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let processes = self.program.processes.iter().map(|process| process.extent);
        let functions = self.program.functions.iter().map(|function| function.extent);
        let never: Vec<Span> =
            processes.chain(functions).filter(|extent| !self.compiled.reached.contains(extent)).collect();
        let inside = |span: Span, extent: &Span| {
            span.file == extent.file && extent.start <= span.start && span.end <= extent.end
        };
        warnings.retain(|warning| {
            warning.span().is_none_or(|span| !never.iter().any(|extent| inside(span, extent)))
        });
        warnings
    }

    /// The program that this model runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn offer_type(&self, ty: TypeId) -> OfferType {
        self.compiled.types[ty.index()].offer_type(&self.program)
    }

    /// The functions that the program can call from its root.
    pub fn functions(&self) -> &[FunctionId] {
        &self.compiled.functions
    }

    fn values(&self) -> Values<'_> {
        Values::new(&self.compiled.values, &self.compiled.types, &self.program)
    }
}

impl Model for LntModel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial(&self) -> Result<Vec<Slot>, ModelError> {
        self.initial.clone()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(LntWorker::new(self))
    }

    fn packed_worker(&self) -> Box<dyn PackedWorker + '_> {
        Box::new(PackedLntWorker::new(self))
    }

    fn label(&self, label: LabelId) -> String {
        let Some(number) = label.raw().checked_sub(1) else { return lts::TAU_TEXT.to_owned() };
        let row = self.labels.row(number);
        if row[0] == EXIT_GATE {
            return "exit".to_owned();
        }
        let mut text = self.compiled.code.gates[row[0] as usize].name.clone();
        let values = self.values();
        for (&ty, &value) in self.profile_types[row[1] as usize].iter().zip(&row[2..]) {
            text.push_str(" !");
            text.push_str(&print_frozen(&values, ty, value));
        }
        text
    }

    fn describe(&self, state: &[Slot]) -> StateView {
        let values = self.values();
        let code = &self.compiled.code;
        let mut view = StateView::default();
        for (_, location) in self.active(state) {
            for &name in &location.names {
                let name = &code.names[name as usize];
                let words = self.compiled.types[name.ty.index()].leaves.len();
                let slots = &state[name.slot as usize..name.slot as usize + words];
                let text = print_value(&values, name.ty, slots);
                view.values.push((format!("{}.{}", name.process, name.name), text));
            }
        }
        view
    }

    fn parts(&self, state: &[Slot]) -> Vec<Part> {
        let values = self.values();
        let code = &self.compiled.code;
        let part = |(region, location): (u32, &Location)| {
            let value = |&name: &u32| {
                let name = &code.names[name as usize];
                let words = self.compiled.types[name.ty.index()].leaves.len();
                let slots = &state[name.slot as usize..name.slot as usize + words];
                (name.name.clone(), print_value(&values, name.ty, slots))
            };
            Part {
                name: code.regions[region as usize].instance.clone(),
                values: location.names.iter().map(value).collect(),
                stands: Some(code.spans[location.address as usize]),
                started: code.regions[region as usize].started,
            }
        };
        self.active(state).into_iter().map(part).collect()
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn bytes(&self) -> usize {
        self.compiled.values.bytes()
            + self.compiled.observations.bytes()
            + self.labels.bytes()
            + self.provenance.bytes()
            + self.remembered.load(Ordering::Relaxed)
    }

    fn open_offers(&self) -> Vec<OpenOffer> {
        let most = |counts: &[AtomicU32], action: usize| {
            counts[action].load(Ordering::Relaxed).checked_sub(1).map(|count| count as usize)
        };
        let told = self.compiled.code.actions.iter().enumerate().map(|(number, action)| {
            let mut text = self.compiled.code.gates[action.gate as usize].name.clone();
            for (_, ty) in &action.offers {
                text.push_str(&format!(" ?{}", self.program[*ty].name));
            }
            let (named, tried) = (most(&self.named, number), most(&self.tried, number));
            OpenOffer { span: action.span, text, named, tried }
        });
        let mut told: Vec<OpenOffer> =
            told.filter(|offer| offer.named.is_some() || offer.tried.is_some()).collect();
        // A process that is started several times has the same action several times.
        told.sort_by_key(|offer| offer.span);
        told.dedup_by(|next, kept| {
            let same = next.span == kept.span;
            if same {
                (kept.named, kept.tried) = (kept.named.max(next.named), kept.tried.max(next.tried));
            }
            same
        });
        told
    }

    fn silent_choices(&self) -> Vec<SilentChoice> {
        let (code, types) = (&self.compiled.code, &self.compiled.types);
        let chosen = |(at, op): (usize, &Op)| {
            let Op::AnyValue(_, ty) = *op else { return None };
            let at = at as u32;
            let from = match choosing(code, types, at) {
                Some(Choosing::Elements { .. }) => ChosenFrom::Elements,
                Some(Choosing::Range(_, most, bounds)) => {
                    ChosenFrom::Words { most, fewer: bounds != Bounds::default() }
                }
                None if chosen_from(code, types, at).is_some() => ChosenFrom::Elements,
                None => ChosenFrom::Type,
            };
            let text = format!("any {}", self.program[ty].name);
            Some(SilentChoice { span: code.spans[at as usize], text, from })
        };
        let mut told: Vec<SilentChoice> = code.ops.iter().enumerate().filter_map(chosen).collect();
        told.sort_by_key(|choice| choice.span);
        told.dedup();
        told
    }

    fn observables(&self) -> Option<Vec<String>> {
        let names = self.compiled.code.names.iter().map(|name| format!("{}.{}", name.process, name.name));
        Some(names.collect())
    }

    fn initial_origin(&self) -> OriginId {
        self.initial_origin
    }

    /// Only what was executed in a state that was looked at has an origin: the table of origins holds just that.
    fn fired(&self) -> Option<Vec<OriginId>> {
        Some(self.provenance.origins().numbers().map(OriginId::from_raw).collect())
    }

    fn visible_gates(&self) -> Option<Vec<Gate>> {
        let code = &self.compiled.code;
        let gates = code.gates.iter().enumerate().filter(|(_, gate)| !gate.hidden);
        let told = gates.map(|(number, gate)| {
            let actions = code.actions.iter().filter(|action| action.gate as usize == number);
            let mut profiles: Vec<Vec<OfferType>> = Vec::new();
            for action in actions {
                let profile = action.offers.iter().map(|&(_, ty)| self.offer_type(ty)).collect();
                if !profiles.contains(&profile) {
                    profiles.push(profile);
                }
            }
            Gate { name: gate.name.clone(), profiles }
        });
        Some(told.collect())
    }

    fn types(&self) -> Option<Vec<String>> {
        Some(self.program.types.iter().map(|one| one.name.clone()).collect())
    }

    fn observer(&self) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(LntWorker::new(self)))
    }

    fn observations(&self) -> Box<dyn Fn(MarkId) -> Option<Observation> + '_> {
        let values = self.values();
        Box::new(move |mark| {
            let row = self.compiled.observations.row(mark.0.checked_sub(FIRST_OBSERVATION)?);
            let value = |pair: &[u32]| {
                let (span, ty) = self.compiled.code.observed[pair[0] as usize];
                (span, print_frozen(&values, ty, pair[1]))
            };
            Some(Observation {
                decision: self.provenance.mark(MarkId(row[0])).span,
                outcome: (row[1] < 2).then_some(row[1] == 1),
                values: row[2..].chunks_exact(2).map(value).collect(),
            })
        })
    }

    fn flow(&self, mark: MarkId) -> Option<DataFlow> {
        let row = self.compiled.observations.row(mark.0.checked_sub(FIRST_OBSERVATION)?);
        Some(read_summary(&row, &self.compiled.code.flow_sites))
    }

    fn fired_in_functions(&self) -> Vec<(MarkKind, Span)> {
        let fired = self.compiled.function_marks.iter().zip(&self.compiled.fired);
        fired.filter(|(_, fired)| fired.load(Ordering::Relaxed)).map(|(&mark, _)| mark).collect()
    }

    fn forget_fired(&self) {
        for (flag, &fired) in self.compiled.fired.iter().zip(&self.initially_fired) {
            flag.store(fired, Ordering::Relaxed);
        }
    }
}

/// Where each active region of a state rests: the process and the place in the source.
impl LntModel {
    /// The regions that are active in a state, with the source of what they do next.
    pub fn positions(&self, state: &[Slot]) -> Vec<(String, Span)> {
        let code = &self.compiled.code;
        let active = self.active(state).into_iter().map(|(region, location)| {
            (code.regions[region as usize].name.clone(), code.spans[location.address as usize])
        });
        active.collect()
    }

    /// The active regions of a state, in order, and where they rest. Only forks at which a region rests tell which
    /// regions are active below it: others use the same slots for something else.
    fn active(&self, state: &[Slot]) -> Vec<(u32, &Location)> {
        let code = &self.compiled.code;
        let mut active = Vec::new();
        let mut todo = vec![0];
        while let Some(number) = todo.pop() {
            let region = &code.regions[number as usize];
            let Some(place) = state[region.counter as usize].checked_sub(1) else { continue };
            let location = &region.locations[place as usize];
            active.push((number, location));
            if let Op::Fork(fork) = code.ops[location.address as usize] {
                todo.extend(&code.forks[fork as usize].children);
            }
        }
        active.sort_unstable_by_key(|&(number, _)| number);
        active
    }
}

/// Numbers the lists of types that actions offer.
fn profiles(code: &Code) -> (Vec<u32>, Vec<Vec<TypeId>>) {
    let mut types: Vec<Vec<TypeId>> = Vec::new();
    let mut numbers = Vec::with_capacity(code.actions.len());
    for action in &code.actions {
        let profile: Vec<TypeId> = action.offers.iter().map(|&(_, ty)| ty).collect();
        let known = types.iter().position(|known| *known == profile).unwrap_or_else(|| {
            types.push(profile);
            types.len() - 1
        });
        numbers.push(known as u32);
    }
    (numbers, types)
}

fn rule_numbers(code: &Code) -> Vec<Vec<Vec<u32>>> {
    let numbers = code.forks.iter().map(|fork| {
        let mut numbers = vec![vec![0; code.gates.len()]; fork.children.len()];
        for (index, rule) in fork.rules.iter().enumerate() {
            // Who does not list a gate is free to use it alone.
            for &member in &rule.members {
                numbers[member as usize][rule.gate as usize] = index as u32 + 1;
            }
        }
        numbers
    });
    numbers.collect()
}

/// Computes offers that no state decides, once: then who can meet whom is known sooner. Those that fail do so where they are made.
fn compute_constant_offers(compiled: &mut Compiled, program: &Program) {
    let code = &compiled.code;
    let records = |op: &Op| {
        let told = matches!(op, Op::Mark(_) | Op::Decide(_) | Op::Fire(_) | Op::FireOutcome(_));
        told || matches!(op, Op::Observe(_) | Op::Record(..))
    };
    if code.ops.iter().any(records) {
        return;
    }
    let reads = |at: u32| {
        let op = code.ops[at as usize];
        matches!(op, Op::LoadSlot(_) | Op::LoadSlots(..) | Op::LoadPart(_))
    };
    let mut machine = Machine::new(compiled, program);
    let mut found = Vec::new();
    for (number, action) in code.actions.iter().enumerate() {
        for (place, &(offer, ty)) in action.offers.iter().enumerate() {
            if let OfferCode::Computed(address) = offer
                && !silent(code, address).into_iter().any(reads)
                && let Ok(value) = machine.frozen(address, ty, &mut [])
            {
                found.push((number, place, value));
            }
        }
    }
    for (action, place, value) in found {
        compiled.code.actions[action].offers[place].0 = OfferCode::Constant(value);
    }
}

fn interrupted_bodies(code: &Code) -> Vec<Vec<Range<u32>>> {
    let bodies = |mut region: usize| {
        let mut bodies = Vec::new();
        while let Some((fork, child)) = code.regions[region].parent {
            let fork = &code.forks[fork as usize];
            if fork.kind == ForkKind::Disrupt && child == 1 {
                bodies.push(code.regions[fork.children[0] as usize].slots.clone());
            }
            region = fork.region as usize;
        }
        bodies
    };
    (0..code.regions.len()).map(bodies).collect()
}
