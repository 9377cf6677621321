//! What shows a verdict, as a system of its own on which the formula has that verdict. Whoever saves it can check it.

use lts::{Lts, LtsBuilder, Progress, StateId};
use model::Model;

use crate::solve::{Options, decide_lts, part_of_lts, part_of_model};
use crate::system::{ModelSystem, System};
use crate::tree::Formula;
use crate::verdict::{CheckError, Explanation, Step, Verdict};

impl Explanation {
    /// The steps of the run, a lasso's cycle once; none where the explanation is no run.
    pub fn steps(&self) -> Vec<&Step> {
        match self {
            Explanation::Trace(steps) => steps.iter().collect(),
            Explanation::Lasso { prefix, cycle } => prefix.iter().chain(cycle).collect(),
            Explanation::SubSystem(_) => Vec::new(),
        }
    }

    /// As a system of its own: a line for a trace, a line into a circle for a lasso.
    pub fn as_system(&self) -> Lts {
        let back = match self {
            Explanation::SubSystem(lts) => return lts.clone(),
            Explanation::Lasso { prefix, .. } => Some(prefix.len()),
            Explanation::Trace(_) => None,
        };
        let steps = self.steps();
        let mut builder = LtsBuilder::new();
        for (index, step) in steps.iter().enumerate() {
            let last = index + 1 == steps.len();
            let target = back.filter(|_| last).unwrap_or(index + 1);
            let label = builder.label(&step.label);
            builder.add(StateId::new(index), label, StateId::new(target));
        }
        builder.finish().expect("a run is short")
    }
}

/// Whether a formula has a verdict on a part of a system. A part on which it has none, since its data goes wrong there
/// or the time is up, shows nothing; the verdict on the whole stays.
pub(crate) fn shows(part: &Lts, formula: &Formula, holds: bool, progress: &Progress) -> bool {
    let options = Options { explain: false, ..Options::default() };
    decide_lts(part, formula, &options, progress).is_ok_and(|verdict| verdict.holds == holds)
}

/// A part of a system on which a formula has the verdict that it has on the whole: what explains the verdict if that
/// is enough, else the part that decides it as a game, else everything that can be reached.
///
/// ```
/// use lts::Progress;
/// let lts = lts::parse_aut("des (0, 3, 2)\n(0, A, 1)\n(0, B, 1)\n(0, C, 1)\n", &Default::default())?;
/// let mut sources = source::Sources::new();
/// let loaded = logic::load_text("p.mcl", r#"[ "A" ] false or [ "B" ] false"#, &mut sources).unwrap();
/// let formula = &loaded.properties[0].formula;
/// let verdict = logic::check_lts(&lts, formula, &Default::default(), &Progress::new()).unwrap();
/// let part = logic::evidence(&lts, formula, &verdict, &Default::default(), &Progress::new()).unwrap();
/// assert!(!verdict.holds);
/// assert_eq!(part.transition_count(), 2);
/// # Ok::<(), lts::AutError>(())
/// ```
pub fn evidence(
    lts: &Lts,
    formula: &Formula,
    verdict: &Verdict,
    options: &Options,
    progress: &Progress,
) -> Result<Lts, CheckError> {
    let game = || part_of_lts(lts, formula, options, progress);
    first_that_shows(formula, verdict, progress, &[&game, &|| Ok(lts.reachable())])
}

/// Likewise for a model.
pub fn evidence_of_model(
    model: &dyn Model,
    formula: &Formula,
    verdict: &Verdict,
    options: &Options,
    progress: &Progress,
) -> Result<Lts, CheckError> {
    let game = || part_of_model(model, formula, options, progress);
    let whole = || whole(model, options);
    first_that_shows(formula, verdict, progress, &[&game, &whole])
}

fn first_that_shows(
    formula: &Formula,
    verdict: &Verdict,
    progress: &Progress,
    others: &[&dyn Fn() -> Result<Lts, CheckError>],
) -> Result<Lts, CheckError> {
    if let Some(explanation) = &verdict.explanation {
        let part = explanation.as_system();
        if shows(&part, formula, verdict.holds, progress) {
            return Ok(part);
        }
    }
    for (at, make) in others.iter().enumerate() {
        match make() {
            Ok(part) if shows(&part, formula, verdict.holds, progress) => return Ok(part),
            // A game may be too large where the system itself is not.
            Err(error) if at + 1 == others.len() => return Err(error),
            _ => {}
        }
    }
    Err(CheckError::NotShown)
}

/// Everything that a model can do.
fn whole(model: &dyn Model, options: &Options) -> Result<Lts, CheckError> {
    let mut system = ModelSystem::new(model, options.max_states);
    let mut builder = LtsBuilder::new();
    system.initial()?;
    let mut at = 0;
    while at < system.state_count() {
        let source = StateId::new(at);
        for edge in system.successors(source)?.to_vec() {
            let label = builder.label(&system.label(edge.label));
            builder.add(source, label, edge.target);
        }
        at += 1;
    }
    Ok(builder.finish().map_err(|_| crate::system::Stop::States(at))?)
}
