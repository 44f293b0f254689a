//! The keyspace and table that a statement works on, for logs: no values, and no names of columns.

use super::{AccessStatement, Change, Modify, Statement, TableName};

/// The kind of a statement, and the table or other element that it works on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementTarget {
    /// The first words: `INSERT`, `CREATE TABLE`.
    pub kind: &'static str,
    /// The keyspace, if the statement names it.
    pub keyspace: Option<String>,
    /// The table, index or type. Of a batch the table of the first statement.
    pub table: Option<String>,
}

impl Statement {
    /// Returns the kind of the statement and the element that it works on.
    pub fn target(&self) -> StatementTarget {
        match self {
            Statement::Select(select) => of_table("SELECT", &select.table),
            Statement::Modify(modify) => of_modify(modify),
            Statement::Batch(batch) => {
                let first = batch.statements.first().map(|first| of_modify(first)).unwrap_or_default();
                StatementTarget { kind: "BATCH", ..first }
            }
            Statement::Use(name) => of_keyspace("USE", name),
            Statement::Truncate(table) => of_table("TRUNCATE", table),
            Statement::CreateKeyspace { name, .. } => of_keyspace("CREATE KEYSPACE", name),
            Statement::AlterKeyspace { name, .. } => of_keyspace("ALTER KEYSPACE", name),
            Statement::DropKeyspace { name, .. } => of_keyspace("DROP KEYSPACE", name),
            Statement::CreateTable(create) => of_table("CREATE TABLE", &create.table),
            Statement::AlterTable { table, .. } => of_table("ALTER TABLE", table),
            Statement::DropTable { table, .. } => of_table("DROP TABLE", table),
            Statement::CreateIndex(create) => of_table("CREATE INDEX", &create.table),
            Statement::DropIndex { name, .. } => of_table("DROP INDEX", name),
            Statement::CreateType { name, .. } => of_table("CREATE TYPE", name),
            Statement::AlterType { name, .. } => of_table("ALTER TYPE", name),
            Statement::DropType { name, .. } => of_table("DROP TYPE", name),
            Statement::Describe(_) => StatementTarget { kind: "DESCRIBE", ..StatementTarget::default() },
            Statement::Access(access) => of_access(access),
            Statement::Refused(what) => StatementTarget { kind: what, ..StatementTarget::default() },
        }
    }
}

fn of_modify(modify: &Modify) -> StatementTarget {
    let kind = match modify.change {
        Change::Insert { .. } | Change::InsertJson { .. } => "INSERT",
        Change::Update { .. } => "UPDATE",
        Change::Delete { .. } => "DELETE",
    };
    of_table(kind, &modify.table)
}

fn of_table(kind: &'static str, table: &TableName) -> StatementTarget {
    StatementTarget { kind, keyspace: table.keyspace.clone(), table: Some(table.name.clone()) }
}

fn of_keyspace(kind: &'static str, name: &str) -> StatementTarget {
    StatementTarget { kind, keyspace: Some(name.to_owned()), table: None }
}

fn of_access(access: &AccessStatement) -> StatementTarget {
    let kind = match access {
        AccessStatement::CreateUser { .. } => "CREATE USER",
        AccessStatement::AlterUser { .. } => "ALTER USER",
        AccessStatement::DropUser { .. } => "DROP USER",
        AccessStatement::ListUsers => "LIST USERS",
        AccessStatement::Grant { .. } | AccessStatement::GrantRole { .. } => "GRANT",
        AccessStatement::Revoke { .. } | AccessStatement::RevokeRole { .. } => "REVOKE",
        AccessStatement::ListPermissions { .. } => "LIST PERMISSIONS",
        AccessStatement::CreateRole { .. } => "CREATE ROLE",
        AccessStatement::AlterRole { .. } => "ALTER ROLE",
        AccessStatement::DropRole { .. } => "DROP ROLE",
        AccessStatement::ListRoles { .. } => "LIST ROLES",
    };
    StatementTarget { kind, ..StatementTarget::default() }
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn statements_have_a_kind_and_a_table() {
        for (text, expected) in [
            ("INSERT INTO t (a) VALUES (1)", ("INSERT", None, Some("t"))),
            ("DELETE FROM k.\"T\" WHERE a = 1", ("DELETE", Some("k"), Some("T"))),
            ("BEGIN BATCH UPDATE k.t SET a = 1 WHERE b = 2 APPLY BATCH", ("BATCH", Some("k"), Some("t"))),
            ("DROP KEYSPACE k", ("DROP KEYSPACE", Some("k"), None)),
            ("CREATE INDEX ON t (a)", ("CREATE INDEX", None, Some("t"))),
            ("CREATE USER u WITH PASSWORD 'p'", ("CREATE USER", None, None)),
        ] {
            let target = parse(text).unwrap().statement.target();
            let found = (target.kind, target.keyspace.as_deref(), target.table.as_deref());
            assert_eq!(found, expected, "{text}");
        }
    }
}
