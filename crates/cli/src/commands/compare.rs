//! `watershed compare`: are two transition systems equivalent, and if not, why?

use std::path::PathBuf;

use bisim::{Comparison, Limits, Reason, Relation, Side};
use clap::Args;

use crate::arguments::{Reading, Transform, used_labels};
use crate::failure::{Answer, Failure};
use crate::inputs::read_lts;
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Compare two transition systems; if they differ, say how
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed compare specification.aut implementation.aut --by branching\n  \
    watershed compare --quiet old.aut new.aut --by weak-trace && echo same")]
pub struct Compare {
    /// One transition system (.aut, also packed)
    left: PathBuf,
    /// The other
    right: PathBuf,
    /// The equivalence: strong, branching, divbranching, weak, tau-star-a, trace or weak-trace
    #[arg(long, value_name = "RELATION", default_value_t = Relation::Strong)]
    by: Relation,
    /// The most states on the way, for trace relations
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    max_states: usize,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    reading: Reading,
}

impl Compare {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let reading = self.reading.options();
        let systems = [read_lts(&self.left, &reading, terminal)?, read_lts(&self.right, &reading, terminal)?];
        let ([left, right], warnings) = self.transform.apply_to(systems);
        let visible = |lts: &lts::Lts| used_labels(lts).iter().any(|label| *label != lts::TAU_TEXT);
        if !self.transform.keep.is_empty() && !visible(&left) && !visible(&right) {
            let kept: Vec<String> = self.transform.keep.iter().map(ToString::to_string).collect();
            return Err(Failure::wrong(format!(
                "--keep {} keeps no label of either system, so there is nothing to compare",
                kept.join(" --keep ")
            ))
            .help_of(&warnings));
        }
        terminal.warn(&source::Sources::new(), &warnings);
        let limits = Limits { states: self.max_states };
        let comparison =
            with_progress(terminal, "comparing", |_| bisim::compare_within(&left, &right, self.by, &limits))?;
        let equivalent = comparison.is_equivalent();
        let reason = match comparison {
            Comparison::Equivalent => None,
            Comparison::Different(reason) => Some(self.explain(reason)),
        };
        terminal.show(&report::Comparison { equivalent, relation: self.by.to_string(), reason });
        Ok(if equivalent { Answer::Yes } else { Answer::No })
    }

    fn explain(&self, reason: Reason) -> report::Reason {
        let side = match &reason {
            Reason::Trace { only: Side::Right, .. } => Side::Right,
            _ => Side::Left,
        };
        let (holds_on, path) = match side {
            Side::Left => ("left", &self.left),
            Side::Right => ("right", &self.right),
        };
        let mut explained = report::Reason {
            trace: None,
            formula: None,
            holds_on: Some(holds_on),
            system: path.display().to_string(),
        };
        match reason {
            Reason::Trace { labels, .. } => explained.trace = Some(labels),
            Reason::Formula(formula) => explained.formula = Some(formula.to_string()),
            Reason::TooLarge => explained.holds_on = None,
        }
        explained
    }
}
