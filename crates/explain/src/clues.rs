//! Clues: what runs, choices and the text of the model say about each construct of the source.
//!
//! Runs that violate the property and runs that don't are compared as in spectrum-based fault localisation (R. Abreu,
//! P. Zoeteweij and A. van Gemund, "On the Accuracy of Spectrum-based Fault Localization", 2007). What decides is known
//! exactly: the exits of neighbourhoods. Constructs that never happen, or always turn out the same way, are seen in the
//! whole system. The number of runs and choices that are looked at is bounded; the same system gives the same clues.

use lts::{Chance, OriginId, StateId};
use model::{Construct, ConstructKind, Encounter, MarkId, MarkKind, Obstacle, Provenance};
use rustc_hash::FxHashMap;
use source::Span;

use crate::graph::Node;
use crate::runs::Run;
use crate::tagged::{Step, Tag, Tagged};

/// How many runs of each sort are looked at, and how many choices.
const SHORTEST: usize = 24;
const RANDOM: u64 = 16;
const PASSING: u64 = 40;
const MOST_CHOICES: usize = 4000;
/// From how many states on fewer runs are looked at.
const LARGE: usize = 200_000;
/// How much less a step counts than the one after it.
const DECAY: f64 = 0.75;

/// Where suspects are looked for.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The tagged system.
    pub tagged: &'a Tagged<'a>,
    /// The counterexample that is shown.
    pub run: Option<&'a Run>,
    /// What fires in its steps.
    pub provenance: &'a Provenance,
    /// The constructs of the source.
    pub constructs: &'a [Construct],
    /// The constructs that fire before the first step.
    pub initially: OriginId,
    /// The instances of processes that there are where the counterexample ends.
    pub actors: &'a [Actor],
    /// The actions that can't happen where the counterexample ends, where it ends for lack of a next step.
    pub waiting: &'a [Encounter],
}

/// An instance of a process, as the counterexample shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Actor {
    /// The call that it comes from.
    pub started: Option<Span>,
    /// Where it stands when the counterexample ends.
    pub stands: Option<Span>,
    /// How many steps after its last one the counterexample ends; none where it does nothing.
    pub idle: Option<usize>,
    /// How many of the others that can't go on wait for it, between 0 and 1.
    pub blamed: f64,
    /// Whether what it offers differs from what others offer.
    pub differs: bool,
}

/// What is known of a construct. Everything lies between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clues {
    /// In how many of the runs that violate the property it fires.
    pub failing: f64,
    /// In how many of those that don't.
    pub passing: f64,
    /// How well its firing tells the two apart (Ochiai's coefficient).
    pub spectrum: f64,
    /// How well its firing tells exits that lose for good from the other exits of the same states.
    pub deciding: f64,
    /// Whether it fires in the step of the counterexample that loses for good.
    pub turning: f64,
    /// How near its last firing is to the end of the runs that violate the property.
    pub near_end: f64,
    /// How near its last firing is to the step that loses for good, in the counterexample.
    pub near_turn: f64,
    /// Whether control comes to it and it never fires.
    pub never: f64,
    /// Whether it is a decision that has one outcome only, though something depends on the other.
    pub one_sided: f64,
    /// Whether control goes from it to something that never fires.
    pub before_dead: f64,
    /// Whether nothing of its surroundings ever fires.
    pub dead: f64,
    /// Whether a process waits at it for ever.
    pub waits: f64,
    /// Whether it could end such a wait.
    pub could_help: f64,
    /// Whether an instance stands at it where the counterexample ends, or comes from it.
    pub stands: f64,
    /// How many of those that can't go on wait for that instance.
    pub blamed: f64,
    /// Whether that instance offers something else than the others.
    pub differs: f64,
    /// How near the last step of an instance that comes from it is to the end of the counterexample.
    pub acts: f64,
    /// The outcome that the clues of a decision are about.
    pub outcome: Option<bool>,
}

impl Clues {
    /// The clues of the one with more to say about runs.
    fn better(self, other: Self) -> Self {
        let weight = |one: &Self| one.spectrum + one.deciding + one.turning + 0.5 * one.near_end;
        if weight(&other) > weight(&self) { other } else { self }
    }
}

/// The clues of all constructs of a scene.
pub fn clues(scene: &Scene<'_>) -> Vec<Clues> {
    let marks = Evidence::of(scene);
    let count = scene.constructs.len();
    let places = Places::of(scene);
    let own = |at: usize| -> Option<Clues> {
        let kept = places.marks[at].iter().flatten();
        kept.map(|&mark| marks.clues(mark)).reduce(Clues::better)
    };
    let fired = |at: usize, outcome: Option<bool>| match outcome {
        Some(outcome) => {
            places.marks[at][usize::from(!outcome)].is_some_and(|mark| marks.fired[mark.0 as usize])
        }
        None => places.marks[at].iter().flatten().any(|mark| marks.fired[mark.0 as usize]),
    };
    let mut after: Vec<Vec<(usize, Option<bool>)>> = vec![Vec::new(); count];
    for (at, construct) in scene.constructs.iter().enumerate() {
        for &(from, outcome) in &construct.before {
            after[from].push((at, outcome));
        }
    }
    // Whether control comes to each construct; silent ones pass it on.
    let carried = |at: usize| places.marks[at].iter().any(Option::is_some);
    let mut reached = vec![false; count];
    let starts = |at: usize| at == 0 || scene.constructs[at].process != scene.constructs[at - 1].process;
    let mut todo: Vec<usize> = (0..count).filter(|&at| starts(at) || after_nothing(scene, at)).collect();
    while let Some(at) = todo.pop() {
        if std::mem::replace(&mut reached[at], true) {
            continue;
        }
        let passes = |outcome: Option<bool>| !carried(at) || fired(at, outcome);
        todo.extend(after[at].iter().filter(|&&(_, outcome)| passes(outcome)).map(|&(next, _)| next));
    }
    let mut all: Vec<Clues> =
        (0..count).map(|at| own(at).unwrap_or_else(|| silent(at, scene, &after, &places, &marks))).collect();
    for at in 0..count {
        let construct = &scene.constructs[at];
        let never = carried(at) && !fired(at, None);
        all[at].never = f64::from(reached[at] && never && construct.kind == ConstructKind::Action);
        all[at].dead = f64::from(!reached[at] || never && construct.kind != ConstructKind::Action);
        let depends = |outcome: bool| after[at].iter().any(|&(_, on)| on == Some(outcome));
        let missing = [true, false].into_iter().find(|&one| depends(one) && !fired(at, Some(one)));
        if construct.kind == ConstructKind::Decision && carried(at) && fired(at, None) {
            all[at].one_sided = f64::from(missing.is_some());
        }
        let to_dead = after[at].iter().any(|&(next, _)| carried(next) && reached[next] && !fired(next, None));
        all[at].before_dead = f64::from(to_dead && !never);
    }
    // What never happens in a part of a system may happen in the rest.
    if !scene.tagged.system().unexplored().is_empty() {
        for clues in &mut all {
            (clues.never, clues.one_sided, clues.before_dead, clues.dead) = (0.0, 0.0, 0.0, 0.0);
        }
    }
    for actor in scene.actors {
        let near = actor.idle.map_or(0.0, |idle| DECAY.powi(idle.min(64) as i32));
        for (construct, clues) in scene.constructs.iter().zip(&mut all) {
            let (stands, comes) =
                (actor.stands == Some(construct.span), actor.started == Some(construct.span));
            if stands || comes {
                clues.stands = clues.stands.max(f64::from(stands));
                clues.blamed = clues.blamed.max(actor.blamed);
                clues.differs = clues.differs.max(f64::from(actor.differs));
                clues.acts = clues.acts.max(if comes { near } else { 0.0 });
            }
        }
    }
    all
}

/// Whether nothing is known of how control comes to any construct: then it may come to each.
fn after_nothing(scene: &Scene<'_>, at: usize) -> bool {
    let process = &scene.constructs[at].process;
    let own = scene.constructs.iter().filter(|one| one.process == *process);
    own.into_iter().all(|one| one.before.is_empty())
}

/// Something that fires no mark of its own is executed with what control comes from or, at a beginning, goes to.
fn silent(
    at: usize,
    scene: &Scene<'_>,
    after: &[Vec<(usize, Option<bool>)>],
    places: &Places,
    marks: &Evidence,
) -> Clues {
    let mut clues: Option<Clues> = None;
    for back in [true, false] {
        let mut seen = vec![at];
        let mut next = 0;
        while next < seen.len() && seen.len() < 64 {
            let ways = if back { &scene.constructs[seen[next]].before } else { &after[seen[next]] };
            for &(other, outcome) in ways {
                let found = match (outcome.filter(|_| back), places.marks[other]) {
                    (Some(outcome), both) => both[usize::from(!outcome)],
                    (None, [one, other]) => one.or(other),
                };
                match found {
                    Some(mark) => {
                        let found = marks.clues(mark);
                        clues = Some(clues.map_or(found, |known| known.better(found)));
                    }
                    None if !seen.contains(&other) => seen.push(other),
                    None => {}
                }
            }
            next += 1;
        }
        if clues.is_some() {
            break;
        }
    }
    // Whether it waits or is waited for is no matter of what is executed.
    Clues { waits: 0.0, could_help: 0.0, outcome: None, ..clues.unwrap_or_default() }
}

/// The marks of constructs: of an action its own, of a decision those of both outcomes, true first.
struct Places {
    marks: Vec<[Option<MarkId>; 2]>,
}

impl Places {
    fn of(scene: &Scene<'_>) -> Self {
        let all = scene.provenance.marks().iter().enumerate();
        let known: FxHashMap<(MarkKind, source::Span), MarkId> =
            all.map(|(at, mark)| ((mark.kind, mark.span), MarkId(at as u32))).collect();
        let of = |kind: MarkKind, span| known.get(&(kind, span)).copied();
        let marks = scene.constructs.iter().map(|one| match one.kind {
            ConstructKind::Action => [of(MarkKind::Action, one.span), None],
            ConstructKind::Decision => {
                [of(MarkKind::Decision(true), one.span), of(MarkKind::Decision(false), one.span)]
            }
            _ => [None, None],
        });
        Self { marks: marks.collect() }
    }
}

/// What is known of each mark.
struct Evidence {
    kinds: Vec<MarkKind>,
    fired: Vec<bool>,
    failing: Vec<f64>,
    passing: Vec<f64>,
    /// Choices in which it is among the exits that lose, and among the others.
    losing: Vec<f64>,
    others: Vec<f64>,
    choices: f64,
    turning: Vec<bool>,
    near_end: Vec<f64>,
    near_turn: Vec<f64>,
    waits: Vec<f64>,
    could_help: Vec<f64>,
}

impl Evidence {
    fn of(scene: &Scene<'_>) -> Self {
        let tagged = scene.tagged;
        let count = scene.provenance.marks().len();
        let zeros = vec![0.0; count];
        let mut found = Self {
            kinds: scene.provenance.marks().iter().map(|mark| mark.kind).collect(),
            fired: vec![false; count],
            failing: zeros.clone(),
            passing: zeros.clone(),
            losing: zeros.clone(),
            others: zeros.clone(),
            choices: 0.0,
            turning: vec![false; count],
            near_end: zeros.clone(),
            near_turn: zeros.clone(),
            waits: zeros.clone(),
            could_help: zeros,
        };
        let mut origins = Origins { scene: *scene, known: FxHashMap::default() };
        found.fire(scene, &mut origins);
        found.compare_runs(scene, &mut origins);
        found.look_at_choices(tagged, &mut origins);
        if let Some(run) = scene.run {
            found.look_at_turn(tagged, run, &mut origins);
        }
        for encounter in scene.waiting {
            let nearness = match encounter.obstacle {
                Obstacle::PartnerNotReady => 0.4,
                Obstacle::DifferentProfile | Obstacle::DifferentValues | Obstacle::Refused => 1.0,
            };
            let mut note = |mark: MarkId, value: f64, helps: bool| {
                let list = if helps { &mut found.could_help } else { &mut found.waits };
                if let Some(place) = list.get_mut(mark.0 as usize) {
                    *place = place.max(value);
                }
            };
            note(encounter.action, nearness, false);
            for partner in &encounter.partners {
                let rest = partner.actions.len().max(1) as f64;
                partner.actions.iter().for_each(|&mark| note(mark, 1.0 / rest, true));
                partner.offers.iter().filter_map(|offer| offer.0).for_each(|mark| note(mark, 1.0, true));
            }
        }
        found
    }

    fn clues(&self, mark: MarkId) -> Clues {
        let at = mark.0 as usize;
        let coefficient = |bad: f64, good: f64, all: f64| match bad > 0.0 && all > 0.0 {
            true => bad / (all * (bad + good)).sqrt(),
            false => 0.0,
        };
        Clues {
            failing: self.failing[at],
            passing: self.passing[at],
            spectrum: coefficient(self.failing[at], self.passing[at], 1.0),
            deciding: coefficient(self.losing[at], self.others[at], self.choices),
            turning: f64::from(self.turning[at]),
            near_end: self.near_end[at],
            near_turn: self.near_turn[at],
            waits: self.waits[at],
            could_help: self.could_help[at],
            outcome: match self.kinds[at] {
                MarkKind::Decision(outcome) => Some(outcome),
                _ => None,
            },
            ..Clues::default()
        }
    }

    /// What fires anywhere in the system.
    fn fire(&mut self, scene: &Scene<'_>, origins: &mut Origins<'_>) {
        let mut all: Vec<OriginId> = scene.tagged.system().origins().unwrap_or_default().to_vec();
        all.push(scene.initially);
        all.sort_unstable();
        all.dedup();
        for origin in all {
            for &mark in origins.marks(origin) {
                self.fired[mark as usize] = true;
            }
        }
    }

    fn compare_runs(&mut self, scene: &Scene<'_>, origins: &mut Origins<'_>) {
        let tagged = scene.tagged;
        let mut failing: Vec<Run> = scene.run.cloned().into_iter().collect();
        let distances = tagged.reverse.distances(tagged.goals());
        // In a large system the shortest runs take the longest to find.
        let shortest = if tagged.state_count() > LARGE { SHORTEST / 8 } else { SHORTEST };
        failing.extend(tagged.shortest_runs(shortest));
        failing.extend((0..RANDOM).filter_map(|seed| tagged.random_run_along(&distances, seed)));
        let count = self.kinds.len();
        for run in &failing {
            // How far from the end each mark fires last.
            let mut last: Vec<Option<usize>> = vec![None; count];
            for &mark in origins.marks(scene.initially) {
                last[mark as usize] = Some(run.steps.len());
            }
            for (at, &step) in run.steps.iter().enumerate() {
                for &mark in origins.of(step) {
                    last[mark as usize] = Some(run.steps.len() - 1 - at);
                }
            }
            for (mark, distance) in last.into_iter().enumerate() {
                if let Some(distance) = distance {
                    self.failing[mark] += 1.0 / failing.len() as f64;
                    self.near_end[mark] += DECAY.powi(distance.min(64) as i32) / failing.len() as f64;
                }
            }
        }
        let mut passed = 0.0;
        let mut counts = vec![0.0; count];
        for seed in 0..PASSING {
            let beside = failing.get(seed as usize / 2).filter(|_| seed % 2 == 0);
            let Some(fired) = passing_run(scene, beside, seed, origins) else { continue };
            passed += 1.0;
            (0..count).filter(|&mark| fired[mark]).for_each(|mark| counts[mark] += 1.0);
        }
        if passed > 0.0 {
            self.passing = counts.into_iter().map(|count| count / passed).collect();
        }
    }

    /// Choices with exits that lose for good, the nearest to a violation first.
    fn look_at_choices(&mut self, tagged: &Tagged<'_>, origins: &mut Origins<'_>) {
        let distances = tagged.reverse.distances(tagged.goals());
        let mut nodes: Vec<Node> = tagged.neighbourhoods().iter().map(|one| one.node).collect();
        nodes.sort_by_key(|&node| (distances[node as usize], node));
        let mut losing = vec![false; self.kinds.len()];
        let mut others = losing.clone();
        let loses = |&node: &Node| tagged.outgoing(node).any(|step| tagged.tag(step) == Tag::Incorrect);
        for node in nodes.into_iter().filter(loses).take(MOST_CHOICES) {
            losing.fill(false);
            others.fill(false);
            for step in tagged.outgoing(node) {
                let list = if tagged.tag(step) == Tag::Incorrect { &mut losing } else { &mut others };
                for &mark in origins.of(step) {
                    list[mark as usize] = true;
                }
            }
            let weight = DECAY.powi(distances[node as usize].min(64) as i32);
            self.choices += weight;
            for mark in 0..self.kinds.len() {
                self.losing[mark] += if losing[mark] { weight } else { 0.0 };
                self.others[mark] += if others[mark] { weight } else { 0.0 };
            }
        }
    }

    /// The step that loses for good, and how far the others are from it.
    fn look_at_turn(&mut self, tagged: &Tagged<'_>, run: &Run, origins: &mut Origins<'_>) {
        let loses = |&step: &Step| tagged.tag(step) == Tag::Incorrect;
        let turn = run.steps.iter().position(loses).unwrap_or(run.steps.len().saturating_sub(1));
        for (at, &step) in run.steps.iter().enumerate() {
            let nearness = DECAY.powi(at.abs_diff(turn).min(64) as i32);
            for &mark in origins.of(step) {
                self.turning[mark as usize] |= at == turn;
                let place = &mut self.near_turn[mark as usize];
                *place = place.max(nearness);
            }
        }
    }
}

/// What fires in a random run that does not violate the property, as far as it goes; beside a run that does, where one is
/// given, it leaves that one as late as it can.
fn passing_run(
    scene: &Scene<'_>,
    beside: Option<&Run>,
    seed: u64,
    origins: &mut Origins<'_>,
) -> Option<Vec<bool>> {
    let tagged = scene.tagged;
    let mut fired = vec![false; scene.provenance.marks().len()];
    let mut chance = Chance::new(seed);
    let passes = |step: Step| match tagged.target(step) {
        None => true,
        Some(target) => tagged.tag(step) != Tag::Incorrect && !tagged.is_goal(target),
    };
    let mut node = 0;
    let mut note = |step: Step, origins: &mut Origins<'_>| {
        origins.of(step).iter().for_each(|&mark| fired[mark as usize] = true);
    };
    if let Some(run) = beside {
        let leaves = |&at: &usize| tagged.outgoing(run.steps[at].source).any(passes);
        let fork = (0..run.steps.len()).rev().find(leaves)?;
        run.steps[..fork].iter().for_each(|&step| note(step, origins));
        node = run.steps[fork].source;
    }
    let mut left = 40 + beside.map_or(0, |run| run.steps.len());
    let mut saved: Option<StateId> = None;
    let mut steps = 0;
    while left > 0 {
        left -= 1;
        let mut ways: Vec<Step> = tagged.outgoing(node).filter(|&step| passes(step)).collect();
        // Where the property is safe for good it is certain that the run is correct.
        if let Some(&safe) = ways.iter().find(|&&step| tagged.target(step).is_none())
            && steps > 20
        {
            ways = vec![safe];
        }
        if ways.is_empty() {
            // It could not go on without losing.
            return None;
        }
        let step = ways[(chance.draw() % ways.len() as u64) as usize];
        note(step, origins);
        steps += 1;
        match tagged.target(step) {
            Some(target) => node = target,
            None => {
                saved = Some(tagged.system().edges()[tagged.system_edge(step)].target);
                break;
            }
        }
    }
    if let Some(mut state) = saved {
        for _ in 0..left.min(20) {
            let range = tagged.system().edge_range(state);
            if range.is_empty() {
                break;
            }
            let edge = range.start + (chance.draw() % range.len() as u64) as usize;
            if let Some(origin) = tagged.system().origin(edge) {
                origins.marks(origin).iter().for_each(|&mark| fired[mark as usize] = true);
            }
            state = tagged.system().edges()[edge].target;
        }
    }
    for &mark in origins.marks(scene.initially) {
        fired[mark as usize] = true;
    }
    Some(fired)
}

/// The marks of origins, looked up once.
struct Origins<'a> {
    scene: Scene<'a>,
    known: FxHashMap<OriginId, Vec<u32>>,
}

impl Origins<'_> {
    fn marks(&mut self, origin: OriginId) -> &[u32] {
        let provenance = self.scene.provenance;
        self.known.entry(origin).or_insert_with(|| {
            let all = provenance.marks_of(origin).into_iter().map(|mark| mark.0);
            all.filter(|&mark| (mark as usize) < provenance.marks().len()).collect()
        })
    }

    fn of(&mut self, step: Step) -> &[u32] {
        let origin = self.scene.tagged.system().origin(self.scene.tagged.system_edge(step));
        self.marks(origin.unwrap_or(Provenance::NONE))
    }
}
