//! `watershed conform`: whether a model accepts what a program has shown.

mod program;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use conform::{Beginning, Bound, Files, Format, Problem, Relation, Settings};
use languages::{Opened, Opening};
use lts::Progress;
use model::{Model, SystemModel, Telling};
use source::{Diagnostic, Sources};

use self::program::{Exploring, Judged};
use crate::arguments::Reading;
use crate::failure::{Answer, Failure};
use crate::inputs::{ModelSource, read_lts};
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Check that a program does only what a model allows: its traces have to be accepted
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    watershed conform protocol.maude traces.txt --bound 2\n  \
    watershed conform protocol.maude log.jsonl --map relation.toml --bound auto --html report.html\n  \
    watershed conform queue.lnt events.jsonl.zst --map events.toml --cover\n  \
    watershed conform spec.aut labels.txt --from-initial\n  \
    watershed conform protocol.maude --program ./protocol --depth 80 --map relation.toml -- --size 2\n\n\
Traces are JSON lines of states or events, ITF, sequences of terms such as (s1 | s2 | nil), labels one a line, or spans \
of OpenTelemetry as JSON. Sequences of states may begin anywhere, those of events begin with the initial state. \
Exit codes: 0 all accepted, 1 not, 2 the input is wrong, 3 a limit was reached.")]
pub struct Conform {
    #[command(flatten)]
    source: ModelSource,
    /// The traces; `-` is standard input
    #[arg(required_unless_present = "program", conflicts_with = "program", value_name = "TRACES")]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    exploring: Exploring,
    #[command(flatten)]
    acceptance: Acceptance,
    /// What the traces are
    #[arg(long, value_enum, default_value_t = TraceFormat::Auto)]
    format: TraceFormat,
    /// The term of a .maude file of traces that reduces to sequences of states
    #[arg(long, value_name = "TERM")]
    term: Option<String>,
    /// Show what the traces exercise of the model
    #[arg(long)]
    cover: bool,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    reading: Reading,
}

/// When a sequence is accepted.
#[derive(Args, Clone, Debug)]
pub struct Acceptance {
    /// The module of a Maude file that is the model; by default the last one with an initial state
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// The relation from the program's variables and events to the model's; the identity by default
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// The most steps of the model between two states of a sequence; `auto` takes as few as needed
    #[arg(long, value_name = "N|auto", default_value = "1")]
    pub bound: GivenBound,
    /// With --bound auto: the most steps to try
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub max_bound: u32,
    /// Every sequence begins with the model's initial state
    #[arg(long)]
    pub from_initial: bool,
    /// Sequences of events may begin in any state that the model can reach
    #[arg(long, conflicts_with = "from_initial")]
    pub from_anywhere: bool,
    /// Silent steps of the model count as steps
    #[arg(long)]
    pub count_silent: bool,
    /// Input/output conformance: inputs that the model does not know end the check of a sequence
    #[arg(long)]
    pub ioco: bool,
    /// Explore at most this many states to find where a sequence begins
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_states: usize,
}

/// Where the verdict goes beside the terminal.
#[derive(Args, Clone, Debug)]
pub struct Outputs {
    /// Write the verdict as a page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the verdict as a JUnit report
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the causes of failures as a SARIF log
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// As the first line looks
    Auto,
    /// JSON lines, or one JSON document
    Json,
    /// Apalache's and Quint's format
    Itf,
    /// OpenTelemetry's spans
    Otel,
    /// Sequences of terms
    Terms,
    /// A label on each line
    Labels,
}

impl From<TraceFormat> for Format {
    fn from(format: TraceFormat) -> Self {
        match format {
            TraceFormat::Auto => Format::Auto,
            TraceFormat::Json => Format::Json,
            TraceFormat::Itf => Format::Itf,
            TraceFormat::Otel => Format::Spans,
            TraceFormat::Terms => Format::Terms,
            TraceFormat::Labels => Format::Labels,
        }
    }
}

/// What the user says about steps between states.
#[derive(Clone, Copy, Debug)]
pub enum GivenBound {
    Steps(u32),
    Auto,
}

impl std::str::FromStr for GivenBound {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            text => text.parse().map(Self::Steps).map_err(|_| "a number of steps, or `auto`, is expected"),
        }
    }
}

impl Acceptance {
    pub fn settings(&self, cover: bool) -> Settings {
        Settings {
            bound: match self.bound {
                GivenBound::Steps(steps) => Bound::Steps(steps),
                GivenBound::Auto => Bound::Auto(self.max_bound),
            },
            from_initial: self.from_initial,
            from_anywhere: self.from_anywhere,
            count_silent: self.count_silent,
            ioco: self.ioco,
            max_states: self.max_states,
            cover,
        }
    }

    /// The command line that means the same.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(module) = &self.module {
            arguments.extend(["--module".to_owned(), module.clone()]);
        }
        if let Some(map) = &self.map {
            arguments.extend(["--map".to_owned(), map.display().to_string()]);
        }
        let bound = match self.bound {
            GivenBound::Steps(steps) => steps.to_string(),
            GivenBound::Auto => "auto".to_owned(),
        };
        arguments.extend(["--bound".to_owned(), bound, "--max-bound".to_owned(), self.max_bound.to_string()]);
        arguments.extend(["--max-states".to_owned(), self.max_states.to_string()]);
        let flags = [
            (self.from_initial, "--from-initial"),
            (self.from_anywhere, "--from-anywhere"),
            (self.count_silent, "--count-silent"),
            (self.ioco, "--ioco"),
        ];
        arguments.extend(flags.iter().filter(|(given, _)| *given).map(|(_, flag)| (*flag).to_owned()));
        arguments
    }

    /// Reads the relation.
    pub fn relation(&self) -> Result<Relation, Failure> {
        let relation = self.map.as_deref().map(read_relation).transpose()?.unwrap_or_default();
        if self.ioco && (relation.events.inputs.is_empty() || relation.events.outputs.is_empty()) {
            return Err(Failure::wrong("--ioco needs to know inputs and outputs")
                .help("list gates under `inputs` and `outputs` of [events] in the relation (--map FILE)"));
        }
        Ok(relation)
    }

    /// Opens a model so that states like this one, if there is one, are its own.
    pub fn open(
        &self,
        source: &ModelSource,
        reading: &Reading,
        state: Option<&str>,
        terminal: &Terminal,
    ) -> Result<Subject, Failure> {
        if !source.is_model() {
            let lts = read_lts(&source.model, &reading.options(), terminal)?;
            return Ok(Subject::System(Box::new(SystemModel::new(lts))));
        }
        let options = reading.options();
        let opening = Opening {
            include: &source.include,
            telling: Telling::Marks,
            values: source.values(),
            reading: &options,
            ..Opening::default()
        };
        let beginning = Beginning {
            root: source.root.as_deref(),
            module: self.module.as_deref(),
            state,
            from_initial: self.from_initial,
        };
        let language = languages::registry().language(&source.model);
        let opened = conform::open(language, &beginning, &|root| {
            languages::registry().open(&source.model, &Opening { root, ..opening })
        })?;
        terminal.warn(&opened.sources, opened.program.warnings());
        Ok(Subject::Model(Box::new(opened)))
    }
}

fn read_relation(path: &Path) -> Result<Relation, Failure> {
    let text = lts::read_text(path)?;
    Relation::parse(&text).map_err(|wrong| {
        let mut sources = Sources::new();
        let file = sources.add(path.display().to_string(), text.clone());
        let mut diagnostic = Diagnostic::error(wrong.message);
        if let Some(range) = wrong.range {
            let span = source::Span { file, start: range.start as u32, end: range.end as u32 };
            diagnostic = diagnostic.label(span, "here");
        }
        Failure { code: 2, diagnostics: vec![diagnostic], sources }
    })
}

/// What traces are checked against.
pub enum Subject {
    Model(Box<Opened>),
    System(Box<SystemModel>),
}

impl Subject {
    pub fn model(&self) -> &dyn Model {
        match self {
            Subject::Model(opened) => opened.program.model(),
            Subject::System(model) => &**model,
        }
    }
}

impl Conform {
    pub fn run(self, terminal: &Terminal) -> Result<Answer, Failure> {
        let start = Instant::now();
        let relation = self.acceptance.relation()?;
        let settings = self.acceptance.settings(self.cover);
        let mut files = Files::new(&self.traces, self.format.into(), &relation)
            .with_term(self.term.as_deref(), &self.source.include);
        let first = match self.exploring.program {
            None => files.first_state().map_err(|error| self.unreadable(&Problem::Read(error)))?,
            Some(_) => None,
        };
        let subject = self.acceptance.open(&self.source, &self.reading, first.as_deref(), terminal)?;
        let model = subject.model();
        let checked =
            with_progress(terminal, "checking", |progress: &Progress| match self.exploring.program {
                Some(_) => self.exploring.check(model, &relation, settings, progress),
                None => {
                    let threads = rayon::current_num_threads();
                    let checked = conform::check(
                        model,
                        &relation,
                        settings,
                        threads,
                        &mut || files.next_batch(),
                        progress,
                    );
                    Ok(checked.map(Judged::of_traces))
                }
            })?;
        let judged = match checked {
            Ok(judged) => judged,
            Err(Problem::Cancelled) => return Err(Failure::limit("cancelled")),
            Err(Problem::Model(error)) => {
                let diagnostics = vec![error.diagnostic(model, None)];
                let sources = match subject {
                    Subject::Model(opened) => opened.sources,
                    Subject::System(_) => Sources::new(),
                };
                return Err(Failure { code: 2, diagnostics, sources });
            }
            Err(problem) => return Err(self.unreadable(&problem)),
        };
        let outcome = &judged.outcome;
        if outcome.sequences == 0 {
            return Err(Failure::wrong("the traces have no sequence").help("an empty trace says nothing"));
        }
        let empty = Sources::new();
        let (sources, map) = match &subject {
            Subject::Model(opened) => (&opened.sources, self.cover.then(|| opened.program.map())),
            Subject::System(_) => (&empty, None),
        };
        let seconds = start.elapsed().as_secs_f64();
        let files = match &self.exploring.program {
            Some(program) => std::slice::from_ref(program),
            None => &self.traces,
        };
        let mut verdict = views::conformance(outcome, &settings, files, model, sources, map, seconds);
        self.exploring.add_schedules(&judged, &mut verdict);
        self.outputs.write(&verdict, &self.source.model)?;
        terminal.show(&verdict);
        Ok(match verdict.holds() {
            false => Answer::No,
            true if verdict.unknown > 0 || verdict.stopped.is_some() => Answer::Partial,
            true => Answer::Yes,
        })
    }

    fn unreadable(&self, problem: &Problem) -> Failure {
        let files = match &self.exploring.program {
            Some(program) => std::slice::from_ref(program),
            None => &self.traces,
        };
        let (diagnostic, sources) = views::trace_problem(problem, files);
        Failure { code: 2, diagnostics: vec![diagnostic], sources }
    }
}

impl Outputs {
    pub fn write(&self, verdict: &report::Conformance, model: &Path) -> Result<(), Failure> {
        let name = model.display().to_string();
        let texts = [
            (&self.html, verdict.html(&name)),
            (&self.junit, verdict.junit(&name)),
            (&self.sarif, verdict.sarif()),
        ];
        for (path, text) in texts {
            if let Some(path) = path {
                lts::write_file(path, |out| out.write_all(text.as_bytes()))?;
            }
        }
        Ok(())
    }
}
