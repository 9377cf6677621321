//! From texts to a picture: reads, checks and explores a model, tags it by a property and tells why.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conform::Beginning;
use explain::{Options, Property, Prospect, Run, Selection, Tag, Tagged};
use explore::{Exploration, Limits, Outcome};
use languages::{FileKind, SystemError};
use lts::{Lts, Progress};
use model::{Folders, Input, Overlay, Provenance, Starting, SystemModel};
use report::{Explanation, InstanceValues, PropertyRow};
use serde::{Deserialize, Serialize};
use source::{Diagnostic, Severity, Sources};
use views::{Findings, Origin};

use crate::board::Board;
use crate::conformance::{Judge, Traces};
use crate::coverage::Member;
use crate::picture::Picture;

/// A file as text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Text {
    /// Its name, for messages; never opened.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl Text {
    /// What it is, by its name.
    pub fn kind(&self) -> Option<FileKind> {
        languages::registry().kind(Path::new(&self.name))
    }

    /// Whether it is a model, or a part of one.
    pub fn is_model(&self) -> bool {
        matches!(self.kind(), Some(FileKind::Model(_)))
    }
}

impl From<&Text> for model::Text {
    fn from(text: &Text) -> Self {
        Self::new(&text.name, &text.text)
    }
}

/// What to open.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model itself first, then imported modules that are not on disk or were edited.
    pub files: Vec<Text>,
    /// The property; an empty text for none.
    pub property: Text,
    /// The property file on disk, which may name libraries beside it.
    pub property_path: Option<PathBuf>,
    /// Which of several properties.
    pub chosen: Option<String>,
    /// The process to start with, where it is not MAIN.
    pub root: Option<String>,
    /// Folders of modules that the model imports.
    pub include: Vec<PathBuf>,
    /// A transition system on disk, read instead of a model.
    pub system: Option<PathBuf>,
    /// The most states.
    pub most_states: usize,
    /// Examples for the coverage view.
    pub examples: Vec<Member>,
    /// Traces of a program, for the conformance view.
    pub traces: Option<Arc<Traces>>,
    /// Other processes to start with, for a page to offer.
    pub starts: Vec<Start>,
}

impl Request {
    /// Whether another one asks for the same, but for the property that is looked at: what is on disk is read again only
    /// for who asks for the same once more.
    fn differs_in_choice_only(&self, other: &Self) -> bool {
        let same_traces = match (&self.traces, &other.traces) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let texts = |request: &Self| (request.property.clone(), request.property_path.clone());
        self.chosen != other.chosen
            && self.system == other.system
            && self.files == other.files
            && texts(self) == texts(other)
            && self.root == other.root
            && self.include == other.include
            && self.most_states == other.most_states
            && same_traces
    }
}

/// A process to start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Start {
    /// The process.
    pub root: String,
    /// What is different then.
    pub about: String,
}

impl Default for Text {
    fn default() -> Self {
        Self { name: "property.mcl".into(), text: String::new() }
    }
}

/// Why nothing was opened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CantOpen {
    /// The texts are wrong.
    #[error("the input is invalid")]
    Wrong(Vec<Message>),
    /// The user had enough.
    #[error("cancelled")]
    Cancelled,
}

/// A diagnostic for the page.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Message {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// One sentence.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What is said of that place.
    pub label: String,
    /// Facts.
    pub notes: Vec<String>,
    /// What to do.
    pub helps: Vec<String>,
}

/// A range of a file for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Where it ends.
    pub end_line: usize,
    /// The column after its last character.
    pub end_column: usize,
}

impl Place {
    /// The place of a span.
    pub fn of(span: source::Span, sources: &Sources) -> Self {
        let (start, end) = (sources.position(span), sources.end_position(span));
        Self {
            file: sources.name(span.file).to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl Message {
    /// An error at no place in particular.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: "error", message: message.into(), ..Self::default() }
    }

    fn warning(message: impl Into<String>) -> Self {
        Self { severity: "warning", message: message.into(), ..Self::default() }
    }

    fn of(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        Self {
            severity: if diagnostic.severity == Severity::Error { "error" } else { "warning" },
            message: diagnostic.message.clone(),
            place: diagnostic.span().map(|span| Place::of(span, sources)),
            label: diagnostic.labels.first().map(|label| label.text.clone()).unwrap_or_default(),
            notes: diagnostic.notes.clone(),
            helps: diagnostic.helps.clone(),
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }
}

/// Diagnostics for the page.
pub fn messages(diagnostics: &[Diagnostic], sources: &Sources) -> Vec<Message> {
    diagnostics.iter().map(|diagnostic| Message::of(diagnostic, sources)).collect()
}

fn wrong(message: impl Into<String>) -> CantOpen {
    CantOpen::Wrong(vec![Message::error(message)])
}

/// Tells of a panic as of any other failure: a bug must not leave a page waiting for ever.
pub fn guarded<T>(open: impl FnOnce() -> Result<T, CantOpen>) -> Result<T, CantOpen> {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        let message = Message::error(format!("this is a bug in Watershed: {said}"));
        Err(CantOpen::Wrong(vec![message.help("please report it, with the model and the property")]))
    })
}

/// A transition system with the model it came from, where there is one.
pub enum Subject {
    /// A model that was explored.
    Model(Box<Explored>),
    /// A system that was read.
    System(Lts),
}

/// A model with its state space.
pub struct Explored {
    /// The model.
    pub loaded: Arc<languages::Opened>,
    /// Its states.
    pub exploration: Exploration,
    /// Its drawing, where it has one.
    pub board: Option<Board>,
}

impl Subject {
    /// The transition system.
    pub fn lts(&self) -> &Lts {
        match self {
            Self::Model(explored) => &explored.exploration.lts,
            Self::System(lts) => lts,
        }
    }

    /// The drawing of the model.
    pub fn board(&self) -> Option<&Board> {
        match self {
            Self::Model(explored) => explored.board.as_ref(),
            Self::System(_) => None,
        }
    }

    /// What else the model could start with, what it starts with by itself first.
    pub fn roots(&self) -> Vec<String> {
        let Self::Model(explored) = self else { return Vec::new() };
        let mut roots: Vec<String> =
            explored.loaded.program.roots().into_iter().map(|root| root.name).collect();
        if let Some(main) = roots.iter().position(|root| root.eq_ignore_ascii_case("main")) {
            roots[..=main].rotate_right(1);
        }
        roots
    }

    /// Where transitions come from.
    pub fn provenance(&self) -> Option<&Provenance> {
        match self {
            Self::Model(explored) => Some(explored.loaded.program.model().provenance()),
            Self::System(_) => None,
        }
    }

    /// The model's files.
    pub fn sources(&self) -> Option<&Sources> {
        match self {
            Self::Model(explored) => Some(&explored.loaded.sources),
            Self::System(_) => None,
        }
    }

    /// The model behind the system.
    pub fn origin(&self) -> Option<Origin<'_>> {
        match self {
            Self::Model(explored) => Some(Origin {
                sources: &explored.loaded.sources,
                program: &*explored.loaded.program,
                exploration: &explored.exploration,
            }),
            Self::System(_) => None,
        }
    }

    /// Names and values of a state, by instance.
    pub fn instances(&self, state: u32) -> Vec<InstanceValues> {
        self.origin()
            .map(|origin| views::instances(origin, lts::StateId::from_raw(state)))
            .unwrap_or_default()
    }
}

/// All properties with what there is to say of each: looked at once, whichever is explained.
struct Checked {
    properties: Vec<logic::Property>,
    prospects: Vec<Prospect>,
    /// What is suspicious in each.
    unmatched: Vec<Vec<Message>>,
    /// What is suspicious in the texts.
    warnings: Vec<Message>,
}

impl Checked {
    /// The properties with these positions.
    fn only(&self, wanted: impl Iterator<Item = usize>) -> Vec<(&logic::Property, Prospect)> {
        wanted.map(|at| (&self.properties[at], self.prospects[at].clone())).collect()
    }
}

/// Everything that is known of an opened model.
pub struct Opened {
    /// What was asked for.
    pub request: Arc<Request>,
    /// The system.
    pub subject: Arc<Subject>,
    checked: Arc<Checked>,
    /// What there is to see.
    pub picture: Picture,
    /// What there is to say; nothing without a property.
    pub explanation: Option<Explanation>,
    /// The property that is explained, to find more counterexamples.
    pub property: Option<Property>,
    /// All properties.
    pub properties: Vec<PropertyRow>,
    /// What is suspicious.
    pub warnings: Vec<Message>,
    /// A sentence on why nothing is tagged.
    pub remark: Option<String>,
}

impl Opened {
    /// Opens what was asked for. `stage` is told what is going on, `loaded` what traces can be checked against. Where only
    /// another property is chosen than before, nothing is explored or checked again.
    pub fn new(
        request: Arc<Request>,
        before: Option<&Opened>,
        progress: &Progress,
        stage: &dyn Fn(&'static str),
        loaded: &dyn Fn(Judge),
    ) -> Result<Self, CantOpen> {
        let opened = match before.filter(|before| before.request.differs_in_choice_only(&request)) {
            Some(before) => {
                Self::look(request, Arc::clone(&before.subject), Arc::clone(&before.checked), progress, stage)
            }
            None => Self::open(request, progress, stage, loaded),
        };
        // Not everyone who is told to stop says so.
        if progress.is_cancelled() { Err(CantOpen::Cancelled) } else { opened }
    }

    fn open(
        request: Arc<Request>,
        progress: &Progress,
        stage: &dyn Fn(&'static str),
        loaded: &dyn Fn(Judge),
    ) -> Result<Self, CantOpen> {
        let mut sources = Sources::new();
        let mut warnings = Vec::new();
        stage("reading the property");
        let properties = load_properties(&request, &mut sources, &mut warnings)?;
        let subject = load_subject(&request, &mut warnings, progress, stage, loaded)?;
        let lts = subject.lts();
        let used = lts.used_labels();
        let labels: Vec<&str> =
            lts.labels().iter().filter(|(label, _)| used[label.index()]).map(|(_, text)| text).collect();
        let unmatched = properties
            .iter()
            .map(|property| messages(&logic::unmatched(&property.formula, &labels), &sources))
            .collect();
        stage("checking");
        let selection = Selection::new(lts, &properties, request.most_states, progress)
            .map_err(|_| CantOpen::Cancelled)?;
        let prospects = selection.prospects.into_iter().map(|(_, prospect)| prospect).collect();
        let checked = Checked { properties, prospects, unmatched, warnings };
        Self::look(request, Arc::new(subject), Arc::new(checked), progress, stage)
    }

    /// Tags a system by the property that is to be explained.
    fn look(
        request: Arc<Request>,
        subject: Arc<Subject>,
        checked: Arc<Checked>,
        progress: &Progress,
        stage: &dyn Fn(&'static str),
    ) -> Result<Self, CantOpen> {
        let lts = subject.lts();
        let all = 0..checked.properties.len();
        let candidates: Vec<usize> = match request.chosen.as_deref() {
            None => all.clone().collect(),
            Some(name) => match all.clone().find(|&at| checked.properties[at].name == name) {
                Some(at) => vec![at],
                None => return Err(wrong(format!("there is no property named {name}"))),
            },
        };
        let mut warnings = checked.warnings.clone();
        warnings.extend(candidates.iter().flat_map(|&at| checked.unmatched[at].iter().cloned()));
        let selection = Selection::of(checked.only(candidates.into_iter()));
        let rows = |explained: Option<&str>| views::property_rows(&checked.only(all.clone()), explained);
        let passed_over = selection.passed_over();
        let explained = selection.chosen.map(|at| &selection.prospects[at]);
        if let Some((property, Prospect::Violated(wanted))) = explained {
            warnings.extend(
                passed_over.iter().map(|sentence| Message::warning(format!("passed over: {sentence}"))),
            );
            stage("tagging");
            let options = Options { most_states: request.most_states, ..Options::default() };
            let tagged =
                wanted.tag(lts, &options, progress).map_err(|why| match progress.is_cancelled() {
                    true => CantOpen::Cancelled,
                    false => CantOpen::Wrong(vec![
                        Message::error(format!("property {} can't be explained: {why}", property.name))
                            .help(why.help()),
                    ]),
                })?;
            let Some(tagged) = tagged else {
                return Err(wrong(format!("property {} has no run that violates it", property.name)));
            };
            stage("explaining");
            let run = tagged.shortest_run();
            let mut explanation = explain(&subject, &tagged, run.as_ref());
            explanation.property = property.name.clone();
            explanation.description = property.description.clone();
            let mut picture = Picture::of_tagged(&tagged, subject.provenance());
            picture.number_choices(explanation.choices.iter().map(|choice| &*choice.states));
            drop(tagged);
            let properties = rows(Some(&property.name));
            let (explanation, property) = (Some(explanation), Some(wanted.clone()));
            let remark = None;
            drop(selection);
            return Ok(Self {
                request,
                subject,
                checked,
                picture,
                explanation,
                property,
                properties,
                warnings,
                remark,
            });
        }
        let stuck = |prospect: &Prospect| matches!(prospect, Prospect::Unexplained(_) | Prospect::Unknown(_));
        let remark = match selection.prospects.iter().any(|(_, prospect)| stuck(prospect)) {
            true => Some(format!("{}. The whole system is shown, untagged.", passed_over.join("; "))),
            false => None,
        };
        let held = selection.prospects.first().map(|(property, _)| *property);
        let tag = if held.is_some() && remark.is_none() { Tag::Correct } else { Tag::Neutral };
        let used = lts.used_labels().iter().filter(|&&used| used).count();
        let explanation = held.filter(|_| remark.is_none()).map(|property| Explanation {
            property: property.name.clone(),
            description: property.description.clone(),
            verdict: true,
            method: "none".into(),
            full: report::TaggedSize {
                states: lts.state_count() as u64,
                transitions: lts.transition_count() as u64,
                labels: used as u64,
            },
            tags: [lts.transition_count() as u64, 0, 0].into(),
            remarks: vec!["It holds, so there is nothing to explain.".into()],
            ..Explanation::default()
        });
        let picture = Picture::of_system(lts, tag);
        let properties = rows(explanation.as_ref().map(|explanation| explanation.property.as_str()));
        drop(selection);
        let property = None;
        Ok(Self { request, subject, checked, picture, explanation, property, properties, warnings, remark })
    }

    /// Tags the system again and hands it to someone who needs more than the picture.
    pub fn with_tagged<T>(&self, ask: impl FnOnce(&Tagged<'_>) -> T) -> Option<T> {
        let options = Options { most_states: self.request.most_states, ..Options::default() };
        let tagged = self.property.as_ref()?.tag(self.subject.lts(), &options, &Progress::new());
        tagged.ok().flatten().map(|tagged| ask(&tagged))
    }
}

/// Tells why a property fails, with a counterexample.
pub fn explain(subject: &Subject, tagged: &Tagged<'_>, run: Option<&Run>) -> Explanation {
    let origin = subject.origin();
    Findings { tagged, run, kind: None, nearest: None, origin, values: false, asking: None }.explanation()
}

fn load_properties(
    request: &Request,
    sources: &mut Sources,
    warnings: &mut Vec<Message>,
) -> Result<Vec<logic::Property>, CantOpen> {
    let Text { name, text } = &request.property;
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let untouched = |path: &PathBuf| lts::read_text(path).is_ok_and(|found| found == *text);
    let loaded = match request.property_path.as_ref().filter(|path| untouched(path)) {
        Some(path) => logic::load_properties(path, sources),
        // Text from the page must not make the program read files: text alone doesn't.
        None => logic::load_text(name, text, sources),
    };
    match loaded {
        Ok(loaded) => {
            warnings.extend(messages(&loaded.warnings, sources));
            Ok(loaded.properties)
        }
        Err(diagnostics) => Err(CantOpen::Wrong(messages(&diagnostics, sources))),
    }
}

fn over_limit(states: usize) -> CantOpen {
    let found = report::count(states as u64, "state");
    let message = Message::error(format!("the model exceeds the limit: more than {found}"));
    CantOpen::Wrong(vec![message.help("restart with a higher --max-states, or make the model smaller")])
}

fn load_subject(
    request: &Request,
    warnings: &mut Vec<Message>,
    progress: &Progress,
    stage: &dyn Fn(&'static str),
    loaded: &dyn Fn(Judge),
) -> Result<Subject, CantOpen> {
    let wrong_texts =
        |error: languages::CantOpen| CantOpen::Wrong(messages(&error.diagnostics, &error.sources));
    let system = |lts: Lts| {
        if request.traces.is_some() {
            loaded(Judge::System(Arc::new(SystemModel::new(lts.clone()))));
        }
        Subject::System(lts)
    };
    if let Some(path) = &request.system {
        stage("reading the transition system");
        let read = languages::read_system(path, &Default::default(), progress);
        return read.map(system).map_err(|error| match error {
            SystemError::Wrong(wrong) => wrong_texts(wrong),
            SystemError::Cancelled => CantOpen::Cancelled,
        });
    }
    let Some(main) = request.files.first() else { return Err(wrong("there is no model to open")) };
    if let Some(FileKind::System) = main.kind() {
        stage("reading the transition system");
        let parsed = languages::parse_system(&main.into(), &Default::default());
        return parsed.map(system).map_err(wrong_texts);
    }
    stage("checking the model");
    // Text from the page must not name files on disk: only folders that were named when the program was started.
    let folders = Folders { beside: false, include: request.include.clone() };
    let texts = Overlay::new(request.files[1..].iter().map(model::Text::from).collect(), &folders);
    let text = main.into();
    let input = Input { texts: &texts, starting: Starting::Field, ..Input::new(&text) };
    let open = |root: Option<&str>| languages::registry().load(&Input { root, ..input });
    let root = request.root.as_deref();
    let opened = match &request.traces {
        None => open(root),
        Some(traces) => {
            let state = traces.first_state();
            let beginning = Beginning {
                root,
                module: traces.module.as_deref(),
                state: state.as_deref(),
                from_initial: traces.settings.from_initial,
            };
            conform::open(languages::registry().language(Path::new(&main.name)), &beginning, &open)
        }
    };
    let ready = Arc::new(opened.map_err(wrong_texts)?);
    let languages::Opened { sources, program } = &*ready;
    warnings.extend(messages(program.warnings(), sources));
    loaded(Judge::Program(Arc::clone(&ready)));
    let model = program.model();
    stage("exploring");
    let limits = Limits { states: request.most_states, origins: true, ..Limits::default() };
    let exploration = explore::explore(model, &limits, progress);
    match &exploration.outcome {
        Outcome::Complete => {
            stage("drawing");
            let board = Board::of(&**program);
            Ok(Subject::Model(Box::new(Explored { loaded: Arc::clone(&ready), exploration, board })))
        }
        Outcome::Cancelled => Err(CantOpen::Cancelled),
        Outcome::Error { error, state } => {
            let mut message = Message::error(error.message.clone());
            message.place = error.span.map(|span| Place::of(span, sources));
            message.helps.extend(error.help.clone());
            let trace = state.and_then(|state| exploration.trace_to(model, state).ok());
            if let Some(trace) = trace {
                let labels: Vec<String> = trace.iter().map(|step| model.label(step.label)).collect();
                message.notes.push(error.place(model, &labels));
            }
            Err(CantOpen::Wrong(vec![message]))
        }
        _ => Err(over_limit(exploration.states())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(property: &str) -> Arc<Request> {
        let files = vec![Text { name: "s.aut".into(), text: "des (0, 1, 2)\n(0, A, 1)\n".into() }];
        let property = Text { text: property.into(), ..Text::default() };
        Arc::new(Request { files, property, most_states: 100, ..Request::default() })
    }

    #[test]
    fn what_was_cancelled_is_not_opened() {
        // A formula that is only checked, without an explanation.
        let request = request("nu X . (< true > X)");
        let opened =
            Opened::new(Arc::clone(&request), None, &Progress::new(), &|_| (), &|_| ()).ok().unwrap();
        assert!(opened.remark.unwrap().contains("can't be explained"));
        let enough = Progress::new();
        enough.cancel();
        assert!(matches!(Opened::new(request, None, &enough, &|_| (), &|_| ()), Err(CantOpen::Cancelled)));
    }

    #[test]
    fn the_first_surprise_is_opened() {
        let text = "property KNOWN is NEVER (\"A\") expected FALSE end property\n\
                    property STUCK is DEADLOCK_FREE end property\n";
        let opened = Opened::new(request(text), None, &Progress::new(), &|_| (), &|_| ()).ok().unwrap();
        assert_eq!(opened.explanation.unwrap().property, "STUCK");
        assert!(
            opened.warnings.iter().any(|one| one.message == "passed over: KNOWN is violated, as expected")
        );
    }

    #[test]
    fn another_property_is_chosen_without_exploring_again() {
        let text = "property ONE is NEVER (\"A\") end property\n\
                    property TWO is DEADLOCK_FREE end property\n";
        let open = |request: &Arc<Request>, before: Option<&Opened>| {
            Opened::new(Arc::clone(request), before, &Progress::new(), &|_| (), &|_| ()).ok().unwrap()
        };
        let all = request(text);
        let first = open(&all, None);
        assert_eq!(first.explanation.as_ref().unwrap().property, "ONE");
        let two = Arc::new(Request { chosen: Some("TWO".into()), ..Request::clone(&all) });
        let second = open(&two, Some(&first));
        assert_eq!(second.explanation.as_ref().unwrap().property, "TWO");
        assert!(Arc::ptr_eq(&first.subject, &second.subject));
        let told = |opened: &Opened| -> Vec<(String, Option<bool>, bool)> {
            let rows = opened.properties.iter();
            rows.map(|row| (row.property.clone(), row.verdict, row.explained)).collect()
        };
        let row = |name: &str, explained| (name.to_owned(), Some(false), explained);
        assert_eq!(told(&second), [row("ONE", false), row("TWO", true)]);
        // Other texts, or the same once more, are opened anew.
        let root = Arc::new(Request { root: Some("X".into()), ..Request::clone(&two) });
        assert!(!Arc::ptr_eq(&open(&root, Some(&second)).subject, &second.subject));
        assert!(!Arc::ptr_eq(&open(&two, Some(&second)).subject, &second.subject));
    }

    #[test]
    fn a_bug_is_told_as_one() {
        let Err(CantOpen::Wrong(messages)) = guarded::<()>(|| panic!("nobody expects this")) else {
            panic!("it was opened");
        };
        assert_eq!(messages[0].message, "this is a bug in Watershed: nobody expects this");
    }
}
