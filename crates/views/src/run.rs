//! A run in the words of the model: who takes part in each step, which values it changes, and who waits where it ends.

use explain::{Actor, Exit, Group, Run, Tag, Tagged};
use lts::{Lts, StateId};
use model::{Encounter, Obstacle, Part, Participant};
use report::{ActionSpan, Explanation, InstanceValue, InstanceValues, ValueChange, Waiting};

use crate::explanation::Origin;

/// The most steps of a run that are looked at.
const MOST_STEPS: usize = 10_000;
/// The most characters of a value.
const MOST_CHARACTERS: usize = 60;

/// A run with what its states and steps look like from inside; the first steps of a very long one.
pub struct Inside {
    /// The instances of each state, the initial one first.
    parts: Vec<Vec<Part>>,
    /// Who takes part in each step; empty where that is not known.
    participants: Vec<Vec<Participant>>,
    /// The actions that can't happen in the last state, where nothing can.
    pub waiting: Vec<Encounter>,
}

impl Inside {
    /// Looks at a run of a tagged system.
    pub fn of(tagged: &Tagged<'_>, run: &Run, origin: Origin<'_>) -> Self {
        let labels: Vec<&str> = run.steps.iter().map(|&step| tagged.label(step)).collect();
        Self::along(tagged.system(), &tagged.states_of(run), &labels, run.lasso.is_none(), origin)
    }

    /// Looks at any run: its states, one more than labels, and whether it ends with the last of them.
    pub fn along(system: &Lts, numbers: &[StateId], labels: &[&str], ends: bool, origin: Origin<'_>) -> Self {
        let model = origin.program.model();
        let states: Vec<Vec<u32>> = numbers
            .iter()
            .take(MOST_STEPS + 1)
            .map(|&state| origin.exploration.state(model, state))
            .collect();
        let mut inside = Self {
            parts: states.iter().map(|state| model.parts(state)).collect(),
            participants: Vec::new(),
            waiting: Vec::new(),
        };
        let Some(mut observer) = model.observer() else { return inside };
        for (at, label) in labels.iter().enumerate().take(MOST_STEPS) {
            // A step that can't be computed again keeps the names of processes.
            let found = observer.participants(&states[at], label, &states[at + 1]);
            inside.participants.push(found.unwrap_or_default());
        }
        let end = numbers.last().filter(|_| ends && numbers.len() == states.len());
        if let (Some(&end), Some(state)) = (end, states.last())
            && system.outgoing(end).is_empty()
        {
            let wanted = vec![true; model.provenance().marks().len()];
            let mut found: Vec<Encounter> = Vec::new();
            // A state whose rendezvous can't be computed has nothing to tell.
            let _ = observer.encounters(state, &wanted, &mut |one| {
                if !found.contains(&one) {
                    found.push(one);
                }
            });
            inside.waiting = found;
        }
        inside
    }

    /// The instances in the last state, as clues.
    pub fn actors(&self) -> Vec<Actor> {
        let waits = self.waiting.len().max(1) as f64;
        let actor = |part: &Part| {
            let takes_part = |step: &Vec<Participant>| step.iter().any(|one| one.instance == part.name);
            let is_partner = |one: &Encounter| {
                one.instance != part.name
                    && one.partners.iter().any(|partner| partner.instances.contains(&part.name))
            };
            let waiting = self.waiting.iter();
            let differs = |one: &Encounter| {
                one.obstacle != Obstacle::PartnerNotReady && (is_partner(one) || one.instance == part.name)
            };
            Actor {
                started: part.started,
                stands: part.stands,
                idle: self.participants.iter().rev().position(takes_part),
                blamed: waiting.clone().filter(|one| is_partner(one)).count() as f64 / waits,
                differs: waiting.clone().any(differs),
            }
        };
        self.parts.last().into_iter().flatten().map(actor).collect()
    }

    /// Adds instances and values to the steps of an explanation; all values after every step, where these are wanted.
    pub fn add_to(&self, explanation: &mut Explanation, origin: Origin<'_>, all: bool) {
        for (at, shown) in explanation.steps.iter_mut().enumerate().take(self.parts.len().saturating_sub(1)) {
            shown.changes = changes(&self.parts[at], &self.parts[at + 1]);
            if all {
                shown.values = values(&self.parts[at + 1]);
            }
            let found = self.participants.get(at).filter(|found| !found.is_empty());
            if let Some(found) = found {
                shown.actions = found.iter().map(|one| participant(one, origin)).collect();
            }
        }
        add_waiting(explanation, &self.waiting, origin);
    }

    /// The variables in each state, by instance, with what the step before it changed.
    pub fn instances(&self) -> Vec<Vec<InstanceValues>> {
        let before = std::iter::once(None).chain(self.parts.iter().map(|parts| Some(parts.as_slice())));
        let mut all: Vec<Vec<InstanceValues>> =
            self.parts.iter().zip(before).map(|(after, before)| since(before, after)).collect();
        for one in all.iter_mut().flatten().flat_map(|instance| &mut instance.values) {
            one.value = shortened(&one.value);
            one.before = one.before.as_deref().map(shortened);
        }
        all
    }
}

/// The variables of a state, by instance.
pub fn instances(origin: Origin<'_>, state: StateId) -> Vec<InstanceValues> {
    let model = origin.program.model();
    since(None, &model.parts(&origin.exploration.state(model, state)))
}

fn participant(one: &Participant, origin: Origin<'_>) -> ActionSpan {
    let instance = Some(one.instance.clone()).filter(|name| !name.is_empty());
    ActionSpan { instance, ..origin.action(one.action) }
}

/// All values of a state, by instance.
fn values(parts: &[Part]) -> Vec<(String, String)> {
    let all = parts.iter().flat_map(|part| part.values.iter().map(move |one| (part, one)));
    all.map(|(part, (name, value))| (full_name(&part.name, name), shortened(value))).collect()
}

fn full_name(instance: &str, name: &str) -> String {
    if instance.is_empty() { name.to_owned() } else { format!("{instance}.{name}") }
}

/// What differs between two states. A variable that is not read any more is not worth a word.
fn changes(before: &[Part], after: &[Part]) -> Vec<ValueChange> {
    let change = |instance: &str, one: InstanceValue| ValueChange {
        name: full_name(instance, &one.name),
        before: one.before.as_deref().map(shortened),
        after: Some(shortened(&one.value)),
    };
    let of = |one: InstanceValues| {
        let changed = one.values.into_iter().filter(|value| value.changed);
        changed.map(|value| change(&one.instance, value)).collect::<Vec<ValueChange>>()
    };
    since(Some(before), after).into_iter().flat_map(of).collect()
}

/// The variables of a state by instance, with what is different from the state before.
fn since(before: Option<&[Part]>, after: &[Part]) -> Vec<InstanceValues> {
    let of = |part: &Part| {
        let known = before.into_iter().flatten().find(|one| one.name == part.name);
        let mut seen: Vec<&str> = Vec::new();
        let mut values = Vec::new();
        for (name, value) in &part.values {
            // Of several variables of one name, the inner ones come last.
            let nth = seen.iter().filter(|one| *one == name).count();
            seen.push(name);
            let old = known.and_then(|one| one.values.iter().filter(|(other, _)| other == name).nth(nth));
            values.push(InstanceValue {
                name: name.clone(),
                value: value.clone(),
                before: old.map(|(_, old)| old.clone()),
                changed: before.is_some() && old.is_none_or(|(_, old)| old != value),
            });
        }
        InstanceValues { instance: part.name.clone(), values }
    };
    after.iter().map(of).collect()
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// Tells who waits for whom where nothing can happen any more.
fn add_waiting(explanation: &mut Explanation, encounters: &[Encounter], origin: Origin<'_>) {
    for encounter in encounters {
        let mut partners: Vec<String> =
            encounter.partners.iter().flat_map(|partner| partner.instances.iter().cloned()).collect();
        partners.sort();
        partners.dedup();
        partners.retain(|partner| *partner != encounter.instance);
        let mut could_help: Vec<ActionSpan> = encounter
            .partners
            .iter()
            .flat_map(|partner| &partner.actions)
            .map(|&action| origin.action(action))
            .collect();
        could_help.dedup();
        let participant = Participant { action: encounter.action, instance: encounter.instance.clone() };
        explanation.waiting.push(Waiting {
            action: self::participant(&participant, origin),
            offer: encounter.offer.clone(),
            why: why(encounter, &partners, &could_help),
            partners,
            could_help,
        });
    }
    explanation.waiting_cycle = cycle(&explanation.waiting);
}

fn why(encounter: &Encounter, partners: &[String], could_help: &[ActionSpan]) -> String {
    let names = match partners {
        [] => "the others".to_owned(),
        names => names.join(" or "),
    };
    let offers: Vec<&str> = encounter
        .partners
        .iter()
        .flat_map(|partner| partner.offers.iter().map(|(_, offer)| offer.as_str()))
        .collect();
    match encounter.obstacle {
        Obstacle::PartnerNotReady if could_help.is_empty() => {
            format!("it needs {names}, and nothing there can ever meet it again")
        }
        Obstacle::PartnerNotReady => {
            let mut lines: Vec<String> = could_help.iter().map(|one| one.line.to_string()).collect();
            lines.dedup();
            let word = if lines.len() == 1 { "line" } else { "lines" };
            format!("it needs {names} at {word} {}, and control is elsewhere", lines.join(", "))
        }
        Obstacle::DifferentProfile => format!("{names} offers other kinds of values: {}", offers.join(", ")),
        Obstacle::DifferentValues => format!("{names} offers other values: {}", offers.join(", ")),
        Obstacle::Refused => {
            format!("{names} is there, but a condition does not hold or a pattern does not match")
        }
    }
}

/// A shortest circle of those who wait for each other.
fn cycle(waiting: &[Waiting]) -> Option<Vec<String>> {
    let mut names: Vec<&str> = waiting.iter().map(|one| one.action.who()).collect();
    names.sort_unstable();
    names.dedup();
    let number = |name: &str| names.binary_search(&name).ok();
    let next: Vec<Vec<usize>> = names
        .iter()
        .map(|&name| {
            let own = waiting.iter().filter(|one| one.action.who() == name);
            let mut next: Vec<usize> =
                own.flat_map(|one| one.partners.iter().filter_map(|partner| number(partner))).collect();
            next.sort_unstable();
            next.dedup();
            next
        })
        .collect();
    let mut best: Option<Vec<usize>> = None;
    for start in 0..names.len() {
        let mut before = vec![usize::MAX; names.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            if next[at].contains(&start) {
                let mut way = vec![at];
                while way[way.len() - 1] != start {
                    way.push(before[way[way.len() - 1]]);
                }
                way.reverse();
                if best.as_ref().is_none_or(|known| way.len() < known.len()) {
                    best = Some(way);
                }
                break;
            }
            for &other in &next[at] {
                if other != start && before[other] == usize::MAX {
                    before[other] = at;
                    queue.push_back(other);
                }
            }
        }
    }
    best.map(|way| way.into_iter().map(|at| names[at].to_owned()).collect())
}

/// The most states on each side, and the most variables, that conditions are learned from.
const MOST_COMPARED: usize = 500;
const MOST_VARIABLES: usize = 20;

/// For each exit of a choice that loses for good in some states and not in others: what tells these states apart.
pub(crate) fn separations(tagged: &Tagged<'_>, group: &Group, origin: Origin<'_>) -> Vec<String> {
    let model = origin.program.model();
    let losing = group.exits.iter().filter(|exit| exit.tag == Tag::Incorrect);
    let sentence = |exit: &Exit| {
        let (wrong, others) = tagged.split(exit, Some(origin.provenance()), MOST_COMPARED)?;
        let read = |states: &[StateId]| -> Vec<Vec<(String, String)>> {
            let parts = states.iter().map(|&state| model.parts(&origin.exploration.state(model, state)));
            parts.map(|parts| values(&parts)).collect()
        };
        let (wrong, others) = (read(&wrong), read(&others));
        let mut names: Vec<String> = wrong.first()?.iter().map(|(name, _)| name.clone()).collect();
        let has = |row: &Vec<(String, String)>, name: &String| {
            row.iter().filter(|(other, _)| other == name).count() == 1
        };
        names.retain(|name| wrong.iter().chain(&others).all(|row| has(row, name)));
        names.truncate(MOST_VARIABLES);
        let only = |rows: &[Vec<(String, String)>]| -> Vec<Vec<String>> {
            let value = |row: &Vec<(String, String)>, name: &String| {
                row.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
            };
            rows.iter().map(|row| names.iter().filter_map(|name| value(row, name)).collect()).collect()
        };
        let condition = explain::separation(&only(&wrong), &only(&others))?;
        let words: Vec<String> = condition.iter().map(|one| one.named(&names).to_string()).collect();
        let label = tagged.system().label(*exit.labels.first()?);
        let gate = label.split(' ').next().unwrap_or(label);
        Some(format!("{gate} is wrong for good exactly where {}", words.join(" and ")))
    };
    losing.filter_map(sentence).collect()
}
