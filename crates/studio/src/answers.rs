//! What the page asks about an opened model, answered as JSON.

use explain::{Kind, NotACounterexample, Run, Tag};
use lts::Selector;
use model::{Mark, MarkId, MarkKind};
use rayon::prelude::*;
use regex::Regex;
use report::{Explanation, InstanceValue, InstanceValues, PropertyRow};
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, NoCondition};
use crate::opening::{Message, Opened, Place, Request, Start, Text};
use crate::picture::NONE;
use crate::project::View;
use crate::scene::Scene;
use crate::trace::Walked;

/// The most transitions that are listed of a state, and the most states that a search finds.
const MOST_LISTED: usize = 500;
/// The longest regular expression, compiled, in bytes.
const MOST_PATTERN: usize = 1 << 20;

/// Everything about a project but the scene.
#[derive(Serialize)]
pub struct Summary {
    id: u32,
    name: String,
    /// How many nodes and transitions the whole picture has.
    nodes: usize,
    transitions: usize,
    /// Labels by number.
    labels: Vec<String>,
    explanation: Option<Explanation>,
    properties: Vec<PropertyRow>,
    warnings: Vec<Message>,
    remark: Option<String>,
    /// The files of what is open, imported modules included, the model itself first.
    files: Vec<Text>,
    /// What was asked for last, to edit: after a failure that is not what is open.
    texts: Texts,
    starts: Vec<Start>,
    /// Whether states have values to show.
    values: bool,
    /// Whether there is a drawing to play the token game on.
    drawing: bool,
    /// Whether there is a model to edit; a system on disk has none.
    editable: bool,
}

/// Texts to open, and how.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    /// The model first, then modules or systems that it names.
    pub files: Vec<Text>,
    /// The property.
    #[serde(default)]
    pub property: Text,
    /// Which of several properties.
    pub chosen: Option<String>,
    /// Where to start.
    pub root: Option<String>,
}

/// What a page shows beside the scene.
pub fn summary(id: u32, name: &str, view: &View) -> Summary {
    let (request, opened) = (&view.request, view.opened.as_deref());
    let sources = opened.and_then(|opened| opened.subject.sources());
    let files = match (sources, opened) {
        (Some(sources), _) => sources
            .files()
            // Not what to start with, which is a text of its own.
            .filter(|&file| !sources.is_given(file))
            .map(|file| Text { name: sources.name(file).to_owned(), text: sources.text(file).to_owned() })
            .collect(),
        // A transition system is no source to look at: it has as many lines as transitions.
        (None, Some(_)) => Vec::new(),
        (None, None) => request.files.iter().filter(|file| !is_system(file)).cloned().collect(),
    };
    let texts = Texts {
        files: if view.status.failure.is_some() || sources.is_none() {
            request.files.clone()
        } else {
            files.clone()
        },
        property: request.property.clone(),
        chosen: request.chosen.clone(),
        root: request.root.clone(),
    };
    Summary {
        id,
        name: name.to_owned(),
        nodes: opened.map_or(0, |opened| opened.picture.len()),
        transitions: opened.map_or(0, |opened| opened.picture.targets.len()),
        labels: opened.map_or_else(Vec::new, |opened| {
            opened.subject.lts().labels().iter().map(|(_, text)| text.to_owned()).collect()
        }),
        explanation: opened.and_then(|opened| opened.explanation.clone()),
        properties: opened.map_or_else(Vec::new, |opened| opened.properties.clone()),
        warnings: opened.map_or_else(Vec::new, |opened| opened.warnings.clone()),
        remark: opened.and_then(|opened| opened.remark.clone()),
        files,
        texts,
        starts: starts(request, opened),
        drawing: opened.is_some_and(|opened| opened.subject.board().is_some()),
        values: sources.is_some(),
        editable: request.system.is_none(),
    }
}

fn is_system(file: &Text) -> bool {
    matches!(file.kind(), Some(languages::FileKind::System))
}

/// What a page offers to start with, what the model starts with by itself first.
fn starts(request: &Request, opened: Option<&Opened>) -> Vec<Start> {
    let bare = |root: &str, about: &str| Start { root: root.to_owned(), about: about.to_owned() };
    if !request.starts.is_empty() {
        return std::iter::once(bare("MAIN", "as it is")).chain(request.starts.iter().cloned()).collect();
    }
    let roots = opened.map(|opened| opened.subject.roots()).unwrap_or_default();
    if roots.len() < 2 { Vec::new() } else { roots.iter().map(|root| bare(root, "")).collect() }
}

/// A state with its surroundings.
#[derive(Serialize)]
pub struct State {
    node: u32,
    /// The state's number in the system; nothing for the sink.
    state: Option<u32>,
    /// Names and values, by instance.
    instances: Vec<InstanceValues>,
    kind: Option<&'static str>,
    choice: Option<u32>,
    initial: bool,
    goal: bool,
    sink: bool,
    distance: u32,
    /// How many transitions leave it.
    steps: usize,
    outgoing: Vec<Transition>,
    incoming: Vec<Transition>,
    /// How many transitions are not listed.
    left_out: usize,
    /// Where it is drawn.
    place: u32,
}

/// A transition.
#[derive(Serialize)]
pub struct Transition {
    edge: u32,
    source: u32,
    target: u32,
    label: String,
    tag: &'static str,
    /// Where it is drawn, if it is.
    drawn: Option<u32>,
    /// The ids of the transitions of the drawing that fire.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<String>,
}

/// A transition of the picture.
pub fn transition(opened: &Opened, scene: &Scene, at: usize) -> Transition {
    let picture = &opened.picture;
    let system = opened.subject.lts();
    let label = system.label(lts::LabelId::from_raw(picture.labels[at]));
    let origin = system.origin(picture.system_edges[at] as usize);
    let parts = match (opened.subject.board(), opened.subject.provenance()) {
        (Some(board), Some(provenance)) => board.fired(label, origin, provenance),
        _ => Vec::new(),
    };
    Transition {
        edge: at as u32,
        source: picture.sources[at],
        target: picture.targets[at],
        parts,
        label: label.to_owned(),
        tag: tag_word(picture.tags[at]),
        drawn: scene.drawn.get(at).copied().filter(|&drawn| drawn != NONE),
    }
}

/// The word for a tag.
pub fn tag_word(tag: u8) -> &'static str {
    Tag::ALL[usize::from(tag)].word()
}

/// What is known of a node; nothing where there is none of that number.
pub fn state(opened: &Opened, scene: &Scene, node: u32) -> Option<State> {
    let picture = &opened.picture;
    let &state = picture.states.get(node as usize)?;
    let incoming = picture.incoming(node);
    let all = picture.outgoing(node).len() + incoming.len();
    let list = |edges: &mut dyn Iterator<Item = usize>| -> Vec<Transition> {
        edges.take(MOST_LISTED).map(|at| transition(opened, scene, at)).collect()
    };
    let outgoing = list(&mut picture.outgoing(node));
    let incoming = list(&mut incoming.iter().map(|&at| at as usize));
    let kind = picture.kinds[node as usize];
    Some(State {
        node,
        state: (state != NONE).then_some(state),
        instances: if state == NONE { Vec::new() } else { opened.subject.instances(state) },
        kind: kind.checked_sub(1).map(|at| Kind::ALL[usize::from(at)].key()),
        choice: Some(picture.choices[node as usize]).filter(|&choice| choice != NONE),
        initial: node == 0,
        goal: picture.goals[node as usize],
        sink: picture.sink == Some(node),
        distance: picture.distances[node as usize],
        steps: picture.outgoing(node).len(),
        left_out: all - outgoing.len() - incoming.len(),
        outgoing,
        incoming,
        place: scene.place[node as usize],
    })
}

/// A source construct behind a transition.
#[derive(Serialize)]
pub struct Construct {
    #[serde(flatten)]
    place: Place,
    process: String,
    /// `action`, `true`, `false` or `block`.
    kind: &'static str,
}

fn construct(opened: &Opened, mark: MarkId) -> Option<Construct> {
    let (sources, provenance) = (opened.subject.sources()?, opened.subject.provenance()?);
    let mark = provenance.mark(mark);
    Some(Construct {
        place: Place::of(mark.span, sources),
        process: mark.process.clone(),
        kind: match mark.kind {
            MarkKind::Action => "action",
            MarkKind::Decision(true) => "true",
            MarkKind::Decision(false) => "false",
            MarkKind::Block => "block",
        },
    })
}

/// A transition with where it comes from.
#[derive(Serialize)]
pub struct Edge {
    #[serde(flatten)]
    transition: Transition,
    constructs: Vec<Construct>,
}

/// What is known of a transition; nothing where there is none of that number.
pub fn edge(opened: &Opened, scene: &Scene, at: usize) -> Option<Edge> {
    let &system_edge = opened.picture.system_edges.get(at)?;
    let origin = opened.subject.lts().origin(system_edge as usize);
    let marks = match (origin, opened.subject.provenance()) {
        (Some(origin), Some(provenance)) => provenance.marks_of(origin),
        _ => Vec::new(),
    };
    let constructs = marks.into_iter().filter_map(|mark| construct(opened, mark)).collect();
    Some(Edge { transition: transition(opened, scene, at), constructs })
}

/// Transitions that a line of the source, or a search, leads to.
#[derive(Serialize)]
pub struct Found {
    /// How many transitions or states there are.
    total: usize,
    /// Where they are drawn.
    drawn: Vec<u32>,
    /// The nodes that were found, or where the transitions start: the first few.
    nodes: Vec<u32>,
    /// What was found, in words: the first few.
    texts: Vec<String>,
}

fn found_transitions(opened: &Opened, scene: &Scene, wanted: &dyn Fn(usize) -> bool) -> Found {
    let mut found = Found { total: 0, drawn: Vec::new(), nodes: Vec::new(), texts: Vec::new() };
    for at in (0..opened.picture.targets.len()).filter(|&at| wanted(at)) {
        found.total += 1;
        if scene.drawn.get(at).is_some_and(|&drawn| drawn != NONE) {
            found.drawn.push(scene.drawn[at]);
        }
        if found.nodes.len() < MOST_LISTED {
            found.nodes.push(opened.picture.sources[at]);
        }
    }
    found.drawn.sort_unstable();
    found.drawn.dedup();
    found
}

/// The transitions that a line takes part in or, where a column is given, the smallest construct there, if there is one.
pub fn line(opened: &Opened, scene: &Scene, file: &str, line: usize, column: Option<usize>) -> Found {
    let mut origins: rustc_hash::FxHashMap<u32, bool> = Default::default();
    let mut marks: Vec<bool> = Vec::new();
    if let (Some(sources), Some(provenance)) = (opened.subject.sources(), opened.subject.provenance()) {
        let places: Vec<Place> =
            provenance.marks().iter().map(|mark| Place::of(mark.span, sources)).collect();
        let touches = |(mark, place): (&Mark, &Place)| {
            // A block is as wide as a process: it would light up everything.
            mark.kind != MarkKind::Block
                && place.file == file
                && (place.line..=place.end_line).contains(&line)
        };
        marks = provenance.marks().iter().zip(&places).map(touches).collect();
        let holds = |place: &Place| {
            let at = column.map(|column| (line, column));
            at.is_some_and(|at| (place.line, place.column) <= at && at < (place.end_line, place.end_column))
        };
        let around = (0..marks.len()).filter(|&at| marks[at] && holds(&places[at]));
        if let Some(smallest) = around.min_by_key(|&at| provenance.marks()[at].span.range().len()) {
            let place = places[smallest].clone();
            marks.iter_mut().zip(&places).for_each(|(mark, other)| *mark &= *other == place);
        }
        for &origin in opened.subject.lts().origins().unwrap_or_default() {
            origins
                .entry(origin.raw())
                .or_insert_with(|| provenance.marks_of(origin).iter().any(|mark| marks[mark.0 as usize]));
        }
    }
    if !marks.contains(&true) {
        return found_transitions(opened, scene, &|_| false);
    }
    let system = opened.subject.lts();
    found_transitions(opened, scene, &|at| {
        let origin = system.origin(opened.picture.system_edges[at] as usize);
        origin.is_some_and(|origin| origins[&origin.raw()])
    })
}

/// What to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Among {
    /// Labels of transitions.
    Labels,
    /// Values of states, as `name = value`.
    States,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The regular expression is wrong.
    #[error("this is not a regular expression: {0}")]
    Pattern(String),
    /// The trace is no counterexample.
    #[error("this is not a counterexample: {0}")]
    Trace(#[from] NotACounterexample),
    /// The trace can't be read.
    #[error("{0}")]
    Unreadable(String),
    /// There is no counterexample.
    #[error("no property is violated, so there is no counterexample")]
    Holds,
    /// Nothing leads there.
    #[error("no way leads from the initial state to this one")]
    NoWay,
    /// The condition is wrong.
    #[error(transparent)]
    Condition(#[from] NoCondition),
    /// The condition is about something that there is not.
    #[error("no state has a variable `{0}`{1}")]
    NoVariable(String, String),
    /// Transitions don't follow each other.
    #[error("these transitions are not a walk")]
    NotAWalk,
    /// There is nothing to violate.
    #[error("there is no property yet, so there is no counterexample: write one under Edit")]
    NoProperty,
    /// No single run violates the property, or it is not known whether any does.
    #[error("there is no counterexample to walk: {0}")]
    Unexplained(String),
    /// What was tagged once can't be tagged again.
    #[error("the counterexamples of this property can't be computed again")]
    Untagged,
    /// There are fewer.
    #[error("there are no more: {} in all", report::count(*.0 as u64, "counterexample"))]
    Fewer(usize),
}

/// Finds labels or states by a regular expression.
pub fn search(opened: &Opened, scene: &Scene, among: Among, pattern: &str) -> Result<Found, NoAnswer> {
    let pattern = regex::RegexBuilder::new(pattern).case_insensitive(true).size_limit(MOST_PATTERN).build();
    let pattern: Regex = pattern.map_err(|error| {
        let text = error.to_string();
        NoAnswer::Pattern(text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
    })?;
    let picture = &opened.picture;
    match among {
        Among::Labels => {
            let labels = opened.subject.lts().labels();
            let matching: Vec<bool> = labels.iter().map(|(_, text)| pattern.is_match(text)).collect();
            let mut found = found_transitions(opened, scene, &|at| matching[picture.labels[at] as usize]);
            let used = opened.subject.lts().used_labels();
            found.texts = labels
                .iter()
                .filter(|(label, _)| matching[label.index()] && used[label.index()])
                .map(|(_, text)| text.to_owned())
                .take(MOST_LISTED)
                .collect();
            Ok(found)
        }
        Among::States => {
            let hit = |node: usize| -> Option<(u32, String)> {
                let state = picture.states[node];
                if state == NONE {
                    return None;
                }
                let instances = opened.subject.instances(state);
                let number = format!("state {state}");
                let of = |one: &InstanceValues| {
                    let dot = if one.instance.is_empty() { "" } else { "." };
                    let text = |value: &InstanceValue| {
                        format!("{}{dot}{} = {}", one.instance, value.name, value.value)
                    };
                    one.values.iter().map(text).collect::<Vec<String>>()
                };
                if let Some(text) = instances.iter().flat_map(of).find(|text| pattern.is_match(text)) {
                    return Some((node as u32, format!("{number}: {text}")));
                }
                pattern.is_match(&number).then_some((node as u32, number))
            };
            let all: Vec<(u32, String)> = (0..picture.len()).into_par_iter().filter_map(hit).collect();
            let mut drawn: Vec<u32> = all.iter().map(|&(node, _)| scene.place[node as usize]).collect();
            drawn.sort_unstable();
            drawn.dedup();
            let first = || all.iter().take(MOST_LISTED);
            Ok(Found {
                total: all.len(),
                drawn,
                nodes: first().map(|(node, _)| *node).collect(),
                texts: first().map(|(_, text)| text.clone()).collect(),
            })
        }
    }
}

/// The states for which a condition holds.
#[derive(Serialize)]
pub struct Satisfying {
    total: usize,
    /// Where they are drawn, and how many at each place.
    drawn: Vec<(u32, u32)>,
    /// The first few.
    nodes: Vec<u32>,
    /// What is suspicious.
    notes: Vec<String>,
}

/// Finds the states for which a condition holds.
pub fn satisfying(opened: &Opened, scene: &Scene, text: &str) -> Result<Satisfying, NoAnswer> {
    let (picture, system) = (&opened.picture, opened.subject.lts());
    let condition = Condition::parse(text)?;
    let labels: Vec<&str> = system.labels().iter().map(|(_, text)| text).collect();
    let chosen = |labels: &[&str], one: &Selector| labels.iter().map(|label| one.matches(label)).collect();
    let selectors: Vec<(&Selector, Vec<bool>)> =
        condition.selectors().map(|one| (one, chosen(&labels, one))).collect();
    let holds = |node: &u32| {
        let state = picture.states[*node as usize];
        let can = |wanted: &Selector| {
            let mask = selectors.iter().find(|(one, _)| std::ptr::eq(*one, wanted));
            let mut steps = picture.outgoing(*node).map(|at| picture.labels[at] as usize);
            mask.is_some_and(|(_, mask)| steps.any(|label| mask[label]))
        };
        state != NONE && condition.holds(&opened.subject.instances(state), &can)
    };
    let all: Vec<u32> = (0..picture.len() as u32).into_par_iter().filter(holds).collect();
    if let Some(&name) = condition.unknown().first() {
        return Err(NoAnswer::NoVariable(name.to_owned(), known_variables(opened, name)));
    }
    let mut drawn: std::collections::BTreeMap<u32, u32> = Default::default();
    all.iter().for_each(|&node| *drawn.entry(scene.place[node as usize]).or_default() += 1);
    let used = system.used_labels();
    let used: Vec<&str> = labels.iter().zip(used).filter(|(_, used)| *used).map(|(text, _)| *text).collect();
    let notes = selectors.iter().filter_map(|(one, _)| one.unmatched("can", &used));
    Ok(Satisfying {
        total: all.len(),
        drawn: drawn.into_iter().collect(),
        nodes: all.iter().copied().take(MOST_LISTED).collect(),
        notes: notes.map(|note| note.message).collect(),
    })
}

/// What a variable that there is not may be instead.
fn known_variables(opened: &Opened, name: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for &state in opened.picture.states.iter().take(MOST_LISTED).filter(|&&state| state != NONE) {
        for one in opened.subject.instances(state) {
            names.extend(one.values.into_iter().map(|value| value.name));
        }
        names.sort();
        names.dedup();
    }
    match (source::closest(name, names.iter().map(String::as_str)), names.as_slice()) {
        (Some(close), _) => format!(": did you mean `{close}`?"),
        (None, []) => ": this system has no variables".into(),
        (None, names) => format!(": there are {}", names[..names.len().min(12)].join(", ")),
    }
}

/// Where transitions are drawn now, if they are.
pub fn drawn(scene: &Scene, edges: &[u32]) -> Vec<Option<u32>> {
    let place = |&at: &u32| scene.drawn.get(at as usize).copied().filter(|&drawn| drawn != NONE);
    edges.iter().map(place).collect()
}

/// Which counterexample is wanted.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Wanted {
    /// The shortest, or a longer one: 1 for the shortest.
    Nth(u16),
    /// One at random, for a seed.
    Random(u64),
    /// That of a file: AUT, or a label a line.
    Trace(Text),
}

/// A run from the initial state, as transitions.
#[derive(Serialize)]
pub struct Counterexample {
    steps: Vec<RunStep>,
    lasso: Option<usize>,
    /// The nodes that it passes, the initial one first.
    nodes: Vec<u32>,
}

impl Counterexample {
    /// The walk along it.
    pub fn walked(&self) -> Walked {
        Walked { start: 0, edges: self.steps.iter().map(|step| step.transition.edge).collect() }
    }
}

#[derive(Serialize)]
struct RunStep {
    #[serde(flatten)]
    transition: Transition,
    /// Whether it belongs to a neighbourhood: what the abstracted counterexample keeps.
    matters: bool,
}

/// Finds a counterexample.
pub fn counterexample(opened: &Opened, scene: &Scene, wanted: &Wanted) -> Result<Counterexample, NoAnswer> {
    let found = opened.with_tagged(|tagged| {
        let run: Run = match wanted {
            Wanted::Nth(0 | 1) => tagged.shortest_run().ok_or_else(|| no_run(opened))?,
            Wanted::Nth(nth) => {
                let runs = tagged.shortest_runs(usize::from(*nth));
                let count = runs.len();
                runs.into_iter().nth(usize::from(*nth) - 1).ok_or(NoAnswer::Fewer(count))?
            }
            Wanted::Random(seed) => tagged.random_run(*seed).ok_or_else(|| no_run(opened))?,
            Wanted::Trace(text) => {
                let (labels, lasso) = read_trace(text)?;
                tagged.run_of_labels(&labels, lasso)?
            }
        };
        let steps: Vec<usize> = run.steps.iter().map(|step| step.at).collect();
        Ok(run_of(opened, scene, &steps, run.lasso))
    });
    found.unwrap_or_else(|| Err(no_run(opened)))
}

/// Why there is nothing to walk, in the words that the page has for the property.
fn no_run(opened: &Opened) -> NoAnswer {
    match &opened.remark {
        Some(remark) => NoAnswer::Unexplained(remark.clone()),
        None if opened.property.is_some() => NoAnswer::Untagged,
        None if opened.properties.is_empty() => NoAnswer::NoProperty,
        None => NoAnswer::Holds,
    }
}

/// A shortest way from the initial state to a node.
pub fn way(opened: &Opened, scene: &Scene, node: u32) -> Result<Counterexample, NoAnswer> {
    let known = (node as usize) < opened.picture.len();
    let way = known.then(|| opened.picture.way_to(node)).flatten().ok_or(NoAnswer::NoWay)?;
    Ok(run_of(opened, scene, &way, None))
}

fn run_of(opened: &Opened, scene: &Scene, steps: &[usize], lasso: Option<usize>) -> Counterexample {
    let step = |&at: &usize| RunStep {
        transition: transition(opened, scene, at),
        matters: opened.picture.matters(at),
    };
    let steps: Vec<RunStep> = steps.iter().map(step).collect();
    let nodes = std::iter::once(0).chain(steps.iter().map(|step| step.transition.target)).collect();
    Counterexample { steps, lasso, nodes }
}

/// The labels of a trace, and where the part starts that it repeats.
fn read_trace(text: &Text) -> Result<(Vec<String>, Option<usize>), NoAnswer> {
    // A label may begin like the head of an AUT file.
    let head = text.text.trim_start().strip_prefix("des");
    let is_aut = head.is_some_and(|rest| rest.trim_start().starts_with('('));
    if !is_system(text) && !is_aut {
        let lines = text.text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok((lines.map(str::to_owned).collect(), None));
    }
    let options = lts::AutOptions { sparse: true, ..Default::default() };
    let lts = lts::parse_aut(&text.text, &options)
        .map_err(|error| NoAnswer::Unreadable(format!("{}: {error}", text.name)))?;
    lts.only_run().ok_or_else(|| NoAnswer::Unreadable(format!("{} is not a single run", text.name)))
}
