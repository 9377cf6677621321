//! `watershed compare`: do two systems do the same, or does one only do what the other allows; and if not, why?

use std::path::{Path, PathBuf};
use std::str::FromStr;

use bisim::{Comparison, Excess, Limits, Preorder, Reason, Relation, Side};
use clap::Args;
use lts::{LabelId, Lts, LtsBuilder, StateId};
use report::RunStep;

use crate::arguments::{Reading, Transform, used_labels};
use crate::failure::{Answer, Failure};
use crate::inputs::{Labels, ModelFile, ModelSource, model_help, read_lts};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Compare two models or transition systems and, if they differ, show how
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed compare specification.aut implementation.aut --by branching\n  \
    watershed compare protocol.lnt service.lnt --keep PUT --keep GET --by weak-trace\n  \
    watershed compare implementation.lnt specification.lnt --by failures     does the first do only what the second allows?\n  \
    watershed compare peterson.lnt peterson.lnt --right-root BROKEN --by trace\n  \
    watershed compare --quiet old.aut new.aut --by weak-trace && echo same\n\n\
Equivalences: strong, divbranching, branching, weak, tau-star-a, trace, weak-trace\n\
Preorders:    simulation, weak-simulation, trace-inclusion, weak-trace-inclusion, failures")]
pub struct Compare {
    #[arg(help = model_help("The left model", &[("or transition system", &lts::SYSTEM_EXTENSIONS)]))]
    left: PathBuf,
    /// The right one
    right: PathBuf,
    /// The equivalence or preorder to compare by
    #[arg(long, value_name = "RELATION", default_value = "strong")]
    by: By,
    /// What the left model starts with, such as 'MAIN (2, true)'
    #[arg(long, value_name = "ROOT", help_heading = "Models")]
    left_root: Option<String>,
    /// What the right model starts with
    #[arg(long, value_name = "ROOT", help_heading = "Models")]
    right_root: Option<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER", help_heading = "Models")]
    include: Vec<PathBuf>,
    /// The maximum number of states of a model, and of sets of states for trace relations
    #[arg(long, value_name = "N", default_value_t = Limits::default().states)]
    max_states: usize,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    reading: Reading,
}

/// What the systems are compared by.
#[derive(Clone, Copy)]
enum By {
    Equivalence(Relation),
    Preorder(Preorder),
}

impl FromStr for By {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let preorder = name.parse().map(By::Preorder);
        preorder.or_else(|_| name.parse().map(By::Equivalence)).map_err(|_: bisim::UnknownRelation| {
            let equivalences = Relation::ALL.map(Relation::name).join(", ");
            let preorders = Preorder::ALL.map(Preorder::name).join(", ");
            format!("expected an equivalence ({equivalences}) or a preorder ({preorders})")
        })
    }
}

/// One of the two systems, as it is and as it is compared.
struct System {
    name: String,
    original: Lts,
    compared: Lts,
    /// What each label of the original is compared as: none for an internal one.
    relabelled: Vec<Option<String>>,
    model: Option<ModelFile>,
}

impl Compare {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let (left, left_model) = self.open(&self.left, self.left_root.as_deref(), terminal)?;
        let (right, right_model) = self.open(&self.right, self.right_root.as_deref(), terminal)?;
        let ([left, right], mut warnings) = self.transform.cut_only([left, right]);
        let ([compared_left, compared_right], more) =
            self.transform.relabel_only([left.clone(), right.clone()]);
        warnings.extend(more);
        let visible = |lts: &Lts| used_labels(lts).iter().any(|label| *label != lts::TAU_TEXT);
        if !self.transform.keep.is_empty() && !visible(&compared_left) && !visible(&compared_right) {
            let kept: Vec<String> = self.transform.keep.iter().map(ToString::to_string).collect();
            return Err(Failure::wrong(format!(
                "--keep {} keeps no label of either system, so there is nothing to compare",
                kept.join(" --keep ")
            ))
            .help_of(&warnings));
        }
        terminal.warn(&source::Sources::new(), &warnings);
        let names = [(&self.left, &self.left_root), (&self.right, &self.right_root)].map(|(path, root)| {
            let path = path.display();
            root.as_ref().map_or(path.to_string(), |root| format!("{path} ({root})"))
        });
        let [left_name, right_name] = names;
        let left = self.system(left_name, left, compared_left, left_model);
        let right = self.system(right_name, right, compared_right, right_model);
        match self.by {
            By::Equivalence(relation) => self.equivalence(relation, &left, &right, terminal),
            By::Preorder(preorder) => self.preorder(preorder, &left, &right, terminal),
        }
    }

    /// Explores a model or reads a system.
    fn open(
        &self,
        path: &Path,
        root: Option<&str>,
        terminal: &Terminal,
    ) -> Result<(Lts, Option<ModelFile>), Failure> {
        let reading = self.reading.options();
        let (model, start) = (path.to_owned(), root.map(str::to_owned));
        let source = ModelSource { model, root: start, include: self.include.clone(), labels: Labels::Names };
        if !source.is_model() {
            return match root {
                None => Ok((read_lts(path, &reading, terminal)?, None)),
                Some(_) => Err(Failure::wrong(format!(
                    "{} is not a model, so there is nothing to start in it",
                    path.display()
                ))),
            };
        }
        let file = source.load_reading(&reading, terminal, true)?;
        let limits = explore::Limits { states: self.max_states, origins: true, ..explore::Limits::default() };
        let what = format!("exploring {}", path.display());
        let found =
            with_progress(terminal, &what, |progress| explore::explore(file.model(), &limits, progress));
        match found.outcome {
            explore::Outcome::Complete => Ok((found.lts, Some(file))),
            explore::Outcome::Error { error, .. } => {
                let diagnostics = vec![error.diagnostic(file.model(), None)];
                Err(Failure { code: 2, diagnostics, sources: file.sources })
            }
            explore::Outcome::Cancelled => Err(Failure::limit("cancelled")),
            _ => Err(Failure::limit(format!("{} has more than {} states", path.display(), self.max_states))
                .help("raise the limit with --max-states")),
        }
    }

    fn system(&self, name: String, original: Lts, compared: Lts, model: Option<ModelFile>) -> System {
        // A star with one ray a label: what becomes of the rays becomes of the labels.
        let mut star = LtsBuilder::with_labels(original.labels().clone());
        for (label, _) in original.labels().iter() {
            star.add(StateId::new(0), label, StateId::new(label.index() + 1));
        }
        let mut relabelled = vec![None; original.labels().len()];
        if let Ok(star) = star.finish() {
            let ([star], _) = self.transform.relabel_only([star]);
            for edge in star.outgoing(star.initial()) {
                let text = (!edge.label.is_tau()).then(|| star.label(edge.label).to_owned());
                relabelled[edge.target.index() - 1] = text;
            }
        }
        System { name, original, compared, relabelled, model }
    }

    fn limits(&self) -> Limits {
        Limits { states: self.max_states }
    }

    fn equivalence(
        &self,
        relation: Relation,
        left: &System,
        right: &System,
        terminal: &Terminal,
    ) -> Result<Answer, Failure> {
        let comparison = with_progress(terminal, "comparing", |_| {
            bisim::compare_within(&left.compared, &right.compared, relation, &self.limits())
        })?;
        let equivalent = comparison.is_equivalent();
        let reason = match comparison {
            Comparison::Equivalent => None,
            Comparison::Different(reason) => {
                let system = match &reason {
                    Reason::Trace { only: Side::Right, .. } => right,
                    _ => left,
                };
                let mut told = report::Reason::on(if std::ptr::eq(system, left) { "left" } else { "right" });
                told.system.clone_from(&system.name);
                match reason {
                    Reason::Trace { labels, .. } => {
                        told.run = system.run_with(&labels, relation == Relation::WeakTrace);
                        told.trace = Some(labels);
                    }
                    Reason::Formula(formula) => told.formula = Some(formula.to_string()),
                    Reason::TooLarge => told.holds_on = None,
                }
                Some(told)
            }
        };
        let relation = relation.to_string();
        terminal.show(&report::Comparison { equivalent: Some(equivalent), included: None, relation, reason });
        Ok(if equivalent { Answer::Yes } else { Answer::No })
    }

    fn preorder(
        &self,
        preorder: Preorder,
        left: &System,
        right: &System,
        terminal: &Terminal,
    ) -> Result<Answer, Failure> {
        let excess = with_progress(terminal, "comparing", |_| {
            bisim::excess(&left.compared, &right.compared, preorder, &self.limits())
        })?;
        let included = excess.is_none();
        let weak = preorder != Preorder::TraceInclusion;
        let labels = |edges: &[usize]| -> Vec<String> {
            let labels = edges.iter().map(|&edge| left.compared.edges()[edge].label);
            let shown = labels.filter(|label| !weak || !label.is_tau());
            shown.map(|label| left.compared.label(label).to_owned()).collect()
        };
        let reason = excess.map(|excess| {
            let mut told = report::Reason::on("left");
            told.system.clone_from(&left.name);
            told.other.clone_from(&right.name);
            match excess {
                Excess::Run { edges } => {
                    told.run = left.run_along(&edges);
                    told.trace = Some(labels(&edges));
                }
                Excess::Refusal { edges, refused, offered } => {
                    told.run = left.run_along(&edges);
                    told.trace = Some(labels(&edges));
                    told.refused = Some(refused);
                    told.offered = Some(offered);
                }
                Excess::Formula(formula) => told.formula = Some(formula.to_string()),
                Excess::TooLarge => told.holds_on = None,
            }
            told
        });
        let relation = preorder.to_string();
        terminal.show(&report::Comparison { equivalent: None, included: Some(included), relation, reason });
        Ok(if included { Answer::Yes } else { Answer::No })
    }
}

impl System {
    /// A run of the original system that looks like these labels when it is compared.
    fn run_with(&self, labels: &[String], weak: bool) -> Vec<RunStep> {
        let relabel = |label: LabelId| self.relabelled[label.index()].clone();
        let run = bisim::run_with(&self.original, labels, weak, relabel);
        run.map_or_else(Vec::new, |edges| edges.into_iter().map(|edge| self.step(edge)).collect())
    }

    /// A run of the compared system in the original one, which has the same states.
    fn run_along(&self, edges: &[usize]) -> Vec<RunStep> {
        let mut state = self.compared.initial();
        let mut steps = Vec::new();
        for &edge in edges {
            let edge = self.compared.edges()[edge];
            let text = (!edge.label.is_tau()).then(|| self.compared.label(edge.label));
            let same = |position: &usize| {
                let original = self.original.edges()[*position];
                original.target == edge.target && self.relabelled[original.label.index()].as_deref() == text
            };
            steps.extend(self.original.edge_range(state).find(same).map(|position| self.step(position)));
            state = edge.target;
        }
        steps
    }

    fn step(&self, edge: usize) -> RunStep {
        let label = self.original.edges()[edge].label;
        let text = self.original.label(label).to_owned();
        let compared_as = self.relabelled[label.index()].clone().unwrap_or_else(|| lts::TAU_TEXT.to_owned());
        let origin = self.original.origin(edge);
        let actions = match (&self.model, origin) {
            (Some(file), Some(origin)) => file.actions_of(origin),
            _ => Vec::new(),
        };
        RunStep { compared_as: (compared_as != text).then_some(compared_as), label: text, actions }
    }
}
