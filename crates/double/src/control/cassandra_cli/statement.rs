//! The statements of cassandra-cli that change something.

use super::lexer::ScriptPlace;

/// A key, name or value in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CliTerm {
    /// A text, whose type the schema knows.
    Plain(String),
    /// A text of another type: `long(42)`. Without a text it is a new value: `timeuuid()`.
    Typed { function: String, text: Option<String> },
}

/// A row, a super column or a column: `Family[key][name][name]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellPath {
    pub family: String,
    pub key: CliTerm,
    /// At most two.
    pub names: Vec<CliTerm>,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttributeValue {
    Text(String),
    Map(Vec<(String, AttributeValue)>),
    /// A list of maps.
    List(Vec<Vec<(String, AttributeValue)>>),
}

/// An attribute of a keyspace or column family: `comparator = UTF8Type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    pub place: ScriptPlace,
    /// In lower case.
    pub name: String,
    pub value: AttributeValue,
}

/// The part of a column family for which `assume` sets a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assumption {
    Keys,
    Comparator,
    SubComparator,
    Validator,
}

/// A keyspace or column family that is created or updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FamilyDefinition {
    pub name: String,
    pub attributes: Vec<Attribute>,
}

/// A statement with an effect on stored data or the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CliStatement {
    Use(String),
    CreateKeyspace(FamilyDefinition),
    UpdateKeyspace(FamilyDefinition),
    DropKeyspace(String),
    CreateFamily(FamilyDefinition),
    UpdateFamily(FamilyDefinition),
    DropFamily(String),
    DropIndex {
        family: String,
        column: String,
    },
    Set {
        path: CellPath,
        value: CliTerm,
        ttl_s: Option<i32>,
    },
    Add {
        path: CellPath,
        delta: i64,
    },
    Delete(CellPath),
    Truncate(String),
    Assume {
        family: String,
        of: Assumption,
        function: String,
    },
    /// One that only reads or prints, such as `list`.
    Nothing,
}
