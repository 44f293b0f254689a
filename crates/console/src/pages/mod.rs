//! The pages: each file has the handlers of a page and the types of its template, which is stored beside it.

pub(crate) mod ask;
pub(crate) mod change;
pub(crate) mod charts;
pub(crate) mod cluster;
mod connect;
pub(crate) mod double;
mod family_drawing;
pub(crate) mod home;
pub(crate) mod keyspaces;
pub(crate) mod live;
pub(crate) mod login;
pub(crate) mod model;
mod questions;
pub(crate) mod request_log;
pub(crate) mod rows;
pub(crate) mod status;
pub(crate) mod verification;
