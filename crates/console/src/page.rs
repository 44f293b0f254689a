//! The common parts of all pages: the frame around their content, and the conversion into a reply.

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::failure::AdminError;
use super::side_bar::{BarPlace, SideBar};
use super::visitor::Visitor;

/// A link of the navigation.
pub(crate) struct NavLink {
    pub path: &'static str,
    pub name: &'static str,
    /// Its sign: the lines of a drawing of 16 by 16.
    pub sign: &'static str,
}

/// The pages in the navigation, in their order.
pub(crate) const NAVIGATION: [NavLink; 8] = [
    NavLink { path: "/", name: "Home", sign: "M2 7.5 8 2.5l6 5V14h-4v-4H6v4H2Z" },
    NavLink { path: "/keyspaces", name: "Data", sign: "M2 3h12v3.5H2ZM2 9.5h12V13H2ZM6 3v3.5M6 9.5V13" },
    NavLink { path: "/ask", name: "Ask", sign: "M2 3h12v8H7l-3 3v-3H2ZM5 7h6" },
    NavLink {
        path: "/change",
        name: "Change",
        sign: "M2.5 13.5l.8-3.2L11 2.6l2.4 2.4-7.7 7.7ZM9.5 4.1l2.4 2.4",
    },
    NavLink {
        path: "/model",
        name: "Model",
        sign: "M5.5 2h5v3.5h-5ZM1.5 10.5h5V14h-5ZM9.5 10.5h5V14h-5ZM8 5.5V8M4 10.5V8h8v2.5",
    },
    NavLink { path: "/live", name: "Live", sign: "M1.5 9H4l2-5.5L9.5 13l2-6 .9 2h2.1" },
    NavLink {
        path: "/cluster",
        name: "Cluster",
        sign: "M8 2v4M8 6 3.5 12M8 6l4.5 6M6.5 2h3M2 12.5h3M11 12.5h3",
    },
    NavLink { path: "/double", name: "Test double", sign: "M6 2h4M7 2v4L3 13.5h10L9 6V2M5 10h6" },
];

impl NavLink {
    /// Returns whether a visitor may open the page on this server.
    fn is_for(&self, visitor: &Visitor) -> bool {
        match self.path {
            "/change" => visitor.may_change,
            "/cluster" => visitor.is_gateway,
            "/live" => visitor.user.may_everything(),
            "/double" => visitor.has_control && visitor.user.may_everything(),
            _ => true,
        }
    }
}

/// The frame of a page, for `layout.html`. Each template of a page has it as the field `frame`.
pub(crate) struct PageFrame {
    /// The title of the page, in plain text.
    pub title: String,
    /// The path of the page in the navigation, or an empty text.
    pub path: &'static str,
    pub navigation: Vec<&'static NavLink>,
    /// The keyspaces that the visitor sees.
    pub side_bar: SideBar,
    /// The token that forms and scripts send with changes.
    pub csrf: String,
    /// The name of the user who has logged in.
    pub user: Option<String>,
}

impl PageFrame {
    /// Returns the frame of a visitor's page.
    pub(crate) fn new(visitor: &Visitor, path: &'static str, title: impl Into<String>) -> PageFrame {
        PageFrame::at(visitor, path, title.into(), BarPlace::default())
    }

    /// Returns the frame of a page that shows data.
    pub(crate) fn of_data(visitor: &Visitor, title: impl Into<String>, place: BarPlace<'_>) -> PageFrame {
        PageFrame::at(visitor, "/keyspaces", title.into(), place)
    }

    fn at(visitor: &Visitor, path: &'static str, title: String, place: BarPlace<'_>) -> PageFrame {
        PageFrame {
            title,
            path,
            navigation: NAVIGATION.iter().filter(|link| link.is_for(visitor)).collect(),
            side_bar: SideBar::of(&visitor.schema, place),
            csrf: visitor.csrf.clone(),
            user: visitor.session.as_ref().map(|_| visitor.user.name.clone()),
        }
    }

    /// Returns the frame of a page before the login.
    pub(crate) fn before_login(title: impl Into<String>, csrf: String) -> PageFrame {
        let (title, side_bar) = (title.into(), SideBar::default());
        PageFrame { title, path: "", navigation: Vec::new(), side_bar, csrf, user: None }
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
