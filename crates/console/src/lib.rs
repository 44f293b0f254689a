//! HTTP for people and monitoring: the admin server, with the console's pages, metrics, and the control API of a server
//! for tests, and the status port.
//!
//! ```text
//!   admin_service     the port: time limits
//!     routes          paths and handlers, in two routers: for everybody, and for visitors
//!       headers       security headers of each reply
//!       guard         who asks (Visitor); forged requests of other web pages are refused
//!         pages/      each page: its handler, its template, its types
//!           present/  how pages show keys, names, values and cells
//!         metrics/    what the server counts, for Prometheus
//!         control     the control API below /control
//!   StatusPage        the status page, and the status port, which has only that
//! ```
//!
//! A request goes through these steps in this order. A handler of a page runs only after the guard, and gets the
//! visitor with the rights to check:
//!
//! ```text
//!   request with                                     visitor             a change needs
//!   Authorization: Bearer TOKEN                      the operator        no Origin of another page
//!   the cookie of a session, after /login            the session's user  the same, and the session's CSRF token
//!   nothing, on a server without token and logins    the operator        the same, and the cookie's CSRF token
//!   nothing, otherwise                               none: 401, or the login page
//! ```
//!
//! Pages load nothing from other addresses, and their content security policy forbids it.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod access;
mod census;
mod change_log;
mod choices;
mod console_requests;
mod control;
mod csrf;
mod extract;
mod failure;
mod guard;
mod headers;
pub mod limits;
pub mod metrics;
mod model;
mod page;
mod pages;
mod present;
mod routes;
mod seen_schema;
mod served;
mod service;
mod session;
mod side_bar;
mod state;
mod static_files;
mod status_page;
mod visitor;

pub use access::AdminAccess;
pub use console_requests::ConsoleSettings;
pub use served::Served;
pub use service::{ADMIN_TIMES, admin_service};
pub use state::{AdminParts, AdminState};
pub use status_page::StatusPage;
