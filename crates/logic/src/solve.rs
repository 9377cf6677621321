//! Choosing how to check a formula, and checking it.

use lts::{Edge, Lts, Progress, StateId};
use model::Model;
use source::Diagnostic;

use crate::equations::{Equations, translate};
use crate::evidence::shows;
use crate::game::Arena;
use crate::honesty::{occasions, unmatched};
use crate::linear::{Search, may_cycle};
use crate::program::Program;
use crate::reach::{Quick, quick};
use crate::sets::Solved;
use crate::shape::{Class, classify};
use crate::system::{ModelSystem, Stop, System};
use crate::tree::Formula;
use crate::verdict::{CheckError, Explanation, Method, Searched, Step, Verdict};
use crate::watch::watch;

/// What a check should do beside finding the verdict.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Look for a trace, a lasso or a part of the system that shows the verdict.
    pub explain: bool,
    /// How many states of a model may be explored.
    pub max_states: usize,
    /// How many instances a formula with data may have: parts with different values of their variables.
    pub max_instances: usize,
    /// How many threads explore a model; 0 for as many as the thread pool has. No answer depends on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { explain: true, max_states: usize::MAX, max_instances: 1_000_000, threads: 0 }
    }
}

/// An LTS from this size on is first searched without keeping the way.
const LARGE: usize = 1 << 16;

/// Checks a formula on an LTS.
///
/// ```
/// use lts::Progress;
/// let lts = lts::parse_aut("des (0, 2, 2)\n(0, SEND, 1)\n(1, LOSE, 0)\n", &Default::default())?;
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"NEVER ("LOSE")"#, &mut sources).unwrap();
/// let verdict = logic::check_lts(&lts, &loaded.properties[0].formula, &Default::default(), &Progress::new()).unwrap();
/// assert!(!verdict.holds);
/// assert_eq!(verdict.explanation.unwrap().labels().unwrap(), ["SEND", "LOSE"]);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn check_lts(
    lts: &Lts,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let mut verdict = decide_lts(lts, formula, options, progress)?;
    if !shown_by_its_run(&verdict, formula, progress) {
        verdict.explanation = part_of_lts(lts, formula, options, progress).ok().map(Explanation::SubSystem);
    }
    Ok(verdict)
}

/// The verdict, and where a run leads to it, that run; whether it shows the verdict alone is not looked at.
pub(crate) fn decide_lts(
    lts: &Lts,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let positive = translate(formula, false)?;
    let negative = translate(formula, true)?;
    let sets = positive.is_propositional();
    // One run is the best explanation; a run that ends in a solved part comes next.
    for solvable in [false, true] {
        for (equations, negated) in [(&negative, true), (&positive, false)] {
            let class = classify(equations, solvable && sets);
            if matches!(class[equations.root], Class::Linear | Class::Local | Class::Leaf) {
                return by_automaton(lts, equations, &class, negated, options, progress);
            }
        }
    }
    let class = classify(&positive, sets);
    if class[positive.root] == Class::Solved && (lts.state_count() >= LARGE || !options.explain) {
        let solved = Solved::new(lts, &positive, &class, progress)?.ok_or(CheckError::Cancelled)?;
        let holds = solved.holds(positive.root, lts.initial());
        drop(solved);
        let explanation = match options.explain {
            true => by_game(lts, positive, options, progress)?.explanation,
            false => None,
        };
        let states_visited = lts.state_count();
        return Ok(Verdict { holds, explanation, states_visited, method: Method::Sets, labels: None });
    }
    by_game(lts, positive, options, progress)
}

/// The part of a system that decides a formula, found as a game whatever the formula.
pub(crate) fn part_of_lts(
    lts: &Lts,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Lts, CheckError> {
    let mut arena =
        Arena::new(Program::new(translate(formula, false)?), lts, options.max_instances, progress);
    arena.run()?;
    arena.subsystem()
}

/// Likewise for a model.
pub(crate) fn part_of_model(
    model: &dyn Model,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Lts, CheckError> {
    let system = ModelSystem::new(model, options.max_states);
    let mut arena =
        Arena::new(Program::new(translate(formula, false)?), system, options.max_instances, progress);
    arena.run()?;
    arena.subsystem()
}

/// Checks a formula on a model, exploring only what is needed.
pub fn check_model(
    model: &dyn Model,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let mut verdict = decide_model(model, formula, options, progress)?;
    if !shown_by_its_run(&verdict, formula, progress) {
        verdict.explanation =
            part_of_model(model, formula, options, progress).ok().map(Explanation::SubSystem);
    }
    Ok(verdict)
}

fn decide_model(
    model: &dyn Model,
    formula: &Formula,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let positive = translate(formula, false)?;
    let negative = translate(formula, true)?;
    for (equations, negated) in [(&negative, true), (&positive, false)] {
        let class = classify(equations, false);
        if !matches!(class[equations.root], Class::Linear | Class::Local | Class::Leaf) {
            continue;
        }
        if !may_cycle(equations, &class)
            && let Some(verdict) = watch(model, equations, &class, negated, options, progress)?
        {
            return Ok(verdict);
        }
        return by_search(model, equations, &class, negated, options, progress);
    }
    let mut arena = Arena::new(
        Program::new(positive),
        ModelSystem::new(model, options.max_states),
        options.max_instances,
        progress,
    );
    let holds = arena.run();
    let holds = stopped(holds, arena.system_mut(), None)?;
    let explanation = if options.explain { Some(Explanation::SubSystem(arena.subsystem()?)) } else { None };
    let system = arena.system();
    Ok(Verdict {
        holds,
        explanation,
        states_visited: system.state_count(),
        method: Method::Game,
        labels: system.all_labels(),
    })
}

/// One run decides: searched for on one thread, with the steps kept, since a cycle may be what is looked for.
pub(crate) fn by_search(
    model: &dyn Model,
    equations: &Equations,
    class: &[Class],
    negated: bool,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let system = ModelSystem::new(model, options.max_states);
    let mut search = Search::new(Program::new(equations.clone()), class, system, None, progress);
    search.max_instances = options.max_instances;
    let found = search.run();
    // Where cycles count, a short run may be the beginning of one.
    let steps = search.completed.filter(|_| !may_cycle(equations, class));
    let searched = steps.map(|steps| Box::new(Searched { steps, violations: negated }));
    let found = stopped(found, &mut search.system, searched)?;
    Ok(Verdict {
        holds: found.is_some() != negated,
        explanation: found.filter(|_| options.explain),
        states_visited: search.system.state_count(),
        method: Method::Automaton,
        labels: search.system.all_labels(),
    })
}

/// Whether the run of a verdict, if it has one, has the verdict by itself.
fn shown_by_its_run(verdict: &Verdict, formula: &Formula, progress: &Progress) -> bool {
    match &verdict.explanation {
        None | Some(Explanation::SubSystem(_)) => true,
        Some(run) => shows(&run.as_system(), formula, verdict.holds, progress),
    }
}

fn by_automaton(
    lts: &Lts,
    equations: &Equations,
    class: &[Class],
    negated: bool,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let solved = match class.contains(&Class::Solved) {
        true => Some(Solved::new(lts, equations, class, progress)?.ok_or(CheckError::Cancelled)?),
        false => None,
    };
    let mut search = Search::new(Program::new(equations.clone()), class, lts, solved.as_ref(), progress);
    search.max_instances = options.max_instances;
    let mut known = Quick::Unknown;
    if lts.state_count() >= LARGE || !options.explain {
        known = quick(&mut search, lts)?;
    }
    let verdict = |found: bool, explanation: Option<Explanation>, states_visited: usize| Verdict {
        holds: found != negated,
        explanation,
        states_visited,
        method: Method::Automaton,
        labels: None,
    };
    match known {
        Quick::Empty => return Ok(verdict(false, None, search.visited)),
        Quick::Accepts if !options.explain => return Ok(verdict(true, None, search.visited)),
        _ => {}
    }
    let found = search.run()?;
    Ok(verdict(found.is_some(), found.filter(|_| options.explain), search.visited))
}

fn by_game(
    lts: &Lts,
    equations: Equations,
    options: &Options,
    progress: &Progress,
) -> Result<Verdict, CheckError> {
    let mut arena = Arena::new(Program::new(equations), lts, options.max_instances, progress);
    let holds = arena.run()?;
    let explanation = if options.explain { Some(Explanation::SubSystem(arena.subsystem()?)) } else { None };
    let states_visited = arena.visited();
    Ok(Verdict { holds, explanation, states_visited, method: Method::Game, labels: None })
}

/// Adds to why a model gave no verdict how far the check came, and to a run-time error the way that leads to it.
fn stopped<T>(
    result: Result<T, CheckError>,
    system: &mut ModelSystem<'_>,
    searched: Option<Box<Searched>>,
) -> Result<T, CheckError> {
    result.map_err(|error| {
        let stop = match error {
            CheckError::Stopped { stop, .. } => stop,
            CheckError::Cancelled => Stop::Cancelled,
            other => return other,
        };
        let trace = match &stop {
            Stop::Model { state: Some(state), .. } => system.path_to(*state),
            _ => Vec::new(),
        };
        CheckError::Stopped { stop, trace: trace.into(), states_visited: system.state_count(), searched }
    })
}

impl ModelSystem<'_> {
    /// A shortest run over the explored steps.
    fn path_to(&mut self, goal: StateId) -> Vec<Step> {
        let Ok(initial) = self.initial() else { return Vec::new() };
        let mut before = vec![None; self.state_count()];
        let mut queue = std::collections::VecDeque::from([initial]);
        while let Some(state) = queue.pop_front() {
            if state == goal {
                break;
            }
            for &edge in self.explored(state) {
                if edge.target != initial && before[edge.target.index()].is_none() {
                    before[edge.target.index()] = Some((state, edge.label));
                    queue.push_back(edge.target);
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = goal;
        while let Some((source, label)) = before[at.index()] {
            let origin = self.origin(source, Edge { label, target: at });
            steps.push(Step { source, label: self.label(label), target: at, slots: self.slots(at), origin });
            at = source;
        }
        steps.reverse();
        steps
    }
}

/// What should be said beside the verdict of a formula on an LTS: labels that do not exist, and a property that
/// holds for want of an occasion.
pub fn warnings(lts: &Lts, formula: &Formula, verdict: &Verdict, progress: &Progress) -> Vec<Diagnostic> {
    let used = lts.used_labels();
    let labels: Vec<&str> =
        lts.labels().iter().filter(|(label, _)| used[label.index()]).map(|(_, text)| text).collect();
    let mut warnings = unmatched(formula, &labels);
    if !verdict.holds {
        return warnings;
    }
    let options = Options { explain: false, ..Options::default() };
    for occasion in occasions(formula) {
        if let Ok(Verdict { holds: false, .. }) = check_lts(lts, &occasion.formula, &options, progress) {
            warnings.push(occasion.warning)
        }
    }
    warnings
}
