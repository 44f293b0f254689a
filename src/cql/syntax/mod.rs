//! The syntax of CQL 3: parses text into statements.

mod definition;
mod describe;
mod display;
mod failure;
mod keywords;
pub(super) mod lexer;
mod operator_text;
mod parser;
mod place;
mod relation;
mod statement;
mod target;
mod term;
pub(super) mod token;
mod type_name;

pub use definition::{Alter, ColumnDefinition, CreateTable, PrimaryKey, Properties, PropertyValue};
pub use describe::{Describe, Described, ElementKind};
pub use keywords::is_reserved;
pub use lexer::tokens;
pub use operator_text::operator_text;
pub(super) use parser::Parser;
pub use parser::{parse, parse_as};
pub use place::{hint, show_place};
pub use relation::{Condition, Conditions, InValues, Operator, Relation, Test};
pub use statement::{
    AccessStatement, AlterType, Assignment, Batch, BatchKind, Change, CreateIndex, Deletion, IndexTarget,
    Modify, Operation, Parsed, Part, Resource, RoleOptions, Select, Selected, Selection, Selector, Statement,
    TableName,
};
pub use target::StatementTarget;
pub use term::{ConstantKind, Term};
pub use token::{Token, TokenKind};
pub use type_name::TypeName;
