//! Opening what the user names: a model, a transition system or a network, recognised by its extension.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use languages::{Opened, Opening, SystemError};
use lts::{AutOptions, Lts, OriginId};
use model::{MarkKind, Model, Program, Starting, Telling};
use report::ActionPlace;
use source::Sources;

use crate::arguments::Reading;
use crate::failure::Failure;
use crate::progress::with_progress;
use crate::terminal::Terminal;

/// Reads a transition system of which everything is known.
pub fn read_lts(path: &Path, options: &AutOptions, terminal: &Terminal) -> Result<Lts, Failure> {
    let lts = read_part(path, options, terminal)?;
    match lts.unexplored().len() {
        0 => Ok(lts),
        missing => Err(Failure::limit(format!(
            "{} is only part of a system: {missing} of its {} states {} not explored",
            path.display(),
            lts.state_count(),
            if missing == 1 { "was" } else { "were" }
        ))
        .help("explore the model in full; `info`, `convert` and `check` also accept partial systems")),
    }
}

/// Reads a transition system, which may be partial ([`Lts::unexplored`]).
pub fn read_part(path: &Path, options: &AutOptions, terminal: &Terminal) -> Result<Lts, Failure> {
    let what = format!("reading {}", path.display());
    let read = with_progress(terminal, &what, |progress| languages::read_system(path, options, progress));
    read.map_err(|error| match error {
        SystemError::Wrong(wrong) => wrong.into(),
        SystemError::Cancelled => Failure::limit("cancelled"),
    })
}

/// Writes a system that is not complete, if the user wants it: never in the place of a complete one, but beside it.
pub fn write_partial(lts: &Lts, path: &Path, wanted: bool, terminal: &Terminal) -> Result<(), Failure> {
    let beside = partial_path(path);
    if !wanted {
        let (what, place) = match beside == path {
            true => ("nothing was written".to_owned(), String::new()),
            false => (format!("{} was not written", path.display()), format!(" to {}", beside.display())),
        };
        terminal.remark(format!(
            "{what}: the system was only partly explored; use --partial to write the explored part{place}"
        ));
        return Ok(());
    }
    write_lts(lts, &beside)?;
    if beside != path {
        terminal.remark(format!("the explored part is in {}", beside.display()));
    }
    Ok(())
}

/// `x.aut.gz` becomes `x.partial.aut.gz`; standard output stays what it is.
pub fn partial_path(path: &Path) -> PathBuf {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return path.to_owned() };
    if lts::is_standard_stream(path) || (path.exists() && !path.is_file()) {
        return path.to_owned();
    }
    let extensions = lts::format_extension(path).and_then(|extension| {
        let at = name.to_lowercase().rfind(&format!(".{extension}"))?;
        name.is_char_boundary(at).then_some(at)
    });
    let at = extensions.unwrap_or(name.len());
    path.with_file_name(format!("{}.partial{}", &name[..at], &name[at..]))
}

/// Reads a run: a transition system that is one (.aut, also packed), or text with a label a line. A lasso says where
/// its cycle begins.
pub fn read_run(
    path: &Path,
    reading: &Reading,
    terminal: &Terminal,
) -> Result<(Vec<String>, Option<usize>), Failure> {
    if lts::format_extension(path).as_deref() == Some("aut") {
        let options = AutOptions { sparse: true, ..reading.options() };
        return read_lts(path, &options, terminal)?
            .only_run()
            .ok_or_else(|| Failure::wrong(format!("{} is not a single run", path.display())));
    }
    let text = lts::read_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok((lines.map(str::to_owned).collect(), None))
}

/// Writes a transition system in the format that the extension names; AUT where there is none.
pub fn write_lts(lts: &Lts, path: &Path) -> Result<(), Failure> {
    let extension = lts::format_extension(path);
    let written = match extension.as_deref() {
        Some("aut") | None => lts::write_file(path, |out| lts::write_aut(lts, out)),
        Some("dot") => lts::write_file(path, |out| lts::write_dot(lts, out)),
        Some("json") => lts::write_file(path, |out| lts::write_json(lts, out)),
        Some(other) => {
            return Err(Failure::wrong(format!("{}: can't write the format .{other}", path.display())).help(
                "transition systems are written as .aut, .dot or .json, optionally compressed (.gz or .zst)",
            ));
        }
    };
    match written {
        // The reader of a pipe has had enough: `watershed convert big.aut - | head`.
        Err(error) if error.error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Which model, and where in it to start.
#[derive(Args)]
pub struct ModelSource {
    #[arg(help = model_help("The model", &[]))]
    pub model: PathBuf,
    /// What to start with: a process with its gates and arguments, such as 'MAIN (2, true)', an initial marking,
    /// or a term, such as 'init' or 'in MODULE : init'; by default MAIN, the first marking, or init
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    pub include: Vec<PathBuf>,
    /// What labels show in Maude: the names of rules, or also the values of their variables (`RULE !V1 !V2`)
    #[arg(long, value_enum, default_value_t = Labels::Names)]
    pub labels: Labels,
}

/// What labels show where the language leaves a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Labels {
    /// Names only
    Names,
    /// Names and values
    Values,
}

/// What an argument that names a model says in the help, with other files that it may name.
pub fn model_help(what: &str, others: &[(&str, &[&str])]) -> String {
    let models = languages::listed(&languages::registry().extensions(), "or");
    let others =
        others.iter().map(|(what, extensions)| format!(", {what} ({})", languages::listed(extensions, "or")));
    format!("{what} ({models}){}", others.collect::<String>())
}

/// A model with the text it came from.
pub struct ModelFile {
    pub sources: Sources,
    pub program: Box<dyn Program>,
}

impl ModelSource {
    /// Reads, checks and compiles the model; warnings are shown.
    pub fn load(&self, terminal: &Terminal, provenance: bool) -> Result<ModelFile, Failure> {
        self.load_reading(&AutOptions::default(), terminal, provenance)
    }

    /// Whether labels show values.
    pub fn values(&self) -> bool {
        self.labels == Labels::Values
    }

    /// The same; systems that the model names are read like this.
    pub fn load_reading(
        &self,
        reading: &AutOptions,
        terminal: &Terminal,
        provenance: bool,
    ) -> Result<ModelFile, Failure> {
        let telling = if provenance { Telling::Marks } else { Telling::Nothing };
        let file = self.open(reading, telling)?;
        terminal.warn(&file.sources, file.program.warnings());
        Ok(file)
    }

    /// The same model once more, made to tell where steps come from. It was loaded before, so that its warnings are known.
    pub fn load_telling(&self) -> Result<ModelFile, Failure> {
        self.open(&AutOptions::default(), Telling::Marks)
    }

    fn open(&self, reading: &AutOptions, telling: Telling<'_>) -> Result<ModelFile, Failure> {
        let opening = Opening {
            root: self.root.as_deref(),
            include: &self.include,
            telling,
            values: self.values(),
            starting: Starting::Root,
            reading,
            ..Opening::default()
        };
        let Opened { sources, program } = languages::registry().open(&self.model, &opening)?;
        Ok(ModelFile { sources, program })
    }

    /// Whether it is a model, and not a transition system.
    pub fn is_model(&self) -> bool {
        languages::registry().is_model(&self.model)
    }
}

impl ModelFile {
    /// The actions that take part in a step, with their places in the source.
    pub fn actions_of(&self, origin: OriginId) -> Vec<ActionPlace> {
        let provenance = self.model().provenance();
        let marks = provenance.marks_of(origin).into_iter().map(|mark| provenance.mark(mark));
        let mut actions: Vec<ActionPlace> = marks
            .filter(|mark| mark.kind == MarkKind::Action)
            .map(|mark| ActionPlace {
                process: mark.process.clone(),
                file: self.sources.name(mark.span.file).to_owned(),
                line: self.sources.position(mark.span).line,
            })
            .collect();
        actions.dedup();
        actions
    }

    pub fn model(&self) -> &dyn Model {
        self.program.model()
    }

    /// The model with steps of up to so many transitions at once; none for one.
    pub fn concurrent(&self, degree: usize) -> Result<Option<Arc<dyn Model + Send>>, Failure> {
        match degree {
            0 => Err(Failure::wrong("--concurrent needs a number above 0")),
            1 => Ok(None),
            degree => match self.program.concurrent(degree) {
                Some(model) => Ok(Some(model)),
                None => Err(Failure::wrong("this is not a Petri net")
                    .help("several transitions at once exist in Petri nets only: leave out --concurrent")),
            },
        }
    }
}
