//! A project: one opened model with its scene, worked on in the background and watched by any number of pages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use lts::Progress;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::conformance::{self, Check, Judge};
use crate::layout::{Layout, Point, Shape};
use crate::opening::{CantOpen, Message, Opened, Request, guarded};
use crate::picture::Picture;
use crate::reduction::{RELATIONS, Reduction};
use crate::regions::{Detail, MOST_SHOWN, Regions};
use crate::scene::Scene;

/// The seed of all layouts: the same model always looks the same.
const SEED: u64 = 7;
/// How often pages hear of a layout that is settling.
const BEAT: Duration = Duration::from_millis(120);

/// One opened model.
pub struct Project {
    /// Its number.
    pub id: u32,
    /// What it is called.
    pub name: String,
    state: Mutex<State>,
    /// Counts changes, for those who watch.
    changes: watch::Sender<u64>,
    /// The scene that is being laid out; a layout of another one stops.
    current: AtomicU32,
}

struct State {
    request: Arc<Request>,
    progress: Arc<Progress>,
    /// Of the examples that run for the coverage view.
    covering: Arc<Progress>,
    /// Of the traces that are checked.
    checking: Arc<Progress>,
    check: Check,
    /// Counts what became of the traces.
    conformance: u32,
    stage: &'static str,
    running: bool,
    failure: Option<Failure>,
    /// What was opened last; kept when opening an edited text fails.
    opened: Option<Arc<Opened>>,
    /// Counts what was opened.
    generation: u32,
    /// Counts what was asked to be opened.
    attempt: u32,
    regions: Option<Regions>,
    /// Equivalent states that are drawn as one.
    reduction: Option<Reduction>,
    /// Where someone put nodes of the scene.
    pins: BTreeMap<u32, Point>,
    detail: Detail,
    shape: Shape,
    scene: Arc<Scene>,
    positions: Arc<Vec<Point>>,
    settled: bool,
    /// Which of the things that were opened the scene shows.
    drawn_from: u32,
    /// Whether nobody can ask for it any more.
    closed: bool,
}

impl State {
    /// The nodes of a scene that someone put somewhere.
    fn pinned(&self, scene: &Scene) -> Vec<(usize, Point)> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let nodes = scene.nodes.iter().enumerate();
        nodes.filter_map(|(place, node)| self.pins.get(node).map(|&at| (place, at))).collect()
    }
}

/// A project at one moment: the scene is of what was opened, and the positions are of the scene.
pub struct View {
    /// What there is to know.
    pub status: Status,
    /// The texts that are or were opened last, even in vain.
    pub request: Arc<Request>,
    /// What was opened.
    pub opened: Option<Arc<Opened>>,
    /// What is drawn.
    pub scene: Arc<Scene>,
    /// Where the nodes of the scene are.
    pub positions: Arc<Vec<Point>>,
}

/// Why the last attempt to open failed.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// One sentence.
    pub summary: String,
    /// What is wrong, where.
    pub messages: Vec<Message>,
}

/// What a page has to know at any time.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Whether something is going on.
    pub running: bool,
    /// What.
    pub stage: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is, or 0.
    pub total: u64,
    /// Why the last attempt failed.
    pub failure: Option<Failure>,
    /// Counts what was asked to be opened.
    pub attempt: u32,
    /// Counts what was opened: when it changes, everything is new.
    pub generation: u32,
    /// Counts scenes: when it changes, there is another one to draw.
    pub scene: u32,
    /// Whether the layout has come to rest.
    pub settled: bool,
    /// How much is shown.
    pub detail: Detail,
    /// Which states are drawn as one, if equivalent ones are.
    pub relation: Option<&'static str>,
    /// How many nodes someone put where they are.
    pub pins: usize,
    /// How it is laid out.
    pub shape: Shape,
    /// Counts what became of the traces: when it changes, there is more to know. 0 where there are none.
    pub conformance: u32,
}

/// A change of the scene that a page asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Open this region.
    pub open: Option<u32>,
    /// Close this region.
    pub close: Option<u32>,
    /// Close the region around this node.
    pub close_around: Option<u32>,
    /// Open whatever hides one of these nodes.
    pub reveal: Option<Vec<u32>>,
    /// Show all, or regions.
    pub detail: Option<Detail>,
    /// Draw states as one that are equivalent modulo this relation.
    pub reduce: Option<String>,
    /// Put a node of the scene somewhere, for good.
    pub pin: Option<Pin>,
    /// Let all nodes go where they like.
    #[serde(default)]
    pub unpin: bool,
    /// Lay out in another way.
    pub shape: Option<Shape>,
}

/// A node of the scene, or a region with [`REGION`](crate::scene::REGION) added, and where it is put.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    node: u32,
    at: Point,
}

/// Farther away, nothing can be put.
const FARTHEST: f32 = 1e6;

/// Why a scene was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CantChange {
    /// There is nothing to see yet.
    #[error("the model is not open yet")]
    NotOpen,
    /// There is no such region.
    #[error("there is no such super-node")]
    NoRegion,
    /// There is no open region.
    #[error("this state is not in an open super-node")]
    NothingOpen,
    /// There is no such relation, or states are not merged by it.
    #[error("states can't be merged by `{0}`: expected {known}", known = RELATIONS.map(|one| one.name()).join(", "))]
    NoRelation(String),
    /// Reducing takes too much.
    #[error("this is too large to be reduced")]
    Irreducible,
    /// That is no place.
    #[error("there is no such node in the picture, or no such place")]
    NoPlace,
    /// It would be too much.
    #[error("{0} states are too many to show individually: open super-nodes instead")]
    TooMany(usize),
}

/// More nodes than this are not shown one by one.
const MOST_ONE_BY_ONE: usize = 200_000;

impl Project {
    /// Opens a model in the background. Must be called where tokio runs.
    pub fn open(id: u32, name: String, request: Request) -> Arc<Self> {
        let request = Arc::new(request);
        let project = Arc::new(Self {
            id,
            name,
            state: Mutex::new(State {
                request: Arc::clone(&request),
                progress: Arc::default(),
                covering: Arc::default(),
                checking: Arc::default(),
                check: Check::None,
                conformance: 0,
                stage: "waiting",
                running: true,
                failure: None,
                opened: None,
                generation: 0,
                attempt: 0,
                regions: None,
                reduction: None,
                pins: BTreeMap::new(),
                detail: Detail::All,
                shape: Shape::Force,
                scene: Arc::default(),
                positions: Arc::default(),
                settled: true,
                drawn_from: 0,
                closed: false,
            }),
            changes: watch::Sender::new(0),
            current: AtomicU32::new(0),
        });
        project.clone().run(request);
        project
    }

    /// Opens other texts, in place of what is being opened.
    pub fn run(self: Arc<Self>, request: Arc<Request>) {
        let progress = Arc::new(Progress::new());
        let (attempt, before) = {
            let mut state = self.lock();
            state.progress.cancel();
            state.progress = Arc::clone(&progress);
            state.request = Arc::clone(&request);
            (state.running, state.stage) = (true, "waiting");
            state.attempt += 1;
            (state.attempt, state.opened.clone())
        };
        self.tell();
        tokio::task::spawn_blocking(move || {
            let stage = |what| {
                let mut state = self.lock();
                if state.attempt == attempt {
                    state.stage = what;
                }
                drop(state);
                self.tell();
            };
            let found = guarded(|| {
                let loaded = |judge| self.check(attempt, Arc::clone(&request), judge);
                let opened =
                    Opened::new(Arc::clone(&request), before.as_deref(), &progress, &stage, &loaded)?;
                let large = opened.picture.len() > MOST_SHOWN;
                let reduction = large.then(|| Reduction::small(&opened.picture)).flatten();
                Ok((Regions::new(&opened.picture), reduction, opened))
            });
            let mut state = self.lock();
            if state.attempt != attempt {
                return;
            }
            state.running = false;
            state.stage = "done";
            match found {
                Ok((regions, reduction, opened)) => {
                    let large = opened.picture.len() > MOST_SHOWN;
                    state.detail = match reduction {
                        Some(_) => Detail::Reduced,
                        None if large => Detail::Collapsed,
                        None => Detail::All,
                    };
                    state.regions = Some(regions);
                    state.reduction = reduction;
                    state.pins.clear();
                    state.opened = Some(Arc::new(opened));
                    state.failure = None;
                    state.generation += 1;
                    self.draw(state);
                }
                Err(why) => {
                    let messages = match &why {
                        CantOpen::Wrong(messages) => messages.clone(),
                        CantOpen::Cancelled => Vec::new(),
                    };
                    state.failure = Some(Failure { summary: why.to_string(), messages });
                }
            }
            self.tell();
        });
    }

    /// Checks the traces, if there are any, while the model is explored.
    fn check(self: &Arc<Self>, attempt: u32, request: Arc<Request>, judge: Judge) {
        let progress = Arc::new(Progress::new());
        let mut state = self.lock();
        if request.traces.is_none() || state.attempt != attempt {
            return;
        }
        state.checking.cancel();
        state.checking = Arc::clone(&progress);
        state.check = Check::Running;
        state.conformance += 1;
        drop(state);
        self.tell();
        let project = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let checked = match guarded(|| conformance::check(request, judge, &progress)) {
                Ok(verdict) => Check::Done(Arc::new(verdict)),
                Err(CantOpen::Wrong(messages)) => Check::Failed(messages),
                Err(CantOpen::Cancelled) => Check::Failed(vec![Message::error("cancelled")]),
            };
            let mut state = project.lock();
            // Another one has begun in the meantime.
            if !Arc::ptr_eq(&state.checking, &progress) {
                return;
            }
            state.check = checked;
            state.conformance += 1;
            drop(state);
            project.tell();
        });
    }

    /// What is known of the traces.
    pub fn conformance(&self) -> Check {
        self.lock().check.clone()
    }

    /// Stops what is going on.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.progress.cancel();
        state.covering.cancel();
        state.checking.cancel();
        if !std::mem::replace(&mut state.settled, true) {
            self.current.fetch_add(1, SeqCst);
        }
        drop(state);
        self.tell();
    }

    /// Stops everything, for good: those who watch are let go.
    pub fn close(&self) {
        self.lock().closed = true;
        self.cancel();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Something to stop the examples with that are about to run, in place of those that may still do.
    pub fn cover(&self) -> Arc<Progress> {
        let mut state = self.lock();
        state.covering.cancel();
        state.covering = Arc::default();
        Arc::clone(&state.covering)
    }

    /// Changes what is shown, and lays it out anew.
    pub fn change(self: &Arc<Self>, change: &Change) -> Result<(), CantChange> {
        if let Some(name) = &change.reduce {
            return self.reduce(name);
        }
        let mut state = self.lock();
        let opened = state.opened.clone().ok_or(CantChange::NotOpen)?;
        let picture: &Picture = &opened.picture;
        if let Some(pin) = change.pin {
            return self.pin(state, pin);
        }
        if change.detail == Some(Detail::All) && picture.len() > MOST_ONE_BY_ONE {
            return Err(CantChange::TooMany(picture.len()));
        }
        if change.detail == Some(Detail::Reduced) && state.reduction.is_none() {
            return Err(CantChange::NoRelation(String::new()));
        }
        let inner = &mut *state;
        let regions = match &mut inner.reduction {
            Some(reduction) => Some(&mut reduction.regions),
            None => inner.regions.as_mut(),
        };
        let regions = regions.ok_or(CantChange::NotOpen)?;
        if let Some(region) = change.open
            && !regions.open(picture, region)
        {
            return Err(CantChange::NoRegion);
        }
        if let Some(node) = change.close_around {
            let region = regions.open_around(node).ok_or(CantChange::NothingOpen)?;
            regions.close(region);
        }
        if let Some(region) = change.close
            && !regions.close(region)
        {
            return Err(CantChange::NoRegion);
        }
        for &node in change.reveal.iter().flatten().filter(|&&node| (node as usize) < picture.len()) {
            regions.reveal(picture, node);
        }
        if let Some(detail) = change.detail {
            regions.close_all();
            if detail != Detail::Reduced {
                state.reduction = None;
            }
            state.detail = detail;
        }
        // Super-nodes of another kind have the same numbers.
        if change.unpin || change.detail.is_some() || change.shape.is_some() {
            state.pins.clear();
        }
        state.shape = change.shape.unwrap_or(state.shape);
        self.draw(state);
        self.tell();
        Ok(())
    }

    /// Draws equivalent states as one.
    fn reduce(self: &Arc<Self>, name: &str) -> Result<(), CantChange> {
        let known = RELATIONS.into_iter().find(|relation| relation.name() == name);
        let relation = known.ok_or_else(|| CantChange::NoRelation(name.to_owned()))?;
        let opened = self.lock().opened.clone().ok_or(CantChange::NotOpen)?;
        // That may take a while, in which pages go on asking.
        let reduction = Reduction::new(&opened.picture, relation).ok_or(CantChange::Irreducible)?;
        let mut state = self.lock();
        if !state.opened.as_ref().is_some_and(|now| Arc::ptr_eq(now, &opened)) {
            return Err(CantChange::NotOpen);
        }
        state.reduction = Some(reduction);
        state.detail = Detail::Reduced;
        state.pins.clear();
        self.draw(state);
        self.tell();
        Ok(())
    }

    /// Puts a node somewhere. Nothing else moves until the scene is laid out again.
    fn pin(&self, mut state: MutexGuard<'_, State>, pin: Pin) -> Result<(), CantChange> {
        let place = state.scene.nodes.iter().position(|&node| node == pin.node);
        let near = pin.at.iter().all(|value| value.abs() < FARTHEST);
        let place = place.filter(|_| near).ok_or(CantChange::NoPlace)?;
        state.pins.insert(pin.node, pin.at);
        let mut positions = Vec::clone(&state.positions);
        positions[place] = pin.at;
        state.positions = Arc::new(positions);
        drop(state);
        self.tell();
        Ok(())
    }

    /// Makes the scene and starts its layout. Nodes that were on the scene before start where they were.
    fn draw(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let (Some(opened), Some(regions)) = (state.opened.clone(), state.regions.as_ref()) else { return };
        let reduction = state.reduction.as_ref();
        let regions = reduction.map_or(regions, |reduction| &reduction.regions);
        let scene = Arc::new(Scene::new(&opened.picture, regions, state.detail, reduction));
        let mut layout = Layout::new(&scene.graph(), state.shape, SEED);
        if state.shape == Shape::Force && state.drawn_from == state.generation {
            layout.resume(&scene.before(&state.scene, &state.positions, &opened.picture));
        }
        layout.pin(state.pinned(&scene));
        state.drawn_from = state.generation;
        let version = self.current.fetch_add(1, SeqCst) + 1;
        state.positions = Arc::new(layout.for_reader());
        state.scene = scene;
        state.settled = false;
        drop(state);
        let project = Arc::clone(self);
        tokio::task::spawn_blocking(move || project.settle(layout, version));
    }

    /// Lets a layout come to rest, and tells of it on the way.
    fn settle(&self, mut layout: Layout, version: u32) {
        let mut told = Instant::now();
        loop {
            layout.advance();
            let settled = layout.is_settled();
            if self.current.load(SeqCst) != version {
                return;
            }
            if settled || told.elapsed() > BEAT {
                told = Instant::now();
                let mut positions = layout.for_reader();
                let mut state = self.lock();
                if self.current.load(SeqCst) != version {
                    return;
                }
                // What was put somewhere in the meantime.
                let pinned = state.pinned(&state.scene);
                pinned.into_iter().for_each(|(node, place)| positions[node] = place);
                state.positions = Arc::new(positions);
                state.settled = settled;
                drop(state);
                self.tell();
            }
            if settled {
                return;
            }
        }
    }

    /// What there is to know now.
    pub fn status(&self) -> Status {
        self.status_of(&self.lock())
    }

    fn status_of(&self, state: &State) -> Status {
        Status {
            running: state.running,
            stage: state.stage,
            done: state.progress.done(),
            total: state.progress.total(),
            failure: state.failure.clone(),
            attempt: state.attempt,
            generation: state.generation,
            scene: self.current.load(SeqCst),
            settled: state.settled,
            detail: state.detail,
            relation: state.reduction.as_ref().map(|reduction| reduction.relation.name()),
            pins: state.pins.len(),
            shape: state.shape,
            conformance: state.conformance,
        }
    }

    /// What there is to see now.
    pub fn view(&self) -> View {
        let state = self.lock();
        View {
            status: self.status_of(&state),
            request: Arc::clone(&state.request),
            opened: state.opened.clone(),
            scene: Arc::clone(&state.scene),
            positions: Arc::clone(&state.positions),
        }
    }

    /// Hears of every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not take the page down: the state is only ever replaced as a whole.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
