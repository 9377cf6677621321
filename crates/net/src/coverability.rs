//! Is a net bounded? The construction of Karp and Miller (1969), for nets that take, read and put tokens only.
//!
//! Where a marking covers one before it on the same run, the steps between can be repeated: places that have got more
//! tokens can have any number. Nodes with equal markings are one. The graph is finite, but may be huge, so its size is
//! limited.

use rustc_hash::FxHashMap;
use source::Diagnostic;

use crate::engine::rule::Rule;
use crate::flat::Flat;

/// Any number of tokens.
const ANY: u64 = u64::MAX;

/// The most steps of a run that shows how a place grows.
const MOST_STEPS: usize = 20_000;

/// What is known about the bounds of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverability {
    /// No place ever has more tokens than this.
    Bounded {
        /// The bound of each place, which is reached.
        bounds: Vec<u64>,
    },
    /// Some places can have any number of tokens.
    Unbounded {
        /// The bound of each place; none where there is none.
        bounds: Vec<Option<u64>>,
        /// For each place without a bound, in order: a run that shows it. Missing where only a very long one does.
        pumps: Vec<Pump>,
    },
    /// The construction has more nodes than allowed.
    Unknown {
        /// How many there were.
        nodes: usize,
    },
}

/// A run after which some steps can be repeated for ever, each time with more tokens in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pump {
    /// The place that grows, as a position in [`Flat::places`].
    pub place: usize,
    /// The transitions that fire first.
    pub prefix: Vec<usize>,
    /// The transitions that can then be repeated.
    pub cycle: Vec<usize>,
}

struct Node {
    marking: Vec<u64>,
    /// The node before it and the transition between; none for the first.
    from: Option<(usize, usize)>,
    /// The nodes before it, from which on steps can be repeated, with the places that grow.
    repeats: Vec<(usize, Vec<usize>)>,
}

/// Decides which places of a net are bounded, with at most so many nodes. Nets with inhibitor or reset arcs or sets are an
/// error: the construction is not right for them.
///
/// ```
/// use net::{Arc, ArcKind, Coverability, Flat, coverability};
///
/// let grow = vec![Arc { place: 0, kind: ArcKind::Put(1) }];
/// let Ok(Coverability::Unbounded { pumps, .. }) = coverability(&Flat::plain("grows", &[0], &[("GROW", grow)]), 100) else {
///     panic!("any number of tokens");
/// };
/// assert_eq!(pumps[0].cycle, [0]);
/// ```
pub fn coverability(flat: &Flat, most_nodes: usize) -> Result<Coverability, Box<Diagnostic>> {
    let rules = Rule::all(flat);
    for (number, rule) in rules.iter().enumerate() {
        let what = rule.effects.iter().find_map(|effect| match effect {
            effect if effect.below.is_some() => Some("inhibitor arcs"),
            effect if effect.reset => Some("reset arcs"),
            effect if effect.is_set => Some("sets"),
            _ => None,
        });
        if let Some(what) = what {
            let source = &flat.source_transitions[flat.transitions[number].of];
            let error = Diagnostic::error(format!("coverability is not defined for nets with {what}"));
            return Err(Box::new(error.label(source.span, "this transition has one")));
        }
    }
    let nodes = match construct(flat, &rules, most_nodes) {
        Ok(nodes) => nodes,
        Err(nodes) => return Ok(Coverability::Unknown { nodes }),
    };
    let bounds: Vec<u64> = (0..flat.places.len())
        .map(|place| nodes.iter().map(|node| node.marking[place]).max().unwrap_or(0))
        .collect();
    if bounds.iter().all(|&bound| bound != ANY) {
        return Ok(Coverability::Bounded { bounds });
    }
    let initial = initial(flat);
    let unbounded = (0..flat.places.len()).filter(|&place| bounds[place] == ANY);
    let pumps = unbounded.filter_map(|place| pump(&nodes, &rules, &initial, place)).collect();
    let bounds = bounds.into_iter().map(|bound| (bound != ANY).then_some(bound)).collect();
    Ok(Coverability::Unbounded { bounds, pumps })
}

fn initial(flat: &Flat) -> Vec<u64> {
    flat.places.iter().map(|place| u64::from(place.initial)).collect()
}

/// The marking after a transition; none where it is not enabled. Any number stays any number.
fn fire(rule: &Rule, marking: &[u64]) -> Option<Vec<u64>> {
    if !rule.effects.iter().all(|effect| marking[effect.place] >= effect.need()) {
        return None;
    }
    let mut after = marking.to_vec();
    for effect in &rule.effects {
        let tokens = &mut after[effect.place];
        if *tokens != ANY {
            // Far from any number that a run of feasible length reaches.
            *tokens = (*tokens - effect.take).saturating_add(effect.put).min(ANY - 1);
        }
    }
    Some(after)
}

/// All nodes; how many there are where they are too many.
fn construct(flat: &Flat, rules: &[Rule], most: usize) -> Result<Vec<Node>, usize> {
    let mut nodes = vec![Node { marking: initial(flat), from: None, repeats: Vec::new() }];
    let mut known: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
    known.insert(nodes[0].marking.clone(), 0);
    let mut next = 0;
    while next < nodes.len() {
        for (number, rule) in rules.iter().enumerate() {
            let Some(mut marking) = fire(rule, &nodes[next].marking) else { continue };
            let mut repeats = Vec::new();
            let mut at = Some(next);
            while let Some(ancestor) = at {
                let before = &nodes[ancestor].marking;
                if before.iter().zip(&marking).all(|(before, now)| before <= now) {
                    let grows: Vec<usize> = (0..marking.len())
                        .filter(|&place| before[place] < marking[place] && marking[place] != ANY)
                        .collect();
                    grows.iter().for_each(|&place| marking[place] = ANY);
                    if !grows.is_empty() {
                        repeats.push((ancestor, grows));
                    }
                }
                at = nodes[ancestor].from.map(|(from, _)| from);
            }
            if known.contains_key(&marking) {
                continue;
            }
            known.insert(marking.clone(), nodes.len());
            nodes.push(Node { marking, from: Some((next, number)), repeats });
            if nodes.len() > most {
                return Err(nodes.len());
            }
        }
        next += 1;
    }
    Ok(nodes)
}

/// The transitions from a node to one after it.
fn path(nodes: &[Node], from: usize, to: usize) -> Vec<usize> {
    let mut steps = Vec::new();
    let mut at = to;
    while at != from {
        let Some((before, transition)) = nodes[at].from else { break };
        steps.push(transition);
        at = before;
    }
    steps.reverse();
    steps
}

/// A run that makes a place grow, which is tried out before it is given. Where the steps to repeat use up what other
/// steps make, those come first, more and more often.
fn pump(nodes: &[Node], rules: &[Rule], initial: &[u64], place: usize) -> Option<Pump> {
    let node =
        (0..nodes.len()).find(|&node| nodes[node].repeats.iter().any(|(_, grows)| grows.contains(&place)))?;
    // The nodes on the way at which something can be repeated, with what.
    let mut way = vec![node];
    while let Some((before, _)) = nodes[way[way.len() - 1]].from {
        way.push(before);
    }
    way.reverse();
    for times in [0usize, 1, 2, 3, 4, 8, 16, 64, 256, 1024] {
        let mut prefix = Vec::new();
        let mut cycle = Vec::new();
        let levels = way.iter().map(|&at| nodes[at].repeats.len()).sum::<usize>();
        let mut level = 0;
        'way: for pair in
            std::iter::once((None, way[0])).chain(way.windows(2).map(|pair| (Some(pair[0]), pair[1])))
        {
            let (before, at) = pair;
            if let (Some(_), Some((_, transition))) = (before, nodes[at].from) {
                prefix.push(transition);
            }
            for (ancestor, grows) in &nodes[at].repeats {
                level += 1;
                let steps = path(nodes, *ancestor, at);
                let is_wanted = at == node && grows.contains(&place);
                // What is used later is made more often.
                let often = if is_wanted { 1 } else { times.saturating_pow((levels - level + 1) as u32) };
                if often.saturating_mul(steps.len()).saturating_add(prefix.len() + cycle.len()) > MOST_STEPS {
                    return None;
                }
                for _ in 0..often {
                    cycle.extend_from_slice(&steps);
                }
                if is_wanted {
                    break 'way;
                }
                for _ in 0..often {
                    prefix.extend_from_slice(&steps);
                }
            }
        }
        if let Some(found) = tried(rules, initial, &prefix, &cycle, place) {
            return Some(found);
        }
    }
    None
}

/// The run, if it can happen and makes the place grow without using up anything.
fn tried(rules: &[Rule], initial: &[u64], prefix: &[usize], cycle: &[usize], place: usize) -> Option<Pump> {
    let run = |from: Vec<u64>, steps: &[usize]| {
        steps.iter().try_fold(from, |marking, &step| fire(&rules[step], &marking))
    };
    let before = run(initial.to_vec(), prefix)?;
    let after = run(before.clone(), cycle)?;
    let grows =
        before[place] < after[place] && before.iter().zip(&after).all(|(before, after)| before <= after);
    grows.then(|| Pump { place, prefix: prefix.to_vec(), cycle: cycle.to_vec() })
}
