//! Suspects: the constructs of the source that most likely are what is wrong, best first.
//!
//! Clues are weighed; a construct takes over a part of the weight of what reads its values, and of what stands beside it:
//! that is how an assignment, a call or something that is missing is found from where it shows.

use model::ConstructKind;

use crate::clues::{Clues, Scene, clues};

/// A construct that may be what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// Its position among the constructs.
    pub construct: usize,
    /// The outcome that tells against it, where it is a decision.
    pub outcome: Option<bool>,
    /// Between 0 and 1; the first suspect of several is the best.
    pub score: f64,
    /// What is known of it.
    pub clues: Clues,
    /// Where what is wrong with it shows, if that is elsewhere.
    pub through: Option<(Through, usize)>,
}

impl Suspect {
    /// A construct that nothing tells against.
    pub fn unknown(construct: usize) -> Self {
        Self { construct, outcome: None, score: 0.0, clues: Clues::default(), through: None }
    }
}

/// How something shows at another construct, known by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// That one reads a value from it.
    Value,
    /// That one comes just before or after it.
    Neighbour,
}

/// How much of its weight a construct passes on to those whose values it reads, and to those beside it.
const READ: f64 = 0.5;
const BESIDE: f64 = 0.45;
/// How much of the weight of its members a composition takes over.
const MEMBER: f64 = 0.2;

/// The suspects of a scene, best first; constructs that nothing tells against are left out.
pub fn suspects(scene: &Scene<'_>) -> Vec<Suspect> {
    let clues = clues(scene);
    let count = clues.len();
    let mut own: Vec<f64> =
        clues.iter().zip(scene.constructs).map(|(clues, one)| weight(clues, one.kind)).collect();
    for (at, construct) in scene.constructs.iter().enumerate() {
        if construct.kind == ConstructKind::Synchronisation {
            let members = construct.members.iter().map(|&member| own[member]).fold(0.0, f64::max);
            own[at] += MEMBER * members;
        }
    }
    let mut read = vec![(0.0, None); count];
    let mut beside = vec![(0.0, None); count];
    let raise = |place: &mut (f64, Option<usize>), value: f64, from: usize| {
        if value > place.0 {
            *place = (value, Some(from));
        }
    };
    // Values pass through one construct on their way, so two rounds.
    for _ in 0..2 {
        for (at, construct) in scene.constructs.iter().enumerate() {
            let weight = READ * f64::max(own[at], read[at].0);
            for &giver in &construct.reads {
                raise(&mut read[giver], weight, at);
            }
        }
    }
    for (at, construct) in scene.constructs.iter().enumerate() {
        for &(before, _) in &construct.before {
            raise(&mut beside[before], BESIDE * own[at], at);
            raise(&mut beside[at], BESIDE * own[before], before);
        }
    }
    let mut found: Vec<Suspect> = (0..count)
        .filter_map(|at| {
            let ways = [(read[at], Through::Value), (beside[at], Through::Neighbour)];
            let ways = ways.into_iter().map(|((weight, from), how)| (weight, from.map(|from| (how, from))));
            let best = ways.fold((own[at], None), |best, one| if one.0 > best.0 { one } else { best });
            let (score, through) = best;
            let clues = clues[at];
            (score > 0.0).then_some(Suspect { construct: at, outcome: clues.outcome, score, clues, through })
        })
        .collect();
    let highest = found.iter().map(|one| one.score).fold(0.0, f64::max);
    found.iter_mut().for_each(|one| one.score /= highest.max(f64::MIN_POSITIVE));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.construct.cmp(&b.construct)));
    found
}

/// How much the clues of a construct tell against it. The numbers were fitted to mutants of the bundled models: actions
/// removed and swapped, guards negated, constants changed, assignments removed, synchronisations and endings changed. Other
/// changes were left to measure with.
fn weight(clues: &Clues, kind: ConstructKind) -> f64 {
    let runs = 0.05 * clues.failing - 0.08 * clues.passing
        + 0.13 * clues.spectrum
        + 0.03 * clues.deciding
        + 0.1 * clues.turning
        + 0.13 * clues.near_end
        + 0.11 * clues.near_turn;
    let text = 0.37 * clues.never + 0.28 * clues.one_sided + 0.2 * clues.waits + 0.15 * clues.differs;
    let weight = match kind {
        ConstructKind::Action | ConstructKind::Assignment => 0.8 * (runs + text),
        ConstructKind::Decision => runs + text,
        ConstructKind::Ending => runs + text + 0.9 * clues.stands,
        ConstructKind::Result => 0.7 * (runs + text),
        // A call or a composition takes part in no step itself: what its instances do tells something.
        ConstructKind::Call => 0.4 * (0.6 * clues.differs + 0.3 * clues.acts + 0.1 * clues.blamed + text),
        ConstructKind::Synchronisation => 0.0,
    };
    weight.max(0.0)
}
