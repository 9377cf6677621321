//! How neighbourhoods lie to each other: what must be passed before, how far the violation is, how likely they are.
//!
//! Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): a few passes over the
//! transitions in practice, 12 bytes a state. Probabilities by components: one linear system a component that has
//! cycles, and one more for each neighbourhood in it, solved by Gauss-Seidel sweeps within a budget.

use lts::{Components, StateId};

use crate::graph::{Graph, Node, Reverse, SINK};
use crate::tagged::Tagged;

/// What is known of one neighbourhood besides its exits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relation {
    /// How many transitions the nearest way from the initial state takes.
    pub from_start: u32,
    /// How many transitions it takes at least from here to a complete violation; nothing where that is not known.
    pub to_violation: Option<u32>,
    /// The last neighbourhood that every way here passes, by its position in the list.
    pub after: Option<usize>,
    /// How likely a run that chooses uniformly among transitions comes here; nothing where that takes too long.
    pub probability: Option<f64>,
}

/// How much work probabilities may take, in transitions looked at.
const BUDGET: u64 = 40_000_000;

impl Tagged<'_> {
    /// The relations of all neighbourhoods, in their order.
    ///
    /// ```
    /// let aut = "des (0, 3, 4)\n(0, A, 1)\n(1, B, 2)\n(1, C, 3)\n";
    /// let lts = lts::parse_aut(aut, &Default::default())?;
    /// let mut sources = source::Sources::new();
    /// let never = logic::never("C", &mut sources).unwrap();
    /// let property = explain::Property::of(&never.formula).unwrap();
    /// let tagged = property.tag(&lts, &Default::default(), &lts::Progress::new()).unwrap().unwrap();
    /// let relation = &tagged.relations()[0];
    /// assert_eq!((relation.from_start, relation.to_violation, relation.probability), (1, Some(1), Some(1.0)));
    /// # Ok::<(), lts::AutError>(())
    /// ```
    pub fn relations(&self) -> Vec<Relation> {
        let graph = &self.graph;
        let reverse = &self.reverse;
        let ((from_start, to_violation), dominators) = rayon::join(
            || (forward_distances(graph), reverse.distances(self.goals())),
            || dominators(graph, reverse),
        );
        let mut place = vec![usize::MAX; graph.len()];
        for (at, one) in self.neighbourhoods().iter().enumerate() {
            place[one.node as usize] = at;
        }
        let probabilities = self.probabilities();
        let relation = |at: usize| {
            let node = self.neighbourhoods()[at].node as usize;
            let mut above = dominators[node];
            while above != NOBODY && place[above as usize] == usize::MAX {
                above = dominators[above as usize];
            }
            Relation {
                from_start: from_start[node],
                to_violation: Some(to_violation[node]).filter(|&far| far != u32::MAX),
                after: (above != NOBODY).then(|| place[above as usize]),
                probability: probabilities[at],
            }
        };
        (0..self.neighbourhoods().len()).map(relation).collect()
    }

    /// How likely each neighbourhood is passed by a run that chooses uniformly among the transitions of each state.
    fn probabilities(&self) -> Vec<Option<f64>> {
        let graph = &self.graph;
        if graph.targets.len() as u64 > BUDGET / 8 {
            return vec![None; self.neighbourhoods().len()];
        }
        let inside = |_: usize, at: usize| Some(graph.targets[at]).filter(|&t| t != SINK).map(|t| t as usize);
        let components = Components::of_graph(graph.len(), |node| graph.row(node as u32), inside);
        let of = |node: Node| components.of(StateId::from_raw(node));
        let mut order: Vec<Node> = (0..graph.len() as u32).collect();
        order.sort_by_key(|&node| std::cmp::Reverse(of(node)));
        let mut place = vec![usize::MAX; graph.len()];
        for (at, one) in self.neighbourhoods().iter().enumerate() {
            place[one.node as usize] = at;
        }
        let mut found = vec![None; self.neighbourhoods().len()];
        // How likely a run enters the component of a node there; nothing once something was too much work.
        let mut entering: Vec<f64> = vec![0.0; graph.len()];
        entering[0] = 1.0;
        let mut known = vec![true; graph.len()];
        let mut budget = BUDGET;
        for nodes in order.chunk_by(|&a, &b| of(a) == of(b)) {
            let mut part = Part::new(graph, nodes, &entering, |node| of(node) == of(nodes[0]));
            part.is_known = nodes.iter().all(|&node| known[node as usize]);
            let wanted = nodes.iter().filter(|&&node| place[node as usize] != usize::MAX).count() as u64;
            let is_affordable = !part.has_cycle || wanted.saturating_mul(part.sweep_cost()) <= budget / 8;
            for (local, &node) in nodes.iter().enumerate() {
                if place[node as usize] != usize::MAX && is_affordable {
                    found[place[node as usize]] = part.probability_of(local, &mut budget);
                }
            }
            let visits = part.visits(&mut budget);
            for (local, &node) in nodes.iter().enumerate() {
                let row = &graph.targets[graph.row(node)];
                for &target in row.iter().filter(|&&target| target != SINK && of(target) != of(node)) {
                    match &visits {
                        Some(visits) => entering[target as usize] += visits[local] / row.len() as f64,
                        None => known[target as usize] = false,
                    }
                }
            }
        }
        found
    }
}

/// One component as a Markov chain.
struct Part {
    /// How likely a run enters at each node.
    entering: Vec<f64>,
    /// For each node the nodes of the component it leads to, and over how many transitions it chooses.
    inner: Vec<(Vec<u32>, f64)>,
    transitions: u64,
    has_cycle: bool,
    has_exit: bool,
    is_known: bool,
}

/// When sweeps stop: nothing changes by more than this.
const PRECISION: f64 = 1e-12;
const MOST_SWEEPS: usize = 2000;

impl Part {
    fn new(graph: &Graph<'_>, nodes: &[Node], entering: &[f64], is_inside: impl Fn(Node) -> bool) -> Self {
        let mut sorted: Vec<(Node, u32)> =
            nodes.iter().enumerate().map(|(local, &node)| (node, local as u32)).collect();
        sorted.sort_unstable();
        let local = |node: Node| sorted[sorted.binary_search_by_key(&node, |&(node, _)| node).unwrap()].1;
        let mut part = Self {
            entering: nodes.iter().map(|&node| entering[node as usize]).collect(),
            inner: Vec::with_capacity(nodes.len()),
            transitions: 0,
            has_cycle: false,
            has_exit: false,
            is_known: true,
        };
        for &node in nodes {
            let row = &graph.targets[graph.row(node)];
            let inside = row.iter().filter(|&&target| target != SINK && is_inside(target));
            let inner: Vec<u32> = inside.map(|&target| local(target)).collect();
            part.has_cycle |= !inner.is_empty();
            part.has_exit |= inner.len() < row.len();
            part.transitions += inner.len() as u64;
            part.inner.push((inner, row.len() as f64));
        }
        part
    }

    /// How often a run is expected to be in each node; nothing where that is unbounded or too much work.
    fn visits(&self, budget: &mut u64) -> Option<Vec<f64>> {
        if !self.is_known {
            return None;
        }
        if !self.has_cycle || !self.has_exit {
            return Some(self.entering.clone());
        }
        // Sources of each node, so that a sweep can gather.
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.inner.len()];
        for (node, (inner, _)) in self.inner.iter().enumerate() {
            inner.iter().for_each(|&target| sources[target as usize].push(node as u32));
        }
        let mut visits = self.entering.clone();
        self.sweep(budget, |change| {
            for node in 0..visits.len() {
                let from = sources[node]
                    .iter()
                    .map(|&source| visits[source as usize] / self.inner[source as usize].1);
                let new = self.entering[node] + from.sum::<f64>();
                *change = change.max((new - visits[node]).abs());
                visits[node] = new;
            }
        })?;
        Some(visits)
    }

    /// How likely a run comes to a node of this component at all.
    fn probability_of(&self, goal: usize, budget: &mut u64) -> Option<f64> {
        if !self.is_known {
            return None;
        }
        let arriving: f64 = self.entering.iter().sum();
        if !self.has_exit || (arriving - self.entering[goal]).abs() < PRECISION {
            return Some(arriving.min(1.0));
        }
        let mut hit = vec![0.0; self.inner.len()];
        hit[goal] = 1.0;
        self.sweep(budget, |change| {
            for node in (0..hit.len()).rev().filter(|&node| node != goal) {
                let (inner, ways) = &self.inner[node];
                let new = inner.iter().map(|&target| hit[target as usize]).sum::<f64>() / ways;
                *change = change.max((new - hit[node]).abs());
                hit[node] = new;
            }
        })?;
        Some(self.entering.iter().zip(&hit).map(|(entering, hit)| entering * hit).sum::<f64>().min(1.0))
    }

    fn sweep_cost(&self) -> u64 {
        self.transitions + self.inner.len() as u64
    }

    fn sweep(&self, budget: &mut u64, mut once: impl FnMut(&mut f64)) -> Option<()> {
        for _ in 0..MOST_SWEEPS {
            *budget = budget.checked_sub(self.sweep_cost())?;
            let mut change = 0.0;
            once(&mut change);
            if change < PRECISION {
                return Some(());
            }
        }
        None
    }
}

fn forward_distances(graph: &Graph<'_>) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.len()];
    distances[0] = 0;
    let mut queue = std::collections::VecDeque::from([0u32]);
    while let Some(node) = queue.pop_front() {
        for &target in graph.targets[graph.row(node)].iter().filter(|&&target| target != SINK) {
            if distances[target as usize] == u32::MAX {
                distances[target as usize] = distances[node as usize] + 1;
                queue.push_back(target);
            }
        }
    }
    distances
}

/// The initial node has no dominator.
const NOBODY: Node = u32::MAX;

/// The nearest node that every way to each node passes.
fn dominators(graph: &Graph<'_>, reverse: &Reverse) -> Vec<Node> {
    // Numbers in postorder of a depth-first search.
    let mut number = vec![u32::MAX; graph.len()];
    let mut order: Vec<Node> = Vec::with_capacity(graph.len());
    let mut seen = vec![false; graph.len()];
    seen[0] = true;
    let mut path = vec![(0u32, graph.row(0).start)];
    while let Some((node, at)) = path.last_mut() {
        let node = *node;
        if *at == graph.row(node).end {
            number[node as usize] = order.len() as u32;
            order.push(node);
            path.pop();
            continue;
        }
        let target = graph.targets[*at];
        *at += 1;
        if target != SINK && !std::mem::replace(&mut seen[target as usize], true) {
            path.push((target, graph.row(target).start));
        }
    }
    let mut above = vec![NOBODY; graph.len()];
    above[0] = 0;
    loop {
        let mut changed = false;
        for &node in order.iter().rev().filter(|&&node| node != 0) {
            let mut new = NOBODY;
            for &source in reverse.of(node).iter().filter(|&&source| above[source as usize] != NOBODY) {
                let mut other = source;
                if new == NOBODY {
                    new = source;
                    continue;
                }
                while new != other {
                    while number[new as usize] < number[other as usize] {
                        new = above[new as usize];
                    }
                    while number[other as usize] < number[new as usize] {
                        other = above[other as usize];
                    }
                }
            }
            if above[node as usize] != new {
                above[node as usize] = new;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    above[0] = NOBODY;
    above
}
