//! The syntax of CQL 3, and of CQL 2 ([`cql2`]): cuts a text into tokens, and parses them into statements. This crate uses
//! neither the schema nor the database.
//!
//! ```text
//!   SELECT v FROM t WHERE p = 'x'
//!     lexer    SELECT | v | FROM | t | WHERE | p | = | 'x'        Tokens, five bytes each
//!     parser   Statement::Select { table: t, relations: [p = 'x'], .. }
//! ```
//!
//! [`parse_as`] parses a text in the language of a release. It returns a [`Parsed`]: a [`Statement`] with its markers,
//! or a [`SyntaxError`] in the old servers' words. The parts of statements are [`Relation`]s (WHERE), [`Condition`]s (IF)
//! and [`Term`]s (values); names are looked up, and values get their types, in other crates.
//!
//! Recordings, logs and traces use [`contents`] and [`Secrets`] to hide data and passwords in any text. [`statements`]
//! cuts a script into statements, and [`with_timestamp`] adds a timestamp to writes and [`with_times_to_live`] changes their times to live.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod content;
#[cfg(test)]
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
pub mod cql2;
mod definition;
mod describe;
mod display;
mod error;
mod failure;
mod keyword_name;
mod lexer;
pub mod limits;
mod operator_text;
mod parser;
mod place;
mod relation;
mod script;
mod secrets;
mod statement;
mod table_name;
mod target;
mod term;
mod timestamp;
mod token;
mod type_name;

pub use content::{Content, Dialect, Subject, contents};
pub use definition::{Alter, ColumnDefinition, CreateTable, PrimaryKey, Properties, PropertyValue};
pub use describe::{Describe, Described, ElementKind};
pub use error::{Place, Result, SyntaxError};
pub use lexer::tokens_of_any;
pub use operator_text::operator_text;
pub use parser::{Parser, parse, parse_as};
pub use place::{hint, show_place};
pub use relation::{Condition, Conditions, InValues, Operator, Relation, Test};
pub use script::statements;
pub use secrets::{Secrets, without_secrets};
pub use statement::{
    AccessStatement, AlterType, Assignment, Batch, BatchKind, Change, CreateIndex, Deletion, IndexTarget,
    Modify, Operation, Parsed, Part, Resource, RoleOptions, Select, Selected, Selection, Selector, Statement,
};
pub use table_name::TableName;
pub use target::StatementTarget;
pub use term::{ConstantKind, FunctionCall, Term};
pub use timestamp::{BoundMarker, bound_times_to_live, with_times_to_live, with_timestamp};
pub use token::{Token, TokenKind};
pub use type_name::TypeName;
