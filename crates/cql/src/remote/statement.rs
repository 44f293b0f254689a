//! Parses statements for a cluster: decides where they are executed, and with which text.

use std::ops::Range;

use crate::{CqlError, Result};
use base::compat::features::releases::NEWEST;
use base::schema::quoted_name;
use cql_syntax::{
    AccessStatement, Parsed, Parser, Relation, Select, Selection, Selector, Statement, StatementTarget, parse,
};

/// A statement, parsed as far as possible: the CQL of today's clusters has more statements than ours.
#[derive(Debug)]
pub(super) struct RemoteStatement {
    /// The text of the client.
    pub text: String,
    pub route: StatementRoute,
    /// The parsed statement; `None` if only the cluster can parse it.
    pub read: Option<Statement>,
    is_definition: bool,
}

#[derive(Debug)]
pub(super) enum StatementRoute {
    LocalStatement(LocalStatement),
    There {
        /// The text with a keyspace before every name.
        sent: String,
        is_paged: bool,
    },
}

/// A statement that concerns only the session or this server.
#[derive(Debug)]
pub(super) enum LocalStatement {
    Use(String),
    Access(AccessStatement),
}

/// The first words of statements about data.
const OF_DATA: [&str; 5] = ["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"];

/// The words that may follow CREATE, ALTER and DROP in a statement that only the cluster can parse. They do not include
/// users and roles.
const FOREIGN: [(&str, &[&str]); 3] = [
    (
        "CREATE",
        &["TABLE", "KEYSPACE", "INDEX", "CUSTOM", "TYPE", "MATERIALIZED", "FUNCTION", "AGGREGATE", "OR"],
    ),
    ("ALTER", &["TABLE", "KEYSPACE", "TYPE", "MATERIALIZED"]),
    ("DROP", &["INDEX", "TYPE", "MATERIALIZED"]),
];

impl RemoteStatement {
    /// Parses a statement of a session with this keyspace.
    pub(super) fn read(text: &str, keyspace: Option<&str>) -> Result<RemoteStatement> {
        let parsed = match parse(text) {
            // Only the cluster has materialized views.
            Ok(Parsed { before_views: Some((message, place)), .. }) => {
                return RemoteStatement::foreign(text, CqlError::Syntax { message, place });
            }
            Ok(parsed) => parsed,
            Err(why) => return RemoteStatement::foreign(text, why.into()),
        };
        let route = match &parsed.statement {
            Statement::Use(name) => StatementRoute::LocalStatement(LocalStatement::Use(name.clone())),
            Statement::Access(statement) => {
                StatementRoute::LocalStatement(LocalStatement::Access(statement.clone()))
            }
            statement => {
                let is_paged = !matches!(statement, Statement::Select(select) if is_whole(select));
                StatementRoute::There { sent: qualified(text, &parsed, keyspace), is_paged }
            }
        };
        let is_definition =
            !matches!(route, StatementRoute::LocalStatement(_)) && begins_as_definition(text)?;
        Ok(RemoteStatement { text: text.to_owned(), route, read: Some(parsed.statement), is_definition })
    }

    /// Returns the client's names of result columns that a cluster names differently, since it adds the system keyspace
    /// to function names. Each name has its column index. Empty unless the result has the expected number of columns.
    pub(super) fn function_names(&self, columns: usize) -> Vec<(usize, String)> {
        let Some(Statement::Select(Select { selection: Selection::Some(selected), is_json: false, .. })) =
            &self.read
        else {
            return Vec::new();
        };
        if selected.len() != columns {
            return Vec::new();
        }
        let mut names = Vec::new();
        for (at, selected) in selected.iter().enumerate() {
            if let Selector::Function { keyspace: None, .. } = &selected.selector
                && selected.alias.is_none()
            {
                names.push((at, selected.selector.to_string()));
            }
        }
        names
    }

    /// Returns whether the statement only reads: SELECT, DESCRIBE and USE.
    pub(super) fn only_reads(&self) -> bool {
        match &self.read {
            Some(read) => matches!(read, Statement::Select(_) | Statement::Describe(_) | Statement::Use(_)),
            None => self.target().kind == "SELECT",
        }
    }

    /// Returns the kind of the statement and the element that it works on; only the first word of a statement that only
    /// the cluster can parse.
    pub(super) fn target(&self) -> StatementTarget {
        let Some(read) = &self.read else {
            let parser = Parser::new(&self.text, NEWEST);
            let mut words = OF_DATA.iter().chain(FOREIGN.iter().map(|(verb, _)| verb));
            let first = parser.ok().and_then(|parser| words.find(|word| parser.is_word(0, word)));
            let kind = first.copied().unwrap_or("OTHER");
            return StatementTarget { kind, ..StatementTarget::default() };
        };
        read.target()
    }

    /// Whether it changes the schema.
    pub(super) fn is_definition(&self) -> bool {
        self.is_definition
    }

    /// Returns a statement that our parser does not know. It is sent to the cluster unchanged if it can only concern
    /// data or the schema; otherwise the error is `why`.
    fn foreign(text: &str, why: CqlError) -> Result<RemoteStatement> {
        let parser = Parser::new(text, NEWEST)?;
        let is_of_data = OF_DATA.iter().any(|word| parser.is_word(0, word));
        let is_definition = FOREIGN
            .iter()
            .any(|(verb, what)| parser.is_word(0, verb) && what.iter().any(|what| parser.is_word(1, what)));
        if !is_of_data && !is_definition {
            return Err(why);
        }
        let route = StatementRoute::There { sent: text.to_owned(), is_paged: true };
        Ok(RemoteStatement { text: text.to_owned(), route, read: None, is_definition })
    }
}

/// Whether the first word begins a schema change.
fn begins_as_definition(text: &str) -> Result<bool> {
    let parser = Parser::new(text, NEWEST)?;
    Ok(FOREIGN.iter().any(|(verb, _)| parser.is_word(0, verb)))
}

/// Whether a cluster refuses to page the SELECT: it sorts rows of several partitions.
fn is_whole(select: &Select) -> bool {
    let mut relations = select.relations.iter();
    !select.order_by.is_empty()
        && relations.any(|of| matches!(of, Relation::In { .. } | Relation::ColumnsIn { .. }))
}

/// Functions that exist in today's clusters only under another name.
const RENAMED: [(&str, &str); 2] = [("dateOf", "toTimestamp"), ("unixTimestampOf", "toUnixTimestamp")];

/// Returns the text with the session's keyspace before every name without one. The cluster's protocol has no keyspace
/// next to the statement, and the connections to it are shared by clients.
fn qualified(text: &str, parsed: &Parsed, keyspace: Option<&str>) -> String {
    let prefix = keyspace.map(|keyspace| format!("{}.", quoted_name(keyspace)));
    let prefixes = parsed.unqualified.iter().filter_map(|at| Some((*at..*at, prefix.as_deref()?)));
    let renamed = parsed.functions.iter().filter_map(|place| {
        let typed = text.get(place.clone())?;
        let (_, name) = RENAMED.iter().find(|(old, _)| old.eq_ignore_ascii_case(typed))?;
        Some((place.clone(), *name))
    });
    let mut edits: Vec<(Range<usize>, &str)> = prefixes.chain(renamed).collect();
    edits.sort_by_key(|(place, _)| place.start);
    let mut sent =
        String::with_capacity(text.len() + edits.iter().map(|(_, with)| with.len()).sum::<usize>());
    let mut from = 0;
    for (place, with) in edits {
        sent.push_str(text.get(from..place.start).unwrap_or_default());
        sent.push_str(with);
        from = place.end;
    }
    sent.push_str(text.get(from..).unwrap_or_default());
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> String {
        match RemoteStatement::read(text, Some("Ks")).unwrap().route {
            StatementRoute::There { sent, .. } => sent,
            StatementRoute::LocalStatement(here) => unreachable!("{here:?}"),
        }
    }

    #[test]
    fn the_session_s_keyspace_is_added_to_names() {
        let cases = [
            ("SELECT a FROM t WHERE k = 't'", "SELECT a FROM \"Ks\".t WHERE k = 't'"),
            ("SELECT a FROM other.t", "SELECT a FROM other.t"),
            ("select a /* ü t */ from \"T\"", "select a /* ü t */ from \"Ks\".\"T\""),
            ("INSERT INTO t (k) VALUES ('é')", "INSERT INTO \"Ks\".t (k) VALUES ('é')"),
            (
                "BEGIN BATCH UPDATE t SET a = 1 WHERE k = 1; DELETE FROM o.t WHERE k = 1; DELETE FROM u WHERE k = 1; \
                 APPLY BATCH;",
                "BEGIN BATCH UPDATE \"Ks\".t SET a = 1 WHERE k = 1; DELETE FROM o.t WHERE k = 1; DELETE FROM \
                 \"Ks\".u WHERE k = 1; APPLY BATCH;",
            ),
            (
                "CREATE TABLE t (k int PRIMARY KEY, a frozen<address>, l list<text>)",
                "CREATE TABLE \"Ks\".t (k int PRIMARY KEY, a frozen<address>, l list<text>)",
            ),
            ("CREATE INDEX i ON t (a)", "CREATE INDEX i ON \"Ks\".t (a)"),
            ("DROP INDEX i", "DROP INDEX \"Ks\".i"),
            ("CREATE TYPE address (zip other)", "CREATE TYPE \"Ks\".address (zip other)"),
            (
                "SELECT dateOf(u), UNIXTIMESTAMPOF(u) FROM t WHERE u > minTimeuuid('dateOf(u)')",
                "SELECT toTimestamp(u), toUnixTimestamp(u) FROM \"Ks\".t WHERE u > minTimeuuid('dateOf(u)')",
            ),
            ("TRUNCATE t", "TRUNCATE \"Ks\".t"),
            ("DESCRIBE TABLE t", "DESCRIBE TABLE \"Ks\".t"),
        ];
        for (text, expected) in cases {
            assert_eq!(sent(text), expected);
        }
        let none = RemoteStatement::read("SELECT a FROM t", None).unwrap();
        assert!(matches!(none.route, StatementRoute::There { sent, .. } if sent == "SELECT a FROM t"));
    }

    #[test]
    fn definitions_are_recognized_by_their_first_word() {
        let is_definition = |text: &str| RemoteStatement::read(text, Some("ks")).unwrap().is_definition();
        for text in [
            "SELECT a FROM t WHERE v ANN OF [1.0] LIMIT 1",
            "INSERT INTO t JSON '{}' DEFAULT UNSET",
            "TRUNCATE t",
            "USE ks",
            "CREATE USER anna",
        ] {
            assert!(!is_definition(text), "{text}");
        }
        for text in [
            "/* x */ drop table t",
            "CREATE INDEX i ON t (a)",
            "ALTER TABLE IF EXISTS t ADD IF NOT EXISTS a int",
        ] {
            assert!(is_definition(text), "{text}");
        }
    }

    #[test]
    fn statements_that_only_the_cluster_can_parse_are_sent_unchanged() {
        for text in [
            "SELECT a FROM t WHERE v ANN OF [1.0] LIMIT 1",
            "CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE k IS NOT NULL PRIMARY KEY (k)",
            "ALTER TABLE IF EXISTS ks.t ADD IF NOT EXISTS a int",
        ] {
            let read = RemoteStatement::read(text, Some("ks")).unwrap();
            let first = text.split(' ').next();
            assert_eq!((Some(read.target().kind), read.only_reads()), (first, first == Some("SELECT")));
            assert!(
                read.read.is_none()
                    && matches!(read.route, StatementRoute::There { sent, .. } if sent == text)
            );
        }
    }

    #[test]
    fn statements_about_sessions_and_users_are_not_sent_to_the_cluster() {
        for text in [
            "USE ks",
            " /* x */ uSe \"Ks\" ;",
            "CREATE USER anna WITH PASSWORD 'a'",
            "GRANT ALL ON KEYSPACE k TO anna",
            "LIST USERS",
        ] {
            let read = RemoteStatement::read(text, None).unwrap();
            assert!(matches!(read.route, StatementRoute::LocalStatement(_)), "{text}");
        }
        for text in [
            "USE 'ks'",
            "USE ks ks",
            "CREATE ROLE r WITH ACCESS TO ALL DATACENTERS",
            "ALTER ROLE r WITH HASHED PASSWORD = 'x'",
            "ADD IDENTITY 'x' TO ROLE 'r'",
            "DROP IDENTITY 'x'",
            "GRANT SELECT, MODIFY ON KEYSPACE k TO r",
            "SELECT a % 2 FROM t",
            "",
            "-- USE ks",
        ] {
            assert!(matches!(RemoteStatement::read(text, None), Err(CqlError::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn several_ordered_partitions_are_not_paged() {
        let is_paged = |text: &str| match RemoteStatement::read(text, None).unwrap().route {
            StatementRoute::There { is_paged, .. } => is_paged,
            StatementRoute::LocalStatement(_) => unreachable!(),
        };
        assert!(!is_paged("SELECT a FROM t WHERE k IN (1, 2) ORDER BY c"));
        assert!(is_paged("SELECT a FROM t WHERE k = 1 ORDER BY c") && is_paged("SELECT a FROM t"));
    }
}
