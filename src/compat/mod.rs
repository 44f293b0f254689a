//! What differs between releases, as tables: [`rules`], [`texts`] and [`features`].
//!
//! A rule of a release is a row in `rules`, a sentence that it says is a row in `texts`, and what it has is a row in
//! `features`. Code asks for a rule by its name; it does not compare releases (`tests/project/layers/releases.rs` counts the
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
