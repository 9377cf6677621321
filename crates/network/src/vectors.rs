//! From a tree of compositions to a flat list of synchronisation vectors.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use lts::{LabelId, Labels, Selector, gate};

use super::{ComposeError, Leaf, Network, Part, SyncRule, SyncVector, Synchronisation, Unmatched};

/// More vectors than this are refused: they would fill the memory before the first state is seen.
const MOST_VECTORS: usize = 4_000_000;

/// Labels of leaves that happen together, and the label that this makes.
#[derive(Clone)]
pub(super) struct Vector {
    /// Which leaf does what, by ascending leaf.
    pub parts: Vec<(usize, LabelId)>,
    pub label: LabelId,
}

/// A network without structure.
pub(super) struct Flat {
    pub leaves: Vec<Leaf>,
    pub vectors: Vec<Vector>,
    pub labels: Labels,
    pub unmatched: Vec<Unmatched>,
}

pub(super) fn flatten(network: &Network) -> Result<Flat, ComposeError> {
    let mut flat =
        Flat { leaves: Vec::new(), vectors: Vec::new(), labels: Labels::new(), unmatched: Vec::new() };
    flat.vectors = flat.add(network)?;
    Ok(flat)
}

impl Flat {
    /// Adds the leaves of a network and gives the vectors over them.
    fn add(&mut self, network: &Network) -> Result<Vec<Vector>, ComposeError> {
        match network {
            Network::Leaf(leaf) => Ok(self.add_leaf(leaf)),
            Network::Par { synchronisation, branches } => {
                let branches =
                    branches.iter().map(|branch| self.add(branch)).collect::<Result<Vec<_>, _>>()?;
                match synchronisation {
                    Synchronisation::Rules(rules) => self.synchronise(rules, branches),
                    Synchronisation::Vectors(vectors) => self.apply_vectors(vectors, branches),
                }
            }
            Network::Hide(inner, selectors) => {
                let vectors = self.add(inner)?;
                self.look_for("hide", selectors, &vectors);
                Ok(self.relabel(vectors, |text| (!selects(selectors, text)).then(|| text.to_owned())))
            }
            Network::HideAllBut(inner, selectors) => {
                let vectors = self.add(inner)?;
                self.look_for("hide all but", selectors, &vectors);
                Ok(self.relabel(vectors, |text| selects(selectors, text).then(|| text.to_owned())))
            }
            Network::Rename(inner, rules) => {
                let vectors = self.add(inner)?;
                self.look_for("rename", rules.iter().map(|(selector, _)| selector), &vectors);
                Ok(self.relabel(vectors, |text| {
                    let renamed = rules.iter().find_map(|(selector, to)| selector.rename(text, to));
                    Some(renamed.unwrap_or_else(|| text.to_owned()))
                }))
            }
            Network::Cut(inner, selectors) => {
                let mut vectors = self.add(inner)?;
                self.look_for("cut", selectors, &vectors);
                vectors.retain(|vector| !selects(selectors, self.labels.text(vector.label)));
                Ok(vectors)
            }
        }
    }

    fn add_leaf(&mut self, added: &Leaf) -> Vec<Vector> {
        let leaf = self.leaves.len();
        self.leaves.push(added.clone());
        let lts = &added.lts;
        let used = lts.used_labels();
        lts.labels()
            .iter()
            .filter(|(label, _)| used[label.index()])
            .map(|(label, text)| Vector { parts: vec![(leaf, label)], label: self.labels.intern(text) })
            .collect()
    }

    /// Notes the selectors that choose no label of these vectors.
    fn look_for<'v>(
        &mut self,
        operator: &'static str,
        selectors: impl IntoIterator<Item = &'v Selector>,
        vectors: impl IntoIterator<Item = &'v Vector>,
    ) {
        let numbers: BTreeSet<LabelId> = vectors.into_iter().map(|vector| vector.label).collect();
        let texts: BTreeSet<&str> = numbers.into_iter().map(|label| self.labels.text(label)).collect();
        for selector in selectors {
            if !texts.iter().any(|text| selector.matches(text)) {
                let labels = texts.iter().map(|&text| text.to_owned()).collect();
                self.unmatched.push(Unmatched { operator, selector: selector.clone(), labels });
            }
        }
    }

    /// Gives visible labels a new text, `None` making them internal.
    fn relabel(
        &mut self,
        mut vectors: Vec<Vector>,
        new_text: impl Fn(&str) -> Option<String>,
    ) -> Vec<Vector> {
        let mut known: FxHashMap<LabelId, LabelId> = FxHashMap::default();
        for vector in vectors.iter_mut().filter(|vector| !vector.label.is_tau()) {
            vector.label = *known.entry(vector.label).or_insert_with(|| {
                new_text(self.labels.text(vector.label))
                    .map_or(LabelId::TAU, |text| self.labels.intern(&text))
            });
        }
        vectors
    }

    /// Combines the vectors of branches by synchronisation rules.
    fn synchronise(
        &mut self,
        rules: &[SyncRule],
        branches: Vec<Vec<Vector>>,
    ) -> Result<Vec<Vector>, ComposeError> {
        self.look_for("par", rules.iter().map(|rule| &rule.labels), branches.iter().flatten());
        // By label, what each branch can do; in the order of labels, so that the result has an order of its own.
        let mut by_label: BTreeMap<LabelId, Vec<Vec<Vector>>> = BTreeMap::new();
        let count = branches.len();
        for (index, branch) in branches.into_iter().enumerate() {
            for vector in branch {
                by_label.entry(vector.label).or_insert_with(|| vec![Vec::new(); count])[index].push(vector);
            }
        }
        let everyone: Vec<usize> = (0..count).collect();
        let mut result = Vec::new();
        for (label, offered) in by_label {
            let text = self.labels.text(label);
            let rule = rules.iter().find(|rule| !label.is_tau() && rule.labels.matches(text));
            let (concerned, size) = match rule {
                Some(rule) => (&rule.branches, rule.count),
                None if !label.is_tau() && gate(text) == "exit" => (&everyone, count),
                None => (&everyone, 1),
            };
            let alone = offered.iter().enumerate().filter(|(index, _)| !concerned.contains(index));
            result.extend(alone.flat_map(|(_, vectors)| vectors).cloned());
            combine_subsets(&offered, concerned, size, label, &mut result)?;
        }
        Ok(result)
    }

    /// Combines the vectors of branches by explicit vectors; internal actions stay as they are.
    fn apply_vectors(
        &mut self,
        vectors: &[SyncVector],
        branches: Vec<Vec<Vector>>,
    ) -> Result<Vec<Vector>, ComposeError> {
        let mut result: Vec<Vector> =
            branches.iter().flatten().filter(|vector| vector.label.is_tau()).cloned().collect();
        for explicit in vectors {
            // By the common offers of its gates, what each taking branch can do.
            let mut by_offers: BTreeMap<String, Vec<Vec<Vector>>> = BTreeMap::new();
            let taking: Vec<(usize, &Part)> = explicit
                .parts
                .iter()
                .enumerate()
                .filter_map(|(at, part)| Some((at, part.as_ref()?)))
                .collect();
            for &(branch, part) in &taking {
                let selector = match part {
                    Part::Gate(name) => Selector::Gate(name.clone()),
                    Part::Label(name) => Selector::Exact(name.clone()),
                };
                self.look_for("vector", [&selector], &branches[branch]);
            }
            let has_gates = taking.iter().any(|(_, part)| matches!(part, Part::Gate(_)));
            for (place, &(branch, part)) in taking.iter().enumerate() {
                if let Part::Gate(name) = part {
                    for vector in branches[branch].iter().filter(|vector| !vector.label.is_tau()) {
                        let text = self.labels.text(vector.label);
                        if gate(text) == name {
                            let offers = text[name.len()..].to_owned();
                            let choices =
                                by_offers.entry(offers).or_insert_with(|| vec![Vec::new(); taking.len()]);
                            choices[place].push(vector.clone());
                        }
                    }
                }
            }
            if !has_gates {
                by_offers.insert(String::new(), vec![Vec::new(); taking.len()]);
            }
            for (offers, mut choices) in by_offers {
                for (place, &(branch, part)) in taking.iter().enumerate() {
                    if let Part::Label(name) = part {
                        let exact =
                            branches[branch].iter().filter(|vector| self.labels.text(vector.label) == name);
                        choices[place].extend(exact.cloned());
                    }
                }
                let label = self.labels.intern(&format!("{}{offers}", explicit.result));
                let all: Vec<usize> = (0..taking.len()).collect();
                combine_subsets(&choices, &all, taking.len(), label, &mut result)?;
            }
        }
        Ok(result)
    }
}

fn selects(selectors: &[Selector], text: &str) -> bool {
    selectors.iter().any(|selector| selector.matches(text))
}

/// Adds every combination of one vector from each of `size` of the `concerned` branches.
fn combine_subsets(
    offered: &[Vec<Vector>],
    concerned: &[usize],
    size: usize,
    label: LabelId,
    result: &mut Vec<Vector>,
) -> Result<(), ComposeError> {
    let able: Vec<usize> = concerned.iter().copied().filter(|&branch| !offered[branch].is_empty()).collect();
    if size == 0 || able.len() < size {
        return Ok(());
    }
    // Subsets in lexicographic order: `chosen` holds positions in `able`.
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        let branches: Vec<usize> = chosen.iter().map(|&position| able[position]).collect();
        combine(offered, &branches, label, result)?;
        let Some(last) = (0..size).rev().find(|&at| chosen[at] < able.len() - size + at) else {
            return Ok(());
        };
        chosen[last] += 1;
        for at in last + 1..size {
            chosen[at] = chosen[at - 1] + 1;
        }
    }
}

/// Adds every combination of one vector from each of the given branches.
fn combine(
    offered: &[Vec<Vector>],
    branches: &[usize],
    label: LabelId,
    result: &mut Vec<Vector>,
) -> Result<(), ComposeError> {
    let mut partial = vec![Vector { parts: Vec::new(), label }];
    for &branch in branches {
        if partial.len().saturating_mul(offered[branch].len()) + result.len() > MOST_VECTORS {
            return Err(ComposeError::TooManyVectors(MOST_VECTORS));
        }
        partial = partial
            .iter()
            .flat_map(|done| {
                offered[branch].iter().map(|vector| Vector {
                    parts: done.parts.iter().chain(&vector.parts).copied().collect(),
                    label,
                })
            })
            .collect();
    }
    // Branches come in ascending order, and so do the leaves below them.
    result.append(&mut partial);
    Ok(())
}

/// The rules of a product: for every visible label that several branches know, all of those synchronise.
pub(super) fn common_label_rules(branches: &[Network]) -> Vec<SyncRule> {
    let mut knows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, branch) in branches.iter().enumerate() {
        let Ok(flat) = flatten(branch) else { continue };
        let mut labels: Vec<LabelId> = flat.vectors.iter().map(|vector| vector.label).collect();
        labels.sort_unstable();
        labels.dedup();
        for label in labels.into_iter().filter(|label| !label.is_tau()) {
            knows.entry(flat.labels.text(label).to_owned()).or_default().push(index);
        }
    }
    knows
        .into_iter()
        .filter(|(_, branches)| branches.len() > 1)
        .map(|(text, branches)| SyncRule { labels: Selector::Exact(text), count: branches.len(), branches })
        .collect()
}
