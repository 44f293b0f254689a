//! The differences between releases, as tables: [`rules`], [`texts`] and [`features`].
//!
//! `rules` has a row for each rule, `texts` for each message, and `features` for each feature. Other code
//! asks for a rule by its name and does not compare releases (`tests/project/layers/releases.rs` counts the
//! exceptions).

mod behaviour;
pub mod features;
mod line;
pub mod rules;
mod span;
pub mod texts;

pub use behaviour::Behaviour;
pub use line::Line;
pub use span::{Eras, Span, before, only, since};
