//! Opening what the user names: a model, a transition system or a network, recognised by its extension.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lnt::LntModel;
use lts::{AutOptions, Lts, Network, OriginId};
use model::{MarkKind, Model};
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
    let parsed = |parse: fn(&str) -> Result<Lts, lts::AutError>| -> Result<Lts, Failure> {
        let text = lts::read_text(path)?;
        let name = path.display().to_string();
        parse(&text).map_err(|error| Failure::from(lts::ReadError::Syntax { name, error }))
    };
    match lts::format_extension(path).as_deref() {
        Some("dot") => parsed(lts::parse_dot),
        Some("json") => parsed(lts::parse_json),
        Some("exp") => {
            Err(Failure::wrong(format!("{} is a network, not a transition system", path.display()))
                .help("compose it first: `watershed compose NETWORK.exp -o OUT.aut`"))
        }
        extension if extension != Some("aut") && !lts::is_standard_stream(path) => {
            let known =
                extension.map_or("no extension".into(), |extension| format!("the extension .{extension}"));
            Err(Failure::wrong(format!("{}: can't tell the format from {known}", path.display())).help(
                "transition systems are read from .aut, .dot and .json files, optionally compressed \
                 (.gz or .zst), and as AUT from `-`",
            ))
        }
        _ => Ok(with_progress(terminal, &what, |progress| lts::read_aut(path, options, progress))?),
    }
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

/// Reads a network and the systems it names, which lie relative to it.
pub fn read_network(path: &Path, options: &AutOptions, terminal: &Terminal) -> Result<Network, Failure> {
    let text = lts::read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut sources = Sources::new();
    let file = sources.add(path.display().to_string(), text);
    let mut load = |name: &str| {
        let lts = read_lts(&folder.join(name), options, terminal).map_err(|failure| {
            let text = failure.diagnostics.iter().map(|diagnostic| match diagnostic.span() {
                Some(span) => {
                    let place = failure.sources.position(span);
                    format!("{name}:{}:{}: {}", place.line, place.column, diagnostic.message)
                }
                None => diagnostic.message.clone(),
            });
            text.collect::<Vec<_>>().join("; ")
        });
        lts.map(Arc::new)
    };
    let network = lts::parse_network(file, &sources, &mut load);
    network.map_err(|diagnostics| Failure { code: 2, diagnostics, sources })
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
    /// The model (.lnt); `check` and `explain` also take a transition system (.aut, .dot or .json)
    pub model: PathBuf,
    /// The process to start with, with its gates and arguments, such as 'MAIN (2, true)'; MAIN by default
    #[arg(long, value_name = "PROCESS")]
    pub root: Option<String>,
    /// A folder to search for imported modules, in addition to the model's own; may be repeated
    #[arg(long, short = 'I', value_name = "FOLDER")]
    pub include: Vec<PathBuf>,
}

/// A model with the text it came from.
pub struct ModelFile {
    pub sources: Sources,
    pub model: LntModel,
}

impl ModelSource {
    /// Reads, checks and compiles the model; warnings are shown.
    pub fn load(&self, terminal: &Terminal, provenance: bool) -> Result<ModelFile, Failure> {
        let extension = lts::format_extension(&self.model);
        if extension.as_deref() != Some("lnt") {
            return Err(Failure::wrong(format!("{} is not a model", self.model.display()))
                .help("models are read from .lnt files"));
        }
        let mut sources = Sources::new();
        let mut loader = lnt::Loader::new();
        for folder in &self.include {
            loader = loader.include(folder);
        }
        if let Some(root) = &self.root {
            loader = loader.root(root);
        }
        let checked = match loader.load(&self.model, &mut sources) {
            Ok(checked) => checked,
            Err(diagnostics) => return Err(Failure { code: 2, diagnostics, sources }),
        };
        let Some(root) = checked.program.main() else {
            return Err(Failure::wrong(format!("{} has no process MAIN", self.model.display()))
                .help("name the process to start with `--root 'PROCESS (…)'`"));
        };
        let options = lnt::Options { provenance };
        match LntModel::new(checked.program, root, &options) {
            Ok(model) => {
                terminal.warn(&sources, &model.relevant(checked.warnings));
                Ok(ModelFile { sources, model })
            }
            Err(diagnostics) => Err(Failure { code: 2, diagnostics, sources }),
        }
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
        &self.model
    }
}
