//! Who may ask: the page that this program served to this machine's browser, and nobody else.
//!
//! Any page that the user visits can send requests to 127.0.0.1. It does not know the token, its `Origin` is another,
//! and a name that was rebound to 127.0.0.1 shows in `Host`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::server::{MOST_BODY, Refusal};

/// The header that carries the token; the query parameter `token` does as well.
pub const TOKEN_HEADER: &str = "x-watershed-token";

/// What a request must have.
pub struct Guard {
    /// The secret of this run.
    pub token: String,
    /// The port.
    pub port: u16,
}

impl Guard {
    /// A guard with a fresh token.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), port })
    }

    fn hosts(&self) -> [String; 2] {
        [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)]
    }

    fn refuse(&self, headers: &HeaderMap, query: Option<&str>) -> Option<&'static str> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let hosts = self.hosts();
        let host = text(header::HOST.as_str()).unwrap_or_default();
        if !hosts.iter().any(|known| known == host) {
            return Some("this address is not the one that the program printed");
        }
        if let Some(origin) = text(header::ORIGIN.as_str())
            && !hosts.iter().any(|known| origin.strip_prefix("http://") == Some(known))
        {
            return Some("requests from other pages are refused");
        }
        let given = text(TOKEN_HEADER)
            .or_else(|| query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token=")));
        match given.is_some_and(|given| equal(given.as_bytes(), self.token.as_bytes())) {
            true => None,
            false => Some("open the address that the program printed: it ends with a token"),
        }
    }
}

/// Compares without telling by its duration where the difference is.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Lets a request pass, or refuses it.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    match guard.refuse(request.headers(), request.uri().query()) {
        // Not worth waiting for.
        None if length > MOST_BODY as u64 => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        None => next.run(request).await,
        Some(why) if request.uri().path().starts_with("/api/") => {
            Refusal::new(StatusCode::FORBIDDEN, why).into_response()
        }
        Some(why) => {
            let page =
                format!("<!doctype html><meta charset=\"utf-8\"><title>Watershed Studio</title><p>{why}</p>");
            (StatusCode::FORBIDDEN, Html(page)).into_response()
        }
    }
}
