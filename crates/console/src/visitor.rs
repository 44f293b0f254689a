//! The user who sends a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::seen_schema::SeenSchema;
use super::session::SessionId;
use crate::failure::{AdminError, Result};
use db::User;
use web::HttpConnection;

/// The sender of a request that the guard has let in. A handler with a parameter of this type checks the user's rights.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The user: of a session, or the operator. Each page checks what the user may see.
    pub user: User,
    /// The token that forms and scripts of the page send with changes.
    pub csrf: String,
    /// The session; `None` if nobody has logged in.
    pub session: Option<SessionId>,
    /// Whether the server lets visitors change data. Their rights are checked besides.
    pub may_change: bool,
    /// Whether the server has a control API.
    pub has_control: bool,
    /// Whether a cluster stores the rows.
    pub is_gateway: bool,
    /// The keyspaces and column families that the user sees.
    pub(crate) schema: Arc<SeenSchema>,
    pub connection: HttpConnection,
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = AdminError;

    /// Returns the visitor. A route that is not behind the guard has none, and its handler does not run.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        visitor.ok_or_else(|| {
            AdminError::internal("this path is not protected, which is an error of the server")
        })
    }
}
