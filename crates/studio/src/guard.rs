//! Who may ask: the page that this program served to this machine's browser, and nobody else.
//!
//! Any page that the user visits can send requests to 127.0.0.1. It does not know the token, its `Origin` is another,
//! and a name that was rebound to 127.0.0.1 shows in `Host`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::server::{MOST_BODY, Refusal};

/// The header that carries the token; the query parameter `token` does as well.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-watershed-token");

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

    /// Why a request is refused. A header that could be read in two ways, because it stands there twice, is no answer.
    fn refuse(&self, headers: &HeaderMap, uri: &Uri) -> Option<&'static str> {
        let hosts = self.hosts();
        let is_ours = |host: &str| hosts.iter().any(|known| known == host);
        let host = only(headers, &header::HOST);
        // A request may name the host a second time, in its first line.
        let named = uri.authority().map(|authority| authority.as_str());
        if !host.is_ok_and(|host| host.is_some_and(is_ours)) || !named.is_none_or(is_ours) {
            return Some("this address is not the one that the program printed");
        }
        match only(headers, &header::ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if origin.strip_prefix("http://").is_some_and(is_ours) => {}
            _ => return Some("requests from other pages are refused"),
        }
        let asked = uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token="));
        let given = only(headers, &TOKEN_HEADER).ok().and_then(|given| given.or(asked));
        match given.is_some_and(|given| equal(given.as_bytes(), self.token.as_bytes())) {
            true => None,
            false => Some("open the address that the program printed: it ends with a token"),
        }
    }
}

/// The one value of a header, or none; an error where it stands there twice, or is no text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
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
    match guard.refuse(request.headers(), request.uri()) {
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
