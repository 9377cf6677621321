//! Neighbourhoods that are the same choice in different interleavings, and the source behind tags.

use lts::{LabelId, OriginId, StateId};
use model::{MarkId, MarkKind, Provenance};
use rustc_hash::FxHashMap;

use crate::graph::SINK;
use crate::neighbourhood::{Kind, Neighbourhood};
use crate::tagged::{Step, Tag, Tagged};

/// Neighbourhoods with the same deciding exits: the same constructs of the source, or the same labels where there is
/// no source, lead to what is correct and to what is incorrect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Positions in [`Tagged::neighbourhoods`], ascending.
    pub members: Vec<usize>,
    /// The exits of all of them: correct, incorrect, neutral; within a tag in the order of the system's labels.
    pub exits: Vec<Exit>,
}

/// Exits of a group that come from the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// What they lead to.
    pub tag: Tag,
    /// Their labels.
    pub labels: Vec<LabelId>,
    /// The actions that take part, where the source is known.
    pub actions: Vec<MarkId>,
    /// How many transitions they are.
    pub transitions: u64,
}

/// What tells exits apart: the actions behind them, or the label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Actions(Vec<MarkId>),
    Label(LabelId),
}

/// The labels and the number of transitions of each exit.
type Exits = FxHashMap<(Tag, u32), (Vec<LabelId>, u64)>;

/// Places numbered, so that a neighbourhood's exits are a few numbers.
#[derive(Default)]
struct Places {
    known: Vec<Place>,
    numbers: FxHashMap<Place, u32>,
    /// Origins that were looked up before.
    origins: FxHashMap<OriginId, Option<u32>>,
}

impl Places {
    fn number(&mut self, place: Place) -> u32 {
        let fresh = self.known.len() as u32;
        *self.numbers.entry(place).or_insert_with_key(|place| {
            self.known.push(place.clone());
            fresh
        })
    }

    fn of(&mut self, tagged: &Tagged<'_>, step: Step, provenance: Option<&Provenance>) -> u32 {
        let origin = tagged.system().origin(tagged.system_edge(step));
        if let (Some(origin), Some(provenance)) = (origin, provenance) {
            let known = match self.origins.get(&origin) {
                Some(known) => *known,
                None => {
                    let marks = provenance.marks_of(origin).into_iter();
                    let actions: Vec<MarkId> =
                        marks.filter(|&mark| provenance.mark(mark).kind == MarkKind::Action).collect();
                    let number = (!actions.is_empty()).then(|| self.number(Place::Actions(actions)));
                    self.origins.insert(origin, number);
                    number
                }
            };
            if let Some(number) = known {
                return number;
            }
        }
        self.number(Place::Label(tagged.graph.label(step.source, step.at)))
    }
}

impl Tagged<'_> {
    /// The neighbourhoods by what decides in them, in the order of their first members.
    ///
    /// ```
    /// // C is wrong, before A or after it.
    /// let aut = "des (0, 4, 5)\n(0, A, 1)\n(0, C, 2)\n(1, B, 3)\n(1, C, 4)\n";
    /// let lts = lts::parse_aut(aut, &Default::default())?;
    /// let mut sources = source::Sources::new();
    /// let property = explain::Property::of(&logic::never("C", &mut sources).unwrap().formula).unwrap();
    /// let tagged = property.tag(&lts, &Default::default(), &lts::Progress::new()).unwrap().unwrap();
    /// // In 0 it can be lost; in 1 it is decided.
    /// assert_eq!(tagged.groups(None).len(), 2);
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn groups(&self, provenance: Option<&Provenance>) -> Vec<Group> {
        self.groups_of(provenance, None)
    }

    /// Likewise for the neighbourhoods of one kind, where one is given.
    pub fn groups_of(&self, provenance: Option<&Provenance>, kind: Option<Kind>) -> Vec<Group> {
        let mut places = Places::default();
        let mut numbers: FxHashMap<Vec<(Tag, u32)>, usize> = FxHashMap::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        // What each group's exits are: labels and how many.
        let mut exits: Vec<Exits> = Vec::new();
        let mut row: Vec<(Tag, u32, LabelId)> = Vec::new();
        let wanted = |one: &Neighbourhood| kind.is_none_or(|kind| one.kind == kind);
        for (position, one) in self.neighbourhoods().iter().enumerate().filter(|(_, one)| wanted(one)) {
            row.clear();
            for step in self.outgoing(one.node) {
                let place = places.of(self, step, provenance);
                row.push((self.tag(step), place, self.graph.label(one.node, step.at)));
            }
            let deciding = row.iter().filter(|exit| exit.0 != Tag::Neutral);
            let mut key: Vec<(Tag, u32)> = deciding.map(|&(tag, place, _)| (tag, place)).collect();
            key.sort_unstable();
            key.dedup();
            let fresh = members.len();
            let group = *numbers.entry(key).or_insert(fresh);
            if group == fresh {
                members.push(Vec::new());
                exits.push(Exits::default());
            }
            members[group].push(position);
            for &(tag, place, label) in &row {
                let exit = exits[group].entry((tag, place)).or_default();
                exit.1 += 1;
                if let Err(at) = exit.0.binary_search(&label) {
                    exit.0.insert(at, label);
                }
            }
        }
        let group = |(members, exits): (Vec<usize>, Exits)| {
            let exit = |((tag, place), (labels, transitions)): ((Tag, u32), (Vec<LabelId>, u64))| Exit {
                tag,
                labels,
                transitions,
                actions: match &places.known[place as usize] {
                    Place::Actions(actions) => actions.clone(),
                    Place::Label(_) => Vec::new(),
                },
            };
            let mut exits: Vec<Exit> = exits.into_iter().map(exit).collect();
            exits.sort_by(|a, b| (a.tag, &a.labels, &a.actions).cmp(&(b.tag, &b.labels, &b.actions)));
            Group { members, exits }
        };
        members.into_iter().zip(exits).map(group).collect()
    }

    /// The states in which exits like this one lose for good, and those in which they don't, both ascending; nothing where
    /// they are more than so many.
    pub fn split(
        &self,
        exit: &Exit,
        provenance: Option<&Provenance>,
        most: usize,
    ) -> Option<(Vec<StateId>, Vec<StateId>)> {
        let mut places = Places::default();
        let wanted = match exit.actions.is_empty() {
            true => Vec::from_iter(exit.labels.iter().map(|&label| places.number(Place::Label(label)))),
            false => vec![places.number(Place::Actions(exit.actions.clone()))],
        };
        let (mut wrong, mut others) = (Vec::new(), Vec::new());
        for step in self.steps() {
            let loses = self.tag(step) == Tag::Incorrect;
            if (loses && self.neighbourhood(step.source).is_none())
                || !wanted.contains(&places.of(self, step, provenance))
            {
                continue;
            }
            let list = if loses { &mut wrong } else { &mut others };
            let state = self.state(step.source);
            if list.last() != Some(&state) {
                list.push(state);
            }
        }
        for list in [&mut wrong, &mut others] {
            list.sort_unstable();
            list.dedup();
            if list.len() > most {
                return None;
            }
        }
        Some((wrong, others))
    }

    /// For each group the labels of its relevant predecessors: the neutral transitions that lead to its members (§4.2).
    pub fn predecessors(&self, groups: &[Group]) -> Vec<Vec<LabelId>> {
        const NONE: u32 = u32::MAX;
        let mut group_of = vec![NONE; self.state_count()];
        for (number, group) in groups.iter().enumerate() {
            for &member in &group.members {
                group_of[self.neighbourhoods()[member].node as usize] = number as u32;
            }
        }
        let labels = self.system().labels().len();
        let mut seen = vec![false; groups.len() * labels];
        for (at, _, label, target) in self.graph.transitions() {
            if target != SINK && group_of[target as usize] != NONE && self.tag_at(at) == Tag::Neutral {
                seen[group_of[target as usize] as usize * labels + label.index()] = true;
            }
        }
        let of = |row: &[bool]| (0..labels).filter(|&label| row[label]).map(LabelId::new).collect();
        seen.chunks(labels).map(of).collect()
    }

    /// How often each construct of the source takes part in a correct, an incorrect and a neutral transition.
    pub fn construct_tags(&self, provenance: &Provenance) -> Vec<[u64; 3]> {
        let mut by_origin: FxHashMap<OriginId, [u64; 3]> = FxHashMap::default();
        for step in self.steps() {
            if let Some(origin) = self.system().origin(self.system_edge(step)) {
                by_origin.entry(origin).or_default()[self.tag(step) as usize] += 1;
            }
        }
        let mut counts = vec![[0; 3]; provenance.marks().len()];
        for (origin, tags) in by_origin {
            for mark in provenance.marks_of(origin) {
                (0..3).for_each(|tag| counts[mark.0 as usize][tag] += tags[tag]);
            }
        }
        counts
    }
}
