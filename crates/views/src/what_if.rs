//! What would be if something else stood at a suspect: where a small change makes all properties as expected, and leaves the
//! rest as it was, something is likely to be wrong.

use explain::{Suspect, Tagged};
use logic::Property;
use lts::Progress;
use model::{Construct, Mutant, Operator};
use mutate::{Cure, Violated, what_ifs};
use report::SuspectPlace;
use rustc_hash::FxHashMap;

use crate::explanation::Origin;
use crate::repair::needed_labels;
use crate::suspects::Asking;

/// How much work may be done, in states.
const WORK: usize = 800_000;
/// Models with more states than this are left alone.
const MOST_STATES: usize = 50_000;
/// Constructs within this many characters are equally near.
const NEAR: u32 = 40;
/// How much less a place counts whose cure leads to the same behaviour as one before it.
const SAME: f64 = 0.93;
/// How many changes of a size are tried at a construct before it is the turn of the next one, and how many sizes there are.
const TURN: usize = 8;
const SIZES: usize = 3;

/// Tries changes, and puts those constructs first at which one cures. `places` are the suspects in the order of `found`.
pub(crate) fn ask(
    places: &mut Vec<SuspectPlace>,
    found: &[Suspect],
    constructs: &[Construct],
    tagged: &Tagged<'_>,
    origin: Origin<'_>,
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
    changes.sort_by_key(|(at, change)| (rank[*at], size(change), change.span, change.operator));
    // Every construct has its turn before one has the next, so that the likeliest does not take all the work; what is large
    // comes a turn later.
    let mut tried = vec![[0; SIZES]; constructs.len()];
    let mut turns: Vec<(usize, (usize, Mutant))> = Vec::new();
    for (at, change) in changes {
        let own = &mut tried[at][size(&change)];
        turns.push((*own / TURN + size(&change), (at, change)));
        *own += 1;
    }
    // Within a turn they stay in their order.
    turns.sort_by_key(|(turn, _)| *turn);
    let changes = turns.into_iter().map(|(_, change)| change);
    let (owners, changes): (Vec<usize>, Vec<Mutant>) = changes.into_iter().unzip();
    let violated = Violated {
        subject: asking.subject,
        start: asking.start,
        sources: origin.sources,
        properties: asking.properties,
        system: &origin.exploration.lts,
        needed: &needed_labels(tagged),
    };
    let mut answers = what_ifs(&violated, &changes, WORK, asking.progress);
    let mut hold = Hold::of(asking.properties);
    if answers.cures.is_empty() {
        let wrong = wrong(&violated, asking.progress);
        if (1..asking.properties.len()).contains(&wrong.len()) {
            hold = Hold::InPart;
            let violated = Violated { properties: &wrong, ..violated };
            answers = what_ifs(&violated, &changes, WORK / 2, asking.progress);
        }
    }
    reorder(places, &answers.cures, &changes, |at| rank[owners[at]], hold);
}

/// Puts places with cures first, the best of them before the others.
fn reorder<'c>(
    places: &mut Vec<SuspectPlace>,
    cures: &'c [Cure],
    changes: &[Mutant],
    place_of: impl Fn(usize) -> usize,
    hold: Hold,
) {
    if cures.is_empty() {
        return;
    }
    let mut own: Vec<Vec<&Cure>> = vec![Vec::new(); places.len()];
    cures.iter().for_each(|cure| own[place_of(cure.change)].push(cure));
    let value = |cure: &Cure| worth(cure, &changes[cure.change]);
    let better = |best: &'c Cure, one: &'c Cure| if value(one) > value(best) { one } else { best };
    let mut scored: Vec<(f64, Option<&Cure>, SuspectPlace)> = Vec::new();
    for (at, (place, cures)) in std::mem::take(places).into_iter().zip(own).enumerate() {
        let clues = if place.score > 0.0 { 0.1 / (at + 2) as f64 } else { 0.0 };
        let best = cures.into_iter().reduce(better);
        scored.push((clues + best.map_or(0.0, value), best, place));
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    // Cures that come to the same thing are one answer: the others should not have to come after all of its places.
    let mut known: FxHashMap<usize, i32> = FxHashMap::default();
    for (score, best, _) in &mut scored {
        if let Some(best) = best {
            let before = known.entry(best.system).or_default();
            *score *= SAME.powi(*before);
            *before += 1;
        }
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let highest = scored.first().map_or(1.0, |first| first.0);
    places.extend(scored.into_iter().map(|(score, best, mut place)| {
        if let Some(best) = best {
            place.reason = reason(best, &changes[best.change], hold);
        }
        place.score = (score / highest * 1000.0).round() / 1000.0;
        place
    }));
}

/// How much a cure tells: it leaves what was right as it was, more of the text is alive than before, and it is a change that
/// a person would make rather than one that gives a part free rein.
fn worth(cure: &Cure, change: &Mutant) -> f64 {
    // Where getting stuck is wrong, a property says so: many a protocol just ends.
    let price = match (&cure.silenced, cure.stuck) {
        (Some(_), _) => 0.3,
        (None, true) => 0.8,
        (None, false) => 1.0,
    };
    let size = match size(change) {
        _ if is_crude(change) => 0.8,
        0 => 1.0,
        1 => 0.9,
        // A value that was not set is sooner forgotten than something that everybody sees.
        _ if change.replacement.contains(":=") => 0.88,
        _ => 0.85,
    };
    cure.kept.sqrt() * cure.alive * price * size
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

/// Small changes are tried first, and those last of which there are many.
fn size(change: &Mutant) -> usize {
    match change.operator {
        Operator::Inserted | Operator::BranchAdded => SIZES - 1,
        _ => usize::from(is_large(change)),
    }
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

/// What becomes of the properties.
#[derive(Clone, Copy)]
enum Hold {
    One,
    All,
    AsExpected,
    /// Those that are violated now hold, at the price of others.
    InPart,
}

impl Hold {
    fn of(properties: &[Property]) -> Self {
        match properties {
            [_] => Hold::One,
            all if all.iter().all(|property| property.expected) => Hold::All,
            _ => Hold::AsExpected,
        }
    }
}

/// The properties that are not as expected.
fn wrong(violated: &Violated<'_>, progress: &Progress) -> Vec<Property> {
    let options = logic::Options { explain: false, ..logic::Options::default() };
    let is_wrong = |property: &&Property| {
        logic::check_lts(violated.system, &property.formula, &options, progress)
            .is_ok_and(|verdict| verdict.holds != property.expected)
    };
    violated.properties.iter().filter(is_wrong).cloned().collect()
}

fn reason(cure: &Cure, change: &Mutant, hold: Hold) -> String {
    let hold = match hold {
        Hold::One => "the property holds",
        Hold::All => "all properties hold",
        Hold::AsExpected => "all properties are as expected",
        Hold::InPart => "what is violated would hold, though something else would not",
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
