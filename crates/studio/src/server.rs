//! The server: routes, their answers and their errors. Everything that takes time runs elsewhere.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::json;
use source::{Diagnostic, Sources};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::answers::{self, Among, NoAnswer, Texts, Wanted};
use crate::comparison::{self, CantCompare};
use crate::conformance::{Check, NoWalk, Traces};
use crate::connections::{self, Patience};
use crate::coverage::{self, CantCover};
use crate::guard::{self, Guard};
use crate::opening::{Opened, Request, Text};
use crate::project::{CantChange, Change, Project, View};
use crate::scene::{Scene, position_bytes};
use crate::trace::{Walked, trace};
use crate::{embedded, export, gallery};

/// The largest request, in bytes.
pub const MOST_BODY: usize = 8 << 20;
/// The most projects that are open at once; the oldest is closed for another.
const MOST_PROJECTS: usize = 16;

/// How to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The most states of a model.
    pub most_states: usize,
}

/// What is opened with a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// The property.
    pub property: Option<&'a FilePath>,
    /// The process to start, where it is not MAIN.
    pub root: Option<&'a str>,
    /// Folders of imported modules, besides the model's own.
    pub include: &'a [PathBuf],
    /// Suites of examples for the coverage view.
    pub examples: &'a [PathBuf],
    /// Traces of a program for the conformance view.
    pub traces: Option<&'a Traces>,
}

/// Why the page can't be served.
#[derive(Debug, thiserror::Error)]
pub enum CantServe {
    /// The port is taken, or there is no network.
    #[error("can't listen on port {port}: {error}")]
    Listen {
        /// The port.
        port: u16,
        /// What the system says.
        error: std::io::Error,
    },
    /// There is no source of random numbers for the token.
    #[error("can't generate a token: {0}")]
    Random(getrandom::Error),
    /// A suite of examples is wrong.
    #[error("{}", sources.render_all(diagnostics, false))]
    Suite {
        /// What is wrong, where.
        diagnostics: Vec<Diagnostic>,
        /// The suite.
        sources: Sources,
    },
    /// A file can't be read.
    #[error(transparent)]
    Read(#[from] lts::FileError),
}

/// A server that is ready to serve.
pub struct Studio {
    listener: TcpListener,
    shared: Arc<Shared>,
    guard: Arc<Guard>,
    closing: watch::Sender<bool>,
    patience: Patience,
}

/// What all requests share.
struct Shared {
    projects: Mutex<BTreeMap<u32, Arc<Project>>>,
    next: AtomicU32,
    most_states: usize,
    closing: watch::Receiver<bool>,
}

impl Shared {
    fn open(&self, name: String, request: Request) -> u32 {
        let id = self.next.fetch_add(1, SeqCst) + 1;
        let project = Project::open(id, name, request);
        let mut projects = self.lock();
        projects.insert(id, project);
        if projects.len() > MOST_PROJECTS
            && let Some((_, oldest)) = projects.pop_first()
        {
            oldest.close();
        }
        id
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Arc<Project>>> {
        self.projects.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Studio {
    /// Listens on this machine only.
    pub async fn bind(settings: &Settings) -> Result<Self, CantServe> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
        let listen = |error| CantServe::Listen { port: settings.port, error };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let port = listener.local_addr().map_err(listen)?.port();
        let guard = Arc::new(Guard::new(port).map_err(CantServe::Random)?);
        let (closing, hears) = watch::channel(false);
        let shared = Arc::new(Shared {
            projects: Mutex::default(),
            next: AtomicU32::new(0),
            most_states: settings.most_states,
            closing: hears,
        });
        Ok(Self { listener, shared, guard, closing, patience: Patience::default() })
    }

    /// Opens a model from disk. Must be called where tokio runs.
    pub fn open(&self, model: &FilePath, beside: &Beside<'_>) -> Result<(), CantServe> {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let root = beside.root.map(str::to_owned);
        let mut request = Request { root, most_states: self.shared.most_states, ..Request::default() };
        match languages::registry().kind(model) {
            Some(languages::FileKind::System) => request.system = Some(model.to_owned()),
            _ => {
                let text = lts::read_text(model)?;
                request.files = vec![Text { name: model.display().to_string(), text }];
                let folder = model.parent().unwrap_or(FilePath::new(""));
                request.include = vec![folder.to_owned()];
                request.include.extend(beside.include.iter().cloned());
            }
        }
        if let Some(path) = beside.property {
            request.property = Text { name: path.display().to_string(), text: lts::read_text(path)? };
            request.property_path = Some(path.to_owned());
        }
        for suite in beside.examples {
            let mut sources = Sources::new();
            match coverage::read_suite(suite, &mut sources) {
                Ok(members) => request.examples.extend(members),
                Err(diagnostics) => return Err(CantServe::Suite { diagnostics, sources }),
            }
        }
        request.traces = beside.traces.map(|traces| Arc::new(traces.clone()));
        self.shared.open(name, request);
        Ok(())
    }

    /// The address to open, token included.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.guard.port, self.guard.token)
    }

    /// Waits less, or longer, for clients that are slow.
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Serves until `stop` is done.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) {
        let router = router(Arc::clone(&self.shared), self.guard, self.patience);
        let (closing, hears) = (self.closing, self.shared.closing.clone());
        let stopping = async move {
            stop.await;
            // Event streams never end by themselves.
            closing.send_replace(true);
        };
        tokio::join!(stopping, connections::serve(self.listener, router, self.patience, hears));
        self.shared.lock().values().for_each(|project| project.cancel());
    }
}

fn router(shared: Arc<Shared>, guard: Arc<Guard>, patience: Patience) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/api/gallery", get(async || Json(gallery::entries())))
        .route("/api/languages", get(async || Json(gallery::Files::known())))
        .route("/api/projects", get(projects).post(open))
        .route("/api/projects/{id}", get(summary).delete(close))
        .route("/api/projects/{id}/drawing", get(drawing))
        .route("/api/projects/{id}/events", get(events))
        .route("/api/projects/{id}/run", post(run))
        .route("/api/projects/{id}/cancel", post(cancel))
        .route("/api/projects/{id}/scene", get(scene).post(change))
        .route("/api/projects/{id}/positions", get(positions))
        .route("/api/projects/{id}/state/{node}", get(state))
        .route("/api/projects/{id}/edge/{edge}", get(edge))
        .route("/api/projects/{id}/line", get(line))
        .route("/api/projects/{id}/search", get(search))
        .route("/api/projects/{id}/counterexample", post(counterexample))
        .route("/api/projects/{id}/way/{node}", get(way))
        .route("/api/projects/{id}/trace", post(traced))
        .route("/api/projects/{id}/where", get(satisfying))
        .route("/api/projects/{id}/drawn", post(drawn))
        .route("/api/projects/{id}/compare", post(compared))
        .route("/api/projects/{id}/coverage", post(covered))
        .route("/api/projects/{id}/conformance", get(conformance))
        .route("/api/projects/{id}/conformance/{failure}", get(walk))
        .route("/api/projects/{id}/export", post(exported))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing here"))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(middleware::from_fn(move |request, next| connections::whole(patience, request, next)))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .with_state(shared)
}

/// An error for the page.
pub struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    /// A refusal with its reason.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

impl From<CantChange> for Refusal {
    fn from(why: CantChange) -> Self {
        Self::new(StatusCode::CONFLICT, why.to_string())
    }
}

impl From<NoAnswer> for Refusal {
    fn from(why: NoAnswer) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string())
    }
}

impl From<CantCompare> for Refusal {
    fn from(why: CantCompare) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string())
    }
}

impl From<CantCover> for Refusal {
    fn from(why: CantCover) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string())
    }
}

impl From<NoWalk> for Refusal {
    fn from(why: NoWalk) -> Self {
        let status = match why {
            NoWalk::Missing => StatusCode::NOT_FOUND,
            NoWalk::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, why.to_string())
    }
}

type Answer<T> = Result<T, Refusal>;
type Everything = State<Arc<Shared>>;

fn find(shared: &Shared, id: u32) -> Answer<Arc<Project>> {
    let found = shared.lock().get(&id).cloned();
    found.ok_or_else(|| Refusal::new(StatusCode::GONE, "this model is no longer open"))
}

fn opened(project: &Project) -> Answer<(Arc<Opened>, Arc<Scene>)> {
    let view = project.view();
    Ok((view.opened.ok_or(CantChange::NotOpen)?, view.scene))
}

/// Answers on a thread that may take its time.
async fn slowly<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    let failed = |_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "this could not be computed");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

fn missing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is no such state or transition")
}

async fn page() -> Response {
    let page = embedded::page().unwrap_or(embedded::HOW_TO_BUILD);
    let mut nonce = [0u8; 12];
    if getrandom::fill(&mut nonce).is_err() {
        return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "no random numbers are available")
            .into_response();
    }
    let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
    let page =
        page.replacen("<script type=\"module\"", &format!("<script nonce=\"{nonce}\" type=\"module\""), 1);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = Html(page).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // The address holds the token.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn projects(State(shared): Everything) -> Response {
    let list: Vec<serde_json::Value> =
        shared.lock().values().map(|one| json!({ "id": one.id, "name": one.name })).collect();
    Json(list).into_response()
}

/// A model to open: a bundled one, or texts.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Open {
    Gallery(String),
    Texts(Texts),
}

async fn open(State(shared): Everything, Json(wanted): Json<Open>) -> Answer<Response> {
    let (name, request) = match wanted {
        Open::Gallery(name) => {
            let request = gallery::request(&name, shared.most_states).ok_or_else(|| {
                Refusal::new(StatusCode::NOT_FOUND, "there is no bundled model with that name")
            })?;
            (name.rsplit('/').next().unwrap_or_default().to_owned(), request)
        }
        Open::Texts(texts) => {
            let first = texts.files.first();
            let name =
                first.map_or("model", |file| file.name.split('.').next().unwrap_or("model")).to_owned();
            let request = edited(&Request { most_states: shared.most_states, ..Request::default() }, texts);
            (name, request)
        }
    };
    Ok(Json(json!({ "id": shared.open(name, request) })).into_response())
}

/// A request with other texts.
fn edited(request: &Request, texts: Texts) -> Request {
    let blank = |text: &String| text.trim().is_empty();
    Request {
        files: if request.system.is_some() { Vec::new() } else { texts.files },
        property: texts.property,
        chosen: texts.chosen.filter(|text| !blank(text)),
        root: texts.root.filter(|text| !blank(text)),
        ..request.clone()
    }
}

async fn run(State(shared): Everything, Path(id): Path<u32>, Json(texts): Json<Texts>) -> Answer<StatusCode> {
    let project = find(&shared, id)?;
    let request = edited(&project.view().request, texts);
    project.run(Arc::new(request));
    Ok(StatusCode::ACCEPTED)
}

async fn cancel(State(shared): Everything, Path(id): Path<u32>) -> Answer<StatusCode> {
    find(&shared, id)?.cancel();
    Ok(StatusCode::ACCEPTED)
}

async fn close(State(shared): Everything, Path(id): Path<u32>) -> Answer<StatusCode> {
    let project = find(&shared, id)?;
    // First, so that whoever is let go does not find it again.
    shared.lock().remove(&id);
    project.close();
    Ok(StatusCode::NO_CONTENT)
}

async fn summary(State(shared): Everything, Path(id): Path<u32>) -> Answer<Response> {
    let project = find(&shared, id)?;
    slowly(move || Ok(Json(answers::summary(project.id, &project.name, &project.view())).into_response()))
        .await
}

async fn drawing(State(shared): Everything, Path(id): Path<u32>) -> Answer<Response> {
    let (opened, _) = opened(&*find(&shared, id)?)?;
    Ok(Json(opened.subject.board()).into_response())
}

async fn events(
    State(shared): Everything,
    Path(id): Path<u32>,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let project = find(&shared, id)?;
    let watching = project.watch();
    let closing = shared.closing.clone();
    let stream = stream::unfold(
        (project, watching, closing, false),
        |(project, mut watching, mut closing, late)| async move {
            if late {
                let running = project.status().running;
                // Counters of running work change without a word.
                let beat = Duration::from_millis(if running { 200 } else { 60_000 });
                tokio::select! {
                    _ = closing.wait_for(|closing| *closing) => return None,
                    changed = tokio::time::timeout(beat, watching.changed()) => {
                        if matches!(changed, Ok(Err(_))) {
                            return None;
                        }
                    }
                }
            }
            if project.is_closed() {
                return None;
            }
            let event = Event::default().data(serde_json::to_string(&project.status()).unwrap_or_default());
            Some((Ok(event), (project, watching, closing, true)))
        },
    );
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

fn binary(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

async fn scene(State(shared): Everything, Path(id): Path<u32>) -> Answer<Response> {
    let view = find(&shared, id)?.view();
    slowly(move || Ok(binary(view.scene.bytes(view.status.scene)))).await
}

async fn positions(State(shared): Everything, Path(id): Path<u32>) -> Answer<Response> {
    let View { status, positions, .. } = find(&shared, id)?.view();
    Ok(binary(position_bytes(status.scene, status.settled, &positions)))
}

async fn change(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(change): Json<Change>,
) -> Answer<StatusCode> {
    let project = find(&shared, id)?;
    slowly(move || Ok(project.change(&change).map(|()| StatusCode::ACCEPTED)?)).await
}

async fn state(State(shared): Everything, Path((id, node)): Path<(u32, u32)>) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    Ok(Json(answers::state(&opened, &scene, node).ok_or_else(missing)?).into_response())
}

async fn edge(State(shared): Everything, Path((id, edge)): Path<(u32, usize)>) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    Ok(Json(answers::edge(&opened, &scene, edge).ok_or_else(missing)?).into_response())
}

#[derive(Deserialize)]
struct Line {
    file: String,
    line: usize,
    column: Option<usize>,
}

async fn line(
    State(shared): Everything,
    Path(id): Path<u32>,
    Query(wanted): Query<Line>,
) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    slowly(move || {
        let Line { file, line, column } = wanted;
        Ok(Json(answers::line(&opened, &scene, &file, line, column)).into_response())
    })
    .await
}

#[derive(Deserialize)]
struct Search {
    among: Among,
    pattern: String,
}

async fn search(
    State(shared): Everything,
    Path(id): Path<u32>,
    Query(wanted): Query<Search>,
) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    slowly(move || Ok(Json(answers::search(&opened, &scene, wanted.among, &wanted.pattern)?).into_response()))
        .await
}

async fn counterexample(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(wanted): Json<Wanted>,
) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    slowly(move || Ok(Json(answers::counterexample(&opened, &scene, &wanted)?).into_response())).await
}

async fn way(State(shared): Everything, Path((id, node)): Path<(u32, u32)>) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    slowly(move || Ok(Json(answers::way(&opened, &scene, node)?).into_response())).await
}

async fn traced(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(walked): Json<Walked>,
) -> Answer<Response> {
    let (opened, _) = opened(&*find(&shared, id)?)?;
    slowly(move || Ok(Json(trace(&opened, &walked)?).into_response())).await
}

#[derive(Deserialize)]
struct Where {
    condition: String,
}

async fn satisfying(
    State(shared): Everything,
    Path(id): Path<u32>,
    Query(wanted): Query<Where>,
) -> Answer<Response> {
    let (opened, scene) = opened(&*find(&shared, id)?)?;
    slowly(move || Ok(Json(answers::satisfying(&opened, &scene, &wanted.condition)?).into_response())).await
}

async fn drawn(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(edges): Json<Vec<u32>>,
) -> Answer<Response> {
    let (_, scene) = opened(&*find(&shared, id)?)?;
    Ok(Json(answers::drawn(&scene, &edges)).into_response())
}

async fn compared(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(wanted): Json<comparison::Wanted>,
) -> Answer<Response> {
    let left = find(&shared, id)?.view();
    // The page hears of models that it shows; it does not show this one.
    let other_closed = |_| Refusal::new(StatusCode::NOT_FOUND, "the other model is no longer open");
    let right = find(&shared, wanted.with).map_err(other_closed)?.view();
    slowly(move || Ok(Json(comparison::compare(&left, &right, &wanted.relation)?).into_response())).await
}

async fn covered(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(wanted): Json<coverage::Wanted>,
) -> Answer<Response> {
    let project = find(&shared, id)?;
    let (view, progress) = (project.view(), project.cover());
    // What is open, not what was edited in vain.
    let request = view.opened.map_or(view.request, |opened| Arc::clone(&opened.request));
    slowly(move || Ok(Json(coverage::view(&request, &wanted, &progress)?).into_response())).await
}

async fn conformance(State(shared): Everything, Path(id): Path<u32>) -> Answer<Response> {
    let project = find(&shared, id)?;
    slowly(move || Ok(Json(project.conformance().view()).into_response())).await
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    from: usize,
}

async fn walk(
    State(shared): Everything,
    Path((id, failure)): Path<(u32, usize)>,
    Query(Since { from }): Query<Since>,
) -> Answer<Response> {
    let project = find(&shared, id)?;
    slowly(move || {
        let Check::Done(verdict) = project.conformance() else { return Err(NoWalk::Missing.into()) };
        let opened = project.view().opened;
        Ok(Json(verdict.walk(failure, from, opened.as_deref())?).into_response())
    })
    .await
}

/// The page sends how it looks at the model, and finds that again in what is exported.
async fn exported(
    State(shared): Everything,
    Path(id): Path<u32>,
    Json(look): Json<serde_json::Value>,
) -> Answer<Response> {
    let project = find(&shared, id)?;
    let page =
        embedded::page().ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "the page is not built"))?;
    slowly(move || {
        let snapshot = export::snapshot(&project, &look).ok_or(CantChange::NotOpen)?;
        Ok(Html(export::page(page, &snapshot)).into_response())
    })
    .await
}
