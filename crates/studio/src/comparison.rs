//! Two open models compared: whether they are equivalent and, if not, what one can do and the other can't, as a walk in each.

use bisim::{Comparison, Limits, Play, Reason, Relation};
use lts::Lts;
use serde::{Deserialize, Serialize};

use crate::answers::{Transition, transition};
use crate::opening::Opened;
use crate::project::View;

/// The most states of a deterministic system, which traces need.
const MOST_STATES: usize = 1_000_000;

/// What to compare with, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Another open model.
    pub with: u32,
    /// The relation.
    pub relation: String,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CantCompare {
    /// There is no such relation.
    #[error(transparent)]
    Relation(#[from] bisim::UnknownRelation),
    /// It takes too much.
    #[error("the systems can't be compared: {0}")]
    Limit(#[from] bisim::Error),
    /// One of them is not open.
    #[error("one of the models is not open yet")]
    NotOpen,
}

/// What a comparison found.
#[derive(Serialize)]
pub struct Compared {
    equivalent: bool,
    relation: &'static str,
    /// A formula that holds in the first system only.
    formula: Option<String>,
    /// Labels that one of the systems can perform, the last of them after the others in one of them only.
    trace: Option<Vec<String>>,
    /// Who chooses each step where it matters which one of several is taken, `left` or `right`; the other one can answer in
    /// other ways as well, but not better.
    moves: Option<Vec<&'static str>>,
    /// Who can: `left` or `right`.
    only: Option<&'static str>,
    /// What else there is to say.
    remark: Option<String>,
    left: Side,
    right: Side,
}

/// The walk along the trace in one of the systems, as far as it goes.
#[derive(Default, Serialize)]
struct Side {
    steps: Vec<Transition>,
    /// How many steps are taken after each number of labels, 0 included.
    after: Vec<usize>,
    /// Whether the picture ends before the walk does: what follows is safe for good, and not drawn.
    cut: bool,
}

/// Compares two models.
pub fn compare(left: &View, right: &View, relation: &str) -> Result<Compared, CantCompare> {
    let relation: Relation = relation.parse()?;
    let open = |view: &View| view.opened.clone().ok_or(CantCompare::NotOpen);
    let (one, other) = (open(left)?, open(right)?);
    let (first, second) = (one.subject.lts(), other.subject.lts());
    let limits = Limits { states: MOST_STATES };
    let mut compared = Compared {
        equivalent: false,
        relation: relation.name(),
        formula: None,
        trace: None,
        moves: None,
        only: None,
        remark: None,
        left: Side::default(),
        right: Side::default(),
    };
    let Comparison::Different(reason) = bisim::compare_within(first, second, relation, &limits)? else {
        compared.equivalent = true;
        return Ok(compared);
    };
    let weak = !matches!(relation, Relation::Strong | Relation::Trace);
    let traces = if weak { Relation::WeakTrace } else { Relation::Trace };
    let difference = match &reason {
        Reason::Trace { .. } => reason,
        // Where they can already be told apart by what they do, a walk shows it.
        _ => match bisim::compare_within(first, second, traces, &limits) {
            Ok(Comparison::Different(found)) => {
                compared.formula = formula(&reason);
                found
            }
            Ok(Comparison::Equivalent) => {
                compared.formula = formula(&reason);
                let same = "Both can perform the same sequences of labels: they differ in when they choose.";
                compared.remark = Some(same.into());
                if relation == Relation::Strong
                    && let Some(play) = bisim::play(first, second)
                {
                    compared.show(&play, (&one, left), (&other, right));
                }
                reason
            }
            Err(why) => {
                compared.formula = formula(&reason);
                compared.remark = Some(format!("Sequences of labels were not compared: {why}."));
                reason
            }
        },
    };
    match difference {
        Reason::Trace { labels, only } => {
            let is_left = only == bisim::Side::Left;
            let count = |all: bool| if all { labels.len() } else { labels.len() - 1 };
            let run = |lts: &Lts, all: bool| {
                let text = |label: lts::LabelId| (!label.is_tau()).then(|| lts.label(label).to_owned());
                bisim::run_with(lts, &labels[..count(all)], weak, text).unwrap_or_default()
            };
            compared.left = Side::of(&one, left, &run(first, is_left), weak);
            compared.right = Side::of(&other, right, &run(second, !is_left), weak);
            compared.only = Some(name(only));
            compared.trace = Some(labels);
        }
        Reason::TooLarge if compared.formula.is_none() => {
            compared.remark = Some("What tells them apart is too large to show.".into());
        }
        _ => (),
    }
    Ok(compared)
}

fn formula(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Formula(formula) => Some(formula.to_string()),
        _ => None,
    }
}

fn name(side: bisim::Side) -> &'static str {
    match side {
        bisim::Side::Left => "left",
        bisim::Side::Right => "right",
    }
}

impl Compared {
    /// Shows a game that tells the systems apart.
    fn show(&mut self, play: &Play, left: (&Opened, &View), right: (&Opened, &View)) {
        let (longer, edges) = match play.left.len() > play.right.len() {
            true => (left.0, &play.left),
            false => (right.0, &play.right),
        };
        let system = longer.subject.lts();
        let label = |&at: &usize| system.label(system.edges()[at].label).to_owned();
        self.trace = Some(edges.iter().map(label).collect());
        self.moves = Some(play.moves.iter().map(|&side| name(side)).collect());
        self.only = play.moves.last().map(|&side| name(side));
        self.left = Side::of(left.0, left.1, &play.left, false);
        self.right = Side::of(right.0, right.1, &play.right, false);
    }
}

impl Side {
    /// A run of the system, in what is drawn.
    fn of(opened: &Opened, view: &View, run: &[usize], weak: bool) -> Self {
        let system: &Lts = opened.subject.lts();
        let mut side = Self { after: vec![0], ..Self::default() };
        let mut node = 0;
        for &edge in run {
            let mut steps = opened.picture.outgoing(node);
            let Some(at) = steps.find(|&at| opened.picture.system_edges[at] as usize == edge) else {
                side.cut = true;
                break;
            };
            side.steps.push(transition(opened, &view.scene, at));
            if !weak || !system.edges()[edge].label.is_tau() {
                side.after.push(side.steps.len());
            }
            node = opened.picture.targets[at];
        }
        side
    }
}
