//! CQL 3 as it is written: from text to statements.

pub fn show_place(_: &str, _: crate::cql::Place) -> String {
    String::new()
}
pub fn parse(_: &str) -> Result<Parsed, crate::cql::CqlError> {
    Err(crate::cql::CqlError::invalid("stub"))
}
mod definition;
mod relation;
mod statement;
mod term;
mod type_name;

pub use definition::{Alter, ColumnDefinition, CreateTable, PrimaryKey, Properties, PropertyValue};
pub use relation::{Condition, Conditions, InValues, Operator, Relation, Test};
pub use statement::{
    AccessStatement, AlterType, Assignment, Batch, BatchKind, Change, CreateIndex, Deletion, IndexTarget,
    Modify, Operation, Parsed, Resource, Select, Selected, Selection, Selector, Statement, TableName,
};
pub use term::{ConstantKind, Term};
pub use type_name::TypeName;
