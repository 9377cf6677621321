//! What-ifs: which single changes of a model make all its properties as expected, and what they do to everything else.
//!
//! A change that cures a violation by taking behaviour away tells little; one after which more of what is written can happen
//! tells much. So it is noted what a change leaves of the behaviour, and how much of the text is alive after it. Work is
//! counted in states, never in time: the same model gives the same answers.

use std::collections::BTreeSet;

use cover::{Example, Opened, Subject};
use explore::{Limits, Outcome};
use languages::CantOpen;
use logic::Property;
use lts::{LabelId, Lts, Progress, StateId};
use model::{Mutant, Slot, Telling};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use source::Sources;

use crate::bad_runs::{BadRun, BadRuns};
use crate::repair::has_deadlock;

/// As how many states the opening of a text counts.
const OPENING: usize = 200;
/// Up to how many states nothing is worth preparing.
const FEW: usize = 20_000;
/// Which part of the most states is explored first, and how many at most.
const NEAR: usize = 16;
const MOST_NEAR: usize = 2000;
/// How many changes are tried at most before the work that is done is counted again.
const ROUND: usize = 32;

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
}

/// A change after which all properties are as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Cure {
    /// Its position among the changes.
    pub change: usize,
    /// How much of what could happen before anything was lost, one label after another, still can; between 0 and 1.
    pub kept: f64,
    /// How much of the text can happen after the change, between 0 and 1: actions and outcomes of decisions. It is a share, so
    /// that neither what the change adds nor what it takes away counts by itself.
    pub alive: f64,
    /// Whether the model gets stuck, which it did not before.
    pub stuck: bool,
    /// A gate that is never used any more.
    pub silenced: Option<String>,
    /// The behaviour after the change: the same number for strongly bisimilar systems, and for no others.
    pub system: usize,
}

/// What came of all changes.
#[derive(Clone, Debug, Default)]
pub struct WhatIfs {
    /// Those that cure.
    pub cures: Vec<Cure>,
    /// How many were tried.
    pub tried: usize,
}

/// Tries changes in their order, as many as an amount of work allows: so many states may be looked at.
pub fn what_ifs(
    violated: &Violated<'_>,
    changes: &[Mutant],
    most_work: usize,
    progress: &Progress,
) -> WhatIfs {
    let needed: FxHashSet<&str> = violated.needed.iter().map(String::as_str).collect();
    let most = violated.system.state_count().saturating_mul(3).saturating_add(4000);
    let mut asked = Asked {
        before: Habits::of(violated.system, |label| needed.contains(label)),
        deadlocks: has_deadlock(violated.system),
        bad: BadRuns::default(),
        most,
    };
    for property in violated.properties {
        let verdict = logic::check_lts(violated.system, &property.formula, &Default::default(), progress);
        let run =
            verdict.ok().and_then(|verdict| BadRun::of(property, &verdict, violated.system, &|_| Vec::new()));
        run.into_iter().for_each(|run| asked.bad.add(run));
    }
    let mut found = WhatIfs::default();
    let mut systems = Systems::default();
    let mut work = 0;
    // The larger the systems, the sooner the work is done.
    let size = (most_work / most / 2).clamp(4, ROUND);
    for (round, part) in changes.chunks(size).enumerate() {
        if work >= most_work || progress.is_cancelled() {
            break;
        }
        let tried: Vec<Tried> = part
            .par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(at, change)| violated.ask(round * size + at, change, &asked, progress))
            .collect();
        found.tried += tried.len();
        for one in tried {
            work += OPENING + one.states;
            if let Some((cure, system)) = one.cure {
                found.cures.push(Cure { system: systems.number(system), ..cure });
            }
            one.bad.into_iter().for_each(|run| asked.bad.add(run));
        }
    }
    found
}

/// What is known before a change is tried.
struct Asked {
    before: Habits,
    deadlocks: bool,
    bad: BadRuns,
    most: usize,
}

/// What came of a change.
#[derive(Default)]
struct Tried {
    states: usize,
    /// A cure, and the smallest system that does the same; its number is still to be given.
    cure: Option<(Cure, Lts)>,
    /// A run that no other change should leave possible.
    bad: Option<BadRun>,
}

impl Violated<'_> {
    fn ask(&self, at: usize, change: &Mutant, asked: &Asked, progress: &Progress) -> Tried {
        let text = change.apply(self.sources.text(change.span.file));
        let changed = self.subject.changed(self.sources.name(change.span.file), text);
        let Ok(opened) = self.open(&changed, Telling::Nothing, asked.most) else { return Tried::default() };
        // A violation is often near.
        let near = (asked.most / NEAR).min(MOST_NEAR);
        let (is_bad, mut states) = asked.bad.found_in(opened.model(), near);
        if is_bad {
            return Tried { states, ..Tried::default() };
        }
        for most in [near, asked.most] {
            let limits = Limits { states: most, threads: 1, ..Limits::default() };
            let found = explore::explore(opened.model(), &limits, &progress.part());
            states += found.states();
            let complete = found.outcome.is_complete();
            if !complete && found.outcome != Outcome::StateLimit || found.lts.transition_count() == 0 {
                return Tried { states, ..Tried::default() };
            }
            let part = (!complete).then(|| {
                let unknown = found.statistics.expanded..found.states();
                found.lts.marking_unexplored(unknown.map(StateId::new))
            });
            let state = |id: StateId| found.state(opened.model(), id);
            match self.judged(part.as_ref().unwrap_or(&found.lts), complete, &state, progress) {
                Judged::Cured => {}
                Judged::Violated(bad) => return Tried { states, cure: None, bad },
                Judged::Unknown => continue,
            }
            let after = Habits::of(&found.lts, |_| true);
            let before = &asked.before;
            let cure = Cure {
                change: at,
                kept: share(&before.pairs, &after.pairs),
                alive: self.alive(&changed, asked.most, progress).unwrap_or(0.0),
                stuck: !asked.deadlocks && has_deadlock(&found.lts),
                silenced: before.names.iter().find(|name| !after.names.contains(*name)).cloned(),
                system: 0,
            };
            let reduced = bisim::reduce(&found.lts, bisim::Relation::Strong).unwrap_or(found.lts);
            return Tried { states: 2 * states, cure: Some((cure, reduced)), bad: None };
        }
        Tried { states, ..Tried::default() }
    }

    /// Whether all properties are as expected on a system, or on all of which a part is known.
    fn judged(
        &self,
        system: &Lts,
        complete: bool,
        state: &dyn Fn(StateId) -> Vec<Slot>,
        progress: &Progress,
    ) -> Judged {
        let options = logic::Options::default();
        for property in self.properties {
            let by_runs = property.expected && logic::is_violated_by_runs(&property.formula);
            if !complete && !by_runs {
                continue;
            }
            let verdict = logic::check_lts(system, &property.formula, &options, &progress.part());
            let Ok(verdict) = verdict else { return Judged::Violated(None) };
            if verdict.holds != property.expected
                && (complete || logic::is_certain(system, &property.formula, &verdict))
            {
                return Judged::Violated(BadRun::of(property, &verdict, system, state));
            }
        }
        if complete { Judged::Cured } else { Judged::Unknown }
    }

    fn open(&self, subject: &Subject, telling: Telling<'_>, most: usize) -> Result<Opened, CantOpen> {
        match most < FEW {
            true => subject.open_briefly(self.start, telling),
            false => subject.open_telling(self.start, telling),
        }
    }

    /// How much of a model's text can happen, between 0 and 1.
    fn alive(&self, subject: &Subject, most: usize, progress: &Progress) -> Option<f64> {
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
        Some(marks.len() as f64 / provenance.marks().len().max(1) as f64)
    }
}

enum Judged {
    Cured,
    Violated(Option<BadRun>),
    Unknown,
}

/// Different behaviours, each as the smallest system that has it.
#[derive(Default)]
struct Systems(Vec<Lts>);

impl Systems {
    /// The number of a system that is as small as it can be: that of one that does the same, if there is one.
    fn number(&mut self, system: Lts) -> usize {
        let size = |one: &Lts| (one.state_count(), one.transition_count());
        let same = |one: &Lts| {
            size(one) == size(&system)
                && bisim::equivalent(one, &system, bisim::Relation::Strong).is_ok_and(|same| same)
        };
        self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(system);
            self.0.len() - 1
        })
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
