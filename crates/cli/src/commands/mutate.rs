//! `watershed mutate`: what properties and examples would notice if the model were slightly wrong.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use cover::{Example, Subject, load_suite};
use model::Operator;
use mutate::{Baseline, NoBaseline, Question, Record};
use source::Sources;

use crate::failure::{Answer, Failure};
use crate::inputs::model_help;
use crate::progress::with_progress;
use crate::properties::{PropertyOptions, load};
use crate::terminal::Terminal;

/// Change the model in many small ways, and see which properties and examples notice
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed mutate model.lnt --properties properties.mcl\n  \
    watershed mutate model.lnt --properties safety.mcl liveness.mcl --examples suite.toml --html mutants.html\n  \
    watershed mutate model.lnt --deadlock --operators guard-negated,comparison,constant\n  \
    watershed mutate model.lnt --properties properties.mcl --resume mutants.jsonl\n  \
    watershed mutate model.lnt --properties properties.mcl --save survivors && patch -p0 < survivors/12.diff\n\n\
A mutant is the model with one small change. It is equivalent where it is strongly bisimilar to the model: then nothing can \
tell them apart. A property kills it if its verdict is another one than on the model, an example if it behaves in another \
way, or if a run that was possible is not, or the other way round. Exit code 1: something survives.")]
pub struct Mutate {
    #[arg(help = model_help("The model", &[]))]
    model: PathBuf,
    /// Property files (.mcl)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    properties: Vec<PathBuf>,
    #[command(flatten)]
    usual: PropertyOptions,
    /// A suite of examples (.toml), as for `watershed cover`
    #[arg(long, value_name = "SUITE")]
    examples: Option<PathBuf>,
    /// What to start with: a process with its gates and arguments, such as 'MAIN (2, true)'
    #[arg(long, value_name = "ROOT")]
    root: Option<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Use only these operators, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    operators: Vec<Operator>,
    /// Give up on a mutant at this many states; by default, ten times those of the model and a thousand
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// Keep results in this file as they come, and go on with those that are there
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write the matrix as CSV
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    csv: Option<PathBuf>,
    /// Write a page with the matrix and the survivors
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    html: Option<PathBuf>,
    /// Write the survivors as diffs into this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Outputs")]
    save: Option<PathBuf>,
}

impl Mutate {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let mut sources = Sources::new();
        let examples = match &self.examples {
            Some(path) => load_suite(path, &mut sources).map_err(|diagnostics| Failure {
                code: 2,
                diagnostics,
                sources: std::mem::take(&mut sources),
            })?,
            None => Vec::new(),
        };
        let properties = match self.properties.is_empty() && self.usual.is_empty() && !examples.is_empty() {
            true => Vec::new(),
            false => load(&self.properties, &self.usual, &mut sources, terminal)?,
        };
        let properties: Vec<logic::Property> = properties.into_iter().map(|(property, _)| property).collect();
        let subject = Subject::including(&self.model, &self.include)?;
        let question = Question {
            start: Example { root: self.root.clone(), ..Example::default() },
            examples: &examples,
            operators: &self.operators,
            states: self.max_states,
            ..Question::new(&subject, &properties)
        };
        let baseline =
            with_progress(terminal, "exploring the model", |progress| Baseline::new(&question, progress))?;
        if baseline.mutants.is_empty() {
            return Err(Failure::wrong(format!("{} has no mutants", self.model.display()))
                .help("mutants are known for LNT so far; with --operators, others may have some"));
        }
        let record = match &self.resume {
            Some(path) => Some(open_record(path, &baseline, terminal)?),
            None => None,
        };
        let what = format!("{} mutants", baseline.mutants.len());
        let judged =
            with_progress(terminal, &what, |progress| mutate::study(&baseline, record.as_ref(), progress))
                .map_err(|error| Failure::wrong(format!("can't write the results so far: {error}")))?;
        let mut mutation = views::mutation(&baseline, &judged);
        mutation.model = self.model.display().to_string();
        mutation.seconds = start.elapsed().as_secs_f64();
        self.write(&mutation)?;
        terminal.show(&mutation);
        if mutation.not_judged > 0 && self.resume.is_none() {
            terminal.remark("with --resume FILE, the next run goes on where this one stopped");
        }
        Ok(match () {
            () if mutation.not_judged > 0 => Answer::Partial,
            () if !mutation.survivors.is_empty() => Answer::No,
            () if mutation.undecided > 0 => Answer::Partial,
            () => Answer::Yes,
        })
    }

    fn write(&self, mutation: &report::Mutation) -> Result<(), Failure> {
        let text = |path: &Path, text: String| lts::write_file(path, |out| out.write_all(text.as_bytes()));
        if let Some(path) = &self.csv {
            text(path, mutation.csv())?;
        }
        if let Some(path) = &self.html {
            text(path, mutation.html())?;
        }
        if let Some(folder) = &self.save {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::wrong(format!("{}: {error}", folder.display())))?;
            for survivor in &mutation.survivors {
                text(&folder.join(format!("{}.diff", survivor.row.mutant)), survivor.diff.clone())?;
            }
        }
        Ok(())
    }
}

fn open_record(path: &Path, baseline: &Baseline<'_>, terminal: &Terminal) -> Result<Record, Failure> {
    let record = Record::open(path, baseline)
        .map_err(|error| Failure::wrong(format!("can't go on with {}: {error}", path.display())))?;
    if record.replaced {
        terminal.remark(format!("{} had results of other inputs: it was begun anew", path.display()));
    } else if record.count() > 0 {
        terminal.remark(format!("{} mutants are judged already", record.count()));
    }
    Ok(record)
}

impl From<NoBaseline> for Failure {
    fn from(reason: NoBaseline) -> Self {
        match reason {
            NoBaseline::CantOpen(error) => error.into(),
            NoBaseline::Error(diagnostic, sources) => {
                Failure { code: 1, diagnostics: vec![*diagnostic], sources }
            }
            NoBaseline::Limit(message) => {
                Failure::limit(message).help("allow more with --max-states, or start with something smaller")
            }
            NoBaseline::Cancelled => Failure::limit("cancelled"),
        }
    }
}
