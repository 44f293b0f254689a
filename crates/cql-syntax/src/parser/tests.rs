use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::limits::{
    BATCH_STATEMENTS_MAX, PROPERTIES_MAX, STATEMENT_BYTES_MAX, STATEMENT_ITEM_BYTES, STATEMENT_ITEMS_MAX,
    STATEMENT_TOKENS_MAX,
};
use crate::{
    Assignment, Change, Conditions, ConstantKind, InValues, Modify, Operation, Operator, Relation, Selection,
    Selector, SyntaxError, Term, hint,
};
use base::util::meter::{RequestLimits, RequestMemory, RequestMeter, TimeLimits, metered};

fn read(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn fault(text: &str) -> String {
    match parse(text) {
        Ok(parsed) => panic!("{text} is {parsed:?}"),
        Err(fault) => fault.to_string(),
    }
}

fn modify(text: &str) -> Modify {
    match read(text).statement {
        Statement::Modify(modify) => modify,
        other => panic!("{other:?}"),
    }
}

fn assignments(text: &str) -> Vec<Assignment> {
    match modify(text).change {
        Change::Update { assignments, .. } => assignments,
        other => panic!("{other:?}"),
    }
}

fn relations(conditions: &str) -> Vec<Relation> {
    match read(&format!("SELECT * FROM t WHERE {conditions}")).statement {
        Statement::Select(select) => select.relations,
        other => panic!("{other:?}"),
    }
}

fn selectors(selection: &str) -> Vec<Selector> {
    match read(&format!("SELECT {selection} FROM t")).statement {
        Statement::Select(select) => match select.selection {
            Selection::Some(selected) => selected.into_iter().map(|one| one.selector).collect(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn value(literal: &str) -> Term {
    match assignments(&format!("UPDATE t SET v = {literal} WHERE k = 1")).remove(0).operation {
        Operation::Set(term) => term,
        other => panic!("{other:?}"),
    }
}

fn integer(text: &str) -> Term {
    Term::Constant { kind: ConstantKind::Integer, text: text.into() }
}

/// Statements of every kind, in all their forms.
const GOOD: &[&str] = &[
    "SELECT * FROM t",
    "select a, B as c, writetime(v), ttl(v), dateOf(x), k.f(a), home.zip FROM ks.t;",
    "SELECT DISTINCT k FROM t;;",
    "SELECT distinct, json, count, key, ttl, type FROM t",
    "SELECT JSON a FROM t",
    "SELECT COUNT(*) AS n FROM t",
    "SELECT count(1) FROM t",
    "SELECT count(c), token(a, b) FROM t",
    "SELECT * FROM t WHERE a = 1 AND b > 'x' AND c IN (1, 2) AND d IN () AND e IN ? AND f IN :f",
    "SELECT * FROM t WHERE (a, b) > (1, 2) AND (a) IN ((1), (2)) AND (a, b) IN ? AND (a, b) IN (?, :x) AND (c = 5)",
    "SELECT * FROM t WHERE (a, b) IN () AND (a, b) <= ?",
    "SELECT * FROM t WHERE token(a, b) > token(1, 2) AND token(a) <= -5",
    "SELECT * FROM t WHERE s CONTAINS 1 AND m CONTAINS KEY 'k' AND m['k'] = 1 AND k != 1",
    "SELECT * FROM t WHERE k = 1 ORDER BY a DESC, b ASC, c LIMIT ? ALLOW FILTERING",
    "SELECT * FROM t LIMIT :n",
    "INSERT INTO t (a, \"B\") VALUES (1, 'x''y')",
    "INSERT INTO t (a) VALUES (?) IF NOT EXISTS USING TIMESTAMP ? AND TTL :t",
    "INSERT INTO t JSON '{}' USING TTL 5",
    "INSERT INTO t JSON ? IF NOT EXISTS",
    "UPDATE t USING TTL 5 AND TIMESTAMP -1 SET a = 1, b = b + 1, c = c -5, d = [1] + d, e['x'] = null, f = f - {1} WHERE k = 1",
    "UPDATE t SET a = 1 WHERE k = 1 IF EXISTS",
    "UPDATE t SET a = 1 WHERE k = 1 IF exists = 1 AND b != 2 AND c IN (1) AND m['x'] > 3",
    "DELETE FROM t WHERE k = 1",
    "DELETE a, b['x'], c[0] FROM t USING TIMESTAMP 5 WHERE k = 1 IF a = 5",
    "BEGIN BATCH APPLY BATCH",
    "BEGIN UNLOGGED BATCH USING TIMESTAMP 5 INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE k = 1 APPLY BATCH;",
    "BEGIN COUNTER BATCH UPDATE t SET c = c + 1 WHERE k = 1; APPLY BATCH",
    "USE \"Ks\"",
    "TRUNCATE TABLE ks.t",
    "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'S', 'replication_factor': 1} AND durable_writes = true",
    "CREATE SCHEMA k WITH replication = {}",
    "ALTER KEYSPACE k WITH durable_writes = false",
    "DROP KEYSPACE IF EXISTS k",
    "CREATE TABLE t (k int PRIMARY KEY, v text STATIC, m map<text, frozen<list<int>>>, c 'org.X', u ks.ty,)",
    "CREATE COLUMNFAMILY IF NOT EXISTS k.t (a int, b int, c tuple<int, text>, PRIMARY KEY ((a, b), c)) WITH COMPACT STORAGE AND CLUSTERING ORDER BY (c DESC) AND comment = 'x' AND gc_grace_seconds = 5 AND id = 99051fe9-6a9c-46c2-b949-38ef78858dd0",
    "ALTER TABLE t ALTER c TYPE blob",
    "ALTER TABLE t ADD c int STATIC",
    "ALTER TABLE t DROP c",
    "ALTER TABLE t RENAME a TO b AND c TO d",
    "ALTER TABLE t WITH comment = 'x' AND compaction = {'class': 'y'}",
    "DROP TABLE IF EXISTS k.t",
    "CREATE INDEX ON t (c)",
    "CREATE CUSTOM INDEX IF NOT EXISTS n ON k.t (keys(c)) USING 'x.Y' WITH options = {'a': 'b'}",
    "CREATE INDEX n ON t (keys)",
    "CREATE INDEX n ON t (full(c))",
    "DROP INDEX IF EXISTS k.n",
    "CREATE TYPE IF NOT EXISTS k.ty (a int, b frozen<other>)",
    "ALTER TYPE ty ADD f int",
    "ALTER TYPE ty ALTER f TYPE text",
    "ALTER TYPE ty RENAME f TO g AND h TO i",
    "DROP TYPE IF EXISTS ty",
    "CREATE USER IF NOT EXISTS Bob WITH PASSWORD 'x' SUPERUSER",
    "ALTER USER 'bob' NOSUPERUSER",
    "DROP USER bob",
    "LIST USERS",
    "GRANT ALL PERMISSIONS ON ALL KEYSPACES TO bob",
    "GRANT SELECT ON KEYSPACE k TO bob",
    "GRANT admin TO bob",
    "REVOKE MODIFY PERMISSION ON TABLE k.t FROM bob",
    "LIST ALL PERMISSIONS ON t OF bob NORECURSIVE",
    "CREATE ROLE r WITH PASSWORD = 'x' AND LOGIN = true",
    "CREATE ROLE IF NOT EXISTS 'r' WITH SUPERUSER = FALSE AND OPTIONS = {'a': 'b'}",
    "ALTER ROLE r WITH LOGIN = false",
    "DROP ROLE IF EXISTS r",
    "REVOKE admin FROM bob",
    "GRANT DESCRIBE ON ALL ROLES TO bob",
    "GRANT ALTER ON ROLE 'admin' TO bob",
    "GRANT SELECT ON role TO bob",
    "LIST ROLES",
    "LIST ROLES OF r NORECURSIVE",
    "CREATE OR REPLACE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$ return a; $$",
    "CREATE TRIGGER n ON t USING 'class'",
    "DROP AGGREGATE IF EXISTS g",
    "SELECT * FROM t -- the end",
    "SELECT /* inside */ * // more\nFROM t",
];

#[test]
fn every_form_of_statement_is_parsed() {
    for text in GOOD {
        read(text);
    }
}

#[test]
fn an_incomplete_statement_is_an_error_at_its_end() {
    let no_end =
        ["SELECT * FROM", "INSERT INTO t (a) VALUES", "UPDATE t SET a =", "CREATE TABLE t (", "USE", ""];
    for text in no_end {
        assert!(fault(text).starts_with("line 0:-1 "), "{}", fault(text));
    }
}

#[test]
fn names_are_lower_case_unless_they_are_quoted() {
    let Statement::Truncate(name) = read("TRUNCATE Ks.\"A\"\"b\"").statement else { panic!() };
    assert_eq!(name, TableName { keyspace: Some("ks".to_owned()), name: "A\"b".to_owned() });
}

#[test]
fn markers_are_listed_in_their_order() {
    let parsed = read("SELECT * FROM t WHERE a = ? AND b IN :B AND (c, d) > (?, :e) LIMIT ?");
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(parsed.markers, [None, named("b"), None, named("e"), None]);
    let parsed = read("INSERT INTO t (a, b) VALUES (?, [?, {:x: :y}]) USING TTL ?");
    assert_eq!(parsed.markers, [None, None, named("x"), named("y"), None]);
}

#[test]
fn values_are_parsed() {
    let text = |text: &str| Term::Constant { kind: ConstantKind::String, text: text.into() };
    let float = |text: &str| Term::Constant { kind: ConstantKind::Float, text: text.into() };
    assert_eq!(value("'it''s'"), text("it's"));
    assert_eq!(value("$$it's$$"), text("it's"));
    assert_eq!(value("-7"), integer("-7"));
    assert_eq!(value("-1.5e10"), float("-1.5e10"));
    assert_eq!(value("1."), float("1."));
    assert_eq!(value("1e5"), float("1e5"));
    assert_eq!(value("nan"), float("nan"));
    assert_eq!(value("-Infinity"), float("-Infinity"));
    assert_eq!(value("0xCAFE"), Term::Constant { kind: ConstantKind::Hex, text: "0xCAFE".into() });
    assert_eq!(value("TRUE"), Term::Constant { kind: ConstantKind::Boolean, text: "TRUE".into() });
    assert_eq!(value("NULL"), Term::Null);
    let uuid = "b3a76c6b-7c7f-4af6-964f-803a9283c401";
    assert_eq!(value(uuid), Term::Constant { kind: ConstantKind::Uuid, text: uuid.into() });
    assert_eq!(value("{}"), Term::Set(Vec::new()));
    assert_eq!(value("[]"), Term::List(Vec::new()));
    assert_eq!(value("{1: 2}"), Term::Map(vec![(integer("1"), integer("2"))]));
    assert_eq!(value("{1, 2}"), Term::Set(vec![integer("1"), integer("2")]));
    assert_eq!(value("{Zip: 2}"), Term::User(vec![("zip".to_owned(), integer("2"))]));
    assert_eq!(value("(1, 2)"), Term::Tuple(vec![integer("1"), integer("2")]));
    assert!(matches!(value("(int)3"), Term::Cast { .. }));
    assert!(matches!(value("(set<int>){}"), Term::Cast { .. }));
    assert!(matches!(value("(now(), 1)"), Term::Tuple(_)));
    assert!(matches!(value("minTimeUUID('x')"), Term::Function(call) if call.name == "minTimeUUID"));
}

#[test]
fn operations_are_distinguished() {
    let operation = |text: &str| assignments(&format!("UPDATE t SET {text} WHERE k = 1")).remove(0).operation;
    assert_eq!(operation("c = c + 5"), Operation::Add(integer("5")));
    assert_eq!(operation("c = c - 5"), Operation::Subtract(integer("5")));
    assert_eq!(operation("c = c -5"), Operation::Add(integer("-5")));
    assert_eq!(operation("c = c-5"), Operation::Add(integer("-5")));
    assert_eq!(operation("l = [1] + l"), Operation::Prepend(Term::List(vec![integer("1")])));
    assert_eq!(operation("l = ? + l"), Operation::Prepend(Term::Marker(0)));
    assert!(matches!(operation("c = now()"), Operation::Set(Term::Function(_))));
}

#[test]
fn conditions_are_distinguished() {
    assert_eq!(modify("UPDATE t SET a = 1 WHERE k = 1 IF EXISTS").conditions, Conditions::IfExists);
    assert!(matches!(modify("DELETE FROM t WHERE k = 1 IF exists = 1").conditions, Conditions::If(_)));
    assert_eq!(modify("INSERT INTO t (a) VALUES (1) IF NOT EXISTS").conditions, Conditions::IfNotExists);
    assert!(matches!(
        relations("(a) = (1)").remove(0),
        Relation::Columns { operator: Operator::Eq, value: Term::Tuple(_), .. }
    ));
    assert!(matches!(relations("((a = 1))").remove(0), Relation::Column { .. }));
    assert!(matches!(
        relations("a IN ()").remove(0),
        Relation::In { values: InValues::List(values), .. } if values.is_empty()
    ));
}

#[test]
fn parts_are_printed_as_by_the_old_servers() {
    let printed = |text: &str| assignments(&format!("UPDATE t SET {text} WHERE k = 1")).remove(0).to_string();
    assert_eq!(printed("S['a'] = 1"), "s['a'] = 1");
    assert_eq!(printed("v = v + 1"), "v = v + 1");
    assert_eq!(printed("v = v - {'a', 0xca}"), "v = v - {'a', 0xca}");
    assert_eq!(printed("l = [1, 2] + l"), "l = [1, 2] - l");
    for same in [
        "nosuch = 1",
        "(a, c) > (1, 2)",
        "token(a, b) >= token(5, 'x')",
        "m[1] = {'a':1, 'b':2}",
        "s CONTAINS KEY ?",
    ] {
        assert_eq!(relations(same).remove(0).to_string(), same);
    }
    assert_eq!(relations("a IN (1, 2)").remove(0).to_string(), "a IN [1, 2]");
    assert_eq!(selectors("dateOf(TU), Home.zip, WRITETIME(v)")[0].to_string(), "dateOf(tu)");
    assert_eq!(selectors("home.zip")[0].to_string(), "home.zip");
    assert_eq!(value("(frozen<map<int,ks.ty>>){}").to_string(), "(frozen<map<int, ks.ty>>){}");
}

#[test]
fn syntax_errors_have_position_and_context() {
    let cases = [
        ("NSERT INTO t (a) VALUES (1)", "line 1:0 no viable alternative at input 'NSERT' ([NSERT]...)"),
        (
            "SELECT a FROM posts WHERE user_id = \"Anna_id\" LIMIT 20;",
            "line 1:36 no viable alternative at input 'Anna_id' (...FROM posts WHERE user_id = [\"Anna_i]...)",
        ),
        (
            "INSERT INTO t (k, d) VALUES (2, maybe);",
            "line 1:37 no viable alternative at input ')' (... d) VALUES (2, [maybe])...)",
        ),
        (
            "SELECT intAsBlob(i), blobAsText(0x616263), x FROM t",
            "line 1:32 no viable alternative at input '0x616263' (SELECT intAsBlob(i), blobAsText[(]0x616263...)",
        ),
        (
            "INSERT INTO t (a, b) VALUES(\n1, 'c', {'d': 'e'}), 'f12';",
            "line 2:19 missing EOF at ',' (...'c', {'d': 'e'})[,] 'f1...)",
        ),
        (
            "CREATE TABLE t (a int, b int, PRIMARY KEY ((a),\n (b)))",
            "line 2:5 extraneous input ')' expecting EOF",
        ),
        ("SELECT * FRM t", "line 1:9 mismatched input 'FRM' expecting K_FROM (SELECT * [FRM] t)"),
        ("SELECT * FROM t x", "line 1:16 extraneous input 'x' expecting EOF"),
        ("UPDATE t SET a = 1", "line 0:-1 mismatched input '<EOF>' expecting K_WHERE"),
        ("SELECT # FROM t", "line 1:7 no viable alternative at character '#'"),
        ("SELECT 'a FROM t", "line 1:16 mismatched character '<EOF>' expecting '''"),
        ("CREATE foo", "line 1:7 no viable alternative at input 'foo' ([CREATE] foo)"),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text), expected, "{text}");
    }
    let plain = parse_as("NSERT INTO t", Release::V1_2, Language::Newest).unwrap_err().to_string();
    assert_eq!(plain, "line 1:0 no viable alternative at input 'NSERT'");
    let distinct =
        parse_as("SELECT DISTINCT k FROM t", Release::V1_2, Language::Newest).unwrap_err().to_string();
    assert_eq!(distinct, "line 1:16 no viable alternative at input 'k'");
}

#[test]
fn the_last_wrong_condition_is_reported() {
    let text = "SELECT * FROM t WHERE a = \"us\" AND b = \"x\" AND c = 1 LIMIT 10;";
    assert_eq!(fault(text), "line 1:39 no viable alternative at input 'x' (...= \"us\" AND b = [\"]...)");
    let Err(SyntaxError::Syntax { place, .. }) = parse(text) else { panic!() };
    assert!(hint(text, place).is_some());
}

#[test]
fn errors_of_the_old_parser_are_reported() {
    let cases = [
        ("UPDATE t SET a = 1, a = 2 WHERE k = 1", "Multiple incompatible setting of column a"),
        ("UPDATE t SET a = 1, a = a + 2 WHERE k = 1", "Multiple incompatible setting of column a"),
        ("UPDATE t SET a = b + 2 WHERE k = 1", "Only expressions of the form X = X +<value> are supported."),
        ("UPDATE t SET a = b -2 WHERE k = 1", "Only expressions of the form X = X - <value> are supported."),
        (
            "UPDATE t SET a = [1] + b WHERE k = 1",
            "Only expressions of the form X = <value> + X are supported.",
        ),
        ("SELECT COUNT(2) FROM t", "Only COUNT(1) is supported, got COUNT(2)"),
        ("ALTER TABLE t WITH comment = 'a' AND comment = 'b'", "Multiple definition for property 'comment'"),
        (
            "ALTER TABLE t WITH a = {?: 1}",
            "Invalid property name: ? (bind variables are not supported in DDL queries)",
        ),
        ("ALTER TABLE t WITH a = {'b': [1]}", "Invalid property value: [1] for property: 'b'"),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text), expected, "{text}");
    }
    read("UPDATE t SET a = a + 1, a = a + 2, b[1] = 2, b[2] = 3 WHERE k = 1");
}

#[test]
fn reserved_words_need_quotes() {
    for text in ["SELECT limit FROM t", "CREATE TABLE order (k int PRIMARY KEY)", "SELECT true FROM t"] {
        fault(text);
    }
    read("SELECT \"limit\", values, clustering, exists FROM t");
}

#[test]
fn the_nesting_depth_is_limited() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for literal in [deep("[", "]"), deep("(", ")"), deep("f(", ")"), deep("{1:", "}"), deep("(int)", "")] {
        let message = fault(&format!("UPDATE t SET v = {literal} WHERE k = 1"));
        assert!(message.contains("nested too deeply"), "{message}");
    }
    fault(&format!("SELECT * FROM t WHERE {}a = 1", "(".repeat(100_000)));
    fault(&format!("SELECT {}a FROM t", "f(".repeat(100_000)));
    fault(&format!("SELECT a{} FROM t", ".b".repeat(100_000)));
    fault(&format!("ALTER TABLE t ADD c {}int", "list<".repeat(100_000)));
}

#[test]
fn the_number_of_terms_of_a_statement_is_limited() {
    let list = |terms: usize| format!("INSERT INTO t (k, l) VALUES (1, [{}])", vec!["1"; terms].join(","));
    // The key and the list are terms too.
    parse(&list(STATEMENT_ITEMS_MAX - 2)).unwrap();
    let why = parse(&list(STATEMENT_ITEMS_MAX - 1)).unwrap_err().to_string();
    assert!(why.contains("A statement can have 524280 terms at most"), "{why}");
}

/// An error that shows the text around a selector takes as long as the text; it was made for each one.
#[test]
fn many_selectors_named_count_are_parsed_in_one_pass() {
    let begun = std::time::Instant::now();
    for selector in ["count", "count(a)"] {
        let _ = parse(&format!("SELECT {} FROM t", vec![selector; 50_000].join(",")));
    }
    assert!(begun.elapsed().as_secs() < 20);
}

#[tokio::test]
async fn a_long_statement_is_charged_before_it_is_parsed() {
    let limits = RequestLimits { memory: Arc::new(RequestMemory::new(0)), times: TimeLimits::default() };
    for (terms, is_refused) in [(1_000, false), (100_000, true)] {
        let meter = Arc::new(RequestMeter::new(&limits, Arc::default()));
        let text = format!("SELECT v FROM t WHERE k IN ({})", vec!["1"; terms].join(","));
        let parsed = metered(meter.clone(), async { parse(&text) }).await;
        assert_eq!(parsed.is_err(), is_refused, "{terms}");
        assert!(
            meter.used() >= (terms * STATEMENT_ITEM_BYTES).min(limits.memory.share()),
            "{}",
            meter.used()
        );
    }
}

#[test]
fn the_number_of_markers_is_limited() {
    let markers = vec!["?"; 65_536].join(",");
    assert!(fault(&format!("SELECT * FROM t WHERE a IN ({markers})")).contains("markers"));
    let long = format!("SELECT * FROM t WHERE {}", "a b AND ".repeat(200_000));
    fault(&long);
}

#[test]
fn the_length_of_a_statement_is_limited() {
    let longest = format!("SELECT a FROM t{}", " ".repeat(STATEMENT_BYTES_MAX - 15));
    read(&longest);
    assert_eq!(fault(&format!("{longest} ")), "A statement can have 16777216 bytes at most");
    let words = "(".repeat(STATEMENT_TOKENS_MAX + 1);
    assert_eq!(fault(&words), "A statement can have 2000000 words at most");
}

#[test]
fn the_number_of_statements_in_a_batch_is_limited() {
    let batch = |count: usize| format!("BEGIN BATCH {}APPLY BATCH", "DELETE FROM t WHERE k=1;".repeat(count));
    read(&batch(BATCH_STATEMENTS_MAX));
    assert_eq!(fault(&batch(BATCH_STATEMENTS_MAX + 1)), "A batch can have 65535 statements at most");
}

#[test]
fn the_number_of_properties_of_a_table_is_limited() {
    let pairs = |count: usize, between: &str, is: &str, quote: &str| {
        let pairs: Vec<String> = (0..count).map(|number| format!("{quote}p{number}{quote}{is}1")).collect();
        pairs.join(between)
    };
    let table = |properties: String| format!("CREATE TABLE t (k int PRIMARY KEY) WITH {properties}");
    let why = "There can be 1000 properties at most";
    read(&table(pairs(PROPERTIES_MAX, " AND ", " = ", "")));
    assert_eq!(fault(&table(pairs(PROPERTIES_MAX + 1, " AND ", " = ", ""))), why);
    let in_map = |count: usize| format!("caching = {{{}}}", pairs(count, ", ", ": ", "'"));
    read(&table(in_map(PROPERTIES_MAX)));
    assert_eq!(fault(&table(in_map(PROPERTIES_MAX + 1))), why);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_sequence_of_words_panics(words in prop::collection::vec(prop::sample::select(vec![
        "SELECT", "FROM", "WHERE", "AND", "(", ")", "{", "}", "[", "]", "a", "\"B\"", "'x'", "1", "-1", "-", "=", ",",
        ".", "?", ":", "token", "IN", "\n", "IF", "EXISTS", "UPDATE", "SET", "INSERT", "INTO", "VALUES", "CREATE",
        "TABLE", "set", "<", ">", "é", "日", "--", "/*", "$$", "'", "\"", ";", "count", "*", "GRANT", "BEGIN", "BATCH",
    ]), 0..30)) {
        let text = words.join(" ");
        if let Err(SyntaxError::Syntax { place, .. }) = parse(&text) {
            let _ = hint(&text, place);
            let _ = crate::show_place(&text, place);
        }
    }

    #[test]
    fn no_change_of_a_valid_statement_panics(
        text in prop::sample::select(GOOD.to_vec()),
        at in any::<prop::sample::Index>(),
        gone in 0..4_usize,
        new in "[ -~é\n]{0,3}",
    ) {
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let end = (at + gone).min(chars.len());
        chars.splice(at..end, new.chars());
        let text: String = chars.into_iter().collect();
        if let Err(SyntaxError::Syntax { place, .. }) = parse(&text) {
            let _ = hint(&text, place);
            let _ = crate::show_place(&text, place);
        }
    }
}
