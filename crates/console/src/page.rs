//! The common parts of all pages: the frame around their content, and the conversion into a reply.

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::failure::AdminError;
use super::visitor::Visitor;

/// A link of the navigation.
pub(crate) struct NavLink {
    pub path: &'static str,
    pub name: &'static str,
}

/// The pages in the navigation, in their order.
pub(crate) const NAVIGATION: [NavLink; 7] = [
    NavLink { path: "/", name: "Home" },
    NavLink { path: "/keyspaces", name: "Data" },
    NavLink { path: "/ask", name: "Ask" },
    NavLink { path: "/change", name: "Change" },
    NavLink { path: "/model", name: "Model" },
    NavLink { path: "/live", name: "Live" },
    NavLink { path: "/double", name: "Test double" },
];

impl NavLink {
    /// Returns whether a visitor may open the page on this server.
    fn is_for(&self, visitor: &Visitor) -> bool {
        match self.path {
            "/change" => visitor.may_change,
            "/live" => visitor.user.may_everything(),
            "/double" => visitor.has_control && visitor.user.may_everything(),
            _ => true,
        }
    }
}

/// The frame of a page, for `layout.html`. Each template of a page has it as the field `frame`.
pub(crate) struct Frame {
    /// The title of the page, in plain text.
    pub title: String,
    /// The path of the page in the navigation, or an empty text.
    pub path: &'static str,
    pub navigation: Vec<&'static NavLink>,
    /// The token that forms and scripts send with changes.
    pub csrf: String,
    /// The name of the user who has logged in.
    pub user: Option<String>,
}

impl Frame {
    /// Returns the frame of a visitor's page.
    pub(crate) fn new(visitor: &Visitor, path: &'static str, title: impl Into<String>) -> Frame {
        let user = visitor.session.as_ref().map(|_| visitor.user.name.clone());
        let navigation = NAVIGATION.iter().filter(|link| link.is_for(visitor)).collect();
        Frame { title: title.into(), path, navigation, csrf: visitor.csrf.clone(), user }
    }

    /// Returns the frame of a page before the login.
    pub(crate) fn before_login(title: impl Into<String>, csrf: String) -> Frame {
        Frame { title: title.into(), path: "", navigation: Vec::new(), csrf, user: None }
    }
}

/// Returns a page as a reply with the status of a failure that it shows.
pub(crate) fn page_with(template: &impl Template, failure: Option<StatusCode>) -> Response {
    let mut reply = page(template);
    if let Some(status) = failure.filter(|_| reply.status() == StatusCode::OK) {
        *reply.status_mut() = status;
    }
    reply
}

/// Returns a page as a reply.
pub(crate) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => AdminError::internal(format!("the page could not be made: {error}")).into_response(),
    }
}
