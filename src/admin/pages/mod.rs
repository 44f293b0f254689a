//! The pages: each file has the handlers of a page and the types of its template, which is stored beside it.

pub mod home;
pub mod login;
pub mod request_log;
pub mod status;
