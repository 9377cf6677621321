//! Tags compared with the enumeration of runs on small random systems.
//!
//! The twin knows nothing of products, components or automata made deterministic: it follows single runs, each until
//! it repeats a situation or can't go on, and looks at what happened on each.

use std::collections::{BTreeMap, BTreeSet};

use explain::{Affixes, Method, Node, Options, Property, Tag, Tagged, affixes};
use lts::{Lts, LtsBuilder, Progress, StateId};

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

const LABELS: [&str; 4] = ["A", "B", "C", "i"];

fn system(chance: &mut Chance) -> Lts {
    let states = 1 + chance.below(4);
    let mut builder = LtsBuilder::new();
    builder.reserve_states(states as usize);
    for _ in 0..chance.below(7) {
        let label = builder.label(LABELS[chance.below(4) as usize]);
        let (source, target) = (chance.below(states), chance.below(states));
        builder.add(StateId::new(source as usize), label, StateId::new(target as usize));
    }
    builder.finish().unwrap()
}

fn formula(text: &str) -> logic::Formula {
    let mut sources = source::Sources::new();
    logic::load_text("p.mcl", text, &mut sources).unwrap().properties.remove(0).formula
}

/// Where a run is: the state of the system, and what of its past the property may still care about.
type Place = (StateId, Past);

/// What a run has seen: the states that a nondeterministic automaton may be in, how many labels were met in order,
/// whether it is lost, whether something is owed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Past {
    automaton: Vec<usize>,
    met: usize,
    lost: bool,
    owed: bool,
}

struct Twin<'a> {
    lts: &'a Lts,
    property: &'a Property,
    /// The sets of labels that the property names, and what its automaton refuses.
    masks: Vec<Vec<bool>>,
    refusals: Vec<Vec<Vec<bool>>>,
    /// Places whose runs were followed before.
    followed: std::cell::RefCell<BTreeMap<Place, BTreeSet<bool>>>,
}

impl<'a> Twin<'a> {
    fn new(lts: &'a Lts, property: &'a Property) -> Self {
        let mask = |action: &logic::tree::Action| action.mask(lts.labels());
        let (masks, refusals) = match property {
            Property::Safety(automaton) => (Vec::new(), automaton.refusals(lts.labels())),
            Property::Inevitable(labels) => (labels.iter().map(mask).collect(), Vec::new()),
            Property::Response(_, label) => (vec![mask(label)], Vec::new()),
            Property::Runs(_) => unreachable!("tests/values.rs looks at these"),
        };
        Self { lts, property, masks, refusals, followed: Default::default() }
    }

    fn start(&self) -> Place {
        let mut place = (self.lts.initial(), Past { automaton: vec![0], ..Past::default() });
        self.arrive(&mut place);
        place
    }

    fn arrive(&self, (state, past): &mut Place) {
        match self.property {
            Property::Safety(automaton) => {
                let offered = self.lts.outgoing(*state);
                past.lost |= past.automaton.iter().any(|&at| {
                    let refuses = |set: &Vec<bool>| !offered.iter().any(|edge| set[edge.label.index()]);
                    automaton.is_accepting(at) || self.refusals[at].iter().any(refuses)
                });
            }
            Property::Inevitable(_) | Property::Runs(_) => {}
            Property::Response(automaton, _) => {
                past.owed |= past.automaton.iter().any(|&at| automaton.is_accepting(at));
            }
        }
    }

    fn next(&self, (state, past): &Place) -> Vec<Place> {
        let step = |edge: &lts::Edge| {
            let label = self.lts.label(edge.label);
            let mut past = past.clone();
            if let Property::Safety(automaton) | Property::Response(automaton, _) = self.property {
                let next: BTreeSet<usize> =
                    past.automaton.iter().flat_map(|&at| automaton.successors(at, label)).collect();
                past.automaton = next.into_iter().collect();
            }
            match self.property {
                Property::Safety(_) | Property::Runs(_) => {}
                Property::Inevitable(_) => {
                    let awaited = self.masks.get(past.met);
                    past.met += usize::from(awaited.is_some_and(|mask| mask[edge.label.index()]));
                }
                Property::Response(..) => past.owed &= !self.masks[0][edge.label.index()],
            }
            let mut place = (edge.target, past);
            self.arrive(&mut place);
            place
        };
        self.lts.outgoing(*state).iter().map(step).collect()
    }

    /// Whether a run that goes round among these places for ever, or stops in the last, violates the property.
    fn violates(&self, cycle: &[Place]) -> bool {
        match self.property {
            Property::Safety(_) | Property::Runs(_) => cycle.iter().any(|(_, past)| past.lost),
            Property::Inevitable(labels) => cycle.iter().all(|(_, past)| past.met < labels.len()),
            Property::Response(..) => cycle.iter().all(|(_, past)| past.owed),
        }
    }

    /// Follows every run until it repeats a place: which verdicts there are among them, and which places they pass.
    fn runs(&self, path: &mut Vec<Place>, verdicts: &mut BTreeSet<bool>) {
        let here = path[path.len() - 1].clone();
        let next = self.next(&here);
        if next.is_empty() {
            verdicts.insert(self.violates(&[here]));
        }
        for place in next {
            match path.iter().position(|known| *known == place) {
                Some(start) => {
                    verdicts.insert(self.violates(&path[start..]));
                }
                None => {
                    path.push(place);
                    self.runs(path, verdicts);
                    path.pop();
                }
            }
        }
    }

    fn verdicts(&self, place: &Place) -> BTreeSet<bool> {
        if let Some(known) = self.followed.borrow().get(place) {
            return known.clone();
        }
        let mut verdicts = BTreeSet::new();
        self.runs(&mut vec![place.clone()], &mut verdicts);
        self.followed.borrow_mut().insert(place.clone(), verdicts.clone());
        verdicts
    }

    /// All places that some run from here passes.
    fn reachable(&self, place: &Place) -> BTreeSet<Place> {
        let mut seen = BTreeSet::from([place.clone()]);
        let mut todo = vec![place.clone()];
        while let Some(place) = todo.pop() {
            for next in self.next(&place) {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        seen
    }

    /// What the transition into a place should be tagged.
    fn tag(&self, method: Method, place: &Place) -> Tag {
        let verdicts = self.verdicts(place);
        match method {
            Method::Exact if verdicts == BTreeSet::from([false]) => Tag::Correct,
            Method::Exact if verdicts == BTreeSet::from([true]) => Tag::Incorrect,
            Method::Exact => Tag::Neutral,
            // Correct: no run violates. Incorrect: no run ever comes to a place from where none does.
            _ if !verdicts.contains(&true) => Tag::Correct,
            _ => {
                let safe = |place: &Place| !self.verdicts(place).contains(&true);
                match self.reachable(place).iter().any(safe) {
                    true => Tag::Neutral,
                    false => Tag::Incorrect,
                }
            }
        }
    }
}

/// Walks the tagged system and the twin side by side.
fn compare(lts: &Lts, property: &Property, method: Method, context: &str) -> Option<[u64; 3]> {
    let twin = Twin::new(lts, property);
    let options = Options { method: Some(method), ..Options::default() };
    let tagged = property.tag(lts, &options, &Progress::new()).unwrap();
    let violated = twin.verdicts(&twin.start()).contains(&true);
    assert_eq!(tagged.is_some(), violated, "{context}\n{lts:?}");
    let tagged = tagged?;
    let mut places: BTreeMap<Node, Place> = BTreeMap::from([(0, twin.start())]);
    let mut todo = vec![0];
    while let Some(node) = todo.pop() {
        let next = twin.next(&places[&node]);
        for (step, place) in tagged.outgoing(node).zip(next) {
            let expected = twin.tag(method, &place);
            assert_eq!(tagged.tag(step), expected, "{context}, {method:?}, node {node}\n{lts:?}");
            if let Some(target) = tagged.target(step)
                && let std::collections::btree_map::Entry::Vacant(fresh) = places.entry(target)
            {
                fresh.insert(place);
                todo.push(target);
            }
        }
    }
    assert_eq!(places.len(), tagged.state_count());
    check_runs(&tagged, context);
    check_claims(&twin, &tagged, &places, context);
    Some(tagged.tag_counts())
}

/// What is said of runs: the shortest is as short as any, others are in order, each is found again by its labels.
fn check_runs(tagged: &Tagged<'_>, context: &str) {
    let shortest = tagged.shortest_run().unwrap();
    let several = tagged.shortest_runs(4);
    assert!(shortest.steps.len() <= several[0].steps.len(), "{context}");
    assert!(several.is_sorted_by_key(|run| run.steps.len()));
    // No run that ends is shorter.
    let mut level = std::collections::BTreeSet::from([0]);
    for _ in 0..shortest.steps.len() {
        let ends = level.iter().any(|&node| tagged.is_goal(node) && !tagged.owes(node));
        assert!(!ends, "{context}: a run that ends is shorter");
        let targets = level.iter().flat_map(|&node| tagged.outgoing(node));
        level = targets.filter_map(|step| tagged.target(step)).collect();
    }
    let random = tagged.random_run(7).unwrap();
    for run in several.iter().chain([&random]) {
        let labels: Vec<&str> = run.steps.iter().map(|&step| tagged.label(step)).collect();
        let again = tagged.run_of_labels(&labels, run.lasso).unwrap();
        assert!(again.steps.iter().map(|&step| tagged.label(step)).zip(&labels).all(|(a, b)| a == *b));
        if let Some(lasso) = run.lasso {
            assert_eq!(tagged.end(run), Some(run.steps[lasso].source), "{context}");
        }
    }
}

/// What else a report claims, each looked at by following runs.
fn check_claims(twin: &Twin<'_>, tagged: &Tagged<'_>, places: &BTreeMap<Node, Place>, context: &str) {
    let context = format!("{context}, {:?}\n{:?}", tagged.method(), twin.lts);
    // Parts that can be stayed in for ever: lassos without the violation, with no way to where all is right.
    let nodes = tagged.state_count();
    let steps = |node: usize| tagged.outgoing(node as Node);
    let targets = |node: usize| steps(node).filter_map(|step| tagged.target(step)).map(|to| to as usize);
    if let Property::Safety(_) = twin.property {
        let is_safe = |place: &Place| !twin.verdicts(place).contains(&true);
        let stuck = |node: &usize| {
            let place = &places[&(*node as Node)];
            !place.1.lost && !twin.reachable(place).iter().any(is_safe)
        };
        let behind = |node: usize| {
            let mut seen = BTreeSet::new();
            let mut todo = vec![node];
            while let Some(at) = todo.pop() {
                todo.extend(targets(at).filter(|&to| seen.insert(to)));
            }
            seen
        };
        let mut parts: Vec<usize> = Vec::new();
        for node in (0..nodes).filter(stuck).filter(|&node| behind(node).contains(&node)) {
            if !parts.iter().any(|&known| behind(known).contains(&node) && behind(node).contains(&known)) {
                parts.push(node);
            }
        }
        assert_eq!(tagged.endless_regions(), parts.len(), "{context}");
    }
    // No neighbourhood: the initial state violates the property, or only what is repeated for ever does.
    if tagged.neighbourhoods().is_empty() && (tagged.owes(0) || !tagged.is_goal(0)) {
        assert!(tagged.steps().all(|step| tagged.tag(step) == Tag::Neutral), "{context}");
        assert!(tagged.shortest_runs(4).iter().all(|run| run.lasso.is_some()), "{context}");
    }
    let (groups, relations) = (tagged.groups(None), tagged.relations());
    let start = twin.verdicts(&twin.start());
    if tagged.shape(&groups, &relations) == Some(explain::Shape::AllWrong) {
        assert_eq!(start, BTreeSet::from([true]), "{context}");
    }
    if tagged.tag_counts()[0] + tagged.tag_counts()[2] == 0
        && (tagged.method() == Method::Exact || tagged.endless_regions() == 0)
    {
        assert_eq!(start, BTreeSet::from([true]), "{context}");
    }
    for (at, one) in tagged.neighbourhoods().iter().enumerate() {
        let node = one.node as usize;
        // The chain of a random walk that ends here, step by step until nothing changes.
        let mut likely = vec![0.0; nodes];
        likely[node] = 1.0;
        for _ in 0..3000 {
            for from in (0..nodes).filter(|&from| from != node && steps(from).count() > 0) {
                likely[from] = targets(from).map(|to| likely[to]).sum::<f64>() / steps(from).count() as f64;
            }
        }
        let known = relations[at].probability.unwrap();
        assert!((known - likely[0]).abs() < 1e-6, "{known} {likely:?} {context}");
        // Without what must come before, nobody comes here.
        let reaches = |avoided: Option<usize>| {
            let mut seen = BTreeSet::from([0]);
            let mut todo = vec![0];
            while let Some(at) = todo.pop().filter(|&at| Some(at) != avoided || at == node) {
                todo.extend(targets(at).filter(|&to| Some(to) != avoided && seen.insert(to)));
            }
            seen.contains(&node)
        };
        if let Some(before) = relations[at].after {
            let before = tagged.neighbourhoods()[before].node as usize;
            assert!(before == 0 || !reaches(Some(before)), "{context}");
        }
        for other in tagged.neighbourhoods().iter().filter(|other| other.node != one.node) {
            let must = other.node == 0 || !reaches(Some(other.node as usize));
            assert!(!must || relations[at].after.is_some(), "{context}");
        }
    }
    // Labels that no counterexample involves are on no run that violates the property.
    let involved = tagged.involved_labels();
    for (place, edge) in places.values().flat_map(|place| {
        let edges = twin.lts.outgoing(place.0).iter();
        twin.next(place).into_iter().zip(edges)
    }) {
        if !involved[edge.label.index()] {
            assert!(!twin.verdicts(&place).contains(&true), "{context}");
        }
    }
}

#[test]
fn tags_are_what_the_runs_say() {
    let safety = [
        r#"[ true* . "A" ] false"#,
        r#"[ true* . "A" . true* . "B" ] false"#,
        r#"[ (not "A")* . "B" ] false"#,
        r#"[ true* . "A" . (not "B")* . "C" ] false"#,
        r#"[ ("A" | "B" . "A")+ . "C" ] false"#,
        r#"[ true* . "A" . true . "B" ] false and [ true* . "C" . "C" ] false"#,
        "[ true* ] < true > true",
        r#"[ true* . "A" ] < "B" > true"#,
        "[ true* ] false",
    ];
    let progress = [
        r#"mu X . (< true > true and [ not "A" ] X)"#,
        r#"mu X . (< true > true and [ not "A" ] X and [ "A" ] mu Y . (< true > true and [ not "B" ] Y))"#,
        r#"[ true* . "A" ] mu X . (< true > true and [ not "B" ] X)"#,
        r#"[ true* . "A" . true* . "C" ] mu X . (< true > true and [ not ("A" or "B") ] X)"#,
    ];
    let mut seen = [[0u64; 3]; 2];
    for text in safety.iter().chain(&progress) {
        let property = Property::of(&formula(text)).unwrap();
        let methods: &[Method] = match property {
            Property::Safety(_) => &[Method::Counterexample, Method::Exact],
            _ => &[Method::Exact],
        };
        for seed in 0..250 {
            let lts = system(&mut Chance(seed * 77 + text.len() as u64));
            for &method in methods {
                if let Some(counts) = compare(&lts, &property, method, text) {
                    let total = &mut seen[usize::from(method == Method::Exact)];
                    (0..3).for_each(|tag| total[tag] += counts[tag]);
                }
            }
        }
    }
    assert!(seen.iter().flatten().all(|&count| count > 150), "{seen:?}");
}

/// Definitions 20 and 21 by following runs: which prefixes the ways to a state have met, and which suffixes of the
/// awaited labels its runs meet.
fn naive_affixes(lts: &Lts, masks: &[Vec<bool>]) -> BTreeMap<usize, Affixes> {
    let length = masks.len() as u32;
    let append =
        |met: u32, edge: &lts::Edge| met + u32::from(met < length && masks[met as usize][edge.label.index()]);
    // Every way to a state, told apart by how much of the prefix it has met.
    let mut ways: BTreeSet<(usize, u32)> = BTreeSet::from([(lts.initial().index(), 0)]);
    let mut todo: Vec<(usize, u32)> = ways.iter().copied().collect();
    while let Some((state, met)) = todo.pop() {
        for edge in lts.outgoing(StateId::new(state)) {
            let next = (edge.target.index(), append(met, edge));
            if ways.insert(next) {
                todo.push(next);
            }
        }
    }
    // Whether the runs from a state meet the awaited labels from `met` on: which answers there are.
    fn answers(lts: &Lts, masks: &[Vec<bool>], path: &mut Vec<(StateId, usize)>, found: &mut BTreeSet<bool>) {
        let (state, met) = path[path.len() - 1];
        if met == masks.len() {
            found.insert(true);
            return;
        }
        if lts.outgoing(state).is_empty() {
            found.insert(false);
        }
        for edge in lts.outgoing(state) {
            let next = (edge.target, met + usize::from(masks[met][edge.label.index()]));
            if path.contains(&next) {
                found.insert(false);
            } else {
                path.push(next);
                answers(lts, masks, path, found);
                path.pop();
            }
        }
    }
    let states: BTreeSet<usize> = ways.iter().map(|&(state, _)| state).collect();
    let affixes = |state: usize| {
        let met: Vec<u32> = ways.iter().filter(|way| way.0 == state).map(|way| way.1).collect();
        let (mut max_suffix, mut common_suffix) = (0, 0);
        for suffix in 0..=length {
            let mut found = BTreeSet::new();
            let start = (length - suffix) as usize;
            answers(lts, masks, &mut vec![(StateId::new(state), start)], &mut found);
            if found.contains(&true) {
                max_suffix = suffix;
            }
            if !found.contains(&false) {
                common_suffix = suffix;
            }
        }
        let max_prefix = *met.iter().max().unwrap();
        let common_prefix = *met.iter().min().unwrap();
        Affixes { max_prefix, common_prefix, max_suffix, common_suffix }
    };
    states.into_iter().map(|state| (state, affixes(state))).collect()
}

#[test]
fn affixes_are_those_of_the_definitions() {
    for seed in 0..4000 {
        let mut chance = Chance(seed);
        let lts = system(&mut chance);
        let masks: Vec<Vec<bool>> = (0..1 + chance.below(3))
            .map(|_| {
                let awaited = LABELS[chance.below(3) as usize];
                lts.labels().iter().map(|(_, label)| label == awaited).collect()
            })
            .collect();
        let computed = affixes(&lts, &masks);
        for (state, expected) in naive_affixes(&lts, &masks) {
            assert_eq!(computed[state], expected, "seed {seed}, state {state}, {masks:?}\n{lts:?}");
        }
    }
}
