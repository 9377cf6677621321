//! Comparison with an earlier run. Line numbers move when a model is edited, so that a thing is known by what it is: its
//! kind, its process, its text, and its number among equals.

use rustc_hash::FxHashMap;

use crate::coverage::Item;
use crate::run::Outcome;

/// What has changed since an earlier run, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What was covered, still exists, and is not covered any more.
    pub lost: Vec<String>,
    /// What is covered and was not.
    pub gained: Vec<String>,
}

/// The names of everything that can be exercised, and whether it was.
pub fn named_items(outcome: &Outcome) -> Vec<(String, bool)> {
    let specification = &outcome.specification;
    let map = &specification.map;
    let holes = outcome.holes();
    let mut seen: FxHashMap<String, usize> = FxHashMap::default();
    let items = (0..map.blocks.len()).map(Item::Block).chain((0..map.decisions.len()).flat_map(|decision| {
        let outcomes =
            [true, false].into_iter().filter(move |&one| one || !map.decisions[decision].always_true);
        outcomes.map(move |outcome| Item::Outcome(decision, outcome))
    }));
    let items = items.chain((0..map.actions.len()).map(Item::Action));
    let name = |item: Item| {
        let kind = match item {
            Item::Block(_) => "block",
            Item::Outcome(_, true) => "true outcome",
            Item::Outcome(_, false) => "false outcome",
            Item::Action(_) => "action",
        };
        let (span, process) = item.place(map);
        let words: Vec<&str> = specification.sources.slice(span).split_whitespace().collect();
        format!("{kind} of {}: {}", specification.process(process), words.join(" "))
    };
    items
        .map(|item| {
            let name = name(item);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            let name = if *count == 1 { name } else { format!("{name} ({count})") };
            (name, !holes.contains(&item))
        })
        .collect()
}

/// Compares with the names that an earlier run has covered.
pub fn compare_with_baseline(outcome: &Outcome, covered_before: &[String]) -> Change {
    let mut change = Change::default();
    for (name, covered) in named_items(outcome) {
        match (covered_before.contains(&name), covered) {
            (true, false) => change.lost.push(name),
            (false, true) => change.gained.push(name),
            _ => {}
        }
    }
    change
}
