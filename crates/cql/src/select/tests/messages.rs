//! Error messages, in the words of the old servers.

use super::*;

const FILTER: &str = super::super::messages::NEEDS_FILTERING;

/// Messages about relations and keys.
const OF_KEYS: &[(&str, &str)] = &[
    ("SELECT * FROM t WHERE k = 1", "Partition key part k2 must be restricted since preceding part is"),
    (
        "SELECT * FROM t WHERE k2 = 1",
        "Partitioning column \"k2\" cannot be restricted because the preceding column (\"ColumnDefinition{name=k, \
         type=org.apache.cassandra.db.marshal.Int32Type, kind=PARTITION_KEY, componentIndex=0, indexName=null, \
         indexType=null}\") is either not restricted or is restricted by a non-EQ relation",
    ),
    (
        "SELECT * FROM t WHERE k > 1",
        "Only EQ and IN relation are supported on the partition key (unless you use the token() function)",
    ),
    (
        "SELECT * FROM t WHERE k IN (1, 2) AND k2 = 1",
        "Partition KEY part k cannot be restricted by IN relation (only the last part of the partition key can)",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND b = 1",
        "PRIMARY KEY column \"b\" cannot be restricted (preceding column \"a\" is not restricted)",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a > 1 AND b = 1",
        "PRIMARY KEY column \"b\" cannot be restricted (preceding column \"a\" is restricted by a non-EQ relation)",
    ),
    (
        "SELECT a FROM t WHERE k = 1 AND k2 = 1 AND a IN (1, 2) AND b = 1",
        "Clustering column \"a\" cannot be restricted by an IN relation",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a = 1 AND b = 1 AND c IN (1, 2)",
        "Cannot restrict column \"c\" by IN relation as a collection is selected by the query",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (a, c) > (1, 2)",
        "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: (a, c) > (1, 2)",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (a, c) IN ((1, 2), (3, 4))",
        "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: (a, c) IN ((1, 2), (3, 4))",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (a, b) > (1, 2, 3)",
        "Expected 2 elements in value tuple, but got 3: (1, 2, 3)",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND (k2, a) = (1, 2)",
        "Multi-column relations can only be applied to clustering columns: k2",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a = 1 AND (b, c) > (0, 0) AND (c) < (5)",
        "Column \"c\" cannot be restricted by two inequalities not starting with the same column: (c) < (5)",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND (b) > (0) AND (a, b) < (5, 5)",
        "Column \"b\" cannot be restricted by two inequalities not starting with the same column: \
         (a, b) < (5, 5)",
    ),
    ("SELECT * FROM t WHERE k != 1", "Unsupported \"!=\" relation on column \"k\""),
    ("SELECT * FROM t WHERE (a) != (1)", "Unsupported \"!=\" relation: (a) != (1)"),
    (
        "SELECT * FROM t WHERE token(k) > 1",
        "The token() function must be applied to all partition key components or none of them",
    ),
    (
        "SELECT * FROM t WHERE token(k2, k) > 1",
        "The token function arguments must be in the partition key order: \
         ColumnDefinition{name=k, type=org.apache.cassandra.db.marshal.Int32Type, kind=PARTITION_KEY, componentIndex=0, \
         indexName=null, indexType=null},\
         ColumnDefinition{name=k2, type=org.apache.cassandra.db.marshal.Int32Type, kind=PARTITION_KEY, componentIndex=1, \
         indexName=null, indexType=null}",
    ),
    (
        "SELECT * FROM t WHERE token(k, k2) > 1 AND token(k2, k) < 5 AND nosuch = 1",
        "Undefined name nosuch in where clause ('nosuch = 1')",
    ),
    (
        "SELECT * FROM t WHERE token(k, nosuch) > 1",
        "Undefined name nosuch in where clause ('token(nosuch) > 1')",
    ),
    (
        "SELECT * FROM t WHERE token(k, k2) > 1 AND k = 3",
        "k cannot be restricted by more than one relation if it includes an Equal",
    ),
    (
        "SELECT * FROM t WHERE k = 3 AND token(k, k2) > 1",
        "Column \"k\" cannot be restricted by both an equality and an inequality relation",
    ),
    (
        "SELECT * FROM t WHERE token(k, k2) > 1 AND k < 3",
        "Only EQ and IN relation are supported on the partition key (unless you use the token() function)",
    ),
    ("SELECT * FROM t WHERE token(k, k2) != 1", "Unsupported \"!=\" relation on column \"k\""),
    ("SELECT * FROM t WHERE token(k, k) > 1", "More than one restriction was found for the start bound on k"),
    (
        "SELECT * FROM t WHERE k = 1 AND k = 2",
        "k cannot be restricted by more than one relation if it includes an Equal",
    ),
    (
        "SELECT * FROM t WHERE k = 1 AND k2 = 1 AND a > 1 AND a > 2",
        "More than one restriction was found for the start bound on a",
    ),
];

/// Messages about indexes and ORDER BY.
const OF_INDEXES: &[(&str, &str)] = &[
    (
        "SELECT * FROM t WHERE w = 1",
        "No secondary indexes on the restricted columns support the provided operators: ",
    ),
    (
        "SELECT * FROM t WHERE v IN (1, 2)",
        "IN predicates on non-primary-key columns (v) is not yet supported",
    ),
    ("SELECT * FROM t WHERE a = 1", FILTER),
    ("SELECT * FROM i WHERE v = 1 AND w = 2", FILTER),
    ("SELECT * FROM i WHERE v = 1 AND c = 2 AND w = 2", FILTER),
    (
        "SELECT * FROM i WHERE v > 1",
        "No secondary indexes on the restricted columns support the provided operators: 'v > <value>'",
    ),
    (
        "SELECT * FROM i WHERE v = 1 AND k IN (1, 2)",
        "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
    ),
    ("SELECT * FROM i WHERE v = 1 ORDER BY c", "ORDER BY with 2ndary indexes is not supported."),
    (
        "SELECT * FROM o ORDER BY a",
        "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
    ),
    ("SELECT * FROM o WHERE k = 1 ORDER BY nosuch", "Order by on unknown column nosuch"),
    (
        "SELECT * FROM o WHERE k = 1 ORDER BY v",
        "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got v",
    ),
    (
        "SELECT * FROM o WHERE k = 1 ORDER BY b",
        "Order by currently only support the ordering of columns following their declared order in the PRIMARY KEY",
    ),
    ("SELECT * FROM o WHERE k = 1 ORDER BY a ASC, b ASC", "Unsupported order by relation"),
];

/// Messages about selections and values.
const OF_SELECTIONS: &[(&str, &str)] = &[
    ("SELECT * FROM o WHERE k = 1 LIMIT 0", "LIMIT must be strictly positive"),
    (
        "SELECT DISTINCT v FROM o",
        "SELECT DISTINCT queries must only request partition key columns and/or static columns (not v)",
    ),
    (
        "SELECT DISTINCT k FROM t",
        "SELECT DISTINCT queries must request all the partition key columns (missing k2)",
    ),
    ("SELECT writetime(k) FROM t", "Cannot use selection function writeTime on PRIMARY KEY part k"),
    ("SELECT ttl(m) FROM t", "Cannot use selection function ttl on collections"),
    ("SELECT nosuch FROM t", "Undefined name nosuch in selection clause"),
    ("SELECT * FROM t WHERE nosuch = 'a'", "Undefined name nosuch in where clause ('nosuch = 'a'')"),
    ("SELECT v AS x FROM t WHERE x = 1", "Aliases aren't allowed in the where clause ('x = 1')"),
    ("SELECT nosuch(v) FROM t", "Unknown function 'nosuch'"),
    (
        "SELECT s FROM st WHERE k = 1 AND c = 1",
        "Cannot restrict clustering columns when selecting only static columns",
    ),
    (
        "SELECT * FROM d WHERE v = 1",
        "Predicates on the non-primary-key column (v) of a COMPACT table are not yet supported",
    ),
    (
        "SELECT * FROM d WHERE c < 9 AND c > 1 LIMIT 5 ALLOW FILTERING",
        "The query requests a restriction of rows with a strict bound (c < 9) over a range of partitions. This is not \
         supported by the underlying storage engine for COMPACT tables if a LIMIT is provided. Please either make the \
         condition non strict (c <= 9) or remove the user LIMIT",
    ),
    ("SELECT * FROM d WHERE c >= 1 LIMIT 5 ALLOW FILTERING", ""),
    ("SELECT * FROM d WHERE k = 1 AND c > 1 LIMIT 5", ""),
    ("SELECT * FROM o WHERE k = null", "Invalid null value for partition key part k"),
    ("SELECT * FROM o WHERE k = 1 AND a = null", "Invalid null value in condition for column a"),
    (
        "SELECT * FROM o WHERE k = 1 AND a = 1 AND b = 1 AND c IN (1, null)",
        "Invalid null value in condition for column c",
    ),
    ("SELECT * FROM o WHERE k = 1 AND a > null", "Invalid null clustering key part SLICE(> null, < null)"),
    (
        "SELECT * FROM o WHERE k = 1 AND a <= null AND a >= 7",
        "Invalid null clustering key part SLICE(>= 00000007, <= null)",
    ),
    ("SELECT * FROM o WHERE k = 1 AND (a, b) > (1, null)", "Invalid null value in condition for column b"),
    ("SELECT * FROM d WHERE k = 1 AND c IN (null)", "Invalid null value for clustering key part c"),
    ("SELECT * FROM d2 WHERE k = 1 AND (a, b) = (1, null)", "Invalid null value for clustering key part a"),
    ("SELECT * FROM d2 WHERE k = 1 AND a = null", "Invalid null value in condition for column a"),
    (
        "SELECT * FROM o WHERE token(k) > 9223372036854775808",
        "unable to make long from '9223372036854775808'",
    ),
    ("SELECT * FROM nosuch", "unconfigured columnfamily nosuch"),
];

#[tokio::test]
async fn errors_of_select_have_the_texts_of_old_servers() {
    let session = with_tables().await;
    for (text, message) in [OF_KEYS, OF_INDEXES, OF_SELECTIONS].concat() {
        assert_eq!(session.ask(text).await, message, "{text}");
    }
}

#[tokio::test]
async fn a_later_reported_version_has_the_texts_of_that_release() {
    let session = Session { reported: Some(ReportedVersion::default()), ..with_tables().await };
    for (text, message) in [
        (
            "SELECT * FROM t WHERE k = 1 AND (k2, a) = (1, 2)",
            "Multi-column relations can only be applied to clustering columns but was applied to: k2",
        ),
        ("SELECT * FROM t WHERE k != 1", "Unsupported \"!=\" relation: k != 1"),
        (
            "SELECT * FROM t WHERE token(k2, k) > 1",
            "The token function arguments must be in the partition key order: k, k2",
        ),
        ("SELECT * FROM d WHERE c > 1 LIMIT 5 ALLOW FILTERING", ""),
    ] {
        assert_eq!(session.ask(text).await, message, "{text}");
    }
}

#[tokio::test]
async fn errors_of_1_2_have_their_own_texts() {
    let session = Session { release: Release::V1_2, ..with_tables().await };
    for (text, message) in [
        (
            "SELECT * FROM o WHERE k = 1 AND b = 1",
            "PRIMARY KEY part b cannot be restricted (preceding part a is either not restricted or by a non-EQ relation)",
        ),
        (
            "SELECT * FROM o WHERE v = 1",
            "No indexed columns present in by-columns clause with Equal operator",
        ),
        ("SELECT * FROM o WHERE nosuch = 1", "Undefined name nosuch in where clause ('nosuch EQ 1')"),
    ] {
        assert_eq!(session.ask(text).await, message, "{text}");
    }
}

#[tokio::test]
async fn the_number_of_columns_of_a_result_is_limited() {
    let session = with_tables().await;
    session.done("INSERT INTO o (k, a, b, c, v) VALUES (1, 2, 3, 4, 5)").await;
    let select = |count: usize| format!("SELECT {} FROM o", vec!["v"; count].join(","));
    let why = session.ask(&select(10_001)).await;
    assert!(why.starts_with("The statement selects 10001 columns, and at most 10000 are allowed"), "{why}");
    let rows = session.rows(&select(10_000), &options()).await;
    assert_eq!((rows.columns.len(), rows.rows[0].len()), (10_000, 10_000));
    let fields: Vec<String> = (0..1_000).map(|number| format!("f{number} text")).collect();
    session.done(&format!("CREATE TYPE large ({})", fields.join(","))).await;
    session.done("CREATE TABLE l (k int PRIMARY KEY, v frozen<large>)").await;
    let why = session.ask(&format!("SELECT {} FROM l", vec!["v"; 100].join(","))).await;
    assert!(why.contains("have more than 4194304 bytes together"), "{why}");
}

#[tokio::test]
async fn the_number_of_combinations_of_in_relations_is_limited() {
    let session = Session { reported: Some(ReportedVersion::default()), ..with_tables().await };
    let values = |count: usize| (0..count).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let some = values(256);
    for text in [
        format!("SELECT v FROM o WHERE k = 1 AND a IN ({some}) AND b IN ({some}) AND c = 1"),
        format!("UPDATE o SET v = 1 WHERE k IN ({some}) AND a = 1 AND b = 1 AND c IN ({some})"),
        format!("DELETE FROM o WHERE k = 1 AND a IN ({some}) AND b IN ({some})"),
    ] {
        let refused = session.ask(&text).await;
        assert!(refused.contains("256 x 256 combinations of values, the limit is 65535"), "{refused}");
    }
    let (most, many) = (values(65_535), values(65_536));
    for (of, on) in [("SELECT v FROM o", "k = 1 AND a = 1 AND b = 1 AND c"), ("SELECT a FROM sc", "k")] {
        assert_eq!(session.ask(&format!("{of} WHERE {on} IN ({most})")).await, "");
        let refused = session.ask(&format!("{of} WHERE {on} IN ({many})")).await;
        assert!(refused.contains("have 65536 values, the limit is 65535"), "{refused}");
    }
}
