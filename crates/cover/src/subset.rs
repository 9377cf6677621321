//! Which examples matter: the smallest subset with the same coverage, and what only one example reaches.
//!
//! Smallest subsets are set covers. Examples that are alone in reaching something are needed; the rest is searched
//! by branch and bound, which is exact up to a number of steps, and greedy beyond.

use model::CoverageMap;

use crate::coverage::{Coverage, Item, item};

/// The smallest subset of examples that covers what all cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset {
    /// Positions of the examples, ascending.
    pub examples: Vec<usize>,
    /// Whether no smaller subset exists; else it is just a small one.
    pub smallest: bool,
}

/// How many nodes of the search are looked at before a small subset has to do.
const MOST_NODES: usize = 200_000;

/// Finds the smallest subset of examples with the coverage of all.
pub fn smallest_subset(coverages: &[Coverage]) -> Subset {
    smallest_cover(&coverages.iter().map(Coverage::items).collect::<Vec<_>>())
}

/// The same for any items: for each example, which of them it covers.
pub(crate) fn smallest_cover(sets: &[Vec<bool>]) -> Subset {
    let items = sets.first().map_or(0, Vec::len);
    let wanted: Vec<usize> = (0..items).filter(|&item| sets.iter().any(|set| set[item])).collect();
    let mut search = Search { sets, best: greedy(sets, &wanted), nodes: 0 };
    search.extend(&mut Vec::new(), &wanted);
    let mut examples = search.best;
    examples.sort_unstable();
    Subset { examples, smallest: search.nodes < MOST_NODES }
}

fn greedy(sets: &[Vec<bool>], wanted: &[usize]) -> Vec<usize> {
    let mut left = wanted.to_vec();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let gain = |set: &Vec<bool>| left.iter().filter(|&&item| set[item]).count();
        // The first of the best ones.
        let best = (0..sets.len()).rev().max_by_key(|&index| gain(&sets[index]));
        let Some(best) = best else { break };
        left.retain(|&item| !sets[best][item]);
        chosen.push(best);
    }
    chosen
}

struct Search<'a> {
    sets: &'a [Vec<bool>],
    best: Vec<usize>,
    nodes: usize,
}

impl Search<'_> {
    /// Tries the examples that reach the item that the fewest reach.
    fn extend(&mut self, chosen: &mut Vec<usize>, left: &[usize]) {
        self.nodes += 1;
        if left.is_empty() {
            if chosen.len() < self.best.len() {
                self.best = chosen.clone();
            }
            return;
        }
        // No example covers more than this at once.
        let most = self.sets.iter().map(|set| left.iter().filter(|&&item| set[item]).count()).max();
        let bound = left.len().div_ceil(most.unwrap_or(1).max(1));
        if chosen.len() + bound >= self.best.len() || self.nodes >= MOST_NODES {
            return;
        }
        let reached_by = |&&item: &&usize| self.sets.iter().filter(|set| set[item]).count();
        let Some(&rarest) = left.iter().min_by_key(reached_by) else { return };
        for example in 0..self.sets.len() {
            if self.sets[example][rarest] {
                let rest: Vec<usize> =
                    left.iter().copied().filter(|&item| !self.sets[example][item]).collect();
                chosen.push(example);
                self.extend(chosen, &rest);
                chosen.pop();
            }
        }
    }
}

/// For each example, what no other one reaches.
pub fn only_reached_by(map: &CoverageMap, coverages: &[Coverage]) -> Vec<Vec<Item>> {
    let sets: Vec<Vec<bool>> = coverages.iter().map(Coverage::items).collect();
    let items = sets.first().map_or(0, Vec::len);
    let mut only = vec![Vec::new(); coverages.len()];
    for position in 0..items {
        let mut reaching = (0..sets.len()).filter(|&example| sets[example][position]);
        if let (Some(example), None) = (reaching.next(), reaching.next()) {
            only[example].push(item(map, position));
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(blocks: &[u8]) -> Coverage {
        Coverage { blocks: blocks.iter().map(|&bit| bit == 1).collect(), ..Coverage::default() }
    }

    /// Greedy takes the first example (four items), then needs both others; the two others alone are enough.
    #[test]
    fn smaller_than_greedy() {
        let coverages =
            [coverage(&[0, 1, 1, 1, 1, 0]), coverage(&[1, 1, 1, 0, 0, 0]), coverage(&[0, 0, 0, 1, 1, 1])];
        assert_eq!(smallest_subset(&coverages), Subset { examples: vec![1, 2], smallest: true });
    }

    #[test]
    fn every_subset_is_tried_by_the_naive_twin() {
        let mut seed = 7u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        for _ in 0..500 {
            let (examples, items) = (1 + draw() % 7, 1 + draw() % 9);
            let coverages: Vec<Coverage> = (0..examples)
                .map(|_| coverage(&(0..items).map(|_| u8::from(draw() % 3 == 0)).collect::<Vec<_>>()))
                .collect();
            let union = |chosen: u64| {
                let mut all = coverage(&vec![0; items as usize]);
                let members = coverages.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 1);
                members.for_each(|(_, one)| all.add(one));
                all
            };
            let all = union(u64::MAX);
            let least = (0..1u64 << examples).filter(|&chosen| union(chosen) == all);
            let least = least.map(u64::count_ones).min().unwrap();
            let found = smallest_subset(&coverages);
            assert!(found.smallest);
            assert_eq!(found.examples.len() as u32, least);
            assert_eq!(union(found.examples.iter().map(|index| 1 << index).sum()), all);
        }
    }
}
