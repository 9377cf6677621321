//! Typical bugs, recognised by how the neighbourhoods lie: the gallery of the thesis (§8.1) as definitions.

use crate::graph::{Node, SINK};
use crate::groups::Group;
use crate::neighbourhood::Kind;
use crate::relations::Relation;
use crate::tagged::{Method, Tag, Tagged};

/// A typical bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Every run violates the property.
    AllWrong,
    /// There is one neighbourhood.
    UniqueChoice,
    /// Neighbourhoods with a correct exit stand before all those with an incorrect one.
    Frontiers,
    /// One choice, open step after step, that is wrong whenever it is taken.
    Comb,
    /// One choice between right and wrong, open step after step.
    SpiderWeb,
    /// One choice that comes back after a while, time and again.
    Flower,
    /// Several choices of which no run passes two.
    Isolated,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 7] = [
        Shape::AllWrong,
        Shape::UniqueChoice,
        Shape::Frontiers,
        Shape::Comb,
        Shape::SpiderWeb,
        Shape::Flower,
        Shape::Isolated,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Shape::AllWrong => "all wrong",
            Shape::UniqueChoice => "unique choice",
            Shape::Frontiers => "frontiers",
            Shape::Comb => "comb",
            Shape::SpiderWeb => "spider web",
            Shape::Flower => "flower",
            Shape::Isolated => "isolated choices",
        }
    }

    /// What it says about the bug.
    pub fn meaning(self) -> &'static str {
        match self {
            Shape::AllWrong => {
                "every run violates the property, whatever is chosen: look at what the model always does, \
                 or at the property"
            }
            Shape::UniqueChoice => {
                "there is one state with steps that decide for good: look at the constructs that compete there"
            }
            Shape::Frontiers => {
                "the bug needs two causes: every run passes a choice that could have avoided it before it comes to \
                 the choice that makes it certain"
            }
            Shape::Comb => {
                "the same wrong step is on offer in one state after another, probably because it runs in parallel \
                 with actions that have nothing to do with it"
            }
            Shape::SpiderWeb => {
                "the same choice between right and wrong is on offer in one state after another, probably because \
                 of the interleaving with actions that have nothing to do with it"
            }
            Shape::Flower => "one choice that comes back time and again, probably with every round of a loop",
            Shape::Isolated => "no run passes two of the choices, so there may be more than one bug",
        }
    }
}

impl Tagged<'_> {
    /// The typical bug that this is, where it is one.
    pub fn shape(&self, groups: &[Group], relations: &[Relation]) -> Option<Shape> {
        let all = self.neighbourhoods();
        match all {
            [] => return None,
            [one] if one.node == 0 && self.outgoing(0).all(|step| self.tag(step) == Tag::Incorrect) => {
                // Where a run may stay out of trouble for ever, not every run is wrong.
                let stays = self.method() == Method::Counterexample && self.endless_regions() > 0;
                return (!stays).then_some(Shape::AllWrong);
            }
            [_] => return Some(Shape::UniqueChoice),
            _ => {}
        }
        if self.has_frontiers() {
            return Some(Shape::Frontiers);
        }
        // One choice must make up most of the picture.
        let largest = groups.iter().max_by_key(|group| group.members.len())?;
        if largest.members.len() >= 3 && 3 * largest.members.len() >= 2 * all.len() {
            let mut chain = largest.members.clone();
            chain.sort_by_key(|&member| (relations[member].from_start, member));
            let lost = chain.iter().all(|&member| all[member].kind.has(Tag::Incorrect));
            let open = chain.iter().filter(|&&member| all[member].kind.has(Tag::Correct)).count();
            if lost && self.is_adjacent(&chain) {
                return Some(if 2 * open >= chain.len() { Shape::SpiderWeb } else { Shape::Comb });
            }
            if lost && is_sequence(&chain, relations) {
                return Some(Shape::Flower);
            }
        }
        self.are_apart().then_some(Shape::Isolated)
    }

    /// Whether all ways to neighbourhoods with incorrect exits pass one with correct and without incorrect exits.
    fn has_frontiers(&self) -> bool {
        let first = |node: Node| self.neighbourhood(node).is_some_and(|one| one.kind == Kind::Cn);
        let counts = self.neighbourhood_counts();
        if counts.of(Kind::Cn) < 2 || counts.of(Kind::Cn) == counts.total() || first(0) {
            return false;
        }
        let second = |node: Node| self.neighbourhood(node).is_some() && !first(node);
        !self.reaches(0, second, first)
    }

    /// Whether each neighbourhood of a chain is one neutral transition after the one before it.
    fn is_adjacent(&self, chain: &[usize]) -> bool {
        chain.windows(2).all(|pair| {
            let (from, to) = (self.neighbourhoods()[pair[0]].node, self.neighbourhoods()[pair[1]].node);
            self.outgoing(from).any(|step| self.tag(step) == Tag::Neutral && self.target(step) == Some(to))
        })
    }

    /// Whether no neighbourhood can be reached from another.
    fn are_apart(&self) -> bool {
        let is_one = |node: Node| self.neighbourhood(node).is_some();
        self.neighbourhoods().len() <= 1000
            && self.neighbourhoods().iter().all(|one| {
                let mut after = self.outgoing(one.node).filter_map(|step| self.target(step));
                !after.any(|next| {
                    next != one.node && self.reaches(next, |node| node != one.node && is_one(node), |_| false)
                })
            })
    }

    /// Whether a way leads from a node to a goal without passing forbidden ones.
    fn reaches(&self, from: Node, goal: impl Fn(Node) -> bool, forbidden: impl Fn(Node) -> bool) -> bool {
        let mut seen = vec![false; self.state_count()];
        seen[from as usize] = true;
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            if goal(node) {
                return true;
            }
            if forbidden(node) {
                continue;
            }
            for &target in self.graph.targets[self.graph.row(node)].iter().filter(|&&target| target != SINK) {
                if !std::mem::replace(&mut seen[target as usize], true) {
                    todo.push(target);
                }
            }
        }
        false
    }
}

/// Whether every way to a neighbourhood of the chain passes the one before it.
fn is_sequence(chain: &[usize], relations: &[Relation]) -> bool {
    chain.windows(2).all(|pair| {
        let mut above = relations[pair[1]].after;
        while let Some(one) = above {
            if one == pair[0] {
                return true;
            }
            above = relations[one].after;
        }
        false
    })
}
