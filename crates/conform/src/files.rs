//! The files that traces are in, one after the other, and the model that their states are written for.

use std::path::{Path, PathBuf};

use languages::{CantOpen, Opened};
use model::{Input, Language};
use source::{Diagnostic, Sources};

use crate::relation::{Observed, Relation};
use crate::traces::{Format, Moment, ReadError, Said, TraceError, Traces};

/// The traces, file by file.
pub struct Files<'a> {
    paths: &'a [PathBuf],
    format: Format,
    relation: &'a Relation,
    term: Option<&'a str>,
    include: &'a [PathBuf],
    at: usize,
    open: Option<Traces<'a>>,
    /// What was read to see how the first state looks.
    ahead: Option<(usize, Vec<Said>)>,
}

impl<'a> Files<'a> {
    /// The traces in some files.
    pub fn new(paths: &'a [PathBuf], format: Format, relation: &'a Relation) -> Self {
        Self { paths, format, relation, term: None, include: &[], at: 0, open: None, ahead: None }
    }

    /// Files in a language have sequences that this term denotes; what they name lies beside them, or in these folders.
    pub fn with_term(mut self, term: Option<&'a str>, include: &'a [PathBuf]) -> Self {
        (self.term, self.include) = (term, include);
        self
    }

    /// The first state that is written as one text. Nothing is lost by looking.
    pub fn first_state(&mut self) -> Result<Option<String>, ReadError> {
        self.ahead = self.next_batch()?;
        let said = self.ahead.iter().flat_map(|(_, said)| said);
        let moments = said.flat_map(|said| match said {
            Said::Sequence(moments) => moments.as_slice(),
            Said::Moment(_, moment) => std::slice::from_ref(moment),
            Said::End | Said::Wrong(_) => &[],
        });
        let state = moments.filter_map(|moment| moment.state.as_ref()).next();
        Ok(state.and_then(|state| match state {
            Observed::Whole(text) => Some(text.clone()),
            Observed::Values(_) => None,
        }))
    }

    /// The sequences of a file in a language in which they can be written as a term.
    fn written(&self, path: &Path) -> Result<Option<Vec<Said>>, ReadError> {
        let Some(language) = languages::registry().language(path) else { return Ok(None) };
        let wrong = |sources: &Sources, diagnostics: &[Diagnostic]| {
            let rendered = sources.render_all(diagnostics, false);
            let message = format!("the sequences can't be computed\n{}", rendered.trim_end());
            ReadError::Trace(Box::new(TraceError {
                file: path.to_owned(),
                line: 1,
                message,
                help: None,
                text: None,
            }))
        };
        let mut sources = Sources::new();
        let main = languages::read_model(path).map_err(|diagnostic| wrong(&sources, &[diagnostic]))?;
        let texts = model::Folders::beside(self.include);
        let input = Input { texts: &texts, root: self.term, ..Input::new(&main) };
        match language.sequences(&input, &mut sources) {
            None => Ok(None),
            Some(Err(diagnostics)) => Err(wrong(&sources, &diagnostics)),
            Some(Ok(sequences)) => {
                let moment =
                    |state: String| Moment { event: None, state: Some(Observed::Whole(state)), line: 1 };
                let said = sequences
                    .into_iter()
                    .map(|states| Said::Sequence(states.into_iter().map(moment).collect()));
                Ok(Some(said.collect()))
            }
        }
    }

    /// What the next lines say, with the number of the file that they are in.
    pub fn next_batch(&mut self) -> Result<Option<(usize, Vec<Said>)>, ReadError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        loop {
            if self.open.is_none() {
                let Some(path) = self.paths.get(self.at) else { return Ok(None) };
                if let Some(said) = self.written(path)? {
                    self.at += 1;
                    return Ok(Some((self.at - 1, said)));
                }
                self.open = Some(Traces::open(path, self.format, self.relation)?);
            }
            let batch = self.open.as_mut().map(Traces::next_batch).transpose()?.flatten();
            match batch {
                Some(batch) => return Ok(Some((self.at, batch))),
                None => {
                    self.open = None;
                    self.at += 1;
                }
            }
        }
    }
}

/// How a model begins that traces are checked against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beginning<'a> {
    /// What the user says.
    pub root: Option<&'a str>,
    /// The module that is the model.
    pub module: Option<&'a str>,
    /// A state of the traces.
    pub state: Option<&'a str>,
    /// Whether sequences begin with the initial state: then it is not another one.
    pub from_initial: bool,
}

/// Opens a model so that states of the traces are its own. `open` does it with something to begin with, or without.
pub fn open(
    language: Option<&dyn Language>,
    beginning: &Beginning<'_>,
    open: &dyn Fn(Option<&str>) -> Result<Opened, CantOpen>,
) -> Result<Opened, CantOpen> {
    let &Beginning { root, module, state, from_initial } = beginning;
    if root.is_some() {
        return open(root);
    }
    let root_of = |state: &str| language.and_then(|language| language.root_of(module, state));
    if module.is_some() {
        let Some(root) = root_of(state.unwrap_or("init")) else {
            let wrong = "--module is for languages with modules that states can be written in";
            return Err(CantOpen::new(Diagnostic::error(wrong)));
        };
        return open(Some(&root));
    }
    let opened = open(None);
    // A model that knows no such state, or has none to begin with, begins with it.
    let Some((state, root)) = state.and_then(|state| Some((state, root_of(state)?))) else { return opened };
    let knows = |opened: &Opened| {
        opened.program.model().reader().is_some_and(|mut reader| reader.read(state).is_ok())
    };
    if from_initial || opened.as_ref().is_ok_and(knows) {
        return opened;
    }
    match open(Some(&root)) {
        Ok(other) => Ok(other),
        Err(_) if opened.is_ok() => opened,
        Err(error) => Err(error),
    }
}
