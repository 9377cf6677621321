//! Why a moment is rejected: what the model can do that comes closest, what differs, and what kept the rest from happening.

use lts::OriginId;
use model::{MarkKind, Obstacle};
use rustc_hash::FxHashSet;
use source::Span;

use crate::checker::{CheckError, Checker, Layers, Position, canonical};
use crate::traces::Moment;

/// How many steps further than allowed are searched for the state that was observed.
const FURTHER: u32 = 12;

/// How many states are looked at in search of it.
const MOST_STATES: usize = 20_000;

/// How many states are compared with what was observed.
const MOST_COMPARED: usize = 4_000;

/// How many labels are listed.
const MOST_LABELS: usize = 8;

/// What is known about a rejection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// The model's state before, as text; several are possible where not everything was observed.
    pub from: String,
    /// What the program did or showed.
    pub to: String,
    /// The state that the model can reach, or the label that it can do, that comes closest.
    pub closest: Option<String>,
    /// The labels that lead to the closest state.
    pub steps: Vec<String>,
    /// How it differs from what was observed.
    pub differs: Vec<Difference>,
    /// What almost happened, and what kept it from happening.
    pub blocked: Vec<Blocked>,
    /// The shortest bound that would do; none where none was found.
    pub needed: Option<u32>,
    /// How far was searched for it: so many steps, and whether there was nothing more to search.
    pub searched: (u32, bool),
    /// What the model could do instead: labels.
    pub possible: Vec<String>,
    /// In a few words, the same for failures of the same kind.
    pub cause: String,
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub component: String,
    /// What the model has there.
    pub model: String,
    /// What the program has there.
    pub program: String,
}

/// Something that almost happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Where it is written in the model.
    pub span: Span,
    /// What kept it from happening.
    pub why: String,
}

impl Checker<'_> {
    /// Why a moment is rejected at a position.
    pub fn diagnose(&mut self, position: &Position, moment: &Moment) -> Result<Diagnosis, CheckError> {
        let mut roots: Vec<(String, u32)> = Vec::new();
        for &state in self.states(position).iter() {
            roots.push((self.space.text(state), state));
        }
        // Numbers of states depend on what was followed before; texts do not.
        roots.sort();
        let from = match roots.as_slice() {
            [] => String::new(),
            [(only, _)] => only.clone(),
            [(first, _), rest @ ..] => {
                format!("{first} (or {} other states that agree with the trace)", rest.len())
            }
        };
        let roots: Vec<u32> = roots.into_iter().map(|(_, state)| state).collect();
        match (&moment.event, &moment.state) {
            (None, Some(state)) => {
                let seen = self.observation(state)?;
                let mut diagnosis = match self.has_begun(position) {
                    true => self.no_step(&roots, seen)?,
                    false => self.no_start(seen)?,
                };
                diagnosis.from = from;
                diagnosis.to = match self.state_of(seen) {
                    Some(state) => self.space.text(state),
                    None => state.to_string(),
                };
                Ok(diagnosis)
            }
            (Some(event), state) => {
                let roots = match self.has_begun(position) {
                    true => roots,
                    false => {
                        let initial = self.space.model.initial()?;
                        vec![self.space.number(&initial)]
                    }
                };
                let mut diagnosis = self.no_event(&roots, event)?;
                if from.is_empty() {
                    diagnosis.from = self.space.text(roots[0]);
                } else {
                    diagnosis.from = from;
                }
                diagnosis.to = match state {
                    Some(state) => format!("{event}, then {state}"),
                    None => event.clone(),
                };
                Ok(diagnosis)
            }
            (None, None) => Ok(Diagnosis::default()),
        }
    }

    /// No way from some states to the one that was observed.
    fn no_step(&mut self, roots: &[u32], seen: u32) -> Result<Diagnosis, CheckError> {
        let wanted = self.values(seen);
        let bound = self.settings.bound.most();
        let mut layers = Layers::new(&mut self.space, roots, self.settings.count_silent)?;
        let mut best: Option<(usize, u32, u32)> = None;
        let mut compared = 0;
        let mut needed = None;
        let mut ended = false;
        for steps in 0..=bound + FURTHER {
            if steps > 0 && !layers.grow(&mut self.space)? {
                ended = true;
                break;
            }
            for state in layers.last() {
                if steps > bound && needed.is_none() && self.matches(state, seen) {
                    needed = Some(steps);
                }
                // Standing still is what comes closest only if nothing else is as close.
                if steps <= bound && compared < MOST_COMPARED {
                    compared += 1;
                    let distance = differences(&wanted, &self.space.view(state)).len();
                    let rank = (distance, if steps == 0 { u32::MAX } else { steps }, state);
                    if best.is_none_or(|best| (rank.0, rank.1) < (best.0, best.1)) {
                        best = Some(rank);
                    }
                }
            }
            if needed.is_some() || layers.len() > MOST_STATES {
                break;
            }
        }
        let mut diagnosis =
            Diagnosis { needed, searched: (layers.steps, ended && needed.is_none()), ..Diagnosis::default() };
        let mut closest_origin = None;
        if let Some((_, _, state)) = best {
            let path = layers.path(state);
            diagnosis.steps = path.iter().map(|&(label, _)| self.space.label(label).to_owned()).collect();
            diagnosis.differs = differences(&wanted, &self.space.view(state));
            diagnosis.closest = Some(self.space.text(state));
            closest_origin = path.last().map(|&(_, origin)| origin);
        }
        self.add_withheld(&layers, bound, &wanted, seen, &mut diagnosis)?;
        let names: Vec<&str> =
            diagnosis.differs.iter().map(|difference| difference.component.as_str()).collect();
        if let Some(origin) = closest_origin
            && diagnosis.blocked.is_empty()
            && needed.is_none()
        {
            let told: Vec<String> = diagnosis
                .differs
                .iter()
                .map(|difference| match difference.component.as_str() {
                    "" => format!("{} where the program has {}", difference.model, difference.program),
                    name => {
                        format!("{name}: {} where the program has {}", difference.model, difference.program)
                    }
                })
                .collect();
            for span in self.places(origin) {
                diagnosis.blocked.push(Blocked { span, why: format!("this gives {}", told.join(", ")) });
            }
        }
        let last = diagnosis.steps.last().map(|label| lts::gate(label).to_owned());
        diagnosis.cause = match (needed, diagnosis.blocked.first(), last) {
            (Some(needed), ..) => format!("{needed} steps instead of {bound}"),
            (None, _, Some(label)) if !names.is_empty() => format!("{} after {label}", names.join(", ")),
            (None, ..) if !names.is_empty() => format!("{} without a step", names.join(", ")),
            _ => "no step".to_owned(),
        };
        Ok(diagnosis)
    }

    /// Adds the steps that guards alone keep from leading closer to what was observed.
    fn add_withheld(
        &mut self,
        layers: &Layers,
        bound: u32,
        wanted: &[(String, String)],
        seen: u32,
        diagnosis: &mut Diagnosis,
    ) -> Result<(), CheckError> {
        let limit = diagnosis.differs.len();
        let mut found: Vec<(usize, OriginId, Vec<Span>)> = Vec::new();
        for state in layers.within(bound.saturating_sub(1)).into_iter().take(64) {
            let row = self.space.row(state);
            let mut withheld = Vec::new();
            self.space.reader.withheld(&row, &mut |step| withheld.push(step))?;
            for step in withheld {
                let target = self.space.number(&step.target);
                let distance = match self.matches(target, seen) {
                    true => 0,
                    false => differences(wanted, &self.space.view(target)).len(),
                };
                if distance < limit {
                    found.push((distance, step.origin, step.guards));
                }
            }
        }
        found.sort_by_key(|(distance, ..)| *distance);
        let best = found.first().map(|(distance, ..)| *distance);
        let mut told: FxHashSet<Span> = FxHashSet::default();
        for (distance, origin, guards) in found {
            if Some(distance) != best {
                break;
            }
            let exact = if distance == 0 { "leads to what the program shows" } else { "comes closer" };
            let spans = if guards.is_empty() { self.places(origin) } else { guards };
            for span in spans {
                if told.insert(span) {
                    let why = format!("this condition does not hold; without it, the step {exact}");
                    diagnosis.blocked.push(Blocked { span, why });
                }
            }
        }
        Ok(())
    }

    /// No state of the model is the first one that was observed.
    fn no_start(&mut self, seen: u32) -> Result<Diagnosis, CheckError> {
        let wanted = self.values(seen);
        let (states, closest) = match self.settings.from_initial {
            true => {
                let initial = self.space.model.initial()?;
                (vec![self.space.number(&initial)], "the initial state is another one")
            }
            false => (self.reachable()?.0.to_vec(), "no state that the model can reach has these values"),
        };
        let mut best: Option<(usize, u32)> = None;
        for state in states.into_iter().take(MOST_COMPARED) {
            let distance = differences(&wanted, &self.space.view(state)).len();
            if best.is_none_or(|best| distance < best.0) {
                best = Some((distance, state));
            }
        }
        let mut diagnosis = Diagnosis { cause: closest.to_owned(), ..Diagnosis::default() };
        if let Some((_, state)) = best {
            diagnosis.differs = differences(&wanted, &self.space.view(state));
            diagnosis.closest = Some(self.space.text(state));
        }
        Ok(diagnosis)
    }

    /// Nothing that the model can do is the event.
    fn no_event(&mut self, roots: &[u32], event: &str) -> Result<Diagnosis, CheckError> {
        let closed = self.space.closure(roots)?;
        let mut possible: Vec<(String, OriginId)> = Vec::new();
        for &state in &closed {
            for step in self.space.steps(state)?.iter().filter(|step| step.label != 0) {
                let text = self.space.label(step.label);
                if !possible.iter().any(|(known, _)| known == text) {
                    possible.push((text.to_owned(), step.origin));
                }
            }
        }
        possible.sort_by(|one, other| one.0.cmp(&other.0));
        let gate = lts::gate(event);
        let offers = lts::offers(event);
        let distance = |label: &str| -> usize {
            let own = lts::offers(label);
            let differing = own.iter().zip(&offers).filter(|(one, other)| one != other).count();
            differing + own.len().abs_diff(offers.len())
        };
        let same = possible.iter().filter(|(label, _)| lts::gate(label) == gate);
        let closest = same.min_by_key(|(label, _)| distance(label)).cloned();
        let mut diagnosis = Diagnosis::default();
        match &closest {
            Some((label, origin)) => {
                for (at, (model, program)) in lts::offers(label).iter().zip(&offers).enumerate() {
                    if model != program {
                        diagnosis.differs.push(Difference {
                            component: format!("{gate} value {}", at + 1),
                            model: (*model).to_owned(),
                            program: (*program).to_owned(),
                        });
                    }
                }
                for span in self.places(*origin) {
                    let why = format!("this gives {label} where the program has {event}");
                    diagnosis.blocked.push(Blocked { span, why });
                }
                diagnosis.cause = format!("{gate} with other values");
            }
            None => diagnosis.cause = format!("{gate} is not possible"),
        }
        diagnosis.closest = closest.map(|(label, _)| label);
        self.add_encounters(&closed, gate, &mut diagnosis)?;
        // A little later it may be possible: what is missing before it.
        let mut layers = Layers::new(&mut self.space, roots, false)?;
        'search: for steps in 0..=FURTHER {
            if steps > 0 && !layers.grow(&mut self.space)? {
                diagnosis.searched = (steps, true);
                break;
            }
            diagnosis.searched = (steps, false);
            for state in layers.last() {
                let found = self.space.steps(state)?;
                let happens = found.iter().find(|step| {
                    step.label != 0 && crate::checker::label_matches(self.space.label(step.label), event)
                });
                if let Some(step) = happens {
                    self.add_guards(&closed, step.origin, &mut diagnosis);
                    let path = layers.path(state);
                    let labels = path.iter().filter(|&&(label, _)| label != 0);
                    diagnosis.steps = labels.map(|&(label, _)| self.space.label(label).to_owned()).collect();
                    diagnosis.needed = Some(steps);
                    break 'search;
                }
            }
            if layers.len() > MOST_STATES {
                break;
            }
        }
        if let Some(steps) = diagnosis.needed.filter(|&steps| steps > 0) {
            diagnosis.cause =
                format!("{gate} too early, by {steps} step{}", if steps == 1 { "" } else { "s" });
        }
        diagnosis.possible = possible.into_iter().map(|(label, _)| label).take(MOST_LABELS).collect();
        Ok(diagnosis)
    }

    /// Adds the conditions that hold where a step happens, and do not hold in some states.
    fn add_guards(&mut self, states: &[u32], origin: OriginId, diagnosis: &mut Diagnosis) {
        let mut executed = FxHashSet::default();
        for &state in states {
            self.space.executed(state, &mut executed);
        }
        let provenance = self.space.model.provenance();
        let decisions = |origin: OriginId, outcome: bool| {
            let marks = provenance.marks_of(origin).into_iter().map(|mark| provenance.mark(mark));
            marks.filter(move |mark| mark.kind == MarkKind::Decision(outcome)).map(|mark| mark.span)
        };
        let refused: FxHashSet<Span> =
            executed.into_iter().flat_map(|origin| decisions(origin, false)).collect();
        let mut guards: Vec<Span> = decisions(origin, true).filter(|span| refused.contains(span)).collect();
        guards.sort_by_key(|span| (span.file, span.start));
        guards.dedup();
        for span in guards {
            diagnosis.blocked.push(Blocked { span, why: "this condition does not hold".to_owned() });
        }
    }

    /// Adds the actions on a gate that are offered in some states and do not happen there.
    fn add_encounters(
        &mut self,
        states: &[u32],
        gate: &str,
        diagnosis: &mut Diagnosis,
    ) -> Result<(), CheckError> {
        let Some(mut observer) = self.space.model.observer() else { return Ok(()) };
        let provenance = self.space.model.provenance();
        let wanted = vec![true; provenance.marks().len()];
        let mut found = Vec::new();
        for &state in states.iter().take(64) {
            let row = self.space.row(state);
            observer.encounters(&row, &wanted, &mut |encounter| {
                if lts::gate(&encounter.offer) == gate {
                    found.push(encounter);
                }
            })?;
        }
        found.sort_by_key(|encounter| std::cmp::Reverse(encounter.obstacle));
        let mut told: FxHashSet<Span> = diagnosis.blocked.iter().map(|blocked| blocked.span).collect();
        for encounter in found {
            let span = provenance.mark(encounter.action).span;
            if !told.insert(span) {
                continue;
            }
            let partners: Vec<&str> =
                encounter.partners.iter().map(|partner| partner.process.as_str()).collect();
            let why = match encounter.obstacle {
                Obstacle::Refused => {
                    format!("{} is offered, and its condition does not hold", encounter.offer)
                }
                Obstacle::DifferentValues => {
                    format!("{} is offered, and {} has other values", encounter.offer, partners.join(" and "))
                }
                Obstacle::DifferentProfile => {
                    format!(
                        "{} is offered, and {} has other types of values",
                        encounter.offer,
                        partners.join(" and ")
                    )
                }
                Obstacle::PartnerNotReady => {
                    format!(
                        "{} is offered, and {} is not ready for it",
                        encounter.offer,
                        partners.join(" and ")
                    )
                }
            };
            diagnosis.blocked.push(Blocked { span, why });
        }
        Ok(())
    }

    /// Where the actions of a step are written.
    fn places(&self, origin: OriginId) -> Vec<Span> {
        let provenance = self.space.model.provenance();
        let marks = provenance.marks_of(origin).into_iter().map(|mark| provenance.mark(mark));
        let mut spans: Vec<Span> =
            marks.filter(|mark| mark.kind == MarkKind::Action).map(|mark| mark.span).collect();
        spans.dedup();
        spans
    }
}

/// The values that differ: those that are wanted, and those of the model that nothing is said about in a whole state.
fn differences(wanted: &[(String, String)], view: &[(String, String)]) -> Vec<Difference> {
    let mut differs = Vec::new();
    // A name may stand for several things, as messages in a soup do: each is compared with one.
    let mut left: Vec<&(String, String)> = view.iter().collect();
    let mut missing: Vec<&(String, String)> = Vec::new();
    for value in wanted {
        let same =
            |other: &&(String, String)| other.0 == value.0 && canonical(&other.1) == canonical(&value.1);
        match left.iter().position(same) {
            Some(at) => _ = left.swap_remove(at),
            None => missing.push(value),
        }
    }
    for (name, program) in missing {
        let model = match left.iter().position(|other| other.0 == *name) {
            Some(at) => left.swap_remove(at).1.clone(),
            None => "nothing".to_owned(),
        };
        let shown = |text: &str| if text.is_empty() { "there".to_owned() } else { text.to_owned() };
        differs.push(Difference { component: name.clone(), model: shown(&model), program: shown(program) });
    }
    differs
}
