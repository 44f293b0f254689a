//! Styles and scripts. They are compiled into the program.

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::failure::{AdminError, Result};
use base::util::hex;

const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The files: name, content type, content.
const FILES: [(&str, &str, &str); 17] = [
    ("style.css", CSS, include_str!("static/style.css")),
    ("icon.svg", SVG, include_str!("static/icon.svg")),
    ("home.css", CSS, include_str!("static/home.css")),
    ("live.css", CSS, include_str!("static/live.css")),
    ("live.js", JAVASCRIPT, include_str!("static/live.js")),
    ("double.css", CSS, include_str!("static/double.css")),
    ("ask.css", CSS, include_str!("static/ask.css")),
    ("ask.js", JAVASCRIPT, include_str!("static/ask.js")),
    ("charts.css", CSS, include_str!("static/charts.css")),
    ("charts.js", JAVASCRIPT, include_str!("static/charts.js")),
    ("results.js", JAVASCRIPT, include_str!("static/results.js")),
    ("choices.js", JAVASCRIPT, include_str!("static/choices.js")),
    ("console.js", JAVASCRIPT, include_str!("static/console.js")),
    ("rows.css", CSS, include_str!("static/rows.css")),
    ("rows.js", JAVASCRIPT, include_str!("static/rows.js")),
    ("model.css", CSS, include_str!("static/model.css")),
    ("model.js", JAVASCRIPT, include_str!("static/model.js")),
];

/// Answers `GET /static/{name}`. A browser keeps the file and asks each time whether it has changed.
pub(crate) async fn answer(Path(name): Path<String>, headers: HeaderMap) -> Result<Response> {
    let file = FILES.iter().find(|(other, ..)| *other == name);
    let (_, kind, content) = file.ok_or_else(|| AdminError::not_found("there is no such file"))?;
    let tag = tag_of(content);
    let common = [(header::CACHE_CONTROL, "no-cache".to_owned()), (header::ETAG, tag.clone())];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    Ok((common, [(header::CONTENT_TYPE, *kind)], *content).into_response())
}

/// Returns the entity tag of a file.
fn tag_of(content: &str) -> String {
    let hash = Sha256::digest(content.as_bytes());
    format!("\"{}\"", hex(&hash[..8]))
}
