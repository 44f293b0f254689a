//! CQL 2, the language of Cassandra 0.8 to 2.1. Its statements have the tokens of CQL 3, and a grammar of their own.

mod parser;
mod statement;

pub use parser::parse;
pub use statement::{
    Alter2, Change2, Changes2, Columns2, Command2, Comparison2, CreateTable2, NewValue2, Relation2, Select2,
    Statement2, Term2, Using2,
};
