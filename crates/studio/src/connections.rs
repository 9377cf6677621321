//! Connections: who has opened one must say what he wants soon. A connection that sends nothing, or a request drop by
//! drop, is closed; one whose request was answered may wait for the next one as long.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::server::{MOST_BODY, Refusal};

/// How long a client may take for something.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the head of a request, and between two requests.
    pub head: Duration,
    /// For the body of a request.
    pub body: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { head: Duration::from_secs(15), body: Duration::from_secs(30) }
    }
}

/// Serves until `closing` says so, and the connections that are open a second longer.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    patience: Patience,
    mut closing: watch::Receiver<bool>,
) {
    // Every connection has a sender: when all are gone, so are they.
    let (open, mut all_closed) = mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (router, open, closing) = (router.clone(), open.clone(), closing.clone());
                tokio::spawn(async move {
                    connection(stream, router, patience, closing).await;
                    drop(open);
                });
            }
            // There may be too many files open: others will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    drop(open);
    // A browser that keeps its connection open must not keep the program running.
    let _ = tokio::time::timeout(Duration::from_secs(1), all_closed.recv()).await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    patience: Patience,
    mut closing: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        // A client that breaks off is no error of ours.
        _ = serving.as_mut() => return,
        _ = closing.wait_for(|closing| *closing) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

/// Waits for the body of a request, but not for ever.
pub async fn whole(patience: Patience, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(patience.body, axum::body::to_bytes(body, MOST_BODY)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(_)) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => {
            let refusal = Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive");
            let mut response = refusal.into_response();
            // What arrives later is not the next request.
            let close = axum::http::HeaderValue::from_static("close");
            response.headers_mut().insert(axum::http::header::CONNECTION, close);
            response
        }
    }
}
