//! What-ifs: which single changes of a model make all its properties as expected, and what they do to everything else.
//!
//! A change that cures a violation by taking behaviour away tells little; one after which more of what is written can happen
//! tells much. So it is noted what a change leaves of the behaviour, and how much of the text is alive after it. Work is
//! counted in states, never in time: the same model gives the same answers.

use std::collections::BTreeSet;

use cover::{Example, Opened, Subject};
use explore::Limits;
use languages::CantOpen;
use logic::Property;
use lts::{LabelId, Lts, Progress};
use model::{Model, Mutant, Slot, Telling};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use source::Sources;

use crate::repair::has_deadlock;

/// How many states all changes together may have; opening a text counts as some.
const WORK: usize = 800_000;
const OPENING: usize = 300;
/// Up to how many states nothing is worth preparing.
const FEW: usize = 20_000;
/// Up to how many states a run is followed at once.
const MOST_ALIKE: usize = 16;
/// How many changes are tried before the work that is done is counted again.
const ROUND: usize = 64;

/// A model with a violation.
#[derive(Clone, Copy)]
pub struct Violated<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// What it starts with.
    pub start: &'a Example,
    /// Its texts.
    pub sources: &'a Sources,
    /// Everything that should be as expected.
    pub properties: &'a [Property],
    /// Its behaviour.
    pub system: &'a Lts,
    /// The labels that happen where nothing is lost yet: those that should stay.
    pub needed: &'a [String],
    /// A run that shows the violation, unless it is endless: its labels, and whether it ends for lack of a next step.
    pub run: Option<(&'a [String], bool)>,
}

/// A change after which all properties are as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Cure {
    /// Its position among the changes.
    pub change: usize,
    /// How much of what could happen before anything was lost, one label after another, still can; between 0 and 1.
    pub kept: f64,
    /// How much of the text can happen after the change, relative to before: actions and outcomes of decisions.
    pub alive: f64,
    /// Whether the model gets stuck, which it did not before.
    pub stuck: bool,
    /// A gate that is never used any more.
    pub silenced: Option<String>,
}

/// What came of all changes.
#[derive(Clone, Debug, Default)]
pub struct WhatIfs {
    /// Those that cure.
    pub cures: Vec<Cure>,
    /// How many were tried.
    pub tried: usize,
}

/// Tries changes in their order, as many as a bounded amount of work allows.
pub fn what_ifs(violated: &Violated<'_>, changes: &[Mutant], progress: &Progress) -> WhatIfs {
    let needed: FxHashSet<&str> = violated.needed.iter().map(String::as_str).collect();
    let before = Habits::of(violated.system, |label| needed.contains(label));
    let deadlocks = has_deadlock(violated.system);
    let most = violated.system.state_count().saturating_mul(3).saturating_add(4000);
    let alive = violated.alive(violated.subject, most, progress).unwrap_or(1);
    let mut found = WhatIfs::default();
    let mut work = 0;
    for (round, part) in changes.chunks(ROUND).enumerate() {
        if work >= WORK || progress.is_cancelled() {
            break;
        }
        let tried: Vec<(usize, Option<Cure>)> = part
            .par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(at, change)| {
                violated.ask(round * ROUND + at, change, (&before, deadlocks, alive), most, progress)
            })
            .collect();
        found.tried += tried.len();
        for (states, cure) in tried {
            work += OPENING + states;
            found.cures.extend(cure);
        }
    }
    found
}

impl Violated<'_> {
    fn ask(
        &self,
        at: usize,
        change: &Mutant,
        (before, deadlocks, alive): (&Habits, bool, usize),
        most: usize,
        progress: &Progress,
    ) -> (usize, Option<Cure>) {
        let text = change.apply(self.sources.text(change.span.file));
        let changed = self.subject.changed(self.sources.name(change.span.file), text);
        let Ok(opened) = self.open(&changed, Telling::Nothing, most) else { return (0, None) };
        if self.still_runs(opened.model()) {
            return (0, None);
        }
        let limits = Limits { states: most, threads: 1, ..Limits::default() };
        let found = explore::explore(opened.model(), &limits, &progress.part());
        let states = found.states();
        if !found.outcome.is_complete() {
            return (states, None);
        }
        let options = logic::Options { explain: false, ..logic::Options::default() };
        let as_expected = |property: &Property| {
            logic::check_lts(&found.lts, &property.formula, &options, &progress.part())
                .is_ok_and(|verdict| verdict.holds == property.expected)
        };
        if found.lts.transition_count() == 0 || !self.properties.iter().all(as_expected) {
            return (states, None);
        }
        let after = Habits::of(&found.lts, |_| true);
        let silenced = before.names.iter().find(|name| !after.names.contains(*name)).cloned();
        let cure = Cure {
            change: at,
            kept: share(&before.pairs, &after.pairs),
            alive: self.alive(&changed, most, progress).unwrap_or(0) as f64 / alive.max(1) as f64,
            stuck: !deadlocks && has_deadlock(&found.lts),
            silenced,
        };
        (2 * states, Some(cure))
    }

    fn open(&self, subject: &Subject, telling: Telling<'_>, most: usize) -> Result<Opened, CantOpen> {
        match most < FEW {
            true => subject.open_briefly(self.start, telling),
            false => subject.open_telling(self.start, telling),
        }
    }

    /// Whether the run that shows the violation is there after the change, too: that is seen sooner than all its states.
    fn still_runs(&self, model: &dyn Model) -> bool {
        let Some((labels, stuck)) = self.run else { return false };
        let Ok(initial) = model.initial() else { return false };
        let mut worker = model.worker();
        let mut states: FxHashSet<Vec<Slot>> = FxHashSet::from_iter([initial]);
        for wanted in labels {
            let mut next: FxHashSet<Vec<Slot>> = FxHashSet::default();
            for state in &states {
                let looked = worker.successors(state, &mut |step| {
                    if model.label(step.label) == *wanted {
                        next.insert(step.target.to_vec());
                    }
                });
                if looked.is_err() {
                    return false;
                }
            }
            // Many steps look alike where labels are hidden.
            if next.is_empty() || next.len() > MOST_ALIKE {
                return false;
            }
            states = next;
        }
        states.iter().any(|state| {
            let mut goes_on = false;
            let looked = worker.successors(state, &mut |_| goes_on = true);
            looked.is_ok() && goes_on != stuck
        })
    }

    /// How many constructs of a model can happen, outcomes of decisions counted by themselves.
    fn alive(&self, subject: &Subject, most: usize, progress: &Progress) -> Option<usize> {
        let opened = self.open(subject, Telling::Marks, most).ok()?;
        let limits = Limits { states: most, threads: 1, origins: true, ..Limits::default() };
        let found = explore::explore(opened.model(), &limits, &progress.part());
        let provenance = opened.model().provenance();
        let mut origins = found.lts.origins().unwrap_or_default().to_vec();
        origins.push(opened.model().initial_origin());
        origins.sort_unstable();
        origins.dedup();
        let marks: FxHashSet<u32> =
            origins.into_iter().flat_map(|origin| provenance.marks_of(origin)).map(|mark| mark.0).collect();
        Some(marks.len())
    }
}

/// What comes after what in a system.
struct Habits {
    pairs: FxHashSet<(String, String)>,
    /// The gates that are used, in order.
    names: BTreeSet<String>,
}

impl Habits {
    fn of(system: &Lts, counts: impl Fn(&str) -> bool) -> Self {
        let texts: Vec<&str> = system.labels().iter().map(|(_, text)| text).collect();
        let counted: Vec<bool> = texts.iter().map(|text| counts(text)).collect();
        let (mut pairs, mut names) = (FxHashSet::default(), BTreeSet::new());
        let steps = system.transitions().filter(|step| counted[step.label.index()]);
        for step in steps {
            names.insert(step.label);
            let next = system.outgoing(step.target).iter().filter(|next| counted[next.label.index()]);
            pairs.extend(next.map(|next| (step.label, next.label)));
        }
        let text = |label: LabelId| texts[label.index()].to_owned();
        let name = |label: LabelId| texts[label.index()].split(' ').next().unwrap_or_default().to_owned();
        Self {
            pairs: pairs.into_iter().map(|(left, right)| (text(left), text(right))).collect(),
            names: names.into_iter().map(name).collect(),
        }
    }
}

/// How much of one set is in another.
fn share(part: &FxHashSet<(String, String)>, whole: &FxHashSet<(String, String)>) -> f64 {
    let common = part.iter().filter(|one| whole.contains(*one)).count();
    if part.is_empty() { 1.0 } else { common as f64 / part.len() as f64 }
}
