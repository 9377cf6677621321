//! What would be if something else stood at a suspect: where a small change makes all properties as expected, and leaves the
//! rest as it was, something is likely to be wrong.

use explain::{Suspect, Tagged};
use model::{Construct, Mutant, Operator};
use mutate::{Cure, Violated, what_ifs};
use report::SuspectPlace;

use crate::explanation::Origin;
use crate::repair::needed_labels;
use crate::suspects::Asking;

/// Models with more states than this are left alone.
const MOST_STATES: usize = 20_000;
/// Constructs within this many characters are equally near.
const NEAR: u32 = 40;

/// Tries changes, and puts those constructs first at which one cures. `places` are the suspects in the order of `found`.
pub(crate) fn ask(
    places: &mut Vec<SuspectPlace>,
    found: &[Suspect],
    constructs: &[Construct],
    tagged: &Tagged<'_>,
    origin: Origin<'_>,
    run: Option<(&[String], bool)>,
    asking: Asking<'_>,
) {
    if origin.exploration.states() > MOST_STATES {
        return;
    }
    let mut rank = vec![found.len(); constructs.len()];
    found.iter().enumerate().for_each(|(at, one)| rank[one.construct] = at);
    let mut changes: Vec<(usize, Mutant)> = origin
        .program
        .alternatives(origin.sources)
        .into_iter()
        .filter_map(|change| Some((construct_of(&change, constructs, &rank)?, change)))
        .collect();
    changes.sort_by_key(|(at, change)| (is_large(change), rank[*at], change.span, change.operator));
    let (owners, changes): (Vec<usize>, Vec<Mutant>) = changes.into_iter().unzip();
    let violated = Violated {
        subject: asking.subject,
        start: asking.start,
        sources: origin.sources,
        properties: asking.properties,
        system: &origin.exploration.lts,
        needed: &needed_labels(tagged),
        run,
    };
    let answers = what_ifs(&violated, &changes, asking.progress);
    reorder(places, &answers.cures, &changes, |at| rank[owners[at]], asking);
}

/// Puts places with cures first, the best of them before the others.
fn reorder(
    places: &mut Vec<SuspectPlace>,
    cures: &[Cure],
    changes: &[Mutant],
    place_of: impl Fn(usize) -> usize,
    asking: Asking<'_>,
) {
    if cures.is_empty() {
        return;
    }
    let mut own: Vec<Vec<&Cure>> = vec![Vec::new(); places.len()];
    cures.iter().for_each(|cure| own[place_of(cure.change)].push(cure));
    let mut scored: Vec<(f64, SuspectPlace)> = Vec::new();
    for (at, (mut place, cures)) in std::mem::take(places).into_iter().zip(own).enumerate() {
        let value = |cure: &&Cure| worth(cure, &changes[cure.change]);
        let best =
            cures.iter().copied().reduce(|best, one| if value(&one) > value(&best) { one } else { best });
        let mut score = if place.score > 0.0 { 0.1 / (at + 2) as f64 } else { 0.0 };
        if let Some(best) = best {
            // Several ways to cure at one place say a little more than one.
            score += value(&best) * (1.0 + 0.03 * (1.0 + cures.len() as f64).ln());
            place.reason = reason(best, &changes[best.change], asking);
        }
        scored.push((score, place));
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let highest = scored.first().map_or(1.0, |first| first.0);
    places.extend(scored.into_iter().map(|(score, mut place)| {
        place.score = (score / highest * 1000.0).round() / 1000.0;
        place
    }));
}

/// How much a cure tells: it leaves what was right as it was, more of the text is alive than before, and it is a change that
/// a person would make rather than one that gives a part free rein.
fn worth(cure: &Cure, change: &Mutant) -> f64 {
    let price = if cure.stuck || cure.silenced.is_some() { 0.3 } else { 1.0 };
    let size = if is_crude(change) {
        0.8
    } else if is_large(change) {
        0.9
    } else {
        1.0
    };
    cure.kept.sqrt() * cure.alive.min(1.5) * price * size
}

/// Whether a change writes or takes away something whole, rather than exchanging something for another of its kind.
fn is_large(change: &Mutant) -> bool {
    is_crude(change)
        || matches!(
            change.operator,
            Operator::Inserted
                | Operator::Gate
                | Operator::GuardAdded
                | Operator::BranchAdded
                | Operator::ActionRemoved
                | Operator::AssignmentRemoved
        )
}

/// Whether a change takes a constraint or a part away as a whole.
fn is_crude(change: &Mutant) -> bool {
    match change.operator {
        Operator::Synchronisation
        | Operator::Parallel
        | Operator::Stop
        | Operator::ActionDuplicated
        | Operator::BranchRemoved => true,
        Operator::GuardWeakened | Operator::GuardStrengthened => {
            matches!(change.replacement.as_str(), "true" | "false")
        }
        Operator::Value | Operator::Offer => change.replacement.contains("any "),
        _ => false,
    }
}

fn reason(cure: &Cure, change: &Mutant, asking: Asking<'_>) -> String {
    let hold = match asking.properties {
        [_] => "the property holds",
        all if all.iter().all(|property| property.expected) => "all properties hold",
        _ => "all properties are as expected",
    };
    let price = match &cure.silenced {
        Some(name) => format!(", but {name} never happens"),
        None if cure.stuck => ", but it can get stuck".into(),
        None => String::new(),
    };
    format!("if {}, {hold}{price}", change.description)
}

/// The construct that a change is about: the one that it changes or, where it puts something between, the nearest one beside.
fn construct_of(change: &Mutant, constructs: &[Construct], rank: &[usize]) -> Option<usize> {
    let place = change.span;
    let overlaps = |at: &usize| {
        let one = constructs[*at].span;
        one.file == place.file && one.start < place.end && place.start < one.end
    };
    let beside = |at: &usize| change.neighbours.contains(&constructs[*at].span);
    let distance = |at: usize| {
        let one = constructs[at].span;
        if one.end <= place.start { place.start - one.end } else { one.start.saturating_sub(place.end) }
    };
    let all = || 0..constructs.len();
    let own = all().filter(overlaps).min_by_key(|&at| (constructs[at].span.start, at));
    own.or_else(|| all().filter(beside).min_by_key(|&at| (distance(at) / NEAR, rank[at], at)))
}
