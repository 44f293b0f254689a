//! The pages: each file has the handlers of a page and the types of its template, which is stored beside it.

pub mod ask;
pub mod change;
mod connect;
pub mod double;
mod family_drawing;
pub mod home;
pub mod keyspaces;
pub mod live;
pub mod login;
pub mod model;
pub mod request_log;
pub mod rows;
pub mod status;
pub mod verification;
